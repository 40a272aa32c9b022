/* workspace/pull_bodies.c - fetches bodies, many requests at once, over as many connections as it
 * takes. */
#include "workspace/pull_private.h"

#include "base/buf.h"

#include <string.h>

enum {
	REQUESTS = 64,  /* on their way at once: the server waits when we are slow */
	ARRIVALS = 800, /* bodies that are taken in together */
	ARRIVAL_BYTES = 4 << 20,
	TELL_US = 100 * 1000,
};

/* --- progress --- */

static void tell(struct mr_work_pulling *p, const char *stage, size_t first, size_t len)
{
	struct mr_work_box *box = p->box;
	size_t batches = (box->wanted_len + MR_WORK_PULL_BATCH - 1) / MR_WORK_PULL_BATCH;
	int64_t now = mr_clock_mono_us(p->cx->clock);
	struct mr_work_pull_phase phase;

	if (p->cx->progress)
		p->cx->progress(p->cx->progress_arg, box->name, p->processed, box->wanted_len);
	if (now - p->told_us < TELL_US && first && p->processed < box->wanted_len)
		return; /* nobody reads as fast as that */
	p->told_us = now;
	mr_work_pull_phase_begin(p, &phase);
	mr_out_text(&phase.out, "stage", stage);
	mr_out_int(&phase.out, "uid_count", (int64_t)box->wanted_len);
	mr_out_int(&phase.out, "processed_count", (int64_t)p->processed);
	mr_out_int(&phase.out, "fetched_count", (int64_t)p->fetched);
	mr_out_int(&phase.out, "batch_index", (int64_t)(first / MR_WORK_PULL_BATCH) + 1);
	mr_out_int(&phase.out, "batch_count", (int64_t)batches);
	mr_out_int(&phase.out, "batch_uid_count", (int64_t)len);
	mr_out_int(&phase.out, "batch_size", MR_WORK_PULL_BATCH);
	if (mr_str_eq(stage, "fetch_done")) {
		mr_out_int(&phase.out, "new_message_count", p->out->new_message_count);
		mr_out_int(&phase.out, "triage_created_count", p->out->triage_created_count);
		mr_out_int(&phase.out, "spam_message_count", p->out->spam_message_count);
		mr_out_int(&phase.out, "trashed_message_count", p->out->trashed_message_count);
	}
	mr_work_pull_phase_end(&phase, "pull_mailbox_bodies_progress");
}

/* --- what comes --- */

/* Whether a wanted mail has come; NULL when it is not wanted. Servers may tell of others. */
static bool *taken_of(const struct mr_work_box *box, uint64_t uid)
{
	size_t from = 0, to = box->wanted_len;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (box->wanted[middle] == uid)
			return &box->taken[middle];
		if (box->wanted[middle] < uid)
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}

void mr_work_pull_make_room(struct mr_work_pulling *p)
{
	p->arrival_arena = mr_arena_new();
	p->arrivals = mr_arena_array(p->cx->arena, ARRIVALS + 1, sizeof(*p->arrivals));
	p->staged.items = mr_arena_array(p->cx->arena, ARRIVALS + 1, sizeof(char *));
}

void mr_work_pull_keep(struct mr_work_pulling *p, const struct mr_imap_node *list, uint64_t uid,
	struct mr_bytes eml)
{
	const char *flags = mr_work_pull_flags(p, list);
	struct mr_work_arrival *arrival = &p->arrivals[p->arrival_len++];

	*arrival = (struct mr_work_arrival){
		.eml = mr_bytes_of(mr_arena_memdup(p->arrival_arena, eml.data, eml.len), eml.len),
		.location = { .mailbox_name = p->box->name,
			.mailbox_id = p->box->mailbox->id,
			.has_uid = true,
			.uid_validity = p->box->validity,
			.uid = (int64_t)uid,
			.observed = p->work->now },
	};
	if (flags && *flags)
		arrival->location.flags = mr_str_split(p->arrival_arena, flags, ' ');
	p->arrival_bytes += eml.len;
}

/* Take in what came; what was begun before a failure is kept. */
static enum mr_code take(struct mr_work_pulling *p)
{
	size_t len = p->arrival_len;
	size_t first = p->processed;
	enum mr_code rc = mr_work_pull_take(p);

	p->processed += len;
	tell(p, "fetch_done", first, len);
	return rc;
}

static enum mr_code note_body(void *arg, const struct mr_imap_response *response,
	struct mr_err *err)
{
	struct mr_work_pulling *p = arg;
	const struct mr_imap_node *list = response->data.len ? &response->data.items[0] : NULL;
	const struct mr_imap_node *body = mr_imap_member(list, "BODY[");
	uint64_t uid;
	bool *taken;

	if (!mr_str_eq(response->name, "FETCH") ||
		!mr_imap_number(mr_imap_member(list, "UID"), &uid) || !body ||
		body->kind != MR_IMAP_STRING)
		return MR_OK;
	taken = taken_of(p->box, uid);
	if (!taken || *taken)
		return MR_OK;
	*taken = true;
	p->box->taken_len++;
	p->fetched++;
	mr_work_pull_keep(p, list, uid, body->bytes);
	if (p->arrival_len < ARRIVALS && p->arrival_bytes < ARRIVAL_BYTES)
		return MR_OK;
	if (take(p) == MR_OK)
		return MR_OK;
	*err = p->cx->err;
	return err->code;
}

/* --- asking --- */

/* Begin requests for bodies that have not come; how many requests. */
static size_t ask(struct mr_work_pulling *p, size_t *from)
{
	struct mr_work_box *box = p->box;
	size_t begun = 0;

	while (begun < REQUESTS && *from < box->wanted_len) {
		struct mr_buf set MR_CLEANUP(mr_buf_release) = { 0 };
		uint32_t uids[MR_WORK_PULL_BATCH];
		size_t len = 0, at = 0;

		for (; *from < box->wanted_len && len < MR_WORK_PULL_BATCH; (*from)++)
			if (!box->taken[*from])
				uids[len++] = box->wanted[*from];
		if (!len)
			break;
		mr_buf_init(&set, 1 << 20);
		mr_imap_put_set(&set, uids, len, &at, SIZE_MAX);
		mr_imap_begin(*p->session, "UID FETCH ");
		mr_imap_put(*p->session, mr_buf_text(&set));
		mr_imap_put(*p->session, " (UID FLAGS BODY.PEEK[])");
		begun++;
	}
	return begun;
}

/* `*out_broken`: the connection ended, or the server talks nonsense. */
static enum mr_code fetch_some(struct mr_work_pulling *p, size_t *from, bool *out_broken)
{
	struct mr_imap_outcome outcomes[REQUESTS] = { 0 };
	struct mr_err err = { 0 };
	size_t begun = ask(p, from);
	enum mr_code rc;

	*out_broken = false;
	if (!begun)
		return MR_OK;
	tell(p, "fetch_start", p->processed, begun * MR_WORK_PULL_BATCH);
	rc = mr_imap_run(*p->session, p->cx->arena, note_body, p, outcomes, &err);
	if (rc && err.word) { /* a failure of the workspace */
		p->cx->err = err;
		return rc;
	}
	*out_broken = rc != MR_OK;
	for (size_t i = 0; !rc && i < begun; i++)
		if (outcomes[i].status != MR_IMAP_OK)
			return mr_work_refuse(p->cx, MR_WORK_IMAP_FETCH_FAILED,
				"the server refused: %s", outcomes[i].text);
	return rc ? mr_work_server_failed(p->cx, &err, MR_WORK_IMAP_FETCH_FAILED) : MR_OK;
}

/* All that is wanted, over one connection. */
static enum mr_code fetch_all(struct mr_work_pulling *p, bool *out_broken)
{
	size_t left = p->box->wanted_len - p->box->taken_len;
	enum mr_code rc = mr_work_pull_compress(p, left * MR_WORK_PULL_MAIL_BYTES), taken;
	struct mr_err kept;

	*out_broken = false;
	for (size_t from = 0; !rc && from < p->box->wanted_len;)
		rc = fetch_some(p, &from, out_broken);
	kept = p->cx->err;
	if (!rc || *out_broken) { /* what came before a failure is kept, too */
		taken = p->arrival_len ? take(p) : MR_OK;
		if (taken) {
			*out_broken = false;
			return taken;
		}
	}
	if (rc)
		p->cx->err = kept;
	return rc;
}

enum mr_code mr_work_pull_bodies(struct mr_work_pulling *p)
{
	enum mr_code rc;

	p->processed = p->fetched = 0;
	mr_work_pull_make_room(p);
	for (;;) {
		size_t before = p->box->taken_len;
		struct mr_err kept;
		bool broken = false;

		rc = fetch_all(p, &broken);
		if (!rc || !broken || p->box->taken_len == before)
			break;
		/* It brought something and broke: the next connection goes on. */
		kept = p->cx->err;
		mr_work_pull_disconnect(p);
		if (mr_work_pull_connect(p) || mr_work_pull_examine_again(p)) {
			p->cx->err = kept;
			break;
		}
	}
	mr_arena_freep(&p->arrival_arena);
	return rc;
}
