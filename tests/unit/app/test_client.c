/* tests/unit/app/test_client.c */
#include "app/client.h"

#include "test.h"

#include <string.h>

static const struct mr_client_wish http = { .url = "http://h:1/mcp", .command = "mailroom" };
static const struct mr_client_wish program = { .command = "/opt/my room/mailroom" };

static struct mr_bytes edit(struct mr_arena *arena, const struct mr_client *client, size_t file,
	const struct mr_client_wish *wish, struct mr_bytes text)
{
	struct mr_bytes out = { NULL, 0 };
	struct mr_err err;

	CHECK_OK(client->files[file].edit(arena, client, wish, NULL, text, &out, &err), err);
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

/* What somebody has under our name in each file of each client. */
static const struct {
	const char *client;
	size_t file;
	const char *text;
} own[] = {
	{ "claude-code", 0, "{\"a\":1,\"mcpServers\":{\"mailroom\":{\"url\":\"http://mine\"}}}" },
	{ "claude-code", 1,
		"{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Edit\",\"hooks\":[{\"type\":"
		"\"command\","
		"\"command\":\"my guard hook pre-tool-use\"}]}]}}" },
	{ "gemini", 0, "{\"mcpServers\":{\"mailroom\":{\"httpUrl\":\"http://mine\"}}}" },
	{ "cursor", 0, "{\"mcpServers\":{\"x\":{},\"mailroom\":{\"command\":\"mine\"}}}" },
	{ "vscode", 0, "{\"servers\":{\"mailroom\":{\"url\":\"http://mine\"}}}" },
	{ "vscode", 0, "{\"inputs\":[{\"id\":\"mailroom-token\",\"type\":\"command\"}]}" },
	{ "codex", 0, "a = 1\n[mcp_servers.mailroom]\nurl = \"mine\"\n\n[x]\ny = 1\n" },
	{ "codex", 0, "[mcp_servers.\"mailroom\".env]\nA = \"b\"" },
	{ "codex", 0, "[mcp_servers.'mail\x72oom']\n# mine\nurl = \"mine\"\n" },
};

static struct mr_client_parts parts_of(struct mr_arena *arena, const struct mr_client *client,
	size_t file, struct mr_bytes text)
{
	struct mr_client_parts parts;
	struct mr_err err;

	CHECK_OK(client->files[file].find(arena, client, text, &parts, &err), err);
	return parts;
}

static void what_others_have_under_our_name_is_found_and_put_back(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_client_wish *wishes[] = { &http, &program };

	for (size_t i = 0; i < MR_LEN(own) * 2; i++) {
		const struct mr_client *c = mr_client_find(own[i / 2].client);
		const struct mr_client_file *file = &c->files[own[i / 2].file];
		struct mr_bytes text = mr_bytes_text(own[i / 2].text), in, out;
		struct mr_client_parts before = parts_of(arena, c, own[i / 2].file, text), after;
		struct mr_err err;

		CHECK(before.named && !before.block.data);
		in = edit(arena, c, own[i / 2].file, wishes[i % 2], text);
		after = parts_of(arena, c, own[i / 2].file, in);
		CHECK(!mr_client_parts_equal(&before, &after));
		CHECK(!memmem(in.data, in.len, "mine", 4));
		CHECK_OK(file->edit(arena, c, NULL, &before, in, &out, &err), err);
		after = parts_of(arena, c, own[i / 2].file, out);
		CHECK(after.named && !after.block.data);
		CHECK(mr_value_equal(mr_value_get(after.named, "entry") ? after.named
									: before.named,
			before.named));
	}
}

static void refuses_toml(const char *text, const char *why)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_client *codex = mr_client_find("codex");
	struct mr_bytes out;
	struct mr_err err;

	CHECK(codex->files[0].edit(arena, codex, &http, NULL, mr_bytes_text(text), &out, &err) !=
		MR_OK);
	CHECK_STR(err.msg, why);
}

static void toml_that_cannot_be_added_to_is_refused(void)
{
	refuses_toml("a = 1\nmcp_servers = { other = { url = \"x\" } }\n",
		"line 2: no table can be added to mcp_servers as it is written: make it "
		"[mcp_servers.NAME] tables");
	refuses_toml("[[mcp_servers]]\n",
		"line 1: no table can be added to mcp_servers as it is written: make it "
		"[mcp_servers.NAME] tables");
	refuses_toml("a = \"\n", "not valid TOML at line 1: a string has no end");
	refuses_toml("[a]\nb = 1\nb = 2\n", "not valid TOML at line 3: this is defined twice");
}

static void an_entry_in_another_table_is_not_put_back_alone(void)
{
	static const char *const texts[] = { "[mcp_servers]\nmailroom = { url = \"mine\" }\n",
		"mcp_servers.mailroom.url = \"mine\"\n" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_client *codex = mr_client_find("codex");

	for (size_t i = 0; i < MR_LEN(texts); i++) {
		struct mr_bytes in = edit(arena, codex, 0, &http, mr_bytes_text(texts[i])), out;
		struct mr_client_parts before = parts_of(arena, codex, 0, mr_bytes_text(texts[i]));
		struct mr_err err;

		CHECK(before.named && !memmem(in.data, in.len, "mine", 4));
		CHECK(codex->files[0].edit(arena, codex, NULL, &before, in, &out, &err) ==
			MR_ECONFLICT);
		CHECK_STR(err.msg,
			"the entry that --force replaced cannot be put back by itself, because it "
			"was part of another table: put it back by hand");
	}
}

static void keys_after_our_block_are_not_moved_into_another_table(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_client *codex = mr_client_find("codex");
	struct mr_bytes in = edit(arena, codex, 0, &http, mr_bytes_text("[a]\nb = 1\n")), out;
	struct mr_bytes more = mr_bytes_text(
		mr_arena_printf(arena, "%.*sc = 2\n", (int)in.len, (const char *)in.data));
	struct mr_err err;

	CHECK(codex->files[0].edit(arena, codex, NULL, NULL, more, &out, &err) == MR_ECONFLICT);
	CHECK_STR(err.msg, "keys outside of Mailroom's block belong to its table: move them first");
}

static void a_block_without_its_table_swallows_no_keys(void)
{
	static const char text[] = "[a]\n# >>> mailroom\n# <<< mailroom\nb = 1\n";
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_client *codex = mr_client_find("codex");
	struct mr_bytes in = edit(arena, codex, 0, &http, mr_bytes_text(text));

	CHECK(in.len > 16 && memcmp(in.data, "[a]\nb = 1\n\n# >>> mailroom", 25) == 0);
	CHECK(!parts_of(arena, codex, 0, in).named);
}

static void names_are_those_of_the_table(void)
{
	size_t count = 0;

	for (; mr_clients[count].name; count++) {
		CHECK_STR(mr_client_names[count], mr_clients[count].name);
		CHECK(mr_client_find(mr_client_names[count]) == &mr_clients[count]);
	}
	CHECK_STR(mr_client_names[count], "claude");
	CHECK(mr_client_find("claude") == mr_client_find("claude-code"));
	CHECK(!mr_client_names[count + 1] && !mr_client_find("emacs"));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(every_file_goes_there_and_back),
		TEST(entries_are_seen),
		TEST(a_hook_among_others_is_theirs),
		TEST(what_others_have_under_our_name_is_found_and_put_back),
		TEST(toml_that_cannot_be_added_to_is_refused),
		TEST(an_entry_in_another_table_is_not_put_back_alone),
		TEST(keys_after_our_block_are_not_moved_into_another_table),
		TEST(a_block_without_its_table_swallows_no_keys),
		TEST(names_are_those_of_the_table),
	};

	return test_main(tests, MR_LEN(tests));
}
