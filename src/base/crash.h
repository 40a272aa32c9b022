/*
 * base/crash.h - named points at which a test can stop or fail the program.
 *
 * Built with -Dcrash_points=true, MAILROOM_CRASH_AT=name or name:N kills the process (SIGKILL) when
 * the point is passed for the N-th time, and MAILROOM_FAIL_AT=name:ERRNO[:N] makes mr_crash_fail()
 * return that errno (ENOSPC, EROFS, EIO, EDQUOT) from the N-th time on. MAILROOM_CRASH_LOG=file
 * appends the name of each point passed, so that a test can learn them all. In an ordinary build
 * both functions do nothing.
 *
 * A point is named "<file>.<what has just been done>": "fs.write.synced".
 */
#pragma once

void mr_crash_point(const char *name);
/* 0, or the errno a test asked for: treat it as the system call's own. */
int mr_crash_fail(const char *name);
