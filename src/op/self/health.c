/* op/self/health.c - operations: liveness, readiness and health of the program. */
#include "app/principal.h"
#include "app/settings.h"
#include "base/fs.h"
#include "base/log.h"
#include "op/call.h"
#include "op/contract.h"
#include "op/nouns.h"
#include "op/team/team_home.h"
#include "team/store/pulse.h"

#include <errno.h>
#include <unistd.h>

enum {
	FRESH_MS = 500, /* the last result is reused for so long */
	WRITE_MS = 900, /* and a check takes no longer: supervisors give up after a second */
};

struct status {
	const char *protocol_version; /* of health alone */
	const char *status;
	struct mr_db_server database; /* zeros where its engine is in this process */
};

static const struct mr_field status_fields[] = {
	MR_FIELD(struct status, status, "status"),
	{ 0 },
};

/* Of a database on a server; left out else. */
#define SERVER_FIELDS                                                                              \
	MR_FIELD(struct status, database.engine, "engine", .flags = MR_OPTIONAL,                   \
		.summary = "of a database on a server; so is what follows"),                       \
		MR_FIELD(struct status, database.connections, "connections", .flags = MR_OPTIONAL, \
			.summary = "to it, of all programs"),                                      \
		MR_FIELD(struct status, database.connections_max, "connections_max",               \
			.flags = MR_OPTIONAL, .summary = "that it lets in"),                       \
		MR_FIELD(struct status, database.standbys, "standbys", .flags = MR_OPTIONAL,       \
			.summary = "that follow it"),                                              \
		MR_FIELD(struct status, database.lag_ms, "standby_lag_ms", .flags = MR_OPTIONAL,   \
			.summary = "of the slowest of them, when it is not 0"),                    \
		MR_FIELD(struct status, database.round_trip_us, "round_trip_us",                   \
			.flags = MR_OPTIONAL, .summary = "of a small question to it")

static const struct mr_field ready_fields[] = {
	MR_FIELD(struct status, status, "status"),
	SERVER_FIELDS,
	{ 0 },
};

static const struct mr_field health_fields[] = {
	MR_FIELD(struct status, protocol_version, "protocol_version"),
	MR_FIELD(struct status, status, "status"),
	SERVER_FIELDS,
	{ 0 },
};

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

/*
 * Does the team's database accept a write now? Concurrent checks share one write, so that
 * unauthenticated callers cannot keep the disk busy.
 */
static enum mr_code check_database(struct mr_call *call)
{
	return mr_team_home_pulse(call, FRESH_MS, WRITE_MS)
		? mr_err_wrap(&call->cx.err, "not ready")
		: MR_OK;
}

/*
 * Any failure means "not ready". Callers on this machine see paths in the message; others, who need
 * no token for this, are referred to the log.
 */
static enum mr_code check_ready(struct mr_call *call, struct status *out)
{
	const struct mr_principal *who = call->principal;
	enum mr_code rc = check_storage(call);

	if (!rc)
		rc = check_database(call);
	if (!rc && !mr_team_home_server(call, &out->database))
		out->database = (struct mr_db_server){ 0 };
	if (!rc)
		return MR_OK;
	if (who && !who->is_local) {
		mr_log(MR_LOG_WARN, "health.not_ready", "%s", call->cx.err.msg);
		mr_err_set(&call->cx.err, MR_EBUSY,
			"not ready: mail cannot be stored at the moment; the server's log says "
			"why");
	}
	call->cx.err.code = MR_EBUSY;
	return MR_EBUSY;
}

static enum mr_code tell_alive(struct mr_call *call, const struct mr_nothing *asked,
	struct status *out)
{
	(void)call;
	(void)asked;
	out->status = "alive";
	return MR_OK;
}
MR_BIND_ALONE(live, tell_alive, struct mr_nothing, struct status);

static enum mr_code tell_ready(struct mr_call *call, const struct mr_nothing *asked,
	struct status *out)
{
	(void)asked;
	out->status = "ready";
	return check_ready(call, out);
}
MR_BIND_ALONE(ready, tell_ready, struct mr_nothing, struct status);

static enum mr_code tell_health(struct mr_call *call, const struct mr_nothing *asked,
	struct status *out)
{
	(void)asked;
	*out = (struct status){ .protocol_version = "v1", .status = "ok" };
	return check_ready(call, out);
}
MR_BIND_ALONE(health, tell_health, struct mr_nothing, struct status);

const struct mr_op mr_op_health = {
	.name = "health",
	.command = "health",
	.route = "GET /health",
	.summary = "Check that Mailroom can work here",
	.result = health_fields,
	.traits = MR_OPEN,
	.surfaces = MR_ON_CLI | MR_ON_HTTP,
	.contract = &mr_contract_plain,
	.bind = &health,
};

const struct mr_op mr_op_liveness = {
	.name = "health_liveness",
	.command = "health liveness",
	.route = "GET /health/liveness",
	.summary = "Say that the program runs",
	.result = status_fields,
	.traits = MR_QUICK | MR_OPEN,
	.surfaces = MR_ON_CLI | MR_ON_HTTP,
	.contract = &mr_contract_plain,
	.bind = &live,
};

const struct mr_op mr_op_readiness = {
	.name = "health_readiness",
	.command = "health readiness",
	.route = "GET /health/readiness",
	.summary = "Say whether requests that keep data would succeed",
	.result = ready_fields,
	.traits = MR_OPEN,
	.surfaces = MR_ON_CLI | MR_ON_HTTP,
	.contract = &mr_contract_plain,
	.bind = &ready,
};
