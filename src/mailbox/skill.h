/*
 * mailbox/skill.h - the skills that teach agents their mail, in the homes of agents' programs.
 *
 * A skill is a directory with SKILL.md. Beside that file stands a record of the digest of what was
 * written. A file that still has this digest is ours: it is replaced by a newer one, and removed.
 * What somebody has changed since is kept, and what was never ours is not touched.
 */
#pragma once

#include "base/ctx.h"
#include "base/str.h"

/* The programs, NULL-terminated: claude, codex, gemini. */
extern const char *const mr_mailbox_skill_tools[];

struct mr_mailbox_skill_request {
	const char *tool; /* NULL: each whose home is there */
	const char *home; /* of that tool, in place of where it usually is */
	bool force;       /* also what somebody has changed; installing: also what was never ours */
	const char *directory; /* the working directory, for a relative home */
	/* HOME, CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME; NULL: not set. */
	const char *user_home, *claude_home, *codex_home, *gemini_home;
};

enum mr_mailbox_skill_state {
	MR_MAILBOX_SKILL_ABSENT,
	MR_MAILBOX_SKILL_CURRENT,
	MR_MAILBOX_SKILL_OUTDATED, /* as we wrote it, by another version */
	MR_MAILBOX_SKILL_EDITED,   /* we wrote it, and somebody has changed it */
	MR_MAILBOX_SKILL_FOREIGN,  /* somebody else's, or a link */
};
extern const char *const mr_mailbox_skill_states[]; /* their words, NULL-terminated */

struct mr_mailbox_skill {
	const char *tool;
	const char *name; /* of the skill */
	const char *path; /* of its SKILL.md, absolute */
	enum mr_mailbox_skill_state state;
	const char *problem; /* why it cannot be loaded by an agent; or NULL */
	/* What was done: "installed", "updated", "replaced", "unchanged", "kept", "removed",
	 * "absent"; NULL when we only looked. */
	const char *action;
};
struct mr_mailbox_skills {
	struct mr_mailbox_skill *items; /* tool by tool */
	size_t len;
};

/* The name of the skill that tells an agent how to work through its mail by its gateway, when there
 * is one of that name in this directory, a program's own; else NULL. */
const char *mr_mailbox_skill_of_gateway(struct mr_arena *arena, const char *directory);

/* MR_EINVAL: an unknown tool, or a home without its tool. MR_ENOTFOUND: no tool was named, and none
 * has a home here. The same holds for those below. */
MR_CHECK enum mr_code mr_mailbox_skill_status(struct mr_ctx *cx,
	const struct mr_mailbox_skill_request *request, struct mr_mailbox_skills *out);
/* MR_ECONFLICT: there is another file in the place of one; then nothing was written. */
MR_CHECK enum mr_code mr_mailbox_skill_install(struct mr_ctx *cx,
	const struct mr_mailbox_skill_request *request, struct mr_mailbox_skills *out);
MR_CHECK enum mr_code mr_mailbox_skill_uninstall(struct mr_ctx *cx,
	const struct mr_mailbox_skill_request *request, struct mr_mailbox_skills *out);
