/*
 * workspace/templates.h - the templates of a workspace: the built-in ones in two languages, and the
 * user's own in templates/<language>/<key>, which come first.
 *
 * A template of the user that does not parse or render is template_render_failed; the built-in one
 * never takes its place.
 */
#pragma once

#include "workspace/config.h"
#include "workspace/frame.h"

enum mr_work_template {
	MR_WORK_T_AGENTS,
	MR_WORK_T_DO_NOT_EDIT,
	MR_WORK_T_NOTES,
	MR_WORK_T_NOTES_MERGE,
	MR_WORK_T_DRAFT_NEW,
	MR_WORK_T_DRAFT_REPLY,
	MR_WORK_T_SECTION,
	MR_WORK_T_TRIAGE,
	MR_WORK_T_CASE,
	MR_WORK_T_CASE_MESSAGE,
	MR_WORK_T_ARCHIVE,
	MR_WORK_T_ARCHIVE_MESSAGE,
	MR_WORK_T_STATUS_INDEX,
	MR_WORK_T_STATUS_MESSAGE,
	MR_WORK_T_COUNT,
};
extern const char *const mr_work_template_keys[]; /* "workspace/AGENTS.md.j2", ..., NULL */

/* How often templates were rendered in this command, by where they came from. */
struct mr_work_template_use {
	int64_t builtin[MR_WORK_T_COUNT], workspace[MR_WORK_T_COUNT];
};

/* Render it in the workspace's language. Parsed once a command. */
MR_CHECK enum mr_code mr_work_template_render(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_template which, const struct mr_value *context, const char **out);
/* The same with the language given, for a workspace that has no configuration yet; `work` is NULL
 * when there is no workspace at all, and so no templates but the built-in ones. */
MR_CHECK enum mr_code mr_work_template_render_in(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_language language, enum mr_work_template which, const struct mr_value *context,
	const char **out);
/* Parse all that views need into the arena of `cx`: before work in arenas that go sooner. */
MR_CHECK enum mr_code mr_work_template_warm(struct mr_ctx *cx, struct mr_work *work);
/* --- copies of the built-in ones, for the user to change --- */

struct mr_work_templates_export {
	bool force; /* overwrite files that are there */
};
struct mr_work_exported_template {
	const char *language, *template_key, *path, *source; /* source: "workspace" */
	const char *action;                                  /* "exported" "overwritten" "kept" */
};
struct mr_work_templates_exported {
	const char *template_dir;
	bool template_dir_created, force;
	int64_t exported_count, overwritten_count, kept_count;
	int64_t builtin_count;   /* keys that have no file: none */
	int64_t workspace_count; /* keys that have one */
	struct mr_work_exported_template *items;
	size_t len;
};
/* All of them in all languages, or none. template_dir_invalid when a file is in the place of a
 * directory. */
MR_CHECK enum mr_code mr_work_templates_export(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_templates_export *request, struct mr_work_templates_exported *result);

const struct mr_work_template_use *mr_work_template_use(const struct mr_work *work);
/* Set the counts back, when a template is rendered again for the same view. */
void mr_work_template_set_use(struct mr_work *work, const struct mr_work_template_use *use);
