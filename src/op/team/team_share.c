/* op/team/team_share.c - operations: export a team's mail for others, and verify an export. */
#include "op/team/team_ops.h"
#include "team/share/share.h"

static const char *const presets[] = { MR_TEAM_SCRUB_STANDARD, MR_TEAM_SCRUB_STRICT, NULL };
static const char *const alias_output[] = { "o", "out", NULL };
static const char *const alias_project[] = { "p", "projects", "project_key", NULL };
static const char *const alias_preset[] = { "scrub", NULL };

static const struct mr_param export_params[] = {
	MR_PARAM(struct mr_team_share, output, "output", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the directory to make, which may be there if it is empty; or the file",
		.aliases = alias_output),
	MR_PARAM(struct mr_team_share, projects, "project",
		.summary = "only these projects: path, slug, or last part of the path",
		.fallback = "all", .aliases = alias_project),
	MR_PARAM(struct mr_team_share, scrub_preset, "scrub_preset",
		.summary =
			"standard replaces secrets; strict leaves out bodies and attachments too",
		.choices = presets, .fallback = "standard", .aliases = alias_preset),
	MR_PARAM(struct mr_team_share, inline_bytes, "inline_threshold", .max = INT32_MAX,
		.summary = "attachments of at most so many bytes go into the page's data",
		.fallback = "65536"),
	MR_PARAM(struct mr_team_share, detach_bytes, "detach_threshold", .max = INT32_MAX,
		.summary = "attachments of at least so many bytes are left out",
		.fallback = "26214400"),
	MR_PARAM(struct mr_team_share, chunk_threshold, "chunk_threshold", .max = INT64_MAX,
		.summary = "a larger database is there in pieces too", .fallback = "20971520"),
	MR_PARAM(struct mr_team_share, chunk_bytes, "chunk_size", .min = 1024, .max = 1 << 30,
		.summary = "bytes of a piece", .fallback = "4194304"),
	MR_PARAM(struct mr_team_share, zip, "zip",
		.summary = "make one ZIP file, which must not be there yet"),
	MR_PARAM(struct mr_team_share, dry_run, "dry_run",
		.summary = "only count; nothing is written"),
	{ 0 },
};

static const struct mr_field export_fields[] = {
	MR_FIELD(struct mr_team_shared, output, "output"),
	MR_FIELD(struct mr_team_shared, dry_run, "dry_run"),
	MR_FIELD(struct mr_team_shared, scrub_preset, "scrub_preset"),
	MR_FIELD(struct mr_team_shared, projects, "projects"),
	MR_FIELD(struct mr_team_shared, messages, "messages"),
	MR_FIELD(struct mr_team_shared, attachments, "attachments"),
	MR_FIELD(struct mr_team_shared, secrets_replaced, "secrets_replaced"),
	MR_FIELD(struct mr_team_shared, read_states_cleared, "read_states_cleared"),
	MR_FIELD(struct mr_team_shared, reservations_removed, "file_reservations_removed"),
	MR_FIELD(struct mr_team_shared, links_removed, "agent_links_removed"),
	MR_FIELD(struct mr_team_shared, bodies_redacted, "bodies_redacted"),
	MR_FIELD(struct mr_team_shared, database_bytes, "database_bytes"),
	MR_FIELD(struct mr_team_shared, chunks, "chunks"),
	MR_FIELD(struct mr_team_shared, manifest_sha256, "manifest_sha256", .flags = MR_NULLABLE,
		.summary = "tell it to whoever gets the copy; null after a dry run"),
	{ 0 },
};

MR_TEAM_BIND(share_export, mr_team_share_export, struct mr_team_share, struct mr_team_shared);

const struct mr_op mr_op_team_share_export = {
	.name = "share_export",
	.command = "team share export",
	.summary = "Make a copy of the mail for others to read, without secrets",
	.help = "The copy is a directory of plain files: index.html opens from disk in a browser. "
		"Blind "
		"copies, leases, contacts and who has read what are left out. The same mail makes "
		"the same bytes, with --zip as one file. -o is short for "
		"--output, -p for --project.",
	.params = export_params,
	.result = export_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &share_export,
};

struct verify {
	const char *directory, *manifest_sha256;
};

static const struct mr_param verify_params[] = {
	MR_PARAM(struct verify, directory, "directory", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "an export"),
	MR_PARAM(struct verify, manifest_sha256, "manifest_sha256",
		.summary =
			"the digest its maker gave you: then the manifest itself is checked, too"),
	{ 0 },
};

struct verified {
	const char *directory;
	bool ok;
	int64_t files;
	bool manifest_checked;
};

static const struct mr_field verify_fields[] = {
	MR_FIELD(struct verified, directory, "directory"),
	MR_FIELD(struct verified, ok, "ok"),
	MR_FIELD(struct verified, files, "files", .summary = "that are as the manifest says"),
	MR_FIELD(struct verified, manifest_checked, "manifest_checked",
		.summary = "against the digest that was given"),
	{ 0 },
};

static enum mr_code verify_export(struct mr_call *call, const struct verify *request,
	struct verified *out)
{
	*out = (struct verified){
		.directory = request->directory,
		.ok = true,
		.manifest_checked = request->manifest_sha256 != NULL,
	};
	return mr_team_share_verify(&call->cx, request->directory, request->manifest_sha256,
		&out->files);
}
MR_BIND_ALONE(run_verify, verify_export, struct verify, struct verified);

const struct mr_op mr_op_team_share_verify = {
	.name = "share_verify",
	.command = "team share verify",
	.summary = "Compare a copy with its manifest",
	.params = verify_params,
	.result = verify_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &run_verify,
};
