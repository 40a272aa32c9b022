/* tests/support/table.h - a small table of operations for tests of the command line. */
#pragma once

#include "op/op.h"

static const char *const table_modes[] = { "safe", "force", NULL };

static const char *const table_letters[] = { "l", NULL };

static const struct mr_param table_send_params[] = {
	{ .name = "subject", .type = MR_TYPE_TEXT, .flags = MR_REQUIRED, .summary = "what about" },
	{ .name = "limit",
		.type = MR_TYPE_INT,
		.summary = "how many",
		.fallback = "20",
		.aliases = table_letters },
	{ .name = "ack_required", .type = MR_TYPE_BOOL, .summary = "ask for an answer" },
	{ .name = "cc", .type = MR_TYPE_TEXTS, .summary = "copies" },
	{ .name = "mode", .type = MR_TYPE_TEXT, .summary = "it's how", .choices = table_modes },
	{ .name = "to",
		.type = MR_TYPE_TEXTS,
		.flags = MR_POSITIONAL | MR_REQUIRED,
		.summary = "who" },
	{ 0 },
};

static const struct mr_param table_show_params[] = {
	{ .name = "mode",
		.type = MR_TYPE_TEXT,
		.flags = MR_POSITIONAL,
		.summary = "how",
		.choices = table_modes },
	{ 0 },
};

static const struct mr_op table_send = {
	.name = "send",
	.command = "team mail send",
	.summary = "Send a message",
	.help = "It is kept for ever.",
	.params = table_send_params,
};
static const struct mr_op table_inbox = {
	.name = "inbox",
	.command = "team inbox",
	.summary = "Show an inbox",
};
static const struct mr_op table_health = {
	.name = "health",
	.command = "health",
	.summary = "Check",
};
static const struct mr_op table_ready = {
	.name = "ready",
	.command = "health ready",
	.summary = "Check more",
	.params = table_show_params,
};
static const struct mr_op table_hidden = { .name = "hidden", .route = "GET /x" };

static const struct mr_op *const table_ops[] = {
	&table_send,
	&table_inbox,
	&table_health,
	&table_ready,
	&table_hidden,
};
static const struct mr_op_table table = { table_ops, MR_LEN(table_ops) };
