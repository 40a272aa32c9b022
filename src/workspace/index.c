/* workspace/index.c - keeps the index in step with the files of a workspace. */
#include "workspace/index.h"

#include "base/buf.h"
#include "data/db.h"
#include "workspace/error.h"
#include "workspace/evidence.h"
#include "workspace/index_private.h"
#include "workspace/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BODY_BYTES = 256 << 10, /* of a message's text that is searched */
	READ_QUIETLY = 100,
	CACHE_KIB = 8 << 10, /* the pages that a batch of new mail changes, words included */
};

const char *const mr_work_status_names[] = {
	[MR_WORK_IS_TRIAGE] = "triage",
	[MR_WORK_IS_CASE] = "case",
	[MR_WORK_IS_ARCHIVED] = "archived",
	[MR_WORK_IS_SPAM] = "spam",
	[MR_WORK_IS_TRASHED] = "trashed",
	[MR_WORK_IS_DELETED] = "deleted_remote",
	NULL,
};

/* --- stamps --- */

static const char *stamp_of(struct mr_ctx *cx, struct mr_work *work, const char *path)
{
	return mr_work_stamp_at(cx->arena, work->dir, path);
}

static int by_path(const void *a, const void *b)
{
	const struct mr_work_stamp *left = a, *right = b;

	return strcmp(left->path, right->path);
}

static const char *find_stamp(const struct mr_work_stamps *stamps, const char *path)
{
	struct mr_work_stamp wanted = { .path = path };
	const struct mr_work_stamp *found = stamps->len
		? bsearch(&wanted, stamps->items, stamps->len, sizeof(wanted), by_path)
		: NULL;

	return found ? found->stamp : NULL;
}

/* --- messages --- */

static void add_people(struct mr_ctx *cx, struct mr_buf *buf, const struct mr_mime_addresses *list)
{
	for (size_t i = 0; i < list->len; i++) {
		mr_buf_puts(buf, mr_mime_address_text(cx->arena, &list->items[i]));
		mr_buf_putc(buf, '\n');
	}
}

static const char *first_address(struct mr_ctx *cx, const struct mr_mime_addresses *list)
{
	return list->len ? mr_mime_address_text(cx->arena, &list->items[0]) : "";
}

static void add_refers(struct mr_ctx *cx, const struct mr_texts *ids, struct mr_texts *out)
{
	for (size_t i = 0; i < ids->len; i++) {
		const char *id = mr_work_normal_id(cx->arena, ids->items[i]);

		if (id && !mr_texts_has(out, id))
			out->items[out->len++] = id;
	}
}

static struct mr_texts refers_of(struct mr_ctx *cx, const struct mr_mime *mime)
{
	size_t max = mime->in_reply_to.len + mime->references.len;
	struct mr_texts out = { mr_arena_array(cx->arena, max + 1, sizeof(*out.items)), 0 };

	add_refers(cx, &mime->in_reply_to, &out);
	add_refers(cx, &mime->references, &out);
	return out;
}

static const char *email_of(struct mr_ctx *cx, const struct mr_mime_address *address)
{
	return address->email ? mr_str_lower(cx->arena, mr_str_trim(cx->arena, address->email))
			      : "";
}

static void add_emails(struct mr_ctx *cx, const struct mr_mime_addresses *list,
	struct mr_texts *out)
{
	for (size_t i = 0; i < list->len; i++)
		out->items[out->len++] = email_of(cx, &list->items[i]);
}

static struct mr_texts written_to(struct mr_ctx *cx, const struct mr_mime *mime)
{
	size_t max = mime->to.len + mime->cc.len + mime->bcc.len;
	struct mr_texts out = { mr_arena_array(cx->arena, max + 1, sizeof(*out.items)), 0 };

	add_emails(cx, &mime->to, &out);
	add_emails(cx, &mime->cc, &out);
	add_emails(cx, &mime->bcc, &out);
	return out;
}

static enum mr_code put_message(struct mr_ctx *cx, struct mr_work *work, const char *id,
	int64_t *out_n)
{
	struct mr_buf people MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf names MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_work_evidence found;
	struct mr_work_row row = { .id = id };
	const struct mr_mime *mime = &found.mime;
	enum mr_code rc = mr_work_evidence_load(cx, work, id, &found);

	if (rc == MR_EFORMAT) { /* a broken sidecar or message: the rest goes on without it */
		cx->err = (struct mr_err){ 0 };
		return MR_OK;
	}
	if (rc)
		return rc;
	mr_buf_init(&people, BODY_BYTES);
	mr_buf_init(&names, BODY_BYTES);
	add_people(cx, &people, &mime->to);
	add_people(cx, &people, &mime->cc);
	for (size_t i = 0; i < mime->attachment_count; i++) {
		mr_buf_puts(&names, mime->attachments[i].filename);
		mr_buf_putc(&names, '\n');
	}
	row.rfc822 = mr_work_normal_id(cx->arena, mime->message_id);
	row.has_time = found.has_time;
	row.time_us = found.time_us;
	row.subject = mime->subject ? mime->subject : "";
	row.from = first_address(cx, &mime->from);
	row.email = mime->from.len ? email_of(cx, &mime->from.items[0]) : "";
	row.people = mr_buf_text(&people);
	row.names = mr_buf_text(&names);
	row.body = mr_arena_strndup(cx->arena, mime->body_text ? mime->body_text : "", BODY_BYTES);
	row.is_outbound = found.direction == MR_WORK_OUTBOUND;
	if (row.is_outbound)
		row.written_to = written_to(cx, mime);
	row.attachments = (int64_t)mime->attachment_count;
	row.bytes = (int64_t)found.eml.len;
	row.remote_stamp = stamp_of(cx, work, mr_work_path_remote(cx->arena, id));
	row.refers = refers_of(cx, mime);
	row.places = found.locations;
	for (size_t i = 0; i < found.locations.len; i++)
		*(found.locations.items[i].missing ? &row.missing : &row.live) += 1;
	return mr_work_index_put(cx, work, &row, out_n);
}

/* Each message in an arena of its own: there may be a hundred thousand. */
static enum mr_code put_apart(struct mr_ctx *cx, struct mr_work *work, const char *id)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx own = *cx;
	const struct mr_work_config *config = NULL;
	int64_t n = 0;
	/* What is loaded once a command lives in the command's arena. */
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (rc)
		return rc;
	own.arena = arena;
	rc = put_message(&own, work, id, &n);
	if (rc) {
		cx->err = own.err;
		cx->err.detail = NULL;
	} else if (n) {
		mr_work_index_note_row(cx, work, n);
	}
	return rc;
}

enum mr_code mr_work_index_reread(struct mr_ctx *cx, struct mr_work *work, const char *id)
{
	return put_apart(cx, work, id);
}

static const char *id_of_eml(struct mr_ctx *cx, const char *name)
{
	if (name[0] == '.' || !mr_str_ends(name, ".eml"))
		return NULL;
	return mr_arena_strndup(cx->arena, name, strlen(name) - strlen(".eml"));
}

/* The directory of messages changed behind our back: compare it with what the index has. */
static enum mr_code sync_messages(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_sync *sync)
{
	struct mr_work_stamps known = { 0 };
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_index_ids(cx, work->index, &known);
	size_t k = 0, read_count = 0;

	if (!rc)
		rc = mr_work_list(cx, work, MR_WORK_EVIDENCE, &names);
	/* Both are sorted, but "a.eml" and "a_1.eml" are not in the order of "a" and "a_1". */
	for (size_t i = 0; !rc && i < names.len; i++) {
		const char *id = id_of_eml(cx, names.items[i]);
		const char *stamp = id ? find_stamp(&known, id) : NULL;

		if (id &&
			(!stamp ||
				!mr_str_eq(stamp,
					stamp_of(cx, work, mr_work_path_remote(cx->arena, id))))) {
			read_count++;
			rc = put_apart(cx, work, id);
			if (!rc && !sync->is_building)
				rc = mr_work_index_mark_message(cx, work->index, id);
		}
		/* A few that changed take no time, and commands have progress of their own. */
		if (read_count > READ_QUIETLY && cx->progress)
			cx->progress(cx->progress_arg, "indexing", i, names.len);
	}
	for (; !rc && k < known.len; k++)
		if (!mr_fs_exists(work->dir, mr_work_path_eml(cx->arena, known.items[k].path))) {
			rc = mr_work_index_drop(cx, work, known.items[k].path);
			if (!rc)
				rc = mr_work_index_mark_message(cx, work->index,
					known.items[k].path);
		}
	return rc;
}

/* --- lists --- */

enum mr_code mr_work_sync_write(struct mr_ctx *cx, struct mr_work *work, struct mr_work_sync *sync)
{
	enum mr_code rc = MR_OK;

	if (!sync->is_writing && !mr_db_in_transaction(work->index)) {
		rc = mr_db_begin(work->index, MR_DB_IMMEDIATE, &cx->err);
		sync->is_writing = !rc;
	}
	return rc;
}

static void see(struct mr_ctx *cx, struct mr_work_sync *sync, const char *path)
{
	if (sync->seen.len == sync->seen_cap) {
		const char **items;

		sync->seen_cap = sync->seen_cap ? sync->seen_cap * 2 : 64;
		items = mr_arena_array(cx->arena, sync->seen_cap + 1, sizeof(*items));
		if (sync->seen.len)
			memcpy(items, sync->seen.items, sync->seen.len * sizeof(*items));
		sync->seen.items = items;
	}
	sync->seen.items[sync->seen.len++] = path;
}

/* The stamp of a document that cannot be read. */
static const char *stamp_of_broken(struct mr_arena *arena, const char *stamp)
{
	return mr_arena_printf(arena, "%s!", stamp);
}

/* A list's document, when it changed. One that cannot be read lists what it did when it last could:
 * a message that is in a case must not be taken for one that nobody needs. Doctor tells. */
static enum mr_code sync_collection(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_sync *sync, enum mr_work_collection_kind kind, const char *path)
{
	const char *file = mr_work_collection_file(cx->arena, kind, path);
	const char *stamp = stamp_of(cx, work, file);
	const char *known = find_stamp(&sync->known, file);
	struct mr_work_collection collection = { 0 };
	struct mr_err kept = cx->err;
	enum mr_code rc;

	if (!*stamp)
		return MR_OK;
	see(cx, sync, file);
	if (mr_str_eq(known, stamp) || mr_str_eq(known, stamp_of_broken(cx->arena, stamp)))
		return MR_OK;
	rc = mr_work_sync_write(cx, work, sync);
	if (rc)
		return rc;
	if (mr_work_collection_load(cx, work, kind, path, &collection)) {
		cx->err = kept;
		stamp = stamp_of_broken(cx->arena, stamp);
	} else {
		rc = mr_work_index_put_collection(cx, work->index, &collection, !sync->is_building);
	}
	if (!rc && !sync->is_building)
		rc = mr_work_index_mark_list(cx, work->index, path);
	if (!rc)
		rc = mr_work_index_set_stamp(cx, work->index, file, stamp);
	return rc;
}

static enum mr_code sync_places(struct mr_ctx *cx, struct mr_work *work, struct mr_work_sync *sync,
	enum mr_work_collection_kind kind)
{
	struct mr_work_places places = { 0 };
	enum mr_code rc = mr_work_places(cx, work, kind, &places);

	for (size_t i = 0; !rc && i < places.len; i++)
		rc = sync_collection(cx, work, sync, kind, places.items[i].path);
	return rc;
}

/* Lists whose documents are gone: "cases/open/c1-x/data/case.json". */
static enum mr_code drop_unseen(struct mr_ctx *cx, struct mr_work *work, struct mr_work_sync *sync)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < sync->known.len; i++) {
		const char *file = sync->known.items[i].path;
		const char *data = strstr(file, "/data/");

		if (!data || mr_texts_has(&sync->seen, file))
			continue;
		rc = mr_work_sync_write(cx, work, sync);
		if (!rc)
			rc = mr_work_index_drop_collection(cx, work->index,
				mr_arena_strndup(cx->arena, file, (size_t)(data - file)), true);
		if (!rc)
			rc = mr_work_index_drop_stamp(cx, work->index, file);
	}
	return rc;
}

/* Somebody else wrote there, or a command was killed and left what it was writing. What cannot be
 * removed harms nobody. Returns the directory's stamp. */
static const char *sweep(struct mr_ctx *cx, struct mr_work *work)
{
	struct mr_err ignored;
	size_t swept = 0;

	if (work->access == MR_WORK_WRITE)
		(void)!mr_fs_sweep_temporaries(work->dir, MR_WORK_EVIDENCE, &swept, &ignored);
	return stamp_of(cx, work, MR_WORK_EVIDENCE);
}

static enum mr_code sync_evidence(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_sync *sync)
{
	const char *stamp = stamp_of(cx, work, MR_WORK_EVIDENCE);
	enum mr_code rc;

	if (mr_str_eq(find_stamp(&sync->known, MR_WORK_EVIDENCE), stamp))
		return sync->is_opening ? mr_work_follow_sidecars(cx, work, sync) : MR_OK;
	stamp = sweep(cx, work);
	rc = mr_work_sync_write(cx, work, sync);
	if (!rc)
		rc = sync_messages(cx, work, sync);
	if (!rc)
		rc = mr_work_index_set_stamp(cx, work->index, MR_WORK_EVIDENCE, stamp);
	return rc;
}

static enum mr_code sync_all(struct mr_ctx *cx, struct mr_work *work, struct mr_work_sync *sync)
{
	enum mr_code rc = mr_work_index_stamps(cx, work->index, &sync->known);

	sync->is_building = !rc && !sync->known.len;
	work->index_is_new |= sync->is_building;
	if (!rc)
		rc = sync_evidence(cx, work, sync);
	if (!rc)
		rc = sync_places(cx, work, sync, MR_WORK_ACTIVE_CASE);
	if (!rc)
		rc = sync_places(cx, work, sync, MR_WORK_ARCHIVED_CASE);
	if (!rc)
		rc = sync_places(cx, work, sync, MR_WORK_NOTIFICATION);
	for (int kind = MR_WORK_SPAM; !rc && kind <= MR_WORK_DELETED; kind++)
		rc = sync_collection(cx, work, sync, (enum mr_work_collection_kind)kind,
			mr_work_disposition_dir((enum mr_work_collection_kind)kind));
	if (!rc)
		rc = drop_unseen(cx, work, sync);
	if (!rc)
		rc = mr_work_follow_cards(cx, work, sync);
	return rc;
}

static void roll_back(struct mr_work *work)
{
	mr_db_rollback(work->index);
	mr_work_index_forget_rows(work);
}

static enum mr_code sync_index(struct mr_ctx *cx, struct mr_work *work, bool is_opening)
{
	struct mr_work_sync sync = { .is_opening = is_opening };
	enum mr_code rc = sync_all(cx, work, &sync);

	if (!rc && sync.is_writing)
		rc = mr_work_index_flush(cx, work);
	if (!rc && sync.is_writing)
		rc = mr_db_commit(work->index, &cx->err);
	if (rc && sync.is_writing)
		roll_back(work);
	return rc;
}

enum mr_code mr_work_index_sync(struct mr_ctx *cx, struct mr_work *work)
{
	return sync_index(cx, work, false) ? mr_work_store_error(cx) : MR_OK;
}

enum mr_code mr_work_index_unread(struct mr_ctx *cx, struct mr_work *work, struct mr_texts *out)
{
	struct mr_work_stamps known = { 0 };

	if (mr_work_index_stamps(cx, work->index, &known))
		return mr_work_store_error(cx);
	*out = (struct mr_texts){ mr_arena_array(cx->arena, known.len + 1, sizeof(*out->items)),
		0 };
	for (size_t i = 0; i < known.len; i++)
		if (mr_str_ends(known.items[i].stamp, "!"))
			out->items[out->len++] = known.items[i].path;
	return MR_OK;
}

/* --- opening --- */

static enum mr_code open_at(struct mr_ctx *cx, struct mr_work *work, const char *path)
{
	struct mr_db_options options = { .path = path,
		.create = true,
		.cache_kib = CACHE_KIB,
		.journal = MR_DB_JOURNAL_DELETE,
		.sync = MR_DB_SYNC_NORMAL };
	enum mr_code rc = mr_db_open(&options, &work->index, &cx->err);

	if (!rc)
		rc = mr_work_index_schema(cx, work->index);
	if (rc)
		mr_db_closep(&work->index);
	return rc;
}

/* Where the workspace cannot be written, the index is a temporary file that closing the workspace
 * removes. SQLite refuses to write to a file without a name. */
static enum mr_code open_aside(struct mr_ctx *cx, struct mr_work *work)
{
	const char *dir = getenv("TMPDIR");
	char *path = mr_arena_printf(cx->arena, "%s/mailroom-index-XXXXXX",
		mr_str_is_empty(dir) ? "/tmp" : dir);
	int fd MR_CLEANUP(mr_fs_closep) = mkstemp(path);

	if (fd < 0)
		return mr_err_os(&cx->err, errno, "cannot make %s", path);
	work->index_aside = path;
	return open_at(cx, work, path);
}

static bool cannot_write(enum mr_code rc)
{
	return rc == MR_EPERM || rc == MR_EIO;
}

static enum mr_code open_and_sync(struct mr_ctx *cx, struct mr_work *work, const char *path)
{
	enum mr_code rc = open_at(cx, work, path);

	if (!rc)
		rc = sync_index(cx, work, true);
	if (rc)
		mr_db_closep(&work->index);
	return rc;
}

enum mr_code mr_work_index_open(struct mr_ctx *cx, struct mr_work *work)
{
	const char *path = mr_work_join(cx->arena, work->root, MR_WORK_INDEX);
	struct mr_err kept = cx->err;
	enum mr_code rc;

	if (work->index)
		return MR_OK;
	rc = open_and_sync(cx, work, path);
	if (rc == MR_EFORMAT && !cx->err.word) { /* damaged: it is a projection, made anew */
		cx->err = kept;
		unlink(path);
		rc = open_and_sync(cx, work, path);
	}
	if (cannot_write(rc) && !cx->err.word) {
		cx->err = kept;
		rc = open_aside(cx, work);
		if (!rc)
			rc = sync_index(cx, work, true);
		if (rc)
			mr_db_closep(&work->index);
	}
	return rc ? mr_work_store_error(cx) : MR_OK;
}

/* --- what this command itself takes in --- */

enum mr_code mr_work_index_begin(struct mr_ctx *cx, struct mr_work *work)
{
	return mr_db_begin(work->index, MR_DB_IMMEDIATE, &cx->err) ? mr_work_store_error(cx)
								   : MR_OK;
}

enum mr_code mr_work_index_add(struct mr_ctx *cx, struct mr_work *work, const char *message_id)
{
	return put_apart(cx, work, message_id) ? mr_work_store_error(cx) : MR_OK;
}

enum mr_code mr_work_index_added(struct mr_ctx *cx, struct mr_work *work)
{
	return mr_work_index_set_stamp(cx, work->index, MR_WORK_EVIDENCE,
		       stamp_of(cx, work, MR_WORK_EVIDENCE))
		? mr_work_store_error(cx)
		: MR_OK;
}

enum mr_code mr_work_index_commit(struct mr_ctx *cx, struct mr_work *work)
{
	enum mr_code rc = mr_work_index_flush(cx, work);

	if (!rc)
		rc = mr_db_commit(work->index, &cx->err);
	if (rc)
		roll_back(work);
	return rc ? mr_work_store_error(cx) : MR_OK;
}

void mr_work_index_undo(struct mr_work *work)
{
	if (work->index)
		roll_back(work);
}

/* --- many questions --- */

enum mr_code mr_work_index_hold(struct mr_ctx *cx, struct mr_work *work)
{
	enum mr_code rc = mr_work_index_open(cx, work);

	if (!rc && mr_db_begin(work->index, MR_DB_DEFERRED, &cx->err))
		rc = mr_work_store_error(cx);
	return rc;
}

void mr_work_index_let_go(struct mr_work *work)
{
	if (work->index)
		mr_db_rollback(work->index);
}
