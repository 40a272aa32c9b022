/*
 * app/settings.c - Loads all settings from defaults, configuration files, .env, environment and
 * command line, and remembers where each value came from.
 */
#include "app/settings.h"

#include "base/fs.h"
#include "text/database_url.h"
#include "text/dotenv.h"
#include "text/yaml.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIG_BYTES = 256 * 1024 };

/* The kind of source a value came from. */
enum origin { FROM_US, FROM_OWN_FILE, FROM_PROJECT, FROM_NAMED_FILE, FROM_ENVIRONMENT, FROM_ARGV };

struct entry {
	enum origin origin;
	const char *source;
	const char *given; /* before ~/ was expanded */
	const char *shown;
	const char *text;
	int64_t integer;
	bool boolean;
	struct mr_texts texts;
	bool needs_home; /* and there is none */
};

/* A value of the working directory that it may not set; the newest first. */
struct ignored {
	struct ignored *next;
	int index;
	const char *file;  /* .env */
	const char *place; /* .env line 3 */
	const char *name;  /* as the file has it: HTTP_PORT, http.port */
	const char *text;
};

struct mr_settings {
	struct entry *entries; /* one for each of the table */
	const int *by_key;     /* their order by key: some are asked for in every request */
	struct ignored *ignored;
	struct mr_texts warnings;
};

/* The source that is being read. */
struct origin_of {
	enum origin origin;
	const char *file;
	bool is_lenient;
};

struct loading {
	struct mr_arena *arena;
	struct mr_settings *settings;
	const char *home;
	struct origin_of from;
	struct mr_err *err;
};

static int index_of_key(const char *key)
{
	for (int i = 0; i < mr_setting_count; i++) {
		if (strcmp(mr_setting_table[i].key, key) == 0)
			return i;
	}
	return -1;
}

static const char *nearest_key(struct mr_arena *arena, const char *key)
{
	size_t count = (size_t)mr_setting_count;
	const char **keys = mr_arena_array(arena, count, sizeof(*keys));

	for (int i = 0; i < mr_setting_count; i++)
		keys[i] = mr_setting_table[i].key;
	return mr_str_nearest(key, keys, count);
}

static const char *nearest_env(struct mr_arena *arena, const char *name)
{
	size_t count = (size_t)mr_setting_count;
	const char **names = mr_arena_array(arena, count, sizeof(*names));

	for (int i = 0; i < mr_setting_count; i++)
		names[i] = mr_setting_table[i].env;
	return mr_str_nearest(name, names, count);
}

static enum mr_code refuse_key(struct loading *ld, const char *source, const char *name,
	const char *near)
{
	if (near)
		return mr_err_set(ld->err, MR_EINVAL,
			"%s: there is no setting %s; did you mean %s?", source, name, near);
	return mr_err_set(ld->err, MR_EINVAL, "%s: there is no setting %s; see mailroom config",
		source, name);
}

static bool is_choice(const struct mr_setting *setting, const char *text)
{
	for (size_t i = 0; setting->choices && setting->choices[i]; i++) {
		if (mr_str_eq_nocase(setting->choices[i], text))
			return true;
	}
	return !setting->choices;
}

static const char *choices_of(struct mr_arena *arena, const struct mr_setting *setting)
{
	struct mr_texts all = { (const char **)setting->choices, 0 };

	while (setting->choices[all.len])
		all.len++;
	return mr_str_join(arena, &all, ", ");
}

/*
 * The only place that expands ~: at the start of a path, and of the path in a URL like
 * sqlite:///~/file, which then is sqlite:////HOME/file. Without HOME the text stays as it is, and
 * mr_settings_path() refuses it.
 */
static const char *at_home(const struct loading *ld, const char *text, struct entry *entry)
{
	const char *url = strstr(text, ":///~/");
	const char *tilde = url ? url + strlen(":///") : text;

	if (*tilde != '~' || (tilde[1] != '/' && tilde[1] != '\0'))
		return text;
	if (*ld->home)
		return mr_arena_printf(ld->arena, "%.*s%s%s", (int)(tilde - text), text, ld->home,
			tilde + 1);
	entry->needs_home = true;
	return text;
}

/* Read one value, given as text. Errors name the source and the setting, never a secret's value. */
static enum mr_code read_text(struct loading *ld, int i, const char *text, const char *source,
	struct entry *out)
{
	const struct mr_setting *setting = &mr_setting_table[i];
	struct entry entry = { .origin = ld->from.origin,
		.source = source,
		.given = text,
		.text = text,
		.shown = text };

	switch (setting->type) {
	case MR_TYPE_INT:
		if (!mr_str_to_int(text, &entry.integer) || entry.integer < setting->min ||
			entry.integer > setting->max)
			return mr_err_set(ld->err, MR_EINVAL,
				"%s: %s must be a number from %lld to %lld, not \"%s\"", source,
				setting->key, (long long)setting->min, (long long)setting->max,
				text);
		break;
	case MR_TYPE_BOOL:
		if (!mr_str_to_bool(text, &entry.boolean))
			return mr_err_set(ld->err, MR_EINVAL,
				"%s: %s must be true or false, not \"%s\"", source, setting->key,
				text);
		entry.shown = entry.boolean ? "true" : "false";
		break;
	case MR_TYPE_TEXTS:
		entry.texts = mr_str_split(ld->arena, text, ',');
		for (size_t k = 0; setting->flags & MR_SETTING_PATH && k < entry.texts.len; k++)
			entry.texts.items[k] = at_home(ld, entry.texts.items[k], &entry);
		entry.shown = mr_str_join(ld->arena, &entry.texts, ", ");
		break;
	default:
		if (!is_choice(setting, text))
			return mr_err_set(ld->err, MR_EINVAL,
				"%s: %s must be one of %s, not \"%s\"", source, setting->key,
				choices_of(ld->arena, setting), text);
		if (setting->flags & MR_SETTING_PATH)
			entry.text = at_home(ld, text, &entry);
		/* The address of a database may have a password. */
		if (setting->flags & MR_SETTING_PATH)
			entry.shown = mr_database_url_shown(ld->arena, entry.text);
		break;
	}
	if (setting->flags & MR_SETTING_SECRET)
		entry.shown = *text ? "********" : "";
	*out = entry;
	return MR_OK;
}

static enum mr_code take_text(struct loading *ld, int i, const char *text, const char *source)
{
	return read_text(ld, i, text, source, &ld->settings->entries[i]);
}

/* Take a value from a file; one that the working directory may not set is recorded as ignored.
 * `name` is the file's spelling. */
static enum mr_code take_from_file(struct loading *ld, int i, const char *name, const char *text,
	const char *source)
{
	struct ignored *ignored;
	struct entry unused;

	if (ld->from.origin != FROM_PROJECT || mr_setting_table[i].flags & MR_SETTING_PROJECT)
		return take_text(ld, i, text, source);
	/* A value that does not fit our setting is taken for another program's. */
	if (ld->from.is_lenient && read_text(ld, i, text, source, &unused))
		return MR_OK;
	ignored = mr_arena_alloc(ld->arena, sizeof(*ignored));
	*ignored = (struct ignored){ ld->settings->ignored, i, ld->from.file, source, name, text };
	ld->settings->ignored = ignored;
	return MR_OK;
}

/* A YAML value as the text take_text() reads. */
static const char *text_of(struct mr_arena *arena, const struct mr_value *value)
{
	struct mr_texts items = { NULL, 0 };

	switch (value->kind) {
	case MR_NULL:
		return "";
	case MR_TEXT:
		return value->text;
	case MR_LIST:
		items.items = mr_arena_array(arena, value->list.len + 1, sizeof(*items.items));
		for (; items.len < value->list.len; items.len++) {
			items.items[items.len] = text_of(arena, &value->list.items[items.len]);
			if (!items.items[items.len])
				return NULL;
		}
		return mr_str_join(arena, &items, ",");
	case MR_BOOL:
	case MR_INT:
	case MR_FLOAT:
		return value->plain;
	case MR_MAP:
		break;
	}
	return NULL;
}

static bool is_group(const char *path)
{
	for (int i = 0; i < mr_setting_count; i++) {
		size_t len = strlen(path);

		if (strncmp(mr_setting_table[i].key, path, len) == 0 &&
			mr_setting_table[i].key[len] == '.')
			return true;
	}
	return false;
}

static enum mr_code take_map(struct loading *ld, const struct mr_value *map, const char *prefix,
	const char *source)
{
	for (size_t i = 0; i < map->map.len; i++) {
		const struct mr_value *value = &map->map.pairs[i].value;
		const char *key = mr_arena_printf(ld->arena, "%s%s", prefix, map->map.pairs[i].key);
		int index = index_of_key(key);
		const char *text = text_of(ld->arena, value);
		enum mr_code rc;

		if (index >= 0 && !text)
			return mr_err_set(ld->err, MR_EINVAL, "%s: %s must not be an object",
				source, key);
		if (index >= 0)
			rc = take_from_file(ld, index, key, text, source);
		else if (value->kind == MR_MAP && is_group(key))
			rc = take_map(ld, value, mr_arena_printf(ld->arena, "%s.", key), source);
		else
			rc = refuse_key(ld, source, key, nearest_key(ld->arena, key));
		if (rc)
			return rc;
	}
	return MR_OK;
}

static enum mr_code load_yaml(struct loading *ld, enum origin origin, int dir, const char *path)
{
	const struct mr_value *config;
	struct mr_bytes text;

	ld->from = (struct origin_of){ origin, path, false };
	if (mr_fs_read(ld->arena, dir, path, CONFIG_BYTES, &text, ld->err))
		return mr_err_wrap(ld->err, "configuration");
	if (mr_yaml_parse(ld->arena, text, NULL, &config, ld->err))
		return mr_err_wrap(ld->err, "%s", path);
	if (config->kind == MR_NULL)
		return MR_OK;
	if (config->kind != MR_MAP)
		return mr_err_set(ld->err, MR_EINVAL, "%s: must be a map of settings", path);
	return take_map(ld, config, "", path);
}

static const char *env_get(const char *const *variables, const char *name)
{
	size_t len = strlen(name);

	for (; variables && *variables; variables++) {
		if (strncmp(*variables, name, len) == 0 && (*variables)[len] == '=')
			return *variables + len + 1;
	}
	return NULL;
}

/* The path of the user's own file, or NULL when no variable tells it. */
static const char *own_file(struct loading *ld, const char *const *variables)
{
	const char *config = env_get(variables, "XDG_CONFIG_HOME");

	/* A relative one would be a file of the working directory. */
	if (config && *config == '/')
		return mr_arena_printf(ld->arena, "%s/mailroom/mailroom.yaml", config);
	return *ld->home ? mr_arena_printf(ld->arena, "%s/.config/mailroom/mailroom.yaml", ld->home)
			 : NULL;
}

static bool is_one_file(int dir, const char *a, const char *b)
{
	struct stat one, other;

	return fstatat(dir, a, &one, 0) == 0 && fstatat(dir, b, &other, 0) == 0 &&
		one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static enum mr_code load_config_files(struct loading *ld, const struct mr_settings_sources *from)
{
	static const char here[] = "mailroom.yaml";
	const char *named =
		from->config_file ? from->config_file : env_get(from->variables, "MAILROOM_CONFIG");
	const char *own = own_file(ld, from->variables);
	enum mr_code rc = MR_OK;

	if (!mr_str_is_empty(named))
		return load_yaml(ld, FROM_NAMED_FILE, from->cwd, named);
	if (own && mr_fs_exists(from->cwd, own))
		rc = load_yaml(ld, FROM_OWN_FILE, from->cwd, own);
	if (!rc && mr_fs_exists(from->cwd, here) && !(own && is_one_file(from->cwd, own, here)))
		rc = load_yaml(ld, FROM_PROJECT, from->cwd, here);
	return rc;
}

static int index_of_env(const char *name)
{
	for (int i = 0; i < mr_setting_count; i++) {
		if (strcmp(mr_setting_table[i].env, name) == 0)
			return i;
	}
	return -1;
}

/*
 * The setting that a misspelt name in a shared .env was meant to be, or NULL. Names with HTTP_ are
 * most likely ours, and a token setting that is not applied is a security hole; elsewhere one
 * letter may make another program's name (XAI_API_KEY, GIT_AUTHOR_DATE), so only one slip is
 * considered.
 */
static const char *meant_env(struct mr_arena *arena, const char *name)
{
	const char *near = nearest_env(arena, name);

	if (near && !mr_str_starts(name, "HTTP_") && mr_str_distance(name, near, 2) > 1)
		return NULL;
	return near;
}

static enum mr_code load_dotenv(struct loading *ld, const struct mr_settings_sources *from)
{
	const char *file = from->env_file ? from->env_file : ".env";
	bool is_named = from->env_file != NULL, lenient = from->lenient_dotenv && !is_named;
	struct mr_dotenv env;
	struct mr_bytes text;

	ld->from = (struct origin_of){ is_named ? FROM_NAMED_FILE : FROM_PROJECT, file, lenient };
	if (!is_named && !mr_fs_exists(from->cwd, file))
		return MR_OK;
	if (mr_fs_read(ld->arena, from->cwd, file, MR_DOTENV_BYTES, &text, ld->err) ||
		mr_dotenv_parse(ld->arena, text, &env, ld->err))
		return lenient ? MR_OK : mr_err_wrap(ld->err, "%s", file);
	for (size_t i = 0; i < env.len; i++) {
		const struct mr_dotenv_entry *e = &env.entries[i];
		const char *source = mr_arena_printf(ld->arena, "%s line %zu", file, e->line);
		int index = index_of_env(e->name);
		const char *near = meant_env(ld->arena, e->name);
		enum mr_code rc = MR_OK;

		if (index >= 0)
			rc = take_from_file(ld, index, e->name, e->value, source);
		else if (near || mr_str_starts(e->name, "MAILROOM_"))
			/* The file may serve other programs too; what looks like ours must be ours.
			 */
			rc = refuse_key(ld, source, e->name, near);
		if (rc && !lenient)
			return rc;
	}
	return MR_OK;
}

static enum mr_code load_environ(struct loading *ld, const char *const *variables)
{
	ld->from = (struct origin_of){ .origin = FROM_ENVIRONMENT };
	for (int i = 0; i < mr_setting_count; i++) {
		const char *value = env_get(variables, mr_setting_table[i].env);
		const char *source =
			mr_arena_printf(ld->arena, "environment %s", mr_setting_table[i].env);

		if (value && take_text(ld, i, value, source))
			return ld->err->code;
	}
	return MR_OK;
}

static enum mr_code load_assignments(struct loading *ld, const struct mr_texts *assignments)
{
	ld->from = (struct origin_of){ .origin = FROM_ARGV };
	for (size_t i = 0; assignments && i < assignments->len; i++) {
		const char *text = assignments->items[i];
		const char *equals = strchrnul(text, '=');
		const char *key = mr_arena_strndup(ld->arena, text, (size_t)(equals - text));
		int index = index_of_key(key);

		if (!*equals)
			return mr_err_set(ld->err, MR_EINVAL,
				"command line: --set takes key=value, not \"%s\"", text);
		if (index < 0)
			return refuse_key(ld, "command line", key, nearest_key(ld->arena, key));
		if (take_text(ld, index, equals + 1, "command line"))
			return ld->err->code;
	}
	return MR_OK;
}

/* ---- what was put aside ---- */

/*
 * Is an ignored value worth a warning? Not when a stronger source decides, when the value is the
 * one in force, or when it must be another program's, as the address of its database server often
 * is.
 */
static bool is_worth_a_word(const struct loading *ld, const struct ignored *ignored)
{
	const struct entry *entry = &ld->settings->entries[ignored->index];

	if (entry->origin > FROM_PROJECT || mr_str_eq(entry->given, ignored->text))
		return false;
	return !mr_str_eq(mr_setting_table[ignored->index].key, "database.url") ||
		!strstr(ignored->text, "://") || mr_str_starts(ignored->text, "sqlite");
}

/* The last value of the file for that setting, or NULL. */
static const struct ignored *find_ignored(const struct mr_settings *settings, int index,
	const char *file)
{
	for (const struct ignored *i = settings->ignored; i; i = i->next) {
		if (i->index == index && (!file || mr_str_eq(i->file, file)))
			return i;
	}
	return NULL;
}

static void warn_about(struct loading *ld, const char *file, const char *option)
{
	struct mr_texts names = {
		mr_arena_array(ld->arena, (size_t)mr_setting_count, sizeof(*names.items)), 0
	};
	const char *them;

	for (int i = 0; i < mr_setting_count; i++) {
		const struct ignored *ignored = find_ignored(ld->settings, i, file);

		if (ignored && is_worth_a_word(ld, ignored))
			names.items[names.len++] = ignored->name;
	}
	if (!names.len)
		return;
	them = names.len > 1 ? "them" : "it";
	ld->settings->warnings.items[ld->settings->warnings.len++] = mr_arena_printf(ld->arena,
		"%s in the working directory sets %s, which only you may set: ignored. To accept "
		"%s, give %s %s, or set %s in the environment or in your own mailroom.yaml",
		file, mr_str_join(ld->arena, &names, ", "), them, option, file, them);
}

static void warn(struct loading *ld)
{
	ld->settings->warnings.items = mr_arena_array(ld->arena, 2, sizeof(const char *));
	warn_about(ld, ".env", "--env-file");
	warn_about(ld, "mailroom.yaml", "--config");
}

static int key_is(const void *key, const void *index)
{
	return strcmp(key, mr_setting_table[*(const int *)index].key);
}

static int by_key(const void *a, const void *b)
{
	return key_is(mr_setting_table[*(const int *)a].key, b);
}

static const int *order_by_key(struct mr_arena *arena)
{
	int *order = mr_arena_array(arena, (size_t)mr_setting_count, sizeof(*order));

	for (int i = 0; i < mr_setting_count; i++)
		order[i] = i;
	qsort(order, (size_t)mr_setting_count, sizeof(*order), by_key);
	return order;
}

enum mr_code mr_settings_load(struct mr_arena *arena, const struct mr_settings_sources *sources,
	const struct mr_settings **out, struct mr_err *err)
{
	struct loading ld = {
		.arena = arena,
		.settings = mr_arena_alloc(arena, sizeof(*ld.settings)),
		.home = env_get(sources->variables, "HOME"),
		.err = err,
	};
	enum mr_code rc = MR_OK;

	ld.settings->entries =
		mr_arena_array(arena, (size_t)mr_setting_count, sizeof(struct entry));
	ld.settings->by_key = order_by_key(arena);
	ld.home = ld.home ? ld.home : "";
	/* Each source overrides the ones before it. */
	for (int i = 0; i < mr_setting_count && !rc; i++)
		rc = take_text(&ld, i, mr_setting_table[i].fallback, "default");
	if (!rc)
		rc = load_config_files(&ld, sources);
	if (!rc)
		rc = load_dotenv(&ld, sources);
	if (!rc)
		rc = load_environ(&ld, sources->variables);
	if (!rc)
		rc = load_assignments(&ld, sources->assignments);
	if (rc)
		return rc;
	warn(&ld);
	*out = ld.settings;
	return MR_OK;
}

/* ---- asking ---- */

static int find(const struct mr_settings *settings, const char *key)
{
	const int *found = bsearch(key, settings->by_key, (size_t)mr_setting_count,
		sizeof(*settings->by_key), key_is);

	assert(found);
	return *found;
}

static const struct entry *get(const struct mr_settings *settings, const char *key)
{
	return &settings->entries[find(settings, key)];
}

const char *mr_settings_text(const struct mr_settings *settings, const char *key)
{
	int index = find(settings, key);

	assert(!(mr_setting_table[index].flags & MR_SETTING_PATH));
	return settings->entries[index].text;
}

enum mr_code mr_settings_path(const struct mr_settings *settings, const char *key, const char **out,
	struct mr_err *err)
{
	int index = find(settings, key);
	const struct entry *entry = &settings->entries[index];

	assert(mr_setting_table[index].flags & MR_SETTING_PATH);
	if (entry->needs_home)
		return mr_err_set(err, MR_EINVAL,
			"%s is %s, and HOME is not set: set HOME, or %s to a path without ~", key,
			entry->text, mr_setting_table[index].env);
	*out = entry->text;
	return MR_OK;
}

int64_t mr_settings_int(const struct mr_settings *settings, const char *key)
{
	return get(settings, key)->integer;
}

bool mr_settings_bool(const struct mr_settings *settings, const char *key)
{
	return get(settings, key)->boolean;
}

const struct mr_texts *mr_settings_texts(const struct mr_settings *settings, const char *key)
{
	return &get(settings, key)->texts;
}

const char *mr_settings_source(const struct mr_settings *settings, const char *key)
{
	return get(settings, key)->source;
}

const char *mr_settings_shown(struct mr_arena *arena, const struct mr_settings *settings,
	const char *key)
{
	return mr_arena_strdup(arena, get(settings, key)->shown);
}

bool mr_settings_is_lasting(const struct mr_settings *settings, const char *key)
{
	enum origin origin = get(settings, key)->origin;

	return origin == FROM_US || origin == FROM_OWN_FILE;
}

const char *mr_settings_ignored(const struct mr_settings *settings, const char *key)
{
	const struct ignored *ignored = find_ignored(settings, find(settings, key), NULL);

	return ignored ? ignored->place : NULL;
}

const struct mr_texts *mr_settings_warnings(const struct mr_settings *settings)
{
	return &settings->warnings;
}

enum mr_code mr_settings_may_send(const struct mr_settings *settings, const char *secret,
	const char *endpoint, struct mr_err *err)
{
	const struct entry *what = get(settings, secret), *where = get(settings, endpoint);

	/* All sources but the files of the working directory are trusted. */
	if (!*what->given || what->origin == FROM_PROJECT || where->origin != FROM_PROJECT)
		return MR_OK;
	return mr_err_set(err, MR_EPERM,
		"%s (%s) is not sent to %s: that came from %s, which is less trusted", secret,
		what->source, endpoint, where->source);
}
