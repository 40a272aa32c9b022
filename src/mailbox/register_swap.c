/* mailbox/register_swap.c - replaces an entry of mailboxes/ so that a crash leaves it done or
 * not done; register_private.h has the order of steps. */
#include "mailbox/register_private.h"

#include "base/buf.h"
#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/locks.h"
#include "text/address.h"
#include "text/json.h"
#include "text/token.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { INTENT_BYTES = 16 << 10 };

static const char INTENT_PREFIX[] = "reg-";
static const char INTENT_SUFFIX[] = ".json";

static const char *intent_path(struct mr_ctx *cx, const char *name)
{
	return mr_mailbox_layout_join(cx->arena, MR_MAILBOX_INTENTS,
		mr_arena_printf(cx->arena, "%s%s", name, INTENT_SUFFIX));
}

static const char *work_path(struct mr_ctx *cx, const struct mr_mailbox_swap *swap,
	const char *inner)
{
	const char *work = mr_mailbox_layout_join(cx->arena, MR_MAILBOX_TRASH, swap->name);

	return inner ? mr_mailbox_layout_join(cx->arena, work, inner) : work;
}

static const char *entry_path(struct mr_ctx *cx, const struct mr_mailbox_swap *swap)
{
	return mr_mailbox_layout_entry(cx->arena, swap->address);
}

/* Where the old entry goes. */
static const char *aside_path(struct mr_ctx *cx, const struct mr_mailbox_swap *swap)
{
	return swap->stash ? mr_mailbox_layout_stash(cx->arena, swap->address, swap->stash)
			   : work_path(cx, swap, "old");
}

enum mr_code mr_mailbox_swap_look(struct mr_ctx *cx, int dir, const char *path, mode_t *out)
{
	struct stat st;

	if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
		*out = st.st_mode & S_IFMT;
	else if (errno == ENOENT)
		*out = 0;
	else
		return mr_err_os(&cx->err, errno, "cannot stat %s", path);
	return MR_OK;
}

static void put_intent(struct mr_buf *buf, const struct mr_mailbox_swap *swap)
{
	struct mr_json_writer w;

	mr_json_init(&w, buf, MR_JSON_INDENTED);
	mr_json_begin_map(&w);
	mr_json_key(&w, "action");
	mr_json_text(&w, swap->is_purge ? "purge" : "register");
	mr_json_key(&w, "address");
	mr_json_text(&w, swap->address);
	mr_json_key(&w, "registration_id");
	mr_json_text(&w, swap->registration_id);
	mr_json_key(&w, "replaces");
	mr_json_text(&w, swap->replaces);
	mr_json_key(&w, "stash");
	mr_json_text(&w, swap->stash);
	mr_json_key(&w, "takes");
	mr_json_bool(&w, swap->takes);
	mr_json_key(&w, "places");
	mr_json_bool(&w, swap->places);
	mr_json_end(&w);
	mr_buf_putc(buf, '\n');
}

enum mr_code mr_mailbox_swap_begin(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	struct mr_mailbox_swap *swap)
{
	const char *name =
		mr_token_prefixed(cx->arena, cx->rand, INTENT_PREFIX, MR_TOKEN_UUID_DIGITS);
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc;

	mr_buf_init(&buf, INTENT_BYTES);
	put_intent(&buf, swap);
	rc = mr_buf_check(&buf, "the intent of a registration", &cx->err);
	if (!rc)
		rc = mr_fs_make_dirs(root->dir, MR_MAILBOX_INTENTS, 0700, &cx->err);
	if (!rc)
		rc = mr_fs_write(root->dir, intent_path(cx, name), mr_buf_bytes(&buf), MR_FS_NEW,
			0600, &cx->err);
	if (rc)
		return rc;
	swap->name = name;
	mr_crash_point("register.intended");
	return mr_fs_make_dirs(root->dir, work_path(cx, swap, NULL), 0700, &cx->err);
}

static enum mr_code build_link(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_swap *swap, const char *target)
{
	const char *new = work_path(cx, swap, "new");

	if (symlinkat(target, root->dir, new) != 0)
		return mr_err_os(&cx->err, errno, "cannot make the link %s", new);
	return mr_fs_sync_dir(root->dir, work_path(cx, swap, NULL), &cx->err);
}

static enum mr_code build_directory(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_swap *swap)
{
	const char *new = work_path(cx, swap, "new");
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	enum mr_code rc = mr_mailbox_register_boxes(cx, root->dir, new);

	if (rc)
		return rc;
	return mr_mailbox_register_open_local(cx,
		mr_mailbox_layout_join(cx->arena, root->path, new), false, &db);
}

enum mr_code mr_mailbox_swap_apply(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_swap *swap, const char *target)
{
	const char *entry = entry_path(cx, swap);
	enum mr_code rc = MR_OK;

	if (swap->places) {
		rc = target ? build_link(cx, root, swap, target) : build_directory(cx, root, swap);
		if (rc)
			return rc;
		mr_crash_point("register.built");
	}
	if (swap->takes) {
		rc = mr_fs_rename(root->dir, entry, root->dir, aside_path(cx, swap), MR_FS_NEW,
			&cx->err);
		if (rc)
			return rc;
		mr_crash_point("register.set_aside");
	}
	if (swap->places) {
		rc = mr_fs_rename(root->dir, work_path(cx, swap, "new"), root->dir, entry,
			MR_FS_NEW, &cx->err);
		if (rc)
			return rc;
		mr_crash_point("register.placed");
	}
	return MR_OK;
}

/* The work directory first: while it exists, the intent tells what it belongs to. */
static enum mr_code drop(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_swap *swap)
{
	const char *intent = intent_path(cx, swap->name);
	enum mr_code rc = mr_fs_remove_all(root->dir, work_path(cx, swap, NULL), &cx->err);

	if (rc)
		return rc;
	mr_crash_point("register.emptied");
	if (unlinkat(root->dir, intent, 0) != 0 && errno != ENOENT)
		return mr_err_os(&cx->err, errno, "cannot remove %s", intent);
	rc = mr_fs_sync_dir(root->dir, MR_MAILBOX_INTENTS, &cx->err);
	mr_crash_point("register.dropped");
	return rc;
}

void mr_mailbox_swap_finish(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_swap *swap)
{
	struct mr_err kept = cx->err;

	if (drop(cx, root, swap))
		cx->err = kept;
}

/* An empty directory that a stopped rename claimed for itself (see mr_fs_rename()). */
static void remove_claim(int dir, const char *path)
{
	(void)unlinkat(dir, path, AT_REMOVEDIR);
}

/* Nothing came into it since we built it: its boxes are empty, and no other file is there. */
static enum mr_code is_fresh(struct mr_ctx *cx, int dir, const char *path, bool *out)
{
	struct mr_texts names, inner;
	mode_t kind = 0;
	enum mr_code rc = mr_mailbox_swap_look(cx, dir, path, &kind);

	*out = false;
	if (rc || kind == S_IFLNK) {
		*out = !rc;
		return rc;
	}
	if (kind != S_IFDIR)
		return MR_OK;
	rc = mr_fs_list(cx->arena, dir, path, MR_MAILBOX_ENTRIES, &names, &cx->err);
	for (size_t i = 0; !rc && i < names.len; i++) {
		const char *at = mr_mailbox_layout_join(cx->arena, path, names.items[i]);

		if (mr_str_starts(names.items[i], MR_MAILBOX_LOCAL_FILE))
			continue;
		rc = mr_mailbox_swap_look(cx, dir, at, &kind);
		if (rc || kind != S_IFDIR)
			return rc;
		rc = mr_fs_list(cx->arena, dir, at, MR_MAILBOX_ENTRIES, &inner, &cx->err);
		if (rc || inner.len > 0)
			return rc;
	}
	*out = !rc;
	return rc;
}

/* Move our new entry, which is no longer wanted, back to where it was built. */
static enum mr_code take_back_new(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_swap *swap)
{
	const char *entry = entry_path(cx, swap), *new = work_path(cx, swap, "new");
	bool fresh;
	enum mr_code rc;

	if (swap->places || swap->takes)
		remove_claim(root->dir, entry);
	if (!swap->places || mr_fs_exists(root->dir, new) || !mr_fs_exists(root->dir, entry))
		return MR_OK;
	rc = is_fresh(cx, root->dir, entry, &fresh);
	if (!rc && fresh)
		rc = mr_fs_make_dirs(root->dir, work_path(cx, swap, NULL), 0700, &cx->err);
	if (!rc && fresh)
		rc = mr_fs_rename(root->dir, entry, root->dir, new, MR_FS_NEW, &cx->err);
	mr_crash_point("register.taken_back");
	return rc;
}

static enum mr_code put_back_old(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_swap *swap)
{
	const char *aside = aside_path(cx, swap), *to = entry_path(cx, swap);
	enum mr_code rc;

	if (!mr_fs_exists(root->dir, aside))
		return MR_OK;
	if (mr_fs_exists(root->dir, to)) {
		/* Another program has taken the name: keep both. */
		if (swap->stash)
			return MR_OK;
		to = mr_mailbox_layout_stash(cx->arena, swap->address,
			mr_token_uuid4_hex(cx->arena, cx->rand));
	}
	rc = mr_fs_rename(root->dir, aside, root->dir, to, MR_FS_NEW, &cx->err);
	mr_crash_point("register.put_back");
	return rc;
}

enum mr_code mr_mailbox_swap_undo(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_swap *swap, bool entry_is_foreign)
{
	const char *entry = entry_path(cx, swap);
	bool placed = swap->places && !mr_fs_exists(root->dir, work_path(cx, swap, "new"));
	enum mr_code rc = MR_OK;

	if (swap->takes && !placed && mr_fs_exists(root->dir, entry))
		remove_claim(root->dir, aside_path(cx, swap));
	if (!entry_is_foreign && (!swap->takes || mr_fs_exists(root->dir, aside_path(cx, swap))))
		rc = take_back_new(cx, root, swap);
	if (!rc && swap->takes)
		rc = put_back_old(cx, root, swap);
	return rc ? rc : drop(cx, root, swap);
}

enum mr_code mr_mailbox_swap_give_up(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_swap *swap)
{
	struct mr_err kept = cx->err;

	if (swap->name && mr_mailbox_swap_undo(cx, root, swap, false)) {
		/* The next writer tries again. */
	}
	cx->err = kept;
	return kept.code;
}

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static bool truth_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_BOOL && value->boolean;
}

/* Paths are made from the address and the suffix, so neither may lead anywhere else. */
static bool is_usable(struct mr_ctx *cx, const struct mr_mailbox_swap *swap)
{
	struct mr_address address;
	struct mr_err err;

	if (!swap->address || !swap->registration_id ||
		mr_address_parse(cx->arena, swap->address, &address, &err) ||
		!mr_str_eq(address.full, swap->address))
		return false;
	return !swap->stash ||
		(strlen(swap->stash) == MR_TOKEN_UUID_DIGITS &&
			strspn(swap->stash, "0123456789abcdef") == MR_TOKEN_UUID_DIGITS);
}

/* `*out_found` is false for one that is gone by now, or that is none of ours. */
static enum mr_code read_intent(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *name, struct mr_mailbox_swap *out, bool *out_found)
{
	const struct mr_value *map;
	struct mr_bytes text;
	struct mr_err err;
	enum mr_code rc = mr_fs_read(cx->arena, root->dir, intent_path(cx, name), INTENT_BYTES,
		&text, &cx->err);

	*out_found = false;
	if (rc == MR_ENOTFOUND)
		return MR_OK;
	if (rc)
		return rc;
	if (mr_json_parse(cx->arena, text, NULL, &map, &err))
		return MR_OK;
	*out = (struct mr_mailbox_swap){
		.name = name,
		.address = text_of(map, "address"),
		.registration_id = text_of(map, "registration_id"),
		.replaces = text_of(map, "replaces"),
		.stash = text_of(map, "stash"),
		.is_purge = mr_str_eq(text_of(map, "action"), "purge"),
		.takes = truth_of(map, "takes"),
		.places = truth_of(map, "places"),
	};
	*out_found = is_usable(cx, out);
	return MR_OK;
}

/* The mailbox stays registered if this fails; repair can make its missing files. */
static void complete(struct mr_ctx *cx, struct mr_db *db, const struct mr_mailbox_registration *row)
{
	struct mr_err kept = cx->err;
	enum mr_code rc = mr_mailbox_register_boxes(cx, AT_FDCWD, row->path);

	if (!rc)
		rc = mr_mailbox_register_local(cx, db, row, false);
	if (rc)
		cx->err = kept;
}

/* A row that is made active again is named as both the new and the old one. */
static bool is_committed(const struct mr_mailbox_swap *swap,
	const struct mr_mailbox_registration *row)
{
	if (swap->is_purge)
		return !row;
	return row &&
		(row->status == MR_MAILBOX_ACTIVE ||
			!mr_str_eq(swap->registration_id, swap->replaces));
}

static enum mr_code settle(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_swap *swap)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	const struct mr_mailbox_registration *row = NULL, *active = NULL;
	enum mr_code rc = mr_mailbox_root_index(cx, root, false, &db);

	if (!rc)
		rc = mr_mailbox_registration_by_id(cx, db, swap->registration_id, &row);
	if (!rc)
		rc = mr_mailbox_registration_active(cx, db, swap->address, &active);
	if (rc)
		return rc;
	if (!is_committed(swap, row))
		return mr_mailbox_swap_undo(cx, root, swap,
			active && !mr_str_eq(active->id, swap->replaces));
	if (row && row->status == MR_MAILBOX_ACTIVE)
		complete(cx, db, row);
	mr_mailbox_swap_finish(cx, root, swap);
	return MR_OK;
}

/* If its process is alive, we wait for its lock, and then find the intent gone. */
static enum mr_code recover_one(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *name)
{
	struct mr_mailbox_locks locks MR_CLEANUP(mr_mailbox_locks_release) = MR_MAILBOX_LOCKS_INIT;
	struct mr_mailbox_swap swap;
	struct mr_texts addresses;
	struct mr_err kept = cx->err;
	bool found;
	enum mr_code rc = read_intent(cx, root, name, &swap, &found);

	if (rc || !found)
		return rc;
	addresses = (struct mr_texts){ .items = (const char *[]){ swap.address, NULL }, .len = 1 };
	rc = mr_mailbox_locks_take(cx, root, &addresses, &locks);
	if (rc == MR_EBUSY) {
		/* Another process works on this address: others must wait for its lock anyway. */
		cx->err = kept;
		return MR_OK;
	}
	if (!rc)
		rc = read_intent(cx, root, name, &swap, &found);
	if (!rc && found)
		rc = settle(cx, root, &swap);
	return rc ? mr_err_wrap(&cx->err, "an unfinished change of %s", swap.address) : MR_OK;
}

/* A work directory is made after its intent and removed before it: one without it is a leftover. */
static enum mr_code sweep_trash(struct mr_ctx *cx, const struct mr_mailbox_root *root)
{
	struct mr_err kept = cx->err;
	struct mr_texts names;
	enum mr_code rc = mr_fs_list(cx->arena, root->dir, MR_MAILBOX_TRASH, MR_MAILBOX_ENTRIES,
		&names, &cx->err);

	for (size_t i = 0; !rc && i < names.len; i++) {
		if (!mr_str_starts(names.items[i], INTENT_PREFIX) ||
			mr_fs_exists(root->dir, intent_path(cx, names.items[i])))
			continue;
		rc = mr_fs_remove_all(root->dir,
			mr_mailbox_layout_join(cx->arena, MR_MAILBOX_TRASH, names.items[i]),
			&cx->err);
	}
	if (rc == MR_ENOTFOUND)
		cx->err = kept;
	return rc == MR_ENOTFOUND ? MR_OK : rc;
}

/* Remove temporary files of writers that died before they renamed their intent. */
static enum mr_code sweep_intents(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_texts *names)
{
	size_t removed;

	for (size_t i = 0; i < names->len; i++) {
		if (names->items[i][0] == '.')
			return mr_fs_sweep_temporaries(root->dir, MR_MAILBOX_INTENTS, &removed,
				&cx->err);
	}
	return MR_OK;
}

/* An intent that cannot be settled must not stop the others. */
static enum mr_code recover_all(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_texts *names)
{
	struct mr_err kept = cx->err, first = { .code = MR_OK };

	for (size_t i = 0; i < names->len; i++) {
		const char *name = names->items[i];

		if (!mr_str_starts(name, INTENT_PREFIX) || !mr_str_ends(name, INTENT_SUFFIX))
			continue;
		name = mr_arena_strndup(cx->arena, name, strlen(name) - strlen(INTENT_SUFFIX));
		if (recover_one(cx, root, name) && !first.code)
			first = cx->err;
	}
	cx->err = first.code ? first : kept;
	return first.code;
}

enum mr_code mr_mailbox_register_recover(struct mr_ctx *cx, const struct mr_mailbox_root *root)
{
	struct mr_err kept = cx->err;
	struct mr_texts names;
	enum mr_code rc = mr_fs_list(cx->arena, root->dir, MR_MAILBOX_INTENTS, MR_MAILBOX_ENTRIES,
		&names, &cx->err);

	if (rc == MR_ENOTFOUND) {
		cx->err = kept;
		return MR_OK;
	}
	if (!rc)
		rc = recover_all(cx, root, &names);
	if (!rc)
		rc = sweep_intents(cx, root, &names);
	return rc ? rc : sweep_trash(cx, root);
}
