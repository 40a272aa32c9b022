/* team/archive/rebuild_hold.c - restores leases, build slots and contact links from archives. */
#include "team/agent.h"
#include "team/archive/archive_record.h"
#include "team/archive/rebuild_origin.h"
#include "team/archive/rebuild_private.h"
#include "team/archive/rebuild_sql.h"
#include "team/layout.h"
#include "team/lease/lease_index.h"

#include <string.h>

struct holding {
	struct mr_team_restoring *r;
	struct mr_team_home_found *home;
	struct mr_team_reservation *leases;
	const char **prefixes;
	size_t lease_count, lease_room;
	struct mr_team_slot_record *slots;
	size_t slot_count, slot_room;
	struct mr_team_link_record *links;
	size_t link_count, link_room;
	int64_t leases_in, links_in;
};

static void read_lease_file(struct holding *h, const char *path)
{
	struct mr_ctx *cx = h->r->cx;
	struct mr_team_reservations leases;
	struct mr_bytes bytes;

	if (mr_team_origin_read(cx->arena, h->home->origin, path, &bytes, &cx->err) ||
		mr_team_record_read_leases(cx->arena, bytes, &leases, &cx->err)) {
		mr_team_restoring_tell(h->r, h->home, path, cx->err.msg);
		return;
	}
	for (size_t i = 0; i < leases.len; i++) {
		h->leases = mr_team_one_more(cx->arena, h->leases, h->lease_count, &h->lease_room,
			sizeof(*h->leases));
		h->leases[h->lease_count++] = leases.items[i];
	}
}

static void read_leases(struct holding *h)
{
	struct mr_ctx *cx = h->r->cx;
	struct mr_texts paths =
		mr_team_origin_below(cx->arena, h->home->origin, MR_TEAM_RESERVATIONS_DIR);

	for (size_t i = 0; i < paths.len; i++)
		read_lease_file(h, paths.items[i]);
	h->prefixes = mr_arena_array(cx->arena, h->lease_count + 1, sizeof(*h->prefixes));
	for (size_t i = 0; i < h->lease_count; i++) {
		struct mr_glob *glob = NULL;

		/* A pattern that cannot be compiled may overlap anything: it is always compared. */
		h->prefixes[i] = "";
		if (mr_team_lease_index_compile(cx, h->r->team, h->home->project.human_key,
			    h->leases[i].path_pattern, &glob) == MR_OK)
			h->prefixes[i] = mr_glob_literal_prefix(glob);
	}
}

static void read_slots(struct holding *h)
{
	struct mr_ctx *cx = h->r->cx;
	struct mr_texts paths = mr_team_origin_below(cx->arena, h->home->origin, MR_TEAM_SLOTS_DIR);
	struct mr_team_slot_record slot;
	struct mr_bytes bytes;

	for (size_t i = 0; i < paths.len; i++) {
		if (mr_team_origin_read(cx->arena, h->home->origin, paths.items[i], &bytes,
			    &cx->err) ||
			mr_team_record_read_slot(cx->arena, bytes, &slot, &cx->err)) {
			mr_team_restoring_tell(h->r, h->home, paths.items[i], cx->err.msg);
			continue;
		}
		h->slots = mr_team_one_more(cx->arena, h->slots, h->slot_count, &h->slot_room,
			sizeof(*h->slots));
		h->slots[h->slot_count++] = slot;
	}
}

static void read_link_file(struct holding *h, const char *agent)
{
	struct mr_ctx *cx = h->r->cx;
	const char *path = mr_team_layout_contacts(cx->arena, agent);
	struct mr_team_link_records links;
	struct mr_bytes bytes;
	enum mr_code rc = mr_team_origin_read(cx->arena, h->home->origin, path, &bytes, &cx->err);

	if (rc == MR_ENOTFOUND)
		return;
	if (!rc)
		rc = mr_team_record_read_links(cx->arena, bytes, &links, &cx->err);
	if (rc) {
		mr_team_restoring_tell(h->r, h->home, path, cx->err.msg);
		return;
	}
	for (size_t i = 0; i < links.len; i++) {
		h->links = mr_team_one_more(cx->arena, h->links, h->link_count, &h->link_room,
			sizeof(*h->links));
		h->links[h->link_count++] = links.items[i];
	}
}

static void read_links(struct holding *h)
{
	struct mr_texts names =
		mr_team_origin_names(h->r->cx->arena, h->home->origin, MR_TEAM_AGENTS_DIR);

	for (size_t i = 0; i < names.len; i++)
		read_link_file(h, names.items[i]);
}

/* 0 when there is no such agent any more. */
static enum mr_code agent_id(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *name, int64_t *out)
{
	struct mr_team_agent agent;
	bool found = false;
	enum mr_code rc = mr_team_agent_seek(cx, db, project_id, name, &found, &agent);

	*out = !rc && found ? agent.id : 0;
	return rc;
}

static enum mr_code insert_link(struct mr_ctx *cx, struct mr_db *db, struct holding *h,
	const struct mr_team_link_record *read)
{
	struct mr_team_link_record record = *read;
	struct mr_team_link *link = &record.link;
	bool added = false;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < h->r->home_count; i++) {
		const struct mr_team_project *project = &h->r->homes[i].project;

		if (mr_str_eq(project->slug, link->a_project))
			link->a_project_id = project->id;
		if (mr_str_eq(project->slug, link->b_project))
			link->b_project_id = project->id;
	}
	rc = agent_id(cx, db, link->a_project_id, link->a_agent, &link->a_agent_id);
	if (!rc)
		rc = agent_id(cx, db, link->b_project_id, link->b_agent, &link->b_agent_id);
	if (!rc && link->a_agent_id && link->b_agent_id)
		rc = mr_team_restore_link(cx, db, &record, &added);
	h->links_in += added;
	return rc;
}

static enum mr_code insert_holdings(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct holding *h = arg;
	int64_t project_id = h->home->project.id;
	enum mr_code rc = MR_OK;

	h->leases_in = h->links_in = 0;
	for (size_t i = 0; !rc && i < h->lease_count; i++) {
		struct mr_team_reservation lease = h->leases[i];

		lease.project_id = project_id;
		rc = agent_id(cx, db, project_id, lease.agent, &lease.agent_id);
		if (rc || !lease.agent_id)
			continue;
		rc = mr_team_restore_lease(cx, db, &lease, h->prefixes[i]);
		h->leases_in += !rc;
	}
	for (size_t i = 0; !rc && i < h->slot_count; i++) {
		struct mr_team_slot_record slot = h->slots[i];

		slot.project_id = project_id;
		rc = agent_id(cx, db, project_id, slot.agent, &slot.agent_id);
		if (!rc && slot.agent_id)
			rc = mr_team_restore_slot(cx, db, &slot);
		/* Of two holders of the same slot the first one keeps it. */
		if (rc == MR_EEXISTS)
			rc = MR_OK;
	}
	for (size_t i = 0; !rc && i < h->link_count; i++)
		rc = insert_link(cx, db, h, &h->links[i]);
	return rc;
}

enum mr_code mr_team_restore_holdings(struct mr_team_restoring *r, struct mr_team_home_found *home)
{
	struct holding h = { .r = r, .home = home };
	enum mr_code rc;

	read_leases(&h);
	read_slots(&h);
	read_links(&h);
	rc = mr_team_write(r->cx, r->team, insert_holdings, NULL, &h);
	if (rc)
		return rc;
	r->counts->reservations += h.leases_in;
	r->counts->links += h.links_in;
	return MR_OK;
}
