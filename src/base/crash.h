/*
 * base/crash.h - named points at which a test can stop or fail the program.
 *
 * Built with -Dcrash_points=true, the environment decides:
 *
 *   MAILROOM_CRASH_AT=name[:N]        the process is killed (SIGKILL) when it passes the point for
 *                                     the N-th time; without N, the first time
 *   MAILROOM_FAIL_AT=name:ERRNO[:N]   mr_crash_fail() returns that errno from the N-th time on:
 *                                     EACCES EDQUOT EIO ENOSPC ENOSYS EROFS
 *   MAILROOM_CRASH_LOG=file           gets the name of each point passed, one a line, with "fail:"
 *                                     before a place to fail, so that a test can learn them all
 *
 * In an ordinary build both functions do nothing.
 *
 * A point is named "<file>.<function>.<what has just been done>": "fs.write.synced". A failure is
 * named after the call that fails: "fs.sync".
 */
#pragma once

void mr_crash_point(const char *name);
/* 0, or the errno a test asked for: treat it as the system call's own. */
int mr_crash_fail(const char *name);
