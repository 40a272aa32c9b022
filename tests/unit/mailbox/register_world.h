/* tests/unit/mailbox/register_world.h - a root to register in, and questions about it. */
#pragma once

#include "mailbox/register.h"
#include "mailbox/state_sql.h"
#include "test.h"

#include <sys/stat.h>

#define A     "a@houmao.localhost"
#define B     "b@houmao.localhost"
#define ENTRY "root/mailboxes/" A
#define NOW   "2026-03-11T04:15:00Z" /* where the clock stands */
#define LATER "2026-03-11T05:15:00Z"
#define HOUR  (INT64_C(3600) * 1000000)

struct world {
	struct mr_ctx cx;
	struct mr_clock_fixed clock;
	struct mr_rand rand;
	struct mr_mailbox_root root;
	const char *cwd; /* the test's directory, in which the root is called "root" */
};

enum { WORLD_MODES = 3 };
extern const enum mr_mailbox_register_mode world_modes[WORLD_MODES];

void world_open(struct world *w);
/* For MR_CLEANUP. */
void world_close(struct world *w);

/* Absolute, from a path below the test's directory. */
const char *world_at(struct world *w, const char *path);
/* The first value of a query of the index, or NULL. */
const char *world_text(struct world *w, const char *sql);
long world_number(struct world *w, const char *sql);
void world_exec(struct world *w, const char *sql);
struct mr_mailbox_registration world_row_of(struct world *w, const char *id);

bool world_is_kind(const char *path, mode_t kind);
bool world_is_there(const char *path);
/* Nothing half done: no intent, no work directory, no lock. */
void world_check_tidy(void);
/* All four boxes and a database, with their modes. */
void world_check_boxes(const char *mailbox);

/* Requests for the address A. */
struct mr_mailbox_register_request world_in_root(enum mr_mailbox_register_mode mode,
	const char *owner);
struct mr_mailbox_register_request world_linked(struct world *w, enum mr_mailbox_register_mode mode,
	const char *owner, const char *path);

struct mr_mailbox_register_result world_join(struct world *w,
	struct mr_mailbox_register_request request);
/* Refused with this text, in which %s stands for the test's directory; nothing has changed. */
void world_refuse(struct world *w, struct mr_mailbox_register_request request, enum mr_code code,
	const char *message);
struct mr_mailbox_unregister_result world_leave(struct world *w,
	enum mr_mailbox_unregister_mode mode, const char *address);

void world_leave_refused(struct world *w, enum mr_mailbox_unregister_mode mode, const char *address,
	enum mr_code code, const char *message);

/* One message in these folders of a registration, links included. */
void world_add_mail(struct world *w, const char *id, const char *mailbox, const char *message,
	const char *folders);
struct mr_mailbox_state world_state_of(struct world *w, const char *mailbox, const char *message);
void world_put_state(struct world *w, const char *mailbox, const struct mr_mailbox_state *state);
int64_t world_states_in(struct world *w, const char *mailbox);
