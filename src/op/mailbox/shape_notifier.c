/* op/mailbox/shape_notifier.c - the notifier's settings and notices as the contract has them. */
#include "op/mailbox/shape_notifier.h"

#define IT(member, ...) MR_FIELD(struct mr_shape_notifier, member, __VA_ARGS__)

const struct mr_field mr_shape_notifier_fields[] = {
	IT(schema_version, "schema_version"),
	IT(settings.enabled, "enabled"),
	{ .name = "interval_seconds",
		.type = MR_TYPE_INT,
		.flags = MR_NULLABLE,
		.summary = "how often to look although nothing happened",
		.from = MR_FROM(struct mr_shape_notifier, settings.interval_seconds),
		.when = MR_FLAG(struct mr_shape_notifier, settings.enabled) },
	IT(mode, "mode", .choices = mr_notice_modes),
	IT(settings.appendix_text, "appendix_text"),
	IT(policy, "context_error_policy", .choices = mr_notifier_context_policies),
	IT(action, "pre_notification_context_action", .choices = mr_notifier_pre_actions),
	IT(render, "notify_block_render", .choices = mr_notifier_renders),
	IT(auth_mode, "notify_block_auth_mode", .choices = mr_notice_auth_modes),
	IT(verifier, "notify_block_auth_verifier", .choices = mr_notice_verifiers),
	IT(tokens, "notify_block_shared_tokens", .summary = "digests of them"),
	IT(settings.rules.per_message_chars, "notify_block_per_message_chars"),
	IT(settings.rules.total_chars, "notify_block_total_chars"),
	IT(supported, "supported"),
	IT(support_error, "support_error", .flags = MR_NULLABLE),
	IT(settings.last_poll_at, "last_poll_at_utc", .flags = MR_NULLABLE),
	IT(settings.last_notification_at, "last_notification_at_utc", .flags = MR_NULLABLE),
	IT(settings.last_error, "last_error", .flags = MR_NULLABLE),
	{ 0 },
};

const struct mr_field mr_shape_notifier_full_fields[] = {
	MR_MEMBERS_SAME(struct mr_shape_notifier, mr_shape_notifier_fields),
	IT(channel, "channel", .choices = mr_notifier_channels,
		.summary = "how prompts get to the agent"),
	IT(settings.command, "command", .summary = "the program of the channel command"),
	IT(settings.command_timeout_seconds, "command_timeout_seconds"),
	{ 0 },
};

struct mr_shape_notifier mr_shape_notifier(struct mr_arena *arena,
	const struct mr_notifier_settings *settings, const char *unbound)
{
	return (struct mr_shape_notifier){
		.schema_version = 1,
		.settings = *settings,
		.mode = settings->mode,
		.policy = settings->context_error_policy,
		.action = settings->pre_notification_context_action,
		.render = settings->rules.render,
		.auth_mode = settings->rules.auth_mode,
		.verifier = settings->rules.verifier,
		.tokens = mr_notifier_settings_tokens(arena, &settings->rules.tokens),
		.supported = !unbound,
		.support_error = unbound,
		.channel = mr_notifier_channels[settings->channel],
	};
}

#define MESSAGE(member, ...) MR_FIELD(struct mr_shape_notice_message, member, __VA_ARGS__)

static const struct mr_field message_fields[] = {
	MESSAGE(ref, "message_ref"),
	MESSAGE(thread_ref, "thread_ref", .flags = MR_NULLABLE),
	MESSAGE(created_at, "created_at_utc"),
	MESSAGE(subject, "subject"),
	MESSAGE(from, "from", .flags = MR_NULLABLE, .summary = "the sender's address"),
	{ 0 },
};

const struct mr_field mr_shape_notice_fields[] = {
	MR_FIELD(struct mr_shape_notice, schema_version, "schema_version"),
	{ .name = "notice_id",
		.type = MR_TYPE_INT,
		.flags = MR_NULLABLE,
		.summary = "its number in the ledger; null: no mail came",
		.from = MR_FROM(struct mr_shape_notice, notice),
		.when = MR_FLAG(struct mr_shape_notice, has_notice) },
	MR_FIELD(struct mr_shape_notice, count, "message_count"),
	MR_FIELD_ROWS(struct mr_shape_notice, messages, len, struct mr_shape_notice_message,
		message_fields, "messages", .summary = "the oldest hundred of them"),
	MR_FIELD(struct mr_shape_notice, prompt, "prompt", .flags = MR_NULLABLE,
		.summary = "what the agent would be told"),
	{ 0 },
};

struct mr_shape_notice mr_shape_notice(struct mr_arena *arena, const struct mr_notifier_told *told)
{
	struct mr_shape_notice out = { .schema_version = 1 };

	if (!told->notice)
		return out;
	out.has_notice = true;
	out.notice = told->notice;
	out.count = told->count;
	out.prompt = told->prompt;
	out.messages = mr_arena_array(arena, told->messages.len + 1, sizeof(*out.messages));
	for (; out.len < told->messages.len; out.len++) {
		const struct mr_mail_message *message = &told->messages.items[out.len];

		out.messages[out.len] = (struct mr_shape_notice_message){
			.ref = message->ref,
			.thread_ref = message->thread_ref,
			.created_at = message->content.created_at_utc,
			.subject = message->content.subject,
			.from = message->content.sender.address,
		};
	}
	return out;
}

#define NOTICE(member, ...) MR_FIELD(struct mr_ledger_notice, member, __VA_ARGS__)
#define WHEN(member, ...)   MR_FIELD_TIME(struct mr_ledger_notice, member, __VA_ARGS__)

const struct mr_field mr_shape_ledger_notice_fields[] = {
	NOTICE(id, "notice_id"),
	NOTICE(state, "state", .choices = mr_ledger_states),
	NOTICE(channel, "channel", .summary = "tmux, command, long_poll or hook"),
	NOTICE(messages, "message_count"),
	NOTICE(subject, "subject", .flags = MR_NULLABLE, .summary = "of the first message"),
	WHEN(queued_us, "queued_at_utc"),
	WHEN(delivered_us, "delivered_at_utc", .flags = MR_NULLABLE),
	WHEN(settled_us, "settled_at_utc", .flags = MR_NULLABLE,
		.summary = "when it was acknowledged, given up or withdrawn"),
	WHEN(retry_us, "retry_at_utc", .flags = MR_NULLABLE,
		.summary = "when a failed one is tried again"),
	NOTICE(attempts, "attempts"),
	NOTICE(detail, "detail", .flags = MR_NULLABLE, .summary = "why it failed"),
	{ 0 },
};
