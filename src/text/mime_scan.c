/* text/mime_scan.c - a message taken apart: header fields, and parts by their boundaries. */
#include "text/mime_private.h"

#include "base/utf8.h"

#include <string.h>
#include <strings.h>

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
};

/* A multipart whose closing delimiter has not come yet. */
struct open {
	size_t part;
	const char *boundary;
	size_t len;
};

struct scan {
	struct mr_arena *arena;
	struct mr_mime *mime;
	struct mr_mime_notes *notes;
	struct cursor at;
	struct open open[MR_MIME_DEPTH];
	size_t open_count;
	size_t leaf; /* the part whose body is being passed, or NO_PART */
	size_t field_room, part_room;
	bool is_header_cut;
};

#define NO_PART SIZE_MAX

/* The start of the next line, or the end. */
static const uint8_t *line_after(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;

	return newline ? newline + 1 : end;
}

/* The length of a field's name at `at`, or 0 when the line is no field. */
static size_t name_len(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *colon = memchr(at, ':', (size_t)(end - at));
	size_t len = 0;

	if (!colon)
		return 0;
	while (at + len < colon && at[len] > ' ' && at[len] < 0x7f)
		len++;
	for (const uint8_t *gap = at + len; gap < colon; gap++) {
		if (*gap != ' ' && *gap != '\t')
			return 0;
	}
	return len;
}

/*
 * Take a field. False at the end of the header: behind the empty line that ends it, or in front of
 * a line that is no field, which begins the body.
 */
static bool next_field(struct cursor *c, bool is_nested, struct mr_mime_field *out)
{
	const uint8_t *next = line_after(c->at, c->end);
	const uint8_t *value;
	size_t len;

	if (c->at == c->end)
		return false;
	if (*c->at == '\n' || (*c->at == '\r' && c->at + 1 < c->end && c->at[1] == '\n')) {
		c->at = next;
		return false;
	}
	if (is_nested && next - c->at >= 2 && c->at[0] == '-' && c->at[1] == '-')
		return false;
	len = name_len(c->at, next);
	if (len == 0)
		return false;
	while (next < c->end && (*next == ' ' || *next == '\t'))
		next = line_after(next, c->end);
	value = (const uint8_t *)memchr(c->at + len, ':', (size_t)(next - c->at) - len) + 1;
	out->name = mr_bytes_of(c->at, len);
	out->value = mr_bytes_of(value, (size_t)(next - value));
	c->at = next;
	return true;
}

static bool is_named(struct mr_bytes name, const char *wanted)
{
	return name.len == strlen(wanted) &&
		strncasecmp((const char *)name.data, wanted, name.len) == 0;
}

static bool is_control(uint32_t scalar)
{
	return scalar < 0x20 || (scalar >= 0x7f && scalar < 0xa0);
}

char *mr_mime_unfold(struct mr_arena *arena, struct mr_bytes value)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	size_t len = value.len > MR_MIME_VALUE_BYTES ? MR_MIME_VALUE_BYTES : value.len;
	bool at_fold = true;
	char *text;
	char *to;

	mr_buf_init(&buf, 3 * len + 1);
	mr_mime_charset_decode(&buf, NULL, mr_bytes_of(value.data, len));
	text = to = mr_arena_alloc(arena, buf.len + 1);
	for (size_t i = 0; i < buf.len;) {
		uint32_t scalar = 0;
		size_t step = mr_utf8_next(buf.data + i, buf.len - i, &scalar);
		bool is_break = scalar == '\r' || scalar == '\n';
		bool is_blank = scalar == ' ' || is_control(scalar);

		/* A line break and the blanks around it are one space. */
		if (is_break || (at_fold && is_blank)) {
			at_fold = true;
		} else {
			while (at_fold && to > text && to[-1] == ' ')
				to--;
			if (at_fold && to > text)
				*to++ = ' ';
			at_fold = false;
			if (is_blank)
				*to++ = ' ';
			else
				to = (char *)memcpy(to, buf.data + i, step) + step;
		}
		i += step;
	}
	while (to > text && to[-1] == ' ')
		to--;
	*to = '\0';
	return text;
}

static void read_field(struct scan *s, struct mr_mime_part *part, const struct mr_mime_field *field,
	struct mr_mime_type *type, struct mr_mime_disposition *disposition)
{
	const char *value;

	if (field->name.len < 8 || strncasecmp((const char *)field->name.data, "Content-", 8) != 0)
		return;
	value = mr_mime_unfold(s->arena, field->value);
	if (is_named(field->name, "Content-Type") && !type->type)
		mr_mime_type_read(s->arena, value, type);
	else if (is_named(field->name, "Content-Disposition") && !disposition->kind)
		mr_mime_disposition_read(s->arena, value, disposition);
	else if (is_named(field->name, "Content-Transfer-Encoding") && !part->encoding)
		part->encoding = mr_mime_encoding_read(value);
	else if (is_named(field->name, "Content-ID") && !part->content_id) {
		struct mr_texts ids = mr_mime_ids_read(s->arena, value);

		part->content_id = ids.len ? ids.items[0] : NULL;
	}
}

static void *grow(struct mr_arena *arena, const void *items, size_t *room, size_t size)
{
	size_t bigger = *room ? 2 * *room : 16;
	void *more = mr_arena_array(arena, bigger, size);

	if (*room)
		memcpy(more, items, *room * size);
	*room = bigger;
	return more;
}

static void keep_field(struct scan *s, const struct mr_mime_field *field)
{
	struct mr_mime *mime = s->mime;
	size_t offset = (size_t)(field->name.data - mime->bytes.data);

	if (mime->field_count == MR_MIME_FIELDS || offset > MR_MIME_HEADER_BYTES) {
		s->is_header_cut = true;
		return;
	}
	if (mime->field_count == s->field_room)
		mime->fields = grow(s->arena, mime->fields, &s->field_room, sizeof(*field));
	mime->fields[mime->field_count++] = *field;
}

/* Read a part's header; the cursor is then at its body. */
static void read_header(struct scan *s, struct mr_mime_part *part, const char *default_type,
	struct mr_mime_type *type)
{
	struct mr_mime_disposition disposition = { 0 };
	struct mr_mime_field field;
	bool is_nested = s->mime->part_count > 0;
	const uint8_t *start = s->at.at;

	while (next_field(&s->at, is_nested, &field)) {
		if (!is_nested)
			keep_field(s, &field);
		if ((size_t)(field.name.data - start) <= MR_MIME_HEADER_BYTES)
			read_field(s, part, &field, type, &disposition);
	}
	part->has_type = type->type != NULL;
	part->type = type->type ? type->type : default_type;
	part->charset = type->charset;
	part->disposition = disposition.kind;
	part->name = disposition.name ? disposition.name : type->name;
	part->is_flowed = type->is_flowed;
	part->has_delsp = type->has_delsp;
	part->bytes = mr_bytes_of(s->at.at, (size_t)(s->at.end - s->at.at));
}

static void begin_part(struct scan *s)
{
	struct mr_mime *mime = s->mime;
	struct mr_mime_type type = { 0 };
	struct mr_mime_part *part;
	bool in_digest = false;

	if (mime->part_count == s->part_room)
		mime->parts = grow(s->arena, mime->parts, &s->part_room, sizeof(*part));
	part = &mime->parts[mime->part_count];
	if (s->open_count) {
		part->parent = s->open[s->open_count - 1].part;
		in_digest = mr_str_eq(mime->parts[part->parent].type, "multipart/digest");
	}
	part->depth = s->open_count;
	read_header(s, part, in_digest ? "message/rfc822" : "text/plain", &type);
	s->leaf = mime->part_count++;
	if (!mr_str_starts(part->type, "multipart/"))
		return;
	if (!type.boundary || !*type.boundary) {
		mr_mime_note(s->notes, "part %zu has parts but names no boundary", s->leaf);
		return;
	}
	if (s->open_count == MR_MIME_DEPTH) {
		mr_mime_note(s->notes,
			"parts are nested more than %d deep; deeper ones were not read",
			MR_MIME_DEPTH);
		return;
	}
	part->is_multipart = true;
	s->open[s->open_count++] = (struct open){ s->leaf, type.boundary, strlen(type.boundary) };
	s->leaf = NO_PART;
}

/* Is the line a delimiter of this multipart? Only blanks may follow. */
static bool is_delimiter(const struct open *open, const uint8_t *at, const uint8_t *end,
	bool *closes)
{
	if ((size_t)(end - at) < open->len + 2 || memcmp(at + 2, open->boundary, open->len) != 0)
		return false;
	at += 2 + open->len;
	*closes = end - at >= 2 && at[0] == '-' && at[1] == '-';
	for (at += *closes ? 2 : 0; at < end; at++) {
		if (*at != ' ' && *at != '\t' && *at != '\r' && *at != '\n')
			return false;
	}
	return true;
}

/* The body of a part ends in front of the line break before `line`. */
static void end_body(struct mr_mime_part *part, const uint8_t *line)
{
	const uint8_t *start = part->bytes.data;

	if (line > start && line[-1] == '\n')
		line--;
	if (line > start && line[-1] == '\r')
		line--;
	part->bytes.len = (size_t)(line - start);
}

/* The line at the cursor begins with "--". False when nothing more is to be read. */
static bool pass_dashes(struct scan *s)
{
	const uint8_t *line = s->at.at;
	const uint8_t *next = line_after(line, s->at.end);

	for (size_t level = s->open_count; level-- > 0;) {
		bool closes = false;

		if (!is_delimiter(&s->open[level], line, next, &closes))
			continue;
		if (s->leaf != NO_PART)
			end_body(&s->mime->parts[s->leaf], line);
		s->leaf = NO_PART;
		for (size_t i = s->open_count; i-- > level + 1;)
			end_body(&s->mime->parts[s->open[i].part], line);
		s->open_count = level + 1;
		s->at.at = next;
		if (closes) {
			end_body(&s->mime->parts[s->open[level].part], next);
			s->open_count = level;
			return s->open_count > 0;
		}
		if (s->mime->part_count == MR_MIME_PARTS) {
			mr_mime_note(s->notes,
				"there are more than %d parts; the rest is not listed",
				MR_MIME_PARTS);
			return false;
		}
		begin_part(s);
		return true;
	}
	s->at.at = next;
	return true;
}

void mr_mime_scan(struct mr_arena *arena, struct mr_mime *mime, struct mr_mime_notes *notes)
{
	const uint8_t *start = mime->bytes.len ? mime->bytes.data : (const uint8_t *)"";
	struct scan s = {
		.arena = arena,
		.mime = mime,
		.notes = notes,
		.at = { start, start + mime->bytes.len },
		.leaf = NO_PART,
	};

	mime->bytes.data = start;
	/* The line that parts messages in a mailbox file is none of the message's. */
	if (mime->bytes.len > 5 && memcmp(start, "From ", 5) == 0)
		s.at.at = line_after(start, s.at.end);
	begin_part(&s);
	if (mime->field_count == 0)
		mr_mime_note(notes, "the message has no header");
	if (s.is_header_cut)
		mr_mime_note(notes,
			"the header has more than %d fields or %d bytes; the rest was not read",
			MR_MIME_FIELDS, MR_MIME_HEADER_BYTES);
	while (s.open_count && s.at.at < s.at.end) {
		if (s.at.end - s.at.at >= 2 && s.at.at[0] == '-' && s.at.at[1] == '-') {
			if (!pass_dashes(&s))
				break;
		} else {
			const uint8_t *found =
				memmem(s.at.at, (size_t)(s.at.end - s.at.at), "\n--", 3);

			s.at.at = found ? found + 1 : s.at.end;
		}
	}
	if (s.open_count && mime->part_count < MR_MIME_PARTS)
		mr_mime_note(notes, "the last boundary is missing; the message may be cut off");
}
