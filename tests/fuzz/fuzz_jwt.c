/* Nothing is accepted that was not signed: a token is good only with a key that fits it, and never
 * when one of its bytes changes. The input is a token, a line end, and a key set. */
#include "text/jwt.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static bool is_good(struct mr_arena *arena, const char *token, const struct mr_jwt_keys *keys)
{
	struct mr_jwt_rules rules = { .algs = ~0u, .now_s = 1700000000 };
	const struct mr_value *claims = NULL;
	struct mr_err err;
	enum mr_code rc = mr_jwt_verify(arena, token, keys, &rules, &claims, &err);

	if ((rc == MR_OK) != (claims && claims->kind == MR_MAP))
		abort();
	if (rc && rc != MR_EAUTH && rc != MR_ENOTFOUND)
		abort();
	return rc == MR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const uint8_t *line = len ? memchr(data, '\n', len) : NULL;
	size_t token_len = line ? (size_t)(line - data) : len;
	char *token = mr_arena_strndup(arena, len ? (const char *)data : "", token_len);
	const struct mr_jwt_keys *keys;
	struct mr_err err;

	if (is_good(arena, token, mr_jwt_keys_secret(arena, "not s3cret")))
		abort();
	if (!line ||
		mr_jwt_keys_parse(arena, mr_bytes_of(line + 1, len - token_len - 1), &keys, &err))
		return 0;
	if (is_good(arena, token, keys)) {
		token[0] ^= 1;
		if (is_good(arena, token, keys))
			abort();
	}
	return 0;
}
