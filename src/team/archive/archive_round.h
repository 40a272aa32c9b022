/*
 * team/archive/archive_round.h - one project's rows become files, a commit, and are done.
 *
 * Who goes round keeps the histories it has opened, and remembers what could not be archived.
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
	bool busy;      /* somebody else is archiving this project */
	const char *at; /* when busy: the project's directory */
};

/*
 * Take rows of one project, at most MR_TEAM_ARCHIVE_BATCH, and archive them. `lock_ms`: how long to
 * wait for another who does, 0 passes by (`busy`), and so does a wait that was too short. After an
 * error rows that were archived are done, the others stay.
 *
 * When a row cannot be archived (a file stands where a directory must be, ...) the others are, and
 * it is left out by this round until mr_team_round_retry().
 */
MR_CHECK enum mr_code mr_team_round_go(struct mr_ctx *cx, struct mr_team_round *round,
	int64_t project_id, int lock_ms, struct mr_team_round_result *out);
/* Projects in which somebody died at work: what they left is cleared. For a start, and a check. */
void mr_team_round_repair(struct mr_ctx *cx, struct mr_team_round *round);
/* Rows that were left out are tried again. */
void mr_team_round_retry(struct mr_team_round *round);
/* Nothing else to do: merge packs and bring an index up to date. `*again`: there is more to do.
 * Short, so that mail need not wait. */
void mr_team_round_tidy(struct mr_team_round *round, bool *again);
