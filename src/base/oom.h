/*
 * base/oom.h - the end of a process that got no memory.
 *
 * Memory for what a request needs is bounded where its bytes enter, so an allocation that fails
 * means that the system has none left; no caller could go on. The process says so in one line on
 * standard error and aborts, which a supervisor sees as a crash and answers with a restart.
 */
#pragma once

#include <stddef.h>

/* Write "mailroom: out of memory (N bytes wanted)" and abort; 0 when the size is not known.
 * Allocates nothing. */
_Noreturn void mr_oom(size_t bytes);
