/*
 * mailbox/document.c - Reads and writes a message document: YAML front matter followed by a byte-
 * exact Markdown body.
 */
#include "mailbox/document.h"

#include "base/utf8.h"
#include "mailbox/limits.h"
#include "text/frontmatter.h"
#include "text/yaml.h"

#include <string.h>

/* Reading. */

static enum mr_code check_body(struct mr_bytes document, struct mr_bytes body, struct mr_err *err)
{
	const char *text = (const char *)body.data;
	size_t start = (size_t)(body.data - document.data);
	const char *nul = memchr(text, '\0', body.len);
	size_t bad;

	if (nul)
		return mr_err_set(err, MR_EFORMAT, "the body holds NUL at byte %zu",
			start + (size_t)(nul - text));
	if (!mr_utf8_is_valid(text, body.len, &bad))
		return mr_err_set(err, MR_EFORMAT, "the body is not UTF-8 at byte %zu",
			start + bad);
	return MR_OK;
}

static enum mr_code split(struct mr_bytes document, struct mr_frontmatter *out, struct mr_err *err)
{
	enum mr_code rc;

	if (document.len > MR_MAILBOX_DOCUMENT_BYTES)
		return mr_err_set(err, MR_ELIMIT, "the document is longer than %d bytes",
			MR_MAILBOX_DOCUMENT_BYTES);
	rc = mr_frontmatter_split(document, MR_MAILBOX_HEAD_BYTES, out, err);
	if (rc)
		return mr_err_wrap(err, "YAML front matter");
	if (out->form != MR_FRONTMATTER_YAML)
		return mr_err_set(err, MR_EFORMAT,
			"YAML front matter: line 1: a message begins with \"---\" alone");
	return check_body(document, out->body, err);
}

static enum mr_code parse_head(struct mr_arena *arena, struct mr_bytes document,
	struct mr_bytes head, const struct mr_value **out, struct mr_err *err)
{
	/* With its opening line, which YAML knows too: so the lines of an error are the file's. */
	size_t open = (size_t)(head.data - document.data);
	const struct mr_yaml_limits limits = {
		.max_bytes = MR_MAILBOX_HEAD_BYTES + open,
		.max_depth = mr_yaml_default_limits.max_depth,
		.max_nodes = mr_yaml_default_limits.max_nodes,
	};
	const struct mr_value *value;
	enum mr_code rc = mr_yaml_parse(arena, mr_bytes_of(document.data, open + head.len), &limits,
		&value, err);

	if (rc)
		return mr_err_wrap(err, "YAML front matter");
	if (value->kind != MR_MAP)
		return mr_err_set(err, MR_EFORMAT, "YAML front matter: must be a mapping, not %s",
			mr_kind_name(value->kind));
	*out = value;
	return MR_OK;
}

enum mr_code mr_mailbox_document_parse(struct mr_arena *arena, struct mr_bytes document,
	struct mr_mailbox_message *out, struct mr_err *err)
{
	struct mr_issues *issues = mr_arena_alloc(arena, sizeof(*issues));
	struct mr_mailbox_message message;
	struct mr_frontmatter parts;
	const struct mr_value *head = NULL;
	struct mr_cursor root;
	enum mr_code rc = split(document, &parts, err);

	if (!rc)
		rc = parse_head(arena, document, parts.head, &head, err);
	if (rc)
		return rc;
	mr_issues_init(issues, arena);
	root = mr_cursor_root(head, issues);
	if (!mr_mailbox_message_read(arena, &root, MR_MAILBOX_DOCUMENT, &message))
		return mr_err_issues(err, issues, "message document");
	message.body = parts.body;
	*out = message;
	return MR_OK;
}

/* Writing. */

static void put_text(struct mr_yaml_writer *w, const char *key, const char *text)
{
	mr_yaml_key(w, key);
	mr_yaml_text(w, text);
}

static void put_principal(struct mr_yaml_writer *w, const struct mr_mailbox_principal *principal)
{
	mr_yaml_begin_map(w);
	put_text(w, "principal_id", principal->principal_id);
	put_text(w, "address", principal->address);
	put_text(w, "display_name", principal->display_name);
	put_text(w, "manifest_path_hint", principal->manifest_path_hint);
	put_text(w, "role", principal->role);
	mr_yaml_end(w);
}

static void put_principals(struct mr_yaml_writer *w, const char *key,
	const struct mr_mailbox_principals *principals)
{
	mr_yaml_key(w, key);
	mr_yaml_begin_list(w);
	for (size_t i = 0; i < principals->len; i++)
		put_principal(w, &principals->items[i]);
	mr_yaml_end(w);
}

static void put_references(struct mr_yaml_writer *w, const struct mr_texts *references)
{
	mr_yaml_key(w, "references");
	mr_yaml_begin_list(w);
	for (size_t i = 0; i < references->len; i++)
		mr_yaml_text(w, references->items[i]);
	mr_yaml_end(w);
}

static void put_attachment(struct mr_yaml_writer *w, const struct mr_mailbox_attachment *attachment)
{
	mr_yaml_begin_map(w);
	put_text(w, "attachment_id", attachment->attachment_id);
	put_text(w, "kind",
		attachment->kind == MR_MAILBOX_MANAGED_COPY ? "managed_copy" : "path_ref");
	put_text(w, "path", attachment->path);
	put_text(w, "media_type", attachment->media_type);
	put_text(w, "sha256", attachment->sha256);
	mr_yaml_key(w, "size_bytes");
	if (attachment->size_bytes < 0)
		mr_yaml_null(w);
	else
		mr_yaml_int(w, attachment->size_bytes);
	put_text(w, "label", attachment->label);
	mr_yaml_end(w);
}

static void put_attachments(struct mr_yaml_writer *w,
	const struct mr_mailbox_attachments *attachments)
{
	mr_yaml_key(w, "attachments");
	mr_yaml_begin_list(w);
	for (size_t i = 0; i < attachments->len; i++)
		put_attachment(w, &attachments->items[i]);
	mr_yaml_end(w);
}

static void put_notify_block(struct mr_yaml_writer *w, const struct mr_mailbox_notify_block *block)
{
	mr_yaml_key(w, "notify_block");
	if (!block) {
		mr_yaml_null(w);
		return;
	}
	mr_yaml_begin_map(w);
	put_text(w, "text", block->text);
	put_text(w, "placement", block->prepend ? "prepend" : "append");
	mr_yaml_end(w);
}

static void put_notify_auth(struct mr_yaml_writer *w, const struct mr_mailbox_notify_auth *auth)
{
	mr_yaml_key(w, "notify_auth");
	if (!auth) {
		mr_yaml_null(w);
		return;
	}
	mr_yaml_begin_map(w);
	put_text(w, "scheme", auth->scheme);
	put_text(w, "token", auth->token);
	put_text(w, "iss", auth->iss);
	put_text(w, "iat", auth->iat);
	put_text(w, "exp", auth->exp);
	mr_yaml_end(w);
}

static void put_head(struct mr_buf *head, const struct mr_mailbox_message *message)
{
	struct mr_yaml_writer w;

	mr_yaml_init(&w, head);
	mr_yaml_begin_map(&w);
	mr_yaml_key(&w, "protocol_version");
	mr_yaml_int(&w, 3);
	put_text(&w, "message_id", message->message_id);
	put_text(&w, "thread_id", message->thread_id);
	put_text(&w, "in_reply_to", message->in_reply_to);
	put_references(&w, &message->references);
	/* Plain it would be a date, and no string, to YAML 1.1. */
	mr_yaml_key(&w, "created_at_utc");
	mr_yaml_text_single(&w, message->created_at_utc);
	mr_yaml_key(&w, "from");
	put_principal(&w, &message->sender);
	put_principals(&w, "to", &message->to);
	put_principals(&w, "cc", &message->cc);
	put_principals(&w, "reply_to", &message->reply_to);
	put_text(&w, "subject", message->subject);
	put_attachments(&w, &message->attachments);
	mr_yaml_key(&w, "headers");
	mr_yaml_value_double(&w, message->headers);
	put_notify_block(&w, message->notify_block);
	put_notify_auth(&w, message->notify_auth);
	mr_yaml_end(&w);
}

enum mr_code mr_mailbox_document_write(struct mr_buf *buf, const struct mr_mailbox_message *message,
	struct mr_err *err)
{
	struct mr_buf head MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_frontmatter parts = { .form = MR_FRONTMATTER_YAML, .body = message->body };
	enum mr_code rc;

	mr_buf_init(&head, MR_MAILBOX_HEAD_BYTES);
	if (!mr_mailbox_headers_fit(message->headers))
		return mr_err_set(err, MR_ELIMIT,
			"headers: more than %d values and keys or %d levels",
			MR_MAILBOX_HEADER_NODES, MR_MAILBOX_HEADER_DEPTH);
	rc = message->body.len ? check_body(message->body, message->body, err) : MR_OK;
	if (rc)
		return rc;
	put_head(&head, message);
	rc = mr_buf_check(&head, "the front matter", err);
	if (rc)
		return rc;
	if (head.len + message->body.len > MR_MAILBOX_DOCUMENT_BYTES - strlen("---\n---\n\n"))
		return mr_err_set(err, MR_ELIMIT, "the document is longer than %d bytes",
			MR_MAILBOX_DOCUMENT_BYTES);
	parts.head = mr_buf_bytes(&head);
	return mr_frontmatter_join(buf, &parts, err);
}
