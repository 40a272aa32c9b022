/*
 * app/settings.h - what is configured, and where each value came from.
 *
 * Command line > environment > .env > mailroom.yaml > default. All settings are known beforehand,
 * in one table; an unknown key or a value that does not fit is an error that names it and its
 * place. Settings are read once at start and never change.
 *
 * Files in the working directory are not trusted: users who clone a repository start programs in
 * it, and did not write its .env. They may only set what the table marks MR_SETTING_PROJECT; any
 * other value of theirs is ignored, and mr_settings_warnings() says so. A file that the user names
 * explicitly is trusted, wherever it is.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "text/type.h"

enum mr_setting_flag {
	MR_SETTING_SECRET = 1,
	MR_SETTING_PATH = 2, /* ~/ is the home directory; read with mr_settings_path() */
	/*
	 * Files in the working directory may set it. Only for what can do no harm there: a setting
	 * that names an endpoint, a secret, a place to store or a program, or that weakens a
	 * protection, must not have it.
	 */
	MR_SETTING_PROJECT = 4,
};

struct mr_setting {
	const char *key;   /* in mailroom.yaml and for --set: http.port */
	const char *env;   /* in the environment and .env: HTTP_PORT */
	enum mr_type type; /* TEXT, INT, BOOL or TEXTS (comma-separated where it is one text) */
	const char *fallback;
	int64_t min, max;           /* for integers */
	const char *const *choices; /* for texts, NULL-terminated; or NULL */
	unsigned flags;
	const char *summary;
};

/* All settings; the last has no key, and is not counted. */
extern const struct mr_setting mr_setting_table[];
extern const int mr_setting_count;

struct mr_settings;

/* Where settings come from; passed in, so that tests need no real environment. */
struct mr_settings_sources {
	const struct mr_texts *assignments; /* "key=value" of the command line, later ones win */
	const char *config_file;            /* named on the command line, or NULL */
	const char *env_file;               /* the same, in place of .env; or NULL */
	const char *const *variables;       /* NAME=value, NULL-terminated */
	int cwd;                            /* where .env and mailroom.yaml are looked for */
	bool lenient_dotenv; /* .env may be another program's: values that do not fit are ignored */
};

/*
 * mailroom.yaml is the file named on the command line, else by MAILROOM_CONFIG. Without a name
 * there are two: the user's own in $XDG_CONFIG_HOME/mailroom (~/.config/mailroom), and over it the
 * one in the working directory. A file that was named must exist. In .env, names that do not
 * resemble ours are left to other programs.
 */
MR_CHECK enum mr_code mr_settings_load(struct mr_arena *arena,
	const struct mr_settings_sources *sources, const struct mr_settings **out,
	struct mr_err *err);

/* Asking for a key that is not in the table, or as another type, is a programming error; so is
 * asking for a path as text. */
const char *mr_settings_text(const struct mr_settings *settings, const char *key);
int64_t mr_settings_int(const struct mr_settings *settings, const char *key);
bool mr_settings_bool(const struct mr_settings *settings, const char *key);
const struct mr_texts *mr_settings_texts(const struct mr_settings *settings, const char *key);
/* MR_EINVAL when it begins with ~/ and HOME is not set: no directory is ever named "~". */
MR_CHECK enum mr_code mr_settings_path(const struct mr_settings *settings, const char *key,
	const char **out, struct mr_err *err);
/* "default", "mailroom.yaml", ".env line 3", "environment HTTP_PORT", "command line". */
const char *mr_settings_source(const struct mr_settings *settings, const char *key);
/* Would a program started elsewhere, without this command line and environment, get the same
 * value? True for defaults and for the user's own file. */
bool mr_settings_is_lasting(const struct mr_settings *settings, const char *key);
/* The place, such as ".env line 3", of a value in the working directory that is ignored because
 * that file may not set it; or NULL. */
const char *mr_settings_ignored(const struct mr_settings *settings, const char *key);
/* A sentence for each file in the working directory that set what it may not, with the names and
 * how to accept them. */
const struct mr_texts *mr_settings_warnings(const struct mr_settings *settings);
/* May the secret go to the endpoint? MR_EPERM when the endpoint came from a less trusted source
 * than the secret. Ask before every request that carries one. */
MR_CHECK enum mr_code mr_settings_may_send(const struct mr_settings *settings, const char *secret,
	const char *endpoint, struct mr_err *err);
/* As people write it; a secret that is set is "********". */
const char *mr_settings_shown(struct mr_arena *arena, const struct mr_settings *settings,
	const char *key);
