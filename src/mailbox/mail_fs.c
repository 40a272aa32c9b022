/* mailbox/mail_fs.c - the transport "filesystem": mail in a root on this machine. */
#include "mailbox/mail_fs.h"

#include "base/fs.h"
#include "base/utf8.h"
#include "mailbox/deliver.h"
#include "mailbox/document.h"
#include "mailbox/index_sql.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/mail_keep.h"
#include "mailbox/mail_sql.h"
#include "mailbox/open.h"
#include "mailbox/register.h"
#include "mailbox/registration_sql.h"
#include "mailbox/root_private.h"
#include "mailbox/state.h"
#include "mailbox/state_sql.h"
#include "text/address.h"

#include <string.h>

/* What a verb needs: the index, the mailbox's own database, and whose it is. */
struct desk {
	const struct mr_mailbox_root *root;
	struct mr_mailbox_lent index;
	struct mr_mailbox_lent local; /* or none */
	const struct mr_mailbox_registration *row;
};

static void close_desk(struct desk *desk)
{
	mr_mailbox_lent_return(&desk->local);
	mr_mailbox_lent_return(&desk->index);
}

static const struct mr_mailbox_root *root_of(const struct mr_mail *mail)
{
	return mail->state;
}

static enum mr_code open_index(struct mr_ctx *cx, const struct mr_mail *mail,
	struct mr_mailbox_lent *out)
{
	return mr_mailbox_lend_index(cx, root_of(mail),
		mail->read_only ? MR_MAILBOX_LEND_READ : MR_MAILBOX_LEND_LOOK, out);
}

/* The registration may have ended, or gone to somebody else, since the mail was opened. */
static enum mr_code enter(struct mr_ctx *cx, const struct mr_mail *mail, struct desk *out)
{
	enum mr_code rc;

	out->root = root_of(mail);
	rc = open_index(cx, mail, &out->index);
	if (!rc)
		rc = mr_mailbox_registration_active(cx, out->index.db, mail->address, &out->row);
	if (rc)
		return rc;
	if (!out->row)
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"no active mailbox registration exists for `%s`", mail->address);
	if (mail->principal_id && !mr_str_eq(out->row->owner, mail->principal_id))
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"mailbox `%s` now belongs to `%s`, no longer to `%s`", mail->address,
			out->row->owner, mail->principal_id);
	return MR_OK;
}

/* A database that was lost gets its rows back first, as when state is changed. */
static enum mr_code enter_local(struct mr_ctx *cx, const struct mr_mail *mail, struct desk *out)
{
	struct mr_mailbox_states any = { NULL, 0 };
	enum mr_code rc = enter(cx, mail, out);

	if (!rc)
		rc = mr_mailbox_lend_local(cx, out->row->path,
			mail->read_only ? MR_MAILBOX_LEND_READ : MR_MAILBOX_LEND_WRITE,
			&out->local);
	if (rc == MR_ENOTFOUND && out->row && mail->read_only)
		rc = mr_err_set(&cx->err, MR_EFORMAT,
			"what the owner of `%s` did with its messages is lost: %s/%s is not there "
			"(run `mailroom mailbox repair`)",
			mail->address, out->row->path, MR_MAILBOX_LOCAL_FILE);
	if (!rc && !mail->read_only)
		rc = mr_mailbox_state_list(cx, out->local.db, NULL, 1, &any);
	if (!rc && !mail->read_only && any.len == 0)
		rc = mr_mailbox_register_local(cx, out->index.db, out->row, false);
	return rc;
}

static struct mr_mail_view view_of(const struct mr_mailbox_state *state)
{
	return (struct mr_mail_view){
		.read = state->read,
		.answered = state->answered,
		.archived = state->archived,
		.box = state->box,
	};
}

/* Read the document itself, which is authoritative; the index only repeats it. */
static enum mr_code read_document(struct mr_ctx *cx, const struct desk *desk, const char *id,
	const char *created_at, struct mr_mailbox_message *out)
{
	const char *path = mr_mailbox_layout_message(cx->arena, created_at, id);
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_mailbox_message message;
	struct mr_bytes bytes;
	enum mr_code rc =
		mr_fs_open_beneath(desk->root->dir, path, O_RDONLY | O_NOFOLLOW, 0, &fd, &cx->err);

	if (!rc)
		rc = mr_fs_read_fd(cx->arena, fd, MR_MAILBOX_DOCUMENT_BYTES, &bytes, &cx->err);
	if (!rc)
		rc = mr_mailbox_document_parse(cx->arena, bytes, &message, &cx->err);
	if (!rc && !mr_str_eq(message.message_id, id))
		rc = mr_err_set(&cx->err, MR_EFORMAT, "it is message %s", message.message_id);
	if (rc) {
		/* A document that is missing is damage: the message is there. */
		if (rc == MR_ENOTFOUND)
			cx->err.code = MR_EFORMAT;
		return mr_err_wrap(&cx->err, "document %s/%s cannot be read", desk->root->path,
			path);
	}
	*out = message;
	return MR_OK;
}

/* What the index has of a message whose document cannot be read; `*found` false when nothing. */
static enum mr_code read_indexed(struct mr_ctx *cx, const struct desk *desk, const char *id,
	struct mr_mailbox_message *out, bool *found)
{
	const struct mr_mailbox_indexed *row = NULL;
	struct mr_mailbox_recipients list = { NULL, 0 };
	struct mr_mailbox_principals all;
	size_t to = 0;
	enum mr_code rc = mr_mailbox_index_get(cx, desk->index.db, id, &row);

	*found = row != NULL;
	if (!rc && row)
		rc = mr_mailbox_index_recipients(cx, desk->index.db, id, &list);
	if (rc || !row)
		return rc;
	all = (struct mr_mailbox_principals){
		mr_arena_array(cx->arena, list.len + 1, sizeof(*all.items)), list.len
	};
	for (size_t i = 0; i < list.len; i++) {
		all.items[i] = list.items[i].principal;
		to += mr_str_eq(list.items[i].kind, "to");
	}
	*out = (struct mr_mailbox_message){
		.protocol_version = 3,
		.message_id = row->message_id,
		.thread_id = row->thread_id,
		.in_reply_to = row->in_reply_to,
		.created_at_utc = row->created_at,
		.subject = row->subject,
		.sender = row->sender,
		.to = { all.items, to },
		.cc = { all.items + to, all.len - to },
	};
	return mr_mailbox_index_attachments(cx, desk->index.db, id, &out->attachments);
}

static enum mr_code list_brief(const struct mr_mailbox_state *state, mr_mail_each *each, void *arg)
{
	const struct mr_mail_message message = {
		.view = view_of(state),
		.content = { .message_id = state->message_id,
			.thread_id = state->thread_id,
			.created_at_utc = state->created_at,
			.subject = state->subject },
	};

	return each(arg, &message);
}

/* Memory for one message, so that a list costs what it shows and not what it read. */
static enum mr_code list_one(struct mr_ctx *cx, const struct desk *desk,
	const struct mr_mailbox_state *state, mr_mail_each *each, void *arg)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx one = *cx;
	struct mr_mail_message message = { .view = view_of(state) };
	bool found = true;
	enum mr_code rc;

	one.arena = arena;
	if (read_document(&one, desk, state->message_id, state->created_at, &message.content)) {
		message.problem = mr_arena_strdup(arena, one.err.msg);
		rc = read_indexed(&one, desk, state->message_id, &message.content, &found);
		if (rc) {
			cx->err = one.err;
			cx->err.issues = NULL;
			return rc;
		}
	}
	/* A private mailbox may keep rows of messages that were never in this root. */
	return found ? each(arg, &message) : MR_OK;
}

static enum mr_code fs_list(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_query *query, mr_mail_each *each, void *arg)
{
	struct desk desk MR_CLEANUP(close_desk) = { NULL };
	struct mr_mailbox_states states = { NULL, 0 };
	enum mr_code rc = enter_local(cx, mail, &desk);

	if (!rc)
		rc = mr_mail_sql_list(cx, desk.local.db, query, &states);
	for (size_t i = 0; i < states.len && !rc; i++)
		rc = query->is_brief ? list_brief(&states.items[i], each, arg)
				     : list_one(cx, &desk, &states.items[i], each, arg);
	return rc;
}

/* Messages of other mailboxes are reported as unknown. */
static enum mr_code say_unknown(struct mr_ctx *cx, const struct mr_mail *mail, const char *id)
{
	return mr_err_set(&cx->err, MR_ENOTFOUND, "mailbox `%s` has no message `%.200s`",
		mail->address, id);
}

/* The owner's state of the message, or the default when none is stored yet. */
static enum mr_code find_state(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct desk *desk, const char *id, struct mr_mailbox_state *out)
{
	const struct mr_mailbox_state *known = NULL;
	const struct mr_mailbox_indexed *message = NULL;
	enum mr_code rc = mr_mailbox_state_get(cx, desk->local.db, id, &known);

	if (rc)
		return rc;
	if (known) {
		*out = *known;
		return MR_OK;
	}
	rc = mr_mailbox_index_get(cx, desk->index.db, id, &message);
	if (!rc && message)
		rc = mr_mailbox_state_default(cx, desk->index.db, desk->row, message, out);
	return (!rc && !message) || rc == MR_ENOTFOUND ? say_unknown(cx, mail, id) : rc;
}

static enum mr_code fs_get(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
	struct mr_mail_message *out)
{
	struct desk desk MR_CLEANUP(close_desk) = { NULL };
	struct mr_mailbox_state state;
	enum mr_code rc = enter_local(cx, mail, &desk);

	if (!rc)
		rc = find_state(cx, mail, &desk, id, &state);
	if (!rc)
		rc = read_document(cx, &desk, id, state.created_at, &out->content);
	if (!rc)
		out->view = view_of(&state);
	return rc;
}

static enum mr_code fs_mark(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
	const struct mr_mail_flags *flags, struct mr_mail_view *out)
{
	const struct mr_mailbox_flags set = { flags->read, flags->answered, -1, -1, -1 };
	struct mr_mailbox_state_result result;
	enum mr_code rc =
		mr_mailbox_state_update(cx, root_of(mail), mail->address, id, &set, &result);

	if (!rc)
		*out = view_of(&result.state);
	return rc;
}

static enum mr_code fs_move(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
	const char *box, struct mr_mail_view *out)
{
	struct mr_mailbox_state_result result;
	enum mr_code rc = mr_mailbox_state_move(cx, root_of(mail), mail->address, id, box, &result);

	if (!rc)
		*out = view_of(&result.state);
	return rc;
}

/* Is this account meant by a bare name: its local part, or its owner? */
static bool is_meant(struct mr_arena *arena, const struct mr_mailbox_registration *row,
	const char *name)
{
	return row->status == MR_MAILBOX_ACTIVE &&
		(mr_str_starts(row->address, mr_arena_printf(arena, "%s@", name)) ||
			mr_str_eq(row->owner, name) ||
			mr_str_eq(row->owner, mr_arena_printf(arena, "HOUMAO-%s", name)));
}

static enum mr_code say_no_address(struct mr_ctx *cx, struct mr_db *index, const char *name)
{
	struct mr_mailbox_registrations rows = { NULL, 0 };
	const struct mr_mailbox_registration *meant = NULL;
	size_t count = 0;
	enum mr_code rc = mr_mailbox_registration_list(cx, index, NULL, &rows);

	if (rc)
		return rc;
	for (size_t i = 0; i < rows.len; i++) {
		if (is_meant(cx->arena, &rows.items[i], name)) {
			meant = &rows.items[i];
			count++;
		}
	}
	return mr_err_set(&cx->err, MR_EINVAL, "recipient `%.200s` is not a full mailbox address%s",
		name,
		count != 1 ? ""
			   : mr_arena_printf(cx->arena, ". Did you mean `%s`?", meant->address));
}

static enum mr_code fs_recipient(struct mr_ctx *cx, const struct mr_mail *mail, const char *text,
	struct mr_mailbox_principal *out)
{
	struct desk desk MR_CLEANUP(close_desk) = { NULL };
	const struct mr_mailbox_registration *row = NULL;
	struct mr_mailbox_registrations rows = { NULL, 0 };
	struct mr_address address;
	struct mr_err why;
	size_t len = strlen(text);
	enum mr_code rc = enter(cx, mail, &desk);

	if (rc)
		return rc;
	mr_utf8_strip(&text, &len);
	text = mr_arena_strndup(cx->arena, text, len);
	if (mr_address_parse(cx->arena, text, &address, &why))
		return say_no_address(cx, desk.index.db, text);
	rc = mr_mailbox_registration_active(cx, desk.index.db, address.full, &row);
	if (!rc && !row)
		rc = mr_mailbox_registration_list(cx, desk.index.db, address.full, &rows);
	if (rc)
		return rc;
	if (!row && rows.len)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"recipient `%s` takes no mail: its mailbox is %s", address.full,
			mr_mailbox_status_name(rows.items[0].status));
	if (!row)
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"recipient `%s` has no mailbox in this root", address.full);
	*out = (struct mr_mailbox_principal){ .principal_id = row->owner, .address = address.full };
	return MR_OK;
}

static enum mr_code fs_make_operator(struct mr_ctx *cx, const struct mr_mail *mail)
{
	struct mr_mailbox_lent index MR_CLEANUP(mr_mailbox_lent_return) = MR_MAILBOX_LENT_INIT;
	enum mr_code rc = open_index(cx, mail, &index);

	return rc ? rc : mr_mailbox_root_make_operator(cx, root_of(mail), index.db);
}

static enum mr_code fs_keep(struct mr_ctx *cx, const struct mr_mail *mail,
	struct mr_mailbox_attachment *file)
{
	return mr_mail_keep_copy(cx, root_of(mail), file);
}

static void fs_drop(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mailbox_attachment *file)
{
	mr_mail_keep_drop(cx, root_of(mail), file);
}

static enum mr_code fs_send(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mailbox_message *message, const struct mr_mailbox_once *once,
	struct mr_mail_sent *out)
{
	struct mr_mailbox_deliver_result result;
	enum mr_code rc = mr_mailbox_deliver_once(cx, root_of(mail), message, once, &result);

	if (!rc)
		*out = (struct mr_mail_sent){ result.message_id, result.message_id };
	return rc;
}

static enum mr_code fs_find_once(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mailbox_once *once, struct mr_mail_sent *out)
{
	struct desk desk MR_CLEANUP(close_desk) = { NULL };
	const char *id = NULL;
	enum mr_code rc = enter(cx, mail, &desk);

	if (!rc)
		rc = mr_mailbox_index_find_once(cx, desk.index.db, once, &id);
	if (!rc)
		*out = (struct mr_mail_sent){ id, id };
	return rc;
}

static enum mr_code fs_check(struct mr_ctx *cx, const struct mr_mail *mail)
{
	struct desk desk MR_CLEANUP(close_desk) = { NULL };
	enum mr_code rc = enter(cx, mail, &desk);

	return rc ? rc : mr_mailbox_register_check(cx, desk.row);
}

static void fs_close(struct mr_mail *mail)
{
	mr_mailbox_root_close(mail->state);
}

static const struct mr_mail_transport filesystem = {
	.name = "filesystem",
	.thread_prefix = "filesystem",
	.close = fs_close,
	.check = fs_check,
	.list = fs_list,
	.get = fs_get,
	.mark = fs_mark,
	.move = fs_move,
	.recipient = fs_recipient,
	.make_operator = fs_make_operator,
	.keep = fs_keep,
	.drop = fs_drop,
	.send = fs_send,
	.find_once = fs_find_once,
};

enum mr_code mr_mail_fs_open(struct mr_ctx *cx, const char *path, const char *address,
	bool read_only, struct mr_mail *out)
{
	struct mr_mailbox_root *root = mr_arena_alloc(cx->arena, sizeof(*root));
	struct mr_mail mail MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;
	struct desk desk MR_CLEANUP(close_desk) = { NULL };
	enum mr_code rc;

	rc = mr_mailbox_root_open(cx, path,
		read_only ? MR_MAILBOX_ROOT_READ : MR_MAILBOX_ROOT_WRITE, root);
	if (rc)
		return rc;
	mail = (struct mr_mail){
		.transport = &filesystem,
		.address = address,
		.read_only = read_only,
		.state = root,
	};
	rc = enter(cx, &mail, &desk);
	if (rc)
		return rc;
	mail.address = desk.row->address;
	mail.principal_id = desk.row->owner;
	mail.directory = desk.row->path;
	*out = mail;
	mail = MR_MAIL_INIT;
	return MR_OK;
}
