/* text/database_url.h - the address of a database on a server:
 * postgresql://USER:PASSWORD@HOST/NAME. Pure. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

/* Is it such an address, and no path of a file? */
bool mr_database_url_is(const char *path);
/* For people, in `arena`: an address without its password; a path as it is. */
const char *mr_database_url_shown(struct mr_arena *arena, const char *path);
