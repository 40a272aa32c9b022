/* op/mailbox/mail_terminal.c - submits mail operations to the agent, through its terminal. */
#include "op/mailbox/mail_terminal.h"

#include "app/settings.h"
#include "base/fs.h"
#include "mailbox/mail_tui.h"
#include "text/address.h"
#include "text/out.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

static const char *const submitted_ops[] = { "mail_send", "mail_reply", "mail_mark",
	"mail_mark_read" };

/* Is the caller in the agent's own session? */
static bool is_own(struct mr_call *call, const struct mr_mail_session *session)
{
	struct mr_mailbox_place place;
	struct mr_err before = call->cx.err;
	bool is_same = mr_mail_session_place(call, &place) == MR_OK && place.tmux &&
		mr_str_eq(mr_mailbox_agent_tmux(&call->cx, &place),
			session->agent.manifest.tmux_session);

	call->cx.err = before;
	return is_same;
}

bool mr_mail_terminal_may(struct mr_call *call, const struct mr_op *op,
	struct mr_mail_session *session)
{
	bool may = false;

	for (size_t i = 0; i < MR_LEN(submitted_ops); i++)
		may = may || mr_str_eq(op->name, submitted_ops[i]);
	if (!may || !session->agent.ref || is_own(call, session) ||
		!mr_mail_tui_is_usable(&call->cx, &session->agent.manifest))
		return false;
	session->execution = MR_MAIL_TUI_SUBMISSION;
	session->unusable = mr_arena_strdup(call->cx.arena, call->cx.err.msg);
	return true;
}

/* How somebody finds out what came of it. */
static struct mr_texts verification_paths(struct mr_arena *arena,
	const struct mr_mail_session *session)
{
	const char *name = session->agent.manifest.agent_name;
	const char **items = mr_arena_array(arena, 3, sizeof(*items));

	items[0] = mr_arena_printf(arena, "mailroom mail status --agent-name %s",
		name ? name : "NAME");
	items[1] =
		mr_arena_printf(arena, "mailroom mail check --agent-name %s", name ? name : "NAME");
	items[2] = "the gateway's /v1/mail/status and /v1/mail/list";
	return (struct mr_texts){ items, 3 };
}

void mr_mail_terminal_submit(struct mr_call *call, const struct mr_mail_session *session,
	const char *operation, const struct mr_value *arguments, struct mr_shape_mail_head *out)
{
	struct mr_arena *arena = call->cx.arena;
	struct mr_shape_submission *told = mr_arena_alloc(arena, sizeof(*told));
	int64_t seconds = mr_settings_int(call->app->settings, "agents.terminal_answer_seconds");
	struct mr_mail_tui done;

	mr_mail_tui_submit(&call->cx, &session->agent.manifest, operation, arguments,
		(int)(seconds * 1000), &done);
	*told = (struct mr_shape_submission){
		.bindings_version = session->binding.version,
		.request_id = done.request_id,
		.verification_required = true,
		.verification_paths = verification_paths(arena, session),
		.detail = done.detail,
		.submitted_at_utc = done.submitted_at_utc,
		.tmux_session = session->agent.manifest.tmux_session,
		.pane = done.pane,
		.mailbox_problem = session->unusable,
		.preview = done.preview,
	};
	*out = mr_shape_mail_head(session, operation);
	out->status = mr_mail_tui_statuses[done.status];
	out->submission = told;
	call->exit_status = done.status != MR_MAIL_TUI_SUBMITTED;
}

/* --- arguments --- */

enum mr_code mr_mail_terminal_check(struct mr_call *call, const struct mr_texts *addresses)
{
	struct mr_address address;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < addresses->len && !rc; i++) {
		rc = mr_address_parse(call->cx.arena, addresses->items[i], &address, &call->cx.err);
		if (rc)
			rc = mr_err_wrap(&call->cx.err, "recipient %s", addresses->items[i]);
	}
	return rc;
}

static enum mr_code put_file(struct mr_call *call, struct mr_out *out,
	const struct mr_mail_file *file)
{
	char real[PATH_MAX];

	if (!realpath(file->path, real))
		return mr_err_os(&call->cx.err, errno, "cannot attach %s", file->path);
	mr_out_map(out, NULL);
	mr_out_text(out, "path", mr_arena_strdup(call->cx.arena, real));
	if (file->is_copied)
		mr_out_text(out, "mode", "managed_copy");
	mr_out_end(out);
	return MR_OK;
}

enum mr_code mr_mail_terminal_put_draft(struct mr_call *call, struct mr_out *out,
	const struct mr_mail_draft *draft)
{
	enum mr_code rc = MR_OK;

	mr_out_text(out, "body_content",
		mr_arena_strndup(call->cx.arena, (const char *)draft->body.data, draft->body.len));
	mr_out_list(out, "attachments");
	for (size_t i = 0; i < draft->file_count && !rc; i++)
		rc = put_file(call, out, &draft->files[i]);
	mr_out_end(out);
	if (rc || !draft->notify_block)
		return rc;
	mr_out_map(out, "notify_block");
	mr_out_text(out, "text", draft->notify_block->text);
	mr_out_text(out, "placement", draft->notify_block->prepend ? "prepend" : "append");
	mr_out_end(out);
	return MR_OK;
}
