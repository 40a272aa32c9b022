/* workspace/index_follow.c - notices sidecars and contacts' cards that were edited where they
 * stand, by their stamps alone. */
#include "text/time.h"
#include "workspace/contact.h"
#include "workspace/error.h"
#include "workspace/index.h"
#include "workspace/index_private.h"
#include "workspace/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	STAMP_BYTES = 96,
	/* Sidecars that one command asks for their stamps: their number must not decide what a
	 * command costs. Of more than these, another part has its turn each second. */
	SIDECARS_AT_ONCE = 500,
};

/* A number and what follows it. Thousands of stamps a command are too many for printf. */
static char *put_number(char *out, uint64_t number, char after)
{
	char digits[24];
	size_t len = 0;

	do
		digits[len++] = (char)('0' + number % 10);
	while (number /= 10);
	while (len)
		*out++ = digits[--len];
	*out++ = after;
	return out;
}

/* False when nothing is there. */
static bool read_stamp(int dir, const char *path, char stamp[STAMP_BYTES])
{
	char *out = stamp;
	struct stat st;

	if (fstatat(dir, path, &st, 0) != 0)
		return false;
	out = put_number(out, (uint64_t)st.st_mtim.tv_sec, '.');
	out = put_number(out, (uint64_t)st.st_mtim.tv_nsec, ':');
	out = put_number(out, S_ISDIR(st.st_mode) ? 0 : (uint64_t)st.st_size, ':');
	put_number(out, (uint64_t)st.st_ino, '\0');
	return true;
}

const char *mr_work_stamp_at(struct mr_arena *arena, int dir, const char *path)
{
	char stamp[STAMP_BYTES];

	return read_stamp(dir, path, stamp) ? mr_arena_strdup(arena, stamp) : "";
}

/* --- sidecars --- */

/* Editing a file does not change its directory: each sidecar is asked for its own stamp. */
enum mr_code mr_work_follow_sidecars(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_sync *sync)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_ctx own = *cx;
	struct mr_work_stamps known = { 0 };
	enum mr_code rc;

	own.arena = arena;
	rc = mr_work_index_sidecars(&own, work->index, SIDECARS_AT_ONCE,
		(uint64_t)(work->now_us / MR_TIME_S), &known);
	if (rc)
		cx->err = own.err;
	if (rc || !known.len)
		return rc;
	if (mr_fs_open_dir(work->dir, MR_WORK_EVIDENCE, &dir, &own.err))
		return MR_OK; /* it went away: that changes the directory above, and is seen there
			       */
	for (size_t i = 0; !rc && i < known.len; i++) {
		const char *id = known.items[i].path;
		char name[512], stamp[STAMP_BYTES];

		if (snprintf(name, sizeof(name), "%s.remote.json", id) >= (int)sizeof(name))
			continue;
		if (read_stamp(dir, name, stamp) && mr_str_eq(stamp, known.items[i].stamp))
			continue;
		rc = mr_work_sync_write(cx, work, sync);
		if (!rc)
			rc = mr_work_index_reread(cx, work, id);
		if (!rc)
			rc = mr_work_index_mark_message(cx, work->index, id);
	}
	return rc;
}

/* --- cards --- */

static const char *emails_of(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_place *place)
{
	struct mr_work_card card;
	struct mr_err kept = cx->err;

	if (mr_work_contact_load(cx, work, place, &card)) {
		cx->err = kept; /* a card that cannot be read stands for nobody */
		return "";
	}
	return mr_str_join(cx->arena, &card.emails, "\n");
}

static enum mr_code mark_senders(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_sync *sync, const char *emails)
{
	struct mr_texts list = mr_str_split(cx->arena, emails, '\n');
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && !sync->is_building && i < list.len; i++)
		if (*list.items[i])
			rc = mr_work_index_mark_sender(cx, work->index, list.items[i]);
	return rc;
}

static int by_path(const void *a, const void *b)
{
	const struct mr_work_seen_card *left = a, *right = b;

	return strcmp(left->path, right->path);
}

static const struct mr_work_seen_card *find(const struct mr_work_seen_cards *seen, const char *path)
{
	struct mr_work_seen_card wanted = { .path = path };

	return seen->len ? bsearch(&wanted, seen->items, seen->len, sizeof(wanted), by_path) : NULL;
}

/* A new card, or another content of a known one. */
static enum mr_code follow_card(struct mr_ctx *cx, struct mr_work *work, struct mr_work_sync *sync,
	const struct mr_work_contact_place *place, const struct mr_work_seen_card *before,
	const char *stamp)
{
	struct mr_work_seen_card card = { place->path, stamp, emails_of(cx, work, place) };
	enum mr_code rc = mr_work_sync_write(cx, work, sync);

	if (!rc)
		rc = mr_work_index_put_card(cx, work->index, &card);
	if (!rc)
		rc = mark_senders(cx, work, sync, card.emails);
	if (!rc && before)
		rc = mark_senders(cx, work, sync, before->emails);
	return rc;
}

enum mr_code mr_work_follow_cards(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_sync *sync)
{
	struct mr_work_contact_places places = { 0 };
	struct mr_work_seen_cards seen = { 0 };
	enum mr_code rc = mr_work_index_cards(cx, work->index, &seen);

	if (!rc)
		rc = mr_work_contact_places(cx, work, &places);
	for (size_t i = 0; !rc && i < places.len; i++) {
		const char *stamp = mr_work_stamp_at(cx->arena, work->dir, places.items[i].path);
		const struct mr_work_seen_card *before = find(&seen, places.items[i].path);

		if (!before || !mr_str_eq(before->stamp, stamp))
			rc = follow_card(cx, work, sync, &places.items[i], before, stamp);
	}
	for (size_t i = 0; !rc && i < seen.len; i++) {
		if (mr_fs_exists(work->dir, seen.items[i].path))
			continue;
		rc = mr_work_sync_write(cx, work, sync);
		if (!rc)
			rc = mr_work_index_drop_card(cx, work->index, seen.items[i].path);
		if (!rc)
			rc = mark_senders(cx, work, sync, seen.items[i].emails);
	}
	return rc;
}
