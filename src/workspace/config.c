/* workspace/config.c - reads the configuration and checks it as a whole. */
#include "workspace/config.h"

#include "text/value.h"
#include "workspace/config_private.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/name.h"
#include "workspace/offset.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const char *const mr_work_language_names[] = { "en-US", "zh-CN", NULL };
const char *const mr_work_direction_names[] = { "inbound", "outbound", NULL };
const char *const mr_work_import_as_names[] = { "triage", "spam", "trashed", NULL };
const char *const mr_work_reason_mode_names[] = { "required", "optional", NULL };
const char *const mr_work_item_field_names[] = { "time", "from", "to", "subject", "summary",
	"message_id", "archive_time", "link", NULL };

enum { LANGUAGE_BYTES = 64, SUBTAG_MAX = 8 };

bool mr_work_is_config_id(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
			return false;
	return *text && strlen(text) <= MR_WORK_NAME_BYTES;
}

enum mr_code mr_work_config_verdict(struct mr_ctx *cx, const struct mr_issues *issues,
	const char *what)
{
	struct mr_err err = { 0 };

	if (!issues->len)
		return MR_OK;
	mr_err_issues(&err, issues, what);
	return mr_work_refuse(cx, MR_WORK_CONFIG_INVALID, "%s", err.msg);
}

bool mr_work_is_blank(struct mr_arena *arena, const char *text)
{
	return mr_str_is_empty(mr_str_trim(arena, text));
}

/* --- workspace --- */

static bool is_language(const char *text)
{
	size_t len = 0;
	bool first = true;

	if (strlen(text) > LANGUAGE_BYTES)
		return false;
	for (const char *c = text;; c++) {
		if (*c && *c != '-') {
			if (first ? !isalpha((unsigned char)*c) : !isalnum((unsigned char)*c))
				return false;
			len++;
			continue;
		}
		if (len < (first ? 2u : 1u) || len > SUBTAG_MAX)
			return false;
		if (!*c)
			return true;
		first = false;
		len = 0;
	}
}

static bool is_chinese(const char *language)
{
	return strncasecmp(language, "zh", 2) == 0 && (!language[2] || language[2] == '-');
}

static void read_offset(const struct mr_cursor *at, struct mr_work_config *config)
{
	struct mr_arena *arena = at->issues->arena;

	if (!mr_cursor_text_opt(at, &config->timezone_utc_offset))
		return;
	if (!mr_work_offset_parse(config->timezone_utc_offset, &config->offset_minutes) ||
		!mr_str_eq(mr_work_offset_text(arena, config->offset_minutes),
			config->timezone_utc_offset))
		mr_cursor_refuse(at, "must be UTC or an offset such as +05:30, not '%s'",
			config->timezone_utc_offset);
}

static void read_workspace(const struct mr_cursor *root, struct mr_work_config *config)
{
	static const char *const known[] = { "language_bcp47", "timezone_utc_offset", NULL };
	struct mr_cursor at = mr_cursor_key(root, "workspace");
	struct mr_cursor language = mr_cursor_key(&at, "language_bcp47");
	struct mr_cursor offset = mr_cursor_key(&at, "timezone_utc_offset");

	if (!mr_cursor_map(&at))
		return;
	mr_cursor_only(&at, known);
	if (mr_cursor_text_opt(&language, &config->language_bcp47)) {
		if (!is_language(config->language_bcp47))
			mr_cursor_refuse(&language,
				"must be a language tag such as en-US, not '%s'",
				config->language_bcp47);
		else if (is_chinese(config->language_bcp47))
			config->language = MR_WORK_ZH_CN;
	}
	read_offset(&offset, config);
}

/* --- identities --- */

/* Enough to refuse what is no address at all; the server decides about the rest. */
static bool is_email(const char *text)
{
	const char *at = strchr(text, '@');

	if (!at || at == text || !at[1] || strchr(at + 1, '@') || at[1] == '.' ||
		mr_str_ends(text, ".") || strstr(at, ".."))
		return false;
	for (const char *c = text; *c; c++)
		if (isspace((unsigned char)*c) || iscntrl((unsigned char)*c) ||
			strchr("<>()[],;:\\\"", *c))
			return false;
	return true;
}

static void read_identity(const struct mr_cursor *at, struct mr_work_identity *out)
{
	static const char *const known[] = { "default", "email", "identity", "name", NULL };
	struct mr_cursor slug = mr_cursor_key(at, "identity"), name = mr_cursor_key(at, "name");
	struct mr_cursor email = mr_cursor_key(at, "email"), first = mr_cursor_key(at, "default");

	*out = (struct mr_work_identity){ .identity = "", .name = "", .email = "" };
	if (!mr_cursor_map(at))
		return;
	mr_cursor_only(at, known);
	if (mr_cursor_text(&slug, &out->identity) && !mr_work_is_config_id(out->identity))
		mr_cursor_refuse(&slug, "must be letters, digits, '_' and '-', not '%s'",
			out->identity);
	if (mr_cursor_text(&name, &out->name) && mr_work_is_blank(at->issues->arena, out->name))
		mr_cursor_refuse(&name, "must not be blank");
	if (mr_cursor_text(&email, &out->email) && !is_email(out->email))
		mr_cursor_refuse(&email, "must be an email address, not '%s'", out->email);
	mr_cursor_bool_opt(&first, &out->is_default);
	out->config_name = out->name;
}

static void check_identities(const struct mr_cursor *at, const struct mr_work_config *config)
{
	size_t defaults = 0;

	for (size_t i = 0; i < config->identity_count; i++) {
		defaults += config->identities[i].is_default;
		for (size_t k = 0; k < i; k++)
			if (mr_str_eq(config->identities[i].identity,
				    config->identities[k].identity))
				mr_cursor_refuse(at, "must not have the identity '%s' twice",
					config->identities[i].identity);
	}
	if (defaults != 1)
		mr_cursor_refuse(at, "must have exactly one identity with default true, not %zu",
			defaults);
}

static void read_identities(const struct mr_cursor *root, struct mr_work_config *config)
{
	struct mr_cursor at = mr_cursor_key(root, "identities");
	size_t len;

	if (!mr_cursor_list(&at, &len))
		return;
	if (!len || len > MR_WORK_IDENTITIES_MAX) {
		mr_cursor_refuse(&at, "must have between 1 and %d identities",
			MR_WORK_IDENTITIES_MAX);
		return;
	}
	config->identities = mr_arena_array(at.issues->arena, len, sizeof(*config->identities));
	config->identity_count = len;
	for (size_t i = 0; i < len; i++) {
		struct mr_cursor item = mr_cursor_item(&at, i);

		read_identity(&item, &config->identities[i]);
	}
	check_identities(&at, config);
}

/* --- cases, contacts, archive, audit --- */

/* A section that may be left out. */
static bool has_section(const struct mr_cursor *at, const char *const *known)
{
	if (!at->value || !mr_cursor_map(at))
		return false;
	mr_cursor_only(at, known);
	return true;
}

static void read_group(const struct mr_cursor *root, const char *section, const char **group)
{
	static const char *const known[] = { "default_group", NULL };
	struct mr_cursor at = mr_cursor_key(root, section);
	struct mr_cursor name = mr_cursor_key(&at, "default_group");
	struct mr_ctx probe = { .arena = root->issues->arena };

	if (has_section(&at, known) && mr_cursor_text_opt(&name, group) &&
		mr_work_check_segment(&probe, "group", *group))
		mr_cursor_refuse(&name, "must be a single path segment, not '%s'", *group);
}

static void read_archive(const struct mr_cursor *root, struct mr_work_config *config)
{
	static const char *const known[] = { "message_index", NULL };
	static const char *const known_index[] = { "item_fields", "sort", NULL };
	static const char *const sorts[] = { "date_desc", NULL };
	struct mr_cursor at = mr_cursor_key(root, "archive");
	struct mr_cursor index = mr_cursor_key(&at, "message_index");
	struct mr_cursor fields = mr_cursor_key(&index, "item_fields");
	struct mr_cursor sort = mr_cursor_key(&index, "sort");
	size_t chosen;

	if (!has_section(&at, known) || !has_section(&index, known_index))
		return;
	if (sort.value)
		(void)mr_cursor_choice(&sort, sorts, &chosen);
	if (!fields.value || !mr_cursor_texts(&fields, &config->item_fields))
		return;
	if (!config->item_fields.len)
		mr_cursor_refuse(&fields, "must have at least one field");
	for (size_t i = 0; i < config->item_fields.len; i++) {
		struct mr_cursor item = mr_cursor_item(&fields, i);

		(void)mr_cursor_choice(&item, mr_work_item_field_names, &chosen);
	}
}

static void read_audit(const struct mr_cursor *root, struct mr_work_config *config)
{
	static const char *const known[] = { "approval_mode", "reason_mode", NULL };
	struct mr_cursor at = mr_cursor_key(root, "audit");
	struct mr_cursor approval = mr_cursor_key(&at, "approval_mode");
	struct mr_cursor mode = mr_cursor_key(&at, "reason_mode");
	size_t chosen = 0;

	if (!mr_cursor_map(&at))
		return;
	mr_cursor_only(&at, known);
	if (mode.value && !mr_cursor_choice(&mode, mr_work_reason_mode_names, &chosen))
		return;
	config->reason_required = chosen == 0;
	chosen = 1;
	if (approval.value && approval.value->kind != MR_NULL)
		(void)mr_cursor_choice(&approval, mr_work_reason_mode_names, &chosen);
	config->approval_required = chosen == 0;
}

/* --- the document --- */

static enum mr_code check_schema(struct mr_ctx *cx, const struct mr_value *document)
{
	static const char *const legacy[] = { "imap_host", "imap_port", "imap_tls", "imap_username",
		"imap_password_secret", "smtp_host", "smtp_port", "smtp_starttls",
		"smtp_tls_wrapper", "smtp_username", "smtp_password_secret", "from", "send",
		"folders", "special_use", "notes", "imap_mailboxes", "pull", "push", "ui",
		"timezone" };
	const struct mr_value *name, *version;

	if (document->kind != MR_MAP)
		return mr_work_refuse(cx, MR_WORK_CONFIG_INVALID, "%s is not an object",
			MR_WORK_CONFIG);
	for (size_t i = 0; i < MR_LEN(legacy); i++)
		if (mr_value_get(document, legacy[i]))
			return mr_work_refuse(cx, MR_WORK_CONFIG_INVALID,
				"%s has the member '%s' of an older version", MR_WORK_CONFIG,
				legacy[i]);
	name = mr_value_get(document, "schema_name");
	version = mr_value_get(document, "schema_version");
	if (!name || name->kind != MR_TEXT || !mr_str_eq(name->text, "config") || !version ||
		version->kind != MR_INT || version->integer != 1)
		return mr_work_refuse(cx, MR_WORK_CONFIG_INVALID,
			"%s does not have schema_name \"config\" and schema_version 1",
			MR_WORK_CONFIG);
	return MR_OK;
}

enum mr_code mr_work_config_read(struct mr_ctx *cx, const struct mr_value *document,
	struct mr_work_config **out)
{
	static const char *const known[] = { "actions", "archive", "audit", "case", "contact",
		"identities", "imap", "mailboxes", "schema_name", "schema_version", "smtp",
		"workspace", NULL };
	static const char *fields[] = { "time", "from", "summary", NULL };
	struct mr_work_config *config = mr_arena_alloc(cx->arena, sizeof(*config));
	enum mr_code rc = check_schema(cx, document);
	struct mr_issues issues;
	struct mr_cursor root;

	if (rc)
		return rc;
	*config = (struct mr_work_config){ .case_group = "open",
		.contact_group = "people",
		.item_fields = { fields, 3 },
		.offset_minutes = mr_work_offset_of_host(mr_clock_wall_us(cx->clock)) };
	mr_issues_init(&issues, cx->arena);
	root = mr_cursor_root(document, &issues);
	mr_cursor_only(&root, known);
	read_workspace(&root, config);
	read_identities(&root, config);
	mr_work_servers_at(&root, config);
	mr_work_mailboxes_at(&root, config);
	mr_work_actions_at(&root, config);
	read_group(&root, "case", &config->case_group);
	read_group(&root, "contact", &config->contact_group);
	read_archive(&root, config);
	read_audit(&root, config);
	rc = mr_work_config_verdict(cx, &issues, MR_WORK_CONFIG);
	if (rc)
		return rc;
	config->document = mr_work_config_document(cx, config);
	*out = config;
	return MR_OK;
}

/* Generation 0.1 had no identities and said in smtp.from who sends. */
static bool is_of_0_1(const struct mr_value *document)
{
	return document->kind == MR_MAP &&
		(!mr_value_get(document, "identities") ||
			mr_value_get(mr_value_get(document, "smtp"), "from"));
}

enum mr_code mr_work_config_get(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config **out)
{
	const struct mr_value *document;
	struct mr_work_config *config;
	enum mr_code rc;

	if (work->config) {
		*out = work->config;
		return MR_OK;
	}
	rc = mr_work_read_json(cx, work, MR_WORK_CONFIG, &document);
	if (!rc && !document)
		rc = mr_work_refuse(cx, MR_WORK_STORE_ERROR, "%s is missing", MR_WORK_CONFIG);
	if (!rc) {
		rc = mr_work_config_read(cx, document, &config);
		if (rc && is_of_0_1(document))
			mr_work_hint(cx,
				"The workspace is of generation 0.1: bring it up to date with "
				"`afmail doctor repair --confirm`.");
	}
	if (!rc)
		rc = mr_work_personas_load(cx, work, config);
	if (rc)
		return rc;
	work->config = config;
	*out = config;
	return MR_OK;
}
