/* tests/unit/team/test_team_repository.c */
#include "team/repository.h"

#include "base/fs.h"
#include "base/reach.h"
#include "files.h"
#include "test.h"
#include "world.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct place {
	struct world world;
	const char *top; /* the working directory, without links */
};

static const char *at(struct place *place, const char *path)
{
	return mr_arena_printf(place->world.cx.arena, "%s/%s", place->top, path);
}

static void make_dir(struct place *place, const char *path)
{
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, path, 0755, &place->world.cx.err), place->world.cx.err);
}

/* What git makes, as far as it matters here. */
static void make_git_dir(struct place *place, const char *path)
{
	make_dir(place, mr_arena_printf(place->world.cx.arena, "%s/objects", path));
	make_dir(place, mr_arena_printf(place->world.cx.arena, "%s/refs", path));
	files_put(mr_arena_printf(place->world.cx.arena, "%s/HEAD", path), "ref: refs/heads/x\n");
}

/* A work tree of the repository whose files are in `common`. */
static void make_worktree(struct place *place, const char *common, const char *name)
{
	struct mr_arena *arena = place->world.cx.arena;
	const char *own = mr_arena_printf(arena, "%s/worktrees/%s", common, name);

	make_dir(place, own);
	make_dir(place, name);
	files_put(mr_arena_printf(arena, "%s/commondir", own), "../..\n");
	files_put(mr_arena_printf(arena, "%s/.git", name),
		mr_arena_printf(arena, "gitdir: %s\n", at(place, own)));
}

static void set_up(struct place *place)
{
	char *here;

	world_open(&place->world);
	here = realpath(".", NULL);
	place->top = mr_arena_strdup(place->world.cx.arena, here);
	free(here);
	make_git_dir(place, "repo/.git");
	make_dir(place, "repo/src/deep");
	make_worktree(place, "repo/.git", "tree");
	make_dir(place, "tree/src");
}

/* "root top" of the repository around a directory, as seen from the working directory. */
static const char *around(struct place *place, const char *path)
{
	struct mr_team_repository found;
	size_t skip = strlen(place->top) + 1;

	if (!mr_team_repository_around(&place->world.cx, at(place, path), &found))
		return "none";
	return mr_arena_printf(place->world.cx.arena, "%s %s%s", found.root + skip,
		found.top + skip, found.is_worktree ? " worktree" : "");
}

static void all_directories_of_a_repository_are_its_own(void)
{
	struct place place;

	set_up(&place);
	CHECK_STR(around(&place, "repo"), "repo repo");
	CHECK_STR(around(&place, "repo/src/deep"), "repo repo");
	CHECK_STR(around(&place, "repo/.git/refs"), "repo repo");
	CHECK_STR(around(&place, "tree"), "repo tree worktree");
	CHECK_STR(around(&place, "tree/src"), "repo tree worktree");
	world_close(&place.world);
}

static void bare_ones_and_submodules_have_their_own(void)
{
	struct place place;

	set_up(&place);
	make_git_dir(&place, "bare.git");
	make_worktree(&place, "bare.git", "work");
	CHECK_STR(around(&place, "bare.git"), "bare.git bare.git");
	CHECK_STR(around(&place, "work"), "bare.git work worktree");
	make_git_dir(&place, "repo/.git/modules/sub");
	make_dir(&place, "repo/sub");
	files_put("repo/sub/.git", "gitdir: ../.git/modules/sub\n");
	CHECK_STR(around(&place, "repo/sub"), "repo/sub repo/sub");
	world_close(&place.world);
}

static void what_is_no_repository_is_none(void)
{
	struct place place;

	set_up(&place);
	make_dir(&place, "plain/.git");
	make_dir(&place, "broken");
	files_put("broken/.git", "gitdir: /nowhere/at/all\n");
	make_dir(&place, "odd");
	files_put("odd/.git", "something else");
	CHECK_STR(around(&place, "plain"), "none");
	CHECK_STR(around(&place, "broken"), "none");
	CHECK_STR(around(&place, "odd"), "none");
	world_close(&place.world);
}

static void a_home_directory_is_nobodys_project(void)
{
	struct mr_reach reach = { 0 };
	struct place place;

	set_up(&place);
	reach.home = at(&place, "repo/src");
	CHECK_STR(around(&place, "repo/src"), "repo repo");
	place.world.cx.reach = &reach;
	CHECK_STR(around(&place, "repo/src"), "none");
	reach.home = at(&place, "elsewhere");
	CHECK_STR(around(&place, "repo/src"), "repo repo");
	world_close(&place.world);
}

static void paths_of_other_worktrees_are_paths_of_the_repository(void)
{
	struct place place;
	struct mr_ctx *cx = &place.world.cx;
	const char *root;

	set_up(&place);
	root = at(&place, "repo");
	CHECK_INT(symlink("repo", "link"), 0);
	CHECK_STR(mr_team_repository_path(cx, root, at(&place, "tree/src/*.c")),
		at(&place, "repo/src/*.c"));
	CHECK_STR(mr_team_repository_path(cx, root, at(&place, "tree/gone/x")),
		at(&place, "repo/gone/x"));
	CHECK_STR(mr_team_repository_path(cx, root, at(&place, "link/a.c")),
		at(&place, "repo/a.c"));
	CHECK_STR(mr_team_repository_path(cx, root, at(&place, "repo/a.c")),
		at(&place, "repo/a.c"));
	CHECK_STR(mr_team_repository_path(cx, root, "src/a.c"), "src/a.c");
	CHECK_STR(mr_team_repository_path(cx, root, "/nowhere/a.c"), "/nowhere/a.c");
	CHECK_STR(mr_team_repository_path(cx, "name", at(&place, "tree/a.c")),
		at(&place, "tree/a.c"));
	world_close(&place.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(all_directories_of_a_repository_are_its_own),
		TEST(bare_ones_and_submodules_have_their_own),
		TEST(what_is_no_repository_is_none),
		TEST(a_home_directory_is_nobodys_project),
		TEST(paths_of_other_worktrees_are_paths_of_the_repository),
	};

	return test_main(tests, MR_LEN(tests));
}
