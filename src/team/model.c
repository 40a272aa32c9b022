/*
 * team/model.c - Converts between the team contract's words and the enums for importance,
 * recipient kind, policies and link status.
 */
#include "team/model.h"

#include "base/attr.h"

struct word {
	const char *text;
	int value;
};

/* The first word of a value is the one we write. */
static const struct word importances[] = {
	{ "low", MR_TEAM_LOW },
	{ "normal", MR_TEAM_NORMAL },
	{ "high", MR_TEAM_HIGH },
	{ "urgent", MR_TEAM_URGENT },
};
static const struct word kinds[] = {
	{ "to", MR_TEAM_TO },
	{ "cc", MR_TEAM_CC },
	{ "bcc", MR_TEAM_BCC },
};
static const struct word contact_policies[] = {
	{ "open", MR_TEAM_OPEN },
	{ "auto", MR_TEAM_AUTO },
	{ "contacts_only", MR_TEAM_CONTACTS_ONLY },
	{ "block_all", MR_TEAM_BLOCK_ALL },
	{ "manual", MR_TEAM_CONTACTS_ONLY },
	{ "deny", MR_TEAM_BLOCK_ALL },
};
static const struct word attachment_policies[] = {
	{ "auto", MR_TEAM_ATTACH_AUTO },
	{ "inline", MR_TEAM_ATTACH_INLINE },
	{ "attach", MR_TEAM_ATTACH_FILE },
	{ "deny", MR_TEAM_ATTACH_DENY },
	{ "file", MR_TEAM_ATTACH_FILE },
	{ "accept", MR_TEAM_ATTACH_AUTO },
	{ "reject", MR_TEAM_ATTACH_DENY },
	{ "ask", MR_TEAM_ATTACH_AUTO },
};
static const struct word link_statuses[] = {
	{ "pending", MR_TEAM_PENDING },
	{ "approved", MR_TEAM_APPROVED },
	{ "blocked", MR_TEAM_BLOCKED },
	{ "accepted", MR_TEAM_APPROVED },
	{ "rejected", MR_TEAM_BLOCKED },
};

static const char *text_of(const struct word *words, size_t count, int value)
{
	for (size_t i = 0; i < count; i++) {
		if (words[i].value == value)
			return words[i].text;
	}
	return words[0].text;
}

static bool value_of(const struct word *words, size_t count, const char *text, int *out)
{
	for (size_t i = 0; i < count; i++) {
		if (!mr_str_eq_nocase(words[i].text, text))
			continue;
		*out = words[i].value;
		return true;
	}
	return false;
}

const char *mr_team_importance_name(enum mr_team_importance importance)
{
	return text_of(importances, MR_LEN(importances), (int)importance);
}

const char *mr_team_kind_name(enum mr_team_recipient_kind kind)
{
	return text_of(kinds, MR_LEN(kinds), (int)kind);
}

const char *mr_team_contact_policy_name(enum mr_team_contact_policy policy)
{
	return text_of(contact_policies, MR_LEN(contact_policies), (int)policy);
}

const char *mr_team_attachments_policy_name(enum mr_team_attachments_policy policy)
{
	return text_of(attachment_policies, MR_LEN(attachment_policies), (int)policy);
}

const char *mr_team_link_status_name(enum mr_team_link_status status)
{
	return text_of(link_statuses, MR_LEN(link_statuses), (int)status);
}

bool mr_team_importance_of(const char *word, enum mr_team_importance *out)
{
	int value = 0;

	if (!value_of(importances, MR_LEN(importances), word, &value))
		return false;
	*out = (enum mr_team_importance)value;
	return true;
}

bool mr_team_kind_of(const char *word, enum mr_team_recipient_kind *out)
{
	int value = 0;

	if (!value_of(kinds, MR_LEN(kinds), word, &value))
		return false;
	*out = (enum mr_team_recipient_kind)value;
	return true;
}

bool mr_team_contact_policy_of(const char *word, enum mr_team_contact_policy *out)
{
	int value = 0;

	if (!value_of(contact_policies, MR_LEN(contact_policies), word, &value))
		return false;
	*out = (enum mr_team_contact_policy)value;
	return true;
}

bool mr_team_attachments_policy_of(const char *word, enum mr_team_attachments_policy *out)
{
	int value = 0;

	if (!value_of(attachment_policies, MR_LEN(attachment_policies), word, &value))
		return false;
	*out = (enum mr_team_attachments_policy)value;
	return true;
}

bool mr_team_link_status_of(const char *word, enum mr_team_link_status *out)
{
	int value = 0;

	if (!value_of(link_statuses, MR_LEN(link_statuses), word, &value))
		return false;
	*out = (enum mr_team_link_status)value;
	return true;
}
