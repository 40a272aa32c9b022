/* surface/web/page_traffic.c - page: who writes to whom, as a picture and as a table. */
#include "base/str.h"
#include "op/nouns.h"
#include "surface/web/pages.h"

#include <math.h>
#include <string.h>

/* More agents than this would not be told apart; the table has all. */
enum { AGENTS_SHOWN = 24, PAIRS_SHOWN = 200 };
/* The picture, in its own units. Names stand around the ellipse. */
enum { WIDE = 640, HIGH = 440, RADIUS_X = 190, RADIUS_Y = 165, DOT_MIN = 5, DOT_MORE = 9 };

static const double PI = 3.14159265358979323846;

struct dot {
	const char *name, *project;
	int64_t sent, received;
	double x, y, angle;
};
struct graph {
	const struct mr_value *pairs;
	struct dot *dots; /* the busiest first, then in their places */
	size_t len, drawn;
	int64_t most; /* messages of a pair, and of an agent */
	int64_t busiest;
};

static const char *text_of(const struct mr_value *pair, const char *key)
{
	return mr_value_get(pair, key)->text;
}

static int64_t count_of(const struct mr_value *pair)
{
	return mr_value_get(pair, "messages")->integer;
}

static struct dot *find_dot(const struct graph *graph, const char *name, const char *project)
{
	for (size_t i = 0; i < graph->len; i++) {
		if (strcmp(graph->dots[i].name, name) == 0 &&
			strcmp(graph->dots[i].project, project) == 0)
			return &graph->dots[i];
	}
	return NULL;
}

static struct dot *add_dot(struct graph *graph, const char *name, const char *project)
{
	struct dot *dot = find_dot(graph, name, project);

	if (!dot) {
		dot = &graph->dots[graph->len++];
		*dot = (struct dot){ .name = name, .project = project };
	}
	return dot;
}

static int64_t total(const struct dot *dot)
{
	return dot->sent + dot->received;
}

/* The pairs come with the busiest first, so who is met early is busy. */
static void count(struct graph *graph)
{
	for (size_t i = 0; i < graph->pairs->list.len; i++) {
		const struct mr_value *pair = &graph->pairs->list.items[i];
		int64_t messages = count_of(pair);

		add_dot(graph, text_of(pair, "from"), text_of(pair, "from_project"))->sent +=
			messages;
		add_dot(graph, text_of(pair, "to"), text_of(pair, "to_project"))->received +=
			messages;
		graph->most = messages > graph->most ? messages : graph->most;
	}
	for (size_t i = 0; i < graph->len; i++)
		graph->busiest = total(&graph->dots[i]) > graph->busiest ? total(&graph->dots[i])
									 : graph->busiest;
	graph->drawn = graph->len < AGENTS_SHOWN ? graph->len : AGENTS_SHOWN;
}

static void place(struct graph *graph)
{
	for (size_t i = 0; i < graph->drawn; i++) {
		struct dot *dot = &graph->dots[i];

		dot->angle = 2 * PI * (double)i / (double)graph->drawn - PI / 2;
		dot->x = WIDE / 2.0 + RADIUS_X * cos(dot->angle);
		dot->y = HIGH / 2.0 + RADIUS_Y * sin(dot->angle);
	}
}

static double radius(const struct graph *graph, const struct dot *dot)
{
	return DOT_MIN + DOT_MORE * sqrt((double)total(dot) / (double)graph->busiest);
}

/* ---- what the template draws ---- */

static void put_number(struct mr_web_view *view, const char *key, double number)
{
	mr_out_text(&view->out, key, mr_arena_printf(view->req->arena, "%.1f", number));
}

static void put_dots(struct mr_web_view *view, const struct graph *graph)
{
	struct mr_out *out = &view->out;

	mr_out_list(out, "dots");
	for (size_t i = 0; i < graph->drawn; i++) {
		const struct dot *dot = &graph->dots[i];
		double r = radius(graph, dot);
		double side = cos(dot->angle);

		mr_out_map(out, NULL);
		mr_out_text(out, "name", dot->name);
		mr_out_text(out, "project", dot->project);
		mr_out_int(out, "sent", dot->sent);
		mr_out_int(out, "received", dot->received);
		put_number(view, "x", dot->x);
		put_number(view, "y", dot->y);
		put_number(view, "r", r);
		put_number(view, "label_x", dot->x + (r + 6) * side);
		put_number(view, "label_y", dot->y + (r + 12) * sin(dot->angle) + 5);
		mr_out_text(out, "anchor", side > 0.2 ? "start" : side < -0.2 ? "end" : "middle");
		mr_out_end(out);
	}
	mr_out_end(out);
}

/* A line that bends to the right of its way, so that the way back is another one. */
static const char *curve(struct mr_arena *arena, const struct graph *graph, const struct dot *from,
	const struct dot *to)
{
	double dx = to->x - from->x, dy = to->y - from->y;
	double length = sqrt(dx * dx + dy * dy);
	double bend = 0.14 * length;
	double mx = (from->x + to->x) / 2 - dy / length * bend;
	double my = (from->y + to->y) / 2 + dx / length * bend;
	double ex = to->x - mx, ey = to->y - my;
	double end = sqrt(ex * ex + ey * ey);
	double stop = radius(graph, to) + 3;

	return mr_arena_printf(arena, "M%.1f %.1f Q%.1f %.1f %.1f %.1f", from->x, from->y, mx, my,
		to->x - ex / end * stop, to->y - ey / end * stop);
}

static void put_lines(struct mr_web_view *view, const struct graph *graph)
{
	struct mr_out *out = &view->out;

	mr_out_list(out, "lines");
	for (size_t i = 0; i < graph->pairs->list.len && i < PAIRS_SHOWN; i++) {
		const struct mr_value *pair = &graph->pairs->list.items[i];
		const struct dot *from =
			find_dot(graph, text_of(pair, "from"), text_of(pair, "from_project"));
		const struct dot *to =
			find_dot(graph, text_of(pair, "to"), text_of(pair, "to_project"));
		double part = (double)count_of(pair) / (double)graph->most;

		/* What somebody sends to itself is in the table. */
		if (from == to || from >= graph->dots + graph->drawn ||
			to >= graph->dots + graph->drawn)
			continue;
		mr_out_map(out, NULL);
		mr_out_text(out, "from", from->name);
		mr_out_text(out, "to", to->name);
		mr_out_int(out, "messages", count_of(pair));
		mr_out_text(out, "d", curve(view->req->arena, graph, from, to));
		put_number(view, "width", 1 + 4 * part);
		put_number(view, "shade", 0.35 + 0.65 * part);
		mr_out_end(out);
	}
	mr_out_end(out);
}

static enum mr_code fill_traffic(struct mr_web_view *view)
{
	const struct mr_value *traffic;
	struct graph graph = { 0 };
	enum mr_code rc = mr_web_run(view, &mr_op_team_traffic, NULL, &traffic);

	if (rc)
		return rc;
	graph.pairs = mr_value_get(traffic, "result");
	graph.dots = mr_arena_array(view->req->arena, 2 * graph.pairs->list.len + 1,
		sizeof(*graph.dots));
	count(&graph);
	place(&graph);
	mr_out_value(&view->out, "traffic", traffic);
	mr_out_int(&view->out, "wide", WIDE);
	mr_out_int(&view->out, "high", HIGH);
	mr_out_int(&view->out, "agent_count", (int64_t)graph.len);
	put_dots(view, &graph);
	put_lines(view, &graph);
	return MR_OK;
}

const struct mr_web_page mr_web_page_traffic = {
	.pattern = "/mail/p/{project_key}/history/traffic",
	.template = "traffic.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT, { 0 } },
	.fill = fill_traffic,
};
