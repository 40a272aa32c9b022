/*
 * text/scram.h - the client's side of a login by SCRAM-SHA-256 (RFC 5802, RFC 7677): the password
 * is proved and not told, and the server proves that it knows it too.
 *
 * Without channel binding. Names and passwords are sent as they are: no SASLprep, which common
 * servers do not apply either. Messages here are plain text; the protocol puts them in base64.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/rand.h"
#include "base/str.h"

enum {
	MR_SCRAM_ITERATIONS_MIN = 4096, /* fewer would give the password away to who listens */
	MR_SCRAM_ITERATIONS_MAX = 1000 * 1000,
	MR_SCRAM_MESSAGE_BYTES = 4096, /* of the server */
};

struct mr_scram {
	struct mr_arena *arena;
	const char *password;
	const char *first; /* what is to be sent first */
	const char *nonce;
	struct mr_bytes signature; /* what the server will have to show */
};

/* Sets `first`; the texts must stay. */
void mr_scram_begin(struct mr_scram *scram, struct mr_arena *arena, struct mr_rand *rand,
	const char *user, const char *password);
/* The answer to the server's first message. MR_EAUTH when that is not one. */
MR_CHECK enum mr_code mr_scram_answer(struct mr_scram *scram, const char *server_first,
	const char **out, struct mr_err *err);
/* Is the server's last message the proof? MR_EAUTH when not. */
MR_CHECK enum mr_code mr_scram_check(const struct mr_scram *scram, const char *server_final,
	struct mr_err *err);
/* A message out of its base64; MR_EAUTH when it is none or too long. */
MR_CHECK enum mr_code mr_scram_decode(struct mr_arena *arena, const char *base64, const char **out,
	struct mr_err *err);
