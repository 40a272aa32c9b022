/* tests/unit/net/test_smtp.c */
#include "net/smtp.h"

#include "base/buf.h"
#include "test.h"
#include "text/smtp_reply.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* One thing that the server waits for, and what it does then. */
struct turn {
	const char *word;  /* a line that begins so; ".": a mail; NULL: nothing */
	const char *reply; /* NULL: it hangs up; "": it says nothing any more */
};

/* A server for one connection, which follows its turns. */
struct server {
	const struct turn *turns;
	size_t len;
	bool chops; /* sends byte by byte */
	int listener, port;
	pthread_t thread;
	struct mr_buf in;    /* received, and not yet used */
	struct mr_buf heard; /* lines, and mails as they came */
	const char *wrong;   /* a turn that was not taken */
};

static bool hear_more(struct server *s, int fd)
{
	char chunk[4096];
	ssize_t got = recv(fd, chunk, sizeof(chunk), 0);

	if (got > 0)
		mr_buf_add(&s->in, chunk, (size_t)got);
	return got > 0;
}

/* Everything up to and with `end`; false when the client hangs up before. */
static bool hear(struct server *s, int fd, const char *end)
{
	const char *found;
	size_t len;

	while (!(found = memmem(s->in.data ? s->in.data : "", s->in.len, end, strlen(end))))
		if (!hear_more(s, fd))
			return false;
	len = (size_t)(found - (const char *)s->in.data) + strlen(end);
	mr_buf_add(&s->heard, s->in.data, len);
	s->in.len -= len;
	memmove(s->in.data, s->in.data + len, s->in.len);
	return true;
}

static void tell(const struct server *s, int fd, const char *text)
{
	size_t step = s->chops ? 1 : strlen(text);

	for (size_t len = strlen(text); len; text += step, len -= step)
		if (send(fd, text, step, MSG_NOSIGNAL) < 0)
			return;
}

static bool is_next(struct server *s, int fd, const char *word)
{
	size_t before = s->heard.len;

	if (!word)
		return true;
	if (!hear(s, fd, *word == '.' ? "\r\n.\r\n" : "\r\n"))
		return false;
	return *word == '.' ||
		strncmp((const char *)s->heard.data + before, word, strlen(word)) == 0;
}

static void *serve(void *arg)
{
	struct server *s = arg;
	int fd = accept(s->listener, NULL, NULL);
	bool hangs_up = false;
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	for (size_t i = 0; i < s->len && !hangs_up; i++) {
		if (!is_next(s, fd, s->turns[i].word)) {
			s->wrong = s->turns[i].word;
			break;
		}
		hangs_up = !s->turns[i].reply;
		if (!hangs_up)
			tell(s, fd, s->turns[i].reply);
	}
	while (!hangs_up && hear_more(s, fd)) /* until the client has gone */
		;
	close(fd);
	return NULL;
}

static void start(struct server *s)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);

	mr_buf_init(&s->in, 64 << 20);
	mr_buf_init(&s->heard, 64 << 20);
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(s->listener, (struct sockaddr *)&address, len) == 0);
	CHECK(listen(s->listener, 4) == 0);
	CHECK(getsockname(s->listener, (struct sockaddr *)&address, &len) == 0);
	s->port = ntohs(address.sin_port);
	CHECK(pthread_create(&s->thread, NULL, serve, s) == 0);
}

static void stop(struct server *s)
{
	close(s->listener);
	mr_buf_release(&s->in);
	mr_buf_release(&s->heard);
}

/* --- one mail to such a server --- */

struct trial {
	struct mr_arena *arena;
	const struct turn *turns;
	size_t len;
	bool chops;
	struct mr_smtp_mail mail; /* what is left out is filled in */
	const char *user, *password;
	int timeout_ms;

	struct mr_smtp_outcome out;
	struct mr_err err;
	const char *heard;
	const char *wrong;
};

static const char *bob[] = { "bob@example.org", NULL };
static const char text[] = "Subject: x\r\n\r\nHello\r\n";

static enum mr_code try_it(struct trial *t)
{
	struct server s = { .turns = t->turns, .len = t->len, .chops = t->chops };
	struct mr_smtp_server where = { .host = "127.0.0.1",
		.user = t->user,
		.password = t->password,
		.timeout_ms = t->timeout_ms ? t->timeout_ms : 60000,
		.accept_timeout_ms = t->timeout_ms ? t->timeout_ms : 60000 };
	enum mr_code rc;

	if (!t->mail.from)
		t->mail.from = "ann@example.org";
	if (!t->mail.to.len)
		t->mail.to = (struct mr_texts){ bob, 1 };
	if (!t->mail.bytes.data)
		t->mail.bytes = mr_bytes_text(text);
	start(&s);
	where.port = s.port;
	rc = mr_smtp_send(t->arena, &where, &t->mail, &t->out, &t->err);
	pthread_join(s.thread, NULL);
	t->heard = mr_arena_strndup(t->arena, mr_buf_text(&s.heard), s.heard.len);
	t->wrong = s.wrong;
	stop(&s);
	return rc;
}

#define HELLO                                                                                      \
	{ NULL, "220 here\r\n" }, { "EHLO ", "250 here\r\n" },                                     \
	{                                                                                          \
		"EHLO ", "250 here\r\n"                                                            \
	}
#define OK "250 ok\r\n"
#define GO "354 go on\r\n"

static void a_mail_is_handed_over(void)
{
	static const struct turn turns[] = { HELLO, { "MAIL", OK }, { "RCPT", OK }, { "RCPT", OK },
		{ "DATA", GO }, { ".", OK }, { "QUIT", "221 bye\r\n" } };
	const char *to[] = { "bob@example.org", "carol@example.org", "BOB@example.org",
		"carol@example.org", NULL };
	struct trial t = { .arena = mr_arena_new(),
		.turns = turns,
		.len = MR_LEN(turns),
		.mail.to = { to, 4 } };

	CHECK_OK(try_it(&t), t.err);
	CHECK_STR(t.wrong, NULL);
	CHECK_STR(t.heard,
		"EHLO [127.0.0.1]\r\nEHLO [127.0.0.1]\r\nMAIL FROM:<ann@example.org>\r\n"
		"RCPT TO:<bob@example.org>\r\nRCPT TO:<carol@example.org>\r\nDATA\r\n"
		"Subject: x\r\n\r\nHello\r\n.\r\nQUIT\r\n");
	CHECK_INT(t.out.end, MR_SMTP_SENT);
	CHECK_INT(t.out.reply, 250);
	CHECK_INT(t.out.len, 2);
	CHECK_STR(t.out.recipients[1].address, "carol@example.org");
	CHECK_INT(t.out.recipients[1].reply, 250);
	mr_arena_free(t.arena);
}

static void replies_may_come_in_pieces_and_lines(void)
{
	static const struct turn turns[] = { { NULL, "220-we\r\n220 are here\r\n" },
		{ "EHLO ", "250-here\r\n250-X\r\n250 SIZE\r\n" },
		{ "EHLO ", "250-here\r\n250-8BITMIME\r\n250-SIZE 999\r\n250 X\r\n" },
		{ "MAIL", "250-so\r\n250-far\r\n250 good\r\n" }, { "RCPT", "251-a\r\n251 b\r\n" },
		{ "DATA", "354-now\r\n354 go\r\n" }, { ".", "250-thanks\r\n250 2.0.0 kept\r\n" },
		{ "QUIT", "221 bye\r\n" } };
	struct trial t = { .arena = mr_arena_new(),
		.turns = turns,
		.len = MR_LEN(turns),
		.chops = true };

	CHECK_OK(try_it(&t), t.err);
	CHECK_STR(t.wrong, NULL);
	CHECK(strstr(t.heard, "MAIL FROM:<ann@example.org> SIZE=21\r\n"));
	CHECK_INT(t.out.recipients[0].reply, 251);
	CHECK_STR(t.out.recipients[0].text, "251 b");
	mr_arena_free(t.arena);
}

static void the_sender_says_what_the_server_can_use(void)
{
	static const struct {
		const char *can, *from, *to, *mail, *line;
	} cases[] = {
		{ "250 x\r\n", "a@b", "c@d", "\xc3\xbc\r\n", "MAIL FROM:<a@b>\r\n" },
		{ "250-x\r\n250 8BITMIME\r\n", "a@b", "c@d", "u\r\n", "MAIL FROM:<a@b>\r\n" },
		{ "250-x\r\n250 8bitmime\r\n", "a@b", "c@d", "\xc3\xbc\r\n",
			"MAIL FROM:<a@b> BODY=8BITMIME\r\n" },
		{ "250-x\r\n250-SIZE 0\r\n250-SMTPUTF8\r\n250 8BITMIME\r\n", "a@b", "\xc3\xbc@d",
			"\xc3\xbc\r\n", "MAIL FROM:<a@b> SIZE=4 BODY=8BITMIME SMTPUTF8\r\n" },
		{ "250-x\r\n250-SIZE 3\r\n250 SMTPUTF8\r\n", "\xc3\xbc@b", "c@d", "u\r\n",
			"MAIL FROM:<\xc3\xbc@b> SIZE=3 SMTPUTF8\r\n" },
	};
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const struct turn turns[] = { { NULL, "220 x\r\n" }, { "EHLO", OK },
			{ "EHLO", cases[i].can }, { "MAIL", OK }, { "RCPT", OK }, { "DATA", GO },
			{ ".", OK } };
		const char *to[] = { cases[i].to, NULL };
		struct trial t = { .arena = arena,
			.turns = turns,
			.len = MR_LEN(turns),
			.mail = { cases[i].from, { to, 1 }, mr_bytes_text(cases[i].mail) } };

		CHECK_OK(try_it(&t), t.err);
		CHECK(strstr(t.heard, cases[i].line));
	}
	mr_arena_free(arena);
}

static void dots_are_doubled(void)
{
	static const struct {
		const char *mail, *sent;
	} cases[] = {
		{ ".\r\n", "..\r\n.\r\n" },
		{ ".a\r\n.b\r\nc.\r\n..d", "..a\r\n..b\r\nc.\r\n...d\r\n.\r\n" },
		{ "a\r\n.\r\nMAIL FROM:<x@y>\r\n", "a\r\n..\r\nMAIL FROM:<x@y>\r\n.\r\n" },
		{ "no end", "no end\r\n.\r\n" },
	};
	static const struct turn turns[] = { HELLO, { "MAIL", OK }, { "RCPT", OK }, { "DATA", GO },
		{ ".", OK }, { "QUIT", "221 bye\r\n" } };
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct trial t = { .arena = arena,
			.turns = turns,
			.len = MR_LEN(turns),
			.mail.bytes = mr_bytes_text(cases[i].mail) };

		CHECK_OK(try_it(&t), t.err);
		CHECK_STR(strstr(t.heard, "DATA\r\n") + 6,
			mr_arena_printf(arena, "%sQUIT\r\n", cases[i].sent));
	}
	mr_arena_free(arena);
}

/* A server that says no at one of its turns. */
static void a_refusal_says_whether_later_may_help(void)
{
	static const struct {
		size_t at;
		const char *reply;
		enum mr_code code;
		enum mr_smtp_stage stage;
		const char *why;
	} cases[] = {
		{ 0, "554 no\r\n", MR_EREMOTE, MR_SMTP_CONNECT, "127.0.0.1: " },
		{ 3, "451 later\r\n", MR_EREMOTE, MR_SMTP_SENDER, "ann@example.org: 451 later" },
		{ 3, "550 never\r\n", MR_ECONFLICT, MR_SMTP_SENDER, "ann@example.org: 550 never" },
		{ 4, "450 later\r\n", MR_EREMOTE, MR_SMTP_RECIPIENT, "(450 later)" },
		{ 4, "550-no\r\n550 one\r\n", MR_ECONFLICT, MR_SMTP_RECIPIENT,
			"refused 1 of 1 recipients, so nobody got the mail: bob@example.org (550 "
			"one)" },
		{ 5, "452 later\r\n", MR_EREMOTE, MR_SMTP_CONTENT, "the mail: 452 later" },
		{ 5, "554 never\r\n", MR_ECONFLICT, MR_SMTP_CONTENT, "the mail: 554 never" },
		{ 5, "250 what\r\n", MR_ECONFLICT, MR_SMTP_CONTENT, "the mail: 250 what" },
		{ 6, "452 full\r\n", MR_EREMOTE, MR_SMTP_CONTENT, "the mail: 452 full" },
		{ 6, "554 spam\r\n", MR_ECONFLICT, MR_SMTP_CONTENT, "the mail: 554 spam" },
	};
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct turn turns[] = { HELLO, { "MAIL", OK }, { "RCPT", OK }, { "DATA", GO },
			{ ".", OK } };
		struct trial t = { .arena = arena, .turns = turns, .len = cases[i].at + 1 };

		turns[cases[i].at].reply = cases[i].reply;
		CHECK_INT(try_it(&t), cases[i].code);
		CHECK_STR(t.wrong, NULL);
		CHECK_INT(t.out.end, MR_SMTP_NOT_SENT);
		CHECK_INT(t.out.stage, cases[i].stage);
		CHECK(strstr(t.err.msg, cases[i].why));
	}
	mr_arena_free(arena);
}

static void all_recipients_are_asked_for(void)
{
	static const struct turn turns[] = { HELLO, { "MAIL", OK }, { "RCPT TO:<a@x>", OK },
		{ "RCPT TO:<b@x>", "550 no b\r\n" }, { "RCPT TO:<c@x>", "450 c later\r\n" },
		{ "RCPT TO:<d@x>", "251 d is elsewhere\r\n" }, { "QUIT", "221 bye\r\n" } };
	static const struct turn closing[] = { HELLO, { "MAIL", OK }, { "RCPT TO:<a@x>", OK },
		{ "RCPT TO:<b@x>", "421 closing\r\n" }, { "QUIT", NULL } };
	const char *to[] = { "a@x", "b@x", "c@x", "d@x", NULL };
	struct trial t = { .arena = mr_arena_new(),
		.turns = turns,
		.len = MR_LEN(turns),
		.mail.to = { to, 4 } };

	CHECK_INT(try_it(&t), MR_ECONFLICT);
	CHECK_STR(t.wrong, NULL);
	CHECK_INT(t.out.end, MR_SMTP_NOT_SENT);
	CHECK(strstr(t.err.msg,
		"refused 2 of 4 recipients, so nobody got the mail: "
		"b@x (550 no b), c@x (450 c later)"));
	CHECK_INT(t.out.recipients[0].reply, 250);
	CHECK_INT(t.out.recipients[2].reply, 450);
	CHECK_INT(t.out.recipients[3].reply, 251);
	t.turns = closing;
	t.len = MR_LEN(closing);
	CHECK_INT(try_it(&t), MR_EREMOTE);
	CHECK_INT(t.out.recipients[1].reply, 421);
	CHECK_INT(t.out.recipients[2].reply, 0); /* nobody listens any more */
	mr_arena_free(t.arena);
}

enum { AT_DOT = 6, TURNS };

/* Before the end of the mail nobody has it; after it, nobody knows. */
static void lost_connections_say_what_is_known(void)
{
	struct mr_arena *arena = mr_arena_new();

	for (size_t at = 0; at < TURNS; at++)
		for (int half = 0; half < 2; half++) {
			struct turn turns[TURNS + 1] = { HELLO, { "MAIL", OK }, { "RCPT", OK },
				{ "DATA", GO }, { ".", OK } };
			struct trial t = { .arena = arena, .turns = turns, .len = at + 1 };

			turns[at].reply = NULL;
			if (half) { /* of a reply, then the end */
				turns[at].reply = "250-half\r\n250 o";
				turns[at + 1] = (struct turn){ NULL, NULL };
				t.len++;
			}
			CHECK_INT(try_it(&t), MR_EREMOTE);
			CHECK_STR(t.wrong, NULL);
			CHECK_INT(t.out.end, at == AT_DOT ? MR_SMTP_UNKNOWN : MR_SMTP_NOT_SENT);
		}
	mr_arena_free(arena);
}

static void a_mail_without_its_end_is_none(void)
{
	static const struct turn turns[] = { HELLO, { "MAIL", OK }, { "RCPT", OK }, { "DATA", GO },
		{ "xxxx", NULL } };
	struct trial t = { .arena = mr_arena_new(), .turns = turns, .len = MR_LEN(turns) };
	struct mr_buf large;

	mr_buf_init(&large, 64 << 20);
	mr_buf_puts(&large, "xxxx\r\n");
	mr_buf_pad(&large, 'y', 32 << 20); /* more than lies on the way */
	t.mail.bytes = mr_buf_bytes(&large);
	CHECK_INT(try_it(&t), MR_EREMOTE);
	CHECK_STR(t.wrong, NULL);
	CHECK_INT(t.out.end, MR_SMTP_NOT_SENT);
	mr_buf_release(&large);
	mr_arena_free(t.arena);
}

static void silence_ends(void)
{
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 2; i < TURNS; i++) {
		struct turn turns[] = { HELLO, { "MAIL", OK }, { "RCPT", OK }, { "DATA", GO },
			{ ".", OK } };
		struct trial t = { .arena = arena,
			.turns = turns,
			.len = i + 1,
			.timeout_ms = 300 };

		turns[i].reply = "";
		CHECK_INT(try_it(&t), MR_ETIMEOUT);
		CHECK_INT(t.out.end, i == AT_DOT ? MR_SMTP_UNKNOWN : MR_SMTP_NOT_SENT);
	}
	mr_arena_free(arena);
}

static void nonsense_is_no_acceptance(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_buf line, lines;
	const char *cases[6] = { "hello\r\n", "250-a\r\n550 b\r\n", "250 ok\r\n250 ok\r\n",
		"\r\n" };

	mr_buf_init(&line, 1 << 20);
	mr_buf_init(&lines, 1 << 20);
	mr_buf_puts(&line, "250 ");
	mr_buf_pad(&line, 'x', 4 * MR_SMTP_LINE_BYTES);
	for (int i = 0; i < 2 * MR_SMTP_LINES; i++)
		mr_buf_puts(&lines, "250-and\r\n");
	cases[4] = mr_buf_text(&line);
	cases[5] = mr_buf_text(&lines);
	for (size_t at = 2; at < TURNS; at++)
		for (size_t i = 0; i < MR_LEN(cases); i++) {
			struct turn turns[] = { HELLO, { "MAIL", OK }, { "RCPT", OK },
				{ "DATA", GO }, { ".", OK } };
			struct trial t = { .arena = arena, .turns = turns, .len = at + 1 };
			enum mr_code rc;

			turns[at].reply = cases[i];
			rc = try_it(&t);
			if (at == AT_DOT && i == 2) { /* accepted, and something after that */
				CHECK_OK(rc, t.err);
				continue;
			}
			/* 250 is no answer to DATA, for good. */
			CHECK_INT(rc, at == 5 && i == 2 ? MR_ECONFLICT : MR_EREMOTE);
			CHECK_INT(t.out.end, at == AT_DOT ? MR_SMTP_UNKNOWN : MR_SMTP_NOT_SENT);
		}
	mr_buf_release(&line);
	mr_buf_release(&lines);
	mr_arena_free(arena);
}

static void no_mail_is_accepted_before_it_was_sent(void)
{
	static const struct turn turns[] = { HELLO, { "MAIL", OK }, { "RCPT", OK },
		{ "DATA", GO "250 ok\r\n" } };
	struct trial t = { .arena = mr_arena_new(), .turns = turns, .len = MR_LEN(turns) };

	CHECK_INT(try_it(&t), MR_EREMOTE);
	CHECK_INT(t.out.end, MR_SMTP_NOT_SENT);
	CHECK(strstr(t.err.msg, "answers what it was not asked"));
	mr_arena_free(t.arena);
}

static void old_servers_get_helo(void)
{
	static const struct turn turns[] = { { NULL, "220 old\r\n" }, { "EHLO", "502 what\r\n" },
		{ "HELO", OK }, { "EHLO", "502-what\r\n502 SIZE 3\r\n" }, { "HELO", OK },
		{ "MAIL FROM:<ann@example.org>\r\n", OK }, { "RCPT", OK }, { "DATA", GO },
		{ ".", OK } };
	static const struct turn never[] = { { NULL, "220 x\r\n" }, { "EHLO", OK },
		{ "EHLO", "550 go away\r\n" }, { "HELO", "550 I said so\r\n" } };
	struct trial t = { .arena = mr_arena_new(), .turns = turns, .len = MR_LEN(turns) };

	CHECK_OK(try_it(&t), t.err);
	CHECK_STR(t.wrong, NULL);
	t.turns = never;
	t.len = MR_LEN(never);
	CHECK_INT(try_it(&t), MR_ECONFLICT);
	CHECK_STR(t.err.msg, "127.0.0.1 refused to talk to us: 550 I said so");
	mr_arena_free(t.arena);
}

static void logins_are_refused_without_their_secret(void)
{
	static const struct turn turns[] = { { NULL, "220 x\r\n" },
		{ "EHLO", "250-x\r\n250 AUTH PLAIN\r\n" }, { "AUTH PLAIN", "334 \r\n" },
		{ "", "535 5.7.8 hunter2 is wrong\r\n" } };
	struct trial t = { .arena = mr_arena_new(),
		.turns = turns,
		.len = MR_LEN(turns),
		.user = "ann",
		.password = "hunter2" };

	CHECK_INT(try_it(&t), MR_EAUTH);
	CHECK_INT(t.out.stage, MR_SMTP_LOGIN);
	CHECK_INT(t.out.end, MR_SMTP_NOT_SENT);
	CHECK_STR(t.err.msg, "127.0.0.1 refused the login");
	mr_arena_free(t.arena);
}

static void what_cannot_go_is_not_tried(void)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "", "b@x" },
		{ "a@x> SIZE=1", "b@x" },
		{ "a@x", "b@x>\r\nDATA" },
		{ "a@x", "b x" },
		{ "a@x", "" },
		{ "a\n@x", "b@x" },
	};
	struct mr_arena *arena = mr_arena_new();
	const struct mr_smtp_server nowhere = { .host = "127.0.0.1", .port = 1 };
	const char *many[MR_SMTP_RECIPIENTS + 2] = { NULL };
	struct mr_smtp_mail mail = { "a@x", { many, 0 }, mr_bytes_text(text) };
	struct mr_smtp_outcome out;
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const char *to[] = { cases[i].to, NULL };

		mail = (struct mr_smtp_mail){ cases[i].from, { to, 1 }, mr_bytes_text(text) };
		CHECK_INT(mr_smtp_send(arena, &nowhere, &mail, &out, &err), MR_EINVAL);
		CHECK(strstr(err.msg, "is not an address"));
	}
	mail = (struct mr_smtp_mail){ "a@x", { many, 0 }, mr_bytes_text(text) };
	CHECK_INT(mr_smtp_send(arena, &nowhere, &mail, &out, &err), MR_EINVAL);
	for (mail.to.len = 0; mail.to.len <= MR_SMTP_RECIPIENTS; mail.to.len++)
		many[mail.to.len] = "b@x";
	CHECK_INT(mr_smtp_send(arena, &nowhere, &mail, &out, &err), MR_EINVAL);
	mail.to.len--;
	CHECK_INT(mr_smtp_send(arena, &nowhere, &mail, &out, &err), MR_EREMOTE); /* nobody there */
	CHECK_INT(out.len, 1);
	mr_arena_free(arena);
}

static void what_the_server_cannot_take_is_not_sent(void)
{
	static const struct turn turns[] = { { NULL, "220 x\r\n" }, { "EHLO", OK },
		{ "EHLO", "250-x\r\n250 SIZE 20\r\n" }, { "QUIT", "221 bye\r\n" } };
	const char *to[] = { "\xc3\xbc@x", NULL };
	struct trial t = { .arena = mr_arena_new(), .turns = turns, .len = MR_LEN(turns) };

	CHECK_INT(try_it(&t), MR_ECONFLICT);
	CHECK_STR(t.wrong, NULL);
	CHECK_STR(t.err.msg, "127.0.0.1 takes mails of at most 20 bytes; this one has 21");
	t.mail.to = (struct mr_texts){ to, 1 };
	CHECK_INT(try_it(&t), MR_ECONFLICT);
	CHECK(strstr(t.err.msg, "(SMTPUTF8)"));
	mr_arena_free(t.arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_mail_is_handed_over),
		TEST(replies_may_come_in_pieces_and_lines),
		TEST(the_sender_says_what_the_server_can_use),
		TEST(dots_are_doubled),
		TEST(a_refusal_says_whether_later_may_help),
		TEST(all_recipients_are_asked_for),
		TEST(lost_connections_say_what_is_known),
		TEST(a_mail_without_its_end_is_none),
		TEST(silence_ends),
		TEST(nonsense_is_no_acceptance),
		TEST(no_mail_is_accepted_before_it_was_sent),
		TEST(old_servers_get_helo),
		TEST(logins_are_refused_without_their_secret),
		TEST(what_cannot_go_is_not_tried),
		TEST(what_the_server_cannot_take_is_not_sent),
	};

	return test_main(tests, MR_LEN(tests));
}
