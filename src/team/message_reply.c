/*
 * team/message_reply.c - Builds a reply from the original message: its subject, thread, recipients
 * and importance.
 */
#include "base/utf8.h"
#include "team/error.h"
#include "team/inbox.h"
#include "team/limits.h"
#include "team/message.h"
#include "team/message_private.h"
#include "team/message_sql.h"

#include <string.h>
#include <strings.h>

const char *mr_team_thread_of(struct mr_arena *arena, const struct mr_team_message *message)
{
	return message->thread_id ? message->thread_id
				  : mr_arena_printf(arena, "%lld", (long long)message->id);
}

/* "Re: x", once: also where the original has it in another case, and only where there is room. */
static const char *reply_subject(struct mr_arena *arena, const char *prefix, const char *subject)
{
	const char *prefixed = mr_arena_printf(arena, "%s %s", prefix, subject);

	if (!*prefix || strncasecmp(subject, prefix, strlen(prefix)) == 0)
		return subject;
	/* A prefix that is no text is refused with the rest. */
	if (mr_utf8_is_valid(prefixed, strlen(prefixed), NULL) &&
		strlen(prefix) < MR_TEAM_SUBJECT_CHARS / 2 &&
		mr_utf8_count(prefixed, strlen(prefixed)) > MR_TEAM_SUBJECT_CHARS)
		return subject;
	return prefixed;
}

/* An agent whatever its project and state: "project:<slug>#Name". */
static const char *exactly(struct mr_arena *arena, const char *slug, const char *name)
{
	return mr_arena_printf(arena, "project:%s#%s", slug, name);
}

static struct mr_texts room_for(struct mr_arena *arena, const struct mr_texts *given, size_t more)
{
	struct mr_texts list = { mr_arena_array(arena, given->len + more + 1, sizeof(*list.items)),
		given->len };

	if (given->len)
		memcpy(list.items, given->items, given->len * sizeof(*list.items));
	return list;
}

/* The sender of the original, and with reply_all everybody in its to and cc, without the
 * replier. */
static void address(struct mr_arena *arena, const struct mr_team_reply *reply,
	const struct mr_team_item *original, const struct mr_team_recipients *all,
	const struct mr_team_agent *replier, struct mr_team_address_lists *out)
{
	bool own = original->message.sender_id == replier->id;
	const char *author = exactly(arena, original->sender_project, original->from);

	out->bcc = reply->lists.bcc;
	out->to = room_for(arena, &reply->lists.to, all->len + 1);
	out->cc = room_for(arena, &reply->lists.cc, all->len);
	if (!reply->lists.to.len && !(own && reply->reply_all))
		out->to.items[out->to.len++] = author;
	for (size_t i = 0; reply->reply_all && i < all->len; i++) {
		const struct mr_team_recipient *one = &all->items[i];
		struct mr_texts *list = one->kind == MR_TEAM_TO ? &out->to : &out->cc;

		if (one->kind != MR_TEAM_BCC && one->agent_id != replier->id)
			list->items[list->len++] = exactly(arena, one->project_slug, one->name);
	}
	/* A message to oneself is answered to oneself. */
	if (!out->to.len && !out->cc.len && !out->bcc.len)
		out->to.items[out->to.len++] = author;
}

static enum mr_code look_up(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_reply *reply, struct mr_team_item *original,
	struct mr_team_recipients *all, struct mr_team_agent *replier)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_project project;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_agent_resolve(cx, team, reader.db, reply->project_key,
			reply->sender_name, &project, replier);
	if (!rc)
		rc = mr_team_message_get(cx, reader.db, reply->rights, &project, reply->message_id,
			replier, original);
	if (!rc)
		rc = mr_team_message_recipients(cx, reader.db, reply->message_id, all);
	return rc;
}

enum mr_code mr_team_reply(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_reply *reply, struct mr_team_sent *out)
{
	struct mr_team_recipients all = { NULL, 0 };
	struct mr_team_agent replier;
	struct mr_team_item original;
	enum mr_code rc = look_up(cx, team, reply, &original, &all, &replier);
	struct mr_team_draft draft = {
		.verified = reply->verified,
		.by_overseer = reply->by_overseer,
		.rights = reply->rights,
		.project_key = reply->project_key,
		.sender_name = reply->sender_name,
		.body_md = reply->body_md,
		.attachment_paths = reply->attachment_paths,
		.convert_images = -1,
		.reply_to = reply->message_id,
		.idempotency_key = reply->idempotency_key,
		.tool = "reply_message",
	};

	if (rc)
		return rc;
	draft.subject = reply_subject(cx->arena,
		reply->subject_prefix ? reply->subject_prefix : "Re:", original.message.subject);
	draft.importance = reply->importance ? reply->importance
					     : mr_team_importance_name(original.message.importance);
	draft.ack_required =
		reply->ack_required < 0 ? original.message.ack_required : reply->ack_required != 0;
	draft.thread_id = mr_team_thread_of(cx->arena, &original.message);
	address(cx->arena, reply, &original, &all, &replier, &draft.lists);
	return mr_team_send(cx, team, &draft, out);
}
