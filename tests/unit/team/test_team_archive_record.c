/* tests/unit/team/test_team_archive_record.c - what is written is covered by test_team_archive.c */
#include "team/archive/archive_record.h"

#include "test.h"

#include <string.h>

static struct mr_err err;

/* Written and read back, a record is the same; `write` and the checks are each test's. */
static struct mr_bytes take(struct mr_arena *arena, struct mr_buf *buf)
{
	struct mr_bytes bytes = mr_buf_bytes(buf);

	return mr_bytes_of(mr_arena_memdup(arena, bytes.data, bytes.len), bytes.len);
}

static void a_project_reads_back(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_project project = { 3, "backend", "/Back \"end\"", "git-remote", 1234567 };
	struct mr_team_project back;

	mr_buf_init(&buf, 1 << 20);
	mr_team_record_project(&buf, &project);
	CHECK_STR(mr_buf_text(&buf),
		"{\n  \"created_at\": \"1970-01-01T00:00:01.234567Z\",\n"
		"  \"human_key\": \"/Back \\\"end\\\"\",\n  \"id\": 3,\n"
		"  \"identity_mode\": \"git-remote\",\n  \"slug\": \"backend\"\n}\n");
	CHECK_OK(mr_team_record_read_project(arena, take(arena, &buf), &back, &err), err);
	CHECK_INT(back.id, 3);
	CHECK_STR(back.slug, "backend");
	CHECK_STR(back.human_key, project.human_key);
	CHECK_STR(back.identity_mode, "git-remote");
	CHECK_INT(back.created_at, 1234567);
}

static void a_profile_reads_back(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_project project = { .slug = "backend" };
	struct mr_team_agent agent = { .id = 7,
		.project_id = 3,
		.name = "GreenCastle",
		.program = "p",
		.model = "m",
		.task_description = "a\nb",
		.inception_ts = 5,
		.last_active_ts = 6,
		.attachments_policy = MR_TEAM_ATTACH_DENY,
		.contact_policy = MR_TEAM_BLOCK_ALL,
		.deleted_ts = 9,
		.is_system = true };
	struct mr_team_agent back;

	mr_buf_init(&buf, 1 << 20);
	mr_team_record_profile(&buf, &project, &agent);
	CHECK_OK(mr_team_record_read_profile(arena, take(arena, &buf), &back, &err), err);
	CHECK_INT(back.id, 7);
	CHECK_STR(back.name, "GreenCastle");
	CHECK_STR(back.program, "p");
	CHECK_STR(back.model, "m");
	CHECK_STR(back.task_description, "a\nb");
	CHECK_INT(back.inception_ts, 5);
	CHECK_INT(back.last_active_ts, 6);
	CHECK_INT(back.attachments_policy, MR_TEAM_ATTACH_DENY);
	CHECK_INT(back.contact_policy, MR_TEAM_BLOCK_ALL);
	CHECK(!back.is_active && back.is_system);
	CHECK_INT(back.deleted_ts, 9);
}

static void leases_read_back(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_reservation items[] = {
		{ .id = 1,
			.agent = "A",
			.path_pattern = "src/**",
			.exclusive = true,
			.reason = "r",
			.origin = "escalation",
			.created_ts = 1,
			.expires_ts = 2 },
		{ .id = 4,
			.agent = "B",
			.path_pattern = "src/**",
			.reason = "",
			.origin = "agent",
			.created_ts = 3,
			.expires_ts = 4,
			.released_ts = 5 },
	};
	struct mr_team_reservations leases = { items, 2 }, back;

	mr_buf_init(&buf, 1 << 20);
	mr_team_record_leases(&buf, "/p", &leases);
	CHECK_OK(mr_team_record_read_leases(arena, take(arena, &buf), &back, &err), err);
	CHECK_INT(back.len, 2);
	for (size_t i = 0; i < 2; i++) {
		CHECK_INT(back.items[i].id, items[i].id);
		CHECK_STR(back.items[i].agent, items[i].agent);
		CHECK_STR(back.items[i].path_pattern, items[i].path_pattern);
		CHECK_INT(back.items[i].exclusive, items[i].exclusive);
		CHECK_STR(back.items[i].reason, items[i].reason);
		CHECK_STR(back.items[i].origin, items[i].origin);
		CHECK_INT(back.items[i].created_ts, items[i].created_ts);
		CHECK_INT(back.items[i].expires_ts, items[i].expires_ts);
		CHECK_INT(back.items[i].released_ts, items[i].released_ts);
	}
	/* One that is held stands at the top and among the holders, and is one. */
	leases.len = 1;
	mr_buf_clear(&buf);
	mr_team_record_leases(&buf, "/p", &leases);
	CHECK_OK(mr_team_record_read_leases(arena, take(arena, &buf), &back, &err), err);
	CHECK_INT(back.len, 1);
	/* Also where leases have no ids, as the peers' have none. */
	items[0].id = 0;
	mr_buf_clear(&buf);
	mr_team_record_leases(&buf, "/p", &leases);
	CHECK_OK(mr_team_record_read_leases(arena, take(arena, &buf), &back, &err), err);
	CHECK_INT(back.len, 1);
}

static void links_read_back(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_link_record item = { .link = { .id = 2,
						    .a_project = "p",
						    .a_agent = "A",
						    .b_project = "q",
						    .b_agent = "B",
						    .status = MR_TEAM_BLOCKED,
						    .reason = "why",
						    .created_ts = 1,
						    .updated_ts = 2,
						    .expires_ts = 3 },
		.notified_ts = 4,
		.unasked = true };
	struct mr_team_link_records links = { &item, 1 }, back;

	mr_buf_init(&buf, 1 << 20);
	mr_team_record_links(&buf, "A", "p", &links);
	CHECK_OK(mr_team_record_read_links(arena, take(arena, &buf), &back, &err), err);
	CHECK_INT(back.len, 1);
	CHECK_INT(back.items[0].link.id, 2);
	CHECK_STR(back.items[0].link.a_project, "p");
	CHECK_STR(back.items[0].link.a_agent, "A");
	CHECK_STR(back.items[0].link.b_project, "q");
	CHECK_STR(back.items[0].link.b_agent, "B");
	CHECK_INT(back.items[0].link.status, MR_TEAM_BLOCKED);
	CHECK_STR(back.items[0].link.reason, "why");
	CHECK_INT(back.items[0].link.expires_ts, 3);
	CHECK_INT(back.items[0].notified_ts, 4);
	CHECK(back.items[0].unasked);
}

static void a_slot_reads_back(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_slot_record slot = { .id = 5,
		.agent = "A",
		.slot_name = "build",
		.created_ts = 1,
		.expires_ts = 2,
		.released_ts = 3 };
	struct mr_team_slot_record back;

	mr_buf_init(&buf, 1 << 20);
	mr_team_record_slot(&buf, "/p", &slot);
	CHECK_OK(mr_team_record_read_slot(arena, take(arena, &buf), &back, &err), err);
	CHECK_INT(back.id, 5);
	CHECK_STR(back.agent, "A");
	CHECK_STR(back.slot_name, "build");
	CHECK_INT(back.created_ts, 1);
	CHECK_INT(back.expires_ts, 2);
	CHECK_INT(back.released_ts, 3);
}

static void says_what_is_missing(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes none = mr_bytes_text("{}"), list = mr_bytes_text("[]");
	struct mr_team_project project;
	struct mr_team_agent agent;
	struct mr_team_gone gone;
	struct mr_team_reservations leases;
	struct mr_team_link_records links;
	struct mr_team_slot_record slot;

	CHECK_INT(mr_team_record_read_project(arena, none, &project, &err), MR_EFORMAT);
	CHECK_STR(err.msg, "slug is missing");
	CHECK_INT(mr_team_record_read_profile(arena, list, &agent, &err), MR_EFORMAT);
	CHECK_STR(err.msg, "must be an object, not list");
	CHECK_INT(mr_team_record_read_profile(arena, none, &agent, &err), MR_EFORMAT);
	CHECK_STR(err.msg, "name is missing");
	CHECK_INT(mr_team_record_read_gone(arena, none, &gone, &err), MR_EFORMAT);
	CHECK_INT(mr_team_record_read_leases(arena, none, &leases, &err), MR_EFORMAT);
	CHECK_STR(err.msg, "agent is missing");
	CHECK_INT(mr_team_record_read_links(arena, none, &links, &err), MR_EFORMAT);
	CHECK_STR(err.msg, "links must be a list");
	CHECK_INT(mr_team_record_read_links(arena, mr_bytes_text("{\"links\":[{}]}"), &links, &err),
		MR_EFORMAT);
	CHECK(strstr(err.msg, "from: agent is missing"));
	CHECK_INT(mr_team_record_read_slot(arena, none, &slot, &err), MR_EFORMAT);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_project_reads_back),
		TEST(a_profile_reads_back),
		TEST(leases_read_back),
		TEST(links_read_back),
		TEST(a_slot_reads_back),
		TEST(says_what_is_missing),
	};

	return test_main(tests, MR_LEN(tests));
}
