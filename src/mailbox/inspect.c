/* mailbox/inspect.c - reads accounts and messages from the index, for administration. */
#include "mailbox/inspect.h"

#include "mailbox/index_sql.h"
#include "mailbox/layout.h"
#include "mailbox/registration_sql.h"
#include "mailbox/state_sql.h"
#include "text/json.h"

#include <stdlib.h>
#include <string.h>

static enum mr_code list_accounts(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *address, struct mr_mailbox_registrations *out)
{
	struct mr_db *index MR_CLEANUP(mr_db_closep) = NULL;
	enum mr_code rc = mr_mailbox_root_index(cx, root, true, &index);

	return rc ? rc : mr_mailbox_registration_list(cx, index, address, out);
}

enum mr_code mr_mailbox_inspect_accounts(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	struct mr_mailbox_registrations *out)
{
	return list_accounts(cx, root, NULL, out);
}

enum mr_code mr_mailbox_inspect_account(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *address, const struct mr_mailbox_registration **out)
{
	static const int rank[] = {
		[MR_MAILBOX_ACTIVE] = 0,
		[MR_MAILBOX_STASHED] = 1,
		[MR_MAILBOX_INACTIVE] = 2,
	};
	const struct mr_mailbox_registration *best = NULL;
	struct mr_mailbox_registrations rows = { NULL, 0 };
	enum mr_code rc = list_accounts(cx, root, address, &rows);

	if (rc)
		return rc;
	for (size_t i = 0; i < rows.len; i++) {
		if (!best || rank[rows.items[i].status] < rank[best->status])
			best = &rows.items[i];
	}
	if (!best)
		return mr_err_set(&cx->err, MR_ENOTFOUND, "%s has no mailbox here", address);
	*out = best;
	return MR_OK;
}

/* Open the index, and find the active registration of the address in it. */
static enum mr_code open_account(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *address, struct mr_db **out_index, const struct mr_mailbox_registration **out)
{
	enum mr_code rc = mr_mailbox_root_index(cx, root, true, out_index);

	if (!rc)
		rc = mr_mailbox_registration_active(cx, *out_index, address, out);
	if (!rc && !*out)
		rc = mr_err_set(&cx->err, MR_ENOTFOUND,
			"no active mailbox registration exists for %s", address);
	return rc;
}

enum mr_code mr_mailbox_inspect_messages(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *address, int64_t limit, struct mr_mailbox_inspect_messages *out)
{
	struct mr_db *index MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_mailbox_inspect_messages found = { NULL };
	enum mr_code rc = open_account(cx, root, address, &index, &found.account);

	if (!rc)
		rc = mr_mailbox_index_list(cx, index, found.account->id, limit, &found.messages);
	if (!rc)
		*out = found;
	return rc;
}

const struct mr_mailbox_state *mr_mailbox_inspect_states(struct mr_ctx *cx,
	const struct mr_mailbox_inspect_messages *found)
{
	struct mr_db *local MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_err before = cx->err;
	struct mr_mailbox_state *states =
		mr_arena_array(cx->arena, found->messages.len + 1, sizeof(*states));
	enum mr_code rc = mr_mailbox_root_local(cx, found->account->path, true, &local);

	for (size_t i = 0; i < found->messages.len; i++) {
		const struct mr_mailbox_listed *listed = &found->messages.items[i];
		const struct mr_mailbox_state *state = NULL;

		if (!rc)
			rc = mr_mailbox_state_get(cx, local, listed->message.message_id, &state);
		states[i] = state ? *state
				  : (struct mr_mailbox_state){
					    .read = !mr_str_eq(listed->folder, mr_mailbox_boxes[0]),
					    .box = listed->folder,
				    };
	}
	cx->err = before;
	return states;
}

/* As the contract lists them: cc before to, and each kind in its order. */
static int by_kind(const void *a, const void *b)
{
	const struct mr_mailbox_recipient *x = a, *y = b;
	int order = strcmp(x->kind, y->kind);

	return order ? order : (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

enum mr_code mr_mailbox_inspect_message(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *address, const char *message_id, struct mr_mailbox_inspect_message *out)
{
	struct mr_db *index MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_mailbox_inspect_message found = { NULL };
	struct mr_mailbox_projections where = { NULL, 0 };
	enum mr_code rc = open_account(cx, root, address, &index, &found.account);

	if (!rc)
		rc = mr_mailbox_index_projections(cx, index, found.account->id, message_id, &where);
	if (!rc && where.len)
		rc = mr_mailbox_index_get(cx, index, message_id, &found.message);
	if (rc)
		return rc;
	if (!found.message)
		return mr_err_set(&cx->err, MR_ENOTFOUND, "%s has no message %s",
			found.account->address, message_id);
	found.where = &where.items[0];
	rc = mr_mailbox_index_recipients(cx, index, message_id, &found.recipients);
	if (!rc && found.recipients.len > 0)
		qsort(found.recipients.items, found.recipients.len,
			sizeof(found.recipients.items[0]), by_kind);
	if (!rc)
		rc = mr_mailbox_index_attachments(cx, index, message_id, &found.attachments);
	if (!rc)
		rc = mr_json_parse(cx->arena, mr_bytes_text(found.message->headers_json), NULL,
			&found.headers, &cx->err);
	if (!rc)
		*out = found;
	return rc;
}
