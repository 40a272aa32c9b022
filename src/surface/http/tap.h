/*
 * surface/http/tap.h - sees the bytes of a connection before the HTTP library does.
 *
 * The library neither refuses all malformed requests nor shows the bytes it read. It reads by
 * calling recv(), which the dynamic linker resolves to the function of that name in this program:
 * tap.c defines one. On a thread that has opened a tap, what is received on a tapped socket passes
 * through a strict reader (wire.h). At the first byte that is wrong the library gets a completed
 * header section in place of the rest, and the server refuses that request. On any other socket or
 * thread recv() does what it always does.
 *
 * Should the library ever read in another way, the strict reader would know of no request, and
 * mr_http_wire_take() would refuse them all.
 */
#pragma once

#include "base/arena.h"
#include "surface/http/wire.h"

/* The sockets of one server. */
struct mr_http_tap;

/* In `arena`, which only the thread that reads uses from now on, and which outlives it. */
struct mr_http_tap *mr_http_tap_new(struct mr_arena *arena);

/* All that is received on `fd` goes through `wire`. Called by the thread that will read. */
void mr_http_tap_open(struct mr_http_tap *tap, int fd, struct mr_http_wire *wire);
/* By the same thread, before `fd` is closed. */
void mr_http_tap_close(struct mr_http_tap *tap, int fd);
