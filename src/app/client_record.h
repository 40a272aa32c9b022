/*
 * app/client_record.h - what `connect` did to a file, so that it can be undone byte for byte.
 *
 * A record has what the file said before us and what it said when we had last written it. Records
 * are in the user's own state directory, one folder for each file (named by the digest of its
 * path), readable by the user only: nothing is left in repositories, and what a repository brings
 * along is never taken for a record.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <sys/types.h>

struct mr_client_record {
	const char *folder;     /* where the record is kept, whether it exists or not */
	bool is_there;          /* the rest holds only then */
	bool existed;           /* the file existed before us */
	bool made_directory;    /* and its directory was made for it */
	mode_t mode;            /* of that file */
	struct mr_bytes before; /* what it said; empty when there was none */
	struct mr_bytes after;  /* what it said when we were done */
};

/* The record of the file at `path`, below the directory `state`. That there is none is no error. */
MR_CHECK enum mr_code mr_client_record_read(struct mr_arena *arena, const char *state,
	const char *path, struct mr_client_record *out, struct mr_err *err);
/* Keep it, in place of an older one. */
MR_CHECK enum mr_code mr_client_record_write(struct mr_arena *arena, const char *path,
	const struct mr_client_record *record, struct mr_err *err);
MR_CHECK enum mr_code mr_client_record_drop(const struct mr_client_record *record,
	struct mr_err *err);
/* The path of the file's former content; NULL when the file did not exist. */
const char *mr_client_record_backup(struct mr_arena *arena, const struct mr_client_record *record);
