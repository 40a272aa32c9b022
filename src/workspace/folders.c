/* workspace/folders.c - which mailbox of the server has which special use. */
#include "workspace/folders.h"

#include "text/out.h"
#include "workspace/special_use.h"

static const char by_config[] = "mailboxes";
static const char by_attribute[] = "rfc6154_attribute";
static const char by_name[] = "fallback_name";

static const struct mr_work_server_mailbox *find_name(const struct mr_work_server_mailboxes *list,
	const char *name)
{
	for (size_t i = 0; i < list->len; i++)
		if (mr_str_eq(list->items[i].name, name))
			return &list->items[i];
	return NULL;
}

static const struct mr_work_server_mailbox *
find_attribute(const struct mr_work_server_mailboxes *list, const char *attribute)
{
	for (size_t i = 0; i < list->len; i++)
		if (mr_work_server_has_attribute(&list->items[i], attribute))
			return &list->items[i];
	return NULL;
}

static const struct mr_work_server_mailbox *find_usual(const struct mr_work_server_mailboxes *list,
	const struct mr_work_special_use *use)
{
	for (size_t i = 0; i < list->len; i++)
		if (mr_work_special_use_names(use, list->items[i].name))
			return &list->items[i];
	return NULL;
}

struct mr_work_use_target mr_work_target_for(const struct mr_work_config *config,
	const struct mr_work_server_mailboxes *list, const struct mr_work_special_use *use)
{
	const struct mr_work_mailbox *configured = mr_work_mailbox_for_use(config, use->kind);
	const struct mr_work_server_mailbox *found = NULL;

	if (configured && configured->mailbox_name)
		return (struct mr_work_use_target){ configured->mailbox_name, by_config,
			find_name(list, configured->mailbox_name) != NULL };
	found = find_attribute(list, configured ? configured->special_use : use->attribute);
	if (found)
		return (struct mr_work_use_target){ found->name,
			configured ? by_config : by_attribute, true };
	found = find_attribute(list, use->attribute);
	if (found)
		return (struct mr_work_use_target){ found->name, by_attribute, true };
	found = find_usual(list, use);
	return (struct mr_work_use_target){ found ? found->name : use->names[0], by_name,
		found != NULL };
}

static void emit_nullable(struct mr_out *out, const char *key, const char *text)
{
	if (text)
		mr_out_text(out, key, text);
	else
		mr_out_null(out, key);
}

/* What a match and a target have in common; the map stays open. */
static void begin_use(struct mr_out *out, const struct mr_work_special_use *use, const char *source)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "kind", use->kind);
	mr_out_text(out, "source", source);
	mr_out_text(out, "attribute", use->attribute);
	emit_nullable(out, "flag", use->flag);
	mr_out_bool(out, "can_move_to", use->can_move_to);
}

static void emit_match(struct mr_out *out, const struct mr_work_special_use *use,
	const char *source)
{
	begin_use(out, use, source);
	mr_out_end(out);
}

static void emit_target(struct mr_out *out, const struct mr_work_special_use *use,
	const struct mr_work_use_target *target)
{
	begin_use(out, use, target->source);
	mr_out_text(out, "mailbox_name", target->mailbox_name);
	mr_out_bool(out, "exists", target->exists);
	mr_out_end(out);
}

/* First what the configuration says, then the server's attribute, then the name. */
static void emit_matches(struct mr_out *out, const struct mr_work_config *config,
	const struct mr_work_server_mailbox *mailbox)
{
	const struct mr_work_special_use *use;

	mr_out_list(out, "special_use_matches");
	for (use = mr_work_special_uses; use->kind; use++) {
		const struct mr_work_mailbox *configured =
			mr_work_mailbox_for_use(config, use->kind);

		if (configured && mr_str_eq(configured->mailbox_name, mailbox->name))
			emit_match(out, use, by_config);
	}
	for (use = mr_work_special_uses; use->kind; use++)
		if (mr_work_server_has_attribute(mailbox, use->attribute))
			emit_match(out, use, by_attribute);
	for (use = mr_work_special_uses; use->kind; use++)
		if (mr_work_special_use_names(use, mailbox->name))
			emit_match(out, use, by_name);
	mr_out_end(out);
}

static void emit_mailbox(struct mr_out *out, const struct mr_work_config *config,
	const struct mr_work_server_mailboxes *list, const struct mr_work_server_mailbox *mailbox)
{
	const struct mr_work_special_use *use;
	const char *kind = NULL;

	for (use = mr_work_special_uses; use->kind && !kind; use++)
		if (mr_work_server_has_attribute(mailbox, use->attribute))
			kind = use->kind;
	mr_out_map(out, NULL);
	mr_out_text(out, "mailbox_name", mailbox->name);
	emit_nullable(out, "delimiter", mailbox->delimiter);
	mr_out_texts(out, "attributes", &mailbox->attributes);
	emit_nullable(out, "special_use", kind);
	emit_nullable(out, "special_use_source", kind ? by_attribute : NULL);
	emit_matches(out, config, mailbox);
	mr_out_list(out, "selected_for");
	for (use = mr_work_special_uses; use->kind; use++) {
		struct mr_work_use_target target = mr_work_target_for(config, list, use);

		if (target.exists && mr_str_eq(target.mailbox_name, mailbox->name))
			emit_target(out, use, &target);
	}
	mr_out_end(out);
	mr_out_end(out);
}

void mr_work_folders_describe(struct mr_arena *arena, const struct mr_work_config *config,
	const struct mr_work_server_mailboxes *list, const struct mr_value **out_mailboxes,
	const struct mr_value **out_targets)
{
	struct mr_out out;

	mr_out_init_tree(&out, arena);
	mr_out_list(&out, NULL);
	for (size_t i = 0; i < list->len; i++)
		emit_mailbox(&out, config, list, &list->items[i]);
	mr_out_end(&out);
	*out_mailboxes = mr_out_tree(&out);
	mr_out_init_tree(&out, arena);
	mr_out_list(&out, NULL);
	for (const struct mr_work_special_use *use = mr_work_special_uses; use->kind; use++) {
		struct mr_work_use_target target = mr_work_target_for(config, list, use);

		emit_target(&out, use, &target);
	}
	mr_out_end(&out);
	*out_targets = mr_out_tree(&out);
}
