/* mailbox/notifier.c - tells those who ask of their mail, and keeps the settings. */
#include "mailbox/notifier.h"

#include "base/fs.h"
#include "mailbox/notifier_private.h"

#include <stdlib.h>

static enum mr_code say_unbound(struct mr_ctx *cx, const struct mr_mailbox_session *manifest)
{
	return mr_err_set(&cx->err, MR_ECONFLICT, "the session %s has no mailbox", manifest->dir);
}

enum mr_code mr_notifier_target_of(struct mr_ctx *cx, const struct mr_mailbox_session *manifest,
	const char *base_url, const char *api, struct mr_notifier_target *out)
{
	const struct mr_value *plan = mr_value_get(manifest->value, "launch_plan");

	if (manifest->binding.transport == MR_MAILBOX_UNBOUND)
		return say_unbound(cx, manifest);
	*out = (struct mr_notifier_target){
		.session = manifest->dir,
		.binding = manifest->binding,
		.agent_name = manifest->agent_name,
		.tmux_session = manifest->tmux_session,
		.tool = manifest->tool,
		.home = mr_mailbox_session_text(mr_value_get(plan, "home_selector"), "home_path"),
		.base_url = base_url,
		.api = api,
	};
	return MR_OK;
}

/* --- those who ask --- */

/* In a transaction: what is due becomes a notice that is delivered. `*out` is empty when it was
 * read meanwhile, or another one took it. */
static enum mr_code take(struct mr_ctx *cx, struct mr_db *db, const struct mr_notifier_inbox *inbox,
	const char *channel, struct mr_mail_messages *out, int64_t *out_notice)
{
	struct mr_ledger_change told = {
		.state = MR_LEDGER_DELIVERED,
		.channel = channel,
		.now_us = mr_clock_wall_us(cx->clock),
		.is_attempt = true,
		.is_announced = true,
	};
	struct mr_notifier_plan plan;
	enum mr_code rc = mr_notifier_plan_make(cx, db, inbox, &plan);

	/* A prompt that is just being typed is about to tell it. */
	if (!rc && plan.has_open && mr_str_eq(plan.open.state, mr_ledger_states[MR_LEDGER_SENDING]))
		return MR_OK;
	if (!rc)
		rc = mr_notifier_plan_enter(cx, db, &plan, channel, out_notice);
	if (rc || !*out_notice)
		return rc;
	rc = mr_notifier_plan_check(cx, db, *out_notice, inbox, out);
	if (rc)
		return rc;
	if (out->len == 0) {
		told.state = MR_LEDGER_WITHDRAWN;
		told.detail = "read before it was delivered";
		told.is_attempt = told.is_announced = false;
	}
	return mr_ledger_sql_change(cx, db, *out_notice, &told);
}

static enum mr_code take_all(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_notifier_inbox *inbox, const char *channel, struct mr_mail_messages *out,
	int64_t *out_notice)
{
	/* Who asks is answered at once. What a power failure takes from the ledger is told again.
	 */
	enum mr_code rc = mr_db_set_sync(db, MR_DB_SYNC_NORMAL, &cx->err);

	if (!rc)
		rc = mr_db_begin(db, MR_DB_IMMEDIATE, &cx->err);
	if (!rc)
		rc = take(cx, db, inbox, channel, out, out_notice);
	if (!rc)
		rc = mr_db_commit(db, &cx->err);
	if (rc)
		mr_db_rollback(db);
	return rc;
}

static enum mr_code tell(struct mr_ctx *cx, const struct mr_notifier_target *target,
	struct mr_db *db, const struct mr_notifier_inbox *inbox, struct mr_mail_messages *messages,
	struct mr_notifier_told *out)
{
	struct mr_notifier_settings settings;
	struct mr_notice_slots slots;
	enum mr_code rc = mr_notifier_sql_settings(cx, db, &settings);

	if (rc)
		return rc;
	mr_notifier_load(cx, inbox, messages);
	out->count = messages->len;
	out->mode = settings.mode;
	out->prompt = mr_notifier_prompt(cx, target, &settings, messages, messages->len, &slots);
	if (messages->len > MR_NOTIFIER_TOLD)
		messages->len = MR_NOTIFIER_TOLD;
	out->messages = *messages;
	return MR_OK;
}

enum mr_code mr_notifier_take(struct mr_ctx *cx, const struct mr_notifier_target *target,
	const char *channel, struct mr_notifier_told *out)
{
	struct mr_notifier_inbox inbox MR_CLEANUP(mr_notifier_inbox_close) = MR_NOTIFIER_INBOX_INIT;
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_mail_messages messages = { NULL, 0 };
	struct mr_notifier_told told = { .notice = 0 };
	struct mr_notifier_plan plan;
	int64_t notice = 0;
	enum mr_code rc = mr_notifier_inbox_open(cx, target, &inbox);

	if (!rc)
		rc = mr_notifier_sql_open(cx, target->session, true, &db);
	if (!rc)
		rc = mr_notifier_plan_make(cx, db, &inbox, &plan);
	if (!rc && (plan.due_len || plan.has_open || plan.read_len))
		rc = take_all(cx, db, &inbox, channel, &messages, &notice);
	if (!rc && messages.len) {
		told.notice = notice;
		rc = tell(cx, target, db, &inbox, &messages, &told);
	}
	if (!rc)
		*out = told;
	return rc;
}

enum mr_code mr_notifier_acknowledge(struct mr_ctx *cx, const struct mr_notifier_target *target)
{
	struct mr_notifier_inbox inbox MR_CLEANUP(mr_notifier_inbox_close) = MR_NOTIFIER_INBOX_INIT;
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_notifier_plan plan;
	enum mr_code rc = mr_notifier_sql_open(cx, target->session, false, &db);

	if (rc)
		return rc == MR_ENOTFOUND ? MR_OK : rc;
	rc = mr_notifier_inbox_open(cx, target, &inbox);
	if (!rc)
		rc = mr_notifier_plan_make(cx, db, &inbox, &plan);
	if (rc || plan.read_len == 0)
		return rc;
	mr_db_closep(&db);
	rc = mr_notifier_sql_open(cx, target->session, true, &db);
	if (!rc)
		rc = mr_db_begin(db, MR_DB_IMMEDIATE, &cx->err);
	for (size_t i = 0; i < plan.read_len && !rc; i++)
		rc = mr_ledger_sql_change(cx, db, plan.read[i],
			&(struct mr_ledger_change){ .state = MR_LEDGER_ACKNOWLEDGED,
				.now_us = mr_clock_wall_us(cx->clock) });
	if (!rc)
		rc = mr_db_commit(db, &cx->err);
	return rc;
}

/* --- settings --- */

enum mr_code mr_notifier_get(struct mr_ctx *cx, const char *session,
	struct mr_notifier_settings *out)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	enum mr_code rc;

	if (!mr_fs_exists(AT_FDCWD, mr_notifier_sql_path(cx->arena, session))) {
		*out = mr_notifier_settings_default();
		return MR_OK;
	}
	/* For writing: a file that a gateway of the Houmao runtime made gets our tables. */
	rc = mr_notifier_sql_open(cx, session, true, &db);
	return rc ? rc : mr_notifier_sql_settings(cx, db, out);
}

enum mr_code mr_notifier_put(struct mr_ctx *cx, const char *session,
	const struct mr_notifier_settings *settings)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	enum mr_code rc = mr_notifier_sql_open(cx, session, true, &db);

	return rc ? rc : mr_notifier_sql_store(cx, db, settings);
}

/* --- the ledger --- */

enum mr_code mr_notifier_notices(struct mr_ctx *cx, const char *session, int64_t limit,
	struct mr_ledger_notices *out)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	enum mr_code rc = mr_notifier_sql_open(cx, session, false, &db);

	*out = (struct mr_ledger_notices){ NULL, 0 };
	if (rc)
		return rc == MR_ENOTFOUND ? MR_OK : rc;
	return mr_ledger_sql_list(cx, db, limit, out);
}

enum mr_code mr_notifier_backlog(struct mr_ctx *cx, const char *session,
	struct mr_ledger_backlog *out, bool *found)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	enum mr_code rc = mr_notifier_sql_open(cx, session, false, &db);

	*found = false;
	if (rc)
		return rc == MR_ENOTFOUND ? MR_OK : rc;
	return mr_ledger_sql_backlog(cx, db, out, found);
}
