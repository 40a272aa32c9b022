/* surface/web/page_mail.c - pages: the mail of a team in lists, conversations, a message. */
#include "base/str.h"
#include "op/nouns.h"
#include "surface/web/pages.h"

#include <string.h>

#define LATEST                                                                                     \
	{                                                                                          \
		"messages", &mr_op_team_latest, .fixed = "limit=50"                                \
	}

const struct mr_web_page mr_web_page_inbox = {
	.pattern = "/mail/inbox",
	.template = "inbox.html",
	.nav = "inbox",
	.asks = (const struct mr_web_ask[]){ LATEST, { 0 } },
};

const struct mr_web_page mr_web_page_project_inbox = {
	.pattern = "/mail/p/{project_key}/inbox",
	.template = "inbox.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT, LATEST, { 0 } },
};

const struct mr_web_page mr_web_page_agent = {
	.pattern = "/mail/p/{project_key}/agent/{agent_name}",
	.template = "agent.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT,
		{ "agent", &mr_op_team_whois, .fixed = "include_recent_commits=false" }, LATEST,
		{ 0 } },
};

const struct mr_web_page mr_web_page_threads = {
	.pattern = "/mail/p/{project_key}/threads",
	.template = "threads.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT,
		{ "threads", &mr_op_team_threads, .fixed = "limit=50" }, { 0 } },
};

/* A value of a result, or NULL. */
static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static enum mr_code show_thread(struct mr_web_view *view)
{
	const struct mr_value *thread, *messages;
	enum mr_code rc = mr_web_run(view, &mr_op_team_thread,
		"order=newest&limit=50&include_recipients=true&fence=false", &thread);

	if (rc)
		return rc;
	messages = mr_value_get(thread, "messages");
	if (!messages->list.len && !mr_web_value(view, "cursor"))
		return mr_err_set(&view->err, MR_ENOTFOUND,
			"There is no conversation \"%.100s\" in this project.",
			mr_web_value(view, "thread_id"));
	mr_web_put_html(view, "thread", thread);
	return MR_OK;
}

const struct mr_web_page mr_web_page_thread = {
	.pattern = "/mail/p/{project_key}/thread/{thread_id}",
	.template = "thread.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT, { 0 } },
	.fill = show_thread,
};

/* Of a thread_id that cannot stand in a path, such as a/b: ?thread_id=a/b. */
const struct mr_web_page mr_web_page_thread_asked = {
	.pattern = "/mail/p/{project_key}/thread",
	.template = "thread.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT, { 0 } },
	.fill = show_thread,
};

/* The conversation that a message is in, as a list. */
static enum mr_code show_around(struct mr_web_view *view)
{
	const struct mr_value *message, *thread;
	enum mr_code rc =
		mr_web_run(view, &mr_op_team_show, "include_recipients=true&fence=false", &message);
	const char *id;

	if (rc)
		return rc;
	mr_web_put_html(view, "message", message);
	id = text_of(message, "thread_id");
	if (!id)
		id = mr_web_value(view, "message_id");
	rc = mr_web_run_with(view, &mr_op_team_thread,
		"order=newest&limit=30&max_chars=400&fence=false", "thread_id", id, &thread);
	if (!rc)
		mr_web_put_excerpts(view, "thread", thread);
	return rc;
}

const struct mr_web_page mr_web_page_message = {
	.pattern = "/mail/p/{project_key}/message/{message_id}",
	.template = "message.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT, { 0 } },
	.fill = show_around,
};

const struct mr_web_page mr_web_page_compose = {
	.pattern = "/mail/p/{project_key}/compose",
	.template = "compose.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT,
		{ "agents", &mr_op_team_list_agents, .fixed = "limit=200" }, { 0 } },
};

/* The page of what was sent: its path begins as that of the form does, up to what comes after the
 * project. */
static const char *show_sent(struct mr_web_view *view, const struct mr_value *result)
{
	static const char root[] = "/mail/p/";
	const char *path = view->req->path;
	size_t len = sizeof(root) - 1 + strcspn(path + sizeof(root) - 1, "/");
	const struct mr_value *id = mr_value_get(result, "id");

	return mr_arena_printf(view->req->arena, "%.*s/message/%lld", (int)len, path,
		(long long)id->integer);
}

const struct mr_web_action mr_web_action_send = {
	.name = "send",
	.note = "Sent.",
	.pattern = "/mail/p/{project_key}/compose",
	.op = &mr_op_team_instruct,
	.page = &mr_web_page_compose,
	.with_preview = true,
	.next = show_sent,
};

const struct mr_web_action mr_web_action_reply = {
	.name = "reply",
	.note = "Your answer is sent.",
	.pattern = "/mail/p/{project_key}/message/{message_id}",
	.op = &mr_op_team_instruct,
	.page = &mr_web_page_message,
	.with_preview = true,
	.next = show_sent,
};

/* After a mark the message is shown again. */
static const char *show_marked(struct mr_web_view *view, const struct mr_value *result)
{
	const char *path = view->req->path;

	(void)result;
	return mr_arena_strndup(view->req->arena, path, (size_t)(strrchr(path, '/') - path));
}

const struct mr_web_action mr_web_action_acknowledge = {
	.name = "acknowledge",
	.note = "Acknowledged: its sender can see that you have taken note.",
	.pattern = "/mail/p/{project_key}/message/{message_id}/acknowledge",
	.op = &mr_op_team_ack,
	.fixed = "agent_name=HumanOverseer",
	.next = show_marked,
};

const struct mr_web_action mr_web_action_mark_read = {
	.name = "read",
	.note = "Marked as read.",
	.pattern = "/mail/p/{project_key}/message/{message_id}/read",
	.op = &mr_op_team_read,
	.fixed = "agent_name=HumanOverseer",
	.next = show_marked,
};
