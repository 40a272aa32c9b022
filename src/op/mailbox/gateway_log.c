/* op/mailbox/gateway_log.c - notes what a gateway does, on standard error and in its files. */
#include "op/mailbox/gateway_log.h"

#include "op/args.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FILE_BYTES = 4 << 20,
	TS_BYTES = sizeof("2026-03-11T04:15:00.000Z") - 1,
	MINUTE_BYTES = sizeof("2026-03-11T04:15") - 1,
	REF_BYTES = 128,
};

/* {"ts":"2026-03-11T04:15:00.000Z",...: what stands before the time, and behind it. */
static const char BEFORE_TS[] = "{\"ts\":\"";

static void write_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t done = write(fd, text, len);

		if (done <= 0)
			return;
		text += done;
		len -= (size_t)done;
	}
}

/* A log that cannot be written is no reason to fail: standard error has it, too. */
static void append(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	char kept[4096];
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > FILE_BYTES &&
		snprintf(kept, sizeof(kept), "%s.1", path) < (int)sizeof(kept))
		(void)rename(path, kept);
	write_all(fd, text, len);
	close(fd);
}

/* "2026-03-11T04:15:00.000+00:00 {...": the time in front, and the rest of the event. */
static void append_text(const char *path, const char *line, size_t len)
{
	size_t rest = strlen(BEFORE_TS) + TS_BYTES + strlen("\",");
	char text[MR_GATEWAY_LOG_LINE];
	int size;

	if (len < rest || strncmp(line, BEFORE_TS, strlen(BEFORE_TS)) != 0)
		return;
	size = snprintf(text, sizeof(text), "%.*s+00:00 {%.*s", (int)TS_BYTES - 1,
		line + strlen(BEFORE_TS), (int)(len - rest), line + rest);
	if (size > 0 && size < (int)sizeof(text))
		append(path, text, (size_t)size);
}

static void write_line(const struct mr_gateway_log *log, const char *line, size_t len)
{
	write_all(STDERR_FILENO, line, len);
	append(log->events_path, line, len);
	append_text(log->text_path, line, len);
}

/* The same in all but the seconds? */
static bool is_repeated(const struct mr_gateway_log *log, const char *line)
{
	size_t minute = strlen(BEFORE_TS) + MINUTE_BYTES, rest = strlen(BEFORE_TS) + TS_BYTES;

	return strncmp(log->last, line, minute) == 0 && strcmp(log->last + rest, line + rest) == 0;
}

/* The count goes to the end of the line, before the brace. */
static void write_counted(struct mr_gateway_log *log, const char *line, size_t len)
{
	char text[MR_GATEWAY_LOG_LINE + 64];
	int size = snprintf(text, sizeof(text), "%.*s,\"suppressed\":%u}\n", (int)(len - 2), line,
		log->suppressed);

	log->suppressed = 0;
	if (size > 0 && size < (int)sizeof(text))
		write_line(log, text, (size_t)size);
	else
		write_line(log, line, len);
}

void mr_gateway_log_write(void *arg, const char *line, size_t len)
{
	static const char warned[] = "\",\"level\":\"warning\",\"event\":\"gateway.";
	struct mr_gateway_log *log = arg;
	size_t rest = strlen(BEFORE_TS) + TS_BYTES;

	if (len > rest && len < sizeof(log->last) && mr_str_starts(line + rest, warned)) {
		if (is_repeated(log, line)) {
			log->suppressed++;
			return;
		}
		memcpy(log->last, line, len);
		log->last[len] = '\0';
	}
	if (log->suppressed)
		write_counted(log, line, len);
	else
		write_line(log, line, len);
}

/* --- events --- */

static void add(struct mr_gateway_facts *facts, const char *key, const char *text, int64_t number)
{
	if (facts->len < MR_GATEWAY_LOG_FACTS)
		facts->fields[facts->len++] = (struct mr_log_field){ key, text, number };
}

/* Only what looks like one: a client may send anything as a ref. */
static bool is_ref(const char *text)
{
	static const char before[] = "filesystem:msg-";

	return mr_str_starts(text, before) && strlen(text) < REF_BYTES &&
		text[strspn(text, "filesystem:-ABCDEFTZabcdef0123456789msg")] == '\0';
}

static void add_param(struct mr_gateway_facts *facts, struct mr_arena *arena,
	const struct mr_param *param, const struct mr_value *value)
{
	switch (value->kind) {
	case MR_BOOL:
		add(facts, param->name, NULL, value->boolean);
		break;
	case MR_LIST:
		add(facts, mr_arena_printf(arena, "%s_count", param->name), NULL,
			(int64_t)value->list.len);
		break;
	case MR_MAP:
		add(facts, mr_arena_printf(arena, "has_%s", param->name), NULL, 1);
		break;
	case MR_TEXT:
		if (mr_str_eq(param->name, "message_ref") && is_ref(value->text))
			add(facts, param->name, value->text, 0);
		break;
	default:
		break;
	}
}

struct mr_gateway_facts mr_gateway_log_facts(struct mr_arena *arena, const struct mr_op *op,
	const char *address, const struct mr_args *in)
{
	struct mr_gateway_facts facts = { .len = 0 };

	add(&facts, "operation", op->name, 0);
	add(&facts, "address", address ? address : "", 0);
	for (size_t i = 0; i < mr_param_count(op->params); i++) {
		const struct mr_value *value = mr_args_value(in, op->params[i].name);

		if (value)
			add_param(&facts, arena, &op->params[i], value);
	}
	return facts;
}

void mr_gateway_log_begun(const struct mr_gateway_facts *facts)
{
	mr_log_fields(MR_LOG_DEBUG, "gateway.mailbox_operation_started", facts->fields, facts->len);
}

/* Would a repair help: does the failure speak of it, or of the mailbox's own database? */
static bool is_for_repair(const struct mr_err *err)
{
	return strstr(err->msg, "repair") || strstr(err->msg, "mailbox.sqlite");
}

void mr_gateway_log_ended(const struct mr_gateway_facts *facts, enum mr_code rc,
	const struct mr_err *err)
{
	struct mr_log_field fields[MR_GATEWAY_LOG_FACTS + 2];
	size_t len = facts->len;

	memcpy(fields, facts->fields, len * sizeof(*fields));
	fields[len++] = (struct mr_log_field){ "code", rc ? mr_code_name(rc) : "ok", 0 };
	if (rc && is_for_repair(err))
		fields[len++] = (struct mr_log_field){ "repair_hint", "run mailbox repair", 0 };
	mr_log_fields(rc ? MR_LOG_WARN : MR_LOG_INFO,
		rc ? "gateway.mailbox_operation_failed" : "gateway.mailbox_operation_completed",
		fields, len);
}

void mr_gateway_log_refused(const struct mr_op *op, size_t bytes, size_t problems)
{
	const struct mr_log_field fields[] = {
		{ "operation", op->name, 0 },
		{ "bytes", NULL, (int64_t)bytes },
		{ "problems", NULL, (int64_t)problems },
	};

	mr_log_fields(MR_LOG_WARN, "gateway.http_validation_failed", fields, MR_LEN(fields));
}
