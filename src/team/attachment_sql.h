/*
 * team/attachment_sql.h - attached files in the database, for servers on other machines.
 *
 * Attachments are files of the archive (team/attachment.h), on the machine whose server took them
 * in. Where the database is on a server, they are kept in it, too: from there other servers have
 * them, and so has an archive that is made anew.
 */
#pragma once

#include "team/store/root.h"

MR_CHECK enum mr_code mr_team_attachment_keep(struct mr_ctx *cx, struct mr_team *team,
	int64_t project_id, const char *path, struct mr_bytes data);
/* What is kept under this path; MR_ENOTFOUND. */
MR_CHECK enum mr_code mr_team_attachment_kept(struct mr_ctx *cx, struct mr_db *db,
	int64_t project_id, const char *path, struct mr_bytes *out);
/* The file at `path` below the project's directory `dir` is there if it is kept: for who is going
 * to open it. A database in a file keeps none. */
void mr_team_attachment_fetch(struct mr_ctx *cx, struct mr_team *team, int64_t project_id, int dir,
	const char *path);
