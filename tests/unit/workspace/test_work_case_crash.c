/* tests/unit/workspace/test_work_case_crash.c - a crash at any step of a change of several files
 * leaves the workspace as before or, once the next command has begun, as after. */
#include "files.h"
#include "post.h"
#include "test.h"
#include "workspace/archive.h"
#include "workspace/case.h"
#include "workspace/disposition.h"
#include "workspace/refresh.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST  "c20260504001"
#define SECOND "c20260512001"

static void create(struct desk *desk, const char *name, const char *message)
{
	struct mr_work_case_create request = { .name = name, .message = message, .reason = "r" };

	POST_OK(desk,
		mr_work_case_create(&desk->cx, desk->work, &request,
			&(struct mr_work_case_created){ 0 }));
}

static void discard(struct desk *desk, const char *id)
{
	struct mr_work_discard request = { .message_ids = { (const char *[]){ id, NULL }, 1 },
		.reason = "r" };

	POST_OK(desk,
		mr_work_message_trash(&desk->cx, desk->work, &request,
			&(struct mr_work_discarded){ 0 }));
}

/* --- commands, and what they need --- */

static void two_cases(struct desk *desk)
{
	post_mail(desk, PLAIN, T1, T2, NULL);
	create(desk, "A", PLAIN);
	create(desk, "B", T1);
	desk_put("cases/open/" SECOND "-B/files/x.txt", "x");
}

static enum mr_code archive(struct desk *desk)
{
	return mr_work_case_archive(&desk->cx, desk->work, &(struct mr_work_case_ref){ FIRST, "r" },
		&(struct mr_work_case_archived){ 0 });
}

static enum mr_code merge(struct desk *desk)
{
	return mr_work_case_merge(&desk->cx, desk->work,
		&(struct mr_work_case_merge){ FIRST, SECOND, "r" },
		&(struct mr_work_case_merged){ 0 });
}

static enum mr_code move(struct desk *desk)
{
	return mr_work_case_move(&desk->cx, desk->work,
		&(struct mr_work_case_move){ FIRST, "waiting" }, &(struct mr_work_case_moved){ 0 });
}

static enum mr_code trash_case(struct desk *desk)
{
	return mr_work_case_trash(&desk->cx, desk->work, &(struct mr_work_case_ref){ FIRST, "r" },
		&(struct mr_work_case_trashed){ 0 });
}

static void one_in_trash(struct desk *desk)
{
	post_mail(desk, SPAM, NULL);
	discard(desk, SPAM);
}

static enum mr_code restore(struct desk *desk)
{
	return mr_work_message_restore(&desk->cx, desk->work,
		&(struct mr_work_message_restore){ SPAM, "r" },
		&(struct mr_work_message_restored){ 0 });
}

static enum mr_code take_into_case(struct desk *desk)
{
	return mr_work_case_create(&desk->cx, desk->work,
		&(struct mr_work_case_create){ .name = "A", .message = SPAM, .reason = "r" },
		&(struct mr_work_case_created){ 0 });
}

static void one_without_place(struct desk *desk)
{
	post_mail(desk, SPAM, NULL);
	CHECK(unlink(".afmail/messages/" SPAM ".remote.json") == 0);
	desk_next(desk);
	discard(desk, SPAM);
}

static enum mr_code purge(struct desk *desk)
{
	return mr_work_purge(&desk->cx, desk->work,
		&(struct mr_work_purge){ .has_older_than_days = true },
		&(struct mr_work_purged){ 0 });
}

/* --- crashing --- */

struct scene {
	void (*set)(struct desk *desk);
	enum mr_code (*run)(struct desk *desk);
};

/* Files, events and queue. */
static const char *state(struct desk *desk)
{
	return mr_arena_printf(desk->cx.arena, "%s\n%s\n%s", desk_tree(desk), desk_events(desk),
		post_queue(desk));
}

static void clear(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts names = { 0 };
	struct mr_err err = { 0 };

	CHECK_OK(mr_fs_list(arena, AT_FDCWD, ".", 1000, &names, &err), err);
	for (size_t i = 0; i < names.len; i++)
		CHECK_OK(mr_fs_remove_all(AT_FDCWD, names.items[i], &err), err);
}

static void begin(struct desk *desk, const struct scene *scene)
{
	post_open(desk);
	scene->set(desk);
}

/* Run the command in a process that is killed at that point; false when it was not. */
static bool crash(struct desk *desk, const struct scene *scene, const char *point)
{
	int status = 0;
	pid_t child;

	/* The lock is the child's. */
	mr_work_close(desk->work);
	desk->work = NULL;
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		setenv("MAILROOM_CRASH_AT", point, 1);
		if (mr_work_open(&desk->cx, test_dir(), MR_WORK_WRITE, &desk->work) ||
			scene->run(desk))
			_exit(1);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_OK(mr_work_open(&desk->cx, test_dir(), MR_WORK_WRITE, &desk->work), desk->cx.err);
	if (WIFSIGNALED(status)) {
		CHECK_INT(WTERMSIG(status), SIGKILL);
		return true;
	}
	CHECK_INT(WEXITSTATUS(status), 0);
	return false;
}

/* Kill the command when it passes the point for the so many-th time: in the end the state is
 * `wanted`. False when it does not pass that often. */
static bool crash_at(const struct scene *scene, const char *point, int pass, const char *wanted)
{
	char at[64];
	struct desk desk;
	bool crashed;

	begin(&desk, scene);
	snprintf(at, sizeof(at), "%s:%d", point, pass);
	crashed = crash(&desk, scene, at);
	CHECK_OK(mr_work_recover(&desk.cx, desk.work), desk.cx.err);
	if (crashed)
		CHECK_STR(state(&desk), wanted);
	desk_close(&desk);
	clear();
	return crashed;
}

static void crash_everywhere(const struct scene *scene)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *before, *after;
	struct desk desk;
	int steps = 0;

	begin(&desk, scene);
	if (!files_fail_at(NULL)) { /* a build without crash points */
		desk_close(&desk);
		return;
	}
	before = mr_arena_strdup(arena, state(&desk));
	CHECK_OK(scene->run(&desk), desk.cx.err);
	after = mr_arena_strdup(arena, state(&desk));
	desk_close(&desk);
	clear();
	CHECK(!mr_str_eq(before, after));
	CHECK(crash_at(scene, "work.change.staged", 1, before));
	CHECK(crash_at(scene, "work.change.journaled", 1, after));
	while (crash_at(scene, "work.change.step", steps + 1, after))
		CHECK(++steps < 100);
	CHECK(steps > 2);
	CHECK(crash_at(scene, "work.change.ended", 1, after));
}

static void archiving(void)
{
	crash_everywhere(&(struct scene){ two_cases, archive });
}

static void merging(void)
{
	crash_everywhere(&(struct scene){ two_cases, merge });
}

static void moving(void)
{
	crash_everywhere(&(struct scene){ two_cases, move });
}

static void trashing(void)
{
	crash_everywhere(&(struct scene){ two_cases, trash_case });
}

static void restoring(void)
{
	crash_everywhere(&(struct scene){ one_in_trash, restore });
}

static void taking_into_a_case(void)
{
	crash_everywhere(&(struct scene){ one_in_trash, take_into_case });
}

static void purging(void)
{
	crash_everywhere(&(struct scene){ one_without_place, purge });
}

int main(void)
{
	static const struct test all[] = { TEST(archiving), TEST(merging), TEST(moving),
		TEST(trashing), TEST(restoring), TEST(taking_into_a_case), TEST(purging) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
