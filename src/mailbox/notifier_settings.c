/* mailbox/notifier_settings.c - the notifier's settings: their defaults, and the rules of a change.
 */
#include "mailbox/notifier_settings.h"

#include "base/utf8.h"
#include "text/digest.h"

#include <string.h>

const char *const mr_notifier_channels[] = { "tmux", "command", "none", NULL };
const char *const mr_notifier_context_policies[] = { "continue_current", "clear_context", NULL };
const char *const mr_notifier_pre_actions[] = { "none", "compact", NULL };
const char *const mr_notifier_renders[] = { "disabled", "enabled", NULL };

#define DIGEST_PREFIX "sha256:"

enum { DIGEST_DIGITS = 16, PER_MESSAGE_CHARS = 512, TOTAL_CHARS = 2048 };

struct mr_notifier_settings mr_notifier_settings_default(void)
{
	return (struct mr_notifier_settings){
		.appendix_text = "",
		.rules = { .render = true,
			.per_message_chars = PER_MESSAGE_CHARS,
			.total_chars = TOTAL_CHARS },
		.command_timeout_seconds = MR_NOTIFIER_COMMAND_SECONDS,
	};
}

static const char *shown(struct mr_arena *arena, const char *token)
{
	return mr_arena_printf(arena, DIGEST_PREFIX "%.*s", DIGEST_DIGITS,
		mr_digest_sha256(arena, mr_bytes_text(token)));
}

struct mr_texts mr_notifier_settings_tokens(struct mr_arena *arena, const struct mr_texts *tokens)
{
	struct mr_texts out = { mr_arena_array(arena, tokens->len + 1, sizeof(*out.items)),
		tokens->len };

	for (size_t i = 0; i < tokens->len; i++)
		out.items[i] = shown(arena, tokens->items[i]);
	return out;
}

/* What was shown in place of a token comes back from clients that read and write all settings. */
static const char *stored_token(struct mr_arena *arena, const struct mr_texts *before,
	const char *text)
{
	for (size_t i = 0; i < before->len && mr_str_starts(text, DIGEST_PREFIX); i++)
		if (mr_str_eq(shown(arena, before->items[i]), text))
			return before->items[i];
	return text;
}

static void read_tokens(struct mr_arena *arena, const struct mr_cursor *at,
	const struct mr_texts *before, struct mr_texts *out)
{
	struct mr_texts read = { NULL, 0 };

	if (!mr_cursor_is_present(at) || !mr_cursor_texts(at, &read))
		return;
	if (read.len > MR_NOTIFIER_TOKENS) {
		mr_cursor_refuse(at, "at most %d tokens", MR_NOTIFIER_TOKENS);
		return;
	}
	for (size_t i = 0; i < read.len; i++) {
		if (strlen(read.items[i]) > MR_NOTIFIER_TOKEN_BYTES) {
			mr_cursor_refuse(at, "a token has more than %d bytes",
				MR_NOTIFIER_TOKEN_BYTES);
			return;
		}
		read.items[i] = stored_token(arena, before, read.items[i]);
	}
	*out = read;
}

/* One of the words, where null is as good as nothing; `*out` gets its index. */
static void read_word(const struct mr_cursor *at, const char *const *words, bool may_be_null,
	size_t *out)
{
	if (at->value && (!may_be_null || at->value->kind != MR_NULL))
		mr_cursor_choice(at, words, out);
}

static void read_fixed(const struct mr_cursor *at, struct mr_notifier_settings *s)
{
	struct mr_cursor version = mr_cursor_key(at, "schema_version");
	struct mr_cursor enabled = mr_cursor_key(at, "enabled");
	struct mr_cursor interval = mr_cursor_key(at, "interval_seconds");
	int64_t number = 1;
	bool yes = true;

	if (version.value && mr_cursor_int(&version, INT64_MIN, INT64_MAX, &number) && number != 1)
		mr_cursor_refuse(&version, "Input should be 1");
	if (enabled.value && mr_cursor_bool(&enabled, &yes) && !yes)
		mr_cursor_refuse(&enabled, "Input should be True");
	mr_cursor_int(&interval, 1, MR_NOTIFIER_INTERVAL_MAX, &s->interval_seconds);
	s->enabled = true;
}

static void read_policies(const struct mr_cursor *at, struct mr_notifier_settings *s)
{
	struct mr_cursor mode_at = mr_cursor_key(at, "mode");
	struct mr_cursor appendix = mr_cursor_key(at, "appendix_text");
	struct mr_cursor policy_at = mr_cursor_key(at, "context_error_policy");
	struct mr_cursor action_at = mr_cursor_key(at, "pre_notification_context_action");
	size_t mode = MR_NOTICE_ANY_INBOX, policy = MR_NOTIFIER_CONTINUE_CURRENT;
	size_t action = MR_NOTIFIER_NO_ACTION;

	read_word(&mode_at, mr_notice_modes, false, &mode);
	if (appendix.value && mr_cursor_text(&appendix, &s->appendix_text) &&
		strlen(s->appendix_text) > MR_NOTIFIER_APPENDIX_BYTES)
		mr_cursor_refuse(&appendix, "at most %d bytes", MR_NOTIFIER_APPENDIX_BYTES);
	read_word(&policy_at, mr_notifier_context_policies, false, &policy);
	read_word(&action_at, mr_notifier_pre_actions, false, &action);
	if (action == MR_NOTIFIER_COMPACT)
		mr_cursor_refuse(&action_at,
			"`compact` is not supported: nobody but the agent's own program can "
			"compact its context");
	s->mode = (enum mr_notice_mode)mode;
	s->context_error_policy = (enum mr_notifier_context_policy)policy;
	s->pre_notification_context_action = (enum mr_notifier_pre_action)action;
}

static void read_rules(struct mr_arena *arena, const struct mr_cursor *at,
	struct mr_notice_rules *rules)
{
	struct mr_cursor render_at = mr_cursor_key(at, "notify_block_render");
	struct mr_cursor mode_at = mr_cursor_key(at, "notify_block_auth_mode");
	struct mr_cursor verifier_at = mr_cursor_key(at, "notify_block_auth_verifier");
	struct mr_cursor tokens = mr_cursor_key(at, "notify_block_shared_tokens");
	struct mr_cursor each = mr_cursor_key(at, "notify_block_per_message_chars");
	struct mr_cursor total = mr_cursor_key(at, "notify_block_total_chars");
	size_t render = rules->render, mode = rules->auth_mode, verifier = rules->verifier;

	read_word(&render_at, mr_notifier_renders, true, &render);
	read_word(&mode_at, mr_notice_auth_modes, true, &mode);
	read_word(&verifier_at, mr_notice_verifiers, true, &verifier);
	read_tokens(arena, &tokens, &rules->tokens, &rules->tokens);
	mr_cursor_int_opt(&each, 0, MR_NOTIFIER_CHARS_MAX, &rules->per_message_chars);
	mr_cursor_int_opt(&total, 0, MR_NOTIFIER_CHARS_MAX, &rules->total_chars);
	rules->render = render != 0;
	rules->auth_mode = (enum mr_notice_auth_mode)mode;
	rules->verifier = (enum mr_notice_verifier)verifier;
}

bool mr_notifier_settings_read(struct mr_arena *arena, const struct mr_cursor *at,
	const struct mr_notifier_settings *before, struct mr_notifier_settings *out)
{
	static const char *const known[] = { "schema_version", "enabled", "interval_seconds",
		"mode", "appendix_text", "context_error_policy", "pre_notification_context_action",
		"notify_block_render", "notify_block_auth_mode", "notify_block_auth_verifier",
		"notify_block_shared_tokens", "notify_block_per_message_chars",
		"notify_block_total_chars", NULL };
	struct mr_notifier_settings s = *before;

	if (!mr_cursor_map(at))
		return false;
	read_fixed(at, &s);
	read_policies(at, &s);
	read_rules(arena, at, &s.rules);
	mr_cursor_only(at, known);
	if (at->issues->len)
		return false;
	*out = s;
	return true;
}
