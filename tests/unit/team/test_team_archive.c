/* tests/unit/team/test_team_archive.c */
#include "team/archive/archive.h"

#include "base/fs.h"
#include "base/lock.h"
#include "dump.h"
#include "files.h"
#include "letters.h"
#include "team/error.h"
#include "team/open.h"
#include "team/probe.h"
#include "test.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SLUG    "backend"
#define PROJECT "root/projects/" SLUG "/"

static struct world world;
static struct mr_team_project project;
static struct mr_team_agent green, blue, red;

static void begin(void)
{
	world_open(&world);
	project = world_project(&world, "/backend");
	green = world_agent(&world, &project, "GreenCastle");
	blue = world_agent(&world, &project, "BlueLake");
	red = world_agent(&world, &project, "RedCat");
}

static const char *read_file(const char *path)
{
	struct mr_bytes bytes;

	CHECK_OK(mr_fs_read(world.cx.arena, AT_FDCWD, path, 1 << 20, &bytes, &world.cx.err),
		world.cx.err);
	return (const char *)bytes.data;
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static enum mr_code queue(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	return mr_team_archive_queue(cx, db, arg);
}

static void queue_item(struct mr_team_archive_item item)
{
	if (!item.project_id)
		item.project_id = project.id;
	if (!item.agent)
		item.agent = "GreenCastle";
	CHECK_OK(mr_team_write(&world.cx, world.team, queue, NULL, &item), world.cx.err);
}

static void a_message_is_in_its_places(void)
{
	static const char name[] = "2026/03/2026-03-11T04-15-00Z__hello-there__1.md";
	struct letter mail = { .from = &green,
		.to = { &blue, &red },
		.kinds = { MR_TEAM_TO, MR_TEAM_CC },
		.subject = "Hello there",
		.body = "the body",
		.thread = "TKT-1" };
	const char *canonical, *uid;

	begin();
	letter_send(&world, &mail);
	letter_drain(&world);
	canonical = read_file(mr_arena_printf(world.cx.arena, PROJECT "messages/%s", name));
	uid = world_text(&world, "SELECT uid FROM messages");
	CHECK(strstr(canonical,
		"from: \"GreenCastle\"\nto: [\"BlueLake\"]\ncc: [\"RedCat\"]\nthread_id: "));
	CHECK(mr_str_ends(canonical, "---\n\nthe body\n"));
	CHECK_STR(read_file(mr_arena_printf(world.cx.arena, PROJECT "agents/BlueLake/inbox/%s",
			  name)),
		canonical);
	CHECK_STR(read_file(
			  mr_arena_printf(world.cx.arena, PROJECT "agents/RedCat/inbox/%s", name)),
		canonical);
	CHECK_STR(read_file(mr_arena_printf(world.cx.arena, PROJECT "agents/GreenCastle/outbox/%s",
			  name)),
		canonical);
	CHECK(mr_str_starts(read_file(PROJECT "messages/threads/TKT-1.md"), "# Thread TKT-1\n"));
	CHECK_STR(letter_git(&world, SLUG, "log", "--format=%s", NULL),
		"mail: GreenCastle -> BlueLake, RedCat | Hello there\nchore: initialize archive");
	CHECK_STR(letter_git(&world, SLUG, "log", "-1", "--format=%b"),
		mr_arena_printf(world.cx.arena,
			"Agent: GreenCastle\nProject: /backend\nThread: TKT-1\n"
			"Message-Id: %s\nTool: send_message\n",
			uid));
	CHECK_STR(letter_git(&world, SLUG, "status", "--porcelain", NULL), "");
	CHECK_STR(read_file(PROJECT ".gitattributes"), "*.json text\n*.md text\n");
	CHECK(!is_there(PROJECT ".archive.lock.owner.json"));
	world_close(&world);
}

static void blind_copies_are_the_senders_secret(void)
{
	static const char name[] = "2026/03/2026-03-11T04-15-00Z__s__1.md";
	struct letter mail = { .from = &green,
		.to = { &blue, &red },
		.kinds = { MR_TEAM_TO, MR_TEAM_BCC },
		.subject = "s" };

	begin();
	letter_send(&world, &mail);
	letter_drain(&world);
	CHECK(!strstr(read_file(mr_arena_printf(world.cx.arena, PROJECT "messages/%s", name)),
		"RedCat"));
	CHECK(!strstr(read_file(mr_arena_printf(world.cx.arena, PROJECT "agents/BlueLake/inbox/%s",
			      name)),
		"RedCat"));
	CHECK(!strstr(read_file(mr_arena_printf(world.cx.arena, PROJECT "agents/RedCat/inbox/%s",
			      name)),
		"bcc"));
	CHECK(strstr(read_file(mr_arena_printf(world.cx.arena,
			     PROJECT "agents/GreenCastle/outbox/%s", name)),
		"bcc: [\"RedCat\"]\n"));
	CHECK_STR(letter_git(&world, SLUG, "log", "-1", "--format=%s"),
		"mail: GreenCastle -> BlueLake | s");
	world_close(&world);
}

static void inboxes_are_in_the_recipients_project(void)
{
	static const char name[] = "2026/03/2026-03-11T04-15-00Z__s__1.md";
	struct mr_team_project other;
	struct mr_team_agent far;
	struct letter mail = { .from = &green, .to = { &blue, &far }, .subject = "s" };
	const char *canonical;

	begin();
	other = world_project(&world, "/front");
	far = world_agent(&world, &other, "FarFox");
	letter_send(&world, &mail);
	letter_drain(&world);
	canonical = read_file(mr_arena_printf(world.cx.arena, PROJECT "messages/%s", name));
	CHECK(strstr(canonical, "to: [\"BlueLake\", \"FarFox@front\"]\n"));
	CHECK(!is_there(PROJECT "agents/FarFox"));
	CHECK_STR(read_file(mr_arena_printf(world.cx.arena,
			  "root/projects/front/agents/FarFox/inbox/%s", name)),
		canonical);
	CHECK(!is_there("root/projects/front/messages"));
	CHECK_STR(letter_git(&world, "front", "log", "-1", "--format=%s"),
		"mail: GreenCastle -> BlueLake, FarFox@front | s");
	world_close(&world);
}

static void many_rows_are_one_commit(void)
{
	struct letter mail = { .from = &green, .to = { &blue }, .thread = "T" };
	const char *body;

	begin();
	for (int i = 0; i < 37; i++) {
		mail.from = i % 2 ? &green : &red;
		mail.subject = mr_arena_printf(world.cx.arena, "number %d", i);
		letter_send(&world, &mail);
	}
	letter_drain(&world);
	CHECK_STR(letter_git(&world, SLUG, "log", "--format=%s", NULL),
		"archive: 37 changes\nchore: initialize archive");
	body = letter_git(&world, SLUG, "log", "-1", "--format=%b");
	CHECK(mr_str_starts(body,
		"* mail: RedCat -> BlueLake | number 0\n"
		"* mail: GreenCastle -> BlueLake | number 1\n"));
	CHECK(mr_str_ends(body, "Agent: RedCat\nAgent: GreenCastle\nProject: /backend\n"));
	CHECK_STR(letter_git(&world, SLUG, "ls-files", "agents/BlueLake/inbox", NULL),
		letter_git(&world, SLUG, "ls-files", "agents/BlueLake/inbox/2026/03", NULL));
	CHECK_INT(files_count(PROJECT "messages/2026/03"), 37);
	world_close(&world);
}

static void a_digest_has_parts(void)
{
	struct letter mail = { .from = &green, .to = { &blue }, .thread = "../../etc" };

	begin();
	for (int i = 0; i < 101; i++)
		letter_send(&world, &mail);
	letter_drain(&world);
	CHECK_INT(files_count(PROJECT "messages/threads"), 2);
	CHECK(!is_there("root/projects/etc.md"));
	world_close(&world);
}

#define FRONT "root/projects/front/"

/* So that `check` misses nobody. */
static void queue_profiles(const struct mr_team_agent *abroad)
{
	const struct mr_team_agent *const people[] = { &green, &blue, &red, abroad };

	for (size_t i = 0; i < MR_LEN(people); i++)
		dump_queue(&world, MR_TEAM_ARCHIVE_PROFILE, people[i]->project_id, people[i]->id,
			NULL);
}

/* Each side's messages are kept in its own project, and its digest shows both. */
static void a_conversation_between_projects(void)
{
	struct mr_team_project other;
	struct mr_team_agent far;
	const char *here, *there;

	begin();
	other = world_project(&world, "/front");
	far = world_agent(&world, &other, "FarFox");
	queue_profiles(&far);
	letter_send(&world,
		&(struct letter){ .from = &green,
			.to = { &far, &blue },
			.thread = "T",
			.subject = "ask",
			.body = "the question" });
	letter_drain(&world);
	letter_send(&world,
		&(struct letter){ .from = &far,
			.to = { &green },
			.thread = "T",
			.subject = "answer",
			.body = "the answer" });
	letter_drain(&world);
	/* Neither of these is the other side's business. */
	letter_send(&world,
		&(struct letter){ .from = &green,
			.to = { &blue, &far },
			.kinds = { MR_TEAM_TO, MR_TEAM_BCC },
			.thread = "T",
			.subject = "aside",
			.body = "between us" });
	letter_send(&world,
		&(struct letter){ .from = &far,
			.to = { &far },
			.thread = "T",
			.body = "to myself" });
	letter_drain(&world);
	here = read_file(PROJECT "messages/threads/T.md");
	CHECK(strstr(here,
		"### ask\n\n## 2026-03-11T04:15:00Z \xe2\x80\x94 GreenCastle \xe2\x86\x92 "
		"FarFox@front, BlueLake\n\n"
		"[View canonical](messages/2026/03/2026-03-11T04-15-00Z__ask__1.md)\n\nthe question"));
	CHECK(strstr(here,
		"### answer\n\n## 2026-03-11T04:15:00.000001Z \xe2\x80\x94 FarFox@front \xe2\x86\x92 "
		"GreenCastle\n\n[View canonical](agents/GreenCastle/inbox/2026/03/"
		"2026-03-11T04-15-00Z__answer__2.md)\n\nthe answer"));
	CHECK(strstr(here, "between us"));
	CHECK(!strstr(here, "to myself"));
	there = read_file(FRONT "messages/threads/T.md");
	CHECK(strstr(there,
		"GreenCastle@backend \xe2\x86\x92 FarFox, BlueLake@backend\n\n"
		"[View canonical](agents/FarFox/inbox/2026/03/"
		"2026-03-11T04-15-00Z__ask__1.md)\n\nthe question"));
	CHECK(strstr(there, "FarFox \xe2\x86\x92 GreenCastle@backend\n\n"));
	CHECK(strstr(there, "the answer"));
	CHECK(strstr(there, "to myself"));
	CHECK(!strstr(there, "between us"));
	dump_check_well(&world);
	world_close(&world);
}

/* What arrives counts, too: a part never has more messages than another. */
static void parts_count_what_arrives(void)
{
	struct mr_team_project other;
	struct mr_team_agent far;

	begin();
	other = world_project(&world, "/front");
	far = world_agent(&world, &other, "FarFox");
	queue_profiles(&far);
	for (int i = 0; i < 150; i++)
		letter_send(&world,
			&(struct letter){ .from = i % 3 ? &far : &green,
				.to = { i % 3 ? &green : &far },
				.thread = "T",
				.body = mr_arena_printf(world.cx.arena, "number %d.", i) });
	letter_drain(&world);
	for (int i = 0; i < 150; i++) {
		const char *said = mr_arena_printf(world.cx.arena, "number %d.", i);

		CHECK(!strstr(read_file(PROJECT "messages/threads/T.md"), said) == (i >= 100));
		CHECK(!strstr(read_file(PROJECT "messages/threads/T.part2.md"), said) == (i < 100));
		CHECK(!strstr(read_file(FRONT "messages/threads/T.md"), said) == (i >= 100));
	}
	dump_check_well(&world);
	world_close(&world);
}

static void profiles_and_links(void)
{
	begin();
	world_exec(&world,
		"INSERT INTO agent_links (a_project_id, a_agent_id, b_project_id, b_agent_id,"
		" status, reason, created_ts, updated_ts) VALUES (1, 1, 1, 2, 'approved', 'r', "
		"1000000,"
		" 2000000)");
	queue_item((struct mr_team_archive_item){ .kind = MR_TEAM_ARCHIVE_PROFILE,
		.ref = green.id,
		.subject = "agent: profile GreenCastle",
		.tool = "register_agent" });
	queue_item((struct mr_team_archive_item){ .kind = MR_TEAM_ARCHIVE_LINKS,
		.ref = blue.id,
		.agent = "BlueLake",
		.subject = "contact: BlueLake" });
	letter_drain(&world);
	CHECK_STR(read_file(PROJECT "agents/GreenCastle/profile.json"),
		"{\n"
		"  \"attachments_policy\": \"auto\",\n"
		"  \"contact_policy\": \"open\",\n"
		"  \"deleted_ts\": null,\n"
		"  \"id\": 1,\n"
		"  \"inception_ts\": \"2026-03-11T04:15:00.000000Z\",\n"
		"  \"is_active\": true,\n"
		"  \"is_system\": false,\n"
		"  \"last_active_ts\": \"2026-03-11T04:15:00.000000Z\",\n"
		"  \"model\": \"gpt\",\n"
		"  \"name\": \"GreenCastle\",\n"
		"  \"program\": \"codex\",\n"
		"  \"project_id\": 1,\n"
		"  \"project_slug\": \"backend\",\n"
		"  \"task_description\": \"\"\n"
		"}\n");
	CHECK(strstr(read_file(PROJECT "agents/BlueLake/contacts.json"),
		"      \"from\": {\n        \"agent\": \"GreenCastle\",\n"
		"        \"project\": \"backend\"\n      },\n"));
	CHECK_STR(letter_git(&world, SLUG, "log", "--format=%s", NULL),
		"contact: BlueLake\nagent: profile GreenCastle\nchore: initialize archive");
	world_close(&world);
}

static void lease(const char *sql)
{
	world_exec(&world, sql);
	queue_item((struct mr_team_archive_item){ .kind = MR_TEAM_ARCHIVE_RESERVATION,
		.name = "src/**",
		.subject = "file_reservation: GreenCastle src/**" });
	letter_drain(&world);
}

/* W-3, W-4: what the file says is true after each change, of every holder. */
static void a_reservation_file_is_true(void)
{
	const char *path;

	begin();
	lease("INSERT INTO file_reservations (project_id, agent_id, path_pattern, exclusive,"
	      " reason, created_ts, expires_ts) VALUES (1, 1, 'src/**', 1, 'mine', 1000000, "
	      "9000000),"
	      " (1, 2, 'src/**', 0, 'too', 2000000, 9000000)");
	path = mr_arena_printf(world.cx.arena, PROJECT "file_reservations/%s",
		letter_git(&world, SLUG, "-C", "file_reservations", "ls-files"));
	CHECK_STR(read_file(path),
		"{\n"
		"  \"agent\": \"BlueLake\",\n"
		"  \"created_ts\": \"1970-01-01T00:00:02.000000Z\",\n"
		"  \"exclusive\": false,\n"
		"  \"expires_ts\": \"1970-01-01T00:00:09.000000Z\",\n"
		"  \"holders\": [\n"
		"    {\n"
		"      \"agent\": \"GreenCastle\",\n"
		"      \"created_ts\": \"1970-01-01T00:00:01.000000Z\",\n"
		"      \"exclusive\": true,\n"
		"      \"expires_ts\": \"1970-01-01T00:00:09.000000Z\",\n"
		"      \"id\": 1,\n"
		"      \"origin\": \"agent\",\n"
		"      \"path_pattern\": \"src/**\",\n"
		"      \"project\": \"/backend\",\n"
		"      \"reason\": \"mine\",\n"
		"      \"released_ts\": null\n"
		"    },\n"
		"    {\n"
		"      \"agent\": \"BlueLake\",\n"
		"      \"created_ts\": \"1970-01-01T00:00:02.000000Z\",\n"
		"      \"exclusive\": false,\n"
		"      \"expires_ts\": \"1970-01-01T00:00:09.000000Z\",\n"
		"      \"id\": 2,\n"
		"      \"origin\": \"agent\",\n"
		"      \"path_pattern\": \"src/**\",\n"
		"      \"project\": \"/backend\",\n"
		"      \"reason\": \"too\",\n"
		"      \"released_ts\": null\n"
		"    }\n"
		"  ],\n"
		"  \"id\": 2,\n"
		"  \"origin\": \"agent\",\n"
		"  \"path_pattern\": \"src/**\",\n"
		"  \"project\": \"/backend\",\n"
		"  \"reason\": \"too\",\n"
		"  \"released_ts\": null\n"
		"}\n");
	lease("UPDATE file_reservations SET expires_ts = 20000000 WHERE id = 1");
	CHECK(strstr(read_file(path),
		"\"exclusive\": true,\n"
		"      \"expires_ts\": \"1970-01-01T00:00:20.000000Z\""));
	CHECK(strstr(read_file(path), "\"reason\": \"mine\""));
	lease("UPDATE file_reservations SET released_ts = 5000000 WHERE id = 2");
	CHECK(strstr(read_file(path), "\"released_ts\": \"1970-01-01T00:00:05.000000Z\"\n}\n"));
	CHECK(strstr(read_file(path), "\"agent\": \"GreenCastle\""));
	lease("UPDATE file_reservations SET released_ts = 6000000 WHERE id = 1");
	CHECK(strstr(read_file(path), "\"holders\": [],"));
	world_close(&world);
}

static void a_deleted_agent_leaves_a_note(void)
{
	begin();
	world_exec(&world, "UPDATE agents SET is_active = 0, deleted_ts = 7000000 WHERE id = 1");
	queue_item((struct mr_team_archive_item){ .kind = MR_TEAM_ARCHIVE_DELETED,
		.ref = green.id,
		.name = "GreenCastle",
		.subject = "agent: delete GreenCastle",
		.data = "{\"file_reservations_deleted\":2}" });
	world_exec(&world, "DELETE FROM agents WHERE id = 3");
	queue_item((struct mr_team_archive_item){ .kind = MR_TEAM_ARCHIVE_DELETED,
		.ref = red.id,
		.name = "RedCat",
		.subject = "agent: delete RedCat" });
	letter_drain(&world);
	CHECK_STR(read_file(PROJECT "agents/GreenCastle/deleted.json"),
		"{\n"
		"  \"deleted_at\": \"1970-01-01T00:00:07.000000Z\",\n"
		"  \"deletion_stats\": {\n    \"file_reservations_deleted\": 2\n  },\n"
		"  \"name\": \"GreenCastle\",\n"
		"  \"purged\": false\n"
		"}\n");
	CHECK(strstr(read_file(PROJECT "agents/GreenCastle/profile.json"), "\"is_active\": false"));
	CHECK(strstr(read_file(PROJECT "agents/RedCat/deleted.json"), "\"purged\": true"));
	CHECK(!is_there(PROJECT "agents/RedCat/profile.json"));
	world_close(&world);
}

static void slots(void)
{
	begin();
	world_exec(&world,
		"INSERT INTO build_slots (project_id, agent_id, slot_name, created_ts, expires_ts)"
		" VALUES (1, 2, 'release-build', 1000000, 2000000)");
	queue_item((struct mr_team_archive_item){ .kind = MR_TEAM_ARCHIVE_SLOT,
		.ref = 1,
		.agent = "BlueLake",
		.subject = "build_slot: BlueLake release-build" });
	letter_drain(&world);
	CHECK(strstr(read_file(PROJECT "build_slots/release-build/BlueLake.json"),
		"\"slot_name\": \"release-build\""));
	world_close(&world);
}

static void doing_it_twice_changes_nothing(void)
{
	struct letter mail = { .from = &green, .to = { &blue }, .thread = "T" };
	const char *head;

	begin();
	letter_send(&world, &mail);
	letter_drain(&world);
	head = letter_git(&world, SLUG, "rev-parse", "main", NULL);
	queue_item((struct mr_team_archive_item){ .kind = MR_TEAM_ARCHIVE_MESSAGE,
		.ref = 1,
		.subject = "mail: again" });
	letter_drain(&world);
	CHECK_STR(letter_git(&world, SLUG, "rev-parse", "main", NULL), head);
	world_close(&world);
}

static void who_else_archives_is_passed_by(void)
{
	struct mr_lock lock = MR_LOCK_INIT;
	struct letter mail = { .from = &green, .to = { &blue } };
	const struct mr_value *data;
	int dir = -1;

	begin();
	letter_send(&world, &mail);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "root/projects/backend", 0700, &world.cx.err),
		world.cx.err);
	CHECK_OK(mr_fs_open_dir(AT_FDCWD, "root/projects/backend", &dir, &world.cx.err),
		world.cx.err);
	CHECK_OK(mr_lock_take(dir, ".archive.lock", "test", 0, world.cx.clock, &lock,
			 &world.cx.err),
		world.cx.err);
	CHECK_OK(mr_team_archive_drain(&world.cx, world.team, 1000, false), world.cx.err);
	CHECK_INT(world_count(&world, "archive_queue"), 1);
	world_check_fail(&world, mr_team_archive_drain(&world.cx, world.team, 30, true),
		MR_TEAM_ARCHIVE_LOCK,
		"another process is still archiving; try again, or see who it is in "
		"root/projects/backend/.archive.lock.owner.json");
	data = mr_team_fail_data(&world.cx.err);
	CHECK_STR(mr_value_get(data, "project_slug")->text, "backend");
	CHECK_STR(mr_value_get(data, "lock_path")->text, "root/projects/backend/.archive.lock");
	CHECK_INT(mr_value_get(data, "timeout_seconds")->integer, 1);
	mr_lock_release(&lock);
	mr_fs_closep(&dir);
	letter_drain(&world);
	world_close(&world);
}

static void one_bad_row_does_not_stop_the_others(void)
{
	struct letter mail = { .from = &green, .to = { &blue } };

	begin();
	for (int i = 0; i < 5; i++)
		letter_send(&world, &mail);
	world_exec(&world, "UPDATE messages SET attachments = '{}' WHERE id = 3");
	CHECK_INT(mr_team_archive_drain(&world.cx, world.team, 5000, true), MR_EINVAL);
	CHECK(strstr(world.cx.err.msg,
		"archive of backend: mail: GreenCastle -> BlueLake | a subject: attachments of "
		"msg_"));
	CHECK_INT(world_count(&world, "archive_queue"), 1);
	CHECK_INT(world_int(&world, "SELECT ref FROM archive_queue"), 3);
	CHECK_INT(files_count(PROJECT "messages/2026/03"), 4);
	world_exec(&world, "UPDATE messages SET attachments = '[]' WHERE id = 3");
	letter_drain(&world);
	CHECK_INT(files_count(PROJECT "messages/2026/03"), 5);
	world_close(&world);
}

static void something_in_the_way_is_said(void)
{
	begin();
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, PROJECT "agents/GreenCastle/profile.json/x", 0700,
			 &world.cx.err),
		world.cx.err);
	queue_item((struct mr_team_archive_item){ .kind = MR_TEAM_ARCHIVE_PROFILE,
		.ref = green.id,
		.subject = "agent: profile GreenCastle" });
	CHECK_INT(mr_team_archive_drain(&world.cx, world.team, 5000, true), MR_ECONFLICT);
	CHECK(strstr(world.cx.err.msg, "is a directory in the way of a file: move it away"));
	CHECK_INT(world_count(&world, "archive_queue"), 1);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, PROJECT "agents/GreenCastle/profile.json",
			 &world.cx.err),
		world.cx.err);
	letter_drain(&world);
	CHECK(strstr(read_file(PROJECT "agents/GreenCastle/profile.json"), "GreenCastle"));
	world_close(&world);
}

static void a_damaged_archive_keeps_its_rows(void)
{
	struct letter mail = { .from = &green, .to = { &blue } };
	struct mr_team_archive_status status;

	begin();
	letter_send(&world, &mail);
	letter_drain(&world);
	files_put(PROJECT ".git/refs/heads/main", "0123456789012345678901234567890123456789\n");
	world_later(&world, 60);
	letter_send(&world, &mail);
	CHECK_INT(mr_team_archive_drain(&world.cx, world.team, 1000, true), MR_EFORMAT);
	CHECK(strstr(world.cx.err.msg, "root/projects/backend"));
	CHECK_OK(mr_team_archive_status(&world.cx, world.team, &status), world.cx.err);
	CHECK_INT(status.depth, 1);
	CHECK_INT(status.oldest_ts, WORLD_NOW_US + 60000000);
	CHECK(!status.running);
	world_close(&world);
}

static void wait_until_empty(void)
{
	const struct timespec step = { .tv_nsec = 5000000 };

	for (int i = 0; i < 4000; i++) {
		if (world_count(&world, "archive_queue") == 0)
			return;
		nanosleep(&step, NULL);
	}
	test_fail(__FILE__, __LINE__, "the archiver did nothing");
}

static void a_thread_archives_as_mail_comes(void)
{
	struct letter mail = { .from = &green, .to = { &blue } };
	struct mr_team_archive_status status;

	begin();
	letter_send(&world, &mail);
	CHECK_OK(mr_team_archive_start(&world.cx, world.team), world.cx.err);
	wait_until_empty();
	for (int i = 0; i < 20; i++)
		letter_send(&world, &mail);
	wait_until_empty();
	/* The thread counts when it has taken the rows away. */
	do {
		CHECK_OK(mr_team_archive_status(&world.cx, world.team, &status), world.cx.err);
	} while (status.rows < 21);
	CHECK(status.running);
	CHECK_INT(status.rows, 21);
	CHECK(status.commits >= 2 && status.commits <= 21);
	CHECK_STR(status.last_error, NULL);
	CHECK_INT(files_count(PROJECT "messages/2026/03"), 21);
	/* Something is queued while it ends: closing with time to drain archives it. */
	letter_send(&world, &mail);
	mr_team_close(world.team, 5000);
	CHECK_INT(files_count(PROJECT "messages/2026/03"), 22);
	mr_arena_free(world.cx.arena);
}

/* It says so, keeps its rows, and does not try again and again. */
static void a_thread_lives_with_trouble(void)
{
	struct letter mail = { .from = &green, .to = { &blue } };
	struct mr_team_archive_status status;
	struct mr_team_health health;

	begin();
	letter_send(&world, &mail);
	letter_drain(&world);
	files_put(PROJECT ".git/refs/heads/main", "0123456789012345678901234567890123456789\n");
	letter_send(&world, &mail);
	CHECK_OK(mr_team_archive_start(&world.cx, world.team), world.cx.err);
	do {
		CHECK_OK(mr_team_archive_status(&world.cx, world.team, &status), world.cx.err);
	} while (!status.failing_since_ts);
	CHECK(strstr(status.last_error, "archive root/projects/backend is damaged: "));
	CHECK_INT(status.depth, 1);
	mr_team_probe(&world.cx, world.team, &health);
	CHECK_INT(health.status, MR_TEAM_DEGRADED);
	CHECK(strstr(health.problems.items[0], "the archive cannot follow: "));
	world_close(&world);
}

static void commits_are_the_agents_own(void)
{
	struct letter mail = { .from = &green, .to = { &blue }, .subject = "for blue" };
	struct mr_team_commits commits;

	begin();
	CHECK_OK(mr_team_archive_commits_of(&world.cx, world.team, SLUG, "RedCat", 5, &commits),
		world.cx.err);
	CHECK_INT(commits.len, 0);
	letter_send(&world, &mail);
	CHECK_OK(mr_team_archive_commits_of(&world.cx, world.team, SLUG, "BlueLake", 5, &commits),
		world.cx.err);
	CHECK_INT(commits.len, 1);
	CHECK_STR(commits.items[0].summary, "mail: GreenCastle -> BlueLake | for blue");
	CHECK_INT(strlen(commits.items[0].hexsha), 12);
	CHECK_INT(commits.items[0].authored_ts, WORLD_NOW_US);
	/* Only the trailer tells that this is Red's. */
	queue_item((struct mr_team_archive_item){ .kind = MR_TEAM_ARCHIVE_RESERVATION,
		.name = "src/**",
		.agent = "RedCat",
		.subject = "file_reservation: RedCat src/**" });
	world_exec(&world,
		"INSERT INTO file_reservations (project_id, agent_id, path_pattern, created_ts,"
		" expires_ts) VALUES (1, 3, 'src/**', 1, 2)");
	CHECK_OK(mr_team_archive_commits_of(&world.cx, world.team, SLUG, "RedCat", 5, &commits),
		world.cx.err);
	CHECK_INT(commits.len, 1);
	CHECK_STR(commits.items[0].summary, "file_reservation: RedCat src/**");
	/* Of a commit for many the line that is about it. */
	for (int i = 0; i < 6; i++) {
		mail.to[0] = i == 2 ? &red : &blue;
		mail.subject = mr_arena_printf(world.cx.arena, "number %d", i);
		letter_send(&world, &mail);
	}
	CHECK_OK(mr_team_archive_commits_of(&world.cx, world.team, SLUG, "RedCat", 1, &commits),
		world.cx.err);
	CHECK_INT(commits.len, 1);
	CHECK_STR(commits.items[0].summary, "mail: GreenCastle -> RedCat | number 2");
	/* What it got unseen stays so, though a commit touches its directory. */
	mail = (struct letter){ .from = &green,
		.to = { &blue, &red },
		.kinds = { MR_TEAM_TO, MR_TEAM_BCC } };
	for (int i = 0; i < 3; i++) {
		mail.subject = i == 1 ? "ask RedCat" : "secret";
		letter_send(&world, &mail);
		letter_drain(&world);
	}
	CHECK_OK(mr_team_archive_commits_of(&world.cx, world.team, SLUG, "RedCat", 2, &commits),
		world.cx.err);
	CHECK_INT(commits.len, 2);
	CHECK_STR(commits.items[0].summary, "mail: GreenCastle -> RedCat | number 2");
	CHECK_STR(commits.items[1].summary, "file_reservation: RedCat src/**");
	world_check_fail(&world,
		mr_team_archive_commits_of(&world.cx, world.team, "none", "RedCat", 1, &commits),
		MR_TEAM_NOT_FOUND, "there is no project none");
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_message_is_in_its_places),
		TEST(blind_copies_are_the_senders_secret),
		TEST(inboxes_are_in_the_recipients_project),
		TEST(many_rows_are_one_commit),
		TEST(a_digest_has_parts),
		TEST(a_conversation_between_projects),
		TEST(parts_count_what_arrives),
		TEST(profiles_and_links),
		TEST(a_reservation_file_is_true),
		TEST(a_deleted_agent_leaves_a_note),
		TEST(slots),
		TEST(doing_it_twice_changes_nothing),
		TEST(who_else_archives_is_passed_by),
		TEST(one_bad_row_does_not_stop_the_others),
		TEST(something_in_the_way_is_said),
		TEST(a_damaged_archive_keeps_its_rows),
		TEST(a_thread_archives_as_mail_comes),
		TEST(a_thread_lives_with_trouble),
		TEST(commits_are_the_agents_own),
	};

	return test_main(tests, MR_LEN(tests));
}
