/* team/later.c - until its owner writes it; each function leaves this file when it does. */
#include "team/archive.h"
#include "team/escalate.h"
#include "team/reservation.h"

enum mr_code mr_team_reservation_guard(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	int64_t project_id, int64_t sender_id, const struct mr_texts *surfaces,
	struct mr_team_conflicts *stopping, struct mr_team_conflicts *warnings)
{
	(void)cx;
	(void)team;
	(void)db;
	(void)project_id;
	(void)sender_id;
	(void)surfaces;
	*stopping = *warnings = (struct mr_team_conflicts){ NULL, 0 };
	return MR_OK;
}

enum mr_code mr_team_reservation_meet(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	int64_t agent_a, int64_t agent_b, bool *out)
{
	(void)cx;
	(void)team;
	(void)db;
	(void)agent_a;
	(void)agent_b;
	*out = false;
	return MR_OK;
}

enum mr_code mr_team_escalate_end(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t agent_id)
{
	(void)cx;
	(void)db;
	(void)message_id;
	(void)agent_id;
	return MR_OK;
}

enum mr_code mr_team_archive_commits_of(struct mr_ctx *cx, struct mr_team *team, const char *slug,
	const char *agent, size_t limit, struct mr_team_commits *out)
{
	(void)cx;
	(void)team;
	(void)slug;
	(void)agent;
	(void)limit;
	*out = (struct mr_team_commits){ NULL, 0 };
	return MR_OK;
}
