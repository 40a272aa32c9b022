/* workspace/persona.c - the persona files in identities/, read with the configuration. */
#include "workspace/persona.h"
#include "base/utf8.h"
#include "text/frontmatter.h"
#include "text/yaml.h"
#include "workspace/config_private.h"
#include "workspace/error.h"
#include "workspace/layout.h"

#include <ctype.h>
#include <string.h>

static const char suffix[] = ".md";

/* YAML takes a name such as 007 or Yes for something else; here it is the text it was written as.
 */
static bool read_text(const struct mr_cursor *at, const char **out)
{
	if (at->value && at->value->plain && at->value->kind != MR_NULL) {
		*out = at->value->plain;
		return true;
	}
	return mr_cursor_text_opt(at, out);
}

static bool is_line_end(char c)
{
	return c == '\n' || c == '\r';
}

/* Without newlines before it and white space behind; NULL when nothing is left. */
static const char *tidy(struct mr_arena *arena, const char *text, size_t len)
{
	size_t from = 0;

	while (from < len && is_line_end(text[from]))
		from++;
	while (len > from && isspace((unsigned char)text[len - 1]))
		len--;
	return len > from ? mr_arena_strndup(arena, text + from, len - from) : NULL;
}

static void read_head(const struct mr_value *head, struct mr_issues *issues,
	struct mr_work_persona *out)
{
	static const char *const known[] = { "footer", "identity", "kind", "name", NULL };
	static const char *const kinds[] = { "identity", NULL };
	struct mr_cursor root = mr_cursor_root(head, issues);
	struct mr_cursor kind = mr_cursor_key(&root, "kind"), name = mr_cursor_key(&root, "name");
	struct mr_cursor slug = mr_cursor_key(&root, "identity");
	struct mr_cursor footer = mr_cursor_key(&root, "footer");
	const char *text = NULL;
	size_t chosen;

	if (!mr_cursor_map(&root))
		return;
	mr_cursor_only(&root, known);
	(void)mr_cursor_choice(&kind, kinds, &chosen);
	if (!read_text(&slug, &out->identity))
		(void)mr_cursor_text(&slug, &out->identity);
	if (read_text(&name, &text)) {
		out->name = mr_str_trim(issues->arena, text);
		if (!*out->name)
			mr_cursor_refuse(&name, "must not be blank");
	}
	if (read_text(&footer, &text))
		out->footer = tidy(issues->arena, text, strlen(text));
}

enum mr_code mr_work_persona_read(struct mr_arena *arena, struct mr_bytes file,
	struct mr_work_persona *out, struct mr_err *err)
{
	struct mr_work_persona persona = { 0 };
	struct mr_frontmatter parts;
	const struct mr_value *head;
	struct mr_issues issues;
	enum mr_code rc;

	/* An editor may leave the last line without its newline. */
	if (file.len && file.data[file.len - 1] != '\n') {
		char *copy = mr_arena_alloc(arena, file.len + 1);

		memcpy(copy, file.data, file.len);
		copy[file.len] = '\n';
		file = mr_bytes_of(copy, file.len + 1);
	}
	rc = mr_frontmatter_split(file, 0, &parts, err);
	if (rc)
		return rc;
	if (parts.form != MR_FRONTMATTER_YAML)
		return mr_err_set(err, MR_EFORMAT, "the front matter must be YAML");
	rc = mr_yaml_parse(arena, parts.head, NULL, &head, err);
	if (rc)
		return mr_err_wrap(err, "front matter");
	if (memchr(parts.body.data, '\0', parts.body.len) ||
		!mr_utf8_is_valid((const char *)parts.body.data, parts.body.len, NULL))
		return mr_err_set(err, MR_EFORMAT, "the notes are not UTF-8 text");
	mr_issues_init(&issues, arena);
	read_head(head, &issues, &persona);
	if (issues.len)
		return mr_err_issues(err, &issues, "front matter");
	persona.notes = tidy(arena, (const char *)parts.body.data, parts.body.len);
	*out = persona;
	return MR_OK;
}

static struct mr_work_identity *identity_of(struct mr_work_config *config, const char *slug)
{
	for (size_t i = 0; i < config->identity_count; i++)
		if (mr_str_eq(config->identities[i].identity, slug))
			return &config->identities[i];
	return NULL;
}

/* What is wrong with the file, or NULL; a persona that is right is added to its identity. */
static const char *load(struct mr_ctx *cx, struct mr_work *work, struct mr_work_config *config,
	const char *path, const char *slug)
{
	struct mr_work_identity *identity = identity_of(config, slug);
	struct mr_work_persona persona = { 0 };
	struct mr_bytes file = { 0 };
	struct mr_err err = { 0 };

	if (!identity)
		return mr_arena_printf(cx->arena, "there is no identity '%s' in %s", slug,
			MR_WORK_CONFIG);
	if (mr_fs_read(cx->arena, work->dir, path, MR_WORK_PERSONA_BYTES, &file, &err) ||
		mr_work_persona_read(cx->arena, file, &persona, &err))
		return mr_arena_strdup(cx->arena, err.msg);
	if (!mr_str_eq(persona.identity, slug))
		return mr_arena_printf(cx->arena,
			"it says that it is of the identity '%s', but its name says '%s'",
			persona.identity, slug);
	if (persona.name)
		identity->name = persona.name;
	identity->footer = persona.footer;
	identity->notes = persona.notes;
	return NULL;
}

enum mr_code mr_work_personas_load(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_config *config)
{
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_list(cx, work, MR_WORK_IDENTITIES, &names);

	if (rc || !names.len)
		return rc;
	config->persona_troubles =
		mr_arena_array(cx->arena, names.len, sizeof(*config->persona_troubles));
	for (size_t i = 0; i < names.len; i++) {
		size_t len = strlen(names.items[i]);
		const char *path, *slug, *trouble;
		struct mr_work_identity *identity;

		if (names.items[i][0] == '.' || !mr_str_ends(names.items[i], suffix))
			continue;
		slug = mr_arena_strndup(cx->arena, names.items[i], len - strlen(suffix));
		path = mr_work_path_identity(cx->arena, slug);
		trouble = load(cx, work, config, path, slug);
		if (!trouble)
			continue;
		config->persona_troubles[config->persona_trouble_count++] =
			(struct mr_work_persona_trouble){ path, trouble };
		identity = identity_of(config, slug);
		if (identity)
			identity->trouble = trouble;
	}
	return MR_OK;
}

enum mr_code mr_work_config_check_personas(struct mr_ctx *cx, const struct mr_work_config *config)
{
	const struct mr_work_persona_trouble *first = config->persona_troubles;

	if (!config->persona_trouble_count)
		return MR_OK;
	(void)mr_work_refuse(cx, MR_WORK_CONFIG_INVALID, "%s: %s", first->path, first->what);
	return mr_work_hint(cx, "Correct or remove the file %s.", first->path);
}
