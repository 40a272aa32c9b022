/* base/crash_on.c - the test build: crash points are controlled by the environment. This file
 * alone may keep state between calls, for its counters. */
#include "base/crash.h"

#include "base/attr.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long crash_passes;
static atomic_long stop_passes;
static atomic_long fail_passes;

static const struct {
	const char *name;
	int number;
} errnos[] = {
	{ "EACCES", EACCES },
	{ "EDQUOT", EDQUOT },
	{ "EIO", EIO },
	{ "ENOSPC", ENOSPC },
	{ "ENOSYS", ENOSYS },
	{ "EROFS", EROFS },
};

/* Abort on a wrong setting: the test would otherwise pass without the failure it asks for. */
static void refuse(const char *variable, const char *value)
{
	fprintf(stderr, "%s=%s makes no sense\n", variable, value);
	abort();
}

static void append_to_log(const char *prefix, const char *name)
{
	const char *path = getenv("MAILROOM_CRASH_LOG");
	char line[160];
	int len, fd;

	if (!path)
		return;
	len = snprintf(line, sizeof(line), "%s%s\n", prefix, name);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || len >= (int)sizeof(line) || write(fd, line, (size_t)len) != len)
		refuse("MAILROOM_CRASH_LOG", path);
	close(fd);
}

/* The text after "name" and ':' in `setting`: "" when nothing follows, NULL for another name. */
static const char *after_name(const char *setting, const char *name)
{
	size_t len = strlen(name);

	if (!setting || strncmp(setting, name, len) != 0)
		return NULL;
	if (setting[len] == '\0')
		return setting + len;
	return setting[len] == ':' ? setting + len + 1 : NULL;
}

static long parse_count(const char *variable, const char *text)
{
	char *end;
	long count;

	if (*text == '\0')
		return 1;
	count = strtol(text, &end, 10);
	if (*end != '\0' || count < 1)
		refuse(variable, text);
	return count;
}

/* Is this the pass of the point that `variable` names? */
static bool is_asked_for(const char *variable, const char *name, atomic_long *passes)
{
	const char *rest = after_name(getenv(variable), name);

	return rest && atomic_fetch_add(passes, 1) + 1 == parse_count(variable, rest);
}

void mr_crash_point(const char *name)
{
	append_to_log("", name);
	if (is_asked_for("MAILROOM_STOP_AT", name, &stop_passes))
		raise(SIGSTOP);
	if (!is_asked_for("MAILROOM_CRASH_AT", name, &crash_passes))
		return;
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

int mr_crash_fail(const char *name)
{
	const char *rest = after_name(getenv("MAILROOM_FAIL_AT"), name);

	append_to_log("fail:", name);
	if (!rest)
		return 0;
	for (size_t i = 0; i < MR_LEN(errnos); i++) {
		const char *count = after_name(rest, errnos[i].name);

		if (!count)
			continue;
		if (atomic_fetch_add(&fail_passes, 1) + 1 < parse_count("MAILROOM_FAIL_AT", count))
			return 0;
		return errnos[i].number;
	}
	refuse("MAILROOM_FAIL_AT", rest);
	return 0;
}

int64_t mr_crash_clock_skew_us(void)
{
	const char *path = getenv("MAILROOM_CLOCK_SKEW");
	char text[32] = "", *end;
	long long seconds;
	ssize_t len;
	int fd;

	if (!path)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	seconds = strtoll(text, &end, 10);
	if (len <= 0 || end == text || *end != '\0')
		refuse("MAILROOM_CLOCK_SKEW", path);
	return seconds * 1000000;
}
