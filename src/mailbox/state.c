/* mailbox/state.c - flags: read, answered, starred, archived, deleted. */
#include "mailbox/state.h"

#include "base/crash.h"
#include "mailbox/index_sql.h"
#include "mailbox/register.h"
#include "mailbox/registration_sql.h"
#include "mailbox/state_private.h"
#include "mailbox/state_sql.h"

enum mr_code mr_mailbox_state_default(struct mr_ctx *cx, struct mr_db *index,
	const struct mr_mailbox_registration *row, const struct mr_mailbox_indexed *message,
	struct mr_mailbox_state *out)
{
	struct mr_mailbox_projections list;
	struct mr_texts folders = { NULL, 0 };
	enum mr_code rc =
		mr_mailbox_index_projections(cx, index, row->id, message->message_id, &list);

	if (rc)
		return rc;
	if (list.len == 0)
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"message `%s` is not projected into mailbox `%s`", message->message_id,
			row->address);
	folders.items = mr_arena_array(cx->arena, list.len + 1, sizeof(*folders.items));
	for (size_t i = 0; i < list.len; i++)
		folders.items[folders.len++] = list.items[i].folder;
	*out = mr_mailbox_state_seeded(message->message_id, message->thread_id, message->created_at,
		message->subject, &folders);
	return MR_OK;
}

void mr_mailbox_state_change_release(struct mr_mailbox_state_change *change)
{
	mr_mailbox_lent_return(&change->local);
	mr_mailbox_lent_return(&change->index);
	mr_mailbox_locks_release(&change->locks);
}

/* The registration and the message, under the locks. */
static enum mr_code find(struct mr_ctx *cx, const struct mr_mailbox_root *root, const char *address,
	const char *message_id, bool index_read_only, struct mr_mailbox_state_change *change)
{
	const char *names[] = { address, NULL };
	const struct mr_texts addresses = { names, 1 };
	enum mr_code rc = mr_mailbox_locks_take(cx, root, &addresses, &change->locks);

	if (!rc)
		rc = mr_mailbox_lend_index(cx, root,
			index_read_only ? MR_MAILBOX_LEND_LOOK : MR_MAILBOX_LEND_WRITE,
			&change->index);
	if (!rc)
		rc = mr_mailbox_registration_active(cx, change->index.db, address, &change->row);
	if (rc)
		return rc;
	if (!change->row)
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"no active mailbox registration exists for `%s`", address);
	rc = mr_mailbox_register_check(cx, change->row);
	if (!rc)
		rc = mr_mailbox_index_get(cx, change->index.db, message_id, &change->message);
	if (!rc && !change->message)
		rc = mr_err_set(&cx->err, MR_ENOTFOUND, "unknown message id `%s`", message_id);
	return rc;
}

enum mr_code mr_mailbox_state_change_begin(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *address, const char *message_id, bool index_read_only,
	struct mr_mailbox_state_change *change)
{
	const struct mr_mailbox_state *known = NULL;
	struct mr_mailbox_states any = { NULL, 0 };
	enum mr_code rc = find(cx, root, address, message_id, index_read_only, change);

	if (!rc)
		rc = mr_mailbox_lend_local(cx, change->row->path, MR_MAILBOX_LEND_WRITE,
			&change->local);
	/* A database that was lost gets all its rows back, not only this one. */
	if (!rc)
		rc = mr_mailbox_state_list(cx, change->local.db, NULL, 1, &any);
	if (!rc && any.len == 0)
		rc = mr_mailbox_register_local(cx, change->index.db, change->row, false);
	if (!rc)
		rc = mr_db_begin(change->local.db, MR_DB_IMMEDIATE, &cx->err);
	if (!rc)
		rc = mr_mailbox_state_get(cx, change->local.db, message_id, &known);
	if (rc)
		return rc;
	if (!known)
		return mr_mailbox_state_default(cx, change->index.db, change->row, change->message,
			&change->state);
	change->state = *known;
	return MR_OK;
}

enum mr_code mr_mailbox_state_change_write(struct mr_ctx *cx,
	struct mr_mailbox_state_change *change)
{
	enum mr_code rc = mr_mailbox_state_put(cx, change->local.db, &change->state);

	return rc ? rc : mr_mailbox_state_thread(cx, change->local.db, change->state.thread_id);
}

struct mr_mailbox_state_result mr_mailbox_state_change_result(
	const struct mr_mailbox_state_change *change)
{
	return (struct mr_mailbox_state_result){
		.address = change->row->address,
		.owner = change->row->owner,
		.registration_id = change->row->id,
		.state = change->state,
	};
}

static void set(bool *flag, int wanted)
{
	if (wanted >= 0)
		*flag = wanted != 0;
}

enum mr_code mr_mailbox_state_update(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *address, const char *message_id, const struct mr_mailbox_flags *flags,
	struct mr_mailbox_state_result *out)
{
	struct mr_mailbox_state_change change MR_CLEANUP(mr_mailbox_state_change_release) =
		MR_MAILBOX_STATE_CHANGE_INIT;
	enum mr_code rc =
		mr_mailbox_state_change_begin(cx, root, address, message_id, true, &change);

	if (rc)
		return rc;
	set(&change.state.read, flags->read);
	set(&change.state.answered, flags->answered);
	set(&change.state.starred, flags->starred);
	set(&change.state.archived, flags->archived);
	set(&change.state.deleted, flags->deleted);
	rc = mr_mailbox_state_change_write(cx, &change);
	mr_crash_point("state.updated");
	if (!rc)
		rc = mr_db_commit(change.local.db, &cx->err);
	if (rc)
		return rc;
	mr_mailbox_lent_tell(&change.local);
	mr_crash_point("state.committed");
	*out = mr_mailbox_state_change_result(&change);
	return MR_OK;
}
