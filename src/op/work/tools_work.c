/* op/work/tools_work.c - Finds the workspace that a server was given. */
#include "op/work/tools_work.h"

#include "app/settings.h"
#include "op/work/contract_work.h"

enum mr_code mr_tools_work_begin(struct mr_call *call, const char *dir)
{
	struct mr_app *app;
	const char *root = NULL;
	enum mr_code rc = MR_OK;

	if (!dir)
		rc = mr_settings_path(call->app->settings, MR_CONTRACT_WORK_ROOT, &dir,
			&call->cx.err);
	if (rc || !*dir)
		return rc;
	rc = mr_contract_work_find(&call->cx, dir, &root);
	if (rc)
		return rc;
	app = mr_arena_memdup(call->cx.arena, call->app, sizeof(*app));
	app->workspace = root;
	call->app = app;
	return MR_OK;
}
