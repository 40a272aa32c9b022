/* tests/unit/mailbox/test_mailbox_agent.c - agents: made, bound, found, selected, removed. */
#include "base/fs.h"
#include "base/shelf.h"
#include "files.h"
#include "mailbox/agent_make.h"
#include "mailbox/gateway.h"
#include "post.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct mr_mailbox_agent_new draft(const char *name)
{
	return (struct mr_mailbox_agent_new){
		.registry = "registry",
		.runtime = "runtime",
		.name = name,
		.tool = "claude",
		.tmux_session = "pane",
		.directory = "/srv/project",
		.home = "/srv/user",
	};
}

static struct mr_mailbox_session create(struct post *post, const char *name)
{
	struct mr_mailbox_agent_new request = draft(name);
	struct mr_mailbox_session session;

	CHECK_OK(mr_mailbox_agent_create(&post->cx, &request, &session), post->cx.err);
	return session;
}

static struct mr_mailbox_register_result bind_to(struct post *post,
	struct mr_mailbox_session *session, const char *address)
{
	struct mr_mailbox_declared declared = {
		.transport = "filesystem",
		.root = "root",
		.agent_name = session->agent_name,
		.address = address,
	};
	struct mr_mailbox_agent_bound result;

	CHECK_OK(mr_mailbox_agent_bind(&post->cx, "registry", &declared, MR_MAILBOX_SAFE, NULL,
			 session, &result),
		post->cx.err);
	return result.registered;
}

static struct mr_mailbox_record record_of(struct post *post, const char *id, const char *name)
{
	struct mr_mailbox_record record;

	CHECK_OK(mr_mailbox_registry_find(&post->cx, "registry", id, name, &record), post->cx.err);
	return record;
}

static const char *recorded(struct post *post, const char *key)
{
	struct mr_mailbox_record record = record_of(post, NULL, "dora");

	return mr_mailbox_session_text(mr_value_get(record.value, "mailbox"), key);
}

static void an_agent_is_made_and_bound(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_session session, again;
	struct mr_mailbox_record record;
	const char *first;

	post_open(&post);
	session = create(&post, "dora");
	CHECK_INT(session.binding.transport, MR_MAILBOX_UNBOUND);
	CHECK_STR(session.tmux_session, "pane");
	CHECK_STR(bind_to(&post, &session, NULL).owner, "HOUMAO-dora");
	CHECK_STR(session.binding.address, "dora@houmao.localhost");
	CHECK_STR(session.binding.root, post.root.path);
	first = session.binding.version;
	/* Manifest and record say the same, and both have the keys of the runtime alone. */
	record = record_of(&post, NULL, "HOUMAO-dora");
	CHECK_OK(mr_mailbox_registry_manifest(&post.cx, &record, &again), post.cx.err);
	CHECK_STR(again.binding.version, first);
	CHECK_STR(recorded(&post, "bindings_version"), first);
	CHECK_STR(recorded(&post, "address"), "dora@houmao.localhost");
	CHECK(!recorded(&post, "mailbox_path"));
	CHECK_INT(record.value->map.len, 11);
	CHECK_INT(again.value->map.len, 20);
	/* Another address is another binding. */
	bind_to(&post, &session, "other@houmao.localhost");
	CHECK(strcmp(session.binding.version, first) != 0);
	CHECK_STR(recorded(&post, "address"), "other@houmao.localhost");
	CHECK_OK(mr_mailbox_agent_unbind(&post.cx, "registry", &session), post.cx.err);
	CHECK(!recorded(&post, "address"));
	CHECK_ERR(mr_mailbox_agent_unbind(&post.cx, "registry", &session), post.cx.err,
		MR_ENOTFOUND, "agent dora has no mailbox");
}

static void an_agent_that_cannot_be_is_refused(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_agent_new request = draft("");
	struct mr_mailbox_session session;

	post_open(&post);
	CHECK_INT(mr_mailbox_agent_create(&post.cx, &request, &session), MR_EINVAL);
	request = draft("../x");
	CHECK_INT(mr_mailbox_agent_create(&post.cx, &request, &session), MR_EINVAL);
	request = draft("x");
	request.tool = "vi";
	CHECK_ERR(mr_mailbox_agent_create(&post.cx, &request, &session), post.cx.err, MR_EINVAL,
		"tool must be claude or codex, not `vi`");
	request = draft("HOUMAO-operator");
	CHECK_ERR(mr_mailbox_agent_create(&post.cx, &request, &session), post.cx.err, MR_EINVAL,
		"no agent can be called `HOUMAO-operator`: mail from HOUMAO-operator is that of "
		"the person who operates the agents; choose another name");
	CHECK(!mr_fs_exists(AT_FDCWD, "runtime") && !mr_fs_exists(AT_FDCWD, "registry"));
	create(&post, "dora");
	request = draft("dora");
	CHECK_INT(mr_mailbox_agent_create(&post.cx, &request, &session), MR_EEXISTS);
	CHECK_INT(files_count("runtime/sessions/claude_headless"), 1);
}

static void removing_leaves_what_others_made(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_session session;
	struct mr_mailbox_records all;

	post_open(&post);
	session = create(&post, "dora");
	bind_to(&post, &session, NULL);
	session.session_id = "session-1";
	CHECK_ERR(mr_mailbox_agent_remove(&post.cx, "registry", &session), post.cx.err, MR_EPERM,
		"the session of agent dora was made by another runtime: stop it there");
	/* A manifest that only claims to be ours names another directory. */
	session.session_id = "mailroom-else";
	CHECK(!mr_mailbox_agent_is_ours(&session));
	session.session_id = strrchr(session.dir, '/') + 1;
	CHECK_OK(mr_mailbox_agent_remove(&post.cx, "registry", &session), post.cx.err);
	CHECK(!mr_fs_exists(AT_FDCWD, session.dir));
	CHECK_OK(mr_mailbox_registry_list(&post.cx, "registry", &all), post.cx.err);
	CHECK_INT(all.len, 0);
	CHECK(mr_fs_exists(AT_FDCWD, "root/mailboxes/dora@houmao.localhost/inbox"));
}

static void one_that_lost_its_session_can_be_removed(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_agent_new request = draft("dora");
	struct mr_mailbox_session session, lost;
	struct mr_mailbox_records all;

	post_open(&post);
	request.runtime = mr_arena_printf(post.cx.arena, "%s/runtime", post.dir);
	CHECK_OK(mr_mailbox_agent_create(&post.cx, &request, &session), post.cx.err);
	CHECK_INT(mr_mailbox_agent_lost(&post.cx, "registry", "dora", &lost), MR_ENOTFOUND);
	CHECK_INT(mr_mailbox_agent_lost(&post.cx, "registry", "erik", &lost), MR_ENOTFOUND);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, session.dir, &post.cx.err), post.cx.err);
	CHECK_OK(mr_mailbox_agent_lost(&post.cx, "registry", session.agent_id, &lost), post.cx.err);
	CHECK_STR(lost.agent_name, "dora");
	CHECK_OK(mr_mailbox_agent_remove(&post.cx, "registry", &lost), post.cx.err);
	CHECK_OK(mr_mailbox_registry_list(&post.cx, "registry", &all), post.cx.err);
	CHECK_INT(all.len, 0);
}

/* --- selection --- */

/* A tmux that knows one session; it comes first in PATH. */
static void play_tmux(struct post *post, const char *session, const char *variable)
{
	const char *script = mr_arena_printf(post->cx.arena,
		"#!/bin/sh\ncase $1 in\ndisplay-message) echo '%s' ;;\nshow-environment) "
		"case \"%s\" in \"$4=\"*) echo '%s' ;; *) exit 1 ;; esac ;;\nesac\n",
		session, variable, variable);

	CHECK(mkdir("bin", 0700) == 0 || mr_fs_exists(AT_FDCWD, "bin"));
	files_put("bin/tmux", script);
	CHECK_INT(chmod("bin/tmux", 0700), 0);
	CHECK_INT(setenv("PATH", mr_arena_printf(post->cx.arena, "%s/bin:/usr/bin:/bin", post->dir),
			  1),
		0);
}

static enum mr_code select_agent(struct post *post, struct mr_mailbox_place place,
	struct mr_mailbox_selector selector, struct mr_mailbox_agent *out)
{
	place.registry = "registry";
	return mr_mailbox_agent_select(&post->cx, &place, &selector, out);
}

#define HINT "; name the agent with --agent-name or --agent-id"

static void who_is_named_wins(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_session dora, erik;
	struct mr_mailbox_agent agent;

	post_open(&post);
	dora = create(&post, "dora");
	erik = create(&post, "erik");
	CHECK_OK(select_agent(&post, (struct mr_mailbox_place){ .manifest_path = dora.path },
			 (struct mr_mailbox_selector){ .agent_name = "erik" }, &agent),
		post.cx.err);
	CHECK_STR(agent.manifest.agent_name, "erik");
	CHECK_STR(agent.ref, "erik");
	CHECK_OK(select_agent(&post, (struct mr_mailbox_place){ NULL },
			 (struct mr_mailbox_selector){ .agent_id = erik.agent_id }, &agent),
		post.cx.err);
	CHECK_STR(agent.ref, erik.agent_id);
	CHECK_ERR(select_agent(&post, (struct mr_mailbox_place){ NULL },
			  (struct mr_mailbox_selector){ "a", "b" }, &agent),
		post.cx.err, MR_EINVAL, "give --agent-id or --agent-name, not both");
	CHECK_ERR(select_agent(&post, (struct mr_mailbox_place){ NULL },
			  (struct mr_mailbox_selector){ .agent_name = " " }, &agent),
		post.cx.err, MR_EINVAL, "--agent-name must not be blank");
	CHECK_INT(select_agent(&post, (struct mr_mailbox_place){ NULL },
			  (struct mr_mailbox_selector){ .agent_name = "nobody" }, &agent),
		MR_ENOTFOUND);
	CHECK_INT(select_agent(&post, (struct mr_mailbox_place){ NULL },
			  (struct mr_mailbox_selector){ .agent_id = "../../x" }, &agent),
		MR_ENOTFOUND);
}

static void the_session_says_who_it_is(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	const struct mr_mailbox_selector nobody = { NULL, NULL };
	struct mr_mailbox_session dora, erik;
	struct mr_mailbox_agent agent;
	struct mr_mailbox_place place = { NULL };

	post_open(&post);
	dora = create(&post, "dora");
	erik = create(&post, "erik");
	place.manifest_path = dora.path;
	CHECK_ERR(select_agent(&post, place, nobody, &agent), post.cx.err, MR_EINVAL,
		"this is not inside an agent's tmux session" HINT);
	place.tmux = "/tmp/tmux,1,0";
	play_tmux(&post, "pane", "NOTHING");
	CHECK_OK(select_agent(&post, place, nobody, &agent), post.cx.err);
	CHECK_STR(agent.manifest.agent_name, "dora");
	CHECK_STR(agent.ref, dora.agent_id);
	/* The path comes first, the id when the path is not set or leads nowhere. */
	place.agent_id = erik.agent_id;
	CHECK_OK(select_agent(&post, place, nobody, &agent), post.cx.err);
	CHECK_STR(agent.manifest.agent_name, "dora");
	place.manifest_path = "gone/manifest.json";
	CHECK_OK(select_agent(&post, place, nobody, &agent), post.cx.err);
	CHECK_STR(agent.manifest.agent_name, "erik");
	place.agent_id = NULL;
	CHECK_INT(select_agent(&post, place, nobody, &agent), MR_ENOTFOUND);
	place.manifest_path = "";
	CHECK_ERR(select_agent(&post, place, nobody, &agent), post.cx.err, MR_ENOTFOUND,
		"the tmux session pane is not an agent's: neither HOUMAO_MANIFEST_PATH nor "
		"HOUMAO_AGENT_ID is set" HINT);
	/* A session may have learnt it after the shell in it was started. */
	play_tmux(&post, "pane",
		mr_arena_printf(post.cx.arena, "HOUMAO_MANIFEST_PATH=%s", erik.path));
	CHECK_OK(select_agent(&post, place, nobody, &agent), post.cx.err);
	CHECK_STR(agent.manifest.agent_name, "erik");
	play_tmux(&post, "other", "NOTHING");
	place.manifest_path = dora.path;
	CHECK_ERR(select_agent(&post, place, nobody, &agent), post.cx.err, MR_ECONFLICT,
		"agent dora belongs to the tmux session pane, and this is the session other" HINT);
}

static void a_generation_that_is_over_is_refused(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_session dora;
	struct mr_mailbox_record record;
	struct mr_mailbox_agent agent;
	struct mr_value changed, other = { .kind = MR_TEXT, .text = "another" };

	post_open(&post);
	dora = create(&post, "dora");
	record = record_of(&post, dora.agent_id, NULL);
	changed = mr_mailbox_session_with(post.cx.arena, record.value, "generation_id", other);
	CHECK_OK(mr_mailbox_session_write(&post.cx, record.path, &changed), post.cx.err);
	CHECK_INT(select_agent(&post, (struct mr_mailbox_place){ NULL },
			  (struct mr_mailbox_selector){ .agent_name = "dora" }, &agent),
		MR_ECONFLICT);
	CHECK(strstr(post.cx.err.msg, "ownership conflict"));
	play_tmux(&post, "pane", "NOTHING");
	CHECK_INT(select_agent(&post,
			  (struct mr_mailbox_place){ .manifest_path = dora.path, .tmux = "x" },
			  (struct mr_mailbox_selector){ NULL, NULL }, &agent),
		MR_ECONFLICT);
}

static void two_of_a_name_are_told_apart(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_session dora, erik;
	struct mr_mailbox_record record;
	struct mr_value changed, value = { .kind = MR_TEXT, .text = "dora" };
	struct mr_value lifecycle;

	post_open(&post);
	dora = create(&post, "dora");
	erik = create(&post, "erik");
	record = record_of(&post, erik.agent_id, NULL);
	changed = mr_mailbox_session_with(post.cx.arena, record.value, "agent_name", value);
	CHECK_OK(mr_mailbox_session_write(&post.cx, record.path, &changed), post.cx.err);
	CHECK_ERR(mr_mailbox_registry_find(&post.cx, "registry", NULL, "dora", &record),
		post.cx.err, MR_ECONFLICT,
		"2 agents are named `dora`; choose one with --agent-id: mailroom agents list shows "
		"them");
	/* One that was stopped does not stand in the way of one that runs. */
	value.text = "stopped";
	lifecycle = mr_mailbox_session_with(post.cx.arena, mr_value_get(&changed, "lifecycle"),
		"state", value);
	changed = mr_mailbox_session_with(post.cx.arena, &changed, "lifecycle", lifecycle);
	record = record_of(&post, erik.agent_id, NULL);
	CHECK_OK(mr_mailbox_session_write(&post.cx, record.path, &changed), post.cx.err);
	CHECK_STR(record_of(&post, NULL, "dora").agent_id, dora.agent_id);
}

/* Who had a name is remembered, as long as nobody came or went. */
static void a_name_is_looked_up_anew_when_agents_come_and_go(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_shelf *shelf MR_CLEANUP(mr_shelf_freep) = mr_shelf_new();
	struct mr_mailbox_session first, second, third;
	struct mr_mailbox_record record;
	/* So old that a change since would show. */
	static const char AGE[] = "touch -d '1 hour ago' registry/live_agents";

	post_open(&post);
	first = create(&post, "dora");
	second = create(&post, "erik");
	CHECK_INT(system(AGE), 0);
	post.cx.shelf = shelf;
	for (int i = 0; i < 3; i++)
		CHECK_STR(record_of(&post, NULL, "dora").agent_id, first.agent_id);
	CHECK_STR(record_of(&post, NULL, "HOUMAO-erik").agent_id, second.agent_id);
	/* Its record is read each time. */
	CHECK_STR(record_of(&post, NULL, "dora").state, "active");
	CHECK_INT(system("sed -i s/dora/dara/ registry/live_agents/*/record.json"), 0);
	CHECK_ERR(mr_mailbox_registry_find(&post.cx, "registry", NULL, "dora", &record),
		post.cx.err, MR_ENOTFOUND,
		"no agent named `dora` is known; mailroom agents list shows all");
	CHECK_INT(system("sed -i s/dara/dora/ registry/live_agents/*/record.json"), 0);
	CHECK_STR(record_of(&post, NULL, "dora").agent_id, first.agent_id);
	third = create(&post, "zoe");
	CHECK_INT(system("sed -i s/zoe/dora/ registry/live_agents/*/record.json"), 0);
	CHECK_INT(mr_mailbox_registry_find(&post.cx, "registry", NULL, "dora", &record),
		MR_ECONFLICT);
	CHECK_INT(system(mr_arena_printf(post.cx.arena, "rm -r registry/live_agents/%s",
			  third.agent_id)),
		0);
	CHECK_STR(record_of(&post, NULL, "dora").agent_id, first.agent_id);
}

static void a_gateway_is_found_by_its_record(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_session dora;
	struct mr_mailbox_gateway gateway;
	const char *dir, *path;

	post_open(&post);
	dora = create(&post, "dora");
	dir = mr_arena_printf(post.cx.arena, "%s/gateway/run", dora.dir);
	path = mr_arena_printf(post.cx.arena, "%s/current-instance.json", dir);
	CHECK(!mr_mailbox_gateway_find(&post.cx, &dora, &gateway));
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, dir, 0700, &post.cx.err), post.cx.err);
	files_put(path, "{\"host\": \"127.0.0.1\", \"port\": 9999, \"protocol_version\": \"v1\"}");
	CHECK(mr_mailbox_gateway_find(&post.cx, &dora, &gateway));
	CHECK_STR(gateway.base_url, "http://127.0.0.1:9999");
	CHECK_STR(gateway.state_path,
		mr_arena_printf(post.cx.arena, "%s/gateway/state.json", dora.dir));
	files_put(path, "{\"host\": \"10.0.0.1\", \"port\": 9999, \"protocol_version\": \"v1\"}");
	CHECK(!mr_mailbox_gateway_find(&post.cx, &dora, &gateway));
	files_put(path, "{\"host\": \"127.0.0.1\", \"port\": 0, \"protocol_version\": \"v1\"}");
	CHECK(!mr_mailbox_gateway_find(&post.cx, &dora, &gateway));
	files_put(path, "{\"host\": \"127.0.0.1\", \"port\": 9999, \"protocol_version\": \"v2\"}");
	CHECK(!mr_mailbox_gateway_find(&post.cx, &dora, &gateway));
	files_put(path, "{\"host\": ");
	CHECK(!mr_mailbox_gateway_find(&post.cx, &dora, &gateway));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(an_agent_is_made_and_bound),
		TEST(an_agent_that_cannot_be_is_refused),
		TEST(removing_leaves_what_others_made),
		TEST(one_that_lost_its_session_can_be_removed),
		TEST(who_is_named_wins),
		TEST(the_session_says_who_it_is),
		TEST(a_generation_that_is_over_is_refused),
		TEST(two_of_a_name_are_told_apart),
		TEST(a_name_is_looked_up_anew_when_agents_come_and_go),
		TEST(a_gateway_is_found_by_its_record),
	};

	return test_main(tests, MR_LEN(tests));
}
