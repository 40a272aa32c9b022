/* data/db_postgres_lib.c - finds libpq's functions in its library. */
#include "base/library.h"
#include "data/db_postgres_private.h"

static const struct mr_library_function functions[] = {
#define ENTRY(name) { "PQ" #name, offsetof(struct mr_db_pq, name) },
	MR_DB_PQ_FUNCTIONS(ENTRY)
#undef ENTRY
};

static const struct mr_library library = { "a database of PostgreSQL", "libpq.so.5", "libpq5",
	functions, MR_LEN(functions) };

enum mr_code mr_db_pq_load(struct mr_db_pq *out, struct mr_err *err)
{
	return mr_library_load(&library, out, err);
}
