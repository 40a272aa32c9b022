/* workspace/merged.c - reads and writes where merged cases went. */
#include "workspace/merged.h"

#include "workspace/layout.h"

enum { CHAIN_MAX = 1000 }; /* merges of merges that are followed */

/* The map of the document, or NULL. */
static const struct mr_value *load(struct mr_ctx *cx, struct mr_work *work)
{
	struct mr_err kept = cx->err;
	const struct mr_value *document = NULL, *cases;

	if (mr_work_read_json(cx, work, MR_WORK_MERGED, &document)) {
		cx->err = kept;
		return NULL;
	}
	cases = mr_value_get(document, "cases");
	return cases && cases->kind == MR_MAP ? cases : NULL;
}

const char *mr_work_merged_into(struct mr_ctx *cx, struct mr_work *work, const char *uid)
{
	const struct mr_value *cases = load(cx, work);
	const char *found = NULL;

	for (int i = 0; cases && i < CHAIN_MAX; i++) {
		const struct mr_value *into = mr_value_get(cases, found ? found : uid);

		if (!into || into->kind != MR_TEXT)
			break;
		found = into->text;
	}
	return found;
}

void mr_work_merged_note(struct mr_ctx *cx, struct mr_work_change *change, const char *uid,
	const char *into)
{
	const struct mr_value *cases = load(cx, change->work);
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "schema_name", "merged_cases");
	mr_out_int(&out, "schema_version", 1);
	mr_out_map(&out, "cases");
	for (size_t i = 0; cases && i < cases->map.len; i++)
		if (!mr_str_eq(cases->map.pairs[i].key, uid))
			mr_out_value(&out, cases->map.pairs[i].key, &cases->map.pairs[i].value);
	mr_out_text(&out, uid, into);
	mr_out_end(&out);
	mr_out_end(&out);
	mr_work_change_json(change, MR_WORK_MERGED, mr_out_tree(&out));
}
