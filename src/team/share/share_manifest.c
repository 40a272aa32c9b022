/* team/share/share_manifest.c - writes README.txt and manifest.json of an export, and checks
 * that no secret is left. */
#include "team/share/share_private.h"
#include "text/digest.h"

enum { MANIFEST_BYTES = 256 << 20 };

enum mr_code mr_team_share_readme(struct mr_team_share_job *job)
{
	const char *text = mr_arena_printf(job->cx->arena,
		"A copy of a team's mail, made by mailroom " MR_VERSION
		"; the newest message is of %s.\n"
		"\n"
		"Open index.html in a browser: it works from disk and loads nothing from "
		"elsewhere.\n"
		"\n"
		"  index.html, viewer/   the page and its data\n"
		"  %-21s the messages as an SQLite database\n"
		"  attachments/          files that came with them\n"
		"  manifest.json         every file with its size and SHA-256\n"
		"\n"
		"%lld messages of %lld projects. Scrubbed (%s): who has read what, leases, "
		"contacts\n"
		"and blind copies are left out; %lld secrets were replaced by " MR_TEAM_REDACTED
		".\n"
		"\n"
		"To check that nothing was changed: mailroom team share verify DIRECTORY\n",
		mr_team_share_time(job), MR_TEAM_SHARE_DATABASE, (long long)job->out.messages,
		(long long)job->out.projects, mr_team_share_preset(job),
		(long long)job->out.secrets_replaced);

	return mr_team_share_put(job, "README.txt", mr_bytes_text(text));
}

/* The proof: nothing that was replaced stands in any byte of the file. */
static enum mr_code check_clean(struct mr_team_share_job *job, const char *path)
{
	struct mr_bytes bytes MR_CLEANUP(mr_team_share_unmap) = { 0 };
	enum mr_code rc = mr_team_share_map(job->cx, job->dir, path, &bytes);

	if (!rc && bytes.len && mr_team_secrets_stand_in(job->secrets, bytes))
		rc = mr_err_set(&job->cx->err, MR_EINTERNAL,
			"a secret that was replaced is still in %s: nothing is exported", path);
	return rc;
}

static void text(struct mr_json_writer *w, const char *key, const char *value)
{
	mr_json_key(w, key);
	mr_json_text(w, value);
}

static void number(struct mr_json_writer *w, const char *key, int64_t value)
{
	mr_json_key(w, key);
	mr_json_int(w, value);
}

static void map(struct mr_json_writer *w, const char *key)
{
	mr_json_key(w, key);
	mr_json_begin_map(w);
}

static void write_scope(struct mr_team_share_job *job, struct mr_json_writer *w)
{
	map(w, "project_scope");
	mr_json_key(w, "requested");
	mr_json_begin_list(w);
	for (size_t i = 0; i < job->request.projects.len; i++)
		mr_json_text(w,
			mr_team_share_scrub(job, job->cx->arena, job->request.projects.items[i]));
	mr_json_end(w);
	mr_json_key(w, "included");
	mr_json_begin_list(w);
	for (size_t i = 0; i < job->projects.len; i++) {
		mr_json_begin_map(w);
		text(w, "slug", job->projects.items[i].slug);
		text(w, "human_key",
			mr_team_share_scrub(job, job->cx->arena, job->projects.items[i].human_key));
		mr_json_end(w);
	}
	mr_json_end(w);
	number(w, "removed_count", job->project_total - (int64_t)job->projects.len);
	mr_json_end(w);
}

/* The counts that depend on the mail alone: who has read it since is not told either. */
static void write_scrub(const struct mr_team_share_job *job, struct mr_json_writer *w)
{
	map(w, "scrub");
	text(w, "preset", mr_team_share_preset(job));
	number(w, "secrets_replaced", job->out.secrets_replaced);
	number(w, "bodies_redacted", job->out.bodies_redacted);
	mr_json_end(w);
}

static void write_attachments(const struct mr_team_share_job *job, struct mr_json_writer *w)
{
	map(w, "attachments");
	map(w, "stats");
	number(w, "inline", job->inlined);
	number(w, "copied", job->copied);
	number(w, "bytes_copied", job->copied_bytes);
	number(w, "externalized", job->external);
	number(w, "missing", job->missing);
	mr_json_end(w);
	map(w, "config");
	number(w, "inline_threshold", job->request.inline_bytes);
	number(w, "detach_threshold", job->request.detach_bytes);
	mr_json_end(w);
	mr_json_end(w);
}

static enum mr_code write_files(struct mr_team_share_job *job, struct mr_json_writer *w)
{
	struct mr_texts files;
	enum mr_code rc = mr_team_share_files(job->cx, job->dir, &files);
	const char *sha256 = NULL, *database = NULL;

	mr_json_key(w, "files");
	mr_json_begin_list(w);
	for (size_t i = 0; !rc && i < files.len; i++) {
		int64_t bytes = 0;

		rc = check_clean(job, files.items[i]);
		if (!rc)
			rc = mr_team_share_hash(job->cx, job->dir, files.items[i], &sha256, &bytes);
		if (rc)
			break;
		if (mr_str_eq(files.items[i], MR_TEAM_SHARE_DATABASE))
			database = sha256;
		mr_json_begin_map(w);
		text(w, "path", files.items[i]);
		number(w, "bytes", bytes);
		text(w, "sha256", sha256);
		mr_json_end(w);
	}
	mr_json_end(w);
	map(w, "database");
	text(w, "path", MR_TEAM_SHARE_DATABASE);
	number(w, "size_bytes", job->out.database_bytes);
	text(w, "sha256", database);
	mr_json_key(w, "chunked");
	mr_json_bool(w, job->out.chunks > 0);
	text(w, "chunk_manifest", job->out.chunks > 0 ? MR_TEAM_SHARE_CHUNKS : NULL);
	mr_json_key(w, "fts_enabled");
	mr_json_bool(w, true);
	mr_json_end(w);
	return rc;
}

enum mr_code mr_team_share_manifest(struct mr_team_share_job *job)
{
	struct mr_arena *arena = job->cx->arena;
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer w;
	enum mr_code rc;

	mr_buf_init(&buf, MANIFEST_BYTES);
	mr_json_init(&w, &buf, MR_JSON_INDENTED);
	mr_json_begin_map(&w);
	text(&w, "schema_version", "0.1.0");
	text(&w, "generated_at", mr_team_share_time(job));
	text(&w, "exporter_version", "mailroom " MR_VERSION);
	write_scope(job, &w);
	write_scrub(job, &w);
	write_attachments(job, &w);
	rc = write_files(job, &w);
	mr_json_end(&w);
	mr_buf_putc(&buf, '\n');
	if (!rc)
		rc = mr_buf_check(&buf, MR_TEAM_SHARE_MANIFEST, &job->cx->err);
	if (!rc)
		rc = mr_team_share_put(job, MR_TEAM_SHARE_MANIFEST, mr_buf_bytes(&buf));
	if (!rc)
		rc = check_clean(job, MR_TEAM_SHARE_MANIFEST);
	if (!rc)
		job->out.manifest_sha256 = mr_digest_sha256(arena, mr_buf_bytes(&buf));
	return rc;
}
