/* workspace/pull.c - checks what a pull is asked for and what it needs to reach the server. */
#include "workspace/pull.h"

#include "base/lock.h"
#include "text/out.h"
#include "workspace/error.h"
#include "workspace/folders.h"
#include "workspace/generation.h"
#include "workspace/layout.h"
#include "workspace/mail_server.h"
#include "workspace/progress.h"
#include "workspace/pull_private.h"
#include "workspace/pull_run.h"
#include "workspace/refresh.h"
#include "workspace/submission.h"

/* --- the mailboxes --- */

static enum mr_code refuse_id(struct mr_ctx *cx, const struct mr_work_config *config,
	const char *id)
{
	struct mr_texts known = {
		mr_arena_array(cx->arena, config->mailbox_count + 1, sizeof(char *)), 0
	};

	for (size_t i = 0; i < config->mailbox_count; i++)
		if (config->mailboxes[i].is_pulled)
			known.items[known.len++] = config->mailboxes[i].id;
	return mr_work_refuse(cx, MR_WORK_UNKNOWN_MAILBOX_ID,
		"'%s' is not the id of a mailbox that can be pulled; available ids: %s", id,
		known.len ? mr_str_join(cx->arena, &known, ", ") : "none");
}

enum mr_code mr_work_pull_targets(struct mr_ctx *cx, const struct mr_work_config *config,
	const struct mr_texts *ids, struct mr_work_targets *out)
{
	const struct mr_texts *wanted = ids->len ? ids : &config->default_mailbox_ids;

	*out = (struct mr_work_targets){ 0 };
	out->items = mr_arena_array(cx->arena, wanted->len + 1, sizeof(struct mr_work_mailbox *));
	out->ids.items = mr_arena_array(cx->arena, wanted->len + 1, sizeof(char *));
	for (size_t i = 0; i < wanted->len; i++) {
		const char *id = wanted->items[i];
		const struct mr_work_mailbox *mailbox = mr_work_find_mailbox(config, id);

		if (!mailbox || !mailbox->is_pulled)
			return refuse_id(cx, config, id);
		if (mr_texts_has(&out->ids, id))
			continue;
		out->ids.items[out->ids.len++] = id;
		out->items[out->len++] = mailbox;
	}
	if (out->len)
		return MR_OK;
	(void)mr_work_refuse(cx, MR_WORK_CONFIG_INVALID,
		"no mailbox is selected: actions.pull.default_mailbox_ids is empty");
	return mr_work_hint(cx,
		"Name mailboxes, as in `afmail pull inbox`, or set the default ones with `afmail "
		"config set actions.pull.default_mailbox_ids ID...`.");
}

/* --- pull --- */

static enum mr_code check_limits(struct mr_ctx *cx, const struct mr_work_pull *request)
{
	if (request->since_days && request->all_history)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"--since-days and --all-history exclude each other");
	return MR_OK;
}

static enum mr_code pull(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_pull *request, struct mr_imap **session,
	struct mr_work_progress *progress, struct mr_work_pulled *result)
{
	const struct mr_work_config *config = NULL;
	const struct mr_work_pull_limits limits = { .since_days = request->since_days,
		.max_new_messages = request->max_new_messages,
		.max_total_bytes = request->max_total_bytes,
		.dry_run = request->dry_run };
	struct mr_work_targets targets;
	struct mr_work_account account;
	struct mr_work_pull_run run = { .account = &account,
		.targets = &targets,
		.are_named = request->ids.len > 0,
		.first_is_last = request->watch,
		.limits = &limits,
		.session = session };
	enum mr_code rc = mr_work_generation_check(cx, work);

	if (!rc)
		rc = mr_work_recover(cx, work);
	if (!rc)
		rc = check_limits(cx, request);
	if (!rc)
		rc = mr_work_config_get(cx, work, &config);
	if (!rc)
		rc = mr_work_pull_targets(cx, config, &request->ids, &targets);
	if (!rc)
		rc = mr_work_imap_account(cx, config, request->environment, &account);
	return rc ? rc : mr_work_pull_run(cx, work, &run, progress, result);
}

/* What the snapshot of the progress keeps of the result. */
static const struct mr_value *summary(struct mr_ctx *cx, const struct mr_work_pulled *result)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "code", "pull_result");
	mr_out_int(&out, "new_message_count", result->new_message_count);
	mr_out_int(&out, "mailbox_count", result->mailbox_count);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

enum mr_code mr_work_pull_alone(struct mr_ctx *cx, struct mr_work *work, struct mr_lock *out)
{
	enum mr_code rc =
		mr_lock_take(work->dir, MR_WORK_PULL_LOCK, "pull", 0, cx->clock, out, &cx->err);

	if (rc == MR_EBUSY)
		return mr_work_refuse(cx, MR_WORK_WORKSPACE_LOCKED,
			"another command is pulling mail into %s", work->root);
	return rc ? mr_work_store_error(cx) : MR_OK;
}

enum mr_code mr_work_pull_with(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_pull *request, struct mr_imap **session, struct mr_work_pulled *result)
{
	struct mr_lock alone MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	struct mr_work_progress progress;
	enum mr_code rc = mr_work_pull_alone(cx, work, &alone);

	*result = (struct mr_work_pulled){ .dry_run = request->dry_run };
	if (rc)
		return rc;
	if (request->dry_run)
		return pull(cx, work, request, session, NULL, result);
	mr_work_progress_start(cx, work, "pull", &progress);
	rc = pull(cx, work, request, session, &progress, result);
	if (rc)
		mr_work_progress_failed(&progress);
	else
		mr_work_progress_done(&progress, summary(cx, result));
	return rc;
}

enum mr_code mr_work_pull(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_pull *request, struct mr_work_pulled *result)
{
	struct mr_imap *session MR_CLEANUP(mr_imap_closep) = NULL;

	return mr_work_pull_with(cx, work, request, &session, result);
}

/* --- remote --- */

static enum mr_code find_account(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_remote_ask *request, const struct mr_work_config **out_config,
	struct mr_work_account *out)
{
	enum mr_code rc = mr_work_config_get(cx, work, out_config);

	return rc ? rc : mr_work_imap_account(cx, *out_config, request->environment, out);
}

static enum mr_code test_smtp(struct mr_ctx *cx, const struct mr_work_config *config,
	const struct mr_work_remote_ask *request, struct mr_work_smtp_tested **out)
{
	struct mr_work_account account;
	enum mr_code rc;

	*out = NULL;
	if (!config->smtp.host)
		return MR_OK;
	rc = mr_work_smtp_account(cx, config, request->environment, &account);
	if (!rc)
		rc = mr_work_submission_test(cx, &account);
	if (rc)
		return rc;
	*out = mr_arena_alloc(cx->arena, sizeof(**out));
	**out = (struct mr_work_smtp_tested){ .ok = true,
		.host = account.host,
		.port = account.port,
		.tls = account.tls || account.starttls,
		.login = account.username != NULL };
	return MR_OK;
}

enum mr_code mr_work_remote_test(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_remote_ask *request, struct mr_work_remote_tested *result)
{
	struct mr_imap *session MR_CLEANUP(mr_imap_closep) = NULL;
	const struct mr_work_config *config = NULL;
	struct mr_work_smtp_tested *smtp = NULL;
	struct mr_work_account account;
	enum mr_code rc = find_account(cx, work, request, &config, &account);

	if (!rc)
		rc = mr_work_server_open(cx, &account, &session);
	if (!rc)
		rc = test_smtp(cx, config, request, &smtp);
	if (rc)
		return rc;
	*result = (struct mr_work_remote_tested){ .ok = true,
		.smtp = smtp,
		.has_move = mr_imap_can(session, "MOVE"),
		.host = account.host,
		.port = account.port,
		.tls = account.tls || account.starttls };
	return MR_OK;
}

enum mr_code mr_work_remote_folders(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_remote_ask *request, struct mr_work_remote_folders *result)
{
	struct mr_imap *session MR_CLEANUP(mr_imap_closep) = NULL;
	const struct mr_work_config *config = NULL;
	struct mr_work_server_mailboxes list;
	struct mr_work_account account;
	enum mr_code rc = find_account(cx, work, request, &config, &account);

	if (!rc)
		rc = mr_work_server_open(cx, &account, &session);
	if (!rc)
		rc = mr_work_server_list(cx, session, &list);
	if (!rc)
		mr_work_folders_describe(cx->arena, config, &list, &result->mailboxes,
			&result->special_use_targets);
	return rc;
}
