/* mailbox/mail_tui.c - types a mail operation into the agent's terminal, and waits for its answer.
 */
#include "mailbox/mail_tui.h"

#include "base/utf8.h"
#include "mailbox/agent_make.h"
#include "mailbox/tmux.h"
#include "text/time.h"

#include <string.h>
#include <time.h>

enum {
	QUIET_MS = 1000, /* a screen that changes within this time is one of an agent at work */
	LOOK_MS = 100,   /* between looks for the answer */
	DETAIL_CHARS = 400,
};

const char *const mr_mail_tui_statuses[] = { "submitted", "rejected", "busy", "interrupted",
	"tui_error", NULL };

/* Backends of the Houmao runtime whose session is the agent's terminal. In others its runtime
 * drives the agent, and what stands in the pane reads no prompts. */
static const char *const backends[] = { "local_interactive", "cao_rest", "houmao_server_rest" };

bool mr_mail_tui_is_usable(struct mr_ctx *cx, const struct mr_mailbox_session *session)
{
	struct mr_err before = cx->err;
	struct mr_tmux_pane pane;
	bool is_tui = mr_mailbox_agent_is_ours(session);
	bool usable;

	for (size_t i = 0; i < MR_LEN(backends); i++)
		is_tui = is_tui || mr_str_eq(session->backend, backends[i]);
	usable = is_tui && session->tmux_session &&
		mr_tmux_find(cx, session->tmux_session, &pane) == MR_OK;
	cx->err = before;
	return usable;
}

/* At most 400 characters, as the contract has it. */
static const char *shorten(struct mr_arena *arena, const char *text)
{
	return mr_arena_strndup(arena, text, mr_utf8_prefix(text, strlen(text), DETAIL_CHARS));
}

static void end(struct mr_ctx *cx, struct mr_mail_tui *out, enum mr_mail_tui_status status,
	const char *detail)
{
	out->status = status;
	out->detail = shorten(cx->arena, detail);
}

/* --- may it be typed? --- */

/* A shell that nobody started for the agent would take the prompt for commands. */
static bool is_bare_shell(struct mr_ctx *cx, const struct mr_tmux_pane *pane)
{
	static const char *const shells[] = { "sh", "bash", "dash", "zsh", "fish", "ksh", "tcsh",
		"csh" };
	const char *argv[] = { "tmux", "display-message", "-p", "-t", pane->id,
		"#{pane_current_command}:#{pane_start_command}", NULL };
	const char *told = mr_tmux_ask(cx, argv);

	for (size_t i = 0; told && i < MR_LEN(shells); i++) {
		if (mr_str_eq(told, mr_arena_printf(cx->arena, "%s:", shells[i])))
			return true;
	}
	return false;
}

static bool is_ready(struct mr_ctx *cx, const struct mr_tmux_pane *pane, struct mr_mail_tui *out)
{
	bool quiet = false;

	if (pane->is_dead)
		end(cx, out, MR_MAIL_TUI_ERROR, "the program in the agent's pane has ended");
	else if (pane->is_in_mode)
		end(cx, out, MR_MAIL_TUI_BUSY, "somebody scrolls in the agent's pane");
	else if (is_bare_shell(cx, pane))
		end(cx, out, MR_MAIL_TUI_REJECTED, "a shell waits in the pane, and no agent");
	else if (mr_tmux_is_quiet(cx, pane, QUIET_MS, &quiet))
		end(cx, out, MR_MAIL_TUI_ERROR, cx->err.msg);
	else if (!quiet)
		end(cx, out, MR_MAIL_TUI_BUSY, "the agent is at work: its screen changes");
	else
		return true;
	return false;
}

/* --- and what came of it --- */

/* `*over`: there is nothing more to wait for. */
static void look(struct mr_ctx *cx, const struct mr_tmux_pane *pane,
	const struct mr_mail_prompt *prompt, struct mr_mail_tui *out, bool *over)
{
	struct mr_tmux_screen screen;
	enum mr_code rc = mr_tmux_look(cx, pane, &screen);

	*over = true;
	if (rc == MR_ENOTFOUND || rc == MR_ECONFLICT) {
		end(cx, out, MR_MAIL_TUI_INTERRUPTED,
			"the agent's program ended before it answered");
		return;
	}
	if (rc)
		return;
	rc = mr_mail_prompt_preview(cx, prompt, screen.text, &out->preview);
	if (rc == MR_ENOTFOUND)
		*over = false;
	else if (rc)
		out->detail = shorten(cx->arena, cx->err.msg);
}

static bool is_given_up(struct mr_ctx *cx)
{
	return cx->is_over && cx->is_over(cx->is_over_arg);
}

static void await_answer(struct mr_ctx *cx, const struct mr_tmux_pane *pane,
	const struct mr_mail_prompt *prompt, int wait_ms, struct mr_mail_tui *out)
{
	static const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
	int64_t until = mr_clock_mono_ms(mr_clock_system()) + wait_ms;

	for (;;) {
		bool over = false;

		look(cx, pane, prompt, out, &over);
		if (over || mr_clock_mono_ms(mr_clock_system()) >= until)
			return;
		if (is_given_up(cx)) {
			end(cx, out, MR_MAIL_TUI_INTERRUPTED, "nobody waits for the answer");
			return;
		}
		nanosleep(&pause, NULL);
	}
}

void mr_mail_tui_submit(struct mr_ctx *cx, const struct mr_mailbox_session *session,
	const char *operation, const struct mr_value *arguments, int wait_ms,
	struct mr_mail_tui *out)
{
	const struct mr_mail_prompt prompt = {
		.request_id = mr_mail_prompt_id(cx),
		.operation = operation,
		.binding = &session->binding,
		.arguments = arguments,
	};
	struct mr_tmux_pane pane;
	const char *text = NULL;

	*out = (struct mr_mail_tui){ .request_id = prompt.request_id };
	if (mr_mail_prompt_text(cx, &prompt, &text)) {
		end(cx, out, MR_MAIL_TUI_REJECTED, cx->err.msg);
		return;
	}
	if (mr_tmux_find(cx, session->tmux_session, &pane)) {
		end(cx, out, MR_MAIL_TUI_ERROR, cx->err.msg);
		return;
	}
	out->pane = pane.id;
	if (!is_ready(cx, &pane, out))
		return;
	if (mr_tmux_type(cx, session->tmux_session, text)) {
		end(cx, out, MR_MAIL_TUI_ERROR, cx->err.msg);
		return;
	}
	out->submitted_at_utc =
		mr_time_format(cx->arena, mr_clock_wall_us(cx->clock), MR_TIME_SECONDS);
	await_answer(cx, &pane, &prompt, wait_ms, out);
}
