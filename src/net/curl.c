/* net/curl.c - finds libcurl's functions in its library. */
#include "net/curl.h"

#include "base/library.h"

static const struct mr_library_function functions[] = {
#define ENTRY(name) { "curl_" #name, offsetof(struct mr_curl, name) },
	MR_CURL_FUNCTIONS(ENTRY)
#undef ENTRY
};

static const struct mr_library library = { "asking other machines", "libcurl.so.4", "libcurl4",
	functions, MR_LEN(functions) };

enum mr_code mr_curl_load(struct mr_curl *out, struct mr_err *err)
{
	struct mr_curl api;
	enum mr_code rc = mr_library_load(&library, &api, err);

	if (rc)
		return rc;
	/* Counted, and safe from any thread since 7.84. */
	api.global_init(CURL_GLOBAL_DEFAULT);
	*out = api;
	return MR_OK;
}

void mr_curl_be_careful(const struct mr_curl *curl, CURL *handle, const char *ca_file)
{
	curl->easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
	curl->easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
	curl->easy_setopt(handle, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
	if (ca_file)
		curl->easy_setopt(handle, CURLOPT_CAINFO, ca_file);
}
