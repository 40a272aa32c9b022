/*
 * data/db_postgres.h - PostgreSQL behind data/db.h: `path` is a URL,
 * postgresql://USER@HOST/DATABASE.
 *
 * libpq is loaded when a database of this kind is first opened, so a program that has none needs
 * none of its libraries. What the parts rely on:
 *   - MR_DB_IMMEDIATE takes an advisory lock that all writers of the database share, on whatever
 *     machine they are, before it reads: so a writer's transaction sees all that others committed,
 *     and nobody commits between what it read and what it writes. MR_DB_DEFERRED reads one state
 *     (REPEATABLE READ).
 *   - After a statement failed in a transaction, only a rollback, or one to a savepoint, goes on.
 *   - mr_stmt_send() uses libpq's pipeline mode; after it the transaction's changes count as made.
 *   - A notice is a NOTIFY on the channel "mailroom", which the server sends with the commit.
 *   - An address that names another machine is asked by TLS, and its certificate must be good for
 *     its name (sslmode=verify-full, with the system's authorities unless sslrootcert names
 * others), unless the URL's own `sslmode`, or PGSSLMODE, says otherwise: MR_EREMOTE when it is not.
 * There are no files: what copies one is MR_ECONFLICT.
 */
#pragma once

#include "data/db.h"

extern const struct mr_db_driver mr_db_postgres;
