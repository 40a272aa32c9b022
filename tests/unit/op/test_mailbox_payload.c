/* tests/unit/op/test_mailbox_payload.c - blackbox/mailbox.py has every message of the contract. */
#include "op/mailbox/mailbox_payload.h"
#include "test.h"
#include "text/json.h"

static enum mr_code read_json(struct mr_ctx *cx, enum mr_mailbox_payload_kind kind,
	const char *json, struct mr_mailbox_payload *out)
{
	const struct mr_value *value;

	CHECK_OK(mr_json_parse(cx->arena, mr_bytes_text(json), NULL, &value, &cx->err), cx->err);
	return mr_mailbox_payload_read(cx, kind, value, out);
}

static void requests_are_read(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena };
	struct mr_mailbox_payload p;

	CHECK_OK(read_json(&cx, MR_MAILBOX_PAYLOAD_REGISTER,
			 "{\"mode\":\"stash\",\"address\":\" a@b \",\"owner_principal_id\":\"x\","
			 "\"mailbox_kind\":\"symlink\",\"mailbox_path\":\"/p\",\"role\":null}",
			 &p),
		cx.err);
	CHECK(p.registration.mode == MR_MAILBOX_STASH && p.registration.kind == MR_MAILBOX_SYMLINK);
	CHECK_STR(p.registration.address, "a@b");
	CHECK_STR(p.registration.path, "/p");
	CHECK_STR(p.registration.role, NULL);
	CHECK_OK(read_json(&cx, MR_MAILBOX_PAYLOAD_DEREGISTER,
			 "{\"mode\":\"purge\",\"address\":\"a@b\"}", &p),
		cx.err);
	CHECK(p.deregistration.mode == MR_MAILBOX_PURGE);
	CHECK_OK(read_json(&cx, MR_MAILBOX_PAYLOAD_STATE,
			 "{\"address\":\"a@b\",\"message_id\":"
			 "\"msg-20260311T041500Z-0123456789abcdef0123456789abcdef\",\"read\":true,"
			 "\"deleted\":false,\"starred\":null}",
			 &p),
		cx.err);
	CHECK_INT(p.state.flags.read, 1);
	CHECK_INT(p.state.flags.deleted, 0);
	CHECK_INT(p.state.flags.starred, -1);
	CHECK_OK(read_json(&cx, MR_MAILBOX_PAYLOAD_REPAIR, "{\"quarantine_staging\":false}", &p),
		cx.err);
	CHECK(p.repair.remove_staging && !p.repair.keep_staging);
}

static void problems_are_worded_by_the_contract(void)
{
	static const struct {
		struct mr_issue issue;
		const char *words;
	} rows[] = {
		{ { MR_ISSUE_MISSING, "$.a", "string", "is required" }, "Field required" },
		{ { MR_ISSUE_UNKNOWN, "$.a", NULL, "is not known" },
			"Extra inputs are not permitted" },
		{ { MR_ISSUE_TYPE, "$.a", "string", "x" }, "Input should be a valid string" },
		{ { MR_ISSUE_TYPE, "$.a", "list", "x" }, "Input should be a valid tuple" },
		{ { MR_ISSUE_TYPE, "$.a", "object", "x" }, "Input should be a valid dictionary" },
		{ { MR_ISSUE_TYPE, "$.a", "integer", "x" }, "Input should be a valid integer" },
		{ { MR_ISSUE_TYPE, "$.a", "boolean", "x" }, "Input should be a valid boolean" },
		{ { MR_ISSUE_RULE, "$.a", NULL, "must not be empty" }, "must not be empty" },
	};

	for (size_t i = 0; i < MR_LEN(rows); i++)
		CHECK_STR(mr_mailbox_payload_words(&rows[i].issue), rows[i].words);
}

static void a_bad_payload_names_itself(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena };
	struct mr_mailbox_payload p = { .kind = MR_MAILBOX_PAYLOAD_REPAIR };

	CHECK_INT(read_json(&cx, MR_MAILBOX_PAYLOAD_DEREGISTER, "{\"address\":5,\"x\":1}", &p),
		MR_EINVAL);
	CHECK_STR(cx.err.word, "deregister payload");
	CHECK_INT(cx.err.issues->len, 3);
	CHECK_STR(cx.err.issues->items[0].path, "$.mode");
	CHECK_STR(cx.err.issues->items[1].path, "$.address");
	CHECK_STR(cx.err.issues->items[2].path, "$.x");
	CHECK(p.kind == MR_MAILBOX_PAYLOAD_REPAIR);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(requests_are_read),
		TEST(problems_are_worded_by_the_contract),
		TEST(a_bad_payload_names_itself),
	};

	return test_main(tests, MR_LEN(tests));
}
