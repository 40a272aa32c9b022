/* op/contract.c - Mailroom's own contract, and what holds where another says nothing. */
#include "op/contract.h"

#include "op/op.h"

static const struct mr_global_option plain_globals[] = {
	{ "--help", NULL, "show help for the command" },
	{ "--json", NULL, "print JSON instead of text" },
	{ "--yes", NULL, "answer yes to questions" },
	{ "--config", "FILE", "read settings from this mailroom.yaml" },
	{ "--env-file", "FILE", "read settings from this file of NAME=value lines, and trust it" },
	{ "--set", "KEY=VALUE", "override one setting; may be repeated" },
	{ "--version", NULL, "print the version" },
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
	.json_style = MR_JSON_COMPACT,
	.globals = plain_globals,
};

int mr_contract_exit_status(const struct mr_contract *contract, const struct mr_err *err)
{
	return contract->exit_status ? contract->exit_status(err) : mr_code_exit_status(err->code);
}

int mr_contract_http_status(const struct mr_contract *contract, const struct mr_err *err)
{
	return contract->http_status ? contract->http_status(err) : mr_code_http_status(err->code);
}

const struct mr_global_option *mr_contract_globals(const struct mr_op *op)
{
	return op && op->contract && op->contract->globals ? op->contract->globals : plain_globals;
}
