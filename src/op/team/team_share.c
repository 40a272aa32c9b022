/* op/team/team_share.c - operations: a copy of a team's mail for others to read. */
#include "op/team/team_ops.h"
#include "team/share/share.h"

static const char *const presets[] = { "standard", "strict", NULL };
static const char *const alias_output[] = { "o", "out", NULL };
static const char *const alias_project[] = { "p", "projects", "project_key", NULL };
static const char *const alias_preset[] = { "scrub", NULL };

static const struct mr_param export_params[] = {
	{ .name = "output",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the directory to make; it may be there if it is empty",
		.aliases = alias_output },
	{ .name = "project",
		.type = MR_TYPE_TEXTS,
		.summary = "only these projects: path, slug, or last part of the path",
		.fallback = "all",
		.aliases = alias_project },
	{ .name = "scrub_preset",
		.type = MR_TYPE_TEXT,
		.summary =
			"standard replaces secrets; strict leaves out bodies and attachments too",
		.choices = presets,
		.fallback = "standard",
		.aliases = alias_preset },
	{ .name = "inline_threshold",
		.type = MR_TYPE_INT,
		.max = INT32_MAX,
		.summary = "attachments of at most so many bytes go into the page's data",
		.fallback = "65536" },
	{ .name = "detach_threshold",
		.type = MR_TYPE_INT,
		.max = INT32_MAX,
		.summary = "attachments of at least so many bytes are left out",
		.fallback = "26214400" },
	{ .name = "chunk_threshold",
		.type = MR_TYPE_INT,
		.max = INT64_MAX,
		.summary = "a larger database is there in pieces too",
		.fallback = "20971520" },
	{ .name = "chunk_size",
		.type = MR_TYPE_INT,
		.min = 1024,
		.max = 1 << 30,
		.summary = "bytes of a piece",
		.fallback = "4194304" },
	{ .name = "dry_run", .type = MR_TYPE_BOOL, .summary = "only count; nothing is written" },
	{ 0 },
};

static const struct mr_field export_fields[] = {
	{ .name = "output", .type = MR_TYPE_TEXT },
	{ .name = "dry_run", .type = MR_TYPE_BOOL },
	{ .name = "scrub_preset", .type = MR_TYPE_TEXT },
	{ .name = "projects", .type = MR_TYPE_INT },
	{ .name = "messages", .type = MR_TYPE_INT },
	{ .name = "attachments", .type = MR_TYPE_INT },
	{ .name = "secrets_replaced", .type = MR_TYPE_INT },
	{ .name = "read_states_cleared", .type = MR_TYPE_INT },
	{ .name = "file_reservations_removed", .type = MR_TYPE_INT },
	{ .name = "agent_links_removed", .type = MR_TYPE_INT },
	{ .name = "bodies_redacted", .type = MR_TYPE_INT },
	{ .name = "database_bytes", .type = MR_TYPE_INT },
	{ .name = "chunks", .type = MR_TYPE_INT },
	{ .name = "manifest_sha256",
		.type = MR_TYPE_TEXT,
		.flags = MR_NULLABLE,
		.summary = "tell it to whoever gets the copy; null after a dry run" },
	{ 0 },
};

static struct mr_team_share request_of(struct mr_call *call, const struct mr_args *in)
{
	struct mr_team_share request = mr_team_share_default(mr_args_text(in, "output"));

	request.projects = mr_args_texts(call->cx.arena, in, "project");
	if (mr_str_eq(mr_args_text(in, "scrub_preset"), "strict"))
		request.scrub = MR_TEAM_SCRUB_STRICT;
	request.inline_bytes = mr_args_int(in, "inline_threshold", request.inline_bytes);
	request.detach_bytes = mr_args_int(in, "detach_threshold", request.detach_bytes);
	request.chunk_threshold = mr_args_int(in, "chunk_threshold", request.chunk_threshold);
	request.chunk_bytes = mr_args_int(in, "chunk_size", request.chunk_bytes);
	request.dry_run = mr_args_bool(in, "dry_run", false);
	return request;
}

static void emit_export(struct mr_out *out, const struct mr_team_share *request,
	const struct mr_team_shared *shared)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "output", shared->output);
	mr_out_bool(out, "dry_run", request->dry_run);
	mr_out_text(out, "scrub_preset", presets[request->scrub]);
	mr_out_int(out, "projects", shared->projects);
	mr_out_int(out, "messages", shared->messages);
	mr_out_int(out, "attachments", shared->attachments);
	mr_out_int(out, "secrets_replaced", shared->secrets_replaced);
	mr_out_int(out, "read_states_cleared", shared->read_states_cleared);
	mr_out_int(out, "file_reservations_removed", shared->reservations_removed);
	mr_out_int(out, "agent_links_removed", shared->links_removed);
	mr_out_int(out, "bodies_redacted", shared->bodies_redacted);
	mr_out_int(out, "database_bytes", shared->database_bytes);
	mr_out_int(out, "chunks", shared->chunks);
	mr_out_text(out, "manifest_sha256", shared->manifest_sha256);
	mr_out_end(out);
}

static enum mr_code run_export(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_share request = request_of(call, in);
	struct mr_team_shared shared;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_share_export(&call->cx, team, &request, &shared);
	if (!rc)
		emit_export(out, &request, &shared);
	return rc;
}

const struct mr_op mr_op_team_share_export = {
	.name = "share_export",
	.command = "team share export",
	.summary = "Make a copy of the mail for others to read, without secrets",
	.help = "The copy is a directory of plain files: index.html opens from disk in a browser. "
		"Blind "
		"copies, leases, contacts and who has read what are left out. -o is short for "
		"--output, -p for --project.",
	.params = export_params,
	.result = export_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.run = run_export,
};

static const struct mr_param verify_params[] = {
	{ .name = "directory",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "an export" },
	{ .name = "manifest_sha256",
		.type = MR_TYPE_TEXT,
		.summary = "what its maker told you: then the manifest itself is checked too" },
	{ 0 },
};

static const struct mr_field verify_fields[] = {
	{ .name = "directory", .type = MR_TYPE_TEXT },
	{ .name = "ok", .type = MR_TYPE_BOOL },
	{ .name = "files", .type = MR_TYPE_INT, .summary = "that are as the manifest says" },
	{ .name = "manifest_checked",
		.type = MR_TYPE_BOOL,
		.summary = "against the digest that was given" },
	{ 0 },
};

static enum mr_code run_verify(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	const char *directory = mr_args_text(in, "directory");
	const char *sha256 = mr_args_text(in, "manifest_sha256");
	int64_t files = 0;
	enum mr_code rc = mr_team_share_verify(&call->cx, directory, sha256, &files);

	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_text(out, "directory", directory);
	mr_out_bool(out, "ok", true);
	mr_out_int(out, "files", files);
	mr_out_bool(out, "manifest_checked", sha256 != NULL);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_share_verify = {
	.name = "share_verify",
	.command = "team share verify",
	.summary = "Compare a copy with its manifest",
	.params = verify_params,
	.result = verify_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.run = run_verify,
};
