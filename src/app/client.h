/*
 * app/client.h - the coding agents' programs we can be entered into, and what their files then say.
 * Pure: files are read and written elsewhere.
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

/* What the entry is to say. */
struct mr_client_wish {
	const char *url;          /* of MCP over HTTP; NULL: the client starts `command` mcp */
	const char *command;      /* for that, and for hooks */
	const char *storage_root; /* for that: where data is kept; NULL: as configured */
	bool with_token;
};

enum { MR_CLIENT_FILES = 4 };

struct mr_client;

/* What of a file stands where we write. */
struct mr_client_parts {
	const struct mr_value *named; /* what has our name and no marks of ours, or NULL: it may be
					 anybody's */
	struct mr_bytes block;        /* what is between our marks; `data` NULL when nothing is */
};
/* Do both say the same? */
bool mr_client_parts_equal(const struct mr_client_parts *a, const struct mr_client_parts *b);

struct mr_client_file {
	const char *path; /* below the project or the home directory; NULL ends the list */
	bool is_in_home;
	const char *what; /* for people */
	/* What of the text is where we write. MR_EFORMAT when the text is not of its kind. */
	enum mr_code (*find)(struct mr_arena *arena, const struct mr_client *client,
		struct mr_bytes text, struct mr_client_parts *out, struct mr_err *err);
	/*
	 * What the file says with us in it, in place of whatever has our name; `wish` NULL: without
	 * us, and with what `old` (or NULL) had under our name. `text` is what it says now, empty
	 * and not NULL when there is no file. When nothing changes `*out` is `text` itself.
	 */
	enum mr_code (*edit)(struct mr_arena *arena, const struct mr_client *client,
		const struct mr_client_wish *wish, const struct mr_client_parts *old,
		struct mr_bytes text, struct mr_bytes *out, struct mr_err *err);
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
	const char *hint; /* what else a person may want to know, or NULL */
};

/* All clients; the last has no name. */
extern const struct mr_client mr_clients[];
/* Their names, NULL-terminated. */
extern const char *const mr_client_names[];
/* NULL when there is none of that name. */
const struct mr_client *mr_client_find(const char *name);

/* How the client knows us, by its first file. */
struct mr_client_entry {
	bool is_there;
	const char *url;     /* or NULL */
	const char *command; /* or NULL */
};
MR_CHECK enum mr_code mr_client_look(struct mr_arena *arena, const struct mr_client *client,
	struct mr_bytes text, struct mr_client_entry *out, struct mr_err *err);
