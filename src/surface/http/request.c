/*
 * surface/http/request.c - Accessors for a request's parameters and headers, setters for its
 * response, and the request log line.
 */
#include "surface/http/request.h"

#include "base/buf.h"
#include "base/log.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DETAIL_BYTES = 64 * 1024, LOGGED_PATH_BYTES = 256 };

const char *mr_http_request_param(const struct mr_http_request *req, const char *name)
{
	for (size_t i = 0; i < req->match.len; i++) {
		if (strcmp(req->match.params[i].name, name) == 0)
			return req->match.params[i].value;
	}
	return NULL;
}

const char *mr_http_request_query(const struct mr_http_request *req, const char *name)
{
	for (size_t i = 0; i < req->query_len; i++) {
		if (strcmp(req->query[i].name, name) == 0)
			return req->query[i].value;
	}
	return NULL;
}

static struct mr_http_header *find(const struct mr_http_header *headers, size_t len,
	const char *name)
{
	for (size_t i = 0; i < len; i++) {
		if (mr_str_eq_nocase(headers[i].name, name))
			return (struct mr_http_header *)&headers[i];
	}
	return NULL;
}

const char *mr_http_request_header(const struct mr_http_request *req, const char *name)
{
	const struct mr_http_header *header = find(req->headers, req->headers_len, name);

	return header ? header->value : NULL;
}

void mr_http_request_make_id(uint64_t n, char out[MR_HTTP_ID_BYTES])
{
	static const char digits[] = "0123456789abcdef";

	/* Multiplying by an odd number is one-to-one. */
	n *= 0x9e3779b97f4a7c15u;
	for (int i = MR_HTTP_ID_BYTES - 2; i >= 0; i--) {
		out[i] = digits[n & 15];
		n >>= 4;
	}
	out[MR_HTTP_ID_BYTES - 1] = '\0';
}

void mr_http_request_log(const struct mr_http_request *req, int status, int64_t duration_us)
{
	char path[LOGGED_PATH_BYTES];
	const struct mr_log_field fields[] = {
		{ .key = "request_id", .text = req->id },
		{ .key = "method", .text = req->method },
		{ .key = "path", .text = path },
		{ .key = "status", .number = status },
		{ .key = "duration_ms", .number = duration_us / 1000 },
		{ .key = "client_ip", .text = req->client_ip },
	};

	snprintf(path, sizeof(path), "%s", req->path);
	mr_log_fields(MR_LOG_INFO, "http_request", fields, MR_LEN(fields));
}

static bool has_control(const char *value)
{
	for (; *value; value++) {
		if ((unsigned char)*value < ' ' || *value == 0x7f)
			return true;
	}
	return false;
}

void mr_http_response_add_header(struct mr_http_response *resp, const char *name, const char *value)
{
	assert(resp->headers_len < MR_HTTP_HEADERS_MAX);
	if (!has_control(value) && resp->headers_len < MR_HTTP_HEADERS_MAX)
		resp->headers[resp->headers_len++] = (struct mr_http_header){ name, value };
}

void mr_http_response_header(struct mr_http_response *resp, const char *name, const char *value)
{
	struct mr_http_header *header = find(resp->headers, resp->headers_len, name);

	if (!header)
		mr_http_response_add_header(resp, name, value);
	else if (!has_control(value))
		header->value = value;
}

const char *mr_http_response_get_header(const struct mr_http_response *resp, const char *name)
{
	const struct mr_http_header *header = find(resp->headers, resp->headers_len, name);

	return header ? header->value : NULL;
}

void mr_http_response_body(struct mr_http_response *resp, int status, const char *content_type,
	struct mr_bytes body)
{
	resp->status = status;
	resp->body = body;
	mr_http_response_header(resp, "Content-Type", content_type);
}

void mr_http_response_json(struct mr_http_response *resp, int status, struct mr_bytes json)
{
	mr_http_response_body(resp, status, "application/json", json);
}

void mr_http_response_error(struct mr_http_response *resp, int status, const char *fmt, ...)
{
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };
	const char *detail;
	va_list ap;

	va_start(ap, fmt);
	detail = mr_arena_vprintf(resp->arena, fmt, ap);
	va_end(ap);
	mr_buf_init(&json, DETAIL_BYTES);
	mr_buf_puts(&json, "{\"detail\":");
	mr_buf_put_json(&json, detail, strlen(detail), false);
	mr_buf_puts(&json, "}");
	if (json.failed) {
		mr_buf_clear(&json);
		mr_buf_puts(&json, "{\"detail\":\"the error's text is too long\"}");
	}
	mr_http_response_json(resp, status,
		mr_bytes_of(mr_arena_memdup(resp->arena, json.data, json.len), json.len));
}

void mr_http_response_fail(struct mr_http_response *resp, const struct mr_err *err)
{
	mr_http_response_error(resp, mr_code_http_status(err->code), "%s", err->msg);
}
