/* team/summary.c - Summarises threads page by page, and merges the summaries of several threads. */
#include "team/summary.h"

#include "base/utf8.h"
#include "team/error.h"
#include "team/limits.h"
#include "team/llm.h"
#include "team/project.h"
#include "team/summary_private.h"

#include <string.h>

enum { PAGE = 16 }; /* messages in memory at a time, of each project */

/* The thread as one project sees it, page by page. */
struct stream {
	const struct mr_team_rights *rights;
	int64_t project_id;
	struct mr_arena *arena; /* of the page */
	struct mr_team_items page;
	size_t at;
	bool ended;
};

/* Read pages until there is a message at `at`, or the stream has ended. */
static enum mr_code advance(struct mr_ctx *cx, struct mr_db *db, const char *thread_id,
	struct stream *stream)
{
	struct mr_ctx own = *cx;
	int64_t after = 0;
	enum mr_code rc;

	if (stream->at < stream->page.len || stream->ended)
		return MR_OK;
	if (stream->arena) {
		after = stream->page.next;
		mr_arena_free(stream->arena);
	}
	own.arena = stream->arena = mr_arena_new();
	stream->page = (struct mr_team_items){ NULL, 0, after };
	stream->at = 0;
	rc = mr_team_thread_get(&own, db, stream->rights, stream->project_id, thread_id, true,
		after, PAGE, &stream->page);
	if (rc) {
		/* The error may refer to texts in the page's memory. */
		own.err.issues = NULL;
		own.err.detail = NULL;
		cx->err = own.err;
		return rc;
	}
	stream->ended = stream->page.len == 0;
	return MR_OK;
}

/* Go on to the next message; the last one of the last page ends the stream. */
static void pass(struct stream *stream)
{
	stream->at++;
	if (stream->at == stream->page.len && !stream->page.next)
		stream->ended = true;
}

static void take_excerpt(struct mr_ctx *cx, const struct mr_team_item *item,
	struct mr_team_excerpts *out)
{
	const char *body = item->message.body_md;

	if (out->len == MR_TEAM_LLM_MESSAGES || !body)
		return;
	out->items[out->len].from = mr_arena_strdup(cx->arena, item->from);
	out->items[out->len++].text = mr_arena_strndup(cx->arena, body,
		mr_utf8_prefix(body, strlen(body), MR_TEAM_LLM_CHARS));
}

/* The next message of all streams in order; one that two projects share comes once. */
static enum mr_code next_item(struct mr_ctx *cx, struct mr_db *db, const char *thread_id,
	struct stream *streams, size_t count, const struct mr_team_item **out)
{
	const struct mr_team_item *next = NULL;

	for (size_t i = 0; i < count; i++) {
		enum mr_code rc = advance(cx, db, thread_id, &streams[i]);

		if (rc)
			return rc;
		if (!streams[i].ended &&
			(!next ||
				streams[i].page.items[streams[i].at].message.id < next->message.id))
			next = &streams[i].page.items[streams[i].at];
	}
	*out = next;
	return MR_OK;
}

static void pass_item(struct stream *streams, size_t count, int64_t id)
{
	for (size_t i = 0; i < count; i++) {
		if (!streams[i].ended && streams[i].page.items[streams[i].at].message.id == id)
			pass(&streams[i]);
	}
}

static enum mr_code sum_up(struct mr_ctx *cx, struct mr_db *db, struct stream *streams,
	size_t count, const char *thread_id, int64_t limit, struct mr_team_excerpts *excerpts,
	struct mr_team_summary *out)
{
	struct mr_team_summing summing;

	mr_team_summing_start(&summing, cx->arena, thread_id);
	for (int64_t i = 0; i < limit; i++) {
		const struct mr_team_item *item = NULL;
		enum mr_code rc = next_item(cx, db, thread_id, streams, count, &item);

		if (rc)
			return rc;
		if (!item)
			break;
		mr_team_summing_add(&summing, item);
		take_excerpt(cx, item, excerpts);
		pass_item(streams, count, item->message.id);
	}
	mr_team_summing_end(&summing, out);
	return MR_OK;
}

static enum mr_code summarise(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const int64_t *project_ids, size_t project_count,
	const char *thread_id, int64_t limit, struct mr_team_excerpts *excerpts,
	struct mr_team_summary *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct stream *streams = mr_arena_array(cx->arena, project_count + 1, sizeof(*streams));
	enum mr_code rc = mr_team_read(cx, team, &reader);

	limit = limit < 1 || limit > MR_TEAM_LIST_MAX ? MR_TEAM_LIST_MAX : limit;
	for (size_t i = 0; i < project_count; i++) {
		streams[i].rights = rights;
		streams[i].project_id = project_ids[i];
	}
	if (!rc)
		rc = sum_up(cx, reader.db, streams, project_count, thread_id, limit, excerpts, out);
	for (size_t i = 0; i < project_count; i++)
		mr_arena_free(streams[i].arena);
	return rc;
}

enum mr_code mr_team_summary_thread(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const int64_t *project_ids, size_t project_count,
	const char *thread_id, int64_t limit, bool llm_mode, const char *llm_model,
	struct mr_team_summary *out)
{
	struct mr_team_excerpts excerpts = { .len = 0 };
	struct mr_team_summary summary;
	enum mr_code rc = summarise(cx, team, rights, project_ids, project_count, thread_id, limit,
		&excerpts, &summary);

	if (rc)
		return rc;
	if (llm_mode && excerpts.len > 0 && mr_team_llm_is_set(mr_team_config(team)))
		mr_team_summary_refine(cx, mr_team_config(team), llm_model, &excerpts, &summary);
	*out = summary;
	return MR_OK;
}

static void gather(const struct mr_texts *from, struct mr_texts *to)
{
	for (size_t i = 0; i < from->len && to->len < MR_TEAM_SUMMARY_AGGREGATE; i++)
		to->items[to->len++] = from->items[i];
}

static void aggregate(struct mr_arena *arena, struct mr_team_summaries *all)
{
	struct mr_team_tally tally = { .arena = arena };

	all->key_points.items = mr_arena_array(arena, MR_TEAM_SUMMARY_AGGREGATE + 1,
		sizeof(*all->key_points.items));
	all->action_items.items = mr_arena_array(arena, MR_TEAM_SUMMARY_AGGREGATE + 1,
		sizeof(*all->action_items.items));
	for (size_t i = 0; i < all->len; i++) {
		const struct mr_team_summary *one = &all->items[i];

		gather(&one->key_points, &all->key_points);
		gather(&one->action_items, &all->action_items);
		for (size_t m = 0; m < one->mention_count; m++)
			mr_team_tally_add(&tally, one->mentions[m].name,
				strlen(one->mentions[m].name), one->mentions[m].count);
	}
	all->mentions = mr_team_tally_top(&tally, &all->mention_count);
	all->source = "heuristic";
}

enum mr_code mr_team_summary_threads(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const int64_t *project_ids, size_t project_count,
	const struct mr_texts *thread_ids, int64_t limit, bool llm_mode, const char *llm_model,
	struct mr_team_summaries *out)
{
	struct mr_team_summaries all = { .len = 0 };

	if (thread_ids->len == 0)
		return mr_team_refuse(cx, "thread_ids", "thread_ids names no thread");
	if (thread_ids->len > MR_TEAM_SUMMARY_THREADS)
		return mr_team_refuse(cx, "thread_ids",
			"thread_ids names %zu threads, more than %d", thread_ids->len,
			MR_TEAM_SUMMARY_THREADS);
	all.items = mr_arena_array(cx->arena, thread_ids->len, sizeof(*all.items));
	for (; all.len < thread_ids->len; all.len++) {
		struct mr_team_excerpts excerpts = {
			.len = MR_TEAM_LLM_MESSAGES
		}; /* none wanted */
		enum mr_code rc;

		if (cx->progress)
			cx->progress(cx->progress_arg, "reading threads", all.len, thread_ids->len);
		rc = summarise(cx, team, rights, project_ids, project_count,
			thread_ids->items[all.len], limit, &excerpts, &all.items[all.len]);

		if (rc)
			return rc;
	}
	aggregate(cx->arena, &all);
	if (llm_mode && mr_team_llm_is_set(mr_team_config(team)))
		mr_team_summary_refine_all(cx, mr_team_config(team), llm_model, &all);
	*out = all;
	return MR_OK;
}

/* The reader is given back before a model is asked. */
static enum mr_code find_project(struct mr_ctx *cx, struct mr_team *team, const char *key,
	struct mr_team_project *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	return rc ? rc : mr_team_project_find(cx, reader.db, key, out);
}

enum mr_code mr_team_summarize(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_summarize *request, struct mr_team_summary *out)
{
	struct mr_team_project project;
	enum mr_code rc = find_project(cx, team, request->project_key, &project);

	if (!rc)
		rc = mr_team_summary_thread(cx, team, request->rights, &project.id, 1,
			request->thread_id, 0, request->llm_mode, request->llm_model, out);
	if (!rc && !request->include_examples)
		out->examples.len = 0;
	return rc;
}

enum mr_code mr_team_summarize_many(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_summarize_many *request, struct mr_team_summaries *out)
{
	struct mr_team_project project;
	enum mr_code rc = find_project(cx, team, request->project_key, &project);

	return rc ? rc
		  : mr_team_summary_threads(cx, team, request->rights, &project.id, 1,
			    &request->thread_ids, request->limit, request->llm_mode,
			    request->llm_model, out);
}
