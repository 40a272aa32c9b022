/* net/jmap_error.c - What a JMAP server refuses, in our words and its own. */
#include "net/jmap_wire.h"

#include "base/utf8.h"
#include "text/json.h"

#include <string.h>

enum {
	WORDS_BYTES = 240, /* of what the server says, in a message */
	PROBLEM_BYTES = 64 * 1024,
	SECRET_MIN = 4, /* a shorter one would hide ordinary words */
};

const char mr_jmap_not_done[] = "not_done";
const char mr_jmap_changed[] = "state_changed";

struct meaning {
	const char *type;
	enum mr_code code;
	const char *word;
};

/* Errors of a method (RFC 8620, 3.6.2; RFC 8621) and of an object in a /set (5.3, 5.4). What is not
 * here is MR_EINVAL. */
static const struct meaning meanings[] = {
	{ "serverUnavailable", MR_EREMOTE, mr_jmap_not_done },
	{ "rateLimit", MR_EREMOTE, mr_jmap_not_done },
	{ "serverFail", MR_EREMOTE, NULL },
	{ "serverPartialFail", MR_EREMOTE, NULL },
	{ "unknownMethod", MR_EREMOTE, mr_jmap_not_done },
	{ "forbidden", MR_EPERM, NULL },
	{ "accountReadOnly", MR_EPERM, NULL },
	{ "accountNotSupportedByMethod", MR_EPERM, NULL },
	{ "forbiddenFrom", MR_EPERM, NULL },
	{ "forbiddenMailFrom", MR_EPERM, NULL },
	{ "forbiddenToSend", MR_EPERM, NULL },
	{ "accountNotFound", MR_ENOTFOUND, NULL },
	{ "fromAccountNotFound", MR_ENOTFOUND, NULL },
	{ "anchorNotFound", MR_ENOTFOUND, NULL },
	{ "notFound", MR_ENOTFOUND, NULL },
	{ "blobNotFound", MR_ENOTFOUND, NULL },
	{ "stateMismatch", MR_ECONFLICT, mr_jmap_changed },
	{ "cannotCalculateChanges", MR_ECONFLICT, mr_jmap_changed },
	{ "tooManyChanges", MR_ECONFLICT, mr_jmap_changed },
	{ "alreadyExists", MR_EEXISTS, NULL },
	{ "mailboxHasChild", MR_ECONFLICT, NULL },
	{ "mailboxHasEmail", MR_ECONFLICT, NULL },
	{ "requestTooLarge", MR_ELIMIT, NULL },
	{ "overQuota", MR_ELIMIT, NULL },
	{ "tooLarge", MR_ELIMIT, NULL },
	{ "tooManyKeywords", MR_ELIMIT, NULL },
	{ "tooManyMailboxes", MR_ELIMIT, NULL },
	{ "tooManyRecipients", MR_ELIMIT, NULL },
};

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT && value->text[0] ? value->text : NULL;
}

static bool holds_secret(const struct mr_jmap *jmap, const char *text)
{
	for (const char *const *secret = jmap->secrets; *secret; secret++) {
		if (strlen(*secret) >= SECRET_MIN && strstr(text, *secret))
			return true;
	}
	return false;
}

void mr_jmap_hide_secrets(const struct mr_jmap *jmap, const struct mr_value *value)
{
	/* The nodes that a list or map points to can be written; the tree is ours alone still. */
	for (size_t i = 0; value->kind == MR_LIST && i < value->list.len; i++) {
		struct mr_value *item = &value->list.items[i];

		if (item->kind == MR_TEXT && holds_secret(jmap, item->text))
			item->text = "(hidden)";
		mr_jmap_hide_secrets(jmap, item);
	}
	for (size_t i = 0; value->kind == MR_MAP && i < value->map.len; i++) {
		struct mr_value *item = &value->map.pairs[i].value;

		if (item->kind == MR_TEXT && holds_secret(jmap, item->text))
			item->text = "(hidden)";
		mr_jmap_hide_secrets(jmap, item);
	}
}

/* One line, not too long. */
static const char *words(struct mr_arena *arena, const char *text)
{
	size_t len = mr_utf8_truncate(text, strlen(text), WORDS_BYTES);
	char *line = mr_arena_strndup(arena, text, len);

	for (char *c = line; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	}
	return line;
}

/* " (properties a, b)" of a SetError. */
static const char *properties_of(struct mr_arena *arena, const struct mr_value *error)
{
	const struct mr_value *list = mr_value_get(error, "properties");
	const char *text = NULL;

	for (size_t i = 0; list && list->kind == MR_LIST && i < list->list.len && i < 8; i++) {
		const struct mr_value *item = &list->list.items[i];

		if (item->kind == MR_TEXT)
			text = mr_arena_printf(arena, "%s%s%s", text ? text : "",
				text ? ", " : " (", item->text);
	}
	return text ? words(arena, mr_arena_printf(arena, "%s)", text)) : "";
}

enum mr_code mr_jmap_refused(struct mr_ctx *cx, const struct mr_value *error)
{
	const char *type = text_of(error, "type");
	const char *description = text_of(error, "description");
	enum mr_code code = MR_EINVAL;
	const char *word = NULL;

	if (!type)
		return mr_err_set(&cx->err, MR_EREMOTE, "the server refused it without saying why");
	for (size_t i = 0; i < MR_LEN(meanings); i++) {
		if (strcmp(type, meanings[i].type) == 0) {
			code = meanings[i].code;
			word = meanings[i].word;
		}
	}
	mr_err_set(&cx->err, code, "%s%s%s%s", words(cx->arena, type), description ? ": " : "",
		description ? words(cx->arena, description) : "", properties_of(cx->arena, error));
	if (word)
		mr_err_word(&cx->err, word);
	return code;
}

enum mr_code mr_jmap_find(struct mr_ctx *cx, const struct mr_jmap_response *response,
	const char *id, const char *name, const struct mr_value **out)
{
	for (size_t i = 0; i < response->len; i++) {
		const struct mr_jmap_result *item = &response->items[i];

		if (strcmp(item->id, id) != 0)
			continue;
		if (strcmp(item->name, name) == 0) {
			*out = item->value;
			return MR_OK;
		}
		if (strcmp(item->name, "error") == 0) {
			mr_jmap_refused(cx, item->value);
			return mr_err_wrap(&cx->err, "%s", name);
		}
	}
	return mr_err_set(&cx->err, MR_EREMOTE, "the server did not answer %s", name);
}

enum mr_code mr_jmap_set_result(struct mr_ctx *cx, const struct mr_value *result, const char *done,
	const char *refused, const char *key, const struct mr_value **out)
{
	const struct mr_value *found = mr_value_get(mr_value_get(result, done), key);
	const struct mr_value *error = mr_value_get(mr_value_get(result, refused), key);

	if (found) {
		*out = found;
		return MR_OK;
	}
	if (error)
		return mr_jmap_refused(cx, error);
	return mr_err_set(&cx->err, MR_EREMOTE, "the server did not say whether it is %s", done);
}

/* --- HTTP --- */

/* What the problem report (RFC 7807) in an answer says, or NULL. */
static const struct mr_value *problem_of(struct mr_ctx *cx, const struct mr_jmap *jmap,
	const struct mr_http_client_response *response)
{
	static const struct mr_json_limits limits = { PROBLEM_BYTES, 16, 1000 };
	const struct mr_value *value;
	struct mr_err ignored;

	if (!response->body.len ||
		mr_json_parse(cx->arena, response->body, &limits, &value, &ignored) ||
		value->kind != MR_MAP)
		return NULL;
	mr_jmap_hide_secrets(jmap, value);
	return value;
}

/* ": what the server says", or "". */
static const char *reason(struct mr_arena *arena, const struct mr_value *problem)
{
	static const char *const keys[] = { "detail", "title", "description", "error" };

	for (size_t i = 0; i < MR_LEN(keys); i++) {
		const char *text = text_of(problem, keys[i]);

		if (text)
			return mr_arena_printf(arena, ": %s", words(arena, text));
	}
	return "";
}

/* A request error (RFC 8620, 3.6.1); MR_OK: it is none. */
static enum mr_code request_error(struct mr_ctx *cx, const char *host,
	const struct mr_value *problem, bool *out_later)
{
	const char *type = text_of(problem, "type");
	const char *limit = text_of(problem, "limit");
	const char *why = reason(cx->arena, problem);

	if (!type || !mr_str_starts(type, "urn:ietf:params:jmap:error:"))
		return MR_OK;
	if (mr_str_ends(type, ":limit")) {
		/* Too many at the same time pass; too large stays. */
		*out_later = limit && (strstr(limit, "Concurrent") || strstr(limit, "rate"));
		return mr_err_set(&cx->err, *out_later ? MR_EREMOTE : MR_ELIMIT,
			"%s: the limit %s is reached%s", host,
			limit ? words(cx->arena, limit) : "of a request", why);
	}
	if (mr_str_ends(type, ":unknownCapability"))
		return mr_err_set(&cx->err, MR_EREMOTE, "%s lacks a capability that is needed%s",
			host, why);
	return mr_err_set(&cx->err, MR_EINVAL, "%s calls the request wrong%s", host, why);
}

enum mr_code mr_jmap_status_error(struct mr_ctx *cx, const struct mr_jmap *jmap,
	const struct mr_http_client_response *response, bool *out_later)
{
	const struct mr_value *problem = problem_of(cx, jmap, response);
	const char *why = problem ? reason(cx->arena, problem) : "";
	const char *host = jmap->host;
	enum mr_code rc;

	*out_later = false;
	switch (response->status) {
	case 401:
		return mr_err_set(&cx->err, MR_EAUTH, "%s refuses the credentials%s%s%s", host,
			jmap->login.user ? " of " : "", jmap->login.user ? jmap->login.user : "",
			why);
	case 429:
	case 503:
		*out_later = true;
		return mr_err_set(&cx->err, MR_EREMOTE, "%s is busy (HTTP status %d)%s", host,
			response->status, why);
	default:
		break;
	}
	if (problem) {
		rc = request_error(cx, host, problem, out_later);
		if (rc)
			return rc;
	}
	switch (response->status) {
	case 403:
		return mr_err_set(&cx->err, MR_EPERM, "%s does not permit this%s", host, why);
	case 404:
	case 410:
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"%s does not have this (HTTP status %d)%s", host, response->status, why);
	case 413:
		return mr_err_set(&cx->err, MR_ELIMIT, "%s: it is too large for the server%s", host,
			why);
	case 507:
		return mr_err_set(&cx->err, MR_ELIMIT, "%s has no space left%s", host, why);
	default:
		return mr_err_set(&cx->err, MR_EREMOTE, "%s answered with HTTP status %d%s", host,
			response->status, why);
	}
}
