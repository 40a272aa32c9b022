/* op/team/team_move.c - operation: moves the team's database to another place. */
#include "op/team/team_home.h"
#include "op/team/team_ops.h"
#include "team/move.h"

struct migrate {
	const char *to;
	bool cancel;
};

static const struct mr_param migrate_params[] = {
	MR_PARAM(struct migrate, to, "to", .flags = MR_CLI_ONLY,
		.summary = "where to: a path, sqlite:///path or a postgresql:// address"),
	MR_PARAM(struct migrate, cancel, "cancel",
		.summary =
			"give a move up, or take it back: the old database can be written again"),
	{ 0 },
};

struct migrated {
	bool is_cancelled, is_done;
	const char *next;
	struct mr_team_moved moved;
};

static const struct mr_field table_fields[] = {
	MR_FIELD(struct mr_team_moved_table, name, "name"),
	MR_FIELD(struct mr_team_moved_table, rows, "rows"),
	MR_FIELD(struct mr_team_moved_table, digest, "digest",
		.summary = "the same in both: the sum of the SHA-256 digests of its rows"),
	{ 0 },
};

static const struct mr_field migrated_fields[] = {
	MR_FIELD(struct migrated, moved.from, "from"),
	MR_FIELD(struct migrated, moved.to, "to"),
	MR_FIELD(struct migrated, is_cancelled, "cancelled"),
	MR_FIELD(struct migrated, moved.was_resumed, "resumed",
		.summary = "it went on where an interrupted one had ended"),
	MR_FIELD(struct migrated, moved.rows, "rows"),
	MR_FIELD(struct migrated, next, "next", .summary = "what to do now"),
	MR_FIELD_ROWS(struct migrated, moved.tables, moved.len, struct mr_team_moved_table,
		table_fields, "tables", .flags = MR_OPTIONAL,
		.when = MR_FLAG(struct migrated, is_done)),
	{ 0 },
};

static enum mr_code cancel(struct mr_call *call, const struct mr_team_config *config,
	struct migrated *out)
{
	enum mr_code rc = mr_dispatch_confirm(call,
		"The old database takes changes again. What is written there and what is in the new "
		"one will differ. Go on?");

	out->is_cancelled = true;
	out->next =
		"nothing: the old database is the team's again. What was copied is where it was";
	return rc ? rc : mr_team_move_cancel(&call->cx, config, &out->moved);
}

static enum mr_code migrate_database(struct mr_call *call, const struct migrate *request,
	struct migrated *out)
{
	struct mr_team_config config;
	const char *to = NULL;
	enum mr_code rc = mr_team_home_config(call, &config);

	if (!rc && request->cancel == !mr_str_is_empty(request->to))
		rc = mr_err_set(&call->cx.err, MR_EINVAL, "give either --to or --cancel");
	if (rc || request->cancel)
		return rc ? rc : cancel(call, &config, out);
	rc = mr_team_home_database(call, request->to, "--to", &to);
	if (!rc)
		rc = mr_dispatch_confirm(call,
			"The team's database is copied, and can only be read from now on. Go on?");
	if (!rc)
		rc = mr_team_move(&call->cx, &config, to, &out->moved);
	if (rc)
		return rc;
	out->is_done = true;
	out->next = mr_arena_printf(call->cx.arena,
		"name %s in database.url (DATABASE_URL), and start the servers again",
		out->moved.to);
	return MR_OK;
}
MR_BIND_ALONE(migrate, migrate_database, struct migrate, struct migrated);

const struct mr_op mr_op_team_migrate = {
	.name = "team_migrate",
	.command = "team migrate",
	.summary =
		"Move the database to another place: from a file to a PostgreSQL server, and back",
	.help = "The database in use is copied to the one that --to names, which must be empty. "
		"Meanwhile it can be read, and who writes to it is told where it goes. A move that was "
		"interrupted goes on when the same command is run again. At the end every row of both "
		"is read, and counts and digests are compared. The old database stays as it is, and "
		"can only be read; --cancel makes it the team's again. Archives stay in STORAGE_ROOT. "
		"A password in an address can be seen by others on this machine while the command "
		"runs: PGPASSWORD and ~/.pgpass keep it to yourself.",
	.params = migrate_params,
	.result = migrated_fields,
	.needs = MR_NEED_WRITE | MR_NEED_CONFIRM,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &migrate,
};
