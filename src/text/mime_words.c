/*
 * text/mime_words.c - encoded words of header fields (RFC 2047).
 *
 * Many senders tear a character apart between two words, and many end each word with padding of its
 * own: so words are decoded one by one, and the bytes of neighbours are converted together.
 */
#include "text/mime_private.h"

#include <string.h>
#include <strings.h>

struct word {
	char charset[48];
	char encoding; /* 'b' or 'q' */
	struct mr_bytes text;
	const char *end; /* behind it */
};

struct decoder {
	struct mr_buf out;
	struct mr_buf bytes; /* of the words since the last other text */
	char charset[48];    /* of these */
	bool is_over;        /* no word ends in the rest of the text */
};

/* Is there a word at `at`, which begins with "=?"? */
static bool read_word(struct decoder *d, const char *at, struct word *out)
{
	size_t charset = strcspn(at + 2, "? \t");
	const char *text = at + 2 + charset;
	size_t name = strcspn(at + 2, "*?"); /* a language may follow */
	const char *end;

	if (d->is_over || *text != '?' || charset == 0 || name >= sizeof(out->charset))
		return false;
	if (!text[1] || !strchr("bBqQ", text[1]) || text[2] != '?')
		return false;
	end = strstr(text + 3, "?=");
	if (!end) {
		d->is_over = true;
		return false;
	}
	memcpy(out->charset, at + 2, name);
	out->charset[name] = '\0';
	out->encoding = (char)(text[1] | 32);
	out->text = mr_bytes_of(text + 3, (size_t)(end - text - 3));
	out->end = end + 2;
	return true;
}

static int hex_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void decode_q(struct mr_buf *buf, struct mr_bytes text)
{
	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.data[i];

		if (c == '=' && i + 2 < text.len && hex_value(text.data[i + 1]) >= 0 &&
			hex_value(text.data[i + 2]) >= 0) {
			c = (uint8_t)(hex_value(text.data[i + 1]) << 4 |
				hex_value(text.data[i + 2]));
			i += 2;
		} else if (c == '_') {
			c = ' ';
		}
		mr_buf_putc(buf, (char)c);
	}
}

static void end_words(struct decoder *d)
{
	if (d->bytes.len)
		mr_mime_charset_decode(&d->out, d->charset, mr_buf_bytes(&d->bytes));
	mr_buf_clear(&d->bytes);
}

static void add_word(struct decoder *d, const struct word *word)
{
	if (d->bytes.len && strcasecmp(d->charset, word->charset) != 0)
		end_words(d);
	memcpy(d->charset, word->charset, sizeof(d->charset));
	if (word->encoding == 'q')
		decode_q(&d->bytes, word->text);
	else
		mr_mime_transfer_decode(MR_MIME_BASE64, word->text, &d->bytes);
}

char *mr_mime_words_decode(struct mr_arena *arena, const char *text)
{
	struct decoder d = { 0 };
	size_t len = strlen(text);
	bool after_word = false;
	struct word word = { 0 };
	char *result;

	if (!strstr(text, "=?"))
		return mr_str_trim(arena, text);
	mr_buf_init(&d.out, 4 * len + 16);
	mr_buf_init(&d.bytes, len + 16);
	while (*text) {
		size_t blanks = after_word ? strspn(text, " \t") : 0;
		const char *next = strstr(text, "=?");

		if (next == text + blanks && read_word(&d, next, &word)) {
			add_word(&d, &word);
			text = word.end;
			after_word = true;
			continue;
		}
		end_words(&d);
		after_word = false;
		/* What begins like a word but is none is text as well. */
		if (next == text)
			next = text[1] ? strstr(text + 1, "=?") : NULL;
		mr_buf_add(&d.out, text, next ? (size_t)(next - text) : strlen(text));
		text = next ? next : "";
	}
	end_words(&d);
	/* A word can hide line breaks and control characters. */
	result = mr_mime_unfold(arena, mr_buf_bytes(&d.out));
	mr_buf_release(&d.out);
	mr_buf_release(&d.bytes);
	return result;
}
