/*
 * team/archive/archive_files.c - Builds the archive files that queued rows stand for, from the
 * current state of the database.
 */
#include "team/archive/archive_files.h"

#include "base/fs.h"
#include "base/log.h"
#include "team/agent.h"
#include "team/archive/archive_document.h"
#include "team/archive/archive_record.h"
#include "team/archive/archive_source_sql.h"
#include "team/attachment.h"
#include "team/attachment_sql.h"
#include "team/layout.h"
#include "team/limits.h"
#include "team/message_sql.h"
#include "team/post.h"
#include "text/json.h"

#include <stdlib.h>
#include <string.h>

static const char ATTRIBUTES[] = "*.json text\n*.md text\n";

static void put(struct mr_team_files *files, const char *path, struct mr_bytes data)
{
	if (files->len == files->room) {
		struct mr_history_file *grown;

		files->room = files->room ? 2 * files->room : 64;
		grown = mr_arena_array(files->cx->arena, files->room, sizeof(*grown));
		if (files->len)
			memcpy(grown, files->items, files->len * sizeof(*grown));
		files->items = grown;
	}
	files->items[files->len++] = (struct mr_history_file){ .path = path, .data = data };
	files->bytes += data.len;
}

static void put_removal(struct mr_team_files *files, const char *path)
{
	put(files, path, (struct mr_bytes){ 0 });
	files->items[files->len - 1].remove = true;
}

/* What was built; the bytes move to the arena. */
static enum mr_code put_buf(struct mr_team_files *files, const char *path, struct mr_buf *buf)
{
	struct mr_bytes bytes = mr_buf_bytes(buf);
	enum mr_code rc = mr_buf_check(buf, path, &files->cx->err);

	if (!rc)
		put(files, path,
			mr_bytes_of(mr_arena_memdup(files->cx->arena, bytes.data, bytes.len),
				bytes.len));
	return rc;
}

enum mr_code mr_team_files_initial(struct mr_team_files *files)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, MR_TEAM_RECORD_BYTES);
	put(files, MR_TEAM_ATTRIBUTES_FILE, mr_bytes_text(ATTRIBUTES));
	mr_team_record_project(&buf, files->project);
	return put_buf(files, MR_TEAM_PROJECT_FILE, &buf);
}

/* --- agents --- */

static enum mr_code add_profile(struct mr_team_files *files, int64_t agent_id)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_agent agent;
	enum mr_code rc = mr_team_agent_get(files->cx, files->db, agent_id, &agent);

	mr_buf_init(&buf, MR_TEAM_RECORD_BYTES);
	if (rc == MR_ENOTFOUND)
		return MR_OK; /* purged meanwhile: its deleted.json follows */
	if (rc)
		return rc;
	mr_team_record_profile(&buf, files->project, &agent);
	/* An agent that is active again must not have a deleted.json. */
	if (agent.is_active)
		put_removal(files, mr_team_layout_deleted(files->cx->arena, agent.name));
	return put_buf(files, mr_team_layout_profile(files->cx->arena, agent.name), &buf);
}

/* Read the existing file, for a complete rebuild of the archive: it has details that the
 * database lacks. */
static bool read_old(struct mr_team_files *files, const char *path, struct mr_bytes *out)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_err ignored;

	return files->directory &&
		mr_fs_open_dir(AT_FDCWD, files->directory, &dir, &ignored) == MR_OK &&
		mr_fs_open_beneath(dir, path, O_RDONLY, 0, &fd, &ignored) == MR_OK &&
		mr_fs_read_fd(files->cx->arena, fd, MR_TEAM_RECORD_BYTES, out, &ignored) == MR_OK;
}

static enum mr_code add_deleted(struct mr_team_files *files,
	const struct mr_team_archive_item *item)
{
	struct mr_ctx *cx = files->cx;
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_agent agent = { 0 };
	const char *name = mr_str_is_empty(item->name) ? item->agent : item->name;
	const char *path = mr_team_layout_deleted(cx->arena, name);
	enum mr_code rc = mr_team_agent_get(cx, files->db, item->ref, &agent);
	struct mr_team_gone gone = { .name = name,
		.stats = item->data,
		.deleted_at = agent.deleted_ts,
		.purged = rc == MR_ENOTFOUND };
	struct mr_bytes old;

	mr_buf_init(&buf, MR_TEAM_RECORD_BYTES);
	if (rc && rc != MR_ENOTFOUND)
		return rc;
	rc = add_profile(files, item->ref);
	if (rc)
		return rc;
	if (mr_str_is_empty(item->data) && read_old(files, path, &old)) {
		put(files, path, old);
		return MR_OK;
	}
	if (!gone.deleted_at)
		gone.deleted_at = item->queued_ts;
	mr_team_record_gone(cx->arena, &buf, &gone);
	return put_buf(files, path, &buf);
}

static enum mr_code add_links(struct mr_team_files *files, int64_t agent_id)
{
	struct mr_ctx *cx = files->cx;
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_link_records links;
	struct mr_team_agent agent;
	enum mr_code rc = mr_team_agent_get(cx, files->db, agent_id, &agent);

	mr_buf_init(&buf, MR_TEAM_RECORD_BYTES);
	if (rc == MR_ENOTFOUND)
		return MR_OK;
	if (!rc)
		rc = mr_team_source_links(cx, files->db, agent_id, &links);
	if (rc)
		return rc;
	mr_team_record_links(&buf, agent.name, files->project->slug, &links);
	return put_buf(files, mr_team_layout_contacts(cx->arena, agent.name), &buf);
}

/* --- what is gone --- */

static enum mr_code add_removed(struct mr_team_files *files, const char *json)
{
	struct mr_ctx *cx = files->cx;
	const struct mr_value *list = NULL;
	enum mr_code rc =
		mr_json_parse(cx->arena, mr_bytes_text(json ? json : ""), NULL, &list, &cx->err);

	/* A queue row that cannot be parsed does not mean a damaged archive. */
	if (rc || list->kind != MR_LIST)
		return mr_err_set(&cx->err, MR_EINVAL, "no list of files to remove");
	for (size_t i = 0; i < list->list.len; i++) {
		if (list->list.items[i].kind == MR_TEXT)
			put_removal(files, list->list.items[i].text);
	}
	return MR_OK;
}

/* --- leases and slots --- */

static enum mr_code add_leases(struct mr_team_files *files, const char *pattern)
{
	struct mr_ctx *cx = files->cx;
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_reservations leases;
	enum mr_code rc =
		mr_team_source_leases(cx, files->db, files->project->id, pattern, &leases);

	mr_buf_init(&buf, MR_TEAM_RECORD_BYTES);
	if (rc)
		return rc;
	if (leases.len == 0) {
		/* Of an agent whose rows are gone. */
		put_removal(files, mr_team_layout_reservation(cx->arena, pattern));
		return MR_OK;
	}
	mr_team_record_leases(&buf, files->project->human_key, &leases);
	return put_buf(files, mr_team_layout_reservation(cx->arena, pattern), &buf);
}

static enum mr_code add_slot(struct mr_team_files *files, int64_t id)
{
	struct mr_ctx *cx = files->cx;
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_slot_record slot;
	bool found;
	enum mr_code rc = mr_team_source_slot(cx, files->db, id, &found, &slot);

	mr_buf_init(&buf, MR_TEAM_RECORD_BYTES);
	if (rc || !found)
		return rc;
	mr_team_record_slot(&buf, files->project->human_key, &slot);
	return put_buf(files, mr_team_layout_slot(cx->arena, slot.slot_name, slot.agent), &buf);
}

/* --- messages --- */

/* Who of this project got a message openly; NULL: nobody. */
static const char *reader_here(const struct mr_team_files *files,
	const struct mr_team_recipients *recipients)
{
	for (size_t i = 0; i < recipients->len; i++) {
		const struct mr_team_recipient *to = &recipients->items[i];

		if (to->project_id == files->project->id && to->kind != MR_TEAM_BCC)
			return to->name;
	}
	return NULL;
}

/* A message with everything its files say. */
struct letter {
	struct mr_team_message message;
	struct mr_team_recipients recipients;
	const char *from; /* bare: whose outbox it is */
	bool from_here;   /* the sender is of the message's project */
	struct mr_team_document document;
	struct mr_bytes bytes; /* as everybody may see it */
};

static enum mr_code render(struct mr_team_files *files, const struct mr_team_document *document,
	struct mr_bytes *out)
{
	struct mr_ctx *cx = files->cx;
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_document bare = *document;
	struct mr_bytes bytes;
	enum mr_code rc;

	mr_buf_init(&buf, MR_TEAM_DOCUMENT_BYTES);
	rc = mr_team_document_write(cx->arena, &buf, document, &cx->err);
	/* Too long with its inlined data, which the database keeps: a file that cannot be read
	 * back is useless. */
	if (rc == MR_ELIMIT) {
		mr_buf_clear(&buf);
		rc = mr_team_attachments_bare(cx, document->attachments, &bare.attachments);
		if (!rc)
			rc = mr_team_document_write(cx->arena, &buf, &bare, &cx->err);
	}
	/* A row that cannot be written as a file does not mean a damaged database. */
	if (rc == MR_EFORMAT)
		rc = cx->err.code = MR_EINVAL;
	if (rc)
		return rc;
	bytes = mr_buf_bytes(&buf);
	*out = mr_bytes_of(mr_arena_memdup(cx->arena, bytes.data, bytes.len), bytes.len);
	return MR_OK;
}

/* The project a message was sent in, which may be another than the one that is archived. */
static enum mr_code home_of(struct mr_team_files *files, int64_t project_id,
	struct mr_team_project *out)
{
	if (project_id != files->project->id)
		return mr_team_project_get(files->cx, files->db, project_id, out);
	*out = *files->project;
	return MR_OK;
}

static enum mr_code read_letter(struct mr_team_files *files, int64_t message_id, bool *found,
	struct letter *out)
{
	struct mr_ctx *cx = files->cx;
	struct letter letter = { 0 };
	struct mr_team_project home, sender_home;
	struct mr_team_agent sender;
	enum mr_code rc = mr_team_message_row(cx, files->db, message_id, &letter.message);

	*found = rc != MR_ENOTFOUND;
	if (rc)
		return *found ? rc : MR_OK; /* purged meanwhile */
	rc = mr_team_message_recipients(cx, files->db, message_id, &letter.recipients);
	if (!rc)
		rc = home_of(files, letter.message.project_id, &home);
	if (!rc)
		rc = mr_team_agent_get(cx, files->db, letter.message.sender_id, &sender);
	if (!rc)
		rc = home_of(files, sender.project_id, &sender_home);
	if (rc)
		return rc;
	letter.from = sender.name;
	letter.from_here = sender.project_id == home.id;
	letter.document = (struct mr_team_document){
		.uid = letter.message.uid,
		.message_id = message_id,
		.project = home.human_key,
		.project_slug = home.slug,
		.thread_id = letter.message.thread_id,
		.reply_to = letter.message.reply_to,
		.from = letter.from_here
			? sender.name
			: mr_arena_printf(cx->arena, "%s@%s", sender.name, sender_home.slug),
		.to = mr_team_post_names(cx->arena, home.id, &letter.recipients, MR_TEAM_TO),
		.cc = mr_team_post_names(cx->arena, home.id, &letter.recipients, MR_TEAM_CC),
		.addressed = letter.message.addressed,
		.bcc = mr_team_post_names(cx->arena, home.id, &letter.recipients, MR_TEAM_BCC),
		.subject = letter.message.subject,
		.importance = letter.message.importance,
		.ack_required = letter.message.ack_required,
		.created_ts = letter.message.created_ts,
		.attachments = letter.message.attachments,
		.body = mr_bytes_text(letter.message.body_md),
	};
	rc = render(files, &letter.document, &letter.bytes);
	if (!rc)
		*out = letter;
	return rc;
}

/* Without the data of attachments, for those who take none. */
static enum mr_code render_bare(struct mr_team_files *files, const struct letter *letter,
	struct mr_bytes *out)
{
	struct mr_team_document bare = letter->document;
	enum mr_code rc =
		mr_team_attachments_bare(files->cx, letter->message.attachments, &bare.attachments);

	return rc ? rc : render(files, &bare, out);
}

static bool is_among(const int64_t *ids, size_t len, int64_t id)
{
	for (size_t i = 0; i < len; i++) {
		if (ids[i] == id)
			return true;
	}
	return false;
}

/* The copies of this project's recipients. */
static enum mr_code add_inboxes(struct mr_team_files *files, const struct letter *letter)
{
	struct mr_ctx *cx = files->cx;
	int64_t deniers[MR_TEAM_RECIPIENTS];
	struct mr_bytes bare = { 0 };
	size_t denier_count = 0;
	enum mr_code rc = MR_OK;

	if (!mr_str_eq(letter->message.attachments, "[]"))
		rc = mr_team_source_deniers(cx, files->db, letter->message.id, deniers,
			&denier_count);
	if (!rc && denier_count)
		rc = render_bare(files, letter, &bare);
	for (size_t i = 0; !rc && i < letter->recipients.len; i++) {
		const struct mr_team_recipient *to = &letter->recipients.items[i];

		if (to->project_id == files->project->id)
			put(files, mr_team_layout_inbox(cx->arena, to->name, &letter->message),
				is_among(deniers, denier_count, to->agent_id) ? bare
									      : letter->bytes);
	}
	return rc;
}

/* bcc is only here, and only when there is some. */
static enum mr_code add_outbox(struct mr_team_files *files, const struct letter *letter)
{
	struct mr_team_document document = letter->document;
	struct mr_bytes bytes = letter->bytes;
	enum mr_code rc = MR_OK;

	document.has_bcc = true;
	if (document.bcc.len)
		rc = render(files, &document, &bytes);
	if (!rc)
		put(files, mr_team_layout_outbox(files->cx->arena, letter->from, &letter->message),
			bytes);
	return rc;
}

/* Attachments are stored before their message; `team check` reports those that are missing. */
static enum mr_code add_attachments(struct mr_team_files *files, const char *json)
{
	struct mr_ctx *cx = files->cx;
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_texts paths = { 0 };
	enum mr_code rc = MR_OK;

	if (!files->directory || mr_str_eq(json, "[]"))
		return MR_OK;
	rc = mr_team_attachment_files(cx, json, &paths);
	if (!rc && paths.len)
		rc = mr_fs_open_dir(AT_FDCWD, files->directory, &dir, &cx->err);
	for (size_t i = 0; !rc && i < paths.len; i++) {
		int fd MR_CLEANUP(mr_fs_closep) = -1;
		struct mr_bytes bytes;
		struct mr_err missing;

		if ((mr_fs_open_beneath(dir, paths.items[i], O_RDONLY, 0, &fd, &missing) ||
			    mr_fs_read_fd(cx->arena, fd, MR_HISTORY_FILE_BYTES, &bytes,
				    &missing)) &&
			/* It was attached on another machine. */
			mr_team_attachment_kept(cx, files->db, files->project->id, paths.items[i],
				&bytes)) {
			mr_log(MR_LOG_DEBUG, "team.archive.attachment", "%s", missing.msg);
			continue;
		}
		put(files, paths.items[i], bytes);
	}
	return rc;
}

/* A conversation between projects is whole in the digest of each: what was sent here, and what was
 * openly sent here from elsewhere. */
static void add_threaded(struct mr_team_files *files, const struct letter *letter)
{
	if (!letter->message.thread_id ||
		(letter->message.project_id != files->project->id &&
			!reader_here(files, &letter->recipients)))
		return;
	if (files->threaded_count == files->threaded_room) {
		struct mr_team_threaded *grown;

		files->threaded_room = files->threaded_room ? 2 * files->threaded_room : 16;
		grown = mr_arena_array(files->cx->arena, files->threaded_room, sizeof(*grown));
		if (files->threaded_count)
			memcpy(grown, files->threaded, files->threaded_count * sizeof(*grown));
		files->threaded = grown;
	}
	files->threaded[files->threaded_count++] =
		(struct mr_team_threaded){ letter->message.thread_id, letter->message.id };
}

/* `own`: it was sent in this project. */
static enum mr_code add_message(struct mr_team_files *files, int64_t message_id, bool own)
{
	struct mr_arena *arena = files->cx->arena;
	struct letter letter;
	bool found;
	enum mr_code rc = read_letter(files, message_id, &found, &letter);

	if (rc || !found)
		return rc;
	if (own) {
		put(files, mr_team_layout_canonical(arena, &letter.message), letter.bytes);
		/* A sender of another project also gets an outbox here, where this project's
		 * mail is looked for. */
		rc = add_outbox(files, &letter);
		if (!rc)
			rc = add_attachments(files, letter.message.attachments);
	}
	if (!rc)
		add_threaded(files, &letter);
	return rc ? rc : add_inboxes(files, &letter);
}

enum mr_code mr_team_files_add(struct mr_team_files *files, const struct mr_team_archive_item *item)
{
	switch (item->kind) {
	case MR_TEAM_ARCHIVE_PROJECT:
		return mr_team_files_initial(files);
	case MR_TEAM_ARCHIVE_PROFILE:
		return add_profile(files, item->ref);
	case MR_TEAM_ARCHIVE_DELETED:
		return add_deleted(files, item);
	case MR_TEAM_ARCHIVE_MESSAGE:
		return add_message(files, item->ref, true);
	case MR_TEAM_ARCHIVE_INBOX:
		return add_message(files, item->ref, false);
	case MR_TEAM_ARCHIVE_RESERVATION:
		return add_leases(files, item->name);
	case MR_TEAM_ARCHIVE_SLOT:
		return add_slot(files, item->ref);
	case MR_TEAM_ARCHIVE_LINKS:
		return add_links(files, item->ref);
	case MR_TEAM_ARCHIVE_REMOVED:
		return add_removed(files, item->data);
	}
	return MR_OK;
}

/* --- digests --- */

/* A message as this project's archive has it, and its people as they are named here. */
static enum mr_code read_digest_item(struct mr_team_files *files,
	const struct mr_team_message *message, struct mr_team_digest_item *out)
{
	struct mr_ctx *cx = files->cx;
	struct mr_team_recipients recipients;
	struct mr_team_agent sender = { 0 };
	struct mr_team_project home;
	const char *reader;
	enum mr_code rc = mr_team_message_recipients(cx, files->db, message->id, &recipients);

	if (!rc)
		rc = mr_team_agent_get(cx, files->db, message->sender_id, &sender);
	if (!rc)
		rc = home_of(files, sender.project_id, &home);
	if (rc)
		return rc;
	reader = message->project_id == files->project->id ? NULL : reader_here(files, &recipients);
	*out = (struct mr_team_digest_item){
		.subject = message->subject,
		.created_ts = message->created_ts,
		.from = home.id == files->project->id
			? sender.name
			: mr_arena_printf(cx->arena, "%s@%s", sender.name, home.slug),
		.to = mr_team_post_names(cx->arena, files->project->id, &recipients, MR_TEAM_TO),
		.canonical = reader ? mr_team_layout_inbox(cx->arena, reader, message)
				    : mr_team_layout_canonical(cx->arena, message),
		.body = message->body_md,
	};
	return MR_OK;
}

/* The part of a digest that a message is in; `last_id` is the part's last. */
static enum mr_code add_digest(struct mr_team_files *files, const struct mr_team_threaded *from,
	int64_t *last_id)
{
	struct mr_ctx *cx = files->cx;
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_digest_item *items;
	struct mr_team_messages messages;
	int64_t part = 0;
	enum mr_code rc = mr_team_source_part(cx, files->db, files->project->id, from->thread_id,
		from->message_id, &part);

	mr_buf_init(&buf, MR_TEAM_RECORD_BYTES);
	if (!rc)
		rc = mr_team_source_thread(cx, files->db, files->project->id, from->thread_id, part,
			&messages);
	if (rc || messages.len == 0)
		return rc;
	items = mr_arena_array(cx->arena, messages.len, sizeof(*items));
	for (size_t i = 0; !rc && i < messages.len; i++)
		rc = read_digest_item(files, &messages.items[i], &items[i]);
	if (rc)
		return rc;
	*last_id = messages.items[messages.len - 1].id;
	mr_team_digest_write(cx->arena, &buf, from->thread_id, part, items, messages.len);
	return put_buf(files, mr_team_layout_digest(cx->arena, from->thread_id, part), &buf);
}

static int by_thread(const void *a, const void *b)
{
	const struct mr_team_threaded *one = a, *other = b;
	int order = strcmp(one->thread_id, other->thread_id);

	return order
		? order
		: (one->message_id > other->message_id) - (one->message_id < other->message_id);
}

enum mr_code mr_team_files_digests(struct mr_team_files *files)
{
	const char *thread = NULL;
	int64_t written = 0; /* to this id, in this thread */
	enum mr_code rc = MR_OK;

	if (files->threaded_count > 1)
		qsort(files->threaded, files->threaded_count, sizeof(*files->threaded), by_thread);
	for (size_t i = 0; !rc && i < files->threaded_count; i++) {
		const struct mr_team_threaded *from = &files->threaded[i];

		if (mr_str_eq(thread, from->thread_id) && from->message_id <= written)
			continue;
		thread = from->thread_id;
		written = from->message_id;
		rc = add_digest(files, from, &written);
	}
	files->threaded_count = 0;
	return rc;
}
