/* mailbox/compose_file.c - describes a file that goes with a message. */
#include "base/fs.h"
#include "base/reach.h"
#include "base/utf8.h"
#include "mailbox/compose.h"
#include "mailbox/limits.h"
#include "text/digest.h"
#include "text/token.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 64 << 10, ID_DIGITS = 12 };

static void freep(char **text)
{
	free(*text);
}

/* Media types of files that agents usually attach; programs that open a file may find another
 * type. */
static const struct {
	const char *ending;
	const char *type;
} types[] = {
	{ ".c", "text/x-c" },
	{ ".csv", "text/csv" },
	{ ".diff", "text/x-diff" },
	{ ".gif", "image/gif" },
	{ ".gz", "application/gzip" },
	{ ".htm", "text/html" },
	{ ".html", "text/html" },
	{ ".jpeg", "image/jpeg" },
	{ ".jpg", "image/jpeg" },
	{ ".js", "text/javascript" },
	{ ".json", "application/json" },
	{ ".log", "text/plain" },
	{ ".md", "text/markdown" },
	{ ".patch", "text/x-diff" },
	{ ".pdf", "application/pdf" },
	{ ".png", "image/png" },
	{ ".py", "text/x-python" },
	{ ".sh", "application/x-sh" },
	{ ".svg", "image/svg+xml" },
	{ ".tar", "application/x-tar" },
	{ ".txt", "text/plain" },
	{ ".webp", "image/webp" },
	{ ".xml", "text/xml" },
	{ ".yaml", "application/yaml" },
	{ ".yml", "application/yaml" },
	{ ".zip", "application/zip" },
};

static const char *media_type(const char *name)
{
	const char *ending = strrchr(name, '.');

	/* A name that begins with its only dot has no ending. */
	for (size_t i = 0; ending && ending != name && i < MR_LEN(types); i++) {
		if (mr_str_eq_nocase(ending, types[i].ending))
			return types[i].type;
	}
	return "application/octet-stream";
}

/* Where the file is without links, if the caller may name its directory. */
static enum mr_code find(struct mr_ctx *cx, const char *path, const char **out)
{
	char *real MR_CLEANUP(freep) = realpath(path, NULL);
	const char *dir = NULL;
	size_t len;
	enum mr_code rc;

	if (!real && !cx->reach)
		return mr_err_os(&cx->err, errno, "cannot attach %s", path);
	if (real && cx->reach) {
		len = (size_t)(strrchr(real, '/') - real);
		rc = mr_reach_dir(cx, mr_arena_strndup(cx->arena, real, len ? len : 1), &dir);
		if (rc)
			return rc;
	}
	/* To callers with limited reach, missing and forbidden files look the same. */
	if (cx->reach && !dir)
		return mr_err_set(&cx->err, MR_EPERM,
			"cannot attach %s: there is no such file in a directory that you may name",
			path);
	*out = mr_arena_strdup(cx->arena, real);
	return MR_OK;
}

static enum mr_code digest(struct mr_ctx *cx, int fd, const char *path,
	struct mr_mailbox_attachment *out)
{
	struct mr_digest *sum = mr_digest_begin_sha256();
	uint8_t *chunk = mr_arena_alloc(cx->arena, CHUNK);
	int64_t size = 0;
	ssize_t got;

	while ((got = read(fd, chunk, CHUNK)) > 0 || (got < 0 && errno == EINTR)) {
		if (got < 0)
			continue;
		mr_digest_add(sum, chunk, (size_t)got);
		size += got;
	}
	if (got < 0) {
		int why = errno;

		mr_digest_end(sum, NULL);
		return mr_err_os(&cx->err, why, "cannot read %s", path);
	}
	out->sha256 = mr_digest_end_hex(cx->arena, sum);
	out->size_bytes = size;
	return MR_OK;
}

static enum mr_code check_text(struct mr_ctx *cx, const char *what, const char *text)
{
	size_t len = strlen(text);

	if (len > MR_MAILBOX_TEXT_BYTES)
		return mr_err_set(&cx->err, MR_ELIMIT,
			"the %s of an attachment must not be longer than %d bytes", what,
			MR_MAILBOX_TEXT_BYTES);
	if (!mr_utf8_is_valid(text, len, NULL))
		return mr_err_set(&cx->err, MR_EINVAL, "the %s of an attachment is not UTF-8",
			what);
	mr_utf8_strip(&text, &len);
	if (len == 0)
		return mr_err_set(&cx->err, MR_EINVAL, "the %s of an attachment must not be empty",
			what);
	return MR_OK;
}

enum mr_code mr_mailbox_compose_file(struct mr_ctx *cx, const char *path, const char *label,
	struct mr_mailbox_attachment *out)
{
	struct mr_mailbox_attachment file = { .kind = MR_MAILBOX_PATH_REF };
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = check_text(cx, "path", path);
	struct stat st;

	if (!rc && label)
		rc = check_text(cx, "label", label);
	if (!rc)
		rc = find(cx, path, &file.path);
	if (!rc)
		rc = check_text(cx, "path", file.path);
	if (rc)
		return rc;
	/* Refuses pipes and devices without opening them. */
	rc = mr_fs_open_real(file.path, O_RDONLY, &fd, &cx->err);
	if (!rc && fstat(fd, &st) != 0)
		rc = mr_err_os(&cx->err, errno, "cannot look at %s", file.path);
	if (!rc && !S_ISREG(st.st_mode))
		rc = mr_err_set(&cx->err, MR_EINVAL, "%s is not a regular file", file.path);
	if (!rc)
		rc = digest(cx, fd, file.path, &file);
	if (rc)
		return mr_err_wrap(&cx->err, "attachment");
	file.attachment_id = mr_token_prefixed(cx->arena, cx->rand, "att-", ID_DIGITS);
	file.label = label ? label : strrchr(file.path, '/') + 1;
	file.media_type = media_type(strrchr(file.path, '/') + 1);
	*out = file;
	return MR_OK;
}
