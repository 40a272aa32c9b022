/*
 * workspace/pull_take.c - bodies that came become evidence.
 *
 * Files are staged in .afmail/incoming, made durable all at once, and then put in place, so that a
 * mail has its name only when it is whole.
 */
#include "base/crash.h"
#include "workspace/error.h"
#include "workspace/evidence.h"
#include "workspace/import.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/pull_private.h"
#include "workspace/refresh.h"

enum { FEW = 4 }; /* mails that are made durable one by one: others' data need not be waited for */

static const char *staged_path(struct mr_arena *arena, size_t number, const char *suffix)
{
	return mr_arena_printf(arena, MR_WORK_INCOMING "/%zu%s", number, suffix);
}

static enum mr_code stage(struct mr_ctx *cx, struct mr_work_pulling *p, const char *suffix,
	struct mr_bytes bytes)
{
	return mr_fs_write_bare(p->work->dir, staged_path(cx->arena, p->staged.len, suffix), bytes,
		       p->arrival_len <= FEW, 0644, &cx->err)
		? mr_work_store_error(cx)
		: MR_OK;
}

static enum mr_code stage_mail(struct mr_ctx *cx, struct mr_work_pulling *p, const char *id,
	const struct mr_work_arrival *arrival, const struct mr_mime *mime)
{
	const struct mr_work_locations one = { (struct mr_work_location *)&arrival->location, 1 };
	struct mr_bytes sidecar = mr_work_pretty(cx, mr_work_remote_value(cx, id, &one));
	enum mr_code rc;

	if (!sidecar.data)
		return mr_work_refuse(cx, MR_WORK_STORE_ERROR,
			"what the server says of %s is too long to be kept", id);
	rc = stage(cx, p, ".eml", arrival->eml);
	if (!rc)
		rc = stage(cx, p, ".json", sidecar);
	if (rc)
		return rc;
	mr_work_evidence_keep(p->arrival_arena, p->work, id, mime, &one);
	p->staged.items[p->staged.len++] = mr_arena_strdup(p->arrival_arena, id);
	mr_crash_point("work.pull.taken");
	return MR_OK;
}

static enum mr_code place_all(struct mr_work_pulling *p, bool sidecars)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < p->staged.len; i++) {
		const char *id = p->staged.items[i];

		rc = mr_fs_place(p->work->dir, staged_path(arena, i, sidecars ? ".json" : ".eml"),
			sidecars ? mr_work_path_remote(arena, id) : mr_work_path_eml(arena, id),
			sidecars ? MR_FS_REPLACE : MR_FS_NEW, &p->cx->err);
		mr_crash_point("work.pull.placed");
	}
	return rc ? mr_work_store_error(p->cx) : MR_OK;
}

static bool are_discarded(const struct mr_work_pulling *p)
{
	return p->settling.spam.len || p->settling.trash.len;
}

/* Make what was staged durable, then give it its names, then make it visible. */
static enum mr_code finish(struct mr_work_pulling *p)
{
	struct mr_ctx *cx = p->cx;
	struct mr_work_change change;
	bool discarded = are_discarded(p);
	enum mr_code rc = MR_OK;

	mr_work_index_let_go(p->work);
	if (!p->staged.len && !discarded)
		return MR_OK;
	if (p->arrival_len > FEW && mr_fs_sync_all(p->work->dir, &cx->err))
		rc = mr_work_store_error(cx);
	mr_crash_point("work.pull.synced");
	if (!rc)
		rc = place_all(p, false);
	if (!rc && discarded)
		rc = mr_work_take_sync(cx, p->work);
	mr_crash_point("work.pull.named");
	if (!rc)
		rc = mr_work_settle_discarded(&p->settling, &change);
	mr_crash_point("work.pull.discarded");
	/* A mail is known once it has a sidecar: until then it is fetched again. */
	if (!rc)
		rc = place_all(p, true);
	if (!rc)
		rc = mr_work_take_sync(cx, p->work);
	mr_crash_point("work.pull.known");
	if (!rc)
		rc = mr_work_index_open(cx, p->work);
	if (!rc)
		rc = mr_work_take_show(cx, p->work, &p->staged, &change.stale.collections);
	if (!rc)
		mr_work_change_end(cx, &change);
	p->staged.len = 0;
	mr_work_evidence_forget(p->work);
	return rc;
}

/* --- one mail --- */

static void discard_as_configured(struct mr_work_pulling *p, const char *id)
{
	id = mr_arena_strdup(p->cx->arena, id);
	if (p->box->mailbox->import_as == MR_WORK_AS_SPAM)
		mr_work_settle_discard(&p->settling, MR_WORK_SPAM, id);
	else if (p->box->mailbox->import_as == MR_WORK_AS_TRASHED)
		mr_work_settle_discard(&p->settling, MR_WORK_TRASH, id);
}

static void count_new(struct mr_work_pulling *p)
{
	enum mr_work_import_as as = p->box->mailbox->import_as;

	p->out->new_message_count++;
	p->out->triage_created_count += as == MR_WORK_AS_TRIAGE;
	p->out->spam_message_count += as == MR_WORK_AS_SPAM;
	p->out->trashed_message_count += as == MR_WORK_AS_TRASHED;
}

/* A mail that an interrupted pull has left without a place: nobody has decided about it. */
static bool was_left(struct mr_ctx *cx, struct mr_work_pulling *p, const char *id)
{
	struct mr_work_brief brief;
	struct mr_ctx own = *cx;

	return !mr_fs_exists(p->work->dir, mr_work_path_remote(cx->arena, id)) &&
		!mr_work_index_message(&own, p->work, id, &brief) &&
		brief.status == MR_WORK_IS_TRIAGE;
}

static void note_failure(struct mr_work_pulling *p, const struct mr_work_arrival *arrival,
	const char *why)
{
	mr_work_settle_failed(&p->settling, p->out,
		mr_arena_printf(p->cx->arena, "%s, uid %lld: %s", arrival->location.mailbox_name,
			(long long)arrival->location.uid, why));
}

/* One mail: new, or a place where a known one is, too. One that cannot be read stops no other. */
static enum mr_code take_one(struct mr_ctx *cx, struct mr_work_pulling *p,
	const struct mr_work_arrival *arrival)
{
	struct mr_mime *mime = mr_arena_alloc(p->arrival_arena, sizeof(*mime));
	const char *id = NULL;
	bool present = false;
	enum mr_code rc;

	/* What was read lives until the mail is shown. */
	if (mr_mime_parse(p->arrival_arena, arrival->eml, mime, &cx->err)) {
		note_failure(p, arrival, cx->err.msg);
		return MR_OK;
	}
	rc = mr_work_take_id(cx, p->work, mime, &arrival->location, &id, &present);
	if (!rc && mr_texts_has(&p->staged, id)) { /* it has to be there to be compared with */
		rc = finish(p);
		if (!rc)
			rc = mr_work_index_hold(p->cx, p->work);
		if (rc)
			cx->err = p->cx->err;
		else
			rc = mr_work_take_id(cx, p->work, mime, &arrival->location, &id, &present);
	}
	if (rc)
		return rc;
	if (present) {
		p->box->updated_locations++;
		p->out->updated_location_count++;
		if (was_left(cx, p, id))
			discard_as_configured(p, id);
		mr_work_settle_location(&p->settling, id, &arrival->location);
		return MR_OK;
	}
	rc = stage_mail(cx, p, id, arrival, mime);
	if (rc)
		return rc;
	discard_as_configured(p, id);
	count_new(p);
	return MR_OK;
}

static enum mr_code take_apart(struct mr_work_pulling *p, const struct mr_work_arrival *arrival)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_work_config *config = NULL;
	struct mr_ctx own = *p->cx;
	/* What is loaded once a command lives in the command's arena. */
	enum mr_code rc = mr_work_config_get(p->cx, p->work, &config);

	if (rc)
		return rc;
	own.arena = arena;
	own.err = (struct mr_err){ 0 };
	rc = take_one(&own, p, arrival);
	return rc ? mr_work_error_pass(p->cx, &own.err) : MR_OK;
}

enum mr_code mr_work_pull_take(struct mr_work_pulling *p)
{
	enum mr_code rc = mr_work_pull_lock(p), finished;
	struct mr_err kept;

	if (!rc &&
		(mr_fs_make_dirs(p->work->dir, MR_WORK_EVIDENCE, 0755, &p->cx->err) ||
			mr_fs_make_dirs(p->work->dir, MR_WORK_INCOMING, 0755, &p->cx->err)))
		rc = mr_work_store_error(p->cx);
	if (!rc)
		rc = mr_work_index_hold(p->cx, p->work);
	for (size_t i = 0; !rc && i < p->arrival_len; i++)
		rc = take_apart(p, &p->arrivals[i]);
	kept = p->cx->err;
	finished = finish(p); /* also what came before a failure */
	if (rc)
		p->cx->err = kept;
	mr_work_rest(p->work);
	p->arrival_len = p->arrival_bytes = 0;
	p->staged.len = 0;
	mr_arena_freep(&p->arrival_arena);
	p->arrival_arena = mr_arena_new();
	return rc ? rc : finished;
}
