/* workspace/pull_state.c - reads and writes what the server said last. */
#include "workspace/pull_state.h"

#include "base/log.h"
#include "text/out.h"
#include "workspace/layout.h"

#include <string.h>

enum { MAILBOXES_MAX = 10000 };

static bool text_of(const struct mr_value *map, const char *key, const char **out)
{
	const struct mr_value *value = mr_value_get(map, key);

	*out = value && value->kind == MR_TEXT ? value->text : NULL;
	return *out;
}

static bool number_of(const struct mr_value *map, const char *key, int64_t *out)
{
	const struct mr_value *value = mr_value_get(map, key);

	*out = value && value->kind == MR_INT ? value->integer : -1;
	return *out >= 0;
}

static bool read_box(const struct mr_value *map, struct mr_work_box_state *out)
{
	return map->kind == MR_MAP && text_of(map, "mailbox_name", &out->mailbox_name) &&
		number_of(map, "uid_validity", &out->uid_validity) &&
		number_of(map, "uid_next", &out->uid_next) &&
		number_of(map, "highest_modseq", &out->highest_modseq);
}

const char *mr_work_pull_state_account(struct mr_arena *arena, const char *username,
	const char *host, int64_t port)
{
	return mr_arena_printf(arena, "%s@%s:%lld", username ? username : "", host ? host : "",
		(long long)port);
}

void mr_work_pull_state_load(struct mr_ctx *cx, struct mr_work *work, const char *account,
	struct mr_work_pull_state *out)
{
	struct mr_ctx own = *cx;
	const struct mr_value *document = NULL, *boxes;
	const char *text = NULL;

	*out = (struct mr_work_pull_state){ .account = account };
	if (mr_work_read_json(&own, work, MR_WORK_SYNC_STATE, &document) || !document ||
		document->kind != MR_MAP)
		return;
	boxes = mr_value_get(document, "mailboxes");
	if (!text_of(document, "schema_name", &text) || !mr_str_eq(text, "sync_state") ||
		!text_of(document, "account", &text) || !mr_str_eq(text, account) || !boxes ||
		boxes->kind != MR_LIST || boxes->list.len > MAILBOXES_MAX)
		return;
	out->items = mr_arena_array(cx->arena, boxes->list.len + 1, sizeof(*out->items));
	for (size_t i = 0; i < boxes->list.len; i++)
		out->len += read_box(&boxes->list.items[i], &out->items[out->len]);
}

const struct mr_work_box_state *mr_work_pull_state_of(const struct mr_work_pull_state *state,
	const char *mailbox_name)
{
	for (size_t i = 0; i < state->len; i++)
		if (mr_str_eq(state->items[i].mailbox_name, mailbox_name))
			return &state->items[i];
	return NULL;
}

void mr_work_pull_state_put(struct mr_arena *arena, struct mr_work_pull_state *state,
	const struct mr_work_box_state *box)
{
	struct mr_work_box_state *items;

	for (size_t i = 0; i < state->len; i++)
		if (mr_str_eq(state->items[i].mailbox_name, box->mailbox_name)) {
			state->items[i] = *box;
			return;
		}
	items = mr_arena_array(arena, state->len + 1, sizeof(*items));
	if (state->len)
		memcpy(items, state->items, state->len * sizeof(*items));
	items[state->len++] = *box;
	state->items = items;
}

void mr_work_pull_state_save(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_pull_state *state)
{
	struct mr_ctx own = *cx;
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "schema_name", "sync_state");
	mr_out_int(&out, "schema_version", 1);
	mr_out_text(&out, "account", state->account);
	mr_out_list(&out, "mailboxes");
	for (size_t i = 0; i < state->len; i++) {
		mr_out_map(&out, NULL);
		mr_out_text(&out, "mailbox_name", state->items[i].mailbox_name);
		mr_out_int(&out, "uid_validity", state->items[i].uid_validity);
		mr_out_int(&out, "uid_next", state->items[i].uid_next);
		mr_out_int(&out, "highest_modseq", state->items[i].highest_modseq);
		mr_out_end(&out);
	}
	mr_out_end(&out);
	mr_out_end(&out);
	if (mr_work_project(&own, work, MR_WORK_SYNC_STATE, mr_work_pretty(&own, mr_out_tree(&out)),
		    NULL))
		mr_log(MR_LOG_DEBUG, "workspace_sync_state_not_written", "%s", own.err.msg);
}
