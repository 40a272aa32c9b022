/* mailbox/agent_make.c - makes sessions of agents, binds them to mailboxes, and removes them. */
#include "mailbox/agent_make.h"

#include "base/fs.h"
#include "base/lock.h"
#include "mailbox/agent_unfinished.h"
#include "mailbox/open.h"
#include "text/out.h"
#include "text/time.h"
#include "text/token.h"

#include <string.h>

/* What the ids of our sessions begin with. */
#define OURS "mailroom-"
/* In the registry. One command at a time makes an agent, or two could get the same name. */
#define LOCK "mailroom-agents.lock"

enum {
	NAME_BYTES = 64,
	SESSION_DIGITS = 8,
	LEASE_DAYS = 36500,
	DIR_MODE = 0700,
	LOCK_MS = 60000, /* longer than a mailbox root makes one wait */
};

static const char NAME_CHARS[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

/* The programs of agents, and where each keeps its configuration. */
static const struct tool {
	const char *name, *backend, *variable, *home;
} tools[] = {
	{ "claude", "claude_headless", "CLAUDE_CONFIG_DIR", ".claude" },
	{ "codex", "codex_headless", "CODEX_HOME", ".codex" },
};

struct making {
	const struct mr_mailbox_agent_new *asked;
	const struct tool *tool;
	const char *role, *tmux_session;
	const char *agent_id, *session_id, *generation_id;
	const char *sessions; /* where sessions of its kind are */
	const char *session;  /* its directory */
	const char *record;
	const char *now;
};

static enum mr_code check_name(struct mr_ctx *cx, const char *name)
{
	size_t len = strlen(name);

	if (len && len <= NAME_BYTES && strspn(name, NAME_CHARS) == len && name[0] != '-' &&
		name[0] != '.')
		return MR_OK;
	return mr_err_set(&cx->err, MR_EINVAL,
		"the name of an agent has 1 to %d letters, digits or any of . _ -, and begins with "
		"a letter, a digit or _",
		NAME_BYTES);
}

static enum mr_code find_tool(struct mr_ctx *cx, const char *name, const struct tool **out)
{
	for (size_t i = 0; i < MR_LEN(tools); i++) {
		if (mr_str_eq(tools[i].name, name)) {
			*out = &tools[i];
			return MR_OK;
		}
	}
	return mr_err_set(&cx->err, MR_EINVAL, "tool must be claude or codex, not `%.50s`", name);
}

static enum mr_code check_free(struct mr_ctx *cx, const struct mr_mailbox_agent_new *asked)
{
	struct mr_mailbox_record taken;
	enum mr_code rc = mr_mailbox_registry_find(cx, asked->registry, NULL, asked->name, &taken);

	if (rc == MR_ENOTFOUND)
		return MR_OK;
	return rc ? rc
		  : mr_err_set(&cx->err, MR_EEXISTS, "an agent named `%s` is there already (%s)",
			    asked->name, taken.agent_id);
}

/* Random, in the form with dashes. */
static const char *make_uuid(struct mr_ctx *cx)
{
	const char *hex = mr_token_uuid4_hex(cx->arena, cx->rand);

	return mr_arena_printf(cx->arena, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12,
		hex + 16, hex + 20);
}

static void put_plan(struct mr_ctx *cx, struct mr_out *out, const struct making *m)
{
	mr_out_map(out, "launch_plan");
	mr_out_text(out, "backend", m->tool->backend);
	mr_out_text(out, "tool", m->tool->name);
	mr_out_text(out, "executable", m->tool->name);
	mr_out_list(out, "args");
	mr_out_end(out);
	mr_out_text(out, "working_directory", m->asked->directory);
	mr_out_map(out, "home_selector");
	mr_out_text(out, "env_var", m->tool->variable);
	mr_out_text(out, "home_path",
		mr_arena_printf(cx->arena, "%s/%s", m->asked->home, m->tool->home));
	mr_out_end(out);
	mr_out_list(out, "env_var_names");
	mr_out_end(out);
	mr_out_map(out, "role_injection");
	mr_out_text(out, "method", "cao_profile");
	mr_out_text(out, "role_name", m->role);
	mr_out_end(out);
	mr_out_map(out, "metadata");
	mr_out_end(out);
	mr_out_null(out, "mailbox");
	mr_out_end(out);
}

static void put_authorities(struct mr_out *out, const struct making *m)
{
	mr_out_map(out, "agent_launch_authority");
	mr_out_text(out, "backend", m->tool->backend);
	mr_out_text(out, "tool", m->tool->name);
	mr_out_text(out, "tmux_session_name", m->tmux_session);
	mr_out_text(out, "working_directory", m->asked->directory);
	mr_out_end(out);
	mr_out_map(out, "gateway_authority");
	mr_out_map(out, "attach");
	mr_out_end(out);
	mr_out_map(out, "control");
	mr_out_end(out);
	mr_out_end(out);
	mr_out_map(out, "headless");
	mr_out_null(out, "session_id");
	mr_out_int(out, "turn_index", 0);
	mr_out_bool(out, "role_bootstrap_applied", true);
	mr_out_text(out, "working_directory", m->asked->directory);
	mr_out_end(out);
}

static void put_generation(struct mr_out *out, const struct making *m)
{
	mr_out_text(out, "registry_generation_id", m->generation_id);
	mr_out_text(out, "registry_launch_authority", "runtime");
}

static const char *below(struct mr_ctx *cx, const struct making *m, const char *name)
{
	return mr_arena_printf(cx->arena, "%s/%s", m->session, name);
}

/* The keys are those that the runtime asks of a session with tmux. */
static const struct mr_value *make_manifest(struct mr_ctx *cx, const struct making *m)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_int(&out, "schema_version", 4);
	mr_out_text(&out, "backend", m->tool->backend);
	mr_out_text(&out, "tool", m->tool->name);
	mr_out_text(&out, "role_name", m->role);
	mr_out_text(&out, "created_at_utc", m->now);
	mr_out_text(&out, "working_directory", m->asked->directory);
	mr_out_text(&out, "brain_manifest_path", below(cx, m, "brain_manifest.json"));
	mr_out_text(&out, "agent_name", m->asked->name);
	mr_out_text(&out, "agent_id", m->agent_id);
	mr_out_text(&out, "tmux_session_name", m->tmux_session);
	put_generation(&out, m);
	mr_out_map(&out, "runtime");
	mr_out_text(&out, "session_id", m->session_id);
	mr_out_text(&out, "agent_def_dir", below(cx, m, "agent_def"));
	put_generation(&out, m);
	mr_out_end(&out);
	mr_out_map(&out, "tmux");
	mr_out_text(&out, "session_name", m->tmux_session);
	mr_out_end(&out);
	mr_out_map(&out, "interactive");
	mr_out_end(&out);
	put_authorities(&out, m);
	put_plan(cx, &out, m);
	mr_out_map(&out, "backend_state");
	mr_out_end(&out);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

static void put_life(struct mr_ctx *cx, struct mr_out *out, const struct making *m)
{
	int64_t until = mr_clock_wall_us(cx->clock) + LEASE_DAYS * MR_TIME_DAY;

	mr_out_map(out, "lifecycle");
	mr_out_text(out, "state", "active");
	mr_out_bool(out, "relaunchable", true);
	mr_out_text(out, "state_updated_at", m->now);
	mr_out_null(out, "stop_reason");
	mr_out_null(out, "stopped_at");
	mr_out_end(out);
	mr_out_map(out, "liveness");
	mr_out_text(out, "published_at", m->now);
	mr_out_text(out, "lease_expires_at",
		mr_time_format(cx->arena, until, MR_TIME_SECONDS_OFFSET));
	mr_out_end(out);
}

static const struct mr_value *make_record(struct mr_ctx *cx, const struct making *m,
	const struct mr_mailbox_session *session)
{
	struct mr_value mailbox = mr_mailbox_binding_value(cx->arena, &session->binding, true);
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_int(&out, "schema_version", 3);
	mr_out_text(&out, "agent_id", m->agent_id);
	mr_out_text(&out, "agent_name", m->asked->name);
	mr_out_text(&out, "generation_id", m->generation_id);
	mr_out_map(&out, "identity");
	mr_out_text(&out, "backend", m->tool->backend);
	mr_out_text(&out, "tool", m->tool->name);
	mr_out_end(&out);
	put_life(cx, &out, m);
	mr_out_map(&out, "runtime");
	mr_out_text(&out, "manifest_path", below(cx, m, "manifest.json"));
	mr_out_text(&out, "session_root", m->session);
	mr_out_text(&out, "agent_def_dir", below(cx, m, "agent_def"));
	mr_out_end(&out);
	mr_out_map(&out, "terminal");
	mr_out_text(&out, "kind", "tmux");
	mr_out_text(&out, "current_session_name", m->tmux_session);
	mr_out_text(&out, "last_session_name", m->tmux_session);
	mr_out_end(&out);
	mr_out_null(&out, "gateway");
	mr_out_value(&out, "mailbox", &mailbox);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

static const char *directory_of(struct mr_arena *arena, const char *path)
{
	return mr_arena_strndup(arena, path, (size_t)(strrchr(path, '/') - path));
}

/* `*mark` is the lock of what is not finished yet. */
static enum mr_code write_session(struct mr_ctx *cx, const struct making *m, int *mark)
{
	const char *role = mr_arena_printf(cx->arena, "%s/agent_def/roles/%s", m->session, m->role);
	enum mr_code rc = mr_mailbox_unfinished_begin(cx, m->session, m->record, mark);

	if (!rc)
		rc = mr_fs_make_dirs(AT_FDCWD, role, DIR_MODE, &cx->err);
	/* The runtime wants to read it, and has nothing to add to what the agent is told. */
	if (!rc)
		rc = mr_fs_write(AT_FDCWD, mr_arena_printf(cx->arena, "%s/system-prompt.md", role),
			mr_bytes_text(""), MR_FS_NEW, 0600, &cx->err);
	return rc
		? rc
		: mr_mailbox_session_write(cx, below(cx, m, "manifest.json"), make_manifest(cx, m));
}

/* With its record the agent is there. */
static enum mr_code write_record(struct mr_ctx *cx, const struct making *m,
	const struct mr_mailbox_session *session)
{
	enum mr_code rc =
		mr_fs_make_dirs(AT_FDCWD, directory_of(cx->arena, m->record), DIR_MODE, &cx->err);

	return rc ? rc : mr_mailbox_session_write(cx, m->record, make_record(cx, m, session));
}

/* Take away what a failure left half done; the reason stays, also when that does not work. */
static enum mr_code give_up(struct mr_ctx *cx, const struct making *m)
{
	struct mr_err ignored;
	enum mr_code rc = mr_fs_remove_all(AT_FDCWD, directory_of(cx->arena, m->record), &ignored);

	if (!rc)
		rc = mr_fs_remove_all(AT_FDCWD, m->session, &ignored);
	(void)rc;
	return cx->err.code;
}

static enum mr_code take_lock(struct mr_ctx *cx, const char *registry, struct mr_lock *out)
{
	enum mr_code rc = mr_fs_make_dirs(AT_FDCWD, registry, DIR_MODE, &cx->err);

	return rc ? rc
		  : mr_lock_take(AT_FDCWD, mr_arena_printf(cx->arena, "%s/" LOCK, registry),
			    "mailroom agents create", LOCK_MS, cx->clock, out, &cx->err);
}

static void name_parts(struct mr_ctx *cx, struct making *m)
{
	const struct mr_mailbox_agent_new *asked = m->asked;

	m->agent_id = mr_token_uuid4_hex(cx->arena, cx->rand);
	m->generation_id = make_uuid(cx);
	m->session_id = mr_arena_printf(cx->arena, OURS "%s-%s", asked->name,
		mr_token_hex(cx->arena, cx->rand, SESSION_DIGITS / 2));
	m->sessions =
		mr_arena_printf(cx->arena, "%s/sessions/%s", asked->runtime, m->tool->backend);
	m->session = mr_arena_printf(cx->arena, "%s/%s", m->sessions, m->session_id);
	m->record = mr_mailbox_registry_path(cx->arena, asked->registry, m->agent_id);
	m->now = mr_time_format(cx->arena, mr_clock_wall_us(cx->clock), MR_TIME_SECONDS_OFFSET);
}

/* The lock is held, and the name is free. */
static enum mr_code make(struct mr_ctx *cx, const struct making *m, struct mr_mailbox_session *out)
{
	const struct mr_mailbox_agent_new *asked = m->asked;
	struct mr_mailbox_agent_bound bound;
	int mark MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = write_session(cx, m, &mark);

	if (!rc)
		rc = mr_mailbox_session_read(cx, below(cx, m, "manifest.json"), out);
	if (!rc && asked->mailbox)
		rc = mr_mailbox_agent_bind(cx, asked->registry, asked->mailbox, asked->mode,
			asked->account, out, &bound);
	if (!rc)
		rc = write_record(cx, m, out);
	if (rc)
		return give_up(cx, m);
	mr_mailbox_unfinished_end(cx, m->session);
	return MR_OK;
}

enum mr_code mr_mailbox_agent_create(struct mr_ctx *cx, const struct mr_mailbox_agent_new *request,
	struct mr_mailbox_session *out)
{
	struct making m = {
		.asked = request,
		.role = request->role ? request->role : request->name,
		.tmux_session = request->tmux_session ? request->tmux_session : request->name,
	};
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	struct mr_mailbox_session session;
	enum mr_code rc = check_name(cx, request->name);

	if (!rc)
		rc = mr_mailbox_binding_check_name(cx, request->name);
	if (!rc)
		rc = check_name(cx, m.role);
	if (!rc)
		rc = find_tool(cx, request->tool, &m.tool);
	if (!rc)
		rc = take_lock(cx, request->registry, &lock);
	if (!rc)
		rc = check_free(cx, request);
	if (rc)
		return rc;
	name_parts(cx, &m);
	mr_mailbox_unfinished_sweep(cx, m.sessions, OURS);
	rc = make(cx, &m, &session);
	if (!rc)
		*out = session;
	return rc;
}

static enum mr_code bind_in_root(struct mr_ctx *cx, const struct mr_mailbox_session *manifest,
	enum mr_mailbox_register_mode mode, struct mr_mailbox_binding *binding,
	struct mr_mailbox_register_result *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_mailbox_register_request account = { .mode = mode };
	enum mr_code rc = mr_mailbox_root_init(cx, binding->root, &root);

	if (rc)
		return rc;
	/* Where it is without links, which is known now that it is there. */
	binding->root = mr_arena_strdup(cx->arena, root.path);
	if (binding->kind == MR_MAILBOX_IN_ROOT)
		binding->path =
			mr_arena_printf(cx->arena, "%s/mailboxes/%s", root.path, binding->address);
	account.address = binding->address;
	account.owner = binding->principal_id;
	account.kind = binding->kind;
	account.path = binding->kind == MR_MAILBOX_SYMLINK ? binding->path : NULL;
	account.manifest_path_hint = manifest->path;
	return mr_mailbox_register(cx, &root, &account, out);
}

static enum mr_code bind_account(struct mr_ctx *cx, const struct mr_mailbox_session *manifest,
	const struct mr_mailbox_account_request *account, struct mr_mailbox_binding *binding,
	struct mr_mailbox_account_result *out)
{
	struct mr_mailbox_account_request request;

	if (!account)
		return mr_err_set(&cx->err, MR_EINVAL,
			"a mailbox on a JMAP server cannot be bound here");
	request = *account;
	request.session = manifest->dir;
	return mr_mailbox_account_prepare(cx, &request, binding, out);
}

enum mr_code mr_mailbox_agent_bind(struct mr_ctx *cx, const char *registry,
	const struct mr_mailbox_declared *declared, enum mr_mailbox_register_mode mode,
	const struct mr_mailbox_account_request *account, struct mr_mailbox_session *manifest,
	struct mr_mailbox_agent_bound *out)
{
	struct mr_mailbox_binding binding;
	struct mr_mailbox_agent_bound bound = { .is_account = false };
	enum mr_code rc =
		mr_mailbox_binding_resolve(cx, declared, manifest->binding.version, &binding);

	if (!rc && binding.transport == MR_MAILBOX_UNBOUND)
		rc = mr_err_set(&cx->err, MR_EINVAL,
			"the transport none is no mailbox; use mailroom agents unbind");
	bound.is_account = !rc && binding.transport == MR_MAILBOX_STALWART;
	if (!rc)
		rc = bound.is_account
			? bind_account(cx, manifest, account, &binding, &bound.account)
			: bind_in_root(cx, manifest, mode, &binding, &bound.registered);
	if (!rc)
		rc = mr_mailbox_session_bind(cx, manifest, &binding);
	if (!rc)
		rc = mr_mailbox_registry_bind(cx, registry, manifest);
	if (!rc)
		*out = bound;
	return rc;
}

enum mr_code mr_mailbox_agent_unbind(struct mr_ctx *cx, const char *registry,
	struct mr_mailbox_session *manifest)
{
	static const struct mr_mailbox_binding unbound = { MR_MAILBOX_UNBOUND };
	struct mr_mailbox_session after = *manifest;
	enum mr_code rc = MR_OK;

	if (manifest->binding.transport == MR_MAILBOX_UNBOUND)
		rc = mr_err_set(&cx->err, MR_ENOTFOUND, "agent %s has no mailbox",
			manifest->agent_name ? manifest->agent_name : "(unnamed)");
	/* The manifest last: as long as it has the binding, this can be asked for again. */
	after.binding = unbound;
	if (!rc)
		rc = mr_mailbox_registry_bind(cx, registry, &after);
	return rc ? rc : mr_mailbox_session_bind(cx, manifest, &unbound);
}

bool mr_mailbox_agent_is_ours(const struct mr_mailbox_session *manifest)
{
	/* What is removed is the directory of this name, whatever else a manifest may say. */
	return manifest->session_id && mr_str_starts(manifest->session_id, OURS) &&
		mr_str_eq(strrchr(manifest->dir, '/') + 1, manifest->session_id);
}

enum mr_code mr_mailbox_agent_lost(struct mr_ctx *cx, const char *registry, const char *named,
	struct mr_mailbox_session *out)
{
	struct mr_mailbox_record record;
	enum mr_code rc = mr_mailbox_registry_find(cx, registry, NULL, named, &record);

	if (rc == MR_ENOTFOUND)
		rc = mr_mailbox_registry_find(cx, registry, named, NULL, &record);
	if (rc)
		return rc;
	if (!record.manifest_path || record.manifest_path[0] != '/' ||
		mr_fs_exists(AT_FDCWD, record.manifest_path))
		return mr_err_set(&cx->err, MR_ENOTFOUND, "agent %s has not lost its session",
			named);
	*out = (struct mr_mailbox_session){
		.path = record.manifest_path,
		.dir = directory_of(cx->arena, record.manifest_path),
		.agent_name = record.agent_name,
		.agent_id = record.agent_id,
		.generation_id = record.generation_id,
	};
	out->session_id = strrchr(out->dir, '/');
	out->session_id = out->session_id ? out->session_id + 1 : NULL;
	return MR_OK;
}

enum mr_code mr_mailbox_agent_remove(struct mr_ctx *cx, const char *registry,
	const struct mr_mailbox_session *manifest)
{
	enum mr_code rc;

	if (!mr_mailbox_agent_is_ours(manifest))
		return mr_err_set(&cx->err, MR_EPERM,
			"the session of agent %s was made by another runtime: stop it there",
			manifest->agent_name ? manifest->agent_name : "(unnamed)");
	rc = mr_fs_remove_all(AT_FDCWD, manifest->dir, &cx->err);
	if (rc)
		return rc;
	return mr_fs_remove_all(AT_FDCWD,
		directory_of(cx->arena,
			mr_mailbox_registry_path(cx->arena, registry, manifest->agent_id)),
		&cx->err);
}
