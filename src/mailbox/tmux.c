/* mailbox/tmux.c - types into a pane of tmux, and sees on its screen that the text arrived. */
#include "mailbox/tmux.h"

#include "base/buf.h"
#include "base/proc.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	TIMEOUT_MS = 5000, /* for one tmux command */
	OUTPUT_BYTES = 1 << 20,
	TEXT_BYTES = 1 << 20,
	LOOK_MS = 40,       /* between looks at a screen that should change */
	SHOWN_MS = 5000,    /* until a pasted text must be seen */
	SETTLED_MS = 120,   /* and the screen has come to rest */
	ANSWERED_MS = 4000, /* until Enter must have changed something */
	AGAIN_MS = 1500,    /* when Enter is pressed a second time: a program that is still reading
			       the paste may take the first for a part of it */
	MARK_CHARS = 24,    /* of the text's end, looked for on the screen */
};

static enum mr_code run(struct mr_ctx *cx, const char *const *argv, struct mr_bytes input,
	struct mr_proc_result *out)
{
	const struct mr_proc proc = {
		.argv = argv,
		.input = input,
		.timeout_ms = TIMEOUT_MS,
		.max_output = OUTPUT_BYTES,
	};
	enum mr_code rc = mr_proc_run(cx->arena, &proc, out, &cx->err);

	if (!rc && out->timed_out)
		rc = mr_err_set(&cx->err, MR_ETIMEOUT, "tmux did not answer within %d seconds",
			TIMEOUT_MS / 1000);
	return rc;
}

/* Its output; a failure of tmux is MR_ENOTFOUND with its own words. */
static enum mr_code command(struct mr_ctx *cx, const char *const *argv, struct mr_bytes input,
	const char **out)
{
	struct mr_proc_result result;
	enum mr_code rc = run(cx, argv, input, &result);
	const char *why;
	size_t len;

	if (rc)
		return rc;
	if (result.exit_status == 0) {
		*out = (const char *)result.out.data;
		return MR_OK;
	}
	why = (const char *)result.err.data;
	len = result.err.len;
	if (!mr_utf8_is_valid(why, len, NULL))
		len = 0;
	mr_utf8_strip(&why, &len);
	return mr_err_set(&cx->err, MR_ENOTFOUND, "tmux: %.*s", (int)(len < 200 ? len : 200), why);
}

bool mr_tmux_run(struct mr_ctx *cx, const char *const *argv)
{
	struct mr_err before = cx->err;
	const char *text = NULL;
	bool worked = command(cx, argv, mr_bytes_of("", 0), &text) == MR_OK;

	cx->err = before;
	return worked;
}

const char *mr_tmux_ask(struct mr_ctx *cx, const char *const *argv)
{
	struct mr_err before = cx->err;
	const char *text = NULL;
	size_t len;

	if (command(cx, argv, mr_bytes_of("", 0), &text)) {
		cx->err = before;
		return NULL;
	}
	len = strlen(text);
	if (!mr_utf8_is_valid(text, len, NULL))
		return NULL;
	mr_utf8_strip(&text, &len);
	return len ? mr_arena_strndup(cx->arena, text, len) : NULL;
}

/* "0 0 %3 4711 node": the first line is the first pane of the first window. */
static bool read_pane(struct mr_ctx *cx, const char *line, struct mr_tmux_pane *out)
{
	const char *words[5] = { NULL };
	const char *end = line + strcspn(line, "\n");

	for (size_t i = 0; i < MR_LEN(words); i++) {
		/* The last word is the rest: a program's name may have blanks. */
		size_t len = i + 1 < MR_LEN(words) ? strcspn(line, " \n") : (size_t)(end - line);

		words[i] = mr_arena_strndup(cx->arena, line, len);
		line += len;
		line += line < end;
	}
	*out = (struct mr_tmux_pane){
		.id = words[2],
		.pid = words[3],
		.command = words[4],
		.is_dead = words[0][0] == '1',
		.is_in_mode = words[1][0] != '0',
	};
	return words[2][0] == '%';
}

enum mr_code mr_tmux_find(struct mr_ctx *cx, const char *session, struct mr_tmux_pane *out)
{
	const char *argv[] = { "tmux", "list-panes", "-s", "-t",
		mr_arena_printf(cx->arena, "=%s:", session), "-F",
		"#{pane_dead} #{pane_in_mode} #{pane_id} #{pane_pid} #{pane_current_command}",
		NULL };
	const char *line = NULL;
	enum mr_code rc = command(cx, argv, mr_bytes_of("", 0), &line);

	if (rc)
		return mr_err_wrap(&cx->err, "the tmux session %.100s cannot be reached", session);
	if (!read_pane(cx, line, out))
		return mr_err_set(&cx->err, MR_EFORMAT,
			"tmux does not say which panes the session %.100s has", session);
	return MR_OK;
}

enum mr_code mr_tmux_look(struct mr_ctx *cx, const struct mr_tmux_pane *pane,
	struct mr_tmux_screen *out)
{
	const char *argv[] = { "tmux", "-u", "display-message", "-p", "-t", pane->id,
		"#{pane_dead} #{cursor_x} #{cursor_y} #{history_size}", ";", "capture-pane", "-p",
		"-J", "-t", pane->id, NULL };
	const char *state = NULL, *end;
	enum mr_code rc = command(cx, argv, mr_bytes_of("", 0), &state);

	if (rc)
		return rc;
	end = strchr(state, '\n');
	/* Of a pane that is gone, tmux only says nothing. */
	if (state[0] == ' ' || !end)
		return mr_err_set(&cx->err, MR_ENOTFOUND, "the pane %s is gone", pane->id);
	if (state[0] != '0')
		return mr_err_set(&cx->err, MR_ECONFLICT, "the program in the pane %s has ended",
			pane->id);
	*out = (struct mr_tmux_screen){ .text = end + 1, .state = state };
	return MR_OK;
}

static void rest(void)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };

	nanosleep(&pause, NULL);
}

static int64_t now_ms(void)
{
	return mr_clock_mono_ms(mr_clock_system());
}

/* Look until the screen is another than `before`, or is the same for so long. Looks live in an
 * arena of their own, so that waiting costs no memory. */
struct wait {
	const char *before;
	const char *mark; /* the screen shows this, too; or NULL */
	int timeout_ms;
	bool want_same;
};

/* Only letters and figures: programs wrap what is typed, and draw frames around it. */
static const char *words_of(struct mr_arena *arena, const char *text)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	size_t len = strlen(text);

	mr_buf_init(&buf, len + 1);
	while (len > 0) {
		uint32_t scalar = 0;
		size_t n = mr_utf8_next(text, len, &scalar);

		if (n > 0 && mr_utf8_is_word(scalar))
			mr_buf_put_utf8(&buf, scalar);
		n = n ? n : 1;
		text += n;
		len -= n;
	}
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

/* What agents' programs show in place of a long paste. */
static bool shows_paste(const char *screen)
{
	return strstr(screen, "[Pasted ") || strstr(screen, "[Pasted\n");
}

static bool is_met(struct mr_arena *arena, const struct wait *wait,
	const struct mr_tmux_screen *screen)
{
	bool same = mr_str_eq(screen->state, wait->before);

	if (wait->want_same || same)
		return wait->want_same && !same;
	return !wait->mark || shows_paste(screen->text) ||
		strstr(words_of(arena, screen->text), wait->mark);
}

/* `*met`: the screen changed within the time (and shows the mark). */
static enum mr_code await(struct mr_ctx *cx, const struct mr_tmux_pane *pane,
	const struct wait *wait, bool *met)
{
	int64_t until = now_ms() + wait->timeout_ms;

	*met = false;
	for (;;) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_ctx one = *cx;
		struct mr_tmux_screen screen;
		enum mr_code rc;

		one.arena = arena;
		rc = mr_tmux_look(&one, pane, &screen);
		if (rc) {
			cx->err = one.err;
			return rc;
		}
		*met = is_met(arena, wait, &screen);
		if (*met || now_ms() >= until)
			return MR_OK;
		rest();
	}
}

enum mr_code mr_tmux_is_quiet(struct mr_ctx *cx, const struct mr_tmux_pane *pane, int quiet_ms,
	bool *out)
{
	struct mr_tmux_screen screen = { NULL };
	bool changed = false;
	enum mr_code rc = mr_tmux_look(cx, pane, &screen);

	if (!rc)
		rc = await(cx, pane,
			&(struct wait){ .before = screen.state,
				.timeout_ms = quiet_ms,
				.want_same = true },
			&changed);
	if (!rc)
		*out = !changed;
	return rc;
}

/* Without control characters: an escape could end the paste, and give commands. */
static struct mr_bytes printable(struct mr_arena *arena, const char *text)
{
	char *out = mr_arena_alloc(arena, strlen(text) + 1);
	size_t len = strlen(text), used = 0;

	while (len > 0) {
		uint32_t scalar = 0;
		size_t n = mr_utf8_next(text, len, &scalar);

		if (n > 0 &&
			(scalar == '\n' || (scalar >= 0x20 && scalar < 0x7f) || scalar >= 0xa0)) {
			memcpy(out + used, text, n);
			used += n;
		} else if (scalar == '\t') {
			out[used++] = ' ';
		}
		n = n ? n : 1;
		text += n;
		len -= n;
	}
	return mr_bytes_of(out, used);
}

static const char *mark_of(struct mr_arena *arena, struct mr_bytes text)
{
	const char *words =
		words_of(arena, mr_arena_strndup(arena, (const char *)text.data, text.len));
	size_t len = strlen(words), count = mr_utf8_count(words, len);

	return count <= MARK_CHARS ? words : words + mr_utf8_prefix(words, len, count - MARK_CHARS);
}

static enum mr_code paste(struct mr_ctx *cx, const struct mr_tmux_pane *pane, struct mr_bytes text)
{
	const char *name, *ignored;
	uint64_t chance;

	mr_rand_fill(cx->rand, &chance, sizeof(chance));
	name = mr_arena_printf(cx->arena, "mailroom-%016llx", (unsigned long long)chance);
	return command(cx,
		(const char *[]){ "tmux", "load-buffer", "-b", name, "-", ";", "paste-buffer", "-p",
			"-d", "-b", name, "-t", pane->id, NULL },
		text, &ignored);
}

static enum mr_code press_enter(struct mr_ctx *cx, const struct mr_tmux_pane *pane, bool *answered)
{
	const char *argv[] = { "tmux", "send-keys", "-t", pane->id, "Enter", NULL };
	struct mr_tmux_screen before;
	const char *ignored;
	int waits[] = { AGAIN_MS, ANSWERED_MS - AGAIN_MS };
	enum mr_code rc = mr_tmux_look(cx, pane, &before);

	*answered = false;
	for (size_t i = 0; i < MR_LEN(waits) && !rc && !*answered; i++) {
		rc = command(cx, argv, mr_bytes_of("", 0), &ignored);
		if (!rc)
			rc = await(cx, pane,
				&(struct wait){ .before = before.state, .timeout_ms = waits[i] },
				answered);
	}
	/* The text was an order to leave, and the program followed it. */
	if (rc == MR_ECONFLICT || rc == MR_ENOTFOUND) {
		*answered = true;
		rc = MR_OK;
	}
	return rc;
}

/* Let the program draw what it has got. */
static enum mr_code settle(struct mr_ctx *cx, const struct mr_tmux_pane *pane)
{
	int64_t until = now_ms() + SHOWN_MS;
	bool quiet = false;
	enum mr_code rc = MR_OK;

	while (!rc && !quiet && now_ms() < until)
		rc = mr_tmux_is_quiet(cx, pane, SETTLED_MS, &quiet);
	return rc;
}

enum mr_code mr_tmux_type(struct mr_ctx *cx, const char *session, const char *text)
{
	struct mr_tmux_pane pane;
	struct mr_tmux_screen before;
	struct mr_bytes typed = printable(cx->arena, text);
	bool met = false;
	enum mr_code rc = mr_tmux_find(cx, session, &pane);

	if (!rc && typed.len > TEXT_BYTES)
		rc = mr_err_set(&cx->err, MR_ELIMIT, "more than %d bytes are not typed",
			TEXT_BYTES);
	if (!rc && pane.is_in_mode)
		rc = mr_err_set(&cx->err, MR_ECONFLICT, "somebody scrolls in the pane %s", pane.id);
	if (!rc)
		rc = mr_tmux_look(cx, &pane, &before);
	if (!rc)
		rc = paste(cx, &pane, typed);
	if (!rc)
		rc = await(cx, &pane,
			&(struct wait){ .before = before.state,
				.mark = mark_of(cx->arena, typed),
				.timeout_ms = SHOWN_MS },
			&met);
	if (!rc && !met)
		rc = mr_err_set(&cx->err, MR_ETIMEOUT,
			"what was typed did not show up in the pane %s", pane.id);
	if (!rc)
		rc = settle(cx, &pane);
	if (!rc)
		rc = press_enter(cx, &pane, &met);
	if (!rc && !met)
		rc = mr_err_set(&cx->err, MR_ETIMEOUT,
			"the pane %s shows the text, but nothing changed after Enter", pane.id);
	return rc;
}
