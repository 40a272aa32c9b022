/* text/database_url.c - knows addresses of databases on servers, and leaves out their passwords. */
#include "text/database_url.h"

#include "base/str.h"

#include <string.h>

bool mr_database_url_is(const char *path)
{
	return mr_str_starts(path, "postgres://") || mr_str_starts(path, "postgresql://");
}

const char *mr_database_url_shown(struct mr_arena *arena, const char *path)
{
	const char *authority =
		mr_database_url_is(path) ? strstr(path, "://") + strlen("://") : NULL;
	const char *at, *colon, *end;

	if (!authority)
		return mr_arena_strdup(arena, path);
	at = authority + strcspn(authority, "/?");
	while (at > authority && at[-1] != '@')
		at--;
	colon = memchr(authority, ':', (size_t)(at - authority));
	/* A parameter may name a password, too. */
	end = strchr(at, '?');
	if (!end || !strstr(end, "password"))
		end = at + strlen(at);
	return mr_arena_printf(arena, "%.*s%s%.*s", (int)((colon ? colon : at) - path), path,
		colon ? "@" : "", (int)(end - at), at);
}
