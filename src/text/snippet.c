/*
 * text/snippet.c - Cuts the part of a message body around the first search hit, as plain text with
 * the hits marked.
 */
#include "text/snippet.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <string.h>

enum {
	BEFORE_CHARS = 50,                     /* shown before the first hit */
	TEXT_BYTES = MR_SNIPPET_CHARS * 4 + 16 /* and two ellipses */
};

struct wanted {
	const char *text;
	size_t len;
	bool prefix;
	struct mr_span *words; /* in its text */
	size_t word_count;
	uint32_t first; /* the first word's first letter, folded; inside: the first byte */
};

struct finder {
	const char *text;
	size_t len;
	bool inside;
	struct wanted wanted[MR_QUERY_TERMS];
	size_t wanted_count;
};

static size_t scalar_at(const char *text, size_t len, size_t at, uint32_t *out)
{
	size_t n = mr_utf8_next(text + at, len - at, out);

	if (n == 0)
		*out = 0xfffd;
	return n ? n : 1;
}

/* The word at or after `at`; false when there is none. */
static bool next_word(const char *text, size_t len, size_t at, struct mr_span *out)
{
	uint32_t scalar;
	size_t n;

	for (; at < len; at += n) {
		n = scalar_at(text, len, at, &scalar);
		if (mr_utf8_is_word(scalar))
			break;
	}
	if (at >= len)
		return false;
	out->start = at;
	for (; at < len; at += n) {
		n = scalar_at(text, len, at, &scalar);
		if (!mr_utf8_is_word(scalar) && !mr_utf8_is_mark(scalar))
			break;
	}
	out->end = at;
	return true;
}

/* The next letter of a word, folded, marks passed over; 0 at its end. */
static uint32_t next_letter(const char *text, size_t end, size_t *at)
{
	uint32_t scalar;

	while (*at < end) {
		*at += scalar_at(text, end, *at, &scalar);
		if (!mr_utf8_is_mark(scalar))
			return mr_utf8_fold(scalar);
	}
	return 0;
}

static bool same_word(const char *text, struct mr_span word, const char *term,
	struct mr_span wanted, bool prefix)
{
	for (;;) {
		uint32_t want = next_letter(term, wanted.end, &wanted.start);
		uint32_t have = next_letter(text, word.end, &word.start);

		if (want == 0)
			return prefix || have == 0;
		if (want != have)
			return false;
	}
}

static unsigned char lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

static void want(struct finder *f, struct mr_arena *arena, const struct mr_query_term *term)
{
	struct wanted *wanted = &f->wanted[f->wanted_count];
	size_t at = 0;
	struct mr_span word;

	*wanted = (struct wanted){
		.text = term->text,
		.len = strlen(term->text),
		.prefix = term->prefix,
		.first = lower(*term->text),
	};
	if (!f->inside) {
		wanted->words = mr_arena_array(arena, wanted->len, sizeof(*wanted->words));
		while (next_word(wanted->text, wanted->len, at, &word)) {
			wanted->words[wanted->word_count++] = word;
			at = word.end;
		}
		at = wanted->word_count ? wanted->words[0].start : 0;
		wanted->first = next_letter(wanted->text, wanted->len, &at);
	}
	if (f->inside || wanted->word_count > 0)
		f->wanted_count++;
}

/* The term's words, one after the other, from this word on. */
static bool phrase_at(const struct finder *f, const struct wanted *wanted, struct mr_span word,
	size_t *out_end)
{
	for (size_t i = 0; i < wanted->word_count; i++) {
		bool last = i + 1 == wanted->word_count;

		if (!same_word(f->text, word, wanted->text, wanted->words[i],
			    last && wanted->prefix))
			return false;
		*out_end = word.end;
		if (!last && !next_word(f->text, f->len, word.end, &word))
			return false;
	}
	return true;
}

static bool bytes_at(const struct finder *f, const struct wanted *wanted, size_t at,
	size_t *out_end)
{
	*out_end = at + wanted->len;
	return *out_end <= f->len && strncasecmp(f->text + at, wanted->text, wanted->len) == 0;
}

/* The longest hit that begins with this word, or at this byte. */
static bool hit_at(const struct finder *f, struct mr_span word, struct mr_span *out)
{
	size_t at = word.start;
	uint32_t first = f->inside ? lower(f->text[at]) : next_letter(f->text, f->len, &at);
	bool found = false;

	for (size_t i = 0; i < f->wanted_count; i++) {
		const struct wanted *wanted = &f->wanted[i];
		size_t end = 0;

		if (wanted->first != first ||
			!(f->inside ? bytes_at(f, wanted, word.start, &end)
				    : phrase_at(f, wanted, word, &end)))
			continue;
		if (!found || end > out->end)
			*out = (struct mr_span){ word.start, end };
		found = true;
	}
	return found;
}

/* The first hit that begins in [from, to). */
static bool find(const struct finder *f, size_t from, size_t to, struct mr_span *out)
{
	struct mr_span word = { from, from };

	to = to < f->len ? to : f->len;
	if (f->wanted_count == 0)
		return false;
	if (!f->inside) {
		while (next_word(f->text, f->len, word.end, &word) && word.start < to) {
			if (hit_at(f, word, out))
				return true;
		}
		return false;
	}
	for (; word.start < to; word.start++) {
		if (hit_at(f, word, out))
			return true;
	}
	return false;
}

/* Back from `at` by some characters, then on to where a word begins. */
static size_t window_start(const struct finder *f, size_t at)
{
	size_t start = at;
	uint32_t scalar;

	for (size_t i = 0; i < BEFORE_CHARS && start > 0; i++) {
		start--;
		while (start > 0 && ((unsigned char)f->text[start] & 0xc0) == 0x80)
			start--;
	}
	if (start == 0)
		return 0;
	for (size_t look = start; look < at; look += scalar_at(f->text, f->len, look, &scalar)) {
		size_t n = scalar_at(f->text, f->len, look, &scalar);

		if (mr_utf8_is_space(scalar))
			return look + n;
	}
	return start;
}

/* What stands for a character: itself, a blank, or nothing. */
static void put_scalar(struct mr_buf *buf, uint32_t scalar, const char *bytes, size_t n)
{
	if (mr_utf8_is_space(scalar)) {
		if (buf->len > 0 && buf->data[buf->len - 1] != ' ')
			mr_buf_putc(buf, ' ');
	} else if (scalar >= 0x20 && scalar != 0x7f && (n > 1 || scalar < 0x80)) {
		mr_buf_add(buf, bytes, n);
	}
}

/* The last hit ends here. Bytes that are shown as nothing are no hit. */
static void end_hit(struct mr_snippet *out, size_t end)
{
	size_t last = out->hit_count - 1;

	if (out->hits[last].start < end)
		out->hits[last].end = end;
	else
		out->hit_count--;
}

static void put_window(const struct finder *f, struct mr_arena *arena, size_t at,
	struct mr_span hit, struct mr_snippet *out)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	bool ahead = hit.end > 0, open = false;

	mr_buf_init(&buf, TEXT_BYTES);
	if (at > 0)
		mr_buf_puts(&buf, "...");
	for (size_t chars = 0; at < f->len && chars < MR_SNIPPET_CHARS; chars++) {
		uint32_t scalar;
		size_t n = scalar_at(f->text, f->len, at, &scalar);

		if (ahead && !open && at >= hit.start) {
			out->hits[out->hit_count++].start = buf.len;
			open = true;
		}
		put_scalar(&buf, scalar, f->text + at, n);
		at += n;
		if (open && at >= hit.end) {
			end_hit(out, buf.len);
			open = false;
			/* No further than this window can reach. */
			ahead = out->hit_count < MR_SNIPPET_HITS &&
				find(f, at, at + TEXT_BYTES, &hit);
		}
	}
	if (open)
		end_hit(out, buf.len);
	if (buf.len > 0 && buf.data[buf.len - 1] == ' ')
		buf.data[--buf.len] = '\0';
	if (out->hit_count > 0 && out->hits[out->hit_count - 1].end > buf.len)
		end_hit(out, buf.len);
	if (at < f->len)
		mr_buf_puts(&buf, "...");
	out->text = mr_arena_strdup(arena, mr_buf_text(&buf));
}

void mr_snippet(struct mr_arena *arena, const char *body, const struct mr_query *query, int column,
	bool inside, struct mr_snippet *out)
{
	size_t len = strnlen(body, MR_SNIPPET_BODY_BYTES + 4);
	struct finder f = { .text = body, .inside = inside };
	struct mr_span hit = { 0, 0 };
	size_t start = 0;

	f.len = mr_utf8_truncate(body, len, MR_SNIPPET_BODY_BYTES);
	*out = (struct mr_snippet){
		.hits = mr_arena_array(arena, MR_SNIPPET_HITS, sizeof(*out->hits)),
	};
	for (size_t i = 0; i < query->term_count; i++) {
		int of = query->terms[i].column;

		if (!query->terms[i].negated && (of == MR_QUERY_ANY_COLUMN || of == column))
			want(&f, arena, &query->terms[i]);
	}
	if (find(&f, 0, f.len, &hit))
		start = window_start(&f, hit.start);
	put_window(&f, arena, start, hit, out);
}
