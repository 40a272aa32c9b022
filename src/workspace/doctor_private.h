/* workspace/doctor_private.h - what the files of doctor share. */
#pragma once

#include "workspace/collection.h"
#include "workspace/config.h"
#include "workspace/doctor.h"
#include "workspace/queue.h"
#include "workspace/text_set.h"

/* One examination. What it keeps is in the arena of `cx`. */
struct mr_work_exam {
	struct mr_ctx *cx;
	struct mr_work *work;
	struct mr_work_doctored *out;
	size_t cap;                             /* issues there is room for */
	const struct mr_work_config *config;    /* NULL: it cannot be used */
	const struct mr_work_push_items *queue; /* NULL: it could not be listed */
	struct mr_work_text_set emls, sidecars; /* ids of the files in .afmail/messages */
	struct mr_work_text_set records;        /* ids of the files in messages/ */
	struct mr_work_text_set troubled;       /* ids with an issue: their views are not judged */
	/* Directories of lists that cannot be read, or name messages that are not there: their
	 * views are not judged either. */
	struct mr_work_text_set broken_lists;
};

enum mr_work_repair { MR_WORK_BY_HAND, MR_WORK_REPAIRABLE };

/* Tell of an issue. `path` may be NULL, and `refs`, which ends with NULL. */
void mr_work_exam_tell(struct mr_work_exam *exam, const char *code, enum mr_work_repair repair,
	const char *path, const char *const *refs, const char *fmt, ...) MR_PRINTF(6, 7);
#define MR_WORK_REFS(...) ((const char *const[]){ __VA_ARGS__, NULL })
/* The failure that cx->err holds, as an issue that has its word as the code; it is cleared. */
void mr_work_exam_tell_failure(struct mr_work_exam *exam, const char *path);
/* Is there a message of this id, raw or as a record? */
bool mr_work_exam_knows(const struct mr_work_exam *exam, const char *message_id);

/* doctor_message.c: the files of messages. Fills the sets of ids; first of all. */
MR_CHECK enum mr_code mr_work_exam_list_messages(struct mr_work_exam *exam);
MR_CHECK enum mr_code mr_work_exam_messages(struct mr_work_exam *exam);

/* doctor_collection.c: cases, categories and dispositions. */
MR_CHECK enum mr_code mr_work_exam_collections(struct mr_work_exam *exam);
/* The directory that a case should have; NULL when it has it, or the document cannot be read. */
const char *mr_work_exam_right_name(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place);

/* doctor_people.c: contacts and personas. */
MR_CHECK enum mr_code mr_work_exam_contacts(struct mr_work_exam *exam);
MR_CHECK enum mr_code mr_work_exam_personas(struct mr_work_exam *exam);

/* doctor_view.c: templates, and whether the projections are up to date. */
MR_CHECK enum mr_code mr_work_exam_templates(struct mr_work_exam *exam);
MR_CHECK enum mr_code mr_work_exam_views(struct mr_work_exam *exam);
