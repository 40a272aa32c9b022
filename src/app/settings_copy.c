/* app/settings_copy.c - Reads the user's own settings file and leaves secrets out. */
#include "app/settings_copy.h"

#include "app/settings.h"
#include "base/buf.h"
#include "base/fs.h"
#include "text/database_url.h"
#include "text/value.h"
#include "text/yaml.h"

#include <stdlib.h>

enum { FILE_BYTES = 1 << 20 };

const char *mr_settings_own_path(struct mr_arena *arena)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	if (config && *config == '/')
		return mr_arena_printf(arena, "%s/mailroom/mailroom.yaml", config);
	return mr_str_is_empty(home)
		? NULL
		: mr_arena_printf(arena, "%s/.config/mailroom/mailroom.yaml", home);
}

static bool is_secret(const char *key)
{
	for (const struct mr_setting *s = mr_setting_table; s->key; s++) {
		if (mr_str_eq(s->key, key))
			return s->flags & MR_SETTING_SECRET;
	}
	return false;
}

/* A copy without secrets; `*removed` counts them. */
static struct mr_value plain(struct mr_arena *arena, const struct mr_value *value, const char *path,
	size_t *removed)
{
	struct mr_value copy = *value;

	if (value->kind != MR_MAP)
		return copy;
	copy.map.pairs = mr_arena_array(arena, value->map.len + 1, sizeof(*copy.map.pairs));
	copy.map.len = 0;
	for (size_t i = 0; i < value->map.len; i++) {
		const struct mr_pair *pair = &value->map.pairs[i];
		const char *key =
			*path ? mr_arena_printf(arena, "%s.%s", path, pair->key) : pair->key;

		/* Nor the address of a database with a password in it. */
		if (is_secret(key) ||
			(pair->value.kind == MR_TEXT &&
				!mr_str_eq(mr_database_url_shown(arena, pair->value.text),
					pair->value.text)))
			++*removed;
		else
			copy.map.pairs[copy.map.len++] = (struct mr_pair){ pair->key,
				plain(arena, &pair->value, key, removed) };
	}
	return copy;
}

enum mr_code mr_settings_copy(struct mr_arena *arena, bool with_secrets, const char **out_path,
	struct mr_bytes *out, struct mr_err *err)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const char *path = mr_settings_own_path(arena);
	const struct mr_value *settings = NULL;
	struct mr_bytes bytes = { NULL, 0 };
	struct mr_yaml_writer w;
	struct mr_value copy;
	size_t removed = 0;
	enum mr_code rc;

	*out_path = path;
	*out = bytes;
	if (!path || !mr_fs_exists(AT_FDCWD, path))
		return MR_OK;
	rc = mr_fs_read(arena, AT_FDCWD, path, FILE_BYTES, &bytes, err);
	if (!rc)
		rc = mr_yaml_parse(arena, bytes, NULL, &settings, err);
	if (rc)
		return mr_err_wrap(err, "%s", path);
	copy = plain(arena, settings, "", &removed);
	*out = bytes;
	if (with_secrets || !removed)
		return MR_OK;
	mr_buf_init(&text, FILE_BYTES);
	mr_buf_puts(&text, "# Secrets were left out of this copy.\n");
	mr_yaml_init(&w, &text);
	mr_yaml_value(&w, &copy);
	rc = mr_buf_check(&text, path, err);
	if (!rc)
		*out = (struct mr_bytes){ mr_arena_memdup(arena, text.data, text.len), text.len };
	return rc;
}
