/* tests/unit/surface/test_hub.c - who wants to know is told, and nobody else. */
#include "surface/mcp/hub.h"

#include "mcp_world.h"
#include "op/team/contract_team.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { WAIT_S = 20 };

struct ear {
	struct mr_mcp_listener listener;
	pthread_mutex_t lock;
	pthread_cond_t news;
	unsigned told;
	char uri[256];
	int level;
};

static void updated(struct mr_mcp_listener *listener, const char *uri)
{
	struct ear *ear = (struct ear *)listener;

	pthread_mutex_lock(&ear->lock);
	ear->told++;
	snprintf(ear->uri, sizeof(ear->uri), "%s", uri);
	pthread_cond_broadcast(&ear->news);
	pthread_mutex_unlock(&ear->lock);
}

static void set_level(struct mr_mcp_listener *listener, int level)
{
	((struct ear *)listener)->level = level;
}

#define EAR                                                                                        \
	{                                                                                          \
		.listener = { updated, set_level }, .lock = PTHREAD_MUTEX_INITIALIZER,             \
		.news = PTHREAD_COND_INITIALIZER                                                   \
	}

static void wait_for(struct ear *ear, unsigned times)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	pthread_mutex_lock(&ear->lock);
	while (ear->told < times) {
		if (pthread_cond_timedwait(&ear->news, &ear->lock, &until))
			test_fail(__FILE__, __LINE__, "told %u times, not %u", ear->told, times);
	}
	pthread_mutex_unlock(&ear->lock);
}

static void subscribe(struct mcp_world *world, struct ear *ear, const char *uri)
{
	world->client.listener = &ear->listener;
	mcp_result(world, "resources/subscribe",
		mr_arena_printf(world->arena, "{\"uri\":\"%s\"}", uri));
}

static void unsubscribe(struct mcp_world *world, struct ear *ear, const char *uri)
{
	world->client.listener = &ear->listener;
	mcp_result(world, "resources/unsubscribe",
		mr_arena_printf(world->arena, "{\"uri\":\"%s\"}", uri));
}

static void send(struct mcp_world *world, const char *from, const char *to, const char *thread)
{
	mcp_tool(world, "send_message",
		mr_arena_printf(world->arena,
			"{\"project_key\":\"backend\",\"sender_name\":\"%s\",\"to\":[\"%s\"],"
			"\"subject\":\"s\",\"body_md\":\"b\",\"thread_id\":\"%s\"}",
			from, to, thread));
}

static void mail_is_told_to_its_own(void)
{
	struct mcp_world world;
	struct ear red = EAR, green = EAR, thread = EAR;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	subscribe(&world, &red, "resource://inbox/RedCat?project=backend");
	subscribe(&world, &green, "resource://views/urgent-unread/GreenCastle");
	subscribe(&world, &thread, "resource://thread/T?project=backend");
	send(&world, "GreenCastle", "RedCat", "U");
	wait_for(&red, 1);
	CHECK_STR(red.uri, "resource://inbox/RedCat?project=backend");
	send(&world, "RedCat", "GreenCastle", "T");
	wait_for(&green, 1);
	wait_for(&thread, 1);
	/* By now all that came before has been looked at. */
	CHECK_INT(red.told, 1);
	CHECK_INT(thread.told, 1);
	/* Across projects: in the inbox of who got it, in the thread of both. */
	mcp_tool(&world, "send_message",
		"{\"project_key\":\"frontend\",\"sender_name\":\"BlueLake\",\"to\":[\"RedCat\"],"
		"\"subject\":\"s\",\"body_md\":\"b\",\"thread_id\":\"T\"}");
	wait_for(&red, 2);
	wait_for(&thread, 2);
	CHECK_INT(green.told, 1);
	mcp_close(&world);
}

static void a_blind_copy_is_told_to_who_got_it_only(void)
{
	struct mcp_world world;
	struct ear blue = EAR, thread = EAR, red = EAR;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	subscribe(&world, &blue, "resource://inbox/BlueLake");
	mcp_tool(&world, "send_message",
		"{\"project_key\":\"frontend\",\"sender_name\":\"BlueLake\",\"to\":[\"BlueLake\"],"
		"\"subject\":\"s\",\"body_md\":\"b\",\"thread_id\":\"V\"}");
	wait_for(&blue, 1);
	subscribe(&world, &thread, "resource://thread/V?project=frontend");
	subscribe(&world, &red, "resource://inbox/RedCat");
	mcp_tool(&world, "send_message",
		"{\"project_key\":\"backend\",\"sender_name\":\"RedCat\",\"to\":[\"RedCat\"],"
		"\"bcc\":[\"BlueLake\"],\"subject\":\"s\",\"body_md\":\"b\",\"thread_id\":\"V\"}");
	wait_for(&blue, 2);
	wait_for(&red, 1);
	CHECK_INT(thread.told, 0);
	mcp_close(&world);
}

static void leases_are_told(void)
{
	static const char *const changes[][2] = {
		{ "file_reservation_paths", ",\"paths\":[\"src/**\"]}" },
		{ "renew_file_reservations", "}" },
		{ "release_file_reservations", "}" },
	};
	struct mcp_world world;
	struct ear ear = EAR, other = EAR, mail = EAR;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	subscribe(&world, &ear, "resource://file_reservations/p-backend?active_only=true");
	subscribe(&world, &other, "resource://file_reservations/p-frontend");
	subscribe(&world, &mail, "resource://inbox/RedCat");
	for (size_t i = 0; i < MR_LEN(changes); i++) {
		mcp_tool(&world, changes[i][0],
			mr_arena_printf(world.arena,
				"{\"project_key\":\"backend\",\"agent_name\":\"RedCat\"%s",
				changes[i][1]));
		wait_for(&ear, (unsigned)i + 1);
	}
	send(&world, "GreenCastle", "RedCat", "T");
	wait_for(&mail, 1);
	CHECK_INT(ear.told, MR_LEN(changes));
	CHECK_INT(other.told, 0);
	mcp_close(&world);
}

static void who_unsubscribes_hears_no_more(void)
{
	struct mcp_world world;
	struct ear ear = EAR, other = EAR;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	subscribe(&world, &ear, "resource://inbox/RedCat");
	subscribe(&world, &ear, "resource://inbox/RedCat"); /* twice is once */
	subscribe(&world, &ear, "resource://thread/T");
	subscribe(&world, &other, "resource://inbox/RedCat");
	unsubscribe(&world, &ear, "resource://thread/T");
	unsubscribe(&world, &ear, "resource://thread/never");
	send(&world, "GreenCastle", "RedCat", "T");
	wait_for(&other, 1);
	wait_for(&ear, 1);
	mr_mcp_hub_unsubscribe(mr_mcp_hub(world.mcp), NULL, &ear.listener);
	send(&world, "GreenCastle", "RedCat", "T");
	wait_for(&other, 2);
	CHECK_INT(ear.told, 1);
	/* Nobody is left, then somebody comes again. */
	unsubscribe(&world, &other, "resource://inbox/RedCat");
	send(&world, "GreenCastle", "RedCat", "T");
	subscribe(&world, &ear, "resource://inbox/RedCat");
	send(&world, "GreenCastle", "RedCat", "T");
	wait_for(&ear, 2);
	CHECK_INT(other.told, 2);
	mcp_close(&world);
}

/* Many at once are told less often than they come, and the last is not forgotten. */
static void what_comes_together_is_told_together(void)
{
	enum { MAILS = 60 };
	struct mcp_world world;
	struct ear ear = EAR, last = EAR;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	subscribe(&world, &ear, "resource://inbox/RedCat");
	subscribe(&world, &last, "resource://inbox/GreenCastle");
	for (int i = 0; i < MAILS; i++)
		send(&world, "GreenCastle", "RedCat", "T");
	send(&world, "RedCat", "GreenCastle", "T");
	wait_for(&last, 1);
	CHECK(ear.told >= 1 && ear.told <= MAILS);
	mcp_close(&world);
}

static void what_others_publish_is_told(void)
{
	struct mcp_world world;
	struct ear ear = EAR;
	struct mr_team_topic topic = { .kind = MR_TEAM_TOPIC_NONE };
	struct mr_call call;

	mcp_open(&world, NULL);
	call = mr_dispatch_call(&world.app, world.arena);
	CHECK_OK(mr_mcp_hub_subscribe(mr_mcp_hub(world.mcp), &call, NULL, "x:y", &topic,
			 &ear.listener),
		call.cx.err);
	mr_mcp_hub_publish(mr_mcp_hub(world.mcp), "x:z");
	CHECK_INT(ear.told, 0);
	mr_mcp_hub_publish(mr_mcp_hub(world.mcp), "x:y");
	CHECK_INT(ear.told, 1);
	for (int i = 1; i < MR_MCP_SUBSCRIPTIONS; i++)
		CHECK_OK(mr_mcp_hub_subscribe(mr_mcp_hub(world.mcp), &call, NULL,
				 mr_arena_printf(world.arena, "x:%d", i), &topic, &ear.listener),
			call.cx.err);
	CHECK_INT(mr_mcp_hub_subscribe(mr_mcp_hub(world.mcp), &call, NULL, "x:more", &topic,
			  &ear.listener),
		MR_ELIMIT);
	mcp_close(&world);
}

static void members_are_told(void)
{
	struct mcp_world world;
	struct ear ear = EAR;
	struct mr_team_topic topic = { .kind = MR_TEAM_TOPIC_MEMBERS };
	struct mr_team *team;
	struct mr_call call;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	call = mr_dispatch_call(&world.app, world.arena);
	CHECK_OK(mr_contract_team_open(&call, &team), call.cx.err);
	CHECK_OK(mr_mcp_hub_subscribe(mr_mcp_hub(world.mcp), &call, team, "list", &topic,
			 &ear.listener),
		call.cx.err);
	mcp_tool(&world, "register_agent",
		"{\"project_key\":\"backend\",\"name\":\"SwiftFox\",\"program\":\"x\",\"model\":"
		"\"y\"}");
	wait_for(&ear, 1);
	mcp_tool(&world, "delete_agent", "{\"project_key\":\"backend\",\"name\":\"SwiftFox\"}");
	wait_for(&ear, 2);
	mcp_close(&world);
}

static void not_everything_can_be_subscribed_to(void)
{
	struct mcp_world world;
	struct ear ear = EAR;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	CHECK_INT(mcp_error(&world, "resources/subscribe", "{\"uri\":\"resource://inbox/RedCat\"}"),
		MR_RPC_PARAMS); /* nobody could be told */
	world.client.listener = &ear.listener;
	CHECK_INT(mcp_error(&world, "resources/subscribe", "{\"uri\":\"resource://projects\"}"),
		MR_RPC_PARAMS);
	CHECK_INT(mcp_error(&world, "resources/subscribe", "{\"uri\":\"resource://inbox/Nobody\"}"),
		MR_RPC_RESOURCE);
	CHECK_INT(mcp_error(&world, "resources/subscribe", "{}"), MR_RPC_PARAMS);
	CHECK_INT(mcp_error(&world, "resources/unsubscribe", "{}"), MR_RPC_PARAMS);
	world.client.era = MR_MCP_STATELESS;
	CHECK_INT(mcp_error(&world, "resources/subscribe", "{\"uri\":\"resource://inbox/RedCat\"}"),
		MR_RPC_METHOD);
	mcp_close(&world);
}

static void levels_are_set(void)
{
	struct mcp_world world;
	struct ear ear = EAR;

	mcp_open(&world, NULL);
	mcp_result(&world, "logging/setLevel", "{\"level\":\"debug\"}");
	world.client.listener = &ear.listener;
	mcp_result(&world, "logging/setLevel", "{\"level\":\"warning\"}");
	CHECK_INT(ear.level, MR_MCP_WARNING);
	CHECK_INT(mcp_error(&world, "logging/setLevel", "{\"level\":\"loud\"}"), MR_RPC_PARAMS);
	CHECK_INT(mcp_error(&world, "logging/setLevel", "{}"), MR_RPC_PARAMS);
	world.client.era = MR_MCP_STATELESS;
	CHECK_INT(mcp_error(&world, "logging/setLevel", "{\"level\":\"debug\"}"), MR_RPC_METHOD);
	mcp_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(mail_is_told_to_its_own),
		TEST(a_blind_copy_is_told_to_who_got_it_only),
		TEST(leases_are_told),
		TEST(who_unsubscribes_hears_no_more),
		TEST(what_comes_together_is_told_together),
		TEST(what_others_publish_is_told),
		TEST(members_are_told),
		TEST(not_everything_can_be_subscribed_to),
		TEST(levels_are_set),
	};

	return test_main(tests, MR_LEN(tests));
}
