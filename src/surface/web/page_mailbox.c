/* surface/web/page_mailbox.c - pages: mailbox roots, their accounts and mail, and the wake-ups. */
#include "base/str.h"
#include "op/nouns.h"
#include "surface/web/pages.h"
#include "text/frontmatter.h"

#include <string.h>

enum { MESSAGES_SHOWN = 100, MESSAGES_MAX = 2000 };

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static struct mr_value text_value(const char *text)
{
	return (struct mr_value){ .kind = MR_TEXT, .text = text };
}

/* ---- which root ---- */

struct roots {
	struct mr_texts paths; /* the configured one first, then those of agents */
	const char *chosen;
	const struct mr_value *status; /* of the configured one */
	const struct mr_value *agents; /* or NULL */
	const char *agents_error;
};

/* Only a root that is known is opened: a link to this page decides nothing about this machine. */
static enum mr_code choose(struct mr_web_view *view, struct roots *roots)
{
	const char *wanted = mr_web_value(view, "root");

	roots->chosen = wanted ? wanted : roots->paths.items[0];
	if (mr_texts_has(&roots->paths, roots->chosen))
		return MR_OK;
	return mr_err_set(&view->err, MR_ENOTFOUND,
		"No agent of this machine has its mail in %s, and the setting mailbox.root names "
		"another directory.",
		wanted);
}

static enum mr_code find_roots(struct mr_web_view *view, struct roots *roots)
{
	static const struct mr_value none = { .kind = MR_MAP };
	const struct mr_value *list = NULL;
	const struct mr_value *result;
	enum mr_code rc = mr_web_run_args(view, &mr_op_mailbox_status, &none, &roots->status);

	if (rc)
		return rc;
	if (mr_web_run_args(view, &mr_op_agents_list, &none, &result))
		roots->agents_error = mr_arena_strdup(view->req->arena, view->err.msg);
	else
		list = roots->agents = mr_value_get(result, "agents");
	roots->paths.items =
		mr_arena_array(view->req->arena, 1 + (list ? list->list.len : 0), sizeof(char *));
	roots->paths.items[roots->paths.len++] = text_of(roots->status, "mailbox_root");
	for (size_t i = 0; list && i < list->list.len; i++) {
		const char *path = text_of(&list->list.items[i], "mailbox_root");

		if (path && !mr_texts_has(&roots->paths, path))
			roots->paths.items[roots->paths.len++] = path;
	}
	return choose(view, roots);
}

static void put_roots(struct mr_web_view *view, const struct roots *roots)
{
	mr_out_texts(&view->out, "roots", &roots->paths);
	mr_out_text(&view->out, "root", roots->chosen);
	mr_out_bool(&view->out, "is_configured", mr_str_eq(roots->chosen, roots->paths.items[0]));
}

/* Run an operation in the chosen root; `more` are its other arguments. */
static enum mr_code run_in(struct mr_web_view *view, const struct roots *roots,
	const struct mr_op *op, const struct mr_pair *more, size_t count,
	const struct mr_value **out)
{
	struct mr_pair *pairs = mr_arena_array(view->req->arena, count + 1, sizeof(*pairs));
	const struct mr_value args = { .kind = MR_MAP, .map = { pairs, count + 1 } };

	pairs[0] = (struct mr_pair){ "mailbox_root", text_value(roots->chosen) };
	if (count)
		memcpy(pairs + 1, more, count * sizeof(*pairs));
	return mr_web_run_args(view, op, &args, out);
}

/* ---- the roots, and the accounts of one ---- */

static enum mr_code fill_mailboxes(struct mr_web_view *view)
{
	struct roots roots = { 0 };
	const struct mr_value *status, *accounts;
	enum mr_code rc = find_roots(view, &roots);

	status = roots.status;
	if (!rc && roots.chosen != roots.paths.items[0])
		rc = run_in(view, &roots, &mr_op_mailbox_status, NULL, 0, &status);
	if (rc)
		return rc;
	put_roots(view, &roots);
	mr_out_value(&view->out, "status", status);
	if (roots.agents)
		mr_out_value(&view->out, "agents", roots.agents);
	mr_out_text(&view->out, "agents_error", roots.agents_error);
	if (!mr_value_get(status, "bootstrapped")->boolean)
		return MR_OK;
	if (run_in(view, &roots, &mr_op_mailbox_accounts_list, NULL, 0, &accounts))
		mr_out_text(&view->out, "accounts_error", view->err.msg);
	else
		mr_out_value(&view->out, "accounts", mr_value_get(accounts, "accounts"));
	return MR_OK;
}

const struct mr_web_page mr_web_page_mailboxes = {
	.pattern = "/mail/mailboxes",
	.template = "mailboxes.html",
	.nav = "mailboxes",
	.for_admins = true,
	.fill = fill_mailboxes,
};

/* ---- an account and its mail ---- */

static int64_t limit_of(const struct mr_web_view *view)
{
	const char *text = mr_web_value(view, "limit");
	int64_t limit;

	if (!text || !mr_str_to_int(text, &limit) || limit < 1)
		return MESSAGES_SHOWN;
	return limit < MESSAGES_MAX ? limit : MESSAGES_MAX;
}

static enum mr_code fill_account(struct mr_web_view *view)
{
	struct roots roots = { 0 };
	int64_t limit = limit_of(view);
	const struct mr_pair args[] = {
		{ "address", text_value(mr_web_value(view, "address")) },
		{ "limit", { .kind = MR_INT, .integer = limit } },
		{ "with_state", { .kind = MR_BOOL, .boolean = true } },
	};
	const struct mr_value *account, *messages;
	enum mr_code rc = find_roots(view, &roots);

	if (!rc)
		rc = run_in(view, &roots, &mr_op_mailbox_accounts_get, args, 1, &account);
	if (!rc)
		rc = run_in(view, &roots, &mr_op_mailbox_messages_list, args, MR_LEN(args),
			&messages);
	if (rc)
		return rc;
	put_roots(view, &roots);
	mr_out_value(&view->out, "account", mr_value_get(account, "account"));
	messages = mr_value_get(messages, "messages");
	mr_out_value(&view->out, "messages", messages);
	if ((int64_t)messages->list.len == limit)
		mr_out_int(&view->out, "more", limit < MESSAGES_MAX ? MESSAGES_MAX : 0);
	return MR_OK;
}

const struct mr_web_page mr_web_page_account = {
	.pattern = "/mail/mailboxes/account/{address}",
	.template = "mailbox-account.html",
	.nav = "mailboxes",
	.for_admins = true,
	.fill = fill_account,
};

/* A document without its head, whose members the page shows itself. */
static const char *body_of(const struct mr_web_view *view, const char *document)
{
	struct mr_frontmatter parts;
	struct mr_err ignored;

	if (mr_frontmatter_split(mr_bytes_text(document), strlen(document), &parts, &ignored))
		return document;
	return mr_arena_strndup(view->req->arena, (const char *)parts.body.data, parts.body.len);
}

static enum mr_code fill_letter(struct mr_web_view *view)
{
	struct roots roots = { 0 };
	const struct mr_pair args[] = {
		{ "address", text_value(mr_web_value(view, "address")) },
		{ "message_id", text_value(mr_web_value(view, "message_id")) },
	};
	const struct mr_value *found;
	enum mr_code rc = find_roots(view, &roots);

	if (!rc)
		rc = run_in(view, &roots, &mr_op_mailbox_messages_get, args, MR_LEN(args), &found);
	if (rc)
		return rc;
	put_roots(view, &roots);
	found = mr_value_get(found, "message");
	mr_out_value(&view->out, "message", found);
	mr_out_text(&view->out, "body_html",
		mr_web_markdown(view, body_of(view, text_of(found, "body_markdown"))));
	return MR_OK;
}

const struct mr_web_page mr_web_page_letter = {
	.pattern = "/mail/mailboxes/account/{address}/{message_id}",
	.template = "mailbox-message.html",
	.nav = "mailboxes",
	.for_admins = true,
	.fill = fill_letter,
};

const struct mr_web_page mr_web_page_notices = {
	.pattern = "/mail/mailboxes/notices",
	.template = "notices.html",
	.nav = "mailboxes",
	.for_admins = true,
	.asks = (const struct mr_web_ask[]){ { "ledger", &mr_op_agents_notices }, { 0 } },
};
