/* text/imap_response.c - IMAP responses: where they end, and the tree of what they say. */
#include "text/imap_response.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* --- where a response ends --- */

/* Words after the tag that are followed by a text for people, which may end like a literal. */
static const struct {
	const char *word;
	enum mr_imap_status status;
} statuses[] = {
	{ "OK", MR_IMAP_OK },
	{ "NO", MR_IMAP_NO },
	{ "BAD", MR_IMAP_BAD },
	{ "BYE", MR_IMAP_BYE },
	{ "PREAUTH", MR_IMAP_PREAUTH },
};

static enum mr_imap_status status_of(const uint8_t *word, size_t len)
{
	for (size_t i = 0; i < MR_LEN(statuses); i++) {
		if (len == strlen(statuses[i].word) &&
			strncasecmp((const char *)word, statuses[i].word, len) == 0)
			return statuses[i].status;
	}
	return MR_IMAP_DATA;
}

/* Is the response a continuation or a status? Decided by its first line. */
static bool is_for_people(const uint8_t *line, size_t len)
{
	const uint8_t *end = line + len;
	const uint8_t *word = memchr(line, ' ', len);
	const uint8_t *after;

	if (len && line[0] == '+')
		return true;
	if (!word)
		return false;
	word++;
	after = memchr(word, ' ', (size_t)(end - word));
	return status_of(word, (size_t)((after ? after : end) - word)) != MR_IMAP_DATA;
}

/* The number of a literal that a line (without its end) announces: "{12}", "{12+}", "~{12}". */
static bool announces_literal(const uint8_t *line, size_t len, size_t *out)
{
	size_t at = len;
	size_t digits = 0;
	size_t value = 0;

	if (at < 3 || line[at - 1] != '}')
		return false;
	at--;
	if (line[at - 1] == '+')
		at--;
	while (at > digits && isdigit(line[at - 1 - digits]))
		digits++;
	if (!digits || digits > 18 || at <= digits || line[at - 1 - digits] != '{')
		return false;
	for (size_t i = 0; i < digits; i++)
		value = value * 10 + (size_t)(line[at - digits + i] - '0');
	*out = value;
	return true;
}

static enum mr_code too_long(const struct mr_imap_measure *m, struct mr_err *err)
{
	return mr_err_set(err, MR_ELIMIT,
		"the server's response is longer than %zu bytes, or a line of it than %d",
		m->max_bytes, MR_IMAP_LINE_BYTES);
}

/* The line at m->line_at ends before `end`. */
static enum mr_code end_line(struct mr_imap_measure *m, struct mr_bytes bytes, size_t end,
	size_t *out_len, struct mr_err *err)
{
	size_t next = end + 1;
	size_t literal = 0;
	size_t len = end - m->line_at;

	if (len && bytes.data[end - 1] == '\r')
		len--;
	m->line_bytes += len;
	if (m->line_bytes > MR_IMAP_LINE_BYTES)
		return too_long(m, err);
	if (!announces_literal(bytes.data + m->line_at, len, &literal) ||
		(m->line_at == 0 && is_for_people(bytes.data, len))) {
		*out_len = next;
		return MR_OK;
	}
	if (literal > m->max_bytes || next > m->max_bytes - literal)
		return too_long(m, err);
	m->at = m->line_at = next + literal;
	return MR_OK;
}

enum mr_code mr_imap_measure(struct mr_imap_measure *measure, struct mr_bytes bytes,
	size_t *out_len, struct mr_err *err)
{
	*out_len = 0;
	while (!*out_len && measure->at < bytes.len) {
		const uint8_t *found =
			memchr(bytes.data + measure->at, '\n', bytes.len - measure->at);
		enum mr_code rc;

		measure->at = found ? (size_t)(found - bytes.data) : bytes.len;
		if (measure->at > measure->max_bytes ||
			measure->at - measure->line_at > MR_IMAP_LINE_BYTES + 1)
			return too_long(measure, err);
		if (!found)
			break;
		rc = end_line(measure, bytes, measure->at, out_len, err);
		if (rc)
			return rc;
	}
	return MR_OK;
}

/* --- the tree --- */

struct parsing {
	struct mr_arena *arena;
	const uint8_t *data;
	size_t at, end; /* the line end at `end` is not looked at */
	struct mr_err *err;
};

static enum mr_code broken(struct parsing *p, const char *what)
{
	return mr_err_set(p->err, MR_EFORMAT,
		"the server's response makes no sense at byte %zu: %s", p->at + 1, what);
}

static bool at_end(const struct parsing *p)
{
	return p->at >= p->end;
}

static bool next_is(const struct parsing *p, char c)
{
	return !at_end(p) && p->data[p->at] == (uint8_t)c;
}

static void skip_blanks(struct parsing *p)
{
	while (next_is(p, ' '))
		p->at++;
}

static enum mr_code parse_quoted(struct parsing *p, struct mr_imap_node *out)
{
	size_t begin = ++p->at;
	bool escaped = false;
	uint8_t *plain;
	size_t len = 0;

	while (!at_end(p) && !next_is(p, '"')) {
		if (next_is(p, '\r') || next_is(p, '\n'))
			return broken(p, "a line ends in quotes");
		if (next_is(p, '\\')) {
			escaped = true;
			p->at++;
		}
		p->at++;
	}
	if (at_end(p))
		return broken(p, "a quote is not closed");
	*out = (struct mr_imap_node){ .kind = MR_IMAP_STRING,
		.bytes = { p->data + begin, p->at - begin } };
	p->at++;
	if (!escaped)
		return MR_OK;
	plain = mr_arena_alloc(p->arena, out->bytes.len + 1);
	for (size_t i = 0; i < out->bytes.len; i++) {
		if (out->bytes.data[i] == '\\' && i + 1 < out->bytes.len)
			i++;
		plain[len++] = out->bytes.data[i];
	}
	out->bytes = (struct mr_bytes){ plain, len };
	return MR_OK;
}

static enum mr_code parse_literal(struct parsing *p, struct mr_imap_node *out)
{
	size_t line_end = p->at;
	size_t value = 0;

	while (line_end < p->end && p->data[line_end] != '\n')
		line_end++;
	if (line_end == p->end)
		return broken(p, "a literal has no bytes");
	if (!announces_literal(p->data + p->at,
		    line_end - p->at - (line_end > p->at && p->data[line_end - 1] == '\r'), &value))
		return broken(p, "not a literal");
	p->at = line_end + 1;
	if (value > p->end - p->at)
		return broken(p, "a literal is cut off");
	*out = (struct mr_imap_node){ .kind = MR_IMAP_STRING, .bytes = { p->data + p->at, value } };
	p->at += value;
	return MR_OK;
}

/* Is it what a section in brackets belongs to? Other atoms, flags say, may have brackets of no
 * meaning. */
static bool has_section(const uint8_t *atom, size_t len)
{
	return (len >= 4 && strncasecmp((const char *)atom, "BODY", 4) == 0) ||
		(len >= 6 && strncasecmp((const char *)atom, "BINARY", 6) == 0);
}

/* An atom, with its section: BODY[HEADER.FIELDS ("A B")]<0>. */
static enum mr_code parse_atom(struct parsing *p, char close, struct mr_imap_node *out)
{
	size_t begin = p->at;
	size_t depth = 0;

	for (; !at_end(p); p->at++) {
		char c = (char)p->data[p->at];

		if (depth == 0 && (c == ' ' || c == '(' || c == ')' || c == '"' || c == close))
			break;
		if (c == '\r' || c == '\n' || c == '\0')
			return broken(p, "a control character");
		depth += c == '[' && (depth || has_section(p->data + begin, p->at - begin));
		depth -= c == ']' && depth > 0;
	}
	if (depth)
		return broken(p, "a bracket is not closed");
	if (p->at == begin)
		return broken(p, "a word is missing");
	*out = (struct mr_imap_node){ .kind = MR_IMAP_ATOM,
		.bytes = { p->data + begin, p->at - begin } };
	if (mr_imap_is(out, "NIL"))
		out->kind = MR_IMAP_NIL;
	return MR_OK;
}

struct growing {
	struct mr_imap_node *items;
	size_t len, room;
};

static struct mr_imap_node *add(struct parsing *p, struct growing *list)
{
	if (list->len == list->room) {
		size_t room = list->room ? list->room * 2 : 8;
		struct mr_imap_node *items = mr_arena_array(p->arena, room, sizeof(*items));

		if (list->len)
			memcpy(items, list->items, list->len * sizeof(*items));
		list->items = items;
		list->room = room;
	}
	return &list->items[list->len++];
}

static enum mr_code parse_list(struct parsing *p, char close, int depth, struct mr_imap_node *out);

static enum mr_code parse_node(struct parsing *p, char close, int depth, struct mr_imap_node *out)
{
	uint8_t c = p->data[p->at];

	if (c == '"')
		return parse_quoted(p, out);
	if (c == '{' || (c == '~' && p->at + 1 < p->end && p->data[p->at + 1] == '{'))
		return parse_literal(p, out);
	if (c != '(')
		return parse_atom(p, close, out);
	if (depth == MR_IMAP_DEPTH)
		return broken(p, "lists are nested too deep");
	p->at++;
	/* No deeper than MR_IMAP_DEPTH. NOLINTNEXTLINE(misc-no-recursion) */
	return parse_list(p, ')', depth + 1, out);
}

/* Nodes up to `close`, which is passed; 0: up to the end. */
static enum mr_code parse_list(struct parsing *p, char close, int depth, struct mr_imap_node *out)
{
	struct growing list = { 0 };

	for (skip_blanks(p); !at_end(p) && !(close && next_is(p, close)); skip_blanks(p)) {
		struct mr_imap_node node;
		/* NOLINTNEXTLINE(misc-no-recursion) */
		enum mr_code rc = parse_node(p, close, depth, &node);

		if (rc)
			return rc;
		*add(p, &list) = node;
	}
	if (close && at_end(p))
		return broken(p, "a list is not closed");
	p->at += close != '\0';
	*out = (struct mr_imap_node){ .kind = MR_IMAP_LIST, .items = list.items, .len = list.len };
	return MR_OK;
}

/* The next word, up to a blank. */
static struct mr_bytes take_word(struct parsing *p)
{
	size_t begin = p->at;

	while (!at_end(p) && !next_is(p, ' '))
		p->at++;
	return (struct mr_bytes){ p->data + begin, p->at - begin };
}

/* Bytes as a text of one line; control characters become '?'. */
static const char *line_text(struct parsing *p)
{
	char *text = mr_arena_strndup(p->arena, (const char *)p->data + p->at, p->end - p->at);

	for (char *c = text; *c; c++)
		*c = (char)((unsigned char)*c < ' ' ? '?' : *c);
	p->at = p->end;
	return text;
}

static enum mr_code parse_status(struct parsing *p, struct mr_imap_response *out)
{
	enum mr_code rc = MR_OK;

	skip_blanks(p);
	if (next_is(p, '[')) {
		p->at++;
		rc = parse_list(p, ']', 0, &out->code);
	}
	if (rc)
		return rc;
	skip_blanks(p);
	out->text = line_text(p);
	return MR_OK;
}

static enum mr_code parse_data(struct parsing *p, struct mr_bytes word,
	struct mr_imap_response *out)
{
	const struct mr_imap_node number = { .kind = MR_IMAP_ATOM, .bytes = word };
	uint64_t value;
	char *name;

	if (mr_imap_number(&number, &value) && value <= UINT32_MAX) {
		out->has_number = true;
		out->number = (uint32_t)value;
		skip_blanks(p);
		word = take_word(p);
	}
	if (!word.len)
		return broken(p, "a word is missing");
	name = mr_arena_strndup(p->arena, (const char *)word.data, word.len);
	for (char *c = name; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	out->name = name;
	return parse_list(p, '\0', 0, &out->data);
}

enum mr_code mr_imap_parse(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_imap_response *out, struct mr_err *err)
{
	struct parsing p = { arena, bytes.data, 0, bytes.len, err };
	struct mr_bytes word;

	*out = (struct mr_imap_response){ .code = { .kind = MR_IMAP_LIST },
		.data = { .kind = MR_IMAP_LIST } };
	while (p.end && (p.data[p.end - 1] == '\n' || p.data[p.end - 1] == '\r'))
		p.end--;
	if (next_is(&p, '+')) {
		p.at++;
		skip_blanks(&p);
		out->is_continuation = true;
		out->text = line_text(&p);
		return MR_OK;
	}
	word = take_word(&p);
	if (!word.len || memchr(word.data, '\0', word.len))
		return broken(&p, "a tag is missing");
	if (word.len != 1 || word.data[0] != '*')
		out->tag = mr_arena_strndup(arena, (const char *)word.data, word.len);
	skip_blanks(&p);
	word = take_word(&p);
	out->status = status_of(word.data, word.len);
	if (out->status == MR_IMAP_DATA)
		return parse_data(&p, word, out);
	out->name = statuses[out->status - MR_IMAP_OK].word;
	return parse_status(&p, out);
}

/* --- nodes --- */

bool mr_imap_is(const struct mr_imap_node *node, const char *atom)
{
	return node && node->kind == MR_IMAP_ATOM && node->bytes.len == strlen(atom) &&
		strncasecmp((const char *)node->bytes.data, atom, node->bytes.len) == 0;
}

bool mr_imap_number(const struct mr_imap_node *node, uint64_t *out)
{
	uint64_t value = 0;

	if (!node || node->kind != MR_IMAP_ATOM || !node->bytes.len || node->bytes.len > 19)
		return false;
	for (size_t i = 0; i < node->bytes.len; i++) {
		if (!isdigit(node->bytes.data[i]))
			return false;
		value = value * 10 + (uint64_t)(node->bytes.data[i] - '0');
	}
	*out = value;
	return true;
}

const char *mr_imap_text(struct mr_arena *arena, const struct mr_imap_node *node)
{
	if (!node || (node->kind != MR_IMAP_ATOM && node->kind != MR_IMAP_STRING))
		return NULL;
	if (node->bytes.len && memchr(node->bytes.data, '\0', node->bytes.len))
		return NULL;
	return node->bytes.len
		? mr_arena_strndup(arena, (const char *)node->bytes.data, node->bytes.len)
		: "";
}

static bool is_key(const struct mr_imap_node *node, const char *key)
{
	size_t len = strlen(key);

	if (len && key[len - 1] != '[')
		return mr_imap_is(node, key);
	return node->kind == MR_IMAP_ATOM && node->bytes.len >= len &&
		strncasecmp((const char *)node->bytes.data, key, len) == 0;
}

const struct mr_imap_node *mr_imap_member(const struct mr_imap_node *list, const char *key)
{
	if (!list || list->kind != MR_IMAP_LIST)
		return NULL;
	for (size_t i = 0; i + 1 < list->len; i += 2) {
		if (is_key(&list->items[i], key))
			return &list->items[i + 1];
	}
	return NULL;
}
