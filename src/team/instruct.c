/* team/instruct.c - Sends what the person who oversees a project says to its agents. */
#include "team/instruct.h"

#include "team/error.h"
#include "team/name.h"
#include "team/overseer.h"
#include "team/project.h"
#include "team/store/root_private.h"

static const char comes_first[] =
	"> The person who oversees this project wrote this. Stop what you are doing, do what it "
	"says first, and then go on with your work, unless it says otherwise.\n\n";

static const char *body_of(struct mr_arena *arena, const struct mr_team_instruction *instruction)
{
	return mr_arena_printf(arena, "%s%s", instruction->comes_first ? comes_first : "",
		instruction->body_md);
}

struct meeting {
	const char *project_key;
	struct mr_team_agent overseer;
};

static enum mr_code run_meet(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct meeting *meeting = arg;
	struct mr_team_project project;
	enum mr_code rc = mr_team_project_find(cx, db, meeting->project_key, &project);

	return rc ? rc : mr_team_overseer(cx, db, project.id, &meeting->overseer);
}

static enum mr_code check(struct mr_ctx *cx, const struct mr_team_instruction *instruction)
{
	if (mr_str_is_empty(mr_str_trim(cx->arena, instruction->body_md)))
		return mr_team_refuse(cx, "body_md", "the message has no text");
	if (!instruction->reply_to && mr_str_is_empty(instruction->subject))
		return mr_team_refuse(cx, "subject", "the message has no subject");
	if (!instruction->reply_to && !instruction->to.len)
		return mr_team_refuse(cx, "to", "choose at least one agent to write to");
	return MR_OK;
}

static enum mr_code answer(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_instruction *instruction, struct mr_team_sent *out)
{
	const struct mr_team_reply reply = {
		.project_key = instruction->project_key,
		.sender_name = MR_TEAM_OVERSEER_NAME,
		.message_id = instruction->reply_to,
		.lists = { .to = instruction->to },
		.reply_all = instruction->reply_all,
		.body_md = body_of(cx->arena, instruction),
		.importance = instruction->importance ? instruction->importance : "normal",
		.ack_required = instruction->ack_required,
		.verified = instruction->verified,
		.by_overseer = true,
		.rights = instruction->rights,
	};

	return mr_team_reply(cx, team, &reply, out);
}

enum mr_code mr_team_instruct(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_instruction *instruction, struct mr_team_sent *out)
{
	struct meeting meeting = { .project_key = instruction->project_key };
	const struct mr_team_draft draft = {
		.project_key = instruction->project_key,
		.sender_name = MR_TEAM_OVERSEER_NAME,
		.lists = { .to = instruction->to },
		.subject = instruction->subject,
		.body_md = body_of(cx->arena, instruction),
		.convert_images = -1,
		.importance = instruction->importance ? instruction->importance : "high",
		.ack_required = instruction->ack_required,
		.thread_id = instruction->thread_id,
		.strict_recipients = true,
		.tool = "send_as_overseer",
		.verified = instruction->verified,
		.by_overseer = true,
		.rights = instruction->rights,
	};
	enum mr_code rc = check(cx, instruction);

	if (!rc && instruction->preview) {
		*out = (struct mr_team_sent){ .to = instruction->to,
			.message = { .subject = instruction->subject,
				.body_md = draft.body_md,
				.attachments = "[]" } };
		return MR_OK;
	}
	if (!rc)
		rc = mr_team_write(cx, team, run_meet, NULL, &meeting);
	if (rc)
		return rc;
	return instruction->reply_to ? answer(cx, team, instruction, out)
				     : mr_team_send(cx, team, &draft, out);
}
