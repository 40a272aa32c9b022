/* net/smtp.c - one mail handed over by SMTP, on a connection that libcurl made. */
#include "net/smtp.h"

#include "base/buf.h"
#include "base/crash.h"
#include "net/curl.h"
#include "text/smtp_reply.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HOST_BYTES = 256, CHUNK = 16 << 10 };

struct dialogue {
	struct mr_arena *arena;
	struct mr_curl curl;
	CURL *handle;
	int fd;
	const struct mr_smtp_server *server;
	const struct mr_smtp_mail *mail;
	struct mr_smtp_outcome *out;
	struct mr_buf in;           /* received, and not yet read */
	struct mr_smtp_reply reply; /* the last one */
	struct mr_smtp_extensions can;
	struct mr_err *err;
};

static void end_dialogue(struct dialogue *d)
{
	if (d->handle)
		d->curl.easy_cleanup(d->handle);
	mr_buf_release(&d->in);
}

/* --- connecting --- */

static enum mr_smtp_stage stage_of(CURLcode code)
{
	switch (code) {
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_USE_SSL_FAILED:
		return MR_SMTP_TLS;
	case CURLE_LOGIN_DENIED:
		return MR_SMTP_LOGIN;
	default:
		return MR_SMTP_CONNECT;
	}
}

static enum mr_code cannot_connect(struct dialogue *d, CURLcode code, const char *why)
{
	const char *host = d->server->host;

	d->out->stage = stage_of(code);
	if (code == CURLE_OPERATION_TIMEDOUT)
		return mr_err_set(d->err, MR_ETIMEOUT, "%s did not answer in time", host);
	if (d->out->stage == MR_SMTP_LOGIN)
		return mr_err_set(d->err, MR_EAUTH, "%s refused the login", host);
	if (code == CURLE_WEIRD_SERVER_REPLY && !*why)
		why = "it does not answer as an SMTP server does";
	/* A certificate does not become right by asking again. */
	return mr_err_set(d->err, d->out->stage == MR_SMTP_TLS ? MR_ECONFLICT : MR_EREMOTE,
		"%s: %s", host, *why ? why : d->curl.easy_strerror(code));
}

static void set_up(struct dialogue *d, const char *url, char *why)
{
	const struct mr_smtp_server *server = d->server;
	const struct mr_curl *curl = &d->curl;
	CURL *handle = d->handle;

	mr_curl_be_careful(curl, handle, server->ca_file);
	curl->easy_setopt(handle, CURLOPT_URL, url);
	curl->easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	if (server->starttls && !server->tls)
		curl->easy_setopt(handle, CURLOPT_USE_SSL, (long)CURLUSESSL_ALL);
	if (server->user && (server->password || server->bearer_token)) {
		curl->easy_setopt(handle, CURLOPT_USERNAME, server->user);
		if (server->bearer_token)
			curl->easy_setopt(handle, CURLOPT_XOAUTH2_BEARER, server->bearer_token);
		else
			curl->easy_setopt(handle, CURLOPT_PASSWORD, server->password);
		if (server->mechanism) {
			char options[64];

			snprintf(options, sizeof(options), "AUTH=%s", server->mechanism);
			curl->easy_setopt(handle, CURLOPT_LOGIN_OPTIONS,
				options); /* it is copied */
		}
	}
	curl->easy_setopt(handle, CURLOPT_CONNECT_ONLY, 1L);
	curl->easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, (long)server->timeout_ms);
	curl->easy_setopt(handle, CURLOPT_SERVER_RESPONSE_TIMEOUT,
		(long)(server->timeout_ms + 999) / 1000);
	curl->easy_setopt(handle, CURLOPT_NOPROXY, "*");
	curl->easy_setopt(handle, CURLOPT_ERRORBUFFER, why);
}

static enum mr_code connect_to(struct dialogue *d)
{
	const struct mr_smtp_server *server = d->server;
	char why[CURL_ERROR_SIZE] = "";
	char url[HOST_BYTES + 64];
	curl_socket_t fd = CURL_SOCKET_BAD;
	enum mr_code rc;
	CURLcode code;

	if (strlen(server->host) >= HOST_BYTES || strpbrk(server->host, "/?#@ \r\n"))
		return mr_err_set(d->err, MR_EINVAL, "'%s' is not the name of a host",
			server->host);
	rc = mr_curl_load(&d->curl, d->err);
	if (rc)
		return rc;
	d->handle = d->curl.easy_init();
	if (!d->handle)
		return mr_err_set(d->err, MR_EINTERNAL, "the SMTP client cannot be started");
	/* The name of this machine is nobody's business: an address literal says nothing. */
	snprintf(url, sizeof(url), "%s://%s:%d/%%5B127.0.0.1%%5D", server->tls ? "smtps" : "smtp",
		server->host, server->port);
	set_up(d, url, why);
	code = d->curl.easy_perform(d->handle);
	d->curl.easy_setopt(d->handle, CURLOPT_ERRORBUFFER, NULL);
	if (!code)
		code = d->curl.easy_getinfo(d->handle, CURLINFO_ACTIVESOCKET, &fd);
	if (code || fd == CURL_SOCKET_BAD)
		return cannot_connect(d, code, why);
	d->fd = fd;
	return MR_OK;
}

/* --- bytes --- */

static bool is_ready(const struct dialogue *d, short events, int timeout_ms)
{
	struct pollfd wait = { .fd = d->fd, .events = events };

	return poll(&wait, 1, timeout_ms) > 0;
}

static enum mr_code send_bytes(struct dialogue *d, struct mr_bytes bytes)
{
	if (d->in.len) /* it would be taken for the answer to this */
		return mr_err_set(d->err, MR_EREMOTE, "%s answers what it was not asked",
			d->server->host);
	while (bytes.len) {
		size_t sent = 0;
		CURLcode code = d->curl.easy_send(d->handle, bytes.data, bytes.len, &sent);

		if (code == CURLE_AGAIN) {
			if (!is_ready(d, POLLOUT, d->server->timeout_ms))
				return mr_err_set(d->err, MR_ETIMEOUT, "%s takes no data",
					d->server->host);
			continue;
		}
		if (code)
			return mr_err_set(d->err, MR_EREMOTE, "%s: the connection was lost",
				d->server->host);
		bytes.data += sent;
		bytes.len -= sent;
	}
	return MR_OK;
}

static enum mr_code receive(struct dialogue *d, int timeout_ms)
{
	char chunk[CHUNK];
	size_t got = 0;

	for (;;) {
		CURLcode code = d->curl.easy_recv(d->handle, chunk, sizeof(chunk), &got);

		if (code == CURLE_AGAIN) {
			if (!is_ready(d, POLLIN, timeout_ms))
				return mr_err_set(d->err, MR_ETIMEOUT, "%s did not answer in time",
					d->server->host);
			continue;
		}
		if (code || !got)
			return mr_err_set(d->err, MR_EREMOTE, "%s: the connection was lost",
				d->server->host);
		mr_buf_add(&d->in, chunk, got);
		return mr_buf_check(&d->in, "the server's reply", d->err);
	}
}

/* A whole reply. */
static enum mr_code read_reply(struct dialogue *d, int timeout_ms)
{
	enum mr_code rc = MR_OK;

	d->reply = (struct mr_smtp_reply){ 0 };
	while (!d->reply.is_whole) {
		size_t used = 0;
		struct mr_err why;

		if (mr_smtp_reply_take(d->arena, &d->reply, mr_buf_bytes(&d->in), &used, &why))
			return mr_err_set(d->err, why.code, "%s: %s", d->server->host, why.msg);
		d->in.len -= used;
		if (used && d->in.len)
			memmove(d->in.data, d->in.data + used, d->in.len);
		if (!d->reply.is_whole)
			rc = receive(d, timeout_ms);
		if (rc)
			return rc;
	}
	d->out->reply = d->reply.code;
	return MR_OK;
}

static enum mr_code say(struct dialogue *d, const char *line)
{
	enum mr_code rc = send_bytes(d, mr_bytes_text(line));

	return rc ? rc : read_reply(d, d->server->timeout_ms);
}

/* The server does not want it: for now, or for good. */
static enum mr_code refused(struct dialogue *d, const char *what)
{
	return mr_err_set(d->err, d->reply.code / 100 == 4 ? MR_EREMOTE : MR_ECONFLICT,
		"%s refused %s: %s", d->server->host, what, d->reply.text);
}

/* --- the envelope --- */

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

static bool has_eight_bits(struct mr_bytes bytes)
{
	for (size_t i = 0; i < bytes.len; i++)
		if (bytes.data[i] >= 0x80)
			return true;
	return false;
}

/* Nothing in an address may become a command, or a parameter, of its own. */
static bool is_address(const char *text)
{
	if (!*text || strlen(text) > MR_SMTP_LINE_BYTES / 2)
		return false;
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == '<' || *c == '>' || *c == 127)
			return false;
	return true;
}

static enum mr_code check(struct dialogue *d)
{
	const struct mr_smtp_mail *mail = d->mail;

	if (!mail->to.len || mail->to.len > MR_SMTP_RECIPIENTS)
		return mr_err_set(d->err, MR_EINVAL, "a mail has 1 to %d recipients",
			MR_SMTP_RECIPIENTS);
	if (!is_address(mail->from))
		return mr_err_set(d->err, MR_EINVAL, "'%s' is not an address", mail->from);
	d->out->recipients = mr_arena_array(d->arena, mail->to.len, sizeof(*d->out->recipients));
	for (size_t i = 0; i < mail->to.len; i++) {
		bool is_there = false;

		if (!is_address(mail->to.items[i]))
			return mr_err_set(d->err, MR_EINVAL, "'%s' is not an address",
				mail->to.items[i]);
		for (size_t k = 0; k < d->out->len; k++)
			is_there |=
				mr_str_eq_nocase(d->out->recipients[k].address, mail->to.items[i]);
		if (!is_there)
			d->out->recipients[d->out->len++] =
				(struct mr_smtp_recipient){ .address = mail->to.items[i] };
	}
	return MR_OK;
}

static bool needs_utf8(const struct dialogue *d)
{
	bool needs = !is_ascii(d->mail->from);

	for (size_t i = 0; i < d->out->len; i++)
		needs |= !is_ascii(d->out->recipients[i].address);
	return needs;
}

/* Say who we are once more: libcurl keeps to itself what the server answered. */
static enum mr_code greet(struct dialogue *d)
{
	enum mr_code rc = say(d, "EHLO [127.0.0.1]\r\n");

	if (!rc && d->reply.code == 250)
		d->can = d->reply.can;
	else if (!rc) {
		rc = say(d, "HELO [127.0.0.1]\r\n");
		if (!rc && d->reply.code != 250)
			rc = refused(d, "to talk to us");
	}
	return rc;
}

static enum mr_code name_sender(struct dialogue *d)
{
	const char *line;
	bool utf8 = needs_utf8(d);
	enum mr_code rc;

	d->out->stage = MR_SMTP_SENDER;
	if (utf8 && !d->can.utf8)
		return mr_err_set(d->err, MR_ECONFLICT,
			"%s cannot deliver to addresses with other characters than ASCII (SMTPUTF8)",
			d->server->host);
	if (d->can.size > 0 && (unsigned long long)d->can.size < d->mail->bytes.len)
		return mr_err_set(d->err, MR_ECONFLICT,
			"%s takes mails of at most %lld bytes; this one has %zu", d->server->host,
			d->can.size, d->mail->bytes.len);
	line = mr_arena_printf(d->arena, "MAIL FROM:<%s>%s%s%s\r\n", d->mail->from,
		d->can.has_size ? mr_arena_printf(d->arena, " SIZE=%zu", d->mail->bytes.len) : "",
		d->can.eight_bit && has_eight_bits(d->mail->bytes) ? " BODY=8BITMIME" : "",
		utf8 ? " SMTPUTF8" : "");
	rc = say(d, line);
	if (!rc && d->reply.code / 100 != 2)
		rc = refused(d, d->mail->from);
	return rc;
}

/* All of them are asked for; one that is refused keeps the mail from all. */
static enum mr_code name_recipients(struct dialogue *d)
{
	struct mr_buf names MR_CLEANUP(mr_buf_release) = { 0 };
	bool is_for_now = true;
	size_t count = 0;
	enum mr_code rc = MR_OK;

	mr_buf_init(&names, 64 << 10);
	d->out->stage = MR_SMTP_RECIPIENT;
	for (size_t i = 0; !rc && i < d->out->len; i++) {
		struct mr_smtp_recipient *to = &d->out->recipients[i];

		rc = say(d, mr_arena_printf(d->arena, "RCPT TO:<%s>\r\n", to->address));
		if (rc)
			break;
		to->reply = d->reply.code;
		to->text = d->reply.text;
		if (d->reply.code / 100 == 2)
			continue;
		is_for_now &= d->reply.code / 100 == 4;
		mr_buf_printf(&names, "%s%s (%s)", count++ ? ", " : "", to->address, d->reply.text);
		if (d->reply.code == 421)
			break;
	}
	if (!rc && count)
		rc = mr_err_set(d->err, is_for_now ? MR_EREMOTE : MR_ECONFLICT,
			"%s refused %zu of %zu recipients, so nobody got the mail: %s",
			d->server->host, count, d->out->len, mr_buf_text(&names));
	return rc;
}

/* --- the mail --- */

/* A line that begins with a dot begins with two on the way. */
static void put_content(struct mr_buf *out, struct mr_bytes bytes)
{
	size_t from = 0;

	for (size_t i = 0; i < bytes.len; i++) {
		if (bytes.data[i] != '.' || (i && bytes.data[i - 1] != '\n'))
			continue;
		mr_buf_add(out, bytes.data + from, i - from);
		mr_buf_putc(out, '.');
		from = i;
	}
	mr_buf_add(out, bytes.data + from, bytes.len - from);
	if (!bytes.len || bytes.data[bytes.len - 1] != '\n')
		mr_buf_puts(out, "\r\n");
}

static enum mr_code hand_over(struct dialogue *d)
{
	struct mr_buf content MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc;

	d->out->stage = MR_SMTP_CONTENT;
	mr_buf_init(&content, d->mail->bytes.len * 2 + 64);
	put_content(&content, d->mail->bytes);
	rc = say(d, "DATA\r\n");
	if (!rc && d->reply.code != 354)
		rc = refused(d, "the mail");
	if (!rc)
		rc = send_bytes(d, mr_buf_bytes(&content));
	mr_crash_point("smtp.send.content");
	if (rc)
		return rc; /* a mail without its end is no mail */
	d->out->end = MR_SMTP_UNKNOWN;
	d->out->reply = 0;
	rc = send_bytes(d, mr_bytes_text(".\r\n"));
	mr_crash_point("smtp.send.end");
	if (!rc)
		rc = read_reply(d, d->server->accept_timeout_ms);
	mr_crash_point("smtp.send.answered");
	if (rc)
		return rc;
	if (d->reply.code / 100 == 2) {
		d->out->end = MR_SMTP_SENT;
		return MR_OK;
	}
	d->out->end = MR_SMTP_NOT_SENT;
	return refused(d, "the mail");
}

static void say_goodbye(struct dialogue *d)
{
	struct mr_err ignored;

	d->err = &ignored; /* it changes nothing any more */
	(void)!send_bytes(d, mr_bytes_text("QUIT\r\n"));
}

enum mr_code mr_smtp_send(struct mr_arena *arena, const struct mr_smtp_server *server,
	const struct mr_smtp_mail *mail, struct mr_smtp_outcome *out, struct mr_err *err)
{
	struct dialogue d MR_CLEANUP(end_dialogue) = { .arena = arena,
		.server = server,
		.mail = mail,
		.out = out,
		.fd = -1,
		.err = err };
	enum mr_code rc;

	*out = (struct mr_smtp_outcome){ .end = MR_SMTP_NOT_SENT };
	mr_buf_init(&d.in, (MR_SMTP_LINE_BYTES + CHUNK) * 4);
	rc = check(&d);
	if (!rc)
		rc = connect_to(&d);
	if (rc)
		return rc;
	rc = greet(&d);
	if (!rc)
		rc = name_sender(&d);
	if (!rc)
		rc = name_recipients(&d);
	if (!rc)
		rc = hand_over(&d);
	say_goodbye(&d);
	return rc;
}

enum mr_code mr_smtp_try(struct mr_arena *arena, const struct mr_smtp_server *server,
	struct mr_smtp_outcome *out, struct mr_err *err)
{
	struct dialogue d MR_CLEANUP(end_dialogue) = { .arena = arena,
		.server = server,
		.out = out,
		.fd = -1,
		.err = err };
	enum mr_code rc;

	*out = (struct mr_smtp_outcome){ .end = MR_SMTP_NOT_SENT };
	mr_buf_init(&d.in, (MR_SMTP_LINE_BYTES + CHUNK) * 4);
	rc = connect_to(&d);
	if (rc)
		return rc;
	rc = greet(&d);
	if (!rc)
		say_goodbye(&d);
	return rc;
}
