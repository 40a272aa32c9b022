/*
 * app/client_trust.h - what a person still has to allow in a client before it uses Mailroom, and
 * what the client itself says about that.
 */
#pragma once

#include "app/client.h"

enum mr_client_trust {
	MR_CLIENT_TRUSTED,    /* also when that is not known */
	MR_CLIENT_UNTRUSTED,  /* the folder: its configuration and hooks are not used */
	MR_CLIENT_UNAPPROVED, /* the server */
};
/*
 * From the client's own files below `home` and in the project; nothing is run. Claude Code keeps
 * there whether a folder is trusted and its servers approved, Gemini CLI which folders are trusted.
 * Paths are without links.
 */
enum mr_client_trust mr_client_trust(struct mr_arena *arena, const struct mr_client *client,
	const char *project, const char *home);

/* What a client's list of its servers says about ours. */
enum mr_client_verdict {
	MR_CLIENT_SILENT,    /* nothing */
	MR_CLIENT_LISTED,    /* it is configured; the client does not try it */
	MR_CLIENT_CONNECTED, /* the client reaches it */
	MR_CLIENT_PENDING,   /* a person has to approve it */
	MR_CLIENT_DISABLED,  /* the folder is not trusted, or a person has switched it off */
	MR_CLIENT_FAILED,    /* the client tried in vain */
};
extern const char *const mr_client_verdicts[]; /* their names */
/* `*line` is the line that says so, on one line and without colours, or NULL. Pure. */
enum mr_client_verdict mr_client_verdict(struct mr_arena *arena, const char *output,
	const char **line);
