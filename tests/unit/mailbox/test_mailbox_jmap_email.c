/* tests/unit/mailbox/test_mailbox_jmap_email.c - messages as a JMAP server's Emails, and back. */
#include "mailbox/jmap_email.h"

#include "mailbox/document.h"
#include "mailbox/limits.h"
#include "test.h"
#include "text/json.h"

#include <string.h>

#define ID     "msg-20260311T041500Z-0123456789abcdef0123456789abcdef"
#define PARENT "msg-20260310T041500Z-0123456789abcdef0123456789abcdef"
#define FIRST  "msg-20260309T041500Z-0123456789abcdef0123456789abcdef"

static const char answer[] =
	"---\n"
	"message_id: " ID "\n"
	"thread_id: " FIRST "\n"
	"in_reply_to: " PARENT "\n"
	"references: [" FIRST ", " PARENT "]\n"
	"created_at_utc: '2026-03-11T04:15:00Z'\n"
	"from: {principal_id: HOUMAO-a, address: a@b, display_name: \"A \\xE9\", role: r}\n"
	"to: [{principal_id: HOUMAO-b, address: b@b}, {principal_id: HOUMAO-b, address: b@b}]\n"
	"cc: [{principal_id: HOUMAO-c, address: c@b, manifest_path_hint: /m}]\n"
	"reply_to: [{principal_id: HOUMAO-d, address: d@b}]\n"
	"subject: \"Re: \\xFCber\"\n"
	"attachments: [{attachment_id: att-1, kind: path_ref, path: /x/y.txt, media_type: "
	"text/plain, sha256: " ID "}]\n"
	"headers: {x-houmao-origin: operator, x-n: 1, other: [a, {b: null}]}\n"
	"notify_block: {text: Look, placement: prepend}\n"
	"notify_auth: {scheme: none, token: t}\n"
	"---\n"
	"\n"
	"Body \xc3\xa9\nof two lines";

static struct mr_mailbox_message parse(struct mr_arena *arena, const char *document)
{
	struct mr_mailbox_message message = { 0 };
	struct mr_err err;

	CHECK_OK(mr_mailbox_document_parse(arena, mr_bytes_text(document), &message, &err), err);
	return message;
}

/* The answer without its digest, which is none. */
static struct mr_mailbox_message sample(struct mr_arena *arena)
{
	char *text = mr_arena_strdup(arena, answer);
	char *digest = strstr(text, ", sha256: ");

	memmove(digest, strchr(digest, '}'), strlen(strchr(digest, '}')) + 1);
	return parse(arena, text);
}

static const char *json(struct mr_arena *arena, const struct mr_value *value)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer w;

	mr_buf_init(&buf, 1 << 20);
	mr_json_init(&w, &buf, MR_JSON_COMPACT);
	mr_json_value(&w, value);
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

static const struct mr_value *write(struct mr_arena *arena, const struct mr_jmap_email_new *email)
{
	struct mr_out out;

	mr_out_init_tree(&out, arena);
	mr_jmap_email_write(arena, &out, NULL, email);
	return mr_out_tree(&out);
}

static const struct mr_value *value_of(struct mr_arena *arena, const char *text)
{
	const struct mr_value *value = NULL;
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena, mr_bytes_text(text), NULL, &value, &err), err);
	return value;
}

static struct mr_jmap_email read_email(struct mr_arena *arena, const struct mr_value *value)
{
	struct mr_jmap_email email = { NULL };
	struct mr_err err;

	CHECK_OK(mr_jmap_email_read(arena, value, &email, &err), err);
	return email;
}

static struct mr_jmap_email read_text(struct mr_arena *arena, const char *text)
{
	return read_email(arena, value_of(arena, text));
}

/* As a server gives it back: with its ids, the body's lines ended by CRLF, the header folded. */
static const struct mr_value *serve(struct mr_arena *arena, const struct mr_value *created)
{
	struct mr_out out;

	mr_out_init_tree(&out, arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "id", "M1");
	mr_out_text(&out, "threadId", "T1");
	mr_out_text(&out, "receivedAt", "2026-03-11T04:15:02Z");
	for (size_t i = 0; i < created->map.len; i++) {
		const struct mr_pair *pair = &created->map.pairs[i];

		if (mr_str_eq(pair->key, "header:X-Houmao-Message:asText")) {
			char *folded = mr_arena_strdup(arena, pair->value.text);

			for (char *blank = folded; (blank = strchr(blank, ' ')); blank++)
				*blank = '\t';
			mr_out_text(&out, pair->key, folded);
		} else if (!mr_str_eq(pair->key, "bodyValues") &&
			!mr_str_eq(pair->key, "receivedAt")) {
			mr_out_value(&out, pair->key, &pair->value);
		}
	}
	mr_out_map(&out, "bodyValues");
	mr_out_map(&out, "1");
	mr_out_text(&out, "value", "Body \xc3\xa9\r\nof two lines\r\n");
	mr_out_end(&out);
	mr_out_end(&out);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

static void messages_survive_a_server(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message message = sample(arena);
	const char *boxes[] = { "B1", NULL }, *keywords[] = { "$seen", NULL }, *blobs[] = { "G1" };
	const struct mr_jmap_email_new email = { .message = &message,
		.mailboxes = { boxes, 1 },
		.keywords = { keywords, 1 },
		.blobs = blobs,
		.keeps_paths = true,
		.is_received = true };
	const struct mr_value *created = write(arena, &email);
	struct mr_jmap_email got = read_email(arena, serve(arena, created));

	CHECK(got.original);
	CHECK(mr_mailbox_message_same(got.original, &message, false));
	CHECK_STR(got.original->notify_block->text, "Look");
	CHECK(got.original->notify_block->prepend);
	CHECK_STR(got.original->notify_auth->token, "t");
	CHECK_STR(got.original_id, ID);
	CHECK_STR(got.message_id, ID "@houmao.localhost");
	CHECK_STR(got.sent_at, "2026-03-11T04:15:00Z");
	CHECK_STR(got.mailboxes.items[0], "B1");
	CHECK(got.is_read && !got.is_answered && !got.is_draft && !got.is_cut);
	CHECK_STR(got.content.message_id, "M1");
	CHECK_STR(got.content.thread_id, "T1");
	CHECK_STR(got.content.created_at_utc, "2026-03-11T04:15:02Z");
	CHECK_STR(got.content.in_reply_to, PARENT "@houmao.localhost");
	CHECK_STR(got.content.references.items[0], FIRST "@houmao.localhost");
	CHECK_STR(got.content.sender.principal_id, "HOUMAO-a");
	CHECK_STR(got.content.sender.display_name, "A \xc3\xa9");
	CHECK_INT(got.content.to.len, 2);
	CHECK_STR(got.content.cc.items[0].manifest_path_hint, "/m");
	CHECK_STR(got.content.reply_to.items[0].principal_id, "HOUMAO-d");
	CHECK_STR(got.content.subject,
		"Re: \xc3\xbc"
		"ber");
	/* The line end that the server added is not the writer's. */
	CHECK_STR(mr_arena_strndup(arena, (const char *)got.content.body.data,
			  got.content.body.len),
		"Body \xc3\xa9\nof two lines");
	CHECK_STR(got.content.notify_block->text, "Look");
	CHECK_INT(got.content.attachments.len, 1);
	CHECK_INT(got.content.attachments.items[0].kind, MR_MAILBOX_TRANSPORT_OWNED);
	CHECK_STR(got.content.attachments.items[0].path, "blob:G1");
	CHECK_STR(got.content.attachments.items[0].attachment_id, "att-1");
	CHECK_STR(json(arena, got.content.headers),
		"{\"x-houmao-origin\":\"operator\",\"x-n\":1,\"other\":[\"a\",{\"b\":null}]}");
	/* Headers that mail can have are there for others to see. */
	CHECK_STR(json(arena, mr_value_get(created, "header:x-houmao-origin:asText")),
		"\"operator\"");
	CHECK(!mr_value_get(created, "header:x-n:asText"));
}

/* A server that refuses empty sets, and lists of nobody, gets none. */
static void nothing_is_written_for_nothing(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_mailbox_message message = parse(arena,
		"---\nmessage_id: " ID "\nthread_id: " ID
		"\ncreated_at_utc: '2026-03-11T04:15:00Z'\n"
		"from: {principal_id: a, address: a@b}\nto: [{principal_id: b, address: b@b}]\n"
		"subject: \"one\\ntwo\"\n---\n");
	const char *boxes[] = { "B1", NULL };
	const struct mr_jmap_email_new email = { .message = &message, .mailboxes = { boxes, 1 } };
	const struct mr_value *created = write(arena, &email);
	static const char *const absent[] = { "keywords", "inReplyTo", "references", "cc",
		"replyTo", "attachments", "receivedAt" };

	for (size_t i = 0; i < MR_LEN(absent); i++)
		CHECK(!mr_value_get(created, absent[i]));
	CHECK_STR(json(arena, mr_value_get(created, "subject")), "\"one two\"");
	CHECK_STR(json(arena, mr_value_get(created, "bodyValues")), "{\"1\":{\"value\":\"\"}}");
	CHECK_STR(json(arena, mr_value_get(created, "from")), "[{\"email\":\"a@b\"}]");
	CHECK_STR(json(arena, mr_value_get(created, "messageId")), "[\"" ID "@houmao.localhost\"]");
}

static void answers_name_the_mail_they_answer(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message message = sample(arena);
	const char *boxes[] = { "B1", NULL }, *references[] = { "x@y", "z@y", NULL };
	const struct mr_texts before = { references, 2 };
	const struct mr_jmap_email_new email = { .message = &message,
		.mailboxes = { boxes, 1 },
		.in_reply_to = "z@y",
		.references = &before };
	const struct mr_value *created = write(arena, &email);
	struct mr_jmap_email got = read_email(arena, serve(arena, created));

	CHECK_STR(json(arena, mr_value_get(created, "inReplyTo")), "[\"z@y\"]");
	CHECK_STR(json(arena, mr_value_get(created, "references")), "[\"x@y\",\"z@y\"]");
	/* Where a file was on the sender's machine is nobody else's business. */
	CHECK_STR(got.original->attachments.items[0].path, "y.txt");
	CHECK_INT(got.original->attachments.items[0].kind, MR_MAILBOX_MANAGED_COPY);
	CHECK(!mr_value_get(created, "attachments"));
}

static void mail_of_other_programs_is_read(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_jmap_email got = read_text(arena,
		"{\"id\":\"M2\",\"threadId\":\"T2\",\"receivedAt\":\"2026-03-11T06:15:02+02:00\","
		"\"messageId\":[\"abc@example.com\"],\"inReplyTo\":null,\"references\":null,"
		"\"from\":[{\"name\":\"Ann\\nB\",\"email\":\"ann@example.com\"}],"
		"\"to\":[{\"name\":null,\"email\":\"a@b\"}],\"subject\":\" \\t\","
		"\"keywords\":{\"$answered\":true,\"$seen\":false},"
		"\"mailboxIds\":{\"B1\":true,\"B2\":false},"
		"\"textBody\":[{\"partId\":\"1\",\"type\":\"text/plain\"},"
		"{\"partId\":\"3\",\"type\":\"image/png\"},{\"partId\":\"2\",\"type\":\"text/"
		"html\"}],"
		"\"bodyValues\":{\"1\":{\"value\":\"Hello\\r\\n```houmao-notify\\r\\nLook"
		"\\r\\n```\\r\\n\",\"isTruncated\":true},\"2\":{\"value\":\"<h1>x</h1>\"}},"
		"\"attachments\":[{\"partId\":\"4\",\"blobId\":\"G4\",\"size\":7,\"name\":\"a.bin\","
		"\"type\":\"application/x\"}],"
		"\"header:X-Houmao-Message:asText\":\"not of ours\","
		"\"header:X-Houmao-Origin:asText\":\" operator\"}");

	CHECK(!got.original && !got.original_id);
	CHECK(got.is_answered && !got.is_read && got.is_cut);
	CHECK_INT(got.mailboxes.len, 1);
	CHECK_STR(got.content.subject, "(no subject)");
	CHECK_STR(got.content.sender.address, "ann@example.com");
	CHECK_STR(got.content.sender.display_name, "Ann B");
	CHECK(!got.content.sender.principal_id);
	CHECK_STR(got.content.created_at_utc, "2026-03-11T04:15:02Z");
	CHECK_STR(mr_arena_strndup(arena, (const char *)got.content.body.data,
			  got.content.body.len),
		"Hello\n```houmao-notify\nLook\n```\n\n\n# x");
	CHECK_STR(got.content.notify_block->text, "Look");
	CHECK_STR(got.content.attachments.items[0].label, "a.bin");
	CHECK_INT(got.content.attachments.items[0].size_bytes, 7);
	CHECK_STR(json(arena, got.content.headers), "{\"x-houmao-origin\":\"operator\"}");
}

static void hardly_any_mail_is_read_too(void)
{
	static const char *const nothing[] = { "{}", "{\"id\":\"\"}", "{\"id\":1}", "[]", "null" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_jmap_email got = read_text(arena, "{\"id\":\"M3\",\"from\":[],\"to\":\"x\"}");
	struct mr_err err;

	CHECK_STR(got.content.sender.address, "unknown@invalid.local");
	CHECK_STR(got.content.subject, "(no subject)");
	CHECK_STR(got.content.created_at_utc, "1970-01-01T00:00:00Z");
	CHECK_INT(got.content.to.len, 0);
	CHECK_INT(got.content.body.len, 0);
	for (size_t i = 0; i < MR_LEN(nothing); i++)
		CHECK_INT(mr_jmap_email_read(arena, value_of(arena, nothing[i]), &got, &err),
			MR_EFORMAT);
}

/* A header that another mail brought along says nothing about this one. */
static void headers_of_other_mail_are_ignored(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message message = sample(arena), other = message;
	const char *boxes[] = { "B1", NULL };
	struct mr_jmap_email_new email = { .message = &other, .mailboxes = { boxes, 1 } };
	const struct mr_value *header;
	struct mr_out out;
	struct mr_jmap_email got;

	other.message_id = PARENT;
	header = mr_value_get(write(arena, &email), "header:X-Houmao-Message:asText");
	CHECK(header);
	email.message = &message;
	mr_out_init_tree(&out, arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "id", "M1");
	mr_out_value(&out, "messageId", mr_value_get(write(arena, &email), "messageId"));
	mr_out_value(&out, "header:X-Houmao-Message:asText", header);
	mr_out_end(&out);
	got = read_email(arena, mr_out_tree(&out));
	CHECK(!got.original);
	CHECK_STR(got.original_id, ID);
}

/* Without the header the mail still goes. */
static void too_much_for_a_header_is_left_out(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message message = sample(arena);
	const char *boxes[] = { "B1", NULL };
	const struct mr_jmap_email_new email = { .message = &message, .mailboxes = { boxes, 1 } };

	message.to.items = mr_arena_array(arena, 900, sizeof(*message.to.items));
	for (message.to.len = 0; message.to.len < 900; message.to.len++)
		message.to.items[message.to.len] = message.cc.items[0];
	CHECK(!mr_value_get(write(arena, &email), "header:X-Houmao-Message:asText"));
	CHECK_INT(mr_value_get(write(arena, &email), "to")->list.len, 900);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(messages_survive_a_server),
		TEST(nothing_is_written_for_nothing),
		TEST(answers_name_the_mail_they_answer),
		TEST(mail_of_other_programs_is_read),
		TEST(hardly_any_mail_is_read_too),
		TEST(headers_of_other_mail_are_ignored),
		TEST(too_much_for_a_header_is_left_out),
	};

	return test_main(tests, MR_LEN(tests));
}
