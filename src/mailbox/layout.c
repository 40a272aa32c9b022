/*
 * mailbox/layout.c - Builds and recognises the names of all files and directories below a mailbox
 * root.
 */
#include "mailbox/layout.h"

#include "base/err.h"
#include "base/str.h"
#include "text/address.h"

#include <stdint.h>
#include <string.h>

enum {
	DATE_BYTES = 10, /* YYYY-MM-DD */
	STASH_DIGITS = 32,
	STASH_BYTES = 2 + STASH_DIGITS,
};

const char *const mr_mailbox_boxes[] = { "inbox", "sent", "archive", "drafts", NULL };

const char *const mr_mailbox_scripts[] = {
	"register_mailbox",
	"deregister_mailbox",
	"deliver_message",
	"insert_standard_headers",
	"update_mailbox_state",
	"repair_index",
	NULL,
};

const char *const mr_mailbox_directories[] = {
	MR_MAILBOX_RULES,
	MR_MAILBOX_RULES_PROTOCOLS,
	MR_MAILBOX_RULES_SCRIPTS,
	MR_MAILBOX_RULES_SKILLS,
	MR_MAILBOX_LOCKS,
	MR_MAILBOX_ADDRESS_LOCKS,
	MR_MAILBOX_GUARDS,
	MR_MAILBOX_MESSAGES,
	"attachments",
	MR_MAILBOX_MANAGED,
	MR_MAILBOX_MAILBOXES,
	MR_MAILBOX_STAGING,
	MR_MAILBOX_INTENTS,
	MR_MAILBOX_TRASH,
	NULL,
};

const char *const mr_mailbox_own_directories[] = {
	MR_MAILBOX_ADDRESS_LOCKS,
	MR_MAILBOX_GUARDS,
	MR_MAILBOX_INTENTS,
	MR_MAILBOX_TRASH,
	NULL,
};

const char *mr_mailbox_layout_message(struct mr_arena *arena, const char *created_at_utc,
	const char *message_id)
{
	return mr_arena_printf(arena, MR_MAILBOX_MESSAGES "/%.*s/%s.md", DATE_BYTES, created_at_utc,
		message_id);
}

const char *mr_mailbox_layout_entry(struct mr_arena *arena, const char *address)
{
	return mr_arena_printf(arena, MR_MAILBOX_MAILBOXES "/%s", address);
}

const char *mr_mailbox_layout_stash(struct mr_arena *arena, const char *address, const char *suffix)
{
	return mr_arena_printf(arena, MR_MAILBOX_MAILBOXES "/%s--%s", address, suffix);
}

const char *mr_mailbox_layout_projection(struct mr_arena *arena, const char *box,
	const char *message_id)
{
	return mr_arena_printf(arena, "%s/%s.md", box, message_id);
}

const char *mr_mailbox_layout_script(struct mr_arena *arena, const char *name)
{
	return mr_arena_printf(arena, MR_MAILBOX_RULES_SCRIPTS "/%s.py", name);
}

const char *mr_mailbox_layout_lock(struct mr_arena *arena, const char *address)
{
	return mr_arena_printf(arena, MR_MAILBOX_ADDRESS_LOCKS "/%s.lock", address);
}

const char *mr_mailbox_layout_join(struct mr_arena *arena, const char *base, const char *path)
{
	return mr_arena_printf(arena, "%s%s%s", base, mr_str_ends(base, "/") ? "" : "/", path);
}

/* `path` without its last `count` parts, when `name` stands before them; else NULL. */
static const char *before(struct mr_arena *arena, const char *path, const char *name, int count)
{
	size_t len = strlen(path), name_len = strlen(name);

	for (; count > 0; count--) {
		while (len > 0 && path[len - 1] != '/')
			len--;
		if (len-- == 0)
			return NULL;
	}
	if (len <= name_len + 1 || path[len - name_len - 1] != '/' ||
		memcmp(path + len - name_len, name, name_len) != 0)
		return NULL;
	return mr_arena_strndup(arena, path, len - name_len - 1);
}

const char *mr_mailbox_layout_root_of_entry(struct mr_arena *arena, const char *entry_path)
{
	return before(arena, entry_path, MR_MAILBOX_MAILBOXES, 1);
}

const char *mr_mailbox_layout_root_of_message(struct mr_arena *arena, const char *path)
{
	return before(arena, path, MR_MAILBOX_MESSAGES, 2);
}

/* Exactly an address, without the white space that mr_address_parse() forgives. */
static bool is_address(struct mr_arena *arena, const char *text, const char **out)
{
	struct mr_address address = { .full = NULL };
	struct mr_err ignored;

	if (mr_address_parse(arena, text, &address, &ignored) || !mr_str_eq(address.full, text))
		return false;
	*out = address.full;
	return true;
}

enum mr_mailbox_entry_kind mr_mailbox_layout_entry_kind(struct mr_arena *arena, const char *name,
	const char **out_address)
{
	size_t len = strlen(name);

	if (len > STASH_BYTES && memcmp(name + len - STASH_BYTES, "--", 2) == 0 &&
		strspn(name + len - STASH_DIGITS, "0123456789abcdef") == STASH_DIGITS &&
		is_address(arena, mr_arena_strndup(arena, name, len - STASH_BYTES), out_address))
		return MR_MAILBOX_ENTRY_STASH;
	return is_address(arena, name, out_address) ? MR_MAILBOX_ENTRY_ADDRESS
						    : MR_MAILBOX_ENTRY_FOREIGN;
}
