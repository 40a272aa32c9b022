/* tests/unit/mailbox/test_mailbox_deliver.c */
#include "mailbox/deliver.h"

#include "base/fs.h"
#include "files.h"
#include "mailbox/document.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/open.h"
#include "post.h"
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define ID        "msg-20260311T041500Z-0123456789abcdef0123456789abcdef"
#define ID2       "msg-20260311T041500Z-fedcba9876543210fedcba9876543210"
#define STAGED    "root/staging/one.md"
#define CANONICAL "root/messages/2026-03-11/" ID ".md"
#define INTENT    "root/staging/.intents/" ID ".json"

static const struct mr_value no_headers = { .kind = MR_MAP };

static struct mr_mailbox_principal who(struct post *post, const char *name)
{
	return (struct mr_mailbox_principal){
		.principal_id = mr_arena_printf(post->cx.arena, "HOUMAO-%s", name),
		.address = post_address(post, name),
	};
}

static struct mr_mailbox_principals all(struct post *post, const char *names)
{
	struct mr_texts list = mr_str_split(post->cx.arena, names, ',');
	struct mr_mailbox_principals out = {
		mr_arena_array(post->cx.arena, list.len + 1, sizeof(*out.items)), list.len
	};

	for (size_t i = 0; i < list.len; i++)
		out.items[i] = who(post, list.items[i]);
	return out;
}

static struct mr_mailbox_message compose(struct post *post, const char *from, const char *to,
	const char *cc)
{
	return (struct mr_mailbox_message){
		.protocol_version = 3,
		.message_id = ID,
		.thread_id = ID,
		.created_at_utc = "2026-03-11T04:15:00Z",
		.sender = who(post, from),
		.to = all(post, to),
		.cc = all(post, cc),
		.subject = "Hello",
		.headers = &no_headers,
		.body = mr_bytes_text("body\n"),
	};
}

static void stage_at(struct post *post, const char *path, const struct mr_mailbox_message *message)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, MR_MAILBOX_DOCUMENT_BYTES);
	CHECK_OK(mr_mailbox_document_write(&buf, message, &post->cx.err), post->cx.err);
	files_put(path, mr_buf_text(&buf));
	CHECK(chmod(path, 0600) == 0);
}

static enum mr_code deliver(struct post *post, const struct mr_mailbox_message *message,
	struct mr_mailbox_deliver_result *out)
{
	struct mr_mailbox_message payload = *message;

	payload.body = mr_bytes_text("");
	return mr_mailbox_deliver(&post->cx, &post->root, STAGED, &payload, out);
}

/* Stage and deliver; both must succeed. */
static struct mr_mailbox_deliver_result send(struct post *post,
	const struct mr_mailbox_message *message)
{
	struct mr_mailbox_deliver_result result;

	stage_at(post, STAGED, message);
	CHECK_OK(deliver(post, message, &result), post->cx.err);
	return result;
}

static void open_post(struct post *post)
{
	post_open(post);
	post_account(post, "alice");
	post_account(post, "bob");
	post_account(post, "carol");
}

static bool is_there(const char *path)
{
	return mr_fs_exists(AT_FDCWD, path);
}

static const char *link_of(struct post *post, const char *name, const char *folder)
{
	return mr_arena_printf(post->cx.arena, "%s/%s/" ID ".md", post_mailbox(post, name), folder);
}

static void check_link(struct post *post, const char *name, const char *folder)
{
	char target[4096] = "";

	CHECK(readlink(link_of(post, name, folder), target, sizeof(target) - 1) > 0);
	CHECK_STR(target,
		mr_arena_printf(post->cx.arena, "%s/messages/2026-03-11/" ID ".md",
			post->root.path));
}

static long long local(struct post *post, const char *name, const char *where)
{
	return post_count(post, post_mailbox(post, name),
		mr_arena_printf(post->cx.arena, "SELECT count(*) FROM message_state WHERE %s",
			where));
}

/* Everything about it, as it is after its delivery from alice to bob. */
static void check_delivered(struct post *post)
{
	CHECK(is_there(CANONICAL));
	CHECK(!is_there(STAGED));
	CHECK_INT(files_count("root/staging/.intents"), 0);
	check_link(post, "alice", "sent");
	check_link(post, "bob", "inbox");
	CHECK_INT(post_count(post, NULL, "SELECT count(*) FROM messages"), 1);
	CHECK_INT(post_count(post, NULL, "SELECT count(*) FROM mailbox_projections"), 2);
	CHECK_INT(local(post, "alice", "box_name = 'sent' AND is_read = 1"), 1);
	CHECK_INT(local(post, "bob", "box_name = 'inbox' AND is_read = 0"), 1);
	CHECK_INT(files_count("root/locks/addresses"), 0);
}

/* What the tests compare before and after a refusal; empty days may stay. */
static const char *picture(struct post *post)
{
	return mr_arena_printf(post->cx.arena, "%s|%s|%lld", post_tree(post, "root/staging"),
		post_tree(post, "root/mailboxes"),
		post_count(post, NULL,
			"SELECT count(*) + (SELECT count(*) FROM mailbox_projections)"
			" + (SELECT count(*) FROM attachments) FROM messages"));
}

static void delivers(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_message message;
	struct mr_mailbox_deliver_result result;
	struct stat st;

	open_post(&post);
	message = compose(&post, "alice", "bob", "");
	stage_at(&post, STAGED, &message);
	CHECK(chmod(STAGED, 0644) == 0);
	CHECK_OK(deliver(&post, &message, &result), post.cx.err);
	CHECK_STR(result.message_id, ID);
	CHECK_STR(result.canonical_path,
		mr_arena_printf(post.cx.arena, "%s/messages/2026-03-11/" ID ".md", post.root.path));
	CHECK_INT(result.recipient_count, 1);
	CHECK(!result.already_delivered);
	check_delivered(&post);
	CHECK(stat(CANONICAL, &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0600);
	CHECK(stat("root/messages/2026-03-11", &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0700);
	CHECK_INT(local(&post, "carol", "1"), 0);
	CHECK_INT(post_count(&post, NULL,
			  "SELECT count(*) FROM messages m JOIN mailbox_registrations r ON "
			  "r.registration_id = m.sender_registration_id WHERE m.subject = 'Hello' "
			  "AND m.body_markdown LIKE '---%body' || char(10) AND r.address LIKE "
			  "'alice@%' AND m.headers_json = '{}'"),
		1);
	CHECK_INT(post_count(&post, NULL,
			  "SELECT count(*) FROM thread_summaries WHERE unread_count = 0"),
		1);
	CHECK_INT(post_count(&post, post_mailbox(&post, "bob"),
			  "SELECT unread_count FROM thread_summaries"),
		1);
}

/* One link and one row each, however often somebody is named. */
static void everyone_gets_it_once(void)
{
	static const struct {
		const char *from, *to, *cc;
		int recipients;  /* addresses */
		int projections; /* and sent */
		int rows;        /* of message_recipients */
	} cases[] = {
		{ "alice", "bob", "bob", 1, 2, 2 },
		{ "alice", "bob,bob,bob", "carol,bob", 2, 3, 5 },
		{ "alice", "alice", "", 1, 2, 1 },
		{ "alice", "bob,alice", "alice", 2, 3, 3 },
		{ "alice", "p0,p1,p2,p3,p4,p5,p6,p7", "p8,p9,p10,p11,p12,p13,p14,p15", 16, 17, 16 },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct post post MR_CLEANUP(post_close);
		struct mr_mailbox_message message;
		bool self = i == 2 || i == 3;

		CHECK_OK(mr_fs_remove_all(AT_FDCWD, "root", &(struct mr_err){ .code = MR_OK }),
			(struct mr_err){ .code = MR_OK });
		open_post(&post);
		for (int p = 0; i == 4 && p < 16; p++)
			post_account(&post, mr_arena_printf(post.cx.arena, "p%d", p));
		message = compose(&post, cases[i].from, cases[i].to, cases[i].cc);
		CHECK_INT(send(&post, &message).recipient_count, cases[i].recipients);
		CHECK_INT(post_count(&post, NULL, "SELECT count(*) FROM mailbox_projections"),
			cases[i].projections);
		CHECK_INT(post_count(&post, NULL, "SELECT count(*) FROM message_recipients"),
			cases[i].rows);
		CHECK_INT(post_count(&post, NULL,
				  "SELECT count(*) FROM message_recipients WHERE "
				  "delivered_registration_id IS NULL"),
			0);
		check_link(&post, "alice", "sent");
		CHECK_INT(is_there(link_of(&post, "alice", "inbox")), self);
		/* Mail to oneself is unread in the inbox. */
		CHECK_INT(local(&post, "alice", self ? "box_name = 'inbox' AND is_read = 0" : "1"),
			1);
		CHECK_INT(local(&post, "alice", "1"), 1);
	}
}

static void linked_mailboxes_get_it_where_they_are(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_message message;
	char target[4096] = "";

	open_post(&post);
	post_register(&post, "dora", NULL, MR_MAILBOX_SAFE,
		mr_arena_printf(post.cx.arena, "%s/private", post.dir));
	message = compose(&post, "alice", "dora", "");
	send(&post, &message);
	CHECK(readlink("private/inbox/" ID ".md", target, sizeof(target) - 1) > 0);
	CHECK_INT(post_count(&post, "private", "SELECT count(*) FROM message_state"), 1);
	CHECK_INT(post_count(&post, NULL,
			  "SELECT count(*) FROM mailbox_projections WHERE projection_path LIKE "
			  "'%/private/inbox/msg-%'"),
		1);
}

/* Refused before anything is touched. */
static void refused(struct post *post, const char *path, const struct mr_mailbox_message *payload,
	enum mr_code code, const char *part)
{
	const char *before = picture(post);
	struct mr_mailbox_deliver_result result = { .message_id = "kept" };
	enum mr_code rc = mr_mailbox_deliver(&post->cx, &post->root, path, payload, &result);

	CHECK_INT(rc, code);
	if (!strstr(post->cx.err.msg, part))
		test_fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", part, post->cx.err.msg);
	CHECK_STR(result.message_id, "kept");
	CHECK_STR(picture(post), before);
	CHECK_INT(files_count("root/locks/addresses"), 0);
}

static void the_file_must_be_staged(void)
{
	static const struct {
		const char *path, *part;
		enum mr_code code;
	} cases[] = {
		{ "outside.md", "must live under the mailbox staging directory", MR_EINVAL },
		{ "/etc/passwd", "must live under the mailbox staging directory", MR_EINVAL },
		{ "nowhere/x.md", "must live under the mailbox staging directory", MR_EINVAL },
		{ "root/staging/../protocol-version.txt", "must live under", MR_EINVAL },
		{ "root/staging/link.md", "and not be a link", MR_EINVAL },
		{ "root/staging/away/x.md", "must live under", MR_EINVAL },
		{ "root/staging/.intents/x.md", "must live under", MR_EINVAL },
		{ "root/staging/none.md", "staged message not found: root/staging/none.md",
			MR_ENOTFOUND },
		{ "root/staging/no/dir.md", "must live under", MR_EINVAL },
		{ "root/staging/sub", "staged message not found", MR_ENOTFOUND },
		{ "root/staging/pipe", "staged message not found", MR_ENOTFOUND },
		{ "root/staging/", "staged message not found", MR_ENOTFOUND },
		{ "root/staging/.", "staged message not found", MR_ENOTFOUND },
		{ "root/staging/sub/..", "staged message not found", MR_ENOTFOUND },
	};
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_message message;

	open_post(&post);
	message = compose(&post, "alice", "bob", "");
	stage_at(&post, "outside.md", &message);
	CHECK(mkdir("elsewhere", 0700) == 0);
	stage_at(&post, "elsewhere/x.md", &message);
	CHECK(mkdir("root/staging/sub", 0700) == 0);
	CHECK(mkfifo("root/staging/pipe", 0600) == 0);
	CHECK(symlink("../../outside.md", "root/staging/link.md") == 0);
	CHECK(symlink("../../elsewhere", "root/staging/away") == 0);
	stage_at(&post, "root/staging/.intents/x.md", &message);
	message.body = mr_bytes_text("");
	for (size_t i = 0; i < MR_LEN(cases); i++)
		refused(&post, cases[i].path, &message, cases[i].code, cases[i].part);

	/* Below it is fine, and so is an absolute path. */
	message.body = mr_bytes_text("body\n");
	stage_at(&post, "root/staging/sub/x.md", &message);
	CHECK_OK(mr_mailbox_deliver(&post.cx, &post.root,
			 mr_arena_printf(post.cx.arena, "%s/root/staging/sub/x.md", post.dir),
			 &message, &(struct mr_mailbox_deliver_result){ .message_id = NULL }),
		post.cx.err);
	check_link(&post, "bob", "inbox");
}

static void the_file_must_be_the_message(void)
{
	static const char *const fields[] = { "message_id", "thread_id", "created_at_utc", "sender",
		"to", "cc", "subject", "headers", "attachments", "references, a participant" };
	struct mr_pair pair = { "x", { .kind = MR_INT, .integer = 1 } };
	const struct mr_value headers = { .kind = MR_MAP, .map = { &pair, 1 } };
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_message message;
	struct mr_mailbox_attachment attachment;

	open_post(&post);
	attachment = post_attachment(&post, "a", MR_MAILBOX_PATH_REF, "/x");
	message = compose(&post, "alice", "bob", "");
	stage_at(&post, STAGED, &message);
	for (size_t i = 0; i < MR_LEN(fields); i++) {
		struct mr_mailbox_message other = compose(&post, "alice", "bob", "");

		switch (i) {
		case 0:
			other.message_id = other.thread_id = ID2;
			break;
		case 1:
			other.thread_id = ID2;
			break;
		case 2:
			other.created_at_utc = "2026-03-11T04:15:01Z";
			break;
		case 3:
			other.sender = who(&post, "carol");
			break;
		case 4:
			other.to = all(&post, "bob,carol");
			break;
		case 5:
			other.cc = all(&post, "carol");
			break;
		case 6:
			other.subject = "Other";
			break;
		case 7:
			other.headers = &headers;
			break;
		case 8:
			other.attachments = (struct mr_mailbox_attachments){ &attachment, 1 };
			break;
		default:
			other.to = all(&post, "carol");
		}
		refused(&post, STAGED, &other, MR_EINVAL,
			mr_arena_printf(post.cx.arena,
				"is not the message of the payload: they differ in %s", fields[i]));
	}
	files_put(STAGED, "garbage");
	refused(&post, STAGED, &message, MR_EFORMAT, "staged message " STAGED ": ");
	files_put(STAGED, "");
	refused(&post, STAGED, &message, MR_EFORMAT, "staged message " STAGED ": ");
}

static void everyone_must_be_registered(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_message message;

	open_post(&post);
	message = compose(&post, "nobody", "bob", "");
	stage_at(&post, STAGED, &message);
	refused(&post, STAGED, &message, MR_ENOTFOUND,
		"no active mailbox registration exists for sender `nobody@houmao.localhost`");
	message = compose(&post, "alice", "bob", "carol,nobody");
	stage_at(&post, STAGED, &message);
	refused(&post, STAGED, &message, MR_ENOTFOUND,
		"no active mailbox registration exists for recipient `nobody@houmao.localhost`");
	message = compose(&post, "alice", "bob", "carol");
	message.sender.principal_id = "HOUMAO-eve";
	stage_at(&post, STAGED, &message);
	refused(&post, STAGED, &message, MR_ECONFLICT, "registered owner mismatch for sender");
	message = compose(&post, "alice", "bob", "carol");
	message.cc.items[0].principal_id = "HOUMAO-eve";
	stage_at(&post, STAGED, &message);
	refused(&post, STAGED, &message, MR_ECONFLICT, "registered owner mismatch for recipient");
	message = compose(&post, "alice", "bob", "bob");
	message.cc.items[0].principal_id = "HOUMAO-eve";
	stage_at(&post, STAGED, &message);
	refused(&post, STAGED, &message, MR_EINVAL, "conflicting owners");
	/* Whom replies go to need not be. */
	message = compose(&post, "alice", "bob", "");
	message.reply_to = all(&post, "nobody");
	send(&post, &message);
	check_delivered(&post);
}

static void mailboxes_must_be_whole(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_message message;
	const char *drafts;

	open_post(&post);
	message = compose(&post, "alice", "bob", "carol");
	stage_at(&post, STAGED, &message);
	drafts = mr_arena_printf(post.cx.arena, "%s/drafts", post_mailbox(&post, "carol"));
	CHECK(rmdir(drafts) == 0);
	refused(&post, STAGED, &message, MR_ECONFLICT, "is not whole");
	CHECK(mkdir(drafts, 0700) == 0);
	files_put(link_of(&post, "carol", "inbox"), "mine");
	refused(&post, STAGED, &message, MR_ECONFLICT, "projection already exists: ");
	CHECK(unlink(link_of(&post, "carol", "inbox")) == 0);
	CHECK(symlink("/elsewhere", link_of(&post, "carol", "inbox")) == 0);
	refused(&post, STAGED, &message, MR_ECONFLICT, "projection already exists: ");
	/* Our own, left by somebody who died: taken. */
	CHECK(unlink(link_of(&post, "carol", "inbox")) == 0);
	CHECK(symlink(mr_arena_printf(post.cx.arena, "%s/messages/2026-03-11/" ID ".md",
			      post.root.path),
		      link_of(&post, "carol", "inbox")) == 0);
	send(&post, &message);
	check_link(&post, "carol", "inbox");
}

static void attachments_have_ids_of_their_own(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_message message;
	struct mr_mailbox_attachment items[2];

	open_post(&post);
	items[0] = post_attachment(&post, "att-1", MR_MAILBOX_PATH_REF, "/tmp/x");
	items[1] = items[0];
	message = compose(&post, "alice", "bob", "");
	/* Twice the same is linked once. */
	message.attachments = (struct mr_mailbox_attachments){ items, 2 };
	send(&post, &message);
	message.message_id = message.thread_id = ID2;
	send(&post, &message);
	CHECK_INT(post_count(&post, NULL, "SELECT count(*) FROM attachments"), 1);
	CHECK_INT(post_count(&post, NULL, "SELECT count(*) FROM message_attachments"), 2);
	message.message_id = message.thread_id =
		"msg-20260311T041500Z-00000000000000000000000000000000";
	message.attachments.len = 1;
	items[0].label = "other";
	stage_at(&post, STAGED, &message);
	refused(&post, STAGED, &message, MR_ECONFLICT,
		"attachment id `att-1` is known with other metadata");
}

static void the_same_again_is_reported(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_deliver_result first, again;
	struct mr_mailbox_message message;

	open_post(&post);
	message = compose(&post, "alice", "bob", "");
	first = send(&post, &message);
	/* With its file, which goes as the first one's did. */
	again = send(&post, &message);
	CHECK(again.already_delivered);
	CHECK_STR(again.message_id, first.message_id);
	CHECK_STR(again.canonical_path, first.canonical_path);
	CHECK_INT(again.recipient_count, first.recipient_count);
	check_delivered(&post);
	/* Without. */
	CHECK_OK(deliver(&post, &message, &again), post.cx.err);
	CHECK(again.already_delivered);
	check_delivered(&post);
	/* A mailbox that has gone since is no reason to complain now. */
	post_unregister(&post, "bob", MR_MAILBOX_DEACTIVATE);
	CHECK_OK(deliver(&post, &message, &again), post.cx.err);
	CHECK(again.already_delivered);
}

static void another_under_a_known_id_is_refused(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_message message;

	open_post(&post);
	message = compose(&post, "alice", "bob", "");
	send(&post, &message);
	message.body = mr_bytes_text("other body\n");
	stage_at(&post, STAGED, &message);
	refused(&post, STAGED, &message, MR_ECONFLICT, "canonical message already exists: ");
	message = compose(&post, "alice", "bob", "");
	message.created_at_utc = "2026-03-12T04:15:00Z";
	stage_at(&post, STAGED, &message);
	refused(&post, STAGED, &message, MR_ECONFLICT, "canonical message already exists: ");
	message = compose(&post, "alice", "bob", "");
	message.subject = "other";
	stage_at(&post, STAGED, &message);
	refused(&post, STAGED, &message, MR_ECONFLICT, "canonical message already exists: ");
	/* Neither does the payload alone match. */
	CHECK(unlink(STAGED) == 0);
	refused(&post, STAGED, &message, MR_ECONFLICT, "canonical message already exists: ");
	/* What cannot be read is another message. */
	files_put(CANONICAL, "garbage");
	message = compose(&post, "alice", "bob", "");
	refused(&post, STAGED, &message, MR_ECONFLICT, "canonical message already exists: ");
}

static void the_same_again_completes_what_is_missing(void)
{
	static const char *const sql[] = { "DELETE FROM mailbox_projections",
		"DELETE FROM messages", NULL };
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_deliver_result again;
	struct mr_mailbox_message message;

	open_post(&post);
	message = compose(&post, "alice", "bob", "");
	send(&post, &message);
	post_exec(&post, post_mailbox(&post, "bob"), "DELETE FROM message_state");
	CHECK_OK(deliver(&post, &message, &again), post.cx.err);
	check_delivered(&post);
	CHECK(unlink(link_of(&post, "bob", "inbox")) == 0);
	CHECK_OK(deliver(&post, &message, &again), post.cx.err);
	check_delivered(&post);
	for (size_t i = 0; sql[i]; i++) {
		post_exec(&post, NULL, sql[i]);
		CHECK_OK(deliver(&post, &message, &again), post.cx.err);
		CHECK(again.already_delivered);
		check_delivered(&post);
	}
	/* Its document, from the copy in the index. */
	CHECK(unlink(CANONICAL) == 0);
	CHECK_OK(deliver(&post, &message, &again), post.cx.err);
	check_delivered(&post);
	CHECK(again.already_delivered);
	/* A mailbox.sqlite that was lost. */
	CHECK(unlink(mr_arena_printf(post.cx.arena, "%s/mailbox.sqlite",
		      post_mailbox(&post, "bob"))) == 0);
	CHECK_OK(deliver(&post, &message, &again), post.cx.err);
	check_delivered(&post);
}

/* What the owner did stays. */
static void the_same_again_leaves_what_was_done(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_deliver_result again;
	struct mr_mailbox_message message;
	const char *box;

	open_post(&post);
	message = compose(&post, "alice", "bob", "");
	send(&post, &message);
	box = post_mailbox(&post, "bob");
	CHECK(rename(link_of(&post, "bob", "inbox"), link_of(&post, "bob", "archive")) == 0);
	post_exec(&post, NULL,
		"UPDATE mailbox_projections SET folder_name = 'archive' WHERE folder_name = "
		"'inbox'");
	post_exec(&post, box,
		"UPDATE message_state SET box_name = 'archive', is_read = 1, is_starred = 1");
	CHECK_OK(deliver(&post, &message, &again), post.cx.err);
	check_link(&post, "bob", "archive");
	CHECK(!is_there(link_of(&post, "bob", "inbox")));
	CHECK_INT(local(&post, "bob", "box_name = 'archive' AND is_read = 1 AND is_starred = 1"),
		1);
	/* A lost row is made from where the message is now. */
	post_exec(&post, box, "DELETE FROM message_state");
	CHECK_OK(deliver(&post, &message, &again), post.cx.err);
	CHECK_INT(local(&post, "bob", "box_name = 'archive' AND is_read = 1 AND is_archived = 1"),
		1);
	/* Who joined later did not get it. */
	post_unregister(&post, "bob", MR_MAILBOX_PURGE);
	post_account(&post, "bob");
	CHECK_OK(deliver(&post, &message, &again), post.cx.err);
	CHECK(!is_there(link_of(&post, "bob", "inbox")));
	CHECK_INT(local(&post, "bob", "1"), 0);
}

/* A step fails: everything is as before. */
static void failures_are_undone(void)
{
	static const char *const settings[] = { "deliver.link:ENOSPC:1", "deliver.link:EIO:3",
		"fs.write:ENOSPC:1" };
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_message message;
	struct mr_mailbox_deliver_result result;

	open_post(&post);
	message = compose(&post, "alice", "bob", "carol");
	stage_at(&post, STAGED, &message);
	for (size_t i = 0; i < MR_LEN(settings); i++) {
		const char *before = picture(&post);

		if (!files_fail_at(settings[i]))
			return;
		CHECK_INT(deliver(&post, &message, &result), MR_EIO);
		files_fail_at(NULL);
		CHECK_STR(picture(&post), before);
		CHECK(!is_there(CANONICAL));
		CHECK_INT(files_count("root/locks/addresses"), 0);
	}
	CHECK_OK(deliver(&post, &message, &result), post.cx.err);
	CHECK(!result.already_delivered);
}

static void a_mailbox_that_cannot_be_written_is_told(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_message message;
	struct mr_mailbox_deliver_result result;
	const char *path;
	size_t count = 0;

	open_post(&post);
	post_send(&post, "alice", "carol", NULL);
	message = compose(&post, "alice", "bob", "carol");
	stage_at(&post, STAGED, &message);
	path = mr_arena_printf(post.cx.arena, "%s/mailbox.sqlite", post_mailbox(&post, "bob"));
	CHECK(rename(path, "kept.sqlite") == 0);
	files_put(path, "this is no database, but long enough to look at");
	CHECK_INT(deliver(&post, &message, &result), MR_EFORMAT);
	CHECK(strstr(post.cx.err.msg, "message " ID " is delivered, but"));
	CHECK(strstr(post.cx.err.msg, "`bob@houmao.localhost`"));
	CHECK(mr_str_ends(post.cx.err.msg, "run `mailroom mailbox repair`"));
	/* It stays delivered, and the others have it. */
	check_link(&post, "bob", "inbox");
	CHECK_INT(local(&post, "carol", "message_id = '" ID "'"), 1);
	CHECK(is_there(INTENT));
	/* Others go on, whatever is the matter with bob. */
	post_send(&post, "carol", "alice", NULL);
	CHECK_OK(mr_mailbox_deliver_recover(&post.cx, &post.root, &count), post.cx.err);
	CHECK_INT(count, 1);
	CHECK(is_there(INTENT));
	/* Once it can be written, it is completed. */
	CHECK(rename("kept.sqlite", path) == 0);
	CHECK_OK(mr_mailbox_deliver_recover(&post.cx, &post.root, &count), post.cx.err);
	CHECK(!is_there(INTENT));
	CHECK_INT(local(&post, "bob", "message_id = '" ID "'"), 1);
}

/* As a process leaves it that dies before the shared commit. */
static void leave_half(struct post *post, const struct mr_mailbox_message *message, bool moved)
{
	CHECK(mkdir("root/messages/2026-03-11", 0700) == 0);
	stage_at(post, moved ? CANONICAL : STAGED, message);
	files_put(INTENT,
		"{\"message_id\": \"" ID "\", \"created_at_utc\": \"2026-03-11T04:15:00Z\", "
		"\"staged\": \"one.md\", \"addresses\": [\"alice@houmao.localhost\", "
		"\"bob@houmao.localhost\"]}");
	if (moved)
		CHECK(symlink(mr_arena_printf(post->cx.arena, "%s/messages/2026-03-11/" ID ".md",
				      post->root.path),
			      link_of(post, "bob", "inbox")) == 0);
}

static void recovery_finishes(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_root again MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_mailbox_message message;

	open_post(&post);
	message = compose(&post, "alice", "bob", "");
	leave_half(&post, &message, true);
	/* Whoever opens the root for writing. */
	CHECK_OK(mr_mailbox_root_open(&post.cx, "root", MR_MAILBOX_ROOT_WRITE, &again),
		post.cx.err);
	check_delivered(&post);
}

static void recovery_drops_what_never_moved(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_deliver_result result;
	struct mr_mailbox_message message;
	size_t count = 0;

	open_post(&post);
	message = compose(&post, "alice", "bob", "");
	leave_half(&post, &message, false);
	CHECK_OK(mr_mailbox_deliver_recover(&post.cx, &post.root, &count), post.cx.err);
	CHECK_INT(count, 1);
	CHECK(!is_there(INTENT));
	CHECK(is_there(STAGED));
	CHECK_OK(deliver(&post, &message, &result), post.cx.err);
	CHECK(!result.already_delivered);
	check_delivered(&post);
}

/* For all or for none: bob has left meanwhile. */
static void recovery_undoes(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_message message;
	size_t count = 0;

	open_post(&post);
	message = compose(&post, "alice", "bob", "");
	leave_half(&post, &message, true);
	post_exec(&post, NULL,
		"UPDATE mailbox_registrations SET status = 'inactive' WHERE address LIKE 'bob@%'");
	CHECK_OK(mr_mailbox_deliver_recover(&post.cx, &post.root, &count), post.cx.err);
	CHECK(!is_there(INTENT));
	CHECK(!is_there(CANONICAL));
	CHECK(is_there(STAGED));
	CHECK(!is_there(link_of(&post, "bob", "inbox")));
	CHECK_INT(post_count(&post, NULL, "SELECT count(*) FROM messages"), 0);
	/* The staged name was taken meanwhile: another one. */
	CHECK(rmdir("root/messages/2026-03-11") == 0);
	leave_half(&post, &message, true);
	files_put(STAGED, "somebody else's");
	CHECK_OK(mr_mailbox_deliver_recover(&post.cx, &post.root, &count), post.cx.err);
	files_hold(STAGED, "somebody else's");
	CHECK(is_there("root/staging/" ID ".md"));
	CHECK(!is_there(CANONICAL));
}

static void put_zeros(const char *path, size_t count)
{
	FILE *file = fopen(path, "we");

	CHECK(file != NULL);
	for (size_t i = 0; i < count; i++)
		CHECK(fputc(0, file) == 0);
	CHECK(fclose(file) == 0);
}

/* The power failed before the intent was on the disk, so nothing else of its delivery had begun. */
static void recovery_removes_what_is_torn(void)
{
	static const size_t sizes[] = { 0, 200 };
	struct post post MR_CLEANUP(post_close);
	size_t count = 0;

	open_post(&post);
	for (size_t i = 0; i < MR_LEN(sizes); i++) {
		put_zeros(INTENT, sizes[i]);
		CHECK_OK(mr_mailbox_deliver_recover(&post.cx, &post.root, &count), post.cx.err);
		CHECK_INT(count, 1);
		CHECK(!is_there(INTENT));
	}
}

/* The power failed after links had come to the disk and before the document's name had. */
static void recovery_removes_links_without_a_document(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_message message;
	size_t count = 0;

	open_post(&post);
	message = compose(&post, "alice", "bob", "");
	leave_half(&post, &message, true);
	CHECK(rename(CANONICAL, STAGED) == 0);
	CHECK_OK(mr_mailbox_deliver_recover(&post.cx, &post.root, &count), post.cx.err);
	CHECK(!is_there(INTENT));
	CHECK(!is_there(link_of(&post, "bob", "inbox")));
	CHECK(is_there(STAGED));
}

static void recovery_leaves_the_living_and_the_unknown(void)
{
	static const char *const texts[] = { "{}", "[1]", "{\"message_id\": \"" ID "\"",
		"{\"message_id\": \"" ID "\", \"created_at_utc\": \"x\", \"addresses\": []}",
		("{\"message_id\": \"" ID "\", \"created_at_utc\": \"2026-03-11T04:15:00Z\", "
		 "\"staged\": \"../x\", \"addresses\": []}"),
		("{\"message_id\": \"../../x\", \"created_at_utc\": \"2026-03-11T04:15:00Z\", "
		 "\"staged\": null, \"addresses\": []}") };
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_message message;
	size_t count = 0;
	int fd;

	open_post(&post);
	files_put("root/staging/.intents/other.json", "not ours");
	for (size_t i = 0; i < MR_LEN(texts); i++) {
		files_put(INTENT, texts[i]);
		CHECK_OK(mr_mailbox_deliver_recover(&post.cx, &post.root, &count), post.cx.err);
		CHECK_INT(count, 1);
		files_hold(INTENT, texts[i]);
	}
	message = compose(&post, "alice", "bob", "");
	leave_half(&post, &message, true);
	fd = open(INTENT, O_RDONLY | O_CLOEXEC);
	CHECK(flock(fd, LOCK_EX) == 0);
	CHECK_OK(mr_mailbox_deliver_recover(&post.cx, &post.root, &count), post.cx.err);
	CHECK(is_there(INTENT));
	CHECK_INT(post_count(&post, NULL, "SELECT count(*) FROM messages"), 0);
	close(fd);
	CHECK_OK(mr_mailbox_deliver_recover(&post.cx, &post.root, &count), post.cx.err);
	CHECK(!is_there(INTENT));
	check_link(&post, "alice", "sent");
	/* A root that somebody else made or repaired may have no such directory. */
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "root/staging", &post.cx.err), post.cx.err);
	CHECK_OK(mr_mailbox_deliver_recover(&post.cx, &post.root, &count), post.cx.err);
	CHECK_INT(count, 0);
	post_send(&post, "alice", "bob", NULL);
}

static void composed_messages_leave_no_file(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_message message;
	struct mr_mailbox_deliver_result result;

	open_post(&post);
	message = compose(&post, "alice", "bob", "");
	CHECK_OK(mr_mailbox_deliver_message(&post.cx, &post.root, &message, &result), post.cx.err);
	check_delivered(&post);
	message.message_id = message.thread_id = ID2;
	message.to = all(&post, "nobody");
	CHECK_INT(mr_mailbox_deliver_message(&post.cx, &post.root, &message, &result),
		MR_ENOTFOUND);
	/* .intents and .trash */
	CHECK_INT(files_count("root/staging"), 2);
	if (files_fail_at("deliver.stage:ENOSPC")) {
		CHECK_INT(mr_mailbox_deliver_message(&post.cx, &post.root, &message, &result),
			MR_EIO);
		CHECK(strstr(post.cx.err.msg, "cannot write "));
		files_fail_at(NULL);
	}
	CHECK_INT(files_count("root/staging"), 2);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(delivers),
		TEST(everyone_gets_it_once),
		TEST(linked_mailboxes_get_it_where_they_are),
		TEST(the_file_must_be_staged),
		TEST(the_file_must_be_the_message),
		TEST(everyone_must_be_registered),
		TEST(mailboxes_must_be_whole),
		TEST(attachments_have_ids_of_their_own),
		TEST(the_same_again_is_reported),
		TEST(another_under_a_known_id_is_refused),
		TEST(the_same_again_completes_what_is_missing),
		TEST(the_same_again_leaves_what_was_done),
		TEST(failures_are_undone),
		TEST(a_mailbox_that_cannot_be_written_is_told),
		TEST(recovery_finishes),
		TEST(recovery_drops_what_never_moved),
		TEST(recovery_undoes),
		TEST(recovery_removes_what_is_torn),
		TEST(recovery_removes_links_without_a_document),
		TEST(recovery_leaves_the_living_and_the_unknown),
		TEST(composed_messages_leave_no_file),
	};

	return test_main(tests, MR_LEN(tests));
}
