/* team/attention.c - Gathers what needs a person, of all projects. */
#include "team/attention.h"

#include "team/attention_sql.h"
#include "team/inbox_sql.h"
#include "team/store/root_private.h"
#include "text/time.h"

#include <stdlib.h>

static int newest_first(const void *a, const void *b)
{
	int64_t x = ((const struct mr_team_letter *)a)->item.message.id;
	int64_t y = ((const struct mr_team_letter *)b)->item.message.id;

	return (x < y) - (x > y);
}

/* The newest of each overseer, and of these the newest. */
static enum mr_code find_letters(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	const char *readers, struct mr_team_attention *out)
{
	struct mr_team_overseers overseers;
	struct mr_team_letter *letters;
	size_t len = 0;
	enum mr_code rc = mr_team_attention_overseers(cx, db, readers, &overseers);

	if (rc)
		return rc;
	letters = mr_arena_array(cx->arena, overseers.len * MR_TEAM_ATTENTION_ITEMS + 1,
		sizeof(*letters));
	for (size_t i = 0; !rc && i < overseers.len; i++) {
		const struct mr_team_box_query query = { .box = MR_TEAM_BOX_UNREAD,
			.agent_id = overseers.items[i].id,
			.limit = MR_TEAM_ATTENTION_ITEMS,
			.heads = team->hooks.heads };
		struct mr_team_items items = { 0 };

		rc = mr_team_box_list(cx, db, &query, &items);
		for (size_t k = 0; !rc && k < items.len; k++)
			letters[len++] = (struct mr_team_letter){ overseers.items[i].project,
				items.items[k] };
	}
	qsort(letters, len, sizeof(*letters), newest_first);
	out->letters.items = letters;
	out->letters.len = len < MR_TEAM_ATTENTION_ITEMS ? len : MR_TEAM_ATTENTION_ITEMS;
	return rc;
}

enum mr_code mr_team_attention(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, struct mr_team_attention *out)
{
	const struct mr_team_config *config = mr_team_config(team);
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	const char *readers = mr_team_readers(rights);
	int64_t now = mr_clock_wall_us(cx->clock);
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_attention_projects(cx, reader.db, &out->projects);
	if (!rc)
		rc = find_letters(cx, team, reader.db, readers, out);
	if (!rc)
		rc = mr_team_attention_requests(cx, reader.db, readers, now, &out->requests);
	if (!rc)
		rc = mr_team_attention_owed(cx, reader.db, readers,
			now - config->ack_ttl_s * MR_TIME_S, out);
	if (!rc)
		rc = mr_team_attention_left(cx, reader.db, now,
			now - config->inactivity_s * MR_TIME_S, out);
	if (!rc)
		rc = mr_team_attention_working(cx, reader.db, readers, now, out);
	return rc;
}
