/* text/skill_file.c - checks whether an agent can load the file of a skill. */
#include "text/skill_file.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

size_t mr_skill_file_body(const char *text)
{
	const char *close;

	if (!mr_str_starts(text, "---\n"))
		return 0;
	close = strstr(text + 3, "\n---\n");
	return close ? (size_t)(close - text) + strlen("\n---\n") : 0;
}

char *mr_skill_file_text(struct mr_arena *arena, struct mr_bytes file)
{
	char *text = mr_arena_alloc(arena, file.len + 1);
	size_t len = 0;

	for (size_t i = 0; i < file.len && file.data[i]; i++)
		if (file.data[i] != '\r' || i + 1 == file.len || file.data[i + 1] != '\n')
			text[len++] = (char)file.data[i];
	text[len] = '\0';
	return text;
}

/* A text in quotes, or a plain one that YAML takes for a text whatever it says. */
static bool is_plain(const char *value)
{
	char quote = value[0];
	size_t len = strlen(value);

	if (quote == '"' || quote == '\'')
		return len >= 2 && value[len - 1] == quote;
	return !strstr(value, ": ") && !mr_str_ends(value, ":");
}

static const char *unquoted(struct mr_arena *arena, const char *value)
{
	size_t len = strlen(value);

	return value[0] == '"' || value[0] == '\'' ? mr_arena_strndup(arena, value + 1, len - 2)
						   : value;
}

struct head {
	const char *name, *description;
};

static const char *read_line(struct mr_arena *arena, const char *line, struct head *head)
{
	const char *colon = strchr(line, ':');
	const char *key, *value;

	if (!*line || line[0] == '#')
		return NULL;
	if (isspace((unsigned char)line[0]) || line[0] == '-' || !colon)
		return mr_arena_printf(arena, "the front matter is nested at the line '%s'", line);
	key = mr_str_trim(arena, mr_arena_strndup(arena, line, (size_t)(colon - line)));
	value = mr_str_trim(arena, colon + 1);
	if (!*value || !is_plain(value))
		return mr_arena_printf(arena,
			"the value of '%s' in the front matter must be one "
			"line of text, in quotes when it has a colon",
			key);
	if (mr_str_eq(key, "name"))
		head->name = unquoted(arena, value);
	else if (mr_str_eq(key, "description"))
		head->description = unquoted(arena, value);
	return NULL;
}

const char *mr_skill_file_problem(struct mr_arena *arena, struct mr_bytes file, const char *name)
{
	const char *text = mr_skill_file_text(arena, file);
	size_t end = mr_skill_file_body(text);
	struct head head = { 0 };

	if (!end)
		return "it does not begin with front matter between two lines \"---\"";
	for (const char *at = text + strlen("---\n"); at < text + end - strlen("---\n");) {
		const char *newline = strchr(at, '\n');
		const char *problem = read_line(arena,
			mr_arena_strndup(arena, at, (size_t)(newline - at)), &head);

		if (problem)
			return problem;
		at = newline + 1;
	}
	if (!mr_str_eq(head.name, name))
		return mr_arena_printf(arena, "the name in the front matter is not %s", name);
	if (mr_str_is_empty(head.description))
		return "the front matter has no description";
	return NULL;
}
