/* workspace/draft_file.c - reads and writes the files of drafts. */
#include "workspace/draft_file.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "text/frontmatter.h"
#include "text/yaml.h"
#include "workspace/error.h"

#include <string.h>

static const char *const known[] = { "kind", "case_uid", "send_intent", "reply_to_message_id",
	"identity", "subject", "to", "cc", "attachments", NULL };

static bool is_known(const char *key)
{
	for (const char *const *name = known; *name; name++)
		if (mr_str_eq(*name, key))
			return true;
	return false;
}

static enum mr_code refuse(struct mr_ctx *cx, const char *key, const char *what)
{
	return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "%s %s", key, what);
}

/* --- reading --- */

/* A scalar as the text that stood in the file: a subject may look like a number. NULL for null and
 * for what is no scalar. */
static const char *scalar(struct mr_arena *arena, const struct mr_value *value)
{
	const char *text = value->kind == MR_TEXT ? value->text : value->plain;

	return value->kind == MR_NULL || !text ? NULL : mr_str_trim(arena, text);
}

static enum mr_code read_text(struct mr_ctx *cx, const struct mr_value *head, const char *key,
	const char **out)
{
	const struct mr_value *value = mr_value_get(head, key);
	const char *text;

	*out = NULL;
	if (!value || value->kind == MR_NULL)
		return MR_OK;
	text = scalar(cx->arena, value);
	if (!text)
		return refuse(cx, key, "is not a text");
	if (*text)
		*out = text;
	return MR_OK;
}

static enum mr_code read_list(struct mr_ctx *cx, const struct mr_value *head, const char *key,
	struct mr_texts *out)
{
	const struct mr_value *value = mr_value_get(head, key);
	const char **items;

	*out = (struct mr_texts){ 0 };
	if (!value || value->kind == MR_NULL)
		return MR_OK;
	if (value->kind != MR_LIST)
		return refuse(cx, key, "is not a list");
	if (value->list.len > MR_WORK_DRAFT_LIST_MAX)
		return refuse(cx, key, "has too many elements");
	items = mr_arena_array(cx->arena, value->list.len + 1, sizeof(*items));
	*out = (struct mr_texts){ items, 0 };
	for (size_t i = 0; i < value->list.len; i++) {
		const char *text = scalar(cx->arena, &value->list.items[i]);

		if (!text || !*text)
			return refuse(cx, key, "has an element that is not a text");
		items[out->len++] = text;
	}
	return MR_OK;
}

static void keep_others(struct mr_arena *arena, const struct mr_value *head, struct mr_value *out)
{
	*out = (struct mr_value){ .kind = MR_MAP };
	out->map.pairs = mr_arena_array(arena, head->map.len + 1, sizeof(*out->map.pairs));
	for (size_t i = 0; i < head->map.len; i++)
		if (!is_known(head->map.pairs[i].key))
			out->map.pairs[out->map.len++] = head->map.pairs[i];
}

static enum mr_code read_head(struct mr_ctx *cx, struct mr_bytes text,
	struct mr_work_draft_file *out)
{
	const char **const texts[] = { &out->kind, &out->case_uid, &out->send_intent,
		&out->reply_to_message_id, &out->identity, &out->subject };
	struct mr_texts *const lists[] = { &out->to, &out->cc, &out->attachments };
	const struct mr_value *head = NULL;
	struct mr_err err = { 0 };
	enum mr_code rc = MR_OK;

	if (mr_yaml_parse(cx->arena, text, NULL, &head, &err))
		return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "front matter: %s", err.msg);
	if (head->kind != MR_MAP)
		return refuse(cx, "the front matter", "has no members");
	for (size_t i = 0; !rc && i < MR_LEN(texts); i++)
		rc = read_text(cx, head, known[i], texts[i]);
	for (size_t i = 0; !rc && i < MR_LEN(lists); i++)
		rc = read_list(cx, head, known[MR_LEN(texts) + i], lists[i]);
	if (!rc)
		keep_others(cx->arena, head, &out->others);
	return rc;
}

/* What editors add or leave out: a byte order mark, the last newline. */
static struct mr_bytes even_out(struct mr_arena *arena, struct mr_bytes file)
{
	if (file.len >= 3 && memcmp(file.data, "\xef\xbb\xbf", 3) == 0)
		file = mr_bytes_of(file.data + 3, file.len - 3);
	if (file.len >= 4 && memcmp(file.data + file.len - 4, "\n---", 4) == 0) {
		char *copy = mr_arena_alloc(arena, file.len + 1);

		memcpy(copy, file.data, file.len);
		copy[file.len] = '\n';
		file = mr_bytes_of(copy, file.len + 1);
	}
	return file;
}

/* Without the lines at the beginning that have nothing but blanks. */
static const char *body_of(struct mr_arena *arena, struct mr_bytes body)
{
	size_t start = 0, at = 0;

	for (; at < body.len; at++) {
		if (body.data[at] == '\n')
			start = at + 1;
		else if (!strchr(" \t\r", (char)body.data[at]))
			break;
	}
	if (at == body.len)
		return "";
	return mr_arena_strndup(arena, (const char *)body.data + start, body.len - start);
}

enum mr_code mr_work_draft_read(struct mr_ctx *cx, struct mr_bytes file,
	struct mr_work_draft_file *out)
{
	struct mr_frontmatter parts;
	struct mr_err err = { 0 };

	*out = (struct mr_work_draft_file){ .body = "" };
	if (file.len > MR_WORK_DRAFT_BYTES)
		return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID,
			"the draft is longer than %d bytes", MR_WORK_DRAFT_BYTES);
	if (!file.len || !mr_utf8_is_valid((const char *)file.data, file.len, NULL) ||
		memchr(file.data, 0, file.len))
		return refuse(cx, "the draft", file.len ? "is not UTF-8 text" : "is empty");
	file = even_out(cx->arena, file);
	if (mr_frontmatter_split(file, 0, &parts, &err))
		return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "%s", err.msg);
	if (parts.form != MR_FRONTMATTER_YAML)
		return refuse(cx, "the front matter", "is not YAML");
	out->body = body_of(cx->arena, parts.body);
	return read_head(cx, parts.head, out);
}

/* --- writing --- */

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

/* Other scripts stay readable for people. */
static void put_text(struct mr_yaml_writer *w, const char *text)
{
	struct mr_value value = { .kind = MR_TEXT, .text = text };

	if (is_ascii(text))
		mr_yaml_text(w, text);
	else
		mr_yaml_value_flow(w, &value);
}

static void put_member(struct mr_yaml_writer *w, const char *key, const char *text)
{
	if (!text)
		return;
	mr_yaml_key(w, key);
	put_text(w, text);
}

static void put_list(struct mr_yaml_writer *w, const char *key, const struct mr_texts *list)
{
	mr_yaml_key(w, key);
	mr_yaml_begin_list(w);
	for (size_t i = 0; i < list->len; i++)
		put_text(w, list->items[i]);
	mr_yaml_end(w);
}

static void put_head(struct mr_buf *buf, const struct mr_work_draft_file *draft)
{
	struct mr_yaml_writer w;

	mr_yaml_init(&w, buf);
	mr_yaml_begin_map(&w);
	put_member(&w, "kind", draft->kind);
	put_member(&w, "case_uid", draft->case_uid);
	put_member(&w, "send_intent", draft->send_intent);
	put_member(&w, "reply_to_message_id", draft->reply_to_message_id);
	put_member(&w, "identity", draft->identity);
	put_member(&w, "subject", draft->subject);
	put_list(&w, "to", &draft->to);
	put_list(&w, "cc", &draft->cc);
	put_list(&w, "attachments", &draft->attachments);
	for (size_t i = 0; i < draft->others.map.len; i++) {
		mr_yaml_key(&w, draft->others.map.pairs[i].key);
		mr_yaml_value(&w, &draft->others.map.pairs[i].value);
	}
	mr_yaml_end(&w);
}

enum mr_code mr_work_draft_write(struct mr_ctx *cx, const struct mr_work_draft_file *draft,
	struct mr_bytes *out)
{
	struct mr_buf file MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err = { 0 };

	mr_buf_init(&file, MR_WORK_DRAFT_BYTES);
	mr_buf_puts(&file, "---\n");
	put_head(&file, draft);
	mr_buf_puts(&file, "---\n");
	mr_buf_puts(&file, draft->body);
	if (*draft->body && !mr_str_ends(draft->body, "\n"))
		mr_buf_putc(&file, '\n');
	if (mr_buf_check(&file, "the draft", &err))
		return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "%s", err.msg);
	*out = mr_bytes_of(mr_arena_memdup(cx->arena, file.data, file.len), file.len);
	return MR_OK;
}
