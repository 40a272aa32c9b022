/* tests/support/files.h - what tests of files need: a place to stand, content, failures. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Fail the test unless the call gave this code, in `err` too, and this message. */
#define CHECK_ERR(rc, err, want, text)                                                             \
	do {                                                                                       \
		CHECK_INT(rc, want);                                                               \
		CHECK_INT((err).code, want);                                                       \
		CHECK_STR((err).msg, text);                                                        \
	} while (0)

/* Go to test_dir(), so that messages show short paths; the umask is 022. */
void files_enter(void);
void files_put(const char *path, const char *text);
/* The file is there and holds exactly this text. */
void files_hold(const char *path, const char *text);
/* Entries of a directory. */
size_t files_count(const char *path);
/* Descriptors this process has open: the same before and after means that none leaked. */
size_t files_open(void);

/* Set MAILROOM_FAIL_AT (see base/crash.h), or with NULL clear it. False in a build without crash
 * points, where nothing will fail. Passes are counted per process and name, not per setting. */
bool files_fail_at(const char *setting);

/* Root is refused nothing, so be somebody else for a while. False when we cannot. */
bool files_become_nobody(void);
void files_become_root(void);
