/*
 * mailbox/session.h - the manifest of an agent's session (spec/mailbox.md 19).
 *
 * The Houmao runtime writes these files and refuses keys that it does not know. So we read only
 * what mail needs, ignore the rest, and write nothing of our own: a change of the binding replaces
 * launch_plan.mailbox and keeps everything else.
 */
#pragma once

#include "mailbox/binding.h"

enum { MR_MAILBOX_SESSION_BYTES = 1 << 20 };

struct mr_mailbox_session {
	const char *path; /* absolute */
	const char *dir;  /* that it stands in */
	const struct mr_value *value;
	const char *agent_name, *agent_id; /* or NULL, as all below */
	const char *tmux_session;
	const char *session_id;
	const char *backend, *tool;
	const char *generation_id;
	struct mr_mailbox_binding binding; /* or unbound */
};

/*
 * MR_ENOTFOUND: no such file. MR_EFORMAT: not JSON (half-written), or not a manifest. MR_EINVAL: a
 * binding with a field that cannot be. The message names the file, and what to do.
 */
MR_CHECK enum mr_code mr_mailbox_session_read(struct mr_ctx *cx, const char *path,
	struct mr_mailbox_session *out);

/*
 * Replace the binding, or with an unbound one take it away. `*manifest` is read again first, under
 * a lock that other writers of ours respect, and has the new binding afterwards.
 */
MR_CHECK enum mr_code mr_mailbox_session_bind(struct mr_ctx *cx,
	struct mr_mailbox_session *manifest, const struct mr_mailbox_binding *binding);

/* A JSON file as the runtime writes its own: two blanks a level, keys sorted, ASCII. Atomic. */
MR_CHECK enum mr_code mr_mailbox_session_write(struct mr_ctx *cx, const char *path,
	const struct mr_value *value);
/* Read one: MR_ENOTFOUND, MR_EFORMAT when it is not a JSON object. */
MR_CHECK enum mr_code mr_mailbox_session_load(struct mr_ctx *cx, const char *path,
	const struct mr_value **out);
/* The text under `key` unless it is blank; NULL when there is none. */
const char *mr_mailbox_session_text(const struct mr_value *map, const char *key);
/* A copy of the map with this value under `key`. */
struct mr_value mr_mailbox_session_with(struct mr_arena *arena, const struct mr_value *map,
	const char *key, struct mr_value value);
