/*
 * text/zip.h - the records of a ZIP archive: one before each file's packed data, one for each file
 * after the last, and the end. Pure: values in, bytes out.
 *
 * Every file has the same time, mode and form (deflate), so the same files in the same order are
 * the same bytes. ZIP64 is not written: what would need it is MR_ELIMIT.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

#define MR_ZIP_BYTES_MAX UINT64_C(0xfffffffe) /* of an archive, and of a file in it */

enum {
	MR_ZIP_FILES_MAX = 0xfffe,
	MR_ZIP_PATH_BYTES = 0xffff,
	MR_ZIP_LEVEL = 9, /* to pack with: an archive is written once and read often */
};

struct mr_zip_entry {
	const char *path; /* relative, in UTF-8 */
	uint32_t crc32;   /* of the file's bytes */
	uint64_t packed;  /* bytes, packed by deflate without a header (MR_DEFLATE_RAW) */
	uint64_t size;    /* bytes of the file */
	uint64_t at;      /* where in the archive the record before its data begins */
};

/* The record before the data. Its length depends on the path alone, so it can be written a second
 * time when the sizes are known. MR_ELIMIT: too large, or it ends too far behind. */
MR_CHECK enum mr_code mr_zip_put(struct mr_buf *out, const struct mr_zip_entry *entry,
	struct mr_err *err);
/* The record in the archive's directory, which follows the data of the last file. */
MR_CHECK enum mr_code mr_zip_put_listed(struct mr_buf *out, const struct mr_zip_entry *entry,
	struct mr_err *err);
/* The end: so many files; the directory begins at `at` and has `bytes` bytes. */
MR_CHECK enum mr_code mr_zip_put_end(struct mr_buf *out, size_t files, uint64_t at, uint64_t bytes,
	struct mr_err *err);
