/*
 * surface/http/tap.c - Replaces recv() so that the strict reader in wire.c sees a connection's
 * bytes before libmicrohttpd does.
 */
#include "surface/http/tap.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

enum {
	FDS_MIN = 64,
	SCRAP_BYTES = 4096,
	/* Read and dropped behind a refused request: to close a socket that has unread bytes would
	 * take the answer from the client. */
	SCRAPS = 16,
};

struct tapped {
	struct mr_http_wire *wire; /* NULL: not tapped */
	const char *rest;          /* what the library has still to be given; NULL before that */
};

struct mr_http_tap {
	struct mr_arena *arena;
	struct tapped *fds; /* by descriptor */
	size_t len;
};

/* The tap of the thread that reads for a server; every other thread has none. */
static _Thread_local struct mr_http_tap *mine;

struct mr_http_tap *mr_http_tap_new(struct mr_arena *arena)
{
	struct mr_http_tap *tap = mr_arena_alloc(arena, sizeof(*tap));

	tap->arena = arena;
	return tap;
}

void mr_http_tap_open(struct mr_http_tap *tap, int fd, struct mr_http_wire *wire)
{
	size_t len = tap->len ? tap->len : FDS_MIN;

	while (len <= (size_t)fd)
		len *= 2;
	if (len > tap->len) {
		struct tapped *fds = mr_arena_array(tap->arena, len, sizeof(*fds));

		if (tap->len)
			memcpy(fds, tap->fds, tap->len * sizeof(*fds));
		tap->fds = fds;
		tap->len = len;
	}
	tap->fds[fd] = (struct tapped){ .wire = wire };
	mine = tap;
}

void mr_http_tap_close(struct mr_http_tap *tap, int fd)
{
	tap->fds[fd] = (struct tapped){ 0 };
}

/* What is left of the completion, and then the end. */
static ssize_t give_rest(struct tapped *tapped, char *out, size_t room)
{
	size_t len = strnlen(tapped->rest, room);

	memcpy(out, tapped->rest, len);
	tapped->rest += len;
	return (ssize_t)len;
}

static void drop_what_follows(int fd)
{
	char scrap[SCRAP_BYTES];

	for (int i = 0; i < SCRAPS; i++) {
		if (recvfrom(fd, scrap, sizeof(scrap), MSG_DONTWAIT, NULL, NULL) <= 0)
			return;
	}
}

static ssize_t read_tapped(struct tapped *tapped, int fd, char *out, size_t room)
{
	ssize_t len, more;
	size_t good;

	if (tapped->rest)
		return give_rest(tapped, out, room);
	len = recvfrom(fd, out, room, 0, NULL, NULL);
	if (len <= 0)
		return len;
	good = mr_http_wire_read(tapped->wire, out, (size_t)len);
	if (good == (size_t)len)
		return len;
	drop_what_follows(fd);
	tapped->rest = mr_http_wire_completion(tapped->wire);
	/* End of file: the library takes it for a client that has gone. */
	if (!*tapped->rest)
		shutdown(fd, SHUT_RD);
	more = give_rest(tapped, out + good, room - good);
	return (ssize_t)good + more;
}

/* Replaces recv() of the C library for the whole program: see tap.h. */
__attribute__((visibility("default"), used)) ssize_t recv(int fd, void *out, size_t room, int flags)
{
	struct mr_http_tap *tap = mine;

	if (tap && !flags && (size_t)fd < tap->len && tap->fds[fd].wire)
		return read_tapped(&tap->fds[fd], fd, out, room);
	return recvfrom(fd, out, room, flags, NULL, NULL);
}
