/* op/mailbox/mailbox_ops.h - what the mailbox operations share: how they find their root. */
#pragma once

#include "mailbox/root.h"
#include "op/args.h"
#include "op/call.h"

/* First in every table of parameters of a mailbox operation. */
#define MR_MAILBOX_ROOT_PARAM                                                                      \
	{                                                                                          \
		.name = "mailbox_root", .type = MR_TYPE_TEXT,                                      \
		.summary = "the mailbox root, in place of the setting mailbox.root",               \
	}

/* The path the caller named, else the setting. */
MR_CHECK enum mr_code mr_mailbox_ops_path(struct mr_call *call, const struct mr_args *in,
	const char **out);
MR_CHECK enum mr_code mr_mailbox_ops_open(struct mr_call *call, const struct mr_args *in,
	enum mr_mailbox_root_for purpose, struct mr_mailbox_root *out);
