/* tests/unit/mailbox/test_mailbox_tmux.c - typing into panes of a real tmux. */
#include "files.h"
#include "mailbox/tmux.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void end_server(void)
{
	if (system("tmux kill-server 2>/dev/null") != 0)
		fprintf(stderr, "# tmux has ended already\n");
}

/* A server of tmux for this test alone. */
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

static void start(const char *session, const char *program)
{
	char command[512];

	snprintf(command, sizeof(command),
		"tmux -f /dev/null new-session -d -x 60 -y 20 -s %s \"%s\"", session, program);
	sh(command);
}

static void types_and_presses_enter(void)
{
	struct mr_ctx cx = open_tmux();

	start("agent", "cat > got; touch done; exec sleep 100");
	CHECK_OK(mr_tmux_type(&cx, "agent", "You have mail.\nRead it now, \xc3\xa9t\xc3\xa9."),
		cx.err);
	/* A second text while the first one is on the screen. */
	CHECK_OK(mr_tmux_type(&cx, "agent", "You have mail.\nRead it now, \xc3\xa9t\xc3\xa9."),
		cx.err);
	sh("tmux send-keys -t agent C-d; while [ ! -e done ]; do sleep 0.02; done");
	files_hold("got",
		"You have mail.\nRead it now, \xc3\xa9t\xc3\xa9.\n"
		"You have mail.\nRead it now, \xc3\xa9t\xc3\xa9.\n");
	mr_arena_free(cx.arena);
}

/* Nothing in a text can end the paste, or is a key of its own. */
static void control_characters_are_left_out(void)
{
	struct mr_ctx cx = open_tmux();

	start("agent", "cat > got; touch done; exec sleep 100");
	CHECK_OK(mr_tmux_type(&cx, "agent",
			 "a\033[201~b\x03"
			 "c\xc2\x9b"
			 "d\te\x7f"
			 "f\r"),
		cx.err);
	sh("tmux send-keys -t agent C-d; while [ ! -e done ]; do sleep 0.02; done");
	files_hold("got", "a[201~bcd ef\n");
	mr_arena_free(cx.arena);
}

static void a_missing_session_is_said(void)
{
	struct mr_ctx cx = open_tmux();

	CHECK_INT(mr_tmux_type(&cx, "agent", "x"), MR_ENOTFOUND);
	CHECK(strstr(cx.err.msg, "the tmux session agent cannot be reached: tmux: "));
	start("agents", "cat");
	/* Names are exact: the beginning of one is another session. */
	CHECK_ERR(mr_tmux_type(&cx, "agent", "x"), cx.err, MR_ENOTFOUND,
		"the tmux session agent cannot be reached: tmux: can't find session: agent");
	mr_arena_free(cx.arena);
}

static void a_program_that_ended_is_said(void)
{
	struct mr_ctx cx = open_tmux();

	start("agent", "exec cat");
	sh("tmux set-option -g remain-on-exit on; tmux send-keys -t agent C-d;"
	   " while [ \"$(tmux display-message -p -t agent '#{pane_dead}')\" != 1 ]; do sleep 0.02;"
	   " done");
	CHECK_ERR(mr_tmux_type(&cx, "agent", "x"), cx.err, MR_ECONFLICT,
		"the program in the pane %0 has ended");
	mr_arena_free(cx.arena);
}

static void a_pane_that_is_scrolled_is_left_alone(void)
{
	struct mr_ctx cx = open_tmux();

	start("agent", "cat > got");
	sh("tmux copy-mode -t agent");
	CHECK_ERR(mr_tmux_type(&cx, "agent", "x"), cx.err, MR_ECONFLICT,
		"somebody scrolls in the pane %0");
	mr_arena_free(cx.arena);
}

static void text_that_is_not_shown_has_not_arrived(void)
{
	struct mr_ctx cx = open_tmux();

	start("agent", "stty -echo; touch ready; exec cat > /dev/null");
	sh("while [ ! -e ready ]; do sleep 0.02; done");
	CHECK_ERR(mr_tmux_type(&cx, "agent", "x"), cx.err, MR_ETIMEOUT,
		"what was typed did not show up in the pane %0");
	mr_arena_free(cx.arena);
}

/* The agent's pane is the first one, whichever is active. */
static void the_first_pane_is_the_agents(void)
{
	struct mr_ctx cx = open_tmux();
	struct mr_tmux_pane pane;

	start("agent", "cat");
	sh("tmux new-window -t agent cat; tmux split-window -t agent:1 cat");
	CHECK_OK(mr_tmux_find(&cx, "agent", &pane), cx.err);
	CHECK_STR(pane.id, "%0");
	CHECK(!pane.is_dead && !pane.is_in_mode);
	mr_arena_free(cx.arena);
}

static void quiet_is_told_from_busy(void)
{
	struct mr_ctx cx = open_tmux();
	struct mr_tmux_pane pane;
	bool quiet = false;

	start("agent", "cat");
	start("busy", "touch ready; while :; do date +%N; done");
	sh("while [ ! -e ready ]; do sleep 0.02; done");
	CHECK_OK(mr_tmux_find(&cx, "busy", &pane), cx.err);
	CHECK_OK(mr_tmux_is_quiet(&cx, &pane, 2000, &quiet), cx.err);
	CHECK(!quiet);
	CHECK_OK(mr_tmux_find(&cx, "agent", &pane), cx.err);
	for (int i = 0; i < 100 && !quiet; i++)
		CHECK_OK(mr_tmux_is_quiet(&cx, &pane, 100, &quiet), cx.err);
	CHECK(quiet);
	mr_arena_free(cx.arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(types_and_presses_enter),
		TEST(control_characters_are_left_out),
		TEST(a_missing_session_is_said),
		TEST(a_program_that_ended_is_said),
		TEST(a_pane_that_is_scrolled_is_left_alone),
		TEST(text_that_is_not_shown_has_not_arrived),
		TEST(the_first_pane_is_the_agents),
		TEST(quiet_is_told_from_busy),
	};

	if (system("command -v tmux > /dev/null") != 0) {
		puts("1..0 # SKIP there is no tmux");
		return 0;
	}
	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
