/* team/archive/archive_source_sql.h - what the archive's files are made from, read from the
 * database. */
#pragma once

#include "team/archive/archive_record.h"
#include "team/store/root.h"

/* Leases of exactly this pattern that are not released, and the newest; in the order of ids. */
MR_CHECK enum mr_code mr_team_source_leases(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *pattern, struct mr_team_reservations *out);
/* Links of an agent in both directions, in the order of ids. */
MR_CHECK enum mr_code mr_team_source_links(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	struct mr_team_link_records *out);
MR_CHECK enum mr_code mr_team_source_slot(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	bool *found, struct mr_team_slot_record *out);
/* The newest of each pair of slot and agent, in the order of ids. */
struct mr_team_slot_records {
	struct mr_team_slot_record *items;
	size_t len;
};
MR_CHECK enum mr_code mr_team_source_slots(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	struct mr_team_slot_records *out);

/* The messages in one part of a thread's digest, in the order of ids: of the thread as the project
 * sees it (MR_TEAM_THREAD_FROM). Bodies are cut to what a digest shows and one character more. */
struct mr_team_messages {
	struct mr_team_message *items;
	size_t len;
};
MR_CHECK enum mr_code mr_team_source_thread(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *thread_id, int64_t part, struct mr_team_messages *out);
/* The part that such a message is in, from 1. */
MR_CHECK enum mr_code mr_team_source_part(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *thread_id, int64_t message_id, int64_t *out);
/* Recipients of a message who take no attachments, at most MR_TEAM_RECIPIENTS. */
MR_CHECK enum mr_code mr_team_source_deniers(struct mr_ctx *cx, struct mr_db *db,
	int64_t message_id, int64_t *out_ids, size_t *out_len);

/* For going through everything: ids of a project after `after`, at most `limit`. */
enum mr_team_source_table {
	MR_TEAM_SOURCE_AGENTS,
	MR_TEAM_SOURCE_MESSAGES, /* sent in this project */
	MR_TEAM_SOURCE_ARRIVED,  /* sent in others, to agents of this one */
};
MR_CHECK enum mr_code mr_team_source_ids(struct mr_ctx *cx, struct mr_db *db,
	enum mr_team_source_table table, int64_t project_id, int64_t after, int64_t limit,
	int64_t *out_ids, size_t *out_len);
/* Patterns that ever had a lease, each once. */
MR_CHECK enum mr_code mr_team_source_patterns(struct mr_ctx *cx, struct mr_db *db,
	int64_t project_id, struct mr_texts *out);
