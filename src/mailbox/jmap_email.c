/* mailbox/jmap_email.c - reads a message from an Email of a JMAP server. */
#include "mailbox/jmap_email.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "mailbox/jmap_email_private.h"
#include "mailbox/limits.h"
#include "mailbox/notify.h"
#include "mailbox/root.h"
#include "text/clean.h"
#include "text/html.h"
#include "text/json.h"
#include "text/time.h"
#include "text/token.h"

#include <string.h>

#define NO_SUBJECT "(no subject)"
#define NO_SENDER  "unknown@invalid.local"
#define ID_DOMAIN  "@" MR_MAILBOX_DOMAIN
#define EPOCH      "1970-01-01T00:00:00Z"

const char *mr_jmap_email_message_id(struct mr_arena *arena, const char *id)
{
	return mr_arena_printf(arena, "%s" ID_DOMAIN, id);
}

const char *mr_jmap_email_id(struct mr_arena *arena, const char *message_id)
{
	const char *id;

	if (!mr_str_ends(message_id, ID_DOMAIN))
		return NULL;
	id = mr_arena_strndup(arena, message_id, strlen(message_id) - strlen(ID_DOMAIN));
	return mr_token_is_message_id(id) ? id : NULL;
}

/* --- what is asked for --- */

static const char *const properties[] = { "id", "blobId", "threadId", "mailboxIds", "keywords",
	"receivedAt", "sentAt", "messageId", "inReplyTo", "references", "from", "to", "cc",
	"replyTo", "subject", "textBody", "bodyValues", "attachments", MR_JMAP_EMAIL_HEADER_TEXT,
	MR_JMAP_EMAIL_ORIGIN_TEXT, MR_JMAP_EMAIL_POLICY_TEXT };
static const char *const part_properties[] = { "partId", "blobId", "size", "name", "type" };

static void put_words(struct mr_out *out, const char *key, const char *const *words, size_t count)
{
	mr_out_list(out, key);
	for (size_t i = 0; i < count; i++)
		mr_out_text(out, NULL, words[i]);
	mr_out_end(out);
}

void mr_jmap_email_ask(struct mr_out *args, size_t text_bytes)
{
	put_words(args, "properties", properties, MR_LEN(properties));
	put_words(args, "bodyProperties", part_properties, MR_LEN(part_properties));
	mr_out_bool(args, "fetchTextBodyValues", true);
	mr_out_int(args, "maxBodyValueBytes", (int64_t)text_bytes);
}

/* --- reading: what may be missing or of another type is as if it were not there --- */

static size_t items_at(const struct mr_value *map, const char *key, const struct mr_value **out)
{
	const struct mr_value *value = mr_value_get(map, key);

	if (!value || value->kind != MR_LIST)
		return 0;
	*out = value->list.items;
	return value->list.len;
}

static bool flag_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_BOOL && value->boolean;
}

/* On one line, without white space around it; NULL when nothing is left. */
static const char *line(struct mr_arena *arena, const char *text)
{
	char *copy;
	size_t len;

	if (!text)
		return NULL;
	copy = mr_arena_strdup(arena, text);
	for (char *c = copy; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	}
	text = copy;
	len = strlen(text);
	mr_utf8_strip(&text, &len);
	if (len > MR_MAILBOX_SUBJECT_BYTES)
		len = mr_utf8_truncate(text, len, MR_MAILBOX_SUBJECT_BYTES);
	return len ? mr_arena_strndup(arena, text, len) : NULL;
}

static struct mr_texts texts_at(struct mr_arena *arena, const struct mr_value *map, const char *key)
{
	const struct mr_value *items = NULL;
	size_t count = items_at(map, key, &items);
	struct mr_texts out = { mr_arena_array(arena, count + 1, sizeof(*out.items)), 0 };

	for (size_t i = 0; i < count && out.len < MR_MAILBOX_REFERENCES; i++) {
		if (items[i].kind == MR_TEXT)
			out.items[out.len++] = items[i].text;
	}
	out.items[out.len] = NULL;
	return out;
}

/* The keys of a set, {"a": true}. */
static struct mr_texts set_at(struct mr_arena *arena, const struct mr_value *map, const char *key)
{
	const struct mr_value *set = mr_value_get(map, key);
	size_t count = set && set->kind == MR_MAP ? set->map.len : 0;
	struct mr_texts out = { mr_arena_array(arena, count + 1, sizeof(*out.items)), 0 };

	for (size_t i = 0; i < count; i++) {
		if (flag_at(set, set->map.pairs[i].key))
			out.items[out.len++] = set->map.pairs[i].key;
	}
	out.items[out.len] = NULL;
	return out;
}

/* To whole seconds; NULL when it is no time. */
static const char *time_at(struct mr_arena *arena, const struct mr_value *map, const char *key)
{
	const char *text = mr_value_text(map, key);
	struct mr_err err;
	int64_t us;

	if (!text || mr_time_parse(text, MR_TIME_LENIENT, &us, &err))
		return NULL;
	return mr_time_format(arena, us, MR_TIME_SECONDS);
}

/* --- the header with what mail has no place for --- */

/* Base64 in words, which a server may have folded anywhere. */
static const char *without_blanks(struct mr_arena *arena, const char *text)
{
	char *out = mr_arena_strdup(arena, text);
	size_t len = 0;

	for (const char *c = text; *c; c++) {
		if (!strchr(" \t\r\n", *c))
			out[len++] = *c;
	}
	out[len] = '\0';
	return out;
}

struct original {
	const struct mr_mailbox_message *message; /* or NULL */
	int64_t body_bytes;                       /* or -1 */
};

/* NULL message: there is no such header, or it is not whole. */
static struct original read_original(struct mr_arena *arena, const struct mr_value *email,
	const char *original_id)
{
	const char *text = mr_value_text(email, MR_JMAP_EMAIL_HEADER_TEXT);
	struct original out = { NULL, -1 };
	struct mr_mailbox_message *message = mr_arena_alloc(arena, sizeof(*message));
	const struct mr_value *value = NULL, *length;
	struct mr_issues issues;
	struct mr_cursor root, at;
	struct mr_bytes bytes;
	struct mr_err err;

	if (!text || strlen(text) > 2 * MR_JMAP_EMAIL_HEADER_BYTES ||
		mr_token_base64url_decode(arena, without_blanks(arena, text), &bytes, &err) ||
		mr_json_parse(arena, bytes, NULL, &value, &err))
		return out;
	root = mr_cursor_root(value, &issues);
	mr_issues_init(&issues, arena);
	at = mr_cursor_key(&root, "message");
	if (!mr_mailbox_message_read(arena, &at, MR_MAILBOX_DOCUMENT, message))
		return out;
	/* Of another mail, from which it was copied. */
	if (original_id && !mr_str_eq(message->message_id, original_id))
		return out;
	length = mr_value_get(value, "body_bytes");
	if (length && length->kind == MR_INT)
		out.body_bytes = length->integer;
	out.message = message;
	return out;
}

/* --- who --- */

static const struct mr_mailbox_principal *find_principal(const struct mr_mailbox_message *original,
	const char *address)
{
	const struct mr_mailbox_principals lists[] = {
		{ (struct mr_mailbox_principal *)&original->sender, 1 },
		original->to,
		original->cc,
		original->reply_to,
	};

	for (size_t l = 0; l < MR_LEN(lists); l++) {
		for (size_t i = 0; i < lists[l].len; i++) {
			if (mr_str_eq(lists[l].items[i].address, address))
				return &lists[l].items[i];
		}
	}
	return NULL;
}

static struct mr_mailbox_principal read_principal(struct mr_arena *arena,
	const struct mr_value *value, const struct mr_mailbox_message *original)
{
	const char *address = line(arena, mr_value_text(value, "email"));
	struct mr_mailbox_principal out = {
		.address = address ? address : NO_SENDER,
		.display_name = line(arena, mr_value_text(value, "name")),
	};
	const struct mr_mailbox_principal *known =
		original ? find_principal(original, out.address) : NULL;

	if (known) {
		out = *known;
		/* An address in its place: the writer did not know it. */
		if (mr_str_eq(out.principal_id, out.address))
			out.principal_id = NULL;
	}
	return out;
}

static struct mr_mailbox_principals read_principals(struct mr_arena *arena,
	const struct mr_value *email, const char *key, const struct mr_mailbox_message *original)
{
	const struct mr_value *items = NULL;
	size_t count = items_at(email, key, &items);
	struct mr_mailbox_principals out;

	if (count > MR_MAILBOX_RECIPIENTS)
		count = MR_MAILBOX_RECIPIENTS;
	out = (struct mr_mailbox_principals){ mr_arena_array(arena, count + 1, sizeof(*out.items)),
		0 };
	for (size_t i = 0; i < count; i++)
		out.items[out.len++] = read_principal(arena, &items[i], original);
	return out;
}

static struct mr_mailbox_principal read_sender(struct mr_arena *arena, const struct mr_value *email,
	const struct mr_mailbox_message *original)
{
	const struct mr_value *items = NULL;
	static const struct mr_value nobody = { .kind = MR_NULL };

	return read_principal(arena, items_at(email, "from", &items) ? &items[0] : &nobody,
		original);
}

/* --- what --- */

/* The body's parts; HTML, where a mail has nothing else, as Markdown. */
static struct mr_bytes read_body(struct mr_arena *arena, const struct mr_value *email, bool *is_cut)
{
	struct mr_buf body MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *values = mr_value_get(email, "bodyValues"), *items = NULL;
	size_t count = items_at(email, "textBody", &items);

	mr_buf_init(&body, MR_MAILBOX_DOCUMENT_BYTES);
	for (size_t i = 0; i < count; i++) {
		const char *part = mr_value_text(&items[i], "partId");
		const struct mr_value *value = part ? mr_value_get(values, part) : NULL;
		const char *text = mr_value_text(value, "value");

		if (!text)
			continue;
		*is_cut |= flag_at(value, "isTruncated");
		text = mr_str_eq_nocase(mr_value_text(&items[i], "type"), "text/html")
			? mr_html_to_markdown(arena, text, MR_MAILBOX_DOCUMENT_BYTES)
			: mr_clean_body(arena, mr_bytes_text(text));
		if (body.len)
			mr_buf_puts(&body, "\n\n");
		mr_buf_puts(&body, text);
	}
	*is_cut |= body.failed;
	return mr_bytes_of(mr_arena_memdup(arena, mr_buf_text(&body), body.len), body.len);
}

/* Servers end a text's last line, whether or not its writer did. */
static struct mr_bytes cut_end(struct mr_bytes body, int64_t written)
{
	if (written >= 0 && body.len == (size_t)written + 1 && body.data[body.len - 1] == '\n')
		body.len--;
	return body;
}

/* What the writer said of the attachment, if the mail still has the same ones. */
static void describe(const struct mr_mailbox_message *original, size_t which, size_t count,
	struct mr_mailbox_attachment *out)
{
	const struct mr_mailbox_attachment *said;

	if (!original || original->attachments.len != count)
		return;
	said = &original->attachments.items[which];
	if (said->size_bytes >= 0 && out->size_bytes >= 0 && said->size_bytes != out->size_bytes)
		return;
	out->attachment_id = said->attachment_id;
	out->sha256 = said->sha256;
	if (said->label)
		out->label = said->label;
	if (said->media_type)
		out->media_type = said->media_type;
}

static struct mr_mailbox_attachments read_attachments(struct mr_arena *arena,
	const struct mr_value *email, const struct mr_mailbox_message *original)
{
	const struct mr_value *items = NULL;
	size_t count = items_at(email, "attachments", &items);
	struct mr_mailbox_attachments out;

	if (count > MR_MAILBOX_ATTACHMENTS)
		count = MR_MAILBOX_ATTACHMENTS;
	out = (struct mr_mailbox_attachments){ mr_arena_array(arena, count + 1, sizeof(*out.items)),
		0 };
	for (size_t i = 0; i < count; i++) {
		const char *blob = mr_value_text(&items[i], "blobId"),
			   *type = mr_value_text(&items[i], "type");
		const char *part = mr_value_text(&items[i], "partId");
		const struct mr_value *size = mr_value_get(&items[i], "size");
		struct mr_mailbox_attachment *one = &out.items[out.len];

		if (!blob)
			continue;
		*one = (struct mr_mailbox_attachment){
			.attachment_id = part ? part : blob,
			.kind = MR_MAILBOX_TRANSPORT_OWNED,
			.path = mr_arena_printf(arena, "blob:%s", blob),
			.media_type = type ? type : "application/octet-stream",
			.size_bytes = size && size->kind == MR_INT && size->integer >= 0
				? size->integer
				: -1,
			.label = line(arena, mr_value_text(&items[i], "name")),
		};
		describe(original, out.len, count, one);
		out.len++;
	}
	return out;
}

/* Of mail without the writer's own header: the headers that say what the operator wants. */
static const struct mr_value *read_headers(struct mr_arena *arena, const struct mr_value *email)
{
	static const struct {
		const char *property, *key;
	} known[] = {
		{ MR_JMAP_EMAIL_ORIGIN_TEXT, "x-houmao-origin" },
		{ MR_JMAP_EMAIL_POLICY_TEXT, "x-houmao-reply-policy" },
	};
	struct mr_value *out = mr_arena_alloc(arena, sizeof(*out));

	*out = (struct mr_value){ .kind = MR_MAP };
	out->map.pairs = mr_arena_array(arena, MR_LEN(known), sizeof(*out->map.pairs));
	for (size_t i = 0; i < MR_LEN(known); i++) {
		const char *text = line(arena, mr_value_text(email, known[i].property));

		if (text)
			out->map.pairs[out->map.len++] =
				(struct mr_pair){ known[i].key, { .kind = MR_TEXT, .text = text } };
	}
	return out;
}

/* The notice: as its writer said, else as it stands in the body. */
static void read_notice(struct mr_arena *arena, struct mr_mailbox_message *content,
	const struct mr_mailbox_message *original)
{
	struct mr_mailbox_notify_block *block;
	const char *text;

	if (original) {
		content->notify_block = original->notify_block;
		content->notify_auth = original->notify_auth;
		return;
	}
	text = mr_mailbox_notify_extract(arena, content->body);
	if (!text)
		return;
	block = mr_arena_alloc(arena, sizeof(*block));
	*block = (struct mr_mailbox_notify_block){ .text = mr_mailbox_notify_cut(arena, text) };
	content->notify_block = block;
}

enum mr_code mr_jmap_email_read(struct mr_arena *arena, const struct mr_value *value,
	struct mr_jmap_email *out, struct mr_err *err)
{
	struct mr_texts ids = texts_at(arena, value, "messageId");
	struct mr_texts answered = texts_at(arena, value, "inReplyTo");
	const struct mr_value *keywords = mr_value_get(value, "keywords");
	const char *subject = line(arena, mr_value_text(value, "subject"));
	struct mr_jmap_email email = {
		.id = mr_value_text(value, "id"),
		.blob_id = mr_value_text(value, "blobId"),
		.message_id = ids.len ? ids.items[0] : NULL,
		.sent_at = time_at(arena, value, "sentAt"),
		.mailboxes = set_at(arena, value, "mailboxIds"),
		.is_read = flag_at(keywords, "$seen"),
		.is_answered = flag_at(keywords, "$answered"),
		.is_draft = flag_at(keywords, "$draft"),
		.is_flagged = flag_at(keywords, "$flagged"),
	};
	const char *received = time_at(arena, value, "receivedAt");
	struct original original;

	if (mr_str_is_empty(email.id))
		return mr_err_set(err, MR_EFORMAT, "an Email of the server has no id");
	email.original_id = email.message_id ? mr_jmap_email_id(arena, email.message_id) : NULL;
	original = read_original(arena, value, email.original_id);
	email.original = original.message;
	if (original.message)
		email.original_id = original.message->message_id;
	email.content = (struct mr_mailbox_message){
		.protocol_version = 3,
		.message_id = email.id,
		.thread_id = mr_value_text(value, "threadId"),
		.in_reply_to = answered.len ? answered.items[0] : NULL,
		.references = texts_at(arena, value, "references"),
		.created_at_utc = received ? received
			: email.sent_at    ? email.sent_at
					   : EPOCH,
		.sender = read_sender(arena, value, email.original),
		.to = read_principals(arena, value, "to", email.original),
		.cc = read_principals(arena, value, "cc", email.original),
		.reply_to = read_principals(arena, value, "replyTo", email.original),
		.subject = subject ? subject : NO_SUBJECT,
		.attachments = read_attachments(arena, value, email.original),
		.headers = email.original ? email.original->headers : read_headers(arena, value),
		.body = cut_end(read_body(arena, value, &email.is_cut), original.body_bytes),
	};
	read_notice(arena, &email.content, email.original);
	*out = email;
	return MR_OK;
}
