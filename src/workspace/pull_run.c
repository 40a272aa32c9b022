/* workspace/pull_run.c - goes through the mailboxes, and settles what was learnt. */
#include "workspace/pull_run.h"

#include "workspace/error.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/pull_private.h"
#include "workspace/pull_resolve.h"
#include "workspace/refresh.h"

enum { COMPRESS_BYTES = 64 << 10 }; /* what a line of 10 Mbit/s carries in a round trip of 50 ms */

/* --- phases --- */

void mr_work_pull_phase_begin(struct mr_work_pulling *p, struct mr_work_pull_phase *phase)
{
	phase->pull = p;
	mr_out_init_tree(&phase->out, p->cx->arena);
	mr_out_map(&phase->out, NULL);
	if (!p->box)
		return;
	mr_out_text(&phase->out, "mailbox_id", p->box->mailbox->id);
	mr_out_text(&phase->out, "mailbox_name", p->box->name);
	mr_out_int(&phase->out, "index", (int64_t)p->index);
	mr_out_int(&phase->out, "mailbox_count", (int64_t)p->count);
}

void mr_work_pull_phase_end(struct mr_work_pull_phase *phase, const char *name)
{
	mr_out_end(&phase->out);
	if (phase->pull->progress)
		mr_work_progress_phase(phase->pull->progress, name, mr_out_tree(&phase->out));
}

void mr_work_pull_tell(struct mr_work_pulling *p, const char *name)
{
	struct mr_work_pull_phase phase;

	mr_work_pull_phase_begin(p, &phase);
	mr_work_pull_phase_end(&phase, name);
}

/* --- the lock and the session --- */

enum mr_code mr_work_pull_lock(struct mr_work_pulling *p)
{
	bool changed = false;
	enum mr_code rc = mr_work_resume(p->cx, p->work, &changed);

	if (!rc && changed)
		rc = mr_work_recover(p->cx, p->work);
	return rc;
}

enum mr_code mr_work_pull_connect(struct mr_work_pulling *p)
{
	if (*p->session)
		return MR_OK;
	p->has_asked = false;
	return mr_work_server_open(p->cx, p->account, p->session);
}

enum mr_code mr_work_pull_compress(struct mr_work_pulling *p, size_t bytes)
{
	struct mr_err err = { 0 };
	enum mr_code rc = bytes < COMPRESS_BYTES ? MR_OK : mr_imap_compress(*p->session, &err);

	return rc ? mr_work_server_failed(p->cx, &err, MR_WORK_IMAP_FETCH_FAILED) : MR_OK;
}

void mr_work_pull_disconnect(struct mr_work_pulling *p)
{
	mr_imap_closep(p->session);
}

/* --- which mailboxes --- */

static void tell_targets(struct mr_work_pulling *p, const struct mr_work_targets *targets,
	const struct mr_work_resolved *resolved)
{
	size_t len = resolved->len;
	struct mr_work_pulled *out = p->out;
	struct mr_work_pull_phase phase;

	out->mailbox_ids.items = mr_arena_array(p->cx->arena, len + 1, sizeof(char *));
	out->mailbox_names.items = mr_arena_array(p->cx->arena, len + 1, sizeof(char *));
	for (size_t i = 0; i < len; i++) {
		out->mailbox_ids.items[out->mailbox_ids.len++] = resolved->items[i].mailbox->id;
		out->mailbox_names.items[out->mailbox_names.len++] = resolved->items[i].name;
	}
	out->mailbox_count = (int64_t)len;
	out->unresolved_mailbox_ids = resolved->missing_ids;
	mr_work_pull_phase_begin(p, &phase);
	mr_out_texts(&phase.out, "requested_mailbox_ids", &targets->ids);
	mr_out_texts(&phase.out, "mailbox_ids", &out->mailbox_ids);
	mr_out_texts(&phase.out, "mailbox_names", &out->mailbox_names);
	mr_out_int(&phase.out, "mailbox_count", out->mailbox_count);
	mr_work_pull_phase_end(&phase, "pull_resolve_targets");
}

/* --- one mailbox --- */

static void tell_compared(struct mr_work_pulling *p)
{
	struct mr_work_box *box = p->box;
	struct mr_work_pull_phase phase;

	mr_work_pull_phase_begin(p, &phase);
	mr_out_int(&phase.out, "fetched_count", (int64_t)box->len);
	mr_out_int(&phase.out, "existing_location_count", (int64_t)(box->len - box->wanted_len));
	mr_out_int(&phase.out, "updated_location_count", box->updated_locations);
	mr_out_int(&phase.out, "flags_updated_count", box->updated_flags);
	mr_out_int(&phase.out, "new_candidate_count", (int64_t)box->wanted_len);
	mr_work_pull_phase_end(&phase, "pull_mailbox_headers_done");
}

static void tell_bodies(struct mr_work_pulling *p, const char *name)
{
	size_t len = p->box->wanted_len;
	struct mr_work_pull_phase phase;

	mr_work_pull_phase_begin(p, &phase);
	mr_out_int(&phase.out, "uid_count", (int64_t)len);
	mr_out_int(&phase.out, "batch_size", MR_WORK_PULL_BATCH);
	mr_out_int(&phase.out, "batch_count",
		(int64_t)((len + MR_WORK_PULL_BATCH - 1) / MR_WORK_PULL_BATCH));
	mr_work_pull_phase_end(&phase, name);
}

/* Above every number that is known. A server need not tell it. */
static int64_t uid_next_of(const struct mr_work_pulling *p)
{
	const struct mr_work_box *box = p->box;
	const struct mr_work_box_state *before = mr_work_pull_state_of(&p->state, box->name);
	int64_t next = box->uid_next;

	if (box->len && box->seen[box->len - 1].uid >= next)
		next = (int64_t)box->seen[box->len - 1].uid + 1;
	if (before && before->uid_validity == box->validity && before->uid_next > next)
		next = before->uid_next;
	return next;
}

/* All of it is known now: the next pull may ask for what changes from here on. */
static void note_state(struct mr_work_pulling *p)
{
	const struct mr_work_box *box = p->box;

	mr_work_pull_state_put(p->cx->arena, &p->state,
		&(struct mr_work_box_state){ .mailbox_name = box->name,
			.uid_validity = box->validity,
			.uid_next = uid_next_of(p),
			.highest_modseq = box->left || box->taken_len < box->wanted_len
				? 0
				: (int64_t)box->modseq });
}

static enum mr_code pull_box(struct mr_work_pulling *p)
{
	enum mr_code rc;

	mr_work_pull_tell(p, "pull_mailbox_headers_start");
	rc = mr_work_pull_look(p);
	mr_work_rest(p->work);
	if (!rc)
		rc = mr_work_pull_limit(p);
	if (rc)
		return rc;
	p->out->flags_updated_count += p->box->updated_flags;
	p->out->checked_location_count += p->box->known_len;
	p->out->remaining_message_count += (int64_t)p->box->left;
	tell_compared(p);
	if (p->limits->dry_run) {
		p->out->new_message_count += (int64_t)p->box->wanted_len;
		return MR_OK;
	}
	tell_bodies(p, "pull_mailbox_bodies_start");
	rc = p->box->wanted_len ? mr_work_pull_bodies(p) : MR_OK;
	if (rc)
		return rc;
	note_state(p);
	tell_bodies(p, "pull_mailbox_bodies_done");
	return MR_OK;
}

/* --- the end --- */

/* What changes are asked for from here on would not tell again what could not be settled. */
static void compare_again(struct mr_work_pulling *p)
{
	for (size_t i = 0; i < p->settling.put_off.len; i++) {
		const struct mr_work_box_state *known =
			mr_work_pull_state_of(&p->state, p->settling.put_off.items[i]);
		struct mr_work_box_state state;

		if (!known)
			continue;
		state = *known;
		state.highest_modseq = 0;
		mr_work_pull_state_put(p->cx->arena, &p->state, &state);
	}
}

static enum mr_code count_views(struct mr_work_pulling *p)
{
	struct mr_work_pulled *out = p->out;
	struct mr_work_counts counts;
	enum mr_code rc = mr_work_index_statuses(p->cx, p->work, &counts);

	if (rc)
		return rc;
	out->triage_count = out->triage_written_count = counts.by_status[MR_WORK_IS_TRIAGE];
	out->spam_count = out->spam_written_count = counts.by_status[MR_WORK_IS_SPAM];
	out->trash_count = out->trash_written_count = counts.by_status[MR_WORK_IS_TRASHED];
	out->deleted_count = out->deleted_written_count = counts.by_status[MR_WORK_IS_DELETED];
	return MR_OK;
}

static enum mr_code settle(struct mr_work_pulling *p)
{
	enum mr_code rc = mr_work_pull_lock(p);

	if (rc)
		return rc;
	/* What was taken in or found to be somewhere else was looked at, too. */
	p->out->checked_location_count +=
		p->out->new_message_count + p->out->updated_location_count;
	if (p->limits->dry_run)
		return count_views(p);
	mr_work_pull_tell(p, "pull_reconcile_start");
	rc = mr_work_settle(&p->settling, p->out);
	if (rc)
		return rc;
	compare_again(p);
	mr_work_pull_state_save(p->cx, p->work, &p->state);
	mr_work_pull_tell(p, "pull_reconcile_done");
	mr_work_pull_tell(p, "pull_render_start");
	rc = count_views(p);
	if (!rc)
		mr_work_pull_tell(p, "pull_render_done");
	return rc;
}

static enum mr_code pull_all(struct mr_work_pulling *p, const struct mr_work_resolved *resolved,
	bool first_is_last)
{
	struct mr_work_box *boxes = mr_arena_array(p->cx->arena, resolved->len, sizeof(*boxes));
	enum mr_code rc = mr_work_pull_connect(p);

	p->count = resolved->len;
	for (size_t i = 0; !rc && i < resolved->len; i++) {
		const struct mr_work_resolved_mailbox *at =
			&resolved->items[(i + first_is_last) % resolved->len];

		boxes[i] = (struct mr_work_box){ .mailbox = at->mailbox,
			.name = at->name,
			.wire = at->wire };
		p->box = &boxes[i];
		p->index = i + 1;
		rc = pull_box(p);
	}
	if (!rc)
		p->box = NULL;
	return rc;
}

static enum mr_code run_all(struct mr_work_pulling *p, const struct mr_work_pull_run *run)
{
	struct mr_work_resolved resolved = { 0 };
	enum mr_code rc = MR_OK;

	mr_work_rest(p->work);
	/* The server is asked only for what the configuration does not say. */
	if (mr_work_resolve_needs_server(run->targets))
		rc = mr_work_pull_connect(p);
	if (!rc)
		rc = mr_work_resolve(p->cx, *p->session, run->targets, run->are_named, &resolved);
	if (rc)
		return rc;
	tell_targets(p, run->targets, &resolved);
	rc = pull_all(p, &resolved, run->first_is_last);
	return rc ? rc : settle(p);
}

static enum mr_code prepare(struct mr_work_pulling *p)
{
	struct mr_ctx *cx = p->cx;
	struct mr_work *work = p->work;
	struct mr_texts left = { 0 };
	enum mr_code rc = mr_work_index_open(cx, work);

	if (rc)
		return rc;
	mr_work_pull_state_load(cx, work,
		mr_work_pull_state_account(cx->arena, p->account->username, p->account->host,
			p->account->port),
		&p->state);
	if (p->limits->dry_run)
		return MR_OK;
	/* What a pull that was killed has left there was never known. */
	rc = mr_work_list(cx, work, MR_WORK_INCOMING, &left);
	if (!rc && left.len && mr_fs_remove_all(work->dir, MR_WORK_INCOMING, &cx->err))
		rc = mr_work_store_error(cx);
	return rc;
}

enum mr_code mr_work_pull_run(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_pull_run *run, struct mr_work_progress *progress,
	struct mr_work_pulled *result)
{
	struct mr_work_pulling p = { .cx = cx,
		.work = work,
		.account = run->account,
		.limits = run->limits,
		.progress = progress,
		.session = run->session,
		.out = result,
		.bytes_left = run->limits->max_total_bytes };
	enum mr_code rc = prepare(&p);

	mr_work_settle_begin(cx, work, &p.settling);
	if (!rc)
		rc = run_all(&p, run);
	if (rc)
		mr_work_pull_disconnect(&p);
	return rc;
}
