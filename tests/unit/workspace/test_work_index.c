/* tests/unit/workspace/test_work_index.c */
#include "workspace/index.h"

#include "files.h"
#include "post.h"
#include "test.h"
#include "workspace/case.h"
#include "workspace/disposition.h"
#include "workspace/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CASE "cases/open/c20260512001-A"

static void open_index(struct desk *desk)
{
	desk_next(desk);
	CHECK_OK(mr_work_index_open(&desk->cx, desk->work), desk->cx.err);
}

static void create_case(struct desk *desk, const char *name, const char *message)
{
	struct mr_work_case_create request = { .name = name, .message = message, .reason = "r" };
	struct mr_work_case_created created = { 0 };

	POST_OK(desk, mr_work_case_create(&desk->cx, desk->work, &request, &created));
}

static void discard_spam(struct desk *desk)
{
	struct mr_work_discard request = { { (const char *[]){ SPAM, NULL }, 1 }, "r" };
	struct mr_work_discarded discarded = { 0 };

	POST_OK(desk, mr_work_message_spam(&desk->cx, desk->work, &request, &discarded));
}

/* Names were added to or taken from a directory at this time. Its own time would do, unless the
 * whole test runs between two ticks of the clock of the file system. */
static void touch_dir(const char *path, time_t seconds)
{
	struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };

	CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

static const char *ids_of(struct desk *desk, const struct mr_work_filter *filter)
{
	struct mr_work_briefs briefs = { 0 };
	const char *line = "";

	CHECK_OK(mr_work_index_list(&desk->cx, desk->work, filter, &briefs), desk->cx.err);
	for (size_t i = 0; i < briefs.len; i++)
		line = mr_arena_printf(desk->cx.arena, "%s%s%s", line, i ? " " : "",
			briefs.items[i].message_id);
	return line;
}
#define LIST(desk, ...) ids_of(desk, &(struct mr_work_filter){ __VA_ARGS__ })

/* Everything that the index can say of the messages in it. */
static const char *all_of(struct desk *desk)
{
	struct mr_arena *arena = desk->cx.arena;
	struct mr_work_briefs briefs = { 0 };
	struct mr_work_counts counts = { 0 };
	const char *text;

	CHECK_OK(mr_work_index_counts(&desk->cx, desk->work, &counts), desk->cx.err);
	text = mr_arena_printf(arena, "%lld messages, %lld missing, %lld bytes\n",
		(long long)counts.messages, (long long)counts.remote_missing,
		(long long)counts.bytes);
	CHECK_OK(mr_work_index_list(&desk->cx, desk->work, &(struct mr_work_filter){ 0 }, &briefs),
		desk->cx.err);
	for (size_t i = 0; i < briefs.len; i++) {
		const struct mr_work_brief *brief = &briefs.items[i];
		struct mr_work_members members = { 0 };
		struct mr_texts related = { 0 };

		CHECK_OK(mr_work_index_related(&desk->cx, desk->work, brief->message_id, &related),
			desk->cx.err);
		CHECK_OK(mr_work_index_members(&desk->cx, desk->work, brief->message_id, &members),
			desk->cx.err);
		text = mr_arena_printf(arena, "%s%s %s %s %lld %s %s %d %lld [%s]", text,
			brief->message_id, brief->rfc822, mr_work_status_names[brief->status],
			(long long)brief->time_us, brief->subject, brief->from, brief->is_outbound,
			(long long)brief->attachment_count, post_join(desk, &related));
		for (size_t k = 0; k < members.len; k++)
			text = mr_arena_printf(arena, "%s {%d %s %s %s}", text,
				(int)members.items[k].kind, members.items[k].path,
				members.items[k].uid, members.items[k].added);
		text = mr_arena_printf(arena, "%s\n", text);
	}
	return text;
}

/* --- what it knows of a message --- */

static void message(void)
{
	struct mr_work_brief brief = { 0 };
	struct mr_texts found = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, FILES, NULL);
	CHECK_OK(mr_work_index_message(&desk.cx, desk.work, FILES, &brief), desk.cx.err);
	CHECK_STR(brief.message_id, FILES);
	CHECK_STR(brief.rfc822, "att-1@example.net");
	CHECK_INT(brief.status, MR_WORK_IS_TRIAGE);
	CHECK(brief.has_time);
	CHECK_INT(brief.time_us, INT64_C(1778414400) * 1000000);
	CHECK_STR(brief.subject, "Plans and photo");
	CHECK_STR(brief.from, "Bob Builder <bob@example.net>");
	CHECK(!brief.is_outbound);
	CHECK_INT(brief.attachment_count, 2);
	CHECK(mr_work_index_has(&desk.cx, desk.work, FILES));
	CHECK(!mr_work_index_has(&desk.cx, desk.work, PLAIN));
	CHECK_OK(mr_work_index_by_rfc822(&desk.cx, desk.work, "att-1@example.net", &found),
		desk.cx.err);
	CHECK_STR(post_join(&desk, &found), FILES);
	desk_check_fail(&desk, mr_work_index_message(&desk.cx, desk.work, PLAIN, &brief),
		"message_not_found", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, "there is no message " PLAIN);
	desk_close(&desk);
}

static void related_and_replied(void)
{
	struct mr_texts found = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, T1, T2, T4, T5, NULL);
	CHECK_OK(mr_work_index_related(&desk.cx, desk.work, T1, &found), desk.cx.err);
	CHECK_STR(post_join(&desk, &found), T4 " " T2 " " T5);
	CHECK_OK(mr_work_index_related(&desk.cx, desk.work, T4, &found), desk.cx.err);
	CHECK_STR(post_join(&desk, &found), T1 " " T5);
	CHECK_OK(mr_work_index_related(&desk.cx, desk.work, PLAIN, &found), desk.cx.err);
	CHECK_STR(post_join(&desk, &found), "");
	CHECK_OK(mr_work_index_replied(&desk.cx, desk.work, T5, &found), desk.cx.err);
	CHECK_STR(post_join(&desk, &found), T4 " " T1);
	CHECK_OK(mr_work_index_replied(&desk.cx, desk.work, T1, &found), desk.cx.err);
	CHECK_STR(post_join(&desk, &found), "");
	desk_close(&desk);
}

static void members_and_statuses(void)
{
	struct mr_work_members members = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, T1, SPAM, NULL);
	create_case(&desk, "A", T1);
	create_case(&desk, "B", T1);
	discard_spam(&desk);
	CHECK_OK(mr_work_index_members(&desk.cx, desk.work, T1, &members), desk.cx.err);
	CHECK_INT(members.len, 2);
	CHECK_INT(members.items[0].kind, MR_WORK_ACTIVE_CASE);
	CHECK_STR(members.items[0].path, CASE);
	CHECK_STR(members.items[0].uid, "c20260512001");
	CHECK_STR(members.items[0].added, "2026-03-11T04:15:03Z");
	CHECK_STR(members.items[1].path, "cases/open/c20260512002-B");
	CHECK_STR(post_status(&desk, T1), "case");
	CHECK_STR(post_status(&desk, SPAM), "spam");
	desk_close(&desk);
}

/* --- lists --- */

static void list(void)
{
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, NOTICE, T1, T2, NULL);
	create_case(&desk, "A", T1);
	CHECK_STR(LIST(&desk, 0), PLAIN " " T1 " " T2 " " SPAM " " NOTICE);
	CHECK_STR(LIST(&desk, .newest_first = true), NOTICE " " SPAM " " T2 " " T1 " " PLAIN);
	CHECK_STR(LIST(&desk, .status = "case"), T1);
	CHECK_STR(LIST(&desk, .status = "triage"), PLAIN " " T2 " " SPAM " " NOTICE);
	CHECK_STR(LIST(&desk, .status = "trashed"), "");
	CHECK_STR(LIST(&desk, .from = "THREAD.example"), T1 " " T2);
	CHECK_STR(LIST(&desk, .subject = "meeting"), T1 " " T2);
	/* Not a pattern. */
	CHECK_STR(LIST(&desk, .subject = "%"), "");
	CHECK_STR(LIST(&desk, .subject = "_"), "");
	CHECK_STR(LIST(&desk, .subject = "'"), "");
	/* From 2026-05-12T08:00:00Z, which belongs to it, until 09:00, which does not. */
	CHECK_STR(LIST(&desk, .since_us = INT64_C(1778572800) * 1000000,
			  .until_us = INT64_C(1778576400) * 1000000),
		T1);
	CHECK_STR(LIST(&desk, .limit = 2), PLAIN " " T1);
	CHECK_STR(LIST(&desk, .limit = 2, .after_id = T1), T2 " " SPAM);
	CHECK_STR(LIST(&desk, .limit = 2, .after_id = NOTICE), "");
	CHECK_STR(LIST(&desk, .limit = 2, .newest_first = true), NOTICE " " SPAM);
	CHECK_STR(LIST(&desk, .limit = 2, .newest_first = true, .after_id = SPAM), T2 " " T1);
	CHECK_STR(LIST(&desk, .newest_first = true, .after_id = PLAIN), "");
	desk_close(&desk);
}

/* A message without a usable date comes last of the newest, and no page leaves it out. */
static void list_without_time(void)
{
	struct desk desk;

	post_open(&desk);
	desk_put(mr_work_path_eml(desk.cx.arena, "message_x"), "Subject: when?\r\n\r\nx\r\n");
	post_mail(&desk, PLAIN, NULL);
	CHECK_STR(LIST(&desk, .newest_first = true), PLAIN " message_x");
	CHECK_STR(LIST(&desk, .newest_first = true, .after_id = PLAIN), "message_x");
	CHECK_STR(LIST(&desk, .since_us = 1), PLAIN);
	desk_close(&desk);
}

static void counts(void)
{
	struct mr_work_counts got = { 0 };
	struct desk desk;

	post_open(&desk);
	CHECK_OK(mr_work_index_counts(&desk.cx, desk.work, &got), desk.cx.err);
	CHECK_INT(got.messages, 0);
	CHECK_INT(got.bytes, 0);
	post_mail(&desk, PLAIN, SPAM, NOTICE, T1, T2, NULL);
	create_case(&desk, "A", T1);
	discard_spam(&desk);
	desk_put(mr_work_path_remote(desk.cx.arena, T2),
		"{\"schema_name\": \"message_remote\", \"schema_version\": 1, \"message_id\": "
		"\"" T2 "\", \"locations\": [{\"mailbox_name\": \"INBOX\", \"mailbox_id\": "
		"\"inbox\", \"uid_validity\": 7, \"uid\": 5, \"observed_rfc3339\": "
		"\"2026-05-20T00:00:00Z\", \"missing_rfc3339\": \"2026-05-21T00:00:00Z\"}]}\n");
	touch_dir(MR_WORK_EVIDENCE, 1);
	open_index(&desk);
	CHECK_OK(mr_work_index_counts(&desk.cx, desk.work, &got), desk.cx.err);
	CHECK_INT(got.messages, 5);
	CHECK_INT(got.by_status[MR_WORK_IS_TRIAGE], 3);
	CHECK_INT(got.by_status[MR_WORK_IS_CASE], 1);
	CHECK_INT(got.by_status[MR_WORK_IS_SPAM], 1);
	CHECK_INT(got.by_status[MR_WORK_IS_TRASHED], 0);
	CHECK_INT(got.remote_missing, 1);
	CHECK(got.bytes > 500 && got.bytes < 2000);
	desk_close(&desk);
}

/* --- changes that others made --- */

/* Put `to` in the place of `from`, which the file has once. */
static void edit(struct desk *desk, const char *path, const char *from, const char *to)
{
	const char *text = desk_text(desk, path), *at = strstr(text, from);

	CHECK(at);
	desk_put(path,
		mr_arena_printf(desk->cx.arena, "%.*s%s%s", (int)(at - text), text, to,
			at + strlen(from)));
}

static void edited_by_hand(void)
{
	struct desk desk;
	struct mr_texts unread;

	post_open(&desk);
	post_mail(&desk, T1, T2, NULL);
	create_case(&desk, "A", T1);
	CHECK_STR(post_status(&desk, T1), "case");
	edit(&desk, CASE "/data/case.json", T1, T2);
	touch_dir(CASE "/data/case.json", 1);
	desk_next(&desk);
	CHECK_STR(post_status(&desk, T1), "triage");
	CHECK_STR(post_status(&desk, T2), "case");
	/* The whole directory under another name. */
	CHECK(rename(CASE, "cases/open/c20260512001-other") == 0);
	desk_next(&desk);
	CHECK_STR(post_status(&desk, T2), "case");
	/* A document that cannot be read lists what it did before. */
	CHECK_OK(mr_work_index_unread(&desk.cx, desk.work, &unread), desk.cx.err);
	CHECK_INT(unread.len, 0);
	desk_put("cases/open/c20260512001-other/data/case.json", "{");
	desk_next(&desk);
	CHECK_STR(post_status(&desk, T2), "case");
	CHECK_OK(mr_work_index_unread(&desk.cx, desk.work, &unread), desk.cx.err);
	CHECK_INT(unread.len, 1);
	CHECK_STR(unread.items[0], "cases/open/c20260512001-other/data/case.json");
	/* And one that is not there. */
	edit(&desk, "cases/open/c20260512001-other/data/case.json", "{",
		"{\"schema_name\": \"case\", \"schema_version\": 1, \"collection_uid\": "
		"\"c20260512001\", \"collection_name\": \"A\", \"status\": \"active\", "
		"\"created_rfc3339\": \"2026-05-20T00:00:00Z\", \"updated_rfc3339\": "
		"\"2026-05-20T00:00:00Z\", \"items\": [{\"message_id\": \"" T1
		"\", \"added_rfc3339\": \"2026-05-20T00:00:00Z\"}]}");
	desk_next(&desk);
	CHECK_STR(post_status(&desk, T1), "case");
	CHECK(unlink("cases/open/c20260512001-other/data/case.json") == 0);
	desk_next(&desk);
	CHECK_STR(post_status(&desk, T1), "triage");
	desk_close(&desk);
}

static void messages_come_and_go(void)
{
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, T1, T2, NULL);
	CHECK(unlink(mr_work_path_eml(desk.cx.arena, T1)) == 0);
	desk_put(mr_work_path_eml(desk.cx.arena, "message_x"), "Subject: new\r\n\r\nx\r\n");
	/* Neither is mail. */
	desk_put(MR_WORK_EVIDENCE "/.hidden.eml", "Subject: no\r\n\r\nx\r\n");
	desk_put(MR_WORK_EVIDENCE "/other.txt", "x");
	touch_dir(MR_WORK_EVIDENCE, 1);
	open_index(&desk);
	CHECK_STR(LIST(&desk, 0), T2 " message_x");
	/* A sidecar that cannot be read keeps only its own message out. */
	desk_put(mr_work_path_eml(desk.cx.arena, "message_y"), "Subject: y\r\n\r\nx\r\n");
	desk_put(mr_work_path_remote(desk.cx.arena, "message_y"), "{");
	desk_put(mr_work_path_eml(desk.cx.arena, "message_z"), "Subject: z\r\n\r\nx\r\n");
	touch_dir(MR_WORK_EVIDENCE, 2);
	open_index(&desk);
	CHECK_STR(LIST(&desk, 0), T2 " message_x message_z");
	desk_close(&desk);
}

/* --- the file --- */

static void deleted(void)
{
	const char *before;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, FILES, T1, T2, T4, T5, NULL);
	create_case(&desk, "A", T1);
	discard_spam(&desk);
	before = all_of(&desk);
	CHECK(strstr(before, "7 messages"));
	CHECK(unlink(MR_WORK_INDEX) == 0);
	desk_next(&desk);
	CHECK_STR(all_of(&desk), before);
	CHECK(desk_has(MR_WORK_INDEX));
	desk_close(&desk);
}

static void damaged(void)
{
	char page[4096];
	const char *before;
	struct stat st;
	struct desk desk;
	FILE *file;

	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, T1, T2, NULL);
	create_case(&desk, "A", T1);
	before = all_of(&desk);
	desk_put(MR_WORK_INDEX, "this is no database, but it is long enough to look like one....");
	desk_next(&desk);
	CHECK_STR(all_of(&desk), before);
	/* Cut off. */
	CHECK(truncate(MR_WORK_INDEX, 5000) == 0);
	desk_next(&desk);
	CHECK_STR(all_of(&desk), before);
	/* Empty. */
	CHECK(truncate(MR_WORK_INDEX, 0) == 0);
	desk_next(&desk);
	CHECK_STR(all_of(&desk), before);
	/* A good beginning, and then nothing that makes sense. */
	mr_work_close(desk.work);
	CHECK(stat(MR_WORK_INDEX, &st) == 0);
	memset(page, 0xa5, sizeof(page));
	file = fopen(MR_WORK_INDEX, "r+");
	CHECK(file && fseek(file, 4096, SEEK_SET) == 0);
	for (off_t at = 4096; at < st.st_size; at += 4096)
		CHECK(fwrite(page, sizeof(page), 1, file) == 1);
	CHECK(fclose(file) == 0);
	CHECK_OK(mr_work_open(&desk.cx, test_dir(), MR_WORK_WRITE, &desk.work), desk.cx.err);
	CHECK_STR(all_of(&desk), before);
	desk_close(&desk);
}

/* Nobody may write here: the index is made elsewhere, and what it says is true. */
static void read_only(void)
{
	const char *before;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, T1, T2, NULL);
	create_case(&desk, "A", T1);
	before = all_of(&desk);
	mr_work_close(desk.work);
	desk.work = NULL;
	CHECK(mkdir("tmp", 0777) == 0 && chmod("tmp", 0777) == 0);
	CHECK(setenv("TMPDIR", mr_work_join(desk.cx.arena, test_dir(), "tmp"), 1) == 0);
	CHECK(chmod(test_dir(), 0755) == 0 && chmod(MR_WORK_STATE, 0555) == 0);
	CHECK(chmod(MR_WORK_INDEX, 0444) == 0);
	if (files_become_nobody()) {
		/* As it is. */
		CHECK_OK(mr_work_open(&desk.cx, test_dir(), MR_WORK_READ, &desk.work), desk.cx.err);
		CHECK_STR(all_of(&desk), before);
		mr_work_close(desk.work);
		desk.work = NULL;
		files_become_root();
		/* Behind: the case was taken away. The file may be written, its directory not. */
		CHECK(chmod(MR_WORK_STATE, 0755) == 0 && chmod(MR_WORK_INDEX, 0666) == 0);
		CHECK(rename("cases", "elsewhere") == 0);
		CHECK(chmod(MR_WORK_STATE, 0555) == 0);
		CHECK(files_become_nobody());
		CHECK_OK(mr_work_open(&desk.cx, test_dir(), MR_WORK_READ, &desk.work), desk.cx.err);
		CHECK_STR(post_status(&desk, T1), "triage");
		mr_work_close(desk.work);
		desk.work = NULL;
		files_become_root();
		/* Not there at all. */
		CHECK(rename("elsewhere", "cases") == 0);
		CHECK(chmod(MR_WORK_STATE, 0755) == 0 && unlink(MR_WORK_INDEX) == 0);
		CHECK(chmod(MR_WORK_STATE, 0555) == 0);
		CHECK(files_become_nobody());
		CHECK_OK(mr_work_open(&desk.cx, test_dir(), MR_WORK_READ, &desk.work), desk.cx.err);
		CHECK_STR(all_of(&desk), before);
		CHECK(!desk_has(MR_WORK_INDEX));
		mr_work_close(desk.work);
		desk.work = NULL;
		files_become_root();
		CHECK_INT(files_count("tmp"), 0);
	}
	CHECK(chmod(MR_WORK_STATE, 0755) == 0);
	desk_close(&desk);
}

/* What a command takes in itself is there before the directory is looked at again. */
static void add(void)
{
	struct desk desk;

	post_open(&desk);
	CHECK_OK(mr_work_index_open(&desk.cx, desk.work), desk.cx.err);
	desk_put(mr_work_path_eml(desk.cx.arena, "message_x"), "Subject: new\r\n\r\nx\r\n");
	CHECK_OK(mr_work_index_begin(&desk.cx, desk.work), desk.cx.err);
	CHECK_OK(mr_work_index_add(&desk.cx, desk.work, "message_x"), desk.cx.err);
	CHECK_OK(mr_work_index_commit(&desk.cx, desk.work), desk.cx.err);
	CHECK_STR(LIST(&desk, 0), "message_x");
	/* The same again is no second one. */
	CHECK_OK(mr_work_index_begin(&desk.cx, desk.work), desk.cx.err);
	CHECK_OK(mr_work_index_add(&desk.cx, desk.work, "message_x"), desk.cx.err);
	CHECK_OK(mr_work_index_commit(&desk.cx, desk.work), desk.cx.err);
	CHECK_STR(LIST(&desk, 0), "message_x");
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(message), TEST(related_and_replied),
		TEST(members_and_statuses), TEST(list), TEST(list_without_time), TEST(counts),
		TEST(edited_by_hand), TEST(messages_come_and_go), TEST(deleted), TEST(damaged),
		TEST(read_only), TEST(add) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
