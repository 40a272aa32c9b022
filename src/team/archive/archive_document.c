/*
 * team/archive/archive_document.c - Writes and parses a message as an archive file, and writes the
 * digest of a thread.
 */
#include "team/archive/archive_document.h"

#include "base/utf8.h"
#include "team/limits.h"
#include "text/frontmatter.h"
#include "text/json.h"
#include "text/time.h"
#include "text/yaml.h"

#include <string.h>

enum { DEPTH = 32, NODES = 200000 };

static const struct mr_json_limits json_limits = { MR_TEAM_DOCUMENT_BYTES, DEPTH, NODES };
static const struct mr_yaml_limits yaml_limits = { MR_TEAM_DOCUMENT_BYTES, DEPTH, NODES };

/* --- writing --- */

static void put_text(struct mr_yaml_writer *w, const char *key, const char *text)
{
	struct mr_value value = { .kind = text ? MR_TEXT : MR_NULL, .text = text };

	mr_yaml_key(w, key);
	mr_yaml_value_flow(w, &value);
}

/* 0 is null. */
static void put_id(struct mr_yaml_writer *w, const char *key, int64_t id)
{
	mr_yaml_key(w, key);
	if (id)
		mr_yaml_int(w, id);
	else
		mr_yaml_null(w);
}

static void put_texts(struct mr_arena *arena, struct mr_yaml_writer *w, const char *key,
	const struct mr_texts *texts)
{
	struct mr_value value = { .kind = MR_LIST,
		.list = { mr_arena_array(arena, texts->len, sizeof(struct mr_value)),
			texts->len } };

	for (size_t i = 0; i < texts->len; i++)
		value.list.items[i] = (struct mr_value){ .kind = MR_TEXT, .text = texts->items[i] };
	mr_yaml_key(w, key);
	mr_yaml_value_flow(w, &value);
}

/* Whole seconds as the seed writes them; what is between is not lost. */
static const char *time_text(struct mr_arena *arena, int64_t us)
{
	return mr_time_format(arena, us, us % MR_TIME_S ? MR_TIME_MICROS : MR_TIME_SECONDS);
}

static void put_head(struct mr_arena *arena, struct mr_buf *buf,
	const struct mr_team_document *document, const struct mr_value *attachments)
{
	struct mr_yaml_writer w;

	mr_yaml_init(&w, buf);
	mr_yaml_begin_map(&w);
	put_text(&w, "id", document->uid);
	put_id(&w, "message_id", document->message_id);
	put_text(&w, "project", document->project);
	put_text(&w, "project_slug", document->project_slug);
	put_text(&w, "from", document->from);
	put_texts(arena, &w, "to", &document->to);
	put_texts(arena, &w, "cc", &document->cc);
	if (document->addressed) {
		struct mr_texts groups = mr_str_split(arena, document->addressed, '\n');

		put_texts(arena, &w, "addressed", &groups);
	}
	if (document->has_bcc)
		put_texts(arena, &w, "bcc", &document->bcc);
	put_text(&w, "thread_id", document->thread_id);
	put_id(&w, "reply_to", document->reply_to);
	put_text(&w, "subject", document->subject);
	put_text(&w, "importance", mr_team_importance_name(document->importance));
	mr_yaml_key(&w, "ack_required");
	mr_yaml_bool(&w, document->ack_required);
	put_text(&w, "created_ts", time_text(arena, document->created_ts));
	mr_yaml_key(&w, "attachments");
	mr_yaml_value_flow(&w, attachments);
	mr_yaml_end(&w);
}

enum mr_code mr_team_document_write(struct mr_arena *arena, struct mr_buf *buf,
	const struct mr_team_document *document, struct mr_err *err)
{
	struct mr_buf head MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *attachments = NULL;
	enum mr_code rc = mr_json_parse(arena, mr_bytes_text(document->attachments), &json_limits,
		&attachments, err);
	struct mr_frontmatter parts = { .form = MR_FRONTMATTER_YAML, .body = document->body };

	mr_buf_init(&head, MR_TEAM_DOCUMENT_BYTES);
	if (!rc && attachments->kind != MR_LIST)
		rc = mr_err_set(err, MR_EFORMAT, "must be a list, not %s",
			mr_kind_name(attachments->kind));
	if (rc)
		return mr_err_wrap(err, "attachments of %s", document->uid);
	put_head(arena, &head, document, attachments);
	rc = mr_buf_check(&head, "the front matter", err);
	parts.head = mr_buf_bytes(&head);
	if (!rc)
		rc = mr_frontmatter_join(buf, &parts, err);
	if (rc || document->body.len == 0)
		return rc;
	/* A text file ends in a newline; this one is the file's, not the body's. */
	mr_buf_putc(buf, '\n');
	return mr_buf_check(buf, "the document", err);
}

/* --- reading --- */

static enum mr_code parse_head(struct mr_arena *arena, const struct mr_frontmatter *parts,
	const struct mr_value **out, struct mr_err *err)
{
	const struct mr_value *head = NULL;
	enum mr_code rc = parts->form == MR_FRONTMATTER_JSON
		? mr_json_parse(arena, parts->head, &json_limits, &head, err)
		: mr_yaml_parse(arena, parts->head, &yaml_limits, &head, err);

	if (!rc && head->kind != MR_MAP)
		rc = mr_err_set(err, MR_EFORMAT, "must be a mapping, not %s",
			mr_kind_name(head->kind));
	if (rc)
		return mr_err_wrap(err, "front matter");
	*out = head;
	return MR_OK;
}

/* What stands under a key: its text, or NULL. */
static const char *text_at(const struct mr_value *head, const char *key)
{
	const struct mr_value *value = mr_value_get(head, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static int64_t int_at(const struct mr_value *head, const char *key)
{
	const struct mr_value *value = mr_value_get(head, key);

	return value && value->kind == MR_INT && value->integer > 0 ? value->integer : 0;
}

/* A list of texts; a text alone is a list of one; nothing is none. */
static enum mr_code texts_at(struct mr_arena *arena, const struct mr_value *head, const char *key,
	struct mr_texts *out, struct mr_err *err)
{
	const struct mr_value *value = mr_value_get(head, key);
	size_t len = value && value->kind == MR_LIST ? value->list.len : 1;

	out->items = mr_arena_array(arena, len + 1, sizeof(*out->items));
	out->len = 0;
	if (!value || value->kind == MR_NULL)
		return MR_OK;
	if (value->kind == MR_TEXT) {
		out->items[out->len++] = value->text;
		return MR_OK;
	}
	for (size_t i = 0; value->kind == MR_LIST && i < len; i++) {
		if (value->list.items[i].kind == MR_TEXT)
			out->items[out->len++] = value->list.items[i].text;
	}
	if (value->kind != MR_LIST || out->len < len)
		return mr_err_set(err, MR_EFORMAT, "%s must be a list of names", key);
	return MR_OK;
}

/* The peers' ids are numbers, ours are texts with the number beside. */
static void read_ids(const struct mr_value *head, struct mr_team_document *out)
{
	const struct mr_value *thread = mr_value_get(head, "thread_id");

	out->uid = text_at(head, "id");
	out->message_id = int_at(head, out->uid ? "message_id" : "id");
	out->thread_id = text_at(head, "thread_id");
	/* Unquoted by a person's hand: 17 is the thread "17". */
	if (!out->thread_id && thread && thread->plain && thread->kind != MR_NULL)
		out->thread_id = thread->plain;
	if (mr_str_is_empty(out->thread_id))
		out->thread_id = NULL;
	out->reply_to = int_at(head, "reply_to");
	out->project = text_at(head, "project");
	out->project_slug = text_at(head, "project_slug");
	out->from = text_at(head, "from");
	out->subject = text_at(head, "subject");
}

static enum mr_code read_rest(struct mr_arena *arena, const struct mr_value *head,
	struct mr_team_document *out, struct mr_err *err)
{
	const struct mr_value *ack = mr_value_get(head, "ack_required");
	const struct mr_value *attachments = mr_value_get(head, "attachments");
	const char *created = text_at(head, "created_ts");
	const char *importance = text_at(head, "importance");
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer w;

	mr_buf_init(&json, MR_TEAM_DOCUMENT_BYTES);
	out->importance = MR_TEAM_NORMAL;
	if (importance)
		mr_team_importance_of(importance, &out->importance);
	out->ack_required = ack && ack->kind == MR_BOOL && ack->boolean;
	if (!created)
		created = text_at(head, "created");
	if (!created)
		return mr_err_set(err, MR_EFORMAT, "created_ts is missing");
	if (mr_time_parse(created, MR_TIME_LENIENT, &out->created_ts, err))
		return mr_err_set(err, MR_EFORMAT, "created_ts is no time: %s", created);
	out->attachments = "[]";
	if (!attachments || attachments->kind != MR_LIST)
		return MR_OK;
	mr_json_init(&w, &json, MR_JSON_COMPACT);
	mr_json_value(&w, attachments);
	out->attachments = mr_arena_strdup(arena, mr_buf_text(&json));
	return mr_buf_check(&json, "attachments", err);
}

static enum mr_code read_head(struct mr_arena *arena, const struct mr_value *head,
	struct mr_team_document *out, struct mr_err *err)
{
	struct mr_texts groups = { NULL, 0 };
	enum mr_code rc;

	read_ids(head, out);
	if (mr_str_is_empty(out->from))
		return mr_err_set(err, MR_EFORMAT, "from is missing");
	if (!out->subject)
		return mr_err_set(err, MR_EFORMAT, "subject is missing");
	if (!out->uid && !out->message_id)
		return mr_err_set(err, MR_EFORMAT, "id is missing");
	rc = texts_at(arena, head, "to", &out->to, err);
	if (!rc)
		rc = texts_at(arena, head, "cc", &out->cc, err);
	if (!rc)
		rc = texts_at(arena, head, "bcc", &out->bcc, err);
	out->has_bcc = mr_value_get(head, "bcc") != NULL;
	if (!rc)
		rc = texts_at(arena, head, "addressed", &groups, err);
	if (!rc && groups.len)
		out->addressed = mr_str_join(arena, &groups, "\n");
	return rc ? rc : read_rest(arena, head, out, err);
}

enum mr_code mr_team_document_parse(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_team_document *out, struct mr_err *err)
{
	struct mr_team_document document = { 0 };
	const struct mr_value *head = NULL;
	struct mr_frontmatter parts;
	enum mr_code rc;

	if (bytes.len > MR_TEAM_DOCUMENT_BYTES)
		return mr_err_set(err, MR_ELIMIT, "the file is longer than %d bytes",
			MR_TEAM_DOCUMENT_BYTES);
	rc = mr_frontmatter_split(bytes, MR_TEAM_DOCUMENT_BYTES, &parts, err);
	if (!rc)
		rc = parse_head(arena, &parts, &head, err);
	if (!rc)
		rc = read_head(arena, head, &document, err);
	if (!rc &&
		(memchr(parts.body.data, 0, parts.body.len) ||
			!mr_utf8_is_valid((const char *)parts.body.data, parts.body.len, NULL)))
		rc = mr_err_set(err, MR_EFORMAT, "the body is not UTF-8, or holds NUL");
	if (rc)
		return rc;
	document.body = parts.body;
	/* The last newline is the file's, ours and the peers'. */
	if (document.body.len > 0 && document.body.data[document.body.len - 1] == '\n')
		document.body.len--;
	*out = document;
	return MR_OK;
}

/* --- the digest --- */

/* One line, whatever was put into it. */
static void put_line(struct mr_buf *buf, const char *text)
{
	for (const char *at = text; *at; at++)
		mr_buf_putc(buf, (unsigned char)*at < 0x20 || *at == 0x7f ? ' ' : *at);
}

/* Bytes of the first `chars` characters. */
static size_t prefix_bytes(const char *text, size_t len, size_t chars)
{
	size_t at = 0;

	for (; chars > 0 && at < len; chars--) {
		uint32_t c;
		size_t size = mr_utf8_next(text + at, len - at, &c);

		at += size ? size : 1;
	}
	return at;
}

#define DASH  " \xe2\x80\x94 "
#define ARROW " \xe2\x86\x92 "

/* Does the line read as one that the digest itself writes: who wrote a message, or its title? */
static bool is_heading_of_digest(const char *line)
{
	const char *at = line + strspn(line, " ");

	return mr_str_starts(at, "# Thread ") || mr_str_starts(at, "[View canonical](") ||
		(*at == '#' && strstr(at, DASH) && strstr(at, ARROW));
}

/* A body cannot imitate the digest's own lines: a backslash makes them plain text. */
static void put_body(struct mr_arena *arena, struct mr_buf *buf, const char *body, size_t len)
{
	size_t at = 0;

	while (at < len) {
		const char *end = memchr(body + at, '\n', len - at);
		size_t size = end ? (size_t)(end - body) - at : len - at;
		const char *line = mr_arena_strndup(arena, body + at, size);
		size_t blanks = strspn(line, " ");

		if (is_heading_of_digest(line)) {
			mr_buf_add(buf, line, blanks);
			mr_buf_putc(buf, '\\');
			mr_buf_puts(buf, line + blanks);
		} else {
			mr_buf_add(buf, body + at, size);
		}
		if (end)
			mr_buf_putc(buf, '\n');
		at += size + (end != NULL);
	}
}

static void put_item(struct mr_arena *arena, struct mr_buf *buf,
	const struct mr_team_digest_item *item)
{
	size_t len = strlen(item->body);
	size_t kept = prefix_bytes(item->body, len, MR_TEAM_DIGEST_CHARS);

	if (*item->subject) {
		mr_buf_puts(buf, "### ");
		put_line(buf, item->subject);
		mr_buf_puts(buf, "\n\n");
	}
	mr_buf_printf(buf, "## %s" DASH "%s" ARROW "%s\n\n", time_text(arena, item->created_ts),
		item->from, mr_str_join(arena, &item->to, ", "));
	mr_buf_printf(buf, "[View canonical](%s)\n\n", item->canonical);
	put_body(arena, buf, item->body, kept);
	mr_buf_puts(buf, kept < len ? "\n...\n\n---\n\n" : "\n\n---\n\n");
}

void mr_team_digest_write(struct mr_arena *arena, struct mr_buf *buf, const char *thread_id,
	int64_t part, const struct mr_team_digest_item *items, size_t count)
{
	mr_buf_puts(buf, "# Thread ");
	put_line(buf, thread_id);
	if (part > 1)
		mr_buf_printf(buf, " (part %lld)", (long long)part);
	mr_buf_puts(buf, "\n\n");
	for (size_t i = 0; i < count; i++)
		put_item(arena, buf, &items[i]);
}
