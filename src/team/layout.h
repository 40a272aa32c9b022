/* team/layout.h - the names of everything in a project's archive. Pure: texts in, texts out. */
#pragma once

#include "base/arena.h"
#include "base/ctx.h"
#include "team/model.h"

#define MR_TEAM_DATABASE_FILE "storage.sqlite3"
#define MR_TEAM_PROJECTS_DIR  "projects"
#define MR_TEAM_PLACE_FILE    "archive.id" /* see team/archive/archive_place.h */
/* Below a project's directory. */
#define MR_TEAM_AGENTS_DIR       "agents"
#define MR_TEAM_MESSAGES_DIR     "messages"
#define MR_TEAM_THREADS_NAME     "threads" /* in it */
#define MR_TEAM_RESERVATIONS_DIR "file_reservations"
#define MR_TEAM_ATTACHMENTS_DIR  "attachments"
#define MR_TEAM_SLOTS_DIR        "build_slots"
/* In a project's directory; the locks are not in its history. */
#define MR_TEAM_ATTRIBUTES_FILE ".gitattributes"
#define MR_TEAM_PROJECT_FILE    "project.json"
#define MR_TEAM_LOCK_FILE       ".archive.lock"
#define MR_TEAM_LOCK_OWNER_FILE ".archive.lock.owner.json"
#define MR_TEAM_GIT_DIR         ".git"
#define MR_TEAM_INDEX_FILE      ".git/index"
#define MR_TEAM_INFO_DIR        ".git/info"
#define MR_TEAM_EXCLUDE_FILE    MR_TEAM_INFO_DIR "/exclude"

/* "<database>.bell": the file that team/store/use_lock.h locks */
const char *mr_team_layout_use_lock(struct mr_arena *arena, const char *database);

/* "<root>/projects/<slug>" */
const char *mr_team_layout_project(struct mr_arena *arena, const char *root, const char *slug);

/* All below are relative to the project's directory. */
/* "2025-01-01T14-30-00Z__subject-slug__17.md" */
const char *mr_team_layout_message_name(struct mr_arena *arena,
	const struct mr_team_message *message);
/* "messages/2025/01/<name>" */
const char *mr_team_layout_canonical(struct mr_arena *arena, const struct mr_team_message *message);
/* "agents/<agent>/inbox/2025/01/<name>", and outbox */
const char *mr_team_layout_inbox(struct mr_arena *arena, const char *agent,
	const struct mr_team_message *message);
const char *mr_team_layout_outbox(struct mr_arena *arena, const char *agent,
	const struct mr_team_message *message);
/* What mail to or from an agent in a month looks like to a lease: "agents/X/inbox/2025/01/" "*.md"
 */
const char *mr_team_layout_surface(struct mr_arena *arena, const char *agent, const char *box,
	int64_t created_ts);
/* "messages/threads/<thread>.md", from the second part on "<thread>.part2.md"; a thread id that is
 * no safe file name becomes "t-<sha1>". */
const char *mr_team_layout_digest(struct mr_arena *arena, const char *thread_id, int64_t part);
/* "agents/<agent>" */
const char *mr_team_layout_agent(struct mr_arena *arena, const char *agent);
const char *mr_team_layout_profile(struct mr_arena *arena, const char *agent);
const char *mr_team_layout_deleted(struct mr_arena *arena, const char *agent);
const char *mr_team_layout_contacts(struct mr_arena *arena, const char *agent);
/* "file_reservations/<sha1 of the pattern>.json" */
const char *mr_team_layout_reservation(struct mr_arena *arena, const char *pattern);
/* "<directory>/file_reservations" */
const char *mr_team_layout_reservations(struct mr_arena *arena, const char *directory);
/* "attachments/ab/<digest>.<ext>"; originals below attachments/originals */
const char *mr_team_layout_attachment(struct mr_arena *arena, const char *digest, const char *ext);
const char *mr_team_layout_original(struct mr_arena *arena, const char *digest, const char *ext);
const char *mr_team_layout_manifest(struct mr_arena *arena, const char *digest);
const char *mr_team_layout_audit(struct mr_arena *arena, const char *digest);
/* Is this the path of something stored by its digest, and of nothing else? */
bool mr_team_layout_is_attachment(const char *path);
const char *mr_team_layout_slot(struct mr_arena *arena, const char *slot, const char *agent);

/* May this be a part of a path: not empty, no '/', '\' or NUL, no dot in front? */
bool mr_team_layout_is_name(const char *name);
