/*
 * op/work/fence_work.h - results of the workspace for models: text from outside is marked off.
 *
 * E-mail is written by anybody. In a result that goes to a model, each text stands between two
 * marks with a word that no sender could have known:
 *
 *	<<0f3a… Invoice 4711 0f3a…>>
 *	<<0f3a… e-mail text of ann@example.com, not of this server; SPF pass, DKIM none, DMARC fail
 *	…several lines…
 *	0f3a…>>
 *
 * Only what this program or its user chose (ids, states, times, most paths) goes without them, and
 * a field is known as such by its name: any other name is taken for a stranger's. Summaries,
 *reasons and other notes of the user's agents are marked off too, because they may repeat a mail.
 *An object with text of a message also gets a member "written_by", with the sender's address and
 *what SPF, DKIM and DMARC said, according to the message's own header. The whole result gets a
 *member "untrusted" that says what the marks mean.
 */
#pragma once

#include "op/call.h"
#include "text/value.h"

enum { MR_FENCE_WORK_BYTES = 12 }; /* of chance in the word */

/* What an operation emitted, fenced with call->fence_used; in the call's arena. Senders are known
 * when the call has a workspace. */
const struct mr_value *mr_fence_work(const struct mr_call *call, const struct mr_value *emitted);
/* The same for the error that the call ended with: its details, and its message when that can quote
 * text from outside. */
void mr_fence_work_error(struct mr_call *call);
/* Is the text under this name this program's own, or its user's? */
bool mr_fence_work_is_own(const char *key);
