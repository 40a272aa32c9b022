/* tests/unit/op/team_app.c - see team_app.h. */
#include "team_app.h"

#include "app/metrics.h"
#include "app/settings.h"
#include "op/dispatch.h"
#include "op/nouns.h"
#include "op/team/team_home.h"
#include "test.h"
#include "text/json.h"

#include <fcntl.h>

void team_app_open(struct team_app *t)
{
	const char *assignments[] = { NULL, NULL };
	struct mr_texts texts = { assignments, 1 };
	struct mr_settings_sources sources = { .assignments = &texts, .cwd = AT_FDCWD };

	*t = (struct team_app){ .arena = mr_arena_new() };
	assignments[0] = mr_arena_printf(t->arena, "storage.root=%s", test_dir());
	t->app = (struct mr_app){
		.table = &mr_nouns,
		.metrics = mr_metrics_new(),
		.team = mr_team_home_new(),
		.clock = mr_clock_system(),
		.rand = mr_rand_system(),
	};
	t->call = mr_dispatch_call(&t->app, t->arena);
	t->call.may_write = true;
	CHECK_OK(mr_settings_load(t->arena, &sources, &t->app.settings, &t->call.cx.err),
		t->call.cx.err);
	CHECK_OK(mr_team_home_open(&t->call, &t->team), t->call.cx.err);
}

void team_app_close(struct team_app *t)
{
	mr_team_home_free(t->app.team);
	mr_metrics_free(t->app.metrics);
	mr_arena_free(t->arena);
}

const struct mr_value *team_app_run(struct team_app *t, const char *op, const char *json)
{
	const struct mr_value *sent;
	struct mr_out out;

	CHECK_OK(mr_json_parse(t->arena, mr_bytes_text(json), NULL, &sent, &t->call.cx.err),
		t->call.cx.err);
	mr_out_init_tree(&out, t->arena);
	CHECK_OK(mr_dispatch(&t->call, mr_op_find(&mr_nouns, op), sent, &out), t->call.cx.err);
	return mr_out_tree(&out);
}

void team_app_join(struct team_app *t, const char *project_key, const char *name)
{
	team_app_run(t, "register_agent",
		mr_arena_printf(t->arena,
			"{\"project_key\":\"%s\",\"name\":\"%s\",\"program\":\"x\",\"model\":"
			"\"y\"}",
			project_key, name));
}
