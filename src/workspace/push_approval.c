/* workspace/push_approval.c - keeps what a person said of a queued item, and asks it. */
#include "workspace/push_approval.h"

#include "workspace/error.h"
#include "workspace/layout.h"

const char *const mr_work_approval_names[] = { "waiting", "approved", "refused", "changed", NULL };
static const char *const said_names[] = { "approved", "refused", NULL };

static const struct mr_value *document_of(struct mr_ctx *cx, const char *push_id,
	const struct mr_work_approval *said)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "schema_name", "push_approval");
	mr_out_int(&out, "schema_version", 1);
	mr_out_text(&out, "push_id", push_id);
	mr_out_text(&out, "state", mr_work_approval_names[said->state]);
	mr_out_text(&out, "content_id", said->content_id);
	mr_out_text(&out, "decided_rfc3339", said->decided);
	if (said->reason)
		mr_out_text(&out, "reason", said->reason);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

static bool read_said(struct mr_ctx *cx, const struct mr_value *document, const char *push_id,
	struct mr_work_approval *out)
{
	static const char *const known[] = { "schema_name", "schema_version", "push_id", "state",
		"content_id", "decided_rfc3339", "reason", NULL };
	struct mr_cursor root, state, member;
	struct mr_issues issues;
	const char *schema = NULL, *id = NULL;
	int64_t version = 0;
	size_t chosen = 0;

	mr_issues_init(&issues, cx->arena);
	root = mr_cursor_root(document, &issues);
	mr_cursor_only(&root, known);
	member = mr_cursor_key(&root, "schema_name");
	mr_cursor_text(&member, &schema);
	member = mr_cursor_key(&root, "schema_version");
	mr_cursor_int(&member, 1, 1, &version);
	member = mr_cursor_key(&root, "push_id");
	mr_cursor_text(&member, &id);
	state = mr_cursor_key(&root, "state");
	mr_cursor_choice(&state, said_names, &chosen);
	member = mr_cursor_key(&root, "content_id");
	mr_cursor_text(&member, &out->content_id);
	member = mr_cursor_key(&root, "decided_rfc3339");
	mr_cursor_text(&member, &out->decided);
	member = mr_cursor_key(&root, "reason");
	mr_cursor_text_opt(&member, &out->reason);
	out->state = chosen ? MR_WORK_REFUSED : MR_WORK_APPROVED;
	return !issues.len && mr_str_eq(schema, "push_approval") && mr_str_eq(id, push_id);
}

void mr_work_approval_get(struct mr_ctx *cx, struct mr_work *work, const char *push_id,
	const char *content_id, struct mr_work_approval *out)
{
	struct mr_work_approval said = { 0 };
	const struct mr_value *document = NULL;
	struct mr_err kept = cx->err;

	*out = (struct mr_work_approval){ .state = MR_WORK_APPROVAL_WAITING };
	if (mr_work_read_json(cx, work, mr_work_path_push_approval(cx->arena, push_id),
		    &document)) {
		cx->err = kept;
		return;
	}
	if (!document || !read_said(cx, document, push_id, &said))
		return;
	if (!mr_str_eq(said.content_id, content_id))
		said.state = MR_WORK_APPROVAL_CHANGED;
	*out = said;
}

void mr_work_approval_put(struct mr_work_change *change, const struct mr_work_push_item *item,
	const struct mr_work_approval *said)
{
	struct mr_ctx *cx = change->cx;
	struct mr_work_target targets[3] = { { "push", item->push_id } };
	struct mr_work_event event;

	if (item->case_uid)
		targets[1] = (struct mr_work_target){ "case", item->case_uid };
	mr_work_change_json(change, mr_work_path_push_approval(cx->arena, item->push_id),
		document_of(cx, item->push_id, said));
	mr_work_event_begin(change,
		said->state == MR_WORK_APPROVED ? "push_approved" : "push_refused", targets,
		said->reason, &event);
	mr_out_text(&event.out, "push_id", item->push_id);
	mr_out_text(&event.out, "action", mr_work_push_action_names[item->action]);
	mr_out_text(&event.out, "content_id", said->content_id);
	mr_work_event_end(&event);
}

static enum mr_code refuse_refused(struct mr_ctx *cx, const char *push_id,
	const struct mr_work_approval *said)
{
	(void)mr_work_refuse(cx, MR_WORK_PUSH_REFUSED, "%s was sent back: %s", push_id,
		said->reason ? said->reason : "no reason was given");
	return mr_work_detail_text(cx, "reason", said->reason ? said->reason : "");
}

enum mr_code mr_work_approval_check(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config *config, const char *push_id, const char *content_id)
{
	struct mr_work_approval said;

	mr_work_approval_get(cx, work, push_id, content_id, &said);
	if (said.state == MR_WORK_APPROVED)
		return MR_OK;
	if (said.state == MR_WORK_REFUSED)
		return refuse_refused(cx, push_id, &said);
	if (!config->approval_required)
		return MR_OK;
	return mr_work_refuse(cx, MR_WORK_PUSH_NOT_APPROVED,
		said.state == MR_WORK_APPROVAL_CHANGED
			? "%s is not what was approved or sent back: it was changed since, and "
			  "waits for approval again"
			: "%s waits for approval: nobody has approved it yet",
		push_id);
}
