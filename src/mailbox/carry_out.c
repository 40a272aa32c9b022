/* mailbox/carry_out.c - Carries the mail of a root to accounts on a JMAP server. */
#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/carry_private.h"
#include "mailbox/document.h"
#include "mailbox/inside.h"
#include "mailbox/inspect.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"

#include <string.h>

enum {
	BATCH = 50,             /* messages of one request, */
	BATCH_BYTES = 2 << 20,  /* and of their text */
	FILE_BYTES = 256 << 20, /* of a file that goes along */
};

/* The account being carried, and what goes with the next request. */
struct job {
	struct mr_mailbox_carry *carry;
	const struct mr_mailbox_root *root;
	struct mr_mail_jmap *state;
	struct mr_mailbox_carry_mails there;
	struct mr_arena *arena; /* of the batch */
	struct mr_jmap_email_new emails[BATCH];
	const char *ids[BATCH];
	size_t len;
	size_t bytes;
	bool without_times; /* the server sets the time at which a mail was received itself */
};

static struct mr_ctx in_batch(const struct job *job)
{
	struct mr_ctx cx = *job->carry->cx;

	cx.arena = job->arena;
	return cx;
}

static enum mr_code keep_error(struct job *job, const struct mr_ctx *batch, enum mr_code rc)
{
	if (rc)
		job->carry->cx->err = batch->err;
	return rc;
}

/* --- the request --- */

static void write_request(struct job *job, struct mr_jmap_request *request)
{
	struct mr_out *args = mr_jmap_call(request, "Email/set", "carry");

	mr_out_map(args, "create");
	for (size_t i = 0; i < job->len; i++) {
		job->emails[i].is_received = !job->without_times;
		mr_jmap_email_write(job->arena, args, job->ids[i], &job->emails[i]);
	}
	mr_out_end(args);
	mr_jmap_end(request);
}

/* Does the server refuse a mail for its time alone? */
static bool refuses_times(const struct mr_value *result, const char *id)
{
	const struct mr_value *error = mr_value_get(mr_value_get(result, "notCreated"), id);
	const struct mr_value *list = mr_value_get(error, "properties");

	for (size_t i = 0; list && list->kind == MR_LIST && i < list->list.len; i++) {
		if (list->list.items[i].kind == MR_TEXT &&
			strcmp(list->list.items[i].text, "receivedAt") == 0)
			return true;
	}
	return false;
}

static enum mr_code send(struct job *job, struct mr_ctx *cx, const struct mr_value **out)
{
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	enum mr_code rc;

	mr_jmap_begin(&request, job->arena);
	write_request(job, &request);
	rc = mr_jmap_ask(cx, job->state->jmap, &request, MR_JMAP_WRITES, &response);
	mr_crash_point("carry.sent");
	return rc ? rc : mr_jmap_find(cx, &response, "carry", "Email/set", out);
}

/* What the server made of each; being full ends it, all else concerns one message. */
static enum mr_code look_at(struct job *job, struct mr_ctx *cx, const struct mr_value *result)
{
	for (size_t i = 0; i < job->len; i++) {
		const struct mr_value *created;
		const struct mr_value *error =
			mr_value_get(mr_value_get(result, "notCreated"), job->ids[i]);
		const struct mr_value *type = mr_value_get(error, "type");
		enum mr_code rc = mr_jmap_set_result(cx, result, "created", "notCreated",
			job->ids[i], &created);

		if (!rc) {
			job->carry->account->carried++;
			job->carry->result->carried++;
			continue;
		}
		if (type && type->kind == MR_TEXT && strcmp(type->text, "overQuota") == 0)
			return rc;
		if (rc == MR_EREMOTE)
			return rc;
		mr_mailbox_carry_leave(job->carry, job->ids[i], cx->err.msg);
	}
	return MR_OK;
}

static enum mr_code flush(struct job *job)
{
	struct mr_ctx cx = in_batch(job);
	const struct mr_value *result = NULL;
	enum mr_code rc = MR_OK;

	if (job->len) {
		rc = send(job, &cx, &result);
		if (!rc && !job->without_times && refuses_times(result, job->ids[0])) {
			job->without_times = true;
			rc = send(job, &cx, &result);
		}
		if (!rc)
			rc = look_at(job, &cx, result);
	}
	keep_error(job, &cx, rc);
	mr_arena_free(job->arena);
	job->arena = mr_arena_new();
	job->len = 0;
	job->bytes = 0;
	return rc;
}

/* --- a message --- */

/* A file that the root keeps. NULL: it cannot be read, and is only described. */
static enum mr_code upload(struct job *job, struct mr_ctx *cx,
	const struct mr_mailbox_attachment *file, const char **out)
{
	const char *kept = mr_mailbox_layout_join(cx->arena, job->root->path, MR_MAILBOX_MANAGED);
	const char *inside = mr_mailbox_inside(kept, file->path);
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_bytes bytes;
	enum mr_code rc = inside
		? mr_fs_open_beneath(job->root->dir,
			  mr_mailbox_layout_join(cx->arena, MR_MAILBOX_MANAGED, inside),
			  O_RDONLY | O_NOFOLLOW, 0, &fd, &cx->err)
		: MR_ENOTFOUND;

	*out = NULL;
	if (!rc)
		rc = mr_fs_read_fd(cx->arena, fd, FILE_BYTES, &bytes, &cx->err);
	if (rc)
		return MR_OK;
	return mr_jmap_upload(cx, job->state->jmap, bytes, file->media_type, out);
}

static enum mr_code upload_all(struct job *job, struct mr_ctx *cx,
	const struct mr_mailbox_message *message, const char *const **out)
{
	const struct mr_mailbox_attachments *files = &message->attachments;
	const char **blobs = mr_arena_array(cx->arena, files->len + 1, sizeof(*blobs));
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < files->len && !rc; i++) {
		if (files->items[i].kind != MR_MAILBOX_MANAGED_COPY)
			continue;
		rc = upload(job, cx, &files->items[i], &blobs[i]);
		if (!rc && !blobs[i])
			mr_mailbox_carry_leave(job->carry, message->message_id,
				mr_arena_printf(cx->arena,
					"its file %s cannot be read, and is only described",
					files->items[i].path));
	}
	*out = blobs;
	return rc;
}

static struct mr_texts keywords_of(struct mr_arena *arena, const struct mr_mailbox_state *state)
{
	struct mr_texts words = { mr_arena_array(arena, 6, sizeof(char *)), 0 };

	if (state->read)
		words.items[words.len++] = "$seen";
	if (state->answered)
		words.items[words.len++] = "$answered";
	if (state->starred)
		words.items[words.len++] = "$flagged";
	if (state->archived && strcmp(state->box, "archive") != 0)
		words.items[words.len++] = MR_MAILBOX_CARRY_ARCHIVED;
	if (state->deleted)
		words.items[words.len++] = MR_MAILBOX_CARRY_DELETED;
	return words;
}

static enum mr_code read_document(const struct job *job, struct mr_ctx *cx,
	const struct mr_mailbox_indexed *indexed, struct mr_mailbox_message *out)
{
	const char *path =
		mr_mailbox_layout_message(cx->arena, indexed->created_at, indexed->message_id);
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_bytes bytes;
	enum mr_code rc =
		mr_fs_open_beneath(job->root->dir, path, O_RDONLY | O_NOFOLLOW, 0, &fd, &cx->err);

	if (!rc)
		rc = mr_fs_read_fd(cx->arena, fd, MR_MAILBOX_DOCUMENT_BYTES, &bytes, &cx->err);
	return rc ? rc : mr_mailbox_document_parse(cx->arena, bytes, out, &cx->err);
}

/* Put it into the batch; one that cannot be read is left. */
static enum mr_code add(struct job *job, const struct mr_mailbox_indexed *indexed,
	const struct mr_mailbox_state *state)
{
	struct mr_ctx cx = in_batch(job);
	struct mr_mailbox_message *message = mr_arena_alloc(job->arena, sizeof(*message));
	struct mr_jmap_email_new *email = &job->emails[job->len];
	const struct mr_mail_jmap_box *box;
	enum mr_code rc = read_document(job, &cx, indexed, message);

	if (rc) {
		mr_mailbox_carry_leave(job->carry, indexed->message_id, cx.err.msg);
		return MR_OK;
	}
	*email = (struct mr_jmap_email_new){ .message = message,
		.keywords = keywords_of(job->arena, state),
		.keeps_paths = true };
	rc = mr_mail_jmap_make_box(&cx, job->state, state->box, &box);
	if (!rc)
		rc = upload_all(job, &cx, message, &email->blobs);
	if (rc)
		return keep_error(job, &cx, rc);
	email->mailboxes = (struct mr_texts){ mr_arena_array(job->arena, 2, sizeof(char *)), 1 };
	email->mailboxes.items[0] = box->id;
	job->ids[job->len++] = message->message_id;
	job->bytes += message->body.len;
	return MR_OK;
}

static enum mr_code carry_messages(struct job *job, const struct mr_mailbox_inspect_messages *found)
{
	struct mr_mailbox_carry *carry = job->carry;
	const struct mr_mailbox_state *states = mr_mailbox_inspect_states(carry->cx, found);
	const char *last = NULL;
	enum mr_code rc = MR_OK;

	/* The oldest first, so that threads grow as they did. */
	for (size_t i = found->messages.len; i > 0 && !rc; i--) {
		const struct mr_mailbox_indexed *indexed = &found->messages.items[i - 1].message;

		mr_mailbox_carry_advance(carry, 1);
		/* Mail to oneself is listed in two folders. */
		if (mr_str_eq(indexed->message_id, last))
			continue;
		last = indexed->message_id;
		if (mr_mailbox_carry_find(&job->there, indexed->message_id)) {
			carry->account->present++;
			carry->result->present++;
			continue;
		}
		rc = add(job, indexed, &states[i - 1]);
		if (!rc && (job->len == BATCH || job->bytes >= BATCH_BYTES))
			rc = flush(job);
	}
	return rc ? rc : flush(job);
}

static enum mr_code carry_account(struct mr_mailbox_carry *carry, struct mr_mail *mail)
{
	struct job job = { .carry = carry, .root = carry->root, .state = mail->state };
	struct mr_mailbox_inspect_messages found;
	enum mr_code rc = mr_mailbox_carry_list(carry, job.state, &job.there);

	if (!rc)
		rc = mr_mailbox_inspect_messages(carry->cx, carry->root, carry->account->address, 0,
			&found);
	if (rc)
		return rc;
	carry->done = 0;
	carry->total = (int64_t)found.messages.len;
	job.arena = mr_arena_new();
	rc = carry_messages(&job, &found);
	mr_arena_free(job.arena);
	return rc;
}

/* --- all --- */

/* The active ones that were named, or all but the operator's. */
static enum mr_code choose(struct mr_mailbox_carry *carry, struct mr_mailbox_registrations *out)
{
	struct mr_ctx *cx = carry->cx;
	const struct mr_texts *named = &carry->request->addresses;
	struct mr_mailbox_registrations all;
	enum mr_code rc = mr_mailbox_inspect_accounts(cx, carry->root, &all);

	if (rc)
		return rc;
	*out = (struct mr_mailbox_registrations){
		mr_arena_array(cx->arena, all.len + 1, sizeof(*out->items)), 0
	};
	for (size_t i = 0; i < all.len; i++) {
		const struct mr_mailbox_registration *row = &all.items[i];

		if (row->status == MR_MAILBOX_ACTIVE &&
			(named->len ? mr_texts_has(named, row->address)
				    : strcmp(row->address, MR_MAILBOX_OPERATOR_ADDRESS) != 0))
			out->items[out->len++] = *row;
	}
	for (size_t i = 0; i < named->len; i++) {
		bool is_there = false;

		for (size_t j = 0; j < out->len; j++)
			is_there |= mr_str_eq(out->items[j].address, named->items[i]);
		if (!is_there)
			return mr_err_set(&cx->err, MR_ENOTFOUND, "%s has no active mailbox `%s`",
				carry->root->path, named->items[i]);
	}
	return MR_OK;
}

enum mr_code mr_mailbox_carry_out(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_carry_request *request, struct mr_mailbox_carried *out)
{
	struct mr_mailbox_carry carry MR_CLEANUP(mr_mailbox_carry_end) = { .cx = cx,
		.root = root,
		.request = request,
		.result = out,
		.lock = -1 };
	struct mr_mailbox_registrations rows;
	enum mr_code rc = mr_mailbox_carry_begin(&carry);

	*out = (struct mr_mailbox_carried){ .accounts = NULL };
	if (!rc)
		rc = choose(&carry, &rows);
	if (rc)
		return rc;
	out->accounts = mr_arena_array(cx->arena, rows.len + 1, sizeof(*out->accounts));
	for (size_t i = 0; i < rows.len && !rc; i++) {
		struct mr_mail mail MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;

		carry.account = &out->accounts[out->account_count++];
		carry.account->address = rows.items[i].address;
		rc = mr_mailbox_carry_log_in(&carry, rows.items[i].address, rows.items[i].owner,
			&mail);
		if (!rc)
			rc = carry_account(&carry, &mail);
		if (rc)
			rc = mr_mailbox_carry_failed(&carry, rc);
	}
	return rc;
}
