/*
 * text/html.h - HTML as text for people and agents. Pure: nothing is fetched.
 *
 * The HTML is untrusted and may be broken in any way. What is in it for browsers only (scripts,
 * styles, comments, titles) is dropped; entities become characters; white space is collapsed. A
 * link's address stands behind its text, if it is one that people follow (http, https, ftp, mailto,
 * tel). An image is its description. Time is linear; elements nested more than MR_HTML_DEPTH deep
 * end the text.
 */
#pragma once

#include "base/arena.h"

enum { MR_HTML_DEPTH = 500 };

/*
 * One line for each block; the cells of a row are parted by TAB; a link is followed by <address>
 * unless that is its text. `html` is UTF-8. The result has at most `max` bytes and no line end at
 * its end.
 */
char *mr_html_to_text(struct mr_arena *arena, const char *html, size_t max);

/*
 * The same as Markdown: headings, lists, quotes, emphasis, code, [text](address). What Markdown
 * would take for markup is escaped, so no '<' stands without a backslash before it.
 */
char *mr_html_to_markdown(struct mr_arena *arena, const char *html, size_t max);
