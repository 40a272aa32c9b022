/* surface/web/action.c - Runs the operation of a form that was posted, and sends the browser on. */
#include "surface/web/action.h"

#include "base/str.h"
#include "surface/http/access.h"
#include "surface/web/csrf.h"
#include "surface/web/form.h"
#include "surface/web/view.h"

#include <string.h>
#include <strings.h>

static const char form_type[] = "application/x-www-form-urlencoded";

/* Paths of pages: never to another server, whatever a form says. */
static bool is_page(const char *path)
{
	static const char root[] = "/mail";

	return path && strncmp(path, root, sizeof(root) - 1) == 0 &&
		strchr("/?", path[sizeof(root) - 1]) && !strpbrk(path, "\\\r\n");
}

void mr_web_action_lead(struct mr_web_view *view, const char *path)
{
	const char *back = mr_web_value(view, "back");

	mr_http_response_header(view->resp, "Location",
		is_page(back)  ? back
			: path ? path
			       : "/mail");
	mr_http_response_body(view->resp, 303, "text/plain; charset=utf-8",
		mr_bytes_text("Done\n"));
}

static const char *next_of(struct mr_web_view *view, const struct mr_web_action *action,
	const struct mr_value *result)
{
	const char *to = mr_web_value(view, "back");
	size_t len;

	if (!is_page(to))
		to = action->next ? action->next(view, result) : "/mail";
	len = strcspn(to, "#");
	return mr_arena_printf(view->req->arena, "%.*s%cdone=%s%s", (int)len, to,
		memchr(to, '?', len) ? '&' : '?', action->name, to + len);
}

enum mr_code mr_web_action_read(struct mr_web_view *view)
{
	const char *type = mr_http_request_header(view->req, "Content-Type");
	struct mr_http_param *fields;

	if (!type || strncasecmp(type, form_type, sizeof(form_type) - 1) != 0)
		return mr_err_set(&view->err, MR_EINVAL, "a form was expected (%s)", form_type);
	if (mr_web_form_parse(view->req->arena, view->req->body, &fields, &view->fields_len,
		    &view->err)) {
		view->fields_len = 0;
		return view->err.code;
	}
	view->fields = fields;
	if (mr_web_csrf_is_good(&view->web->key, view->req, mr_web_value(view, "csrf")))
		return MR_OK;
	return mr_err_set(&view->err, MR_EPERM,
		"This form is of another session, or the server was started again since. Nothing "
		"was changed: look at it once more, and send it again.");
}

/* May who asks do this, and now? Otherwise the page that says why not. */
static bool is_allowed(struct mr_web_view *view, const struct mr_op *op)
{
	struct mr_http_task task = mr_http_task_of(op);
	int status = mr_http_access_check(view->req, view->resp, &task, 1);

	if (status == 200)
		return true;
	mr_web_view_fail(view->web, view->req, view->resp, status,
		status == 403 ? "Your token may read this, but may not change it."
			      : "You have done this too often. Wait a minute.");
	return false;
}

void mr_web_action_run(const struct mr_http_request *req, struct mr_http_response *resp)
{
	const struct mr_web_bound *bound = req->match.route->arg;
	const struct mr_web_action *action = bound->action;
	const struct mr_value *result;
	struct mr_web_view view;
	enum mr_code rc;

	mr_web_view_begin(&view, bound->web, req, resp);
	if (!is_allowed(&view, action->op))
		return;
	rc = mr_web_action_read(&view);
	if (!rc)
		rc = mr_web_run(&view, action->op, action->fixed, &result);
	if (!rc && action->with_preview && mr_web_value(&view, "preview")) {
		mr_web_put_html(&view, "preview", result);
		mr_web_view_show(&view, action->page, 200, NULL);
	} else if (!rc) {
		mr_http_response_header(resp, "Location", next_of(&view, action, result));
		mr_http_response_body(resp, 303, "text/plain; charset=utf-8",
			mr_bytes_text("Done\n"));
	} else if (action->page) {
		mr_web_view_show(&view, action->page, mr_web_view_status(&view),
			mr_arena_strdup(req->arena, view.err.msg));
	} else {
		mr_web_view_fail(bound->web, req, resp, mr_web_view_status(&view), view.err.msg);
	}
}
