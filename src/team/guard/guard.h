/*
 * team/guard/guard.h - the guard: may these files be committed, pushed or edited now?
 *
 * Git's hooks and editors ask it often, so it is fast, changes nothing and needs no running server.
 * Leases are read from the database; where it cannot be read, from the archive's files; where there
 * is neither, from the configured server. Only active, exclusive leases of other agents count, and
 * a lease on "src/" and a star covers just that: widening is for advice, not for refusals.
 */
#pragma once

#include "team/hook.h"
#include "team/lease/reservation.h"
#include "team/store/root.h"

/* --- guard_git.c: what git knows --- */

struct mr_team_guard_place {
	const char *top;  /* the work tree's directory; of a bare repository the repository's */
	const char *main; /* the clone's first work tree, when that is another; or NULL */
	const char *near; /* a directory below `top` that may be a project by itself; or NULL */
	const char *run;  /* where git is run; NULL: here, with the variables a hook has */
	bool ignore_case; /* core.ignorecase */
};

/* The repository around `directory`, or around us (NULL). NOT_FOUND. */
MR_CHECK enum mr_code mr_team_guard_place(struct mr_ctx *cx, const char *directory,
	struct mr_team_guard_place *out);
/* What a commit would change now, relative to `top`: of a rename both names, of a deletion the one
 * that goes, of a merge only what neither side had. Sorted, each once. */
MR_CHECK enum mr_code mr_team_guard_staged(struct mr_ctx *cx,
	const struct mr_team_guard_place *place, struct mr_texts *out);
/*
 * What a push would change there: `refs` is what git gives to pre-push, "<ref> <id> <ref> <id>" a
 * line. Of a branch that is new there, what the commits change that no remote branch has.
 */
MR_CHECK enum mr_code mr_team_guard_pushed(struct mr_ctx *cx,
	const struct mr_team_guard_place *place, const char *refs, struct mr_texts *out);
/* Where git looks for hooks, absolute: core.hooksPath, or the clone's own. `*shared`: other clones
 * look there too. */
MR_CHECK enum mr_code mr_team_guard_hooks_dir(struct mr_ctx *cx,
	const struct mr_team_guard_place *place, const char **out, bool *shared);
/* The paths in a text that NULs divide; sorted, each once. */
struct mr_texts mr_team_guard_split(struct mr_arena *arena, struct mr_bytes text);
/* The absolute path, without links where it exists; "." and ".." are gone in any case. */
const char *mr_team_guard_real(struct mr_arena *arena, const char *path);

/* --- guard.c: the answer --- */

struct mr_team_guard_question {
	const struct mr_team_config *config;
	const struct mr_team_guard_place *place;
	const char *project_key; /* or NULL: that of the place */
	const char *agent;       /* the asking agent, by name; or NULL */
	const char *session;     /* the client's session, whose agents ask (team/hook.h); or NULL */
	bool last_is_ours; /* when neither is known: leases of the last agent of this work tree are
			      not another's */
	struct mr_texts paths;   /* relative to place->top, sorted */
	const char *url, *token; /* of a server; NULL or "": none */
	const char *socket;      /* its Unix socket, tried first; or NULL */
	bool only_socket;        /* it has no other address */
	bool quick;              /* no git, and a server must answer at once */
};

struct mr_team_guard_answer {
	const char *source; /* database, archive, server; NULL: there is no such project here */
	struct mr_team_project project;
	struct mr_team_conflicts conflicts; /* in the order of the paths */
	const char *agent;                  /* the asking agent; NULL: unknown */
	const char *last; /* when that is unknown: the last one of this work tree, or NULL */
	/* An agent of the project to write to the holders as: the asking one, else the last one of
	 * this work tree. NULL: there is neither, or the source does not know the agents. */
	const char *sender;
	const char *free_name;    /* without a sender: a name to register one under; or NULL */
	bool was_warned;          /* the session was told before that its agent is unknown */
	size_t leases;            /* of others, active and exclusive, that were read */
	struct mr_texts warnings; /* files that could not be read, and the like */
};

/*
 * An unknown project is a valid answer: nothing is held. Storage that exists and cannot be read is
 * an error: MR_EPERM, MR_EIO, MR_EFORMAT; a server that does not answer is MR_EREMOTE, MR_ETIMEOUT.
 */
MR_CHECK enum mr_code mr_team_guard_ask(struct mr_ctx *cx,
	const struct mr_team_guard_question *question, struct mr_team_guard_answer *out);

/* --- guard_edit.c: an editor's hook --- */

struct mr_team_guard_edit {
	const char *session;   /* the client's name for its session, or NULL */
	const char *tool;      /* its name, or "" */
	bool writes;           /* does this tool change files? */
	const char *cwd;       /* where it works */
	struct mr_texts paths; /* those it would change, absolute, else as they were given */
};
/*
 * Read what a coding agent gives to a hook before it uses a tool: {"tool_name", "tool_input":
 * {"file_path" | "notebook_path" | "path" | ...}, "cwd"}, or a patch in place of paths, perhaps in
 * a command (Codex has shells apply it). Relative paths are below `cwd`, or below the `here` of the
 * caller. MR_EFORMAT: that is no JSON object.
 */
MR_CHECK enum mr_code mr_team_guard_edit_read(struct mr_arena *arena, struct mr_bytes text,
	const char *here, struct mr_team_guard_edit *out, struct mr_err *err);
/* The work tree that holds an absolute path, found without git, and the path in it. Without a
 * repository `place->top` is the directory `here`, when it holds the path. False: neither. */
bool mr_team_guard_locate(struct mr_ctx *cx, const char *path, const char *here,
	struct mr_team_guard_place *place, const char **out_inside);

/* --- guard_session.c: a session that notes for whom it acts, and hears of mail --- */

/* What a client gives to a hook at other moments. */
struct mr_team_guard_event {
	const char *name;    /* PostToolUse, or "" */
	const char *session; /* or NULL */
	const char *tool;    /* or "" */
	const char *cwd;
	bool is_repeated;             /* the agent goes on because a hook asked it to */
	const struct mr_value *input; /* of the tool, or NULL */
	const char *given;            /* the agent's name in what the tool answered, or NULL */
};
/* MR_EFORMAT: that is no JSON object. */
MR_CHECK enum mr_code mr_team_guard_event_read(struct mr_arena *arena, struct mr_bytes text,
	const char *here, struct mr_team_guard_event *out, struct mr_err *err);

/* As whom a tool call of ours acted. */
struct mr_team_guard_actor {
	const char *project_key; /* NULL: it was no such call */
	const char *agent;       /* NULL: the last one that started a session here */
	bool saw_mail;           /* the call showed its new messages */
};
struct mr_team_guard_news {
	const char *agent, *project;   /* that the session acts for, or NULL */
	const char *last;              /* at its begin, without one: the agent that was here last */
	struct mr_team_hook_news mail; /* that was not told of before */
};
/* `*is_new`: something is to be noted or told. Writes nothing, and makes no database. */
MR_CHECK enum mr_code mr_team_guard_session_look(struct mr_ctx *cx,
	const struct mr_team_config *config, const struct mr_team_guard_event *event,
	const struct mr_team_guard_actor *actor, bool *is_new);
struct mr_team;
/* Note the actor, and take the news: each message once for each agent. */
MR_CHECK enum mr_code mr_team_guard_session_take(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_guard_event *event, const struct mr_team_guard_actor *actor,
	struct mr_team_guard_news *out);
/* The client says that its session has ended. */
MR_CHECK enum mr_code mr_team_guard_session_end(struct mr_ctx *cx, struct mr_team *team,
	const char *session);
/* `*first`: the session was not told before that its agent is unknown. */
MR_CHECK enum mr_code mr_team_guard_session_warn(struct mr_ctx *cx, struct mr_team *team,
	const char *session, bool *first);

/* --- guard_hook.c: git's hooks --- */

enum mr_team_guard_state {
	MR_TEAM_GUARD_ABSENT,
	MR_TEAM_GUARD_FOREIGN,   /* somebody else's */
	MR_TEAM_GUARD_INSTALLED, /* ours */
};
struct mr_team_guard_hook {
	const char *name; /* pre-commit, pre-push */
	const char *path;
	enum mr_team_guard_state state;
	bool chained; /* another hook is chained behind it and runs first */
};
enum { MR_TEAM_GUARD_HOOKS = 2 };
struct mr_team_guard_hooks {
	const char *directory;
	bool shared; /* by other clones */
	struct mr_team_guard_hook items[MR_TEAM_GUARD_HOOKS];
};

struct mr_team_guard_install {
	const char *program;      /* absolute path of the program that the hooks run */
	const char *project_key;  /* that they ask about; NULL: that of the place */
	const char *storage_root; /* where they look when nobody says otherwise */
	const char *database;     /* or NULL */
};
/*
 * Put our hooks in place: again changes nothing but what they run. A hook of somebody else becomes
 * NAME.mailroom-orig and is run first. INVALID_ARGUMENT when there is such a file already and
 * it is another.
 */
MR_CHECK enum mr_code mr_team_guard_hooks_install(struct mr_ctx *cx,
	const struct mr_team_guard_place *place, const struct mr_team_guard_install *install,
	struct mr_team_guard_hooks *out);
/* Remove them and restore what was there. Hooks of others stay. `*removed`: there was one of
 * ours. */
MR_CHECK enum mr_code mr_team_guard_hooks_remove(struct mr_ctx *cx,
	const struct mr_team_guard_place *place, bool *removed, struct mr_team_guard_hooks *out);
MR_CHECK enum mr_code mr_team_guard_hooks_look(struct mr_ctx *cx,
	const struct mr_team_guard_place *place, struct mr_team_guard_hooks *out);
