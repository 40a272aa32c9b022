/*
 * mailbox/notice_block.h - senders' notices as a wake-up shows them (spec/mailbox.md 18.5). Pure.
 *
 * What a sender wrote stands quoted, line by line, in a prompt that an agent obeys. So nothing in
 * it may look like a line of ours, be a placeholder of a template, or be a command to a terminal.
 */
#pragma once

#include "mailbox/message.h"

enum mr_notice_auth_mode {
	MR_NOTICE_PERMISSIVE, /* a notice whose sender is not verified is shown, and recorded so */
	MR_NOTICE_REQUIRED,   /* it is not shown */
};
enum mr_notice_verifier { MR_NOTICE_NO_VERIFIER, MR_NOTICE_SHARED_TOKEN };
/* The contract's words, in the order of the enums, NULL-terminated. */
extern const char *const mr_notice_auth_modes[]; /* "permissive-log", "required" */
extern const char *const mr_notice_verifiers[];  /* "none", "shared-token" */

struct mr_notice_rules {
	bool render; /* show notices at all */
	enum mr_notice_auth_mode auth_mode;
	enum mr_notice_verifier verifier;
	struct mr_texts tokens;    /* those that the verifier accepts; secret */
	int64_t per_message_chars; /* of one notice's text; less than 1 is 1 */
	int64_t total_chars;       /* of all notices with their headings */
};

struct mr_notice_mail {
	const char *ref;
	const char *from;                                   /* the sender's address */
	const struct mr_mailbox_notify_block *notify_block; /* or NULL */
	const struct mr_mailbox_notify_auth *notify_auth;   /* or NULL */
};

/* What became of one message's notice: for the audit, which never holds text or token. */
struct mr_notice_entry {
	const char *ref;
	bool rendered;
	const char *auth_scheme;  /* "none", "shared-token" */
	const char *auth_outcome; /* "passed", "failed", "skipped" */
	const char *auth_detail;
	int64_t block_chars; /* shown; 0 when it was not */
	bool truncated;
};

struct mr_notice_slots {
	const char
		*prepend;   /* stands before the prompt: "" or text with an empty line at its end */
	const char *append; /* stands in it: "" or text with an empty line at its beginning */
	struct mr_notice_entry *entries;
	size_t len;
};

/* The notices of `mails`, oldest first. Texts are valid UTF-8. */
void mr_notice_block_render(struct mr_arena *arena, const struct mr_notice_rules *rules,
	const struct mr_notice_mail *mails, size_t count, struct mr_notice_slots *out);

/* `text` without what could be more than text: control and direction characters become U+FFFD,
 * ends of lines and tabs blanks, braces of placeholders are set apart. */
const char *mr_notice_block_plain(struct mr_arena *arena, const char *text);
