/* surface/web/page_file.c - pages: files that came with messages, and one of them as it is. */
#include "base/str.h"
#include "op/nouns.h"
#include "surface/web/pages.h"
#include "text/token.h"

#include <string.h>

const struct mr_web_page mr_web_page_attachments = {
	.pattern = "/mail/p/{project_key}/attachments",
	.template = "attachments.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT,
		{ "messages", &mr_op_team_latest, .fixed = "limit=50&only=attachments" }, { 0 } },
};

/* Pictures whose bytes nothing can run in. */
static bool is_picture(const char *media_type)
{
	static const char *const types[] = { "image/png", "image/jpeg", "image/gif", "image/webp",
		"image/bmp" };

	for (size_t i = 0; i < MR_LEN(types); i++) {
		if (mr_str_eq(types[i], media_type))
			return true;
	}
	return false;
}

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

/* The decoder reads the other alphabet, and no padding. */
static enum mr_code decode(struct mr_web_view *view, const char *base64, struct mr_bytes *out)
{
	char *text = mr_arena_strdup(view->req->arena, base64);
	size_t len = strcspn(text, "=");

	for (size_t i = 0; i < len; i++)
		text[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
	text[len] = '\0';
	return mr_token_base64url_decode(view->req->arena, text, out, &view->err);
}

/* A picture is shown, everything else is saved: whatever it is, it runs nothing here. */
static enum mr_code send_file(struct mr_web_view *view)
{
	const struct mr_value *file;
	struct mr_bytes data;
	const char *type;
	bool is_shown;
	enum mr_code rc = mr_web_run(view, &mr_op_team_attachment, NULL, &file);

	if (!rc)
		rc = decode(view, text_of(file, "data_base64"), &data);
	if (rc)
		return rc;
	type = text_of(file, "media_type");
	is_shown = is_picture(type);
	mr_http_response_header(view->resp, "Content-Disposition",
		mr_arena_printf(view->req->arena, "%s; filename=\"%s\"",
			is_shown ? "inline" : "attachment", text_of(file, "name")));
	mr_http_response_header(view->resp, "Content-Security-Policy",
		"default-src 'none'; sandbox");
	mr_http_response_header(view->resp, "Cross-Origin-Resource-Policy", "same-origin");
	mr_http_response_body(view->resp, 200, is_shown ? type : "application/octet-stream", data);
	return MR_OK;
}

const struct mr_web_page mr_web_page_attachment = {
	.pattern = "/mail/p/{project_key}/message/{message_id}/file/{number}",
	.nav = "projects",
	.fill = send_file,
};
