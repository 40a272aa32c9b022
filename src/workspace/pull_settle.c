/* workspace/pull_settle.c - the change at the end of a pull. */
#include "workspace/pull_settle.h"

#include "base/crash.h"
#include "workspace/disposition.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/reference.h"
#include "workspace/refresh.h"

#include <stdlib.h>
#include <string.h>

enum lesson_kind { IS_THERE, IS_NEW, IS_GONE };

struct mr_work_lesson {
	const char *message_id;
	size_t number; /* in the order they were learnt */
	enum lesson_kind kind;
	struct mr_work_location location;
};

void mr_work_settle_begin(struct mr_ctx *cx, struct mr_work *work, struct mr_work_settling *out)
{
	*out = (struct mr_work_settling){ .cx = cx, .work = work };
}

/* --- collecting --- */

static void learn(struct mr_work_settling *s, const char *message_id, enum lesson_kind kind,
	const struct mr_work_location *location)
{
	struct mr_arena *arena = s->cx->arena;
	struct mr_work_lesson *lesson;

	if (s->len == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		struct mr_work_lesson *lessons = mr_arena_array(arena, room, sizeof(*lessons));

		if (s->len)
			memcpy(lessons, s->lessons, s->len * sizeof(*lessons));
		s->lessons = lessons;
		s->room = room;
	}
	lesson = &s->lessons[s->len++];
	*lesson = (struct mr_work_lesson){ mr_arena_strdup(arena, message_id), s->len, kind,
		*location };
	lesson->location.mailbox_name = mr_arena_strdup(arena, location->mailbox_name);
	lesson->location.mailbox_id = mr_arena_strdup(arena, location->mailbox_id);
	lesson->location.flags = mr_work_flags(arena, &location->flags);
	for (size_t i = 0; i < lesson->location.flags.len; i++)
		lesson->location.flags.items[i] =
			mr_arena_strdup(arena, lesson->location.flags.items[i]);
}

static struct mr_work_location place_of(const char *mailbox_name,
	const struct mr_work_place_row *known)
{
	return (struct mr_work_location){
		.mailbox_name = mailbox_name,
		.has_uid = true,
		.uid_validity = known->uid_validity,
		.uid = known->uid,
	};
}

bool mr_work_settle_flags(struct mr_work_settling *s, const char *mailbox_name,
	const struct mr_work_place_row *known, const char *flags)
{
	struct mr_work_location place = place_of(mailbox_name, known);
	bool differ = !mr_str_eq(known->flags, flags);

	if (!differ && !known->is_missing)
		return false;
	if (*flags)
		place.flags = mr_str_split(s->cx->arena, flags, ' ');
	learn(s, known->message_id, IS_THERE, &place);
	return differ;
}

void mr_work_settle_location(struct mr_work_settling *s, const char *message_id,
	const struct mr_work_location *location)
{
	learn(s, message_id, IS_NEW, location);
}

void mr_work_settle_missing(struct mr_work_settling *s, const char *mailbox_name,
	const struct mr_work_place_row *known)
{
	struct mr_work_location place = place_of(mailbox_name, known);

	learn(s, known->message_id, IS_GONE, &place);
}

static void put_text(struct mr_arena *arena, struct mr_texts *list, size_t *room, const char *text)
{
	if (list->len == *room) {
		const char **items;

		*room = *room ? *room * 2 : 64;
		items = mr_arena_array(arena, *room + 1, sizeof(*items));
		if (list->len)
			memcpy(items, list->items, list->len * sizeof(*items));
		list->items = items;
	}
	list->items[list->len++] = text;
}

void mr_work_settle_discard(struct mr_work_settling *s, enum mr_work_collection_kind kind,
	const char *message_id)
{
	if (kind == MR_WORK_SPAM)
		put_text(s->cx->arena, &s->spam, &s->spam_room, message_id);
	else
		put_text(s->cx->arena, &s->trash, &s->trash_room, message_id);
}

void mr_work_settle_failed(struct mr_work_settling *s, struct mr_work_pulled *counts,
	const char *what)
{
	put_text(s->cx->arena, &counts->failed_messages, &s->failed_room, what);
	counts->failed_message_count++;
}

/* --- new messages that are spam or trash --- */

static enum mr_code add_all(struct mr_ctx *cx, struct mr_work_change *change,
	enum mr_work_collection_kind kind, const struct mr_texts *ids)
{
	struct mr_work_collection list = { 0 };
	enum mr_code rc;

	if (!ids->len)
		return MR_OK;
	rc = mr_work_collection_load(cx, change->work, kind, mr_work_disposition_dir(kind), &list);
	if (rc)
		return rc;
	for (size_t i = 0; i < ids->len; i++) {
		mr_work_collection_add(cx, &list, ids->items[i], NULL, change->work->now);
		mr_work_touch_message(change, ids->items[i]);
	}
	return mr_work_collection_save(cx, change, &list);
}

enum mr_code mr_work_settle_discarded(struct mr_work_settling *s, struct mr_work_change *change)
{
	enum mr_code rc;

	mr_work_change_begin(s->cx, s->work, "pull", change);
	rc = add_all(s->cx, change, MR_WORK_SPAM, &s->spam);
	if (!rc)
		rc = add_all(s->cx, change, MR_WORK_TRASH, &s->trash);
	s->spam.len = s->trash.len = 0;
	return rc ? rc : mr_work_change_commit(s->cx, change);
}

/* --- messages that were there before --- */

static int by_message(const void *a, const void *b)
{
	const struct mr_work_lesson *x = a, *y = b;
	int order = strcmp(x->message_id, y->message_id);

	return order ? order : (x->number > y->number) - (x->number < y->number);
}

static struct mr_work_location *find_place(const struct mr_work_locations *locations,
	const struct mr_work_location *place)
{
	for (size_t i = 0; i < locations->len; i++) {
		struct mr_work_location *at = &locations->items[i];

		if (at->has_uid && at->uid == place->uid &&
			at->uid_validity == place->uid_validity &&
			mr_str_eq(at->mailbox_name, place->mailbox_name))
			return at;
	}
	return NULL;
}

static void apply(struct mr_work_settling *s, struct mr_work_locations *locations,
	const struct mr_work_lesson *lesson)
{
	struct mr_work_location *at = find_place(locations, &lesson->location);

	if (lesson->kind == IS_GONE) {
		if (at)
			at->missing = s->work->now;
		return;
	}
	if (!at) {
		at = &locations->items[locations->len++];
		*at = lesson->location;
		at->observed = s->work->now;
	}
	at->flags = lesson->location.flags;
	at->missing = NULL;
}

static bool has_live(const struct mr_work_locations *locations)
{
	for (size_t i = 0; i < locations->len; i++)
		if (!locations->items[i].missing)
			return true;
	return false;
}

struct fate {
	struct mr_texts kept, tombstoned, deleted, back;
};

/* What becomes of a message that has places no longer, or again. */
static enum mr_code decide(struct mr_work_settling *s, const char *id, bool was_lost, bool is_live,
	struct fate *fate, struct mr_work_pulled *counts)
{
	struct mr_texts references = { 0 };
	struct mr_work_brief brief;
	enum mr_code rc;

	if (is_live && was_lost) {
		fate->kept.items[fate->kept.len++] = id;
		return MR_OK;
	}
	rc = mr_work_index_message(s->cx, s->work, id, &brief);
	if (rc == MR_ENOTFOUND) { /* a message whose files are gone: doctor tells of it */
		s->cx->err = (struct mr_err){ 0 };
		return MR_OK;
	}
	if (rc)
		return rc;
	if (is_live) {
		if (brief.status == MR_WORK_IS_DELETED)
			fate->back.items[fate->back.len++] = id;
		return MR_OK;
	}
	rc = mr_work_references(s->cx, s->work, id, NULL, &references);
	if (rc)
		return rc;
	if (references.len) {
		fate->tombstoned.items[fate->tombstoned.len++] = id;
		return MR_OK;
	}
	counts->stale_triage_removed_count += brief.status == MR_WORK_IS_TRIAGE;
	counts->stale_spam_removed_count += brief.status == MR_WORK_IS_SPAM;
	counts->stale_trash_removed_count += brief.status == MR_WORK_IS_TRASHED;
	fate->deleted.items[fate->deleted.len++] = id;
	return MR_OK;
}

/* The sidecar cannot be read: it stays as it is, and these lessons are learnt again by a later
 * pull, which compares the whole of their mailboxes. */
static void put_off(struct mr_work_settling *s, const struct mr_work_lesson *lessons, size_t len,
	struct mr_work_pulled *counts)
{
	for (size_t i = 0; i < len; i++)
		if (!mr_texts_has(&s->put_off, lessons[i].location.mailbox_name))
			put_text(s->cx->arena, &s->put_off, &s->put_off_room,
				lessons[i].location.mailbox_name);
	mr_work_settle_failed(s, counts,
		mr_arena_printf(s->cx->arena, "%s: %s", lessons->message_id, s->cx->err.msg));
	s->cx->err = (struct mr_err){ 0 };
}

/* All lessons about one message: `len` of them. */
static enum mr_code settle_one(struct mr_work_settling *s, struct mr_work_change *change,
	const struct mr_work_lesson *lessons, size_t len, struct fate *fate,
	struct mr_work_pulled *counts)
{
	struct mr_work_locations locations = { 0 };
	struct mr_work_locations more;
	bool was_lost = false;
	enum mr_code rc;

	/* Purged while the server was asked: there is nothing to be said of it any more. */
	if (!mr_fs_exists(s->work->dir, mr_work_path_eml(s->cx->arena, lessons->message_id)))
		return MR_OK;
	rc = mr_work_remote_load(s->cx, s->work, lessons->message_id, &locations);
	if (rc == MR_EFORMAT) {
		put_off(s, lessons, len, counts);
		return MR_OK;
	}
	if (rc)
		return rc;
	more = (struct mr_work_locations){ mr_arena_array(s->cx->arena, locations.len + len,
						   sizeof(*more.items)),
		locations.len };
	if (locations.len)
		memcpy(more.items, locations.items, locations.len * sizeof(*more.items));
	for (size_t i = 0; i < len; i++) {
		apply(s, &more, &lessons[i]);
		was_lost = was_lost || lessons[i].kind == IS_GONE;
	}
	mr_work_remote_save(change, lessons->message_id, &more);
	mr_work_touch_message(change, lessons->message_id);
	return decide(s, lessons->message_id, was_lost, has_live(&more), fate, counts);
}

static void tell(struct mr_work_change *change, const struct mr_work_pulled *counts)
{
	struct mr_work_event event;

	mr_work_event_begin(change, "pull_completed", (const struct mr_work_target[]){ { 0 } },
		NULL, &event);
	mr_out_texts(&event.out, "mailbox_ids", &counts->mailbox_ids);
	mr_out_int(&event.out, "new_message_count", counts->new_message_count);
	mr_out_int(&event.out, "updated_location_count", counts->updated_location_count);
	mr_out_int(&event.out, "flags_updated_count", counts->flags_updated_count);
	mr_out_int(&event.out, "missing_location_count", counts->missing_location_count);
	mr_out_int(&event.out, "deleted_remote_message_count",
		counts->deleted_remote_message_count);
	mr_work_event_end(&event);
}

static void report(const struct fate *fate, struct mr_work_pulled *counts)
{
	counts->kept_message_ids = fate->kept;
	counts->kept_message_count = (int64_t)fate->kept.len;
	counts->tombstoned_message_ids = fate->tombstoned;
	counts->tombstoned_message_count = (int64_t)fate->tombstoned.len;
	counts->deleted_remote_message_ids = fate->deleted;
	counts->deleted_remote_message_count = (int64_t)fate->deleted.len;
	counts->stale_deleted_removed_count = (int64_t)fate->back.len;
}

/* The sidecars that were written: the index need not look for them among all others. */
static enum mr_code index_again(struct mr_work_settling *s, const struct mr_texts *ids)
{
	enum mr_code rc = mr_work_index_open(s->cx, s->work);

	if (!rc)
		rc = mr_work_index_begin(s->cx, s->work);
	for (size_t i = 0; !rc && i < ids->len; i++)
		rc = mr_work_index_add(s->cx, s->work, ids->items[i]);
	if (!rc)
		rc = mr_work_index_added(s->cx, s->work);
	if (!rc)
		rc = mr_work_index_commit(s->cx, s->work);
	if (rc)
		mr_work_index_undo(s->work);
	return rc;
}

/* The pull began with an index that had followed all files: without lessons there is nothing new to
 * be followed, and seldom a view that is behind. */
static enum mr_code show(struct mr_work_settling *s, const struct mr_work_stale *stale)
{
	struct mr_work_behind behind = { 0 };
	enum mr_code rc = s->len ? MR_OK : mr_work_index_behind(s->cx, s->work, &behind);

	if (rc || (!s->len && !behind.messages.len && !behind.collections.len))
		return rc;
	return mr_work_refresh(s->cx, s->work, stale);
}

enum mr_code mr_work_settle(struct mr_work_settling *s, struct mr_work_pulled *counts)
{
	struct mr_arena *arena = s->cx->arena;
	struct fate fate = {
		.kept.items = mr_arena_array(arena, s->len + 1, sizeof(char *)),
		.tombstoned.items = mr_arena_array(arena, s->len + 1, sizeof(char *)),
		.deleted.items = mr_arena_array(arena, s->len + 1, sizeof(char *)),
		.back.items = mr_arena_array(arena, s->len + 1, sizeof(char *)),
	};
	struct mr_work_change change;
	enum mr_code rc = MR_OK;

	mr_work_change_begin(s->cx, s->work, "pull", &change);
	if (s->len)
		qsort(s->lessons, s->len, sizeof(*s->lessons), by_message);
	for (size_t i = 0; !rc && i < s->len;) {
		size_t end = i + 1;

		while (end < s->len &&
			mr_str_eq(s->lessons[end].message_id, s->lessons[i].message_id))
			end++;
		rc = settle_one(s, &change, &s->lessons[i], end - i, &fate, counts);
		i = end;
	}
	if (!rc && fate.deleted.len)
		rc = mr_work_undiscard(s->cx, &change, &fate.deleted);
	if (!rc && fate.back.len)
		rc = mr_work_undiscard(s->cx, &change, &fate.back);
	if (!rc)
		rc = add_all(s->cx, &change, MR_WORK_DELETED, &fate.deleted);
	if (rc)
		return rc;
	report(&fate, counts);
	tell(&change, counts);
	rc = mr_work_change_commit(s->cx, &change);
	mr_crash_point("work.pull.settled");
	if (!rc && change.stale.messages.len)
		rc = index_again(s, &change.stale.messages);
	if (!rc)
		rc = show(s, &change.stale);
	if (!rc)
		mr_work_change_end(s->cx, &change);
	return rc;
}
