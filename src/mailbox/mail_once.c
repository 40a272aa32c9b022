/* mailbox/mail_once.c - recognises a request to send that was carried out before. */
#include "mailbox/mail_once.h"

#include "text/digest.h"
#include "text/time.h"

#include <string.h>

enum { MARK_DIGITS = 16, ID_DIGITS = 32 };

#define ID_STAMP "msg-20260311T041500Z-"

const char mr_mail_repeated[] = "key_reused";

/* With its length, so that no two lists of texts are the same. */
static void add(struct mr_digest *digest, const char *text)
{
	size_t len = text ? strlen(text) : SIZE_MAX;

	mr_digest_add(digest, &len, sizeof(len));
	if (text)
		mr_digest_add(digest, text, strlen(text));
}

static void add_texts(struct mr_digest *digest, const struct mr_texts *texts)
{
	mr_digest_add(digest, &texts->len, sizeof(texts->len));
	for (size_t i = 0; i < texts->len; i++)
		add(digest, texts->items[i]);
}

/* Everything that the caller said. */
static const char *digest_request(struct mr_arena *arena, const char *ref,
	const struct mr_mail_draft *draft)
{
	const struct mr_mailbox_notify_block *block = draft->notify_block;
	const struct mr_mailbox_notify_auth *auth = draft->notify_auth;
	struct mr_digest *digest = mr_digest_begin_sha256();

	add(digest, ref);
	add_texts(digest, &draft->to);
	add_texts(digest, &draft->cc);
	add(digest, draft->subject);
	mr_digest_add(digest, &draft->body.len, sizeof(draft->body.len));
	mr_digest_add(digest, draft->body.data, draft->body.len);
	for (size_t i = 0; i < draft->file_count; i++) {
		add(digest, draft->files[i].path);
		add(digest, draft->files[i].label);
		add(digest, draft->files[i].is_copied ? "copied" : "");
	}
	add(digest, block ? block->text : NULL);
	add(digest, block && block->prepend ? "prepend" : "");
	add(digest, auth ? auth->scheme : NULL);
	add(digest, auth ? auth->token : NULL);
	add(digest, auth ? auth->iss : NULL);
	add(digest, auth ? auth->iat : NULL);
	add(digest, auth ? auth->exp : NULL);
	return mr_digest_end_hex(arena, digest);
}

static const char *digest_key(struct mr_arena *arena, const struct mr_mail *mail, const char *verb,
	const char *key)
{
	struct mr_digest *digest = mr_digest_begin_sha256();

	add(digest, mail->address);
	add(digest, verb);
	add(digest, key);
	return mr_digest_end_hex(arena, digest);
}

static bool is_key(const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++) {
		if (text[i] < ' ' || text[i] > '~')
			return false;
	}
	return len > 0 && len <= MR_MAILBOX_RETRY_KEY_BYTES;
}

enum mr_code mr_mail_once_of(struct mr_ctx *cx, const struct mr_mail *mail, const char *verb,
	const char *sender, const char *ref, const struct mr_mail_draft *draft,
	struct mr_mail_once *out)
{
	struct mr_arena *arena = cx->arena;
	int64_t since = mr_clock_wall_us(cx->clock) - MR_MAILBOX_RETRY_HOURS * 3600 * MR_TIME_S;

	*out = (struct mr_mail_once){ .digits = NULL };
	if (!draft->retry_key)
		return MR_OK;
	if (!is_key(draft->retry_key)) {
		mr_err_set(&cx->err, MR_EINVAL,
			"Idempotency-Key must be 1 to %d printable ASCII characters",
			MR_MAILBOX_RETRY_KEY_BYTES);
		return mr_err_word(&cx->err, mr_mail_repeated);
	}
	out->once.since =
		mr_arena_printf(arena, "msg-%s", mr_time_format(arena, since, MR_TIME_COMPACT));
	out->once.mark = mr_arena_strndup(arena, digest_key(arena, mail, verb, draft->retry_key),
		MARK_DIGITS);
	out->once.sender = sender;
	out->digits = mr_arena_printf(arena, "%s%.*s", out->once.mark, ID_DIGITS - MARK_DIGITS,
		digest_request(arena, ref, draft));
	return MR_OK;
}

const char *mr_mail_once_id(struct mr_arena *arena, const struct mr_mail_once *once, const char *id)
{
	return mr_arena_printf(arena, "%.*s%s", (int)strlen(ID_STAMP), id, once->digits);
}

enum mr_code mr_mail_once_check(struct mr_ctx *cx, const struct mr_mail_once *once, const char *id)
{
	if (strlen(id) == strlen(ID_STAMP) + ID_DIGITS &&
		mr_str_eq(id + strlen(ID_STAMP), once->digits))
		return MR_OK;
	mr_err_set(&cx->err, MR_ECONFLICT,
		"this Idempotency-Key was used for another request, which sent %s; give each "
		"message a key of its own",
		id);
	return mr_err_word(&cx->err, mr_mail_repeated);
}
