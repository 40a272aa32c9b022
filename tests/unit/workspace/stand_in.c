/* tests/unit/workspace/stand_in.c - contacts and built-in templates, until the real ones are
 * there. */
#include "workspace/contact.h"
#include "workspace/templates.h"

enum mr_code mr_work_contact_of(struct mr_ctx *cx, struct mr_work *work, const char *email,
	const char **out_uid, const char **out_name)
{
	(void)cx;
	(void)work;
	(void)email;
	*out_uid = *out_name = NULL;
	return MR_OK;
}

enum mr_code mr_work_contact_count(struct mr_ctx *cx, struct mr_work *work, int64_t *out_active,
	int64_t *out_archived)
{
	(void)cx;
	(void)work;
	*out_active = *out_archived = 0;
	return MR_OK;
}

struct mr_bytes mr_work_template_builtin(enum mr_work_language language,
	enum mr_work_template which)
{
	(void)language;
	if (which == MR_WORK_T_NOTES)
		return mr_bytes_text("# Notes\n\n\n");
	if (which == MR_WORK_T_NOTES_MERGE)
		return mr_bytes_text("\n## Merged from {{ other_case_uid }}\n\n{{ other_body }}");
	return mr_bytes_text("view\n");
}
