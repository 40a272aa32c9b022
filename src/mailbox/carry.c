/* mailbox/carry.c - What carrying mail to a JMAP server and back have in common. */
#include "mailbox/carry.h"

#include "base/fs.h"
#include "mailbox/binding.h"
#include "mailbox/carry_private.h"
#include "mailbox/credential.h"
#include "mailbox/layout.h"
#include "text/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

enum {
	PAGE = 500,
	MAILS_MAX = 1000000, /* of one account */
	LISTS = 3,           /* tries to list an account that changes meanwhile */
	ID_DIGITS = 32,
};

enum mr_code mr_mailbox_carry_begin(struct mr_mailbox_carry *carry)
{
	struct mr_err *err = &carry->cx->err;
	enum mr_code rc = mr_fs_open_dir(carry->root->dir, MR_MAILBOX_MESSAGES, &carry->lock, err);

	if (rc)
		return rc;
	/* The kernel lets go when we die; nothing is left behind in the root. */
	if (flock(carry->lock, LOCK_EX | LOCK_NB) != 0)
		return errno == EWOULDBLOCK
			? mr_err_set(err, MR_EBUSY,
				  "another process is carrying the mail of %s to or from a server",
				  carry->root->path)
			: mr_err_os(err, errno, "cannot lock %s", carry->root->path);
	return MR_OK;
}

void mr_mailbox_carry_end(struct mr_mailbox_carry *carry)
{
	mr_fs_closep(&carry->lock);
}

enum mr_code mr_mailbox_carry_log_in(struct mr_mailbox_carry *carry, const char *address,
	const char *owner, struct mr_mail *out)
{
	struct mr_ctx *cx = carry->cx;
	const struct mr_mailbox_carry_request *request = carry->request;
	const char *ref = mr_mailbox_binding_credential_ref(cx->arena, request->jmap_url, address);
	struct mr_mailbox_credential credential;
	struct mr_mail_jmap_account account;
	enum mr_code rc = mr_mailbox_credential_read(cx, request->credentials, ref, &credential);

	if (rc)
		return mr_err_wrap(&cx->err, "the account of %s", address);
	account = (struct mr_mail_jmap_account){
		.address = address,
		.principal_id = owner,
		.jmap_url = request->jmap_url,
		.login = credential.login,
		.password = credential.password,
		.credential_file = credential.file,
		.ca_file = request->ca_file,
	};
	return mr_mail_jmap_open(cx, &account, false, out);
}

/* --- what the server has --- */

const char *mr_mailbox_carry_id(struct mr_arena *arena, const char *address,
	const struct mr_jmap_email *email)
{
	const char *when = email->sent_at ? email->sent_at : email->content.created_at_utc;
	struct mr_digest *digest;
	char compact[32];
	size_t len = 0;

	if (email->original_id)
		return email->original_id;
	digest = mr_digest_begin_sha256();
	if (email->message_id) {
		mr_digest_add(digest, email->message_id, strlen(email->message_id));
	} else {
		mr_digest_add(digest, address, strlen(address) + 1);
		mr_digest_add(digest, email->id, strlen(email->id));
	}
	for (const char *c = when; *c && len < sizeof(compact) - 1; c++) {
		if (*c != '-' && *c != ':')
			compact[len++] = *c;
	}
	compact[len] = '\0';
	return mr_arena_printf(arena, "msg-%s-%.*s", compact, ID_DIGITS,
		mr_digest_end_hex(arena, digest));
}

static bool has_keyword(const struct mr_value *email, const char *word)
{
	const struct mr_value *flag = mr_value_get(mr_value_get(email, "keywords"), word);

	return flag && flag->kind == MR_BOOL && flag->boolean;
}

static struct mr_texts copy_texts(struct mr_arena *arena, const struct mr_texts *from)
{
	struct mr_texts to = { mr_arena_array(arena, from->len + 1, sizeof(char *)), from->len };

	for (size_t i = 0; i < from->len; i++)
		to.items[i] = mr_arena_strdup(arena, from->items[i]);
	return to;
}

static enum mr_code take_mail(struct mr_mailbox_carry *carry, struct mr_ctx *page,
	const struct mr_value *value, struct mr_mailbox_carry_mail *out)
{
	struct mr_arena *arena = carry->cx->arena;
	struct mr_jmap_email email;
	enum mr_code rc = mr_jmap_email_read(page->arena, value, &email, &page->err);

	if (rc)
		return rc;
	*out = (struct mr_mailbox_carry_mail){
		.email_id = mr_arena_strdup(arena, email.id),
		.message_id = mr_arena_strdup(arena, email.message_id),
		.id = mr_arena_strdup(arena,
			mr_mailbox_carry_id(page->arena, carry->account->address, &email)),
		.mailboxes = copy_texts(arena, &email.mailboxes),
		.read = email.is_read,
		.answered = email.is_answered,
		.starred = email.is_flagged,
		.archived = has_keyword(value, MR_MAILBOX_CARRY_ARCHIVED),
		.deleted = has_keyword(value, MR_MAILBOX_CARRY_DELETED),
	};
	return MR_OK;
}

static void ask_page(struct mr_jmap_request *request, int64_t position)
{
	static const char *words[] = { "id", "messageId", "sentAt", "receivedAt", "mailboxIds",
		"keywords", NULL };
	const struct mr_texts properties = { words, MR_LEN(words) - 1 };
	struct mr_out *args = mr_jmap_call(request, "Email/query", "query");

	mr_out_list(args, "sort");
	mr_out_map(args, NULL);
	mr_out_text(args, "property", "receivedAt");
	mr_out_bool(args, "isAscending", true);
	mr_out_end(args);
	mr_out_end(args);
	mr_out_int(args, "position", position);
	mr_out_int(args, "limit", PAGE);
	mr_jmap_end(request);
	args = mr_jmap_call(request, "Email/get", "get");
	mr_jmap_refer(args, "ids", "query", "Email/query", "/ids");
	mr_out_texts(args, "properties", &properties);
	mr_jmap_end(request);
}

/* Grows by doubling; what it grows out of is freed with the request. */
static struct mr_mailbox_carry_mail *make_room(struct mr_arena *arena,
	struct mr_mailbox_carry_mails *mails, size_t more, size_t *cap)
{
	if (mails->len + more > *cap) {
		size_t wanted = 2 * (mails->len + more);
		struct mr_mailbox_carry_mail *items = mr_arena_array(arena, wanted, sizeof(*items));

		if (mails->len)
			memcpy(items, mails->items, mails->len * sizeof(*items));
		mails->items = items;
		*cap = wanted;
	}
	return mails->items + mails->len;
}

/* One page; `*out_count` mails were found at this position. */
static enum mr_code list_page(struct mr_mailbox_carry *carry, struct mr_ctx *page,
	struct mr_mail_jmap *state, struct mr_mailbox_carry_mails *mails, size_t *cap,
	int64_t position, size_t *out_count, const char **out_state)
{
	const struct mr_value *found = NULL, *got = NULL, *list, *query_state;
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	enum mr_code rc;

	mr_jmap_begin(&request, page->arena);
	ask_page(&request, position);
	rc = mr_jmap_ask(page, state->jmap, &request, MR_JMAP_READS, &response);
	if (!rc)
		rc = mr_jmap_find(page, &response, "query", "Email/query", &found);
	if (!rc)
		rc = mr_jmap_find(page, &response, "get", "Email/get", &got);
	if (rc)
		return rc;
	list = mr_value_get(found, "ids");
	*out_count = list && list->kind == MR_LIST ? list->list.len : 0;
	query_state = mr_value_get(found, "queryState");
	*out_state = query_state && query_state->kind == MR_TEXT ? query_state->text : "";
	list = mr_value_get(got, "list");
	for (size_t i = 0; list && list->kind == MR_LIST && i < list->list.len && !rc; i++) {
		struct mr_mailbox_carry_mail *mail = make_room(carry->cx->arena, mails, 1, cap);

		rc = take_mail(carry, page, &list->list.items[i], mail);
		mails->len += rc == MR_OK;
	}
	if (!rc && mails->len > MAILS_MAX)
		rc = mr_err_set(&page->err, MR_ELIMIT, "the account has more than %d mails",
			MAILS_MAX);
	return rc;
}

/* `*out_moved`: mail came or went meanwhile, so that positions mean something else. */
static enum mr_code list_all(struct mr_mailbox_carry *carry, struct mr_mail_jmap *state,
	struct mr_mailbox_carry_mails *mails, bool *out_moved)
{
	struct mr_ctx *cx = carry->cx;
	const char *first = NULL;
	size_t cap = 0;
	size_t count = 1;
	enum mr_code rc = MR_OK;

	*out_moved = false;
	for (int64_t position = 0; !rc && count && !*out_moved; position += (int64_t)count) {
		struct mr_arena *scratch MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_ctx page = *cx;
		const char *query_state;

		page.arena = scratch;
		rc = list_page(carry, &page, state, mails, &cap, position, &count, &query_state);
		if (rc) {
			cx->err = page.err;
		} else if (!first) {
			first = mr_arena_strdup(cx->arena, query_state);
		} else {
			*out_moved = strcmp(first, query_state) != 0;
		}
	}
	return rc;
}

static int compare_ids(const void *a, const void *b)
{
	const struct mr_mailbox_carry_mail *const *left = a;
	const struct mr_mailbox_carry_mail *const *right = b;

	return strcmp((*left)->id, (*right)->id);
}

/* Of mail to oneself a server has two, and a root one, which is where it arrived. */
static void find_doubles(const struct mr_mail_jmap *state, struct mr_mailbox_carry_mails *mails)
{
	for (size_t i = 0, next; i < mails->len; i = next) {
		struct mr_mailbox_carry_mail *chosen = NULL;

		for (next = i; next < mails->len &&
			strcmp(mails->by_id[next]->id, mails->by_id[i]->id) == 0;
			next++) {
			struct mr_mailbox_carry_mail *mail = mails->by_id[next];
			const char *box = mr_mail_jmap_box_of(state, &mail->mailboxes, NULL);

			mail->is_double = true;
			if (!chosen || strcmp(box, "sent") != 0)
				chosen = mail;
		}
		chosen->is_double = false;
	}
}

enum mr_code mr_mailbox_carry_list(struct mr_mailbox_carry *carry, struct mr_mail_jmap *state,
	struct mr_mailbox_carry_mails *out)
{
	struct mr_arena *arena = carry->cx->arena;
	bool moved = true;
	enum mr_code rc = mr_mail_jmap_boxes(carry->cx, state, true);

	for (int i = 0; i < LISTS && moved && !rc; i++) {
		*out = (struct mr_mailbox_carry_mails){ .items = NULL };
		rc = list_all(carry, state, out, &moved);
	}
	if (!rc && moved)
		rc = mr_err_set(&carry->cx->err, MR_ECONFLICT,
			"the account of %s changes too fast to be listed; stop its agent, and try again",
			carry->account->address);
	if (rc)
		return rc;
	out->by_id = mr_arena_array(arena, out->len + 1, sizeof(struct mr_mailbox_carry_mail *));
	for (size_t i = 0; i < out->len; i++)
		out->by_id[i] = &out->items[i];
	if (out->len)
		qsort(out->by_id, out->len, sizeof(struct mr_mailbox_carry_mail *), compare_ids);
	find_doubles(state, out);
	return MR_OK;
}

const struct mr_mailbox_carry_mail *
mr_mailbox_carry_find(const struct mr_mailbox_carry_mails *mails, const char *id)
{
	struct mr_mailbox_carry_mail wanted = { .id = id };
	struct mr_mailbox_carry_mail *key = &wanted;
	struct mr_mailbox_carry_mail **found = mails->len
		? bsearch(&key, mails->by_id, mails->len, sizeof(struct mr_mailbox_carry_mail *),
			  compare_ids)
		: NULL;

	return found ? *found : NULL;
}

/* --- telling --- */

void mr_mailbox_carry_advance(struct mr_mailbox_carry *carry, int64_t count)
{
	struct mr_ctx *cx = carry->cx;

	carry->done += count;
	if (cx->progress)
		cx->progress(cx->progress_arg, carry->account->address, (size_t)carry->done,
			(size_t)carry->total);
}

void mr_mailbox_carry_leave(struct mr_mailbox_carry *carry, const char *message, const char *reason)
{
	struct mr_mailbox_carried *result = carry->result;
	struct mr_arena *arena = carry->cx->arena;

	carry->account->left++;
	result->left++;
	if (!result->problems)
		result->problems =
			mr_arena_array(arena, MR_MAILBOX_LEFT_TOLD, sizeof(*result->problems));
	if (result->problem_count < MR_MAILBOX_LEFT_TOLD)
		result->problems[result->problem_count++] = (struct mr_mailbox_left){
			.address = carry->account->address,
			.message = mr_arena_strdup(arena, message),
			.reason = mr_arena_strdup(arena, reason),
		};
}

enum mr_code mr_mailbox_carry_failed(struct mr_mailbox_carry *carry, enum mr_code rc)
{
	struct mr_err why = carry->cx->err;

	mr_err_set(&carry->cx->err, rc,
		"%s: %s (%lld messages were carried; the same command goes on from there)",
		carry->account->address, why.msg, (long long)carry->result->carried);
	carry->cx->err.word = why.word;
	return rc;
}
