/* mailbox/inside.h - checks by its text alone that a path from a database lies where it should;
 * opening it must still not follow links. */
#pragma once

#include <stdbool.h>

/* What follows "<base>/" in `path`, or NULL when `path` does not begin so or has a part that is
 * empty, "." or "..". Points into `path`. */
const char *mr_mailbox_inside(const char *base, const char *path);
/* May this be the name of one file: not empty, at most 255 bytes, no '/', not "." or ".."? */
bool mr_mailbox_inside_name(const char *name);
/* Do both paths name the same file or directory? Two names may differ in more than links: a bind
 * mount. */
bool mr_mailbox_inside_same(const char *a, const char *b);
