/* tests/unit/team/test_team_contact_decide.c - every rule of the decision, and their order. */
#include "contact_cast.h"
#include "test.h"

#include <string.h>

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
	{ "one project, blocking all, but asked, and much was written to others since",
		POLICY(2, "block_all") MAIL(1, 1, 2, 1, "NULL", NOW) MANY(2, 130, 1, 2), 1, 2,
		.rule = "solicited" },
	{ "one project, blocking all, and much was written to others only",
		POLICY(2, "block_all") MANY(2, 129, 1, 2), 1, 2, .verdict = MR_TEAM_REFUSED,
		.rule = "block_all" },
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
	{ "auto, leases that overlap",
		POLICY(3, "auto") PROGRAM(3, "claude") LEASE(1, "src/**") LEASE(3, "src/auth.py"),
		.rule = "auto_reservations" },
	{ "auto, leases that do not overlap",
		POLICY(3, "auto") PROGRAM(3, "claude") LEASE(1, "docs/**") LEASE(3, "src/auth.py"),
		.verdict = MR_TEAM_NEEDS_CONTACT, .rule = "auto" },
	{ "auto, a lease that is over",
		POLICY(3, "auto") PROGRAM(3, "claude") LEASE(1, "src/**")
			LEASE(3, "src/auth.py") "UPDATE file_reservations SET released_ts = " NOW
						" WHERE agent_id = 1;",
		.verdict = MR_TEAM_NEEDS_CONTACT, .rule = "auto" },
};

/* One world for all: what a rule has set up is taken away before the next. */
static void the_first_rule_that_fits_decides(void)
{
	struct cast cast;

	cast_open(&cast);
	for (size_t i = 0; i < MR_LEN(rules); i++) {
		struct mr_team_decision decision;

		cast.world.config.contacts_enforced = !rules[i].off;
		cast.world.config.contacts_in_project = rules[i].in_project;
		world_reopen(&cast.world);
		world_exec(&cast.world, rules[i].sql);
		decision = cast_decide(&cast, rules[i].from ? rules[i].from : 1,
			rules[i].to ? rules[i].to : 3, rules[i].thread_id, rules[i].reply_to);
		if (!mr_str_eq(decision.rule, rules[i].rule) ||
			decision.verdict != rules[i].verdict)
			test_fail(__FILE__, __LINE__, "%s: %s (%d), not %s (%d)", rules[i].what,
				decision.rule, (int)decision.verdict, rules[i].rule,
				(int)rules[i].verdict);
		cast_clear(&cast);
	}
	world_close(&cast.world);
}

/* No step of the plan for this question has that word. */
static void check_plan(struct world *world, const char *sql, const char *never)
{
	struct mr_texts plan = world_plan(world, sql);

	for (size_t i = 0; i < plan.len; i++)
		if (strstr(plan.items[i], never))
			test_fail(__FILE__, __LINE__, "%s: %s", sql, plan.items[i]);
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

	cast_open(&cast);
	for (size_t i = 0; i < MR_LEN(questions); i++)
		check_plan(&cast.world, questions[i], "SCAN");
	world_close(&cast.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_first_rule_that_fits_decides),
		TEST(no_question_scans_a_table),
	};

	return test_main(tests, MR_LEN(tests));
}
