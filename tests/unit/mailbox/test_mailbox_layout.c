/* tests/unit/mailbox/test_mailbox_layout.c */
#include "base/str.h"
#include "mailbox/layout.h"
#include "test.h"
#include "text/address.h"

#include <limits.h>
#include <string.h>

#define HEX "0123456789abcdef0123456789abcdef"

static void names_every_place(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK_STR(mr_mailbox_layout_message(arena, "2026-03-11T04:15:00Z", "msg-1"),
		"messages/2026-03-11/msg-1.md");
	CHECK_STR(mr_mailbox_layout_entry(arena, "a@b"), "mailboxes/a@b");
	CHECK_STR(mr_mailbox_layout_stash(arena, "a@b", HEX), "mailboxes/a@b--" HEX);
	CHECK_STR(mr_mailbox_layout_projection(arena, "inbox", "msg-1"), "inbox/msg-1.md");
	CHECK_STR(mr_mailbox_layout_script(arena, "repair_index"), "rules/scripts/repair_index.py");
	CHECK_STR(mr_mailbox_layout_lock(arena, "a@b"), "locks/addresses/a@b.lock");
	CHECK_STR(mr_mailbox_layout_join(arena, "/base", "x/y"), "/base/x/y");
	CHECK_STR(mr_mailbox_layout_join(arena, "/", "x"), "/x");
}

static void tells_entries_apart(void)
{
	static const struct {
		const char *name;
		enum mr_mailbox_entry_kind kind;
		const char *address;
	} cases[] = {
		{ "a@b", MR_MAILBOX_ENTRY_ADDRESS, "a@b" },
		{ "HOUMAO-operator@houmao.localhost", MR_MAILBOX_ENTRY_ADDRESS,
			"HOUMAO-operator@houmao.localhost" },
		/* It is an address too, and yet a stash. */
		{ "a@b--" HEX, MR_MAILBOX_ENTRY_STASH, "a@b" },
		{ "a@b--" HEX "--" HEX, MR_MAILBOX_ENTRY_STASH, "a@b--" HEX },
		/* Not 32 digits, or not lower case: an address that looks odd. */
		{ "a@b--0123", MR_MAILBOX_ENTRY_ADDRESS, "a@b--0123" },
		{ "a@b--0123456789ABCDEF0123456789ABCDEF", MR_MAILBOX_ENTRY_ADDRESS,
			"a@b--0123456789ABCDEF0123456789ABCDEF" },
		{ "a@b-" HEX, MR_MAILBOX_ENTRY_ADDRESS, "a@b-" HEX },
		{ "--" HEX, MR_MAILBOX_ENTRY_FOREIGN, NULL },
		{ "x--" HEX, MR_MAILBOX_ENTRY_FOREIGN, NULL },
		{ ".DS_Store", MR_MAILBOX_ENTRY_FOREIGN, NULL },
		{ "notes.txt", MR_MAILBOX_ENTRY_FOREIGN, NULL },
		{ " a@b", MR_MAILBOX_ENTRY_FOREIGN, NULL },
		{ "a@b ", MR_MAILBOX_ENTRY_FOREIGN, NULL },
		{ "a@b..c", MR_MAILBOX_ENTRY_FOREIGN, NULL },
		{ "", MR_MAILBOX_ENTRY_FOREIGN, NULL },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const char *address = NULL;

		CHECK_INT(mr_mailbox_layout_entry_kind(arena, cases[i].name, &address),
			cases[i].kind);
		CHECK_STR(address, cases[i].address);
	}
}

/* The longest address still makes names a file can have. */
static void longest_names_fit(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	char address[MR_ADDRESS_BYTES + 1];
	const char *found = NULL;

	memset(address, 'x', sizeof(address) - 1);
	address[1] = '@';
	address[sizeof(address) - 1] = '\0';
	CHECK(strlen(mr_mailbox_layout_stash(arena, address, HEX)) - strlen("mailboxes/") <=
		NAME_MAX);
	CHECK(strlen(mr_mailbox_layout_lock(arena, address)) - strlen("locks/addresses/") <=
		NAME_MAX);
	CHECK_INT(mr_mailbox_layout_entry_kind(arena,
			  mr_mailbox_layout_stash(arena, address, HEX) + strlen("mailboxes/"),
			  &found),
		MR_MAILBOX_ENTRY_STASH);
	CHECK_STR(found, address);
}

/* mkdir in this order needs no -p. */
static void parents_come_first(void)
{
	for (size_t i = 0; mr_mailbox_directories[i]; i++) {
		const char *path = mr_mailbox_directories[i];
		const char *slash = strrchr(path, '/');
		bool found = !slash;

		for (size_t k = 0; slash && k < i; k++)
			found = found ||
				(strlen(mr_mailbox_directories[k]) == (size_t)(slash - path) &&
					mr_str_starts(path, mr_mailbox_directories[k]));
		CHECK(found);
	}
	for (size_t i = 0; mr_mailbox_own_directories[i]; i++) {
		bool found = false;

		for (size_t k = 0; mr_mailbox_directories[k]; k++)
			found = found ||
				mr_str_eq(mr_mailbox_own_directories[i], mr_mailbox_directories[k]);
		CHECK(found);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(names_every_place),
		TEST(tells_entries_apart),
		TEST(longest_names_fit),
		TEST(parents_come_first),
	};

	return test_main(tests, MR_LEN(tests));
}
