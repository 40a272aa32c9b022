/*
 * net/imap.h - a session with an IMAP server: commands, and what is said meanwhile.
 *
 * Commands are written by mr_imap_begin(), mr_imap_put*() and sent together by mr_imap_run(), which
 * hands every untagged response to a function and returns when the last of them is completed.
 * Several may be begun before, so that they are on their way at once. Only what the server says it
 * can do may be used: mr_imap_can(). Responses and literals are bounded. One thread uses a session.
 */
#pragma once

#include "net/imap_stream.h"
#include "text/imap_response.h"

enum {
	MR_IMAP_RESPONSE_BYTES = 256 << 20, /* the largest mail, and what is around it */
	MR_IMAP_CAPABILITIES = 256,
	MR_IMAP_CAPABILITY_BYTES = 256, /* of the name of one */
};

struct mr_imap;

/* Connect, log in (if the account has a user), and learn what the server can do. */
MR_CHECK enum mr_code mr_imap_open(const struct mr_imap_account *account, struct mr_imap **out,
	enum mr_imap_stage *out_stage, struct mr_err *err);
/* Say goodbye, as far as that is possible, and close. */
void mr_imap_closep(struct mr_imap **session);
/* Has the server this capability, in any case: "UIDPLUS"? */
bool mr_imap_can(const struct mr_imap *session, const char *capability);

/* Has the server said that it enabled this, for ENABLE: "QRESYNC"? */
bool mr_imap_has_enabled(const struct mr_imap *session, const char *capability);

/*
 * Compress what follows, if the server can and the connection is encrypted: in the clear it is a
 * server of this machine or network, and packing takes longer than sending. Costs one round trip,
 * the first time; whoever expects much asks. That the server refuses is no failure.
 */
MR_CHECK enum mr_code mr_imap_compress(struct mr_imap *session, struct mr_err *err);

/*
 * IDLE: wait until something happens to the selected mailbox, `stop_fd` (or -1) is readable, or the
 * time is over; at once when it happened since the mailbox was gone to, while other commands ran.
 * The server has the capability IDLE; one that refuses all the same loses it, as mr_imap_can()
 * tells.
 */
struct mr_imap_news {
	bool any;
	bool mail; /* there are more mails now; the session is still leaving IDLE */
};
/* `hurry`: when mail came, do not wait until the server has left IDLE. The next run, of a command
 * in the same mailbox, does; its handler gets what is told until then. */
MR_CHECK enum mr_code mr_imap_idle(struct mr_imap *session, int stop_fd, int timeout_ms, bool hurry,
	struct mr_imap_news *out_news, struct mr_err *err);

/* --- commands --- */

/* Begin a command with its first words; its number, from 0 in each run, is returned. */
size_t mr_imap_begin(struct mr_imap *session, const char *words);
/* Append words as they are. */
void mr_imap_put(struct mr_imap *session, const char *words);
/* Append a blank and a string: quoted, or as a literal, for which the server is asked first unless
 * it needs not be. */
void mr_imap_put_string(struct mr_imap *session, const char *text);
void mr_imap_put_bytes(struct mr_imap *session, struct mr_bytes bytes);

/* How a command ended. */
struct mr_imap_outcome {
	enum mr_imap_status status; /* OK, NO, BAD */
	struct mr_imap_node code;   /* in brackets */
	const char *text;
};
/* Gets an untagged response; its bytes are gone afterwards. Anything but MR_OK ends the session. */
typedef enum mr_code mr_imap_handler(void *arg, const struct mr_imap_response *response,
	struct mr_err *err);
/*
 * Send all that was begun and wait for the end of each. `outcomes` (or NULL) gets one for each, in
 * the arena. A command that was refused is no failure of this function; a connection that broke is:
 * then the session is of no use any more.
 */
MR_CHECK enum mr_code mr_imap_run(struct mr_imap *session, struct mr_arena *arena,
	mr_imap_handler *handler, void *arg, struct mr_imap_outcome *outcomes, struct mr_err *err);
/* Answers the text of a "+": the line to send in the arena, or NULL to give up. */
typedef const char *mr_imap_answer(void *arg, struct mr_arena *arena, const char *challenge);
/* One command in which both talk in turn, as a login. A refusal is no failure of this function. */
MR_CHECK enum mr_code mr_imap_converse(struct mr_imap *session, struct mr_arena *arena,
	mr_imap_answer *answer, void *arg, struct mr_imap_outcome *outcome, struct mr_err *err);
/* mr_imap_run() for one command, which must succeed: else MR_EREMOTE with what the server said. */
MR_CHECK enum mr_code mr_imap_do(struct mr_imap *session, struct mr_arena *arena,
	mr_imap_handler *handler, void *arg, struct mr_imap_outcome *outcome, struct mr_err *err);
