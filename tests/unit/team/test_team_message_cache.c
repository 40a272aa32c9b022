/* tests/unit/team/test_team_message_cache.c */
#include "team/message_cache.h"

#include "mail.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

static struct mr_team_item item_of(int64_t id, const char *subject)
{
	return (struct mr_team_item){
		.message = { .id = id,
			.uid = "msg_1",
			.project_id = 2,
			.sender_id = 3,
			.thread_seq = 4,
			.subject = subject,
			.body_md = "body",
			.importance = MR_TEAM_HIGH,
			.verified = true,
			.created_ts = 5,
			.attachments = "[]" },
		.from = "GreenCastle",
		.sender_project = "backend",
		.received = true,
		.read_ts = 6,
	};
}

static const char *form_of(const struct mr_team_item *item)
{
	static char text[16];

	CHECK(item->form.len < sizeof(text));
	memcpy(text, item->form.data, item->form.len);
	text[item->form.len] = '\0';
	return text;
}

static bool has(struct mr_team_message_cache *heads, int64_t id)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_item item;

	return mr_team_message_cache_get(heads, arena, id, &item);
}

static void keeps_what_a_message_says(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_message_cache *heads = mr_team_message_cache_new();
	char subject[] = "plan";
	struct mr_team_item item = item_of(1, subject), got;

	CHECK(!mr_team_message_cache_get(heads, arena, 1, &got));
	mr_team_message_cache_put(heads, &item);
	memset(subject, 'x', strlen(subject));
	CHECK(mr_team_message_cache_get(heads, arena, 1, &got));
	mr_team_message_cache_free(heads);
	CHECK_INT(got.message.id, 1);
	CHECK_STR(got.message.uid, "msg_1");
	CHECK_INT(got.message.project_id, 2);
	CHECK_INT(got.message.sender_id, 3);
	CHECK(got.message.thread_id == NULL);
	CHECK_STR(got.message.subject, "plan");
	CHECK_INT(got.message.importance, MR_TEAM_HIGH);
	CHECK(got.message.verified);
	CHECK_INT(got.message.created_ts, 5);
	CHECK_STR(got.message.attachments, "[]");
	CHECK_STR(got.from, "GreenCastle");
	CHECK_STR(got.sender_project, "backend");
	/* These are not the message's, may change, or are long. */
	CHECK(!got.received && got.read_ts == 0);
	CHECK_INT(got.message.thread_seq, 0);
	CHECK(got.message.body_md == NULL);
	CHECK(got.form.len == 0);
}

static void keeps_no_more_than_fits(void)
{
	struct mr_team_message_cache *heads = mr_team_message_cache_new();
	char subject[MR_TEAM_HEAD_BYTES + 10];
	struct mr_team_item item = item_of(1, subject);

	memset(subject, 's', sizeof(subject));
	subject[sizeof(subject) - 1] = '\0';
	mr_team_message_cache_put(heads, &item);
	CHECK(!has(heads, 1));
	subject[MR_TEAM_HEAD_BYTES - 1] = '\0';
	mr_team_message_cache_put(heads, &item);
	CHECK(!has(heads, 1));
	subject[512] = '\0';
	mr_team_message_cache_put(heads, &item);
	CHECK(has(heads, 1));
	item.message.id += MR_TEAM_MESSAGE_CACHE;
	mr_team_message_cache_put(heads, &item);
	CHECK(!has(heads, 1));
	CHECK(has(heads, 1 + MR_TEAM_MESSAGE_CACHE));
	mr_team_message_cache_free(heads);
}

static void keeps_a_form(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_message_cache *heads = mr_team_message_cache_new();
	struct mr_team_item item = item_of(1, "plan"),
			    other = item_of(1 + MR_TEAM_MESSAGE_CACHE, "x"), got;
	static const char longest[MR_TEAM_HEAD_BYTES + 1];

	mr_team_message_cache_put(heads, &item);
	CHECK(mr_team_message_cache_get(heads, arena, 1, &item));
	mr_team_message_cache_leave(&item, mr_bytes_of(longest, sizeof(longest)));
	mr_team_message_cache_leave(&item, mr_bytes_text(""));
	CHECK(mr_team_message_cache_get(heads, arena, 1, &got) && got.form.len == 0);
	mr_team_message_cache_leave(&item, mr_bytes_text("form"));
	mr_team_message_cache_leave(&item, mr_bytes_text("another"));
	CHECK(mr_team_message_cache_get(heads, arena, 1, &got));
	CHECK_STR(form_of(&got), "form");
	CHECK_STR(got.message.subject, "plan");
	/* Its place was taken meanwhile. */
	mr_team_message_cache_put(heads, &other);
	mr_team_message_cache_leave(&item, mr_bytes_text("form"));
	CHECK(mr_team_message_cache_get(heads, arena, other.message.id, &got) && got.form.len == 0);
	/* One that nobody keeps. */
	mr_team_message_cache_leave(&other, mr_bytes_text("form"));
	mr_team_message_cache_free(heads);
}

static void *crowd(void *heads)
{
	for (int i = 0; i < 2000; i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		int64_t id = i % 7 + (i % 3 ? 0 : MR_TEAM_MESSAGE_CACHE);
		struct mr_team_item item = item_of(id, id % 2 ? "odd" : "even"), got;

		if (!mr_team_message_cache_get(heads, arena, id, &got)) {
			mr_team_message_cache_put(heads, &item);
			continue;
		}
		mr_team_message_cache_leave(&got, mr_bytes_text(item.message.subject));
		if (got.message.id != id ||
			strcmp(got.message.subject, item.message.subject) != 0 ||
			(got.form.len && got.form.len != strlen(item.message.subject)))
			return heads;
	}
	return NULL;
}

static void serves_many_at_once(void)
{
	struct mr_team_message_cache *heads = mr_team_message_cache_new();
	pthread_t threads[4];

	for (size_t i = 0; i < MR_LEN(threads); i++)
		CHECK(pthread_create(&threads[i], NULL, crowd, heads) == 0);
	for (size_t i = 0; i < MR_LEN(threads); i++) {
		void *wrong;

		pthread_join(threads[i], &wrong);
		CHECK(!wrong);
	}
	mr_team_message_cache_free(heads);
}

/* A list says the same whether its messages are read or were kept. */
static void lists_are_the_same(void)
{
	struct world world;
	struct mr_team_project backend;
	struct mr_team_items first, again;

	world_open(&world);
	backend = world_project(&world, "/path/to/backend");
	world_agent(&world, &backend, "GreenCastle");
	world_agent(&world, &backend, "RedCat");
	mail_from(&world, "backend", "GreenCastle", "RedCat", "one");
	first = mail_inbox(&world, "backend", "RedCat");
	mr_team_message_cache_leave(&first.items[0], mr_bytes_text("form"));
	mail_from(&world, "backend", "GreenCastle", "RedCat", "two");
	world_exec(&world, "UPDATE message_recipients SET read_ts = 7 WHERE message_id = 1");
	again = mail_inbox(&world, "backend", "RedCat");
	CHECK_INT(again.len, 2);
	CHECK_STR(again.items[0].message.subject, "two");
	CHECK(again.items[0].form.len == 0);
	CHECK_STR(again.items[1].message.subject, "one");
	CHECK_STR(again.items[1].from, "GreenCastle");
	CHECK_STR(again.items[1].message.body_md, first.items[0].message.body_md);
	CHECK_STR(form_of(&again.items[1]), "form");
	CHECK_INT(again.items[1].read_ts, 7);
	/* Who takes no attachments sees another message. */
	mail_from(&world, "backend", "GreenCastle", "RedCat", "three");
	world_exec(&world,
		"UPDATE agents SET attachments_policy = 'deny';"
		"UPDATE messages SET attachments = '[{\"type\":\"file\",\"path\":\"a\"}]'"
		" WHERE id = 3");
	again = mail_inbox(&world, "backend", "RedCat");
	CHECK(again.items[0].without_data && !again.items[0].heads);
	/* One that is gone is in no list. */
	world_exec(&world,
		"DELETE FROM message_recipients WHERE message_id = 1;"
		"DELETE FROM messages WHERE id = 1");
	again = mail_inbox(&world, "backend", "RedCat");
	CHECK_INT(again.len, 2);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(keeps_what_a_message_says),
		TEST(keeps_no_more_than_fits),
		TEST(keeps_a_form),
		TEST(serves_many_at_once),
		TEST(lists_are_the_same),
	};

	return test_main(tests, MR_LEN(tests));
}
