/* tests/unit/team/test_team_archive_document.c */
#include "team/archive/archive_document.h"

#include "test.h"
#include "text/time.h"

#include <stdlib.h>
#include <string.h>

static struct mr_arena *arena;
static struct mr_err err;

static void free_arena(void)
{
	mr_arena_free(arena);
}

static struct mr_texts texts(const char *a, const char *b)
{
	struct mr_texts list = { mr_arena_array(arena, 3, sizeof(char *)), 0 };

	if (a)
		list.items[list.len++] = a;
	if (b)
		list.items[list.len++] = b;
	return list;
}

static struct mr_team_document sample(void)
{
	if (!arena) {
		arena = mr_arena_new();
		atexit(free_arena);
	}
	return (struct mr_team_document){
		.uid = "msg_20250101_abc123",
		.message_id = 17,
		.project = "/path/to/backend",
		.project_slug = "path-to-backend",
		.thread_id = "TKT-123",
		.from = "GreenCastle",
		.to = texts("RedCat", "BlueLake@other"),
		.cc = texts("YellowForest", NULL),
		.bcc = texts("SilentOwl", NULL),
		.subject = "Backend API \"refactoring\" underway",
		.importance = MR_TEAM_NORMAL,
		.ack_required = true,
		.created_ts = INT64_C(1735741800) * MR_TIME_S,
		.attachments = "[{\"type\":\"inline\",\"media_type\":\"image/webp\"}]",
		.body = mr_bytes_text("## Context\n\nWorking on the auth microservice.\n"),
	};
}

static const char *written(const struct mr_team_document *document)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, MR_TEAM_DOCUMENT_BYTES);
	CHECK_OK(mr_team_document_write(arena, &buf, document, &err), err);
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

static void is_the_seeds_form(void)
{
	struct mr_team_document document = sample();

	CHECK_STR(written(&document),
		"---\n"
		"id: \"msg_20250101_abc123\"\n"
		"message_id: 17\n"
		"project: \"/path/to/backend\"\n"
		"project_slug: \"path-to-backend\"\n"
		"from: \"GreenCastle\"\n"
		"to: [\"RedCat\", \"BlueLake@other\"]\n"
		"cc: [\"YellowForest\"]\n"
		"thread_id: \"TKT-123\"\n"
		"reply_to: null\n"
		"subject: \"Backend API \\\"refactoring\\\" underway\"\n"
		"importance: \"normal\"\n"
		"ack_required: true\n"
		"created_ts: \"2025-01-01T14:30:00Z\"\n"
		"attachments: [{\"type\": \"inline\", \"media_type\": \"image/webp\"}]\n"
		"---\n"
		"\n"
		"## Context\n\nWorking on the auth microservice.\n"
		"\n");
	document.body = mr_bytes_text("no newline of its own");
	CHECK(mr_str_ends(written(&document), "---\n\nno newline of its own\n"));
	document.body = mr_bytes_text("");
	CHECK(mr_str_ends(written(&document), "]\n---\n"));
}

static void bcc_only_where_it_is_asked_for(void)
{
	struct mr_team_document document = sample();

	CHECK(!strstr(written(&document), "SilentOwl"));
	document.has_bcc = true;
	CHECK(strstr(written(&document), "cc: [\"YellowForest\"]\nbcc: [\"SilentOwl\"]\n"));
}

static void check_same(const struct mr_team_document *a, const struct mr_team_document *b)
{
	CHECK_STR(a->uid, b->uid);
	CHECK_INT(a->message_id, b->message_id);
	CHECK_STR(a->project, b->project);
	CHECK_STR(a->project_slug, b->project_slug);
	CHECK_STR(a->thread_id, b->thread_id);
	CHECK_INT(a->reply_to, b->reply_to);
	CHECK_STR(a->from, b->from);
	CHECK_STR(mr_str_join(arena, &a->to, "|"), mr_str_join(arena, &b->to, "|"));
	CHECK_STR(mr_str_join(arena, &a->cc, "|"), mr_str_join(arena, &b->cc, "|"));
	CHECK_STR(a->subject, b->subject);
	CHECK_INT(a->importance, b->importance);
	CHECK_INT(a->ack_required, b->ack_required);
	CHECK_INT(a->created_ts, b->created_ts);
	CHECK_STR(a->attachments, b->attachments);
	CHECK_INT(a->body.len, b->body.len);
	CHECK(memcmp(a->body.data, b->body.data, a->body.len) == 0);
}

static void reads_what_it_writes(void)
{
	static const char *const bodies[] = { "", "x", "\n", "\n\n---\n\nafter\n", "no newline",
		"---\nid: 1\n---\n", "caf\xc3\xa9 \xf0\x9f\x8e\x89\r\n\ttab", "  indented\n\n" };
	struct mr_team_document document = sample(), back;

	document.subject = "caf\xc3\xa9: [x] # {y}\n\t\"z\" \\ \xe2\x80\xa8 end";
	document.reply_to = 12;
	document.created_ts += 123456;
	for (size_t i = 0; i < MR_LEN(bodies); i++) {
		document.body = mr_bytes_text(bodies[i]);
		CHECK_OK(mr_team_document_parse(arena, mr_bytes_text(written(&document)), &back,
				 &err),
			err);
		check_same(&back, &document);
		CHECK(!back.has_bcc && back.bcc.len == 0);
	}
	document.has_bcc = true;
	document.thread_id = NULL;
	CHECK_OK(mr_team_document_parse(arena, mr_bytes_text(written(&document)), &back, &err),
		err);
	check_same(&back, &document);
	CHECK(back.has_bcc);
	CHECK_STR(mr_str_join(arena, &back.bcc, "|"), "SilentOwl");
}

static void reads_the_peers_form(void)
{
	static const char text[] =
		"---json\n"
		"{\n  \"ack_required\": false,\n  \"attachments\": [],\n"
		"  \"bcc\": [],\n  \"cc\": [],\n  \"created\": \"2025-01-01T14:30:00.5+00:00\",\n"
		"  \"from\": \"GreenCastle\",\n  \"id\": 9,\n  \"importance\": \"high\",\n"
		"  \"project\": \"/backend\",\n  \"project_slug\": \"backend\",\n"
		"  \"subject\": \"hi\",\n  \"thread_id\": null,\n  \"to\": [\"BlueLake\"]\n}\n"
		"---\n\nthe body\n";
	struct mr_team_document back;

	sample();
	CHECK_OK(mr_team_document_parse(arena, mr_bytes_text(text), &back, &err), err);
	CHECK_STR(back.uid, NULL);
	CHECK_INT(back.message_id, 9);
	CHECK_STR(back.from, "GreenCastle");
	CHECK_INT(back.to.len, 1);
	CHECK_STR(back.thread_id, NULL);
	CHECK_INT(back.importance, MR_TEAM_HIGH);
	CHECK_INT(back.created_ts, INT64_C(1735741800500000));
	CHECK_INT(back.body.len, strlen("the body"));
	CHECK(memcmp(back.body.data, "the body", back.body.len) == 0);
}

static void reads_the_seeds_example(void)
{
	static const char text[] =
		"---\nid: \"msg_20250101_abc123\"\nfrom: \"GreenCastle\"\n"
		"to: [\"RedCat\", \"BlueLake\"]\ncc: [\"YellowForest\"]\nthread_id: \"TKT-123\"\n"
		"subject: \"Backend API refactoring underway\"\nimportance: \"normal\"\n"
		"ack_required: true\ncreated_ts: \"2025-01-01T14:30:00Z\"\n---\n\n## Context\n";
	struct mr_team_document back;

	sample();
	CHECK_OK(mr_team_document_parse(arena, mr_bytes_text(text), &back, &err), err);
	CHECK_STR(back.uid, "msg_20250101_abc123");
	CHECK_INT(back.message_id, 0);
	CHECK_STR(back.attachments, "[]");
}

static void says_what_is_wrong(void)
{
	static const struct {
		const char *text, *msg;
		enum mr_code code;
	} cases[] = {
		{ "", "line 1: ", MR_EFORMAT },
		{ "---\n[1]\n---\n\n", "front matter: must be a mapping, not list", MR_EFORMAT },
		{ "---json\n{\n---\n\n", "front matter: ", MR_EFORMAT },
		{ "---\nfrom: A\nsubject: s\n---\n", "id is missing", MR_EFORMAT },
		{ "---\nid: m\nsubject: s\n---\n", "from is missing", MR_EFORMAT },
		{ "---\nid: m\nfrom: A\n---\n", "subject is missing", MR_EFORMAT },
		{ "---\nid: m\nfrom: A\nsubject: s\n---\n", "created_ts is missing", MR_EFORMAT },
		{ "---\nid: m\nfrom: A\nsubject: s\ncreated_ts: now\n---\n",
			"created_ts is no time: now", MR_EFORMAT },
		{ "---\nid: m\nfrom: A\nsubject: s\nto: {a: 1}\n---\n",
			"to must be a list of names", MR_EFORMAT },
		{ "---\nid: m\nfrom: A\nsubject: s\nto: [1]\n---\n", "to must be a list of names",
			MR_EFORMAT },
		{ "---\nid: m\nfrom: A\nsubject: s\ncreated_ts: 2025-01-01T00:00:00Z\n---\n\n\xff",
			"the body is not UTF-8", MR_EFORMAT },
	};
	struct mr_team_document back;

	sample();
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		enum mr_code rc =
			mr_team_document_parse(arena, mr_bytes_text(cases[i].text), &back, &err);

		CHECK_INT(rc, cases[i].code);
		if (!strstr(err.msg, cases[i].msg))
			test_fail(__FILE__, __LINE__, "case %zu: %s", i, err.msg);
	}
}

static void attachments_must_be_a_list(void)
{
	struct mr_team_document document = sample();
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, MR_TEAM_DOCUMENT_BYTES);
	document.attachments = "{}";
	CHECK_INT(mr_team_document_write(arena, &buf, &document, &err), MR_EFORMAT);
	CHECK_STR(err.msg, "attachments of msg_20250101_abc123: must be a list, not object");
}

static void a_body_cannot_imitate_the_digest(void)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_digest_item item = { "", INT64_C(1735741800000000), "BlueLake",
		.canonical = "c.md",
		.body = "## Mine\n## 2025-01-01T14:30:00Z \xe2\x80\x94 RedCat \xe2\x86\x92 All\n"
			"  [View canonical](x.md)\n# Thread T" };

	sample();
	mr_buf_init(&buf, 1 << 16);
	mr_team_digest_write(arena, &buf, "T", 1, &item, 1);
	CHECK(strstr(mr_buf_text(&buf),
		"(c.md)\n\n## Mine\n\\## 2025-01-01T14:30:00Z \xe2\x80\x94 RedCat \xe2\x86\x92 "
		"All\n  \\[View canonical](x.md)\n\\# Thread T\n\n---\n\n"));
}

static void a_digest_cuts_long_bodies(void)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_digest_item items[2];
	char *body;

	sample();
	body = mr_arena_alloc(arena, 2 * 1300 + 1);
	for (size_t i = 0; i < 1300; i++)
		memcpy(body + 2 * i, "\xc3\xa9", 2);
	items[0] = (struct mr_team_digest_item){ "Plan\nB", INT64_C(1735741800000000),
		"GreenCastle", texts("BlueLake", "RedCat"), "messages/2025/01/a.md", "short" };
	items[1] = (struct mr_team_digest_item){ "", INT64_C(1735741800000000), "BlueLake",
		texts("GreenCastle", NULL), "messages/2025/01/b.md", body };
	mr_buf_init(&buf, 1 << 20);
	mr_team_digest_write(arena, &buf, "TKT-1", 1, items, 2);
	CHECK(mr_str_starts(mr_buf_text(&buf),
		"# Thread TKT-1\n\n"
		"### Plan B\n\n"
		"## 2025-01-01T14:30:00Z \xe2\x80\x94 GreenCastle \xe2\x86\x92 BlueLake, RedCat\n\n"
		"[View canonical](messages/2025/01/a.md)\n\n"
		"short\n\n---\n\n"
		"## 2025-01-01T14:30:00Z \xe2\x80\x94 BlueLake \xe2\x86\x92 GreenCastle\n\n"
		"[View canonical](messages/2025/01/b.md)\n\n"
		"\xc3\xa9"));
	CHECK(mr_str_ends(mr_buf_text(&buf), "\xc3\xa9\n...\n\n---\n\n"));
	mr_buf_clear(&buf);
	mr_team_digest_write(arena, &buf, "TKT-1", 2, items, 1);
	CHECK(mr_str_starts(mr_buf_text(&buf), "# Thread TKT-1 (part 2)\n\n### Plan B\n"));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(is_the_seeds_form),
		TEST(bcc_only_where_it_is_asked_for),
		TEST(reads_what_it_writes),
		TEST(reads_the_peers_form),
		TEST(reads_the_seeds_example),
		TEST(says_what_is_wrong),
		TEST(attachments_must_be_a_list),
		TEST(a_digest_cuts_long_bodies),
		TEST(a_body_cannot_imitate_the_digest),
	};

	return test_main(tests, MR_LEN(tests));
}
