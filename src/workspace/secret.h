/*
 * workspace/secret.h - a secret from where the configuration says it is, at the moment it is
 * needed.
 *
 * What is returned goes to a server and nowhere else: messages name the place of a secret, never
 * what is in it, nor what a program said that should have printed one.
 */
#pragma once

#include "workspace/config.h"

/* The attribute "service" of our entries in the keyring; their "account" is in the configuration.
 */
#define MR_WORK_KEYRING_SERVICE "mailroom"

enum {
	MR_WORK_SECRET_BYTES = 16 << 10,
	MR_WORK_SECRET_COMMAND_MS = 60000, /* somebody may have to type a passphrase meanwhile */
};

/* Looks up a variable of the environment, as getenv(3) does. */
typedef char *mr_work_environment(const char *name);

/* A path that begins with ~/ is in the home directory. */
const char *mr_work_home_path(struct mr_arena *arena, const char *path,
	mr_work_environment *environment);
/*
 * The secret; `*out` is NULL when no place is configured. `key` is what its members begin with, for
 * messages: "imap.password_secret". config_missing when it is not where it should be.
 */
MR_CHECK enum mr_code mr_work_secret_find(struct mr_ctx *cx, const struct mr_work_secret *secret,
	const char *key, mr_work_environment *environment, const char **out);
/* Put a secret into the keyring; config_missing when there is none. */
MR_CHECK enum mr_code mr_work_keyring_store(struct mr_ctx *cx, const char *account,
	const char *secret);
