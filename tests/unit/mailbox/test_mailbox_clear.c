#include "base/fs.h"
#include "files.h"
#include "mailbox/cleanup.h"
#include "mailbox/index_sql.h"
#include "mailbox/layout.h"
#include "post.h"
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct mr_mailbox_cleanup_result clear(struct post *post, const char *name, bool dry_run)
{
	struct mr_mailbox_cleanup_result result;
	const char *address = name ? post_address(post, name) : NULL;

	CHECK_OK(mr_mailbox_clear(&post->cx, &post->root, address, dry_run, &result), post->cx.err);
	CHECK_STR(result.scope_kind,
		name ? "mailbox_account_message_clear" : "mailbox_message_clear");
	CHECK_STR(result.address, address);
	CHECK(result.dry_run == dry_run);
	CHECK_INT(dry_run ? result.applied.len : result.planned.len, 0);
	return result;
}

static const char *join(struct post *post, const char *a, const char *b)
{
	return mr_mailbox_layout_join(post->cx.arena, a, b);
}

static const char *link_of(struct post *post, const char *mailbox, const char *box, const char *id)
{
	return join(post, mailbox, mr_mailbox_layout_projection(post->cx.arena, box, id));
}

static const char *document_of(struct post *post, const char *id)
{
	return join(post, "root",
		mr_mailbox_layout_message(post->cx.arena, "2026-03-11T04:15:00Z", id));
}

static void put_link(const char *target, const char *path)
{
	CHECK(symlink(target, path) == 0);
}

static bool is_there(const char *path)
{
	return mr_fs_exists(AT_FDCWD, path);
}

static void make_dir(struct post *post, const char *path)
{
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, path, 0700, &post->cx.err), post->cx.err);
}

/* No row of any message is left in the index. */
static void check_index_is_empty(struct post *post)
{
	static const char *const tables[] = { "messages", "message_recipients", "attachments",
		"message_attachments", "mailbox_projections", "mailbox_state", "thread_summaries" };

	for (size_t i = 0; i < MR_LEN(tables); i++)
		CHECK_INT(post_count(post, NULL,
				  mr_arena_printf(post->cx.arena, "SELECT COUNT(*) FROM %s",
					  tables[i])),
			0);
}

static void check_state_is_empty(struct post *post, const char *mailbox)
{
	CHECK_INT(post_count(post, mailbox, "SELECT COUNT(*) FROM message_state"), 0);
	CHECK_INT(post_count(post, mailbox, "SELECT COUNT(*) FROM thread_summaries"), 0);
}

struct mail {
	struct post post;
	const char *first;  /* alice to bob and carol, with a copy and a reference */
	const char *second; /* bob to alice */
	const char *third;  /* alice to alice */
};

/* alice and bob in the root, carol linked. */
static void open_mail(struct mail *mail)
{
	struct post *post = &mail->post;
	struct mr_mailbox_attachment attachments[2];

	post_open(post);
	post_account(post, "alice");
	post_account(post, "bob");
	post_register(post, "carol", NULL, MR_MAILBOX_SAFE, join(post, post->dir, "private"));
	make_dir(post, "root/attachments/managed/att-1");
	files_put("root/attachments/managed/att-1/notes.txt", "notes");
	files_put("outside.txt", "outside");
	attachments[0] = post_attachment(post, "att-1", MR_MAILBOX_MANAGED_COPY,
		join(post, post->root.path, "attachments/managed/att-1/notes.txt"));
	attachments[1] = post_attachment(post, "att-2", MR_MAILBOX_PATH_REF,
		join(post, post->dir, "outside.txt"));
	mail->first = post_send(post, "alice", "bob,carol",
		&(struct mr_mailbox_attachments){ attachments, 2 });
	mail->second = post_send(post, "bob", "alice", NULL);
	mail->third = post_send(post, "alice", "alice", NULL);
}

static void everything_goes(void)
{
	struct mr_mailbox_cleanup_result result;
	struct mail mail;
	struct post *post = &mail.post;
	const char *before;

	open_mail(&mail);
	before = post_tree(post, "root");
	result = clear(post, NULL, true);
	CHECK_STR(post_tree(post, "root"), before);
	CHECK_INT(post_has(&result.planned, "canonical_message", NULL), 3);
	CHECK_INT(post_has(&result.planned, "mailbox_projection", NULL), 7);
	CHECK_INT(post_has(&result.planned, "mailbox_local_state", NULL), 3);
	CHECK_INT(post_has(&result.planned, "managed_attachment", "notes.txt"), 1);
	CHECK_INT(result.planned.len, 14);
	CHECK_INT(result.blocked.len, 0);
	CHECK_INT(post_has(&result.preserved, "mailbox_registration", NULL), 4);
	CHECK_INT(post_has(&result.preserved, "path_ref_attachment", "/outside.txt"), 1);
	CHECK_INT(result.preserved.len, 5);
	CHECK_STR(result.preserved.items[0].proposed_action, "preserve");

	result = clear(post, NULL, false);
	CHECK_INT(result.applied.len, 14);
	CHECK_INT(result.blocked.len, 0);
	CHECK_INT(result.preserved.len, 5);
	CHECK_STR(result.applied.items[0].proposed_action, "remove");
	CHECK_STR(result.applied.items[0].reason, "the message is to be cleared");
	CHECK(result.applied.items[0].message_id);
	check_index_is_empty(post);
	check_state_is_empty(post, post_mailbox(post, "alice"));
	check_state_is_empty(post, post_mailbox(post, "bob"));
	check_state_is_empty(post, "private");
	CHECK_INT(files_count("root/messages"), 0);
	CHECK_INT(files_count("root/attachments/managed"), 0);
	CHECK_INT(files_count("private/inbox"), 0);
	CHECK_INT(files_count(join(post, post_mailbox(post, "alice"), "inbox")), 0);
	CHECK_INT(files_count(join(post, post_mailbox(post, "alice"), "sent")), 0);
	CHECK_INT(files_count("root/staging/.trash"), 0);
	files_hold("outside.txt", "outside");
	CHECK_INT(post_count(post, NULL, "SELECT COUNT(*) FROM mailbox_registrations"), 4);

	result = clear(post, NULL, false);
	CHECK_INT(result.applied.len, 0);
	CHECK_INT(result.blocked.len, 0);
	/* And it goes on. */
	post_send(post, "alice", "bob,carol", NULL);
	post_close(post);
}

/* What the index does not know goes as well, if it is mail. */
static void strays_go_too(void)
{
	struct mr_mailbox_cleanup_result result;
	struct mail mail;
	struct post *post = &mail.post;
	const char *alice;

	open_mail(&mail);
	alice = post_mailbox(post, "alice");
	make_dir(post, "root/messages/2020-01-01/deeper");
	make_dir(post, "root/messages/2021-01-01");
	files_put("root/messages/2020-01-01/deeper/stray.md", "stray");
	files_put("root/messages/2020-01-01/notes.txt", "not mail");
	make_dir(post, "root/attachments/managed/lost");
	files_put("root/attachments/managed/lost/file", "file");
	put_link("/nowhere", join(post, alice, "archive/stale.md"));
	put_link("/nowhere", join(post, alice, "archive/stale.txt"));
	files_put(join(post, alice, "archive/file.md"), "a file");
	make_dir(post, join(post, alice, "mine"));
	put_link("/nowhere", join(post, alice, "mine/other.md"));
	put_link(join(post, post->root.path, "messages/2026-03-11/x.md"),
		join(post, alice, "mine/x.md"));
	result = clear(post, NULL, false);
	CHECK_INT(result.blocked.len, 0);
	CHECK_INT(result.applied.len, 14 + 4);
	CHECK_INT(post_has(&result.applied, "canonical_message", "deeper/stray.md"), 1);
	CHECK_INT(post_has(&result.applied, "managed_attachment", "lost/file"), 1);
	CHECK_INT(post_has(&result.applied, "mailbox_projection", "archive/stale.md"), 1);
	CHECK_INT(post_has(&result.applied, "mailbox_projection", "mine/x.md"), 1);
	CHECK(strstr(post_actions(post, &result.applied), "the index does not know the document"));
	CHECK(strstr(post_actions(post, &result.applied), "the index does not know the link"));
	CHECK(strstr(post_actions(post, &result.applied), "the index does not know the copy"));
	files_hold("root/messages/2020-01-01/notes.txt", "not mail");
	CHECK_INT(files_count("root/messages"), 1);
	CHECK_INT(files_count("root/messages/2020-01-01"), 1);
	CHECK_INT(files_count("root/attachments/managed"), 0);
	CHECK_INT(files_count(join(post, alice, "archive")), 2);
	CHECK_INT(files_count(join(post, alice, "mine")), 1);
	post_close(post);
}

/* A recorded projection in a box the owner made. */
static void other_boxes_are_emptied(void)
{
	struct mr_mailbox_cleanup_result result;
	struct mail mail;
	struct post *post = &mail.post;
	const char *from, *to;

	open_mail(&mail);
	from = link_of(post, post_mailbox(post, "alice"), "inbox", mail.second);
	to = link_of(post, post_mailbox(post, "alice"), "later", mail.second);
	make_dir(post, join(post, post_mailbox(post, "alice"), "later"));
	CHECK(rename(from, to) == 0);
	post_exec(post, NULL,
		mr_arena_printf(post->cx.arena,
			"UPDATE mailbox_projections SET folder_name = 'later', projection_path ="
			" replace(projection_path, '/inbox/', '/later/')"
			" WHERE message_id = '%s' AND folder_name = 'inbox'",
			mail.second));
	result = clear(post, "alice", false);
	CHECK_INT(result.blocked.len, 0);
	CHECK(!is_there(to));
	post_close(post);
}

static void what_is_elsewhere_is_blocked(void)
{
	struct mr_mailbox_cleanup_result result;
	struct mail mail;
	struct post *post = &mail.post;
	const char *file, *actions;

	open_mail(&mail);
	/* Everything the index says about paths may be wrong. */
	files_put("elsewhere.md", "mine");
	make_dir(post, "private/inbox/deep");
	post_exec(post, NULL,
		mr_arena_printf(post->cx.arena,
			"UPDATE messages SET canonical_path = '%s/elsewhere.md' WHERE message_id = "
			"'%s'",
			post->dir, mail.second));
	post_exec(post, NULL,
		mr_arena_printf(post->cx.arena,
			"UPDATE mailbox_projections SET projection_path = '%s/elsewhere.md' WHERE "
			"message_id = '%s' AND folder_name = 'inbox'",
			post->dir, mail.second));
	post_exec(post, NULL,
		mr_arena_printf(post->cx.arena,
			"UPDATE attachments SET locator = '%s/outside.txt' WHERE kind = "
			"'managed_copy'",
			post->dir));
	post_exec(post, NULL,
		"INSERT INTO attachments VALUES ('att-3', 'hologram', '/x', 'a/b', NULL, NULL, "
		"NULL)");
	/* A file where a link should be. */
	file = link_of(post, "private", "inbox", mail.first);
	CHECK(unlink(file) == 0);
	files_put(file, "edited in place");
	result = clear(post, NULL, false);
	actions = post_actions(post, &result.blocked);
	CHECK(strstr(actions, "the document is not in this root's messages directory"));
	CHECK(strstr(actions, "the projection is not in the registration's directory"));
	CHECK(strstr(actions, "the copy is not in this root's directory of managed attachments"));
	CHECK(strstr(actions, "a file stands where a link to the message should be"));
	CHECK(strstr(actions, "attachments of this kind are not known"));
	CHECK_INT(result.blocked.len, 5);
	CHECK_INT(post_has(&result.blocked, "canonical_message", "elsewhere.md"), 1);
	CHECK_INT(post_has(&result.blocked, "mailbox_projection", "elsewhere.md"), 1);
	CHECK_INT(post_has(&result.blocked, "managed_attachment", "outside.txt"), 1);
	CHECK_INT(post_has(&result.blocked, "attachment", "/x"), 1);
	files_hold("elsewhere.md", "mine");
	files_hold("outside.txt", "outside");
	files_hold(file, "edited in place");
	check_index_is_empty(post);
	/* The document that the row no longer named was a stray, and the copy too. */
	CHECK_INT(files_count("root/messages"), 0);
	CHECK_INT(files_count("root/attachments/managed"), 0);
	post_close(post);
}

static void what_is_missing_leaves_its_row(void)
{
	struct mr_mailbox_cleanup_result result;
	struct mail mail;
	struct post *post = &mail.post;
	const char *actions;

	open_mail(&mail);
	CHECK(unlink(document_of(post, mail.first)) == 0);
	CHECK(unlink(link_of(post, "private", "inbox", mail.first)) == 0);
	CHECK(unlink("root/attachments/managed/att-1/notes.txt") == 0);
	result = clear(post, NULL, false);
	actions = post_actions(post, &result.applied);
	CHECK(strstr(actions, "the document is missing; only its row is left"));
	CHECK(strstr(actions, "the link is missing; only its row is left"));
	CHECK(strstr(actions, "the copy is missing; only its row is left"));
	CHECK_INT(result.applied.len, 14);
	check_index_is_empty(post);
	post_close(post);
}

/* Nothing is removed through a link. */
static void links_are_not_followed(void)
{
	struct mr_mailbox_cleanup_result result;
	struct mail mail;
	struct post *post = &mail.post;

	open_mail(&mail);
	CHECK(rename("root/messages/2026-03-11", "documents") == 0);
	put_link("../../documents", "root/messages/2026-03-11");
	CHECK(rename("root/attachments/managed/att-1", "copies") == 0);
	put_link("../../../copies", "root/attachments/managed/att-1");
	CHECK(rename("private/inbox", "hidden") == 0);
	put_link("../hidden", "private/inbox");
	result = clear(post, NULL, false);
	CHECK_INT(post_has(&result.blocked, "canonical_message", NULL), 3);
	CHECK_STR(result.blocked.items[0].reason, "the document's directory is a link");
	CHECK_INT(post_has(&result.blocked, "managed_attachment", NULL), 1);
	CHECK_INT(post_has(&result.blocked, "mailbox_projection", NULL), 1);
	CHECK_INT(files_count("documents"), 3);
	CHECK_INT(files_count("copies"), 1);
	CHECK_INT(files_count("hidden"), 1);
	post_close(post);
}

static void a_bad_state_file_stops_nobody(void)
{
	struct mr_mailbox_cleanup_result result;
	struct mail mail;
	struct post *post = &mail.post;

	open_mail(&mail);
	files_put("private/mailbox.sqlite", "this is certainly no database, but a sentence");
	CHECK(rename(join(post, post_mailbox(post, "bob"), "mailbox.sqlite"), "bob.sqlite") == 0);
	put_link(join(post, post->dir, "bob.sqlite"),
		join(post, post_mailbox(post, "bob"), "mailbox.sqlite"));
	result = clear(post, NULL, false);
	CHECK_INT(post_has(&result.blocked, "mailbox_local_state", NULL), 2);
	CHECK_INT(result.blocked.len, 2);
	CHECK(strstr(post_actions(post, &result.blocked), "is not a usable database"));
	CHECK(strstr(post_actions(post, &result.blocked), "it is not a regular file"));
	check_index_is_empty(post);
	check_state_is_empty(post, post_mailbox(post, "alice"));
	post_close(post);
}

static void a_failed_commit_puts_everything_back(void)
{
	static const char *const accounts[] = { NULL, "alice" };
	struct mail mail;
	struct post *post = &mail.post;
	const char *before;

	open_mail(&mail);
	post_exec(post, NULL,
		"CREATE TRIGGER no BEFORE DELETE ON messages BEGIN"
		" SELECT RAISE(ABORT, 'not today'); END");
	before = post_tree(post, "root");
	for (size_t i = 0; i < MR_LEN(accounts); i++) {
		struct mr_mailbox_cleanup_result result;

		CHECK_INT(mr_mailbox_clear(&post->cx, &post->root,
				  accounts[i] ? post_address(post, accounts[i]) : NULL, false,
				  &result),
			MR_ECONFLICT);
		CHECK(strstr(post->cx.err.msg, "not today"));
		CHECK_STR(post_tree(post, "root"), before);
		CHECK_INT(post_count(post, NULL, "SELECT COUNT(*) FROM messages"), 3);
		CHECK_INT(post_count(post, NULL, "SELECT COUNT(*) FROM mailbox_projections"), 7);
	}
	post_close(post);
}

static void an_account_must_be_active(void)
{
	struct mr_mailbox_cleanup_result result;
	struct post post;

	post_open(&post);
	CHECK_ERR(mr_mailbox_clear(&post.cx, &post.root, "x@houmao.localhost", true, &result),
		post.cx.err, MR_ENOTFOUND,
		"no active mailbox registration exists for x@houmao.localhost");
	post_account(&post, "x");
	post_unregister(&post, "x", MR_MAILBOX_DEACTIVATE);
	CHECK_INT(mr_mailbox_clear(&post.cx, &post.root, "x@houmao.localhost", false, &result),
		MR_ENOTFOUND);
	post_close(&post);
}

static void an_account_loses_only_its_own(void)
{
	struct mr_mailbox_cleanup_result result;
	struct mail mail;
	struct post *post = &mail.post;
	const char *alice, *before;

	open_mail(&mail);
	alice = post_mailbox(post, "alice");
	put_link("/nowhere", join(post, alice, "archive/stale.md"));
	before = post_tree(post, "root");
	result = clear(post, "alice", true);
	CHECK_STR(post_tree(post, "root"), before);
	CHECK_INT(result.planned.len, 7);

	result = clear(post, "alice", false);
	/* The third was hers alone; her copies of the others, and what she did with them. */
	CHECK_INT(post_has(&result.applied, "canonical_message", NULL), 1);
	CHECK_STR(result.applied.items[0].message_id, mail.third);
	CHECK_INT(post_has(&result.applied, "mailbox_projection", NULL), 5);
	CHECK_INT(post_has(&result.applied, "mailbox_local_state", NULL), 1);
	CHECK_INT(result.applied.len, 7);
	CHECK_INT(result.blocked.len, 0);
	CHECK_INT(post_has(&result.preserved, "canonical_message", NULL), 2);
	CHECK(strstr(post_actions(post, &result.preserved),
		"another registration still has the message"));
	CHECK_INT(post_has(&result.preserved, "mailbox_registration", NULL), 4);
	CHECK(is_there(document_of(post, mail.first)) && is_there(document_of(post, mail.second)));
	CHECK(!is_there(document_of(post, mail.third)));
	CHECK_INT(files_count(join(post, alice, "inbox")), 0);
	CHECK_INT(files_count(join(post, alice, "sent")), 0);
	CHECK_INT(files_count(join(post, alice, "archive")), 0);
	check_state_is_empty(post, alice);
	CHECK(is_there(link_of(post, "private", "inbox", mail.first)));
	CHECK(is_there(link_of(post, post_mailbox(post, "bob"), "sent", mail.second)));
	CHECK_INT(post_count(post, NULL, "SELECT COUNT(*) FROM messages"), 2);
	CHECK_INT(post_count(post, NULL, "SELECT COUNT(*) FROM message_recipients"), 3);
	CHECK_INT(post_count(post, NULL, "SELECT COUNT(*) FROM thread_summaries"), 2);
	CHECK_INT(post_count(post, NULL, "SELECT COUNT(*) FROM mailbox_projections"), 3);
	CHECK_INT(post_count(post, NULL, "SELECT COUNT(*) FROM attachments"), 2);
	CHECK(is_there("root/attachments/managed/att-1/notes.txt"));
	CHECK_INT(post_count(post, post_mailbox(post, "bob"), "SELECT COUNT(*) FROM message_state"),
		2);
	CHECK_INT(clear(post, "alice", false).applied.len, 0);

	/* Bob is the last with the second, carol with the first and its attachments. */
	result = clear(post, "bob", false);
	CHECK_INT(post_has(&result.applied, "canonical_message", NULL), 1);
	result = clear(post, "carol", false);
	CHECK_INT(post_has(&result.applied, "canonical_message", NULL), 1);
	CHECK_INT(post_has(&result.applied, "managed_attachment", "notes.txt"), 1);
	CHECK_INT(post_has(&result.preserved, "path_ref_attachment", "outside.txt"), 1);
	check_index_is_empty(post);
	CHECK_INT(files_count("root/messages"), 0);
	CHECK_INT(files_count("root/attachments/managed"), 0);
	files_hold("outside.txt", "outside");
	post_close(post);
}

/* An attachment, or its file, that another message refers to. */
static void shared_attachments_stay(void)
{
	struct mr_mailbox_cleanup_result result;
	struct mail mail;
	struct post *post = &mail.post;
	struct mr_mailbox_attachment again;

	open_mail(&mail);
	again = post_attachment(post, "att-9", MR_MAILBOX_MANAGED_COPY,
		join(post, post->root.path, "attachments/managed/att-1/notes.txt"));
	post_send(post, "alice", "alice", &(struct mr_mailbox_attachments){ &again, 1 });
	result = clear(post, "alice", false);
	CHECK_INT(post_has(&result.applied, "managed_attachment", NULL), 0);
	CHECK_INT(post_has(&result.preserved, "attachment", "notes.txt"), 1);
	CHECK(strstr(post_actions(post, &result.preserved), "a message that stays refers to it"));
	CHECK(is_there("root/attachments/managed/att-1/notes.txt"));
	CHECK_INT(post_count(post, NULL, "SELECT COUNT(*) FROM attachments"), 2);
	post_close(post);
}

/* After `force` two registrations have one directory. */
static void the_directory_of_a_predecessor(void)
{
	struct mr_mailbox_cleanup_result result;
	struct mail mail;
	struct post *post = &mail.post;

	open_mail(&mail);
	post_unregister(post, "bob", MR_MAILBOX_DEACTIVATE);
	post_exec(post, NULL,
		"INSERT INTO mailbox_registrations SELECT 'reg-00000000000000000000000000000001',"
		" address, 'HOUMAO-robert', 'active', mailbox_kind, mailbox_path,"
		" mailbox_entry_path, NULL, NULL, NULL, created_at_utc, NULL, NULL"
		" FROM mailbox_registrations WHERE address LIKE 'bob%'");
	/* His predecessor's mail is not his to clear, and its links are not stale. */
	result = clear(post, "bob", false);
	CHECK_INT(post_has(&result.applied, "mailbox_projection", NULL), 0);
	CHECK_INT(files_count(join(post, post_mailbox(post, "bob"), "inbox")), 1);
	result = clear(post, NULL, false);
	CHECK_INT(post_has(&result.applied, "mailbox_projection", "bob@houmao.localhost"), 0);
	CHECK_INT(files_count(join(post, post_mailbox(post, "bob"), "inbox")), 0);
	check_index_is_empty(post);
	post_close(post);
}

static void count_progress(void *arg, const char *what, size_t done, size_t total)
{
	CHECK(done <= total && what);
	*(size_t *)arg = done;
}

static void it_says_how_far_it_is(void)
{
	struct mail mail;
	size_t last = 0;

	open_mail(&mail);
	mail.post.cx.progress = count_progress;
	mail.post.cx.progress_arg = &last;
	clear(&mail.post, NULL, false);
	CHECK_INT(last, 14);
	post_close(&mail.post);
}

static const struct test tests[] = {
	TEST(everything_goes),
	TEST(strays_go_too),
	TEST(other_boxes_are_emptied),
	TEST(what_is_elsewhere_is_blocked),
	TEST(what_is_missing_leaves_its_row),
	TEST(links_are_not_followed),
	TEST(a_bad_state_file_stops_nobody),
	TEST(a_failed_commit_puts_everything_back),
	TEST(an_account_must_be_active),
	TEST(an_account_loses_only_its_own),
	TEST(shared_attachments_stay),
	TEST(the_directory_of_a_predecessor),
	TEST(it_says_how_far_it_is),
};

int main(void)
{
	return test_main(tests, MR_LEN(tests));
}
