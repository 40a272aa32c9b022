/* workspace/queue.c - reads and writes the items of the push queue. */
#include "workspace/queue.h"

#include "text/time.h"
#include "workspace/change_private.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/name.h"

#include <stdlib.h>
#include <string.h>

const char *const mr_work_push_action_names[] = {
	[MR_WORK_PUSH_SAVE_DRAFT] = "save_draft",
	[MR_WORK_PUSH_SEND] = "send",
	[MR_WORK_PUSH_ARCHIVE] = "archive",
	[MR_WORK_PUSH_SPAM] = "spam",
	[MR_WORK_PUSH_TRASH] = "trash",
	[MR_WORK_PUSH_CASE_ADD] = "case_add",
	[MR_WORK_PUSH_RESTORE] = "restore",
	NULL,
};

static const char *const kind_names[] = { "outbound", "message_action", NULL };
static const char *const status_names[] = { "pending", "succeeded", "failed", NULL };
static const char *const outbound_known[] = { "schema_name", "schema_version", "push_id", "kind",
	"created_rfc3339", "updated_rfc3339", "attempt_count", "step_states", "last_error",
	"action", "case_uid", "draft_name", "draft_uid_validity", "draft_uid", NULL };
static const char *const action_known[] = { "schema_name", "schema_version", "push_id", "kind",
	"created_rfc3339", "updated_rfc3339", "attempt_count", "step_states", "last_error",
	"action", "message_ids", "locations", "steps", "reply_to_message_id", NULL };
static const char *const location_known[] = { "message_id", "mailbox_name", "uid_validity", "uid",
	NULL };
static const char *const state_known[] = { "index", "label", "status", "started_rfc3339",
	"completed_rfc3339", "result_summary", "error_code", "error", "retryable", NULL };

static bool is_outbound(enum mr_work_push_action action)
{
	return action == MR_WORK_PUSH_SAVE_DRAFT || action == MR_WORK_PUSH_SEND;
}

/* --- reading --- */

static void text_opt(const struct mr_cursor *at, const char *key, const char **out)
{
	struct mr_cursor member = mr_cursor_key(at, key);

	mr_cursor_text_opt(&member, out);
}

static void text(const struct mr_cursor *at, const char *key, const char **out)
{
	struct mr_cursor member = mr_cursor_key(at, key);

	mr_cursor_text(&member, out);
}

static void read_state(const struct mr_cursor *at, struct mr_work_step_state *out)
{
	struct mr_cursor index = mr_cursor_key(at, "index"), status = mr_cursor_key(at, "status");
	struct mr_cursor retryable = mr_cursor_key(at, "retryable");
	size_t chosen = 0;

	mr_cursor_only(at, state_known);
	mr_cursor_int(&index, 0, INT32_MAX, &out->index);
	text(at, "label", &out->label);
	mr_cursor_choice(&status, status_names, &chosen);
	out->status = (enum mr_work_step_status)chosen;
	text_opt(at, "started_rfc3339", &out->started);
	text_opt(at, "completed_rfc3339", &out->completed);
	text_opt(at, "result_summary", &out->result_summary);
	text_opt(at, "error_code", &out->error_code);
	text_opt(at, "error", &out->error);
	out->has_retryable = mr_cursor_bool_opt(&retryable, &out->retryable);
}

static void read_states(struct mr_ctx *cx, const struct mr_cursor *at,
	struct mr_work_push_item *out)
{
	struct mr_cursor list = mr_cursor_key(at, "step_states");
	size_t len = 0;

	if (!mr_cursor_list(&list, &len))
		return;
	out->states = mr_arena_array(cx->arena, len + 1, sizeof(*out->states));
	for (; out->state_count < len; out->state_count++) {
		struct mr_cursor item = mr_cursor_item(&list, out->state_count);

		read_state(&item, &out->states[out->state_count]);
	}
}

static void read_locations(struct mr_ctx *cx, const struct mr_cursor *at,
	struct mr_work_push_item *out)
{
	struct mr_cursor list = mr_cursor_key(at, "locations");
	size_t len = 0;

	if (!mr_cursor_list_opt(&list, &len))
		return;
	out->locations = mr_arena_array(cx->arena, len + 1, sizeof(*out->locations));
	for (; out->location_count < len; out->location_count++) {
		struct mr_cursor item = mr_cursor_item(&list, out->location_count);
		struct mr_cursor validity = mr_cursor_key(&item, "uid_validity");
		struct mr_cursor uid = mr_cursor_key(&item, "uid");
		struct mr_work_push_location *to = &out->locations[out->location_count];

		mr_cursor_only(&item, location_known);
		text(&item, "message_id", &to->message_id);
		text(&item, "mailbox_name", &to->mailbox_name);
		mr_cursor_int(&validity, 0, UINT32_MAX, &to->uid_validity);
		mr_cursor_int(&uid, 0, UINT32_MAX, &to->uid);
	}
}

/* An id that becomes part of a path. */
static bool is_segment(const char *id)
{
	return *id && !strpbrk(id, "/\\") && !mr_str_eq(id, ".") && !mr_str_eq(id, "..");
}

static void read_message_ids(const struct mr_cursor *at, struct mr_work_push_item *out)
{
	struct mr_cursor list = mr_cursor_key(at, "message_ids");

	if (!mr_cursor_texts(&list, &out->message_ids))
		return;
	for (size_t i = 0; i < out->message_ids.len; i++) {
		struct mr_cursor id = mr_cursor_item(&list, i);

		if (!is_segment(out->message_ids.items[i]))
			mr_cursor_refuse(&id, "is not a message id");
	}
}

/* The file of an item is named by its id. */
static void check_id(struct mr_ctx *cx, const struct mr_cursor *at, const char *path,
	const char *push_id)
{
	struct mr_cursor id = mr_cursor_key(at, "push_id");

	if (push_id && !mr_str_eq(mr_work_path_push(cx->arena, push_id), path))
		mr_cursor_refuse(&id, "is not the name of its file");
}

/* Where a saved draft is on the server: read to be kept. */
static void check_draft_uids(const struct mr_cursor *at)
{
	struct mr_cursor validity = mr_cursor_key(at, "draft_uid_validity");
	struct mr_cursor uid = mr_cursor_key(at, "draft_uid");
	int64_t number = 0;

	mr_cursor_int_opt(&validity, 0, UINT32_MAX, &number);
	mr_cursor_int_opt(&uid, 0, UINT32_MAX, &number);
}

static void read_head(const struct mr_cursor *at, struct mr_work_push_item *out)
{
	struct mr_cursor name = mr_cursor_key(at, "schema_name");
	struct mr_cursor version = mr_cursor_key(at, "schema_version");
	struct mr_cursor attempts = mr_cursor_key(at, "attempt_count");
	const char *schema = NULL;
	int64_t number = 0;

	if (mr_cursor_text(&name, &schema) && !mr_str_eq(schema, "push_item"))
		mr_cursor_refuse(&name, "is not push_item");
	mr_cursor_int(&version, 1, 1, &number);
	text(at, "push_id", &out->push_id);
	text(at, "created_rfc3339", &out->created);
	text(at, "updated_rfc3339", &out->updated);
	mr_cursor_int_opt(&attempts, 0, INT32_MAX, &out->attempt_count);
	text_opt(at, "last_error", &out->last_error);
}

static void read_action(const struct mr_cursor *at, struct mr_work_push_item *out)
{
	struct mr_cursor kind = mr_cursor_key(at, "kind"), action = mr_cursor_key(at, "action");
	size_t chosen = 0;

	mr_cursor_choice(&kind, kind_names, &chosen);
	out->kind = (enum mr_work_push_kind)chosen;
	chosen = 0;
	if (!mr_cursor_choice(&action, mr_work_push_action_names, &chosen))
		return;
	out->action = (enum mr_work_push_action)chosen;
	if (is_outbound(out->action) != (out->kind == MR_WORK_PUSH_OUTBOUND))
		mr_cursor_refuse(&action, "does not belong to an item of this kind");
}

static enum mr_code read_item(struct mr_ctx *cx, const char *path, const struct mr_value *document,
	struct mr_work_push_item *out)
{
	struct mr_issues issues;
	struct mr_cursor root;
	bool has_states = mr_value_get(document, "step_states");
	enum mr_code rc = MR_OK;

	mr_issues_init(&issues, cx->arena);
	root = mr_cursor_root(document, &issues);
	*out = (struct mr_work_push_item){ .document = document };
	read_head(&root, out);
	check_id(cx, &root, path, out->push_id);
	read_action(&root, out);
	if (has_states)
		read_states(cx, &root, out);
	mr_cursor_only(&root, out->kind == MR_WORK_PUSH_OUTBOUND ? outbound_known : action_known);
	if (out->kind == MR_WORK_PUSH_OUTBOUND) {
		text(&root, "case_uid", &out->case_uid);
		text(&root, "draft_name", &out->draft_name);
		check_draft_uids(&root);
	} else {
		read_message_ids(&root, out);
		read_locations(cx, &root, out);
		text_opt(&root, "reply_to_message_id", &out->reply_to_message_id);
		rc = mr_work_steps_read(cx, mr_value_get(document, "steps"), &out->steps);
	}
	if (rc)
		return mr_work_refuse(cx, MR_WORK_PUSH_ITEM_INVALID, "%s: %s", path, cx->err.msg);
	if (issues.len) {
		mr_err_issues(&cx->err, &issues, path);
		return mr_work_refuse(cx, MR_WORK_PUSH_ITEM_INVALID, "%s", cx->err.msg);
	}
	/* The contract has another word for this one. */
	if (!has_states) {
		mr_err_set(&cx->err, MR_EFORMAT, "%s has no step_states", path);
		return mr_work_store_error(cx);
	}
	return MR_OK;
}

static enum mr_code load_item(struct mr_ctx *cx, struct mr_work *work, const char *path,
	struct mr_work_push_item *out)
{
	const struct mr_value *document = NULL;
	enum mr_code rc = mr_work_read_json(cx, work, path, &document);

	if (!rc && !document)
		return mr_work_refuse(cx, MR_WORK_PUSH_NOT_FOUND, "there is no %s", path);
	return rc ? rc : read_item(cx, path, document, out);
}

static int in_order(const void *a, const void *b)
{
	const struct mr_work_push_item *left = a, *right = b;
	int by_time = strcmp(left->created, right->created);
	int64_t x = mr_work_push_again(left->push_id), y = mr_work_push_again(right->push_id);

	if (by_time)
		return by_time;
	return x != y ? (x > y) - (x < y) : strcmp(left->push_id, right->push_id);
}

/* `pairs` has room. */
static void add_invalid(struct mr_ctx *cx, struct mr_texts *pairs, const char *path)
{
	pairs->items[pairs->len++] = path;
	pairs->items[pairs->len++] = mr_arena_strdup(cx->arena, cx->err.msg);
}

static enum mr_code load(struct mr_ctx *cx, struct mr_work *work, bool strict,
	struct mr_work_push_items *out)
{
	struct mr_work_push_items read = { 0 };
	struct mr_err kept = cx->err;
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_list(cx, work, MR_WORK_PUSH, &names);

	read.items = mr_arena_array(cx->arena, names.len + 1, sizeof(*read.items));
	read.invalid.items = mr_arena_array(cx->arena, names.len * 2 + 1, sizeof(const char *));
	for (size_t i = 0; !rc && i < names.len; i++) {
		const char *path = mr_work_join(cx->arena, MR_WORK_PUSH, names.items[i]);

		if (names.items[i][0] == '.' || !mr_str_ends(names.items[i], ".json"))
			continue;
		rc = load_item(cx, work, path, &read.items[read.len]);
		if (!rc) {
			read.len++;
		} else if (!strict) {
			add_invalid(cx, &read.invalid, path);
			cx->err = kept;
			rc = MR_OK;
		}
	}
	if (rc)
		return rc;
	if (read.len > 1)
		qsort(read.items, read.len, sizeof(*read.items), in_order);
	*out = read;
	return MR_OK;
}

enum mr_code mr_work_queue_load(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_push_items *out)
{
	return load(cx, work, false, out);
}

enum mr_code mr_work_queue_load_strict(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_push_items *out)
{
	return load(cx, work, true, out);
}

enum mr_code mr_work_queue_get(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_items **out)
{
	enum mr_code rc = MR_OK;

	if (!work->queue) {
		struct mr_work_push_items *items = mr_arena_alloc(cx->arena, sizeof(*items));

		rc = mr_work_queue_load(cx, work, items);
		if (!rc)
			work->queue = items;
	}
	*out = work->queue;
	return rc;
}

enum mr_code mr_work_queue_find(struct mr_ctx *cx, struct mr_work *work, const char *push_id,
	struct mr_work_push_item *out)
{
	enum mr_code rc = mr_work_check_segment(cx, "push id", push_id);

	return rc ? rc : load_item(cx, work, mr_work_path_push(cx->arena, push_id), out);
}

/* --- writing --- */

static bool is_written(const struct mr_work_change *change, const char *path)
{
	for (const struct mr_work_step *step = change->first; step; step = step->next)
		if (step->kind == MR_WORK_STEP_WRITE && mr_str_eq(step->path, path))
			return true;
	return false;
}

const char *mr_work_queue_new_id(struct mr_ctx *cx, struct mr_work_change *change)
{
	for (int again = 0;; again++) {
		const char *id = mr_work_push_id(cx->arena, change->work->now_us, again);
		const char *path = mr_work_path_push(cx->arena, id);

		/* The id of the mail that an item sent comes from its own. */
		const char *sent = mr_work_path_eml(cx->arena, mr_work_sent_id(cx->arena, id));

		if (!mr_fs_exists(change->work->dir, path) && !is_written(change, path) &&
			!mr_fs_exists(change->work->dir, sent))
			return id;
	}
}

static void text_if(struct mr_out *out, const char *key, const char *value)
{
	if (value)
		mr_out_text(out, key, value);
}

static void emit_state(struct mr_out *out, const struct mr_work_step_state *state)
{
	mr_out_map(out, NULL);
	mr_out_int(out, "index", state->index);
	mr_out_text(out, "label", state->label);
	mr_out_text(out, "status", status_names[state->status]);
	text_if(out, "started_rfc3339", state->started);
	text_if(out, "completed_rfc3339", state->completed);
	text_if(out, "result_summary", state->result_summary);
	text_if(out, "error_code", state->error_code);
	text_if(out, "error", state->error);
	if (state->has_retryable)
		mr_out_bool(out, "retryable", state->retryable);
	mr_out_end(out);
}

static void emit_action(struct mr_out *out, const struct mr_work_push_item *item)
{
	mr_out_texts(out, "message_ids", &item->message_ids);
	mr_out_list(out, "locations");
	for (size_t i = 0; i < item->location_count; i++) {
		mr_out_map(out, NULL);
		mr_out_text(out, "message_id", item->locations[i].message_id);
		mr_out_text(out, "mailbox_name", item->locations[i].mailbox_name);
		mr_out_int(out, "uid_validity", item->locations[i].uid_validity);
		mr_out_int(out, "uid", item->locations[i].uid);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_value(out, "steps", item->steps.document);
	text_if(out, "reply_to_message_id", item->reply_to_message_id);
}

static void value_if(struct mr_out *out, const char *key, const struct mr_value *value)
{
	if (value && value->kind != MR_NULL)
		mr_out_value(out, key, value);
}

static const struct mr_value *item_value(struct mr_ctx *cx, const struct mr_work_push_item *item)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "schema_name", "push_item");
	mr_out_int(&out, "schema_version", 1);
	mr_out_text(&out, "push_id", item->push_id);
	mr_out_text(&out, "kind", kind_names[item->kind]);
	mr_out_text(&out, "action", mr_work_push_action_names[item->action]);
	if (item->kind == MR_WORK_PUSH_OUTBOUND) {
		mr_out_text(&out, "case_uid", item->case_uid);
		mr_out_text(&out, "draft_name", item->draft_name);
		value_if(&out, "draft_uid_validity",
			mr_value_get(item->document, "draft_uid_validity"));
		value_if(&out, "draft_uid", mr_value_get(item->document, "draft_uid"));
	} else {
		emit_action(&out, item);
	}
	mr_out_text(&out, "created_rfc3339", item->created);
	mr_out_text(&out, "updated_rfc3339", item->updated);
	mr_out_int(&out, "attempt_count", item->attempt_count);
	mr_out_list(&out, "step_states");
	for (size_t i = 0; i < item->state_count; i++)
		emit_state(&out, &item->states[i]);
	mr_out_end(&out);
	text_if(&out, "last_error", item->last_error);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

static void touch(struct mr_work_change *change, const struct mr_work_push_item *item)
{
	for (size_t i = 0; i < item->message_ids.len; i++)
		mr_work_touch_message(change, item->message_ids.items[i]);
}

void mr_work_queue_save(struct mr_work_change *change, struct mr_work_push_item *item)
{
	if (!item->created)
		item->created = change->work->now;
	item->updated = change->work->now;
	item->document = item_value(change->cx, item);
	mr_work_change_json(change, mr_work_path_push(change->cx->arena, item->push_id),
		item->document);
	touch(change, item);
}

void mr_work_queue_forget_mail(struct mr_work_change *change, const struct mr_work_push_item *item)
{
	struct mr_arena *arena = change->cx->arena;

	mr_work_change_remove(change, mr_work_path_push_eml(arena, item->push_id));
	mr_work_change_remove(change, mr_work_path_push_envelope(arena, item->push_id));
}

void mr_work_queue_remove(struct mr_work_change *change, const struct mr_work_push_item *item)
{
	struct mr_arena *arena = change->cx->arena;

	mr_work_change_remove(change, mr_work_path_push(arena, item->push_id));
	mr_work_change_remove(change, mr_work_path_push_approval(arena, item->push_id));
	if (item->kind == MR_WORK_PUSH_OUTBOUND)
		mr_work_queue_forget_mail(change, item);
	touch(change, item);
}

/* --- questions --- */

bool mr_work_push_has_started(const struct mr_work_push_item *item)
{
	for (size_t i = 0; i < item->state_count; i++)
		if (item->states[i].started || item->states[i].status != MR_WORK_STEP_PENDING)
			return true;
	return false;
}

const struct mr_work_step_state *mr_work_push_uncertain_step(const struct mr_work_push_item *item)
{
	for (size_t i = 0; i < item->state_count; i++)
		if (item->states[i].status == MR_WORK_STEP_PENDING && item->states[i].started)
			return &item->states[i];
	return NULL;
}

bool mr_work_push_has_succeeded_step(const struct mr_work_push_item *item)
{
	for (size_t i = 0; i < item->state_count; i++)
		if (item->states[i].status == MR_WORK_STEP_SUCCEEDED)
			return true;
	return false;
}

static const struct {
	const char *display, *label;
} shown[MR_WORK_PUSH_ACTION_COUNT] = {
	[MR_WORK_PUSH_SAVE_DRAFT] = { "outbound", "drafts" },
	[MR_WORK_PUSH_SEND] = { "outbound", "drafts" },
	[MR_WORK_PUSH_ARCHIVE] = { "message.archive", "archive" },
	[MR_WORK_PUSH_SPAM] = { "message.spam", "spam" },
	[MR_WORK_PUSH_TRASH] = { "message.trash", "trash" },
	[MR_WORK_PUSH_CASE_ADD] = { "case.add", "case" },
	[MR_WORK_PUSH_RESTORE] = { "message.restore", "archive" },
};

const char *mr_work_push_display_kind(const struct mr_work_push_item *item)
{
	return shown[item->action].display;
}

const char *mr_work_push_summary_label(const struct mr_work_push_item *item)
{
	return shown[item->action].label;
}

bool mr_work_push_concerns(const struct mr_work_push_item *item, const char *message_id)
{
	return mr_texts_has(&item->message_ids, message_id) ||
		mr_str_eq(item->reply_to_message_id, message_id);
}
