/*
 * surface/web/page.h - a page for people: what it asks, and the template that shows it.
 *
 * A page is a row of a table (struct mr_web_page). It runs operations, each with those of the
 * request's values (of the path, then of the query) that the operation has parameters for, and
 * shows their results by a template of web/pages, where each is called by its key. What no
 * operation says is added by the page's function `fill`.
 *
 * Templates write everything as text (text/template.h, escape_html). HTML comes into a page only
 * where mr_web_markdown() put it, and the template says `|safe` to it.
 */
#pragma once

#include "base/err.h"
#include "op/call.h"
#include "op/op.h"
#include "surface/http/request.h"
#include "text/out.h"

struct mr_web;
struct mr_web_view;

/* An operation that a page runs. A list of them ends with an entry whose key is NULL. */
struct mr_web_ask {
	const char *key; /* its result's in the template */
	const struct mr_op *op;
	const char *fixed; /* arguments that the request cannot change: "limit=50&order=newest" */
	bool may_fail;     /* the page shows `KEY_error` in its place */
	bool with_html;    /* maps with a text body_md get it as safe HTML, too: body_html */
	const char *unless_empty; /* asked only when the request has this value; or NULL */
};

struct mr_web_page {
	const char *pattern;  /* surface/http/route.h; parameters are named as operations name them
			       */
	const char *template; /* NULL: `fill` answers with something else than a page */
	const char *nav;      /* the place in the navigation that it belongs to; or NULL */
	bool for_admins;      /* it shows what is not the team's: who has another role is refused */
	const struct mr_web_ask *asks; /* or NULL */
	/* Adds members to the template's map (view->out). On failure the reason is in view->err.
	 * Or NULL. */
	enum mr_code (*fill)(struct mr_web_view *view);
};

/*
 * What a form of a page posts to. It runs an operation with the values of the path and of the form;
 * then the browser is sent on to the form's `back` if it has one, else to `next`. When it fails,
 * the page of the form is shown with `error`, and `given` and `lists` have what was sent; without a
 * page it is the error page. Forms have the hidden field `csrf` (the macro guard of parts.html).
 */
struct mr_web_action {
	const char *name;    /* in the address after it: ?done=NAME */
	const char *note;    /* what the next page then says: "The lease is released." */
	const char *pattern; /* its path's parameters include those of the page */
	const struct mr_op *op;
	const char *fixed;              /* arguments that the form cannot change; or NULL */
	const struct mr_web_page *page; /* or NULL */
	/* When the form has the field "preview", the operation changes nothing, and the page is
	 * shown again with its result as `preview`, where texts in Markdown are HTML, too. */
	bool with_preview;
	/* Where the browser goes without a `back`; in the arena of the request. NULL: to /mail. */
	const char *(*next)(struct mr_web_view *view, const struct mr_value *result);
};

/* All of them, in the order in which they are matched. */
extern const struct mr_web_page *const mr_web_pages[];
extern const size_t mr_web_pages_count;
extern const struct mr_web_action *const mr_web_actions[];
extern const size_t mr_web_actions_count;

/* A page being made. */
struct mr_web_view {
	const struct mr_web *web;
	const struct mr_http_request *req;
	struct mr_http_response *resp;
	const struct mr_http_param *fields; /* what was sent: the query, or the form */
	size_t fields_len;
	struct mr_out out; /* the template's values: an open map */
	struct mr_err err;
	int status; /* of the answer, when the page succeeds; 200 at first */
};

/* ---- for `fill` ---- */

/* The request's value of this name: of the path, the query or the form. NULL: none, or empty. */
const char *mr_web_value(const struct mr_web_view *view, const char *name);
/* Run an operation as an ask does; `*out` is its result. */
MR_CHECK enum mr_code mr_web_run(struct mr_web_view *view, const struct mr_op *op,
	const char *fixed, const struct mr_value **out);
/* The same, with this value of the parameter `name` whatever the request says. */
MR_CHECK enum mr_code mr_web_run_with(struct mr_web_view *view, const struct mr_op *op,
	const char *fixed, const char *name, const char *value, const struct mr_value **out);
/* Put a result into the template's values; maps with a text body_md get it as body_html, too. */
void mr_web_put_html(struct mr_web_view *view, const char *key, const struct mr_value *value);
/* The same with how the text begins, without marks: excerpt. */
void mr_web_put_excerpts(struct mr_web_view *view, const char *key, const struct mr_value *value);
/* The same with these arguments, a map, and none of the request's. */
MR_CHECK enum mr_code mr_web_run_args(struct mr_web_view *view, const struct mr_op *op,
	const struct mr_value *args, const struct mr_value **out);
/* A call for what is no operation, with the rights of who asks. */
struct mr_call mr_web_call(const struct mr_web_view *view);
/* Markdown as HTML that is safe to show: in the arena of the request. */
const char *mr_web_markdown(const struct mr_web_view *view, const char *md);
