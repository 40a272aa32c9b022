/*
 * team/attachment_body.h - pictures that a Markdown body names: ![alt](where "title"). Pure.
 *
 * What stands in code (fenced, indented, between backquotes) is nobody's picture. Time is linear in
 * the body, whatever is in it.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>

struct mr_team_body_image {
	size_t at, end;         /* the bytes of the destination, with its <> */
	const char *path;       /* what it means: without <>, escapes undone; NULL for data: */
	const char *media_type; /* of a data: URI, or NULL */
};

struct mr_team_body_images {
	struct mr_team_body_image *items;
	size_t len;
	bool more; /* than `max` are there */
};

/* In the order of the body, at most `max`. Other addresses (https:, //host, #part) are left out. */
void mr_team_body_images(struct mr_arena *arena, struct mr_bytes body, size_t max,
	struct mr_team_body_images *out);
