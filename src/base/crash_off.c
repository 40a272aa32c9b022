/* base/crash_off.c - the ordinary build: no point does anything. */
#include "base/crash.h"

void mr_crash_point(const char *name)
{
	(void)name;
}

int mr_crash_fail(const char *name)
{
	(void)name;
	return 0;
}

int64_t mr_crash_clock_skew_us(void)
{
	return 0;
}
