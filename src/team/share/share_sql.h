/* team/share/share_sql.h - reads the data of an export, and writes the tables of its database. */
#pragma once

#include "team/model.h"
#include "team/store/root.h"

/* The source: one project at a time, in the order of ids. */
typedef enum mr_code mr_team_share_visit(struct mr_arena *arena,
	const struct mr_team_message *message, void *arg);
/* `arena` of each call is freed after it; the reason of a failure is in cx->err. */
MR_CHECK enum mr_code mr_team_share_messages(struct mr_ctx *cx, struct mr_db *from,
	int64_t project_id, mr_team_share_visit *visit, void *arg);
/* To and cc, in this order, then by name; bcc is left out. */
MR_CHECK enum mr_code mr_team_share_recipients(struct mr_ctx *cx, struct mr_arena *arena,
	struct mr_db *from, int64_t message_id, struct mr_team_recipients *out);

struct mr_team_share_counts {
	int64_t reservations, links, read_states;
};
/* Counts of a project's rows that are not copied. */
MR_CHECK enum mr_code mr_team_share_count(struct mr_ctx *cx, struct mr_db *from, int64_t project_id,
	struct mr_team_share_counts *out);

/* The copy: the columns that clients of the peers know, times as text. */
MR_CHECK enum mr_code mr_team_share_tables(struct mr_ctx *cx, struct mr_db *to);
MR_CHECK enum mr_code mr_team_share_put_project(struct mr_ctx *cx, struct mr_db *to,
	const struct mr_team_project *project);
MR_CHECK enum mr_code mr_team_share_put_agent(struct mr_ctx *cx, struct mr_db *to,
	const struct mr_team_agent *agent);
MR_CHECK enum mr_code mr_team_share_put_message(struct mr_ctx *cx, struct mr_db *to,
	struct mr_arena *arena, const struct mr_team_message *message);
MR_CHECK enum mr_code mr_team_share_put_recipient(struct mr_ctx *cx, struct mr_db *to,
	const struct mr_team_recipient *recipient);
/* After the last row, outside a transaction: its words, and nothing else. */
MR_CHECK enum mr_code mr_team_share_finish(struct mr_ctx *cx, struct mr_db *to);
