/* text/afd.c - writes values as JSON, YAML or pairs, their keys sorted. */
#include "text/afd.h"

#include "base/utf8.h"
#include "text/afd_private.h"
#include "text/json.h"

#include <string.h>

const char *const mr_afd_format_names
	[] = { [MR_AFD_JSON] = "json", [MR_AFD_YAML] = "yaml", [MR_AFD_PLAIN] = "plain", NULL };

/* A member as it is printed: by its suffix, or as it is. */
struct member {
	const char *key, *full_key;
	const struct mr_value *value;
	const char *text; /* what the suffix made of the value, or NULL */
};

/* Keys are in the order of their UTF-16 code units: characters beyond U+FFFF, which are surrogates
 * there, stand before U+E000. */
static int compare_keys(const char *a, const char *b)
{
	uint32_t x = 0, y = 0;

	while (*a && *a == *b) {
		a++;
		b++;
	}
	/* Where two texts differ within a character, its beginning is the same in both. */
	if (((unsigned char)*a & 0xf0) != 0xf0 && ((unsigned char)*b & 0xf0) != 0xf0)
		return (unsigned char)*a - (unsigned char)*b;
	if (!mr_utf8_next(a, strlen(a) + 1, &x) || !mr_utf8_next(b, strlen(b) + 1, &y))
		return (unsigned char)*a - (unsigned char)*b;
	if ((x > 0xffff) != (y > 0xffff))
		return x > 0xffff ? (y < 0xe000 ? 1 : -1) : (x < 0xe000 ? -1 : 1);
	return (x > y) - (x < y);
}

static int by_key(const void *a, const void *b)
{
	const struct member *left = a, *right = b;

	return compare_keys(left->key, right->key);
}

/*
 * Members whose keys became the same go back to what they were, and so does one whose key then is
 * that of such a member. Returns whether some did. The members are sorted by key.
 */
static bool part_members(struct member *members, size_t len)
{
	bool parted = false;

	for (size_t i = 0, end; i < len; i = end) {
		for (end = i + 1; end < len && mr_str_eq(members[i].key, members[end].key); end++)
			;
		for (size_t k = i; end - i > 1 && k < end; k++) {
			if (!members[k].text)
				continue;
			members[k].key = members[k].full_key;
			members[k].text = NULL;
			parted = true;
		}
	}
	return parted;
}

/* The members of a map, sorted by the keys that are printed. */
static struct member *members_of(struct mr_arena *arena, const struct mr_value *map, bool raw)
{
	size_t len = map->map.len;
	struct member *out = mr_arena_array(arena, len + 1, sizeof(*out));

	for (size_t i = 0; i < len; i++) {
		const struct mr_pair *pair = &map->map.pairs[i];

		out[i] = (struct member){ pair->key, pair->key, &pair->value, NULL };
		if (!raw)
			(void)mr_afd_suffix(arena, pair->key, &pair->value, &out[i].key,
				&out[i].text);
	}
	do {
		if (len > 1)
			qsort(out, len, sizeof(*out), by_key);
	} while (part_members(out, len));
	return out;
}

static bool is_bare(const char *key)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";

	return *key && !key[strspn(key, allowed)];
}

/* What YAML does not let stand in a quoted text or takes for the end of a line, and what acts on
 * terminals. */
static bool is_unprintable(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0xfeff ||
		c == 0xfffe || c == 0xffff;
}

static void put_quoted(struct mr_buf *out, const char *text)
{
	static const char special[] = "\\\"\n\r\t\f\v", letters[] = "\\\"nrtfv";
	size_t left = strlen(text);

	mr_buf_putc(out, '"');
	while (left) {
		uint32_t c = 0xfffd;
		size_t len = mr_utf8_next(text, left, &c);
		const char *at = c < 0x80 ? strchr(special, (int)c) : NULL;

		if (at)
			mr_buf_printf(out, "\\%c", letters[at - special]);
		else if (is_unprintable(c))
			mr_buf_printf(out, "\\u%04X", (unsigned)c);
		else
			mr_buf_put_utf8(out, c);
		len = len ? len : 1;
		text += len;
		left -= len;
	}
	mr_buf_putc(out, '"');
}

static void put_json_scalar(struct mr_buf *out, const struct mr_value *value)
{
	struct mr_json_writer writer;

	mr_json_init(&writer, out, MR_JSON_COMPACT);
	mr_json_value(&writer, value);
}

/* Written here because the JSON writer takes fewer levels than a redacted value can have. */
static void put_json(struct mr_arena *arena, struct mr_buf *out, const struct mr_value *value)
{
	if (value->kind == MR_LIST) {
		mr_buf_putc(out, '[');
		for (size_t i = 0; i < value->list.len; i++) {
			if (i)
				mr_buf_putc(out, ',');
			put_json(arena, out, &value->list.items[i]);
		}
		mr_buf_putc(out, ']');
	} else if (value->kind == MR_MAP) {
		struct member *members = members_of(arena, value, true);

		mr_buf_putc(out, '{');
		for (size_t i = 0; i < value->map.len; i++) {
			if (i)
				mr_buf_putc(out, ',');
			mr_buf_put_json(out, members[i].key, strlen(members[i].key), false);
			mr_buf_putc(out, ':');
			put_json(arena, out, members[i].value);
		}
		mr_buf_putc(out, '}');
	} else {
		put_json_scalar(out, value);
	}
}

static const char *canonical_json(struct mr_arena *arena, const struct mr_value *value)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, SIZE_MAX / 2);
	put_json(arena, &buf, value);
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

/* --- YAML --- */

struct yaml {
	struct mr_arena *arena;
	struct mr_buf *out;
	bool raw;
};

static void yaml_scalar(struct yaml *yaml, const struct mr_value *value)
{
	switch (value->kind) {
	case MR_NULL:
		mr_buf_puts(yaml->out, "null");
		break;
	case MR_BOOL:
		mr_buf_puts(yaml->out, value->boolean ? "true" : "false");
		break;
	case MR_INT:
	case MR_FLOAT:
		mr_buf_puts(yaml->out, mr_afd_number(yaml->arena, value));
		break;
	case MR_TEXT:
		put_quoted(yaml->out, value->text);
		break;
	case MR_LIST:
		if (value->list.len)
			put_quoted(yaml->out, canonical_json(yaml->arena, value));
		else
			mr_buf_puts(yaml->out, "[]");
		break;
	case MR_MAP:
		mr_buf_puts(yaml->out, "{}");
		break;
	}
}

static void yaml_map(struct yaml *yaml, const struct mr_value *map, size_t indent);

static void yaml_list(struct yaml *yaml, const struct mr_value *list, size_t indent)
{
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *item = &list->list.items[i];

		mr_buf_pad(yaml->out, ' ', indent);
		mr_buf_putc(yaml->out, '-');
		if (item->kind == MR_MAP && item->map.len) {
			mr_buf_putc(yaml->out, '\n');
			yaml_map(yaml, item, indent + 2);
		} else {
			mr_buf_putc(yaml->out, ' ');
			yaml_scalar(yaml, item);
			mr_buf_putc(yaml->out, '\n');
		}
	}
}

static void yaml_map(struct yaml *yaml, const struct mr_value *map, size_t indent)
{
	struct member *members = members_of(yaml->arena, map, yaml->raw);

	for (size_t i = 0; i < map->map.len; i++) {
		const struct mr_value *value = members[i].value;

		mr_buf_pad(yaml->out, ' ', indent);
		if (is_bare(members[i].key))
			mr_buf_puts(yaml->out, members[i].key);
		else
			put_quoted(yaml->out, members[i].key);
		mr_buf_putc(yaml->out, ':');
		if (!members[i].text && value->kind == MR_MAP && value->map.len) {
			mr_buf_putc(yaml->out, '\n');
			yaml_map(yaml, value, indent + 2);
			continue;
		}
		if (!members[i].text && value->kind == MR_LIST && value->list.len) {
			mr_buf_putc(yaml->out, '\n');
			yaml_list(yaml, value, indent + 2);
			continue;
		}
		mr_buf_putc(yaml->out, ' ');
		if (members[i].text)
			put_quoted(yaml->out, members[i].text);
		else
			yaml_scalar(yaml, value);
		mr_buf_putc(yaml->out, '\n');
	}
}

static void write_yaml(struct mr_arena *arena, struct mr_buf *out, const struct mr_value *value,
	bool raw)
{
	struct yaml yaml = { arena, out, raw };

	mr_buf_puts(out, "---\n");
	if (value->kind == MR_MAP && value->map.len) {
		yaml_map(&yaml, value, 0);
	} else if (value->kind == MR_LIST && value->list.len) {
		yaml_list(&yaml, value, 0);
	} else {
		yaml_scalar(&yaml, value);
		mr_buf_putc(out, '\n');
	}
}

/* --- pairs --- */

struct pair {
	const char *key, *text;
};
struct pairs {
	struct mr_arena *arena;
	struct pair *items;
	size_t len, cap;
};

static void add_pair(struct pairs *pairs, const char *key, const char *text)
{
	if (pairs->len == pairs->cap) {
		struct pair *items;

		pairs->cap = pairs->cap ? pairs->cap * 2 : 32;
		items = mr_arena_array(pairs->arena, pairs->cap, sizeof(*items));
		if (pairs->len)
			memcpy(items, pairs->items, pairs->len * sizeof(*items));
		pairs->items = items;
	}
	pairs->items[pairs->len++] = (struct pair){ key, text };
}

static const char *plain_text(struct mr_arena *arena, const struct mr_value *value)
{
	switch (value->kind) {
	case MR_NULL:
		return "";
	case MR_BOOL:
		return value->boolean ? "true" : "false";
	case MR_INT:
	case MR_FLOAT:
		return mr_afd_number(arena, value);
	case MR_TEXT:
		return value->text;
	case MR_LIST:
	case MR_MAP:
		break;
	}
	return canonical_json(arena, value);
}

static const char *joined(struct mr_arena *arena, const struct mr_value *list)
{
	const char **items = mr_arena_array(arena, list->list.len + 1, sizeof(*items));
	struct mr_texts texts = { items, list->list.len };

	for (size_t i = 0; i < list->list.len; i++)
		items[i] = plain_text(arena, &list->list.items[i]);
	return mr_str_join(arena, &texts, ",");
}

static void flatten(struct pairs *pairs, const char *prefix, const struct mr_value *map)
{
	struct member *members = members_of(pairs->arena, map, false);

	for (size_t i = 0; i < map->map.len; i++) {
		const struct mr_value *value = members[i].value;
		const char *key = *prefix
			? mr_arena_printf(pairs->arena, "%s.%s", prefix, members[i].key)
			: members[i].key;

		if (members[i].text)
			add_pair(pairs, key, members[i].text);
		else if (value->kind == MR_MAP)
			flatten(pairs, key, value);
		else if (value->kind == MR_LIST)
			add_pair(pairs, key, joined(pairs->arena, value));
		else
			add_pair(pairs, key, plain_text(pairs->arena, value));
	}
}

static int by_pair(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;
	int order = compare_keys(left->key, right->key);

	return order ? order : strcmp(left->text, right->text);
}

/* Must a text be quoted to be one word of its line? */
static bool needs_quotes(const char *text)
{
	size_t left = strlen(text);

	while (left) {
		uint32_t c = 0xfffd;
		size_t len = mr_utf8_next(text, left, &c);

		if (mr_utf8_is_space(c) || is_unprintable(c) ||
			(c < 0x80 && strchr("=\"\\", (int)c)))
			return true;
		len = len ? len : 1;
		text += len;
		left -= len;
	}
	return false;
}

static void put_word(struct mr_buf *out, const char *text)
{
	if (needs_quotes(text))
		put_quoted(out, text);
	else
		mr_buf_puts(out, text);
}

static void write_plain(struct mr_arena *arena, struct mr_buf *out, const struct mr_value *value)
{
	struct pairs pairs = { .arena = arena };

	if (value->kind == MR_MAP)
		flatten(&pairs, "", value);
	else
		put_word(out,
			value->kind == MR_LIST ? joined(arena, value) : plain_text(arena, value));
	if (pairs.len > 1)
		qsort(pairs.items, pairs.len, sizeof(*pairs.items), by_pair);
	for (size_t i = 0; i < pairs.len; i++) {
		if (i)
			mr_buf_putc(out, ' ');
		if (is_bare(pairs.items[i].key))
			mr_buf_puts(out, pairs.items[i].key);
		else
			put_quoted(out, pairs.items[i].key);
		mr_buf_putc(out, '=');
		put_word(out, pairs.items[i].text);
	}
	mr_buf_putc(out, '\n');
}

void mr_afd_write(struct mr_arena *arena, struct mr_buf *out, const struct mr_value *value,
	enum mr_afd_format format)
{
	const struct mr_value *clean = mr_afd_redact(arena, value);

	if (format == MR_AFD_YAML) {
		write_yaml(arena, out, clean, false);
	} else if (format == MR_AFD_PLAIN) {
		write_plain(arena, out, clean);
	} else {
		put_json(arena, out, clean);
		mr_buf_putc(out, '\n');
	}
}

void mr_afd_write_raw_yaml(struct mr_arena *arena, struct mr_buf *out, const struct mr_value *value)
{
	write_yaml(arena, out, mr_afd_redact(arena, value), true);
}
