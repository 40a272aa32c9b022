/* team/contact_sql.h - links between agents in the database, and what a decision asks of it. */
#pragma once

#include "base/ctx.h"
#include "data/db.h"
#include "team/model.h"

struct mr_team_link_row {
	struct mr_team_link link; /* id 0: no row; the four names only where they were read */
	int64_t notified_ts;      /* when the target was last told of the request, or 0 */
	bool unasked;             /* b approved without a request: only mail from a is allowed */
};

/* Between two agents there may be one row in each direction; id 0 where there is none. */
struct mr_team_link_pair {
	struct mr_team_link_row out;  /* from x to y */
	struct mr_team_link_row back; /* from y to x */
};
/* One query. The texts in it are not read. */
MR_CHECK enum mr_code mr_team_contact_pair(struct mr_ctx *cx, struct mr_db *db, int64_t x,
	int64_t y, struct mr_team_link_pair *out);
/* By id, with names; `*found` tells. */
MR_CHECK enum mr_code mr_team_contact_get(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	bool *found, struct mr_team_link_row *out);
/* Insert (id 0) or update; `row->link.id` is set. A NULL reason leaves the one that is there. */
MR_CHECK enum mr_code mr_team_contact_store(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_link_row *row);
/* Of one agent, in both directions, last changed first; `status` NULL is any. */
MR_CHECK enum mr_code mr_team_contact_rows(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	const char *status, struct mr_team_links *out);
/* Of all agents of a project, as above. */
MR_CHECK enum mr_code mr_team_contact_project_rows(struct mr_ctx *cx, struct mr_db *db,
	int64_t project_id, const char *status, struct mr_team_links *out);

/* Did `author` send this message to `receiver`? */
MR_CHECK enum mr_code mr_team_contact_sent(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t author, int64_t receiver, bool *out);
/* Has `author` written to `receiver` since then? Looks at what the author wrote since, no more. */
MR_CHECK enum mr_code mr_team_contact_wrote(struct mr_ctx *cx, struct mr_db *db, int64_t author,
	int64_t receiver, int64_t since, bool *out);
/* Has the agent sent or received a message of this thread, in either project? */
MR_CHECK enum mr_code mr_team_contact_in_thread(struct mr_ctx *cx, struct mr_db *db,
	int64_t project_a, int64_t project_b, const char *thread_id, int64_t agent, bool *out);
