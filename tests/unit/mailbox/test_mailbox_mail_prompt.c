/* tests/unit/mailbox/test_mailbox_mail_prompt.c */
#include "mailbox/mail_prompt.h"

#include "post.h"
#include "test.h"
#include "text/json.h"

#include <string.h>

#define ID    "mailreq-20260311T041500Z-0123456789"
#define BEGIN MR_MAIL_PROMPT_BEGIN "\n"
#define END   MR_MAIL_PROMPT_END "\n"

static const struct mr_mailbox_binding binding = {
	.transport = MR_MAILBOX_FILESYSTEM,
	.principal_id = "HOUMAO-bob",
	.address = "bob@houmao.localhost",
	.version = "2026-03-11T04:15:00.000000Z",
};
static const struct mr_value nothing = { .kind = MR_MAP };
static const struct mr_mail_prompt prompt = { ID, "send", &binding, &nothing };

static void a_request_is_one_line_of_data(void)
{
	struct post post;
	struct mr_value text = { .kind = MR_TEXT, .text = "a\n" BEGIN "\xc3\xa9\033[31m" };
	struct mr_pair pairs[] = { { "subject", text } };
	struct mr_value arguments = { .kind = MR_MAP, .map = { pairs, 1 } };
	struct mr_mail_prompt asked = prompt;
	const char *out = NULL, *request;

	post_open(&post);
	asked.arguments = &arguments;
	CHECK_OK(mr_mail_prompt_text(&post.cx, &asked, &out), post.cx.err);
	request = strstr(out, "\n" MR_MAIL_PROMPT_LABEL "\n");
	CHECK(request);
	CHECK_STR(request + strlen("\n" MR_MAIL_PROMPT_LABEL "\n"),
		"{\"version\":1,\"request_id\":\"" ID "\",\"operation\":\"send\","
		"\"transport\":\"filesystem\",\"principal_id\":\"HOUMAO-bob\","
		"\"address\":\"bob@houmao.localhost\","
		"\"bindings_version\":\"2026-03-11T04:15:00.000000Z\","
		"\"arguments\":{\"subject\":\"a\\nHOUMAO_MAIL_RESULT_BEGIN\\n\\u00e9\\u001b[31m\"},"
		"\"result_begin\":\"HOUMAO_MAIL_RESULT_BEGIN\","
		"\"result_end\":\"HOUMAO_MAIL_RESULT_END\"}");
	/* What is typed is no answer itself. */
	CHECK_INT(mr_mail_prompt_preview(&post.cx, &asked, out, &asked.arguments), MR_ENOTFOUND);
	post_close(&post);
}

static void answers_are_found_and_compared(void)
{
	static const struct {
		const char *screen;
		enum mr_code code;
		const char *why;
	} cases[] = {
		{ "", MR_ENOTFOUND, "the agent has not answered" },
		{ BEGIN "{}\n", MR_ENOTFOUND, "the agent has not answered" },
		{ "x\n  " MR_MAIL_PROMPT_BEGIN "  \n{\"request_id\":\"" ID
		  "\",\"operation\":\"send\"}\n\t" END,
			MR_OK, "" },
		{ BEGIN "{\"request_id\":\"" ID "\",\n  \"operation\":\"send\",\"transport\":"
			"\"filesystem\",\"principal_id\":\"HOUMAO-bob\"}\n" END,
			MR_OK, "" },
		{ BEGIN "{\"request_id\":\"" ID "\",\"opera\ntion\":\"send\"}\n" END, MR_OK, "" },
		{ BEGIN "{\"request_id\":\"older\",\"operation\":\"send\"}\n" END, MR_ENOTFOUND,
			"the agent has not answered" },
		{ BEGIN "{\"request_id\":\"older\"}\n" END BEGIN "{\"request_id\":\"" ID
			"\",\"operation\":\"send\"}\n" END,
			MR_OK, "" },
		{ BEGIN "{\"operation\":\"send\"}\n" END, MR_ECONFLICT,
			"the agent's answer does not belong to this request: its request_id "
			"differs" },
		{ BEGIN "{\"request_id\":\"" ID "\"}\n" END, MR_ECONFLICT,
			"the agent's answer does not belong to this request: its operation "
			"differs" },
		{ BEGIN "{\"request_id\":\"" ID
			"\",\"operation\":\"send\",\"transport\":null}\n" END,
			MR_ECONFLICT,
			"the agent's answer does not belong to this request: its transport "
			"differs" },
		{ BEGIN "{\"request_id\":\"" ID
			"\",\"operation\":\"send\",\"principal_id\":\"HOUMAO-al\"}\n" END,
			MR_ECONFLICT,
			"the agent's answer does not belong to this request: its principal_id "
			"differs" },
		{ BEGIN "[1]\n" END, MR_EFORMAT, "the agent's answer is not a JSON object" },
		{ BEGIN END, MR_EFORMAT, "the agent's answer is not a JSON object" },
		{ BEGIN "{}\n" END BEGIN "{}\n" END, MR_EFORMAT, "the agent printed 2 answers" },
	};
	struct post post;

	post_open(&post);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const struct mr_value *out = NULL;

		post.cx.err.msg[0] = '\0';
		CHECK_INT(mr_mail_prompt_preview(&post.cx, &prompt, cases[i].screen, &out),
			cases[i].code);
		CHECK_STR(post.cx.err.msg, cases[i].why);
		CHECK((out != NULL) == (cases[i].code == MR_OK));
	}
	post_close(&post);
}

static void ids_and_limits(void)
{
	struct post post;
	struct mr_mail_prompt asked = prompt;
	struct mr_value text = { .kind = MR_TEXT };
	struct mr_pair pairs[] = { { "body_content", text } };
	struct mr_value arguments = { .kind = MR_MAP, .map = { pairs, 1 } };
	const char *out = NULL, *id;
	char *body;

	post_open(&post);
	id = mr_mail_prompt_id(&post.cx);
	CHECK_INT(strlen(id), strlen(ID));
	CHECK(!strncmp(id, ID, strlen("mailreq-20260311T041500Z-")));
	CHECK(strcmp(id, mr_mail_prompt_id(&post.cx)) != 0);
	body = mr_arena_alloc(post.cx.arena, MR_MAIL_PROMPT_BYTES + 1);
	memset(body, 'x', MR_MAIL_PROMPT_BYTES);
	body[MR_MAIL_PROMPT_BYTES] = '\0';
	pairs[0].value.text = body;
	asked.arguments = &arguments;
	CHECK_INT(mr_mail_prompt_text(&post.cx, &asked, &out), MR_ELIMIT);
	CHECK(!out);
	post_close(&post);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_request_is_one_line_of_data),
		TEST(answers_are_found_and_compared),
		TEST(ids_and_limits),
	};

	return test_main(tests, MR_LEN(tests));
}
