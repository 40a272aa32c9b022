/* op/work/work_config.c - operations: read and set the configuration of a workspace. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/config.h"
#include "workspace/refresh.h"

/* --- what several of them share --- */

struct config_request {
	const char *key;
	struct mr_texts values;
	const char *json;
};

struct config_value {
	const char *key;
	const struct mr_value *value;
};

#define KEY_PARAM(request_type)                                                                    \
	MR_PARAM(request_type, key, "key", .flags = MR_REQUIRED | MR_POSITIONAL,                   \
		.summary = "the key, such as imap.host; `config list` shows all of them")

static const struct mr_field value_fields[] = {
	MR_WORK_FIELD(struct config_value, key, "the key"),
	MR_WORK_FIELD_NULL(struct config_value, value, "its value; a secret is shown as ***"),
	{ 0 },
};

/* The value as it may be shown. */
static const struct mr_value *shown(struct mr_arena *arena, const char *key,
	const struct mr_value *value)
{
	struct mr_value *stars;

	if (!value || value->kind == MR_NULL || !mr_str_ends(key, "_secret"))
		return value;
	stars = mr_arena_alloc(arena, sizeof(*stars));
	*stars = (struct mr_value){ .kind = MR_TEXT, .text = "***" };
	return stars;
}

/* What a setting command does last: the change was collected with `rc`. */
static enum mr_code finish(struct mr_ctx *cx, enum mr_code rc, struct mr_work_change *change,
	const char *key, struct config_value *result)
{
	if (!rc)
		rc = mr_work_carry_out(cx, change);
	result->key = key;
	result->value = shown(cx->arena, key, result->value);
	return rc;
}

static void begin(struct mr_ctx *cx, struct mr_work *work, struct mr_work_change *out)
{
	mr_work_change_begin(cx, work, "config_write", out);
}

/* --- show --- */

struct config_shown {
	const struct mr_value *config;
};

static const struct mr_field show_fields[] = {
	MR_WORK_FIELD(struct config_shown, config, "the whole configuration, without its secrets"),
	{ 0 },
};

static enum mr_code show(struct mr_ctx *cx, struct mr_work *work, struct mr_nothing *request,
	struct config_shown *result)
{
	const struct mr_work_config *config = NULL;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	(void)request;
	if (!rc)
		rc = mr_work_config_check_personas(cx, config);
	if (!rc)
		result->config = config->document;
	return rc;
}
MR_WORK_BIND(showing, show, struct mr_nothing, struct config_shown);

const struct mr_op mr_op_work_config_show = {
	.name = "work_config_show",
	.command = "work config show",
	.summary = "Show the configuration of the workspace",
	.code = "config",
	.result = show_fields,
	MR_WORK_OP,
	.bind = &showing,
	.render = mr_render_work_config,
};

/* --- get --- */

static const struct mr_param get_params[] = {
	KEY_PARAM(struct config_request),
	{ 0 },
};

static enum mr_code get(struct mr_ctx *cx, struct mr_work *work, struct config_request *request,
	struct config_value *result)
{
	enum mr_code rc = mr_work_config_value(cx, work, request->key, &result->value);

	result->key = request->key;
	result->value = shown(cx->arena, request->key, result->value);
	return rc;
}
MR_WORK_BIND(getting, get, struct config_request, struct config_value);

const struct mr_op mr_op_work_config_get = {
	.name = "work_config_get",
	.command = "work config get",
	.summary = "Show the value of one key",
	.code = "config_value",
	.params = get_params,
	.result = value_fields,
	MR_WORK_OP,
	.bind = &getting,
	.render = mr_render_work_config_value,
};

/* --- set, unset --- */

static const struct mr_param set_params[] = {
	KEY_PARAM(struct config_request),
	MR_PARAM(struct config_request, values, "values", .flags = MR_POSITIONAL,
		.summary = "the value; several for a list"),
	MR_PARAM(struct config_request, json, "json",
		.summary = "the value in JSON, for identities and steps"),
	{ 0 },
};

static enum mr_code set(struct mr_ctx *cx, struct mr_work *work, struct config_request *request,
	struct config_value *result)
{
	struct mr_work_change change;
	enum mr_code rc;

	if (request->json && request->values.len)
		return mr_err_set(&cx->err, MR_EINVAL,
			"--json replaces the values: give one of them");
	begin(cx, work, &change);
	rc = request->json ? mr_work_config_set_json(cx, work, request->key, request->json, &change,
				     &result->value)
			   : mr_work_config_set(cx, work, request->key, &request->values, &change,
				     &result->value);
	return finish(cx, rc, &change, request->key, result);
}
MR_WORK_BIND(setting, set, struct config_request, struct config_value);

const struct mr_op mr_op_work_config_set = {
	.name = "work_config_set",
	.command = "work config set",
	.summary = "Set a key",
	.help = "The whole configuration is checked before it is written. A password is better "
		"kept in an environment variable, whose name imap.password_secret_env or "
		"smtp.password_secret_env has.",
	.code = "config_updated",
	.params = set_params,
	.result = value_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &setting,
	.render = mr_render_work_config_updated,
};

static enum mr_code unset(struct mr_ctx *cx, struct mr_work *work, struct config_request *request,
	struct config_value *result)
{
	struct mr_work_change change;
	enum mr_code rc;

	begin(cx, work, &change);
	rc = mr_work_config_unset(cx, work, request->key, &change, &result->value);
	return finish(cx, rc, &change, request->key, result);
}
MR_WORK_BIND(unsetting, unset, struct config_request, struct config_value);

const struct mr_op mr_op_work_config_unset = {
	.name = "work_config_unset",
	.command = "work config unset",
	.summary = "Set a key back to its default",
	.code = "config_updated",
	.params = get_params,
	.result = value_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &unsetting,
	.render = mr_render_work_config_updated,
};

/* --- list --- */

static const struct mr_field item_fields[] = {
	MR_WORK_FIELD(struct mr_work_config_item, key, "the key"),
	MR_WORK_FIELD_NULL(struct mr_work_config_item, value,
		"its value; a secret is shown as ***"),
	MR_FIELD(struct mr_work_config_item, is_default, "default",
		.summary = "nobody has set it to something else"),
	{ 0 },
};
static const struct mr_field list_fields[] = {
	MR_WORK_FIELD(struct mr_work_config_listed, count, "how many there are"),
	MR_FIELD_ROWS(struct mr_work_config_listed, items, len, struct mr_work_config_item,
		item_fields, "items", .summary = "all keys that can be set"),
	{ 0 },
};

static enum mr_code list(struct mr_ctx *cx, struct mr_work *work, struct mr_nothing *request,
	struct mr_work_config_listed *result)
{
	enum mr_code rc = mr_work_config_list(cx, work, result);

	(void)request;
	for (size_t i = 0; !rc && i < result->len; i++)
		result->items[i].value =
			shown(cx->arena, result->items[i].key, result->items[i].value);
	return rc;
}
MR_WORK_BIND(listing, list, struct mr_nothing, struct mr_work_config_listed);

const struct mr_op mr_op_work_config_list = {
	.name = "work_config_list",
	.command = "work config list",
	.summary = "List all keys with their values",
	.code = "config_list",
	.result = list_fields,
	MR_WORK_OP,
	.bind = &listing,
	.render = mr_render_work_config_list,
};

/* --- add, remove --- */

#define ADD_PARAM(member, name, ...)                                                               \
	MR_PARAM(struct mr_work_config_add, member, name, .summary = __VA_ARGS__)
static const struct mr_param add_params[] = {
	KEY_PARAM(struct mr_work_config_add),
	ADD_PARAM(values, "values", "words to add, or the slug of an identity",
		.flags = MR_POSITIONAL),
	ADD_PARAM(name, "name", "the name of an identity"),
	ADD_PARAM(email, "email", "the address of an identity"),
	ADD_PARAM(is_default, "default", "mail is sent in the name of this identity by default"),
	ADD_PARAM(json, "json", "the identity in JSON"),
	{ 0 },
};

static enum mr_code add(struct mr_ctx *cx, struct mr_work *work, struct mr_work_config_add *request,
	struct config_value *result)
{
	struct mr_work_change change;
	enum mr_code rc;

	begin(cx, work, &change);
	rc = mr_work_config_add(cx, work, request, &change, &result->value);
	return finish(cx, rc, &change, request->key, result);
}
MR_WORK_BIND(adding, add, struct mr_work_config_add, struct config_value);

const struct mr_op mr_op_work_config_add = {
	.name = "work_config_add",
	.command = "work config add",
	.summary = "Add to a key that is a list, such as identities",
	.code = "config_updated",
	.params = add_params,
	.result = value_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &adding,
	.render = mr_render_work_config_updated,
};

static const struct mr_param remove_params[] = {
	KEY_PARAM(struct config_request),
	MR_PARAM(struct config_request, values, "values", .flags = MR_POSITIONAL,
		.summary = "words to remove, or slugs of identities"),
	{ 0 },
};

static enum mr_code take_out(struct mr_ctx *cx, struct mr_work *work,
	struct config_request *request, struct config_value *result)
{
	struct mr_work_change change;
	enum mr_code rc;

	begin(cx, work, &change);
	rc = mr_work_config_remove(cx, work, request->key, &request->values, &change,
		&result->value);
	return finish(cx, rc, &change, request->key, result);
}
MR_WORK_BIND(removing, take_out, struct config_request, struct config_value);

const struct mr_op mr_op_work_config_remove = {
	.name = "work_config_remove",
	.command = "work config remove",
	.summary = "Remove from a key that is a list",
	.code = "config_updated",
	.params = remove_params,
	.result = value_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &removing,
	.render = mr_render_work_config_updated,
};
