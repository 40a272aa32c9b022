/* team/archive/rebuild_refill.c - queues all that the archive of a project should have. */
#include "team/archive/rebuild_refill.h"

#include "team/agent.h"
#include "team/archive/archive_queue.h"
#include "team/archive/archive_source_sql.h"

enum { PAGE = 500 };

/* Rows for the queue, one page after the other. */
struct refill {
	struct mr_team *team;
	struct mr_team_archive_item items[PAGE];
	size_t len;
	int64_t queued;
};

static enum mr_code queue_page(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct refill *refill = arg;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < refill->len; i++)
		rc = mr_team_archive_queue(cx, db, &refill->items[i]);
	return rc;
}

static enum mr_code flush(struct mr_ctx *cx, struct refill *refill)
{
	enum mr_code rc = mr_team_write(cx, refill->team, queue_page, NULL, refill);

	if (!rc)
		refill->queued += (int64_t)refill->len;
	refill->len = 0;
	return rc;
}

static enum mr_code add(struct mr_ctx *cx, struct refill *refill,
	const struct mr_team_archive_item *item)
{
	refill->items[refill->len] = *item;
	refill->items[refill->len++].tool = "rebuild";
	return refill->len == PAGE ? flush(cx, refill) : MR_OK;
}

static enum mr_code add_ids(struct mr_ctx *cx, struct refill *refill, int64_t project_id,
	int64_t after, enum mr_team_source_table table, enum mr_team_archive_kind kind,
	const char *word)
{
	int64_t ids[PAGE];
	size_t len = PAGE;
	enum mr_code rc = MR_OK;

	while (!rc && len == PAGE) {
		struct mr_team_reader reader = { 0 };

		rc = mr_team_read(cx, refill->team, &reader);
		if (!rc)
			rc = mr_team_source_ids(cx, reader.db, table, project_id, after, PAGE, ids,
				&len);
		mr_team_read_done(&reader);
		for (size_t i = 0; !rc && i < len; i++) {
			after = ids[i];
			rc = add(cx, refill,
				&(struct mr_team_archive_item){ .project_id = project_id,
					.kind = kind,
					.ref = ids[i],
					.subject = mr_arena_printf(cx->arena, "rebuild: %s %lld",
						word, (long long)ids[i]) });
		}
	}
	return rc;
}

static enum mr_code read_rest(struct mr_ctx *cx, struct mr_team *team, int64_t project_id,
	struct mr_team_agents *agents, struct mr_texts *patterns,
	struct mr_team_slot_records *slots)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_agent_list(cx, reader.db, project_id, false, agents);
	if (!rc)
		rc = mr_team_source_patterns(cx, reader.db, project_id, patterns);
	return rc ? rc : mr_team_source_slots(cx, reader.db, project_id, slots);
}

static enum mr_code has_links(struct mr_ctx *cx, struct mr_team *team, int64_t agent_id, bool *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_link_records links = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_source_links(cx, reader.db, agent_id, &links);
	*out = links.len > 0;
	return rc;
}

static enum mr_code add_agents(struct mr_ctx *cx, struct refill *refill, int64_t project_id,
	const struct mr_team_agents *agents)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < agents->len; i++) {
		const struct mr_team_agent *agent = &agents->items[i];
		struct mr_team_archive_item item = { .project_id = project_id,
			.kind = agent->is_active ? MR_TEAM_ARCHIVE_PROFILE
						 : MR_TEAM_ARCHIVE_DELETED,
			.ref = agent->id,
			.name = agent->name,
			.agent = agent->name,
			.subject = mr_arena_printf(cx->arena, "agent: profile %s", agent->name) };
		bool linked = false;

		rc = add(cx, refill, &item);
		if (!rc)
			rc = has_links(cx, refill->team, agent->id, &linked);
		item.kind = MR_TEAM_ARCHIVE_LINKS;
		item.subject = mr_arena_printf(cx->arena, "contact: %s", agent->name);
		if (!rc && linked)
			rc = add(cx, refill, &item);
	}
	return rc;
}

static enum mr_code add_project(struct mr_ctx *cx, struct refill *refill,
	const struct mr_team_project *project, int64_t after)
{
	struct mr_team_archive_item item = { .project_id = project->id,
		.kind = MR_TEAM_ARCHIVE_PROJECT,
		.ref = project->id,
		.subject = "rebuild: project" };
	struct mr_team_slot_records slots;
	struct mr_team_agents agents;
	struct mr_texts patterns;
	enum mr_code rc = read_rest(cx, refill->team, project->id, &agents, &patterns, &slots);

	if (!rc)
		rc = add(cx, refill, &item);
	if (!rc)
		rc = add_agents(cx, refill, project->id, &agents);
	if (!rc)
		rc = add_ids(cx, refill, project->id, after, MR_TEAM_SOURCE_MESSAGES,
			MR_TEAM_ARCHIVE_MESSAGE, "message");
	if (!rc)
		rc = add_ids(cx, refill, project->id, after, MR_TEAM_SOURCE_ARRIVED,
			MR_TEAM_ARCHIVE_INBOX, "arrived message");
	item.kind = MR_TEAM_ARCHIVE_RESERVATION;
	for (size_t i = 0; !rc && i < patterns.len; i++) {
		item.name = patterns.items[i];
		item.subject =
			mr_arena_printf(cx->arena, "rebuild: file_reservation %s", item.name);
		rc = add(cx, refill, &item);
	}
	item.kind = MR_TEAM_ARCHIVE_SLOT;
	item.name = NULL;
	for (size_t i = 0; !rc && i < slots.len; i++) {
		item.ref = slots.items[i].id;
		item.subject = mr_arena_printf(cx->arena, "rebuild: build_slot %s",
			slots.items[i].slot_name);
		rc = add(cx, refill, &item);
	}
	return rc;
}

enum mr_code mr_team_refill_project(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_project *project, int64_t after, int64_t *queued)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx own = *cx;
	struct refill *refill = mr_arena_alloc(arena, sizeof(*refill));
	enum mr_code rc;

	own.arena = arena;
	refill->team = team;
	rc = add_project(&own, refill, project, after);
	if (!rc && refill->len)
		rc = flush(&own, refill);
	*queued += refill->queued;
	if (rc)
		cx->err = own.err;
	return rc;
}
