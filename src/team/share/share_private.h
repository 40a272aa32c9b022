/* team/share/share_private.h - an export in progress; for the files of team/share. */
#pragma once

#include "team/share/share.h"
#include "team/share/share_secret.h"
#include "text/json.h"

#include <stdint.h>

#define MR_TEAM_SHARE_DATABASE "mailbox.sqlite3"
#define MR_TEAM_SHARE_CHUNKS   "mailbox.sqlite3.config.json"
#define MR_TEAM_SHARE_MANIFEST "manifest.json"

/* The list of messages and their bodies, as scripts that a page loads from disk. */
struct mr_team_view {
	struct mr_buf list, bodies;
	struct mr_json_writer list_json, bodies_json;
	size_t part;    /* of the bodies, being filled */
	size_t in_part; /* messages in it */
};

struct mr_team_share_job {
	struct mr_ctx *cx;
	struct mr_team *team;
	struct mr_team_share request; /* with its thresholds put right */
	bool is_strict;               /* what the preset means */
	struct mr_db *from;           /* one unchanging state of the team's database */
	struct mr_db *to;             /* the copy, or NULL when nothing is written */
	int dir;                      /* of the export, or -1 when nothing is written */
	struct mr_team_projects projects;
	int64_t project_total; /* in the storage */
	int64_t newest_us;     /* when the newest message was sent, or the newest project made */
	struct mr_team_secrets *secrets;
	struct mr_team_view view;
	struct mr_team_shared out;
	int64_t inlined, copied, copied_bytes, external, missing; /* attachments */
};

/* The time that an export tells: of its newest message, so that it does not depend on the clock. */
const char *mr_team_share_time(struct mr_team_share_job *job);
/* The name of the preset that is in force. */
const char *mr_team_share_preset(const struct mr_team_share_job *job);
/* `text` without secrets, in `arena`; NULL stays NULL. Counts. */
const char *mr_team_share_scrub(struct mr_team_share_job *job, struct mr_arena *arena,
	const char *text);
/* Write one file of the export, and its directory; nothing when nothing is written. */
MR_CHECK enum mr_code mr_team_share_put(struct mr_team_share_job *job, const char *path,
	struct mr_bytes bytes);

/* A message's attachments as the export has them: bundled, inline, or left out. */
MR_CHECK enum mr_code mr_team_share_attach(struct mr_team_share_job *job, struct mr_arena *arena,
	const struct mr_team_project *project, const char *json, const struct mr_value **out);

/* A message as it is shown. */
struct mr_team_view_message {
	const struct mr_team_project *project;
	const struct mr_team_message *message; /* scrubbed */
	const char *from;
	struct mr_texts to, cc;
	const struct mr_value *attachments; /* a list */
};
void mr_team_view_begin(struct mr_team_view *view);
void mr_team_view_release(struct mr_team_view *view);
MR_CHECK enum mr_code mr_team_view_add(struct mr_team_share_job *job, struct mr_arena *arena,
	const struct mr_team_view_message *message);
/* The rest, and the page itself. */
MR_CHECK enum mr_code mr_team_view_end(struct mr_team_share_job *job);

/* The database in pieces, when it is large. */
MR_CHECK enum mr_code mr_team_share_chunk(struct mr_team_share_job *job);
/* README.txt; then every file looked at once more, for secrets and for its digest: manifest.json.
 */
MR_CHECK enum mr_code mr_team_share_readme(struct mr_team_share_job *job);
MR_CHECK enum mr_code mr_team_share_manifest(struct mr_team_share_job *job);

/* What a manifest lists. */
struct mr_team_share_file {
	const char *path;   /* inside the export */
	const char *sha256; /* 64 digits */
	int64_t bytes;
};
struct mr_team_share_listing {
	struct mr_team_share_file *items; /* by path, each once */
	size_t len;
};
/* Strict: MR_EFORMAT says what is wrong. Pure. */
MR_CHECK enum mr_code mr_team_share_manifest_read(struct mr_arena *arena, struct mr_bytes text,
	struct mr_team_share_listing *out, struct mr_err *err);

/* SHA-256 and size of a file below `dir`, piece by piece. */
MR_CHECK enum mr_code mr_team_share_hash(struct mr_ctx *cx, int dir, const char *path,
	const char **out_sha256, int64_t *out_bytes);
/* A file's bytes, below `dir`; unmap them. */
MR_CHECK enum mr_code mr_team_share_map(struct mr_ctx *cx, int dir, const char *path,
	struct mr_bytes *out);
void mr_team_share_unmap(struct mr_bytes *bytes);
/* Every file below `dir`, sorted. */
MR_CHECK enum mr_code mr_team_share_files(struct mr_ctx *cx, int dir, struct mr_texts *out);
/* Every file below a directory, in one new ZIP file, which is durable but for its name. */
MR_CHECK enum mr_code mr_team_share_pack(struct mr_ctx *cx, const char *directory,
	const char *path);
