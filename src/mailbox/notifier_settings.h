/*
 * mailbox/notifier_settings.h - how an agent is told of its mail: the settings of its notifier
 * (spec/mailbox.md 18.1).
 */
#pragma once

#include "base/ctx.h"
#include "mailbox/notice_prompt.h"
#include "text/value.h"

enum mr_notifier_channel {
	MR_NOTIFIER_TMUX,    /* the prompt is typed into the agent's terminal */
	MR_NOTIFIER_COMMAND, /* a program gets it on its standard input */
	MR_NOTIFIER_NONE,    /* only who asks is told: long polls, hooks */
};
extern const char *const mr_notifier_channels[]; /* in the order of the enum, NULL-terminated */

enum mr_notifier_context_policy { MR_NOTIFIER_CONTINUE_CURRENT, MR_NOTIFIER_CLEAR_CONTEXT };
enum mr_notifier_pre_action { MR_NOTIFIER_NO_ACTION, MR_NOTIFIER_COMPACT };
extern const char *const mr_notifier_context_policies[];
extern const char *const mr_notifier_pre_actions[];
extern const char *const mr_notifier_renders[]; /* "disabled", "enabled" */

struct mr_notifier_settings {
	bool enabled;
	int64_t interval_seconds; /* 0: none */
	enum mr_notice_mode mode;
	const char *appendix_text; /* never NULL */
	enum mr_notifier_context_policy context_error_policy;
	enum mr_notifier_pre_action pre_notification_context_action;
	struct mr_notice_rules rules;
	/* What happened last; or NULL. */
	const char *last_poll_at, *last_notification_at, *last_error;
	/* Ours: how the prompt gets to the agent. Never set over HTTP: it names a program. */
	enum mr_notifier_channel channel;
	struct mr_texts command; /* its words; of the channel command */
	int64_t command_timeout_seconds;
};

enum {
	MR_NOTIFIER_INTERVAL_MAX = 7 * 24 * 3600,
	MR_NOTIFIER_APPENDIX_BYTES = 64 << 10,
	MR_NOTIFIER_TOKENS = 1000,
	MR_NOTIFIER_TOKEN_BYTES = 4096,
	MR_NOTIFIER_CHARS_MAX = 1 << 20,
	MR_NOTIFIER_COMMAND_SECONDS = 30,
	MR_NOTIFIER_COMMAND_SECONDS_MAX = 3600,
};

/* What holds before anything was set. */
struct mr_notifier_settings mr_notifier_settings_default(void);

/*
 * Read the body of a PUT at `at` (a map) over `before`: what it leaves out is kept (appendix,
 * rules, channel) or goes back to its default (mode, policies), as the contract has it. Problems,
 * unknown keys last, go to at->issues; true when there were none. A token that is a stored one's
 * digest, as mr_notifier_settings_tokens() shows it, stands for that token.
 */
bool mr_notifier_settings_read(struct mr_arena *arena, const struct mr_cursor *at,
	const struct mr_notifier_settings *before, struct mr_notifier_settings *out);

/* The tokens as they may be shown: "sha256:" and 16 digits of each one's digest. */
struct mr_texts mr_notifier_settings_tokens(struct mr_arena *arena, const struct mr_texts *tokens);
