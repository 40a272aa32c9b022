/* mailbox/inside.c - does a path that came from a database lie where it should? */
#include "mailbox/inside.h"

#include "base/str.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static bool is_part(const char *text, size_t len)
{
	return len > 0 && !(len == 1 && text[0] == '.') &&
		!(len == 2 && text[0] == '.' && text[1] == '.');
}

const char *mr_mailbox_inside(const char *base, const char *path)
{
	size_t len = strlen(base);
	const char *rest;

	if (!mr_str_starts(path, base) || path[len] != '/')
		return NULL;
	rest = path + len + 1;
	for (const char *part = rest;;) {
		size_t n = strcspn(part, "/");

		if (!is_part(part, n))
			return NULL;
		if (part[n] == '\0')
			return rest;
		part += n + 1;
	}
}

bool mr_mailbox_inside_name(const char *name)
{
	size_t len = name ? strlen(name) : 0;

	return len <= NAME_MAX && is_part(name, len) && !strchr(name, '/');
}

bool mr_mailbox_inside_same(const char *a, const char *b)
{
	struct stat x, y;

	return mr_str_eq(a, b) ||
		(stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
			x.st_ino == y.st_ino);
}
