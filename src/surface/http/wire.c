/*
 * surface/http/wire.c - A strict parser of HTTP/1 request bytes that rejects whatever a proxy
 * could read differently.
 */
#include "surface/http/wire.h"

#include <string.h>
#include <strings.h>

enum state {
	START, /* of a request, or an empty line before it */
	EMPTY_LF,
	METHOD,
	TARGET,
	VERSION,
	LINE_LF, /* the CR of the request line or of a header was read */
	NAME_FIRST,
	NAME,
	VALUE,
	END_LF, /* the CR of the empty line was read */
	BODY,
	CHUNK_SIZE,
	CHUNK_EXTENSION,
	CHUNK_SIZE_LF,
	CHUNK,
	CHUNK_CR, /* expected */
	CHUNK_LF,
	BLIND, /* the server refuses this request, and closes the connection */
};

static const char bare_lf[] = "a line ends with LF instead of CR LF";
static const char bare_cr[] = "a CR is not followed by LF";
static const char bad_line[] = "the request line is not \"METHOD target HTTP/1.1\"";
static const char bad_chunk[] = "a chunk's size is not a hexadecimal number";
static const char bad_length[] = "Content-Length is not a length";
static const char bad_name[] = "the name of a header is not a token";

static bool is_token(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		(c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

/* What is wrong with `c` where it may not stand; `other` for ordinary characters and CR. */
static const char *blame(unsigned char c, const char *other)
{
	if (c == '\n')
		return bare_lf;
	if (c == '\0')
		return "a NUL in the headers";
	return (c < ' ' && c != '\r') || c == 0x7f ? "a control character in the headers" : other;
}

static void enter(struct mr_http_wire *wire, enum state state)
{
	wire->state = state;
	wire->count = 0;
}

/* ---- the request line ---- */

static const char *read_start(struct mr_http_wire *wire, unsigned char c)
{
	if (c == '\r' && !wire->had_empty_line) {
		wire->had_empty_line = true;
		enter(wire, EMPTY_LF);
		return NULL;
	}
	if (!is_token(c))
		return blame(c, bad_line);
	enter(wire, METHOD);
	wire->bytes = 0;
	return NULL;
}

static const char *read_method(struct mr_http_wire *wire, unsigned char c)
{
	if (c == ' ')
		enter(wire, TARGET);
	else if (!is_token(c))
		return blame(c, bad_line);
	return NULL;
}

static const char *read_target(struct mr_http_wire *wire, unsigned char c)
{
	if (c == ' ' && wire->count)
		enter(wire, VERSION);
	else if (c <= ' ' || c == 0x7f)
		return blame(c, bad_line);
	else
		wire->count = 1;
	return NULL;
}

static const char *read_version(struct mr_http_wire *wire, unsigned char c)
{
	static const char pattern[] = "HTTP/d.d\r";
	unsigned char wanted = (unsigned char)pattern[wire->count];

	if (wanted == 'd' ? !is_digit(c) : c != wanted)
		return blame(c, bad_line);
	if (c == '\r')
		enter(wire, LINE_LF);
	else
		wire->count++;
	return NULL;
}

/* ---- headers ---- */

static const char *read_line_lf(struct mr_http_wire *wire, unsigned char c)
{
	if (c != '\n')
		return bare_cr;
	enter(wire, NAME_FIRST);
	return NULL;
}

static const char *read_name(struct mr_http_wire *wire, unsigned char c)
{
	if (!is_token(c))
		return c == '\r'                ? "a header line has no colon"
			: c == ' ' || c == '\t' ? "white space before a header's colon"
						: blame(c, bad_name);
	if (wire->count < sizeof(wire->name))
		wire->name[wire->count] = (char)c;
	wire->count++;
	return NULL;
}

static bool is_named(const struct mr_http_wire *wire, const char *name)
{
	return wire->count == strlen(name) && strncasecmp(wire->name, name, wire->count) == 0;
}

static void end_name(struct mr_http_wire *wire)
{
	/* host_check.h refuses repeated headers, and every encoding but chunked. */
	if (wire->in_trailer) {
		;
	} else if (is_named(wire, "Host")) {
		wire->has_host = true;
	} else if (is_named(wire, "Transfer-Encoding")) {
		wire->is_blind = wire->is_blind || wire->has_length || wire->is_chunked;
		wire->is_chunked = true;
	} else if (is_named(wire, "Content-Length")) {
		wire->is_blind = wire->is_blind || wire->has_length || wire->is_chunked;
		wire->has_length = wire->in_length = true;
	}
	enter(wire, VALUE);
}

static const char *read_name_first(struct mr_http_wire *wire, unsigned char c)
{
	/* Without a Host, and with a bad Content-Length, the library would send the head of its
	 * own answer twice. */
	if (c == '\r' && !wire->has_host && !wire->in_trailer)
		return "no Host";
	if (c == '\r') {
		enter(wire, END_LF);
		return NULL;
	}
	if (c == ' ' || c == '\t')
		return "a header line begins with white space";
	if (c == ':')
		return "a header line begins with a colon";
	if (!is_token(c))
		return blame(c, bad_name);
	enter(wire, NAME);
	return read_name(wire, c);
}

static const char *read_length(struct mr_http_wire *wire, unsigned char c)
{
	if ((c == ' ' || c == '\t') && !wire->count)
		return NULL;
	if (!is_digit(c) || wire->length > (UINT64_MAX - 9) / 10)
		return blame(c, bad_length);
	wire->count = 1;
	wire->length = wire->length * 10 + (c - '0');
	return NULL;
}

static const char *read_value(struct mr_http_wire *wire, unsigned char c)
{
	if (wire->in_length && (c != '\r' || !wire->count))
		return read_length(wire, c);
	wire->in_length = false;
	if (c == '\r')
		enter(wire, LINE_LF);
	else if ((c < ' ' && c != '\t') || c == 0x7f)
		return blame(c, NULL);
	return NULL;
}

static const char *read_end_lf(struct mr_http_wire *wire, unsigned char c)
{
	if (c != '\n')
		return bare_cr;
	if (!wire->in_trailer) {
		wire->sections++;
		wire->section_bytes += wire->bytes + 1;
	}
	if (wire->is_blind)
		enter(wire, BLIND);
	else if (wire->is_chunked && !wire->in_trailer)
		enter(wire, CHUNK_SIZE);
	else
		enter(wire, wire->length ? BODY : START);
	if (wire->state != CHUNK_SIZE)
		wire->had_empty_line = wire->has_host = wire->has_length = wire->is_chunked =
			wire->in_trailer = false;
	return NULL;
}

/* ---- chunked bodies ---- */

static int hex_digit(unsigned char c)
{
	return is_digit(c)             ? c - '0'
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
		: c >= 'A' && c <= 'F' ? c - 'A' + 10
				       : -1;
}

static const char *read_chunk_size(struct mr_http_wire *wire, unsigned char c)
{
	int digit = hex_digit(c);

	if (digit < 0 && wire->count && (c == ';' || c == '\r')) {
		enter(wire, c == ';' ? CHUNK_EXTENSION : CHUNK_SIZE_LF);
		return NULL;
	}
	if (digit < 0 || wire->length > UINT64_MAX >> 5)
		return c == '\n' ? bare_lf : bad_chunk;
	wire->length = wire->length << 4 | (unsigned)digit;
	wire->count = 1;
	return NULL;
}

static const char *read_chunk_extension(struct mr_http_wire *wire, unsigned char c)
{
	if (c == '\r')
		enter(wire, CHUNK_SIZE_LF);
	else if ((c < ' ' && c != '\t') || c == 0x7f)
		return blame(c, NULL);
	return NULL;
}

static const char *read_chunk_size_lf(struct mr_http_wire *wire, unsigned char c)
{
	if (c != '\n')
		return bare_cr;
	wire->in_trailer = !wire->length;
	enter(wire, wire->length ? CHUNK : NAME_FIRST);
	return NULL;
}

static const char *read_chunk_end(struct mr_http_wire *wire, unsigned char c)
{
	if (c != (wire->state == CHUNK_CR ? '\r' : '\n'))
		return "a chunk is longer than its size";
	enter(wire, wire->state == CHUNK_CR ? CHUNK_LF : CHUNK_SIZE);
	return NULL;
}

/* ---- all of it ---- */

/* One byte that is not of a body. NULL when it is good. */
static const char *read_byte(struct mr_http_wire *wire, unsigned char c)
{
	switch ((enum state)wire->state) {
	case START:
		return read_start(wire, c);
	case EMPTY_LF:
		if (c != '\n')
			return bare_cr;
		enter(wire, START);
		return NULL;
	case METHOD:
		return read_method(wire, c);
	case TARGET:
		return read_target(wire, c);
	case VERSION:
		return read_version(wire, c);
	case LINE_LF:
		return read_line_lf(wire, c);
	case NAME_FIRST:
		return read_name_first(wire, c);
	case NAME:
		if (c != ':')
			return read_name(wire, c);
		end_name(wire);
		return NULL;
	case VALUE:
		return read_value(wire, c);
	case END_LF:
		return read_end_lf(wire, c);
	case CHUNK_SIZE:
		return read_chunk_size(wire, c);
	case CHUNK_EXTENSION:
		return read_chunk_extension(wire, c);
	case CHUNK_SIZE_LF:
		return read_chunk_size_lf(wire, c);
	case CHUNK_CR:
	case CHUNK_LF:
		return read_chunk_end(wire, c);
	case BODY:
	case CHUNK:
	case BLIND:
		break;
	}
	return NULL;
}

static size_t skip_body(struct mr_http_wire *wire, size_t len)
{
	size_t part = wire->length < len ? (size_t)wire->length : len;

	wire->length -= part;
	if (!wire->length)
		enter(wire, wire->state == CHUNK ? CHUNK_CR : START);
	return part;
}

/* Skip ordinary characters of a target or a value, which are most bytes of a request, at once. */
static size_t skip_text(struct mr_http_wire *wire, const char *data, size_t len)
{
	bool is_target = wire->state == TARGET;
	unsigned char first = is_target ? '!' : ' ';
	size_t at = 0;

	if (!is_target && (wire->state != VALUE || wire->in_length))
		return 0;
	while (at < len && (unsigned char)data[at] >= first && data[at] != 0x7f)
		at++;
	if (is_target && at)
		wire->count = 1;
	wire->bytes += at;
	return at;
}

size_t mr_http_wire_read(struct mr_http_wire *wire, const char *data, size_t len)
{
	size_t at = 0;

	while (at < len && !wire->wrong && wire->state != BLIND) {
		if (wire->state == BODY || wire->state == CHUNK) {
			at += skip_body(wire, len - at);
			continue;
		}
		at += skip_text(wire, data + at, len - at);
		if (at == len)
			break;
		wire->wrong = read_byte(wire, (unsigned char)data[at]);
		if (!wire->wrong) {
			wire->bytes++;
			at++;
		}
	}
	return wire->wrong ? at : len;
}

/* The rest of a trailer's line, and one without a colon, which the library refuses. */
static const char *trailer_completion(const struct mr_http_wire *wire)
{
	switch ((enum state)wire->state) {
	case NAME:
		return "\r\n";
	case VALUE:
		return "\r\nx\r\n";
	case LINE_LF:
		return "\nx\r\n";
	default: /* its beginning, or the CR of the empty line was read */
		return "x\r\n";
	}
}

const char *mr_http_wire_completion(const struct mr_http_wire *wire)
{
#define HEADERS "Host: x\r\n\r\n"
	static const char version[] = "HTTP/1.1\r\n" HEADERS;

	if (wire->in_trailer)
		return trailer_completion(wire);
	switch ((enum state)wire->state) {
	case START:
		return "GET / HTTP/1.1\r\n" HEADERS;
	case EMPTY_LF:
		return "\nGET / HTTP/1.1\r\n" HEADERS;
	case METHOD:
		return " / HTTP/1.1\r\n" HEADERS;
	case TARGET:
		return wire->count ? " HTTP/1.1\r\n" HEADERS : "/ HTTP/1.1\r\n" HEADERS;
	case VERSION:
		return version + wire->count;
	case LINE_LF:
		return "\n" HEADERS;
	case NAME_FIRST:
		return HEADERS;
	case NAME:
		return ": 0\r\n" HEADERS;
	case VALUE:
		return wire->in_length && !wire->count ? "0\r\n" HEADERS : "\r\n" HEADERS;
	case END_LF:
		return "\n";
	/* No chunk begins or ends like this. */
	case CHUNK_SIZE:
	case CHUNK_SIZE_LF:
	case CHUNK_CR:
	case CHUNK_LF:
		return "xx";
	case CHUNK_EXTENSION:
	case BODY:
	case CHUNK:
	case BLIND:
		break;
	}
	return "";
#undef HEADERS
}

const char *mr_http_wire_take(struct mr_http_wire *wire, size_t header_bytes)
{
	static const char unseen[] = "the header section was not read as it was sent";

	if (wire->taken == wire->sections)
		return wire->wrong ? wire->wrong : unseen;
	wire->taken++;
	wire->taken_bytes += header_bytes;
	/* Sections that came together are compared together, when the last of them is taken. */
	return wire->taken == wire->sections && wire->taken_bytes != wire->section_bytes ? unseen
											 : NULL;
}
