/* workspace/pull_resolve.c - finds the mailboxes of a pull on the server. */
#include "workspace/pull_resolve.h"

static enum mr_code find_by_use(struct mr_ctx *cx, const struct mr_work_server_mailboxes *list,
	const struct mr_work_mailbox *mailbox, const struct mr_work_server_mailbox **out)
{
	*out = NULL;
	for (size_t i = 0; i < list->len; i++) {
		if (!mr_work_server_has_attribute(&list->items[i], mailbox->special_use))
			continue;
		if (*out)
			return mr_work_refuse(cx, MR_WORK_IMAP_MAILBOX_AMBIGUOUS,
				"two mailboxes of the server are %s: %s and %s",
				mailbox->special_use, (*out)->name, list->items[i].name);
		*out = &list->items[i];
	}
	return MR_OK;
}

static enum mr_code refuse_unresolved(struct mr_ctx *cx, const struct mr_work_mailbox *mailbox)
{
	return mr_work_refuse(cx, MR_WORK_IMAP_MAILBOX_UNRESOLVED,
		"the server has no mailbox with the attribute %s, which %s is configured as",
		mailbox->special_use, mailbox->id);
}

static enum mr_code check_apart(struct mr_ctx *cx, const struct mr_work_resolved *all)
{
	for (size_t i = 0; i < all->len; i++)
		for (size_t k = i + 1; k < all->len; k++)
			if (mr_str_eq(all->items[i].name, all->items[k].name))
				return mr_work_refuse(cx, MR_WORK_IMAP_MAILBOX_AMBIGUOUS,
					"%s and %s are the same mailbox, %s",
					all->items[i].mailbox->id, all->items[k].mailbox->id,
					all->items[i].name);
	return MR_OK;
}

static enum mr_code resolve_one(struct mr_ctx *cx, const struct mr_work_mailbox *mailbox,
	const struct mr_work_server_mailboxes *list, bool is_named, struct mr_work_resolved *out)
{
	const struct mr_work_server_mailbox *found = NULL;
	enum mr_code rc;

	if (mailbox->mailbox_name) {
		out->items[out->len++] =
			(struct mr_work_resolved_mailbox){ mailbox, mailbox->mailbox_name,
				mr_imap_name_encode(cx->arena, mailbox->mailbox_name) };
		return MR_OK;
	}
	rc = find_by_use(cx, list, mailbox, &found);
	if (rc)
		return rc;
	if (found) {
		out->items[out->len++] =
			(struct mr_work_resolved_mailbox){ mailbox, found->name, found->wire };
		return MR_OK;
	}
	if (is_named)
		return refuse_unresolved(cx, mailbox);
	out->missing_ids.items[out->missing_ids.len++] = mailbox->id;
	return MR_OK;
}

bool mr_work_resolve_needs_server(const struct mr_work_targets *targets)
{
	for (size_t i = 0; i < targets->len; i++)
		if (!targets->items[i]->mailbox_name)
			return true;
	return false;
}

enum mr_code mr_work_resolve(struct mr_ctx *cx, struct mr_imap *session,
	const struct mr_work_targets *targets, bool are_named, struct mr_work_resolved *out)
{
	struct mr_work_server_mailboxes list = { 0 };
	enum mr_code rc = MR_OK;

	*out = (struct mr_work_resolved){
		.items = mr_arena_array(cx->arena, targets->len, sizeof(*out->items)),
		.missing_ids.items = mr_arena_array(cx->arena, targets->len + 1, sizeof(char *)),
	};
	if (mr_work_resolve_needs_server(targets))
		rc = mr_work_server_list(cx, session, &list);
	for (size_t i = 0; !rc && i < targets->len; i++)
		rc = resolve_one(cx, targets->items[i], &list, are_named, out);
	if (!rc && !out->len)
		rc = refuse_unresolved(cx, targets->items[0]);
	return rc ? rc : check_apart(cx, out);
}
