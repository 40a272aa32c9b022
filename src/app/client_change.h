/*
 * app/client_change.h - Mailroom's part is entered into the files of a coding agent's program, or
 * taken out again.
 *
 * Nothing is written before every file of the client was read and its new content is known. What a
 * file said before is kept in a record (app/client_record.h), which is written before the file, so
 * that it can always be brought back: byte for byte when only we have changed the file since, else
 * with the changes that others have made. An entry of our name that we did not write is the user's.
 */
#pragma once

#include "app/client.h"
#include "app/client_record.h"
#include "base/ctx.h"

/* A file, its content now and after the change. */
struct mr_client_change {
	const struct mr_client_file *file;
	const char *path; /* of the file itself, where links lead */
	bool exists;
	mode_t mode;
	struct mr_bytes now, after;
	struct mr_client_record record;
	struct mr_client_parts found;    /* in `now` */
	struct mr_client_parts written;  /* in what we wrote last, if we did */
	struct mr_client_parts original; /* in what was there before us */
	bool is_left;       /* with undo: the entry of our name is not what we wrote, and stays */
	const char *action; /* created, updated, unchanged, restored, removed, or print */
};

/* All files of one client. The caller fills in what stands before `changes`. */
struct mr_client_set {
	struct mr_ctx *cx;
	const struct mr_client *client;
	const struct mr_client_wish *wish;
	const char *project; /* absolute, without links */
	const char *state;   /* where records are; NULL with `print` */
	bool undo;           /* take it out */
	bool print;          /* write nothing: `after` says what an empty file would get */
	bool force;          /* also replace, or take out, what we did not write */
	struct mr_client_change changes[MR_CLIENT_FILES];
	size_t len;
	struct mr_texts notes; /* what a person should know of it */
};

/*
 * Change the files, or only plan it. MR_ECONFLICT when an entry of our name is not ours, MR_EFORMAT
 * when a file cannot be read: then nothing was written.
 */
MR_CHECK enum mr_code mr_client_change(struct mr_client_set *set);
