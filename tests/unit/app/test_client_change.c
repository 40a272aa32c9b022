/* tests/unit/app/test_client_change.c */
#include "app/client_change.h"

#include "base/fs.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static const struct mr_client_wish wish = { .command = "mailroom" };

struct fixture {
	struct mr_arena *arena;
	struct mr_ctx cx;
	const char *project, *entry; /* the file with the servers */
};

static void setup(struct fixture *f)
{
	const char *dir = realpath(test_dir(), NULL);
	struct mr_err err;

	*f = (struct fixture){ .arena = mr_arena_new() };
	f->cx.arena = f->arena;
	setenv("HOME", mr_arena_printf(f->arena, "%s/home", dir), 1);
	f->project = mr_arena_printf(f->arena, "%s/shop", dir);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, f->project, 0755, &err), err);
	f->entry = mr_arena_printf(f->arena, "%s/.mcp.json", f->project);
	free((char *)dir);
}

static struct mr_client_set set_of(struct fixture *f)
{
	return (struct mr_client_set){ .cx = &f->cx,
		.client = mr_client_find("claude-code"),
		.wish = &wish,
		.project = f->project,
		.state = mr_arena_printf(f->arena, "%s/state", test_dir()) };
}

static void save(struct fixture *f, const char *text)
{
	CHECK_OK(mr_fs_write(AT_FDCWD, f->entry, mr_bytes_text(text), MR_FS_REPLACE, 0644,
			 &f->cx.err),
		f->cx.err);
}

static const char *saved(struct fixture *f)
{
	struct mr_bytes text;

	if (!mr_fs_exists(AT_FDCWD, f->entry))
		return NULL;
	CHECK_OK(mr_fs_read(f->arena, AT_FDCWD, f->entry, 1 << 16, &text, &f->cx.err), f->cx.err);
	return mr_arena_strndup(f->arena, (const char *)text.data, text.len);
}

static void enters(struct fixture *f, const char *action)
{
	struct mr_client_set set = set_of(f);

	CHECK_OK(mr_client_change(&set), f->cx.err);
	CHECK_STR(set.changes[0].path, f->entry);
	CHECK_STR(set.changes[0].action, action);
}

static struct mr_client_set leaves(struct fixture *f, const char *action)
{
	struct mr_client_set set = set_of(f);

	set.undo = true;
	CHECK_OK(mr_client_change(&set), f->cx.err);
	CHECK_STR(set.changes[0].action, action);
	return set;
}

static void what_was_made_is_removed(void)
{
	struct fixture f;

	setup(&f);
	enters(&f, "created");
	CHECK(strstr(saved(&f), "\"mailroom\""));
	enters(&f, "unchanged");
	leaves(&f, "removed");
	CHECK(!saved(&f));
	leaves(&f, "unchanged");
	mr_arena_free(f.arena);
}

static void what_was_there_comes_back_to_the_byte(void)
{
	static const char text[] = "{ \"mcpServers\": {\"other\":{ \"command\":\"x\" }} }";
	struct fixture f;

	setup(&f);
	save(&f, text);
	enters(&f, "updated");
	CHECK(strstr(saved(&f), "\"other\"") && strstr(saved(&f), "\"mailroom\""));
	leaves(&f, "restored");
	CHECK_STR(saved(&f), text);
	mr_arena_free(f.arena);
}

static void what_others_changed_since_stays(void)
{
	struct fixture f;
	struct mr_client_set set;
	const char *ours;

	setup(&f);
	enters(&f, "created");
	ours = saved(&f);
	save(&f, mr_arena_printf(f.arena, "{\"mine\": 1,%s", strchr(ours, '{') + 1));
	set = leaves(&f, "updated");
	CHECK(strstr(saved(&f), "\"mine\"") && !strstr(saved(&f), "mailroom"));
	CHECK_INT(set.notes.len, 1);
	CHECK(strstr(set.notes.items[0], "only Mailroom's part was taken out"));
	mr_arena_free(f.arena);
}

static void an_entry_that_is_not_ours_is_the_users(void)
{
	static const char theirs[] = "{\"mcpServers\": {\"mailroom\": {\"command\": \"mine\"}}}";
	struct fixture f;
	struct mr_client_set set;

	setup(&f);
	save(&f, theirs);
	set = set_of(&f);
	CHECK_INT(mr_client_change(&set), MR_ECONFLICT);
	CHECK(strstr(f.cx.err.msg, "--force replaces it"));
	CHECK_STR(saved(&f), theirs);
	set = leaves(&f, "unchanged");
	CHECK_INT(set.notes.len, 1);
	CHECK(strstr(set.notes.items[0], "is not as mailroom connect wrote it, and was left"));
	set = set_of(&f);
	set.force = true;
	CHECK_OK(mr_client_change(&set), f.cx.err);
	CHECK(!strstr(saved(&f), "\"mine\""));
	leaves(&f, "restored");
	CHECK_STR(saved(&f), theirs);
	mr_arena_free(f.arena);
}

static void a_file_that_cannot_be_read_stops_everything(void)
{
	struct fixture f;
	struct mr_client_set set;

	setup(&f);
	save(&f, "{ \"mcpServers\": ");
	set = set_of(&f);
	CHECK_INT(mr_client_change(&set), MR_EFORMAT);
	CHECK(strstr(f.cx.err.msg, "nothing was written"));
	CHECK_STR(saved(&f), "{ \"mcpServers\": ");
	for (size_t i = 1; i < set.len; i++)
		CHECK(!mr_fs_exists(AT_FDCWD, set.changes[i].path));
	mr_arena_free(f.arena);
}

static void printing_writes_nothing(void)
{
	struct fixture f;
	struct mr_client_set set;

	setup(&f);
	set = set_of(&f);
	set.print = true;
	set.state = NULL;
	CHECK_OK(mr_client_change(&set), f.cx.err);
	CHECK(set.len > 1);
	for (size_t i = 0; i < set.len; i++) {
		CHECK_STR(set.changes[i].action, "print");
		CHECK(set.changes[i].after.len > 0);
		CHECK(!mr_fs_exists(AT_FDCWD, set.changes[i].path));
	}
	mr_arena_free(f.arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(what_was_made_is_removed),
		TEST(what_was_there_comes_back_to_the_byte),
		TEST(what_others_changed_since_stays),
		TEST(an_entry_that_is_not_ours_is_the_users),
		TEST(a_file_that_cannot_be_read_stops_everything),
		TEST(printing_writes_nothing),
	};

	return test_main(tests, MR_LEN(tests));
}
