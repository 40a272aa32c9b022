/*
 * data/db_sqlite_bell.h - notices between the processes that use one SQLite database.
 *
 * SQLite cannot wake another process. So a file beside the database, "<database>.bell", is the
 * bell: setting its times rings it, and inotify wakes whoever listens. The database's own files
 * would not do, since they are written before others can see the change. All versions of the
 * program use this file and ring it in this way, so versions that run side by side wake each other.
 */
#pragma once

#include "data/db.h"

/* Ring; `*fd` is -1 or the bell opened by an earlier call, and the caller closes it. Makes the file
 * when it is missing. A failure is ignored (see mr_db_notify()). */
void mr_db_sqlite_bell_ring(const char *database, int *fd);

/* The driver's functions for listeners. */
enum mr_code mr_db_sqlite_listen(const char *database, struct mr_db_listener **out,
	struct mr_err *err);
int mr_db_sqlite_listener_fd(const struct mr_db_listener *listener);
bool mr_db_sqlite_listener_drain(struct mr_db_listener *listener);
void mr_db_sqlite_listener_close(struct mr_db_listener *listener);
