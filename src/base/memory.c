/*
 * base/memory.c - Determines how much memory this process may use, from the machine's memory and
 * the limits of its control groups.
 */
#include "base/memory.h"

#include "base/attr.h"
#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void closep(FILE **file)
{
	if (*file)
		fclose(*file);
}

/* The number in a file of one line; UINT64_MAX when there is none ("max", or no such file). */
static uint64_t read_number(const char *path)
{
	FILE *file MR_CLEANUP(closep) = fopen(path, "re");
	char line[32];
	char *end;
	uint64_t value;

	if (!file || !fgets(line, sizeof(line), file))
		return UINT64_MAX;
	errno = 0;
	value = strtoull(line, &end, 10);
	return end == line || errno ? UINT64_MAX : value;
}

/* The least of the limits of the group `path` and its parent groups. */
static uint64_t group_limit(const char *root, const char *mount, char *path, const char *name)
{
	uint64_t least = UINT64_MAX;
	char file[PATH_MAX];

	for (;;) {
		char *slash = strrchr(path, '/');
		int len = snprintf(file, sizeof(file), "%s%s%s/%s", root, mount, path, name);
		uint64_t limit = len < (int)sizeof(file) ? read_number(file) : UINT64_MAX;

		least = limit < least ? limit : least;
		if (!slash)
			return least;
		*slash = '\0';
	}
}

/* A line of /proc/self/cgroup is "hierarchy:controllers:path". */
static uint64_t line_limit(const char *root, char *line)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return UINT64_MAX;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	controllers++;
	if (*controllers == '\0')
		return group_limit(root, "/sys/fs/cgroup", path, "memory.max");
	return strcmp(controllers, "memory") == 0
		? group_limit(root, "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes")
		: UINT64_MAX;
}

uint64_t mr_memory_limit(const char *root)
{
	uint64_t least = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	char line[PATH_MAX];
	FILE *file MR_CLEANUP(closep) = NULL;

	snprintf(line, sizeof(line), "%s/proc/self/cgroup", root);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file)) {
		uint64_t limit = line_limit(root, line);

		least = limit < least ? limit : least;
	}
	return least;
}

void mr_memory_give_back(void)
{
	malloc_trim(0);
}
