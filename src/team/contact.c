/*
 * team/contact.c - Contact requests between agents: asking, answering, expiry, and the notices
 * they send.
 */
#include "team/contact.h"

#include "base/utf8.h"
#include "team/archive/archive_queue.h"
#include "team/contact_sql.h"
#include "team/error.h"
#include "team/limits.h"
#include "team/post.h"
#include "text/time.h"

#include <string.h>

#define SECOND INT64_C(1000000)

/* Is this link still in force? */
static bool is_live(const struct mr_team_link_row *row, int64_t now)
{
	const struct mr_team_link *link = &row->link;

	return link->id != 0 && link->status != MR_TEAM_BLOCKED &&
		(link->expires_ts == 0 || link->expires_ts > now);
}

/* Was it blocked by the agent itself, not by a policy? Such a link has no expiry. */
static bool is_refusal(const struct mr_team_link_row *row)
{
	return row->link.id != 0 && row->link.status == MR_TEAM_BLOCKED &&
		row->link.expires_ts == 0;
}

/* The status of a request that has not been answered yet (11.2). */
static enum mr_team_link_status first_status(const struct mr_team_agent *from,
	const struct mr_team_agent *to)
{
	if (to->contact_policy == MR_TEAM_OPEN)
		return MR_TEAM_APPROVED;
	if (to->contact_policy == MR_TEAM_BLOCK_ALL)
		return MR_TEAM_BLOCKED;
	if (to->contact_policy == MR_TEAM_AUTO && mr_str_eq(from->program, to->program))
		return MR_TEAM_APPROVED;
	return MR_TEAM_PENDING;
}

/* Both agents' contacts.json follow. */
static enum mr_code queue_links(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_link *link, const char *actor, const char *tool)
{
	struct mr_team_archive_item item = {
		.project_id = link->a_project_id,
		.kind = MR_TEAM_ARCHIVE_LINKS,
		.ref = link->a_agent_id,
		.agent = actor,
		.subject = mr_arena_printf(cx->arena, "contact: %s -> %s | %s", link->a_agent,
			link->b_agent, mr_team_link_status_name(link->status)),
		.tool = tool,
	};
	enum mr_code rc = mr_team_archive_queue(cx, db, &item);

	item.project_id = link->b_project_id;
	item.ref = link->b_agent_id;
	return rc ? rc : mr_team_archive_queue(cx, db, &item);
}

/* Store, read it back with its names, and queue what the archive shows of it. */
static enum mr_code keep_link(struct mr_ctx *cx, struct mr_db *db, struct mr_team_link_row *row,
	const char *actor, const char *tool)
{
	bool found = false;
	enum mr_code rc = mr_team_contact_store(cx, db, row);

	if (!rc)
		rc = mr_team_contact_get(cx, db, row->link.id, &found, row);
	if (!rc)
		rc = queue_links(cx, db, &row->link, actor, tool);
	return rc;
}

/* The tool call by which the other agent can change its answer, for errors and for the text of a
 * request. */
static const struct mr_value *respond_call(struct mr_arena *arena, const char *b_project,
	const char *b_agent, const char *a_project, const char *a_agent)
{
	const char *names[][2] = {
		{ "project_key", b_project },
		{ "to_agent", b_agent },
		{ "from_agent", a_agent },
		{ "from_project", a_project },
		{ "status", "approved" },
	};
	struct mr_pair *arguments = mr_arena_array(arena, MR_LEN(names), sizeof(*arguments));
	struct mr_pair *call = mr_arena_array(arena, 2, sizeof(*call));
	struct mr_value *list = mr_arena_alloc(arena, sizeof(*list));

	for (size_t i = 0; i < MR_LEN(names); i++)
		arguments[i] =
			(struct mr_pair){ names[i][0], { .kind = MR_TEXT, .text = names[i][1] } };
	call[0] = (struct mr_pair){ "tool", { .kind = MR_TEXT, .text = "respond_contact" } };
	call[1] = (struct mr_pair){ "arguments",
		{ .kind = MR_MAP, .map = { arguments, MR_LEN(names) } } };
	*list = (struct mr_value){ .kind = MR_LIST,
		.list = { mr_arena_alloc(arena, sizeof(struct mr_value)), 1 } };
	list->list.items[0] = (struct mr_value){ .kind = MR_MAP, .map = { call, 2 } };
	return list;
}

static enum mr_code fail_blocked(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *from, const struct mr_team_agent *to, bool by_policy,
	bool by_oneself)
{
	struct mr_team_project near, far;
	enum mr_code rc = mr_team_project_get(cx, db, from->project_id, &near);

	if (!rc)
		rc = mr_team_project_get(cx, db, to->project_id, &far);
	if (rc)
		return rc;
	if (by_oneself)
		mr_team_fail(cx, MR_TEAM_CONTACT_BLOCKED,
			"%s has blocked %s (%s) itself; respond_contact with the status approved "
			"takes that back",
			from->name, to->name, far.slug);
	else
		mr_team_fail(cx, MR_TEAM_CONTACT_BLOCKED, "%s (%s) %s, so %s cannot ask it",
			to->name, far.slug,
			by_policy ? "takes no contact requests (its policy is block_all)"
				  : "has blocked this contact",
			from->name);
	mr_team_fail_text(cx, "recipient", mr_arena_printf(cx->arena, "%s@%s", to->name, far.slug));
	mr_team_fail_text(cx, "policy", mr_team_contact_policy_name(to->contact_policy));
	rc = mr_team_fail_text(cx, "reason", by_policy ? "block_all" : "blocked_link");
	if (by_oneself)
		rc = mr_team_fail_value(cx, "suggested_tool_calls",
			respond_call(cx->arena, near.slug, from->name, far.slug, to->name));
	return rc;
}

/* One line of text somebody wrote, for the inside of ours. */
static const char *one_line(struct mr_arena *arena, const char *text)
{
	char *line = mr_arena_strdup(arena, text);

	for (char *c = line; *c; c++) {
		if ((unsigned char)*c < ' ')
			*c = ' ';
	}
	return line;
}

static const char *request_text(struct mr_ctx *cx, const struct mr_team_agent *from,
	const struct mr_team_link *link)
{
	const char *reason = mr_str_is_empty(link->reason)
		? ""
		: mr_arena_printf(cx->arena, "> %s\n\n", one_line(cx->arena, link->reason));
	const char *until = mr_time_format(cx->arena, link->expires_ts, MR_TIME_SECONDS);
	bool open = link->status == MR_TEAM_PENDING;

	return mr_arena_printf(cx->arena,
		"**%s** (%s, in project `%s`) %s\n\n%s%s with the tool `respond_contact`:\n\n"
		"```\nrespond_contact(project_key=\"%s\", to_agent=\"%s\", from_agent=\"%s\", "
		"from_project=\"%s\", status=\"%s\")\n```\n\n"
		"or on the command line:\n\n"
		"```\nmailroom team contact respond %s %s %s --from-project %s --status %s\n```\n\n"
		"%s %s.\n",
		link->a_agent, one_line(cx->arena, from->program), link->a_project,
		open ? "asks to exchange messages with you."
		     : "and you may now exchange messages: your contact policy lets it.",
		reason, open ? "Answer" : "Take that back", link->b_project, link->b_agent,
		link->a_agent, link->a_project, open ? "approved" : "blocked", link->b_project,
		link->b_agent, link->a_agent, link->a_project, open ? "approved" : "blocked",
		open ? "The status `blocked` refuses. The request stands until"
		     : "The contact stands until",
		until);
}

static enum mr_code send_request(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *from, const struct mr_team_agent *to,
	const struct mr_team_link *link, int64_t *notice_id)
{
	struct mr_team_notice notice = {
		.from = from,
		.to = to,
		.subject = mr_arena_printf(cx->arena, "Contact request from %s (%s)", link->a_agent,
			link->a_project),
		.body_md = request_text(cx, from, link),
		.ack_required = link->status == MR_TEAM_PENDING,
		.importance = MR_TEAM_NORMAL,
		.tool = "request_contact",
	};

	return mr_team_notice_send(cx, db, &notice, notice_id);
}

static const char *cut_reason(struct mr_arena *arena, const char *reason)
{
	size_t len = reason ? strlen(reason) : 0;

	if (len == 0)
		return NULL;
	return mr_arena_strndup(arena, reason, mr_utf8_truncate(reason, len, MR_TEAM_REASON_BYTES));
}

/* Make a request, or repeat one, under the current policy. */
static enum mr_code ask_anew(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	const struct mr_team_agent *from, const struct mr_team_agent *to, const char *reason,
	int64_t ttl_s, struct mr_team_link_row *row, int64_t *notice_id)
{
	const struct mr_team_config *config = mr_team_config(team);
	int64_t now = mr_clock_wall_us(cx->clock);
	enum mr_team_link_status status = first_status(from, to);
	bool tell = status != MR_TEAM_BLOCKED &&
		(row->notified_ts == 0 ||
			now - row->notified_ts >= MR_TEAM_CONTACT_NOTICE_S * SECOND);
	enum mr_code rc;

	if (ttl_s == 0)
		ttl_s = status == MR_TEAM_APPROVED ? config->contact_approval_ttl_s
						   : config->contact_request_ttl_s;
	row->link = (struct mr_team_link){
		.id = row->link.id,
		.a_project_id = from->project_id,
		.a_agent_id = from->id,
		.b_project_id = to->project_id,
		.b_agent_id = to->id,
		.status = status,
		.reason = cut_reason(cx->arena, reason),
		.created_ts = row->link.id ? row->link.created_ts : now,
		.updated_ts = now,
		.expires_ts = now + ttl_s * SECOND,
	};
	row->unasked = false;
	if (tell)
		row->notified_ts = now;
	rc = keep_link(cx, db, row, from->name, "request_contact");
	if (!rc && tell)
		rc = send_request(cx, db, from, to, &row->link, notice_id);
	return rc;
}

/* Return the existing link with its names; an approval given without a request counts as
 * requested now. */
static enum mr_code found_already(struct mr_ctx *cx, struct mr_db *db, struct mr_team_link_row *row)
{
	bool found = false;
	enum mr_code rc = MR_OK;

	if (row->unasked) {
		row->unasked = false;
		rc = mr_team_contact_store(cx, db, row);
	}
	return rc ? rc : mr_team_contact_get(cx, db, row->link.id, &found, row);
}

enum mr_code mr_team_contact_ask_in(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	const struct mr_team_agent *from, const struct mr_team_agent *to, const char *reason,
	int64_t ttl_s, struct mr_team_link *out, int64_t *notice_id)
{
	int64_t now = mr_clock_wall_us(cx->clock), sent = 0;
	struct mr_team_link_pair pair;
	struct mr_team_link_row *row = &pair.out;
	enum mr_code rc = mr_team_contact_pair(cx, db, from->id, to->id, &pair);

	if (rc)
		return rc;
	if (is_refusal(&pair.out) || is_refusal(&pair.back))
		return fail_blocked(cx, db, from, to, false, !is_refusal(&pair.out));
	if (row->link.status == MR_TEAM_BLOCKED && first_status(from, to) == MR_TEAM_BLOCKED)
		return fail_blocked(cx, db, from, to, true, false);
	if (is_live(row, now) && row->link.status == MR_TEAM_APPROVED) {
		rc = found_already(cx, db, row);
	} else if (is_live(&pair.back, now) && !pair.back.unasked) {
		row = &pair.back;
		rc = found_already(cx, db, row);
	} else {
		rc = ask_anew(cx, team, db, from, to, reason, ttl_s, row, &sent);
	}
	if (rc)
		return rc;
	*out = row->link;
	*notice_id = sent;
	return MR_OK;
}

static enum mr_code check_ttl(struct mr_ctx *cx, int64_t ttl_s)
{
	if (ttl_s >= 0 && ttl_s <= MR_TEAM_CONTACT_TTL_MAX_S)
		return MR_OK;
	return mr_team_refuse(cx, "ttl_seconds", "ttl_seconds must be from 1 to %d",
		MR_TEAM_CONTACT_TTL_MAX_S);
}

/* "Name@key" and "project:<key>#Name" taken apart; a bare name stays one. */
static void split_address(struct mr_arena *arena, const char **name, const char **project)
{
	static const char scheme[] = "project:";
	const char *at = strrchr(*name, '@'), *hash = strrchr(*name, '#');

	if (mr_str_starts(*name, scheme) && hash) {
		const char *key = *name + sizeof(scheme) - 1;

		*project = mr_arena_strndup(arena, key, (size_t)(hash - key));
		*name = hash + 1;
	} else if (at && at > *name) {
		*project = at + 1;
		*name = mr_arena_strndup(arena, *name, (size_t)(at - *name));
	}
}

static enum mr_code fail_ambiguous(struct mr_ctx *cx, struct mr_db *db, const char *argument,
	const char *name, const struct mr_team_agents *found)
{
	struct mr_texts candidates = {
		mr_arena_array(cx->arena, found->len + 1, sizeof(*candidates.items)), 0
	};

	for (size_t i = 0; i < found->len; i++) {
		struct mr_team_project project;
		enum mr_code rc = mr_team_project_get(cx, db, found->items[i].project_id, &project);

		if (rc)
			return rc;
		candidates.items[candidates.len++] =
			mr_arena_printf(cx->arena, "%s@%s", found->items[i].name, project.slug);
	}
	mr_team_refuse(cx, argument, "there are several agents called %s; say which: %s", name,
		mr_str_join(cx->arena, &candidates, ", "));
	return mr_team_fail_texts(cx, "candidates", &candidates);
}

/* Find the other agent: in the project that is named, or like a bare name in a message. */
static enum mr_code find_other(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_project *near, const char *project_key, const char *name,
	const char *argument, bool active_only, struct mr_team_agent *out)
{
	struct mr_team_project far;
	struct mr_team_agents others = { NULL, 0 };
	bool found = false;
	enum mr_code rc;

	if (mr_str_is_empty(name))
		return mr_team_refuse(cx, argument, "%s is missing", argument);
	if (!project_key)
		split_address(cx->arena, &name, &project_key);
	if (project_key) {
		rc = mr_team_project_find(cx, db, project_key, &far);
		return rc ? rc : mr_team_agent_find(cx, db, &far, name, active_only, out);
	}
	rc = mr_team_agent_seek(cx, db, near->id, name, &found, out);
	if (rc || (found && (out->is_active || !active_only)))
		return rc;
	rc = mr_team_agent_elsewhere(cx, db, near->id, name, &others);
	if (!rc && others.len > 1)
		rc = fail_ambiguous(cx, db, argument, name, &others);
	else if (!rc && others.len == 0)
		rc = mr_team_agent_find(cx, db, near, name, active_only, out);
	else if (!rc)
		*out = others.items[0];
	return rc;
}

struct asking {
	struct mr_team *team;
	const struct mr_team_contact_request *request;
	struct mr_team_link link;
	int64_t notice_id;
};

static enum mr_code run_ask(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct asking *asking = arg;
	const struct mr_team_contact_request *request = asking->request;
	struct mr_team_project project;
	struct mr_team_agent from, to;
	enum mr_code rc = mr_team_agent_resolve(cx, asking->team, db, request->project_key,
		request->from_agent, &project, &from);

	asking->notice_id = 0;
	if (!rc)
		rc = find_other(cx, db, &project, request->to_project, request->to_agent,
			"to_agent", true, &to);
	if (rc)
		return rc;
	if (from.id == to.id)
		return mr_team_refuse(cx, "to_agent", "%s cannot ask itself for contact",
			from.name);
	return mr_team_contact_ask_in(cx, asking->team, db, &from, &to, request->reason,
		request->ttl_s, &asking->link, &asking->notice_id);
}

static enum mr_code index_request(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct asking *asking = arg;

	return asking->notice_id ? mr_team_notice_index(cx, db, asking->notice_id) : MR_OK;
}

enum mr_code mr_team_contact_ask(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_contact_request *request, struct mr_team_link *out, bool *notified)
{
	struct asking asking = { .team = team, .request = request };
	enum mr_code rc = check_ttl(cx, request->ttl_s);

	if (rc)
		return rc;
	if (request->reason && strlen(request->reason) > MR_TEAM_REASON_BYTES)
		return mr_team_refuse(cx, "reason", "reason is longer than %d bytes",
			MR_TEAM_REASON_BYTES);
	rc = mr_team_write(cx, team, run_ask, index_request, &asking);
	if (rc)
		return rc;
	*out = asking.link;
	*notified = asking.notice_id != 0;
	return MR_OK;
}

struct answering {
	struct mr_team *team;
	const struct mr_team_contact_answer *answer;
	struct mr_team_link link;
	int64_t updated;
	int64_t notice_id;
};

/* Find both agents by the link's id. The names may be left out; if given they must match. */
static enum mr_code parties_of_link(struct mr_ctx *cx, struct mr_db *db,
	const struct answering *answering, struct mr_team_agent *responder,
	struct mr_team_agent *requester, struct mr_team_link_row *row)
{
	const struct mr_team_contact_answer *answer = answering->answer;
	struct mr_team_project project;
	struct mr_team_agent named;
	bool found = false;
	enum mr_code rc = mr_team_contact_get(cx, db, answer->link_id, &found, row);

	if (rc)
		return rc;
	if (!found)
		return mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no contact link %lld",
			(long long)answer->link_id);
	rc = mr_team_agent_get(cx, db, row->link.b_agent_id, responder);
	if (!rc)
		rc = mr_team_agent_get(cx, db, row->link.a_agent_id, requester);
	if (rc || !answer->project_key || !answer->to_agent)
		return rc;
	rc = mr_team_agent_resolve(cx, answering->team, db, answer->project_key, answer->to_agent,
		&project, &named);
	if (!rc && named.id != responder->id)
		rc = mr_team_fail(cx, MR_TEAM_PERMISSION_DENIED,
			"contact link %lld is a request to %s (%s): only %s can answer it",
			(long long)answer->link_id, row->link.b_agent, row->link.b_project,
			row->link.b_agent);
	return rc;
}

static enum mr_code parties_by_name(struct mr_ctx *cx, struct mr_db *db,
	const struct answering *answering, struct mr_team_agent *responder,
	struct mr_team_agent *requester, struct mr_team_link_row *row)
{
	const struct mr_team_contact_answer *answer = answering->answer;
	struct mr_team_project project;
	struct mr_team_link_pair pair;
	enum mr_code rc = MR_OK;

	if (!answer->project_key)
		return mr_team_refuse(cx, "project_key", "project_key is missing");
	if (!answer->to_agent)
		return mr_team_refuse(cx, "to_agent", "to_agent is missing: who answers?");
	rc = mr_team_agent_resolve(cx, answering->team, db, answer->project_key, answer->to_agent,
		&project, responder);
	if (!rc)
		rc = find_other(cx, db, &project, answer->from_project, answer->from_agent,
			"from_agent", false, requester);
	if (rc)
		return rc;
	if (requester->id == responder->id)
		return mr_team_refuse(cx, "from_agent", "%s cannot answer itself", responder->name);
	rc = mr_team_contact_pair(cx, db, requester->id, responder->id, &pair);
	if (!rc)
		*row = pair.out;
	return rc;
}

static enum mr_code send_answer(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *responder, const struct mr_team_agent *requester,
	const struct mr_team_link_row *row, int64_t *notice_id)
{
	const struct mr_team_link *link = &row->link;
	bool yes = link->status == MR_TEAM_APPROVED;
	struct mr_team_notice notice = {
		.from = responder,
		.to = requester,
		.subject = mr_arena_printf(cx->arena, "Contact %s by %s (%s)",
			yes ? "approved" : "refused", link->b_agent, link->b_project),
		.importance = MR_TEAM_NORMAL,
		.tool = "respond_contact",
	};

	if (!yes)
		notice.body_md = mr_arena_printf(cx->arena,
			"**%s** (project `%s`) has refused the contact. Messages between you are "
			"not delivered.\n",
			link->b_agent, link->b_project);
	else
		notice.body_md = mr_arena_printf(cx->arena, "%s, until %s. Write to `%s@%s`.\n",
			row->unasked ? "Your messages are welcome"
				     : "You may exchange messages now",
			mr_time_format(cx->arena, link->expires_ts, MR_TIME_SECONDS), link->b_agent,
			link->b_project);
	return mr_team_notice_send(cx, db, &notice, notice_id);
}

static enum mr_code run_answer(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct answering *answering = arg;
	const struct mr_team_contact_answer *answer = answering->answer;
	int64_t now = mr_clock_wall_us(cx->clock), ttl_s = answer->ttl_s;
	struct mr_team_agent responder, requester;
	struct mr_team_link_row row = { 0 };
	enum mr_code rc = answer->link_id
		? parties_of_link(cx, db, answering, &responder, &requester, &row)
		: parties_by_name(cx, db, answering, &responder, &requester, &row);

	answering->updated = answering->notice_id = 0;
	if (rc)
		return rc;
	if (!answer->approve && is_refusal(&row)) {
		bool found = false;

		rc = mr_team_contact_get(cx, db, row.link.id, &found, &row);
		answering->link = row.link;
		return rc;
	}
	if (ttl_s == 0)
		ttl_s = mr_team_config(answering->team)->contact_approval_ttl_s;
	if (row.link.id == 0) {
		row = (struct mr_team_link_row){ .unasked = true };
		row.link.a_project_id = requester.project_id;
		row.link.a_agent_id = requester.id;
		row.link.b_project_id = responder.project_id;
		row.link.b_agent_id = responder.id;
		row.link.created_ts = now;
	}
	row.link.status = answer->approve ? MR_TEAM_APPROVED : MR_TEAM_BLOCKED;
	row.link.updated_ts = now;
	row.link.expires_ts = answer->approve ? now + ttl_s * SECOND : 0;
	rc = keep_link(cx, db, &row, responder.name, "respond_contact");
	/* An agent that has not asked is not told of a refusal. */
	if (!rc && (answer->approve || !row.unasked))
		rc = send_answer(cx, db, &responder, &requester, &row, &answering->notice_id);
	answering->link = row.link;
	answering->updated = 1;
	return rc;
}

static enum mr_code index_answer(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct answering *answering = arg;

	return answering->notice_id ? mr_team_notice_index(cx, db, answering->notice_id) : MR_OK;
}

enum mr_code mr_team_contact_respond(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_contact_answer *answer, struct mr_team_link *out, int64_t *updated)
{
	struct answering answering = { .team = team, .answer = answer };
	enum mr_code rc = check_ttl(cx, answer->ttl_s);

	if (!rc)
		rc = mr_team_write(cx, team, run_answer, index_answer, &answering);
	if (rc)
		return rc;
	*out = answering.link;
	*updated = answering.updated;
	return MR_OK;
}

/* The contract's word for a status; NULL stays NULL. */
static enum mr_code read_status(struct mr_ctx *cx, const char *status, const char **out)
{
	enum mr_team_link_status word = MR_TEAM_PENDING;

	*out = NULL;
	if (status && !mr_team_link_status_of(status, &word))
		return mr_team_refuse(cx, "status",
			"\"%s\" is no status of a contact: pending, approved, blocked", status);
	if (status)
		*out = mr_team_link_status_name(word);
	return MR_OK;
}

enum mr_code mr_team_contact_list(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	const char *status, struct mr_team_links *out)
{
	const char *word;
	enum mr_code rc = read_status(cx, status, &word);

	return rc ? rc : mr_team_contact_rows(cx, db, agent_id, word, out);
}

enum mr_code mr_team_contact_list_project(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *status, struct mr_team_links *out)
{
	const char *word;
	enum mr_code rc = read_status(cx, status, &word);

	return rc ? rc : mr_team_contact_project_rows(cx, db, project_id, word, out);
}
