/* tests/unit/mailbox/test_mailbox_binding.c - what was declared becomes one resolved binding. */
#include "files.h"
#include "mailbox/binding.h"
#include "post.h"
#include "test.h"
#include "text/json.h"

static struct mr_mailbox_binding resolve(struct post *post, struct mr_mailbox_declared declared)
{
	struct mr_mailbox_binding binding;

	CHECK_OK(mr_mailbox_binding_resolve(&post->cx, &declared, NULL, &binding), post->cx.err);
	return binding;
}

static void refuse(struct post *post, struct mr_mailbox_declared declared, enum mr_code code,
	const char *text)
{
	struct mr_mailbox_binding binding;

	CHECK_ERR(mr_mailbox_binding_resolve(&post->cx, &declared, NULL, &binding), post->cx.err,
		code, text);
}

static void a_binding_is_derived_from_a_name(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_binding binding;

	post_open(&post);
	binding = resolve(&post,
		(struct mr_mailbox_declared){ .transport = "filesystem",
			.root = "root",
			.agent_name = "research" });
	CHECK_STR(binding.principal_id, "HOUMAO-research");
	CHECK_STR(binding.address, "research@houmao.localhost");
	CHECK_STR(binding.root, post.root.path);
	CHECK_INT(binding.kind, MR_MAILBOX_IN_ROOT);
	CHECK_STR(binding.path,
		mr_arena_printf(post.cx.arena, "%s/mailboxes/research@houmao.localhost",
			post.root.path));
	CHECK_STR(binding.version, "2026-03-11T04:15:00.000000Z");
	/* What is said wins over what could be derived, and a link has its own directory. */
	binding = resolve(&post,
		(struct mr_mailbox_declared){ .transport = "filesystem",
			.root = "root",
			.agent_name = "research",
			.principal_id = " somebody ",
			.address = " other@houmao.localhost ",
			.path = "/srv/private" });
	CHECK_STR(binding.principal_id, "somebody");
	CHECK_STR(binding.address, "other@houmao.localhost");
	CHECK_INT(binding.kind, MR_MAILBOX_SYMLINK);
	CHECK_STR(binding.path, "/srv/private");
	binding = resolve(&post, (struct mr_mailbox_declared){ .transport = "none" });
	CHECK_INT(binding.transport, MR_MAILBOX_UNBOUND);
	CHECK(!binding.address && !binding.version);
}

static void names_become_addresses(void)
{
	static const struct {
		const char *name, *principal, *address;
	} cases[] = {
		{ "research", "HOUMAO-research", "research@houmao.localhost" },
		{ "HOUMAO-research", "HOUMAO-research", "research@houmao.localhost" },
		{ "a b//", "HOUMAO-claude-lead", "claude-lead@houmao.localhost" },
		{ "my agent!", "HOUMAO-my agent!", "my-agent@houmao.localhost" },
		{ "__x--y__", "HOUMAO-__x--y__", "x-y@houmao.localhost" },
		{ "run/manifest.json", "HOUMAO-claude-lead", "claude-lead@houmao.localhost" },
		{ NULL, "HOUMAO-claude-lead", "claude-lead@houmao.localhost" },
	};
	struct post post MR_CLEANUP(post_close) = { 0 };
	const char *principal, *address;

	post_open(&post);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_OK(mr_mailbox_binding_identity(&post.cx, cases[i].name, "claude", "lead",
				 &principal, &address),
			post.cx.err);
		CHECK_STR(principal, cases[i].principal);
		CHECK_STR(address, cases[i].address);
	}
	CHECK_OK(mr_mailbox_binding_identity(&post.cx, "", NULL, NULL, &principal, &address),
		post.cx.err);
	CHECK_STR(address, "agent@houmao.localhost");
	CHECK_ERR(mr_mailbox_binding_identity(&post.cx, "HOUMAO-HOUMAO-x", NULL, NULL, &principal,
			  &address),
		post.cx.err, MR_EINVAL,
		"no address can be made of the name `HOUMAO-HOUMAO-x`: give --address");
}

static void what_cannot_be_is_refused(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };

	post_open(&post);
	refuse(&post, (struct mr_mailbox_declared){ .root = "root", .agent_name = "a" }, MR_EINVAL,
		"transport is required: filesystem, stalwart, or none for no mailbox");
	refuse(&post, (struct mr_mailbox_declared){ .transport = "smtp" }, MR_EINVAL,
		"transport must be filesystem, stalwart or none, not `smtp`");
	refuse(&post, (struct mr_mailbox_declared){ .transport = " " }, MR_EINVAL,
		"transport must not be blank");
	refuse(&post,
		(struct mr_mailbox_declared){ .transport = "filesystem",
			.root = "root",
			.address = "\t" },
		MR_EINVAL, "address must not be blank");
	refuse(&post,
		(struct mr_mailbox_declared){ .transport = "filesystem",
			.root = "root",
			.principal_id = "",
			.address = "a@b" },
		MR_EINVAL, "principal_id must not be blank");
	refuse(&post, (struct mr_mailbox_declared){ .transport = "filesystem", .root = "" },
		MR_EINVAL, "filesystem_root must not be blank");
	refuse(&post,
		(struct mr_mailbox_declared){ .transport = "filesystem",
			.root = "root",
			.agent_name = "a",
			.path = mr_arena_printf(post.cx.arena, "%s/x", post.root.path) },
		MR_EINVAL,
		mr_arena_printf(post.cx.arena, "mailbox_path must be outside the mailbox root %s",
			post.root.path));
	refuse(&post,
		(struct mr_mailbox_declared){ .transport = "filesystem",
			.root = "root",
			.agent_name = "operator" },
		MR_EINVAL,
		"the principal HOUMAO-operator is that of the person who operates the agents; give "
		"--principal-id");
	refuse(&post,
		(struct mr_mailbox_declared){ .transport = "stalwart",
			.agent_name = "a",
			.jmap_url = "https://h/jmap" },
		MR_EINVAL,
		"a mailbox on a JMAP server needs base_url, or both jmap_url and management_url");
	refuse(&post,
		(struct mr_mailbox_declared){ .transport = "stalwart",
			.agent_name = "a",
			.base_url = "mail.example.com" },
		MR_EINVAL,
		"base_url must be an address of http or https, such as https://mail.example.com");
	refuse(&post,
		(struct mr_mailbox_declared){ .transport = "stalwart",
			.agent_name = "a",
			.base_url = "https://a:secret@mail.example.com" },
		MR_EINVAL,
		"base_url must not hold a login or a password: it is stored for all to read");
}

static void accounts_on_a_server_have_derived_addresses(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_binding binding;

	post_open(&post);
	CHECK_OK(mr_mailbox_binding_resolve(&post.cx,
			 &(struct mr_mailbox_declared){ .transport = "stalwart",
				 .agent_name = "research",
				 .base_url = "https://mail.example.com/" },
			 NULL, &binding),
		post.cx.err);
	CHECK_STR(binding.principal_id, "HOUMAO-research");
	CHECK_STR(binding.address, "research@houmao.localhost");
	CHECK_STR(binding.jmap_url, "https://mail.example.com/jmap");
	CHECK_STR(binding.management_url, "https://mail.example.com/api");
	CHECK_STR(binding.login_identity, "research@houmao.localhost");
	/* printf 'https://mail.example.com/jmap\nresearch@houmao.localhost' | sha256sum */
	CHECK_STR(binding.credential_ref, "stalwart-research-at-houmao-localhost-92e134a00bbfae65");
	CHECK(!binding.root && !binding.path);
	CHECK_OK(mr_mailbox_binding_resolve(&post.cx,
			 &(struct mr_mailbox_declared){ .transport = "stalwart",
				 .address = "bob@example.com",
				 .principal_id = "HOUMAO-b",
				 .login = " bob ",
				 .base_url = "https://mail.example.com",
				 .jmap_url = "http://127.0.0.1:8080/jmap/session",
				 .management_url = "http://127.0.0.1:8080/manage" },
			 NULL, &binding),
		post.cx.err);
	CHECK_STR(binding.jmap_url, "http://127.0.0.1:8080/jmap/session");
	CHECK_STR(binding.management_url, "http://127.0.0.1:8080/manage");
	CHECK_STR(binding.login_identity, "bob");
}

static void every_change_has_a_version_of_its_own(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	const char *first, *second;

	post_open(&post);
	first = mr_mailbox_binding_version(&post.cx, NULL);
	second = mr_mailbox_binding_version(&post.cx, first);
	CHECK_STR(first, "2026-03-11T04:15:00.000000Z");
	CHECK_STR(second, "2026-03-11T04:15:00.000001Z");
}

/* What a manifest has, as text; the problems, or NULL when it was read. */
static const char *read_text(struct post *post, const char *text, struct mr_mailbox_binding *out)
{
	const struct mr_value *value = NULL;
	struct mr_issues issues;
	struct mr_cursor root;

	CHECK_OK(mr_json_parse(post->cx.arena, mr_bytes_text(text), NULL, &value, &post->cx.err),
		post->cx.err);
	mr_issues_init(&issues, post->cx.arena);
	root = mr_cursor_root(value, &issues);
	if (mr_mailbox_binding_read(post->cx.arena, &root, out))
		return NULL;
	mr_err_issues(&post->cx.err, &issues, "binding");
	return mr_arena_strdup(post->cx.arena, post->cx.err.msg);
}

#define FIVE                                                                                       \
	"\"transport\": \"filesystem\", \"principal_id\": \"HOUMAO-r\", \"address\": \"r@h\", "    \
	"\"filesystem_root\": \"/srv/m\", \"bindings_version\": \"2026-03-13T09:15:30.123456Z\""

static void a_persisted_binding_is_read_and_written(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_binding binding;
	struct mr_value value;

	post_open(&post);
	CHECK(!read_text(&post, "{" FIVE ", \"future\": 1}", &binding));
	CHECK_STR(binding.path, "/srv/m/mailboxes/r@h");
	value = mr_mailbox_binding_value(post.cx.arena, &binding, false);
	CHECK_INT(value.map.len, 7);
	CHECK_STR(mr_value_get(&value, "mailbox_kind")->text, "in_root");
	value = mr_mailbox_binding_value(post.cx.arena, &binding, true);
	CHECK_INT(value.map.len, 5);
	CHECK_STR(mr_value_get(&value, "filesystem_root")->text, "/srv/m");
	CHECK(!read_text(&post,
		"{" FIVE ", \"mailbox_kind\": \"symlink\", \"mailbox_path\": \"/srv/p\"}",
		&binding));
	CHECK_STR(binding.path, "/srv/p");
	CHECK(!read_text(&post,
		"{\"transport\": \"stalwart\", \"principal_id\": \"p\", \"address\": \"r@h\", "
		"\"jmap_url\": \"https://j\", \"management_url\": \"https://m\", "
		"\"login_identity\": \"l\", \"credential_ref\": \"c\", \"bindings_version\": "
		"\"v\", \"password\": \"hunter2\"}",
		&binding));
	/* A secret that somebody put there does not go further. */
	value = mr_mailbox_binding_value(post.cx.arena, &binding, false);
	CHECK(!mr_value_get(&value, "password"));
	CHECK_INT(value.map.len, 8);
	binding.transport = MR_MAILBOX_UNBOUND;
	CHECK_INT(mr_mailbox_binding_value(post.cx.arena, &binding, false).kind, MR_NULL);
}

static void a_broken_binding_names_its_fields(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_binding binding;

	post_open(&post);
	CHECK_STR(read_text(&post, "{\"transport\": \"pigeon\"}", &binding),
		"binding: $.transport: Input should be 'none', 'filesystem' or 'stalwart'");
	CHECK_STR(read_text(&post,
			  "{\"transport\": \"filesystem\", \"principal_id\": \" \", \"address\": "
			  "\"r@h\", \"filesystem_root\": \"m\", \"bindings_version\": \"v\"}",
			  &binding),
		"binding: $.principal_id: must not be empty; $.filesystem_root: must be an "
		"absolute path");
	CHECK_STR(read_text(&post, "{" FIVE ", \"mailbox_path\": \"/srv/m/x\"}", &binding),
		"binding: $.mailbox_path: must be /srv/m/mailboxes/r@h");
	CHECK_STR(read_text(&post, "{" FIVE ", \"mailbox_kind\": \"symlink\"}", &binding),
		"binding: $.mailbox_path: is required with mailbox_kind symlink");
	CHECK_STR(read_text(&post,
			  "{" FIVE
			  ", \"mailbox_kind\": \"symlink\", \"mailbox_path\": \"/srv/m/x\"}",
			  &binding),
		"binding: $.mailbox_path: must be outside the mailbox root");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_binding_is_derived_from_a_name),
		TEST(names_become_addresses),
		TEST(what_cannot_be_is_refused),
		TEST(accounts_on_a_server_have_derived_addresses),
		TEST(every_change_has_a_version_of_its_own),
		TEST(a_persisted_binding_is_read_and_written),
		TEST(a_broken_binding_names_its_fields),
	};

	return test_main(tests, MR_LEN(tests));
}
