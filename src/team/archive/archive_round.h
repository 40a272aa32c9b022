/*
 * team/archive/archive_round.h - archives one batch of a project: its queued rows become files and
 * a commit.
 *
 * A round keeps the histories it has opened, and remembers rows that could not be archived.
 */
#pragma once

#include "team/store/root.h"

struct mr_team_round;

struct mr_team_round *mr_team_round_new(struct mr_team *team);
/* `finish`: let `git status` in small archives have nothing to report. NULL is fine. */
void mr_team_round_free(struct mr_team_round *round, bool finish);

struct mr_team_round_result {
	size_t rows;    /* done */
	size_t commits; /* made */
	size_t stuck;   /* rows that cannot be archived as they are; the error says why */
	bool more;      /* there were more rows than were taken */
	bool busy;      /* another process is archiving this project */
	bool elsewhere; /* the archive is kept in another storage root (archive_place.h) */
	const char *at; /* when busy: the project's directory */
};

/*
 * Take rows of one project, at most MR_TEAM_ARCHIVE_BATCH, and archive them. `lock_ms`: how long to
 * wait for another process that does; with 0, or after that time, `busy` is set. After an error
 * rows that were archived are done, the others stay.
 *
 * When a row cannot be archived (a file stands where a directory must be, ...) the others are, and
 * it is left out by this round until mr_team_round_retry().
 */
MR_CHECK enum mr_code mr_team_round_go(struct mr_ctx *cx, struct mr_team_round *round,
	int64_t project_id, int lock_ms, struct mr_team_round_result *out);
/* Clear what processes left that died while archiving. For a start, and a check. */
void mr_team_round_repair(struct mr_ctx *cx, struct mr_team_round *round);
/* Try rows that were left out again. */
void mr_team_round_retry(struct mr_team_round *round);
/* Idle work: merge packs and update an index. `*again`: there is more to do. Short, so that mail
 * need not wait. */
void mr_team_round_tidy(struct mr_team_round *round, bool *again);
