/* mailbox/deliver_recover.c - delivery intents: written before a delivery, and finished or
 * undone after a crash. */
#include "base/crash.h"
#include "base/fs.h"
#include "base/lock.h"
#include "mailbox/deliver_private.h"
#include "mailbox/document.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/locks.h"
#include "text/json.h"
#include "text/token.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { INTENT_BYTES = 1 << 20 };

static const char SUFFIX[] = ".json";

static const char *intent_path(struct mr_arena *arena, const char *message_id)
{
	return mr_mailbox_layout_join(arena, MR_MAILBOX_INTENTS,
		mr_arena_printf(arena, "%s%s", message_id, SUFFIX));
}

/*
 * Open an intent whose process has died; -1 when there is none, or when a living process that wrote
 * or recovers it holds its lock.
 */
static int open_left(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0)
		mr_fs_closep(&fd);
	return fd;
}

/* Is the open file still the one of this name? */
static bool is_still(int dir, const char *path, int fd)
{
	struct stat st, now;

	return fstat(fd, &st) == 0 && fstatat(dir, path, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
		st.st_ino == now.st_ino && st.st_dev == now.st_dev;
}

static enum mr_code write_intent(struct mr_mailbox_delivery *d, enum mr_fs_write how,
	enum mr_fs_sync sync)
{
	struct mr_ctx *cx = d->cx;
	struct mr_texts addresses = mr_mailbox_delivery_addresses(d);
	const char *path = intent_path(cx->arena, d->message->message_id);
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer w;
	int fd = -1;
	enum mr_code rc;

	mr_buf_init(&buf, INTENT_BYTES);
	mr_json_init(&w, &buf, MR_JSON_INDENTED);
	mr_json_begin_map(&w);
	mr_json_key(&w, "message_id");
	mr_json_text(&w, d->message->message_id);
	mr_json_key(&w, "created_at_utc");
	mr_json_text(&w, d->message->created_at_utc);
	mr_json_key(&w, "staged");
	mr_json_text(&w, d->staged);
	mr_json_key(&w, "addresses");
	mr_json_begin_list(&w);
	for (size_t i = 0; i < addresses.len; i++)
		mr_json_text(&w, addresses.items[i]);
	mr_json_end(&w);
	mr_json_end(&w);
	rc = mr_buf_check(&buf, "intent", &cx->err);
	if (!rc)
		rc = mr_fs_make_dirs(d->root->dir, MR_MAILBOX_INTENTS, 0700, &cx->err);
	if (!rc)
		rc = mr_fs_write_locked(d->root->dir, path, mr_buf_bytes(&buf), how, sync, 0600,
			&fd, &cx->err);
	if (rc == MR_EEXISTS && how == MR_FS_NEW)
		return MR_OK;
	/* After a failure too: only its directory may not have been synced. */
	if (fd >= 0) {
		mr_fs_closep(&d->intent);
		d->intent = fd;
		d->has_intent = true;
	}
	return rc;
}

enum mr_code mr_mailbox_intent_begin(struct mr_mailbox_delivery *d, int staged)
{
	struct mr_ctx *cx = d->cx;
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = write_intent(d, MR_FS_NEW, MR_FS_SYNC_NOTHING);

	mr_crash_point("deliver.intent_named");
	if (!rc)
		rc = mr_fs_open_dir(d->root->dir, MR_MAILBOX_INTENTS, &dir, &cx->err);
	if (!rc) {
		const int fds[] = { staged, dir, d->intent };

		rc = mr_fs_sync_together(fds, d->has_intent ? 3 : 1, &cx->err);
	}
	mr_crash_point("deliver.intended");
	return rc ? mr_err_wrap(&cx->err, "message %s", d->message->message_id) : MR_OK;
}

/* Another process that delivers the same message may have written its own meanwhile. */
enum mr_code mr_mailbox_intent_ensure(struct mr_mailbox_delivery *d)
{
	const char *path = intent_path(d->cx->arena, d->message->message_id);

	if (d->has_intent && d->intent >= 0 && is_still(d->root->dir, path, d->intent))
		return MR_OK;
	/* The document may be in place already: what speaks of it must never be torn. */
	return write_intent(d, MR_FS_REPLACE, MR_FS_SYNC_ALL);
}

/* Not synced: recovery of an intent that reappears finds everything done. */
enum mr_code mr_mailbox_intent_drop(struct mr_mailbox_delivery *d)
{
	const char *path = intent_path(d->cx->arena, d->message->message_id);

	if (!d->has_intent)
		return MR_OK;
	/* Another process may have put its own there. */
	if (d->intent >= 0 && !is_still(d->root->dir, path, d->intent)) {
		d->has_intent = false;
		mr_fs_closep(&d->intent);
		return MR_OK;
	}
	if (unlinkat(d->root->dir, path, 0) != 0 && errno != ENOENT)
		return mr_err_os(&d->cx->err, errno, "cannot remove %s/%s", d->root->path, path);
	d->has_intent = false;
	mr_fs_closep(&d->intent);
	mr_crash_point("deliver.dropped");
	return MR_OK;
}

bool mr_mailbox_deliver_is_under_way(struct mr_arena *arena, const struct mr_mailbox_root *root,
	const char *message_id)
{
	return mr_lock_is_held(root->dir, intent_path(arena, message_id));
}

struct intent {
	const char *message_id;
	const char *created_at;
	const char *staged; /* or NULL */
	struct mr_texts addresses;
};

/* Relative, and nowhere up: it names a file below staging/. */
static bool is_below(const char *path)
{
	for (const char *at = path; *at != '\0';) {
		size_t len = strcspn(at, "/");

		if (len == 0 || at[0] == '.')
			return false;
		at += len + (at[len] == '/');
	}
	return path[0] != '\0';
}

static enum mr_code read_intent(struct mr_ctx *cx, struct mr_bytes bytes, const char *name,
	struct intent *out)
{
	const struct mr_value *value = NULL;
	struct mr_issues issues;
	struct mr_cursor root, at;
	enum mr_code rc = mr_json_parse(cx->arena, bytes, NULL, &value, &cx->err);

	if (rc)
		return mr_err_wrap(&cx->err, "intent %s", name);
	mr_issues_init(&issues, cx->arena);
	root = mr_cursor_root(value, &issues);
	at = mr_cursor_key(&root, "message_id");
	mr_cursor_text(&at, &out->message_id);
	at = mr_cursor_key(&root, "created_at_utc");
	mr_cursor_text(&at, &out->created_at);
	at = mr_cursor_key(&root, "staged");
	mr_cursor_text_opt(&at, &out->staged);
	at = mr_cursor_key(&root, "addresses");
	mr_cursor_texts(&at, &out->addresses);
	if (issues.len == 0 &&
		(!mr_token_is_message_id(out->message_id) || strlen(out->created_at) < 10 ||
			(out->staged && !is_below(out->staged))))
		mr_cursor_refuse(&root, "names what no delivery names");
	if (issues.len)
		return mr_err_issues(&cx->err, &issues, name);
	return MR_OK;
}

/* Does this error mean that the message can never be delivered? */
static bool is_final(enum mr_code code)
{
	return code == MR_EINVAL || code == MR_ENOTFOUND || code == MR_ECONFLICT ||
		code == MR_EEXISTS || code == MR_EFORMAT;
}

/* Its document is in place: finish it, or undo it for all when a mailbox has gone meanwhile. */
static enum mr_code finish(struct mr_mailbox_delivery *d)
{
	struct mr_ctx *cx = d->cx;
	struct mr_db *index MR_CLEANUP(mr_db_closep) = NULL;
	const struct mr_mailbox_indexed *known = NULL;
	struct mr_texts addresses;
	enum mr_code rc = mr_mailbox_root_index(cx, d->root, false, &index);

	if (!rc)
		rc = mr_mailbox_index_get(cx, index, d->message->message_id, &known);
	if (rc)
		return rc;
	if (known)
		return mr_mailbox_delivery_heal(d, index, known);
	rc = mr_mailbox_delivery_run(d, index);
	if (!rc)
		return mr_mailbox_delivery_settle(d, index);
	if (d->committed || !d->has_intent || !is_final(rc))
		return rc;
	addresses = mr_mailbox_delivery_addresses(d);
	rc = mr_mailbox_delivery_all_places(d, index, &addresses);
	return rc ? rc : mr_mailbox_delivery_undo(d);
}

/*
 * The document never left staging/, or was cleared since. Nothing else is there but for what a
 * power failure leaves of steps that were not synced yet: links may have come to the disk before
 * the document's new name.
 */
static enum mr_code undo_without_document(struct mr_mailbox_delivery *d,
	const struct intent *intent, const char *canonical)
{
	struct mr_db *index MR_CLEANUP(mr_db_closep) = NULL;
	const struct mr_mailbox_message none = { .message_id = intent->message_id };
	enum mr_code rc = mr_mailbox_root_index(d->cx, d->root, true, &index);

	d->canonical = canonical;
	d->canonical_path = mr_mailbox_layout_join(d->cx->arena, d->root->path, canonical);
	if (!rc)
		rc = mr_mailbox_delivery_all_places(d, index, &intent->addresses);
	d->message = &none;
	if (!rc)
		rc = mr_mailbox_delivery_undo(d);
	d->message = NULL;
	return rc;
}

/* The locks are held, and the intent is there. */
static enum mr_code recover_locked(struct mr_mailbox_delivery *d, const struct intent *intent)
{
	struct mr_ctx *cx = d->cx;
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	const char *path =
		mr_mailbox_layout_message(cx->arena, intent->created_at, intent->message_id);
	struct mr_mailbox_message message;
	struct mr_bytes bytes;
	enum mr_code rc =
		mr_fs_open_beneath(d->root->dir, path, O_RDONLY | O_NOFOLLOW, 0, &fd, &cx->err);

	if (rc == MR_ENOTFOUND)
		return undo_without_document(d, intent, path);
	if (!rc)
		rc = mr_fs_read_fd(cx->arena, fd, MR_MAILBOX_DOCUMENT_BYTES, &bytes, &cx->err);
	if (!rc)
		rc = mr_mailbox_document_parse(cx->arena, bytes, &message, &cx->err);
	if (!rc)
		rc = mr_mailbox_delivery_init(d, cx, d->root, &message, bytes);
	if (rc)
		return rc;
	d->staged = intent->staged;
	d->moved = true;
	rc = finish(d);
	d->message = NULL;
	return rc;
}

/*
 * Did the power fail before the whole file was on the disk? Then its delivery had not begun: it
 * goes on only when that is so, and an intent that replaces another one is never seen by half.
 */
static bool is_torn(struct mr_bytes bytes)
{
	return bytes.len == 0 || memchr(bytes.data, '\0', bytes.len);
}

/* Remove a torn intent, and read any other. `*out_torn`: there is nothing more to do. */
static enum mr_code open_intent(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *path, int fd, struct intent *out, bool *out_torn)
{
	struct mr_bytes bytes;
	enum mr_code rc = mr_fs_read_fd(cx->arena, fd, INTENT_BYTES, &bytes, &cx->err);

	*out_torn = !rc && is_torn(bytes);
	if (rc)
		return mr_err_wrap(&cx->err, "intent %s", path);
	if (!*out_torn)
		return read_intent(cx, bytes, path, out);
	if (is_still(root->dir, path, fd) && unlinkat(root->dir, path, 0) != 0 && errno != ENOENT)
		return mr_err_os(&cx->err, errno, "cannot remove %s/%s", root->path, path);
	return MR_OK;
}

static enum mr_code recover_one(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *path)
{
	struct mr_mailbox_delivery d MR_CLEANUP(mr_mailbox_delivery_release) = {
		.cx = cx,
		.root = root,
		.intent = open_left(root->dir, path),
		.has_intent = true,
	};
	struct mr_mailbox_locks locks MR_CLEANUP(mr_mailbox_locks_release) = MR_MAILBOX_LOCKS_INIT;
	struct intent intent = { .message_id = NULL };
	bool torn = false;
	enum mr_code rc;

	/* Gone, or its process is at work. */
	if (d.intent < 0)
		return MR_OK;
	rc = open_intent(cx, root, path, d.intent, &intent, &torn);
	if (torn)
		return rc;
	if (!rc)
		rc = mr_mailbox_locks_take(cx, root, &intent.addresses, &locks);
	if (rc || !is_still(root->dir, path, d.intent))
		return rc;
	return recover_locked(&d, &intent);
}

/* Is this the name of a delivery intent? Registrations keep theirs in the same directory. */
static bool is_intent(struct mr_arena *arena, const char *name)
{
	size_t len = strlen(name);

	return mr_str_ends(name, SUFFIX) &&
		mr_token_is_message_id(mr_arena_strndup(arena, name, len - strlen(SUFFIX)));
}

enum mr_code mr_mailbox_deliver_recover(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	size_t *out_count)
{
	struct mr_texts names = { NULL, 0 };
	size_t count = 0;
	struct mr_err why;
	enum mr_code rc = mr_fs_list(cx->arena, root->dir, MR_MAILBOX_INTENTS, MR_MAILBOX_ENTRIES,
		&names, &why);

	if (rc && rc != MR_ENOTFOUND) {
		cx->err = why;
		return rc;
	}
	for (size_t i = 0; i < names.len; i++) {
		struct mr_err before = cx->err;

		if (!is_intent(cx->arena, names.items[i]))
			continue;
		count++;
		/* One that cannot be finished now is left to the next writer, or to repair; it
		 * must not stop this operation. */
		if (recover_one(cx, root,
			    mr_mailbox_layout_join(cx->arena, MR_MAILBOX_INTENTS, names.items[i])))
			cx->err = before;
	}
	*out_count = count;
	return MR_OK;
}
