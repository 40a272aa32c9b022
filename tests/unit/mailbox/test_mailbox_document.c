/* tests/unit/mailbox/test_mailbox_document.c */
#include "mailbox/document.h"

#include "mailbox/limits.h"
#include "test.h"
#include "text/json.h"

#include <string.h>

#define ID   "msg-20260311T041500Z-0123456789abcdef0123456789abcdef"
#define HEAD "message_id: " ID "\nthread_id: " ID "\ncreated_at_utc: '2026-03-11T04:15:00Z'\n"
#define FROM "from: {principal_id: a, address: a@b}\n"
#define TO   "to: [{principal_id: b, address: b@b}]\n"
/* The least that is a message, up to its last line. */
#define LEAST "---\n" HEAD FROM TO "subject: s\n"

static enum mr_code try_parse(struct mr_arena *arena, const char *document,
	struct mr_mailbox_message *out, struct mr_err *err)
{
	return mr_mailbox_document_parse(arena, mr_bytes_text(document), out, err);
}

static struct mr_mailbox_message parse(struct mr_arena *arena, const char *document)
{
	struct mr_mailbox_message message = { 0 };
	struct mr_err err;

	CHECK_OK(try_parse(arena, document, &message, &err), err);
	return message;
}

static const char *write(struct mr_arena *arena, const struct mr_mailbox_message *message)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&buf, MR_MAILBOX_DOCUMENT_BYTES);
	CHECK_OK(mr_mailbox_document_write(&buf, message, &err), err);
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

static bool same_notices(const struct mr_mailbox_message *a, const struct mr_mailbox_message *b)
{
	const struct mr_mailbox_notify_block *x = a->notify_block;
	const struct mr_mailbox_notify_block *y = b->notify_block;

	return !x == !y && (!x || (mr_str_eq(x->text, y->text) && x->prepend == y->prepend)) &&
		!a->notify_auth == !b->notify_auth &&
		(!a->notify_auth ||
			(mr_str_eq(a->notify_auth->scheme, b->notify_auth->scheme) &&
				mr_str_eq(a->notify_auth->token, b->notify_auth->token) &&
				mr_str_eq(a->notify_auth->iss, b->notify_auth->iss) &&
				mr_str_eq(a->notify_auth->iat, b->notify_auth->iat) &&
				mr_str_eq(a->notify_auth->exp, b->notify_auth->exp)));
}

/* Written and read again it is the same; returns what was written. */
static const char *round_trip(struct mr_arena *arena, const struct mr_mailbox_message *message)
{
	const char *written = write(arena, message);
	struct mr_mailbox_message again = parse(arena, written);

	CHECK(mr_mailbox_message_same(message, &again, true));
	CHECK(same_notices(message, &again));
	CHECK_STR(write(arena, &again), written);
	return written;
}

/* The sample of the model's page, and what we make of it. */
static const char sample[] = "---\n"
			     "protocol_version: 3\n"
			     "message_id: msg-20260313T091530Z-a1b2c3d4e5f64798aabbccddeeff0011\n"
			     "thread_id: msg-20260313T091530Z-a1b2c3d4e5f64798aabbccddeeff0011\n"
			     "in_reply_to: null\n"
			     "references: []\n"
			     "created_at_utc: 2026-03-13T09:15:30Z\n"
			     "from:\n"
			     "  principal_id: HOUMAO-research\n"
			     "  address: research@houmao.localhost\n"
			     "to:\n"
			     "  - principal_id: HOUMAO-orchestrator\n"
			     "    address: orchestrator@houmao.localhost\n"
			     "cc: []\n"
			     "reply_to: []\n"
			     "subject: Investigate parser drift\n"
			     "attachments:\n"
			     "  - attachment_id: att-1\n"
			     "    kind: path_ref\n"
			     "    path: /abs/path/notes.txt\n"
			     "    media_type: text/plain\n"
			     "headers:\n"
			     "  tags:\n"
			     "    - parser\n"
			     "notify_block:\n"
			     "  text: re-run on official timing path before reporting\n"
			     "  placement: append\n"
			     "notify_auth:\n"
			     "  scheme: none\n"
			     "---\n"
			     "\n"
			     "# Summary\n"
			     "\n"
			     "The parser drift appears after the second transform stage.\n"
			     "\n"
			     "```houmao-notify\n"
			     "re-run on official timing path before reporting\n"
			     "```\n";
static const char sample_written[] =
	"---\n"
	"protocol_version: 3\n"
	"message_id: msg-20260313T091530Z-a1b2c3d4e5f64798aabbccddeeff0011\n"
	"thread_id: msg-20260313T091530Z-a1b2c3d4e5f64798aabbccddeeff0011\n"
	"in_reply_to: null\n"
	"references: []\n"
	"created_at_utc: '2026-03-13T09:15:30Z'\n"
	"from:\n"
	"  principal_id: HOUMAO-research\n"
	"  address: research@houmao.localhost\n"
	"  display_name: null\n"
	"  manifest_path_hint: null\n"
	"  role: null\n"
	"to:\n"
	"- principal_id: HOUMAO-orchestrator\n"
	"  address: orchestrator@houmao.localhost\n"
	"  display_name: null\n"
	"  manifest_path_hint: null\n"
	"  role: null\n"
	"cc: []\n"
	"reply_to: []\n"
	"subject: Investigate parser drift\n"
	"attachments:\n"
	"- attachment_id: att-1\n"
	"  kind: path_ref\n"
	"  path: \"/abs/path/notes.txt\"\n"
	"  media_type: text/plain\n"
	"  sha256: null\n"
	"  size_bytes: null\n"
	"  label: null\n"
	"headers:\n"
	"  tags:\n"
	"  - \"parser\"\n"
	"notify_block:\n"
	"  text: re-run on official timing path before reporting\n"
	"  placement: append\n"
	"notify_auth:\n"
	"  scheme: none\n"
	"  token: null\n"
	"  iss: null\n"
	"  iat: null\n"
	"  exp: null\n"
	"---\n"
	"\n"
	"# Summary\n"
	"\n"
	"The parser drift appears after the second transform stage.\n"
	"\n"
	"```houmao-notify\n"
	"re-run on official timing path before reporting\n"
	"```\n";

static void reads_the_representative_message(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m = parse(arena, sample);

	CHECK_INT(m.protocol_version, 3);
	CHECK_STR(m.message_id, "msg-20260313T091530Z-a1b2c3d4e5f64798aabbccddeeff0011");
	CHECK_STR(m.created_at_utc, "2026-03-13T09:15:30Z");
	CHECK_STR(m.sender.address, "research@houmao.localhost");
	CHECK_STR(m.to.items[0].principal_id, "HOUMAO-orchestrator");
	CHECK_STR(m.subject, "Investigate parser drift");
	CHECK_STR(m.attachments.items[0].path, "/abs/path/notes.txt");
	CHECK_STR(mr_value_get(m.headers, "tags")->list.items[0].text, "parser");
	CHECK_STR(m.notify_block->text, "re-run on official timing path before reporting");
	CHECK_STR(m.notify_auth->scheme, "none");
	CHECK(memcmp(m.body.data, "# Summary\n", 10) == 0);
	CHECK_STR(round_trip(arena, &m), sample_written);
}

static void writes_the_contracts_form(void)
{
	static const char expected[] = "---\n"
				       "protocol_version: 3\n"
				       "message_id: " ID "\n"
				       "thread_id: " ID "\n"
				       "in_reply_to: null\n"
				       "references: []\n"
				       "created_at_utc: '2026-03-11T04:15:00Z'\n"
				       "from:\n"
				       "  principal_id: HOUMAO-alice\n"
				       "  address: alice@houmao.localhost\n"
				       "  display_name: null\n"
				       "  manifest_path_hint: null\n"
				       "  role: null\n"
				       "to:\n"
				       "- principal_id: HOUMAO-bob\n"
				       "  address: bob@houmao.localhost\n"
				       "  display_name: null\n"
				       "  manifest_path_hint: null\n"
				       "  role: null\n"
				       "cc: []\n"
				       "reply_to: []\n"
				       "subject: \"Re: \\\"x\\\": caf\\xE9\"\n"
				       "attachments: []\n"
				       "headers: {}\n"
				       "notify_block: null\n"
				       "notify_auth: null\n"
				       "---\n"
				       "\n"
				       "body text, verbatim\n";
	static const struct mr_value headers = { .kind = MR_MAP };
	struct mr_mailbox_principal bob = { "HOUMAO-bob", "bob@houmao.localhost", NULL, NULL,
		NULL };
	struct mr_mailbox_message m = {
		/* Whatever was read, 3 is written. */
		.protocol_version = 1,
		.message_id = ID,
		.thread_id = ID,
		.created_at_utc = "2026-03-11T04:15:00Z",
		.sender = { "HOUMAO-alice", "alice@houmao.localhost", NULL, NULL, NULL },
		.to = { &bob, 1 },
		.subject = "Re: \"x\": caf\xc3\xa9",
		.headers = &headers,
		.body = mr_bytes_text("body text, verbatim\n"),
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK_STR(round_trip(arena, &m), expected);
}

/* The forms of PyYAML's writer: folded scalars, escapes, lists that are not indented. */
static void reads_the_references_form(void)
{
	static const char document[] =
		"---\n"
		"protocol_version: 3\n"
		"message_id: " ID "\n"
		"thread_id: msg-20260310T041500Z-fedcba9876543210fedcba9876543210\n"
		"in_reply_to: msg-20260310T041500Z-fedcba9876543210fedcba9876543210\n"
		"references:\n"
		"- msg-20260310T041500Z-fedcba9876543210fedcba9876543210\n"
		"created_at_utc: '2026-03-11T04:15:00Z'\n"
		"from:\n"
		"  principal_id: HOUMAO-alice\n"
		"  address: alice@houmao.localhost\n"
		"  display_name: \"Al\\xEF \\u2014 \\U0001F600\"\n"
		"  manifest_path_hint: null\n"
		"  role: null\n"
		"to:\n"
		"- principal_id: HOUMAO-bob\n"
		"  address: bob@houmao.localhost\n"
		"  display_name: null\n"
		"  manifest_path_hint: null\n"
		"  role: null\n"
		"cc: []\n"
		"reply_to: []\n"
		"subject: 'a long subject: it has a colon and goes on and on until the writer "
		"folds\n"
		"  it''s line here'\n"
		"attachments:\n"
		"- attachment_id: att-0123456789ab\n"
		"  kind: managed_copy\n"
		"  path: attachments/managed/att-0123456789ab/a very long name with blanks in it "
		"that\n"
		"    is folded.txt\n"
		"  media_type: text/plain\n"
		"  sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
		"  size_bytes: 12\n"
		"  label: 'two\n"
		"\n"
		"    lines'\n"
		"headers:\n"
		"  n: 1.0e+20\n"
		"  t: true\n"
		"  d: '2026-01-01'\n"
		"  s: \"tab\\there, and then a text that is so long that it must be broken\\\n"
		"    \\ somewhere\"\n"
		"notify_block:\n"
		"  text: look\n"
		"  placement: prepend\n"
		"notify_auth:\n"
		"  scheme: none\n"
		"  token: t\n"
		"  iss: null\n"
		"  iat: null\n"
		"  exp: null\n"
		"---\n";
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m = parse(arena, document);

	CHECK_STR(m.sender.display_name, "Al\xc3\xaf \xe2\x80\x94 \xf0\x9f\x98\x80");
	CHECK_STR(m.references.items[0], m.in_reply_to);
	CHECK_STR(m.subject,
		"a long subject: it has a colon and goes on and on until the writer folds it's "
		"line "
		"here");
	CHECK_STR(m.attachments.items[0].path,
		"attachments/managed/att-0123456789ab/a very long name with blanks in it that is "
		"folded.txt");
	CHECK_STR(m.attachments.items[0].label, "two\nlines");
	CHECK_INT(m.attachments.items[0].size_bytes, 12);
	CHECK(mr_value_get(m.headers, "n")->real == 1e20);
	CHECK_STR(mr_value_get(m.headers, "d")->text, "2026-01-01");
	CHECK_STR(mr_value_get(m.headers, "s")->text,
		"tab\there, and then a text that is so long that it must be broken somewhere");
	CHECK(m.notify_block->prepend);
	CHECK_STR(m.notify_auth->token, "t");
	CHECK_INT(m.body.len, 0);
	round_trip(arena, &m);
}

/* Flow style, "sender", no version, block scalars, comments, an old version, dates unquoted. */
static void reads_other_forms(void)
{
	static const char *const documents[] = {
		LEAST "---\n",
		LEAST "# a note\nprotocol_version: 1\ncc:\n  []\n---\n",
		"---\n{message_id: " ID ", thread_id: " ID
		", created_at_utc: 2026-03-11T04:15:00Z,\n"
		" sender: {principal_id: a, address: a@b}, to: [{principal_id: b, address: b@b}],\n"
		" subject: s}\n---\n",
		"---\n" HEAD FROM TO "subject: |\n  s\nheaders: {}\n---\n",
		"---\n" HEAD FROM TO "subject: >-\n  s\nin_reply_to: ~\nnotify_block:\n---\n",
		"---\n" HEAD FROM
		"to:\n    -   principal_id: b\n        address: b@b\nsubject: s\n---\n",
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message first = parse(arena, documents[0]);
	struct mr_mailbox_message dated = parse(arena, LEAST "headers: {due: 2026-01-02}\n---\n");

	CHECK_INT(first.protocol_version, 3);
	for (size_t i = 0; i < MR_LEN(documents); i++) {
		struct mr_mailbox_message m = parse(arena, documents[i]);

		CHECK(mr_mailbox_message_same(&m, &first, true));
		CHECK_INT(m.protocol_version, i == 1 ? 1 : 3);
	}
	CHECK_STR(mr_value_get(dated.headers, "due")->text, "2026-01-02");
	/* Quoted, lest the reference take it for a date. */
	CHECK(strstr(round_trip(arena, &dated), "  due: \"2026-01-02\"\n"));
}

static void keeps_bodies_to_the_byte(void)
{
	static const struct {
		const char *after_head;
		const char *body;
	} cases[] = {
		{ "---\n", "" },
		{ "---\n\n", "" },
		{ "---\n\nx", "x" },
		{ "---\nx\n", "x\n" },
		{ "---\n\n\nx\n\n\n", "\nx\n\n\n" },
		{ "---\n\na\r\nb\rc\n---\nd", "a\r\nb\rc\n---\nd" },
		{ "---\n\n\r\n", "\r\n" },
		{ "---\n\n \xe2\x80\xa8\t", " \xe2\x80\xa8\t" },
		{ "---\n\n```houmao-notify\nhi\n```", "```houmao-notify\nhi\n```" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mailbox_message m =
			parse(arena, mr_arena_printf(arena, LEAST "%s", cases[i].after_head));
		const char *body = mr_arena_strndup(arena, (const char *)m.body.data, m.body.len);

		CHECK_STR(body, cases[i].body);
		/* A fence in a stored document is no reason to make up a notice. */
		CHECK(!m.notify_block);
		round_trip(arena, &m);
	}
}

static void reads_crlf_frames(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m = parse(arena,
		"---\r\nmessage_id: " ID "\r\nthread_id: " ID
		"\r\ncreated_at_utc: '2026-03-11T04:15:00Z'\r\n"
		"from: {principal_id: a, address: a@b}\r\nto:\r\n- principal_id: b\r\n  address: "
		"b@b"
		"\r\nsubject: s\r\n---\r\n\r\nx\r\n");

	CHECK_STR(m.subject, "s");
	CHECK_STR(m.to.items[0].address, "b@b");
	CHECK_INT(m.body.len, 3);
	round_trip(arena, &m);
}

static void keeps_texts_that_look_like_something(void)
{
	static const char *const texts[] = { "yes", "123", "2026-01-01", "null", "12:30:45", "a: b",
		"# x", "\xc3\xa9 \xe2\x80\x94 \xf0\x9f\x98\x80", "- x", "~", "0x1f", "1e3", ".inf",
		"y", "'", "\"", "\\", "a #b", "&a", "*a", "!a", "%a", "@a", "`a", "{a", "[a", "?",
		"---", "a\n---\nb", "a\tb", "a\r\nb", "a\x01\x7f\x1b", "a\xc2\x85\xe2\x80\xa8z",
		"\xef\xbb\xbf", "a\xef\xbf\xbf", "trailing:", "<<", "=",
		"a text of more than sixty characters that could otherwise be plain" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m = parse(arena, LEAST "---\n");
	struct mr_value *items = mr_arena_array(arena, MR_LEN(texts), sizeof(*items));
	struct mr_pair *pairs = mr_arena_array(arena, MR_LEN(texts) + 1, sizeof(*pairs));
	struct mr_value headers = { .kind = MR_MAP, .map = { pairs, MR_LEN(texts) + 1 } };

	for (size_t i = 0; i < MR_LEN(texts); i++) {
		items[i] = (struct mr_value){ .kind = MR_TEXT, .text = texts[i] };
		pairs[i] = (struct mr_pair){ texts[i], items[i] };
		m.subject = m.sender.principal_id = m.sender.role = texts[i];
		round_trip(arena, &m);
	}
	pairs[MR_LEN(texts)] =
		(struct mr_pair){ "list", { .kind = MR_LIST, .list = { items, MR_LEN(texts) } } };
	m.headers = &headers;
	round_trip(arena, &m);
}

static void round_trips_every_field(void)
{
	static const char document[] =
		"---\n"
		"message_id: " ID "\n"
		"thread_id: msg-20260310T041500Z-fedcba9876543210fedcba9876543210\n"
		"in_reply_to: " ID "\n"
		"references: [msg-20260310T041500Z-fedcba9876543210fedcba9876543210, " ID "]\n"
		"created_at_utc: 2026-03-11 04:15:00.5Z\n"
		"from: {principal_id: a, address: a@b, display_name: A B, manifest_path_hint: /m,\n"
		"  role: r}\n"
		"to: [{principal_id: b, address: b@b}, {principal_id: c, address: c@b, role: x "
		"y}]\n"
		"cc: [{principal_id: b, address: b@b, display_name: 'B: b'}]\n"
		"reply_to: [{principal_id: a, address: a@b}]\n"
		"subject: s\n"
		"attachments:\n"
		"- {attachment_id: x, kind: managed_copy, path: p q, media_type: m, label: l,\n"
		"   sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF,\n"
		"   size_bytes: 9223372036854775807}\n"
		"- {attachment_id: y, kind: path_ref, path: /p, media_type: m, size_bytes: 0}\n"
		"headers: {a: [1, -2, 1.5, .nan, -.inf, true, null, [], {}, [[x]], {b: {c: d}}], "
		"e: ''}\n"
		"notify_block: {text: ' two\n\n  lines '}\n"
		"notify_auth: {scheme: none, token: t, iss: i, iat: a, exp: e}\n"
		"---\n";
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m = parse(arena, document);

	CHECK_STR(m.created_at_utc, "2026-03-11T04:15:00Z");
	CHECK_STR(m.notify_block->text, " two\nlines ");
	round_trip(arena, &m);
}

/* Framing, YAML and bodies that are none. */
static void refuses_what_is_no_document(void)
{
	static const struct {
		const char *document;
		enum mr_code code;
		const char *why;
	} cases[] = {
		{ "", MR_EFORMAT,
			"YAML front matter: line 1: the document does not begin with a line "
			"\"---\"" },
		{ "# only Markdown\n", MR_EFORMAT,
			"YAML front matter: line 1: the document does not begin with a line "
			"\"---\"" },
		{ "\xef\xbb\xbf" LEAST "---\n", MR_EFORMAT,
			"YAML front matter: line 1: a byte order mark stands before \"---\"" },
		{ LEAST, MR_EFORMAT,
			"YAML front matter: line 8: the front matter is not closed by a line "
			"\"---\"" },
		{ LEAST "---", MR_EFORMAT,
			"YAML front matter: line 8: the closing \"---\" has no newline after it" },
		{ "---\n---\n", MR_EFORMAT,
			"YAML front matter: line 2: the front matter is empty" },
		{ "---json\n{}\n---\n", MR_EFORMAT,
			"YAML front matter: line 1: a message begins with \"---\" alone" },
		{ "---\n- a\n---\n", MR_EFORMAT, "YAML front matter: must be a mapping, not list" },
		{ "---\n# nothing\n---\n", MR_EFORMAT,
			"YAML front matter: must be a mapping, not null" },
	};
	static const struct {
		const char *head;
		const char *why; /* is part of what is said */
	} heads[] = {
		{ "a: 'x\n", "YAML front matter: not valid YAML at line 3 column 1" },
		{ "a: 1\nb: 2\na: 3\n", "line 4" },
		{ "a: &x 1\n", "line 2" },
		{ "a: !!python/object:x {}\n", "line 2" },
		{ "a: \"\\0\"\n", "line 2" },
		{ "a: \xff\n", "line 2" },
		{ "a: 99999999999999999999\n", "line 2" },
		{ "a: 1\n...\nb: 2\n", "line 4" },
		{ "%YAML 1.1\na: 2\n", "line 3" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m = { .subject = "kept" };
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_INT(try_parse(arena, cases[i].document, &m, &err), cases[i].code);
		CHECK_STR(err.msg, cases[i].why);
	}
	for (size_t i = 0; i < MR_LEN(heads); i++) {
		const char *document = mr_arena_printf(arena, "---\n%s---\n", heads[i].head);

		CHECK_INT(try_parse(arena, document, &m, &err), MR_EFORMAT);
		if (!strstr(err.msg, heads[i].why))
			test_fail(__FILE__, __LINE__, "%s: %s", heads[i].head, err.msg);
	}
	CHECK_STR(m.subject, "kept");
}

static void refuses_bodies_that_are_no_text(void)
{
	static const char nul[] = LEAST "---\n\nab\0c";
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m = parse(arena, LEAST "---\n");
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&buf, 10000);
	CHECK_INT(mr_mailbox_document_parse(arena, mr_bytes_of(nul, sizeof(nul) - 1), &m, &err),
		MR_EFORMAT);
	CHECK_STR(err.msg,
		mr_arena_printf(arena, "the body holds NUL at byte %zu", sizeof(LEAST) + 6));
	CHECK_INT(try_parse(arena, LEAST "---\n\na\xff", &m, &err), MR_EFORMAT);
	CHECK_STR(err.msg,
		mr_arena_printf(arena, "the body is not UTF-8 at byte %zu", sizeof(LEAST) + 5));

	m.body = mr_bytes_of("a\0b", 3);
	CHECK_INT(mr_mailbox_document_write(&buf, &m, &err), MR_EFORMAT);
	CHECK_STR(err.msg, "the body holds NUL at byte 1");
	m.body = mr_bytes_text("\xed\xa0\x80");
	CHECK_INT(mr_mailbox_document_write(&buf, &m, &err), MR_EFORMAT);
	CHECK_STR(err.msg, "the body is not UTF-8 at byte 0");
	CHECK_INT(buf.len, 0);
}

static void reports_fields(void)
{
	static const struct {
		const char *document;
		const char *why;
	} cases[] = {
		{ LEAST "extra: 1\n---\n", "$.extra: is not known" },
		{ LEAST "protocol_version: 2\n---\n",
			"$.protocol_version: protocol_version must be 3, or 1 in old messages, not "
			"2" },
		{ LEAST "sender: {principal_id: a, address: a@b}\n---\n",
			"$.sender: is not known" },
		{ LEAST "cc:\n---\n", "$.cc: must be a list, not null" },
		{ "---\n" HEAD FROM TO "subject: 123\n---\n",
			"$.subject: must be a string, not integer" },
		{ "---\n" HEAD FROM TO "subject: yes\n---\n",
			"$.subject: must be a string, not boolean" },
		{ "---\n" HEAD FROM "to: []\nsubject: s\n---\n",
			"$.to: must include at least one recipient" },
		{ "---\n" HEAD TO "---\n", "$.from: is required; $.subject: is required" },
		{ LEAST "references: [" ID "]\n---\n",
			"$: root messages must not include references" },
		{ LEAST "headers: {' ': 1}\n---\n", "$.headers: header keys must not be empty" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m = { .subject = "kept" };
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_INT(try_parse(arena, cases[i].document, &m, &err), MR_EINVAL);
		CHECK_STR(err.msg, mr_arena_printf(arena, "message document: %s", cases[i].why));
		CHECK(err.issues && err.issues->len > 0);
	}
	CHECK_STR(m.subject, "kept");
}

/* `before`, `count` times `unit`, and `after`. */
static enum mr_code try_long(struct mr_arena *arena, const char *before, const char *unit,
	size_t count, const char *after, struct mr_err *err)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_mailbox_message m;

	mr_buf_init(&buf, 64 << 20);
	mr_buf_puts(&buf, before);
	for (size_t i = 0; i < count; i++)
		mr_buf_puts(&buf, unit);
	mr_buf_puts(&buf, after);
	CHECK(!buf.failed);
	return mr_mailbox_document_parse(arena, mr_buf_bytes(&buf), &m, err);
}

static void refuses_what_is_too_much(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m;
	struct mr_err err;

	/* A subject of 10 MiB, 100,000 recipients, a tree of 40 levels, laughs. */
	CHECK_INT(try_long(arena, "---\nsubject: ", "0123456789abcdef", 10 << 16, "\n---\n", &err),
		MR_ELIMIT);
	CHECK_STR(err.msg,
		"YAML front matter: line 3: the front matter is longer than 1048576 bytes");
	CHECK_INT(try_long(arena, "---\n" HEAD FROM "subject: s\nto: [", "{},", 100000, "]\n---\n",
			  &err),
		MR_ELIMIT);
	CHECK(strstr(err.msg, "more than 100000 values and keys"));
	CHECK_INT(try_long(arena, LEAST "cc: [", "1,", 1001, "]\n---\n", &err), MR_EINVAL);
	CHECK_STR(err.msg, "message document: $.cc: must not hold more than 1000 entries");
	CHECK_INT(try_long(arena, LEAST "headers: {a: ", "[", 40, "\n---\n", &err), MR_ELIMIT);
	CHECK(strstr(err.msg, "nested deeper than 32"));
	CHECK_INT(try_parse(arena,
			  "---\na: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n---\n",
			  &m, &err),
		MR_EFORMAT);
	CHECK(strstr(err.msg, "line 2"));
	/* The body has a limit of its own. */
	CHECK_INT(try_long(arena, LEAST "---\n\n", "0123456789abcdef", 1 << 20, "", &err), MR_OK);
	CHECK_INT(try_long(arena, LEAST "---\n\n", "0123456789abcdef", 2 << 20, "", &err),
		MR_ELIMIT);
	CHECK_STR(err.msg, "the document is longer than 33554432 bytes");
}

static void writes_only_what_it_reads(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message good = parse(arena, LEAST "---\n");
	struct mr_mailbox_message m = good;
	struct mr_value levels[40];
	struct mr_pair pair = { "a", { .kind = MR_LIST, .list = { levels, 1 } } };
	struct mr_value deep = { .kind = MR_MAP, .map = { &pair, 1 } };
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	char *big = mr_arena_alloc(arena, MR_MAILBOX_DOCUMENT_BYTES + 1);
	struct mr_err err;

	mr_buf_init(&buf, 64 << 20);
	memset(big, 'x', MR_MAILBOX_DOCUMENT_BYTES);
	m.body = mr_bytes_of(big, MR_MAILBOX_DOCUMENT_BYTES - 200);
	CHECK_INT(mr_mailbox_document_write(&buf, &m, &err), MR_ELIMIT);
	CHECK_STR(err.msg, "the document is longer than 33554432 bytes");

	m = good;
	big[MR_MAILBOX_HEAD_BYTES] = '\0';
	m.sender.role = big;
	CHECK_INT(mr_mailbox_document_write(&buf, &m, &err), MR_ELIMIT);
	CHECK(strstr(err.msg, "the front matter"));

	m = good;
	for (size_t i = 0; i < MR_LEN(levels); i++)
		levels[i] = (struct mr_value){ .kind = MR_LIST, .list = { &levels[i + 1], 1 } };
	levels[39].list.len = 0;
	m.headers = &deep;
	CHECK_INT(mr_mailbox_document_write(&buf, &m, &err), MR_ELIMIT);
	CHECK_STR(err.msg, "headers: more than 30000 values and keys or 30 levels");
	CHECK_INT(buf.len, 0);
}

static void writes_within_the_buffer(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m = parse(arena, LEAST "---\n");
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&buf, 100);
	CHECK_INT(mr_mailbox_document_write(&buf, &m, &err), MR_ELIMIT);
	CHECK(strstr(err.msg, "the document"));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(reads_the_representative_message),
		TEST(writes_the_contracts_form),
		TEST(reads_the_references_form),
		TEST(reads_other_forms),
		TEST(keeps_bodies_to_the_byte),
		TEST(reads_crlf_frames),
		TEST(keeps_texts_that_look_like_something),
		TEST(round_trips_every_field),
		TEST(refuses_what_is_no_document),
		TEST(refuses_bodies_that_are_no_text),
		TEST(reports_fields),
		TEST(refuses_what_is_too_much),
		TEST(writes_only_what_it_reads),
		TEST(writes_within_the_buffer),
	};
	return test_main(tests, MR_LEN(tests));
}
