/* tests/unit/team/letters.c */
#include "letters.h"

#include "base/proc.h"
#include "database.h"
#include "team/archive/archive.h"
#include "team/post.h"
#include "team/project.h"
#include "team/store/schema.h"
#include "test.h"

#include <string.h>

static enum mr_code store(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	return mr_team_post_store(cx, db, arg);
}

static enum mr_code index_it(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	const struct mr_team_post *post = arg;

	database_index(cx, db, &mr_team_search_index, post->message.id);
	return MR_OK;
}

static const char *slug_of(struct world *world, int64_t project_id)
{
	return world_text(world,
		mr_arena_printf(world->cx.arena, "SELECT slug FROM projects WHERE id = %lld",
			(long long)project_id));
}

struct mr_team_message letter_send(struct world *world, const struct letter *mail)
{
	struct mr_team_recipient recipients[4] = { 0 };
	struct mr_team_post post = {
		.message = { .project_id = mail->from->project_id,
			.sender_id = mail->from->id,
			.thread_id = mail->thread,
			.subject = mail->subject ? mail->subject : "a subject",
			.body_md = mail->body ? mail->body : "a body\n",
			.importance = MR_TEAM_NORMAL,
			.attachments = mail->attachments ? mail->attachments : "[]" },
		.from = mail->from->name,
		.recipients = { recipients, 0 },
		.tool = "send_message",
	};

	for (size_t i = 0; i < 4 && mail->to[i]; i++) {
		recipients[i] = (struct mr_team_recipient){ .agent_id = mail->to[i]->id,
			.project_id = mail->to[i]->project_id,
			.name = mail->to[i]->name,
			.project_slug = slug_of(world, mail->to[i]->project_id),
			.kind = mail->kinds[i] };
		post.recipients.len++;
	}
	CHECK_OK(mr_team_write(&world->cx, world->team, store, index_it, &post), world->cx.err);
	return post.message;
}

void letter_drain(struct world *world)
{
	CHECK_OK(mr_team_archive_drain(&world->cx, world->team, 20000, true), world->cx.err);
	CHECK_INT(world_count(world, "archive_queue"), 0);
}

const char *letter_git(struct world *world, const char *slug, const char *a, const char *b,
	const char *c)
{
	const char *argv[] = { "git", "-C",
		mr_arena_printf(world->cx.arena, "root/projects/%s", slug), a, b, c, NULL };
	struct mr_proc proc = { .argv = argv, .timeout_ms = 20000, .max_output = 1 << 20 };
	struct mr_proc_result result;
	char *text;

	CHECK_OK(mr_proc_run(world->cx.arena, &proc, &result, &world->cx.err), world->cx.err);
	if (result.exit_status != 0)
		test_fail(__FILE__, __LINE__, "git %s: %s", a, (const char *)result.err.data);
	text = mr_arena_strndup(world->cx.arena, (const char *)result.out.data, result.out.len);
	if (result.out.len && text[result.out.len - 1] == '\n')
		text[result.out.len - 1] = '\0';
	return text;
}
