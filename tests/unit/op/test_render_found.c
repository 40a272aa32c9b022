/* tests/unit/op/test_render_found.c - contacts, hits and summaries as people read them. */
#include "op/render.h"
#include "test.h"
#include "text/json.h"

typedef void renderer(struct mr_buf *, const struct mr_value *, const struct mr_render *);

static void shows(renderer *render, const char *json, struct mr_render how, const char *expected)
{
	struct mr_arena *arena = mr_arena_new();
	const struct mr_value *value;
	struct mr_buf out;
	struct mr_err err;

	mr_buf_init(&out, 1 << 16);
	CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), NULL, &value, &err), err);
	render(&out, value, &how);
	CHECK_STR(mr_buf_text(&out), expected);
	mr_buf_release(&out);
	mr_arena_free(arena);
}

#define LINK                                                                                       \
	"\"id\":1,\"from\":{\"project\":\"front\",\"agent\":\"BlueLake\"},"                        \
	"\"to\":{\"project\":\"back\",\"agent\":\"GreenCastle\"},\"status\":\"approved\","         \
	"\"reason\":\"api\",\"expires_ts\":\"2026-03-11T04:15:00.000000Z\""

static void contacts(void)
{
	struct mr_render how = { 0 };

	shows(mr_render_contact, "{" LINK ",\"notified\":true}", how,
		"BlueLake@front -> GreenCastle@back: approved, until 2026-03-11 04:15 UTC\n"
		"reason  api\nThey were told.\n");
	shows(mr_render_contacts, "{\"agent\":\"BlueLake\",\"contacts\":[{" LINK "}]}", how,
		"id  from            to                state     until                 reason\n"
		" 1  BlueLake@front  GreenCastle@back  approved  2026-03-11 04:15 UTC  api\n");
	shows(mr_render_contacts, "{\"agent\":\"BlueLake\",\"contacts\":[]}", how,
		"BlueLake has no contacts.\n");
}

#define HIT                                                                                        \
	"{\"id\":7,\"subject\":\"Plan\",\"from\":\"BlueLake\",\"thread_id\":\"T-1\","              \
	"\"created_ts\":\"2026-03-11T04:15:00.000000Z\",\"snippet\":\"the plan\\u001b stands\","   \
	"\"offsets\":[{\"start\":4,\"end\":8}]}"

static void hits(void)
{
	shows(mr_render_hits, "{\"result\":[" HIT "]}", (struct mr_render){ 0 },
		"7  Plan\n    BlueLake, 2026-03-11 04:15 UTC, thread T-1\n    the plan\xef\xbf\xbd stands\n\n"
		"1 found\n");
	shows(mr_render_hits, "{\"result\":[" HIT "]}", (struct mr_render){ .colour = true },
		"\033[1m7  Plan\033[0m\n    BlueLake, 2026-03-11 04:15 UTC, thread T-1\n"
		"    the \033[1mplan\033[0m\xef\xbf\xbd stands\n\n1 found\n");
	shows(mr_render_hits, "{\"result\":[]}", (struct mr_render){ 0 }, "Nothing was found.\n");
}

/* Offsets of another text do no harm. */
static void offsets_that_do_not_fit(void)
{
	shows(mr_render_hits,
		"{\"result\":[{\"id\":7,\"subject\":\"\",\"from\":\"A\",\"snippet\":\"ab\","
		"\"offsets\":[{\"start\":1,\"end\":9}]}]}",
		(struct mr_render){ .colour = true },
		"\033[1m7  \033[0m\n    A, -\n    ab\n\n1 found\n");
}

static void summaries(void)
{
	shows(mr_render_summary,
		"{\"thread_id\":\"T-1\",\"summary\":{\"participants\":[\"A\",\"B\"],"
		"\"total_messages\":2,\"open_actions\":1,\"done_actions\":0,\"key_points\":["
		"\"one\"],"
		"\"action_items\":[],\"code_references\":[\"src/a.c\"]}}",
		(struct mr_render){ 0 },
		"T-1\n2 messages by A, B\n1 to do, 0 done\n\nPoints\n  one\n\nCode\n  src/a.c\n");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(contacts),
		TEST(hits),
		TEST(offsets_that_do_not_fit),
		TEST(summaries),
	};

	return test_main(tests, MR_LEN(tests));
}
