/*
 * op/settings.h - what is configured, and where each value came from.
 *
 * Command line > environment > .env in the working directory > mailroom.yaml > default. All
 * settings are known beforehand, in one table; an unknown key or a value that does not fit is an
 * error that names it and its place. Settings are read once at start and never change.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "op/op.h"

enum mr_setting_flag { MR_SETTING_SECRET = 1, MR_SETTING_PATH = 2 /* ~/ is the home directory */ };

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
	const char *const *variables;       /* NAME=value, NULL-terminated */
	int cwd;                            /* where .env and mailroom.yaml are looked for */
	bool lenient_dotenv; /* .env may be another program's: what does not fit is passed over */
};

/*
 * mailroom.yaml is the file named on the command line, else by MAILROOM_CONFIG, else mailroom.yaml
 * in the working directory, else in ~/.config/mailroom. A file that was named must exist. In .env,
 * names that are nothing like ours are left to other programs.
 */
MR_CHECK enum mr_code mr_settings_load(struct mr_arena *arena,
	const struct mr_settings_sources *sources, const struct mr_settings **out,
	struct mr_err *err);

/* Asking for a key that is not in the table, or as another type, is a programming error. */
const char *mr_settings_text(const struct mr_settings *settings, const char *key);
int64_t mr_settings_int(const struct mr_settings *settings, const char *key);
bool mr_settings_bool(const struct mr_settings *settings, const char *key);
const struct mr_texts *mr_settings_texts(const struct mr_settings *settings, const char *key);
/* "default", "mailroom.yaml", ".env line 3", "environment", "command line". */
const char *mr_settings_source(const struct mr_settings *settings, const char *key);
/* As people write it; a secret that is set is "********". */
const char *mr_settings_shown(struct mr_arena *arena, const struct mr_settings *settings,
	const char *key);
