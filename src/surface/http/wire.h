/*
 * surface/http/wire.h - a strict reader of the bytes of HTTP/1 requests. Pure: no I/O, no globals.
 *
 * The HTTP library reads leniently: it takes LF for CR LF, joins folded lines, stops at a NUL. A
 * proxy in front of it may read the same bytes as another request. This reader sees the bytes of a
 * connection before the library does (tap.h) and accepts only what has one meaning: tokens for
 * methods and header names, no control characters, CR LF at the end of every line, one space
 * between the parts of the request line, no white space around a header's name, a Host, digits as
 * Content-Length, chunks to the letter. One empty line before a request is allowed. It follows
 * Content-Length and chunks to find the next request.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MR_HTTP_WIRE_NAME_BYTES = 18 }; /* longer than the names that are looked for */

/* One connection's. All zeros to begin with. */
struct mr_http_wire {
	const char *wrong; /* with the section being read, or NULL; nothing is read after that */
	unsigned state;    /* enum state, in wire.c */
	unsigned count;    /* bytes of the part that is being read */
	bool had_empty_line;
	bool has_host;
	bool is_blind; /* where this request ends cannot be told: it will be refused */
	bool is_chunked;
	bool in_trailer; /* the headers that follow a chunked body */
	bool has_length;
	bool in_length; /* the value being read is Content-Length's */
	char name[MR_HTTP_WIRE_NAME_BYTES];
	uint64_t length; /* of the body or chunk; then what is missing of it */
	uint64_t bytes;  /* of the section being read */
	/* Header sections read whole, and their bytes; and those the server has been given. */
	uint64_t sections, section_bytes;
	uint64_t taken, taken_bytes;
};

/* Read on. Returns how many of the bytes are good; when it is fewer, wire->wrong says why. */
size_t mr_http_wire_read(struct mr_http_wire *wire, const char *data, size_t len);

/*
 * After something was wrong: bytes that make a whole header section of what was good of it, so
 * that the library hands it over and the server can answer that it is refused. In a chunked body:
 * bytes that the library refuses itself, or "" where nothing but the end does.
 */
const char *mr_http_wire_completion(const struct mr_http_wire *wire);

/*
 * The library has handed over the next request, with a header section of so many bytes. NULL when
 * that is one that was read here and found good; else why the request is refused.
 */
const char *mr_http_wire_take(struct mr_http_wire *wire, size_t header_bytes);
