/* op/health.c - is this program alive, ready, well? */
#include "base/fs.h"
#include "op/args.h"
#include "op/call.h"
#include "op/envelope.h"
#include "op/nouns.h"
#include "op/out.h"
#include "op/settings.h"

#include <errno.h>
#include <unistd.h>

static const struct mr_field status_fields[] = {
	{ .name = "status", .type = MR_TYPE_TEXT },
	{ 0 },
};

static const struct mr_field health_fields[] = {
	{ .name = "protocol_version", .type = MR_TYPE_TEXT },
	{ .name = "status", .type = MR_TYPE_TEXT },
	{ 0 },
};

static enum mr_code say(struct mr_out *out, const char *status)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "status", status);
	mr_out_end(out);
	return MR_OK;
}

static enum mr_code live(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	(void)call;
	(void)in;
	return say(out, "alive");
}

/* Can data be kept? Made when missing, so that the first start of a new user is ready. */
static enum mr_code check_storage(struct mr_call *call)
{
	const char *root;

	if (mr_settings_path(call->app->settings, "storage.root", &root, &call->cx.err))
		return mr_err_wrap(&call->cx.err, "not ready");
	if (mr_fs_make_dirs(AT_FDCWD, root, 0700, &call->cx.err))
		return mr_err_wrap(&call->cx.err, "not ready: storage.root");
	if (faccessat(AT_FDCWD, root, R_OK | W_OK | X_OK, AT_EACCESS))
		return mr_err_os(&call->cx.err, errno, "not ready: storage.root %s", root);
	return MR_OK;
}

static enum mr_code ready(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	(void)in;
	if (check_storage(call)) {
		/* Whatever the cause, to the one who asks it means: not now. */
		call->cx.err.code = MR_EBUSY;
		return MR_EBUSY;
	}
	return say(out, "ready");
}

static enum mr_code health(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	(void)in;
	if (check_storage(call)) {
		call->cx.err.code = MR_EBUSY;
		return MR_EBUSY;
	}
	mr_out_map(out, NULL);
	mr_out_text(out, "protocol_version", "v1");
	mr_out_text(out, "status", "ok");
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_health = {
	.name = "health",
	.command = "health",
	.route = "GET /health",
	.summary = "Check that Mailroom can work here",
	.result = health_fields,
	.traits = MR_OPEN,
	.surfaces = MR_ON_CLI | MR_ON_HTTP,
	.envelope = &mr_envelope_plain,
	.run = health,
};

const struct mr_op mr_op_liveness = {
	.name = "health_liveness",
	.command = "health liveness",
	.route = "GET /health/liveness",
	.summary = "Say that the program runs",
	.result = status_fields,
	.traits = MR_QUICK | MR_OPEN,
	.surfaces = MR_ON_CLI | MR_ON_HTTP,
	.envelope = &mr_envelope_plain,
	.run = live,
};

const struct mr_op mr_op_readiness = {
	.name = "health_readiness",
	.command = "health readiness",
	.route = "GET /health/readiness",
	.summary = "Say whether requests that keep data would succeed",
	.result = status_fields,
	.traits = MR_OPEN,
	.surfaces = MR_ON_CLI | MR_ON_HTTP,
	.envelope = &mr_envelope_plain,
	.run = ready,
};
