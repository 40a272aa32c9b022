/* mailbox/freeze.c - Holds all locks of a root. */
#include "mailbox/freeze.h"

#include "base/fs.h"
#include "mailbox/layout.h"
#include "mailbox/lock_all.h"
#include "mailbox/open.h"

#include <string.h>

struct mr_mailbox_freeze {
	struct mr_mailbox_root root;
	struct mr_mailbox_lock_all hold;
	struct mr_texts elsewhere;
};

static void find_elsewhere(struct mr_ctx *cx, struct mr_mailbox_freeze *freeze)
{
	const char *inside = mr_arena_printf(cx->arena, "%s/", freeze->root.path);
	const struct mr_mailbox_registrations *rows = &freeze->hold.rows;

	freeze->elsewhere.items =
		mr_arena_array(cx->arena, rows->len + 1, sizeof(*freeze->elsewhere.items));
	for (size_t i = 0; i < rows->len; i++) {
		const char *path = rows->items[i].path;

		if (!mr_str_starts(path, inside) && !mr_texts_has(&freeze->elsewhere, path) &&
			mr_fs_exists(AT_FDCWD, path))
			freeze->elsewhere.items[freeze->elsewhere.len++] = path;
	}
}

enum mr_code mr_mailbox_freeze_begin(struct mr_ctx *cx, const char *path,
	struct mr_mailbox_freeze **out)
{
	struct mr_mailbox_freeze *freeze MR_CLEANUP(mr_mailbox_freeze_endp) =
		mr_arena_alloc(cx->arena, sizeof(*freeze));
	enum mr_code rc;

	freeze->root = MR_MAILBOX_ROOT_INIT;
	freeze->hold = MR_MAILBOX_LOCK_ALL_INIT;
	rc = mr_mailbox_root_open(cx, path, MR_MAILBOX_ROOT_READ, &freeze->root);
	if (!rc)
		rc = mr_mailbox_lock_all_take(cx, &freeze->root, "backup", NULL, NULL, true,
			&freeze->hold);
	if (rc)
		return rc;
	find_elsewhere(cx, freeze);
	*out = freeze;
	freeze = NULL;
	return MR_OK;
}

const char *mr_mailbox_freeze_root(const struct mr_mailbox_freeze *freeze)
{
	return freeze->root.path;
}

struct mr_texts mr_mailbox_freeze_private(const struct mr_mailbox_freeze *freeze)
{
	return freeze->elsewhere;
}

bool mr_mailbox_freeze_has(const char *path)
{
	return !mr_str_starts(path, MR_MAILBOX_LOCKS "/") ||
		mr_str_eq(path, MR_MAILBOX_ADDRESS_LOCKS) || mr_str_eq(path, MR_MAILBOX_GUARDS);
}

void mr_mailbox_freeze_endp(struct mr_mailbox_freeze **freeze)
{
	if (!*freeze)
		return;
	mr_mailbox_lock_all_release(&(*freeze)->hold);
	mr_mailbox_root_close(&(*freeze)->root);
	*freeze = NULL;
}
