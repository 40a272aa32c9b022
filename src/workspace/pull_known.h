/* workspace/pull_known.h - where the messages of a mailbox were when the server was last asked. */
#pragma once

#include "workspace/index.h"

/* The places of one mailbox, sorted by validity and uid. */
struct mr_work_known {
	struct mr_work_place_row *items;
	bool *is_there; /* which of them this pull has seen */
	size_t len;
};

MR_CHECK enum mr_code mr_work_known_load(struct mr_ctx *cx, struct mr_work *work,
	const char *mailbox_name, struct mr_work_known *out);
/* The first of this uid; `known->len` when it is not known. */
size_t mr_work_known_find(const struct mr_work_known *known, int64_t uid_validity, int64_t uid);
