/* text/zip.c - Writes the records of ZIP archives (APPNOTE 6.3, without ZIP64). */
#include "text/zip.h"

#include <string.h>

enum {
	VERSION = 20,          /* what deflate needs */
	MADE_BY_UNIX = 3 << 8, /* so the mode counts */
	NAMES_ARE_UTF8 = 1 << 11,
	DEFLATED = 8,
	TIME = 0,
	DATE = 1 << 5 | 1, /* 1980-01-01, where the format's time begins */
	LOCAL_BYTES = 30,
};

#define SIGN_LOCAL  0x04034b50
#define SIGN_LISTED 0x02014b50
#define SIGN_END    0x06054b50
#define MODE        (UINT32_C(0100644) << 16)

static void put_16(struct mr_buf *out, uint32_t value)
{
	mr_buf_putc(out, (char)(value & 0xff));
	mr_buf_putc(out, (char)(value >> 8 & 0xff));
}

static void put_32(struct mr_buf *out, uint64_t value)
{
	put_16(out, (uint32_t)(value & 0xffff));
	put_16(out, (uint32_t)(value >> 16 & 0xffff));
}

static enum mr_code check(const struct mr_zip_entry *entry, struct mr_err *err)
{
	size_t len = strlen(entry->path);

	if (len > MR_ZIP_PATH_BYTES)
		return mr_err_set(err, MR_ELIMIT, "a path in a ZIP file has at most %d bytes",
			MR_ZIP_PATH_BYTES);
	if (entry->size > MR_ZIP_BYTES_MAX || entry->packed > MR_ZIP_BYTES_MAX ||
		entry->at > MR_ZIP_BYTES_MAX - LOCAL_BYTES - len ||
		entry->packed > MR_ZIP_BYTES_MAX - LOCAL_BYTES - len - entry->at)
		return mr_err_set(err, MR_ELIMIT,
			"%s does not fit in a ZIP file, which has less than 4 GiB", entry->path);
	return MR_OK;
}

/* What both records of a file have in common. */
static void put_facts(struct mr_buf *out, const struct mr_zip_entry *entry)
{
	put_16(out, VERSION);
	put_16(out, NAMES_ARE_UTF8);
	put_16(out, DEFLATED);
	put_16(out, TIME);
	put_16(out, DATE);
	put_32(out, entry->crc32);
	put_32(out, entry->packed);
	put_32(out, entry->size);
	put_16(out, (uint32_t)strlen(entry->path));
	put_16(out, 0); /* bytes of extra fields */
}

enum mr_code mr_zip_put(struct mr_buf *out, const struct mr_zip_entry *entry, struct mr_err *err)
{
	enum mr_code rc = check(entry, err);

	if (rc)
		return rc;
	put_32(out, SIGN_LOCAL);
	put_facts(out, entry);
	mr_buf_puts(out, entry->path);
	return mr_buf_check(out, entry->path, err);
}

enum mr_code mr_zip_put_listed(struct mr_buf *out, const struct mr_zip_entry *entry,
	struct mr_err *err)
{
	enum mr_code rc = check(entry, err);

	if (rc)
		return rc;
	put_32(out, SIGN_LISTED);
	put_16(out, MADE_BY_UNIX | VERSION);
	put_facts(out, entry);
	put_16(out, 0); /* bytes of a comment */
	put_16(out, 0); /* the disk */
	put_16(out, 0); /* nobody says whether it is text */
	put_32(out, MODE);
	put_32(out, entry->at);
	mr_buf_puts(out, entry->path);
	return mr_buf_check(out, "the directory of the ZIP file", err);
}

enum mr_code mr_zip_put_end(struct mr_buf *out, size_t files, uint64_t at, uint64_t bytes,
	struct mr_err *err)
{
	if (files > MR_ZIP_FILES_MAX)
		return mr_err_set(err, MR_ELIMIT, "a ZIP file has at most %d files, not %zu",
			MR_ZIP_FILES_MAX, files);
	if (at > MR_ZIP_BYTES_MAX || bytes > MR_ZIP_BYTES_MAX - at)
		return mr_err_set(err, MR_ELIMIT, "a ZIP file has less than 4 GiB");
	put_32(out, SIGN_END);
	put_16(out, 0); /* this disk */
	put_16(out, 0); /* the directory's disk */
	put_16(out, (uint32_t)files);
	put_16(out, (uint32_t)files);
	put_32(out, bytes);
	put_32(out, at);
	put_16(out, 0); /* bytes of a comment */
	return mr_buf_check(out, "the end of the ZIP file", err);
}
