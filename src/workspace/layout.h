/* workspace/layout.h - where things stand in a workspace: every path name of the contract. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

#define MR_WORK_STATE        ".afmail"
#define MR_WORK_CONFIG       ".afmail/config.json"
#define MR_WORK_LOCK         ".afmail/workspace.lock"
#define MR_WORK_INCOMING     ".afmail/incoming" /* mail on its way in: nobody needs it later */
#define MR_WORK_PROGRESS     ".afmail/workspace.progress.json"
#define MR_WORK_LOG_DIR      ".afmail/logs"
#define MR_WORK_LOG          ".afmail/logs/events.jsonl"
#define MR_WORK_TRANSACTIONS ".afmail/transactions"
#define MR_WORK_PUSH         ".afmail/push"
#define MR_WORK_REQUESTS     ".afmail/requests"
#define MR_WORK_EVIDENCE                                                                           \
	".afmail/messages" /* the raw messages and what is known of them remotely */
#define MR_WORK_INDEX ".afmail/index.sqlite"
/* Beside the index, and like it nothing that has to be kept: the lock of a pull under way, and what
 * the server said last. */
#define MR_WORK_PULL_LOCK         ".afmail/index.sqlite.pull.lock"
#define MR_WORK_SYNC_STATE        ".afmail/index.sqlite.sync.json"
#define MR_WORK_SUGGESTIONS       ".afmail/suggestions.json"
#define MR_WORK_SENTINEL          ".afmail/DO_NOT_EDIT.txt"
#define MR_WORK_OLD_TEMPLATES     ".afmail/templates"
#define MR_WORK_RECORDS           "messages"
#define MR_WORK_TRIAGE            "triage"
#define MR_WORK_CASES             "cases"
#define MR_WORK_ARCHIVE           "archive"
#define MR_WORK_ARCHIVED_CASES    "archive/cases"
#define MR_WORK_CATEGORIES        "archive/notifications"
#define MR_WORK_CONTACTS          "contacts"
#define MR_WORK_ARCHIVED_CONTACTS "archive/contacts"
#define MR_WORK_IDENTITIES        "identities"
#define MR_WORK_TEMPLATES         "templates"

/* Of a message: its bytes, its remote locations, its saved attachments, its record, its view while
 * it waits in triage. */
const char *mr_work_path_eml(struct mr_arena *arena, const char *message_id);
const char *mr_work_path_remote(struct mr_arena *arena, const char *message_id);
const char *mr_work_path_files(struct mr_arena *arena, const char *message_id);
const char *mr_work_path_record(struct mr_arena *arena, const char *message_id);
const char *mr_work_path_triage(struct mr_arena *arena, const char *message_id);

const char *mr_work_path_push(struct mr_arena *arena, const char *push_id);
/* Of a queued mail that was built: its bytes, and who gets it. */
const char *mr_work_path_push_eml(struct mr_arena *arena, const char *push_id);
const char *mr_work_path_push_envelope(struct mr_arena *arena, const char *push_id);
/* What a person said of a queued item. */
const char *mr_work_path_push_approval(struct mr_arena *arena, const char *push_id);
const char *mr_work_path_identity(struct mr_arena *arena, const char *identity);

/* "<uid>-<slug>" of a name. */
const char *mr_work_dir_name(struct mr_arena *arena, const char *uid, const char *name);
/* A path below another: "a/b". */
const char *mr_work_join(struct mr_arena *arena, const char *dir, const char *name);
/* The name of a file without this ending; NULL when it has another, or begins with a dot. */
const char *mr_work_stem(struct mr_arena *arena, const char *name, const char *suffix);
/* Is this file of a workspace nothing that a backup needs: made anew, or only of use to a command
 * that runs? */
bool mr_work_path_is_passing(const char *path);
