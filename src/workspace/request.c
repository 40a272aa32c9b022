/* workspace/request.c - notes of commands that were carried out, by the ids of their callers. */
#include "workspace/request.h"

#include "base/crash.h"
#include "base/log.h"
#include "text/digest.h"
#include "text/out.h"
#include "workspace/error.h"
#include "workspace/layout.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 32 }; /* of a note: half of a digest */

bool mr_work_request_is_id(const char *id)
{
	size_t len = strlen(id);

	for (size_t i = 0; i < len; i++)
		if (!isascii((unsigned char)id[i]) ||
			(!isalnum((unsigned char)id[i]) && !strchr("._:-", id[i])))
			return false;
	return len > 0 && len <= MR_WORK_REQUEST_ID_BYTES;
}

static const char *path_of(struct mr_arena *arena, const char *id)
{
	return mr_arena_printf(arena, MR_WORK_REQUESTS "/%.*s.json", NAME_BYTES,
		mr_digest_sha256(arena, mr_bytes_text(id)));
}

static const char *text_of(const struct mr_value *note, const char *key)
{
	const struct mr_value *value = mr_value_get(note, key);

	return value && value->kind == MR_TEXT ? value->text : "";
}

/* `result` is NULL as long as the command runs. */
static enum mr_code write_note(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_request *request, const struct mr_value *result)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "schema_name", "workspace_request");
	mr_out_int(&out, "schema_version", 1);
	mr_out_text(&out, "request_id", request->id);
	mr_out_text(&out, "asked", request->asked);
	mr_out_text(&out, "begun_rfc3339", work->now);
	if (result)
		mr_out_value(&out, "result", result);
	else
		mr_out_null(&out, "result");
	mr_out_end(&out);
	if (mr_fs_make_dirs(work->dir, MR_WORK_REQUESTS, 0755, &cx->err) ||
		mr_fs_write(work->dir, path_of(cx->arena, request->id),
			mr_work_pretty(cx, mr_out_tree(&out)), MR_FS_REPLACE, 0644, &cx->err))
		return mr_work_store_error(cx);
	return MR_OK;
}

/* --- beginning --- */

static enum mr_code refuse_unknown_end(struct mr_ctx *cx, const struct mr_work_request *request,
	const struct mr_value *note)
{
	(void)mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
		"the request '%s' began at %s and did not come to its end: whether its change "
		"happened is not known",
		request->id, text_of(note, "begun_rfc3339"));
	return mr_work_hint(cx,
		"Look for the change with `afmail log list`; if it is not there, send the command "
		"with another --request-id.");
}

static enum mr_code judge(struct mr_ctx *cx, const struct mr_work_request *request,
	const struct mr_value *note, const struct mr_value **out)
{
	const struct mr_value *result = mr_value_get(note, "result");

	if (!mr_str_eq(text_of(note, "asked"), request->asked)) {
		(void)mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"the request id '%s' was used for another command", request->id);
		return mr_work_hint(cx, "Give each command a --request-id of its own.");
	}
	if (!result || result->kind != MR_MAP)
		return refuse_unknown_end(cx, request, note);
	*out = result;
	return MR_OK;
}

enum mr_code mr_work_request_begin(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_request *request, const struct mr_value **out)
{
	const struct mr_value *note = NULL;
	enum mr_code rc = mr_work_read_json(cx, work, path_of(cx->arena, request->id), &note);

	*out = NULL;
	if (rc)
		return rc;
	if (note)
		return judge(cx, request, note, out);
	rc = write_note(cx, work, request, NULL);
	mr_crash_point("work.request.begun");
	return rc;
}

/* --- ending --- */

struct aged {
	const char *path;
	struct timespec time;
};

static int compare_age(const void *a, const void *b)
{
	const struct aged *x = a, *y = b;

	if (x->time.tv_sec != y->time.tv_sec)
		return x->time.tv_sec < y->time.tv_sec ? -1 : 1;
	if (x->time.tv_nsec != y->time.tv_nsec)
		return x->time.tv_nsec < y->time.tv_nsec ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Remove the oldest notes above the number that is kept. */
static void prune(struct mr_ctx *cx, struct mr_work *work)
{
	struct mr_texts names = { 0 };
	struct aged *notes;
	size_t len = 0;

	if (mr_work_list(cx, work, MR_WORK_REQUESTS, &names) || names.len <= MR_WORK_REQUESTS_KEPT)
		return;
	notes = mr_arena_array(cx->arena, names.len, sizeof(*notes));
	for (size_t i = 0; i < names.len; i++) {
		const char *path = mr_work_join(cx->arena, MR_WORK_REQUESTS, names.items[i]);
		struct stat st;

		if (fstatat(work->dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
			notes[len++] = (struct aged){ path, st.st_mtim };
	}
	qsort(notes, len, sizeof(*notes), compare_age);
	for (size_t i = 0; i + MR_WORK_REQUESTS_KEPT < len; i++)
		unlinkat(work->dir, notes[i].path, 0);
}

void mr_work_request_done(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_request *request, const struct mr_value *result)
{
	static const struct mr_value nothing = { .kind = MR_MAP };
	struct mr_err before = cx->err;

	mr_crash_point("work.request.carried_out");
	if (write_note(cx, work, request, result ? result : &nothing))
		mr_log(MR_LOG_WARN, "workspace_request_not_noted", "%s", cx->err.msg);
	else
		prune(cx, work);
	cx->err = before;
}

/* A failure may have come after the change: of the views that show it, of the disk. */
void mr_work_request_failed(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_request *request, enum mr_code rc)
{
	if (!work->has_committed && rc != MR_EIO && rc != MR_EINTERNAL)
		unlinkat(work->dir, path_of(cx->arena, request->id), 0);
}
