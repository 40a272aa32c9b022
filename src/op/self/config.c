/* op/self/config.c - operation: the settings in force, and where each value came from. */
#include "app/settings.h"
#include "op/call.h"
#include "op/contract.h"
#include "op/nouns.h"

struct shown {
	const char *key, *value, *source, *ignored, *environment, *summary;
};

static const struct mr_field setting_fields[] = {
	MR_FIELD(struct shown, key, "key"),
	MR_FIELD(struct shown, value, "value", .summary = "a secret shows as ********"),
	MR_FIELD(struct shown, source, "source"),
	MR_FIELD(struct shown, ignored, "ignored", .flags = MR_NULLABLE,
		.summary = "a value in the working directory that is ignored, and why"),
	MR_FIELD(struct shown, environment, "environment"),
	MR_FIELD(struct shown, summary, "summary"),
	{ 0 },
};

struct settings {
	struct shown *items;
	size_t len;
};

static const struct mr_field result_fields[] = {
	MR_FIELD_ROWS(struct settings, items, len, struct shown, setting_fields, "settings"),
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

static enum mr_code show_all(struct mr_call *call, const struct mr_nothing *asked,
	struct settings *out)
{
	const struct mr_settings *settings = call->app->settings;
	size_t count = 0;

	(void)asked;
	while (mr_setting_table[count].key)
		count++;
	out->items = mr_arena_array(call->cx.arena, count, sizeof(*out->items));
	for (const struct mr_setting *s = mr_setting_table; s->key; s++)
		out->items[out->len++] = (struct shown){
			.key = s->key,
			.value = mr_settings_shown(call->cx.arena, settings, s->key),
			.source = mr_settings_source(settings, s->key),
			.ignored = why_ignored(call, s->key),
			.environment = s->env,
			.summary = s->summary,
		};
	return MR_OK;
}
MR_BIND_ALONE(show, show_all, struct mr_nothing, struct settings);

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
	.bind = &show,
	.render = mr_render_settings,
};
