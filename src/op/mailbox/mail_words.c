/* op/mailbox/mail_words.c - turns what was typed for a mail command into a draft. */
#include "op/mailbox/mail_words.h"

#include "base/fs.h"
#include "base/utf8.h"
#include "mailbox/limits.h"

#include <string.h>
#include <unistd.h>

const char mr_mail_usage[] = "usage";

const char *const mr_mail_words_placements[] = { "append", "prepend", NULL };
const char *const mr_mail_words_attach_modes[] = { "path_ref", "managed_copy", NULL };

enum mr_code mr_mail_words_refuse(struct mr_call *call, const char *why)
{
	mr_err_set(&call->cx.err, MR_EINVAL, "%s", why);
	return mr_err_word(&call->cx.err, mr_mail_usage);
}

enum mr_code mr_mail_words_choice(struct mr_call *call, const char *option, const char *text,
	const char *const *choices, size_t *out)
{
	struct mr_texts all = { (const char **)choices, 0 };

	*out = 0;
	for (all.len = 0; choices[all.len]; all.len++) {
		if (text && mr_str_eq_nocase(text, choices[all.len])) {
			*out = all.len;
			return MR_OK;
		}
	}
	if (!text)
		return MR_OK;
	return mr_mail_words_refuse(call,
		mr_arena_printf(call->cx.arena, "%s must be one of: %s", option,
			mr_str_join(call->cx.arena, &all, ", ")));
}

/* --- the body --- */

/* A terminal has nobody's text ready, and a device or a socket may never end. */
static bool is_piped(void)
{
	struct stat st;

	return fstat(STDIN_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode));
}

static enum mr_code read_body(struct mr_call *call, const struct mr_mail_written *written,
	struct mr_bytes *out)
{
	struct mr_ctx *cx = &call->cx;
	enum mr_code rc;

	if (written->body_content && written->body_file)
		return mr_mail_words_refuse(call, "give --body-content or --body-file, not both");
	if (written->body_content) {
		*out = mr_bytes_text(written->body_content);
		return MR_OK;
	}
	if (written->body_file) {
		rc = mr_fs_read(cx->arena, AT_FDCWD, written->body_file, MR_MAILBOX_DOCUMENT_BYTES,
			out, &cx->err);
		return rc ? mr_err_wrap(&cx->err, "--body-file") : MR_OK;
	}
	if (!is_piped())
		return mr_mail_words_refuse(call,
			"the message has no body: give --body-content or --body-file, or pipe the "
			"text into the command");
	rc = mr_fs_read_fd(cx->arena, STDIN_FILENO, MR_MAILBOX_DOCUMENT_BYTES, out, &cx->err);
	return rc ? mr_err_wrap(&cx->err, "standard input") : MR_OK;
}

static enum mr_code check_body(struct mr_call *call, struct mr_bytes body)
{
	size_t bad = 0;

	if (body.len && memchr(body.data, '\0', body.len))
		return mr_mail_words_refuse(call, "the body has a NUL in it: is it text?");
	if (!mr_utf8_is_valid((const char *)body.data, body.len, &bad))
		return mr_mail_words_refuse(call,
			mr_arena_printf(call->cx.arena, "the body is not UTF-8: see byte %zu of it",
				bad + 1));
	return MR_OK;
}

enum mr_code mr_mail_words_draft(struct mr_call *call, const struct mr_mail_written *written,
	struct mr_mail_draft *draft)
{
	struct mr_arena *arena = call->cx.arena;
	struct mr_mail_file *files = mr_arena_array(arena, written->attach.len + 1, sizeof(*files));
	struct mr_mailbox_notify_block *block = mr_arena_alloc(arena, sizeof(*block));
	size_t placement = 0, mode = 0;
	enum mr_code rc = mr_mail_words_choice(call, "--notify-block-placement",
		written->notify_block_placement, mr_mail_words_placements, &placement);

	if (!rc)
		rc = mr_mail_words_choice(call, "--attach-mode", written->attach_mode,
			mr_mail_words_attach_modes, &mode);
	if (!rc)
		rc = read_body(call, written, &draft->body);
	if (!rc)
		rc = check_body(call, draft->body);
	if (rc)
		return rc;
	for (size_t i = 0; i < written->attach.len; i++)
		files[i] = (struct mr_mail_file){ .path = written->attach.items[i],
			.is_copied = mode == 1 };
	draft->files = files;
	draft->file_count = written->attach.len;
	if (written->notify_block) {
		block->text = written->notify_block;
		block->prepend = placement == 1;
		draft->notify_block = block;
	}
	return MR_OK;
}
