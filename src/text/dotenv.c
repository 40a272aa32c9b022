/* text/dotenv.c - Parses .env files. */
#include "text/dotenv.h"

#include "base/utf8.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_name_char(char c, bool first)
{
	return c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
		(!first && c >= '0' && c <= '9');
}

/* The rest of a line after a quoted value may only be blank or a comment. */
static bool is_rest_empty(const char *rest)
{
	while (is_blank(*rest))
		rest++;
	return !*rest || *rest == '#';
}

static enum mr_code read_single(struct mr_arena *arena, const char *text, const char **out,
	const char **rest, struct mr_err *err)
{
	const char *end = strchr(text, '\'');

	if (!end)
		return mr_err_set(err, MR_EFORMAT, "the single quote is not closed");
	*out = mr_arena_strndup(arena, text, (size_t)(end - text));
	*rest = end + 1;
	return MR_OK;
}

static enum mr_code read_double(struct mr_arena *arena, const char *text, const char **out,
	const char **rest, struct mr_err *err)
{
	static const char escapes[] = "n\nr\rt\t\"\"\\\\$$";
	char *value = mr_arena_alloc(arena, strlen(text) + 1);
	size_t len = 0;

	for (; *text && *text != '"'; text++) {
		const char *e = escapes;

		if (*text != '\\') {
			value[len++] = *text;
			continue;
		}
		text++;
		while (*e && *e != *text)
			e += 2;
		if (!*e || !*text)
			return mr_err_set(err, MR_EFORMAT, "unknown escape \\%.1s in double quotes",
				text);
		value[len++] = e[1];
	}
	if (!*text)
		return mr_err_set(err, MR_EFORMAT, "the double quote is not closed");
	*out = value;
	*rest = text + 1;
	return MR_OK;
}

static const char *read_bare(struct mr_arena *arena, const char *text)
{
	size_t len = 0;

	while (text[len] && !(text[len] == '#' && len && is_blank(text[len - 1])))
		len++;
	if (text[0] == '#')
		len = 0;
	while (len && is_blank(text[len - 1]))
		len--;
	return mr_arena_strndup(arena, text, len);
}

/* Read one line; *out has no name when there is nothing in it. */
static enum mr_code read_line(struct mr_arena *arena, const char *line, struct mr_dotenv_entry *out,
	struct mr_err *err)
{
	const char *rest = "";
	size_t len = 0;
	enum mr_code rc = MR_OK;

	while (is_blank(*line))
		line++;
	if (!*line || *line == '#')
		return MR_OK;
	if (mr_str_starts(line, "export "))
		line += strspn(line + 7, " \t") + 7;
	while (is_name_char(line[len], len == 0))
		len++;
	if (len == 0)
		return mr_err_set(err, MR_EFORMAT, "expected NAME=value");
	out->name = mr_arena_strndup(arena, line, len);
	line += len;
	while (is_blank(*line))
		line++;
	if (*line++ != '=')
		return mr_err_set(err, MR_EFORMAT, "expected '=' after %s", out->name);
	while (is_blank(*line))
		line++;
	if (*line == '\'')
		rc = read_single(arena, line + 1, &out->value, &rest, err);
	else if (*line == '"')
		rc = read_double(arena, line + 1, &out->value, &rest, err);
	else
		out->value = read_bare(arena, line);
	if (rc)
		return rc;
	if (!is_rest_empty(rest))
		return mr_err_set(err, MR_EFORMAT, "text after the closing quote of %s", out->name);
	return MR_OK;
}

enum mr_code mr_dotenv_parse(struct mr_arena *arena, struct mr_bytes text, struct mr_dotenv *out,
	struct mr_err *err)
{
	struct mr_dotenv env = { 0 };
	const char *at = (const char *)text.data;
	const char *end = at + text.len;
	size_t bad_at;

	if (text.len > MR_DOTENV_BYTES)
		return mr_err_set(err, MR_ELIMIT, "longer than %d bytes", MR_DOTENV_BYTES);
	if (!mr_utf8_is_valid(at, text.len, &bad_at))
		return mr_err_set(err, MR_EFORMAT, "not UTF-8 at byte %zu", bad_at);
	if (text.len && memchr(at, '\0', text.len))
		return mr_err_set(err, MR_EFORMAT, "a NUL byte");
	env.entries = mr_arena_array(arena, MR_DOTENV_ENTRIES, sizeof(*env.entries));
	for (size_t line = 1; at < end; line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at);
		struct mr_dotenv_entry entry = { .line = line };

		if (len && at[len - 1] == '\r')
			len--;
		if (read_line(arena, mr_arena_strndup(arena, at, len), &entry, err))
			return mr_err_wrap(err, "line %zu", line);
		if (entry.name && env.len == MR_DOTENV_ENTRIES)
			return mr_err_set(err, MR_ELIMIT, "line %zu: more than %d entries", line,
				MR_DOTENV_ENTRIES);
		if (entry.name)
			env.entries[env.len++] = entry;
		at = newline ? newline + 1 : end;
	}
	*out = env;
	return MR_OK;
}
