/* surface/web/page_status.c - page: whether all is well, and how much goes on, with charts. */
#include "base/str.h"
#include "op/nouns.h"
#include "surface/web/pages.h"

#include <math.h>

/* A chart, in its own units: bars stand on its lower edge. */
enum { WIDE = 600, HIGH = 110 };

static int64_t count_of(const struct mr_value *row, const char *key)
{
	const struct mr_value *value = mr_value_get(row, key);

	return value && value->kind == MR_INT ? value->integer : 0;
}

static int64_t most_of(const struct mr_value *rows, const char *key)
{
	int64_t most = 0;

	for (size_t i = 0; i < rows->list.len; i++) {
		int64_t count = count_of(&rows->list.items[i], key);

		most = count > most ? count : most;
	}
	return most;
}

static void put_number(struct mr_web_view *view, const char *key, double number)
{
	mr_out_text(&view->out, key, mr_arena_printf(view->req->arena, "%.1f", number));
}

/* A bar for each row that has something, and what it says when one points at it. */
static void put_bars(struct mr_web_view *view, const struct mr_value *rows, const char *key,
	const char *of, int64_t most)
{
	double step = (double)WIDE / (double)rows->list.len;
	struct mr_out *out = &view->out;

	mr_out_list(out, "bars");
	for (size_t i = 0; i < rows->list.len; i++) {
		const struct mr_value *row = &rows->list.items[i];
		int64_t count = count_of(row, key);
		double high = most ? fmax((double)count / (double)most * HIGH, 2) : 0;

		if (!count)
			continue;
		mr_out_map(out, NULL);
		put_number(view, "x", (double)i * step + step * 0.1);
		put_number(view, "y", HIGH - high);
		put_number(view, "wide", step * 0.8);
		put_number(view, "high", high);
		mr_out_text(out, "begun_ts", mr_value_get(row, "begun_ts")->text);
		mr_out_int(out, "count", count);
		if (of)
			mr_out_int(out, "bad", count_of(row, of));
		mr_out_end(out);
	}
	mr_out_end(out);
}

static void put_chart(struct mr_web_view *view, const char *name, const struct mr_value *rows,
	const char *key, const char *of)
{
	struct mr_out *out = &view->out;
	int64_t most = most_of(rows, key);
	int64_t total = 0;

	for (size_t i = 0; i < rows->list.len; i++)
		total += count_of(&rows->list.items[i], key);
	mr_out_map(out, name);
	mr_out_int(out, "most", most);
	mr_out_int(out, "total", total);
	put_bars(view, rows, key, of, most);
	mr_out_end(out);
}

/* "0.4 ms", "35 ms", "1.2 s" */
static const char *duration(struct mr_arena *arena, int64_t us)
{
	return us < 10000      ? mr_arena_printf(arena, "%.1f ms", (double)us / 1e3)
		: us < 1000000 ? mr_arena_printf(arena, "%.0f ms", (double)us / 1e3)
			       : mr_arena_printf(arena, "%.1f s", (double)us / 1e6);
}

/*
 * For each minute with operations a line from what half of them took to what nearly all took. Times
 * differ by powers of ten, so the scale does.
 */
static void put_times(struct mr_web_view *view, const struct mr_value *rows)
{
	double step = (double)WIDE / (double)rows->list.len;
	int64_t most = most_of(rows, "p95_us");
	double top = log10(fmax((double)most, 10000));
	struct mr_out *out = &view->out;

	mr_out_map(out, "times");
	mr_out_text(out, "most", most ? duration(view->req->arena, most) : NULL);
	mr_out_text(out, "top", duration(view->req->arena, most > 10000 ? most : 10000));
	mr_out_list(out, "spans");
	for (size_t i = 0; i < rows->list.len; i++) {
		const struct mr_value *row = &rows->list.items[i];
		double low = log10(fmax((double)count_of(row, "median_us"), 10));
		double high = log10(fmax((double)count_of(row, "p95_us"), 10));

		if (!count_of(row, "operations"))
			continue;
		mr_out_map(out, NULL);
		put_number(view, "x", ((double)i + 0.5) * step);
		put_number(view, "low", HIGH - (low - 1) / (top - 1) * HIGH);
		put_number(view, "high", HIGH - (high - 1) / (top - 1) * HIGH);
		mr_out_text(out, "begun_ts", mr_value_get(row, "begun_ts")->text);
		mr_out_int(out, "operations", count_of(row, "operations"));
		mr_out_int(out, "failed", count_of(row, "failed"));
		mr_out_text(out, "median", duration(view->req->arena, count_of(row, "median_us")));
		mr_out_text(out, "p95", duration(view->req->arena, count_of(row, "p95_us")));
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_end(out);
}

static enum mr_code fill_status(struct mr_web_view *view)
{
	const struct mr_value *activity;

	/* Storage that cannot be opened is what the page is looked at for. */
	if (mr_web_run(view, &mr_op_team_activity, NULL, &activity)) {
		mr_out_text(&view->out, "activity_error", view->err.msg);
		return MR_OK;
	}
	mr_out_value(&view->out, "activity", activity);
	mr_out_int(&view->out, "wide", WIDE);
	mr_out_int(&view->out, "high", HIGH);
	put_chart(view, "hours", mr_value_get(activity, "hours"), "messages", NULL);
	put_chart(view, "minutes", mr_value_get(activity, "minutes"), "operations", "failed");
	put_times(view, mr_value_get(activity, "minutes"));
	return MR_OK;
}

const struct mr_web_page mr_web_page_status = {
	.pattern = "/mail/status",
	.template = "status.html",
	.nav = "status",
	.asks = (const struct mr_web_ask[]){ { "health", &mr_op_team_health }, { 0 } },
	.fill = fill_status,
};
