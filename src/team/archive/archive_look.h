/*
 * team/archive/archive_look.h - the history of a project as people look at it: what happened, what
 * a commit changed, and files as they were.
 *
 * It holds everybody's mail, blind copies too: it is for who may read all of it. What is long is
 * cut, and `note` is a sentence that says so. A project that does not exist is NOT_FOUND; one
 * without an archive has no commits.
 */
#pragma once

#include "base/ctx.h"
#include "team/model.h"
#include "team/store/root.h"

enum {
	MR_TEAM_LOOK_LOG = 200,              /* commits in one list */
	MR_TEAM_LOOK_FILES = 500,            /* of a commit that are named */
	MR_TEAM_LOOK_LINES = 1500,           /* of a commit that are shown */
	MR_TEAM_LOOK_COMPARED = 256 << 10,   /* bytes of a file that is compared */
	MR_TEAM_LOOK_COMPARED_ALL = 4 << 20, /* bytes compared for one commit */
	MR_TEAM_LOOK_TEXT = 512 << 10,       /* bytes of a file that is shown */
	MR_TEAM_LOOK_LINE = 2000,            /* bytes of a line that are shown */
	MR_TEAM_LOOK_ENTRIES = 1000,         /* of a directory in one list */
};

struct mr_team_look_commit {
	const char *sha;
	const char *kind; /* the subject's first word: mail, file_reservation, agent, archive, … */
	const char *subject, *body;
	struct mr_texts agents;       /* that it says it is about */
	const char *thread_id, *tool; /* or NULL */
	int64_t time_us;
};

struct mr_team_look_log {
	struct mr_team_project project;
	struct mr_team_look_commit *items; /* newest first */
	size_t len;
	const char *next; /* the `start` to go on with, or NULL */
};
/* Commits, or those that changed the file or directory `path` (or NULL), from `start` (or NULL) on
 * back, at most `limit` (1 .. MR_TEAM_LOOK_LOG). */
MR_CHECK enum mr_code mr_team_look_log(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *path, const char *start, int64_t limit,
	struct mr_team_look_log *out);

struct mr_team_look_line {
	const char *kind;      /* "added", "removed", "same"; "skip": lines are left out here */
	int64_t before, after; /* its numbers; 0 on a side that does not have it */
	const char *text;
};
struct mr_team_look_change {
	const char *path;
	const char *change;     /* "added", "changed", "removed" */
	const char *same_as;    /* a file that stands before it got the same bytes; or NULL */
	int64_t added, removed; /* lines */
	struct mr_team_look_line *lines;
	size_t len;
	const char *note; /* or NULL */
};
struct mr_team_look_change_list {
	struct mr_team_project project;
	struct mr_team_look_commit commit;
	const char *before; /* the commit before it, or NULL */
	struct mr_team_look_change *items;
	size_t len;
	int64_t total;    /* files that it changed */
	const char *note; /* or NULL */
};
/* A commit, by 7 digits of its id or more, and what it changed. */
MR_CHECK enum mr_code mr_team_look_commit(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *sha, struct mr_team_look_change_list *out);

struct mr_team_look_entry {
	const char *name, *path;
	bool is_dir;
};
/* A file, or what is in a directory. */
struct mr_team_look_place {
	struct mr_team_project project;
	const char *path; /* "": the uppermost directory */
	const char *sha;  /* of the commit that it was looked up in */
	bool is_dir;
	/* Directories first, by name; then files by name backwards, so that the newest mail is the
	 * first. */
	struct mr_team_look_entry *items;
	size_t len;
	const char *next; /* the `cursor` to go on with, or NULL */
	const char *text; /* of a file: its text; NULL when it is none */
	int64_t bytes;
	const char *note; /* or NULL */
};
/* `sha` NULL is the newest commit; `cursor` is a name to go on after, or NULL. */
MR_CHECK enum mr_code mr_team_look_place(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *sha, const char *path, const char *cursor,
	struct mr_team_look_place *out);
