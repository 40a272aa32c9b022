/* data/history_log.c - reading: commits, files, changes. */
#include "base/utf8.h"
#include "data/history_private.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SCAN = 10000 };

static enum mr_code say_bad_commit(struct mr_history *history, const struct mr_oid *id,
	struct mr_err *err)
{
	char hex[41];

	mr_oid_format(id, hex);
	return mr_err_set(err, MR_EFORMAT, "archive %s is damaged: commit %s", history->path, hex);
}

enum mr_code mr_history_get_commit(struct mr_arena *arena, struct mr_history *history,
	const struct mr_oid *id, struct mr_history_commit *out, struct mr_err *err)
{
	struct mr_history_commit commit = { 0 };
	const char *text;
	enum mr_code rc = mr_history_get(arena, history, id, MR_PACK_COMMIT, &commit.raw, err);

	if (rc)
		return rc;
	text = (const char *)commit.raw.data;
	if (!mr_str_starts(text, "tree ") || !mr_oid_parse(text + 5, &commit.tree) ||
		text[45] != '\n')
		return say_bad_commit(history, id, err);
	text += 46;
	if (mr_str_starts(text, "parent ") && !mr_oid_parse(text + 7, &commit.parent))
		return say_bad_commit(history, id, err);
	*out = commit;
	return MR_OK;
}

/* --- one path in one commit --- */

struct place {
	bool is_there;
	unsigned mode;
	struct mr_oid id;
};

/* Go one name deeper. */
static enum mr_code descend(struct mr_arena *arena, struct mr_history *history, struct place *place,
	const char *name, size_t name_len, struct mr_err *err)
{
	struct mr_tree_entry entry;
	struct mr_bytes tree;
	enum mr_code rc;

	if (!place->is_there || !mr_tree_is_dir(place->mode)) {
		place->is_there = false;
		return MR_OK;
	}
	rc = mr_history_get(arena, history, &place->id, MR_PACK_TREE, &tree, err);
	if (rc)
		return rc;
	place->is_there = mr_tree_find(tree, name, name_len, &entry);
	if (place->is_there) {
		place->mode = entry.mode;
		place->id = entry.id;
	}
	return MR_OK;
}

static bool is_same(const struct place *a, const struct place *b)
{
	if (!a->is_there || !b->is_there)
		return a->is_there == b->is_there;
	return a->mode == b->mode && mr_oid_eq(&a->id, &b->id);
}

static struct place root_of(const struct mr_oid *tree)
{
	return (struct place){ .is_there = !mr_oid_is_zero(tree),
		.mode = MR_TREE_MODE_DIR,
		.id = *tree };
}

/* Does `path` differ between two trees? Looks no deeper than the first directory that does not. */
static enum mr_code differs(struct mr_history *history, const struct mr_oid *before,
	const struct mr_oid *after, const char *path, bool *out, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct place a = root_of(before), b = root_of(after);

	for (const char *at = path; at && !is_same(&a, &b);) {
		size_t len = strcspn(at, "/");
		enum mr_code rc = descend(arena, history, &a, at, len, err);

		if (!rc)
			rc = descend(arena, history, &b, at, len, err);
		if (rc)
			return rc;
		at = at[len] ? at + len + 1 : NULL;
	}
	*out = !is_same(&a, &b);
	return MR_OK;
}

enum mr_code mr_history_read(struct mr_arena *arena, struct mr_history *history, const char *commit,
	const char *path, size_t max, struct mr_bytes *out, struct mr_err *err)
{
	struct mr_arena *scratch MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_history_commit parsed;
	struct place place;
	struct mr_oid id;
	size_t size;
	enum mr_code rc = mr_history_check_path(path, err);

	if (!rc)
		rc = mr_history_find_commit(history, commit, &id, err);
	if (!rc)
		rc = mr_history_get_commit(scratch, history, &id, &parsed, err);
	if (rc)
		return rc;
	place = root_of(&parsed.tree);
	for (const char *at = path; at && !rc;) {
		size_t len = strcspn(at, "/");

		rc = descend(scratch, history, &place, at, len, err);
		at = at[len] ? at + len + 1 : NULL;
	}
	if (rc)
		return rc;
	if (!place.is_there)
		return mr_err_set(err, MR_ENOTFOUND, "archive %s has no %s in commit %s",
			history->path, path, commit ? commit : "HEAD");
	if (mr_tree_is_dir(place.mode))
		return mr_err_set(err, MR_EINVAL, "%s in archive %s is a directory", path,
			history->path);
	rc = mr_history_get_size(history, &place.id, &size, err);
	if (rc)
		return rc;
	if (size > max)
		return mr_err_set(err, MR_ELIMIT, "%s has %zu bytes, more than %zu", path, size,
			max);
	return mr_history_get(arena, history, &place.id, MR_PACK_BLOB, out, err);
}

/* --- a commit for people --- */

/* Valid UTF-8, whatever a person's git wrote. */
static const char *clean(struct mr_arena *arena, const char *text, size_t len)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release);

	mr_buf_init(&buf, 3 * len);
	if (mr_utf8_is_valid(text, len, NULL))
		return mr_arena_strndup(arena, text, len);
	for (size_t at = 0; at < len;) {
		uint32_t c = 0xfffd;
		size_t size = mr_utf8_next(text + at, len - at, &c);

		mr_buf_put_utf8(&buf, c);
		at += size ? size : 1;
	}
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

/* "Name <mail> seconds zone" */
static void parse_author(struct mr_arena *arena, const char *line, size_t len,
	struct mr_history_entry *entry)
{
	const char *open = memchr(line, '<', len);
	const char *close = open ? memchr(open, '>', len - (size_t)(open - line)) : NULL;
	size_t name_len;

	entry->author_name = entry->author_email = "";
	if (!close)
		return;
	name_len = (size_t)(open - line);
	while (name_len > 0 && line[name_len - 1] == ' ')
		name_len--;
	entry->author_name = clean(arena, line, name_len);
	entry->author_email = clean(arena, open + 1, (size_t)(close - open) - 1);
	entry->time_us = strtoll(close + 1, NULL, 10) * 1000000;
}

/* How long the name is, when the line is "Name: value"; else 0. */
static size_t key_length(const char *line, size_t len)
{
	size_t key = 0;

	while (key < len &&
		(line[key] == '-' || (line[key] >= '0' && line[key] <= '9') ||
			((line[key] | 32) >= 'a' && (line[key] | 32) <= 'z')))
		key++;
	return key > 0 && key + 1 < len && line[key] == ':' && line[key + 1] == ' ' ? key : 0;
}

static size_t line_length(const char *text)
{
	return strcspn(text, "\n");
}

/* If every line of the last paragraph is a trailer, that is what they are. */
static size_t parse_trailers(struct mr_arena *arena, const char *paragraph,
	struct mr_history_entry *entry)
{
	struct mr_history_trailer *trailers;
	size_t count = 0, at = 0;

	for (const char *line = paragraph; *line;) {
		size_t len = line_length(line);

		if (key_length(line, len) == 0 || ++count > MR_HISTORY_TRAILERS)
			return 0;
		line += len + (line[len] == '\n');
	}
	trailers = mr_arena_array(arena, count, sizeof(*trailers));
	for (const char *line = paragraph; *line; at++) {
		size_t len = line_length(line), key = key_length(line, len);

		trailers[at].key = mr_arena_strndup(arena, line, key);
		trailers[at].value = mr_arena_strndup(arena, line + key + 2, len - key - 2);
		line += len + (line[len] == '\n');
	}
	entry->trailers = trailers;
	entry->trailer_count = count;
	return count;
}

static void parse_message(struct mr_arena *arena, const char *text, struct mr_history_entry *entry)
{
	size_t len, subject;
	char *body, *last;

	text += strspn(text, "\n");
	subject = line_length(text);
	entry->subject = mr_arena_strndup(arena, text, subject);
	body = mr_arena_strdup(arena, text + subject + strspn(text + subject, "\n"));
	len = strlen(body);
	while (len > 0 && body[len - 1] == '\n')
		body[--len] = '\0';
	entry->body = body;
	last = body;
	for (char *at = body; (at = strstr(at, "\n\n")); at += 2)
		last = at + 2;
	if (*last == '\0' || parse_trailers(arena, last, entry) == 0)
		return;
	while (last > body && last[-1] == '\n')
		last--;
	*last = '\0';
}

static void parse_entry(struct mr_arena *arena, const struct mr_oid *id,
	const struct mr_history_commit *commit, struct mr_history_entry *out)
{
	const char *text = (const char *)commit->raw.data;

	*out = (struct mr_history_entry){ .author_name = "", .author_email = "" };
	mr_oid_format(id, out->id.hex);
	while (*text && *text != '\n') {
		size_t len = line_length(text);

		if (mr_str_starts(text, "author "))
			parse_author(arena, text + 7, len - 7, out);
		text += len + (text[len] == '\n');
	}
	parse_message(arena, clean(arena, text, strlen(text)), out);
}

const char *mr_history_trailer(const struct mr_history_entry *entry, const char *key)
{
	for (size_t i = 0; i < entry->trailer_count; i++) {
		if (mr_str_eq_nocase(entry->trailers[i].key, key))
			return entry->trailers[i].value;
	}
	return NULL;
}

/* --- the log --- */

static enum mr_code check_query(struct mr_history *history, const struct mr_history_query *query,
	struct mr_oid *out_start, struct mr_err *err)
{
	enum mr_code rc = MR_OK;

	if (query->limit == 0 || query->limit > MR_HISTORY_LOG_ENTRIES)
		return mr_err_set(err, MR_EINVAL, "a log has 1 to %d entries",
			MR_HISTORY_LOG_ENTRIES);
	if (query->max_scan > MR_HISTORY_LOG_SCAN)
		return mr_err_set(err, MR_EINVAL, "a log looks at no more than %d commits",
			MR_HISTORY_LOG_SCAN);
	if (query->path)
		rc = mr_history_check_path(query->path, err);
	if (!rc && query->start)
		return mr_history_find_commit(history, query->start, out_start, err);
	return rc ? rc : mr_history_get_head(history, out_start, err);
}

/* Did the commit change the path? */
static enum mr_code is_wanted(struct mr_arena *arena, struct mr_history *history, const char *path,
	const struct mr_history_commit *commit, bool *out, struct mr_err *err)
{
	struct mr_history_commit parent = { 0 };
	enum mr_code rc = MR_OK;

	*out = true;
	if (!path)
		return MR_OK;
	if (!mr_oid_is_zero(&commit->parent))
		rc = mr_history_get_commit(arena, history, &commit->parent, &parent, err);
	return rc ? rc : differs(history, &parent.tree, &commit->tree, path, out, err);
}

enum mr_code mr_history_log(struct mr_arena *arena, struct mr_history *history,
	const struct mr_history_query *query, struct mr_history_log *out, struct mr_err *err)
{
	size_t scan = query->max_scan ? query->max_scan : DEFAULT_SCAN;
	struct mr_history_log log = { 0 };
	struct mr_oid at;
	enum mr_code rc = check_query(history, query, &at, err);

	if (rc)
		return rc;
	log.items = mr_arena_array(arena, query->limit, sizeof(*log.items));
	for (; !mr_oid_is_zero(&at) && log.len < query->limit && scan > 0; scan--) {
		struct mr_arena *scratch MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_history_commit commit;
		bool wanted;

		rc = mr_history_get_commit(scratch, history, &at, &commit, err);
		if (!rc)
			rc = is_wanted(scratch, history, query->path, &commit, &wanted, err);
		if (rc)
			return rc;
		if (wanted)
			parse_entry(arena, &at, &commit, &log.items[log.len++]);
		at = commit.parent;
	}
	if (!mr_oid_is_zero(&at))
		mr_oid_format(&at, log.next.hex);
	*out = log;
	return MR_OK;
}

/* --- what a commit changed --- */

struct collect {
	struct mr_arena *arena;
	struct mr_history_changes changes;
	size_t max, room;
};

static enum mr_code collect_one(void *arg, const char *path, const struct mr_tree_entry *before,
	const struct mr_tree_entry *after, struct mr_err *err)
{
	struct collect *collect = arg;
	struct mr_history_changes *changes = &collect->changes;

	(void)err;
	if (mr_tree_is_dir(before->mode) || mr_tree_is_dir(after->mode))
		return MR_OK;
	if (changes->len == collect->max) {
		changes->truncated = true;
		return MR_OK;
	}
	if (changes->len == collect->room) {
		size_t room = collect->room ? 2 * collect->room : 16;
		struct mr_history_change *items =
			mr_arena_array(collect->arena, room, sizeof(*items));

		if (changes->len)
			memcpy(items, changes->items, changes->len * sizeof(*items));
		changes->items = items;
		collect->room = room;
	}
	changes->items[changes->len++] = (struct mr_history_change){
		.path = mr_arena_strdup(collect->arena, path),
		.kind = !before->mode  ? MR_HISTORY_ADDED
			: !after->mode ? MR_HISTORY_REMOVED
				       : MR_HISTORY_CHANGED,
	};
	return MR_OK;
}

enum mr_code mr_history_changes(struct mr_arena *arena, struct mr_history *history,
	const char *commit, size_t max, struct mr_history_changes *out, struct mr_err *err)
{
	struct mr_arena *scratch MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct collect collect = { .arena = arena, .max = max };
	struct mr_history_commit parsed, parent = { 0 };
	struct mr_oid id;
	enum mr_code rc = mr_history_find_commit(history, commit, &id, err);

	if (!rc)
		rc = mr_history_get_commit(scratch, history, &id, &parsed, err);
	if (!rc && !mr_oid_is_zero(&parsed.parent))
		rc = mr_history_get_commit(scratch, history, &parsed.parent, &parent, err);
	if (!rc)
		rc = mr_history_diff(history, &parent.tree, &parsed.tree, collect_one, &collect,
			err);
	if (!rc)
		*out = collect.changes;
	return rc;
}
