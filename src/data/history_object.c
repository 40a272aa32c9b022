/*
 * data/history_object.c - Git objects as bytes: object ids, reading and editing trees, and deltas
 * between two versions of an object.
 */
#include "data/history_object.h"

#include "base/buf.h"
#include "text/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mr_object_id_eq(const struct mr_object_id *a, const struct mr_object_id *b)
{
	return memcmp(a->bytes, b->bytes, MR_OBJECT_ID_BYTES) == 0;
}

void mr_object_id_hex(const struct mr_object_id *id, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < MR_OBJECT_ID_BYTES; i++) {
		*out++ = digits[id->bytes[i] >> 4];
		*out++ = digits[id->bytes[i] & 15];
	}
	*out = '\0';
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool mr_object_id_parse(const char *hex, struct mr_object_id *out)
{
	struct mr_object_id id;

	if (strlen(hex) != 2 * (size_t)MR_OBJECT_ID_BYTES)
		return false;
	for (size_t i = 0; i < MR_OBJECT_ID_BYTES; i++) {
		int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		id.bytes[i] = (uint8_t)(16 * high + low);
	}
	*out = id;
	return true;
}

struct mr_object_id mr_object_hash(enum mr_object_type type, struct mr_bytes data)
{
	static const char *const words[] = { "", "commit", "tree", "blob", "tag" };
	struct mr_digest *digest = mr_digest_begin_sha1();
	struct mr_object_id id;
	char head[32];
	int len = snprintf(head, sizeof(head), "%s %zu", words[type], data.len);

	mr_digest_add(digest, head, (size_t)len + 1);
	mr_digest_add(digest, data.data, data.len);
	mr_digest_end(digest, id.bytes);
	return id;
}

/* --- trees --- */

/* "100644 name\0" and the id; `*end` is behind it. */
static bool read_entry(struct mr_bytes data, size_t at, struct mr_tree_entry *out, size_t *end)
{
	uint32_t mode = 0;
	const uint8_t *nul;

	for (; at < data.len && data.data[at] >= '0' && data.data[at] <= '7' && mode < 0200000;
		at++)
		mode = 8 * mode + (uint32_t)(data.data[at] - '0');
	if (at >= data.len || data.data[at] != ' ')
		return false;
	at++;
	nul = memchr(data.data + at, '\0', data.len - at);
	if (!nul || nul == data.data + at ||
		(size_t)(data.data + data.len - nul) <= MR_OBJECT_ID_BYTES)
		return false;
	out->mode = mode;
	out->name = (const char *)data.data + at;
	memcpy(out->id.bytes, nul + 1, MR_OBJECT_ID_BYTES);
	*end = (size_t)(nul + 1 - data.data) + MR_OBJECT_ID_BYTES;
	return true;
}

enum mr_code mr_tree_read(struct mr_arena *arena, struct mr_bytes data, struct mr_tree *out,
	struct mr_err *err)
{
	/* The shortest entry: "40000 a", NUL, an id. */
	size_t most = data.len / (8 + MR_OBJECT_ID_BYTES) + 1, end = 0;
	struct mr_tree tree = { .data = data };
	struct mr_tree_entry entry;

	if (data.len > UINT32_MAX)
		return mr_err_set(err, MR_ELIMIT, "a tree object is too large");
	tree.at = mr_arena_array(arena, most + 1, sizeof(*tree.at));
	while (end < data.len) {
		tree.at[tree.count++] = (uint32_t)end;
		if (!read_entry(data, end, &entry, &end))
			return mr_err_set(err, MR_EFORMAT, "a directory cannot be read at byte %u",
				tree.at[tree.count - 1]);
	}
	tree.at[tree.count] = (uint32_t)end;
	*out = tree;
	return MR_OK;
}

void mr_tree_at(const struct mr_tree *tree, size_t index, struct mr_tree_entry *out)
{
	size_t end;

	if (!read_entry(tree->data, tree->at[index], out, &end))
		abort(); /* it was read before */
}

/* Git's order: of a directory the name ends in '/'. */
static int name_order(const char *a, uint32_t a_mode, const char *b, uint32_t b_mode)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (*a                                             ? (unsigned char)*a
			       : a_mode == MR_OBJECT_TREE_MODE ? '/'
							       : 0) -
		(*b                                             ? (unsigned char)*b
				: b_mode == MR_OBJECT_TREE_MODE ? '/'
								: 0);
}

/* The first entry that does not come before this name. */
static size_t place_of(const struct mr_tree *tree, const char *name, uint32_t mode)
{
	size_t low = 0, high = tree->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct mr_tree_entry entry;

		mr_tree_at(tree, middle, &entry);
		if (name_order(entry.name, entry.mode, name, mode) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool mr_tree_find(const struct mr_tree *tree, const char *name, struct mr_tree_entry *out)
{
	static const uint32_t modes[] = { MR_OBJECT_FILE_MODE, MR_OBJECT_TREE_MODE };

	for (size_t i = 0; i < MR_LEN(modes); i++) {
		size_t place = place_of(tree, name, modes[i]);

		if (place == tree->count)
			continue;
		mr_tree_at(tree, place, out);
		if (mr_str_eq(out->name, name))
			return true;
	}
	return false;
}

/* One cut in the old bytes: what goes from `from` to `to`, and what comes in its place. */
struct cut {
	uint32_t mode; /* of what comes, or of what goes */
	const struct mr_tree_edit *edit;
	bool comes;
	size_t from, to;
};

static int cut_order(const void *a, const void *b)
{
	const struct cut *left = a, *right = b;

	return name_order(left->edit->name, left->mode, right->edit->name, right->mode);
}

static bool is_dir(uint32_t mode)
{
	return mode == MR_OBJECT_TREE_MODE;
}

/* An edit is one cut, or two when a file becomes a directory or the other way round. */
static size_t add_cuts(const struct mr_tree *tree, const struct mr_tree_edit *edit,
	struct cut *cuts)
{
	bool stays = edit->mode && edit->old_mode && is_dir(edit->mode) == is_dir(edit->old_mode);
	size_t count = 0;

	if (edit->old_mode) {
		size_t place = place_of(tree, edit->name, edit->old_mode);

		cuts[count++] = (struct cut){ .mode = edit->old_mode,
			.edit = edit,
			.comes = stays,
			.from = tree->at[place],
			.to = tree->at[place + 1] };
	}
	if (edit->mode && !stays) {
		size_t place = place_of(tree, edit->name, edit->mode);

		cuts[count++] = (struct cut){ .mode = edit->mode,
			.edit = edit,
			.comes = true,
			.from = tree->at[place],
			.to = tree->at[place] };
	}
	return count;
}

struct mr_bytes mr_tree_apply(struct mr_arena *arena, const struct mr_tree *tree,
	struct mr_tree_edit *edits, size_t count)
{
	struct cut *cuts = mr_arena_array(arena, 2 * count, sizeof(*cuts));
	size_t cut_count = 0, room = tree->data.len, len = 0, at = 0;
	uint8_t *out;

	for (size_t i = 0; i < count; i++) {
		cut_count += add_cuts(tree, &edits[i], cuts + cut_count);
		room += strlen(edits[i].name) + 8 + MR_OBJECT_ID_BYTES + 1;
	}
	qsort(cuts, cut_count, sizeof(*cuts), cut_order);
	out = mr_arena_alloc(arena, room);
	for (size_t i = 0; i < cut_count; i++) {
		const struct cut *cut = &cuts[i];

		if (cut->from > at) {
			memcpy(out + len, tree->data.data + at, cut->from - at);
			len += cut->from - at;
		}
		at = cut->to;
		if (!cut->comes)
			continue;
		len += (size_t)snprintf((char *)out + len, room - len, "%o %s", cut->edit->mode,
			       cut->edit->name) +
			1;
		memcpy(out + len, cut->edit->id.bytes, MR_OBJECT_ID_BYTES);
		len += MR_OBJECT_ID_BYTES;
	}
	if (tree->data.len > at) {
		memcpy(out + len, tree->data.data + at, tree->data.len - at);
		len += tree->data.len - at;
	}
	return mr_bytes_of(out, len);
}

/* --- deltas --- */

enum { COPY_MAX = 0xffffff, INSERT_MAX = 127 };

static void put_number(struct mr_buf *buf, uint64_t number)
{
	for (; number >= 128; number >>= 7)
		mr_buf_putc(buf, (char)(number | 128));
	mr_buf_putc(buf, (char)number);
}

static void put_copy(struct mr_buf *buf, uint64_t from, uint64_t len)
{
	while (len > 0) {
		uint64_t part = len < COPY_MAX ? len : COPY_MAX;
		uint8_t bytes[8], mask = 0x80;
		size_t count = 1;

		for (unsigned i = 0; i < 4; i++) {
			uint8_t byte = (uint8_t)(from >> (8 * i));

			if (byte) {
				bytes[count++] = byte;
				mask |= (uint8_t)(1u << i);
			}
		}
		for (unsigned i = 0; i < 3; i++) {
			uint8_t byte = (uint8_t)(part >> (8 * i));

			if (byte) {
				bytes[count++] = byte;
				mask |= (uint8_t)(0x10u << i);
			}
		}
		bytes[0] = mask;
		mr_buf_add(buf, bytes, count);
		from += part;
		len -= part;
	}
}

static void put_insert(struct mr_buf *buf, const uint8_t *data, size_t len)
{
	while (len > 0) {
		size_t part = len < INSERT_MAX ? len : INSERT_MAX;

		mr_buf_putc(buf, (char)part);
		mr_buf_add(buf, data, part);
		data += part;
		len -= part;
	}
}

static size_t common_start(struct mr_bytes a, struct mr_bytes b)
{
	size_t most = a.len < b.len ? a.len : b.len, at = 0;

	while (at + 256 <= most && memcmp(a.data + at, b.data + at, 256) == 0)
		at += 256;
	while (at < most && a.data[at] == b.data[at])
		at++;
	return at;
}

static size_t common_end(struct mr_bytes a, struct mr_bytes b, size_t most)
{
	size_t len = 0;

	while (len < most && a.data[a.len - 1 - len] == b.data[b.len - 1 - len])
		len++;
	return len;
}

/* Between the common ends of two trees: entries that both have, in the order of both. */
static void put_entries(struct mr_buf *buf, struct mr_bytes base, size_t base_at,
	struct mr_bytes target, size_t at, size_t base_end, size_t end)
{
	struct mr_tree_entry old, new;
	size_t old_next = 0, new_next, copied = base_at, from = base_at, inserted = at;

	base.len = base_end;
	target.len = end;
	while (at < end && read_entry(target, at, &new, &new_next)) {
		int order = 1;

		while (base_at < base_end && read_entry(base, base_at, &old, &old_next) &&
			(order = name_order(old.name, old.mode, new.name, new.mode)) < 0)
			base_at = old_next;
		if (base_at >= base_end)
			break;
		if (order == 0 && old_next - base_at == new_next - at &&
			memcmp(base.data + base_at, target.data + at, new_next - at) == 0) {
			if (inserted < at || copied != base_at) {
				put_copy(buf, from, copied - from);
				put_insert(buf, target.data + inserted, at - inserted);
				from = copied = base_at;
			}
			copied = old_next;
			inserted = new_next;
		}
		at = new_next;
	}
	put_copy(buf, from, copied - from);
	put_insert(buf, target.data + inserted, end - inserted);
}

bool mr_object_delta(struct mr_arena *arena, enum mr_object_type type, struct mr_bytes base,
	struct mr_bytes target, struct mr_bytes *out)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	size_t least = base.len < target.len ? base.len : target.len;
	size_t start = common_start(base, target);
	size_t end;

	mr_buf_init(&buf, target.len / 2 + 64);
	if (base.len > UINT32_MAX || target.len > UINT32_MAX)
		return false;
	/* Entries are compared whole, so go back to where one begins. */
	if (type == MR_OBJECT_TREE && start < target.len) {
		struct mr_tree_entry entry;
		size_t at = 0, next = 0;

		while (at < start && read_entry(target, at, &entry, &next) && next <= start)
			at = next;
		start = at;
		end = 0;
	} else {
		end = common_end(base, target, least - start);
	}
	put_number(&buf, base.len);
	put_number(&buf, target.len);
	put_copy(&buf, 0, start);
	if (type == MR_OBJECT_TREE && start < target.len)
		put_entries(&buf, base, start, target, start, base.len, target.len);
	else
		put_insert(&buf, target.data + start, target.len - start - end);
	put_copy(&buf, base.len - end, end);
	if (buf.failed)
		return false;
	*out = mr_bytes_of(mr_arena_memdup(arena, mr_buf_bytes(&buf).data, buf.len), buf.len);
	return true;
}
