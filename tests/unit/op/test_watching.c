/* tests/unit/op/test_watching.c - who waits for mail is told, and costs no more the longer it
 * waits. */
#include "op/team/watching.h"

#include "base/attr.h"
#include "team/inbox.h"
#include "team/store/watch.h"
#include "team_app.h"
#include "test.h"

enum { RINGS = 1000, BYTES = 64 << 10 };

struct ringer {
	struct mr_team *team;
	int rings; /* that are left */
};

/* Asked between a look and the sleep after it, so that each ring brings exactly one look. */
static bool ring(void *arg)
{
	struct ringer *ringer = arg;

	mr_team_watch_ring(ringer->team);
	return ringer->rings-- == 0;
}

static void waiting_takes_no_memory_for_each_ring(void)
{
	struct ringer ringer = { .rings = RINGS };
	struct team_app t;
	size_t before;

	team_app_open(&t);
	team_app_join(&t, "/p/b", "GreenCastle");
	ringer.team = t.team;
	t.call.is_over = ring;
	t.call.is_over_arg = &ringer;
	before = mr_arena_size(t.arena);
	team_app_run(&t, "wait_for_mail",
		"{\"project_key\":\"b\",\"agent_name\":\"GreenCastle\",\"timeout_seconds\":300}");
	CHECK_INT(ringer.rings, -1);
	if (mr_arena_size(t.arena) - before > BYTES)
		test_fail(__FILE__, __LINE__, "%d rings took %zu bytes", RINGS,
			mr_arena_size(t.arena) - before);
	team_app_close(&t);
}

static void write_to(struct team_app *t, const char *to)
{
	team_app_run(t, "send_message",
		mr_arena_printf(t->arena,
			"{\"project_key\":\"b\",\"sender_name\":\"GreenCastle\",\"subject\":\"s\","
			"\"body_md\":\"t\",\"to\":[\"%s\"]}",
			to));
}

struct shown {
	struct team_app *t;
	int64_t ids[8];
	size_t count, enough;
};

/* The first message that is shown brings the next one. */
static bool show(void *arg, const struct mr_team_item *item)
{
	struct shown *shown = arg;

	shown->ids[shown->count++] = item->message.id;
	write_to(shown->t, "GreenCastle");
	return shown->count < shown->enough;
}

static void an_inbox_is_followed(void)
{
	struct team_app t;
	struct shown shown = { .t = &t, .enough = 3 };
	struct mr_watching w = { .project_key = "b",
		.agent_name = "GreenCastle",
		.has_cursor = true,
		.timeout_ms = -1,
		.show = show,
		.arg = &shown };
	bool is_late = true;

	team_app_open(&t);
	team_app_join(&t, "/p/b", "GreenCastle");
	write_to(&t, "GreenCastle");
	CHECK_OK(mr_watching_inbox(&t.call, t.team, &w, &is_late), t.call.cx.err);
	CHECK(!is_late);
	CHECK_INT(shown.count, 3);
	CHECK_INT(shown.ids[0], 1);
	CHECK_INT(shown.ids[2], 3);
	/* From now on there is nothing, and no time. */
	w.has_cursor = false;
	w.timeout_ms = 0;
	CHECK_OK(mr_watching_inbox(&t.call, t.team, &w, &is_late), t.call.cx.err);
	CHECK(is_late);
	CHECK_INT(shown.count, 3);
	w.agent_name = "Nobody";
	CHECK_INT(mr_watching_inbox(&t.call, t.team, &w, &is_late), MR_ENOTFOUND);
	team_app_close(&t);
}

static bool at_once(void *arg)
{
	(void)arg;
	return true;
}

static void topics_are_waited_for(void)
{
	struct mr_team_topic topic = { .kind = MR_TEAM_TOPIC_MEMBERS };
	struct team_app t;
	bool found = true;

	team_app_open(&t);
	CHECK_OK(mr_watching_begin(&t.call, t.team, &topic), t.call.cx.err);
	t.call.cx.is_over = at_once;
	mr_watching_wake(t.team);
	CHECK_OK(mr_watching_wait(&t.call, t.team, &topic, 1, "failed", &found), t.call.cx.err);
	CHECK(!found);
	team_app_join(&t, "/p/b", "GreenCastle");
	t.call.cx.is_over = NULL;
	CHECK_OK(mr_watching_wait(&t.call, t.team, &topic, 1, "failed", &found), t.call.cx.err);
	CHECK(found && topic.is_changed);
	team_app_close(&t);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(waiting_takes_no_memory_for_each_ring),
		TEST(an_inbox_is_followed),
		TEST(topics_are_waited_for),
	};

	return test_main(tests, MR_LEN(tests));
}
