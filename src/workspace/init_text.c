/* workspace/init_text.c - AGENTS.md and DO_NOT_EDIT.txt, from their templates. */
#include "workspace/init_text.h"

#include "text/out.h"
#include "workspace/generation.h"
#include "workspace/templates.h"

/* The language as it was configured, or that of the templates. */
static const char *language_tag(const struct mr_work_config *config)
{
	return config->language_bcp47 ? config->language_bcp47
				      : mr_work_language_names[config->language];
}

static enum mr_code render(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config *config, enum mr_work_template which,
	const struct mr_value *context, struct mr_bytes *out)
{
	const char *text = NULL;
	enum mr_code rc =
		mr_work_template_render_in(cx, work, config->language, which, context, &text);

	if (!rc)
		*out = mr_bytes_text(text);
	return rc;
}

enum mr_code mr_work_init_agents(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config *config, const struct mr_texts *workspaces,
	struct mr_bytes *out)
{
	struct mr_out context;

	mr_out_init_tree(&context, cx->arena);
	mr_out_map(&context, NULL);
	mr_out_text(&context, "language", language_tag(config));
	mr_out_texts(&context, "workspaces", workspaces);
	mr_out_end(&context);
	return render(cx, work, config, MR_WORK_T_AGENTS, mr_out_tree(&context), out);
}

enum mr_code mr_work_init_sentinel(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config *config, struct mr_bytes *out)
{
	struct mr_out context;
	enum mr_code rc;

	mr_out_init_tree(&context, cx->arena);
	mr_out_map(&context, NULL);
	mr_out_text(&context, "language", language_tag(config));
	mr_out_end(&context);
	rc = render(cx, work, config, MR_WORK_T_DO_NOT_EDIT, mr_out_tree(&context), out);
	if (!rc)
		*out = mr_bytes_text(mr_arena_printf(cx->arena, "%.*s%s" MR_WORK_LAYOUT_LINE "%d\n",
			(int)out->len, (const char *)out->data,
			out->len && out->data[out->len - 1] != '\n' ? "\n" : "",
			MR_WORK_LAYOUT_VERSION));
	return rc;
}
