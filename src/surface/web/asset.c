/* surface/web/asset.c - Serves the built-in files that pages load. */
#include "surface/web/asset.h"

#include "base/str.h"
#include "surface/http/request.h"
#include "surface/web/files.h"
#include "text/digest.h"

#include <string.h>

enum { DIGITS = 16 };

const char *mr_web_asset_base(struct mr_arena *arena)
{
	struct mr_digest *digest = mr_digest_begin_sha256();

	for (size_t i = 0; i < mr_web_static_files_count; i++) {
		const struct mr_web_static_file *file = &mr_web_static_files[i];

		mr_digest_add(digest, file->name, strlen(file->name) + 1);
		mr_digest_add(digest, file->data, file->len);
	}
	return mr_arena_printf(arena, "/mail/static/%.*s", DIGITS,
		mr_digest_end_hex(arena, digest));
}

static const char *type_of(const char *name)
{
	static const struct {
		const char *end, *type;
	} types[] = {
		{ ".css", "text/css; charset=utf-8" },
		{ ".js", "text/javascript; charset=utf-8" },
		{ ".svg", "image/svg+xml" },
	};

	for (size_t i = 0; i < MR_LEN(types); i++) {
		if (mr_str_ends(name, types[i].end))
			return types[i].type;
	}
	return "application/octet-stream";
}

static const struct mr_web_static_file *find(const char *name)
{
	for (size_t i = 0; i < mr_web_static_files_count; i++) {
		if (strcmp(mr_web_static_files[i].name, name) == 0)
			return &mr_web_static_files[i];
	}
	return NULL;
}

/* Browsers list gzip by name, and never with q=0. */
static bool takes_gzip(const struct mr_http_request *req)
{
	const char *encodings = mr_http_request_header(req, "Accept-Encoding");

	return encodings && strstr(encodings, "gzip") && !strstr(encodings, "gzip;q=0");
}

void mr_web_asset_show(const struct mr_http_request *req, struct mr_http_response *resp)
{
	const char *base = req->match.route->arg;
	const struct mr_web_static_file *file = find(mr_http_request_param(req, "name"));

	/* Of another version: what it would get must not be kept under this address. */
	if (!file || !mr_str_ends(base, mr_http_request_param(req, "digest"))) {
		mr_http_response_error(resp, 404, "There is no such file in this version");
		return;
	}
	mr_http_response_header(resp, "Cache-Control", "public, max-age=31536000, immutable");
	mr_http_response_header(resp, "Vary", "Accept-Encoding");
	if (takes_gzip(req)) {
		mr_http_response_header(resp, "Content-Encoding", "gzip");
		mr_http_response_body(resp, 200, type_of(file->name),
			mr_bytes_of(file->packed, file->packed_len));
	} else {
		mr_http_response_body(resp, 200, type_of(file->name),
			mr_bytes_of(file->data, file->len));
	}
}
