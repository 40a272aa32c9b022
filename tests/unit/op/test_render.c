/* tests/unit/op/test_render.c */
#include "op/render.h"
#include "test.h"
#include "text/json.h"

static void renders(const char *json, struct mr_render how, const char *expected)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *value;
	struct mr_err err;

	mr_buf_init(&text, 1 << 16);
	CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), NULL, &value, &err), err);
	mr_render_value(&text, value, &how);
	CHECK_STR(mr_buf_text(&text), expected);
}

static void members_are_aligned(void)
{
	renders("{\"id\":1,\"long_name\":\"x\",\"none\":null,\"ok\":true,\"tags\":[\"a\",\"b\"]}",
		(struct mr_render){ 0 },
		"id         1\n"
		"long name  x\n"
		"none       -\n"
		"ok         yes\n"
		"tags       a, b\n");
}

static void lists_of_objects_are_tables(void)
{
	renders("{\"rows\":[{\"name\":\"caf\\u00e9\",\"n\":1},{\"name\":\"\\u65e5\\u672c\","
		"\"n\":22,\"extra\":false}]}",
		(struct mr_render){ 0 },
		"rows\n"
		"  name  n   extra\n"
		"  caf\xc3\xa9  1   \n"
		"  \xe6\x97\xa5\xe6\x9c\xac  22  no\n");
}

static void tables_fit_the_terminal(void)
{
	renders("[{\"a\":\"abcdefghijklmnopqrst\",\"b\":\"z\"}]", (struct mr_render){ .width = 16 },
		"a              b\n"
		"abcdefghijkl\xe2\x80\xa6  z\n");
	renders("[{\"a\":\"abcdefghijklmnopqrst\",\"b\":\"z\"},{\"a\":\"x\",\"b\":null}]",
		(struct mr_render){ .width = 10 },
		"a  abcdefghijklmnopqrst\n"
		"b  z\n"
		"\n"
		"a  x\n"
		"b  -\n");
}

static void texts_of_several_lines_stand_below(void)
{
	renders("{\"body\":\"one\\ntwo\",\"id\":3,\"sub\":{\"k\":\"v\"},\"no\":{},\"l\":[]}",
		(struct mr_render){ 0 },
		"body\n"
		"  one\n"
		"  two\n"
		"id    3\n"
		"sub\n"
		"  k  v\n"
		"no    {}\n"
		"l     -\n");
}

static void colour_only_when_asked(void)
{
	renders("{\"k\":\"v\"}", (struct mr_render){ .colour = true }, "\033[2mk\033[0m  v\n");
	renders("[{\"k\":\"v\"}]", (struct mr_render){ .colour = true }, "\033[1mk\033[0m\nv\n");
}

static void foreign_text_cannot_drive_the_terminal(void)
{
	renders("{\"k\":\"a\\u001b[31mb\\u009bc\\u202ed\\re\"}", (struct mr_render){ 0 },
		"k  a\xef\xbf\xbd[31mb\xef\xbf\xbd"
		"c\xef\xbf\xbd"
		"d\xef\xbf\xbd"
		"e\n");
}

static void messages_keep_their_lines(void)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, 4096);
	mr_render_text(&text, "a\n\tb\x1b");
	CHECK_STR(mr_buf_text(&text), "a\n\tb\xef\xbf\xbd");
}

static void times_are_told_to_who_looks_now(void)
{
	static const char json[] = "{\"read_at\":\"2026-03-11T04:15:00.123456Z\",\"seen_ts\":null,"
				   "\"at\":\"2026-03-11T04:15:00Z\",\"sent_at\":\"noon\","
				   "\"rows\":[{\"expires_ts\":\"2026-03-11T05:18:00Z\"}]}";

	renders(json, (struct mr_render){ .width = 80, .now_us = INT64_C(1773202680123456) },
		"read at  3 min ago\n"
		"seen ts  -\n"
		"at       2026-03-11T04:15:00Z\n"
		"sent at  noon\n"
		"rows\n"
		"  expires ts\n"
		"  in 1 h\n");
	renders(json, (struct mr_render){ 0 },
		"read at  2026-03-11T04:15:00.123456Z\n"
		"seen ts  -\n"
		"at       2026-03-11T04:15:00Z\n"
		"sent at  noon\n"
		"rows\n"
		"  expires ts\n"
		"  2026-03-11T05:18:00Z\n");
}

static void tables_that_would_lose_most_are_records(void)
{
	static const char json[] = "[{\"name\":\"one two three four five\",\"path\":"
				   "\"/a/path/that/is/as/long/as/they/get/to/be\"}]";

	renders(json, (struct mr_render){ .width = 40 },
		"name                 path\n"
		"one two three four\xe2\x80\xa6  /a/path/that/is/as\xe2\x80\xa6\n");
	renders(json, (struct mr_render){ .width = 30 },
		"name  one two three four five\n"
		"path  /a/path/that/is/as/long/as/they/get/to/be\n");
}

/* Results about mail, as an operation's own rendering shows them. */
static void shows(void (*render)(struct mr_buf *, const struct mr_value *,
			  const struct mr_render *),
	const char *json, struct mr_render how, const char *expected)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *value;
	struct mr_err err;

	mr_buf_init(&text, 1 << 16);
	CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), NULL, &value, &err), err);
	render(&text, value, &how);
	CHECK_STR(mr_buf_text(&text), expected);
}

#define INBOX                                                                                      \
	"{\"result\":[{\"id\":12,\"from\":\"GreenCastle\",\"subject\":\"Build\\u001b[31m "         \
	"broken\",\"importance\":\"urgent\",\"ack_required\":true,\"created_ts\":"                 \
	"\"2026-03-11T04:15:00.123456Z\",\"kind\":\"to\",\"read_ts\":null,\"ack_ts\":null},"       \
	"{\"id\":3,\"from\":\"RedCat\",\"subject\":\"\",\"importance\":\"normal\",\"ack_"          \
	"required\":"                                                                              \
	"false,\"created_ts\":\"2026-03-11T03:15:00.000000Z\",\"kind\":\"cc\",\"read_ts\":\"x\","  \
	"\"ack_ts\":null}]}"

static void inboxes_look_like_mail(void)
{
	struct mr_render at_80 = { .width = 80, .now_us = INT64_C(1773202680123456) };

	shows(mr_render_inbox, "{\"result\":[]}", (struct mr_render){ 0 }, "No messages.\n");
	shows(mr_render_inbox, INBOX, (struct mr_render){ 0 },
		"id  from         subject            state           when\n"
		"12  GreenCastle  Build\xef\xbf\xbd[31m broken  new urgent ack  2026-03-11 04:15 "
		"UTC\n"
		" 3  RedCat       (no subject)                       2026-03-11 03:15 UTC\n"
		"\n"
		"2 messages, 1 new, 1 urgent, 1 to acknowledge\n");
	shows(mr_render_inbox, INBOX, at_80,
		"id  from         subject            state           when\n"
		"12  GreenCastle  Build\xef\xbf\xbd[31m broken  new urgent ack  3 min ago\n"
		" 3  RedCat       (no subject)                       1 h ago\n"
		"\n"
		"2 messages, 1 new, 1 urgent, 1 to acknowledge\n");
	at_80.width = 30;
	shows(mr_render_inbox, INBOX, at_80,
		"12  GreenCastle  3 min ago  new urgent ack\n"
		"    Build\xef\xbf\xbd[31m broken\n"
		"3  RedCat  1 h ago\n"
		"    (no subject)\n"
		"\n"
		"2 messages, 1 new, 1 urgent, 1 to acknowledge\n");
	shows(mr_render_news,
		"{\"id\":12,\"from\":\"GreenCastle\",\"subject\":\"Build\",\"importance\":\"high\","
		"\"created_ts\":\"2026-03-11T04:15:00.123456Z\",\"kind\":\"to\",\"read_ts\":null}",
		(struct mr_render){ .colour = true },
		"\033[1;31m04:15:00  12  GreenCastle  Build  [new high]\033[0m\n");
}

static void wide_subjects_are_cut_to_the_column(void)
{
	shows(mr_render_outbox,
		"{\"result\":[{\"id\":1,\"to\":[\"BlueLake\",\"RedCat\"],\"subject\":"
		"\"\u65e5\u672c\u8a9e\u306e\u4ef6\u540d\u3067\u3059\u304c\u9577\u3044\","
		"\"importance\":\"normal\",\"created_ts\":\"2026-03-11T04:15:00Z\"}]}",
		(struct mr_render){ .width = 49,
			.colour = true,
			.now_us = INT64_C(1773202500000000) },
		"\033[1mid  to             subject        state  when\033[0m\n"
		" 1  BlueLake, Re\xe2\x80\xa6  "
		"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xae\xe4\xbb\xb6\xe5\x90\x8d\xe2\x80"
		"\xa6         "
		"just now\n"
		"\n"
		"\033[2m1 message\033[0m\n");
}

static void letters(void)
{
	shows(mr_render_message,
		"{\"id\":2,\"from\":\"GreenCastle\",\"sender_project\":\"backend\",\"is_human\":"
		"false,"
		"\"to\":[\"BlueLake\"],\"cc\":[],\"subject\":\"Plan\",\"thread_id\":\"T\",\"reply_"
		"to\":1,"
		"\"created_ts\":\"2026-03-11T04:15:00Z\",\"importance\":\"low\",\"attachments\":["
		"{\"type\":\"file\",\"path\":\"a.webp\",\"media_type\":\"image/webp\"},"
		"{\"type\":\"error\",\"reason\":\"bad\"}],\"body_md\":\"# Hi\\n\\u0007text\"}",
		(struct mr_render){ 0 },
		"2  Plan\n"
		"from    GreenCastle (backend)\n"
		"to      BlueLake\n"
		"date    2026-03-11 04:15 UTC\n"
		"thread  T, answers 1\n"
		"state   low\n"
		"files   a.webp (image/webp); error (bad)\n"
		"\n"
		"# Hi\n"
		"\xef\xbf\xbdtext\n");
	shows(mr_render_thread, "{\"messages\":[],\"next_cursor\":null}", (struct mr_render){ 0 },
		"No messages.\n");
	shows(mr_render_thread,
		"{\"messages\":[{\"id\":1,\"from\":\"A\",\"to\":[],\"is_human\":true,\"subject\":\"x\","
		"\"body_md\":\"\"}],\"next_cursor\":7}",
		(struct mr_render){ 0 },
		"1  x\n"
		"from    A, a person\n"
		"date    -\n"
		"\n"
		"\n"
		"\n"
		"There is more: --cursor 7\n");
	shows(mr_render_threads, "{\"result\":[]}", (struct mr_render){ 0 }, "No conversations.\n");
	shows(mr_render_threads,
		"{\"result\":[{\"thread_id\":\"T\",\"subject\":\"Plan\",\"messages\":12,\"last_"
		"from\":"
		"\"RedCat\",\"last_ts\":\"2026-03-11T04:15:00Z\"}]}",
		(struct mr_render){ 0 },
		"thread  subject  messages  last from  when\n"
		"T       Plan           12  RedCat     2026-03-11 04:15 UTC\n");
}

static void what_became_of_a_message(void)
{
	shows(mr_render_sent,
		"{\"deliveries\":[{\"project\":\"/b\",\"payload\":{\"id\":4,\"to\":[\"RedCat\"],"
		"\"cc\":[\"A\",\"B\"],\"bcc\":[],\"thread_id\":\"T\"}}],\"auto_registered\":[\"A\"]"
		","
		"\"blocked_recipients\":[{\"name\":\"C\",\"project\":\"p\",\"reason\":\"block_"
		"all\"}],"
		"\"contact_requests\":[{\"to\":{\"agent\":\"C\"}}],"
		"\"warnings\":[{\"path\":\"agents/A/inbox/2026/03/*.md\"}],\"repeated\":true}",
		(struct mr_render){ 0 },
		"Sent message 4 to RedCat, cc A, B (thread T)\n"
		"  now registered: A\n"
		"  not sent to C@p: block_all\n"
		"  asked for contact: C\n"
		"  somebody holds a lease on agents/A/inbox/2026/03/*.md\n"
		"  sent before, under the same key; nothing was sent now\n");
}

static void finds_are_marked(void)
{
	static const char json[] =
		"{\"result\":[{\"id\":7,\"subject\":\"Plan\",\"importance\":\"high\","
		"\"created_ts\":\"2026-03-11T04:15:00Z\",\"thread_id\":\"T\",\"from\":\"Blue\","
		"\"snippet\":\"the \\u202eplan of\",\"offsets\":[{\"start\":7,\"end\":11}]}],"
		"\"mode\":\"fts_quoted\"}";

	shows(mr_render_hits, json, (struct mr_render){ 0 },
		"7  Plan  Blue, T, high, 2026-03-11 04:15 UTC\n"
		"    the \xef\xbf\xbdplan of\n"
		"the query was read as plain words\n");
	shows(mr_render_hits, json, (struct mr_render){ .colour = true },
		"7  \033[1mPlan\033[0m  \033[2mBlue, T, high, 2026-03-11 04:15 UTC\033[0m\n"
		"    the \xef\xbf\xbd\033[1mplan\033[0m of\n"
		"\033[2mthe query was read as plain words\n\033[0m");
	shows(mr_render_hits,
		"{\"result\":[{\"id\":1,\"from\":\"A\",\"project\":\"x\"},{\"id\":2,\"from\":\"A\","
		"\"project\":\"y\"}],\"mode\":\"fts\"}",
		(struct mr_render){ 0 },
		"1  (no subject)  A, x, -\n"
		"2  (no subject)  A, y, -\n");
	shows(mr_render_hits, "{\"result\":[],\"mode\":\"like\"}", (struct mr_render){ 0 },
		"nothing found\n"
		"looked for in the texts themselves, newest first\n");
}

static void summaries_read_well(void)
{
#define SUMMARY                                                                                    \
	"\"thread_id\":\"T\",\"summary\":{\"participants\":[\"A\",\"B\"],"                         \
	"\"key_points\":[\"one\"],\"action_items\":[\"- [ ] two\"],\"total_messages\":2,"          \
	"\"open_actions\":1,\"done_actions\":0,\"mentions\":[{\"name\":\"A\",\"count\":3},"        \
	"{\"name\":\"B\",\"count\":1}],\"code_references\":[\"src/a.c\"],\"source\":\"llm\"}"
#define SHOWN                                                                                      \
	"T: 2 messages by A, B, worded by a model\n"                                               \
	"points\n  one\nactions, 1 open, 0 done\n  - [ ] two\nmentions\n  @A 3, @B 1\n"            \
	"paths\n  src/a.c\n"

	shows(mr_render_summary,
		"{" SUMMARY ",\"examples\":[{\"id\":1,\"subject\":\"S\",\"from\":\"A\","
		"\"created_ts\":\"2026-03-11T04:15:00Z\"}]}",
		(struct mr_render){ 0 }, SHOWN "first messages\n  1  S  A, 2026-03-11 04:15 UTC\n");
	shows(mr_render_summary,
		"{\"threads\":[{" SUMMARY "}],\"aggregate\":{\"top_mentions\":[],"
		"\"action_items\":[],\"key_points\":[\"one\"]}}",
		(struct mr_render){ 0 }, SHOWN "\ntogether\npoints\n  one\n");
	shows(mr_render_summary,
		"{\"thread_id\":\"none\",\"summary\":{\"total_messages\":0},\"examples\":[]}",
		(struct mr_render){ 0 }, "none: 0 messages\n");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(times_are_told_to_who_looks_now),
		TEST(tables_that_would_lose_most_are_records),
		TEST(inboxes_look_like_mail),
		TEST(wide_subjects_are_cut_to_the_column),
		TEST(letters),
		TEST(what_became_of_a_message),
		TEST(finds_are_marked),
		TEST(summaries_read_well),
		TEST(members_are_aligned),
		TEST(lists_of_objects_are_tables),
		TEST(tables_fit_the_terminal),
		TEST(texts_of_several_lines_stand_below),
		TEST(colour_only_when_asked),
		TEST(foreign_text_cannot_drive_the_terminal),
		TEST(messages_keep_their_lines),
	};

	return test_main(tests, MR_LEN(tests));
}
