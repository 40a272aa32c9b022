/* tests/unit/team/test_team_layout.c */
#include "team/layout.h"

#include "test.h"

#include <string.h>

static struct mr_team_message message = { .id = 17,
	.subject = "Backend API: refactoring / underway!",
	.created_ts = INT64_C(1735741800000000) };

static void names_messages(void)
{
	struct mr_arena *arena = mr_arena_new();

	CHECK_STR(mr_team_layout_canonical(arena, &message),
		"messages/2025/01/2025-01-01T14-30-00Z__backend-api-refactoring-underway__17.md");
	CHECK_STR(mr_team_layout_inbox(arena, "BlueLake", &message),
		"agents/BlueLake/inbox/2025/01/"
		"2025-01-01T14-30-00Z__backend-api-refactoring-underway__17.md");
	CHECK_STR(mr_team_layout_outbox(arena, "BlueLake", &message),
		"agents/BlueLake/outbox/2025/01/"
		"2025-01-01T14-30-00Z__backend-api-refactoring-underway__17.md");
	CHECK_STR(mr_team_layout_surface(arena, "BlueLake", "inbox", message.created_ts),
		"agents/BlueLake/inbox/2025/01/*.md");
	mr_arena_free(arena);
}

static void threads_stay_in_their_directory(void)
{
	static const struct {
		const char *id, *path;
	} cases[] = {
		{ "TKT-123", "messages/threads/TKT-123.md" },
		{ "../../x", NULL },
		{ "a..b", NULL },
		{ ".hidden", NULL },
		{ "a/b", NULL },
		{ "", NULL },
		{ "x.part2", NULL },
	};
	struct mr_arena *arena = mr_arena_new();

	CHECK_STR(mr_team_layout_digest(arena, cases[0].id, 1), cases[0].path);
	CHECK_STR(mr_team_layout_digest(arena, cases[0].id, 2),
		"messages/threads/TKT-123.part2.md");
	for (size_t i = 1; i < MR_LEN(cases); i++) {
		const char *path = mr_team_layout_digest(arena, cases[i].id, 1);

		CHECK(!strncmp(path, "messages/threads/t-", 19));
		CHECK_INT(strlen(path), 19 + 40 + 3);
		CHECK(!strstr(path, ".."));
	}
	mr_arena_free(arena);
}

static void slots_stay_apart_and_in_their_directory(void)
{
	static const struct {
		const char *name, *path;
	} cases[] = {
		{ "main-build_1.2", "build_slots/main-build_1.2/BlueLake.json" },
		{ "main build", "build_slots/main-build-7f172721fa03/BlueLake.json" },
		{ "..", "build_slots/slot-" },
		{ ".", "build_slots/slot-" },
		{ ".git", "build_slots/git-" },
		{ "a/../b", "build_slots/a-b-" },
		{ "a..b", "build_slots/a-b-" },
		{ "Build", "build_slots/build-" },
		{ "\xc3\xa4", "build_slots/slot-" },
	};
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const char *path = mr_team_layout_slot(arena, cases[i].name, "BlueLake");

		if (strncmp(path, cases[i].path, strlen(cases[i].path)) || strstr(path, "..") ||
			strstr(path, "/."))
			test_fail(__FILE__, __LINE__, "%s: %s", cases[i].name, path);
	}
	mr_arena_free(arena);
}

static void names_the_rest(void)
{
	struct mr_arena *arena = mr_arena_new();

	CHECK_STR(mr_team_layout_reservation(arena, "src/**"),
		"file_reservations/028558915cdf33d0b76c21ad3b31605184ace1ce.json");
	CHECK_STR(mr_team_layout_attachment(arena, "abcdef", "webp"), "attachments/ab/abcdef.webp");
	CHECK_STR(mr_team_layout_project(arena, "/r", "s"), "/r/projects/s");
	CHECK(mr_team_layout_is_name("BlueLake"));
	CHECK(!mr_team_layout_is_name(".."));
	CHECK(!mr_team_layout_is_name("a/b"));
	CHECK(!mr_team_layout_is_name("a\\b"));
	CHECK(!mr_team_layout_is_name(""));
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(names_messages),
		TEST(threads_stay_in_their_directory),
		TEST(slots_stay_apart_and_in_their_directory),
		TEST(names_the_rest),
	};

	return test_main(tests, MR_LEN(tests));
}
