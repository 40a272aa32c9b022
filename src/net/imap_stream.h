/*
 * net/imap_stream.h - bytes to and from an IMAP server that has let us in.
 *
 * libcurl connects, encrypts, verifies and logs in; then the stream is ours. One thread uses it.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct mr_imap_account {
	const char *host;
	int port;
	bool tls;                 /* from the first byte */
	bool starttls;            /* else after STARTTLS; neither: in the clear */
	const char *ca_file;      /* further authorities, or NULL */
	const char *user;         /* NULL: no login yet */
	const char *password;     /* or NULL */
	const char *bearer_token; /* OAuth, in place of a password; or NULL */
	const char *mechanism;    /* the only one to log in with: "PLAIN"; NULL: any */
	int timeout_ms;           /* without a byte */
};

/* Where it failed to let us in; besides the code and message of the error. */
enum mr_imap_stage {
	MR_IMAP_STAGE_CONNECT,
	MR_IMAP_STAGE_TLS,
	MR_IMAP_STAGE_GREETING,
	MR_IMAP_STAGE_LOGIN,
};

struct mr_imap_stream;

/* Connect and log in. MR_EREMOTE, MR_ETIMEOUT, MR_EAUTH; messages never hold the password. */
MR_CHECK enum mr_code mr_imap_stream_open(const struct mr_imap_account *account,
	struct mr_imap_stream **out, enum mr_imap_stage *out_stage, struct mr_err *err);
void mr_imap_stream_freep(struct mr_imap_stream **stream);
/* Is it encrypted, so that the server is likely to be far away? */
bool mr_imap_stream_is_encrypted(const struct mr_imap_stream *stream);
/* The server agreed to compress: all bytes from now on, in both directions. `received` are those
 * that came behind its agreement. */
void mr_imap_stream_compress(struct mr_imap_stream *stream, struct mr_bytes received);
/* All bytes. */
MR_CHECK enum mr_code mr_imap_stream_send(struct mr_imap_stream *stream, struct mr_bytes bytes,
	struct mr_err *err);
/* At least one byte, at most `room`. The end of the connection is MR_EREMOTE. */
MR_CHECK enum mr_code mr_imap_stream_receive(struct mr_imap_stream *stream, void *into, size_t room,
	size_t *out_len, struct mr_err *err);
/* What has come already, without waiting; `*out_len` 0: nothing. The end of the connection is
 * MR_EREMOTE. */
MR_CHECK enum mr_code mr_imap_stream_peek(struct mr_imap_stream *stream, void *into, size_t room,
	size_t *out_len, struct mr_err *err);
/* Wait until something comes, `stop_fd` (or -1) is readable, or the time is over. */
void mr_imap_stream_wait(struct mr_imap_stream *stream, int stop_fd, int timeout_ms);
