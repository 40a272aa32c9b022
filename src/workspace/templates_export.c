/* workspace/templates_export.c - copies the built-in templates into the workspace. */
#include "workspace/change.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/templates.h"
#include "workspace/templates_builtin.h"

static enum mr_code check_directory(struct mr_ctx *cx, struct mr_work *work, const char *path)
{
	if (!mr_fs_exists(work->dir, path) || mr_work_is_dir(work, path))
		return MR_OK;
	mr_work_refuse(cx, MR_WORK_TEMPLATE_DIR_INVALID, "%s is a file, not a directory", path);
	return mr_work_hint(cx, "Move the file %s out of the way.", path);
}

static void export_one(struct mr_work_change *change, const char *language, const char *key,
	struct mr_work_templates_exported *out)
{
	struct mr_arena *arena = change->cx->arena;
	const char *path = mr_arena_printf(arena, MR_WORK_TEMPLATES "/%s/%s", language, key);
	bool is_there = mr_fs_exists(change->work->dir, path);
	struct mr_work_exported_template *item = &out->items[out->len++];

	*item = (struct mr_work_exported_template){ .language = language,
		.template_key = key,
		.path = path,
		.source = "workspace",
		.action = "kept" };
	out->workspace_count++;
	if (is_there && !out->force) {
		out->kept_count++;
		return;
	}
	item->action = is_there ? "overwritten" : "exported";
	*(is_there ? &out->overwritten_count : &out->exported_count) += 1;
	mr_work_change_write(change, path, mr_work_template_source(language, key));
}

enum mr_code mr_work_templates_export(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_templates_export *request, struct mr_work_templates_exported *result)
{
	struct mr_work_templates_exported done = { .template_dir = MR_WORK_TEMPLATES,
		.force = request->force,
		.template_dir_created = !mr_fs_exists(work->dir, MR_WORK_TEMPLATES) };
	struct mr_work_change change;
	size_t languages = 0;
	enum mr_code rc = check_directory(cx, work, MR_WORK_TEMPLATES);

	for (; !rc && mr_work_language_names[languages]; languages++)
		rc = check_directory(cx, work,
			mr_work_join(cx->arena, MR_WORK_TEMPLATES,
				mr_work_language_names[languages]));
	if (rc)
		return rc;
	done.items = mr_arena_array(cx->arena, languages * MR_WORK_T_COUNT, sizeof(*done.items));
	mr_work_change_begin(cx, work, "templates_export", &change);
	for (size_t i = 0; i < languages; i++)
		for (int key = 0; key < MR_WORK_T_COUNT; key++)
			export_one(&change, mr_work_language_names[i], mr_work_template_keys[key],
				&done);
	rc = mr_work_change_commit(cx, &change);
	if (rc)
		return rc;
	mr_work_change_end(cx, &change);
	*result = done;
	return MR_OK;
}
