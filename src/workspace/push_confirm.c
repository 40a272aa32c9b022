/* workspace/push_confirm.c - a push that was confirmed, as far as it needs no server. */
#include "workspace/error.h"
#include "workspace/progress.h"
#include "workspace/push.h"

static const struct mr_value *start_fields(struct mr_ctx *cx, int64_t item_count)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_int(&out, "item_count", item_count);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

static const struct mr_value *result_fields(struct mr_ctx *cx,
	const struct mr_work_push_pushed *pushed)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "code", "push_result");
	mr_out_bool(&out, "confirmed", pushed->confirmed);
	mr_out_int(&out, "pushed_count", pushed->pushed_count);
	mr_out_int(&out, "failed_count", pushed->failed_count);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

static enum mr_code refuse(struct mr_ctx *cx, int64_t count)
{
	mr_work_refuse(cx, MR_WORK_REMOTE_OPERATION_UNSUPPORTED,
		"this program cannot change anything on mail servers yet: nothing was sent, and the %lld "
		"queued item%s still queued",
		(long long)count, count == 1 ? " is" : "s are");
	return mr_work_hint(cx,
		"Nothing was sent and the queue is intact. Look at it with `afmail push`; take an "
		"item out with `afmail push drop PUSH_ID`.");
}

/* How many items the push would carry out. */
static enum mr_code count_items(struct mr_ctx *cx, struct mr_work *work, const char *kind,
	int64_t *out)
{
	struct mr_work_push_items queue = { 0 };
	enum mr_code rc = mr_work_queue_load_strict(cx, work, &queue);

	*out = 0;
	for (size_t i = 0; !rc && i < queue.len; i++)
		*out += mr_work_push_is_of_kind(&queue.items[i], kind);
	return rc;
}

enum mr_code mr_work_push_confirm(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_preview *request, struct mr_work_push_pushed *result)
{
	struct mr_work_push_pushed pushed = { .confirmed = true };
	struct mr_work_progress progress;
	int64_t count = 0;
	enum mr_code rc = mr_work_push_check(cx, request);

	if (rc)
		return rc;
	mr_work_progress_start(cx, work, "push", &progress);
	rc = count_items(cx, work, request->kind, &count);
	mr_work_progress_phase(&progress, "push_start", start_fields(cx, count));
	if (!rc && count)
		rc = refuse(cx, count);
	if (rc)
		mr_work_progress_failed(&progress);
	else
		mr_work_progress_done(&progress, result_fields(cx, &pushed));
	if (!rc)
		*result = pushed;
	return rc;
}
