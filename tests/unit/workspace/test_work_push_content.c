/* tests/unit/workspace/test_work_push_content.c */
#include "workspace/push_content.h"

#include "post.h"
#include "test.h"

#include <string.h>

static const char first[] = "From: a@x.example\r\nDate: Thu, 01 Jan 1970 00:00:00 +0000\r\n"
			    "Subject: S\r\n\r\nText\r\nDate: 1\r\n";

struct scene {
	struct desk desk;
	const struct mr_work_config *config;
	struct mr_work_push_item item;
	struct mr_work_outbound mail;
};

static void begin(struct scene *scene)
{
	static const char *to[] = { "b@x.example", "c@x.example" };

	*scene = (struct scene){ .item = { .push_id = "push_1",
					 .kind = MR_WORK_PUSH_OUTBOUND,
					 .action = MR_WORK_PUSH_SEND,
					 .case_uid = "c1",
					 .draft_name = "d.md" },
		.mail = { .from = "a@x.example", .to = { to, 2 }, .bytes = mr_bytes_text(first) } };
	post_open(&scene->desk);
	POST_OK(&scene->desk,
		mr_work_config_get(&scene->desk.cx, scene->desk.work, &scene->config));
}

static const char *id_of(struct scene *scene)
{
	return mr_work_push_content_id(&scene->desk.cx, scene->config, &scene->item, &scene->mail);
}

static void the_date_and_what_was_tried_do_not_matter(void)
{
	struct scene scene;
	const char *before;

	begin(&scene);
	before = id_of(&scene);
	CHECK(mr_str_starts(before, "content_") && strlen(before) == strlen("content_") + 32);
	scene.mail.bytes =
		mr_bytes_text("From: a@x.example\r\nDate: Wed, 11 Mar 2026 04:15:00 +0100\r\n"
			      "Subject: S\r\n\r\nText\r\nDate: 1\r\n");
	scene.item.attempt_count = 7;
	scene.item.last_error = "no";
	CHECK_STR(id_of(&scene), before);
	desk_close(&scene.desk);
}

static void each_byte_of_the_rest_matters(void)
{
	struct scene scene;
	char changed[sizeof(first)];
	const char *before;
	size_t date = (size_t)(strstr(first, "Date: ") - first);
	size_t end = (size_t)(strstr(first, "Subject") - first);

	begin(&scene);
	before = id_of(&scene);
	for (size_t i = 0; i < sizeof(first) - 1; i++) {
		if (i >= date && i < end)
			continue;
		memcpy(changed, first, sizeof(first));
		changed[i] ^= 1;
		scene.mail.bytes = mr_bytes_text(changed);
		CHECK(!mr_str_eq(id_of(&scene), before));
	}
	desk_close(&scene.desk);
}

static void who_gets_it_matters(void)
{
	static const char *joined[] = { "b@x.examplec@x.example" };
	struct scene scene;
	const char *before;

	begin(&scene);
	before = id_of(&scene);
	scene.mail.to.len = 1;
	CHECK(!mr_str_eq(id_of(&scene), before));
	scene.mail.to = (struct mr_texts){ joined, 1 };
	CHECK(!mr_str_eq(id_of(&scene), before));
	desk_close(&scene.desk);
}

static void of_an_action_messages_and_places_matter(void)
{
	static const char *ids[] = { "m1", "m2" };
	struct mr_work_push_location at = { "m1", "INBOX", 7, 1 };
	struct scene scene;
	const char *before;

	begin(&scene);
	scene.item = (struct mr_work_push_item){ .push_id = "push_1",
		.kind = MR_WORK_PUSH_MESSAGE_ACTION,
		.action = MR_WORK_PUSH_SPAM,
		.message_ids = { ids, 1 },
		.locations = &at,
		.location_count = 1 };
	before = id_of(&scene);
	CHECK_STR(id_of(&scene), before);
	at.uid = 2;
	CHECK(!mr_str_eq(id_of(&scene), before));
	at.uid = 1;
	at.mailbox_name = "Other";
	CHECK(!mr_str_eq(id_of(&scene), before));
	at.mailbox_name = "INBOX";
	scene.item.message_ids.len = 2;
	CHECK(!mr_str_eq(id_of(&scene), before));
	scene.item.message_ids.len = 1;
	scene.item.action = MR_WORK_PUSH_TRASH;
	CHECK(!mr_str_eq(id_of(&scene), before));
	desk_close(&scene.desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_date_and_what_was_tried_do_not_matter),
		TEST(each_byte_of_the_rest_matters),
		TEST(who_gets_it_matters),
		TEST(of_an_action_messages_and_places_matter),
	};

	return test_main(tests, MR_LEN(tests));
}
