/* tests/unit/op/test_contract_team.c - every error type of the team contract, as a client sees it.
 */
#include "op/team/contract_team.h"

#include "base/attr.h"
#include "team/error.h"
#include "test.h"

static const char *shown(struct mr_ctx *cx)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;

	mr_buf_init(&text, 1 << 16);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_contract_team.error(&out, &cx->err);
	return mr_arena_strdup(cx->arena, mr_buf_text(&text));
}

static void types_have_their_shape(void)
{
	static const struct {
		const char *type;
		enum mr_code code;
		bool recoverable;
		int http;
	} cases[] = {
		{ MR_TEAM_INVALID_ARGUMENT, MR_EINVAL, true, 400 },
		{ MR_TEAM_NOT_FOUND, MR_ENOTFOUND, true, 404 },
		{ MR_TEAM_NAME_TAKEN, MR_EEXISTS, true, 409 },
		{ MR_TEAM_RECIPIENT_NOT_FOUND, MR_ENOTFOUND, true, 404 },
		{ MR_TEAM_RESERVATION_CONFLICT, MR_ECONFLICT, true, 409 },
		{ MR_TEAM_RESERVATION_ACTIVE, MR_ECONFLICT, true, 409 },
		{ MR_TEAM_ARCHIVE_LOCK, MR_EBUSY, true, 503 },
		{ MR_TEAM_CAPABILITY_DENIED, MR_EPERM, false, 403 },
		{ MR_TEAM_UNHANDLED, MR_EINTERNAL, false, 500 },
		{ MR_TEAM_CONTACT_REQUIRED, MR_EPERM, true, 403 },
		{ MR_TEAM_CONTACT_BLOCKED, MR_EPERM, false, 403 },
		{ MR_TEAM_QUOTA_EXCEEDED, MR_ELIMIT, true, 413 },
		{ MR_TEAM_ATTACHMENT_REJECTED, MR_EINVAL, true, 400 },
		{ MR_TEAM_PAYLOAD_TOO_LARGE, MR_ELIMIT, true, 413 },
		{ MR_TEAM_PERMISSION_DENIED, MR_EPERM, true, 403 },
		{ MR_TEAM_SEARCH_SYNTAX, MR_EINVAL, true, 400 },
	};
	struct mr_ctx cx = { .arena = mr_arena_new() };

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		cx.err = (struct mr_err){ 0 };
		CHECK_INT(mr_team_fail(&cx, cases[i].type, "it is %s", "so"), cases[i].code);
		CHECK_STR(shown(&cx),
			mr_arena_printf(cx.arena,
				"{\"error\":{\"type\":\"%s\",\"message\":\"it is so\","
				"\"recoverable\":%s,\"data\":{%s}}}",
				cases[i].type, cases[i].recoverable ? "true" : "false",
				cases[i].code == MR_EINTERNAL ? "\"original_error\":\"internal\""
							      : ""));
		CHECK_INT(mr_contract_http_status(&mr_contract_team, &cx.err), cases[i].http);
		CHECK(mr_contract_exit_status(&mr_contract_team, &cx.err) > 0);
	}
	mr_arena_free(cx.arena);
}

static void data_is_what_a_client_can_act_on(void)
{
	const char *names[] = { "GreenCastle", "BlueLake", NULL };
	struct mr_texts texts = { names, 2 };
	struct mr_ctx cx = { .arena = mr_arena_new() };

	mr_team_refuse(&cx, "project_key", "the key is empty");
	CHECK_STR(shown(&cx),
		"{\"error\":{\"type\":\"INVALID_ARGUMENT\",\"message\":\"the key is empty\","
		"\"recoverable\":true,\"data\":{\"argument\":\"project_key\"}}}");
	cx.err = (struct mr_err){ 0 };
	mr_team_fail(&cx, MR_TEAM_NOT_FOUND, "nobody");
	mr_team_fail_texts(&cx, "suggestions", &texts);
	mr_team_fail_int(&cx, "file_reservation_id", 7);
	CHECK_INT(mr_team_fail_text(&cx, "project_slug", "backend"), MR_ENOTFOUND);
	CHECK_STR(shown(&cx),
		"{\"error\":{\"type\":\"NOT_FOUND\",\"message\":\"nobody\",\"recoverable\":true,"
		"\"data\":{\"suggestions\":[\"GreenCastle\",\"BlueLake\"],"
		"\"file_reservation_id\":7,\"project_slug\":\"backend\"}}}");
	mr_arena_free(cx.arena);
}

/* Layers below know no contract: their codes have types too. */
static void other_errors_have_a_type(void)
{
	static const struct {
		enum mr_code code;
		const char *type;
		bool recoverable;
		const char *data;
	} cases[] = {
		{ MR_EINVAL, "INVALID_ARGUMENT", true, "" },
		{ MR_ENOTFOUND, "NOT_FOUND", true, "" },
		{ MR_ELIMIT, "PAYLOAD_TOO_LARGE", true, "" },
		{ MR_EPERM, "PERMISSION_DENIED", true, "" },
		{ MR_EAUTH, "PERMISSION_DENIED", true, "" },
		{ MR_ENOTCONFIRMED, "PERMISSION_DENIED", true, "" },
		{ MR_EINTERNAL, "UNHANDLED_EXCEPTION", false, "\"original_error\":\"internal\"" },
		{ MR_EFORMAT, "UNHANDLED_EXCEPTION", false, "\"original_error\":\"malformed\"" },
		{ MR_EBUSY, "UNHANDLED_EXCEPTION", true, "\"original_error\":\"busy\"" },
	};
	struct mr_ctx cx = { .arena = mr_arena_new() };

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		cx.err = (struct mr_err){ 0 };
		mr_err_set(&cx.err, cases[i].code, "so");
		CHECK_STR(shown(&cx),
			mr_arena_printf(cx.arena,
				"{\"error\":{\"type\":\"%s\",\"message\":\"so\",\"recoverable\":%s,"
				"\"data\":{%s}}}",
				cases[i].type, cases[i].recoverable ? "true" : "false",
				cases[i].data));
	}
	mr_arena_free(cx.arena);
}

static void issues_name_the_argument(void)
{
	struct mr_ctx cx = { .arena = mr_arena_new() };
	struct mr_issues issues;

	mr_issues_init(&issues, cx.arena);
	mr_issues_add(&issues, MR_ISSUE_TYPE, "$.cc[1]", "string", "should be text");
	mr_issues_add(&issues, MR_ISSUE_UNKNOWN, "$.boddy", NULL, "unknown");
	mr_err_issues(&cx.err, &issues, "send_message");
	CHECK_STR(shown(&cx),
		"{\"error\":{\"type\":\"INVALID_ARGUMENT\",\"message\":\"send_message: $.cc[1]: "
		"should be text; $.boddy: unknown\",\"recoverable\":true,\"data\":{\"argument\":"
		"\"cc\",\"issues\":[{\"path\":\"$.cc[1]\",\"message\":\"should be text\"},"
		"{\"path\":\"$.boddy\",\"message\":\"unknown\"}]}}}");
	mr_arena_free(cx.arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(types_have_their_shape),
		TEST(data_is_what_a_client_can_act_on),
		TEST(other_errors_have_a_type),
		TEST(issues_name_the_argument),
	};

	return test_main(tests, MR_LEN(tests));
}
