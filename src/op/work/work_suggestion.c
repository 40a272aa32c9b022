/* op/work/work_suggestion.c - operations: what an agent would do, for a person to decide. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/suggest.h"

#define SUGGESTION(member, about)      MR_WORK_FIELD(struct mr_work_suggestion, member, about)
#define SUGGESTION_NULL(member, about) MR_WORK_FIELD_NULL(struct mr_work_suggestion, member, about)
static const struct mr_field suggestion_fields[] = {
	SUGGESTION(message_id, "the message"),
	SUGGESTION(action, "case, archive, spam or trash"),
	SUGGESTION_NULL(target, "the uid of the case or category"),
	SUGGESTION_NULL(summary, "the summary that the message gets there"),
	SUGGESTION_NULL(reason, "why"),
	SUGGESTION_NULL(created_rfc3339, "when it was suggested"),
	{ 0 },
};

/* --- set --- */

#define SET_PARAM(member, ...) MR_PARAM(struct mr_work_suggestion_set, member, #member, __VA_ARGS__)
static const struct mr_param set_params[] = {
	MR_WORK_MESSAGE_PARAM(struct mr_work_suggestion_set),
	SET_PARAM(action, .flags = MR_REQUIRED, .choices = mr_work_suggested_names,
		.summary = "what to do with the message"),
	SET_PARAM(target, .summary = "the case, or the category of the archive"),
	SET_PARAM(summary, .summary = "the summary that the message gets there"),
	SET_PARAM(reason, .summary = "why; the reason of the command when it is accepted"),
	{ 0 },
};

static const struct mr_field set_fields[] = {
	MR_MEMBERS(struct mr_work_suggestion_was_set, suggestion, struct mr_work_suggestion,
		suggestion_fields),
	MR_WORK_FIELD(struct mr_work_suggestion_was_set, replaced, "there was another one before"),
	{ 0 },
};

MR_WORK_BIND(setting, mr_work_suggestion_set, struct mr_work_suggestion_set,
	struct mr_work_suggestion_was_set);

const struct mr_op mr_op_work_suggestion_set = {
	.name = "work_suggestion_set",
	.command = "work suggestion set",
	.summary = "Suggest what to do with a message in triage",
	.help = "Nothing is done until the suggestion is accepted. The triage view of the message "
		"shows it.",
	.code = "suggestion_set",
	.params = set_params,
	.result = set_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_STANDARD | MR_IDEMPOTENT),
	.bind = &setting,
	.render = mr_render_work_suggested,
};

/* --- list --- */

static const struct mr_field row_fields[] = {
	MR_MEMBERS(struct mr_work_suggestion_row, suggestion, struct mr_work_suggestion,
		suggestion_fields),
	MR_WORK_FIELD_NULL(struct mr_work_suggestion_row, from, "the message's sender"),
	MR_WORK_FIELD_NULL(struct mr_work_suggestion_row, subject, "its subject"),
	MR_WORK_FIELD_NULL(struct mr_work_suggestion_row, view_path, "the file that shows it"),
	{ 0 },
};

static const struct mr_field list_fields[] = {
	MR_WORK_FIELD(struct mr_work_suggestion_listed, count, "how many there are"),
	MR_FIELD_ROWS(struct mr_work_suggestion_listed, items, len, struct mr_work_suggestion_row,
		row_fields, "items", .summary = "by message id"),
	{ 0 },
};

static enum mr_code list(struct mr_ctx *cx, struct mr_work *work, const struct mr_nothing *request,
	struct mr_work_suggestion_listed *result)
{
	(void)request;
	return mr_work_suggestion_list(cx, work, result);
}
MR_WORK_BIND(listing, list, struct mr_nothing, struct mr_work_suggestion_listed);

const struct mr_op mr_op_work_suggestion_list = {
	.name = "work_suggestion_list",
	.command = "work suggestion list",
	.summary = "List what is suggested for messages in triage",
	.code = "suggestion_list",
	.result = list_fields,
	MR_WORK_TOOL,
	.bind = &listing,
	.render = mr_render_work_suggestions,
};

/* --- clear, accept --- */

static const struct mr_param ref_params[] = {
	MR_WORK_MESSAGE_PARAM(struct mr_work_suggestion_ref),
	MR_WORK_REASON_PARAM(struct mr_work_suggestion_ref),
	{ 0 },
};

static const struct mr_field clear_fields[] = {
	MR_WORK_FIELD(struct mr_work_suggestion_cleared, message_id, "the message"),
	MR_WORK_FIELD(struct mr_work_suggestion_cleared, changed, "it had a suggestion"),
	{ 0 },
};

MR_WORK_BIND(clearing, mr_work_suggestion_clear, struct mr_work_suggestion_ref,
	struct mr_work_suggestion_cleared);

const struct mr_op mr_op_work_suggestion_clear = {
	.name = "work_suggestion_clear",
	.command = "work suggestion clear",
	.summary = "Drop the suggestion for a message",
	.code = "suggestion_cleared",
	.params = ref_params,
	.result = clear_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &clearing,
	.render = mr_render_work_unsuggested,
};

static const struct mr_field accept_fields[] = {
	MR_MEMBERS(struct mr_work_suggestion_accepted, suggestion, struct mr_work_suggestion,
		suggestion_fields),
	MR_WORK_FIELD(struct mr_work_suggestion_accepted, queued,
		"something is queued for the server"),
	MR_WORK_FIELD(struct mr_work_suggestion_accepted, push_ids, "the queued items"),
	{ 0 },
};

MR_WORK_BIND(accepting, mr_work_suggestion_accept, struct mr_work_suggestion_ref,
	struct mr_work_suggestion_accepted);

const struct mr_op mr_op_work_suggestion_accept = {
	.name = "work_suggestion_accept",
	.command = "work suggestion accept",
	.summary = "Do what is suggested for a message",
	.code = "suggestion_accepted",
	.params = ref_params,
	.result = accept_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &accepting,
	.render = mr_render_work_accepted,
};
