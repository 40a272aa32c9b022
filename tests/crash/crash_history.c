/*
 * tests/crash/crash_history.c - appends to an archive, and can be run again after a stop.
 *
 *   crash_history DIRECTORY               a fixed sequence, then everything that tidies up
 *   crash_history --load DIRECTORY NAME   batch after batch, until killed
 *   crash_history --end DIRECTORY         open, tidy up, write the index
 *
 * What was acknowledged is noted in DIRECTORY/NAME.acked, one number per line.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "data/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOAD_FILES = 8 };

static const struct mr_history_trailer AGENT = { "Agent", "GreenCastle" };

static enum mr_code open_archive(struct mr_arena *arena, const char *dir, struct mr_history **out,
	struct mr_err *err)
{
	struct mr_history_file attributes = { .path = ".gitattributes",
		.data = mr_bytes_text("*.json text\n*.md text\n") };
	struct mr_history_batch initial = { .files = &attributes,
		.file_count = 1,
		.message = "chore: initialize archive",
		.time_us = 1000000 };
	struct mr_history_options options = { .initial = &initial };

	return mr_history_open(mr_arena_printf(arena, "%s/archive", dir), &options,
		mr_clock_system(), out, err);
}

static void note(struct mr_arena *arena, const char *dir, const char *name, int number)
{
	const char *path = mr_arena_printf(arena, "%s/%s.acked", dir, name);
	const char *line = mr_arena_printf(arena, "%d\n", number);
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, line, strlen(line)) != (ssize_t)strlen(line))
		abort();
	close(fd);
}

static struct mr_history_file file(const char *path, const char *text)
{
	return (struct mr_history_file){ .path = path,
		.data = mr_bytes_text(text ? text : ""),
		.remove = !text };
}

static enum mr_code append(struct mr_history *history, const struct mr_history_file *files,
	size_t count, int number, struct mr_err *err)
{
	struct mr_history_batch batch = { .files = files,
		.file_count = count,
		.message = "mail: GreenCastle -> BlueLake | crash",
		.trailers = &AGENT,
		.trailer_count = 1,
		.time_us = 2000000 + number * INT64_C(1000000) };
	struct mr_history_appended appended;

	return mr_history_append(history, &batch, &appended, err);
}

/* Files come, change and go, one where a directory was. */
static enum mr_code act(struct mr_arena *arena, const char *dir, struct mr_err *err)
{
	const struct mr_history_file batches[][3] = {
		{ file("messages/2026/01/one.md", "one"), file("agents/Fox/profile.json", "{}"),
			file("agents/Fox/inbox/one.md", "one") },
		{ file("messages/2026/01/two.md", "two"), file("agents/Fox/profile.json", "{1}"),
			file("agents/Fox/inbox/one.md", NULL) },
		{ file("messages/2026/02/three.md", "three"), file("agents/Fox/inbox", "a file"),
			file("agents/Fox/profile.json", "{2}") },
	};
	/* Tells that the batch after this one is there. */
	static const char *const next[] = { "messages/2026/01/two.md", "messages/2026/02/three.md",
		"none" };
	struct mr_history *history MR_CLEANUP(mr_history_closep) = NULL;
	enum mr_code rc = open_archive(arena, dir, &history, err);
	struct mr_err ignored;

	/* Going on where the archive stands, as the archiver goes on where its queue stands. */
	for (size_t i = 0; !rc && i < MR_LEN(batches); i++) {
		struct mr_bytes bytes;

		if (mr_history_read(arena, history, NULL, next[i], 100, &bytes, &ignored) == MR_OK)
			continue;
		rc = append(history, batches[i], MR_LEN(batches[i]), (int)i, err);
		if (!rc)
			note(arena, dir, "all", (int)i);
	}
	if (!rc)
		rc = mr_history_tidy(history, err);
	if (!rc)
		rc = mr_history_sync_index(history, err);
	return rc;
}

static enum mr_code load(struct mr_arena *arena, const char *dir, const char *name,
	struct mr_err *err)
{
	struct mr_history *history MR_CLEANUP(mr_history_closep) = NULL;
	const char *acked = mr_arena_printf(arena, "%s.acked", name);
	int at MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_bytes bytes = { 0 };
	enum mr_code rc = mr_fs_open_dir(AT_FDCWD, dir, &at, err);
	struct mr_err ignored;
	int number = 0;

	if (!rc && mr_fs_read(arena, at, acked, 1 << 20, &bytes, &ignored) == MR_OK) {
		for (size_t i = 0; i < bytes.len; i++)
			number += bytes.data[i] == '\n';
	}
	if (!rc)
		rc = open_archive(arena, dir, &history, err);
	for (; !rc; number++) {
		struct mr_arena *batch MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_history_file files[LOAD_FILES + 1];

		for (int i = 0; i < LOAD_FILES; i++)
			files[i] = file(mr_arena_printf(batch, "%s/%d/%d.md", name, number, i),
				mr_arena_printf(batch, "%s %d %d", name, number, i));
		files[LOAD_FILES] = file(mr_arena_printf(batch, "%s/newest", name),
			mr_arena_printf(batch, "%d", number));
		rc = append(history, files, MR_LEN(files), number, err);
		if (!rc)
			note(batch, dir, name, number);
	}
	return rc;
}

static enum mr_code end(struct mr_arena *arena, const char *dir, struct mr_err *err)
{
	struct mr_history *history MR_CLEANUP(mr_history_closep) = NULL;
	enum mr_code rc = open_archive(arena, dir, &history, err);

	if (!rc)
		rc = mr_history_tidy(history, err);
	return rc ? rc : mr_history_sync_index(history, err);
}

int main(int argc, char **argv)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_err err = { .msg = "usage: crash_history [--load|--end] DIRECTORY [NAME]" };
	enum mr_code rc = MR_EINVAL;

	if (argc == 2)
		rc = act(arena, argv[1], &err);
	else if (argc == 4 && strcmp(argv[1], "--load") == 0)
		rc = load(arena, argv[2], argv[3], &err);
	else if (argc == 3 && strcmp(argv[1], "--end") == 0)
		rc = end(arena, argv[2], &err);
	if (rc)
		fprintf(stderr, "crash_history: %s\n", err.msg);
	return rc ? 1 : 0;
}
