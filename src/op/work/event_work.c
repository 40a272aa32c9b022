/* op/work/event_work.c - the lines that --log and --verbose ask for. */
#include "op/work/event_work.h"

#include "text/afd.h"
#include "workspace/error.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum category { STARTUP, REQUEST, PROGRESS, RETRY, CATEGORY_COUNT };

static const char *const categories[] = { "startup", "request", "progress", "retry" };

/* The next category of a list, in lower case and without blanks around it; false at the end. Those
 * of an empty entry are empty. */
static bool next_entry(struct mr_arena *arena, const char **rest, char **out)
{
	const char *start = *rest;
	size_t len;

	if (!start)
		return false;
	len = strcspn(start, ",");
	*rest = start[len] ? start + len + 1 : NULL;
	while (len && isspace((unsigned char)*start)) {
		start++;
		len--;
	}
	while (len && isspace((unsigned char)start[len - 1]))
		len--;
	*out = mr_arena_strndup(arena, start, len);
	for (char *c = *out; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return true;
}

static int category_of(const char *entry)
{
	for (int i = 0; i < CATEGORY_COUNT; i++) {
		if (mr_str_eq(categories[i], entry))
			return i;
	}
	return -1;
}

enum mr_code mr_event_work_check(const struct mr_invocation *how, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < how->given_count; i++) {
		const char *rest = how->given[i].value;
		char *entry;

		if (!mr_str_eq(how->given[i].option, "--log"))
			continue;
		while (next_entry(arena, &rest, &entry)) {
			if (*entry && category_of(entry) < 0)
				return mr_err_set(err, MR_EINVAL,
					"--log unsupported category '%s'; expected one of: startup, "
					"request, progress, retry",
					entry);
		}
	}
	return MR_OK;
}

/* The categories that were asked for, each once, in the order of the command line. */
static struct mr_texts wanted(struct mr_arena *arena, const struct mr_invocation *how)
{
	struct mr_texts list = { mr_arena_array(arena, CATEGORY_COUNT, sizeof(*list.items)), 0 };

	for (size_t i = 0; i < how->given_count; i++) {
		const char *rest = how->given[i].value;
		char *entry;

		if (mr_str_eq(how->given[i].option, "--verbose"))
			rest = "startup,request,progress,retry";
		else if (!mr_str_eq(how->given[i].option, "--log"))
			continue;
		while (next_entry(arena, &rest, &entry)) {
			int at = category_of(entry);

			if (at >= 0 && !mr_texts_has(&list, categories[at]))
				list.items[list.len++] = categories[at];
		}
	}
	return list;
}

void mr_event_work_trace(struct mr_out *out, const struct mr_invocation *how)
{
	mr_out_map(out, "trace");
	mr_out_int(out, "duration_ms", (mr_clock_mono_us(how->clock) - how->begun_us) / 1000);
	mr_out_end(out);
}

/* Begin a line; its fields and end_line() follow. */
static void begin_line(struct mr_out *out, const struct mr_invocation *how, enum category category,
	const char *message)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "code", "log");
	mr_out_text(out, "event", categories[category]);
	mr_out_text(out, "level", category == RETRY ? "warn" : "info");
	mr_out_text(out, "message", message);
	mr_out_int(out, "timestamp_epoch_ms", mr_clock_wall_us(how->clock) / 1000);
}

static void end_line(struct mr_out *out, const struct mr_invocation *how)
{
	mr_event_work_trace(out, how);
	mr_out_end(out);
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text);
	size_t end_len = strlen(end);

	return len >= end_len && mr_str_eq(text + len - end_len, end);
}

/* Is what stands behind the argument a secret? */
static bool announces_secret(const char *arg)
{
	return ends_with(arg, "_secret") || ends_with(arg, "-secret");
}

/* Does an argument hold a secret by itself? */
static bool is_secret(const char *arg)
{
	if (mr_str_starts(arg, "literal:") || strstr(arg, "=literal:"))
		return true;
	return strstr(arg, "_secret=") || strstr(arg, "-secret=");
}

/* The first word of the command. */
static void emit_command(struct mr_arena *arena, struct mr_out *out,
	const struct mr_invocation *how)
{
	const char *path = how->path;

	if (mr_str_starts(path, "work "))
		path += strlen("work ");
	mr_out_text(out, "command", mr_arena_strndup(arena, path, strcspn(path, " ")));
}

static void emit_startup(struct mr_arena *arena, struct mr_out *out,
	const struct mr_invocation *how, const struct mr_texts *filters)
{
	bool is_behind = false; /* a word that announces a secret: whatever follows is hidden */

	begin_line(out, how, STARTUP, "startup");
	mr_out_text(out, "version", MR_VERSION);
	mr_out_list(out, "argv");
	for (int i = 0; i < how->argc; i++) {
		mr_out_text(out, NULL, is_behind || is_secret(how->argv[i]) ? "***" : how->argv[i]);
		is_behind = is_behind || announces_secret(how->argv[i]);
	}
	mr_out_end(out);
	emit_command(arena, out, how);
	mr_out_text(out, "output_format", how->format->name);
	mr_out_texts(out, "log_filters", filters);
	end_line(out, how);
}

static void emit_request(struct mr_arena *arena, struct mr_out *out,
	const struct mr_invocation *how)
{
	char *cwd = getcwd(NULL, 0);

	begin_line(out, how, REQUEST, "request start");
	mr_out_text(out, "phase", "start");
	emit_command(arena, out, how);
	mr_out_text(out, "cwd_path", cwd ? cwd : "");
	end_line(out, how);
	free(cwd);
}

static void emit_progress(struct mr_arena *arena, struct mr_out *out,
	const struct mr_invocation *how, const struct mr_event *event)
{
	begin_line(out, how, PROGRESS, event->text);
	mr_out_text(out, "phase", event->text);
	emit_command(arena, out, how);
	mr_out_int(out, "processed_count", (int64_t)event->done);
	mr_out_int(out, "total_count", (int64_t)event->total);
	end_line(out, how);
}

static void emit_finish(struct mr_arena *arena, struct mr_out *out, const struct mr_invocation *how,
	const struct mr_err *err)
{
	begin_line(out, how, PROGRESS, "finish");
	mr_out_text(out, "phase", "finish");
	emit_command(arena, out, how);
	mr_out_bool(out, "success", err == NULL);
	mr_out_int(out, "exit_code", err ? mr_contract_exit_status(how->contract, err) : 0);
	end_line(out, how);
}

static void emit_retry(struct mr_arena *arena, struct mr_out *out, const struct mr_invocation *how,
	const struct mr_err *err)
{
	begin_line(out, how, RETRY, "retryable_error");
	mr_out_text(out, "phase", "retryable_error");
	emit_command(arena, out, how);
	mr_out_text(out, "error_code",
		err->word ? err->word : mr_work_error_word(MR_WORK_INTERNAL_ERROR));
	mr_out_text(out, "error", err->msg);
	end_line(out, how);
}

void mr_event_work(struct mr_out *out, const struct mr_invocation *how,
	const struct mr_event *event)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts filters = wanted(arena, how);
	bool has_progress = mr_texts_has(&filters, categories[PROGRESS]);

	if (!filters.len)
		return;
	mr_out_list(out, NULL);
	switch (event->kind) {
	case MR_EVENT_BEGIN:
		if (mr_texts_has(&filters, categories[STARTUP]))
			emit_startup(arena, out, how, &filters);
		if (mr_texts_has(&filters, categories[REQUEST]))
			emit_request(arena, out, how);
		break;
	case MR_EVENT_WARNING: /* the settings are Mailroom's, and the workspace needs none */
		break;
	case MR_EVENT_PROGRESS:
		if (has_progress)
			emit_progress(arena, out, how, event);
		break;
	case MR_EVENT_END:
		if (has_progress)
			emit_finish(arena, out, how, event->err);
		if (event->err && mr_code_is_retryable(event->err->code) &&
			mr_texts_has(&filters, categories[RETRY]))
			emit_retry(arena, out, how, event->err);
		break;
	}
	mr_out_end(out);
}
