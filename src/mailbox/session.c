/* mailbox/session.c - reads the manifest of an agent's session, and changes its binding. */
#include "mailbox/session.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/lock.h"
#include "mailbox/limits.h"
#include "text/json.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define LOCK_NAME ".mailbox-binding.lock"

enum { FILE_MODE = 0600 };

const char *mr_mailbox_session_text(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	if (!value || value->kind != MR_TEXT || value->text[strspn(value->text, " \t\r\n")] == '\0')
		return NULL;
	return value->text;
}

struct mr_value mr_mailbox_session_with(struct mr_arena *arena, const struct mr_value *map,
	const char *key, struct mr_value value)
{
	struct mr_value out = { .kind = MR_MAP };
	bool found = false;

	out.map.pairs = mr_arena_array(arena, map->map.len + 1, sizeof(*out.map.pairs));
	for (size_t i = 0; i < map->map.len; i++) {
		out.map.pairs[i] = map->map.pairs[i];
		if (mr_str_eq(out.map.pairs[i].key, key)) {
			out.map.pairs[i].value = value;
			found = true;
		}
	}
	out.map.len = map->map.len;
	if (!found)
		out.map.pairs[out.map.len++] = (struct mr_pair){ key, value };
	return out;
}

enum mr_code mr_mailbox_session_load(struct mr_ctx *cx, const char *path,
	const struct mr_value **out)
{
	const struct mr_value *value = NULL;
	struct mr_bytes bytes;
	enum mr_code rc =
		mr_fs_read(cx->arena, AT_FDCWD, path, MR_MAILBOX_SESSION_BYTES, &bytes, &cx->err);

	if (rc)
		return rc;
	rc = mr_json_parse(cx->arena, bytes, NULL, &value, &cx->err);
	if (!rc && value->kind != MR_MAP)
		rc = mr_err_set(&cx->err, MR_EFORMAT, "it holds no JSON object");
	if (rc)
		return mr_err_wrap(&cx->err, "%s cannot be read", path);
	*out = value;
	return MR_OK;
}

enum mr_code mr_mailbox_session_write(struct mr_ctx *cx, const char *path,
	const struct mr_value *value)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer json;
	struct stat st;
	mode_t mode = stat(path, &st) == 0 ? st.st_mode & 0777 : FILE_MODE;
	enum mr_code rc;

	mr_buf_init(&buf, MR_MAILBOX_SESSION_BYTES);
	mr_json_init(&json, &buf, MR_JSON_INDENTED | MR_JSON_SORTED | MR_JSON_ASCII);
	mr_json_value(&json, value);
	mr_buf_putc(&buf, '\n');
	rc = mr_buf_check(&buf, path, &cx->err);
	return rc ? rc
		  : mr_fs_write(AT_FDCWD, path, mr_buf_bytes(&buf), MR_FS_REPLACE, mode, &cx->err);
}

/* The same under one of two names: older manifests have it only in the section `runtime`. */
static const char *text_of(const struct mr_value *value, const char *section, const char *key)
{
	const char *text = mr_mailbox_session_text(value, key);

	return text ? text : mr_mailbox_session_text(mr_value_get(value, section), key);
}

static enum mr_code read_binding(struct mr_ctx *cx, const struct mr_value *value,
	struct mr_mailbox_binding *out)
{
	struct mr_issues issues;
	struct mr_cursor root = mr_cursor_root(value, &issues);
	struct mr_cursor plan = mr_cursor_key(&root, "launch_plan");
	struct mr_cursor mailbox = mr_cursor_key(&plan, "mailbox");

	mr_issues_init(&issues, cx->arena);
	if (!plan.value || plan.value->kind != MR_MAP)
		return mr_err_set(&cx->err, MR_EFORMAT,
			"it has no launch_plan: it is not the manifest of a session");
	if (!mr_cursor_is_present(&mailbox) || mr_mailbox_binding_read(cx->arena, &mailbox, out))
		return MR_OK;
	mr_err_issues(&cx->err, &issues, "the mailbox binding is not valid");
	/* They are about the file, not about what the caller sent. */
	cx->err.issues = NULL;
	return cx->err.code;
}

/* Absolute and without links, so that it can be compared. */
static enum mr_code find_file(struct mr_ctx *cx, const char *path, const char **out)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"there is no session manifest at %s; the agent's session has ended, or "
			"its directory was moved: name the agent with --agent-name",
			path);
	*out = mr_arena_strdup(cx->arena, real);
	return MR_OK;
}

enum mr_code mr_mailbox_session_read(struct mr_ctx *cx, const char *path,
	struct mr_mailbox_session *out)
{
	struct mr_mailbox_session found = { NULL };
	enum mr_code rc = find_file(cx, path, &found.path);

	if (!rc)
		rc = mr_mailbox_session_load(cx, found.path, &found.value);
	if (rc)
		return rc;
	rc = read_binding(cx, found.value, &found.binding);
	if (rc)
		return mr_err_wrap(&cx->err, "%s", found.path);
	found.dir = mr_arena_strndup(cx->arena, found.path,
		(size_t)(strrchr(found.path, '/') - found.path));
	found.agent_name = mr_mailbox_session_text(found.value, "agent_name");
	found.agent_id = mr_mailbox_session_text(found.value, "agent_id");
	found.backend = mr_mailbox_session_text(found.value, "backend");
	found.tool = mr_mailbox_session_text(found.value, "tool");
	found.tmux_session = mr_mailbox_session_text(found.value, "tmux_session_name");
	found.session_id =
		mr_mailbox_session_text(mr_value_get(found.value, "runtime"), "session_id");
	found.generation_id = text_of(found.value, "runtime", "registry_generation_id");
	*out = found;
	return MR_OK;
}

enum mr_code mr_mailbox_session_bind(struct mr_ctx *cx, struct mr_mailbox_session *manifest,
	const struct mr_mailbox_binding *binding)
{
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	struct mr_value plan, changed;
	enum mr_code rc =
		mr_lock_take(AT_FDCWD, mr_arena_printf(cx->arena, "%s/" LOCK_NAME, manifest->dir),
			"mailbox binding", MR_MAILBOX_LOCK_TIMEOUT_MS, cx->clock, &lock, &cx->err);

	if (!rc)
		rc = mr_mailbox_session_read(cx, manifest->path, manifest);
	if (rc)
		return rc;
	plan = mr_mailbox_session_with(cx->arena, mr_value_get(manifest->value, "launch_plan"),
		"mailbox", mr_mailbox_binding_value(cx->arena, binding, false));
	changed = mr_mailbox_session_with(cx->arena, manifest->value, "launch_plan", plan);
	rc = mr_mailbox_session_write(cx, manifest->path, &changed);
	if (rc)
		return rc;
	manifest->value = mr_arena_memdup(cx->arena, &changed, sizeof(changed));
	manifest->binding = *binding;
	return MR_OK;
}
