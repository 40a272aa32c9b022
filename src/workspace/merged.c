/* workspace/merged.c - reads in the audit log where merged cases went. */
#include "workspace/merged.h"

#include "workspace/audit.h"

#include <string.h>

enum { CHAIN_MAX = 100 }; /* merges of merges that are followed */

static const char *text_of(const struct mr_value *event, const char *key)
{
	const struct mr_value *value = mr_value_get(event, key);

	return value && value->kind == MR_TEXT ? value->text : "";
}

/* The last merge of that case that is younger than the event `after`; NULL when there is none. */
static const struct mr_value *find(const struct mr_work_events *events, const char *uid,
	const char *after)
{
	for (size_t i = events->len; i; i--) {
		const struct mr_value *event = events->items[i - 1];

		if (mr_str_eq(text_of(event, "kind"), "case_merged") &&
			mr_str_eq(text_of(event, "merged_case_uid"), uid))
			return strcmp(text_of(event, "event_id"), after) > 0 ? event : NULL;
	}
	return NULL;
}

const char *mr_work_merged_into(struct mr_ctx *cx, struct mr_work *work, const char *uid)
{
	struct mr_err kept = cx->err;
	const char *found = NULL, *after = "";

	for (int i = 0; i < CHAIN_MAX; i++) {
		const char *of = found ? found : uid;
		struct mr_work_events events = { 0 };
		const struct mr_value *event = NULL;

		if (mr_work_audit_of(cx, work, "case", of, &events))
			cx->err = kept;
		else
			event = find(&events, of, after);
		if (!event || !*text_of(event, "case_uid"))
			break;
		found = text_of(event, "case_uid");
		after = text_of(event, "event_id");
	}
	return found;
}
