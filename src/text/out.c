/*
 * text/out.c - The result writer of the handlers: emits the same members as streamed JSON or as a
 * value tree.
 */
#include "text/out.h"

#include <assert.h>
#include <string.h>

struct mr_out_class {
	void (*begin)(struct mr_out *out, const char *key, enum mr_kind kind);
	void (*end)(struct mr_out *out);
	void (*scalar)(struct mr_out *out, const char *key, const struct mr_value *value);
};

/* Is this the member that is looked for? */
static bool is_wanted(const struct mr_out *out, const char *key)
{
	return out->span && out->json.depth == 1 && key && strcmp(key, out->span->key) == 0;
}

static void json_key(struct mr_out *out, const char *key)
{
	if (!key)
		return;
	mr_json_key(&out->json, key);
	if (is_wanted(out, key))
		out->span->from = out->json.buf->len;
}

/* A value has ended: was it the one? */
static void json_ended(struct mr_out *out)
{
	if (out->span && out->json.depth == 1 && out->span->from && !out->span->to)
		out->span->to = out->json.buf->len;
}

struct mr_out_tree {
	struct mr_arena *arena;
	struct level *levels; /* the innermost first */
	const struct mr_value *result;
};

struct node {
	struct node *next;
	struct mr_pair pair;
};

/* A map or list being built: its elements in a chain until their number is known. */
struct level {
	struct level *up;
	enum mr_kind kind;
	const char *key;
	struct node *first;
	struct node **last;
	size_t len;
};

static void tree_add(struct mr_out *out, const char *key, struct mr_value value)
{
	struct mr_out_tree *tree = out->tree;
	struct level *level = tree->levels;
	struct node *node;

	if (!level) {
		tree->result = mr_arena_memdup(tree->arena, &value, sizeof(value));
		return;
	}
	assert((level->kind == MR_MAP) == (key != NULL));
	node = mr_arena_alloc(tree->arena, sizeof(*node));
	node->pair = (struct mr_pair){ mr_arena_strdup(tree->arena, key), value };
	*level->last = node;
	level->last = &node->next;
	level->len++;
}

static void tree_begin(struct mr_out *out, const char *key, enum mr_kind kind)
{
	struct mr_out_tree *tree = out->tree;
	struct level *level = mr_arena_alloc(tree->arena, sizeof(*level));

	*level = (struct level){ .up = tree->levels, .kind = kind };
	level->key = mr_arena_strdup(tree->arena, key);
	level->last = &level->first;
	tree->levels = level;
}

static void tree_end(struct mr_out *out)
{
	struct mr_out_tree *tree = out->tree;
	struct level *level = tree->levels;
	struct mr_value value = { .kind = level->kind };
	size_t i = 0;

	if (level->kind == MR_MAP) {
		value.map.pairs = mr_arena_array(tree->arena, level->len, sizeof(struct mr_pair));
		value.map.len = level->len;
		for (struct node *n = level->first; n; n = n->next)
			value.map.pairs[i++] = n->pair;
	} else {
		value.list.items = mr_arena_array(tree->arena, level->len, sizeof(struct mr_value));
		value.list.len = level->len;
		for (struct node *n = level->first; n; n = n->next)
			value.list.items[i++] = n->pair.value;
	}
	tree->levels = level->up;
	tree_add(out, level->key, value);
}

/* A deep copy: the tree outlives what the handler emitted from. */
static struct mr_value copy_of(struct mr_arena *arena, const struct mr_value *from)
{
	struct mr_value to = *from;

	if (from->kind == MR_TEXT)
		to.text = mr_arena_strdup(arena, from->text);
	if (from->kind == MR_LIST) {
		to.list.items = mr_arena_array(arena, from->list.len, sizeof(struct mr_value));
		for (size_t i = 0; i < from->list.len; i++)
			to.list.items[i] = copy_of(arena, &from->list.items[i]);
	}
	if (from->kind == MR_MAP) {
		to.map.pairs = mr_arena_array(arena, from->map.len, sizeof(struct mr_pair));
		for (size_t i = 0; i < from->map.len; i++) {
			to.map.pairs[i].key = mr_arena_strdup(arena, from->map.pairs[i].key);
			to.map.pairs[i].value = copy_of(arena, &from->map.pairs[i].value);
		}
	}
	return to;
}

static void tree_scalar(struct mr_out *out, const char *key, const struct mr_value *value)
{
	tree_add(out, key, copy_of(out->tree->arena, value));
}

static void json_begin(struct mr_out *out, const char *key, enum mr_kind kind)
{
	json_key(out, key);
	if (kind == MR_MAP)
		mr_json_begin_map(&out->json);
	else
		mr_json_begin_list(&out->json);
}

static void json_end(struct mr_out *out)
{
	mr_json_end(&out->json);
	json_ended(out);
}

static void json_scalar(struct mr_out *out, const char *key, const struct mr_value *value)
{
	json_key(out, key);
	mr_json_value(&out->json, value);
	json_ended(out);
}

static const struct mr_out_class json_class = { json_begin, json_end, json_scalar };
static const struct mr_out_class tree_class = { tree_begin, tree_end, tree_scalar };

void mr_out_init_json(struct mr_out *out, struct mr_buf *buf, unsigned style)
{
	*out = (struct mr_out){ .class = &json_class };
	mr_json_init(&out->json, buf, style);
}

void mr_out_find(struct mr_out *out, struct mr_out_span *span)
{
	out->span = span;
}

void mr_out_init_tree(struct mr_out *out, struct mr_arena *arena)
{
	*out = (struct mr_out){ .class = &tree_class };
	out->tree = mr_arena_alloc(arena, sizeof(*out->tree));
	out->tree->arena = arena;
}

const struct mr_value *mr_out_tree(const struct mr_out *out)
{
	return out->tree->result;
}

void mr_out_map(struct mr_out *out, const char *key)
{
	out->class->begin(out, key, MR_MAP);
}

void mr_out_list(struct mr_out *out, const char *key)
{
	out->class->begin(out, key, MR_LIST);
}

void mr_out_end(struct mr_out *out)
{
	out->class->end(out);
}

void mr_out_value(struct mr_out *out, const char *key, const struct mr_value *value)
{
	out->class->scalar(out, key, value);
}

void mr_out_bytes(struct mr_out *out, const char *key, struct mr_bytes text)
{
	assert(!out->tree);
	json_key(out, key);
	mr_json_bytes(&out->json, text);
	json_ended(out);
}

void mr_out_json(struct mr_out *out, const char *key, struct mr_bytes json)
{
	assert(!out->tree);
	json_key(out, key);
	mr_json_raw(&out->json, json);
	json_ended(out);
}

void mr_out_null(struct mr_out *out, const char *key)
{
	mr_out_value(out, key, &(struct mr_value){ .kind = MR_NULL });
}

void mr_out_bool(struct mr_out *out, const char *key, bool value)
{
	mr_out_value(out, key, &(struct mr_value){ .kind = MR_BOOL, .boolean = value });
}

void mr_out_int(struct mr_out *out, const char *key, int64_t value)
{
	mr_out_value(out, key, &(struct mr_value){ .kind = MR_INT, .integer = value });
}

void mr_out_real(struct mr_out *out, const char *key, double value)
{
	mr_out_value(out, key, &(struct mr_value){ .kind = MR_FLOAT, .real = value });
}

void mr_out_text(struct mr_out *out, const char *key, const char *value)
{
	if (value)
		mr_out_value(out, key, &(struct mr_value){ .kind = MR_TEXT, .text = value });
	else
		mr_out_null(out, key);
}

void mr_out_texts(struct mr_out *out, const char *key, const struct mr_texts *value)
{
	mr_out_list(out, key);
	for (size_t i = 0; i < value->len; i++)
		mr_out_text(out, NULL, value->items[i]);
	mr_out_end(out);
}

bool mr_out_is_compact(const struct mr_out *out)
{
	return out->class == &json_class && out->json.style == MR_JSON_COMPACT;
}

size_t mr_out_mark(const struct mr_out *out)
{
	assert(mr_out_is_compact(out));
	return out->json.buf->len;
}

struct mr_bytes mr_out_since(const struct mr_out *out, size_t mark)
{
	struct mr_bytes all = mr_buf_bytes(out->json.buf);

	/* What did not fit is not there. */
	if (out->json.buf->failed || mark >= all.len)
		return mr_bytes_of("", 0);
	mark += all.data[mark] == ',';
	return mr_bytes_of(all.data + mark, all.len - mark);
}

void mr_out_members(struct mr_out *out, struct mr_bytes members)
{
	assert(mr_out_is_compact(out));
	mr_json_raw_members(&out->json, members);
}
