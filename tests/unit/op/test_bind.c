/* tests/unit/op/test_bind.c - tables bound to structs: both ways, and every operation's. */
#include "op/bind.h"
#include "op/mailbox/shape_mailbox.h"
#include "op/nouns.h"
#include "op/team/shape_team.h"
#include "test.h"
#include "text/json.h"

#include <stdio.h>
#include <string.h>

enum colour { RED, GREEN, BLUE };
static const char *const colours[] = { "red", "green", "blue", NULL };

struct inner {
	const char *name;
	bool by_id;
	const int64_t *ids;
	size_t id_count;
};
struct request {
	struct inner who;
	int64_t limit, cursor;
	bool bodies;
	int convert;
	struct mr_texts to;
	const struct mr_value *payload;
	const char *mode;
	enum colour front, back;
};

static const struct mr_param params[] = {
	MR_PARAM(struct request, who.name, "name"),
	MR_PARAM_IDS(struct request, who.ids, who.id_count, "ids",
		.given = MR_FLAG(struct request, who.by_id)),
	MR_PARAM(struct request, limit, "limit", .fallback = "20"),
	MR_PARAM(struct request, cursor, "cursor", .fallback = "where it was"),
	MR_PARAM(struct request, bodies, "bodies", .fallback = "true"),
	MR_PARAM(struct request, convert, "convert", .fallback = "as configured"),
	MR_PARAM(struct request, to, "to"),
	MR_PARAM(struct request, payload, "payload"),
	MR_PARAM(struct request, mode, "mode", .fallback = "safe"),
	MR_PARAM(struct request, front, "front", .choices = colours, .fallback = "green"),
	MR_PARAM(struct request, back, "back", .choices = colours),
	{ .name = "elsewhere", .type = MR_TYPE_TEXT },
	{ 0 },
};

static struct request fill(struct mr_arena *arena, const char *json)
{
	struct request request = { 0 };
	const struct mr_value *sent;
	struct mr_args in;
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), NULL, &sent, &err), err);
	CHECK_OK(mr_args_decode(arena, params, sent, &in, &err), err);
	mr_bind_request(arena, &in, &request);
	return request;
}

static void a_request_is_filled(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct request request = fill(arena,
		"{\"name\":\"Blue\",\"ids\":[4,5],\"limit\":7,\"cursor\":9,\"bodies\":false,"
		"\"convert\":true,\"to\":[\"a\",\"b\"],\"payload\":{\"x\":1},\"mode\":\"force\","
		"\"front\":\"red\",\"back\":\"blue\",\"elsewhere\":\"e\"}");

	CHECK_STR(request.who.name, "Blue");
	CHECK(request.who.by_id);
	CHECK_INT(request.who.id_count, 2);
	CHECK_INT(request.who.ids[1], 5);
	CHECK_INT(request.limit, 7);
	CHECK_INT(request.cursor, 9);
	CHECK(!request.bodies);
	CHECK_INT(request.convert, 1);
	CHECK_INT(request.to.len, 2);
	CHECK_STR(request.to.items[1], "b");
	CHECK(!request.to.items[2]);
	CHECK_INT(mr_value_get(request.payload, "x")->integer, 1);
	CHECK_STR(request.mode, "force");
	CHECK_INT(request.front, RED);
	CHECK_INT(request.back, BLUE);
}

static void what_is_left_out_has_its_default(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct request request = fill(arena, "{}");

	CHECK(!request.who.name && !request.payload && !request.mode);
	CHECK(!request.who.by_id);
	CHECK_INT(request.who.id_count, 0);
	CHECK_INT(request.limit, 20);
	CHECK_INT(request.cursor, 0);
	CHECK(request.bodies);
	CHECK_INT(request.convert, -1);
	CHECK_INT(request.to.len, 0);
	CHECK_INT(request.front, GREEN);
	CHECK_INT(request.back, RED);
	CHECK_INT(fill(arena, "{\"convert\":false}").convert, 0);
	CHECK(fill(arena, "{\"ids\":[]}").who.by_id);
}

struct leaf {
	const char *text;
	enum colour colour;
};
struct leaves {
	struct leaf *items;
	size_t len;
};
struct result {
	int64_t id, reply_to, created_ts, read_ts, size;
	int small;
	bool ok, has_more, with_time, is_measured;
	double score;
	const char *thread, *note;
	struct mr_texts names, warnings;
	const int64_t *ids;
	size_t id_count;
	struct leaf own;
	const struct leaf *pointed;
	struct leaves leaves;
	const struct mr_value *any;
};

static const struct mr_field leaf_fields[] = {
	MR_FIELD(struct leaf, text, "text"),
	MR_FIELD(struct leaf, colour, "colour", .choices = colours),
	{ 0 },
};

static const struct mr_field half_fields[] = {
	MR_FIELD(struct result, ok, "ok"),
	MR_FIELD(struct result, score, "score"),
	{ 0 },
};

static void put_count(struct mr_out *out, const char *key, const void *from)
{
	const struct leaves *leaves = from;

	mr_out_int(out, key, (int64_t)leaves->len);
}

static const struct mr_field fields[] = {
	MR_FIELD(struct result, id, "id"),
	MR_FIELD(struct result, reply_to, "reply_to", .flags = MR_NULLABLE),
	MR_FIELD_TIME(struct result, created_ts, "created_ts"),
	MR_FIELD_TIME(struct result, read_ts, "read_ts", .flags = MR_OPTIONAL | MR_NULLABLE,
		.when = MR_FLAG(struct result, with_time)),
	MR_FIELD(struct result, small, "small"),
	MR_FIELD(struct result, has_more, "has_more", .flags = MR_OPTIONAL),
	MR_FIELD(struct result, thread, "thread", .flags = MR_NULLABLE),
	MR_FIELD(struct result, note, "note", .flags = MR_OPTIONAL),
	MR_FIELD(struct result, names, "names"),
	MR_FIELD(struct result, warnings, "warnings", .flags = MR_OPTIONAL),
	{ .name = "ids", .type = MR_TYPE_INTS, .from = MR_INTO_IDS(struct result, ids, id_count) },
	MR_FIELD_STRUCT(struct result, own, struct leaf, leaf_fields, "own"),
	MR_FIELD_STRUCT(struct result, pointed, struct leaf, leaf_fields, "pointed",
		.flags = MR_NULLABLE),
	MR_FIELD_LIST(struct result, leaves, struct leaf, leaf_fields, "leaves"),
	MR_FIELD(struct result, any, "any", .flags = MR_OPTIONAL),
	MR_FIELD_SAME(struct result, half_fields, "half"),
	MR_MEMBERS(struct result, own, struct leaf, leaf_fields),
	MR_FIELD(struct result, size, "size", .flags = MR_NULLABLE,
		.when = MR_FLAG(struct result, is_measured)),
	{ .name = "count",
		.type = MR_TYPE_INT,
		.from = MR_FROM_STRUCT(struct result, leaves, struct leaves),
		.emit = put_count },
	{ 0 },
};

static const char *text_of(struct mr_arena *arena, const struct result *result)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;

	mr_buf_init(&text, 1 << 16);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_bind_object(&out, NULL, fields, result);
	return mr_arena_strdup(arena, mr_buf_text(&text));
}

static void a_result_is_written(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct leaf leaves[] = { { "a", RED }, { NULL, GREEN } };
	const char *names[] = { "x", "y", NULL };
	const int64_t ids[] = { 7, 8 };
	const struct mr_value any = { .kind = MR_MAP };
	const struct result result = {
		.id = 1,
		.reply_to = 2,
		.created_ts = 1,
		.read_ts = 2000000,
		.small = -3,
		.ok = true,
		.has_more = true,
		.with_time = true,
		.is_measured = true,
		.score = 0.5,
		.thread = "t",
		.note = "n",
		.names = { names, 2 },
		.warnings = { names, 1 },
		.ids = ids,
		.id_count = 2,
		.own = { "o", GREEN },
		.pointed = &leaves[0],
		.leaves = { leaves, 2 },
		.any = &any,
	};

	CHECK_STR(text_of(arena, &result),
		"{\"id\":1,\"reply_to\":2,\"created_ts\":\"1970-01-01T00:00:00.000001Z\","
		"\"read_ts\":\"1970-01-01T00:00:02.000000Z\",\"small\":-3,\"has_more\":true,"
		"\"thread\":\"t\",\"note\":\"n\",\"names\":[\"x\",\"y\"],\"warnings\":[\"x\"],"
		"\"ids\":[7,8],\"own\":{\"text\":\"o\",\"colour\":\"green\"},"
		"\"pointed\":{\"text\":\"a\",\"colour\":\"red\"},"
		"\"leaves\":[{\"text\":\"a\",\"colour\":\"red\"},"
		"{\"text\":null,\"colour\":\"green\"}],\"any\":{},"
		"\"half\":{\"ok\":true,\"score\":0.5},\"text\":\"o\",\"colour\":\"green\","
		"\"size\":0,\"count\":2}");
}

static void what_says_nothing_is_null_or_left_out(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct result result = { 0 };

	CHECK_STR(text_of(arena, &result),
		"{\"id\":0,\"reply_to\":null,\"created_ts\":null,\"small\":0,\"thread\":null,"
		"\"names\":[],\"ids\":[],\"own\":{\"text\":null,\"colour\":\"red\"},"
		"\"pointed\":null,\"leaves\":[],\"half\":{\"ok\":false,\"score\":0.0},"
		"\"text\":null,\"colour\":\"red\",\"size\":null,\"count\":0}");
	result.with_time = true;
	CHECK(strstr(text_of(arena, &result), "\"created_ts\":null,\"read_ts\":null,\"small\""));
}

struct wrapped {
	const struct leaf *leaf;
	int64_t age;
};

static const struct mr_field wrapped_fields[] = {
	MR_MEMBERS(struct wrapped, leaf, struct leaf, leaf_fields),
	MR_FIELD(struct wrapped, age, "age"),
	{ 0 },
};

static void the_members_of_a_struct_elsewhere_stand_among_others(void)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const struct leaf leaf = { "x", BLUE };
	const struct wrapped wrapped = { &leaf, 3 };
	struct mr_out out;

	mr_buf_init(&text, 1 << 16);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_bind_object(&out, NULL, wrapped_fields, &wrapped);
	CHECK_STR(mr_buf_text(&text), "{\"text\":\"x\",\"colour\":\"blue\",\"age\":3}");
}

/* Which types of a table a member can serve. */
static bool serves(const struct mr_member *member, enum mr_type type)
{
	switch (member->type) {
	case MR_C_TEXT:
	case MR_C_TIME:
		return type == MR_TYPE_TEXT;
	case MR_C_INT64:
	case MR_C_ULONG:
		return type == MR_TYPE_INT;
	case MR_C_INT:
	case MR_C_BOOL:
		return type == MR_TYPE_BOOL || (type == MR_TYPE_INT && member->type == MR_C_INT);
	case MR_C_UNSIGNED:
		return type == MR_TYPE_TEXT || type == MR_TYPE_INT;
	case MR_C_REAL:
		return type == MR_TYPE_REAL;
	case MR_C_TEXTS:
		return type == MR_TYPE_TEXTS;
	case MR_C_VALUE:
		return type == MR_TYPE_OBJECT || type == MR_TYPE_LIST;
	case MR_C_IDS:
		return type == MR_TYPE_INTS;
	case MR_C_STRUCT:
	case MR_C_POINTER:
		return type == MR_TYPE_OBJECT;
	case MR_C_LIST:
		return type == MR_TYPE_LIST;
	case MR_C_NONE:
		break;
	}
	return false;
}

static bool is_checked_alone(const struct mr_param *param)
{
	return strcmp(param->name, "schema_version") == 0;
}

static bool is_param_right(const struct mr_param *param, const char *of)
{
	const struct mr_member *member = &param->into;

	/* What a strict contract has checked already goes nowhere. */
	if (!member->type && is_checked_alone(param))
		return true;
	if (!member->type || strcmp(member->of, of) != 0 || !serves(member, param->type))
		return false;
	/* An enum is the place of one of its choices, and nothing else is let through. */
	if (member->type == MR_C_UNSIGNED && (!param->choices || param->flags & MR_LENIENT))
		return false;
	return !param->given.type || strcmp(param->given.of, of) == 0;
}

/* Every argument goes into the struct `of`. */
static void check_params(const struct mr_op *op, const char *of)
{
	for (size_t i = 0; i < mr_param_count(op->params); i++) {
		bool is_right = is_param_right(&op->params[i], of);

		if (!is_right)
			printf("# %s: the argument %s is not bound to %s\n", op->name,
				op->params[i].name, of);
		CHECK(is_right);
	}
}

static bool is_field_right(const struct mr_field *field, const char *of)
{
	const struct mr_member *member = &field->from;

	if (!member->type || strcmp(member->of, of) != 0)
		return false;
	if (field->when.type && strcmp(field->when.of, of) != 0)
		return false;
	/* An enum's word is one of its choices. */
	if (member->type == MR_C_UNSIGNED && field->type == MR_TYPE_TEXT && !field->choices &&
		!field->emit)
		return false;
	if (member->item && !field->fields && !field->emit)
		return false;
	return field->flags & MR_INCLUDED || field->emit || serves(member, field->type);
}

/* Every field of a table comes from the struct `of`. */
static void check_fields(const struct mr_op *op, const struct mr_field *table, const char *of)
{
	for (size_t i = 0; i < mr_field_count(table); i++) {
		bool is_right = is_field_right(&table[i], of);

		if (!is_right)
			printf("# %s: the field %s is not bound to %s\n", op->name, table[i].name,
				of);
		CHECK(is_right);
		if (table[i].fields && table[i].from.item)
			check_fields(op, table[i].fields, table[i].from.item);
	}
}

/* Operations whose result is that of another one, which they are told. */
static bool may_be_unbound(const struct mr_op *op)
{
	return mr_str_eq(op->name, "call_extended_tool") || mr_str_eq(op->name, "mailbox_script");
}

/* An operation whose arguments the part merges with what is stored: left out is not empty. */
static bool merges_its_body(const struct mr_op *op)
{
	return mr_str_eq(op->name, "gateway_notifier_put");
}

static void check_operation(const struct mr_op *op)
{
	bool is_right = !op->bind == may_be_unbound(op) && !op->run == (op->bind != NULL) &&
		!op->result == may_be_unbound(op);

	if (!is_right)
		printf("# %s is %s\n", op->name, op->bind ? "bound" : "not bound");
	CHECK(is_right);
	if (!op->bind)
		return;
	if (!merges_its_body(op))
		check_params(op, op->bind->request);
	check_fields(op, op->result, op->bind->result);
}

static void every_operation_is_bound_to_its_structs(void)
{
	for (size_t i = 0; i < mr_nouns.len; i++)
		check_operation(mr_nouns.ops[i]);
	CHECK(mr_nouns.len > 0);
}

/* The words of an enum stand in its order: that is how a bound field finds them. */
static void the_teams_words_are_in_their_order(void)
{
	for (size_t i = 0; mr_shape_team_importances[i]; i++)
		CHECK_STR(mr_shape_team_importances[i], mr_team_importance_name(i));
	for (size_t i = 0; mr_shape_team_kinds[i]; i++)
		CHECK_STR(mr_shape_team_kinds[i], mr_team_kind_name(i));
	for (size_t i = 0; mr_shape_team_attachments_policies[i]; i++)
		CHECK_STR(mr_shape_team_attachments_policies[i],
			mr_team_attachments_policy_name(i));
	for (size_t i = 0; mr_shape_team_contact_policies[i]; i++)
		CHECK_STR(mr_shape_team_contact_policies[i], mr_team_contact_policy_name(i));
	for (size_t i = 0; mr_shape_team_link_statuses[i]; i++)
		CHECK_STR(mr_shape_team_link_statuses[i], mr_team_link_status_name(i));
}

static void the_mailboxes_words_are_in_their_order(void)
{
	for (size_t i = 0; mr_shape_mailbox_statuses[i]; i++)
		CHECK_STR(mr_shape_mailbox_statuses[i], mr_mailbox_status_name(i));
	for (size_t i = 0; mr_shape_mailbox_kinds[i]; i++)
		CHECK_STR(mr_shape_mailbox_kinds[i], mr_mailbox_kind_name(i));
	CHECK_STR(mr_shape_mailbox_register_modes[MR_MAILBOX_SAFE], "safe");
	CHECK_STR(mr_shape_mailbox_register_modes[MR_MAILBOX_FORCE], "force");
	CHECK_STR(mr_shape_mailbox_register_modes[MR_MAILBOX_STASH], "stash");
	CHECK_STR(mr_shape_mailbox_unregister_modes[MR_MAILBOX_DEACTIVATE], "deactivate");
	CHECK_STR(mr_shape_mailbox_unregister_modes[MR_MAILBOX_PURGE], "purge");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_request_is_filled),
		TEST(what_is_left_out_has_its_default),
		TEST(a_result_is_written),
		TEST(what_says_nothing_is_null_or_left_out),
		TEST(the_members_of_a_struct_elsewhere_stand_among_others),
		TEST(every_operation_is_bound_to_its_structs),
		TEST(the_teams_words_are_in_their_order),
		TEST(the_mailboxes_words_are_in_their_order),
	};

	return test_main(tests, MR_LEN(tests));
}
