/* surface/web/home.c - pages: Home, where a person begins, and Open, which the palette asks. */
#include "op/nouns.h"
#include "surface/web/pages.h"
#include "surface/web/view.h"

/* A preview builds every mail: of a longer queue only its length is told. */
enum { QUEUE_READ = 50 };

static int64_t number_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_INT ? value->integer : 0;
}

/* How much e-mail waits for approval. A workspace that cannot be asked now is no reason to show
 * nothing: its own pages say why. */
static enum mr_code fill_home(struct mr_web_view *view)
{
	const struct mr_value *list, *queue, *required = NULL;
	int64_t queued = 0, waiting = 0;

	if (!view->web->app->workspace)
		return MR_OK;
	if (!mr_web_run(view, &mr_op_work_push_list, NULL, &list))
		queued = number_of(list, "count");
	if (queued > QUEUE_READ) {
		waiting = queued;
	} else if (queued && !mr_web_run(view, &mr_op_work_push, NULL, &queue)) {
		required = mr_value_get(queue, "approval_required");
		waiting = required && required->boolean ? number_of(queue, "waiting_count") : 0;
	}
	view->err = (struct mr_err){ 0 };
	mr_out_int(&view->out, "approvals", waiting);
	return MR_OK;
}

const struct mr_web_page mr_web_page_home = {
	.pattern = "/mail",
	.template = "home.html",
	.nav = "home",
	.asks = (const struct mr_web_ask[]){ { "attention", &mr_op_team_attention },
		{ "latest", &mr_op_team_latest, .fixed = "limit=8", .may_fail = true }, { 0 } },
	.fill = fill_home,
};

const struct mr_web_page mr_web_page_open = {
	.pattern = "/mail/open",
	.template = "open.html",
	.asks = (const struct mr_web_ask[]){ { "found", &mr_op_team_find }, { 0 } },
};
