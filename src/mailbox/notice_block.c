/* mailbox/notice_block.c - quotes senders' notices for a wake-up: verified, cut, and harmless. */
#include "mailbox/notice_block.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <string.h>

#define ELLIPSIS "\xe2\x80\xa6"
#define DASH     "\xe2\x80\x94"

const char *const mr_notice_auth_modes[] = { "permissive-log", "required", NULL };
const char *const mr_notice_verifiers[] = { "none", "shared-token", NULL };

enum { REPLACEMENT = 0xfffd };

/* Where Python's splitlines() ends a line. */
static bool ends_line(uint32_t c)
{
	return (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 ||
		c == 0x2029;
}

/* Would a terminal obey it, or a reader see the text in another order? */
static bool is_command(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || c == 0x061c ||
		(c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* Two characters that would begin or end a placeholder of a template. */
static bool is_placeholder(uint32_t last, uint32_t c)
{
	return (last == '{' && (c == '{' || c == '%' || c == '#')) ||
		(c == '}' && (last == '}' || last == '%' || last == '#'));
}

/* One character as it may stand in a line; `last` is the one before it. */
static void put_plain(struct mr_buf *buf, uint32_t c, uint32_t last)
{
	if (is_placeholder(last, c))
		mr_buf_putc(buf, ' ');
	if (c == '\t')
		mr_buf_putc(buf, ' ');
	else
		mr_buf_put_utf8(buf, is_command(c) ? REPLACEMENT : c);
}

const char *mr_notice_block_plain(struct mr_arena *arena, const char *text)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	size_t len = strlen(text);
	uint32_t last = 0;

	mr_buf_init(&buf, len * 4 + 1);
	while (len > 0) {
		uint32_t c = REPLACEMENT;
		size_t n = mr_utf8_next(text, len, &c);

		put_plain(&buf, ends_line(c) ? ' ' : c, last);
		last = c;
		n = n ? n : 1;
		text += n;
		len -= n;
	}
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

/* The text as lines behind "> ". */
static void put_quoted(struct mr_buf *buf, struct mr_arena *arena, const char *text)
{
	const char *end = text + strlen(text);

	while (text < end) {
		const char *at = text;
		uint32_t c = 0;
		size_t n = 0, len;

		for (; at < end; at += n) {
			n = mr_utf8_next(at, (size_t)(end - at), &c);
			n = n ? n : 1;
			if (ends_line(c))
				break;
		}
		len = (size_t)(at - text);
		mr_buf_puts(buf, len ? "\n> " : "\n>");
		mr_buf_puts(buf, mr_notice_block_plain(arena, mr_arena_strndup(arena, text, len)));
		text = at < end ? at + n : end;
		if (c == '\r' && text < end && *text == '\n')
			text++;
	}
}

/* At most `max` characters, of which the last then is an ellipsis. */
static const char *cut(struct mr_arena *arena, const char *text, int64_t max, bool *was_cut)
{
	size_t len = strlen(text);
	size_t most = max < 1 ? 1 : (size_t)max;

	*was_cut = mr_utf8_count(text, len) > most;
	if (!*was_cut)
		return text;
	return mr_arena_printf(arena, "%.*s" ELLIPSIS, (int)mr_utf8_prefix(text, len, most - 1),
		text);
}

/* Compared with every token, however early one fits: the time tells nothing about them. */
static bool is_listed(const struct mr_texts *tokens, const char *token)
{
	bool found = false;

	for (size_t i = 0; i < tokens->len; i++)
		found |= mr_str_eq_secret(tokens->items[i], token);
	return found;
}

static bool verify(const struct mr_notice_rules *rules, const struct mr_notice_mail *mail,
	struct mr_notice_entry *entry)
{
	const char *token = mail->notify_auth ? mail->notify_auth->token : NULL;

	entry->auth_scheme = mr_notice_verifiers[rules->verifier];
	entry->auth_outcome = "skipped";
	entry->auth_detail = "no verifier configured";
	if (rules->verifier == MR_NOTICE_NO_VERIFIER)
		return true;
	entry->auth_outcome = "failed";
	if (!token) {
		entry->auth_detail = "missing notify_auth.token";
		return false;
	}
	if (!is_listed(&rules->tokens, token)) {
		entry->auth_detail = "token not in allowlist";
		return false;
	}
	entry->auth_outcome = "passed";
	entry->auth_detail = "token matched allowlist";
	return true;
}

/* The two slots being filled. */
struct desk {
	struct mr_arena *arena;
	const struct mr_notice_rules *rules;
	struct mr_buf prepend, append;
	int64_t left; /* of rules->total_chars */
	size_t crowded_out;
};

static void desk_release(struct desk *desk)
{
	mr_buf_release(&desk->prepend);
	mr_buf_release(&desk->append);
}

static void put_line(struct mr_buf *buf, const char *text)
{
	if (buf->len > 0)
		mr_buf_putc(buf, '\n');
	mr_buf_puts(buf, text);
}

static const char *word(struct mr_arena *arena, const struct mr_notice_mail *mail, const char *text)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, strlen(text) * 8 + strlen(mail->from) * 4 + 100);
	mr_buf_puts(&buf, "Sender notice " DASH " from ");
	mr_buf_puts(&buf, mr_notice_block_plain(arena, mail->from));
	mr_buf_putc(&buf, ':');
	put_quoted(&buf, arena, text);
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

static void show(struct desk *desk, const struct mr_notice_mail *mail,
	struct mr_notice_entry *entry)
{
	const struct mr_notice_rules *rules = desk->rules;
	bool is_verified, was_cut = false;
	const char *text, *shown;
	int64_t chars;

	entry->ref = mail->ref;
	if (!rules->render) {
		entry->auth_scheme = mr_notice_verifiers[rules->verifier];
		entry->auth_outcome = "skipped";
		entry->auth_detail = "render disabled";
		return;
	}
	is_verified = verify(rules, mail, entry);
	if (!is_verified && rules->auth_mode == MR_NOTICE_REQUIRED)
		return;
	text = cut(desk->arena, mail->notify_block->text, rules->per_message_chars, &was_cut);
	shown = word(desk->arena, mail, text);
	chars = (int64_t)mr_utf8_count(shown, strlen(shown));
	if (chars > desk->left) {
		entry->auth_detail = "aggregate cap reached";
		desk->crowded_out++;
		return;
	}
	desk->left -= chars;
	put_line(mail->notify_block->prepend ? &desk->prepend : &desk->append, shown);
	entry->rendered = true;
	entry->block_chars = (int64_t)mr_utf8_count(text, strlen(text));
	entry->truncated = was_cut;
}

static size_t room_for(const struct mr_notice_mail *mails, size_t count)
{
	size_t room = 200;

	for (size_t i = 0; i < count; i++)
		if (mails[i].notify_block)
			room += strlen(mails[i].notify_block->text) * 8 +
				strlen(mails[i].from) * 4 + 100;
	return room;
}

void mr_notice_block_render(struct mr_arena *arena, const struct mr_notice_rules *rules,
	const struct mr_notice_mail *mails, size_t count, struct mr_notice_slots *out)
{
	struct desk desk MR_CLEANUP(desk_release) = {
		.arena = arena,
		.rules = rules,
		.left = rules->total_chars,
	};
	struct mr_notice_slots slots = {
		.entries = mr_arena_array(arena, count + 1, sizeof(*slots.entries)),
	};

	mr_buf_init(&desk.prepend, room_for(mails, count));
	mr_buf_init(&desk.append, room_for(mails, count));
	for (size_t i = 0; i < count; i++)
		if (mails[i].notify_block)
			show(&desk, &mails[i], &slots.entries[slots.len++]);
	if (desk.crowded_out)
		put_line(desk.append.len ? &desk.append : &desk.prepend,
			mr_arena_printf(arena,
				"+ %zu more sender notice(s) " DASH " open inbox to read",
				desk.crowded_out));
	slots.prepend = desk.prepend.len
		? mr_arena_printf(arena, "%s\n\n", mr_buf_text(&desk.prepend))
		: "";
	slots.append =
		desk.append.len ? mr_arena_printf(arena, "\n\n%s", mr_buf_text(&desk.append)) : "";
	*out = slots;
}
