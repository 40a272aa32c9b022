/* workspace/place.c - finds cases and categories by their directories, and gives out uids. */
#include "workspace/collection.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/merged.h"

#include <string.h>

static void add_place(struct mr_ctx *cx, struct mr_work_places *out,
	const struct mr_work_place *place, size_t *cap)
{
	if (out->len == *cap) {
		struct mr_work_place *items;

		*cap = *cap ? *cap * 2 : 32;
		items = mr_arena_array(cx->arena, *cap, sizeof(*items));
		if (out->len)
			memcpy(items, out->items, out->len * sizeof(*items));
		out->items = items;
	}
	out->items[out->len++] = *place;
}

/* The directories right below `dir` whose names have a uid of this kind. */
static enum mr_code scan(struct mr_ctx *cx, struct mr_work *work, const char *dir,
	const char *group, enum mr_work_collection_kind kind, struct mr_work_places *out,
	size_t *cap)
{
	enum mr_work_kind names = kind == MR_WORK_NOTIFICATION ? MR_WORK_CATEGORY : MR_WORK_CASE;
	struct mr_texts found = { 0 };
	enum mr_code rc = mr_work_list(cx, work, dir, &found);

	for (size_t i = 0; !rc && i < found.len; i++) {
		struct mr_work_place place = { .kind = kind,
			.dir = found.items[i],
			.group = group };

		if (!mr_work_split_name(cx->arena, names, found.items[i], &place.uid, NULL))
			continue;
		place.path = mr_work_join(cx->arena, dir, found.items[i]);
		if (mr_work_is_dir(work, place.path))
			add_place(cx, out, &place, cap);
	}
	return rc;
}

static enum mr_code scan_groups(struct mr_ctx *cx, struct mr_work *work, struct mr_work_places *out,
	size_t *cap)
{
	struct mr_texts groups = { 0 };
	enum mr_code rc = mr_work_list(cx, work, MR_WORK_CASES, &groups);

	for (size_t i = 0; !rc && i < groups.len; i++) {
		const char *dir = mr_work_join(cx->arena, MR_WORK_CASES, groups.items[i]);

		if (mr_work_is_dir(work, dir))
			rc = scan(cx, work, dir, groups.items[i], MR_WORK_ACTIVE_CASE, out, cap);
	}
	return rc;
}

enum mr_code mr_work_places(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_collection_kind kind, struct mr_work_places *out)
{
	struct mr_work_places found = { 0 };
	size_t cap = 0;
	enum mr_code rc;

	if (kind == MR_WORK_ACTIVE_CASE)
		rc = scan_groups(cx, work, &found, &cap);
	else
		rc = scan(cx, work,
			kind == MR_WORK_NOTIFICATION ? MR_WORK_CATEGORIES : MR_WORK_ARCHIVED_CASES,
			NULL, kind, &found, &cap);
	if (!rc)
		*out = found;
	return rc;
}

/* The places of a kind of object: cases are in two. */
static enum mr_code all_places(struct mr_ctx *cx, struct mr_work *work, enum mr_work_kind kind,
	struct mr_work_places *first, struct mr_work_places *second)
{
	enum mr_code rc;

	*second = (struct mr_work_places){ 0 };
	if (kind == MR_WORK_CATEGORY)
		return mr_work_places(cx, work, MR_WORK_NOTIFICATION, first);
	rc = mr_work_places(cx, work, MR_WORK_ACTIVE_CASE, first);
	if (!rc)
		rc = mr_work_places(cx, work, MR_WORK_ARCHIVED_CASE, second);
	return rc;
}

static enum mr_code choose(struct mr_ctx *cx, const struct mr_work_places *places,
	enum mr_work_kind kind, const char *uid, const struct mr_work_place **found)
{
	for (size_t i = 0; i < places->len; i++) {
		if (!mr_str_eq(places->items[i].uid, uid))
			continue;
		if (*found)
			return mr_work_refuse(cx,
				kind == MR_WORK_CASE ? MR_WORK_DUPLICATE_CASE_UID
						     : MR_WORK_DUPLICATE_ARCHIVE_UID,
				"two directories have the uid %s: %s and %s", uid, (*found)->path,
				places->items[i].path);
		*found = &places->items[i];
	}
	return MR_OK;
}

static enum mr_code refuse_unknown(struct mr_ctx *cx, struct mr_work *work, enum mr_work_kind kind,
	const char *uid)
{
	const char *into = kind == MR_WORK_CASE ? mr_work_merged_into(cx, work, uid) : NULL;

	if (kind != MR_WORK_CASE)
		return mr_work_refuse(cx, MR_WORK_ARCHIVE_NOT_FOUND,
			"there is no archive category %s", uid);
	if (!into)
		return mr_work_refuse(cx, MR_WORK_CASE_NOT_FOUND, "there is no case %s", uid);
	mr_work_refuse(cx, MR_WORK_CASE_NOT_FOUND, "case %s was merged into %s", uid, into);
	mr_work_hint(cx, "Use the case it was merged into: `afmail case show %s`.", into);
	return mr_work_detail_text(cx, "case_merged_into", into);
}

enum mr_code mr_work_place_find(struct mr_ctx *cx, struct mr_work *work, enum mr_work_kind kind,
	const char *ref, struct mr_work_place *out)
{
	const struct mr_work_place *found = NULL;
	struct mr_work_places first = { 0 }, second = { 0 };
	const char *uid = NULL;
	enum mr_code rc = mr_work_ref_uid(cx, kind, ref, &uid);

	if (!rc)
		rc = all_places(cx, work, kind, &first, &second);
	if (!rc)
		rc = choose(cx, &first, kind, uid, &found);
	if (!rc)
		rc = choose(cx, &second, kind, uid, &found);
	if (rc)
		return rc;
	if (!found)
		return refuse_unknown(cx, work, kind, uid);
	*out = *found;
	return MR_OK;
}

static enum mr_code refuse_archived(struct mr_ctx *cx, const char *uid)
{
	const char *commands[] = { mr_arena_printf(cx->arena, "afmail archive case show %s", uid),
		mr_arena_printf(cx->arena,
			"afmail archive case restore %s --group GROUP --reason TEXT", uid),
		NULL };
	struct mr_texts suggested = { commands, 2 };

	mr_work_refuse(cx, MR_WORK_CASE_ARCHIVED, "case %s is archived", uid);
	mr_work_detail_text(cx, "case_uid", uid);
	return mr_work_detail_texts(cx, "suggested_commands", &suggested);
}

enum mr_code mr_work_active_case(struct mr_ctx *cx, struct mr_work *work, const char *ref,
	struct mr_work_place *out)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc = mr_work_place_find(cx, work, MR_WORK_CASE, ref, &place);

	if (!rc && place.kind == MR_WORK_ARCHIVED_CASE)
		return refuse_archived(cx, place.uid);
	if (!rc)
		*out = place;
	return rc;
}

static int64_t highest(const struct mr_work_places *places, const char *date)
{
	int64_t best = 0;

	for (size_t i = 0; i < places->len; i++) {
		int64_t number = mr_work_uid_number(places->items[i].uid, date);

		if (number > best)
			best = number;
	}
	return best;
}

enum mr_code mr_work_next_uid(struct mr_ctx *cx, struct mr_work *work, enum mr_work_kind kind,
	const char *date, const char **out)
{
	struct mr_work_places first = { 0 }, second = { 0 };
	enum mr_code rc = all_places(cx, work, kind, &first, &second);
	int64_t a, b;

	if (rc)
		return rc;
	a = highest(&first, date);
	b = highest(&second, date);
	*out = mr_work_uid(cx->arena, kind, date, (a > b ? a : b) + 1);
	return MR_OK;
}
