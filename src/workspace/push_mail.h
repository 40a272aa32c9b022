/*
 * workspace/push_mail.h - the mail of a queued draft: built once, kept beside its item, sent,
 * recorded.
 *
 * The draft's file may be edited until a step of its item has succeeded, or may have: from then on
 * every step and every retry uses the bytes that were built first, .afmail/push/ID.eml, and the
 * envelope that stands beside them.
 */
#pragma once

#include "workspace/draft.h"
#include "workspace/mail_server.h"
#include "workspace/queue.h"

struct mr_work_push_mail {
	struct mr_work_outbound out;
	const char *draft_hash; /* of the file that it was built from; NULL: not known */
	bool is_reply;          /* steps about the message that is answered are carried out */
};

/* Is the mail fixed? */
bool mr_work_push_mail_is_fixed(const struct mr_work_push_item *item);
/* The mail of an item: the one that was fixed, else what the draft says now, which is stored.
 * draft_not_found, draft_invalid, case_not_found, config_missing. */
MR_CHECK enum mr_code mr_work_push_mail_get(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_item *item, struct mr_work_push_mail *out);
/* The one that was fixed, without a look at the draft; `out->out.bytes.data` is NULL without. */
MR_CHECK enum mr_code mr_work_push_mail_load(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_item *item, struct mr_work_push_mail *out);

/* Hand it to the SMTP server. `*out_unknown`: it failed, and nobody knows whether the mail went.
 * config_missing, smtp_connect_failed, smtp_send_failed. */
MR_CHECK enum mr_code mr_work_push_mail_send(struct mr_ctx *cx, const struct mr_work_config *config,
	mr_work_environment *environment, const struct mr_work_push_mail *mail, bool *out_unknown);

/* It was sent: keep it as a message of its case; as part of a change. Doing it twice is fine. */
MR_CHECK enum mr_code mr_work_push_mail_record(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_push_item *item, const struct mr_work_push_mail *mail);
/* All steps of its item are done: a draft that was sent goes unless it was edited since, one that
 * was saved is known to be; as part of a change, with its event. */
MR_CHECK enum mr_code mr_work_push_mail_finish(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_push_item *item, const struct mr_work_push_mail *mail);
