/* op/work/work_log.c - operations: what was done in the workspace, and why. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "text/out.h"
#include "workspace/audit.h"
#include "workspace/name.h"

enum { LIMIT_MAX = 1000000, TAIL_LIMIT = 20 };

struct logged {
	const struct mr_value *target; /* or NULL */
	int64_t count;
	const struct mr_value *events; /* a list */
};

static const struct mr_field log_fields[] = {
	MR_WORK_FIELD_OPT(struct logged, target, "what was asked for: its kind and id"),
	MR_WORK_FIELD(struct logged, count, "how many events there are"),
	{ .name = "events",
		.type = MR_TYPE_LIST,
		.summary = "the events, oldest first",
		.from = MR_FROM(struct logged, events) },
	{ 0 },
};

static void fill(struct mr_ctx *cx, const struct mr_work_events *events, struct logged *out)
{
	struct mr_out list;

	mr_out_init_tree(&list, cx->arena);
	mr_out_list(&list, NULL);
	for (size_t i = 0; i < events->len; i++)
		mr_out_value(&list, NULL, events->items[i]);
	mr_out_end(&list);
	out->count = (int64_t)events->len;
	out->events = mr_out_tree(&list);
}

/* --- list and tail --- */

struct last {
	int64_t limit;
};

static const struct mr_param list_params[] = {
	MR_PARAM(struct last, limit, "limit", .summary = "how many at most", .fallback = "50",
		.min = 0, .max = LIMIT_MAX),
	{ 0 },
};

static enum mr_code list(struct mr_ctx *cx, struct mr_work *work, const struct last *request,
	struct logged *result)
{
	struct mr_work_events events = { 0 };
	enum mr_code rc = mr_work_audit_last(cx, work, (size_t)request->limit, &events);

	if (!rc)
		fill(cx, &events, result);
	return rc;
}
MR_WORK_BIND(listing, list, struct last, struct logged);

const struct mr_op mr_op_work_log_list = {
	.name = "work_log_list",
	.command = "work log list",
	.summary = "Show the last events of the audit log",
	.code = "log_list",
	.params = list_params,
	.result = log_fields,
	MR_WORK_TOOL,
	.bind = &listing,
	.render = mr_render_work_log,
};

static enum mr_code tail(struct mr_ctx *cx, struct mr_work *work, const struct mr_nothing *request,
	struct logged *result)
{
	(void)request;
	return list(cx, work, &(struct last){ TAIL_LIMIT }, result);
}
MR_WORK_BIND(tailing, tail, struct mr_nothing, struct logged);

const struct mr_op mr_op_work_log_tail = {
	.name = "work_log_tail",
	.command = "work log tail",
	.summary = "Show the last 20 events",
	.code = "log_tail",
	.result = log_fields,
	MR_WORK_TOOL,
	.bind = &tailing,
	.render = mr_render_work_log,
};

/* --- the events of one thing --- */

static const struct mr_value *target_of(struct mr_ctx *cx, const char *kind, const char *id)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "kind", kind);
	mr_out_text(&out, "id", id);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

static enum mr_code events_of(struct mr_ctx *cx, struct mr_work *work, const char *kind,
	const char *id, struct logged *result)
{
	struct mr_work_events events = { 0 };
	enum mr_code rc = mr_work_audit_of(cx, work, kind, id, &events);

	if (rc)
		return rc;
	result->target = target_of(cx, kind, id);
	fill(cx, &events, result);
	return MR_OK;
}

struct of_message {
	const char *message_id;
};
static const struct mr_param message_params[] = {
	MR_WORK_MESSAGE_PARAM(struct of_message),
	{ 0 },
};

/* The message need not be there: its events remain when it was purged. */
static enum mr_code log_message(struct mr_ctx *cx, struct mr_work *work,
	const struct of_message *request, struct logged *result)
{
	enum mr_code rc = mr_work_check_message_id(cx, request->message_id);

	return rc ? rc : events_of(cx, work, "message", request->message_id, result);
}
MR_WORK_BIND(logging_message, log_message, struct of_message, struct logged);

const struct mr_op mr_op_work_log_message = {
	.name = "work_log_message",
	.command = "work log message",
	.summary = "Show what was done to a message",
	.code = "log_filtered",
	.params = message_params,
	.result = log_fields,
	MR_WORK_TOOL,
	.bind = &logging_message,
	.render = mr_render_work_log,
};

struct of_ref {
	const char *ref;
};

static enum mr_code events_of_ref(struct mr_ctx *cx, struct mr_work *work, enum mr_work_kind kind,
	const char *word, const struct of_ref *request, struct logged *result)
{
	const char *uid = NULL;
	enum mr_code rc = mr_work_ref_uid(cx, kind, request->ref, &uid);

	return rc ? rc : events_of(cx, work, word, uid, result);
}

#define REF_OP(word, param, kind, about, param_about)                                              \
	static const struct mr_param word##_params[] = {                                           \
		MR_PARAM(struct of_ref, ref, param, .flags = MR_REQUIRED | MR_POSITIONAL,          \
			.summary = (param_about)),                                                 \
		{ 0 },                                                                             \
	};                                                                                         \
	static enum mr_code log_##word(struct mr_ctx *cx, struct mr_work *work,                    \
		const struct of_ref *request, struct logged *result)                               \
	{                                                                                          \
		return events_of_ref(cx, work, kind, #word, request, result);                      \
	}                                                                                          \
	MR_WORK_BIND(logging_##word, log_##word, struct of_ref, struct logged);                    \
	const struct mr_op mr_op_work_log_##word = {                                               \
		.name = "work_log_" #word,                                                         \
		.command = "work log " #word,                                                      \
		.summary = (about),                                                                \
		.code = "log_filtered",                                                            \
		.params = word##_params,                                                           \
		.result = log_fields,                                                              \
		MR_WORK_TOOL,                                                                      \
		.bind = &logging_##word,                                                           \
		.render = mr_render_work_log,                                                      \
	}

REF_OP(case, "case_ref", MR_WORK_CASE, "Show what was done to a case",
	"the case: its uid, or the name of its directory");
REF_OP(archive, "archive_ref", MR_WORK_CATEGORY, "Show what was done to a category",
	"the category: its uid, or the name of its directory");
REF_OP(contact, "contact_ref", MR_WORK_CONTACT, "Show what was done to a contact",
	"the contact: its uid, or the name of its card");
