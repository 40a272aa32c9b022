/* surface/web/page_history.c - pages: what happened in a project, a commit, and a file at a time.
 */
#include "op/nouns.h"
#include "surface/web/pages.h"

#include <string.h>

const struct mr_web_page mr_web_page_history = {
	.pattern = "/mail/p/{project_key}/history",
	.template = "history.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT, { "log", &mr_op_team_history },
		{ 0 } },
};

const struct mr_web_page mr_web_page_commit = {
	.pattern = "/mail/p/{project_key}/history/commit/{sha}",
	.template = "commit.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT,
		{ "commit", &mr_op_team_history_commit }, { 0 } },
};

/* The directories above a place, from the uppermost on. */
static enum mr_code fill_crumbs(struct mr_web_view *view)
{
	const char *path = mr_web_value(view, "path");
	struct mr_out *out = &view->out;

	mr_out_list(out, "crumbs");
	for (const char *at = path, *slash; at && (slash = strchr(at, '/')); at = slash + 1) {
		mr_out_map(out, NULL);
		mr_out_text(out, "name",
			mr_arena_strndup(view->req->arena, at, (size_t)(slash - at)));
		mr_out_text(out, "path",
			mr_arena_strndup(view->req->arena, path, (size_t)(slash - path)));
		mr_out_end(out);
	}
	mr_out_end(out);
	return MR_OK;
}

const struct mr_web_page mr_web_page_file = {
	.pattern = "/mail/p/{project_key}/history/files",
	.template = "file.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT, { "looked", &mr_op_team_history_file },
		{ 0 } },
	.fill = fill_crumbs,
};
