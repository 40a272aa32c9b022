/*
 * surface/cli/terminal.c - Detects width and colour support of the terminal, asks yes/no
 * questions, and shows a progress line.
 */
#include "surface/cli/terminal.h"

#include "base/buf.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static bool wants_colour(void)
{
	return mr_str_is_empty(getenv("NO_COLOR")) && !mr_str_eq(getenv("TERM"), "dumb");
}

struct mr_render mr_terminal_style(int fd)
{
	struct mr_render style = { 0 };
	struct winsize size;

	if (!isatty(fd))
		return style;
	style.colour = wants_colour();
	style.width = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
	return style;
}

bool mr_terminal_write(int fd, struct mr_bytes data)
{
	while (data.len) {
		ssize_t n = write(fd, data.data, data.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data.data += n;
		data.len -= (size_t)n;
	}
	return true;
}

bool mr_terminal_confirm(void *arg, const char *question)
{
	char answer[16];

	(void)arg;
	if (!isatty(STDIN_FILENO))
		return false;
	fprintf(stderr, "%s [y/N] ", question);
	fflush(stderr);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

bool mr_terminal_can_ask(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

enum { CTRL_C = 3, ANSWER_BYTES = 4096 };

/* Ctrl-C ends the line in place of the program, which would leave a terminal without an echo. */
static bool hide(struct termios *out_before)
{
	struct termios quiet;

	if (tcgetattr(STDIN_FILENO, out_before))
		return false;
	quiet = *out_before;
	quiet.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
	quiet.c_cc[VEOL] = CTRL_C;
	return tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet) == 0;
}

const char *mr_terminal_ask(struct mr_arena *arena, const char *question, bool is_secret)
{
	char line[ANSWER_BYTES];
	struct termios before;
	const char *answer = NULL;
	bool is_hidden;
	ssize_t len;

	/* In this order: what is typed when the question is seen counts, what was before does not.
	 */
	is_hidden = is_secret && hide(&before);
	if (is_secret && !is_hidden)
		return NULL;
	mr_terminal_write(STDERR_FILENO, mr_bytes_text(question));
	len = read(STDIN_FILENO, line, sizeof(line));
	if (is_hidden) {
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
		mr_terminal_write(STDERR_FILENO, mr_bytes_text("\n"));
	}
	if (len > 0 && !memchr(line, CTRL_C, (size_t)len) && !memchr(line, '\0', (size_t)len)) {
		while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
			len--;
		answer = mr_arena_strndup(arena, line, (size_t)len);
	}
	explicit_bzero(line, sizeof(line));
	return answer;
}

enum { BAR_CELLS = 30, PROGRESS_EVERY_US = 100000 };

void mr_terminal_progress(void *arg, const char *what, size_t done, size_t total)
{
	struct mr_terminal_progress *progress = arg;
	int64_t now_us = mr_clock_mono_us(progress->clock);
	size_t filled = total ? done * BAR_CELLS / total : 0;
	struct mr_buf line MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&line, 4096);
	/* The first tenth of a second shows nothing: most work is done by then. */
	if (!isatty(STDERR_FILENO))
		return;
	if (progress->shown_us == 0)
		progress->shown_us = now_us;
	if (now_us - progress->shown_us < PROGRESS_EVERY_US)
		return;
	progress->shown_us = now_us;
	mr_buf_printf(&line, "\r\033[K%s [", what);
	mr_buf_pad(&line, '#', filled < BAR_CELLS ? filled : BAR_CELLS);
	mr_buf_pad(&line, '.', filled < BAR_CELLS ? BAR_CELLS - filled : 0);
	mr_buf_printf(&line, "] %zu of %zu", done, total);
	mr_terminal_write(STDERR_FILENO, mr_buf_bytes(&line));
}

void mr_terminal_progress_end(struct mr_terminal_progress *progress)
{
	if (progress->shown_us && isatty(STDERR_FILENO))
		mr_terminal_write(STDERR_FILENO, mr_bytes_text("\r\033[K"));
}
