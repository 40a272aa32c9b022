/*
 * app/unit_file.h - the units of the systemd user service, as texts. Pure.
 *
 * A file that we write begins with a line that says so and has the digest of the rest: by it we
 * know our own again, and whether somebody has edited it since.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#define MR_UNIT_SERVICE "mailroom.service"
#define MR_UNIT_SOCKET  "mailroom.socket"

struct mr_unit_request {
	const char *program;     /* absolute */
	const char *host;        /* a numeric address, or localhost */
	int port;                /* not 0 */
	const char *socket;      /* the Unix socket: absolute, or NULL */
	const char *runtime_dir; /* of the user: becomes %t in the units; or NULL */
	const char *config_file; /* named on the command line: absolute, or NULL */
	const char *env_file;    /* the same */
};

/* The whole texts. MR_EINVAL: a host that is no address, or no port. */
MR_CHECK enum mr_code mr_unit_socket(struct mr_arena *arena, const struct mr_unit_request *request,
	const char **out, struct mr_err *err);
const char *mr_unit_service(struct mr_arena *arena, const struct mr_unit_request *request);

enum mr_unit_state {
	MR_UNIT_MISSING,
	MR_UNIT_CURRENT,  /* what we would write */
	MR_UNIT_OUTDATED, /* what we wrote once, for other settings or by another version */
	MR_UNIT_EDITED,   /* ours, changed by somebody */
	MR_UNIT_FOREIGN,  /* not ours */
};
/* What stands there (NULL: nothing), compared with what we would write (NULL: not known). */
enum mr_unit_state mr_unit_compare(struct mr_arena *arena, const char *there, const char *wanted);
/* "missing", "installed", "outdated", "edited", "foreign" */
const char *mr_unit_state_name(enum mr_unit_state state);
