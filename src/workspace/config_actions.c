/* workspace/config_actions.c - reads mailboxes and what actions do with messages in them. */
#include "text/value.h"
#include "workspace/config_private.h"
#include "workspace/special_use.h"

#include <stdlib.h>
#include <string.h>

/* --- mailboxes --- */

static void read_mailbox(const struct mr_cursor *at, struct mr_work_mailbox *out)
{
	static const char *const known[] = { "mailbox_name", "special_use", NULL };
	struct mr_cursor name = mr_cursor_key(at, "mailbox_name");
	struct mr_cursor use = mr_cursor_key(at, "special_use");
	struct mr_arena *arena = at->issues->arena;

	*out = (struct mr_work_mailbox){ .id = at->key };
	if (!mr_work_is_config_id(at->key))
		mr_cursor_refuse(at, "must have an id of letters, digits, '_' and '-'");
	if (!mr_cursor_map(at))
		return;
	mr_cursor_only(at, known);
	mr_cursor_text_opt(&name, &out->mailbox_name);
	mr_cursor_text_opt(&use, &out->special_use);
	if (!out->mailbox_name == !out->special_use ||
		mr_work_is_blank(arena, out->mailbox_name ? out->mailbox_name : out->special_use))
		mr_cursor_refuse(at,
			"must have exactly one of mailbox_name and special_use, and "
			"that not blank");
}

static int by_id(const void *a, const void *b)
{
	const struct mr_work_mailbox *left = a, *right = b;

	return strcmp(left->id, right->id);
}

void mr_work_mailboxes_at(const struct mr_cursor *root, struct mr_work_config *config)
{
	struct mr_cursor at = mr_cursor_key(root, "mailboxes");
	size_t len;

	if (!mr_cursor_map(&at))
		return;
	len = at.value->map.len;
	if (len > MR_WORK_MAILBOXES_MAX) {
		mr_cursor_refuse(&at, "must not have more than %d mailboxes",
			MR_WORK_MAILBOXES_MAX);
		return;
	}
	config->mailboxes = mr_arena_array(at.issues->arena, len + 1, sizeof(*config->mailboxes));
	config->mailbox_count = len;
	for (size_t i = 0; i < len; i++) {
		struct mr_cursor item = mr_cursor_key(&at, at.value->map.pairs[i].key);

		read_mailbox(&item, &config->mailboxes[i]);
	}
	qsort(config->mailboxes, len, sizeof(*config->mailboxes), by_id);
}

static struct mr_work_mailbox *mailbox_of(const struct mr_work_config *config, const char *id)
{
	struct mr_work_mailbox key = { .id = id };

	return config->mailbox_count
		? bsearch(&key, config->mailboxes, config->mailbox_count, sizeof(key), by_id)
		: NULL;
}

const struct mr_work_mailbox *mr_work_find_mailbox(const struct mr_work_config *config,
	const char *id)
{
	return mailbox_of(config, id);
}

static void check_mailbox_id(const struct mr_cursor *at, const struct mr_work_config *config,
	const char *id)
{
	if (!mailbox_of(config, id))
		mr_cursor_refuse(at, "names the mailbox '%s', which is not in mailboxes", id);
}

/* --- actions --- */

static void check_steps(const struct mr_cursor *at, const struct mr_work_config *config,
	const struct mr_work_action_steps *steps)
{
	for (size_t i = 0; i < steps->len; i++) {
		const struct mr_work_action_step *step = &steps->items[i];
		struct mr_cursor item = mr_cursor_item(at, i);
		const struct mr_work_mailbox *target;
		const struct mr_work_special_use *use = NULL;

		if (step->append_to_mailbox_id)
			check_mailbox_id(&item, config, step->append_to_mailbox_id);
		if (!step->move_to_mailbox_id)
			continue;
		check_mailbox_id(&item, config, step->move_to_mailbox_id);
		target = mailbox_of(config, step->move_to_mailbox_id);
		if (target && target->special_use)
			use = mr_work_special_use(target->special_use);
		if (use && !use->can_move_to)
			mr_cursor_refuse(&item,
				"moves to the mailbox '%s', but no message can be moved to %s",
				target->id, use->attribute);
	}
}

static void read_steps(const struct mr_cursor *at, const struct mr_work_config *config,
	struct mr_work_action_steps *out)
{
	static const char *const known[] = { "steps", NULL };
	struct mr_cursor steps = mr_cursor_key(at, "steps");

	if (!mr_cursor_map(at))
		return;
	mr_cursor_only(at, known);
	mr_work_steps_at(&steps, out);
	check_steps(&steps, config, out);
}

static void read_pull_rule(const struct mr_cursor *at, const struct mr_work_config *config)
{
	static const char *const known[] = { "direction", "import_as", NULL };
	struct mr_cursor import = mr_cursor_key(at, "import_as");
	struct mr_cursor direction = mr_cursor_key(at, "direction");
	struct mr_work_mailbox *mailbox = mailbox_of(config, at->key);
	size_t chosen;

	if (!mr_cursor_map(at))
		return;
	mr_cursor_only(at, known);
	check_mailbox_id(at, config, at->key);
	if (!mailbox)
		return;
	mailbox->is_pulled = true;
	if (mr_cursor_choice(&import, mr_work_import_as_names, &chosen))
		mailbox->import_as = (enum mr_work_import_as)chosen;
	if (mr_cursor_choice(&direction, mr_work_direction_names, &chosen))
		mailbox->direction = (enum mr_work_direction)chosen;
}

static void read_pull(const struct mr_cursor *actions, struct mr_work_config *config)
{
	static const char *const known[] = { "by_mailbox_id", "default_mailbox_ids", NULL };
	struct mr_cursor at = mr_cursor_key(actions, "pull");
	struct mr_cursor rules = mr_cursor_key(&at, "by_mailbox_id");
	struct mr_cursor ids = mr_cursor_key(&at, "default_mailbox_ids");

	if (!mr_cursor_map(&at))
		return;
	mr_cursor_only(&at, known);
	if (mr_cursor_map(&rules) && rules.value->map.len <= MR_WORK_MAILBOXES_MAX) {
		for (size_t i = 0; i < rules.value->map.len; i++) {
			struct mr_cursor rule =
				mr_cursor_key(&rules, rules.value->map.pairs[i].key);

			read_pull_rule(&rule, config);
		}
	}
	if (!mr_cursor_texts(&ids, &config->default_mailbox_ids))
		return;
	for (size_t i = 0; i < config->default_mailbox_ids.len; i++) {
		const char *id = config->default_mailbox_ids.items[i];
		const struct mr_work_mailbox *mailbox = mailbox_of(config, id);

		check_mailbox_id(&ids, config, id);
		if (mailbox && !mailbox->is_pulled)
			mr_cursor_refuse(&ids,
				"names the mailbox '%s', which is not in by_mailbox_id", id);
	}
}

static void read_archive_action(const struct mr_cursor *actions, struct mr_work_config *config)
{
	static const char *const known[] = { "by_source_mailbox_id", NULL };
	struct mr_cursor at = mr_cursor_key(actions, "message.archive");
	struct mr_cursor rules = mr_cursor_key(&at, "by_source_mailbox_id");

	if (!mr_cursor_map(&at))
		return;
	mr_cursor_only(&at, known);
	if (!mr_cursor_map(&rules) || rules.value->map.len > MR_WORK_MAILBOXES_MAX)
		return;
	for (size_t i = 0; i < rules.value->map.len; i++) {
		struct mr_cursor rule = mr_cursor_key(&rules, rules.value->map.pairs[i].key);
		struct mr_work_mailbox *mailbox = mailbox_of(config, rule.key);

		check_mailbox_id(&rule, config, rule.key);
		if (mailbox)
			read_steps(&rule, config, &mailbox->archive);
	}
}

void mr_work_actions_at(const struct mr_cursor *root, struct mr_work_config *config)
{
	static const char *const known[] = { "case.add", "draft.save", "draft.send",
		"message.archive", "message.spam", "message.trash", "pull", NULL };
	struct mr_cursor at = mr_cursor_key(root, "actions");
	struct {
		const char *name;
		struct mr_work_action_steps *steps;
	} actions[] = {
		{ "case.add", &config->case_add },
		{ "draft.save", &config->draft_save },
		{ "draft.send", &config->draft_send },
		{ "message.spam", &config->message_spam },
		{ "message.trash", &config->message_trash },
	};

	if (!mr_cursor_map(&at))
		return;
	mr_cursor_only(&at, known);
	for (size_t i = 0; i < MR_LEN(actions); i++) {
		struct mr_cursor action = mr_cursor_key(&at, actions[i].name);

		read_steps(&action, config, actions[i].steps);
	}
	read_pull(&at, config);
	read_archive_action(&at, config);
}
