/* tests/unit/mailbox/test_mailbox_channel.c - a prompt is typed only where an agent waits for it.
 */
#include "mailbox/channel.h"

#include "files.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct mr_notifier_target target = { .session = "/", .tmux_session = "agent" };

static void end_server(void)
{
	if (system("tmux kill-server 2>/dev/null") != 0)
		fprintf(stderr, "# tmux has ended already\n");
}

static struct mr_ctx open_tmux(void)
{
	files_enter();
	setenv("TMUX_TMPDIR", test_dir(), 1);
	atexit(end_server);
	return (struct mr_ctx){
		.arena = mr_arena_new(),
		.clock = mr_clock_system(),
		.rand = mr_rand_system(),
	};
}

static void sh(const char *command)
{
	if (system(command) != 0)
		test_fail(__FILE__, __LINE__, "failed: %s", command);
}

/* The pane runs this script; it says when it is ready. */
static void start(const char *script)
{
	files_put("agent.sh", script);
	sh("tmux -f /dev/null new-session -d -x 60 -y 20 -s agent 'sh agent.sh';"
	   " while [ ! -e ready ]; do sleep 0.02; done");
}

/* Why it is busy once its program runs and its screen rests; NULL: it is not. */
static const char *busy(struct mr_ctx *cx)
{
	struct mr_notifier_settings settings = mr_notifier_settings_default();
	const char *why = NULL;

	for (int i = 0; i < 200; i++) {
		why = NULL;
		if (mr_channel_tmux.look(cx, &target, &settings, &why) == MR_OK &&
			!mr_str_eq(why, "the screen does not rest"))
			return why;
	}
	test_fail(__FILE__, __LINE__, "never at rest: %s", why ? why : cx->err.msg);
}

static void an_agent_that_waits_gets_it(void)
{
	struct mr_ctx cx = open_tmux();
	struct mr_notifier_settings settings = mr_notifier_settings_default();
	bool perhaps = true;

	start("touch ready; cat > got; sleep 100");
	CHECK_STR(busy(&cx), NULL);
	CHECK_OK(mr_channel_tmux.deliver(&cx, &target, &settings, "You have mail.", &perhaps),
		cx.err);
	sh("tmux send-keys -t agent C-d; while [ ! -s got ]; do sleep 0.02; done");
	files_hold("got", "You have mail.\n");
	mr_arena_free(cx.arena);
}

static void an_agent_at_work_is_not_interrupted(void)
{
	struct mr_ctx cx = open_tmux();

	start("echo '* Thinking (12s, esc to interrupt)'; touch ready; exec cat");
	CHECK_STR(busy(&cx), "the agent is at work");
	mr_arena_free(cx.arena);
}

static void a_question_is_not_answered(void)
{
	struct mr_ctx cx = open_tmux();

	start("echo 'Do you want to proceed?'; touch ready; exec cat");
	CHECK_STR(busy(&cx), "the agent asks for a decision");
	mr_arena_free(cx.arena);
}

/* A shell would carry out what senders wrote. */
static void a_shell_is_no_agent(void)
{
	struct mr_ctx cx = open_tmux();
	struct mr_notifier_settings settings = mr_notifier_settings_default();
	const char *why = NULL;

	start("touch ready; exec bash --norc --noprofile");
	while (mr_channel_tmux.look(&cx, &target, &settings, &why) == MR_OK)
		sh("sleep 0.05");
	CHECK_INT(cx.err.code, MR_ECONFLICT);
	CHECK_STR(cx.err.msg,
		"the pane %0 of the tmux session agent is at the prompt of bash: the agent's "
		"program does not run in it");
	mr_arena_free(cx.arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(an_agent_that_waits_gets_it),
		TEST(an_agent_at_work_is_not_interrupted),
		TEST(a_question_is_not_answered),
		TEST(a_shell_is_no_agent),
	};

	if (system("command -v tmux > /dev/null") != 0) {
		puts("1..0 # SKIP there is no tmux");
		return 0;
	}
	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
