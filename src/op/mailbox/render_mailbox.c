/* op/mailbox/render_mailbox.c - mailbox roots and their registrations on a terminal. */
#include "op/mailbox/render_mailbox.h"

#include "op/render_part.h"

#include <string.h>

static const char *root_of(struct mr_arena *arena, const struct mr_value *value)
{
	return mr_part_line(arena, value, "mailbox_root");
}

/* "no messages", "1 message", "3 messages". */
static const char *counted(struct mr_arena *arena, const struct mr_value *map, const char *key,
	const char *noun)
{
	int64_t count = mr_part_int(map, key);

	if (count == 0)
		return mr_arena_printf(arena, "no %ss", noun);
	return mr_arena_printf(arena, "%lld %s%s", (long long)count, noun, count == 1 ? "" : "s");
}

/* A path below the root without the root: the sentence above names that. */
static const char *below(struct mr_arena *arena, const struct mr_value *value, const char *path)
{
	const char *root = root_of(arena, value);
	size_t len = strlen(root);

	return len > 0 && strncmp(path, root, len) == 0 && path[len] == '/' ? path + len + 1 : path;
}

void mr_render_mailbox_init(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "The mailbox root %s is ready.\n", root_of(arena, value));
}

void mr_render_mailbox_status(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *counts = mr_value_get(value, "registration_counts");
	const char *root = root_of(arena, value);
	const char *error = mr_part_line(arena, value, "error");
	int64_t inactive, stashed;

	if (*error) {
		mr_part_styled(out, how, mr_style_red, error);
		mr_buf_putc(out, '\n');
	}
	if (!mr_part_bool(value, "structural_state_readable")) {
		if (!*error)
			mr_buf_printf(out,
				"There is no mailbox root at %s; `mailroom mailbox init` makes "
				"one.\n",
				root);
		return;
	}
	inactive = mr_part_int(counts, "inactive");
	stashed = mr_part_int(counts, "stashed");
	mr_buf_printf(out, "Mailbox root %s, protocol %lld: %s active", root,
		(long long)mr_part_int(value, "protocol_version"),
		counted(arena, counts, "active", "registration"));
	if (inactive)
		mr_buf_printf(out, ", %lld inactive", (long long)inactive);
	if (stashed)
		mr_buf_printf(out, ", %lld stashed", (long long)stashed);
	mr_buf_puts(out, ".\n");
}

/* Each with its path, and below that what there is to say about it. */
static void put_findings(struct mr_buf *out, const struct mr_value *value, const char *key,
	const char *count_key, const char *style, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, key);
	int64_t more;

	if (!list)
		return;
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];

		mr_buf_puts(out, "  ");
		mr_part_styled(out, how, style, mr_part_line(arena, one, "what"));
		mr_buf_printf(out, " %s\n      %s\n",
			below(arena, value, mr_part_line(arena, one, "path")),
			mr_part_line(arena, one, "detail"));
	}
	more = mr_part_int(value, count_key) - (int64_t)list->list.len;
	if (more > 0)
		mr_buf_printf(out, "  and %lld more\n", (long long)more);
}

static void put_warnings(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	if (!mr_part_int(value, "warning_count"))
		return;
	mr_buf_printf(out, "%s, which do%s no harm:\n",
		counted(arena, value, "warning_count", "warning"),
		mr_part_int(value, "warning_count") == 1 ? "es" : "");
	put_findings(out, value, "warnings", "warning_count", mr_style_yellow, how);
}

void mr_render_mailbox_checked(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *root = root_of(arena, value);

	if (mr_part_bool(value, "ok")) {
		mr_buf_printf(out, "The mailbox root %s is in order: %s, %s.\n", root,
			counted(arena, value, "message_count", "message"),
			counted(arena, value, "registration_count", "registration"));
	} else {
		mr_buf_printf(out,
			"The mailbox root %s has %s; `mailroom mailbox repair` corrects %s:\n",
			root, counted(arena, value, "problem_count", "problem"),
			mr_part_int(value, "problem_count") == 1 ? "it" : "them");
		put_findings(out, value, "problems", "problem_count", mr_style_red, how);
	}
	put_warnings(out, value, how);
}

static void put_staging(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *value)
{
	const struct mr_value *paths = mr_part_list(value, "staging_artifact_paths");
	bool removed = mr_str_eq(mr_part_line(arena, value, "staging_action"), "remove");

	if (!paths)
		return;
	mr_buf_printf(out, "%s left in staging/ %s %s:\n",
		counted(arena, value, "staging_artifact_count", "file"),
		paths->list.len == 1 ? "was" : "were", removed ? "deleted" : "put into quarantine");
	for (size_t i = 0; i < paths->list.len; i++)
		mr_buf_printf(out, "  %s\n",
			below(arena, value, mr_render_line(arena, paths->list.items[i].text)));
}

void mr_render_mailbox_repaired(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *backup = mr_part_line(arena, value, "backed_up_index_path");
	int64_t fresh = mr_part_int(value, "defaulted_state_count");

	mr_buf_printf(out, "The mailbox root %s is repaired: %s, %s, %s.\n", root_of(arena, value),
		counted(arena, value, "message_count", "message"),
		counted(arena, value, "projection_count", "link"),
		counted(arena, value, "registration_count", "registration"));
	if (fresh)
		mr_buf_printf(out, "%s had no state, and now %s that of new mail.\n",
			counted(arena, value, "defaulted_state_count", "message"),
			fresh == 1 ? "has" : "have");
	if (*backup)
		mr_buf_printf(out, "The old index could not be read; it is now %s.\n",
			below(arena, value, backup));
	put_staging(out, arena, value);
	if (mr_part_int(value, "problem_count")) {
		mr_buf_printf(out, "%s found:\n",
			counted(arena, value, "problem_count", "problem"));
		put_findings(out, value, "problems", "problem_count", mr_style_yellow, how);
	}
	put_warnings(out, value, how);
}

static void put_privates(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *value,
	bool is_done)
{
	const struct mr_value *list = mr_part_list(value, "private_directories");

	for (size_t i = 0; list && i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char *holder = mr_part_line(arena, one, "held_by");

		if (*holder)
			mr_buf_printf(out,
				"  %s: its private directory %s stays with the root %s; a mailbox "
				"inside this root, with the same mail and flags, %s its place\n",
				mr_part_line(arena, one, "address"),
				mr_part_line(arena, one, "path"), holder,
				is_done ? "took" : "takes");
		else
			mr_buf_printf(out, "  %s: its private directory %s comes along\n",
				mr_part_line(arena, one, "address"),
				mr_part_line(arena, one, "path"));
	}
}

void mr_render_mailbox_adopted(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *root = root_of(arena, value);
	bool is_copy = mr_str_eq(mr_part_line(arena, value, "situation"), "copied");
	bool is_done = mr_part_bool(value, "adopted");

	(void)how;
	if (!*mr_part_line(arena, value, "recorded_root")) {
		mr_buf_printf(out, "The mailbox root %s is a root of its own; nothing to do.\n",
			root);
		return;
	}
	mr_buf_printf(out, "The mailbox root %s was %s %s.\n", root,
		is_copy ? "copied from" : "moved here from",
		mr_part_line(arena, value, "recorded_root"));
	if (is_done)
		mr_buf_printf(out, "It is a root of its own now: %s, %s, %s.\n",
			counted(arena, value, "registration_count", "registration"),
			counted(arena, value, "message_count", "message"),
			counted(arena, value, "projection_count", "link"));
	else
		mr_buf_printf(out,
			"Adopting it makes the paths of %s, and all links, lead to itself%s.\n",
			counted(arena, value, "registration_count", "registration"),
			is_copy ? "; the original is not touched" : "");
	put_privates(out, arena, value, is_done);
}

void mr_render_mailbox_registered(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *address = mr_part_line(arena, value, "address");
	const char *owner = mr_part_line(arena, value, "owner_principal_id");
	const char *stash = mr_part_line(arena, value, "stashed_mailbox_path");

	(void)how;
	if (mr_part_bool(value, "reused_existing"))
		mr_buf_printf(out, "%s already has its mailbox, owned by %s.\n", address, owner);
	else
		mr_buf_printf(out, "%s has a mailbox now, owned by %s.\n", address, owner);
	if (*mr_part_line(arena, value, "replaced_registration_id"))
		mr_buf_puts(out, "The mailbox it had before is replaced.\n");
	if (*stash)
		mr_buf_printf(out, "The mailbox it had before is kept in %s.\n",
			below(arena, value, stash));
}

void mr_render_mailbox_unregistered(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *foreign = mr_part_list(value, "foreign_paths");
	const char *address = mr_part_line(arena, value, "address");

	(void)how;
	if (mr_str_eq(mr_part_line(arena, value, "mode"), "purge"))
		mr_buf_printf(out, "The mailbox of %s is deleted; messages stay.\n", address);
	else
		mr_buf_printf(out, "%s is inactive now; its mailbox is kept.\n", address);
	if (foreign)
		mr_buf_puts(out, "Deleted with it, although they were no mail:\n");
	for (size_t i = 0; foreign && i < foreign->list.len; i++)
		mr_buf_printf(out, "  %s\n", mr_render_line(arena, foreign->list.items[i].text));
}

static bool any_is_private(const struct mr_value *list)
{
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *kind = mr_value_get(&list->list.items[i], "mailbox_kind");

		if (kind && kind->kind == MR_TEXT && mr_str_eq(kind->text, "symlink"))
			return true;
	}
	return false;
}

void mr_render_mailbox_accounts(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	static const struct mr_grid_column columns[] = {
		{ .title = "address" },
		{ .title = "owner" },
		{ .title = "status", .fixed = true },
		{ .title = "registered", .fixed = true },
		{ .title = "private directory" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "accounts");
	const char **cells, **styles;
	size_t count;

	if (!list) {
		mr_buf_printf(out, "The mailbox root %s has no addresses.\n",
			root_of(arena, value));
		return;
	}
	count = MR_LEN(columns) - !any_is_private(list);
	cells = mr_arena_array(arena, list->list.len * count, sizeof(*cells));
	styles = mr_arena_array(arena, list->list.len, sizeof(*styles));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *row = &list->list.items[i];
		const char **cell = cells + i * count;
		bool is_private = mr_str_eq(mr_part_line(arena, row, "mailbox_kind"), "symlink");

		cell[0] = mr_part_line(arena, row, "address");
		cell[1] = mr_part_line(arena, row, "owner_principal_id");
		cell[2] = mr_part_line(arena, row, "status");
		cell[3] = mr_render_when(arena, row, "created_at_utc", how);
		if (count == MR_LEN(columns))
			cell[4] = is_private ? mr_part_line(arena, row, "mailbox_path") : "";
		styles[i] = mr_str_eq(cell[2], "active") ? NULL : mr_style_dim;
	}
	mr_part_grid(out, &(struct mr_grid){ columns, count, cells, styles, list->list.len }, list,
		how, 0);
}

static void put_head(struct mr_buf *out, const struct mr_render *how, const char *name,
	const char *text)
{
	enum { NAME_WIDTH = 12 };

	if (!*text || mr_str_eq(text, "-"))
		return;
	mr_part_styled(out, how, mr_style_dim, name);
	mr_buf_pad(out, ' ', NAME_WIDTH - strlen(name));
	mr_buf_printf(out, "%s\n", text);
}

void mr_render_mailbox_account(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *row = mr_value_get(value, "account");

	mr_part_styled(out, how, mr_style_bold, mr_part_line(arena, row, "address"));
	mr_buf_putc(out, '\n');
	put_head(out, how, "owner", mr_part_line(arena, row, "owner_principal_id"));
	put_head(out, how, "name", mr_part_line(arena, row, "display_name"));
	put_head(out, how, "role", mr_part_line(arena, row, "role"));
	put_head(out, how, "status", mr_part_line(arena, row, "status"));
	put_head(out, how, "mailbox", mr_part_line(arena, row, "mailbox_path"));
	put_head(out, how, "manifest", mr_part_line(arena, row, "manifest_path_hint"));
	put_head(out, how, "registered", mr_render_when(arena, row, "created_at_utc", how));
	put_head(out, how, "ended", mr_render_when(arena, row, "deactivated_at_utc", how));
	put_head(out, how, "id", mr_part_line(arena, row, "registration_id"));
	put_head(out, how, "replaced by", mr_part_line(arena, row, "replaced_by_registration_id"));
}
