/*
 * mailbox/layout.h - the names of everything on disk below a mailbox root, and nothing else.
 *
 * Paths are relative to the root unless they say "absolute".
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

#define MR_MAILBOX_VERSION_FILE     "protocol-version.txt"
#define MR_MAILBOX_PROTOCOL_VERSION "3"
#define MR_MAILBOX_INDEX_FILE       "index.sqlite"
#define MR_MAILBOX_INDEX_NEW        "index.sqlite.new" /* while repair builds it */
#define MR_MAILBOX_LOCAL_FILE       "mailbox.sqlite"   /* inside a mailbox directory */
#define MR_MAILBOX_HOLDER           ".mailroom-root" /* ours, in a private directory: a link to its root */
#define MR_MAILBOX_MESSAGES         "messages"
#define MR_MAILBOX_MAILBOXES        "mailboxes"
#define MR_MAILBOX_STAGING          "staging"
#define MR_MAILBOX_QUARANTINE       "staging/quarantine"
#define MR_MAILBOX_INTENTS          "staging/.intents" /* ours: unfinished operations */
#define MR_MAILBOX_TRASH            "staging/.trash"   /* ours: files on their way to deletion */
#define MR_MAILBOX_MANAGED          "attachments/managed"
#define MR_MAILBOX_LOCKS            "locks"
#define MR_MAILBOX_ADDRESS_LOCKS    "locks/addresses"
#define MR_MAILBOX_INDEX_LOCK       "locks/index.lock"
#define MR_MAILBOX_GUARDS           "locks/guards" /* ours: files to flock(2) */
#define MR_MAILBOX_INDEX_GUARD      "locks/guards/index.guard"
/* The guard's holder renames a dead process's lock file to this before it removes it. */
#define MR_MAILBOX_STALE_LOCK "locks/guards/index.stale"
/* What our lock files are other names of, while they are there. */
#define MR_MAILBOX_LOCK_CONTENT    "locks/guards/lock.content"
#define MR_MAILBOX_INIT_GUARD      "locks/guards/init.guard"
#define MR_MAILBOX_OLD_LOCKS       "locks/principals" /* of a layout that is no longer supported */
#define MR_MAILBOX_RULES           "rules"
#define MR_MAILBOX_RULES_PROTOCOLS "rules/protocols"
#define MR_MAILBOX_RULES_SCRIPTS   "rules/scripts"
#define MR_MAILBOX_RULES_SKILLS    "rules/skills"
#define MR_MAILBOX_REQUIREMENTS    "rules/scripts/requirements.txt"
#define MR_MAILBOX_SKILLS_README   "rules/skills/README.md"
#define MR_MAILBOX_README          "rules/README.md"
#define MR_MAILBOX_PROTOCOL        "rules/protocols/filesystem-mailbox-v1.md"

/* inbox, sent, archive, drafts; NULL-terminated. */
extern const char *const mr_mailbox_boxes[];
/* Of the managed scripts, without ".py"; NULL-terminated. */
extern const char *const mr_mailbox_scripts[];
/* The directories of a root, parents first; NULL-terminated. */
extern const char *const mr_mailbox_directories[];
/* Those of them that a writer needs and that another program's root may lack: repair by the
 * reference implementation moves everything out of staging/, also ours. */
extern const char *const mr_mailbox_own_directories[];

/* messages/2026-03-11/<id>.md */
const char *mr_mailbox_layout_message(struct mr_arena *arena, const char *created_at_utc,
	const char *message_id);
/* mailboxes/<address> */
const char *mr_mailbox_layout_entry(struct mr_arena *arena, const char *address);
/* mailboxes/<address>--<suffix> */
const char *mr_mailbox_layout_stash(struct mr_arena *arena, const char *address,
	const char *suffix);
/* <box>/<id>.md, inside a mailbox directory */
const char *mr_mailbox_layout_projection(struct mr_arena *arena, const char *box,
	const char *message_id);
/* rules/scripts/<name>.py */
const char *mr_mailbox_layout_script(struct mr_arena *arena, const char *name);
/* locks/addresses/<address>.lock */
const char *mr_mailbox_layout_lock(struct mr_arena *arena, const char *address);
/* The root in the path of an entry, "<root>/mailboxes/<name>"; NULL when the path is no such. */
const char *mr_mailbox_layout_root_of_entry(struct mr_arena *arena, const char *entry_path);
/* The root in the path of a document, "<root>/messages/<date>/<id>.md"; NULL when it is no such. */
const char *mr_mailbox_layout_root_of_message(struct mr_arena *arena, const char *path);
/* <base>/<path> */
const char *mr_mailbox_layout_join(struct mr_arena *arena, const char *base, const char *path);

enum mr_mailbox_entry_kind {
	MR_MAILBOX_ENTRY_ADDRESS, /* <address> */
	MR_MAILBOX_ENTRY_STASH,   /* <address>--<32 lower hex>: looked for first, for it reads as an
				     address too */
	MR_MAILBOX_ENTRY_FOREIGN,
};
/* What a name in mailboxes/ is; `*out_address` is set unless it is foreign. */
enum mr_mailbox_entry_kind mr_mailbox_layout_entry_kind(struct mr_arena *arena, const char *name,
	const char **out_address);
