/* tests/unit/mailbox/test_mailbox_message.c */
#include "mailbox/message.h"

#include "base/buf.h"
#include "mailbox/limits.h"
#include "test.h"
#include "text/json.h"

#include <string.h>

#define ID    "msg-20260311T041500Z-0123456789abcdef0123456789abcdef"
#define OTHER "msg-20260310T041500Z-fedcba9876543210fedcba9876543210"
#define ALICE "{\"principal_id\":\"HOUMAO-alice\",\"address\":\"alice@houmao.localhost\"}"
#define BOB   "{\"principal_id\":\"HOUMAO-bob\",\"address\":\"bob@houmao.localhost\"}"
#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

#define ID_RULE "message_id must match msg-{YYYYMMDDTHHMMSSZ}-{uuid4-no-dashes}"
#define FORM_RULE                                                                                  \
	"mailbox addresses must be full-form email-like values such as "                           \
	"`research@houmao.localhost`"
#define TIME_RULE   "created_at_utc must be an RFC3339 UTC timestamp ending in Z"
#define DIGEST_RULE "must be a 64-character lowercase hex SHA-256 digest"

/* The JSON of a good message with changed fields; a NULL value leaves one out, new ones come last.
 */
struct change {
	const char *key;
	const char *json;
};

static const struct change base[] = {
	{ "message_id", "\"" ID "\"" },
	{ "thread_id", "\"" ID "\"" },
	{ "created_at_utc", "\"2026-03-11T04:15:00Z\"" },
	{ "sender", ALICE },
	{ "to", "[" BOB "]" },
	{ "subject", "\"Hello\"" },
};

static const struct change *find_change(const struct change *changes, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++) {
		if (changes[i].key && strcmp(changes[i].key, key) == 0)
			return &changes[i];
	}
	return NULL;
}

static void put_field(struct mr_buf *buf, const char *key, const char *json)
{
	if (json)
		mr_buf_printf(buf, "%s\"%s\":%s", buf->len > 1 ? "," : "", key, json);
}

static const struct mr_value *parse(struct mr_arena *arena, const char *text)
{
	const struct mr_value *value = NULL;
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena, mr_bytes_text(text), NULL, &value, &err), err);
	return value;
}

static const struct mr_value *changed(struct mr_arena *arena, const struct change *changes,
	size_t count)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, 8 << 20);
	mr_buf_putc(&buf, '{');
	for (size_t i = 0; i < MR_LEN(base); i++) {
		const struct change *change = find_change(changes, count, base[i].key);

		put_field(&buf, base[i].key, change ? change->json : base[i].json);
	}
	for (size_t i = 0; i < count; i++) {
		if (changes[i].key && !find_change(base, MR_LEN(base), changes[i].key))
			put_field(&buf, changes[i].key, changes[i].json);
	}
	mr_buf_putc(&buf, '}');
	return parse(arena, mr_buf_text(&buf));
}

/* Read; "" when it is good, else the issues in one line. */
static const char *read_value(struct mr_arena *arena, const struct mr_value *value,
	enum mr_mailbox_source source, struct mr_mailbox_message *out)
{
	struct mr_issues *issues = mr_arena_alloc(arena, sizeof(*issues));
	struct mr_cursor at = mr_cursor_root(value, issues);
	struct mr_err err;

	mr_issues_init(issues, arena);
	if (mr_mailbox_message_read(arena, &at, source, out)) {
		CHECK_INT(issues->len, 0);
		return "";
	}
	CHECK(issues->len > 0);
	CHECK_INT(mr_err_issues(&err, issues, "delivery payload"), MR_EINVAL);
	return mr_arena_strdup(arena, err.msg);
}

static const char *read_changed(struct mr_arena *arena, const struct change *changes, size_t count,
	enum mr_mailbox_source source, struct mr_mailbox_message *out)
{
	return read_value(arena, changed(arena, changes, count), source, out);
}

static void reads_and_normalises(void)
{
	static const struct change changes[] = {
		{ "staged_message_path", "\"/tmp/x.md\"" },
		{ "message_id", "\" " ID "\\n\"" },
		{ "thread_id", "\"" OTHER "\\u00a0\"" },
		{ "in_reply_to", "\"" OTHER " \"" },
		{ "references", "[\" " ID "\", \"" OTHER "\"]" },
		{ "created_at_utc", "\" 2026-03-11t04:15:00.999Z\"" },
		{ "sender",
			"{\"principal_id\":\" HOUMAO-alice \",\"address\":\" Alice@b\\t\","
			"\"display_name\":\" A \",\"manifest_path_hint\":\" "
			"/m.json\",\"role\":null}" },
		{ "cc", "[" ALICE "]" },
		{ "reply_to", "[" BOB "]" },
		{ "subject", "\"\\u2003one\\ntwo \"" },
		{ "attachments",
			"[{\"attachment_id\":\" a \",\"kind\":\"path_ref\",\"path\":\" /x y \","
			"\"media_type\":\" text/plain \",\"sha256\":\" "
			"0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef \","
			"\"size_bytes\":0,\"label\":\" l \"},"
			"{\"attachment_id\":\"b\",\"kind\":\"managed_copy\",\"path\":\"rel\","
			"\"media_type\":\"x\"}]" },
		{ "headers", "{\" x \":\" kept \",\"n\":[1,{\"y\":null}]}" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m;

	CHECK_STR(read_changed(arena, changes, MR_LEN(changes), MR_MAILBOX_PAYLOAD, &m), "");
	CHECK_INT(m.protocol_version, 3);
	CHECK_STR(m.message_id, ID);
	CHECK_STR(m.thread_id, OTHER);
	CHECK_STR(m.in_reply_to, OTHER);
	CHECK_INT(m.references.len, 2);
	CHECK_STR(m.references.items[0], ID);
	CHECK_STR(m.references.items[1], OTHER);
	CHECK(!m.references.items[2]);
	CHECK_STR(m.created_at_utc, "2026-03-11T04:15:00Z");
	CHECK_STR(m.sender.principal_id, "HOUMAO-alice");
	CHECK_STR(m.sender.address, "Alice@b");
	CHECK_STR(m.sender.display_name, "A");
	CHECK_STR(m.sender.manifest_path_hint, "/m.json");
	CHECK(!m.sender.role);
	CHECK_INT(m.to.len, 1);
	CHECK_STR(m.to.items[0].address, "bob@houmao.localhost");
	CHECK_INT(m.cc.len, 1);
	CHECK_STR(m.cc.items[0].principal_id, "HOUMAO-alice");
	CHECK_INT(m.reply_to.len, 1);
	CHECK_STR(m.subject, "one\ntwo");
	CHECK_INT(m.attachments.len, 2);
	CHECK_STR(m.attachments.items[0].attachment_id, "a");
	CHECK_STR(m.attachments.items[0].path, "/x y");
	CHECK_STR(m.attachments.items[0].media_type, "text/plain");
	CHECK_STR(m.attachments.items[0].sha256, HEX64);
	CHECK_INT(m.attachments.items[0].size_bytes, 0);
	CHECK_STR(m.attachments.items[0].label, "l");
	CHECK_INT(m.attachments.items[1].kind, MR_MAILBOX_MANAGED_COPY);
	CHECK_INT(m.attachments.items[1].size_bytes, -1);
	CHECK(!m.attachments.items[1].sha256 && !m.attachments.items[1].label);
	CHECK(mr_value_equal(m.headers, parse(arena, "{\"x\":\" kept \",\"n\":[1,{\"y\":null}]}")));
	CHECK(!m.notify_block && !m.notify_auth);
	CHECK_STR(mr_mailbox_message_date(arena, &m), "2026-03-11");
}

static void fills_in_defaults(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m;

	CHECK_STR(read_changed(arena, NULL, 0, MR_MAILBOX_PAYLOAD, &m), "");
	CHECK(!m.in_reply_to);
	CHECK_INT(m.references.len + m.cc.len + m.reply_to.len + m.attachments.len, 0);
	CHECK_INT(m.headers->kind, MR_MAP);
	CHECK_INT(m.headers->map.len, 0);
	CHECK_INT(m.body.len, 0);
}

/* One field of a payload, and what is said of it. */
static void reports_each_field(void)
{
	static const struct {
		struct change change;
		const char *issues; /* after "delivery payload: " */
	} cases[] = {
		{ { "message_id", NULL }, "$.message_id: is required" },
		{ { "message_id", "7" }, "$.message_id: must be a string, not integer" },
		{ { "message_id", "null" }, "$.message_id: must be a string, not null" },
		{ { "message_id", "\"\"" }, "$.message_id: " ID_RULE },
		{ { "message_id", "\"msg-20260311T041500Z-0123456789ABCDEF0123456789abcdef\"" },
			"$.message_id: " ID_RULE },
		{ { "message_id", "\"../" ID "\"" }, "$.message_id: " ID_RULE },
		{ { "thread_id", "\"x\"" }, "$.thread_id: " ID_RULE },
		{ { "thread_id", NULL }, "$.thread_id: is required" },
		{ { "in_reply_to", "\" \"" }, "$.in_reply_to: " ID_RULE },
		{ { "in_reply_to", "false" }, "$.in_reply_to: must be a string, not boolean" },
		{ { "references", "\"" ID "\"" }, "$.references: must be a list, not string" },
		{ { "references", "null" }, "$.references: must be a list, not null" },
		{ { "references", "[\"" ID "\",\"x\",\"y\"]" }, "$.references: " ID_RULE },
		{ { "references", "[\"x\",1,null]" },
			"$.references[1]: must be a string, not integer; "
			"$.references[2]: must be a string, not null" },
		{ { "created_at_utc", NULL }, "$.created_at_utc: is required" },
		{ { "created_at_utc", "1773202500" },
			"$.created_at_utc: must be a string, not integer" },
		{ { "created_at_utc", "\"2026-03-11T04:15:00+00:00\"" },
			"$.created_at_utc: " TIME_RULE },
		{ { "created_at_utc", "\"2026-03-11T04:15:00z\"" },
			"$.created_at_utc: " TIME_RULE },
		{ { "created_at_utc", "\"2026-02-30T04:15:00Z\"" },
			"$.created_at_utc: " TIME_RULE },
		{ { "created_at_utc", "\"2026-03-11T04:15:60Z\"" },
			"$.created_at_utc: " TIME_RULE },
		{ { "created_at_utc", "\"2026-03-11\"" }, "$.created_at_utc: " TIME_RULE },
		{ { "created_at_utc", "\"1969-03-11T04:15:00Z\"" },
			"$.created_at_utc: " TIME_RULE },
		{ { "sender", NULL }, "$.sender: is required" },
		{ { "sender", "\"alice@houmao.localhost\"" },
			"$.sender: must be an object, not string" },
		{ { "sender", "{}" },
			"$.sender.principal_id: is required; $.sender.address: is required" },
		{ { "sender",
			  "{\"address\":\" \",\"principal_id\":\"\\u00a0\",\"role\":\"\","
			  "\"display_name\":1,\"manifest_path_hint\":\" \",\"x\":1}" },
			"$.sender.principal_id: must not be empty; "
			"$.sender.address: must not be empty; "
			"$.sender.display_name: must be a string, not integer; "
			"$.sender.manifest_path_hint: must not be empty; "
			"$.sender.role: must not be empty" },
		{ { "to", NULL }, "$.to: is required" },
		{ { "to", "null" }, "$.to: must be a list, not null" },
		{ { "to", BOB }, "$.to: must be a list, not object" },
		{ { "to", "[]" }, "$: delivery payload must include at least one recipient" },
		{ { "to", "[3]" }, "$.to[0]: must be an object, not integer" },
		{ { "to", "[{\"principal_id\":\"x\",\"address\":\"research\"}]" },
			"$.to[0].address: " FORM_RULE },
		{ { "to", "[{\"principal_id\":\"x\",\"address\":\"../x@b\"}]" },
			"$.to[0].address: " FORM_RULE },
		{ { "to", "[" BOB ",{\"principal_id\":\"x\",\"address\":\"a b@c\"}]" },
			"$.to[1].address: mailbox addresses must not contain whitespace" },
		{ { "to", "[{\"principal_id\":\"x\",\"address\":\"a..b@c\"}]" },
			"$.to[0].address: mailbox addresses must not contain empty dot segments" },
		{ { "cc", "null" }, "$.cc: must be a list, not null" },
		{ { "cc", "[{\"principal_id\":\"x\",\"address\":\"a@b\",\"adress\":1}]" },
			"$.cc[0].adress: is not known; did you mean address?" },
		{ { "reply_to", "[null]" }, "$.reply_to[0]: must be an object, not null" },
		{ { "subject", NULL }, "$.subject: is required" },
		{ { "subject", "\" \\t\\n\"" }, "$.subject: must not be empty" },
		{ { "subject", "[]" }, "$.subject: must be a string, not list" },
		{ { "attachments", "{}" }, "$.attachments: must be a list, not object" },
		{ { "attachments", "[\"/x\"]" },
			"$.attachments[0]: must be an object, not string" },
		{ { "attachments", "[{}]" },
			"$.attachments[0].attachment_id: is required; "
			"$.attachments[0].kind: is required; $.attachments[0].path: is required; "
			"$.attachments[0].media_type: is required" },
		{ { "attachments",
			  "[{\"attachment_id\":\"\",\"kind\":\"inline\",\"path\":\"x\","
			  "\"media_type\":\" \",\"sha256\":\"abc\",\"size_bytes\":-1}]" },
			"$.attachments[0].attachment_id: must not be empty; "
			"$.attachments[0].kind: Input should be 'path_ref' or 'managed_copy'; "
			"$.attachments[0].media_type: must not be empty; "
			"$.attachments[0].sha256: " DIGEST_RULE "; "
			"$.attachments[0].size_bytes: must be greater than or equal to zero" },
		{ { "attachments",
			  "[{\"attachment_id\":\"a\",\"kind\":1,\"path\":\"/"
			  "x\",\"media_type\":\"m\","
			  "\"sha256\":\"" HEX64
			  "0\",\"size_bytes\":true,\"label\":\"\",\"x\":0}]" },
			"$.attachments[0].kind: Input should be 'path_ref' or 'managed_copy'; "
			"$.attachments[0].sha256: " DIGEST_RULE "; "
			"$.attachments[0].size_bytes: must be an integer, not boolean; "
			"$.attachments[0].label: must not be empty; "
			"$.attachments[0].x: is not known" },
		{ { "attachments",
			  "[{\"attachment_id\":\"a\",\"kind\":\"path_ref\",\"path\":\"x/y\","
			  "\"media_type\":\"m\",\"size_bytes\":10.0}]" },
			"$.attachments[0].size_bytes: must be an integer, not number" },
		{ { "attachments",
			  "[{\"attachment_id\":\"a\",\"kind\":\"path_ref\",\"path\":\"x/y\","
			  "\"media_type\":\"m\"}]" },
			"$.attachments[0]: path_ref attachments must use an absolute path" },
		{ { "headers", "null" }, "$.headers: must be an object, not null" },
		{ { "headers", "[]" }, "$.headers: must be an object, not list" },
		{ { "headers", "{\"a\":1,\" \":2}" }, "$.headers: header keys must not be empty" },
		{ { "headers", "{\"b\":0,\"a\":1,\"a \":2}" },
			"$.headers: header keys must not stand twice" },
		{ { "protocol_version", "3" }, "$.protocol_version: is not known" },
		{ { "notify_block", "null" }, "$.notify_block: is not known" },
		{ { "body_markdown", "\"\"" }, "$.body_markdown: is not known" },
		{ { "from", ALICE }, "$.from: is not known" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mailbox_message m = { .subject = "kept" };
		const char *got = read_changed(arena, &cases[i].change, 1, MR_MAILBOX_PAYLOAD, &m);

		CHECK_STR(got, mr_arena_printf(arena, "delivery payload: %s", cases[i].issues));
		CHECK_STR(m.subject, "kept");
	}
}

static void keeps_the_order_of_the_contract(void)
{
	static const char *const paths[] = { "$.message_id", "$.thread_id", "$.in_reply_to",
		"$.references", "$.created_at_utc", "$.sender.address", "$.to[0]",
		"$.cc[0].principal_id", "$.cc[0].z", "$.reply_to", "$.subject", "$.attachments[0]",
		"$.headers", "$.zebra", "$.ape" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *value = parse(arena,
		"{\"zebra\":1,\"headers\":1,\"attachments\":[1],\"subject\":\"\",\"reply_to\":1,"
		"\"cc\":[{\"z\":1,\"address\":\"a@b\"}],\"to\":[1],"
		"\"sender\":{\"principal_id\":\"x\",\"address\":\"y\"},\"created_at_utc\":\"now\","
		"\"references\":1,\"in_reply_to\":1,\"thread_id\":1,\"message_id\":1,\"ape\":1}");
	struct mr_mailbox_message m;
	struct mr_issues issues;
	struct mr_cursor at = mr_cursor_root(value, &issues);

	mr_issues_init(&issues, arena);
	CHECK(!mr_mailbox_message_read(arena, &at, MR_MAILBOX_PAYLOAD, &m));
	for (size_t i = 0; i < MR_LEN(paths) && i < issues.len; i++)
		CHECK_STR(issues.items[i].path, paths[i]);
	CHECK_INT(issues.len, MR_LEN(paths));
	CHECK_INT(issues.items[0].kind, MR_ISSUE_TYPE);
	CHECK_STR(issues.items[0].expected, "string");
	CHECK_STR(issues.items[3].expected, "list");
	CHECK_STR(issues.items[6].expected, "object");
	CHECK_INT(issues.items[7].kind, MR_ISSUE_MISSING);
	CHECK_INT(issues.items[8].kind, MR_ISSUE_UNKNOWN);
	CHECK_INT(issues.items[5].kind, MR_ISSUE_RULE);
}

static void words_the_seeds_failure(void)
{
	static const struct change bad = { "to",
		"[{\"principal_id\":\"HOUMAO-x\",\"address\":\"research\"}]" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m;

	CHECK_STR(read_changed(arena, &bad, 1, MR_MAILBOX_PAYLOAD, &m),
		"delivery payload: $.to[0].address: mailbox addresses must be full-form email-like "
		"values such as `research@houmao.localhost`");
}

static void refuses_what_is_no_object(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m;

	CHECK_STR(read_value(arena, parse(arena, "[]"), MR_MAILBOX_PAYLOAD, &m),
		"delivery payload: $: must be an object, not list");
	CHECK_STR(read_value(arena, parse(arena, "null"), MR_MAILBOX_DOCUMENT, &m),
		"delivery payload: $: must be an object, not null");
}

/* Rules between fields: one at a time, in both wordings. */
static void checks_threads(void)
{
	static const struct {
		struct change changes[3];
		const char *document;
		const char *payload;
	} cases[] = {
		{ { { "thread_id", "\"" OTHER "\"" } },
			"root messages must use message_id as thread_id",
			"root deliveries must use message_id as thread_id" },
		{ { { "references", "[\"" OTHER "\"]" }, { "thread_id", "\"" OTHER "\"" } },
			"root messages must use message_id as thread_id",
			"root deliveries must use message_id as thread_id" },
		{ { { "references", "[\"" OTHER "\"]" } },
			"root messages must not include references",
			"root deliveries must not include references" },
		{ { { "in_reply_to", "\"" OTHER "\"" } }, "reply messages must include references",
			"reply deliveries must include references" },
		{ { { "in_reply_to", "\"" OTHER "\"" },
			  { "references", "[\"" OTHER "\",\"" ID "\"]" } },
			"references must end with in_reply_to",
			"references must end with in_reply_to" },
	};
	static const struct change reply[] = {
		{ "thread_id", "\"" OTHER "\"" },
		{ "in_reply_to", "\"" OTHER "\"" },
		{ "references", "[\"" OTHER "\",\"" OTHER "\"]" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const struct change *changes = cases[i].changes;

		CHECK_STR(read_changed(arena, changes, 3, MR_MAILBOX_DOCUMENT, &m),
			mr_arena_printf(arena, "delivery payload: $: %s", cases[i].document));
		CHECK_STR(read_changed(arena, changes, 3, MR_MAILBOX_PAYLOAD, &m),
			mr_arena_printf(arena, "delivery payload: $: %s", cases[i].payload));
	}
	/* Which thread a reply is in, and that it is its own parent's, is not asked. */
	CHECK_STR(read_changed(arena, reply, 3, MR_MAILBOX_PAYLOAD, &m), "");
	CHECK_STR(read_changed(arena, reply + 1, 2, MR_MAILBOX_PAYLOAD, &m), "");
}

static void leaves_rules_when_a_field_is_wrong(void)
{
	static const struct change changes[] = { { "thread_id", "\"" OTHER "\"" },
		{ "subject", "\"\"" } };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m;
	struct mr_issues issues;
	struct mr_cursor at = mr_cursor_root(changed(arena, changes, 1), &issues);

	CHECK_STR(read_changed(arena, changes, 2, MR_MAILBOX_PAYLOAD, &m),
		"delivery payload: $.subject: must not be empty");
	/* Also when the wrong one was the caller's: then nothing was found here. */
	mr_issues_init(&issues, arena);
	mr_cursor_refuse(&at, "staged_message_path");
	CHECK(mr_mailbox_message_read(arena, &at, MR_MAILBOX_PAYLOAD, &m));
	CHECK_INT(issues.len, 1);
}

static void reads_documents(void)
{
	static const struct {
		struct change changes[2];
		const char *issues;
	} cases[] = {
		{ { { "protocol_version", "3" } }, NULL },
		{ { { "protocol_version", "1" } }, NULL },
		{ { { "protocol_version", "2" } },
			"$.protocol_version: protocol_version must be 3, or 1 in old messages, not "
			"2" },
		{ { { "protocol_version", "-3" } },
			"$.protocol_version: protocol_version must be 3, or 1 in old messages, not "
			"-3" },
		{ { { "protocol_version", "\"3\"" } },
			"$.protocol_version: must be an integer, not string" },
		{ { { "protocol_version", "3.0" } },
			"$.protocol_version: must be an integer, not number" },
		{ { { "protocol_version", "null" } },
			"$.protocol_version: must be an integer, not null" },
		{ { { "sender", NULL }, { "from", ALICE } }, NULL },
		{ { { "sender", NULL } }, "$.from: is required" },
		{ { { "from", ALICE } }, "$.sender: is not known" },
		{ { { "sender", NULL }, { "from", "{\"principal_id\":\"a\"}" } },
			"$.from.address: is required" },
		{ { { "to", "[]" } }, "$.to: must include at least one recipient" },
		{ { { "staged_message_path", "\"/x\"" } }, "$.staged_message_path: is not known" },
		{ { { "notify_block", "null" }, { "notify_auth", "null" } }, NULL },
		{ { { "notify_block", "\"x\"" } },
			"$.notify_block: must be an object, not string" },
		{ { { "notify_block", "{}" } }, "$.notify_block.text: is required" },
		{ { { "notify_block", "{\"text\":\" \\n\",\"placement\":\"top\",\"x\":1}" } },
			"$.notify_block.text: must not be empty; "
			"$.notify_block.placement: Input should be 'append' or 'prepend'; "
			"$.notify_block.x: is not known" },
		{ { { "notify_block", "{\"text\":\"x\",\"placement\":null}" } },
			"$.notify_block.placement: Input should be 'append' or 'prepend'" },
		{ { { "notify_auth", "{}" } }, NULL },
		{ { { "notify_auth", "[]" } }, "$.notify_auth: must be an object, not list" },
		{ { { "notify_auth", "{\"scheme\":\"jws\"}" } },
			"$.notify_auth.scheme: notify_auth scheme 'jws': verifier not yet "
			"supported" },
		{ { { "notify_auth", "{\"scheme\":\"shared-token\",\"token\":\" \"}" } },
			"$.notify_auth.scheme: notify_auth scheme 'shared-token': verifier not yet "
			"supported; $.notify_auth.token: must not be empty" },
		{ { { "notify_auth", "{\"scheme\":\"plain\",\"iat\":1,\"sub\":\"x\"}" } },
			"$.notify_auth.scheme: Input should be 'none', 'shared-token', "
			"'hmac-sha256' or 'jws'; $.notify_auth.iat: must be a string, not integer; "
			"$.notify_auth.sub: is not known" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mailbox_message m;
		const char *got = read_changed(arena, cases[i].changes, 2, MR_MAILBOX_DOCUMENT, &m);

		if (cases[i].issues)
			CHECK_STR(got,
				mr_arena_printf(arena, "delivery payload: %s", cases[i].issues));
		else
			CHECK_STR(got, "");
	}
}

static void reads_versions_and_notices(void)
{
	static const struct change changes[] = {
		{ "protocol_version", "1" },
		{ "notify_block", "{\"text\":\"  look \",\"placement\":\"prepend\"}" },
		{ "notify_auth", "{\"token\":\" t \",\"iss\":\"i\",\"iat\":\"a\",\"exp\":\"e\"}" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	char *text = mr_arena_alloc(arena, 700);
	struct change longer = { "notify_block", NULL };
	struct mr_mailbox_message m;

	CHECK_STR(read_changed(arena, changes, 3, MR_MAILBOX_DOCUMENT, &m), "");
	CHECK_INT(m.protocol_version, 1);
	CHECK_STR(m.notify_block->text, "  look ");
	CHECK(m.notify_block->prepend);
	CHECK_STR(m.notify_auth->scheme, "none");
	CHECK_STR(m.notify_auth->token, "t");
	CHECK_STR(m.notify_auth->iss, "i");
	CHECK_STR(m.notify_auth->iat, "a");
	CHECK_STR(m.notify_auth->exp, "e");

	memset(text, 'x', 513);
	longer.json = mr_arena_printf(arena, "{\"text\":\"%s\"}", text);
	CHECK_STR(read_changed(arena, &longer, 1, MR_MAILBOX_DOCUMENT, &m), "");
	CHECK(!m.notify_block->prepend);
	CHECK_STR(m.notify_block->text + 510, "x\xe2\x80\xa6");
}

/* `count` times `item`, with commas, in brackets. */
static const char *many(struct mr_arena *arena, size_t count, const char *item)
{
	size_t len = strlen(item);
	char *json = mr_arena_alloc(arena, count * (len + 1) + 3);
	char *at = json;

	*at++ = '[';
	for (size_t i = 0; i < count; i++) {
		memcpy(at, item, len);
		at += len;
		*at++ = ',';
	}
	at[count ? -1 : 0] = ']';
	return json;
}

static const char *long_text(struct mr_arena *arena, size_t len)
{
	char *json = mr_arena_alloc(arena, len + 3);

	memset(json, 'x', len + 2);
	json[0] = '"';
	json[len + 1] = '"';
	return json;
}

static void holds_its_limits(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *refs = many(arena, MR_MAILBOX_REFERENCES + 1, "\"" ID "\"");
	const char *file = "{\"attachment_id\":\"a\",\"kind\":\"path_ref\",\"path\":\"/x\","
			   "\"media_type\":\"m\"}";
	char deep[80] = "{\"a\":";
	const struct {
		struct change changes[2];
		const char *issues; /* NULL: it fits */
	} cases[] = {
		{ { { "subject", long_text(arena, MR_MAILBOX_SUBJECT_BYTES) } }, NULL },
		{ { { "subject", long_text(arena, MR_MAILBOX_SUBJECT_BYTES + 1) } },
			"$.subject: must not be longer than 65536 bytes" },
		{ { { "sender",
			  mr_arena_printf(arena, "{\"address\":\"a@b\",\"principal_id\":%s}",
				  long_text(arena, MR_MAILBOX_TEXT_BYTES + 1)) } },
			"$.sender.principal_id: must not be longer than 4096 bytes" },
		{ { { "sender",
			  mr_arena_printf(arena, "{\"principal_id\":\"p\",\"address\":\"a@%s}",
				  long_text(arena, 220) + 1) } },
			"$.sender.address: mailbox addresses must not be longer than 221 bytes" },
		{ { { "message_id", long_text(arena, 100000) } }, "$.message_id: " ID_RULE },
		{ { { "to", many(arena, MR_MAILBOX_RECIPIENTS, BOB) } }, NULL },
		{ { { "to", many(arena, MR_MAILBOX_RECIPIENTS, BOB) }, { "cc", "[" ALICE "]" } },
			"$: to and cc together must not hold more than 1000 entries" },
		{ { { "to", many(arena, MR_MAILBOX_RECIPIENTS + 1, BOB) } },
			"$.to: must not hold more than 1000 entries" },
		{ { { "to", many(arena, 100000, "1") } },
			"$.to: must not hold more than 1000 entries" },
		{ { { "cc", many(arena, 100000, "{}") } },
			"$.cc: must not hold more than 1000 entries" },
		{ { { "reply_to", many(arena, 1001, BOB) } },
			"$.reply_to: must not hold more than 1000 entries" },
		{ { { "references", refs } },
			"$.references: must not hold more than 10000 entries" },
		{ { { "attachments", many(arena, 1001, file) } },
			"$.attachments: must not hold more than 1000 entries" },
		{ { { "headers",
			  mr_arena_printf(arena, "{\"a\":%s}",
				  many(arena, MR_MAILBOX_HEADER_NODES - 3, "1")) } },
			NULL },
		{ { { "headers",
			  mr_arena_printf(arena, "{\"a\":%s}",
				  many(arena, MR_MAILBOX_HEADER_NODES - 2, "1")) } },
			"$.headers: must not hold more than 30000 values and keys, nor nest deeper "
			"than 30" },
		{ { { "headers", deep } },
			"$.headers: must not hold more than 30000 values and keys, nor nest deeper "
			"than 30" },
	};
	struct mr_mailbox_message m;
	struct change ok = { "headers", deep };

	/* One map and 30 lists; then one list fewer fits. */
	memset(deep + 5, '[', 30);
	memset(deep + 35, ']', 30);
	memcpy(deep + 65, "}", 2);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const char *got = read_changed(arena, cases[i].changes, 2, MR_MAILBOX_PAYLOAD, &m);

		CHECK_STR(got,
			cases[i].issues
				? mr_arena_printf(arena, "delivery payload: %s", cases[i].issues)
				: "");
	}
	deep[5] = ' ';
	deep[64] = ' ';
	CHECK_STR(read_changed(arena, &ok, 1, MR_MAILBOX_PAYLOAD, &m), "");
}

static void reads_single_fields(void)
{
	static const char *const three[] = { "safe", "force", "stash", NULL };
	static const char *const one[] = { "safe", NULL };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *value =
		parse(arena, "{\"null\":null,\"word\":\" force\",\"force\":\"force\",\"n\":1}");
	const char *text = "kept";
	size_t choice = 9;
	struct mr_issues issues;
	struct mr_cursor root = mr_cursor_root(value, &issues);
	struct mr_cursor word = mr_cursor_key(&root, "word");
	struct mr_cursor force = mr_cursor_key(&root, "force");
	struct mr_cursor null = mr_cursor_key(&root, "null");
	struct mr_cursor absent = mr_cursor_key(&root, "absent");
	struct mr_cursor number = mr_cursor_key(&root, "n");

	mr_issues_init(&issues, arena);
	CHECK(mr_mailbox_read_choice(&force, three, &choice));
	CHECK_INT(choice, 1);
	CHECK(mr_mailbox_read_text(arena, &word, &text));
	CHECK_STR(text, "force");
	CHECK(mr_mailbox_read_text_opt(arena, &null, &text) && !text);
	text = "kept";
	CHECK(mr_mailbox_read_text_opt(arena, &absent, &text) && !text);
	CHECK_INT(issues.len, 0);

	text = "kept";
	CHECK(!mr_mailbox_read_choice(&word, three, &choice));
	CHECK(!mr_mailbox_read_choice(&null, one, &choice));
	CHECK(!mr_mailbox_read_choice(&absent, three, &choice));
	CHECK(!mr_mailbox_read_text(arena, &null, &text));
	CHECK(!mr_mailbox_read_text_opt(arena, &number, &text));
	CHECK(!mr_mailbox_read_address(arena, &number, &text));
	CHECK_INT(choice, 1);
	CHECK_STR(text, "kept");
	CHECK_INT(issues.len, 6);
	CHECK_STR(issues.items[0].msg, "Input should be 'safe', 'force' or 'stash'");
	CHECK_STR(issues.items[1].msg, "Input should be 'safe'");
	CHECK_INT(issues.items[2].kind, MR_ISSUE_MISSING);
	CHECK_INT(issues.items[3].kind, MR_ISSUE_TYPE);
}

static void compares(void)
{
	static const struct change cases[][3] = {
		{ { "message_id", "\"" OTHER "\"" }, { "thread_id", "\"" OTHER "\"" } },
		{ { "in_reply_to", "\"" OTHER "\"" }, { "references", "[\"" OTHER "\"]" } },
		{ { "created_at_utc", "\"2026-03-11T04:15:01Z\"" } },
		{ { "sender", BOB } },
		{ { "to", "[" ALICE "]" } },
		{ { "to", "[" BOB "," BOB "]" } },
		{ { "cc", "[" BOB "]" } },
		{ { "reply_to", "[" BOB "]" } },
		{ { "subject", "\"hello\"" } },
		{ { "headers", "{\"a\":1}" } },
		{ { "attachments",
			"[{\"attachment_id\":\"a\",\"kind\":\"path_ref\",\"path\":\"/x\","
			"\"media_type\":\"m\"}]" } },
	};
	static const char *const files[] = {
		"[{\"attachment_id\":\"a\",\"kind\":\"path_ref\",\"path\":\"/x\","
		"\"media_type\":\"m\"}]",
		"[{\"attachment_id\":\"b\",\"kind\":\"path_ref\",\"path\":\"/x\","
		"\"media_type\":\"m\"}]",
		"[{\"attachment_id\":\"a\",\"kind\":\"managed_copy\",\"path\":\"/x\","
		"\"media_type\":\"m\"}]",
		"[{\"attachment_id\":\"a\",\"kind\":\"path_ref\",\"path\":\"/y\","
		"\"media_type\":\"m\"}]",
		"[{\"attachment_id\":\"a\",\"kind\":\"path_ref\",\"path\":\"/x\","
		"\"media_type\":\"n\"}]",
		"[{\"attachment_id\":\"a\",\"kind\":\"path_ref\",\"path\":\"/x\","
		"\"media_type\":\"m\",\"size_bytes\":0}]",
		"[{\"attachment_id\":\"a\",\"kind\":\"path_ref\",\"path\":\"/x\","
		"\"media_type\":\"m\",\"label\":\"l\"}]",
		"[{\"attachment_id\":\"a\",\"kind\":\"path_ref\",\"path\":\"/x\","
		"\"media_type\":\"m\",\"sha256\":\"" HEX64 "\"}]",
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message a;
	struct mr_mailbox_message b;

	CHECK_STR(read_changed(arena, NULL, 0, MR_MAILBOX_PAYLOAD, &a), "");
	CHECK_STR(read_changed(arena, NULL, 0, MR_MAILBOX_DOCUMENT, &b), "");
	b.protocol_version = 1;
	CHECK(mr_mailbox_message_same(&a, &b, true));
	b.body = mr_bytes_text("x");
	CHECK(mr_mailbox_message_same(&a, &b, false));
	CHECK(!mr_mailbox_message_same(&a, &b, true));
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_STR(read_changed(arena, cases[i], 3, MR_MAILBOX_PAYLOAD, &b), "");
		if (mr_mailbox_message_same(&a, &b, false))
			test_fail(__FILE__, __LINE__, "case %zu is the same", i);
	}
	for (size_t i = 0; i < MR_LEN(files); i++) {
		struct change x = { "attachments", files[0] };
		struct change y = { "attachments", files[i] };

		CHECK_STR(read_changed(arena, &x, 1, MR_MAILBOX_PAYLOAD, &a), "");
		CHECK_STR(read_changed(arena, &y, 1, MR_MAILBOX_PAYLOAD, &b), "");
		CHECK_INT(mr_mailbox_message_same(&a, &b, false), i == 0);
	}
}

static void compares_participants(void)
{
	static const struct mr_mailbox_principal base_principal = { "p", "a@b", "d", "m", "r" };
	static const struct mr_mailbox_principal says_less = { "p", "a@b", NULL, NULL, NULL };
	static const struct mr_mailbox_principal others[] = {
		{ "q", "a@b", "d", "m", "r" },
		{ "p", "a@c", "d", "m", "r" },
		{ "p", "a@b", "x", "m", "r" },
		{ "p", "a@b", "d", "x", "r" },
		{ "p", "a@b", "d", "m", "x" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message a;
	struct mr_mailbox_message b;

	CHECK_STR(read_changed(arena, NULL, 0, MR_MAILBOX_PAYLOAD, &a), "");
	a.sender = base_principal;
	b = a;
	CHECK(mr_mailbox_message_same(&a, &b, true));
	b.sender = says_less;
	CHECK(mr_mailbox_message_same(&a, &b, true));
	for (size_t i = 0; i < MR_LEN(others); i++) {
		b.sender = others[i];
		CHECK(!mr_mailbox_message_same(&a, &b, true));
	}
}

static void lists_each_recipient_once(void)
{
	static const struct change changes[] = {
		{ "to", "[" BOB "," ALICE "," BOB "]" },
		{ "cc",
			"[{\"principal_id\":\"HOUMAO-bob\",\"address\":\"bob@houmao.localhost\","
			"\"role\":\"x\"},{\"principal_id\":\"c\",\"address\":\"Bob@houmao."
			"localhost\"}]" },
	};
	static const struct change conflict = { "cc",
		"[{\"principal_id\":\"eve\",\"address\":\"bob@houmao.localhost\"}]" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_principals got = { 0 };
	struct mr_mailbox_message m;
	struct mr_err err;

	CHECK_STR(read_changed(arena, changes, 2, MR_MAILBOX_PAYLOAD, &m), "");
	CHECK_OK(mr_mailbox_message_recipients(arena, &m, &got, &err), err);
	CHECK_INT(got.len, 3);
	CHECK_STR(got.items[0].address, "bob@houmao.localhost");
	CHECK(!got.items[0].role);
	CHECK_STR(got.items[1].address, "alice@houmao.localhost");
	CHECK_STR(got.items[2].address, "Bob@houmao.localhost");

	CHECK_STR(read_changed(arena, &conflict, 1, MR_MAILBOX_PAYLOAD, &m), "");
	CHECK_INT(mr_mailbox_message_recipients(arena, &m, &got, &err), MR_EINVAL);
	CHECK_STR(err.msg,
		"conflicting owners for recipient bob@houmao.localhost: HOUMAO-bob and eve");
	CHECK_INT(got.len, 3);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(reads_and_normalises),
		TEST(fills_in_defaults),
		TEST(reports_each_field),
		TEST(keeps_the_order_of_the_contract),
		TEST(words_the_seeds_failure),
		TEST(refuses_what_is_no_object),
		TEST(checks_threads),
		TEST(leaves_rules_when_a_field_is_wrong),
		TEST(reads_documents),
		TEST(reads_versions_and_notices),
		TEST(holds_its_limits),
		TEST(reads_single_fields),
		TEST(compares),
		TEST(compares_participants),
		TEST(lists_each_recipient_once),
	};
	return test_main(tests, MR_LEN(tests));
}
