/* workspace/pull_limit.c - leaves on the server what is too old, too many or too much. */
#include "workspace/pull_private.h"

#include "base/buf.h"
#include "text/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SET_BYTES = 4096, DAY_S = 24 * 60 * 60 };

struct sizing {
	struct mr_work_box *box;
	int64_t *sizes; /* of each wanted one; -1: the server did not tell */
};

/* Where the first wanted one stands that has this uid or a greater one. */
static size_t place_from(const struct mr_work_box *box, uint64_t uid)
{
	size_t from = 0, to = box->wanted_len;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (box->wanted[middle] < uid)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static size_t place_of(const struct mr_work_box *box, uint64_t uid)
{
	size_t at = place_from(box, uid);

	return at < box->wanted_len && box->wanted[at] == uid ? at : SIZE_MAX;
}

/* --- by age --- */

/* Those that were found are marked as taken, until the others are dropped. */
static void mark(struct mr_work_box *box, const struct mr_imap_node *node)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_imap_set set = { 0 };
	struct mr_err ignored;

	if (node->kind != MR_IMAP_ATOM || mr_imap_set_parse(arena, node->bytes, &set, &ignored))
		return;
	for (size_t i = 0; i < set.len; i++)
		for (size_t at = place_from(box, set.ranges[i].first);
			at < box->wanted_len && box->wanted[at] <= set.ranges[i].last; at++)
			box->taken[at] = true;
}

/* "SEARCH 1 2 3", or "ESEARCH (TAG "m1") UID ALL 1:3". */
static enum mr_code note_young(void *arg, const struct mr_imap_response *response,
	struct mr_err *err)
{
	bool is_short = mr_str_eq(response->name, "ESEARCH");
	(void)err;

	if (!is_short && !mr_str_eq(response->name, "SEARCH"))
		return MR_OK;
	for (size_t i = 0; i < response->data.len; i++)
		if (!is_short || (i && mr_imap_is(&response->data.items[i - 1], "ALL")))
			mark(arg, &response->data.items[i]);
	return MR_OK;
}

static enum mr_code drop_old(struct mr_work_pulling *p)
{
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul",
		"Aug", "Sep", "Oct", "Nov", "Dec" };
	struct mr_work_box *box = p->box;
	time_t since = (time_t)(p->work->now_us / MR_TIME_S - p->limits->since_days * DAY_S);
	size_t kept = 0;
	char command[128];
	struct tm day;
	enum mr_code rc;

	gmtime_r(&since, &day);
	/* Without RETURN every number is written out, on one line. */
	snprintf(command, sizeof(command), "UID SEARCH %sSINCE %d-%s-%d",
		mr_imap_can(*p->session, "ESEARCH") ? "RETURN (ALL) " : "", day.tm_mday,
		months[day.tm_mon], day.tm_year + 1900);
	mr_imap_begin(*p->session, command);
	rc = mr_work_server_do(p->cx, *p->session, note_young, box, NULL,
		MR_WORK_IMAP_SEARCH_FAILED);
	for (size_t i = 0; !rc && i < box->wanted_len; i++) {
		if (box->taken[i])
			box->wanted[kept++] = box->wanted[i];
		box->taken[i] = false;
	}
	if (rc)
		return rc;
	box->left += box->wanted_len - kept;
	box->wanted_len = kept;
	return MR_OK;
}

/* --- by size --- */

static enum mr_code note_size(void *arg, const struct mr_imap_response *response,
	struct mr_err *err)
{
	struct sizing *s = arg;
	const struct mr_imap_node *list = response->data.len ? &response->data.items[0] : NULL;
	uint64_t uid, size;
	size_t at;
	(void)err;

	if (!mr_str_eq(response->name, "FETCH") ||
		!mr_imap_number(mr_imap_member(list, "UID"), &uid) ||
		!mr_imap_number(mr_imap_member(list, "RFC822.SIZE"), &size) || size > INT64_MAX)
		return MR_OK;
	at = place_of(s->box, uid);
	if (at != SIZE_MAX)
		s->sizes[at] = (int64_t)size;
	return MR_OK;
}

static enum mr_code ask_sizes(struct mr_work_pulling *p, struct sizing *s)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < p->box->wanted_len; i++)
		s->sizes[i] = -1;
	for (size_t at = 0; !rc && at < p->box->wanted_len;) {
		struct mr_buf set MR_CLEANUP(mr_buf_release) = { 0 };

		mr_buf_init(&set, 2 * SET_BYTES);
		mr_imap_put_set(&set, p->box->wanted, p->box->wanted_len, &at, SET_BYTES);
		mr_imap_begin(*p->session, "UID FETCH ");
		mr_imap_put(*p->session, mr_buf_text(&set));
		mr_imap_put(*p->session, " (UID RFC822.SIZE)");
		rc = mr_work_server_do(p->cx, *p->session, note_size, s, NULL,
			MR_WORK_IMAP_FETCH_FAILED);
	}
	return rc;
}

/* The first ones that fit together; the next pull goes on behind them. One that no pull within this
 * limit could take in stands in nobody's way. */
static enum mr_code fit_bytes(struct mr_work_pulling *p)
{
	struct mr_work_box *box = p->box;
	struct sizing s = { box,
		mr_arena_array(p->cx->arena, box->wanted_len + 1, sizeof(*s.sizes)) };
	enum mr_code rc = ask_sizes(p, &s);
	size_t kept = 0;

	if (rc)
		return rc;
	for (size_t i = 0; i < box->wanted_len; i++) {
		if (s.sizes[i] > p->limits->max_total_bytes)
			continue;
		if (s.sizes[i] > p->bytes_left)
			p->bytes_left = 0; /* smaller ones do not overtake it */
		if (!p->bytes_left)
			break;
		p->bytes_left -= s.sizes[i] > 0 ? s.sizes[i] : 0;
		box->wanted[kept++] = box->wanted[i];
	}
	box->left += box->wanted_len - kept;
	box->wanted_len = kept;
	return MR_OK;
}

enum mr_code mr_work_pull_limit(struct mr_work_pulling *p)
{
	struct mr_work_box *box = p->box;
	int64_t room = p->limits->max_new_messages - p->out->new_message_count -
		p->out->updated_location_count;
	enum mr_code rc = MR_OK;

	if (box->wanted_len && p->limits->since_days)
		rc = drop_old(p);
	if (!rc && p->limits->max_new_messages && (int64_t)box->wanted_len > room) {
		box->left += box->wanted_len - (size_t)room;
		box->wanted_len = (size_t)room;
	}
	if (!rc && box->wanted_len && p->limits->max_total_bytes)
		rc = fit_bytes(p);
	return rc;
}
