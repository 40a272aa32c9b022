/* tests/unit/mailbox/test_mailbox_session.c - the manifest of a session, read and bound. */
#include "files.h"
#include "mailbox/session.h"
#include "post.h"
#include "test.h"

#include <string.h>
#include <sys/stat.h>

#define MAILBOX                                                                                    \
	"{\"transport\": \"filesystem\", \"principal_id\": \"HOUMAO-dora\", \"address\": "         \
	"\"dora@houmao.localhost\", \"filesystem_root\": \"/srv/m\", \"bindings_version\": \"v\"}"
#define MANIFEST(mailbox)                                                                            \
	"{\"schema_version\": 4, \"agent_name\": \"dora\", \"agent_id\": \"ab12\", \"tool\": "       \
	"\"claude\", \"backend\": \"claude_headless\", \"tmux_session_name\": \"s\", \"zebra\": "    \
	"[1.5, \"\\u00e9\"], \"runtime\": {\"session_id\": \"one\", "                                \
	"\"registry_generation_id\": \"g\"}, \"launch_plan\": {\"later\": {}, \"mailbox\": " mailbox \
	"}}"

static void a_manifest_is_read(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_session session;

	post_open(&post);
	files_put("manifest.json", MANIFEST(MAILBOX));
	CHECK_OK(mr_mailbox_session_read(&post.cx, "manifest.json", &session), post.cx.err);
	CHECK_STR(session.path, mr_arena_printf(post.cx.arena, "%s/manifest.json", post.dir));
	CHECK_STR(session.dir, post.dir);
	CHECK_STR(session.agent_name, "dora");
	CHECK_STR(session.agent_id, "ab12");
	CHECK_STR(session.tmux_session, "s");
	CHECK_STR(session.session_id, "one");
	CHECK_STR(session.generation_id, "g");
	CHECK_STR(session.binding.address, "dora@houmao.localhost");
	files_put("manifest.json", MANIFEST("null"));
	CHECK_OK(mr_mailbox_session_read(&post.cx, "manifest.json", &session), post.cx.err);
	CHECK_INT(session.binding.transport, MR_MAILBOX_UNBOUND);
}

static void trouble_is_told(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_session session;

	post_open(&post);
	CHECK_INT(mr_mailbox_session_read(&post.cx, "absent.json", &session), MR_ENOTFOUND);
	CHECK(strstr(post.cx.err.msg, "--agent-name"));
	files_put("half.json", "{\"schema_version\": 4, \"agent_na");
	CHECK_INT(mr_mailbox_session_read(&post.cx, "half.json", &session), MR_EFORMAT);
	files_put("list.json", "[]");
	CHECK_INT(mr_mailbox_session_read(&post.cx, "list.json", &session), MR_EFORMAT);
	files_put("other.json", "{\"name\": \"package\"}");
	CHECK_INT(mr_mailbox_session_read(&post.cx, "other.json", &session), MR_EFORMAT);
	CHECK(strstr(post.cx.err.msg, "it is not the manifest of a session"));
	files_put("bad.json", MANIFEST("{\"transport\": \"filesystem\"}"));
	CHECK_INT(mr_mailbox_session_read(&post.cx, "bad.json", &session), MR_EINVAL);
	CHECK(strstr(post.cx.err.msg, "$.launch_plan.mailbox.principal_id"));
	CHECK(!post.cx.err.issues);
}

/* Only launch_plan.mailbox changes, and the file looks as its owner writes it. */
static void a_binding_is_replaced(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_session session;
	struct mr_mailbox_binding binding = { MR_MAILBOX_UNBOUND };
	struct stat st;

	post_open(&post);
	files_put("manifest.json", MANIFEST(MAILBOX));
	CHECK_INT(chmod("manifest.json", 0640), 0);
	CHECK_OK(mr_mailbox_session_read(&post.cx, "manifest.json", &session), post.cx.err);
	CHECK_OK(mr_mailbox_session_bind(&post.cx, &session, &binding), post.cx.err);
	CHECK_INT(session.binding.transport, MR_MAILBOX_UNBOUND);
	files_hold("manifest.json",
		"{\n  \"agent_id\": \"ab12\",\n  \"agent_name\": \"dora\",\n  \"backend\": "
		"\"claude_headless\",\n  \"launch_plan\": {\n    \"later\": {},\n    \"mailbox\": "
		"null\n  },\n  \"runtime\": {\n    \"registry_generation_id\": \"g\",\n    "
		"\"session_id\": \"one\"\n  },\n  \"schema_version\": 4,\n  "
		"\"tmux_session_name\": \"s\",\n  \"tool\": \"claude\",\n  \"zebra\": [\n    "
		"1.5,\n    \"\\u00e9\"\n  ]\n}\n");
	CHECK_INT(stat("manifest.json", &st), 0);
	CHECK_INT(st.st_mode & 0777, 0640);
	binding = (struct mr_mailbox_binding){ MR_MAILBOX_FILESYSTEM, "HOUMAO-x",
		"x@houmao.localhost", "v2", "/srv/m", MR_MAILBOX_IN_ROOT,
		"/srv/m/mailboxes/x@houmao.localhost", NULL, NULL, NULL, NULL };
	CHECK_OK(mr_mailbox_session_bind(&post.cx, &session, &binding), post.cx.err);
	CHECK_OK(mr_mailbox_session_read(&post.cx, "manifest.json", &session), post.cx.err);
	CHECK_STR(session.binding.version, "v2");
	CHECK_STR(session.binding.path, "/srv/m/mailboxes/x@houmao.localhost");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_manifest_is_read),
		TEST(trouble_is_told),
		TEST(a_binding_is_replaced),
	};

	return test_main(tests, MR_LEN(tests));
}
