/*
 * team/archive/rebuild_carry.c - Copies into a rebuilt database what only the old one has, and
 * counts the messages that would be lost.
 */
#include "team/archive/rebuild_carry.h"

#include "team/archive/rebuild_carry_sql.h"
#include "team/store/schema.h"

enum { RANGE = 200, BLIND_RANGES = 500000 };

struct carrying {
	struct mr_ctx *cx;
	struct mr_db *db;
	const char *old;
	struct mr_team_problems *problems;
	struct mr_team_carried *carried;
};

/* --- messages and their recipients --- */

/* One row at a time, each in its own transaction, since a transaction that met damage in the old
 * database cannot be committed. Rows that cannot be read are left out. */
static int64_t carry_each(struct carrying *c, enum mr_team_carry_range what, int64_t first,
	int64_t last, int64_t *count)
{
	int64_t failed = 0;

	for (int64_t id = first; id <= last; id++)
		failed += mr_team_carry_range(c->cx, c->db, what, id, id, count) != MR_OK;
	return failed;
}

static void carry_ranges(struct carrying *c, enum mr_team_carry_range what, int64_t last,
	int64_t *count)
{
	int64_t failed = 0;

	for (int64_t first = 1, blind = 0; first <= last; first += RANGE) {
		int64_t end, next;

		/* Ids may have gaps of any size. Where the next one cannot be found, all are tried,
		 * within reason. */
		if (mr_team_carry_next_id(c->cx, c->db, what, first, &next) == MR_OK)
			first = next;
		else if (++blind > BLIND_RANGES)
			break;
		if (first > last)
			break;
		end = last - first < RANGE ? last : first + RANGE - 1;
		if (mr_team_carry_range(c->cx, c->db, what, first, end, count))
			failed += carry_each(c, what, first, end, count);
		if (end == last)
			break;
	}
	if (failed)
		mr_team_problems_add(c->problems, "database", c->old,
			"it is damaged: %lld times %s could not be looked for in it",
			(long long)failed,
			what == MR_TEAM_CARRY_MESSAGES ? "a message" : "recipients of a message");
}

/* --- all of it --- */

static void run_steps(struct carrying *c, const struct mr_team_carry_step *steps)
{
	int64_t version = mr_team_carry_version(c->db);
	struct mr_err err;

	for (; steps->sql; steps++) {
		if (steps->since > version || !mr_db_exec(c->db, steps->sql, &err))
			continue;
		mr_team_problems_add(c->problems, "database", c->old, "%s cannot be read: %s",
			steps->what, err.msg);
	}
}

static void take_over(struct carrying *c)
{
	struct mr_team_carried *carried = c->carried;
	int64_t last = mr_team_carry_last_id(c->db);
	struct mr_ctx *cx = c->cx;

	run_steps(c, mr_team_carry_first);
	carry_ranges(c, MR_TEAM_CARRY_MESSAGES, last, &carried->messages);
	carry_ranges(c, MR_TEAM_CARRY_RECIPIENTS, last, &carried->recipients);
	if (mr_team_carry_state(cx, c->db, &carried->kept_state))
		mr_team_problems_add(c->problems, "database", c->old,
			"what was read and acknowledged is not known any more: %s", cx->err.msg);
	run_steps(c, mr_team_carry_rest);
}

/* Count messages that the old database or an archive has and the new one lacks. */
static void compare(struct carrying *c)
{
	struct mr_team_carried *carried = c->carried;
	struct mr_ctx *cx = c->cx;

	carried->is_compared = !mr_team_carry_compare(cx, c->db, &carried->old_messages);
	if (!carried->is_compared)
		mr_team_problems_add(c->problems, "database", c->old,
			"which messages it had cannot be read: %s", cx->err.msg);
	for (size_t i = 0; i < mr_team_carry_tables(); i++) {
		const char *name;
		int64_t missing = 0;
		enum mr_code rc = mr_team_carry_missing(cx, c->db, i, &name, &missing);

		if (!rc && missing > 0)
			mr_team_problems_add(c->problems, "database", c->old,
				"%lld %s of it are in no archive and could not be taken over",
				(long long)missing, name);
	}
}

static enum mr_code note_told(struct mr_ctx *cx, struct mr_db *db, const struct mr_team_told *told)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < told->purged_count; i++)
		rc = mr_team_carry_purged(cx, db, told->purged[i].slug,
			mr_str_lower(cx->arena, told->purged[i].name));
	return rc;
}

static enum mr_code note_unread(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_told *told)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < told->unread_count; i++)
		rc = mr_team_carry_unread(cx, db, told->unread[i].id, told->unread[i].where);
	return rc;
}

enum mr_code mr_team_carry(struct mr_ctx *cx, struct mr_db *db, const char *old,
	const struct mr_team_told *told, struct mr_team_problems *problems,
	struct mr_team_carried *out)
{
	struct mr_team_carried carried = { 0 };
	struct carrying c = { cx, db, old, problems, &carried };
	bool is_attached = false;
	enum mr_code rc = mr_team_carry_begin(cx, db);

	if (!rc)
		rc = note_told(cx, db, told);
	if (rc)
		return rc;
	is_attached = old && !mr_team_carry_attach(cx, db, old);
	if (old && !is_attached)
		mr_team_problems_add(problems, "database", old,
			"it cannot be read: what was not archived yet, and what was read and "
			"acknowledged, is not known any more: %s",
			cx->err.msg);
	if (is_attached)
		take_over(&c);
	rc = mr_team_carry_number(cx, db);
	if (!rc)
		rc = mr_team_carry_queue(cx, db);
	if (!rc)
		rc = mr_team_carry_counts(cx, db, &carried.counts);
	if (!rc && is_attached)
		compare(&c);
	if (!rc)
		rc = note_unread(cx, db, told);
	if (!rc)
		rc = mr_team_carry_lost(cx, db, is_attached, MR_TEAM_LOST_SHOWN, &carried.lost,
			&carried.lost_first);
	if (is_attached)
		mr_team_carry_detach(db);
	if (!rc)
		rc = mr_db_search_rebuild(db, &mr_team_search_index, &cx->err);
	if (!rc)
		*out = carried;
	return rc;
}
