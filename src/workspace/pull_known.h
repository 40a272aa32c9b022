/* workspace/pull_known.h - where messages were on the server when it was last asked. */
#pragma once

#include "workspace/frame.h"
#include "workspace/remote.h"

struct mr_work_known_location {
	const char *message_id, *mailbox_name;
	int64_t uid_validity, uid;
	const char *flags; /* joined by blanks */
	bool is_missing;   /* it was gone already */
	bool is_there;     /* seen by this pull */
};
struct mr_work_known {
	struct mr_work_known_location *items; /* sorted by mailbox, validity and uid */
	size_t len;
};

/* All locations with a uid. */
MR_CHECK enum mr_code mr_work_known_load(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_known *out);
/* NULL when it is not known. */
struct mr_work_known_location *mr_work_known_find(const struct mr_work_known *known,
	const char *mailbox_name, int64_t uid_validity, int64_t uid);
