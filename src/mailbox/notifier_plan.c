/* mailbox/notifier_plan.c - compares the inbox with the ledger: what is to be told, what was read.
 */
#include "mailbox/limits.h"
#include "mailbox/mail_open.h"
#include "mailbox/notifier_private.h"
#include "mailbox/skill.h"
#include "text/time.h"

#include <stdlib.h>
#include <string.h>

int64_t mr_notifier_pause_us(int64_t times)
{
	if (times < 1 || times >= MR_NOTIFIER_TIMES)
		return 0;
	return (15 * MR_TIME_MIN) << (2 * (times - 1));
}

/* --- the inbox --- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void mr_notifier_inbox_close(struct mr_notifier_inbox *inbox)
{
	mr_mail_close(&inbox->mail);
}

static void turn(struct mr_mail_messages *list)
{
	for (size_t i = 0; i < list->len / 2; i++) {
		struct mr_mail_message first = list->items[i];

		list->items[i] = list->items[list->len - 1 - i];
		list->items[list->len - 1 - i] = first;
	}
}

enum mr_code mr_notifier_inbox_open(struct mr_ctx *cx, const struct mr_notifier_target *target,
	struct mr_notifier_inbox *out)
{
	const struct mr_mail_query query = {
		.read = 0,
		.answered = -1,
		.archived = 0,
		.limit = MR_MAILBOX_LISTED,
		.is_brief = true,
	};
	struct mr_mail_list list;
	enum mr_code rc = mr_mail_open(cx, target->session, &target->binding, true, &out->mail);

	if (!rc)
		rc = mr_mail_list(cx, &out->mail, &query, &list);
	if (rc)
		return rc;
	turn(&list.messages);
	out->unread = list.messages;
	out->refs = mr_arena_array(cx->arena, list.messages.len + 1, sizeof(*out->refs));
	for (size_t i = 0; i < list.messages.len; i++)
		out->refs[i] = list.messages.items[i].ref;
	qsort(out->refs, list.messages.len, sizeof(*out->refs), by_text);
	return MR_OK;
}

bool mr_notifier_inbox_has(const struct mr_notifier_inbox *inbox, const char *ref)
{
	return inbox->unread.len &&
		bsearch(&ref, inbox->refs, inbox->unread.len, sizeof(*inbox->refs), by_text);
}

/* --- the plan --- */

static int by_ref(const void *key, const void *item)
{
	return strcmp(key, ((const struct mr_ledger_message *)item)->ref);
}

static const struct mr_ledger_message *find(const struct mr_ledger_messages *known, const char *ref)
{
	if (known->len == 0)
		return NULL;
	return bsearch(ref, known->items, known->len, sizeof(*known->items), by_ref);
}

/* When it is due; 0 for never. One that was read before it was told has been told no times. */
static int64_t due_us(const struct mr_ledger_message *known, int64_t now_us)
{
	int64_t pause;

	if (!known || (known->times == 0 && !known->open_notice))
		return now_us;
	pause = known->open_notice ? 0 : mr_notifier_pause_us(known->times);
	return pause ? known->last_us + pause : 0;
}

static void collect_due(struct mr_ctx *cx, const struct mr_notifier_inbox *inbox,
	const struct mr_ledger_messages *known, struct mr_notifier_plan *plan)
{
	int64_t now_us = mr_clock_wall_us(cx->clock);

	plan->due = mr_arena_array(cx->arena, inbox->unread.len + 1, sizeof(*plan->due));
	for (size_t i = 0; i < inbox->unread.len; i++) {
		const struct mr_mail_message *message = &inbox->unread.items[i];
		int64_t when = due_us(find(known, message->ref), now_us);

		if (when && when <= now_us)
			plan->due[plan->due_len++] = message;
		else if (when && (!plan->next_us || when < plan->next_us))
			plan->next_us = when;
	}
}

/* Notices none of whose messages is unread any more. */
static void collect_read(struct mr_ctx *cx, const struct mr_notifier_inbox *inbox,
	const struct mr_ledger_pairs *pairs, struct mr_notifier_plan *plan)
{
	plan->read = mr_arena_array(cx->arena, pairs->len + 1, sizeof(*plan->read));
	for (size_t i = 0; i < pairs->len;) {
		int64_t notice = pairs->items[i].notice;
		bool is_read = true;

		for (; i < pairs->len && pairs->items[i].notice == notice; i++)
			is_read = is_read && !mr_notifier_inbox_has(inbox, pairs->items[i].ref);
		if (is_read)
			plan->read[plan->read_len++] = notice;
	}
}

enum mr_code mr_notifier_plan_make(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_notifier_inbox *inbox, struct mr_notifier_plan *out)
{
	struct mr_ledger_messages known = { NULL, 0 };
	struct mr_ledger_pairs pairs = { NULL, 0 };
	enum mr_code rc = mr_ledger_sql_messages(cx, db, &known);

	*out = (struct mr_notifier_plan){ .due = NULL };
	if (!rc)
		rc = mr_ledger_sql_unacknowledged(cx, db, &pairs);
	if (!rc)
		rc = mr_ledger_sql_open_notice(cx, db, &out->open, &out->has_open);
	if (rc)
		return rc;
	collect_due(cx, inbox, &known, out);
	collect_read(cx, inbox, &pairs, out);
	return MR_OK;
}

enum mr_code mr_notifier_plan_enter(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_notifier_plan *plan, const char *channel, int64_t *out_notice)
{
	int64_t now_us = mr_clock_wall_us(cx->clock);
	const struct mr_ledger_change read = { .state = MR_LEDGER_ACKNOWLEDGED, .now_us = now_us };
	int64_t notice = plan->has_open ? plan->open.id : 0;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < plan->read_len && !rc; i++)
		rc = mr_ledger_sql_change(cx, db, plan->read[i], &read);
	if (!rc && !notice && plan->due_len)
		rc = mr_ledger_sql_add(cx, db, channel, plan->due[0]->content.subject, now_us,
			&notice);
	for (size_t i = 0; i < plan->due_len && !rc; i++)
		rc = mr_ledger_sql_join(cx, db, notice, plan->due[i]->ref, now_us);
	if (!rc)
		*out_notice = notice;
	return rc;
}

static bool is_among(const struct mr_texts *sorted, const char *ref)
{
	return sorted->len &&
		bsearch(&ref, sorted->items, sorted->len, sizeof(*sorted->items), by_text);
}

enum mr_code mr_notifier_plan_check(struct mr_ctx *cx, struct mr_db *db, int64_t notice,
	const struct mr_notifier_inbox *inbox, struct mr_mail_messages *out)
{
	struct mr_texts refs = { NULL, 0 };
	enum mr_code rc = mr_ledger_sql_refs(cx, db, notice, &refs);

	for (size_t i = 0; i < refs.len && !rc; i++)
		if (!mr_notifier_inbox_has(inbox, refs.items[i]))
			rc = mr_ledger_sql_leave(cx, db, notice, refs.items[i]);
	if (rc)
		return rc;
	*out = (struct mr_mail_messages){
		mr_arena_array(cx->arena, inbox->unread.len + 1, sizeof(*out->items)), 0
	};
	for (size_t i = 0; i < inbox->unread.len; i++)
		if (is_among(&refs, inbox->unread.items[i].ref))
			out->items[out->len++] = inbox->unread.items[i];
	return MR_OK;
}

/* --- what is told --- */

void mr_notifier_load(struct mr_ctx *cx, const struct mr_notifier_inbox *inbox,
	struct mr_mail_messages *messages)
{
	struct mr_err before = cx->err;

	for (size_t i = 0; i < messages->len && i < MR_NOTIFIER_TOLD; i++) {
		struct mr_mail_message message;

		if (!mr_mail_peek(cx, &inbox->mail, messages->items[i].ref, NULL, &message))
			messages->items[i] = message;
	}
	cx->err = before;
}

const char *mr_notifier_prompt(struct mr_ctx *cx, const struct mr_notifier_target *target,
	const struct mr_notifier_settings *settings, const struct mr_mail_messages *messages,
	size_t count, struct mr_notice_slots *slots)
{
	size_t shown = messages->len < MR_NOTIFIER_TOLD ? messages->len : MR_NOTIFIER_TOLD;
	struct mr_notice_mail *mails = mr_arena_array(cx->arena, shown + 1, sizeof(*mails));
	const char *skill = target->base_url && target->home
		? mr_mailbox_skill_of_gateway(cx->arena, target->home)
		: NULL;
	struct mr_notice_prompt prompt = {
		.mode = settings->mode,
		.count = count,
		.base_url = target->base_url,
		.api = target->api,
		.skill = skill,
		.tool = target->tool,
		.appendix = settings->appendix_text,
		.slots = slots,
	};

	for (size_t i = 0; i < shown; i++) {
		const struct mr_mailbox_message *content = &messages->items[i].content;

		mails[i] = (struct mr_notice_mail){
			.ref = messages->items[i].ref,
			.from = content->sender.address ? content->sender.address : "",
			.notify_block = content->notify_block,
			.notify_auth = content->notify_auth,
		};
	}
	mr_notice_block_render(cx->arena, &settings->rules, mails, shown, slots);
	return mr_notice_prompt_write(cx->arena, &prompt);
}
