/* workspace/draft_check.c - whether a draft can be sent. */
#include "base/fs.h"
#include "text/mime_build.h"
#include "workspace/draft_private.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/record.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static enum mr_code refuse(struct mr_ctx *cx, const struct mr_work_draft *draft, const char *what,
	const char *value)
{
	return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "%s: %s%s%s", draft->name, what,
		value ? " " : "", value ? value : "");
}

static enum mr_code check_addresses(struct mr_ctx *cx, const struct mr_work_draft *draft,
	const char *key, const struct mr_texts *list)
{
	for (size_t i = 0; i < list->len; i++) {
		struct mr_mime_address address;
		struct mr_err err = { 0 };

		if (mr_mime_mailbox_read(cx->arena, list->items[i], &address, &err))
			return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "%s: %s: %s", draft->name,
				key, err.msg);
	}
	return MR_OK;
}

static bool is_line(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

static enum mr_code check_head(struct mr_ctx *cx, const struct mr_work_draft *draft)
{
	const struct mr_work_draft_file *file = &draft->file;
	enum mr_code rc;

	if (!mr_str_eq(file->kind, "draft"))
		return refuse(cx, draft, "kind is not draft", NULL);
	if (!mr_str_eq(file->case_uid, draft->collection.uid))
		return refuse(cx, draft, "case_uid is not", draft->collection.uid);
	if (file->send_intent && !mr_str_eq(file->send_intent, "new") &&
		!mr_str_eq(file->send_intent, "reply"))
		return refuse(cx, draft, "send_intent is neither new nor reply but",
			file->send_intent);
	if (!file->subject)
		return refuse(cx, draft, "it has no subject", NULL);
	if (!is_line(file->subject))
		return refuse(cx, draft, "the subject is not one line of text", NULL);
	if (!file->to.len)
		return refuse(cx, draft, "it has no recipient in to", NULL);
	rc = check_addresses(cx, draft, "to", &file->to);
	return rc ? rc : check_addresses(cx, draft, "cc", &file->cc);
}

/* The message that is answered is of this case, and has an id that the answer can refer to. */
static enum mr_code check_parent(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft *draft)
{
	const char *id = draft->file.reply_to_message_id;
	struct mr_work_record parent = { 0 };
	enum mr_code rc;

	if (!id)
		return mr_str_eq(draft->file.send_intent, "reply")
			? refuse(cx, draft, "it is a reply without reply_to_message_id", NULL)
			: MR_OK;
	if (!mr_work_collection_item(&draft->collection, id))
		return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID,
			"%s: reply_to_message_id %s is no message of case %s", draft->name, id,
			draft->collection.uid);
	rc = mr_work_record_make(cx, work, id, &parent);
	if (rc == MR_ENOTFOUND)
		return refuse(cx, draft, "there is no message", id);
	if (!rc && !parent.rfc822_message_id)
		return refuse(cx, draft, "an answer needs the Message-ID that is missing in", id);
	return rc;
}

/* Plain components below the case. */
static bool is_plain_path(const char *path)
{
	if (!*path || *path == '/')
		return false;
	while (*path) {
		size_t len = strcspn(path, "/");

		if (!len || (len == 1 && path[0] == '.') || (len == 2 && !memcmp(path, "..", 2)))
			return false;
		path += len;
		if (*path && !*++path)
			return false;
	}
	return true;
}

enum mr_code mr_work_draft_file_open(struct mr_ctx *cx, struct mr_work *work, const char *case_path,
	const char *attachment, int *out_fd, int64_t *out_bytes)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1, fd MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_err err = { 0 };
	struct stat st;
	enum mr_code rc;

	if (!is_plain_path(attachment))
		return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID,
			"attachment %s is not a path below the case", attachment);
	rc = mr_fs_open_dir(work->dir, case_path, &dir, &err);
	if (!rc)
		rc = mr_fs_open_beneath(dir, attachment, O_RDONLY, 0, &fd, &err);
	if (rc == MR_ENOTFOUND)
		return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "there is no attachment %s",
			attachment);
	if (rc)
		return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "attachment %s: %s", attachment,
			err.msg);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "attachment %s is not a file",
			attachment);
	*out_bytes = st.st_size;
	*out_fd = mr_fs_take(&fd);
	return MR_OK;
}

static enum mr_code check_attachments(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft *draft)
{
	int64_t total = 0;

	for (size_t i = 0; i < draft->file.attachments.len; i++) {
		int fd MR_CLEANUP(mr_fs_closep) = -1;
		int64_t size = 0;
		enum mr_code rc = mr_work_draft_file_open(cx, work, draft->collection.path,
			draft->file.attachments.items[i], &fd, &size);

		if (rc)
			return rc;
		total += size;
		if (size > MR_WORK_DRAFT_ATTACHED_BYTES || total > MR_WORK_DRAFT_ATTACHED_BYTES)
			return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID,
				"%s: the attachments have more than %d bytes", draft->name,
				MR_WORK_DRAFT_ATTACHED_BYTES);
	}
	return MR_OK;
}

enum mr_code mr_work_draft_check(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft *draft)
{
	const struct mr_work_identity *identity = NULL;
	enum mr_code rc = check_head(cx, draft);

	if (!rc)
		rc = check_parent(cx, work, draft);
	if (!rc)
		rc = mr_work_draft_identity(cx, work, draft->file.identity, &identity);
	return rc ? rc : check_attachments(cx, work, draft);
}
