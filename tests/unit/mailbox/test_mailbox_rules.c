/* tests/unit/mailbox/test_mailbox_rules.c */
#include "base/fs.h"
#include "files.h"
#include "mailbox/layout.h"
#include "mailbox/rules.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const FILES[] = { MR_MAILBOX_README, MR_MAILBOX_PROTOCOL,
	MR_MAILBOX_REQUIREMENTS, MR_MAILBOX_SKILLS_README, "rules/scripts/register_mailbox.py",
	"rules/scripts/deregister_mailbox.py", "rules/scripts/deliver_message.py",
	"rules/scripts/insert_standard_headers.py", "rules/scripts/update_mailbox_state.py",
	"rules/scripts/repair_index.py" };

struct place {
	struct mr_ctx cx;
	struct mr_mailbox_root root;
};

static void place_close(struct place *place)
{
	mr_fs_closep(&place->root.dir);
	mr_arena_free(place->cx.arena);
}

static struct place enter(void)
{
	struct place place = {
		.cx = { .arena = mr_arena_new(),
			.clock = mr_clock_system(),
			.rand = mr_rand_system() },
		.root = { .path = "/r", .dir = -1 },
	};

	files_enter();
	for (const char *const *path = mr_mailbox_directories; *path; path++)
		CHECK_OK(mr_fs_make_dirs(AT_FDCWD, *path, 0700, &place.cx.err), place.cx.err);
	CHECK_OK(mr_fs_open_dir(AT_FDCWD, ".", &place.root.dir, &place.cx.err), place.cx.err);
	return place;
}

static const char *read_all(struct place *place, const char *path)
{
	struct mr_bytes bytes;

	CHECK_OK(mr_fs_read(place->cx.arena, AT_FDCWD, path, 1 << 20, &bytes, &place->cx.err),
		place->cx.err);
	return (const char *)bytes.data;
}

static void publishes_every_file(void)
{
	struct place place MR_CLEANUP(place_close) = enter();

	CHECK_OK(mr_mailbox_rules_publish(&place.cx, &place.root), place.cx.err);
	for (size_t i = 0; i < MR_LEN(FILES); i++) {
		struct stat st;
		const char *text = read_all(&place, FILES[i]);
		bool is_script = mr_str_ends(FILES[i], ".py");

		CHECK(stat(FILES[i], &st) == 0);
		CHECK_INT(st.st_mode & 07777, is_script ? 0700 : 0600);
		CHECK(mr_str_ends(text, "\n"));
		CHECK_INT(mr_str_starts(text, "#!/usr/bin/env python3\n"), is_script);
		/* Nothing of a format string is left. */
		CHECK(!strstr(text, "%s") && !strstr(text, "(null)"));
	}
	CHECK_INT(files_count("rules/scripts"), 7);
	CHECK(strstr(read_all(&place, MR_MAILBOX_REQUIREMENTS), "Nothing is needed"));
}

static void touches_only_what_differs(void)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct stat before[MR_LEN(FILES)], after;

	CHECK_OK(mr_mailbox_rules_publish(&place.cx, &place.root), place.cx.err);
	for (size_t i = 0; i < MR_LEN(FILES); i++)
		CHECK(stat(FILES[i], &before[i]) == 0);
	files_put(FILES[0], "changed\n");
	CHECK(chmod(FILES[5], 0600) == 0);
	CHECK(unlink(FILES[6]) == 0);
	CHECK(symlink("repair_index.py", FILES[6]) == 0);
	CHECK_OK(mr_mailbox_rules_publish(&place.cx, &place.root), place.cx.err);
	for (size_t i = 0; i < MR_LEN(FILES); i++) {
		bool differed = i == 0 || i == 5 || i == 6;

		CHECK(lstat(FILES[i], &after) == 0);
		CHECK(S_ISREG(after.st_mode));
		CHECK_INT(after.st_mode & 07777, before[i].st_mode & 07777);
		CHECK_INT(after.st_ino == before[i].st_ino, !differed);
		CHECK_INT(after.st_size, before[i].st_size);
	}
	/* The link was replaced, not followed. */
	CHECK(strstr(read_all(&place, FILES[9]), "NAME = \"repair_index\""));
}

static void removes_what_dead_writers_left(void)
{
	struct place place MR_CLEANUP(place_close) = enter();

	files_put("rules/scripts/.repair_index.py.tmp-4194303-0123456789abcdef", "half");
	CHECK_OK(mr_mailbox_rules_publish(&place.cx, &place.root), place.cx.err);
	CHECK_INT(files_count("rules/scripts"), 7);
}

static void says_what_is_in_the_way(void)
{
	struct place place MR_CLEANUP(place_close) = enter();

	CHECK(mkdir(MR_MAILBOX_README, 0700) == 0);
	CHECK_INT(mr_mailbox_rules_publish(&place.cx, &place.root), MR_EIO);
	CHECK(mr_str_starts(place.cx.err.msg, "mailbox root /r: "));
	CHECK(strstr(place.cx.err.msg, MR_MAILBOX_README));
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "rules", &place.cx.err), place.cx.err);
	CHECK_INT(mr_mailbox_rules_publish(&place.cx, &place.root), MR_ENOTFOUND);
	if (files_fail_at("fs.write:ENOSPC")) {
		CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "rules/protocols", 0700, &place.cx.err),
			place.cx.err);
		CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "rules/scripts", 0700, &place.cx.err),
			place.cx.err);
		CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "rules/skills", 0700, &place.cx.err),
			place.cx.err);
		CHECK_INT(mr_mailbox_rules_publish(&place.cx, &place.root), MR_EIO);
		CHECK_INT(files_count("rules"), 3);
	}
}

/* Run a shell line; its output is in the file "out". */
static int run(const char *line)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", line, (char *)NULL);
		_exit(127);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void scripts_hand_over(void)
{
	struct place place MR_CLEANUP(place_close) = enter();

	if (run("python3 -c '' 2>/dev/null") != 0)
		return;
	CHECK_OK(mr_mailbox_rules_publish(&place.cx, &place.root), place.cx.err);
	CHECK(mkdir("bin", 0700) == 0);
	files_put("bin/mailroom", "#!/bin/sh\nprintf '%s|' \"$@\"\nexit 2\n");
	CHECK(chmod("bin/mailroom", 0700) == 0);
	CHECK(rename("bin/mailroom", "bin/other") == 0);
	CHECK(symlink("other", "bin/mailroom") == 0);
	for (const char *const *name = mr_mailbox_scripts; *name; name++) {
		CHECK_INT(run(mr_arena_printf(place.cx.arena,
				  "unset MAILROOM_BIN; PATH=$PWD/bin:$PATH rules/scripts/%s.py "
				  "--mailbox-root 'a b' --payload-file p >out 2>&1",
				  *name)),
			2);
		files_hold("out",
			mr_arena_printf(place.cx.arena,
				"mailbox|script|%s|--mailbox-root|a b|--payload-file|p|", *name));
	}
	CHECK_INT(run("MAILROOM_BIN=$PWD/bin/other rules/scripts/repair_index.py >out 2>&1"), 2);
	files_hold("out", "mailbox|script|repair_index|");
}

static void scripts_say_that_there_is_no_program(void)
{
	struct place place MR_CLEANUP(place_close) = enter();

	if (run("python3 -c '' 2>/dev/null") != 0)
		return;
	CHECK_OK(mr_mailbox_rules_publish(&place.cx, &place.root), place.cx.err);
	CHECK_INT(run("MAILROOM_BIN=/nowhere/mailroom rules/scripts/deliver_message.py "
		      "--mailbox-root r --payload-file p >out 2>&1"),
		1);
	files_hold("out",
		"{\"ok\": false, \"error\": \"cannot find the program /nowhere/mailroom: set "
		"MAILROOM_BIN or PATH\"}\n");
	/* Found, but the system cannot run it. */
	files_put("broken", "#!/nowhere/sh\n");
	CHECK(chmod("broken", 0700) == 0);
	CHECK_INT(run("MAILROOM_BIN=./broken rules/scripts/deliver_message.py >out 2>&1"), 1);
	files_hold("out",
		"{\"ok\": false, \"error\": \"cannot run ./broken: No such file or directory\"}\n");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(publishes_every_file),
		TEST(touches_only_what_differs),
		TEST(removes_what_dead_writers_left),
		TEST(says_what_is_in_the_way),
		TEST(scripts_hand_over),
		TEST(scripts_say_that_there_is_no_program),
	};

	return test_main(tests, MR_LEN(tests));
}
