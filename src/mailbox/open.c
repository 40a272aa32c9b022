/* mailbox/open.c - opens a root, and finishes or undoes operations that a crash interrupted. */
#include "mailbox/open.h"

#include "base/fs.h"
#include "mailbox/deliver.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/register.h"
#include "mailbox/root_private.h"

static enum mr_code make_own(struct mr_ctx *cx, const struct mr_mailbox_root *root)
{
	for (const char *const *path = mr_mailbox_own_directories; *path; path++) {
		enum mr_code rc;

		if (mr_fs_exists(root->dir, *path))
			continue;
		rc = mr_fs_make_dirs(root->dir, *path, 0700, &cx->err);
		if (rc)
			return mr_err_wrap(&cx->err, "mailbox root %s", root->path);
	}
	return MR_OK;
}

/* Names that begin with a dot are intents being written, or leftovers of that. */
static enum mr_code has_intents(struct mr_ctx *cx, const struct mr_mailbox_root *root, bool *out)
{
	struct mr_texts names = { NULL, 0 };
	enum mr_code rc = mr_fs_list(cx->arena, root->dir, MR_MAILBOX_INTENTS, MR_MAILBOX_ENTRIES,
		&names, &cx->err);

	if (rc)
		return mr_err_wrap(&cx->err, "mailbox root %s", root->path);
	*out = false;
	for (size_t i = 0; i < names.len; i++)
		*out = *out || names.items[i][0] != '.';
	return MR_OK;
}

/* Most intents belong to living processes; the functions called here tell these from dead ones. */
enum mr_code mr_mailbox_root_recover(struct mr_ctx *cx, const struct mr_mailbox_root *root)
{
	bool found = false;
	size_t count;
	enum mr_code rc = has_intents(cx, root, &found);

	if (rc || !found)
		return rc;
	rc = mr_mailbox_register_recover(cx, root);
	if (!rc)
		rc = mr_mailbox_deliver_recover(cx, root, &count);
	return rc ? mr_err_wrap(&cx->err, "finishing what was interrupted") : MR_OK;
}

enum mr_code mr_mailbox_root_open(struct mr_ctx *cx, const char *path,
	enum mr_mailbox_root_for purpose, struct mr_mailbox_root *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	enum mr_code rc = mr_mailbox_root_find(cx, path, &root);

	if (!rc)
		rc = mr_mailbox_root_check_layout(cx, &root, false);
	if (!rc)
		rc = mr_mailbox_root_check_version(cx, &root, purpose);
	if (!rc && purpose != MR_MAILBOX_ROOT_REPAIR)
		rc = mr_mailbox_root_check_index(cx, &root);
	if (!rc && purpose == MR_MAILBOX_ROOT_WRITE)
		rc = mr_mailbox_root_check_home(cx, &root, MR_MAILBOX_LEND_LOOK);
	if (!rc && purpose != MR_MAILBOX_ROOT_READ)
		rc = make_own(cx, &root);
	if (!rc && purpose == MR_MAILBOX_ROOT_WRITE)
		rc = mr_mailbox_root_recover(cx, &root);
	if (rc)
		return rc;
	*out = root;
	root.dir = -1;
	return MR_OK;
}
