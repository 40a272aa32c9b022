/*
 * mailbox/root.h - a mailbox root: opening, creating and examining it.
 *
 * Modes: directories 0700, files 0600, whatever the umask says.
 */
#pragma once

#include "base/ctx.h"
#include "base/keeper.h"
#include "data/db.h"

#define MR_MAILBOX_OPERATOR_ADDRESS   "HOUMAO-operator@houmao.localhost"
#define MR_MAILBOX_OPERATOR_PRINCIPAL "HOUMAO-operator"
#define MR_MAILBOX_OPERATOR_ROLE      "system_operator"
#define MR_MAILBOX_OPERATOR_NAME      "Houmao Operator"
#define MR_MAILBOX_DOMAIN             "houmao.localhost"

struct mr_mailbox_root {
	const char *path; /* absolute, links resolved */
	int dir;          /* open on it */
	/* Removes our lock files should this process die; started with the first lock. NULL: nobody
	 * does. */
	struct mr_keeper *keeper;
};

#define MR_MAILBOX_ROOT_INIT ((struct mr_mailbox_root){ .dir = -1 })

/* For MR_CLEANUP. */
void mr_mailbox_root_close(struct mr_mailbox_root *root);

enum mr_mailbox_root_for {
	MR_MAILBOX_ROOT_READ,   /* a protocol-1 root is fine */
	MR_MAILBOX_ROOT_WRITE,  /* not a root that was moved or copied; and interrupted operations
				   are finished or undone first */
	MR_MAILBOX_ROOT_REPAIR, /* an unreadable or missing index is fine */
};

struct mr_mailbox_status {
	const char *path;
	bool exists;
	bool bootstrapped;
	bool supported;
	const char *protocol_version; /* or NULL */
	int64_t active, inactive, stashed;
	bool structural_state_readable;
	const char *error; /* or NULL */
};
/* Never fails because of the root: its problems are in the result. */
MR_CHECK enum mr_code mr_mailbox_root_status(struct mr_ctx *cx, const char *path,
	struct mr_mailbox_status *out);

/*
 * Where a root is, compared with where its index says it is. Rows and links hold absolute paths: in
 * a copy of a root they lead to the original, which a command on the copy would change.
 */
struct mr_mailbox_home {
	const char *recorded; /* where the index says; NULL: here */
	bool is_copy;         /* there is another directory: this one was copied, not moved */
};
/*
 * A root that its index has under another name of the same directory (a bind mount) is at home, and
 * `root->path` becomes that name. So is one whose index says nothing.
 */
MR_CHECK enum mr_code mr_mailbox_root_home(struct mr_ctx *cx, struct mr_mailbox_root *root,
	struct mr_mailbox_home *out);
/* index.sqlite: journal DELETE, schema made when it is opened for writing. */
MR_CHECK enum mr_code mr_mailbox_root_index(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	bool read_only, struct mr_db **out);
/* mailbox.sqlite in the mailbox directory `path` (absolute). */
MR_CHECK enum mr_code mr_mailbox_root_local(struct mr_ctx *cx, const char *path, bool read_only,
	struct mr_db **out);

/*
 * The same databases for steps that follow each other: from cx->shelf, when one lies there whose
 * file is still in its place, and back to it. A transaction that is still open is rolled back then.
 */
enum mr_mailbox_lend {
	MR_MAILBOX_LEND_READ, /* the file may be write-protected */
	MR_MAILBOX_LEND_LOOK, /* to read, where a write may follow: nothing is changed yet */
	MR_MAILBOX_LEND_WRITE,
};
struct mr_mailbox_lent {
	struct mr_db *db;
	struct mr_shelf *shelf;
	enum mr_mailbox_lend how;
	bool journal_stays;
};
#define MR_MAILBOX_LENT_INIT ((struct mr_mailbox_lent){ NULL })
MR_CHECK enum mr_code mr_mailbox_lend_index(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	enum mr_mailbox_lend how, struct mr_mailbox_lent *out);
MR_CHECK enum mr_code mr_mailbox_lend_local(struct mr_ctx *cx, const char *path,
	enum mr_mailbox_lend how, struct mr_mailbox_lent *out);
/* After a commit to a mailbox.sqlite that was lent: whoever watches the mailbox looks at once. The
 * journal, which would tell it by going away, may have stayed. */
void mr_mailbox_lent_tell(const struct mr_mailbox_lent *lent);
/* For MR_CLEANUP. */
void mr_mailbox_lent_return(struct mr_mailbox_lent *lent);

/* MR_ECONFLICT, with both paths and what to do, unless the root is at home. `how` is what the
 * index will be needed for. */
MR_CHECK enum mr_code mr_mailbox_root_check_home(struct mr_ctx *cx, struct mr_mailbox_root *root,
	enum mr_mailbox_lend how);
