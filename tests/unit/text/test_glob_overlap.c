/* tests/unit/text/test_glob_overlap.c */
#include "test.h"
#include "text/glob.h"

#include "base/rand.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct mr_glob *compile(struct mr_arena *arena, const char *text, unsigned flags)
{
	struct mr_glob_options options = { .flags = flags };
	struct mr_glob *glob = NULL;
	struct mr_err err;
	enum mr_code rc = mr_glob_compile(arena, text, &options, &glob, &err);

	if (rc)
		test_fail(__FILE__, __LINE__, "%s: %s", text, err.msg);
	return glob;
}

struct pair {
	const char *a;
	const char *b;
	bool overlap;
};

static void check_pairs(const struct pair *table, size_t count, unsigned flags)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < count; i++) {
		const struct mr_glob *a = compile(arena, table[i].a, flags);
		const struct mr_glob *b = compile(arena, table[i].b, flags);
		bool got = mr_glob_overlaps(a, b);

		if (got != table[i].overlap || mr_glob_overlaps(b, a) != got)
			test_fail(__FILE__, __LINE__, "row %zu: '%s' and '%s'", i, table[i].a,
				table[i].b);
		CHECK(mr_glob_overlaps(a, a) && mr_glob_overlaps(b, b));
	}
}

static void knows_the_pairs_that_matter(void)
{
	static const struct pair table[] = {
		{ "src/api/**", "src/**/*.py", true },
		{ "src/a*.py", "src/*b.py", true },
		{ "docs", "docs/x.md", true },
		{ "docs/", "docs/x.md", true },
		{ "./docs", "docs", true },
		{ "docs", "docs/**/x", true },
		{ "src/a*.ts", "src/b*.ts", false },
		{ "src", "src2", false },
		{ "src/a.rs", "src/b.rs", false },
		{ "src/*", "src/a/b", false },
		{ "src/*/b", "src/a/*", true },
		{ "src/a*", "src/ab/c", false }, /* wildcards do not cover what is below */
		{ "**", "any/thing", true },
		{ "**/x", "a/**", true },
		{ "**/x", "a/**/y", false },
		{ "a/**/b", "a/b", true },
		{ "a/**/b/c", "a/b/**/d", false },
		{ "*.c", "*.h", false },
		{ "*.c", "src/*.c", false },
		{ "**/*.c", "src/*.[ch]", true },
		{ "[ab]", "[bc]", true },
		{ "[ab]", "[cd]", false },
		{ "[!a]", "[!b]", true },
		{ "[!a]", "a", false },
		{ "[!a]", "[ab]", true },
		{ "[a-m]x", "[n-z]x", false },
		{ "[!\x01-\xf4\x8f\xbf\xbf]", "?", true }, /* a byte that is no character */
		{ "?", "??", false },
		{ "?*", "*?", true },
		{ "*a*", "*b*", true },
		{ "a*a", "a", false },
		{ "\xc3\xa9?", "?a", true },
		{ "{a,b}/x", "{b,c}/x", true },
		{ "{a,b}/x", "{c,d}/x", false },
		{ "{a/**,b}", "a/x/y", true },
		{ "{a,b}{c,d}", "bd", true },
		{ ".", "anything", true },
	};

	check_pairs(table, MR_LEN(table), 0);
}

static void follows_the_options(void)
{
	static const struct pair widened[] = {
		{ "src/*", "src/a/b", true },
		{ "src/*", "lib/**", false },
	};
	static const struct pair crossing[] = {
		{ "src/*", "src/a/b", true },
		{ "*.c", "src/?.c", true },
		{ "src/*.c", "src/*.h", false },
		{ "docs", "docs/x", true },
		{ "docs", "docs2", false },
		{ "a?b", "a/b", true },
	};
	static const struct pair ignored[] = {
		{ "foo/", "foo", true }, /* "foo/x" */
		{ "/foo/", "/bar/", false },
		{ "foo", "/a/b/*", true },
		{ "/a/*.c", "/a/*.h", false },
	};
	static const struct pair spelled[] = {
		{ "app/[id]/x", "app/[[]id]/**", true },
		{ "app/[id]/x", "app/?id?/x", true },
	};

	check_pairs(widened, MR_LEN(widened), MR_GLOB_WIDEN);
	check_pairs(crossing, MR_LEN(crossing), MR_GLOB_CROSS);
	check_pairs(ignored, MR_LEN(ignored), MR_GLOB_IGNORE);
	check_pairs(spelled, MR_LEN(spelled), MR_GLOB_SPELLING);
}

static void finds_nothing_in_an_impossible_class(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	/* In a .gitignore a class may name '/', which no name holds. */
	const struct mr_glob *none = compile(arena, "a[/]b", MR_GLOB_IGNORE);

	CHECK(!mr_glob_overlaps(none, none));
	CHECK(!mr_glob_overlaps(none, compile(arena, "**", MR_GLOB_IGNORE)));
	CHECK(!mr_glob_overlaps(compile(arena, "*", MR_GLOB_IGNORE), none));
}

static void compares_prefixes(void)
{
	static const struct pair table[] = {
		{ "", "", true },
		{ "", "src", true },
		{ "src", "src", true },
		{ "src", "src/api", true },
		{ "src", "src2", false },
		{ "src/a", "src/b", false },
		{ "src/api", "src/ap", false },
		{ "a/b/c", "a/b", true },
	};

	for (size_t i = 0; i < MR_LEN(table); i++) {
		CHECK(mr_glob_prefixes_meet(table[i].a, table[i].b) == table[i].overlap);
		CHECK(mr_glob_prefixes_meet(table[i].b, table[i].a) == table[i].overlap);
	}
}

/*
 * Proof by trying: patterns so small that if two of them meet at all, they meet in one of the
 * listed paths. Each pattern's matches are a set of paths; two patterns overlap iff the sets do.
 */

enum { PATTERNS = 220, PATHS_MAX = 16000, PATTERN_BYTES = 96 };

struct world {
	struct mr_arena *arena;
	char **paths;
	size_t path_count;
};

static void add_letters(struct world *world, const char *stem)
{
	for (const char *c = "abc"; *c; c++)
		world->paths[world->path_count++] = mr_arena_printf(world->arena, "%s%c", stem, *c);
}

/* All texts of 1 to `max` letters; returns the number of them. */
static size_t add_words(struct world *world, size_t max)
{
	size_t from = world->path_count;

	add_letters(world, "");
	for (size_t len = 1; len < max; len++) {
		size_t end = world->path_count;

		for (; from < end; from++)
			add_letters(world, world->paths[from]);
	}
	return world->path_count;
}

static uint64_t *matched_paths(const struct world *world, const struct mr_glob *glob)
{
	uint64_t *set = mr_arena_array(world->arena, world->path_count / 64 + 1, sizeof(*set));

	for (size_t i = 0; i < world->path_count; i++) {
		if (mr_glob_matches(glob, world->paths[i]))
			set[i / 64] |= UINT64_C(1) << (i % 64);
	}
	return set;
}

typedef void make_pattern(struct mr_rand *rand, char *out);

static void prove(const struct world *world, make_pattern *make, uint64_t seed)
{
	struct mr_glob *globs[PATTERNS];
	uint64_t *sets[PATTERNS];
	struct mr_rand rand;
	size_t overlapping = 0;

	mr_rand_seeded_init(&rand, seed);
	for (size_t i = 0; i < PATTERNS; i++) {
		char pattern[PATTERN_BYTES] = "";

		make(&rand, pattern);
		globs[i] = compile(world->arena, pattern, 0);
		sets[i] = matched_paths(world, globs[i]);
	}
	for (size_t i = 0; i < PATTERNS; i++) {
		for (size_t j = 0; j < PATTERNS; j++) {
			bool want = false;

			for (size_t k = 0; k <= world->path_count / 64 && !want; k++)
				want = sets[i][k] & sets[j][k];
			overlapping += want;
			if (mr_glob_overlaps(globs[i], globs[j]) != want)
				test_fail(__FILE__, __LINE__, "'%s' and '%s' should%s overlap",
					mr_glob_text(globs[i]), mr_glob_text(globs[j]),
					want ? "" : " not");
		}
	}
	/* Both answers must be common, or nothing was proved. */
	CHECK(overlapping > PATTERNS * PATTERNS / 20);
	CHECK(overlapping < PATTERNS * PATTERNS * 19 / 20);
}

static void add_text(char *out, const char *text)
{
	size_t len = strlen(out);

	snprintf(out + len, PATTERN_BYTES - len, "%s", text);
}

static void add_atoms(struct mr_rand *rand, size_t max, char *out)
{
	static const char *const atoms[] = { "a", "b", "c", "*", "?", "[ab]", "[!a]", "[^b]",
		"{a,b}" };
	size_t count = 1 + mr_rand_below(rand, max);

	for (size_t i = 0; i < count; i++) {
		const char *atom = atoms[mr_rand_below(rand, MR_LEN(atoms))];

		/* Two stars would be a segment of any depth. */
		if (*atom != '*' || *out == '\0' || out[strlen(out) - 1] != '*')
			add_text(out, atom);
	}
}

/* One name of up to three atoms: two such meet in at most six letters. */
static void make_name(struct mr_rand *rand, char *out)
{
	add_atoms(rand, 3, out);
}

static void is_exact_within_a_name(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct world world = { arena, mr_arena_array(arena, PATHS_MAX, sizeof(char *)), 0 };

	CHECK_INT(add_words(&world, 6), 3 + 9 + 27 + 81 + 243 + 729);
	for (uint64_t seed = 0; seed < 4; seed++)
		prove(&world, make_name, seed);
}

/* Up to three segments of one atom, or any depth: two such meet in at most six one-letter names. */
static void make_deep(struct mr_rand *rand, char *out)
{
	size_t count = 1 + mr_rand_below(rand, 4);
	size_t names = 0;

	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			add_text(out, "/");
		if (names == 3 || mr_rand_below(rand, 3) == 0)
			add_text(out, "**");
		else if (names < 2 && mr_rand_below(rand, 6) == 0)
			add_text(out, "{a/b,b/?}"), names += 2;
		else
			add_atoms(rand, 1, out), names++;
	}
}

static void is_exact_across_segments(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct world world = { arena, mr_arena_array(arena, PATHS_MAX, sizeof(char *)), 0 };
	size_t count = add_words(&world, 6);

	for (size_t i = 0; i < count; i++) {
		char path[16] = "";

		for (const char *c = world.paths[i]; *c; c++)
			snprintf(path + strlen(path), sizeof(path) - strlen(path), "%s%c",
				*path ? "/" : "", *c);
		world.paths[i] = mr_arena_strdup(arena, path);
	}
	for (uint64_t seed = 10; seed < 14; seed++)
		prove(&world, make_deep, seed);
}

/* Two names of up to two atoms: two such meet in two names of at most four letters, or, without
 * wildcards, also below one name. */
static void make_two(struct mr_rand *rand, char *out)
{
	add_atoms(rand, 2, out);
	if (mr_rand_below(rand, 8) == 0)
		return;
	add_text(out, "/");
	add_atoms(rand, 2, out);
}

static void is_exact_for_longer_names(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct world world = { arena, mr_arena_array(arena, PATHS_MAX, sizeof(char *)), 0 };
	size_t count = add_words(&world, 4);

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++)
			world.paths[world.path_count++] =
				mr_arena_printf(arena, "%s/%s", world.paths[i], world.paths[j]);
	}
	prove(&world, make_two, 20);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(knows_the_pairs_that_matter),
		TEST(follows_the_options),
		TEST(finds_nothing_in_an_impossible_class),
		TEST(compares_prefixes),
		TEST(is_exact_within_a_name),
		TEST(is_exact_across_segments),
		TEST(is_exact_for_longer_names),
	};

	return test_main(tests, MR_LEN(tests));
}
