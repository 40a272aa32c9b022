/* op/mailbox/render_mailbox.h - results of the mailbox operations as people read them: a sentence,
 * or a table that fits the terminal. */
#pragma once

#include "op/render.h"

typedef void mr_render_mailbox(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);

/* render_mailbox.c: the root as a whole, and its registrations. */
mr_render_mailbox mr_render_mailbox_init;
mr_render_mailbox mr_render_mailbox_status;
mr_render_mailbox mr_render_mailbox_checked;
mr_render_mailbox mr_render_mailbox_repaired;
mr_render_mailbox mr_render_mailbox_adopted;
mr_render_mailbox mr_render_mailbox_registered;
mr_render_mailbox mr_render_mailbox_unregistered;
mr_render_mailbox mr_render_mailbox_accounts;
mr_render_mailbox mr_render_mailbox_account;
/* render_mailbox_mail.c: messages, and what is removed or exported. */
mr_render_mailbox mr_render_mailbox_messages;
mr_render_mailbox mr_render_mailbox_message;
mr_render_mailbox mr_render_mailbox_removed;
mr_render_mailbox mr_render_mailbox_exported;
