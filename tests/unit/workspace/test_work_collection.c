/* tests/unit/workspace/test_work_collection.c - lists of messages, and the directories they are
 * in. */
#include "workspace/collection.h"

#include "desk.h"
#include "test.h"
#include "text/json.h"
#include "workspace/error.h"

#include <string.h>

#define CASE      "cases/open/c20260311001-A"
#define CASE_FILE CASE "/data/case.json"

static const char case_head[] =
	"{\"schema_name\":\"case\",\"schema_version\":1,\"collection_uid\":\"c20260311001\","
	"\"collection_name\":\"A\",";

static struct desk desk;

static enum mr_code load(enum mr_work_collection_kind kind, const char *path,
	struct mr_work_collection *out)
{
	return mr_work_collection_load(&desk.cx, desk.work, kind, path, out);
}

static void save(struct mr_work_collection *list)
{
	struct mr_work_change change;

	mr_work_change_begin(&desk.cx, desk.work, "test", &change);
	CHECK_OK(mr_work_collection_save(&desk.cx, &change, list), desk.cx.err);
	CHECK_INT(change.stale.collections.len, 1);
	CHECK_STR(change.stale.collections.items[0], list->path);
	CHECK_OK(mr_work_change_commit(&desk.cx, &change), desk.cx.err);
	mr_work_change_end(&desk.cx, &change);
}

static const char *ids_of(const struct mr_work_collection *list)
{
	const char *line = "";

	for (size_t i = 0; i < list->len; i++)
		line = mr_arena_printf(desk.cx.arena, "%s%s%s%s%s", line, i ? " " : "",
			list->items[i].message_id, list->items[i].summary ? ":" : "",
			list->items[i].summary ? list->items[i].summary : "");
	return line;
}

static const char *uids_of(const struct mr_work_places *places)
{
	const char *line = "";

	for (size_t i = 0; i < places->len; i++)
		line = mr_arena_printf(desk.cx.arena, "%s%s%s", line, i ? " " : "",
			places->items[i].path);
	return line;
}

/* A document of the case with these members is refused with this word. */
static void check_refused(enum mr_work_collection_kind kind, const char *path, const char *text,
	const char *word, const char *what)
{
	struct mr_work_collection list = { .name = "untouched" };

	desk_put(mr_work_collection_file(desk.cx.arena, kind, path), text);
	desk_check_fail(&desk, load(kind, path, &list), word, NULL, NULL);
	CHECK_STR(list.name, "untouched");
	if (!strstr(desk.cx.err.msg, what))
		test_fail(__FILE__, __LINE__, "'%s' is not in '%s'", what, desk.cx.err.msg);
}

/* --- documents --- */

static void test_where_documents_stand(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK_STR(mr_work_collection_file(arena, MR_WORK_ACTIVE_CASE, CASE), CASE_FILE);
	CHECK_STR(mr_work_collection_file(arena, MR_WORK_NOTIFICATION,
			  "archive/notifications/a20260311001-N"),
		"archive/notifications/a20260311001-N/data/notification.json");
	CHECK_STR(mr_work_collection_file(arena, MR_WORK_DELETED, "deleted"),
		"deleted/data/deleted.json");
	CHECK_STR(mr_work_disposition_dir(MR_WORK_SPAM), "spam");
	CHECK_STR(mr_work_disposition_dir(MR_WORK_TRASH), "trash");
	CHECK_STR(mr_work_disposition_dir(MR_WORK_DELETED), "deleted");
}

static void test_a_case_is_written_whole(void)
{
	struct mr_work_collection list = { .kind = MR_WORK_ACTIVE_CASE,
		.path = CASE,
		.uid = "c20260311001",
		.name = "A",
		.status = "active" };

	desk_open(&desk);
	save(&list);
	CHECK_STR(desk_text(&desk, CASE_FILE),
		"{\n  \"schema_name\": \"case\",\n  \"schema_version\": 1,\n"
		"  \"collection_uid\": \"c20260311001\",\n  \"collection_name\": \"A\",\n"
		"  \"status\": \"active\",\n  \"tags\": [],\n"
		"  \"created_rfc3339\": \"2026-03-11T04:15:00Z\",\n"
		"  \"updated_rfc3339\": \"2026-03-11T04:15:00Z\",\n  \"message_count\": 0,\n"
		"  \"thread_count\": 0,\n  \"attachment_count\": 0,\n  \"items\": []\n}\n");
	desk_close(&desk);
}

static void test_a_case_reads_back(void)
{
	struct mr_work_collection list = { .kind = MR_WORK_ARCHIVED_CASE,
		.path = "archive/cases/c20260311001-A",
		.uid = "c20260311001",
		.name = "Ä",
		.status = "archived",
		.tags = { (const char *[]){ "x", "y", NULL }, 2 },
		.created = "2026-01-01T00:00:00Z",
		.archived = "2026-02-01T00:00:00Z",
		.last_message = "2026-01-02T00:00:00+01:00",
		.thread_count = 2,
		.attachment_count = 3 };
	struct mr_work_collection back = { 0 };

	desk_open(&desk);
	CHECK(mr_work_collection_add(&desk.cx, &list, "message_b", "sum", "2026-01-03T00:00:00Z"));
	CHECK(mr_work_collection_add(&desk.cx, &list, "message_a", " ", "2026-01-04T00:00:00Z"));
	save(&list);
	CHECK_OK(load(MR_WORK_ARCHIVED_CASE, list.path, &back), desk.cx.err);
	CHECK_STR(back.path, list.path);
	CHECK(!back.group);
	CHECK_STR(back.name, "Ä");
	CHECK_STR(back.status, "archived");
	CHECK_INT(back.tags.len, 2);
	CHECK_STR(back.tags.items[1], "y");
	CHECK_STR(back.created, "2026-01-01T00:00:00Z");
	CHECK_STR(back.updated, "2026-03-11T04:15:00Z");
	CHECK_STR(back.archived, "2026-02-01T00:00:00Z");
	CHECK_STR(back.last_message, "2026-01-02T00:00:00+01:00");
	CHECK_INT(back.thread_count, 2);
	CHECK_INT(back.attachment_count, 3);
	/* In the order of adding; a blank summary is none. */
	CHECK_STR(ids_of(&back), "message_b:sum message_a");
	CHECK_STR(back.items[1].added, "2026-01-04T00:00:00Z");
	CHECK(mr_value_equal(mr_work_collection_value(&desk.cx, &back),
		mr_work_collection_value(&desk.cx, &list)));
	desk_close(&desk);
}

static void test_what_is_left_out_has_a_default(void)
{
	struct mr_work_collection list = { 0 };

	desk_open(&desk);
	desk_put(CASE_FILE,
		mr_arena_printf(desk.cx.arena,
			"%s\"items\":[{\"message_id\":\"m\","
			"\"summary\":null,\"added_rfc3339\":\"t\"}]}",
			case_head));
	CHECK_OK(load(MR_WORK_ACTIVE_CASE, CASE, &list), desk.cx.err);
	CHECK_STR(list.status, "active");
	CHECK_STR(list.group, "open");
	CHECK_INT(list.tags.len, 0);
	CHECK_INT(list.thread_count, 0);
	CHECK(!list.created && !list.updated && !list.archived && !list.last_message);
	CHECK_STR(ids_of(&list), "m");
	desk_close(&desk);
}

static void test_dispositions(void)
{
	static const struct {
		enum mr_work_collection_kind kind;
		const char *dir, *schema, *uid, *name, *status;
	} all[] = {
		{ MR_WORK_SPAM, "spam", "spam", "spam", "Spam", "spam" },
		{ MR_WORK_TRASH, "trash", "trash", "trash", "Trash", "trashed" },
		{ MR_WORK_DELETED, "deleted", "deleted_remote", "deleted", "Remote Deleted",
			"deleted_remote" },
	};

	desk_open(&desk);
	for (size_t i = 0; i < MR_LEN(all); i++) {
		struct mr_work_collection list = { 0 };
		const struct mr_value *value;

		/* Without a file it is empty. */
		CHECK_OK(load(all[i].kind, all[i].dir, &list), desk.cx.err);
		CHECK_INT(list.len, 0);
		CHECK(mr_work_collection_add(&desk.cx, &list, "m2", NULL, desk.work->now));
		CHECK(mr_work_collection_add(&desk.cx, &list, "m1", NULL, desk.work->now));
		save(&list);
		CHECK_OK(mr_work_read_json(&desk.cx, desk.work,
				 mr_work_collection_file(desk.cx.arena, all[i].kind, all[i].dir),
				 &value),
			desk.cx.err);
		CHECK_STR(mr_value_get(value, "schema_name")->text, all[i].schema);
		CHECK_STR(mr_value_get(value, "collection_uid")->text, all[i].uid);
		CHECK_STR(mr_value_get(value, "collection_name")->text, all[i].name);
		CHECK_STR(mr_value_get(value, "status")->text, all[i].status);
		CHECK_INT(mr_value_get(value, "message_count")->integer, 2);
		CHECK(mr_value_get(value, "created_rfc3339") &&
			mr_value_get(value, "updated_rfc3339"));
		CHECK(!mr_value_get(value, "tags") && !mr_value_get(value, "thread_count"));
		CHECK_OK(load(all[i].kind, all[i].dir, &list), desk.cx.err);
		CHECK_STR(ids_of(&list), "m2 m1");
	}
	desk_close(&desk);
}

static void test_a_category_keeps_its_order(void)
{
	struct mr_work_collection list = { .kind = MR_WORK_NOTIFICATION,
		.path = "archive/notifications/a20260311001-N",
		.uid = "a20260311001",
		.name = "N" };
	struct mr_work_collection back = { 0 };

	desk_open(&desk);
	mr_work_collection_add(&desk.cx, &list, "c", "3", "t");
	mr_work_collection_add(&desk.cx, &list, "a", "1", "t");
	mr_work_collection_add(&desk.cx, &list, "b", "2", "t");
	save(&list);
	CHECK_OK(load(MR_WORK_NOTIFICATION, list.path, &back), desk.cx.err);
	CHECK_STR(ids_of(&back), "c:3 a:1 b:2");
	CHECK(!back.status);
	desk_close(&desk);
}

static void test_a_message_stands_once(void)
{
	struct mr_work_collection list = { 0 };

	desk_open(&desk);
	desk_put("spam/data/spam.json",
		"{\"schema_name\":\"spam\",\"schema_version\":1,\"collection_uid\":\"spam\","
		"\"collection_name\":\"Spam\",\"items\":["
		"{\"message_id\":\"b\",\"summary\":\"old\",\"added_rfc3339\":\"t1\"},"
		"{\"message_id\":\"a\",\"added_rfc3339\":\"t2\"},"
		"{\"message_id\":\"b\",\"summary\":\"new\",\"added_rfc3339\":\"t3\"},"
		"{\"message_id\":\"b\",\"summary\":\" \",\"added_rfc3339\":\"t4\"}]}");
	CHECK_OK(load(MR_WORK_SPAM, "spam", &list), desk.cx.err);
	CHECK_STR(ids_of(&list), "b:new a");
	CHECK_STR(list.items[0].added, "t1");
	CHECK(mr_work_collection_remove(&list, "b"));
	CHECK(!mr_work_collection_item(&list, "b"));
	desk_close(&desk);
}

static void test_adding_and_removing(void)
{
	struct mr_work_collection list = { .kind = MR_WORK_ACTIVE_CASE };

	desk_open(&desk);
	CHECK(mr_work_collection_add(&desk.cx, &list, "a", NULL, "t1"));
	CHECK(mr_work_collection_add(&desk.cx, &list, "b", "first", "t2"));
	CHECK(!mr_work_collection_add(&desk.cx, &list, "b", "\t\n", "t3"));
	CHECK_STR(ids_of(&list), "a b:first");
	CHECK(!mr_work_collection_add(&desk.cx, &list, "b", "second", "t4"));
	CHECK_STR(ids_of(&list), "a b:second");
	CHECK_STR(mr_work_collection_item(&list, "b")->added, "t2");
	CHECK(!mr_work_collection_item(&list, "c"));
	CHECK(!mr_work_collection_remove(&list, "c"));
	CHECK(mr_work_collection_remove(&list, "a"));
	CHECK_STR(ids_of(&list), "b:second");
	CHECK(mr_work_collection_remove(&list, "b"));
	CHECK_INT(list.len, 0);
	desk_close(&desk);
}

static void test_created_stays_and_updated_goes_on(void)
{
	struct mr_work_collection list = { 0 };

	desk_open(&desk);
	CHECK_OK(load(MR_WORK_TRASH, "trash", &list), desk.cx.err);
	save(&list);
	desk_next(&desk);
	CHECK_OK(load(MR_WORK_TRASH, "trash", &list), desk.cx.err);
	save(&list);
	CHECK_STR(list.created, "2026-03-11T04:15:00Z");
	CHECK_STR(list.updated, "2026-03-11T04:15:01Z");
	desk_close(&desk);
}

static void test_what_is_wrong_with_a_case(void)
{
	static const struct {
		const char *text, *word, *what;
	} all[] = {
		{ "{\"schema_name\":\"notification\",\"schema_version\":1}",
			"case_metadata_invalid", "schema case, version 1" },
		{ "{\"schema_name\":\"case\",\"schema_version\":2}", "case_metadata_invalid",
			"schema case, version 1" },
		{ "{\"schema_name\":\"case\"}", "case_metadata_invalid", "schema case" },
		{ "[]", "case_metadata_invalid", "schema case" },
		{ "{", "case_metadata_invalid", CASE_FILE },
		{ "{\"schema_name\":\"case\",\"schema_version\":1,\"collection_name\":\"A\","
		  "\"items\":[]}",
			"case_metadata_invalid", "collection_uid" },
		{ "{\"schema_name\":\"case\",\"schema_version\":1,\"collection_uid\":"
		  "\"c20260311002\",\"collection_name\":\"A\",\"items\":[]}",
			"case_messages_invalid", "c20260311002" },
		{ "{\"schema_name\":\"case\",\"schema_version\":1,\"collection_uid\":"
		  "\"c20260311001\",\"collection_name\":\"A\",\"items\":[],\"group\":\"x\"}",
			"case_metadata_invalid", "group" },
		{ "{\"schema_name\":\"case\",\"schema_version\":1,\"collection_uid\":"
		  "\"c20260311001\",\"collection_name\":\"A\"}",
			"case_metadata_invalid", "items" },
		{ "{\"schema_name\":\"case\",\"schema_version\":1,\"collection_uid\":"
		  "\"c20260311001\",\"collection_name\":\"A\",\"items\":[{\"added_rfc3339\":"
		  "\"t\"}]}",
			"case_metadata_invalid", "message_id" },
		{ "{\"schema_name\":\"case\",\"schema_version\":1,\"collection_uid\":"
		  "\"c20260311001\",\"collection_name\":\"A\",\"items\":[{\"message_id\":"
		  "\"../x\",\"added_rfc3339\":\"t\"}]}",
			"case_metadata_invalid", "path segment" },
		{ "{\"schema_name\":\"case\",\"schema_version\":1,\"collection_uid\":"
		  "\"c20260311001\",\"collection_name\":\"A\",\"items\":[{\"message_id\":\"\","
		  "\"added_rfc3339\":\"t\"}]}",
			"case_metadata_invalid", "path segment" },
		{ "{\"schema_name\":\"case\",\"schema_version\":1,\"collection_uid\":"
		  "\"c20260311001\",\"collection_name\":\"A\",\"items\":[{\"message_id\":\"m\","
		  "\"added_rfc3339\":\"t\",\"x\":1}]}",
			"case_metadata_invalid", "x" },
		{ "{\"schema_name\":\"case\",\"schema_version\":1,\"collection_uid\":"
		  "\"c20260311001\",\"collection_name\":\"A\",\"items\":[],\"thread_count\":-1}",
			"case_metadata_invalid", "thread_count" },
	};

	desk_open(&desk);
	for (size_t i = 0; i < MR_LEN(all); i++)
		check_refused(MR_WORK_ACTIVE_CASE, CASE, all[i].text, all[i].word, all[i].what);
	desk_close(&desk);
}

static void test_what_is_wrong_with_others(void)
{
	static const char category[] = "archive/notifications/a20260311001-N";
	struct mr_work_collection list;

	desk_open(&desk);
	check_refused(MR_WORK_NOTIFICATION, category, "{\"schema_name\":\"case\"}",
		"archive_messages_invalid", "schema notification");
	check_refused(MR_WORK_NOTIFICATION, category,
		"{\"schema_name\":\"notification\",\"schema_version\":1,\"collection_uid\":"
		"\"a20260311009\",\"collection_name\":\"N\",\"items\":[]}",
		"archive_messages_invalid", "a20260311009");
	check_refused(MR_WORK_SPAM, "spam", "{\"schema_name\":\"trash\",\"schema_version\":1}",
		"disposition_messages_invalid", "schema spam");
	check_refused(MR_WORK_TRASH, "trash",
		"{\"schema_name\":\"trash\",\"schema_version\":1,\"collection_uid\":\"spam\","
		"\"collection_name\":\"Trash\",\"items\":[]}",
		"disposition_messages_invalid", "spam");
	desk_check_fail(&desk, load(MR_WORK_ACTIVE_CASE, "cases/open/c20260311009-B", &list),
		"case_metadata_invalid", NULL, NULL);
	desk_check_fail(&desk,
		load(MR_WORK_NOTIFICATION, "archive/notifications/a20260311009-B", &list),
		"archive_messages_invalid", NULL, NULL);
	desk_close(&desk);
}

/* --- places --- */

static void make_places(void)
{
	desk_put("cases/open/c20260311002-B/data/case.json", "{}");
	desk_put("cases/open/c20260311001-A/data/case.json", "{}");
	desk_put("cases/waiting/c20260310007-X-y/notes.md", "");
	desk_put("cases/open/README.md", "");
	desk_put("cases/open/c20260311009-a-file", "");
	desk_put("cases/c20260311008-no-group/x", "");
	desk_put("cases/open/c2026-short/x", "");
	desk_put("archive/cases/c20260311003-C/data/case.json", "{}");
	desk_put("archive/notifications/a20260311001-N/data/notification.json", "{}");
	desk_put("archive/notifications/c20260311004-case/x", "");
}

static void test_places(void)
{
	struct mr_work_places places = { 0 };

	desk_open(&desk);
	CHECK_OK(mr_work_places(&desk.cx, desk.work, MR_WORK_ACTIVE_CASE, &places), desk.cx.err);
	CHECK_INT(places.len, 0);
	make_places();
	CHECK_OK(mr_work_places(&desk.cx, desk.work, MR_WORK_ACTIVE_CASE, &places), desk.cx.err);
	CHECK_STR(uids_of(&places),
		"cases/open/c20260311001-A cases/open/c20260311002-B "
		"cases/waiting/c20260310007-X-y");
	CHECK_STR(places.items[2].uid, "c20260310007");
	CHECK_STR(places.items[2].dir, "c20260310007-X-y");
	CHECK_STR(places.items[2].group, "waiting");
	CHECK_OK(mr_work_places(&desk.cx, desk.work, MR_WORK_ARCHIVED_CASE, &places), desk.cx.err);
	CHECK_STR(uids_of(&places), "archive/cases/c20260311003-C");
	CHECK(!places.items[0].group);
	CHECK_OK(mr_work_places(&desk.cx, desk.work, MR_WORK_NOTIFICATION, &places), desk.cx.err);
	CHECK_STR(uids_of(&places), "archive/notifications/a20260311001-N");
	desk_close(&desk);
}

static void test_refs(void)
{
	static const char *const good[] = { "c20260311002", "c20260311002-B",
		"c20260311002-other" };
	static const char *const bad[] = { "B", "", "c20260311002-", "a20260311001", "c2026031100",
		"c20260311002/x", "../c20260311002" };
	struct mr_work_place place = { 0 };

	desk_open(&desk);
	make_places();
	for (size_t i = 0; i < MR_LEN(good); i++) {
		CHECK_OK(mr_work_place_find(&desk.cx, desk.work, MR_WORK_CASE, good[i], &place),
			desk.cx.err);
		CHECK_STR(place.path, "cases/open/c20260311002-B");
		CHECK_INT(place.kind, MR_WORK_ACTIVE_CASE);
	}
	for (size_t i = 0; i < MR_LEN(bad); i++)
		desk_check_fail(&desk,
			mr_work_place_find(&desk.cx, desk.work, MR_WORK_CASE, bad[i], &place),
			"invalid_request", NULL, NULL);
	CHECK_OK(mr_work_place_find(&desk.cx, desk.work, MR_WORK_CASE, "c20260311003", &place),
		desk.cx.err);
	CHECK_INT(place.kind, MR_WORK_ARCHIVED_CASE);
	CHECK_OK(mr_work_place_find(&desk.cx, desk.work, MR_WORK_CATEGORY, "a20260311001", &place),
		desk.cx.err);
	CHECK_INT(place.kind, MR_WORK_NOTIFICATION);
	desk_check_fail(&desk,
		mr_work_place_find(&desk.cx, desk.work, MR_WORK_CASE, "c20260311099", &place),
		"case_not_found", NULL, NULL);
	desk_check_fail(&desk,
		mr_work_place_find(&desk.cx, desk.work, MR_WORK_CATEGORY, "a20260311099", &place),
		"archive_not_found", NULL, NULL);
	desk_close(&desk);
}

static void test_a_merged_case_leads_to_the_other(void)
{
	struct mr_work_place place = { 0 };

	desk_open(&desk);
	make_places();
	desk_put(".afmail/logs/events.jsonl",
		"{\"event_id\":\"event_1\",\"kind\":\"case_merged\",\"case_uid\":\"c20260311001\","
		"\"merged_case_uid\":\"c20260311050\",\"targets\":[{\"kind\":\"case\",\"id\":"
		"\"c20260311050\"}]}\n");
	desk_check_fail(&desk,
		mr_work_place_find(&desk.cx, desk.work, MR_WORK_CASE, "c20260311050-X", &place),
		"case_not_found", "case_merged_into", "c20260311001");
	CHECK_STR(desk.cx.err.msg, "case c20260311050 was merged into c20260311001");
	CHECK(strstr(mr_work_trouble(&desk.cx.err)->hint, "afmail case show c20260311001"));
	desk_close(&desk);
}

static void test_two_directories_with_one_uid(void)
{
	struct mr_work_place place = { 0 };

	desk_open(&desk);
	make_places();
	desk_put("cases/waiting/c20260311001-Copy/x", "");
	desk_check_fail(&desk,
		mr_work_place_find(&desk.cx, desk.work, MR_WORK_CASE, "c20260311001", &place),
		"duplicate_case_uid", NULL, NULL);
	CHECK_STR(desk.cx.err.msg,
		"two directories have the uid c20260311001: cases/open/c20260311001-A and "
		"cases/waiting/c20260311001-Copy");
	/* One of them archived. */
	desk_put("archive/cases/c20260311002-B/x", "");
	desk_check_fail(&desk, mr_work_active_case(&desk.cx, desk.work, "c20260311002", &place),
		"duplicate_case_uid", NULL, NULL);
	desk_put("archive/notifications/a20260311001-Copy/x", "");
	desk_check_fail(&desk,
		mr_work_place_find(&desk.cx, desk.work, MR_WORK_CATEGORY, "a20260311001", &place),
		"duplicate_archive_uid", NULL, NULL);
	/* The others are found. */
	CHECK_OK(mr_work_active_case(&desk.cx, desk.work, "c20260310007", &place), desk.cx.err);
	desk_close(&desk);
}

static void test_an_archived_case_is_not_active(void)
{
	const struct mr_value *commands;
	struct mr_work_place place = { 0 };

	desk_open(&desk);
	make_places();
	desk_check_fail(&desk, mr_work_active_case(&desk.cx, desk.work, "c20260311003-C", &place),
		"case_archived", "case_uid", "c20260311003");
	commands = mr_value_get(mr_work_trouble(&desk.cx.err)->detail, "suggested_commands");
	CHECK_INT(commands->list.len, 2);
	CHECK_STR(commands->list.items[0].text, "afmail archive case show c20260311003");
	CHECK(mr_str_starts(commands->list.items[1].text,
		"afmail archive case restore c20260311003 --group "));
	CHECK(strstr(mr_work_trouble(&desk.cx.err)->hint, "archive case show"));
	CHECK(!place.path);
	desk_close(&desk);
}

static void test_uids(void)
{
	const char *uid = NULL;

	desk_open(&desk);
	CHECK_OK(mr_work_next_uid(&desk.cx, desk.work, MR_WORK_CASE, DESK_TODAY, &uid),
		desk.cx.err);
	CHECK_STR(uid, "c20260311001");
	make_places();
	/* The highest is an archived one. */
	CHECK_OK(mr_work_next_uid(&desk.cx, desk.work, MR_WORK_CASE, DESK_TODAY, &uid),
		desk.cx.err);
	CHECK_STR(uid, "c20260311004");
	CHECK_OK(mr_work_next_uid(&desk.cx, desk.work, MR_WORK_CASE, "20260310", &uid),
		desk.cx.err);
	CHECK_STR(uid, "c20260310008");
	CHECK_OK(mr_work_next_uid(&desk.cx, desk.work, MR_WORK_CATEGORY, DESK_TODAY, &uid),
		desk.cx.err);
	CHECK_STR(uid, "a20260311002");
	desk_put("cases/open/c20260311999-Z/x", "");
	CHECK_OK(mr_work_next_uid(&desk.cx, desk.work, MR_WORK_CASE, DESK_TODAY, &uid),
		desk.cx.err);
	CHECK_STR(uid, "c202603111000");
	desk_put("cases/open/c202603111000-Z/x", "");
	CHECK_OK(mr_work_next_uid(&desk.cx, desk.work, MR_WORK_CASE, DESK_TODAY, &uid),
		desk.cx.err);
	CHECK_STR(uid, "c202603111001");
	desk_close(&desk);
}

static const struct test tests[] = {
	TEST(test_where_documents_stand),
	TEST(test_a_case_is_written_whole),
	TEST(test_a_case_reads_back),
	TEST(test_what_is_left_out_has_a_default),
	TEST(test_dispositions),
	TEST(test_a_category_keeps_its_order),
	TEST(test_a_message_stands_once),
	TEST(test_adding_and_removing),
	TEST(test_created_stays_and_updated_goes_on),
	TEST(test_what_is_wrong_with_a_case),
	TEST(test_what_is_wrong_with_others),
	TEST(test_places),
	TEST(test_refs),
	TEST(test_a_merged_case_leads_to_the_other),
	TEST(test_two_directories_with_one_uid),
	TEST(test_an_archived_case_is_not_active),
	TEST(test_uids),
};

int main(void)
{
	return test_main(tests, MR_LEN(tests));
}
