/* mailbox/binding.c - what was declared about a session's mailbox becomes one resolved binding. */
#include "mailbox/binding.h"

#include "base/utf8.h"
#include "mailbox/layout.h"
#include "mailbox/root.h"
#include "text/address.h"
#include "text/digest.h"
#include "text/jmap.h"
#include "text/time.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "HOUMAO-"

enum { NAME_CHARS = 40, REF_DIGITS = 16 };

const char *const mr_mailbox_transports[] = { "none", "filesystem", "stalwart", NULL };

static const char *const kinds[] = { "in_root", "symlink", NULL };

/* --- names --- */

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '_' || c == '-';
}

/* Runs of other characters are one '-'; no '-' or '_' twice in a row or at the ends. */
static char *sanitise(struct mr_arena *arena, const char *text, size_t max)
{
	char *out = mr_arena_strdup(arena, text);
	size_t len = 0;

	for (const char *c = text; *c; c++) {
		char next = is_name_char(*c) ? *c : '-';

		if ((next == '-' || next == '_') && (len == 0 || out[len - 1] == next))
			continue;
		out[len++] = next;
	}
	if (len > max)
		len = max;
	while (len && (out[len - 1] == '-' || out[len - 1] == '_'))
		len--;
	out[len] = '\0';
	return out + strspn(out, "-_");
}

/* A path is no name: the agent is then called after what it runs. */
static const char *name_of(struct mr_arena *arena, const char *agent_name, const char *tool,
	const char *role)
{
	const char *name = agent_name;

	if (mr_str_is_empty(name) || strpbrk(name, "/\\") || mr_str_ends(name, ".json"))
		name = sanitise(arena,
			mr_arena_printf(arena, "%s-%s", tool ? tool : "", role ? role : ""),
			NAME_CHARS);
	return *name ? name : "agent";
}

enum mr_code mr_mailbox_binding_identity(struct mr_ctx *cx, const char *agent_name,
	const char *tool, const char *role, const char **out_principal, const char **out_address)
{
	const char *name = name_of(cx->arena, agent_name, tool, role);
	const char *bare = mr_str_starts(name, PREFIX) ? name + strlen(PREFIX) : name;
	const char *local = sanitise(cx->arena, bare, SIZE_MAX);

	if (!*local || mr_str_starts(local, PREFIX))
		return mr_err_set(&cx->err, MR_EINVAL,
			"no address can be made of the name `%.100s`: give --address", name);
	*out_principal = mr_arena_printf(cx->arena, PREFIX "%s", bare);
	*out_address = mr_arena_printf(cx->arena, "%s@" MR_MAILBOX_DOMAIN, local);
	return MR_OK;
}

enum mr_code mr_mailbox_binding_check_name(struct mr_ctx *cx, const char *agent_name)
{
	const char *bare =
		mr_str_starts(agent_name, PREFIX) ? agent_name + strlen(PREFIX) : agent_name;

	if (!mr_str_eq(bare, &MR_MAILBOX_OPERATOR_PRINCIPAL[strlen(PREFIX)]))
		return MR_OK;
	return mr_err_set(&cx->err, MR_EINVAL,
		"no agent can be called `%.100s`: mail from " MR_MAILBOX_OPERATOR_PRINCIPAL
		" is that of the person who operates the agents; choose another name",
		agent_name);
}

/* --- resolving --- */

static enum mr_code check_blank(struct mr_ctx *cx, const char *name, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (!text)
		return MR_OK;
	mr_utf8_strip(&text, &len);
	if (len == 0)
		return mr_err_set(&cx->err, MR_EINVAL, "%s must not be blank", name);
	return MR_OK;
}

static enum mr_code check_blanks(struct mr_ctx *cx, const struct mr_mailbox_declared *declared)
{
	const struct {
		const char *name, *text;
	} texts[] = {
		{ "transport", declared->transport },
		{ "principal_id", declared->principal_id },
		{ "address", declared->address },
		{ "filesystem_root", declared->root },
		{ "mailbox_path", declared->path },
		{ "base_url", declared->base_url },
		{ "jmap_url", declared->jmap_url },
		{ "management_url", declared->management_url },
		{ "login_identity", declared->login },
	};
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < MR_LEN(texts) && !rc; i++)
		rc = check_blank(cx, texts[i].name, texts[i].text);
	return rc;
}

static enum mr_code find_transport(struct mr_ctx *cx, const char *word,
	enum mr_mailbox_transport *out)
{
	if (!word)
		return mr_err_set(&cx->err, MR_EINVAL,
			"transport is required: filesystem, stalwart, or none for no mailbox");
	for (unsigned i = 0; mr_mailbox_transports[i]; i++) {
		if (mr_str_eq(word, mr_mailbox_transports[i])) {
			*out = (enum mr_mailbox_transport)i;
			return MR_OK;
		}
	}
	return mr_err_set(&cx->err, MR_EINVAL,
		"transport must be filesystem, stalwart or none, not `%.50s`", word);
}

/* Absolute and without links, as far as it is there. */
static enum mr_code make_absolute(struct mr_ctx *cx, const char *path, const char **out)
{
	char real[PATH_MAX], cwd[PATH_MAX];

	if (realpath(path, real)) {
		*out = mr_arena_strdup(cx->arena, real);
		return MR_OK;
	}
	if (path[0] == '/') {
		*out = mr_arena_strdup(cx->arena, path);
		return MR_OK;
	}
	if (!getcwd(cwd, sizeof(cwd)))
		return mr_err_set(&cx->err, MR_EIO, "the working directory is not there any more");
	*out = mr_arena_printf(cx->arena, "%s/%s", cwd, path);
	return MR_OK;
}

static bool is_inside(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return mr_str_starts(path, dir) && (path[len] == '/' || path[len] == '\0');
}

static const char *entry_path(struct mr_arena *arena, const char *root, const char *address)
{
	return mr_arena_printf(arena, "%s/" MR_MAILBOX_MAILBOXES "/%s", root, address);
}

static enum mr_code resolve_filesystem(struct mr_ctx *cx,
	const struct mr_mailbox_declared *declared, struct mr_mailbox_binding *out)
{
	enum mr_code rc = MR_OK;

	if (!declared->root)
		return mr_err_set(&cx->err, MR_EINVAL, "filesystem_root is required");
	rc = make_absolute(cx, declared->root, &out->root);
	out->kind = declared->path ? MR_MAILBOX_SYMLINK : MR_MAILBOX_IN_ROOT;
	if (!rc && declared->path)
		rc = make_absolute(cx, declared->path, &out->path);
	else if (!rc)
		out->path = entry_path(cx->arena, out->root, out->address);
	if (!rc && declared->path && is_inside(out->path, out->root))
		rc = mr_err_set(&cx->err, MR_EINVAL,
			"mailbox_path must be outside the mailbox root %s", out->root);
	return rc;
}

/* A manifest is no place for a password. */
static enum mr_code check_url(struct mr_ctx *cx, const char *name, const char *url,
	const char **out)
{
	const char *text = mr_str_trim(cx->arena, url);
	const char *host = strstr(text, "://");

	if (host)
		host += strlen("://");
	if (host && memchr(host, '@', strcspn(host, "/?#")))
		return mr_err_set(&cx->err, MR_EINVAL,
			"%s must not hold a login or a password: it is stored for all to read",
			name);
	if (!host || !mr_jmap_url(cx->arena, text, ""))
		return mr_err_set(&cx->err, MR_EINVAL,
			"%s must be an address of http or https, such as https://mail.example.com",
			name);
	*out = text;
	return MR_OK;
}

/* A path below a base. */
static const char *below(struct mr_arena *arena, const char *base, const char *name)
{
	return mr_arena_printf(arena, "%s%s%s", base, mr_str_ends(base, "/") ? "" : "/", name);
}

const char *mr_mailbox_binding_credential_ref(struct mr_arena *arena, const char *jmap_url,
	const char *address)
{
	const char *both = mr_arena_printf(arena, "%s\n%s", jmap_url, address);
	struct mr_digest *digest = mr_digest_begin_sha256();
	char *name = mr_arena_alloc(arena, 4 * strlen(address) + 1);
	size_t len = 0;

	mr_digest_add(digest, both, strlen(both));
	for (const char *c = address; *c; c++) {
		if (*c == '@') {
			memcpy(name + len, "-at-", 4);
			len += 4;
		} else {
			name[len++] = *c == '.' ? '-' : *c;
		}
	}
	name[len] = '\0';
	return mr_arena_printf(arena, "stalwart-%s-%.*s", name, REF_DIGITS,
		mr_digest_end_hex(arena, digest));
}

static enum mr_code resolve_stalwart(struct mr_ctx *cx, const struct mr_mailbox_declared *declared,
	struct mr_mailbox_binding *out)
{
	const char *base = NULL;
	enum mr_code rc = MR_OK;

	if (!declared->base_url && (!declared->jmap_url || !declared->management_url))
		return mr_err_set(&cx->err, MR_EINVAL,
			"a mailbox on a JMAP server needs base_url, or both jmap_url and "
			"management_url");
	if (declared->base_url)
		rc = check_url(cx, "base_url", declared->base_url, &base);
	if (!rc && declared->jmap_url)
		rc = check_url(cx, "jmap_url", declared->jmap_url, &out->jmap_url);
	else if (!rc)
		out->jmap_url = below(cx->arena, base, "jmap");
	if (!rc && declared->management_url)
		rc = check_url(cx, "management_url", declared->management_url,
			&out->management_url);
	else if (!rc)
		out->management_url = below(cx->arena, base, "api");
	if (rc)
		return rc;
	out->login_identity =
		declared->login ? mr_str_trim(cx->arena, declared->login) : out->address;
	out->credential_ref =
		mr_mailbox_binding_credential_ref(cx->arena, out->jmap_url, out->address);
	return MR_OK;
}

const char *mr_mailbox_binding_version(struct mr_ctx *cx, const char *before)
{
	const char *now = mr_time_format(cx->arena, mr_clock_wall_us(cx->clock), MR_TIME_MICROS);
	struct mr_err err;
	int64_t us;

	if (!mr_str_eq(now, before) || mr_time_parse(now, MR_TIME_LENIENT, &us, &err))
		return now;
	return mr_time_format(cx->arena, us + 1, MR_TIME_MICROS);
}

/* Who it is: as declared, else by the agent's name. */
static enum mr_code resolve_identity(struct mr_ctx *cx, const struct mr_mailbox_declared *declared,
	struct mr_mailbox_binding *out)
{
	struct mr_address address;
	enum mr_code rc = MR_OK;

	if (!declared->principal_id || !declared->address)
		rc = mr_mailbox_binding_identity(cx, declared->agent_name, declared->tool,
			declared->role, &out->principal_id, &out->address);
	if (rc)
		return rc;
	if (declared->principal_id)
		out->principal_id = mr_str_trim(cx->arena, declared->principal_id);
	if (declared->address)
		out->address = declared->address;
	rc = mr_address_parse_new(cx->arena, out->address, &address, &cx->err);
	if (rc)
		return mr_err_wrap(&cx->err, "address");
	if (mr_str_eq(out->principal_id, MR_MAILBOX_OPERATOR_PRINCIPAL))
		return mr_err_set(&cx->err, MR_EINVAL,
			"the principal " MR_MAILBOX_OPERATOR_PRINCIPAL
			" is that of the person who operates the agents; give --principal-id");
	out->address = address.full;
	return MR_OK;
}

enum mr_code mr_mailbox_binding_resolve(struct mr_ctx *cx,
	const struct mr_mailbox_declared *declared, const char *before,
	struct mr_mailbox_binding *out)
{
	struct mr_mailbox_binding binding = { MR_MAILBOX_UNBOUND };
	enum mr_code rc = check_blanks(cx, declared);

	if (!rc)
		rc = find_transport(cx, declared->transport, &binding.transport);
	if (!rc && binding.transport != MR_MAILBOX_UNBOUND) {
		rc = resolve_identity(cx, declared, &binding);
		if (!rc && binding.transport == MR_MAILBOX_FILESYSTEM)
			rc = resolve_filesystem(cx, declared, &binding);
		else if (!rc)
			rc = resolve_stalwart(cx, declared, &binding);
		binding.version = mr_mailbox_binding_version(cx, before);
	}
	if (!rc)
		*out = binding;
	return rc;
}

/* --- as the manifest has it --- */

static bool read_filesystem(struct mr_arena *arena, const struct mr_cursor *at,
	struct mr_mailbox_binding *out)
{
	struct mr_cursor root = mr_cursor_key(at, "filesystem_root");
	struct mr_cursor kind = mr_cursor_key(at, "mailbox_kind");
	struct mr_cursor path = mr_cursor_key(at, "mailbox_path");
	const char *entry;
	size_t which = MR_MAILBOX_IN_ROOT;
	bool good = mr_mailbox_read_text(arena, &root, &out->root);

	if (mr_cursor_is_present(&kind))
		good &= mr_mailbox_read_choice(&kind, kinds, &which);
	good &= mr_mailbox_read_text_opt(arena, &path, &out->path);
	if (!good || !out->address)
		return false;
	out->kind = (enum mr_mailbox_kind)which;
	if (out->root[0] != '/')
		mr_cursor_refuse(&root, "must be an absolute path");
	entry = entry_path(arena, out->root, out->address);
	if (out->kind == MR_MAILBOX_SYMLINK && !out->path)
		mr_cursor_refuse(&path, "is required with mailbox_kind symlink");
	else if (out->kind == MR_MAILBOX_SYMLINK && is_inside(out->path, out->root))
		mr_cursor_refuse(&path, "must be outside the mailbox root");
	else if (out->kind == MR_MAILBOX_IN_ROOT && out->path && !mr_str_eq(out->path, entry))
		mr_cursor_refuse(&path, "must be %s", entry);
	else if (!out->path)
		out->path = entry;
	return at->issues->len == 0;
}

static bool read_stalwart(struct mr_arena *arena, const struct mr_cursor *at,
	struct mr_mailbox_binding *out)
{
	const struct {
		const char *key;
		const char **into;
	} texts[] = {
		{ "jmap_url", &out->jmap_url },
		{ "management_url", &out->management_url },
		{ "login_identity", &out->login_identity },
		{ "credential_ref", &out->credential_ref },
	};
	bool good = true;

	for (size_t i = 0; i < MR_LEN(texts); i++) {
		struct mr_cursor one = mr_cursor_key(at, texts[i].key);

		good &= mr_mailbox_read_text(arena, &one, texts[i].into);
	}
	return good;
}

bool mr_mailbox_binding_read(struct mr_arena *arena, const struct mr_cursor *at,
	struct mr_mailbox_binding *out)
{
	struct mr_cursor transport = mr_cursor_key(at, "transport");
	struct mr_cursor principal = mr_cursor_key(at, "principal_id");
	struct mr_cursor address = mr_cursor_key(at, "address");
	struct mr_cursor version = mr_cursor_key(at, "bindings_version");
	struct mr_mailbox_binding binding = { MR_MAILBOX_UNBOUND };
	size_t which = 0;
	bool good;

	if (!mr_cursor_map(at) ||
		!mr_mailbox_read_choice(&transport, mr_mailbox_transports, &which))
		return false;
	binding.transport = (enum mr_mailbox_transport)which;
	if (binding.transport == MR_MAILBOX_UNBOUND) {
		*out = binding;
		return true;
	}
	good = mr_mailbox_read_text(arena, &principal, &binding.principal_id);
	good &= mr_mailbox_read_address(arena, &address, &binding.address);
	good &= mr_mailbox_read_text(arena, &version, &binding.version);
	good &= binding.transport == MR_MAILBOX_FILESYSTEM ? read_filesystem(arena, at, &binding)
							   : read_stalwart(arena, at, &binding);
	if (good)
		*out = binding;
	return good;
}

struct mr_mailbox_binding mr_mailbox_binding_copy(struct mr_arena *arena,
	const struct mr_mailbox_binding *binding)
{
	return (struct mr_mailbox_binding){
		.transport = binding->transport,
		.principal_id = mr_arena_strdup(arena, binding->principal_id),
		.address = mr_arena_strdup(arena, binding->address),
		.version = mr_arena_strdup(arena, binding->version),
		.root = mr_arena_strdup(arena, binding->root),
		.kind = binding->kind,
		.path = mr_arena_strdup(arena, binding->path),
		.jmap_url = mr_arena_strdup(arena, binding->jmap_url),
		.management_url = mr_arena_strdup(arena, binding->management_url),
		.login_identity = mr_arena_strdup(arena, binding->login_identity),
		.credential_ref = mr_arena_strdup(arena, binding->credential_ref),
	};
}

struct mr_value mr_mailbox_binding_value(struct mr_arena *arena,
	const struct mr_mailbox_binding *binding, bool is_short)
{
	const char *const pairs[][2] = {
		{ "transport", mr_mailbox_transports[binding->transport] },
		{ "principal_id", binding->principal_id },
		{ "address", binding->address },
		{ "filesystem_root", binding->root },
		{ "jmap_url", binding->jmap_url },
		{ "management_url", binding->management_url },
		{ "login_identity", binding->login_identity },
		{ "credential_ref", binding->credential_ref },
		{ "bindings_version", binding->version },
		{ "mailbox_kind", binding->root && !is_short ? kinds[binding->kind] : NULL },
		{ "mailbox_path", is_short ? NULL : binding->path },
	};
	struct mr_value map = { .kind = MR_MAP };

	if (binding->transport == MR_MAILBOX_UNBOUND)
		return (struct mr_value){ .kind = MR_NULL };
	map.map.pairs = mr_arena_array(arena, MR_LEN(pairs), sizeof(*map.map.pairs));
	for (size_t i = 0; i < MR_LEN(pairs); i++) {
		if (pairs[i][1])
			map.map.pairs[map.map.len++] = (struct mr_pair){ pairs[i][0],
				{ .kind = MR_TEXT, .text = pairs[i][1] } };
	}
	return map;
}
