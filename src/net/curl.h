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

struct mr_curl {
	CURLcode (*global_init)(long flags);
	CURL *(*init)(void);
	CURLcode (*setopt)(CURL *handle, CURLoption option, ...);
	CURLcode (*perform)(CURL *handle);
	CURLcode (*getinfo)(CURL *handle, CURLINFO info, ...);
	CURLcode (*send)(CURL *handle, const void *data, size_t len, size_t *sent);
	CURLcode (*recv)(CURL *handle, void *data, size_t len, size_t *got);
	void (*reset)(CURL *handle);
	void (*cleanup)(CURL *handle);
	const char *(*strerror)(CURLcode code);
	struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
	void (*slist_free_all)(struct curl_slist *list);
	CURLM *(*multi_init)(void);
	CURLMcode (*multi_add)(CURLM *multi, CURL *handle);
	CURLMcode (*multi_remove)(CURLM *multi, CURL *handle);
	CURLMcode (*multi_perform)(CURLM *multi, int *running);
	CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd *fds, unsigned count,
		int timeout_ms, int *ready);
	CURLMcode (*multi_wakeup)(CURLM *multi);
	CURLMsg *(*multi_info)(CURLM *multi, int *left);
	CURLMcode (*multi_cleanup)(CURLM *multi);
};

/* MR_ENOTFOUND when the library is not installed. */
MR_CHECK enum mr_code mr_curl_load(struct mr_curl *out, struct mr_err *err);
/* What every handle has: certificates and host names are verified, no signals, at least TLS 1.2.
 * `ca_file` names further authorities, or is NULL. */
void mr_curl_be_careful(const struct mr_curl *curl, CURL *handle, const char *ca_file);
