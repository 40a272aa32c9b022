/*
 * workspace/push_content.h - what a push would do, as digests: two that are the same do the same.
 */
#pragma once

#include "text/digest.h"
#include "workspace/config.h"
#include "workspace/draft.h"
#include "workspace/queue.h"

/* A text and where it ends, so that two lists of texts never look the same; NULL is a text too. */
void mr_work_push_add_text(struct mr_digest *digest, const char *text);
void mr_work_push_add_value(struct mr_ctx *cx, struct mr_digest *digest,
	const struct mr_value *value);
/* The servers and mailboxes. Without secrets, which nothing that is shown may depend on. */
void mr_work_push_add_config(struct mr_ctx *cx, struct mr_digest *digest,
	const struct mr_work_config *config);

/*
 * "content_..." of one item: its mail to the last byte but for the date, its recipients, its steps,
 * the servers. `mail` is that of an outbound item, which may be built for the first time or be the
 * one that was fixed. How often it was tried, and which of its steps are done, does not matter.
 */
const char *mr_work_push_content_id(struct mr_ctx *cx, const struct mr_work_config *config,
	const struct mr_work_push_item *item, const struct mr_work_outbound *mail);
