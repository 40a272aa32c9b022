/* data/history_merge.c - several packs become one; see history_pack.h. */
#include "base/crash.h"
#include "base/fs.h"
#include "data/history_pack_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	LIST_MAX = 1 << 20,
	DEPTH_MAX = 50, /* as git's own default */
	GROWTH = 2,     /* a pack left alone is this many times larger than all smaller ones */
	NAME_BYTES = 64,
	STEM_BYTES = 45, /* "pack-" and 40 digits */
	FANOUT_AT = 8,
	IDS_AT = FANOUT_AT + 1024,
	PACK_START = 12,
	BYTES_PER_OBJECT = MR_OID_BYTES + 4 + 4,
};

struct pack {
	const char *stem;
	struct mr_bytes data;
	struct mr_bytes index;
	uint32_t count;
	uint64_t size;
};

struct mapping {
	void *at;
	size_t len;
};

static void unmap(void *ptr)
{
	struct mapping *mapping = ptr;

	munmap(mapping->at, mapping->len);
}

static uint32_t get_u32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Map a file for as long as the arena lives. One that vanished meanwhile is empty. */
static enum mr_code map_file(struct mr_arena *arena, int dir, const char *stem, const char *suffix,
	struct mr_bytes *out, struct mr_err *err)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	const char *name = mr_arena_printf(arena, "%s%s", stem, suffix);
	struct mapping *mapping = mr_arena_alloc(arena, sizeof(*mapping));
	struct stat st;
	void *at;

	*out = mr_bytes_of(NULL, 0);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return MR_OK;
	if (fd < 0 || fstat(fd, &st) != 0)
		return mr_err_os(err, errno, "cannot open %s", name);
	if (st.st_size == 0)
		return MR_OK;
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return mr_err_os(err, errno, "cannot map %s", name);
	*mapping = (struct mapping){ at, (size_t)st.st_size };
	mr_arena_defer(arena, unmap, mapping);
	*out = mr_bytes_of(at, (size_t)st.st_size);
	return MR_OK;
}

static uint32_t offset_of(const struct pack *pack, uint32_t i)
{
	return get_u32(pack->index.data + IDS_AT + (size_t)pack->count * (MR_OID_BYTES + 4) +
		(size_t)i * 4);
}

/*
 * We write objects in the order of their ids, git never does (save for packs so small that it makes
 * no difference): so the index alone tells whose it is.
 */
static bool is_ours(struct pack *pack)
{
	uint32_t last = 0;

	if (pack->index.len < IDS_AT + 2 * MR_OID_BYTES ||
		memcmp(pack->index.data, "\377tOc\0\0\0\2", FANOUT_AT) != 0)
		return false;
	pack->count = get_u32(pack->index.data + IDS_AT - 4);
	if (pack->count == 0 ||
		pack->index.len !=
			IDS_AT + (size_t)pack->count * BYTES_PER_OBJECT + 2 * MR_OID_BYTES)
		return false;
	for (uint32_t i = 0; i < pack->count; i++) {
		uint32_t offset = offset_of(pack, i);

		if (offset <= last || offset > INT32_MAX || offset + MR_OID_BYTES > pack->size)
			return false;
		last = offset;
	}
	return offset_of(pack, 0) == PACK_START;
}

static bool is_stem(const char *name, const char *suffix)
{
	return strlen(name) == STEM_BYTES + strlen(suffix) && mr_str_starts(name, "pack-") &&
		mr_str_ends(name, suffix);
}

static int pack_order(const void *a, const void *b)
{
	const struct pack *left = a, *right = b;

	if (left->size != right->size)
		return left->size < right->size ? -1 : 1;
	return strcmp(left->stem, right->stem);
}

/* The packs that are ours, smallest first; none when there are fewer than `trigger` of any kind. */
static enum mr_code list_packs(struct mr_arena *arena, int dir, struct pack **out, size_t *out_len,
	size_t trigger, struct mr_err *err)
{
	struct mr_texts names;
	struct pack *packs;
	size_t len = 0, ours = 0;
	enum mr_code rc = mr_fs_list(arena, dir, ".", LIST_MAX, &names, err);

	if (rc)
		return rc;
	packs = mr_arena_array(arena, names.len + 1, sizeof(*packs));
	*out = packs;
	*out_len = 0;
	for (size_t i = 0; i + 1 < names.len; i++) {
		const char *name = names.items[i];
		const char *after = i + 2 < names.len ? names.items[i + 2] : "";
		const char *before = i > 0 ? names.items[i - 1] : "";
		struct stat st;

		/* It lists packs by name and would miss those we remove. */
		if (mr_str_starts(name, "multi-pack-index"))
			return MR_OK;
		if (!is_stem(name, ".idx") || !is_stem(names.items[i + 1], ".pack") ||
			strncmp(name, names.items[i + 1], STEM_BYTES) != 0)
			continue;
		if (strncmp(name, after, STEM_BYTES) == 0 || strncmp(name, before, STEM_BYTES) == 0)
			continue;
		if (fstatat(dir, names.items[i + 1], &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		packs[len].stem = mr_arena_strndup(arena, name, STEM_BYTES);
		packs[len++].size = (uint64_t)st.st_size;
	}
	if (len < trigger)
		return MR_OK;
	for (size_t i = 0; i < len; i++) {
		struct pack pack = packs[i];

		rc = map_file(arena, dir, pack.stem, ".idx", &pack.index, err);
		if (rc)
			return rc;
		if (is_ours(&pack))
			packs[ours++] = pack;
	}
	qsort(packs, ours, sizeof(*packs), pack_order);
	*out_len = ours;
	return MR_OK;
}

/* How many of the smallest packs to merge. */
static size_t choose(const struct pack *packs, size_t len, uint64_t max_bytes)
{
	uint64_t sum = 0, below = 0;
	size_t fit = 0, count;

	while (fit < len && sum + packs[fit].size <= max_bytes)
		sum += packs[fit++].size;
	for (count = fit; count > 1; count--) {
		below = sum - packs[count - 1].size;
		if (packs[count - 1].size < GROWTH * below)
			return count;
		sum = below;
	}
	return 0;
}

/* The pack's entries; false when it holds what we never write. */
static bool load_entries(const struct pack *pack, struct mr_pack_entry *entries)
{
	const uint8_t *ids = pack->index.data + IDS_AT;
	const uint8_t *crcs = ids + (size_t)pack->count * MR_OID_BYTES;

	if (pack->data.len != pack->size || memcmp(pack->data.data, "PACK\0\0\0\2", 8) != 0)
		return false;
	for (uint32_t i = 0; i < pack->count; i++) {
		struct mr_pack_entry *entry = &entries[i];
		size_t start = offset_of(pack, i), size;
		size_t end = i + 1 < pack->count ? offset_of(pack, i + 1)
						 : pack->data.len - MR_OID_BYTES;
		size_t header;

		*entry = (struct mr_pack_entry){ .data = pack->data.data + start,
			.size = end - start,
			.crc = get_u32(crcs + (size_t)i * 4) };
		memcpy(entry->id.bytes, ids + (size_t)i * MR_OID_BYTES, MR_OID_BYTES);
		header = mr_pack_get_header(entry->data, entry->size, &entry->kind, &size);
		if (header == 0 || entry->kind == MR_PACK_OFS_DELTA)
			return false;
		if (entry->kind == MR_PACK_REF_DELTA && entry->size < header + MR_OID_BYTES)
			return false;
	}
	return true;
}

/*
 * Of several copies a whole one comes first, then that of the first pack. As all are ordered alike,
 * deltas taken from different packs cannot form a circle.
 */
struct ranked {
	struct mr_pack_entry entry;
	size_t pack;
};

static int ranked_order(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;
	int order = mr_oid_compare(&left->entry.id, &right->entry.id);
	bool left_delta = left->entry.kind == MR_PACK_REF_DELTA;
	bool right_delta = right->entry.kind == MR_PACK_REF_DELTA;

	if (order != 0)
		return order;
	if (left_delta != right_delta)
		return left_delta ? 1 : -1;
	return (left->pack > right->pack) - (left->pack < right->pack);
}

struct mr_pack_entry *mr_pack_set_find(const struct mr_pack_set *set, const struct mr_oid *id)
{
	size_t low = 0, high = set->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = mr_oid_compare(&set->entries[middle].id, id);

		if (order == 0)
			return &set->entries[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Tell everything `entry` is built on how long the chain from above has become. */
static void raise_bases(struct mr_pack_entry *entry)
{
	unsigned height = entry->height;

	for (struct mr_pack_entry *at = entry->base; at; at = at->base) {
		height++;
		if (at->height < height)
			at->height = height;
	}
}

static enum mr_code link_deltas(struct mr_pack_set *set, struct mr_err *err)
{
	for (size_t i = 0; i < set->len; i++) {
		struct mr_pack_entry *entry = &set->entries[i];
		struct mr_oid base;
		enum mr_pack_kind kind;
		size_t size, header;

		if (entry->kind != MR_PACK_REF_DELTA)
			continue;
		header = mr_pack_get_header(entry->data, entry->size, &kind, &size);
		memcpy(base.bytes, entry->data + header, MR_OID_BYTES);
		entry->base = mr_pack_set_find(set, &base);
		if (!entry->base)
			return mr_err_set(err, MR_EFORMAT, "a pack holds a delta without its base");
	}
	for (size_t i = 0; i < set->len; i++) {
		size_t depth = 0;

		for (struct mr_pack_entry *at = set->entries[i].base; at; at = at->base) {
			if (++depth > set->len)
				return mr_err_set(err, MR_EFORMAT,
					"the deltas of a pack form a circle");
		}
		set->entries[i].depth = (unsigned)depth;
	}
	for (size_t i = 0; i < set->len; i++)
		raise_bases(&set->entries[i]);
	return MR_OK;
}

enum mr_code mr_pack_set_open(struct mr_arena *arena, int pack_dir, size_t trigger,
	uint64_t max_bytes, struct mr_pack_set **out, struct mr_err *err)
{
	struct pack *packs;
	struct ranked *ranked;
	struct mr_pack_entry *loaded;
	struct mr_pack_set *set = mr_arena_alloc(arena, sizeof(*set));
	size_t count, total = 0, len = 0, small = 0;
	enum mr_code rc = list_packs(arena, pack_dir, &packs, &count, trigger, err);

	if (rc)
		return rc;
	*out = NULL;
	/* Large ones stay as they are: were they counted, many of them would mean merging always.
	 */
	while (small < count && packs[small].size <= max_bytes / 4)
		small++;
	count = small < trigger ? 0 : choose(packs, count, max_bytes);
	if (count < 2)
		return MR_OK;
	set->arena = arena;
	set->names.items = mr_arena_array(arena, count + 1, sizeof(*set->names.items));
	for (size_t i = 0; i < count; i++)
		total += packs[i].count;
	ranked = mr_arena_array(arena, total, sizeof(*ranked));
	loaded = mr_arena_array(arena, total, sizeof(*loaded));
	for (size_t i = 0; i < count; i++) {
		rc = map_file(arena, pack_dir, packs[i].stem, ".pack", &packs[i].data, err);
		if (rc)
			return rc;
		if (!load_entries(&packs[i], loaded))
			continue;
		set->names.items[set->names.len++] = packs[i].stem;
		for (uint32_t k = 0; k < packs[i].count; k++)
			ranked[len++] = (struct ranked){ loaded[k], i };
	}
	if (set->names.len < 2)
		return MR_OK;
	qsort(ranked, len, sizeof(*ranked), ranked_order);
	set->entries = loaded;
	for (size_t i = 0; i < len; i++) {
		if (i == 0 || !mr_oid_eq(&ranked[i].entry.id, &ranked[i - 1].entry.id))
			set->entries[set->len++] = ranked[i].entry;
	}
	rc = link_deltas(set, err);
	if (!rc)
		*out = set;
	return rc;
}

bool mr_pack_set_may_delta(const struct mr_pack_entry *old, const struct mr_pack_entry *base)
{
	if (old->kind != MR_PACK_TREE || base->depth + 1 + old->height > DEPTH_MAX)
		return false;
	for (const struct mr_pack_entry *at = base; at; at = at->base) {
		if (at == old)
			return false;
	}
	return true;
}

enum mr_code mr_pack_set_delta(struct mr_pack_set *set, struct mr_pack_entry *old,
	struct mr_pack_entry *base, struct mr_bytes delta, struct mr_err *err)
{
	uint8_t header[MR_PACK_HEADER_BYTES];
	size_t header_len = mr_pack_put_header(header, MR_PACK_REF_DELTA, delta.len);
	struct mr_bytes packed;
	size_t size;
	uint8_t *data;
	enum mr_code rc;

	/* Cheap to see beforehand, where almost everything has changed. */
	if (delta.len / 2 > old->size)
		return MR_OK;
	rc = mr_pack_compress(set->arena, delta, &packed, err);
	if (rc)
		return rc;
	size = header_len + MR_OID_BYTES + packed.len;
	if (size >= old->size)
		return MR_OK;
	data = mr_arena_alloc(set->arena, size);
	memcpy(data, header, header_len);
	memcpy(data + header_len, base->id.bytes, MR_OID_BYTES);
	memcpy(data + header_len + MR_OID_BYTES, packed.data, packed.len);
	old->kind = MR_PACK_REF_DELTA;
	old->base = base;
	old->depth = base->depth + 1;
	old->data = data;
	old->size = size;
	old->is_new_delta = true;
	raise_bases(old);
	return MR_OK;
}

static enum mr_code remove_packs(const struct mr_pack_set *set, int dir, const char *except,
	struct mr_err *err)
{
	for (size_t i = 0; i < set->names.len; i++) {
		char name[NAME_BYTES];

		if (strcmp(set->names.items[i], except) == 0)
			continue;
		snprintf(name, sizeof(name), "%s.pack", set->names.items[i]);
		if (unlinkat(dir, name, 0) != 0 && errno != ENOENT)
			return mr_err_os(err, errno, "cannot remove %s", name);
		mr_crash_point("history.merge.pack_removed");
		snprintf(name, sizeof(name), "%s.idx", set->names.items[i]);
		if (unlinkat(dir, name, 0) != 0 && errno != ENOENT)
			return mr_err_os(err, errno, "cannot remove %s", name);
	}
	mr_crash_point("history.merge.removed");
	return MR_OK;
}

enum mr_code mr_pack_set_write(const struct mr_pack_set *set, int pack_dir, int temp_dir,
	struct mr_err *err)
{
	struct mr_pack_slot *slots = mr_arena_array(set->arena, set->len, sizeof(*slots));
	char hex[2 * MR_OID_BYTES + 1], stem[NAME_BYTES];
	struct mr_oid id;
	enum mr_code rc;

	for (size_t i = 0; i < set->len; i++) {
		const struct mr_pack_entry *entry = &set->entries[i];

		if (!entry->is_new_delta && mr_pack_crc(entry->data, entry->size) != entry->crc)
			return mr_err_set(err, MR_EFORMAT, "a pack is damaged");
		slots[i] = (struct mr_pack_slot){ .id = entry->id,
			.data = mr_bytes_of(entry->data, entry->size) };
	}
	rc = mr_pack_emit(pack_dir, temp_dir, slots, set->len, &id, err);
	if (rc)
		return rc;
	mr_crash_point("history.merge.written");
	mr_oid_format(&id, hex);
	snprintf(stem, sizeof(stem), "pack-%s", hex);
	return remove_packs(set, pack_dir, stem, err);
}

enum mr_code mr_pack_sweep(int pack_dir, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts names;
	enum mr_code rc = mr_fs_list(arena, pack_dir, ".", LIST_MAX, &names, err);

	for (size_t i = 0; !rc && i < names.len; i++) {
		if (!is_stem(names.items[i], ".idx") ||
			mr_fs_exists(pack_dir,
				mr_arena_printf(arena, "%.*s.pack", STEM_BYTES, names.items[i])))
			continue;
		if (unlinkat(pack_dir, names.items[i], 0) != 0 && errno != ENOENT)
			rc = mr_err_os(err, errno, "cannot remove %s", names.items[i]);
	}
	return rc;
}
