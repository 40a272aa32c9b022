/* test_roots.c - what a client says its directories are. */
#include "surface/mcp/roots.h"

#include "test.h"
#include "text/json.h"

static struct mr_texts read_roots(struct mr_arena *arena, const char *json)
{
	const struct mr_value *value = NULL;
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), NULL, &value, &err), err);
	return mr_mcp_roots_read(arena, value);
}

static void file_uris_are_taken(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts roots = read_roots(arena,
		"{\"roots\":[{\"uri\":\"file:///srv/app\",\"name\":\"App\"},"
		"{\"uri\":\"file://localhost/srv/my%20app\"},{\"uri\":\"https://x/srv\"},"
		"{\"uri\":\"file://elsewhere/srv\"},{\"uri\":7},{\"name\":\"x\"},3,"
		"{\"uri\":\"file:///a%00b\"}]}");

	CHECK_INT(roots.len, 2);
	CHECK_STR(roots.items[0], "/srv/app");
	CHECK_STR(roots.items[1], "/srv/my app");
}

static void other_answers_hold_none(void)
{
	static const char *const answers[] = { "{}", "[]", "null", "{\"roots\":{}}",
		"{\"roots\":[]}", "{\"roots\":\"file:///\"}" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(answers); i++)
		CHECK_INT(read_roots(arena, answers[i]).len, 0);
}

static void they_are_counted(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&json, 1 << 20);
	mr_buf_puts(&json, "{\"roots\":[");
	for (int i = 0; i < MR_MCP_ROOTS + 5; i++)
		mr_buf_printf(&json, "%s{\"uri\":\"file:///r%d\"}", i ? "," : "", i);
	mr_buf_puts(&json, "]}");
	CHECK_INT(read_roots(arena, mr_buf_text(&json)).len, MR_MCP_ROOTS);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(file_uris_are_taken),
		TEST(other_answers_hold_none),
		TEST(they_are_counted),
	};

	return test_main(tests, MR_LEN(tests));
}
