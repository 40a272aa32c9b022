/*
 * surface/web/asset.h - what pages load: style, scripts, the icon.
 *
 * All of it is served below one address that has a digest of all files in it. So a browser may keep
 * what it has loaded for ever, modules name each other by relative addresses, and a new version of
 * Mailroom loads new files.
 */
#pragma once

#include "surface/http/route.h"

/* "/mail/static/DIGEST", in the arena. */
const char *mr_web_asset_base(struct mr_arena *arena);

/* The handler of the route MR_WEB_ASSET_PATTERN; the route's argument is the base. */
#define MR_WEB_ASSET_PATTERN "/mail/static/{digest}/{name}"
mr_http_handler mr_web_asset_show;
