/* workspace/draft.c - opens, makes, lists and shows drafts. */
#include "workspace/draft.h"

#include "workspace/case_private.h"
#include "workspace/draft_private.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/layout.h"
#include "workspace/refresh.h"

#include <string.h>

const char *mr_work_draft_trim_end(struct mr_arena *arena, const char *text)
{
	size_t len = strlen(text);

	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	return mr_arena_strndup(arena, text, len);
}

/* --- opening --- */

enum mr_code mr_work_draft_missing(struct mr_ctx *cx, const struct mr_work_collection *collection,
	const char *name)
{
	const char *path = mr_work_draft_path(cx->arena, collection->path, name);
	struct mr_texts suggested = mr_work_ids_room(cx->arena, 2);

	mr_work_ids_put(&suggested,
		mr_arena_printf(cx->arena, "afmail case draft remove %s %s --reason TEXT",
			collection->uid, name));
	mr_work_ids_put(&suggested,
		mr_arena_printf(cx->arena, "afmail case draft new %s --to ADDR --subject TEXT",
			collection->uid));
	mr_work_refuse(cx, MR_WORK_DRAFT_NOT_FOUND, "there is no draft %s", path);
	mr_work_detail_text(cx, "case_uid", collection->uid);
	mr_work_detail_text(cx, "draft_name", name);
	mr_work_detail_text(cx, "draft_path", path);
	return mr_work_detail_texts(cx, "suggested_commands", &suggested);
}

static enum mr_code open_in(struct mr_ctx *cx, struct mr_work *work, const char *name,
	struct mr_work_draft *draft)
{
	enum mr_code rc;

	draft->name = name;
	draft->path = mr_work_draft_path(cx->arena, draft->collection.path, name);
	rc = mr_work_read_opt(cx, work, draft->path, &draft->bytes);
	if (!rc && !draft->bytes.data)
		rc = mr_work_draft_missing(cx, &draft->collection, name);
	if (rc)
		return rc;
	rc = mr_work_draft_read(cx, draft->bytes, &draft->file);
	return rc ? mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "%s: %s", name,
			    mr_arena_strdup(cx->arena, cx->err.msg))
		  : MR_OK;
}

enum mr_code mr_work_draft_open(struct mr_ctx *cx, struct mr_work *work, const char *case_ref,
	const char *draft_name, struct mr_work_draft *out)
{
	enum mr_code rc;

	*out = (struct mr_work_draft){ 0 };
	rc = mr_work_case_open(cx, work, case_ref, &out->collection);
	if (!rc)
		rc = mr_work_check_draft_name(cx, draft_name);
	return rc ? rc : open_in(cx, work, draft_name, out);
}

enum mr_code mr_work_draft_item(struct mr_ctx *cx, struct mr_work *work, const char *case_uid,
	const char *name, const struct mr_work_push_item **out)
{
	const struct mr_work_push_items *queue = NULL;
	enum mr_code rc = mr_work_queue_get(cx, work, &queue);

	*out = NULL;
	for (size_t i = 0; !rc && !*out && i < queue->len; i++)
		if (queue->items[i].kind == MR_WORK_PUSH_OUTBOUND &&
			mr_str_eq(queue->items[i].case_uid, case_uid) &&
			mr_str_eq(queue->items[i].draft_name, name))
			*out = &queue->items[i];
	return rc;
}

/* --- making one --- */

enum mr_code mr_work_draft_given_body(struct mr_ctx *cx, const char *body, const char *body_file,
	const char **out)
{
	struct mr_bytes bytes = { 0 };
	enum mr_code rc;

	*out = body;
	if (!body_file)
		return MR_OK;
	if (body)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"body and body_file cannot be given together");
	rc = mr_fs_read(cx->arena, AT_FDCWD, body_file, MR_WORK_DRAFT_BYTES, &bytes, &cx->err);
	if (rc)
		return mr_work_store_error(cx);
	if (memchr(bytes.data, 0, bytes.len))
		return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "%s is not UTF-8 text", body_file);
	*out = (const char *)bytes.data;
	return MR_OK;
}

enum mr_code mr_work_draft_identity(struct mr_ctx *cx, struct mr_work *work, const char *slug,
	const struct mr_work_identity **out)
{
	const struct mr_work_config *config = NULL;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (rc)
		return rc;
	*out = slug ? mr_work_find_identity(config, slug) : mr_work_default_identity(config);
	if (*out)
		return MR_OK;
	return slug ? mr_work_refuse(cx, MR_WORK_DRAFT_INVALID,
			      "there is no identity %s in the configuration", slug)
		    : mr_work_refuse(cx, MR_WORK_DRAFT_INVALID,
			      "there is no default identity in the configuration");
}

/* A name that no draft has, and no queued item waits for. */
static enum mr_code free_name(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection, const char *subject, const char **out)
{
	const char *slug = mr_work_draft_slug(cx->arena, subject);
	enum mr_code rc = MR_OK;

	slug = mr_arena_strndup(cx->arena, slug, MR_WORK_NAME_BYTES);
	for (int again = 1; !rc; again++) {
		const struct mr_work_push_item *item = NULL;
		const char *name = again == 1
			? mr_arena_printf(cx->arena, "new-%s.md", slug)
			: mr_arena_printf(cx->arena, "new-%s-%d.md", slug, again);

		rc = mr_work_draft_item(cx, work, collection->uid, name, &item);
		if (rc || item ||
			mr_fs_exists(work->dir,
				mr_work_draft_path(cx->arena, collection->path, name)))
			continue;
		*out = name;
		return MR_OK;
	}
	return rc;
}

enum mr_code mr_work_draft_new(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_new *request, struct mr_work_draft_created *result)
{
	const struct mr_work_identity *identity = NULL;
	struct mr_work_draft draft = { 0 };
	struct mr_work_change change;
	const char *body = NULL;
	enum mr_code rc = mr_work_case_open(cx, work, request->case_ref, &draft.collection);

	if (!rc)
		rc = mr_work_draft_identity(cx, work, request->identity, &identity);
	if (!rc)
		rc = mr_work_draft_given_body(cx, request->body, request->body_file, &body);
	if (!rc && !body)
		rc = mr_work_draft_scaffold(cx, work, NULL, &body);
	if (!rc)
		rc = free_name(cx, work, &draft.collection, request->subject, &draft.name);
	if (rc)
		return rc;
	draft.path = mr_work_draft_path(cx->arena, draft.collection.path, draft.name);
	draft.file = (struct mr_work_draft_file){ .kind = "draft",
		.case_uid = draft.collection.uid,
		.send_intent = "new",
		.identity = identity->identity,
		.subject = mr_str_trim(cx->arena, request->subject),
		.to = request->to,
		.cc = request->cc,
		.body = mr_work_draft_add_footer(cx->arena, body, identity->footer) };
	if (!*draft.file.subject)
		draft.file.subject = NULL;
	/* What was given here is right, or the caller wants to know now. */
	rc = mr_work_draft_check(cx, work, &draft);
	if (!rc)
		rc = mr_work_draft_write(cx, &draft.file, &draft.bytes);
	if (rc)
		return rc;
	mr_work_change_begin(cx, work, "draft_write", &change);
	mr_work_change_write(&change, draft.path, draft.bytes);
	*result = (struct mr_work_draft_created){ draft.collection.uid, NULL, draft.name,
		draft.path, identity->identity };
	return mr_work_carry_out(cx, &change);
}

/* --- looking at them --- */

static void show_attachments(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft *draft, struct mr_work_draft_shown *result)
{
	const struct mr_texts *paths = &draft->file.attachments;
	struct mr_err kept = cx->err;

	result->attachments =
		mr_arena_array(cx->arena, paths->len + 1, sizeof(*result->attachments));
	for (size_t i = 0; i < paths->len; i++) {
		struct mr_work_draft_attachment *to = &result->attachments[i];
		int fd MR_CLEANUP(mr_fs_closep) = -1;

		to->path = paths->items[i];
		to->exists = !mr_work_draft_file_open(cx, work, draft->collection.path, to->path,
			&fd, &to->size_bytes);
		to->has_size = to->exists;
	}
	result->attachments_len = paths->len;
	cx->err = kept;
}

/* The file ends in a newline that is not the text's. */
static const char *shown_body(struct mr_arena *arena, const char *body)
{
	size_t len = strlen(body);

	return mr_arena_strndup(arena, body, len && body[len - 1] == '\n' ? len - 1 : len);
}

enum mr_code mr_work_draft_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_ref *request, struct mr_work_draft_shown *result)
{
	const struct mr_work_draft_state *state = NULL;
	const struct mr_work_push_item *item = NULL;
	struct mr_work_draft_states states = { 0 };
	struct mr_work_draft draft;
	enum mr_code rc =
		mr_work_draft_open(cx, work, request->case_ref, request->draft_name, &draft);

	if (!rc)
		rc = mr_work_draft_states_load(cx, work, draft.collection.path, &states);
	if (!rc)
		rc = mr_work_draft_item(cx, work, draft.collection.uid, draft.name, &item);
	if (rc)
		return rc;
	state = mr_work_draft_state_of(&states, draft.name);
	*result = (struct mr_work_draft_shown){ .case_uid = draft.collection.uid,
		.draft_name = draft.name,
		.draft_path = draft.path,
		.subject = draft.file.subject,
		.identity = draft.file.identity,
		.to = draft.file.to,
		.cc = draft.file.cc,
		.body = shown_body(cx->arena, draft.file.body),
		.queued_action = item ? mr_work_push_action_names[item->action] : NULL,
		.push_id = item ? item->push_id : NULL,
		.send_intent = draft.file.send_intent,
		.reply_to_message_id = draft.file.reply_to_message_id,
		.last_validated_rfc3339 = state ? state->validated : NULL,
		.validated_current = state &&
			mr_str_eq(state->hash, mr_work_draft_hash(cx->arena, draft.bytes)) };
	show_attachments(cx, work, &draft, result);
	return MR_OK;
}

static enum mr_code list_one(struct mr_ctx *cx, struct mr_work *work, struct mr_work_draft *draft,
	const char *name, struct mr_work_draft_row *out)
{
	const struct mr_work_push_item *item = NULL;
	struct mr_err kept = cx->err;
	enum mr_code rc = mr_work_draft_item(cx, work, draft->collection.uid, name, &item);

	if (rc)
		return rc;
	rc = open_in(cx, work, name, draft);
	if (!rc)
		rc = mr_work_draft_check(cx, work, draft);
	*out = (struct mr_work_draft_row){ .draft_name = name,
		.draft_path = draft->path,
		.subject = draft->file.subject,
		.identity = draft->file.identity,
		.send_intent = draft->file.send_intent,
		.reply_to_message_id = draft->file.reply_to_message_id,
		.to = draft->file.to,
		.cc = draft->file.cc,
		.queued_action = item ? mr_work_push_action_names[item->action] : NULL,
		.push_id = item ? item->push_id : NULL,
		.draft_valid = !rc,
		.draft_error = rc ? mr_arena_strdup(cx->arena, cx->err.msg) : NULL };
	cx->err = kept;
	return MR_OK;
}

/* The drafts of a case, behind those that are listed already. */
static enum mr_code list_case(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection, struct mr_work_draft_listed *listed)
{
	struct mr_work_draft_row *rows;
	struct mr_texts names = { 0 };
	enum mr_code rc =
		mr_work_list(cx, work, mr_work_join(cx->arena, collection->path, "drafts"), &names);

	if (rc || !names.len)
		return rc;
	rows = mr_arena_array(cx->arena, listed->len + names.len, sizeof(*rows));
	if (listed->len)
		memcpy(rows, listed->items, listed->len * sizeof(*rows));
	listed->items = rows;
	for (size_t i = 0; !rc && i < names.len; i++) {
		struct mr_work_draft draft = { .collection = *collection };

		if (names.items[i][0] == '.' || !mr_str_ends(names.items[i], ".md"))
			continue;
		rc = list_one(cx, work, &draft, names.items[i], &rows[listed->len++]);
	}
	return rc;
}

static enum mr_code list_all(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_draft_listed *listed)
{
	struct mr_work_places places = { 0 };
	enum mr_code rc = mr_work_places(cx, work, MR_WORK_ACTIVE_CASE, &places);

	for (size_t i = 0; !rc && i < places.len; i++) {
		const char *drafts = mr_work_join(cx->arena, places.items[i].path, "drafts");
		struct mr_work_collection collection = { 0 };
		struct mr_err kept = cx->err;
		size_t first = listed->len;

		if (!mr_work_is_dir(work, drafts))
			continue;
		if (mr_work_case_load(cx, work, &places.items[i], &collection)) {
			cx->err = kept;
			continue;
		}
		rc = list_case(cx, work, &collection, listed);
		for (; first < listed->len; first++) {
			listed->items[first].case_uid = collection.uid;
			listed->items[first].case_name = collection.name;
		}
	}
	return rc;
}

enum mr_code mr_work_draft_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_list *request, struct mr_work_draft_listed *result)
{
	struct mr_work_collection collection = { 0 };
	struct mr_work_draft_listed listed = { 0 };
	enum mr_code rc;

	if (request->case_ref) {
		rc = mr_work_case_open(cx, work, request->case_ref, &collection);
		if (!rc)
			rc = list_case(cx, work, &collection, &listed);
		listed.case_uid = collection.uid;
	} else {
		rc = list_all(cx, work, &listed);
	}
	if (rc)
		return rc;
	listed.count = (int64_t)listed.len;
	*result = listed;
	return MR_OK;
}
