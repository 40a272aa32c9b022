/*
 * mailbox/rules.h - rules/: policy for readers, and the managed scripts as wrappers around us.
 *
 * Each script is a few lines of Python that need nothing but the standard library and end in
 * exec `mailroom mailbox script NAME`.
 */
#pragma once

#include "mailbox/root.h"

/* Write what is missing or differs; durable, atomic. */
MR_CHECK enum mr_code mr_mailbox_rules_publish(struct mr_ctx *cx,
	const struct mr_mailbox_root *root);
