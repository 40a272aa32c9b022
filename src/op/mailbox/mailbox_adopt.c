/* op/mailbox/mailbox_adopt.c - operation: a mailbox root that was moved or copied becomes a root of
 * its own. */
#include "mailbox/adopt.h"

#include "mailbox/repair.h"
#include "op/contract.h"
#include "op/dispatch.h"
#include "op/mailbox/mailbox_ops.h"
#include "op/mailbox/render_mailbox.h"
#include "op/nouns.h"

struct adopt_request {
	const char *mailbox_root;
	bool dry_run;
};

static const struct mr_param adopt_params[] = {
	MR_MAILBOX_ROOT_PARAM(struct adopt_request),
	MR_MAILBOX_DRY_RUN_PARAM(struct adopt_request),
	{ 0 },
};

/* What the root is, compared with where its index says it is. */
enum situation { AT_HOME, MOVED, COPIED };
static const char *const situations[] = { "own", "moved", "copied", NULL };

struct adopted {
	struct mr_shape_mailbox_head head;
	struct mr_mailbox_adopt_plan plan;
	enum situation situation;
	bool dry_run, is_adopted;
	struct mr_mailbox_repair_result repaired;
};

static const char *const actions[] = { "keep", "copy", NULL };

/* Keep a private directory of this root's own, or leave it to the other root and copy its state. */
static void put_action(struct mr_out *out, const char *key, const void *from)
{
	const struct mr_mailbox_adopt_private *one = from;

	mr_out_text(out, key, actions[one->holder != NULL]);
}

#define PRIVATE(member, ...) MR_FIELD(struct mr_mailbox_adopt_private, member, __VA_ARGS__)

static const struct mr_field private_fields[] = {
	PRIVATE(address, "address"),
	PRIVATE(path, "path"),
	PRIVATE(holder, "held_by", .flags = MR_NULLABLE,
		.summary = "the other root that keeps the directory"),
	{ .name = "action",
		.type = MR_TYPE_TEXT,
		.choices = actions,
		.from = MR_FROM_SAME(struct mr_mailbox_adopt_private),
		.emit = put_action },
	{ 0 },
};

#define ADOPTED(member, ...) MR_FIELD(struct adopted, member, __VA_ARGS__)

static const struct mr_field adopt_fields[] = {
	MR_MEMBERS(struct adopted, head, struct mr_shape_mailbox_head,
		mr_shape_mailbox_head_fields),
	ADOPTED(situation, "situation", .choices = situations),
	ADOPTED(plan.home.recorded, "recorded_root", .flags = MR_NULLABLE,
		.summary = "where the index says that the root is, when it is elsewhere"),
	ADOPTED(dry_run, "dry_run"),
	ADOPTED(is_adopted, "adopted"),
	ADOPTED(plan.registration_count, "registration_count"),
	MR_FIELD_LIST(struct adopted, plan.privates, struct mr_mailbox_adopt_private,
		private_fields, "private_directories"),
	ADOPTED(repaired.message_count, "message_count", .flags = MR_OPTIONAL,
		.when = MR_FLAG(struct adopted, is_adopted)),
	ADOPTED(repaired.projection_count, "projection_count", .flags = MR_OPTIONAL,
		.when = MR_FLAG(struct adopted, is_adopted)),
	{ 0 },
};

static size_t count_held(const struct mr_mailbox_adopt_plan *plan)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->privates.len; i++)
		count += plan->privates.items[i].holder != NULL;
	return count;
}

static enum mr_code ask(struct mr_call *call, const struct adopted *adopted)
{
	const struct mr_mailbox_adopt_plan *plan = &adopted->plan;
	struct mr_arena *arena = call->cx.arena;
	size_t held = count_held(plan);

	return mr_dispatch_confirm(call,
		mr_arena_printf(arena,
			"%s was %s %s. Its index and links are made to lead to itself%s%s. Go on?",
			plan->path, plan->home.is_copy ? "copied from" : "moved here from",
			plan->home.recorded,
			plan->home.is_copy ? "; the original is not touched" : "",
			held ? mr_arena_printf(arena,
				       "; %zu private director%s stay%s with another root, and "
				       "mailboxes inside this root take %s place",
				       held, held == 1 ? "y" : "ies", held == 1 ? "s" : "",
				       held == 1 ? "its" : "their")
			     : ""));
}

static enum mr_code adopt(struct mr_call *call, const struct adopt_request *asked,
	struct adopted *out)
{
	/* What is staged may be mail that somebody is about to deliver. */
	const struct mr_mailbox_repair_options options = { .keep_staging = true };
	const char *path;
	enum mr_code rc = mr_mailbox_ops_path(call, asked->mailbox_root, &path);

	if (!rc)
		rc = mr_mailbox_adopt_plan(&call->cx, path, &out->plan);
	if (rc)
		return rc;
	out->head = mr_mailbox_ops_head(call, asked->mailbox_root, out->plan.path);
	out->dry_run = asked->dry_run;
	if (out->plan.home.recorded)
		out->situation = out->plan.home.is_copy ? COPIED : MOVED;
	if (asked->dry_run || out->situation == AT_HOME)
		return MR_OK;
	rc = ask(call, out);
	if (!rc)
		rc = mr_mailbox_repair(&call->cx, path, &options, &out->repaired);
	out->is_adopted = rc == MR_OK;
	return rc;
}
MR_BIND_ALONE(adopting, adopt, struct adopt_request, struct adopted);

const struct mr_op mr_op_mailbox_adopt = {
	.name = "mailbox_adopt",
	.command = "mailbox adopt",
	.summary = "Make a root that was moved or copied a root of its own",
	.help = "Until then no command changes such a root, because its index and links lead to "
		"where it was. A private directory that another root has registered stays with that "
		"root; here a mailbox inside the root, with the same mail and flags, takes its "
		"place. --dry-run says what would be done.",
	.params = adopt_params,
	.result = adopt_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &adopting,
	.render = mr_render_mailbox_adopted,
};
