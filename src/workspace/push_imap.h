/*
 * workspace/push_imap.h - the steps of a push that happen on the IMAP server: append, flags, move.
 *
 * The session is opened by the first step that needs it, serves all items, and is opened anew when
 * it broke. Each step may be repeated: it looks at what is there before it changes anything that
 * would be done twice.
 */
#pragma once

#include "workspace/mail_server.h"
#include "workspace/push_mail.h"
#include "workspace/queue.h"

struct mr_work_push_imap {
	struct mr_ctx *cx;
	struct mr_work *work;
	const struct mr_work_config *config;
	mr_work_environment *environment;
	/* Its own: begin with zeros. */
	struct mr_imap *session;
	const struct mr_err *failure; /* why it could not be opened: it is not tried again */
	struct mr_work_server_mailboxes list;
	bool has_list;
	const char *selected; /* the mailbox, or NULL */
	bool may_change;      /* selected for changes */
	bool is_read_only;
	int64_t validity, exists;
};

/* Each sets `*out_summary` on success. `again`: the step was begun before. */

/* `*out_unknown`: it failed, and the mail may be there all the same. imap_append_failed. */
MR_CHECK enum mr_code mr_work_push_append(struct mr_work_push_imap *imap,
	const struct mr_work_push_item *item, const struct mr_work_push_mail *mail,
	const char *mailbox_id, bool again, const char **out_summary, bool *out_unknown);
/* The locations of the item's messages, or those of `reply_to`. imap_store_failed,
 * imap_uidvalidity_changed. */
MR_CHECK enum mr_code mr_work_push_flags(struct mr_work_push_imap *imap,
	const struct mr_work_push_item *item, const struct mr_texts *flags, const char *reply_to,
	const char **out_summary);
/* imap_move_failed, imap_move_unsupported, imap_uidvalidity_changed. */
MR_CHECK enum mr_code mr_work_push_move(struct mr_work_push_imap *imap,
	const struct mr_work_push_item *item, const char *mailbox_id, const char **out_summary);
/* Is this very mail in a mailbox? `*out_uid` is 0 when not. */
MR_CHECK enum mr_code mr_work_push_find(struct mr_work_push_imap *imap, const char *mailbox_id,
	const struct mr_work_push_mail *mail, int64_t *out_uid);
