/* mailbox/notifier_round.c - one round of a notifier: looks, queues, and delivers a prompt. */
#include "base/buf.h"
#include "mailbox/limits.h"
#include "mailbox/notifier_private.h"
#include "text/digest.h"
#include "text/json.h"
#include "text/time.h"

enum {
	BUSY_AGAIN_S = 2,  /* when to look again after a busy agent */
	RETRY_S = 30,      /* after the first failure; then twice as long each time, */
	RETRY_MAX_S = 900, /* at most this */
	UNSURE_S = 120,    /* after a prompt of which it is not known whether it arrived */
	NOTED_S = 60,      /* how often "last poll" is written when nothing else is */
	SUMMARY_BYTES = 1 << 20,
	PAYLOAD_BYTES = 4 << 20,
};

struct round {
	struct mr_ctx *cx;
	const struct mr_notifier_target *target;
	struct mr_db *db;
	struct mr_notifier_settings settings;
	struct mr_notifier_inbox inbox;
	const struct mr_channel *channel;
	struct mr_notifier_round *out;
	int64_t now_us;
};

static void round_release(struct round *r)
{
	mr_notifier_inbox_close(&r->inbox);
	mr_db_closep(&r->db);
}

/* --- what the audit says --- */

static const char *digest_of(struct round *r)
{
	const struct mr_texts refs = { r->inbox.refs, r->inbox.unread.len };

	if (refs.len == 0)
		return NULL;
	return mr_digest_sha256(r->cx->arena,
		mr_bytes_text(mr_str_join(r->cx->arena, &refs, "\n")));
}

static const char *summary_of(struct round *r)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer json;
	size_t count = r->inbox.unread.len;

	mr_buf_init(&buf, SUMMARY_BYTES);
	mr_json_init(&json, &buf, MR_JSON_SPACED);
	mr_json_begin_list(&json);
	for (size_t i = 0; i < count && i < MR_NOTIFIER_TOLD; i++) {
		const struct mr_mail_message *message = &r->inbox.unread.items[i];

		mr_json_begin_map(&json);
		mr_json_key(&json, "message_ref");
		mr_json_text(&json, message->ref);
		mr_json_key(&json, "thread_ref");
		mr_json_text(&json, message->thread_ref);
		mr_json_key(&json, "created_at_utc");
		mr_json_text(&json, message->content.created_at_utc);
		mr_json_key(&json, "subject");
		mr_json_text(&json, message->content.subject);
		mr_json_end(&json);
	}
	mr_json_end(&json);
	return buf.failed ? "[]" : mr_arena_strdup(r->cx->arena, mr_buf_text(&buf));
}

static enum mr_code audit(struct round *r, const char *outcome, const char *detail,
	const char *request, const char *entries)
{
	bool is_busy = mr_str_eq(outcome, "busy_skip");
	const struct mr_notifier_audit row = {
		.poll_time = mr_ledger_now(r->cx),
		.unread_count = (int64_t)r->inbox.unread.len,
		.unread_digest = digest_of(r),
		.unread_summary = summary_of(r),
		.admission = "open",
		.execution = is_busy ? "running" : "idle",
		.queue_depth = 0,
		.outcome = outcome,
		.request_id = request,
		.detail = detail,
		.context_error_policy =
			mr_notifier_context_policies[r->settings.context_error_policy],
		.pre_notification_context_action =
			mr_notifier_pre_actions[r->settings.pre_notification_context_action],
		.rendered_entries = entries,
	};

	return mr_notifier_sql_audit(r->cx, r->db, &row);
}

static const char *entries_json(struct mr_ctx *cx, const struct mr_notice_slots *slots)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer json;

	mr_buf_init(&buf, SUMMARY_BYTES);
	mr_json_init(&json, &buf, MR_JSON_SPACED);
	mr_json_begin_list(&json);
	for (size_t i = 0; i < slots->len; i++) {
		const struct mr_notice_entry *entry = &slots->entries[i];

		mr_json_begin_map(&json);
		mr_json_key(&json, "message_ref");
		mr_json_text(&json, entry->ref);
		mr_json_key(&json, "rendered");
		mr_json_bool(&json, entry->rendered);
		mr_json_key(&json, "auth_scheme");
		mr_json_text(&json, entry->auth_scheme);
		mr_json_key(&json, "auth_outcome");
		mr_json_text(&json, entry->auth_outcome);
		mr_json_key(&json, "auth_detail");
		mr_json_text(&json, entry->auth_detail);
		mr_json_key(&json, "block_chars");
		mr_json_int(&json, entry->block_chars);
		mr_json_key(&json, "block_truncated");
		mr_json_bool(&json, entry->truncated);
		mr_json_end(&json);
	}
	mr_json_end(&json);
	return buf.failed ? "[]" : mr_arena_strdup(cx->arena, mr_buf_text(&buf));
}

static const char *payload_json(struct mr_ctx *cx, const char *prompt)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer json;

	mr_buf_init(&buf, PAYLOAD_BYTES);
	mr_json_init(&json, &buf, MR_JSON_SPACED);
	mr_json_begin_map(&json);
	mr_json_key(&json, "prompt");
	mr_json_text(&json, prompt);
	mr_json_end(&json);
	return buf.failed ? "{}" : mr_arena_strdup(cx->arena, mr_buf_text(&buf));
}

/* --- changes, each a transaction --- */

static enum mr_code finish(struct round *r, enum mr_code rc)
{
	if (!rc)
		rc = mr_db_commit(r->db, &r->cx->err);
	if (rc)
		mr_db_rollback(r->db);
	return rc;
}

/* Nothing is told: say so, unless that was said already. */
static enum mr_code note(struct round *r, const char *outcome, const char *detail,
	const char *error)
{
	const struct mr_notifier_news news = { .poll_at = mr_ledger_now(r->cx), .error = error };
	int64_t changes;
	enum mr_code rc = mr_db_begin(r->db, MR_DB_IMMEDIATE, &r->cx->err);

	if (rc)
		return rc;
	changes = mr_db_total_changes(r->db);
	rc = audit(r, outcome, detail, NULL, NULL);
	if (!rc && mr_db_total_changes(r->db) == changes &&
		mr_str_eq(error, r->settings.last_error) && r->settings.last_poll_at) {
		int64_t last = 0;
		struct mr_err ignored;

		if (!mr_time_parse(r->settings.last_poll_at, MR_TIME_LENIENT, &last, &ignored) &&
			r->now_us - last < NOTED_S * MR_TIME_S) {
			mr_db_rollback(r->db);
			return MR_OK;
		}
	}
	if (!rc)
		rc = mr_notifier_sql_news(r->cx, r->db, &news);
	return finish(r, rc);
}

/* A process that died while it delivered: the prompt may have arrived. */
static enum mr_code recover(struct round *r, const struct mr_ledger_notice *notice)
{
	const struct mr_ledger_change change = {
		.state = MR_LEDGER_FAILED,
		.detail = "the notifier ended while it delivered this; it may have arrived",
		.now_us = r->now_us,
		.is_announced = true,
	};
	enum mr_code rc = mr_db_begin(r->db, MR_DB_IMMEDIATE, &r->cx->err);

	return rc ? rc : finish(r, mr_ledger_sql_change(r->cx, r->db, notice->id, &change));
}

static enum mr_code queue(struct round *r, struct mr_notifier_plan *plan, int64_t *out_notice)
{
	enum mr_code rc = mr_db_begin(r->db, MR_DB_IMMEDIATE, &r->cx->err);

	if (rc)
		return rc;
	rc = mr_notifier_plan_make(r->cx, r->db, &r->inbox, plan);
	if (!rc)
		rc = mr_notifier_plan_enter(r->cx, r->db, plan, r->channel->name, out_notice);
	return finish(r, rc);
}

/* --- delivering --- */

static int64_t retry_at(const struct round *r, int64_t attempts)
{
	int64_t pause_s = RETRY_MAX_S;

	if (attempts < 5)
		pause_s = (int64_t)RETRY_S << attempts;
	return r->now_us + (pause_s < RETRY_MAX_S ? pause_s : RETRY_MAX_S) * MR_TIME_S;
}

/* The channel is dead before anything was delivered. */
static enum mr_code fail(struct round *r, const struct mr_ledger_notice *notice)
{
	const char *why = mr_arena_strdup(r->cx->arena, r->cx->err.msg);
	const struct mr_ledger_change change = {
		.state = MR_LEDGER_FAILED,
		.channel = r->channel->name,
		.detail = why,
		.now_us = r->now_us,
		.retry_us = retry_at(r, notice->attempts),
		.is_attempt = true,
	};
	enum mr_code rc = mr_db_begin(r->db, MR_DB_IMMEDIATE, &r->cx->err);

	r->out->next_us = change.retry_us;
	if (rc)
		return rc;
	rc = mr_ledger_sql_change(r->cx, r->db, notice->id, &change);
	if (!rc)
		rc = mr_notifier_sql_news(r->cx, r->db,
			&(struct mr_notifier_news){ .poll_at = mr_ledger_now(r->cx),
				.error = why });
	if (!rc)
		rc = audit(r, "poll_error", why, NULL, NULL);
	return finish(r, rc);
}

/* A wake-up on its way. */
struct wake {
	const char *request;
	const char *prompt;
	struct mr_mail_messages messages;
};

/* Right before delivery: what was read meanwhile is left out. */
static enum mr_code prepare(struct round *r, const struct mr_ledger_notice *notice,
	struct wake *wake)
{
	struct mr_ledger_change change = { .state = MR_LEDGER_SENDING,
		.channel = r->channel->name,
		.now_us = r->now_us,
		.is_attempt = true };
	struct mr_notice_slots slots;
	uint64_t chance[2];
	enum mr_code rc =
		mr_notifier_plan_check(r->cx, r->db, notice->id, &r->inbox, &wake->messages);

	if (rc)
		return rc;
	if (wake->messages.len == 0) {
		change.state = MR_LEDGER_WITHDRAWN;
		change.detail = "read before it was delivered";
		change.is_attempt = false;
		return mr_ledger_sql_change(r->cx, r->db, notice->id, &change);
	}
	mr_notifier_load(r->cx, &r->inbox, &wake->messages);
	wake->prompt = mr_notifier_prompt(r->cx, r->target, &r->settings, &wake->messages,
		wake->messages.len, &slots);
	mr_rand_fill(r->cx->rand, chance, sizeof(chance));
	wake->request = mr_arena_printf(r->cx->arena, "gwreq-%016llx%016llx",
		(unsigned long long)chance[0], (unsigned long long)chance[1]);
	rc = mr_ledger_sql_change(r->cx, r->db, notice->id, &change);
	if (!rc)
		rc = mr_notifier_sql_request(r->cx, r->db, wake->request,
			payload_json(r->cx, wake->prompt), mr_ledger_now(r->cx));
	if (!rc)
		rc = audit(r, "enqueued", NULL, wake->request, entries_json(r->cx, &slots));
	return rc;
}

static enum mr_code settle(struct round *r, const struct mr_ledger_notice *notice,
	const struct wake *wake, enum mr_code how, bool perhaps)
{
	const char *why = how ? mr_arena_strdup(r->cx->arena, r->cx->err.msg) : NULL;
	/* It may have arrived or not: once more, if the mail is still unread then. */
	bool once_more = perhaps && notice->attempts == 0;
	struct mr_ledger_change change = {
		.state = how ? MR_LEDGER_FAILED : MR_LEDGER_DELIVERED,
		.detail = why,
		.now_us = mr_clock_wall_us(r->cx->clock),
		.retry_us = once_more     ? r->now_us + UNSURE_S * MR_TIME_S
			: how && !perhaps ? retry_at(r, notice->attempts)
					  : 0,
		.is_announced = !how || (perhaps && !once_more),
	};
	const char *now = mr_ledger_now(r->cx);
	const struct mr_notifier_news news = {
		.poll_at = now,
		.notification_at = how ? NULL : now,
		.error = why,
	};
	enum mr_code rc = mr_db_begin(r->db, MR_DB_IMMEDIATE, &r->cx->err);

	r->out->was_told = !how;
	r->out->next_us = change.retry_us;
	if (rc)
		return rc;
	rc = mr_ledger_sql_change(r->cx, r->db, notice->id, &change);
	if (!rc)
		rc = mr_notifier_sql_request_end(r->cx, r->db, wake->request, now, why);
	if (!rc)
		rc = mr_notifier_sql_news(r->cx, r->db, &news);
	return finish(r, rc);
}

static enum mr_code deliver(struct round *r, const struct mr_ledger_notice *notice)
{
	struct wake wake = { NULL };
	bool perhaps = false;
	enum mr_code rc;

	/* The agent was looked at meanwhile, which takes a moment: the inbox is looked at again. */
	mr_notifier_inbox_close(&r->inbox);
	rc = mr_notifier_inbox_open(r->cx, r->target, &r->inbox);
	if (!rc)
		rc = mr_db_begin(r->db, MR_DB_IMMEDIATE, &r->cx->err);
	if (rc)
		return rc;
	rc = finish(r, prepare(r, notice, &wake));
	/* What is told is in memory: the mailbox is not held open while it takes its time. */
	mr_mail_close(&r->inbox.mail);
	if (rc || !wake.prompt)
		return rc;
	rc = r->channel->deliver(r->cx, r->target, &r->settings, wake.prompt, &perhaps);
	return settle(r, notice, &wake, rc, perhaps);
}

/* A notice waits: is it time, and does the agent rest? */
static enum mr_code attend(struct round *r, const struct mr_ledger_notice *notice)
{
	const char *busy = NULL;

	if (notice->retry_us > r->now_us) {
		r->out->next_us = notice->retry_us;
		return MR_OK;
	}
	if (r->channel->look(r->cx, r->target, &r->settings, &busy))
		return fail(r, notice);
	if (busy) {
		r->out->next_us = r->now_us + BUSY_AGAIN_S * MR_TIME_S;
		return note(r, "busy_skip", busy, NULL);
	}
	return deliver(r, notice);
}

/* --- the round --- */

/* Forget what is old; messages that are still unread are remembered. */
static enum mr_code prune(struct round *r)
{
	int64_t before_us = r->now_us - MR_NOTIFIER_KEPT_DAYS * MR_TIME_DAY;
	const char *before = mr_time_format(r->cx->arena, before_us, MR_TIME_MICROS_OFFSET);
	struct mr_ledger_messages known = { NULL, 0 };
	enum mr_code rc = mr_db_begin(r->db, MR_DB_IMMEDIATE, &r->cx->err);

	if (rc)
		return rc;
	rc = mr_notifier_sql_prune(r->cx, r->db, before, MR_NOTIFIER_AUDIT_ROWS);
	if (!rc)
		rc = mr_ledger_sql_prune(r->cx, r->db, before_us);
	if (!rc)
		rc = mr_ledger_sql_messages(r->cx, r->db, &known);
	for (size_t i = 0; i < known.len && !rc; i++) {
		const struct mr_ledger_message *message = &known.items[i];

		if (message->last_us < before_us && !message->open_notice &&
			!mr_notifier_inbox_has(&r->inbox, message->ref))
			rc = mr_ledger_sql_forget(r->cx, r->db, message->ref);
	}
	return finish(r, rc);
}

/* Once a day at most: when the last poll was on another day. */
static bool is_time_to_prune(struct round *r)
{
	int64_t last = 0;
	struct mr_err ignored;

	return r->settings.last_poll_at &&
		!mr_time_parse(r->settings.last_poll_at, MR_TIME_LENIENT, &last, &ignored) &&
		last / MR_TIME_DAY != r->now_us / MR_TIME_DAY;
}

static enum mr_code look(struct round *r)
{
	struct mr_notifier_plan plan;
	struct mr_ledger_notice notice;
	int64_t id = 0;
	bool found = false;
	enum mr_code rc = mr_notifier_plan_make(r->cx, r->db, &r->inbox, &plan);

	if (!rc && plan.has_open &&
		mr_str_eq(plan.open.state, mr_ledger_states[MR_LEDGER_SENDING])) {
		rc = recover(r, &plan.open);
		if (!rc)
			rc = mr_notifier_plan_make(r->cx, r->db, &r->inbox, &plan);
	}
	if (!rc && (plan.due_len || plan.read_len))
		rc = queue(r, &plan, &id);
	else if (!rc && plan.has_open)
		id = plan.open.id;
	if (!rc && id)
		rc = mr_ledger_sql_get(r->cx, r->db, id, &notice, &found);
	if (rc)
		return rc;
	r->out->next_us = plan.next_us;
	if (found)
		return attend(r, &notice);
	return note(r, r->inbox.unread.len ? "dedup_skip" : "empty", NULL, NULL);
}

static enum mr_code run(struct round *r)
{
	enum mr_code rc = mr_notifier_inbox_open(r->cx, r->target, &r->inbox);

	if (rc)
		return note(r, "poll_error", mr_arena_strdup(r->cx->arena, r->cx->err.msg),
			mr_arena_strdup(r->cx->arena, r->cx->err.msg));
	if (is_time_to_prune(r))
		rc = prune(r);
	return rc ? rc : look(r);
}

enum mr_code mr_notifier_round(struct mr_ctx *cx, const struct mr_notifier_target *target,
	struct mr_notifier_round *out)
{
	struct round r MR_CLEANUP(round_release) = {
		.cx = cx,
		.target = target,
		.inbox = MR_NOTIFIER_INBOX_INIT,
		.out = out,
		.now_us = mr_clock_wall_us(cx->clock),
	};
	enum mr_code rc = mr_notifier_sql_open(cx, target->session, false, &r.db);

	*out = (struct mr_notifier_round){ .is_enabled = false };
	/* A session that never had settings has no notifier. */
	if (rc)
		return rc == MR_ENOTFOUND ? MR_OK : rc;
	rc = mr_notifier_sql_settings(cx, r.db, &r.settings);
	mr_db_closep(&r.db);
	if (rc || !r.settings.enabled || r.settings.channel == MR_NOTIFIER_NONE)
		return rc;
	out->is_enabled = true;
	out->interval_seconds = r.settings.interval_seconds;
	r.channel =
		r.settings.channel == MR_NOTIFIER_COMMAND ? &mr_channel_command : &mr_channel_tmux;
	rc = mr_notifier_sql_open(cx, target->session, true, &r.db);
	return rc ? rc : run(&r);
}
