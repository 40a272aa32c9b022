/* workspace/special_use.h - the uses that mailboxes of a server can have (RFC 6154). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct mr_work_special_use {
	const char *kind;      /* "junk" */
	const char *attribute; /* "\\Junk" */
	const char *flag;      /* the keyword that goes with it, or NULL */
	bool can_move_to;      /* false for views over all mail */
	const char *names[5];  /* usual names of such mailboxes, NULL at the end */
};

/* Sorted by kind; the last has no kind. */
extern const struct mr_work_special_use mr_work_special_uses[];

/* By attribute, in any case; NULL when it is none of these. */
const struct mr_work_special_use *mr_work_special_use(const char *attribute);
/* Is the mailbox, by its whole name or the part behind the last hierarchy separator, named as
 * mailboxes of this use usually are? */
bool mr_work_special_use_names(const struct mr_work_special_use *use, const char *mailbox_name);
