/* tests/unit/team/test_team_message.c */
#include "team/message.h"

#include "mail.h"
#include "team/error.h"
#include "team/limits.h"
#include "team/post.h"
#include "test.h"
#include "world.h"

#include <string.h>

struct scene {
	struct world world;
	struct mr_team_project backend, frontend;
	struct mr_team_agent green, blue;
};

/* GreenCastle and RedCat in backend, BlueLake in frontend: the contract's example. */
static void set_scene(struct scene *scene)
{
	world_open(&scene->world);
	scene->backend = world_project(&scene->world, "/path/to/backend");
	scene->frontend = world_project(&scene->world, "/path/to/frontend");
	scene->green = world_agent(&scene->world, &scene->backend, "GreenCastle");
	world_agent(&scene->world, &scene->backend, "RedCat");
	scene->blue = world_agent(&scene->world, &scene->frontend, "BlueLake");
}

static void the_example_of_the_contract(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_sent sent;
	struct mr_team_items items;

	set_scene(&scene);
	sent = mail_from(world, "backend", "GreenCastle", "BlueLake", "Auth refactoring");
	CHECK_STR(mail_join(world, &sent.to), "BlueLake@path-to-frontend");
	CHECK_STR(sent.project.human_key, "/path/to/backend");
	CHECK_INT(sent.message.project_id, scene.backend.id);
	CHECK_INT(sent.message.created_ts, WORLD_NOW_US);
	CHECK(!strncmp(sent.message.uid, "msg_20260311_", 13));
	CHECK_INT(strlen(sent.message.uid), 13 + 6);
	items = mail_inbox(world, "frontend", "bluelake");
	CHECK_INT(items.len, 1);
	CHECK_STR(items.items[0].from, "GreenCastle");
	CHECK_STR(items.items[0].sender_project, "path-to-backend");
	CHECK_INT(items.items[0].kind, MR_TEAM_TO);
	CHECK(items.items[0].message.body_md == NULL);
	/* One row for the message's own project, one for the other. */
	CHECK_STR(world_list(world,
			  "SELECT project_id || kind || ref FROM archive_queue ORDER BY id", ","),
		"1message1,2inbox1");
	CHECK_STR(world_text(world, "SELECT subject FROM archive_queue"),
		"mail: GreenCastle -> BlueLake@path-to-frontend | Auth refactoring");
	CHECK_STR(world_found(world, "auth"), "1");
	world_close(world);
}

static void to_oneself(void)
{
	struct scene scene;
	struct mr_team_sent sent;

	set_scene(&scene);
	sent = mail_from(&scene.world, "backend", "GreenCastle", "GreenCastle", "note");
	CHECK_INT(sent.recipients.len, 1);
	CHECK_INT(mail_inbox(&scene.world, "backend", "GreenCastle").len, 1);
	CHECK_STR(world_text(&scene.world, "SELECT subject FROM archive_queue"),
		"mail: GreenCastle -> GreenCastle | note");
	world_close(&scene.world);
}

static void the_strongest_kind_wins(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;
	struct mr_team_sent sent;

	set_scene(&scene);
	draft = mail_draft(world, "RedCat, redcat", "x");
	draft.lists.cc = mail_names(world, "BlueLake, RedCat");
	draft.lists.bcc = mail_names(world, "BlueLake@frontend, red-cat, GreenCastle");
	sent = mail_send(world, &draft);
	CHECK_STR(mail_join(world, &sent.to), "RedCat");
	CHECK_STR(mail_join(world, &sent.cc), "BlueLake@path-to-frontend");
	CHECK_STR(mail_join(world, &sent.bcc), "GreenCastle");
	CHECK_STR(world_list(world, "SELECT kind FROM message_recipients ORDER BY agent_id", ","),
		"bcc,to,cc");
	world_close(world);
}

/* Nobody but the sender learns of a blind copy: not from the inbox, not from git. */
static void blind_copies_stay_blind(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;
	struct mr_team_reader reader = { 0 };
	struct mr_team_items items;
	struct mr_team_item item;
	struct mr_team_inbox_query query = { .project_key = "backend",
		.agent_name = "GreenCastle" };

	set_scene(&scene);
	draft = mail_draft(world, "RedCat", "x");
	draft.lists.bcc = mail_names(world, "BlueLake");
	mail_send(world, &draft);
	CHECK_INT(world_count(world,
			  "archive_queue"
			  " WHERE subject ILIKE '%BlueLake%'"),
		0);
	items = mail_inbox(world, "frontend", "BlueLake");
	CHECK_INT(items.items[0].kind, MR_TEAM_BCC);
	CHECK_OK(mr_team_read(&world->cx, world->team, &reader), world->cx.err);
	CHECK_OK(mr_team_message_get(&world->cx, reader.db, NULL, &scene.frontend, 1, &scene.blue,
			 &item),
		world->cx.err);
	CHECK_INT(item.bcc.len, 0);
	CHECK_OK(mr_team_message_get(&world->cx, reader.db, NULL, &scene.backend, 1, &scene.green,
			 &item),
		world->cx.err);
	CHECK_STR(mail_join(world, &item.bcc), "BlueLake@path-to-frontend");
	/* For others of frontend there is no such message. */
	world_check_fail(world,
		mr_team_message_get(&world->cx, reader.db, NULL, &scene.frontend, 1, NULL, &item),
		MR_TEAM_NOT_FOUND, "there is no message 1 in project path-to-frontend");
	mr_team_read_done(&reader);
	CHECK_OK(mr_team_outbox_fetch(&world->cx, world->team, &query, &items), world->cx.err);
	CHECK_STR(mail_join(world, &items.items[0].bcc), "BlueLake@path-to-frontend");
	/* A blind copy alone names nobody. */
	draft.lists.to = (struct mr_texts){ NULL, 0 };
	mail_send(world, &draft);
	CHECK_STR(world_text(world, "SELECT subject FROM archive_queue ORDER BY id DESC"),
		"mail: GreenCastle -> (blind copies) | x");
	world_close(world);
}

static void threads_count_up(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;

	set_scene(&scene);
	draft = mail_draft(world, "RedCat", "x");
	draft.thread_id = "TKT-123";
	CHECK_INT(mail_send(world, &draft).message.thread_seq, 1);
	CHECK_INT(mail_send(world, &draft).message.thread_seq, 2);
	draft.thread_id = "";
	CHECK_INT(mail_send(world, &draft).message.thread_seq, 0);
	CHECK(mail_send(world, &draft).message.thread_id == NULL);
	world_close(world);
}

static void new_names_work_at_once(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;
	struct mr_team_sent sent;

	set_scene(&scene);
	draft = mail_draft(world, "RedCat", "x");
	draft.lists.cc = mail_names(world, "SwiftFox");
	sent = mail_send(world, &draft);
	CHECK_STR(mail_join(world, &sent.auto_registered), "SwiftFox");
	CHECK_STR(mail_join(world, &sent.cc), "SwiftFox");
	CHECK_INT(mail_inbox(world, "backend", "SwiftFox").items[0].kind, MR_TEAM_CC);
	CHECK_STR(world_text(world, "SELECT program FROM agents WHERE name = 'SwiftFox'"), "codex");
	CHECK_INT(world_count(world, "archive_queue WHERE kind = 'profile'"), 1);
	world_close(world);
}

static void nothing_is_stored_after_an_error(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;
	struct mr_team_sent sent;
	const struct mr_value *data;

	set_scene(&scene);
	draft = mail_draft(world, "SwiftFox, RedCta, nobody at all", "x");
	world_check_fail(world, mr_team_send(&world->cx, world->team, &draft, &sent),
		MR_TEAM_RECIPIENT_NOT_FOUND,
		"nobody is called RedCta, nobody at all in project "
		"path-to-backend");
	CHECK(strstr(world->cx.err.msg, "near: RedCat"));
	data = mr_team_fail_data(&world->cx.err);
	CHECK_STR(mr_value_get(data, "code_alias")->text, "RECIPIENT_UNKNOWN");
	CHECK_STR(mr_value_get(data, "unknown_recipients")->list.items[1].text, "nobody at all");
	CHECK_STR(mr_value_get(data, "suggestions")->list.items[0].text, "RedCat");
	/* Neither could be registered: following the advice would make somebody else. */
	CHECK_INT(mr_value_get(data, "suggested_tool_calls")->list.len, 0);
	/* SwiftFox, who would have been made, was not. */
	CHECK_INT(world_count(world, "agents"), 3);
	CHECK_INT(world_count(world, "messages"), 0);
	world->config.auto_register = false;
	world_reopen(world);
	draft = mail_draft(world, "SwiftFox", "x");
	world_check_fail(world, mr_team_send(&world->cx, world->team, &draft, &sent),
		MR_TEAM_RECIPIENT_NOT_FOUND, "SwiftFox");
	CHECK_INT(world_count(world, "archive_queue"), 0);
	world_close(world);
}

static char *text_of(struct world *world, size_t len, char c)
{
	char *text = mr_arena_alloc(world->cx.arena, len + 1);

	memset(text, c, len);
	return text;
}

static void limits_refuse_and_never_cut(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;
	struct mr_team_sent sent;

	set_scene(&scene);
	draft = mail_draft(world, "RedCat", text_of(world, 512, 's'));
	draft.body_md = text_of(world, MR_TEAM_BODY_BYTES, 'b');
	draft.thread_id = text_of(world, MR_TEAM_THREAD_BYTES, 't');
	sent = mail_send(world, &draft);
	CHECK_INT(world_int(world, "SELECT length(subject) + length(body_md) FROM messages"),
		512 + MR_TEAM_BODY_BYTES);

	draft = mail_draft(world, "RedCat", text_of(world, 513, 's'));
	world_check_fail(world, mr_team_send(&world->cx, world->team, &draft, &sent),
		MR_TEAM_INVALID_ARGUMENT, "subject has 513 characters: at most 512");
	draft = mail_draft(world, "RedCat", "x\xff");
	world_check_fail(world, mr_team_send(&world->cx, world->team, &draft, &sent),
		MR_TEAM_INVALID_ARGUMENT, "subject is not UTF-8 at byte 1");
	draft = mail_draft(world, "RedCat", "x");
	draft.body_md = text_of(world, MR_TEAM_BODY_BYTES + 1, 'b');
	world_check_fail(world, mr_team_send(&world->cx, world->team, &draft, &sent),
		MR_TEAM_PAYLOAD_TOO_LARGE, "body_md has 1048577 bytes: at most 1048576");
	CHECK_STR(mr_value_get(mr_team_fail_data(&world->cx.err), "argument")->text, "body_md");
	CHECK_INT(mr_value_get(mr_team_fail_data(&world->cx.err), "limit")->integer, 1048576);
	draft.body_md = "\x80";
	world_check_fail(world, mr_team_send(&world->cx, world->team, &draft, &sent),
		MR_TEAM_INVALID_ARGUMENT, "body_md is not UTF-8 at byte 0");
	draft = mail_draft(world, "RedCat", "x");
	draft.thread_id = text_of(world, 129, 't');
	world_check_fail(world, mr_team_send(&world->cx, world->team, &draft, &sent),
		MR_TEAM_INVALID_ARGUMENT, "thread_id has 129 bytes: at most 128");
	draft = mail_draft(world, "RedCat", "x");
	draft.importance = "asap";
	world_check_fail(world, mr_team_send(&world->cx, world->team, &draft, &sent),
		MR_TEAM_INVALID_ARGUMENT, "importance is one of low, normal, high, urgent");
	draft = mail_draft(world, "RedCat", "x");
	draft.idempotency_key = text_of(world, 201, 'k');
	world_check_fail(world, mr_team_send(&world->cx, world->team, &draft, &sent),
		MR_TEAM_INVALID_ARGUMENT, "idempotency_key has 201 bytes");
	draft = mail_draft(world, "RedCat", "x");
	draft.lists.cc = mail_names(world, "Red\xc3");
	world_check_fail(world, mr_team_send(&world->cx, world->team, &draft, &sent),
		MR_TEAM_INVALID_ARGUMENT, "cc is not UTF-8");
	draft = mail_draft(world, NULL, "x");
	world_check_fail(world, mr_team_send(&world->cx, world->team, &draft, &sent),
		MR_TEAM_INVALID_ARGUMENT, "a message needs somebody in to, cc or bcc");
	CHECK_INT(world_count(world, "messages"), 1);
	world_close(world);
}

static void too_many_recipients(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;
	struct mr_team_sent sent;

	set_scene(&scene);
	draft = mail_draft(world, NULL, "x");
	draft.lists.to.items =
		mr_arena_array(world->cx.arena, 10001, sizeof(*draft.lists.to.items));
	for (size_t i = 0; i < 10000; i++)
		draft.lists.to.items[i] = "RedCat";
	draft.lists.to.len = 256;
	CHECK_INT(mail_send(world, &draft).recipients.len, 1);
	draft.lists.to.len = 10000;
	world_check_fail(world, mr_team_send(&world->cx, world->team, &draft, &sent),
		MR_TEAM_INVALID_ARGUMENT, "10000 recipients: a message has at most 256");
	world_close(world);
}

static void a_key_sends_once(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;
	struct mr_team_sent first;
	struct mr_team_sent second;

	set_scene(&scene);
	draft = mail_draft(world, "RedCat, SwiftFox", "x");
	draft.lists.bcc = mail_names(world, "BlueLake");
	draft.idempotency_key = "k1";
	first = mail_send(world, &draft);
	CHECK(!first.repeated);
	draft.subject = "another";
	second = mail_send(world, &draft);
	CHECK(second.repeated);
	CHECK_INT(second.message.id, first.message.id);
	CHECK_STR(second.message.uid, first.message.uid);
	CHECK_STR(second.message.subject, "x");
	CHECK_STR(mail_join(world, &second.to), "RedCat,SwiftFox");
	CHECK_STR(mail_join(world, &second.bcc), "BlueLake@path-to-frontend");
	CHECK_STR(mail_join(world, &second.auto_registered), "SwiftFox");
	CHECK_INT(second.recipients.len, 3);
	CHECK_STR(second.recipients.items[0].agent.name, first.recipients.items[0].agent.name);
	CHECK_INT(world_count(world, "messages"), 1);
	/* Another sender's key is another key, and a day later it is forgotten. */
	draft.sender_name = "RedCat";
	CHECK(!mail_send(world, &draft).repeated);
	world_later(world, 24 * 3600 + 1);
	draft.sender_name = "GreenCastle";
	CHECK(!mail_send(world, &draft).repeated);
	CHECK_INT(world_count(world, "sent_keys"), 1);
	world_close(world);
}

static void quotas_refuse(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;
	struct mr_team_sent sent;

	set_scene(&scene);
	world->config.quota = true;
	world->config.quota_inbox = 2;
	world_reopen(world);
	draft = mail_draft(world, "RedCat", "x");
	mail_send(world, &draft);
	mail_send(world, &draft);
	world_check_fail(world, mr_team_send(&world->cx, world->team, &draft, &sent),
		MR_TEAM_QUOTA_EXCEEDED, "RedCat has 2 unread messages, as many as an inbox may");
	CHECK_STR(mr_value_get(mr_team_fail_data(&world->cx.err), "recipient")->text, "RedCat");
	CHECK_INT(mr_value_get(mr_team_fail_data(&world->cx.err), "limit")->integer, 2);
	world_exec(world, "UPDATE message_recipients SET read_ts = 1 WHERE message_id = 1");
	mail_send(world, &draft);
	world_close(world);
}

/* A lease on somebody's inbox: of an escalation it stops mail, of another agent it is told. */
static void leases_on_inboxes(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;
	struct mr_team_sent sent;
	const struct mr_value *conflict;

	set_scene(&scene);
	world_exec(world,
		mr_arena_printf(world->cx.arena,
			"INSERT INTO file_reservations (project_id, agent_id, path_pattern, prefix,"
			" reason, origin, created_ts, expires_ts)"
			" VALUES (2, 3, 'agents/BlueLake/inbox/*/*/*.md', 'agents/BlueLake/inbox',"
			" 'ack-overdue', 'agent', 1, %lld)",
			(long long)(WORLD_NOW_US + 3600000000)));
	draft = mail_draft(world, "BlueLake", "x");
	sent = mail_send(world, &draft);
	CHECK_INT(sent.warnings.len, 1);
	CHECK_STR(sent.warnings.items[0].path, "agents/BlueLake/inbox/2026/03/*.md");
	CHECK_STR(sent.warnings.items[0].holders.items[0].agent, "BlueLake");
	world_exec(world, "UPDATE file_reservations SET origin = 'escalation'");
	world_check_fail(world, mr_team_send(&world->cx, world->team, &draft, &sent),
		MR_TEAM_RESERVATION_CONFLICT,
		"BlueLake holds a lease on agents/BlueLake/inbox/*/*/*.md until "
		"2026-03-11T05:15:00Z (ack-overdue)");
	conflict = &mr_value_get(mr_team_fail_data(&world->cx.err), "conflicts")->list.items[0];
	CHECK_STR(mr_value_get(conflict, "surface")->text, "agents/BlueLake/inbox/2026/03/*.md");
	CHECK_STR(mr_value_get(conflict, "holder")->text, "BlueLake");
	CHECK(mr_value_get(conflict, "exclusive")->boolean);
	CHECK_STR(mr_value_get(conflict, "expires_ts")->text, "2026-03-11T05:15:00.000000Z");
	CHECK_INT(world_count(world, "messages"), 1);
	/* When it ends, or where nobody enforces it, mail goes on. */
	world->config.enforce_reservations = false;
	world_reopen(world);
	mail_send(world, &draft);
	world->config.enforce_reservations = true;
	world_reopen(world);
	world_later(world, 3601);
	mail_send(world, &draft);
	world_close(world);
}

/* Something happens after the sender was looked up and before its change runs. */
struct meanwhile {
	struct world *world;
	const char *deletes; /* an agent of backend */
	bool purge;
	bool register_again;
	const char *sql; /* or NULL */
};

static void happen(void *arg, bool begins)
{
	const struct meanwhile *event = arg;
	struct mr_ctx *cx = &event->world->cx;
	struct mr_team_deletion gone;
	struct mr_team_project project;
	struct mr_team_agent again;

	if (!begins)
		return;
	cx->pause = NULL;
	if (event->deletes)
		CHECK_OK(mr_team_agent_delete(cx, event->world->team, "backend", event->deletes,
				 event->purge, &gone),
			cx->err);
	if (event->register_again)
		CHECK_OK(mr_team_agent_register(cx, event->world->team,
				 &(struct mr_team_registration){ .project_key = "/path/to/backend",
					 .name = event->deletes,
					 .program = "codex",
					 .model = "gpt" },
				 &project, &again),
			cx->err);
	if (event->sql)
		world_exec(event->world, event->sql);
}

/* What a draft comes to when this happens meanwhile. */
static enum mr_code send_while(struct world *world, const struct mr_team_draft *draft,
	struct meanwhile event)
{
	struct mr_team_sent sent;
	enum mr_code rc;

	event.world = world;
	world->cx.pause = happen;
	world->cx.pause_arg = &event;
	rc = mr_team_send(&world->cx, world->team, draft, &sent);
	world->cx.pause = NULL;
	return rc;
}

/* GreenCastle's message is not sent, for this reason. */
static void check_not_sent(struct meanwhile event, const char *why)
{
	struct scene scene;
	struct mr_team_draft draft;

	set_scene(&scene);
	draft = mail_draft(&scene.world, "RedCat", "x");
	draft.idempotency_key = "once";
	world_check_fail(&scene.world, send_while(&scene.world, &draft, event), MR_TEAM_NOT_FOUND,
		why);
	CHECK_INT(world_count(&scene.world, "messages"), 0);
	CHECK_INT(world_count(&scene.world, "message_recipients"), 0);
	world_close(&scene.world);
}

static void a_sender_retired_meanwhile_sends_nothing(void)
{
	check_not_sent((struct meanwhile){ .deletes = "GreenCastle" },
		"GreenCastle is retired in the project path-to-backend");
}

static void a_sender_purged_meanwhile_sends_nothing(void)
{
	check_not_sent((struct meanwhile){ .deletes = "GreenCastle", .purge = true },
		"there is no agent \"GreenCastle\" in the project path-to-backend");
}

static void a_sender_replaced_meanwhile_sends_nothing(void)
{
	check_not_sent((struct meanwhile){ .deletes = "GreenCastle",
			       .purge = true,
			       .register_again = true },
		"GreenCastle was deleted in the project path-to-backend while its message was on "
		"the way");
}

/* What the sender is counts when its message is stored, not when it was looked up. */
static void other_changes_meanwhile_count(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;

	set_scene(&scene);
	/* Its program is another: the policy `auto` trusts the same one only. */
	world_exec(world, "UPDATE agents SET contact_policy = 'auto' WHERE name = 'BlueLake'");
	draft = mail_draft(world, "BlueLake", "x");
	world_check_fail(world,
		send_while(world, &draft,
			(struct meanwhile){ .sql = "UPDATE agents SET program = 'other' WHERE "
						   "name = 'GreenCastle'" }),
		MR_TEAM_CONTACT_REQUIRED, "BlueLake@path-to-frontend takes no mail from");
	/* The recipient wants no mail any more. */
	draft = mail_draft(world, "RedCat", "x");
	world->config.contacts_in_project = true;
	world_reopen(world);
	world_check_fail(world,
		send_while(world, &draft,
			(struct meanwhile){ .sql = "UPDATE agents SET contact_policy = 'block_all'"
						   " WHERE name = 'RedCat'" }),
		MR_TEAM_CONTACT_BLOCKED, "RedCat@path-to-backend takes no mail from");
	CHECK_INT(world_count(world, "messages"), 0);
	world_close(world);
}

static void what_is_answered_is_there_when_the_answer_is_stored(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;

	set_scene(&scene);
	mail_from(world, "backend", "RedCat", "GreenCastle", "question");
	draft = mail_draft(world, "BlueLake", "answer");
	draft.reply_to = 1;
	world_check_fail(world,
		send_while(world, &draft, (struct meanwhile){ .deletes = "RedCat", .purge = true }),
		MR_TEAM_NOT_FOUND, "there is no message 1 in project path-to-backend");
	CHECK_INT(world_count(world, "messages"), 0);
	world_close(world);
}

static void uids_grow_when_they_collide(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_sent first, sent;

	set_scene(&scene);
	/* The same seed twice, so that the second message finds the first one's uid. */
	mr_rand_seeded_init(&world->rand, 1);
	first = mail_from(world, "backend", "GreenCastle", "RedCat", "x");
	CHECK_INT(strlen(first.message.uid), 13 + 6);
	mr_rand_seeded_init(&world->rand, 1);
	sent = mail_from(world, "backend", "GreenCastle", "RedCat", "x");
	CHECK_INT(strlen(sent.message.uid), 13 + 8);
	CHECK_STR(world_list(world, "SELECT uid FROM messages ORDER BY id", ","),
		mr_arena_printf(world->cx.arena, "%s,%s", first.message.uid, sent.message.uid));
	world_close(world);
}

static struct mr_team_reply reply_to(int64_t id, const char *project, const char *who)
{
	return (struct mr_team_reply){
		.project_key = project,
		.message_id = id,
		.sender_name = who,
		.body_md = "Yes.",
		.ack_required = -1,
	};
}

static void replies_follow_their_message(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;
	struct mr_team_reply reply;
	struct mr_team_sent sent;

	set_scene(&scene);
	draft = mail_draft(world, "BlueLake", "Plan");
	draft.importance = "high";
	draft.ack_required = true;
	mail_send(world, &draft);
	reply = reply_to(1, "frontend", "BlueLake");
	CHECK_OK(mr_team_reply(&world->cx, world->team, &reply, &sent), world->cx.err);
	CHECK_STR(sent.message.thread_id, "1");
	CHECK_STR(sent.message.subject, "Re: Plan");
	CHECK_INT(sent.message.reply_to, 1);
	CHECK_INT(sent.message.importance, MR_TEAM_HIGH);
	CHECK(sent.message.ack_required);
	CHECK_STR(mail_join(world, &sent.to), "GreenCastle@path-to-backend");
	CHECK_INT(sent.message.project_id, scene.frontend.id);
	/* And back: the thread stays, the prefix too, in whatever case. */
	reply = reply_to(2, "backend", "GreenCastle");
	reply.subject_prefix = "RE:";
	reply.importance = "low";
	reply.ack_required = 0;
	CHECK_OK(mr_team_reply(&world->cx, world->team, &reply, &sent), world->cx.err);
	CHECK_STR(sent.message.subject, "Re: Plan");
	CHECK_STR(sent.message.thread_id, "1");
	CHECK_INT(sent.message.importance, MR_TEAM_LOW);
	CHECK(!sent.message.ack_required);
	reply = reply_to(99, "backend", "GreenCastle");
	world_check_fail(world, mr_team_reply(&world->cx, world->team, &reply, &sent),
		MR_TEAM_NOT_FOUND, "there is no message 99 in project path-to-backend");
	CHECK_INT(mr_value_get(mr_team_fail_data(&world->cx.err), "message_id")->integer, 99);
	world_close(world);
}

static void reply_to_all_but_the_blind(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;
	struct mr_team_reply reply;
	struct mr_team_sent sent;

	set_scene(&scene);
	draft = mail_draft(world, "RedCat, BlueLake", "Plan");
	draft.lists.cc = mail_names(world, "SwiftFox");
	draft.lists.bcc = mail_names(world, "KeenOwl");
	mail_send(world, &draft);
	reply = reply_to(1, "backend", "RedCat");
	reply.reply_all = true;
	CHECK_OK(mr_team_reply(&world->cx, world->team, &reply, &sent), world->cx.err);
	CHECK_STR(mail_join(world, &sent.to), "GreenCastle,BlueLake@path-to-frontend");
	CHECK_STR(mail_join(world, &sent.cc), "SwiftFox");
	CHECK_INT(sent.bcc.len, 0);
	/* The author's own: to those it went to. */
	reply = reply_to(1, "backend", "GreenCastle");
	reply.reply_all = true;
	CHECK_OK(mr_team_reply(&world->cx, world->team, &reply, &sent), world->cx.err);
	CHECK_STR(mail_join(world, &sent.to), "RedCat,BlueLake@path-to-frontend");
	/* Named recipients take the author's place. */
	reply = reply_to(1, "backend", "RedCat");
	reply.lists.to = mail_names(world, "SwiftFox");
	CHECK_OK(mr_team_reply(&world->cx, world->team, &reply, &sent), world->cx.err);
	CHECK_STR(mail_join(world, &sent.to), "SwiftFox");
	world_close(world);
}

static void the_retired_get_replies(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_reply reply;
	struct mr_team_sent sent;

	set_scene(&scene);
	mail_from(world, "frontend", "BlueLake", "GreenCastle", "bye");
	world_exec(world, "UPDATE agents SET is_active = 0 WHERE name = 'BlueLake'");
	reply = reply_to(1, "backend", "GreenCastle");
	CHECK_OK(mr_team_reply(&world->cx, world->team, &reply, &sent), world->cx.err);
	CHECK_STR(mail_join(world, &sent.to), "BlueLake@path-to-frontend");
	CHECK_INT(mail_inbox(world, "backend", "GreenCastle").len, 1);
	world_close(world);
}

static void long_subjects_can_be_answered(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_reply reply;
	struct mr_team_sent sent;

	set_scene(&scene);
	mail_from(world, "backend", "GreenCastle", "RedCat", text_of(world, 510, 's'));
	reply = reply_to(1, "backend", "RedCat");
	CHECK_OK(mr_team_reply(&world->cx, world->team, &reply, &sent), world->cx.err);
	CHECK_INT(strlen(sent.message.subject), 510);
	reply.subject_prefix = text_of(world, 600, 'p');
	world_check_fail(world, mr_team_reply(&world->cx, world->team, &reply, &sent),
		MR_TEAM_INVALID_ARGUMENT, "subject has");
	world_close(world);
}

static enum mr_code send_notice(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct scene *scene = arg;
	struct mr_team_notice notice = {
		.from = &scene->green,
		.to = &scene->blue,
		.subject = "Contact request",
		.body_md = "xylophone",
		.ack_required = true,
		.importance = MR_TEAM_NORMAL,
		.tool = "request_contact",
	};
	int64_t id;

	return mr_team_notice_send(cx, db, &notice, &id);
}

static enum mr_code index_notice(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	(void)arg;
	return mr_team_notice_index(cx, db, 1);
}

static void notices_are_messages(void)
{
	struct scene scene;
	struct world *world = &scene.world;

	set_scene(&scene);
	CHECK_OK(mr_team_write(&world->cx, world->team, send_notice, index_notice, &scene),
		world->cx.err);
	CHECK_INT(mail_inbox(world, "frontend", "BlueLake").len, 1);
	CHECK_STR(world_found(world, "xylophone"), "1");
	CHECK_STR(world_list(world,
			  "SELECT project_id || kind || tool FROM archive_queue ORDER BY id", ","),
		"1messagerequest_contact,2inboxrequest_contact");
	world_close(world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_example_of_the_contract),
		TEST(to_oneself),
		TEST(the_strongest_kind_wins),
		TEST(blind_copies_stay_blind),
		TEST(threads_count_up),
		TEST(new_names_work_at_once),
		TEST(nothing_is_stored_after_an_error),
		TEST(limits_refuse_and_never_cut),
		TEST(too_many_recipients),
		TEST(a_key_sends_once),
		TEST(quotas_refuse),
		TEST(leases_on_inboxes),
		TEST(a_sender_retired_meanwhile_sends_nothing),
		TEST(a_sender_purged_meanwhile_sends_nothing),
		TEST(a_sender_replaced_meanwhile_sends_nothing),
		TEST(other_changes_meanwhile_count),
		TEST(what_is_answered_is_there_when_the_answer_is_stored),
		TEST(uids_grow_when_they_collide),
		TEST(replies_follow_their_message),
		TEST(reply_to_all_but_the_blind),
		TEST(the_retired_get_replies),
		TEST(long_subjects_can_be_answered),
		TEST(notices_are_messages),
	};

	return test_main(tests, MR_LEN(tests));
}
