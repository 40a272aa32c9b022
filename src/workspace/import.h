/*
 * workspace/import.h - takes mail in from files: single messages, mbox files, Maildirs, directories
 * of .eml files.
 *
 * A message becomes the same evidence, with the same id, as if it had been pulled, and waits in
 * triage. One that is there already adds nothing. A message that cannot be taken in is told by name
 * and the others go on.
 */
#pragma once

#include "text/mime.h"
#include "workspace/config.h"
#include "workspace/frame.h"
#include "workspace/remote.h"

struct mr_work_import {
	struct mr_texts paths; /* absolute, or relative to `base` */
	const char *base;      /* the directory that relative paths are meant in */
};

struct mr_work_import_failure {
	const char *source; /* the file, and for an mbox the number of the message: "a.mbox:3" */
	const char *error_code, *error;
};

struct mr_work_imported {
	int64_t found_count, new_message_count, already_present_count, failed_count;
	int64_t triage_created_count;
	struct mr_texts message_ids; /* of the new ones */
	struct mr_work_import_failure *failures;
	size_t failure_count;
};

MR_CHECK enum mr_code mr_work_import(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_import *request, struct mr_work_imported *out);

/* --- what pulling does with each message, too --- */

/*
 * The id of a message: by its Message-ID and date, else by where it was found (`location`), else by
 * its content. When another message has that id already, one that is told apart by its content:
 * `*out_present` says that the very message is there.
 */
MR_CHECK enum mr_code mr_work_take_id(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_mime *mime, const struct mr_work_location *location, const char **out_id,
	bool *out_present);
/* Is a message that is kept the same mail? Servers add header fields on the way, so copies of one
 * mail from two mailboxes differ in bytes; what was written, when and by whom is the same. */
bool mr_work_take_is_same(struct mr_ctx *cx, struct mr_bytes present, const struct mr_mime *mime);
/* Make the names of messages durable that were put in place. */
MR_CHECK enum mr_code mr_work_take_sync(struct mr_ctx *cx, struct mr_work *work);
/* Put messages that were taken in into the index and refresh their views, and those of their
 * conversations; `collections` (or NULL) are stale, too. */
MR_CHECK enum mr_code mr_work_take_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_texts *ids, const struct mr_texts *collections);
