/* workspace/doctor_message.c - examines the files of messages. */
#include "workspace/doctor_private.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/remote.h"

#include <stdlib.h>
#include <string.h>

static void see_state(struct mr_work_exam *exam, const char *path, const char *id)
{
	const struct mr_value *state = NULL;
	bool can_be_read = !mr_work_read_json(exam->cx, exam->work, path, &state);

	exam->cx->err = (struct mr_err){ 0 };
	mr_work_exam_tell(exam, "message_state_deprecated",
		can_be_read ? MR_WORK_REPAIRABLE : MR_WORK_BY_HAND, path, MR_WORK_REFS(id),
		"A state file of generation 0.1 is not used any more. %s",
		can_be_read ? "Repairing takes over what it says and deletes it."
			    : "This one cannot be read: correct or delete it.");
}

static void see_evidence(struct mr_work_exam *exam, const char *name)
{
	struct mr_arena *arena = exam->cx->arena;
	const char *id = mr_work_stem(arena, name, ".eml");

	if (id) {
		mr_work_text_set_add(arena, &exam->emls, id);
		return;
	}
	id = mr_work_stem(arena, name, ".remote.json");
	if (id) {
		mr_work_text_set_add(arena, &exam->sidecars, id);
		return;
	}
	id = mr_work_stem(arena, name, ".state.json");
	if (id)
		see_state(exam, mr_work_join(arena, MR_WORK_EVIDENCE, name), id);
	else if (mr_work_stem(arena, name, ".txt"))
		mr_work_exam_tell(exam, "legacy_state_present", MR_WORK_REPAIRABLE,
			mr_work_join(arena, MR_WORK_EVIDENCE, name), NULL,
			"A text file of generation 0.1 is not read any more. Repairing deletes "
			"it.");
}

enum mr_code mr_work_exam_list_messages(struct mr_work_exam *exam)
{
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_list(exam->cx, exam->work, MR_WORK_EVIDENCE, &names);

	for (size_t i = 0; !rc && i < names.len; i++)
		see_evidence(exam, names.items[i]);
	if (!rc)
		rc = mr_work_list(exam->cx, exam->work, MR_WORK_RECORDS, &names);
	for (size_t i = 0; !rc && i < names.len; i++) {
		const char *id = mr_work_stem(exam->cx->arena, names.items[i], ".json");

		if (id)
			mr_work_text_set_add(exam->cx->arena, &exam->records, id);
	}
	return rc;
}

/* --- what is queued for a message, and what its record says of that --- */

struct queued {
	const char *message_id, *push_id;
};
struct queue_map {
	struct queued *items;
	size_t len;
};

static int by_message(const void *a, const void *b)
{
	const struct queued *left = a, *right = b;
	int order = strcmp(left->message_id, right->message_id);

	return order ? order : strcmp(left->push_id, right->push_id);
}

static void map_queue(struct mr_work_exam *exam, struct queue_map *out)
{
	const struct mr_work_push_items *queue = exam->queue;
	size_t max = 0;

	for (size_t i = 0; queue && i < queue->len; i++)
		max += queue->items[i].message_ids.len;
	out->items = mr_arena_array(exam->cx->arena, max + 1, sizeof(*out->items));
	for (size_t i = 0; queue && i < queue->len; i++)
		for (size_t k = 0; k < queue->items[i].message_ids.len; k++)
			out->items[out->len++] =
				(struct queued){ queue->items[i].message_ids.items[k],
					queue->items[i].push_id };
	if (out->len)
		qsort(out->items, out->len, sizeof(*out->items), by_message);
}

/* Where the items of a message begin. */
static size_t first_of(const struct queue_map *map, const char *id)
{
	size_t low = 0, high = map->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(map->items[middle].message_id, id) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

/* Does the record name exactly the items that are queued? */
static bool has_drifted(const struct mr_value *record, const struct queue_map *map, const char *id)
{
	const struct mr_value *push = mr_value_get(mr_value_get(record, "workspace"), "push");
	const struct mr_value *pending = mr_value_get(push, "pending");
	size_t told = pending && pending->kind == MR_LIST ? pending->list.len : 0, queued = 0;

	for (size_t i = first_of(map, id); i < map->len && mr_str_eq(map->items[i].message_id, id);
		i++, queued++) {
		bool found = false;

		for (size_t k = 0; k < told && !found; k++)
			found = mr_str_eq(text_of(&pending->list.items[k], "push_id"),
				map->items[i].push_id);
		if (!found)
			return true;
	}
	return told != queued;
}

/* --- one message --- */

struct look {
	struct mr_work_exam *exam;
	const struct queue_map *map;
	const char *id;
	bool has_eml, has_sidecar;
};

static void trouble(struct mr_work_exam *exam, const char *id)
{
	mr_work_text_set_add(exam->cx->arena, &exam->troubled, id);
}

/* What is wrong with a record; NULL when nothing is. */
static const char *fault_of(struct mr_ctx *cx, const struct mr_value *record, const char *id)
{
	static const char *const statuses[] = { "", "triage", "case", "archived", "spam", "trashed",
		"deleted_remote", "sent", "draft", "flagged", "push_queued" };
	const struct mr_value *version = mr_value_get(record, "schema_version");
	const char *status = text_of(mr_value_get(record, "workspace"), "status");
	const char *direction = text_of(record, "direction");

	if (!record || record->kind != MR_MAP ||
		!mr_str_eq(text_of(record, "schema_name"), "message") || !version ||
		version->kind != MR_INT || version->integer != 1)
		return "it is not a document of schema message, version 1";
	if (!mr_str_eq(text_of(record, "message_id"), id))
		return "its message_id is not that of the file's name";
	if (direction && !mr_str_eq(direction, "inbound") && !mr_str_eq(direction, "outbound"))
		return mr_arena_printf(cx->arena, "it has the unknown direction '%s'", direction);
	for (size_t i = 0; status && i < sizeof(statuses) / sizeof(*statuses); i++)
		if (mr_str_eq(status, statuses[i]))
			return NULL;
	return status ? mr_arena_printf(cx->arena, "it has the unknown status '%s'", status)
		      : "it has no status";
}

static void tell_bad_record(const struct look *look, const char *what)
{
	mr_work_exam_tell(look->exam, "message_cache_invalid",
		look->has_eml ? MR_WORK_REPAIRABLE : MR_WORK_BY_HAND,
		mr_work_path_record(look->exam->cx->arena, look->id), MR_WORK_REFS(look->id),
		"The record of the message cannot be used: %s.%s", what,
		look->has_eml ? " Repairing makes it anew from the raw message."
			      : " The raw message is gone too: restore one of the two.");
	trouble(look->exam, look->id);
}

static void examine_record(struct mr_ctx *cx, const struct look *look)
{
	struct mr_work_exam *exam = look->exam;
	const struct mr_value *record = NULL, *locations;
	enum mr_code rc = mr_work_read_json(cx, exam->work,
		mr_work_path_record(cx->arena, look->id), &record);
	const char *fault = rc ? cx->err.msg : fault_of(cx, record, look->id);

	if (!look->has_eml) {
		mr_work_exam_tell(exam, "message_eml_missing", MR_WORK_BY_HAND,
			mr_work_path_eml(cx->arena, look->id), NULL,
			"The raw message is gone. Restore it from a backup or pull it again.");
		trouble(exam, look->id);
	}
	if (fault) {
		tell_bad_record(look, fault);
		return;
	}
	locations = mr_value_get(mr_value_get(record, "remote"), "locations");
	if (!look->has_sidecar && locations && locations->kind == MR_LIST && locations->list.len) {
		mr_work_exam_tell(exam, "message_remote_missing", MR_WORK_REPAIRABLE,
			mr_work_path_remote(cx->arena, look->id), NULL,
			"The file that says where the message is on the server is gone. Repairing "
			"writes it from the message's record.");
		trouble(exam, look->id);
	}
	if (exam->queue && has_drifted(record, look->map, look->id)) {
		mr_work_exam_tell(exam, "push_overlay_drift", MR_WORK_REPAIRABLE,
			mr_work_path_record(cx->arena, look->id), MR_WORK_REFS(look->id),
			"The record of the message names other queued items than the queue has. "
			"Repairing writes it anew.");
		trouble(exam, look->id);
	}
}

static void examine_sidecar(struct mr_ctx *cx, const struct look *look, bool has_record)
{
	struct mr_work_exam *exam = look->exam;
	const char *path = mr_work_path_remote(cx->arena, look->id);
	struct mr_work_locations locations = { 0 };

	if (mr_work_remote_load(cx, exam->work, look->id, &locations)) {
		mr_work_exam_tell(exam, "message_remote_invalid", MR_WORK_BY_HAND, path, NULL,
			"%s. Correct the file, or delete it and repair.", cx->err.msg);
		trouble(exam, look->id);
	}
	if (has_record)
		return;
	mr_work_exam_tell(exam, "message_sidecar_orphaned", MR_WORK_REPAIRABLE, path, NULL,
		look->has_eml ? "The message has no record. Repairing makes it."
			      : "There is neither a raw message nor a record that the file belongs "
				"to. Repairing deletes it.");
	trouble(exam, look->id);
}

/* Each message in an arena of its own: a workspace may hold very many. */
static void examine_message(struct mr_work_exam *exam, const struct queue_map *map, const char *id,
	bool has_record)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx own = *exam->cx;
	struct look look = { .exam = exam,
		.map = map,
		.id = id,
		.has_eml = mr_work_text_set_has(&exam->emls, id),
		.has_sidecar = mr_work_text_set_has(&exam->sidecars, id) };

	own.arena = arena;
	if (has_record)
		examine_record(&own, &look);
	own.err = (struct mr_err){ 0 };
	if (look.has_sidecar)
		examine_sidecar(&own, &look, has_record);
}

enum mr_code mr_work_exam_messages(struct mr_work_exam *exam)
{
	struct mr_ctx *cx = exam->cx;
	struct queue_map map = { 0 };

	map_queue(exam, &map);
	for (size_t i = 0; i < exam->records.texts.len; i++) {
		examine_message(exam, &map, exam->records.texts.items[i], true);
		if (cx->progress)
			cx->progress(cx->progress_arg, "messages", i, exam->records.texts.len);
	}
	for (size_t i = 0; i < exam->sidecars.texts.len; i++)
		if (!mr_work_text_set_has(&exam->records, exam->sidecars.texts.items[i]))
			examine_message(exam, &map, exam->sidecars.texts.items[i], false);
	exam->out->checks.messages = true;
	return MR_OK;
}
