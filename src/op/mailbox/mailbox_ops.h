/* op/mailbox/mailbox_ops.h - what the mailbox operations share: how they find their root. */
#pragma once

#include "mailbox/open.h"
#include "op/call.h"
#include "op/mailbox/shape_mailbox.h"
#include "op/op.h"

/* Types and members of structs cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses)
 */

/* First in every table of parameters of a mailbox operation: bound to the member of this name. */
#define MR_MAILBOX_ROOT_PARAM(request_type)                                                        \
	MR_PARAM(request_type, mailbox_root, "mailbox_root",                                       \
		.summary = "the mailbox root, in place of the setting mailbox.root")
/* Others that many have. */
#define MR_MAILBOX_ADDRESS_PARAM(request_type)                                                     \
	MR_PARAM(request_type, address, "address", .flags = MR_REQUIRED,                           \
		.summary = "the full address")
#define MR_MAILBOX_DRY_RUN_PARAM(request_type)                                                     \
	MR_PARAM(request_type, dry_run, "dry_run", .summary = "only say what would be done")

/*
 * An operation's call of a function that takes struct mr_call, the root opened for `purpose` (enum
 * mr_mailbox_root_for), the request and the result. The root is closed afterwards.
 */
#define MR_MAILBOX_BIND(name, function, purpose, request_type, result_type)                        \
	static enum mr_code name##_in_root(struct mr_call *call, request_type *request,            \
		result_type *result)                                                               \
	{                                                                                          \
		struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) =                    \
			MR_MAILBOX_ROOT_INIT;                                                      \
		const char *path;                                                                  \
		enum mr_code rc = mr_mailbox_ops_path(call, request->mailbox_root, &path);         \
                                                                                                   \
		if (!rc)                                                                           \
			rc = mr_mailbox_root_open(&call->cx, path, purpose, &root);                \
		return rc ? rc : function(call, &root, request, result);                           \
	}                                                                                          \
	MR_BIND_ALONE(name, name##_in_root, request_type, result_type)

/* What results about the root at `root` begin with; `named` is the path the caller named, or NULL.
 */
struct mr_shape_mailbox_head mr_mailbox_ops_head(const struct mr_call *call, const char *named,
	const char *root);
/* The path the caller named, if any, else the setting. */
MR_CHECK enum mr_code mr_mailbox_ops_path(struct mr_call *call, const char *named,
	const char **out);
/* After mode safe met a mailbox that is there (the error is in call->cx.err): may it be replaced?
 * Else the error, which says how. */
MR_CHECK enum mr_code mr_mailbox_ops_replace(struct mr_call *call);
/* NOLINTEND(bugprone-macro-parentheses) */
