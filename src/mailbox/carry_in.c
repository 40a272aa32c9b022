/* mailbox/carry_in.c - Carries the mail of accounts on a JMAP server into a root. */
#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/carry_private.h"
#include "mailbox/document.h"
#include "mailbox/inspect.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/place.h"
#include "mailbox/register.h"
#include "mailbox/state_sql.h"
#include "text/digest.h"
#include "text/file_name.h"

#include <stdlib.h>
#include <string.h>

enum {
	BATCH = 50,
	TEXT_BYTES = 256 << 10, /* of a body; longer ones are fetched alone */
	FILE_BYTES = 256 << 20,
};

struct job {
	struct mr_mailbox_carry *carry;
	const struct mr_mailbox_root *root;
	struct mr_mail_jmap *state;
	struct mr_mailbox_carry_mails mails;
	const char *owner; /* of the address */
	/* Ids of the messages that the mailbox has already, sorted. */
	const char **here;
	size_t here_len;
};

/* --- from the server --- */

/* `count` mails, from number `from` on among `chosen`, with their texts. */
static enum mr_code fetch(struct job *job, struct mr_ctx *cx,
	const struct mr_mailbox_carry_mail *const *chosen, size_t count, size_t text_bytes,
	const struct mr_value **out)
{
	const struct mr_value *result = NULL;
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	struct mr_out *args;
	enum mr_code rc;

	mr_jmap_begin(&request, cx->arena);
	args = mr_jmap_call(&request, "Email/get", "get");
	mr_out_list(args, "ids");
	for (size_t i = 0; i < count; i++)
		mr_out_text(args, NULL, chosen[i]->email_id);
	mr_out_end(args);
	mr_jmap_email_ask(args, text_bytes);
	mr_jmap_end(&request);
	rc = mr_jmap_ask(cx, job->state->jmap, &request, MR_JMAP_READS, &response);
	if (!rc)
		rc = mr_jmap_find(cx, &response, "get", "Email/get", &result);
	if (!rc)
		*out = mr_value_get(result, "list");
	return rc;
}

/* The mail with this id among those fetched; `*out_found` false: it is gone meanwhile. */
static enum mr_code read_email(struct job *job, struct mr_ctx *cx,
	const struct mr_mailbox_carry_mail *mail, const struct mr_value *list,
	struct mr_jmap_email *out, bool *out_found)
{
	const struct mr_value *value = NULL;
	enum mr_code rc;

	for (size_t i = 0; list && list->kind == MR_LIST && i < list->list.len && !value; i++) {
		const struct mr_value *id = mr_value_get(&list->list.items[i], "id");

		if (id && id->kind == MR_TEXT && strcmp(id->text, mail->email_id) == 0)
			value = &list->list.items[i];
	}
	*out_found = value != NULL;
	if (!value)
		return MR_OK;
	rc = mr_jmap_email_read(cx->arena, value, out, &cx->err);
	if (rc || !out->is_cut)
		return rc;
	rc = fetch(job, cx, &mail, 1, MR_MAILBOX_DOCUMENT_BYTES, &list);
	if (rc)
		return rc;
	*out_found = list && list->kind == MR_LIST && list->list.len == 1;
	return *out_found ? mr_jmap_email_read(cx->arena, &list->list.items[0], out, &cx->err)
			  : MR_OK;
}

/* --- into a message --- */

static const char *local_part(struct mr_arena *arena, const char *address)
{
	return mr_arena_strndup(arena, address, strcspn(address, "@"));
}

/* Who has an address, as its own mail says; NULL: it does not. */
static const char *owner_in(const struct mr_mailbox_message *message, const char *address)
{
	const struct mr_mailbox_principals *lists[] = { &message->to, &message->cc };

	if (message->sender.principal_id && mr_str_eq(message->sender.address, address))
		return message->sender.principal_id;
	for (size_t i = 0; i < MR_LEN(lists); i++) {
		for (size_t j = 0; j < lists[i]->len; j++) {
			if (lists[i]->items[j].principal_id &&
				mr_str_eq(lists[i]->items[j].address, address))
				return lists[i]->items[j].principal_id;
		}
	}
	return NULL;
}

/* Foreign mail names no principals. */
static enum mr_code name_principal(struct job *job, struct mr_ctx *cx,
	struct mr_mailbox_principal *who)
{
	const struct mr_mailbox_registration *row;

	if (who->principal_id && !mr_str_eq(who->principal_id, who->address))
		return MR_OK;
	if (mr_str_eq(who->address, job->carry->account->address)) {
		who->principal_id = job->owner;
		return MR_OK;
	}
	if (!mr_mailbox_inspect_account(cx, job->root, who->address, &row))
		who->principal_id = row->owner;
	else if (!who->principal_id)
		who->principal_id = local_part(cx->arena, who->address);
	return MR_OK;
}

static enum mr_code name_principals(struct job *job, struct mr_ctx *cx,
	struct mr_mailbox_message *message)
{
	struct mr_mailbox_principals *lists[] = { &message->to, &message->cc, &message->reply_to };
	enum mr_code rc = name_principal(job, cx, &message->sender);

	for (size_t i = 0; i < MR_LEN(lists) && !rc; i++) {
		for (size_t j = 0; j < lists[i]->len && !rc; j++)
			rc = name_principal(job, cx, &lists[i]->items[j]);
	}
	/* A blind copy names nobody, and a message somebody. */
	if (!rc && message->to.len == 0) {
		message->to.items = mr_arena_alloc(cx->arena, sizeof(*message->to.items));
		message->to.items[0] = (struct mr_mailbox_principal){ .principal_id = job->owner,
			.address = job->carry->account->address };
		message->to.len = 1;
	}
	return rc;
}

/* The message that has this Message-ID: by what it says, or in this account; else NULL. */
static const char *message_of(const struct job *job, struct mr_arena *arena, const char *message_id)
{
	const char *id = mr_jmap_email_id(arena, message_id);

	for (size_t i = 0; i < job->mails.len && !id; i++) {
		if (mr_str_eq(job->mails.items[i].message_id, message_id))
			id = job->mails.items[i].id;
	}
	return id;
}

/* A message whose writer knew nothing of this format. */
static void adopt(const struct job *job, struct mr_ctx *cx, const struct mr_jmap_email *email,
	struct mr_mailbox_message *message)
{
	struct mr_texts references = {
		mr_arena_array(cx->arena, email->content.references.len + 1, sizeof(char *)), 0
	};
	const char *parent = email->content.in_reply_to;

	message->message_id = mr_mailbox_carry_id(cx->arena, job->carry->account->address, email);
	if (email->sent_at)
		message->created_at_utc = email->sent_at;
	for (size_t i = 0; i < email->content.references.len; i++) {
		const char *id = message_of(job, cx->arena, email->content.references.items[i]);

		if (id && !mr_texts_has(&references, id))
			references.items[references.len++] = id;
	}
	message->in_reply_to = parent ? message_of(job, cx->arena, parent) : NULL;
	if (message->in_reply_to && !mr_texts_has(&references, message->in_reply_to))
		references.items[references.len++] = message->in_reply_to;
	message->references = references;
	message->thread_id = references.len ? references.items[0] : message->message_id;
}

/* --- files --- */

/* The name of a file that its sender chose: what follows its directories. */
static const char *file_name(struct mr_arena *arena, const struct mr_mailbox_attachment *file)
{
	const char *name = file->label ? file->label : "";
	const char *slash = strrchr(name, '/');

	return mr_file_name_safe(arena, slash ? slash + 1 : name, "file");
}

static bool is_plain(const char *id)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	return *id && strlen(id) <= 200 && id[strspn(id, plain)] == '\0';
}

/* Keep a part of the mail in the root, as a copy. */
static enum mr_code keep_file(struct job *job, struct mr_ctx *cx, const char *message_id,
	size_t number, struct mr_mailbox_attachment *file)
{
	const char *name = file_name(cx->arena, file);
	const char *dir;
	const char *path;
	struct mr_bytes bytes;
	enum mr_code rc = mr_jmap_download(cx, job->state->jmap, file->path + strlen("blob:"),
		file->media_type, name, FILE_BYTES, &bytes);

	if (rc)
		return rc;
	/* The part's number is one only in its mail. */
	if (!is_plain(file->attachment_id) || strlen(file->attachment_id) < 8)
		file->attachment_id =
			mr_arena_printf(cx->arena, "att-%s-%zu", message_id + 4, number + 1);
	dir = mr_arena_printf(cx->arena, MR_MAILBOX_MANAGED "/%s", file->attachment_id);
	path = mr_arena_printf(cx->arena, "%s/%s", dir, name);
	rc = mr_fs_make_dirs(job->root->dir, dir, 0700, &cx->err);
	if (!rc)
		rc = mr_fs_write(job->root->dir, path, bytes, MR_FS_REPLACE, 0600, &cx->err);
	file->kind = MR_MAILBOX_MANAGED_COPY;
	file->path = mr_mailbox_layout_join(cx->arena, job->root->path, path);
	file->size_bytes = (int64_t)bytes.len;
	file->sha256 = mr_digest_sha256(cx->arena, bytes);
	mr_crash_point("carry.kept");
	return rc;
}

/* The part that is the `number`th copy of the original; NULL: there is none. */
static const struct mr_mailbox_attachment *part_of(const struct mr_jmap_email *email, size_t number,
	const struct mr_mailbox_attachment *said)
{
	const struct mr_mailbox_attachments *parts = &email->content.attachments;

	if (number < parts->len &&
		(said->size_bytes < 0 || parts->items[number].size_bytes < 0 ||
			said->size_bytes == parts->items[number].size_bytes))
		return &parts->items[number];
	return NULL;
}

static enum mr_code keep_files(struct job *job, struct mr_ctx *cx,
	const struct mr_jmap_email *email, struct mr_mailbox_message *message)
{
	const struct mr_mailbox_attachments *said =
		email->original ? &email->original->attachments : &email->content.attachments;
	struct mr_mailbox_attachments kept = {
		mr_arena_array(cx->arena, said->len + 1, sizeof(*kept.items)), said->len
	};
	size_t copies = 0;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < said->len && !rc; i++) {
		struct mr_mailbox_attachment *file = &kept.items[i];

		*file = said->items[i];
		if (email->original && file->kind == MR_MAILBOX_MANAGED_COPY) {
			const struct mr_mailbox_attachment *part = part_of(email, copies, file);

			if (!part)
				continue;
			copies++;
			file->path = part->path;
			if (!file->label)
				file->label = part->label;
		} else if (file->kind != MR_MAILBOX_TRANSPORT_OWNED) {
			continue;
		}
		rc = keep_file(job, cx, message->message_id, i, file);
		if (rc == MR_ENOTFOUND) /* the part is gone: it is only described */
			rc = MR_OK;
	}
	message->attachments = kept;
	return rc;
}

/* --- into the root --- */

static struct mr_mailbox_state state_of(const struct job *job,
	const struct mr_mailbox_carry_mail *mail)
{
	const char *box = mr_mail_jmap_box_of(job->state, &mail->mailboxes, NULL);

	return (struct mr_mailbox_state){
		.read = mail->read,
		.answered = mail->answered,
		.starred = mail->starred,
		.deleted = mail->deleted,
		.archived = mail->archived || strcmp(box, "archive") == 0,
		.box = box,
	};
}

static enum mr_code make_message(struct job *job, struct mr_ctx *cx,
	const struct mr_jmap_email *email, const struct mr_mailbox_message **out)
{
	struct mr_mailbox_message *message = mr_arena_alloc(cx->arena, sizeof(*message));
	enum mr_code rc;

	*message = email->original ? *email->original : email->content;
	message->body = email->content.body;
	if (!email->original)
		adopt(job, cx, email, message);
	rc = name_principals(job, cx, message);
	if (!rc)
		rc = keep_files(job, cx, email, message);
	*out = message;
	return rc;
}

static void count(struct job *job, const struct mr_mailbox_placing *item)
{
	struct mr_mailbox_carry *carry = job->carry;

	if (item->why) {
		mr_mailbox_carry_leave(carry, item->message->message_id, item->why);
	} else if (item->was_there) {
		carry->account->present++;
		carry->result->present++;
	} else {
		carry->account->carried++;
		carry->result->carried++;
	}
}

static enum mr_code carry_batch(struct job *job, const struct mr_mailbox_carry_mail *const *chosen,
	size_t len)
{
	struct mr_arena *scratch MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = *job->carry->cx;
	struct mr_mailbox_placing items[BATCH];
	const struct mr_value *list = NULL;
	size_t placed = 0;
	enum mr_code rc;

	cx.arena = scratch;
	rc = fetch(job, &cx, chosen, len, TEXT_BYTES, &list);
	for (size_t i = 0; i < len && !rc; i++) {
		struct mr_jmap_email email;
		bool found;

		rc = read_email(job, &cx, chosen[i], list, &email, &found);
		if (rc || !found)
			continue;
		items[placed] = (struct mr_mailbox_placing){ .state = state_of(job, chosen[i]) };
		rc = make_message(job, &cx, &email, &items[placed].message);
		placed += rc == MR_OK;
	}
	if (!rc)
		rc = mr_mailbox_place_messages(&cx, job->root, job->carry->account->address, items,
			placed);
	if (rc) {
		job->carry->cx->err = cx.err;
		return rc;
	}
	for (size_t i = 0; i < placed; i++)
		count(job, &items[i]);
	return MR_OK;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Which messages the mailbox has, so that they need not be fetched: those with a row of its own,
 * which is the last that placing writes. One that only the index has is completed.
 */
static enum mr_code look_here(struct job *job)
{
	struct mr_ctx *cx = job->carry->cx;
	const struct mr_mailbox_registration *row;
	struct mr_mailbox_states found;
	struct mr_db *local = NULL;
	enum mr_code rc =
		mr_mailbox_inspect_account(cx, job->root, job->carry->account->address, &row);

	if (!rc)
		rc = mr_mailbox_root_local(cx, row->path, false, &local);
	if (!rc)
		rc = mr_mailbox_state_list(cx, local, NULL, 0, &found);
	mr_db_close(local);
	if (rc)
		return rc;
	job->here = mr_arena_array(cx->arena, found.len + 1, sizeof(char *));
	for (size_t i = 0; i < found.len; i++)
		job->here[job->here_len++] = found.items[i].message_id;
	if (job->here_len)
		qsort(job->here, job->here_len, sizeof(char *), compare_texts);
	return MR_OK;
}

static enum mr_code carry_account(struct job *job)
{
	struct mr_mailbox_carry *carry = job->carry;
	const struct mr_mailbox_carry_mail *chosen[BATCH];
	size_t len = 0;
	enum mr_code rc = look_here(job);

	carry->done = 0;
	carry->total = (int64_t)job->mails.len;
	for (size_t i = 0; i < job->mails.len && !rc; i++) {
		const struct mr_mailbox_carry_mail *mail = &job->mails.items[i];

		if (mail->is_double)
			continue;
		if (job->here_len &&
			bsearch(&mail->id, job->here, job->here_len, sizeof(char *),
				compare_texts)) {
			carry->account->present++;
			carry->result->present++;
			mr_mailbox_carry_advance(carry, 1);
			continue;
		}
		chosen[len++] = mail;
		if (len < BATCH)
			continue;
		rc = carry_batch(job, chosen, len);
		mr_mailbox_carry_advance(carry, (int64_t)len);
		len = 0;
	}
	if (!rc && len) {
		rc = carry_batch(job, chosen, len);
		mr_mailbox_carry_advance(carry, (int64_t)len);
	}
	return rc;
}

/* --- accounts --- */

/* Who is the owner of an address that the root does not have: the newest of its mail says. */
static enum mr_code find_owner(struct job *job)
{
	struct mr_arena *scratch MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_carry *carry = job->carry;
	const char *address = carry->account->address;
	const struct mr_mailbox_carry_mail *chosen[BATCH];
	struct mr_ctx cx = *carry->cx;
	const struct mr_value *list = NULL;
	size_t len = 0;
	enum mr_code rc = MR_OK;

	cx.arena = scratch;
	while (len < BATCH && len < job->mails.len) {
		chosen[len] = &job->mails.items[job->mails.len - 1 - len];
		len++;
	}
	if (len)
		rc = fetch(job, &cx, chosen, len, 1, &list);
	for (size_t i = 0; list && list->kind == MR_LIST && i < list->list.len && !rc; i++) {
		struct mr_jmap_email email;
		const char *owner = NULL;

		rc = mr_jmap_email_read(scratch, &list->list.items[i], &email, &cx.err);
		if (!rc && email.original)
			owner = owner_in(email.original, address);
		if (owner) {
			job->owner = mr_arena_strdup(carry->cx->arena, owner);
			return MR_OK;
		}
	}
	if (rc)
		carry->cx->err = cx.err;
	job->owner = local_part(carry->cx->arena, address);
	return rc;
}

static enum mr_code ensure_registered(struct job *job)
{
	struct mr_ctx *cx = job->carry->cx;
	const struct mr_mailbox_registration *row;
	struct mr_mailbox_register_request request = { .mode = MR_MAILBOX_SAFE,
		.address = job->carry->account->address,
		.kind = MR_MAILBOX_IN_ROOT };
	struct mr_mailbox_register_result result;
	enum mr_code rc = mr_mailbox_inspect_account(cx, job->root, request.address, &row);

	if (!rc && row->status == MR_MAILBOX_ACTIVE) {
		job->owner = row->owner;
		return MR_OK;
	}
	if (rc && rc != MR_ENOTFOUND)
		return rc;
	rc = find_owner(job);
	if (rc)
		return rc;
	request.owner = job->owner;
	return mr_mailbox_register(cx, job->root, &request, &result);
}

enum mr_code mr_mailbox_carry_in(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_carry_request *request, struct mr_mailbox_carried *out)
{
	struct mr_mailbox_carry carry MR_CLEANUP(mr_mailbox_carry_end) = { .cx = cx,
		.root = root,
		.request = request,
		.result = out,
		.lock = -1 };
	size_t count = request->addresses.len;
	struct job *jobs = mr_arena_array(cx->arena, count + 1, sizeof(*jobs));
	struct mr_mail *mails = mr_arena_array(cx->arena, count + 1, sizeof(*mails));
	enum mr_code rc = mr_mailbox_carry_begin(&carry);

	*out = (struct mr_mailbox_carried){ .accounts = NULL };
	out->accounts = mr_arena_array(cx->arena, count + 1, sizeof(*out->accounts));
	/* All are registered before the first message comes: it names who gets it. */
	for (size_t i = 0; i < count && !rc; i++) {
		carry.account = &out->accounts[out->account_count++];
		carry.account->address = request->addresses.items[i];
		jobs[i] = (struct job){ .carry = &carry, .root = root };
		rc = mr_mailbox_carry_log_in(&carry, carry.account->address, "", &mails[i]);
		jobs[i].state = mails[i].state;
		if (!rc)
			rc = mr_mailbox_carry_list(&carry, jobs[i].state, &jobs[i].mails);
		if (!rc)
			rc = ensure_registered(&jobs[i]);
	}
	for (size_t i = 0; i < count && !rc; i++) {
		carry.account = &out->accounts[i];
		rc = carry_account(&jobs[i]);
	}
	if (rc && carry.account)
		rc = mr_mailbox_carry_failed(&carry, rc);
	for (size_t i = 0; i < count; i++)
		mr_mail_close(&mails[i]);
	return rc;
}
