/*
 * text/smtp_reply.h - replies of an SMTP server, which may have several lines and come in pieces.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum {
	MR_SMTP_LINE_BYTES = 4096, /* of a reply */
	MR_SMTP_LINES = 256,       /* of one reply */
	MR_SMTP_TEXT_BYTES = 512,  /* of what is kept for people */
};

/* What a server says of itself in its answer to EHLO. */
struct mr_smtp_extensions {
	bool utf8, eight_bit, has_size;
	long long size; /* the largest mail; 0: it does not say */
};

/* Begins as all zeros. */
struct mr_smtp_reply {
	int code; /* 0: no line has come yet */
	int lines;
	bool is_whole;
	const char *text; /* the last line with its code, for people; valid UTF-8, in the arena */
	struct mr_smtp_extensions can;
};

/*
 * Take the lines that are whole off the front of `bytes`, up to the end of the reply; `*out_used`
 * is how many bytes they had. What is left comes again, with more behind it. MR_EREMOTE says that
 * no reply is to be had from this server: an endless line, an endless reply, or something else.
 */
MR_CHECK enum mr_code mr_smtp_reply_take(struct mr_arena *arena, struct mr_smtp_reply *reply,
	struct mr_bytes bytes, size_t *out_used, struct mr_err *err);
