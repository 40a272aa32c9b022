/* surface/cli/terminal.c */
#include "surface/cli/terminal.h"

#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
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
