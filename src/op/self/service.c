/* op/self/service.c - operations: the server as a systemd user service, started by its sockets. */
#include "app/locations.h"
#include "app/settings.h"
#include "app/unit_file.h"
#include "base/fs.h"
#include "base/proc.h"
#include "op/call.h"
#include "op/contract.h"
#include "op/nouns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNITS = 2, UNIT_BYTES = 64 << 10, SYSTEMCTL_MS = 60000, OUTPUT_BYTES = 64 << 10 };

#define BY_HAND "start the server yourself: mailroom serve"

struct unit {
	const char *name, *path, *state;
	const char *there; /* its text, or NULL */
};

static const struct mr_field unit_fields[] = {
	MR_FIELD(struct unit, name, "name"),
	MR_FIELD(struct unit, path, "path"),
	MR_FIELD(struct unit, state, "state",
		.summary = "missing, installed, outdated, edited (by you) or foreign (not ours)"),
	{ 0 },
};

struct service {
	struct unit units[UNITS], *rows;
	size_t len;
	const char *manager; /* running, degraded, ...; "" where there is none */
	const char *active;
	struct mr_texts advice;
};

static const struct mr_field service_fields[] = {
	MR_FIELD(struct service, manager, "manager",
		.summary = "the state of the user's systemd; empty where none runs"),
	MR_FIELD(struct service, active, "active", .summary = "of the socket unit"),
	MR_FIELD_ROWS(struct service, rows, len, struct unit, unit_fields, "units"),
	MR_FIELD(struct service, advice, "advice"),
	{ 0 },
};

static void advise(struct mr_call *call, struct service *service, const char *fmt, ...)
	MR_PRINTF(3, 4);
static void advise(struct mr_call *call, struct service *service, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	service->advice.items[service->advice.len++] = mr_arena_vprintf(call->cx.arena, fmt, ap);
	va_end(ap);
}

/* ---- systemctl ---- */

/* The first line that it wrote: of its output, or else of what went wrong. */
static const char *first_line(struct mr_arena *arena, const struct mr_proc_result *result)
{
	const struct mr_bytes *from = result->out.len ? &result->out : &result->err;

	return mr_arena_strndup(arena, (const char *)from->data,
		strcspn((const char *)from->data, "\n"));
}

static enum mr_code systemctl(struct mr_call *call, const char *const *words,
	struct mr_proc_result *out)
{
	const char *argv[16] = { "systemctl", "--user" };
	const struct mr_proc proc = { .argv = argv,
		.timeout_ms = SYSTEMCTL_MS,
		.max_output = OUTPUT_BYTES };

	for (size_t i = 0; words[i]; i++)
		argv[i + 2] = words[i];
	return mr_proc_run(call->cx.arena, &proc, out, &call->cx.err);
}

/* Run it; that it must succeed is the caller's wish. */
static enum mr_code must(struct mr_call *call, const char *const *words)
{
	struct mr_proc_result result;
	struct mr_texts all = { (const char **)words, 0 };
	enum mr_code rc = systemctl(call, words, &result);

	while (words[all.len])
		all.len++;
	if (!rc && result.exit_status != 0)
		rc = mr_err_set(&call->cx.err, MR_EREMOTE, "systemctl --user %s failed: %s",
			mr_str_join(call->cx.arena, &all, " "),
			first_line(call->cx.arena, &result));
	return rc;
}

/* Is there a user's systemd? `*out` is its state, or "" with the reason in `*why`. */
static void ask_manager(struct mr_call *call, const char **out, const char **why)
{
	static const char *const states[] = { "running", "degraded", "starting", "initializing",
		"maintenance" };
	const char *const words[] = { "is-system-running", NULL };
	struct mr_proc_result result;

	*out = "";
	if (systemctl(call, words, &result)) {
		*why = "there is no systemctl";
		call->cx.err = (struct mr_err){ 0 };
		return;
	}
	*why = first_line(call->cx.arena, &result);
	for (size_t i = 0; i < MR_LEN(states); i++) {
		if (mr_str_eq(*why, states[i]))
			*out = states[i];
	}
	if (!**out && result.err.len)
		*why = mr_arena_strndup(call->cx.arena, (const char *)result.err.data,
			strcspn((const char *)result.err.data, "\n"));
}

static const char *ask_active(struct mr_call *call)
{
	const char *const words[] = { "is-active", MR_UNIT_SOCKET, NULL };
	struct mr_proc_result result;

	if (systemctl(call, words, &result) == MR_OK)
		return first_line(call->cx.arena, &result);
	call->cx.err = (struct mr_err){ 0 };
	return "unknown";
}

/* ---- the units ---- */

static enum mr_code unit_directory(struct mr_call *call, const char **out)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config && *config == '/')
		*out = mr_arena_printf(call->cx.arena, "%s/systemd/user", config);
	else if (!mr_str_is_empty(home))
		*out = mr_arena_printf(call->cx.arena, "%s/.config/systemd/user", home);
	else
		return mr_err_set(&call->cx.err, MR_ENOTFOUND,
			"HOME does not say where the units of a user are");
	return MR_OK;
}

/* A global option of this command line, or NULL. */
static const char *given(struct mr_call *call, const char *option)
{
	const struct mr_invocation *how = call->invocation;
	size_t len = strlen(option);

	for (int i = 1; how && i < how->argc; i++) {
		const char *word = how->argv[i];

		if (mr_str_eq(word, option) && i + 1 < how->argc)
			return mr_locations_absolute(call->cx.arena, how->argv[i + 1]);
		if (strncmp(word, option, len) == 0 && word[len] == '=')
			return mr_locations_absolute(call->cx.arena, word + len + 1);
	}
	return NULL;
}

static enum mr_code wanted_texts(struct mr_call *call, const char *out[UNITS])
{
	const struct mr_settings *s = call->app->settings;
	const int port = (int)mr_settings_int(s, "http.port");
	const struct mr_unit_request request = {
		.program = mr_locations_program_file(call->cx.arena),
		.host = mr_settings_text(s, "http.host"),
		.port = port,
		.socket = mr_locations_socket(call->cx.arena, s, port),
		.runtime_dir = getenv("XDG_RUNTIME_DIR"),
		.config_file = given(call, "--config"),
		.env_file = given(call, "--env-file"),
	};

	out[1] = mr_unit_service(call->cx.arena, &request);
	return mr_unit_socket(call->cx.arena, &request, &out[0], &call->cx.err);
}

/* What stands there, compared with `wanted` (NULL: unknown). */
static enum mr_code look(struct mr_call *call, const char *const *wanted, struct service *out)
{
	static const char *const names[] = { MR_UNIT_SOCKET, MR_UNIT_SERVICE };
	const char *directory = NULL, *why = "";
	enum mr_code rc = unit_directory(call, &directory);

	out->advice.items = mr_arena_array(call->cx.arena, 16, sizeof(*out->advice.items));
	out->active = "unknown";
	for (size_t i = 0; !rc && i < UNITS; i++) {
		struct unit *unit = &out->units[i];
		struct mr_bytes bytes = { NULL, 0 };

		unit->name = names[i];
		unit->path = mr_arena_printf(call->cx.arena, "%s/%s", directory, names[i]);
		if (mr_fs_exists(AT_FDCWD, unit->path))
			rc = mr_fs_read(call->cx.arena, AT_FDCWD, unit->path, UNIT_BYTES, &bytes,
				&call->cx.err);
		unit->there = (const char *)bytes.data;
		unit->state = mr_unit_state_name(
			mr_unit_compare(call->cx.arena, unit->there, wanted ? wanted[i] : NULL));
	}
	if (rc)
		return rc;
	out->rows = out->units;
	out->len = UNITS;
	ask_manager(call, &out->manager, &why);
	if (*out->manager)
		out->active = ask_active(call);
	else
		advise(call, out,
			"no systemd of this user runs here (%s): log in to a session of "
			"its own, or " BY_HAND,
			why);
	return MR_OK;
}

/* Settings that hold only where this command was typed. */
static void advise_settings(struct mr_call *call, struct service *out)
{
	const char *names = "";

	for (const struct mr_setting *s = mr_setting_table; s->key; s++) {
		const char *source = mr_settings_source(call->app->settings, s->key);

		if (!mr_settings_is_lasting(call->app->settings, s->key) &&
			(mr_str_starts(source, "environment") ||
				mr_str_starts(source, "command line")))
			names = mr_arena_printf(call->cx.arena, "%s%s%s", names, *names ? ", " : "",
				s->key);
	}
	if (*names)
		advise(call, out,
			"the service does not see settings of this shell: put %s into "
			"~/.config/mailroom/mailroom.yaml",
			names);
}

static bool is_state(const struct unit *unit, enum mr_unit_state state)
{
	return mr_str_eq(unit->state, mr_unit_state_name(state));
}

static enum mr_code write_units(struct mr_call *call, const char *const *wanted,
	struct service *service)
{
	const char *directory = NULL;
	bool was_there = false;
	enum mr_code rc = unit_directory(call, &directory);

	if (!rc)
		rc = mr_fs_make_dirs(AT_FDCWD, directory, 0755, &call->cx.err);
	for (size_t i = 0; !rc && i < UNITS; i++) {
		struct unit *unit = &service->units[i];
		const struct mr_bytes bytes = { (const uint8_t *)wanted[i], strlen(wanted[i]) };

		if (is_state(unit, MR_UNIT_EDITED)) {
			advise(call, service,
				"%s was edited and stays as it is: keep such changes in `systemctl "
				"--user edit %s`, remove the file, and install again",
				unit->path, unit->name);
			continue;
		}
		if (is_state(unit, MR_UNIT_CURRENT))
			continue;
		was_there = was_there || unit->there;
		rc = mr_fs_write(AT_FDCWD, unit->path, bytes, MR_FS_REPLACE, 0644, &call->cx.err);
		unit->state = mr_unit_state_name(MR_UNIT_CURRENT);
	}
	if (!rc && was_there)
		advise(call, service,
			"a server that runs goes on as it was started: systemctl "
			"--user restart " MR_UNIT_SOCKET " " MR_UNIT_SERVICE);
	return rc;
}

static enum mr_code install(struct mr_call *call, const struct mr_nothing *asked,
	struct service *out)
{
	const char *const reload[] = { "daemon-reload", NULL };
	const char *const enable[] = { "enable", "--now", MR_UNIT_SOCKET, NULL };
	const char *wanted[UNITS];
	enum mr_code rc = wanted_texts(call, wanted);

	(void)asked;
	if (!rc)
		rc = look(call, wanted, out);
	if (!rc && !*out->manager)
		rc = mr_err_set(&call->cx.err, MR_ENOTFOUND, "nothing was installed: %s",
			out->advice.items[0]);
	for (size_t i = 0; !rc && i < UNITS; i++) {
		if (is_state(&out->units[i], MR_UNIT_FOREIGN))
			rc = mr_err_set(&call->cx.err, MR_EEXISTS,
				"%s is there and was not written by Mailroom: move it away, and "
				"install again",
				out->units[i].path);
	}
	if (!rc)
		rc = write_units(call, wanted, out);
	if (!rc)
		rc = must(call, reload);
	if (!rc)
		rc = must(call, enable);
	if (rc)
		return rc;
	advise_settings(call, out);
	out->active = ask_active(call);
	return MR_OK;
}
MR_BIND_ALONE(installing, install, struct mr_nothing, struct service);

static enum mr_code status(struct mr_call *call, const struct mr_nothing *asked,
	struct service *out)
{
	const char *wanted[UNITS];
	bool is_known = wanted_texts(call, wanted) == MR_OK;

	(void)asked;
	call->cx.err = (struct mr_err){ 0 };
	return look(call, is_known ? wanted : NULL, out);
}
MR_BIND_ALONE(asking, status, struct mr_nothing, struct service);

static enum mr_code remove_units(struct mr_call *call, const struct mr_nothing *asked,
	struct service *out)
{
	const char *const disable[] = { "disable", "--now", MR_UNIT_SOCKET, MR_UNIT_SERVICE, NULL };
	const char *const reload[] = { "daemon-reload", NULL };
	bool is_ours = false;
	enum mr_code rc = look(call, NULL, out);

	(void)asked;
	for (size_t i = 0; !rc && i < UNITS; i++)
		is_ours = is_ours || is_state(&out->units[i], MR_UNIT_CURRENT) ||
			is_state(&out->units[i], MR_UNIT_EDITED);
	if (!rc && is_ours && *out->manager)
		rc = must(call, disable);
	for (size_t i = 0; !rc && i < UNITS; i++) {
		struct unit *unit = &out->units[i];

		if (is_state(unit, MR_UNIT_EDITED) || is_state(unit, MR_UNIT_FOREIGN)) {
			advise(call, out, "%s %s and was left: remove it yourself", unit->path,
				is_state(unit, MR_UNIT_EDITED) ? "was edited" : "is not ours");
			continue;
		}
		if (unit->there && unlink(unit->path) != 0)
			rc = mr_err_os(&call->cx.err, errno, "cannot remove %s", unit->path);
		unit->state = mr_unit_state_name(MR_UNIT_MISSING);
	}
	if (!rc && is_ours && *out->manager)
		rc = must(call, reload);
	if (!rc && *out->manager)
		out->active = ask_active(call);
	return rc;
}
MR_BIND_ALONE(removing, remove_units, struct mr_nothing, struct service);

const struct mr_op mr_op_service_install = {
	.name = "service_install",
	.command = "service install",
	.summary = "Have systemd start the server when somebody connects",
	.help = "Writes mailroom.socket and mailroom.service among your own units, with the port and "
		"the socket that the settings name, and enables the first. Doing it again changes "
		"nothing; units that you edited stay as they are.",
	.result = service_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &installing,
};

const struct mr_op mr_op_service_status = {
	.name = "service_status",
	.command = "service status",
	.summary = "Show whether the service is installed and listens",
	.result = service_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &asking,
};

const struct mr_op mr_op_service_remove = {
	.name = "service_remove",
	.command = "service remove",
	.summary = "Stop the service and remove the units that Mailroom wrote",
	.help = "Units that you edited, and those that are not Mailroom's, are named and stay.",
	.result = service_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &removing,
};
