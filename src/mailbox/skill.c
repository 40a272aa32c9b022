/* mailbox/skill.c - installs the skills of agents' mail, looks at them, and removes them. */
#include "mailbox/skill.h"

#include "base/fs.h"
#include "mailbox/session.h"
#include "mailbox/skill_text.h"
#include "text/digest.h"
#include "text/out.h"
#include "text/skill_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME   "SKILL.md"
#define RECORD_NAME ".mailroom-skill.json"
#define OF_GATEWAY  "houmao-process-emails-via-gateway"
#define DIGEST      "sha256"

enum { FILE_BYTES = 1 << 20, DIR_MODE = 0755, FILE_MODE = 0644 };

const char *const mr_mailbox_skill_tools[] = { "claude", "codex", "gemini", NULL };
const char *const mr_mailbox_skill_states[] = { "absent", "current", "outdated", "edited",
	"foreign", NULL };

enum { TOOL_COUNT = MR_LEN(mr_mailbox_skill_tools) - 1 };

/* --- where they are --- */

/* Where a tool keeps its own files, or NULL when nothing says. */
static const char *home_of(struct mr_arena *arena, const struct mr_mailbox_skill_request *request,
	size_t tool)
{
	const char *const variables[] = { request->claude_home, request->codex_home,
		request->gemini_home };
	static const char *const below[] = { "/.claude", "/.codex", "" };

	if (request->home && request->home[0] == '/')
		return request->home;
	if (request->home)
		return mr_arena_printf(arena, "%s/%s", request->directory, request->home);
	if (!mr_str_is_empty(variables[tool]))
		return variables[tool];
	if (mr_str_is_empty(request->user_home))
		return NULL;
	return mr_arena_printf(arena, "%s%s", request->user_home, below[tool]);
}

/* Gemini's home is the directory that has its .gemini. */
static const char *own_directory(struct mr_arena *arena, const char *home, size_t tool)
{
	return mr_str_eq(mr_mailbox_skill_tools[tool], "gemini")
		? mr_arena_printf(arena, "%s/.gemini", home)
		: home;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static const char *path_of(struct mr_arena *arena, const char *directory, const char *name)
{
	return mr_arena_printf(arena, "%s/skills/%s/" FILE_NAME, directory, name);
}

const char *mr_mailbox_skill_of_gateway(struct mr_arena *arena, const char *directory)
{
	bool is_there = mr_fs_exists(AT_FDCWD, path_of(arena, directory, OF_GATEWAY));

	return is_there ? OF_GATEWAY : NULL;
}

static void add_tool(struct mr_arena *arena, size_t tool, const char *directory,
	struct mr_mailbox_skills *out)
{
	for (size_t i = 0; i < mr_mailbox_skill_text_count; i++)
		out->items[out->len++] = (struct mr_mailbox_skill){
			.tool = mr_mailbox_skill_tools[tool],
			.name = mr_mailbox_skill_text[i].name,
			.path = path_of(arena, directory, mr_mailbox_skill_text[i].name),
		};
}

static enum mr_code check_request(struct mr_ctx *cx, const struct mr_mailbox_skill_request *request)
{
	if (request->home && !request->tool)
		return mr_err_set(&cx->err, MR_EINVAL,
			"--home is the home of one program, so it needs --tool");
	if (request->home && mr_str_is_empty(request->home))
		return mr_err_set(&cx->err, MR_EINVAL, "--home must not be empty");
	for (size_t i = 0; i < TOOL_COUNT; i++) {
		if (!request->tool || mr_str_eq(request->tool, mr_mailbox_skill_tools[i]))
			return MR_OK;
	}
	return mr_err_set(&cx->err, MR_EINVAL, "the tool must be claude, codex or gemini, not '%s'",
		request->tool);
}

static enum mr_code find_skills(struct mr_ctx *cx, const struct mr_mailbox_skill_request *request,
	struct mr_mailbox_skills *out)
{
	enum mr_code rc = check_request(cx, request);

	if (rc)
		return rc;
	out->len = 0;
	out->items = mr_arena_array(cx->arena, TOOL_COUNT * mr_mailbox_skill_text_count,
		sizeof(*out->items));
	for (size_t i = 0; i < TOOL_COUNT; i++) {
		const char *home = home_of(cx->arena, request, i);
		const char *own = home ? own_directory(cx->arena, home, i) : NULL;

		if (request->tool && !mr_str_eq(request->tool, mr_mailbox_skill_tools[i]))
			continue;
		if (own && (request->tool || is_directory(own)))
			add_tool(cx->arena, i, own, out);
	}
	if (out->len)
		return MR_OK;
	return mr_err_set(&cx->err, MR_ENOTFOUND,
		request->tool ? "without HOME the home of %s is not known; name it with --home"
			      : "no home of claude, codex or gemini is here; name one with --tool",
		request->tool);
}

/* --- what is there --- */

static struct mr_bytes text_of(const struct mr_mailbox_skill *skill)
{
	for (size_t i = 0; i < mr_mailbox_skill_text_count; i++) {
		const struct mr_mailbox_skill_text *text = &mr_mailbox_skill_text[i];

		if (mr_str_eq(text->name, skill->name))
			return mr_bytes_of(text->data, text->len);
	}
	return mr_bytes_text("");
}

static const char *directory_of(struct mr_arena *arena, const struct mr_mailbox_skill *skill)
{
	return mr_arena_strndup(arena, skill->path, strlen(skill->path) - strlen("/" FILE_NAME));
}

static const char *record_of(struct mr_arena *arena, const struct mr_mailbox_skill *skill)
{
	return mr_arena_printf(arena, "%s/" RECORD_NAME, directory_of(arena, skill));
}

static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* The digest that the record has; NULL without one. */
static const char *recorded(struct mr_ctx *cx, const struct mr_mailbox_skill *skill)
{
	const struct mr_value *record = NULL;

	if (mr_mailbox_session_load(cx, record_of(cx->arena, skill), &record))
		return NULL;
	return mr_mailbox_session_text(record, DIGEST);
}

static enum mr_mailbox_skill_state compare(struct mr_ctx *cx, const struct mr_mailbox_skill *skill,
	struct mr_bytes file)
{
	const char *now = mr_digest_sha256(cx->arena, file);
	const char *written = recorded(cx, skill);

	if (mr_str_eq(now, mr_digest_sha256(cx->arena, text_of(skill))))
		return MR_MAILBOX_SKILL_CURRENT;
	if (!written)
		return MR_MAILBOX_SKILL_FOREIGN;
	return mr_str_eq(now, written) ? MR_MAILBOX_SKILL_OUTDATED : MR_MAILBOX_SKILL_EDITED;
}

static void look(struct mr_ctx *cx, struct mr_mailbox_skill *skill)
{
	struct mr_bytes file = { 0 };
	enum mr_code rc;

	skill->problem = NULL;
	skill->state = MR_MAILBOX_SKILL_ABSENT;
	if (is_link(skill->path) || is_link(directory_of(cx->arena, skill))) {
		skill->state = MR_MAILBOX_SKILL_FOREIGN;
		return;
	}
	rc = mr_fs_read(cx->arena, AT_FDCWD, skill->path, FILE_BYTES, &file, &cx->err);
	if (rc == MR_ENOTFOUND)
		return;
	if (rc) {
		skill->state = MR_MAILBOX_SKILL_FOREIGN;
		skill->problem = mr_arena_strdup(cx->arena, cx->err.msg);
		return;
	}
	skill->state = compare(cx, skill, file);
	skill->problem = mr_skill_file_problem(cx->arena, file, skill->name);
}

enum mr_code mr_mailbox_skill_status(struct mr_ctx *cx,
	const struct mr_mailbox_skill_request *request, struct mr_mailbox_skills *out)
{
	struct mr_mailbox_skills found;
	enum mr_code rc = find_skills(cx, request, &found);

	if (rc)
		return rc;
	for (size_t i = 0; i < found.len; i++)
		look(cx, &found.items[i]);
	*out = found;
	return MR_OK;
}

/* --- in and out --- */

static enum mr_code write_record(struct mr_ctx *cx, const struct mr_mailbox_skill *skill)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_int(&out, "schema_version", 1);
	mr_out_text(&out, "written_by", "mailroom skills install");
	mr_out_text(&out, DIGEST, mr_digest_sha256(cx->arena, text_of(skill)));
	mr_out_end(&out);
	return mr_mailbox_session_write(cx, record_of(cx->arena, skill), mr_out_tree(&out));
}

/* The record comes last: without it a file that says what ours says counts as ours. */
static enum mr_code write_skill(struct mr_ctx *cx, const struct mr_mailbox_skill *skill)
{
	enum mr_code rc =
		mr_fs_make_dirs(AT_FDCWD, directory_of(cx->arena, skill), DIR_MODE, &cx->err);

	if (!rc)
		rc = mr_fs_write(AT_FDCWD, skill->path, text_of(skill), MR_FS_REPLACE, FILE_MODE,
			&cx->err);
	return rc ? rc : write_record(cx, skill);
}

static enum mr_code install_one(struct mr_ctx *cx, bool force, struct mr_mailbox_skill *skill)
{
	static const char *const actions[] = { "installed", "unchanged", "updated", "replaced",
		"replaced" };
	bool is_kept = skill->state == MR_MAILBOX_SKILL_EDITED && !force;
	enum mr_code rc = MR_OK;

	skill->action = is_kept ? "kept" : actions[skill->state];
	if (skill->state == MR_MAILBOX_SKILL_CURRENT && !recorded(cx, skill))
		rc = write_record(cx, skill);
	else if (skill->state != MR_MAILBOX_SKILL_CURRENT && !is_kept)
		rc = write_skill(cx, skill);
	if (!rc)
		look(cx, skill);
	return rc;
}

/* Nothing is written through a link to a directory, whatever is asked for. */
static enum mr_code check_place(struct mr_ctx *cx, bool force, const struct mr_mailbox_skill *skill)
{
	const char *directory = directory_of(cx->arena, skill);

	if (is_link(directory))
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"%s is a link, so somebody else keeps this skill; remove the link first",
			directory);
	if (skill->state == MR_MAILBOX_SKILL_FOREIGN && !force)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"%s was not written by Mailroom; replace it with --force, or move it away",
			skill->path);
	return MR_OK;
}

enum mr_code mr_mailbox_skill_install(struct mr_ctx *cx,
	const struct mr_mailbox_skill_request *request, struct mr_mailbox_skills *out)
{
	struct mr_mailbox_skills found;
	enum mr_code rc = mr_mailbox_skill_status(cx, request, &found);

	if (rc)
		return rc;
	for (size_t i = 0; i < found.len && !rc; i++)
		rc = check_place(cx, request->force, &found.items[i]);
	for (size_t i = 0; i < found.len && !rc; i++)
		rc = install_one(cx, request->force, &found.items[i]);
	if (!rc)
		*out = found;
	return rc;
}

static enum mr_code remove_path(struct mr_ctx *cx, int (*remove)(const char *path),
	const char *path)
{
	/* Other files in a directory keep it. */
	if (remove(path) == 0 || errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST)
		return MR_OK;
	return mr_err_os(&cx->err, errno, "cannot remove %s", path);
}

static enum mr_code uninstall_one(struct mr_ctx *cx, bool force, struct mr_mailbox_skill *skill)
{
	enum mr_mailbox_skill_state state = skill->state;
	enum mr_code rc;

	skill->action = "absent";
	if (state == MR_MAILBOX_SKILL_ABSENT && !recorded(cx, skill))
		return MR_OK;
	skill->action = "kept";
	if (state == MR_MAILBOX_SKILL_FOREIGN || (state == MR_MAILBOX_SKILL_EDITED && !force))
		return MR_OK;
	skill->action = state == MR_MAILBOX_SKILL_ABSENT ? "absent" : "removed";
	/* The record goes last, so that an interrupted removal can be repeated. */
	rc = remove_path(cx, unlink, skill->path);
	if (!rc)
		rc = remove_path(cx, unlink, record_of(cx->arena, skill));
	if (!rc)
		rc = remove_path(cx, rmdir, directory_of(cx->arena, skill));
	if (!rc)
		look(cx, skill);
	return rc;
}

enum mr_code mr_mailbox_skill_uninstall(struct mr_ctx *cx,
	const struct mr_mailbox_skill_request *request, struct mr_mailbox_skills *out)
{
	struct mr_mailbox_skills found;
	enum mr_code rc = mr_mailbox_skill_status(cx, request, &found);

	if (rc)
		return rc;
	for (size_t i = 0; i < found.len && !rc; i++)
		rc = uninstall_one(cx, request->force, &found.items[i]);
	if (!rc)
		*out = found;
	return rc;
}
