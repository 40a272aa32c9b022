/* tests/unit/mailbox/test_mailbox_register_names.c - addresses, names and paths. */
#include "files.h"
#include "register_world.h"

#include <string.h>
#include <unistd.h>

/* The path of a private directory is resolved, as far as it is there. */
static void private_paths_are_resolved(void)
{
	static const char *const paths[] = { "private/new", "./private//new/", "link/new",
		"private/sub/../new" };
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request;

	world_open(&w);
	CHECK(mkdir("private", 0700) == 0 && mkdir("private/sub", 0700) == 0);
	CHECK(symlink("private", "link") == 0);
	for (size_t i = 0; i < MR_LEN(paths); i++) {
		struct mr_mailbox_register_result result;

		request = world_linked(&w, MR_MAILBOX_SAFE, "o", "");
		request.path = paths[i]; /* relative to the working directory */
		result = world_join(&w, request);
		CHECK_STR(world_row_of(&w, result.active_registration_id).path,
			world_at(&w, "private/new"));
		world_leave(&w, MR_MAILBOX_PURGE, A);
	}
	request.path = "private/none/../x";
	world_refuse(&w, request, MR_ENOTFOUND,
		"cannot resolve mailbox_path private/none/../x: No such file or directory");
	files_put("file", "");
	request.path = "file/x";
	world_refuse(&w, request, MR_ENOTFOUND,
		"cannot resolve mailbox_path file/x: Not a directory");
	request.path = "file";
	world_refuse(&w, request, MR_EEXISTS, "%s/file exists and is not a directory");
	request.path = NULL;
	world_refuse(&w, request, MR_EINVAL,
		"mailbox_path must name the private directory of a symlink registration");
}

static void in_root_means_the_entry(void)
{
	static const char *const good[] = { ENTRY, ENTRY "//", "./root/mailboxes/" A,
		"alias/mailboxes/" A, "root/../alias/mailboxes/" A };
	static const char *const bad[] = { "root/mailboxes/" B, "root/mailboxes", "/", A,
		"none/mailboxes/" A, "root/mailboxes/x/../" A };
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request = world_in_root(MR_MAILBOX_SAFE, "o");

	world_open(&w);
	CHECK(symlink("root", "alias") == 0);
	for (size_t i = 0; i < MR_LEN(bad); i++) {
		request.path = bad[i];
		world_refuse(&w, request, MR_EINVAL,
			mr_arena_printf(w.cx.arena,
				"in_root registration of " A " must use the shared mailbox path "
				"%s, not %s",
				world_at(&w, ENTRY), bad[i]));
	}
	for (size_t i = 0; i < MR_LEN(good); i++) {
		request.path = good[i];
		CHECK_INT(world_join(&w, request).reused_existing, i > 0);
	}
	request.path = world_at(&w, ENTRY);
	CHECK(world_join(&w, request).reused_existing);
	request.path = "  ";
	world_refuse(&w, request, MR_EINVAL, "mailbox_path must not be empty");
}

static void private_means_outside(void)
{
	static const char *const bad[] = { "root", "root/mailboxes/x", "root/new", "alias/new" };
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	CHECK(symlink("root", "alias") == 0);
	for (size_t i = 0; i < MR_LEN(bad); i++)
		for (size_t m = 0; m < WORLD_MODES; m++)
			world_refuse(&w, world_linked(&w, world_modes[m], "o", bad[i]), MR_EINVAL,
				mr_arena_printf(w.cx.arena,
					"the private directory %s%s must live outside the shared "
					"mailbox root %s",
					w.root.path, strchr(bad[i], '/') ? strchr(bad[i], '/') : "",
					w.root.path));
	/* A name that only begins the same is outside. */
	world_join(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "root2"));
}

static void names_are_checked(void)
{
	const struct {
		const char *address, *owner, *name, *message;
		enum mr_code code;
	} cases[] = {
		{ " ", "o", NULL, "address: must not be empty", MR_EINVAL },
		{ A, NULL, NULL, "owner_principal_id must not be empty", MR_EINVAL },
		{ A, " \t", NULL, "owner_principal_id must not be empty", MR_EINVAL },
		{ A, "o", "\xe3\x80\x80", "display_name must not be empty", MR_EINVAL },
		{ A, "o", "a\xff", "display_name is not UTF-8 at byte 1", MR_EINVAL },
	};
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request;
	char *much;

	world_open(&w);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		request = world_in_root(MR_MAILBOX_SAFE, cases[i].owner);
		request.address = cases[i].address;
		request.display_name = cases[i].name;
		world_refuse(&w, request, cases[i].code, cases[i].message);
	}
	request = world_in_root(MR_MAILBOX_SAFE, "o");
	request.manifest_path_hint = "";
	world_refuse(&w, request, MR_EINVAL, "manifest_path_hint must not be empty");
	request.manifest_path_hint = NULL;
	request.role = "";
	world_refuse(&w, request, MR_EINVAL, "role must not be empty");
	much = mr_arena_alloc(w.cx.arena, 4098);
	memset(much, 'x', 4097);
	request.role = much;
	world_refuse(&w, request, MR_ELIMIT, "role is longer than 4096 bytes");
}

/* What an address may be is tested in test_address.c; here, that it is asked. */
static void addresses_are_checked(void)
{
	static const char *const bad[] = { "a", "a b@c", "../x@c", "a@b/c", "a..b@c",
		"a@b--0123456789abcdef0123456789abcdef" };
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	for (size_t i = 0; i < MR_LEN(bad); i++) {
		struct mr_mailbox_register_request request = world_in_root(MR_MAILBOX_SAFE, "o");
		struct mr_mailbox_register_result result;

		request.address = bad[i];
		CHECK_INT(mr_mailbox_register(&w.cx, &w.root, &request, &result), MR_EINVAL);
		CHECK(mr_str_starts(w.cx.err.msg, "address: "));
		CHECK_INT(files_count("root/mailboxes"), 0);
	}
}

static void reserved_addresses_are_the_systems(void)
{
	static const struct {
		const char *address, *owner, *role;
		bool ok;
	} cases[] = {
		{ "HOUMAO-operator@houmao.localhost", "HOUMAO-operator", "system_operator", true },
		{ "HOUMAO-operator@houmao.localhost", "HOUMAO-operator", NULL, false },
		{ "HOUMAO-operator@houmao.localhost", "HOUMAO-operator", "operator", false },
		{ "HOUMAO-operator@houmao.localhost", "HOUMAO-x", "system_operator", false },
		{ "HOUMAO-x@houmao.localhost", "HOUMAO-operator", "system_operator", false },
		{ "HOUMAO-x@houmao.localhost", "HOUMAO-x", NULL, false },
		{ "HOUMAO-@houmao.localhost", "o", NULL, false },
		{ "HOUMAO-x@other.domain", "o", NULL, true },
		{ "HOUMAO-x@houmao.localhost.org", "o", NULL, true },
		{ "HOUMAO-x@HOUMAO.localhost", "o", NULL, true },
		{ "houmao-x@houmao.localhost", "o", NULL, true },
		{ "HOUMAO@houmao.localhost", "o", NULL, true },
		{ "xHOUMAO-@houmao.localhost", "o", NULL, true },
	};
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mailbox_register_request request =
			world_in_root(MR_MAILBOX_SAFE, cases[i].owner);
		struct mr_mailbox_register_result result;

		request.address = cases[i].address;
		request.role = cases[i].role;
		if (cases[i].ok)
			CHECK_OK(mr_mailbox_register(&w.cx, &w.root, &request, &result), w.cx.err);
		else
			world_refuse(&w, request, MR_EINVAL,
				mr_arena_printf(w.cx.arena,
					"%s is reserved: addresses HOUMAO-*@houmao.localhost "
					"belong to the system",
					cases[i].address));
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(private_paths_are_resolved),
		TEST(in_root_means_the_entry),
		TEST(private_means_outside),
		TEST(names_are_checked),
		TEST(addresses_are_checked),
		TEST(reserved_addresses_are_the_systems),
	};

	return test_main(tests, MR_LEN(tests));
}
