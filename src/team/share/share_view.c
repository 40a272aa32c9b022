/* team/share/share_view.c - the page of an export: its messages as scripts, which a page opened
 * from disk may load where it may fetch nothing. */
#include "team/share/share_private.h"
#include "team/share/share_web.h"
#include "text/markdown.h"
#include "text/time.h"

enum {
	LIST_BYTES = 512 << 20, /* half a gigabyte is a million messages, and a browser's limit */
	PART_BYTES = 64 << 20,  /* one message of the largest kind, as text and as HTML */
	PART_FULL = 1 << 20,    /* what a click should load */
	SNIPPET_CHARS = 280,
};

static const char LIST_HEAD[] = "window.mailroomShare = ";
static const char PART_HEAD[] = "window.mailroomBodies(";

static void text(struct mr_json_writer *w, const char *key, const char *value)
{
	mr_json_key(w, key);
	mr_json_text(w, value);
}

static void number(struct mr_json_writer *w, const char *key, int64_t value)
{
	mr_json_key(w, key);
	mr_json_int(w, value);
}

static void texts(struct mr_json_writer *w, const char *key, const struct mr_texts *values)
{
	mr_json_key(w, key);
	mr_json_begin_list(w);
	for (size_t i = 0; i < values->len; i++)
		mr_json_text(w, values->items[i]);
	mr_json_end(w);
}

static void begin_part(struct mr_team_view *view)
{
	mr_buf_clear(&view->bodies);
	mr_buf_puts(&view->bodies, PART_HEAD);
	mr_json_init(&view->bodies_json, &view->bodies, MR_JSON_COMPACT);
	mr_json_begin_map(&view->bodies_json);
	view->in_part = 0;
}

void mr_team_view_begin(struct mr_team_view *view)
{
	mr_buf_init(&view->list, LIST_BYTES);
	mr_buf_init(&view->bodies, PART_BYTES);
	mr_buf_puts(&view->list, LIST_HEAD);
	mr_json_init(&view->list_json, &view->list, MR_JSON_COMPACT);
	mr_json_begin_map(&view->list_json);
	mr_json_key(&view->list_json, "messages");
	mr_json_begin_list(&view->list_json);
	begin_part(view);
}

void mr_team_view_release(struct mr_team_view *view)
{
	mr_buf_release(&view->list);
	mr_buf_release(&view->bodies);
}

static enum mr_code end_part(struct mr_team_share_job *job)
{
	struct mr_team_view *view = &job->view;
	const char *path =
		mr_arena_printf(job->cx->arena, "viewer/data/bodies-%05zu.js", view->part);
	enum mr_code rc;

	mr_json_end(&view->bodies_json);
	mr_buf_puts(&view->bodies, ");\n");
	rc = mr_buf_check(&view->bodies, path, &job->cx->err);
	if (!rc)
		rc = mr_team_share_put(job, path, mr_buf_bytes(&view->bodies));
	view->part++;
	begin_part(view);
	return rc;
}

static void list_message(struct mr_arena *arena, struct mr_team_view *view,
	const struct mr_team_view_message *m)
{
	struct mr_json_writer *w = &view->list_json;

	mr_json_begin_map(w);
	number(w, "id", m->message->id);
	text(w, "project", m->project->slug);
	text(w, "thread", m->message->thread_id);
	text(w, "subject", m->message->subject);
	text(w, "from", m->from);
	texts(w, "to", &m->to);
	texts(w, "cc", &m->cc);
	text(w, "importance", mr_team_importance_name(m->message->importance));
	text(w, "created", mr_time_format(arena, m->message->created_ts, MR_TIME_SECONDS));
	text(w, "snippet",
		mr_markdown_to_text(arena, mr_bytes_text(m->message->body_md), SNIPPET_CHARS));
	number(w, "attachments", (int64_t)m->attachments->list.len);
	number(w, "part", (int64_t)view->part);
	mr_json_end(w);
}

enum mr_code mr_team_view_add(struct mr_team_share_job *job, struct mr_arena *arena,
	const struct mr_team_view_message *m)
{
	struct mr_team_view *view = &job->view;
	struct mr_json_writer *w = &view->bodies_json;
	struct mr_buf html MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc;

	mr_buf_init(&html, PART_BYTES / 2);
	rc = mr_markdown_to_html(&html, mr_bytes_text(m->message->body_md), &job->cx->err);
	if (rc)
		return rc;
	list_message(arena, view, m);
	mr_json_key(w, mr_arena_printf(arena, "%lld", (long long)m->message->id));
	mr_json_begin_map(w);
	text(w, "md", m->message->body_md);
	text(w, "html", mr_buf_text(&html));
	mr_json_key(w, "attachments");
	mr_json_value(w, m->attachments);
	mr_json_end(w);
	view->in_part++;
	return view->bodies.len >= PART_FULL ? end_part(job) : MR_OK;
}

static void write_meta(struct mr_team_share_job *job)
{
	struct mr_json_writer *w = &job->view.list_json;
	struct mr_arena *arena = job->cx->arena;

	mr_json_key(w, "meta");
	mr_json_begin_map(w);
	text(w, "generated_at", mr_team_share_time(job));
	text(w, "exporter", "mailroom " MR_VERSION);
	text(w, "scrub", mr_team_share_preset(job));
	number(w, "secrets_replaced", job->out.secrets_replaced);
	mr_json_end(w);
	mr_json_key(w, "projects");
	mr_json_begin_list(w);
	for (size_t i = 0; i < job->projects.len; i++) {
		mr_json_begin_map(w);
		text(w, "slug", job->projects.items[i].slug);
		text(w, "name", mr_team_share_scrub(job, arena, job->projects.items[i].human_key));
		mr_json_end(w);
	}
	mr_json_end(w);
}

enum mr_code mr_team_view_end(struct mr_team_share_job *job)
{
	struct mr_team_view *view = &job->view;
	enum mr_code rc = view->in_part > 0 ? end_part(job) : MR_OK;

	mr_json_end(&view->list_json);
	write_meta(job);
	mr_json_end(&view->list_json);
	mr_buf_puts(&view->list, ";\n");
	if (!rc)
		rc = mr_buf_check(&view->list, "the list of messages", &job->cx->err);
	if (!rc)
		rc = mr_team_share_put(job, "viewer/data/messages.js", mr_buf_bytes(&view->list));
	for (size_t i = 0; i < mr_team_share_web_count && !rc; i++)
		rc = mr_team_share_put(job, mr_team_share_web[i].path,
			mr_bytes_of(mr_team_share_web[i].data, mr_team_share_web[i].len));
	return rc;
}
