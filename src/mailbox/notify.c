/*
 * mailbox/notify.c - Extracts the sender's notice from a message body, cuts it to its maximum
 * length and writes it back as a fenced block.
 */
#include "mailbox/notify.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "mailbox/limits.h"
#include "text/markdown.h"

#include <string.h>

#define INFO "houmao-notify"

const char *mr_mailbox_notify_extract(struct mr_arena *arena, struct mr_bytes body)
{
	struct mr_markdown_fence fence;

	mr_markdown_fence_find(arena, body, INFO, &fence);
	/* An empty fence ends the search: a second one does not stand in for it. */
	return fence.closed && fence.text[0] ? fence.text : NULL;
}

static void put_fence(struct mr_buf *buf, const char *text)
{
	mr_buf_puts(buf, "```" INFO "\n");
	mr_buf_puts(buf, text);
	mr_buf_puts(buf, "\n```");
}

struct mr_bytes mr_mailbox_notify_mirror(struct mr_arena *arena, struct mr_bytes body,
	const struct mr_mailbox_notify_block *block)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_markdown_fence fence;

	mr_buf_init(&buf, body.len + strlen(block->text) + strlen("```" INFO "\n\n```\n\n"));
	mr_markdown_fence_find(arena, body, INFO, &fence);
	if (fence.closed)
		return body;
	if (block->prepend || body.len == 0)
		put_fence(&buf, block->text);
	if (block->prepend && body.len > 0)
		mr_buf_puts(&buf, "\n\n");
	mr_buf_add(&buf, body.data, body.len);
	if (!block->prepend && body.len > 0) {
		mr_buf_puts(&buf, "\n\n");
		put_fence(&buf, block->text);
	}
	return mr_bytes_of(mr_arena_memdup(arena, buf.data, buf.len), buf.len);
}

static enum mr_code check_body(struct mr_bytes body, struct mr_err *err)
{
	const char *text = (const char *)body.data;
	size_t bad;

	if (body.len == 0)
		return MR_OK;
	if (memchr(text, '\0', body.len))
		return mr_err_set(err, MR_EINVAL, "the body must not contain NUL");
	if (!mr_utf8_is_valid(text, body.len, &bad))
		return mr_err_set(err, MR_EINVAL, "the body is not UTF-8 at byte %zu", bad);
	return MR_OK;
}

static enum mr_code check_text(const char *text, struct mr_err *err)
{
	size_t len = strlen(text);
	size_t bad;

	if (!mr_utf8_is_valid(text, len, &bad))
		return mr_err_set(err, MR_EINVAL, "notify_block: text is not UTF-8 at byte %zu",
			bad);
	mr_utf8_strip(&text, &len);
	if (len == 0)
		return mr_err_set(err, MR_EINVAL, "notify_block: text must not be empty");
	return MR_OK;
}

static enum mr_code compose_explicit(struct mr_arena *arena, struct mr_mailbox_message *message,
	struct mr_err *err)
{
	struct mr_mailbox_notify_block *block =
		mr_arena_memdup(arena, message->notify_block, sizeof(*block));
	enum mr_code rc = check_text(block->text, err);

	if (rc)
		return rc;
	block->text = mr_mailbox_notify_cut(arena, block->text);
	if (mr_markdown_fence_is_closed_by(mr_bytes_text(block->text)))
		return mr_err_set(err, MR_EINVAL,
			"notify_block: text must not hold a line of three backticks: "
			"it would end its own fence");
	message->body = mr_mailbox_notify_mirror(arena, message->body, block);
	message->notify_block = block;
	return MR_OK;
}

enum mr_code mr_mailbox_notify_compose(struct mr_arena *arena, bool is_explicit,
	struct mr_mailbox_message *message, struct mr_err *err)
{
	struct mr_mailbox_notify_block *block = NULL;
	const char *text;
	enum mr_code rc = check_body(message->body, err);

	if (rc)
		return rc;
	if (is_explicit)
		return message->notify_block ? compose_explicit(arena, message, err) : MR_OK;
	text = mr_mailbox_notify_extract(arena, message->body);
	if (text) {
		block = mr_arena_alloc(arena, sizeof(*block));
		block->text = mr_mailbox_notify_cut(arena, text);
	}
	message->notify_block = block;
	return MR_OK;
}
