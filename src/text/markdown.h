/*
 * text/markdown.h - Markdown: fenced blocks found, plain text for previews, HTML that is safe to
 * show.
 *
 * The text is untrusted. Nothing in it becomes markup of its own: raw HTML is text, every character
 * is escaped, links lead only where mr_markdown_url_is_allowed() lets them, images are links (a
 * picture fetched tells its sender that it was seen). Bytes that are not UTF-8 and control
 * characters become U+FFFD. Time and stack stay bounded whatever the input: a text that would cost
 * too much to parse (more than 1 MiB, or built to be slow) is shown as it stands.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/*
 * Append HTML to `buf`. Elements: p br hr h1-h6 blockquote ul ol li pre code em strong del a table
 * thead tbody tr th td span; nesting past 100 is flattened. Classes: "language-x" (code),
 * "task-open" and "task-done" (span), "image" (a), "align-left", "align-center", "align-right"
 * (cells). MR_ELIMIT when `buf` is full, which then ends where it ended before.
 */
MR_CHECK enum mr_code mr_markdown_to_html(struct mr_buf *buf, struct mr_bytes md,
	struct mr_err *err);

/*
 * Readable text of at most `max` bytes, in `arena`: blocks parted by empty lines, list items with
 * their bullets or numbers, quotes behind "> ", cells parted by " | ", code as it is, a link
 * followed by its address unless that is its text. What does not fit is cut between characters and
 * ends in
 * "...", as one character. Only as much of a long `md` is read as the result can need.
 */
char *mr_markdown_to_text(struct mr_arena *arena, struct mr_bytes md, size_t max);

/*
 * May a page link there? http://, https://, mailto:, #fragment and /path (not // or /\), without
 * control characters. `url` is what a browser would see: entities decoded.
 */
bool mr_markdown_url_is_allowed(const char *url);

struct mr_markdown_fence {
	bool found;        /* an opening line stands there */
	bool closed;       /* and a closing one */
	size_t open_line;  /* from 1; 0 when not found */
	size_t close_line; /* 0 when not closed */
	const char *text;  /* in the arena, stripped of white space; NULL when not closed */
};

/*
 * Find the first block fenced by ``` whose info string is exactly `info`. A line is what Python's
 * splitlines() makes one, its end stripped; the opening one has ``` in its first column, then
 * `info` with any white space around it; the closing one is ``` alone. Other fences mean nothing,
 * so a block inside another is found; an unclosed one ends the search. `md` is UTF-8 without NUL.
 */
void mr_markdown_fence_find(struct mr_arena *arena, struct mr_bytes md, const char *info,
	struct mr_markdown_fence *out);
/* Would a line of this text close a fence around it? */
bool mr_markdown_fence_is_closed_by(struct mr_bytes md);

/*
 * Foreign text inside of Markdown that we write. A block: `text` between fences of backticks, one
 * longer than the longest run in it and at least three, with `info` behind the first; without a
 * line end at its end.
 */
char *mr_markdown_fence_around(struct mr_arena *arena, const char *text, const char *info);
/* In a line: line breaks become spaces, what would be HTML, a link or an image is escaped; trimmed.
 * An address in angle brackets stays as it is. */
char *mr_markdown_inline(struct mr_arena *arena, const char *text);
/* The description of an image: the same, with \ [ and ] escaped. */
char *mr_markdown_alt(struct mr_arena *arena, const char *text);
/* A cell of a table: line breaks become spaces, | becomes \|. */
char *mr_markdown_cell(struct mr_arena *arena, const char *text);
