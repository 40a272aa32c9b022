/* tests/unit/base/test_memory.c */
#include "base/memory.h"

#include "base/str.h"
#include "files.h"
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MIB = 1 << 20 };

static void put(const char *root, const char *name, const char *text)
{
	char path[4096];

	for (const char *p = strchr(name, '/'); p; p = strchr(p + 1, '/')) {
		snprintf(path, sizeof(path), "%s/%.*s", root, (int)(p - name), name);
		CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
	}
	snprintf(path, sizeof(path), "%s/%s", root, name);
	files_put(path, text);
}

static void knows_the_machine(void)
{
	uint64_t machine = mr_memory_limit(test_dir());

	CHECK(machine > 16 * MIB);
	CHECK(mr_memory_limit("") <= machine);
}

static void reads_version_2(void)
{
	const char *root = test_dir();

	put(root, "proc/self/cgroup", "0::/a/b\n");
	put(root, "sys/fs/cgroup/a/b/memory.max", "max\n");
	CHECK_INT(mr_memory_limit(root), mr_memory_limit("/nowhere"));
	put(root, "sys/fs/cgroup/a/memory.max", "8388608\n");
	CHECK_INT(mr_memory_limit(root), 8 * MIB);
	put(root, "sys/fs/cgroup/a/b/memory.max", "4194304\n");
	CHECK_INT(mr_memory_limit(root), 4 * MIB);
	/* In a container: the group is the root of what is seen. */
	put(root, "proc/self/cgroup", "0::/\n");
	put(root, "sys/fs/cgroup/memory.max", "2097152\n");
	CHECK_INT(mr_memory_limit(root), 2 * MIB);
}

static void reads_version_1(void)
{
	const char *root = test_dir();

	put(root, "proc/self/cgroup", "5:cpu:/x\n4:memory:/a\nnonsense\n0::/\n");
	put(root, "sys/fs/cgroup/cpu/x/memory.limit_in_bytes", "1\n");
	put(root, "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
	CHECK_INT(mr_memory_limit(root), mr_memory_limit("/nowhere"));
	put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "3145728\n");
	CHECK_INT(mr_memory_limit(root), 3 * MIB);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(knows_the_machine),
		TEST(reads_version_2),
		TEST(reads_version_1),
	};

	return test_main(tests, MR_LEN(tests));
}
