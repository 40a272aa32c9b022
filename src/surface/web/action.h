/*
 * surface/web/action.h - what forms post to: the change is made, and the browser is sent to a page
 * that shows it (303), so that loading again makes no second change. What was wrong is said on the
 * page of the form, with what had been typed.
 */
#pragma once

#include "surface/web/page.h"

/* All of them, in the order in which they are matched. */
extern const struct mr_web_action *const mr_web_actions[];
extern const size_t mr_web_actions_count;

/* The handler of their routes; the argument is a struct mr_web_bound. */
mr_http_handler mr_web_action_run;
/* What the page says after the action that the browser comes from (`done` in its query), or NULL.
 */
const char *mr_web_action_note(const struct mr_http_request *req);
/* The value of the hidden field `csrf` in forms for this browser. */
const char *mr_web_action_token(const struct mr_http_request *req);
