/* workspace/contact_card.c - reads and writes the cards of contacts. */
#include "workspace/contact_card.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "text/frontmatter.h"
#include "text/time.h"
#include "text/yaml.h"
#include "workspace/error.h"
#include "workspace/frame.h"
#include "workspace/name.h"

#include <string.h>

enum { ADDRESS_BYTES = 254, LOCAL_BYTES = 64 };

static const char *const known[] = { "kind", "contact_uid", "display_name", "emails", "phones",
	"organization", "role", "tags", "created_rfc3339", "updated_rfc3339", NULL };

static bool is_known(const char *key)
{
	for (const char *const *name = known; *name; name++)
		if (mr_str_eq(*name, key))
			return true;
	return false;
}

bool mr_work_card_add(struct mr_arena *arena, struct mr_texts *list, const char *text)
{
	const char **items;

	if (!*text || mr_texts_has(list, text))
		return false;
	items = mr_arena_array(arena, list->len + 2, sizeof(*items));
	if (list->len)
		memcpy(items, list->items, list->len * sizeof(*items));
	items[list->len] = mr_arena_strdup(arena, text);
	*list = (struct mr_texts){ items, list->len + 1 };
	return true;
}

bool mr_work_card_remove(struct mr_arena *arena, struct mr_texts *list, const char *text)
{
	const char **items = mr_arena_array(arena, list->len + 1, sizeof(*items));
	size_t len = 0;

	for (size_t i = 0; i < list->len; i++)
		if (!mr_str_eq(list->items[i], text))
			items[len++] = list->items[i];
	if (len == list->len)
		return false;
	*list = (struct mr_texts){ items, len };
	return true;
}

/* --- reading --- */

static enum mr_code refuse(struct mr_ctx *cx, const char *key, const char *what)
{
	return mr_work_refuse(cx, MR_WORK_INVALID_CONTACT, "%s %s", key, what);
}

/* A scalar as the text that stood in the file, so that a telephone number keeps its zeros; NULL for
 * null and for what is no scalar. */
static const char *scalar(struct mr_arena *arena, const struct mr_value *value)
{
	const char *text = value->kind == MR_TEXT ? value->text : value->plain;

	return value->kind == MR_NULL || !text ? NULL : mr_str_trim(arena, text);
}

static enum mr_code read_text(struct mr_ctx *cx, const struct mr_value *head, const char *key,
	const char **out)
{
	const struct mr_value *value = mr_value_get(head, key);

	*out = "";
	if (!value || value->kind == MR_NULL)
		return MR_OK;
	*out = scalar(cx->arena, value);
	return *out ? MR_OK : refuse(cx, key, "is not a text");
}

static enum mr_code read_list(struct mr_ctx *cx, const struct mr_value *head, const char *key,
	bool in_lower_case, struct mr_texts *out)
{
	const struct mr_value *value = mr_value_get(head, key);

	*out = (struct mr_texts){ 0 };
	if (!value || value->kind == MR_NULL)
		return MR_OK;
	if (value->kind != MR_LIST)
		return refuse(cx, key, "is not a list");
	if (value->list.len > MR_WORK_CARD_LIST_MAX)
		return refuse(cx, key, "has too many elements");
	for (size_t i = 0; i < value->list.len; i++) {
		const struct mr_value *item = &value->list.items[i];
		const char *text = scalar(cx->arena, item);

		if (!text && item->kind != MR_NULL)
			return refuse(cx, key, "has an element that is not a text");
		if (text)
			mr_work_card_add(cx->arena, out,
				in_lower_case ? mr_str_lower(cx->arena, text) : text);
	}
	return MR_OK;
}

static void keep_others(struct mr_arena *arena, const struct mr_value *head, struct mr_value *out)
{
	*out = (struct mr_value){ .kind = MR_MAP };
	out->map.pairs = mr_arena_array(arena, head->map.len, sizeof(*out->map.pairs));
	for (size_t i = 0; i < head->map.len; i++)
		if (!is_known(head->map.pairs[i].key))
			out->map.pairs[out->map.len++] = head->map.pairs[i];
}

static enum mr_code read_head(struct mr_ctx *cx, struct mr_bytes text, struct mr_work_card *out)
{
	const struct mr_value *head = NULL;
	struct mr_err err = { 0 };
	const char *kind = NULL;
	enum mr_code rc;

	if (mr_yaml_parse(cx->arena, text, NULL, &head, &err))
		return mr_work_refuse(cx, MR_WORK_INVALID_CONTACT, "front matter: %s", err.msg);
	if (head->kind != MR_MAP)
		return refuse(cx, "the front matter", "has no members");
	rc = read_text(cx, head, "kind", &kind);
	if (!rc && !mr_str_eq(kind, "contact"))
		rc = refuse(cx, "kind", "is not contact");
	if (!rc)
		rc = read_text(cx, head, "contact_uid", &out->contact_uid);
	if (!rc)
		rc = read_text(cx, head, "display_name", &out->display_name);
	if (!rc && !*out->display_name)
		rc = refuse(cx, "display_name", "is missing");
	if (!rc)
		rc = read_list(cx, head, "emails", true, &out->emails);
	if (!rc)
		rc = read_list(cx, head, "phones", false, &out->phones);
	if (!rc)
		rc = read_text(cx, head, "organization", &out->organization);
	if (!rc)
		rc = read_text(cx, head, "role", &out->role);
	if (!rc)
		rc = read_list(cx, head, "tags", false, &out->tags);
	if (!rc)
		rc = read_text(cx, head, "created_rfc3339", &out->created_rfc3339);
	if (!rc)
		rc = read_text(cx, head, "updated_rfc3339", &out->updated_rfc3339);
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

/*
 * The reference writes no empty line behind the head, and a newline too many at the end, which it
 * takes away again when it reads. Such a body begins right behind the closing line.
 */
static struct mr_bytes body_of(const struct mr_frontmatter *parts)
{
	const uint8_t *close = parts->head.data + parts->head.len;
	struct mr_bytes body = parts->body;
	size_t frame = close[3] == '\r' ? 5 : 4;

	if (body.data == close + frame && body.len >= 2 && body.data[body.len - 1] == '\n' &&
		body.data[body.len - 2] == '\n')
		body.len--;
	return body;
}

enum mr_code mr_work_card_read(struct mr_ctx *cx, struct mr_bytes file, struct mr_work_card *out)
{
	struct mr_frontmatter parts;
	struct mr_err err = { 0 };

	*out = (struct mr_work_card){ 0 };
	file = even_out(cx->arena, file);
	if (mr_frontmatter_split(file, 0, &parts, &err))
		return mr_work_refuse(cx, MR_WORK_INVALID_CONTACT, "%s", err.msg);
	if (parts.form != MR_FRONTMATTER_YAML)
		return refuse(cx, "the front matter", "is not YAML");
	out->body = body_of(&parts);
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

/* Words plain, numbers and the like quoted, other scripts as they are read. */
static void put_text(struct mr_yaml_writer *w, const char *text)
{
	struct mr_value value = { .kind = MR_TEXT, .text = text };

	if (!*text)
		mr_yaml_text_single(w, text);
	else if (is_ascii(text))
		mr_yaml_text(w, text);
	else
		mr_yaml_value_flow(w, &value);
}

static void put_member(struct mr_yaml_writer *w, const char *key, const char *text)
{
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

/* A time stands without quotes: YAML readers take it for a time or a text. */
static void put_time(struct mr_buf *buf, const char *key, const char *time)
{
	mr_buf_printf(buf, "%s: %s\n", key, time);
}

static bool is_time(const char *text)
{
	struct mr_err ignored = { 0 };
	int64_t us;

	return strspn(text, "0123456789-:TZ+.") == strlen(text) &&
		!mr_time_parse(text, MR_TIME_LENIENT, &us, &ignored);
}

static void put_head(struct mr_buf *buf, const struct mr_work_card *card)
{
	const char *const keys[] = { "created_rfc3339", "updated_rfc3339" };
	const char *const times[] = { card->created_rfc3339, card->updated_rfc3339 };
	struct mr_yaml_writer w;

	mr_yaml_init(&w, buf);
	mr_yaml_begin_map(&w);
	put_member(&w, "kind", "contact");
	put_member(&w, "contact_uid", card->contact_uid);
	put_member(&w, "display_name", card->display_name);
	put_list(&w, "emails", &card->emails);
	put_list(&w, "phones", &card->phones);
	put_member(&w, "organization", card->organization);
	put_member(&w, "role", card->role);
	put_list(&w, "tags", &card->tags);
	for (size_t i = 0; i < MR_LEN(keys); i++)
		if (is_time(times[i]))
			put_time(buf, keys[i], times[i]);
		else
			put_member(&w, keys[i], times[i]);
	for (size_t i = 0; i < card->others.map.len; i++) {
		mr_yaml_key(&w, card->others.map.pairs[i].key);
		mr_yaml_value(&w, &card->others.map.pairs[i].value);
	}
	mr_yaml_end(&w);
}

enum mr_code mr_work_card_write(struct mr_ctx *cx, const struct mr_work_card *card,
	struct mr_bytes *out)
{
	struct mr_buf head MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf file MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_frontmatter parts = { .form = MR_FRONTMATTER_YAML, .body = card->body };
	struct mr_err err = { 0 };

	if (card->emails.len > MR_WORK_CARD_LIST_MAX || card->phones.len > MR_WORK_CARD_LIST_MAX ||
		card->tags.len > MR_WORK_CARD_LIST_MAX)
		return mr_work_refuse(cx, MR_WORK_INVALID_CONTACT,
			"a list of the card would have more than %d elements",
			MR_WORK_CARD_LIST_MAX);
	mr_buf_init(&head, MR_FRONTMATTER_HEAD_BYTES);
	mr_buf_init(&file, MR_WORK_DOCUMENT_BYTES);
	put_head(&head, card);
	if (mr_buf_check(&head, "the front matter", &err))
		return mr_work_refuse(cx, MR_WORK_INVALID_CONTACT, "%s", err.msg);
	parts.head = mr_buf_bytes(&head);
	if (mr_frontmatter_join(&file, &parts, &err))
		return mr_work_refuse(cx, MR_WORK_INVALID_CONTACT, "%s", err.msg);
	*out = mr_bytes_of(mr_arena_memdup(cx->arena, file.data, file.len), file.len);
	return MR_OK;
}

/* --- notes --- */

struct mr_bytes mr_work_card_heading(struct mr_arena *arena, const char *display_name)
{
	char *text = mr_arena_printf(arena, "## %s\n\n", display_name);

	/* A name is one line, whatever it contains. */
	for (size_t i = 0; text[i] && text[i + 2]; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			text[i] = ' ';
	return mr_bytes_text(text);
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t len_without_blanks(const void *data, size_t len)
{
	while (len > 0 && is_blank(((const uint8_t *)data)[len - 1]))
		len--;
	return len;
}

static struct mr_bytes join(struct mr_arena *arena, struct mr_bytes before, const char *text)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, SIZE_MAX);
	mr_buf_add(&buf, before.data, before.len);
	if (before.len)
		mr_buf_puts(&buf, "\n\n");
	mr_buf_add(&buf, text, len_without_blanks(text, strlen(text)));
	mr_buf_putc(&buf, '\n');
	return mr_bytes_of(mr_arena_memdup(arena, buf.data, buf.len), buf.len);
}

struct mr_bytes mr_work_card_append(struct mr_arena *arena, struct mr_bytes body, const char *text)
{
	body.len = len_without_blanks(body.data, body.len);
	return join(arena, body, text);
}

struct mr_bytes mr_work_card_replace(struct mr_arena *arena, const char *text)
{
	return join(arena, (struct mr_bytes){ 0 }, text);
}

/* --- addresses --- */

/* What no address without quotes has; other scripts are fine. */
static bool is_address_byte(char c)
{
	return (unsigned char)c > ' ' && c != 0x7f && !strchr("\"(),:;<>@[\\]", c);
}

static bool is_dotted(const char *text, size_t len)
{
	if (len == 0 || text[0] == '.' || text[len - 1] == '.')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_address_byte(text[i]) || (text[i] == '.' && text[i + 1] == '.'))
			return false;
	return true;
}

static bool is_address(const char *text)
{
	const char *at = strchr(text, '@');
	size_t len = strlen(text), local;

	if (!at || len > ADDRESS_BYTES || !mr_utf8_is_valid(text, len, NULL))
		return false;
	local = (size_t)(at - text);
	return local <= LOCAL_BYTES && is_dotted(text, local) && is_dotted(at + 1, len - local - 1);
}

enum mr_code mr_work_card_address(struct mr_ctx *cx, const char *text, const char **out)
{
	const char *address = mr_str_lower(cx->arena, mr_str_trim(cx->arena, text));

	if (!is_address(address))
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"'%s' is not an e-mail address such as ann@example.com", text);
	*out = address;
	return MR_OK;
}

/* --- names from outside --- */

/* Control characters, and those that are not seen but turn a line around or hide part of it. */
static bool is_unwanted(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
		(c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
		(c >= 0xe0000 && c <= 0xe007f);
}

const char *mr_work_card_sender_name(struct mr_arena *arena, const char *name, const char *email)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	size_t len = name ? strlen(name) : 0, kept;
	const char *text;

	mr_buf_init(&buf, SIZE_MAX);
	for (size_t at = 0; at < len;) {
		uint32_t c = 0xfffd;
		size_t step = mr_utf8_next(name + at, len - at, &c);

		if (c == '/' || c == '\\')
			mr_buf_putc(&buf, '-');
		else if (c == '\t' || c == '\n' || c == '\r')
			mr_buf_putc(&buf, ' ');
		else if (!is_unwanted(c))
			mr_buf_put_utf8(&buf, c);
		at += step ? step : 1;
	}
	text = mr_buf_text(&buf);
	kept = mr_utf8_truncate(text, buf.len, MR_WORK_NAME_BYTES);
	mr_utf8_strip(&text, &kept);
	text = mr_arena_strndup(arena, text, kept);
	if (!*text || mr_str_eq(text, ".") || mr_str_eq(text, ".."))
		text = name == email ? "untitled" : mr_work_card_sender_name(arena, email, email);
	return text;
}
