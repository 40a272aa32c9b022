/*
 * mailbox/binding.h - which mailbox a session has (spec/mailbox.md 19).
 *
 * What was declared (a transport, perhaps a principal, an address and a root) becomes one resolved
 * binding, which the session's manifest keeps as launch_plan.mailbox. It holds no secrets, and its
 * version changes with every change.
 */
#pragma once

#include "base/ctx.h"
#include "mailbox/message.h"
#include "mailbox/model.h"

enum mr_mailbox_transport {
	MR_MAILBOX_UNBOUND, /* "none": no mailbox */
	MR_MAILBOX_FILESYSTEM,
	MR_MAILBOX_STALWART,
};
/* In the order of the enum, NULL-terminated. */
extern const char *const mr_mailbox_transports[];

struct mr_mailbox_binding {
	enum mr_mailbox_transport transport;
	const char *principal_id;
	const char *address;
	const char *version; /* bindings_version: 2026-03-13T09:15:30.123456Z */
	/* Of the transport filesystem: the root, and the address's directory; absolute. */
	const char *root;
	enum mr_mailbox_kind kind;
	const char *path;
	/* Of the transport stalwart. */
	const char *jmap_url, *management_url, *login_identity, *credential_ref;
};

/* What was declared; NULL: not said. */
struct mr_mailbox_declared {
	const char *transport;
	const char *principal_id;
	const char *address;
	const char *root; /* where the caller's rules found it; required for filesystem */
	const char *path; /* a private directory outside the root, to which the root links */
	/* Of a JMAP server: its base, or its two addresses; one of the first two is required. */
	const char *base_url, *jmap_url, *management_url;
	const char *login; /* NULL: the address */
	/* Where the identity comes from when principal or address is not said. */
	const char *agent_name;
	const char *tool, *role;
};

/*
 * Resolve; `before` is the version of the binding that this one replaces, or NULL. MR_EINVAL: no
 * transport or an unknown one, a blank text, an address that cannot be, the operator's
 * principal, a private directory inside the root, a server's address that is none of http.
 */
MR_CHECK enum mr_code mr_mailbox_binding_resolve(struct mr_ctx *cx,
	const struct mr_mailbox_declared *declared, const char *before,
	struct mr_mailbox_binding *out);

/* The credential of an address at a server: "stalwart-bob-at-example-com-" and 16 digits. */
const char *mr_mailbox_binding_credential_ref(struct mr_arena *arena, const char *jmap_url,
	const char *address);

/* A version that differs from `before` (or NULL), and is later unless the clock went back. */
const char *mr_mailbox_binding_version(struct mr_ctx *cx, const char *before);

/* The principal and the address of an agent by its name, or by tool and role when the name is
 * missing or a path. MR_EINVAL: the name of a system mailbox. */
MR_CHECK enum mr_code mr_mailbox_binding_identity(struct mr_ctx *cx, const char *agent_name,
	const char *tool, const char *role, const char **out_principal, const char **out_address);

/* MR_EINVAL: the operator's name, HOUMAO-operator or without the prefix, under which no agent may
 * send. */
MR_CHECK enum mr_code mr_mailbox_binding_check_name(struct mr_ctx *cx, const char *agent_name);

/* Read a persisted binding; keys that are not known are ignored. Problems go to at->issues; true
 * when there were none. */
bool mr_mailbox_binding_read(struct mr_arena *arena, const struct mr_cursor *at,
	struct mr_mailbox_binding *out);
struct mr_mailbox_binding mr_mailbox_binding_copy(struct mr_arena *arena,
	const struct mr_mailbox_binding *binding);
/* As the manifest has it; `is_short` as a registry record has it: without kind and path. Null when
 * it is unbound. */
struct mr_value mr_mailbox_binding_value(struct mr_arena *arena,
	const struct mr_mailbox_binding *binding, bool is_short);
