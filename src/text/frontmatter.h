/*
 * text/frontmatter.h - a document: a head between two lines of three dashes, and a body.
 *
 * Only the frame is looked at; what the head says is for text/yaml.h or text/json.h. Bodies are
 * byte-exact, NUL and bad UTF-8 included.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum mr_frontmatter_form {
	MR_FRONTMATTER_YAML, /* opened by "---" */
	MR_FRONTMATTER_JSON, /* opened by "---json" */
};

/* Views into the document that was split. */
struct mr_frontmatter {
	enum mr_frontmatter_form form;
	struct mr_bytes head; /* with its last newline */
	struct mr_bytes body;
};

enum { MR_FRONTMATTER_HEAD_BYTES = 1024 * 1024 };

/*
 * The document begins with a line "---" or "---json"; the first line "---" after it ends the head;
 * one empty line after that belongs to the frame, and the rest is the body. Lines of the frame may
 * end in LF or CRLF. MR_EFORMAT says what is missing and at which line: an opening or closing line,
 * its newline, or a head that is more than blanks; also a byte order mark is refused. A head longer
 * than `max_head` (0: MR_FRONTMATTER_HEAD_BYTES) is MR_ELIMIT.
 */
MR_CHECK enum mr_code mr_frontmatter_split(struct mr_bytes document, size_t max_head,
	struct mr_frontmatter *out, struct mr_err *err);

/*
 * Append the document to `buf`; it splits into the same parts. MR_EINVAL when `head` is blank, does
 * not end in a newline, or holds a line "---"; MR_ELIMIT when `buf` is full.
 */
MR_CHECK enum mr_code mr_frontmatter_join(struct mr_buf *buf, const struct mr_frontmatter *parts,
	struct mr_err *err);
