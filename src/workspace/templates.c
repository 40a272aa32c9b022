/* workspace/templates.c - finds, parses once and renders the templates of a workspace. */
#include "workspace/templates.h"

#include "text/template.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/templates_builtin.h"

const char *const mr_work_template_keys[] = {
	[MR_WORK_T_AGENTS] = "workspace/AGENTS.md.j2",
	[MR_WORK_T_DO_NOT_EDIT] = "workspace/DO_NOT_EDIT.txt.j2",
	[MR_WORK_T_NOTES] = "notes/default.md.j2",
	[MR_WORK_T_NOTES_MERGE] = "notes/merge-section.md.j2",
	[MR_WORK_T_DRAFT_NEW] = "draft/new.md.j2",
	[MR_WORK_T_DRAFT_REPLY] = "draft/reply.md.j2",
	[MR_WORK_T_SECTION] = "message/section.md.j2",
	[MR_WORK_T_TRIAGE] = "triage/view.md.j2",
	[MR_WORK_T_CASE] = "case/case.md.j2",
	[MR_WORK_T_CASE_MESSAGE] = "case/message.md.j2",
	[MR_WORK_T_ARCHIVE] = "archive-message/archive.md.j2",
	[MR_WORK_T_ARCHIVE_MESSAGE] = "archive-message/message.md.j2",
	[MR_WORK_T_STATUS_INDEX] = "status/index.md.j2",
	[MR_WORK_T_STATUS_MESSAGE] = "status/message.md.j2",
	NULL,
};

struct mr_work_template_cache {
	const struct mr_template *parsed[2][MR_WORK_T_COUNT];
	bool is_own[2][MR_WORK_T_COUNT]; /* the user's */
	struct mr_work_template_use use;
};

enum { VIEW_BYTES = 64 << 20 };

static struct mr_work_template_cache *cache_of(struct mr_ctx *cx, struct mr_work *work)
{
	if (!work->templates)
		work->templates = mr_arena_alloc(cx->arena, sizeof(*work->templates));
	return work->templates;
}

static enum mr_code refuse(struct mr_ctx *cx, enum mr_work_language language,
	enum mr_work_template which, bool is_own)
{
	return mr_work_refuse(cx, MR_WORK_TEMPLATE_RENDER_FAILED, "template %s/%s (%s): %s",
		mr_work_language_names[language], mr_work_template_keys[which],
		is_own ? "workspace" : "builtin", cx->err.msg);
}

static enum mr_code find(struct mr_ctx *cx, struct mr_work *work, enum mr_work_language language,
	enum mr_work_template which, const struct mr_template **out)
{
	struct mr_work_template_cache *cache = cache_of(cx, work);
	const char *key = mr_work_template_keys[which], *path;
	const struct mr_template **parsed = &cache->parsed[language][which];
	struct mr_bytes source = { 0 };
	enum mr_code rc = MR_OK;
	bool is_own;

	if (!*parsed) {
		path = mr_arena_printf(cx->arena, MR_WORK_TEMPLATES "/%s/%s",
			mr_work_language_names[language], key);
		if (work->root)
			rc = mr_work_read_opt(cx, work, path, &source);
		if (rc)
			return rc;
		is_own = source.data != NULL;
		if (!is_own)
			source = mr_work_template_source(mr_work_language_names[language], key);
		rc = mr_template_parse(cx->arena, key, source, NULL, parsed, &cx->err);
		if (rc)
			return refuse(cx, language, which, is_own);
		cache->is_own[language][which] = is_own;
	}
	*out = *parsed;
	return MR_OK;
}

enum mr_code mr_work_template_render_in(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_language language, enum mr_work_template which, const struct mr_value *context,
	const char **out)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_template *template = NULL;
	struct mr_work_template_cache *cache;
	struct mr_work none = { .dir = -1 };
	enum mr_code rc;

	work = work ? work : &none;
	rc = find(cx, work, language, which, &template);
	if (rc)
		return rc;
	cache = work->templates;
	mr_buf_init(&buf, VIEW_BYTES);
	if (mr_template_render(template, context, NULL, &buf, &cx->err))
		return refuse(cx, language, which, cache->is_own[language][which]);
	*(cache->is_own[language][which] ? &cache->use.workspace[which]
					 : &cache->use.builtin[which]) += 1;
	*out = mr_arena_strndup(cx->arena, mr_buf_text(&buf), buf.len);
	return MR_OK;
}

enum mr_code mr_work_template_render(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_template which, const struct mr_value *context, const char **out)
{
	const struct mr_work_config *config = NULL;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	return rc ? rc
		  : mr_work_template_render_in(cx, work, config->language, which, context, out);
}

enum mr_code mr_work_template_warm(struct mr_ctx *cx, struct mr_work *work)
{
	const struct mr_work_config *config = NULL;
	const struct mr_template *ignored = NULL;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	for (int i = MR_WORK_T_SECTION; !rc && i < MR_WORK_T_COUNT; i++)
		rc = find(cx, work, config->language, (enum mr_work_template)i, &ignored);
	return rc;
}

const struct mr_work_template_use *mr_work_template_use(const struct mr_work *work)
{
	static const struct mr_work_template_use none;

	return work->templates ? &work->templates->use : &none;
}

void mr_work_template_set_use(struct mr_work *work, const struct mr_work_template_use *use)
{
	if (work->templates)
		work->templates->use = *use;
}
