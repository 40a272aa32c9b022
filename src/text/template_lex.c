/* text/template_lex.c - a template's source taken apart into tokens, its white space decided. */
#include "text/template_private.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lexer {
	struct mr_arena *arena;
	const char *name;
	const char *src;
	size_t len, at;
	unsigned line;
	const struct mr_template_syntax *syntax;
	struct mr_tpl_token *tokens;
	size_t count, cap;
	struct mr_err *err;
};

static enum mr_code refuse(struct lexer *l, unsigned line, const char *what)
{
	return mr_err_set(l->err, MR_EFORMAT, "%s:%u: %s", l->name, line, what);
}

static struct mr_tpl_token *add(struct lexer *l, enum mr_tpl_token_kind kind)
{
	if (l->count == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 64;
		struct mr_tpl_token *more = mr_arena_array(l->arena, cap, sizeof(*more));

		if (l->count)
			memcpy(more, l->tokens, l->count * sizeof(*more));
		l->tokens = more;
		l->cap = cap;
	}
	l->tokens[l->count] = (struct mr_tpl_token){ .kind = kind, .line = l->line };
	return &l->tokens[l->count++];
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool starts(const struct lexer *l, size_t at, const char *text)
{
	size_t len = strlen(text);

	return l->len - at >= len && memcmp(l->src + at, text, len) == 0;
}

/* Move on, counting lines. */
static void go_to(struct lexer *l, size_t at)
{
	for (; l->at < at; l->at++)
		l->line += l->src[l->at] == '\n';
}

/* The next opening delimiter at or after `at`, or the end. */
static size_t find_open(const struct lexer *l, size_t at)
{
	while (at < l->len) {
		const char *brace = memchr(l->src + at, '{', l->len - at);

		if (!brace)
			break;
		at = (size_t)(brace - l->src);
		if (at + 1 < l->len && strchr("{%#", l->src[at + 1]) && l->src[at + 1])
			return at;
		at++;
	}
	return l->len;
}

/* Where the text before the tag at `open` ends, given the sign after the delimiter. */
static size_t text_end(const struct lexer *l, size_t from, size_t open)
{
	char sign = open + 2 < l->len ? l->src[open + 2] : '\0';
	size_t end = open;

	if (open >= l->len)
		return open;
	if (sign == '-') {
		while (end > from && is_space(l->src[end - 1]))
			end--;
	} else if (l->syntax->lstrip_blocks && sign != '+' && l->src[open + 1] != '{') {
		while (end > from && (l->src[end - 1] == ' ' || l->src[end - 1] == '\t'))
			end--;
		if (end > 0 && l->src[end - 1] != '\n')
			end = open;
	}
	return end;
}

/* What a closing delimiter that began with `sign` eats of what follows. */
static void after_close(struct lexer *l, char sign, bool is_print)
{
	size_t at = l->at;

	if (sign == '-') {
		while (at < l->len && is_space(l->src[at]))
			at++;
	} else if (l->syntax->trim_blocks && sign != '+' && !is_print) {
		if (starts(l, at, "\n"))
			at++;
		else if (starts(l, at, "\r\n"))
			at += 2;
	}
	go_to(l, at);
}

static void add_text(struct lexer *l, size_t from, size_t end)
{
	if (end > from) {
		struct mr_tpl_token *token = add(l, MR_TOK_TEXT);

		token->text = l->src + from;
		token->len = end - from;
	}
}

static enum mr_code skip_comment(struct lexer *l)
{
	unsigned line = l->line;
	size_t at = l->at + 2;
	char sign;

	while (at < l->len && !starts(l, at, "#}"))
		at++;
	if (at >= l->len)
		return refuse(l, line, "the comment that begins here does not end");
	sign = at > l->at + 2 ? l->src[at - 1] : '\0';
	go_to(l, at + 2);
	after_close(l, sign, false);
	return MR_OK;
}

/* "{%- word -%}" at `at`: its end, and the sign before its closing delimiter; else 0. */
static size_t match_tag(const struct lexer *l, size_t at, const char *word, char *out_sign)
{
	if (!starts(l, at, "{%"))
		return 0;
	at += 2;
	if (at < l->len && (l->src[at] == '-' || l->src[at] == '+'))
		at++;
	while (at < l->len && is_space(l->src[at]))
		at++;
	if (!starts(l, at, word))
		return 0;
	at += strlen(word);
	while (at < l->len && is_space(l->src[at]))
		at++;
	*out_sign = '\0';
	if (at < l->len && (l->src[at] == '-' || l->src[at] == '+'))
		*out_sign = l->src[at++];
	return starts(l, at, "%}") ? at + 2 : 0;
}

/* {% raw %}: everything up to {% endraw %} is text. */
static enum mr_code take_raw(struct lexer *l, size_t end, char sign)
{
	unsigned line = l->line;
	size_t from, at;

	go_to(l, end);
	after_close(l, sign, false);
	from = l->at;
	for (at = from; at < l->len; at++) {
		const char *open = memchr(l->src + at, '{', l->len - at);

		if (!open)
			break;
		at = (size_t)(open - l->src);
		end = match_tag(l, at, "endraw", &sign);
		if (end) {
			add_text(l, from, text_end(l, from, at));
			go_to(l, end);
			after_close(l, sign, false);
			return MR_OK;
		}
	}
	return refuse(l, line, "raw without endraw");
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool digit_at(const struct lexer *l, size_t at)
{
	return at < l->len && l->src[at] >= '0' && l->src[at] <= '9';
}

/* Does an exponent begin here: "e5", "E-5"? */
static bool exponent_at(const struct lexer *l, size_t at)
{
	char next = at + 1 < l->len ? l->src[at + 1] : '\0';

	return (l->src[at] == 'e' || l->src[at] == 'E') &&
		digit_at(l, next == '+' || next == '-' ? at + 2 : at + 1);
}

static enum mr_code set_number(struct lexer *l, struct mr_tpl_token *token, const char *digits)
{
	char *end;

	if (token->kind == MR_TOK_INT)
		return mr_str_to_int(digits, &token->integer)
			? MR_OK
			: refuse(l, l->line, "a number is out of range");
	token->real = strtod(digits, &end);
	if (*end || !isfinite(token->real))
		return refuse(l, l->line, "a number is out of range");
	return MR_OK;
}

static enum mr_code take_number(struct lexer *l)
{
	char digits[64];
	size_t len = 0, at = l->at;
	bool is_real = false;
	struct mr_tpl_token *token;

	for (; at < l->len && len < sizeof(digits) - 1; at++) {
		char c = l->src[at];

		if (c == '_' && digit_at(l, at + 1))
			continue;
		if (exponent_at(l, at)) {
			digits[len++] = c;
			c = l->src[++at];
			is_real = true;
		} else if (c == '.' && !is_real && digit_at(l, at + 1)) {
			is_real = true;
		} else if (!digit_at(l, at)) {
			break;
		}
		if (len < sizeof(digits) - 1)
			digits[len++] = c;
	}
	digits[len] = '\0';
	if (at < l->len && is_name_char(l->src[at]))
		return refuse(l, l->line,
			len == sizeof(digits) - 1 ? "a number is too long"
						  : "a letter directly follows a number");
	token = add(l, is_real ? MR_TOK_FLOAT : MR_TOK_INT);
	token->text = l->src + l->at;
	token->len = at - l->at;
	if (set_number(l, token, digits))
		return l->err->code;
	l->at = at;
	return MR_OK;
}

static int hex4(const struct lexer *l, size_t at, size_t end, uint32_t *out)
{
	*out = 0;
	if (end - at < 4)
		return 0;
	for (size_t i = 0; i < 4; i++) {
		char c = l->src[at + i];

		if (!isxdigit((unsigned char)c))
			return 0;
		*out = *out * 16 +
			(uint32_t)(isdigit((unsigned char)c)
					? c - '0'
					: tolower((unsigned char)c) - 'a' + 10);
	}
	return 4;
}

/* What stands after a backslash at `at`; returns how many bytes of it were read, 0 if none fits. */
static size_t unescape(const struct lexer *l, size_t at, size_t end, struct mr_buf *out)
{
	static const char from[] = "ntrbf\\/\"'", to[] = "\n\t\r\b\f\\/\"'";
	const char *known = strchr(from, l->src[at]);
	uint32_t scalar, low;

	if (l->src[at] == 'u') {
		size_t used = 1 + (size_t)hex4(l, at + 1, end, &scalar);

		if (used == 1)
			return 0;
		if (scalar >= 0xd800 && scalar < 0xdc00 && end - at >= 11 &&
			l->src[at + 5] == '\\' && l->src[at + 6] == 'u' &&
			hex4(l, at + 7, end, &low) && low >= 0xdc00 && low < 0xe000) {
			scalar = 0x10000 + ((scalar - 0xd800) << 10) + (low - 0xdc00);
			used = 11;
		}
		if (scalar == 0 || (scalar >= 0xd800 && scalar < 0xe000))
			return 0;
		mr_buf_put_utf8(out, scalar);
		return used;
	}
	if (!known || !*known)
		return 0;
	mr_buf_putc(out, to[known - from]);
	return 1;
}

static enum mr_code take_string(struct lexer *l)
{
	char quote = l->src[l->at];
	size_t from = l->at + 1, end = from;
	bool is_plain = true;
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_tpl_token *token;

	for (; end < l->len && l->src[end] != quote; end++)
		if (l->src[end] == '\\') {
			is_plain = false;
			end++;
		}
	if (end >= l->len)
		return refuse(l, l->line, "a text in quotes does not end");
	token = add(l, MR_TOK_STRING);
	token->text = l->src + from;
	token->len = end - from;
	if (!is_plain) {
		mr_buf_init(&buf, l->len);
		for (size_t at = from; at < end; at++) {
			size_t used;

			if (l->src[at] != '\\') {
				mr_buf_putc(&buf, l->src[at]);
				continue;
			}
			used = unescape(l, at + 1, end, &buf);
			if (!used)
				return refuse(l, l->line,
					"a backslash in a text is followed by something unknown");
			at += used;
		}
		token->text = mr_arena_strndup(l->arena, mr_buf_text(&buf), buf.len);
		token->len = buf.len;
	}
	go_to(l, end + 1);
	return MR_OK;
}

static enum mr_code take_op(struct lexer *l)
{
	static const struct {
		char text[3];
		unsigned op;
	} pairs[] = { { "==", MR_OP_EQ }, { "!=", MR_OP_NE }, { "<=", MR_OP_LE },
		{ ">=", MR_OP_GE }, { "**", MR_OP_POWER }, { "//", MR_OP_FLOOR } };
	char c = l->src[l->at];

	for (size_t i = 0; i < MR_LEN(pairs); i++)
		if (starts(l, l->at, pairs[i].text)) {
			struct mr_tpl_token *token = add(l, MR_TOK_OP);

			token->op = pairs[i].op;
			token->text = l->src + l->at;
			token->len = 2;
			l->at += 2;
			return MR_OK;
		}
	if (c && strchr("+-*/%~<>=()[]{},.:|", c)) {
		struct mr_tpl_token *token = add(l, MR_TOK_OP);

		token->op = (unsigned char)c;
		token->text = l->src + l->at++;
		token->len = 1;
		return MR_OK;
	}
	if (c > ' ' && c < 0x7f)
		return refuse(l, l->line,
			mr_arena_printf(l->arena, "'%c' has no meaning in a template", c));
	return refuse(l, l->line,
		mr_arena_printf(l->arena, "the byte 0x%02x has no meaning in a template",
			(unsigned)(unsigned char)c));
}

static void take_name(struct lexer *l)
{
	struct mr_tpl_token *token = add(l, MR_TOK_NAME);

	token->text = l->src + l->at;
	while (l->at < l->len && is_name_char(l->src[l->at]))
		l->at++;
	token->len = (size_t)(l->src + l->at - token->text);
}

static enum mr_code take_token(struct lexer *l)
{
	char c = l->src[l->at];

	if (digit_at(l, l->at))
		return take_number(l);
	if (c == '"' || c == '\'')
		return take_string(l);
	if (!is_name_char(c))
		return take_op(l);
	take_name(l);
	return MR_OK;
}

static void skip_space(struct lexer *l)
{
	while (l->at < l->len && is_space(l->src[l->at]))
		go_to(l, l->at + 1);
}

/* The end of the tag, with the sign before it, when it stands here. */
static bool take_close(struct lexer *l, bool is_print)
{
	const char *close = is_print ? "}}" : "%}";
	char c = l->src[l->at];
	char sign = (c == '-' || c == '+') && starts(l, l->at + 1, close) ? c : '\0';

	if (!sign && !starts(l, l->at, close))
		return false;
	add(l, is_print ? MR_TOK_PRINT_END : MR_TOK_BLOCK_END);
	l->at += sign ? 3 : 2;
	after_close(l, sign, is_print);
	return true;
}

/* What stands between the delimiters. */
static enum mr_code take_tag(struct lexer *l)
{
	bool is_print = l->src[l->at + 1] == '{';
	unsigned line = l->line, braces = 0;
	enum mr_code rc = MR_OK;

	add(l, is_print ? MR_TOK_PRINT : MR_TOK_BLOCK);
	l->at += 2;
	if (l->at < l->len && (l->src[l->at] == '-' || l->src[l->at] == '+'))
		l->at++;
	while (!rc) {
		char c;

		skip_space(l);
		if (l->at >= l->len)
			return refuse(l, line,
				is_print ? "the {{ that begins here has no }}"
					 : "the {% that begins here has no %}");
		c = l->src[l->at];
		if (!braces && take_close(l, is_print))
			return MR_OK;
		braces += c == '{';
		braces -= c == '}' && braces;
		rc = take_token(l);
	}
	return rc;
}

enum mr_code mr_tpl_lex(struct mr_arena *arena, const char *name, struct mr_bytes source,
	const struct mr_template_syntax *syntax, const struct mr_tpl_token **out,
	struct mr_err *err)
{
	struct lexer l = { .arena = arena,
		.name = name,
		.src = (const char *)source.data,
		.len = source.len,
		.line = 1,
		.syntax = syntax,
		.err = err };
	enum mr_code rc = MR_OK;

	if (!syntax->keep_trailing_newline && l.len && l.src[l.len - 1] == '\n') {
		l.len--;
		if (l.len && l.src[l.len - 1] == '\r')
			l.len--;
	}
	while (!rc && l.at < l.len) {
		size_t open = find_open(&l, l.at), end;
		char sign;

		add_text(&l, l.at, text_end(&l, l.at, open));
		go_to(&l, open);
		if (open >= l.len)
			break;
		end = match_tag(&l, open, "raw", &sign);
		if (end)
			rc = take_raw(&l, end, sign);
		else
			rc = l.src[open + 1] == '#' ? skip_comment(&l) : take_tag(&l);
	}
	if (rc)
		return rc;
	add(&l, MR_TOK_END);
	*out = l.tokens;
	return MR_OK;
}
