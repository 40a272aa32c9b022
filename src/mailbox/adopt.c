/* mailbox/adopt.c - plans how a root that was moved or copied becomes a root of its own. */
#include "mailbox/adopt.h"

#include "base/fs.h"
#include "mailbox/holder.h"
#include "mailbox/layout.h"
#include "mailbox/open.h"
#include "mailbox/registration_sql.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Where the root's own entry of the registration leads; NULL when it is no link. */
static const char *private_of(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_registration *row)
{
	const char *name = strrchr(row->entry_path, '/');
	const char *entry = mr_mailbox_layout_join(cx->arena, root->path,
		mr_mailbox_layout_entry(cx->arena, name ? name + 1 : row->entry_path));
	struct stat st;
	char *real;
	const char *path;

	if (lstat(entry, &st) != 0 || !S_ISLNK(st.st_mode))
		return NULL;
	real = realpath(entry, NULL);
	path = mr_arena_strdup(cx->arena, real);
	free(real);
	return path;
}

static enum mr_code add_private(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_registration *row, struct mr_mailbox_adopt_plan *plan)
{
	struct mr_mailbox_adopt_private *one = &plan->privates.items[plan->privates.len];

	if (row->kind != MR_MAILBOX_SYMLINK)
		return MR_OK;
	*one = (struct mr_mailbox_adopt_private){
		.address = row->address,
		.path = private_of(cx, root, row),
	};
	if (!one->path)
		return MR_OK;
	/* Older registrations of an address have the same entry. */
	for (size_t i = 0; i < plan->privates.len; i++) {
		if (mr_str_eq(plan->privates.items[i].path, one->path))
			return MR_OK;
	}
	plan->privates.len++;
	return mr_mailbox_holder_find(cx, root, one->path, &one->holder);
}

enum mr_code mr_mailbox_adopt_plan(struct mr_ctx *cx, const char *path,
	struct mr_mailbox_adopt_plan *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_db *index MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_mailbox_registrations rows = { NULL, 0 };
	struct mr_mailbox_adopt_plan plan = { .path = NULL };
	enum mr_code rc = mr_mailbox_root_open(cx, path, MR_MAILBOX_ROOT_READ, &root);

	if (!rc)
		rc = mr_mailbox_root_home(cx, &root, &plan.home);
	if (!rc)
		rc = mr_mailbox_root_index(cx, &root, true, &index);
	if (!rc)
		rc = mr_mailbox_registration_list(cx, index, NULL, &rows);
	if (rc)
		return rc;
	plan.path = root.path;
	plan.registration_count = rows.len;
	plan.privates.items = mr_arena_array(cx->arena, rows.len + 1, sizeof(*plan.privates.items));
	for (size_t i = 0; !rc && plan.home.recorded && i < rows.len; i++)
		rc = add_private(cx, &root, &rows.items[i], &plan);
	if (!rc)
		*out = plan;
	return rc;
}
