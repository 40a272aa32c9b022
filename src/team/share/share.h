/* team/share/share.h - exports a team's mail as static files for others to read, with secrets
 * replaced. */
#pragma once

#include "team/model.h"
#include "team/store/root.h"

#define MR_TEAM_SCRUB_STANDARD "standard" /* secrets are replaced */
#define MR_TEAM_SCRUB_STRICT   "strict"   /* bodies and attachments are left out too */

struct mr_team_share {
	const char *output;       /* an empty directory, or one to be made; with `zip` a new file */
	struct mr_texts projects; /* keys; empty: all */
	const char *scrub_preset; /* NULL: MR_TEAM_SCRUB_STANDARD */
	int64_t inline_bytes, detach_bytes;
	int64_t chunk_threshold, chunk_bytes;
	bool zip; /* one ZIP file in place of a directory */
	bool dry_run;
};
struct mr_team_shared {
	const char *output, *scrub_preset;
	bool dry_run;
	int64_t projects, messages, attachments, secrets_replaced, read_states_cleared;
	int64_t reservations_removed, links_removed, bodies_redacted;
	int64_t database_bytes, chunks;
	const char *manifest_sha256; /* NULL after a dry run */
};

/*
 * All data is read from one state of the database. The same mail of the same agents is the same
 * bytes, whenever and wherever it is exported: the only times are those of the mail. The directory
 * or file is renamed into place when it is complete: after an error nothing is left.
 * INVALID_ARGUMENT: `output` is not empty, or sizes are invalid. NOT_FOUND: a project. MR_ELIMIT:
 * too much for a ZIP file.
 */
MR_CHECK enum mr_code mr_team_share_export(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_share *request, struct mr_team_shared *out);
/* Every file against the manifest, and the manifest against the digest that export told, unless
 * that is NULL: the first that differs, is missing or is not listed is MR_EFORMAT. */
MR_CHECK enum mr_code mr_team_share_verify(struct mr_ctx *cx, const char *directory,
	const char *manifest_sha256, int64_t *files);
