/* op/envelope.c */
#include "op/envelope.h"

static void add_nothing(struct mr_out *out)
{
	(void)out;
}

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

static int plain_exit_status(const struct mr_err *err)
{
	return mr_code_exit_status(err->code);
}

static int plain_http_status(const struct mr_err *err)
{
	return mr_code_http_status(err->code);
}

const struct mr_envelope mr_envelope_plain = {
	.begin_result = add_nothing,
	.end_result = add_nothing,
	.error = plain_error,
	.exit_status = plain_exit_status,
	.http_status = plain_http_status,
	.json_style = MR_JSON_COMPACT,
};
