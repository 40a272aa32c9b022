/*
 * app/client_file.c - Edits other programs' configuration: sets or removes a value in a JSON
 * document, or a marked block of lines in any other text.
 */
#include "app/client_file.h"

#include "base/buf.h"
#include "text/json.h"

#include <string.h>

/* ---- JSON ---- */

static bool is_blank(struct mr_bytes text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (!strchr(" \t\r\n", text.data[i]) || text.data[i] == '\0')
			return false;
	}
	return true;
}

enum mr_code mr_client_json_read(struct mr_arena *arena, struct mr_bytes text,
	const struct mr_value **out, struct mr_err *err)
{
	static const struct mr_value empty = { .kind = MR_MAP };
	const struct mr_value *document = &empty;
	enum mr_code rc = MR_OK;

	if (!is_blank(text))
		rc = mr_json_parse(arena, text, NULL, &document, err);
	if (rc)
		return rc;
	if (document->kind != MR_MAP)
		return mr_err_set(err, MR_EFORMAT, "the document is no object");
	*out = document;
	return MR_OK;
}

struct mr_bytes mr_client_json_write(struct mr_arena *arena, const struct mr_value *document)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer w;

	/* Indented it may be longer than what was read, so the limit is larger, too. */
	mr_buf_init(&text, (size_t)64 * MR_CLIENT_FILE_BYTES);
	mr_json_init(&w, &text, MR_JSON_INDENTED);
	mr_json_value(&w, document);
	mr_buf_putc(&text, '\n');
	return mr_bytes_of(mr_arena_memdup(arena, text.data, text.len), text.len);
}

const struct mr_value *mr_client_json_at(const struct mr_value *document, const char *const *path)
{
	for (; *path && document; path++)
		document = mr_value_get(document, *path);
	return document;
}

static const struct mr_value *with_key(struct mr_arena *arena, const struct mr_value *map,
	const char *key, const struct mr_value *value)
{
	struct mr_value *copy = mr_arena_alloc(arena, sizeof(*copy));
	size_t len = map->map.len, at = 0;

	*copy = (struct mr_value){ .kind = MR_MAP };
	copy->map.pairs = mr_arena_array(arena, len + 1, sizeof(*copy->map.pairs));
	if (len)
		memcpy(copy->map.pairs, map->map.pairs, len * sizeof(*copy->map.pairs));
	while (at < len && !mr_str_eq(copy->map.pairs[at].key, key))
		at++;
	copy->map.pairs[at] = (struct mr_pair){ key, *value };
	copy->map.len = at < len ? len : len + 1;
	return copy;
}

static const struct mr_value *without_key(struct mr_arena *arena, const struct mr_value *map,
	const char *key)
{
	struct mr_value *copy = mr_arena_alloc(arena, sizeof(*copy));

	*copy = (struct mr_value){ .kind = MR_MAP };
	copy->map.pairs = mr_arena_array(arena, map->map.len + 1, sizeof(*copy->map.pairs));
	for (size_t i = 0; i < map->map.len; i++) {
		if (!mr_str_eq(map->map.pairs[i].key, key))
			copy->map.pairs[copy->map.len++] = map->map.pairs[i];
	}
	return copy;
}

enum mr_code mr_client_json_set(struct mr_arena *arena, const struct mr_value *document,
	const char *const *path, const struct mr_value *value, const struct mr_value **out,
	struct mr_err *err)
{
	static const struct mr_value empty = { .kind = MR_MAP };
	const struct mr_value *inner = NULL;
	enum mr_code rc;

	if (!path[0]) {
		*out = value;
		return MR_OK;
	}
	if (!document)
		document = &empty;
	if (document->kind != MR_MAP)
		return mr_err_set(err, MR_ECONFLICT, "what should hold \"%s\" is no object",
			path[0]);
	rc = mr_client_json_set(arena, mr_value_get(document, path[0]), path + 1, value, &inner,
		err);
	if (!rc)
		*out = with_key(arena, document, path[0], inner);
	return rc;
}

const struct mr_value *mr_client_json_remove(struct mr_arena *arena,
	const struct mr_value *document, const char *const *path)
{
	const struct mr_value *inner = mr_value_get(document, path[0]);

	if (!inner)
		return document;
	if (path[1]) {
		const struct mr_value *rest = mr_client_json_remove(arena, inner, path + 1);

		if (rest == inner)
			return document;
		if (rest->kind != MR_MAP || rest->map.len > 0)
			return with_key(arena, document, path[0], rest);
	}
	return without_key(arena, document, path[0]);
}

enum mr_code mr_client_json_list(struct mr_arena *arena, const struct mr_value *document,
	const char *const *path, bool (*is_ours)(const struct mr_value *item),
	const struct mr_value *items, const struct mr_value **out, struct mr_err *err)
{
	const struct mr_value *old = mr_client_json_at(document, path);
	struct mr_value *list = mr_arena_alloc(arena, sizeof(*list));
	size_t len = old && old->kind == MR_LIST ? old->list.len : 0;
	size_t more = items ? items->list.len : 0;
	bool is_placed = false;

	if (old && old->kind != MR_LIST) {
		while (path[1])
			path++;
		return mr_err_set(err, MR_ECONFLICT, "\"%s\" is no list", path[0]);
	}
	*list = (struct mr_value){ .kind = MR_LIST };
	list->list.items = mr_arena_array(arena, len + more + 1, sizeof(*list->list.items));
	for (size_t i = 0; i <= len; i++) {
		bool is_theirs = i < len && !is_ours(&old->list.items[i]);

		if (is_theirs)
			list->list.items[list->list.len++] = old->list.items[i];
		/* In the place of the first of ours, or at the end. */
		for (size_t j = 0; !is_theirs && !is_placed && j < more; j++)
			list->list.items[list->list.len++] = items->list.items[j];
		is_placed = is_placed || !is_theirs;
	}
	if (list->list.len > 0)
		return mr_client_json_set(arena, document, path, list, out, err);
	/* A list that was empty before stays. */
	*out = len > 0 ? mr_client_json_remove(arena, document, path) : document;
	return MR_OK;
}

const struct mr_value *mr_client_json_ours(struct mr_arena *arena, const struct mr_value *document,
	const char *const *path, bool (*is_ours)(const struct mr_value *item))
{
	const struct mr_value *all = mr_client_json_at(document, path);
	struct mr_value *list = mr_arena_alloc(arena, sizeof(*list));
	size_t len = all && all->kind == MR_LIST ? all->list.len : 0;

	*list = (struct mr_value){ .kind = MR_LIST };
	list->list.items = mr_arena_array(arena, len + 1, sizeof(*list->list.items));
	for (size_t i = 0; i < len; i++) {
		if (is_ours(&all->list.items[i]))
			list->list.items[list->list.len++] = all->list.items[i];
	}
	return list->list.len ? list : NULL;
}

/* ---- text ---- */

/* Where the line that starts with `mark` begins, at or after `from`; NULL when there is none. */
static const char *find_line(const char *from, const char *end, const char *mark)
{
	size_t len = strlen(mark);

	while (from < end) {
		const char *newline = memchr(from, '\n', (size_t)(end - from));

		if ((size_t)(end - from) >= len && memcmp(from, mark, len) == 0)
			return from;
		if (!newline)
			return NULL;
		from = newline + 1;
	}
	return NULL;
}

enum mr_code mr_client_block_find(struct mr_bytes text, const struct mr_client_marks *marks,
	struct mr_bytes *out, struct mr_err *err)
{
	const char *start = (const char *)text.data, *end = start + text.len;
	const char *first = find_line(start, end, marks->begin);
	const char *last = first ? find_line(first, end, marks->end) : NULL;
	const char *newline;

	if (!first) {
		*out = (struct mr_bytes){ NULL, 0 };
		return MR_OK;
	}
	if (!last)
		return mr_err_set(err, MR_EFORMAT, "the line \"%s\" is missing after \"%s\"",
			marks->end, marks->begin);
	newline = memchr(last, '\n', (size_t)(end - last));
	last = newline ? newline + 1 : end;
	if (find_line(last, end, marks->begin))
		return mr_err_set(err, MR_EFORMAT, "there are two lines \"%s\": which one is it?",
			marks->begin);
	*out = mr_bytes_of(first, (size_t)(last - first));
	return MR_OK;
}

static struct mr_bytes keep(struct mr_arena *arena, const struct mr_buf *text)
{
	return mr_bytes_of(mr_arena_memdup(arena, mr_buf_text(text), text->len + 1), text->len);
}

enum mr_code mr_client_block_set(struct mr_arena *arena, struct mr_bytes text,
	const struct mr_client_marks *marks, const char *block, struct mr_bytes *out,
	struct mr_err *err)
{
	struct mr_buf made MR_CLEANUP(mr_buf_release) = { 0 };
	size_t before = text.len, after;
	struct mr_bytes old;
	enum mr_code rc = mr_client_block_find(text, marks, &old, err);

	mr_buf_init(&made, (size_t)2 * MR_CLIENT_FILE_BYTES);
	if (rc)
		return rc;
	if (old.data)
		before = (size_t)(old.data - text.data);
	after = before + old.len;
	if (!block && old.data && before > 1 && text.data[before - 1] == '\n' &&
		text.data[before - 2] == '\n')
		before--;
	mr_buf_add(&made, text.data, before);
	if (block && !old.data && before > 0)
		mr_buf_puts(&made, text.data[before - 1] == '\n' ? "\n" : "\n\n");
	if (block)
		mr_buf_puts(&made, block);
	mr_buf_add(&made, text.data + after, text.len - after);
	rc = mr_buf_check(&made, "the file", err);
	if (!rc)
		*out = keep(arena, &made);
	return rc;
}
