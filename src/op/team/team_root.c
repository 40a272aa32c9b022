/* op/team/team_root.c - operations: a team's storage as a whole. */
#include "op/team/team_ops.h"
#include "team/archive/rebuild.h"

static const struct mr_field problem_fields[] = {
	{ .name = "kind", .type = MR_TYPE_TEXT },
	{ .name = "where", .type = MR_TYPE_TEXT },
	{ .name = "msg", .type = MR_TYPE_TEXT },
	{ 0 },
};

/* problem_count and problems. */
static void put_problems(struct mr_out *out, const struct mr_team_problem *problems, size_t len,
	size_t dropped)
{
	mr_out_int(out, "problem_count", (int64_t)(len + dropped));
	mr_out_list(out, "problems");
	for (size_t i = 0; i < len; i++) {
		mr_out_map(out, NULL);
		mr_out_text(out, "kind", problems[i].kind);
		mr_out_text(out, "where", problems[i].where);
		mr_out_text(out, "msg", problems[i].msg);
		mr_out_end(out);
	}
	mr_out_end(out);
}

static const struct mr_param no_params[] = { { 0 } };

static const struct mr_field check_fields[] = {
	{ .name = "ok", .type = MR_TYPE_BOOL, .summary = "no problem was found" },
	{ .name = "projects", .type = MR_TYPE_INT },
	{ .name = "agents", .type = MR_TYPE_INT },
	{ .name = "messages", .type = MR_TYPE_INT },
	{ .name = "reservations", .type = MR_TYPE_INT, .summary = "patterns that have a lease" },
	{ .name = "files", .type = MR_TYPE_INT, .summary = "of the archives, each compared" },
	{ .name = "problem_count", .type = MR_TYPE_INT },
	{ .name = "problems", .type = MR_TYPE_LIST, .fields = problem_fields },
	{ 0 },
};

static enum mr_code check(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team *team = NULL;
	struct mr_team_report report;
	enum mr_code rc = mr_team_home_open(call, &team);

	(void)in;
	if (!rc)
		rc = mr_team_check(&call->cx, team, &report);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_bool(out, "ok", report.len == 0);
	mr_out_int(out, "projects", report.projects);
	mr_out_int(out, "agents", report.agents);
	mr_out_int(out, "messages", report.messages);
	mr_out_int(out, "reservations", report.reservations);
	mr_out_int(out, "files", report.files);
	put_problems(out, report.problems, report.len, report.dropped);
	mr_out_end(out);
	call->exit_status = report.len > 0;
	return MR_OK;
}

const struct mr_op mr_op_team_check = {
	.name = "team_check",
	.command = "team check",
	.summary = "Compare the database with the archives",
	.help = "What is not archived yet is archived first; apart from that nothing is changed. "
		"Exits with 1 when there is a problem. Kinds of problems: database, search_index, "
		"queue, missing_file, wrong_file, unknown_file, missing_row, archive.",
	.params = no_params,
	.result = check_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.run = check,
};

static const char *const sources[] = { "archive", "database", NULL };

static const struct mr_param rebuild_params[] = {
	{ .name = "from",
		.type = MR_TYPE_TEXT,
		.summary = "what is right: archive makes a new database, database a new archive",
		.choices = sources,
		.fallback = "archive" },
	{ .name = "accept_loss",
		.type = MR_TYPE_INT,
		.summary = "go on although so many messages would be lost; more are refused",
		.fallback = "0",
		.min = 0,
		.max = INT64_MAX },
	{ 0 },
};

static const struct mr_field rebuild_fields[] = {
	{ .name = "from", .type = MR_TYPE_TEXT },
	{ .name = "moved_aside",
		.type = MR_TYPE_TEXT,
		.flags = MR_NULLABLE | MR_OPTIONAL,
		.summary = "where the old database is now" },
	{ .name = "projects", .type = MR_TYPE_INT, .flags = MR_OPTIONAL },
	{ .name = "agents", .type = MR_TYPE_INT, .flags = MR_OPTIONAL },
	{ .name = "messages", .type = MR_TYPE_INT, .flags = MR_OPTIONAL },
	{ .name = "recipients", .type = MR_TYPE_INT, .flags = MR_OPTIONAL },
	{ .name = "reservations", .type = MR_TYPE_INT, .flags = MR_OPTIONAL },
	{ .name = "links", .type = MR_TYPE_INT, .flags = MR_OPTIONAL },
	{ .name = "kept_state",
		.type = MR_TYPE_INT,
		.flags = MR_OPTIONAL,
		.summary = "read and acknowledged times taken over from the old database" },
	{ .name = "carried",
		.type = MR_TYPE_INT,
		.flags = MR_OPTIONAL,
		.summary = "messages that only the old database had" },
	{ .name = "lost",
		.type = MR_TYPE_INT,
		.flags = MR_OPTIONAL,
		.summary = "messages that neither has any more, as accepted" },
	{ .name = "complete",
		.type = MR_TYPE_BOOL,
		.flags = MR_OPTIONAL,
		.summary = "nothing is known to be missing" },
	{ .name = "archived",
		.type = MR_TYPE_INT,
		.flags = MR_OPTIONAL,
		.summary = "from the database: what was archived anew" },
	{ .name = "problem_count", .type = MR_TYPE_INT },
	{ .name = "problems", .type = MR_TYPE_LIST, .fields = problem_fields },
	{ 0 },
};

static void put_rebuilt(struct mr_out *out, const struct mr_team_rebuilt *rebuilt)
{
	mr_out_text(out, "moved_aside", rebuilt->moved_aside);
	mr_out_int(out, "projects", rebuilt->projects);
	mr_out_int(out, "agents", rebuilt->agents);
	mr_out_int(out, "messages", rebuilt->messages);
	mr_out_int(out, "recipients", rebuilt->recipients);
	mr_out_int(out, "reservations", rebuilt->reservations);
	mr_out_int(out, "links", rebuilt->links);
	mr_out_int(out, "kept_state", rebuilt->kept_state);
	mr_out_int(out, "carried", rebuilt->carried);
	mr_out_int(out, "lost", rebuilt->lost);
	mr_out_bool(out, "complete", rebuilt->is_complete);
}

/* The database must not be open here: it is replaced. */
static enum mr_code rebuild_database(struct mr_call *call, int64_t accept_loss,
	struct mr_team_rebuilt *out)
{
	struct mr_team_config config;
	enum mr_code rc = mr_team_home_config(call, &config);

	if (!rc)
		rc = mr_dispatch_confirm(call,
			"A new database is made from the archives, and takes the place of the old "
			"one, which is kept beside it. Go on?");
	return rc ? rc : mr_team_rebuild_database(&call->cx, &config, accept_loss, out);
}

static enum mr_code rebuild_archive(struct mr_call *call, int64_t *out)
{
	struct mr_team *team = NULL;
	enum mr_code rc = mr_dispatch_confirm(call,
		"Every file of the archives is written anew from the database. Go on?");

	if (!rc)
		rc = mr_team_home_open(call, &team);
	return rc ? rc : mr_team_rebuild_archive(&call->cx, team, out);
}

static enum mr_code rebuild(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	const char *from = mr_args_text(in, "from");
	struct mr_team_rebuilt rebuilt = { 0 };
	bool is_archive = !from || mr_str_eq(from, sources[0]);
	int64_t archived = 0;
	enum mr_code rc = is_archive
		? rebuild_database(call, mr_args_int(in, "accept_loss", 0), &rebuilt)
		: rebuild_archive(call, &archived);

	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_text(out, "from", is_archive ? sources[0] : sources[1]);
	if (is_archive)
		put_rebuilt(out, &rebuilt);
	else
		mr_out_int(out, "archived", archived);
	put_problems(out, rebuilt.problems, rebuilt.len, rebuilt.dropped);
	mr_out_end(out);
	/* What the caller accepted is no failure. */
	call->exit_status = is_archive && !rebuilt.is_complete && rebuilt.lost == 0;
	return MR_OK;
}

const struct mr_op mr_op_team_rebuild = {
	.name = "team_rebuild",
	.command = "team rebuild",
	.summary = "Make the database anew from the archives, or the archives from it",
	.help = "From the archive: messages with their ids, recipients, agents, leases, contacts "
		"and build slots come back from its commits. Whatever only the old database has "
		"(mail that was not archived yet, who had read what, products, keys) is taken over "
		"as far as it can be read; it stays beside the new one. A rebuild that would lose "
		"messages is refused, says which, and changes nothing, unless --accept-loss allows "
		"as many. Exits with 1 when an archive is damaged and it is not known what was in "
		"it. Nobody else may have the storage open.",
	.params = rebuild_params,
	.result = rebuild_fields,
	.needs = MR_NEED_WRITE | MR_NEED_CONFIRM,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.run = rebuild,
};
