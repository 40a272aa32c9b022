/* workspace/draft_reply.c - drafts that answer a message or pass it on. */
#include "base/buf.h"
#include "text/mime_build.h"
#include "workspace/case_private.h"
#include "workspace/draft_private.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/layout.h"
#include "workspace/record.h"
#include "workspace/refresh.h"
#include "workspace/templates.h"

#include <string.h>
#include <strings.h>

/* --- footers --- */

static bool has_footer(const char *body, const char *footer)
{
	size_t len = strlen(body), tail = strlen(footer);

	return tail <= len && memcmp(body + len - tail, footer, tail) == 0 &&
		(tail == len || body[len - tail - 1] == '\n');
}

const char *mr_work_draft_add_footer(struct mr_arena *arena, const char *body, const char *footer)
{
	const char *text = mr_work_draft_trim_end(arena, body);
	const char *end = footer ? mr_work_draft_trim_end(arena, footer) : "";

	if (!*end || has_footer(text, end))
		return body;
	return mr_arena_printf(arena, "%s%s%s\n", text, *text ? "\n\n" : "", end);
}

const char *mr_work_draft_cut_footer(struct mr_arena *arena, const char *body, const char *footer)
{
	const char *text = mr_work_draft_trim_end(arena, body);
	const char *end = footer ? mr_work_draft_trim_end(arena, footer) : "";

	if (!*end || !has_footer(text, end))
		return body;
	text = mr_arena_strndup(arena, text, strlen(text) - strlen(end));
	return mr_arena_printf(arena, "%s\n", mr_work_draft_trim_end(arena, text));
}

/* --- recipients --- */

/* Addresses as they are collected, each once. */
struct recipients {
	const struct mr_work_config *config;
	struct mr_mime_addresses seen; /* with room for all */
};

/* As a draft names it: a form that reads back as the same address. */
static const char *address_text(struct mr_arena *arena, const struct mr_mime_address *address)
{
	const char *text = mr_mime_address_text(arena, address);
	struct mr_buf quoted MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_mime_address read;
	struct mr_err err = { 0 };

	if (!mr_mime_mailbox_read(arena, text, &read, &err) &&
		mr_str_eq(read.email, address->email))
		return text;
	mr_buf_init(&quoted, MR_WORK_DRAFT_BYTES);
	for (const char *at = address->name ? address->name : ""; *at; at++) {
		if (*at == '"' || *at == '\\')
			mr_buf_putc(&quoted, '\\');
		mr_buf_putc(&quoted, *at);
	}
	text = mr_arena_printf(arena, "\"%s\" <%s>", mr_buf_text(&quoted), address->email);
	return address->name && !mr_mime_mailbox_read(arena, text, &read, &err) ? text
										: address->email;
}

static void add(struct mr_arena *arena, struct recipients *all, struct mr_mime_addresses from,
	bool with_own, struct mr_texts *out)
{
	for (size_t i = 0; i < from.len; i++) {
		bool is_there =
			!with_own && mr_work_is_own_address(all->config, from.items[i].email);

		for (size_t k = 0; k < all->seen.len; k++)
			is_there |= mr_str_eq_nocase(all->seen.items[k].email, from.items[i].email);
		if (is_there)
			continue;
		all->seen.items[all->seen.len++] = from.items[i];
		mr_work_ids_put(out, address_text(arena, &from.items[i]));
	}
}

static struct mr_mime_addresses read_all(struct mr_arena *arena, const struct mr_texts *texts)
{
	return mr_mime_addresses_read(arena, mr_str_join(arena, texts, ", "));
}

/* From the message itself where it is there, else from its record. */
struct parties {
	struct mr_mime_addresses from, reply_to, to, cc;
};
static struct parties parties_of(struct mr_arena *arena, const struct mr_work_record *record)
{
	const struct mr_mime *mime = &record->evidence.mime;

	if (record->evidence.eml.data)
		return (struct parties){ mime->from, mime->reply_to, mime->to, mime->cc };
	return (struct parties){ mr_mime_addresses_read(arena, record->from ? record->from : ""),
		read_all(arena, &record->reply_to), read_all(arena, &record->to),
		read_all(arena, &record->cc) };
}

static void choose_recipients(struct mr_arena *arena, const struct mr_work_config *config,
	const struct mr_work_record *record, bool to_all, struct mr_work_draft_file *out)
{
	struct parties parties = parties_of(arena, record);
	size_t room = parties.from.len + parties.reply_to.len + parties.to.len + parties.cc.len;
	struct recipients all = { .config = config };
	struct mr_mime_addresses author = parties.reply_to.len ? parties.reply_to : parties.from;

	all.seen.items = mr_arena_array(arena, room + 1, sizeof(*all.seen.items));
	out->to = mr_work_ids_room(arena, room);
	out->cc = mr_work_ids_room(arena, room);
	add(arena, &all, author, false, &out->to);
	/* Our own mail is followed up: to those who got it. */
	if (to_all || !out->to.len)
		add(arena, &all, parties.to, false, &out->to);
	if (to_all)
		add(arena, &all, parties.cc, false, &out->cc);
	if (!out->to.len)
		add(arena, &all, author, true, &out->to); /* a note to oneself */
}

/* --- text --- */

static const char *quote(struct mr_arena *arena, const char *body)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const char *at = mr_work_draft_trim_end(arena, body);

	mr_buf_init(&buf, SIZE_MAX);
	while (*at) {
		size_t len = strcspn(at, "\n");

		mr_buf_puts(&buf, buf.len ? "\n" : "");
		mr_buf_puts(&buf, strspn(at, " \t\r") >= len ? ">" : "> ");
		if (strspn(at, " \t\r") < len)
			mr_buf_add(&buf, at, len);
		at += len + (at[len] == '\n');
	}
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

enum mr_code mr_work_draft_scaffold(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_record *record, const char **out)
{
	const struct mr_work_config *config = NULL;
	struct mr_out context;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (rc)
		return rc;
	mr_out_init_tree(&context, cx->arena);
	mr_out_map(&context, NULL);
	mr_out_text(&context, "language", mr_work_language_names[config->language]);
	if (record) {
		const char *text = record->body_text ? record->body_text : "";

		mr_out_text(&context, "sender", record->from ? record->from : "");
		mr_out_text(&context, "quoted", quote(cx->arena, text));
	}
	mr_out_end(&context);
	return mr_work_template_render(cx, work,
		record ? MR_WORK_T_DRAFT_REPLY : MR_WORK_T_DRAFT_NEW, mr_out_tree(&context), out);
}

/* A header's text on one line, with a prefix unless it has one of `prefixes`. */
static const char *subject_of(struct mr_arena *arena, const char *subject, const char *prefix,
	const char *const *prefixes)
{
	char *text = mr_str_trim(arena, subject ? subject : "");

	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = ' ';
	for (; *prefixes; prefixes++)
		if (strncasecmp(text, *prefixes, strlen(*prefixes)) == 0)
			return text;
	return mr_str_trim(arena, mr_arena_printf(arena, "%s%s", prefix, text));
}

/* --- making them --- */

/* What a reply and a forward have in common. */
struct answer {
	struct mr_work_draft draft;
	struct mr_work_record record;
	const struct mr_work_config *config;
	const struct mr_work_identity *identity;
};

static enum mr_code begin(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_answer *request, const char *verb, struct answer *out)
{
	struct mr_work_draft *draft = &out->draft;
	enum mr_code rc = mr_work_case_open(cx, work, request->case_ref, &draft->collection);

	if (!rc)
		rc = mr_work_check_message_id(cx, request->message_id);
	if (rc)
		return rc;
	if (!mr_work_collection_item(&draft->collection, request->message_id))
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "message %s is not in case %s",
			request->message_id, draft->collection.uid);
	draft->name = mr_arena_printf(cx->arena, "%s-%s.md", verb, request->message_id);
	draft->path = mr_work_draft_path(cx->arena, draft->collection.path, draft->name);
	if (mr_fs_exists(work->dir, draft->path))
		return mr_work_refuse(cx, MR_WORK_DRAFT_EXISTS, "there is a draft %s already",
			draft->path);
	rc = mr_work_config_get(cx, work, &out->config);
	if (!rc)
		rc = mr_work_draft_identity(cx, work, request->identity, &out->identity);
	return rc ? rc : mr_work_record_make(cx, work, request->message_id, &out->record);
}

static enum mr_code put_body(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_answer *request, bool is_quoted, struct answer *answer)
{
	const char *body = NULL;
	enum mr_code rc = mr_work_draft_given_body(cx, request->body, request->body_file, &body);

	if (!rc && !body)
		rc = mr_work_draft_scaffold(cx, work, is_quoted ? &answer->record : NULL, &body);
	if (rc)
		return rc;
	answer->draft.file.body =
		mr_work_draft_add_footer(cx->arena, body, answer->identity->footer);
	return MR_OK;
}

static enum mr_code finish(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_draft_answer *request, struct answer *answer,
	struct mr_work_draft_created *result)
{
	struct mr_work_draft *draft = &answer->draft;
	enum mr_code rc = mr_work_draft_write(cx, &draft->file, &draft->bytes);

	if (rc)
		return rc;
	mr_work_change_write(change, draft->path, draft->bytes);
	/* A message that is answered is not archived on the server meanwhile. */
	mr_work_touch_message(change, request->message_id);
	*result = (struct mr_work_draft_created){ draft->collection.uid, request->message_id,
		draft->name, draft->path, answer->identity->identity };
	return mr_work_carry_out(cx, change);
}

enum mr_code mr_work_draft_reply(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_answer *request, struct mr_work_draft_created *result)
{
	static const char *const prefixes[] = { "re:", NULL };
	struct answer answer = { 0 };
	struct mr_work_change change;
	enum mr_code rc = begin(cx, work, request, "reply", &answer);

	if (rc)
		return rc;
	answer.draft.file = (struct mr_work_draft_file){ .kind = "draft",
		.case_uid = answer.draft.collection.uid,
		.send_intent = "reply",
		.reply_to_message_id = request->message_id,
		.identity = answer.identity->identity,
		.subject = subject_of(cx->arena, answer.record.subject, "Re: ", prefixes) };
	choose_recipients(cx->arena, answer.config, &answer.record, request->all,
		&answer.draft.file);
	rc = put_body(cx, work, request, true, &answer);
	if (rc)
		return rc;
	mr_work_change_begin(cx, work, "draft_write", &change);
	return finish(cx, &change, request, &answer, result);
}

enum mr_code mr_work_draft_forward(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_answer *request, struct mr_work_draft_created *result)
{
	static const char *const prefixes[] = { "fwd:", "fw:", NULL };
	struct answer answer = { 0 };
	struct mr_work_change change;
	const char *copy;
	enum mr_code rc = begin(cx, work, request, "forward", &answer);

	if (!rc && !answer.record.evidence.eml.data)
		rc = mr_work_refuse(cx, MR_WORK_MESSAGE_NOT_FOUND,
			"the raw message of %s is not there to be forwarded", request->message_id);
	if (rc)
		return rc;
	copy = mr_arena_printf(cx->arena, "files/%s.eml", request->message_id);
	answer.draft.file = (struct mr_work_draft_file){ .kind = "draft",
		.case_uid = answer.draft.collection.uid,
		.send_intent = "new",
		.identity = answer.identity->identity,
		.subject = subject_of(cx->arena, answer.record.subject, "Fwd: ", prefixes),
		.to = request->to,
		.attachments = mr_work_ids_one(cx->arena, copy) };
	rc = put_body(cx, work, request, false, &answer);
	if (rc)
		return rc;
	mr_work_change_begin(cx, work, "draft_write", &change);
	mr_work_change_write(&change, mr_work_join(cx->arena, answer.draft.collection.path, copy),
		answer.record.evidence.eml);
	return finish(cx, &change, request, &answer, result);
}
