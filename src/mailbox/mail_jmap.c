/* mailbox/mail_jmap.c - the transport "stalwart": mail on a JMAP server. */
#include "mailbox/mail_jmap.h"

#include "base/utf8.h"
#include "mailbox/limits.h"
#include "mailbox/mail_jmap_private.h"
#include "text/address.h"

#include <string.h>

enum {
	PAGE = 500,              /* messages of one request, */
	PAGE_WITH_BODIES = 100,  /* and with their bodies, */
	LISTED_BODY = 256 << 10, /* each so long at most; longer ones are fetched alone */
	ID_BYTES = 255,
};

static struct mr_mail_jmap *state_of(const struct mr_mail *mail)
{
	return mail->state;
}

/* After each verb: what was learnt is kept, what went wrong is explained. */
static enum mr_code finish(struct mr_ctx *cx, const struct mr_mail *mail, enum mr_code rc)
{
	mr_mail_jmap_remember(state_of(mail));
	return rc ? mr_mail_jmap_explain(cx, state_of(mail), rc) : MR_OK;
}

/* The same, where a message that is not there needs no explanation. */
static enum mr_code finish_one(struct mr_ctx *cx, const struct mr_mail *mail, enum mr_code rc)
{
	bool is_unknown = rc == MR_ENOTFOUND && mr_str_starts(cx->err.msg, "mailbox `");

	return is_unknown ? rc : finish(cx, mail, rc);
}

struct mr_mail_view mr_mail_jmap_view(const struct mr_mail_jmap *state,
	const struct mr_jmap_email *email, const char *first)
{
	const char *box = mr_mail_jmap_box_of(state, &email->mailboxes, first);

	return (struct mr_mail_view){
		.read = email->is_read,
		.answered = email->is_answered,
		.archived = mr_str_eq(box, "archive"),
		.box = box,
	};
}

/* Reported as unknown: what is in no mailbox of this account, and what cannot be an id. */
static enum mr_code say_unknown(struct mr_ctx *cx, const struct mr_mail *mail, const char *id)
{
	return mr_err_set(&cx->err, MR_ENOTFOUND, "mailbox `%s` has no message `%.200s`",
		mail->address, id);
}

static enum mr_code check_id(struct mr_ctx *cx, const struct mr_mail *mail, const char *id)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	if (*id && strlen(id) <= ID_BYTES && id[strspn(id, plain)] == '\0')
		return MR_OK;
	return say_unknown(cx, mail, id);
}

/* --- list --- */

/* One page of a list, and where the next begins. */
struct page {
	const struct mr_mail_query *query;
	const char *box;    /* its name, */
	const char *box_id; /* and its id */
	int64_t position;
	int64_t size;
	const struct mr_value *ids, *emails;
	bool is_last;
};

static void put_filter(struct mr_out *args, const struct page *page)
{
	const struct mr_mail_query *query = page->query;
	/* A condition has one of each; what it cannot say is sorted out here. */
	const char *has = query->read > 0 ? "$seen" : query->answered > 0 ? "$answered" : NULL;
	const char *has_not = query->read == 0 ? "$seen"
		: query->answered == 0         ? "$answered"
					       : NULL;

	mr_out_map(args, "filter");
	mr_out_text(args, "inMailbox", page->box_id);
	if (has)
		mr_out_text(args, "hasKeyword", has);
	if (has_not)
		mr_out_text(args, "notKeyword", has_not);
	if (query->since)
		mr_out_text(args, "after", query->since);
	mr_out_end(args);
}

void mr_mail_jmap_put_newest_first(struct mr_out *args)
{
	mr_out_list(args, "sort");
	mr_out_map(args, NULL);
	mr_out_text(args, "property", "receivedAt");
	mr_out_bool(args, "isAscending", false);
	mr_out_end(args);
	mr_out_end(args);
}

static void put_brief(struct mr_out *args)
{
	static const char *words[] = { "id", "threadId", "mailboxIds", "keywords", "receivedAt",
		"subject", NULL };
	const struct mr_texts properties = { words, MR_LEN(words) - 1 };

	mr_out_texts(args, "properties", &properties);
}

static enum mr_code ask_page(struct mr_ctx *cx, struct mr_mail_jmap *state, struct page *page)
{
	const struct mr_value *found = NULL, *got = NULL, *limit;
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	struct mr_out *args;
	enum mr_code rc;

	mr_jmap_begin(&request, cx->arena);
	mr_mail_jmap_ask_boxes(&request);
	args = mr_jmap_call(&request, "Email/query", "query");
	put_filter(args, page);
	mr_mail_jmap_put_newest_first(args);
	mr_out_int(args, "position", page->position);
	mr_out_int(args, "limit", page->size);
	mr_jmap_end(&request);
	args = mr_jmap_call(&request, "Email/get", "get");
	mr_jmap_refer(args, "ids", "query", "Email/query", "/ids");
	if (page->query->is_brief)
		put_brief(args);
	else
		mr_jmap_email_ask(args,
			page->query->include_body ? LISTED_BODY : MR_JMAP_EMAIL_PREVIEW_BYTES);
	mr_jmap_end(&request);
	rc = mr_jmap_ask(cx, state->jmap, &request, MR_JMAP_READS, &response);
	if (!rc)
		rc = mr_mail_jmap_take_boxes(cx, state, &response);
	if (!rc)
		rc = mr_jmap_find(cx, &response, "query", "Email/query", &found);
	if (!rc)
		rc = mr_jmap_find(cx, &response, "get", "Email/get", &got);
	if (rc)
		return rc;
	page->ids = mr_value_get(found, "ids");
	page->emails = mr_value_get(got, "list");
	if (!page->ids || page->ids->kind != MR_LIST || !page->emails ||
		page->emails->kind != MR_LIST)
		return mr_err_set(&cx->err, MR_EREMOTE, "the server's list of messages is none");
	limit = mr_value_get(found, "limit");
	page->is_last = page->ids->list.len == 0 ||
		(page->ids->list.len < (size_t)page->size && (!limit || limit->kind != MR_INT));
	page->position += (int64_t)page->ids->list.len;
	return MR_OK;
}

static const struct mr_value *find_email(const struct mr_value *emails, const struct mr_value *id)
{
	for (size_t i = 0; i < emails->list.len; i++) {
		const struct mr_value *its = mr_value_get(&emails->list.items[i], "id");

		if (its && id->kind == MR_TEXT && its->kind == MR_TEXT &&
			mr_str_eq(its->text, id->text))
			return &emails->list.items[i];
	}
	return NULL;
}

static bool is_wanted(const struct mr_mail_query *query, const struct mr_mail_message *message)
{
	const struct mr_mail_view *view = &message->view;

	return (query->read < 0 || view->read == query->read) &&
		(query->answered < 0 || view->answered == query->answered) &&
		(query->archived < 0 || view->archived == query->archived) &&
		(!query->since || strcmp(message->content.created_at_utc, query->since) >= 0);
}

static enum mr_code get_email(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
	struct mr_jmap_email *out);

/* The message for the list; `*is_shown` false: it does not belong there. */
static enum mr_code read_listed(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct page *page, const struct mr_value *value, struct mr_mail_message *out,
	bool *is_shown)
{
	struct mr_mail_jmap *state = state_of(mail);
	struct mr_jmap_email email;
	enum mr_code rc = mr_jmap_email_read(cx->arena, value, &email, &cx->err);

	*is_shown = false;
	if (!rc && email.is_cut && page->query->include_body) {
		rc = get_email(cx, mail, mr_arena_strdup(cx->arena, email.id), &email);
		if (rc == MR_ENOTFOUND)
			return MR_OK; /* it went meanwhile */
	}
	if (rc)
		return rc;
	*out = (struct mr_mail_message){
		.view = mr_mail_jmap_view(state, &email, page->box),
		.content = email.content,
	};
	*is_shown = mr_str_eq(out->view.box, page->box) && is_wanted(page->query, out);
	return MR_OK;
}

static bool is_in(const struct mr_value *ids, const struct mr_value *id)
{
	for (size_t i = 0; ids && i < ids->list.len; i++) {
		if (mr_value_equal(&ids->list.items[i], id))
			return true;
	}
	return false;
}

/* Every message once, also when one that came meanwhile shifted the pages. */
static enum mr_code list_page(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct page *page, const struct mr_value *before, int64_t *left, mr_mail_each *each,
	void *arg)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i<page->ids->list.len && * left> 0 && !rc; i++) {
		const struct mr_value *id = &page->ids->list.items[i];
		const struct mr_value *value = find_email(page->emails, id);
		struct mr_mail_message message;
		bool is_shown = false;

		if (value && !is_in(before, id))
			rc = read_listed(cx, mail, page, value, &message, &is_shown);
		if (!rc && is_shown) {
			rc = each(arg, &message);
			--*left;
		}
	}
	return rc;
}

/* One page. The first one may have been asked for in a box that is not there any more: then it is
 * asked for again, where the server says that the box is. */
static enum mr_code next_page(struct mr_ctx *cx, const struct mr_mail *mail, struct page *page)
{
	struct mr_mail_jmap *state = state_of(mail);
	const struct mr_mail_jmap_box *box;
	struct page asked = *page;
	bool was_fresh = state->boxes_are_fresh;
	enum mr_code rc = ask_page(cx, state, &asked);

	if (was_fresh || !state->boxes_are_fresh) {
		*page = asked;
		return rc;
	}
	box = mr_mail_jmap_find_box(state, page->box);
	if (box && mr_str_eq(box->id, page->box_id)) {
		*page = asked;
		return rc;
	}
	page->box_id = box ? box->id : NULL;
	page->is_last = !box;
	return box ? ask_page(cx, state, page) : MR_OK;
}

/* Memory for two pages at a time, so that a list costs what it shows. */
static enum mr_code list_all(struct mr_ctx *cx, const struct mr_mail *mail, struct page *page,
	mr_mail_each *each, void *arg)
{
	struct mr_arena *kept MR_CLEANUP(mr_arena_freep) = NULL;
	const struct mr_value *before = NULL;
	int64_t left = page->query->limit;
	enum mr_code rc = MR_OK;

	while (!rc && left > 0 && !page->is_last) {
		struct mr_arena *arena = mr_arena_new();
		struct mr_ctx one = *cx;

		one.arena = arena;
		if (page->size > left)
			page->size = left;
		rc = next_page(&one, mail, page);
		if (!rc && page->box_id)
			rc = list_page(&one, mail, page, before, &left, each, arg);
		/* What `each` refuses is said in the caller's context. */
		if (rc && one.err.code == rc)
			cx->err = one.err;
		cx->err.issues = NULL;
		before = page->ids;
		mr_arena_freep(&kept);
		kept = arena;
	}
	return rc;
}

static enum mr_code jmap_list(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_query *query, mr_mail_each *each, void *arg)
{
	struct mr_mail_jmap *state = state_of(mail);
	const struct mr_mail_jmap_box *box = NULL;
	struct page page = {
		.query = query,
		.box = query->box,
		.size = query->include_body ? PAGE_WITH_BODIES : PAGE,
	};
	enum mr_code rc = mr_mail_jmap_boxes(cx, state, false);

	if (!rc) {
		box = mr_mail_jmap_find_box(state, page.box);
		if (!box)
			rc = mr_mail_jmap_boxes(cx, state, true);
	}
	if (!rc && !box)
		box = mr_mail_jmap_find_box(state, page.box);
	if (!rc && box) {
		page.box_id = box->id;
		rc = list_all(cx, mail, &page, each, arg);
	}
	/* Other boxes may be missing, and are empty; without an inbox there is no mailbox. */
	if (!rc && !page.box_id && mr_str_eq(page.box, "inbox"))
		rc = mr_mail_jmap_inbox(cx, state, &page.box_id);
	return finish(cx, mail, rc);
}

/* --- one message --- */

/* The one that the call "get" asked for. */
static enum mr_code read_one(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_jmap_response *response, const char *id, struct mr_jmap_email *out)
{
	const struct mr_value *result = NULL, *list;
	enum mr_code rc = mr_jmap_find(cx, response, "get", "Email/get", &result);

	if (rc)
		return rc;
	list = mr_value_get(result, "list");
	if (!list || list->kind != MR_LIST || list->list.len == 0)
		return say_unknown(cx, mail, id);
	return mr_jmap_email_read(cx->arena, &list->list.items[0], out, &cx->err);
}

/* The server's Email of this id. */
static enum mr_code get_email(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
	struct mr_jmap_email *out)
{
	struct mr_mail_jmap *state = state_of(mail);
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	struct mr_out *args;
	enum mr_code rc = check_id(cx, mail, id);

	if (rc)
		return rc;
	mr_jmap_begin(&request, cx->arena);
	mr_mail_jmap_ask_boxes(&request);
	args = mr_jmap_call(&request, "Email/get", "get");
	mr_out_texts(args, "ids", &(struct mr_texts){ &id, 1 });
	mr_jmap_email_ask(args, MR_MAILBOX_DOCUMENT_BYTES);
	mr_jmap_end(&request);
	rc = mr_jmap_ask(cx, state->jmap, &request, MR_JMAP_READS, &response);
	if (!rc)
		rc = mr_mail_jmap_take_boxes(cx, state, &response);
	return rc ? rc : read_one(cx, mail, &response, id, out);
}

static enum mr_code jmap_get(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
	struct mr_mail_message *out)
{
	struct mr_mail_jmap *state = state_of(mail);
	struct mr_jmap_email email;
	enum mr_code rc;

	if (state->sent.content.message_id && mr_str_eq(state->sent.content.message_id, id)) {
		*out = state->sent;
		return MR_OK;
	}
	rc = get_email(cx, mail, id, &email);
	if (rc)
		return finish_one(cx, mail, rc);
	state->parent = email;
	*out = (struct mr_mail_message){
		.view = mr_mail_jmap_view(state, &email, NULL),
		.content = email.content,
		.problem = email.is_cut ? mr_arena_printf(cx->arena,
						  "the text is longer than %d bytes, and is cut "
						  "there",
						  MR_MAILBOX_DOCUMENT_BYTES)
					: NULL,
	};
	return finish(cx, mail, MR_OK);
}

/* What is changed in a message. */
struct patch {
	int read, answered; /* -1: stays */
	const char *box_id; /* or NULL: stays */
};

static void put_keyword(struct mr_out *out, const char *key, int flag)
{
	if (flag > 0)
		mr_out_bool(out, key, true);
	else if (flag == 0)
		mr_out_null(out, key);
}

/* Change it, and look how it is then, in one request. */
static enum mr_code change(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
	const struct patch *patch, struct mr_mail_view *out)
{
	static const char *words[] = { "id", "mailboxIds", "keywords", NULL };
	const struct mr_texts properties = { words, MR_LEN(words) - 1 };
	struct mr_mail_jmap *state = state_of(mail);
	const struct mr_value *result = NULL, *done = NULL;
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	struct mr_jmap_email email;
	struct mr_out *args;
	enum mr_code rc;

	mr_jmap_begin(&request, cx->arena);
	args = mr_jmap_call(&request, "Email/set", "set");
	mr_out_map(args, "update");
	mr_out_map(args, id);
	put_keyword(args, "keywords/$seen", patch->read);
	put_keyword(args, "keywords/$answered", patch->answered);
	if (patch->box_id) {
		mr_out_map(args, "mailboxIds");
		mr_out_bool(args, patch->box_id, true);
		mr_out_end(args);
	}
	mr_out_end(args);
	mr_out_end(args);
	mr_jmap_end(&request);
	args = mr_jmap_call(&request, "Email/get", "get");
	mr_out_texts(args, "ids", &(struct mr_texts){ &id, 1 });
	mr_out_texts(args, "properties", &properties);
	mr_jmap_end(&request);
	/* The same change again changes nothing, so it may be repeated like a question. */
	rc = mr_jmap_ask(cx, state->jmap, &request, MR_JMAP_READS, &response);
	if (!rc)
		rc = mr_jmap_find(cx, &response, "set", "Email/set", &result);
	if (!rc)
		rc = mr_jmap_set_result(cx, result, "updated", "notUpdated", id, &done);
	if (rc == MR_ENOTFOUND)
		return say_unknown(cx, mail, id);
	if (!rc)
		rc = read_one(cx, mail, &response, id, &email);
	if (!rc)
		*out = mr_mail_jmap_view(state, &email, NULL);
	return rc;
}

static enum mr_code jmap_mark(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
	const struct mr_mail_flags *flags, struct mr_mail_view *out)
{
	const struct patch patch = { flags->read, flags->answered, NULL };
	enum mr_code rc = check_id(cx, mail, id);

	if (!rc)
		rc = mr_mail_jmap_boxes(cx, state_of(mail), false);
	if (!rc)
		rc = change(cx, mail, id, &patch, out);
	return finish_one(cx, mail, rc);
}

static enum mr_code jmap_move(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
	const char *name, struct mr_mail_view *out)
{
	const struct mr_mail_jmap_box *box = NULL;
	struct patch patch = { mr_str_eq(name, "archive") ? 1 : -1, -1, NULL };
	enum mr_code rc = check_id(cx, mail, id);

	if (!rc)
		rc = mr_mail_jmap_make_box(cx, state_of(mail), name, &box);
	if (!rc) {
		patch.box_id = box->id;
		rc = change(cx, mail, id, &patch, out);
	}
	return finish_one(cx, mail, rc);
}

/* --- the rest --- */

/* Whether an address has a mailbox only its server can tell, when it is written to. */
static enum mr_code jmap_recipient(struct mr_ctx *cx, const struct mr_mail *mail, const char *text,
	struct mr_mailbox_principal *out)
{
	struct mr_address address;
	struct mr_err why;
	size_t len = strlen(text);

	mr_utf8_strip(&text, &len);
	text = mr_arena_strndup(cx->arena, text, len);
	if (mr_address_parse(cx->arena, text, &address, &why))
		return mr_err_set(&cx->err, MR_EINVAL,
			"recipient `%.200s` is not a full mailbox address, such as %s", text,
			mail->address);
	*out = (struct mr_mailbox_principal){
		.address = address.full,
		.principal_id = mr_str_eq(address.full, mail->address) ? mail->principal_id : NULL,
	};
	return MR_OK;
}

/* What the operator posts is put into the inbox itself, which takes no mailbox of the operator's.
 */
static enum mr_code jmap_make_operator(struct mr_ctx *cx, const struct mr_mail *mail)
{
	(void)cx;
	(void)mail;
	return MR_OK;
}

/* A blob that no mail refers to goes by itself. */
static void jmap_drop(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mailbox_attachment *file)
{
	(void)cx;
	(void)mail;
	(void)file;
}

static enum mr_code jmap_keep(struct mr_ctx *cx, const struct mr_mail *mail,
	struct mr_mailbox_attachment *file)
{
	return finish(cx, mail, mr_mail_jmap_keep(cx, mail, file));
}

static enum mr_code jmap_send(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mailbox_message *message, const struct mr_mailbox_once *once,
	struct mr_mail_sent *out)
{
	return finish(cx, mail, mr_mail_jmap_send(cx, mail, message, once, out));
}

static enum mr_code jmap_find_once(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mailbox_once *once, struct mr_mail_sent *out)
{
	return finish(cx, mail, mr_mail_jmap_find_once(cx, mail, once, out));
}

static enum mr_code jmap_check(struct mr_ctx *cx, const struct mr_mail *mail)
{
	const char *inbox = NULL;
	enum mr_code rc = mr_mail_jmap_boxes(cx, state_of(mail), true);

	if (!rc)
		rc = mr_mail_jmap_inbox(cx, state_of(mail), &inbox);
	return finish(cx, mail, rc);
}

static void jmap_close(struct mr_mail *mail)
{
	struct mr_mail_jmap *state = state_of(mail);

	mr_jmap_close(state->jmap);
	mr_arena_free(state->arena);
}

static const struct mr_mail_transport stalwart = {
	.name = "stalwart",
	.thread_prefix = "stalwart-thread",
	.close = jmap_close,
	.check = jmap_check,
	.list = jmap_list,
	.get = jmap_get,
	.mark = jmap_mark,
	.move = jmap_move,
	.recipient = jmap_recipient,
	.make_operator = jmap_make_operator,
	.keep = jmap_keep,
	.drop = jmap_drop,
	.send = jmap_send,
	.find_once = jmap_find_once,
};

enum mr_code mr_mail_jmap_open(struct mr_ctx *cx, const struct mr_mail_jmap_account *account,
	bool read_only, struct mr_mail *out)
{
	const struct mr_jmap_login login = {
		.url = account->jmap_url,
		.user = account->login,
		.password = account->password,
		.ca_file = account->ca_file,
	};
	struct mr_mail_jmap *state = mr_arena_alloc(cx->arena, sizeof(*state));
	enum mr_code rc;

	*state = (struct mr_mail_jmap){ .account = *account };
	rc = mr_jmap_open(cx, &login, &state->jmap);
	if (rc)
		return rc;
	state->arena = mr_arena_new();
	mr_mail_jmap_recall(cx, state);
	*out = (struct mr_mail){
		.transport = &stalwart,
		.address = account->address,
		.principal_id = account->principal_id,
		.read_only = read_only,
		.state = state,
	};
	return MR_OK;
}
