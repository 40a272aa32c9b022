/* op/mailbox/gateway_body.c - checks the bodies of requests to a gateway, and words what is wrong
 * with them as the contract does. */
#include "op/mailbox/gateway_body.h"

#include "base/utf8.h"
#include "text/json.h"
#include "text/out.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Problems past these are not listed, and a long body is not sent back with each of them. */
enum { ISSUES_MAX = 64, ECHO_BYTES = 64 << 10, DEPTH_MAX = 8 };

const char mr_gateway_body_invalid[] = "invalid_body";

static const char VERSION[] = "schema_version";
static const char NOT_AN_OBJECT[] =
	"Input should be a valid dictionary or object to extract fields from";

/* A step of a place: a key, or with NULL an index. */
struct step {
	const char *key;
	size_t index;
};

/* What is wrong, as it is written; and where the check is. */
struct check {
	struct mr_arena *arena;
	struct mr_out out;
	size_t count;
	struct step steps[DEPTH_MAX];
	size_t depth;
	bool may_echo; /* whole objects */
};

static void begin(struct check *c, struct mr_arena *arena)
{
	*c = (struct check){ .arena = arena, .may_echo = true };
	mr_out_init_tree(&c->out, arena);
	mr_out_list(&c->out, NULL);
}

static void put_place(struct check *c)
{
	mr_out_list(&c->out, "loc");
	mr_out_text(&c->out, NULL, "body");
	for (size_t i = 0; i < c->depth; i++) {
		if (c->steps[i].key)
			mr_out_text(&c->out, NULL, c->steps[i].key);
		else
			mr_out_int(&c->out, NULL, (int64_t)c->steps[i].index);
	}
	mr_out_end(&c->out);
}

/* `expected` is what a literal should be; "" for a rule of ours, NULL when there is no more to say.
 */
static void report(struct check *c, const char *type, const char *msg, const struct mr_value *input,
	const char *expected)
{
	static const struct mr_value none = { .kind = MR_NULL };

	if (c->count++ >= ISSUES_MAX)
		return;
	mr_out_map(&c->out, NULL);
	mr_out_text(&c->out, "type", type);
	put_place(c);
	mr_out_text(&c->out, "msg", msg);
	mr_out_value(&c->out, "input", input ? input : &none);
	if (expected) {
		mr_out_map(&c->out, "ctx");
		if (*expected) {
			mr_out_text(&c->out, "expected", expected);
		} else {
			mr_out_map(&c->out, "error");
			mr_out_end(&c->out);
		}
		mr_out_end(&c->out);
	}
	mr_out_end(&c->out);
}

static void report_rule(struct check *c, const char *why, const struct mr_value *input)
{
	report(c, "value_error", mr_arena_printf(c->arena, "Value error, %s", why), input, "");
}

/* The error, when there was anything. */
static enum mr_code finish(struct check *c, struct mr_err *err)
{
	mr_out_end(&c->out);
	if (!c->count)
		return MR_OK;
	mr_err_set(err, MR_EINVAL, "the body of the request is not valid (%zu %s)", c->count,
		c->count == 1 ? "problem" : "problems");
	err->detail = mr_out_tree(&c->out);
	return mr_err_word(err, mr_gateway_body_invalid);
}

/* --- values --- */

static bool enter(struct check *c, const char *key, size_t index)
{
	if (c->depth == DEPTH_MAX)
		return false;
	c->steps[c->depth++] = (struct step){ key, index };
	return true;
}

static void leave(struct check *c)
{
	c->depth--;
}

/* 'a', 'b' or 'c'; the words of a flag stand alone. */
static const char *list_choices(struct mr_arena *arena, const struct mr_param *param)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const char *quote = param->type == MR_TYPE_BOOL ? "" : "'";

	mr_buf_init(&text, ECHO_BYTES);
	for (size_t i = 0; param->choices[i]; i++)
		mr_buf_printf(&text, "%s%s%s%s",
			i == 0                          ? ""
				: param->choices[i + 1] ? ", "
							: " or ",
			quote, param->choices[i], quote);
	return mr_arena_strdup(arena, mr_buf_text(&text));
}

static bool is_choice(const struct mr_param *param, const struct mr_value *value)
{
	const char *text = value->kind == MR_TEXT ? value->text
		: value->kind != MR_BOOL          ? NULL
		: value->boolean                  ? "True"
						  : "False";

	for (size_t i = 0; param->choices[i]; i++) {
		if (mr_str_eq(text, param->choices[i]))
			return true;
	}
	return false;
}

/* What a value of another type is told, by the parameter's type. */
static const struct {
	enum mr_kind kind;
	const char *type, *msg;
} types[] = {
	[MR_TYPE_TEXT] = { MR_TEXT, "string_type", "Input should be a valid string" },
	[MR_TYPE_INT] = { MR_INT, "int_type", "Input should be a valid integer" },
	[MR_TYPE_BOOL] = { MR_BOOL, "bool_type", "Input should be a valid boolean" },
	[MR_TYPE_TEXTS] = { MR_LIST, "list_type", "Input should be a valid list" },
	[MR_TYPE_OBJECT] = { MR_MAP, "model_attributes_type", NOT_AN_OBJECT },
	[MR_TYPE_LIST] = { MR_LIST, "list_type", "Input should be a valid list" },
};

static void check_object(struct check *c, const struct mr_param *params,
	const struct mr_value *value);

static void check_items(struct check *c, const struct mr_param *param, const struct mr_value *value)
{
	enum mr_type type = param->type == MR_TYPE_TEXTS ? MR_TYPE_TEXT : MR_TYPE_OBJECT;

	for (size_t i = 0; i < value->list.len; i++) {
		const struct mr_value *item = &value->list.items[i];

		if (!enter(c, NULL, i))
			return;
		if (item->kind != types[type].kind)
			report(c, types[type].type, types[type].msg, item, NULL);
		else if (param->members)
			check_object(c, param->members, item);
		leave(c);
	}
}

/* Of the right type. */
static void check_rules(struct check *c, const struct mr_param *param, const struct mr_value *value)
{
	size_t before = c->count;
	const char *why = NULL;

	if (param->type == MR_TYPE_INT && param->max > param->min &&
		(value->integer < param->min || value->integer > param->max))
		why = mr_arena_printf(c->arena, "must be between %lld and %lld",
			(long long)param->min, (long long)param->max);
	if (param->type == MR_TYPE_TEXTS || param->type == MR_TYPE_LIST)
		check_items(c, param, value);
	else if (param->type == MR_TYPE_OBJECT && param->members)
		check_object(c, param->members, value);
	if (!why && c->count == before && param->refuse)
		why = param->refuse(c->arena, value);
	if (why)
		report_rule(c, why, value);
}

static void check_value(struct check *c, const struct mr_param *param, const struct mr_value *value)
{
	const char *expected;

	if (value->kind == MR_NULL && param->flags & MR_OR_NULL)
		return;
	if (param->choices && !is_choice(param, value)) {
		expected = list_choices(c->arena, param);
		report(c, "literal_error",
			mr_arena_printf(c->arena, "Input should be %s", expected), value, expected);
		return;
	}
	if (value->kind != types[param->type].kind)
		report(c, types[param->type].type, types[param->type].msg, value, NULL);
	else
		check_rules(c, param, value);
}

/* Parameters in their order, and then the keys that are none. */
static void check_object(struct check *c, const struct mr_param *params,
	const struct mr_value *value)
{
	for (size_t i = 0; i < mr_param_count(params); i++) {
		const struct mr_value *sent = mr_value_get(value, params[i].name);

		if (!enter(c, params[i].name, 0))
			return;
		if (sent)
			check_value(c, &params[i], sent);
		else if (params[i].flags & MR_REQUIRED)
			report(c, "missing", "Field required", c->may_echo ? value : NULL, NULL);
		leave(c);
	}
	for (size_t i = 0; i < value->map.len; i++) {
		const struct mr_pair *pair = &value->map.pairs[i];

		if (mr_param_find(params, pair->key))
			continue;
		if (!enter(c, pair->key, 0))
			return;
		report(c, "extra_forbidden", "Extra inputs are not permitted", &pair->value, NULL);
		leave(c);
	}
}

/* --- the whole body --- */

enum mr_code mr_gateway_body_refuse(struct mr_call *call, const char *key, const char *why)
{
	struct check c;
	const struct mr_value *input = call->body;

	begin(&c, call->cx.arena);
	if (key && enter(&c, key, 0))
		input = mr_value_get(call->body, key);
	report_rule(&c, why, input);
	return finish(&c, &call->cx.err);
}

static enum mr_code refuse_alone(struct mr_call *call, const char *type, const char *msg,
	const struct mr_value *input)
{
	struct check c;

	begin(&c, call->cx.arena);
	report(&c, type, msg, input, NULL);
	return finish(&c, &call->cx.err);
}

/* Where in the text the reader stopped: it says the line and the column. */
static size_t offset_of(struct mr_bytes body, const char *msg)
{
	static const char line_word[] = "at line ", column_word[] = " column ";
	const char *at = strstr(msg, line_word);
	unsigned long line, column;
	char *end;
	size_t offset = 0;

	if (!at)
		return 0;
	line = strtoul(at + strlen(line_word), &end, 10);
	if (!mr_str_starts(end, column_word))
		return 0;
	column = strtoul(end + strlen(column_word), NULL, 10);
	for (; line > 1 && offset < body.len; offset++)
		line -= body.data[offset] == '\n';
	offset += column > 0 ? column - 1 : 0;
	return offset < body.len ? offset : body.len;
}

/* The place is ["body", offset], and the reason stands in ctx. */
static enum mr_code refuse_json(struct mr_call *call, struct mr_bytes body)
{
	struct mr_err *err = &call->cx.err;
	const char *why = mr_arena_strdup(call->cx.arena, err->msg);
	struct mr_out out;

	mr_out_init_tree(&out, call->cx.arena);
	mr_out_list(&out, NULL);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "type", "json_invalid");
	mr_out_list(&out, "loc");
	mr_out_text(&out, NULL, "body");
	mr_out_int(&out, NULL, (int64_t)offset_of(body, why));
	mr_out_end(&out);
	mr_out_text(&out, "msg", "JSON decode error");
	mr_out_map(&out, "input");
	mr_out_end(&out);
	mr_out_map(&out, "ctx");
	mr_out_text(&out, "error", why);
	mr_out_end(&out);
	mr_out_end(&out);
	mr_out_end(&out);
	mr_err_set(err, MR_EINVAL, "the body of the request is not valid JSON");
	err->detail = mr_out_tree(&out);
	return mr_err_word(err, mr_gateway_body_invalid);
}

/* application/json and application/…+json, or nothing said. */
static bool is_json(const char *content_type)
{
	size_t len;

	if (!content_type)
		return true;
	len = strcspn(content_type, "; \t");
	return (len == 16 && strncasecmp(content_type, "application/json", len) == 0) ||
		(len > 17 && strncasecmp(content_type, "application/", 12) == 0 &&
			strncasecmp(content_type + len - 5, "+json", 5) == 0);
}

static enum mr_code check_body(struct mr_call *call, const struct mr_op *op,
	const struct mr_value *value, bool may_echo)
{
	const struct mr_value *version = mr_value_get(value, VERSION);
	struct check c;

	begin(&c, call->cx.arena);
	c.may_echo = may_echo;
	check_object(&c, op->params, value);
	if (!c.count && version && version->integer != 1)
		report_rule(&c, "schema_version must be 1", may_echo ? value : NULL);
	return finish(&c, &call->cx.err);
}

enum mr_code mr_gateway_body_read(struct mr_call *call, const struct mr_op *op,
	const char *content_type, struct mr_bytes body, const struct mr_value **out)
{
	const struct mr_value *value = NULL;
	struct mr_value text = { .kind = MR_TEXT, .text = "" };
	bool may_echo = body.len <= ECHO_BYTES;
	enum mr_code rc;

	if (body.len == 0)
		return refuse_alone(call, "missing", "Field required", NULL);
	if (!is_json(content_type)) {
		if (may_echo && mr_utf8_is_valid((const char *)body.data, body.len, NULL))
			text.text = (const char *)body.data;
		return refuse_alone(call, "model_attributes_type", NOT_AN_OBJECT, &text);
	}
	if (mr_json_parse(call->cx.arena, body, NULL, &value, &call->cx.err))
		return refuse_json(call, body);
	if (value->kind != MR_MAP)
		return refuse_alone(call, "model_attributes_type", NOT_AN_OBJECT,
			may_echo ? value : NULL);
	call->body = may_echo ? value : NULL;
	rc = check_body(call, op, value, may_echo);
	if (!rc)
		*out = value;
	return rc;
}
