/* tests/unit/team/test_team_agent.c - agents: found, registered, edited, retired. */
#include "team/agent.h"

#include "files.h"
#include "team/error.h"
#include "team/limits.h"
#include "team/name.h"
#include "test.h"
#include "text/digest.h"
#include "world.h"

#include <pthread.h>
#include <string.h>

static struct mr_team_registration request_for(const char *name)
{
	return (struct mr_team_registration){
		.project_key = "/backend",
		.name = name,
		.program = "codex",
		.model = "gpt-5",
	};
}

static enum mr_code try_register(struct world *world, const struct mr_team_registration *request,
	struct mr_team_agent *out)
{
	struct mr_team_project project;

	return mr_team_agent_register(&world->cx, world->team, request, &project, out);
}

static struct mr_team_agent enter(struct world *world, const char *name)
{
	struct mr_team_registration request = request_for(name);
	struct mr_team_agent agent;

	CHECK_OK(try_register(world, &request, &agent), world->cx.err);
	return agent;
}

static enum mr_code find(struct world *world, const char *name, bool active_only,
	struct mr_team_agent *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_project project;

	CHECK_OK(mr_team_read(&world->cx, world->team, &reader), world->cx.err);
	CHECK_OK(mr_team_project_find(&world->cx, reader.db, "/backend", &project), world->cx.err);
	return mr_team_agent_find(&world->cx, reader.db, &project, name, active_only, out);
}

static enum mr_code resolve(struct world *world, const char *project_key, const char *name,
	struct mr_team_agent *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_project project;

	CHECK_OK(mr_team_read(&world->cx, world->team, &reader), world->cx.err);
	return mr_team_agent_resolve(&world->cx, world->team, reader.db, project_key, name,
		&project, out);
}

static void configure(struct world *world, enum mr_team_name_mode mode, bool any)
{
	world->config.name_mode = mode;
	world->config.any_name = any;
	world_reopen(world);
}

static void registering_makes_project_and_agent(void)
{
	struct mr_team_agent agent;
	struct world world;

	world_open(&world);
	agent = enter(&world, "GreenCastle");
	CHECK_STR(agent.name, "GreenCastle");
	CHECK_STR(agent.program, "codex");
	CHECK_STR(agent.model, "gpt-5");
	CHECK_STR(agent.task_description, "");
	CHECK_INT(agent.inception_ts, WORLD_NOW_US);
	CHECK_INT(agent.last_active_ts, WORLD_NOW_US);
	CHECK_INT(agent.contact_policy, MR_TEAM_OPEN);
	CHECK_INT(agent.attachments_policy, MR_TEAM_ATTACH_AUTO);
	CHECK(agent.is_active && !agent.is_system && agent.deleted_ts == 0);
	CHECK_STR(world_text(&world, "SELECT slug FROM projects"), "backend");
	CHECK_STR(world_text(&world,
			  "SELECT kind || ' ' || ref || ' ' || subject || ' ' || tool"
			  " FROM archive_queue WHERE kind = 'profile'"),
		"profile 1 agent: profile GreenCastle register_agent");
	world_close(&world);
}

static void the_same_name_again_is_the_same_agent(void)
{
	struct mr_team_registration request = request_for("greencastle");
	struct mr_team_agent first, again;
	struct world world;

	world_open(&world);
	first = enter(&world, "GreenCastle");
	world_later(&world, 3600);
	request.model = "gpt-6";
	request.task_description = "auth";
	request.contact_policy = "contacts_only";
	request.attachments_policy = "inline";
	CHECK_OK(try_register(&world, &request, &again), world.cx.err);
	CHECK_INT(again.id, first.id);
	CHECK_STR(again.name, "GreenCastle");
	CHECK_STR(again.model, "gpt-6");
	CHECK_STR(again.task_description, "auth");
	CHECK_INT(again.inception_ts, WORLD_NOW_US);
	CHECK_INT(again.last_active_ts, world.clock.now_us);
	CHECK_INT(again.contact_policy, MR_TEAM_CONTACTS_ONLY);
	/* What is not said stays. */
	again = enter(&world, "GREENCASTLE");
	CHECK_STR(again.task_description, "auth");
	CHECK_INT(again.contact_policy, MR_TEAM_CONTACTS_ONLY);
	CHECK_INT(again.attachments_policy, MR_TEAM_ATTACH_INLINE);
	CHECK_INT(world_count(&world, "agents"), 1);
	world_close(&world);
}

/* Spec 4.4: what each mode makes of each kind of name. GreenCastle is there already. */
static void modes_decide_about_names(void)
{
	enum { MADE, USED, UPDATED, INVALID, TAKEN };
	static const struct {
		enum mr_team_name_mode mode;
		const char *name;
		bool create;
		int outcome;
	} cases[] = {
		{ MR_TEAM_STRICT, NULL, false, MADE },
		{ MR_TEAM_STRICT, "HappyLake", false, INVALID },
		{ MR_TEAM_STRICT, "", false, INVALID },
		{ MR_TEAM_STRICT, "BlueLake", false, USED },
		{ MR_TEAM_STRICT, "GreenCastle", false, UPDATED },
		{ MR_TEAM_STRICT, "GreenCastle", true, TAKEN },
		{ MR_TEAM_STRICT, "RedFox", true, USED },
		{ MR_TEAM_STRICT, NULL, true, MADE },
		{ MR_TEAM_STRICT, "HappyLake", true, INVALID },
		{ MR_TEAM_STRICT, "HumanOverseer", false, INVALID },
		{ MR_TEAM_COERCE, NULL, false, MADE },
		{ MR_TEAM_COERCE, "HappyLake", false, MADE },
		{ MR_TEAM_COERCE, "", false, MADE },
		{ MR_TEAM_COERCE, "BlueLake", false, UPDATED },
		{ MR_TEAM_COERCE, "WildOwl", false, USED },
		{ MR_TEAM_COERCE, "greencastle", false, UPDATED },
		{ MR_TEAM_COERCE, "GreenCastle", true, MADE },
		{ MR_TEAM_COERCE, "VastElm", true, USED },
		{ MR_TEAM_COERCE, "System", false, MADE },
		{ MR_TEAM_COERCE, "../../etc/passwd", false, MADE },
		{ MR_TEAM_ALWAYS_AUTO, NULL, false, MADE },
		{ MR_TEAM_ALWAYS_AUTO, "HappyLake", false, MADE },
		{ MR_TEAM_ALWAYS_AUTO, "PureHall", false, MADE },
		{ MR_TEAM_ALWAYS_AUTO, "GreenCastle", false, MADE },
		{ MR_TEAM_ALWAYS_AUTO, "GreenCastle", true, MADE },
	};
	struct world world;

	world_open(&world);
	enter(&world, "GreenCastle");
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_team_registration request = request_for(cases[i].name);
		int64_t before = world_count(&world, "agents");
		struct mr_team_agent agent = { 0 };
		enum mr_code rc;

		configure(&world, cases[i].mode, false);
		request.create = cases[i].create;
		rc = try_register(&world, &request, &agent);
		if (cases[i].outcome == INVALID)
			world_check_fail(&world, rc, MR_TEAM_INVALID_ARGUMENT, "");
		else if (cases[i].outcome == TAKEN)
			world_check_fail(&world, rc, MR_TEAM_NAME_TAKEN,
				"the name GreenCastle is taken in the project backend");
		else
			CHECK_OK(rc, world.cx.err);
		if (cases[i].outcome == USED)
			CHECK_STR(agent.name, cases[i].name);
		if (cases[i].outcome == UPDATED)
			CHECK(mr_str_eq_nocase(agent.name, cases[i].name));
		if (cases[i].outcome == MADE) {
			CHECK(mr_team_name_is_pooled(agent.name));
			CHECK(!cases[i].name || !mr_str_eq_nocase(agent.name, cases[i].name));
		}
		if (world_count(&world, "agents") - before !=
			(cases[i].outcome == USED || cases[i].outcome == MADE))
			test_fail(__FILE__, __LINE__, "case %zu: another number of agents", i);
	}
	world_close(&world);
}

static void refused_names_say_why(void)
{
	static const struct {
		const char *name, *text;
	} cases[] = {
		{ "HappyLake",
			"\"HappyLake\" is no agent's name: it takes a listed adjective and "
			"noun, such as GreenCastle" },
		{ "src/main.c", "\"src/main.c\" looks like a path" },
		{ "ops", "the name ops is reserved: it speaks for people or for the system" },
	};
	struct mr_team_agent agent;
	struct world world;

	world_open(&world);
	configure(&world, MR_TEAM_STRICT, false);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_team_registration request = request_for(cases[i].name);

		world_check_fail(&world, try_register(&world, &request, &agent),
			MR_TEAM_INVALID_ARGUMENT, cases[i].text);
		CHECK_STR(mr_value_get(mr_team_fail_data(&world.cx.err), "argument")->text, "name");
		request.create = true;
		world_check_fail(&world, try_register(&world, &request, &agent),
			MR_TEAM_INVALID_ARGUMENT, cases[i].text);
		CHECK_STR(mr_value_get(mr_team_fail_data(&world.cx.err), "argument")->text,
			"name_hint");
	}
	CHECK_INT(world_count(&world, "projects"), 0);
	world_close(&world);
}

static void any_name_may_be_allowed(void)
{
	struct mr_team_agent agent;
	struct world world;
	char *huge;

	world_open(&world);
	configure(&world, MR_TEAM_STRICT, true);
	CHECK_STR(enter(&world, "Backend-Harmonizer!!").name, "BackendHarmonizer");
	agent = enter(&world, "Alice");
	CHECK_INT(enter(&world, "alice").id, agent.id);
	CHECK_INT(enter(&world, "backendharmonizer").id, enter(&world, "Backend-Harmonizer!!").id);
	world_check_fail(&world,
		try_register(&world,
			&(struct mr_team_registration){ .project_key = "/backend",
				.name = "!!!",
				.program = "p",
				.model = "m" },
			&agent),
		MR_TEAM_INVALID_ARGUMENT, "letters and digits are needed");
	huge = mr_arena_alloc(world.cx.arena, (1 << 20) + 1);
	memset(huge, 'x', 1 << 20);
	CHECK_INT(strlen(enter(&world, huge).name), MR_TEAM_NAME_BYTES);
	configure(&world, MR_TEAM_STRICT, false);
	world_check_fail(&world,
		try_register(&world,
			&(struct mr_team_registration){ .project_key = "/other",
				.name = huge,
				.program = "p",
				.model = "m" },
			&agent),
		MR_TEAM_INVALID_ARGUMENT, "is no agent's name");
	world_close(&world);
}

static void profiles_have_limits(void)
{
	struct mr_team_registration request = request_for(NULL);
	struct mr_team_agent agent;
	struct world world;
	char *text;

	world_open(&world);
	text = mr_arena_alloc(world.cx.arena, MR_TEAM_TASK_BYTES + 2);
	memset(text, 'x', MR_TEAM_TASK_BYTES + 1);
	request.task_description = text;
	world_check_fail(&world, try_register(&world, &request, &agent), MR_TEAM_INVALID_ARGUMENT,
		"task_description is 2049 bytes long; at most 2048 are possible");
	request.task_description = NULL;
	request.program = text;
	world_check_fail(&world, try_register(&world, &request, &agent), MR_TEAM_INVALID_ARGUMENT,
		"program is 2049 bytes long; at most 128 are possible");
	request.program = "";
	world_check_fail(&world, try_register(&world, &request, &agent), MR_TEAM_INVALID_ARGUMENT,
		"program is empty");
	request.program = "p";
	request.model = NULL;
	world_check_fail(&world, try_register(&world, &request, &agent), MR_TEAM_INVALID_ARGUMENT,
		"model is empty");
	request.model = "m";
	request.contact_policy = "sometimes";
	world_check_fail(&world, try_register(&world, &request, &agent), MR_TEAM_INVALID_ARGUMENT,
		"\"sometimes\" is no contact policy: open, auto, contacts_only or block_all");
	request.contact_policy = NULL;
	request.attachments_policy = "sometimes";
	CHECK_OK(try_register(&world, &request, &agent), world.cx.err);
	CHECK_INT(agent.attachments_policy, MR_TEAM_ATTACH_AUTO);
	world_close(&world);
}

static void agents_are_found_in_any_case(void)
{
	struct mr_team_agent agent, found;
	struct world world;

	world_open(&world);
	agent = enter(&world, "GreenCastle");
	CHECK_OK(find(&world, "gREENcASTLE", true, &found), world.cx.err);
	CHECK_INT(found.id, agent.id);
	CHECK_STR(found.name, "GreenCastle");
	CHECK_OK(find(&world, "Green Castle", true, &found), world.cx.err);
	CHECK_INT(found.id, agent.id);
	world_check_fail(&world, find(&world, "", true, &found), MR_TEAM_INVALID_ARGUMENT,
		"the agent's name is empty");
	world_check_fail(&world, find(&world, "GreenCastel", true, &found), MR_TEAM_NOT_FOUND,
		"there is no agent \"GreenCastel\" in the project backend (did you mean "
		"GreenCastle?); resource://agents/backend and `mailroom team agents backend` list "
		"those there are");
	CHECK_STR(mr_value_get(mr_team_fail_data(&world.cx.err), "suggestions")->list.items[0].text,
		"GreenCastle");
	world_close(&world);
}

static void hostile_names_are_only_unknown(void)
{
	struct mr_team_agent found;
	struct world world;
	char *huge;

	world_open(&world);
	enter(&world, "GreenCastle");
	huge = mr_arena_alloc(world.cx.arena, (1 << 20) + 1);
	memset(huge, 'x', 1 << 20);
	world_check_fail(&world, find(&world, huge, false, &found), MR_TEAM_NOT_FOUND,
		"there is no agent \"xxx");
	world_check_fail(&world, find(&world, "../../GreenCastleX", false, &found),
		MR_TEAM_NOT_FOUND, "there is no agent \"../../GreenCastleX\"");
	world_check_fail(&world, find(&world, "x' OR 1=1 --", false, &found), MR_TEAM_NOT_FOUND,
		"there is no agent");
	world_close(&world);
}

static void lists_begin_with_who_was_active_last(void)
{
	struct mr_team_reader reader = { 0 };
	struct mr_team_agents list;
	struct mr_team_project other;
	struct mr_team_agent agent;
	struct world world;
	bool found = true;

	world_open(&world);
	enter(&world, "GreenCastle");
	world_later(&world, 10);
	enter(&world, "BlueLake");
	world_later(&world, 10);
	enter(&world, "GreenCastle");
	other = world_project(&world, "/other");
	world_agent(&world, &other, "BlueLake");
	CHECK_OK(mr_team_read(&world.cx, world.team, &reader), world.cx.err);
	CHECK_OK(mr_team_agent_list(&world.cx, reader.db, 1, true, &list), world.cx.err);
	CHECK_INT(list.len, 2);
	CHECK_STR(list.items[0].name, "GreenCastle");
	CHECK_STR(list.items[1].name, "BlueLake");
	CHECK_OK(mr_team_agent_elsewhere(&world.cx, reader.db, 1, "bluelake", &list), world.cx.err);
	CHECK_INT(list.len, 1);
	CHECK_INT(list.items[0].project_id, other.id);
	CHECK_OK(mr_team_agent_seek(&world.cx, reader.db, other.id, "GreenCastle", &found, &agent),
		world.cx.err);
	CHECK(!found);
	CHECK_OK(mr_team_agent_get(&world.cx, reader.db, 2, &agent), world.cx.err);
	CHECK_STR(agent.name, "BlueLake");
	world_check_fail(&world, mr_team_agent_get(&world.cx, reader.db, 99, &agent),
		MR_TEAM_NOT_FOUND, "there is no agent with the id 99");
	mr_team_read_done(&reader);
	world_close(&world);
}

static enum mr_code nothing(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	(void)cx;
	(void)db;
	(void)arg;
	return MR_OK;
}

/* Jobs of one thread run in their order: when this one is done, those before it are. */
static int64_t last_active(struct world *world)
{
	CHECK_OK(mr_team_write(&world->cx, world->team, nothing, NULL, NULL), world->cx.err);
	return world_int(world, "SELECT last_active_ts FROM agents WHERE id = 1");
}

static void being_active_is_noted_now_and_then(void)
{
	struct mr_team_agent agent;
	struct world world;

	world_open(&world);
	enter(&world, "GreenCastle");
	world_later(&world, 4);
	CHECK_OK(resolve(&world, "backend", "greencastle", &agent), world.cx.err);
	CHECK_INT(last_active(&world), WORLD_NOW_US);
	world_later(&world, 1);
	CHECK_OK(resolve(&world, "backend", "greencastle", &agent), world.cx.err);
	CHECK_INT(last_active(&world), WORLD_NOW_US + INT64_C(5000000));
	world_later(&world, 4);
	CHECK_OK(resolve(&world, "backend", "greencastle", &agent), world.cx.err);
	CHECK_INT(last_active(&world), WORLD_NOW_US + INT64_C(5000000));
	/* What was not stored yet when the storage closes is stored then. */
	world_later(&world, 60);
	CHECK_OK(resolve(&world, "backend", "greencastle", &agent), world.cx.err);
	world_reopen(&world);
	CHECK_INT(last_active(&world), world.clock.now_us);
	world_check_fail(&world, resolve(&world, "nowhere", "greencastle", &agent),
		MR_TEAM_NOT_FOUND, "there is no project");
	world_close(&world);
}

static void profiles_are_edited(void)
{
	struct mr_team_agent_edit edit = { .task_description = "tests",
		.contact_policy = "manual" };
	struct mr_team_agent agent;
	struct world world;

	world_open(&world);
	enter(&world, "GreenCastle");
	CHECK_OK(mr_team_agent_update(&world.cx, world.team, "backend", "greencastle", &edit,
			 "update_agent_profile", &agent),
		world.cx.err);
	CHECK_STR(agent.task_description, "tests");
	CHECK_STR(agent.program, "codex");
	CHECK_INT(agent.contact_policy, MR_TEAM_CONTACTS_ONLY);
	CHECK_STR(world_text(&world, "SELECT contact_policy FROM agents"), "contacts_only");
	CHECK_INT(world_count(&world,
			  "archive_queue WHERE kind = 'profile'"
			  " AND tool = 'update_agent_profile'"),
		1);
	edit = (struct mr_team_agent_edit){ .attachments_policy = "maybe" };
	world_check_fail(&world,
		mr_team_agent_update(&world.cx, world.team, "backend", "greencastle", &edit, "t",
			&agent),
		MR_TEAM_INVALID_ARGUMENT, "\"maybe\" is no attachments policy");
	edit = (struct mr_team_agent_edit){ .contact_policy = "maybe" };
	world_check_fail(&world,
		mr_team_agent_update(&world.cx, world.team, "backend", "greencastle", &edit, "t",
			&agent),
		MR_TEAM_INVALID_ARGUMENT, "\"maybe\" is no contact policy");
	edit = (struct mr_team_agent_edit){ .model = "" };
	world_check_fail(&world,
		mr_team_agent_update(&world.cx, world.team, "backend", "greencastle", &edit, "t",
			&agent),
		MR_TEAM_INVALID_ARGUMENT, "model is empty");
	edit = (struct mr_team_agent_edit){ 0 };
	world_check_fail(&world,
		mr_team_agent_update(&world.cx, world.team, "backend", "greencastle", &edit, "t",
			&agent),
		MR_TEAM_INVALID_ARGUMENT, "nothing to change");
	world_close(&world);
}

static void give_leases(struct world *world)
{
	world_exec(world,
		"INSERT INTO file_reservations (project_id, agent_id, path_pattern, created_ts,"
		" expires_ts, released_ts) VALUES (1, 1, 'src/*', 1, 9, NULL),"
		" (1, 1, 'docs/*', 1, 9, NULL), (1, 1, 'old', 1, 9, 5), (1, 2, 'src/*', 1, 9, "
		"NULL);"
		"INSERT INTO build_slots (project_id, agent_id, slot_name, created_ts, expires_ts)"
		" VALUES (1, 1, 'ci', 1, 9)");
}

static void retiring_keeps_the_agent_and_frees_what_it_held(void)
{
	struct mr_team_deletion deletion;
	struct mr_team_agent agent;
	struct world world;

	world_open(&world);
	enter(&world, "GreenCastle");
	enter(&world, "BlueLake");
	give_leases(&world);
	world_exec(&world, "DELETE FROM archive_queue");
	CHECK_OK(mr_team_agent_delete(&world.cx, world.team, "backend", "greencastle", false,
			 &deletion),
		world.cx.err);
	CHECK_STR(deletion.agent_name, "GreenCastle");
	CHECK_STR(deletion.project, "/backend");
	CHECK_INT(deletion.file_reservations_released, 2);
	CHECK_INT(deletion.messages_deleted, 0);
	CHECK(!deletion.purged);
	CHECK_INT(world_count(&world,
			  "file_reservations WHERE agent_id = 1"
			  " AND released_ts IS NULL"),
		0);
	CHECK_INT(world_int(&world,
			  "SELECT released_ts FROM file_reservations WHERE "
			  "path_pattern = 'old'"),
		5);
	CHECK_INT(world_count(&world,
			  "file_reservations WHERE agent_id = 2"
			  " AND released_ts IS NULL"),
		1);
	CHECK_INT(world_count(&world, "build_slots WHERE released_ts IS NULL"), 0);
	CHECK_STR(world_list(&world, "SELECT kind || ' ' || subject FROM archive_queue ORDER BY id",
			  ", "),
		"reservation file_reservation: release GreenCastle src/*, reservation "
		"file_reservation: release GreenCastle docs/*, slot build_slot: release "
		"GreenCastle, profile agent: retire GreenCastle");
	/* It can still be read about, but it cannot act. */
	CHECK_OK(find(&world, "greencastle", false, &agent), world.cx.err);
	CHECK(!agent.is_active);
	CHECK_INT(agent.deleted_ts, WORLD_NOW_US);
	world_check_fail(&world, resolve(&world, "backend", "greencastle", &agent),
		MR_TEAM_NOT_FOUND, "GreenCastle is retired in the project backend; register_agent");
	CHECK_STR(mr_value_get(mr_team_fail_data(&world.cx.err), "retired")->text, "GreenCastle");
	/* Once more changes nothing but the answer; registering brings it back. */
	world_later(&world, 5);
	CHECK_OK(mr_team_agent_delete(&world.cx, world.team, "backend", "greencastle", false,
			 &deletion),
		world.cx.err);
	CHECK_INT(deletion.deleted_ts, WORLD_NOW_US);
	agent = enter(&world, "greencastle");
	CHECK_INT(agent.id, 1);
	CHECK(agent.is_active && agent.deleted_ts == 0);
	world_close(&world);
}

static void send_mail(struct world *world)
{
	world_exec(world,
		"INSERT INTO messages (id, uid, project_id, sender_id, subject, body_md,"
		" created_ts) VALUES (1, 'a', 1, 1, 'walrus', 'b', 1), (2, 'b', 1, 2, 'otter',"
		" 'b', 1);"
		"INSERT INTO message_recipients (message_id, agent_id) VALUES (1, 2), (2, 1), (2, "
		"2);"
		"INSERT INTO sent_keys (sender_id, key, message_id, created_ts)"
		" VALUES (1, 'k', 1, 1), (2, 'k', 2, 1);"
		"INSERT INTO agent_links (a_project_id, a_agent_id, b_project_id, b_agent_id, "
		"status,"
		" created_ts, updated_ts) VALUES (1, 2, 1, 1, 'approved', 1, 1);"
		"INSERT INTO ack_escalations (message_id, agent_id, times, updated_ts)"
		" VALUES (1, 2, 1, 1);");
	world_reindex(world);
}

static void purging_leaves_nothing_but_a_note(void)
{
	struct mr_team_deletion deletion;
	struct world world;

	world_open(&world);
	enter(&world, "GreenCastle");
	enter(&world, "BlueLake");
	give_leases(&world);
	send_mail(&world);
	CHECK_OK(mr_team_agent_delete(&world.cx, world.team, "backend", "greencastle", true,
			 &deletion),
		world.cx.err);
	CHECK(deletion.purged);
	CHECK_INT(deletion.message_recipients_deleted, 2);
	CHECK_INT(deletion.messages_deleted, 1);
	CHECK_INT(deletion.file_reservations_deleted, 3);
	CHECK_STR(world_list(&world, "SELECT name FROM agents", ","), "BlueLake");
	CHECK_STR(world_list(&world, "SELECT subject FROM messages", ","), "otter");
	CHECK_INT(world_count(&world, "message_recipients"), 1);
	CHECK_INT(world_count(&world, "sent_keys"), 1);
	CHECK_INT(world_count(&world, "agent_links"), 0);
	CHECK_INT(world_count(&world, "ack_escalations"), 0);
	CHECK_STR(world_found(&world, "walrus"), NULL);
	CHECK_STR(world_found(&world, "otter"), "2");
	world_check_index(&world);
	CHECK_STR(world_text(&world,
			  "SELECT kind || ' ' || ref || ' ' || name || ' ' || subject"
			  " FROM archive_queue WHERE kind = 'deleted'"),
		"deleted 1 GreenCastle agent: delete GreenCastle");
	CHECK_STR(world_text(&world, "SELECT data FROM archive_queue WHERE kind = 'deleted'"),
		"{\"message_recipients_deleted\":2,\"messages_deleted\":1,"
		"\"file_reservations_deleted\":3}");
	/* Its name is free again, its id is not. */
	CHECK_INT(enter(&world, "GreenCastle").id, 3);
	world_close(&world);
}

static void the_systems_agents_are_nobodys(void)
{
	struct mr_team_deletion deletion;
	struct mr_team_agent agent;
	struct world world;

	world_open(&world);
	enter(&world, "GreenCastle");
	world_exec(&world,
		"INSERT INTO agents (project_id, name, name_fold, program, model,"
		" inception_ts, last_active_ts, is_system)"
		" VALUES (1, 'WildOwl', 'wildowl', 'p', 'm', 1, 1, 1)");
	agent = enter(&world, "WildOwl");
	CHECK(!mr_str_eq(agent.name, "WildOwl"));
	world_check_fail(&world,
		mr_team_agent_delete(&world.cx, world.team, "backend", "wildowl", true, &deletion),
		MR_TEAM_INVALID_ARGUMENT, "WildOwl is the system's own and stays");
	world_check_fail(&world,
		mr_team_agent_delete(&world.cx, world.team, "backend", "nobody", true, &deletion),
		MR_TEAM_NOT_FOUND, "there is no agent \"nobody\"");
	world_close(&world);
}

static enum mr_code insert_twice(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct mr_team_agent row = { .project_id = 1,
		.name = "ops",
		.program = "mailroom",
		.model = "-",
		.is_system = true };
	struct mr_team_agent made;
	enum mr_code rc = mr_team_agent_insert(cx, db, &row, "test", &made);

	(void)arg;
	if (!rc)
		rc = mr_team_agent_insert(cx, db, &row, "test", &made);
	return rc;
}

static void a_name_is_inserted_once(void)
{
	struct world world;

	world_open(&world);
	enter(&world, "GreenCastle");
	world_check_fail(&world, mr_team_write(&world.cx, world.team, insert_twice, NULL, NULL),
		MR_TEAM_NAME_TAKEN, "the name ops is taken in this project");
	world_close(&world);
}

/* What is asked with every request is found by an index, however many there are. */
static void lookups_use_indexes(void)
{
	static const char *const queries[] = {
		"SELECT * FROM projects WHERE key_fold = 'x'",
		"SELECT * FROM projects WHERE slug = 'x'",
		"SELECT * FROM projects WHERE tail = 'x'",
		"SELECT * FROM project_keys WHERE key_fold = 'x'",
		"SELECT * FROM agents WHERE project_id = 1 AND name_fold = 'x'",
		"SELECT * FROM agents WHERE project_id = 1 AND is_active >= 1",
		"SELECT * FROM agents WHERE name_fold = 'x' AND project_id <> 1 ORDER BY id",
		"SELECT * FROM file_reservations WHERE agent_id = 1 AND released_ts IS NULL",
		"SELECT * FROM messages WHERE sender_id = 1",
	};
	struct world world;

	world_open(&world);
	for (size_t i = 0; i < MR_LEN(queries); i++) {
		struct mr_texts plan = world_plan(&world, queries[i]);

		for (size_t k = 0; k < plan.len; k++)
			if (mr_str_starts(plan.items[k], "SCAN"))
				test_fail(__FILE__, __LINE__, "%s", queries[i]);
	}
	world_close(&world);
}

enum { MANY = 200 };

struct one {
	struct world *world;
	pthread_t thread;
	enum mr_code rc;
	struct mr_err err;
	char name[MR_TEAM_NAME_BYTES + 1];
};

static void *register_one(void *arg)
{
	struct one *one = arg;
	struct mr_rand rand;
	struct mr_ctx cx = { .arena = mr_arena_new(),
		.clock = one->world->cx.clock,
		.rand = &rand };
	struct mr_team_registration request = request_for(NULL);
	struct mr_team_project project;
	struct mr_team_agent agent = { .name = "" };

	/* All draw the same names in the same order: the worst luck there is. */
	mr_rand_seeded_init(&rand, 42);
	one->rc = mr_team_agent_register(&cx, one->world->team, &request, &project, &agent);
	one->err = cx.err;
	memcpy(one->name, agent.name, strlen(agent.name) + 1);
	mr_arena_free(cx.arena);
	return NULL;
}

static void many_at_once_get_names_of_their_own(void)
{
	static struct one ones[MANY];
	struct world world;

	world_open(&world);
	for (size_t i = 0; i < MANY; i++) {
		ones[i].world = &world;
		CHECK_INT(pthread_create(&ones[i].thread, NULL, register_one, &ones[i]), 0);
	}
	for (size_t i = 0; i < MANY; i++) {
		pthread_join(ones[i].thread, NULL);
		CHECK_OK(ones[i].rc, ones[i].err);
	}
	for (size_t i = 0; i < MANY; i++) {
		for (size_t j = 0; j < i; j++)
			CHECK(!mr_str_eq(ones[i].name, ones[j].name));
	}
	CHECK_INT(world_int(&world, "SELECT count(DISTINCT name_fold) FROM agents"), MANY);
	CHECK_INT(world_count(&world, "projects"), 1);
	world_close(&world);
}

/* ---- tokens ---- */

static void tokens_are_given_once(void)
{
	struct mr_team_registration request = { .project_key = "/p",
		.name = "BlueLake",
		.program = "codex",
		.model = "gpt" };
	struct mr_team_project project;
	struct mr_team_agent agent, again;
	struct mr_team_proof proof;
	struct mr_team_deletion deletion;
	struct world w;

	world_open(&w);
	/* Without being told to, nobody gets one. */
	CHECK_OK(mr_team_agent_register(&w.cx, w.team, &request, &project, &agent), w.cx.err);
	CHECK(!agent.token);
	CHECK_INT(world_count(&w, "agents WHERE token_hash IS NULL"), 1);
	request.with_token = true;
	CHECK_OK(mr_team_agent_register(&w.cx, w.team, &request, &project, &agent), w.cx.err);
	CHECK(mr_str_starts(agent.token, "mra_") && strlen(agent.token) == 52);
	/* Only its digest is kept. */
	CHECK_STR(world_text(&w, "SELECT token_hash FROM agents"),
		mr_digest_sha256(w.cx.arena, mr_bytes_text(agent.token)));
	CHECK_OK(mr_team_agent_register(&w.cx, w.team, &request, &project, &again), w.cx.err);
	CHECK(!again.token);
	{
		struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };

		CHECK_OK(mr_team_read(&w.cx, w.team, &reader), w.cx.err);
		CHECK_OK(mr_team_agent_prove(&w.cx, reader.db, agent.id, agent.token, &proof),
			w.cx.err);
		CHECK(proof.has_token && proof.is_it);
		CHECK_OK(mr_team_agent_prove(&w.cx, reader.db, agent.id, "mra_x", &proof),
			w.cx.err);
		CHECK(proof.has_token && !proof.is_it);
		CHECK_OK(mr_team_agent_prove(&w.cx, reader.db, agent.id, NULL, &proof), w.cx.err);
		CHECK(proof.has_token && !proof.is_it);
		CHECK_OK(mr_team_agent_prove(&w.cx, reader.db, 99, agent.token, &proof), w.cx.err);
		CHECK(!proof.has_token && !proof.is_it);
	}
	/* An administrator's registration gives a new one to an agent that was retired only. */
	request.renew_token = true;
	CHECK_OK(mr_team_agent_register(&w.cx, w.team, &request, &project, &again), w.cx.err);
	CHECK(!again.token);
	CHECK_OK(mr_team_agent_delete(&w.cx, w.team, "/p", "BlueLake", false, &deletion), w.cx.err);
	request.renew_token = false;
	CHECK_OK(mr_team_agent_register(&w.cx, w.team, &request, &project, &again), w.cx.err);
	CHECK(!again.token);
	CHECK_OK(mr_team_agent_delete(&w.cx, w.team, "/p", "BlueLake", false, &deletion), w.cx.err);
	request.renew_token = true;
	CHECK_OK(mr_team_agent_register(&w.cx, w.team, &request, &project, &again), w.cx.err);
	CHECK(again.token && strcmp(again.token, agent.token) != 0);
	world_close(&w);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(registering_makes_project_and_agent),
		TEST(the_same_name_again_is_the_same_agent),
		TEST(modes_decide_about_names),
		TEST(refused_names_say_why),
		TEST(any_name_may_be_allowed),
		TEST(profiles_have_limits),
		TEST(agents_are_found_in_any_case),
		TEST(hostile_names_are_only_unknown),
		TEST(lists_begin_with_who_was_active_last),
		TEST(being_active_is_noted_now_and_then),
		TEST(profiles_are_edited),
		TEST(retiring_keeps_the_agent_and_frees_what_it_held),
		TEST(purging_leaves_nothing_but_a_note),
		TEST(the_systems_agents_are_nobodys),
		TEST(a_name_is_inserted_once),
		TEST(lookups_use_indexes),
		TEST(many_at_once_get_names_of_their_own),
		TEST(tokens_are_given_once),
	};

	return test_main(tests, MR_LEN(tests));
}
