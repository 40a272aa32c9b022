/* data/history_tree.c */
#include "data/history_tree.h"

#include <string.h>

enum {
	COPY_MAX = 0xffff, /* bytes one copy instruction of a delta can name in two bytes */
	INSERT_MAX = 0x7f,
	MODE_DIGITS = 6,
};

bool mr_oid_eq(const struct mr_oid *a, const struct mr_oid *b)
{
	return memcmp(a->bytes, b->bytes, MR_OID_BYTES) == 0;
}

int mr_oid_compare(const struct mr_oid *a, const struct mr_oid *b)
{
	return memcmp(a->bytes, b->bytes, MR_OID_BYTES);
}

bool mr_oid_is_zero(const struct mr_oid *oid)
{
	static const struct mr_oid zero;

	return mr_oid_eq(oid, &zero);
}

void mr_oid_format(const struct mr_oid *oid, char out[2 * MR_OID_BYTES + 1])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < MR_OID_BYTES; i++) {
		out[2 * i] = digits[oid->bytes[i] >> 4];
		out[2 * i + 1] = digits[oid->bytes[i] & 15];
	}
	out[2 * MR_OID_BYTES] = '\0';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool mr_oid_parse(const char *text, struct mr_oid *out)
{
	struct mr_oid oid;

	for (size_t i = 0; i < MR_OID_BYTES; i++) {
		int high = hex_digit(text[2 * i]);
		int low = high < 0 ? -1 : hex_digit(text[2 * i + 1]);

		if (low < 0)
			return false;
		oid.bytes[i] = (uint8_t)(high << 4 | low);
	}
	*out = oid;
	return true;
}

bool mr_tree_is_dir(unsigned mode)
{
	return (mode & 0170000) == MR_TREE_MODE_DIR;
}

bool mr_tree_is_file(unsigned mode)
{
	return (mode & 0170000) == 0100000;
}

bool mr_tree_next(struct mr_tree_iter *iter, struct mr_tree_entry *out)
{
	const uint8_t *start = iter->tree.data + iter->at;
	size_t left = iter->tree.len - iter->at, at = 0;
	unsigned mode = 0;
	const uint8_t *nul;

	if (left == 0 || iter->bad)
		return false;
	iter->bad = true;
	for (; at < left && at < MODE_DIGITS && start[at] >= '0' && start[at] <= '7'; at++)
		mode = mode << 3 | (unsigned)(start[at] - '0');
	if (at == 0 || at == left || start[at] != ' ')
		return false;
	at++;
	nul = memchr(start + at, '\0', left - at);
	if (!nul || nul == start + at || left - (size_t)(nul - start) <= MR_OID_BYTES)
		return false;
	out->name = (const char *)start + at;
	out->name_len = (size_t)(nul - (start + at));
	out->mode = mode;
	memcpy(out->id.bytes, nul + 1, MR_OID_BYTES);
	out->at = iter->at;
	out->size = (size_t)(nul - start) + 1 + MR_OID_BYTES;
	iter->at += out->size;
	iter->bad = false;
	return true;
}

bool mr_tree_find(struct mr_bytes tree, const char *name, size_t name_len,
	struct mr_tree_entry *out)
{
	struct mr_tree_iter iter = { .tree = tree };

	while (mr_tree_next(&iter, out)) {
		if (out->name_len == name_len && memcmp(out->name, name, name_len) == 0)
			return true;
	}
	return false;
}

int mr_tree_compare(const char *a, size_t a_len, bool a_is_dir, const char *b, size_t b_len,
	bool b_is_dir)
{
	size_t len = a_len < b_len ? a_len : b_len;
	int order = memcmp(a, b, len);
	unsigned char a_next, b_next;

	if (order != 0)
		return order;
	a_next = (unsigned char)(len < a_len ? a[len] : a_is_dir ? '/' : '\0');
	b_next = (unsigned char)(len < b_len ? b[len] : b_is_dir ? '/' : '\0');
	return (a_next > b_next) - (a_next < b_next);
}

static void put_entry(struct mr_buf *out, const struct mr_tree_edit *edit)
{
	if (edit->mode == 0)
		return;
	mr_buf_printf(out, "%o ", edit->mode);
	mr_buf_add(out, edit->name, edit->name_len);
	mr_buf_putc(out, '\0');
	mr_buf_add(out, edit->id.bytes, MR_OID_BYTES);
}

void mr_tree_rewrite(struct mr_bytes tree, const struct mr_tree_edit *edits, size_t edit_count,
	const size_t *replaced, size_t replaced_count, struct mr_buf *out)
{
	struct mr_tree_iter iter = { .tree = tree };
	struct mr_tree_entry entry;
	size_t run = 0, gone = 0, edit = 0;

	while (edit < edit_count || gone < replaced_count) {
		if (!mr_tree_next(&iter, &entry))
			break;
		for (; edit < edit_count; edit++) {
			if (mr_tree_compare(edits[edit].name, edits[edit].name_len,
				    mr_tree_is_dir(edits[edit].mode), entry.name, entry.name_len,
				    mr_tree_is_dir(entry.mode)) > 0)
				break;
			mr_buf_add(out, tree.data + run, entry.at - run);
			run = entry.at;
			put_entry(out, &edits[edit]);
		}
		if (gone < replaced_count && replaced[gone] == entry.at) {
			mr_buf_add(out, tree.data + run, entry.at - run);
			run = entry.at + entry.size;
			gone++;
		}
	}
	mr_buf_add(out, tree.data + run, tree.len - run);
	for (; edit < edit_count; edit++)
		put_entry(out, &edits[edit]);
}

static void put_size(struct mr_buf *out, size_t size)
{
	for (; size >= 0x80; size >>= 7)
		mr_buf_putc(out, (char)(0x80 | (size & 0x7f)));
	mr_buf_putc(out, (char)size);
}

/* One copy instruction: a byte of flags, then those bytes of offset and size that are not zero. */
static void put_copy(struct mr_buf *out, size_t offset, size_t size)
{
	while (size > 0) {
		size_t part = size < COPY_MAX ? size : COPY_MAX;
		char op[7];
		size_t len = 1;
		unsigned flags = 0x80;

		for (unsigned i = 0; i < 4; i++) {
			uint8_t byte = (uint8_t)(offset >> (8 * i));

			if (byte) {
				flags |= 1U << i;
				op[len++] = (char)byte;
			}
		}
		for (unsigned i = 0; i < 2; i++) {
			uint8_t byte = (uint8_t)(part >> (8 * i));

			if (byte) {
				flags |= 0x10U << i;
				op[len++] = (char)byte;
			}
		}
		op[0] = (char)flags;
		mr_buf_add(out, op, len);
		offset += part;
		size -= part;
	}
}

static void put_insert(struct mr_buf *out, const uint8_t *data, size_t size)
{
	while (size > 0) {
		size_t part = size < INSERT_MAX ? size : INSERT_MAX;

		mr_buf_putc(out, (char)part);
		mr_buf_add(out, data, part);
		data += part;
		size -= part;
	}
}

static int entry_order(const struct mr_tree_entry *a, const struct mr_tree_entry *b)
{
	return mr_tree_compare(a->name, a->name_len, mr_tree_is_dir(a->mode), b->name, b->name_len,
		mr_tree_is_dir(b->mode));
}

bool mr_tree_delta(struct mr_bytes source, struct mr_bytes target, struct mr_buf *out)
{
	struct mr_tree_iter from = { .tree = source }, to = { .tree = target };
	struct mr_tree_entry have, want;
	bool has = mr_tree_next(&from, &have);
	size_t copy_at = 0, copy_len = 0;

	put_size(out, source.len);
	put_size(out, target.len);
	while (mr_tree_next(&to, &want)) {
		while (has && entry_order(&have, &want) < 0)
			has = mr_tree_next(&from, &have);
		if (has && have.size == want.size &&
			memcmp(source.data + have.at, target.data + want.at, want.size) == 0) {
			if (copy_len > 0 && copy_at + copy_len != have.at) {
				put_copy(out, copy_at, copy_len);
				copy_len = 0;
			}
			if (copy_len == 0)
				copy_at = have.at;
			copy_len += have.size;
			continue;
		}
		put_copy(out, copy_at, copy_len);
		copy_len = 0;
		put_insert(out, target.data + want.at, want.size);
	}
	put_copy(out, copy_at, copy_len);
	return !from.bad && !to.bad;
}
