/*
 * workspace/request.h - commands that are carried out once, however often they are sent:
 * .afmail/requests/.
 *
 * A command that changes something may carry an id of its caller's. Before it runs, a note of the
 * id is written and synced; when its change is durable, the note gets its result. The same command
 * with the same id then gets that result and changes nothing. After a crash in between the note
 * has no result: whether the change happened is not known, so that the command is refused and says
 * so, and is never carried out twice unnoticed. A command that was refused leaves no note.
 *
 * The latest MR_WORK_REQUESTS_KEPT notes are kept. The caller has the workspace locked for writing.
 */
#pragma once

#include "workspace/frame.h"

enum { MR_WORK_REQUESTS_KEPT = 1000, MR_WORK_REQUEST_ID_BYTES = 128 };

struct mr_work_request {
	const char *id;
	const char *asked; /* a digest of what the command is and its arguments */
};

/* Letters, digits and "._:-", not more than MR_WORK_REQUEST_ID_BYTES. */
bool mr_work_request_is_id(const char *id);
/*
 * The request begins: `*out` is the result that it had before, or NULL when it is new and is to be
 * carried out. invalid_request: the id was used for another command, or the command with this id
 * did not come to its end.
 */
MR_CHECK enum mr_code mr_work_request_begin(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_request *request, const struct mr_value **out);
/* It was carried out, with this result (NULL: none). A note that cannot be written stays one
 * without a result. */
void mr_work_request_done(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_request *request, const struct mr_value *result);
/* It was refused or failed, with `rc`: the note goes, unless the change may have happened. */
void mr_work_request_failed(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_request *request, enum mr_code rc);
