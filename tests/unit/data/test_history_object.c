/* tests/unit/data/test_history_object.c */
#include "data/history_object.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/rand.h"
#include "files.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct mr_arena *arena;
static struct mr_err err;

static void free_arena(void)
{
	mr_arena_free(arena);
}

static void begin(void)
{
	arena = mr_arena_new();
	atexit(free_arena);
}

static const char *hex(struct mr_object_id id)
{
	char *text = mr_arena_alloc(arena, 41);

	mr_object_id_hex(&id, text);
	return text;
}

static void ids_are_gits(void)
{
	struct mr_object_id id;

	begin();
	CHECK_STR(hex(mr_object_hash(MR_OBJECT_BLOB, mr_bytes_text(""))),
		"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
	CHECK_STR(hex(mr_object_hash(MR_OBJECT_TREE, mr_bytes_text(""))),
		"4b825dc642cb6eb9a060e54bf8d69288fbee4904");
	CHECK_STR(hex(mr_object_hash(MR_OBJECT_BLOB, mr_bytes_text("hello\n"))),
		"ce013625030ba8dba906f756967f9e9ca394464a");
	CHECK(mr_object_id_parse("ce013625030ba8dba906f756967f9e9ca394464a", &id));
	CHECK_STR(hex(id), "ce013625030ba8dba906f756967f9e9ca394464a");
	CHECK(!mr_object_id_parse("ce013625030ba8dba906f756967f9e9ca394464", &id));
	CHECK(!mr_object_id_parse("CE013625030ba8dba906f756967f9e9ca394464a", &id));
}

/* The names of a tree, with '/' behind directories. */
static const char *names(struct mr_bytes data)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_tree tree;

	mr_buf_init(&text, 1 << 20);
	CHECK_OK(mr_tree_read(arena, data, &tree, &err), err);
	for (size_t i = 0; i < tree.count; i++) {
		const char *entry = (const char *)data.data + tree.at[i];

		mr_buf_printf(&text, "%s%s%s", i ? " " : "", strchr(entry, ' ') + 1,
			*entry == '4' ? "/" : "");
	}
	return mr_arena_strdup(arena, mr_buf_text(&text));
}

static struct mr_bytes edit(struct mr_bytes data, const char *name, uint32_t mode,
	uint32_t old_mode)
{
	struct mr_tree_edit one = { .name = name,
		.mode = mode,
		.old_mode = old_mode,
		.id = mr_object_hash(MR_OBJECT_BLOB, mr_bytes_text(name)) };
	struct mr_tree tree;

	CHECK_OK(mr_tree_read(arena, data, &tree, &err), err);
	return mr_tree_apply(arena, &tree, &one, 1);
}

static void trees_are_in_gits_order(void)
{
	struct mr_tree_edit edits[] = {
		{ .name = "a.b", .mode = MR_OBJECT_FILE_MODE },
		{ .name = "a", .mode = MR_OBJECT_TREE_MODE },
		{ .name = "a0", .mode = MR_OBJECT_FILE_MODE },
		{ .name = "a-b", .mode = MR_OBJECT_FILE_MODE },
	};
	struct mr_tree tree;
	struct mr_tree_entry entry;
	struct mr_bytes data;

	begin();
	CHECK_OK(mr_tree_read(arena, mr_bytes_text(""), &tree, &err), err);
	CHECK(!mr_tree_find(&tree, "a", &entry));
	data = mr_tree_apply(arena, &tree, edits, MR_LEN(edits));
	CHECK_STR(names(data), "a-b a.b a/ a0");
	CHECK_OK(mr_tree_read(arena, data, &tree, &err), err);
	CHECK(mr_tree_find(&tree, "a", &entry));
	CHECK_INT(entry.mode, MR_OBJECT_TREE_MODE);
	CHECK(mr_tree_find(&tree, "a0", &entry));
	CHECK_INT(entry.mode, MR_OBJECT_FILE_MODE);
	CHECK(!mr_tree_find(&tree, "a-", &entry));
	/* A directory becomes a file, which stands elsewhere; another is replaced; one goes. */
	data = edit(data, "a", MR_OBJECT_FILE_MODE, MR_OBJECT_TREE_MODE);
	CHECK_STR(names(data), "a a-b a.b a0");
	data = edit(data, "a.b", MR_OBJECT_FILE_MODE, MR_OBJECT_FILE_MODE);
	CHECK_STR(names(data), "a a-b a.b a0");
	CHECK_OK(mr_tree_read(arena, data, &tree, &err), err);
	CHECK(mr_tree_find(&tree, "a.b", &entry));
	CHECK_STR(hex(entry.id), hex(mr_object_hash(MR_OBJECT_BLOB, mr_bytes_text("a.b"))));
	data = edit(data, "a", 0, MR_OBJECT_FILE_MODE);
	CHECK_STR(names(data), "a-b a.b a0");
}

static void what_is_no_tree_is_refused(void)
{
	static const char *const bad[] = { "x", "100644", "100644 ", "100644 a", "40000 \0",
		"9 a" };
	struct mr_tree tree;

	begin();
	for (size_t i = 0; i < MR_LEN(bad); i++)
		CHECK_INT(mr_tree_read(arena, mr_bytes_text(bad[i]), &tree, &err), MR_EFORMAT);
	CHECK_STR(err.msg, "a directory cannot be read at byte 0");
}

static uint64_t number(const uint8_t **at)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

/* As git would. */
static void check_delta(struct mr_bytes base, struct mr_bytes delta, struct mr_bytes target)
{
	const uint8_t *at = delta.data, *end = delta.data + delta.len;
	uint8_t *out = mr_arena_alloc(arena, target.len + 1);
	size_t len = 0;

	CHECK_INT(number(&at), base.len);
	CHECK_INT(number(&at), target.len);
	while (at < end) {
		uint8_t code = *at++;
		size_t from = 0, size = code;

		if (code & 0x80) {
			size = 0;
			for (unsigned i = 0; i < 4; i++)
				from |= code & (1u << i) ? (size_t)*at++ << (8 * i) : 0;
			for (unsigned i = 0; i < 3; i++)
				size |= code & (0x10u << i) ? (size_t)*at++ << (8 * i) : 0;
			CHECK(size > 0 && from + size <= base.len && len + size <= target.len);
			memcpy(out + len, base.data + from, size);
		} else {
			CHECK(size > 0 && len + size <= target.len);
			memcpy(out + len, at, size);
			at += size;
		}
		len += size;
	}
	CHECK_INT(len, target.len);
	CHECK(memcmp(out, target.data, len) == 0);
}

static struct mr_bytes some_tree(struct mr_rand *rand, struct mr_bytes from, size_t edits)
{
	for (size_t i = 0; i < edits; i++) {
		const char *name =
			mr_arena_printf(arena, "%03u", (unsigned)(mr_rand_below(rand, 400)));
		struct mr_tree_entry entry;
		struct mr_tree tree;
		struct mr_tree_edit one = { .name = name };

		CHECK_OK(mr_tree_read(arena, from, &tree, &err), err);
		if (mr_tree_find(&tree, name, &entry))
			one.old_mode = entry.mode;
		one.mode = !one.old_mode         ? MR_OBJECT_FILE_MODE
			: mr_rand_below(rand, 3) ? MR_OBJECT_TREE_MODE
						 : 0;
		mr_rand_fill(rand, one.id.bytes, sizeof(one.id.bytes));
		from = mr_tree_apply(arena, &tree, &one, 1);
	}
	return from;
}

static void deltas_make_what_they_should(void)
{
	struct mr_rand rand;
	struct mr_bytes tree = mr_bytes_text("");
	size_t made = 0;

	begin();
	mr_rand_seeded_init(&rand, 7);
	tree = some_tree(&rand, tree, 200);
	for (int i = 0; i < 300; i++) {
		struct mr_bytes next = some_tree(&rand, tree, (size_t)i % 12), delta;

		if (mr_object_delta(arena, MR_OBJECT_TREE, tree, next, &delta)) {
			check_delta(tree, delta, next);
			CHECK(delta.len <= next.len / 2 + 64);
			made++;
		}
		if (mr_object_delta(arena, MR_OBJECT_BLOB, next, tree, &delta))
			check_delta(next, delta, tree);
		tree = next;
	}
	CHECK(made > 250);
}

static void texts_share_their_ends(void)
{
	static const char base[] = "# Thread\n\none is here and long enough\n\ntwo comes after it, "
				   "and is long enough as well, so that it is worth the trouble\n";
	static const char *const targets[] = { base, "# Thread\n\none is here and long enough\n\n",
		"",
		"# Thread\n\nanother\n\ntwo comes after it, and is long enough as well, so that it "
		"is worth the trouble\n" };
	struct mr_bytes delta;

	begin();
	for (size_t i = 0; i < MR_LEN(targets); i++) {
		CHECK(mr_object_delta(arena, MR_OBJECT_BLOB, mr_bytes_text(base),
			mr_bytes_text(targets[i]), &delta));
		check_delta(mr_bytes_text(base), delta, mr_bytes_text(targets[i]));
	}
	/* Nothing in common: not worth it. */
	CHECK(!mr_object_delta(arena, MR_OBJECT_BLOB, mr_bytes_text("short"),
		mr_bytes_of(mr_arena_alloc(arena, 5000), 5000), &delta));
}

static void check_git(const char *a, const char *b)
{
	const char *argv[] = { "git", a, b, NULL };
	struct mr_proc proc = { .argv = argv, .timeout_ms = 20000, .max_output = 1 << 16 };
	struct mr_proc_result result;

	CHECK_OK(mr_proc_run(arena, &proc, &result, &err), err);
	if (result.exit_status != 0)
		test_fail(__FILE__, __LINE__, "git %s: %s", a, (const char *)result.err.data);
}

/* Blobs of many sizes, and one as a delta of another. */
static size_t some_objects(struct mr_pack_object *objects, struct mr_pack_object **list)
{
	size_t count = 0;
	struct mr_rand rand;

	mr_rand_seeded_init(&rand, 3);
	for (size_t size = 0; size < 600000; size = size * 3 + 1) {
		uint8_t *data = mr_arena_alloc(arena, size + 1);

		mr_rand_fill(&rand, data, size);
		objects[count].type = MR_OBJECT_BLOB;
		objects[count].size = size;
		objects[count].data = mr_bytes_of(data, size);
		objects[count].id = mr_object_hash(MR_OBJECT_BLOB, objects[count].data);
		list[count] = &objects[count];
		count++;
	}
	return count;
}

static void packs_are_gits(void)
{
	struct mr_pack_object objects[32] = { 0 }, *list[32], *back = NULL;
	struct mr_pack pack;
	char name[41];
	size_t count;

	begin();
	files_enter();
	count = some_objects(objects, list);
	objects[count].type = MR_OBJECT_OFS_DELTA;
	objects[count].base = &objects[8];
	objects[count].id = mr_object_hash(MR_OBJECT_BLOB,
		mr_bytes_of(objects[8].data.data, objects[8].size / 2));
	CHECK(mr_object_delta(arena, MR_OBJECT_BLOB, objects[8].data,
		mr_bytes_of(objects[8].data.data, objects[8].size / 2), &objects[count].data));
	objects[count].size = objects[count].data.len;
	list[count] = &objects[count];
	count++;
	CHECK_OK(mr_pack_write(AT_FDCWD, "one.pack", "one.idx", list, count, name, &err), err);
	check_git("verify-pack", "one.idx");
	/* Read, and written once more as it stands. */
	CHECK_OK(mr_pack_open(AT_FDCWD, "one.pack", "one.idx", &pack, &err), err);
	CHECK_INT(pack.count, count);
	CHECK_OK(mr_pack_objects(arena, &pack, &back, &err), err);
	for (size_t i = 0; i < count; i++) {
		struct mr_bytes plain;

		CHECK(mr_object_id_eq(&back[i].id, &objects[i].id));
		list[i] = &back[i];
		if (back[i].type == MR_OBJECT_OFS_DELTA)
			continue;
		CHECK_OK(mr_pack_inflate(arena, &back[i], &plain, &err), err);
		CHECK_INT(plain.len, objects[i].data.len);
		CHECK(memcmp(plain.data, objects[i].data.data, plain.len) == 0);
	}
	CHECK(back[count - 1].base == &back[8]);
	CHECK_OK(mr_pack_write(AT_FDCWD, "two.pack", "two.idx", list + 1, count - 1, name, &err),
		err);
	check_git("verify-pack", "two.idx");
	mr_pack_close(&pack);
}

static void what_is_no_pack_is_refused(void)
{
	struct mr_pack_object objects[32] = { 0 }, *list[32], *back;
	struct mr_bytes bytes;
	struct mr_pack pack;
	char name[41];

	begin();
	files_enter();
	CHECK_OK(mr_pack_write(AT_FDCWD, "one.pack", "one.idx", list, some_objects(objects, list),
			 name, &err),
		err);
	files_put("bad.pack", "this is something else, and long enough to be looked at");
	CHECK_INT(mr_pack_open(AT_FDCWD, "bad.pack", "one.idx", &pack, &err), MR_EFORMAT);
	CHECK_STR(err.msg, "bad.pack is no pack we can read");
	CHECK_INT(mr_pack_open(AT_FDCWD, "none.pack", "one.idx", &pack, &err), MR_ENOTFOUND);
	/* Every byte of the pack may be wrong: nothing worse than an error comes of it. */
	CHECK_OK(mr_fs_read(arena, AT_FDCWD, "one.pack", 1 << 24, &bytes, &err), err);
	for (size_t i = 8; i < 400; i++) {
		uint8_t *copy = mr_arena_memdup(arena, bytes.data, 4096);
		int fd;

		copy[i] ^= 0xff;
		unlink("hurt.pack");
		CHECK_OK(mr_fs_write(AT_FDCWD, "hurt.pack", mr_bytes_of(copy, 4096), MR_FS_NEW,
				 0600, &err),
			err);
		fd = mr_pack_open(AT_FDCWD, "hurt.pack", "one.idx", &pack, &err) == MR_OK;
		if (!fd)
			continue;
		CHECK_INT(mr_pack_objects(arena, &pack, &back, &err), MR_EFORMAT);
		mr_pack_close(&pack);
		i += 37;
	}
}

static void damage_is_found(void)
{
	struct mr_pack_object objects[32] = { 0 }, *list[32], *back;
	struct mr_bytes plain;
	struct mr_pack pack;
	char name[41];
	size_t count;

	begin();
	files_enter();
	count = some_objects(objects, list);
	objects[5].id.bytes[19] ^= 1; /* as if its bytes were others */
	CHECK_OK(mr_pack_write(AT_FDCWD, "one.pack", "one.idx", list, count, name, &err), err);
	CHECK_OK(mr_pack_open(AT_FDCWD, "one.pack", "one.idx", &pack, &err), err);
	CHECK_OK(mr_pack_objects(arena, &pack, &back, &err), err);
	CHECK_OK(mr_pack_inflate(arena, &back[4], &plain, &err), err);
	CHECK_INT(mr_pack_inflate(arena, &back[5], &plain, &err), MR_EFORMAT);
	CHECK(mr_str_starts(err.msg, "a pack holds a damaged object at byte "));
	/* A size that cannot be true costs no memory. */
	back[4].size = INT64_C(1) << 30;
	CHECK_INT(mr_pack_inflate(arena, &back[4], &plain, &err), MR_EFORMAT);
	CHECK(mr_str_starts(err.msg, "a pack cannot be read at byte "));
	mr_pack_close(&pack);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(ids_are_gits),
		TEST(trees_are_in_gits_order),
		TEST(what_is_no_tree_is_refused),
		TEST(deltas_make_what_they_should),
		TEST(texts_share_their_ends),
		TEST(packs_are_gits),
		TEST(what_is_no_pack_is_refused),
		TEST(damage_is_found),
	};

	return test_main(tests, MR_LEN(tests));
}
