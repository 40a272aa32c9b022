/*
 * surface/web/action.h - what forms post to: the change is made, and the browser is sent to a page
 * that shows it (303), so that loading again makes no second change. What was wrong is said on the
 * page of the form, with what had been typed.
 */
#pragma once

#include "surface/web/page.h"

/* The handler of their routes; the argument is a struct mr_web_bound. */
mr_http_handler mr_web_action_run;
