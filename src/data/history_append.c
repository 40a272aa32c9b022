/* data/history_append.c - a batch becomes blobs, trees and a commit, in one pack. */
#include "base/crash.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/utf8.h"
#include "data/history_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ATTEMPTS = 8,            /* against a person who commits at the same time */
	MERGE_BYTES = 256 << 20, /* more is left to mr_history_tidy() */
	TREE_BYTES = 256 << 20,
};

static const char REF_TEMP[] = "ref.tmp";

/* One file of the batch. */
struct op {
	const char *path;
	const struct mr_history_file *file;
	struct mr_oid blob;
	bool changed; /* the commit differs from its parent here */
};

struct build {
	struct mr_arena *arena;
	struct mr_history *history;
	struct op *ops;
	size_t op_count;
	struct mr_pack_object *objects;
	size_t object_count, object_room;
};

static void add_object(struct build *build, const struct mr_oid *id, enum mr_pack_kind kind,
	struct mr_bytes data)
{
	if (build->object_count == build->object_room) {
		size_t room = build->object_room ? 2 * build->object_room : 64;
		struct mr_pack_object *objects =
			mr_arena_array(build->arena, room, sizeof(*objects));

		if (build->object_count)
			memcpy(objects, build->objects, build->object_count * sizeof(*objects));
		build->objects = objects;
		build->object_room = room;
	}
	build->objects[build->object_count++] =
		(struct mr_pack_object){ .id = *id, .kind = kind, .data = data };
}

/* --- the batch --- */

/* '/' before everything, so that what is below a name follows it directly. */
static int path_order(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (*a == *b)
		return 0;
	return (*a == '/' ? 1 : (unsigned char)*a) - (*b == '/' ? 1 : (unsigned char)*b);
}

static int op_order(const void *a, const void *b)
{
	const struct op *left = a, *right = b;
	int order = path_order(left->path, right->path);

	return order ? order : (left->file > right->file) - (left->file < right->file);
}

static enum mr_code take_files(struct build *build, const struct mr_history_batch *batch,
	struct mr_err *err)
{
	size_t total = 0, kept = 0;

	if (batch->file_count > MR_HISTORY_FILES)
		return mr_err_set(err, MR_ELIMIT, "a batch has %zu files, more than %d",
			batch->file_count, MR_HISTORY_FILES);
	build->ops = mr_arena_array(build->arena, batch->file_count + 1, sizeof(*build->ops));
	for (size_t i = 0; i < batch->file_count; i++) {
		const struct mr_history_file *file = &batch->files[i];
		enum mr_code rc = mr_history_check_path(file->path, err);

		if (rc)
			return rc;
		if (!file->remove && file->data.len > MR_HISTORY_FILE_BYTES)
			return mr_err_set(err, MR_ELIMIT, "%s has %zu bytes, more than %d",
				file->path, file->data.len, MR_HISTORY_FILE_BYTES);
		total += file->remove ? 0 : file->data.len;
		if (total > MR_HISTORY_BATCH_BYTES)
			return mr_err_set(err, MR_ELIMIT, "a batch has more than %d bytes",
				MR_HISTORY_BATCH_BYTES);
		build->ops[i] = (struct op){ .path = file->path, .file = file };
	}
	qsort(build->ops, batch->file_count, sizeof(*build->ops), op_order);
	for (size_t i = 0; i < batch->file_count; i++) {
		if (i + 1 < batch->file_count &&
			strcmp(build->ops[i].path, build->ops[i + 1].path) == 0)
			continue;
		build->ops[kept++] = build->ops[i];
	}
	build->op_count = kept;
	return MR_OK;
}

static enum mr_code hash_files(struct build *build, struct mr_err *err)
{
	for (size_t i = 0; i < build->op_count; i++) {
		struct op *op = &build->ops[i];
		enum mr_code rc;

		if (op->file->remove)
			continue;
		rc = mr_history_hash(op->file->data, MR_PACK_BLOB, &op->blob, err);
		if (rc)
			return mr_err_wrap(err, "%s", op->path);
	}
	return MR_OK;
}

static bool is_key(const char *key)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789-";

	return *key && key[strspn(key, allowed)] == '\0';
}

static enum mr_code put_trailers(struct mr_buf *out, const struct mr_history_batch *batch,
	struct mr_err *err)
{
	if (batch->trailer_count > MR_HISTORY_TRAILERS)
		return mr_err_set(err, MR_ELIMIT, "a commit has more than %d trailers",
			MR_HISTORY_TRAILERS);
	for (size_t i = 0; i < batch->trailer_count; i++) {
		const struct mr_history_trailer *trailer = &batch->trailers[i];

		if (!is_key(trailer->key))
			return mr_err_set(err, MR_EINVAL,
				"\"%s\" cannot be a trailer's name: letters, digits and '-' only",
				trailer->key);
		if (!mr_utf8_is_valid(trailer->value, strlen(trailer->value), NULL))
			return mr_err_set(err, MR_EINVAL, "trailer %s is not UTF-8", trailer->key);
		mr_buf_printf(out, "%s%s: ", i == 0 ? "\n" : "", trailer->key);
		for (const char *at = trailer->value; *at; at++)
			mr_buf_putc(out, (unsigned char)*at < 0x20 || *at == 0x7f ? ' ' : *at);
		mr_buf_putc(out, '\n');
	}
	return MR_OK;
}

/* The message with its trailers as last paragraph. */
static enum mr_code make_message(struct build *build, const struct mr_history_batch *batch,
	const char **out, struct mr_err *err)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release);
	const char *message = batch->message + strspn(batch->message, " \t\r\n");
	size_t len = strlen(message);
	enum mr_code rc;

	mr_buf_init(&text, MR_HISTORY_MESSAGE_BYTES);
	while (len > 0 && strchr(" \t\r\n", message[len - 1]))
		len--;
	if (len == 0)
		return mr_err_set(err, MR_EINVAL, "a commit needs a message");
	if (!mr_utf8_is_valid(message, len, NULL))
		return mr_err_set(err, MR_EINVAL, "the message is not UTF-8");
	mr_buf_add(&text, message, len);
	mr_buf_putc(&text, '\n');
	rc = put_trailers(&text, batch, err);
	if (!rc)
		rc = mr_buf_check(&text, "the message", err);
	if (!rc)
		*out = mr_arena_strdup(build->arena, mr_buf_text(&text));
	return rc;
}

/* --- trees --- */

/* What the batch does at one name of a directory. */
struct group {
	const char *name;
	size_t name_len;
	struct op *leaf; /* the file of that name, or NULL */
	struct op *below;
	size_t below_count; /* files in the directory of that name */
	bool has_old;
	struct mr_tree_entry old;
	bool changed;
	struct mr_tree_edit edit;
};

enum outcome { SAME, CHANGED, EMPTY };

static enum mr_code apply(struct build *build, const struct mr_oid *tree, struct op *ops,
	size_t count, size_t skip, struct mr_oid *out, enum outcome *out_outcome,
	struct mr_err *err);

static size_t make_groups(struct op *ops, size_t count, size_t skip, struct group *groups)
{
	size_t len = 0;

	for (size_t i = 0; i < count; i++) {
		const char *name = ops[i].path + skip;
		size_t name_len = strcspn(name, "/");
		struct group *group = len > 0 ? &groups[len - 1] : NULL;

		if (!group || group->name_len != name_len ||
			memcmp(group->name, name, name_len) != 0) {
			group = &groups[len++];
			*group = (struct group){ .name = name, .name_len = name_len };
		}
		if (name[name_len] == '\0') {
			group->leaf = &ops[i];
		} else {
			if (!group->below)
				group->below = &ops[i];
			group->below_count++;
		}
	}
	return len;
}

/* Groups are in the order of their names: names have no byte below '/', as it is ordered there. */
static struct group *find_group(struct group *groups, size_t count,
	const struct mr_tree_entry *entry)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = mr_tree_compare(groups[middle].name, groups[middle].name_len, false,
			entry->name, entry->name_len, false);

		if (order == 0)
			return &groups[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static bool puts_any(const struct op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!ops[i].file->remove)
			return true;
	}
	return false;
}

static enum mr_code say_conflict(struct build *build, const struct group *group, const char *is,
	struct mr_err *err)
{
	const char *path = group->leaf ? group->leaf->path : group->below->path;

	return mr_err_set(err, MR_ECONFLICT, "%.*s in archive %s is %s",
		(int)(group->name + group->name_len - path), path, build->history->path, is);
}

static enum mr_code resolve_leaf(struct build *build, struct group *group, struct mr_err *err)
{
	struct op *op = group->leaf;

	if (group->has_old && mr_tree_is_dir(group->old.mode))
		return say_conflict(build, group, "a directory", err);
	if (op->file->remove) {
		group->changed = op->changed = group->has_old;
		return MR_OK;
	}
	if (puts_any(group->below, group->below_count))
		return say_conflict(build, group, "to be both a file and a directory", err);
	group->edit.mode = MR_TREE_MODE_FILE;
	group->edit.id = op->blob;
	group->changed = op->changed = !group->has_old || group->old.mode != MR_TREE_MODE_FILE ||
		!mr_oid_eq(&group->old.id, &op->blob);
	if (op->changed)
		add_object(build, &op->blob, MR_PACK_BLOB, op->file->data);
	return MR_OK;
}

/* What becomes of the group's name, at byte `skip` of its paths: `edit`, when it `changed`. */
static enum mr_code resolve(struct build *build, struct group *group, size_t skip,
	struct mr_err *err)
{
	bool is_dir = group->has_old && mr_tree_is_dir(group->old.mode);
	enum outcome outcome;
	enum mr_code rc;

	group->edit.name = group->name;
	group->edit.name_len = group->name_len;
	if (group->leaf) {
		rc = resolve_leaf(build, group, err);
		if (rc || !group->leaf->file->remove)
			return rc;
	}
	if (!is_dir && !puts_any(group->below, group->below_count))
		return MR_OK;
	if (group->has_old && !is_dir && !group->leaf)
		return say_conflict(build, group, "a file, not a directory", err);
	rc = apply(build, is_dir ? &group->old.id : NULL, group->below, group->below_count,
		skip + group->name_len + 1, &group->edit.id, &outcome, err);
	if (rc || outcome == SAME)
		return rc;
	group->changed = true;
	group->edit.mode = outcome == EMPTY ? 0 : MR_TREE_MODE_DIR;
	return MR_OK;
}

static int edit_order(const void *a, const void *b)
{
	const struct mr_tree_edit *left = a, *right = b;

	return mr_tree_compare(left->name, left->name_len, mr_tree_is_dir(left->mode), right->name,
		right->name_len, mr_tree_is_dir(right->mode));
}

static enum mr_code rewrite(struct build *build, struct mr_bytes tree, struct group *groups,
	size_t count, struct mr_oid *out, enum outcome *out_outcome, struct mr_err *err)
{
	struct mr_buf bytes MR_CLEANUP(mr_buf_release);
	struct mr_tree_edit *edits = mr_arena_array(build->arena, count, sizeof(*edits));
	size_t *replaced = mr_arena_array(build->arena, count, sizeof(*replaced));
	size_t edit_count = 0, replaced_count = 0;
	struct mr_tree_iter iter = { .tree = tree };
	struct mr_tree_entry entry;
	struct mr_bytes data;
	enum mr_code rc;

	for (size_t i = 0; i < count; i++) {
		if (groups[i].changed && groups[i].edit.mode)
			edits[edit_count++] = groups[i].edit;
		if (groups[i].changed && groups[i].has_old)
			replaced_count++;
	}
	/* Their places in the tree's own order, which for directories is not that of the groups. */
	for (size_t at = 0; at < replaced_count && mr_tree_next(&iter, &entry);) {
		const struct group *group = find_group(groups, count, &entry);

		if (group && group->changed)
			replaced[at++] = entry.at;
	}
	qsort(edits, edit_count, sizeof(*edits), edit_order);
	mr_buf_init(&bytes, TREE_BYTES);
	mr_tree_rewrite(tree, edits, edit_count, replaced, replaced_count, &bytes);
	rc = mr_buf_check(&bytes, "a directory of the archive", err);
	if (rc)
		return rc;
	*out_outcome = bytes.len ? CHANGED : EMPTY;
	data = mr_bytes_of(mr_arena_memdup(build->arena, bytes.data ? bytes.data : "", bytes.len),
		bytes.len);
	rc = mr_history_hash(data, MR_PACK_TREE, out, err);
	/* Written even when empty: the uppermost may be. */
	if (!rc)
		add_object(build, out, MR_PACK_TREE, data);
	return rc;
}

/* The tree after `ops`, whose paths are relative to it from byte `skip` on. */
static enum mr_code apply(struct build *build, const struct mr_oid *tree, struct op *ops,
	size_t count, size_t skip, struct mr_oid *out, enum outcome *out_outcome,
	struct mr_err *err)
{
	struct group *groups = mr_arena_array(build->arena, count + 1, sizeof(*groups));
	size_t group_count = make_groups(ops, count, skip, groups);
	struct mr_bytes bytes = mr_bytes_of("", 0);
	struct mr_tree_iter iter;
	struct mr_tree_entry entry;
	bool changed = false;
	enum mr_code rc = MR_OK;

	if (tree)
		rc = mr_history_get(build->arena, build->history, tree, MR_PACK_TREE, &bytes, err);
	if (rc)
		return rc;
	iter = (struct mr_tree_iter){ .tree = bytes };
	while (mr_tree_next(&iter, &entry)) {
		struct group *group = find_group(groups, group_count, &entry);

		if (group) {
			group->has_old = true;
			group->old = entry;
		}
	}
	if (iter.bad)
		return mr_err_set(err, MR_EFORMAT, "archive %s is damaged: a directory",
			build->history->path);
	for (size_t i = 0; !rc && i < group_count; i++) {
		rc = resolve(build, &groups[i], skip, err);
		changed = changed || groups[i].changed;
	}
	if (rc)
		return rc;
	*out_outcome = SAME;
	return changed ? rewrite(build, bytes, groups, group_count, out, out_outcome, err) : MR_OK;
}

/* --- the commit --- */

static enum mr_code make_commit(struct build *build, const struct mr_oid *tree,
	const struct mr_oid *parent, const char *message, int64_t time_us, struct mr_oid *out,
	struct mr_err *err)
{
	char tree_hex[41], parent_hex[41];
	const char *author = build->history->author;
	int64_t seconds = time_us / 1000000;
	const char *text;
	enum mr_code rc;

	mr_oid_format(tree, tree_hex);
	mr_oid_format(parent, parent_hex);
	text = mr_arena_printf(build->arena,
		"tree %s\n%s%s%sauthor %s %" PRId64 " +0000\ncommitter %s %" PRId64 " +0000\n\n%s",
		tree_hex, mr_oid_is_zero(parent) ? "" : "parent ",
		mr_oid_is_zero(parent) ? "" : parent_hex, mr_oid_is_zero(parent) ? "" : "\n",
		author, seconds, author, seconds, message);
	rc = mr_history_hash(mr_bytes_text(text), MR_PACK_COMMIT, out, err);
	if (!rc)
		add_object(build, out, MR_PACK_COMMIT, mr_bytes_text(text));
	return rc;
}

/* Move the branch from `from` to `to`; `*out_moved` is false when somebody else has moved it. */
static enum mr_code move_branch(struct mr_history *history, const struct mr_oid *from,
	const struct mr_oid *to, bool *out_moved, struct mr_err *err)
{
	char line[42];
	struct mr_oid now;
	enum mr_code rc = mr_history_gitlock_take(history, MR_HISTORY_REF_LOCK, err);

	if (rc)
		return rc;
	rc = mr_history_get_head(history, &now, err);
	*out_moved = !rc && mr_oid_eq(&now, from);
	if (*out_moved) {
		mr_oid_format(to, line);
		line[40] = '\n';
		rc = mr_history_temp_write(history, REF_TEMP, mr_bytes_of(line, 41), 0666, true,
			err);
		mr_crash_point("history.ref.written");
		if (!rc &&
			renameat(history->own_dir, REF_TEMP, history->git_dir, MR_HISTORY_REF) != 0)
			rc = mr_err_os(err, errno, "cannot write %s/.git/%s", history->path,
				MR_HISTORY_REF);
		mr_crash_point("history.ref.named");
		if (!rc)
			rc = mr_fs_sync_dir(history->git_dir, "refs/heads", err);
		mr_crash_point("history.ref.synced");
	}
	mr_history_gitlock_release(history, MR_HISTORY_REF_LOCK);
	return rc;
}

static enum mr_code write_files(struct build *build, struct mr_err *err)
{
	struct mr_history_work work MR_CLEANUP(mr_history_work_close);
	enum mr_code rc = MR_OK;

	mr_history_work_open(&work, build->history);
	for (size_t i = 0; !rc && i < build->op_count; i++) {
		if (build->ops[i].changed && build->ops[i].file->remove)
			rc = mr_history_work_remove(&work, build->ops[i].path, err);
	}
	for (size_t i = 0; !rc && i < build->op_count; i++) {
		if (build->ops[i].changed && !build->ops[i].file->remove)
			rc = mr_history_work_put(&work, build->ops[i].path,
				build->ops[i].file->data, err);
	}
	return rc ? mr_err_wrap(err, "committed, but not in the work tree yet") : MR_OK;
}

static void remember_objects(struct build *build)
{
	for (size_t i = 0; i < build->object_count; i++) {
		const struct mr_pack_object *object = &build->objects[i];

		if (object->kind != MR_PACK_BLOB)
			mr_history_remember(build->history, &object->id, object->kind,
				object->data);
	}
}

/* The history has it: bring the rest up to it. */
static enum mr_code follow_up(struct build *build, const struct mr_oid *commit, struct mr_err *err)
{
	struct mr_history *history = build->history;
	struct mr_err ignored;
	enum mr_code rc;

	remember_objects(build);
	rc = write_files(build, err);
	if (rc)
		return rc;
	mr_crash_point("history.append.files");
	rc = mr_history_state_advance(history, commit, false, err);
	/* Not what was asked for, and tried again by the next. */
	if (!rc && mr_history_merge(history, MR_HISTORY_PACKS, MERGE_BYTES, &ignored))
		mr_log(MR_LOG_DEBUG, "history.merge", "%s", ignored.msg);
	return rc;
}

/* One attempt; `*out_done` is false when somebody moved the branch meanwhile. */
static enum mr_code attempt(struct build *build, const char *message, int64_t time_us,
	struct mr_history_appended *out, bool *out_done, struct mr_err *err)
{
	struct mr_history *history = build->history;
	struct mr_history_commit parent = { 0 };
	struct mr_oid head, tree, commit;
	enum outcome outcome = SAME;
	enum mr_code rc = mr_history_get_head(history, &head, err);

	build->object_count = 0;
	if (!rc && !mr_oid_is_zero(&head))
		rc = mr_history_get_commit(build->arena, history, &head, &parent, err);
	if (!rc)
		rc = apply(build, mr_oid_is_zero(&head) ? NULL : &parent.tree, build->ops,
			build->op_count, 0, &tree, &outcome, err);
	if (rc)
		return rc;
	*out = (struct mr_history_appended){ .committed = outcome != SAME };
	*out_done = true;
	if (outcome == SAME) {
		if (!mr_oid_is_zero(&head))
			mr_oid_format(&head, out->id.hex);
		return MR_OK;
	}
	rc = make_commit(build, &tree, &head, message, time_us, &commit, err);
	if (!rc)
		rc = mr_pack_write(history->pack_dir, history->own_dir, build->objects,
			build->object_count, err);
	if (!rc)
		rc = move_branch(history, &head, &commit, out_done, err);
	if (rc)
		return mr_err_wrap(err, "archive %s", history->path);
	if (!*out_done)
		return MR_OK;
	mr_oid_format(&commit, out->id.hex);
	return follow_up(build, &commit, err);
}

enum mr_code mr_history_append(struct mr_history *history, const struct mr_history_batch *batch,
	struct mr_history_appended *out, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	struct build build = { .arena = arena, .history = history };
	int64_t time_us = batch->time_us ? batch->time_us : mr_clock_wall_us(history->clock);
	const char *message = NULL;
	struct mr_history_appended appended;
	bool done = false;
	enum mr_code rc = make_message(&build, batch, &message, err);

	if (!rc && time_us < 0)
		rc = mr_err_set(err, MR_EINVAL, "a commit cannot be older than 1970");
	if (!rc)
		rc = take_files(&build, batch, err);
	if (!rc)
		rc = hash_files(&build, err);
	if (!rc)
		rc = mr_history_lock(history, history->lock_timeout_ms, &lock, err);
	for (int i = 0; !rc && !done && i < ATTEMPTS; i++)
		rc = attempt(&build, message, time_us, &appended, &done, err);
	if (!rc && !done)
		rc = mr_err_set(err, MR_EBUSY, "archive %s: others keep committing to it",
			history->path);
	if (!rc)
		*out = appended;
	return rc;
}
