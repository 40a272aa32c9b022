/* tests/unit/op/test_watching.c - who waits for mail is told, and costs no more the longer it
 * waits. */
#include "app/metrics.h"
#include "app/settings.h"
#include "op/dispatch.h"
#include "op/nouns.h"
#include "op/team/team_home.h"
#include "team/store/watch.h"
#include "test.h"
#include "text/json.h"

#include <fcntl.h>

enum { RINGS = 2000, BYTES = 64 << 10 };

struct fixture {
	struct mr_arena *arena;
	struct mr_app app;
	struct mr_call call;
	struct mr_team *team;
	int rings; /* that are left */
};

static const struct mr_value *run(struct fixture *f, const char *name, const char *json)
{
	const struct mr_value *sent;
	struct mr_out out;

	CHECK_OK(mr_json_parse(f->arena, mr_bytes_text(json), NULL, &sent, &f->call.cx.err),
		f->call.cx.err);
	mr_out_init_tree(&out, f->arena);
	CHECK_OK(mr_dispatch(&f->call, mr_op_find(&mr_nouns, name), sent, &out), f->call.cx.err);
	return mr_out_tree(&out);
}

static void set_up(struct fixture *f)
{
	const char *assignments[] = { NULL, NULL };
	struct mr_texts texts = { assignments, 1 };
	struct mr_settings_sources sources = { .assignments = &texts, .cwd = AT_FDCWD };

	*f = (struct fixture){ .arena = mr_arena_new(), .rings = RINGS };
	assignments[0] = mr_arena_printf(f->arena, "storage.root=%s", test_dir());
	f->app = (struct mr_app){
		.table = &mr_nouns,
		.metrics = mr_metrics_new(),
		.team = mr_team_home_new(),
		.clock = mr_clock_system(),
		.rand = mr_rand_system(),
	};
	f->call = mr_dispatch_call(&f->app, f->arena);
	f->call.may_write = true;
	CHECK_OK(mr_settings_load(f->arena, &sources, &f->app.settings, &f->call.cx.err),
		f->call.cx.err);
	CHECK_OK(mr_team_home_open(&f->call, &f->team), f->call.cx.err);
	run(f, "register_agent",
		"{\"project_key\":\"/p/b\",\"name\":\"GreenCastle\",\"program\":\"x\","
		"\"model\":\"y\"}");
}

static void tear_down(struct fixture *f)
{
	mr_team_home_free(f->app.team);
	mr_metrics_free(f->app.metrics);
	mr_arena_free(f->arena);
}

/* Between a look and the wait after it, somebody rings: so each ring brings exactly one look. */
static bool ring(void *arg)
{
	struct fixture *f = arg;

	mr_team_watch_ring(f->team);
	return f->rings-- == 0;
}

static void waiting_takes_no_memory_for_each_ring(void)
{
	struct fixture f;
	size_t before;

	set_up(&f);
	f.call.is_over = ring;
	f.call.is_over_arg = &f;
	before = mr_arena_size(f.arena);
	run(&f, "wait_for_mail", "{\"project_key\":\"b\",\"agent_name\":\"GreenCastle\"}");
	CHECK_INT(f.rings, -1);
	if (mr_arena_size(f.arena) - before > BYTES)
		test_fail(__FILE__, __LINE__, "%d rings took %zu bytes", RINGS,
			mr_arena_size(f.arena) - before);
	tear_down(&f);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(waiting_takes_no_memory_for_each_ring),
	};

	return test_main(tests, MR_LEN(tests));
}
