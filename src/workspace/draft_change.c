/* workspace/draft_change.c - changes drafts, and attaches files to them. */
#include "base/fs.h"
#include "text/file_name.h"
#include "workspace/draft_private.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/layout.h"
#include "workspace/refresh.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- changing --- */

static bool is_same(const struct mr_texts *a, const struct mr_texts *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (!mr_str_eq(a->items[i], b->items[i]))
			return false;
	return true;
}

/* The new identity, with its footer in place of the old one's. */
static enum mr_code switch_identity(struct mr_ctx *cx, struct mr_work *work, const char *slug,
	struct mr_work_draft_file *file)
{
	const struct mr_work_identity *identity = NULL, *old = NULL;
	struct mr_err kept = cx->err;
	enum mr_code rc = mr_work_draft_identity(cx, work, slug, &identity);

	if (rc)
		return rc;
	/* One that is not known any more has no footer to take away. */
	if (mr_work_draft_identity(cx, work, file->identity, &old)) {
		cx->err = kept;
		old = NULL;
	}
	if (old)
		file->body = mr_work_draft_cut_footer(cx->arena, file->body, old->footer);
	file->body = mr_work_draft_add_footer(cx->arena, file->body, identity->footer);
	file->identity = identity->identity;
	return MR_OK;
}

static enum mr_code apply(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_change *request, struct mr_work_draft_file *file)
{
	const char *body = NULL;
	enum mr_code rc = MR_OK;

	if (request->clear_cc && request->cc.len)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"cc and clear_cc cannot be given together");
	rc = mr_work_draft_given_body(cx, request->body, request->body_file, &body);
	if (rc)
		return rc;
	if (request->subject) {
		const char *subject = mr_str_trim(cx->arena, request->subject);

		file->subject = *subject ? subject : NULL;
	}
	if (request->to.len)
		file->to = request->to;
	if (request->cc.len || request->clear_cc)
		file->cc = request->cc;
	if (body)
		file->body = body;
	if (request->identity)
		rc = switch_identity(cx, work, request->identity, file);
	return rc;
}

/* The footer that comes with another identity is not a change of the body by itself. */
static void compare(struct mr_arena *arena, const struct mr_work_draft_change *request,
	const struct mr_work_draft_file *old, const struct mr_work_draft_file *file,
	struct mr_texts *out)
{
	*out = mr_work_ids_room(arena, 5);
	if (!mr_str_eq(old->subject, file->subject))
		mr_work_ids_put(out, "subject");
	if (!is_same(&old->to, &file->to))
		mr_work_ids_put(out, "to");
	if (!is_same(&old->cc, &file->cc))
		mr_work_ids_put(out, "cc");
	if ((request->body || request->body_file) &&
		!mr_str_eq(mr_work_draft_trim_end(arena, old->body),
			mr_work_draft_trim_end(arena, file->body)))
		mr_work_ids_put(out, "body");
	if (!mr_str_eq(old->identity, file->identity))
		mr_work_ids_put(out, "identity");
}

static void add_event(struct mr_work_change *change, const struct mr_work_draft *draft,
	const struct mr_texts *fields, const char *hash)
{
	struct mr_work_event event;

	mr_work_event_begin(change, "draft_changed",
		MR_WORK_TARGETS({ "case", draft->collection.uid }), NULL, &event);
	mr_out_text(&event.out, "case_uid", draft->collection.uid);
	mr_out_text(&event.out, "draft_name", draft->name);
	mr_out_text(&event.out, "draft_path", draft->path);
	mr_out_texts(&event.out, "changed_fields", fields);
	mr_out_text(&event.out, "draft_hash", hash);
	mr_work_event_end(&event);
}

enum mr_code mr_work_draft_change(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_change *request, struct mr_work_draft_changed *result)
{
	struct mr_work_draft_states states = { 0 };
	struct mr_work_draft_file old;
	struct mr_work_draft draft;
	struct mr_work_change change;
	struct mr_texts fields = { 0 };
	const char *hash;
	enum mr_code rc =
		mr_work_draft_open(cx, work, request->case_ref, request->draft_name, &draft);

	if (rc)
		return rc;
	old = draft.file;
	rc = apply(cx, work, request, &draft.file);
	if (!rc)
		rc = mr_work_draft_check(cx, work, &draft);
	if (!rc)
		rc = mr_work_draft_states_load(cx, work, draft.collection.path, &states);
	if (rc)
		return rc;
	mr_work_change_begin(cx, work, "draft_write", &change);
	compare(cx->arena, request, &old, &draft.file, &fields);
	if (fields.len) {
		rc = mr_work_draft_write(cx, &draft.file, &draft.bytes);
		if (rc)
			return rc;
		mr_work_change_write(&change, draft.path, draft.bytes);
	}
	hash = mr_work_draft_hash(cx->arena, draft.bytes);
	mr_work_draft_state_put(&change, &states, draft.name, hash);
	if (fields.len)
		add_event(&change, &draft, &fields, hash);
	*result = (struct mr_work_draft_changed){ draft.collection.uid, draft.name, draft.path,
		fields, hash, work->now };
	return mr_work_carry_out(cx, &change);
}

/* --- attaching --- */

static enum mr_code read_source(struct mr_ctx *cx, const char *path, const char **out_path,
	struct mr_bytes *out)
{
	char *real = realpath(path, NULL);
	struct stat st;
	enum mr_code rc;

	if (!real)
		return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "there is no file %s to attach",
			path);
	*out_path = mr_arena_strdup(cx->arena, real);
	free(real);
	if (stat(*out_path, &st) != 0 || !S_ISREG(st.st_mode))
		return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID,
			"%s is not a file that can be attached", path);
	rc = mr_fs_read(cx->arena, AT_FDCWD, *out_path, MR_WORK_DRAFT_ATTACHED_BYTES, out,
		&cx->err);
	return rc ? mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "%s", cx->err.msg) : MR_OK;
}

/* The path below the case, or NULL when the file is elsewhere. */
static const char *inside(struct mr_ctx *cx, struct mr_work *work, const char *case_path,
	const char *source)
{
	char *real = realpath(mr_work_join(cx->arena, work->root, case_path), NULL);
	const char *below = NULL;
	size_t len = real ? strlen(real) : 0;

	if (real && mr_str_starts(source, real) && source[len] == '/')
		below = mr_arena_strdup(cx->arena, source + len + 1);
	free(real);
	return below;
}

static bool has_bytes(struct mr_ctx *cx, struct mr_work *work, const char *path,
	struct mr_bytes bytes)
{
	struct mr_bytes there = { 0 };
	struct mr_err err = { 0 };

	return !mr_fs_read(cx->arena, work->dir, path, MR_WORK_DRAFT_ATTACHED_BYTES, &there,
		       &err) &&
		there.len == bytes.len &&
		(!bytes.len || memcmp(there.data, bytes.data, bytes.len) == 0);
}

/* "name.pdf", "1-name.pdf", "2-name.pdf". */
static const char *numbered(struct mr_arena *arena, const char *name, int number)
{
	return number ? mr_file_name_safe(arena, mr_arena_printf(arena, "%d-%s", number, name),
				"attachment")
		      : name;
}

/* A copy in files/: the one that is attached already when it has the same content, else one under
 * a free name. */
static void place_copy(struct mr_ctx *cx, struct mr_work *work, const struct mr_work_draft *draft,
	struct mr_bytes bytes, struct mr_work_draft_attached *result)
{
	const char *name = strrchr(result->source_path, '/') + 1;

	name = mr_file_name_safe(cx->arena, name, "attachment");
	for (int number = 0;; number++) {
		const char *attachment =
			mr_work_join(cx->arena, "files", numbered(cx->arena, name, number));
		const char *path = mr_work_join(cx->arena, draft->collection.path, attachment);
		bool is_there = mr_fs_exists(work->dir, path);

		if (is_there &&
			!(mr_texts_has(&draft->file.attachments, attachment) &&
				has_bytes(cx, work, path, bytes)))
			continue;
		result->attachment = attachment;
		result->file_path = path;
		result->copied = !is_there;
		result->already_present = is_there;
		return;
	}
}

enum mr_code mr_work_draft_attach(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_attach *request, struct mr_work_draft_attached *result)
{
	struct mr_work_draft draft;
	struct mr_work_change change;
	struct mr_bytes bytes = { 0 };
	struct mr_texts listed, fields;
	enum mr_code rc =
		mr_work_draft_open(cx, work, request->case_ref, request->draft_name, &draft);

	*result = (struct mr_work_draft_attached){ .requires_validate = true };
	if (!rc)
		rc = read_source(cx, request->path, &result->source_path, &bytes);
	if (rc)
		return rc;
	result->case_uid = draft.collection.uid;
	result->draft_name = draft.name;
	result->draft_path = draft.path;
	result->size_bytes = (int64_t)bytes.len;
	result->attachment = inside(cx, work, draft.collection.path, result->source_path);
	if (result->attachment) {
		result->file_path =
			mr_work_join(cx->arena, draft.collection.path, result->attachment);
		result->already_present = mr_texts_has(&draft.file.attachments, result->attachment);
	} else {
		place_copy(cx, work, &draft, bytes, result);
	}
	if (result->already_present)
		return MR_OK;
	listed = mr_work_ids_room(cx->arena, draft.file.attachments.len + 1);
	for (size_t i = 0; i < draft.file.attachments.len; i++)
		mr_work_ids_put(&listed, draft.file.attachments.items[i]);
	if (!mr_texts_has(&listed, result->attachment))
		mr_work_ids_put(&listed, result->attachment);
	draft.file.attachments = listed;
	rc = mr_work_draft_write(cx, &draft.file, &draft.bytes);
	if (rc)
		return rc;
	mr_work_change_begin(cx, work, "draft_write", &change);
	if (result->copied)
		mr_work_change_write(&change, result->file_path, bytes);
	mr_work_change_write(&change, draft.path, draft.bytes);
	fields = mr_work_ids_one(cx->arena, "attachments");
	add_event(&change, &draft, &fields, mr_work_draft_hash(cx->arena, draft.bytes));
	return mr_work_carry_out(cx, &change);
}
