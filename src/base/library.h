/*
 * base/library.h - shared libraries that are loaded when they are first needed.
 *
 * Loading a library costs every start of the program a good part of a millisecond, with all that it
 * depends on; a command that does not need it should not pay. A module that uses such a library
 * lists the functions in a macro and makes a table of pointers of it:
 *
 *	#define FUNCTIONS(X) X(init) X(parse)
 *	#define MEMBER(name) __typeof__ (&html_##name)(name);
 *	#define ENTRY(name) { "html_" #name, offsetof(struct html, name) },
 *
 *	struct html { FUNCTIONS(MEMBER) };
 *	static const struct mr_library_function functions[] = { FUNCTIONS(ENTRY) };
 */
#pragma once

#include "base/err.h"

#include <stddef.h>

struct mr_library_function {
	const char *name;
	size_t at; /* of its pointer in the table */
};

struct mr_library {
	const char *purpose; /* for the error: "asking other machines" */
	const char *file;    /* "libcurl.so.4" */
	const char *package; /* Debian's name of it */
	const struct mr_library_function *functions;
	size_t count;
};

/*
 * Fill the table with the library's functions. The library stays loaded; a second call is cheap.
 * MR_ENOTFOUND when it is not installed, and MR_EINTERNAL when a function is missing in it: the
 * table is unchanged then.
 */
MR_CHECK enum mr_code mr_library_load(const struct mr_library *library, void *out_table,
	struct mr_err *err);
/* The same for a library whose users cannot fail: without it the program ends with the error, as it
 * would have at its start with a library that it is linked with. */
void mr_library_require(const struct mr_library *library, void *out_table);
