/* text/smtp_reply.c - the lines of an SMTP reply, its code, and what EHLO's says of the server. */
#include "text/smtp_reply.h"

#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The code at the beginning of a line; 0: it is no line of a reply. */
static int code_of(struct mr_bytes line)
{
	const uint8_t *c = line.data;

	if (line.len < 3 || c[0] < '2' || c[0] > '5' || !isdigit(c[1]) || !isdigit(c[2]) ||
		(line.len > 3 && c[3] != ' ' && c[3] != '-'))
		return 0;
	return (c[0] - '0') * 100 + (c[1] - '0') * 10 + c[2] - '0';
}

static const char *for_people(struct mr_arena *arena, struct mr_bytes line)
{
	size_t len = line.len < MR_SMTP_TEXT_BYTES ? line.len : MR_SMTP_TEXT_BYTES;
	char *text;
	bool is_utf8;

	while (len && len < line.len && (line.data[len] & 0xc0) == 0x80)
		len--; /* not in the middle of a letter */
	text = mr_arena_alloc(arena, len + 1);
	memcpy(text, line.data, len);
	is_utf8 = mr_utf8_is_valid(text, len, NULL);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c == 127 || (c >= 0x80 && !is_utf8))
			text[i] = '?';
	}
	return text;
}

static void note_extension(struct mr_smtp_extensions *can, const char *words)
{
	if (strcasecmp(words, "SMTPUTF8") == 0)
		can->utf8 = true;
	else if (strcasecmp(words, "8BITMIME") == 0)
		can->eight_bit = true;
	else if (strncasecmp(words, "SIZE", 4) == 0 && (words[4] == ' ' || !words[4])) {
		can->has_size = true;
		can->size = strtoll(words + 4, NULL, 10);
	}
}

static enum mr_code take_line(struct mr_arena *arena, struct mr_smtp_reply *reply,
	struct mr_bytes line, struct mr_err *err)
{
	int code = code_of(line);

	if (!code || (reply->code && reply->code != code))
		return mr_err_set(err, MR_EREMOTE,
			"the server answers with something that is no reply");
	if (reply->lines == MR_SMTP_LINES)
		return mr_err_set(err, MR_EREMOTE, "the server answers with an endless reply");
	reply->code = code;
	reply->text = for_people(arena, line);
	if (reply->lines++ && line.len > 4) /* the first line has the server's name */
		note_extension(&reply->can, reply->text + 4);
	reply->is_whole = line.len < 4 || line.data[3] != '-';
	return MR_OK;
}

enum mr_code mr_smtp_reply_take(struct mr_arena *arena, struct mr_smtp_reply *reply,
	struct mr_bytes bytes, size_t *out_used, struct mr_err *err)
{
	size_t at = 0;
	enum mr_code rc = MR_OK;

	while (!rc && !reply->is_whole && at < bytes.len) {
		const uint8_t *from = bytes.data + at;
		const uint8_t *end = memchr(from, '\n', bytes.len - at);
		size_t len = end ? (size_t)(end - from) : bytes.len - at;

		if (len > MR_SMTP_LINE_BYTES)
			rc = mr_err_set(err, MR_EREMOTE, "the server answers with an endless line");
		if (rc || !end)
			break;
		at += len + 1;
		while (len && from[len - 1] == '\r')
			len--;
		rc = take_line(arena, reply, (struct mr_bytes){ from, len }, err);
	}
	*out_used = at;
	return rc;
}
