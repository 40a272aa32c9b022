/* surface/web/page_lease.c - page and action: who holds which files of a project, and taking a
 * lease away.
 */
#include "base/str.h"
#include "op/nouns.h"
#include "surface/web/pages.h"

#include <stdlib.h>
#include <string.h>

/* Indentation stops here: further down a path is still read from the left. */
enum { DEPTH_SHOWN = 8 };

/* A directory or a pattern; below it what is in it, in the order of paths. */
struct node {
	const char *name; /* "src/" or "*.c" */
	const struct mr_value **leases;
	size_t lease_count, lease_room;
	struct node **items;
	size_t len, room;
};

static const char *text_of(const struct mr_value *lease, const char *key)
{
	const struct mr_value *value = mr_value_get(lease, key);

	return value && value->kind == MR_TEXT ? value->text : "";
}

static bool is_exclusive(const struct mr_value *lease)
{
	const struct mr_value *value = mr_value_get(lease, "exclusive");

	return value && value->kind == MR_BOOL && value->boolean;
}

/* '/' before everything, so that what is in a directory follows it directly. */
static int by_path(const void *a, const void *b)
{
	const char *x = text_of(*(const struct mr_value *const *)a, "path_pattern");
	const char *y = text_of(*(const struct mr_value *const *)b, "path_pattern");

	while (*x && *x == *y)
		x++, y++;
	if (*x && *y && (*x == '/' || *y == '/'))
		return *x == '/' ? -1 : 1;
	return (unsigned char)*x - (unsigned char)*y;
}

static struct node *add_node(struct mr_arena *arena, struct node *in, const char *name)
{
	struct node *node = mr_arena_alloc(arena, sizeof(*node));

	*node = (struct node){ .name = name };
	if (in->len == in->room) {
		struct node **more;

		in->room = in->room ? 2 * in->room : 4;
		more = mr_arena_array(arena, in->room, sizeof(*more));
		if (in->len)
			memcpy(more, in->items, in->len * sizeof(*more));
		in->items = more;
	}
	in->items[in->len++] = node;
	return node;
}

/* Paths come in order, so only the last of a directory can be it. */
static struct node *enter(struct mr_arena *arena, struct node *in, const char *name)
{
	struct node *last = in->len ? in->items[in->len - 1] : NULL;

	return last && strcmp(last->name, name) == 0 ? last : add_node(arena, in, name);
}

static void add_lease(struct mr_arena *arena, struct node *top, const struct mr_value *lease)
{
	const char *at = text_of(lease, "path_pattern");
	struct node *in = top;

	for (const char *slash = strchr(at, '/'); slash && slash[1]; slash = strchr(at, '/')) {
		in = enter(arena, in, mr_arena_strndup(arena, at, (size_t)(slash + 1 - at)));
		at = slash + 1;
	}
	in = enter(arena, in, at);
	if (in->lease_count == in->lease_room) {
		const struct mr_value **more;

		in->lease_room = in->lease_room ? 2 * in->lease_room : 2;
		more = mr_arena_array(arena, in->lease_room, sizeof(*more));
		if (in->lease_count)
			memcpy(more, in->leases, in->lease_count * sizeof(*more));
		in->leases = more;
	}
	in->leases[in->lease_count++] = lease;
}

/* ---- who is in whose way ---- */

/* What check_paths said of this pattern: {path, holders}; or NULL. */
static const struct mr_value *conflict_of(const struct mr_value *conflicts, const char *pattern)
{
	for (size_t i = 0; conflicts && i < conflicts->list.len; i++) {
		if (strcmp(text_of(&conflicts->list.items[i], "path"), pattern) == 0)
			return &conflicts->list.items[i];
	}
	return NULL;
}

/* The leases of others that this one overlaps, where one of the two is exclusive. */
static void put_rivals(struct mr_out *out, const struct mr_value *conflicts,
	const struct mr_value *lease)
{
	const struct mr_value *found = conflict_of(conflicts, text_of(lease, "path_pattern"));
	const struct mr_value *holders = found ? mr_value_get(found, "holders") : NULL;

	mr_out_list(out, "rivals");
	for (size_t i = 0; holders && i < holders->list.len; i++) {
		const struct mr_value *other = &holders->list.items[i];

		if ((is_exclusive(lease) || is_exclusive(other)) &&
			strcmp(text_of(lease, "agent"), text_of(other, "agent")) != 0)
			mr_out_value(out, NULL, other);
	}
	mr_out_end(out);
}

/* Which of these patterns meet: what check_paths says to somebody who holds none of them. NULL
 * when it cannot say, as of patterns that are too wide to compare: the page is whole without. */
static const struct mr_value *find_conflicts(struct mr_web_view *view,
	const struct mr_value *leases)
{
	struct mr_arena *arena = view->req->arena;
	struct mr_value *paths = mr_arena_array(arena, leases->list.len, sizeof(*paths));
	struct mr_pair pairs[] = {
		{ "project_key", { .kind = MR_TEXT, .text = mr_web_value(view, "project_key") } },
		{ "paths", { .kind = MR_LIST, .list = { paths, leases->list.len } } },
	};
	const struct mr_value args = { .kind = MR_MAP, .map = { pairs, MR_LEN(pairs) } };
	const struct mr_value *result;

	for (size_t i = 0; i < leases->list.len; i++)
		paths[i] = (struct mr_value){ .kind = MR_TEXT,
			.text = text_of(&leases->list.items[i], "path_pattern") };
	if (!leases->list.len || mr_web_run_args(view, &mr_op_team_check_paths, &args, &result))
		return NULL;
	return mr_value_get(result, "conflicts");
}

/* ---- the rows of the page ---- */

/* When somebody was last seen to work under the lease, in any way; or NULL. Times of one form are
 * in the order of their texts. */
static const char *last_sign(const struct mr_value *lease)
{
	static const char *const signs[] = { "last_agent_activity_ts", "last_mail_activity_ts",
		"last_filesystem_activity_ts", "last_git_activity_ts" };
	const char *last = "";

	for (size_t i = 0; i < MR_LEN(signs); i++) {
		const char *sign = text_of(lease, signs[i]);

		last = strcmp(sign, last) > 0 ? sign : last;
	}
	return *last ? last : NULL;
}

static void put_leases(struct mr_out *out, const struct node *node,
	const struct mr_value *conflicts)
{
	mr_out_list(out, "leases");
	for (size_t i = 0; i < node->lease_count; i++) {
		const struct mr_value *lease = node->leases[i];

		mr_out_map(out, NULL);
		for (size_t k = 0; k < lease->map.len; k++)
			mr_out_value(out, lease->map.pairs[k].key, &lease->map.pairs[k].value);
		mr_out_text(out, "last_sign_ts", last_sign(lease));
		put_rivals(out, conflicts, lease);
		mr_out_end(out);
	}
	mr_out_end(out);
}

static void put_rows(struct mr_web_view *view, const struct node *node, int64_t depth,
	const struct mr_value *conflicts)
{
	struct mr_out *out = &view->out;

	for (size_t i = 0; i < node->len; i++) {
		const struct node *row = node->items[i];
		const char *name = row->name;

		/* What is alone in its directory is one row with it. */
		for (; row->len == 1 && !row->lease_count; row = row->items[0])
			name = mr_arena_printf(view->req->arena, "%s%s", name, row->items[0]->name);
		mr_out_map(out, NULL);
		mr_out_text(out, "name", name);
		mr_out_int(out, "depth", depth < DEPTH_SHOWN ? depth : DEPTH_SHOWN);
		put_leases(out, row, conflicts);
		mr_out_end(out);
		put_rows(view, row, depth + 1, conflicts);
	}
}

static enum mr_code fill_leases(struct mr_web_view *view)
{
	struct mr_arena *arena = view->req->arena;
	const struct mr_value *result;
	const struct mr_value *leases;
	const struct mr_value **sorted;
	struct node top = { 0 };
	enum mr_code rc = mr_web_run(view, &mr_op_team_list_reservations,
		"active_only=true&limit=300", &result);

	if (rc)
		return rc;
	leases = mr_value_get(result, "result");
	sorted = mr_arena_array(arena, leases->list.len, sizeof(struct mr_value *));
	for (size_t i = 0; i < leases->list.len; i++)
		sorted[i] = &leases->list.items[i];
	qsort(sorted, leases->list.len, sizeof(struct mr_value *), by_path);
	for (size_t i = 0; i < leases->list.len; i++)
		add_lease(arena, &top, sorted[i]);
	mr_out_int(&view->out, "count", (int64_t)leases->list.len);
	mr_out_bool(&view->out, "is_cut", mr_value_get(result, "next_cursor"));
	mr_out_list(&view->out, "tree");
	put_rows(view, &top, 0, find_conflicts(view, leases));
	mr_out_end(&view->out);
	return MR_OK;
}

const struct mr_web_page mr_web_page_leases = {
	.pattern = "/mail/p/{project_key}/leases",
	.template = "leases.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT, { 0 } },
	.fill = fill_leases,
};

/* All there ever were, the newest first. */
const struct mr_web_page mr_web_page_leases_past = {
	.pattern = "/mail/p/{project_key}/leases/all",
	.template = "leases-all.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT,
		{ "leases", &mr_op_team_list_reservations, "limit=100" }, { 0 } },
};

const struct mr_web_action mr_web_action_lease_release = {
	.name = "lease-release",
	.note = "The lease is released, and its holder has a message that says so.",
	.pattern = "/mail/p/{project_key}/leases/{file_reservation_id}/release",
	.op = &mr_op_team_force_release,
	.fixed = "agent_name=HumanOverseer&notify_previous=true",
	.page = &mr_web_page_leases,
};
