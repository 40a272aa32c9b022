/* workspace/progress.c - the snapshot of a running command: written, read, put into words. */
#include "workspace/progress.h"

#include "base/log.h"
#include "text/out.h"
#include "text/time.h"
#include "workspace/error.h"
#include "workspace/layout.h"

#include <math.h>

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : "";
}

static bool int_of(const struct mr_value *map, const char *key, int64_t *out)
{
	const struct mr_value *value = mr_value_get(map, key);

	*out = value && value->kind == MR_INT ? value->integer : 0;
	return value && value->kind == MR_INT;
}

/* What a phase is about, in words: "INBOX bodies 25/199, batch 1/8". */
static const char *phase_words(struct mr_ctx *cx, const char *phase, const struct mr_value *fields)
{
	int64_t a = 0, b = 0, c = 0, d = 0;

	int_of(fields, "processed_count", &a);
	int_of(fields, "uid_count", &b);
	int_of(fields, "batch_index", &c);
	int_of(fields, "batch_count", &d);
	if (mr_str_starts(phase, "pull_mailbox_bodies"))
		return mr_arena_printf(cx->arena, "%s bodies %lld/%lld, batch %lld/%lld",
			text_of(fields, "mailbox_name"), (long long)a, (long long)b, (long long)c,
			(long long)d);
	if (mr_str_eq(phase, "pull_mailbox_headers_start"))
		return mr_arena_printf(cx->arena, "%s headers", text_of(fields, "mailbox_name"));
	if (mr_str_eq(phase, "pull_mailbox_headers_done")) {
		int_of(fields, "new_candidate_count", &a);
		return mr_arena_printf(cx->arena, "%s headers done, %lld new candidates",
			text_of(fields, "mailbox_name"), (long long)a);
	}
	if (mr_str_eq(phase, "pull_resolve_targets")) {
		int_of(fields, "mailbox_count", &a);
		return mr_arena_printf(cx->arena, "resolved %lld mailboxes", (long long)a);
	}
	if (mr_str_eq(phase, "push_done")) {
		int_of(fields, "pushed_count", &a);
		int_of(fields, "failed_count", &b);
		return mr_arena_printf(cx->arena, "done, %lld pushed, %lld failed", (long long)a,
			(long long)b);
	}
	if (mr_str_starts(phase, "push_step")) {
		int_of(fields, "item_index", &a);
		int_of(fields, "item_count", &b);
		int_of(fields, "step_index", &c);
		int_of(fields, "step_count", &d);
		return mr_arena_printf(cx->arena, "%s item %lld/%lld, step %lld/%lld",
			text_of(fields, "display_kind"), (long long)a, (long long)b, (long long)c,
			(long long)d);
	}
	if (mr_str_starts(phase, "push_item")) {
		int_of(fields, "index", &a);
		int_of(fields, "item_count", &b);
		return mr_arena_printf(cx->arena, "%s item %lld/%lld",
			text_of(fields, "display_kind"), (long long)a, (long long)b);
	}
	return phase;
}

static const char *summary_of(struct mr_ctx *cx, const struct mr_value *snapshot)
{
	const struct mr_value *fields = mr_value_get(snapshot, "fields");
	const struct mr_value *result = mr_value_get(snapshot, "result");
	const char *command = text_of(snapshot, "command"), *status = text_of(snapshot, "status");
	int64_t a = 0, b = 0;

	if (mr_str_eq(status, "failed"))
		return mr_arena_printf(cx->arena, "%s failed: %s during %s", command,
			text_of(mr_value_get(snapshot, "error"), "error_code"),
			phase_words(cx, text_of(fields, "failed_phase"),
				mr_value_get(fields, "failed_fields")));
	if (mr_str_eq(status, "succeeded") && mr_str_eq(command, "pull")) {
		int_of(result, "new_message_count", &a);
		int_of(result, "mailbox_count", &b);
		return mr_arena_printf(cx->arena,
			"pull succeeded: %lld new messages across %lld mailboxes", (long long)a,
			(long long)b);
	}
	if (mr_str_eq(status, "succeeded") && mr_str_eq(command, "push")) {
		int_of(result, "pushed_count", &a);
		int_of(result, "failed_count", &b);
		return mr_arena_printf(cx->arena, "push succeeded: %lld pushed, %lld failed",
			(long long)a, (long long)b);
	}
	return mr_arena_printf(cx->arena, "%s: %s", command,
		phase_words(cx, text_of(snapshot, "phase"), fields));
}

/* Members of the phase that are shown at the top, some under another name. */
static void emit_fields(struct mr_out *out, const struct mr_value *fields, bool is_push)
{
	static const struct {
		const char *name, *shown;
	} pull[] = { { "batch_index", NULL }, { "batch_count", NULL }, { "mailbox_id", NULL },
		{ "mailbox_name", NULL }, { "mailbox_count", NULL }, { "index", "mailbox_index" } },
	  push[] = { { "push_id", NULL }, { "kind", NULL }, { "display_kind", NULL },
		  { "item_index", NULL }, { "item_count", NULL }, { "step_index", NULL },
		  { "step_count", NULL }, { "label", NULL } };
	size_t len = is_push ? sizeof(push) / sizeof(*push) : sizeof(pull) / sizeof(*pull);
	int64_t done = 0, total = 0;
	bool has_done = int_of(fields, "processed_count", &done);

	if (has_done)
		mr_out_int(out, "processed_count", done);
	if (int_of(fields, "uid_count", &total))
		mr_out_int(out, "total_count", total);
	if (has_done && total > 0)
		mr_out_real(out, "progress_percent",
			round((double)done * 10000 / (double)total) / 100);
	for (size_t i = 0; i < len; i++) {
		const char *name = is_push ? push[i].name : pull[i].name;
		const char *shown = is_push ? push[i].shown : pull[i].shown;
		const struct mr_value *value = mr_value_get(fields, name);

		if (value)
			mr_out_value(out, shown ? shown : name, value);
	}
}

static void emit_snapshot(struct mr_ctx *cx, struct mr_out *out, const struct mr_value *snapshot,
	bool is_locked)
{
	const struct mr_value *fields = mr_value_get(snapshot, "fields");
	const struct mr_value *error = mr_value_get(snapshot, "error");
	const struct mr_value *failed = mr_value_get(fields, "failed_fields");
	const char *status = text_of(snapshot, "status");
	bool is_push = mr_str_eq(text_of(snapshot, "command"), "push");

	if (mr_str_eq(status, "running") && !is_locked)
		status = "interrupted";
	mr_out_text(out, "status", status);
	mr_out_text(out, "command", text_of(snapshot, "command"));
	mr_out_text(out, "phase", text_of(snapshot, "phase"));
	mr_out_text(out, "summary", summary_of(cx, snapshot));
	emit_fields(out, failed ? failed : fields, is_push);
	if (mr_value_get(fields, "failed_phase"))
		mr_out_value(out, "failed_phase", mr_value_get(fields, "failed_phase"));
	if (failed)
		mr_out_value(out, "failed_fields", failed);
	if (fields)
		mr_out_value(out, "fields", fields);
	if (error)
		mr_out_value(out, "error", error);
	else
		mr_out_null(out, "error");
}

enum mr_code mr_work_progress_show(struct mr_ctx *cx, struct mr_work *work, bool is_locked,
	const struct mr_value **out_value)
{
	const struct mr_value *snapshot = NULL;
	struct mr_out out;
	enum mr_code rc = mr_work_read_json(cx, work, MR_WORK_PROGRESS, &snapshot);

	if (rc == MR_EFORMAT || (!rc && snapshot && snapshot->kind != MR_MAP))
		return mr_work_refuse(cx, MR_WORK_PROGRESS_INVALID, "%s is not a JSON object",
			MR_WORK_PROGRESS);
	if (rc)
		return rc;
	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	if (snapshot)
		emit_snapshot(cx, &out, snapshot, is_locked);
	else
		mr_out_text(&out, "status", "idle");
	mr_out_end(&out);
	*out_value = mr_out_tree(&out);
	return MR_OK;
}

/* --- writing --- */

static void emit_error(struct mr_out *out, const struct mr_err *err)
{
	mr_out_map(out, "error");
	mr_out_text(out, "error_code",
		err->word ? err->word : mr_work_error_word(MR_WORK_INTERNAL_ERROR));
	mr_out_text(out, "error", err->msg);
	mr_out_bool(out, "retryable", mr_code_is_retryable(err->code));
	mr_out_end(out);
}

/* The members of a result that are no lists or objects. */
static void emit_result(struct mr_out *out, const struct mr_value *result)
{
	mr_out_map(out, "result");
	for (size_t i = 0; i < result->map.len; i++) {
		const struct mr_pair *pair = &result->map.pairs[i];

		if (pair->value.kind != MR_MAP && pair->value.kind != MR_LIST)
			mr_out_value(out, pair->key, &pair->value);
	}
	mr_out_end(out);
}

static void emit_fields_member(struct mr_out *out, const char *key, const struct mr_value *fields)
{
	if (fields) {
		mr_out_value(out, key, fields);
		return;
	}
	mr_out_map(out, key);
	mr_out_end(out);
}

/* What the fields of a finished command are. */
static const struct mr_value *outcome(struct mr_arena *arena,
	const struct mr_work_progress *progress, bool is_failure)
{
	struct mr_out out;

	mr_out_init_tree(&out, arena);
	mr_out_map(&out, NULL);
	mr_out_bool(&out, "success", !is_failure);
	if (is_failure) {
		mr_out_text(&out, "failed_phase", progress->phase);
		emit_fields_member(&out, "failed_fields", progress->fields);
	}
	mr_out_end(&out);
	return mr_out_tree(&out);
}

/* Put the snapshot in place; that it cannot be written does not concern the command. */
static void put(const struct mr_work_progress *progress, const char *status,
	const struct mr_value *result, const struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = progress->cx->clock };
	bool is_over = result || err;
	const char *phase = is_over ? "finish" : progress->phase;
	const struct mr_value *fields =
		is_over ? outcome(arena, progress, err != NULL) : progress->fields;
	int64_t took_us = mr_clock_mono_us(cx.clock) - progress->begun_us;
	struct mr_out out;

	mr_out_init_tree(&out, arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "schema_name", "workspace_progress");
	mr_out_int(&out, "schema_version", 1);
	mr_out_text(&out, "command", progress->command);
	mr_out_text(&out, "status", status);
	mr_out_text(&out, "phase", phase);
	mr_out_text(&out, "message",
		mr_arena_printf(arena, "%s: %s", progress->command,
			phase_words(&cx, phase, fields)));
	mr_out_text(&out, "started_rfc3339", progress->work->now);
	mr_out_text(&out, "updated_rfc3339",
		mr_time_format(arena, mr_clock_wall_us(cx.clock), MR_TIME_SECONDS));
	mr_out_int(&out, "elapsed_ms", took_us / 1000);
	emit_fields_member(&out, "fields", fields);
	if (result)
		emit_result(&out, result);
	else
		mr_out_null(&out, "result");
	if (err)
		emit_error(&out, err);
	else
		mr_out_null(&out, "error");
	mr_out_end(&out);
	if (mr_fs_write_as(progress->work->dir, MR_WORK_PROGRESS,
		    mr_work_pretty(&cx, mr_out_tree(&out)), MR_FS_REPLACE, MR_FS_SYNC_NOTHING, 0644,
		    &cx.err))
		mr_log(MR_LOG_DEBUG, "workspace_progress_not_written", "%s", cx.err.msg);
}

void mr_work_progress_start(struct mr_ctx *cx, struct mr_work *work, const char *command,
	struct mr_work_progress *out)
{
	*out = (struct mr_work_progress){ .cx = cx,
		.work = work,
		.command = command,
		.begun_us = mr_clock_mono_us(cx->clock) };
	mr_work_progress_phase(out, "start", NULL);
}

void mr_work_progress_phase(struct mr_work_progress *progress, const char *phase,
	const struct mr_value *fields)
{
	progress->phase = phase;
	progress->fields = fields;
	put(progress, "running", NULL, NULL);
}

void mr_work_progress_done(struct mr_work_progress *progress, const struct mr_value *result)
{
	put(progress, "succeeded", result, NULL);
}

void mr_work_progress_failed(struct mr_work_progress *progress)
{
	put(progress, "failed", NULL, &progress->cx->err);
}
