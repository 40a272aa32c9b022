/* tests/unit/mailbox/test_mailbox_index_sql.c */
#include "mailbox/index_sql.h"

#include "database.h"
#include "files.h"
#include "mailbox/registration_sql.h"
#include "test.h"
#include "text/json.h"

#include <stdio.h>
#include <string.h>

struct world {
	struct mr_ctx cx;
	struct mr_db *db;
};

static void world_close(struct world *w)
{
	database_closep(&w->db);
	mr_arena_free(w->cx.arena);
}

static void exec(struct world *w, const char *sql)
{
	database_exec(&w->cx, w->db, sql);
}

static struct world world_open(void)
{
	struct world w = { .cx = { .arena = mr_arena_new() } };
	struct mr_db_options options = {
		.path = "index.sqlite",
		.create = true,
		.journal = MR_DB_JOURNAL_DELETE,
	};

	files_enter();
	w.db = database_open(&w.cx, &options);
	CHECK_OK(mr_mailbox_index_schema(&w.cx, w.db), w.cx.err);
	exec(&w,
		"INSERT INTO mailbox_registrations(registration_id, address, owner_principal_id, "
		"status, mailbox_kind, mailbox_path, mailbox_entry_path, created_at_utc) VALUES"
		"('r1', 'a@x', 'o', 'active', 'in_root', '/p', '/p', 'c'),"
		"('r2', 'b@x', 'o', 'active', 'symlink', '/q', '/p', 'c')");
	return w;
}

/* The first column of every row, joined. */
static const char *text(struct world *w, const char *sql)
{
	const char *all = database_list(&w->cx, w->db, sql, "|");

	return all ? all : "";
}

static const struct mr_value *headers(struct world *w, const char *json)
{
	const struct mr_value *value = NULL;

	CHECK_OK(mr_json_parse(w->cx.arena, mr_bytes_text(json), NULL, &value, &w->cx.err),
		w->cx.err);
	return value;
}

static struct mr_mailbox_principal people[] = {
	{ "o1", "b@x", "B", "/hint", "role" },
	{ "o2", "c@x", NULL, NULL, NULL },
};

static struct mr_mailbox_message sample(struct world *w, const char *id, const char *thread,
	const char *at)
{
	return (struct mr_mailbox_message){
		.message_id = id,
		.thread_id = thread,
		.created_at_utc = at,
		.sender = { "o", "a@x", NULL, NULL, NULL },
		.to = { people, 2 },
		.cc = { people, 1 },
		.subject = "Hello",
		.headers = headers(w, "{}"),
	};
}

static enum mr_code insert(struct world *w, const struct mr_mailbox_message *message)
{
	static const char *const ids[] = { "r2", NULL, "r2" };
	struct mr_mailbox_delivered delivered = { "/r/x.md", "---\nthe whole\n", "r1", ids };

	return mr_mailbox_index_insert(&w->cx, w->db, message, &delivered);
}

static void add(struct world *w, const char *id, const char *thread, const char *at)
{
	struct mr_mailbox_message message = sample(w, id, thread, at);

	CHECK_OK(insert(w, &message), w->cx.err);
}

static void project(struct world *w, const char *registration, const char *id, const char *folder)
{
	struct mr_mailbox_projection row = { registration, id, folder, "/link" };

	CHECK_OK(mr_mailbox_index_add_projection(&w->cx, w->db, &row), w->cx.err);
}

static void the_schema_is_the_contract(void)
{
	static const struct {
		const char *table, *columns;
	} tables[] = {
		{ "mailbox_registrations",
			"registration_id|address|owner_principal_id|status|mailbox_kind|"
			"mailbox_path|mailbox_entry_path|display_name|manifest_path_hint|role|"
			"created_at_utc|deactivated_at_utc|replaced_by_registration_id" },
		{ "messages",
			"message_id|thread_id|in_reply_to|created_at_utc|canonical_path|subject|"
			"body_markdown|headers_json|sender_principal_id|sender_address|"
			"sender_display_name|sender_manifest_path_hint|sender_role|"
			"sender_registration_id" },
		{ "message_recipients",
			"message_id|recipient_kind|ordinal|address|owner_principal_id|display_name|"
			"manifest_path_hint|role|delivered_registration_id" },
		{ "attachments", "attachment_id|kind|locator|media_type|sha256|size_bytes|label" },
		{ "message_attachments", "message_id|attachment_id|ordinal" },
		{ "mailbox_projections", "registration_id|message_id|folder_name|projection_path" },
		{ "mailbox_state",
			"registration_id|message_id|is_read|is_answered|is_starred|is_archived|"
			"is_deleted|box_name" },
		{ "thread_summaries",
			"thread_id|normalized_subject|latest_message_id|"
			"latest_message_created_at_utc|unread_count" },
	};
	static const char *const refused[] = {
		("INSERT INTO mailbox_registrations SELECT 'r3', address, 'o', 'active', "
		 "'in_root', "
		 "'/p', '/p', NULL, NULL, NULL, 'c', NULL, NULL FROM mailbox_registrations LIMIT "
		 "1"),
		"UPDATE mailbox_registrations SET status = 'gone'",
		"UPDATE mailbox_registrations SET mailbox_kind = 'x'",
		"UPDATE mailbox_registrations SET replaced_by_registration_id = 'none'",
		"INSERT INTO mailbox_projections VALUES('r1', 'none', 'inbox', '/l')",
		"INSERT INTO message_attachments VALUES('none', 'none', 0)",
	};
	struct world w MR_CLEANUP(world_close) = world_open();

	for (size_t i = 0; i < MR_LEN(tables); i++)
		CHECK_STR(text(&w,
				  mr_arena_printf(w.cx.arena,
					  "SELECT name FROM pragma_table_info('%s')",
					  tables[i].table)),
			tables[i].columns);
	CHECK_STR(text(&w,
			  "SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE "
			  "'idx%' ORDER BY name"),
		"idx_mailbox_registrations_active_address|"
		"idx_mailbox_registrations_owner_principal|idx_messages_thread_id|"
		"idx_recipients_address|idx_state_registration_id");
	for (size_t i = 0; i < MR_LEN(refused); i++)
		CHECK(database_try(&w.cx, w.db, refused[i]) != MR_OK);
	CHECK_STR(text(&w, "PRAGMA user_version"), "0");
	CHECK_STR(text(&w, "PRAGMA journal_mode"), "delete");
	/* What is missing is made, what is there stays; inside a transaction too. */
	exec(&w, "DROP TABLE thread_summaries; DROP INDEX idx_messages_thread_id");
	database_begin(&w.cx, w.db);
	CHECK_OK(mr_mailbox_index_schema(&w.cx, w.db), w.cx.err);
	CHECK(database_in_transaction(w.db));
	database_commit(&w.cx, w.db);
	CHECK_STR(text(&w, "SELECT count(*) FROM thread_summaries"), "0");
	CHECK_STR(text(&w, "SELECT count(*) FROM mailbox_registrations"), "2");
}

static void a_message_comes_back_as_it_was(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();
	struct mr_mailbox_message message = sample(&w, "m1", "m0", "2026-03-11T04:15:00Z");
	struct mr_mailbox_attachment items[] = {
		{ "a1", MR_MAILBOX_PATH_REF, "/x", "text/plain", NULL, -1, NULL },
		{ "a2", MR_MAILBOX_MANAGED_COPY, "y", "image/png", "00ff", 0, "label" },
	};
	const struct mr_mailbox_indexed *got = NULL;
	struct mr_mailbox_recipients recipients;
	struct mr_mailbox_attachments attachments;
	bool has = true;

	CHECK_OK(mr_mailbox_index_has(&w.cx, w.db, "m1", &has), w.cx.err);
	CHECK(!has);
	CHECK_OK(mr_mailbox_index_get(&w.cx, w.db, "m1", &got), w.cx.err);
	CHECK(!got);
	message.in_reply_to = "m0";
	message.attachments = (struct mr_mailbox_attachments){ items, 2 };
	message.sender.role = "r";
	message.headers =
		headers(&w, "{\"z\": [1, 2.5, null, true], \"a\": \"\xc3\xbc\xf0\x9f\x98\x80\"}");
	CHECK_OK(insert(&w, &message), w.cx.err);
	CHECK_OK(mr_mailbox_index_has(&w.cx, w.db, "m1", &has), w.cx.err);
	CHECK(has);
	CHECK_OK(mr_mailbox_index_get(&w.cx, w.db, "m1", &got), w.cx.err);
	CHECK_STR(got->message_id, "m1");
	CHECK_STR(got->thread_id, "m0");
	CHECK_STR(got->in_reply_to, "m0");
	CHECK_STR(got->created_at, "2026-03-11T04:15:00Z");
	CHECK_STR(got->canonical_path, "/r/x.md");
	CHECK_STR(got->subject, "Hello");
	CHECK_STR(got->document, "---\nthe whole\n");
	/* As json.dumps(sort_keys=True) has it. */
	CHECK_STR(got->headers_json,
		"{\"a\": \"\\u00fc\\ud83d\\ude00\", \"z\": [1, 2.5, null, true]}");
	CHECK_STR(got->sender.principal_id, "o");
	CHECK_STR(got->sender.address, "a@x");
	CHECK_STR(got->sender.display_name, NULL);
	CHECK_STR(got->sender.role, "r");
	CHECK_STR(got->sender_registration_id, "r1");

	CHECK_OK(mr_mailbox_index_recipients(&w.cx, w.db, "m1", &recipients), w.cx.err);
	CHECK_INT(recipients.len, 3);
	for (size_t i = 0; i < 3; i++) {
		CHECK_STR(recipients.items[i].kind, i < 2 ? "to" : "cc");
		CHECK_INT(recipients.items[i].ordinal, (int)i);
		CHECK_STR(recipients.items[i].principal.address, i == 1 ? "c@x" : "b@x");
		CHECK_STR(recipients.items[i].principal.display_name, i == 1 ? NULL : "B");
		CHECK_STR(recipients.items[i].registration_id, i == 1 ? NULL : "r2");
	}
	CHECK_OK(mr_mailbox_index_attachments(&w.cx, w.db, "m1", &attachments), w.cx.err);
	CHECK_INT(attachments.len, 2);
	for (size_t i = 0; i < 2; i++) {
		CHECK_STR(attachments.items[i].attachment_id, items[i].attachment_id);
		CHECK_INT(attachments.items[i].kind, items[i].kind);
		CHECK_STR(attachments.items[i].path, items[i].path);
		CHECK_STR(attachments.items[i].media_type, items[i].media_type);
		CHECK_STR(attachments.items[i].sha256, items[i].sha256);
		CHECK_INT(attachments.items[i].size_bytes, items[i].size_bytes);
		CHECK_STR(attachments.items[i].label, items[i].label);
	}
	CHECK_INT(insert(&w, &message), MR_EEXISTS);
}

static void an_attachment_is_one_thing(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();
	struct mr_mailbox_attachment item = { "a1", MR_MAILBOX_PATH_REF, "/x", "t/p", NULL, 5,
		NULL };
	struct mr_mailbox_attachment others[] = {
		{ "a1", MR_MAILBOX_MANAGED_COPY, "/x", "t/p", NULL, 5, NULL },
		{ "a1", MR_MAILBOX_PATH_REF, "/y", "t/p", NULL, 5, NULL },
		{ "a1", MR_MAILBOX_PATH_REF, "/x", "t/q", NULL, 5, NULL },
		{ "a1", MR_MAILBOX_PATH_REF, "/x", "t/p", "00", 5, NULL },
		{ "a1", MR_MAILBOX_PATH_REF, "/x", "t/p", NULL, -1, NULL },
		{ "a1", MR_MAILBOX_PATH_REF, "/x", "t/p", NULL, 5, "l" },
	};
	struct mr_mailbox_message message = sample(&w, "m1", "m1", "c");

	message.attachments = (struct mr_mailbox_attachments){ &item, 1 };
	CHECK_OK(insert(&w, &message), w.cx.err);
	message.message_id = "m2";
	CHECK_OK(insert(&w, &message), w.cx.err);
	CHECK_STR(text(&w, "SELECT count(*) FROM message_attachments"), "2");
	for (size_t i = 0; i < MR_LEN(others); i++) {
		message.message_id = mr_arena_printf(w.cx.arena, "n%zu", i);
		message.attachments.items = &others[i];
		CHECK_ERR(insert(&w, &message), w.cx.err, MR_ECONFLICT,
			"attachment id `a1` is known with other metadata (kind, path, media type, "
			"digest, size or label); use an id of its own");
	}
	/* It goes with the last message that has it. */
	CHECK_OK(mr_mailbox_index_delete(&w.cx, w.db, "m1"), w.cx.err);
	CHECK_STR(text(&w, "SELECT count(*) FROM attachments"), "1");
	CHECK_OK(mr_mailbox_index_delete(&w.cx, w.db, "m2"), w.cx.err);
	CHECK_STR(text(&w, "SELECT count(*) FROM attachments"), "0");
	CHECK_STR(text(&w, "SELECT count(*) FROM message_recipients WHERE message_id < 'n'"), "0");
}

static const char *projections(struct world *w, const char *registration, const char *id)
{
	struct mr_mailbox_projections list;
	const char *out = "";

	CHECK_OK(mr_mailbox_index_projections(&w->cx, w->db, registration, id, &list), w->cx.err);
	for (size_t i = 0; i < list.len; i++)
		out = mr_arena_printf(w->cx.arena, "%s%s/%s/%s%s ", out,
			list.items[i].registration_id, list.items[i].message_id,
			list.items[i].folder, list.items[i].path);
	return out;
}

static void projections_are_found_by_either(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();

	add(&w, "m1", "m1", "c");
	add(&w, "m2", "m2", "c");
	project(&w, "r1", "m1", "sent");
	project(&w, "r1", "m1", "inbox");
	project(&w, "r2", "m1", "inbox");
	project(&w, "r2", "m2", "inbox");
	project(&w, "r2", "m2", "inbox");
	CHECK_STR(projections(&w, NULL, NULL),
		"r1/m1/inbox/link r1/m1/sent/link r2/m1/inbox/link r2/m2/inbox/link ");
	CHECK_STR(projections(&w, "r2", NULL), "r2/m1/inbox/link r2/m2/inbox/link ");
	CHECK_STR(projections(&w, NULL, "m1"),
		"r1/m1/inbox/link r1/m1/sent/link r2/m1/inbox/link ");
	CHECK_STR(projections(&w, "r1", "m1"), "r1/m1/inbox/link r1/m1/sent/link ");
	CHECK_STR(projections(&w, "r1", "m2"), "");
	CHECK_OK(mr_mailbox_index_drop_projections(&w.cx, w.db, "r2", "m2"), w.cx.err);
	CHECK_STR(projections(&w, "r2", NULL), "r2/m1/inbox/link ");
	CHECK_OK(mr_mailbox_index_drop_projections(&w.cx, w.db, "r2", NULL), w.cx.err);
	CHECK_STR(projections(&w, "r2", NULL), "");
	CHECK_OK(mr_mailbox_index_drop_projections(&w.cx, w.db, NULL, "m1"), w.cx.err);
	CHECK_STR(projections(&w, NULL, NULL), "");
	CHECK_INT(mr_mailbox_index_drop_projections(&w.cx, w.db, NULL, NULL), MR_EINTERNAL);
	/* A message takes its own along. */
	project(&w, "r1", "m1", "inbox");
	CHECK_OK(mr_mailbox_index_delete(&w.cx, w.db, "m1"), w.cx.err);
	CHECK_STR(projections(&w, NULL, NULL), "");
}

static const char *listed(struct world *w, const char *registration, int64_t limit)
{
	struct mr_mailbox_listing list;
	const char *out = "";

	CHECK_OK(mr_mailbox_index_list(&w->cx, w->db, registration, limit, &list), w->cx.err);
	for (size_t i = 0; i < list.len; i++) {
		CHECK_STR(list.items[i].message.subject, "Hello");
		CHECK_STR(list.items[i].message.document, NULL);
		CHECK_STR(list.items[i].projection_path, "/link");
		out = mr_arena_printf(w->cx.arena, "%s%s/%s ", out,
			list.items[i].message.message_id, list.items[i].folder);
	}
	return out;
}

static void lists_the_newest_first(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();

	add(&w, "b", "b", "2026-03-11T04:15:00Z");
	add(&w, "z", "z", "2026-03-11T04:15:01Z");
	/* Of one second, the last to come is the first, whatever it is called. */
	add(&w, "a", "a", "2026-03-11T04:15:01Z");
	add(&w, "c", "c", "2026-03-10T04:15:01Z");
	for (const char *id = "bzac"; *id; id++)
		project(&w, "r1", mr_arena_strndup(w.cx.arena, id, 1), "inbox");
	project(&w, "r1", "z", "sent");
	project(&w, "r2", "b", "inbox");
	CHECK_STR(listed(&w, "r1", 0), "a/inbox z/inbox z/sent b/inbox c/inbox ");
	CHECK_STR(listed(&w, "r1", 2), "a/inbox z/inbox ");
	CHECK_STR(listed(&w, "r1", 4), "a/inbox z/inbox z/sent b/inbox ");
	CHECK_STR(listed(&w, "r1", 100), listed(&w, "r1", 0));
	CHECK_STR(listed(&w, "r2", 5), "b/inbox ");
	CHECK_STR(listed(&w, "none", 5), "");
	CHECK_STR(listed(&w, "none", 0), "");
}

/* An account with little mail among much is not looked for forever, and found all the same. */
static void lists_the_newest_of_little_among_much(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();

	database_begin(&w.cx, w.db);
	add(&w, "x", "x", "2026-03-11T04:15:00Z");
	add(&w, "y", "y", "2026-03-11T04:15:01Z");
	project(&w, "r1", "x", "inbox");
	project(&w, "r1", "y", "inbox");
	for (int i = 0; i < 1500; i++) {
		const char *id = mr_arena_printf(w.cx.arena, "m%d", i);

		add(&w, id, id, "2026-03-12T04:15:00Z");
		project(&w, "r2", id, "inbox");
	}
	database_commit(&w.cx, w.db);
	CHECK_STR(listed(&w, "r1", 1), "y/inbox ");
	CHECK_STR(listed(&w, "r1", 5), "y/inbox x/inbox ");
	CHECK_STR(listed(&w, "r2", 2), "m1499/inbox m1498/inbox ");
}

static void the_newest_are_found_by_an_index(void)
{
	static const struct {
		const char *query, *plan;
	} cases[] = {
		{ "SELECT message_id FROM messages ORDER BY created_at_utc DESC, rowid DESC LIMIT "
		  "5",
			"mailroom_messages_newest" },
		{ "SELECT message_id FROM messages WHERE thread_id = 't' ORDER BY created_at_utc "
		  "DESC, message_id DESC LIMIT 1",
			"mailroom_messages_latest" },
		{ "SELECT * FROM mailbox_projections WHERE message_id = 'm'",
			"mailroom_projections_message" },
	};
	struct world w MR_CLEANUP(world_close) = world_open();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const char *all = database_plan(&w.cx, w.db, cases[i].query);
		struct mr_texts plan = mr_str_split(w.cx.arena, all, '\n');

		for (size_t k = 0; k < plan.len; k++) {
			CHECK(strstr(plan.items[k], cases[i].plan));
			CHECK(!strstr(plan.items[k], "TEMP B-TREE"));
		}
	}
}

static void summaries_follow_the_messages(void)
{
	static const char ALL[] =
		"SELECT thread_id || ' ' || normalized_subject || ' ' || "
		"latest_message_id || ' ' || latest_message_created_at_utc || ' ' "
		"|| unread_count FROM thread_summaries";
	struct world w MR_CLEANUP(world_close) = world_open();
	struct mr_mailbox_message message = sample(&w, "a", "t", "2026-03-11T04:15:00Z");

	message.subject = " Re: HELLO ";
	CHECK_OK(insert(&w, &message), w.cx.err);
	CHECK_OK(mr_mailbox_index_thread(&w.cx, w.db, "t"), w.cx.err);
	CHECK_STR(text(&w, ALL), "t re: hello a 2026-03-11T04:15:00Z 0");
	/* Ties by id, as others break them. */
	add(&w, "c", "t", "2026-03-11T04:15:00Z");
	add(&w, "b", "t", "2026-03-11T04:15:00Z");
	CHECK_OK(mr_mailbox_index_thread(&w.cx, w.db, "t"), w.cx.err);
	CHECK_STR(text(&w, ALL), "t hello c 2026-03-11T04:15:00Z 0");
	exec(&w, "DELETE FROM messages");
	CHECK_OK(mr_mailbox_index_thread(&w.cx, w.db, "t"), w.cx.err);
	CHECK_STR(text(&w, ALL), "");
	CHECK_OK(mr_mailbox_index_thread(&w.cx, w.db, "none"), w.cx.err);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_schema_is_the_contract),
		TEST(a_message_comes_back_as_it_was),
		TEST(an_attachment_is_one_thing),
		TEST(projections_are_found_by_either),
		TEST(lists_the_newest_first),
		TEST(lists_the_newest_of_little_among_much),
		TEST(the_newest_are_found_by_an_index),
		TEST(summaries_follow_the_messages),
	};

	return test_main(tests, MR_LEN(tests));
}
