/* tests/unit/surface/test_session.c - without connections; tests/blackbox/mcp_wire.py has those. */
#include "surface/mcp/session.h"

#include "test.h"
#include "text/time.h"

#include <string.h>

static struct mr_clock_fixed clock_;
static struct mr_rand rand_;
static struct mr_mcp_sessions *sessions;

static const struct mr_mcp_hello hello = { .version = "2025-11-25", .can_sample = true };

static void start(void)
{
	mr_clock_fixed_init(&clock_, 1000 * MR_TIME_S);
	mr_rand_seeded_init(&rand_, 7);
	sessions = mr_mcp_sessions_new(&clock_.clock, &rand_, NULL);
}

/* The id of a new one that nobody holds. */
static const char *open_one(struct mr_arena *arena, const char *owner)
{
	struct mr_mcp_session *session = NULL;
	struct mr_err err;
	const char *id;

	CHECK_OK(mr_mcp_session_open(sessions, owner, &hello, &session, &err), err);
	id = mr_arena_strdup(arena, mr_mcp_session_id(session));
	mr_mcp_session_done(&session);
	CHECK(!session);
	return id;
}

static bool is_there(const char *owner, const char *id)
{
	struct mr_mcp_session *session = mr_mcp_session_find(sessions, owner, id);
	bool found = session;

	mr_mcp_session_done(&session);
	return found;
}

static void ids_find_their_session_and_owner(void)
{
	struct mr_arena *arena = mr_arena_new();
	const char *id, *other;

	start();
	id = open_one(arena, "token");
	other = open_one(arena, NULL);
	CHECK(strlen(id) == 32 && strcmp(id, other) != 0);
	CHECK(is_there("token", id) && is_there(NULL, other));
	CHECK(!is_there(NULL, id) && !is_there("local", id) && !is_there("token", other));
	CHECK(!is_there("token", "") && !is_there("token", "x"));
	mr_mcp_sessions_free(sessions);
	mr_arena_free(arena);
}

static void sessions_know_their_client(void)
{
	struct mr_mcp_session *session = NULL;
	struct mr_mcp_client client;
	struct mr_err err;

	start();
	CHECK_OK(mr_mcp_session_open(sessions, NULL, &hello, &session, &err), err);
	client = mr_mcp_session_client(session);
	CHECK_INT(client.era, MR_MCP_SESSIONS);
	CHECK_STR(client.version, "2025-11-25");
	CHECK(client.can_sample && !client.can_elicit && !client.has_roots);
	CHECK(client.session == session && client.listener);
	CHECK_INT(client.log_level, MR_MCP_DEBUG);
	mr_mcp_session_set_level(session, MR_MCP_ERROR);
	CHECK_INT(mr_mcp_session_client(session).log_level, MR_MCP_ERROR);
	mr_mcp_session_done(&session);
	mr_mcp_sessions_free(sessions);
}

static void ended_sessions_stay_for_who_holds_them(void)
{
	struct mr_mcp_session *session = NULL, *again;
	struct mr_err err;

	start();
	CHECK_OK(mr_mcp_session_open(sessions, NULL, &hello, &session, &err), err);
	again = mr_mcp_session_hold(session);
	mr_mcp_session_end(session);
	mr_mcp_session_end(session);
	CHECK(!is_there(NULL, mr_mcp_session_id(session)));
	/* Nobody will hear it. */
	mr_mcp_session_tell(session, mr_bytes_text("{}"));
	mr_mcp_session_done(&session);
	CHECK_INT(strlen(mr_mcp_session_id(again)), 32);
	mr_mcp_session_done(&again);
	mr_mcp_sessions_free(sessions);
	mr_mcp_sessions_free(NULL);
}

static void idle_sessions_end(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_mcp_session *held;
	const char *idle, *busy, *used;

	start();
	idle = open_one(arena, NULL);
	busy = open_one(arena, NULL);
	used = open_one(arena, NULL);
	held = mr_mcp_session_find(sessions, NULL, busy);
	clock_.now_us += MR_MCP_IDLE_S * MR_TIME_S;
	CHECK(is_there(NULL, used));
	clock_.now_us += 1;
	open_one(arena, NULL);
	CHECK(!is_there(NULL, idle));
	CHECK(is_there(NULL, busy) && is_there(NULL, used));
	mr_mcp_session_done(&held);
	/* Found too late is not found. */
	clock_.now_us += MR_MCP_IDLE_S * MR_TIME_S + 1;
	CHECK(!is_there(NULL, busy));
	mr_mcp_sessions_free(sessions);
	mr_arena_free(arena);
}

static void there_is_a_maximum(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_mcp_session *session = NULL, *none = NULL;
	const char *first, *second;
	struct mr_err err;

	start();
	first = open_one(arena, NULL);
	for (int i = 1; i < MR_MCP_SESSIONS_MAX; i++)
		open_one(arena, NULL);
	CHECK_INT(mr_mcp_session_open(sessions, NULL, &hello, &session, &err), MR_ELIMIT);
	CHECK_STR(err.msg, "4096 sessions are open, which is the maximum");
	CHECK(!session);
	session = mr_mcp_session_find(sessions, NULL, first);
	mr_mcp_session_end(session);
	mr_mcp_session_done(&session);
	second = open_one(arena, NULL);
	/* Who was not used for a while makes room; who is held or was does not. */
	clock_.now_us += MR_MCP_UNUSED_S * MR_TIME_S;
	session = mr_mcp_session_find(sessions, NULL, second);
	for (int i = 0; i < MR_MCP_SESSIONS_MAX - 1; i++)
		open_one(arena, NULL);
	CHECK_INT(mr_mcp_session_open(sessions, NULL, &hello, &none, &err), MR_ELIMIT);
	CHECK(is_there(NULL, second));
	mr_mcp_session_done(&session);
	mr_mcp_sessions_stop(sessions);
	CHECK_INT(mr_mcp_session_open(sessions, NULL, &hello, &session, &err), MR_EBUSY);
	mr_mcp_sessions_free(sessions);
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(ids_find_their_session_and_owner),
		TEST(sessions_know_their_client),
		TEST(ended_sessions_stay_for_who_holds_them),
		TEST(idle_sessions_end),
		TEST(there_is_a_maximum),
	};

	return test_main(tests, MR_LEN(tests));
}
