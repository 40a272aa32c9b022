/* mailbox/deliver_steps.c - the steps of a delivery, and how each of them is undone. */
#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/deliver_private.h"
#include "mailbox/layout.h"
#include "mailbox/register.h"
#include "mailbox/state_sql.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static const char INBOX[] = "inbox";
static const char SENT[] = "sent";

void mr_mailbox_delivery_release(struct mr_mailbox_delivery *d)
{
	mr_fs_closep(&d->intent);
}

enum mr_code mr_mailbox_delivery_init(struct mr_mailbox_delivery *d, struct mr_ctx *cx,
	const struct mr_mailbox_root *root, const struct mr_mailbox_message *message,
	struct mr_bytes document)
{
	enum mr_code rc =
		mr_mailbox_message_recipients(cx->arena, message, &d->recipients, &cx->err);

	if (rc)
		return rc;
	d->cx = cx;
	d->root = root;
	d->message = message;
	d->document = document;
	d->canonical =
		mr_mailbox_layout_message(cx->arena, message->created_at_utc, message->message_id);
	d->canonical_path = mr_mailbox_layout_join(cx->arena, root->path, d->canonical);
	return MR_OK;
}

struct mr_texts mr_mailbox_delivery_addresses(const struct mr_mailbox_delivery *d)
{
	struct mr_texts out = { .items = mr_arena_array(d->cx->arena, d->recipients.len + 2,
					sizeof(*out.items)) };

	out.items[out.len++] = d->message->sender.address;
	for (size_t i = 0; i < d->recipients.len; i++)
		out.items[out.len++] = d->recipients.items[i].address;
	return out;
}

const char *mr_mailbox_delivery_link(struct mr_arena *arena,
	const struct mr_mailbox_registration *row, const char *folder, const char *message_id)
{
	return mr_mailbox_layout_join(arena, row->path,
		mr_mailbox_layout_projection(arena, folder, message_id));
}

/* The active registration of a participant, who must own it. */
static enum mr_code find_place(struct mr_mailbox_delivery *d, struct mr_db *index,
	const struct mr_mailbox_principal *who, const char *what,
	const struct mr_mailbox_registration **out)
{
	struct mr_ctx *cx = d->cx;
	enum mr_code rc = mr_mailbox_registration_active(cx, index, who->address, out);

	if (rc)
		return rc;
	if (!*out)
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"no active mailbox registration exists for %s `%s`", what, who->address);
	rc = mr_mailbox_register_check(cx, *out);
	if (rc)
		return rc;
	if (!mr_str_eq((*out)->owner, who->principal_id))
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"registered owner mismatch for %s `%s`: it belongs to `%s`, not to `%s`",
			what, who->address, (*out)->owner, who->principal_id);
	return MR_OK;
}

static const char *id_of(const struct mr_mailbox_delivery *d, const char *address)
{
	for (size_t i = 0; i < d->place_count; i++) {
		if (d->places[i].is_recipient && mr_str_eq(d->places[i].row->address, address))
			return d->places[i].row->id;
	}
	return NULL;
}

/* Find every mailbox that gets the message, each once, the sender's first. */
static enum mr_code find_places(struct mr_mailbox_delivery *d, struct mr_db *index)
{
	const struct mr_mailbox_message *message = d->message;
	struct mr_arena *arena = d->cx->arena;
	const struct mr_mailbox_registration *row = NULL;
	enum mr_code rc = find_place(d, index, &message->sender, "sender", &row);

	if (rc)
		return rc;
	d->places = mr_arena_array(arena, d->recipients.len + 1, sizeof(*d->places));
	d->places[0] = (struct mr_mailbox_place){ .row = row, .is_sender = true };
	d->place_count = 1;
	d->sender_id = row->id;
	for (size_t i = 0; i < d->recipients.len; i++) {
		rc = find_place(d, index, &d->recipients.items[i], "recipient", &row);
		if (rc)
			return rc;
		if (mr_str_eq(row->id, d->sender_id))
			d->places[0].is_recipient = true;
		else
			d->places[d->place_count++] =
				(struct mr_mailbox_place){ .row = row, .is_recipient = true };
	}
	d->recipient_ids = mr_arena_array(arena, message->to.len + message->cc.len + 1,
		sizeof(*d->recipient_ids));
	for (size_t i = 0; i < message->to.len; i++)
		d->recipient_ids[i] = id_of(d, message->to.items[i].address);
	for (size_t i = 0; i < message->cc.len; i++)
		d->recipient_ids[message->to.len + i] = id_of(d, message->cc.items[i].address);
	return MR_OK;
}

static enum mr_code add_projection(struct mr_mailbox_delivery *d, struct mr_db *index,
	const struct mr_mailbox_registration *row, const char *folder)
{
	struct mr_mailbox_projection projection = {
		.registration_id = row->id,
		.message_id = d->message->message_id,
		.folder = folder,
		.path = mr_mailbox_delivery_link(d->cx->arena, row, folder, d->message->message_id),
	};

	return mr_mailbox_index_add_projection(d->cx, index, &projection);
}

/* Everything that the shared transaction holds. */
static enum mr_code fill_index(struct mr_mailbox_delivery *d, struct mr_db *index)
{
	struct mr_mailbox_delivered delivered = {
		.canonical_path = d->canonical_path,
		.document = (const char *)d->document.data,
		.sender_registration_id = d->sender_id,
		.recipient_registration_ids = d->recipient_ids,
	};
	enum mr_code rc = mr_mailbox_index_insert(d->cx, index, d->message, &delivered);

	for (size_t i = 0; i < d->place_count && !rc; i++) {
		if (d->places[i].is_sender)
			rc = add_projection(d, index, d->places[i].row, SENT);
		if (!rc && d->places[i].is_recipient)
			rc = add_projection(d, index, d->places[i].row, INBOX);
	}
	if (!rc)
		rc = mr_mailbox_index_thread(d->cx, index, d->message->thread_id);
	mr_crash_point("deliver.filled");
	return rc;
}

/* <id>.md, in messages/ and in every folder. */
static const char *file_name(const struct mr_mailbox_delivery *d)
{
	return strrchr(d->canonical, '/') + 1;
}

/* The directory of its day. */
static const char *day_of(const struct mr_mailbox_delivery *d)
{
	return mr_arena_strndup(d->cx->arena, d->canonical,
		strlen(d->canonical) - strlen(file_name(d)) - 1);
}

static enum mr_code make_day(const struct mr_mailbox_delivery *d)
{
	return mr_fs_make_dirs(d->root->dir, day_of(d), 0700, &d->cx->err);
}

/* A folder of a mailbox; the folder itself must not be a link. */
static enum mr_code open_folder(struct mr_ctx *cx, const struct mr_mailbox_registration *row,
	const char *folder, int *out)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_fs_open_dir(AT_FDCWD, row->path, &dir, &cx->err);

	if (rc)
		return rc;
	*out = openat(dir, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*out < 0)
		return mr_err_os(&cx->err, errno, "cannot open %s/%s", row->path, folder);
	return MR_OK;
}

enum link { LINK_NONE, LINK_OURS, LINK_OTHER };

static enum link look_at_link(const struct mr_mailbox_delivery *d, int dir, const char *name)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(dir, name, target, sizeof(target));

	if (len < 0)
		return errno == ENOENT ? LINK_NONE : LINK_OTHER;
	return (size_t)len == strlen(d->canonical_path) &&
			memcmp(target, d->canonical_path, (size_t)len) == 0
		? LINK_OURS
		: LINK_OTHER;
}

static enum mr_code say_taken(const struct mr_mailbox_delivery *d,
	const struct mr_mailbox_registration *row, const char *folder)
{
	return mr_err_set(&d->cx->err, MR_ECONFLICT, "projection already exists: %s",
		mr_mailbox_delivery_link(d->cx->arena, row, folder, d->message->message_id));
}

typedef enum mr_code link_step(struct mr_mailbox_delivery *d,
	const struct mr_mailbox_registration *row, const char *folder);

/* Is the name free, or is our own link there already? */
static enum mr_code check_link(struct mr_mailbox_delivery *d,
	const struct mr_mailbox_registration *row, const char *folder)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	const char *name = file_name(d);
	enum mr_code rc = open_folder(d->cx, row, folder, &dir);

	if (!rc && look_at_link(d, dir, name) == LINK_OTHER)
		rc = say_taken(d, row, folder);
	return rc;
}

static enum mr_code make_link(struct mr_mailbox_delivery *d,
	const struct mr_mailbox_registration *row, const char *folder)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	const char *name = file_name(d);
	enum mr_code rc = open_folder(d->cx, row, folder, &dir);
	int why;

	if (rc)
		return rc;
	why = mr_crash_fail("deliver.link");
	if (!why && symlinkat(d->canonical_path, dir, name) != 0)
		why = errno;
	if (why == EEXIST && look_at_link(d, dir, name) != LINK_OURS)
		return say_taken(d, row, folder);
	if (why && why != EEXIST)
		return mr_err_os(&d->cx->err, why, "cannot link %s/%s/%s", row->path, folder, name);
	mr_crash_point("deliver.linked");
	return MR_OK;
}

static bool is_on_roots_disk(const struct mr_mailbox_delivery *d, const char *path)
{
	struct stat root, mailbox;

	return fstat(d->root->dir, &root) == 0 && stat(path, &mailbox) == 0 &&
		root.st_dev == mailbox.st_dev;
}

/* Recovery makes links that a power loss took again, as long as the intent is there; and on the
 * same disk the intent does not go before they have come. */
static enum mr_code sync_link(struct mr_mailbox_delivery *d,
	const struct mr_mailbox_registration *row, const char *folder)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc;

	if (d->has_intent && is_on_roots_disk(d, row->path))
		return MR_OK;
	rc = open_folder(d->cx, row, folder, &dir);
	return rc ? rc : mr_fs_sync_together(&dir, 1, &d->cx->err);
}

static enum mr_code remove_link(struct mr_mailbox_delivery *d,
	const struct mr_mailbox_registration *row, const char *folder)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	const char *name = file_name(d);
	enum mr_code rc = open_folder(d->cx, row, folder, &dir);

	/* No folder, no link. */
	if (rc)
		return rc == MR_ENOTFOUND ? MR_OK : rc;
	if (look_at_link(d, dir, name) != LINK_OURS)
		return MR_OK;
	if (unlinkat(dir, name, 0) != 0)
		return mr_err_os(&d->cx->err, errno, "cannot remove %s/%s/%s", row->path, folder,
			name);
	mr_crash_point("deliver.undo.unlinked");
	return MR_OK;
}

static enum mr_code for_each_link(struct mr_mailbox_delivery *d, link_step *step)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < d->place_count && !rc; i++) {
		if (d->places[i].is_sender)
			rc = step(d, d->places[i].row, SENT);
		if (!rc && d->places[i].is_recipient)
			rc = step(d, d->places[i].row, INBOX);
	}
	return rc;
}

/* The staged file to its canonical name; what arrives there must be what was read. */
static enum mr_code move_document(struct mr_mailbox_delivery *d)
{
	struct mr_ctx *cx = d->cx;
	struct stat st;
	enum mr_code rc = make_day(d);

	if (!rc)
		rc = mr_fs_place(d->root->dir,
			mr_mailbox_layout_join(cx->arena, MR_MAILBOX_STAGING, d->staged),
			d->canonical, MR_FS_NEW, &cx->err);
	if (rc == MR_EEXISTS)
		return mr_err_set(&cx->err, MR_ECONFLICT, "canonical message already exists: %s",
			d->canonical_path);
	if (rc)
		return rc;
	d->moved = true;
	mr_crash_point("deliver.moved");
	if (fstatat(d->root->dir, d->canonical, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return mr_err_os(&cx->err, errno, "cannot stat %s", d->canonical_path);
	if (st.st_ino != d->staged_stat.st_ino || st.st_dev != d->staged_stat.st_dev ||
		st.st_size != d->staged_stat.st_size ||
		st.st_mtim.tv_sec != d->staged_stat.st_mtim.tv_sec ||
		st.st_mtim.tv_nsec != d->staged_stat.st_mtim.tv_nsec)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"staged message staging/%s was changed while it was being delivered",
			d->staged);
	return MR_OK;
}

/*
 * The document is at its name on the disk before the index says that the message is delivered. That
 * its staged name is gone, and the links, may come to the disk later.
 */
static enum mr_code sync_places(struct mr_mailbox_delivery *d)
{
	enum mr_code rc = mr_fs_sync_dir(d->root->dir, day_of(d), &d->cx->err);

	if (!rc)
		rc = for_each_link(d, sync_link);
	mr_crash_point("deliver.placed");
	return rc;
}

/* Back to its staged name, or to one that is free. */
static enum mr_code move_back(struct mr_mailbox_delivery *d)
{
	struct mr_ctx *cx = d->cx;
	int staging MR_CLEANUP(mr_fs_closep) = -1;
	const char *name = d->staged;
	enum mr_code rc = mr_fs_make_dirs(d->root->dir, MR_MAILBOX_STAGING, 0700, &cx->err);

	if (!rc)
		rc = mr_fs_open_dir(d->root->dir, MR_MAILBOX_STAGING, &staging, &cx->err);
	if (rc)
		return rc;
	rc = mr_fs_rename(d->root->dir, d->canonical, staging, name, MR_FS_NEW, &cx->err);
	if (rc == MR_EEXISTS || rc == MR_ENOTFOUND) {
		name = file_name(d);
		rc = mr_fs_rename(d->root->dir, d->canonical, staging, name, MR_FS_NEW, &cx->err);
	}
	if (!rc)
		d->moved = false;
	mr_crash_point("deliver.undo.moved");
	return rc;
}

enum mr_code mr_mailbox_delivery_all_places(struct mr_mailbox_delivery *d, struct mr_db *index,
	const struct mr_texts *addresses)
{
	struct mr_mailbox_registrations rows;
	struct mr_mailbox_place *places = NULL;
	size_t len = 0;

	for (size_t i = 0; i < addresses->len; i++) {
		struct mr_mailbox_place *more;
		enum mr_code rc =
			mr_mailbox_registration_list(d->cx, index, addresses->items[i], &rows);

		if (rc)
			return rc;
		more = mr_arena_array(d->cx->arena, len + rows.len + 1, sizeof(*more));
		if (len)
			memcpy(more, places, len * sizeof(*more));
		places = more;
		for (size_t j = 0; j < rows.len; j++)
			places[len++] = (struct mr_mailbox_place){ .row = &rows.items[j],
				.is_sender = i == 0,
				.is_recipient = i > 0 };
	}
	d->places = places;
	d->place_count = len;
	return MR_OK;
}

enum mr_code mr_mailbox_delivery_undo(struct mr_mailbox_delivery *d)
{
	enum mr_code rc = for_each_link(d, remove_link);

	if (!rc && d->moved && d->staged)
		rc = move_back(d);
	if (!rc)
		rc = mr_mailbox_intent_drop(d);
	return rc;
}

/* Undo, and keep the reason why. */
static enum mr_code undo_after(struct mr_mailbox_delivery *d, struct mr_db *index)
{
	struct mr_err why = d->cx->err;
	enum mr_code rc;

	mr_db_rollback(index);
	rc = mr_mailbox_delivery_undo(d);
	if (rc)
		return mr_err_set(&d->cx->err, why.code,
			"%.*s; and it could not be undone (%.*s): it may still be delivered",
			MR_ERR_MSG_BYTES / 2, why.msg, MR_ERR_MSG_BYTES / 3, d->cx->err.msg);
	d->cx->err = why;
	return why.code;
}

/* A commit that reported a failure may have succeeded: look it up. */
static enum mr_code commit_index(struct mr_mailbox_delivery *d, struct mr_db *index)
{
	struct mr_ctx *cx = d->cx;
	enum mr_code rc = mr_db_commit(index, &cx->err);
	struct mr_err why;
	bool is_there = false;

	if (!rc) {
		d->committed = true;
		mr_crash_point("deliver.committed");
		return MR_OK;
	}
	why = cx->err;
	mr_db_rollback(index);
	if (mr_mailbox_index_has(cx, index, d->message->message_id, &is_there)) {
		/* It cannot be told: the intent stays, and the next writer finds out. */
		cx->err = why;
		d->committed = true;
		return mr_err_wrap(&cx->err,
			"message %s may or may not be delivered; deliver it again to find out",
			d->message->message_id);
	}
	d->committed = is_there;
	cx->err = why;
	return is_there ? MR_OK : why.code;
}

/* Has the mailbox got no other message than this one, so that its database without rows is whole?
 */
static enum mr_code is_first(struct mr_mailbox_delivery *d, struct mr_db *index,
	const struct mr_mailbox_registration *row, bool *out)
{
	enum { BOXES = 2 }; /* that a message to oneself is in */
	struct mr_mailbox_listing listing = { NULL, 0 };
	enum mr_code rc = mr_mailbox_index_list(d->cx, index, row->id, BOXES + 1, &listing);

	*out = true;
	for (size_t i = 0; i < listing.len; i++)
		*out = *out &&
			mr_str_eq(listing.items[i].message.message_id, d->message->message_id);
	return rc;
}

/* The row of one mailbox, unless it has one. */
static enum mr_code add_local(struct mr_mailbox_delivery *d, struct mr_db *index,
	const struct mr_mailbox_place *place, const struct mr_mailbox_state *state)
{
	struct mr_ctx *cx = d->cx;
	struct mr_mailbox_lent local MR_CLEANUP(mr_mailbox_lent_return) = MR_MAILBOX_LENT_INIT;
	struct mr_db *db;
	const struct mr_mailbox_state *known = NULL;
	struct mr_mailbox_states any = { NULL, 0 };
	struct mr_mailbox_projections wanted = { NULL, 0 };
	bool is_whole = true;
	enum mr_code rc =
		mr_mailbox_lend_local(cx, place->row->path, MR_MAILBOX_LEND_WRITE, &local);

	db = local.db;
	/* On another disk a power loss may take the row but not the removal of the intent. */
	if (!rc && d->has_intent && is_on_roots_disk(d, place->row->path))
		rc = mr_db_set_sync(db, MR_DB_SYNC_LATER, &cx->err);
	if (!rc)
		rc = mr_db_begin(db, MR_DB_IMMEDIATE, &cx->err);
	if (!rc)
		rc = mr_mailbox_state_get(cx, db, state->message_id, &known);
	if (rc || known)
		return rc;
	rc = mr_mailbox_index_projections(cx, index, place->row->id, state->message_id, &wanted);
	if (!rc)
		rc = mr_mailbox_state_list(cx, db, NULL, 1, &any);
	/* Cleared or unregistered since the commit: then it must not come back. */
	if (rc || wanted.len == 0)
		return rc;
	if (any.len == 0)
		rc = is_first(d, index, place->row, &is_whole);
	if (rc)
		return rc;
	if (!is_whole) {
		/* The database was lost: fill it with the defaults of all its
		 * messages, which this one row would otherwise hide for good. */
		mr_db_rollback(db);
		rc = mr_mailbox_register_local(cx, index, place->row, false);
	} else {
		rc = mr_mailbox_state_add(cx, db, state);
		if (!rc)
			rc = mr_mailbox_state_thread(cx, db, state->thread_id);
		if (!rc)
			rc = mr_db_commit(db, &cx->err);
	}
	if (!rc)
		mr_mailbox_lent_tell(&local);
	mr_crash_point("deliver.local_committed");
	return rc;
}

static enum mr_code say_incomplete(const struct mr_mailbox_delivery *d, const char *address,
	const struct mr_err *why)
{
	return mr_err_set(&d->cx->err, why->code,
		"message %s is delivered, but the mailbox-local state of `%s` could not be "
		"written: %.*s; run `mailroom mailbox repair`",
		d->message->message_id, address, MR_ERR_MSG_BYTES / 2, why->msg);
}

/* The rows of the recipients' mailboxes, or that of a sender who is none. One that cannot be
 * written does not stop the others. */
static enum mr_code add_locals_of(struct mr_mailbox_delivery *d, struct mr_db *index,
	bool recipients)
{
	const struct mr_mailbox_message *m = d->message;
	const char *failed = NULL;
	struct mr_err why;

	for (size_t i = 0; i < d->place_count; i++) {
		const struct mr_mailbox_place *place = &d->places[i];
		struct mr_mailbox_state state = mr_mailbox_state_fresh(m->message_id, m->thread_id,
			m->created_at_utc, m->subject, place->is_recipient);

		if (place->is_recipient == recipients && add_local(d, index, place, &state) &&
			!failed) {
			failed = place->row->address;
			why = d->cx->err;
		}
	}
	return failed ? say_incomplete(d, failed, &why) : MR_OK;
}

/* Recipients first: the row is what wakes them. */
static enum mr_code add_locals(struct mr_mailbox_delivery *d, struct mr_db *index)
{
	enum mr_code rc = add_locals_of(d, index, true);
	struct mr_err why = d->cx->err;
	enum mr_code sent = add_locals_of(d, index, false);

	if (!rc)
		return sent;
	d->cx->err = why;
	return rc;
}

enum mr_code mr_mailbox_delivery_run(struct mr_mailbox_delivery *d, struct mr_db *index)
{
	/* In one transaction, because each query by itself would lock and unlock the file again. */
	enum mr_code rc = mr_db_begin(index, MR_DB_IMMEDIATE, &d->cx->err);

	if (!rc)
		rc = find_places(d, index);
	if (!rc)
		rc = for_each_link(d, check_link);
	if (!rc)
		rc = fill_index(d, index);
	if (rc) {
		mr_db_rollback(index);
		return rc;
	}
	rc = mr_mailbox_intent_ensure(d);
	if (!rc && !d->moved)
		rc = move_document(d);
	if (!rc)
		rc = for_each_link(d, make_link);
	if (!rc)
		rc = sync_places(d);
	if (!rc)
		rc = commit_index(d, index);
	return rc && !d->committed ? undo_after(d, index) : rc;
}

enum mr_code mr_mailbox_delivery_settle(struct mr_mailbox_delivery *d, struct mr_db *index)
{
	enum mr_code rc = add_locals(d, index);

	return rc ? rc : mr_mailbox_intent_drop(d);
}

/* The mailboxes that the index says got it, as far as they are still in use. */
static enum mr_code known_places(struct mr_mailbox_delivery *d, struct mr_db *index,
	const struct mr_mailbox_indexed *known)
{
	struct mr_ctx *cx = d->cx;
	struct mr_mailbox_recipients list;
	enum mr_code rc = mr_mailbox_index_recipients(cx, index, known->message_id, &list);

	if (rc)
		return rc;
	d->places = mr_arena_array(cx->arena, list.len + 1, sizeof(*d->places));
	d->place_count = 0;
	/* After the last recipient comes the sender. */
	for (size_t i = 0; i <= list.len; i++) {
		const char *id = i < list.len ? list.items[i].registration_id
					      : known->sender_registration_id;
		const struct mr_mailbox_registration *row = NULL;
		size_t at = 0;

		while (at < d->place_count && !mr_str_eq(d->places[at].row->id, id))
			at++;
		if (at == d->place_count && id) {
			rc = mr_mailbox_registration_by_id(cx, index, id, &row);
			if (rc)
				return rc;
			if (!row || row->status != MR_MAILBOX_ACTIVE)
				continue;
			d->places[d->place_count++] = (struct mr_mailbox_place){ .row = row };
		}
		if (at < d->place_count) {
			d->places[at].is_recipient |= i < list.len;
			d->places[at].is_sender |= i == list.len;
		}
	}
	return MR_OK;
}

/* Restore the links and rows of one mailbox; a message its owner moved stays in its folder. */
static enum mr_code heal_place(struct mr_mailbox_delivery *d, struct mr_db *index,
	const struct mr_mailbox_place *place)
{
	struct mr_ctx *cx = d->cx;
	const struct mr_mailbox_message *m = d->message;
	struct mr_mailbox_projections list;
	struct mr_texts folders;
	struct mr_mailbox_state state;
	enum mr_code rc;

	rc = mr_mailbox_index_projections(cx, index, place->row->id, m->message_id, &list);
	if (!rc && list.len == 0) {
		if (place->is_sender)
			rc = add_projection(d, index, place->row, SENT);
		if (!rc && place->is_recipient)
			rc = add_projection(d, index, place->row, INBOX);
		if (!rc)
			rc = mr_mailbox_index_projections(cx, index, place->row->id, m->message_id,
				&list);
	}
	folders = (struct mr_texts){ NULL, 0 };
	if (!rc)
		folders.items = mr_arena_array(cx->arena, list.len + 1, sizeof(*folders.items));
	for (size_t i = 0; i < list.len && !rc; i++) {
		folders.items[folders.len++] = list.items[i].folder;
		rc = make_link(d, place->row, list.items[i].folder);
		if (!rc)
			rc = sync_link(d, place->row, list.items[i].folder);
	}
	if (rc)
		return rc;
	state = mr_mailbox_state_seeded(m->message_id, m->thread_id, m->created_at_utc, m->subject,
		&folders);
	rc = add_local(d, index, place, &state);
	if (rc) {
		struct mr_err why = cx->err;

		return say_incomplete(d, place->row->address, &why);
	}
	return MR_OK;
}

enum mr_code mr_mailbox_delivery_heal(struct mr_mailbox_delivery *d, struct mr_db *index,
	const struct mr_mailbox_indexed *known)
{
	struct mr_ctx *cx = d->cx;
	enum mr_code rc = known_places(d, index, known);

	if (!rc && !d->moved)
		rc = make_day(d);
	if (!rc && !d->moved)
		rc = mr_fs_write(d->root->dir, d->canonical, d->document, MR_FS_NEW, 0600,
			&cx->err);
	for (size_t i = 0; i < d->place_count && !rc; i++)
		rc = heal_place(d, index, &d->places[i]);
	return rc ? rc : mr_mailbox_intent_drop(d);
}
