/* workspace/config_private.h - what the files that make up the configuration share. */
#pragma once

#include "workspace/config.h"

enum { MR_WORK_IDENTITIES_MAX = 1000, MR_WORK_MAILBOXES_MAX = 1000, MR_WORK_STEPS_MAX = 100 };

extern const char *const mr_work_import_as_names[];   /* "triage", "spam", "trashed", NULL */
extern const char *const mr_work_reason_mode_names[]; /* "required", "optional", NULL */
extern const char *const mr_work_item_field_names[];  /* of archive.message_index, NULL */

/* ASCII letters, digits, '_' and '-': the ids of mailboxes and identities. */
bool mr_work_is_config_id(const char *text);
/* The sections "imap" and "smtp", read with all that is wrong with them, and written. */
void mr_work_servers_at(const struct mr_cursor *root, struct mr_work_config *config);
void mr_work_imap_write(struct mr_out *out, const struct mr_work_server *imap);
void mr_work_smtp_write(struct mr_out *out, const struct mr_work_server *smtp);
/* The problems that were found become config_invalid; MR_OK without any. `what` is the document. */
MR_CHECK enum mr_code mr_work_config_verdict(struct mr_ctx *cx, const struct mr_issues *issues,
	const char *what);
bool mr_work_is_blank(struct mr_arena *arena, const char *text);
/* The mailboxes, and then the actions, of the document at `root`. */
void mr_work_mailboxes_at(const struct mr_cursor *root, struct mr_work_config *config);
void mr_work_actions_at(const struct mr_cursor *root, struct mr_work_config *config);
/* A list of steps; problems are reported at the cursor. */
void mr_work_steps_at(const struct mr_cursor *at, struct mr_work_action_steps *out);
/* The document of a configuration, with every member that may be left out. */
const struct mr_value *mr_work_config_document(struct mr_ctx *cx,
	const struct mr_work_config *config);

/* Add what the persona files say to the identities; bad files become config->persona_troubles. */
MR_CHECK enum mr_code mr_work_personas_load(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_config *config);

/* --- keys --- */

enum mr_work_key_type {
	MR_WORK_KEY_FIXED, /* can be asked for only */
	MR_WORK_KEY_TEXT,
	MR_WORK_KEY_PORT,
	MR_WORK_KEY_BOOL,
	MR_WORK_KEY_SECONDS,
	MR_WORK_KEY_LIST,       /* of words */
	MR_WORK_KEY_COMMAND,    /* words in their order, any of them twice */
	MR_WORK_KEY_STEPS,      /* JSON */
	MR_WORK_KEY_MOVE,       /* steps that are one move, by its mailbox */
	MR_WORK_KEY_LANGUAGE,   /* a text, or "null" */
	MR_WORK_KEY_OFFSET,     /* normalised, or "null" */
	MR_WORK_KEY_IDENTITIES, /* JSON */
	MR_WORK_KEY_IDENTITY,   /* a member of one identity */
};

struct mr_work_key {
	const char *name; /* '*' stands for the id of a mailbox or an identity */
	const char *path; /* in the document, levels parted by '/' */
	enum mr_work_key_type type;
	const char *others; /* members beside it that cannot be set at the same time, parted by
			     * blanks, or NULL */
	bool is_alias;      /* another name for what a key above it has */
};
extern const struct mr_work_key mr_work_keys[]; /* the last has no name */

/* A key as it was given. */
struct mr_work_key_place {
	const struct mr_work_key *key;
	const char *name;     /* the whole key */
	const char *id;       /* what '*' stands for, or NULL */
	struct mr_texts path; /* in the document */
};
/* invalid_request for an unknown key or a bad id. Whether the id exists is not looked at. */
MR_CHECK enum mr_code mr_work_key_place_find(struct mr_ctx *cx, const char *name,
	struct mr_work_key_place *out);
/* Its value in a configuration; NULL for null and for what is not there. */
const struct mr_value *mr_work_key_place_value(struct mr_arena *arena,
	const struct mr_work_config *config, const struct mr_work_key_place *place);

/* The value at a path, or NULL; and a copy of the document with another one there. NULL takes the
 * member away. */
const struct mr_value *mr_work_tree_get(const struct mr_value *root, const struct mr_texts *path);
const struct mr_value *mr_work_tree_put(struct mr_arena *arena, const struct mr_value *root,
	const struct mr_texts *path, const struct mr_value *value);
struct mr_value *mr_work_value_text(struct mr_arena *arena, const char *text);
struct mr_value *mr_work_value_texts(struct mr_arena *arena, const struct mr_texts *texts);

/* The configuration for a command about it: with persona files that can all be used. */
MR_CHECK enum mr_code mr_work_config_strict(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config **out);
/* Check the new document and make it part of the change; it is the configuration from now on. */
MR_CHECK enum mr_code mr_work_config_store(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_value *document, struct mr_work_change *change);
