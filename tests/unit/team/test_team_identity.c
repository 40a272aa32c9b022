/* tests/unit/team/test_team_identity.c */
#include "team/identity.h"

#include "base/proc.h"
#include "base/reach.h"
#include "files.h"
#include "team/error.h"
#include "test.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

static void urls_of_one_repository_are_one(void)
{
	static const char *const cases[][2] = {
		{ "git@github.com:owner/repo.git", "github.com/owner/repo" },
		{ "git@github.com:owner/repo", "github.com/owner/repo" },
		{ "https://github.com/owner/repo.git", "github.com/owner/repo" },
		{ "https://github.com/owner/repo/", "github.com/owner/repo" },
		{ "http://GitHub.com/owner/repo", "github.com/owner/repo" },
		{ "https://user:secret@github.com/owner/repo", "github.com/owner/repo" },
		{ "ssh://git@github.com:22/owner/repo.git", "github.com/owner/repo" },
		{ "https://gitlab.com:8443/group/sub/repo.git", "gitlab.com/group/sub/repo" },
		{ "git@host:/owner/repo.git", "host/owner/repo" },
		{ "https://github.com/owner", NULL },
		{ "https://github.com", NULL },
		{ "https:///owner/repo", NULL },
		{ "git@github.com:repo", NULL },
		{ "/srv/git/repo.git", NULL },
		{ "../repo.git", NULL },
		{ "file:///srv/git/repo.git", NULL },
		{ "C:/owner/repo", NULL },
		{ "", NULL },
		{ ":", NULL },
		{ "@:", NULL },
		{ "nonsense", NULL },
	};
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_team_identity_normalise(arena, cases[i][0]), cases[i][1]);
	mr_arena_free(arena);
}

struct place {
	struct world world;
	const char *top;
};

static void git(struct place *place, const char *const *words)
{
	const char *argv[16] = { "git", "-c", "user.name=t", "-c", "user.email=t@example.com" };
	struct mr_proc proc = { .argv = argv, .timeout_ms = 30000, .max_output = 4096 };
	struct mr_proc_result result;

	for (size_t i = 0; words[i]; i++)
		argv[5 + i] = words[i];
	CHECK_OK(mr_proc_run(place->world.cx.arena, &proc, &result, &place->world.cx.err),
		place->world.cx.err);
	if (result.exit_status != 0)
		test_fail(__FILE__, __LINE__, "git %s: %s", words[0],
			(const char *)result.err.data);
}
#define GIT(place, ...) git(place, (const char *const[]){ __VA_ARGS__, NULL })

static void set_up(struct place *place)
{
	char *here;

	/* What a caller's own git said must not lead us elsewhere. */
	setenv("GIT_DIR", "/nowhere", 1);
	world_open(&place->world);
	here = realpath(".", NULL);
	place->top = mr_arena_strdup(place->world.cx.arena, here);
	free(here);
	unsetenv("GIT_DIR");
	GIT(place, "init", "-q", "My Repo");
	GIT(place, "-C", "My Repo", "commit", "-q", "--allow-empty", "-m", "first");
	setenv("GIT_DIR", "/nowhere", 1);
}

static const char *at(struct place *place, const char *path)
{
	return mr_arena_printf(place->world.cx.arena, "%s/%s", place->top, path);
}

static struct mr_team_identity identity(struct place *place, const char *path, const char *mode)
{
	struct mr_team_identity out;

	CHECK_OK(mr_team_identity(&place->world.cx, at(place, path), mode, "origin", &out),
		place->world.cx.err);
	return out;
}

static void worktrees_share_a_common_directory(void)
{
	struct mr_team_identity first, second;
	struct place place;

	set_up(&place);
	unsetenv("GIT_DIR");
	GIT(&place, "-C", "My Repo", "worktree", "add", "-q", at(&place, "other"));
	first = identity(&place, "My Repo", "git-common-dir");
	second = identity(&place, "other", "git-common-dir");
	CHECK_STR(first.mode, "git-common-dir");
	CHECK_STR(first.slug, second.slug);
	CHECK(mr_str_starts(first.slug, "repo-"));
	CHECK_INT(strlen(first.slug), strlen("repo-") + 10);
	first = identity(&place, "My Repo", "git-toplevel");
	second = identity(&place, "other", "git-toplevel");
	CHECK_STR(first.mode, "git-toplevel");
	CHECK(mr_str_starts(first.slug, "my-repo-"));
	CHECK(mr_str_starts(second.slug, "other-"));
	world_close(&place.world);
}

static void a_path_is_its_repositorys(void)
{
	struct mr_team_identity first, second;
	struct place place;

	set_up(&place);
	unsetenv("GIT_DIR");
	GIT(&place, "-C", "My Repo", "worktree", "add", "-q", at(&place, "other"));
	first = identity(&place, "My Repo", "repository");
	CHECK_STR(first.mode, "dir");
	CHECK_STR(first.key, at(&place, "My Repo"));
	CHECK_STR(first.why, "it is the root of a git repository");
	second = identity(&place, "other", "repository");
	CHECK_STR(second.key, first.key);
	CHECK_STR(second.slug, first.slug);
	CHECK(strstr(second.why, "is in a worktree of the repository"));
	second = identity(&place, "My Repo/.git", "repository");
	CHECK_STR(second.key, first.key);
	second = identity(&place, "nowhere", "repository");
	CHECK_STR(second.key, at(&place, "nowhere"));
	CHECK(strstr(second.why, "no git repository"));
	world_close(&place.world);
}

static void clones_share_a_remote(void)
{
	struct mr_team_identity ssh, https;
	struct place place;

	set_up(&place);
	unsetenv("GIT_DIR");
	GIT(&place, "init", "-q", "clone");
	GIT(&place, "-C", "clone", "remote", "add", "origin", "https://example.com/o/backend");
	GIT(&place, "-C", "My Repo", "remote", "add", "origin", "git@example.com:o/backend.git");
	setenv("GIT_DIR", "/nowhere", 1);
	ssh = identity(&place, "My Repo", "git-remote");
	https = identity(&place, "clone", "git-remote");
	CHECK_STR(ssh.mode, "git-remote");
	CHECK_STR(ssh.slug, https.slug);
	CHECK(mr_str_starts(ssh.slug, "backend-"));
	world_close(&place.world);
}

static void what_does_not_apply_is_a_directory(void)
{
	static const char *const modes[] = { "git-remote", "git-toplevel", "git-common-dir",
		"dir" };
	struct mr_team_identity out;
	struct place place;

	set_up(&place);
	for (size_t i = 0; i < MR_LEN(modes); i++) {
		out = identity(&place, "nowhere", modes[i]);
		CHECK_STR(out.mode, "dir");
		CHECK(mr_str_ends(out.slug, "-nowhere"));
		CHECK_OK(mr_team_identity(&place.world.cx, "bare name", modes[i], "origin", &out),
			place.world.cx.err);
		CHECK_STR(out.mode, "dir");
		CHECK_STR(out.slug, "bare-name");
	}
	/* A repository without that remote, and one whose remote is a path. */
	CHECK_STR(identity(&place, "My Repo", "git-remote").mode, "dir");
	unsetenv("GIT_DIR");
	GIT(&place, "-C", "My Repo", "remote", "add", "origin", "/srv/git/x.git");
	CHECK_STR(identity(&place, "My Repo", "git-remote").mode, "dir");
	CHECK_OK(mr_team_identity(&place.world.cx, at(&place, "My Repo"), "git-remote", "--all",
			 &out),
		place.world.cx.err);
	CHECK_STR(out.mode, "dir");
	world_check_fail(&place.world,
		mr_team_identity(&place.world.cx, "/x", "magic", "origin", &out),
		MR_TEAM_INVALID_ARGUMENT,
		"\"magic\" is no identity mode: repository, dir, git-remote");
	world_close(&place.world);
}

static void strangers_learn_nothing_of_repositories(void)
{
	static const char *const modes[] = { "git-toplevel", "git-common-dir" };
	const char *root;
	struct mr_reach reach = { .roots = { &root, 0 } };
	struct place place;

	set_up(&place);
	root = at(&place, "My Repo");
	place.world.cx.reach = &reach;
	for (size_t i = 0; i < MR_LEN(modes); i++) {
		reach.roots.len = 0;
		CHECK_STR(identity(&place, "My Repo", modes[i]).mode, "dir");
		reach.roots.len = 1;
		CHECK_STR(identity(&place, "My Repo", modes[i]).mode, modes[i]);
	}
	world_close(&place.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(urls_of_one_repository_are_one),
		TEST(worktrees_share_a_common_directory),
		TEST(a_path_is_its_repositorys),
		TEST(clones_share_a_remote),
		TEST(what_does_not_apply_is_a_directory),
		TEST(strangers_learn_nothing_of_repositories),
	};

	return test_main(tests, MR_LEN(tests));
}
