/*
 * text/jmap.c - A JMAP server's session object and responses, JSON pointers into them, and the
 * addresses that it names.
 */
#include "text/jmap.h"

#include "base/buf.h"
#include "text/json.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CORE       "urn:ietf:params:jmap:core"
#define MAIL       "urn:ietf:params:jmap:mail"
#define SUBMISSION "urn:ietf:params:jmap:submission"

enum {
	DEPTH = 64,
	SESSION_NODES = 100000,
	ANSWER_NODES = 4000000,
	PATH_TOKENS = 32,
};

/* --- JSON as servers write it --- */

static unsigned hex_of(const uint8_t *digits)
{
	unsigned value = 0;

	for (int i = 0; i < 4; i++) {
		uint8_t c = digits[i];

		value *= 16;
		if (c >= '0' && c <= '9')
			value += c - '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			value += (c | 32) - 'a' + 10U;
		else
			return 0xffff; /* the reader refuses it */
	}
	return value;
}

static bool is_high(unsigned unit)
{
	return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low(unsigned unit)
{
	return unit >= 0xdc00 && unit < 0xe000;
}

/* The escape at `at` is \uXXXX: its value; else 0xffff. */
static unsigned escape_at(struct mr_bytes text, size_t at)
{
	if (text.len < 6 || at > text.len - 6 || text.data[at] != '\\' || text.data[at + 1] != 'u')
		return 0xffff;
	return hex_of(text.data + at + 2);
}

/*
 * One mail with a NUL or half a surrogate pair in it, which JSON can write and our texts cannot
 * hold, must not keep all others of the answer from being read: both become U+FFFD.
 */
static struct mr_bytes mend(struct mr_arena *arena, struct mr_bytes text)
{
	const uint8_t *found = text.len ? memchr(text.data, '\\', text.len) : NULL;
	size_t at = found ? (size_t)(found - text.data) : text.len;
	uint8_t *copy = NULL;

	while (at < text.len) {
		unsigned unit = escape_at(text, at);
		size_t step = unit == 0xffff ? 2 : 6;

		if (is_high(unit) && is_low(escape_at(text, at + 6))) {
			step = 12;
		} else if (unit == 0 || is_high(unit) || is_low(unit)) {
			if (!copy)
				copy = mr_arena_memdup(arena, text.data, text.len);
			for (int i = 0; i < 4; i++)
				copy[at + 2 + (size_t)i] = (uint8_t) "fffd"[i];
		}
		at += step;
		found = at < text.len ? memchr(text.data + at, '\\', text.len - at) : NULL;
		at = found ? (size_t)(found - text.data) : text.len;
	}
	return copy ? mr_bytes_of(copy, text.len) : text;
}

static enum mr_code read_json(struct mr_arena *arena, struct mr_bytes body, size_t max_bytes,
	size_t max_nodes, const struct mr_value **out, struct mr_err *err)
{
	struct mr_json_limits limits = { max_bytes, DEPTH, max_nodes };

	if (body.len > max_bytes)
		return mr_err_set(err, MR_EFORMAT, "the answer has more than %zu bytes", max_bytes);
	if (mr_json_parse(arena, mend(arena, body), &limits, out, err)) {
		err->code = MR_EFORMAT;
		return MR_EFORMAT;
	}
	return MR_OK;
}

/* --- the session --- */

static void take_limit(const struct mr_value *core, const char *key, int64_t usual, int64_t *out)
{
	const struct mr_value *value = mr_value_get(core, key);

	*out = usual;
	if (!value)
		return;
	if (value->kind == MR_INT && value->integer > 0)
		*out = value->integer;
	/* Some write large numbers with an exponent. */
	if (value->kind == MR_FLOAT && value->real >= 1 && value->real < 9e18)
		*out = (int64_t)value->real;
}

static void take_limits(const struct mr_value *session, struct mr_jmap_limits *out)
{
	const struct mr_value *core = mr_value_get(mr_value_get(session, "capabilities"), CORE);

	take_limit(core, "maxSizeUpload", 50000000, &out->upload_bytes);
	take_limit(core, "maxConcurrentUpload", 4, &out->uploads);
	take_limit(core, "maxSizeRequest", 10000000, &out->request_bytes);
	take_limit(core, "maxConcurrentRequests", 4, &out->requests);
	take_limit(core, "maxCallsInRequest", 16, &out->calls);
	take_limit(core, "maxObjectsInGet", 500, &out->gets);
	take_limit(core, "maxObjectsInSet", 500, &out->sets);
}

static bool account_can(const struct mr_value *account, const char *capability)
{
	const struct mr_value *can = mr_value_get(account, "accountCapabilities");

	return can && mr_value_get(can, capability);
}

/* The first account with this capability. */
static const char *find_account(const struct mr_value *accounts, const char *capability)
{
	if (!accounts || accounts->kind != MR_MAP)
		return NULL;
	for (size_t i = 0; i < accounts->map.len; i++) {
		if (account_can(&accounts->map.pairs[i].value, capability))
			return accounts->map.pairs[i].key;
	}
	return NULL;
}

static const char *non_empty(const char *text)
{
	return mr_str_is_empty(text) ? NULL : text;
}

static enum mr_code take_accounts(const struct mr_value *session, struct mr_jmap_session *out,
	struct mr_err *err)
{
	const struct mr_value *primary = mr_value_get(session, "primaryAccounts");
	const struct mr_value *accounts = mr_value_get(session, "accounts");
	const char *mail = non_empty(mr_value_text(primary, MAIL));
	const char *submission = non_empty(mr_value_text(primary, SUBMISSION));

	if (!mail)
		mail = non_empty(find_account(accounts, MAIL));
	if (!mail)
		return mr_err_set(err, MR_ENOTFOUND, "the server has no account for mail here");
	/* One that can send may not be named as the primary one. */
	if (!submission && account_can(mr_value_get(accounts, mail), SUBMISSION))
		submission = mail;
	if (!submission)
		submission = non_empty(find_account(accounts, SUBMISSION));
	out->mail_account = mail;
	out->submission_account = submission;
	return MR_OK;
}

static const char *address_of(struct mr_arena *arena, const char *url, const char *reference)
{
	return mr_str_is_empty(reference) ? NULL : mr_jmap_url(arena, url, reference);
}

enum mr_code mr_jmap_session_parse(struct mr_arena *arena, const char *url, struct mr_bytes body,
	struct mr_jmap_session *out, struct mr_err *err)
{
	struct mr_jmap_session session = { .url = mr_arena_strdup(arena, url) };
	const struct mr_value *value;
	enum mr_code rc = read_json(arena, body, MR_JMAP_SESSION_BYTES, SESSION_NODES, &value, err);

	if (rc)
		return rc;
	session.api_url = address_of(arena, url, mr_value_text(value, "apiUrl"));
	if (!session.api_url)
		return mr_err_set(err, MR_EFORMAT, "the answer is not a JMAP session object");
	rc = take_accounts(value, &session, err);
	if (rc)
		return rc;
	session.upload_url = address_of(arena, url, mr_value_text(value, "uploadUrl"));
	session.download_url = address_of(arena, url, mr_value_text(value, "downloadUrl"));
	session.event_url = address_of(arena, url, mr_value_text(value, "eventSourceUrl"));
	session.state = mr_value_text(value, "state");
	session.username = mr_value_text(value, "username");
	take_limits(value, &session.limits);
	*out = session;
	return MR_OK;
}

/* --- responses --- */

static enum mr_code no_response(struct mr_err *err)
{
	return mr_err_set(err, MR_EFORMAT, "the answer is not a JMAP response");
}

static bool take_result(const struct mr_value *from, struct mr_jmap_result *out)
{
	const struct mr_value *items = from->kind == MR_LIST ? from->list.items : NULL;

	if (!items || from->list.len != 3 || items[0].kind != MR_TEXT || items[1].kind != MR_MAP ||
		items[2].kind != MR_TEXT)
		return false;
	*out = (struct mr_jmap_result){ .name = items[0].text,
		.id = items[2].text,
		.value = &items[1] };
	return true;
}

enum mr_code mr_jmap_response_parse(struct mr_arena *arena, struct mr_bytes body,
	struct mr_jmap_response *out, struct mr_err *err)
{
	struct mr_jmap_response response = { NULL, NULL, 0 };
	const struct mr_value *list;
	const struct mr_value *value;
	enum mr_code rc = read_json(arena, body, MR_JMAP_ANSWER_BYTES, ANSWER_NODES, &value, err);

	if (rc)
		return rc;
	list = mr_value_get(value, "methodResponses");
	if (!list || list->kind != MR_LIST)
		return no_response(err);
	if (list->list.len > MR_JMAP_RESULTS)
		return mr_err_set(err, MR_EFORMAT, "the answer has more than %d results",
			MR_JMAP_RESULTS);
	response.session_state = mr_value_text(value, "sessionState");
	response.items = mr_arena_array(arena, list->list.len, sizeof(*response.items));
	for (; response.len < list->list.len; response.len++) {
		if (!take_result(&list->list.items[response.len], &response.items[response.len]))
			return no_response(err);
	}
	*out = response;
	return MR_OK;
}

/* --- pointers --- */

/* "~1" is a slash, "~0" a tilde. */
static const char *unescape(struct mr_arena *arena, const char *token, size_t len)
{
	char *text = mr_arena_strndup(arena, token, len);
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == '~' && (from[1] == '0' || from[1] == '1'))
			*to++ = *++from == '1' ? '/' : '~';
		else
			*to++ = *from;
	}
	*to = '\0';
	return text;
}

static const struct mr_value *step(const struct mr_value *value, const char *token)
{
	int64_t index;

	if (value->kind == MR_MAP)
		return mr_value_get(value, token);
	if (value->kind != MR_LIST || (token[0] == '0' && token[1]) || token[0] == '-' ||
		!mr_str_to_int(token, &index) || (uint64_t)index >= value->list.len)
		return NULL;
	return &value->list.items[index];
}

static const struct mr_value *point(struct mr_arena *arena, const struct mr_value *value,
	const char *const *tokens, size_t len);

/* What the rest of the path finds in each element; what are lists there, is joined. */
static const struct mr_value *point_all(struct mr_arena *arena, const struct mr_value *list,
	const char *const *tokens, size_t len)
{
	struct mr_value *result = mr_arena_alloc(arena, sizeof(*result));
	const struct mr_value **found =
		mr_arena_array(arena, list->list.len, sizeof(const struct mr_value *));
	size_t count = 0;

	result->kind = MR_LIST;
	for (size_t i = 0; i < list->list.len; i++) {
		found[i] = point(arena, &list->list.items[i], tokens, len);
		if (!found[i])
			return NULL;
		count += found[i]->kind == MR_LIST ? found[i]->list.len : 1;
	}
	result->list.items = mr_arena_array(arena, count, sizeof(struct mr_value));
	for (size_t i = 0; i < list->list.len; i++) {
		size_t more = found[i]->kind == MR_LIST ? found[i]->list.len : 1;
		const struct mr_value *from =
			found[i]->kind == MR_LIST ? found[i]->list.items : found[i];

		if (more)
			memcpy(result->list.items + result->list.len, from, more * sizeof(*from));
		result->list.len += more;
	}
	return result;
}

static const struct mr_value *point(struct mr_arena *arena, const struct mr_value *value,
	const char *const *tokens, size_t len)
{
	for (size_t i = 0; i < len && value; i++) {
		if (value->kind == MR_LIST && strcmp(tokens[i], "*") == 0)
			return point_all(arena, value, tokens + i + 1, len - i - 1);
		value = step(value, tokens[i]);
	}
	return value;
}

const struct mr_value *mr_jmap_point(struct mr_arena *arena, const struct mr_value *value,
	const char *path)
{
	const char *tokens[PATH_TOKENS];
	size_t len = 0;

	while (*path) {
		size_t size;

		if (*path != '/' || len == PATH_TOKENS)
			return NULL;
		size = strcspn(++path, "/");
		tokens[len++] = unescape(arena, path, size);
		path += size;
	}
	return point(arena, value, tokens, len);
}

/* --- addresses --- */

struct place {
	bool is_tls;
	const char *host; /* with its port, as it stands there */
	size_t host_len;
	const char *path; /* what follows; it may be empty */
};

static bool is_printable(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 0x7f)
			return false;
	}
	return true;
}

/* A host has nothing but these; above all no user or password. */
static bool is_host(const char *text, size_t len)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789.-_:[]";

	return len && len < 300 && strspn(text, allowed) >= len;
}

static bool find_place(const char *url, struct place *out)
{
	const char *at = url;

	if (strlen(url) > MR_JMAP_URL_BYTES || !is_printable(url))
		return false;
	out->is_tls = strncasecmp(url, "https://", 8) == 0;
	if (out->is_tls)
		at += 8;
	else if (strncasecmp(url, "http://", 7) == 0)
		at += 7;
	else
		return false;
	out->host = at;
	out->host_len = strcspn(at, "/?#");
	out->path = at + out->host_len;
	return is_host(out->host, out->host_len);
}

/* The host without its port, which `*out_port` gets; 0: no port can be read. */
static size_t split_port(const struct place *place, int64_t *out_port)
{
	size_t len = place->host_len;
	size_t digits = 0;

	while (digits < len && place->host[len - digits - 1] >= '0' &&
		place->host[len - digits - 1] <= '9')
		digits++;
	if (digits == len || place->host[len - digits - 1] != ':') {
		*out_port = place->is_tls ? 443 : 80;
		return len;
	}
	/* A colon alone means the usual port too. */
	*out_port = digits > 5 ? -1
		: digits       ? strtol(place->host + len - digits, NULL, 10)
			       : (place->is_tls ? 443 : 80);
	return len - digits - 1;
}

bool mr_jmap_url_is_same_host(const char *a, const char *b)
{
	struct place left, right;
	int64_t left_port, right_port;
	size_t len;

	if (!find_place(a, &left) || !find_place(b, &right))
		return false;
	len = split_port(&left, &left_port);
	return left.is_tls == right.is_tls && split_port(&right, &right_port) == len && len &&
		left_port == right_port && left_port > 0 &&
		strncasecmp(left.host, right.host, len) == 0;
}

/* The part of `reference` that follows a host, and whether it names one; NULL: it names something
 * else than a place of http. */
static const char *without_host(const char *reference, bool *out_has_host)
{
	struct place place;
	size_t scheme = strcspn(reference, ":/?#{");

	*out_has_host = true;
	if (strncmp(reference, "//", 2) == 0)
		return reference + 2 + strcspn(reference + 2, "/?#");
	if (reference[scheme] == ':')
		return find_place(reference, &place) ? place.path : NULL;
	*out_has_host = false;
	return reference;
}

/* How much of the base's own path stays in front of `path`. */
static size_t base_part(const char *base, const char *path)
{
	size_t len = strcspn(base, "?#");

	if (*path == '/')
		return 0;
	if (*path == '\0' || *path == '#')
		return strcspn(base, "#");
	while (*path != '?' && len && base[len - 1] != '/')
		len--;
	return len;
}

const char *mr_jmap_url(struct mr_arena *arena, const char *base, const char *reference)
{
	struct place place;
	const char *path;
	bool has_host;
	size_t stays;
	char *url;

	if (!find_place(base, &place) || strlen(reference) > MR_JMAP_URL_BYTES ||
		!is_printable(reference))
		return NULL;
	path = without_host(reference, &has_host);
	if (!path)
		return NULL;
	stays = has_host ? 0 : base_part(place.path, path);
	url = mr_arena_printf(arena, "%s%.*s%s%.*s%.*s", place.is_tls ? "https://" : "http://",
		(int)place.host_len, place.host, *(stays ? place.path : path) == '/' ? "" : "/",
		(int)stays, place.path, (int)strcspn(path, "#"), path);
	return strlen(url) <= MR_JMAP_URL_BYTES ? url : NULL;
}

static void put_encoded(struct mr_buf *out, const char *text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		bool is_plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
			strchr("-._~", c);

		if (is_plain) {
			mr_buf_putc(out, (char)c);
		} else {
			mr_buf_putc(out, '%');
			mr_buf_putc(out, digits[c >> 4]);
			mr_buf_putc(out, digits[c & 15]);
		}
	}
}

static const char *value_of(const struct mr_jmap_variable *values, const char *name, size_t len)
{
	for (; values->name; values++) {
		if (strlen(values->name) == len && memcmp(values->name, name, len) == 0)
			return values->value ? values->value : "";
	}
	return "";
}

const char *mr_jmap_url_expand(struct mr_arena *arena, const char *template,
	const struct mr_jmap_variable *values)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&out, MR_JMAP_URL_BYTES);
	while (*template) {
		size_t literal = strcspn(template, "{");
		size_t name = 0;

		mr_buf_add(&out, template, literal);
		template += literal;
		if (!*template)
			break;
		name = strcspn(template + 1, "}");
		if (!template[1 + name])
			return NULL;
		put_encoded(&out, value_of(values, template + 1, name));
		template += name + 2;
	}
	return out.failed ? NULL : mr_arena_strdup(arena, mr_buf_text(&out));
}
