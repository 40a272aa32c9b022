/* op/mailbox/houmao.c - the mailbox's operations as the program houmao-mgr has them. */
#include "op/mailbox/houmao.h"

#include "base/arena.h"
#include "op/mailbox/contract_mail.h"
#include "op/mailbox/mail_session.h"
#include "op/mailbox/mail_words.h"
#include "op/nouns.h"
#include "text/json.h"

#include <string.h>

#define MAIL "mail "

/* --- older names --- */

static const char *const prefixes[] = { "agents ", "agents self ", "agents single " };

/* Ours under the reference's names. */
static const struct {
	const char *command;
	const struct mr_op *op;
} mailbox_verbs[] = {
	{ "gateway mail-notifier disable", &mr_op_agents_notifier_disable },
	{ "gateway mail-notifier enable", &mr_op_agents_notifier_enable },
	{ "gateway mail-notifier status", &mr_op_agents_notifier_status },
	{ "mailbox register", &mr_op_agents_bind },
	{ "mailbox status", &mr_op_agents_mailbox_status },
	{ "mailbox unregister", &mr_op_agents_unbind },
};

/* "agents gateway mail-notifier status" has that name already; an operation that is hidden is among
 * the commands only here. */
static bool is_own_name(const struct mr_op *op, const char *prefix, const char *command)
{
	return !(op->traits & MR_HIDDEN) && mr_str_starts(op->command, prefix) &&
		mr_str_eq(op->command + strlen(prefix), command);
}

static struct mr_op *copy_as(struct mr_arena *arena, const struct mr_op *op, const char *prefix,
	const char *command)
{
	struct mr_op *copy = mr_arena_memdup(arena, op, sizeof(*op));

	copy->command = mr_arena_printf(arena, "%s%s", prefix, command);
	copy->traits |= MR_HIDDEN;
	return copy;
}

const struct mr_op *const *mr_houmao_aliases(struct mr_arena *arena, size_t *len)
{
	const struct mr_op **out = mr_arena_array(arena,
		(mr_nouns.len + MR_LEN(mailbox_verbs)) * MR_LEN(prefixes), sizeof(*out));

	*len = 0;
	for (size_t p = 0; p < MR_LEN(prefixes); p++) {
		for (size_t i = 0; i < mr_nouns.len; i++) {
			const struct mr_op *op = mr_nouns.ops[i];

			if (op->command && mr_str_starts(op->command, MAIL))
				out[(*len)++] = copy_as(arena, op, prefixes[p], op->command);
		}
		for (size_t i = 0; i < MR_LEN(mailbox_verbs); i++) {
			struct mr_op *copy;

			if (is_own_name(mailbox_verbs[i].op, prefixes[p], mailbox_verbs[i].command))
				continue;
			copy = copy_as(arena, mailbox_verbs[i].op, prefixes[p],
				mailbox_verbs[i].command);
			copy->contract = &mr_contract_agent;
			out[(*len)++] = copy;
		}
	}
	return out;
}

/* --- the contract --- */

static const struct mr_global_option globals[] = {
	{ MR_MAIL_AGENT_NAME, "NAME", "the agent that the command is for", MR_GLOBAL_OWN },
	{ MR_MAIL_AGENT_ID, "ID", "the same by its id", MR_GLOBAL_OWN },
	{ MR_MAIL_PORT, "N", "ask the server at this port for the agent's mail", MR_GLOBAL_OWN },
	{ "--print-plain", NULL, "print text (the usual form)", MR_GLOBAL_FORMAT },
	{ "--print-json", NULL, "print JSON", MR_GLOBAL_FORMAT },
	{ "--print-fancy", NULL, "print text", MR_GLOBAL_FORMAT },
	{ "--yes", NULL, "answer yes to questions", MR_GLOBAL_YES },
	{ "--help", NULL, "show help for the command", MR_GLOBAL_HELP, 'h' },
	{ "--version", NULL, "print the version", MR_GLOBAL_VERSION },
	{ 0 },
};

static void write_text(struct mr_buf *out, const struct mr_op *op, const struct mr_value *value,
	const struct mr_render *how)
{
	(op && op->render ? op->render : mr_render_value)(out, value, how);
}

static void write_json(struct mr_buf *out, const struct mr_op *op, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_json_writer json;

	(void)op;
	(void)how;
	mr_json_init(&json, out, MR_JSON_INDENTED | MR_JSON_SORTED | MR_JSON_ASCII);
	mr_json_value(&json, value);
	mr_buf_putc(out, '\n');
}

/* Failures are told in words on standard error, whatever the format. */
static const struct mr_format formats[] = {
	{ .name = "print-plain", .write = write_text, .is_for_people = true },
	{ .name = "print-json", .write = write_json, .is_for_people = true },
	{ .name = "print-fancy", .write = write_text, .is_for_people = true },
	{ 0 },
};

/* "--message-ref is required" for a problem at $.message_ref. */
static void put_issue(struct mr_buf *out, const struct mr_issue *issue)
{
	const char *name = issue->path + strspn(issue->path, "$.");
	size_t len = strcspn(name, ".[");

	mr_buf_puts(out, len ? "--" : "");
	for (size_t i = 0; i < len; i++)
		mr_buf_putc(out, name[i] == '_' ? '-' : name[i]);
	mr_buf_putc(out, ' ');
	mr_render_text(out, issue->msg);
}

static bool tell(struct mr_buf *out, const struct mr_err *err, const struct mr_render *how)
{
	(void)how;
	mr_buf_puts(out, "Error: ");
	if (!err->issues)
		mr_render_text(out, err->msg);
	for (size_t i = 0; err->issues && i < err->issues->len; i++) {
		mr_buf_puts(out, i ? "; " : "");
		put_issue(out, &err->issues->items[i]);
	}
	mr_buf_putc(out, '\n');
	return true;
}

/* What an operation refused is no wrong usage, unless it says so. */
static const char failed[] = "operation_failed";

static void leave(struct mr_call *call, const struct mr_op *op, void *part, enum mr_code rc)
{
	if (rc && !call->is_usage && !call->cx.err.word)
		call->cx.err.word = failed;
	mr_contract_mail.leave(call, op, part, rc);
}

static int exit_status(const struct mr_err *err)
{
	bool is_usage = err->code == MR_EINVAL && (!err->word || err->word == mr_mail_usage);

	return is_usage ? 2 : 1;
}

/* The usual format first: the one that the environment names. */
static const struct mr_format *order_formats(struct mr_arena *arena, const char *style)
{
	struct mr_format *out = mr_arena_memdup(arena, formats, sizeof(formats));
	const char *name = mr_arena_printf(arena, "print-%s", style ? style : "");

	for (size_t i = 1; out[i].name; i++) {
		if (mr_str_eq_nocase(out[i].name, name)) {
			struct mr_format first = out[i];

			out[i] = out[0];
			out[0] = first;
			break;
		}
	}
	return out;
}

static const struct mr_contract *make_contract(struct mr_arena *arena, const char *style)
{
	struct mr_contract *contract = mr_arena_memdup(arena, &mr_contract_mail, sizeof(*contract));

	contract->globals = globals;
	contract->formats = order_formats(arena, style);
	contract->tell = tell;
	contract->leave = leave;
	contract->exit_status = exit_status;
	return contract;
}

/* --- the table --- */

static bool is_mailbox_op(const struct mr_op *op)
{
	return op->command &&
		(mr_str_starts(op->command, "mailbox ") || mr_str_starts(op->command, "agents ")) &&
		!(op->traits & MR_HIDDEN);
}

struct mr_op_table mr_houmao_table(struct mr_arena *arena, const struct mr_op *help,
	const char *style)
{
	const struct mr_contract *contract = make_contract(arena, style);
	size_t alias_count = 0;
	const struct mr_op *const *aliases = mr_houmao_aliases(arena, &alias_count);
	const struct mr_op **ops =
		mr_arena_array(arena, alias_count + mr_nouns.len + 1, sizeof(*ops));
	struct mr_op_table table = {
		.ops = ops,
		.contract = contract,
		.program = "houmao-mgr",
		.about = "Agents' mailboxes: the commands of houmao-mgr that Mailroom has",
	};

	for (size_t i = 0; i < alias_count; i++)
		ops[table.len++] = aliases[i];
	for (size_t i = 0; i < mr_nouns.len; i++)
		if (is_mailbox_op(mr_nouns.ops[i]))
			ops[table.len++] = mr_nouns.ops[i];
	for (size_t i = 0; i < table.len; i++) {
		struct mr_op *op = mr_arena_memdup(arena, ops[i], sizeof(*op));

		op->contract = contract;
		op->traits &= ~(unsigned)MR_HIDDEN;
		ops[i] = op;
	}
	ops[table.len++] = help;
	return table;
}
