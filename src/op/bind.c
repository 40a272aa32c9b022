/* op/bind.c - fills requests and writes results by the tables that they are bound to. */
#include "op/bind.h"

#include "text/time.h"

static void store_ids(struct mr_arena *arena, const struct mr_member *member,
	const struct mr_value *value, char *request)
{
	size_t len = value ? value->list.len : 0;
	int64_t *ids = mr_arena_array(arena, len, sizeof(*ids));

	for (size_t i = 0; i < len; i++)
		ids[i] = value->list.items[i].integer;
	*(const int64_t **)(void *)(request + member->offset) = ids;
	*(size_t *)(void *)(request + member->len_offset) = len;
}

static struct mr_texts texts_of(struct mr_arena *arena, const struct mr_value *value)
{
	struct mr_texts texts = { NULL, value ? value->list.len : 0 };

	texts.items = mr_arena_array(arena, texts.len + 1, sizeof(*texts.items));
	for (size_t i = 0; i < texts.len; i++)
		texts.items[i] = value->list.items[i].text;
	return texts;
}

/* An int takes a number; or a flag, which is -1 when it was left out. */
static int int_of(const struct mr_param *param, const struct mr_value *value)
{
	if (param->type == MR_TYPE_BOOL)
		return value ? value->boolean : -1;
	return value ? (int)value->integer : 0;
}

/* An enum: the place of the text in the choices, which have it. */
static unsigned place_of(const struct mr_param *param, const struct mr_value *value)
{
	unsigned place = 0;

	while (value && !mr_str_eq(param->choices[place], value->text))
		place++;
	return place;
}

/* `value` is what was sent, or the default, or NULL. */
static void store(struct mr_arena *arena, const struct mr_param *param,
	const struct mr_value *value, char *request)
{
	void *at = request + param->into.offset;

	switch (param->into.type) {
	case MR_C_TEXT:
		*(const char **)at = value ? value->text : NULL;
		break;
	case MR_C_INT64:
		*(int64_t *)at = value ? value->integer : 0;
		break;
	case MR_C_INT:
		*(int *)at = int_of(param, value);
		break;
	case MR_C_UNSIGNED:
		*(unsigned *)at = place_of(param, value);
		break;
	case MR_C_BOOL:
		*(bool *)at = value && value->boolean;
		break;
	case MR_C_TEXTS:
		*(struct mr_texts *)at = texts_of(arena, value);
		break;
	case MR_C_VALUE:
		*(const struct mr_value **)at = value;
		break;
	case MR_C_IDS:
		store_ids(arena, &param->into, value, request);
		break;
	default:
		break;
	}
}

void mr_bind_request(struct mr_arena *arena, const struct mr_args *in, void *request)
{
	for (size_t i = 0; in->params && in->params[i].name; i++) {
		const struct mr_param *param = &in->params[i];
		const struct mr_value *value = in->values[i];
		struct mr_value fallback;

		if (param->given.type)
			*(bool *)(void *)((char *)request + param->given.offset) = value != NULL;
		/* A text that was left out is NULL: its part knows what that means. */
		if (!value && param->into.type != MR_C_TEXT && mr_param_default(param, &fallback))
			value = &fallback;
		store(arena, param, value, request);
	}
}

/* How many elements the list at this member has. */
static size_t list_len(const struct mr_member *member, const char *from)
{
	return *(const size_t *)(const void *)(from + member->len_offset);
}

/* Is there nothing to say: NULL, 0, false, an empty list? */
static bool is_nothing(const struct mr_member *member, const char *from)
{
	const void *at = from + member->offset;

	switch (member->type) {
	case MR_C_TEXT:
		return !*(const char *const *)at;
	case MR_C_INT64:
	case MR_C_TIME:
		return !*(const int64_t *)at;
	case MR_C_INT:
		return !*(const int *)at;
	case MR_C_UNSIGNED:
		return !*(const unsigned *)at;
	case MR_C_ULONG:
		return !*(const unsigned long *)at;
	case MR_C_BOOL:
		return !*(const bool *)at;
	case MR_C_TEXTS:
		return !((const struct mr_texts *)at)->len;
	case MR_C_VALUE:
		return !*(const struct mr_value *const *)at;
	case MR_C_POINTER:
		return !*(const void *const *)at;
	case MR_C_LIST:
	case MR_C_IDS:
		return !list_len(member, from);
	case MR_C_NONE:
	case MR_C_REAL:
	case MR_C_STRUCT:
		break;
	}
	return false;
}

static void put_time(struct mr_out *out, const char *key, int64_t time_us)
{
	char text[MR_TIME_BYTES];

	if (time_us == 0)
		mr_out_null(out, key);
	else
		mr_out_text(out, key, mr_time_write(text, time_us, MR_TIME_MICROS));
}

static void put_ids(struct mr_out *out, const char *key, const int64_t *ids, size_t len)
{
	mr_out_list(out, key);
	for (size_t i = 0; i < len; i++)
		mr_out_int(out, NULL, ids[i]);
	mr_out_end(out);
}

/* An enum is the word at its place, or a number. */
static void put_unsigned(struct mr_out *out, const struct mr_field *field, unsigned number)
{
	if (field->type == MR_TYPE_TEXT)
		mr_out_text(out, field->name, field->choices[number]);
	else
		mr_out_int(out, field->name, number);
}

static void put_value(struct mr_out *out, const struct mr_field *field, const char *from)
{
	const struct mr_member *member = &field->from;
	const void *at = from + member->offset;

	switch (member->type) {
	case MR_C_TEXT:
		mr_out_text(out, field->name, *(const char *const *)at);
		break;
	case MR_C_INT64:
		mr_out_int(out, field->name, *(const int64_t *)at);
		break;
	case MR_C_TIME:
		put_time(out, field->name, *(const int64_t *)at);
		break;
	case MR_C_INT:
		mr_out_int(out, field->name, *(const int *)at);
		break;
	case MR_C_UNSIGNED:
		put_unsigned(out, field, *(const unsigned *)at);
		break;
	case MR_C_ULONG:
		mr_out_int(out, field->name, (int64_t) * (const unsigned long *)at);
		break;
	case MR_C_BOOL:
		mr_out_bool(out, field->name, *(const bool *)at);
		break;
	case MR_C_REAL:
		mr_out_real(out, field->name, *(const double *)at);
		break;
	case MR_C_TEXTS:
		mr_out_texts(out, field->name, at);
		break;
	case MR_C_VALUE:
		mr_out_value(out, field->name, *(const struct mr_value *const *)at);
		break;
	case MR_C_IDS:
		put_ids(out, field->name, *(const int64_t *const *)at, list_len(member, from));
		break;
	case MR_C_STRUCT:
		mr_bind_object(out, field->name, field->fields, at);
		break;
	case MR_C_POINTER:
		mr_bind_object(out, field->name, field->fields, *(const void *const *)at);
		break;
	case MR_C_LIST:
		mr_bind_list(out, field->name, field->fields, *(const void *const *)at,
			list_len(member, from), member->item_size);
		break;
	case MR_C_NONE:
		break;
	}
}

/* Is it null: for want of a struct, or because it says nothing and may be? */
static bool is_null(const struct mr_field *field, const char *from)
{
	switch (field->from.type) {
	case MR_C_POINTER:
	case MR_C_VALUE:
		return is_nothing(&field->from, from);
	case MR_C_BOOL:
	case MR_C_TEXTS:
	case MR_C_LIST:
	case MR_C_IDS:
		return false;
	default:
		/* A 0 that `when` lets through is a number like others. */
		return field->flags & MR_NULLABLE && !field->when.type &&
			is_nothing(&field->from, from);
	}
}

/* Without `when` a field is there unless it has nothing to say and may be left out for that. */
static bool is_there(const struct mr_field *field, const char *from)
{
	if (field->when.type)
		return *(const bool *)(const void *)(from + field->when.offset);
	return !(field->flags & MR_OPTIONAL) || field->emit || !is_nothing(&field->from, from);
}

static void put_field(struct mr_out *out, const struct mr_field *field, const char *from)
{
	const char *at = from + field->from.offset;

	if (!is_there(field, from)) {
		if (!(field->flags & MR_OPTIONAL))
			mr_out_null(out, field->name);
	} else if (field->emit) {
		field->emit(out, field->name, at);
	} else if (field->flags & MR_INCLUDED) {
		mr_bind_members(out, field->fields,
			field->from.type == MR_C_POINTER ? *(const char *const *)(const void *)at
							 : at);
	} else if (is_null(field, from)) {
		mr_out_null(out, field->name);
	} else {
		put_value(out, field, from);
	}
}

void mr_bind_members(struct mr_out *out, const struct mr_field *fields, const void *from)
{
	for (size_t i = 0; fields[i].name; i++)
		put_field(out, &fields[i], from);
}

void mr_bind_object(struct mr_out *out, const char *key, const struct mr_field *fields,
	const void *from)
{
	mr_out_map(out, key);
	mr_bind_members(out, fields, from);
	mr_out_end(out);
}

void mr_bind_list(struct mr_out *out, const char *key, const struct mr_field *fields,
	const void *items, size_t len, size_t size)
{
	const char *item = items;

	mr_out_list(out, key);
	for (size_t i = 0; i < len; i++)
		mr_bind_object(out, NULL, fields, item + i * size);
	mr_out_end(out);
}
