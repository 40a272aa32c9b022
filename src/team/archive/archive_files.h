/*
 * team/archive/archive_files.h - builds the archive files that show rows of the database.
 *
 * Both for archiving and for checking: the same database gives the same bytes. The reader `db` is
 * only used while adding.
 */
#pragma once

#include "data/history.h"
#include "team/archive/archive_queue.h"
#include "team/model.h"

struct mr_team_files {
	struct mr_ctx *cx;
	const struct mr_team_project *project;
	const char *directory; /* of the project; NULL: attachments are not looked at */
	struct mr_db *db;

	struct mr_history_file *items;
	size_t len, room;
	uint64_t bytes;
	struct mr_team_threaded *threaded; /* whose digests mr_team_files_digests() makes */
	size_t threaded_count, threaded_room;
};
struct mr_team_threaded {
	const char *thread_id;
	int64_t message_id;
};

/* Add the files that a row of the queue stands for; a row whose subject is gone adds none.
 * Digests are added later. */
MR_CHECK enum mr_code mr_team_files_add(struct mr_team_files *files,
	const struct mr_team_archive_item *item);
/* The parts of digests that the added messages are in, each once. */
MR_CHECK enum mr_code mr_team_files_digests(struct mr_team_files *files);
/* .gitattributes and project.json: what every archive begins with. */
MR_CHECK enum mr_code mr_team_files_initial(struct mr_team_files *files);
