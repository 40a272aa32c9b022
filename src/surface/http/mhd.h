/*
 * surface/http/mhd.h - libmicrohttpd, loaded when a server starts. Only server.c includes this, and
 * nothing else includes microhttpd.h.
 *
 * The library brings GnuTLS along, which no command needs that serves nobody.
 */
#pragma once

#include "base/err.h"

#include <microhttpd.h>

/* The functions, found at run time: `start_daemon` is MHD_start_daemon(). */
#define MR_MHD_FUNCTIONS(X)                                                                        \
	X(add_response_header)                                                                     \
	X(create_response_from_buffer)                                                             \
	X(create_response_from_callback)                                                           \
	X(destroy_response)                                                                        \
	X(get_connection_info)                                                                     \
	X(get_connection_values)                                                                   \
	X(queue_response)                                                                          \
	X(quiesce_daemon)                                                                          \
	X(resume_connection)                                                                       \
	X(start_daemon)                                                                            \
	X(stop_daemon)                                                                             \
	X(suspend_connection)

struct mr_mhd {
#define MR_MHD_MEMBER(name) __typeof__ (&MHD_##name)(name);
	MR_MHD_FUNCTIONS(MR_MHD_MEMBER)
#undef MR_MHD_MEMBER
};

/* MR_ENOTFOUND when the library is not installed. */
MR_CHECK enum mr_code mr_mhd_load(struct mr_mhd *out, struct mr_err *err);
