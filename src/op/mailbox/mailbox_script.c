/*
 * op/mailbox/mailbox_script.c - operation: the managed scripts.
 *
 * Their output is fixed by contract: one JSON object on one line whatever happens, {"ok": true,
 * ...} or
 * {"ok": false, "error": text}; exit status 0, 1 for a failure that was handled, 2 for wrong usage.
 */
#include "base/fs.h"
#include "base/shelf.h"
#include "mailbox/limits.h"
#include "mailbox/open.h"
#include "op/bind.h"
#include "op/call.h"
#include "op/contract.h"
#include "op/mailbox/mailbox_payload.h"
#include "op/mailbox/shape_mailbox.h"
#include "op/nouns.h"
#include "text/json.h"

#include <string.h>

/* What marks an error of the script itself, as opposed to wrong usage. */
static const char HANDLED[] = "handled";

static const char *issues_text(struct mr_arena *arena, const struct mr_err *err)
{
	enum { SHOWN = 5 };
	const char *text = mr_arena_printf(arena, "%s: ", err->word);

	for (size_t i = 0; i < err->issues->len && i < SHOWN; i++)
		text = mr_arena_printf(arena, "%s%s%s: %s", text, i ? "; " : "",
			err->issues->items[i].path,
			mr_mailbox_payload_words(&err->issues->items[i]));
	return text;
}

static void script_error(struct mr_out *out, const struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	bool of_payload = err->issues && err->word;

	mr_out_map(out, NULL);
	mr_out_bool(out, "ok", false);
	mr_out_text(out, "error", of_payload ? issues_text(arena, err) : err->msg);
	mr_out_end(out);
}

static int script_exit_status(const struct mr_err *err)
{
	return err->word ? 1 : 2;
}

static const struct mr_format script_formats[] = {
	{ .name = "json", .json_style = MR_JSON_SPACED | MR_JSON_ASCII },
	{ 0 },
};

static const struct mr_contract script_contract = {
	.error = script_error,
	.exit_status = script_exit_status,
	.formats = script_formats,
};

static const struct script {
	const char *name;
	enum mr_mailbox_payload_kind kind;
	bool needs_payload;
	bool is_reserved; /* published, but it does nothing yet */
} scripts[] = {
	{ "register_mailbox", MR_MAILBOX_PAYLOAD_REGISTER, true, false },
	{ "deregister_mailbox", MR_MAILBOX_PAYLOAD_DEREGISTER, true, false },
	{ "deliver_message", MR_MAILBOX_PAYLOAD_DELIVER, true, false },
	{ "update_mailbox_state", MR_MAILBOX_PAYLOAD_STATE, true, false },
	{ "repair_index", MR_MAILBOX_PAYLOAD_REPAIR, false, false },
	{ "insert_standard_headers", MR_MAILBOX_PAYLOAD_REPAIR, false, true },
};

/* As published, or without the ending. */
static const char *const names[] = { "register_mailbox", "deregister_mailbox", "deliver_message",
	"update_mailbox_state", "repair_index", "insert_standard_headers", "register_mailbox.py",
	"deregister_mailbox.py", "deliver_message.py", "update_mailbox_state.py", "repair_index.py",
	"insert_standard_headers.py", NULL };

struct script_request {
	const char *name, *mailbox_root, *payload_file;
};

static const struct mr_param params[] = {
	MR_PARAM(struct script_request, name, "name", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "which script", .choices = names),
	MR_PARAM(struct script_request, mailbox_root, "mailbox_root",
		.summary = "the mailbox root"),
	MR_PARAM(struct script_request, payload_file, "payload_file",
		.summary = "a file with one JSON object"),
	{ 0 },
};

static const struct script *find_script(const char *name)
{
	const struct script *s = scripts;

	/* The name is one of `names`: the table has it. */
	while (!mr_str_starts(name, s->name))
		s++;
	return s;
}

static enum mr_code read_payload_file(struct mr_ctx *cx, const char *path,
	const struct mr_value **out)
{
	const struct mr_json_limits limits = {
		.max_bytes = MR_MAILBOX_PAYLOAD_BYTES,
		.max_depth = 64,
		.max_nodes = 200000,
	};
	struct mr_bytes text;
	struct mr_err why;
	enum mr_code rc = mr_fs_read(cx->arena, AT_FDCWD, path, limits.max_bytes, &text, &cx->err);

	if (rc == MR_ENOTFOUND)
		return mr_err_set(&cx->err, rc, "payload file not found: %s", path);
	if (rc)
		return mr_err_wrap(&cx->err, "payload file");
	rc = mr_json_parse(cx->arena, text, &limits, out, &why);
	if (rc)
		return mr_err_set(&cx->err, rc, "payload file is not valid JSON: %s (%s)", path,
			why.msg);
	return MR_OK;
}

/* What a script tells, by the table of its kind. */
struct told {
	const struct mr_field *fields;
	union {
		struct mr_mailbox_register_result registered;
		struct mr_mailbox_unregister_result unregistered;
		struct mr_mailbox_deliver_result delivered;
		struct mr_mailbox_state_result state;
		struct mr_mailbox_repair_result repaired;
	};
};

static enum mr_code run_payload(struct mr_ctx *cx, const char *path,
	const struct mr_mailbox_payload *p, struct told *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	enum mr_code rc = MR_OK;

	/* Repair opens what nobody else can. */
	if (p->kind != MR_MAILBOX_PAYLOAD_REPAIR)
		rc = mr_mailbox_root_open(cx, path, MR_MAILBOX_ROOT_WRITE, &root);
	if (rc)
		return rc;
	switch (p->kind) {
	case MR_MAILBOX_PAYLOAD_REGISTER:
		out->fields = mr_shape_mailbox_register_fields;
		return mr_mailbox_register(cx, &root, &p->registration, &out->registered);
	case MR_MAILBOX_PAYLOAD_DEREGISTER:
		out->fields = mr_shape_mailbox_unregister_fields;
		return mr_mailbox_unregister(cx, &root, p->deregistration.mode,
			p->deregistration.address, &out->unregistered);
	case MR_MAILBOX_PAYLOAD_DELIVER:
		out->fields = mr_shape_mailbox_deliver_fields;
		return mr_mailbox_deliver(cx, &root, p->delivery.staged_path, &p->delivery.message,
			&out->delivered);
	case MR_MAILBOX_PAYLOAD_STATE:
		out->fields = mr_shape_mailbox_state_fields;
		return mr_mailbox_state_update(cx, &root, p->state.address, p->state.message_id,
			&p->state.flags, &out->state);
	case MR_MAILBOX_PAYLOAD_REPAIR:
		out->fields = mr_shape_mailbox_repair_fields;
		return mr_mailbox_repair(cx, path, &p->repair, &out->repaired);
	}
	return rc;
}

static enum mr_code run_script(struct mr_ctx *cx, const struct script *script,
	const struct script_request *asked, struct told *out)
{
	static const struct mr_value no_fields = { .kind = MR_MAP };
	const struct mr_value *value = &no_fields;
	struct mr_mailbox_payload payload;
	enum mr_code rc = MR_OK;

	if (script->is_reserved)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"%s.py is reserved: headers are not normalised yet", script->name);
	if (asked->payload_file)
		rc = read_payload_file(cx, asked->payload_file, &value);
	if (!rc && !script->needs_payload && value->kind == MR_NULL)
		value = &no_fields;
	if (!rc)
		rc = mr_mailbox_payload_read(cx, script->kind, value, &payload);
	if (rc)
		return rc;
	cx->shelf = mr_shelf_new();
	rc = run_payload(cx, asked->mailbox_root, &payload, out);
	mr_shelf_freep(&cx->shelf);
	return rc;
}

/* Not bound: which object is the result depends on the script. */
static enum mr_code script(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct script_request asked = { 0 };
	const struct script *script;
	struct told told;
	enum mr_code rc;

	mr_bind_request(call->cx.arena, in, &asked);
	script = find_script(asked.name);
	if (!script->is_reserved && !asked.mailbox_root)
		return mr_err_set(&call->cx.err, MR_EINVAL, "--mailbox-root is required");
	if (script->needs_payload && !asked.payload_file)
		return mr_err_set(&call->cx.err, MR_EINVAL, "--payload-file is required");
	rc = run_script(&call->cx, script, &asked, &told);
	if (!rc)
		mr_bind_object(out, NULL, told.fields, &told.registered);
	else if (!call->cx.err.word)
		mr_err_word(&call->cx.err, HANDLED);
	return rc;
}

const struct mr_op mr_op_mailbox_script = {
	.name = "mailbox_script",
	.command = "mailbox script",
	.summary = "Run a managed script: one JSON payload in, one JSON object out",
	.help = "What the scripts in a root's rules/scripts/ call. Exit status 0, 1 for a failure "
		"that "
		"was handled, 2 for wrong usage; the output is one JSON object in any case.",
	.params = params,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &script_contract,
	.run = script,
};
