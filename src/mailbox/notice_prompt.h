/* mailbox/notice_prompt.h - the text that wakes an agent (spec/mailbox.md 18.4). Pure. */
#pragma once

#include "base/arena.h"
#include "mailbox/notice_block.h"

enum mr_notice_mode { MR_NOTICE_ANY_INBOX, MR_NOTICE_UNREAD_ONLY };
extern const char *const mr_notice_modes[]; /* "any_inbox", "unread_only"; NULL-terminated */

struct mr_notice_prompt {
	enum mr_notice_mode mode;
	size_t count; /* messages that it is about */
	/* Where the mail API of the agent answers: the URL, and what stands before /mail/ there
	 * ("/v1" of a gateway, "" of a server for several agents). NULL: nowhere; then it names
	 * commands. */
	const char *base_url, *api;
	/* The skill that processes mail, as the agent's program has it, and the program ("claude",
	 * "codex", or another or NULL); NULL: it has none. */
	const char *skill, *tool;
	const char *appendix; /* "" for none */
	const struct mr_notice_slots *slots;
};

/* Valid UTF-8; ends without white space. */
const char *mr_notice_prompt_write(struct mr_arena *arena, const struct mr_notice_prompt *prompt);
