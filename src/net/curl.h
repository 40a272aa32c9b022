/*
 * net/curl.h - libcurl, loaded when it is first needed. Only files of net/ include this, and
 * nothing else includes curl/curl.h.
 *
 * libcurl brings thirty libraries along, and loading them takes longer than most commands do. So it
 * is loaded by whoever first talks to another machine, and then stays.
 */
#pragma once

#include "base/err.h"

#include <curl/curl.h>

/* The functions, found at run time: `easy_send` is curl_easy_send(). */
#define MR_CURL_FUNCTIONS(X)                                                                       \
	X(global_init)                                                                             \
	X(easy_init)                                                                               \
	X(easy_setopt)                                                                             \
	X(easy_perform)                                                                            \
	X(easy_getinfo)                                                                            \
	X(easy_send)                                                                               \
	X(easy_recv)                                                                               \
	X(easy_reset)                                                                              \
	X(easy_cleanup)                                                                            \
	X(easy_strerror)                                                                           \
	X(slist_append)                                                                            \
	X(slist_free_all)                                                                          \
	X(multi_init)                                                                              \
	X(multi_add_handle)                                                                        \
	X(multi_remove_handle)                                                                     \
	X(multi_perform)                                                                           \
	X(multi_poll)                                                                              \
	X(multi_wakeup)                                                                            \
	X(multi_info_read)                                                                         \
	X(multi_cleanup)

struct mr_curl {
#define MR_CURL_MEMBER(name) __typeof__ (&curl_##name)(name);
	MR_CURL_FUNCTIONS(MR_CURL_MEMBER)
#undef MR_CURL_MEMBER
};

/* MR_ENOTFOUND when the library is not installed. */
MR_CHECK enum mr_code mr_curl_load(struct mr_curl *out, struct mr_err *err);
/* What every handle has: certificates and host names are verified, no signals, at least TLS 1.2.
 * `ca_file` names further authorities, or is NULL. */
void mr_curl_be_careful(const struct mr_curl *curl, CURL *handle, const char *ca_file);
