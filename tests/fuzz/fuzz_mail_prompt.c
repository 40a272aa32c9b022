/* fuzz_mail_prompt.c - an answer that is taken from a screen belongs to the request. */
#include "mailbox/mail_prompt.h"
#include "mailbox/session.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_mailbox_binding binding = {
		.transport = MR_MAILBOX_FILESYSTEM,
		.principal_id = "p",
		.address = "a@b",
		.version = "v",
	};
	const struct mr_mail_prompt prompt = { .request_id = "r",
		.operation = "send",
		.binding = &binding };
	struct mr_ctx cx = { .arena = arena };
	const char *screen = len ? mr_arena_strndup(arena, (const char *)data, len) : "";
	const struct mr_value *answer = NULL;

	if (mr_mail_prompt_preview(&cx, &prompt, screen, &answer))
		return 0;
	if (!strstr(screen, MR_MAIL_PROMPT_BEGIN) || !strstr(screen, MR_MAIL_PROMPT_END))
		abort();
	if (!mr_str_eq(mr_mailbox_session_text(answer, "request_id"), "r") ||
		!mr_str_eq(mr_mailbox_session_text(answer, "operation"), "send"))
		abort();
	return 0;
}
