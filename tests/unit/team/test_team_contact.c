/* tests/unit/team/test_team_contact.c */
#include "team/contact.h"

#include "team/error.h"
#include "team/limits.h"
#include "team/message.h"
#include "test.h"
#include "world.h"

#include <string.h>

/* Two in /backend, one in /frontend; everybody is a codex and open until a test says otherwise. */
struct cast {
	struct world world;
	struct mr_team_project backend, frontend;
	struct mr_team_agent green, red, blue; /* 1 and 2 in backend (1), 3 in frontend (2) */
};

static void set_up(struct cast *cast)
{
	world_open(&cast->world);
	cast->backend = world_project(&cast->world, "/path/to/backend");
	cast->frontend = world_project(&cast->world, "/path/to/frontend");
	cast->green = world_agent(&cast->world, &cast->backend, "GreenCastle");
	cast->red = world_agent(&cast->world, &cast->backend, "RedFox");
	cast->blue = world_agent(&cast->world, &cast->frontend, "BlueLake");
	CHECK_INT(cast->green.id, 1);
	CHECK_INT(cast->red.id, 2);
	CHECK_INT(cast->blue.id, 3);
}

/* As the database has it now. */
static struct mr_team_agent agent(struct cast *cast, int64_t id)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_agent found;

	CHECK_OK(mr_team_read(&cast->world.cx, cast->world.team, &reader), cast->world.cx.err);
	CHECK_OK(mr_team_agent_get(&cast->world.cx, reader.db, id, &found), cast->world.cx.err);
	return found;
}

#define NOW   "1773202500000000"
#define LATER "1773202500000001"
#define DAY   "86400000000"

#define POLICY(id, word)  "UPDATE agents SET contact_policy = '" word "' WHERE id = " #id ";"
#define PROGRAM(id, word) "UPDATE agents SET program = '" word "' WHERE id = " #id ";"
#define LINK(a_project, a, b_project, b, status, expires, unasked)                                 \
	"INSERT INTO agent_links (a_project_id, a_agent_id, b_project_id, b_agent_id, status,"     \
	" created_ts, updated_ts, expires_ts, unasked) VALUES (" #a_project ", " #a                \
	", " #b_project ", " #b ", '" status "', " NOW ", " NOW ", " expires ", " #unasked ");"
#define MAIL(id, project, sender, recipient, thread, created)                                      \
	"INSERT INTO messages (id, uid, project_id, sender_id, thread_id, thread_seq, subject,"    \
	" body_md, created_ts) VALUES (" #id ", 'u" #id "', " #project ", " #sender ", " thread    \
	", " #id ", 's', 'b', " created ");"                                                       \
	"INSERT INTO message_recipients (message_id, agent_id) VALUES (" #id ", " #recipient ");"
#define LEASE(agent, pattern)                                                                      \
	"INSERT INTO file_reservations (project_id, agent_id, path_pattern, created_ts,"           \
	" expires_ts) VALUES (1, " #agent ", '" pattern "', " NOW ", " NOW " + " DAY ");"

/* As if nothing had happened yet. */
static void clear(struct cast *cast)
{
	world_exec(&cast->world,
		"DELETE FROM agent_links; DELETE FROM message_recipients; INSERT INTO fts_messages "
		"(fts_messages) VALUES ('delete-all');"
		"DELETE FROM messages; DELETE FROM product_project_links; DELETE FROM products;"
		"DELETE FROM file_reservations; DELETE FROM archive_queue;"
		"UPDATE agents SET contact_policy = 'open', program = 'codex', is_system = 0;");
}

static const struct rule {
	const char *what;
	const char *sql;
	int64_t from, to; /* 0: from green (1) to blue (3) */
	const char *thread_id;
	int64_t reply_to;
	bool off, in_project; /* enforcement */
	enum mr_team_verdict verdict;
	const char *rule;
} rules[] = {
	/* 1 */
	{ "oneself", POLICY(1, "block_all"), 1, 1, .rule = "self" },
	{ "a system agent",
		POLICY(3, "block_all") "UPDATE agents SET is_system = 1 WHERE id = 1;" LINK(1, 1, 2,
			3, "blocked", "NULL", 0),
		.rule = "system" },
	{ "nothing is enforced", POLICY(3, "block_all") LINK(1, 1, 2, 3, "blocked", "NULL", 0),
		.off = true, .rule = "not_enforced" },
	/* 2 */
	{ "blocked by the recipient", LINK(1, 1, 2, 3, "blocked", "NULL", 0),
		.verdict = MR_TEAM_REFUSED, .rule = "blocked_link" },
	{ "blocked by the sender itself", LINK(2, 3, 1, 1, "blocked", "NULL", 1),
		.verdict = MR_TEAM_REFUSED, .rule = "blocked_link" },
	{ "blocked one way and approved the other",
		LINK(1, 1, 2, 3, "approved", LATER, 0) LINK(2, 3, 1, 1, "blocked", "NULL", 1),
		.verdict = MR_TEAM_REFUSED, .rule = "blocked_link" },
	{ "blocked in one project", LINK(1, 1, 1, 2, "blocked", "NULL", 0), 1, 2,
		.verdict = MR_TEAM_REFUSED, .rule = "blocked_link" },
	{ "blocked although it answers",
		MAIL(1, 2, 3, 1, "NULL", NOW) LINK(1, 1, 2, 3, "blocked", "NULL", 0), .reply_to = 1,
		.verdict = MR_TEAM_REFUSED, .rule = "blocked_link" },
	{ "a request that a policy once turned down is no block",
		LINK(1, 1, 2, 3, "blocked", LATER, 0), .rule = "open" },
	{ "nor for whom it was sent to",
		POLICY(1, "contacts_only") POLICY(3, "block_all")
			LINK(1, 1, 2, 3, "blocked", LATER, 0),
		1, 3, .verdict = MR_TEAM_REFUSED, .rule = "block_all" },
	/* 3 */
	{ "one project", POLICY(2, "contacts_only"), 1, 2, .rule = "same_project" },
	{ "one project, blocking all", POLICY(2, "block_all"), 1, 2, .verdict = MR_TEAM_REFUSED,
		.rule = "block_all" },
	{ "one project, blocking all, but asked",
		POLICY(2, "block_all") MAIL(1, 1, 2, 1, "NULL", NOW), 1, 2, .rule = "solicited" },
	{ "one project, blocking all, but a contact",
		POLICY(2, "block_all") LINK(1, 2, 1, 1, "approved", LATER, 0), 1, 2,
		.rule = "approved" },
	{ "one project, enforced there too", POLICY(2, "contacts_only"), 1, 2, .in_project = true,
		.verdict = MR_TEAM_NEEDS_CONTACT, .rule = "contacts_only" },
	{ "one project, enforced, open", "", 1, 2, .in_project = true, .rule = "open" },
	/* 4 */
	{ "open", "", .rule = "open" },
	/* 5 */
	{ "approved", POLICY(3, "contacts_only") LINK(1, 1, 2, 3, "approved", LATER, 0),
		.rule = "approved" },
	{ "approved the other way round",
		POLICY(3, "contacts_only") LINK(2, 3, 1, 1, "approved", LATER, 0),
		.rule = "approved" },
	{ "approved for ever", POLICY(3, "contacts_only") LINK(1, 1, 2, 3, "approved", "NULL", 0),
		.rule = "approved" },
	{ "approved by one who blocks all",
		POLICY(3, "block_all") LINK(1, 1, 2, 3, "approved", LATER, 0), .rule = "approved" },
	{ "approved until now", POLICY(3, "contacts_only") LINK(1, 1, 2, 3, "approved", NOW, 0),
		.verdict = MR_TEAM_NEEDS_CONTACT, .rule = "contacts_only" },
	{ "approved unasked, by the recipient",
		POLICY(3, "contacts_only") LINK(1, 1, 2, 3, "approved", LATER, 1),
		.rule = "approved" },
	{ "approved unasked, by the sender itself",
		POLICY(3, "contacts_only") LINK(2, 3, 1, 1, "approved", LATER, 1),
		.verdict = MR_TEAM_NEEDS_CONTACT, .rule = "contacts_only" },
	/* 6 */
	{ "an answer, however late",
		POLICY(3, "block_all") MAIL(1, 2, 3, 1, "NULL", NOW " - 9 * " DAY), .reply_to = 1,
		.rule = "solicited" },
	{ "an answer to what was sent to another",
		POLICY(3, "block_all") MAIL(1, 2, 3, 2, "NULL", NOW " - 9 * " DAY), .reply_to = 1,
		.verdict = MR_TEAM_REFUSED, .rule = "block_all" },
	{ "an answer to what another wrote",
		POLICY(3, "contacts_only") MAIL(1, 1, 2, 1, "NULL", NOW), .reply_to = 1,
		.verdict = MR_TEAM_NEEDS_CONTACT, .rule = "contacts_only" },
	{ "who wrote within a day, before others",
		POLICY(3, "contacts_only") MAIL(1, 2, 3, 1, "NULL", NOW " - " DAY)
			MAIL(2, 2, 3, 2, "NULL", NOW),
		.rule = "solicited" },
	{ "who wrote more than a day ago",
		POLICY(3, "contacts_only") MAIL(1, 2, 3, 1, "NULL", NOW " - " DAY " - 1"),
		.verdict = MR_TEAM_NEEDS_CONTACT, .rule = "contacts_only" },
	{ "who was written to", POLICY(3, "contacts_only") MAIL(1, 1, 1, 3, "NULL", NOW),
		.verdict = MR_TEAM_NEEDS_CONTACT, .rule = "contacts_only" },
	/* 7, 8 */
	{ "blocking all", POLICY(3, "block_all"), .verdict = MR_TEAM_REFUSED, .rule = "block_all" },
	{ "blocking all, asked in vain",
		POLICY(3, "block_all") LINK(1, 1, 2, 3, "pending", LATER, 0),
		.verdict = MR_TEAM_REFUSED, .rule = "block_all" },
	{ "contacts only", POLICY(3, "contacts_only"), .verdict = MR_TEAM_NEEDS_CONTACT,
		.rule = "contacts_only" },
	{ "contacts only, asked", POLICY(3, "contacts_only") LINK(1, 1, 2, 3, "pending", LATER, 0),
		.verdict = MR_TEAM_NEEDS_CONTACT, .rule = "pending" },
	{ "contacts only, asked too long ago",
		POLICY(3, "contacts_only") LINK(1, 1, 2, 3, "pending", NOW, 0),
		.verdict = MR_TEAM_NEEDS_CONTACT, .rule = "contacts_only" },
	/* 9 */
	{ "auto, one program", POLICY(3, "auto"), .rule = "auto_program" },
	{ "auto, another program", POLICY(3, "auto") PROGRAM(3, "claude"),
		.verdict = MR_TEAM_NEEDS_CONTACT, .rule = "auto" },
	{ "auto, a program is compared exactly", POLICY(3, "auto") PROGRAM(3, "Codex"),
		.verdict = MR_TEAM_NEEDS_CONTACT, .rule = "auto" },
	{ "auto, asked",
		POLICY(3, "auto") PROGRAM(3, "claude") LINK(1, 1, 2, 3, "pending", LATER, 0),
		.verdict = MR_TEAM_NEEDS_CONTACT, .rule = "pending" },
	{ "auto, one thread",
		POLICY(3, "auto") PROGRAM(3, "claude") MAIL(1, 1, 2, 3, "'T-1'", NOW)
			MAIL(2, 1, 1, 2, "'T-1'", NOW),
		.thread_id = "T-1", .rule = "auto_thread" },
	{ "auto, a thread of the recipient's project",
		POLICY(3, "auto") PROGRAM(3, "claude") MAIL(1, 2, 2, 3, "'T-1'", NOW)
			MAIL(2, 2, 2, 1, "'T-1'", NOW),
		.thread_id = "T-1", .rule = "auto_thread" },
	{ "auto, a thread named by its first message",
		POLICY(3, "auto") PROGRAM(3, "claude") MAIL(7, 1, 1, 3, "NULL", NOW),
		.thread_id = "7", .rule = "auto_thread" },
	{ "auto, a thread the recipient is not in",
		POLICY(3, "auto") PROGRAM(3, "claude") MAIL(1, 1, 1, 2, "'T-1'", NOW),
		.thread_id = "T-1", .verdict = MR_TEAM_NEEDS_CONTACT, .rule = "auto" },
	{ "auto, a thread the sender is not in",
		POLICY(3, "auto") PROGRAM(3, "claude") MAIL(1, 1, 2, 3, "'T-1'", NOW),
		.thread_id = "T-1", .verdict = MR_TEAM_NEEDS_CONTACT, .rule = "auto" },
	{ "contacts only, whatever the thread",
		POLICY(3, "contacts_only") MAIL(1, 1, 2, 3, "'T-1'", NOW)
			MAIL(2, 1, 1, 2, "'T-1'", NOW),
		.thread_id = "T-1", .verdict = MR_TEAM_NEEDS_CONTACT, .rule = "contacts_only" },
	{ "auto, one product",
		POLICY(3, "auto") PROGRAM(3,
			"claude") "INSERT INTO products VALUES (1, 'p', 'P', 'p', 1);"
				  "INSERT INTO product_project_links VALUES (1, 1, 'primary', 1),"
				  " (1, 2, 'primary', 1);",
		.rule = "auto_product" },
	{ "auto, two products",
		POLICY(3, "auto") PROGRAM(3,
			"claude") "INSERT INTO products VALUES (1, 'p', 'P', 'p', 1), (2, 'q', "
				  "'Q', 'q', 1);"
				  "INSERT INTO product_project_links VALUES (1, 1, 'primary', 1),"
				  " (2, 2, 'primary', 1);",
		.verdict = MR_TEAM_NEEDS_CONTACT, .rule = "auto" },
};

static struct mr_team_decision decide(struct cast *cast, const struct rule *rule)
{
	struct mr_team_agent from = agent(cast, rule->from ? rule->from : 1);
	struct mr_team_agent to = agent(cast, rule->to ? rule->to : 3);
	struct mr_team_contact_case the_case = { &from, &to, rule->thread_id, rule->reply_to };
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_decision decision;

	CHECK_OK(mr_team_read(&cast->world.cx, cast->world.team, &reader), cast->world.cx.err);
	CHECK_OK(mr_team_contact_decide(&cast->world.cx, cast->world.team, reader.db, &the_case,
			 &decision),
		cast->world.cx.err);
	return decision;
}

/* One world for all: what a rule has set up is taken away before the next. */
static void the_first_rule_that_fits_decides(void)
{
	struct cast cast;

	set_up(&cast);
	for (size_t i = 0; i < MR_LEN(rules); i++) {
		struct mr_team_decision decision;

		cast.world.config.contacts_enforced = !rules[i].off;
		cast.world.config.contacts_in_project = rules[i].in_project;
		world_reopen(&cast.world);
		world_exec(&cast.world, rules[i].sql);
		decision = decide(&cast, &rules[i]);
		if (!mr_str_eq(decision.rule, rules[i].rule) ||
			decision.verdict != rules[i].verdict)
			test_fail(__FILE__, __LINE__, "%s: %s (%d), not %s (%d)", rules[i].what,
				decision.rule, (int)decision.verdict, rules[i].rule,
				(int)rules[i].verdict);
		clear(&cast);
	}
	world_close(&cast.world);
}

/* What SQLite means to do for this question has no step with that word. */
static void check_plan(struct world *world, const char *sql, const char *never)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_stmt *stmt = NULL;
	bool row = false;

	CHECK_OK(mr_team_read(&world->cx, world->team, &reader), world->cx.err);
	CHECK_OK(mr_db_prepare(reader.db,
			 mr_arena_printf(world->cx.arena, "EXPLAIN QUERY PLAN %s", sql), &stmt,
			 &world->cx.err),
		world->cx.err);
	for (;;) {
		const char *step;

		CHECK_OK(mr_stmt_step(stmt, &row, &world->cx.err), world->cx.err);
		if (!row)
			break;
		step = mr_stmt_text(stmt, 3, world->cx.arena);
		if (strstr(step, never))
			test_fail(__FILE__, __LINE__, "%s: %s", sql, step);
	}
	mr_stmt_done(&stmt);
}

/* The questions of contact_sql.c in short: none may walk through a whole table. */
static void no_question_scans_a_table(void)
{
	static const char *const questions[] = {
		"SELECT 1 FROM agent_links WHERE a_agent_id = ?1 AND b_agent_id = ?2",
		"SELECT 1 FROM agent_links l JOIN agents a ON a.id = l.a_agent_id"
		" WHERE l.a_agent_id = ?1 OR l.b_agent_id = ?1",
		"SELECT m.created_ts, EXISTS (SELECT 1 FROM message_recipients r"
		" WHERE r.message_id = m.id AND r.agent_id = ?2)"
		" FROM messages m WHERE m.sender_id = ?1 ORDER BY m.id DESC",
		"SELECT 1 FROM messages m WHERE m.project_id IN (?1, ?2) AND m.thread_id = ?3",
		"SELECT 1 FROM product_project_links a JOIN product_project_links b"
		" ON b.product_id = a.product_id AND b.project_id = ?2 WHERE a.project_id = ?1",
	};
	struct cast cast;

	set_up(&cast);
	for (size_t i = 0; i < MR_LEN(questions); i++)
		check_plan(&cast.world, questions[i], "SCAN");
	world_close(&cast.world);
}

static struct mr_team_contact_request blue_asks(void)
{
	return (struct mr_team_contact_request){
		.project_key = "frontend",
		.from_agent = "BlueLake",
		.to_project = "backend",
		.to_agent = "GreenCastle",
		.reason = "the API",
	};
}

static struct mr_team_contact_answer green_answers(bool approve)
{
	return (struct mr_team_contact_answer){
		.project_key = "backend",
		.to_agent = "GreenCastle",
		.from_project = "frontend",
		.from_agent = "BlueLake",
		.approve = approve,
	};
}

static struct mr_team_link ask(struct cast *cast, const struct mr_team_contact_request *request,
	bool expect_notice)
{
	struct mr_team_link link;
	bool notified = false;

	CHECK_OK(mr_team_contact_ask(&cast->world.cx, cast->world.team, request, &link, &notified),
		cast->world.cx.err);
	CHECK_INT(notified, expect_notice);
	return link;
}

static enum mr_code try_ask(struct cast *cast, const struct mr_team_contact_request *request)
{
	struct mr_team_link link;
	bool notified;

	return mr_team_contact_ask(&cast->world.cx, cast->world.team, request, &link, &notified);
}

static struct mr_team_link respond(struct cast *cast, const struct mr_team_contact_answer *answer,
	int64_t expect_updated)
{
	struct mr_team_link link;
	int64_t updated = -1;

	CHECK_OK(mr_team_contact_respond(&cast->world.cx, cast->world.team, answer, &link,
			 &updated),
		cast->world.cx.err);
	CHECK_INT(updated, expect_updated);
	return link;
}

static enum mr_code try_respond(struct cast *cast, const struct mr_team_contact_answer *answer)
{
	struct mr_team_link link;
	int64_t updated;

	return mr_team_contact_respond(&cast->world.cx, cast->world.team, answer, &link, &updated);
}

static void a_request_begins_as_policy_has_it(void)
{
	static const struct {
		const char *sql;
		enum mr_team_link_status status;
		bool notified;
		int64_t days;
	} cases[] = {
		{ "", MR_TEAM_APPROVED, true, 30 },
		{ POLICY(1, "block_all"), MR_TEAM_BLOCKED, false, 7 },
		{ POLICY(1, "contacts_only"), MR_TEAM_PENDING, true, 7 },
		{ POLICY(1, "auto"), MR_TEAM_APPROVED, true, 30 },
		{ POLICY(1, "auto") PROGRAM(1, "claude"), MR_TEAM_PENDING, true, 7 },
	};
	struct mr_team_contact_request request = blue_asks();
	struct cast cast;

	set_up(&cast);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_team_link link;

		world_exec(&cast.world, cases[i].sql);
		link = ask(&cast, &request, cases[i].notified);
		CHECK_INT(link.status, cases[i].status);
		CHECK_STR(link.a_agent, "BlueLake");
		CHECK_STR(link.a_project, "path-to-frontend");
		CHECK_STR(link.b_agent, "GreenCastle");
		CHECK_STR(link.b_project, "path-to-backend");
		CHECK_INT(link.a_project_id, cast.frontend.id);
		CHECK_INT(link.b_project_id, cast.backend.id);
		CHECK_STR(link.reason, "the API");
		CHECK_INT(link.created_ts, WORLD_NOW_US);
		CHECK_INT(link.expires_ts, WORLD_NOW_US + cases[i].days * 86400 * 1000000);
		CHECK_INT(world_int(&cast.world,
				  "SELECT count(*) FROM archive_queue WHERE kind = 'links'"),
			2);
		clear(&cast);
	}
	world_close(&cast.world);
}

static void the_target_is_told_once_an_hour(void)
{
	struct mr_team_contact_request request = blue_asks();
	struct mr_team_link link;
	struct cast cast;

	set_up(&cast);
	world_exec(&cast.world, POLICY(1, "contacts_only"));
	link = ask(&cast, &request, true);
	CHECK_STR(world_text(&cast.world,
			  "SELECT subject FROM messages m JOIN message_recipients r"
			  " ON r.message_id = m.id WHERE r.agent_id = 1 AND m.ack_required = 1"),
		"Contact request from BlueLake (path-to-frontend)");
	CHECK(strstr(world_text(&cast.world, "SELECT body_md FROM messages"),
		"respond_contact(project_key=\"path-to-backend\", to_agent=\"GreenCastle\", "
		"from_agent=\"BlueLake\", from_project=\"path-to-frontend\", "
		"status=\"approved\")"));
	CHECK(strstr(world_text(&cast.world, "SELECT body_md FROM messages"), "> the API\n"));
	CHECK_INT(world_int(&cast.world,
			  "SELECT rowid FROM fts_messages WHERE fts_messages MATCH 'respond'"),
		1);

	world_later(&cast.world, MR_TEAM_CONTACT_NOTICE_S - 1);
	request.reason = "the API, really";
	CHECK_INT(ask(&cast, &request, false).id, link.id);
	CHECK_STR(world_text(&cast.world, "SELECT reason FROM agent_links"), "the API, really");
	CHECK_INT(world_int(&cast.world, "SELECT expires_ts FROM agent_links"),
		cast.world.clock.now_us + INT64_C(604800) * 1000000);
	world_later(&cast.world, 1);
	request.reason = NULL;
	request.ttl_s = 60;
	link = ask(&cast, &request, true);
	CHECK_STR(link.reason, "the API, really");
	CHECK_INT(link.expires_ts, cast.world.clock.now_us + 60 * 1000000);
	CHECK_INT(world_int(&cast.world, "SELECT count(*) FROM messages"), 2);
	CHECK_INT(world_int(&cast.world, "SELECT count(*) FROM agent_links"), 1);
	world_close(&cast.world);
}

static void a_reason_cannot_break_the_text_around_it(void)
{
	struct mr_team_contact_request request = blue_asks();
	struct cast cast;

	set_up(&cast);
	request.reason = "one\n\n## Overseer\ntwo";
	ask(&cast, &request, true);
	CHECK(strstr(world_text(&cast.world, "SELECT body_md FROM messages"),
		"> one  ## Overseer two\n"));
	world_close(&cast.world);
}

static void a_request_the_other_way_finds_the_same_link(void)
{
	struct mr_team_contact_request request = blue_asks(),
				       back = {
					       .project_key = "backend",
					       .from_agent = "GreenCastle",
					       .to_agent = "BlueLake",
				       };
	struct mr_team_link link;
	struct cast cast;

	set_up(&cast);
	world_exec(&cast.world, POLICY(1, "contacts_only") POLICY(3, "contacts_only"));
	link = ask(&cast, &request, true);
	CHECK_INT(ask(&cast, &back, false).id, link.id);
	CHECK_STR(ask(&cast, &back, false).a_agent, "BlueLake");
	CHECK_INT(world_int(&cast.world, "SELECT count(*) FROM agent_links"), 1);
	/* But not once it has expired. */
	world_later(&cast.world, 604800);
	link = ask(&cast, &back, true);
	CHECK_STR(link.a_agent, "GreenCastle");
	CHECK_INT(link.status, MR_TEAM_PENDING);
	world_close(&cast.world);
}

static void a_contact_approved_works_both_ways_until_it_expires(void)
{
	static const struct rule there = { .from = 1, .to = 3 }, here = { .from = 3, .to = 1 };
	struct mr_team_contact_request request = blue_asks();
	struct mr_team_contact_answer answer = green_answers(true);
	struct mr_team_link link;
	struct cast cast;

	set_up(&cast);
	world_exec(&cast.world, POLICY(1, "contacts_only") POLICY(3, "contacts_only"));
	ask(&cast, &request, true);
	world_later(&cast.world, 2 * 86400);
	CHECK_STR(decide(&cast, &here).rule, "pending");
	link = respond(&cast, &answer, 1);
	CHECK_INT(link.status, MR_TEAM_APPROVED);
	CHECK_INT(link.expires_ts, cast.world.clock.now_us + INT64_C(2592000) * 1000000);
	CHECK_STR(world_text(&cast.world,
			  "SELECT subject FROM messages m JOIN message_recipients r"
			  " ON r.message_id = m.id WHERE r.agent_id = 3"),
		"Contact approved by GreenCastle (path-to-backend)");
	CHECK_STR(decide(&cast, &there).rule, "approved");
	CHECK_STR(decide(&cast, &here).rule, "approved");
	ask(&cast, &request, false);
	world_later(&cast.world, 2592000);
	CHECK_STR(decide(&cast, &there).rule, "contacts_only");
	CHECK_STR(decide(&cast, &here).rule, "contacts_only");
	/* Asked again, from the beginning. */
	CHECK_INT(ask(&cast, &request, true).status, MR_TEAM_PENDING);
	world_close(&cast.world);
}

static void a_contact_blocked_stays_so(void)
{
	static const struct rule there = { .from = 1, .to = 3 }, here = { .from = 3, .to = 1 };
	struct mr_team_contact_request request = blue_asks(),
				       back = {
					       .project_key = "backend",
					       .from_agent = "GreenCastle",
					       .to_project = "frontend",
					       .to_agent = "BlueLake",
				       };
	struct mr_team_contact_answer answer = green_answers(false);
	struct mr_team_link link;
	struct cast cast;

	set_up(&cast);
	ask(&cast, &request, true);
	link = respond(&cast, &answer, 1);
	CHECK_INT(link.status, MR_TEAM_BLOCKED);
	CHECK_INT(link.expires_ts, 0);
	CHECK_INT(world_int(&cast.world, "SELECT count(*) FROM messages"), 2);
	respond(&cast, &answer, 0);
	CHECK_INT(world_int(&cast.world, "SELECT count(*) FROM messages"), 2);
	world_later(&cast.world, INT64_C(40) * 86400);
	CHECK_STR(decide(&cast, &there).rule, "blocked_link");
	CHECK_STR(decide(&cast, &here).rule, "blocked_link");

	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_CONTACT_BLOCKED,
		"GreenCastle (path-to-backend) has blocked this contact, so BlueLake cannot ask "
		"it");
	CHECK_STR(mr_value_get(mr_team_fail_data(&cast.world.cx.err), "reason")->text,
		"blocked_link");
	CHECK_STR(mr_value_get(mr_team_fail_data(&cast.world.cx.err), "recipient")->text,
		"GreenCastle@path-to-backend");
	CHECK_STR(mr_value_get(mr_team_fail_data(&cast.world.cx.err), "policy")->text, "open");
	world_check_fail(&cast.world, try_ask(&cast, &back), MR_TEAM_CONTACT_BLOCKED,
		"GreenCastle has blocked BlueLake (path-to-frontend) itself");
	CHECK(mr_value_get(mr_team_fail_data(&cast.world.cx.err), "suggested_tool_calls") != NULL);
	CHECK_INT(world_int(&cast.world, "SELECT count(*) FROM messages"), 2);

	answer.approve = true;
	CHECK_INT(respond(&cast, &answer, 1).status, MR_TEAM_APPROVED);
	CHECK_STR(decide(&cast, &here).rule, "open");
	world_close(&cast.world);
}

static void a_policy_that_blocks_all_turns_requests_down(void)
{
	struct mr_team_contact_request request = blue_asks();
	struct mr_team_contact_answer answer = green_answers(true);
	struct cast cast;

	set_up(&cast);
	world_exec(&cast.world, POLICY(1, "block_all"));
	CHECK_INT(ask(&cast, &request, false).status, MR_TEAM_BLOCKED);
	CHECK_INT(world_int(&cast.world, "SELECT count(*) FROM messages"), 0);
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_CONTACT_BLOCKED,
		"takes no contact requests (its policy is block_all)");
	/* It is the policy's no, not the agent's: another policy, another answer. */
	world_exec(&cast.world, POLICY(1, "contacts_only"));
	CHECK_INT(ask(&cast, &request, true).status, MR_TEAM_PENDING);
	world_exec(&cast.world, POLICY(1, "block_all"));
	CHECK_INT(respond(&cast, &answer, 1).status, MR_TEAM_APPROVED);
	world_close(&cast.world);
}

static void an_approval_needs_no_request_but_is_one_sides(void)
{
	static const struct rule there = { .from = 1, .to = 3 }, here = { .from = 3, .to = 1 };
	struct mr_team_contact_request request = blue_asks();
	struct mr_team_contact_answer answer = green_answers(true);
	struct mr_team_link link;
	struct cast cast;

	set_up(&cast);
	world_exec(&cast.world, POLICY(1, "contacts_only") POLICY(3, "contacts_only"));
	link = respond(&cast, &answer, 1);
	CHECK_INT(link.a_agent_id, cast.blue.id);
	CHECK_INT(link.a_project_id, cast.frontend.id);
	CHECK_INT(link.b_agent_id, cast.green.id);
	CHECK_INT(link.b_project_id, cast.backend.id);
	world_later(&cast.world, 2 * 86400);
	CHECK_STR(decide(&cast, &here).rule, "approved");
	CHECK_STR(decide(&cast, &there).rule, "contacts_only");
	/* Who approved may ask, and then there are two links; who was approved asks, and it is one.
	 */
	CHECK_INT(ask(&cast,
			  &(struct mr_team_contact_request){
				  .project_key = "backend",
				  .from_agent = "GreenCastle",
				  .to_agent = "BlueLake",
			  },
			  true)
			  .status,
		MR_TEAM_PENDING);
	CHECK_INT(ask(&cast, &request, false).id, link.id);
	CHECK_STR(decide(&cast, &there).rule, "approved");
	world_close(&cast.world);
}

static void who_has_not_asked_is_not_told_of_a_block(void)
{
	struct mr_team_contact_answer answer = green_answers(false);
	struct cast cast;

	set_up(&cast);
	CHECK_INT(respond(&cast, &answer, 1).status, MR_TEAM_BLOCKED);
	CHECK_INT(world_int(&cast.world, "SELECT count(*) FROM messages"), 0);
	world_close(&cast.world);
}

static void a_link_can_be_answered_by_its_number(void)
{
	struct mr_team_contact_request request = blue_asks();
	struct mr_team_contact_answer answer = { .approve = true };
	struct cast cast;

	set_up(&cast);
	world_exec(&cast.world, POLICY(1, "contacts_only"));
	answer.link_id = ask(&cast, &request, true).id;
	CHECK_INT(respond(&cast, &answer, 1).status, MR_TEAM_APPROVED);
	answer.project_key = "backend";
	answer.to_agent = "greencastle";
	CHECK_INT(respond(&cast, &answer, 1).id, answer.link_id);
	answer.to_agent = "RedFox";
	world_check_fail(&cast.world, try_respond(&cast, &answer), MR_TEAM_PERMISSION_DENIED,
		"is a request to GreenCastle (path-to-backend): only GreenCastle can answer it");
	answer.link_id = 99;
	world_check_fail(&cast.world, try_respond(&cast, &answer), MR_TEAM_NOT_FOUND,
		"there is no contact link 99");
	world_close(&cast.world);
}

static void the_other_is_found_as_in_a_message(void)
{
	static const char *const names[] = { "BlueLake", "bluelake", "BlueLake@frontend",
		"project:/path/to/frontend#BlueLake" };
	struct mr_team_contact_request request = { .project_key = "backend",
		.from_agent = "GreenCastle" };
	struct cast cast;

	set_up(&cast);
	for (size_t i = 0; i < MR_LEN(names); i++) {
		request.to_agent = names[i];
		CHECK_INT(ask(&cast, &request, i == 0).b_agent_id, cast.blue.id);
	}
	world_close(&cast.world);
}

static void a_request_that_makes_no_sense_is_refused(void)
{
	struct mr_team_contact_request request = blue_asks();
	struct mr_team_contact_answer answer = green_answers(true);
	struct mr_team_project third;
	struct cast cast;

	set_up(&cast);
	request.to_project = NULL;
	request.to_agent = "BlueLake";
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_INVALID_ARGUMENT,
		"BlueLake cannot ask itself for contact");
	request.to_agent = "NobodyHere";
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_NOT_FOUND, "NobodyHere");
	request.to_agent = "";
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_INVALID_ARGUMENT,
		"to_agent is missing");
	request.to_agent = "GreenCastle";
	request.to_project = "nowhere";
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_NOT_FOUND, "nowhere");
	request.to_project = NULL;
	request.ttl_s = -1;
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_INVALID_ARGUMENT,
		"ttl_seconds must be from 1 to 315360000");
	request.ttl_s = 0;
	request.reason = memset(mr_arena_alloc(cast.world.cx.arena, MR_TEAM_REASON_BYTES + 2), 'x',
		MR_TEAM_REASON_BYTES + 1);
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_INVALID_ARGUMENT,
		"reason is longer than 512 bytes");
	request.reason = NULL;
	third = world_project(&cast.world, "/path/to/third");
	world_agent(&cast.world, &third, "GreenCastle");
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_INVALID_ARGUMENT,
		"there are several agents called GreenCastle; say which: "
		"GreenCastle@path-to-backend, GreenCastle@path-to-third");
	CHECK_INT(mr_value_get(mr_team_fail_data(&cast.world.cx.err), "candidates")->list.len, 2);
	CHECK_INT(world_int(&cast.world, "SELECT count(*) FROM agent_links"), 0);

	answer.from_agent = "GreenCastle";
	answer.from_project = "backend";
	world_check_fail(&cast.world, try_respond(&cast, &answer), MR_TEAM_INVALID_ARGUMENT,
		"GreenCastle cannot answer itself");
	answer.from_agent = NULL;
	world_check_fail(&cast.world, try_respond(&cast, &answer), MR_TEAM_INVALID_ARGUMENT,
		"from_agent is missing");
	answer.to_agent = NULL;
	world_check_fail(&cast.world, try_respond(&cast, &answer), MR_TEAM_INVALID_ARGUMENT,
		"to_agent is missing");
	answer.project_key = NULL;
	world_check_fail(&cast.world, try_respond(&cast, &answer), MR_TEAM_INVALID_ARGUMENT,
		"project_key is missing");
	answer = green_answers(true);
	answer.ttl_s = INT64_MAX;
	world_check_fail(&cast.world, try_respond(&cast, &answer), MR_TEAM_INVALID_ARGUMENT,
		"ttl_seconds must be from 1 to 315360000");
	world_close(&cast.world);
}

static void contacts_are_listed_in_both_directions(void)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_links links;
	struct cast cast;

	set_up(&cast);
	world_exec(&cast.world,
		LINK(1, 1, 2, 3, "approved", LATER, 0) LINK(1, 2, 1, 1, "pending", LATER, 0)
			LINK(2, 3, 1, 2, "blocked", "NULL", 0));
	CHECK_OK(mr_team_read(&cast.world.cx, cast.world.team, &reader), cast.world.cx.err);
	CHECK_OK(mr_team_contact_list(&cast.world.cx, reader.db, 1, NULL, &links),
		cast.world.cx.err);
	CHECK_INT(links.len, 2);
	CHECK_STR(links.items[0].a_agent, "RedFox");
	CHECK_STR(links.items[1].b_agent, "BlueLake");
	CHECK_OK(mr_team_contact_list(&cast.world.cx, reader.db, 1, "accepted", &links),
		cast.world.cx.err);
	CHECK_INT(links.len, 1);
	CHECK_INT(links.items[0].status, MR_TEAM_APPROVED);
	world_check_fail(&cast.world,
		mr_team_contact_list(&cast.world.cx, reader.db, 1, "maybe", &links),
		MR_TEAM_INVALID_ARGUMENT, "\"maybe\" is no status of a contact");
	mr_team_read_done(&reader);
	world_close(&cast.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_first_rule_that_fits_decides),
		TEST(no_question_scans_a_table),
		TEST(a_request_begins_as_policy_has_it),
		TEST(the_target_is_told_once_an_hour),
		TEST(a_reason_cannot_break_the_text_around_it),
		TEST(a_request_the_other_way_finds_the_same_link),
		TEST(a_contact_approved_works_both_ways_until_it_expires),
		TEST(a_contact_blocked_stays_so),
		TEST(a_policy_that_blocks_all_turns_requests_down),
		TEST(an_approval_needs_no_request_but_is_one_sides),
		TEST(who_has_not_asked_is_not_told_of_a_block),
		TEST(a_link_can_be_answered_by_its_number),
		TEST(the_other_is_found_as_in_a_message),
		TEST(a_request_that_makes_no_sense_is_refused),
		TEST(contacts_are_listed_in_both_directions),
	};

	return test_main(tests, MR_LEN(tests));
}
