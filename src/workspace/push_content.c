/* workspace/push_content.c - digests of what a push would do. */
#include "workspace/push_content.h"

#include <string.h>

void mr_work_push_add_text(struct mr_digest *digest, const char *text)
{
	if (text)
		mr_digest_add(digest, text, strlen(text) + 1);
	else
		mr_digest_add(digest, "\1", 2);
}

void mr_work_push_add_value(struct mr_ctx *cx, struct mr_digest *digest,
	const struct mr_value *value)
{
	struct mr_bytes bytes = { 0 };

	if (value)
		bytes = mr_work_pretty(cx, value);
	mr_digest_add(digest, bytes.data, bytes.len);
	mr_digest_add(digest, "", 1);
}

static void add_server(struct mr_ctx *cx, struct mr_digest *digest,
	const struct mr_work_server *server)
{
	mr_work_push_add_text(digest, server->host);
	mr_work_push_add_text(digest, server->username);
	mr_work_push_add_text(digest,
		mr_arena_printf(cx->arena, "%lld %d %d", (long long)server->port, server->tls,
			server->starttls));
}

void mr_work_push_add_config(struct mr_ctx *cx, struct mr_digest *digest,
	const struct mr_work_config *config)
{
	add_server(cx, digest, &config->imap);
	add_server(cx, digest, &config->smtp);
	mr_work_push_add_value(cx, digest, mr_value_get(config->document, "mailboxes"));
}

static void add_texts(struct mr_digest *digest, const struct mr_texts *texts)
{
	for (size_t i = 0; i < texts->len; i++)
		mr_work_push_add_text(digest, texts->items[i]);
	mr_digest_add(digest, "", 1);
}

/* The mail without its Date, which is that of the moment in which it is built. We wrote the head:
 * the field is one line. */
static void add_mail(struct mr_digest *digest, struct mr_bytes mail)
{
	static const char field[] = "Date: ";
	const char *at = (const char *)mail.data, *end = at + mail.len;

	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		size_t len = line_end ? (size_t)(line_end - at) + 1 : (size_t)(end - at);

		if (len <= 2) /* the head ends */
			break;
		if (len < sizeof(field) || memcmp(at, field, sizeof(field) - 1) != 0)
			mr_digest_add(digest, at, len);
		at += len;
	}
	mr_digest_add(digest, at, (size_t)(end - at));
}

static void add_action(struct mr_ctx *cx, struct mr_digest *digest,
	const struct mr_work_push_item *item)
{
	add_texts(digest, &item->message_ids);
	for (size_t i = 0; i < item->location_count; i++) {
		const struct mr_work_push_location *at = &item->locations[i];

		mr_work_push_add_text(digest, at->message_id);
		mr_work_push_add_text(digest, at->mailbox_name);
		mr_work_push_add_text(digest,
			mr_arena_printf(cx->arena, "%lld %lld", (long long)at->uid_validity,
				(long long)at->uid));
	}
	mr_work_push_add_text(digest, item->reply_to_message_id);
	mr_work_push_add_value(cx, digest, item->steps.document);
}

const char *mr_work_push_content_id(struct mr_ctx *cx, const struct mr_work_config *config,
	const struct mr_work_push_item *item, const struct mr_work_outbound *mail)
{
	struct mr_digest *digest = mr_digest_begin_sha256();

	mr_work_push_add_text(digest, item->push_id);
	mr_work_push_add_text(digest, mr_work_push_action_names[item->action]);
	mr_work_push_add_config(cx, digest, config);
	if (item->kind == MR_WORK_PUSH_OUTBOUND) {
		mr_work_push_add_value(cx, digest,
			(item->action == MR_WORK_PUSH_SEND ? &config->draft_send
							   : &config->draft_save)
				->document);
		mr_work_push_add_text(digest, item->case_uid);
		mr_work_push_add_text(digest, mail->reply_to_message_id);
		mr_work_push_add_text(digest, mail->from);
		add_texts(digest, &mail->to);
		add_mail(digest, mail->bytes);
	} else {
		add_action(cx, digest, item);
	}
	return mr_arena_printf(cx->arena, "content_%.32s", mr_digest_end_hex(cx->arena, digest));
}
