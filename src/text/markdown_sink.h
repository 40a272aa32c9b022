/*
 * text/markdown_sink.h - between the parser (markdown.c) and the renderers (markdown_html.c,
 * markdown_text.c): what stands in a document, in its order. Only for those files.
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

enum mr_markdown_kind {
	MR_MARKDOWN_QUOTE,
	MR_MARKDOWN_BULLETS,
	MR_MARKDOWN_NUMBERS,
	MR_MARKDOWN_ITEM,
	MR_MARKDOWN_RULE,
	MR_MARKDOWN_HEADING,
	MR_MARKDOWN_CODE_BLOCK,
	MR_MARKDOWN_PARAGRAPH,
	MR_MARKDOWN_TABLE,
	MR_MARKDOWN_TABLE_HEAD,
	MR_MARKDOWN_TABLE_BODY,
	MR_MARKDOWN_ROW,
	MR_MARKDOWN_HEAD_CELL,
	MR_MARKDOWN_CELL,
	MR_MARKDOWN_EMPHASIS,
	MR_MARKDOWN_STRONG,
	MR_MARKDOWN_STRIKE,
	MR_MARKDOWN_CODE,
	MR_MARKDOWN_LINK,
	MR_MARKDOWN_IMAGE,
	MR_MARKDOWN_OTHER, /* of no concern to renderers */
};

enum mr_markdown_align { MR_ALIGN_NONE, MR_ALIGN_LEFT, MR_ALIGN_CENTER, MR_ALIGN_RIGHT };
enum mr_markdown_task { MR_TASK_NONE, MR_TASK_OPEN, MR_TASK_DONE };

/* Texts are UTF-8 with entities decoded, never NULL, and live for one call. */
struct mr_markdown_node {
	enum mr_markdown_kind kind;
	unsigned number; /* a heading's level, a list's first number */
	enum mr_markdown_align align;
	enum mr_markdown_task task;
	const char *lang;
	const char *url;
	const char *title;
};

enum mr_markdown_piece {
	MR_PIECE_TEXT,
	MR_PIECE_CODE,   /* with its newlines */
	MR_PIECE_ENTITY, /* a named one, "&eacute;", whole */
	MR_PIECE_BREAK,
	MR_PIECE_SOFT_BREAK,
};

/* Each returns whether to go on. Every enter has its leave, unless the walk stops. */
struct mr_markdown_sink {
	bool (*enter)(void *arg, const struct mr_markdown_node *node);
	bool (*leave)(void *arg, const struct mr_markdown_node *node);
	bool (*text)(void *arg, enum mr_markdown_piece piece, const char *text, size_t len);
};

enum mr_markdown_end {
	MR_MARKDOWN_DONE,
	MR_MARKDOWN_STOPPED, /* the sink did not want to go on */
	MR_MARKDOWN_COSTLY,  /* given up, before or in the middle */
};

enum { MR_MARKDOWN_PARSE_BYTES = 1024 * 1024 }; /* more is never parsed */

/* Copy `md` with what is not text made U+FFFD; `out` is initialised here and released by the
 * caller. */
void mr_markdown_clean(struct mr_buf *out, struct mr_bytes md);
/* `clean` is from mr_markdown_clean(). */
enum mr_markdown_end mr_markdown_walk(struct mr_buf *clean, const struct mr_markdown_sink *sink,
	void *arg);
/* The character a named entity ("&amp;", whole) stands for; 0 when it is none of the common ones.
 */
uint32_t mr_markdown_entity_read(const char *entity, size_t len);
