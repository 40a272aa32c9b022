/* team/guard/guard_git.c - asks git for the repository, and for the files that a commit or a
 * push would change. */
#include "team/guard/guard.h"

#include "base/fs.h"
#include "base/proc.h"
#include "team/error.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	GIT_TIMEOUT_MS = 60000, /* a large push over a slow disk */
	GIT_OUTPUT = 64 << 20,
	REFS_MAX = 4096, /* of one push */
};

/* Our environment; outside of a hook without git's variables, which would name another
 * repository. */
static const char *const *environment(struct mr_ctx *cx, const struct mr_team_guard_place *place)
{
	const char **kept;
	size_t len = 0;

	if (!place->run)
		return NULL;
	while (environ[len])
		len++;
	kept = mr_arena_array(cx->arena, len + 1, sizeof(*kept));
	len = 0;
	for (size_t i = 0; environ[i]; i++) {
		if (!mr_str_starts(environ[i], "GIT_"))
			kept[len++] = environ[i];
	}
	return kept;
}

/* `words` NULL-terminated, without "git". `*worked` false is git's no; its words are in err. */
static enum mr_code run(struct mr_ctx *cx, const struct mr_team_guard_place *place,
	const char *const *words, bool *worked, struct mr_bytes *out)
{
	struct mr_proc proc = { .env = environment(cx, place),
		.cwd = place->run,
		.timeout_ms = GIT_TIMEOUT_MS,
		.max_output = GIT_OUTPUT };
	struct mr_proc_result result;
	const char *said;
	const char **argv;
	size_t count = 0;
	enum mr_code rc;

	while (words[count])
		count++;
	argv = mr_arena_array(cx->arena, count + 2, sizeof(*argv));
	argv[0] = "git";
	memcpy(argv + 1, words, count * sizeof(*argv));
	proc.argv = argv;
	rc = mr_proc_run(cx->arena, &proc, &result, &cx->err);
	if (rc)
		return rc;
	if (result.timed_out)
		return mr_err_set(&cx->err, MR_ETIMEOUT, "git %s took more than %d s", words[0],
			GIT_TIMEOUT_MS / 1000);
	if (result.truncated)
		return mr_err_set(&cx->err, MR_ELIMIT, "git %s said more than %d MiB", words[0],
			GIT_OUTPUT >> 20);
	*worked = result.exit_status == 0;
	*out = result.out;
	if (*worked)
		return MR_OK;
	said = (const char *)result.err.data;
	mr_err_set(&cx->err, MR_EIO, "git %s: %.*s", words[0], (int)strcspn(said, "\n"),
		*said ? said : "failed");
	return MR_OK;
}

/* The same where no is an error. */
static enum mr_code ask(struct mr_ctx *cx, const struct mr_team_guard_place *place,
	const char *const *words, struct mr_bytes *out)
{
	bool worked = false;
	enum mr_code rc = run(cx, place, words, &worked, out);

	return rc || worked ? rc : cx->err.code;
}

/* The next line of what git said, and on. */
static const char *take_line(struct mr_ctx *cx, const char **text)
{
	size_t len = strcspn(*text, "\n");
	const char *line = mr_arena_strndup(cx->arena, *text, len);

	*text += len + ((*text)[len] == '\n');
	return line;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_unique(struct mr_texts *texts)
{
	size_t kept = 0;

	if (texts->len > 1)
		qsort(texts->items, texts->len, sizeof(*texts->items), compare_texts);
	for (size_t i = 0; i < texts->len; i++) {
		if (kept == 0 || strcmp(texts->items[i], texts->items[kept - 1]) != 0)
			texts->items[kept++] = texts->items[i];
	}
	texts->len = kept;
}

struct mr_texts mr_team_guard_split(struct mr_arena *arena, struct mr_bytes text)
{
	const char *at = (const char *)text.data;
	const char *end = at + text.len;
	struct mr_texts all = { NULL, 0 };
	size_t count = 1;

	for (size_t i = 0; i < text.len; i++)
		count += text.data[i] == '\0';
	all.items = mr_arena_array(arena, count + 1, sizeof(*all.items));
	while (at < end) {
		size_t len = strnlen(at, (size_t)(end - at));

		if (len > 0)
			all.items[all.len++] = mr_arena_strndup(arena, at, len);
		at += len + 1;
	}
	sort_unique(&all);
	return all;
}

/* "/a/b/../c" as it is written; links are left. */
static const char *tidy(struct mr_arena *arena, const char *path)
{
	char *out = mr_arena_alloc(arena, strlen(path) + 2);
	size_t len = 0;

	while (*path) {
		size_t part = strcspn(path, "/");

		if (part == 2 && path[0] == '.' && path[1] == '.') {
			while (len > 0 && out[--len] != '/')
				continue;
		} else if (part > 0 && !(part == 1 && path[0] == '.')) {
			out[len++] = '/';
			memcpy(out + len, path, part);
			len += part;
		}
		path += part + (path[part] == '/');
	}
	if (len == 0)
		out[len++] = '/';
	out[len] = '\0';
	return out;
}

const char *mr_team_guard_real(struct mr_arena *arena, const char *path)
{
	const char *whole = path;
	char *rest, *real;

	if (*path != '/') {
		char *here = getcwd(NULL, 0);

		whole = mr_arena_printf(arena, "%s/%s", here ? here : "", path);
		free(here);
	}
	/* Resolve the existing part of the path: the file itself may not exist yet. */
	rest = mr_arena_strdup(arena, tidy(arena, whole));
	for (size_t len = strlen(rest); len > 1;) {
		char kept = rest[len];

		rest[len] = '\0';
		real = realpath(rest, NULL);
		rest[len] = kept;
		if (real) {
			whole = mr_arena_printf(arena, "%s%s", mr_str_eq(real, "/") ? "" : real,
				rest + len);
			free(real);
			return whole;
		}
		while (len > 1 && rest[--len] != '/')
			continue;
	}
	return rest;
}

static const char *parent_of(struct mr_arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash != path ? mr_arena_strndup(arena, path, (size_t)(slash - path)) : "/";
}

static enum mr_code learn_case(struct mr_ctx *cx, struct mr_team_guard_place *place)
{
	static const char *const words[] = { "config", "--type=bool", "--get", "core.ignorecase",
		NULL };
	struct mr_bytes said;
	bool worked = false;
	enum mr_code rc = run(cx, place, words, &worked, &said);

	place->ignore_case = !rc && worked && mr_str_starts((const char *)said.data, "true");
	return rc;
}

enum mr_code mr_team_guard_place(struct mr_ctx *cx, const char *directory,
	struct mr_team_guard_place *out)
{
	static const char *const words[] = { "rev-parse", "--path-format=absolute",
		"--git-common-dir", "--show-toplevel", NULL };
	static const char *const bare[] = { "rev-parse", "--path-format=absolute",
		"--git-common-dir", NULL };
	struct mr_team_guard_place place = { .run = directory };
	const char *text, *common, *first;
	struct mr_bytes said;
	bool worked = false;
	enum mr_code rc = run(cx, &place, words, &worked, &said);

	if (!rc && !worked)
		rc = run(cx, &place, bare, &worked, &said);
	if (rc)
		return rc == MR_ENOTFOUND
			? mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no repository at %s: %s",
				  directory, mr_arena_strdup(cx->arena, cx->err.msg))
			: rc;
	if (!worked)
		return mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no git repository at %s",
			directory ? directory : "the working directory");
	text = (const char *)said.data;
	common = mr_team_guard_real(cx->arena, take_line(cx, &text));
	place.top = *text ? mr_team_guard_real(cx->arena, take_line(cx, &text)) : common;
	first = mr_str_ends(common, "/.git") ? parent_of(cx->arena, common) : NULL;
	if (first && !mr_str_eq(first, place.top))
		place.main = first;
	rc = learn_case(cx, &place);
	if (!rc)
		*out = place;
	return rc;
}

/* Renames are off: each is then a deletion and an addition, and so both names are there. */
#define NAMES                                                                                      \
	"--name-only", "--no-renames", "--no-relative", "--no-ext-diff", "--no-color",             \
		"--ignore-submodules=none", "-z"

/* In a merge in progress keep only files that differ from both parents: the rest is work of
 * others. */
static enum mr_code keep_merged(struct mr_ctx *cx, const struct mr_team_guard_place *place,
	struct mr_texts *paths)
{
	static const char *const merging[] = { "rev-parse", "--quiet", "--verify", "MERGE_HEAD",
		NULL };
	static const char *const words[] = { "diff", "--cached", NAMES, "MERGE_HEAD", "--", NULL };
	struct mr_texts theirs;
	struct mr_bytes said;
	size_t kept = 0, at = 0;
	bool worked = false;
	enum mr_code rc = run(cx, place, merging, &worked, &said);

	if (rc || !worked)
		return rc;
	rc = ask(cx, place, words, &said);
	if (rc)
		return rc;
	theirs = mr_team_guard_split(cx->arena, said);
	for (size_t i = 0; i < paths->len; i++) {
		while (at < theirs.len && strcmp(theirs.items[at], paths->items[i]) < 0)
			at++;
		if (at < theirs.len && mr_str_eq(theirs.items[at], paths->items[i]))
			paths->items[kept++] = paths->items[i];
	}
	paths->len = kept;
	return MR_OK;
}

enum mr_code mr_team_guard_staged(struct mr_ctx *cx, const struct mr_team_guard_place *place,
	struct mr_texts *out)
{
	static const char *const words[] = { "diff", "--cached", NAMES, "--", NULL };
	struct mr_texts paths = { NULL, 0 };
	struct mr_bytes said;
	enum mr_code rc = ask(cx, place, words, &said);

	if (!rc)
		paths = mr_team_guard_split(cx->arena, said);
	if (!rc && paths.len)
		rc = keep_merged(cx, place, &paths);
	if (!rc)
		*out = paths;
	return rc;
}

/* One line of pre-push. */
struct push_ref {
	const char *local, *remote; /* ids */
	bool is_gone, is_new;       /* deleted there; not there yet */
	bool is_tag;
};

static bool is_id(const char *text)
{
	size_t len = strspn(text, "0123456789abcdefABCDEF");

	return text[len] == '\0' && (len == 40 || len == 64);
}

static bool is_zero(const char *id)
{
	return id[strspn(id, "0")] == '\0';
}

static enum mr_code parse_ref(struct mr_ctx *cx, const char *line, struct push_ref *out)
{
	struct mr_texts words = mr_str_split(cx->arena, line, ' ');

	if (words.len != 4 || !is_id(words.items[1]) || !is_id(words.items[3]))
		return mr_err_set(&cx->err, MR_EFORMAT,
			"not a line of pre-push (<ref> <id> <ref> <id>): %.100s", line);
	*out = (struct push_ref){
		.local = words.items[1],
		.remote = words.items[3],
		.is_gone = is_zero(words.items[1]),
		.is_new = is_zero(words.items[3]),
		.is_tag = mr_str_starts(words.items[2], "refs/tags/"),
	};
	return MR_OK;
}

/* Bytes of several answers, one behind the other. */
static void add(struct mr_buf *all, struct mr_bytes said)
{
	mr_buf_add(all, said.data, said.len);
	if (said.len > 0 && said.data[said.len - 1] != '\0')
		mr_buf_putc(all, '\0');
}

/* A tag may stand on anything; only commits change files. */
static enum mr_code is_commit(struct mr_ctx *cx, const struct mr_team_guard_place *place,
	const char *id, bool *out)
{
	const char *const words[] = { "rev-parse", "--quiet", "--verify",
		mr_arena_printf(cx->arena, "%s^{commit}", id), NULL };
	struct mr_bytes said;

	return run(cx, place, words, out, &said);
}

/* What the new commits change, all in one question. */
static enum mr_code list_new(struct mr_ctx *cx, const struct mr_team_guard_place *place,
	const struct mr_texts *ids, struct mr_buf *all)
{
	/* -c: of a merge, what is as in none of its parents. */
	static const char *const before[] = { "log", "--format=", "--no-show-signature", "-c",
		NAMES };
	static const char *const after[] = { "--not", "--remotes", "--", NULL };
	const char **words = mr_arena_array(cx->arena, ids->len + MR_LEN(before) + MR_LEN(after),
		sizeof(*words));
	struct mr_bytes said;
	enum mr_code rc;

	memcpy(words, before, sizeof(before));
	memcpy(words + MR_LEN(before), ids->items, ids->len * sizeof(*words));
	memcpy(words + MR_LEN(before) + ids->len, after, sizeof(after));
	rc = ask(cx, place, words, &said);
	if (!rc)
		add(all, said);
	return rc;
}

/* Files changed by updating one branch; an unknown remote id (another clone pushed meanwhile)
 * counts as a new branch. */
static enum mr_code list_update(struct mr_ctx *cx, const struct mr_team_guard_place *place,
	const struct push_ref *ref, bool *known, struct mr_buf *all)
{
	const char *const words[] = { "diff", NAMES, ref->remote, ref->local, "--", NULL };
	struct mr_bytes said;
	enum mr_code rc = run(cx, place, words, known, &said);

	if (!rc && *known)
		add(all, said);
	return rc;
}

static enum mr_code list_ref(struct mr_ctx *cx, const struct mr_team_guard_place *place,
	const struct push_ref *ref, struct mr_texts *new_ids, struct mr_buf *all)
{
	bool known = false, commit = true;
	enum mr_code rc = MR_OK;

	if (ref->is_gone)
		return MR_OK;
	if (ref->is_tag)
		rc = is_commit(cx, place, ref->local, &commit);
	if (!rc && commit && !ref->is_new)
		rc = list_update(cx, place, ref, &known, all);
	if (!rc && commit && !known)
		new_ids->items[new_ids->len++] = ref->local;
	return rc;
}

enum mr_code mr_team_guard_pushed(struct mr_ctx *cx, const struct mr_team_guard_place *place,
	const char *refs, struct mr_texts *out)
{
	struct mr_texts lines = mr_str_split(cx->arena, refs, '\n');
	struct mr_texts new_ids = { NULL, 0 };
	struct mr_buf all MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc = MR_OK;

	mr_buf_init(&all, GIT_OUTPUT);
	if (lines.len > REFS_MAX)
		return mr_err_set(&cx->err, MR_ELIMIT, "%zu refs in one push; at most %d",
			lines.len, REFS_MAX);
	new_ids.items = mr_arena_array(cx->arena, lines.len + 1, sizeof(*new_ids.items));
	for (size_t i = 0; i < lines.len && !rc; i++) {
		struct push_ref ref = { 0 };

		rc = parse_ref(cx, lines.items[i], &ref);
		if (!rc)
			rc = list_ref(cx, place, &ref, &new_ids, &all);
	}
	if (!rc && new_ids.len)
		rc = list_new(cx, place, &new_ids, &all);
	if (!rc)
		rc = mr_buf_check(&all, "what is pushed", &cx->err);
	if (!rc)
		*out = mr_team_guard_split(cx->arena, mr_buf_bytes(&all));
	return rc;
}

static bool is_below(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	return strncmp(path, directory, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

enum mr_code mr_team_guard_hooks_dir(struct mr_ctx *cx, const struct mr_team_guard_place *place,
	const char **out, bool *shared)
{
	static const char *const words[] = { "rev-parse", "--path-format=absolute",
		"--git-common-dir", "--git-path", "hooks", NULL };
	/* A relative core.hooksPath is seen from the top. */
	struct mr_team_guard_place top = { .run = place->top };
	const char *text, *common, *hooks;
	struct mr_bytes said;
	enum mr_code rc = ask(cx, &top, words, &said);

	if (rc)
		return rc;
	text = (const char *)said.data;
	common = mr_team_guard_real(cx->arena, take_line(cx, &text));
	hooks = mr_team_guard_real(cx->arena, take_line(cx, &text));
	*shared = !is_below(hooks, common) && !is_below(hooks, place->top) &&
		!(place->main && is_below(hooks, place->main));
	*out = hooks;
	return MR_OK;
}
