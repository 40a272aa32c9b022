/*
 * mailbox/registry.h - the records of agents on this machine (spec/mailbox.md 19).
 *
 * <registry>/live_agents/<agent id>/record.json says where the manifest of an agent's session is.
 * The Houmao runtime has the same files, and refuses keys that it does not know: what we write are
 * its own keys alone, and of a record of its own we change only "mailbox" and "gateway".
 */
#pragma once

#include "mailbox/session.h"

enum { MR_MAILBOX_AGENTS = 10000 }; /* records of one registry */

struct mr_mailbox_record {
	const char *path; /* of record.json, absolute */
	const struct mr_value *value;
	const char *agent_id;
	const char *agent_name; /* or NULL, as all below */
	const char *generation_id;
	const char *manifest_path;
	const char *state;   /* "active", ... */
	const char *problem; /* why the record cannot be read */
};
struct mr_mailbox_records {
	struct mr_mailbox_record *items;
	size_t len;
};

/* All, sorted by id; a registry that is not there is empty. */
MR_CHECK enum mr_code mr_mailbox_registry_list(struct mr_ctx *cx, const char *registry,
	struct mr_mailbox_records *out);
/* By id, or when that is NULL by name, where one that is active comes first. MR_EINVAL: blank.
 * MR_ENOTFOUND; MR_ECONFLICT: several agents of that name. */
MR_CHECK enum mr_code mr_mailbox_registry_find(struct mr_ctx *cx, const char *registry,
	const char *agent_id, const char *agent_name, struct mr_mailbox_record *out);

/* The manifest that the record names. MR_ECONFLICT: it is that of another generation of the agent,
 * whose record this no longer is. */
MR_CHECK enum mr_code mr_mailbox_registry_manifest(struct mr_ctx *cx,
	const struct mr_mailbox_record *record, struct mr_mailbox_session *out);

/* Repeat the binding of a manifest in its record; without a record there is nothing to do. */
MR_CHECK enum mr_code mr_mailbox_registry_bind(struct mr_ctx *cx, const char *registry,
	const struct mr_mailbox_session *manifest);
/* The same for its gateway: {host, port, protocol_version, state_path}, or null. */
MR_CHECK enum mr_code mr_mailbox_registry_gateway(struct mr_ctx *cx, const char *registry,
	const struct mr_mailbox_session *manifest, const struct mr_value *gateway);
/* Where the record of an agent is, whether or not it is there. */
const char *mr_mailbox_registry_path(struct mr_arena *arena, const char *registry,
	const char *agent_id);
