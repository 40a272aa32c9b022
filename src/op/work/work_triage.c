/* op/work/work_triage.c - operations: the messages that wait for a decision. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/message.h"

enum { LIMIT_MAX = 1000000 };

#define LIMIT_PARAM                                                                                \
	MR_PARAM(struct mr_work_triage_list, limit, "limit", .summary = "how many at most",        \
		.min = 1, .max = LIMIT_MAX)
static const struct mr_param list_params[] = {
	LIMIT_PARAM,
	MR_PARAM(struct mr_work_triage_list, details, "details",
		.summary = "each with its sender, subject and time"),
	{ 0 },
};
static const struct mr_param people_params[] = { LIMIT_PARAM, { 0 } };

static const struct mr_field list_fields[] = {
	MR_WORK_FIELD(struct mr_work_triage_listed, count, "how many are listed"),
	MR_WORK_FIELD_WHEN(struct mr_work_triage_listed, total_count, has_more,
		"how many wait, when --limit left some out"),
	MR_WORK_FIELD(struct mr_work_triage_listed, push_status, "what is queued, by kind"),
	MR_WORK_FIELD(struct mr_work_triage_listed, path_templates,
		"where the view and the record of a message are"),
	MR_FIELD_ROWS(struct mr_work_triage_listed, items, len, struct mr_work_listed_message,
		mr_work_listed_message_fields, "items", .summary = "by id"),
	{ 0 },
};

MR_WORK_BIND(listing, mr_work_triage_list, struct mr_work_triage_list,
	struct mr_work_triage_listed);

const struct mr_op mr_op_work_triage_list = {
	.name = "work_triage_list",
	.command = "work triage list",
	.summary = "List the messages that wait for a decision",
	.code = "triage_list",
	.params = list_params,
	.result = list_fields,
	MR_WORK_TOOL_THAT(MR_STANDARD),
	.bind = &listing,
	.render = mr_render_work_triage,
};

/* --- the same for people --- */

static enum mr_code list_for_people(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_triage_list *request, struct mr_work_triage_listed *result)
{
	request->details = true;
	return mr_work_triage_list(cx, work, request, result);
}
MR_WORK_BIND(listing_for_people, list_for_people, struct mr_work_triage_list,
	struct mr_work_triage_listed);

const struct mr_op mr_op_work_triage = {
	.name = "work_triage",
	.command = "work triage",
	.summary = "Show the messages that wait for a decision",
	.code = "triage_list",
	.params = people_params,
	.result = list_fields,
	MR_WORK_OP,
	.bind = &listing_for_people,
	.render = mr_render_work_triage,
};
