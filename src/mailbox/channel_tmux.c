/* mailbox/channel_tmux.c - the prompt is typed into the agent's pane, when the agent rests. */
#include "base/fs.h"
#include "mailbox/channel.h"
#include "mailbox/tmux.h"

#include <stdlib.h>
#include <string.h>

enum { QUIET_MS = 300, PROC_BYTES = 4096 };

/* What agents' programs show while they work, and while they wait for a person's decision: Enter
 * would be taken for a yes. */
static const char *const at_work[] = { "esc to interrupt", "Esc to interrupt", "esc to cancel",
	"Esc to cancel", "ctrl+c to interrupt", "Ctrl+C to interrupt" };
static const char *const asking[] = { "Do you want to", "Would you like to", "\xe2\x9d\xaf 1.",
	"\xe2\x80\xba 1.", "(y/n)", "[y/n]", "[Y/n]", "[y/N]", "Enter to confirm",
	"enter to confirm", "Press Enter to continue", "Press enter to continue" };

static bool shows(const char *screen, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(screen, words[i]))
			return true;
	return false;
}

static bool is_shell(const char *name)
{
	static const char *const shells[] = { "sh", "bash", "zsh", "fish", "dash", "ash", "ksh",
		"mksh", "tcsh", "csh", "nu", "pwsh", "elvish", "xonsh" };

	name += name[0] == '-';
	for (size_t i = 0; i < MR_LEN(shells); i++)
		if (mr_str_eq(name, shells[i]))
			return true;
	return false;
}

/* A file of /proc as text; NULL when it is not there. */
static const char *proc_text(struct mr_ctx *cx, const char *path)
{
	int fd MR_CLEANUP(mr_fs_closep) = open(path, O_RDONLY | O_CLOEXEC);
	struct mr_err ignored;
	struct mr_bytes bytes;

	if (fd < 0 || mr_fs_read_fd(cx->arena, fd, PROC_BYTES, &bytes, &ignored))
		return NULL;
	return (const char *)bytes.data;
}

/* The process that owns the terminal of this one: the eighth field of its stat. */
static long foreground_of(struct mr_ctx *cx, const char *pid)
{
	const char *stat = proc_text(cx, mr_arena_printf(cx->arena, "/proc/%s/stat", pid));
	const char *at = stat ? strrchr(stat, ')') : NULL;

	for (int field = 2; at && field < 8; field++)
		at = strchr(at + 1, ' ');
	return at ? strtol(at, NULL, 10) : 0;
}

/*
 * A shell at its prompt would carry out what is typed, senders' words with it. One that runs a
 * program (a script that starts the agent) has a child.
 */
static bool is_idle_shell(struct mr_ctx *cx, const struct mr_tmux_pane *pane)
{
	long pid;
	const char *children;

	if (!is_shell(pane->command))
		return false;
	pid = foreground_of(cx, pane->pid);
	children =
		proc_text(cx, mr_arena_printf(cx->arena, "/proc/%ld/task/%ld/children", pid, pid));
	return !children || children[0] == '\0';
}

static enum mr_code look(struct mr_ctx *cx, const struct mr_notifier_target *target,
	const struct mr_notifier_settings *settings, const char **busy)
{
	struct mr_tmux_pane pane;
	struct mr_tmux_screen screen;
	bool quiet = false;
	enum mr_code rc;

	(void)settings;
	if (!target->tmux_session)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"the agent's session names no tmux session");
	rc = mr_tmux_find(cx, target->tmux_session, &pane);
	if (!rc)
		rc = mr_tmux_look(cx, &pane, &screen);
	if (!rc && is_idle_shell(cx, &pane))
		rc = mr_err_set(&cx->err, MR_ECONFLICT,
			"the pane %s of the tmux session %.100s is at the prompt of %.40s: the "
			"agent's program does not run in it",
			pane.id, target->tmux_session, pane.command);
	if (rc)
		return rc;
	if (pane.is_in_mode)
		*busy = "somebody scrolls in the pane";
	else if (shows(screen.text, at_work, MR_LEN(at_work)))
		*busy = "the agent is at work";
	else if (shows(screen.text, asking, MR_LEN(asking)))
		*busy = "the agent asks for a decision";
	if (*busy)
		return MR_OK;
	rc = mr_tmux_is_quiet(cx, &pane, QUIET_MS, &quiet);
	if (!rc && !quiet)
		*busy = "the screen does not rest";
	return rc;
}

static enum mr_code deliver(struct mr_ctx *cx, const struct mr_notifier_target *target,
	const struct mr_notifier_settings *settings, const char *prompt, bool *perhaps)
{
	enum mr_code rc = mr_tmux_type(cx, target->tmux_session, prompt);

	(void)settings;
	*perhaps = rc == MR_ETIMEOUT;
	return rc;
}

const struct mr_channel mr_channel_tmux = {
	.name = "tmux",
	.look = look,
	.deliver = deliver,
};
