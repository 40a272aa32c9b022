/* mailbox/repair_messages.c - compares every document below messages/ with the index. */
#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/document.h"
#include "mailbox/index_sql.h"
#include "mailbox/limits.h"
#include "mailbox/repair_private.h"
#include "mailbox/repair_sql.h"
#include "text/json.h"
#include "text/token.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	DEPTH_MAX = 8, /* one level is what the layout has */
	PROGRESS_STEP = 256,
	IDS_PAGE = 1000,
};

static const char SUFFIX[] = ".md";

/* One document, and what the index has of it. */
struct seen {
	struct mr_mailbox_repair_run *run;
	struct mr_ctx cx;   /* with an arena for this message only */
	const char *path;   /* below the root */
	const char *wanted; /* where it belongs */
	struct mr_bytes bytes;
	struct mr_mailbox_message message;
	const struct mr_mailbox_indexed *row; /* or NULL */
	struct mr_mailbox_recipients recipients;
	struct mr_mailbox_attachments attachments;
};

static enum mr_code fail(struct seen *seen, enum mr_code rc)
{
	seen->run->cx->err = seen->cx.err;
	return rc;
}

/* A file that cannot be a message goes into quarantine, or is only reported. */
static enum mr_code put_away(struct mr_mailbox_repair_run *run, const char *what, const char *path,
	const char *why)
{
	const char *to = NULL;
	enum mr_code rc;

	if (!run->hands) {
		mr_mailbox_repair_found(run, what, path, "%s", why);
		return MR_OK;
	}
	rc = mr_mailbox_repair_set_aside(run, path, &to);
	if (!rc)
		mr_mailbox_repair_found(run, what, path, "%s; it is now %s", why, to);
	return rc;
}

/* Is this an error of the document itself, so that reading it again will not help? */
static bool is_bad(enum mr_code rc)
{
	return rc == MR_EFORMAT || rc == MR_EINVAL || rc == MR_ELIMIT;
}

static enum mr_code read_document(struct seen *seen, const char *path)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_err *err = &seen->cx.err;
	enum mr_code rc =
		mr_fs_open_beneath(seen->run->root->dir, path, O_RDONLY | O_NOFOLLOW, 0, &fd, err);

	if (!rc)
		rc = mr_fs_read_fd(seen->cx.arena, fd, MR_MAILBOX_DOCUMENT_BYTES, &seen->bytes,
			err);
	if (!rc)
		rc = mr_mailbox_document_parse(seen->cx.arena, seen->bytes, &seen->message, err);
	return rc;
}

/* Make room for a document that belongs at `wanted`: false in *out when a good one is there. */
static enum mr_code make_room(struct seen *seen, bool *out)
{
	struct mr_mailbox_repair_run *run = seen->run;
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct seen there = { .run = run, .cx = seen->cx };
	enum mr_code rc;

	*out = true;
	if (!mr_fs_exists(run->root->dir, seen->wanted))
		return MR_OK;
	there.cx.arena = arena;
	rc = read_document(&there, seen->wanted);
	if (is_bad(rc) && run->hands)
		return put_away(run, "unreadable_document", seen->wanted, there.cx.err.msg);
	*out = false;
	return MR_OK;
}

/* Move a document to its place. *out is false when it needs no further examination. */
static enum mr_code put_in_place(struct seen *seen, bool *out)
{
	struct mr_mailbox_repair_run *run = seen->run;
	struct mr_ctx *cx = run->cx;
	const char *slash;
	uint32_t number;
	enum mr_code rc = MR_OK;

	*out = true;
	if (mr_str_eq(seen->path, seen->wanted))
		return MR_OK;
	if (mr_mailbox_known_find(&run->known, seen->message.message_id, &number))
		*out = false;
	else
		rc = make_room(seen, out);
	if (rc)
		return rc;
	if (!*out)
		return put_away(run, "duplicate_document", seen->path,
			mr_arena_printf(seen->cx.arena, "says it is the message in %s",
				seen->wanted));
	mr_mailbox_repair_found(run, "misplaced_document", seen->path,
		run->hands ? "moved to %s" : "belongs at %s", seen->wanted);
	if (!run->hands)
		return MR_OK;
	slash = strrchr(seen->wanted, '/');
	rc = mr_fs_make_dirs(run->root->dir,
		mr_arena_strndup(seen->cx.arena, seen->wanted, (size_t)(slash - seen->wanted)),
		0700, &cx->err);
	if (!rc)
		rc = mr_fs_rename(run->root->dir, seen->path, run->root->dir, seen->wanted,
			MR_FS_NEW, &cx->err);
	mr_crash_point("repair.document.moved");
	seen->path = seen->wanted;
	return rc;
}

static bool same_principal(const struct mr_mailbox_principal *a,
	const struct mr_mailbox_principal *b)
{
	return mr_str_eq(a->principal_id, b->principal_id) && mr_str_eq(a->address, b->address) &&
		mr_str_eq(a->display_name, b->display_name) &&
		mr_str_eq(a->manifest_path_hint, b->manifest_path_hint) &&
		mr_str_eq(a->role, b->role);
}

static char next_char(const char **text)
{
	char c = *(*text)++;

	if (c != '\r')
		return c;
	if (**text == '\n')
		(*text)++;
	return '\n';
}

/* The reference reads CR LF and CR as LF, and writes what it has read. */
static bool same_text(const char *a, const char *b)
{
	char x, y;

	if (!a || !b)
		return false;
	if (strcmp(a, b) == 0)
		return true;
	do {
		x = next_char(&a);
		y = next_char(&b);
	} while (x == y && x != '\0');
	return x == y;
}

static bool same_headers(struct seen *seen)
{
	const struct mr_value *stored = NULL;
	const char *text = seen->row->headers_json;
	struct mr_err ignored;

	if (!text)
		return false;
	if (seen->message.headers->map.len == 0 && mr_str_eq(text, "{}"))
		return true;
	/* The reference writes numbers that are not finite in a way that is not JSON. */
	if (mr_json_parse(seen->cx.arena, mr_bytes_text(text), NULL, &stored, &ignored))
		return true;
	return mr_value_equal(stored, seen->message.headers);
}

static bool same_recipients(const struct seen *seen)
{
	const struct mr_mailbox_principals *to = &seen->message.to, *cc = &seen->message.cc;

	if (seen->recipients.len != to->len + cc->len)
		return false;
	for (size_t i = 0; i < seen->recipients.len; i++) {
		const struct mr_mailbox_recipient *has = &seen->recipients.items[i];
		bool is_to = i < to->len;

		if (!mr_str_eq(has->kind, is_to ? "to" : "cc") || has->ordinal != (int64_t)i ||
			!same_principal(&has->principal,
				is_to ? &to->items[i] : &cc->items[i - to->len]))
			return false;
	}
	return true;
}

/* Once for each id: a message may name one twice, and two may share one. */
static bool same_attachments(const struct seen *seen)
{
	size_t distinct = 0;

	for (size_t i = 0; i < seen->message.attachments.len; i++) {
		const struct mr_mailbox_attachment *want = &seen->message.attachments.items[i];
		bool earlier = false, found = false;

		for (size_t j = 0; j < i && !earlier; j++)
			earlier = mr_str_eq(seen->message.attachments.items[j].attachment_id,
				want->attachment_id);
		for (size_t j = 0; j < seen->attachments.len && !found; j++)
			found = mr_str_eq(seen->attachments.items[j].attachment_id,
				want->attachment_id);
		if (!found)
			return false;
		distinct += !earlier;
	}
	return distinct == seen->attachments.len;
}

/* What the row has wrong, or NULL. */
static const char *difference(struct seen *seen, const char *canonical_path)
{
	const struct mr_mailbox_message *message = &seen->message;
	const struct mr_mailbox_indexed *row = seen->row;

	if (!mr_str_eq(row->thread_id, message->thread_id))
		return "thread_id";
	if (!mr_str_eq(row->in_reply_to, message->in_reply_to))
		return "in_reply_to";
	if (!mr_str_eq(row->created_at, message->created_at_utc))
		return "created_at_utc";
	if (!mr_mailbox_repair_same_path(seen->run, row->canonical_path, canonical_path))
		return "canonical_path";
	if (!mr_str_eq(row->subject, message->subject))
		return "subject";
	if (!same_text(row->document, (const char *)seen->bytes.data))
		return "body_markdown";
	if (!same_headers(seen))
		return "headers_json";
	if (!same_principal(&row->sender, &message->sender))
		return "sender";
	if (!same_recipients(seen))
		return "recipients";
	return same_attachments(seen) ? NULL : "attachments";
}

static enum mr_code read_row(struct seen *seen)
{
	struct mr_db *old = seen->run->old;
	const char *id = seen->message.message_id;
	enum mr_code rc = mr_mailbox_repair_turn(seen->run);

	if (rc)
		return rc;
	rc = mr_mailbox_index_get(&seen->cx, old, id, &seen->row);
	if (!rc && seen->row)
		rc = mr_mailbox_index_recipients(&seen->cx, old, id, &seen->recipients);
	if (!rc && seen->row && seen->message.attachments.len > 0)
		rc = mr_mailbox_index_attachments(&seen->cx, old, id, &seen->attachments);
	if (!rc)
		return MR_OK;
	fail(seen, rc);
	seen->row = NULL;
	return mr_mailbox_repair_lose_index(seen->run, rc);
}

static enum mr_code compare(struct seen *seen)
{
	struct mr_mailbox_repair_run *run = seen->run;
	const char *path = mr_mailbox_layout_join(seen->cx.arena, run->root->path, seen->wanted);
	const char *wrong;
	enum mr_code rc = run->old ? read_row(seen) : MR_OK;

	if (rc || !run->old)
		return rc;
	if (!seen->row) {
		mr_mailbox_repair_found(run, "missing_index_row", seen->message.message_id,
			"the index does not have the message %s", path);
		return MR_OK;
	}
	wrong = difference(seen, path);
	if (wrong)
		mr_mailbox_repair_found(run, "wrong_index_row", seen->message.message_id,
			"the index has another %s than %s", wrong, path);
	return MR_OK;
}

static void claim(struct mr_mailbox_account *account, uint32_t number, uint32_t why)
{
	struct mr_buf *claims = &account->claims;
	struct mr_mailbox_claim one = { .message = number, .why = why };

	if (claims->len >= sizeof(one)) {
		struct mr_mailbox_claim *last = (void *)(claims->data + claims->len - sizeof(one));

		if (last->message == number) {
			last->why |= why;
			return;
		}
	}
	mr_buf_add(claims, &one, sizeof(one));
}

/* Assign the message to mailboxes: as recorded when it was delivered, else by its addresses.
 * Returns the registration id for the index. */
static const char *assign(struct seen *seen, uint32_t number,
	const struct mr_mailbox_principal *principal, const char *recorded, uint32_t why)
{
	struct mr_mailbox_account *account;

	if (recorded) {
		account = mr_mailbox_repair_account_by_id(seen->run, recorded);
	} else {
		account = mr_mailbox_repair_account_of(seen->run, principal);
		why |= MR_MAILBOX_CLAIM_SURE | (seen->row ? 0 : MR_MAILBOX_CLAIM_NEW);
	}
	if (account)
		claim(account, number, why);
	return recorded || !account ? recorded : account->row.id;
}

static void assign_all(struct seen *seen, uint32_t number, struct mr_mailbox_delivered *out,
	const char **ids)
{
	const struct mr_mailbox_message *message = &seen->message;

	out->sender_registration_id = assign(seen, number, &message->sender,
		seen->row ? seen->row->sender_registration_id : NULL, MR_MAILBOX_CLAIM_SENDER);
	for (size_t i = 0; i < message->to.len + message->cc.len; i++) {
		const struct mr_mailbox_principal *one = i < message->to.len
			? &message->to.items[i]
			: &message->cc.items[i - message->to.len];
		const char *recorded = NULL;

		if (i < seen->recipients.len &&
			mr_str_eq(seen->recipients.items[i].principal.address, one->address))
			recorded = seen->recipients.items[i].registration_id;
		ids[i] = assign(seen, number, one, recorded, MR_MAILBOX_CLAIM_RECIPIENT);
	}
	out->recipient_registration_ids = ids;
}

static enum mr_code insert(struct seen *seen, const struct mr_mailbox_delivered *delivered)
{
	struct mr_mailbox_repair_run *run = seen->run;
	struct mr_mailbox_message bare = seen->message;
	enum mr_code rc;

	if (seen->message.attachments.len == 0) {
		rc = mr_mailbox_index_insert(&seen->cx, run->index, &seen->message, delivered);
		return rc ? fail(seen, rc) : MR_OK;
	}
	rc = mr_db_savepoint(run->index, &run->cx->err);
	if (rc)
		return rc;
	rc = mr_mailbox_index_insert(&seen->cx, run->index, &seen->message, delivered);
	if (!rc)
		return mr_db_release(run->index, &run->cx->err);
	fail(seen, rc);
	if (rc != MR_ECONFLICT && rc != MR_EEXISTS)
		return rc;
	rc = mr_db_rollback_to(run->index, &run->cx->err);
	if (rc)
		return rc;
	mr_mailbox_repair_found(run, "conflicting_attachment", seen->message.message_id,
		"%s; the index lists no attachments of this message", seen->cx.err.msg);
	bare.attachments.len = 0;
	rc = mr_mailbox_index_insert(&seen->cx, run->index, &bare, delivered);
	return rc ? fail(seen, rc) : MR_OK;
}

/* A message in its place, or whose wrong place was reported. */
static enum mr_code take_in(struct seen *seen)
{
	struct mr_mailbox_repair_run *run = seen->run;
	const struct mr_mailbox_message *message = &seen->message;
	struct mr_mailbox_delivered delivered = { .document = (const char *)seen->bytes.data };
	const char **ids =
		mr_arena_array(seen->cx.arena, message->to.len + message->cc.len + 1, sizeof(*ids));
	uint32_t number = 0;
	enum mr_code rc = mr_mailbox_known_add(&run->known, message, &number, &run->cx->err);

	if (rc == MR_EEXISTS) {
		mr_mailbox_known_find(&run->known, message->message_id, &number);
		/* It was moved here a moment ago. */
		if (mr_str_eq(mr_mailbox_known_path(&run->known, seen->cx.arena, number),
			    seen->path))
			return MR_OK;
		return put_away(run, "duplicate_document", seen->path,
			mr_arena_printf(seen->cx.arena, "another document has the same id: %s",
				mr_mailbox_known_path(&run->known, seen->cx.arena, number)));
	}
	if (!rc)
		rc = compare(seen);
	if (rc)
		return rc;
	assign_all(seen, number, &delivered, ids);
	delivered.canonical_path =
		mr_mailbox_layout_join(seen->cx.arena, run->root->path, seen->wanted);
	return run->hands ? insert(seen, &delivered) : MR_OK;
}

static enum mr_code visit_document(struct mr_mailbox_repair_run *run, const char *path)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct seen seen = { .run = run, .cx = *run->cx, .path = path };
	bool go_on = true;
	enum mr_code rc;

	if (run->cx->progress && run->documents_done % PROGRESS_STEP == 0)
		run->cx->progress(run->cx->progress_arg, "messages", run->documents_done,
			run->documents);
	run->documents_done++;
	seen.cx.arena = arena;
	rc = read_document(&seen, path);
	if (is_bad(rc))
		return put_away(run, "unreadable_document", path, seen.cx.err.msg);
	if (rc) {
		/* Not the document's fault: it may be fine, and stays. */
		mr_mailbox_repair_found(run, "unreadable_document", path, "%s; left alone",
			seen.cx.err.msg);
		return MR_OK;
	}
	seen.wanted = mr_mailbox_layout_message(arena, seen.message.created_at_utc,
		seen.message.message_id);
	rc = put_in_place(&seen, &go_on);
	return rc || !go_on ? rc : take_in(&seen);
}

struct arriving {
	const char *name;
	int64_t arrival;
};

static int by_arrival(const void *a, const void *b)
{
	const struct arriving *x = a, *y = b;

	if (x->arrival != y->arrival)
		return x->arrival < y->arrival ? -1 : 1;
	return strcmp(x->name, y->name);
}

/*
 * In the order in which the index got them, which breaks ties between messages of one second;
 * what it does not have comes last.
 */
static enum mr_code sort_names(struct mr_mailbox_repair_run *run, struct mr_arena *arena,
	const struct mr_texts *names, struct arriving **out)
{
	struct arriving *list = mr_arena_array(arena, names->len + 1, sizeof(*list));
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < names->len && !rc; i++) {
		const char *name = names->items[i];
		size_t len = strlen(name);
		int64_t arrival = -1;

		if (run->old && len > strlen(SUFFIX))
			rc = mr_mailbox_repair_turn(run);
		if (run->old && !rc && len > strlen(SUFFIX))
			rc = mr_mailbox_repair_lose_index(run,
				mr_mailbox_repair_sql_arrival(run->cx, run->old,
					mr_arena_strndup(arena, name, len - strlen(SUFFIX)),
					&arrival));
		list[i] = (struct arriving){ name, arrival < 0 ? INT64_MAX : arrival };
	}
	if (rc)
		return rc;
	qsort(list, names->len, sizeof(*list), by_arrival);
	*out = list;
	return MR_OK;
}

static enum mr_code visit_directory(struct mr_mailbox_repair_run *run, const char *path, int depth);

static enum mr_code visit(struct mr_mailbox_repair_run *run, const char *path, int depth)
{
	struct stat st;

	if (fstatat(run->root->dir, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return MR_OK;
	if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
		return visit_directory(run, path, depth + 1);
	if (!mr_str_ends(path, SUFFIX)) {
		mr_mailbox_repair_warn(run, "stray_entry", path, "is no message; left alone");
		return MR_OK;
	}
	if (!S_ISREG(st.st_mode))
		return put_away(run, "unreadable_document", path, "is not a regular file");
	return visit_document(run, path);
}

static enum mr_code visit_directory(struct mr_mailbox_repair_run *run, const char *path, int depth)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts names = { NULL, 0 };
	struct arriving *list = NULL;
	enum mr_code rc =
		mr_fs_list(arena, run->root->dir, path, MR_MAILBOX_ENTRIES, &names, &run->cx->err);

	if (!rc)
		rc = sort_names(run, arena, &names, &list);
	for (size_t i = 0; i < names.len && !rc; i++) {
		struct mr_arena *one MR_CLEANUP(mr_arena_freep) = mr_arena_new();

		rc = visit(run, mr_mailbox_layout_join(one, path, list[i].name), depth);
	}
	return rc;
}

/* Rows whose document is gone: their text may be the last copy, so it is kept. */
static enum mr_code drop_row(struct mr_mailbox_repair_run *run, const char *id)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_mailbox_indexed *row = NULL;
	struct mr_ctx cx = *run->cx;
	const char *to = NULL;
	enum mr_code rc = MR_OK;

	cx.arena = arena;
	if (run->hands)
		rc = mr_mailbox_index_get(&cx, run->old, id, &row);
	if (rc) {
		run->cx->err = cx.err;
		return mr_mailbox_repair_lose_index(run, rc);
	}
	if (row && row->document)
		rc = mr_mailbox_repair_save_text(run,
			mr_arena_printf(arena, "index/%s%s", id, SUFFIX), row->document, &to);
	if (rc)
		return rc;
	if (to)
		mr_mailbox_repair_found(run, "extra_index_row", id,
			"its document is gone; the index's copy is now %s", to);
	else
		mr_mailbox_repair_found(run, "extra_index_row", id, "its document is gone");
	return MR_OK;
}

static enum mr_code find_extra_rows(struct mr_mailbox_repair_run *run)
{
	const char *after = "";

	while (run->old) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_texts ids = { NULL, 0 };
		struct mr_ctx cx = *run->cx;
		uint32_t number;
		enum mr_code rc;

		cx.arena = arena;
		rc = mr_mailbox_repair_sql_ids(&cx, run->old, after, IDS_PAGE, &ids);
		if (rc) {
			run->cx->err = cx.err;
			return mr_mailbox_repair_lose_index(run, rc);
		}
		for (size_t i = 0; i < ids.len && !rc && run->old; i++) {
			if (!mr_mailbox_known_find(&run->known, ids.items[i], &number))
				rc = drop_row(run, ids.items[i]);
		}
		if (rc || ids.len < IDS_PAGE)
			return rc;
		after = mr_arena_strdup(run->cx->arena, ids.items[ids.len - 1]);
	}
	return MR_OK;
}

static enum mr_fs_next count_document(void *arg, const struct mr_fs_entry *entry)
{
	size_t *count = arg;

	*count += entry->type == DT_REG && mr_str_ends(entry->name, SUFFIX);
	return MR_FS_GO_ON;
}

enum mr_code mr_mailbox_repair_messages(struct mr_mailbox_repair_run *run)
{
	struct mr_ctx *cx = run->cx;
	struct mr_err ignored;
	enum mr_code rc;

	if (!mr_fs_exists(run->root->dir, MR_MAILBOX_MESSAGES))
		return find_extra_rows(run);
	/* Only for the progress: whatever is wrong will be found again. */
	if (cx->progress &&
		mr_fs_walk(run->root->dir, MR_MAILBOX_MESSAGES, DEPTH_MAX, count_document,
			&run->documents, &ignored))
		run->documents = 0;
	rc = visit_directory(run, MR_MAILBOX_MESSAGES, 0);
	if (!rc && cx->progress)
		cx->progress(cx->progress_arg, "messages", run->documents_done,
			run->documents_done);
	return rc ? rc : find_extra_rows(run);
}
