/* tests/unit/text/test_frontmatter.c */
#include "text/frontmatter.h"

#include "test.h"

#include <string.h>

static const char *as_text(struct mr_arena *arena, struct mr_bytes bytes)
{
	return mr_arena_strndup(arena, (const char *)bytes.data, bytes.len);
}

static void splits(void)
{
	static const struct {
		const char *document;
		enum mr_frontmatter_form form;
		const char *head;
		const char *body;
	} cases[] = {
		{ "---\na: 1\n---\n\nbody", MR_FRONTMATTER_YAML, "a: 1\n", "body" },
		{ "---\na: 1\n---\n", MR_FRONTMATTER_YAML, "a: 1\n", "" },
		{ "---\na: 1\n---\n\n", MR_FRONTMATTER_YAML, "a: 1\n", "" },
		{ "---\na: 1\n---\nbody\n", MR_FRONTMATTER_YAML, "a: 1\n", "body\n" },
		{ "---\na: 1\n---\n\n\n\nx\n\n", MR_FRONTMATTER_YAML, "a: 1\n", "\n\nx\n\n" },
		{ "---\na: 1\n---\n\n---\nb\n---\n", MR_FRONTMATTER_YAML, "a: 1\n",
			"---\nb\n---\n" },
		{ "---\na: ---\n --- \n----\n---x\n---\nb", MR_FRONTMATTER_YAML,
			"a: ---\n --- \n----\n---x\n", "b" },
		{ "---\n\na: 1\n\n---\n\nb", MR_FRONTMATTER_YAML, "\na: 1\n\n", "b" },
		{ "---json\n{\n  \"a\": 1\n}\n---\n\nbody\n", MR_FRONTMATTER_JSON,
			"{\n  \"a\": 1\n}\n", "body\n" },
		{ "---\r\na: 1\r\n---\r\n\r\nx\r\ny", MR_FRONTMATTER_YAML, "a: 1\r\n", "x\r\ny" },
		{ "---json\r\n{}\r\n---\r\nx", MR_FRONTMATTER_JSON, "{}\r\n", "x" },
		{ "---\r\na: 1\r\n---\r\n\r\n\r\nx", MR_FRONTMATTER_YAML, "a: 1\r\n", "\r\nx" },
		{ "---\na: 1\n---\r\n\nx", MR_FRONTMATTER_YAML, "a: 1\n", "x" },
		/* Without CRLF framing a CR belongs to the body. */
		{ "---\na: 1\n---\n\r\nx", MR_FRONTMATTER_YAML, "a: 1\n", "\r\nx" },
		{ "---\na: 1\n---\n\n\r\nx", MR_FRONTMATTER_YAML, "a: 1\n", "\r\nx" },
		{ "---\n\xff\n---\n\n\xfe", MR_FRONTMATTER_YAML, "\xff\n", "\xfe" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_frontmatter got;
		struct mr_err err;

		CHECK_OK(mr_frontmatter_split(mr_bytes_text(cases[i].document), 0, &got, &err),
			err);
		CHECK_INT(got.form, cases[i].form);
		CHECK_STR(as_text(arena, got.head), cases[i].head);
		CHECK_STR(as_text(arena, got.body), cases[i].body);
	}
}

static void says_what_is_missing(void)
{
	static const struct {
		const char *document;
		const char *why;
	} cases[] = {
		{ "", "line 1: the document does not begin with a line \"---\"" },
		{ "a", "line 1: the document does not begin with a line \"---\"" },
		{ "\n---\na: 1\n---\n", "line 1: the document does not begin with a line \"---\"" },
		{ " ---\na: 1\n---\n", "line 1: the document does not begin with a line \"---\"" },
		{ "--- \na: 1\n---\n", "line 1: the document does not begin with a line \"---\"" },
		{ "---yaml\na: 1\n---\n",
			"line 1: the document does not begin with a line \"---\"" },
		{ "\xef\xbb\xbf---\na: 1\n---\n",
			"line 1: a byte order mark stands before \"---\"" },
		{ "---", "line 1: nothing follows the opening \"---\"" },
		{ "---json", "line 1: nothing follows the opening \"---\"" },
		{ "---\r", "line 1: the document does not begin with a line \"---\"" },
		{ "---\n", "line 2: the front matter is not closed by a line \"---\"" },
		{ "---\na: 1\nb: 2\n", "line 4: the front matter is not closed by a line \"---\"" },
		{ "---\na: 1\n --- \n...",
			"line 5: the front matter is not closed by a line \"---\"" },
		{ "---\na: 1\n---", "line 3: the closing \"---\" has no newline after it" },
		{ "---\na: 1\n---\r", "line 4: the front matter is not closed by a line \"---\"" },
		{ "---\n---\n", "line 2: the front matter is empty" },
		{ "---\n---\na: 1\n---\n", "line 2: the front matter is empty" },
		{ "---json\n---\n", "line 2: the front matter is empty" },
		{ "---\n \t\r\n\n---\n\nbody", "line 2: the front matter is empty" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_frontmatter got = { .body = { .len = 77 } };
		struct mr_err err;

		CHECK_INT(mr_frontmatter_split(mr_bytes_text(cases[i].document), 0, &got, &err),
			MR_EFORMAT);
		CHECK_STR(err.msg, cases[i].why);
		CHECK_INT(got.body.len, 77);
	}
}

static void limits_the_head(void)
{
	static const struct {
		const char *document;
		size_t max;
		const char *why;
	} cases[] = {
		{ "---\na: 1\n---\n\nlong body of no concern", 5, NULL },
		{ "---\na: 12\n---\n", 5, "line 3: the front matter is longer than 5 bytes" },
		{ "---\nabcdefgh", 5, "line 3: the front matter is longer than 5 bytes" },
		{ "---\na\nb\nc\nd\ne\n---\n", 5,
			"line 5: the front matter is longer than 5 bytes" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_frontmatter got;
		struct mr_err err = { 0 };
		enum mr_code rc = mr_frontmatter_split(mr_bytes_text(cases[i].document),
			cases[i].max, &got, &err);

		CHECK_INT(rc, cases[i].why ? MR_ELIMIT : MR_OK);
		CHECK_STR(cases[i].why ? err.msg : NULL, cases[i].why);
	}
}

static void has_a_default_limit(void)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_frontmatter got;
	struct mr_err err;

	mr_buf_init(&text, 4 << 20);
	mr_buf_puts(&text, "---\n");
	mr_buf_pad(&text, 'a', MR_FRONTMATTER_HEAD_BYTES - 1);
	mr_buf_puts(&text, "\n---\n");
	CHECK_OK(mr_frontmatter_split(mr_buf_bytes(&text), 0, &got, &err), err);
	CHECK_INT(got.head.len, MR_FRONTMATTER_HEAD_BYTES);
	mr_buf_clear(&text);
	mr_buf_puts(&text, "---\n");
	mr_buf_pad(&text, 'a', MR_FRONTMATTER_HEAD_BYTES);
	mr_buf_puts(&text, "\n---\n");
	CHECK_INT(mr_frontmatter_split(mr_buf_bytes(&text), 0, &got, &err), MR_ELIMIT);
}

static void joins_what_splits_again(void)
{
	static const struct mr_frontmatter cases[] = {
		{ MR_FRONTMATTER_YAML, { (const uint8_t *)"a: 1\n", 5 },
			{ (const uint8_t *)"body", 4 } },
		{ MR_FRONTMATTER_YAML, { (const uint8_t *)"a: 1\n", 5 }, { NULL, 0 } },
		{ MR_FRONTMATTER_YAML, { (const uint8_t *)"a: 1\n", 5 },
			{ (const uint8_t *)"\n\nx", 3 } },
		{ MR_FRONTMATTER_JSON, { (const uint8_t *)"{}\n", 3 },
			{ (const uint8_t *)"\r\n---\n", 6 } },
		{ MR_FRONTMATTER_YAML, { (const uint8_t *)"a: 1\r\n", 6 },
			{ (const uint8_t *)"n\0u\xff", 4 } },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
		struct mr_frontmatter got;
		struct mr_err err;

		mr_buf_init(&text, 1000);
		CHECK_OK(mr_frontmatter_join(&text, &cases[i], &err), err);
		CHECK_OK(mr_frontmatter_split(mr_buf_bytes(&text), 0, &got, &err), err);
		CHECK_INT(got.form, cases[i].form);
		CHECK_INT(got.head.len, cases[i].head.len);
		CHECK_INT(got.body.len, cases[i].body.len);
		CHECK(memcmp(got.head.data, cases[i].head.data, got.head.len) == 0);
		CHECK(got.body.len == 0 ||
			memcmp(got.body.data, cases[i].body.data, got.body.len) == 0);
	}
}

static void writes_the_canonical_frame(void)
{
	struct mr_frontmatter parts = { MR_FRONTMATTER_YAML, mr_bytes_text("a: 1\n"),
		mr_bytes_text("x") };
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&text, 1000);
	CHECK_OK(mr_frontmatter_join(&text, &parts, &err), err);
	CHECK_STR(mr_buf_text(&text), "---\na: 1\n---\n\nx");
	mr_buf_clear(&text);
	parts.body.len = 0;
	CHECK_OK(mr_frontmatter_join(&text, &parts, &err), err);
	CHECK_STR(mr_buf_text(&text), "---\na: 1\n---\n");
}

static void does_not_join_what_would_not_split(void)
{
	static const struct {
		const char *head;
		const char *why;
	} cases[] = {
		{ "", "the front matter is empty" },
		{ " \n\n", "the front matter is empty" },
		{ "a: 1", "the front matter does not end in a newline" },
		{ "a: 1\n---\nb: 2\n",
			"line 3 of the document would be \"---\" and end the front matter early" },
		{ "---\r\na: 1\n",
			"line 2 of the document would be \"---\" and end the front matter early" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_frontmatter parts = { .head = mr_bytes_text(cases[i].head) };
		struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
		struct mr_err err;

		mr_buf_init(&text, 1000);
		CHECK_INT(mr_frontmatter_join(&text, &parts, &err), MR_EINVAL);
		CHECK_STR(err.msg, cases[i].why);
		CHECK_INT(text.len, 0);
	}
}

static void a_full_buffer_is_an_error(void)
{
	struct mr_frontmatter parts = { .head = mr_bytes_text("a: 1\n") };
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&text, 10);
	CHECK_INT(mr_frontmatter_join(&text, &parts, &err), MR_ELIMIT);
	CHECK(strstr(err.msg, "the document"));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(splits),
		TEST(says_what_is_missing),
		TEST(limits_the_head),
		TEST(has_a_default_limit),
		TEST(joins_what_splits_again),
		TEST(writes_the_canonical_frame),
		TEST(does_not_join_what_would_not_split),
		TEST(a_full_buffer_is_an_error),
	};
	return test_main(tests, MR_LEN(tests));
}
