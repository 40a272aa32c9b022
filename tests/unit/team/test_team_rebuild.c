/* tests/unit/team/test_team_rebuild.c - with check.c: database and archive tell the same. */
#include "team/archive/rebuild.h"

#include "base/fs.h"
#include "base/lock.h"
#include "database.h"
#include "dump.h"
#include "files.h"
#include "letters.h"
#include "team/archive/archive.h"
#include "team/open.h"
#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROJECT "root/projects/backend/"
#define NAME    "2026/03/2026-03-11T04-15-00Z__hello__1.md"

static struct world world;
static struct mr_team_project backend, front;
static struct mr_team_agent green, blue, red, far;

/* Two projects with everything an archive shows. */
static void fill(void)
{
	world_open(&world);
	backend = world_project(&world, "/data/backend");
	world_exec(&world, "UPDATE projects SET slug = 'backend', identity_mode = 'git-remote'");
	front = world_project(&world, "/front");
	green = world_agent(&world, &backend, "GreenCastle");
	blue = world_agent(&world, &backend, "BlueLake");
	far = world_agent(&world, &front, "FarFox");
	red = world_agent(&world, &backend, "RedCat");
	world_exec(&world,
		"UPDATE agents SET is_active = 0, deleted_ts = 77, task_description = 'a \"task\"',"
		" contact_policy = 'block_all', attachments_policy = 'deny' WHERE id = 4");
	letter_send(&world,
		&(struct letter){ .from = &green, .to = { &blue, &far }, .subject = "hello" });
	letter_send(&world,
		&(struct letter){ .from = &blue,
			.to = { &green, &red },
			.kinds = { MR_TEAM_CC, MR_TEAM_BCC },
			.subject = "caf\xc3\xa9: re \"x\"",
			.body = "\n\n---\nodd\n",
			.thread = "T 1/2" });
	world_later(&world, 3600);
	letter_send(&world,
		&(struct letter){ .from = &far,
			.to = { &green },
			.thread = "T 1/2",
			.attachments = "[{\"type\":\"inline\",\"media_type\":\"image/webp\"}]" });
	letter_send(&world,
		&(struct letter){ .from = &green, .to = { &green }, .thread = "T 1/2" });
	world_exec(&world,
		"UPDATE messages SET importance = 'urgent', ack_required = 1, reply_to = 1 WHERE "
		"id = 2;"
		"UPDATE message_recipients SET urgent = 1 WHERE message_id = 2;"
		"INSERT INTO file_reservations (project_id, agent_id, path_pattern, prefix, "
		"exclusive,"
		" reason, origin, created_ts, expires_ts, released_ts) VALUES"
		" (1, 1, 'src/a/**', 'src/a', 1, 'why', 'agent', 1000000, 2000000, NULL),"
		" (1, 2, 'src/a/**', 'src/a', 0, '', 'admin', 1000001, 2000001, 3000000),"
		" (1, 2, '*.c', '', 1, '', 'escalation', 1000002, 2000002, NULL);"
		"INSERT INTO agent_links (a_project_id, a_agent_id, b_project_id, b_agent_id, "
		"status,"
		" reason, created_ts, updated_ts, expires_ts, notified_ts, unasked) VALUES"
		" (1, 1, 2, 3, 'approved', 'because', 1000000, 2000000, 3000000, 4000000, 1);"
		"INSERT INTO build_slots (project_id, agent_id, slot_name, created_ts, expires_ts,"
		" released_ts) VALUES (1, 1, 'build', 1000000, 2000000, NULL);"
		"INSERT INTO products (product_uid, name, name_fold, created_at) VALUES ('p1', 'P',"
		" 'p', 5);"
		"INSERT INTO product_project_links (product_id, project_id, created_at)"
		" VALUES (1, 2, 6);"
		"UPDATE message_recipients SET read_ts = 111 WHERE message_id = 1;"
		"UPDATE message_recipients SET ack_ts = 222, read_ts = 222 WHERE message_id = 2 AND"
		" agent_id = 1;");
	for (int64_t id = 1; id <= 4; id++)
		dump_queue(&world, MR_TEAM_ARCHIVE_PROFILE, id == 3 ? 2 : 1, id, NULL);
	dump_queue(&world, MR_TEAM_ARCHIVE_RESERVATION, 1, 0, "src/a/**");
	dump_queue(&world, MR_TEAM_ARCHIVE_RESERVATION, 1, 0, "*.c");
	dump_queue(&world, MR_TEAM_ARCHIVE_LINKS, 1, 1, NULL);
	dump_queue(&world, MR_TEAM_ARCHIVE_LINKS, 2, 3, NULL);
	dump_queue(&world, MR_TEAM_ARCHIVE_SLOT, 1, 1, NULL);
	/* The state of messages after they were changed above. */
	for (int64_t id = 1; id <= 4; id++)
		dump_queue(&world, MR_TEAM_ARCHIVE_MESSAGE, id == 3 ? 2 : 1, id, NULL);
	dump_queue(&world, MR_TEAM_ARCHIVE_INBOX, 2, 1, NULL);
	dump_queue(&world, MR_TEAM_ARCHIVE_INBOX, 1, 3, NULL);
	letter_drain(&world);
}

static struct mr_team_report check(void)
{
	struct mr_team_report report;

	CHECK_OK(mr_team_check(&world.cx, world.team, &report), world.cx.err);
	return report;
}

static void check_well(void)
{
	dump_check_well(&world);
}

static struct mr_team_rebuilt rebuild(void)
{
	return dump_rebuild(&world);
}

static void a_database_comes_back_as_it_was(void)
{
	const char *before[DUMP_TABLES];
	struct mr_team_rebuilt rebuilt;

	fill();
	check_well();
	for (size_t i = 0; i < DUMP_TABLES; i++)
		before[i] = dump_table(&world, i);
	rebuilt = rebuild();
	CHECK_INT(rebuilt.projects, 2);
	CHECK_INT(rebuilt.agents, 4);
	CHECK_INT(rebuilt.messages, 4);
	CHECK_INT(rebuilt.recipients, 6);
	CHECK_INT(rebuilt.reservations, 3);
	CHECK_INT(rebuilt.links, 1);
	CHECK_INT(rebuilt.kept_state, 3);
	CHECK_INT(rebuilt.len, 0);
	CHECK(rebuilt.moved_aside && access(rebuilt.moved_aside, F_OK) == 0);
	CHECK(access("root/storage.sqlite3.rebuild", F_OK) != 0);
	for (size_t i = 0; i < DUMP_TABLES; i++)
		CHECK_STR(dump_table(&world, i), before[i]);
	check_well();
	CHECK_INT(world_count(&world, "archive_queue"), 0);
	/* An id is never used again. */
	CHECK_INT(letter_send(&world, &(struct letter){ .from = &green, .to = { &blue } }).id, 5);
	world_close(&world);
}

/* Everything the archive has; who had read what is gone with the database. */
static void a_damaged_database_is_made_anew(void)
{
	struct mr_team_rebuilt rebuilt;
	const char *messages;
	enum mr_code rc;

	fill();
	messages = dump_table(&world, 2);
	mr_team_closep(&world.team);
	unlink("root/storage.sqlite3-wal");
	files_put("root/storage.sqlite3", "this is not a database, whatever its name may say ....");
	rc = mr_team_open(&world.cx, &world.config, &world.team);
	CHECK_INT(rc, MR_EFORMAT);
	CHECK(strstr(world.cx.err.msg, "root/storage.sqlite3"));
	CHECK(strstr(world.cx.err.msg, "run `mailroom team rebuild`"));
	CHECK_OK(mr_team_rebuild_database(&world.cx, &world.config, 0, &rebuilt), world.cx.err);
	CHECK_INT(rebuilt.messages, 4);
	CHECK_INT(rebuilt.kept_state, 0);
	CHECK_INT(rebuilt.len, 1);
	CHECK_STR(rebuilt.problems[0].kind, "database");
	CHECK_OK(mr_team_open(&world.cx, &world.config, &world.team), world.cx.err);
	CHECK_STR(dump_table(&world, 2), messages);
	check_well();
	world_close(&world);
}

static void a_database_that_is_gone_comes_back(void)
{
	struct mr_team_rebuilt rebuilt;

	fill();
	mr_team_closep(&world.team);
	unlink("root/storage.sqlite3");
	CHECK_OK(mr_team_rebuild_database(&world.cx, &world.config, 0, &rebuilt), world.cx.err);
	CHECK_STR(rebuilt.moved_aside, NULL);
	CHECK_INT(rebuilt.messages, 4);
	CHECK_OK(mr_team_open(&world.cx, &world.config, &world.team), world.cx.err);
	check_well();
	world_close(&world);
}

static void what_is_not_archived_yet_is_archived_first(void)
{
	fill();
	letter_send(&world, &(struct letter){ .from = &green, .to = { &blue }, .subject = "late" });
	CHECK_INT(rebuild().messages, 5);
	CHECK_STR(world_text(&world, "SELECT subject FROM messages WHERE id = 5"), "late");
	world_close(&world);
}

static void who_is_at_work_is_not_robbed(void)
{
	struct mr_team_rebuilt rebuilt;
	int ready[2], done[2], status;
	char byte;
	pid_t pid;

	fill();
	mr_team_closep(&world.team);
	CHECK(pipe(ready) == 0 && pipe(done) == 0);
	pid = fork();
	if (pid == 0) {
		close(done[1]);
		if (mr_team_open(&world.cx, &world.config, &world.team) ||
			write(ready[1], "x", 1) != 1 || read(done[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(done[0]);
	CHECK(read(ready[0], &byte, 1) == 1);
	CHECK_INT(mr_team_rebuild_database(&world.cx, &world.config, 0, &rebuilt), MR_EBUSY);
	CHECK(strstr(world.cx.err.msg,
		mr_arena_printf(world.cx.arena, "is open in process %d: stop it first", (int)pid)));
	close(done[1]);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK_OK(mr_team_rebuild_database(&world.cx, &world.config, 0, &rebuilt), world.cx.err);
	mr_arena_free(world.cx.arena);
}

static void who_comes_in_between_waits(void)
{
	struct mr_lock lock = MR_LOCK_INIT;
	struct mr_err err;

	fill();
	mr_team_closep(&world.team);
	CHECK_OK(mr_lock_take(AT_FDCWD, "root/storage.sqlite3.bell", "test", 0, world.cx.clock,
			 &lock, &err),
		err);
	CHECK_INT(mr_team_open(&world.cx, &world.config, &world.team), MR_EBUSY);
	CHECK_STR(world.cx.err.msg,
		"team storage root: database root/storage.sqlite3 is being rebuilt; try again "
		"later");
	mr_lock_release(&lock);
	CHECK_OK(mr_team_open(&world.cx, &world.config, &world.team), world.cx.err);
	world_close(&world);
}

/* The only problem, of this kind, at this place. */
static void check_finds(const char *kind, const char *where)
{
	struct mr_team_report report = check();
	bool found = false;

	for (size_t i = 0; i < report.len; i++)
		found = found ||
			(mr_str_eq(report.problems[i].kind, kind) &&
				mr_str_eq(report.problems[i].where, where));
	if (!found)
		test_fail(__FILE__, __LINE__, "%s %s is not among %zu, the first: %s %s: %s", kind,
			where, report.len, report.len ? report.problems[0].kind : "",
			report.len ? report.problems[0].where : "",
			report.len ? report.problems[0].msg : "");
}

/* Every file below a directory but what git and locks keep: empty, as after a power loss. */
static enum mr_fs_next tear(void *arg, const struct mr_fs_entry *entry)
{
	(void)arg;
	if (entry->name[0] == '.')
		return MR_FS_SKIP;
	if (entry->type == DT_REG)
		CHECK_INT(truncate(mr_arena_printf(world.cx.arena, "root/projects/%s", entry->path),
				  0),
			0);
	return MR_FS_GO_ON;
}

static void tear_all(void)
{
	CHECK_OK(mr_fs_walk(AT_FDCWD, "root/projects", 16, tear, NULL, &world.cx.err),
		world.cx.err);
}

static void lose_database(void)
{
	mr_team_closep(&world.team);
	unlink("root/storage.sqlite3-wal");
	unlink("root/storage.sqlite3-shm");
	CHECK(unlink("root/storage.sqlite3") == 0);
}

static struct mr_team_rebuilt rebuild_lost(void)
{
	struct mr_team_rebuilt rebuilt;

	CHECK_OK(mr_team_rebuild_database(&world.cx, &world.config, 0, &rebuilt), world.cx.err);
	CHECK_OK(mr_team_open(&world.cx, &world.config, &world.team), world.cx.err);
	return rebuilt;
}

static void the_commits_are_read_and_not_the_files(void)
{
	const char *before[DUMP_TABLES];
	struct mr_team_rebuilt rebuilt;

	fill();
	for (size_t i = 0; i < DUMP_TABLES; i++)
		before[i] = dump_table(&world, i);
	mr_team_closep(&world.team);
	tear_all();
	rebuilt = rebuild_lost();
	CHECK_INT(rebuilt.messages, 4);
	CHECK_INT(rebuilt.carried, 0);
	CHECK_INT(rebuilt.lost, 0);
	CHECK(rebuilt.is_complete);
	CHECK_INT(rebuilt.len, 0);
	for (size_t i = 0; i < DUMP_TABLES; i++)
		CHECK_STR(dump_table(&world, i), before[i]);
	/* And the files are whole again. */
	check_well();

	/* Without the old database as well; what they say in place of a message does not count. */
	lose_database();
	tear_all();
	files_put(PROJECT "messages/" NAME, "no message");
	files_put(PROJECT "agents/BlueLake/profile.json", "{");
	rebuilt = rebuild_lost();
	CHECK_INT(rebuilt.messages, 4);
	CHECK_INT(rebuilt.agents, 4);
	CHECK(rebuilt.is_complete);
	CHECK_INT(rebuilt.len, 0);
	CHECK_STR(dump_table(&world, DUMP_MESSAGES), before[DUMP_MESSAGES]);
	world_close(&world);
}

/* In no commit: whole files count, others are told. */
static void files_written_by_hand_count_when_they_are_whole(void)
{
	static const char text[] = "---\nid: msg_20260311_aaaaaaaaaaaa\nmessage_id: 9\n"
				   "from: GreenCastle\nto: [BlueLake]\nsubject: by hand\n"
				   "created: 2026-03-11T06:00:00Z\n---\n\nthe body";
	struct mr_team_rebuilt rebuilt;

	fill();
	files_put(PROJECT "messages/2026/03/2026-03-11T06-00-00Z__by-hand__9.md",
		mr_arena_printf(world.cx.arena, "%s\n", text));
	files_put(PROJECT "messages/2026/03/2026-03-11T06-00-00Z__cut-off__10.md", text);
	CHECK(mkdir(PROJECT "agents/OldOwl", 0700) == 0);
	files_put(PROJECT "agents/OldOwl/profile.json", "");
	lose_database();
	/* It is not in the archive, so nobody was promised it. */
	CHECK_INT(mr_team_rebuild_database(&world.cx, &world.config, 0, &rebuilt), MR_ECONFLICT);
	CHECK(strstr(world.cx.err.msg, "would lose 1 message: 10 (backend/messages/2026/03/"));
	CHECK_OK(mr_team_rebuild_database(&world.cx, &world.config, 1, &rebuilt), world.cx.err);
	CHECK_INT(rebuilt.messages, 5);
	CHECK_INT(rebuilt.lost, 1);
	CHECK(!rebuilt.is_complete);
	CHECK_INT(rebuilt.len, 2);
	CHECK_STR(rebuilt.problems[0].where, "backend/agents/OldOwl/profile.json");
	CHECK_STR(rebuilt.problems[1].msg, "it is cut off, and in no commit");
	CHECK_OK(mr_team_open(&world.cx, &world.config, &world.team), world.cx.err);
	CHECK_STR(world_text(&world, "SELECT subject FROM messages WHERE id = 9"), "by hand");
	world_close(&world);
}

static void records_changed_by_hand_count_when_they_are_newer(void)
{
	static const char profile[] = PROJECT "agents/BlueLake/profile.json";
	struct timespec times[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };

	fill();
	files_put(profile, "{\"name\": \"BlueLake\", \"program\": \"by hand\"}");
	lose_database();
	CHECK_INT(rebuild_lost().len, 0);
	CHECK_STR(world_text(&world, "SELECT program FROM agents WHERE name = 'BlueLake'"),
		"by hand");
	lose_database();
	CHECK(utimensat(AT_FDCWD, profile, times, 0) == 0);
	CHECK_INT(rebuild_lost().len, 0);
	CHECK_STR(world_text(&world, "SELECT program FROM agents WHERE name = 'BlueLake'"),
		"codex");
	world_close(&world);
}

static void a_branch_that_is_lost_is_told(void)
{
	static const char *const wrecks[] = { "", "0123456789012345678901234567890123456789\n" };
	struct mr_team_rebuilt rebuilt;

	fill();
	for (size_t i = 0; i < MR_LEN(wrecks); i++) {
		files_put(PROJECT ".git/refs/heads/main", wrecks[i]);
		tear_all();
		lose_database();
		rebuilt = rebuild_lost();
		CHECK_INT(rebuilt.messages, 4);
		CHECK(!rebuilt.is_complete);
		CHECK_INT(rebuilt.len, 1);
		CHECK_STR(rebuilt.problems[0].where, "backend");
		CHECK(strstr(rebuilt.problems[0].msg, "Its newest readable commit, "));
	}
	/* With a database to compare with nothing is in doubt. */
	tear_all();
	rebuilt = rebuild();
	CHECK_INT(rebuilt.messages, 4);
	CHECK(rebuilt.is_complete);
	world_close(&world);
}

static void what_only_the_old_database_has_is_taken_over(void)
{
	const char *before[DUMP_TABLES], *hello;
	struct mr_team_rebuilt rebuilt;

	fill();
	for (size_t i = 0; i < DUMP_TABLES; i++)
		before[i] = dump_table(&world, i);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "root/projects/backend", &world.cx.err), world.cx.err);
	rebuilt = rebuild();
	CHECK_INT(rebuilt.projects, 2);
	CHECK_INT(rebuilt.messages, 4);
	CHECK_INT(rebuilt.carried, 3);
	CHECK_INT(rebuilt.agents, 4);
	CHECK_INT(rebuilt.recipients, 6);
	CHECK_INT(rebuilt.reservations, 3);
	CHECK(rebuilt.is_complete);
	for (size_t i = 0; i < DUMP_TABLES; i++)
		CHECK_STR(dump_table(&world, i), before[i]);
	hello = world_found(&world, "hello");
	CHECK(hello != NULL && strchr(hello, ',') == NULL);
	CHECK_INT(world_count(&world,
			  mr_arena_printf(world.cx.arena, "messages WHERE id = %s", hello)),
		1);
	/* It is queued for the archive. */
	letter_drain(&world);
	check_well();
	world_close(&world);
}

/* The page of the old database that has a text is overwritten. */
static void damage_page_with(const char *text)
{
	enum { PAGE = 4096 };
	struct mr_bytes bytes;
	const uint8_t *found;
	FILE *file;

	CHECK_OK(mr_fs_read(world.cx.arena, AT_FDCWD, "root/storage.sqlite3", 64 << 20, &bytes,
			 &world.cx.err),
		world.cx.err);
	found = memmem(bytes.data, bytes.len, text, strlen(text));
	CHECK(found);
	file = fopen("root/storage.sqlite3", "r+");
	CHECK(file && fseek(file, (found - bytes.data) / PAGE * PAGE, SEEK_SET) == 0);
	for (int i = 0; i < PAGE / 8; i++)
		CHECK(fwrite("garbage ", 8, 1, file) == 1);
	CHECK(fclose(file) == 0);
}

/* No free space of the database still has a text. */
static void compact(void)
{
	struct mr_db *db MR_CLEANUP(database_closep) =
		database_open(&world.cx, &(struct mr_db_options){ .path = "root/storage.sqlite3" });

	database_compact(&world.cx, db);
}

static void a_rebuild_that_would_lose_messages_is_refused(void)
{
	struct mr_team_rebuilt rebuilt;
	struct mr_bytes before, after;
	struct mr_texts names;
	size_t count;

	fill();
	for (int i = 0; i < 40; i++)
		letter_send(&world,
			&(struct letter){ .from = &green,
				.to = { &blue },
				.subject = "filler",
				/* Each has a page of its own. */
				.body = mr_arena_printf(world.cx.arena, "%03000d", i) });
	letter_drain(&world);
	mr_team_closep(&world.team);
	compact();
	/* Neither the archive nor the database has all of it any more. */
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, PROJECT ".git/objects", &world.cx.err), world.cx.err);
	tear_all();
	damage_page_with("000000000000000000000000000000000000000000000000000000000007");
	CHECK_OK(mr_fs_read(world.cx.arena, AT_FDCWD, "root/storage.sqlite3", 64 << 20, &before,
			 &world.cx.err),
		world.cx.err);
	count = files_count("root");
	CHECK_INT(mr_team_rebuild_database(&world.cx, &world.config, 0, &rebuilt), MR_ECONFLICT);
	CHECK(strstr(world.cx.err.msg, "a new database would lose 1 message: 12 (msg_"));
	CHECK(strstr(world.cx.err.msg, "Nothing was changed."));
	CHECK(strstr(world.cx.err.msg, "`mailroom team rebuild --accept-loss 1`"));
	CHECK_OK(mr_fs_read(world.cx.arena, AT_FDCWD, "root/storage.sqlite3", 64 << 20, &after,
			 &world.cx.err),
		world.cx.err);
	CHECK(before.len == after.len && memcmp(before.data, after.data, after.len) == 0);
	CHECK_INT(files_count("root"), count);
	CHECK_OK(mr_fs_list(world.cx.arena, AT_FDCWD, "root", 100, &names, &world.cx.err),
		world.cx.err);
	for (size_t i = 0; i < names.len; i++)
		CHECK(!strstr(names.items[i], "rebuild"));
	CHECK_OK(mr_team_rebuild_database(&world.cx, &world.config, 1, &rebuilt), world.cx.err);
	CHECK_INT(rebuilt.messages, 43);
	CHECK_INT(rebuilt.lost, 1);
	CHECK(!rebuilt.is_complete);
	CHECK_OK(mr_team_open(&world.cx, &world.config, &world.team), world.cx.err);
	CHECK_INT(world_count(&world, "messages"), 43);
	world_close(&world);
}

/* An empty one in its place would hide that it is gone. */
static void a_database_is_not_made_beside_an_archive(void)
{
	fill();
	lose_database();
	CHECK_INT(mr_team_open(&world.cx, &world.config, &world.team), MR_EFORMAT);
	CHECK_STR(world.cx.err.msg,
		"team storage root: database root/storage.sqlite3 is gone, while 2 projects have "
		"an archive: run `mailroom team rebuild`");
	CHECK(access("root/storage.sqlite3", F_OK) != 0);
	files_put("root/storage.sqlite3", "");
	CHECK_INT(mr_team_open(&world.cx, &world.config, &world.team), MR_EFORMAT);
	CHECK(strstr(world.cx.err.msg, "root/storage.sqlite3 is empty, while"));
	CHECK_INT(rebuild_lost().messages, 4);
	/* One that somebody made empty is found, too. */
	world_exec(&world,
		"DELETE FROM message_recipients; DELETE FROM messages;"
		"DELETE FROM agent_links; DELETE FROM build_slots; DELETE FROM file_reservations;"
		"DELETE FROM agents; DELETE FROM project_keys; DELETE FROM projects;");
	check_finds("missing_row", "backend");
	world_close(&world);
}

static void check_tells_what_is_wrong(void)
{
	int64_t queued;

	fill();
	check_well();
	unlink(PROJECT "messages/" NAME);
	check_finds("missing_file", "backend/messages/" NAME);
	CHECK_OK(mr_team_rebuild_archive(&world.cx, world.team, &queued), world.cx.err);
	CHECK(queued > 10);
	/* The commit has it: only the work tree lacked it. */
	files_put(PROJECT "agents/BlueLake/inbox/" NAME, "scribbled over");
	check_finds("wrong_file", "backend/agents/BlueLake/inbox/" NAME);
	check_finds("archive", "backend/agents/BlueLake/inbox/" NAME);
	CHECK(truncate(PROJECT "messages/" NAME, 0) == 0);
	check_finds("wrong_file", "backend/messages/" NAME);
	CHECK(strstr(check().problems[1].msg, "it is empty, as after a power loss; a server"));
	files_put(PROJECT "notes.txt", "mine");
	check_finds("unknown_file", "backend/notes.txt");
	unlink(PROJECT "notes.txt");
	world_exec(&world,
		"DELETE FROM message_recipients WHERE message_id = 4; DELETE FROM messages WHERE "
		"id = 4");
	check_finds("missing_row",
		"backend/messages/2026/03/2026-03-11T05-15-00Z__a-subject__4.md");
	check_finds("search_index", "root/storage.sqlite3");
	world_close(&world);
}

static void an_archive_comes_back_from_the_database(void)
{
	int64_t queued;

	fill();
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "root/projects", &world.cx.err), world.cx.err);
	CHECK(check().len > 0);
	CHECK_OK(mr_team_rebuild_archive(&world.cx, world.team, &queued), world.cx.err);
	check_well();
	/* And a repository that cannot be read makes way. */
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, PROJECT ".git/objects/pack", &world.cx.err),
		world.cx.err);
	check_finds("archive", "backend");
	CHECK_OK(mr_team_rebuild_archive(&world.cx, world.team, &queued), world.cx.err);
	check_well();
	/* And files that somebody took away or wrote over, while the history has them. */
	CHECK(unlink(PROJECT "messages/" NAME) == 0);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, PROJECT "agents/BlueLake", &world.cx.err),
		world.cx.err);
	files_put(PROJECT "agents/GreenCastle/profile.json", "{}");
	CHECK(check().len > 2);
	CHECK_OK(mr_team_rebuild_archive(&world.cx, world.team, &queued), world.cx.err);
	check_well();
	world_close(&world);
}

static void those_who_were_purged_stay_away(void)
{
	struct mr_team_rebuilt rebuilt;

	fill();
	world_exec(&world,
		"DELETE FROM message_recipients WHERE message_id = 3 OR agent_id = 3;"
		"DELETE FROM agent_links; DELETE FROM messages WHERE id = 3;"
		"DELETE FROM agents WHERE id = 3;");
	world_reindex(&world);
	dump_queue(&world, MR_TEAM_ARCHIVE_DELETED, 2, 3, "FarFox");
	dump_queue(&world, MR_TEAM_ARCHIVE_LINKS, 1, 1, NULL);
	dump_queue(&world, MR_TEAM_ARCHIVE_MESSAGE, 1, 1, NULL);
	letter_drain(&world);
	rebuilt = rebuild();
	CHECK_INT(rebuilt.messages, 3);
	CHECK_INT(world_count(&world, "agents WHERE name = 'FarFox'"), 0);
	CHECK_INT(rebuilt.len, 0);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_database_comes_back_as_it_was),
		TEST(a_damaged_database_is_made_anew),
		TEST(a_database_that_is_gone_comes_back),
		TEST(what_is_not_archived_yet_is_archived_first),
		TEST(who_is_at_work_is_not_robbed),
		TEST(who_comes_in_between_waits),
		TEST(the_commits_are_read_and_not_the_files),
		TEST(files_written_by_hand_count_when_they_are_whole),
		TEST(records_changed_by_hand_count_when_they_are_newer),
		TEST(a_branch_that_is_lost_is_told),
		TEST(what_only_the_old_database_has_is_taken_over),
		TEST(a_rebuild_that_would_lose_messages_is_refused),
		TEST(a_database_is_not_made_beside_an_archive),
		TEST(check_tells_what_is_wrong),
		TEST(an_archive_comes_back_from_the_database),
		TEST(those_who_were_purged_stay_away),
	};

	return test_main(tests, MR_LEN(tests));
}
