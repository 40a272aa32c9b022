/* tests/unit/workspace/test_work_import.c */
#include "workspace/import.h"

#include "files.h"
#include "post.h"
#include "test.h"
#include "workspace/index.h"
#include "workspace/layout.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CORPUS      TEST_CORPUS "/mime"
#define ATTACHMENTS "message_20260510_144fc135c10a3b71"

/* --- importing --- */

static void import_paths(struct desk *desk, const char **paths, size_t count,
	struct mr_work_imported *out)
{
	struct mr_work_import request = { .paths = { paths, count }, .base = test_dir() };

	CHECK_OK(mr_work_import(&desk->cx, desk->work, &request, out), desk->cx.err);
	desk_next(desk);
}
#define IMPORT(desk, out, ...)                                                                     \
	import_paths(desk, (const char *[]){ __VA_ARGS__, NULL },                                  \
		sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *), out)

static void check_counts(const struct mr_work_imported *got, int64_t found, int64_t new,
	int64_t present, int64_t failed)
{
	CHECK_INT(got->found_count, found);
	CHECK_INT(got->new_message_count, new);
	CHECK_INT(got->triage_created_count, new);
	CHECK_INT(got->message_ids.len, new);
	CHECK_INT(got->already_present_count, present);
	CHECK_INT(got->failed_count, failed);
	CHECK_INT(got->failure_count, failed);
}

static const char *raw(struct desk *desk, const char *message_id)
{
	return desk_text(desk, mr_work_path_eml(desk->cx.arena, message_id));
}

static void check_in_triage(struct desk *desk, const char *message_id)
{
	CHECK(desk_has(mr_work_path_eml(desk->cx.arena, message_id)));
	CHECK(!desk_has(mr_work_path_remote(desk->cx.arena, message_id)));
	CHECK(desk_has(mr_work_path_record(desk->cx.arena, message_id)));
	CHECK(desk_has(mr_work_path_triage(desk->cx.arena, message_id)));
	CHECK_STR(post_status(desk, message_id), "triage");
}

/* --- single files --- */

static void one_file(void)
{
	struct mr_work_imported got = { 0 };
	struct mr_bytes bytes = { 0 };
	const char *tree;
	struct desk desk;

	post_open(&desk);
	IMPORT(&desk, &got, CORPUS "/plain.eml");
	check_counts(&got, 1, 1, 0, 0);
	CHECK_STR(got.message_ids.items[0], PLAIN);
	check_in_triage(&desk, PLAIN);
	/* The bytes as they were. */
	CHECK_OK(mr_fs_read(desk.cx.arena, AT_FDCWD, CORPUS "/plain.eml", 1 << 20, &bytes,
			 &desk.cx.err),
		desk.cx.err);
	CHECK_STR(raw(&desk, PLAIN), (const char *)bytes.data);
	/* A second time. */
	tree = desk_tree(&desk);
	IMPORT(&desk, &got, CORPUS "/plain.eml", CORPUS "/plain.eml");
	check_counts(&got, 2, 0, 2, 0);
	CHECK_STR(desk_tree(&desk), tree);
	desk_close(&desk);
}

/* The same mail, as another mailbox got it: the fields of the way it took differ. */
static void another_copy(void)
{
	struct mr_work_imported got = { 0 };
	struct desk desk;

	post_open(&desk);
	desk_put("a.eml", "From: a@example.org\nMessage-ID: <1@example.org>\nSubject: s\n\nhi\n");
	desk_put("b.eml",
		"Received: by b.example\nFrom: a@example.org\nMessage-ID: <1@example.org>\n"
		"Subject: s\n\nhi\n");
	/* SMTP ends the last line of a mail that does not. */
	desk_put("c.eml", "From: a@example.org\nMessage-ID: <1@example.org>\nSubject: s\n\nhi");
	IMPORT(&desk, &got, "a.eml", "b.eml", "c.eml");
	check_counts(&got, 3, 1, 2, 0);
	desk_close(&desk);
}

static void no_message_id(void)
{
	struct mr_work_imported got = { 0 };
	const char *first;
	struct desk desk;

	post_open(&desk);
	IMPORT(&desk, &got, CORPUS "/noid.eml");
	check_counts(&got, 1, 1, 0, 0);
	first = got.message_ids.items[0];
	CHECK(mr_str_starts(first, "message_20260515_import_"));
	CHECK_INT(strlen(first), strlen("message_20260515_import_") + 16);
	check_in_triage(&desk, first);
	desk_put("other.eml",
		"From: printer@example.com\nDate: Fri, 15 May 2026 05:00:00 +0000\n\n"
		"Another.\n");
	IMPORT(&desk, &got, CORPUS "/noid.eml", "other.eml");
	check_counts(&got, 2, 1, 1, 0);
	CHECK(!mr_str_eq(got.message_ids.items[0], first));
	desk_close(&desk);
}

/* Somebody else's mail with a known Message-ID: neither hides the other. */
static void one_id_twice(void)
{
	struct mr_work_imported got = { 0 };
	struct mr_texts found = { 0 };
	struct desk desk;

	post_open(&desk);
	IMPORT(&desk, &got, CORPUS "/plain.eml");
	desk_put("forged.eml",
		"From: Mallory <mallory@evil.example>\nSubject: Invoice 17 is ready\n"
		"Date: Mon, 04 May 2026 09:15:00 +0200\nMessage-ID: <plain-1@example.org>\n\n"
		"Pay here.\n");
	IMPORT(&desk, &got, "forged.eml");
	check_counts(&got, 1, 1, 0, 0);
	CHECK(mr_str_starts(got.message_ids.items[0], PLAIN "_"));
	check_in_triage(&desk, got.message_ids.items[0]);
	CHECK(strstr(raw(&desk, got.message_ids.items[0]), "Pay here."));
	CHECK(!strstr(raw(&desk, PLAIN), "Pay here."));
	CHECK_OK(mr_work_index_by_rfc822(&desk.cx, desk.work, "plain-1@example.org", &found),
		desk.cx.err);
	CHECK_INT(found.len, 2);
	IMPORT(&desk, &got, "forged.eml", CORPUS "/plain.eml");
	check_counts(&got, 2, 0, 2, 0);
	desk_close(&desk);
}

#define WITH_FILE(name, content)                                                                   \
	"From: a@example.org\nMessage-ID: <1@example.org>\nSubject: s\nMIME-Version: 1.0\n"        \
	"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nhi\n"       \
	"--b\nContent-Type: text/csv\nContent-Disposition: attachment; filename=\"" name           \
	"\"\n\n" content "\n--b--\n"

/* Only an attachment differs: that is another mail, too. */
static void one_id_other_attachment(void)
{
	struct mr_work_imported got = { 0 };
	struct desk desk;

	post_open(&desk);
	desk_put("a.eml", WITH_FILE("a.csv", "1;2"));
	desk_put("content.eml", WITH_FILE("a.csv", "1;3"));
	desk_put("name.eml", WITH_FILE("b.csv", "1;2"));
	desk_put("copy.eml", "Received: by b.example\n" WITH_FILE("a.csv", "1;2"));
	IMPORT(&desk, &got, "a.eml", "content.eml", "name.eml", "copy.eml");
	check_counts(&got, 4, 3, 1, 0);
	desk_close(&desk);
}

/* --- several --- */

static void mbox(void)
{
	struct mr_work_imported got = { 0 };
	struct desk desk;

	post_open(&desk);
	desk_put("a.mbox",
		"From a@example.org Mon May  4 09:15:00 2026\n"
		"From: a@example.org\nMessage-ID: <m1@example.org>\nSubject: one\n\n"
		"First line.\n>From here on it was quoted.\n>>From twice.\nFrom the middle, which "
		"follows no blank line.\n> From was quoted by the writer.\n\n"
		"From b@example.org Mon May  4 09:16:00 2026\n"
		"From: b@example.org\nMessage-ID: <m2@example.org>\nSubject: two\n\nTwo.\n\n");
	desk_put("crlf.mbox",
		"From c@example.org Mon May  4 09:15:00 2026\r\n"
		"From: c@example.org\r\nMessage-ID: <m3@example.org>\r\n\r\nThree.\r\n\r\n"
		"From d@example.org Mon May  4 09:15:00 2026\r\n"
		"From: d@example.org\r\nMessage-ID: <m4@example.org>\r\n\r\nFour.\r\n");
	IMPORT(&desk, &got, "a.mbox", "crlf.mbox");
	check_counts(&got, 4, 4, 0, 0);
	CHECK_STR(raw(&desk, got.message_ids.items[0]),
		"From: a@example.org\nMessage-ID: <m1@example.org>\nSubject: one\n\n"
		"First line.\nFrom here on it was quoted.\n>From twice.\nFrom the middle, which "
		"follows no blank line.\n> From was quoted by the writer.\n");
	CHECK_STR(raw(&desk, got.message_ids.items[1]),
		"From: b@example.org\nMessage-ID: <m2@example.org>\nSubject: two\n\nTwo.\n");
	CHECK_STR(raw(&desk, got.message_ids.items[2]),
		"From: c@example.org\r\nMessage-ID: <m3@example.org>\r\n\r\nThree.\r\n");
	CHECK_STR(raw(&desk, got.message_ids.items[3]),
		"From: d@example.org\r\nMessage-ID: <m4@example.org>\r\n\r\nFour.\r\n");
	for (size_t i = 0; i < got.message_ids.len; i++)
		check_in_triage(&desk, got.message_ids.items[i]);
	IMPORT(&desk, &got, "a.mbox");
	check_counts(&got, 2, 0, 2, 0);
	desk_close(&desk);
}

static void maildir(void)
{
	struct mr_work_imported got = { 0 };
	struct desk desk;

	post_open(&desk);
	desk_put("box/cur/1.host:2,S", "Message-ID: <d1@example.org>\n\nx\n");
	desk_put("box/cur/.hidden", "Message-ID: <d2@example.org>\n\nx\n");
	desk_put("box/new/2.host", "Message-ID: <d3@example.org>\n\nx\n");
	desk_put("box/tmp/3.host", "Message-ID: <d4@example.org>\n\nhalf writt");
	IMPORT(&desk, &got, "box");
	check_counts(&got, 2, 2, 0, 0);
	check_in_triage(&desk, got.message_ids.items[0]);
	check_in_triage(&desk, got.message_ids.items[1]);
	desk_close(&desk);
}

static void directory(void)
{
	struct mr_work_imported got = { 0 };
	struct desk desk;

	post_open(&desk);
	desk_put("dir/b.eml", "Message-ID: <b@example.org>\n\nx\n");
	desk_put("dir/a.eml", "Message-ID: <a@example.org>\n\nx\n");
	desk_put("dir/readme.txt", "Not mail.\n");
	CHECK(mkdir("empty", 0755) == 0);
	IMPORT(&desk, &got, mr_work_join(desk.cx.arena, test_dir(), "dir"), "empty");
	check_counts(&got, 2, 2, 0, 0);
	CHECK(strstr(raw(&desk, got.message_ids.items[0]), "<a@example.org>"));
	desk_close(&desk);
}

/* More than one batch. */
static void many(void)
{
	struct mr_work_imported got = { 0 };
	struct desk desk;

	post_open(&desk);
	for (int i = 0; i < 230; i++)
		desk_put(mr_arena_printf(desk.cx.arena, "dir/%03d.eml", i),
			mr_arena_printf(desk.cx.arena, "Message-ID: <%d@example.org>\n\n%d\n", i,
				i));
	IMPORT(&desk, &got, "dir");
	check_counts(&got, 230, 230, 0, 0);
	check_in_triage(&desk, got.message_ids.items[0]);
	check_in_triage(&desk, got.message_ids.items[229]);
	CHECK_INT(files_count(MR_WORK_TRIAGE), 230);
	desk_close(&desk);
}

/* --- what cannot be taken in --- */

static void failures(void)
{
	struct mr_work_imported got = { 0 };
	struct desk desk;

	post_open(&desk);
	desk_put("picture.png", "\x89PNG\r\n\x1a\n");
	desk_put("empty.eml", "");
	desk_put("bad.mbox",
		"From a Mon May  4 09:15:00 2026\nMessage-ID: <g1@example.org>\n\nx\n\n"
		"From b Mon May  4 09:15:00 2026\n\n"
		"From c Mon May  4 09:15:00 2026\nMessage-ID: <g2@example.org>\n\nx\n");
	CHECK(mkfifo("pipe", 0644) == 0);
	IMPORT(&desk, &got, "picture.png", "empty.eml", "pipe", "bad.mbox", CORPUS "/plain.eml");
	CHECK_INT(got.new_message_count, 3);
	CHECK_INT(got.failed_count, 4);
	CHECK_INT(got.failure_count, 4);
	CHECK_STR(got.failures[0].source, mr_work_join(desk.cx.arena, test_dir(), "picture.png"));
	CHECK_STR(got.failures[0].error_code, "mime_parse_failed");
	CHECK_STR(got.failures[0].error, "this is no e-mail: it has no header");
	CHECK_STR(got.failures[1].error_code, "invalid_request");
	CHECK(strstr(got.failures[1].error, "empty.eml is empty"));
	CHECK(strstr(got.failures[2].error, "pipe is not a file"));
	CHECK_STR(got.failures[3].source, mr_work_join(desk.cx.arena, test_dir(), "bad.mbox:2"));
	check_in_triage(&desk, PLAIN);
	desk_close(&desk);
}

/* A path that was mistyped: nothing is taken in. */
static void a_path_that_is_not_there(void)
{
	const char *paths[] = { CORPUS "/plain.eml", "gone.eml" };
	struct mr_work_import request = { .paths = { paths, 2 }, .base = test_dir() };
	struct mr_work_imported got = { 0 };
	struct desk desk;

	post_open(&desk);
	CHECK(mr_work_import(&desk.cx, desk.work, &request, &got) != MR_OK);
	CHECK(strstr(desk.cx.err.msg, "gone.eml: No such file"));
	desk_next(&desk);
	CHECK(!desk_has(mr_work_path_eml(desk.cx.arena, PLAIN)));
	desk_close(&desk);
}

static void nothing_named(void)
{
	struct mr_work_imported got = { 0 };
	struct desk desk;

	post_open(&desk);
	desk_check_fail(&desk,
		mr_work_import(&desk.cx, desk.work, &(struct mr_work_import){ .base = test_dir() },
			&got),
		"invalid_request", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, "no file to import was named");
	desk_close(&desk);
}

/* Names and ids that want to be somewhere else. */
static void hostile(void)
{
	struct mr_work_imported got = { 0 };
	struct desk desk;

	post_open(&desk);
	desk_put("dir/x;rm -rf $HOME\n.eml", "Message-ID: <../../../../etc/x@y>\n\nx\n");
	desk_put("dir/-n.eml", "Message-ID: </etc/passwd>\nSubject: ../../x\n\nx\n");
	IMPORT(&desk, &got, "dir");
	check_counts(&got, 2, 2, 0, 0);
	for (size_t i = 0; i < 2; i++) {
		CHECK(!strpbrk(got.message_ids.items[i], "/.\n "));
		check_in_triage(&desk, got.message_ids.items[i]);
	}
	IMPORT(&desk, &got, CORPUS "/attachments.eml", CORPUS "/malformed.eml",
		CORPUS "/everything");
	CHECK_INT(got.failed_count, 0);
	check_in_triage(&desk, ATTACHMENTS);
	desk_close(&desk);
}

/* --- killed --- */

static void die_at(struct desk *desk, const char *point)
{
	struct mr_work_import request = {
		{ (const char *[]){ CORPUS "/plain.eml", CORPUS "/spam.eml", NULL }, 2 }, test_dir()
	};
	struct mr_work_imported got = { 0 };
	pid_t pid = fork();
	int status = 0;

	CHECK(pid >= 0);
	if (pid == 0) {
		CHECK(setenv("MAILROOM_CRASH_AT", point, 1) == 0);
		if (mr_work_import(&desk->cx, desk->work, &request, &got))
			_exit(3);
		_exit(2);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	/* It goes on to its end in a build without crash points. */
	CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 2);
}

/* Importing again completes what an import that was killed had begun. */
static void killed(void)
{
	static const char *const points[] = { "work.import.taken", "work.import.synced",
		"work.import.indexed" };

	for (size_t i = 0; i < sizeof(points) / sizeof(*points); i++) {
		struct mr_work_imported got = { 0 };
		struct desk desk;

		post_open(&desk);
		die_at(&desk, points[i]);
		desk_next(&desk);
		IMPORT(&desk, &got, CORPUS "/plain.eml", CORPUS "/spam.eml");
		CHECK_INT(got.new_message_count + got.already_present_count, 2);
		check_in_triage(&desk, PLAIN);
		check_in_triage(&desk, SPAM);
		desk_close(&desk);
		CHECK(system("rm -rf .afmail messages triage") == 0);
	}
}

int main(void)
{
	static const struct test all[] = { TEST(one_file), TEST(another_copy), TEST(no_message_id),
		TEST(one_id_twice), TEST(one_id_other_attachment), TEST(mbox), TEST(maildir),
		TEST(directory), TEST(many), TEST(failures), TEST(a_path_that_is_not_there),
		TEST(nothing_named), TEST(hostile), TEST(killed) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
