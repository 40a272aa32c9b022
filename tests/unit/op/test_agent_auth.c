/* tests/unit/op/test_agent_auth.c */
#include "op/agent_auth.h"

#include "app/metrics.h"
#include "app/principal.h"
#include "app/settings.h"
#include "base/fs.h"
#include "base/log.h"
#include "files.h"
#include "op/dispatch.h"
#include "op/nouns.h"
#include "op/team/team_home.h"
#include "team/error.h"
#include "test.h"
#include "text/json.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static struct mr_arena *arena;
static struct mr_app app;
static struct mr_err failed; /* of the last call, if it failed */
static bool was_verified;
static char logged[4096];

static const struct mr_principal local = { .name = "local",
	.roles = MR_ROLE_READER | MR_ROLE_WRITER | MR_ROLE_ADMIN,
	.is_local = true };
static const struct mr_principal admin = { .name = "token:1",
	.roles = MR_ROLE_READER | MR_ROLE_WRITER | MR_ROLE_ADMIN,
	.acts_for_all = true };

static void keep_log(void *arg, const char *line, size_t len)
{
	(void)arg;
	snprintf(logged, sizeof(logged), "%.*s", (int)len, line);
}

static void begin(const char *mode)
{
	const char *assignments[] = { "storage.root=data", NULL, NULL };
	struct mr_texts texts = { assignments, 2 };
	struct mr_settings_sources sources = { .assignments = &texts, .cwd = AT_FDCWD };
	struct mr_err err;

	files_enter();
	mr_log_start(MR_LOG_WARN, keep_log, NULL);
	arena = mr_arena_new();
	assignments[1] = mr_arena_printf(arena, "agent.auth=%s", mode);
	app = (struct mr_app){ .table = &mr_nouns,
		.team = mr_team_home_new(),
		.metrics = mr_metrics_new(),
		.clock = mr_clock_system(),
		.rand = mr_rand_system() };
	CHECK_OK(mr_settings_load(arena, &sources, &app.settings, &err), err);
}

static void end(void)
{
	mr_team_home_free(app.team);
	mr_metrics_free(app.metrics);
	mr_arena_free(arena);
}

/* Run it; the result, or NULL and `failed`. */
static const struct mr_value *run(const struct mr_principal *who, const char *token,
	const char *name, const char *arguments)
{
	const struct mr_op *op = mr_op_find(app.table, name);
	struct mr_call call = mr_dispatch_call(&app, arena);
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *sent, *result = NULL;
	struct mr_out out;

	mr_buf_init(&text, 1 << 20);
	call.principal = who;
	call.may_write = call.is_admin = true;
	call.agent_token = token;
	CHECK_OK(mr_json_parse(arena, mr_bytes_text(arguments), NULL, &sent, &call.cx.err),
		call.cx.err);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	logged[0] = '\0';
	if (mr_dispatch(&call, op, sent, &out) == MR_OK)
		CHECK_OK(mr_json_parse(arena, mr_buf_bytes(&text), NULL, &result, &call.cx.err),
			call.cx.err);
	failed = call.cx.err;
	was_verified = call.is_verified;
	return result;
}

#define WHO(name) "\"project_key\":\"/p\",\"program\":\"x\",\"model\":\"y\",\"name\":\"" name "\""
#define AS(name)  "{\"project_key\":\"/p\",\"agent_name\":\"" name "\"}"
#define SEND                                                                                       \
	"{\"project_key\":\"/p\",\"sender_name\":\"BlueLake\",\"to\":[\"RedFox\"],"                \
	"\"subject\":\"s\",\"body_md\":\"b\"}"

/* Registered; its token, or NULL when none was given. */
static const char *join(const struct mr_principal *who, const char *arguments)
{
	const struct mr_value *result = run(who, NULL, "register_agent", arguments);
	const struct mr_value *token;

	CHECK(result);
	token = mr_value_get(result, "agent_token");
	return token ? token->text : NULL;
}

static void check_denied(const struct mr_value *result, const char *why)
{
	CHECK(!result);
	CHECK_INT(failed.code, MR_EPERM);
	CHECK_STR(failed.word, MR_TEAM_PERMISSION_DENIED);
	CHECK_STR(failed.msg, why);
}

static void off_gives_and_asks_nothing(void)
{
	begin("off");
	CHECK(!join(&local, "{" WHO("BlueLake") "}"));
	CHECK(!join(&local, "{" WHO("RedFox") "}"));
	CHECK(run(&local, NULL, "send_message", SEND));
	CHECK(!was_verified);
	CHECK(run(&local, "mra_whatever", "fetch_inbox", AS("RedFox")));
	end();
}

static void require_asks_for_the_token(void)
{
	static const char *const calls[][2] = {
		{ "send_message", SEND },
		{ "fetch_inbox", AS("BlueLake") },
		{ "update_agent_profile",
			"{\"project_key\":\"/p\",\"agent_name\":\"BLUElake\",\"model\":\"z\"}" },
		{ "delete_agent", "{\"project_key\":\"/p\",\"name\":\"BlueLake\"}" },
		{ "release_file_reservations", AS("BlueLake") },
		{ "file_reservation_paths",
			"{\"project_key\":\"/p\",\"agent_name\":\"BlueLake\",\"paths\":[\"a\"]}" },
		{ "set_contact_policy",
			"{\"project_key\":\"/"
			"p\",\"agent_name\":\"BlueLake\",\"policy\":\"open\"}" },
		{ "request_contact",
			"{\"project_key\":\"/p\",\"from_agent\":\"BlueLake\",\"to_agent\":"
			"\"RedFox\"}" },
		{ "register_agent", "{" WHO("BlueLake") "}" },
		{ "macro_start_session",
			"{\"human_key\":\"/p\",\"program\":\"x\",\"model\":\"y\","
			"\"agent_name\":\"BlueLake\"}" },
	};
	const char *token, *other;

	begin("require");
	token = join(&local, "{" WHO("BlueLake") "}");
	other = join(&local, "{" WHO("RedFox") "}");
	CHECK(token && other && strcmp(token, other) != 0);
	for (size_t i = 0; i < MR_LEN(calls); i++) {
		const struct mr_op *op = mr_op_find(app.table, calls[i][0]);

		if (!op)
			test_fail(__FILE__, __LINE__, "no operation %s", calls[i][0]);
		check_denied(run(&local, NULL, calls[i][0], calls[i][1]),
			"send agent_token, or the header X-Agent-Token, to act as BlueLake");
		check_denied(run(&local, other, calls[i][0], calls[i][1]),
			"send agent_token, or the header X-Agent-Token, to act as BlueLake");
	}
	/* By header or argument. */
	CHECK(run(&local, token, "send_message", SEND));
	CHECK(was_verified);
	CHECK(run(&local, other, "fetch_inbox",
		mr_arena_printf(arena,
			"{\"project_key\":\"/"
			"p\",\"agent_name\":\"BlueLake\",\"agent_token\":\"%s\"}",
			token)));
	CHECK(was_verified);
	/* What is sent says so. */
	{
		const struct mr_value *inbox = run(&local, other, "fetch_inbox", AS("RedFox"));
		const struct mr_value *list = mr_value_get(inbox, "result");

		CHECK(list && list->list.len == 1);
		CHECK(mr_value_get(&list->list.items[0], "from_verified")->boolean);
	}
	/* Looking somebody up is not acting, nor is what names nobody. */
	CHECK(run(&local, NULL, "whois", AS("BlueLake")));
	CHECK(run(&local, NULL, "list_agents", "{\"project_key\":\"/p\"}"));
	/* Who is not there is the operation's to say. */
	CHECK(!run(&local, NULL, "fetch_inbox", AS("GreenCastle")));
	CHECK_STR(failed.word, MR_TEAM_NOT_FOUND);
	/* Once more with the token changes the profile and gives nothing new. */
	CHECK(!join(&admin, "{" WHO("BlueLake") "}"));
	end();
}

static void trusted_ones_need_none(void)
{
	begin("require");
	CHECK(join(NULL, "{" WHO("BlueLake") "}"));
	CHECK(join(NULL, "{" WHO("RedFox") "}"));
	CHECK(run(NULL, NULL, "send_message", SEND));
	CHECK(!was_verified);
	CHECK(run(&admin, NULL, "fetch_inbox", AS("BlueLake")));
	CHECK(run(&admin, "mra_wrong", "fetch_inbox", AS("BlueLake")));
	CHECK(!was_verified);
	end();
}

static void agents_without_one_get_it_by_registering(void)
{
	begin("require");
	CHECK(join(&local, "{" WHO("BlueLake") "}"));
	/* RedFox is made by its first message. */
	CHECK(run(&admin, NULL, "send_message", SEND));
	check_denied(run(&local, NULL, "fetch_inbox", AS("RedFox")),
		"register first, to get the agent_token that it takes to act as RedFox");
	CHECK(join(&local, "{" WHO("RedFox") "}"));
	check_denied(run(&local, NULL, "fetch_inbox", AS("RedFox")),
		"send agent_token, or the header X-Agent-Token, to act as RedFox");
	/* Somebody new, and a session, get one too. */
	CHECK(mr_value_get(run(&local, NULL, "create_agent_identity",
				   "{\"project_key\":\"/p\",\"program\":\"x\",\"model\":\"y\"}"),
		"agent_token"));
	CHECK(mr_value_get(mr_value_get(run(&local, NULL, "macro_start_session",
						"{\"human_key\":\"/p\",\"program\":\"x\","
						"\"model\":\"y\"}"),
				   "agent"),
		"agent_token"));
	end();
}

static void warn_only_tells(void)
{
	const char *token;

	begin("warn");
	token = join(&local, "{" WHO("BlueLake") "}");
	CHECK(token && join(&local, "{" WHO("RedFox") "}"));
	CHECK(run(&local, NULL, "send_message", SEND));
	CHECK(!was_verified);
	CHECK(strstr(logged, "\"event\":\"agent_unproven\""));
	CHECK(strstr(logged, "local acts as BlueLake without its token"));
	CHECK(run(&local, token, "send_message", SEND));
	CHECK(was_verified && !*logged);
	end();
}

static void a_claim_binds(void)
{
	struct mr_principal_agent agents[] = { { "bluelake", "/p" }, { "GreenCastle", "p" } };
	struct mr_principal bound = { .name = "sub:a",
		.roles = MR_ROLE_READER | MR_ROLE_WRITER,
		.is_bound = true,
		.agents = { agents, 2 } };

	begin("off");
	CHECK(!join(&local, "{" WHO("BlueLake") "}"));
	CHECK(!join(&local, "{" WHO("RedFox") "}"));
	CHECK(run(&bound, NULL, "send_message", SEND));
	CHECK(was_verified);
	check_denied(run(&bound, NULL, "fetch_inbox", AS("RedFox")),
		"your token's claim \"agents\" does not name, for this project, RedFox");
	check_denied(run(&bound, NULL, "register_agent",
			     "{\"project_key\":\"/p\",\"program\":\"x\",\"model\":\"y\"}"),
		"say who you are: name is missing");
	bound.agents.len = 0;
	check_denied(run(&bound, NULL, "send_message", SEND),
		"your token's claim \"agents\" does not name, for this project, BlueLake");
	end();
}

/* The same name is another agent in each project. */
static void a_claim_is_for_one_project(void)
{
	static const char join_r[] = "{\"project_key\":\"r\",\"program\":\"x\",\"model\":\"y\","
				     "\"name\":\"BlueLake\"}";
	static const char in_q[] = "{\"project_key\":\"/q\",\"agent_name\":\"BlueLake\"}";
	static const char no[] =
		"your token's claim \"agents\" does not name, for this project, BlueLake";
	struct mr_principal_agent agent = { "BlueLake", "/p" };
	struct mr_principal bound = { .name = "sub:a",
		.roles = MR_ROLE_READER | MR_ROLE_WRITER,
		.is_bound = true,
		.agents = { &agent, 1 } };

	begin("off");
	/* Projects that are not there yet. */
	check_denied(run(&bound, NULL, "register_agent",
			     "{\"project_key\":\"/q\",\"program\":\"x\",\"model\":\"y\","
			     "\"name\":\"BlueLake\"}"),
		no);
	CHECK(!join(&bound, "{" WHO("BlueLake") "}"));
	CHECK(!join(&local, "{" WHO("RedFox") "}"));
	CHECK(!join(&local,
		"{\"project_key\":\"/q\",\"program\":\"x\",\"model\":\"y\","
		"\"name\":\"BlueLake\"}"));
	CHECK(run(&bound, NULL, "fetch_inbox", AS("BlueLake")));
	check_denied(run(&bound, NULL, "fetch_inbox", in_q), no);
	check_denied(run(&bound, NULL, "send_message",
			     "{\"project_key\":\"/q\",\"sender_name\":\"BlueLake\",\"to\":["
			     "\"BlueLake\"],\"subject\":\"s\",\"body_md\":\"b\"}"),
		no);
	/* The key and the slug are the same project, in the call and in the claim. */
	CHECK(run(&bound, NULL, "fetch_inbox",
		"{\"project_key\":\"p\",\"agent_name\":\"BlueLake\"}"));
	agent.project = "p";
	CHECK(run(&bound, NULL, "fetch_inbox", AS("BlueLake")));
	/* A part of a key names no project in a claim, whatever a call finds by it. */
	CHECK(!join(&local,
		"{\"project_key\":\"/deep/r\",\"program\":\"x\",\"model\":\"y\","
		"\"name\":\"BlueLake\"}"));
	agent.project = "r";
	check_denied(run(&bound, NULL, "fetch_inbox",
			     "{\"project_key\":\"r\",\"agent_name\":\"BlueLake\"}"),
		no);
	/* Joining finds the same project as a call does. */
	check_denied(run(&bound, NULL, "register_agent", join_r), no);
	check_denied(run(&bound, NULL, "macro_start_session",
			     "{\"human_key\":\"r\",\"program\":\"x\",\"model\":\"y\","
			     "\"agent_name\":\"BlueLake\"}"),
		no);
	agent.project = "/deep/r";
	CHECK(run(&bound, NULL, "fetch_inbox",
		"{\"project_key\":\"r\",\"agent_name\":\"BlueLake\"}"));
	CHECK(run(&bound, NULL, "register_agent", join_r));
	/* Who joins by a path may make a project, and is not to make one that the claim does not
	 * name. */
	check_denied(run(&bound, NULL, "register_agent",
			     "{\"project_key\":\"/r\",\"program\":\"x\",\"model\":\"y\","
			     "\"name\":\"BlueLake\"}"),
		no);
	end();
}

/* A link's number must not stand for the name of who answers. */
static void nobody_answers_unnamed(void)
{
	const char *blue, *red;
	const struct mr_value *asked;
	const char *by_number;

	begin("require");
	blue = join(&local, "{" WHO("BlueLake") "}");
	red = join(&local, "{" WHO("RedFox") "}");
	asked = run(&local, blue, "request_contact",
		"{\"project_key\":\"/p\",\"from_agent\":\"BlueLake\",\"to_agent\":\"RedFox\"}");
	CHECK(asked);
	by_number = mr_arena_printf(arena, "{\"link_id\":%lld,\"accept\":true}",
		(long long)mr_value_get(asked, "id")->integer);
	check_denied(run(&local, blue, "respond_contact", by_number),
		"say who you are: project_key is missing");
	check_denied(run(&local, blue, "respond_contact",
			     mr_arena_printf(arena, "{\"project_key\":\"/p\",%s", by_number + 1)),
		"say who you are: to_agent is missing");
	CHECK(run(&local, red, "respond_contact",
		mr_arena_printf(arena, "{\"project_key\":\"/p\",\"to_agent\":\"RedFox\",%s",
			by_number + 1)));
	CHECK(run(NULL, NULL, "respond_contact", by_number));
	end();
}

static void every_writer_that_names_an_agent_has_an_actor(void)
{
	/* What changes nothing of that agent's, or makes it. */
	static const char *const known[] = { "create_agent_identity", NULL };

	for (size_t i = 0; i < mr_nouns.len; i++) {
		const struct mr_op *op = mr_nouns.ops[i];
		bool names_one = mr_param_find(op->params, "agent_name") ||
			mr_param_find(op->params, "sender_name");
		bool is_known = false;

		for (size_t k = 0; known[k]; k++)
			is_known |= mr_str_eq(known[k], op->name);
		if (op->surfaces & MR_ON_MCP && op->needs & MR_NEED_WRITE && names_one &&
			!is_known && !mr_agent_auth_param(op))
			test_fail(__FILE__, __LINE__, "%s: nobody acts", op->name);
	}
}

/* How many of the project's messages somebody finds. */
static size_t found_by(const struct mr_principal *who, const char *token)
{
	const struct mr_value *result = run(who, token, "search_messages",
		"{\"project_key\":\"/p\",\"query\":\"importance:normal\"}");

	CHECK(result);
	return mr_value_get(result, "result")->list.len;
}

static void a_claim_shows_the_mail_of_its_agents(void)
{
	struct mr_principal_agent agents[] = { { "RedFox", "/p" }, { "greencastle", "/p" },
		{ "NobodyThere", "/p" }, { "RedFox", "/q" }, { "RedFox", "/nowhere" } };
	struct mr_principal bound = { .name = "sub:a",
		.roles = MR_ROLE_READER | MR_ROLE_WRITER,
		.is_bound = true };
	static const char *const modes[] = { "off", "warn", "require" };

	for (size_t i = 0; i < MR_LEN(modes); i++) {
		begin(modes[i]);
		join(&admin, "{" WHO("BlueLake") "}");
		join(&admin, "{" WHO("RedFox") "}");
		join(&admin, "{" WHO("GreenCastle") "}");
		CHECK(run(&admin, NULL, "send_message", SEND));
		CHECK(run(&admin, NULL, "send_message",
			"{\"project_key\":\"/"
			"p\",\"sender_name\":\"BlueLake\",\"to\":[\"BlueLake\"],"
			"\"subject\":\"s\",\"body_md\":\"b\"}"));
		/* Two more each time, in one storage. */
		CHECK_INT(found_by(&admin, NULL), 2 * (i + 1));
		CHECK_INT(found_by(NULL, NULL), 2 * (i + 1));
		bound.agents = (struct mr_principal_agents){ agents, 2 };
		CHECK_INT(found_by(&bound, NULL), i + 1);
		bound.agents = (struct mr_principal_agents){ agents + 1, 4 };
		CHECK_INT(found_by(&bound, NULL), 0);
		bound.agents.len = 0;
		CHECK_INT(found_by(&bound, NULL), 0);
		end();
	}
}

static void readers_are_numbers_in_a_list(void)
{
	static const struct {
		const char *readers;
		int64_t agent;
		bool is_one;
	} rows[] = {
		{ NULL, 7, true },
		{ "[]", 7, false },
		{ "[]", 0, false },
		{ "[7]", 7, true },
		{ "[17,27]", 7, false },
		{ "[17,7]", 7, true },
		{ "[7,17]", 17, true },
		{ "[7,17]", 1, false },
	};

	for (size_t i = 0; i < MR_LEN(rows); i++) {
		struct mr_call call = { .rights = { rows[i].readers } };

		CHECK_INT(mr_agent_auth_reads_for(&call, rows[i].agent), rows[i].is_one);
	}
}

/* What shows texts of others shows them of one agent, who acts, or as far as they are one's own. */
static void every_reader_of_mail_is_known(void)
{
	/* Profiles, leases, contacts: no mail. */
	static const char *const known[] = { "whois", "list_agents", "list_file_reservations",
		"check_paths", NULL };

	for (size_t i = 0; i < mr_nouns.len; i++) {
		const struct mr_op *op = mr_nouns.ops[i];
		bool is_known = false;

		for (size_t k = 0; known[k]; k++)
			is_known |= mr_str_eq(known[k], op->name);
		if (op->surfaces & MR_ON_MCP && op->traits & MR_QUOTES && !is_known &&
			!mr_agent_auth_takes_token(op))
			test_fail(__FILE__, __LINE__, "%s: whose mail is it?", op->name);
	}
}

static void what_needs_no_team_is_refused_before_it_is_opened(void)
{
	begin("require");
	check_denied(run(&local, NULL, "respond_contact", "{\"link_id\":1,\"accept\":true}"),
		"say who you are: project_key is missing");
	CHECK(!mr_fs_exists(AT_FDCWD, "data"));
	/* Whether a token is the agent's, only the team knows. */
	CHECK(!run(&local, "mra_whatever", "fetch_inbox", AS("RedFox")));
	CHECK(mr_fs_exists(AT_FDCWD, "data"));
	end();
}

int main(void)
{
	static const struct test tests[] = {
		TEST(off_gives_and_asks_nothing),
		TEST(require_asks_for_the_token),
		TEST(trusted_ones_need_none),
		TEST(agents_without_one_get_it_by_registering),
		TEST(warn_only_tells),
		TEST(a_claim_binds),
		TEST(a_claim_is_for_one_project),
		TEST(nobody_answers_unnamed),
		TEST(what_needs_no_team_is_refused_before_it_is_opened),
		TEST(every_writer_that_names_an_agent_has_an_actor),
		TEST(a_claim_shows_the_mail_of_its_agents),
		TEST(readers_are_numbers_in_a_list),
		TEST(every_reader_of_mail_is_known),
	};

	return test_main(tests, MR_LEN(tests));
}
