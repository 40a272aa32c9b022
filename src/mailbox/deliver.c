/* mailbox/deliver.c - delivers a staged message: checks the request and the file, takes the
 * locks, and runs the steps. */
#include "mailbox/deliver.h"

#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/deliver_private.h"
#include "mailbox/document.h"
#include "mailbox/inside.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/locks.h"
#include "text/token.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static void freep(char **text)
{
	free(*text);
}

/* The staged file, open, and what it says. */
struct staged {
	int fd;
	const char *name; /* relative to staging/ */
	struct stat stat;
	struct mr_bytes bytes;
	struct mr_mailbox_message message;
};

static void staged_close(struct staged *staged)
{
	mr_fs_closep(&staged->fd);
}

static enum mr_code say_outside(struct mr_ctx *cx, const char *path)
{
	return mr_err_set(&cx->err, MR_EINVAL,
		"staged message must live under the mailbox staging directory, and not be a link: "
		"%s",
		path);
}

static enum mr_code say_missing(struct mr_ctx *cx, const char *path)
{
	return mr_err_set(&cx->err, MR_ENOTFOUND, "staged message not found: %s", path);
}

/* The directory of `path`, without its links, and the name in it. */
static enum mr_code resolve(struct mr_ctx *cx, const struct mr_mailbox_root *root, const char *path,
	const char **out_dir, const char **out_name)
{
	char *found MR_CLEANUP(freep) = NULL;
	const char *slash = strrchr(path, '/');
	const char *staging = mr_mailbox_layout_join(cx->arena, root->path, MR_MAILBOX_STAGING "/");
	const char *dir = !slash ? "."
		: slash == path  ? "/"
				 : mr_arena_strndup(cx->arena, path, (size_t)(slash - path));

	found = realpath(dir, NULL);
	if (!found)
		return mr_str_starts(path, staging) ? say_missing(cx, path) : say_outside(cx, path);
	*out_dir = mr_arena_strdup(cx->arena, found);
	*out_name = slash ? slash + 1 : path;
	return MR_OK;
}

/* The path relative to staging/; files of our own there cannot be delivered. */
static enum mr_code staged_name(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *path, const char **out)
{
	char *staging MR_CLEANUP(freep) = NULL;
	const char *dir = "", *name = "";
	size_t len;
	enum mr_code rc = resolve(cx, root, path, &dir, &name);

	if (rc)
		return rc;
	staging = realpath(mr_mailbox_layout_join(cx->arena, root->path, MR_MAILBOX_STAGING), NULL);
	if (!staging)
		return say_missing(cx, path);
	len = strlen(staging);
	if (mr_mailbox_inside_same(dir, staging))
		dir = staging;
	if (strncmp(dir, staging, len) != 0 || (dir[len] != '/' && dir[len] != '\0') ||
		mr_str_starts(dir + len, "/."))
		return say_outside(cx, path);
	if (name[0] == '\0' || mr_str_eq(name, ".") || mr_str_eq(name, ".."))
		return say_missing(cx, path);
	*out = dir[len] == '/' ? mr_arena_printf(cx->arena, "%s/%s", dir + len + 1, name) : name;
	return MR_OK;
}

/*
 * Share the kernel's lock on the staged file: repair does not clear what is locked. False when
 * repair is just clearing it, or has done so since it was opened.
 */
static bool staged_hold(int dir, const struct staged *staged)
{
	struct stat st;

	if (flock(staged->fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return false;
	return fstatat(dir, staged->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		st.st_dev == staged->stat.st_dev && st.st_ino == staged->stat.st_ino;
}

/* Open the staged file without following links, and read it. */
static enum mr_code staged_open(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *path, struct staged *out)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = staged_name(cx, root, path, &out->name);

	if (!rc)
		rc = mr_fs_open_dir(root->dir, MR_MAILBOX_STAGING, &dir, &cx->err);
	if (rc)
		return rc;
	rc = mr_fs_open_beneath(dir, out->name, O_RDONLY | O_NOFOLLOW, 0, &out->fd, &cx->err);
	if (rc == MR_ENOTFOUND)
		return say_missing(cx, path);
	if (rc == MR_EPERM && cx->err.os_errno == 0)
		return say_outside(cx, path);
	if (rc == MR_EINVAL)
		return say_missing(cx, path);
	if (rc)
		return rc;
	if (fstat(out->fd, &out->stat) != 0)
		return mr_err_os(&cx->err, errno, "cannot stat %s", path);
	if (!S_ISREG(out->stat.st_mode))
		return say_missing(cx, path);
	if (!staged_hold(dir, out)) {
		mr_fs_closep(&out->fd);
		return say_missing(cx, path);
	}
	rc = mr_fs_read_fd(cx->arena, out->fd, MR_MAILBOX_DOCUMENT_BYTES, &out->bytes, &cx->err);
	return rc ? mr_err_wrap(&cx->err, "staged message %s", path) : MR_OK;
}

/* Which field the document and the payload disagree about, for people. */
static const char *difference(const struct mr_mailbox_message *a,
	const struct mr_mailbox_message *b)
{
	if (!mr_str_eq(a->message_id, b->message_id))
		return "message_id";
	if (!mr_str_eq(a->thread_id, b->thread_id))
		return "thread_id";
	if (!mr_str_eq(a->in_reply_to, b->in_reply_to))
		return "in_reply_to";
	if (!mr_str_eq(a->created_at_utc, b->created_at_utc))
		return "created_at_utc";
	if (!mr_str_eq(a->sender.address, b->sender.address) ||
		!mr_str_eq(a->sender.principal_id, b->sender.principal_id))
		return "sender";
	if (a->to.len != b->to.len)
		return "to";
	if (a->cc.len != b->cc.len)
		return "cc";
	if (!mr_str_eq(a->subject, b->subject))
		return "subject";
	if (a->attachments.len != b->attachments.len)
		return "attachments";
	if (!mr_value_equal(a->headers, b->headers))
		return "headers";
	return "references, a participant or an attachment";
}

/* Check that the file is the payload's message, and make it private. */
static enum mr_code staged_check(struct mr_ctx *cx, const char *path,
	const struct mr_mailbox_message *payload, struct staged *staged)
{
	enum mr_code rc =
		mr_mailbox_document_parse(cx->arena, staged->bytes, &staged->message, &cx->err);

	if (rc)
		return mr_err_wrap(&cx->err, "staged message %s", path);
	if (!mr_mailbox_message_same(payload, &staged->message, false))
		return mr_err_set(&cx->err, MR_EINVAL,
			"staged message %s is not the message of the payload: they differ in %s",
			path, difference(payload, &staged->message));
	if ((staged->stat.st_mode & 07777) != 0600 && fchmod(staged->fd, 0600) != 0)
		return mr_err_os(&cx->err, errno, "cannot make %s private", path);
	return MR_OK;
}

/* The document at the canonical name; `*found` is false when there is none. */
static enum mr_code read_canonical(struct mr_ctx *cx, const struct mr_mailbox_delivery *d,
	struct mr_bytes *out, bool *found)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_fs_open_beneath(d->root->dir, d->canonical, O_RDONLY | O_NOFOLLOW, 0,
		&fd, &cx->err);

	*found = rc != MR_ENOTFOUND;
	if (rc)
		return rc == MR_ENOTFOUND ? MR_OK : rc;
	return mr_fs_read_fd(cx->arena, fd, MR_MAILBOX_DOCUMENT_BYTES, out, &cx->err);
}

/* What is already stored under the message id. */
struct known {
	const struct mr_mailbox_indexed *row; /* or NULL */
	bool has_file;
	struct mr_bytes document;
	struct mr_mailbox_message message;
};

/* MR_ECONFLICT unless the stored message is the same as ours. */
static enum mr_code look_up(struct mr_mailbox_delivery *d, struct mr_db *index,
	const struct staged *staged, struct known *out)
{
	struct mr_ctx *cx = d->cx;
	struct mr_err why;
	enum mr_code rc = mr_mailbox_index_get(cx, index, d->message->message_id, &out->row);

	if (!rc)
		rc = read_canonical(cx, d, &out->document, &out->has_file);
	if (rc || (!out->row && !out->has_file))
		return rc;
	if (!out->has_file)
		out->document = mr_bytes_text(out->row->document);
	if (!mr_mailbox_document_parse(cx->arena, out->document, &out->message, &why) &&
		mr_mailbox_message_same(d->message, &out->message, staged->fd >= 0))
		return MR_OK;
	return mr_err_set(&cx->err, MR_ECONFLICT,
		"canonical message already exists: %s is another message; give this one an id of "
		"its own",
		d->canonical_path);
}

/* A repeated delivery removes its staged file like the first, if it is an exact copy. */
static void remove_copy(const struct mr_mailbox_delivery *d, const struct staged *staged,
	const struct mr_bytes *document)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_err ignored;
	struct stat st;

	if (staged->fd < 0 || staged->bytes.len != document->len ||
		memcmp(staged->bytes.data, document->data, document->len) != 0)
		return;
	if (!mr_fs_open_dir(d->root->dir, MR_MAILBOX_STAGING, &dir, &ignored) &&
		fstatat(dir, staged->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		st.st_ino == staged->stat.st_ino && st.st_dev == staged->stat.st_dev)
		unlinkat(dir, staged->name, 0);
}

/* The locks are held. MR_EEXISTS: d->twin is there, and nothing was delivered. */
static enum mr_code deliver_locked(struct mr_mailbox_delivery *d, struct mr_db *index,
	const struct staged *staged, const char *path, struct known *known)
{
	enum mr_code rc = MR_OK;

	if (d->once)
		rc = mr_mailbox_index_find_once(d->cx, index, d->once, &d->twin);
	if (!rc && d->twin)
		return mr_err_set(&d->cx->err, MR_EEXISTS, "%s was sent by the same request",
			d->twin);
	if (!rc)
		rc = look_up(d, index, staged, known);
	if (rc)
		return rc;
	if (!known->row && !known->has_file) {
		if (staged->fd < 0)
			return say_missing(d->cx, path);
		return mr_mailbox_delivery_run(d, index);
	}
	/* The stored document stays; ours was only needed for the comparison. */
	d->document = known->document;
	d->message = &known->message;
	d->staged = NULL;
	d->moved = known->has_file;
	if (known->row)
		return mr_mailbox_delivery_heal(d, index, known->row);
	/* The intent says that the document comes from staging/. */
	rc = mr_mailbox_intent_drop(d);
	return rc ? rc : mr_mailbox_delivery_run(d, index);
}

/* Drop the intent when nothing was changed; cx->err stays as it is. */
static void give_up(struct mr_mailbox_delivery *d)
{
	struct mr_err why = d->cx->err;

	if (!d->committed && !(d->moved && d->staged) && mr_mailbox_intent_drop(d))
		d->cx->err = why;
}

/* From the locks on. */
static enum mr_code deliver_prepared(struct mr_mailbox_delivery *d, const struct staged *staged,
	const char *path, bool *out_already)
{
	struct mr_mailbox_locks locks MR_CLEANUP(mr_mailbox_locks_release) = MR_MAILBOX_LOCKS_INIT;
	struct mr_mailbox_lent index MR_CLEANUP(mr_mailbox_lent_return) = MR_MAILBOX_LENT_INIT;
	struct mr_texts addresses = mr_mailbox_delivery_addresses(d);
	/* In the arena: the delivery may go on with this message. */
	struct known *known = mr_arena_alloc(d->cx->arena, sizeof(*known));
	enum mr_code rc = mr_mailbox_locks_take(d->cx, d->root, &addresses, &locks);

	if (!rc)
		rc = mr_mailbox_lend_index(d->cx, d->root, MR_MAILBOX_LEND_WRITE, &index);
	/* The intent survives a power loss, and recovery then repeats whatever the index lost. */
	if (!rc && d->has_intent)
		rc = mr_db_set_sync(index.db, MR_DB_SYNC_LATER, &d->cx->err);
	if (!rc)
		rc = deliver_locked(d, index.db, staged, path, known);
	mr_mailbox_locks_release(&locks);
	mr_crash_point("deliver.unlocked");
	if (!rc && d->committed)
		rc = mr_mailbox_delivery_settle(d, index.db);
	if (rc)
		return rc;
	*out_already = known->row || known->has_file;
	if (*out_already)
		remove_copy(d, staged, &known->document);
	return MR_OK;
}

/* What is staged was read, or is missing. */
static enum mr_code deliver_staged(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *staged_path, const struct mr_mailbox_message *payload,
	const struct staged *staged, const struct mr_mailbox_once *once,
	struct mr_mailbox_deliver_result *out)
{
	struct mr_mailbox_delivery d MR_CLEANUP(mr_mailbox_delivery_release) = { .intent = -1 };
	bool already = false;
	enum mr_code rc = mr_mailbox_delivery_init(&d, cx, root,
		staged->fd >= 0 ? &staged->message : payload, staged->bytes);

	if (rc)
		return rc;
	d.once = once;
	if (staged->fd >= 0) {
		d.staged = staged->name;
		d.staged_stat = staged->stat;
		rc = mr_mailbox_intent_begin(&d, staged->fd);
	}
	if (!rc)
		rc = deliver_prepared(&d, staged, staged_path, &already);
	if (rc) {
		give_up(&d);
		if (d.twin)
			*out = (struct mr_mailbox_deliver_result){ .message_id = d.twin,
				.already_delivered = true };
		return rc;
	}
	*out = (struct mr_mailbox_deliver_result){
		.message_id = payload->message_id,
		.canonical_path = d.canonical_path,
		.recipient_count = d.recipients.len,
		.already_delivered = already,
	};
	return MR_OK;
}

enum mr_code mr_mailbox_deliver(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *staged_path, const struct mr_mailbox_message *payload,
	struct mr_mailbox_deliver_result *out)
{
	struct staged staged MR_CLEANUP(staged_close) = { .fd = -1 };
	size_t ignored;
	enum mr_code rc = mr_mailbox_deliver_recover(cx, root, &ignored);

	if (!rc)
		rc = staged_open(cx, root, staged_path, &staged);
	if (!rc)
		rc = staged_check(cx, staged_path, payload, &staged);
	/* A missing file may have been delivered before: go on and compare. */
	if (rc && (rc != MR_ENOTFOUND || staged.fd >= 0))
		return rc;
	return deliver_staged(cx, root, staged_path, payload, &staged, NULL, out);
}

static enum mr_code write_all(int fd, struct mr_bytes bytes)
{
	size_t done = 0;

	while (done < bytes.len) {
		ssize_t got = write(fd, bytes.data + done, bytes.len - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return MR_EIO;
		done += (size_t)got;
	}
	return MR_OK;
}

static enum mr_code say_unwritten(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *name, int why)
{
	return mr_err_os(&cx->err, why, "cannot write %s/" MR_MAILBOX_STAGING "/%s", root->path,
		name);
}

/* No sync and no temporary name: the delivery syncs it. The file stays open and locked, so that
 * repair leaves it alone. */
static enum mr_code stage(struct mr_ctx *cx, const struct mr_mailbox_root *root, const char *name,
	const struct mr_mailbox_message *message, struct staged *out)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc;
	int why;

	mr_buf_init(&buf, MR_MAILBOX_DOCUMENT_BYTES);
	rc = mr_mailbox_document_write(&buf, message, &cx->err);
	if (!rc)
		rc = mr_buf_check(&buf, "message", &cx->err);
	if (!rc)
		rc = mr_fs_make_dirs(root->dir, MR_MAILBOX_STAGING, 0700, &cx->err);
	if (!rc)
		rc = mr_fs_open_dir(root->dir, MR_MAILBOX_STAGING, &dir, &cx->err);
	if (rc)
		return rc;
	out->fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out->fd < 0)
		return say_unwritten(cx, root, name, errno);
	out->name = name;
	out->message = *message;
	out->bytes.len = mr_buf_bytes(&buf).len;
	out->bytes.data = mr_arena_memdup(cx->arena, mr_buf_text(&buf), out->bytes.len + 1);
	errno = mr_crash_fail("deliver.stage");
	why = errno || write_all(out->fd, out->bytes) || fstat(out->fd, &out->stat) != 0 ? errno
											 : 0;
	if (why)
		unlinkat(dir, name, 0);
	mr_crash_point("deliver.staged");
	if (why)
		return say_unwritten(cx, root, name, why);
	return staged_hold(dir, out) ? MR_OK : say_missing(cx, name);
}

enum mr_code mr_mailbox_deliver_once(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_message *message, const struct mr_mailbox_once *once,
	struct mr_mailbox_deliver_result *out)
{
	const char *name =
		mr_arena_printf(cx->arena, "gateway-%s.md", mr_token_hex(cx->arena, cx->rand, 6));
	const char *path = mr_mailbox_layout_join(cx->arena, MR_MAILBOX_STAGING, name);
	struct mr_mailbox_deliver_result result = { NULL };
	struct staged staged MR_CLEANUP(staged_close) = { .fd = -1 };
	size_t ignored;
	enum mr_code rc = mr_mailbox_deliver_recover(cx, root, &ignored);

	if (!rc)
		rc = stage(cx, root, name, message, &staged);
	if (rc)
		return rc;
	rc = deliver_staged(cx, root, mr_mailbox_layout_join(cx->arena, root->path, path), message,
		&staged, once, &result);
	/* The caller still has the message; a file that nobody knows of helps no one. */
	if (rc)
		unlinkat(root->dir, path, 0);
	if (rc && !result.already_delivered)
		return rc;
	*out = result;
	return MR_OK;
}

enum mr_code mr_mailbox_deliver_message(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_message *message, struct mr_mailbox_deliver_result *out)
{
	return mr_mailbox_deliver_once(cx, root, message, NULL, out);
}
