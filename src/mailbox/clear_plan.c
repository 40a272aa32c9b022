/* mailbox/clear_plan.c - plans a clear: what it will remove, in the index and on disk. */
#include "mailbox/clear_private.h"

#include "base/fs.h"
#include "mailbox/cleanup_sql.h"
#include "mailbox/index_sql.h"
#include "mailbox/inside.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/state_sql.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char CANONICAL[] = "canonical_message";
static const char PROJECTION[] = "mailbox_projection";
static const char STATE[] = "mailbox_local_state";
static const char MANAGED[] = "managed_attachment";

static void will(struct mr_mailbox_clear *job, struct mr_mailbox_action action,
	struct mr_mailbox_clear_work work)
{
	struct mr_mailbox_actions *planned = &job->result.planned;

	if (planned->len == job->work_cap) {
		size_t more = job->work_cap ? job->work_cap * 2 : 64;
		struct mr_mailbox_clear_work *items =
			mr_arena_array(job->cx->arena, more, sizeof(*items));

		if (planned->len > 0)
			memcpy(items, job->work, planned->len * sizeof(*items));
		job->work = items;
		job->work_cap = more;
	}
	job->work[planned->len] = work;
	action.proposed_action = "remove";
	mr_mailbox_actions_add(job->cx->arena, planned, &action);
}

static void block(struct mr_mailbox_clear *job, struct mr_mailbox_action action)
{
	action.proposed_action = "remove";
	mr_mailbox_actions_add(job->cx->arena, &job->result.blocked, &action);
}

static void preserve(struct mr_mailbox_clear *job, struct mr_mailbox_action action)
{
	action.proposed_action = "preserve";
	mr_mailbox_actions_add(job->cx->arena, &job->result.preserved, &action);
}

static struct mr_mailbox_action of_row(const struct mr_mailbox_registration *row, const char *kind,
	const char *path, const char *reason)
{
	return (struct mr_mailbox_action){
		.artifact_kind = kind,
		.path = path,
		.reason = reason,
		.address = row->address,
		.registration_id = row->id,
		.registration_status = mr_mailbox_status_name(row->status),
	};
}

static void plan_registrations(struct mr_mailbox_clear *job)
{
	for (size_t i = 0; i < job->hold.rows.len; i++) {
		const struct mr_mailbox_registration *row = &job->hold.rows.items[i];

		preserve(job,
			of_row(row, "mailbox_registration", row->entry_path,
				"accounts and their directories stay when messages are cleared"));
	}
}

/*
 * Files below a directory of the root, sorted, by their paths from the root. The walk follows no
 * link, so all of them are really there.
 */
struct files {
	struct mr_arena *arena;
	const char *base;
	const char *suffix; /* or NULL: all */
	const char **items;
	size_t len, cap;
};

static enum mr_fs_next note_file(void *arg, const struct mr_fs_entry *entry)
{
	struct files *files = arg;

	if (entry->type == DT_DIR || (files->suffix && !mr_str_ends(entry->name, files->suffix)))
		return MR_FS_GO_ON;
	if (files->len == files->cap) {
		size_t more = files->cap ? files->cap * 2 : 64;
		const char **items = mr_arena_array(files->arena, more, sizeof(*items));

		if (files->len > 0)
			memcpy(items, files->items, files->len * sizeof(*items));
		files->items = items;
		files->cap = more;
	}
	files->items[files->len++] = mr_mailbox_layout_join(files->arena, files->base, entry->path);
	return MR_FS_GO_ON;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool has_text(const char *const *items, size_t len, const char *text)
{
	return len > 0 && bsearch(&text, items, len, sizeof(*items), by_text) != NULL;
}

static enum mr_code find_files(struct mr_mailbox_clear *job, const char *base, const char *suffix,
	struct files *out)
{
	enum mr_code rc = MR_OK;

	*out = (struct files){ .arena = job->cx->arena, .base = base, .suffix = suffix };
	if (mr_fs_exists(job->root->dir, base))
		rc = mr_fs_walk(job->root->dir, base, MR_MAILBOX_CLEAR_DEPTH, note_file, out,
			&job->cx->err);
	if (!rc && out->len > 0)
		qsort(out->items, out->len, sizeof(*out->items), by_text);
	return rc;
}

/* An absolute path that lies in `directory` of the root, from the root; else NULL. */
static const char *below_root(const struct mr_mailbox_clear *job, const char *directory,
	const char *path)
{
	const char *rest = mr_mailbox_inside(job->root->path, path);

	return rest && mr_mailbox_inside(directory, rest) ? rest : NULL;
}

enum found { MISSING, FILE_THERE, LINKED };

/*
 * What is at the path? LINKED: its directory is reached through a link, so its content is not ours.
 * An error is not taken for absence: a document must not stay when its row is removed.
 */
static enum mr_code look(const struct mr_mailbox_clear *job, const char *path, enum found *out)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	const char *slash = strrchr(path, '/');
	const char *parent = mr_arena_strndup(job->cx->arena, path, (size_t)(slash - path));
	struct mr_err err = { .code = MR_OK };
	struct stat st;
	enum mr_code rc = mr_fs_open_beneath(job->root->dir, parent,
		O_PATH | O_DIRECTORY | O_NOFOLLOW, 0, &fd, &err);

	if (!rc && fstatat(fd, slash + 1, &st, AT_SYMLINK_NOFOLLOW) != 0)
		rc = mr_err_os(&err, errno, "cannot stat %s/%s", job->root->path, path);
	if (!rc)
		*out = S_ISDIR(st.st_mode) ? MISSING : FILE_THERE;
	else if (err.os_errno == ENOTDIR || (rc == MR_EPERM && err.os_errno == 0))
		*out = LINKED;
	else if (err.os_errno == ENOENT)
		*out = MISSING;
	else {
		job->cx->err = err;
		return rc;
	}
	return MR_OK;
}

static enum mr_code plan_message(struct mr_mailbox_clear *job,
	const struct mr_mailbox_clear_message *message, struct mr_texts *paths)
{
	struct mr_mailbox_action action = { .artifact_kind = CANONICAL,
		.path = message->canonical_path,
		.message_id = message->message_id };
	const char *path = below_root(job, MR_MAILBOX_MESSAGES, message->canonical_path);
	enum found found = MISSING;
	enum mr_code rc = path && !message->stays ? look(job, path, &found) : MR_OK;

	if (rc)
		return rc;
	if (message->stays) {
		action.reason = "another registration still has the message";
		preserve(job, action);
	} else if (!path) {
		action.reason = "the document is not in this root's messages directory";
		block(job, action);
	} else if (found == LINKED) {
		action.reason = "the document's directory is a link";
		block(job, action);
	} else if (found == MISSING) {
		action.reason = "the document is missing; only its row is left";
		will(job, action,
			(struct mr_mailbox_clear_work){ MR_MAILBOX_CLEAR_ROW, NULL, NULL });
	} else {
		action.reason = "the message is to be cleared";
		will(job, action,
			(struct mr_mailbox_clear_work){ MR_MAILBOX_CLEAR_MOVE, NULL, path });
		paths->items[paths->len++] = path;
	}
	return MR_OK;
}

/* The documents of rows. In `*out_paths`, sorted, those that were planned. */
static enum mr_code plan_indexed(struct mr_mailbox_clear *job, struct mr_texts *out_paths)
{
	struct mr_mailbox_clear_messages messages;
	enum mr_code rc = mr_mailbox_cleanup_sql_messages(job->cx, job->hold.index,
		job->account ? job->account->id : NULL, &messages);

	if (rc)
		return rc;
	out_paths->items = mr_arena_array(job->cx->arena, messages.len + 1, sizeof(char *));
	out_paths->len = 0;
	for (size_t i = 0; !rc && i < messages.len; i++)
		rc = plan_message(job, &messages.items[i], out_paths);
	if (out_paths->len > 0)
		qsort(out_paths->items, out_paths->len, sizeof(char *), by_text);
	return rc;
}

/* Documents that no row names. */
static enum mr_code plan_stray(struct mr_mailbox_clear *job, const struct mr_texts *planned)
{
	struct files files;
	enum mr_code rc = find_files(job, MR_MAILBOX_MESSAGES, ".md", &files);

	if (rc)
		return rc;
	for (size_t i = 0; i < files.len; i++) {
		if (has_text(planned->items, planned->len, files.items[i]))
			continue;
		will(job,
			(struct mr_mailbox_action){ .artifact_kind = CANONICAL,
				.path = mr_mailbox_layout_join(job->cx->arena, job->root->path,
					files.items[i]),
				.reason = "the index does not know the document" },
			(struct mr_mailbox_clear_work){ MR_MAILBOX_CLEAR_MOVE, NULL,
				files.items[i] });
	}
	return MR_OK;
}

static enum mr_code plan_messages(struct mr_mailbox_clear *job)
{
	struct mr_texts planned;
	enum mr_code rc = plan_indexed(job, &planned);

	return rc || job->account ? rc : plan_stray(job, &planned);
}

/* Where the link of a projection is below its mailbox, "<folder>/<name>", or NULL. */
static const char *projected(const struct mr_mailbox_registration *row, const char *path)
{
	const char *rest = mr_mailbox_inside(row->path, path);
	const char *slash = rest ? strchr(rest, '/') : NULL;

	return slash && !strchr(slash + 1, '/') ? rest : NULL;
}

static void plan_projection(struct mr_mailbox_clear *job, const struct mr_mailbox_registration *row,
	const struct mr_mailbox_projection *projection)
{
	const char *path = projected(row, projection->path);
	struct mr_mailbox_action action =
		of_row(row, PROJECTION, projection->path, "the message is to be cleared");
	struct mr_mailbox_clear_work work = { MR_MAILBOX_CLEAR_UNLINK, row->path, path };
	struct stat st;

	action.message_id = projection->message_id;
	if (!path) {
		action.reason = "the projection is not in the registration's directory";
		block(job, action);
		return;
	}
	if (lstat(projection->path, &st) != 0) {
		action.reason = "the link is missing; only its row is left";
		work.how = MR_MAILBOX_CLEAR_ROW;
	} else if (!S_ISLNK(st.st_mode)) {
		action.reason = "a file stands where a link to the message should be";
		block(job, action);
		return;
	}
	will(job, action, work);
}

static bool shares_directory(const struct mr_mailbox_registration *row,
	const struct mr_mailbox_registration *other)
{
	return row == other || mr_str_eq(row->path, other->path);
}

/* The projections a row has in the index; `recorded` gets their paths. */
static enum mr_code plan_row(struct mr_mailbox_clear *job,
	const struct mr_mailbox_registration *row, struct files *recorded)
{
	struct mr_mailbox_projections found;
	enum mr_code rc =
		mr_mailbox_index_projections(job->cx, job->hold.index, row->id, NULL, &found);
	const char **items;

	if (rc)
		return rc;
	items = mr_arena_array(job->cx->arena, recorded->len + found.len + 1, sizeof(*items));
	if (recorded->len > 0)
		memcpy(items, recorded->items, recorded->len * sizeof(*items));
	recorded->items = items;
	for (size_t i = 0; i < found.len; i++) {
		recorded->items[recorded->len++] = found.items[i].path;
		if (!job->account || row == job->account)
			plan_projection(job, row, &found.items[i]);
	}
	return MR_OK;
}

static bool is_box(const char *name)
{
	for (size_t i = 0; mr_mailbox_boxes[i]; i++)
		if (mr_str_eq(mr_mailbox_boxes[i], name))
			return true;
	return false;
}

/* Does the link lead to a document of this root? */
static bool leads_to_mail(const struct mr_mailbox_clear *job, int folder, const char *name)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(folder, name, target, sizeof(target) - 1);

	if (len < 0)
		return false;
	target[len] = '\0';
	return below_root(job, MR_MAILBOX_MESSAGES, target) != NULL;
}

/*
 * Links that no row names. In the four boxes every link called *.md is ours; other directories that
 * an owner made may hold other files.
 */
static enum mr_code plan_stale(struct mr_mailbox_clear *job,
	const struct mr_mailbox_registration *row, int mailbox, const char *folder,
	const struct files *recorded)
{
	int fd MR_CLEANUP(mr_fs_closep) =
		openat(mailbox, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct mr_arena *arena = job->cx->arena;
	struct mr_texts names;
	enum mr_code rc;

	if (fd < 0)
		return MR_OK;
	rc = mr_fs_list(arena, fd, ".", MR_MAILBOX_ENTRIES, &names, &job->cx->err);
	if (rc)
		return mr_err_wrap(&job->cx->err, "%s/%s", row->path, folder);
	for (size_t i = 0; i < names.len; i++) {
		const char *name = names.items[i];
		const char *path = mr_mailbox_layout_join(arena, folder, name);
		const char *whole = mr_mailbox_layout_join(arena, row->path, path);
		struct stat st;

		if (!mr_str_ends(name, ".md") || has_text(recorded->items, recorded->len, whole) ||
			fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISLNK(st.st_mode) ||
			!(is_box(folder) || leads_to_mail(job, fd, name)))
			continue;
		will(job, of_row(row, PROJECTION, whole, "the index does not know the link"),
			(struct mr_mailbox_clear_work){ MR_MAILBOX_CLEAR_UNLINK, row->path, path });
	}
	return MR_OK;
}

static enum mr_code plan_state(struct mr_mailbox_clear *job,
	const struct mr_mailbox_registration *row)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	const char *path = mr_mailbox_layout_join(job->cx->arena, row->path, MR_MAILBOX_LOCAL_FILE);
	struct mr_err before = job->cx->err;
	int64_t count = 0;
	struct stat st;
	enum mr_code rc;

	if (lstat(path, &st) != 0)
		return MR_OK;
	if (!S_ISREG(st.st_mode)) {
		block(job, of_row(row, STATE, path, "it is not a regular file"));
		return MR_OK;
	}
	rc = mr_mailbox_root_local(job->cx, row->path, true, &db);
	if (!rc)
		rc = mr_mailbox_state_count(job->cx, db, &count);
	if (rc) {
		/* A mailbox that cannot be read does not stop the clearing of the others. */
		block(job,
			of_row(row, STATE, path,
				mr_arena_strdup(job->cx->arena, job->cx->err.msg)));
		job->cx->err = before;
		return MR_OK;
	}
	if (count > 0)
		will(job, of_row(row, STATE, path, "what the owner did with the messages"),
			(struct mr_mailbox_clear_work){ MR_MAILBOX_CLEAR_STATE, row->path,
				MR_MAILBOX_LOCAL_FILE });
	return MR_OK;
}

/* Everything in one mailbox directory that is not in the index. */
static enum mr_code plan_directory(struct mr_mailbox_clear *job,
	const struct mr_mailbox_registration *row, const struct files *recorded)
{
	int fd MR_CLEANUP(mr_fs_closep) =
		open(row->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct mr_texts names;
	enum mr_code rc;

	if (fd < 0)
		return MR_OK;
	rc = mr_fs_list(job->cx->arena, fd, ".", MR_MAILBOX_ENTRIES, &names, &job->cx->err);
	if (rc)
		return mr_err_wrap(&job->cx->err, "%s", row->path);
	for (size_t i = 0; !rc && i < names.len; i++)
		rc = plan_stale(job, row, fd, names.items[i], recorded);
	return rc ? rc : plan_state(job, row);
}

/* Rows that share a directory (what `force` leaves) are looked at together. */
static enum mr_code plan_mailboxes(struct mr_mailbox_clear *job)
{
	const struct mr_mailbox_registrations *rows = &job->hold.rows;
	bool *done = mr_arena_array(job->cx->arena, rows->len + 1, sizeof(*done));
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < rows->len; i++) {
		struct files recorded = { .arena = job->cx->arena };

		if (done[i] || (job->account && &rows->items[i] != job->account))
			continue;
		for (size_t j = 0; !rc && j < rows->len; j++) {
			if (!shares_directory(&rows->items[i], &rows->items[j]))
				continue;
			done[j] = true;
			rc = plan_row(job, &rows->items[j], &recorded);
		}
		if (!rc && recorded.len > 0)
			qsort(recorded.items, recorded.len, sizeof(*recorded.items), by_text);
		if (!rc)
			rc = plan_directory(job, &rows->items[i], &recorded);
	}
	return rc;
}

/* Of one attachment. `paths` gets the file that goes, from the root. */
static enum mr_code plan_attachment(struct mr_mailbox_clear *job,
	const struct mr_mailbox_clear_attachment *attachment, struct mr_texts *paths)
{
	struct mr_arena *arena = job->cx->arena;
	const char *locator = attachment->locator[0] == '/'
		? attachment->locator
		: mr_mailbox_layout_join(arena, job->root->path, attachment->locator);
	const char *path = below_root(job, MR_MAILBOX_MANAGED, locator);
	struct mr_mailbox_action action = { .path = locator,
		.attachment_id = attachment->attachment_id };
	enum found found = MISSING;
	enum mr_code rc = path && !attachment->stays ? look(job, path, &found) : MR_OK;

	if (rc)
		return rc;
	if (attachment->stays) {
		action.artifact_kind = "attachment";
		action.reason = "a message that stays refers to it";
		preserve(job, action);
	} else if (mr_str_eq(attachment->kind, "path_ref")) {
		action.artifact_kind = "path_ref_attachment";
		action.reason = "the file was only referred to and is not the mailbox's";
		preserve(job, action);
	} else if (!mr_str_eq(attachment->kind, "managed_copy")) {
		action.artifact_kind = "attachment";
		action.reason = "attachments of this kind are not known";
		block(job, action);
	} else if (!path) {
		action.artifact_kind = MANAGED;
		action.reason = "the copy is not in this root's directory of managed attachments";
		block(job, action);
	} else if (found == LINKED) {
		action.artifact_kind = MANAGED;
		action.reason = "the copy's directory is a link";
		block(job, action);
	} else if (found == MISSING) {
		action.artifact_kind = MANAGED;
		action.reason = "the copy is missing; only its row is left";
		will(job, action,
			(struct mr_mailbox_clear_work){ MR_MAILBOX_CLEAR_ROW, NULL, NULL });
	} else {
		action.artifact_kind = MANAGED;
		action.reason = "no message refers to it any more";
		will(job, action,
			(struct mr_mailbox_clear_work){ MR_MAILBOX_CLEAR_MOVE, NULL, path });
		paths->items[paths->len++] = path;
	}
	return MR_OK;
}

static enum mr_code plan_attachments(struct mr_mailbox_clear *job)
{
	struct mr_arena *arena = job->cx->arena;
	struct mr_mailbox_clear_attachments found;
	struct mr_texts paths = { NULL, 0 };
	struct files files;
	enum mr_code rc = mr_mailbox_cleanup_sql_attachments(job->cx, job->hold.index,
		job->account ? job->account->id : NULL, &found);

	if (rc)
		return rc;
	paths.items = mr_arena_array(arena, found.len + 1, sizeof(*paths.items));
	for (size_t i = 0; !rc && i < found.len; i++)
		rc = plan_attachment(job, &found.items[i], &paths);
	if (rc || job->account)
		return rc;
	if (paths.len > 0)
		qsort(paths.items, paths.len, sizeof(*paths.items), by_text);
	rc = find_files(job, MR_MAILBOX_MANAGED, NULL, &files);
	for (size_t i = 0; !rc && i < files.len; i++) {
		if (has_text(paths.items, paths.len, files.items[i]))
			continue;
		will(job,
			(struct mr_mailbox_action){ .artifact_kind = MANAGED,
				.path = mr_mailbox_layout_join(arena, job->root->path,
					files.items[i]),
				.reason = "the index does not know the copy" },
			(struct mr_mailbox_clear_work){ MR_MAILBOX_CLEAR_MOVE, NULL,
				files.items[i] });
	}
	return rc;
}

enum mr_code mr_mailbox_clear_plan(struct mr_mailbox_clear *job)
{
	enum mr_code rc;

	plan_registrations(job);
	rc = plan_messages(job);
	if (!rc)
		rc = plan_mailboxes(job);
	if (!rc)
		rc = plan_attachments(job);
	return rc;
}
