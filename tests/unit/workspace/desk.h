/* tests/unit/workspace/desk.h - a workspace to test in, with its default settings and a clock that
 * stands still. */
#pragma once

#include "workspace/change.h"
#include "workspace/frame.h"

#define DESK_NOW_US (INT64_C(1773202500) * 1000000) /* 2026-03-11T04:15:00Z */
#define DESK_TODAY  "20260311"

struct desk {
	struct mr_ctx cx;
	struct mr_clock_fixed clock;
	struct mr_work *work; /* open for writing */
};

/* In test_dir(), which becomes the working directory and the workspace. */
void desk_open(struct desk *desk);
void desk_close(struct desk *desk);
/* The next command, a second later. */
void desk_next(struct desk *desk);

/* Write a file; the directories above it are made. */
void desk_put(const char *path, const char *text);
bool desk_has(const char *path);
/* The content of a file, in the arena. */
const char *desk_text(struct desk *desk, const char *path);
/* Every file and directory below the working directory, sorted, one a line; without locks. */
const char *desk_tree(struct desk *desk);

/* The call failed with this word; the details have, when `key` is not NULL, this text. */
void desk_check_fail(struct desk *desk, enum mr_code rc, const char *word, const char *key,
	const char *text);
/* The kinds of all events in the log, with blanks between. */
const char *desk_events(struct desk *desk);
/* The last event. */
const struct mr_value *desk_last_event(struct desk *desk);
