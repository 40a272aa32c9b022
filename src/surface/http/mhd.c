/* surface/http/mhd.c - finds libmicrohttpd's functions in its library. */
#include "surface/http/mhd.h"

#include "base/library.h"

static const struct mr_library_function functions[] = {
#define ENTRY(name) { "MHD_" #name, offsetof(struct mr_mhd, name) },
	MR_MHD_FUNCTIONS(ENTRY)
#undef ENTRY
};

static const struct mr_library library = { "the HTTP server", "libmicrohttpd.so.12",
	"libmicrohttpd12", functions, MR_LEN(functions) };

enum mr_code mr_mhd_load(struct mr_mhd *out, struct mr_err *err)
{
	return mr_library_load(&library, out, err);
}
