/*
 * base/boot.h - when this machine was started, by the clock that stamps files.
 *
 * Processes of before the last boot are dead, so what only they could own belongs to nobody. "Now
 * minus the time since boot" alone does not tell: when the clock is set forward, it moves forward
 * too, past files of processes that live. File systems that are kept in memory were made after the
 * boot, by the clock as it was then; so the earliest of all these times is the answer. It may be
 * too early, after which a dead process is taken for a living one, but never too late.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* INT64_MAX where one of them is not known. In seconds. */
struct mr_boot_facts {
	int64_t now;       /* since 1970 */
	int64_t up;        /* since the boot */
	int64_t in_memory; /* since 1970: the earliest time of a file system in memory */
};

/* What this machine says. */
struct mr_boot_facts mr_boot_facts(void);
/* Was this file time surely before the boot? */
bool mr_boot_is_before(const struct mr_boot_facts *facts, const struct timespec *when);
