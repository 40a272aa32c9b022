/* tests/unit/team/dump.c */
#include "dump.h"

#include "team/open.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static const char *const tables[DUMP_TABLES] = {
	"SELECT id || '|' || slug || '|' || human_key || '|' || key_fold || '|' || tail || '|' ||"
	" identity_mode || '|' || created_at FROM projects ORDER BY id",
	"SELECT id || '|' || project_id || '|' || name || '|' || name_fold || '|' || program || "
	"'|' ||"
	" model || '|' || task_description || '|' || inception_ts || '|' || last_active_ts || '|' "
	"||"
	" attachments_policy || '|' || contact_policy || '|' || is_active || '|' ||"
	" coalesce(CAST(deleted_ts AS TEXT), '-') || '|' || is_system FROM agents ORDER BY id",
	"SELECT id || '|' || uid || '|' || project_id || '|' || sender_id || '|' ||"
	" coalesce(thread_id, '-') || '|' || thread_seq || '|' || coalesce(CAST(reply_to AS TEXT), "
	"'-') || '|' ||"
	" subject || '|' || body_md || '|' || importance || '|' || ack_required || '|' || "
	"created_ts"
	" || '|' || attachments || '|' || attachment_bytes FROM messages ORDER BY id",
	"SELECT message_id || '|' || agent_id || '|' || kind || '|' || urgent || '|' || ack_due || "
	"'|'"
	" || coalesce(CAST(read_ts AS TEXT), '-') || '|' || coalesce(CAST(ack_ts AS TEXT), '-') "
	"FROM message_recipients"
	" ORDER BY message_id, agent_id",
	"SELECT id || '|' || project_id || '|' || agent_id || '|' || path_pattern || '|' || prefix "
	"||"
	" '|' || exclusive || '|' || reason || '|' || origin || '|' || created_ts || '|' ||"
	" expires_ts || '|' || coalesce(CAST(released_ts AS TEXT), '-') FROM file_reservations "
	"ORDER BY id",
	"SELECT id || '|' || a_project_id || '|' || a_agent_id || '|' || b_project_id || '|' ||"
	" b_agent_id || '|' || status || '|' || reason || '|' || created_ts || '|' || updated_ts ||"
	" '|' || expires_ts || '|' || notified_ts || '|' || unasked FROM agent_links ORDER BY id",
	"SELECT id || '|' || project_id || '|' || agent_id || '|' || slot_name || '|' || "
	"created_ts ||"
	" '|' || expires_ts || '|' || coalesce(CAST(released_ts AS TEXT), '-') FROM build_slots "
	"ORDER BY id",
	"SELECT p.product_uid || '|' || p.name || '|' || l.project_id FROM products p JOIN"
	" product_project_links l ON l.product_id = p.id",
};

const char *dump_table(struct world *world, size_t table)
{
	return world_list(world, tables[table], "\n");
}

void dump_check_well(struct world *world)
{
	struct mr_team_report report;

	CHECK_OK(mr_team_check(&world->cx, world->team, &report), world->cx.err);
	for (size_t i = 0; i < report.len; i++)
		fprintf(stderr, "# %s %s: %s\n", report.problems[i].kind, report.problems[i].where,
			report.problems[i].msg);
	CHECK_INT(report.len, 0);
}

struct mr_team_rebuilt dump_rebuild(struct world *world)
{
	struct mr_team_rebuilt rebuilt;

	mr_team_closep(&world->team);
	CHECK_OK(mr_team_rebuild_database(&world->cx, &world->config, 0, &rebuilt), world->cx.err);
	CHECK_OK(mr_team_open(&world->cx, &world->config, &world->team), world->cx.err);
	return rebuilt;
}

static enum mr_code queue(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	return mr_team_archive_queue(cx, db, arg);
}

void dump_queue(struct world *world, enum mr_team_archive_kind kind, int64_t project_id,
	int64_t ref, const char *name)
{
	struct mr_team_archive_item item = { .project_id = project_id,
		.kind = kind,
		.ref = ref,
		.name = name,
		.agent = "GreenCastle",
		.subject = "a change" };

	CHECK_OK(mr_team_write(&world->cx, world->team, queue, NULL, &item), world->cx.err);
}
