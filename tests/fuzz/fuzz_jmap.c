/*
 * tests/fuzz/fuzz_jmap.c - any bytes of a server, as session, response, address, template and
 * pointer: what is taken stays on the host, and what a pointer finds is no larger than its tree.
 */
#include "text/jmap.h"

#include "text/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char base[] = "https://host.example:8443/jmap/session?x";

static void check_url(const char *url)
{
	if (url &&
		(!mr_jmap_url_is_same_host(url, base) || strlen(url) > MR_JMAP_URL_BYTES ||
			strpbrk(url, " \r\n#")))
		abort();
}

static void check_session(struct mr_arena *arena, struct mr_bytes body)
{
	struct mr_jmap_session session;
	struct mr_err err;

	if (mr_jmap_session_parse(arena, base, body, &session, &err)) {
		if ((err.code != MR_EFORMAT && err.code != MR_ENOTFOUND) || !*err.msg)
			abort();
		return;
	}
	check_url(session.api_url);
	check_url(session.upload_url);
	check_url(session.download_url);
	check_url(session.event_url);
	if (!session.api_url || !session.mail_account || !*session.mail_account ||
		session.limits.calls < 1 || session.limits.gets < 1 || session.limits.sets < 1 ||
		session.limits.request_bytes < 1 || session.limits.upload_bytes < 1)
		abort();
}

static size_t count(const struct mr_value *value)
{
	size_t all = 1;

	for (size_t i = 0; value->kind == MR_LIST && i < value->list.len; i++)
		all += count(&value->list.items[i]);
	for (size_t i = 0; value->kind == MR_MAP && i < value->map.len; i++)
		all += count(&value->map.pairs[i].value);
	return all;
}

static void check_pointer(struct mr_arena *arena, const struct mr_value *value, const char *path)
{
	const struct mr_value *found = mr_jmap_point(arena, value, path);

	if (found && count(found) > count(value))
		abort();
}

static void check_response(struct mr_arena *arena, struct mr_bytes body)
{
	struct mr_jmap_response response;
	struct mr_err err;

	if (mr_jmap_response_parse(arena, body, &response, &err)) {
		if (err.code != MR_EFORMAT || !*err.msg)
			abort();
		return;
	}
	for (size_t i = 0; i < response.len; i++) {
		if (response.items[i].value->kind != MR_MAP)
			abort();
		check_pointer(arena, response.items[i].value, response.items[i].id);
		check_pointer(arena, response.items[i].value, "/list/*/a/*");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *text = mr_arena_strndup(arena, len ? (const char *)data : "", len);
	const struct mr_jmap_variable values[] = { { "a", text }, { NULL, NULL } };
	const char *url = mr_jmap_url(arena, base, text);
	const char *expanded;

	check_session(arena, mr_bytes_of(data, len));
	check_response(arena, mr_bytes_of(data, len));
	check_url(url);
	/* What was made once is the same again. */
	if (url && !strchr(url, '{')) {
		const char *again = mr_jmap_url(arena, base, url);

		if (!again || strcmp(url, again) != 0)
			abort();
	}
	expanded = mr_jmap_url_expand(arena, text, values);
	if (expanded && strlen(expanded) > MR_JMAP_URL_BYTES)
		abort();
	url = mr_jmap_url_expand(arena, "https://host.example:8443/{a}", values);
	if (url && !mr_jmap_url_is_same_host(url, base))
		abort();
	return 0;
}
