/* text/afd.c - writes values as JSON, YAML or pairs, their keys sorted. */
#include "text/afd.h"

#include "text/afd_private.h"
#include "text/json.h"

#include <string.h>

const char *const mr_afd_format_names
	[] = { [MR_AFD_JSON] = "json", [MR_AFD_YAML] = "yaml", [MR_AFD_PLAIN] = "plain", NULL };

/* A member as it is printed: by its suffix, or as it is. */
struct member {
	const char *key;
	const struct mr_value *value;
	const char *text; /* what the suffix made of the value, or NULL */
};

static int by_key(const void *a, const void *b)
{
	const struct member *left = a, *right = b;

	return strcmp(left->key, right->key);
}

/* The members of a map, sorted by the keys that are printed. */
static struct member *members_of(struct mr_arena *arena, const struct mr_value *map, bool raw)
{
	size_t len = map->map.len;
	struct member *out = mr_arena_array(arena, len + 1, sizeof(*out));

	for (size_t i = 0; i < len; i++) {
		const struct mr_pair *pair = &map->map.pairs[i];

		out[i] = (struct member){ .key = pair->key, .value = &pair->value };
		if (!raw)
			(void)mr_afd_suffix(arena, pair->key, &pair->value, &out[i].key,
				&out[i].text);
	}
	/* Keys that became the same go back to what they were. */
	for (size_t i = 0; i < len; i++)
		for (size_t k = 0; k < len; k++)
			if (i != k && out[i].text && mr_str_eq(out[i].key, out[k].key)) {
				const char *shared = out[i].key;

				for (size_t n = 0; n < len; n++)
					if (out[n].text && mr_str_eq(out[n].key, shared))
						out[n] = (struct member){ map->map.pairs[n].key,
							&map->map.pairs[n].value, NULL };
			}
	if (len > 1)
		qsort(out, len, sizeof(*out), by_key);
	return out;
}

static bool is_bare(const char *key)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";

	return *key && !key[strspn(key, allowed)];
}

static void put_quoted(struct mr_buf *out, const char *text)
{
	mr_buf_putc(out, '"');
	for (; *text; text++) {
		static const char special[] = "\\\"\n\r\t\f\v", letters[] = "\\\"nrtfv";
		const char *at = strchr(special, *text);

		if (at) {
			mr_buf_putc(out, '\\');
			mr_buf_putc(out, letters[at - special]);
		} else {
			mr_buf_putc(out, *text);
		}
	}
	mr_buf_putc(out, '"');
}

static const char *canonical_json(struct mr_arena *arena, const struct mr_value *value)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer writer;

	mr_buf_init(&buf, SIZE_MAX / 2);
	mr_json_init(&writer, &buf, MR_JSON_COMPACT | MR_JSON_SORTED);
	mr_json_value(&writer, value);
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

	return strcmp(left->key, right->key);
}

static void write_plain(struct mr_arena *arena, struct mr_buf *out, const struct mr_value *value)
{
	struct pairs pairs = { .arena = arena };

	if (value->kind == MR_MAP)
		flatten(&pairs, "", value);
	if (pairs.len > 1)
		qsort(pairs.items, pairs.len, sizeof(*pairs.items), by_pair);
	for (size_t i = 0; i < pairs.len; i++) {
		const char *text = pairs.items[i].text;

		if (i)
			mr_buf_putc(out, ' ');
		if (is_bare(pairs.items[i].key))
			mr_buf_puts(out, pairs.items[i].key);
		else
			put_quoted(out, pairs.items[i].key);
		mr_buf_putc(out, '=');
		if (strpbrk(text, " \t\r\n\f\v=\"\\"))
			put_quoted(out, text);
		else
			mr_buf_puts(out, text);
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
		mr_buf_puts(out, canonical_json(arena, clean));
		mr_buf_putc(out, '\n');
	}
}

void mr_afd_write_raw_yaml(struct mr_arena *arena, struct mr_buf *out, const struct mr_value *value)
{
	write_yaml(arena, out, mr_afd_redact(arena, value), true);
}
