/* test_team_share.c - a copy of the mail: what is in it, what is not, and whether it was changed.
 */
#include "team/share/share.h"

#include "base/fs.h"
#include "database.h"
#include "files.h"
#include "team/error.h"
#include "team/store/schema.h"
#include "test.h"
#include "text/json.h"
#include "world.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#define TOKEN "ghp_abcdefghijklmnopqrstuvwxyz0123456789"

struct fixture {
	struct world world;
	struct mr_team_project one, two;
	struct mr_team_agent green, blue, red; /* red is of the second project */
	struct mr_team_shared out;
};

static void add_message(struct fixture *f, const struct mr_team_agent *from, int id,
	const char *thread, const char *subject, const char *body, const char *attachments)
{
	world_exec(&f->world,
		mr_arena_printf(f->world.cx.arena,
			"INSERT INTO messages (id, uid, project_id, sender_id, thread_id, subject,"
			" body_md, importance, ack_required, created_ts, attachments)"
			" VALUES (%d, 'msg_%d', %lld, %lld, %s, '%s', '%s', 'high', 1, %lld, '%s')",
			id, id, (long long)from->project_id, (long long)from->id, thread, subject,
			body, (long long)f->world.clock.now_us, attachments));
}

static void add_recipient(struct fixture *f, int id, const struct mr_team_agent *to,
	const char *kind)
{
	world_exec(&f->world,
		mr_arena_printf(f->world.cx.arena,
			"INSERT INTO message_recipients (message_id, agent_id, kind, read_ts)"
			" VALUES (%d, %lld, '%s', %lld)",
			id, (long long)to->id, kind, (long long)f->world.clock.now_us));
}

static void open_fixture(struct fixture *f)
{
	world_open(&f->world);
	f->one = world_project(&f->world, "/data/one");
	f->two = world_project(&f->world, "/data/two");
	f->green = world_agent(&f->world, &f->one, "GreenLake");
	f->blue = world_agent(&f->world, &f->one, "BlueStone");
	f->red = world_agent(&f->world, &f->two, "RedFox");
	add_message(f, &f->green, 1, "NULL", "Plan", "A **plan** <script>alert(1)</script>", "[]");
	add_recipient(f, 1, &f->blue, "to");
	add_recipient(f, 1, &f->red, "cc");
	add_message(f, &f->blue, 2, "'1'", "Re: Plan", "The token is " TOKEN " ok", "[]");
	add_recipient(f, 2, &f->green, "to");
	add_recipient(f, 2, &f->blue, "bcc");
	add_message(f, &f->red, 3, "'x'", "Elsewhere", "of the second project", "[]");
	add_recipient(f, 3, &f->red, "to");
	world_exec(&f->world,
		mr_arena_printf(f->world.cx.arena,
			"INSERT INTO file_reservations (project_id, agent_id, path_pattern,"
			" created_ts, expires_ts) VALUES (%lld, %lld, 'src/**', 1, 2)",
			(long long)f->one.id, (long long)f->green.id));
}

/* With the contract's thresholds. */
static struct mr_team_share share_to(const char *output)
{
	return (struct mr_team_share){
		.output = output,
		.inline_bytes = 65536,
		.detach_bytes = 26214400,
		.chunk_threshold = 20971520,
		.chunk_bytes = 4194304,
	};
}

static enum mr_code export_of(struct fixture *f, const struct mr_team_share *request)
{
	return mr_team_share_export(&f->world.cx, f->world.team, request, &f->out);
}

static void export_plain(struct fixture *f)
{
	struct mr_team_share request = share_to("out");

	CHECK_OK(export_of(f, &request), f->world.cx.err);
}

static const char *file_text(struct fixture *f, const char *path)
{
	struct mr_bytes bytes = { 0 };

	CHECK_OK(mr_fs_read(f->world.cx.arena, AT_FDCWD, path, 16 << 20, &bytes, &f->world.cx.err),
		f->world.cx.err);
	return (const char *)bytes.data;
}

/* The copy, which is an SQLite file whatever engine the team's database has. */
static struct mr_db *open_copy(struct fixture *f)
{
	return database_open(&f->world.cx,
		&(struct mr_db_options){ .path = "out/mailbox.sqlite3", .read_only = true });
}

/* The first column of the first row in the copy, or of all rows. */
static const char *ask(struct fixture *f, const char *sql)
{
	struct mr_db *db MR_CLEANUP(database_closep) = open_copy(f);

	return database_text(&f->world.cx, db, sql);
}

static const char *ask_all(struct fixture *f, const char *sql)
{
	struct mr_db *db MR_CLEANUP(database_closep) = open_copy(f);

	return database_list(&f->world.cx, db, sql, ",");
}

static const char *found(struct fixture *f, const char *word)
{
	struct mr_db *db MR_CLEANUP(database_closep) = open_copy(f);

	return database_found(&f->world.cx, db, &mr_team_search_index, word);
}

static enum mr_fs_next no_token(void *arg, const struct mr_fs_entry *entry)
{
	struct fixture *f = arg;
	struct mr_bytes bytes = { 0 };
	const char *path = mr_arena_printf(f->world.cx.arena, "out/%s", entry->path);
	struct stat st;

	if (stat(path, &st) != 0 || S_ISDIR(st.st_mode))
		return MR_FS_GO_ON;
	CHECK_OK(mr_fs_read(f->world.cx.arena, AT_FDCWD, path, 16 << 20, &bytes, &f->world.cx.err),
		f->world.cx.err);
	/* Not whole, and not as a word of the index either. */
	for (size_t i = 0; i + 12 <= bytes.len; i++) {
		if (strncasecmp((const char *)bytes.data + i, "abcdefghijkl", 12) == 0)
			test_fail(__FILE__, __LINE__, "the token stands in %s", path);
	}
	return MR_FS_GO_ON;
}

static void secrets_are_gone(void)
{
	struct fixture f;

	open_fixture(&f);
	world_exec(&f.world, "UPDATE agents SET task_description = 'with " TOKEN "'");
	world_exec(&f.world, "UPDATE messages SET subject = 'see " TOKEN "' WHERE id = 3");
	export_plain(&f);
	CHECK(f.out.secrets_replaced >= 5);
	CHECK_OK(mr_fs_walk(AT_FDCWD, "out", 8, no_token, &f, &f.world.cx.err), f.world.cx.err);
	CHECK_STR(ask(&f, "SELECT body_md FROM messages WHERE id = 2"),
		"The token is [REDACTED] ok");
	CHECK_STR(ask(&f, "SELECT subject FROM messages WHERE id = 3"), "see [REDACTED]");
	CHECK_STR(ask(&f, "SELECT task_description FROM agents"), "with [REDACTED]");
	world_close(&f.world);
}

static void what_is_in_a_copy(void)
{
	struct fixture f;

	open_fixture(&f);
	export_plain(&f);
	CHECK_INT(f.out.projects, 2);
	CHECK_INT(f.out.messages, 3);
	CHECK_INT(f.out.read_states_cleared, 5);
	CHECK_INT(f.out.reservations_removed, 1);
	CHECK_INT(f.out.chunks, 0);
	CHECK_INT(strlen(f.out.manifest_sha256), 64);
	CHECK_STR(ask(&f, "SELECT count(*) FROM message_recipients"), "4");
	CHECK_STR(ask(&f, "SELECT count(*) FROM message_recipients WHERE kind = 'bcc'"), "0");
	CHECK_STR(ask(&f, "SELECT count(*) FROM message_recipients WHERE read_ts IS NOT NULL"),
		"0");
	CHECK_STR(ask(&f, "SELECT count(*) FROM file_reservations"), "0");
	CHECK_STR(ask(&f, "SELECT sum(ack_required) FROM messages"), "0");
	CHECK_STR(ask(&f, "SELECT created_ts FROM messages WHERE id = 1"),
		"2026-03-11T04:15:00.000000Z");
	CHECK_STR(found(&f, "elsewhere"), "3");
	CHECK_STR(ask(&f, "PRAGMA journal_mode"), "delete");
	CHECK(strstr(file_text(&f, "out/README.txt"), "3 messages of 2 projects"));
	CHECK(strstr(file_text(&f, "out/index.html"), "viewer/viewer.js"));
	CHECK(strstr(file_text(&f, "out/viewer/data/messages.js"), "\"subject\":\"Re: Plan\""));
	CHECK(strstr(file_text(&f, "out/viewer/data/bodies-00000.js"),
		"<strong>plan</strong> &lt;script&gt;"));
	CHECK(!mr_fs_exists(AT_FDCWD, "out/chunks"));
	world_close(&f.world);
}

static void only_chosen_projects(void)
{
	struct fixture f;
	struct mr_team_share request = share_to("out/");

	open_fixture(&f);
	request.projects = (struct mr_texts){ (const char *[]){ "one", "/data/one" }, 2 };
	CHECK(mkdir("out", 0700) == 0); /* empty: fine */
	CHECK_OK(export_of(&f, &request), f.world.cx.err);
	CHECK_INT(f.out.projects, 1);
	CHECK_INT(f.out.messages, 2);
	CHECK_STR(ask_all(&f, "SELECT name FROM agents ORDER BY id"), "GreenLake,BlueStone");
	CHECK_STR(ask(&f, "SELECT count(*) FROM message_recipients"), "2");
	CHECK(!strstr(file_text(&f, "out/viewer/data/messages.js"), "RedFox"));
	CHECK(strstr(file_text(&f, "out/manifest.json"), "\"removed_count\": 1"));
	world_close(&f.world);
}

static void strict_leaves_bodies_out(void)
{
	struct fixture f;
	struct mr_team_share request = share_to("out");

	open_fixture(&f);
	world_exec(&f.world,
		"UPDATE messages SET attachments = "
		"'[{\"type\":\"inline\",\"data_base64\":\"AA\"}]'");
	request.scrub_preset = MR_TEAM_SCRUB_STRICT;
	CHECK_OK(export_of(&f, &request), f.world.cx.err);
	CHECK_INT(f.out.bodies_redacted, 3);
	CHECK_INT(f.out.attachments, 0);
	CHECK_STR(ask_all(&f, "SELECT DISTINCT body_md || attachments FROM messages"),
		"[Message body redacted][]");
	CHECK(!strstr(file_text(&f, "out/viewer/data/bodies-00000.js"), "plan"));
	world_close(&f.world);
}

static void attachments_are_bundled(void)
{
	struct fixture f;
	struct mr_team_share request = share_to("out");
	const struct mr_value *list = NULL;
	static const char *const types[] = { "inline", "file", "external", "missing", "missing",
		"missing", "inline", "error", "file" };

	open_fixture(&f);
	request.inline_bytes = 4;
	request.detach_bytes = 20;
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "root/projects/data-one/attachments/ab", 0700,
			 &f.world.cx.err),
		f.world.cx.err);
	files_put("root/projects/data-one/attachments/ab/1.txt", "tiny");
	files_put("root/projects/data-one/attachments/ab/2.txt", "ten bytes.");
	files_put("root/projects/data-one/attachments/ab/3.txt", "more than twenty bytes");
	files_put("root/projects/data-one/attachments/ab/4.txt", "xoxb-1234567890");
	files_put("root/projects/data-one/attachments/ab/5.html", "<script>");
	world_exec(&f.world,
		"UPDATE messages SET attachments = '["
		"{\"type\":\"file\",\"path\":\"attachments/ab/1.txt\",\"media_type\":\"text/"
		"plain\"},"
		"{\"type\":\"file\",\"path\":\"attachments/ab/2.txt\",\"filename\":\"" TOKEN "\"},"
		"{\"type\":\"file\",\"path\":\"attachments/ab/3.txt\"},"
		"{\"type\":\"file\",\"path\":\"attachments/ab/4.txt\"},"
		"{\"type\":\"file\",\"path\":\"attachments/ab/gone.txt\"},"
		"{\"type\":\"file\",\"path\":\"../../storage.sqlite3\"},"
		"{\"type\":\"inline\",\"media_type\":\"image/webp\",\"data_base64\":\"AAAA\","
		" \"headers\":{\"Cookie\":\"x\"}},"
		"{\"type\":\"error\",\"path\":\"x.png\",\"reason\":\"bad\"},"
		"{\"type\":\"file\",\"path\":\"attachments/ab/5.html\",\"media_type\":\"text/"
		"html\"}]'"
		" WHERE id = 1");
	CHECK_OK(export_of(&f, &request), f.world.cx.err);
	CHECK_INT(f.out.attachments, MR_LEN(types));
	CHECK_OK(mr_json_parse(f.world.cx.arena,
			 mr_bytes_text(ask(&f, "SELECT attachments FROM messages WHERE id = 1")),
			 NULL, &list, &f.world.cx.err),
		f.world.cx.err);
	for (size_t i = 0; i < MR_LEN(types); i++)
		CHECK_STR(mr_value_get(&list->list.items[i], "type")->text, types[i]);
	CHECK_STR(mr_value_get(&list->list.items[0], "data_uri")->text,
		"data:text/plain;base64,dGlueQ==");
	CHECK_STR(mr_value_get(&list->list.items[1], "filename")->text, "[REDACTED]");
	files_hold(mr_arena_printf(f.world.cx.arena, "out/%s",
			   mr_value_get(&list->list.items[1], "path")->text),
		"ten bytes.");
	CHECK_STR(mr_value_get(&list->list.items[3], "note")->text,
		"left out: there is a secret in it");
	CHECK_STR(mr_value_get(&list->list.items[6], "data_uri")->text,
		"data:image/webp;base64,AAAA");
	CHECK(!mr_value_get(&list->list.items[6], "headers"));
	CHECK(mr_str_ends(mr_value_get(&list->list.items[8], "path")->text, ".txt"));
	world_close(&f.world);
}

static void a_large_database_comes_in_pieces(void)
{
	struct fixture f;
	struct mr_team_share request = share_to("out");
	int64_t files = 0;

	open_fixture(&f);
	request.chunk_threshold = 0;
	request.chunk_bytes = 1 << 14;
	CHECK_OK(export_of(&f, &request), f.world.cx.err);
	CHECK_INT(f.out.chunks, (f.out.database_bytes + (1 << 14) - 1) >> 14);
	CHECK_INT(files_count("out/chunks"), f.out.chunks);
	CHECK(strstr(file_text(&f, "out/mailbox.sqlite3.config.json"), "\"chunk_size\": 16384"));
	CHECK_OK(mr_team_share_verify(&f.world.cx, "out", NULL, &files), f.world.cx.err);
	CHECK_INT(files, 8 + f.out.chunks);
	world_close(&f.world);
}

static void a_dry_run_writes_nothing(void)
{
	struct fixture f;
	struct mr_team_share request = share_to("out");

	open_fixture(&f);
	request.dry_run = true;
	CHECK_OK(export_of(&f, &request), f.world.cx.err);
	CHECK_INT(f.out.messages, 3);
	CHECK_INT(f.out.secrets_replaced, 1);
	CHECK_STR(f.out.manifest_sha256, NULL);
	CHECK_INT(files_count("."), 1); /* the storage */
	world_close(&f.world);
}

static void refused(void)
{
	struct fixture f;
	struct mr_team_share request = share_to("out");

	open_fixture(&f);
	request.output = "";
	world_check_fail(&f.world, export_of(&f, &request), MR_TEAM_INVALID_ARGUMENT,
		"where is the export to go?");
	request.output = "root";
	world_check_fail(&f.world, export_of(&f, &request), MR_TEAM_INVALID_ARGUMENT,
		"root is there already and is no empty directory");
	request = share_to("out");
	request.chunk_bytes = 1023;
	world_check_fail(&f.world, export_of(&f, &request), MR_TEAM_INVALID_ARGUMENT,
		"a piece has 1024 to 1073741824 bytes, not 1023");
	request = share_to("out");
	request.inline_bytes = -1;
	world_check_fail(&f.world, export_of(&f, &request), MR_TEAM_INVALID_ARGUMENT,
		"a size is not below 0");
	request = share_to("out");
	request.projects = (struct mr_texts){ (const char *[]){ "three" }, 1 };
	world_check_fail(&f.world, export_of(&f, &request), MR_TEAM_NOT_FOUND, "three");
	/* A message that cannot be read stops the export, and nothing is left of it. */
	request = share_to("out");
	world_exec(&f.world, "UPDATE messages SET attachments = '{' WHERE id = 2");
	CHECK_INT(export_of(&f, &request), MR_EFORMAT);
	CHECK_INT(files_count("."), 1);
	world_close(&f.world);
}

#define LISTED(path)                                                                               \
	"{\"path\":\"" path "\",\"bytes\":1,\"sha256\":\"0123456789abcdef0123456789abcdef"         \
	"0123456789abcdef0123456789abcdef\"}"

static void changed_copies_are_found(void)
{
	static const struct {
		const char *path, *text, *says;
	} rows[] = {
		{ "out/index.html", "x", "out: index.html was changed: it has 1 bytes, not " },
		{ "out/viewer/extra.js", "x", "out: viewer/extra.js is not in the manifest" },
		{ "out/manifest.json", "{}", "out: manifest.json does not list its files" },
		{ "out/manifest.json", "{", "out: manifest.json: " },
		{ "out/manifest.json", "{\"files\":[{\"path\":\"x\"}]}",
			"out: manifest.json: file 1 lacks its path, size or digest" },
		{ "out/manifest.json", "{\"files\":[{\"path\":\"x\",\"bytes\":1,\"sha256\":\"\"}]}",
			"out: manifest.json: file 1 lacks its path, size or digest" },
		{ "out/manifest.json", "{\"files\":[" LISTED("../x") "]}",
			"out: manifest.json: ../x is no path inside the export" },
		{ "out/manifest.json", "{\"files\":[" LISTED("/etc/passwd") "]}",
			"out: manifest.json: /etc/passwd is no path inside the export" },
		{ "out/manifest.json", "{\"files\":[" LISTED("a/../../x") "]}",
			"out: manifest.json: a/../../x is no path inside the export" },
		{ "out/manifest.json",
			"{\"files\":[" LISTED("index.html") "," LISTED("index.html") "]}",
			"out: manifest.json: index.html is listed twice, or out of order" },
		{ "out/manifest.json", "{\"files\":[" LISTED("gone") "]}", "out: gone is missing" },
	};

	struct fixture f;

	open_fixture(&f);
	for (size_t i = 0; i < MR_LEN(rows); i++) {
		struct mr_err ignored;
		int64_t files = 0;

		if (mr_fs_remove_all(AT_FDCWD, "out", &ignored))
			test_fail(__FILE__, __LINE__, "%s", ignored.msg);
		export_plain(&f);
		CHECK_OK(mr_team_share_verify(&f.world.cx, "out", f.out.manifest_sha256, &files),
			f.world.cx.err);
		CHECK_INT(files, 7);
		files_put(rows[i].path, rows[i].text);
		CHECK_INT(mr_team_share_verify(&f.world.cx, "out", NULL, &files), MR_EFORMAT);
		if (!strstr(f.world.cx.err.msg, rows[i].says))
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].path, f.world.cx.err.msg);
	}
	world_close(&f.world);
}

static void one_bit_is_found(void)
{
	struct fixture f;
	struct mr_bytes bytes = { 0 };
	int64_t files = 0;
	uint8_t *copy;

	open_fixture(&f);
	export_plain(&f);
	CHECK_OK(mr_fs_read(f.world.cx.arena, AT_FDCWD, "out/mailbox.sqlite3", 16 << 20, &bytes,
			 &f.world.cx.err),
		f.world.cx.err);
	copy = mr_arena_memdup(f.world.cx.arena, bytes.data, bytes.len);
	copy[bytes.len - 1] ^= 1;
	CHECK_OK(mr_fs_write(AT_FDCWD, "out/mailbox.sqlite3", mr_bytes_of(copy, bytes.len),
			 MR_FS_REPLACE, 0600, &f.world.cx.err),
		f.world.cx.err);
	CHECK_INT(mr_team_share_verify(&f.world.cx, "out", NULL, &files), MR_EFORMAT);
	CHECK(strstr(f.world.cx.err.msg, "mailbox.sqlite3 was changed: its SHA-256 is"));
	/* A manifest that was changed too is told by its digest alone. */
	CHECK_INT(mr_team_share_verify(&f.world.cx, "out", "00", &files), MR_EFORMAT);
	CHECK(strstr(f.world.cx.err.msg, "manifest.json is not the one that was made"));
	CHECK_INT(mr_team_share_verify(&f.world.cx, "nowhere", NULL, &files), MR_ENOTFOUND);
	world_close(&f.world);
}

static void a_link_is_no_file(void)
{
	struct fixture f;
	int64_t files = 0;

	open_fixture(&f);
	export_plain(&f);
	CHECK(symlink("/etc/passwd", "out/link") == 0);
	CHECK_INT(mr_team_share_verify(&f.world.cx, "out", NULL, &files), MR_EFORMAT);
	CHECK_STR(f.world.cx.err.msg, "out: link is no file");
	world_close(&f.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(secrets_are_gone),
		TEST(what_is_in_a_copy),
		TEST(only_chosen_projects),
		TEST(strict_leaves_bodies_out),
		TEST(attachments_are_bundled),
		TEST(a_large_database_comes_in_pieces),
		TEST(a_dry_run_writes_nothing),
		TEST(refused),
		TEST(changed_copies_are_found),
		TEST(one_bit_is_found),
		TEST(a_link_is_no_file),
	};

	return test_main(tests, MR_LEN(tests));
}
