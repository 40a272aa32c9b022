/* workspace/pull_run.c - asks the server mailbox by mailbox what is there, and takes it in. */
#include "workspace/pull_run.h"

#include "base/crash.h"
#include "workspace/evidence.h"
#include "workspace/import.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/mail_server.h"
#include "workspace/pull_known.h"
#include "workspace/pull_resolve.h"
#include "workspace/pull_settle.h"
#include "workspace/refresh.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	BATCH = 25,   /* bodies that are asked for at once */
	PIPELINE = 8, /* such requests that are on their way */
	UIDS_MAX = 4 << 20,
	FLAGS_MAX = 64, /* of one mail, and how long: what is beyond is left out */
	FLAG_BYTES = 256,
};

/* One mail of a mailbox, as the server lists it. */
struct seen {
	uint32_t uid;
	struct mr_texts flags;
};

struct box {
	const struct mr_work_mailbox *mailbox;
	const char *name, *wire;
	uint32_t validity;
	uint32_t exists;
	struct seen *seen;
	size_t len, room;
	uint32_t *wanted; /* uids whose bodies are to be fetched, sorted */
	bool *taken;      /* which of them came */
	size_t wanted_len;
};

struct pull {
	struct mr_ctx *cx;
	struct mr_work *work;
	const struct mr_work_config *config;
	struct mr_work_progress *progress;
	struct mr_imap *session;
	struct mr_work_pulled *out;
	struct mr_work_known known;
	struct mr_work_settling settling;
	struct box *box; /* the present one */
	size_t index, count;
	struct mr_texts batch;           /* taken in, not yet known */
	struct mr_work_location *places; /* of each on the server */
	size_t processed, fetched;
};

/* --- phases --- */

struct phase {
	struct mr_out out;
	struct pull *pull;
};

static void begin_phase(struct pull *p, struct phase *phase)
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

static void end_phase(struct phase *phase, const char *name)
{
	mr_out_end(&phase->out);
	mr_work_progress_phase(phase->pull->progress, name, mr_out_tree(&phase->out));
}

static void tell(struct pull *p, const char *name)
{
	struct phase phase;

	begin_phase(p, &phase);
	end_phase(&phase, name);
}

/* --- which mailboxes --- */

static void tell_targets(struct pull *p, const struct mr_work_targets *targets,
	const struct mr_work_resolved *resolved)
{
	size_t len = resolved->len;
	struct mr_work_pulled *out = p->out;
	struct phase phase;

	out->mailbox_ids.items = mr_arena_array(p->cx->arena, len + 1, sizeof(char *));
	out->mailbox_names.items = mr_arena_array(p->cx->arena, len + 1, sizeof(char *));
	for (size_t i = 0; i < len; i++) {
		out->mailbox_ids.items[out->mailbox_ids.len++] = resolved->items[i].mailbox->id;
		out->mailbox_names.items[out->mailbox_names.len++] = resolved->items[i].name;
	}
	out->mailbox_count = (int64_t)len;
	out->unresolved_mailbox_ids = resolved->missing_ids;
	begin_phase(p, &phase);
	mr_out_texts(&phase.out, "requested_mailbox_ids", &targets->ids);
	mr_out_texts(&phase.out, "mailbox_ids", &out->mailbox_ids);
	mr_out_texts(&phase.out, "mailbox_names", &out->mailbox_names);
	mr_out_int(&phase.out, "mailbox_count", out->mailbox_count);
	end_phase(&phase, "pull_resolve_targets");
}

/* --- what is in a mailbox --- */

static enum mr_code note_examined(void *arg, const struct mr_imap_response *response,
	struct mr_err *err)
{
	struct box *box = arg;
	uint64_t value;

	if (mr_str_eq(response->name, "EXISTS") && response->has_number)
		box->exists = response->number;
	if (response->code.len == 2 && mr_imap_is(&response->code.items[0], "UIDVALIDITY") &&
		mr_imap_number(&response->code.items[1], &value)) {
		if (value > UINT32_MAX)
			return mr_err_set(err, MR_EREMOTE, "UIDVALIDITY is out of range");
		box->validity = (uint32_t)value;
	}
	return MR_OK;
}

static struct mr_texts flags_of(struct mr_arena *arena, const struct mr_imap_node *node)
{
	struct mr_texts flags = { NULL, 0 };

	if (!node || node->kind != MR_IMAP_LIST)
		return flags;
	flags.items = mr_arena_array(arena, FLAGS_MAX + 1, sizeof(*flags.items));
	for (size_t i = 0; i < node->len && flags.len < FLAGS_MAX; i++)
		if (node->items[i].kind == MR_IMAP_ATOM && node->items[i].bytes.len <= FLAG_BYTES)
			flags.items[flags.len++] = mr_imap_text(arena, &node->items[i]);
	return mr_work_flags(arena, &flags);
}

static enum mr_code note_seen(void *arg, const struct mr_imap_response *response,
	struct mr_err *err)
{
	struct pull *p = arg;
	struct box *box = p->box;
	const struct mr_imap_node *list = response->data.len ? &response->data.items[0] : NULL;
	uint64_t uid;

	if (!mr_str_eq(response->name, "FETCH") ||
		!mr_imap_number(mr_imap_member(list, "UID"), &uid) || !uid || uid > UINT32_MAX)
		return MR_OK;
	if (box->len == UIDS_MAX)
		return mr_err_set(err, MR_ELIMIT, "%s has more than %d mails", box->name, UIDS_MAX);
	if (box->len == box->room) {
		size_t room = box->room ? box->room * 2 : 256;
		struct seen *seen = mr_arena_array(p->cx->arena, room, sizeof(*seen));

		if (box->len)
			memcpy(seen, box->seen, box->len * sizeof(*seen));
		box->seen = seen;
		box->room = room;
	}
	box->seen[box->len++] = (struct seen){ (uint32_t)uid,
		flags_of(p->cx->arena, mr_imap_member(list, "FLAGS")) };
	return MR_OK;
}

static int by_uid(const void *a, const void *b)
{
	uint32_t x = ((const struct seen *)a)->uid, y = ((const struct seen *)b)->uid;

	return x < y ? -1 : x > y;
}

static enum mr_code examine(struct pull *p)
{
	struct box *box = p->box;
	size_t kept = 0;
	enum mr_code rc;

	mr_imap_begin(p->session, "EXAMINE");
	mr_imap_put_string(p->session, box->wire);
	rc = mr_work_server_do(p->cx, p->session, note_examined, box, NULL,
		MR_WORK_IMAP_SELECT_FAILED);
	if (rc || !box->exists)
		return rc;
	mr_imap_begin(p->session, "UID FETCH 1:* (UID FLAGS)");
	rc = mr_work_server_do(p->cx, p->session, note_seen, p, NULL, MR_WORK_IMAP_FETCH_FAILED);
	if (rc || !box->len)
		return rc;
	qsort(box->seen, box->len, sizeof(*box->seen), by_uid);
	for (size_t i = 0; i < box->len; i++) /* a server may tell of one twice */
		if (i + 1 == box->len || box->seen[i].uid != box->seen[i + 1].uid)
			box->seen[kept++] = box->seen[i];
	box->len = kept;
	return MR_OK;
}

/* What is known already gets new flags; the rest is wanted. */
static void compare(struct pull *p)
{
	struct box *box = p->box;

	box->wanted = mr_arena_array(p->cx->arena, box->len + 1, sizeof(*box->wanted));
	box->taken = mr_arena_array(p->cx->arena, box->len + 1, sizeof(*box->taken));
	for (size_t i = 0; i < box->len; i++) {
		const struct seen *seen = &box->seen[i];
		struct mr_work_known_location *known =
			mr_work_known_find(&p->known, box->name, box->validity, seen->uid);

		if (!known) {
			box->wanted[box->wanted_len++] = seen->uid;
			continue;
		}
		known->is_there = true;
		if (mr_work_settle_flags(&p->settling, known, &seen->flags))
			p->out->flags_updated_count++;
	}
}

/* --- bodies --- */

static enum mr_code write_sidecar(struct pull *p, const char *id,
	const struct mr_work_location *location)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_work_locations one = { (struct mr_work_location *)location, 1 };
	struct mr_ctx own = *p->cx;
	struct mr_bytes bytes;

	own.arena = arena;
	bytes = mr_work_pretty(&own, mr_work_remote_value(&own, id, &one));
	if (!bytes.data)
		return mr_work_refuse(p->cx, MR_WORK_STORE_ERROR,
			"what the server says of %s is too long to be kept", id);
	return mr_fs_write_as(p->work->dir, mr_work_path_remote(arena, id), bytes, MR_FS_REPLACE,
		       MR_FS_SYNC_FILE, 0644, &p->cx->err)
		? mr_work_store_error(p->cx)
		: MR_OK;
}

/* Make what was taken in durable, then decided, then known, then visible. */
static enum mr_code finish_batch(struct pull *p)
{
	struct mr_work_change change;
	enum mr_code rc;

	if (!p->batch.len && !p->settling.spam.len && !p->settling.trash.len)
		return MR_OK;
	rc = mr_work_take_sync(p->cx, p->work);
	mr_crash_point("work.pull.synced");
	if (!rc)
		rc = mr_work_settle_discarded(&p->settling, &change);
	mr_crash_point("work.pull.discarded");
	/* A mail is known once it has a sidecar: until then it is fetched again. */
	for (size_t i = 0; !rc && i < p->batch.len; i++)
		rc = write_sidecar(p, p->batch.items[i], &p->places[i]);
	if (!rc)
		rc = mr_work_take_sync(p->cx, p->work);
	mr_crash_point("work.pull.placed");
	if (!rc)
		rc = mr_work_take_show(p->cx, p->work, &p->batch, &change.stale.collections);
	if (!rc)
		mr_work_change_end(p->cx, &change);
	p->batch.len = 0;
	return rc;
}

static void discard_as_configured(struct pull *p, const char *id)
{
	if (p->box->mailbox->import_as == MR_WORK_AS_SPAM)
		mr_work_settle_discard(&p->settling, MR_WORK_SPAM, id);
	else if (p->box->mailbox->import_as == MR_WORK_AS_TRASHED)
		mr_work_settle_discard(&p->settling, MR_WORK_TRASH, id);
}

static void count_new(struct pull *p)
{
	enum mr_work_import_as as = p->box->mailbox->import_as;

	p->out->new_message_count++;
	p->out->triage_created_count += as == MR_WORK_AS_TRIAGE;
	p->out->spam_message_count += as == MR_WORK_AS_SPAM;
	p->out->trashed_message_count += as == MR_WORK_AS_TRASHED;
}

/* A mail that an interrupted pull has left without a place: nobody has decided about it. */
static bool was_left(struct mr_ctx *cx, struct pull *p, const char *id)
{
	struct mr_work_brief brief;
	struct mr_ctx own = *cx;

	return !mr_fs_exists(p->work->dir, mr_work_path_remote(cx->arena, id)) &&
		!mr_work_index_message(&own, p->work, id, &brief) &&
		brief.status == MR_WORK_IS_TRIAGE;
}

static struct mr_work_location keep_place(struct mr_arena *arena,
	const struct mr_work_location *location)
{
	struct mr_work_location kept = *location;

	kept.flags.items =
		mr_arena_array(arena, location->flags.len + 1, sizeof(*kept.flags.items));
	for (size_t i = 0; i < location->flags.len; i++)
		kept.flags.items[i] = mr_arena_strdup(arena, location->flags.items[i]);
	return kept;
}

/* One mail: new, or a place where a known one is, too. */
static enum mr_code take(struct mr_ctx *cx, struct pull *p, struct mr_bytes eml,
	const struct mr_work_location *location)
{
	struct mr_mime mime;
	const char *id = NULL;
	bool present = false;
	enum mr_code rc;

	if (mr_mime_parse(cx->arena, eml, &mime, &cx->err))
		return mr_work_refuse(cx, MR_WORK_MIME_PARSE_FAILED, "%s in %s, uid %lld",
			cx->err.msg, location->mailbox_name, (long long)location->uid);
	rc = mr_work_take_id(cx, p->work, &mime, location, &id, &present);
	if (rc)
		return rc;
	if (present) {
		p->out->updated_location_count++;
		if (was_left(cx, p, id))
			discard_as_configured(p, mr_arena_strdup(p->cx->arena, id));
		return mr_work_settle_location(&p->settling, id, location);
	}
	rc = mr_work_take(cx, p->work, id, eml);
	if (rc)
		return rc;
	id = mr_arena_strdup(p->cx->arena, id);
	p->places[p->batch.len] = keep_place(p->cx->arena, location);
	p->batch.items[p->batch.len++] = id;
	discard_as_configured(p, id);
	count_new(p);
	mr_crash_point("work.pull.taken");
	return MR_OK;
}

/* Whether a wanted mail has come; NULL when it is not wanted. Servers may tell of others. */
static bool *taken_of(const struct box *box, uint64_t uid)
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

static enum mr_code note_body(void *arg, const struct mr_imap_response *response,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	struct pull *p = arg;
	const struct mr_imap_node *list = response->data.len ? &response->data.items[0] : NULL;
	const struct mr_imap_node *body = mr_imap_member(list, "BODY[");
	struct mr_work_location location;
	struct mr_ctx own;
	uint64_t uid;
	bool *taken;
	enum mr_code rc;

	if (!mr_str_eq(response->name, "FETCH") ||
		!mr_imap_number(mr_imap_member(list, "UID"), &uid) || !body ||
		body->kind != MR_IMAP_STRING)
		return MR_OK;
	taken = taken_of(p->box, uid);
	if (!taken || *taken)
		return MR_OK;
	*taken = true;
	arena = mr_arena_new();
	own = *p->cx;
	own.arena = arena;
	location = (struct mr_work_location){
		.mailbox_name = p->box->name,
		.mailbox_id = p->box->mailbox->id,
		.has_uid = true,
		.uid_validity = p->box->validity,
		.uid = (int64_t)uid,
		.flags = flags_of(arena, mr_imap_member(list, "FLAGS")),
		.observed = p->work->now,
	};
	rc = take(&own, p, body->bytes, &location);
	p->fetched++;
	if (rc == MR_OK)
		return MR_OK;
	*err = own.err;
	err->detail = NULL;
	err->issues = NULL;
	return rc;
}

static void tell_bodies(struct pull *p, const char *stage, size_t batch, size_t len)
{
	struct phase phase;

	begin_phase(p, &phase);
	mr_out_text(&phase.out, "stage", stage);
	mr_out_int(&phase.out, "uid_count", (int64_t)p->box->wanted_len);
	mr_out_int(&phase.out, "processed_count", (int64_t)p->processed);
	mr_out_int(&phase.out, "fetched_count", (int64_t)p->fetched);
	mr_out_int(&phase.out, "batch_index", (int64_t)batch + 1);
	mr_out_int(&phase.out, "batch_count", (int64_t)((p->box->wanted_len + BATCH - 1) / BATCH));
	mr_out_int(&phase.out, "batch_uid_count", (int64_t)len);
	mr_out_int(&phase.out, "batch_size", BATCH);
	end_phase(&phase, "pull_mailbox_bodies_progress");
	if (p->cx->progress)
		p->cx->progress(p->cx->progress_arg, p->box->name, p->processed,
			p->box->wanted_len);
}

/* Begin a request for the next bodies; how many of them. */
static size_t ask_for(struct pull *p, size_t from)
{
	struct box *box = p->box;
	size_t len = box->wanted_len - from < BATCH ? box->wanted_len - from : BATCH;
	struct mr_buf set MR_CLEANUP(mr_buf_release) = { 0 };
	size_t at = 0;

	mr_buf_init(&set, 1 << 20);
	mr_imap_put_set(&set, box->wanted + from, len, &at, SIZE_MAX);
	mr_imap_begin(p->session, "UID FETCH ");
	mr_imap_put(p->session, mr_buf_text(&set));
	mr_imap_put(p->session, " (UID FLAGS BODY.PEEK[])");
	return len;
}

/* Several requests at once, from one of the wanted uids on. */
static enum mr_code fetch_some(struct pull *p, size_t from, size_t *out_asked)
{
	struct mr_imap_outcome outcomes[PIPELINE] = { 0 };
	struct mr_err err = { 0 };
	size_t begun = 0, asked = 0;
	enum mr_code rc;

	while (begun < PIPELINE && from + asked < p->box->wanted_len) {
		asked += ask_for(p, from + asked);
		begun++;
	}
	*out_asked = asked;
	tell_bodies(p, "fetch_start", from / BATCH, asked);
	rc = mr_imap_run(p->session, p->cx->arena, note_body, p, outcomes, &err);
	if (rc && err.word) { /* a failure of the workspace */
		p->cx->err = err;
		return rc;
	}
	if (rc)
		return mr_work_refuse(p->cx, MR_WORK_IMAP_FETCH_FAILED, "%s", err.msg);
	for (size_t i = 0; i < begun; i++)
		if (outcomes[i].status != MR_IMAP_OK)
			return mr_work_refuse(p->cx, MR_WORK_IMAP_FETCH_FAILED,
				"the server refused: %s", outcomes[i].text);
	return MR_OK;
}

static enum mr_code fetch_bodies(struct pull *p)
{
	struct box *box = p->box;
	enum mr_code rc = MR_OK;

	p->processed = p->fetched = 0;
	p->batch.items = mr_arena_array(p->cx->arena, PIPELINE * BATCH + 1, sizeof(char *));
	p->places = mr_arena_array(p->cx->arena, PIPELINE * BATCH, sizeof(*p->places));
	for (size_t from = 0; !rc && from < box->wanted_len;) {
		size_t asked = 0;
		enum mr_code finished;
		struct mr_err kept;

		rc = fetch_some(p, from, &asked);
		kept = p->cx->err;
		/* What came before a failure is kept, too. */
		finished = finish_batch(p);
		if (rc)
			p->cx->err = kept;
		else
			rc = finished;
		from += asked;
		p->processed = from;
		tell_bodies(p, "fetch_done", (from - 1) / BATCH, asked);
	}
	return rc;
}

static enum mr_code pull_box(struct pull *p)
{
	enum mr_code rc;

	tell(p, "pull_mailbox_headers_start");
	rc = examine(p);
	if (rc)
		return rc;
	compare(p);
	tell(p, "pull_mailbox_headers_done");
	tell(p, "pull_mailbox_bodies_start");
	rc = fetch_bodies(p);
	if (!rc)
		tell(p, "pull_mailbox_bodies_done");
	return rc;
}

/* Locations of the selected mailboxes that are there no longer. */
static void find_missing(struct pull *p, const struct box *boxes, size_t len)
{
	for (size_t i = 0; i < p->known.len; i++) {
		struct mr_work_known_location *known = &p->known.items[i];

		for (size_t k = 0; k < len; k++) {
			if (!mr_str_eq(known->mailbox_name, boxes[k].name) || known->is_missing)
				continue;
			p->out->checked_location_count++;
			if (known->is_there)
				continue;
			p->out->missing_location_count++;
			mr_work_settle_missing(&p->settling, known);
		}
	}
	/* What was taken in or found to be somewhere else was looked at, too. */
	p->out->checked_location_count +=
		p->out->new_message_count + p->out->updated_location_count;
}

static enum mr_code count_views(struct pull *p)
{
	struct mr_work_pulled *out = p->out;
	struct mr_work_counts counts;
	enum mr_code rc = mr_work_index_counts(p->cx, p->work, &counts);

	if (rc)
		return rc;
	out->triage_count = out->triage_written_count = counts.by_status[MR_WORK_IS_TRIAGE];
	out->spam_count = out->spam_written_count = counts.by_status[MR_WORK_IS_SPAM];
	out->trash_count = out->trash_written_count = counts.by_status[MR_WORK_IS_TRASHED];
	out->deleted_count = out->deleted_written_count = counts.by_status[MR_WORK_IS_DELETED];
	return MR_OK;
}

static enum mr_code connect_to(struct pull *p, const struct mr_work_account *account)
{
	return p->session ? MR_OK : mr_work_server_open(p->cx, account, &p->session);
}

static enum mr_code run(struct pull *p, const struct mr_work_account *account,
	const struct mr_work_targets *targets, bool are_named)
{
	struct mr_work_resolved resolved = { 0 };
	struct box *boxes;
	/* The server is asked only for what the configuration does not say. */
	enum mr_code rc = mr_work_resolve_needs_server(targets) ? connect_to(p, account) : MR_OK;

	if (!rc)
		rc = mr_work_resolve(p->cx, p->session, targets, are_named, &resolved);
	if (rc)
		return rc;
	tell_targets(p, targets, &resolved);
	rc = connect_to(p, account);
	p->count = resolved.len;
	boxes = mr_arena_array(p->cx->arena, resolved.len, sizeof(*boxes));
	for (size_t i = 0; !rc && i < resolved.len; i++) {
		boxes[i] = (struct box){ .mailbox = resolved.items[i].mailbox,
			.name = resolved.items[i].name,
			.wire = resolved.items[i].wire };
		p->box = &boxes[i];
		p->index = i + 1;
		rc = pull_box(p);
	}
	p->box = NULL;
	if (rc)
		return rc;
	tell(p, "pull_reconcile_start");
	find_missing(p, boxes, resolved.len);
	rc = mr_work_settle(&p->settling, p->out);
	if (!rc)
		tell(p, "pull_reconcile_done");
	return rc ? rc : count_views(p);
}

enum mr_code mr_work_pull_run(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_account *account, const struct mr_work_targets *targets,
	bool are_named, struct mr_work_progress *progress, struct mr_work_pulled *result)
{
	struct pull p = { .cx = cx, .work = work, .progress = progress, .out = result };
	size_t swept = 0;
	enum mr_code rc = mr_work_config_get(cx, work, &p.config);

	if (!rc)
		rc = mr_work_index_open(cx, work);
	if (!rc && mr_fs_make_dirs(work->dir, MR_WORK_EVIDENCE, 0755, &cx->err))
		rc = mr_work_store_error(cx);
	if (!rc && mr_fs_sweep_temporaries(work->dir, MR_WORK_EVIDENCE, &swept, &cx->err))
		rc = mr_work_store_error(cx);
	if (!rc)
		rc = mr_work_known_load(cx, work, &p.known);
	mr_work_settle_begin(cx, work, &p.settling);
	if (!rc)
		rc = run(&p, account, targets, are_named);
	mr_imap_closep(&p.session);
	return rc;
}
