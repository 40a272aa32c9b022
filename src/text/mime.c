/* text/mime.c - a message read: its fields as values, its parts, what was wrong with it. */
#include "text/mime.h"

#include "text/mime_private.h"
#include "text/time.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>

void mr_mime_note(struct mr_mime_notes *notes, const char *fmt, ...)
{
	const char *note;
	va_list ap;

	va_start(ap, fmt);
	note = mr_arena_vprintf(notes->arena, fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < notes->len; i++) {
		if (mr_str_eq(notes->items[i], note))
			return;
	}
	if (notes->len < MR_LEN(notes->items))
		notes->items[notes->len++] = note;
}

static bool is_named(const struct mr_mime_field *field, const char *name)
{
	return field->name.len == strlen(name) &&
		strncasecmp((const char *)field->name.data, name, field->name.len) == 0;
}

struct mr_texts mr_mime_values(struct mr_arena *arena, const struct mr_mime *mime, const char *name)
{
	struct mr_texts values = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < mime->field_count; i++)
		count += is_named(&mime->fields[i], name);
	values.items = mr_arena_array(arena, count + 1, sizeof(*values.items));
	for (size_t i = 0; i < mime->field_count && values.len < count; i++) {
		const char *value;

		if (!is_named(&mime->fields[i], name))
			continue;
		value = mr_mime_unfold(arena, mime->fields[i].value);
		if (*value)
			values.items[values.len++] = value;
	}
	return values;
}

struct mr_texts mr_mime_texts(struct mr_arena *arena, const struct mr_mime *mime, const char *name)
{
	struct mr_texts values = mr_mime_values(arena, mime, name);

	for (size_t i = 0; i < values.len; i++)
		values.items[i] = mr_mime_words_decode(arena, values.items[i]);
	return values;
}

/* The first value of the field, or NULL. */
static const char *value_of(struct mr_arena *arena, const struct mr_mime *mime, const char *name)
{
	for (size_t i = 0; i < mime->field_count; i++) {
		if (is_named(&mime->fields[i], name)) {
			const char *value = mr_mime_unfold(arena, mime->fields[i].value);

			return *value ? value : NULL;
		}
	}
	return NULL;
}

/* A field that came twice is one list. */
static struct mr_mime_addresses addresses_of(struct mr_arena *arena, const struct mr_mime *mime,
	const char *name)
{
	struct mr_texts values = mr_mime_values(arena, mime, name);

	if (values.len == 0)
		return (struct mr_mime_addresses){ 0 };
	return mr_mime_addresses_read(arena,
		values.len == 1 ? values.items[0] : mr_str_join(arena, &values, ", "));
}

static struct mr_texts ids_of(struct mr_arena *arena, const struct mr_mime *mime, const char *name)
{
	const char *value = value_of(arena, mime, name);

	return value ? mr_mime_ids_read(arena, value) : (struct mr_texts){ 0 };
}

static void read_date(struct mr_arena *arena, struct mr_mime *mime, struct mr_mime_notes *notes)
{
	const char *value = value_of(arena, mime, "Date");
	struct mr_mime_date *date = &mime->date;
	char local[MR_TIME_BYTES];
	int offset;

	if (!value)
		return;
	if (!mr_mime_date_read(value, &date->us, &date->offset_minutes)) {
		mr_mime_note(notes, "the date cannot be read");
		return;
	}
	offset = date->offset_minutes;
	mr_time_write(local, date->us + offset * MR_TIME_MIN, MR_TIME_SECONDS);
	if (offset == 0) {
		date->rfc3339 = mr_arena_strdup(arena, local);
		return;
	}
	date->rfc3339 = mr_arena_printf(arena, "%.*s%c%02d:%02d", (int)strlen(local) - 1, local,
		offset < 0 ? '-' : '+', (offset < 0 ? -offset : offset) / 60,
		(offset < 0 ? -offset : offset) % 60);
}

static void read_fields(struct mr_arena *arena, struct mr_mime *mime, struct mr_mime_notes *notes)
{
	const char *subject = value_of(arena, mime, "Subject");
	struct mr_texts ids = ids_of(arena, mime, "Message-ID");

	if (subject) {
		subject = mr_mime_words_decode(arena, subject);
		mime->subject = *subject ? subject : NULL;
	}
	mime->message_id = ids.len ? ids.items[0] : NULL;
	mime->in_reply_to = ids_of(arena, mime, "In-Reply-To");
	mime->references = ids_of(arena, mime, "References");
	mime->from = addresses_of(arena, mime, "From");
	mime->sender = addresses_of(arena, mime, "Sender");
	mime->to = addresses_of(arena, mime, "To");
	mime->cc = addresses_of(arena, mime, "Cc");
	mime->bcc = addresses_of(arena, mime, "Bcc");
	mime->reply_to = addresses_of(arena, mime, "Reply-To");
	read_date(arena, mime, notes);
}

enum mr_code mr_mime_parse(struct mr_arena *arena, struct mr_bytes bytes, struct mr_mime *out,
	struct mr_err *err)
{
	struct mr_mime_notes notes = { .arena = arena };
	struct mr_mime mime = { .bytes = bytes };

	if (bytes.len > MR_MIME_BYTES)
		return mr_err_set(err, MR_ELIMIT, "a message of %zu bytes is too big (at most %d)",
			bytes.len, MR_MIME_BYTES);
	mr_mime_scan(arena, &mime, &notes);
	read_fields(arena, &mime, &notes);
	mr_mime_body_read(arena, &mime, &notes);
	mime.notes.len = notes.len;
	mime.notes.items = mr_arena_array(arena, notes.len + 1, sizeof(*mime.notes.items));
	memcpy(mime.notes.items, notes.items, notes.len * sizeof(*notes.items));
	*out = mime;
	return MR_OK;
}

enum mr_code mr_mime_part_read(struct mr_arena *arena, const struct mr_mime *mime,
	const char *part_id, struct mr_bytes *out, struct mr_err *err)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_mime_part *part;
	int64_t id;

	if (!mr_str_to_int(part_id, &id) || id < 0 || (uint64_t)id >= mime->part_count ||
		mime->parts[id].is_multipart)
		return mr_err_set(err, MR_ENOTFOUND, "the message has no part \"%.40s\"", part_id);
	part = &mime->parts[id];
	if (part->is_broken || part->encoding == MR_MIME_PLAIN) {
		*out = part->bytes;
		return MR_OK;
	}
	/* Decoding only shortens. */
	mr_buf_init(&buf, part->bytes.len + 1);
	mr_mime_transfer_decode(part->encoding, part->bytes, &buf);
	*out = mr_bytes_of(mr_arena_memdup(arena, mr_buf_text(&buf), buf.len), buf.len);
	return MR_OK;
}
