/* mailbox/message.c - compares messages, and lists their recipients; message_read.c reads them. */
#include "mailbox/message.h"

#include <string.h>

/* A payload may leave out optional fields of a participant; those it has must be equal. */
static bool same_if_said(const char *a, const char *b)
{
	return !a || !b || mr_str_eq(a, b);
}

static bool same_principal(const struct mr_mailbox_principal *a,
	const struct mr_mailbox_principal *b)
{
	return mr_str_eq(a->principal_id, b->principal_id) && mr_str_eq(a->address, b->address) &&
		same_if_said(a->display_name, b->display_name) &&
		same_if_said(a->manifest_path_hint, b->manifest_path_hint) &&
		same_if_said(a->role, b->role);
}

static bool same_principals(const struct mr_mailbox_principals *a,
	const struct mr_mailbox_principals *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++) {
		if (!same_principal(&a->items[i], &b->items[i]))
			return false;
	}
	return true;
}

static bool same_attachments(const struct mr_mailbox_attachments *a,
	const struct mr_mailbox_attachments *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++) {
		const struct mr_mailbox_attachment *x = &a->items[i];
		const struct mr_mailbox_attachment *y = &b->items[i];

		if (!mr_str_eq(x->attachment_id, y->attachment_id) || x->kind != y->kind ||
			!mr_str_eq(x->path, y->path) || !mr_str_eq(x->media_type, y->media_type) ||
			!mr_str_eq(x->sha256, y->sha256) || x->size_bytes != y->size_bytes ||
			!mr_str_eq(x->label, y->label))
			return false;
	}
	return true;
}

static bool same_texts(const struct mr_texts *a, const struct mr_texts *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++) {
		if (!mr_str_eq(a->items[i], b->items[i]))
			return false;
	}
	return true;
}

static bool same_bytes(struct mr_bytes a, struct mr_bytes b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool mr_mailbox_message_same(const struct mr_mailbox_message *a, const struct mr_mailbox_message *b,
	bool bodies)
{
	return mr_str_eq(a->message_id, b->message_id) && mr_str_eq(a->thread_id, b->thread_id) &&
		mr_str_eq(a->in_reply_to, b->in_reply_to) &&
		same_texts(&a->references, &b->references) &&
		mr_str_eq(a->created_at_utc, b->created_at_utc) &&
		same_principal(&a->sender, &b->sender) && same_principals(&a->to, &b->to) &&
		same_principals(&a->cc, &b->cc) && same_principals(&a->reply_to, &b->reply_to) &&
		mr_str_eq(a->subject, b->subject) &&
		same_attachments(&a->attachments, &b->attachments) &&
		mr_value_equal(a->headers, b->headers) && (!bodies || same_bytes(a->body, b->body));
}

static const struct mr_mailbox_principal *find_address(const struct mr_mailbox_principals *in,
	const char *address)
{
	for (size_t i = 0; i < in->len; i++) {
		if (strcmp(in->items[i].address, address) == 0)
			return &in->items[i];
	}
	return NULL;
}

enum mr_code mr_mailbox_message_recipients(struct mr_arena *arena,
	const struct mr_mailbox_message *message, struct mr_mailbox_principals *out,
	struct mr_err *err)
{
	const struct mr_mailbox_principals *const lists[] = { &message->to, &message->cc };
	struct mr_mailbox_principals all = { 0 };

	all.items =
		mr_arena_array(arena, message->to.len + message->cc.len + 1, sizeof(*all.items));
	for (size_t list = 0; list < MR_LEN(lists); list++) {
		for (size_t i = 0; i < lists[list]->len; i++) {
			const struct mr_mailbox_principal *item = &lists[list]->items[i];
			const struct mr_mailbox_principal *known =
				find_address(&all, item->address);

			if (!known)
				all.items[all.len++] = *item;
			else if (strcmp(known->principal_id, item->principal_id) != 0)
				return mr_err_set(err, MR_EINVAL,
					"conflicting owners for recipient %s: %s and %s",
					item->address, known->principal_id, item->principal_id);
		}
	}
	*out = all;
	return MR_OK;
}

const char *mr_mailbox_message_date(struct mr_arena *arena,
	const struct mr_mailbox_message *message)
{
	return mr_arena_strndup(arena, message->created_at_utc, strlen("YYYY-MM-DD"));
}
