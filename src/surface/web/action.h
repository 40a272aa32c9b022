/*
 * surface/web/action.h - what forms post to: the change is made, and the browser is sent to a page
 * that shows it (303), so that loading again makes no second change. What was wrong is said on the
 * page of the form, with what had been typed.
 */
#pragma once

#include "surface/web/page.h"

/* Read the form that was posted into view->fields. MR_EINVAL: it is none; MR_EPERM: no page of ours
 * made it, or another browser's. */
MR_CHECK enum mr_code mr_web_action_read(struct mr_web_view *view);
/* Send the browser on: to the form's `back`, else to `path`; NULL is home. */
void mr_web_action_lead(struct mr_web_view *view, const char *path);

/* The handler of their routes; the argument is a struct mr_web_bound. */
mr_http_handler mr_web_action_run;
