#include "base/fs.h"
#include "files.h"
#include "mailbox/export.h"
#include "mailbox/layout.h"
#include "post.h"
#include "test.h"
#include "text/json.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *join(struct post *post, const char *a, const char *b)
{
	return mr_mailbox_layout_join(post->cx.arena, a, b);
}

struct mail {
	struct post post;
	const char *first;         /* alice to bob and carol, with a copy and references */
	const char *second;        /* bob to alice */
	const char *alice, *carol; /* registration ids */
};

/* alice and bob in the root, carol linked. */
static void open_mail(struct mail *mail)
{
	struct post *post = &mail->post;
	struct mr_mailbox_attachment attachments[3];

	post_open(post);
	mail->alice = post_account(post, "alice");
	post_account(post, "bob");
	mail->carol = post_register(post, "carol", NULL, MR_MAILBOX_SAFE,
		join(post, post->dir, "private"));
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "root/attachments/managed/att-1", 0700, &post->cx.err),
		post->cx.err);
	files_put("root/attachments/managed/att-1/notes.txt", "notes");
	files_put("outside.txt", "outside");
	attachments[0] = post_attachment(post, "att-1", MR_MAILBOX_MANAGED_COPY,
		"attachments/managed/att-1/notes.txt");
	attachments[1] = post_attachment(post, "att-2", MR_MAILBOX_PATH_REF,
		join(post, post->dir, "outside.txt"));
	attachments[2] = post_attachment(post, "att-3", MR_MAILBOX_MANAGED_COPY,
		join(post, post->dir, "outside.txt"));
	mail->first = post_send(post, "alice", "bob,carol",
		&(struct mr_mailbox_attachments){ attachments, 3 });
	mail->second = post_send(post, "bob", "alice", NULL);
}

static enum mr_code try_export(struct post *post, const char *output, const char *address,
	bool preserve, struct mr_mailbox_export_result *out)
{
	const char *items[] = { address, NULL };
	struct mr_mailbox_export_request request = { .output_dir = output,
		.all_accounts = !address,
		.addresses = { items, address != NULL },
		.preserve_symlinks = preserve };

	return mr_mailbox_export(&post->cx, &post->root, &request, out);
}

static struct mr_mailbox_export_result export(struct post *post, const char *address, bool preserve)
{
	struct mr_mailbox_export_result result;

	CHECK_OK(try_export(post, "out", address, preserve, &result), post->cx.err);
	CHECK_STR(result.output_dir, join(post, post->dir, "out"));
	CHECK_STR(result.manifest_path, join(post, post->dir, "out/manifest.json"));
	return result;
}

static const struct mr_value *read_json(struct post *post, const char *path)
{
	const struct mr_value *value;
	struct mr_bytes text;

	CHECK_OK(mr_fs_read(post->cx.arena, AT_FDCWD, path, 4 << 20, &text, &post->cx.err),
		post->cx.err);
	CHECK(text.len > 0 && text.data[text.len - 1] == '\n');
	CHECK_OK(mr_json_parse(post->cx.arena, text, NULL, &value, &post->cx.err), post->cx.err);
	return value;
}

static const struct mr_value *list_of(const struct mr_value *manifest, const char *key)
{
	const struct mr_value *list = mr_value_get(manifest, key);

	CHECK(list && list->kind == MR_LIST);
	return list;
}

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	CHECK(value != NULL);
	return value->kind == MR_TEXT ? value->text : NULL;
}

/* The entry of a list where `key` is `value`. */
static const struct mr_value *find(const struct mr_value *list, const char *key, const char *value)
{
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *got = mr_value_get(&list->list.items[i], key);

		if (got && got->kind == MR_TEXT && mr_str_eq(got->text, value))
			return &list->list.items[i];
	}
	test_fail(__FILE__, __LINE__, "no entry with %s %s", key, value);
}

/* Exactly these keys, in this order. */
static void check_keys(const struct mr_value *map, const char *keys)
{
	struct mr_arena *arena = mr_arena_new();
	const char *text = "";

	for (size_t i = 0; i < map->map.len; i++)
		text = mr_arena_printf(arena, "%s%s%s", text, i ? " " : "", map->map.pairs[i].key);
	CHECK_STR(text, keys);
	mr_arena_free(arena);
}

/* Nothing of an export that failed is left. */
static void check_nothing_is_left(struct post *post)
{
	struct mr_texts names;

	CHECK_OK(mr_fs_list(post->cx.arena, AT_FDCWD, ".", 1000, &names, &post->cx.err),
		post->cx.err);
	for (size_t i = 0; i < names.len; i++)
		CHECK(!mr_str_starts(names.items[i], ".out") && !mr_str_eq(names.items[i], "out"));
}

static void all_accounts(void)
{
	struct mr_mailbox_export_result result;
	const struct mr_value *manifest;
	struct mail mail;
	struct post *post = &mail.post;
	const char *before, *path;

	open_mail(&mail);
	before = post_tree(post, "root");
	result = export(post, NULL, false);
	CHECK_STR(post_tree(post, "root"), before);
	CHECK_INT(result.account_count, 4);
	CHECK_INT(result.message_count, 2);
	CHECK_INT(result.projection_count, 5);
	CHECK_INT(result.attachment_count, 3);
	CHECK_INT(result.copied, 2 + 4 * 2 + 1);
	CHECK_INT(result.materialized, 5);
	CHECK_INT(result.preserved, 0);
	CHECK_INT(result.skipped, 1);
	CHECK_INT(result.blocked, 1);
	manifest = read_json(post, "out/manifest.json");
	check_keys(manifest,
		"accounts attachments blocked_artifacts copied_artifacts exported_at_utc "
		"materialized_artifacts messages preserved_symlinks projections schema_version "
		"selection skipped_artifacts source_mailbox_root source_protocol_version "
		"symlink_mode");
	CHECK_INT(mr_value_get(manifest, "schema_version")->integer, 1);
	CHECK_INT(mr_value_get(manifest, "source_protocol_version")->integer, 3);
	CHECK_STR(text_of(manifest, "source_mailbox_root"), post->root.path);
	CHECK_STR(text_of(manifest, "exported_at_utc"), "2026-03-11T04:15:00Z");
	CHECK_STR(text_of(manifest, "symlink_mode"), "materialize");
	CHECK(mr_value_get(mr_value_get(manifest, "selection"), "all_accounts")->boolean);
	CHECK_INT(list_of(mr_value_get(manifest, "selection"), "addresses")->list.len, 0);
	CHECK_INT(list_of(manifest, "preserved_symlinks")->list.len, 0);
	/* Nothing but what the contract has. */
	CHECK_INT(files_count("out"), 4);
	CHECK_INT(files_count("out/messages/2026-03-11"), 2);
	CHECK_INT(files_count("out/accounts"), 4);
	files_hold("out/attachments/managed/att-1/notes.txt", "notes");
	CHECK_INT(files_count("out/attachments/managed"), 1);
	path = mr_arena_printf(post->cx.arena, "out/accounts/alice@houmao.localhost/%s",
		mail.alice);
	CHECK_INT(files_count(path), 6);
	CHECK_INT(files_count(join(post, path, "inbox")), 1);
	CHECK_INT(files_count(join(post, path, "sent")), 1);
	/* Its copy of the database is one, and private. */
	CHECK_INT(post_count(post, path, "SELECT COUNT(*) FROM message_state"), 2);
	CHECK(strstr(post_tree(post, path), "mailbox.sqlite 100600 "));
	CHECK(!strstr(post_tree(post, "out"), " 120777 "));
	post_close(post);
}

static void entries_say_what_they_are(void)
{
	const struct mr_value *manifest, *entry;
	struct mail mail;
	struct post *post = &mail.post;
	const char *account, *path;

	open_mail(&mail);
	export(post, NULL, false);
	manifest = read_json(post, "out/manifest.json");
	entry = find(list_of(manifest, "accounts"), "registration_id", mail.carol);
	check_keys(entry,
		"address archive_account_path archive_local_sqlite_path created_at_utc "
		"deactivated_at_utc display_name mailbox_kind manifest_path_hint "
		"owner_principal_id registration_id replaced_by_registration_id role "
		"source_mailbox_entry_is_symlink source_mailbox_entry_path "
		"source_mailbox_entry_target source_mailbox_path status");
	account = mr_arena_printf(post->cx.arena, "accounts/carol@houmao.localhost/%s", mail.carol);
	CHECK_STR(text_of(entry, "archive_account_path"), account);
	CHECK_STR(text_of(entry, "archive_local_sqlite_path"),
		join(post, account, "mailbox.sqlite"));
	CHECK_STR(text_of(entry, "mailbox_kind"), "symlink");
	CHECK_STR(text_of(entry, "status"), "active");
	CHECK(mr_value_get(entry, "source_mailbox_entry_is_symlink")->boolean);
	CHECK_STR(text_of(entry, "source_mailbox_entry_target"), join(post, post->dir, "private"));
	CHECK_STR(text_of(entry, "source_mailbox_path"), join(post, post->dir, "private"));
	CHECK_STR(text_of(entry, "display_name"), NULL);
	CHECK(mr_value_equal(entry,
		read_json(post, join(post, join(post, "out", account), "account.json"))));

	entry = find(list_of(manifest, "messages"), "message_id", mail.first);
	check_keys(entry,
		"archive_path created_at_utc in_reply_to message_id sender_address "
		"sender_principal_id sender_registration_id source_path subject thread_id");
	CHECK_STR(text_of(entry, "subject"),
		"Gr\xc3\xbc\xc3\x9f"
		"e");
	CHECK_STR(text_of(entry, "archive_path"),
		mr_arena_printf(post->cx.arena, "messages/2026-03-11/%s.md", mail.first));

	entry = find(list_of(manifest, "projections"), "registration_id", mail.carol);
	check_keys(entry,
		"action address archive_path folder_name message_id reason registration_id "
		"source_path");
	path = mr_arena_printf(post->cx.arena, "%s/inbox/%s.md", account, mail.first);
	CHECK_STR(text_of(entry, "archive_path"), path);
	CHECK_STR(text_of(entry, "action"), "materialized");

	entry = find(list_of(manifest, "attachments"), "attachment_id", "att-2");
	check_keys(entry,
		"action archive_path attachment_id kind label media_type message_id ordinal reason "
		"sha256 size_bytes source_path target_exists");
	CHECK_STR(text_of(entry, "action"), "skipped");
	CHECK(mr_value_get(entry, "target_exists")->boolean);
	CHECK_STR(text_of(entry, "archive_path"), NULL);
	CHECK_INT(mr_value_get(entry, "ordinal")->integer, 1);
	CHECK(mr_value_get(entry, "size_bytes")->kind == MR_NULL);

	entry = find(list_of(manifest, "materialized_artifacts"), "registration_id", mail.carol);
	check_keys(entry,
		"address archive_path artifact_kind message_id outcome reason registration_id "
		"registration_status source_path");
	CHECK_STR(text_of(entry, "outcome"), "materialized");
	CHECK_STR(text_of(entry, "archive_path"), join(post, join(post, post->dir, "out"), path));
	entry = find(list_of(manifest, "skipped_artifacts"), "attachment_id", "att-2");
	check_keys(entry,
		"artifact_kind attachment_id details message_id outcome reason source_path");
	CHECK(mr_value_get(mr_value_get(entry, "details"), "target_exists")->boolean);
	entry = find(list_of(manifest, "blocked_artifacts"), "attachment_id", "att-3");
	CHECK_STR(text_of(entry, "reason"),
		"the copy is not in the root's directory of managed attachments");
	CHECK_STR(text_of(entry, "artifact_kind"), "managed_attachment");
	entry = find(list_of(manifest, "copied_artifacts"), "artifact_kind", "account_metadata");
	check_keys(entry,
		"address archive_path artifact_kind outcome reason registration_id "
		"registration_status");
	find(list_of(manifest, "copied_artifacts"), "artifact_kind", "mailbox_local_sqlite");
	find(list_of(manifest, "copied_artifacts"), "artifact_kind", "canonical_message");
	find(list_of(manifest, "copied_artifacts"), "artifact_kind", "managed_attachment");
	post_close(post);
}

static void one_account(void)
{
	struct mr_mailbox_export_result result;
	const struct mr_value *manifest;
	struct mail mail;
	struct post *post = &mail.post;

	open_mail(&mail);
	result = export(post, "carol@houmao.localhost", false);
	CHECK_INT(result.account_count, 1);
	CHECK_INT(result.message_count, 1);
	CHECK_INT(result.projection_count, 1);
	CHECK_INT(result.attachment_count, 3);
	CHECK_INT(files_count("out/accounts"), 1);
	manifest = read_json(post, "out/manifest.json");
	CHECK(!mr_value_get(mr_value_get(manifest, "selection"), "all_accounts")->boolean);
	CHECK_STR(list_of(mr_value_get(manifest, "selection"), "addresses")->list.items[0].text,
		"carol@houmao.localhost");
	post_close(post);
}

static void links_are_kept_when_asked(void)
{
	struct mr_mailbox_export_result result;
	const struct mr_value *entry;
	struct mail mail;
	struct post *post = &mail.post;
	struct mr_bytes text;
	const char *target;

	open_mail(&mail);
	result = export(post, NULL, true);
	CHECK_INT(result.preserved, 5);
	CHECK_INT(result.materialized, 0);
	target = mr_arena_printf(post->cx.arena, "../../../../messages/2026-03-11/%s.md",
		mail.first);
	entry = find(list_of(read_json(post, "out/manifest.json"), "preserved_symlinks"),
		"registration_id", mail.carol);
	CHECK_STR(text_of(entry, "symlink_target"), target);
	CHECK_STR(text_of(entry, "outcome"), "preserved_symlink");
	CHECK_STR(text_of(read_json(post, "out/manifest.json"), "symlink_mode"), "preserve");
	/* It leads to the message wherever the archive is. */
	CHECK(rename("out", "moved") == 0);
	CHECK_OK(mr_fs_read(post->cx.arena, AT_FDCWD,
			 mr_arena_printf(post->cx.arena,
				 "moved/accounts/carol@houmao.localhost/%s/inbox/%s.md", mail.carol,
				 mail.first),
			 1 << 20, &text, &post->cx.err),
		post->cx.err);
	CHECK(strstr((const char *)text.data, mail.first));
	post_close(post);
}

/* Registrations that are over, and messages nobody has any more. */
static void all_means_all(void)
{
	struct mr_mailbox_export_result result;
	const struct mr_value *entry;
	struct mail mail;
	struct post *post = &mail.post;

	open_mail(&mail);
	post_unregister(post, "alice", MR_MAILBOX_DEACTIVATE);
	CHECK(unlink(join(post, post_mailbox(post, "alice"), "mailbox.sqlite")) == 0);
	post_unregister(post, "bob", MR_MAILBOX_PURGE);
	result = export(post, NULL, false);
	CHECK_INT(result.account_count, 3);
	CHECK_INT(result.message_count, 2);
	CHECK_INT(result.projection_count, 3);
	entry = find(list_of(read_json(post, "out/manifest.json"), "accounts"), "registration_id",
		mail.alice);
	CHECK_STR(text_of(entry, "status"), "inactive");
	CHECK_STR(text_of(entry, "archive_local_sqlite_path"), NULL);
	entry = find(list_of(read_json(post, "out/manifest.json"), "skipped_artifacts"),
		"registration_id", mail.alice);
	CHECK_STR(text_of(entry, "reason"), "the mailbox has no state file");
	post_close(post);
}

static void state_that_cannot_be_read(void)
{
	struct mr_mailbox_export_result result;
	const struct mr_value *entry;
	struct mail mail;
	struct post *post = &mail.post;

	open_mail(&mail);
	files_put(join(post, post_mailbox(post, "alice"), "mailbox.sqlite"),
		"this is a sentence that no database begins with");
	CHECK(try_export(post, "out", NULL, false, &result) != MR_OK);
	CHECK(mr_str_starts(post->cx.err.msg, "mailbox root needs repair before export: "));
	check_nothing_is_left(post);
	/* Of a mailbox that is over it is reported. */
	post_exec(post, NULL,
		"UPDATE mailbox_registrations SET status = 'inactive' WHERE address LIKE 'alice%'");
	result = export(post, NULL, false);
	CHECK_INT(result.blocked, 2);
	entry = find(list_of(read_json(post, "out/manifest.json"), "blocked_artifacts"),
		"registration_id", mail.alice);
	CHECK(strstr(text_of(entry, "reason"), "is not a usable database"));
	CHECK_INT(files_count(mr_arena_printf(post->cx.arena,
			  "out/accounts/alice@houmao.localhost/%s", mail.alice)),
		5);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "out", &post->cx.err), post->cx.err);
	/* Neither is a link followed. */
	CHECK(rename(join(post, post_mailbox(post, "alice"), "mailbox.sqlite"), "x") == 0);
	CHECK(symlink("/etc/passwd", join(post, post_mailbox(post, "alice"), "mailbox.sqlite")) ==
		0);
	result = export(post, NULL, false);
	entry = find(list_of(read_json(post, "out/manifest.json"), "blocked_artifacts"),
		"registration_id", mail.alice);
	CHECK_STR(text_of(entry, "reason"), "the mailbox's state is not a regular file");
	post_close(post);
}

static void what_is_not_there_is_blocked(void)
{
	static const struct {
		const char *list, *key, *reason;
	} cases[] = {
		{ "messages", "archive_path", NULL },
		{ "projections", "action", "its document is not in the export" },
		{ "attachments", "action", "the copy is missing" },
	};
	struct mr_mailbox_export_result result;
	const struct mr_value *manifest, *entry;
	struct mail mail;
	struct post *post = &mail.post;

	open_mail(&mail);
	CHECK(unlink(mr_arena_printf(post->cx.arena, "root/messages/2026-03-11/%s.md",
		      mail.first)) == 0);
	CHECK(unlink("root/attachments/managed/att-1/notes.txt") == 0);
	CHECK(unlink("outside.txt") == 0);
	result = export(post, NULL, false);
	CHECK_INT(result.message_count, 2);
	CHECK_INT(result.projection_count, 5);
	CHECK_INT(result.materialized, 2);
	/* The message, its three projections, two copies. */
	CHECK_INT(result.blocked, 6);
	manifest = read_json(post, "out/manifest.json");
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		entry = find(list_of(manifest, cases[i].list), "message_id", mail.first);
		CHECK_STR(text_of(entry, "archive_path"), NULL);
		if (cases[i].reason) {
			CHECK_STR(text_of(entry, "action"), "blocked");
			CHECK_STR(text_of(entry, "reason"), cases[i].reason);
		}
	}
	entry = find(list_of(manifest, "blocked_artifacts"), "artifact_kind", "canonical_message");
	CHECK_STR(text_of(entry, "reason"), "the document is missing");
	entry = find(list_of(manifest, "attachments"), "attachment_id", "att-2");
	CHECK(!mr_value_get(entry, "target_exists")->boolean);
	CHECK_STR(text_of(entry, "action"), "skipped");
	post_close(post);
}

/* An index may say anything. */
static void hostile_rows_are_blocked(void)
{
	static const struct {
		const char *sql, *list, *reason;
	} cases[] = {
		{ "UPDATE messages SET canonical_path = '/etc/passwd'", "canonical_message",
			"the document is not in the root's messages directory" },
		{ "UPDATE messages SET canonical_path = replace(canonical_path, '2026-03-11/',"
		  " '../')",
			"canonical_message",
			"the document is not in the root's messages directory" },
		{ "UPDATE messages SET canonical_path = replace(canonical_path, '2026-03-11/msg',"
		  " 'linked/msg')",
			"canonical_message", "it cannot be opened" },
		{ "UPDATE messages SET canonical_path = replace(canonical_path, '.md', '')",
			"canonical_message", "it is not a regular file" },
		{ "UPDATE mailbox_projections SET folder_name = '../../..'", "mailbox_projection",
			"its folder or its id cannot name a file" },
		{ "UPDATE mailbox_projections SET projection_path = '/etc/passwd'",
			"mailbox_projection",
			"the projection is not in the registration's directory" },
		{ "UPDATE attachments SET kind = 'hologram'", "attachment",
			"attachments of this kind are not known" },
		{ "UPDATE attachments SET locator = 'attachments/managed/out/passwd' WHERE kind ="
		  " 'managed_copy'",
			"managed_attachment", "it cannot be opened" },
		{ "UPDATE attachments SET locator = 'attachments/managed/att-1' WHERE kind ="
		  " 'managed_copy'",
			"managed_attachment", "it is not a regular file" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mail mail;
		struct post *post = &mail.post;
		const struct mr_value *blocked, *entry = NULL;

		open_mail(&mail);
		CHECK(symlink("/etc", "root/attachments/managed/out") == 0);
		CHECK(symlink("/", "root/messages/linked") == 0);
		CHECK(mkdir(mr_arena_printf(post->cx.arena, "root/messages/2026-03-11/%s",
				    mail.first),
			      0700) == 0);
		CHECK(mkdir(mr_arena_printf(post->cx.arena, "root/messages/2026-03-11/%s",
				    mail.second),
			      0700) == 0);
		post_exec(post, NULL, cases[i].sql);
		export(post, NULL, false);
		blocked = list_of(read_json(post, "out/manifest.json"), "blocked_artifacts");
		for (size_t j = 0; !entry && j < blocked->list.len; j++)
			if (mr_str_eq(text_of(&blocked->list.items[j], "reason"), cases[i].reason))
				entry = &blocked->list.items[j];
		CHECK(entry != NULL);
		CHECK_STR(text_of(entry, "artifact_kind"), cases[i].list);
		CHECK(!strstr(post_tree(post, "out"), "passwd"));
		post_close(post);
		CHECK_OK(mr_fs_remove_all(AT_FDCWD, "out", &post->cx.err), post->cx.err);
		CHECK_OK(mr_fs_remove_all(AT_FDCWD, "root", &post->cx.err), post->cx.err);
		CHECK_OK(mr_fs_remove_all(AT_FDCWD, "private", &post->cx.err), post->cx.err);
	}
}

/* An id of a script's choice, and one that two messages share. */
static void any_attachment_id(void)
{
	struct mr_mailbox_export_result result;
	const struct mr_value *list;
	struct mail mail;
	struct post *post = &mail.post;
	struct mr_mailbox_attachment attachments[2];

	open_mail(&mail);
	attachments[0] = post_attachment(post, "../../x", MR_MAILBOX_MANAGED_COPY,
		"attachments/managed/att-1/notes.txt");
	attachments[1] = post_attachment(post, "att-1", MR_MAILBOX_MANAGED_COPY,
		"attachments/managed/att-1/notes.txt");
	post_send(post, "bob", "alice", &(struct mr_mailbox_attachments){ attachments, 2 });
	result = export(post, NULL, false);
	CHECK_INT(result.attachment_count, 5);
	files_hold("out/attachments/managed/unnamed-1/notes.txt", "notes");
	files_hold("out/attachments/managed/att-1/notes.txt", "notes");
	CHECK_INT(files_count("out/attachments/managed"), 2);
	list = list_of(read_json(post, "out/manifest.json"), "attachments");
	CHECK_STR(text_of(find(list, "attachment_id", "../../x"), "archive_path"),
		"attachments/managed/unnamed-1/notes.txt");
	post_close(post);
}

static void requests_are_checked(void)
{
	static const char *const one[] = { "a@b", NULL };
	static const char *const twice[] = { "a@b", "a@b", NULL };
	static const char *const bad[] = { "nobody", NULL };
	const struct {
		struct mr_mailbox_export_request request;
		enum mr_code code;
		const char *text;
	} cases[] = {
		{ { .output_dir = "out" }, MR_EINVAL,
			"mailbox export payload: $: exactly one of all_accounts and addresses must "
			"be given" },
		{ { .output_dir = "out",
			  .all_accounts = true,
			  .addresses = { (const char **)one, 1 } },
			MR_EINVAL,
			"mailbox export payload: $: exactly one of all_accounts and addresses must "
			"be given" },
		{ { .output_dir = "out", .addresses = { (const char **)twice, 2 } }, MR_EINVAL,
			"mailbox export payload: $.addresses: must not contain duplicate "
			"addresses: "
			"a@b" },
		{ { .output_dir = "", .all_accounts = true }, MR_EINVAL,
			"mailbox export payload: $.output_dir: must not be empty" },
		{ { .output_dir = "out/..", .all_accounts = true }, MR_EINVAL,
			"out/.. cannot be the name of an export output directory" },
		{ { .output_dir = "/", .all_accounts = true }, MR_EINVAL,
			"/ cannot be the name of an export output directory" },
		{ { .output_dir = "out", .addresses = { (const char **)one, 1 } }, MR_ENOTFOUND,
			"mailbox export selected address not found: a@b" },
	};
	struct mr_mailbox_export_request request = { .output_dir = "out",
		.addresses = { (const char **)bad, 1 } };
	struct mr_mailbox_export_result result;
	struct post post;

	post_open(&post);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_ERR(mr_mailbox_export(&post.cx, &post.root, &cases[i].request, &result),
			post.cx.err, cases[i].code, cases[i].text);
		check_nothing_is_left(&post);
		CHECK(rmdir("out") != 0);
	}
	CHECK_INT(mr_mailbox_export(&post.cx, &post.root, &request, &result), MR_EINVAL);
	CHECK(mr_str_starts(post.cx.err.msg, "mailbox export payload: $.addresses: "));
	post_close(&post);
}

static void the_output_must_be_free(void)
{
	struct mr_mailbox_export_result result;
	struct post post;
	const char *text;

	post_open(&post);
	text = mr_arena_printf(post.cx.arena, "export output directory already exists: %s/taken",
		post.dir);
	CHECK(symlink("/nowhere", "taken") == 0);
	CHECK_ERR(try_export(&post, "taken", NULL, false, &result), post.cx.err, MR_EEXISTS, text);
	CHECK(unlink("taken") == 0 && mkdir("taken", 0700) == 0);
	CHECK_ERR(try_export(&post, "taken/", NULL, false, &result), post.cx.err, MR_EEXISTS, text);
	CHECK_INT(files_count("taken"), 0);
	/* Among mail an export would be taken for mail; beside it is fine. */
	CHECK_ERR(try_export(&post, "root/messages/out", NULL, false, &result), post.cx.err,
		MR_EINVAL,
		mr_arena_printf(post.cx.arena,
			"export output directory must not lie in the mailbox root's messages: "
			"%s/root/messages/out",
			post.dir));
	CHECK_OK(try_export(&post, "root/export", NULL, false, &result), post.cx.err);
	CHECK_OK(try_export(&post, "a/new/place//", NULL, false, &result), post.cx.err);
	CHECK_STR(result.output_dir, join(&post, post.dir, "a/new/place"));
	CHECK(access("a/new/place/manifest.json", F_OK) == 0);
	post_close(&post);
}

#define CHANCE "0123456789abcdef0123456789abcdef"

/* What a killed export left goes with the next one to the same place, and nothing else does. */
static void left_directories_are_cleared(void)
{
	static const char *const others[] = { ".out.mailroom-1-" CHANCE "0",
		".out.mailroom--" CHANCE, ".out.mailroom-1", ".out.mailroom-1x" CHANCE,
		".out.tmp-1-" CHANCE, ".other.mailroom-1-" CHANCE, "out.mailroom-1-" CHANCE };
	struct mr_mailbox_export_result result;
	struct post post;
	int held;

	post_open(&post);
	for (size_t i = 0; i < MR_LEN(others); i++)
		CHECK(mkdir(others[i], 0700) == 0);
	files_put(".out.mailroom-3-" CHANCE, "a file");
	CHECK(mkdir("elsewhere", 0700) == 0);
	files_put("elsewhere/file", "x");
	CHECK(symlink("elsewhere", ".out.mailroom-4-" CHANCE) == 0);
	CHECK(mkdir(".out.mailroom-1-" CHANCE, 0700) == 0);
	files_put(".out.mailroom-1-" CHANCE "/file", "x");
	CHECK(mkdir(".out.mailroom-2-" CHANCE, 0700) == 0);
	held = open(".out.mailroom-2-" CHANCE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(held >= 0 && flock(held, LOCK_EX | LOCK_NB) == 0);

	CHECK_OK(try_export(&post, "out", NULL, false, &result), post.cx.err);
	CHECK(access(".out.mailroom-1-" CHANCE, F_OK) != 0);
	CHECK(access(".out.mailroom-2-" CHANCE, F_OK) == 0);
	files_hold(".out.mailroom-3-" CHANCE, "a file");
	files_hold(".out.mailroom-4-" CHANCE "/file", "x");
	for (size_t i = 0; i < MR_LEN(others); i++)
		CHECK(access(others[i], F_OK) == 0);
	close(held);
	post_close(&post);
}

/* Wherever one is killed, the next one comes to its end and leaves nothing but the export. */
static void killed_exports_leave_nothing(void)
{
	static const char *const points[] = { "export.open.made", "export.locked.copied",
		"export.finish.synced" };
	struct mr_mailbox_export_result result;
	struct mail mail;

	if (!files_fail_at(NULL))
		return;
	open_mail(&mail);
	CHECK(mkdir("place", 0700) == 0);
	for (size_t i = 0; i < MR_LEN(points); i++) {
		pid_t child = fork();
		int status;

		CHECK(child >= 0);
		if (child == 0) {
			setenv("MAILROOM_CRASH_AT", points[i], 1);
			_exit(try_export(&mail.post, "place/out", NULL, false, &result) ? 1 : 2);
		}
		CHECK_INT(waitpid(child, &status, 0), child);
		CHECK(WIFSIGNALED(status));
		CHECK_INT(files_count("place"), 1);
		CHECK(access("place/out", F_OK) != 0);
		CHECK_OK(try_export(&mail.post, "place/out", NULL, false, &result),
			mail.post.cx.err);
		CHECK_INT(files_count("place"), 1);
		CHECK_INT(result.message_count, 2);
		CHECK_OK(mr_fs_remove_all(AT_FDCWD, "place/out", &mail.post.cx.err),
			mail.post.cx.err);
	}
	post_close(&mail.post);
}

static void active_mailboxes_must_be_whole(void)
{
	static const char needs[] = "mailbox root needs repair before export: ";
	struct mr_mailbox_export_result result;
	struct mail mail;
	struct post *post = &mail.post;
	const char *alice;

	open_mail(&mail);
	alice = post_mailbox(post, "alice");
	CHECK(rename(join(post, alice, "drafts"), "d") == 0);
	CHECK_INT(try_export(post, "out", NULL, false, &result), MR_ECONFLICT);
	CHECK(mr_str_starts(post->cx.err.msg, needs));
	CHECK(rename("d", join(post, alice, "drafts")) == 0);
	CHECK(rename(alice, "moved") == 0 && symlink("../../moved", alice) == 0);
	CHECK_INT(try_export(post, "out", NULL, false, &result), MR_ECONFLICT);
	CHECK(mr_str_starts(post->cx.err.msg, needs));
	CHECK(unlink(alice) == 0);
	CHECK_INT(try_export(post, "out", "alice@houmao.localhost", false, &result), MR_ECONFLICT);
	CHECK(mr_str_starts(post->cx.err.msg, needs));
	/* Others' trouble is not theirs. */
	CHECK_OK(try_export(post, "out", "bob@houmao.localhost", false, &result), post->cx.err);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "out", &post->cx.err), post->cx.err);
	post_exec(post, NULL,
		"PRAGMA foreign_keys=OFF;"
		"UPDATE mailbox_registrations SET status = 'inactive', registration_id = '../x'"
		" WHERE address LIKE 'alice%'");
	CHECK_INT(try_export(post, "out", NULL, false, &result), MR_ECONFLICT);
	CHECK(mr_str_starts(post->cx.err.msg, needs));
	CHECK(unlink("root/index.sqlite") == 0);
	CHECK_INT(try_export(post, "out", NULL, false, &result), MR_ECONFLICT);
	CHECK(mr_str_starts(post->cx.err.msg, needs));
	check_nothing_is_left(post);
	post_close(post);
}

static void count_progress(void *arg, const char *what, size_t done, size_t total)
{
	CHECK_STR(what, "exporting");
	CHECK_INT(total, 10);
	*(size_t *)arg = done;
}

static void it_says_how_far_it_is(void)
{
	struct mail mail;
	size_t last = 0;
	size_t open;

	open_mail(&mail);
	open = files_open();
	mail.post.cx.progress = count_progress;
	mail.post.cx.progress_arg = &last;
	export(&mail.post, NULL, false);
	CHECK_INT(last, 10);
	CHECK_INT(files_open(), open);
	post_close(&mail.post);
}

static const struct test tests[] = {
	TEST(all_accounts),
	TEST(entries_say_what_they_are),
	TEST(one_account),
	TEST(links_are_kept_when_asked),
	TEST(all_means_all),
	TEST(state_that_cannot_be_read),
	TEST(what_is_not_there_is_blocked),
	TEST(hostile_rows_are_blocked),
	TEST(any_attachment_id),
	TEST(requests_are_checked),
	TEST(the_output_must_be_free),
	TEST(left_directories_are_cleared),
	TEST(killed_exports_leave_nothing),
	TEST(active_mailboxes_must_be_whole),
	TEST(it_says_how_far_it_is),
};

int main(void)
{
	return test_main(tests, MR_LEN(tests));
}
