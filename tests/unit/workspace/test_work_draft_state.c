/* tests/unit/workspace/test_work_draft_state.c */
#include "workspace/draft_state.h"

#include "desk.h"
#include "test.h"
#include "workspace/error.h"

#define CASE "cases/open/c20260504001-A"

static struct mr_work_draft_states load(struct desk *desk)
{
	struct mr_work_draft_states states = { 0 };

	CHECK_OK(mr_work_draft_states_load(&desk->cx, desk->work, CASE, &states), desk->cx.err);
	return states;
}

static void commit(struct desk *desk, struct mr_work_change *change)
{
	CHECK_OK(mr_work_change_commit(&desk->cx, change), desk->cx.err);
	mr_work_change_end(&desk->cx, change);
}

static void states_are_kept_by_name(void)
{
	struct desk desk;
	struct mr_work_draft_states states;
	struct mr_work_change change;

	desk_open(&desk);
	states = load(&desk);
	CHECK_INT(states.len, 0);
	CHECK_STR(states.path, CASE "/data/drafts.json");
	mr_work_change_begin(&desk.cx, desk.work, "draft_write", &change);
	mr_work_draft_state_put(&change, &states, "b.md", "sha256:b");
	mr_work_draft_state_put(&change, &states, "a.md", "sha256:a");
	mr_work_draft_state_saved(&change, &states, "b.md", "sha256:s");
	mr_work_draft_state_saved(&change, &states, "c.md", "sha256:c");
	mr_work_draft_state_put(&change, &states, "b.md", "sha256:b2");
	commit(&desk, &change);
	states = load(&desk);
	CHECK_INT(states.len, 3);
	CHECK_STR(states.items[0].name, "a.md");
	CHECK(!states.items[0].saved);
	CHECK_STR(mr_work_draft_state_of(&states, "b.md")->hash, "sha256:b2");
	CHECK_STR(mr_work_draft_state_of(&states, "b.md")->saved, "sha256:s");
	CHECK(!mr_work_draft_state_of(&states, "c.md")->hash);
	CHECK(!mr_work_draft_state_of(&states, "d.md"));
	mr_work_change_begin(&desk.cx, desk.work, "draft_write", &change);
	mr_work_draft_state_put(&change, &states, "b.md", NULL);
	commit(&desk, &change);
	states = load(&desk);
	CHECK_INT(states.len, 2);
	desk_close(&desk);
}

static void a_draft_is_saved_while_it_is_what_the_server_has(void)
{
	struct desk desk;
	struct mr_work_draft_states states;
	struct mr_work_change change;
	const char *hash;

	desk_open(&desk);
	states = load(&desk);
	hash = mr_work_draft_hash(desk.cx.arena, mr_bytes_text("text"));
	mr_work_change_begin(&desk.cx, desk.work, "draft_write", &change);
	mr_work_draft_state_saved(&change, &states, "a.md", hash);
	commit(&desk, &change);
	CHECK(!mr_work_draft_is_saved(&desk.cx, desk.work, &states, CASE, "a.md"));
	desk_put(CASE "/drafts/a.md", "text");
	CHECK(mr_work_draft_is_saved(&desk.cx, desk.work, &states, CASE, "a.md"));
	desk_put(CASE "/drafts/a.md", "changed");
	CHECK(!mr_work_draft_is_saved(&desk.cx, desk.work, &states, CASE, "a.md"));
	desk_put(CASE "/drafts/b.md", "text");
	CHECK(!mr_work_draft_is_saved(&desk.cx, desk.work, &states, CASE, "b.md"));
	desk_close(&desk);
}

static void other_documents_are_refused(void)
{
	struct desk desk;
	struct mr_work_draft_states states;

	desk_open(&desk);
	desk_put(CASE "/data/drafts.json", "{\"schema_name\": \"draft_state\"}");
	desk_check_fail(&desk, mr_work_draft_states_load(&desk.cx, desk.work, CASE, &states),
		"draft_state_invalid", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, CASE "/data/drafts.json is not a draft_state of version 1");
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(states_are_kept_by_name),
		TEST(a_draft_is_saved_while_it_is_what_the_server_has),
		TEST(other_documents_are_refused),
	};

	return test_main(tests, MR_LEN(tests));
}
