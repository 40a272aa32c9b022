/* mailbox/place.c - Puts messages into one mailbox of a root. */
#include "mailbox/place.h"

#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/document.h"
#include "mailbox/index_sql.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/locks.h"
#include "mailbox/register.h"
#include "mailbox/registration_sql.h"
#include "mailbox/state.h"
#include "mailbox/state_sql.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

struct job {
	struct mr_ctx *cx;
	const struct mr_mailbox_root *root;
	const struct mr_mailbox_registration *row;
	int mailbox; /* its directory, open */
	struct mr_db *index, *local;
	struct mr_mailbox_placing *items;
	size_t count;
	struct {
		const char *document;
		bool is_known; /* the index has it */
	} * found;
};

static void release(struct job *job)
{
	mr_fs_closep(&job->mailbox);
	mr_db_close(job->local);
	mr_db_close(job->index);
}

static const char *canonical(const struct job *job, const struct mr_mailbox_message *message)
{
	return mr_mailbox_layout_message(job->cx->arena, message->created_at_utc,
		message->message_id);
}

/* --- documents --- */

/* The same text; what is different cannot be this message. */
static enum mr_code compare(struct job *job, const char *path, struct mr_mailbox_placing *item)
{
	struct mr_ctx *cx = job->cx;
	struct mr_mailbox_message message = *item->message;
	struct mr_mailbox_message there;
	struct mr_bytes bytes;
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc =
		mr_fs_open_beneath(job->root->dir, path, O_RDONLY | O_NOFOLLOW, 0, &fd, &cx->err);

	if (!rc)
		rc = mr_fs_read_fd(cx->arena, fd, MR_MAILBOX_DOCUMENT_BYTES, &bytes, &cx->err);
	if (!rc)
		rc = mr_mailbox_document_parse(cx->arena, bytes, &there, &cx->err);
	if (rc) {
		item->why = mr_arena_printf(cx->arena,
			"its document in the root cannot be read: %s", cx->err.msg);
		return MR_OK;
	}
	/* Where its files are kept depends on the root. */
	message.attachments = there.attachments;
	if (!mr_mailbox_message_same(&message, &there, true))
		item->why = "another message of this id is in the root";
	return MR_OK;
}

static enum mr_code write_document(struct job *job, size_t i)
{
	struct mr_ctx *cx = job->cx;
	struct mr_mailbox_placing *item = &job->items[i];
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_mailbox_message parsed;
	const char *path = canonical(job, item->message);
	const char *day = mr_arena_strndup(cx->arena, path, (size_t)(strrchr(path, '/') - path));
	enum mr_code rc;

	mr_buf_init(&text, MR_MAILBOX_DOCUMENT_BYTES);
	rc = mr_mailbox_document_write(&text, item->message, &cx->err);
	/* A document that nobody could read must not get into a root. */
	if (!rc)
		rc = mr_mailbox_document_parse(cx->arena, mr_buf_bytes(&text), &parsed, &cx->err);
	if (rc) {
		item->why =
			mr_arena_printf(cx->arena, "it cannot be a message here: %s", cx->err.msg);
		return MR_OK;
	}
	job->found[i].document = mr_arena_strndup(cx->arena, text.data, text.len);
	rc = mr_fs_make_dirs(job->root->dir, day, 0700, &cx->err);
	if (!rc)
		rc = mr_fs_write(job->root->dir, path, mr_buf_bytes(&text), MR_FS_NEW, 0600,
			&cx->err);
	if (rc == MR_EEXISTS) /* from before a crash */
		rc = compare(job, path, item);
	mr_crash_point("place.document");
	return rc;
}

static enum mr_code make_document(struct job *job, size_t i)
{
	struct mr_mailbox_placing *item = &job->items[i];
	const char *id = item->message->message_id;
	const struct mr_mailbox_indexed *known;
	const struct mr_mailbox_state *state;
	enum mr_code rc = mr_mailbox_index_get(job->cx, job->index, id, &known);

	if (!rc)
		rc = mr_mailbox_state_get(job->cx, job->local, id, &state);
	if (rc)
		return rc;
	job->found[i].is_known = known != NULL;
	if (known)
		rc = strcmp(known->created_at, item->message->created_at_utc) == 0
			? compare(job, canonical(job, item->message), item)
			: MR_OK;
	if (known && strcmp(known->created_at, item->message->created_at_utc) != 0)
		item->why = "another message of this id is in the root";
	item->was_there = known && state;
	return known ? rc : write_document(job, i);
}

/* --- links --- */

static enum mr_code make_link(struct job *job, const struct mr_mailbox_placing *item)
{
	struct mr_ctx *cx = job->cx;
	const char *box = item->state.box;
	const char *target =
		mr_mailbox_layout_join(cx->arena, job->root->path, canonical(job, item->message));
	const char *path = mr_mailbox_layout_projection(cx->arena, box, item->message->message_id);
	char there[PATH_MAX];
	ssize_t len;
	enum mr_code rc = mr_fs_make_dirs(job->mailbox, box, 0700, &cx->err);

	if (rc)
		return rc;
	if (symlinkat(target, job->mailbox, path) != 0) {
		if (errno != EEXIST)
			return mr_err_os(&cx->err, errno, "cannot link %s/%s", job->row->path,
				path);
		len = readlinkat(job->mailbox, path, there, sizeof(there));
		if (len < 0 || (size_t)len != strlen(target) ||
			memcmp(there, target, (size_t)len) != 0)
			return mr_err_set(&cx->err, MR_ECONFLICT, "something else is at %s/%s",
				job->row->path, path);
	}
	mr_crash_point("place.linked");
	return MR_OK;
}

/* The boxes in which links were made. */
static enum mr_code sync_boxes(struct job *job)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < job->count && !rc; i++) {
		bool is_done = job->items[i].why || job->items[i].was_there;

		for (size_t before = 0; before < i && !is_done; before++)
			is_done = !job->items[before].why && !job->items[before].was_there &&
				strcmp(job->items[before].state.box, job->items[i].state.box) == 0;
		if (!is_done)
			rc = mr_fs_sync_dir(job->mailbox, job->items[i].state.box, &job->cx->err);
	}
	return rc;
}

/* --- rows --- */

/* The registration of a participant here, if it is the owner's. */
static enum mr_code registration_of(struct job *job, const struct mr_mailbox_principal *who,
	const char **out)
{
	const struct mr_mailbox_registration *row;
	enum mr_code rc = mr_mailbox_registration_active(job->cx, job->index, who->address, &row);

	*out = !rc && row && mr_str_eq(row->owner, who->principal_id) ? row->id : NULL;
	return rc;
}

static enum mr_code insert_message(struct job *job, const struct mr_mailbox_message *message,
	const char *document)
{
	struct mr_ctx *cx = job->cx;
	const char **ids =
		mr_arena_array(cx->arena, message->to.len + message->cc.len + 1, sizeof(*ids));
	struct mr_mailbox_delivered delivered = {
		.canonical_path =
			mr_mailbox_layout_join(cx->arena, job->root->path, canonical(job, message)),
		.document = document,
		.recipient_registration_ids = ids,
	};
	enum mr_code rc = registration_of(job, &message->sender, &delivered.sender_registration_id);

	for (size_t i = 0; i < message->to.len && !rc; i++)
		rc = registration_of(job, &message->to.items[i], &ids[i]);
	for (size_t i = 0; i < message->cc.len && !rc; i++)
		rc = registration_of(job, &message->cc.items[i], &ids[message->to.len + i]);
	if (!rc)
		rc = mr_mailbox_index_insert(cx, job->index, message, &delivered);
	return rc ? rc : mr_mailbox_index_thread(cx, job->index, message->thread_id);
}

static enum mr_code fill_index(struct job *job)
{
	struct mr_ctx *cx = job->cx;
	enum mr_code rc = mr_db_begin(job->index, MR_DB_IMMEDIATE, &cx->err);

	for (size_t i = 0; i < job->count && !rc; i++) {
		const struct mr_mailbox_placing *item = &job->items[i];
		struct mr_mailbox_projection projection = {
			.registration_id = job->row->id,
			.message_id = item->message->message_id,
			.folder = item->state.box,
		};

		if (item->why || item->was_there)
			continue;
		projection.path = mr_mailbox_layout_join(cx->arena, job->row->path,
			mr_mailbox_layout_projection(cx->arena, item->state.box,
				item->message->message_id));
		if (!job->found[i].is_known)
			rc = insert_message(job, item->message, job->found[i].document);
		if (!rc)
			rc = mr_mailbox_index_add_projection(cx, job->index, &projection);
	}
	if (rc) {
		mr_db_rollback(job->index);
		return rc;
	}
	rc = mr_db_commit(job->index, &cx->err);
	mr_crash_point("place.indexed");
	return rc;
}

static enum mr_code fill_local(struct job *job)
{
	struct mr_ctx *cx = job->cx;
	enum mr_code rc = mr_db_begin(job->local, MR_DB_IMMEDIATE, &cx->err);

	for (size_t i = 0; i < job->count && !rc; i++) {
		const struct mr_mailbox_placing *item = &job->items[i];
		struct mr_mailbox_state state = item->state;

		if (item->why || item->was_there)
			continue;
		state.message_id = item->message->message_id;
		state.thread_id = item->message->thread_id;
		state.created_at = item->message->created_at_utc;
		state.subject = item->message->subject;
		rc = mr_mailbox_state_add(cx, job->local, &state);
		if (!rc)
			rc = mr_mailbox_state_thread(cx, job->local, state.thread_id);
	}
	if (rc) {
		mr_db_rollback(job->local);
		return rc;
	}
	rc = mr_db_commit(job->local, &cx->err);
	mr_crash_point("place.settled");
	return rc;
}

/* --- all --- */

static enum mr_code open_all(struct job *job, const char *address)
{
	struct mr_ctx *cx = job->cx;
	enum mr_code rc = mr_mailbox_root_index(cx, job->root, false, &job->index);

	if (!rc)
		rc = mr_mailbox_registration_active(cx, job->index, address, &job->row);
	if (!rc && !job->row)
		rc = mr_err_set(&cx->err, MR_ENOTFOUND, "%s has no active mailbox `%s`",
			job->root->path, address);
	if (!rc)
		rc = mr_mailbox_register_check(cx, job->row);
	if (!rc)
		rc = mr_mailbox_root_local(cx, job->row->path, false, &job->local);
	return rc ? rc : mr_fs_open_dir(AT_FDCWD, job->row->path, &job->mailbox, &cx->err);
}

static enum mr_code place_all(struct job *job)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < job->count && !rc; i++) {
		struct mr_mailbox_placing *item = &job->items[i];

		item->was_there = false;
		item->why = NULL;
		if (mr_mailbox_state_box(job->cx, item->state.box, &item->state.box)) {
			item->why = mr_arena_strdup(job->cx->arena, job->cx->err.msg);
			continue;
		}
		rc = make_document(job, i);
		if (!rc && !item->why && !item->was_there)
			rc = make_link(job, item);
	}
	if (!rc)
		rc = sync_boxes(job);
	if (!rc)
		rc = fill_index(job);
	return rc ? rc : fill_local(job);
}

enum mr_code mr_mailbox_place_messages(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *address, struct mr_mailbox_placing *items, size_t count)
{
	struct mr_mailbox_locks locks MR_CLEANUP(mr_mailbox_locks_release) = MR_MAILBOX_LOCKS_INIT;
	struct job job MR_CLEANUP(release) = { .cx = cx,
		.root = root,
		.mailbox = -1,
		.items = items,
		.count = count };
	const struct mr_texts addresses = { &address, 1 };
	enum mr_code rc = mr_mailbox_locks_take(cx, root, &addresses, &locks);

	job.found = mr_arena_array(cx->arena, count + 1, sizeof(*job.found));
	if (!rc)
		rc = open_all(&job, address);
	return rc ? rc : place_all(&job);
}
