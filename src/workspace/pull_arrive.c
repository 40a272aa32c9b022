/* workspace/pull_arrive.c - fetches and takes in what has just arrived. */
#include "workspace/pull_arrive.h"

#include "workspace/generation.h"
#include "workspace/index.h"
#include "workspace/index_private.h"
#include "workspace/layout.h"
#include "workspace/pull_private.h"
#include "workspace/refresh.h"

#include <inttypes.h>

struct mr_work_ready {
	struct mr_arena *arena;
	struct mr_ctx cx;
	struct mr_work *work;
	const char *mailbox_id, *mailbox_name;
	const char *config_stamps;
	int64_t uid_validity, uid_next;
};

/* A person may edit the configuration while the watch waits. */
static const char *config_stamps(const struct mr_work_ready *r)
{
	return mr_arena_printf(r->arena, "%s %s",
		mr_work_stamp_at(r->arena, r->work->dir, MR_WORK_CONFIG),
		mr_work_stamp_at(r->arena, r->work->dir, MR_WORK_IDENTITIES));
}

/* --- made ready --- */

static enum mr_code get_ready(struct mr_work_ready *r, const char *root)
{
	struct mr_ctx *cx = &r->cx;
	const struct mr_work_config *config = NULL;
	const struct mr_work_box_state *state;
	struct mr_work_pull_state known;
	enum mr_code rc = mr_work_open(cx, root, MR_WORK_WRITE, &r->work);

	if (!rc)
		rc = mr_work_generation_check(cx, r->work);
	if (!rc)
		rc = mr_work_recover(cx, r->work);
	if (!rc)
		r->config_stamps = config_stamps(r);
	if (!rc)
		rc = mr_work_config_get(cx, r->work, &config);
	if (!rc)
		rc = mr_work_index_open(cx, r->work);
	if (rc)
		return rc;
	mr_work_pull_state_load(cx, r->work,
		mr_work_pull_state_account(cx->arena, config->imap.username, config->imap.host,
			config->imap.port),
		&known);
	state = mr_work_pull_state_of(&known, r->mailbox_name);
	if (!state || !state->uid_next)
		return MR_ENOTFOUND;
	r->uid_validity = state->uid_validity;
	r->uid_next = state->uid_next;
	mr_work_rest(r->work);
	return MR_OK;
}

void mr_work_ready_open(struct mr_ctx *cx, const char *root, const struct mr_work_pull *request,
	const char *mailbox_id, const char *mailbox_name, struct mr_work_ready **out)
{
	struct mr_work_ready *ready MR_CLEANUP(mr_work_ready_closep) = NULL;
	struct mr_arena *arena;

	*out = NULL;
	if (request->since_days || request->max_new_messages || request->max_total_bytes ||
		request->dry_run)
		return;
	arena = mr_arena_new();
	ready = mr_arena_alloc(arena, sizeof(*ready));
	*ready = (struct mr_work_ready){ .arena = arena,
		.cx = *cx,
		.mailbox_id = mr_arena_strdup(arena, mailbox_id),
		.mailbox_name = mr_arena_strdup(arena, mailbox_name) };
	ready->cx.arena = arena;
	ready->cx.err = (struct mr_err){ 0 };
	if (get_ready(ready, root))
		return;
	*out = ready;
	ready = NULL;
}

void mr_work_ready_closep(struct mr_work_ready **ready)
{
	if (!*ready)
		return;
	mr_work_closep(&(*ready)->work);
	mr_arena_free((*ready)->arena);
	*ready = NULL;
}

/* --- what has arrived --- */

struct arriving {
	struct mr_work_pulling pull;
	const struct mr_work_ready *ready;
};

/* Servers tell of other mails, too, and of some twice. */
static bool is_awaited(const struct arriving *a, uint64_t uid)
{
	if (uid < (uint64_t)a->ready->uid_next ||
		uid >= (uint64_t)a->ready->uid_next + MR_WORK_PULL_BATCH)
		return false;
	for (size_t i = 0; i < a->pull.arrival_len; i++)
		if ((uint64_t)a->pull.arrivals[i].location.uid == uid)
			return false;
	return true;
}

static enum mr_code note_arrival(void *arg, const struct mr_imap_response *response,
	struct mr_err *err)
{
	struct arriving *a = arg;
	const struct mr_imap_node *list = response->data.len ? &response->data.items[0] : NULL;
	const struct mr_imap_node *body = mr_imap_member(list, "BODY[");
	uint64_t uid;
	(void)err;

	if (mr_str_eq(response->name, "FETCH") &&
		mr_imap_number(mr_imap_member(list, "UID"), &uid) && body &&
		body->kind == MR_IMAP_STRING && is_awaited(a, uid))
		mr_work_pull_keep(&a->pull, list, uid, body->bytes);
	return MR_OK;
}

static void fetch(struct arriving *a, struct mr_imap **session)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_err ignored = { 0 };

	mr_imap_begin(*session,
		mr_arena_printf(arena, "UID FETCH %" PRId64 ":%" PRId64 " (UID FLAGS BODY.PEEK[])",
			a->ready->uid_next, a->ready->uid_next + MR_WORK_PULL_BATCH - 1));
	if (mr_imap_run(*session, arena, note_arrival, a, NULL, &ignored))
		mr_imap_closep(session);
}

/* A pull meanwhile, or an earlier arrival of which the server did not tell the number. */
static enum mr_code drop_known(struct arriving *a)
{
	struct mr_work_pulling *p = &a->pull;
	size_t kept = 0;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < p->arrival_len; i++) {
		const struct mr_work_arrival arrival = p->arrivals[i];
		struct mr_work_place_rows rows = { 0 };

		rc = mr_work_index_places_at(p->cx, p->work, p->box->name, a->ready->uid_validity,
			arrival.location.uid, &rows);
		if (!rows.len)
			p->arrivals[kept++] = arrival;
	}
	p->arrival_len = kept;
	return rc;
}

static enum mr_code take(struct arriving *a)
{
	struct mr_work_pulling *p = &a->pull;
	const struct mr_work_config *config = NULL;
	struct mr_lock alone MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	enum mr_code rc = mr_work_pull_alone(p->cx, p->work, &alone);

	mr_work_set_now(p->cx, p->work);
	if (!rc)
		rc = mr_work_pull_lock(p);
	if (!mr_str_eq(config_stamps(a->ready), a->ready->config_stamps))
		p->work->config = NULL;
	if (!rc)
		rc = mr_work_config_get(p->cx, p->work, &config);
	if (rc)
		return rc;
	p->box->mailbox = mr_work_find_mailbox(config, a->ready->mailbox_id);
	if (!p->box->mailbox || !p->box->mailbox->is_pulled)
		return MR_ENOTFOUND;
	for (size_t i = 0; i < p->arrival_len; i++)
		p->arrivals[i].location.observed = p->work->now;
	rc = drop_known(a);
	return rc || !p->arrival_len ? rc : mr_work_pull_take(p);
}

void mr_work_ready_take(struct mr_work_ready *ready, struct mr_imap **session,
	struct mr_work_pulled *counts)
{
	struct mr_work_pulled taken = { 0 };
	struct mr_work_mailbox mailbox = { .id = ready->mailbox_id };
	struct mr_work_box box = { .mailbox = &mailbox,
		.name = ready->mailbox_name,
		.validity = (uint32_t)ready->uid_validity };
	struct arriving a = { .ready = ready,
		.pull = { .cx = &ready->cx,
			.work = ready->work,
			.session = session,
			.out = &taken,
			.box = &box } };

	mr_work_settle_begin(&ready->cx, ready->work, &a.pull.settling);
	mr_work_pull_make_room(&a.pull);
	fetch(&a, session);
	/* What fails is told by the pull that follows. */
	if (a.pull.arrival_len)
		(void)!take(&a);
	mr_arena_freep(&a.pull.arrival_arena);
	counts->new_message_count += taken.new_message_count;
	counts->triage_created_count += taken.triage_created_count;
	counts->spam_message_count += taken.spam_message_count;
	counts->trashed_message_count += taken.trashed_message_count;
}
