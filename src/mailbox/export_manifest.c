/* mailbox/export_manifest.c - manifest.json of an export. */
#include "mailbox/export_manifest.h"

#include "base/fs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
	STYLE = MR_JSON_INDENTED | MR_JSON_ASCII | MR_JSON_SORTED,
	SPILL_BYTES = 256 << 10,   /* a list longer than this goes to its file */
	ENTRY_BYTES_MAX = 8 << 20, /* of one entry, far above what a row can hold */
	HEAD_BYTES_MAX = 64 << 20, /* the selection may name many addresses */
	COPY_BYTES = 64 << 10,
};

static const char *const names[] = { "accounts", "attachments", "blocked_artifacts",
	"copied_artifacts", "materialized_artifacts", "messages", "preserved_symlinks",
	"projections", "skipped_artifacts" };

const char *mr_mailbox_manifest_outcome(enum mr_mailbox_export_list list)
{
	switch (list) {
	case MR_MAILBOX_EXPORT_COPIED:
		return "copied";
	case MR_MAILBOX_EXPORT_MATERIALIZED:
		return "materialized";
	case MR_MAILBOX_EXPORT_PRESERVED:
		return "preserved_symlink";
	case MR_MAILBOX_EXPORT_SKIPPED:
		return "skipped";
	default:
		return "blocked";
	}
}

void mr_mailbox_manifest_init(struct mr_mailbox_manifest *manifest, int dir)
{
	*manifest = (struct mr_mailbox_manifest){ .dir = dir };
	for (size_t i = 0; i < MR_LEN(manifest->lists); i++) {
		struct mr_mailbox_manifest_part *part = &manifest->lists[i];

		part->fd = -1;
		mr_buf_init(&part->buf, SPILL_BYTES + ENTRY_BYTES_MAX);
		mr_json_init(&part->json, &part->buf, STYLE);
		mr_json_begin_map(&part->json);
		mr_json_key(&part->json, names[i]);
		mr_json_begin_list(&part->json);
	}
}

void mr_mailbox_manifest_release(struct mr_mailbox_manifest *manifest)
{
	for (size_t i = 0; i < MR_LEN(manifest->lists); i++) {
		mr_fs_closep(&manifest->lists[i].fd);
		mr_buf_release(&manifest->lists[i].buf);
	}
}

static enum mr_code write_all(int fd, const char *data, size_t len, struct mr_err *err)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return mr_err_os(err, errno, "cannot write the export's manifest");
		data += n;
		len -= (size_t)n;
	}
	return MR_OK;
}

/* Move what is in memory to the part's file. */
static enum mr_code spill(struct mr_mailbox_manifest *manifest,
	struct mr_mailbox_manifest_part *part)
{
	static const char name[] = ".manifest.part";
	enum mr_code rc;

	if (part->fd < 0) {
		part->fd = openat(manifest->dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (part->fd < 0)
			return mr_err_os(&manifest->err, errno,
				"cannot make a file for the export's manifest");
		(void)unlinkat(manifest->dir, name, 0);
	}
	rc = write_all(part->fd, mr_buf_text(&part->buf), part->buf.len, &manifest->err);
	if (!rc) {
		part->written += part->buf.len;
		mr_buf_clear(&part->buf);
	}
	return rc;
}

static struct mr_json_writer *begin(struct mr_mailbox_manifest *manifest,
	enum mr_mailbox_export_list list)
{
	struct mr_mailbox_manifest_part *part = &manifest->lists[list];

	part->count++;
	if (part->buf.len > SPILL_BYTES && !manifest->err.code)
		(void)!spill(manifest, part);
	mr_json_begin_map(&part->json);
	return &part->json;
}

static void text(struct mr_json_writer *w, const char *key, const char *value)
{
	mr_json_key(w, key);
	mr_json_text(w, value);
}

static void text_opt(struct mr_json_writer *w, const char *key, const char *value)
{
	if (value)
		text(w, key, value);
}

void mr_mailbox_manifest_action(struct mr_mailbox_manifest *manifest,
	const struct mr_mailbox_export_action *action)
{
	struct mr_json_writer *w = begin(manifest, action->list);

	text_opt(w, "address", action->address);
	text_opt(w, "archive_path", action->archive_path);
	text(w, "artifact_kind", action->artifact_kind);
	text_opt(w, "attachment_id", action->attachment_id);
	if (action->target_exists) {
		mr_json_key(w, "details");
		mr_json_begin_map(w);
		mr_json_key(w, "target_exists");
		mr_json_bool(w, *action->target_exists);
		mr_json_end(w);
	}
	text_opt(w, "message_id", action->message_id);
	text(w, "outcome", mr_mailbox_manifest_outcome(action->list));
	text(w, "reason", action->reason);
	text_opt(w, "registration_id", action->registration_id);
	text_opt(w, "registration_status", action->registration_status);
	text_opt(w, "source_path", action->source_path);
	text_opt(w, "symlink_target", action->symlink_target);
	mr_json_end(w);
}

static void put_account(struct mr_json_writer *w, const struct mr_mailbox_export_account *account)
{
	const struct mr_mailbox_registration *row = account->row;

	text(w, "address", row->address);
	text(w, "archive_account_path", account->archive_path);
	text(w, "archive_local_sqlite_path", account->archive_local_path);
	text(w, "created_at_utc", row->created_at);
	text(w, "deactivated_at_utc", row->deactivated_at);
	text(w, "display_name", row->display_name);
	text(w, "mailbox_kind", mr_mailbox_kind_name(row->kind));
	text(w, "manifest_path_hint", row->manifest_path_hint);
	text(w, "owner_principal_id", row->owner);
	text(w, "registration_id", row->id);
	text(w, "replaced_by_registration_id", row->replaced_by);
	text(w, "role", row->role);
	mr_json_key(w, "source_mailbox_entry_is_symlink");
	mr_json_bool(w, account->entry_is_link);
	text(w, "source_mailbox_entry_path", row->entry_path);
	text(w, "source_mailbox_entry_target", account->entry_target);
	text(w, "source_mailbox_path", row->path);
	text(w, "status", mr_mailbox_status_name(row->status));
	mr_json_end(w);
}

void mr_mailbox_manifest_account(struct mr_mailbox_manifest *manifest,
	const struct mr_mailbox_export_account *account)
{
	put_account(begin(manifest, MR_MAILBOX_EXPORT_ACCOUNTS), account);
}

void mr_mailbox_manifest_account_json(struct mr_buf *buf,
	const struct mr_mailbox_export_account *account)
{
	struct mr_json_writer w;

	mr_json_init(&w, buf, STYLE);
	mr_json_begin_map(&w);
	put_account(&w, account);
	mr_buf_putc(buf, '\n');
}

void mr_mailbox_manifest_message(struct mr_mailbox_manifest *manifest,
	const struct mr_mailbox_export_message *message, const char *archive_path)
{
	struct mr_json_writer *w = begin(manifest, MR_MAILBOX_EXPORT_MESSAGES);

	text(w, "archive_path", archive_path);
	text(w, "created_at_utc", message->created_at);
	text(w, "in_reply_to", message->in_reply_to);
	text(w, "message_id", message->message_id);
	text(w, "sender_address", message->sender_address);
	text(w, "sender_principal_id", message->sender_principal_id);
	text(w, "sender_registration_id", message->sender_registration_id);
	text(w, "source_path", message->canonical_path);
	text(w, "subject", message->subject);
	text(w, "thread_id", message->thread_id);
	mr_json_end(w);
}

void mr_mailbox_manifest_projection(struct mr_mailbox_manifest *manifest,
	const struct mr_mailbox_registration *row,
	const struct mr_mailbox_export_projection *projection, const char *archive_path,
	enum mr_mailbox_export_list done, const char *reason)
{
	struct mr_json_writer *w = begin(manifest, MR_MAILBOX_EXPORT_PROJECTIONS);

	text(w, "action", mr_mailbox_manifest_outcome(done));
	text(w, "address", row->address);
	text(w, "archive_path", archive_path);
	text(w, "folder_name", projection->folder);
	text(w, "message_id", projection->message_id);
	text(w, "reason", reason);
	text(w, "registration_id", row->id);
	text(w, "source_path", projection->path);
	mr_json_end(w);
}

void mr_mailbox_manifest_attachment(struct mr_mailbox_manifest *manifest,
	const struct mr_mailbox_export_attachment *attachment, const char *source_path,
	bool target_exists, const char *archive_path, enum mr_mailbox_export_list done,
	const char *reason)
{
	struct mr_json_writer *w = begin(manifest, MR_MAILBOX_EXPORT_ATTACHMENTS);

	text(w, "action", mr_mailbox_manifest_outcome(done));
	text(w, "archive_path", archive_path);
	text(w, "attachment_id", attachment->attachment_id);
	text(w, "kind", attachment->kind);
	text(w, "label", attachment->label);
	text(w, "media_type", attachment->media_type);
	text(w, "message_id", attachment->message_id);
	mr_json_key(w, "ordinal");
	mr_json_int(w, attachment->ordinal);
	text(w, "reason", reason);
	text(w, "sha256", attachment->sha256);
	mr_json_key(w, "size_bytes");
	if (attachment->size_bytes < 0)
		mr_json_null(w);
	else
		mr_json_int(w, attachment->size_bytes);
	text(w, "source_path", source_path);
	mr_json_key(w, "target_exists");
	mr_json_bool(w, target_exists);
	mr_json_end(w);
}

/* What stands between two lists, or after the last, by the order of the keys. */
static void put_head(struct mr_json_writer *w, const struct mr_mailbox_manifest_head *head,
	enum mr_mailbox_export_list before)
{
	switch (before) {
	case MR_MAILBOX_EXPORT_MATERIALIZED:
		text(w, "exported_at_utc", head->exported_at);
		break;
	case MR_MAILBOX_EXPORT_SKIPPED:
		mr_json_key(w, "schema_version");
		mr_json_int(w, 1);
		mr_json_key(w, "selection");
		mr_json_begin_map(w);
		mr_json_key(w, "addresses");
		mr_json_begin_list(w);
		for (size_t i = 0; i < head->addresses->len; i++)
			mr_json_text(w, head->addresses->items[i]);
		mr_json_end(w);
		mr_json_key(w, "all_accounts");
		mr_json_bool(w, head->all_accounts);
		mr_json_end(w);
		break;
	case MR_MAILBOX_EXPORT_LISTS:
		text(w, "source_mailbox_root", head->source_root);
		mr_json_key(w, "source_protocol_version");
		if (head->protocol_version < 0)
			mr_json_null(w);
		else
			mr_json_int(w, head->protocol_version);
		text(w, "symlink_mode", head->preserve_symlinks ? "preserve" : "materialize");
		break;
	default:
		break;
	}
}

/*
 * Every part is a map of its own: "{" "\n  key: value ..." "\n}". What is between the braces, with
 * commas, makes the whole.
 */
enum { OPEN_BYTES = 1, CLOSE_BYTES = 2 };

static enum mr_code copy_part(int out, struct mr_mailbox_manifest_part *part, struct mr_err *err)
{
	char buf[COPY_BYTES];
	off_t at = OPEN_BYTES;
	const char *rest = mr_buf_text(&part->buf);
	size_t skip = part->written > 0 ? 0 : OPEN_BYTES;

	while ((size_t)at < part->written) {
		ssize_t n = pread(part->fd, buf, sizeof(buf), at);
		enum mr_code rc;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return mr_err_os(err, n < 0 ? errno : EIO,
				"cannot read the parts of the export's manifest");
		rc = write_all(out, buf, (size_t)n, err);
		if (rc)
			return rc;
		at += n;
	}
	return write_all(out, rest + skip, part->buf.len - skip - CLOSE_BYTES, err);
}

static enum mr_code copy_head(int out, const struct mr_mailbox_manifest_head *head,
	enum mr_mailbox_export_list before, bool *out_any, struct mr_err *err)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer w;
	enum mr_code rc;

	mr_buf_init(&buf, HEAD_BYTES_MAX);
	mr_json_init(&w, &buf, STYLE);
	mr_json_begin_map(&w);
	put_head(&w, head, before);
	*out_any = w.levels[w.depth].filled;
	mr_json_end(&w);
	rc = mr_buf_check(&buf, "the export's selection", err);
	if (rc || !*out_any)
		return rc;
	return write_all(out, buf.data + OPEN_BYTES, buf.len - OPEN_BYTES - CLOSE_BYTES, err);
}

static enum mr_code end_lists(struct mr_mailbox_manifest *manifest, struct mr_err *err)
{
	for (size_t i = 0; i < MR_LEN(manifest->lists); i++) {
		struct mr_mailbox_manifest_part *part = &manifest->lists[i];
		enum mr_code rc;

		mr_json_end(&part->json);
		mr_json_end(&part->json);
		rc = mr_buf_check(&part->buf, "an entry of the export's manifest", err);
		if (rc)
			return rc;
	}
	if (manifest->err.code)
		*err = manifest->err;
	return manifest->err.code;
}

enum mr_code mr_mailbox_manifest_write(struct mr_mailbox_manifest *manifest,
	const struct mr_mailbox_manifest_head *head, const char *name, struct mr_err *err)
{
	int out MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = end_lists(manifest, err);

	if (rc)
		return rc;
	out = openat(manifest->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0)
		return mr_err_os(err, errno, "cannot create the export's %s", name);
	rc = write_all(out, "{", 1, err);
	for (int i = 0; !rc && i <= MR_MAILBOX_EXPORT_LISTS; i++) {
		bool any = false;

		if (i > 0)
			rc = write_all(out, ",", 1, err);
		if (!rc)
			rc = copy_head(out, head, (enum mr_mailbox_export_list)i, &any, err);
		if (i == MR_MAILBOX_EXPORT_LISTS)
			break;
		if (!rc && any)
			rc = write_all(out, ",", 1, err);
		if (!rc)
			rc = copy_part(out, &manifest->lists[i], err);
	}
	return rc ? rc : write_all(out, "\n}\n", 3, err);
}
