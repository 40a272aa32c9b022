/* team/guard/guard.c - the guard: finds leases of other agents on given paths. */
#include "team/guard/guard.h"

#include "base/utf8.h"
#include "team/guard/guard_private.h"
#include "team/limits.h"
#include "team/name.h"
#include "text/glob.h"

#include <stdlib.h>
#include <string.h>

enum { WARNINGS = 50, HITS_MAX = 100000 };

void mr_team_guard_warn(struct mr_ctx *cx, struct mr_team_guard_look *look, const char *fmt, ...)
{
	struct mr_texts *warnings = &look->warnings;
	va_list ap;

	if (!warnings->items)
		warnings->items = mr_arena_array(cx->arena, WARNINGS + 1, sizeof(*warnings->items));
	if (warnings->len == WARNINGS)
		return;
	va_start(ap, fmt);
	warnings->items[warnings->len++] = mr_arena_vprintf(cx->arena, fmt, ap);
	va_end(ap);
}

/* Compares names as lookups do: in any case, and with characters other than letters and digits
 * ignored. */
static bool is_same_agent(struct mr_arena *arena, const char *asked, const char *holder)
{
	return mr_str_eq_nocase(asked, holder) ||
		mr_str_eq_nocase(mr_team_name_sanitise(arena, asked), holder);
}

void mr_team_guard_keep(struct mr_ctx *cx, struct mr_team_guard_look *look,
	const struct mr_team_reservation *lease)
{
	const char *agent = look->question->agent;
	struct mr_team_reservations *kept = &look->leases;

	/* An escalation's lease is on a mailbox, whatever files the repository has below
	 * agents/. */
	if (!lease->exclusive || lease->released_ts || mr_str_eq(lease->origin, "escalation"))
		return;
	if (lease->expires_ts && lease->expires_ts <= mr_clock_wall_us(cx->clock))
		return;
	if ((agent && is_same_agent(cx->arena, agent, lease->agent)) ||
		mr_texts_has(&look->ours, lease->agent))
		return;
	if (kept->len == look->room) {
		size_t room = look->room ? look->room * 2 : 16;
		struct mr_team_reservation *more = mr_arena_array(cx->arena, room, sizeof(*more));

		if (kept->len)
			memcpy(more, kept->items, kept->len * sizeof(*more));
		kept->items = more;
		look->room = room;
	}
	kept->items[kept->len++] = *lease;
}

/* A project may be a subdirectory of the repository: then only paths inside it matter. */
void mr_team_guard_rebase(struct mr_ctx *cx, struct mr_team_guard_look *look)
{
	const struct mr_texts *paths = &look->question->paths;
	const char *top = look->question->place->top;
	const char *key = look->project.human_key;
	size_t top_len = strlen(top), skip;

	look->paths = *paths;
	if (!key || *key != '/')
		return;
	key = mr_team_guard_real(cx->arena, key);
	if (strncmp(key, top, top_len) != 0 || key[top_len] != '/')
		return;
	key += top_len + 1;
	skip = strlen(key);
	look->paths = (struct mr_texts){
		mr_arena_array(cx->arena, paths->len + 1, sizeof(*look->paths.items)), 0
	};
	for (size_t i = 0; i < paths->len; i++) {
		if (strncmp(paths->items[i], key, skip) == 0 && paths->items[i][skip] == '/')
			look->paths.items[look->paths.len++] = paths->items[i] + skip + 1;
	}
}

/* A lease and a path that it covers. */
struct hit {
	size_t path, lease;
};

struct judging {
	struct mr_ctx *cx;
	struct mr_team_guard_look *look;
	struct mr_texts keys; /* the paths as they are compared, sorted */
	size_t *order;        /* of each key, which path it is */
	struct hit *hits;
	size_t len, room;
};

static void add_hit(struct judging *j, size_t path, size_t lease)
{
	if (j->len == j->room) {
		size_t room = j->room ? j->room * 2 : 64;
		struct hit *more = mr_arena_array(j->cx->arena, room, sizeof(*more));

		if (j->len)
			memcpy(more, j->hits, j->len * sizeof(*more));
		j->hits = more;
		j->room = room;
	}
	j->hits[j->len++] = (struct hit){ path, lease };
}

struct keyed {
	const char *key;
	size_t path;
};

static int compare_keyed(const void *a, const void *b)
{
	return strcmp(((const struct keyed *)a)->key, ((const struct keyed *)b)->key);
}

/* On a file system that ignores case, compare without case. */
static void key_paths(struct judging *j)
{
	const struct mr_texts *paths = &j->look->paths;
	bool fold = j->look->question->place->ignore_case;
	struct keyed *keyed = mr_arena_array(j->cx->arena, paths->len + 1, sizeof(*keyed));

	for (size_t i = 0; i < paths->len; i++)
		keyed[i] = (struct keyed){ fold ? mr_str_lower(j->cx->arena, paths->items[i])
						: paths->items[i],
			i };
	if (paths->len > 1)
		qsort(keyed, paths->len, sizeof(*keyed), compare_keyed);
	j->keys.items = mr_arena_array(j->cx->arena, paths->len + 1, sizeof(*j->keys.items));
	j->order = mr_arena_array(j->cx->arena, paths->len + 1, sizeof(*j->order));
	for (; j->keys.len < paths->len; j->keys.len++) {
		j->keys.items[j->keys.len] = keyed[j->keys.len].key;
		j->order[j->keys.len] = keyed[j->keys.len].path;
	}
}

/* The first path that is not before `prefix`. */
static size_t lower_bound(const struct mr_texts *keys, const char *prefix)
{
	size_t from = 0, to = keys->len;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (strcmp(keys->items[middle], prefix) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Only paths that begin as the pattern does are compared with it. */
static void judge_lease(struct judging *j, size_t lease)
{
	const struct mr_team_guard_question *question = j->look->question;
	const char *pattern = j->look->leases.items[lease].path_pattern;
	const char *root = j->look->project.human_key;
	struct mr_glob_options options = { .flags = MR_GLOB_SPELLING |
			(question->config->fnmatch_style ? MR_GLOB_CROSS : 0) };
	const char *prefix;
	struct mr_glob *glob;
	struct mr_err why = { 0 };

	if (question->place->ignore_case) {
		pattern = mr_str_lower(j->cx->arena, pattern);
		root = root ? mr_str_lower(j->cx->arena, root) : NULL;
	}
	options.root = root && *root == '/' ? root : NULL;
	if (mr_glob_compile(j->cx->arena, pattern, &options, &glob, &why)) {
		mr_team_guard_warn(j->cx, j->look, "lease %lld of %s is passed over: %s",
			(long long)j->look->leases.items[lease].id,
			j->look->leases.items[lease].agent, why.msg);
		return;
	}
	prefix = mr_glob_literal_prefix(glob);
	for (size_t i = lower_bound(&j->keys, prefix); i < j->keys.len && j->len < HITS_MAX; i++) {
		if (!mr_str_starts(j->keys.items[i], prefix))
			break;
		if (mr_glob_matches(glob, j->keys.items[i]))
			add_hit(j, j->order[i], lease);
	}
}

static int compare_hits(const void *a, const void *b)
{
	const struct hit *x = a;
	const struct hit *y = b;

	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	return (x->lease > y->lease) - (x->lease < y->lease);
}

/* The archive lists the newest lease of a pattern twice. */
static bool is_told(const struct mr_team_reservations *holders,
	const struct mr_team_reservation *lease)
{
	for (size_t i = 0; i < holders->len; i++) {
		const struct mr_team_reservation *other = &holders->items[i];

		if (mr_str_eq(other->agent, lease->agent) &&
			mr_str_eq(other->path_pattern, lease->path_pattern))
			return true;
	}
	return false;
}

static void gather(struct judging *j, struct mr_team_conflicts *out)
{
	if (j->len > 1)
		qsort(j->hits, j->len, sizeof(*j->hits), compare_hits);
	out->items = mr_arena_array(j->cx->arena, j->len, sizeof(*out->items));
	for (size_t i = 0; i < j->len;) {
		struct mr_team_conflict *conflict = &out->items[out->len++];
		size_t path = j->hits[i].path, from = i;

		while (i < j->len && j->hits[i].path == path)
			i++;
		conflict->path = j->look->paths.items[path];
		conflict->holders.items =
			mr_arena_array(j->cx->arena, i - from, sizeof(*conflict->holders.items));
		for (size_t k = from; k < i; k++) {
			const struct mr_team_reservation *lease =
				&j->look->leases.items[j->hits[k].lease];

			if (is_told(&conflict->holders, lease))
				continue;
			conflict->has_more = conflict->holders.len == MR_TEAM_HOLDERS;
			if (conflict->has_more)
				break;
			conflict->holders.items[conflict->holders.len++] = *lease;
		}
	}
}

static void judge(struct mr_ctx *cx, struct mr_team_guard_look *look, struct mr_team_conflicts *out)
{
	struct judging j = { .cx = cx, .look = look };

	key_paths(&j);
	for (size_t i = 0; i < look->leases.len && j.keys.len; i++)
		judge_lease(&j, i);
	gather(&j, out);
}

/* The database; else the archive; else the server. A damaged database is not fatal. */
static enum mr_code look_around(struct mr_ctx *cx, struct mr_team_guard_look *look)
{
	struct mr_err first = { 0 };
	enum mr_code rc = mr_team_guard_database(cx, look);

	if (look->found && !rc)
		return MR_OK;
	if (rc) {
		first = cx->err;
		look->found = false;
		look->leases.len = 0;
	}
	if (mr_team_guard_archive(cx, look))
		return cx->err.code;
	if (look->found && rc)
		mr_team_guard_warn(cx, look, "the archive was asked instead: %s", first.msg);
	if (!look->found)
		rc = mr_team_guard_server(cx, look) ? cx->err.code : rc;
	if (!look->found && rc && first.code)
		cx->err = first;
	return look->found ? MR_OK : rc;
}

enum mr_code mr_team_guard_ask(struct mr_ctx *cx, const struct mr_team_guard_question *question,
	struct mr_team_guard_answer *out)
{
	struct mr_team_guard_look look = { .question = question, .agent = question->agent };
	struct mr_team_guard_answer answer = { 0 };
	enum mr_code rc = look_around(cx, &look);

	if (rc)
		return rc;
	if (look.found)
		judge(cx, &look, &answer.conflicts);
	answer.source = look.found ? look.source : NULL;
	answer.project = look.project;
	answer.agent = look.agent;
	answer.last = look.last;
	answer.sender = look.sender;
	answer.free_name = look.free_name;
	answer.was_warned = look.was_warned;
	answer.leases = look.leases.len;
	answer.warnings = look.warnings;
	*out = answer;
	return MR_OK;
}
