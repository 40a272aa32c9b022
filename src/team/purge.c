/*
 * team/purge.c - Deletes an agent and its messages from the database, and queues the removal of
 * its files from the archives.
 */
#include "team/purge.h"

#include "base/buf.h"
#include "team/archive/archive_queue.h"
#include "team/layout.h"
#include "team/limits.h"
#include "team/purge_sql.h"
#include "team/retire_sql.h"
#include "text/json.h"

#include <stdlib.h>
#include <string.h>

enum {
	PATHS = 256, /* in one row */
	ROW_BYTES = 1 << 20,
	PLACES_MAX = 256 << 20, /* bytes */
};

/* A file to be removed from an archive. */
struct place {
	int64_t project_id;
	const char *path;
};

struct purging {
	struct mr_ctx *cx;
	struct mr_db *db;
	const struct mr_team_agent *agent;
	struct mr_buf places; /* of struct place */
	struct mr_team_traces got, abroad, threads, contacts, leases;
};

static enum mr_code queue(struct purging *p, struct mr_team_archive_item item)
{
	item.agent = p->agent->name;
	item.tool = "delete_agent";
	item.subject = mr_arena_printf(p->cx->arena, "agent: delete %s", p->agent->name);
	return mr_team_archive_queue(p->cx, p->db, &item);
}

static void drop(struct purging *p, int64_t project_id, const char *path)
{
	const struct place place = { project_id, path };

	mr_buf_add(&p->places, &place, sizeof(place));
}

/* --- before: what will be known to nobody afterwards --- */

static enum mr_code note_messages(struct purging *p)
{
	struct mr_ctx *cx = p->cx;
	struct mr_team_traces sent = { 0 }, copies = { 0 };
	enum mr_code rc = mr_team_purge_traces(cx, p->db, MR_TEAM_TRACE_SENT, p->agent->id, &sent);

	if (!rc)
		rc = mr_team_purge_traces(cx, p->db, MR_TEAM_TRACE_COPIES, p->agent->id, &copies);
	for (size_t i = 0; !rc && i < sent.len + copies.len; i++) {
		const struct mr_team_trace *trace =
			i < sent.len ? &sent.items[i] : &copies.items[i - sent.len];
		const struct mr_team_message message = { .id = trace->ref,
			.subject = trace->text,
			.created_ts = trace->number };

		if (trace->name) {
			drop(p, trace->project_id,
				mr_team_layout_inbox(cx->arena, trace->name, &message));
			continue;
		}
		drop(p, trace->project_id, mr_team_layout_canonical(cx->arena, &message));
		drop(p, trace->project_id,
			mr_team_layout_outbox(cx->arena, p->agent->name, &message));
	}
	return rc;
}

static enum mr_code note_slots(struct purging *p)
{
	struct mr_team_traces slots = { 0 };
	enum mr_code rc =
		mr_team_purge_traces(p->cx, p->db, MR_TEAM_TRACE_SLOTS, p->agent->id, &slots);

	for (size_t i = 0; !rc && i < slots.len; i++)
		drop(p, slots.items[i].project_id,
			mr_team_layout_slot(p->cx->arena, slots.items[i].text, p->agent->name));
	return rc;
}

static enum mr_code note_traces(struct purging *p)
{
	const struct {
		enum mr_team_trace_kind kind;
		struct mr_team_traces *out;
	} questions[] = {
		{ MR_TEAM_TRACE_GOT, &p->got },
		{ MR_TEAM_TRACE_ABROAD, &p->abroad },
		{ MR_TEAM_TRACE_THREADS, &p->threads },
		{ MR_TEAM_TRACE_CONTACTS, &p->contacts },
		{ MR_TEAM_TRACE_LEASES, &p->leases },
	};
	enum mr_code rc = note_messages(p);

	if (!rc)
		rc = note_slots(p);
	drop(p, p->agent->project_id, mr_team_layout_profile(p->cx->arena, p->agent->name));
	drop(p, p->agent->project_id, mr_team_layout_contacts(p->cx->arena, p->agent->name));
	for (size_t i = 0; !rc && i < MR_LEN(questions); i++)
		rc = mr_team_purge_traces(p->cx, p->db, questions[i].kind, p->agent->id,
			questions[i].out);
	return rc;
}

/* --- afterwards: what the archives have to do about it --- */

/* Queued first, so that a rebuild from an archive that is not updated yet does not restore the
 * agent. */
static enum mr_code queue_note(struct purging *p, const struct mr_team_deletion *gone)
{
	return queue(p,
		(struct mr_team_archive_item){
			.project_id = p->agent->project_id,
			.kind = MR_TEAM_ARCHIVE_DELETED,
			.ref = p->agent->id,
			.name = p->agent->name,
			.data = mr_arena_printf(p->cx->arena,
				"{\"message_recipients_deleted\":%lld,\"messages_deleted\":%lld,"
				"\"file_reservations_deleted\":%lld}",
				(long long)gone->message_recipients_deleted,
				(long long)gone->messages_deleted,
				(long long)gone->file_reservations_deleted),
		});
}

/* A row of one kind for each trace. */
static enum mr_code queue_each(struct purging *p, enum mr_team_archive_kind kind,
	const struct mr_team_traces *traces)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < traces->len; i++)
		rc = queue(p,
			(struct mr_team_archive_item){
				.project_id = traces->items[i].project_id,
				.kind = kind,
				.ref = traces->items[i].ref,
				.name = traces->items[i].text,
			});
	return rc;
}

/* A thread's digest is divided by message numbers: all parts from the first change on must be
 * rewritten. */
static enum mr_code queue_thread(struct purging *p, const struct mr_team_trace *thread)
{
	int64_t part = (thread->ref - 1) / MR_TEAM_DIGEST_MESSAGES;
	int64_t last = (thread->number - 1) / MR_TEAM_DIGEST_MESSAGES;
	enum mr_code rc = mr_team_purge_renumber(p->cx, p->db, thread->project_id, thread->text);

	for (; !rc && part <= last; part++) {
		int64_t id = 0, home = 0;

		rc = mr_team_purge_message_at(p->cx, p->db, thread->project_id, thread->text,
			part * MR_TEAM_DIGEST_MESSAGES + 1, &id, &home);
		if (!rc && id)
			rc = queue(p,
				(struct mr_team_archive_item){
					.project_id = thread->project_id,
					.kind = home == thread->project_id ? MR_TEAM_ARCHIVE_MESSAGE
									   : MR_TEAM_ARCHIVE_INBOX,
					.ref = id,
				});
		else if (!rc)
			drop(p, thread->project_id,
				mr_team_layout_digest(p->cx->arena, thread->text, part + 1));
	}
	return rc;
}

static int place_order(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->project_id != right->project_id)
		return left->project_id < right->project_id ? -1 : 1;
	return strcmp(left->path, right->path);
}

/* Some paths of one project, as one row. */
static enum mr_code queue_paths(struct purging *p, const struct place *places, size_t count)
{
	struct mr_buf list MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer json;
	enum mr_code rc;

	mr_buf_init(&list, ROW_BYTES);
	mr_json_init(&json, &list, MR_JSON_COMPACT);
	mr_json_begin_list(&json);
	for (size_t i = 0; i < count; i++)
		mr_json_text(&json, places[i].path);
	mr_json_end(&json);
	rc = mr_buf_check(&list, "files to remove", &p->cx->err);
	return rc ? rc
		  : queue(p,
			    (struct mr_team_archive_item){
				    .project_id = places[0].project_id,
				    .kind = MR_TEAM_ARCHIVE_REMOVED,
				    .data = mr_buf_text(&list),
			    });
}

static enum mr_code queue_places(struct purging *p)
{
	size_t len = p->places.len / sizeof(struct place);
	enum mr_code rc = mr_buf_check(&p->places, "files to remove", &p->cx->err);
	struct place *places;

	if (rc || len == 0)
		return rc;
	places = mr_arena_memdup(p->cx->arena, p->places.data, p->places.len);
	qsort(places, len, sizeof(*places), place_order);
	for (size_t at = 0, count; !rc && at < len; at += count) {
		for (count = 1; count < PATHS && at + count < len &&
			places[at + count].project_id == places[at].project_id;)
			count++;
		rc = queue_paths(p, &places[at], count);
	}
	return rc;
}

enum mr_code mr_team_purge(struct mr_ctx *cx, struct mr_db *db, const struct mr_team_agent *agent,
	struct mr_team_deletion *deletion)
{
	struct purging p = { .cx = cx, .db = db, .agent = agent };
	enum mr_code rc;

	mr_buf_init(&p.places, PLACES_MAX);
	rc = note_traces(&p);
	if (!rc)
		rc = mr_team_retire_purge(cx, db, agent->id, deletion);
	if (!rc)
		rc = queue_note(&p, deletion);
	for (size_t i = 0; !rc && i < p.threads.len; i++)
		rc = queue_thread(&p, &p.threads.items[i]);
	if (!rc)
		rc = queue_places(&p);
	if (!rc)
		rc = queue_each(&p, MR_TEAM_ARCHIVE_MESSAGE, &p.got);
	if (!rc)
		rc = queue_each(&p, MR_TEAM_ARCHIVE_INBOX, &p.abroad);
	if (!rc)
		rc = queue_each(&p, MR_TEAM_ARCHIVE_LINKS, &p.contacts);
	if (!rc)
		rc = queue_each(&p, MR_TEAM_ARCHIVE_RESERVATION, &p.leases);
	mr_buf_release(&p.places);
	return rc;
}
