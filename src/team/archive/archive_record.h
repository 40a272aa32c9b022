/*
 * team/archive/archive_record.h - the archive's JSON files: project, agents, leases, build slots
 * and contacts. Sorted keys, two blanks a level, a newline at the end. Pure: values in, bytes out,
 * and back.
 *
 * Readers are for our own files, and for the peers' where they have the same ones: what is missing
 * is 0, NULL or the default; MR_EFORMAT says what cannot be done without.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "team/model.h"

enum { MR_TEAM_RECORD_BYTES = 16 << 20 };

/* project.json: what the names of the directories do not tell. */
void mr_team_record_project(struct mr_buf *buf, const struct mr_team_project *project);
MR_CHECK enum mr_code mr_team_record_read_project(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_team_project *out, struct mr_err *err);

/* agents/<Name>/profile.json */
void mr_team_record_profile(struct mr_buf *buf, const struct mr_team_project *project,
	const struct mr_team_agent *agent);
MR_CHECK enum mr_code mr_team_record_read_profile(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_team_agent *out, struct mr_err *err);

struct mr_team_gone {
	const char *name;
	int64_t deleted_at;
	bool purged;       /* its rows are gone too */
	const char *stats; /* a JSON object */
};
/* agents/<Name>/deleted.json; `stats` that is no JSON object becomes {}. */
void mr_team_record_gone(struct mr_arena *arena, struct mr_buf *buf,
	const struct mr_team_gone *gone);
MR_CHECK enum mr_code mr_team_record_read_gone(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_team_gone *out, struct mr_err *err);

/* file_reservations/<sha1>.json: the newest lease of a pattern, and in `holders` all that were not
 * released, whatever their age. `leases` are in the order of their ids, at least one. */
void mr_team_record_leases(struct mr_buf *buf, const char *human_key,
	const struct mr_team_reservations *leases);
/* All of them, in the order of their ids. */
MR_CHECK enum mr_code mr_team_record_read_leases(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_team_reservations *out, struct mr_err *err);

struct mr_team_link_record {
	struct mr_team_link link;
	int64_t notified_ts;
	bool unasked; /* b approved before a asked */
};
struct mr_team_link_records {
	struct mr_team_link_record *items;
	size_t len;
};
/* agents/<Name>/contacts.json: its links, in both directions. */
void mr_team_record_links(struct mr_buf *buf, const char *agent, const char *project_slug,
	const struct mr_team_link_records *links);
MR_CHECK enum mr_code mr_team_record_read_links(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_team_link_records *out, struct mr_err *err);

/* build_slots/<slot>/<agent>.json */
struct mr_team_slot_record {
	int64_t id, project_id, agent_id;
	const char *agent;
	const char *slot_name;
	int64_t created_ts, expires_ts, released_ts;
};
void mr_team_record_slot(struct mr_buf *buf, const char *human_key,
	const struct mr_team_slot_record *slot);
MR_CHECK enum mr_code mr_team_record_read_slot(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_team_slot_record *out, struct mr_err *err);
