/*
 * tests/crash/crash_work_change.c - a change of a workspace, to be killed.
 *
 * crash_work_change init DIR    a workspace with a few files
 * crash_work_change change DIR  finishes what was interrupted and then, unless that was it, makes
 *                               one change of every kind of step
 * crash_work_change alone DIR   the same with a change of one file, without a journal
 */
#include "workspace/change.h"
#include "workspace/layout.h"

#include <stdio.h>
#include <stdlib.h>

#define NOW_US (INT64_C(1773202500) * 1000000)

static void die(const char *what)
{
	fprintf(stderr, "crash_work_change: %s\n", what);
	exit(1);
}

static void put(struct mr_ctx *cx, int dir, const char *path, const char *text)
{
	if (mr_fs_write(dir, path, mr_bytes_text(text), MR_FS_REPLACE, 0644, &cx->err))
		die(cx->err.msg);
}

static void init(struct mr_ctx *cx, const char *path)
{
	static const char *const dirs[] = { MR_WORK_STATE, "contacts/people", "cases/open/c1/data",
		"gone/deep" };
	int dir MR_CLEANUP(mr_fs_closep) = -1;

	if (mr_fs_open_dir(AT_FDCWD, path, &dir, &cx->err))
		die(cx->err.msg);
	for (size_t i = 0; i < MR_LEN(dirs); i++)
		if (mr_fs_make_dirs(dir, dirs[i], 0755, &cx->err))
			die(cx->err.msg);
	put(cx, dir, "contacts/people/ann.md", "Ann\n");
	put(cx, dir, "cases/open/c1/data/case.json", "{}\n");
	put(cx, dir, "cases/open/c1/notes.md", "notes\n");
	put(cx, dir, "gone/deep/file", "x\n");
	put(cx, dir, "swapped", "old\n");
}

static void recover(struct mr_ctx *cx, struct mr_work *work)
{
	struct mr_work_stale stale;
	struct mr_texts journals;

	if (mr_work_change_recover(cx, work, &stale, &journals))
		die(cx->err.msg);
	for (size_t i = 0; i < journals.len; i++)
		if (stale.collections.len != 1 || stale.messages.len != 1 || !stale.contacts)
			die("the journal forgot what is stale");
	mr_work_change_forget(cx, work, &journals);
}

static void tell(struct mr_work_change *change, const char *kind)
{
	struct mr_work_event event;

	mr_work_event_begin(change, kind, MR_WORK_TARGETS({ "case", "c1" }), NULL, &event);
	mr_work_event_end(&event);
}

static void commit(struct mr_ctx *cx, struct mr_work_change *change)
{
	if (mr_work_change_commit(cx, change))
		die(cx->err.msg);
	mr_work_change_end(cx, change);
}

static void change_all(struct mr_ctx *cx, struct mr_work *work)
{
	struct mr_work_change change;

	if (!mr_fs_exists(work->dir, "contacts/people"))
		return; /* it was made, by this run's recovery at the latest */
	mr_work_change_begin(cx, work, "test", &change);
	mr_work_change_write(&change, "cases/open/c1/data/case.json", mr_bytes_text("{1}\n"));
	mr_work_change_move(&change, "cases/open/c1", "archive/cases/c1");
	mr_work_change_write(&change, "archive/cases/c1/new.md", mr_bytes_text("new\n"));
	mr_work_change_move(&change, "swapped", "kept");
	mr_work_change_move(&change, "contacts/people/ann.md", "swapped");
	tell(&change, "first");
	tell(&change, "second");
	mr_work_change_remove(&change, "gone");
	mr_work_change_make_dir(&change, "gone/again");
	mr_work_change_drop_dir(&change, "cases/open");
	tell(&change, "third");
	mr_work_touch_message(&change, "m1");
	mr_work_touch_collection(&change, "archive/cases/c1");
	change.stale.contacts = true;
	mr_work_change_drop_dir(&change, "contacts/people");
	commit(cx, &change);
}

static void change_alone(struct mr_ctx *cx, struct mr_work *work)
{
	struct mr_work_change change;

	mr_work_change_begin(cx, work, "test", &change);
	mr_work_change_write(&change, "contacts/people/ann.md", mr_bytes_text("Anna\n"));
	commit(cx, &change);
}

int main(int argc, char **argv)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;
	struct mr_clock_fixed clock;
	struct mr_ctx cx = { .arena = arena, .clock = &clock.clock, .rand = mr_rand_system() };
	const char *verb = argc == 3 ? argv[1] : "";

	mr_clock_fixed_init(&clock, NOW_US);
	if (mr_str_eq(verb, "init")) {
		init(&cx, argv[2]);
		return 0;
	}
	if (!mr_str_eq(verb, "change") && !mr_str_eq(verb, "alone"))
		die("usage: init|change|alone DIR");
	if (mr_work_open(&cx, argv[2], MR_WORK_WRITE, &work))
		die(cx.err.msg);
	recover(&cx, work);
	if (mr_str_eq(verb, "change"))
		change_all(&cx, work);
	else
		change_alone(&cx, work);
	return 0;
}
