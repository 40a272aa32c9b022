/* tests/unit/team/test_team_search.c */
#include "team/search.h"

#include "base/buf.h"
#include "team/ask.h"
#include "team/store/schema.h"
#include "test.h"
#include "text/time.h"
#include "world.h"

#include <inttypes.h>
#include <string.h>

struct room {
	struct world world;
	struct mr_team_project front, back;
	struct mr_team_agent blue, red, green, other;
};

struct letter {
	const struct mr_team_agent *from, *to, *cc, *bcc;
	const char *thread, *subject, *body, *importance;
	bool ack;
};

static const char *quoted(struct mr_arena *arena, const char *text)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, 4 << 20);
	mr_buf_putc(&buf, '\'');
	for (; *text; text++)
		mr_buf_printf(&buf, *text == '\'' ? "''" : "%c", *text);
	mr_buf_putc(&buf, '\'');
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

static void give(struct room *room, int64_t id, const struct mr_team_agent *to, const char *kind)
{
	if (to)
		world_exec(&room->world,
			mr_arena_printf(room->world.cx.arena,
				"INSERT INTO message_recipients (message_id, agent_id, kind)"
				" VALUES (%" PRId64 ", %" PRId64 ", '%s')",
				id, to->id, kind));
}

/* Each a minute after the one before; ids from 1. */
static int64_t post(struct room *room, const struct letter *letter)
{
	struct mr_arena *arena = room->world.cx.arena;
	const char *importance = letter->importance ? letter->importance : "normal";
	int64_t id;

	world_later(&room->world, 60);
	id = 1 + world_int(&room->world, "SELECT coalesce(max(id), 0) FROM messages");
	world_exec(&room->world,
		mr_arena_printf(arena,
			"INSERT INTO messages (id, uid, project_id, sender_id, thread_id, "
			"thread_seq, subject, body_md, importance, ack_required, created_ts)"
			" VALUES (%" PRId64 ", 'u%" PRId64 "', %" PRId64 ", %" PRId64
			", %s, %" PRId64 ", %s, %s, '%s', %d, %" PRId64 ")",
			id, id, letter->from->project_id, letter->from->id,
			letter->thread ? quoted(arena, letter->thread) : "NULL", id,
			quoted(arena, letter->subject), quoted(arena, letter->body), importance,
			letter->ack, room->world.clock.now_us));
	give(room, id, letter->to, "to");
	give(room, id, letter->cc, "cc");
	give(room, id, letter->bcc, "bcc");
	world_index(&room->world, id);
	return id;
}

static void open_empty(struct room *room)
{
	world_open(&room->world);
	room->back = world_project(&room->world, "/path/to/backend");
	room->front = world_project(&room->world, "/path/to/frontend");
	room->blue = world_agent(&room->world, &room->back, "BlueLake");
	room->red = world_agent(&room->world, &room->back, "RedStone");
	room->green = world_agent(&room->world, &room->back, "GreenHill");
	room->other = world_agent(&room->world, &room->front, "BlueLake");
}

static void open_filled(struct room *room)
{
	open_empty(room);

	const struct letter letters[] = {
		/* 1 */ { &room->blue, &room->red, NULL, NULL, "PLAN-1", "Deploy plan",
			"The build plan for users, and the full-text index." },
		/* 2 */
		{ &room->red, &room->blue, &room->green, NULL, "PLAN-1", "Re: Deploy plan",
			"We should migrate the database first. See src/foo/bar.c and docs.",
			"high" },
		/* 3 */
		{ &room->green, &room->blue, NULL, &room->red, NULL, "Migration of users",
			"Migrations are done; the users table moved. AND a plan to build more.",
			"urgent", true },
		/* 4 */
		{ &room->blue, &room->green, NULL, NULL, "3", "Tests",
			"FTS works: `a->b` and 100%_sure. \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e "
			"\xc3\x89t\xc3\xa9" },
		/* 5 */
		{ &room->other, &room->blue, NULL, NULL, NULL, "From the frontend",
			"The plan of the other project." },
		/* 6 */
		{ &room->red, &room->green, NULL, NULL, NULL, "Lunch",
			"Nothing. Deploy is mentioned here, late and once, among many other words "
			"that say little about it and only make the text longer than it is." },
		/* 7 */
		{ &room->other, &room->other, NULL, NULL, NULL, "Among us",
			"A secret of the frontend." },
		/* 8 */
		{ &room->other, &room->other, NULL, &room->red, NULL, "Not for all",
			"Another secret of the frontend." },
	};

	for (size_t i = 0; i < MR_LEN(letters); i++)
		post(room, &letters[i]);
	world_exec(&room->world,
		"UPDATE message_recipients SET read_ts = 1 WHERE message_id IN (1, 2);"
		"UPDATE messages SET attachments = '[{\"type\":\"file\"}]' WHERE id = 2");
}

static enum mr_code search(struct room *room, const struct mr_team_search *request,
	struct mr_team_hits *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };

	CHECK_OK(mr_team_read(&room->world.cx, room->world.team, &reader), room->world.cx.err);
	return mr_team_search(&room->world.cx, reader.db, request, out);
}

/* "fts: 1 2" */
static const char *found(struct room *room, struct mr_team_search request)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_hits hits;

	if (!request.project_count) {
		request.project_ids = &room->back.id;
		request.project_count = 1;
	}
	mr_buf_init(&buf, 1 << 16);
	if (search(room, &request, &hits))
		return room->world.cx.err.msg;
	mr_buf_printf(&buf, "%s:", mr_team_search_mode_name(hits.mode));
	for (size_t i = 0; i < hits.len; i++)
		mr_buf_printf(&buf, " %" PRId64, hits.items[i].message.id);
	return mr_arena_strdup(room->world.cx.arena, mr_buf_text(&buf));
}

static void finds(void)
{
	static const struct {
		const char *query;
		const char *want;
	} cases[] = {
		{ "FTS", "fts: 4" },
		{ "\"build plan\"", "fts: 1" },
		{ "migrat*", "fts: 3 2" },
		{ "plan AND users", "fts: 3 1" },
		{ "users -migrations", "fts: 1" },
		{ "users NOT plan", "fts:" },
		{ "fts OR database", "fts: 4 2" },
		{ "(fts OR database) NOT tests", "fts: 2" },
		/* In the subject it counts twice, and a short text says it more densely. */
		{ "deploy", "fts: 1 2 6" },
		{ "subject:deploy", "fts: 1 2" },
		{ "body:deploy", "fts: 6" },
		{ "subject:(deploy OR lunch) -body:build", "fts: 6 2" },
		{ "full-text", "fts: 1" },
		{ "full text", "fts: 1" },
		{ "text-full", "fts:" },
		{ "foo/bar.c", "fts: 2" },
		{ "ETE", "fts: 4" },
		{ "plan -> users", "fts: 3 1" },
		{ "NEAR(build plan)", "fts:" },
		{ "nothing-at-all", "fts:" },
		/* From another project: openly to somebody here, only there, by a blind copy. */
		{ "frontend", "fts: 5" },
		{ "among", "fts: 6" },
		{ "secret", "fts:" },
		{ "secret)", "fts_quoted:" },
		{ "secret from:BlueLake OR from:GreenHill", "fts:" },
		{ "\"build plan", "fts_quoted: 1 3" },
		{ "(deploy", "fts_quoted: 1 2 6" },
		{ "deploy)", "fts_quoted: 1 2 6" },
		{ "AND", "fts_quoted: 4 6 1 3 2" },
		{ "deploy AND", "fts_quoted: 1 2 6" },
		{ "'; DROP TABLE", "fts:" },
		{ "'; DROP \"TABLE", "fts_quoted:" },
		{ "*", "like:" },
		{ "->", "like: 4" },
		{ "%_", "like: 4" },
		{ "\\", "like:" },
		{ "()", "like:" },
		{ "\xe6\x9c\xac", "like: 4" },
		{ "-plan", "like: 6 4" },
		{ "-plan -lunch", "like: 4" },
		{ "fts OR -plan", "like: 6 4" },
		{ "subject:\xe6\x9c\xac", "like:" },
		{ "\x01\x02", "like:" },
		{ "\xff", "like:" },
		/* Filters. */
		{ "from:bluelake", "filters: 5 4 1" },
		{ "from:BlueLake@path-to-frontend", "filters: 5" },
		{ "from:BlueLake@path-to-backend", "filters: 4 1" },
		{ "from:nobody", "filters:" },
		{ "from:BlueLake from:RedStone", "filters: 6 5 4 2 1" },
		{ "-from:BlueLake", "filters: 6 3 2" },
		{ "to:GreenHill", "filters: 6 4 2" },
		{ "to:RedStone", "filters: 1" }, /* not the blind copy of 3 */
		{ "-to:GreenHill", "filters: 5 3 1" },
		{ "thread:PLAN-1", "filters: 2 1" },
		{ "thread:3", "filters: 4 3" },
		{ "-thread:PLAN-1", "filters: 6 5 4 3" },
		{ "importance:high", "filters: 2" },
		{ "importance:high importance:urgent", "filters: 3 2" },
		{ "-importance:normal", "filters: 3 2" },
		{ "has:attachment", "filters: 2" },
		{ "-has:attachment deploy", "fts: 1 6" },
		{ "is:unread", "filters: 6 5 4 3" },
		{ "ack:pending", "filters: 3" },
		{ "since:2026-03-11T04:18:00Z", "filters: 6 5 4 3" },
		{ "until:2026-03-11T04:18:00Z", "filters: 3 2 1" },
		{ "since:2026-03-11T04:17:00Z until:2026-03-11T04:18:00Z", "filters: 3 2" },
		{ "until:2026-03-10", "filters:" },
		{ "until:2026-03-11", "filters: 6 5 4 3 2 1" },
		{ "since:5m", "filters: 6 5 4 3" },
		{ "deploy from:RedStone", "fts: 2 6" },
		{ "(deploy from:RedStone", "fts_quoted: 2 6" },
		{ "-> from:RedStone", "like:" },
		{ "importance:purple",
			"the filter importance:purple makes no sense: expected low, normal, high "
			"or urgent; to look for these words, put them in quotes" },
		{ " ", "there is nothing to look for: query is empty" },
	};
	struct room room;

	open_filled(&room);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const char *have = found(&room, (struct mr_team_search){ .query = cases[i].query });

		if (strcmp(have, cases[i].want) != 0)
			test_fail(__FILE__, __LINE__, "%s: \"%s\", not \"%s\"", cases[i].query,
				have, cases[i].want);
	}
	world_close(&room.world);
}

static void errors_can_be_acted_on(void)
{
	struct mr_team_search request = { .project_count = 1, .query = "" };
	struct mr_team_hits hits;
	struct room room;

	open_empty(&room);
	request.project_ids = &room.back.id;
	world_check_fail(&room.world, search(&room, &request, &hits), "INVALID_ARGUMENT",
		"query is empty");
	request.query = "x since:yore";
	world_check_fail(&room.world, search(&room, &request, &hits), "SEARCH_SYNTAX",
		"since:yore");
	world_close(&room.world);
}

static void pages_projects_and_viewers(void)
{
	struct room room;

	open_filled(&room);

	int64_t both[] = { room.back.id, room.front.id };

	CHECK_STR(found(&room, (struct mr_team_search){ .query = "deploy", .limit = 1 }), "fts: 1");
	CHECK_STR(found(&room,
			  (struct mr_team_search){ .query = "deploy", .limit = 1, .offset = 1 }),
		"fts: 2");
	CHECK_STR(found(&room, (struct mr_team_search){ .query = "deploy", .offset = 3 }), "fts:");
	CHECK_STR(found(&room, (struct mr_team_search){ .query = "deploy", .newest_first = true }),
		"fts: 6 2 1");
	CHECK_STR(found(&room, (struct mr_team_search){ .query = "deploy", .limit = -7 }),
		"fts: 1");
	CHECK_STR(found(&room,
			  (struct mr_team_search){ .query = "deploy",
				  .limit = INT64_MAX,
				  .offset = -1 }),
		"fts: 1 2 6");
	CHECK_STR(found(&room, (struct mr_team_search){ .query = "to:GreenHill", .offset = 2 }),
		"filters: 2");
	CHECK_STR(found(&room,
			  (struct mr_team_search){ .query = "body:plan",
				  .project_ids = both,
				  .project_count = 2 }),
		"fts: 5 1 3");
	CHECK_STR(found(&room,
			  (struct mr_team_search){ .query = "from:BlueLake@path-to-frontend",
				  .project_ids = both,
				  .project_count = 2 }),
		"filters: 8 7 5");
	CHECK_STR(found(&room,
			  (struct mr_team_search){ .query = "->",
				  .project_ids = both,
				  .project_count = 2 }),
		"like: 4");
	/* What waits for one agent: also what it got as a blind copy. */
	CHECK_STR(found(&room,
			  (struct mr_team_search){ .query = "is:unread", .agent_id = room.red.id }),
		"filters: 3");
	CHECK_STR(found(&room,
			  (struct mr_team_search){ .query = "-is:unread",
				  .agent_id = room.green.id }),
		"filters: 5 3 2 1");
	CHECK_STR(found(&room,
			  (struct mr_team_search){ .query = "ack:pending",
				  .agent_id = room.green.id }),
		"filters:");
	world_close(&room.world);
}

static void a_project_is_searched_by_its_key(void)
{
	struct room room;
	struct mr_team_hits hits;
	struct mr_team_search search = { .query = "is:unread", .newest_first = true };

	open_filled(&room);
	CHECK_OK(mr_team_ask_search(&room.world.cx, room.world.team, NULL, room.back.slug,
			 room.red.name, &search, &hits),
		room.world.cx.err);
	CHECK_INT(hits.len, 1);
	CHECK_INT(hits.items[0].message.id, 3);
	world_check_fail(&room.world,
		mr_team_ask_search(&room.world.cx, room.world.team, NULL, room.back.slug,
			"NobodyHere", &search, &hits),
		"NOT_FOUND", "NobodyHere");
	world_check_fail(&room.world,
		mr_team_ask_search(&room.world.cx, room.world.team, NULL, "no-such-project",
			"NobodyHere", &search, &hits),
		"NOT_FOUND", "project");
	world_close(&room.world);
}

static void a_hit_says_what_it_is(void)
{
	struct mr_team_search request = { .project_count = 1, .query = "migrate database" };
	struct mr_team_hits hits;
	struct mr_team_hit *hit;
	struct room room;

	open_filled(&room);
	request.project_ids = &room.back.id;
	CHECK_OK(search(&room, &request, &hits), room.world.cx.err);
	CHECK_INT(hits.len, 1);
	hit = hits.items;
	CHECK_INT(hit->message.id, 2);
	CHECK_STR(hit->message.uid, "u2");
	CHECK_STR(hit->message.subject, "Re: Deploy plan");
	CHECK_STR(hit->message.thread_id, "PLAN-1");
	CHECK_INT(hit->message.importance, MR_TEAM_HIGH);
	CHECK(hit->message.body_md == NULL);
	CHECK_STR(hit->from, "RedStone");
	CHECK_STR(hit->project_slug, "path-to-backend");
	CHECK(hit->score > 0);
	CHECK_STR(hit->snippet.text,
		"We should migrate the database first. See src/foo/bar.c and docs.");
	CHECK_INT(hit->snippet.hit_count, 2);
	CHECK_INT(hit->snippet.hits[0].start, 10);
	CHECK_INT(hit->snippet.hits[0].end, 17);
	CHECK_INT(hit->snippet.hits[1].start, 22);
	CHECK_INT(hit->snippet.hits[1].end, 30);
	world_close(&room.world);
}

/* Of very many the newest are ranked, and offset and limit still go on. */
static void common_words_rank_the_newest(void)
{
	enum { LAST = MR_TEAM_SEARCH_RANKED + 200 };
	struct mr_team_search request = { .project_count = 1, .query = "common", .limit = 3 };
	struct mr_team_hits hits;
	struct room room;
	int64_t both[2];

	open_empty(&room);
	both[0] = room.back.id;
	both[1] = room.front.id;
	request.project_ids = both;
	world_exec(&room.world,
		mr_arena_printf(room.world.cx.arena,
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
			"%d)"
			" INSERT INTO messages (uid, project_id, sender_id, subject, body_md,"
			" created_ts) SELECT i, %" PRId64 ", %" PRId64
			", CASE WHEN i IN (1, 300, 600) THEN 'common common common' ELSE 's' END, "
			"'common', i FROM n",
			LAST, room.back.id, room.blue.id));
	world_reindex(&room.world);
	/* There is another project: the newest 200 from 700 on. 300 says it too, but long ago. */
	CHECK_OK(search(&room, &request, &hits), room.world.cx.err);
	CHECK_INT(hits.len, 3);
	CHECK_INT(hits.items[0].message.id, 600);
	CHECK_INT(hits.items[1].message.id, LAST);
	/* All projects: the newest 500. */
	request.project_count = 2;
	CHECK_OK(search(&room, &request, &hits), room.world.cx.err);
	CHECK_INT(hits.items[0].message.id, 600);
	CHECK_INT(hits.items[1].message.id, 300);
	CHECK_INT(hits.items[2].message.id, LAST);
	request.offset = LAST - 2;
	CHECK_OK(search(&room, &request, &hits), room.world.cx.err);
	CHECK_INT(hits.len, 2);
	request.limit = 500;
	request.offset = 0;
	CHECK_OK(search(&room, &request, &hits), room.world.cx.err);
	CHECK_INT(hits.len, 500);
	world_close(&room.world);
}

static void bombs_are_answered(void)
{
	static const char *const units[] = { "(", ")", "\"", "a ", "a OR ", "(a ", "-", "- ",
		"NOT ", "a*", "subject:", "\xe6\x97\xa5", "* ", "%", "\"a b\" ", "-(a ",
		"from:a " };
	struct room room;

	open_filled(&room);
	for (size_t i = 0; i < MR_LEN(units); i++) {
		size_t len = strlen(units[i]), count = (1 << 20) / len;
		char *text = mr_arena_alloc(room.world.cx.arena, count * len + 1);
		const char *answer;

		for (size_t n = 0; n < count; n++)
			memcpy(text + n * len, units[i], len);
		answer = found(&room, (struct mr_team_search){ .query = text });
		if (!strchr(answer, ':') || strchr(answer, '['))
			test_fail(__FILE__, __LINE__, "%s: %s", units[i], answer);
	}
	world_close(&room.world);
}

/* What a scan asks: by the project's index, from its end, without sorting. */
static void scans_use_the_index(void)
{
	struct room room;
	struct mr_texts steps;
	const char *plan;

	open_filled(&room);
	steps = world_plan(&room.world,
		"SELECT t.id, 0.0 FROM messages t WHERE t.id >= ?1 AND t.project_id = ?4"
		" AND (t.subject ILIKE ?5 ESCAPE '\\' OR t.body_md ILIKE ?5 ESCAPE '\\')"
		" ORDER BY t.id DESC LIMIT ?2 OFFSET ?3");
	plan = mr_str_join(room.world.cx.arena, &steps, "; ");
	CHECK(strstr(plan, "USING INDEX messages_project (project_id=? AND id>?)") ||
		strstr(plan, "USING INDEX messages_project (project_id=? AND rowid>?)"));
	CHECK(!strstr(plan, "TEMP B-TREE"));
	world_close(&room.world);
}

/* A database whose index was made when it had lists of short beginnings only. */
static void an_older_index_is_made_anew(void)
{
	static const char *const queries[] = { "be*", "beg*", "begi*", "begin*", "beginn*",
		"beginni*", "beginning*", "beginning" };
	struct room room;

	open_filled(&room);
	world_exec(&room.world,
		"UPDATE messages SET body_md = 'beginning' WHERE id = 6;"
		"DROP TABLE fts_messages; CREATE VIRTUAL TABLE fts_messages USING"
		" fts5(subject, body_md, content='messages', content_rowid='id',"
		" tokenize='unicode61 remove_diacritics 2', prefix='2 3');"
		"INSERT INTO fts_messages(fts_messages) VALUES ('rebuild');"
		"DROP TABLE hook_sessions; DROP TABLE hook_warnings; DROP TABLE hook_told;"
		"DROP TABLE agent_sessions; DROP TABLE agent_group_members; DROP TABLE agent_groups;"
		"DROP TABLE message_groups; DROP TABLE database_moves; DROP TABLE database_move_tables;"
		"DROP TABLE archive_places; DROP TABLE archive_removals; DROP TABLE attachment_files;"
		"DROP TABLE client_sessions; DROP TABLE client_subscriptions; DROP TABLE relayed;"
		"DROP TABLE shared_secrets;"
		"DROP INDEX agents_asked; ALTER TABLE agents DROP COLUMN asked_fold;"
		"DELETE FROM schema_version WHERE version >= 6");
	world_reopen(&room.world);
	CHECK(strstr(world_text(&room.world,
			     "SELECT sql FROM sqlite_master WHERE name = 'fts_messages'"),
		"prefix='2 3 4 5 6'"));
	for (size_t i = 0; i < MR_LEN(queries); i++)
		CHECK_STR(found(&room, (struct mr_team_search){ .query = queries[i] }), "fts: 6");
	world_check_index(&room.world);
	world_close(&room.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(finds),
		TEST(errors_can_be_acted_on),
		TEST(pages_projects_and_viewers),
		TEST(a_project_is_searched_by_its_key),
		TEST(a_hit_says_what_it_is),
		TEST(common_words_rank_the_newest),
		TEST(bombs_are_answered),
		TEST(scans_use_the_index),
		TEST(an_older_index_is_made_anew),
	};

	return test_main(tests, MR_LEN(tests));
}
