/*
 * team/error.h - the team contract's errors: a type word, a text, and data a client can act on.
 *
 * The contract (op/team/contract_team.c) shows them as {"error": {type, message, recoverable,
 * data}}.
 */
#pragma once

#include "base/ctx.h"
#include "text/value.h"

/* Types (spec/coordination.md section 8). */
#define MR_TEAM_INVALID_ARGUMENT     "INVALID_ARGUMENT"
#define MR_TEAM_NOT_FOUND            "NOT_FOUND"
#define MR_TEAM_NAME_TAKEN           "NAME_TAKEN"
#define MR_TEAM_RECIPIENT_NOT_FOUND  "RECIPIENT_NOT_FOUND"
#define MR_TEAM_RESERVATION_CONFLICT "FILE_RESERVATION_CONFLICT"
#define MR_TEAM_RESERVATION_ACTIVE   "RESERVATION_ACTIVE"
#define MR_TEAM_ARCHIVE_LOCK         "ARCHIVE_LOCK_TIMEOUT"
#define MR_TEAM_CAPABILITY_DENIED    "CAPABILITY_DENIED"
#define MR_TEAM_UNHANDLED            "UNHANDLED_EXCEPTION"
#define MR_TEAM_CONTACT_REQUIRED     "CONTACT_REQUIRED"
#define MR_TEAM_CONTACT_BLOCKED      "CONTACT_BLOCKED"
#define MR_TEAM_QUOTA_EXCEEDED       "QUOTA_EXCEEDED"
#define MR_TEAM_ATTACHMENT_REJECTED  "ATTACHMENT_REJECTED"
#define MR_TEAM_PAYLOAD_TOO_LARGE    "PAYLOAD_TOO_LARGE"
#define MR_TEAM_PERMISSION_DENIED    "PERMISSION_DENIED"
#define MR_TEAM_SEARCH_SYNTAX        "SEARCH_SYNTAX"

/* Fill cx->err with the type's code and the text; returns the code. */
enum mr_code mr_team_fail(struct mr_ctx *cx, const char *type, const char *fmt, ...)
	MR_PRINTF(3, 4);
/* INVALID_ARGUMENT with data.argument. */
enum mr_code mr_team_refuse(struct mr_ctx *cx, const char *argument, const char *fmt, ...)
	MR_PRINTF(3, 4);

/*
 * A member of the error's data object, after one of the above; returns the error's code, so that a
 * function can end with it. Texts and values are kept, not copied: they live in the request's
 * arena or are constants.
 */
enum mr_code mr_team_fail_text(struct mr_ctx *cx, const char *key, const char *text);
enum mr_code mr_team_fail_int(struct mr_ctx *cx, const char *key, int64_t number);
enum mr_code mr_team_fail_texts(struct mr_ctx *cx, const char *key, const struct mr_texts *texts);
enum mr_code mr_team_fail_value(struct mr_ctx *cx, const char *key, const struct mr_value *value);
/* Values for it: a text, and a map of `len` pairs, whose array is copied. */
struct mr_value mr_team_value_text(const char *text);
struct mr_value mr_team_value_map(struct mr_arena *arena, const struct mr_pair *pairs, size_t len);
/* A list of `len` nulls, to be filled. */
struct mr_value mr_team_value_list(struct mr_arena *arena, size_t len);
/* The data object, or NULL when there is none. */
const struct mr_value *mr_team_fail_data(const struct mr_err *err);

/* The names most similar to `asked`, best first, at most MR_TEAM_SUGGESTIONS. */
struct mr_texts mr_team_nearest(struct mr_arena *arena, const char *asked,
	const struct mr_texts *names);
