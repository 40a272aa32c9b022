/* mailbox/mail_jmap_known.c - what is known of a JMAP server: its session, boxes, who sends. */
#include "base/buf.h"
#include "base/fs.h"
#include "mailbox/mail_jmap_private.h"
#include "text/address.h"
#include "text/json.h"

#include <string.h>
#include <strings.h>

enum { FILE_BYTES = 4 << 20, BOXES = 10000, FILE_MODE = 0600 };

static const char GET[] = "Mailbox/get";
static const char CALL[] = "boxes";
static const char MADE[] = "made";

static const char *copy(struct mr_arena *arena, const char *text)
{
	return text ? mr_arena_strdup(arena, text) : NULL;
}

/* --- boxes --- */

static struct mr_mail_jmap_boxes read_boxes(struct mr_arena *arena, const struct mr_value *list)
{
	size_t count = list && list->kind == MR_LIST ? list->list.len : 0;
	struct mr_mail_jmap_boxes out = { NULL, 0 };

	if (count > BOXES)
		count = BOXES;
	out.items = mr_arena_array(arena, count + 1, sizeof(*out.items));
	for (size_t i = 0; i < count; i++) {
		const struct mr_value *box = &list->list.items[i];
		const char *id = mr_value_text(box, "id"), *name = mr_value_text(box, "name");
		const char *role = mr_value_text(box, "role");

		if (!id || !name)
			continue;
		out.items[out.len++] = (struct mr_mail_jmap_box){
			.id = mr_arena_strdup(arena, id),
			.name = mr_arena_strdup(arena, name),
			.role = role && *role ? mr_str_lower(arena, role) : NULL,
			.is_below = mr_value_text(box, "parentId") != NULL,
		};
	}
	return out;
}

static bool same_boxes(const struct mr_mail_jmap_boxes *a, const struct mr_mail_jmap_boxes *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++) {
		if (!mr_str_eq(a->items[i].id, b->items[i].id) ||
			!mr_str_eq(a->items[i].name, b->items[i].name) ||
			!mr_str_eq(a->items[i].role, b->items[i].role) ||
			a->items[i].is_below != b->items[i].is_below)
			return false;
	}
	return true;
}

void mr_mail_jmap_ask_boxes(struct mr_jmap_request *request)
{
	static const char *words[] = { "id", "name", "role", "parentId", NULL };
	const struct mr_texts properties = { words, MR_LEN(words) - 1 };
	struct mr_out *args = mr_jmap_call(request, GET, CALL);

	mr_out_null(args, "ids");
	mr_out_texts(args, "properties", &properties);
	mr_jmap_end(request);
}

enum mr_code mr_mail_jmap_take_boxes(struct mr_ctx *cx, struct mr_mail_jmap *state,
	const struct mr_jmap_response *response)
{
	const struct mr_value *result = NULL;
	struct mr_mail_jmap_boxes boxes;
	enum mr_code rc = mr_jmap_find(cx, response, CALL, GET, &result);

	if (rc)
		return rc;
	boxes = read_boxes(state->arena, mr_value_get(result, "list"));
	if (!same_boxes(&boxes, &state->boxes)) {
		state->boxes = boxes;
		state->is_changed = true;
	}
	state->boxes_are_fresh = true;
	return MR_OK;
}

enum mr_code mr_mail_jmap_boxes(struct mr_ctx *cx, struct mr_mail_jmap *state, bool again)
{
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	enum mr_code rc;

	if (state->boxes_are_fresh || (state->boxes.len && !again))
		return MR_OK;
	mr_jmap_begin(&request, cx->arena);
	mr_mail_jmap_ask_boxes(&request);
	rc = mr_jmap_ask(cx, state->jmap, &request, MR_JMAP_READS, &response);
	return rc ? rc : mr_mail_jmap_take_boxes(cx, state, &response);
}

/* The role, for boxes that have one; else the name, if it is no role's. */
static const char *name_of(const struct mr_mail_jmap *state, const struct mr_mail_jmap_box *box)
{
	if (box->role)
		return box->role;
	for (size_t i = 0; i < state->boxes.len; i++) {
		/* It can be seen, but not by a name that means another one. */
		if (mr_str_eq(state->boxes.items[i].role, box->name))
			return mr_arena_printf(state->arena, "%s (%s)", box->name, box->id);
	}
	return box->name;
}

const struct mr_mail_jmap_box *mr_mail_jmap_find_box(const struct mr_mail_jmap *state,
	const char *name)
{
	const struct mr_mail_jmap_box *found = NULL;

	for (size_t i = 0; i < state->boxes.len; i++) {
		const struct mr_mail_jmap_box *box = &state->boxes.items[i];

		if (!mr_str_eq(name_of(state, box), name))
			continue;
		if (box->role || !box->is_below)
			return box;
		if (!found)
			found = box;
	}
	return found;
}

/* Begin a request whose call creates one object: its members are written next. */
static struct mr_out *begin_making(struct mr_ctx *cx, struct mr_jmap_request *request,
	const char *method)
{
	struct mr_out *args;

	mr_jmap_begin(request, cx->arena);
	args = mr_jmap_call(request, method, MADE);
	mr_out_map(args, "create");
	mr_out_map(args, MADE);
	return args;
}

static void end_making(struct mr_jmap_request *request, struct mr_out *args)
{
	mr_out_end(args);
	mr_out_end(args);
	mr_jmap_end(request);
}

static enum mr_code make(struct mr_ctx *cx, struct mr_mail_jmap *state,
	const struct mr_jmap_request *request, struct mr_jmap_response *response,
	const struct mr_value **out)
{
	const struct mr_value *result = NULL;
	enum mr_code rc = mr_jmap_ask(cx, state->jmap, request, MR_JMAP_WRITES, response);

	if (!rc)
		rc = mr_jmap_find(cx, response, MADE, request->calls[0].name, &result);
	return rc ? rc : mr_jmap_set_result(cx, result, "created", "notCreated", MADE, out);
}

static enum mr_code create_box(struct mr_ctx *cx, struct mr_mail_jmap *state, const char *name,
	const char *role)
{
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	const struct mr_value *created = NULL;
	struct mr_out *args = begin_making(cx, &request, "Mailbox/set");
	enum mr_code rc;

	mr_out_text(args, "name", name);
	mr_out_null(args, "parentId");
	if (role)
		mr_out_text(args, "role", role);
	end_making(&request, args);
	mr_mail_jmap_ask_boxes(&request);
	rc = make(cx, state, &request, &response, &created);
	return rc ? rc : mr_mail_jmap_take_boxes(cx, state, &response);
}

enum mr_code mr_mail_jmap_make_box(struct mr_ctx *cx, struct mr_mail_jmap *state, const char *name,
	const struct mr_mail_jmap_box **out)
{
	static const char *const roles[][2] = { { "archive", "Archive" }, { "sent", "Sent" },
		{ "drafts", "Drafts" }, { "trash", "Trash" } };
	enum mr_code rc = mr_mail_jmap_boxes(cx, state, false);

	*out = rc ? NULL : mr_mail_jmap_find_box(state, name);
	if (!rc && !*out) {
		rc = mr_mail_jmap_boxes(cx, state, true);
		*out = rc ? NULL : mr_mail_jmap_find_box(state, name);
	}
	if (rc || *out)
		return rc;
	rc = MR_ENOTFOUND;
	for (size_t i = 0; i < MR_LEN(roles) && rc; i++) {
		/* A server that gives no roles to new boxes still takes one without. */
		if (mr_str_eq(name, roles[i][0]))
			rc = create_box(cx, state, roles[i][1], name);
	}
	if (rc)
		rc = create_box(cx, state, name, NULL);
	if (rc)
		return mr_err_wrap(&cx->err, "the box `%s` cannot be made", name);
	*out = mr_mail_jmap_find_box(state, name);
	return *out ? MR_OK
		    : mr_err_set(&cx->err, MR_EREMOTE,
			      "the server made the box `%s`, and does not list it", name);
}

enum mr_code mr_mail_jmap_inbox(struct mr_ctx *cx, const struct mr_mail_jmap *state,
	const char **out)
{
	const struct mr_mail_jmap_box *box = mr_mail_jmap_find_box(state, "inbox");

	if (!box)
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"the account `%s` has no inbox on the server", state->account.login);
	*out = box->id;
	return MR_OK;
}

const char *mr_mail_jmap_box_of(const struct mr_mail_jmap *state, const struct mr_texts *mailboxes,
	const char *first)
{
	static const char *const before[] = { "inbox", "archive", "sent", "drafts" };
	const char *names[MR_LEN(before) + 2] = { NULL };

	for (size_t i = 0; i < state->boxes.len; i++) {
		const char *name;

		if (!mr_texts_has(mailboxes, state->boxes.items[i].id))
			continue;
		name = name_of(state, &state->boxes.items[i]);
		if (mr_str_eq(name, first))
			return name;
		names[MR_LEN(before)] = name;
		for (size_t b = 0; b < MR_LEN(before); b++) {
			if (mr_str_eq(name, before[b]))
				names[b] = name;
		}
	}
	for (size_t b = 0; b <= MR_LEN(before); b++) {
		if (names[b])
			return names[b];
	}
	return "(unknown)";
}

/* --- who sends --- */

/* The identity with the address, else with the login, else the first. */
static const char *choose_identity(const struct mr_mail_jmap *state, const struct mr_value *list)
{
	const char *wanted[] = { state->account.address, state->account.login };
	size_t count = list && list->kind == MR_LIST ? list->list.len : 0;

	for (size_t w = 0; w < MR_LEN(wanted); w++) {
		for (size_t i = 0; i < count; i++) {
			const char *email = mr_value_text(&list->list.items[i], "email");

			if (email && strcasecmp(email, wanted[w]) == 0)
				return mr_value_text(&list->list.items[i], "id");
		}
	}
	return count ? mr_value_text(&list->list.items[0], "id") : NULL;
}

static enum mr_code make_identity(struct mr_ctx *cx, struct mr_mail_jmap *state, const char **out)
{
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	const struct mr_value *created = NULL;
	struct mr_out *args = begin_making(cx, &request, "Identity/set");
	enum mr_code rc;

	mr_out_text(args, "name", state->account.principal_id);
	mr_out_text(args, "email", state->account.address);
	end_making(&request, args);
	rc = make(cx, state, &request, &response, &created);
	*out = rc ? NULL : mr_value_text(created, "id");
	if (*out)
		return MR_OK;
	return mr_err_set(&cx->err, MR_ECONFLICT,
		"the account `%s` has no identity on the server to send mail as; let the server's "
		"administrator give it the address %s",
		state->account.login, state->account.address);
}

enum mr_code mr_mail_jmap_identity(struct mr_ctx *cx, struct mr_mail_jmap *state)
{
	const struct mr_jmap_session *session = NULL;
	const struct mr_value *result = NULL;
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	const char *identity;
	enum mr_code rc;

	if (state->identity)
		return mr_mail_jmap_boxes(cx, state, false);
	rc = mr_jmap_session(cx, state->jmap, &session);
	if (!rc && !session->submission_account)
		rc = mr_err_set(&cx->err, MR_ECONFLICT,
			"the server lets the account `%s` send no mail: it does not offer "
			"submission",
			state->account.login);
	if (rc)
		return rc;
	mr_jmap_begin(&request, cx->arena);
	mr_out_null(mr_jmap_call(&request, "Identity/get", "who"), "ids");
	mr_jmap_end(&request);
	mr_mail_jmap_ask_boxes(&request);
	rc = mr_jmap_ask(cx, state->jmap, &request, MR_JMAP_READS, &response);
	if (!rc)
		rc = mr_mail_jmap_take_boxes(cx, state, &response);
	if (!rc)
		rc = mr_jmap_find(cx, &response, "who", "Identity/get", &result);
	if (rc)
		return rc;
	identity = choose_identity(state, mr_value_get(result, "list"));
	if (!identity)
		rc = make_identity(cx, state, &identity);
	if (rc)
		return rc;
	state->identity = mr_arena_strdup(state->arena, identity);
	state->is_changed = true;
	return MR_OK;
}

/* --- the file --- */

static void recall(struct mr_ctx *cx, struct mr_mail_jmap *state, const struct mr_value *known)
{
	const char *session = mr_value_text(known, "session"), *url = mr_value_text(known, "url");

	if (!session || !url || !mr_str_eq(mr_value_text(known, "login"), state->account.login) ||
		!mr_str_eq(mr_value_text(known, "jmap_url"), state->account.jmap_url))
		return;
	(void)cx;
	state->session = mr_bytes_text(mr_arena_strdup(state->arena, session));
	mr_jmap_recall(state->jmap, url, state->session);
	state->boxes = read_boxes(state->arena, mr_value_get(known, "boxes"));
	state->identity = copy(state->arena, mr_value_text(known, "identity"));
}

void mr_mail_jmap_recall(struct mr_ctx *cx, struct mr_mail_jmap *state)
{
	struct mr_json_limits limits = mr_json_default_limits;
	const struct mr_value *known = NULL;
	struct mr_err ignored;
	struct mr_bytes bytes;

	if (!state->account.known_file)
		return;
	limits.max_bytes = FILE_BYTES;
	if (!mr_fs_read(cx->arena, AT_FDCWD, state->account.known_file, FILE_BYTES, &bytes,
		    &ignored) &&
		!mr_json_parse(cx->arena, bytes, &limits, &known, &ignored))
		recall(cx, state, known);
}

static void write_known(struct mr_out *out, const struct mr_mail_jmap *state, const char *url,
	struct mr_bytes session)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "jmap_url", state->account.jmap_url);
	mr_out_text(out, "login", state->account.login);
	mr_out_text(out, "url", url);
	mr_out_bytes(out, "session", session);
	mr_out_text(out, "identity", state->identity);
	mr_out_list(out, "boxes");
	for (size_t i = 0; i < state->boxes.len; i++) {
		const struct mr_mail_jmap_box *box = &state->boxes.items[i];

		mr_out_map(out, NULL);
		mr_out_text(out, "id", box->id);
		mr_out_text(out, "name", box->name);
		mr_out_text(out, "role", box->role);
		mr_out_text(out, "parentId", box->is_below ? "" : NULL);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_end(out);
}

void mr_mail_jmap_remember(struct mr_mail_jmap *state)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const char *path = state->account.known_file, *url = NULL;
	struct mr_bytes session = mr_jmap_remember(state->jmap, &url);
	struct mr_err ignored;
	struct mr_out out;

	if (!path || session.len == 0 ||
		(!state->is_changed && session.len == state->session.len &&
			memcmp(session.data, state->session.data, session.len) == 0))
		return;
	mr_buf_init(&buf, FILE_BYTES);
	mr_out_init_json(&out, &buf, MR_JSON_COMPACT);
	write_known(&out, state, url, session);
	/* It is made again when it is lost, or cannot be written. */
	if (buf.failed ||
		mr_fs_make_dirs(AT_FDCWD,
			mr_arena_strndup(state->arena, path, (size_t)(strrchr(path, '/') - path)),
			0700, &ignored) ||
		mr_fs_write_as(AT_FDCWD, path, mr_buf_bytes(&buf), MR_FS_REPLACE,
			MR_FS_SYNC_NOTHING, FILE_MODE, &ignored))
		return;
	state->is_changed = false;
}

/* --- failures --- */

static const char *advice(const struct mr_mail_jmap *state, struct mr_arena *arena,
	enum mr_code code, const char *message)
{
	const struct mr_mail_jmap_account *account = &state->account;

	switch (code) {
	case MR_EAUTH:
		return mr_arena_printf(arena,
			"the password of `%s`%s%s is wrong or has expired: give the right one with "
			"mailroom agents bind --transport stalwart --password-file FILE",
			account->login, account->credential_file ? " in " : "",
			account->credential_file ? account->credential_file : "");
	case MR_ENOTFOUND:
		return mr_arena_printf(arena,
			"the login `%s` needs an account with mail on the server: mailroom agents "
			"bind makes it when the server's management may be used",
			account->login);
	case MR_EREMOTE:
		return strstr(message, "certificate")
			? "if it is the right server, name the authority that signed its "
			  "certificate with mailroom agents bind --transport stalwart --ca-file FILE"
			: NULL;
	default:
		return NULL;
	}
}

enum mr_code mr_mail_jmap_explain(struct mr_ctx *cx, const struct mr_mail_jmap *state,
	enum mr_code rc)
{
	struct mr_err why = cx->err;
	const char *what = advice(state, cx->arena, rc, why.msg);

	if (rc && what) {
		mr_err_set(&cx->err, rc, "%s; %s", mr_arena_strdup(cx->arena, why.msg), what);
		cx->err.word = why.word;
	}
	/* What is refused to the mailbox's login is not refused to who asks us. */
	if (rc == MR_EAUTH || rc == MR_EPERM || rc == MR_ELIMIT)
		mr_err_word(&cx->err, mr_mail_failed);
	return rc;
}
