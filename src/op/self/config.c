/* op/self/config.c - operation: the settings in force, and where each value came from. */
#include "app/settings.h"
#include "op/args.h"
#include "op/call.h"
#include "op/contract.h"
#include "op/nouns.h"
#include "text/out.h"

static const struct mr_field setting_fields[] = {
	{ .name = "key", .type = MR_TYPE_TEXT },
	{ .name = "value", .type = MR_TYPE_TEXT, .summary = "a secret shows as ********" },
	{ .name = "source", .type = MR_TYPE_TEXT },
	{ .name = "ignored",
		.type = MR_TYPE_TEXT,
		.flags = MR_NULLABLE,
		.summary = "a value in the working directory that is ignored, and why" },
	{ .name = "environment", .type = MR_TYPE_TEXT },
	{ .name = "summary", .type = MR_TYPE_TEXT },
	{ 0 },
};

static const struct mr_field result_fields[] = {
	{ .name = "settings", .type = MR_TYPE_LIST, .fields = setting_fields },
	{ 0 },
};

/* Why a value in a file of the working directory is ignored, or NULL. */
static const char *why_ignored(struct mr_call *call, const char *key)
{
	const char *place = mr_settings_ignored(call->app->settings, key);

	return place ? mr_arena_printf(call->cx.arena,
			       "%s: a file in the working directory may not set it", place)
		     : NULL;
}

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
		mr_out_text(out, "ignored", why_ignored(call, s->key));
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
	.help = "Command line (--set key=value) > environment > --env-file FILE, or .env in the "
		"working directory > mailroom.yaml (--config FILE or $MAILROOM_CONFIG; else that "
		"of the working directory, then your own in $XDG_CONFIG_HOME/mailroom) > default. "
		"Files in the working directory that you did not name may not set endpoints, "
		"secrets, places to store, or what protects them: such values are ignored.",
	.result = result_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = show,
	.render = mr_render_settings,
};
