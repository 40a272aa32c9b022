/* mailbox/jmap_email_write.c - writes a message as an Email that a JMAP server creates. */
#include "base/buf.h"
#include "base/utf8.h"
#include "mailbox/jmap_email_private.h"
#include "text/json.h"
#include "text/token.h"

#include <string.h>

enum {
	VALUE_BYTES = 900, /* of a header of its own: a line of mail has 998 at most */
	WORD_BYTES = 64,   /* of base64, between places where a line may be broken */
};

/* --- the header with what mail has no place for --- */

static void put_principal(struct mr_out *out, const char *key,
	const struct mr_mailbox_principal *who)
{
	mr_out_map(out, key);
	/* Required there; the reader takes an address for: not known. */
	mr_out_text(out, "principal_id", who->principal_id ? who->principal_id : who->address);
	mr_out_text(out, "address", who->address);
	mr_out_text(out, "display_name", who->display_name);
	mr_out_text(out, "manifest_path_hint", who->manifest_path_hint);
	mr_out_text(out, "role", who->role);
	mr_out_end(out);
}

static void put_principals(struct mr_out *out, const char *key,
	const struct mr_mailbox_principals *list)
{
	mr_out_list(out, key);
	for (size_t i = 0; i < list->len; i++)
		put_principal(out, NULL, &list->items[i]);
	mr_out_end(out);
}

static const char *name_of(const struct mr_mailbox_attachment *file)
{
	const char *slash = strrchr(file->path, '/');

	if (file->label)
		return file->label;
	return slash && slash[1] ? slash + 1 : file->path;
}

static void put_file(struct mr_out *out, const struct mr_mailbox_attachment *file, bool keeps_path)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "attachment_id", file->attachment_id);
	mr_out_text(out, "kind",
		keeps_path && file->kind == MR_MAILBOX_PATH_REF ? "path_ref" : "managed_copy");
	mr_out_text(out, "path", keeps_path ? file->path : name_of(file));
	mr_out_text(out, "media_type", file->media_type);
	mr_out_text(out, "sha256", file->sha256);
	if (file->size_bytes >= 0)
		mr_out_int(out, "size_bytes", file->size_bytes);
	mr_out_text(out, "label", file->label);
	mr_out_end(out);
}

static void put_block(struct mr_out *out, const struct mr_mailbox_notify_block *block)
{
	if (!block)
		return;
	mr_out_map(out, "notify_block");
	mr_out_text(out, "text", block->text);
	mr_out_text(out, "placement", block->prepend ? "prepend" : "append");
	mr_out_end(out);
}

static void put_auth(struct mr_out *out, const struct mr_mailbox_notify_auth *auth)
{
	if (!auth)
		return;
	mr_out_map(out, "notify_auth");
	mr_out_text(out, "scheme", auth->scheme);
	mr_out_text(out, "token", auth->token);
	mr_out_text(out, "iss", auth->iss);
	mr_out_text(out, "iat", auth->iat);
	mr_out_text(out, "exp", auth->exp);
	mr_out_end(out);
}

static void put_original(struct mr_out *out, const struct mr_jmap_email_new *email)
{
	const struct mr_mailbox_message *message = email->message;

	mr_out_map(out, NULL);
	mr_out_int(out, "body_bytes", (int64_t)message->body.len);
	mr_out_map(out, "message");
	mr_out_int(out, "protocol_version", 3);
	mr_out_text(out, "message_id", message->message_id);
	mr_out_text(out, "thread_id", message->thread_id);
	mr_out_text(out, "in_reply_to", message->in_reply_to);
	mr_out_texts(out, "references", &message->references);
	mr_out_text(out, "created_at_utc", message->created_at_utc);
	put_principal(out, "from", &message->sender);
	put_principals(out, "to", &message->to);
	put_principals(out, "cc", &message->cc);
	put_principals(out, "reply_to", &message->reply_to);
	mr_out_text(out, "subject", message->subject);
	mr_out_list(out, "attachments");
	for (size_t i = 0; i < message->attachments.len; i++)
		put_file(out, &message->attachments.items[i], email->keeps_paths);
	mr_out_end(out);
	mr_out_value(out, "headers", message->headers);
	put_block(out, message->notify_block);
	put_auth(out, message->notify_auth);
	mr_out_end(out);
	mr_out_end(out);
}

/* In words of base64; NULL: it is too long for a header. */
static const char *make_original(struct mr_arena *arena, const struct mr_jmap_email_new *email)
{
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf words MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;
	const char *text;
	size_t len;

	mr_buf_init(&json, MR_JMAP_EMAIL_HEADER_BYTES / 2);
	mr_out_init_json(&out, &json, MR_JSON_COMPACT);
	put_original(&out, email);
	if (json.failed)
		return NULL;
	text = mr_token_base64url(arena, mr_buf_bytes(&json));
	len = strlen(text);
	mr_buf_init(&words, MR_JMAP_EMAIL_HEADER_BYTES);
	for (size_t at = 0; at < len; at += WORD_BYTES) {
		if (at)
			mr_buf_putc(&words, ' ');
		mr_buf_add(&words, text + at, len - at < WORD_BYTES ? len - at : WORD_BYTES);
	}
	return words.failed ? NULL : mr_arena_strndup(arena, mr_buf_text(&words), words.len);
}

/* --- headers of their own --- */

static bool is_header(const struct mr_pair *pair)
{
	const char *text = pair->value.text;
	size_t len = strlen(pair->key);

	if (pair->value.kind != MR_TEXT || strlen(text) > VALUE_BYTES || !*text || text[0] == ' ' ||
		len > WORD_BYTES ||
		(!mr_str_starts(pair->key, "x-") && !mr_str_starts(pair->key, "X-")) ||
		mr_str_eq_nocase(pair->key, MR_JMAP_EMAIL_HEADER))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-",
			    pair->key[i]))
			return false;
	}
	for (const char *c = text; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	}
	return true;
}

static void put_headers(struct mr_arena *arena, struct mr_out *out, const struct mr_value *headers)
{
	for (size_t i = 0; i < headers->map.len; i++) {
		const struct mr_pair *pair = &headers->map.pairs[i];
		bool is_repeated = false;

		for (size_t before = 0; before < i; before++)
			is_repeated |= mr_str_eq_nocase(headers->map.pairs[before].key, pair->key);
		if (!is_repeated && is_header(pair))
			mr_out_text(out, mr_arena_printf(arena, "header:%s:asText", pair->key),
				pair->value.text);
	}
}

/* --- the mail --- */

static void put_addresses(struct mr_out *out, const char *key,
	const struct mr_mailbox_principals *list)
{
	if (list->len == 0)
		return;
	mr_out_list(out, key);
	for (size_t i = 0; i < list->len; i++) {
		mr_out_map(out, NULL);
		if (list->items[i].display_name)
			mr_out_text(out, "name", list->items[i].display_name);
		mr_out_text(out, "email", list->items[i].address);
		mr_out_end(out);
	}
	mr_out_end(out);
}

static void put_set(struct mr_out *out, const char *key, const struct mr_texts *words)
{
	if (words->len == 0)
		return;
	mr_out_map(out, key);
	for (size_t i = 0; i < words->len; i++)
		mr_out_bool(out, words->items[i], true);
	mr_out_end(out);
}

static void put_ids(struct mr_out *out, const char *key, const char *const *ids, size_t count)
{
	if (count == 0)
		return;
	mr_out_list(out, key);
	for (size_t i = 0; i < count; i++)
		mr_out_text(out, NULL, ids[i]);
	mr_out_end(out);
}

static void put_thread(struct mr_arena *arena, struct mr_out *out,
	const struct mr_jmap_email_new *email)
{
	const struct mr_mailbox_message *message = email->message;
	const char *parent = email->in_reply_to;
	struct mr_texts references = { NULL, 0 };

	if (email->references) {
		references = *email->references;
	} else {
		references.items =
			mr_arena_array(arena, message->references.len + 1, sizeof(char *));
		for (size_t i = 0; i < message->references.len; i++)
			references.items[references.len++] =
				mr_jmap_email_message_id(arena, message->references.items[i]);
	}
	if (!parent && message->in_reply_to)
		parent = mr_jmap_email_message_id(arena, message->in_reply_to);
	put_ids(out, "inReplyTo", &parent, parent != NULL);
	put_ids(out, "references", references.items, references.len);
}

static void put_parts(struct mr_out *out, const struct mr_jmap_email_new *email)
{
	const struct mr_mailbox_attachments *files = &email->message->attachments;
	size_t count = 0;

	for (size_t i = 0; i < files->len; i++)
		count += email->blobs && email->blobs[i];
	if (count == 0)
		return;
	mr_out_list(out, "attachments");
	for (size_t i = 0; i < files->len; i++) {
		if (!email->blobs[i])
			continue;
		mr_out_map(out, NULL);
		mr_out_text(out, "blobId", email->blobs[i]);
		mr_out_text(out, "type", files->items[i].media_type);
		mr_out_text(out, "name", name_of(&files->items[i]));
		mr_out_text(out, "disposition", "attachment");
		mr_out_end(out);
	}
	mr_out_end(out);
}

/* A subject may have several lines in a root, a header may not. */
static const char *one_line(struct mr_arena *arena, const char *text)
{
	char *copy = mr_arena_strdup(arena, text);

	for (char *c = copy; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	}
	return copy;
}

void mr_jmap_email_write(struct mr_arena *arena, struct mr_out *out, const char *key,
	const struct mr_jmap_email_new *email)
{
	const struct mr_mailbox_message *message = email->message;
	const struct mr_mailbox_principals sender = {
		(struct mr_mailbox_principal *)&message->sender, 1
	};
	const char *id = mr_jmap_email_message_id(arena, message->message_id);
	const char *original = make_original(arena, email);

	mr_out_map(out, key);
	put_set(out, "mailboxIds", &email->mailboxes);
	put_set(out, "keywords", &email->keywords);
	if (email->is_received)
		mr_out_text(out, "receivedAt", message->created_at_utc);
	mr_out_text(out, "sentAt", message->created_at_utc);
	put_ids(out, "messageId", &id, 1);
	put_thread(arena, out, email);
	put_addresses(out, "from", &sender);
	put_addresses(out, "to", &message->to);
	put_addresses(out, "cc", &message->cc);
	put_addresses(out, "replyTo", &message->reply_to);
	mr_out_text(out, "subject", one_line(arena, message->subject));
	put_headers(arena, out, message->headers);
	if (original)
		mr_out_text(out, MR_JMAP_EMAIL_HEADER_TEXT, original);
	mr_out_map(out, "bodyValues");
	mr_out_map(out, "1");
	mr_out_text(out, "value",
		mr_arena_strndup(arena, message->body.len ? (const char *)message->body.data : "",
			message->body.len));
	mr_out_end(out);
	mr_out_end(out);
	mr_out_list(out, "textBody");
	mr_out_map(out, NULL);
	mr_out_text(out, "partId", "1");
	mr_out_text(out, "type", "text/plain");
	mr_out_end(out);
	mr_out_end(out);
	put_parts(out, email);
	mr_out_end(out);
}
