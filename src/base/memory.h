/* base/memory.h - how much memory this process may use. */
#pragma once

#include <stdint.h>

/*
 * The machine's memory or the limit of the process's control group (version 1 or 2, the lowest on
 * the way up), whichever is less. `root` is where /proc and /sys are: "" but in tests.
 */
uint64_t mr_memory_limit(const char *root);
/* Give freed memory back to the system: for a process that is about to wait. Takes some
 * milliseconds. */
void mr_memory_give_back(void);
