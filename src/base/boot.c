/*
 * base/boot.c - Estimates the time of the last boot, to tell whether a file was written by a
 * process that cannot be alive any more.
 */
#include "base/boot.h"

#include <linux/magic.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum {
	/* File times are coarser than the clock, and both differences are whole seconds. */
	SLACK_S = 2,
	/* Without a witness from memory: clocks are often set by seconds after a boot. */
	BLIND_SLACK_S = 60,
};

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The earliest time of the root of a file system in memory; INT64_MAX for any other file. */
static int64_t oldest_time_of(const char *path)
{
	struct statfs fs;
	struct stat st;

	if (statfs(path, &fs) != 0 || stat(path, &st) != 0 ||
		(fs.f_type != PROC_SUPER_MAGIC && fs.f_type != TMPFS_MAGIC))
		return INT64_MAX;
	return earlier(st.st_atime, earlier(st.st_mtime, st.st_ctime));
}

struct mr_boot_facts mr_boot_facts(void)
{
	struct mr_boot_facts facts = {
		.now = INT64_MAX,
		.up = INT64_MAX,
		.in_memory = earlier(oldest_time_of("/proc"), oldest_time_of("/dev")),
	};
	struct timespec time;

	if (clock_gettime(CLOCK_REALTIME, &time) == 0)
		facts.now = time.tv_sec;
	if (clock_gettime(CLOCK_BOOTTIME, &time) == 0)
		facts.up = time.tv_sec;
	return facts;
}

bool mr_boot_is_before(const struct mr_boot_facts *facts, const struct timespec *when)
{
	int64_t slack = facts->in_memory == INT64_MAX ? BLIND_SLACK_S : SLACK_S;

	if (facts->now == INT64_MAX || facts->up == INT64_MAX)
		return false;
	return when->tv_sec < earlier(facts->now - facts->up, facts->in_memory) - slack;
}
