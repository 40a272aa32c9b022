/*
 * data/db_driver.h - what an engine implements for data/db.h. Only db.c and the drivers include it.
 *
 * A driver's connection and statement begin with struct mr_db and struct mr_stmt; db.c fills and
 * uses these, a driver may read them. Contracts are those of the db.h functions of the same name.
 */
#pragma once

#include "data/db.h"

#include <sys/queue.h>

struct mr_db {
	const struct mr_db_driver *driver;
	struct mr_arena *arena;                 /* lives as long as the connection */
	struct mr_db_options options;           /* defaults filled in; its texts are in `arena` */
	TAILQ_HEAD(mr_stmt_list, mr_stmt) idle; /* the latest used first */
	size_t idle_len;
	size_t in_use;
	bool notify_at_commit; /* mr_db_notify() was called in this transaction */
};

struct mr_stmt {
	TAILQ_ENTRY(mr_stmt) link; /* in `idle` */
	struct mr_db *db;
	char *sql; /* the cache's key */
	uint64_t hash;
};

/* A driver's listener begins with this; db.c sets it. */
struct mr_db_listener {
	const struct mr_db_driver *driver;
};

struct mr_db_driver {
	const char *name;

	/* `options` has its defaults filled in, and its texts outlive the connection. Sets only
	 * mr_db.options of the common part. */
	enum mr_code (*open)(struct mr_arena *arena, const struct mr_db_options *options,
		struct mr_db **out, struct mr_err *err);
	void (*close)(struct mr_db *db);
	/* The next close leaves the log alone; see mr_db_abandon(). */
	void (*keep_log)(struct mr_db *db);
	enum mr_code (*still_there)(struct mr_db *db, struct mr_err *err);
	enum mr_code (*touch)(struct mr_db *db, struct mr_err *err);
	void (*trim_log)(struct mr_db *db);
	/* Send a notice now. Called outside a transaction. */
	void (*notify)(struct mr_db *db);
	/* A statement that sends one when its transaction is committed; NULL: notify() after it. */
	const char *notify_sql;
	enum mr_code (*listen)(const char *path, struct mr_db_listener **out, struct mr_err *err);
	int (*listener_fd)(const struct mr_db_listener *listener);
	bool (*listener_drain)(struct mr_db_listener *listener);
	void (*listener_close)(struct mr_db_listener *listener);
	/* Fills what is not 0 there; NULL: there is no server. */
	enum mr_code (*server)(struct mr_db *db, struct mr_arena *arena, struct mr_db_server *out,
		struct mr_err *err);
	/* NULL: everybody has it. */
	enum mr_code (*duty)(struct mr_db *db, bool *mine, struct mr_err *err);
	bool (*is_open_elsewhere)(const char *path, long *pid);
	enum mr_code (*exec)(struct mr_db *db, const char *sql, struct mr_err *err);
	enum mr_code (*set_sync)(struct mr_db *db, enum mr_db_sync sync, struct mr_err *err);
	int64_t (*changes)(struct mr_db *db);
	int64_t (*total_changes)(struct mr_db *db);
	bool (*in_transaction)(struct mr_db *db);
	enum mr_code (*begin)(struct mr_db *db, enum mr_db_begin how, struct mr_err *err);
	void (*rollback)(struct mr_db *db); /* called inside a transaction */
	/* A statement that has a row when ?1 names a table. */
	const char *has_table_sql;
	const char *has_tables_sql; /* and one that has a row when there is any */
	const char *tables_sql;     /* the names of all */
	/* Of the table ?1: name, enum mr_db_type, place in the primary key or 0. */
	const char *columns_sql;
	const char *last_id_sql; /* of the table ?1; no row or NULL is 0 */
	/* Run one after the other, with the table as ?1 and the id as ?2; the second may be NULL.
	 */
	const char *set_last_id_sql[2];
	/* CREATE and ALTER are undone with their transaction, whatever else is in it. */
	bool schema_is_transactional;
	enum mr_code (*check)(struct mr_db *db, struct mr_arena *arena, struct mr_texts *out,
		struct mr_err *err);
	enum mr_code (*compact)(struct mr_db *db, struct mr_err *err);
	enum mr_code (*copy)(struct mr_db *db, const char *path, struct mr_err *err);
	/* As open(), with the options of `db`. */
	enum mr_code (*copy_aside)(struct mr_arena *arena, struct mr_db *db, struct mr_db **out,
		struct mr_err *err);

	/* This and exec replace the words that db.h names. */
	enum mr_code (*prepare)(struct mr_db *db, const char *sql, struct mr_stmt **out,
		struct mr_err *err);
	void (*finalize)(struct mr_stmt *stmt);
	void (*reset)(struct mr_stmt *stmt);
	void (*bind_int)(struct mr_stmt *stmt, int index, int64_t value);
	void (*bind_real)(struct mr_stmt *stmt, int index, double value);
	void (*bind_text)(struct mr_stmt *stmt, int index, const char *text);
	void (*bind_bytes)(struct mr_stmt *stmt, int index, struct mr_bytes bytes);
	void (*bind_null)(struct mr_stmt *stmt, int index);
	void (*bind_ids)(struct mr_stmt *stmt, int index, const char *list);
	enum mr_code (*step)(struct mr_stmt *stmt, bool *row, struct mr_err *err);
	/* Both NULL for an engine that gains nothing by waiting. */
	enum mr_code (*send)(struct mr_stmt *stmt, struct mr_err *err);
	enum mr_code (*settle)(struct mr_db *db, struct mr_err *err);
	bool (*is_null)(struct mr_stmt *stmt, int column);
	int64_t (*column_int)(struct mr_stmt *stmt, int column);
	double (*column_real)(struct mr_stmt *stmt, int column);
	/* Valid until the next step; text is followed by a NUL that is not counted. */
	struct mr_bytes (*column_text)(struct mr_stmt *stmt, int column);
	struct mr_bytes (*column_bytes)(struct mr_stmt *stmt, int column);

	enum mr_code (*search_create)(struct mr_db *db, const struct mr_db_search *search,
		struct mr_err *err);
	/* `texts` are the row's, or NULL: read them. */
	enum mr_code (*search_add)(struct mr_db *db, const struct mr_db_search *search, int64_t id,
		const char *const *texts, struct mr_err *err);
	enum mr_code (*search_remove)(struct mr_db *db, const struct mr_db_search *search,
		int64_t id, struct mr_err *err);
	enum mr_code (*search_rebuild)(struct mr_db *db, const struct mr_db_search *search,
		struct mr_err *err);
	enum mr_code (*search_purge)(struct mr_db *db, const struct mr_db_search *search,
		struct mr_err *err);
	enum mr_code (*search_check)(struct mr_db *db, const struct mr_db_search *search,
		struct mr_err *err);
	void (*search_quote)(const struct mr_db_search *search, struct mr_buf *match,
		const char *column, const char *term, bool prefix);
	/* By enum mr_db_search_word, with the blanks around them. */
	const char *search_words[5];
	enum mr_code (*search_prepare)(struct mr_db *db, const struct mr_db_search *search,
		const struct mr_db_search_query *query, struct mr_stmt **out, struct mr_err *err);
};

/* Statements in use: for checks that none was left behind. */
size_t mr_db_statements_in_use(const struct mr_db *db);
