/* tests/unit/op/test_dispatch.c */
#include "app/metrics.h"
#include "op/args.h"
#include "op/contract.h"
#include "op/dispatch.h"
#include "test.h"

#include <string.h>

static enum mr_code greet(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	const char *name = mr_args_text(in, "name");

	if (mr_str_eq(name, "nobody"))
		return mr_err_set(&call->cx.err, MR_ENOTFOUND, "there is no %s", name);
	mr_out_map(out, NULL);
	mr_out_text(out, "greeting",
		mr_arena_printf(call->cx.arena, "hello %s", name ? name : "all"));
	mr_out_end(out);
	return MR_OK;
}

static const struct mr_param params[] = {
	{ .name = "name", .type = MR_TYPE_TEXT, .flags = MR_REQUIRED },
	{ 0 },
};

static void wrap(struct mr_out *out, const struct mr_call *call, const struct mr_op *op,
	const struct mr_value *emitted)
{
	CHECK(!call->is_usage);
	CHECK_STR(op->name, "greet");
	mr_out_list(out, NULL);
	mr_out_value(out, NULL, emitted);
	mr_out_end(out);
}

static const struct mr_contract wrapping = { .result = wrap };

struct fixture {
	struct mr_arena *arena;
	struct mr_clock_fixed clock;
	struct mr_app app;
	struct mr_call call;
	struct mr_buf text;
	struct mr_out out;
	struct mr_op op;
};

static void set_up(struct fixture *f)
{
	*f = (struct fixture){ .arena = mr_arena_new() };
	mr_clock_fixed_init(&f->clock, 1000000);
	f->app = (struct mr_app){ .metrics = mr_metrics_new(), .clock = &f->clock.clock };
	f->call = mr_dispatch_call(&f->app, f->arena);
	mr_buf_init(&f->text, 1 << 20);
	mr_out_init_json(&f->out, &f->text, MR_JSON_COMPACT);
	f->op = (struct mr_op){
		.name = "greet",
		.summary = "Greet somebody",
		.params = params,
		.contract = &mr_contract_plain,
		.run = greet,
	};
}

static void tear_down(struct fixture *f)
{
	mr_buf_release(&f->text);
	mr_metrics_free(f->app.metrics);
	mr_arena_free(f->arena);
}

static struct mr_value *args_of(struct mr_arena *arena, const char *name)
{
	struct mr_pair pair = { "name", { .kind = MR_TEXT, .text = name } };
	struct mr_value *map = mr_arena_alloc(arena, sizeof(*map));

	map->kind = MR_MAP;
	map->map.pairs = mr_arena_memdup(arena, &pair, sizeof(pair));
	map->map.len = 1;
	return map;
}

static void runs_and_counts(void)
{
	struct fixture f;
	struct mr_buf metrics;

	set_up(&f);
	CHECK_OK(mr_dispatch(&f.call, &f.op, args_of(f.arena, "fox"), &f.out), f.call.cx.err);
	CHECK_STR(mr_buf_text(&f.text), "{\"greeting\":\"hello fox\"}");
	mr_buf_clear(&f.text);
	CHECK_INT(mr_dispatch(&f.call, &f.op, args_of(f.arena, "nobody"), &f.out), MR_ENOTFOUND);
	CHECK_STR(f.call.cx.err.msg, "there is no nobody");
	CHECK(!f.call.is_usage);
	CHECK_INT(mr_dispatch(&f.call, &f.op, NULL, &f.out), MR_EINVAL);
	CHECK(f.call.is_usage);
	mr_buf_init(&metrics, 1 << 20);
	mr_metrics_write(f.app.metrics, &metrics);
	CHECK(strstr(mr_buf_text(&metrics),
		"mailroom_tool_calls_total{tool=\"greet\",status=\"ok\"} 1\n"));
	CHECK(strstr(mr_buf_text(&metrics),
		"mailroom_tool_calls_total{tool=\"greet\",status=\"error\"} 2\n"));
	mr_buf_release(&metrics);
	tear_down(&f);
}

static void wraps_as_the_contract_says(void)
{
	struct fixture f;

	set_up(&f);
	f.op.contract = &wrapping;
	CHECK_OK(mr_dispatch(&f.call, &f.op, args_of(f.arena, "fox"), &f.out), f.call.cx.err);
	CHECK_STR(mr_buf_text(&f.text), "[{\"greeting\":\"hello fox\"}]");
	CHECK_INT(mr_dispatch(&f.call, &f.op, args_of(f.arena, "nobody"), &f.out), MR_ENOTFOUND);
	tear_down(&f);
}

static void readers_may_not_write(void)
{
	struct fixture f;

	set_up(&f);
	f.op.needs = MR_NEED_WRITE;
	CHECK_INT(mr_dispatch(&f.call, &f.op, args_of(f.arena, "fox"), &f.out), MR_EPERM);
	CHECK_STR(f.call.cx.err.msg, "greet changes something, and you may only read");
	CHECK_INT(f.text.len, 0);
	f.call.may_write = true;
	CHECK_OK(mr_dispatch(&f.call, &f.op, args_of(f.arena, "fox"), &f.out), f.call.cx.err);
	tear_down(&f);
}

static void some_parameters_are_for_the_command_line(void)
{
	static const struct mr_param local[] = {
		{ .name = "name", .type = MR_TYPE_TEXT, .flags = MR_CLI_ONLY },
		{ 0 },
	};
	struct mr_invocation typed = { 0 };
	struct fixture f;

	set_up(&f);
	f.op.params = local;
	CHECK_INT(mr_dispatch(&f.call, &f.op, args_of(f.arena, "fox"), &f.out), MR_EINVAL);
	CHECK_STR(f.call.cx.err.msg, "name can be given on the command line only");
	CHECK(f.call.is_usage);
	CHECK_INT(f.text.len, 0);
	CHECK_OK(mr_dispatch(&f.call, &f.op, NULL, &f.out), f.call.cx.err);
	mr_buf_clear(&f.text);
	mr_out_init_json(&f.out, &f.text, MR_JSON_COMPACT);
	f.call.invocation = &typed;
	CHECK_OK(mr_dispatch(&f.call, &f.op, args_of(f.arena, "fox"), &f.out), f.call.cx.err);
	CHECK_STR(mr_buf_text(&f.text), "{\"greeting\":\"hello fox\"}");
	tear_down(&f);
}

struct house {
	const char *word;
	int left;
};
static struct house house = { .word = "welcome" };

static enum mr_code enter_house(struct mr_call *call, const struct mr_op *op,
	const struct mr_args *in, void **part)
{
	CHECK_STR(op->name, "greet");
	if (strcmp(mr_args_text(in, "name"), "thief") == 0)
		return mr_err_set(&call->cx.err, MR_EPERM, "no");
	CHECK(part && !*part);
	*part = &house;
	return MR_OK;
}

static void leave_house(struct mr_call *call, const struct mr_op *op, void *part, enum mr_code rc)
{
	(void)op;
	CHECK(!rc || rc == call->cx.err.code);
	CHECK(part == (rc == MR_EPERM ? NULL : &house));
	house.left++;
}

static const struct mr_contract entering = { .enter = enter_house, .leave = leave_house };

struct guest {
	const char *name;
};
struct welcomed {
	const char *greeting;
	int64_t left;
};

static const struct mr_param guest_params[] = {
	MR_PARAM(struct guest, name, "name", .flags = MR_REQUIRED),
	{ 0 },
};

static const struct mr_field welcomed_fields[] = {
	MR_FIELD(struct welcomed, greeting, "greeting"),
	MR_FIELD(struct welcomed, left, "left"),
	{ 0 },
};

static enum mr_code welcome(struct mr_ctx *cx, struct house *in, const struct guest *guest,
	struct welcomed *out)
{
	if (strcmp(guest->name, "nobody") == 0)
		return mr_err_set(&cx->err, MR_ENOTFOUND, "there is nobody");
	out->greeting = mr_arena_printf(cx->arena, "%s %s", in->word, guest->name);
	out->left = in->left;
	return MR_OK;
}
MR_BIND(welcoming, welcome, struct house, struct guest, struct welcomed);

static void a_bound_call_gets_the_part_that_was_entered(void)
{
	struct fixture f;

	set_up(&f);
	house.left = 0;
	f.op.contract = &entering;
	f.op.params = guest_params;
	f.op.result = welcomed_fields;
	f.op.run = NULL;
	f.op.bind = &welcoming;
	CHECK_OK(mr_dispatch(&f.call, &f.op, args_of(f.arena, "fox"), &f.out), f.call.cx.err);
	CHECK_STR(mr_buf_text(&f.text), "{\"greeting\":\"welcome fox\",\"left\":0}");
	CHECK_INT(house.left, 1);
	mr_buf_clear(&f.text);
	CHECK_INT(mr_dispatch(&f.call, &f.op, args_of(f.arena, "nobody"), &f.out), MR_ENOTFOUND);
	CHECK_INT(mr_dispatch(&f.call, &f.op, args_of(f.arena, "thief"), &f.out), MR_EPERM);
	CHECK_INT(f.text.len, 0);
	/* Also after what was refused. */
	CHECK_INT(house.left, 3);
	tear_down(&f);
}

static enum mr_code enter_without_part(struct mr_call *call, const struct mr_op *op,
	const struct mr_args *in, void **part)
{
	(void)call;
	(void)op;
	(void)in;
	CHECK(!part);
	return MR_OK;
}

static const struct mr_contract partless = { .enter = enter_without_part };

static enum mr_code wave(struct mr_call *call, const struct guest *guest, struct welcomed *out)
{
	call->is_silent = strcmp(guest->name, "cat") == 0;
	out->greeting = guest->name;
	return MR_OK;
}
MR_BIND_ALONE(waving, wave, struct guest, struct welcomed);

static void an_operation_may_do_without_its_part_and_without_a_result(void)
{
	struct fixture f;

	set_up(&f);
	f.op.contract = &partless;
	f.op.params = guest_params;
	f.op.result = welcomed_fields;
	f.op.run = NULL;
	f.op.bind = &waving;
	CHECK_OK(mr_dispatch(&f.call, &f.op, args_of(f.arena, "fox"), &f.out), f.call.cx.err);
	CHECK_STR(mr_buf_text(&f.text), "{\"greeting\":\"fox\",\"left\":0}");
	mr_buf_clear(&f.text);
	CHECK_OK(mr_dispatch(&f.call, &f.op, args_of(f.arena, "cat"), &f.out), f.call.cx.err);
	CHECK_INT(f.text.len, 0);
	tear_down(&f);
}

static bool answer(void *arg, const char *question)
{
	CHECK_STR(question, "Delete everything?");
	return *(bool *)arg;
}

static void destruction_is_confirmed(void)
{
	struct fixture f;
	bool yes = false;

	set_up(&f);
	CHECK_INT(mr_dispatch_confirm(&f.call, "Delete everything?"), MR_ENOTCONFIRMED);
	CHECK_STR(f.call.cx.err.msg, "not confirmed, nothing was done: Delete everything?");
	f.call.confirm = answer;
	f.call.confirm_arg = &yes;
	CHECK_INT(mr_dispatch_confirm(&f.call, "Delete everything?"), MR_ENOTCONFIRMED);
	yes = true;
	CHECK_OK(mr_dispatch_confirm(&f.call, "Delete everything?"), f.call.cx.err);
	f.call.confirm = NULL;
	f.call.confirmed = true;
	CHECK_OK(mr_dispatch_confirm(&f.call, "Delete everything?"), f.call.cx.err);
	tear_down(&f);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(runs_and_counts),
		TEST(wraps_as_the_contract_says),
		TEST(a_bound_call_gets_the_part_that_was_entered),
		TEST(an_operation_may_do_without_its_part_and_without_a_result),
		TEST(readers_may_not_write),
		TEST(some_parameters_are_for_the_command_line),
		TEST(destruction_is_confirmed),
	};

	return test_main(tests, MR_LEN(tests));
}
