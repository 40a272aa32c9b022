/* tests/unit/mailbox/test_mailbox_credential.c - the files of passwords. */
#include "mailbox/credential.h"

#include "base/fs.h"
#include "files.h"
#include "post.h"
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REF "stalwart-a-at-b-0123456789abcdef"

static void only_their_owner_reads_them(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_credential got = { NULL };
	struct stat st;

	post_open(&post);
	CHECK_INT(mr_mailbox_credential_read(&post.cx, "secrets", REF, &got), MR_ENOTFOUND);
	CHECK(strstr(post.cx.err.msg, "there is no credential at secrets/" REF ".json"));
	CHECK_OK(mr_mailbox_credential_write(&post.cx, "secrets", REF, "a", "p\"w\xc3\xa9"),
		post.cx.err);
	CHECK_OK(mr_mailbox_credential_read(&post.cx, "secrets", REF, &got), post.cx.err);
	CHECK_STR(got.login, "a");
	CHECK_STR(got.password, "p\"w\xc3\xa9");
	CHECK_STR(got.file, "secrets/" REF ".json");
	CHECK_INT(stat("secrets/" REF ".json", &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	CHECK_INT(stat("secrets", &st), 0);
	CHECK_INT(st.st_mode & 0777, 0700);
	CHECK_INT(chmod("secrets/" REF ".json", 0640), 0);
	CHECK_INT(mr_mailbox_credential_read(&post.cx, "secrets", REF, &got), MR_EPERM);
	CHECK(strstr(post.cx.err.msg, "others than its owner can read it (mode 640)"));
}

static void what_is_none_is_refused(void)
{
	static const char *const names[] = { "", ".", "../x", "a/b", "a b", "\xc3\xa9" };
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_credential got;

	post_open(&post);
	for (size_t i = 0; i < MR_LEN(names); i++)
		CHECK_INT(mr_mailbox_credential_read(&post.cx, "secrets", names[i], &got),
			MR_EINVAL);
	CHECK_OK(mr_mailbox_credential_write(&post.cx, "secrets", REF, "a", "p"), post.cx.err);
	CHECK_INT(rename("secrets/" REF ".json", "secrets/other.json"), 0);
	CHECK_ERR(mr_mailbox_credential_read(&post.cx, "secrets", "other", &got), post.cx.err,
		MR_EFORMAT, "secrets/other.json holds another credential");
	files_put("secrets/other.json", "{\"credential_ref\": \"other\", \"password\": \" \"}");
	CHECK_INT(mr_mailbox_credential_read(&post.cx, "secrets", "other", &got), MR_EFORMAT);
	files_put("secrets/other.json", "{\"credential_ref\": \"oth");
	CHECK_INT(mr_mailbox_credential_read(&post.cx, "secrets", "other", &got), MR_EFORMAT);
}

static void sessions_have_copies(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	struct mr_mailbox_credential got;
	const char *session;

	post_open(&post);
	session = mr_arena_printf(post.cx.arena, "%s/run/sessions/claude/s1", post.dir);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, session, 0700, &post.cx.err), post.cx.err);
	CHECK_INT(mr_mailbox_credential_find(&post.cx, session, REF, &got), MR_ENOTFOUND);
	CHECK(strstr(post.cx.err.msg, "mailroom agents bind --transport stalwart"));
	CHECK_OK(mr_mailbox_credential_write(&post.cx, "run/mailbox-credentials/stalwart", REF, "a",
			 "p"),
		post.cx.err);
	CHECK_OK(mr_mailbox_credential_find(&post.cx, session, REF, &got), post.cx.err);
	CHECK_STR(got.file,
		mr_arena_printf(post.cx.arena, "%s/mailbox-secrets/" REF ".json", session));
	CHECK_INT(unlink("run/mailbox-credentials/stalwart/" REF ".json"), 0);
	CHECK_OK(mr_mailbox_credential_find(&post.cx, session, REF, &got), post.cx.err);
	CHECK_STR(got.password, "p");
}

static void new_passwords_are_long_and_differ(void)
{
	struct post post MR_CLEANUP(post_close) = { 0 };
	const char *one, *other;

	post_open(&post);
	one = mr_mailbox_credential_make(&post.cx);
	other = mr_mailbox_credential_make(&post.cx);
	CHECK_INT(strlen(one), 32);
	CHECK(strcmp(one, other) != 0);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(only_their_owner_reads_them),
		TEST(what_is_none_is_refused),
		TEST(sessions_have_copies),
		TEST(new_passwords_are_long_and_differ),
	};

	return test_main(tests, MR_LEN(tests));
}
