/*
 * workspace/draft_state.h - what a case remembers of its drafts, in data/drafts.json: which content
 * was valid when, and which content the server has.
 */
#pragma once

#include "workspace/change.h"
#include "workspace/frame.h"

/* "sha256:..." of a draft's file. */
const char *mr_work_draft_hash(struct mr_arena *arena, struct mr_bytes file);
/* Where a draft stands. */
const char *mr_work_draft_path(struct mr_arena *arena, const char *case_path, const char *name);

struct mr_work_draft_state {
	const char *name;
	const char *hash, *validated; /* or NULL */
	const char *saved;            /* the hash of what the server has, or NULL */
};
struct mr_work_draft_states {
	const char *path;
	struct mr_work_draft_state *items;
	size_t len;
};
/* None when there is no file; draft_state_invalid. */
MR_CHECK enum mr_code mr_work_draft_states_load(struct mr_ctx *cx, struct mr_work *work,
	const char *case_path, struct mr_work_draft_states *out);
/* What is remembered of a draft, or NULL. */
const struct mr_work_draft_state *mr_work_draft_state_of(const struct mr_work_draft_states *states,
	const char *name);
/* The draft is valid with this content now, or forgotten when `hash` is NULL; as part of a change.
 */
void mr_work_draft_state_put(struct mr_work_change *change, struct mr_work_draft_states *states,
	const char *name, const char *hash);
/* The server has stored the draft with this content; as part of a change. */
void mr_work_draft_state_saved(struct mr_work_change *change, struct mr_work_draft_states *states,
	const char *name, const char *hash);
/* Does the server have the draft as its file is now? */
bool mr_work_draft_is_saved(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_states *states, const char *case_path, const char *name);
