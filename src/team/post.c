/* team/post.c - stores a message or a notice, and queues its files for the archive. */
#include "team/post.h"

#include "base/buf.h"
#include "team/archive/archive_queue.h"
#include "team/limits.h"
#include "team/message_sql.h"
#include "team/project.h"
#include "team/store/schema.h"

const char *mr_team_post_name(struct mr_arena *arena, int64_t project_id,
	const struct mr_team_recipient *recipient)
{
	if (recipient->project_id == project_id)
		return recipient->name;
	return mr_arena_printf(arena, "%s@%s", recipient->name, recipient->project_slug);
}

struct mr_texts mr_team_post_names(struct mr_arena *arena, int64_t project_id,
	const struct mr_team_recipients *recipients, enum mr_team_recipient_kind kind)
{
	struct mr_texts names = { mr_arena_array(arena, recipients->len + 1, sizeof(*names.items)),
		0 };

	for (size_t i = 0; i < recipients->len; i++) {
		if (recipients->items[i].kind == kind)
			names.items[names.len++] =
				mr_team_post_name(arena, project_id, &recipients->items[i]);
	}
	return names;
}

/* "mail: A -> B, C | subject". Blind copies are not named, in git either. */
static const char *commit_subject(struct mr_arena *arena, const struct mr_team_post *post)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	size_t named = 0;

	mr_buf_init(&text, 64 << 10);
	mr_buf_printf(&text, "mail: %s -> ", post->from);
	for (size_t i = 0; i < post->recipients.len && text.len < MR_TEAM_COMMIT_SUBJECT; i++) {
		const struct mr_team_recipient *to = &post->recipients.items[i];

		if (to->kind == MR_TEAM_BCC)
			continue;
		mr_buf_puts(&text, named++ ? ", " : "");
		mr_buf_puts(&text, mr_team_post_name(arena, post->message.project_id, to));
	}
	if (!named)
		mr_buf_puts(&text, "(blind copies)");
	mr_buf_printf(&text, " | %s", post->message.subject);
	return mr_arena_strdup(arena, mr_buf_text(&text));
}

/* One row for the message's project, one for each other among the recipients. */
static enum mr_code queue_for_archive(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_post *post)
{
	struct mr_team_archive_item item = {
		.project_id = post->message.project_id,
		.kind = MR_TEAM_ARCHIVE_MESSAGE,
		.ref = post->message.id,
		.agent = post->from,
		.subject = commit_subject(cx->arena, post),
		.tool = post->tool,
	};
	enum mr_code rc = mr_team_archive_queue(cx, db, &item);

	item.kind = MR_TEAM_ARCHIVE_INBOX;
	for (size_t i = 0; !rc && i < post->recipients.len; i++) {
		bool queued = false;

		item.project_id = post->recipients.items[i].project_id;
		for (size_t k = 0; k < i && !queued; k++)
			queued = post->recipients.items[k].project_id == item.project_id;
		if (!queued && item.project_id != post->message.project_id)
			rc = mr_team_archive_queue(cx, db, &item);
	}
	return rc;
}

enum mr_code mr_team_post_store(struct mr_ctx *cx, struct mr_db *db, struct mr_team_post *post)
{
	enum mr_code rc = mr_team_message_insert(cx, db, &post->message, post->attachment_bytes);

	for (size_t i = 0; !rc && i < post->recipients.len; i++)
		rc = mr_team_recipient_insert(cx, db, &post->message, &post->recipients.items[i],
			i);
	return rc ? rc : queue_for_archive(cx, db, post);
}

enum mr_code mr_team_notice_send(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_notice *notice, int64_t *out_message_id)
{
	struct mr_team_project project = { .slug = "" };
	struct mr_team_recipient to = {
		.agent_id = notice->to->id,
		.project_id = notice->to->project_id,
		.name = notice->to->name,
		.kind = MR_TEAM_TO,
	};
	struct mr_team_post post = {
		.message = { .project_id = notice->from->project_id,
			.sender_id = notice->from->id,
			.thread_id = notice->thread_id,
			.subject = notice->subject,
			.body_md = notice->body_md,
			.importance = notice->importance,
			.ack_required = notice->ack_required },
		.from = notice->from->name,
		.recipients = { &to, 1 },
		.tool = notice->tool,
	};
	enum mr_code rc = MR_OK;

	if (notice->to->project_id != notice->from->project_id)
		rc = mr_team_project_get(cx, db, notice->to->project_id, &project);
	to.project_slug = project.slug;
	if (!rc)
		rc = mr_team_post_store(cx, db, &post);
	if (!rc)
		*out_message_id = post.message.id;
	return rc;
}

enum mr_code mr_team_post_index(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_message *message)
{
	const char *texts[] = { message->subject, message->body_md };

	return mr_db_search_add_texts(db, &mr_team_search_index, message->id, texts, &cx->err);
}

enum mr_code mr_team_notice_index(struct mr_ctx *cx, struct mr_db *db, int64_t message_id)
{
	return mr_db_search_add(db, &mr_team_search_index, message_id, &cx->err);
}
