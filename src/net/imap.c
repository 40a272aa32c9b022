/* net/imap.c - commands sent, responses received and handed on. */
#include "net/imap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	COMMANDS_MAX = 512,
	COMMAND_BYTES = 256 << 20,
	CHUNK = 64 << 10,
	PLUS_LITERAL_MAX = 4096, /* with LITERAL- alone */
	CONVERSATION_MAX = 16,   /* turns */
};

/* Where sending has to wait until the server says "+". */
struct pause {
	size_t at;
};

struct mr_imap {
	struct mr_imap_stream *stream;
	struct mr_arena *arena; /* of the session */
	struct mr_arena *known; /* of what the server can do, as it told last */
	struct mr_texts capabilities;
	unsigned next_tag;
	unsigned first_tag; /* of this run */
	size_t begun;       /* commands of this run */
	struct mr_buf out;
	struct pause *pauses;
	size_t pause_count, pause_room;
	struct mr_buf in; /* received */
	size_t used; /* bytes of `in` that were handed on, and the present response behind them */
	size_t len;
	bool is_open;
	bool has_qresync; /* the server said that it is enabled */
	bool has_asked_to_compress;
	bool refuses_idle; /* though it said that it can */
	bool is_selecting; /* this run goes to a mailbox */
	uint32_t exists;   /* mails in it, as told last */
	bool has_news;     /* since it was gone to, outside of mr_imap_idle() */
};

void mr_imap_closep(struct mr_imap **session)
{
	struct mr_imap *s = *session;
	struct mr_err ignored;

	if (!s)
		return;
	if (s->is_open && s->stream) {
		char text[64];

		snprintf(text, sizeof(text), "m%u LOGOUT\r\n", s->next_tag);
		if (mr_imap_stream_send(s->stream, mr_bytes_text(text), &ignored))
			s->is_open = false; /* it is closed either way */
	}
	mr_imap_stream_freep(&s->stream);
	mr_arena_freep(&s->arena);
	mr_arena_freep(&s->known);
	mr_buf_release(&s->out);
	mr_buf_release(&s->in);
	free(s->pauses);
	free(s);
	*session = NULL;
}

/* --- writing --- */

static void end_command(struct mr_imap *s)
{
	if (s->begun)
		mr_buf_puts(&s->out, "\r\n");
}

size_t mr_imap_begin(struct mr_imap *s, const char *words)
{
	end_command(s);
	if (!s->begun)
		s->first_tag = s->next_tag;
	s->is_selecting |= strncmp(words, "EXAMINE", 7) == 0 || strncmp(words, "SELECT", 6) == 0;
	mr_buf_printf(&s->out, "m%u %s", s->next_tag++, words);
	return s->begun++;
}

void mr_imap_put(struct mr_imap *s, const char *words)
{
	mr_buf_puts(&s->out, words);
}

static void pause_here(struct mr_imap *s)
{
	if (s->pause_count == s->pause_room) {
		size_t room = s->pause_room ? s->pause_room * 2 : 8;
		struct pause *pauses = realloc(s->pauses, room * sizeof(*pauses));

		if (!pauses)
			abort();
		s->pauses = pauses;
		s->pause_room = room;
	}
	s->pauses[s->pause_count++] = (struct pause){ s->out.len };
}

void mr_imap_put_bytes(struct mr_imap *s, struct mr_bytes bytes)
{
	bool at_once = mr_imap_can(s, "LITERAL+") ||
		(mr_imap_can(s, "LITERAL-") && bytes.len <= PLUS_LITERAL_MAX);

	mr_buf_printf(&s->out, " {%zu%s}\r\n", bytes.len, at_once ? "+" : "");
	if (!at_once)
		pause_here(s);
	mr_buf_add(&s->out, bytes.data, bytes.len);
}

void mr_imap_put_string(struct mr_imap *s, const char *text)
{
	if (!mr_imap_is_quotable(text)) {
		mr_imap_put_bytes(s, mr_bytes_text(text));
		return;
	}
	mr_buf_putc(&s->out, ' ');
	mr_imap_put_quoted(&s->out, text);
}

bool mr_imap_can(const struct mr_imap *s, const char *capability)
{
	if (s->refuses_idle && strcasecmp(capability, "IDLE") == 0)
		return false;
	for (size_t i = 0; i < s->capabilities.len; i++) {
		if (strcasecmp(s->capabilities.items[i], capability) == 0)
			return true;
	}
	return false;
}

bool mr_imap_has_enabled(const struct mr_imap *s, const char *capability)
{
	return s->has_qresync && strcasecmp(capability, "QRESYNC") == 0;
}

/* --- reading --- */

static void end_run(struct mr_imap *s)
{
	mr_buf_clear(&s->out);
	s->begun = s->pause_count = 0;
	s->is_selecting = false;
}

static enum mr_code broken(struct mr_imap *s)
{
	s->is_open = false;
	return MR_EREMOTE;
}

/* More bytes behind those that are there. */
static enum mr_code receive(struct mr_imap *s, struct mr_err *err)
{
	char chunk[CHUNK];
	size_t got = 0;
	enum mr_code rc = mr_imap_stream_receive(s->stream, chunk, sizeof(chunk), &got, err);

	if (rc) {
		s->is_open = false;
		return rc;
	}
	mr_buf_add(&s->in, chunk, got);
	return mr_buf_check(&s->in, "the server's response", err);
}

/* Forget the bytes of the responses before; only when more are needed, because it moves the rest.
 */
static void drop_used(struct mr_imap *s)
{
	if (!s->used)
		return;
	memmove(s->in.data, s->in.data + s->used, s->in.len - s->used);
	s->in.len -= s->used;
	s->used = 0;
}

static void learn_capabilities(struct mr_imap *s, const struct mr_imap_node *words, size_t from)
{
	struct mr_texts list = { NULL, 0 };

	mr_arena_freep(&s->known);
	s->known = mr_arena_new();
	list.items = mr_arena_array(s->known, MR_IMAP_CAPABILITIES + 1, sizeof(*list.items));

	for (size_t i = from; i < words->len && list.len < MR_IMAP_CAPABILITIES; i++) {
		const struct mr_imap_node *word = &words->items[i];
		const char *text = word->bytes.len <= MR_IMAP_CAPABILITY_BYTES
			? mr_imap_text(s->known, word)
			: NULL;

		if (text)
			list.items[list.len++] = text;
	}
	s->capabilities = list;
}

/* One response; its strings point into s->in until the next call. */
static enum mr_code next_response(struct mr_imap *s, struct mr_arena *arena,
	struct mr_imap_response *out, struct mr_err *err)
{
	struct mr_imap_measure measure = { .max_bytes = MR_IMAP_RESPONSE_BYTES };
	size_t len = 0;
	enum mr_code rc;

	s->used += s->len;
	s->len = 0;
	for (;;) {
		rc = mr_imap_measure(&measure,
			mr_bytes_of(s->in.data + s->used, s->in.len - s->used), &len, err);
		if (rc || len)
			break;
		drop_used(s);
		rc = receive(s, err);
		if (rc)
			return rc;
	}
	if (!rc) {
		s->len = len;
		rc = mr_imap_parse(arena, mr_bytes_of(s->in.data + s->used, len), out, err);
	}
	if (rc) {
		s->is_open = false;
		return rc;
	}
	for (size_t i = 0; mr_str_eq(out->name, "ENABLED") && i < out->data.len; i++)
		s->has_qresync |= mr_imap_is(&out->data.items[i], "QRESYNC");
	if (mr_str_eq(out->name, "CAPABILITY"))
		learn_capabilities(s, &out->data, 0);
	else if (out->code.len && mr_imap_is(&out->code.items[0], "CAPABILITY"))
		learn_capabilities(s, &out->code, 1);
	return MR_OK;
}

/* A server says once that mail came or went, in the midst of whatever was asked. */
static void note_change(struct mr_imap *s, const struct mr_imap_response *response)
{
	bool is_exists = response->has_number && mr_str_eq(response->name, "EXISTS");

	if (s->is_selecting)
		s->has_news = false;
	else if (is_exists ? response->number != s->exists
			   : mr_str_eq(response->name, "EXPUNGE") ||
				mr_str_eq(response->name, "VANISHED"))
		s->has_news = true;
	if (is_exists)
		s->exists = response->number;
}

struct running {
	struct mr_imap *session;
	struct mr_arena *arena;
	mr_imap_handler *handler;
	void *arg;
	struct mr_imap_outcome *outcomes;
	bool has_ended[COMMANDS_MAX]; /* each command of the run */
	size_t ended;
	struct mr_err *err;
	bool is_talking;       /* what stands behind a "+" matters */
	const char *challenge; /* of the last "+", in the arena */
};

/* Nodes of a response that must outlive its bytes. */
static struct mr_imap_node keep(struct mr_arena *arena, const struct mr_imap_node *node)
{
	struct mr_imap_node kept = *node;
	struct mr_imap_node *items;

	if (node->bytes.len)
		kept.bytes.data = mr_arena_memdup(arena, node->bytes.data, node->bytes.len);
	if (!node->len)
		return kept;
	items = mr_arena_array(arena, node->len, sizeof(*items));
	for (size_t i = 0; i < node->len; i++)
		/* As deep as the parser allows. NOLINTNEXTLINE(misc-no-recursion) */
		items[i] = keep(arena, &node->items[i]);
	kept.items = items;
	return kept;
}

/* The command of this run that a tag belongs to; false: to none. */
static bool command_of(const struct mr_imap *s, const char *tag, size_t *out)
{
	char *end = NULL;
	unsigned long number;

	if (tag[0] != 'm' || tag[1] < '0' || tag[1] > '9')
		return false;
	number = strtoul(tag + 1, &end, 10);
	if (*end || number < s->first_tag || number - s->first_tag >= s->begun)
		return false;
	*out = number - s->first_tag;
	return true;
}

/* One response during a run: handed on, or the end of a command. `*out_continue`: the server waits
 * for the rest of a command. */
static enum mr_code take_one(struct running *r, bool *out_continue, size_t *out_ended)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_imap *s = r->session;
	struct mr_imap_response response;
	enum mr_code rc = next_response(s, arena, &response, r->err);
	size_t at = 0;

	*out_continue = false;
	*out_ended = SIZE_MAX;
	if (rc)
		return rc;
	if (response.is_continuation) {
		*out_continue = true;
		if (r->is_talking)
			r->challenge = mr_arena_strdup(r->arena, response.text);
		return MR_OK;
	}
	if (!response.tag) {
		if (response.status == MR_IMAP_BYE) {
			mr_err_set(r->err, MR_EREMOTE, "the server said goodbye: %s",
				response.text);
			return broken(s);
		}
		note_change(s, &response);
		rc = r->handler ? r->handler(r->arg, &response, r->err) : MR_OK;
		if (rc)
			s->is_open = false;
		return rc;
	}
	if (!command_of(s, response.tag, &at))
		return MR_OK; /* of the login, or nobody's */
	if (r->has_ended[at] || response.status < MR_IMAP_OK || response.status > MR_IMAP_BAD) {
		mr_err_set(r->err, MR_EREMOTE,
			"the server answered a command in a way that makes no sense");
		return broken(s);
	}
	r->has_ended[at] = true;
	if (r->outcomes)
		r->outcomes[at] = (struct mr_imap_outcome){ response.status,
			keep(r->arena, &response.code), mr_arena_strdup(r->arena, response.text) };
	r->ended++;
	*out_ended = at;
	return MR_OK;
}

/* Wait for the "+" before the rest of the commands; false when the command was refused instead. */
static enum mr_code wait_for_go(struct running *r, bool *out_go)
{
	size_t ended = SIZE_MAX;
	enum mr_code rc = MR_OK;

	*out_go = false;
	while (!rc && !*out_go && ended == SIZE_MAX)
		rc = take_one(r, out_go, &ended);
	return rc;
}

/* Send all commands, stopping at literals that the server wants to be asked about. A command with
 * such a literal is the only one of its run. */
static enum mr_code send_all(struct running *r)
{
	struct mr_imap *s = r->session;
	const uint8_t *data = (const uint8_t *)s->out.data;
	size_t from = 0;

	for (size_t i = 0; i <= s->pause_count; i++) {
		size_t to = i < s->pause_count ? s->pauses[i].at : s->out.len;
		bool go = true;
		enum mr_code rc = mr_imap_stream_send(s->stream,
			(struct mr_bytes){ data + from, to - from }, r->err);

		if (!rc && i < s->pause_count)
			rc = wait_for_go(r, &go);
		if (rc) {
			s->is_open = false;
			return rc;
		}
		if (!go)
			return MR_OK; /* refused: the rest is not wanted */
		from = to;
	}
	return MR_OK;
}

enum mr_code mr_imap_run(struct mr_imap *s, struct mr_arena *arena, mr_imap_handler *handler,
	void *arg, struct mr_imap_outcome *outcomes, struct mr_err *err)
{
	struct running r = { .session = s,
		.arena = arena,
		.handler = handler,
		.arg = arg,
		.outcomes = outcomes,
		.err = err };
	bool go;
	size_t ended;
	enum mr_code rc;

	end_command(s);
	rc = mr_buf_check(&s->out, "a command", err);
	if (!rc && s->begun > COMMANDS_MAX)
		rc = mr_err_set(err, MR_EINTERNAL, "more than %d commands at once", COMMANDS_MAX);
	if (!rc && s->pause_count && s->begun > 1)
		rc = mr_err_set(err, MR_EINTERNAL, "a literal that waits among other commands");
	if (!rc && !s->is_open)
		rc = mr_err_set(err, MR_EREMOTE, "the connection is closed");
	if (!rc)
		rc = send_all(&r);
	while (!rc && r.ended < s->begun)
		rc = take_one(&r, &go, &ended);
	end_run(s);
	return rc;
}

enum mr_code mr_imap_do(struct mr_imap *s, struct mr_arena *arena, mr_imap_handler *handler,
	void *arg, struct mr_imap_outcome *outcome, struct mr_err *err)
{
	struct mr_imap_outcome own = { 0 };
	enum mr_code rc = mr_imap_run(s, arena, handler, arg, &own, err);

	if (outcome && !rc)
		*outcome = own;
	if (!rc && own.status != MR_IMAP_OK)
		rc = mr_err_set(err, MR_EREMOTE, "the server refused: %s", own.text);
	return rc;
}

/* --- conversations --- */

static enum mr_code reply(struct running *r, mr_imap_answer *answer, void *arg)
{
	const char *line = answer(arg, r->arena, r->challenge);
	const char *whole = mr_arena_printf(r->arena, "%s\r\n", line ? line : "*");

	return mr_imap_stream_send(r->session->stream, mr_bytes_text(whole), r->err);
}

enum mr_code mr_imap_converse(struct mr_imap *s, struct mr_arena *arena, mr_imap_answer *answer,
	void *arg, struct mr_imap_outcome *outcome, struct mr_err *err)
{
	struct running r = { .session = s,
		.arena = arena,
		.outcomes = outcome,
		.err = err,
		.is_talking = true };
	enum mr_code rc;

	end_command(s);
	rc = s->is_open ? send_all(&r) : mr_err_set(err, MR_EREMOTE, "the connection is closed");
	for (int turns = 0; !rc && !r.ended; turns++) {
		bool go = false;

		rc = turns < CONVERSATION_MAX
			? wait_for_go(&r, &go)
			: mr_err_set(err, MR_EREMOTE, "the server asks without end");
		if (!rc && go)
			rc = reply(&r, answer, arg);
	}
	end_run(s);
	if (rc)
		s->is_open = false;
	return rc;
}

/* --- compression --- */

enum mr_code mr_imap_compress(struct mr_imap *s, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	struct mr_imap_outcome outcome = { 0 };
	size_t end;
	enum mr_code rc;

	if (s->has_asked_to_compress || !mr_imap_stream_is_encrypted(s->stream) ||
		!mr_imap_can(s, "COMPRESS=DEFLATE"))
		return MR_OK;
	s->has_asked_to_compress = true;
	arena = mr_arena_new();
	mr_imap_begin(s, "COMPRESS DEFLATE");
	rc = mr_imap_run(s, arena, NULL, NULL, &outcome, err);
	if (rc || outcome.status != MR_IMAP_OK)
		return rc; /* it may be refused: TLS compresses, or the server is busy */
	end = s->used + s->len;
	mr_imap_stream_compress(s->stream, mr_bytes_of(s->in.data + end, s->in.len - end));
	mr_buf_clear(&s->in);
	s->used = s->len = 0;
	return MR_OK;
}

/* --- waiting for news --- */

/* Is there a whole response among the bytes that have come? */
static enum mr_code has_response(struct mr_imap *s, bool *out, struct mr_err *err)
{
	struct mr_imap_measure measure = { .max_bytes = MR_IMAP_RESPONSE_BYTES };
	size_t begin = s->used + s->len, len = 0;
	enum mr_code rc = mr_imap_measure(&measure,
		mr_bytes_of(s->in.data + begin, s->in.len - begin), &len, err);

	*out = len > 0;
	return rc;
}

static enum mr_code note_news(void *arg, const struct mr_imap_response *response,
	struct mr_err *err)
{
	bool *news = arg;
	(void)err;

	/* "OK Still here" is none. */
	*news |= response->status == MR_IMAP_DATA && !mr_str_eq(response->name, "CAPABILITY");
	return MR_OK;
}

/* What has come, without waiting for more. */
static enum mr_code take_what_came(struct running *r, size_t *out_ended)
{
	struct mr_imap *s = r->session;
	enum mr_code rc = MR_OK;
	bool go;

	*out_ended = SIZE_MAX;
	while (!rc && *out_ended == SIZE_MAX) {
		bool whole = false;
		char chunk[CHUNK];
		size_t got = 0;

		rc = has_response(s, &whole, r->err);
		if (!rc && whole) {
			rc = take_one(r, &go, out_ended);
			continue;
		}
		if (!rc)
			rc = mr_imap_stream_peek(s->stream, chunk, sizeof(chunk), &got, r->err);
		if (rc || !got)
			break;
		mr_buf_add(&s->in, chunk, got);
		rc = mr_buf_check(&s->in, "the server's response", r->err);
	}
	return rc;
}

enum mr_code mr_imap_idle(struct mr_imap *s, int stop_fd, int timeout_ms, bool hurry,
	struct mr_imap_news *out_news, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_imap_outcome outcome = { 0 };
	struct running r = { .session = s,
		.arena = arena,
		.handler = note_news,
		.arg = &out_news->any,
		.outcomes = &outcome,
		.err = err };
	size_t ended = SIZE_MAX;
	uint32_t exists = s->exists;
	bool go = false;
	enum mr_code rc;

	*out_news = (struct mr_imap_news){ .any = s->has_news };
	s->has_news = false;
	if (out_news->any)
		return MR_OK;
	mr_imap_begin(s, "IDLE");
	end_command(s);
	rc = s->is_open ? send_all(&r) : mr_err_set(err, MR_EREMOTE, "the connection is closed");
	if (!rc)
		rc = wait_for_go(&r, &go);
	if (!rc && go)
		rc = take_what_came(&r, &ended);
	if (!rc && go && !out_news->any && ended == SIZE_MAX) {
		mr_imap_stream_wait(s->stream, stop_fd, timeout_ms);
		rc = take_what_came(&r, &ended);
	}
	if (!rc && go && ended == SIZE_MAX) {
		rc = mr_imap_stream_send(s->stream, mr_bytes_text("DONE\r\n"), err);
		out_news->mail = hurry && s->exists > exists;
	}
	if (!rc && out_news->mail) {
		end_run(s); /* its end is told in the next run, where no command has its tag */
		return MR_OK;
	}
	while (!rc && r.ended < s->begun)
		rc = take_one(&r, &go, &ended);
	end_run(s);
	if (rc)
		s->is_open = false;
	s->refuses_idle |= !rc && outcome.status != MR_IMAP_OK;
	return rc;
}

/* --- opening --- */

enum mr_code mr_imap_open(const struct mr_imap_account *account, struct mr_imap **out,
	enum mr_imap_stage *out_stage, struct mr_err *err)
{
	struct mr_imap *s MR_CLEANUP(mr_imap_closep) = calloc(1, sizeof(*s));
	enum mr_code rc;

	if (!s)
		return mr_err_set(err, MR_EINTERNAL, "no memory for a connection");
	s->arena = mr_arena_new();
	mr_buf_init(&s->out, COMMAND_BYTES);
	mr_buf_init(&s->in, MR_IMAP_RESPONSE_BYTES + CHUNK);
	rc = mr_imap_stream_open(account, &s->stream, out_stage, err);
	if (rc)
		return rc;
	s->is_open = true;
	*out_stage = MR_IMAP_STAGE_GREETING;
	mr_imap_begin(s, "CAPABILITY");
	rc = mr_imap_do(s, s->arena, NULL, NULL, NULL, err);
	if (rc)
		return rc;
	*out = s;
	s = NULL;
	return MR_OK;
}
