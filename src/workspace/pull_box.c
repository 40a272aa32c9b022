/* workspace/pull_box.c - asks what is in a mailbox, or what changed in it, and compares. */
#include "workspace/pull_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FLAGS_MAX = 64, /* of one mail, and how long: what is beyond is left out */
	FLAG_BYTES = 256,
	FLAG_SETS_MAX = 1 << 16, /* different ones of a pull; others are as if they were not told */
	VANISHED_MAX = 1 << 20,
	COMMAND_BYTES = 256,
};

/* --- what the server says --- */

static bool code_number(const struct mr_imap_response *response, const char *name, uint64_t *out)
{
	return response->code.len == 2 && mr_imap_is(&response->code.items[0], name) &&
		mr_imap_number(&response->code.items[1], out);
}

static enum mr_code note_status(struct mr_work_box *box, const struct mr_imap_response *response,
	struct mr_err *err)
{
	uint64_t value;

	if (mr_str_eq(response->name, "EXISTS") && response->has_number)
		box->exists = response->number;
	if (code_number(response, "UIDVALIDITY", &value)) {
		if (value > UINT32_MAX)
			return mr_err_set(err, MR_EREMOTE, "UIDVALIDITY is out of range");
		box->validity = (uint32_t)value;
	}
	if (code_number(response, "UIDNEXT", &value) && value <= UINT32_MAX)
		box->uid_next = (uint32_t)value;
	if (code_number(response, "HIGHESTMODSEQ", &value) && value <= INT64_MAX)
		box->modseq = value;
	return MR_OK;
}

const char *mr_work_pull_flags(struct mr_work_pulling *p, const struct mr_imap_node *fetched)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	const struct mr_imap_node *node = mr_imap_member(fetched, "FLAGS");
	const char *items[FLAGS_MAX];
	struct mr_texts flags = { items, 0 };
	const char *set;

	if (!node || node->kind != MR_IMAP_LIST)
		return NULL;
	arena = mr_arena_new();
	for (size_t i = 0; i < node->len && flags.len < FLAGS_MAX; i++)
		if (node->items[i].kind == MR_IMAP_ATOM && node->items[i].bytes.len <= FLAG_BYTES)
			items[flags.len++] = mr_imap_text(arena, &node->items[i]);
	flags = mr_work_flags(arena, &flags);
	set = mr_str_join(arena, &flags, " ");
	if (p->flag_sets.texts.len == FLAG_SETS_MAX && !mr_work_text_set_has(&p->flag_sets, set))
		return NULL;
	return mr_work_text_set_keep(p->cx->arena, &p->flag_sets, set);
}

static enum mr_code note_vanished(struct mr_work_pulling *p,
	const struct mr_imap_response *response, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_work_box *box = p->box;
	struct mr_imap_set set = { 0 };
	const struct mr_imap_node *last =
		response->data.len ? &response->data.items[response->data.len - 1] : NULL;
	struct mr_err ignored;

	if (!last || last->kind != MR_IMAP_ATOM ||
		mr_imap_set_parse(arena, last->bytes, &set, &ignored))
		return MR_OK;
	if (box->vanished_len + set.len > VANISHED_MAX)
		return mr_err_set(err, MR_ELIMIT, "%s: too many mails vanished", box->name);
	if (box->vanished_len + set.len > box->vanished_room) {
		size_t room = (box->vanished_len + set.len) * 2;
		struct mr_imap_range *ranges = mr_arena_array(p->cx->arena, room, sizeof(*ranges));

		if (box->vanished_len)
			memcpy(ranges, box->vanished, box->vanished_len * sizeof(*ranges));
		box->vanished = ranges;
		box->vanished_room = room;
	}
	if (set.len)
		memcpy(box->vanished + box->vanished_len, set.ranges,
			set.len * sizeof(*set.ranges));
	box->vanished_len += set.len;
	return MR_OK;
}

static enum mr_code note_seen(struct mr_work_pulling *p, const struct mr_imap_response *response,
	struct mr_err *err)
{
	struct mr_work_box *box = p->box;
	const struct mr_imap_node *list = response->data.len ? &response->data.items[0] : NULL;
	uint64_t uid;

	if (!mr_imap_number(mr_imap_member(list, "UID"), &uid) || !uid || uid > UINT32_MAX)
		return MR_OK;
	if (box->len == MR_WORK_PULL_UIDS_MAX)
		return mr_err_set(err, MR_ELIMIT, "%s has more than %d mails", box->name,
			MR_WORK_PULL_UIDS_MAX);
	if (box->len == box->room) {
		size_t room = box->room ? box->room * 2 : 256;
		struct mr_work_seen *seen = mr_arena_array(p->cx->arena, room, sizeof(*seen));

		if (box->len)
			memcpy(seen, box->seen, box->len * sizeof(*seen));
		box->seen = seen;
		box->room = room;
	}
	box->seen[box->len++] = (struct mr_work_seen){ (uint32_t)uid, mr_work_pull_flags(p, list) };
	return MR_OK;
}

static enum mr_code note(void *arg, const struct mr_imap_response *response, struct mr_err *err)
{
	struct mr_work_pulling *p = arg;

	if (mr_str_eq(response->name, "FETCH"))
		return note_seen(p, response, err);
	if (mr_str_eq(response->name, "VANISHED"))
		return note_vanished(p, response, err);
	return note_status(p->box, response, err);
}

/* --- asking --- */

static int by_uid(const void *a, const void *b)
{
	const struct mr_work_seen *x = a, *y = b;

	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return (x->flags != NULL) - (y->flags != NULL);
}

/* A server may tell of one twice: what it says of flags counts. */
static void sort_seen(struct mr_work_box *box)
{
	size_t kept = 0;

	if (box->len)
		qsort(box->seen, box->len, sizeof(*box->seen), by_uid);
	for (size_t i = 0; i < box->len; i++)
		if (i + 1 == box->len || box->seen[i].uid != box->seen[i + 1].uid)
			box->seen[kept++] = box->seen[i];
	box->len = kept;
}

static bool has_qresync(const struct mr_work_pulling *p)
{
	return mr_imap_has_enabled(*p->session, "QRESYNC");
}

/* Once a session: the server tells at once what vanished. */
static enum mr_code enable(struct mr_work_pulling *p)
{
	if (p->has_asked || has_qresync(p) || !mr_imap_can(*p->session, "QRESYNC") ||
		!mr_imap_can(*p->session, "ENABLE"))
		return MR_OK;
	mr_imap_begin(*p->session, "ENABLE QRESYNC");
	p->has_asked = true;
	return mr_work_server_do(p->cx, *p->session, NULL, NULL, NULL, MR_WORK_IMAP_SELECT_FAILED);
}

/* EXAMINE, and with QRESYNC what changed since the state. */
static enum mr_code examine(struct mr_work_pulling *p, const struct mr_work_box_state *since)
{
	char more[COMMAND_BYTES] = "";
	enum mr_code rc = enable(p);

	if (rc)
		return rc;
	if (has_qresync(p) && since)
		snprintf(more, sizeof(more), " (QRESYNC (%" PRId64 " %" PRId64 "))",
			since->uid_validity, since->highest_modseq);
	else if (!has_qresync(p) && mr_imap_can(*p->session, "CONDSTORE"))
		snprintf(more, sizeof(more), " (CONDSTORE)");
	mr_imap_begin(*p->session, "EXAMINE");
	mr_imap_put_string(*p->session, p->box->wire);
	mr_imap_put(*p->session, more);
	rc = mr_work_server_do(p->cx, *p->session, note, p, NULL, MR_WORK_IMAP_SELECT_FAILED);
	if (!rc)
		sort_seen(p->box);
	return rc;
}

static enum mr_code fetch_flags(struct mr_work_pulling *p, const struct mr_work_box_state *since)
{
	char command[COMMAND_BYTES] = "UID FETCH 1:* (UID FLAGS)";
	enum mr_code rc;

	if (!p->box->exists) /* some servers refuse to be asked for nothing */
		return MR_OK;
	rc = since ? MR_OK
		   : mr_work_pull_compress(p, (size_t)p->box->exists * MR_WORK_PULL_ROW_BYTES);
	if (rc)
		return rc;
	if (since)
		snprintf(command, sizeof(command),
			"UID FETCH 1:* (UID FLAGS) (CHANGEDSINCE %" PRId64 ")",
			since->highest_modseq);
	mr_imap_begin(*p->session, command);
	rc = mr_work_server_do(p->cx, *p->session, note, p, NULL, MR_WORK_IMAP_FETCH_FAILED);
	if (!rc)
		sort_seen(p->box);
	return rc;
}

enum mr_code mr_work_pull_examine_again(struct mr_work_pulling *p)
{
	struct mr_work_box *box = p->box, before = *box;
	enum mr_code rc;

	*box = (struct mr_work_box){ .mailbox = before.mailbox,
		.name = before.name,
		.wire = before.wire };
	rc = examine(p, NULL);
	if (!rc && box->validity != before.validity)
		rc = mr_work_refuse(p->cx, MR_WORK_IMAP_FETCH_FAILED,
			"%s was made anew on the server while it was pulled", before.name);
	*box = before;
	return rc;
}

/* --- comparing --- */

static void want(struct mr_work_box *box, uint32_t uid)
{
	box->wanted[box->wanted_len++] = uid;
}

static void make_room(struct mr_work_pulling *p)
{
	struct mr_work_box *box = p->box;

	box->wanted = mr_arena_array(p->cx->arena, box->len + 1, sizeof(*box->wanted));
	box->taken = mr_arena_array(p->cx->arena, box->len + 1, sizeof(*box->taken));
	box->wanted_len = 0;
}

static void see(struct mr_work_pulling *p, const struct mr_work_place_row *known,
	const struct mr_work_seen *seen)
{
	if (mr_work_settle_flags(&p->settling, p->box->name, known,
		    seen->flags ? seen->flags : known->flags))
		p->box->updated_flags++;
}

static void miss(struct mr_work_pulling *p, const struct mr_work_place_row *known)
{
	p->out->missing_location_count++;
	mr_work_settle_missing(&p->settling, p->box->name, known);
}

/* Everything that is known of the mailbox with everything that is there. */
static enum mr_code compare_whole(struct mr_work_pulling *p)
{
	struct mr_work_box *box = p->box;
	struct mr_work_known known = { 0 };
	enum mr_code rc = mr_work_known_load(p->cx, p->work, box->name, &known);

	if (rc)
		return rc;
	make_room(p);
	for (size_t i = 0; i < box->len; i++) {
		size_t at = mr_work_known_find(&known, box->validity, box->seen[i].uid);

		if (at == known.len)
			want(box, box->seen[i].uid);
		for (; at < known.len && known.items[at].uid_validity == box->validity &&
			known.items[at].uid == box->seen[i].uid;
			at++) {
			known.is_there[at] = true;
			see(p, &known.items[at], &box->seen[i]);
		}
	}
	for (size_t i = 0; i < known.len; i++)
		if (!known.items[i].is_missing && !known.is_there[i])
			miss(p, &known.items[i]);
	return MR_OK;
}

static int by_first(const void *a, const void *b)
{
	const struct mr_imap_range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* Servers tell of them in any order, and of some twice. */
static void sort_vanished(struct mr_work_box *box)
{
	struct mr_imap_range *ranges = box->vanished;
	size_t kept = 0;

	if (box->vanished_len)
		qsort(ranges, box->vanished_len, sizeof(*ranges), by_first);
	for (size_t i = 0; i < box->vanished_len; i++) {
		struct mr_imap_range *last = kept ? &ranges[kept - 1] : NULL;

		if (last && ranges[i].first <= last->last)
			last->last = ranges[i].last > last->last ? ranges[i].last : last->last;
		else
			ranges[kept++] = ranges[i];
	}
	box->vanished_len = kept;
}

static bool has_vanished(const struct mr_work_box *box, int64_t uid)
{
	size_t from = 0, to = box->vanished_len;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (box->vanished[middle].last < uid)
			from = middle + 1;
		else
			to = middle;
	}
	return from < box->vanished_len && box->vanished[from].first <= uid;
}

/* Places that are known and live, among the uids that vanished. */
static enum mr_code find_vanished(struct mr_work_pulling *p, struct mr_work_known *known,
	int64_t *out_gone)
{
	enum mr_code rc = MR_OK;

	*out_gone = 0;
	*known = (struct mr_work_known){ 0 };
	sort_vanished(p->box);
	if (p->box->vanished_len)
		rc = mr_work_known_load(p->cx, p->work, p->box->name, known);
	for (size_t i = 0; !rc && i < known->len; i++) {
		const struct mr_work_place_row *row = &known->items[i];

		known->is_there[i] = row->is_missing || row->uid_validity != p->box->validity ||
			!has_vanished(p->box, row->uid);
		*out_gone += !known->is_there[i];
	}
	return rc;
}

/* What changed since the last time. `*out_fits`: what is known and what is there are as many; else
 * nothing was learnt, and everything has to be compared. */
static enum mr_code compare_changes(struct mr_work_pulling *p, bool *out_fits)
{
	struct mr_work_box *box = p->box;
	struct mr_work_place_rows *rows = mr_arena_array(p->cx->arena, box->len + 1, sizeof(*rows));
	struct mr_work_known known;
	int64_t here = 0, other = 0, gone = 0, fresh = 0;
	enum mr_code rc =
		mr_work_index_place_counts(p->cx, p->work, box->name, box->validity, &here, &other);

	*out_fits = false;
	if (!rc)
		rc = find_vanished(p, &known, &gone);
	for (size_t i = 0; !rc && i < box->len; i++) {
		rc = mr_work_index_places_at(p->cx, p->work, box->name, box->validity,
			box->seen[i].uid, &rows[i]);
		/* A new one, or one that is back. */
		fresh += !rows[i].len || rows[i].items[0].is_missing;
	}
	if (rc || other || here - gone + fresh != box->exists)
		return rc;
	*out_fits = true;
	box->known_len = here;
	make_room(p);
	for (size_t i = 0; i < box->len; i++) {
		if (!rows[i].len)
			want(box, box->seen[i].uid);
		for (size_t k = 0; k < rows[i].len; k++)
			see(p, &rows[i].items[k], &box->seen[i]);
	}
	for (size_t i = 0; i < known.len; i++)
		if (!known.is_there[i])
			miss(p, &known.items[i]);
	return MR_OK;
}

static enum mr_code count_known(struct mr_work_pulling *p)
{
	int64_t here = 0, other = 0;
	enum mr_code rc = mr_work_index_place_counts(p->cx, p->work, p->box->name, p->box->validity,
		&here, &other);

	p->box->known_len = here + other;
	return rc;
}

/* Is the state about this very mailbox, and does the server still count changes? */
static bool is_about(const struct mr_work_box *box, const struct mr_work_box_state *state)
{
	return state && state->highest_modseq > 0 &&
		box->modseq >= (uint64_t)state->highest_modseq &&
		state->uid_validity == box->validity;
}

enum mr_code mr_work_pull_look(struct mr_work_pulling *p)
{
	struct mr_work_box *box = p->box;
	const struct mr_work_box_state *state = mr_work_pull_state_of(&p->state, box->name);
	bool fits = false;
	enum mr_code rc;

	if (state && !state->highest_modseq)
		state = NULL;
	rc = examine(p, state);
	if (!rc && is_about(box, state)) {
		if (!has_qresync(p) && box->modseq != (uint64_t)state->highest_modseq)
			rc = fetch_flags(p, state);
		if (!rc)
			rc = mr_work_pull_lock(p);
		if (!rc)
			rc = compare_changes(p, &fits);
		if (!rc && fits)
			return MR_OK;
	}
	mr_work_rest(p->work);
	if (rc)
		return rc;
	box->len = box->vanished_len = 0;
	box->is_whole = true;
	rc = fetch_flags(p, NULL);
	if (!rc)
		rc = mr_work_pull_lock(p);
	if (!rc)
		rc = count_known(p);
	return rc ? rc : compare_whole(p);
}
