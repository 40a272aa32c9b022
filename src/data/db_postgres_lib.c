/* data/db_postgres_lib.c - finds libpq's functions in its library. */
#include "data/db_postgres_private.h"

#include "base/str.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define LIBRARY "libpq.so.5"

/* ISO C knows no way from a data pointer to a function's; POSIX says that its bytes are the same.
 */
static bool find(void *library, const char *name, void *out_function)
{
	void *symbol = dlsym(library, name);

	memcpy(out_function, &symbol, sizeof(symbol));
	return symbol;
}

enum mr_code mr_db_pq_load(struct mr_db_pq *out, struct mr_err *err)
{
	void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	static const struct {
		const char *name;
		size_t at;
	} functions[] = {
#define ENTRY(name) { "PQ" #name, offsetof(struct mr_db_pq, name) },
		MR_DB_PQ_FUNCTIONS(ENTRY)
#undef ENTRY
	};
	struct mr_db_pq pq;
	bool found = true;

	if (!library)
		return mr_err_set(err, MR_ENOTFOUND,
			"a database of PostgreSQL needs " LIBRARY ": install the package libpq5");
	for (size_t i = 0; i < MR_LEN(functions); i++)
		found &= find(library, functions[i].name, (char *)&pq + functions[i].at);
	dlclose(library); /* it stays loaded */
	if (!found)
		return mr_err_set(err, MR_EINTERNAL, LIBRARY " is not the library it should be");
	*out = pq;
	return MR_OK;
}
