/* surface/web/csrf.c - Proves that a form which was posted is one of our pages'. */
#include "surface/web/csrf.h"

#include "app/principal.h"
#include "base/str.h"
#include "text/digest.h"
#include "text/token.h"

const char *mr_web_csrf(const struct mr_web_csrf_key *key, const struct mr_http_request *req)
{
	const char *who = mr_arena_printf(req->arena, "%s\n%s", req->principal->name,
		req->session ? req->session : "");
	uint8_t code[MR_DIGEST_BYTES];
	size_t len = mr_digest_hmac(MR_DIGEST_SHA256, mr_bytes_of(key->bytes, sizeof(key->bytes)),
		mr_bytes_text(who), code);

	return mr_token_base64url(req->arena, mr_bytes_of(code, len));
}

bool mr_web_csrf_is_good(const struct mr_web_csrf_key *key, const struct mr_http_request *req,
	const char *given)
{
	const char *site = mr_http_request_header(req, "Sec-Fetch-Site");

	if (site && !mr_str_eq(site, "same-origin") && !mr_str_eq(site, "none"))
		return false;
	return given && !req->is_foreign && mr_str_eq_secret(mr_web_csrf(key, req), given);
}
