/* mailbox/account.c - makes an agent's account on a JMAP server, and stores its credential. */
#include "mailbox/account.h"

#include "base/buf.h"
#include "base/fs.h"
#include "mailbox/credential.h"
#include "mailbox/mail_jmap.h"
#include "mailbox/mail_open.h"
#include "net/http_client.h"
#include "text/address.h"
#include "text/json.h"
#include "text/out.h"
#include "text/token.h"

#include <string.h>
#include <strings.h>

enum {
	TIMEOUT_MS = 10000,
	ANSWER_BYTES = 32 << 20,
	BODY_BYTES = 65536,
	CA_BYTES = 4 << 20,
	PAGES = 1000
};

/* --- the management API --- */

struct manager {
	const struct mr_mailbox_account_request *request;
	const struct mr_mailbox_binding *binding;
	const char *base; /* its address, without an end of "/" */
	const char *authorization;
};

static struct manager open_manager(struct mr_arena *arena,
	const struct mr_mailbox_account_request *request, const struct mr_mailbox_binding *binding)
{
	const struct mr_mailbox_management *who = &request->management;
	struct manager out = { .request = request, .binding = binding };
	char *base = mr_arena_strdup(arena, binding->management_url);

	while (mr_str_ends(base, "/"))
		base[strlen(base) - 1] = '\0';
	out.base = base;
	if (!mr_str_is_empty(who->bearer)) {
		out.authorization = mr_arena_printf(arena, "Authorization: Bearer %s", who->bearer);
	} else if (!mr_str_is_empty(who->key)) {
		const char *both =
			mr_arena_printf(arena, "%s:%s", who->key, who->secret ? who->secret : "");

		out.authorization = mr_arena_printf(arena, "Authorization: Basic %s",
			mr_token_base64(arena, mr_bytes_text(both)));
	}
	return out;
}

static enum mr_code refuse(struct mr_ctx *cx, const struct manager *manager, int status,
	const struct mr_value *answer)
{
	const char *error = mr_value_text(answer, "error");
	const char *details = mr_value_text(answer, "details"),
		   *field = mr_value_text(answer, "field");

	if (status == 401 || status == 403)
		return mr_err_set(&cx->err, status == 401 ? MR_EAUTH : MR_EPERM,
			"the management API at %s refuses %s (status %d): set "
			"HOUMAO_STALWART_MANAGEMENT_BEARER_TOKEN, or "
			"HOUMAO_STALWART_MANAGEMENT_API_KEY and "
			"HOUMAO_STALWART_MANAGEMENT_API_SECRET, to those of an administrator; or give "
			"the password of an account that is there with --password-file",
			manager->base,
			manager->authorization ? "these credentials"
					       : "requests without credentials",
			status);
	if (status == 404)
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"there is no management API at %s (status 404): give its address with "
			"--management-url, or the password of an account that is there with "
			"--password-file",
			manager->base);
	if (error)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"the management API at %s refuses the account %s: %.100s%s%.100s%s%.200s",
			manager->base, manager->binding->address, error, field ? ", " : "",
			field ? field : "", details ? ", " : "", details ? details : "");
	return mr_err_set(&cx->err, MR_EREMOTE,
		"the management API at %s fails (status %d); try again later", manager->base,
		status);
}

/* One request; `body` NULL: none. `*out` is the answer's "data", or NULL. */
static enum mr_code ask(struct mr_ctx *cx, const struct manager *manager, const char *method,
	const char *path, const struct mr_value *body, const struct mr_value **out)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const char *headers[] = { "Accept: application/json",
		body ? "Content-Type: application/json" : manager->authorization,
		body ? manager->authorization : NULL, NULL };
	struct mr_http_client_request request = {
		.method = method,
		.url = mr_arena_printf(cx->arena, "%s%s", manager->base, path),
		.headers = headers,
		.timeout_ms = TIMEOUT_MS,
		.max_bytes = ANSWER_BYTES,
		.ca_file = manager->request->ca_file,
	};
	struct mr_json_limits limits = mr_json_default_limits;
	const struct mr_value *answer = NULL;
	struct mr_http_client_response response;
	struct mr_json_writer json;
	struct mr_err ignored;
	enum mr_code rc = MR_OK;

	mr_buf_init(&text, BODY_BYTES);
	if (body) {
		mr_json_init(&json, &text, MR_JSON_COMPACT);
		mr_json_value(&json, body);
		rc = mr_buf_check(&text, "the request", &cx->err);
		request.body = mr_buf_bytes(&text);
	}
	if (!rc)
		rc = mr_http_client_send(cx->arena, &request, &response, &cx->err);
	if (rc)
		return mr_err_wrap(&cx->err, "the management API");
	limits.max_bytes = ANSWER_BYTES;
	limits.max_nodes *= 10;
	if (mr_json_parse(cx->arena, response.body, &limits, &answer, &ignored))
		answer = NULL;
	if (response.status < 200 || response.status > 299 || mr_value_text(answer, "error"))
		return refuse(cx, manager, response.status, answer);
	*out = mr_value_get(answer, "data");
	return MR_OK;
}

static bool has_email(const struct mr_value *principal, const char *address)
{
	const struct mr_value *emails = mr_value_get(principal, "emails");

	/* One of them may stand alone. */
	if (emails && emails->kind == MR_TEXT)
		return strcasecmp(emails->text, address) == 0;
	for (size_t i = 0; emails && emails->kind == MR_LIST && i < emails->list.len; i++) {
		const struct mr_value *one = &emails->list.items[i];

		if (one->kind == MR_TEXT && strcasecmp(one->text, address) == 0)
			return true;
	}
	return false;
}

static bool has_name(const struct mr_value *principal, const char *name)
{
	const char *its = mr_value_text(principal, "name");

	return its && name && strcasecmp(its, name) == 0;
}

/* Which principal is looked for. */
struct wanted {
	const char *kind;    /* "domain", "individual" */
	const char *address; /* before the names; or NULL */
	const char *names[4];
};

static bool is_named(const struct mr_value *principal, const struct wanted *wanted)
{
	for (const char *const *name = wanted->names; *name; name++) {
		if (has_name(principal, *name))
			return true;
	}
	return false;
}

/* By its address: true. Else the first one by its name, of all pages, is in `*out`. */
static bool find_in_page(const struct mr_value *items, const struct wanted *wanted,
	const struct mr_value **out)
{
	for (size_t i = 0; i < items->list.len; i++) {
		const struct mr_value *one = &items->list.items[i];

		if (wanted->address && has_email(one, wanted->address)) {
			*out = one;
			return true;
		}
		if (!*out && is_named(one, wanted))
			*out = one;
	}
	return false;
}

/* `*out` NULL: there is none. A server may list them in pages, and says how many there are. */
static enum mr_code find_principal(struct mr_ctx *cx, const struct manager *manager,
	const struct wanted *wanted, const struct mr_value **out)
{
	const char *path = mr_arena_printf(cx->arena, "/principal?types=%s", wanted->kind);
	size_t seen = 0, size = 0;

	*out = NULL;
	for (int page = 2; page < PAGES; page++) {
		const struct mr_value *data = NULL, *items, *total;
		enum mr_code rc = ask(cx, manager, "GET", path, NULL, &data);

		if (rc)
			return rc;
		items = mr_value_get(data, "items");
		total = mr_value_get(data, "total");
		if (!items || items->kind != MR_LIST || find_in_page(items, wanted, out))
			break;
		if (!size)
			size = items->list.len;
		seen += items->list.len;
		if (!items->list.len || !total || total->kind != MR_INT ||
			(int64_t)seen >= total->integer)
			break;
		path = mr_arena_printf(cx->arena, "/principal?types=%s&page=%d&limit=%zu",
			wanted->kind, page, size);
	}
	return MR_OK;
}

static void put_empty(struct mr_out *out, const char *key)
{
	mr_out_list(out, key);
	mr_out_end(out);
}

static void put_one(struct mr_out *out, const char *key, const char *text)
{
	mr_out_list(out, key);
	if (text)
		mr_out_text(out, NULL, text);
	mr_out_end(out);
}

/* A domain, or with a password the account of a person. */
static enum mr_code create(struct mr_ctx *cx, const struct manager *manager, const char *name,
	const char *address, const char *password)
{
	static const char *const empty[] = { "urls", "memberOf", "lists", "members",
		"enabledPermissions", "disabledPermissions", "externalMembers" };
	const struct mr_value *data = NULL;
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "type", password ? "individual" : "domain");
	mr_out_text(&out, "name", name);
	mr_out_text(&out, "description", name);
	mr_out_int(&out, "quota", 0);
	put_one(&out, "secrets", password);
	put_one(&out, "emails", address);
	put_one(&out, "roles", password ? "user" : NULL);
	for (size_t i = 0; i < MR_LEN(empty); i++)
		put_empty(&out, empty[i]);
	mr_out_end(&out);
	return ask(cx, manager, "POST", "/principal", mr_out_tree(&out), &data);
}

static enum mr_code ensure_domain(struct mr_ctx *cx, const struct manager *manager,
	const char *domain)
{
	const struct wanted wanted = { .kind = "domain", .names = { domain } };
	const struct mr_value *found = NULL;
	enum mr_code rc = find_principal(cx, manager, &wanted, &found);

	return rc || found ? rc : create(cx, manager, domain, NULL, NULL);
}

static enum mr_code find_account(struct mr_ctx *cx, const struct manager *manager,
	const struct mr_value **out)
{
	const struct mr_mailbox_binding *binding = manager->binding;
	const struct wanted wanted = { .kind = "individual",
		.address = binding->address,
		.names = { binding->principal_id, binding->address, binding->login_identity } };

	return find_principal(cx, manager, &wanted, out);
}

static void put_action(struct mr_out *out, const char *action, const char *field)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "action", action);
	mr_out_text(out, "field", field);
}

/* Give the account what it lacks: the address, and a password when it gets a new one. */
static enum mr_code change(struct mr_ctx *cx, const struct manager *manager,
	const struct mr_value *account, const char *password)
{
	const struct mr_value *id = mr_value_get(account, "id"), *data = NULL;
	bool lacks_address = !has_email(account, manager->binding->address);
	const char *path;
	struct mr_out out;

	if (!lacks_address && !password)
		return MR_OK;
	if (id && id->kind == MR_INT)
		path = mr_arena_printf(cx->arena, "/principal/%lld", (long long)id->integer);
	else if (id && id->kind == MR_TEXT && !strpbrk(id->text, "/?#% "))
		path = mr_arena_printf(cx->arena, "/principal/%s", id->text);
	else
		return mr_err_set(&cx->err, MR_EREMOTE,
			"the management API at %s lists an account without an id", manager->base);
	mr_out_init_tree(&out, cx->arena);
	mr_out_list(&out, NULL);
	if (lacks_address) {
		put_action(&out, "addItem", "emails");
		mr_out_text(&out, "value", manager->binding->address);
		mr_out_end(&out);
	}
	if (password) {
		put_action(&out, "set", "secrets");
		put_one(&out, "value", password);
		mr_out_end(&out);
	}
	mr_out_end(&out);
	return ask(cx, manager, "PATCH", path, mr_out_tree(&out), &data);
}

/* The account is there, has the address, and with `password` that password. */
static enum mr_code manage(struct mr_ctx *cx, const struct mr_mailbox_account_request *request,
	struct mr_mailbox_binding *binding, const char *password,
	struct mr_mailbox_account_result *out)
{
	struct manager manager = open_manager(cx->arena, request, binding);
	const struct mr_value *account = NULL;
	struct mr_address address;
	enum mr_code rc = mr_address_parse(cx->arena, binding->address, &address, &cx->err);

	if (!rc)
		rc = ensure_domain(cx, &manager, address.domain);
	if (!rc)
		rc = find_account(cx, &manager, &account);
	if (rc)
		return rc;
	out->was_managed = true;
	if (account) {
		rc = change(cx, &manager, account, password);
	} else {
		/* One that was deleted gets a password again, also when one is stored. */
		if (!password)
			password = mr_mailbox_credential_make(cx);
		rc = create(cx, &manager, binding->principal_id, binding->address, password);
		if (!rc)
			rc = find_account(cx, &manager, &account);
		out->was_created = true;
	}
	if (rc)
		return rc;
	if (!account)
		return mr_err_set(&cx->err, MR_EREMOTE,
			"the management API at %s took the account %s, and does not list it",
			manager.base, binding->address);
	out->has_new_password = password != NULL;
	if (password)
		out->password = password;
	/* One logs in by the account's name. */
	if (!request->has_login && mr_value_text(account, "name"))
		binding->login_identity = mr_value_text(account, "name");
	return MR_OK;
}

/* --- the account itself --- */

/* Can its mail be read with these? */
static enum mr_code try_account(struct mr_ctx *cx, const struct mr_mailbox_account_request *request,
	const struct mr_mailbox_binding *binding, const char *password)
{
	const struct mr_mail_jmap_account account = {
		.address = binding->address,
		.principal_id = binding->principal_id,
		.jmap_url = binding->jmap_url,
		.login = binding->login_identity,
		.password = password,
		.ca_file = request->ca_file,
	};
	struct mr_mail mail MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;
	struct mr_mail_status status;
	enum mr_code rc = mr_mail_jmap_open(cx, &account, true, &mail);

	return rc ? rc : mr_mail_status(cx, &mail, &status);
}

static enum mr_code store(struct mr_ctx *cx, const struct mr_mailbox_account_request *request,
	const struct mr_mailbox_binding *binding, const char *password)
{
	const char *own = mr_mailbox_credential_session(cx->arena, request->session);
	const char *all = mr_mailbox_credential_runtime(cx->arena, request->runtime);
	struct mr_bytes ca;
	enum mr_code rc = mr_mailbox_credential_write(cx, all, binding->credential_ref,
		binding->login_identity, password);

	if (!rc)
		rc = mr_mailbox_credential_write(cx, own, binding->credential_ref,
			binding->login_identity, password);
	if (rc || !request->ca_file)
		return rc;
	rc = mr_fs_read(cx->arena, AT_FDCWD, request->ca_file, CA_BYTES, &ca, &cx->err);
	return rc ? rc
		  : mr_fs_write(AT_FDCWD,
			    mr_mail_open_ca_file(cx->arena, request->session,
				    binding->credential_ref),
			    ca, MR_FS_REPLACE, 0600, &cx->err);
}

static bool may_manage(const struct mr_mailbox_management *who)
{
	return !mr_str_is_empty(who->bearer) || !mr_str_is_empty(who->key);
}

enum mr_code mr_mailbox_account_prepare(struct mr_ctx *cx,
	const struct mr_mailbox_account_request *request, struct mr_mailbox_binding *binding,
	struct mr_mailbox_account_result *out)
{
	const char *all = mr_mailbox_credential_runtime(cx->arena, request->runtime);
	struct mr_mailbox_account_result result = { .password = request->password };
	struct mr_mailbox_credential known = { NULL };
	bool manages = !request->password && may_manage(&request->management);
	enum mr_code rc = MR_OK;

	if (!request->password) {
		rc = mr_mailbox_credential_read(cx, all, binding->credential_ref, &known);
		if (rc && rc != MR_ENOTFOUND)
			return rc;
		rc = MR_OK;
	}
	if (known.password) {
		result.password = known.password;
		if (!request->has_login)
			binding->login_identity = known.login;
	}
	if (manages || !result.password) {
		rc = manage(cx, request, binding,
			known.password ? NULL : mr_mailbox_credential_make(cx), &result);
	}
	if (!rc)
		rc = try_account(cx, request, binding, result.password);
	/* The password that is stored fits no more: the account gets another one. */
	if (rc == MR_EAUTH && manages && !result.has_new_password) {
		rc = manage(cx, request, binding, mr_mailbox_credential_make(cx), &result);
		if (!rc)
			rc = try_account(cx, request, binding, result.password);
	}
	if (!rc)
		rc = store(cx, request, binding, result.password);
	if (!rc)
		*out = result;
	return rc;
}
