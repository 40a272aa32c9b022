/* workspace/secret.c - reads a secret from the environment, a file, a program or the keyring. */
#include "workspace/secret.h"

#include "base/fs.h"
#include "base/proc.h"
#include "workspace/error.h"

#include <fcntl.h>
#include <string.h>

#define KEYRING_PROGRAM "secret-tool"
#define KEYRING_PACKAGE "libsecret-tools"

const char *mr_work_home_path(struct mr_arena *arena, const char *path,
	mr_work_environment *environment)
{
	const char *home = mr_str_starts(path, "~/") ? environment("HOME") : NULL;

	return home ? mr_arena_printf(arena, "%s%s", home, path + 1) : path;
}

/* The first line is the secret. `where` says whose line it is. */
static enum mr_code take_line(struct mr_ctx *cx, struct mr_bytes bytes, const char *where,
	const char **out)
{
	const char *end = bytes.len ? memchr(bytes.data, '\n', bytes.len) : NULL;
	size_t len = end ? (size_t)(end - (const char *)bytes.data) : bytes.len;

	if (len && ((const char *)bytes.data)[len - 1] == '\r')
		len--;
	if (!len)
		return mr_work_refuse(cx, MR_WORK_CONFIG_MISSING, "the first line of %s is empty",
			where);
	if (len > MR_WORK_SECRET_BYTES)
		return mr_work_refuse(cx, MR_WORK_CONFIG_MISSING,
			"the first line of %s is longer than %d bytes", where,
			MR_WORK_SECRET_BYTES);
	if (memchr(bytes.data, '\0', len))
		return mr_work_refuse(cx, MR_WORK_CONFIG_MISSING,
			"the first line of %s has a NUL byte and is no secret", where);
	*out = mr_arena_strndup(cx->arena, (const char *)bytes.data, len);
	return MR_OK;
}

static enum mr_code from_environment(struct mr_ctx *cx, const char *name, const char *key,
	mr_work_environment *environment, const char **out)
{
	const char *value = environment(name);

	if (!value) {
		(void)mr_work_refuse(cx, MR_WORK_CONFIG_MISSING,
			"the environment variable %s, which %s_env names, is not set", name, key);
		return mr_work_hint(cx, "Set %s to the password of the %s account.", name,
			mr_str_starts(key, "imap.") ? "IMAP" : "SMTP");
	}
	*out = mr_arena_strdup(cx->arena, value);
	return MR_OK;
}

static enum mr_code from_file(struct mr_ctx *cx, const char *path, const char *key,
	const char **out)
{
	struct mr_bytes bytes;
	struct mr_err err = { 0 };

	if (mr_fs_read(cx->arena, AT_FDCWD, path, MR_WORK_SECRET_BYTES, &bytes, &err)) {
		(void)mr_work_refuse(cx, MR_WORK_CONFIG_MISSING,
			"the file %s, which %s_file names, cannot be read: %s", path, key, err.msg);
		return mr_work_hint(cx, "Write the secret into the first line of %s.", path);
	}
	return take_line(cx, bytes, mr_arena_printf(cx->arena, "the file %s", path), out);
}

/* Run a program that prints a secret, or takes one in. What it says besides is not repeated: it may
 * hold the secret. */
static enum mr_code run(struct mr_ctx *cx, const char *const *argv, const char *input,
	struct mr_proc_result *out)
{
	const struct mr_proc proc = {
		.argv = argv,
		.input = input ? mr_bytes_text(input) : (struct mr_bytes){ 0 },
		.timeout_ms = MR_WORK_SECRET_COMMAND_MS,
		.max_output = MR_WORK_SECRET_BYTES + 2,
	};
	struct mr_err err = { 0 };

	if (mr_proc_run(cx->arena, &proc, out, &err))
		return mr_work_refuse(cx, MR_WORK_CONFIG_MISSING, "%s cannot be run: %s", argv[0],
			err.msg);
	if (out->timed_out)
		return mr_work_refuse(cx, MR_WORK_CONFIG_MISSING,
			"%s did not end within %d seconds", argv[0],
			MR_WORK_SECRET_COMMAND_MS / 1000);
	return MR_OK;
}

static enum mr_code hint_command(struct mr_ctx *cx, const char *key)
{
	return mr_work_hint(cx,
		"Run the program that %s_command names by hand: it must print the secret as its "
		"first line, and end with status 0.",
		key);
}

static enum mr_code from_command(struct mr_ctx *cx, const struct mr_texts *command, const char *key,
	const char **out)
{
	const char **argv = mr_arena_array(cx->arena, command->len + 1, sizeof(*argv));
	struct mr_proc_result result;
	enum mr_code rc;

	memcpy(argv, command->items, command->len * sizeof(*argv));
	rc = run(cx, argv, NULL, &result);
	if (!rc && result.signal)
		rc = mr_work_refuse(cx, MR_WORK_CONFIG_MISSING,
			"%s, which %s_command names, was ended by signal %d", argv[0], key,
			result.signal);
	else if (!rc && result.exit_status)
		rc = mr_work_refuse(cx, MR_WORK_CONFIG_MISSING,
			"%s, which %s_command names, ended with status %d", argv[0], key,
			result.exit_status);
	if (!rc)
		rc = take_line(cx, result.out,
			mr_arena_printf(cx->arena, "what %s printed", argv[0]), out);
	return rc ? hint_command(cx, key) : MR_OK;
}

/* --- the keyring --- */

static enum mr_code run_keyring(struct mr_ctx *cx, const char *const *argv, const char *input,
	struct mr_proc_result *out)
{
	enum mr_code rc = run(cx, argv, input, out);

	if (!rc)
		return MR_OK;
	return mr_work_hint(cx,
		"The keyring is asked by %s of the package %s, in a session that has a keyring; "
		"without one, keep the secret in a file or let a command print it.",
		KEYRING_PROGRAM, KEYRING_PACKAGE);
}

static enum mr_code from_keyring(struct mr_ctx *cx, const char *account, const char *key,
	const char **out)
{
	const char *const argv[] = { KEYRING_PROGRAM, "lookup", "service", MR_WORK_KEYRING_SERVICE,
		"account", account, NULL };
	struct mr_proc_result result;
	enum mr_code rc = run_keyring(cx, argv, NULL, &result);

	if (rc)
		return rc;
	if (!result.exit_status && result.out.len)
		return take_line(cx, result.out, "what the keyring has", out);
	(void)mr_work_refuse(cx, MR_WORK_CONFIG_MISSING,
		"the keyring gives nothing for the account '%s', which %s_keyring names", account,
		key);
	return mr_work_hint(cx,
		"Unlock it, or store the secret with `%s store --label=Mailroom service %s account "
		"%s`.",
		KEYRING_PROGRAM, MR_WORK_KEYRING_SERVICE, account);
}

enum mr_code mr_work_keyring_store(struct mr_ctx *cx, const char *account, const char *secret)
{
	const char *const argv[] = { KEYRING_PROGRAM, "store",
		mr_arena_printf(cx->arena, "--label=Mailroom: %s", account), "service",
		MR_WORK_KEYRING_SERVICE, "account", account, NULL };
	struct mr_proc_result result;
	enum mr_code rc = run_keyring(cx, argv, secret, &result);

	if (rc)
		return rc;
	if (result.exit_status)
		return mr_work_refuse(cx, MR_WORK_CONFIG_MISSING,
			"the keyring did not take the secret: %s ended with status %d",
			KEYRING_PROGRAM, result.exit_status);
	return MR_OK;
}

enum mr_code mr_work_secret_find(struct mr_ctx *cx, const struct mr_work_secret *secret,
	const char *key, mr_work_environment *environment, const char **out)
{
	if (secret->env)
		return from_environment(cx, secret->env, key, environment, out);
	if (secret->file)
		return from_file(cx, mr_work_home_path(cx->arena, secret->file, environment), key,
			out);
	if (secret->command.len)
		return from_command(cx, &secret->command, key, out);
	if (secret->keyring)
		return from_keyring(cx, secret->keyring, key, out);
	*out = secret->text;
	return MR_OK;
}
