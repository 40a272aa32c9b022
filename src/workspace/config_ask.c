/* workspace/config_ask.c - the questions that many commands have for the configuration. */
#include "workspace/config.h"

#include "text/time.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/special_use.h"

enum mr_code mr_work_reason(struct mr_ctx *cx, struct mr_work *work, const char *given,
	const char **out)
{
	const struct mr_work_config *config;
	const char *reason = given ? mr_str_trim(cx->arena, given) : "";
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (rc)
		return rc;
	if (*reason || !config->reason_required) {
		*out = *reason ? reason : NULL;
		return MR_OK;
	}
	(void)mr_work_refuse(cx, MR_WORK_REASON_REQUIRED, "this command needs a reason");
	(void)mr_work_detail_text(cx, "required_option", "--reason");
	return mr_work_detail_text(cx, "config_key", "audit.reason_mode");
}

const struct mr_work_identity *mr_work_default_identity(const struct mr_work_config *config)
{
	for (size_t i = 0; i < config->identity_count; i++)
		if (config->identities[i].is_default)
			return &config->identities[i];
	return NULL;
}

const struct mr_work_identity *mr_work_find_identity(const struct mr_work_config *config,
	const char *slug)
{
	for (size_t i = 0; i < config->identity_count; i++)
		if (mr_str_eq(config->identities[i].identity, slug))
			return &config->identities[i];
	return NULL;
}

enum mr_code mr_work_check_sender(struct mr_ctx *cx, const struct mr_work_identity *identity)
{
	if (identity->trouble)
		return mr_work_refuse(cx, MR_WORK_CONFIG_INVALID, "%s: %s",
			mr_work_path_identity(cx->arena, identity->identity), identity->trouble);
	/* Somebody who gave it a name has looked at the address as well. */
	if (!mr_str_eq_nocase(identity->email, MR_WORK_EXAMPLE_EMAIL) ||
		!mr_str_eq(identity->config_name, MR_WORK_EXAMPLE_NAME))
		return MR_OK;
	(void)mr_work_refuse(cx, MR_WORK_CONFIG_MISSING,
		"the identity '%s' is still the example of a new workspace, %s <%s>",
		identity->identity, MR_WORK_EXAMPLE_NAME, MR_WORK_EXAMPLE_EMAIL);
	return mr_work_hint(cx,
		"Set its real address with `afmail config set identities.%s.email ADDRESS`.",
		identity->identity);
}

bool mr_work_is_own_address(const struct mr_work_config *config, const char *address)
{
	for (size_t i = 0; i < config->identity_count; i++)
		if (mr_str_eq_nocase(config->identities[i].email, address))
			return true;
	return false;
}

/* The server's INBOX is named so in any case; other names are as the server spells them. */
static bool is_named(const struct mr_work_mailbox *mailbox, const char *name)
{
	const struct mr_work_special_use *use;

	if (mailbox->mailbox_name)
		return mr_str_eq(mailbox->mailbox_name, name) ||
			(mr_str_eq_nocase(name, "INBOX") &&
				mr_str_eq_nocase(mailbox->mailbox_name, name));
	use = mr_work_special_use(mailbox->special_use);
	return use && mr_work_special_use_names(use, name);
}

enum mr_code mr_work_mailbox_by_name(struct mr_ctx *cx, const struct mr_work_config *config,
	const char *mailbox_name, const struct mr_work_mailbox **out)
{
	const struct mr_work_mailbox *found = NULL;

	for (size_t i = 0; i < config->mailbox_count; i++) {
		const struct mr_work_mailbox *mailbox = &config->mailboxes[i];

		if (!is_named(mailbox, mailbox_name))
			continue;
		if (found)
			return mr_work_refuse(cx, MR_WORK_IMAP_MAILBOX_AMBIGUOUS,
				"the mailbox '%s' may be '%s' or '%s' of the configuration",
				mailbox_name, found->id, mailbox->id);
		found = mailbox;
	}
	*out = found;
	return MR_OK;
}

const struct mr_work_mailbox *mr_work_mailbox_for_use(const struct mr_work_config *config,
	const char *kind)
{
	for (size_t i = 0; i < config->mailbox_count; i++) {
		const struct mr_work_mailbox *mailbox = &config->mailboxes[i];
		const struct mr_work_special_use *use =
			mailbox->special_use ? mr_work_special_use(mailbox->special_use) : NULL;

		if (mr_str_eq(mailbox->id, kind) || (use && mr_str_eq(use->kind, kind)))
			return mailbox;
	}
	return NULL;
}

static int64_t local(const struct mr_work_config *config, int64_t us)
{
	return us + config->offset_minutes * MR_TIME_MIN;
}

const char *mr_work_local_date(struct mr_arena *arena, const struct mr_work_config *config,
	int64_t us)
{
	return mr_time_format(arena, local(config, us), MR_TIME_COMPACT_DATE);
}

const char *mr_work_local_time(struct mr_arena *arena, const struct mr_work_config *config,
	int64_t us)
{
	/* "2026-03-11T04:15:00Z" without its seconds. */
	const char *text = mr_time_format(arena, local(config, us), MR_TIME_SECONDS);

	return mr_arena_printf(arena, "%.10s %.5s", text, text + sizeof("2026-03-11T") - 1);
}
