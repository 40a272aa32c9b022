/* tests/unit/text/test_imap_response.c */
#include "test.h"
#include "text/imap_response.h"

#include <stdlib.h>
#include <string.h>

static struct mr_arena *arena;

static enum mr_code measured(const char *text, size_t len, size_t *out)
{
	struct mr_imap_measure measure = { .max_bytes = 1000 };
	struct mr_err err;

	return mr_imap_measure(&measure, mr_bytes_of(text, len), out, &err);
}

static void ends(const char *text, size_t want)
{
	size_t len = strlen(text);
	size_t got = 0;
	struct mr_imap_measure measure = { .max_bytes = 1000 };
	struct mr_err err;

	CHECK_INT(measured(text, len, &got), MR_OK);
	CHECK_INT(got, want);
	/* The same byte by byte. */
	for (size_t have = 1; have <= len; have++) {
		CHECK_INT(mr_imap_measure(&measure, mr_bytes_of(text, have), &got, &err), MR_OK);
		CHECK_INT(got, want && have >= want ? want : 0);
		if (got)
			break;
	}
}

static void a_response_ends_behind_its_literals(void)
{
	ends("* OK ready\r\n* NO more", 12);
	ends("* OK ready", 0);
	ends("* 1 FETCH (BODY[] {5}\r\nab\r\nc)\r\nrest", 31);
	ends("* 1 FETCH (BODY[] {5}\r\nab\r\n", 0);
	ends("* 1 FETCH (X ~{2}\r\nab Y {0}\r\n)\r\n", 32);
	ends("* LIST () \"/\" {3+}\r\na b\r\n", 25);
	/* A text for people is no literal, whatever it ends with. */
	ends("* OK see {12}\r\n", 15);
	ends("a1 NO {3}\r\n", 11);
	ends("+ go {3}\r\n", 10);
	ends("* SEARCH\n", 9);
	ends("* X {}\r\n", 8);
	ends("* X 3}\r\n", 8);
	ends("* X {9999999999999999999}\r\n", 27);
}

static void a_response_has_a_limit(void)
{
	struct mr_imap_measure measure = { .max_bytes = SIZE_MAX };
	char *line = malloc(MR_IMAP_LINE_BYTES + 10);
	struct mr_err err;
	size_t len;

	CHECK_INT(measured("* X {1001}\r\n", 12, &len), MR_ELIMIT);
	CHECK_INT(measured("* X {999999999999999999}\r\n", 26, &len), MR_ELIMIT);
	memset(line, 'x', MR_IMAP_LINE_BYTES + 10);
	CHECK_INT(mr_imap_measure(&measure, mr_bytes_of(line, MR_IMAP_LINE_BYTES + 10), &len, &err),
		MR_ELIMIT);
	CHECK(strstr(err.msg, "longer than"));
	free(line);
}

static void show(struct mr_buf *out, const struct mr_imap_node *node)
{
	switch (node->kind) {
	case MR_IMAP_NIL:
		mr_buf_puts(out, "nil");
		break;
	case MR_IMAP_ATOM:
		mr_buf_add(out, node->bytes.data, node->bytes.len);
		break;
	case MR_IMAP_STRING:
		mr_buf_putc(out, '<');
		mr_buf_add(out, node->bytes.data, node->bytes.len);
		mr_buf_putc(out, '>');
		break;
	case MR_IMAP_LIST:
		mr_buf_putc(out, '(');
		for (size_t i = 0; i < node->len; i++) {
			mr_buf_puts(out, i ? " " : "");
			show(out, &node->items[i]);
		}
		mr_buf_putc(out, ')');
		break;
	}
}

/* "tag status name number code text data", as far as they are there. */
static void says(const char *text, const char *want)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_imap_response r;
	struct mr_err err;

	mr_buf_init(&out, 1 << 20);
	if (mr_imap_parse(arena, mr_bytes_text(text), &r, &err)) {
		CHECK_INT(err.code, MR_EFORMAT);
		CHECK_STR(err.msg, want);
		return;
	}
	if (r.is_continuation) {
		mr_buf_printf(&out, "+ %s", r.text);
	} else {
		mr_buf_printf(&out, "%s %s", r.tag ? r.tag : "*", r.name);
		if (r.has_number)
			mr_buf_printf(&out, " %u", r.number);
		if (r.code.len)
			show(&out, &r.code);
		if (r.text)
			mr_buf_printf(&out, " \"%s\"", r.text);
		else
			show(&out, &r.data);
	}
	CHECK_STR(mr_buf_text(&out), want);
}

static void responses_become_trees(void)
{
	says("* OK [UIDVALIDITY 3857529045] UIDs valid\r\n",
		"* OK(UIDVALIDITY 3857529045) \"UIDs valid\"");
	says("a1 OK [COPYUID 1 2:3 4:5] done\r\n", "a1 OK(COPYUID 1 2:3 4:5) \"done\"");
	says("* OK [PERMANENTFLAGS (\\Deleted \\*)] Limited\r\n",
		"* OK(PERMANENTFLAGS (\\Deleted \\*)) \"Limited\"");
	says("* ok\r\n", "* OK \"\"");
	says("* BYE bye\x1b[1m\r\n", "* BYE \"bye?[1m\"");
	says("+ idling\r\n", "+ idling");
	says("+\r\n", "+ ");
	says("* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n", "* CAPABILITY(IMAP4rev1 AUTH=PLAIN)");
	says("* 12 FETCH (UID 7 FLAGS (\\Seen) BODY[HEADER.FIELDS (\"A B\" C)]<0> {3}\r\na\r\n X NIL)\r\n",
		"* FETCH 12((UID 7 FLAGS (\\Seen) BODY[HEADER.FIELDS (\"A B\" C)]<0> <a\r\n> X nil))");
	says("* LIST (\\HasNoChildren) \"/\" \"a \\\"b\\\\\"\r\n",
		"* LIST((\\HasNoChildren) </> <a \"b\\>)");
	says("* LIST () NIL INBOX\r\n", "* LIST(() nil INBOX)");
	says("* SEARCH\r\n", "* SEARCH()");
	says("* search 1 2\r\n", "* SEARCH(1 2)");
	says("* ESEARCH (TAG \"a\") UID ALL 1:3\r\n", "* ESEARCH((TAG <a>) UID ALL 1:3)");
	says("* VANISHED (EARLIER) 1:5\r\n", "* VANISHED((EARLIER) 1:5)");
	says("* 5 EXISTS\r\n", "* EXISTS 5()");
	says("* X ~{2}\r\na)\r\n", "* X(<a)>)");
	/* Brackets have a meaning behind BODY and BINARY alone. */
	says("* 1 FETCH (FLAGS ([x $a]b) BINARY.PEEK[1 2] {1}\r\nc)\r\n",
		"* FETCH 1((FLAGS ([x $a]b) BINARY.PEEK[1 2] <c>))");
	says("* LIST () \"/\" [Old/Mail\r\n", "* LIST(() </> [Old/Mail)");
}

#define SENSELESS "the server's response makes no sense at byte "
static void what_is_no_response_is_told(void)
{
	char deep[200] = "* X ";

	says("", SENSELESS "1: a tag is missing");
	says("*\r\n", SENSELESS "2: a word is missing");
	says("* 5\r\n", SENSELESS "4: a word is missing");
	says("* X (a\r\n", SENSELESS "7: a list is not closed");
	says("* X a)\r\n", SENSELESS "6: a word is missing");
	says("* X \"a\r\n", SENSELESS "7: a quote is not closed");
	says("* X BODY[a\r\n", SENSELESS "11: a bracket is not closed");
	says("* OK [a\r\n", SENSELESS "8: a list is not closed");
	says("* X {3}\r\na", SENSELESS "10: a literal is cut off");
	says("* X {3}", SENSELESS "5: a literal has no bytes");
	says("* X {x}\r\nabc", SENSELESS "5: not a literal");
	for (int i = 0; i <= MR_IMAP_DEPTH; i++)
		deep[4 + i] = '(';
	says(deep, SENSELESS "37: lists are nested too deep");
}

static struct mr_imap_node data_of(const char *text)
{
	struct mr_imap_response r;
	struct mr_err err;

	CHECK_INT(mr_imap_parse(arena, mr_bytes_text(text), &r, &err), MR_OK);
	return r.data;
}

static void members_are_found_by_their_keys(void)
{
	struct mr_imap_node data =
		data_of("* 1 FETCH (UID 18446744073709551615 BODY[HEADER] {1}\r\nh FLAGS () MODSEQ "
			"(9) uid 2)\r\n");
	const struct mr_imap_node *list = &data.items[0];
	uint64_t value;

	CHECK(!mr_imap_number(mr_imap_member(list, "UID"), &value));
	CHECK_STR(mr_imap_text(arena, mr_imap_member(list, "body[")), "h");
	CHECK_INT(mr_imap_member(list, "flags")->kind, MR_IMAP_LIST);
	CHECK(mr_imap_number(&mr_imap_member(list, "MODSEQ")->items[0], &value) && value == 9);
	CHECK(mr_imap_member(list, "BODY") == NULL);
	CHECK(mr_imap_member(NULL, "X") == NULL);
	CHECK(mr_imap_text(arena, mr_imap_member(list, "FLAGS")) == NULL);
	CHECK(mr_imap_text(arena, NULL) == NULL);
}

static void a_set(const char *text, const char *want)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_imap_set set;
	struct mr_err err;

	mr_buf_init(&out, 1 << 20);
	if (mr_imap_set_parse(arena, mr_bytes_text(text), &set, &err)) {
		CHECK_STR(err.msg, want);
		return;
	}
	for (size_t i = 0; i < set.len; i++)
		mr_buf_printf(&out, "%s%u-%u", i ? " " : "", set.ranges[i].first,
			set.ranges[i].last);
	CHECK_STR(mr_buf_text(&out), want);
}

static void sets_are_read(void)
{
	a_set("1", "1-1");
	a_set("3:1,7,9:*", "1-3 7-7 9-4294967295");
	for (size_t i = 0; i < 8; i++) {
		static const char *const bad[] = { "", "0", "1,", ",1", "1:", "4294967296", "a",
			"1 2" };

		a_set(bad[i], "not a set of message numbers");
	}
}

static void sets_are_written_in_pieces(void)
{
	static const uint32_t uids[] = { 1, 2, 3, 7, 10, 11, 4294967294, 4294967295 };
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	size_t at = 0;

	mr_buf_init(&out, 1 << 20);
	mr_imap_put_set(&out, uids, MR_LEN(uids), &at, 100);
	CHECK_STR(mr_buf_text(&out), "1:3,7,10:11,4294967294:4294967295");
	CHECK_INT(at, MR_LEN(uids));
	at = 0;
	for (int piece = 0; at < MR_LEN(uids); piece++) {
		static const char *const want[] = { "1:3,7", "10:11", "4294967294:4294967295" };

		mr_buf_clear(&out);
		mr_imap_put_set(&out, uids, MR_LEN(uids), &at, 5);
		CHECK_STR(mr_buf_text(&out), want[piece]);
	}
}

static void words_are_quoted(void)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&out, 1 << 20);
	mr_imap_put_quoted(&out, "a \"b\" \\c");
	CHECK_STR(mr_buf_text(&out), "\"a \\\"b\\\" \\\\c\"");
	CHECK(mr_imap_is_quotable("plain {3}"));
	CHECK(!mr_imap_is_quotable("a\r\nb"));
	CHECK(!mr_imap_is_quotable("\u00e9"));
}

static void names_of_mailboxes_are_coded(void)
{
	static const char *const pairs[][2] = {
		{ "INBOX", "INBOX" },
		{ "a&b", "a&-b" },
		{ "~peter/mail/\u53f0\u5317/\u65e5\u672c\u8a9e",
			"~peter/mail/&U,BTFw-/&ZeVnLIqe-" },
		{ "Entw\u00fcrfe", "Entw&APw-rfe" },
		{ "\U0001f600", "&2D3eAA-" },
		{ "", "" },
	};
	static const char *const odd[] = { "&", "&!-", "&AAA-", "&2D3-", "&U,BTFw", "&2D0-" };

	for (size_t i = 0; i < MR_LEN(pairs); i++) {
		CHECK_STR(mr_imap_name_encode(arena, pairs[i][0]), pairs[i][1]);
		CHECK_STR(mr_imap_name_decode(arena, pairs[i][1]), pairs[i][0]);
	}
	for (size_t i = 0; i < MR_LEN(odd); i++)
		CHECK_STR(mr_imap_name_decode(arena, odd[i]), odd[i]);
	CHECK_STR(mr_imap_name_encode(arena, "\xff"), "\xff");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_response_ends_behind_its_literals),
		TEST(a_response_has_a_limit),
		TEST(responses_become_trees),
		TEST(what_is_no_response_is_told),
		TEST(members_are_found_by_their_keys),
		TEST(sets_are_read),
		TEST(sets_are_written_in_pieces),
		TEST(words_are_quoted),
		TEST(names_of_mailboxes_are_coded),
	};
	int status;

	arena = mr_arena_new();
	status = test_main(tests, MR_LEN(tests));
	mr_arena_freep(&arena);
	return status;
}
