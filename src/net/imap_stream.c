/* net/imap_stream.c - libcurl logs in and hands over the connection. */
#include "net/imap_stream.h"

#include "net/curl.h"
#include "net/imap_deflate.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PACKED_CHUNK = 64 << 10,
	PACKED_MAX = 512 << 20, /* packed bytes may be a little more than they were */
	KEEP_ALIVE_S = 60,
};

struct mr_imap_stream {
	struct mr_curl curl;
	CURL *handle;
	int fd;
	int timeout_ms;
	bool is_encrypted;
	struct mr_imap_deflate *deflate; /* NULL: nothing is compressed */
	struct mr_buf packed;            /* received, and fed to it */
	char host[256];
};

void mr_imap_stream_freep(struct mr_imap_stream **stream)
{
	if (!*stream)
		return;
	if ((*stream)->handle)
		(*stream)->curl.easy_cleanup((*stream)->handle);
	mr_imap_deflate_freep(&(*stream)->deflate);
	mr_buf_release(&(*stream)->packed);
	free(*stream);
	*stream = NULL;
}

static enum mr_imap_stage stage_of(CURLcode code)
{
	switch (code) {
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_SHUTDOWN_FAILED:
	case CURLE_USE_SSL_FAILED:
		return MR_IMAP_STAGE_TLS;
	case CURLE_LOGIN_DENIED:
		return MR_IMAP_STAGE_LOGIN;
	case CURLE_WEIRD_SERVER_REPLY:
		return MR_IMAP_STAGE_GREETING;
	default:
		return MR_IMAP_STAGE_CONNECT;
	}
}

static enum mr_code refuse(const struct mr_imap_stream *s, CURLcode code, const char *why,
	struct mr_err *err)
{
	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		return mr_err_set(err, MR_ETIMEOUT, "%s did not answer in time", s->host);
	case CURLE_LOGIN_DENIED:
		return mr_err_set(err, MR_EAUTH, "%s refused the login", s->host);
	default:
		if (code == CURLE_WEIRD_SERVER_REPLY && !*why)
			why = "it does not answer as an IMAP server does";
		return mr_err_set(err, MR_EREMOTE, "%s: %s", s->host,
			*why ? why : s->curl.easy_strerror(code));
	}
}

static void set_up(const struct mr_imap_stream *s, const struct mr_imap_account *account,
	const char *url, char *why)
{
	const struct mr_curl *curl = &s->curl;
	CURL *handle = s->handle;

	mr_curl_be_careful(curl, handle, account->ca_file);
	curl->easy_setopt(handle, CURLOPT_URL, url);
	curl->easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "imap,imaps");
	if (account->starttls)
		curl->easy_setopt(handle, CURLOPT_USE_SSL, (long)CURLUSESSL_ALL);
	if (account->user)
		curl->easy_setopt(handle, CURLOPT_USERNAME, account->user);
	if (account->bearer_token)
		curl->easy_setopt(handle, CURLOPT_XOAUTH2_BEARER, account->bearer_token);
	else if (account->password)
		curl->easy_setopt(handle, CURLOPT_PASSWORD, account->password);
	if (account->mechanism) {
		char options[64];

		snprintf(options, sizeof(options), "AUTH=%s", account->mechanism);
		curl->easy_setopt(handle, CURLOPT_LOGIN_OPTIONS, options); /* it is copied */
	}
	curl->easy_setopt(handle, CURLOPT_CONNECT_ONLY, 1L);
	curl->easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, (long)account->timeout_ms);
	curl->easy_setopt(handle, CURLOPT_SERVER_RESPONSE_TIMEOUT,
		(long)(account->timeout_ms + 999) / 1000);
	/* Who waits for mail learns that the way to the server is gone. */
	curl->easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
	curl->easy_setopt(handle, CURLOPT_TCP_KEEPIDLE, (long)KEEP_ALIVE_S);
	curl->easy_setopt(handle, CURLOPT_TCP_KEEPINTVL, (long)KEEP_ALIVE_S);
	curl->easy_setopt(handle, CURLOPT_NOPROXY, "*");
	curl->easy_setopt(handle, CURLOPT_ERRORBUFFER, why);
}

enum mr_code mr_imap_stream_open(const struct mr_imap_account *account, struct mr_imap_stream **out,
	enum mr_imap_stage *out_stage, struct mr_err *err)
{
	struct mr_imap_stream *s MR_CLEANUP(mr_imap_stream_freep) = calloc(1, sizeof(*s));
	char why[CURL_ERROR_SIZE] = "";
	char url[320];
	curl_socket_t fd = CURL_SOCKET_BAD;
	enum mr_code rc;
	CURLcode code;

	*out_stage = MR_IMAP_STAGE_CONNECT;
	if (!s)
		return mr_err_set(err, MR_EINTERNAL, "no memory for a connection");
	if (strlen(account->host) >= sizeof(s->host) || strpbrk(account->host, "/?#@ \r\n"))
		return mr_err_set(err, MR_EINVAL, "'%s' is not the name of a host", account->host);
	snprintf(s->host, sizeof(s->host), "%s", account->host);
	s->timeout_ms = account->timeout_ms;
	s->is_encrypted = account->tls || account->starttls;
	rc = mr_curl_load(&s->curl, err);
	if (rc)
		return rc;
	s->handle = s->curl.easy_init();
	if (!s->handle)
		return mr_err_set(err, MR_EINTERNAL, "the IMAP client cannot be started");
	snprintf(url, sizeof(url), "%s://%s:%d", account->tls ? "imaps" : "imap", s->host,
		account->port);
	set_up(s, account, url, why);
	code = s->curl.easy_perform(s->handle);
	s->curl.easy_setopt(s->handle, CURLOPT_ERRORBUFFER, NULL);
	if (!code)
		code = s->curl.easy_getinfo(s->handle, CURLINFO_ACTIVESOCKET, &fd);
	if (code || fd == CURL_SOCKET_BAD) {
		*out_stage = stage_of(code);
		return refuse(s, code, why, err);
	}
	s->fd = fd;
	*out = s;
	s = NULL;
	return MR_OK;
}

static bool is_ready(const struct mr_imap_stream *s, short events, int timeout_ms)
{
	struct pollfd wait = { .fd = s->fd, .events = events };

	return poll(&wait, 1, timeout_ms) > 0;
}

/* --- bytes as they are on the wire --- */

static enum mr_code send_wire(struct mr_imap_stream *s, struct mr_bytes bytes, struct mr_err *err)
{
	while (bytes.len) {
		size_t sent = 0;
		CURLcode code = s->curl.easy_send(s->handle, bytes.data, bytes.len, &sent);

		if (code == CURLE_AGAIN) {
			if (!is_ready(s, POLLOUT, s->timeout_ms))
				return mr_err_set(err, MR_ETIMEOUT, "%s takes no data", s->host);
			continue;
		}
		if (code)
			return refuse(s, code, "", err);
		bytes.data += sent;
		bytes.len -= sent;
	}
	return MR_OK;
}

/* What has come; `*out_len` 0: nothing. The end of the connection is MR_EREMOTE. */
static enum mr_code peek_wire(struct mr_imap_stream *s, void *into, size_t room, size_t *out_len,
	struct mr_err *err)
{
	CURLcode code = s->curl.easy_recv(s->handle, into, room, out_len);

	if (code == CURLE_AGAIN) {
		*out_len = 0;
		return MR_OK;
	}
	if (!code && !*out_len)
		return mr_err_set(err, MR_EREMOTE, "the server closed the connection");
	return code ? refuse(s, code, "", err) : MR_OK;
}

/* --- bytes as they are meant --- */

bool mr_imap_stream_is_encrypted(const struct mr_imap_stream *s)
{
	return s->is_encrypted;
}

void mr_imap_stream_compress(struct mr_imap_stream *s, struct mr_bytes received)
{
	s->deflate = mr_imap_deflate_new();
	mr_buf_init(&s->packed, PACKED_MAX);
	mr_buf_add(&s->packed, received.data, received.len);
	mr_imap_deflate_feed(s->deflate, mr_buf_bytes(&s->packed));
}

enum mr_code mr_imap_stream_send(struct mr_imap_stream *s, struct mr_bytes bytes,
	struct mr_err *err)
{
	struct mr_buf packed MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc;

	if (!s->deflate)
		return send_wire(s, bytes, err);
	mr_buf_init(&packed, PACKED_MAX);
	mr_imap_deflate_pack(s->deflate, bytes, &packed);
	rc = mr_buf_check(&packed, "a command", err);
	return rc ? rc : send_wire(s, mr_buf_bytes(&packed), err);
}

enum mr_code mr_imap_stream_peek(struct mr_imap_stream *s, void *into, size_t room, size_t *out_len,
	struct mr_err *err)
{
	*out_len = 0;
	if (!s->deflate)
		return peek_wire(s, into, room, out_len, err);
	while (!*out_len) {
		enum mr_code rc;

		if (mr_imap_deflate_is_hungry(s->deflate)) {
			char chunk[PACKED_CHUNK];
			size_t got = 0;

			rc = peek_wire(s, chunk, sizeof(chunk), &got, err);
			if (rc || !got)
				return rc;
			mr_buf_clear(&s->packed);
			mr_buf_add(&s->packed, chunk, got);
			mr_imap_deflate_feed(s->deflate, mr_buf_bytes(&s->packed));
		}
		rc = mr_imap_deflate_unpack(s->deflate, into, room, out_len, err);
		if (rc)
			return rc;
	}
	return MR_OK;
}

enum mr_code mr_imap_stream_receive(struct mr_imap_stream *s, void *into, size_t room,
	size_t *out_len, struct mr_err *err)
{
	for (;;) {
		enum mr_code rc = mr_imap_stream_peek(s, into, room, out_len, err);

		if (rc || *out_len)
			return rc;
		if (!is_ready(s, POLLIN, s->timeout_ms))
			return mr_err_set(err, MR_ETIMEOUT, "%s did not answer in time", s->host);
	}
}

void mr_imap_stream_wait(struct mr_imap_stream *s, int stop_fd, int timeout_ms)
{
	struct pollfd wait[] = { { .fd = s->fd, .events = POLLIN },
		{ .fd = stop_fd, .events = POLLIN } };

	(void)poll(wait, 2, timeout_ms); /* a signal ends it early: the caller looks again */
}
