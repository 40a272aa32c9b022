/* tests/unit/op/test_client.c */
#include "op/client.h"

#include "test.h"

#include <string.h>

static const struct mr_client_wish http = { .url = "http://h:1/mcp", .command = "mailroom" };
static const struct mr_client_wish program = { .command = "/opt/my room/mailroom" };

static struct mr_bytes edit(struct mr_arena *arena, const struct mr_client *client, size_t file,
	const struct mr_client_wish *wish, struct mr_bytes text)
{
	struct mr_bytes out = { NULL, 0 };
	struct mr_err err;

	CHECK_OK(client->files[file].edit(arena, client, wish, text, &out, &err), err);
	return out;
}

static void every_file_goes_there_and_back(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes empty = mr_bytes_text("");

	for (const struct mr_client *c = mr_clients; c->name; c++) {
		for (size_t i = 0; i < MR_CLIENT_FILES && c->files[i].path; i++) {
			struct mr_bytes in = edit(arena, c, i, &http, empty);
			struct mr_bytes again = edit(arena, c, i, &http, in);
			struct mr_bytes other = edit(arena, c, i, &program, in);
			struct mr_bytes gone = edit(arena, c, i, NULL, other);

			CHECK(in.len > 0 && again.data == in.data);
			CHECK(edit(arena, c, i, NULL, empty).data == empty.data);
			CHECK(gone.len == 0 || memcmp(gone.data, "{}\n", gone.len) == 0);
		}
	}
}

static void entries_are_seen(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_client_entry entry;
	struct mr_err err;

	for (const struct mr_client *c = mr_clients; c->name; c++) {
		struct mr_bytes text = edit(arena, c, 0, &http, mr_bytes_text(""));

		CHECK_OK(mr_client_look(arena, c, text, &entry, &err), err);
		CHECK(entry.is_there && !entry.command);
		CHECK_STR(entry.url, "http://h:1/mcp");
		text = edit(arena, c, 0, &program, text);
		CHECK_OK(mr_client_look(arena, c, text, &entry, &err), err);
		CHECK(entry.is_there && !entry.url);
		CHECK_STR(entry.command, "/opt/my room/mailroom");
		CHECK_OK(mr_client_look(arena, c, mr_bytes_text(""), &entry, &err), err);
		CHECK(!entry.is_there);
	}
	CHECK_OK(mr_client_look(arena, mr_client_find("codex"),
			 mr_bytes_text("[mcp_servers.mailroom]\nurl = \"x\"\n"), &entry, &err),
		err);
	CHECK(entry.is_there && !entry.url);
}

static void a_hook_among_others_is_theirs(void)
{
	static const char text[] =
		"{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Edit\",\"hooks\":[{\"type\":"
		"\"command\","
		"\"command\":\"x\"},{\"type\":\"command\",\"command\":\"mailroom guard hook "
		"pre-tool-use\"}]}]}}";
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes before = mr_bytes_text(text);

	CHECK(edit(arena, mr_client_find("claude-code"), 1, NULL, before).data == before.data);
}

static void names_are_those_of_the_table(void)
{
	size_t count = 0;

	for (; mr_clients[count].name; count++) {
		CHECK_STR(mr_client_names[count], mr_clients[count].name);
		CHECK(mr_client_find(mr_client_names[count]) == &mr_clients[count]);
	}
	CHECK(!mr_client_names[count] && !mr_client_find("emacs"));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(every_file_goes_there_and_back),
		TEST(entries_are_seen),
		TEST(a_hook_among_others_is_theirs),
		TEST(names_are_those_of_the_table),
	};

	return test_main(tests, MR_LEN(tests));
}
