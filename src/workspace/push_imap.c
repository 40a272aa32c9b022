/* workspace/push_imap.c - appends, flags and moves mails on the IMAP server. */
#include "workspace/push_imap.h"

#include "base/crash.h"
#include "workspace/evidence.h"
#include "workspace/folders.h"
#include "workspace/import.h"
#include "workspace/layout.h"
#include "workspace/record.h"
#include "workspace/refresh.h"
#include "workspace/special_use.h"

#include <string.h>
#include <strings.h>

/* A mailbox that a step names. */
struct target {
	const struct mr_work_mailbox *mailbox;
	const char *name, *wire;
	bool may_create; /* nobody configured its name, and the server has none */
};

static const char no_right[] =
	"The account may not change this mailbox. Get it the right to, or take the item out with "
	"`afmail push drop PUSH_ID`.";

/* --- the session --- */

static void hang_up(struct mr_work_push_imap *p)
{
	mr_imap_closep(&p->session);
	p->selected = NULL;
}

static enum mr_code open_session(struct mr_work_push_imap *p)
{
	struct mr_work_account account;
	struct mr_err *kept;
	enum mr_code rc;

	if (p->session)
		return MR_OK;
	if (p->failure) {
		p->cx->err = *p->failure;
		return p->failure->code;
	}
	rc = mr_work_imap_account(p->cx, p->config, p->environment, &account);
	if (!rc)
		rc = mr_work_server_open(p->cx, &account, &p->session);
	if (!rc)
		return MR_OK;
	kept = mr_arena_alloc(p->cx->arena, sizeof(*kept));
	*kept = p->cx->err;
	p->failure = kept;
	return rc;
}

static bool is_for_now(const struct mr_imap_outcome *outcome)
{
	static const char *const codes[] = { "UNAVAILABLE", "INUSE", "LIMIT" };

	for (size_t i = 0; i < MR_LEN(codes); i++)
		if (outcome->code.len && mr_imap_is(&outcome->code.items[0], codes[i]))
			return true;
	return false;
}

static void explain(struct mr_work_push_imap *p, const struct mr_imap_outcome *outcome)
{
	if (!outcome->code.len)
		return;
	if (mr_imap_is(&outcome->code.items[0], "OVERQUOTA"))
		(void)mr_work_hint(p->cx,
			"The mailbox on the server is full. Make room there, then push again: the "
			"item is still queued.");
	else if (mr_imap_is(&outcome->code.items[0], "NONEXISTENT") ||
		mr_imap_is(&outcome->code.items[0], "TRYCREATE"))
		(void)mr_work_hint(p->cx,
			"The server does not have this mailbox (any more). See `afmail remote "
			"folders`; a new name is set with `afmail config set mailboxes.ID.mailbox_name "
			"NAME`.");
	else if (mr_imap_is(&outcome->code.items[0], "NOPERM"))
		(void)mr_work_hint(p->cx, "%s", no_right);
}

/* One command that was begun. A refusal and a lost connection are this error; `*out_lost` tells
 * them apart. */
static enum mr_code ask(struct mr_work_push_imap *p, mr_imap_handler *handler, void *arg,
	struct mr_imap_outcome *out, enum mr_work_error error, bool *out_lost)
{
	struct mr_imap_outcome outcome = { 0 };
	struct mr_err err = { 0 };
	enum mr_code rc = mr_imap_run(p->session, p->cx->arena, handler, arg, &outcome, &err);

	if (out_lost)
		*out_lost = rc != MR_OK;
	if (out)
		*out = outcome;
	if (rc) {
		hang_up(p);
		(void)mr_work_refuse(p->cx, error, "%s", err.msg);
		return mr_work_server_explain(p->cx, "imap", rc);
	}
	if (outcome.status == MR_IMAP_OK)
		return MR_OK;
	(void)mr_work_refuse(p->cx, error, "the server refused: %s", outcome.text);
	/* The same question has the same answer, unless the server says otherwise. */
	p->cx->err.code = is_for_now(&outcome) ? MR_EREMOTE : MR_ECONFLICT;
	explain(p, &outcome);
	return p->cx->err.code;
}

/* --- mailboxes --- */

static const struct mr_work_server_mailbox *listed(const struct mr_work_push_imap *p,
	const char *name)
{
	for (size_t i = 0; i < p->list.len; i++)
		if (mr_str_eq(p->list.items[i].name, name))
			return &p->list.items[i];
	return NULL;
}

static const char *wire_of(const struct mr_work_push_imap *p, const char *name)
{
	const struct mr_work_server_mailbox *found = listed(p, name);

	return found ? found->wire : mr_imap_name_encode(p->cx->arena, name);
}

static enum mr_code resolve(struct mr_work_push_imap *p, const char *id, struct target *out)
{
	const struct mr_work_special_use *use;
	struct mr_work_use_target found;
	enum mr_code rc;

	*out = (struct target){ .mailbox = mr_work_find_mailbox(p->config, id) };
	if (!out->mailbox)
		return mr_work_refuse(p->cx, MR_WORK_UNKNOWN_MAILBOX_ID,
			"the mailbox id %s is not configured any more", id);
	if (out->mailbox->mailbox_name) {
		out->name = out->mailbox->mailbox_name;
		out->wire = mr_imap_name_encode(p->cx->arena, out->name);
		return MR_OK;
	}
	if (!p->has_list) {
		rc = mr_work_server_list(p->cx, p->session, &p->list);
		if (rc) {
			hang_up(p);
			return rc;
		}
		p->has_list = true;
	}
	for (size_t i = 0; i < p->list.len && !out->name; i++)
		if (mr_work_server_has_attribute(&p->list.items[i], out->mailbox->special_use))
			out->name = p->list.items[i].name;
	use = mr_work_special_use(out->mailbox->special_use);
	if (!out->name && !use)
		return mr_work_refuse(p->cx, MR_WORK_IMAP_MAILBOX_UNRESOLVED,
			"the server has no mailbox for %s (%s)", id, out->mailbox->special_use);
	if (!out->name) {
		found = mr_work_target_for(p->config, &p->list, use);
		out->name = found.mailbox_name;
		out->may_create = !found.exists;
	}
	out->wire = wire_of(p, out->name);
	return MR_OK;
}

static enum mr_code make_if_missing(struct mr_work_push_imap *p, struct target *target)
{
	enum mr_code rc;

	if (!target->may_create)
		return MR_OK;
	mr_imap_begin(p->session, "CREATE");
	mr_imap_put_string(p->session, target->wire);
	rc = ask(p, NULL, NULL, NULL, MR_WORK_IMAP_CREATE_FAILED, NULL);
	if (!rc) {
		target->may_create = false;
		p->has_list = false;
	}
	return rc;
}

/* A number that mailboxes and mails are told apart by; false: the server says nonsense. */
static bool is_uid(const struct mr_imap_node *node, uint64_t *out)
{
	return mr_imap_number(node, out) && *out && *out <= UINT32_MAX;
}

static enum mr_code note_selected(void *arg, const struct mr_imap_response *response,
	struct mr_err *err)
{
	struct mr_work_push_imap *p = arg;
	uint64_t number = 0;

	(void)err;
	if (response->has_number && mr_str_eq(response->name, "EXISTS"))
		p->exists = response->number;
	if (response->code.len > 1 && mr_imap_is(&response->code.items[0], "UIDVALIDITY") &&
		is_uid(&response->code.items[1], &number))
		p->validity = (int64_t)number;
	return MR_OK;
}

static enum mr_code go_to(struct mr_work_push_imap *p, const char *name, const char *wire,
	bool to_change)
{
	struct mr_imap_outcome outcome = { 0 };
	enum mr_code rc;

	if (mr_str_eq(p->selected, name) && (p->may_change || !to_change))
		return MR_OK;
	p->selected = NULL;
	p->validity = p->exists = 0;
	mr_imap_begin(p->session, to_change ? "SELECT" : "EXAMINE");
	mr_imap_put_string(p->session, wire);
	rc = ask(p, note_selected, p, &outcome, MR_WORK_IMAP_SELECT_FAILED, NULL);
	if (rc)
		return rc;
	p->selected = name;
	p->may_change = to_change;
	p->is_read_only = outcome.code.len && mr_imap_is(&outcome.code.items[0], "READ-ONLY");
	return MR_OK;
}

/* The mailbox of a mail that is to be changed, with the numbers that we know it by. */
static enum mr_code go_to_source(struct mr_work_push_imap *p,
	const struct mr_work_push_location *at, enum mr_work_error error)
{
	enum mr_code rc = open_session(p);

	if (!rc)
		rc = go_to(p, at->mailbox_name, wire_of(p, at->mailbox_name), true);
	if (rc)
		return rc;
	if (p->validity != at->uid_validity)
		return mr_work_refuse(p->cx, MR_WORK_IMAP_UIDVALIDITY_CHANGED,
			"%s has UIDVALIDITY %lld now, not %lld: the mail cannot be told by its number",
			at->mailbox_name, (long long)p->validity, (long long)at->uid_validity);
	if (p->is_read_only) {
		(void)mr_work_refuse(p->cx, error, "%s can only be read", at->mailbox_name);
		p->cx->err.code = MR_ECONFLICT;
		(void)mr_work_hint(p->cx, "%s", no_right);
		return p->cx->err.code;
	}
	return MR_OK;
}

/* --- looking --- */

struct found_flags {
	struct mr_arena *arena;
	uint64_t uid;
	bool is_there;
	struct mr_texts flags;
};

static enum mr_code note_flags(void *arg, const struct mr_imap_response *response,
	struct mr_err *err)
{
	struct found_flags *found = arg;
	const struct mr_imap_node *list = response->data.len ? &response->data.items[0] : NULL;
	const struct mr_imap_node *flags;
	uint64_t uid = 0;

	(void)err;
	if (!mr_str_eq(response->name, "FETCH") ||
		!mr_imap_number(mr_imap_member(list, "UID"), &uid) || uid != found->uid)
		return MR_OK;
	found->is_there = true;
	flags = mr_imap_member(list, "FLAGS");
	if (!flags || flags->kind != MR_IMAP_LIST)
		return MR_OK;
	found->flags.items =
		mr_arena_array(found->arena, flags->len + 1, sizeof(*found->flags.items));
	found->flags.len = 0;
	for (size_t i = 0; i < flags->len; i++) {
		const char *flag = mr_imap_text(found->arena, &flags->items[i]);

		if (flag)
			found->flags.items[found->flags.len++] = flag;
	}
	found->flags = mr_work_flags(found->arena, &found->flags);
	return MR_OK;
}

/* Is a mail still in the selected mailbox, and with which flags? */
static enum mr_code look_at(struct mr_work_push_imap *p, int64_t uid, struct found_flags *out)
{
	*out = (struct found_flags){ .arena = p->cx->arena, .uid = (uint64_t)uid };
	if (!p->exists)
		return MR_OK;
	mr_imap_begin(p->session,
		mr_arena_printf(p->cx->arena, "UID FETCH %lld (UID FLAGS)", (long long)uid));
	return ask(p, note_flags, out, NULL, MR_WORK_IMAP_FETCH_FAILED, NULL);
}

enum { CANDIDATES = 16 }; /* mails that may be the one; the last ones are looked at */

struct candidates {
	int64_t uids[CANDIDATES]; /* the highest first */
	size_t len;
};

static enum mr_code note_candidates(void *arg, const struct mr_imap_response *response,
	struct mr_err *err)
{
	struct candidates *list = arg;

	(void)err;
	if (!mr_str_eq(response->name, "SEARCH"))
		return MR_OK;
	for (size_t i = 0; i < response->data.len; i++) {
		uint64_t uid = 0;
		size_t at;

		if (!is_uid(&response->data.items[i], &uid))
			continue;
		if (list->len == CANDIDATES && (int64_t)uid < list->uids[CANDIDATES - 1])
			continue;
		at = list->len < CANDIDATES ? list->len++ : CANDIDATES - 1;
		for (; at && list->uids[at - 1] < (int64_t)uid; at--)
			list->uids[at] = list->uids[at - 1];
		list->uids[at] = (int64_t)uid;
	}
	return MR_OK;
}

/* A mail on the server that may be ours. */
struct comparison {
	struct mr_ctx *cx;
	const struct mr_mime *mime; /* ours */
	uint64_t uid;
	bool to_the_byte;
	bool is_same;
};

static bool is_ours(struct mr_ctx *cx, const struct comparison *c, struct mr_bytes bytes)
{
	if (c->to_the_byte)
		return bytes.len == c->mime->bytes.len &&
			memcmp(bytes.data, c->mime->bytes.data, bytes.len) == 0;
	return mr_work_take_is_same(cx, bytes, c->mime);
}

static enum mr_code compare(void *arg, const struct mr_imap_response *response, struct mr_err *err)
{
	struct comparison *c = arg;
	const struct mr_imap_node *list = response->data.len ? &response->data.items[0] : NULL;
	const struct mr_imap_node *body = mr_imap_member(list, "BODY[");
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx own = *c->cx;
	uint64_t uid = 0;

	(void)err;
	own.arena = arena;
	if (mr_str_eq(response->name, "FETCH") && body && body->kind == MR_IMAP_STRING &&
		mr_imap_number(mr_imap_member(list, "UID"), &uid) && uid == c->uid)
		c->is_same |= is_ours(&own, c, body->bytes);
	return MR_OK;
}

/* The last of this very mail in the selected mailbox; 0: none. Its Message-ID (or NULL) alone does
 * not tell: other mails may have the same, and two workspaces of one account may have made it. */
static enum mr_code search(struct mr_work_push_imap *p, const char *id, struct mr_bytes bytes,
	int64_t *out)
{
	struct candidates list = { 0 };
	struct mr_mime mime;
	enum mr_code rc;

	*out = 0;
	if (!p->exists)
		return MR_OK;
	if (id) {
		mr_imap_begin(p->session, "UID SEARCH HEADER Message-ID");
		mr_imap_put_string(p->session, mr_arena_printf(p->cx->arena, "<%s>", id));
	} else { /* it can be found by its size alone */
		mr_imap_begin(p->session,
			mr_arena_printf(p->cx->arena, "UID SEARCH LARGER %zu SMALLER %zu",
				bytes.len ? bytes.len - 1 : 0, bytes.len + 1));
	}
	rc = ask(p, note_candidates, &list, NULL, MR_WORK_IMAP_SEARCH_FAILED, NULL);
	if (!rc && list.len && mr_mime_parse(p->cx->arena, bytes, &mime, &p->cx->err))
		rc = mr_work_refuse(p->cx, MR_WORK_MIME_PARSE_FAILED, "%s", p->cx->err.msg);
	for (size_t i = 0; !rc && !*out && i < list.len; i++) {
		struct comparison one = { .cx = p->cx,
			.mime = &mime,
			.uid = (uint64_t)list.uids[i],
			.to_the_byte = !id };

		mr_imap_begin(p->session,
			mr_arena_printf(p->cx->arena, "UID FETCH %lld (UID BODY.PEEK[])",
				(long long)list.uids[i]));
		rc = ask(p, compare, &one, NULL, MR_WORK_IMAP_FETCH_FAILED, NULL);
		*out = one.is_same ? list.uids[i] : 0;
	}
	return rc;
}

static enum mr_code search_in(struct mr_work_push_imap *p, const struct target *target,
	const char *id, struct mr_bytes bytes, int64_t *out)
{
	enum mr_code rc;

	*out = 0;
	if (target->may_create)
		return MR_OK;
	p->selected = NULL; /* what came since must be seen */
	rc = go_to(p, target->name, target->wire, false);
	return rc ? rc : search(p, id, bytes, out);
}

enum mr_code mr_work_push_find(struct mr_work_push_imap *p, const char *mailbox_id,
	const struct mr_work_push_mail *mail, int64_t *out_uid)
{
	struct target target;
	enum mr_code rc = open_session(p);

	if (!rc)
		rc = resolve(p, mailbox_id, &target);
	return rc ? rc
		  : search_in(p, &target, mail->out.rfc822_message_id, mail->out.bytes, out_uid);
}

/* --- what is known of places --- */

static void add_location(struct mr_ctx *cx, struct mr_work_locations *list,
	const struct mr_work_location *location)
{
	struct mr_work_location *items = mr_arena_array(cx->arena, list->len + 1, sizeof(*items));
	size_t len = 0;

	for (size_t i = 0; i < list->len; i++)
		if (!mr_str_eq(list->items[i].mailbox_name, location->mailbox_name) ||
			list->items[i].uid != location->uid)
			items[len++] = list->items[i];
	items[len++] = *location;
	*list = (struct mr_work_locations){ items, len };
}

static enum mr_code save_places(struct mr_work_push_imap *p, const char *message_id,
	const struct mr_work_locations *list)
{
	struct mr_work_change change;

	mr_work_change_begin(p->cx, p->work, "push_place", &change);
	mr_work_remote_save(&change, message_id, list);
	mr_work_touch_message(&change, message_id);
	return mr_work_carry_out(p->cx, &change);
}

static struct mr_work_location *location_of(const struct mr_work_locations *list,
	const struct mr_work_push_location *at)
{
	for (size_t i = 0; i < list->len; i++)
		if (mr_str_eq(list->items[i].mailbox_name, at->mailbox_name) &&
			list->items[i].has_uid && list->items[i].uid == at->uid &&
			list->items[i].uid_validity == at->uid_validity)
			return &list->items[i];
	return NULL;
}

/* --- append --- */

static bool is_for(const struct mr_work_mailbox *mailbox, const char *id, const char *attribute)
{
	return mr_str_eq(mailbox->id, id) ||
		(mailbox->special_use && strcasecmp(mailbox->special_use, attribute) == 0);
}

/* Where the server put a mail: it says so with UIDPLUS. */
struct copied {
	uint64_t validity, uid; /* 0: it does not say */
};

/* "APPENDUID validity uid", "COPYUID validity from to": the number at `at` is the new one. */
static void read_copied(const struct mr_imap_node *code, const char *name, size_t at,
	struct copied *out)
{
	struct copied told = { 0 };

	if (code->len > at && mr_imap_is(&code->items[0], name))
		*out = is_uid(&code->items[1], &told.validity) &&
				is_uid(&code->items[at], &told.uid)
			? told
			: (struct copied){ 0 };
}

static enum mr_code append_one(struct mr_work_push_imap *p, struct target *target,
	const char *message_id, const char *rfc822_id, struct mr_bytes bytes, bool again,
	bool is_known_here, bool *out_unknown)
{
	const char *flag = is_for(target->mailbox, "drafts", "\\Drafts") ? "\\Draft"
		: is_for(target->mailbox, "sent", "\\Sent")              ? "\\Seen"
									 : NULL;
	struct mr_work_location location = { .mailbox_name = target->name,
		.mailbox_id = target->mailbox->id,
		.has_uid = true,
		.observed = p->work->now };
	struct mr_imap_outcome outcome = { 0 };
	struct mr_work_locations list = { 0 };
	struct copied copied = { 0 };
	int64_t present = 0;
	enum mr_code rc = again ? search_in(p, target, rfc822_id, bytes, &present) : MR_OK;

	if (!rc && !present)
		rc = make_if_missing(p, target);
	if (rc)
		return rc;
	if (present) {
		copied = (struct copied){ (uint64_t)p->validity, (uint64_t)present };
	} else {
		mr_imap_begin(p->session, "APPEND");
		mr_imap_put_string(p->session, target->wire);
		if (flag)
			mr_imap_put(p->session, mr_arena_printf(p->cx->arena, " (%s)", flag));
		mr_imap_put_bytes(p->session, bytes);
		rc = ask(p, NULL, NULL, &outcome, MR_WORK_IMAP_APPEND_FAILED, out_unknown);
		mr_crash_point("work.push.appended");
		if (rc)
			return rc;
		read_copied(&outcome.code, "APPENDUID", 2, &copied);
	}
	if (!is_known_here || !copied.uid)
		return MR_OK;
	location.uid_validity = (int64_t)copied.validity;
	location.uid = (int64_t)copied.uid;
	if (flag) {
		location.flags =
			(struct mr_texts){ mr_arena_array(p->cx->arena, 2, sizeof(char *)), 1 };
		location.flags.items[0] = flag;
	}
	rc = mr_work_remote_load(p->cx, p->work, message_id, &list);
	if (rc)
		return rc;
	add_location(p->cx, &list, &location);
	return save_places(p, message_id, &list);
}

enum mr_code mr_work_push_append(struct mr_work_push_imap *p, const struct mr_work_push_item *item,
	const struct mr_work_push_mail *mail, const char *mailbox_id, bool again,
	const char **out_summary, bool *out_unknown)
{
	struct target target;
	enum mr_code rc = open_session(p);

	*out_unknown = false;
	if (!rc)
		rc = resolve(p, mailbox_id, &target);
	if (!rc && mail)
		rc = append_one(p, &target, mail->out.message_id, mail->out.rfc822_message_id,
			mail->out.bytes, again, false, out_unknown);
	for (size_t i = 0; !rc && !mail && i < item->message_ids.len; i++) {
		const char *id = item->message_ids.items[i];
		struct mr_work_record record = { 0 };
		struct mr_bytes bytes = { 0 };

		rc = mr_work_record_make(p->cx, p->work, id, &record);
		if (!rc)
			rc = mr_work_read(p->cx, p->work, mr_work_path_eml(p->cx->arena, id),
				&bytes);
		if (!rc)
			rc = append_one(p, &target, id, record.rfc822_message_id, bytes, again,
				true, out_unknown);
	}
	*out_summary = "append succeeded";
	return rc;
}

/* --- flags --- */

static struct mr_texts both_flags(struct mr_arena *arena, const struct mr_texts *a,
	const struct mr_texts *b)
{
	struct mr_texts all = { mr_arena_array(arena, a->len + b->len + 1, sizeof(char *)), 0 };

	for (size_t i = 0; i < a->len; i++)
		all.items[all.len++] = a->items[i];
	for (size_t i = 0; i < b->len; i++)
		all.items[all.len++] = b->items[i];
	return mr_work_flags(arena, &all);
}

static enum mr_code flag_one(struct mr_work_push_imap *p, const struct mr_work_push_location *at,
	const struct mr_texts *flags, bool *out_gone)
{
	struct mr_work_locations list = { 0 };
	struct mr_work_location *known;
	struct found_flags found;
	enum mr_code rc = go_to_source(p, at, MR_WORK_IMAP_STORE_FAILED);

	if (!rc)
		rc = look_at(p, at->uid, &found);
	if (rc)
		return rc;
	if (!found.is_there) {
		*out_gone = true;
		return MR_OK;
	}
	mr_imap_begin(p->session,
		mr_arena_printf(p->cx->arena, "UID STORE %lld +FLAGS.SILENT (",
			(long long)at->uid));
	for (size_t i = 0; i < flags->len; i++) {
		if (i)
			mr_imap_put(p->session, " ");
		mr_imap_put(p->session, flags->items[i]);
	}
	mr_imap_put(p->session, ")");
	rc = ask(p, NULL, NULL, NULL, MR_WORK_IMAP_STORE_FAILED, NULL);
	mr_crash_point("work.push.flagged");
	if (!rc)
		rc = mr_work_remote_load(p->cx, p->work, at->message_id, &list);
	known = rc ? NULL : location_of(&list, at);
	if (!known)
		return rc;
	known->flags = both_flags(p->cx->arena, &found.flags, flags);
	return save_places(p, at->message_id, &list);
}

/* A flag is an atom, perhaps behind a backslash: nothing else may reach the server. */
static enum mr_code check_flags(struct mr_work_push_imap *p, const struct mr_texts *flags)
{
	for (size_t i = 0; i < flags->len; i++) {
		const char *atom = flags->items[i] + (flags->items[i][0] == '\\');

		for (const char *c = atom; *c; c++)
			if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 127 ||
				strchr("(){%*\"\\]", *c))
				return mr_work_refuse(p->cx, MR_WORK_PUSH_ITEM_INVALID,
					"%s is not a flag", flags->items[i]);
	}
	return MR_OK;
}

static enum mr_code places_of(struct mr_work_push_imap *p, const char *message_id,
	struct mr_work_push_location **out, size_t *out_len)
{
	struct mr_work_locations list = { 0 };
	enum mr_code rc = mr_work_remote_load(p->cx, p->work, message_id, &list);

	*out = mr_arena_array(p->cx->arena, list.len + 1, sizeof(**out));
	*out_len = 0;
	for (size_t i = 0; !rc && i < list.len; i++)
		if (mr_work_location_is_usable(&list.items[i]))
			(*out)[(*out_len)++] = (struct mr_work_push_location){ message_id,
				list.items[i].mailbox_name, list.items[i].uid_validity,
				list.items[i].uid };
	return rc;
}

enum mr_code mr_work_push_flags(struct mr_work_push_imap *p, const struct mr_work_push_item *item,
	const struct mr_texts *flags, const char *reply_to, const char **out_summary)
{
	struct mr_work_push_location *places = item->locations;
	size_t len = item->location_count, gone = 0;
	enum mr_code rc = check_flags(p, flags);

	if (!rc && reply_to)
		rc = places_of(p, reply_to, &places, &len);
	for (size_t i = 0; !rc && i < len; i++) {
		bool is_gone = false;

		rc = flag_one(p, &places[i], flags, &is_gone);
		gone += is_gone;
	}
	*out_summary = gone && gone == len ? "already gone" : "flags updated";
	return rc;
}

/* --- move --- */

static enum mr_code note_copied(void *arg, const struct mr_imap_response *response,
	struct mr_err *err)
{
	(void)err;
	read_copied(&response->code, "COPYUID", 3, arg);
	return MR_OK;
}

static enum mr_code transfer(struct mr_work_push_imap *p, const char *verb, int64_t uid,
	const struct target *target, struct copied *out)
{
	struct mr_imap_outcome outcome = { 0 };
	enum mr_code rc;

	mr_imap_begin(p->session,
		mr_arena_printf(p->cx->arena, "UID %s %lld", verb, (long long)uid));
	mr_imap_put_string(p->session, target->wire);
	rc = ask(p, note_copied, out, &outcome, MR_WORK_IMAP_MOVE_FAILED, NULL);
	if (!rc)
		read_copied(&outcome.code, "COPYUID", 3, out);
	return rc;
}

/* Without MOVE: a copy, and only this mail is taken away. An earlier try may have made the copy. */
static enum mr_code copy_and_delete(struct mr_work_push_imap *p,
	const struct mr_work_push_location *at, const struct target *target, const char *id,
	struct mr_bytes bytes, struct copied *out)
{
	const char *uid = mr_arena_printf(p->cx->arena, "%lld", (long long)at->uid);
	int64_t present = 0;
	enum mr_code rc = search_in(p, target, id, bytes, &present);

	if (!rc && present)
		*out = (struct copied){ (uint64_t)p->validity, (uint64_t)present };
	if (!rc)
		rc = go_to_source(p, at, MR_WORK_IMAP_MOVE_FAILED);
	if (!rc && !present)
		rc = transfer(p, "COPY", at->uid, target, out);
	mr_crash_point("work.push.copied");
	if (rc)
		return rc;
	mr_imap_begin(p->session,
		mr_arena_printf(p->cx->arena, "UID STORE %s +FLAGS.SILENT (\\Deleted)", uid));
	rc = ask(p, NULL, NULL, NULL, MR_WORK_IMAP_MOVE_FAILED, NULL);
	if (rc)
		return rc;
	mr_imap_begin(p->session, mr_arena_printf(p->cx->arena, "UID EXPUNGE %s", uid));
	return ask(p, NULL, NULL, NULL, MR_WORK_IMAP_MOVE_FAILED, NULL);
}

/* The message is there now, and no longer in any other place that the item moves it from. */
static enum mr_code record_move(struct mr_work_push_imap *p, const struct mr_work_push_location *at,
	const struct target *target, const struct copied *copied, const struct mr_texts *flags)
{
	struct mr_work_location location = { .mailbox_name = target->name,
		.mailbox_id = target->mailbox->id,
		.has_uid = true,
		.uid_validity = (int64_t)copied->validity,
		.uid = (int64_t)copied->uid,
		.flags = *flags,
		.observed = p->work->now };
	struct mr_work_locations list = { 0 };
	struct mr_work_location *old;
	enum mr_code rc = mr_work_remote_load(p->cx, p->work, at->message_id, &list);

	if (rc)
		return rc;
	old = location_of(&list, at);
	if (old) {
		if (!location.flags.len)
			location.flags = old->flags;
		memmove(old, old + 1, (size_t)(list.items + list.len - old - 1) * sizeof(*old));
		list.len--;
	}
	if (copied->uid)
		add_location(p->cx, &list, &location);
	return save_places(p, at->message_id, &list);
}

static enum mr_code move_one(struct mr_work_push_imap *p, const struct mr_work_push_location *at,
	struct target *target, const char *id, bool *out_gone)
{
	struct found_flags found = { 0 };
	struct copied copied = { 0 };
	struct mr_bytes bytes = { 0 };
	int64_t uid = 0;
	enum mr_code rc = mr_work_read(p->cx, p->work,
		mr_work_path_eml(p->cx->arena, at->message_id), &bytes);

	if (!rc)
		rc = go_to_source(p, at, MR_WORK_IMAP_MOVE_FAILED);
	if (!rc)
		rc = look_at(p, at->uid, &found);
	if (rc)
		return rc;
	if (found.is_there && !mr_imap_can(p->session, "MOVE") &&
		!mr_imap_can(p->session, "UIDPLUS"))
		return mr_work_refuse(p->cx, MR_WORK_IMAP_MOVE_UNSUPPORTED,
			"the server has neither MOVE nor UIDPLUS");
	if (found.is_there) {
		rc = make_if_missing(p, target);
		if (!rc && mr_imap_can(p->session, "MOVE"))
			rc = transfer(p, "MOVE", at->uid, target, &copied);
		else if (!rc)
			rc = copy_and_delete(p, at, target, id, bytes, &copied);
		mr_crash_point("work.push.moved");
	}
	if (!rc && !copied.uid) {
		rc = search_in(p, target, id, bytes, &uid);
		copied = (struct copied){ (uint64_t)p->validity, (uint64_t)uid };
	}
	if (rc)
		return rc;
	*out_gone = !found.is_there && !copied.uid;
	if (!copied.uid && found.is_there)
		return mr_work_refuse(p->cx, MR_WORK_IMAP_UID_MISSING,
			"the mail was moved to %s and is not found there", target->name);
	return record_move(p, at, target, &copied, &found.flags);
}

/* Is the message known to be there already? */
static enum mr_code is_there(struct mr_work_push_imap *p, const char *message_id, const char *name,
	bool *out)
{
	struct mr_work_locations list = { 0 };
	enum mr_code rc = mr_work_remote_load(p->cx, p->work, message_id, &list);

	*out = false;
	for (size_t i = 0; !rc && i < list.len; i++)
		*out |= !list.items[i].missing && mr_str_eq(list.items[i].mailbox_name, name);
	return rc;
}

enum mr_code mr_work_push_move(struct mr_work_push_imap *p, const struct mr_work_push_item *item,
	const char *mailbox_id, const char **out_summary)
{
	size_t gone = 0;
	struct target target;
	enum mr_code rc;

	*out_summary = "move succeeded";
	rc = open_session(p);
	if (!rc)
		rc = resolve(p, mailbox_id, &target);
	for (size_t i = 0; !rc && i < item->location_count; i++) {
		const struct mr_work_push_location *at = &item->locations[i];
		struct mr_work_record record = { 0 };
		bool is_moved = false, is_gone = false;

		if (mr_str_eq(at->mailbox_name, target.name))
			continue;
		rc = open_session(p);
		if (!rc)
			rc = is_there(p, at->message_id, target.name, &is_moved);
		if (rc || is_moved)
			continue;
		rc = mr_work_record_make(p->cx, p->work, at->message_id, &record);
		if (!rc)
			rc = move_one(p, at, &target, record.rfc822_message_id, &is_gone);
		gone += is_gone;
	}
	if (gone && gone == item->location_count)
		*out_summary = "already gone";
	return rc;
}
