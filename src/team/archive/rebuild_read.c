/* team/archive/rebuild_read.c - restores projects, agents and messages from the archives into a
 * database. */
#include "base/fs.h"
#include "team/agent.h"
#include "team/archive/archive.h"
#include "team/archive/archive_document.h"
#include "team/archive/archive_record.h"
#include "team/archive/rebuild_origin.h"
#include "team/archive/rebuild_private.h"
#include "team/archive/rebuild_sql.h"
#include "team/layout.h"
#include "team/lease/lease_index.h"
#include "team/message_sql.h"
#include "text/digest.h"
#include "text/json.h"
#include "text/time.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
	BATCH = 256, /* messages in one change */
	BATCH_BYTES = 16 << 20,
};

/* --- shared with checking --- */

void mr_team_problems_init(struct mr_team_problems *problems, struct mr_arena *arena)
{
	*problems = (struct mr_team_problems){ .arena = arena,
		.items = mr_arena_array(arena, MR_TEAM_PROBLEMS, sizeof(*problems->items)) };
}

void mr_team_problems_add(struct mr_team_problems *problems, const char *kind, const char *where,
	const char *fmt, ...)
{
	va_list ap;

	if (problems->len == MR_TEAM_PROBLEMS) {
		problems->dropped++;
		return;
	}
	va_start(ap, fmt);
	problems->items[problems->len++] = (struct mr_team_problem){ .kind = kind,
		.where = mr_arena_strdup(problems->arena, where),
		.msg = mr_arena_vprintf(problems->arena, fmt, ap) };
	va_end(ap);
}

enum mr_code mr_team_archive_file(struct mr_arena *arena, int dir, const char *path,
	struct mr_bytes *out, struct mr_err *err)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_fs_open_beneath(dir, path, O_RDONLY, 0, &fd, err);

	return rc ? rc : mr_fs_read_fd(arena, fd, MR_TEAM_FILE_BYTES, out, err);
}

/* --- where things are --- */

static const char *place_of(struct mr_team_restoring *r, const struct mr_team_home_found *home,
	const char *path)
{
	return mr_arena_printf(r->cx->arena, "%s/%s", home->project.slug, path);
}

void mr_team_restoring_tell(struct mr_team_restoring *r, const struct mr_team_home_found *home,
	const char *path, const char *msg)
{
	mr_team_problems_add(r->problems, "archive", place_of(r, home, path), "%s", msg);
}

void *mr_team_one_more(struct mr_arena *arena, void *items, size_t count, size_t *room, size_t size)
{
	void *grown;

	if (count < *room)
		return items;
	*room = *room ? 2 * *room : 64;
	grown = mr_arena_array(arena, *room, size);
	if (count)
		memcpy(grown, items, count * size);
	return grown;
}

/* Does this agent have a deleted.json that says that it was purged? */
static bool is_purged(struct mr_arena *arena, const struct mr_team_home_found *home,
	const char *agent)
{
	struct mr_team_gone gone;
	struct mr_bytes bytes;
	struct mr_err ignored;

	return mr_team_layout_is_name(agent) &&
		mr_team_origin_read(arena, home->origin, mr_team_layout_deleted(arena, agent),
			&bytes, &ignored) == MR_OK &&
		mr_team_record_read_gone(arena, bytes, &gone, &ignored) == MR_OK && gone.purged;
}

static void progress(struct mr_team_restoring *r, const char *what, size_t done, size_t total)
{
	if (r->cx->progress)
		r->cx->progress(r->cx->progress_arg, what, done, total);
}

/* --- projects --- */

static enum mr_code insert_home(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct mr_team_home_found *home = arg;
	struct mr_team_project project = home->project;
	enum mr_code rc = mr_team_restore_project(cx, db, &project);

	if (!rc)
		home->project = project;
	return rc;
}

/* Without project.json, as archives of other servers lack it, only the slug is known. */
static enum mr_code restore_home(struct mr_team_restoring *r, struct mr_team_home_found *home,
	const char *slug)
{
	struct mr_ctx *cx = r->cx;
	struct mr_bytes bytes;
	enum mr_code rc = mr_team_origin_read(cx->arena, home->origin, MR_TEAM_PROJECT_FILE, &bytes,
		&cx->err);

	if (!rc)
		rc = mr_team_record_read_project(cx->arena, bytes, &home->project, &cx->err);
	if (rc && rc != MR_ENOTFOUND)
		mr_team_problems_add(r->problems, "archive",
			mr_arena_printf(cx->arena, "%s/" MR_TEAM_PROJECT_FILE, slug), "%s",
			cx->err.msg);
	if (rc)
		home->project = (struct mr_team_project){ .human_key = slug,
			.identity_mode = "dir",
			.created_at = mr_clock_wall_us(cx->clock) };
	home->project.slug = slug;
	rc = mr_team_write(cx, r->team, insert_home, NULL, home);
	if (rc == MR_EEXISTS) {
		mr_team_restoring_tell(r, home, MR_TEAM_PROJECT_FILE,
			"another project has the same key; this one is now known by its slug");
		home->project.human_key = slug;
		rc = mr_team_write(cx, r->team, insert_home, NULL, home);
	}
	r->counts->projects += !rc;
	return rc;
}

/* --- agents --- */

struct people {
	struct mr_team_agent *items;
	size_t len;
};

static enum mr_code insert_people(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct people *people = arg;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < people->len; i++) {
		struct mr_team_agent agent = people->items[i];

		rc = mr_team_restore_agent(cx, db, &agent);
		/* Of two directories that differ only in case, the first is the agent. */
		if (rc == MR_EEXISTS)
			rc = MR_OK;
	}
	return rc;
}

static struct mr_team_agent stranger(struct mr_team_restoring *r, int64_t project_id,
	const char *name)
{
	int64_t now = mr_clock_wall_us(r->cx->clock);

	return (struct mr_team_agent){ .project_id = project_id,
		.name = name,
		.program = "unknown",
		.model = "unknown",
		.task_description = "",
		.inception_ts = now,
		.last_active_ts = now,
		.is_active = true };
}

static void read_agent(struct mr_team_restoring *r, struct mr_team_home_found *home,
	const char *name, struct people *people)
{
	struct mr_ctx *cx = r->cx;
	const char *path = mr_team_layout_profile(cx->arena, name);
	struct mr_team_agent agent;
	struct mr_bytes bytes;
	enum mr_code rc;

	if (!mr_team_layout_is_name(name))
		return;
	if (is_purged(cx->arena, home, name)) {
		struct mr_team_told *told = r->told;

		told->purged = mr_team_one_more(cx->arena, told->purged, told->purged_count,
			&told->purged_room, sizeof(*told->purged));
		told->purged[told->purged_count++] =
			(struct mr_team_purged){ home->project.slug, name };
		return;
	}
	rc = mr_team_origin_read(cx->arena, home->origin, path, &bytes, &cx->err);
	if (!rc)
		rc = mr_team_record_read_profile(cx->arena, bytes, &agent, &cx->err);
	if (rc) {
		mr_team_restoring_tell(r, home, path, cx->err.msg);
		agent = stranger(r, home->project.id, name);
	}
	agent.name = name;
	agent.project_id = home->project.id;
	people->items[people->len++] = agent;
}

static enum mr_code restore_agents(struct mr_team_restoring *r, struct mr_team_home_found *home)
{
	struct people people = { 0 };
	struct mr_texts names =
		mr_team_origin_names(r->cx->arena, home->origin, MR_TEAM_AGENTS_DIR);
	enum mr_code rc;

	if (names.len == 0)
		return MR_OK;
	people.items = mr_arena_array(r->cx->arena, names.len, sizeof(*people.items));
	for (size_t i = 0; i < names.len; i++)
		read_agent(r, home, names.items[i], &people);
	rc = mr_team_write(r->cx, r->team, insert_people, NULL, &people);
	if (!rc)
		r->counts->agents += (int64_t)people.len;
	return rc;
}

/* --- messages --- */

/* "…__17.md": 17; 0 when it says none. */
static int64_t id_in(struct mr_arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *mark = strrchr(name, '_');
	const char *dot = strrchr(name, '.');
	int64_t id = 0;

	mark = mark ? mark + 1 : name;
	if (mark >= dot ||
		!mr_str_to_int(mr_arena_strndup(arena, mark, (size_t)(dot - mark)), &id) || id < 0)
		return 0;
	return id;
}

static void note_messages(struct mr_team_restoring *r, struct mr_team_home_found *home)
{
	struct mr_arena *arena = r->cx->arena;
	struct mr_texts paths = mr_team_origin_below(arena, home->origin, MR_TEAM_MESSAGES_DIR);

	for (size_t i = 0; i < paths.len; i++) {
		r->found = mr_team_one_more(arena, r->found, r->found_count, &r->found_room,
			sizeof(*r->found));
		r->found[r->found_count++] = (struct mr_team_file_found){
			.id = id_in(arena, paths.items[i]),
			.path = paths.items[i],
			.home = home,
		};
	}
}

static int found_order(const void *a, const void *b)
{
	const struct mr_team_file_found *left = a, *right = b;

	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	return strcmp(left->path, right->path);
}

/* One message, read. */
struct letter {
	const struct mr_team_file_found *found;
	struct mr_team_document document;
	const char *body;
};

struct batch {
	struct mr_team_restoring *r;
	struct mr_arena *arena;
	struct letter letters[BATCH];
	size_t len, bytes;
	/* Of the last run. */
	int64_t messages, recipients, agents;
	struct mr_team_problems problems;
	struct mr_team_problem room[MR_TEAM_PROBLEMS];
};

/* Blind copies are recorded in the sender's own copy only. */
static void read_bcc(struct mr_arena *arena, const struct mr_team_file_found *found,
	struct mr_team_document *document)
{
	const char *from = document->from;
	const char *dated = found->path + strlen(MR_TEAM_MESSAGES_DIR "/");
	const char *at = strrchr(from, '@');
	struct mr_team_document outbox;
	struct mr_bytes bytes;
	struct mr_err ignored;

	if (document->has_bcc)
		return;
	if (at)
		from = mr_arena_strndup(arena, from, (size_t)(at - from));
	if (!mr_team_layout_is_name(from) ||
		mr_team_origin_read(arena, found->home->origin,
			mr_arena_printf(arena, "%s/outbox/%s", mr_team_layout_agent(arena, from),
				dated),
			&bytes, &ignored) ||
		mr_team_document_parse(arena, bytes, &outbox, &ignored))
		return;
	document->bcc = outbox.bcc;
}

/* "Name", or "Name@slug" of another project. */
static bool find_home(struct mr_team_restoring *r, struct mr_arena *arena, const char *address,
	struct mr_team_home_found *own, struct mr_team_home_found **out, const char **out_name)
{
	const char *at = strrchr(address, '@');

	*out = own;
	*out_name = address;
	if (!at)
		return mr_team_layout_is_name(address);
	*out_name = mr_arena_strndup(arena, address, (size_t)(at - address));
	for (size_t i = 0; i < r->home_count; i++) {
		if (mr_str_eq(r->homes[i].project.slug, at + 1)) {
			*out = &r->homes[i];
			return mr_team_layout_is_name(*out_name);
		}
	}
	return false;
}

/* Record a message of the archive that the new database will lack. */
static void tell_unread(struct mr_team_restoring *r, const struct mr_team_file_found *found)
{
	struct mr_team_told *told = r->told;

	told->unread = mr_team_one_more(r->cx->arena, told->unread, told->unread_count,
		&told->unread_room, sizeof(*told->unread));
	told->unread[told->unread_count++] =
		(struct mr_team_unread){ found->id, place_of(r, found->home, found->path) };
}

static void read_letter(struct batch *batch, const struct mr_team_file_found *found)
{
	struct mr_team_restoring *r = batch->r;
	struct letter *letter = &batch->letters[batch->len];
	struct mr_team_home_found *home;
	struct mr_bytes bytes;
	const char *name;
	enum mr_code rc = mr_team_origin_read(batch->arena, found->home->origin, found->path,
		&bytes, &r->cx->err);

	if (!rc)
		rc = mr_team_document_parse(batch->arena, bytes, &letter->document, &r->cx->err);
	if (rc) {
		mr_team_restoring_tell(r, found->home, found->path, r->cx->err.msg);
		tell_unread(r, found);
		return;
	}
	if (!find_home(r, batch->arena, letter->document.from, found->home, &home, &name)) {
		mr_team_restoring_tell(r, found->home, found->path,
			mr_arena_printf(r->cx->arena, "its sender %s is of no project that is here",
				letter->document.from));
		tell_unread(r, found);
		return;
	}
	read_bcc(batch->arena, found, &letter->document);
	if (!letter->document.uid)
		letter->document.uid = mr_arena_printf(batch->arena, "msg_%s_%.12s",
			mr_time_format(batch->arena, letter->document.created_ts,
				MR_TIME_COMPACT_DATE),
			mr_digest_sha1(batch->arena,
				mr_bytes_text(place_of(r, found->home, found->path))));
	if (!letter->document.message_id)
		letter->document.message_id = found->id;
	letter->body = mr_arena_strndup(batch->arena, (const char *)letter->document.body.data,
		letter->document.body.len);
	letter->found = found;
	batch->len++;
	batch->bytes += bytes.len;
}

/* The agent of that name; created when no profile tells of it, unless it was purged: then 0. */
static enum mr_code find_agent(struct mr_ctx *cx, struct mr_db *db, struct batch *batch,
	const struct letter *letter, const char *address, int64_t *out)
{
	struct mr_team_restoring *r = batch->r;
	struct mr_team_agent agent;
	struct mr_team_home_found *home;
	const char *name;
	bool found = false;
	enum mr_code rc;

	*out = 0;
	if (!find_home(r, batch->arena, address, letter->found->home, &home, &name)) {
		mr_team_problems_add(&batch->problems, "archive",
			place_of(r, letter->found->home, letter->found->path),
			"%s belongs to no known project", address);
		return MR_OK;
	}
	rc = mr_team_agent_seek(cx, db, home->project.id, name, &found, &agent);
	if (!rc && !found && is_purged(batch->arena, home, name))
		return MR_OK;
	if (!rc && !found) {
		agent = stranger(r, home->project.id, name);
		mr_team_problems_add(&batch->problems, "archive",
			place_of(r, letter->found->home, letter->found->path),
			"%s has no profile; it is registered as unknown", address);
		rc = mr_team_restore_agent(cx, db, &agent);
		batch->agents++;
	}
	if (!rc)
		*out = agent.id;
	return rc;
}

static enum mr_code insert_recipients(struct mr_ctx *cx, struct mr_db *db, struct batch *batch,
	const struct letter *letter, const struct mr_team_message *message)
{
	const struct mr_texts *lists[] = {
		[MR_TEAM_TO] = &letter->document.to,
		[MR_TEAM_CC] = &letter->document.cc,
		[MR_TEAM_BCC] = &letter->document.bcc,
	};
	enum mr_code rc = MR_OK;
	size_t place = 0;

	for (size_t kind = 0; !rc && kind < MR_LEN(lists); kind++) {
		for (size_t i = 0; !rc && i < lists[kind]->len; i++) {
			struct mr_team_recipient recipient = {
				.kind = (enum mr_team_recipient_kind)kind
			};

			rc = find_agent(cx, db, batch, letter, lists[kind]->items[i],
				&recipient.agent_id);
			if (rc || !recipient.agent_id)
				continue;
			rc = mr_team_recipient_insert(cx, db, message, &recipient, place);
			if (rc == MR_EEXISTS) {
				rc = MR_OK;
				continue;
			}
			batch->recipients++;
			place++;
		}
	}
	return rc;
}

/* Bytes of the files that came with it: for the quota. */
static int64_t bytes_of(struct mr_arena *arena, const char *json)
{
	const struct mr_value *items = NULL;
	struct mr_err ignored;
	int64_t sum = 0;

	if (mr_str_eq(json, "[]") ||
		mr_json_parse(arena, mr_bytes_text(json), NULL, &items, &ignored) ||
		items->kind != MR_LIST)
		return 0;
	for (size_t i = 0; i < items->list.len; i++) {
		const struct mr_value *type = mr_value_get(&items->list.items[i], "type");
		const struct mr_value *bytes = mr_value_get(&items->list.items[i], "bytes");

		if (type && type->kind == MR_TEXT && mr_str_eq(type->text, "file") && bytes &&
			bytes->kind == MR_INT && bytes->integer > 0)
			sum += bytes->integer;
	}
	return sum;
}

static enum mr_code insert_letter(struct mr_ctx *cx, struct mr_db *db, struct batch *batch,
	const struct letter *letter)
{
	const struct mr_team_document *document = &letter->document;
	struct mr_team_message message = { .id = document->message_id,
		.uid = document->uid,
		.project_id = letter->found->home->project.id,
		.thread_id = document->thread_id,
		.reply_to = document->reply_to,
		.subject = document->subject,
		.body_md = letter->body,
		.importance = document->importance,
		.ack_required = document->ack_required,
		.created_ts = document->created_ts,
		.attachments = document->attachments,
		.addressed = document->addressed };
	int64_t bytes = bytes_of(batch->arena, document->attachments);
	bool taken = false;
	enum mr_code rc = find_agent(cx, db, batch, letter, document->from, &message.sender_id);

	if (rc || !message.sender_id)
		return rc;
	if (message.id)
		rc = mr_team_message_exists(cx, db, message.id, &taken);
	if (rc)
		return rc;
	if (taken) {
		mr_team_problems_add(&batch->problems, "archive",
			place_of(batch->r, letter->found->home, letter->found->path),
			"another message has the id %lld; this one has a new one",
			(long long)message.id);
		message.id = 0;
	}
	rc = mr_team_message_insert(cx, db, &message, bytes);
	if (rc == MR_EEXISTS) {
		mr_team_problems_add(&batch->problems, "archive",
			place_of(batch->r, letter->found->home, letter->found->path),
			"%s exists already", message.uid);
		return MR_OK;
	}
	if (rc)
		return rc;
	batch->messages++;
	return insert_recipients(cx, db, batch, letter, &message);
}

static enum mr_code insert_batch(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct batch *batch = arg;
	enum mr_code rc = MR_OK;

	batch->messages = batch->recipients = batch->agents = 0;
	batch->problems = (struct mr_team_problems){ .arena = batch->arena, .items = batch->room };
	for (size_t i = 0; !rc && i < batch->len; i++)
		rc = insert_letter(cx, db, batch, &batch->letters[i]);
	return rc;
}

/* Up to BATCH messages from `first` on; `*taken` of them were looked at. */
static enum mr_code restore_some(struct mr_team_restoring *r, size_t first, size_t *taken)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct batch *batch = mr_arena_alloc(arena, sizeof(*batch));
	struct mr_ctx own = *r->cx;
	enum mr_code rc;

	batch->r = r;
	batch->arena = arena;
	own.arena = arena;
	*taken = 0;
	while (first + *taken < r->found_count && batch->len < BATCH && batch->bytes < BATCH_BYTES)
		read_letter(batch, &r->found[first + (*taken)++]);
	rc = mr_team_write(&own, r->team, insert_batch, NULL, batch);
	if (rc) {
		r->cx->err = own.err;
		return rc;
	}
	r->counts->messages += batch->messages;
	r->counts->recipients += batch->recipients;
	r->counts->agents += batch->agents;
	for (size_t i = 0; i < batch->problems.len; i++)
		mr_team_problems_add(r->problems, batch->problems.items[i].kind,
			batch->problems.items[i].where, "%s", batch->problems.items[i].msg);
	r->problems->dropped += batch->problems.dropped;
	return MR_OK;
}

static enum mr_code restore_messages(struct mr_team_restoring *r)
{
	enum mr_code rc = MR_OK;

	/* In the order they were sent, which is also their order in threads. */
	if (r->found_count)
		qsort(r->found, r->found_count, sizeof(*r->found), found_order);
	for (size_t at = 0, taken; !rc && at < r->found_count; at += taken) {
		progress(r, "messages", at, r->found_count);
		rc = restore_some(r, at, &taken);
	}
	return rc;
}

/* --- all of it --- */

static enum mr_code enter(struct mr_team_restoring *r, const char *from, const char *slug)
{
	struct mr_ctx *cx = r->cx;
	struct mr_team_home_found *home = &r->homes[r->home_count];
	enum mr_code rc = mr_team_origin_open(cx, mr_team_layout_project(cx->arena, from, slug),
		slug, r->problems, &home->origin);

	/* A file among the project directories is ignored. */
	if (rc == MR_ENOTFOUND || rc == MR_EINVAL)
		return MR_OK;
	if (rc)
		return rc;
	r->home_count++;
	rc = restore_home(r, home, slug);
	if (!rc)
		rc = restore_agents(r, home);
	if (!rc)
		note_messages(r, home);
	r->told->is_uncertain = r->told->is_uncertain || mr_team_origin_is_uncertain(home->origin);
	return rc;
}

enum mr_code mr_team_restore(struct mr_ctx *cx, struct mr_team *team, const char *from,
	struct mr_team_rebuilt *counts, struct mr_team_problems *problems,
	struct mr_team_told *told)
{
	struct mr_team_restoring r = { .cx = cx,
		.team = team,
		.counts = counts,
		.told = told,
		.problems = problems };
	struct mr_texts slugs;
	enum mr_code rc = mr_team_archive_slugs(cx, from, &slugs);

	if (rc)
		return rc;
	r.homes = mr_arena_array(cx->arena, slugs.len + 1, sizeof(*r.homes));
	for (size_t i = 0; !rc && i < slugs.len; i++) {
		progress(&r, "projects", i, slugs.len);
		rc = enter(&r, from, slugs.items[i]);
	}
	if (!rc)
		rc = restore_messages(&r);
	for (size_t i = 0; !rc && i < r.home_count; i++)
		rc = mr_team_restore_holdings(&r, &r.homes[i]);
	for (size_t i = 0; i < r.home_count; i++)
		mr_team_origin_close(r.homes[i].origin);
	return rc;
}
