/* tests/unit/mailbox/post.c - a mailbox root with accounts and mail. */
#include "post.h"

#include "base/fs.h"
#include "database.h"
#include "files.h"
#include "mailbox/deliver.h"
#include "mailbox/layout.h"
#include "mailbox/open.h"
#include "test.h"
#include "text/token.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct mr_value no_headers = { .kind = MR_MAP };

void post_open(struct post *post)
{
	files_enter();
	*post = (struct post){ .dir = test_dir(), .root = MR_MAILBOX_ROOT_INIT };
	mr_clock_fixed_init(&post->clock, POST_NOW_US);
	mr_rand_seeded_init(&post->rand, 1);
	post->cx = (struct mr_ctx){ .arena = mr_arena_new(),
		.clock = &post->clock.clock,
		.rand = &post->rand };
	CHECK_OK(mr_mailbox_root_init(&post->cx, "root", &post->root), post->cx.err);
}

void post_close(struct post *post)
{
	mr_mailbox_root_close(&post->root);
	mr_arena_free(post->cx.arena);
}

const char *post_address(struct post *post, const char *name)
{
	return mr_arena_printf(post->cx.arena, "%s@houmao.localhost", name);
}

const char *post_register(struct post *post, const char *name, const char *owner,
	enum mr_mailbox_register_mode mode, const char *private)
{
	struct mr_mailbox_register_request request = { .mode = mode,
		.address = post_address(post, name),
		.owner = owner ? owner : mr_arena_printf(post->cx.arena, "HOUMAO-%s", name),
		.kind = private ? MR_MAILBOX_SYMLINK : MR_MAILBOX_IN_ROOT,
		.path = private };
	struct mr_mailbox_register_result result;

	CHECK_OK(mr_mailbox_register(&post->cx, &post->root, &request, &result), post->cx.err);
	return result.active_registration_id;
}

const char *post_account(struct post *post, const char *name)
{
	return post_register(post, name, NULL, MR_MAILBOX_SAFE, NULL);
}

void post_unregister(struct post *post, const char *name, enum mr_mailbox_unregister_mode mode)
{
	struct mr_mailbox_unregister_result result;

	CHECK_OK(mr_mailbox_unregister(&post->cx, &post->root, mode, post_address(post, name),
			 &result),
		post->cx.err);
}

const char *post_mailbox(struct post *post, const char *name)
{
	return mr_mailbox_layout_join(post->cx.arena, "root",
		mr_mailbox_layout_entry(post->cx.arena, post_address(post, name)));
}

static struct mr_mailbox_principal principal(struct post *post, const char *name)
{
	return (struct mr_mailbox_principal){
		.principal_id = mr_arena_printf(post->cx.arena, "HOUMAO-%s", name),
		.address = post_address(post, name),
	};
}

const char *post_send(struct post *post, const char *from, const char *to,
	const struct mr_mailbox_attachments *attachments)
{
	struct mr_arena *arena = post->cx.arena;
	struct mr_texts names = mr_str_split(arena, to, ',');
	struct mr_mailbox_message message = {
		.protocol_version = 3,
		.message_id = mr_token_message_id(arena, &post->rand, POST_NOW_US),
		.created_at_utc = "2026-03-11T04:15:00Z",
		.sender = principal(post, from),
		.to = { mr_arena_array(arena, names.len, sizeof(*message.to.items)), names.len },
		.subject = "Gr\xc3\xbc\xc3\x9f"
			   "e",
		.headers = &no_headers,
		.body = mr_bytes_text("body\n"),
	};
	struct mr_mailbox_deliver_result result;

	message.thread_id = message.message_id;
	if (attachments)
		message.attachments = *attachments;
	for (size_t i = 0; i < names.len; i++)
		message.to.items[i] = principal(post, names.items[i]);
	CHECK_OK(mr_mailbox_deliver_message(&post->cx, &post->root, &message, &result),
		post->cx.err);
	return message.message_id;
}

struct mr_mailbox_attachment post_attachment(struct post *post, const char *id,
	enum mr_mailbox_attachment_kind kind, const char *path)
{
	(void)post;
	return (struct mr_mailbox_attachment){ .attachment_id = id,
		.kind = kind,
		.path = path,
		.media_type = "text/plain",
		.size_bytes = -1 };
}

static void open_db(struct post *post, const char *mailbox, struct mr_db **out)
{
	char *path = mailbox ? realpath(mailbox, NULL) : NULL;

	CHECK_OK(path ? mr_mailbox_root_local(&post->cx, path, false, out)
		      : mr_mailbox_root_index(&post->cx, &post->root, false, out),
		post->cx.err);
	free(path);
}

void post_exec(struct post *post, const char *mailbox, const char *sql)
{
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;

	open_db(post, mailbox, &db);
	database_exec(&post->cx, db, sql);
}

long long post_count(struct post *post, const char *mailbox, const char *sql)
{
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;
	const char *found;

	open_db(post, mailbox, &db);
	found = database_text(&post->cx, db, sql);
	CHECK(found != NULL);
	return strtoll(found, NULL, 10);
}

struct lines {
	struct post *post;
	const char *items[4096];
	size_t len;
};

static enum mr_fs_next note(void *arg, const struct mr_fs_entry *entry)
{
	struct lines *lines = arg;
	char target[4096] = "";
	struct stat st;

	CHECK(fstatat(entry->dir, entry->name, &st, AT_SYMLINK_NOFOLLOW) == 0);
	CHECK(lines->len < MR_LEN(lines->items));
	if (entry->type == DT_LNK)
		CHECK(readlinkat(entry->dir, entry->name, target, sizeof(target) - 1) > 0);
	lines->items[lines->len++] =
		mr_arena_printf(lines->post->cx.arena, "%s %o %lld %s", entry->path, st.st_mode,
			entry->type == DT_REG ? (long long)st.st_size : 0LL, target);
	return MR_FS_GO_ON;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *post_tree(struct post *post, const char *path)
{
	struct lines lines = { .post = post };

	CHECK_OK(mr_fs_walk(AT_FDCWD, path, 16, note, &lines, &post->cx.err), post->cx.err);
	qsort(lines.items, lines.len, sizeof(lines.items[0]), by_text);
	return mr_str_join(post->cx.arena, &(struct mr_texts){ lines.items, lines.len }, "\n");
}

const char *post_actions(struct post *post, const struct mr_mailbox_actions *actions)
{
	struct mr_arena *arena = post->cx.arena;
	const char *text = "";

	for (size_t i = 0; i < actions->len; i++) {
		const struct mr_mailbox_action *action = &actions->items[i];
		const char *path = action->path;

		if (mr_str_starts(path, post->root.path))
			path = mr_arena_printf(arena, "$%s", path + strlen(post->root.path));
		text = mr_arena_printf(arena, "%s%s %s%s%s%s%s: %s: %s\n", text,
			action->artifact_kind, path, action->address ? " " : "",
			action->address ? action->address : "", action->attachment_id ? " " : "",
			action->attachment_id ? action->attachment_id : "", action->proposed_action,
			action->reason);
	}
	return text;
}

size_t post_has(const struct mr_mailbox_actions *actions, const char *kind, const char *path)
{
	size_t count = 0;

	for (size_t i = 0; i < actions->len; i++)
		count += mr_str_eq(actions->items[i].artifact_kind, kind) &&
			(!path || mr_str_ends(actions->items[i].path, path));
	return count;
}
