/* op/config.c - what is configured. */
#include "op/args.h"
#include "op/call.h"
#include "op/envelope.h"
#include "op/nouns.h"
#include "op/out.h"
#include "op/settings.h"

static const struct mr_field setting_fields[] = {
	{ .name = "key", .type = MR_TYPE_TEXT },
	{ .name = "value", .type = MR_TYPE_TEXT, .summary = "a secret shows as ********" },
	{ .name = "source", .type = MR_TYPE_TEXT },
	{ .name = "environment", .type = MR_TYPE_TEXT },
	{ .name = "summary", .type = MR_TYPE_TEXT },
	{ 0 },
};

static const struct mr_field result_fields[] = {
	{ .name = "settings", .type = MR_TYPE_LIST, .fields = setting_fields },
	{ 0 },
};

static enum mr_code show(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	(void)in;
	mr_out_map(out, NULL);
	mr_out_list(out, "settings");
	for (const struct mr_setting *s = mr_setting_table; s->key; s++) {
		mr_out_map(out, NULL);
		mr_out_text(out, "key", s->key);
		mr_out_text(out, "value",
			mr_settings_shown(call->cx.arena, call->app->settings, s->key));
		mr_out_text(out, "source", mr_settings_source(call->app->settings, s->key));
		mr_out_text(out, "environment", s->env);
		mr_out_text(out, "summary", s->summary);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_config = {
	.name = "config",
	.command = "config",
	.summary = "Show the settings in force and where each came from",
	.help = "Command line (--set key=value) > environment > .env in the working directory > "
		"mailroom.yaml (--config FILE, $MAILROOM_CONFIG, the working directory, or "
		"~/.config/mailroom) > default.",
	.result = result_fields,
	.surfaces = MR_ON_CLI,
	.envelope = &mr_envelope_plain,
	.run = show,
	.render = mr_render_settings,
};
