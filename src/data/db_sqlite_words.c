/* data/db_sqlite_words.c - replaces the words of data/db.h in a statement by SQLite's own. */
#include "data/db_sqlite_words.h"

#include <string.h>

/* A set is bound as JSON, and LIKE folds ASCII anyway. */
const char *mr_db_sqlite_spell(struct mr_arena *arena, const char *sql)
{
	static const char set[] = " IN ids(", like[] = " ILIKE ";
	const char *at = strstr(sql, set);
	const char *parameter = at ? at + strlen(set) : "";
	const char *end = strchr(parameter, ')');

	if (end)
		return mr_arena_printf(arena, "%s IN (SELECT value FROM json_each(%.*s))%s",
			mr_db_sqlite_spell(arena, mr_arena_strndup(arena, sql, (size_t)(at - sql))),
			(int)(end - parameter), parameter, mr_db_sqlite_spell(arena, end + 1));
	at = strstr(sql, like);
	if (!at)
		return sql;
	return mr_arena_printf(arena, "%.*s LIKE %s", (int)(at - sql), sql,
		mr_db_sqlite_spell(arena, at + strlen(like)));
}
