/* mailbox/credential.c - reads and writes the files of passwords. */
#include "mailbox/credential.h"

#include "base/buf.h"
#include "base/fs.h"
#include "mailbox/session.h"
#include "text/json.h"
#include "text/out.h"
#include "text/token.h"

#include <errno.h>
#include <string.h>

#define SESSION_DIR "mailbox-secrets"
#define RUNTIME_DIR "mailbox-credentials/stalwart"
#define SESSIONS    "sessions"

enum { FILE_BYTES = 65536, FILE_MODE = 0600, DIR_MODE = 0700, RANDOM_BYTES = 24 };

const char *mr_mailbox_credential_session(struct mr_arena *arena, const char *session)
{
	return mr_arena_printf(arena, "%s/" SESSION_DIR, session);
}

const char *mr_mailbox_credential_runtime(struct mr_arena *arena, const char *runtime)
{
	return mr_arena_printf(arena, "%s/" RUNTIME_DIR, runtime);
}

const char *mr_mailbox_credential_file(struct mr_arena *arena, const char *directory,
	const char *ref)
{
	return mr_arena_printf(arena, "%s/%s.json", directory, ref);
}

/* A manifest's text becomes the name of a file. */
static enum mr_code check_ref(struct mr_ctx *cx, const char *ref)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-";

	if (*ref && *ref != '.' && ref[strspn(ref, plain)] == '\0')
		return MR_OK;
	return mr_err_set(&cx->err, MR_EINVAL, "credential_ref `%.100s` cannot be that of a file",
		ref);
}

/* The file is its user's alone: whoever else can read it can read the mail. */
static enum mr_code check_mode(struct mr_ctx *cx, const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return mr_err_os(&cx->err, errno, "there is no credential at %s", path);
	if ((st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		return mr_err_set(&cx->err, MR_EPERM,
			"%s holds a password, and others than its owner can read it (mode %03o); "
			"run chmod 600 on it, and give the account a new password",
			path, (unsigned)(st.st_mode & 0777));
	return MR_OK;
}

enum mr_code mr_mailbox_credential_read(struct mr_ctx *cx, const char *directory, const char *ref,
	struct mr_mailbox_credential *out)
{
	const char *path = mr_mailbox_credential_file(cx->arena, directory, ref);
	struct mr_mailbox_credential found = { .file = path };
	const struct mr_value *value = NULL;
	enum mr_code rc = check_ref(cx, ref);

	if (!rc)
		rc = check_mode(cx, path);
	if (!rc)
		rc = mr_mailbox_session_load(cx, path, &value);
	if (rc)
		return rc;
	found.login = mr_mailbox_session_text(value, "login_identity");
	found.password = mr_mailbox_session_text(value, "password");
	if (!found.login || !found.password)
		return mr_err_set(&cx->err, MR_EFORMAT,
			"%s is no credential: it has no login_identity or no password", path);
	if (!mr_str_eq(mr_mailbox_session_text(value, "credential_ref"), ref))
		return mr_err_set(&cx->err, MR_EFORMAT, "%s holds another credential", path);
	*out = found;
	return MR_OK;
}

enum mr_code mr_mailbox_credential_write(struct mr_ctx *cx, const char *directory, const char *ref,
	const char *login, const char *password)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const char *path = mr_mailbox_credential_file(cx->arena, directory, ref);
	struct mr_out out;
	enum mr_code rc = check_ref(cx, ref);

	if (!rc)
		rc = mr_fs_make_dirs(AT_FDCWD, directory, DIR_MODE, &cx->err);
	if (rc)
		return rc;
	mr_buf_init(&buf, FILE_BYTES);
	mr_out_init_json(&out, &buf, MR_JSON_INDENTED | MR_JSON_ASCII);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "credential_ref", ref);
	mr_out_text(&out, "login_identity", login);
	mr_out_text(&out, "password", password);
	mr_out_end(&out);
	mr_buf_putc(&buf, '\n');
	rc = mr_buf_check(&buf, path, &cx->err);
	return rc ? rc
		  : mr_fs_write(AT_FDCWD, path, mr_buf_bytes(&buf), MR_FS_REPLACE, FILE_MODE,
			    &cx->err);
}

/* The runtime that has the session <runtime>/sessions/<backend>/<id>; NULL: it is elsewhere. */
static const char *runtime_of(struct mr_arena *arena, const char *session)
{
	char *path = mr_arena_strdup(arena, session);

	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(path, '/');

		if (!slash)
			return NULL;
		*slash = '\0';
	}
	if (!mr_str_ends(path, "/" SESSIONS))
		return NULL;
	path[strlen(path) - strlen("/" SESSIONS)] = '\0';
	return path;
}

enum mr_code mr_mailbox_credential_find(struct mr_ctx *cx, const char *session, const char *ref,
	struct mr_mailbox_credential *out)
{
	const char *own = mr_mailbox_credential_session(cx->arena, session);
	const char *runtime = runtime_of(cx->arena, session);
	enum mr_code rc = mr_mailbox_credential_read(cx, own, ref, out);
	struct mr_err why = cx->err;

	if (rc != MR_ENOTFOUND)
		return rc;
	if (runtime)
		rc = mr_mailbox_credential_read(cx,
			mr_mailbox_credential_runtime(cx->arena, runtime), ref, out);
	if (rc == MR_ENOTFOUND)
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"%s; bind the mailbox again with mailroom agents bind --transport stalwart",
			why.msg);
	if (rc)
		return rc;
	/* A session that cannot be written to goes on with the runtime's. */
	if (!mr_mailbox_credential_write(cx, own, ref, out->login, out->password))
		out->file = mr_mailbox_credential_file(cx->arena, own, ref);
	return MR_OK;
}

const char *mr_mailbox_credential_make(struct mr_ctx *cx)
{
	uint8_t bytes[RANDOM_BYTES];

	mr_rand_fill(cx->rand, bytes, sizeof(bytes));
	return mr_token_base64url(cx->arena, mr_bytes_of(bytes, sizeof(bytes)));
}
