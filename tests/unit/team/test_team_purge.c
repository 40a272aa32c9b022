/* tests/unit/team/test_team_purge.c - an agent goes, from the database and the archive's files. */
#include "team/purge.h"

#include "base/fs.h"
#include "dump.h"
#include "files.h"
#include "letters.h"
#include "team/archive/archive.h"
#include "team/archive/archive_files.h"
#include "team/open.h"
#include "test.h"

#include <string.h>
#include <unistd.h>

#define PROJECT "root/projects/backend/"
#define FRONT   "root/projects/front/"
#define MONTH   "2026/03/2026-03-11T04-15-00Z__"

static struct world world;
static struct mr_team_project backend, front;
static struct mr_team_agent green, blue, red, far;

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static void enter_people(void)
{
	world_open(&world);
	backend = world_project(&world, "/backend");
	front = world_project(&world, "/front");
	green = world_agent(&world, &backend, "GreenCastle");
	blue = world_agent(&world, &backend, "BlueLake");
	red = world_agent(&world, &backend, "RedCat");
	far = world_agent(&world, &front, "FarFox");
	for (int64_t id = 1; id <= 4; id++)
		dump_queue(&world, MR_TEAM_ARCHIVE_PROFILE, id == 4 ? front.id : backend.id, id,
			NULL);
}

/* Mail both ways, here and abroad, open and blind. */
static void exchange_mail(void)
{
	letter_send(&world,
		&(struct letter){ .from = &green, .to = { &blue, &far }, .subject = "one" });
	letter_send(&world,
		&(struct letter){ .from = &blue,
			.to = { &green, &far, &red },
			.kinds = { MR_TEAM_TO, MR_TEAM_CC, MR_TEAM_BCC },
			.subject = "two" });
	letter_send(&world,
		&(struct letter){ .from = &far, .to = { &green, &red }, .subject = "three" });
	letter_send(&world, &(struct letter){ .from = &blue, .to = { &green }, .subject = "four" });
	letter_send(&world,
		&(struct letter){ .from = &blue,
			.to = { &red, &green },
			.kinds = { MR_TEAM_TO, MR_TEAM_BCC },
			.subject = "five" });
	letter_send(&world, &(struct letter){ .from = &green, .to = { &green }, .subject = "six" });
	world_exec(&world,
		"UPDATE message_recipients SET read_ts = 5 WHERE message_id = 2;"
		"UPDATE messages SET verified = 1 WHERE id = 2;"
		"UPDATE agents SET token_hash = 'hash' WHERE id = 2");
}

static void hold_things(void)
{
	world_exec(&world,
		"INSERT INTO file_reservations (project_id, agent_id, path_pattern, prefix,"
		" exclusive, reason, created_ts, expires_ts, released_ts) VALUES"
		" (1, 2, 'src/**', 'src', 0, 'mine', 1000000, 2000000, NULL),"
		" (1, 1, 'src/**', 'src', 0, 'its', 1000000, 2000000, NULL),"
		" (1, 1, 'docs/*', 'docs', 1, 'was', 1000000, 2000000, 1500000);"
		"INSERT INTO agent_links (a_project_id, a_agent_id, b_project_id, b_agent_id, "
		"status,"
		" reason, created_ts, updated_ts, expires_ts, notified_ts) VALUES"
		" (1, 1, 2, 4, 'approved', 'r', 1000000, 2000000, 3000000, 4000000),"
		" (1, 2, 1, 1, 'pending', 'r', 1000000, 2000000, 3000000, 4000000),"
		" (1, 2, 2, 4, 'approved', 'r', 1000000, 2000000, 3000000, 4000000);"
		"INSERT INTO build_slots (project_id, agent_id, slot_name, created_ts, expires_ts,"
		" released_ts) VALUES (1, 1, 'build', 1000000, 2000000, 1500000),"
		" (1, 1, 'test', 1000000, 2000000, NULL), (1, 2, 'build', 1000000, 2000000, NULL);"
		"INSERT INTO products (product_uid, name, name_fold, created_at)"
		" VALUES ('p1', 'P', 'p', 5);"
		"INSERT INTO product_project_links (product_id, project_id, created_at)"
		" VALUES (1, 1, 6), (1, 2, 6)");
	dump_queue(&world, MR_TEAM_ARCHIVE_RESERVATION, 1, 0, "src/**");
	dump_queue(&world, MR_TEAM_ARCHIVE_RESERVATION, 1, 0, "docs/*");
	for (int64_t id = 1; id <= 3; id++)
		dump_queue(&world, MR_TEAM_ARCHIVE_SLOT, 1, id, NULL);
	dump_queue(&world, MR_TEAM_ARCHIVE_LINKS, 1, 1, NULL);
	dump_queue(&world, MR_TEAM_ARCHIVE_LINKS, 1, 2, NULL);
	dump_queue(&world, MR_TEAM_ARCHIVE_LINKS, 2, 4, NULL);
}

static void fill(void)
{
	enter_people();
	exchange_mail();
	hold_things();
	letter_drain(&world);
	dump_check_well(&world);
}

static void purge(const char *name)
{
	struct mr_team_deletion deletion;

	CHECK_OK(mr_team_agent_delete(&world.cx, world.team, "backend", name, true, &deletion),
		world.cx.err);
	CHECK(deletion.purged);
}

/* What a rebuild gives is what was there. */
static void check_same_after_rebuild(void)
{
	const char *before[DUMP_TABLES];
	struct mr_team_rebuilt rebuilt;

	for (size_t i = 0; i < DUMP_TABLES; i++)
		before[i] = dump_table(&world, i);
	rebuilt = dump_rebuild(&world);
	CHECK_INT(rebuilt.len, 0);
	for (size_t i = 0; i < DUMP_TABLES; i++) {
		const char *after = dump_table(&world, i);

		CHECK(mr_str_eq(before[i], after) || (before[i] && after));
		if (before[i])
			CHECK_STR(after, before[i]);
	}
	dump_check_well(&world);
}

static void the_archive_forgets_it_and_nobody_else(void)
{
	fill();
	purge("GreenCastle");
	letter_drain(&world);
	dump_check_well(&world);
	/* Nothing names it but the note. */
	CHECK_STR(letter_git(&world, "backend", "grep", "-l", "GreenCastle"),
		"agents/GreenCastle/deleted.json");
	CHECK_STR(letter_git(&world, "backend", "ls-files", "--", "*GreenCastle*"),
		"agents/GreenCastle/deleted.json");
	CHECK(!is_there(PROJECT "agents/GreenCastle/profile.json"));
	CHECK(!is_there(PROJECT "messages/" MONTH "one__1.md"));
	CHECK(!is_there(FRONT "agents/FarFox/inbox/" MONTH "one__1.md"));
	/* What others wrote to each other stays, also where it was the only one who got it. */
	CHECK(is_there(PROJECT "messages/" MONTH "two__2.md"));
	CHECK(is_there(FRONT "agents/FarFox/inbox/" MONTH "two__2.md"));
	CHECK(is_there(PROJECT "agents/BlueLake/outbox/" MONTH "four__4.md"));
	/* And the history keeps what was. */
	CHECK(strstr(letter_git(&world, "backend", "log", "--format=%B", "--all"),
		"mail: GreenCastle -> BlueLake"));
	CHECK_STR(letter_git(&world, "backend", "status", "--porcelain", "--untracked-files=no"),
		"");
	CHECK_STR(world_list(&world, "SELECT subject FROM messages ORDER BY id", ","),
		"two,three,four,five");
	check_same_after_rebuild();
	CHECK_INT(world_count(&world, "agents WHERE name = 'GreenCastle'"), 0);
	world_close(&world);
}

static void a_rebuild_keeps_ids_and_proofs(void)
{
	struct mr_team_message sent;

	fill();
	purge("GreenCastle");
	dump_rebuild(&world);
	/* Message 6 is gone; its id stays used. */
	sent = letter_send(&world, &(struct letter){ .from = &blue, .to = { &red } });
	CHECK_INT(sent.id, 7);
	CHECK_STR(world_text(&world, "SELECT token_hash FROM agents WHERE id = 2"), "hash");
	CHECK_INT(world_count(&world, "messages WHERE verified = 1"), 1);
	world_exec(&world,
		"INSERT INTO build_slots (project_id, agent_id, slot_name, created_ts, expires_ts)"
		" VALUES (1, 2, 'next', 1, 2)");
	CHECK_INT(world_int(&world, "SELECT id FROM build_slots WHERE slot_name = 'next'"), 4);
	world_close(&world);
}

/* 150 messages in turn, of which 75 stay: two parts of a digest become one. */
static void threads_close_up(void)
{
	enter_people();
	for (int i = 0; i < 150; i++)
		letter_send(&world,
			&(struct letter){ .from = i % 2 ? &blue : &green,
				.to = { &red },
				.subject = mr_arena_printf(world.cx.arena, "n%d", i),
				.thread = "T-1" });
	letter_send(&world,
		&(struct letter){ .from = &green, .to = { &red }, .thread = "its own" });
	letter_drain(&world);
	dump_check_well(&world);
	CHECK(is_there(PROJECT "messages/threads/T-1.part2.md"));
	purge("GreenCastle");
	letter_drain(&world);
	dump_check_well(&world);
	CHECK(is_there(PROJECT "messages/threads/T-1.md"));
	CHECK(!is_there(PROJECT "messages/threads/T-1.part2.md"));
	CHECK_STR(letter_git(&world, "backend", "ls-files", "--", "messages/threads"),
		"messages/threads/T-1.md");
	CHECK_INT(world_int(&world, "SELECT max(thread_seq) FROM messages"), 75);
	CHECK_INT(world_count(&world,
			  "messages m WHERE m.thread_seq <> (SELECT count(*)"
			  " FROM messages o WHERE o.id <= m.id)"),
		0);
	check_same_after_rebuild();
	world_close(&world);
}

/* The digests of the other side forget it too, and close up there. */
static void threads_close_up_abroad(void)
{
	struct mr_bytes bytes = { 0 };
	const char *there;

	enter_people();
	for (int i = 0; i < 150; i++)
		letter_send(&world,
			&(struct letter){ .from = i % 2 ? &far : &green,
				.to = { i % 2 ? &green : &far },
				.body = mr_arena_printf(world.cx.arena, "number %d.", i),
				.thread = "T-1" });
	letter_send(&world,
		&(struct letter){ .from = &green, .to = { &far }, .thread = "its own" });
	/* To nobody else there: with it, the thread goes from the digests of its project. */
	letter_send(&world,
		&(struct letter){ .from = &far, .to = { &green }, .thread = "to it alone" });
	letter_drain(&world);
	dump_check_well(&world);
	CHECK(is_there(FRONT "messages/threads/T-1.part2.md"));
	CHECK_INT(files_count(FRONT "messages/threads"), 4);
	CHECK_INT(files_count(PROJECT "messages/threads"), 4);
	purge("GreenCastle");
	letter_drain(&world);
	dump_check_well(&world);
	CHECK_INT(files_count(FRONT "messages/threads"), 2);
	CHECK(!is_there(PROJECT "messages/threads/T-1.md"));
	CHECK_STR(letter_git(&world, "backend", "ls-files", "--", "messages/threads"), "");
	CHECK_OK(mr_fs_read(world.cx.arena, AT_FDCWD, FRONT "messages/threads/T-1.md", 1 << 20,
			 &bytes, &world.cx.err),
		world.cx.err);
	there = (const char *)bytes.data;
	CHECK(!strstr(there, "GreenCastle"));
	CHECK(!strstr(there, "number 0."));
	CHECK(strstr(there, "number 1."));
	CHECK(strstr(there, "number 149."));
	check_same_after_rebuild();
	world_close(&world);
}

/* Somebody else takes its name, and is not taken for it. */
static void a_name_can_be_used_again(void)
{
	struct mr_team_registration request = { .project_key = "backend",
		.name = "GreenCastle",
		.program = "p",
		.model = "m" };
	struct mr_team_project project;
	struct mr_team_agent again;

	fill();
	purge("GreenCastle");
	world_later(&world, 10);
	CHECK_OK(mr_team_agent_register(&world.cx, world.team, &request, &project, &again),
		world.cx.err);
	CHECK_INT(again.id, 5);
	letter_send(&world, &(struct letter){ .from = &again, .to = { &blue }, .subject = "new" });
	letter_drain(&world);
	CHECK(!is_there(PROJECT "agents/GreenCastle/deleted.json"));
	dump_check_well(&world);
	check_same_after_rebuild();
	CHECK_STR(world_list(&world,
			  "SELECT m.subject FROM messages m JOIN agents a ON a.id ="
			  " m.sender_id WHERE a.name = 'GreenCastle'",
			  ","),
		"new");
	world_close(&world);
}

/* The database is lost between two commits of a purge: the note is there, so it stays away. */
static void a_half_archived_purge_brings_nobody_back(void)
{
	struct mr_team_rebuilt rebuilt;

	fill();
	purge("GreenCastle");
	world_exec(&world,
		"DELETE FROM archive_queue WHERE id > (SELECT min(id) FROM archive_queue WHERE"
		" kind = 'deleted')");
	letter_drain(&world);
	mr_team_closep(&world.team);
	CHECK(unlink("root/storage.sqlite3") == 0);
	CHECK_OK(mr_team_rebuild_database(&world.cx, &world.config, 0, &rebuilt), world.cx.err);
	CHECK_OK(mr_team_open(&world.cx, &world.config, &world.team), world.cx.err);
	CHECK_INT(rebuilt.agents, 3);
	CHECK_INT(rebuilt.messages, 4);
	CHECK_INT(world_count(&world, "agents WHERE name = 'GreenCastle'"), 0);
	world_close(&world);
}

static void a_row_that_names_no_files_is_refused(void)
{
	struct mr_team_files files = { .cx = &world.cx, .project = &backend };
	struct mr_team_archive_item item = { .kind = MR_TEAM_ARCHIVE_REMOVED, .data = "{}" };

	enter_people();
	CHECK(mr_team_files_add(&files, &item) == MR_EINVAL);
	CHECK_STR(world.cx.err.msg, "no list of files to remove");
	item.data = "[";
	CHECK(mr_team_files_add(&files, &item) == MR_EINVAL);
	item.data = NULL;
	CHECK(mr_team_files_add(&files, &item) == MR_EINVAL);
	item.data = "[\"a/b\", 7]";
	CHECK_OK(mr_team_files_add(&files, &item), world.cx.err);
	CHECK_INT(files.len, 1);
	CHECK(files.items[0].remove && mr_str_eq(files.items[0].path, "a/b"));
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_archive_forgets_it_and_nobody_else),
		TEST(a_rebuild_keeps_ids_and_proofs),
		TEST(threads_close_up),
		TEST(threads_close_up_abroad),
		TEST(a_name_can_be_used_again),
		TEST(a_half_archived_purge_brings_nobody_back),
		TEST(a_row_that_names_no_files_is_refused),
	};

	return test_main(tests, MR_LEN(tests));
}
