/*
 * text/toml.c - Splits a TOML document into its statements with their byte ranges, and checks its
 * grammar.
 */
#include "text/toml.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

struct scan {
	struct mr_arena *arena;
	const char *start, *at, *end;
	size_t line;
	struct mr_err *err;
};

static enum mr_code refuse(struct scan *s, const char *why)
{
	return mr_err_set(s->err, MR_EFORMAT, "not valid TOML at line %zu: %s", s->line, why);
}

/* The next byte, or 0 at the end; a NUL is refused before. */
static char peek(const struct scan *s)
{
	return (char)(s->at < s->end ? *s->at : '\0');
}

static bool looking_at(const struct scan *s, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(s->end - s->at) >= len && memcmp(s->at, text, len) == 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_bare(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
		c == '-';
}

static void skip_blanks(struct scan *s)
{
	while (peek(s) == ' ' || peek(s) == '\t')
		s->at++;
}

/* Over a newline, when there is one here. */
static bool skip_newline(struct scan *s)
{
	if (looking_at(s, "\r\n"))
		s->at++;
	if (peek(s) != '\n')
		return false;
	s->at++;
	s->line++;
	return true;
}

/* To the end of a comment's line, not over it. */
static void skip_comment(struct scan *s)
{
	if (peek(s) == '#') {
		while (s->at < s->end && *s->at != '\n' && !looking_at(s, "\r\n"))
			s->at++;
	}
}

/* Over blank lines, comments and indents. */
static void skip_between(struct scan *s)
{
	do {
		skip_blanks(s);
		skip_comment(s);
	} while (skip_newline(s));
}

/* ---- strings ---- */

/* After a backslash; the character it stands for is added. */
static enum mr_code read_escape(struct scan *s, struct mr_buf *out)
{
	static const char letters[] = "btnfr\"\\", meant[] = "\b\t\n\f\r\"\\";
	char c = peek(s), encoded[4];
	const char *letter = c ? strchr(letters, c) : NULL;
	size_t digits = c == 'u' ? 4 : c == 'U' ? 8 : 0, len;
	uint32_t scalar = 0;

	if (letter) {
		mr_buf_putc(out, meant[letter - letters]);
		s->at++;
		return MR_OK;
	}
	if (!digits)
		return refuse(s, "there is no such escape in a string");
	s->at++;
	for (; digits; digits--, s->at++) {
		c = peek(s);
		if (!is_hex(c))
			return refuse(s, "\\u takes four hexadecimal digits, \\U eight");
		scalar = scalar << 4 | (uint32_t)(is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
	}
	len = mr_utf8_put(scalar, encoded);
	if (!len)
		return refuse(s, "an escape is no Unicode character");
	mr_buf_add(out, encoded, len);
	return MR_OK;
}

/* "..." or '...'; what it says is added to `out`. */
static enum mr_code read_string(struct scan *s, struct mr_buf *out)
{
	char quote = *s->at++;

	while (peek(s) != quote) {
		char c = peek(s);

		if (s->at >= s->end || c == '\n')
			return refuse(s, "a string has no end");
		s->at++;
		if (c == '\\' && quote == '"') {
			if (read_escape(s, out))
				return MR_EFORMAT;
		} else {
			mr_buf_putc(out, c);
		}
	}
	s->at++;
	return MR_OK;
}

/* A backslash at the end of a line joins it with the next. */
static bool skip_joint(struct scan *s)
{
	const char *at = s->at;

	skip_blanks(s);
	if (skip_newline(s))
		return true;
	s->at = at;
	return false;
}

/* """...""" or '''...''': up to two quotes may stand before the end. */
static enum mr_code skip_long_string(struct scan *s, struct mr_buf *scratch)
{
	char quote = *s->at;
	const char marks[] = { quote, quote, quote, '\0' };

	s->at += 3;
	while (!looking_at(s, marks)) {
		if (s->at >= s->end)
			return refuse(s, "a string of several lines has no end");
		if (skip_newline(s))
			continue;
		if (*s->at++ != '\\' || quote != '"' || skip_joint(s))
			continue;
		if (read_escape(s, scratch))
			return MR_EFORMAT;
	}
	s->at += 3;
	for (int more = 0; more < 2 && peek(s) == quote; more++)
		s->at++;
	return MR_OK;
}

/* ---- numbers, dates and words ---- */

/* Digits with single underscores between them, from `*at`; how many there are. */
static size_t skip_digits(const char **at, bool (*is_one)(char))
{
	size_t count = 0;

	while (is_one(**at)) {
		count++;
		++*at;
		if (**at == '_' && is_one((*at)[1]))
			++*at;
	}
	return count;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

static bool is_binary(char c)
{
	return c == '0' || c == '1';
}

static bool is_number(const char *text)
{
	const char *at = text + (*text == '+' || *text == '-'), *first = at;
	bool is_whole = true;

	if (strcmp(at, "inf") == 0 || strcmp(at, "nan") == 0)
		return true;
	if (at == text && at[0] == '0' && at[1] && strchr("xob", at[1])) {
		bool (*is_one)(char) = at[1] == 'x' ? is_hex : at[1] == 'o' ? is_octal : is_binary;

		at += 2;
		return skip_digits(&at, is_one) && !*at;
	}
	if (!skip_digits(&at, is_digit) || (*first == '0' && at > first + 1))
		return false;
	if (*at == '.') {
		at++;
		is_whole = skip_digits(&at, is_digit) > 0;
	}
	if (*at == 'e' || *at == 'E') {
		at++;
		at += *at == '+' || *at == '-';
		is_whole = is_whole && skip_digits(&at, is_digit) > 0;
	}
	return is_whole && !*at;
}

/* Does the text begin with this form, where 'd' is a digit? */
static bool has_form(const char **text, const char *form)
{
	const char *at = *text;

	for (; *form; form++, at++) {
		if (*form == 'd' ? !is_digit(*at) : *at != *form)
			return false;
	}
	*text = at;
	return true;
}

static bool is_time(const char *text)
{
	if (!has_form(&text, "dd:dd:dd"))
		return false;
	if (*text == '.') {
		text++;
		if (!is_digit(*text))
			return false;
		while (is_digit(*text))
			text++;
	}
	return !*text;
}

static bool is_date(const char *text)
{
	char time[64];
	size_t len;

	if (!has_form(&text, "dddd-dd-dd"))
		return false;
	if (!*text)
		return true;
	if (!strchr("Tt ", *text++))
		return false;
	len = strcspn(text, "Zz+-");
	if (len >= sizeof(time))
		return false;
	memcpy(time, text, len);
	time[len] = '\0';
	text += len;
	if (*text == 'Z' || *text == 'z')
		text++;
	else if (*text && (text++, !has_form(&text, "dd:dd")))
		return false;
	return is_time(time) && !*text;
}

static enum mr_code skip_word(struct scan *s)
{
	const char *start = s->at;
	char *word;

	while (is_bare(peek(s)) || peek(s) == '+' || peek(s) == '.' || peek(s) == ':')
		s->at++;
	/* A date and a time may stand apart. */
	if (s->at - start == 10 && peek(s) == ' ' && s->end - s->at > 1 && is_digit(s->at[1])) {
		s->at++;
		while (is_bare(peek(s)) || peek(s) == '+' || peek(s) == '.' || peek(s) == ':')
			s->at++;
	}
	word = mr_arena_strndup(s->arena, start, (size_t)(s->at - start));
	if (!*word)
		return refuse(s, "a value is missing");
	if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0 || is_number(word) ||
		is_time(word) || is_date(word))
		return MR_OK;
	return refuse(s, "what should be a value is no string, number, date, true or false");
}

/* ---- values ---- */

static enum mr_code read_path(struct scan *s, struct mr_texts *out);
static enum mr_code skip_value(struct scan *s, unsigned depth);

static enum mr_code skip_array(struct scan *s, unsigned depth)
{
	s->at++;
	for (;;) {
		skip_between(s);
		if (peek(s) == ']')
			break;
		if (skip_value(s, depth))
			return s->err->code;
		skip_between(s);
		if (peek(s) == ']')
			break;
		if (peek(s) != ',')
			return refuse(s, "an array has no , or ] after a value");
		s->at++;
	}
	s->at++;
	return MR_OK;
}

static enum mr_code skip_assignment(struct scan *s, unsigned depth)
{
	skip_blanks(s);
	if (peek(s) != '=')
		return refuse(s, "a key has no = after it");
	s->at++;
	skip_blanks(s);
	return skip_value(s, depth);
}

static enum mr_code skip_inline_table(struct scan *s, unsigned depth)
{
	struct mr_texts path;

	s->at++;
	skip_blanks(s);
	while (peek(s) != '}') {
		if (read_path(s, &path) || skip_assignment(s, depth))
			return s->err->code;
		skip_blanks(s);
		if (peek(s) == '}')
			break;
		if (peek(s) != ',')
			return refuse(s, "an inline table has no , or } after a value");
		s->at++;
		skip_blanks(s);
		if (peek(s) == '}')
			return refuse(s, "an inline table has a , before its }");
	}
	s->at++;
	return MR_OK;
}

static enum mr_code skip_value(struct scan *s, unsigned depth)
{
	struct mr_buf scratch MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&scratch, SIZE_MAX / 4);
	if (depth >= MR_TOML_DEPTH)
		return refuse(s, "values are nested too deeply");
	if (looking_at(s, "\"\"\"") || looking_at(s, "'''"))
		return skip_long_string(s, &scratch);
	switch (peek(s)) {
	case '"':
	case '\'':
		return read_string(s, &scratch);
	case '[':
		return skip_array(s, depth + 1);
	case '{':
		return skip_inline_table(s, depth + 1);
	default:
		return skip_word(s);
	}
}

/* ---- keys ---- */

static enum mr_code read_key(struct scan *s, const char **out)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const char *start = s->at;

	mr_buf_init(&text, SIZE_MAX / 4);
	if (peek(s) == '"' || peek(s) == '\'') {
		if (read_string(s, &text))
			return MR_EFORMAT;
		*out = mr_arena_strndup(s->arena, mr_buf_text(&text), text.len);
		return MR_OK;
	}
	while (is_bare(peek(s)))
		s->at++;
	if (s->at == start)
		return refuse(s, "a key is missing");
	*out = mr_arena_strndup(s->arena, start, (size_t)(s->at - start));
	return MR_OK;
}

/* a."b.c".d */
static enum mr_code read_path(struct scan *s, struct mr_texts *out)
{
	const char *keys[MR_TOML_KEYS];
	size_t len = 0;

	for (;;) {
		if (len == MR_TOML_KEYS)
			return refuse(s, "a key has too many dots");
		if (read_key(s, &keys[len++]))
			return MR_EFORMAT;
		skip_blanks(s);
		if (peek(s) != '.')
			break;
		s->at++;
		skip_blanks(s);
	}
	out->items = mr_arena_memdup(s->arena, keys, len * sizeof(*keys));
	out->len = len;
	return MR_OK;
}

static struct mr_texts join(struct mr_arena *arena, const struct mr_texts *a,
	const struct mr_texts *b)
{
	struct mr_texts all = { mr_arena_array(arena, a->len + b->len, sizeof(*all.items)), 0 };

	for (size_t i = 0; i < a->len; i++)
		all.items[all.len++] = a->items[i];
	for (size_t i = 0; i < b->len; i++)
		all.items[all.len++] = b->items[i];
	return all;
}

/* ---- statements ---- */

static enum mr_code read_head(struct scan *s, struct mr_toml_statement *out)
{
	out->kind = looking_at(s, "[[") ? MR_TOML_ARRAY_TABLE : MR_TOML_TABLE;
	s->at += out->kind == MR_TOML_ARRAY_TABLE ? 2 : 1;
	skip_blanks(s);
	if (read_path(s, &out->path))
		return MR_EFORMAT;
	if (!looking_at(s, out->kind == MR_TOML_ARRAY_TABLE ? "]]" : "]"))
		return refuse(s, "the name of a table has no ] after it");
	s->at += out->kind == MR_TOML_ARRAY_TABLE ? 2 : 1;
	return MR_OK;
}

static enum mr_code read_statement(struct scan *s, struct mr_texts *table,
	struct mr_toml_statement *out)
{
	struct mr_texts key;
	enum mr_code rc;

	*out = (struct mr_toml_statement){ .kind = MR_TOML_VALUE, .line = s->line };
	if (peek(s) == '[') {
		rc = read_head(s, out);
		*table = out->path;
	} else {
		rc = read_path(s, &key);
		if (!rc)
			rc = skip_assignment(s, 0);
		if (!rc)
			out->path = join(s->arena, table, &key);
	}
	if (rc)
		return rc;
	skip_blanks(s);
	skip_comment(s);
	if (s->at < s->end && !skip_newline(s))
		return refuse(s, "there is something after a value or the name of a table");
	out->end = (size_t)(s->at - s->start);
	return MR_OK;
}

/* Every byte must be text: UTF-8, without control characters but tabs and ends of lines. */
static enum mr_code check_bytes(struct scan *s)
{
	size_t bad = 0;

	if (!mr_utf8_is_valid(s->start, (size_t)(s->end - s->start), &bad)) {
		for (const char *c = s->start; c < s->start + bad; c++)
			s->line += *c == '\n';
		return refuse(s, "it is not UTF-8");
	}
	for (const char *c = s->start; c < s->end; c++) {
		bool is_return = *c == '\r' && c + 1 < s->end && c[1] == '\n';

		s->line += *c == '\n';
		if (((unsigned char)*c < ' ' && *c != '\t' && *c != '\n' && !is_return) ||
			*c == 0x7f)
			return refuse(s, "there is a control character");
	}
	s->line = 1;
	return MR_OK;
}

/* ---- what is there twice ---- */

/* A statement's path as one text, in which each element of an array of tables is its own. */
struct name {
	const char *text;
	const struct mr_toml_statement *statement;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* How often each array of tables was opened so far. */
struct counts {
	const char *names[MR_TOML_STATEMENTS];
	size_t times[MR_TOML_STATEMENTS];
	size_t len;
};

static size_t *count_of(struct counts *counts, const char *name)
{
	for (size_t i = 0; i < counts->len; i++) {
		if (strcmp(counts->names[i], name) == 0)
			return &counts->times[i];
	}
	return NULL;
}

static const char *name_of(struct mr_arena *arena, struct counts *counts,
	const struct mr_toml_statement *statement)
{
	const char *name = "";

	for (size_t i = 0; i < statement->path.len; i++) {
		bool is_array =
			i + 1 == statement->path.len && statement->kind == MR_TOML_ARRAY_TABLE;
		size_t *times;

		/* \x01 is less than all that keys have, so what is below a path follows it. */
		name = mr_arena_printf(arena, "%s%s\x01", name, statement->path.items[i]);
		times = counts->len || is_array ? count_of(counts, name) : NULL;
		if (is_array && !times) {
			counts->names[counts->len] = name;
			times = &counts->times[counts->len++];
			*times = 0;
		}
		if (is_array)
			++*times;
		if (times)
			name = mr_arena_printf(arena, "%s\x02%zu\x01", name, *times);
	}
	return name;
}

static enum mr_code check_twice(struct scan *s, const struct mr_toml *toml)
{
	struct name *names = mr_arena_array(s->arena, toml->len, sizeof(*names));
	struct counts *counts = mr_arena_alloc(s->arena, sizeof(*counts));

	for (size_t i = 0; i < toml->len; i++)
		names[i] = (struct name){ name_of(s->arena, counts, &toml->items[i]),
			&toml->items[i] };
	qsort(names, toml->len, sizeof(*names), by_text);
	for (size_t i = 0; i + 1 < toml->len; i++) {
		const struct mr_toml_statement *a = names[i].statement, *b = names[i + 1].statement;
		bool is_twice = strcmp(names[i].text, names[i + 1].text) == 0;

		s->line = a->line > b->line ? a->line : b->line;
		if (is_twice)
			return refuse(s, "this is defined twice");
		if (a->kind == MR_TOML_VALUE && mr_str_starts(names[i + 1].text, names[i].text))
			return refuse(s, "this is below a key that has a value");
	}
	return MR_OK;
}

enum mr_code mr_toml_scan(struct mr_arena *arena, struct mr_bytes text, struct mr_toml *out,
	struct mr_err *err)
{
	const char *start = text.len ? (const char *)text.data : "";
	struct scan s = { arena, start, start, start + text.len, 1, err };
	struct mr_texts table = { NULL, 0 };
	enum mr_code rc = check_bytes(&s);

	*out = (struct mr_toml){ mr_arena_array(arena, 16, sizeof(*out->items)), 0 };
	if (looking_at(&s, "\xef\xbb\xbf"))
		s.at += 3;
	for (size_t room = 16; !rc;) {
		const char *line;

		skip_between(&s);
		if (s.at >= s.end)
			break;
		if (out->len == MR_TOML_STATEMENTS)
			return mr_err_set(err, MR_ELIMIT, "it has more than %d lines of settings",
				MR_TOML_STATEMENTS);
		if (out->len == room) {
			struct mr_toml_statement *more =
				mr_arena_array(arena, 2 * room, sizeof(*more));

			memcpy(more, out->items, room * sizeof(*more));
			out->items = more;
			room *= 2;
		}
		line = s.at;
		while (line > s.start && line[-1] != '\n')
			line--;
		rc = read_statement(&s, &table, &out->items[out->len]);
		out->items[out->len].start = (size_t)(line - s.start);
		out->len += !rc;
	}
	return rc ? rc : check_twice(&s, out);
}
