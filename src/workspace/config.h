/*
 * workspace/config.h - .afmail/config.json: read, checked, asked and set by key.
 *
 * The document is checked as a whole at every reading and before every writing: what is wrong is
 * config_invalid. The persona files in identities/ are read with it; one that cannot be used stops
 * only commands about the configuration and mail in that persona's name. Members that may be left
 * out have their defaults here. A secret is never shown (workspace results end in _secret) and
 * never guessed.
 */
#pragma once

#include "workspace/change.h"
#include "workspace/frame.h"

/* The identity in a new configuration is nobody: to be replaced before mail is sent. */
#define MR_WORK_EXAMPLE_EMAIL "me@example.com"
#define MR_WORK_EXAMPLE_NAME  "Me"

enum mr_work_language { MR_WORK_EN_US, MR_WORK_ZH_CN }; /* of the templates */
extern const char *const mr_work_language_names[];      /* "en-US", "zh-CN", NULL */

enum mr_work_import_as { MR_WORK_AS_TRIAGE, MR_WORK_AS_SPAM, MR_WORK_AS_TRASHED };
enum mr_work_direction { MR_WORK_INBOUND, MR_WORK_OUTBOUND };
extern const char *const mr_work_direction_names[]; /* "inbound", "outbound", NULL */

/* A step of an action: exactly one of the four operations. */
struct mr_work_action_step {
	struct mr_texts add_flags;
	const char *move_to_mailbox_id;
	const char *append_to_mailbox_id;
	bool smtp_send;
	bool on_reply_to_message; /* add_flags concerns the message that is replied to */
};
struct mr_work_action_steps {
	const struct mr_work_action_step *items;
	size_t len;
	const struct mr_value *document; /* the list as it stands in the file */
};
/* "add_flags", "move_to_mailbox_id_junk": as previews and step states name it. */
const char *mr_work_step_label(struct mr_arena *arena, const struct mr_work_action_step *step);
/* The steps of a list in JSON; config_invalid when it is none. Mailbox ids are not looked up. */
MR_CHECK enum mr_code mr_work_steps_read(struct mr_ctx *cx, const struct mr_value *list,
	struct mr_work_action_steps *out);

struct mr_work_identity {
	const char *identity; /* the slug */
	const char *name;     /* the persona file's, when it has one */
	const char *email;    /* as written; compare in lower case */
	bool is_default;
	const char *config_name; /* the name in the configuration, whatever the persona file says */
	const char *footer, *notes; /* from the persona file, or NULL */
	const char *trouble;        /* what is wrong with its persona file, or NULL */
};

/* A persona file that cannot be used: the identity has only what the configuration says. */
struct mr_work_persona_trouble {
	const char *path; /* "identities/support.md" */
	const char *what;
};

struct mr_work_mailbox {
	const char *id;
	const char *mailbox_name, *special_use; /* exactly one is set */
	bool is_pulled;                         /* has a pull rule */
	enum mr_work_import_as import_as;
	enum mr_work_direction direction;
	struct mr_work_action_steps archive; /* what archiving a message from here does */
};

/* Where a secret is: at most one of these is set. */
struct mr_work_secret {
	const char *text;        /* the secret itself */
	const char *env;         /* the environment variable that has it */
	const char *file;        /* whose first line it is */
	const char *keyring;     /* the account of the entry in the desktop's keyring */
	struct mr_texts command; /* a program with its arguments, which prints it */
};

/* How to log in: whatever the server offers, or one mechanism. */
enum mr_work_auth {
	MR_WORK_AUTH_AUTO,
	MR_WORK_AUTH_PLAIN,
	MR_WORK_AUTH_LOGIN,
	MR_WORK_AUTH_SCRAM_SHA_256,
	MR_WORK_AUTH_XOAUTH2,
	MR_WORK_AUTH_OAUTHBEARER,
};
extern const char *const mr_work_auth_names[]; /* "auto", "plain", ..., NULL */

enum { MR_WORK_TIMEOUT_S = 30, MR_WORK_TIMEOUT_MAX_S = 3600 };

struct mr_work_server {
	const char *host, *username;
	int64_t port;
	bool tls;      /* from the start */
	bool starttls; /* else this: encrypted or not at all */
	struct mr_work_secret password;
	struct mr_work_secret token; /* of OAuth: a file or a command; then there is no password */
	enum mr_work_auth auth;
	const char *ca_file; /* further authorities, or NULL */
	int64_t timeout_s;   /* without a byte from the server */
};

struct mr_work_config {
	const struct mr_value *document;
	const char *language_bcp47, *timezone_utc_offset; /* as set, or NULL */
	enum mr_work_language language;
	int offset_minutes; /* of the workspace's clock from UTC */
	struct mr_work_identity *identities;
	size_t identity_count;
	struct mr_work_server imap, smtp;
	struct mr_work_mailbox *mailboxes; /* sorted by id */
	size_t mailbox_count;
	struct mr_texts default_mailbox_ids;
	struct mr_work_action_steps case_add, draft_save, draft_send, message_spam, message_trash;
	const char *case_group, *contact_group;
	struct mr_texts item_fields; /* of archive.message_index */
	bool reason_required;
	bool approval_required; /* a push carries out only what was approved */
	struct mr_work_persona_trouble *persona_troubles;
	size_t persona_trouble_count;
};

/* Check a document and read it, without persona files. `document` of the result has every member
 * that may be left out. */
MR_CHECK enum mr_code mr_work_config_read(struct mr_ctx *cx, const struct mr_value *document,
	struct mr_work_config **out);
/* The workspace's configuration, loaded once a command; config_invalid, or store_error when the
 * file is missing or no JSON. A persona file that cannot be used is no failure here. */
MR_CHECK enum mr_code mr_work_config_get(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config **out);
/* For commands about the configuration, which fail when a persona file cannot be used:
 * config_invalid names the first. */
MR_CHECK enum mr_code mr_work_config_check_personas(struct mr_ctx *cx,
	const struct mr_work_config *config);
/* The configuration that init writes: `offset_minutes` is the machine's. */
const struct mr_value *mr_work_config_default(struct mr_ctx *cx, int offset_minutes);

/* The value of a key; invalid_request for an unknown one, unknown_mailbox_id. `*out` is NULL for
 * null. Secrets come as they are: the surface hides them. */
MR_CHECK enum mr_code mr_work_config_value(struct mr_ctx *cx, struct mr_work *work, const char *key,
	const struct mr_value **out);
/* Set a key: the change gets the new document. `*out` is the value as stored. */
MR_CHECK enum mr_code mr_work_config_set(struct mr_ctx *cx, struct mr_work *work, const char *key,
	const struct mr_texts *values, struct mr_work_change *change, const struct mr_value **out);
/* Set several keys at once: they are checked together, and the change writes the document once. No
 * values: the key is null from now on. */
struct mr_work_config_setting {
	const char *key;
	struct mr_texts values;
};
MR_CHECK enum mr_code mr_work_config_set_many(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config_setting *settings, size_t len, struct mr_work_change *change);
/* The same from JSON, for `identities` and lists of steps. */
MR_CHECK enum mr_code mr_work_config_set_json(struct mr_ctx *cx, struct mr_work *work,
	const char *key, const char *json, struct mr_work_change *change,
	const struct mr_value **out);
/* Back to its default. */
MR_CHECK enum mr_code mr_work_config_unset(struct mr_ctx *cx, struct mr_work *work, const char *key,
	struct mr_work_change *change, const struct mr_value **out);
/* The keys that can be asked for and set, those of mailboxes with their present ids. */
MR_CHECK enum mr_code mr_work_config_keys(struct mr_ctx *cx, struct mr_work *work,
	struct mr_texts *out);

/* All of them with their values. */
struct mr_work_config_item {
	const char *key;
	const struct mr_value *value; /* or NULL; secrets as they are */
	bool is_default;
};
struct mr_work_config_listed {
	int64_t count;
	struct mr_work_config_item *items;
	size_t len;
};
MR_CHECK enum mr_code mr_work_config_list(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_config_listed *out);

/* Add to a list: an identity, or words to a list of words. An identity comes as JSON (in
 * place of values, or as the one value) or as its slug (the one value), name and email; when it is
 * to be the default, the others cease to be. */
struct mr_work_config_add {
	const char *key;
	struct mr_texts values;
	const char *name, *email, *json; /* or NULL */
	bool is_default;
};
MR_CHECK enum mr_code mr_work_config_add(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config_add *request, struct mr_work_change *change,
	const struct mr_value **out);
/* Take identities by their slugs, or words, out of a list; each must be there. */
MR_CHECK enum mr_code mr_work_config_remove(struct mr_ctx *cx, struct mr_work *work,
	const char *key, const struct mr_texts *values, struct mr_work_change *change,
	const struct mr_value **out);

/* --- questions that many commands have --- */

/* The reason of a command, trimmed, NULL when blank; reason_required when the workspace wants one.
 */
MR_CHECK enum mr_code mr_work_reason(struct mr_ctx *cx, struct mr_work *work, const char *given,
	const char **out);
const struct mr_work_identity *mr_work_default_identity(const struct mr_work_config *config);
/* config_missing when the identity is still that of a new configuration, config_invalid
 * when its persona file cannot be used: no mail may go out in its name. */
MR_CHECK enum mr_code mr_work_check_sender(struct mr_ctx *cx,
	const struct mr_work_identity *identity);
/* NULL when there is none of that slug. */
const struct mr_work_identity *mr_work_find_identity(const struct mr_work_config *config,
	const char *slug);
/* Does the bare address belong to one of the identities? Case does not matter. */
bool mr_work_is_own_address(const struct mr_work_config *config, const char *address);
/* NULL when there is none of that id. */
const struct mr_work_mailbox *mr_work_find_mailbox(const struct mr_work_config *config,
	const char *id);
/* The id of a mailbox by its name on the server, without asking the server; NULL when none fits;
 * imap_mailbox_ambiguous. */
MR_CHECK enum mr_code mr_work_mailbox_by_name(struct mr_ctx *cx,
	const struct mr_work_config *config, const char *mailbox_name,
	const struct mr_work_mailbox **out);

/* The mailbox of a special use by its kind ("junk"): the first whose id is the kind, or that has
 * the attribute; or NULL. */
const struct mr_work_mailbox *mr_work_mailbox_for_use(const struct mr_work_config *config,
	const char *kind);

/* A time in the workspace's offset: YYYYMMDD, and "YYYY-MM-DD HH:MM". */
const char *mr_work_local_date(struct mr_arena *arena, const struct mr_work_config *config,
	int64_t us);
const char *mr_work_local_time(struct mr_arena *arena, const struct mr_work_config *config,
	int64_t us);
