/* op/team/contract_team.c - the team contract: who may act, the open team, what errors look like.
 */
#include "op/team/contract_team.h"

#include "op/agent_auth.h"
#include "op/args.h"
#include "op/op.h"
#include "op/team/team_home.h"
#include "team/error.h"

#include <string.h>

static enum mr_code check_admin(struct mr_call *call, const struct mr_param *param,
	const struct mr_args *in)
{
	if (!(param->flags & MR_ADMIN_ONLY) || call->is_admin ||
		!mr_args_bool(in, param->name, false))
		return MR_OK;
	mr_team_fail(&call->cx, MR_TEAM_PERMISSION_DENIED,
		"only an administrator may set %s; on the server's machine: mailroom team",
		param->name);
	return mr_team_fail_text(&call->cx, "argument", param->name);
}

enum mr_code mr_contract_team_open(struct mr_call *call, struct mr_team **out)
{
	return mr_team_home_open(call, out);
}

/* What can be refused without the team is refused before it is opened. */
enum mr_code mr_contract_team_enter(struct mr_call *call, const struct mr_op *op,
	const struct mr_args *in, void **part)
{
	struct mr_team *team = NULL;
	enum mr_code rc = MR_OK;

	if (mr_agent_auth_asks(call, op, in))
		rc = mr_contract_team_open(call, &team);
	if (!rc)
		rc = mr_agent_auth_check(call, team, op, in);
	for (size_t i = 0; !rc && i < mr_param_count(op->params); i++)
		rc = check_admin(call, &op->params[i], in);
	if (rc || !part)
		return rc;
	if (!team)
		rc = mr_contract_team_open(call, &team);
	if (!rc)
		*part = team;
	return rc;
}

/* The contract's type for an error that carries none. */
static const char *type_of(const struct mr_err *err)
{
	if (err->word)
		return err->word;
	switch (err->code) {
	case MR_EINVAL:
		return MR_TEAM_INVALID_ARGUMENT;
	case MR_ENOTFOUND:
		return MR_TEAM_NOT_FOUND;
	case MR_ELIMIT:
		return MR_TEAM_PAYLOAD_TOO_LARGE;
	case MR_EAUTH:
	case MR_EPERM:
	case MR_ENOTCONFIRMED:
		return MR_TEAM_PERMISSION_DENIED;
	default:
		return MR_TEAM_UNHANDLED;
	}
}

/* Can the caller do something about it? */
static bool is_recoverable(const struct mr_err *err, const char *type)
{
	if (mr_str_eq(type, MR_TEAM_UNHANDLED))
		return mr_code_is_retryable(err->code);
	return !mr_str_eq(type, MR_TEAM_CAPABILITY_DENIED) &&
		!mr_str_eq(type, MR_TEAM_CONTACT_BLOCKED);
}

/* "$.cc[0]" is the argument cc. */
static void say_argument(struct mr_out *out, const struct mr_issues *issues)
{
	const char *path = issues->items[0].path;
	const char *name = mr_str_starts(path, "$.") ? path + 2 : path;

	mr_out_text(out, "argument", mr_arena_strndup(issues->arena, name, strcspn(name, ".[")));
	mr_out_list(out, "issues");
	for (size_t i = 0; i < issues->len; i++) {
		mr_out_map(out, NULL);
		mr_out_text(out, "path", issues->items[i].path);
		mr_out_text(out, "message", issues->items[i].msg);
		mr_out_end(out);
	}
	mr_out_end(out);
}

void mr_contract_team_error(struct mr_out *out, const struct mr_err *err)
{
	const char *type = type_of(err);
	const struct mr_value *data = mr_team_fail_data(err);

	mr_out_map(out, NULL);
	mr_out_map(out, "error");
	mr_out_text(out, "type", type);
	mr_out_text(out, "message", err->msg);
	mr_out_bool(out, "recoverable", is_recoverable(err, type));
	mr_out_map(out, "data");
	if (err->issues && err->issues->len > 0)
		say_argument(out, err->issues);
	if (!data && mr_str_eq(type, MR_TEAM_UNHANDLED))
		mr_out_text(out, "original_error", mr_code_name(err->code));
	for (size_t i = 0; data && i < data->map.len; i++)
		mr_out_value(out, data->map.pairs[i].key, &data->map.pairs[i].value);
	mr_out_end(out);
	mr_out_end(out);
	mr_out_end(out);
}

/* For an unexpected failure name at least the tool. When one tool runs another, the inner one is
 * named first, and stays. */
static void leave_team(struct mr_call *call, const struct mr_op *op, void *part, enum mr_code rc)
{
	struct mr_ctx *cx = &call->cx;

	(void)part; /* stays open for the next operation */
	if (!rc || mr_team_fail_data(&cx->err) || !mr_str_eq(type_of(&cx->err), MR_TEAM_UNHANDLED))
		return;
	mr_team_fail_text(cx, "tool", op->name);
	mr_team_fail_text(cx, "original_error", mr_code_name(cx->err.code));
}

const struct mr_contract mr_contract_team = {
	.take = mr_agent_auth_take_token,
	.enter = mr_contract_team_enter,
	.leave = leave_team,
	.error = mr_contract_team_error,
};
