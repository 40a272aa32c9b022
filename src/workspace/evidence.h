/*
 * workspace/evidence.h - what is known of one message from its own files: the raw bytes, where it
 * is on the server, and the few facts that only an earlier record holds (when it came, which way).
 */
#pragma once

#include "text/mime.h"
#include "workspace/config.h"
#include "workspace/frame.h"
#include "workspace/remote.h"

struct mr_work_evidence {
	const char *message_id;
	struct mr_bytes eml; /* no data when there is no raw message: the record is all there is */
	struct mr_mime mime;
	struct mr_work_locations locations;
	const struct mr_value *record; /* the earlier record, or NULL when it cannot be used */
	enum mr_work_direction direction;
	const char *received, *sent; /* RFC 3339 in the sender's offset, or NULL */
	bool has_time;
	int64_t time_us; /* received, else sent */
};

/* message_not_found when there is neither a raw message nor a record; message_remote_invalid. */
MR_CHECK enum mr_code mr_work_evidence_load(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, struct mr_work_evidence *out);

/*
 * Messages that a command has just taken in are kept as they came until they are forgotten, so that
 * mr_work_evidence_load() reads and parses none of their files again. Everything given here must
 * live until then; one that has a record from before, which knows more, is not kept.
 */
void mr_work_evidence_keep(struct mr_arena *arena, struct mr_work *work, const char *message_id,
	const struct mr_mime *mime, const struct mr_work_locations *locations);
void mr_work_evidence_forget(struct mr_work *work);

/* The instant of an RFC 3339 text; false when it is none. */
bool mr_work_instant(const char *text, int64_t *out_us);
