/* tests/unit/mailbox/test_mailbox_notifier_hub.c - a change of the mailbox wakes who waits. */
#include "mailbox/notifier_hub.h"

#include "files.h"
#include "mailbox/agent_make.h"
#include "notified.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct world {
	struct notified n;
	struct mr_notifier_hub *hub;
};

static void world_open(struct world *w)
{
	struct mr_notifier_hub_config config = { .clock = mr_clock_system(),
		.rand = mr_rand_system() };

	notified_open(&w->n);
	CHECK_OK(mr_notifier_hub_open(&config, &w->hub, &w->n.post.cx.err), w->n.post.cx.err);
}

static void world_close(struct world *w)
{
	mr_notifier_hub_close(w->hub);
	notified_close(&w->n);
}

/* A long poll in a thread of its own. */
struct poll {
	struct world *world;
	int timeout_ms;
	pthread_t thread;
	struct mr_notifier_told told;
	enum mr_code rc;
};

static void *run_poll(void *arg)
{
	struct poll *poll = arg;
	struct mr_ctx cx = { .arena = mr_arena_new(),
		.clock = mr_clock_system(),
		.rand = mr_rand_system() };

	poll->rc = mr_notifier_hub_wait(&cx, poll->world->hub, &poll->world->n.session, NULL, NULL,
		poll->timeout_ms, &poll->told);
	mr_arena_free(cx.arena);
	return NULL;
}

static void poll_begin(struct poll *poll, struct world *w, int timeout_ms)
{
	*poll = (struct poll){ .world = w, .timeout_ms = timeout_ms };
	CHECK(pthread_create(&poll->thread, NULL, run_poll, poll) == 0);
}

static void poll_end(struct poll *poll)
{
	pthread_join(poll->thread, NULL);
	CHECK_INT(poll->rc, MR_OK);
}

static void a_long_poll_ends_with_mail(void)
{
	struct world w;
	struct poll poll;

	world_open(&w);
	poll_begin(&poll, &w, 60000);
	notified_send(&w.n);
	poll_end(&poll);
	CHECK_INT(poll.told.count, 1);
	world_close(&w);
}

static void a_long_poll_ends_with_its_time(void)
{
	struct world w;
	struct poll poll;

	world_open(&w);
	poll_begin(&poll, &w, 1);
	poll_end(&poll);
	CHECK_INT(poll.told.notice, 0);
	world_close(&w);
}

static void the_end_of_the_server_ends_long_polls(void)
{
	struct world w;
	struct poll poll;

	world_open(&w);
	poll_begin(&poll, &w, 60000);
	mr_notifier_hub_stop(w.hub);
	poll_end(&poll);
	CHECK_INT(poll.told.notice, 0);
	world_close(&w);
}

/* However many wait, one gets it. */
static void one_of_several_long_polls_gets_it(void)
{
	enum { POLLS = 6 };
	struct world w;
	struct poll polls[POLLS];
	size_t told = 0;

	world_open(&w);
	for (int i = 0; i < POLLS; i++)
		poll_begin(&polls[i], &w, 1500);
	notified_send(&w.n);
	for (int i = 0; i < POLLS; i++) {
		poll_end(&polls[i]);
		told += polls[i].told.count;
	}
	CHECK_INT(told, 1);
	world_close(&w);
}

static void await_file(const char *path)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	FILE *file;

	while (!(file = fopen(path, "r")))
		nanosleep(&pause, NULL);
	fclose(file);
}

/* The interval is an hour: it is the change that wakes. */
static void mail_wakes_a_prompt_at_once(void)
{
	struct world w;

	world_open(&w);
	notified_command(&w.n,
		mr_arena_printf(w.n.post.cx.arena, "cat > '%s/new' && mv '%s/new' '%s/got'",
			w.n.post.dir, w.n.post.dir, w.n.post.dir),
		30);
	mr_notifier_hub_add(w.hub, &w.n.session);
	notified_send(&w.n);
	await_file("got");
	world_close(&w);
}

static void settings_wake_the_notifier(void)
{
	struct world w;

	world_open(&w);
	mr_notifier_hub_add(w.hub, &w.n.session);
	notified_send(&w.n);
	notified_command(&w.n,
		mr_arena_printf(w.n.post.cx.arena, "cat > '%s/new' && mv '%s/new' '%s/got'",
			w.n.post.dir, w.n.post.dir, w.n.post.dir),
		30);
	await_file("got");
	world_close(&w);
}

/* All agents of a registry, and those that come later. */
static void agents_of_the_registry_are_served(void)
{
	struct world w;
	struct mr_notifier_hub_config config = { .registry = "registry",
		.clock = mr_clock_system(),
		.rand = mr_rand_system(),
		.is_early = true };
	struct mr_notifier_hub *hub = NULL;

	world_open(&w);
	notified_command(&w.n,
		mr_arena_printf(w.n.post.cx.arena, "cat > '%s/new' && mv '%s/new' '%s/got'",
			w.n.post.dir, w.n.post.dir, w.n.post.dir),
		30);
	notified_send(&w.n);
	CHECK_OK(mr_notifier_hub_open(&config, &hub, &w.n.post.cx.err), w.n.post.cx.err);
	/* Before it listens, a prompt could not say where the mail is. */
	mr_notifier_hub_listens(hub, "http://127.0.0.1:9/agents");
	await_file("got");
	CHECK_INT(system("grep -q 'http://127.0.0.1:9/agents/' got"), 0);
	mr_notifier_hub_close(hub);
	world_close(&w);
}

/* An agent that was there without a mailbox, and gets one: its record tells, and not the next look
 * at the registry. */
static void an_agent_that_gets_its_mailbox_later_is_served(void)
{
	const struct mr_mailbox_agent_new agent = { .registry = "registry",
		.runtime = "runtime",
		.name = "carol",
		.tool = "claude",
		.directory = "/srv/project",
		.home = "/srv/user" };
	const struct mr_mailbox_declared declared = { .transport = "filesystem",
		.root = "root",
		.agent_name = "carol" };
	struct world w;
	struct mr_notifier_hub_config config = { .registry = "registry",
		.clock = mr_clock_system(),
		.rand = mr_rand_system() };
	struct mr_mailbox_agent_bound result;
	struct mr_mailbox_session carol;
	struct mr_notifier_hub *hub = NULL;
	struct mr_ctx *cx;
	int64_t begun_ms;

	world_open(&w);
	cx = &w.n.post.cx;
	CHECK_OK(mr_mailbox_agent_create(cx, &agent, &carol), cx->err);
	notified_command(&w.n, mr_arena_printf(cx->arena, "cat > '%s/first'", w.n.post.dir), 30);
	notified_send(&w.n);
	CHECK_OK(mr_notifier_hub_open(&config, &hub, &cx->err), cx->err);
	/* The registry was looked at. */
	await_file("first");
	begun_ms = mr_clock_mono_ms(mr_clock_system());
	CHECK_OK(mr_mailbox_agent_bind(cx, "registry", &declared, MR_MAILBOX_SAFE, NULL, &carol,
			 &result),
		cx->err);
	w.n.session = carol;
	notified_command(&w.n, mr_arena_printf(cx->arena, "cat > '%s/got'", w.n.post.dir), 30);
	(void)post_send(&w.n.post, "alice", "carol", NULL);
	await_file("got");
	CHECK(mr_clock_mono_ms(mr_clock_system()) - begun_ms < 30000);
	mr_notifier_hub_close(hub);
	world_close(&w);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_long_poll_ends_with_mail),
		TEST(a_long_poll_ends_with_its_time),
		TEST(the_end_of_the_server_ends_long_polls),
		TEST(one_of_several_long_polls_gets_it),
		TEST(mail_wakes_a_prompt_at_once),
		TEST(settings_wake_the_notifier),
		TEST(agents_of_the_registry_are_served),
		TEST(an_agent_that_gets_its_mailbox_later_is_served),
	};

	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
