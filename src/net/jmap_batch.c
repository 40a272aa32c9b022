/*
 * net/jmap_batch.c - JMAP requests: method calls written, split to what the server takes at once,
 * sent, asked again where nothing was done, and their results put together.
 */
#include "net/jmap_method.h"
#include "net/jmap_result.h"
#include "net/jmap_wire.h"

#include <string.h>

enum {
	REQUEST_BYTES_MAX = 256 << 20, /* whatever a server says that it takes */
	ENVELOPE_BYTES = 512,          /* "using" and what stands around the calls */
};

struct batch {
	struct mr_ctx *cx;
	struct mr_jmap *jmap;
	const struct mr_jmap_session *session;
	const struct mr_jmap_request *request;
	enum mr_jmap_kind kind;
	struct mr_jmap_part *parts;
	size_t len;
	size_t from, to; /* the group: the parts of the next request */
	struct mr_buf text, call;
	bool has_changed; /* a request that changes something was carried out */
	const char *session_state;
	struct mr_jmap_patience patience;
};

/* Replace part number `at` by pieces with at most `size` objects each. */
static void split(struct batch *batch, size_t at, size_t size)
{
	struct mr_arena *arena = batch->cx->arena;
	struct mr_jmap_part whole = batch->parts[at];
	const char *method = whole.call->name;
	size_t objects = mr_jmap_objects_of(method, whole.args);
	size_t pieces = (objects + size - 1) / size;
	struct mr_jmap_part *parts =
		mr_arena_array(arena, batch->len + pieces - 1, sizeof(*batch->parts));

	memcpy(parts, batch->parts, at * sizeof(*parts));
	memcpy(parts + at + pieces, batch->parts + at + 1, (batch->len - at - 1) * sizeof(*parts));
	for (size_t i = 0; i < pieces; i++) {
		parts[at + i] = (struct mr_jmap_part){ .call = whole.call };
		parts[at + i].args = mr_jmap_piece_of(arena, method, whole.args, i * size, size);
	}
	batch->parts = parts;
	batch->len += pieces - 1;
}

static size_t objects_allowed(const struct batch *batch, const char *method)
{
	int64_t limit = mr_jmap_is_change(method) ? batch->session->limits.sets
						  : batch->session->limits.gets;

	return (uint64_t)limit < SIZE_MAX / 2 ? (size_t)limit : SIZE_MAX / 2;
}

/* --- references --- */

static void fail_part(struct batch *batch, struct mr_jmap_part *part, const char *type,
	const char *why)
{
	struct mr_arena *arena = batch->cx->arena;
	struct mr_value *value = mr_arena_alloc(arena, sizeof(*value));

	value->kind = MR_MAP;
	value->map.len = 2;
	value->map.pairs = mr_arena_array(arena, 2, sizeof(struct mr_pair));
	value->map.pairs[0] = (struct mr_pair){ "type", { .kind = MR_TEXT, .text = type } };
	value->map.pairs[1] = (struct mr_pair){ "description", { .kind = MR_TEXT, .text = why } };
	part->results = mr_arena_alloc(arena, sizeof(*part->results));
	part->results[0] = (struct mr_jmap_result){ "error", part->call->id, value };
	part->len = 1;
}

/* The parts of the call with this id: how many, from `*out_first` on. */
static size_t parts_of(const struct batch *batch, const char *id, size_t *out_first)
{
	size_t count = 0;

	for (size_t i = 0; i < batch->len; i++) {
		if (strcmp(batch->parts[i].call->id, id) != 0)
			continue;
		if (!count++)
			*out_first = i;
	}
	return count;
}

enum reach {
	IS_HERE,   /* answered by an earlier request */
	IS_GROUP,  /* in the same request: the server resolves it */
	IS_SPLIT,  /* its last pieces are in the same request, which has to end before this part */
	IS_NOTHING /* no earlier call */
};

static enum reach reach_of(const struct batch *batch, const struct mr_value *reference, size_t at,
	size_t *out_first, size_t *out_count)
{
	const char *id = mr_value_text(reference, "resultOf");

	*out_count = id ? parts_of(batch, id, out_first) : 0;
	if (!*out_count || *out_first >= at)
		return IS_NOTHING;
	if (*out_first + *out_count <= batch->from)
		return IS_HERE;
	return *out_count == 1 ? IS_GROUP : IS_SPLIT;
}

/* What a reference to a result that we have finds. */
static const struct mr_value *resolve(const struct batch *batch, const struct mr_value *reference,
	size_t first, size_t count)
{
	const char *name = mr_value_text(reference, "name");
	const char *path = mr_value_text(reference, "path");
	struct mr_jmap_result result = mr_jmap_merge(batch->cx->arena, batch->parts + first, count);

	if (!name || !path || !result.name || strcmp(result.name, name) != 0)
		return NULL;
	return mr_jmap_point(batch->cx->arena, result.value, path);
}

/*
 * Resolve what references of part number `at` we can. `*out_ends`: the group has to end before it.
 * A reference that leads nowhere fails the part.
 */
static void resolve_part(struct batch *batch, size_t at, bool *out_ends)
{
	struct mr_jmap_part *part = &batch->parts[at];
	struct mr_arena *arena = batch->cx->arena;
	struct mr_value args = *part->args;

	*out_ends = false;
	part->was_referring = false;
	args.map.pairs = mr_arena_array(arena, args.map.len, sizeof(struct mr_pair));
	for (size_t i = 0; i < args.map.len; i++) {
		struct mr_pair *pair = &args.map.pairs[i];
		const struct mr_value *found;
		size_t first = 0, count = 0;

		*pair = part->args->map.pairs[i];
		if (pair->key[0] != '#')
			continue;
		switch (reach_of(batch, &pair->value, at, &first, &count)) {
		case IS_GROUP:
			part->was_referring = true;
			continue;
		case IS_SPLIT:
			*out_ends = true;
			return;
		case IS_NOTHING:
			fail_part(batch, part, "invalidResultReference",
				"it refers to no earlier call");
			return;
		case IS_HERE:
			break;
		}
		found = resolve(batch, &pair->value, first, count);
		if (!found) {
			fail_part(batch, part, "invalidResultReference",
				"the call that it refers to has no such result");
			return;
		}
		pair->key++;
		pair->value = *found;
	}
	part->args = mr_arena_memdup(arena, &args, sizeof(args));
}

/* --- a request --- */

/* Pieces of one change follow each other: each is based on the state that the last one left. */
static const struct mr_value *state_before(const struct batch *batch, size_t at,
	const struct mr_value *given)
{
	const struct mr_jmap_part *before = at ? &batch->parts[at - 1] : NULL;
	const struct mr_value *state = NULL;

	if (before && before->call == batch->parts[at].call && before->len)
		state = mr_value_get(before->results[0].value, "newState");
	return state ? state : given;
}

static void write_call(struct batch *batch, size_t at)
{
	const struct mr_jmap_part *part = &batch->parts[at];
	const struct mr_jmap_call *call = part->call;
	const struct mr_jmap_noun *noun = mr_jmap_noun_of(call->name);
	struct mr_json_writer json;

	mr_buf_clear(&batch->call);
	mr_json_init(&json, &batch->call, MR_JSON_COMPACT);
	mr_json_begin_list(&json);
	mr_json_text(&json, call->name);
	mr_json_begin_map(&json);
	if (!mr_value_get(part->args, "accountId") && strcmp(noun->name, "Core") != 0) {
		mr_json_key(&json, "accountId");
		mr_json_text(&json,
			noun->is_submission ? batch->session->submission_account
					    : batch->session->mail_account);
	}
	for (size_t i = 0; i < part->args->map.len; i++) {
		const struct mr_pair *pair = &part->args->map.pairs[i];
		bool is_state = strcmp(pair->key, "ifInState") == 0;

		mr_json_key(&json, pair->key);
		mr_json_value(&json,
			is_state ? state_before(batch, at, &pair->value) : &pair->value);
	}
	mr_json_end(&json);
	mr_json_text(&json, call->id);
	mr_json_end(&json);
}

/* What earlier requests of this batch created, which calls can name by "#id". */
static void write_created(struct batch *batch, struct mr_json_writer *json)
{
	mr_json_key(json, "createdIds");
	mr_json_begin_map(json);
	for (size_t i = 0; i < batch->from; i++) {
		const struct mr_jmap_part *part = &batch->parts[i];
		const struct mr_value *created =
			part->len ? mr_value_get(part->results[0].value, "created") : NULL;

		for (size_t j = 0; created && created->kind == MR_MAP && j < created->map.len;
			j++) {
			const char *id = mr_value_text(&created->map.pairs[j].value, "id");

			if (!id)
				continue;
			mr_json_key(json, created->map.pairs[j].key);
			mr_json_text(json, id);
		}
	}
	mr_json_end(json);
}

static void write_using(const struct batch *batch, struct mr_json_writer *json)
{
	struct mr_texts used = {
		mr_arena_array(batch->cx->arena, MR_JMAP_CAPABILITIES, sizeof(const char *)), 0
	};

	used.items[used.len++] = "core";
	for (size_t i = batch->from; i < batch->to; i++) {
		const struct mr_jmap_noun *noun = mr_jmap_noun_of(batch->parts[i].call->name);

		/* A submission can change mails when it was sent. */
		if (noun->is_submission && !mr_texts_has(&used, "mail"))
			used.items[used.len++] = "mail";
		if (!mr_texts_has(&used, noun->capability))
			used.items[used.len++] = noun->capability;
	}
	mr_json_key(json, "using");
	mr_json_begin_list(json);
	for (size_t i = 0; i < used.len; i++)
		mr_json_text(json,
			mr_arena_printf(batch->cx->arena, "urn:ietf:params:jmap:%s",
				used.items[i]));
	mr_json_end(json);
}

static enum mr_code too_large(struct batch *batch, const char *method)
{
	mr_err_set(&batch->cx->err, MR_ELIMIT,
		"%s: the call is larger than the %lld bytes that %s takes", method,
		(long long)batch->session->limits.request_bytes, batch->jmap->host);
	return batch->has_changed ? MR_ELIMIT : mr_err_word(&batch->cx->err, mr_jmap_not_done);
}

/*
 * Choose the parts of the next request, from batch->from on, and write their calls, with commas,
 * into batch->text. Parts that failed before they were sent, and stand first, are passed.
 */
static enum mr_code make_group(struct batch *batch)
{
	size_t room = (size_t)batch->session->limits.request_bytes;

	room = room > ENVELOPE_BYTES * 2 ? room - ENVELOPE_BYTES : room;
	mr_buf_clear(&batch->text);
	batch->to = batch->from;
	while (batch->to < batch->len &&
		batch->to - batch->from < (size_t)batch->session->limits.calls) {
		size_t at = batch->to;
		const char *method = batch->parts[at].call->name;
		size_t objects;
		bool ends;

		/* One piece of a call a request: answers stay small. */
		if (at > batch->from && batch->parts[at].call == batch->parts[at - 1].call)
			break;
		resolve_part(batch, at, &ends);
		if (ends || (batch->parts[at].len && at > batch->from))
			break;
		if (batch->parts[at].len) {
			batch->from = ++batch->to;
			continue;
		}
		objects = mr_jmap_objects_of(method, batch->parts[at].args);
		if (objects > objects_allowed(batch, method)) {
			split(batch, at, objects_allowed(batch, method));
			continue;
		}
		write_call(batch, at);
		if (batch->text.len + batch->call.len + 1 > room || batch->call.failed) {
			if (at > batch->from)
				break;
			if (objects < 2)
				return too_large(batch, method);
			split(batch, at, (objects + 1) / 2);
			continue;
		}
		if (at > batch->from)
			mr_buf_putc(&batch->text, ',');
		mr_buf_add(&batch->text, batch->call.data, batch->call.len);
		batch->to++;
	}
	return MR_OK;
}

/* Only the errors of a result may be changed: mails can hold what looks like a secret. */
static void hide_in_errors(const struct mr_jmap *jmap, const struct mr_jmap_result *result)
{
	static const char *const keys[] = { "notCreated", "notUpdated", "notDestroyed" };

	if (strcmp(result->name, "error") == 0)
		mr_jmap_hide_secrets(jmap, result->value);
	for (size_t i = 0; i < MR_LEN(keys); i++) {
		const struct mr_value *errors = mr_value_get(result->value, keys[i]);

		if (errors)
			mr_jmap_hide_secrets(jmap, errors);
	}
}

/* Give each part of the group its results, in the order in which they came. */
static void deal_results(struct batch *batch, const struct mr_jmap_response *response)
{
	for (size_t i = batch->from; i < batch->to; i++) {
		struct mr_jmap_part *part = &batch->parts[i];
		const char *id = part->call->id;

		part->len = 0;
		part->results =
			mr_arena_array(batch->cx->arena, response->len, sizeof(*part->results));
		for (size_t j = 0; j < response->len; j++) {
			if (strcmp(response->items[j].id, id) != 0)
				continue;
			hide_in_errors(batch->jmap, &response->items[j]);
			part->results[part->len++] = response->items[j];
		}
	}
}

static enum mr_code send_group(struct batch *batch)
{
	struct mr_buf body MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_http_client_response answer;
	struct mr_jmap_response response;
	struct mr_jmap_exchange exchange = { .url = batch->session->api_url,
		.media_type = "application/json",
		.kind = batch->kind,
		.max_bytes = MR_JMAP_ANSWER_BYTES };
	struct mr_json_writer json;
	enum mr_code rc;

	mr_buf_init(&body, REQUEST_BYTES_MAX + (64U << 20));
	mr_json_init(&json, &body, MR_JSON_COMPACT);
	mr_json_begin_map(&json);
	write_using(batch, &json);
	if (batch->from && strstr(mr_buf_text(&batch->text), "\"#"))
		write_created(batch, &json);
	mr_json_key(&json, "methodCalls");
	mr_json_raw(&json,
		mr_bytes_text(
			mr_arena_printf(batch->cx->arena, "[%s]", mr_buf_text(&batch->text))));
	mr_json_end(&json);
	exchange.body = mr_buf_bytes(&body);
	rc = mr_jmap_exchange(batch->cx, batch->jmap, &exchange, &batch->patience, &answer);
	if (rc && (answer.status == 404 || answer.status == 410)) {
		batch->jmap->is_stale = true; /* its address has changed */
		mr_err_set(&batch->cx->err, MR_EREMOTE,
			"%s does not answer at the address of its session", batch->jmap->host);
		return mr_err_word(&batch->cx->err, mr_jmap_not_done);
	}
	if (rc)
		return rc;
	if (mr_jmap_response_parse(batch->cx->arena, answer.body, &response, &batch->cx->err)) {
		batch->cx->err.code = MR_EREMOTE;
		return mr_err_wrap(&batch->cx->err, "%s", batch->jmap->host);
	}
	batch->session_state = response.session_state;
	deal_results(batch, &response);
	return MR_OK;
}

/* --- what may be asked again --- */

static bool wants_later(const struct batch *batch, const struct mr_jmap_part *part, bool *out_now)
{
	*out_now = false;
	if (mr_jmap_part_is_error(part, "serverUnavailable") ||
		mr_jmap_part_is_error(part, "rateLimit") ||
		mr_jmap_part_is_refused(part, "rateLimit"))
		return true;
	/* It came to more objects than the server takes at once; we resolve and split it. */
	if (mr_jmap_part_is_error(part, "requestTooLarge") && part->was_referring &&
		part > batch->parts) {
		*out_now = true;
		return true;
	}
	return false;
}

/* The first part of the group that is to be asked again, with all that follow it; else batch->to.
 */
static size_t find_again(struct batch *batch, bool *out_now)
{
	size_t at = batch->from;

	*out_now = false;
	while (at < batch->to && !wants_later(batch, &batch->parts[at], out_now))
		at++;
	for (size_t i = at; i < batch->to; i++) {
		if (!mr_jmap_part_is_harmless(&batch->parts[i]))
			return batch->to;
	}
	/* Without a part before it in the same request, it is as it was sent. */
	if (at < batch->to && *out_now && at == batch->from)
		return batch->to;
	return at;
}

static void note_changes(struct batch *batch, size_t to)
{
	for (size_t i = batch->from; i < to; i++) {
		if (mr_jmap_is_change(batch->parts[i].call->name))
			batch->has_changed = true;
	}
}

static enum mr_code run(struct batch *batch)
{
	while (batch->from < batch->len) {
		enum mr_code rc = make_group(batch);
		size_t again;
		bool now;

		if (!rc && batch->from < batch->to)
			rc = send_group(batch);
		if (rc) {
			/* That this request was not carried out says nothing of those before. */
			if (batch->has_changed && batch->cx->err.word == mr_jmap_not_done)
				batch->cx->err.word = NULL;
			return rc;
		}
		again = find_again(batch, &now);
		if (again < batch->to &&
			(now || mr_jmap_wait(batch->cx, batch->jmap, &batch->patience, 0))) {
			for (size_t i = again; i < batch->to; i++)
				batch->parts[i].len = 0;
		} else {
			again = batch->to;
		}
		note_changes(batch, again);
		batch->from = again;
	}
	return MR_OK;
}

/* --- asking --- */

static void collect(const struct batch *batch, struct mr_jmap_response *out)
{
	size_t len = 0;
	size_t count;

	for (size_t i = 0; i < batch->len; i++)
		len += batch->parts[i].len;
	*out = (struct mr_jmap_response){ .session_state = batch->session_state };
	out->items = mr_arena_array(batch->cx->arena, len, sizeof(*out->items));
	for (size_t i = 0; i < batch->len; i += count) {
		const struct mr_jmap_part *part = &batch->parts[i];
		struct mr_jmap_result result;

		count = 1;
		while (i + count < batch->len && batch->parts[i + count].call == part->call)
			count++;
		result = mr_jmap_merge(batch->cx->arena, part, count);
		if (result.name)
			out->items[out->len++] = result;
		for (size_t j = 1; count == 1 && j < part->len; j++)
			out->items[out->len++] = part->results[j];
	}
}

/* Which is a mistake of ours, or what this server cannot do. */
static enum mr_code check_calls(struct batch *batch)
{
	for (size_t i = 0; i < batch->request->len; i++) {
		const char *method = batch->request->calls[i].name;
		const struct mr_jmap_noun *noun = mr_jmap_noun_of(method);

		if (!noun)
			return mr_err_set(&batch->cx->err, MR_EINVAL,
				"%s is no method that is known here", method);
		if (noun->is_submission && !batch->session->submission_account) {
			mr_err_set(&batch->cx->err, MR_EPERM,
				"%s does not let this account send mail", batch->jmap->host);
			return mr_err_word(&batch->cx->err, mr_jmap_not_done);
		}
	}
	return MR_OK;
}

/* A session that answers name differently from ours is fetched again, once for each name: some
 * servers never give both the same. */
static void compare_session(struct batch *batch)
{
	struct mr_jmap *jmap = batch->jmap;
	const char *state = batch->session_state;

	if (!state || mr_str_eq(state, jmap->session.state) || mr_str_eq(state, jmap->newer_state))
		return;
	jmap->newer_state = mr_arena_strdup(jmap->arena, state);
	jmap->is_stale = true;
}

static bool knows_no_account(const struct batch *batch)
{
	for (size_t i = 0; i < batch->len; i++) {
		if (!mr_jmap_part_is_error(&batch->parts[i], "accountNotFound"))
			return false;
	}
	return batch->len > 0;
}

static enum mr_code ask(struct batch *batch, struct mr_jmap_response *out)
{
	struct mr_ctx *cx = batch->cx;
	const struct mr_jmap_request *request = batch->request;
	enum mr_code rc = mr_jmap_session(cx, batch->jmap, &batch->session);

	if (rc)
		return mr_err_word(&cx->err, mr_jmap_not_done);
	rc = check_calls(batch);
	if (rc)
		return rc;
	batch->parts = mr_arena_array(cx->arena, request->len, sizeof(*batch->parts));
	batch->len = request->len;
	batch->from = 0;
	for (size_t i = 0; i < request->len; i++)
		batch->parts[i] = (struct mr_jmap_part){ .call = &request->calls[i],
			.args = request->calls[i].args };
	rc = run(batch);
	if (rc)
		return rc;
	if (knows_no_account(batch))
		batch->jmap->is_stale = true;
	collect(batch, out);
	return MR_OK;
}

enum mr_code mr_jmap_ask(struct mr_ctx *cx, struct mr_jmap *jmap,
	const struct mr_jmap_request *request, enum mr_jmap_kind kind, struct mr_jmap_response *out)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf call MR_CLEANUP(mr_buf_release) = { 0 };
	struct batch batch = { .cx = cx, .jmap = jmap, .request = request, .kind = kind };
	bool was_recalled = jmap->is_recalled;
	enum mr_code rc;

	mr_buf_init(&text, REQUEST_BYTES_MAX);
	mr_buf_init(&call, REQUEST_BYTES_MAX);
	batch.text = text;
	batch.call = call;
	rc = ask(&batch, out);
	/* What was remembered is out of date: nothing was done by it. */
	if (was_recalled && jmap->is_stale && !batch.has_changed &&
		(rc || knows_no_account(&batch)))
		rc = ask(&batch, out);
	text = batch.text;
	call = batch.call;
	if (!rc)
		compare_session(&batch);
	return rc;
}
