/* net/curl.c - finds libcurl's functions in its library. */
#include "net/curl.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libcurl.so.4"

/* ISO C knows no way from a data pointer to a function's; POSIX says that its bytes are the same.
 */
static bool find(void *library, const char *name, void *out_function)
{
	void *symbol = dlsym(library, name);

	memcpy(out_function, &symbol, sizeof(symbol));
	return symbol;
}

enum mr_code mr_curl_load(struct mr_curl *out, struct mr_err *err)
{
	void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	struct mr_curl api;
	bool found;

	if (!library)
		return mr_err_set(err, MR_ENOTFOUND,
			"asking other machines needs " LIBRARY ": install the package libcurl4");
	found = find(library, "curl_global_init", &api.global_init) &&
		find(library, "curl_easy_init", &api.init) &&
		find(library, "curl_easy_setopt", &api.setopt) &&
		find(library, "curl_easy_perform", &api.perform) &&
		find(library, "curl_easy_getinfo", &api.getinfo) &&
		find(library, "curl_easy_send", &api.send) &&
		find(library, "curl_easy_recv", &api.recv) &&
		find(library, "curl_easy_reset", &api.reset) &&
		find(library, "curl_easy_cleanup", &api.cleanup) &&
		find(library, "curl_easy_strerror", &api.strerror) &&
		find(library, "curl_slist_append", &api.slist_append) &&
		find(library, "curl_slist_free_all", &api.slist_free_all) &&
		find(library, "curl_multi_init", &api.multi_init) &&
		find(library, "curl_multi_add_handle", &api.multi_add) &&
		find(library, "curl_multi_remove_handle", &api.multi_remove) &&
		find(library, "curl_multi_perform", &api.multi_perform) &&
		find(library, "curl_multi_poll", &api.multi_poll) &&
		find(library, "curl_multi_wakeup", &api.multi_wakeup) &&
		find(library, "curl_multi_info_read", &api.multi_info) &&
		find(library, "curl_multi_cleanup", &api.multi_cleanup);
	dlclose(library); /* it stays loaded */
	if (!found)
		return mr_err_set(err, MR_EINTERNAL, LIBRARY " is not the library it should be");
	/* Counted, and safe from any thread since 7.84. */
	api.global_init(CURL_GLOBAL_DEFAULT);
	*out = api;
	return MR_OK;
}

void mr_curl_be_careful(const struct mr_curl *curl, CURL *handle, const char *ca_file)
{
	curl->setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
	curl->setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
	curl->setopt(handle, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl->setopt(handle, CURLOPT_NOSIGNAL, 1L);
	if (ca_file)
		curl->setopt(handle, CURLOPT_CAINFO, ca_file);
}
