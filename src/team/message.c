/* team/message.c - sends a message: everything is decided and stored in one change. */
#include "team/message.h"

#include "base/utf8.h"
#include "team/error.h"
#include "team/inbox.h"
#include "team/layout.h"
#include "team/limits.h"
#include "team/message_private.h"
#include "team/message_sql.h"
#include "team/overseer.h"
#include "team/post.h"
#include "text/time.h"

#include <string.h>

/* How long an idempotency key is remembered. */
#define KEY_LIFE_US MR_TIME_DAY

struct sending {
	struct mr_team *team;
	const struct mr_team_draft *draft;
	const char *thread_id; /* the draft's, or of what it answers */
	enum mr_team_importance importance;
	struct mr_team_project project;
	struct mr_team_agent sender;
	struct mr_team_attached attached;

	/* Filled anew by each run of the change, as is `sender`. */
	struct mr_team_sent sent;
	bool denied; /* no recipient may be written to, but contact was requested */
	int64_t *notices;
	size_t notice_count;
};

/* Limits, before anything is looked up. */

static enum mr_code check_text(struct mr_ctx *cx, const char *argument, const char *text)
{
	size_t bad = 0;

	if (!text || mr_utf8_is_valid(text, strlen(text), &bad))
		return MR_OK;
	return mr_team_refuse(cx, argument, "%s is not UTF-8 at byte %zu", argument, bad);
}

static enum mr_code check_list(struct mr_ctx *cx, const char *argument, const struct mr_texts *list)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < list->len; i++)
		rc = check_text(cx, argument, list->items[i]);
	return rc;
}

static enum mr_code check_lists(struct mr_ctx *cx, const struct mr_team_address_lists *lists)
{
	size_t count = lists->to.len + lists->cc.len + lists->bcc.len;
	enum mr_code rc;

	if (count > MR_TEAM_RECIPIENTS)
		return mr_team_refuse(cx, "to", "%zu recipients: a message has at most %d", count,
			MR_TEAM_RECIPIENTS);
	rc = check_list(cx, "to", &lists->to);
	if (!rc)
		rc = check_list(cx, "cc", &lists->cc);
	return rc ? rc : check_list(cx, "bcc", &lists->bcc);
}

static enum mr_code check_body(struct mr_ctx *cx, const char *body)
{
	size_t len = strlen(body);

	if (len <= MR_TEAM_BODY_BYTES)
		return check_text(cx, "body_md", body);
	mr_team_fail(cx, MR_TEAM_PAYLOAD_TOO_LARGE,
		"body_md has %zu bytes: at most %d are taken, and none are cut off", len,
		MR_TEAM_BODY_BYTES);
	mr_team_fail_text(cx, "argument", "body_md");
	return mr_team_fail_int(cx, "limit", MR_TEAM_BODY_BYTES);
}

static enum mr_code check_subject(struct mr_ctx *cx, const char *subject)
{
	enum mr_code rc = check_text(cx, "subject", subject);
	size_t count = rc ? 0 : mr_utf8_count(subject, strlen(subject));

	if (count > MR_TEAM_SUBJECT_CHARS)
		return mr_team_refuse(cx, "subject",
			"subject has %zu characters: at most %d are taken, and none are cut off",
			count, MR_TEAM_SUBJECT_CHARS);
	return rc;
}

static enum mr_code check_short(struct mr_ctx *cx, const char *argument, const char *text,
	size_t max)
{
	if (text && strlen(text) > max)
		return mr_team_refuse(cx, argument, "%s has %zu bytes: at most %zu are taken",
			argument, strlen(text), max);
	return check_text(cx, argument, text);
}

static enum mr_code check_draft(struct mr_ctx *cx, const struct mr_team_draft *draft,
	enum mr_team_importance *importance)
{
	enum mr_code rc = check_lists(cx, &draft->lists);

	*importance = MR_TEAM_NORMAL;
	if (!rc)
		rc = check_subject(cx, draft->subject);
	if (!rc)
		rc = check_body(cx, draft->body_md);
	if (!rc)
		rc = check_short(cx, "thread_id", draft->thread_id, MR_TEAM_THREAD_BYTES);
	if (!rc)
		rc = check_short(cx, "idempotency_key", draft->idempotency_key,
			MR_TEAM_IDEMPOTENCY_BYTES);
	if (!rc && draft->importance && !mr_team_importance_of(draft->importance, importance))
		rc = mr_team_refuse(cx, "importance",
			"importance is one of low, normal, high, urgent");
	return rc;
}

/* Who may not be written to. */

static struct mr_value contact_call(struct mr_arena *arena, const struct sending *s,
	const struct mr_team_blocked *blocked)
{
	struct mr_pair arguments[] = {
		{ "project_key", mr_team_value_text(s->project.human_key) },
		{ "from_agent", mr_team_value_text(s->sender.name) },
		{ "to_agent", mr_team_value_text(blocked->name) },
		{ "to_project", mr_team_value_text(blocked->project) },
		{ "reason", mr_team_value_text(s->draft->subject) },
	};
	struct mr_pair call[] = {
		{ "tool", mr_team_value_text("request_contact") },
		{ "arguments", mr_team_value_map(arena, arguments, MR_LEN(arguments)) },
	};

	return mr_team_value_map(arena, call, MR_LEN(call));
}

static struct mr_value blocked_value(struct mr_arena *arena, const struct mr_team_blocked *blocked)
{
	struct mr_pair pairs[] = {
		{ "name", mr_team_value_text(blocked->name) },
		{ "project", mr_team_value_text(blocked->project) },
		{ "reason", mr_team_value_text(blocked->reason) },
	};

	return mr_team_value_map(arena, pairs, MR_LEN(pairs));
}

static void fail_with_requests(struct mr_ctx *cx, const struct mr_team_sent *sent)
{
	struct mr_value links = mr_team_value_list(cx->arena, sent->contact_request_count);

	for (size_t i = 0; i < sent->contact_request_count; i++) {
		const struct mr_team_link *link = &sent->contact_requests[i];
		struct mr_pair pairs[] = {
			{ "id", { .kind = MR_INT, .integer = link->id } },
			{ "to_agent", mr_team_value_text(link->b_agent) },
			{ "to_project", mr_team_value_text(link->b_project) },
			{ "status", mr_team_value_text(mr_team_link_status_name(link->status)) },
		};

		links.list.items[i] = mr_team_value_map(cx->arena, pairs, MR_LEN(pairs));
	}
	if (links.list.len)
		mr_team_fail_value(cx, "contact_requests", &links);
}

/* Report the first blocked recipient that can still be asked for contact, or else the first. */
static enum mr_code refuse_blocked(struct mr_ctx *cx, const struct sending *s)
{
	const struct mr_team_sent *sent = &s->sent;
	const struct mr_team_blocked *about = &sent->blocked[0];
	struct mr_value all = mr_team_value_list(cx->arena, sent->blocked_count);
	struct mr_value calls = mr_team_value_list(cx->arena, sent->blocked_count);
	bool asked = sent->contact_request_count > 0;
	bool required;

	calls.list.len = 0;
	for (size_t i = 0; i < sent->blocked_count; i++) {
		const struct mr_team_blocked *one = &sent->blocked[i];

		all.list.items[i] = blocked_value(cx->arena, one);
		if (one->verdict != MR_TEAM_NEEDS_CONTACT)
			continue;
		if (about->verdict != MR_TEAM_NEEDS_CONTACT)
			about = one;
		if (calls.list.len < MR_TEAM_SUGGESTIONS)
			calls.list.items[calls.list.len++] = contact_call(cx->arena, s, one);
	}
	required = about->verdict == MR_TEAM_NEEDS_CONTACT;
	mr_team_fail(cx, required ? MR_TEAM_CONTACT_REQUIRED : MR_TEAM_CONTACT_BLOCKED,
		"%s@%s takes no mail from %s (%s)%s; nothing was sent", about->name, about->project,
		s->sender.name, about->reason,
		asked              ? ", and was asked for contact"
			: required ? ": ask with request_contact"
				   : "");
	mr_team_fail_text(cx, "recipient", about->name);
	mr_team_fail_text(cx, "policy", mr_team_contact_policy_name(about->policy));
	mr_team_fail_text(cx, "reason", about->reason);
	mr_team_fail_value(cx, "blocked_recipients", &all);
	mr_team_fail_value(cx, "suggested_tool_calls", &calls);
	fail_with_requests(cx, sent);
	return cx->err.code;
}

/* Split the recipients into those who get the message and those who may not be written to. */
static enum mr_code decide(struct mr_ctx *cx, struct mr_db *db, struct sending *s,
	struct mr_team_addressees *all, struct mr_team_addressees *denied)
{
	struct mr_team_sent *sent = &s->sent;
	size_t kept = 0;

	sent->blocked = mr_arena_array(cx->arena, all->len, sizeof(*sent->blocked));
	denied->items = mr_arena_array(cx->arena, all->len, sizeof(*denied->items));
	for (size_t i = 0; i < all->len; i++) {
		struct mr_team_addressee *one = &all->items[i];
		struct mr_team_contact_case the_case = {
			.sender = &s->sender,
			.recipient = &one->agent,
			.thread_id = s->thread_id,
			.reply_to = s->draft->reply_to,
		};
		struct mr_team_decision decision;
		enum mr_code rc = mr_team_contact_decide(cx, s->team, db, &the_case, &decision);

		if (rc)
			return rc;
		if (decision.verdict == MR_TEAM_ALLOWED) {
			all->items[kept++] = *one;
			continue;
		}
		denied->items[denied->len++] = *one;
		sent->blocked[sent->blocked_count++] = (struct mr_team_blocked){
			.name = one->agent.name,
			.project = one->project_slug,
			.reason = decision.rule,
			.verdict = decision.verdict,
			.policy = one->agent.contact_policy,
		};
	}
	all->len = kept;
	return MR_OK;
}

static enum mr_code ask_contacts(struct mr_ctx *cx, struct mr_db *db, struct sending *s,
	const struct mr_team_addressees *denied)
{
	struct mr_team_sent *sent = &s->sent;
	enum mr_code rc = MR_OK;

	sent->contact_requests =
		mr_arena_array(cx->arena, denied->len, sizeof(*sent->contact_requests));
	s->notices = mr_arena_array(cx->arena, denied->len, sizeof(*s->notices));
	for (size_t i = 0; !rc && i < denied->len; i++) {
		int64_t notice = 0;

		if (sent->blocked[i].verdict != MR_TEAM_NEEDS_CONTACT)
			continue;
		rc = mr_team_contact_ask_in(cx, s->team, db, &s->sender, &denied->items[i].agent,
			s->draft->subject, 0,
			&sent->contact_requests[sent->contact_request_count++], &notice);
		if (!rc && notice)
			s->notices[s->notice_count++] = notice;
	}
	return rc;
}

/* Leases on the mailbox files that the message would become (9.6). */

static enum mr_code refuse_surfaces(struct mr_ctx *cx, const struct mr_team_conflicts *stopping)
{
	const struct mr_team_reservation *first = &stopping->items[0].holders.items[0];
	size_t count = 0;
	struct mr_value list;

	for (size_t i = 0; i < stopping->len; i++)
		count += stopping->items[i].holders.len;
	list = mr_team_value_list(cx->arena, count);
	list.list.len = 0;
	for (size_t i = 0; i < stopping->len; i++) {
		for (size_t k = 0; k < stopping->items[i].holders.len; k++) {
			const struct mr_team_reservation *lease =
				&stopping->items[i].holders.items[k];
			struct mr_pair pairs[] = {
				{ "surface", mr_team_value_text(stopping->items[i].path) },
				{ "holder", mr_team_value_text(lease->agent) },
				{ "path_pattern", mr_team_value_text(lease->path_pattern) },
				{ "exclusive", { .kind = MR_BOOL, .boolean = lease->exclusive } },
				{ "expires_ts",
					mr_team_value_text(mr_time_format(cx->arena,
						lease->expires_ts, MR_TIME_MICROS)) },
			};

			list.list.items[list.list.len++] =
				mr_team_value_map(cx->arena, pairs, MR_LEN(pairs));
		}
	}
	mr_team_fail(cx, MR_TEAM_RESERVATION_CONFLICT,
		"%s holds a lease on %s until %s (%s): no mail until it ends%s", first->agent,
		first->path_pattern, mr_time_format(cx->arena, first->expires_ts, MR_TIME_SECONDS),
		first->reason,
		mr_str_eq(first->origin, "escalation")
			? ", or what is overdue there is acknowledged"
			: "");
	return mr_team_fail_value(cx, "conflicts", &list);
}

static void add_conflicts(struct mr_ctx *cx, struct mr_team_conflicts *to,
	const struct mr_team_conflicts *more)
{
	struct mr_team_conflict *items;

	if (!more->len)
		return;
	items = mr_arena_array(cx->arena, to->len + more->len, sizeof(*items));
	if (to->len)
		memcpy(items, to->items, to->len * sizeof(*items));
	memcpy(items + to->len, more->items, more->len * sizeof(*items));
	*to = (struct mr_team_conflicts){ items, to->len + more->len };
}

/* Of one project: the inboxes there, and in the message's own also the outbox. */
static enum mr_code guard_project(struct mr_ctx *cx, struct mr_db *db, struct sending *s,
	const struct mr_team_addressees *to, int64_t project_id, int64_t now_us)
{
	struct mr_texts surfaces = {
		mr_arena_array(cx->arena, to->len + 2, sizeof(*surfaces.items)), 0
	};
	struct mr_team_conflicts stopping = { NULL, 0 };
	struct mr_team_conflicts warnings = { NULL, 0 };
	enum mr_code rc;

	if (project_id == s->project.id)
		surfaces.items[surfaces.len++] =
			mr_team_layout_surface(cx->arena, s->sender.name, "outbox", now_us);
	for (size_t i = 0; i < to->len; i++) {
		if (to->items[i].agent.project_id == project_id)
			surfaces.items[surfaces.len++] = mr_team_layout_surface(cx->arena,
				to->items[i].agent.name, "inbox", now_us);
	}
	rc = mr_team_reservation_guard(cx, s->team, db, project_id, s->sender.id, &surfaces,
		&stopping, &warnings);
	if (!rc && stopping.len)
		rc = refuse_surfaces(cx, &stopping);
	if (!rc)
		add_conflicts(cx, &s->sent.warnings, &warnings);
	return rc;
}

static enum mr_code guard(struct mr_ctx *cx, struct mr_db *db, struct sending *s,
	const struct mr_team_addressees *to)
{
	int64_t now_us = mr_clock_wall_us(cx->clock);
	enum mr_code rc;

	if (!mr_team_config(s->team)->enforce_reservations)
		return MR_OK;
	rc = guard_project(cx, db, s, to, s->project.id, now_us);
	for (size_t i = 0; !rc && i < to->len; i++) {
		int64_t project_id = to->items[i].agent.project_id;
		bool seen = project_id == s->project.id;

		for (size_t k = 0; k < i && !seen; k++)
			seen = to->items[k].agent.project_id == project_id;
		if (!seen)
			rc = guard_project(cx, db, s, to, project_id, now_us);
	}
	return rc;
}

/* Quotas: an inbox is full when it has too many unread messages, so reading makes room. */

static enum mr_code check_quota(struct mr_ctx *cx, struct mr_db *db, const struct sending *s,
	const struct mr_team_addressees *to)
{
	const struct mr_team_config *config = mr_team_config(s->team);
	int64_t bytes = 0;
	enum mr_code rc = MR_OK;

	if (!config->quota)
		return MR_OK;
	if (config->quota_attachment_bytes > 0 && s->attached.bytes > 0)
		rc = mr_team_attached_bytes(cx, db, s->project.id, &bytes);
	if (!rc && bytes + s->attached.bytes > config->quota_attachment_bytes &&
		config->quota_attachment_bytes > 0 && s->attached.bytes > 0) {
		mr_team_fail(cx, MR_TEAM_QUOTA_EXCEEDED,
			"the attachments of project %s have %lld bytes, these %lld more: "
			"%lld are allowed",
			s->project.slug, (long long)bytes, (long long)s->attached.bytes,
			(long long)config->quota_attachment_bytes);
		mr_team_fail_text(cx, "quota", "attachments_bytes");
		return mr_team_fail_int(cx, "limit", config->quota_attachment_bytes);
	}
	for (size_t i = 0; !rc && config->quota_inbox > 0 && i < to->len; i++) {
		bool full = false;

		rc = mr_team_inbox_is_full(cx, db, to->items[i].agent.id, config->quota_inbox,
			&full);
		if (rc || !full)
			continue;
		mr_team_fail(cx, MR_TEAM_QUOTA_EXCEEDED,
			"%s has %lld unread messages, as many as an inbox may hold",
			to->items[i].agent.name, (long long)config->quota_inbox);
		mr_team_fail_text(cx, "quota", "inbox_count");
		mr_team_fail_text(cx, "recipient", to->items[i].agent.name);
		return mr_team_fail_int(cx, "limit", config->quota_inbox);
	}
	return rc;
}

/* Storing. */

static struct mr_team_recipients rows_of(struct mr_arena *arena,
	const struct mr_team_addressees *to)
{
	struct mr_team_recipients rows = { mr_arena_array(arena, to->len, sizeof(*rows.items)),
		to->len };

	for (size_t i = 0; i < to->len; i++)
		rows.items[i] = (struct mr_team_recipient){
			.agent_id = to->items[i].agent.id,
			.project_id = to->items[i].agent.project_id,
			.name = to->items[i].agent.name,
			.project_slug = to->items[i].project_slug,
			.kind = to->items[i].kind,
		};
	return rows;
}

static void name_recipients(struct mr_arena *arena, struct mr_team_sent *sent,
	const struct mr_team_recipients *rows)
{
	int64_t here = sent->project.id;

	sent->to = mr_team_post_names(arena, here, rows, MR_TEAM_TO);
	sent->cc = mr_team_post_names(arena, here, rows, MR_TEAM_CC);
	sent->bcc = mr_team_post_names(arena, here, rows, MR_TEAM_BCC);
}

static enum mr_code store(struct mr_ctx *cx, struct mr_db *db, struct sending *s,
	const struct mr_team_addressees *to)
{
	struct mr_team_post post = {
		.message = { .project_id = s->project.id,
			.sender_id = s->sender.id,
			.thread_id = s->thread_id,
			.reply_to = s->draft->reply_to,
			.subject = s->draft->subject,
			.body_md = s->attached.body_md,
			.importance = s->importance,
			.ack_required = s->draft->ack_required,
			.verified = s->draft->verified,
			.attachments = s->attached.json,
			.addressed = to->addressed },
		.attachment_bytes = s->attached.bytes,
		.from = s->sender.name,
		.recipients = rows_of(cx->arena, to),
		.tool = s->draft->tool ? s->draft->tool : "send_message",
	};
	enum mr_code rc = mr_team_post_store(cx, db, &post);

	if (rc)
		return rc;
	s->sent.message = post.message;
	s->sent.recipients = *to;
	name_recipients(cx->arena, &s->sent, &post.recipients);
	s->sent.auto_registered.items =
		mr_arena_array(cx->arena, to->len + 1, sizeof(*s->sent.auto_registered.items));
	for (size_t i = 0; i < to->len; i++) {
		if (to->items[i].is_new)
			s->sent.auto_registered.items[s->sent.auto_registered.len++] =
				to->items[i].agent.name;
	}
	return MR_OK;
}

static enum mr_code deliver(struct mr_ctx *cx, struct mr_db *db, struct sending *s)
{
	const struct mr_team_draft *draft = s->draft;
	struct mr_team_addressees denied = { NULL, 0 };
	struct mr_team_addressees to;
	enum mr_code rc = mr_team_recipients_resolve(cx, s->team, db, &s->project, &s->sender,
		&draft->lists, draft->tool ? draft->tool : "send_message", &to);

	if (!rc)
		rc = decide(cx, db, s, &to, &denied);
	if (rc)
		return rc;
	s->denied = denied.len > 0 && to.len == 0;
	if (denied.len &&
		(draft->strict_recipients || (s->denied && !draft->auto_contact_if_blocked)))
		return refuse_blocked(cx, s);
	if (denied.len && draft->auto_contact_if_blocked)
		rc = ask_contacts(cx, db, s, &denied);
	if (rc || s->denied)
		return rc;
	rc = guard(cx, db, s, &to);
	if (!rc)
		rc = check_quota(cx, db, s, &to);
	return rc ? rc : store(cx, db, s, &to);
}

/*
 * The sender and the message it answers were looked up before the change, because attachments are
 * read in between. Inside the change both must still be there, and the sender's name must not have
 * become another agent's.
 */
static enum mr_code check_still_there(struct mr_ctx *cx, struct mr_db *db, struct sending *s)
{
	int64_t original = s->draft->reply_to;
	struct mr_team_agent now;
	bool found = true;
	enum mr_code rc = mr_team_agent_find(cx, db, &s->project, s->sender.name, true, &now);

	if (!rc && now.id != s->sender.id)
		return mr_team_fail(cx, MR_TEAM_NOT_FOUND,
			"%s was deleted in the project %s while its message was on the way, and "
			"another agent has its name now; nothing was sent",
			s->sender.name, s->project.slug);
	if (!rc && original)
		rc = mr_team_message_exists(cx, db, original, &found);
	if (rc)
		return rc;
	s->sender = now;
	if (found)
		return MR_OK;
	mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no message %lld in project %s",
		(long long)original, s->project.slug);
	return mr_team_fail_int(cx, "message_id", original);
}

static enum mr_code run_send(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct sending *s = arg;
	const char *key = s->draft->idempotency_key;
	int64_t since = mr_clock_wall_us(cx->clock) - KEY_LIFE_US;
	const char *notes = "";
	int64_t known = 0;
	enum mr_code rc = check_still_there(cx, db, s);

	s->sent = (struct mr_team_sent){ .project = s->project, .sender = s->sender };
	s->denied = false;
	s->notice_count = 0;
	if (!rc && key)
		rc = mr_team_key_find(cx, db, s->sender.id, key, since, &known, &notes);
	if (rc)
		return rc;
	if (known)
		return mr_team_sent_recall(cx, db, known, notes, &s->sent);
	rc = deliver(cx, db, s);
	if (!rc && key && !s->denied)
		rc = mr_team_key_put(cx, db, s->sender.id, key, since, s->sent.message.id,
			mr_team_sent_notes(cx->arena, &s->sent));
	return rc;
}

static enum mr_code index_sent(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct sending *s = arg;
	enum mr_code rc = MR_OK;

	if (!s->denied && !s->sent.repeated)
		rc = mr_team_post_index(cx, db, &s->sent.message);
	for (size_t i = 0; !rc && i < s->notice_count; i++)
		rc = mr_team_notice_index(cx, db, s->notices[i]);
	return rc;
}

/* What can be looked up before the change: project, sender, and the message it answers. */
static enum mr_code look_up(struct mr_ctx *cx, struct sending *s)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	const struct mr_team_draft *draft = s->draft;
	struct mr_team_item original;
	enum mr_code rc = mr_team_read(cx, s->team, &reader);

	if (!rc)
		rc = mr_team_agent_resolve(cx, s->team, reader.db, draft->project_key,
			draft->sender_name, &s->project, &s->sender);
	if (!rc && !draft->by_overseer)
		rc = mr_team_not_reserved(cx, s->sender.name);
	if (rc)
		return rc;
	s->thread_id = mr_str_is_empty(draft->thread_id) ? NULL : draft->thread_id;
	if (!draft->reply_to)
		return MR_OK;
	rc = mr_team_message_get(cx, reader.db, draft->rights, &s->project, draft->reply_to,
		&s->sender, &original);
	if (!rc && !s->thread_id)
		s->thread_id = mr_team_thread_of(cx->arena, &original.message);
	return rc;
}

enum mr_code mr_team_send(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_draft *draft, struct mr_team_sent *out)
{
	struct sending s = { .team = team, .draft = draft };
	struct mr_team_attach_request files = {
		.project = &s.project,
		.sender = &s.sender,
		.body_md = draft->body_md,
		.paths = draft->attachment_paths,
		.convert = draft->convert_images,
	};
	enum mr_code rc = check_draft(cx, draft, &s.importance);

	if (!rc)
		rc = look_up(cx, &s);
	if (!rc)
		rc = mr_team_attach(cx, team, &files, &s.attached);
	if (!rc)
		rc = mr_team_write(cx, team, run_send, index_sent, &s);
	if (!rc && s.denied)
		rc = refuse_blocked(cx, &s);
	if (!rc)
		*out = s.sent;
	return rc;
}
