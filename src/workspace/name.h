/*
 * workspace/name.h - ids, refs and names of a workspace, as its contract spells them. Pure.
 *
 * A message id is stable for ever: it is made from the message's own Message-ID and Date. Cases,
 * categories and contacts have uids, a letter, a date and a number, and directories or files named
 * "<uid>-<slug>"; a ref is such a uid with anything after a dash.
 */
#pragma once

#include "base/ctx.h"
#include "base/str.h"

#include <stdint.h>

enum { MR_WORK_NAME_BYTES = 200 }; /* a slug: with its uid it must fit into a file name */

/* 64-bit FNV-1a as 16 lower-case hexadecimal digits. */
const char *mr_work_fnv(struct mr_arena *arena, struct mr_bytes bytes);

/* A Message-ID as ids are compared: without blanks, brackets and commas around it, in lower case;
 * NULL when nothing is left. */
const char *mr_work_normal_id(struct mr_arena *arena, const char *text);
/* The local id of a message with that normalised Message-ID; `date` is YYYYMMDD or NULL. */
const char *mr_work_message_id(struct mr_arena *arena, const char *normal_id, const char *date);
/* The same of one without a Message-ID, by where it was found. */
const char *mr_work_location_id(struct mr_arena *arena, const char *mailbox_name,
	int64_t uid_validity, int64_t uid, const char *date);
/* A message id that was given: one path segment; else invalid_request. */
MR_CHECK enum mr_code mr_work_check_message_id(struct mr_ctx *cx, const char *id);

enum mr_work_kind {
	MR_WORK_CASE,
	MR_WORK_CATEGORY, /* of archived messages */
	MR_WORK_CONTACT,
};
/* The uid of a ref, or invalid_request. */
MR_CHECK enum mr_code mr_work_ref_uid(struct mr_ctx *cx, enum mr_work_kind kind, const char *ref,
	const char **out_uid);
/* Take the name of a directory or a file (without ".md") apart; false when it is no "<uid>" or
 * "<uid>-<slug>" of this kind. `out_slug` may be NULL. */
bool mr_work_split_name(struct mr_arena *arena, enum mr_work_kind kind, const char *name,
	const char **out_uid, const char **out_slug);
/* The uid of a date (YYYYMMDD) and a number from 1. */
const char *mr_work_uid(struct mr_arena *arena, enum mr_work_kind kind, const char *date,
	int64_t number);
/* The number of a uid of that date; 0 for other dates. */
int64_t mr_work_uid_number(const char *uid, const char *date);

/* A name that people gave, as a part of a directory's name; never empty. */
const char *mr_work_slug(struct mr_arena *arena, const char *name);
/* A subject as a part of a draft's file name. */
const char *mr_work_draft_slug(struct mr_arena *arena, const char *subject);
/* The name of a case, category or contact: not blank, no separators; else invalid_request.
 * `*out` is trimmed. */
MR_CHECK enum mr_code mr_work_check_name(struct mr_ctx *cx, const char *what, const char *name,
	const char **out);
/* A group, tag or other single path segment: one line of UTF-8; else invalid_request. */
MR_CHECK enum mr_code mr_work_check_segment(struct mr_ctx *cx, const char *what, const char *text);
/* A draft's file name: one segment that ends in ".md". */
MR_CHECK enum mr_code mr_work_check_draft_name(struct mr_ctx *cx, const char *name);

/* "push_20260606T120000Z" of a time, with "_<again>" when it is not 0. */
const char *mr_work_push_id(struct mr_arena *arena, int64_t now_us, int again);
/* The number after a push id's time, 0 without one: items of one second are in its order. */
int64_t mr_work_push_again(const char *push_id);
/* The local id of the mail that a queue item sends. */
const char *mr_work_sent_id(struct mr_arena *arena, const char *push_id);
