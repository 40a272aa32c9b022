/*
 * data/db_postgres_memo.h - what a writer's transaction has read already.
 *
 * Writers come one after the other, so nobody else changes what a writer has read before its
 * transaction ends: the same question has the same answer until the transaction itself changes one
 * of the tables that the question names. The queue's jobs ask much the same, and each answer from
 * here saves a way to the server and back.
 */
#pragma once

#include "data/db_postgres_private.h"

enum { MR_DB_PG_MEMO = 256, MR_DB_PG_MEMO_BYTES = 64 << 10 };

/* A result with those who use it; freed with the last of them. */
struct mr_db_pg_answer {
	PGresult *result;
	int users;
};
void mr_db_pg_answer_release(const struct mr_db_pq *pq, struct mr_db_pg_answer *answer);

/* What a statement does, by its text. */
struct mr_db_pg_kind {
	bool only_reads;     /* tables, and nothing that changes by itself */
	const char *changes; /* this table, and no other; NULL: it may be anything */
};
struct mr_db_pg_kind mr_db_pg_kind(struct mr_arena *arena, const char *sql);

struct mr_db_pg_memo;
struct mr_db_pg_memo *mr_db_pg_memo_new(void);
void mr_db_pg_memo_free(const struct mr_db_pq *pq, struct mr_db_pg_memo *memo);

/* `values` are the statement's parameters, one after the other. The answer is the caller's to
 * release; NULL: it is not known. */
struct mr_db_pg_answer *mr_db_pg_memo_find(struct mr_db_pg_memo *memo, const char *sql,
	struct mr_bytes values);
/* Keep an answer, which the memo uses from now on, too. One that is large is not kept. */
void mr_db_pg_memo_keep(const struct mr_db_pq *pq, struct mr_db_pg_memo *memo, const char *sql,
	struct mr_bytes values, struct mr_db_pg_answer *answer);
/* The table changes; NULL: anything may. */
void mr_db_pg_memo_forget(const struct mr_db_pq *pq, struct mr_db_pg_memo *memo, const char *table);
