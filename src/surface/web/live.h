/*
 * surface/web/live.h - tells open pages that something has changed: server-sent events at
 * /mail/live.
 *
 * An event holds a number and nothing else: a page that shows another number asks for itself again,
 * with its own rights. The number counts the commits that two threads, woken by the kernel, have
 * noticed: one those of the team, one those of the workspace and of the mailboxes that pages showed
 * (live_files.h); several at once count as one. A viewer is an open stream: it costs no thread and,
 * while nothing happens, nothing else. A change whose writer died before it told anybody is not
 * counted: pages also ask again when somebody looks at them.
 */
#pragma once

#include "op/call.h"
#include "surface/http/route.h"

struct mr_web_live;

/* `app` must outlive it. The thread starts with the first viewer. */
struct mr_web_live *mr_web_live_new(const struct mr_app *app);
/* Ends the thread; the server must have let go of all streams. NULL is fine. */
void mr_web_live_free(struct mr_web_live *live);
/* The number as it is now: to be read before what a page shows. */
uint64_t mr_web_live_number(const struct mr_web_live *live);

/* For struct mr_ctx of what a page asks: follow this file, because the page is made of it. `live`
 * is the struct mr_web_live. */
void mr_web_live_reads(void *live, const char *path, bool is_database);

/* The handler of its route, whose argument is the struct mr_web_live. */
#define MR_WEB_LIVE_PATTERN "/mail/live"
mr_http_handler mr_web_live_open;
