/*
 * surface/http/admit.c - Decides from its headers alone whether a request is accepted, and with
 * which status it is refused otherwise.
 */
#include "surface/http/admit.h"

static enum mr_http_verdict refuse(struct mr_http_response *resp, int status, const char *detail)
{
	mr_http_response_error(resp, status, "%s", detail);
	return MR_HTTP_REFUSED;
}

static enum mr_http_verdict admit_source(const struct mr_http_rules *rules, const char *local,
	struct mr_http_request *req, struct mr_http_response *resp)
{
	if (!mr_http_host_check_host(&rules->guard, mr_http_request_header(req, "Host"), local))
		return refuse(resp, 403, "This Host is not served here");
	req->is_foreign = !mr_http_host_check_origin(&rules->guard,
		mr_http_request_header(req, "Origin"), local);
	if (req->is_foreign && !mr_http_cors_is_any(&rules->cors))
		return refuse(resp, 403, "Requests from this Origin are not allowed");
	mr_http_cors_mark(&rules->cors, req, resp);
	return mr_http_cors_preflight(&rules->cors, req, resp) ? MR_HTTP_REFUSED : MR_HTTP_WELCOME;
}

static enum mr_http_verdict admit_route(const struct mr_http_rules *rules,
	struct mr_http_request *req, struct mr_http_response *resp)
{
	int status = mr_http_route_match(req->arena, rules->routes, rules->routes_len, req->method,
		req->path, &req->match);

	if (req->match.route)
		req->pattern = req->match.route->pattern;
	/* Before the route's status: clients without access must not learn which paths exist. */
	if (mr_http_access_enter(rules->access, req, resp) == MR_HTTP_TURNED)
		return MR_HTTP_REFUSED;
	switch (status) {
	case 200:
		return MR_HTTP_WELCOME;
	case 404:
		return refuse(resp, 404, "Not Found");
	case 405:
		mr_http_response_header(resp, "Allow", req->match.allow);
		return refuse(resp, 405, "Method Not Allowed");
	case 414:
		return refuse(resp, 414, "The path is too long");
	default:
		return refuse(resp, 400, "The path cannot be read");
	}
}

void mr_http_admit_too_long(const struct mr_http_request *req, size_t max,
	struct mr_http_response *resp)
{
	mr_http_response_error(resp, req->match.route->flags & MR_ROUTE_LONG_IS_422 ? 422 : 413,
		"The body is larger than %zu bytes", max);
}

static enum mr_http_verdict admit_length(size_t max, const struct mr_http_request *req,
	struct mr_http_response *resp)
{
	const char *text = mr_http_request_header(req, "Content-Length");
	int64_t len;

	if (!text)
		return MR_HTTP_WELCOME;
	if (!mr_str_to_int(text, &len) || len < 0) {
		refuse(resp, 400, "Content-Length is not a length");
		return MR_HTTP_CUT;
	}
	if ((uint64_t)len <= max)
		return MR_HTTP_WELCOME;
	mr_http_admit_too_long(req, max, resp);
	return (uint64_t)len > (uint64_t)max + MR_HTTP_DRAIN_BYTES ? MR_HTTP_CUT : MR_HTTP_REFUSED;
}

static enum mr_http_verdict admit(const struct mr_http_rules *rules,
	const struct mr_http_arrival *arrival, struct mr_http_request *req,
	struct mr_http_response *resp)
{
	const char *why = arrival->malformed ? arrival->malformed
					     : mr_http_host_check_framing(&arrival->framing);
	enum mr_http_verdict verdict;

	if (why) {
		/* After a framing error it is unknown where this request ends. */
		refuse(resp, 400, why);
		return MR_HTTP_CUT;
	}
	if (arrival->header_bytes > rules->max_header_bytes) {
		mr_http_response_error(resp, 431, "The headers are larger than %zu bytes",
			rules->max_header_bytes);
		return MR_HTTP_REFUSED;
	}
	verdict = admit_source(rules, arrival->local, req, resp);
	if (verdict == MR_HTTP_WELCOME)
		verdict = admit_route(rules, req, resp);
	if (verdict == MR_HTTP_WELCOME && arrival->is_query_bad)
		verdict = refuse(resp, 400, "The query cannot be read");
	if (verdict == MR_HTTP_WELCOME)
		verdict = admit_length(rules->max_body_bytes, req, resp);
	return verdict;
}

enum mr_http_verdict mr_http_admit(const struct mr_http_rules *rules,
	const struct mr_http_arrival *arrival, struct mr_http_request *req,
	struct mr_http_response *resp)
{
	const char *id = mr_http_request_header(req, "X-Request-Id");
	enum mr_http_verdict verdict = admit(rules, arrival, req, resp);

	if (id && mr_http_host_check_is_request_id(id))
		req->id = id;
	/* The client sent "Expect: 100-continue" and waits: refuse it before it sends the body. */
	if (verdict == MR_HTTP_REFUSED && mr_http_request_header(req, "Expect"))
		verdict = MR_HTTP_CUT;
	return verdict;
}
