/* mailbox/register.c - registers an address (spec/mailbox.md 10). */
#include "mailbox/register_private.h"

#include "base/crash.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "mailbox/holder.h"
#include "mailbox/inside.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/locks.h"
#include "text/address.h"
#include "text/time.h"
#include "text/token.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char RESERVED_PREFIX[] = "HOUMAO-";

struct job {
	const struct mr_mailbox_root *root;
	const struct mr_mailbox_register_request *request;
	/* What the new or matching row will hold; its id is set last. */
	struct mr_mailbox_registration row;
	const char *entry; /* relative to the root */
	struct mr_db *db;
	const struct mr_mailbox_registration *active;
	const struct mr_mailbox_registration *occupying; /* the active row, or the one that
							    claims the entry */
	struct mr_mailbox_swap swap;
	int private_dir; /* of a symlink registration: locked while it is registered; or -1 */
};

static void release(struct job *job)
{
	mr_fs_closep(&job->private_dir);
}

static bool is_safe(const struct job *job)
{
	return job->request->mode == MR_MAILBOX_SAFE;
}

/* Without white space around it; NULL stays. */
static enum mr_code strip(struct mr_ctx *cx, const char *field, const char *text, const char **out)
{
	size_t len, bad_at;

	if (!text) {
		*out = NULL;
		return MR_OK;
	}
	len = strlen(text);
	if (len > MR_MAILBOX_TEXT_BYTES)
		return mr_err_set(&cx->err, MR_ELIMIT, "%s is longer than %d bytes", field,
			MR_MAILBOX_TEXT_BYTES);
	if (!mr_utf8_is_valid(text, len, &bad_at))
		return mr_err_set(&cx->err, MR_EINVAL, "%s is not UTF-8 at byte %zu", field,
			bad_at);
	mr_utf8_strip(&text, &len);
	if (len == 0)
		return mr_err_set(&cx->err, MR_EINVAL, "%s must not be empty", field);
	*out = mr_arena_strndup(cx->arena, text, len);
	return MR_OK;
}

bool mr_mailbox_register_may_have(const char *address, const char *owner, const char *role)
{
	if (!mr_str_starts(address, RESERVED_PREFIX) ||
		!mr_str_ends(address, "@" MR_MAILBOX_DOMAIN))
		return true;
	return mr_str_eq(address, MR_MAILBOX_OPERATOR_ADDRESS) &&
		mr_str_eq(owner, MR_MAILBOX_OPERATOR_PRINCIPAL) &&
		mr_str_eq(role, MR_MAILBOX_OPERATOR_ROLE);
}

static enum mr_code check_names(struct mr_ctx *cx, struct job *job)
{
	const struct mr_mailbox_register_request *request = job->request;
	struct mr_mailbox_registration *row = &job->row;
	struct mr_address address;
	enum mr_code rc = mr_address_parse_new(cx->arena, request->address, &address, &cx->err);

	if (rc)
		return mr_err_wrap(&cx->err, "address");
	if (!request->owner)
		return mr_err_set(&cx->err, MR_EINVAL, "owner_principal_id must not be empty");
	rc = strip(cx, "owner_principal_id", request->owner, &row->owner);
	if (!rc)
		rc = strip(cx, "display_name", request->display_name, &row->display_name);
	if (!rc)
		rc = strip(cx, "manifest_path_hint", request->manifest_path_hint,
			&row->manifest_path_hint);
	if (!rc)
		rc = strip(cx, "role", request->role, &row->role);
	if (rc)
		return rc;
	row->address = address.full;
	if (mr_mailbox_register_may_have(row->address, row->owner, row->role))
		return MR_OK;
	return mr_err_set(&cx->err, MR_EINVAL,
		"%s is reserved: addresses %s*@%s belong to the system", row->address,
		RESERVED_PREFIX, MR_MAILBOX_DOMAIN);
}

/*
 * Absolute and without links, though its last parts may not be there yet; those hold no "..", for
 * nobody can say where that leads.
 */
static enum mr_code resolve(struct mr_ctx *cx, const char *path, const char **out)
{
	char *text = mr_arena_strdup(cx->arena, path), *slash;
	const char *rest = NULL, *part;
	char *real;

	for (;;) {
		size_t len = strlen(text);

		while (len > 1 && text[len - 1] == '/')
			text[--len] = '\0';
		real = realpath(*text ? text : ".", NULL);
		if (real || errno != ENOENT || *text == '\0')
			break;
		slash = strrchr(text, '/');
		part = slash ? slash + 1 : text;
		if (mr_str_eq(part, ".."))
			break;
		rest = rest ? mr_mailbox_layout_join(cx->arena, part, rest)
			    : mr_arena_strdup(cx->arena, part);
		if (slash == text)
			text[1] = '\0';
		else
			*(slash ? slash : text) = '\0';
	}
	if (!real)
		return mr_err_os(&cx->err, errno, "cannot resolve mailbox_path %s", path);
	*out = rest ? mr_mailbox_layout_join(cx->arena, mr_str_eq(real, "/") ? "" : real, rest)
		    : mr_arena_strdup(cx->arena, real);
	free(real);
	return MR_OK;
}

/* The directory is resolved, but not the entry itself: it may be a link that is to be replaced. */
static bool names_entry(struct mr_ctx *cx, const char *path, const char *entry_path)
{
	char *text = mr_arena_strdup(cx->arena, path), *slash;
	const char *entry = strrchr(entry_path, '/');
	size_t len = strlen(text);

	while (len > 1 && text[len - 1] == '/')
		text[--len] = '\0';
	if (mr_str_eq(text, entry_path))
		return true;
	slash = strrchr(text, '/');
	if (!mr_str_eq(slash ? slash + 1 : text, entry + 1))
		return false;
	if (slash)
		*slash = '\0';
	return mr_mailbox_inside_same(!slash ? "."
			: slash == text      ? "/"
					     : text,
		mr_arena_strndup(cx->arena, entry_path, (size_t)(entry - entry_path)));
}

static bool is_inside(const char *path, const char *root)
{
	size_t len = strlen(root);

	return mr_str_eq(path, root) ||
		(mr_str_starts(path, root) && (path[len] == '/' || mr_str_eq(root, "/")));
}

static enum mr_code check_path(struct mr_ctx *cx, struct job *job)
{
	struct mr_mailbox_registration *row = &job->row;
	const char *path = NULL;
	enum mr_code rc = strip(cx, "mailbox_path", job->request->path, &path);

	if (rc)
		return rc;
	job->entry = mr_mailbox_layout_entry(cx->arena, row->address);
	row->entry_path = mr_mailbox_layout_join(cx->arena, job->root->path, job->entry);
	row->kind = job->request->kind;
	if (row->kind == MR_MAILBOX_IN_ROOT) {
		row->path = row->entry_path;
		if (path && !names_entry(cx, path, row->entry_path))
			return mr_err_set(&cx->err, MR_EINVAL,
				"in_root registration of %s must use the shared mailbox path %s, "
				"not %s",
				row->address, row->entry_path, path);
		return MR_OK;
	}
	if (!path)
		return mr_err_set(&cx->err, MR_EINVAL,
			"mailbox_path must name the private directory of a symlink registration");
	rc = resolve(cx, path, &row->path);
	if (rc)
		return rc;
	if (is_inside(row->path, job->root->path))
		return mr_err_set(&cx->err, MR_EINVAL,
			"the private directory %s must live outside the shared mailbox root %s",
			row->path, job->root->path);
	return MR_OK;
}

static bool is_real_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static enum mr_code refuse_artifact(struct mr_ctx *cx, const struct mr_mailbox_registration *row,
	const char *path, const char *what)
{
	return mr_err_set(&cx->err, MR_ECONFLICT,
		"the mailbox of %s is not whole: %s %s; run `mailroom mailbox repair`",
		row->address, path, what);
}

enum mr_code mr_mailbox_register_check(struct mr_ctx *cx, const struct mr_mailbox_registration *row)
{
	if (row->status != MR_MAILBOX_ACTIVE)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"the mailbox of %s is not active (%s is %s)", row->address, row->id,
			mr_mailbox_status_name(row->status));
	if (row->kind == MR_MAILBOX_SYMLINK && !is_link(row->entry_path))
		return refuse_artifact(cx, row, row->entry_path, "is not a symbolic link");
	if (!is_real_directory(row->path))
		return refuse_artifact(cx, row, row->path, "is not a directory");
	for (const char *const *box = mr_mailbox_boxes; *box; box++) {
		const char *path = mr_mailbox_layout_join(cx->arena, row->path, *box);

		if (!is_real_directory(path))
			return refuse_artifact(cx, row, path, "is not a directory");
	}
	return MR_OK;
}

static bool matches(const struct job *job, const struct mr_mailbox_registration *other)
{
	const struct mr_mailbox_registration *row = &job->row;

	return other && mr_str_eq(other->address, row->address) &&
		mr_str_eq(other->owner, row->owner) && other->kind == row->kind &&
		mr_str_eq(other->path, row->path) && mr_str_eq(other->entry_path, row->entry_path);
}

/* The row is kept; the owner's details of the request replace its own, absent ones included. */
static void take_metadata(struct job *job, const struct mr_mailbox_registration *kept)
{
	job->row.id = kept->id;
	job->row.created_at = kept->created_at;
	job->row.status = MR_MAILBOX_ACTIVE;
}

static void fill_result(const struct job *job, struct mr_mailbox_register_result *out)
{
	*out = (struct mr_mailbox_register_result){
		.mode = job->request->mode,
		.address = job->row.address,
		.active_registration_id = job->row.id,
		.owner = job->row.owner,
	};
}

/* Does its database open? Asked before anything is changed. */
static enum mr_code try_local(struct mr_ctx *cx, const struct job *job)
{
	struct mr_db *local MR_CLEANUP(mr_db_closep) = NULL;

	return mr_mailbox_register_open_local(cx, job->row.path,
		job->request->replace_unreadable_local, &local);
}

/* Make and lock the private directory; refuse one that belongs to another root. */
static enum mr_code take_private(struct mr_ctx *cx, struct job *job)
{
	const char *path = job->row.path, *holder = NULL;
	enum mr_code rc = mr_fs_make_dirs(AT_FDCWD, path, 0700, &cx->err);

	if (!rc)
		rc = mr_mailbox_holder_lock(cx, path, &job->private_dir);
	if (!rc)
		rc = mr_mailbox_holder_find(cx, job->root, path, &holder);
	if (rc)
		return rc;
	if (holder)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"mailbox path %s is registered in the mailbox root %s; two roots cannot "
			"share a private directory: end its registration there (`mailroom mailbox "
			"unregister --mode purge`, or `cleanup` when it is inactive), or choose "
			"another directory",
			path, holder);
	return MR_OK;
}

static enum mr_code prepare_private(struct mr_ctx *cx, struct job *job)
{
	enum mr_code rc;

	if (job->row.kind != MR_MAILBOX_SYMLINK)
		return MR_OK;
	rc = take_private(cx, job);
	if (!rc)
		rc = mr_mailbox_register_boxes(cx, AT_FDCWD, job->row.path);
	if (!rc)
		rc = try_local(cx, job);
	return rc ? rc : mr_mailbox_holder_mark(cx, job->root, job->row.path);
}

/* After the commit: a failure is reported, but the registration stands. */
static enum mr_code complete(struct mr_ctx *cx, const struct job *job)
{
	enum mr_code rc = mr_mailbox_register_boxes(cx, AT_FDCWD, job->row.path);

	if (!rc)
		rc = mr_mailbox_register_local(cx, job->db, &job->row, false);
	if (rc)
		return mr_err_wrap(&cx->err,
			"%s is registered (%s), but its mailbox.sqlite is not ready; run `mailroom "
			"mailbox repair`",
			job->row.address, job->row.id);
	mr_crash_point("register.completed");
	return MR_OK;
}

static enum mr_code reuse_active(struct mr_ctx *cx, struct job *job,
	struct mr_mailbox_register_result *out)
{
	enum mr_code rc = mr_mailbox_register_check(cx, job->active);

	take_metadata(job, job->active);
	if (!rc)
		rc = try_local(cx, job);
	if (!rc)
		rc = mr_mailbox_registration_update(cx, job->db, &job->row);
	if (!rc)
		rc = mr_db_commit(job->db, &cx->err);
	if (!rc)
		rc = complete(cx, job);
	if (rc)
		return rc;
	fill_result(job, out);
	out->reused_existing = true;
	return MR_OK;
}

/* Where a link leads, resolved; NULL when it is none or leads nowhere. */
static const char *link_target(struct mr_ctx *cx, const char *path)
{
	char *real = is_link(path) ? realpath(path, NULL) : NULL;
	const char *target = mr_arena_strdup(cx->arena, real);

	free(real);
	return target;
}

/* Is what stands at the entry what the row promises? `kind` is what stands there. */
static bool is_promised(struct mr_ctx *cx, const struct job *job, mode_t kind)
{
	size_t size = strlen(job->row.path) + 1;
	char *target = mr_arena_alloc(cx->arena, size + 1);
	ssize_t len;

	if (job->row.kind == MR_MAILBOX_IN_ROOT)
		return kind == S_IFDIR;
	if (kind != S_IFLNK)
		return false;
	/* Its directory may have gone: then the link's own text decides. */
	len = readlink(job->row.entry_path, target, size);
	return (len >= 0 && mr_str_eq(target, job->row.path)) ||
		mr_str_eq(link_target(cx, job->row.entry_path), job->row.path);
}

/* Everything on disk, then `change` and the commit, then what is left; or nothing at all. */
static enum mr_code perform(struct mr_ctx *cx, struct job *job,
	enum mr_code (*change)(struct mr_ctx *cx, struct job *job))
{
	const char *target = job->row.kind == MR_MAILBOX_SYMLINK ? job->row.path : NULL;
	enum mr_code rc = mr_mailbox_swap_begin(cx, job->root, &job->swap);

	if (!rc)
		rc = mr_mailbox_swap_apply(cx, job->root, &job->swap, target);
	if (!rc)
		rc = change(cx, job);
	if (!rc)
		rc = mr_db_commit(job->db, &cx->err);
	if (rc) {
		mr_db_rollback(job->db);
		return mr_mailbox_swap_give_up(cx, job->root, &job->swap);
	}
	mr_crash_point("register.committed");
	rc = complete(cx, job);
	mr_mailbox_swap_finish(cx, job->root, &job->swap);
	return rc;
}

static enum mr_code change_revived(struct mr_ctx *cx, struct job *job)
{
	return mr_mailbox_registration_update(cx, job->db, &job->row);
}

/* Make an inactive row active again, with its mail and state. */
static enum mr_code revive(struct mr_ctx *cx, struct job *job, bool places,
	struct mr_mailbox_register_result *out)
{
	enum mr_code rc = prepare_private(cx, job);

	take_metadata(job, job->occupying);
	if (!rc && !places && job->row.kind == MR_MAILBOX_IN_ROOT)
		rc = try_local(cx, job);
	if (rc)
		return rc;
	job->swap = (struct mr_mailbox_swap){
		.address = job->row.address,
		.registration_id = job->row.id,
		.replaces = job->row.id,
		.places = places,
	};
	rc = perform(cx, job, change_revived);
	if (rc)
		return rc;
	fill_result(job, out);
	out->reused_existing = true;
	return MR_OK;
}

/* A directory with nothing but empty boxes may be replaced without loss. */
static enum mr_code is_empty(struct mr_ctx *cx, const struct job *job, bool *out)
{
	struct mr_texts names, inner;
	int dir = job->root->dir;
	enum mr_code rc =
		mr_fs_list(cx->arena, dir, job->entry, MR_MAILBOX_ENTRIES, &names, &cx->err);

	*out = false;
	for (size_t i = 0; !rc && i < names.len; i++) {
		const char *path = mr_mailbox_layout_join(cx->arena, job->entry, names.items[i]);
		mode_t kind;

		rc = mr_mailbox_swap_look(cx, dir, path, &kind);
		if (rc || kind != S_IFDIR)
			return rc;
		rc = mr_fs_list(cx->arena, dir, path, MR_MAILBOX_ENTRIES, &inner, &cx->err);
		if (rc || inner.len > 0)
			return rc;
	}
	*out = !rc;
	return rc;
}

/* What mode safe accepts: no entry, or one that holds nothing to lose. */
static enum mr_code check_safe(struct mr_ctx *cx, const struct job *job, mode_t kind)
{
	const struct mr_mailbox_registration *row = &job->row, *old = job->occupying;
	bool empty = false;
	enum mr_code rc;

	if (job->active)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"%s already has an active mailbox: %s, owned by %s, at %s; mode force "
			"replaces it, mode stash keeps it aside",
			row->address, old->id, old->owner, old->path);
	if (old)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"%s still has a preserved mailbox artifact: %s, owned by %s, at %s; mode "
			"force replaces it, mode stash keeps it aside",
			row->address, old->id, old->owner, old->path);
	if (kind == 0)
		return MR_OK;
	if (row->kind == MR_MAILBOX_SYMLINK)
		return is_promised(cx, job, kind)
			? MR_OK
			: mr_err_set(&cx->err, MR_ECONFLICT,
				  "%s exists and is not a link to %s; mode force removes it, mode "
				  "stash keeps it aside",
				  row->entry_path, row->path);
	if (kind != S_IFDIR)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"%s exists, is no directory and belongs to no registration; mode force "
			"removes it, mode stash keeps it aside",
			row->entry_path);
	rc = is_empty(cx, job, &empty);
	if (rc || empty)
		return rc;
	return mr_err_set(&cx->err, MR_ECONFLICT,
		"directory %s is not empty and belongs to no registration; mode force deletes it, "
		"mode stash keeps it aside",
		row->entry_path);
}

static const char *stash_path(struct mr_ctx *cx, const struct job *job)
{
	return mr_mailbox_layout_join(cx->arena, job->root->path,
		mr_mailbox_layout_stash(cx->arena, job->row.address, job->swap.stash));
}

static enum mr_code retire_old(struct mr_ctx *cx, struct job *job,
	struct mr_mailbox_registration *old)
{
	enum mr_code rc;

	if (!old->deactivated_at)
		old->deactivated_at = job->row.created_at;
	if (job->request->mode == MR_MAILBOX_STASH) {
		const char *before = old->path;

		old->status = MR_MAILBOX_STASHED;
		old->entry_path = stash_path(cx, job);
		if (old->kind == MR_MAILBOX_IN_ROOT)
			old->path = old->entry_path;
		rc = mr_mailbox_registration_move_projections(cx, job->db, old->id, before,
			old->path);
	} else {
		old->status = MR_MAILBOX_INACTIVE;
		rc = mr_mailbox_registration_detach(cx, job->db, old->id);
	}
	return rc ? rc : mr_mailbox_registration_update(cx, job->db, old);
}

/* The old row is deactivated before the new one is inserted, and points to it afterwards. */
static enum mr_code change_joined(struct mr_ctx *cx, struct job *job)
{
	struct mr_mailbox_registration old = { .id = NULL };
	enum mr_code rc = MR_OK;

	if (job->occupying) {
		old = *job->occupying;
		rc = retire_old(cx, job, &old);
	}
	if (!rc)
		rc = mr_mailbox_registration_insert(cx, job->db, &job->row);
	if (!rc && old.id) {
		old.replaced_by = job->row.id;
		rc = mr_mailbox_registration_update(cx, job->db, &old);
	}
	return rc;
}

static const char *free_suffix(struct mr_ctx *cx, const struct job *job)
{
	const char *suffix;

	do
		suffix = mr_token_uuid4_hex(cx->arena, cx->rand);
	while (mr_fs_exists(job->root->dir,
		mr_mailbox_layout_stash(cx->arena, job->row.address, suffix)));
	return suffix;
}

static enum mr_code join(struct mr_ctx *cx, struct job *job, mode_t kind,
	struct mr_mailbox_register_result *out)
{
	struct mr_mailbox_registration *row = &job->row;
	enum mr_code rc = is_safe(job) ? check_safe(cx, job, kind) : MR_OK;
	bool keeps = is_safe(job) && row->kind == MR_MAILBOX_SYMLINK && kind != 0;

	if (!rc)
		rc = prepare_private(cx, job);
	if (rc)
		return rc;
	row->id = mr_token_prefixed(cx->arena, cx->rand, "reg-", MR_TOKEN_UUID_DIGITS);
	row->status = MR_MAILBOX_ACTIVE;
	row->created_at = mr_time_format(cx->arena, mr_clock_wall_us(cx->clock), MR_TIME_SECONDS);
	job->swap = (struct mr_mailbox_swap){
		.address = row->address,
		.registration_id = row->id,
		.replaces = job->occupying ? job->occupying->id : NULL,
		.takes = kind != 0 && !keeps,
		.places = !keeps,
	};
	if (job->request->mode == MR_MAILBOX_STASH && (kind != 0 || job->occupying))
		job->swap.stash = free_suffix(cx, job);
	rc = perform(cx, job, change_joined);
	if (rc)
		return rc;
	fill_result(job, out);
	if (job->request->mode == MR_MAILBOX_FORCE)
		out->replaced_registration_id = job->swap.replaces;
	if (job->request->mode == MR_MAILBOX_STASH) {
		out->stashed_registration_id = job->swap.replaces;
		out->stashed_path = job->swap.takes ? stash_path(cx, job) : NULL;
	}
	return MR_OK;
}

static enum mr_code load_rows(struct mr_ctx *cx, struct job *job)
{
	const struct mr_mailbox_registration *row = &job->row, *other = NULL;
	enum mr_code rc = mr_mailbox_registration_active(cx, job->db, row->address, &job->active);

	if (!rc && job->active)
		job->occupying = job->active;
	else if (!rc)
		rc = mr_mailbox_registration_occupying(cx, job->db, row->entry_path,
			&job->occupying);
	if (!rc && row->kind == MR_MAILBOX_SYMLINK)
		rc = mr_mailbox_registration_on_path(cx, job->db, row->path, row->address, &other);
	if (rc)
		return rc;
	if (other)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"mailbox path %s is already active for %s (%s)", row->path, other->address,
			other->id);
	return MR_OK;
}

/* Under the locks, in the index's transaction: keep a row, revive one, or add one. */
static enum mr_code decide(struct mr_ctx *cx, struct job *job,
	struct mr_mailbox_register_result *out)
{
	mode_t kind = 0;
	enum mr_code rc = load_rows(cx, job);

	if (!rc)
		rc = mr_mailbox_swap_look(cx, job->root->dir, job->entry, &kind);
	if (rc)
		return rc;
	if (matches(job, job->active))
		return reuse_active(cx, job, out);
	if (job->active || !matches(job, job->occupying) ||
		job->occupying->status != MR_MAILBOX_INACTIVE)
		return join(cx, job, kind, out);
	/* An entry of another kind would have to be replaced, which mode safe refuses. */
	if (kind == 0 || is_promised(cx, job, kind))
		return revive(cx, job, kind == 0, out);
	return join(cx, job, kind, out);
}

enum mr_code mr_mailbox_register(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_register_request *request, struct mr_mailbox_register_result *out)
{
	struct mr_mailbox_locks locks MR_CLEANUP(mr_mailbox_locks_release) = MR_MAILBOX_LOCKS_INIT;
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	struct job job MR_CLEANUP(release) = {
		.root = root,
		.request = request,
		.private_dir = -1,
	};
	struct mr_texts addresses;
	enum mr_code rc = check_names(cx, &job);

	if (!rc)
		rc = check_path(cx, &job);
	if (rc)
		return rc;
	addresses =
		(struct mr_texts){ .items = (const char *[]){ job.row.address, NULL }, .len = 1 };
	rc = mr_mailbox_locks_take(cx, root, &addresses, &locks);
	if (!rc)
		rc = mr_mailbox_root_index(cx, root, false, &db);
	if (!rc)
		rc = mr_db_begin(db, MR_DB_IMMEDIATE, &cx->err);
	if (rc)
		return rc;
	job.db = db;
	return decide(cx, &job, out);
}
