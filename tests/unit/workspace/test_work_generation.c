/* tests/unit/workspace/test_work_generation.c */
#include "workspace/generation.h"

#include "post.h"
#include "test.h"
#include "workspace/config.h"
#include "workspace/layout.h"

#include <string.h>

#define CASE "cases/open/c20260504001-A"

static int64_t version_with(struct desk *desk, const char *text)
{
	desk_put(MR_WORK_SENTINEL, text);
	return mr_work_generation_version(&desk->cx, desk->work);
}

static void version(void)
{
	struct desk desk;

	post_open(&desk);
	CHECK_INT(version_with(&desk, ""), 1);
	CHECK_INT(version_with(&desk, "Text.\n"), 1);
	CHECK_INT(version_with(&desk, "Text.\nLayout version: 1\n"), 1);
	CHECK_OK(mr_work_generation_check(&desk.cx, desk.work), desk.cx.err);
	CHECK_INT(version_with(&desk, "Text.\nLayout version: many\n"), 1);
	CHECK_INT(version_with(&desk, "Layout version: 12\r\nText.\n"), 12);
	desk_check_fail(&desk, mr_work_generation_check(&desk.cx, desk.work), "store_error", NULL,
		NULL);
	desk_close(&desk);
}

static const char *text_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value ? value->text : NULL;
}

/* The present configuration without identities, and with this sender. */
static void put_old_config(struct desk *desk, const char *from)
{
	const struct mr_value *now = NULL;
	struct mr_out out;

	CHECK_OK(mr_work_read_json(&desk->cx, desk->work, MR_WORK_CONFIG, &now), desk->cx.err);
	mr_out_init_tree(&out, desk->cx.arena);
	mr_out_map(&out, NULL);
	for (size_t i = 0; i < now->map.len; i++)
		if (!mr_str_eq(now->map.pairs[i].key, "identities") &&
			!mr_str_eq(now->map.pairs[i].key, "smtp"))
			mr_out_value(&out, now->map.pairs[i].key, &now->map.pairs[i].value);
	mr_out_map(&out, "smtp");
	if (from)
		mr_out_text(&out, "from", from);
	mr_out_end(&out);
	mr_out_end(&out);
	desk_put(MR_WORK_CONFIG, (const char *)mr_work_pretty(&desk->cx, mr_out_tree(&out)).data);
}

static void check_sender(const char *from, const char *name, const char *email)
{
	const struct mr_value *config = NULL, *me;
	struct desk desk;

	post_open(&desk);
	CHECK(!mr_work_generation_config(&desk.cx, desk.work, NULL)); /* it is a present one */
	put_old_config(&desk, from);
	CHECK(mr_work_generation_config(&desk.cx, desk.work, &config));
	me = &mr_value_get(config, "identities")->list.items[0];
	CHECK_STR(text_at(me, "identity"), "me");
	CHECK_STR(text_at(me, "name"), name);
	CHECK_STR(text_at(me, "email"), email);
	CHECK(!mr_value_get(mr_value_get(config, "smtp"), "from"));
	desk_close(&desk);
}

static void sender(void)
{
	check_sender("Support Team <hello@example.com>", "Support Team", "hello@example.com");
}

static void bare_sender(void)
{
	check_sender("hello@example.com", "hello@example.com", "hello@example.com");
}

static void no_sender(void)
{
	check_sender(NULL, "Me", MR_WORK_EXAMPLE_EMAIL);
}

/* What else is wrong with a configuration is not guessed. */
static void hopeless_config(void)
{
	struct desk desk;

	post_open(&desk);
	desk_put(MR_WORK_CONFIG, "{\"schema_name\":\"config\",\"schema_version\":1}");
	CHECK(!mr_work_generation_config(&desk.cx, desk.work, NULL));
	desk_put(MR_WORK_CONFIG, "[]");
	CHECK(!mr_work_generation_config(&desk.cx, desk.work, NULL));
	CHECK(!desk.cx.err.code);
	desk_close(&desk);
}

static bool reads_case(struct desk *desk, const char *document, const char *members,
	struct mr_work_collection *out)
{
	struct mr_work_place place = { .kind = MR_WORK_ACTIVE_CASE,
		.path = CASE,
		.uid = "c20260504001",
		.dir = "c20260504001-A",
		.group = "open" };

	desk_put(CASE "/data/case.json", document);
	desk_put(CASE "/data/messages.json", members);
	return mr_work_generation_list(&desk->cx, desk->work, &place, out);
}

static void cases(void)
{
	static const char head[] =
		"{\"kind\":\"case\",\"case_uid\":\"c20260504001\","
		"\"case_name\":\"A\",\"created_rfc3339\":\"2026-05-04T09:00:00Z\"}";
	struct mr_work_collection found = { 0 };
	struct desk desk;

	post_open(&desk);
	CHECK(reads_case(&desk, head, "{\"message_ids\":[\"" PLAIN "\",\"" T1 "\",\"" PLAIN "\"]}",
		&found));
	CHECK_INT((int64_t)found.len, 2);
	CHECK_STR(found.items[1].message_id, T1);
	CHECK_STR(found.items[0].added, "2026-05-04T09:00:00Z");
	CHECK_STR(found.status, "active");
	CHECK(reads_case(&desk, head,
		"{\"messages\":[{\"message_id\":\"" T1 "\",\"summary\":\"s\","
		"\"added_rfc3339\":\"2026-05-06T00:00:00Z\"}]}",
		&found));
	CHECK_STR(found.items[0].summary, "s");
	CHECK_STR(found.items[0].added, "2026-05-06T00:00:00Z");
	CHECK(!reads_case(&desk, head, "{\"message_ids\":[\"../x\"]}", &found));
	CHECK(!reads_case(&desk, head, "{\"message_ids\":[1]}", &found));
	CHECK(!reads_case(&desk, head, "{}", &found));
	CHECK(!reads_case(&desk, "{\"case_uid\":\"c20260504002\",\"case_name\":\"A\"}", "[]",
		&found));
	CHECK(!desk.cx.err.code);
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(version),
		TEST(sender),
		TEST(bare_sender),
		TEST(no_sender),
		TEST(hopeless_config),
		TEST(cases),
	};

	return test_main(tests, sizeof(tests) / sizeof(*tests));
}
