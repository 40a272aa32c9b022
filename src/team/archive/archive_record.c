/*
 * team/archive/archive_record.c - Writes and parses the archive's JSON files: projects, profiles,
 * leases, contact links, build slots.
 */
#include "team/archive/archive_record.h"

#include "text/json.h"
#include "text/time.h"

/* --- writing --- */

/* A map at the top; keys are put in the order of their bytes. */
struct record {
	struct mr_json_writer json;
	struct mr_arena *arena;
};

static void begin(struct record *record, struct mr_buf *buf)
{
	record->arena = mr_arena_new();
	mr_json_init(&record->json, buf, MR_JSON_INDENTED);
	mr_json_begin_map(&record->json);
}

static void end(struct record *record)
{
	mr_json_end(&record->json);
	mr_buf_putc(record->json.buf, '\n');
	mr_arena_free(record->arena);
}

static void put_text(struct record *record, const char *key, const char *text)
{
	mr_json_key(&record->json, key);
	mr_json_text(&record->json, text);
}

static void put_int(struct record *record, const char *key, int64_t number)
{
	mr_json_key(&record->json, key);
	mr_json_int(&record->json, number);
}

static void put_bool(struct record *record, const char *key, bool value)
{
	mr_json_key(&record->json, key);
	mr_json_bool(&record->json, value);
}

/* 0 is null. */
static void put_time(struct record *record, const char *key, int64_t us)
{
	put_text(record, key, us ? mr_time_format(record->arena, us, MR_TIME_MICROS) : NULL);
}

void mr_team_record_project(struct mr_buf *buf, const struct mr_team_project *project)
{
	struct record record;

	begin(&record, buf);
	put_time(&record, "created_at", project->created_at);
	put_text(&record, "human_key", project->human_key);
	put_int(&record, "id", project->id);
	put_text(&record, "identity_mode", project->identity_mode);
	put_text(&record, "slug", project->slug);
	end(&record);
}

void mr_team_record_profile(struct mr_buf *buf, const struct mr_team_project *project,
	const struct mr_team_agent *agent)
{
	struct record record;

	begin(&record, buf);
	put_text(&record, "attachments_policy",
		mr_team_attachments_policy_name(agent->attachments_policy));
	put_text(&record, "contact_policy", mr_team_contact_policy_name(agent->contact_policy));
	put_time(&record, "deleted_ts", agent->deleted_ts);
	put_int(&record, "id", agent->id);
	put_time(&record, "inception_ts", agent->inception_ts);
	put_bool(&record, "is_active", agent->is_active);
	put_bool(&record, "is_system", agent->is_system);
	put_time(&record, "last_active_ts", agent->last_active_ts);
	put_text(&record, "model", agent->model);
	put_text(&record, "name", agent->name);
	put_text(&record, "program", agent->program);
	put_int(&record, "project_id", agent->project_id);
	put_text(&record, "project_slug", project->slug);
	put_text(&record, "task_description", agent->task_description);
	end(&record);
}

void mr_team_record_gone(struct mr_arena *arena, struct mr_buf *buf,
	const struct mr_team_gone *gone)
{
	static const struct mr_value empty = { .kind = MR_MAP };
	const struct mr_value *stats = &empty;
	struct mr_err ignored;
	struct record record;

	if (mr_json_parse(arena, mr_bytes_text(gone->stats ? gone->stats : ""), NULL, &stats,
		    &ignored) ||
		stats->kind != MR_MAP)
		stats = &empty;
	begin(&record, buf);
	put_time(&record, "deleted_at", gone->deleted_at);
	mr_json_key(&record.json, "deletion_stats");
	mr_json_value(&record.json, stats);
	put_text(&record, "name", gone->name);
	put_bool(&record, "purged", gone->purged);
	end(&record);
}

/* The members of a lease up to released_ts; `holders` comes between "expires_ts" and "id". */
static void put_lease(struct record *record, const char *human_key,
	const struct mr_team_reservation *lease, const struct mr_team_reservations *holders)
{
	put_text(record, "agent", lease->agent);
	put_time(record, "created_ts", lease->created_ts);
	put_bool(record, "exclusive", lease->exclusive);
	put_time(record, "expires_ts", lease->expires_ts);
	if (holders) {
		mr_json_key(&record->json, "holders");
		mr_json_begin_list(&record->json);
		for (size_t i = 0; i < holders->len; i++) {
			if (holders->items[i].released_ts)
				continue;
			mr_json_begin_map(&record->json);
			put_lease(record, human_key, &holders->items[i], NULL);
			mr_json_end(&record->json);
		}
		mr_json_end(&record->json);
	}
	put_int(record, "id", lease->id);
	put_text(record, "origin", lease->origin);
	put_text(record, "path_pattern", lease->path_pattern);
	put_text(record, "project", human_key);
	put_text(record, "reason", lease->reason);
	put_time(record, "released_ts", lease->released_ts);
}

void mr_team_record_leases(struct mr_buf *buf, const char *human_key,
	const struct mr_team_reservations *leases)
{
	struct record record;

	begin(&record, buf);
	put_lease(&record, human_key, &leases->items[leases->len - 1], leases);
	end(&record);
}

static void put_end(struct record *record, const char *key, const char *project, const char *agent)
{
	mr_json_key(&record->json, key);
	mr_json_begin_map(&record->json);
	put_text(record, "agent", agent);
	put_text(record, "project", project);
	mr_json_end(&record->json);
}

void mr_team_record_links(struct mr_buf *buf, const char *agent, const char *project_slug,
	const struct mr_team_link_records *links)
{
	struct record record;

	begin(&record, buf);
	put_text(&record, "agent", agent);
	mr_json_key(&record.json, "links");
	mr_json_begin_list(&record.json);
	for (size_t i = 0; i < links->len; i++) {
		const struct mr_team_link *link = &links->items[i].link;

		mr_json_begin_map(&record.json);
		put_time(&record, "created_ts", link->created_ts);
		put_time(&record, "expires_ts", link->expires_ts);
		put_end(&record, "from", link->a_project, link->a_agent);
		put_int(&record, "id", link->id);
		put_time(&record, "notified_ts", links->items[i].notified_ts);
		put_text(&record, "reason", link->reason);
		put_text(&record, "status", mr_team_link_status_name(link->status));
		put_end(&record, "to", link->b_project, link->b_agent);
		put_bool(&record, "unasked", links->items[i].unasked);
		put_time(&record, "updated_ts", link->updated_ts);
		mr_json_end(&record.json);
	}
	mr_json_end(&record.json);
	put_text(&record, "project", project_slug);
	end(&record);
}

void mr_team_record_slot(struct mr_buf *buf, const char *human_key,
	const struct mr_team_slot_record *slot)
{
	struct record record;

	begin(&record, buf);
	put_text(&record, "agent", slot->agent);
	put_time(&record, "created_ts", slot->created_ts);
	put_time(&record, "expires_ts", slot->expires_ts);
	put_int(&record, "id", slot->id);
	put_text(&record, "project", human_key);
	put_time(&record, "released_ts", slot->released_ts);
	put_text(&record, "slot_name", slot->slot_name);
	end(&record);
}

/* --- reading --- */

static enum mr_code parse(struct mr_arena *arena, struct mr_bytes bytes,
	const struct mr_value **out, struct mr_err *err)
{
	const struct mr_json_limits limits = { MR_TEAM_RECORD_BYTES, 16, 1000000 };
	const struct mr_value *value = NULL;
	enum mr_code rc = mr_json_parse(arena, bytes, &limits, &value, err);

	if (rc)
		return rc;
	if (value->kind != MR_MAP)
		return mr_err_set(err, MR_EFORMAT, "must be an object, not %s",
			mr_kind_name(value->kind));
	*out = value;
	return MR_OK;
}

static const char *text_of(const struct mr_value *map, const char *key, const char *fallback)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : fallback;
}

static int64_t int_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_INT && value->integer > 0 ? value->integer : 0;
}

static bool bool_of(const struct mr_value *map, const char *key, bool fallback)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_BOOL ? value->boolean : fallback;
}

/* No time, or none that can be read, is 0. */
static int64_t time_of(const struct mr_value *map, const char *key)
{
	const char *text = text_of(map, key, NULL);
	struct mr_err ignored;
	int64_t us = 0;

	if (text && mr_time_parse(text, MR_TIME_LENIENT, &us, &ignored))
		us = 0;
	return us;
}

static enum mr_code need_text(const struct mr_value *map, const char *key, const char **out,
	struct mr_err *err)
{
	*out = text_of(map, key, NULL);
	if (mr_str_is_empty(*out))
		return mr_err_set(err, MR_EFORMAT, "%s is missing", key);
	return MR_OK;
}

enum mr_code mr_team_record_read_project(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_team_project *out, struct mr_err *err)
{
	struct mr_team_project project = { 0 };
	const struct mr_value *map = NULL;
	enum mr_code rc = parse(arena, bytes, &map, err);

	if (!rc)
		rc = need_text(map, "slug", &project.slug, err);
	if (!rc)
		rc = need_text(map, "human_key", &project.human_key, err);
	if (rc)
		return rc;
	project.id = int_of(map, "id");
	project.identity_mode = text_of(map, "identity_mode", "dir");
	project.created_at = time_of(map, "created_at");
	*out = project;
	return MR_OK;
}

enum mr_code mr_team_record_read_profile(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_team_agent *out, struct mr_err *err)
{
	struct mr_team_agent agent = { 0 };
	const struct mr_value *map = NULL;
	enum mr_code rc = parse(arena, bytes, &map, err);

	if (!rc)
		rc = need_text(map, "name", &agent.name, err);
	if (rc)
		return rc;
	agent.id = int_of(map, "id");
	agent.program = text_of(map, "program", "");
	agent.model = text_of(map, "model", "");
	agent.task_description = text_of(map, "task_description", "");
	agent.inception_ts = time_of(map, "inception_ts");
	agent.last_active_ts = time_of(map, "last_active_ts");
	agent.is_active = bool_of(map, "is_active", true);
	agent.is_system = bool_of(map, "is_system", false);
	agent.deleted_ts = time_of(map, "deleted_ts");
	mr_team_attachments_policy_of(text_of(map, "attachments_policy", "auto"),
		&agent.attachments_policy);
	mr_team_contact_policy_of(text_of(map, "contact_policy", "open"), &agent.contact_policy);
	*out = agent;
	return MR_OK;
}

enum mr_code mr_team_record_read_gone(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_team_gone *out, struct mr_err *err)
{
	const struct mr_value *map = NULL;
	const char *name = NULL;
	enum mr_code rc = parse(arena, bytes, &map, err);

	if (!rc)
		rc = need_text(map, "name", &name, err);
	if (rc)
		return rc;
	*out = (struct mr_team_gone){ .name = name,
		.deleted_at = time_of(map, "deleted_at"),
		.purged = bool_of(map, "purged", false) };
	return MR_OK;
}

static enum mr_code read_lease(const struct mr_value *map, struct mr_team_reservation *out,
	struct mr_err *err)
{
	struct mr_team_reservation lease = { .id = int_of(map, "id"),
		.exclusive = bool_of(map, "exclusive", true),
		.reason = text_of(map, "reason", ""),
		.origin = text_of(map, "origin", "agent"),
		.created_ts = time_of(map, "created_ts"),
		.expires_ts = time_of(map, "expires_ts"),
		.released_ts = time_of(map, "released_ts") };
	enum mr_code rc = need_text(map, "agent", &lease.agent, err);

	if (!rc)
		rc = need_text(map, "path_pattern", &lease.path_pattern, err);
	if (!rc)
		*out = lease;
	return rc;
}

/* By their ids; the peers' records have none. */
static bool is_same_lease(const struct mr_team_reservation *a, const struct mr_team_reservation *b)
{
	if (a->id || b->id)
		return a->id == b->id;
	return mr_str_eq(a->agent, b->agent) && mr_str_eq(a->path_pattern, b->path_pattern) &&
		mr_str_eq(a->reason, b->reason) && mr_str_eq(a->origin, b->origin) &&
		a->exclusive == b->exclusive && a->created_ts == b->created_ts &&
		a->expires_ts == b->expires_ts;
}

/* The newest stands at the top, and once more among the holders unless it was released. */
enum mr_code mr_team_record_read_leases(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_team_reservations *out, struct mr_err *err)
{
	struct mr_team_reservations leases = { 0 };
	const struct mr_value *map = NULL, *holders;
	struct mr_team_reservation newest;
	enum mr_code rc = parse(arena, bytes, &map, err);

	if (!rc)
		rc = read_lease(map, &newest, err);
	if (rc)
		return rc;
	holders = mr_value_get(map, "holders");
	if (holders && holders->kind != MR_LIST)
		holders = NULL;
	leases.items =
		mr_arena_array(arena, (holders ? holders->list.len : 0) + 1, sizeof(*leases.items));
	for (size_t i = 0; !rc && holders && i < holders->list.len; i++) {
		rc = read_lease(&holders->list.items[i], &leases.items[leases.len], err);
		if (!rc && !is_same_lease(&leases.items[leases.len], &newest))
			leases.len++;
	}
	if (rc)
		return mr_err_wrap(err, "holders");
	leases.items[leases.len++] = newest;
	*out = leases;
	return MR_OK;
}

static enum mr_code read_end(const struct mr_value *map, const char *key, const char **out_project,
	const char **out_agent, struct mr_err *err)
{
	const struct mr_value *end_of = mr_value_get(map, key);
	enum mr_code rc = need_text(end_of, "agent", out_agent, err);

	if (!rc)
		rc = need_text(end_of, "project", out_project, err);
	return rc ? mr_err_wrap(err, "%s", key) : MR_OK;
}

static enum mr_code read_link(const struct mr_value *map, struct mr_team_link_record *out,
	struct mr_err *err)
{
	struct mr_team_link link = { .id = int_of(map, "id"),
		.reason = text_of(map, "reason", ""),
		.created_ts = time_of(map, "created_ts"),
		.updated_ts = time_of(map, "updated_ts"),
		.expires_ts = time_of(map, "expires_ts") };
	enum mr_code rc = read_end(map, "from", &link.a_project, &link.a_agent, err);

	if (!rc)
		rc = read_end(map, "to", &link.b_project, &link.b_agent, err);
	if (!rc && !mr_team_link_status_of(text_of(map, "status", ""), &link.status))
		rc = mr_err_set(err, MR_EFORMAT, "status is none of pending, approved, blocked");
	if (!rc)
		*out = (struct mr_team_link_record){ .link = link,
			.notified_ts = time_of(map, "notified_ts"),
			.unasked = bool_of(map, "unasked", false) };
	return rc;
}

enum mr_code mr_team_record_read_links(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_team_link_records *out, struct mr_err *err)
{
	struct mr_team_link_records links = { 0 };
	const struct mr_value *map = NULL, *list;
	enum mr_code rc = parse(arena, bytes, &map, err);

	if (rc)
		return rc;
	list = mr_value_get(map, "links");
	if (!list || list->kind != MR_LIST)
		return mr_err_set(err, MR_EFORMAT, "links must be a list");
	links.items = mr_arena_array(arena, list->list.len, sizeof(*links.items));
	for (; !rc && links.len < list->list.len; links.len++)
		rc = read_link(&list->list.items[links.len], &links.items[links.len], err);
	if (rc)
		return mr_err_wrap(err, "link %zu", links.len);
	*out = links;
	return MR_OK;
}

enum mr_code mr_team_record_read_slot(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_team_slot_record *out, struct mr_err *err)
{
	struct mr_team_slot_record slot = { 0 };
	const struct mr_value *map = NULL;
	enum mr_code rc = parse(arena, bytes, &map, err);

	if (!rc)
		rc = need_text(map, "agent", &slot.agent, err);
	if (!rc)
		rc = need_text(map, "slot_name", &slot.slot_name, err);
	if (rc)
		return rc;
	slot.id = int_of(map, "id");
	slot.created_ts = time_of(map, "created_ts");
	slot.expires_ts = time_of(map, "expires_ts");
	slot.released_ts = time_of(map, "released_ts");
	*out = slot;
	return MR_OK;
}
