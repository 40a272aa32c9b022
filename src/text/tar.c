/* text/tar.c - Writes and reads the header blocks of tar archives. */
#include "text/tar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Where the fields of a header are, and how long. */
enum {
	NAME_AT = 0,
	NAME_LEN = 100,
	MODE_AT = 100,
	SIZE_AT = 124,
	MTIME_AT = 136,
	SUM_AT = 148,
	SUM_LEN = 8,
	TYPE_AT = 156,
	TARGET_AT = 157,
	MAGIC_AT = 257,
	NUMBER_LEN = 12,
	SHORT_LEN = 8,
};

#define LARGEST_OCTAL UINT64_C(077777777777)

static unsigned checksum(const uint8_t *block)
{
	unsigned sum = 0;

	/* The field itself counts as blanks. */
	for (size_t i = 0; i < MR_TAR_BLOCK; i++)
		sum += i >= SUM_AT && i < SUM_AT + SUM_LEN ? ' ' : block[i];
	return sum;
}

static void put_number(uint8_t *at, size_t len, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%0*" PRIo64, (int)len - 1, value);
	memcpy(at, text, len);
}

static void put_name(uint8_t *at, const char *text)
{
	size_t len = strlen(text);

	memcpy(at, text, len < NAME_LEN ? len : NAME_LEN);
}

/* "ustar", and the version of that. */
static const char magic[] = { 'u', 's', 't', 'a', 'r', '\0', '0', '0' };

static void put_block(struct mr_buf *out, char type, const struct mr_tar_entry *entry,
	uint64_t size)
{
	uint8_t block[MR_TAR_BLOCK] = { 0 };

	put_name(block + NAME_AT, entry->path);
	put_number(block + MODE_AT, SHORT_LEN, entry->mode & 07777);
	put_number(block + SIZE_AT, NUMBER_LEN, size > LARGEST_OCTAL ? 0 : size);
	put_number(block + MTIME_AT, NUMBER_LEN,
		entry->mtime_s < 0 ? 0 : (uint64_t)entry->mtime_s & LARGEST_OCTAL);
	block[TYPE_AT] = (uint8_t)type;
	if (entry->target)
		put_name(block + TARGET_AT, entry->target);
	memcpy(block + MAGIC_AT, magic, sizeof(magic));
	put_number(block + SUM_AT, SUM_LEN - 1, checksum(block));
	block[SUM_AT + SUM_LEN - 1] = ' ';
	mr_buf_add(out, block, sizeof(block));
}

/* "LENGTH key=value\n", where the length counts itself. */
static void put_record(struct mr_buf *out, const char *key, const char *value)
{
	size_t rest = strlen(key) + strlen(value) + 3;
	size_t len = rest + 1;
	char digits[24];

	while (len != rest + (size_t)snprintf(digits, sizeof(digits), "%zu", len))
		len = rest + strlen(digits);
	mr_buf_printf(out, "%zu %s=%s\n", len, key, value);
}

size_t mr_tar_padding(uint64_t size)
{
	return (MR_TAR_BLOCK - size % MR_TAR_BLOCK) % MR_TAR_BLOCK;
}

void mr_tar_put(struct mr_buf *out, const struct mr_tar_entry *entry)
{
	static const char types[] = { '0', '5', '2' };
	struct mr_buf pax MR_CLEANUP(mr_buf_release) = { 0 };
	uint64_t size = entry->kind == MR_TAR_FILE ? entry->size : 0;
	char digits[24];

	mr_buf_init(&pax, MR_TAR_PAX_BYTES);
	if (strlen(entry->path) > NAME_LEN)
		put_record(&pax, "path", entry->path);
	if (entry->target && strlen(entry->target) > NAME_LEN)
		put_record(&pax, "linkpath", entry->target);
	if (size > LARGEST_OCTAL) {
		snprintf(digits, sizeof(digits), "%" PRIu64, size);
		put_record(&pax, "size", digits);
	}
	if (pax.len) {
		put_block(out, 'x', &(struct mr_tar_entry){ .path = "pax", .mode = 0600 }, pax.len);
		mr_buf_add(out, mr_buf_bytes(&pax).data, pax.len);
		mr_buf_pad(out, '\0', mr_tar_padding(pax.len));
	}
	put_block(out, types[entry->kind], entry, size);
}

void mr_tar_put_end(struct mr_buf *out)
{
	mr_buf_pad(out, '\0', (size_t)2 * MR_TAR_BLOCK);
}

/* --- reading --- */

/* Octal digits up to a NUL or a blank. */
static bool read_number(const uint8_t *at, size_t len, uint64_t *out)
{
	uint64_t value = 0;
	size_t i = 0;

	for (; i < len && at[i] >= '0' && at[i] <= '7'; i++)
		value = value * 8 + (uint64_t)(at[i] - '0');
	if (i == 0 || (i < len && at[i] != '\0' && at[i] != ' '))
		return false;
	*out = value;
	return true;
}

static const char *read_name(struct mr_arena *arena, const uint8_t *at)
{
	return mr_arena_strndup(arena, (const char *)at, strnlen((const char *)at, NAME_LEN));
}

/* One record; false when there is none of that form. */
static bool next_record(struct mr_arena *arena, struct mr_bytes *left, const char **out_key,
	const char **out_value)
{
	size_t len = 0, at = 0;
	const char *text = (const char *)left->data;
	const char *equals;

	for (; at < left->len && at < 6 && text[at] >= '0' && text[at] <= '9'; at++)
		len = len * 10 + (size_t)(text[at] - '0');
	if (at == 0 || at >= left->len || text[at] != ' ' || len > left->len || len < at + 4 ||
		text[len - 1] != '\n' || memchr(text, '\0', len))
		return false;
	equals = memchr(text + at + 1, '=', len - at - 2);
	if (!equals)
		return false;
	*out_key = mr_arena_strndup(arena, text + at + 1, (size_t)(equals - text) - at - 1);
	*out_value = mr_arena_strndup(arena, equals + 1, len - 2 - (size_t)(equals - text));
	left->data += len;
	left->len -= len;
	return true;
}

static bool apply_pax(struct mr_arena *arena, struct mr_bytes pax, struct mr_tar_entry *entry)
{
	while (pax.len) {
		const char *key, *value;
		int64_t size;

		if (!next_record(arena, &pax, &key, &value))
			return false;
		if (mr_str_eq(key, "path"))
			entry->path = value;
		else if (mr_str_eq(key, "linkpath"))
			entry->target = value;
		else if (mr_str_eq(key, "size") && mr_str_to_int(value, &size) && size >= 0)
			entry->size = (uint64_t)size;
		else
			return false;
	}
	return true;
}

/* Relative, and leads nowhere else. */
static bool is_inside(const char *path)
{
	if (!*path || strlen(path) >= MR_TAR_PATH_BYTES)
		return false;
	for (;;) {
		size_t len = strcspn(path, "/");

		if (len == 0 || (len <= 2 && memcmp(path, "..", len) == 0))
			return false;
		path += len;
		if (!*path)
			return true;
		path++;
	}
}

static bool read_entry(struct mr_arena *arena, const uint8_t *block, struct mr_bytes pax,
	struct mr_tar_entry *out)
{
	static const char types[] = "052";
	const char *type = block[TYPE_AT] ? strchr(types, block[TYPE_AT]) : NULL;
	struct mr_tar_entry entry = { .path = read_name(arena, block + NAME_AT) };
	uint64_t mode, mtime;

	if (!type || !read_number(block + MODE_AT, SHORT_LEN, &mode) ||
		!read_number(block + SIZE_AT, NUMBER_LEN, &entry.size) ||
		!read_number(block + MTIME_AT, NUMBER_LEN, &mtime))
		return false;
	entry.kind = (enum mr_tar_kind)(type - types);
	entry.mode = (unsigned)mode & 07777;
	entry.mtime_s = (int64_t)mtime;
	if (entry.kind == MR_TAR_LINK)
		entry.target = read_name(arena, block + TARGET_AT);
	if (!apply_pax(arena, pax, &entry) || !is_inside(entry.path) ||
		(entry.kind != MR_TAR_FILE && entry.size) ||
		(entry.kind == MR_TAR_LINK) != (entry.target && *entry.target))
		return false;
	*out = entry;
	return true;
}

enum mr_code mr_tar_read(struct mr_arena *arena, const uint8_t block[MR_TAR_BLOCK],
	struct mr_bytes pax, enum mr_tar_next *out_next, struct mr_tar_entry *out,
	struct mr_err *err)
{
	static const uint8_t nothing[MR_TAR_BLOCK];
	uint64_t sum;

	if (memcmp(block, nothing, MR_TAR_BLOCK) == 0 && !pax.len) {
		*out_next = MR_TAR_END;
		return MR_OK;
	}
	if (memcmp(block + MAGIC_AT, "ustar", 5) != 0 ||
		!read_number(block + SUM_AT, SUM_LEN, &sum) || sum != checksum(block))
		return mr_err_set(err, MR_EFORMAT, "the header of an entry is damaged");
	if (block[TYPE_AT] == 'x' && !pax.len) {
		if (!read_number(block + SIZE_AT, NUMBER_LEN, &out->size) || !out->size ||
			out->size > MR_TAR_PAX_BYTES)
			return mr_err_set(err, MR_EFORMAT, "the records of an entry are damaged");
		*out_next = MR_TAR_PAX;
		return MR_OK;
	}
	if (!read_entry(arena, block, pax, out))
		return mr_err_set(err, MR_EFORMAT, "an entry is none that a backup has");
	*out_next = MR_TAR_ENTRY;
	return MR_OK;
}
