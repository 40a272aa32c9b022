/* op/mailbox/gateway_log.c - notes what a gateway does, on standard error and in its files. */
#include "op/mailbox/gateway_log.h"

#include "base/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES = 4 << 20, TS_BYTES = sizeof("2026-03-11T04:15:00.000Z") - 1, LINE_BYTES = 8192 };

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
	char text[LINE_BYTES];
	int size;

	if (len < rest || strncmp(line, BEFORE_TS, strlen(BEFORE_TS)) != 0)
		return;
	size = snprintf(text, sizeof(text), "%.*s+00:00 {%.*s", (int)TS_BYTES - 1,
		line + strlen(BEFORE_TS), (int)(len - rest), line + rest);
	if (size > 0 && size < (int)sizeof(text))
		append(path, text, (size_t)size);
}

void mr_gateway_log_write(void *arg, const char *line, size_t len)
{
	const struct mr_gateway_log *log = arg;

	write_all(STDERR_FILENO, line, len);
	append(log->events_path, line, len);
	append_text(log->text_path, line, len);
}

void mr_gateway_log_operation(const struct mr_call *call, const struct mr_op *op,
	const char *address, enum mr_code rc)
{
	bool is_repair = rc && strstr(call->cx.err.msg, "mailbox repair");
	const struct mr_log_field fields[] = {
		{ "operation", op->name, 0 },
		{ "address", address ? address : "", 0 },
		{ "code", rc ? mr_code_name(rc) : "ok", 0 },
		{ "repair_hint", "run mailbox repair", 0 },
	};

	mr_log_fields(rc ? MR_LOG_WARN : MR_LOG_INFO,
		rc ? "gateway.mailbox_operation_failed" : "gateway.mailbox_operation_completed",
		fields, is_repair ? 4 : 3);
}

void mr_gateway_log_refused(const struct mr_op *op, size_t problems)
{
	const struct mr_log_field fields[] = {
		{ "operation", op->name, 0 },
		{ "problems", NULL, (int64_t)problems },
	};

	mr_log_fields(MR_LOG_WARN, "gateway.http_validation_failed", fields, 2);
}
