/* base/library.c - loads shared libraries when they are first needed. */
#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ISO C knows no way from a data pointer to a function's; POSIX says that its bytes are the same.
 */
static void put(void *table, const struct mr_library_function *function, void *symbol)
{
	memcpy((char *)table + function->at, &symbol, sizeof(symbol));
}

enum mr_code mr_library_load(const struct mr_library *library, void *out_table, struct mr_err *err)
{
	void *handle = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	size_t found = 0;

	if (!handle)
		return mr_err_set(err, MR_ENOTFOUND, "%s needs %s: install the package %s",
			library->purpose, library->file, library->package);
	while (found < library->count && dlsym(handle, library->functions[found].name))
		found++;
	for (size_t i = 0; found == library->count && i < found; i++)
		put(out_table, &library->functions[i], dlsym(handle, library->functions[i].name));
	dlclose(handle); /* it stays loaded */
	if (found < library->count)
		return mr_err_set(err, MR_EINTERNAL, "%s has no function %s", library->file,
			library->functions[found].name);
	return MR_OK;
}

void mr_library_require(const struct mr_library *library, void *out_table)
{
	struct mr_err err = { 0 };

	if (!mr_library_load(library, out_table, &err))
		return;
	fprintf(stderr, "mailroom: %s\n", err.msg);
	abort();
}
