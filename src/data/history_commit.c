/* data/history_commit.c - a batch of files becomes trees, a commit, and a pack. */
#include "base/buf.h"
#include "base/oom.h"
#include "data/history_object.h"
#include "data/history_private.h"

#include <stdlib.h>
#include <string.h>

/* --- trees that the next batch will ask for --- */

/*
 * Nearly every batch changes the directories that the last one changed. What was written then is
 * kept, by its id, so that nothing must be read, inflated or put together from deltas.
 */
enum { KEPT = 64, KEPT_BYTES = 48 << 20, KEPT_TREE = 16 << 20 };

struct kept {
	struct mr_object_id id;
	uint8_t *data; /* NULL: free */
	size_t len;
	uint64_t used;
};

struct mr_history_kept {
	struct kept items[KEPT];
	size_t bytes;
	uint64_t uses;
};

static void forget(struct mr_history_kept *kept, struct kept *item)
{
	if (!item->data)
		return;
	kept->bytes -= item->len;
	free(item->data);
	*item = (struct kept){ 0 };
}

void mr_history_kept_free(struct mr_history *history)
{
	for (size_t i = 0; history->kept && i < KEPT; i++)
		forget(history->kept, &history->kept->items[i]);
	free(history->kept);
	history->kept = NULL;
}

static struct kept *find_kept(struct mr_history *history, const struct mr_object_id *id)
{
	for (size_t i = 0; history->kept && i < KEPT; i++) {
		struct kept *item = &history->kept->items[i];

		if (item->data && mr_object_id_eq(&item->id, id))
			return item;
	}
	return NULL;
}

static struct kept *least_used(struct mr_history_kept *kept)
{
	struct kept *found = &kept->items[0];

	for (size_t i = 1; i < KEPT; i++) {
		if (kept->items[i].used < found->used)
			found = &kept->items[i];
	}
	return found;
}

static void keep(struct mr_history *history, const struct mr_object_id *id, struct mr_bytes data)
{
	struct mr_history_kept *kept = history->kept;
	struct kept *place;

	if (data.len == 0 || data.len > KEPT_TREE || find_kept(history, id))
		return;
	if (!kept) {
		history->kept = kept = calloc(1, sizeof(*kept));
		if (!kept)
			mr_oom(sizeof(*kept));
	}
	while (kept->bytes + data.len > KEPT_BYTES) {
		struct kept *oldest = NULL;

		for (size_t i = 0; i < KEPT; i++) {
			struct kept *item = &kept->items[i];

			if (item->data && (!oldest || item->used < oldest->used))
				oldest = item;
		}
		forget(kept, oldest);
	}
	place = least_used(kept);
	forget(kept, place);
	*place = (struct kept){ .id = *id,
		.data = malloc(data.len),
		.len = data.len,
		.used = ++kept->uses };
	if (!place->data)
		mr_oom(data.len);
	memcpy(place->data, data.data, data.len);
	kept->bytes += data.len;
}

/* --- building --- */

struct build {
	struct mr_history *history;
	struct mr_arena *arena;
	struct mr_pack_object *objects; /* what is new */
	size_t count, room;
};

enum outcome { SAME, CHANGED, EMPTY };

/* What the batch does at one name of a directory. */
struct group {
	const char *name;
	size_t path_len;            /* up to and with the name */
	struct mr_history_op *leaf; /* the file of that name, or NULL */
	struct mr_history_op *below;
	size_t below_count; /* files in the directory of that name */
	bool puts;          /* any of these is not a removal */
	bool is_there;
	struct mr_tree_entry old;
	bool was_dir;
};

static enum mr_code apply(struct build *build, const struct mr_object_id *id,
	struct mr_history_op *ops, size_t count, size_t skip, struct mr_object_id *out,
	enum outcome *out_outcome, struct mr_err *err);

static void add_object(struct build *build, enum mr_object_type type, const struct mr_object_id *id,
	struct mr_bytes data)
{
	if (build->count == build->room) {
		struct mr_pack_object *grown;

		build->room = build->room ? 2 * build->room : 256;
		grown = mr_arena_array(build->arena, build->room, sizeof(*grown));
		if (build->count)
			memcpy(grown, build->objects, build->count * sizeof(*grown));
		build->objects = grown;
	}
	build->objects[build->count++] =
		(struct mr_pack_object){ .id = *id, .type = type, .size = data.len, .data = data };
}

/* The operations at `ops` that share a name at byte `skip`; returns how many. */
static size_t take_group(struct build *build, struct mr_history_op *ops, size_t count, size_t skip,
	struct group *out)
{
	const char *first = ops[0].file->path;
	size_t len = strcspn(first + skip, "/"), taken = 0;

	*out = (struct group){ .path_len = skip + len,
		.name = mr_arena_strndup(build->arena, first + skip, len) };
	for (; taken < count; taken++) {
		const char *path = ops[taken].file->path;

		if (strncmp(path, first, skip + len) != 0 ||
			(path[skip + len] != '\0' && path[skip + len] != '/'))
			break;
		if (path[skip + len] == '\0') {
			out->leaf = &ops[taken];
			continue;
		}
		if (!out->below)
			out->below = &ops[taken];
		out->below_count++;
		out->puts = out->puts || !ops[taken].file->remove;
	}
	return taken;
}

static enum mr_code say_conflict(const struct build *build, const struct group *group,
	const char *is, struct mr_err *err)
{
	const char *path = group->leaf ? group->leaf->file->path : group->below->file->path;

	return mr_err_set(err, MR_ECONFLICT, "%.*s in archive %s is %s", (int)group->path_len, path,
		build->history->path, is);
}

/* The file of the group's name; `*out` is its blob when it is changed. */
static enum mr_code apply_leaf(struct build *build, const struct group *group,
	struct mr_object_id *out, struct mr_err *err)
{
	const struct mr_history_file *file = group->leaf->file;

	if (group->was_dir)
		return say_conflict(build, group, "a directory", err);
	if (file->remove) {
		group->leaf->changed = group->is_there;
		return MR_OK;
	}
	if (group->puts)
		return say_conflict(build, group, "to be both a file and a directory", err);
	/* The library's SHA-1 notices bytes made to collide, and refuses them. */
	if (!mr_history_hash_blob(file->data, out))
		return mr_err_set(err, MR_EINVAL, "cannot hash %s", file->path);
	group->leaf->changed = !group->is_there || group->old.mode != MR_OBJECT_FILE_MODE ||
		!mr_object_id_eq(&group->old.id, out);
	if (group->leaf->changed)
		add_object(build, MR_OBJECT_BLOB, out, file->data);
	return MR_OK;
}

/* What becomes of the group's name. */
static enum mr_code apply_group(struct build *build, const struct group *group,
	struct mr_object_id *out, enum outcome *out_outcome, struct mr_err *err)
{
	enum mr_code rc;

	*out_outcome = SAME;
	if (group->leaf) {
		rc = apply_leaf(build, group, out, err);
		if (rc)
			return rc;
		if (group->leaf->changed)
			*out_outcome = group->leaf->file->remove ? EMPTY : CHANGED;
		if (!group->leaf->file->remove)
			return MR_OK;
	}
	if (!group->was_dir && !group->puts)
		return MR_OK;
	if (group->is_there && !group->was_dir && !group->leaf)
		return say_conflict(build, group, "a file, not a directory", err);
	return apply(build, group->was_dir ? &group->old.id : NULL, group->below,
		group->below_count, group->path_len + 1, out, out_outcome, err);
}

/* A tree's bytes; nothing for none. */
static enum mr_code load(struct build *build, const struct mr_object_id *id, struct mr_bytes *out,
	struct mr_err *err)
{
	struct kept *kept = id ? find_kept(build->history, id) : NULL;

	*out = mr_bytes_of("", 0);
	if (!id)
		return MR_OK;
	if (!kept)
		return mr_history_load_tree(build->history, build->arena, id, out, err);
	kept->used = ++build->history->kept->uses;
	/* It may be forgotten before we are done. */
	*out = mr_bytes_of(mr_arena_memdup(build->arena, kept->data, kept->len), kept->len);
	return MR_OK;
}

/* The tree after `ops`, whose paths are relative to it from byte `skip` on. */
static enum mr_code apply(struct build *build, const struct mr_object_id *id,
	struct mr_history_op *ops, size_t count, size_t skip, struct mr_object_id *out,
	enum outcome *out_outcome, struct mr_err *err)
{
	struct mr_tree_edit *edits = mr_arena_array(build->arena, count, sizeof(*edits));
	size_t edit_count = 0;
	struct mr_tree tree;
	struct mr_bytes data;
	enum mr_code rc = load(build, id, &data, err);

	if (!rc)
		rc = mr_tree_read(build->arena, data, &tree, err);
	while (!rc && count > 0) {
		struct group group;
		size_t taken = take_group(build, ops, count, skip, &group);
		struct mr_tree_edit edit = { .name = group.name };
		enum outcome outcome;

		group.is_there = mr_tree_find(&tree, group.name, &group.old);
		group.was_dir = group.is_there && group.old.mode == MR_OBJECT_TREE_MODE;
		rc = apply_group(build, &group, &edit.id, &outcome, err);
		edit.old_mode = group.is_there ? group.old.mode : 0;
		if (outcome == CHANGED)
			edit.mode = group.leaf && !group.leaf->file->remove ? MR_OBJECT_FILE_MODE
									    : MR_OBJECT_TREE_MODE;
		if (!rc && (outcome == CHANGED || (outcome == EMPTY && group.is_there)))
			edits[edit_count++] = edit;
		ops += taken;
		count -= taken;
	}
	*out_outcome = SAME;
	if (rc || edit_count == 0)
		return rc;
	data = mr_tree_apply(build->arena, &tree, edits, edit_count);
	*out_outcome = data.len ? CHANGED : EMPTY;
	*out = mr_object_hash(MR_OBJECT_TREE, data);
	/* Written even when empty: the uppermost may be. */
	add_object(build, MR_OBJECT_TREE, out, data);
	return MR_OK;
}

/* --- the commit --- */

static struct mr_bytes commit_text(struct build *build, const struct mr_object_id *tree,
	const struct mr_history_id *parent, const char *message, int64_t time_us)
{
	const struct mr_history *history = build->history;
	char hex[MR_HISTORY_ID_BYTES];
	const char *who = mr_arena_printf(build->arena, "%s <%s> %lld +0000", history->author_name,
		history->author_email, (long long)(time_us / 1000000));

	mr_object_id_hex(tree, hex);
	return mr_bytes_text(
		mr_arena_printf(build->arena, "tree %s\n%s%s%sauthor %s\ncommitter %s\n\n%s", hex,
			parent->hex[0] ? "parent " : "", parent->hex, parent->hex[0] ? "\n" : "",
			who, who, message));
}

static int object_order(const void *a, const void *b)
{
	const struct mr_pack_object *const *left = a, *const *right = b;

	return memcmp((*left)->id.bytes, (*right)->id.bytes, MR_OBJECT_ID_BYTES);
}

/* Each once: the copies of a message are one blob. In no order that matters. */
static size_t list_objects(struct build *build, struct mr_pack_object ***out)
{
	struct mr_pack_object **list = mr_arena_array(build->arena, build->count, sizeof(*list));
	size_t kept = 0;

	for (size_t i = 0; i < build->count; i++)
		list[i] = &build->objects[i];
	qsort(list, build->count, sizeof(*list), object_order);
	for (size_t i = 0; i < build->count; i++) {
		if (kept == 0 || !mr_object_id_eq(&list[kept - 1]->id, &list[i]->id))
			list[kept++] = list[i];
	}
	*out = list;
	return kept;
}

static enum mr_code write_objects(struct build *build, struct mr_err *err)
{
	struct mr_history *history = build->history;
	struct mr_pack_object **list;
	size_t count = list_objects(build, &list);
	char name[MR_HISTORY_ID_BYTES];
	enum mr_code rc = mr_pack_write(history->own_dir, MR_HISTORY_PACK_TEMP,
		MR_HISTORY_INDEX_TEMP, list, count, name, err);

	if (!rc)
		rc = mr_history_pack_place(history, name, err);
	for (size_t i = 0; !rc && i < count; i++)
		history->unmerged_bytes += list[i]->data.len;
	for (size_t i = 0; !rc && i < count; i++) {
		if (list[i]->type == MR_OBJECT_TREE)
			keep(history, &list[i]->id, list[i]->data);
	}
	return rc ? mr_err_wrap(err, "archive %s", history->path) : MR_OK;
}

/* The tree of the newest commit, from what we know or from the repository; `*found` false: no
 * commit. */
static enum mr_code find_root(struct mr_history *history, const struct mr_history_id *parent,
	bool *found, struct mr_object_id *out, struct mr_err *err)
{
	*found = parent->hex[0] != '\0';
	if (!*found)
		return MR_OK;
	if (mr_str_eq(history->root_of.hex, parent->hex)) {
		*out = history->root;
		return MR_OK;
	}
	return mr_history_load_root(history, parent, out, err);
}

enum mr_code mr_history_commit(struct mr_history *history, struct mr_history_op *ops, size_t count,
	const char *message, int64_t time_us, const struct mr_history_id *parent,
	struct mr_history_id *out, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct build build = { .history = history, .arena = arena };
	struct mr_object_id root, tree, commit;
	enum outcome outcome = SAME;
	struct mr_bytes text;
	bool found;
	enum mr_code rc = find_root(history, parent, &found, &root, err);

	if (!rc)
		rc = apply(&build, found ? &root : NULL, ops, count, 0, &tree, &outcome, err);
	*out = (struct mr_history_id){ "" };
	if (rc || outcome == SAME)
		return rc;
	text = commit_text(&build, &tree, parent, message, time_us);
	commit = mr_object_hash(MR_OBJECT_COMMIT, text);
	add_object(&build, MR_OBJECT_COMMIT, &commit, text);
	rc = write_objects(&build, err);
	if (rc)
		return rc;
	mr_object_id_hex(&commit, out->hex);
	history->root_of = *out;
	history->root = tree;
	return MR_OK;
}
