/* op/work/work_ops.h - what the workspace's operations share: how they are bound, and parameters
 * that many have. */
#pragma once

#include "op/dispatch.h"
#include "op/op.h"
#include "op/work/around_work.h"
#include "op/work/contract_work.h"
#include "op/work/work_nouns.h"
#include "workspace/error.h"
#include "workspace/queue.h"

/* Types and members of structs cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses)
 */

/* An operation's call of a function that takes struct mr_ctx, or struct mr_call, then the
 * workspace, the request and the result: see op/op.h. */
#define MR_WORK_BIND(name, function, request_type, result_type)                                    \
	MR_BIND(name, function, struct mr_work, request_type, result_type)
#define MR_WORK_BIND_CALL(name, function, request_type, result_type)                               \
	MR_BIND_CALL(name, function, struct mr_work, request_type, result_type)

/* What all of them have: they run in directories of other programs. Followed by what differs. */
#define MR_WORK_OP                                                                                 \
	.surfaces = MR_ON_CLI, .traits = MR_ABROAD, .contract = &mr_contract_work,                 \
	.cluster = "workspace"

/* The same for an operation that a server with a workspace also offers as a tool of MCP: one that
 * reads, or changes only what is local. Not for what reaches another machine (pull, remote),
 * reads files anywhere on this one (import), or is a person's to decide (purge, init, skill,
 * secrets). Texts in its result are fenced: see op/work/fence_work.h. */
#define MR_WORK_TOOL MR_WORK_TOOL_THAT(0)
/* With more traits: MR_IDEMPOTENT, MR_DESTRUCTIVE. Parameters that name files of this machine, or
 * let something leave it, have the flag MR_CLI_ONLY. */
#define MR_WORK_TOOL_THAT(more)                                                                    \
	.surfaces = MR_ON_CLI | MR_ON_MCP_SET, .traits = MR_ABROAD | MR_QUOTES | (more),           \
	.contract = &mr_contract_work, .cluster = "workspace"

/* Bound to the members of these names. */
#define MR_WORK_CASE_PARAM(request_type)                                                           \
	MR_PARAM(request_type, case_ref, "case_ref", .flags = MR_REQUIRED | MR_POSITIONAL,         \
		.summary = "the case: its uid, or the name of its directory")
#define MR_WORK_MESSAGE_PARAM(request_type)                                                        \
	MR_PARAM(request_type, message_id, "message_id", .flags = MR_REQUIRED | MR_POSITIONAL,     \
		.summary = "the message's id")
#define MR_WORK_CONTACT_PARAM(request_type)                                                        \
	MR_PARAM(request_type, contact_ref, "contact_ref", .flags = MR_REQUIRED | MR_POSITIONAL,   \
		.summary = "the contact: its uid, or the name of its card")
#define MR_WORK_REASON_PARAM(request_type)                                                         \
	MR_PARAM(request_type, reason, "reason", .summary = "why, for the audit log")

/* A field that has the name of its member; one that is left out when it is NULL, 0, false or empty;
 * and one that is null then. */
#define MR_WORK_FIELD(result_type, member, about)                                                  \
	MR_FIELD(result_type, member, #member, .summary = about)
#define MR_WORK_FIELD_OPT(result_type, member, about)                                              \
	MR_FIELD(result_type, member, #member, .summary = about, .flags = MR_OPTIONAL)
#define MR_WORK_FIELD_NULL(result_type, member, about)                                             \
	MR_FIELD(result_type, member, #member, .summary = about, .flags = MR_NULLABLE)
/* One that is there when the flag, a member of the result, says so. */
#define MR_WORK_FIELD_WHEN(result_type, member, flag, about)                                       \
	MR_FIELD(result_type, member, #member, .summary = about, .flags = MR_OPTIONAL,             \
		.when = MR_FLAG(result_type, flag))

/* What a refresh did, from a struct mr_work_refreshed: in work_render.c. */
extern const struct mr_field mr_work_refreshed_fields[];

/* What was queued for the server, from a member that is a struct mr_work_queued. */
extern const struct mr_field mr_work_queued_fields[];
#define MR_WORK_QUEUED(result_type, member)                                                        \
	MR_MEMBERS(result_type, member, struct mr_work_queued, mr_work_queued_fields)
/* NOLINTEND(bugprone-macro-parentheses) */
