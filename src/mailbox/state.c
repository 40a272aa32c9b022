/* mailbox/state.c */
#include "mailbox/state.h"

#include "base/crash.h"
#include "mailbox/locks.h"
#include "mailbox/message_sql.h"
#include "mailbox/register.h"
#include "mailbox/registration_sql.h"
#include "mailbox/state_sql.h"

/* The row that is missing, from the folders the message is projected to. */
static enum mr_code seed(struct mr_ctx *cx, struct mr_db *index,
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

static void set(bool *flag, int wanted)
{
	if (wanted >= 0)
		*flag = wanted != 0;
}

static enum mr_code write_state(struct mr_ctx *cx, struct mr_db *local,
	const struct mr_mailbox_flags *flags, struct mr_mailbox_state *state)
{
	enum mr_code rc;

	set(&state->read, flags->read);
	set(&state->answered, flags->answered);
	set(&state->starred, flags->starred);
	set(&state->archived, flags->archived);
	set(&state->deleted, flags->deleted);
	rc = mr_mailbox_state_put(cx, local, state);
	if (!rc)
		rc = mr_mailbox_state_thread(cx, local, state->thread_id);
	mr_crash_point("state.updated");
	if (!rc)
		rc = mr_db_commit(local, &cx->err);
	if (!rc)
		mr_crash_point("state.committed");
	return rc;
}

static enum mr_code update_local(struct mr_ctx *cx, struct mr_db *index,
	const struct mr_mailbox_registration *row, const struct mr_mailbox_indexed *message,
	const struct mr_mailbox_flags *flags, struct mr_mailbox_state *out)
{
	struct mr_db *local MR_CLEANUP(mr_db_closep) = NULL;
	const struct mr_mailbox_state *known = NULL;
	struct mr_mailbox_states any = { NULL, 0 };
	struct mr_mailbox_state state;
	enum mr_code rc = mr_mailbox_root_local(cx, row->path, false, &local);

	/* One that was lost gets all its rows back, not only this one. */
	if (!rc)
		rc = mr_mailbox_state_list(cx, local, NULL, 1, &any);
	if (!rc && any.len == 0)
		rc = mr_mailbox_register_local(cx, index, row, false);
	if (!rc)
		rc = mr_db_begin(local, MR_DB_IMMEDIATE, &cx->err);
	if (!rc)
		rc = mr_mailbox_state_get(cx, local, message->message_id, &known);
	if (rc)
		return rc;
	if (known)
		state = *known;
	else
		rc = seed(cx, index, row, message, &state);
	if (!rc)
		rc = write_state(cx, local, flags, &state);
	if (!rc)
		*out = state;
	return rc;
}

enum mr_code mr_mailbox_state_update(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *address, const char *message_id, const struct mr_mailbox_flags *flags,
	struct mr_mailbox_state_result *out)
{
	struct mr_mailbox_locks locks MR_CLEANUP(mr_mailbox_locks_release) = MR_MAILBOX_LOCKS_INIT;
	struct mr_db *index MR_CLEANUP(mr_db_closep) = NULL;
	const char *names[] = { address, NULL };
	const struct mr_texts addresses = { names, 1 };
	const struct mr_mailbox_registration *row = NULL;
	const struct mr_mailbox_indexed *message = NULL;
	struct mr_mailbox_state state;
	enum mr_code rc = mr_mailbox_locks_take(cx, root, &addresses, &locks);

	if (!rc)
		rc = mr_mailbox_root_index(cx, root, true, &index);
	if (!rc)
		rc = mr_mailbox_registration_active(cx, index, address, &row);
	if (rc)
		return rc;
	if (!row)
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"no active mailbox registration exists for `%s`", address);
	rc = mr_mailbox_register_check(cx, row);
	if (!rc)
		rc = mr_mailbox_index_get(cx, index, message_id, &message);
	if (rc)
		return rc;
	if (!message)
		return mr_err_set(&cx->err, MR_ENOTFOUND, "unknown message id `%s`", message_id);
	rc = update_local(cx, index, row, message, flags, &state);
	if (rc)
		return rc;
	*out = (struct mr_mailbox_state_result){
		.address = row->address,
		.owner = row->owner,
		.registration_id = row->id,
		.state = state,
	};
	return MR_OK;
}
