/* surface/web/view.c - A page or an action being answered: its values, operations, headers, HTML.
 */
#include "surface/web/view.h"

#include "app/principal.h"
#include "base/buf.h"
#include "op/contract.h"
#include "op/dispatch.h"
#include "surface/http/access.h"
#include "surface/http/wait.h"
#include "surface/web/csrf.h"
#include "surface/web/form.h"
#include "surface/web/live.h"
#include "surface/web/template_set.h"
#include "surface/web/theme.h"
#include "text/markdown.h"

#include <string.h>

enum { PAGE_BYTES = 8 << 20, EXCERPT_BYTES = 240 };

static void release_buf(void *buf)
{
	mr_buf_release(buf);
}

/* ---- what every answer says ---- */

void mr_web_view_headers(struct mr_http_response *resp)
{
	mr_http_response_header(resp, "Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
		"connect-src 'self'; form-action 'self'; base-uri 'none'; "
		"frame-ancestors 'none'");
	mr_http_response_header(resp, "X-Frame-Options", "DENY");
	mr_http_response_header(resp, "Referrer-Policy", "same-origin");
	mr_http_response_header(resp, "Cross-Origin-Opener-Policy", "same-origin");
}

static void put_who(struct mr_out *out, const struct mr_http_request *req)
{
	const struct mr_principal *who = req->principal;

	mr_out_map(out, "who");
	mr_out_text(out, "name", who->name);
	mr_out_bool(out, "is_local", who->is_local);
	mr_out_bool(out, "is_signed_in", req->session);
	mr_out_bool(out, "may_write", who->roles & MR_ROLE_WRITER);
	mr_out_bool(out, "is_admin", who->roles & MR_ROLE_ADMIN);
	mr_out_end(out);
}

/* Does an earlier field have this name, too? */
static bool is_again(const struct mr_web_view *view, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (strcmp(view->fields[i].name, view->fields[at].name) == 0)
			return true;
	}
	return false;
}

/* What was sent: `given` has one value of each name, `lists` has all of them. */
static void put_given(struct mr_web_view *view)
{
	const struct mr_http_match *match = &view->req->match;
	struct mr_out *out = &view->out;

	mr_out_map(out, "given");
	for (size_t i = 0; i < match->len; i++)
		mr_out_text(out, match->params[i].name, match->params[i].value);
	for (size_t i = 0; i < view->fields_len; i++) {
		if (!is_again(view, i) && !mr_http_request_param(view->req, view->fields[i].name))
			mr_out_text(out, view->fields[i].name,
				mr_web_value(view, view->fields[i].name));
	}
	mr_out_end(out);
	mr_out_map(out, "lists");
	for (size_t i = 0; i < view->fields_len; i++) {
		if (is_again(view, i))
			continue;
		mr_out_list(out, view->fields[i].name);
		for (size_t k = i; k < view->fields_len; k++) {
			if (*view->fields[k].value &&
				strcmp(view->fields[k].name, view->fields[i].name) == 0)
				mr_out_text(out, NULL, view->fields[k].value);
		}
		mr_out_end(out);
	}
	mr_out_end(out);
}

/* What the action did that the browser comes from; or NULL. */
static const char *note_of(const struct mr_http_request *req)
{
	const char *done = mr_http_request_query(req, "done");

	for (size_t i = 0; done && i < mr_web_actions_count; i++) {
		if (strcmp(mr_web_actions[i]->name, done) == 0)
			return mr_web_actions[i]->note;
	}
	return NULL;
}

/* The values that the layout and every template have. */
static void put_frame(struct mr_web_view *view, const struct mr_web_page *page)
{
	const struct mr_http_request *req = view->req;
	struct mr_out *out = &view->out;

	mr_out_text(out, "assets", view->web->assets);
	mr_out_text(out, "path", req->path);
	mr_out_text(out, "nav", page ? page->nav : NULL);
	/* What a form led to cannot be asked for again. */
	if (page && page->nav && mr_str_eq(req->method, "GET"))
		mr_out_text(out, "live",
			mr_arena_printf(req->arena, "%llu",
				(unsigned long long)mr_web_live_number(view->web->live)));
	mr_out_text(out, "theme", mr_web_theme(req));
	mr_out_text(out, "version", MR_VERSION);
	mr_out_int(out, "now_us", mr_clock_wall_us(view->web->app->clock));
	put_who(out, req);
	mr_out_text(out, "csrf", mr_web_csrf(&view->web->key, req));
	mr_out_bool(out, "has_workspace", view->web->app->workspace != NULL);
	mr_out_text(out, "note", note_of(req));
	put_given(view);
}

void mr_web_view_begin(struct mr_web_view *view, const struct mr_web *web,
	const struct mr_http_request *req, struct mr_http_response *resp)
{
	*view = (struct mr_web_view){ .web = web,
		.req = req,
		.resp = resp,
		.fields = req->query,
		.fields_len = req->query_len,
		.status = 200 };
	mr_out_init_tree(&view->out, req->arena);
	mr_out_map(&view->out, NULL);
}

/* Ends the view's values and shows them. */
static enum mr_code render(struct mr_web_view *view, const char *template, int status)
{
	struct mr_buf *html = mr_arena_alloc(view->req->arena, sizeof(*html));
	enum mr_code rc;

	mr_buf_init(html, PAGE_BYTES);
	mr_arena_defer(view->req->arena, release_buf, html);
	mr_out_end(&view->out);
	rc = mr_web_templates_render(view->web->templates, template, mr_out_tree(&view->out), html,
		&view->err);
	if (rc)
		return rc;
	mr_web_view_headers(view->resp);
	mr_http_response_body(view->resp, status, "text/html; charset=utf-8", mr_buf_bytes(html));
	return MR_OK;
}

void mr_web_view_fail(const struct mr_web *web, const struct mr_http_request *req,
	struct mr_http_response *resp, int status, const char *message)
{
	struct mr_web_view view;

	mr_web_view_begin(&view, web, req, resp);
	put_frame(&view, NULL);
	mr_out_int(&view.out, "status", status);
	mr_out_text(&view.out, "message", message);
	if (render(&view, "error.html", status))
		mr_http_response_error(resp, 500, "%s", view.err.msg);
}

/* ---- for pages ---- */

const char *mr_web_value(const struct mr_web_view *view, const char *name)
{
	const char *value = mr_http_request_param(view->req, name);

	if (!value)
		value = mr_web_form_first(view->fields, view->fields_len, name);
	return value && *value ? value : NULL;
}

struct mr_call mr_web_call(const struct mr_web_view *view)
{
	struct mr_call call = mr_dispatch_call(view->web->app, view->req->arena);

	mr_http_access_call(view->req, &call);
	mr_http_wait_lend(view->req, &call.cx);
	call.cx.reads = mr_web_live_reads;
	call.cx.reads_arg = view->web->live;
	call.for_person = true;
	return call;
}

enum mr_code mr_web_run_args(struct mr_web_view *view, const struct mr_op *op,
	const struct mr_value *args, const struct mr_value **out)
{
	struct mr_call call = mr_web_call(view);
	struct mr_out result;
	enum mr_code rc;

	mr_out_init_tree(&result, view->req->arena);
	rc = mr_dispatch(&call, op, args, &result);
	if (rc)
		view->err = call.cx.err;
	else
		*out = mr_out_tree(&result);
	return rc;
}

enum mr_code mr_web_run(struct mr_web_view *view, const struct mr_op *op, const char *fixed,
	const struct mr_value **out)
{
	return mr_web_run_args(view, op, mr_web_form_arguments(view, op, fixed), out);
}

enum mr_code mr_web_run_with(struct mr_web_view *view, const struct mr_op *op, const char *fixed,
	const char *name, const char *value, const struct mr_value **out)
{
	const struct mr_value *sent = mr_web_form_arguments(view, op, fixed);
	struct mr_value all = { .kind = MR_MAP };

	all.map.pairs = mr_arena_array(view->req->arena, sent->map.len + 1, sizeof(struct mr_pair));
	for (size_t i = 0; i < sent->map.len; i++) {
		if (strcmp(sent->map.pairs[i].key, name) != 0)
			all.map.pairs[all.map.len++] = sent->map.pairs[i];
	}
	all.map.pairs[all.map.len++] = (struct mr_pair){ name, { .kind = MR_TEXT, .text = value } };
	return mr_web_run_args(view, op, &all, out);
}

const char *mr_web_markdown(const struct mr_web_view *view, const char *md)
{
	struct mr_buf *html = mr_arena_alloc(view->req->arena, sizeof(*html));
	struct mr_err err;

	mr_buf_init(html, PAGE_BYTES);
	mr_arena_defer(view->req->arena, release_buf, html);
	if (mr_markdown_to_html(html, mr_bytes_text(md), &err))
		return "";
	return mr_buf_text(html);
}

/* ---- pages ---- */

/* What a text in Markdown becomes, and under which key. */
struct shown_as {
	const char *key;
	const char *(*make)(const struct mr_web_view *view, const char *md);
};

/* The value, where each map that has a text in Markdown, body_md, has it as this, too. */
static struct mr_value shown(const struct mr_web_view *view, const struct mr_value *value,
	const struct shown_as *as)
{
	struct mr_arena *arena = view->req->arena;
	struct mr_value copy = *value;

	if (value->kind == MR_LIST) {
		copy.list.items = mr_arena_array(arena, value->list.len, sizeof(struct mr_value));
		for (size_t i = 0; i < value->list.len; i++)
			copy.list.items[i] = shown(view, &value->list.items[i], as);
	} else if (value->kind == MR_MAP) {
		copy.map.pairs = mr_arena_array(arena, value->map.len + 1, sizeof(struct mr_pair));
		for (size_t i = 0; i < value->map.len; i++) {
			const struct mr_pair *pair = &value->map.pairs[i];

			copy.map.pairs[i] =
				(struct mr_pair){ pair->key, shown(view, &pair->value, as) };
			if (strcmp(pair->key, "body_md") == 0 && pair->value.kind == MR_TEXT)
				copy.map.pairs[copy.map.len++] = (struct mr_pair){ as->key,
					{ .kind = MR_TEXT,
						.text = as->make(view, pair->value.text) } };
		}
	}
	return copy;
}

void mr_web_put_html(struct mr_web_view *view, const char *key, const struct mr_value *value)
{
	static const struct shown_as as_html = { "body_html", mr_web_markdown };
	struct mr_value html = shown(view, value, &as_html);

	mr_out_value(&view->out, key, &html);
}

static const char *excerpt(const struct mr_web_view *view, const char *md)
{
	return mr_markdown_to_text(view->req->arena, mr_bytes_text(md), EXCERPT_BYTES);
}

void mr_web_put_excerpts(struct mr_web_view *view, const char *key, const struct mr_value *value)
{
	static const struct shown_as as_excerpt = { "excerpt", excerpt };
	struct mr_value texts = shown(view, value, &as_excerpt);

	mr_out_value(&view->out, key, &texts);
}

static enum mr_code run_ask(struct mr_web_view *view, const struct mr_web_ask *ask)
{
	const struct mr_value *result;
	enum mr_code rc;

	if (ask->unless_empty && !mr_web_value(view, ask->unless_empty))
		return MR_OK;
	rc = mr_web_run(view, ask->op, ask->fixed, &result);
	if (!rc && ask->with_html)
		mr_web_put_html(view, ask->key, result);
	else if (!rc)
		mr_out_value(&view->out, ask->key, result);
	if (!rc || !ask->may_fail)
		return rc;
	mr_out_text(&view->out, mr_arena_printf(view->req->arena, "%s_error", ask->key),
		view->err.msg);
	return MR_OK;
}

static enum mr_code fill(struct mr_web_view *view, const struct mr_web_page *page)
{
	enum mr_code rc = MR_OK;

	if (page->for_admins && !(view->req->principal->roles & MR_ROLE_ADMIN))
		return mr_err_set(&view->err, MR_EPERM,
			"This page is for administrators: it shows more of this machine than the "
			"team's mail.");
	put_frame(view, page);
	/* What a form sent is shown again, and is no argument of what the page asks. */
	view->fields = view->req->query;
	view->fields_len = view->req->query_len;
	for (const struct mr_web_ask *ask = page->asks; !rc && ask && ask->key; ask++)
		rc = run_ask(view, ask);
	if (!rc && page->fill)
		rc = page->fill(view);
	return rc;
}

int mr_web_view_status(const struct mr_web_view *view)
{
	return mr_contract_http_status(&mr_contract_plain, &view->err);
}

void mr_web_view_show(struct mr_web_view *view, const struct mr_web_page *page, int status,
	const char *error)
{
	enum mr_code rc;

	mr_out_text(&view->out, "error", error);
	view->status = status;
	rc = fill(view, page);
	if (!rc && page->template)
		rc = render(view, page->template, view->status);
	if (rc)
		mr_web_view_fail(view->web, view->req, view->resp, mr_web_view_status(view),
			view->err.msg);
}
