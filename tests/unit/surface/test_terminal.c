/* tests/unit/surface/test_terminal.c */
#include "surface/cli/terminal.h"
#include "test.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static int open_terminal(unsigned short columns)
{
	struct winsize size = { .ws_col = columns, .ws_row = 24 };
	int ours;
	int theirs;

	CHECK(openpty(&ours, &theirs, NULL, NULL, &size) == 0);
	return theirs;
}

static void colour_only_on_a_terminal(void)
{
	int terminal = open_terminal(100);
	int file = open("/dev/null", O_WRONLY);

	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	CHECK(mr_terminal_style(terminal).colour);
	CHECK_INT(mr_terminal_style(terminal).width, 100);
	CHECK(!mr_terminal_style(file).colour);
	CHECK_INT(mr_terminal_style(file).width, 0);
	CHECK_INT(mr_terminal_style(open_terminal(0)).width, 80);
}

static void never_with_no_color(void)
{
	int terminal = open_terminal(100);

	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
	CHECK(!mr_terminal_style(terminal).colour);
	setenv("NO_COLOR", "", 1);
	CHECK(mr_terminal_style(terminal).colour);
	setenv("TERM", "dumb", 1);
	CHECK(!mr_terminal_style(terminal).colour);
}

static void a_reader_that_is_gone_is_noticed(void)
{
	int pipe_ends[2];

	signal(SIGPIPE, SIG_IGN);
	CHECK(pipe(pipe_ends) == 0);
	CHECK(mr_terminal_write(pipe_ends[1], mr_bytes_text("hi")));
	close(pipe_ends[0]);
	CHECK(!mr_terminal_write(pipe_ends[1], mr_bytes_text("hi")));
}

/* What was written arrives in pieces of any size: read until `end`, and leave it out. */
static void read_until(int fd, const char *end, char *out, size_t size)
{
	size_t len = 0;

	out[0] = '\0';
	while (!strstr(out, end)) {
		ssize_t got = read(fd, out + len, size - 1 - len);

		CHECK(got > 0);
		len += (size_t)got;
		out[len] = '\0';
	}
	*strstr(out, end) = '\0';
}

static void progress_rewrites_its_line(void)
{
	struct winsize size = { .ws_col = 80, .ws_row = 24 };
	struct mr_terminal_progress progress;
	struct mr_clock_fixed clock;
	char text[256];
	int ours;
	int theirs;

	CHECK(openpty(&ours, &theirs, NULL, NULL, &size) == 0);
	CHECK(dup2(theirs, STDERR_FILENO) == STDERR_FILENO);
	mr_clock_fixed_init(&clock, 1000000);
	progress = (struct mr_terminal_progress){ .clock = &clock.clock };
	mr_terminal_progress(&progress, "messages", 1, 10);
	clock.now_us += 200000;
	mr_terminal_progress(&progress, "messages", 5, 10);
	mr_terminal_progress(&progress, "messages", 6, 10);
	mr_terminal_progress_end(&progress);
	CHECK(mr_terminal_write(STDERR_FILENO, mr_bytes_text("<end>")));
	read_until(ours, "<end>", text, sizeof(text));
	CHECK(strstr(text, "messages [###############...............] 5 of 10"));
	CHECK(!strstr(text, "1 of 10") && !strstr(text, "6 of 10"));
	CHECK(strlen(text) > 4 && strcmp(text + strlen(text) - 4, "\r\033[K") == 0);
}

static void nobody_to_ask_means_no(void)
{
	int file = open("/dev/null", O_RDONLY);

	CHECK(dup2(file, STDIN_FILENO) == STDIN_FILENO);
	CHECK(!mr_terminal_confirm(NULL, "Go on?"));
}

/* A terminal as standard input and standard error; the other end. */
static int sit_down(void)
{
	struct winsize size = { .ws_col = 80, .ws_row = 24 };
	int ours;
	int theirs;

	CHECK(openpty(&ours, &theirs, NULL, NULL, &size) == 0);
	CHECK(dup2(theirs, STDIN_FILENO) == STDIN_FILENO);
	CHECK(dup2(theirs, STDERR_FILENO) == STDERR_FILENO);
	return ours;
}

/* Somebody who types when the question is there; all that the terminal showed. */
static const char *answer(const char *typed, bool is_secret, char *shown, size_t size)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static char copy[64];
	int ours = sit_down();
	pid_t child = fork();
	const char *got;

	if (!child) {
		char question[64];

		read_until(ours, "Word: ", question, sizeof(question));
		_exit(write(ours, typed, strlen(typed)) == (ssize_t)strlen(typed) ? 0 : 1);
	}
	CHECK(mr_terminal_can_ask());
	got = mr_terminal_ask(arena, "Word: ", is_secret);
	CHECK(waitpid(child, NULL, 0) == child);
	CHECK(mr_terminal_write(STDERR_FILENO, mr_bytes_text("<end>")));
	read_until(ours, "<end>", shown, size);
	snprintf(copy, sizeof(copy), "%s", got ? got : "");
	return got ? copy : NULL;
}

static void a_line_is_asked_for(void)
{
	struct termios after;
	char shown[256];

	CHECK_STR(answer("ann\n", false, shown, sizeof(shown)), "ann");
	CHECK(strstr(shown, "ann"));
	CHECK_STR(answer("s3cret\n", true, shown, sizeof(shown)), "s3cret");
	CHECK(!strstr(shown, "s3cret"));
	CHECK(tcgetattr(STDIN_FILENO, &after) == 0 && (after.c_lflag & ECHO) &&
		(after.c_lflag & ISIG));
	CHECK(!answer("s3\003", true, shown, sizeof(shown)));
	CHECK(!strstr(shown, "s3"));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(colour_only_on_a_terminal),
		TEST(never_with_no_color),
		TEST(a_reader_that_is_gone_is_noticed),
		TEST(progress_rewrites_its_line),
		TEST(nobody_to_ask_means_no),
		TEST(a_line_is_asked_for),
	};

	return test_main(tests, MR_LEN(tests));
}
