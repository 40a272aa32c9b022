/* op/self/self_backup.c - operations: everything in one file, and that file put in place again. */
#include "app/locations.h"
#include "app/settings.h"
#include "app/settings_copy.h"
#include "base/fs.h"
#include "bridge/backup.h"
#include "bridge/restore.h"
#include "mailbox/root.h"
#include "op/call.h"
#include "op/contract.h"
#include "op/nouns.h"
#include "op/team/team_home.h"
#include "team/layout.h"
#include "text/database_url.h"
#include "workspace/frame.h"

#include <stdlib.h>
#include <unistd.h>

static const struct mr_field part_fields[] = {
	MR_FIELD(struct mr_backup_part, name, "name"),
	MR_FIELD(struct mr_backup_part, kind, "kind",
		.summary = "team, mailbox, private_mailbox, workspace or settings"),
	MR_FIELD(struct mr_backup_part, path, "path"),
	MR_FIELD(struct mr_backup_part, files, "files"),
	MR_FIELD(struct mr_backup_part, bytes, "bytes"),
	{ 0 },
};

/* --- backup --- */

struct wanted {
	const char *file;
	struct mr_texts mailboxes, workspaces;
	bool with_secrets;
};

static const struct mr_param backup_params[] = {
	MR_PARAM(struct wanted, file, "file", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the new file, a tar archive; it must not exist"),
	MR_PARAM(struct wanted, mailboxes, "mailbox",
		.summary = "a mailbox root besides that of the settings"),
	MR_PARAM(struct wanted, workspaces, "workspace",
		.summary = "an e-mail workspace besides that of the settings and the working "
			   "directory"),
	MR_PARAM(struct wanted, with_secrets, "with_secrets", .fallback = "false",
		.summary = "keep tokens and keys of your mailroom.yaml in its copy"),
	{ 0 },
};

static const struct mr_field backup_fields[] = {
	MR_FIELD(struct mr_backup_report, file, "file"),
	MR_FIELD(struct mr_backup_report, files, "files"),
	MR_FIELD(struct mr_backup_report, bytes, "bytes"),
	MR_FIELD_ROWS(struct mr_backup_report, parts, len, struct mr_backup_part, part_fields,
		"parts"),
	{ 0 },
};

static void add(struct mr_call *call, struct mr_texts *list, const char *path)
{
	char *real = realpath(path, NULL);
	const char *text = mr_arena_strdup(call->cx.arena,
		real ? real : mr_locations_absolute(call->cx.arena, path));

	free(real);
	if (!mr_texts_has(list, text))
		list->items[list->len++] = text;
}

static enum mr_code find_team(struct mr_call *call, struct mr_backup_sources *out)
{
	struct mr_team_config config;
	enum mr_code rc = mr_team_home_config(call, &config);

	if (rc)
		return rc;
	if (config.database && mr_database_url_is(config.database))
		return mr_err_set(&call->cx.err, MR_ECONFLICT,
			"the team's database is on a server: copy it with pg_dump, and run this with "
			"DATABASE_URL= for what is in files here");
	out->storage_root = mr_locations_absolute(call->cx.arena, config.storage_root);
	out->database = config.database
		? config.database
		: mr_arena_printf(call->cx.arena, "%s/" MR_TEAM_DATABASE_FILE, out->storage_root);
	return MR_OK;
}

static enum mr_code find_mailboxes(struct mr_call *call, const struct wanted *wanted,
	struct mr_backup_sources *out)
{
	struct mr_mailbox_status status = { 0 };
	const char *root;
	enum mr_code rc =
		mr_settings_path(call->app->settings, "mailbox.root", &root, &call->cx.err);

	if (!rc)
		rc = mr_mailbox_root_status(&call->cx, root, &status);
	if (rc)
		return rc;
	out->mailboxes.items = mr_arena_array(call->cx.arena, wanted->mailboxes.len + 1,
		sizeof(*out->mailboxes.items));
	if (status.exists && status.bootstrapped)
		add(call, &out->mailboxes, root);
	for (size_t i = 0; i < wanted->mailboxes.len; i++)
		add(call, &out->mailboxes, wanted->mailboxes.items[i]);
	return MR_OK;
}

static enum mr_code find_workspaces(struct mr_call *call, const struct wanted *wanted,
	struct mr_backup_sources *out)
{
	const char *named, *here = mr_locations_absolute(call->cx.arena, ".");
	const char *found;
	enum mr_code rc =
		mr_settings_path(call->app->settings, "workspace.root", &named, &call->cx.err);

	if (rc)
		return rc;
	out->workspaces.items = mr_arena_array(call->cx.arena, wanted->workspaces.len + 2,
		sizeof(*out->workspaces.items));
	if (*named)
		add(call, &out->workspaces, named);
	if (mr_work_find(&call->cx, here, &found) == MR_OK)
		add(call, &out->workspaces, found);
	call->cx.err = (struct mr_err){ 0 };
	for (size_t i = 0; i < wanted->workspaces.len; i++)
		add(call, &out->workspaces, wanted->workspaces.items[i]);
	return MR_OK;
}

static enum mr_code back_up(struct mr_call *call, const struct wanted *wanted,
	struct mr_backup_report *out)
{
	struct mr_backup_sources sources = { 0 };
	enum mr_code rc = find_team(call, &sources);

	if (!rc)
		rc = find_mailboxes(call, wanted, &sources);
	if (!rc)
		rc = find_workspaces(call, wanted, &sources);
	if (!rc)
		rc = mr_settings_copy(call->cx.arena, wanted->with_secrets, &sources.settings_path,
			&sources.settings, &call->cx.err);
	return rc ? rc : mr_backup_take(&call->cx, &sources, wanted->file, out);
}
MR_BIND_ALONE(backup, back_up, struct wanted, struct mr_backup_report);

const struct mr_op mr_op_backup = {
	.name = "backup",
	.command = "backup",
	.summary = "Write everything that Mailroom keeps into one file, while it is in use",
	.help = "Holds the team's database and archives, the mailbox root and the workspace that "
		"the settings name (and others that are named), and your mailroom.yaml without its "
		"secrets. Agents can send mail meanwhile. Not in it: sessions of agents, and what "
		"connect entered into other programs.",
	.params = backup_params,
	.result = backup_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &backup,
};

/* --- restore --- */

static const struct mr_param restore_params[] = {
	MR_PARAM(struct mr_restore_request, file, "file", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "what mailroom backup wrote"),
	MR_PARAM(struct mr_restore_request, check, "check", .fallback = "false",
		.summary = "only read it and compare all digests; nothing is written"),
	MR_PARAM(struct mr_restore_request, into, "into",
		.summary = "a directory for all parts, in place of where they were"),
	MR_PARAM(struct mr_restore_request, only, "only",
		.summary = "restore only the part of this name"),
	{ 0 },
};

static const struct mr_field restore_fields[] = {
	MR_FIELD(struct mr_restored, file, "file"),
	MR_FIELD(struct mr_restored, created_at, "created_at"),
	MR_FIELD(struct mr_restored, files, "files"),
	MR_FIELD(struct mr_restored, bytes, "bytes"),
	MR_FIELD_ROWS(struct mr_restored, parts, len, struct mr_backup_part, part_fields, "parts",
		.summary = "and where each is now"),
	{ 0 },
};

static enum mr_code put_back(struct mr_call *call, const struct mr_restore_request *asked,
	struct mr_restored *out)
{
	struct mr_restore_request request = *asked;

	if (request.into)
		request.into = mr_locations_absolute(call->cx.arena, request.into);
	return mr_restore(&call->cx, &request, out);
}
MR_BIND_ALONE(restore, put_back, struct mr_restore_request, struct mr_restored);

const struct mr_op mr_op_restore = {
	.name = "restore",
	.command = "restore",
	.summary = "Put a backup in place again, or check it",
	.help = "Every part goes to where it was, unless --into says otherwise, and nothing that is "
		"there is overwritten. All digests are compared before anything is written, and "
		"what was written is compared again before it gets its name. A mailbox root that "
		"was restored elsewhere is then adopted: mailroom mailbox adopt.",
	.params = restore_params,
	.result = restore_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &restore,
};
