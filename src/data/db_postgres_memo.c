/* data/db_postgres_memo.c - remembers what a writer's transaction has read. */
#include "data/db_postgres_memo.h"

#include "base/oom.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	uint64_t hash;
	char *sql;
	char *values;
	size_t values_len;
	struct mr_db_pg_answer *answer;
};

struct mr_db_pg_memo {
	struct entry entries[MR_DB_PG_MEMO];
	size_t len;
};

static void *need(void *memory, size_t size)
{
	if (!memory)
		mr_oom(size);
	return memory;
}

void mr_db_pg_answer_release(const struct mr_db_pq *pq, struct mr_db_pg_answer *answer)
{
	if (!answer || --answer->users > 0)
		return;
	pq->clear(answer->result);
	free(answer);
}

/* --- what a statement does --- */

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The word that follows `verb` at the beginning of `sql`, or NULL. */
static const char *word_after(struct mr_arena *arena, const char *sql, const char *verb)
{
	size_t len = 0;

	if (!mr_str_starts(sql, verb))
		return NULL;
	sql += strlen(verb);
	while (in_name(sql[len]))
		len++;
	return len ? mr_arena_strndup(arena, sql, len) : NULL;
}

struct mr_db_pg_kind mr_db_pg_kind(struct mr_arena *arena, const char *sql)
{
	static const char *const verbs[] = { "INSERT INTO ", "UPDATE ", "DELETE FROM " };
	/* Functions that are no one's but the server's: locks, sequences. */
	static const char *const alive[] = { "pg_", "setval", "nextval", "random" };
	struct mr_db_pg_kind kind = { .only_reads = mr_str_starts(sql, "SELECT ") };

	for (size_t i = 0; i < MR_LEN(alive); i++)
		kind.only_reads &= !strstr(sql, alive[i]);
	for (size_t i = 0; !kind.changes && i < MR_LEN(verbs); i++)
		kind.changes = word_after(arena, sql, verbs[i]);
	return kind;
}

static bool names(const char *sql, const char *table)
{
	size_t len = strlen(table);

	for (const char *at = strstr(sql, table); at; at = strstr(at + 1, table)) {
		if ((at == sql || !in_name(at[-1])) && !in_name(at[len]))
			return true;
	}
	return false;
}

/* --- answers --- */

struct mr_db_pg_memo *mr_db_pg_memo_new(void)
{
	return need(calloc(1, sizeof(struct mr_db_pg_memo)), sizeof(struct mr_db_pg_memo));
}

void mr_db_pg_memo_free(const struct mr_db_pq *pq, struct mr_db_pg_memo *memo)
{
	if (!memo)
		return;
	mr_db_pg_memo_forget(pq, memo, NULL);
	free(memo);
}

static uint64_t hash_of(const char *sql, struct mr_bytes values)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *sql; sql++)
		hash = (hash ^ (unsigned char)*sql) * 0x100000001b3u;
	for (size_t i = 0; i < values.len; i++)
		hash = (hash ^ values.data[i]) * 0x100000001b3u;
	return hash;
}

struct mr_db_pg_answer *mr_db_pg_memo_find(struct mr_db_pg_memo *memo, const char *sql,
	struct mr_bytes values)
{
	uint64_t hash = hash_of(sql, values);

	for (size_t i = 0; i < memo->len; i++) {
		struct entry *entry = &memo->entries[i];

		if (entry->hash != hash || entry->values_len != values.len ||
			strcmp(entry->sql, sql) != 0 ||
			(values.len && memcmp(entry->values, values.data, values.len) != 0))
			continue;
		entry->answer->users++;
		return entry->answer;
	}
	return NULL;
}

static void drop(const struct mr_db_pq *pq, struct mr_db_pg_memo *memo, size_t at)
{
	struct entry *entry = &memo->entries[at];

	mr_db_pg_answer_release(pq, entry->answer);
	free(entry->sql);
	free(entry->values);
	*entry = memo->entries[--memo->len];
}

void mr_db_pg_memo_keep(const struct mr_db_pq *pq, struct mr_db_pg_memo *memo, const char *sql,
	struct mr_bytes values, struct mr_db_pg_answer *answer)
{
	struct entry *entry;

	if (values.len > MR_DB_PG_MEMO_BYTES ||
		pq->resultMemorySize(answer->result) > MR_DB_PG_MEMO_BYTES)
		return;
	if (memo->len == MR_DB_PG_MEMO)
		mr_db_pg_memo_forget(pq, memo, NULL);
	entry = &memo->entries[memo->len++];
	*entry = (struct entry){ .hash = hash_of(sql, values),
		.sql = need(strdup(sql), strlen(sql)),
		.values = need(malloc(values.len + 1), values.len),
		.values_len = values.len,
		.answer = answer };
	if (values.len)
		memcpy(entry->values, values.data, values.len);
	answer->users++;
}

void mr_db_pg_memo_forget(const struct mr_db_pq *pq, struct mr_db_pg_memo *memo, const char *table)
{
	for (size_t i = memo->len; i-- > 0;) {
		if (!table || names(memo->entries[i].sql, table))
			drop(pq, memo, i);
	}
}
