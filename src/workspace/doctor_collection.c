/* workspace/doctor_collection.c - examines cases, categories and what was discarded. */
#include "workspace/doctor_private.h"
#include "workspace/draft_file.h"
#include "workspace/draft_private.h"
#include "workspace/error.h"
#include "workspace/generation.h"
#include "workspace/layout.h"

#include <stdlib.h>
#include <string.h>

/* A message and the one list it may be in: a disposition or a category. */
struct holder {
	const char *message_id, *path;
};
struct holders {
	struct holder *items;
	size_t len, cap;
};

static void hold(struct mr_arena *arena, struct holders *holders, const char *id, const char *path)
{
	if (holders->len == holders->cap) {
		struct holder *items;

		holders->cap = holders->cap ? holders->cap * 2 : 64;
		items = mr_arena_array(arena, holders->cap, sizeof(*items));
		if (holders->len)
			memcpy(items, holders->items, holders->len * sizeof(*items));
		holders->items = items;
	}
	holders->items[holders->len++] = (struct holder){ mr_arena_strdup(arena, id), path };
}

static bool is_case(enum mr_work_collection_kind kind)
{
	return kind == MR_WORK_ACTIVE_CASE || kind == MR_WORK_ARCHIVED_CASE;
}

/* --- one list --- */

static void tell_lost(struct mr_work_exam *exam, const struct mr_work_collection *list,
	const char *file, const char *id)
{
	static const char what[] =
		"Message %s is listed here and is not there. Restore it, or take "
		"it out of the list.";

	mr_work_exam_tell(exam,
		is_case(list->kind)                          ? "case_message_ref_broken"
			: list->kind == MR_WORK_NOTIFICATION ? "archive_message_ref_broken"
							     : "disposition_ref_broken",
		MR_WORK_BY_HAND, file, MR_WORK_REFS(list->uid, id), what, id);
	mr_work_text_set_add(exam->cx->arena, &exam->broken_lists, list->path);
}

static void examine_items(struct mr_work_exam *exam, const struct mr_work_collection *list,
	const char *file, struct holders *holders)
{
	const char *path = mr_arena_strdup(exam->cx->arena, list->path);

	for (size_t i = 0; i < list->len; i++) {
		const char *id = list->items[i].message_id;

		if (!mr_work_exam_knows(exam, id))
			tell_lost(exam, list, file, id);
		if (!is_case(list->kind))
			hold(exam->cx->arena, holders, id, path);
	}
}

/* The document of a list. One of generation 0.1 is told of as such. */
static void examine_list(struct mr_work_exam *exam, const struct mr_work_place *place,
	struct holders *holders)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *file = mr_work_collection_file(exam->cx->arena, place->kind, place->path);
	struct mr_work_collection list = { 0 };
	struct mr_ctx own = *exam->cx;
	struct mr_texts old = { 0 };

	own.arena = arena;
	if (!mr_work_collection_load(&own, exam->work, place->kind, place->path, &list)) {
		examine_items(exam, &list, file, holders);
	} else if (!place->uid || !mr_work_generation_list(&own, exam->work, place, &list)) {
		mr_work_text_set_add(exam->cx->arena, &exam->broken_lists, place->path);
		mr_work_exam_tell(exam, own.err.word ? own.err.word : "store_error",
			MR_WORK_BY_HAND, file, place->uid ? MR_WORK_REFS(place->uid) : NULL,
			"%s. Correct the file or restore it from a backup; its messages count as "
			"listed nowhere until then.",
			own.err.msg);
	} else {
		mr_work_text_set_add(exam->cx->arena, &exam->broken_lists, place->path);
		mr_work_exam_tell(exam, "legacy_state_present", MR_WORK_REPAIRABLE, file,
			MR_WORK_REFS(place->uid),
			"The document has the form of generation 0.1. Repairing brings it up to "
			"date.");
		return;
	}
	if (!place->uid || mr_work_generation_files(&own, exam->work, place, &old))
		return;
	for (size_t i = 0; i < old.len; i++)
		mr_work_exam_tell(exam, "legacy_state_present", MR_WORK_REPAIRABLE, old.items[i],
			MR_WORK_REFS(place->uid),
			"The file is of generation 0.1 and is not read any more. Repairing takes "
			"over what it says and deletes it.");
}

/* --- cases --- */

const char *mr_work_exam_right_name(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place)
{
	struct mr_work_collection list = { 0 };
	struct mr_err kept = cx->err;
	const char *right;

	if (mr_work_collection_load(cx, work, place->kind, place->path, &list)) {
		cx->err = kept;
		return NULL;
	}
	right = mr_work_dir_name(cx->arena, list.uid, list.name);
	if (mr_str_eq(right, place->dir))
		return NULL;
	return mr_arena_printf(cx->arena, "%.*s%s", (int)(strlen(place->path) - strlen(place->dir)),
		place->path, right);
}

static void examine_name(struct mr_work_exam *exam, const struct mr_work_place *place)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx own = *exam->cx;
	const char *right;
	bool is_free;

	own.arena = arena;
	right = mr_work_exam_right_name(&own, exam->work, place);
	if (!right)
		return;
	is_free = !mr_fs_exists(exam->work->dir, right);
	mr_work_exam_tell(exam, "case_dir_name_drift",
		is_free ? MR_WORK_REPAIRABLE : MR_WORK_BY_HAND, place->path,
		MR_WORK_REFS(place->uid),
		"The directory does not have the name of its case. Repairing renames it to %s%s",
		right, is_free ? "." : ", once nothing else stands there.");
}

static void examine_drafts(struct mr_work_exam *exam, const struct mr_work_place *place)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *dir = mr_work_join(exam->cx->arena, place->path, "drafts");
	struct mr_work_draft_states states = { 0 };
	struct mr_texts names = { 0 };
	struct mr_ctx own = *exam->cx;

	own.arena = arena;
	if (mr_work_draft_states_load(&own, exam->work, place->path, &states))
		mr_work_exam_tell(exam, "draft_state_invalid", MR_WORK_BY_HAND,
			mr_work_join(arena, place->path, "data/drafts.json"),
			MR_WORK_REFS(place->uid),
			"%s. Delete the file: the drafts are then validated again.", own.err.msg);
	if (mr_work_list(&own, exam->work, dir, &names))
		return;
	for (size_t i = 0; i < names.len; i++) {
		const char *path = mr_work_join(arena, dir, names.items[i]);
		struct mr_work_draft_file draft = { 0 };
		struct mr_bytes file = { 0 };

		if (!mr_work_stem(arena, names.items[i], ".md"))
			continue;
		own.err = (struct mr_err){ 0 };
		if (mr_work_read(&own, exam->work, path, &file) ||
			mr_work_draft_read(&own, file, &draft))
			mr_work_exam_tell(exam, "draft_invalid", MR_WORK_BY_HAND, path,
				MR_WORK_REFS(place->uid), "%s. Correct the draft or remove it.",
				own.err.msg);
	}
}

/* --- all of them --- */

static int by_uid(const void *a, const void *b)
{
	const struct mr_work_place *left = a, *right = b;
	int order = strcmp(left->uid, right->uid);

	return order ? order : strcmp(left->path, right->path);
}

static void tell_twins(struct mr_work_exam *exam, const struct mr_work_places *places,
	const char *code, const char *noun)
{
	if (places->len)
		qsort(places->items, places->len, sizeof(*places->items), by_uid);
	for (size_t i = 1; i < places->len; i++)
		if (mr_str_eq(places->items[i - 1].uid, places->items[i].uid))
			mr_work_exam_tell(exam, code, MR_WORK_BY_HAND, places->items[i].path,
				MR_WORK_REFS(places->items[i].uid),
				"The %s %s has the same uid. Give one of the two another one, in "
				"the name of its directory and in its document.",
				noun, places->items[i - 1].path);
}

static enum mr_code examine_cases(struct mr_work_exam *exam, struct holders *holders)
{
	struct mr_work_places active = { 0 }, archived = { 0 }, all = { 0 };
	enum mr_code rc = mr_work_places(exam->cx, exam->work, MR_WORK_ACTIVE_CASE, &active);

	if (!rc)
		rc = mr_work_places(exam->cx, exam->work, MR_WORK_ARCHIVED_CASE, &archived);
	if (rc)
		return rc;
	all.items =
		mr_arena_array(exam->cx->arena, active.len + archived.len + 1, sizeof(*all.items));
	for (size_t i = 0; i < active.len; i++)
		all.items[all.len++] = active.items[i];
	for (size_t i = 0; i < archived.len; i++)
		all.items[all.len++] = archived.items[i];
	for (size_t i = 0; i < all.len; i++) {
		examine_list(exam, &all.items[i], holders);
		examine_name(exam, &all.items[i]);
		examine_drafts(exam, &all.items[i]);
	}
	tell_twins(exam, &all, "duplicate_case_uid", "case");
	exam->out->checks.cases = true;
	return MR_OK;
}

static enum mr_code examine_categories(struct mr_work_exam *exam, struct holders *holders)
{
	struct mr_work_places places = { 0 };
	enum mr_code rc = mr_work_places(exam->cx, exam->work, MR_WORK_NOTIFICATION, &places);

	for (size_t i = 0; !rc && i < places.len; i++)
		examine_list(exam, &places.items[i], holders);
	if (!rc)
		tell_twins(exam, &places, "duplicate_archive_uid", "category");
	exam->out->checks.archives = !rc;
	return rc;
}

static int by_message(const void *a, const void *b)
{
	const struct holder *left = a, *right = b;
	int order = strcmp(left->message_id, right->message_id);

	return order ? order : strcmp(left->path, right->path);
}

static void examine_holders(struct mr_work_exam *exam, const struct holders *holders)
{
	if (holders->len)
		qsort(holders->items, holders->len, sizeof(*holders->items), by_message);
	for (size_t i = 1; i < holders->len; i++) {
		const struct holder *one = &holders->items[i - 1], *other = &holders->items[i];

		if (mr_str_eq(one->message_id, other->message_id))
			mr_work_exam_tell(exam, "message_multiple_dispositions", MR_WORK_BY_HAND,
				other->path, MR_WORK_REFS(other->message_id),
				"Message %s is listed in %s too. Take it out of one of the two "
				"lists.",
				other->message_id, one->path);
	}
}

static void examine_old_templates(struct mr_work_exam *exam)
{
	if (mr_work_is_dir(exam->work, MR_WORK_OLD_TEMPLATES))
		mr_work_exam_tell(exam, "legacy_template_dir", MR_WORK_BY_HAND,
			MR_WORK_OLD_TEMPLATES, NULL,
			"Templates in this directory are not used any more. Move what you need to "
			"templates/<language>/ and delete it.");
}

static enum mr_code examine_staged_mail(struct mr_work_exam *exam)
{
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_list(exam->cx, exam->work, MR_WORK_PUSH, &names);

	for (size_t i = 0; !rc && i < names.len; i++)
		if (mr_work_stem(exam->cx->arena, names.items[i], ".eml"))
			mr_work_exam_tell(exam, "legacy_state_present", MR_WORK_REPAIRABLE,
				mr_work_join(exam->cx->arena, MR_WORK_PUSH, names.items[i]), NULL,
				"Mail that generation 0.1 built when its draft was queued is not "
				"read any more. Repairing deletes it once its item has the present "
				"form.");
	return rc;
}

enum mr_code mr_work_exam_collections(struct mr_work_exam *exam)
{
	struct holders holders = { 0 };
	enum mr_code rc = examine_cases(exam, &holders);

	if (!rc)
		rc = examine_categories(exam, &holders);
	for (int kind = MR_WORK_SPAM; !rc && kind <= MR_WORK_DELETED; kind++)
		examine_list(exam,
			&(struct mr_work_place){ .kind = (enum mr_work_collection_kind)kind,
				.path = mr_work_disposition_dir(
					(enum mr_work_collection_kind)kind) },
			&holders);
	if (!rc)
		rc = examine_staged_mail(exam);
	examine_holders(exam, &holders);
	examine_old_templates(exam);
	return rc;
}
