/* fuzz_mime.c - any bytes are a message, within its limits and in clean text. */
#include "base/utf8.h"
#include "text/mime.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_text(const char *text, bool is_body)
{
	size_t len = text ? strlen(text) : 0;

	if (text && !mr_utf8_is_valid(text, len, NULL))
		abort();
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == 0x7f || (c < ' ' && !(is_body && (c == '\n' || c == '\t'))))
			abort();
	}
}

static void check_addresses(struct mr_arena *arena, struct mr_mime_addresses list)
{
	if (list.len > MR_MIME_ADDRESSES)
		abort();
	for (size_t i = 0; i < list.len; i++) {
		if (mr_str_is_empty(list.items[i].email))
			abort();
		check_text(mr_mime_address_text(arena, &list.items[i]), false);
	}
}

static void check_texts(struct mr_texts texts)
{
	for (size_t i = 0; i < texts.len; i++) {
		if (mr_str_is_empty(texts.items[i]))
			abort();
		check_text(texts.items[i], false);
	}
}

static void check_parts(struct mr_arena *arena, const struct mr_mime *mime)
{
	const uint8_t *end = mime->bytes.data + mime->bytes.len;

	if (mime->part_count == 0 || mime->part_count > MR_MIME_PARTS)
		abort();
	for (size_t i = 0; i < mime->part_count; i++) {
		const struct mr_mime_part *part = &mime->parts[i];

		if (part->depth > MR_MIME_DEPTH || part->bytes.data < mime->bytes.data ||
			part->bytes.data + part->bytes.len > end || (i && part->parent >= i))
			abort();
		check_text(part->type, false);
		check_text(part->name, false);
	}
	for (size_t i = 0; i < mime->attachment_count; i++) {
		const struct mr_mime_attachment *attachment = &mime->attachments[i];
		struct mr_bytes bytes;
		struct mr_err err;

		check_text(attachment->filename, false);
		if (mr_mime_part_read(arena, mime, attachment->part_id, &bytes, &err) ||
			(int64_t)bytes.len != attachment->size_bytes)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mime mime;
	struct mr_err err;

	if (mr_mime_parse(arena, mr_bytes_of(data, len), &mime, &err))
		abort();
	check_text(mime.subject, false);
	check_text(mime.message_id, false);
	check_text(mime.date.rfc3339, false);
	check_text(mime.body_text, true);
	check_text(mime.body_html, true);
	check_addresses(arena, mime.from);
	check_addresses(arena, mime.sender);
	check_addresses(arena, mime.to);
	check_addresses(arena, mime.cc);
	check_addresses(arena, mime.bcc);
	check_addresses(arena, mime.reply_to);
	check_texts(mime.in_reply_to);
	check_texts(mime.references);
	check_texts(mime.notes);
	check_texts(mr_mime_values(arena, &mime, "Received"));
	check_parts(arena, &mime);
	return 0;
}
