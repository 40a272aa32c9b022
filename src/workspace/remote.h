/*
 * workspace/remote.h - where a message is on the server: its sidecar
 * .afmail/messages/ID.remote.json.
 *
 * No location, no file. A location that vanished stays, with the time it was missed.
 */
#pragma once

#include "text/out.h"
#include "workspace/change.h"
#include "workspace/frame.h"

struct mr_work_location {
	const char *mailbox_name;
	const char *mailbox_id; /* or NULL */
	bool has_uid;           /* uid and uid_validity are known */
	int64_t uid_validity, uid;
	struct mr_texts flags; /* sorted, each once, without \Recent */
	const char *observed;  /* when it was first recorded */
	const char *missing;   /* since when it is not there any more, or NULL */
};
struct mr_work_locations {
	struct mr_work_location *items;
	size_t len;
};

/* None when there is no sidecar; message_remote_invalid. */
MR_CHECK enum mr_code mr_work_remote_load(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, struct mr_work_locations *out);
/* Write it, or remove it when there are none, as part of a change. */
void mr_work_remote_save(struct mr_work_change *change, const char *message_id,
	const struct mr_work_locations *locations);
/* The document. */
const struct mr_value *mr_work_remote_value(struct mr_ctx *cx, const char *message_id,
	const struct mr_work_locations *locations);
/* The list of locations alone, as member `key` of an open map. */
void mr_work_remote_emit(struct mr_out *out, const char *key,
	const struct mr_work_locations *locations);
/* Flags as they are kept. */
struct mr_texts mr_work_flags(struct mr_arena *arena, const struct mr_texts *flags);
/* There, with uid and uid_validity: something can be done to it. */
bool mr_work_location_is_usable(const struct mr_work_location *location);
