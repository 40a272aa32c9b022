/*
 * app/client.h - the coding agents' programs that Mailroom can be configured in, and the content of
 * their files. Pure: files are read and written elsewhere.
 *
 * A client knows us as the MCP server "mailroom", over HTTP or as a program it starts. No secret is
 * ever written: where a token is needed, the entry names the variable MAILROOM_TOKEN, or has the
 * client ask for it.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "text/value.h"

#define MR_CLIENT_SERVER    "mailroom"
#define MR_CLIENT_TOKEN_ENV "MAILROOM_TOKEN"

/* What the entry is to contain. */
struct mr_client_wish {
	const char *url;          /* of MCP over HTTP; NULL: the client starts `command` mcp */
	const char *command;      /* for that, and for hooks */
	const char *storage_root; /* for that: where data is kept; NULL: as configured */
	bool with_token;
};

enum { MR_CLIENT_FILES = 4 };

struct mr_client;

/* The parts of a file that are, or may be, ours. */
struct mr_client_parts {
	const struct mr_value *named; /* an entry of our name without our marks, or NULL: it may
					 be the user's */
	struct mr_bytes block;        /* the block between our marks; `data` NULL: there is none */
};
/* Are the parts equal? */
bool mr_client_parts_equal(const struct mr_client_parts *a, const struct mr_client_parts *b);

struct mr_client_file {
	const char *path; /* below the project or the home directory; NULL ends the list */
	bool is_in_home;
	const char *what; /* for people */
	/* Find our parts in the text. MR_EFORMAT when it cannot be parsed. */
	enum mr_code (*find)(struct mr_arena *arena, const struct mr_client *client,
		struct mr_bytes text, struct mr_client_parts *out, struct mr_err *err);
	/*
	 * The content with our entry, in place of any other of our name; with `wish` NULL, without
	 * it and with what `old` (or NULL) had under our name. `text` is the current content, empty
	 * and not NULL when there is no file. When nothing changes `*out` is `text` itself.
	 */
	enum mr_code (*edit)(struct mr_arena *arena, const struct mr_client *client,
		const struct mr_client_wish *wish, const struct mr_client_parts *old,
		struct mr_bytes text, struct mr_bytes *out, struct mr_err *err);
};

/* What our hooks run, behind the program. */
#define MR_CLIENT_EDIT_HOOK    "guard hook pre-tool-use"
#define MR_CLIENT_SESSION_HOOK "guard hook session"

struct mr_client_hook {
	const char *event;   /* PreToolUse; NULL ends the list */
	const char *matcher; /* of tools, or NULL */
	const char *words;   /* one of the two above */
};

struct mr_client {
	const char *name;                             /* claude-code */
	const char *title;                            /* Claude Code */
	struct mr_client_file files[MR_CLIENT_FILES]; /* the first has the entry */
	const char *key;                              /* of JSON: what servers are called there */
	const char *url_key;                          /* and a server's address */
	const char *token_text;                       /* the header's value */
	bool has_type;                                /* says "type": "http" or "stdio" */
	bool has_inputs;                              /* asks for the token, once */
	bool is_opencode;                             /* its own words for type, command and env */
	const struct mr_client_hook *hooks;           /* or NULL */
	bool has_own_hooks;                           /* they are in a file of their own */
	int hook_timeout;                             /* in the client's unit */
	const char *program;                          /* by which it is found in PATH */
	const char *const *list; /* words with which that tells how its servers are; or NULL */
	const char *hint;        /* what the person has to do in it, or NULL */
};

/* All clients; the last has no name. */
extern const struct mr_client mr_clients[];
/* Their names and "claude", NULL-terminated. */
extern const char *const mr_client_names[];
/* NULL when there is none of that name. */
const struct mr_client *mr_client_find(const char *name);

/* How the client is configured to reach us, according to its first file. */
struct mr_client_entry {
	bool is_there;
	const char *url;     /* or NULL */
	const char *command; /* or NULL */
	bool sends_token;    /* it names the variable of the token, or has one */
};
MR_CHECK enum mr_code mr_client_look(struct mr_arena *arena, const struct mr_client *client,
	struct mr_bytes text, struct mr_client_entry *out, struct mr_err *err);
