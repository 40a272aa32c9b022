/* mailbox/mail_jmap_lookup.c - what became of a message that was to be sent. */
#include "mailbox/mail_jmap_private.h"

#include "text/time.h"

#include <string.h>

enum { PAGE = 200, PAGES = 25, TRIES = 4 };

#define STAMP "msg-20260311T041500Z"

/* Where it may be. In `inbox` is what the operator posted. */
static const char *const places[] = { "sent", "drafts", "inbox" };

struct search {
	struct mr_mail_jmap *state;
	const char *since, *digits;
	const char *oldest; /* what the server got before is not looked at */
	int64_t position;
	bool goes_on[MR_LEN(places)];
};

static bool is_meant(const struct search *search, const struct mr_jmap_email *email)
{
	const char *id = email->original_id;

	return id && strlen(id) > strlen(STAMP) + 1 &&
		strncmp(id, search->since, strlen(search->since)) >= 0 &&
		mr_str_starts(id + strlen(STAMP) + 1, search->digits);
}

/* Compared with the property that every server has: searches in headers are not the same on all. */
static void put_place(struct mr_jmap_request *request, const struct search *search, size_t place,
	const char *box_id)
{
	static const char *words[] = { "id", "threadId", "mailboxIds", "keywords", "receivedAt",
		"messageId", NULL };
	const struct mr_texts properties = { words, MR_LEN(words) - 1 };
	const char *query = mr_arena_printf(request->arena, "query-%s", places[place]);
	struct mr_out *args = mr_jmap_call(request, "Email/query", query);

	mr_out_map(args, "filter");
	mr_out_text(args, "inMailbox", box_id);
	mr_out_end(args);
	mr_mail_jmap_put_newest_first(args);
	mr_out_int(args, "position", search->position);
	mr_out_int(args, "limit", PAGE);
	mr_jmap_end(request);
	args = mr_jmap_call(request, "Email/get",
		mr_arena_printf(request->arena, "get-%s", places[place]));
	mr_jmap_refer(args, "ids", query, "Email/query", "/ids");
	mr_out_texts(args, "properties", &properties);
	mr_jmap_end(request);
}

/* What one place has of it. It goes on there while the messages are not all older. */
static enum mr_code take_place(struct mr_ctx *cx, struct search *search, size_t place,
	const struct mr_jmap_response *response, struct mr_mail_jmap_found *out)
{
	const struct mr_value *result = NULL, *list, *state;
	bool is_older = true;
	enum mr_code rc = mr_jmap_find(cx, response,
		mr_arena_printf(cx->arena, "get-%s", places[place]), "Email/get", &result);

	list = rc ? NULL : mr_value_get(result, "list");
	/* The first one: whatever comes after it was not looked at. */
	state = rc ? NULL : mr_value_get(result, "state");
	if (state && state->kind == MR_TEXT && !search->state->email_state)
		search->state->email_state = mr_arena_strdup(search->state->arena, state->text);
	for (size_t i = 0; list && list->kind == MR_LIST && i < list->list.len && !rc; i++) {
		struct mr_jmap_email email;

		rc = mr_jmap_email_read(cx->arena, &list->list.items[i], &email, &cx->err);
		if (rc || out->is_found)
			break;
		is_older &= strcmp(email.content.created_at_utc, search->oldest) < 0;
		if (!is_meant(search, &email))
			continue;
		out->is_found = true;
		out->is_sent = !mr_str_eq(places[place], "drafts");
		out->email = email;
	}
	search->goes_on[place] = list && list->kind == MR_LIST && list->list.len > 0 && !is_older;
	return rc;
}

static enum mr_code look(struct mr_ctx *cx, struct search *search, struct mr_mail_jmap_found *out)
{
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	bool is_asked[MR_LEN(places)] = { false };
	enum mr_code rc;

	mr_jmap_begin(&request, cx->arena);
	for (size_t p = 0; p < MR_LEN(places); p++) {
		const struct mr_mail_jmap_box *box =
			mr_mail_jmap_find_box(search->state, places[p]);

		is_asked[p] = search->goes_on[p] && box;
		search->goes_on[p] = false;
		if (is_asked[p])
			put_place(&request, search, p, box->id);
	}
	if (request.len == 0)
		return MR_OK;
	rc = mr_jmap_ask(cx, search->state->jmap, &request, MR_JMAP_READS, &response);
	for (size_t p = 0; p < MR_LEN(places) && !rc; p++) {
		if (is_asked[p])
			rc = take_place(cx, search, p, &response, out);
	}
	search->position += PAGE;
	return rc;
}

/* A draft: was it handed over? Servers that do not tell are not believed either way. */
static enum mr_code find_submission(struct mr_ctx *cx, struct mr_mail_jmap *state,
	struct mr_mail_jmap_found *out)
{
	const char *ids[] = { out->email.id, NULL };
	const struct mr_texts emails = { ids, 1 };
	const struct mr_value *result = NULL, *found, *before;
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	struct mr_ctx one = *cx;
	struct mr_out *args;
	enum mr_code rc;

	mr_jmap_begin(&request, cx->arena);
	args = mr_jmap_call(&request, "EmailSubmission/get", "state");
	mr_out_list(args, "ids");
	mr_out_end(args);
	mr_jmap_end(&request);
	args = mr_jmap_call(&request, "EmailSubmission/query", "query");
	mr_out_map(args, "filter");
	mr_out_texts(args, "emailIds", &emails);
	mr_out_end(args);
	mr_jmap_end(&request);
	rc = mr_jmap_ask(&one, state->jmap, &request, MR_JMAP_READS, &response);
	if (rc) {
		cx->err = one.err;
		return rc;
	}
	if (!mr_jmap_find(&one, &response, "state", "EmailSubmission/get", &result)) {
		before = mr_value_get(result, "state");
		out->submission_state = before && before->kind == MR_TEXT ? before->text : NULL;
	}
	if (mr_jmap_find(&one, &response, "query", "EmailSubmission/query", &result))
		return MR_OK;
	found = mr_value_get(result, "ids");
	if (found && found->kind == MR_LIST)
		out->draft = found->list.len ? MR_MAIL_JMAP_SUBMITTED : MR_MAIL_JMAP_NOT_SUBMITTED;
	return MR_OK;
}

/* A day before the first message that is meant: the server's clock is another one. */
static const char *oldest_of(struct mr_ctx *cx, const char *since)
{
	const char *date = since + strlen("msg-");
	struct mr_err ignored;
	int64_t us;

	if (strlen(since) < strlen("msg-20260311") ||
		mr_time_parse(mr_arena_printf(cx->arena, "%.4s-%.2s-%.2s", date, date + 4,
				      date + 6),
			MR_TIME_LENIENT, &us, &ignored))
		return "1970";
	return mr_time_format(cx->arena, us - MR_TIME_DAY, MR_TIME_SECONDS);
}

enum mr_code mr_mail_jmap_lookup(struct mr_ctx *cx, struct mr_mail_jmap *state, const char *since,
	const char *digits, struct mr_mail_jmap_found *out)
{
	struct search search = { .state = state,
		.since = since,
		.digits = digits,
		.oldest = oldest_of(cx, since) };
	struct mr_mail_jmap_found found = { .is_found = false };
	enum mr_code rc = mr_mail_jmap_boxes(cx, state, true);

	memset(search.goes_on, true, sizeof(search.goes_on));
	state->email_state = NULL;
	for (size_t page = 0; page < PAGES && !rc && !found.is_found; page++)
		rc = look(cx, &search, &found);
	if (!rc && found.is_found && !found.is_sent)
		rc = find_submission(cx, state, &found);
	if (!rc)
		*out = found;
	return rc;
}

enum mr_code mr_mail_jmap_recover(struct mr_ctx *cx, struct mr_mail_jmap *state, const char *since,
	const char *digits, struct mr_mail_jmap_found *out)
{
	enum mr_code rc = MR_OK;

	for (int tries = 0; tries < TRIES; tries++) {
		rc = mr_mail_jmap_lookup(cx, state, since, digits, out);
		if (!rc && out->is_found)
			rc = mr_mail_jmap_settle(cx, state, out);
		if (!rc || cx->err.word != mr_jmap_changed)
			break;
	}
	return rc;
}

enum mr_code mr_mail_jmap_find_once(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mailbox_once *once, struct mr_mail_sent *out)
{
	struct mr_mail_jmap *state = mail->state;
	struct mr_mail_jmap_found found;
	enum mr_code rc = mr_mail_jmap_recover(cx, state, once->since, once->mark, &found);

	if (!rc)
		*out = found.is_found
			? (struct mr_mail_sent){ found.email.id, found.email.original_id }
			: (struct mr_mail_sent){ NULL, NULL };
	return rc;
}
