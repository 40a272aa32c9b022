/* team/contact_decide.c - decides whether an agent may write to another, by the rules of spec
 * 11.3. */
#include "team/contact.h"
#include "team/contact_sql.h"
#include "team/lease/reservation.h"
#include "team/limits.h"
#include "team/product.h"

/* The links between two agents, as far as they concern a message from one to the other. */
struct links {
	bool blocked, approved, pending;
};

static void count_link(const struct mr_team_link_row *row, int64_t sender_id, int64_t now,
	struct links *out)
{
	const struct mr_team_link *link = &row->link;
	bool live = link->expires_ts == 0 || link->expires_ts > now;

	if (link->id == 0)
		return;
	switch (link->status) {
	case MR_TEAM_BLOCKED:
		/* A blocked link with an expiry is only a request that a policy turned down. */
		out->blocked = out->blocked || link->expires_ts == 0;
		break;
	case MR_TEAM_APPROVED:
		if (live && (!row->unasked || link->a_agent_id == sender_id))
			out->approved = true;
		break;
	case MR_TEAM_PENDING:
		out->pending = out->pending || live;
		break;
	}
}

static enum mr_code look_at_links(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_contact_case *the_case, struct links *out)
{
	int64_t now = mr_clock_wall_us(cx->clock), sender = the_case->sender->id;
	struct mr_team_link_pair pair;
	enum mr_code rc = mr_team_contact_pair(cx, db, sender, the_case->recipient->id, &pair);

	*out = (struct links){ 0 };
	if (rc)
		return rc;
	count_link(&pair.out, sender, now, out);
	count_link(&pair.back, sender, now, out);
	return MR_OK;
}

/* Is it an answer to the recipient's message to this sender, or has the recipient written to it
 * within a day? */
static enum mr_code is_solicited(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_contact_case *the_case, bool *out)
{
	int64_t since = mr_clock_wall_us(cx->clock) - MR_TEAM_SOLICITED_S * INT64_C(1000000);
	enum mr_code rc = MR_OK;

	*out = false;
	if (the_case->reply_to)
		rc = mr_team_contact_sent(cx, db, the_case->reply_to, the_case->recipient->id,
			the_case->sender->id, out);
	if (rc || *out)
		return rc;
	return mr_team_contact_wrote(cx, db, the_case->recipient->id, the_case->sender->id, since,
		out);
}

static enum mr_code both_in_thread(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_contact_case *the_case, bool *out)
{
	const struct mr_team_agent *sender = the_case->sender, *recipient = the_case->recipient;
	enum mr_code rc = MR_OK;

	*out = false;
	if (!the_case->thread_id)
		return MR_OK;
	rc = mr_team_contact_in_thread(cx, db, sender->project_id, recipient->project_id,
		the_case->thread_id, recipient->id, out);
	if (rc || !*out)
		return rc;
	return mr_team_contact_in_thread(cx, db, sender->project_id, recipient->project_id,
		the_case->thread_id, sender->id, out);
}

/* Find a relation between two agents that contact policy auto accepts; NULL when there is none. */
static enum mr_code find_context(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	const struct mr_team_contact_case *the_case, const char **out)
{
	const struct mr_team_agent *sender = the_case->sender, *recipient = the_case->recipient;
	bool found = mr_str_eq(sender->program, recipient->program);
	enum mr_code rc = MR_OK;

	*out = "auto_program";
	if (!found) {
		*out = "auto_thread";
		rc = both_in_thread(cx, db, the_case, &found);
	}
	if (!rc && !found) {
		*out = "auto_product";
		rc = mr_team_product_shared(cx, db, sender->project_id, recipient->project_id,
			&found);
	}
	if (!rc && !found) {
		*out = "auto_reservations";
		rc = mr_team_reservation_meet(cx, team, db, sender->id, recipient->id, &found);
	}
	if (!found)
		*out = NULL;
	return rc;
}

static struct mr_team_decision allow(const char *rule)
{
	return (struct mr_team_decision){ MR_TEAM_ALLOWED, rule };
}

/* Rules 5 to 9, for a recipient whose policy is not open. */
static enum mr_code decide_guarded(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	const struct mr_team_contact_case *the_case, const struct links *links,
	struct mr_team_decision *out)
{
	enum mr_team_contact_policy policy = the_case->recipient->contact_policy;
	const char *context = NULL;
	bool solicited = false;
	enum mr_code rc;

	if (links->approved) {
		*out = allow("approved");
		return MR_OK;
	}
	rc = is_solicited(cx, db, the_case, &solicited);
	if (!rc && !solicited && policy == MR_TEAM_AUTO)
		rc = find_context(cx, team, db, the_case, &context);
	if (rc)
		return rc;
	if (solicited)
		*out = allow("solicited");
	else if (policy == MR_TEAM_BLOCK_ALL)
		*out = (struct mr_team_decision){ MR_TEAM_REFUSED, "block_all" };
	else if (context)
		*out = allow(context);
	else
		*out = (struct mr_team_decision){ MR_TEAM_NEEDS_CONTACT,
			links->pending                   ? "pending"
				: policy == MR_TEAM_AUTO ? "auto"
							 : "contacts_only" };
	return MR_OK;
}

enum mr_code mr_team_contact_decide(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	const struct mr_team_contact_case *the_case, struct mr_team_decision *out)
{
	const struct mr_team_config *config = mr_team_config(team);
	const struct mr_team_agent *sender = the_case->sender, *recipient = the_case->recipient;
	bool near = sender->project_id == recipient->project_id && !config->contacts_in_project;
	struct links links;
	enum mr_code rc = MR_OK;

	if (sender->id == recipient->id || sender->is_system || !config->contacts_enforced) {
		*out = allow(sender->id == recipient->id ? "self"
				: sender->is_system      ? "system"
							 : "not_enforced");
		return MR_OK;
	}
	rc = look_at_links(cx, db, the_case, &links);
	if (rc)
		return rc;
	if (links.blocked)
		*out = (struct mr_team_decision){ MR_TEAM_REFUSED, "blocked_link" };
	else if (near && recipient->contact_policy != MR_TEAM_BLOCK_ALL)
		*out = allow("same_project");
	else if (recipient->contact_policy == MR_TEAM_OPEN)
		*out = allow("open");
	else
		rc = decide_guarded(cx, team, db, the_case, &links, out);
	return rc;
}
