/*
 * mailbox/channel.h - the ways in which a prompt gets to an agent that does not ask for it.
 *
 * A channel is a table of two functions, each in a file of its own.
 */
#pragma once

#include "mailbox/binding.h"
#include "mailbox/notifier_settings.h"

/* The agent that is told. */
struct mr_notifier_target {
	const char *session;               /* the directory of its session */
	struct mr_mailbox_binding binding; /* its mailbox */
	const char *agent_name;            /* or NULL, as all below */
	const char *tmux_session;          /* in which it runs */
	const char *tool;                  /* its program */
	const char *home;                  /* the program's own directory */
	const char *base_url, *api;        /* as in struct mr_notice_prompt */
};

struct mr_channel {
	const char *name; /* in the ledger */
	/* Could a prompt be delivered without interrupting the agent? `*busy` says why not, else it
	 * is left NULL. Failing means that the channel is dead. */
	enum mr_code (*look)(struct mr_ctx *cx, const struct mr_notifier_target *target,
		const struct mr_notifier_settings *settings, const char **busy);
	/* Deliver it. When that fails, `*perhaps` says whether it may have arrived all the same. */
	enum mr_code (*deliver)(struct mr_ctx *cx, const struct mr_notifier_target *target,
		const struct mr_notifier_settings *settings, const char *prompt, bool *perhaps);
};

/* Types the prompt into the agent's pane. Busy: its program is at work or asks something, somebody
 * scrolls, or the screen does not rest. */
extern const struct mr_channel mr_channel_tmux;
/* Runs the settings' command with the prompt on its standard input; delivered when it ends with
 * status 0. Never busy. */
extern const struct mr_channel mr_channel_command;
