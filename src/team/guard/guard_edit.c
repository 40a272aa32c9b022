/* team/guard/guard_edit.c - finds the files that a coding agent's tool call is about to change. */
#include "team/guard/guard.h"

#include "base/fs.h"
#include "text/json.h"

#include <string.h>
#include <sys/stat.h>

enum { INPUT_BYTES = 64 << 20, PATHS_MAX = 1000, CONFIG_BYTES = 1 << 20, LINK_BYTES = 8192 };

/* Members that name the file of a tool call. */
static const char *const path_keys[] = { "file_path", "notebook_path", "path", "filePath",
	"target_file", "filename", "file", "source", "destination", "old_path", "new_path",
	"source_path", "destination_path", "paths", "file_paths", "files", NULL };
/* Members that may contain more of the same. */
static const char *const list_keys[] = { "edits", "files", "changes", "operations", NULL };
/* Members that hold a patch, which names its files. */
static const char *const patch_keys[] = { "patch", "input", "command", "diff", NULL };
static const char *const patch_lines[] = { "*** Add File: ", "*** Update File: ",
	"*** Delete File: ", "*** Move to: " };
/* Words in the names of tools that change files. */
static const char *const writing_words[] = { "edit", "write", "replace", "patch", "create",
	"delete", "remove", "move", "rename", "insert", "append", "save", "update", NULL };

struct reading {
	struct mr_arena *arena;
	const char *cwd;
	struct mr_texts paths;
	bool has_patch; /* a whole one, also in a shell's command */
};

static const char *text_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static void add_path(struct reading *r, const char *path)
{
	static const char file_url[] = "file://";

	if (mr_str_starts(path, file_url))
		path += strlen(file_url);
	if (!*path || r->paths.len == PATHS_MAX)
		return;
	if (*path != '/')
		path = mr_arena_printf(r->arena, "%s/%s", r->cwd, path);
	if (!mr_texts_has(&r->paths, path))
		r->paths.items[r->paths.len++] = path;
}

static void add_value(struct reading *r, const struct mr_value *value)
{
	if (value && value->kind == MR_TEXT)
		add_path(r, value->text);
	for (size_t i = 0; value && value->kind == MR_LIST && i < value->list.len; i++) {
		if (value->list.items[i].kind == MR_TEXT)
			add_path(r, value->list.items[i].text);
	}
}

static void add_patch(struct reading *r, const char *text)
{
	r->has_patch = r->has_patch || strstr(text, "*** Begin Patch\n");
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		for (size_t i = 0; i < MR_LEN(patch_lines); i++) {
			const char *name = line + strlen(patch_lines[i]);

			if (mr_str_starts(line, patch_lines[i]))
				add_path(r,
					mr_arena_strndup(r->arena, name, strcspn(name, "\r\n")));
		}
		if (!*line)
			break;
	}
}

static void add_input(struct reading *r, const struct mr_value *input, int depth)
{
	for (size_t i = 0; path_keys[i]; i++)
		add_value(r, mr_value_get(input, path_keys[i]));
	for (size_t i = 0; patch_keys[i]; i++) {
		const struct mr_value *value = mr_value_get(input, patch_keys[i]);

		if (value && value->kind == MR_TEXT)
			add_patch(r, value->text);
		for (size_t k = 0; value && value->kind == MR_LIST && k < value->list.len; k++) {
			if (value->list.items[k].kind == MR_TEXT)
				add_patch(r, value->list.items[k].text);
		}
	}
	for (size_t i = 0; depth > 0 && list_keys[i]; i++) {
		const struct mr_value *list = mr_value_get(input, list_keys[i]);

		for (size_t k = 0; list && list->kind == MR_LIST && k < list->list.len; k++) {
			if (list->list.items[k].kind == MR_MAP)
				add_input(r, &list->list.items[k], depth - 1);
		}
	}
}

/* Of Claude Code, Codex and Gemini CLI; others have names of their own for it. */
static const char *session_of(const struct mr_value *map)
{
	const char *session = text_at(map, "session_id");

	session = session ? session : text_at(map, "conversation_id");
	return mr_str_is_empty(session) ? NULL : session;
}

/* By its name; without a name the hook is taken to be for a writing tool. */
static bool is_writing(struct mr_arena *arena, const char *tool)
{
	const char *name = mr_str_lower(arena, tool);

	for (size_t i = 0; writing_words[i]; i++) {
		if (strstr(name, writing_words[i]))
			return true;
	}
	return !*name;
}

enum mr_code mr_team_guard_edit_read(struct mr_arena *arena, struct mr_bytes text, const char *here,
	struct mr_team_guard_edit *out, struct mr_err *err)
{
	const struct mr_json_limits limits = { INPUT_BYTES, 64, 1000000 };
	struct reading r = { .arena = arena };
	const struct mr_value *map = NULL, *input;
	const char *tool;
	enum mr_code rc = mr_json_parse(arena, text, &limits, &map, err);

	if (rc)
		return rc;
	if (map->kind != MR_MAP)
		return mr_err_set(err, MR_EFORMAT, "must be an object, not %s",
			mr_kind_name(map->kind));
	tool = text_at(map, "tool_name");
	tool = tool ? tool : text_at(map, "toolName");
	r.cwd = text_at(map, "cwd");
	r.cwd = r.cwd && *r.cwd == '/' ? r.cwd : here;
	r.paths.items = mr_arena_array(arena, PATHS_MAX + 1, sizeof(*r.paths.items));
	input = mr_value_get(map, "tool_input");
	input = input ? input : mr_value_get(map, "toolInput");
	add_input(&r, input ? input : map, 1);
	*out = (struct mr_team_guard_edit){
		.session = session_of(map),
		.tool = tool ? tool : "",
		.writes = is_writing(arena, tool ? tool : "") || r.has_patch,
		.cwd = r.cwd,
		.paths = r.paths,
	};
	return MR_OK;
}

/* --- other moments --- */

enum { ANSWER_DEPTH = 8 };

/* The JSON that a text is, perhaps between the marks of Gemini CLI; NULL: it is none. */
static const struct mr_value *json_in(struct mr_arena *arena, const char *text)
{
	static const char begin[] = "<untrusted_context>\n", end[] = "\n</untrusted_context>";
	const struct mr_value *value = NULL;
	const char *last;
	struct mr_err ignored;

	if (mr_str_starts(text, begin)) {
		text += strlen(begin);
		last = strstr(text, end);
		text = last ? mr_arena_strndup(arena, text, (size_t)(last - text)) : text;
	}
	if ((*text != '{' && *text != '[') ||
		mr_json_parse(arena, mr_bytes_text(text), NULL, &value, &ignored))
		return NULL;
	return value;
}

/*
 * The name of an agent in what a tool answered: {"agent": {"name"}}, or {"name", "program"}, as an
 * object, or as JSON in a text, wherever the client puts it.
 */
static const char *name_in(struct mr_arena *arena, const struct mr_value *value, int depth)
{
	const char *name = NULL;

	if (!value || depth == 0)
		return NULL;
	if (value->kind == MR_TEXT)
		return name_in(arena, json_in(arena, value->text), depth - 1);
	if (value->kind == MR_MAP) {
		name = text_at(mr_value_get(value, "agent"), "name");
		if (!name && text_at(value, "program"))
			name = text_at(value, "name");
		for (size_t i = 0; i < value->map.len && !name; i++)
			name = name_in(arena, &value->map.pairs[i].value, depth - 1);
	}
	for (size_t i = 0; value->kind == MR_LIST && i < value->list.len && !name; i++)
		name = name_in(arena, &value->list.items[i], depth - 1);
	return name;
}

enum mr_code mr_team_guard_event_read(struct mr_arena *arena, struct mr_bytes text,
	const char *here, struct mr_team_guard_event *out, struct mr_err *err)
{
	const struct mr_json_limits limits = { INPUT_BYTES, 64, 1000000 };
	const struct mr_value *map = NULL, *repeated;
	const char *name, *tool, *cwd;
	enum mr_code rc = mr_json_parse(arena, text, &limits, &map, err);

	if (rc)
		return rc;
	if (map->kind != MR_MAP)
		return mr_err_set(err, MR_EFORMAT, "must be an object, not %s",
			mr_kind_name(map->kind));
	name = text_at(map, "hook_event_name");
	tool = text_at(map, "tool_name");
	cwd = text_at(map, "cwd");
	repeated = mr_value_get(map, "stop_hook_active");
	*out = (struct mr_team_guard_event){
		.name = name ? name : "",
		.session = session_of(map),
		.tool = tool ? tool : "",
		.cwd = cwd && *cwd == '/' ? cwd : here,
		.is_repeated = repeated && repeated->kind == MR_BOOL && repeated->boolean,
		.input = mr_value_get(map, "tool_input"),
		.given = name_in(arena, mr_value_get(map, "tool_response"), ANSWER_DEPTH),
	};
	return MR_OK;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* "gitdir: <path>" of a linked work tree, whose "commondir" says where the rest is. */
static const char *common_dir(struct mr_ctx *cx, const char *top)
{
	const char *dot_git = mr_arena_printf(cx->arena, "%s/.git", top);
	const char *text, *directory;
	struct mr_bytes bytes;
	struct mr_err ignored = { 0 };

	if (is_directory(dot_git))
		return dot_git;
	if (mr_fs_read(cx->arena, AT_FDCWD, dot_git, LINK_BYTES, &bytes, &ignored) ||
		!mr_str_starts((const char *)bytes.data, "gitdir:"))
		return NULL;
	text = mr_str_trim(cx->arena, (const char *)bytes.data + strlen("gitdir:"));
	directory = *text == '/' ? text : mr_arena_printf(cx->arena, "%s/%s", top, text);
	if (mr_fs_read(cx->arena, AT_FDCWD, mr_arena_printf(cx->arena, "%s/commondir", directory),
		    LINK_BYTES, &bytes, &ignored))
		return directory; /* a submodule's */
	text = mr_str_trim(cx->arena, (const char *)bytes.data);
	return mr_team_guard_real(cx->arena,
		*text == '/' ? text : mr_arena_printf(cx->arena, "%s/%s", directory, text));
}

/* "ignorecase = true" in the repository's own configuration, where git init puts it. */
static bool ignores_case(struct mr_ctx *cx, const char *common)
{
	struct mr_bytes bytes;
	struct mr_err ignored = { 0 };
	struct mr_texts lines;
	bool value = false;

	if (mr_fs_read(cx->arena, AT_FDCWD, mr_arena_printf(cx->arena, "%s/config", common),
		    CONFIG_BYTES, &bytes, &ignored))
		return false;
	lines = mr_str_split(cx->arena, mr_str_lower(cx->arena, (const char *)bytes.data), '\n');
	for (size_t i = 0; i < lines.len; i++) {
		const char *equals = strchr(lines.items[i], '=');

		if (mr_str_starts(lines.items[i], "ignorecase"))
			value = !equals ||
				(mr_str_to_bool(mr_str_trim(cx->arena, equals + 1), &value) &&
					value);
	}
	return value;
}

static bool is_inside(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	return len > 1 && strncmp(path, directory, len) == 0 && path[len] == '/';
}

bool mr_team_guard_locate(struct mr_ctx *cx, const char *path, const char *here,
	struct mr_team_guard_place *place, const char **out_inside)
{
	char *directory = mr_arena_strdup(cx->arena, path);
	const char *common, *first;
	char *slash;

	while ((slash = strrchr(directory, '/')) && slash != directory) {
		*slash = '\0';
		if (!mr_fs_exists(AT_FDCWD, mr_arena_printf(cx->arena, "%s/.git", directory)))
			continue;
		*place = (struct mr_team_guard_place){ .top = directory, .run = directory };
		common = common_dir(cx, directory);
		first = common && mr_str_ends(common, "/.git")
			? mr_arena_strndup(cx->arena, common, strlen(common) - strlen("/.git"))
			: directory;
		if (!mr_str_eq(first, directory))
			place->main = first;
		if (is_inside(here, directory))
			place->near = here;
		place->ignore_case = common && ignores_case(cx, common);
		*out_inside = path + strlen(directory) + 1;
		return true;
	}
	if (!is_inside(path, here))
		return false;
	*place = (struct mr_team_guard_place){ .top = here, .run = here };
	*out_inside = path + strlen(here) + 1;
	return true;
}
