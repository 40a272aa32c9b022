/* mailbox/message_field.c - readers of single fields, for messages and other payloads. */
#include "mailbox/message.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "mailbox/limits.h"
#include "text/address.h"
#include "text/token.h"

#include <string.h>

#define ELLIPSIS "\xe2\x80\xa6"

static bool refuse(const struct mr_cursor *at, const char *rule)
{
	mr_cursor_refuse(at, "%s", rule);
	return false;
}

static bool read_stripped(struct mr_arena *arena, const struct mr_cursor *at, size_t max,
	const char **out)
{
	const char *text;
	size_t len;

	if (!mr_cursor_text(at, &text))
		return false;
	len = strlen(text);
	mr_utf8_strip(&text, &len);
	if (len == 0)
		return refuse(at, "must not be empty");
	if (len > max) {
		mr_cursor_refuse(at, "must not be longer than %zu bytes", max);
		return false;
	}
	*out = mr_arena_strndup(arena, text, len);
	return true;
}

bool mr_mailbox_read_text(struct mr_arena *arena, const struct mr_cursor *at, const char **out)
{
	return read_stripped(arena, at, MR_MAILBOX_TEXT_BYTES, out);
}

bool mr_mailbox_read_subject(struct mr_arena *arena, const struct mr_cursor *at, const char **out)
{
	return read_stripped(arena, at, MR_MAILBOX_SUBJECT_BYTES, out);
}

bool mr_mailbox_read_text_opt(struct mr_arena *arena, const struct mr_cursor *at, const char **out)
{
	if (mr_cursor_is_present(at))
		return mr_mailbox_read_text(arena, at, out);
	*out = NULL;
	return true;
}

/* The contract's words for what text/address.h found, which also says where: they must be exact. */
static bool refuse_address(const struct mr_cursor *at, const struct mr_err *err)
{
	const char *where = strstr(err->msg, " (byte ");

	if (mr_str_starts(err->msg, "must be full-form"))
		return refuse(at,
			"mailbox addresses must be full-form email-like values such as "
			"`research@houmao.localhost`");
	mr_cursor_refuse(at, "mailbox addresses %.*s",
		(int)(where ? (size_t)(where - err->msg) : strlen(err->msg)), err->msg);
	return false;
}

bool mr_mailbox_read_address(struct mr_arena *arena, const struct mr_cursor *at, const char **out)
{
	struct mr_address address;
	struct mr_err err;
	const char *text;
	size_t len;

	if (!mr_cursor_text(at, &text))
		return false;
	len = strlen(text);
	mr_utf8_strip(&text, &len);
	if (len == 0)
		return refuse(at, "must not be empty");
	if (mr_address_parse(arena, text, &address, &err))
		return refuse_address(at, &err);
	*out = address.full;
	return true;
}

/* The id that `text` is, stripped, or NULL. */
static const char *as_message_id(struct mr_arena *arena, const char *text)
{
	size_t len = strlen(text);
	const char *id;

	mr_utf8_strip(&text, &len);
	if (len > MR_MAILBOX_TEXT_BYTES)
		return NULL;
	id = mr_arena_strndup(arena, text, len);
	return mr_token_is_message_id(id) ? id : NULL;
}

static bool refuse_message_id(const struct mr_cursor *at)
{
	return refuse(at, "message_id must match msg-{YYYYMMDDTHHMMSSZ}-{uuid4-no-dashes}");
}

bool mr_mailbox_read_message_id(struct mr_arena *arena, const struct mr_cursor *at,
	const char **out)
{
	const char *text;
	const char *id;

	if (!mr_cursor_text(at, &text))
		return false;
	id = as_message_id(arena, text);
	if (!id)
		return refuse_message_id(at);
	*out = id;
	return true;
}

/* A wrong type is reported at the element, a wrong id at the list, once: as the contract does. */
bool mr_mailbox_read_message_ids(struct mr_arena *arena, const struct mr_cursor *at,
	struct mr_texts *out)
{
	struct mr_texts ids = { 0 };
	struct mr_texts texts;
	size_t len;

	if (!mr_cursor_list(at, &len))
		return false;
	if (len > MR_MAILBOX_REFERENCES) {
		mr_cursor_refuse(at, "must not hold more than %d entries", MR_MAILBOX_REFERENCES);
		return false;
	}
	if (!mr_cursor_texts(at, &texts))
		return false;
	ids.items = mr_arena_array(arena, len + 1, sizeof(*ids.items));
	for (; ids.len < len; ids.len++) {
		ids.items[ids.len] = as_message_id(arena, texts.items[ids.len]);
		if (!ids.items[ids.len])
			return refuse_message_id(at);
	}
	*out = ids;
	return true;
}

/* "Input should be 'safe', 'force' or 'stash'" */
static bool refuse_choice(const struct mr_cursor *at, const char *const *words)
{
	struct mr_buf list MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&list, MR_MAILBOX_TEXT_BYTES);
	for (size_t i = 0; words[i]; i++) {
		if (i > 0)
			mr_buf_puts(&list, words[i + 1] ? ", " : " or ");
		mr_buf_printf(&list, "'%s'", words[i]);
	}
	mr_cursor_refuse(at, "Input should be %s", mr_buf_text(&list));
	return false;
}

bool mr_mailbox_read_choice(const struct mr_cursor *at, const char *const *words, size_t *out)
{
	const char *text;

	/* Of any type that is there the contract says which words it wants. */
	if (!at->value)
		return mr_cursor_text(at, &text);
	if (at->value->kind != MR_TEXT)
		return refuse_choice(at, words);
	for (size_t i = 0; words[i]; i++) {
		if (strcmp(words[i], at->value->text) == 0) {
			*out = i;
			return true;
		}
	}
	return refuse_choice(at, words);
}

const char *mr_mailbox_notify_cut(struct mr_arena *arena, const char *text)
{
	size_t len = strlen(text);
	size_t kept = mr_utf8_prefix(text, len, MR_MAILBOX_NOTIFY_CHARS);

	if (kept == len)
		return mr_arena_strdup(arena, text);
	kept = mr_utf8_prefix(text, len, MR_MAILBOX_NOTIFY_CHARS - 1);
	return mr_arena_printf(arena, "%.*s" ELLIPSIS, (int)kept, text);
}
