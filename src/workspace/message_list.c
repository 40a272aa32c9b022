/* workspace/message_list.c - lists messages by what is asked for, and those that wait in triage. */
#include "text/out.h"
#include "text/time.h"
#include "workspace/error.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/message.h"
#include "workspace/status.h"

static enum mr_code fill_item(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_brief *brief, struct mr_work_listed_message *out)
{
	*out = (struct mr_work_listed_message){ .message_id = brief->message_id,
		.has_details = true,
		.status = mr_work_status_names[brief->status],
		.from = brief->from ? brief->from : "",
		.subject = brief->subject ? brief->subject : "",
		.time = brief->has_time ? mr_time_format(cx->arena, brief->time_us, MR_TIME_SECONDS)
					: NULL,
		.attachment_count = brief->attachment_count };
	return mr_work_message_view(cx, work, brief->message_id, &out->view_path);
}

/* --- message list --- */

static enum mr_code read_time(struct mr_ctx *cx, const char *option, const char *text, int64_t *out)
{
	*out = 0;
	if (!text)
		return MR_OK;
	if (mr_time_parse(text, MR_TIME_LENIENT, out, &cx->err)) {
		mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "%s %s is not a time: %s", option, text,
			mr_arena_strdup(cx->arena, cx->err.msg));
		return mr_work_hint(cx,
			"Write a date (2026-05-04) or a time (2026-05-04T09:30:00Z).");
	}
	if (*out == 0)
		*out = 1; /* 0 would mean that nothing is asked for */
	return MR_OK;
}

static enum mr_code read_status(struct mr_ctx *cx, const char *status)
{
	struct mr_texts all = { (const char **)mr_work_status_names, MR_WORK_STATUS_COUNT };

	if (!status || mr_texts_has(&all, status))
		return MR_OK;
	return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
		"'%s' is no status of a message: use one of %s", status,
		mr_str_join(cx->arena, &all, ", "));
}

static enum mr_code read_filter(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_message_list *request, struct mr_work_filter *out)
{
	struct mr_work_brief after = { 0 };
	enum mr_code rc = read_status(cx, request->status);

	*out = (struct mr_work_filter){ .status = request->status,
		.from = request->from,
		.subject = request->subject,
		.after_id = request->after,
		.newest_first = true,
		/* One more shows whether there are more. */
		.limit = request->limit ? request->limit + 1 : 0 };
	if (!rc)
		rc = read_time(cx, "--since", request->since, &out->since_us);
	if (!rc)
		rc = read_time(cx, "--until", request->until, &out->until_us);
	if (!rc && request->after)
		rc = mr_work_check_message_id(cx, request->after);
	if (!rc && request->after)
		rc = mr_work_index_message(cx, work, request->after, &after);
	return rc;
}

enum mr_code mr_work_message_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_message_list *request, struct mr_work_message_listed *result)
{
	struct mr_work_message_listed listed = { 0 };
	struct mr_work_filter filter;
	struct mr_work_briefs found = { 0 };
	enum mr_code rc = read_filter(cx, work, request, &filter);

	if (!rc)
		rc = mr_work_index_list(cx, work, &filter, &found);
	if (rc)
		return rc;
	if (request->limit && found.len > (size_t)request->limit) {
		found.len = (size_t)request->limit;
		listed.next_after = found.items[found.len - 1].message_id;
	}
	listed.items = mr_arena_array(cx->arena, found.len + 1, sizeof(*listed.items));
	for (size_t i = 0; !rc && i < found.len; i++)
		rc = fill_item(cx, work, &found.items[i], &listed.items[listed.len++]);
	listed.count = (int64_t)listed.len;
	if (!rc)
		*result = listed;
	return rc;
}

/* --- triage list --- */

static const struct mr_value *path_templates(struct mr_ctx *cx)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "view_path", mr_work_path_triage(cx->arena, "{message_id}"));
	mr_out_text(&out, "json_path", mr_work_path_record(cx->arena, "{message_id}"));
	mr_out_end(&out);
	return mr_out_tree(&out);
}

/* How many are in triage, when the limit may have left some out. */
static enum mr_code count_all(struct mr_ctx *cx, struct mr_work *work, int64_t limit,
	struct mr_work_triage_listed *out)
{
	struct mr_work_counts counts = { 0 };
	enum mr_code rc;

	if (!limit || out->count < limit)
		return MR_OK;
	rc = mr_work_index_counts(cx, work, &counts);
	out->total_count = counts.by_status[MR_WORK_IS_TRIAGE];
	out->has_more = out->total_count > out->count;
	return rc;
}

enum mr_code mr_work_triage_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_triage_list *request, struct mr_work_triage_listed *result)
{
	struct mr_work_filter filter = { .status = mr_work_status_names[MR_WORK_IS_TRIAGE],
		.limit = request->limit };
	struct mr_work_triage_listed listed = { .path_templates = path_templates(cx) };
	struct mr_work_briefs found = { 0 };
	enum mr_code rc = mr_work_index_list(cx, work, &filter, &found);

	if (!rc)
		rc = mr_work_push_status(cx, work, &listed.push_status);
	if (rc)
		return rc;
	listed.items = mr_arena_array(cx->arena, found.len + 1, sizeof(*listed.items));
	for (size_t i = 0; !rc && i < found.len; i++) {
		struct mr_work_listed_message *item = &listed.items[listed.len++];

		if (request->details)
			rc = fill_item(cx, work, &found.items[i], item);
		else
			item->message_id = found.items[i].message_id;
	}
	listed.count = (int64_t)listed.len;
	if (!rc)
		rc = count_all(cx, work, request->limit, &listed);
	if (!rc)
		*result = listed;
	return rc;
}
