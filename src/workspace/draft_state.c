/* workspace/draft_state.c - data/drafts.json of a case: which content of a draft was valid when. */
#include "workspace/draft_state.h"

#include "text/digest.h"
#include "text/out.h"
#include "workspace/error.h"
#include "workspace/layout.h"

#include <string.h>

const char *mr_work_draft_hash(struct mr_arena *arena, struct mr_bytes file)
{
	return mr_arena_printf(arena, "sha256:%s", mr_digest_sha256(arena, file));
}

const char *mr_work_draft_path(struct mr_arena *arena, const char *case_path, const char *name)
{
	return mr_arena_printf(arena, "%s/drafts/%s", case_path, name);
}

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

enum mr_code mr_work_draft_states_load(struct mr_ctx *cx, struct mr_work *work,
	const char *case_path, struct mr_work_draft_states *out)
{
	const char *path = mr_work_join(cx->arena, case_path, "data/drafts.json");
	const struct mr_value *document = NULL, *version, *drafts;
	enum mr_code rc = mr_work_read_json(cx, work, path, &document);

	*out = (struct mr_work_draft_states){ .path = path };
	if (rc || !document)
		return rc;
	version = mr_value_get(document, "schema_version");
	drafts = mr_value_get(document, "drafts");
	if (!mr_str_eq(text_of(document, "schema_name"), "draft_state") || !version ||
		version->kind != MR_INT || version->integer != 1 ||
		(drafts && drafts->kind != MR_NULL && drafts->kind != MR_MAP))
		return mr_work_refuse(cx, MR_WORK_DRAFT_STATE_INVALID,
			"%s is not a draft_state of version 1", path);
	if (!drafts || drafts->kind != MR_MAP)
		return MR_OK;
	out->items = mr_arena_array(cx->arena, drafts->map.len + 1, sizeof(*out->items));
	for (; out->len < drafts->map.len; out->len++) {
		const struct mr_pair *pair = &drafts->map.pairs[out->len];

		out->items[out->len] = (struct mr_work_draft_state){ pair->key,
			text_of(&pair->value, "last_validated_hash"),
			text_of(&pair->value, "last_validated_rfc3339"),
			text_of(&pair->value, "last_saved_hash") };
	}
	return MR_OK;
}

const struct mr_work_draft_state *mr_work_draft_state_of(const struct mr_work_draft_states *states,
	const char *name)
{
	for (size_t i = 0; i < states->len; i++)
		if (mr_str_eq(states->items[i].name, name))
			return &states->items[i];
	return NULL;
}

static void emit(struct mr_out *out, const struct mr_work_draft_state *state)
{
	mr_out_map(out, state->name);
	if (state->hash)
		mr_out_text(out, "last_validated_hash", state->hash);
	if (state->validated)
		mr_out_text(out, "last_validated_rfc3339", state->validated);
	if (state->saved)
		mr_out_text(out, "last_saved_hash", state->saved);
	mr_out_end(out);
}

static void save(struct mr_work_change *change, const struct mr_work_draft_states *states)
{
	struct mr_out out;

	mr_out_init_tree(&out, change->cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "schema_name", "draft_state");
	mr_out_int(&out, "schema_version", 1);
	if (states->len) {
		mr_out_map(&out, "drafts");
		for (size_t i = 0; i < states->len; i++)
			emit(&out, &states->items[i]);
		mr_out_end(&out);
	}
	mr_out_end(&out);
	mr_work_change_json(change, states->path, mr_out_tree(&out));
}

/* Put a state in its place, by name, or take it away when `state` is NULL. */
static void put(struct mr_work_change *change, struct mr_work_draft_states *states,
	const char *name, const struct mr_work_draft_state *state)
{
	struct mr_work_draft_state *items =
		mr_arena_array(change->cx->arena, states->len + 2, sizeof(*items));
	bool is_placed = !state;
	size_t len = 0;

	for (size_t i = 0; i < states->len; i++) {
		int order = strcmp(states->items[i].name, name);

		if (!is_placed && order >= 0) {
			items[len++] = *state;
			is_placed = true;
		}
		if (order)
			items[len++] = states->items[i];
	}
	if (!is_placed)
		items[len++] = *state;
	states->items = items;
	states->len = len;
	save(change, states);
}

void mr_work_draft_state_put(struct mr_work_change *change, struct mr_work_draft_states *states,
	const char *name, const char *hash)
{
	const struct mr_work_draft_state *old = mr_work_draft_state_of(states, name);
	struct mr_work_draft_state state = { name, hash, change->work->now,
		old ? old->saved : NULL };

	put(change, states, name, hash ? &state : NULL);
}

void mr_work_draft_state_saved(struct mr_work_change *change, struct mr_work_draft_states *states,
	const char *name, const char *hash)
{
	const struct mr_work_draft_state *old = mr_work_draft_state_of(states, name);
	struct mr_work_draft_state state = { .name = name };

	if (old)
		state = *old;
	state.saved = hash;
	put(change, states, name, &state);
}

bool mr_work_draft_is_saved(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_states *states, const char *case_path, const char *name)
{
	const struct mr_work_draft_state *state = mr_work_draft_state_of(states, name);
	struct mr_err kept = cx->err;
	struct mr_bytes bytes = { 0 };
	enum mr_code rc;

	if (!state || !state->saved)
		return false;
	rc = mr_work_read_opt(cx, work, mr_work_draft_path(cx->arena, case_path, name), &bytes);
	cx->err = kept;
	return !rc && bytes.data && mr_str_eq(state->saved, mr_work_draft_hash(cx->arena, bytes));
}
