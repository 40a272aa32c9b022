/* tests/unit/op/test_tools_work.c */
#include "op/work/tools_work.h"

#include "../workspace/desk.h"
#include "app/metrics.h"
#include "app/principal.h"
#include "app/settings.h"
#include "base/attr.h"
#include "op/contract.h"
#include "op/dispatch.h"
#include "op/work/work_nouns.h"
#include "test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct room {
	struct desk desk; /* a workspace in the working directory */
	struct mr_app app;
	struct mr_call call;
};

/* With workspace.root as `setting` says, or NULL. */
static void set_up(struct room *room, const char *setting)
{
	static const char *const nothing[] = { NULL };
	const char *items[] = { setting };
	struct mr_texts assignments = { items, setting != NULL };
	struct mr_settings_sources sources = { .assignments = &assignments,
		.variables = nothing,
		.cwd = AT_FDCWD };
	struct mr_err err;

	desk_open(&room->desk);
	room->app = (struct mr_app){ 0 };
	CHECK_OK(mr_settings_load(room->desk.cx.arena, &sources, &room->app.settings, &err), err);
	room->call = (struct mr_call){ .cx = room->desk.cx, .app = &room->app };
}

static bool is_tool(const struct room *room, const struct mr_op *op)
{
	return mr_contract_is_tool(room->call.app, op);
}

static void without_a_name_there_are_none(void)
{
	struct room room;

	set_up(&room, NULL);
	CHECK_OK(mr_tools_work_begin(&room.call, NULL), room.call.cx.err);
	CHECK(!room.call.app->workspace);
	CHECK(!is_tool(&room, &mr_op_work_search));
	desk_close(&room.desk);
}

static void an_option_names_it(void)
{
	struct room room;

	set_up(&room, NULL);
	CHECK(mkdir("inside", 0700) == 0);
	CHECK_OK(mr_tools_work_begin(&room.call, "inside"), room.call.cx.err);
	CHECK_STR(room.call.app->workspace, room.desk.work->root);
	CHECK(!room.app.workspace); /* others' program is as it was */
	CHECK(is_tool(&room, &mr_op_work_search));
	CHECK(is_tool(&room, &mr_op_work_status));
	/* What reads any file, or makes a workspace, is a person's. */
	CHECK(!is_tool(&room, &mr_op_work_import));
	CHECK(!is_tool(&room, &mr_op_work_init));
	desk_close(&room.desk);
}

static void the_setting_names_it(void)
{
	struct room room;

	set_up(&room, "workspace.root=.");
	CHECK_OK(mr_tools_work_begin(&room.call, NULL), room.call.cx.err);
	CHECK_STR(room.call.app->workspace, room.desk.work->root);
	desk_close(&room.desk);
}

static void a_wrong_name_is_refused(void)
{
	struct room room;

	set_up(&room, NULL);
	CHECK(mr_tools_work_begin(&room.call, "nowhere") != MR_OK);
	CHECK_STR(room.call.cx.err.word, "workspace_not_found");
	CHECK(strstr(room.call.cx.err.msg,
		"nowhere, which workspace.root or --workspace names, is not there"));
	CHECK(mr_tools_work_begin(&room.call, "/") != MR_OK);
	CHECK_STR(room.call.cx.err.word, "workspace_not_found");
	CHECK(!room.call.app->workspace);
	desk_close(&room.desk);
}

/* A call of a tool: what it failed with, or MR_OK. */
static enum mr_code call_tool(struct room *room, const struct mr_op *op)
{
	struct mr_call call = mr_dispatch_call(room->call.app, room->desk.cx.arena);
	struct mr_out out;
	enum mr_code rc;

	call.principal = room->call.principal;
	mr_out_init_tree(&out, room->desk.cx.arena);
	rc = mr_dispatch(&call, op, NULL, &out);
	room->call.cx.err = call.cx.err;
	return rc;
}

/* A JWT's claim names agents of the team, and nobody's e-mail. */
static void a_token_for_agents_is_not_for_mail(void)
{
	struct mr_principal principal = { .name = "sub:a", .roles = MR_ROLE_READER };
	struct room room;

	set_up(&room, NULL);
	mr_work_close(room.desk.work); /* which holds it alone */
	room.desk.work = NULL;
	room.app.metrics = mr_metrics_new();
	room.app.clock = room.desk.cx.clock;
	room.app.rand = room.desk.cx.rand;
	CHECK_OK(mr_tools_work_begin(&room.call, "."), room.call.cx.err);
	room.call.principal = &principal;
	CHECK_OK(call_tool(&room, &mr_op_work_status), room.call.cx.err);
	principal.is_bound = true;
	CHECK_INT(call_tool(&room, &mr_op_work_status), MR_EPERM);
	CHECK_STR(room.call.cx.err.msg,
		"work_status is not for a token that names the agents it is for");
	mr_metrics_free(room.app.metrics);
	desk_close(&room.desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(without_a_name_there_are_none),
		TEST(an_option_names_it),
		TEST(the_setting_names_it),
		TEST(a_wrong_name_is_refused),
		TEST(a_token_for_agents_is_not_for_mail),
	};

	return test_main(tests, MR_LEN(tests));
}
