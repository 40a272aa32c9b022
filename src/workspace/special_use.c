/* workspace/special_use.c - the table of special uses and the usual names of such mailboxes. */
#include "workspace/special_use.h"

#include "base/str.h"

const struct mr_work_special_use mr_work_special_uses[] = {
	{ "all", "\\All", NULL, false, { "All Mail", "All", NULL } },
	{ "archive", "\\Archive", NULL, true, { "Archive", "Archives", NULL } },
	{ "drafts", "\\Drafts", NULL, true, { "Drafts", "Draft", NULL } },
	{ "flagged", "\\Flagged", "\\Flagged", false, { "Flagged", "Starred", NULL } },
	{ "junk", "\\Junk", "$Junk", true, { "Junk", "Spam", "Junk Email", "Junk E-mail", NULL } },
	{ "sent", "\\Sent", NULL, true, { "Sent", "Sent Mail", "Sent Messages", NULL } },
	{ "trash", "\\Trash", NULL, true,
		{ "Trash", "Deleted Items", "Deleted Messages", "Bin", NULL } },
	{ NULL, NULL, NULL, false, { NULL } },
};

const struct mr_work_special_use *mr_work_special_use(const char *attribute)
{
	for (const struct mr_work_special_use *use = mr_work_special_uses; use->kind; use++)
		if (mr_str_eq_nocase(use->attribute, attribute))
			return use;
	return NULL;
}

bool mr_work_special_use_names(const struct mr_work_special_use *use, const char *mailbox_name)
{
	const char *last = mailbox_name;

	/* Servers separate levels by '/' or '.'. */
	for (const char *c = mailbox_name; *c; c++)
		if (*c == '/' || *c == '.')
			last = c + 1;
	for (const char *const *name = use->names; *name; name++)
		if (mr_str_eq_nocase(*name, mailbox_name) || mr_str_eq_nocase(*name, last))
			return true;
	return false;
}
