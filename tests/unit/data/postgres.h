/* tests/unit/data/postgres.h - a database of the server that tests/support/postgres_server.py
 * started. What fails fails the test. */
#pragma once

#include "data/db.h"

const char *postgres_url(void);
struct mr_db *postgres_open(struct mr_db_options options);
/* A connection to a database that has nothing but this. */
struct mr_db *postgres_open_new(const char *schema);
void postgres_exec(struct mr_db *db, const char *sql);
struct mr_stmt *postgres_prepare(struct mr_db *db, const char *sql);
/* The one number a query gives. */
int64_t postgres_number(struct mr_db *db, const char *sql);
