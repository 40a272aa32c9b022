/* mailbox/registry.c - finds the agents of this machine by their records. */
#include "mailbox/registry.h"

#include "base/fs.h"
#include "base/oom.h"
#include "base/shelf.h"
#include "base/utf8.h"
#include "mailbox/inside.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIVE   "live_agents"
#define RECORD "record.json"
#define PREFIX "HOUMAO-"

static const char ACTIVE[] = "active";

const char *mr_mailbox_registry_path(struct mr_arena *arena, const char *registry,
	const char *agent_id)
{
	return mr_arena_printf(arena, "%s/" LIVE "/%s/" RECORD, registry, agent_id);
}

static void read_record(struct mr_ctx *cx, const char *registry, const char *agent_id,
	struct mr_mailbox_record *out)
{
	const struct mr_value *value = NULL;

	*out = (struct mr_mailbox_record){
		.path = mr_mailbox_registry_path(cx->arena, registry, agent_id),
		.agent_id = agent_id,
	};
	if (mr_mailbox_session_load(cx, out->path, &value)) {
		out->problem = mr_arena_strdup(cx->arena, cx->err.msg);
		return;
	}
	out->value = value;
	out->agent_name = mr_mailbox_session_text(value, "agent_name");
	out->generation_id = mr_mailbox_session_text(value, "generation_id");
	out->manifest_path =
		mr_mailbox_session_text(mr_value_get(value, "runtime"), "manifest_path");
	out->state = mr_mailbox_session_text(mr_value_get(value, "lifecycle"), "state");
}

enum mr_code mr_mailbox_registry_list(struct mr_ctx *cx, const char *registry,
	struct mr_mailbox_records *out)
{
	struct mr_texts names = { NULL, 0 };
	enum mr_code rc =
		mr_fs_list(cx->arena, AT_FDCWD, mr_arena_printf(cx->arena, "%s/" LIVE, registry),
			MR_MAILBOX_AGENTS, &names, &cx->err);

	*out = (struct mr_mailbox_records){ NULL, 0 };
	if (rc)
		return rc == MR_ENOTFOUND ? MR_OK : rc;
	out->items = mr_arena_array(cx->arena, names.len + 1, sizeof(*out->items));
	for (size_t i = 0; i < names.len; i++) {
		/* A directory without a record is one that is being made, or was removed. */
		if (mr_fs_exists(AT_FDCWD,
			    mr_mailbox_registry_path(cx->arena, registry, names.items[i])))
			read_record(cx, registry, names.items[i], &out->items[out->len++]);
	}
	return MR_OK;
}

/* A name with and without the prefix is the same. */
static const char *bare(const char *name)
{
	return mr_str_starts(name, PREFIX) ? name + strlen(PREFIX) : name;
}

static bool is_active(const struct mr_mailbox_record *record)
{
	return mr_str_eq(record->state, ACTIVE);
}

/* The record that answers to a name, an active one before others. */
struct match {
	const char *agent_id; /* or NULL */
	bool is_active;
	size_t rivals;       /* that answer as well */
	struct mr_texts ids; /* of all that have the name, with room for all agents */
	bool is_recalled;    /* only who had the name before is looked at */
	bool is_incomplete;  /* a record could not be read: it may be just being written */
};

/*
 * Can the record have this text? Most are about other agents, and need not be parsed: without
 * escapes a text stands in it as it is.
 */
static bool may_say(struct mr_arena *arena, const char *path, const char *text)
{
	struct mr_bytes bytes;
	struct mr_err ignored;

	if (mr_fs_read(arena, AT_FDCWD, path, MR_MAILBOX_SESSION_BYTES, &bytes, &ignored))
		return true;
	return memchr(bytes.data, '\\', bytes.len) ||
		memmem(bytes.data, bytes.len, text, strlen(text));
}

static void take_lead(struct match *match, const char *agent_id, bool active)
{
	match->agent_id = agent_id;
	match->is_active = active;
	match->rivals = 0;
}

/* Look at one record, in memory of its own: there may be hundreds, and a request may last. */
static void compare(struct mr_ctx *cx, const char *registry, const char *agent_id, const char *name,
	struct match *match)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx one = *cx;
	struct mr_mailbox_record record;

	one.arena = arena;
	/* Who had the name before has it still, as a rule. */
	if (!match->is_recalled &&
		!may_say(arena, mr_mailbox_registry_path(arena, registry, agent_id), bare(name)))
		return;
	read_record(&one, registry, agent_id, &record);
	match->is_incomplete |= record.problem != NULL;
	if (!record.agent_name || !mr_str_eq(bare(record.agent_name), bare(name)))
		return;
	match->ids.items[match->ids.len++] = agent_id;
	if (match->agent_id && match->is_active == is_active(&record))
		match->rivals++;
	else if (!match->agent_id || is_active(&record))
		take_lead(match, agent_id, is_active(&record));
}

/*
 * Who had a name when all records were read. It holds as long as no agent came or went, which the
 * time of the directory tells, and no record changed its name, which none does in its life; the
 * records of the name itself are read each time.
 */
struct known {
	struct timespec changed;
	size_t len;
	char *ids[];
};

static void drop_known(void *thing)
{
	struct known *known = thing;

	for (size_t i = 0; i < known->len; i++)
		free(known->ids[i]);
	free(known);
}

/* When the directory changed last; false when it cannot be told, or so recently that a further
 * change might bear the same time. */
static bool when_changed(const char *dir, struct timespec *out)
{
	enum { STEP_US = 100000 };
	int64_t age_us;
	struct stat st;

	if (stat(dir, &st) != 0)
		return false;
	*out = st.st_mtim;
	age_us = mr_clock_wall_us(mr_clock_system()) -
		((int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000);
	return age_us > STEP_US;
}

static void remember(struct mr_ctx *cx, const char *key, const struct timespec *changed,
	const struct match *match)
{
	struct known *known = malloc(sizeof(*known) + match->ids.len * sizeof(known->ids[0]));

	if (!known)
		mr_oom(sizeof(*known));
	known->changed = *changed;
	for (known->len = 0; known->len < match->ids.len; known->len++) {
		known->ids[known->len] = strdup(match->ids.items[known->len]);
		if (!known->ids[known->len])
			mr_oom(sizeof(*known));
	}
	mr_shelf_put(cx->shelf, MR_SHELF_SMALL, key, known, drop_known);
}

/* False: all records must be read. */
static bool recall(struct mr_ctx *cx, const char *key, const char *registry, const char *name,
	const struct timespec *changed, struct match *match)
{
	struct known *known = mr_shelf_take(cx->shelf, MR_SHELF_SMALL, key);
	size_t len;

	if (!known)
		return false;
	len = known->len;
	if (known->changed.tv_sec == changed->tv_sec &&
		known->changed.tv_nsec == changed->tv_nsec) {
		match->ids.items = mr_arena_array(cx->arena, len + 1, sizeof(char *));
		match->is_recalled = true;
		for (size_t i = 0; i < len; i++)
			compare(cx, registry, mr_arena_strdup(cx->arena, known->ids[i]), name,
				match);
	}
	if (len && match->ids.len == len && !match->is_incomplete) {
		mr_shelf_put(cx->shelf, MR_SHELF_SMALL, key, known, drop_known);
		return true;
	}
	drop_known(known);
	*match = (struct match){ NULL };
	return false;
}

/* Read all records. */
static enum mr_code search(struct mr_ctx *cx, struct mr_arena *arena, const char *registry,
	const char *name, struct match *match)
{
	struct mr_texts names = { NULL, 0 };
	enum mr_code rc = mr_fs_list(arena, AT_FDCWD, mr_arena_printf(arena, "%s/" LIVE, registry),
		MR_MAILBOX_AGENTS, &names, &cx->err);

	if (rc)
		return rc;
	match->ids.items = mr_arena_array(arena, names.len + 1, sizeof(char *));
	for (size_t i = 0; i < names.len; i++)
		compare(cx, registry, names.items[i], name, match);
	return MR_OK;
}

static enum mr_code find_name(struct mr_ctx *cx, const char *registry, const char *name,
	struct mr_mailbox_record *out)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *dir = mr_arena_printf(arena, "%s/" LIVE, registry);
	const char *key = mr_arena_printf(arena, "agent %s %s", bare(name), dir);
	struct match match = { NULL };
	struct timespec changed;
	bool may_keep = cx->shelf && when_changed(dir, &changed);
	enum mr_code rc = MR_OK;

	if (!may_keep || !recall(cx, key, registry, name, &changed, &match)) {
		rc = search(cx, arena, registry, name, &match);
		if (!rc && may_keep && match.agent_id && !match.is_incomplete)
			remember(cx, key, &changed, &match);
	}
	if (rc && rc != MR_ENOTFOUND)
		return rc;
	if (!match.agent_id)
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"no agent named `%.100s` is known; mailroom agents list shows all", name);
	if (match.rivals)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"%zu agents are named `%.100s`; choose one with --agent-id: mailroom "
			"agents list shows them",
			match.rivals + 1, name);
	read_record(cx, registry, mr_arena_strdup(cx->arena, match.agent_id), out);
	return MR_OK;
}

static enum mr_code strip(struct mr_ctx *cx, const char *what, const char *text, const char **out)
{
	size_t len = strlen(text);

	mr_utf8_strip(&text, &len);
	if (len == 0)
		return mr_err_set(&cx->err, MR_EINVAL, "%s must not be blank", what);
	*out = mr_arena_strndup(cx->arena, text, len);
	return MR_OK;
}

enum mr_code mr_mailbox_registry_find(struct mr_ctx *cx, const char *registry, const char *agent_id,
	const char *agent_name, struct mr_mailbox_record *out)
{
	const char *text = NULL;
	enum mr_code rc = strip(cx, agent_id ? "--agent-id" : "--agent-name",
		agent_id ? agent_id : agent_name, &text);

	if (rc)
		return rc;
	if (!agent_id)
		return find_name(cx, registry, text, out);
	if (!mr_mailbox_inside_name(text) ||
		!mr_fs_exists(AT_FDCWD, mr_mailbox_registry_path(cx->arena, registry, text)))
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"no agent with the id `%.100s` is known; mailroom agents list shows all",
			text);
	read_record(cx, registry, text, out);
	if (out->problem)
		return mr_err_set(&cx->err, MR_EFORMAT, "%s", out->problem);
	return MR_OK;
}

enum mr_code mr_mailbox_registry_manifest(struct mr_ctx *cx, const struct mr_mailbox_record *record,
	struct mr_mailbox_session *out)
{
	struct mr_mailbox_session manifest;
	enum mr_code rc;

	if (!record->manifest_path)
		return mr_err_set(&cx->err, MR_EFORMAT, "%s names no session manifest",
			record->path);
	rc = mr_mailbox_session_read(cx, record->manifest_path, &manifest);
	if (rc)
		return rc;
	if (!mr_str_eq(record->generation_id, manifest.generation_id))
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"ownership conflict: %s is about generation %s of the agent, but %s is of "
			"generation %s; the agent was started again: start it through its runtime",
			record->path, record->generation_id ? record->generation_id : "(none)",
			manifest.path, manifest.generation_id ? manifest.generation_id : "(none)");
	*out = manifest;
	return MR_OK;
}

/* Change one member of the agent's record; without a record there is nothing to do. */
static enum mr_code change(struct mr_ctx *cx, const char *registry,
	const struct mr_mailbox_session *manifest, const char *key, struct mr_value member)
{
	const struct mr_value *value = NULL;
	struct mr_value changed;
	const char *path;
	enum mr_code rc;

	if (!manifest->agent_id || !mr_mailbox_inside_name(manifest->agent_id))
		return MR_OK;
	path = mr_mailbox_registry_path(cx->arena, registry, manifest->agent_id);
	rc = mr_mailbox_session_load(cx, path, &value);
	/* A record of another generation is about another session. */
	if (rc ||
		!mr_str_eq(mr_mailbox_session_text(value, "generation_id"),
			manifest->generation_id))
		return rc == MR_ENOTFOUND ? MR_OK : rc;
	changed = mr_mailbox_session_with(cx->arena, value, key, member);
	return mr_mailbox_session_write(cx, path, &changed);
}

enum mr_code mr_mailbox_registry_bind(struct mr_ctx *cx, const char *registry,
	const struct mr_mailbox_session *manifest)
{
	return change(cx, registry, manifest, "mailbox",
		mr_mailbox_binding_value(cx->arena, &manifest->binding, true));
}

enum mr_code mr_mailbox_registry_gateway(struct mr_ctx *cx, const char *registry,
	const struct mr_mailbox_session *manifest, const struct mr_value *gateway)
{
	return change(cx, registry, manifest, "gateway", *gateway);
}
