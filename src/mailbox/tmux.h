/*
 * mailbox/tmux.h - the terminal of an agent: a pane of its tmux session, in which one can type.
 *
 * The server of tmux is the one that the program `tmux` finds for this process. All functions run
 * that program, and wait for it for some seconds at most.
 */
#pragma once

#include "base/ctx.h"

/* What a tmux command (argv[0] is "tmux") prints, without the end of its line; NULL when it fails
 * or prints nothing. */
const char *mr_tmux_ask(struct mr_ctx *cx, const char *const *argv);
/* Run a tmux command; did it work? */
bool mr_tmux_run(struct mr_ctx *cx, const char *const *argv);

struct mr_tmux_pane {
	const char *id;      /* "%3" */
	const char *pid;     /* of the process that tmux started in it */
	const char *command; /* the name of the program that owns its terminal */
	bool is_dead;        /* its program has ended, and tmux keeps the pane */
	bool is_in_mode;     /* somebody scrolls or selects in it: what is typed would not arrive */
};

/* The agent's pane: the first one of the session's first window. MR_ENOTFOUND: no such session, no
 * server, or no tmux; the message says which. */
MR_CHECK enum mr_code mr_tmux_find(struct mr_ctx *cx, const char *session,
	struct mr_tmux_pane *out);

struct mr_tmux_screen {
	const char *text;  /* the visible lines, wrapped ones joined */
	const char *state; /* changes when text, cursor or history do: compare with mr_str_eq() */
};
/* MR_ENOTFOUND: the pane is gone. MR_ECONFLICT: its program has ended. */
MR_CHECK enum mr_code mr_tmux_look(struct mr_ctx *cx, const struct mr_tmux_pane *pane,
	struct mr_tmux_screen *out);
/* Does nothing change on the screen for so long? */
MR_CHECK enum mr_code mr_tmux_is_quiet(struct mr_ctx *cx, const struct mr_tmux_pane *pane,
	int quiet_ms, bool *out);

/*
 * Paste `text`, see it on the screen, press Enter, see that the screen answers. As one bracketed
 * paste where the pane's program takes such. Control characters but ends of lines are left out.
 * MR_ECONFLICT: the program has ended, or somebody scrolls in the pane; then nothing was typed.
 * MR_ETIMEOUT: the text did not show up, or nothing changed after Enter; it may stand in the pane.
 * MR_ENOTFOUND: the pane is gone.
 */
MR_CHECK enum mr_code mr_tmux_type(struct mr_ctx *cx, const char *session, const char *text);
