/* data/git.c - finds libgit2's functions in its library. */
#include "data/git.h"

#include "base/library.h"

static const struct mr_library_function functions[] = {
#define ENTRY(name) { "git_" #name, offsetof(struct mr_git, name) },
	MR_GIT_FUNCTIONS(ENTRY)
#undef ENTRY
};

/* Its interface changes with each version: only the one whose header was read is the right one. */
static const struct mr_library library = { "the team's archive", "libgit2.so." LIBGIT2_SOVERSION,
	"libgit2-" LIBGIT2_SOVERSION, functions, MR_LEN(functions) };

enum mr_code mr_git_load(struct mr_git *out, struct mr_err *err)
{
	return mr_library_load(&library, out, err);
}
