/*
 * base/crash.h - named points at which a test can stop or fail the program.
 *
 * Built with -Dcrash_points=true, the environment decides:
 *
 *   MAILROOM_CRASH_AT=name[:N]        the process is killed (SIGKILL) when it passes the point for
 *                                     the N-th time; without N, the first time
 *   MAILROOM_STOP_AT=name[:N]         the same with SIGSTOP: the process waits there, with all that
 *                                     it holds, until a test sends SIGCONT
 *   MAILROOM_FAIL_AT=name:ERRNO[:N]   mr_crash_fail() returns that errno from the N-th time on:
 *                                     EACCES EDQUOT EIO ENOSPC ENOSYS EROFS
 *   MAILROOM_CRASH_LOG=file           gets the name of each point passed, one a line, with "fail:"
 *                                     before a place to fail, so that a test can learn them all
 *   MAILROOM_CLOCK_SKEW=file          holds a number of seconds that the wall clock is wrong by; it
 * is read at every look, so a test moves the clock of a running program
 *
 * In an ordinary build these functions do nothing.
 *
 * A point is named "<file>.<function>.<what has just been done>": "fs.write.synced". A failure is
 * named after the call that fails: "fs.sync".
 */
#pragma once

#include <stdint.h>

void mr_crash_point(const char *name);
/* 0, or the errno a test asked for: treat it as the system call's own. */
int mr_crash_fail(const char *name);
/* What a test wants added to the wall clock, in microseconds; 0 without one. */
int64_t mr_crash_clock_skew_us(void);
