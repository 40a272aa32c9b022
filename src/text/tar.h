/*
 * text/tar.h - entries of a tar archive (POSIX ustar, with pax records where a name or a size needs
 * them). Pure: bytes in, bytes out; the data of a file follow its header, padded to whole blocks.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	MR_TAR_BLOCK = 512,
	MR_TAR_PAX_BYTES = 64 << 10, /* the records before one entry, at most */
	MR_TAR_PATH_BYTES = 4096,    /* the longest path or target, as the kernel has it */
};

enum mr_tar_kind { MR_TAR_FILE, MR_TAR_DIRECTORY, MR_TAR_LINK };

struct mr_tar_entry {
	enum mr_tar_kind kind;
	const char *path;   /* relative */
	const char *target; /* of a symbolic link */
	uint64_t size;      /* of a file */
	unsigned mode;      /* permissions */
	int64_t mtime_s;
};

/* The blocks before the entry's data. */
void mr_tar_put(struct mr_buf *out, const struct mr_tar_entry *entry);
/* The blocks after the last entry. */
void mr_tar_put_end(struct mr_buf *out);
/* Bytes that fill the last block of so much data. */
size_t mr_tar_padding(uint64_t size);

enum mr_tar_next {
	MR_TAR_ENTRY, /* an entry, whose data follow */
	MR_TAR_PAX,   /* records about the next entry follow, `size` bytes of them */
	MR_TAR_END,
};

/*
 * Read a header block. `pax` are the records that stood before it, or without data. The entry's
 * texts live in the arena. MR_EFORMAT: the block is damaged, or an entry that mr_tar_put() does not
 * write, such as an absolute path, one with "..", or a device.
 */
MR_CHECK enum mr_code mr_tar_read(struct mr_arena *arena, const uint8_t block[MR_TAR_BLOCK],
	struct mr_bytes pax, enum mr_tar_next *out_next, struct mr_tar_entry *out,
	struct mr_err *err);
