/* op/contract.c - Mailroom's own contract, and what holds where another says nothing. */
#include "op/contract.h"

#include "app/settings.h"
#include "op/call.h"
#include "op/command.h"

static const struct mr_global_option plain_globals[] = {
	{ "--help", NULL, "show help for the command", MR_GLOBAL_HELP, 'h' },
	{ "--json", NULL, "print JSON instead of text", MR_GLOBAL_FORMAT },
	{ "--yes", NULL, "answer yes to questions", MR_GLOBAL_YES, 'y' },
	{ "--absolute", NULL, "show times as dates, not as \"3 min ago\"", MR_GLOBAL_ABSOLUTE },
	{ "--config", "FILE", "read settings from this mailroom.yaml", MR_GLOBAL_CONFIG },
	{ "--env-file", "FILE", "read settings from this file of NAME=value lines, and trust it",
		MR_GLOBAL_ENV_FILE },
	{ "--set", "KEY=VALUE", "override one setting; may be repeated", MR_GLOBAL_SET },
	{ "--version", NULL, "print the version", MR_GLOBAL_VERSION },
	{ 0 },
};

static void write_text(struct mr_buf *out, const struct mr_op *op, const struct mr_value *value,
	const struct mr_render *how)
{
	(op && op->render ? op->render : mr_render_value)(out, value, how);
}

static const struct mr_format plain_formats[] = {
	{ .name = "text", .write = write_text, .is_for_people = true },
	{ .name = "json", .json_style = MR_JSON_COMPACT },
	{ 0 },
};

static void plain_error(struct mr_out *out, const struct mr_err *err)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "detail", err->msg);
	mr_out_text(out, "code", mr_code_name(err->code));
	mr_out_bool(out, "retryable", mr_code_is_retryable(err->code));
	if (err->word)
		mr_out_text(out, "word", err->word);
	if (err->issues) {
		mr_out_list(out, "issues");
		for (size_t i = 0; i < err->issues->len; i++) {
			mr_out_map(out, NULL);
			mr_out_text(out, "path", err->issues->items[i].path);
			mr_out_text(out, "message", err->issues->items[i].msg);
			mr_out_end(out);
		}
		mr_out_end(out);
	}
	mr_out_end(out);
}

const struct mr_contract mr_contract_plain = {
	.error = plain_error,
	.globals = plain_globals,
	.formats = plain_formats,
};

const struct mr_contract *mr_contract_of(const struct mr_op_table *table, const struct mr_op *op)
{
	if (op && op->contract)
		return op->contract;
	return table->contract ? table->contract : &mr_contract_plain;
}

const struct mr_contract *mr_contract_at(const struct mr_op_table *table, const char *path)
{
	return mr_contract_of(table, *path ? mr_command_first(table, path) : NULL);
}

void mr_contract_error(const struct mr_contract *contract, struct mr_out *out,
	const struct mr_err *err)
{
	(contract->error ? contract->error : plain_error)(out, err);
}

int mr_contract_exit_status(const struct mr_contract *contract, const struct mr_err *err)
{
	return contract->exit_status ? contract->exit_status(err) : mr_code_exit_status(err->code);
}

int mr_contract_http_status(const struct mr_contract *contract, const struct mr_err *err)
{
	return contract->http_status ? contract->http_status(err) : mr_code_http_status(err->code);
}

const struct mr_global_option *mr_contract_globals(const struct mr_contract *contract)
{
	return contract->globals ? contract->globals : plain_globals;
}

const struct mr_format *mr_contract_formats(const struct mr_contract *contract)
{
	return contract->formats ? contract->formats : plain_formats;
}

const struct mr_format *mr_contract_format(const struct mr_contract *contract, const char *name)
{
	const struct mr_format *format = mr_contract_formats(contract);

	while (name && format->name && !mr_str_eq(format->name, name))
		format++;
	return format->name ? format : NULL;
}

bool mr_contract_is_tool(const struct mr_app *app, const struct mr_op *op)
{
	if (op->surfaces & MR_ON_MCP)
		return true;
	return op->surfaces & MR_ON_MCP_SET && op->contract && op->contract->offers &&
		op->contract->offers(app);
}

bool mr_contract_is_listed(const struct mr_app *app, const struct mr_op *op)
{
	const char *mode = mr_settings_text(app->settings, "mcp.tools_mode");
	unsigned traits = MR_CORE | MR_STANDARD;

	if (!mr_contract_is_tool(app, op))
		return false;
	if (mr_str_eq(mode, "core"))
		traits = MR_CORE;
	return mr_str_eq(mode, "extended") || op->traits & traits;
}
