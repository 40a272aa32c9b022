/* op/mailbox/agents_notices.c - operation: when the agents of this machine were told of their mail.
 */
#include "mailbox/registry.h"
#include "op/contract.h"
#include "op/mailbox/contract_mail.h"
#include "op/mailbox/mail_session.h"
#include "op/mailbox/render_notifier.h"
#include "op/mailbox/shape_notifier.h"
#include "op/nouns.h"

#include <stdlib.h>
#include <string.h>

enum { NOTICES = 1000 };

struct asked {
	int64_t limit;
	unsigned state;
	bool has_state;
};

static const struct mr_param params[] = {
	MR_PARAM(struct asked, limit, "limit", .min = 1, .max = NOTICES, .fallback = "100",
		.summary = "the newest so many"),
	MR_PARAM(struct asked, state, "state", .choices = mr_ledger_states,
		.given = MR_FLAG(struct asked, has_state), .summary = "only these"),
	{ 0 },
};

struct told {
	const char *agent_id, *agent_name, *address;
	struct mr_ledger_notice notice;
};
struct listed {
	int schema_version;
	struct told *items;
	size_t len, room;
	struct mr_texts problems;
};

static const struct mr_field told_fields[] = {
	MR_FIELD(struct told, agent_id, "agent_id"),
	MR_FIELD(struct told, agent_name, "agent_name", .flags = MR_NULLABLE),
	MR_FIELD(struct told, address, "address", .flags = MR_NULLABLE),
	MR_MEMBERS(struct told, notice, struct mr_ledger_notice, mr_shape_ledger_notice_fields),
	{ 0 },
};

static const struct mr_field fields[] = {
	MR_FIELD(struct listed, schema_version, "schema_version"),
	MR_FIELD_ROWS(struct listed, items, len, struct told, told_fields, "notices",
		.summary = "the newest first"),
	MR_FIELD(struct listed, problems, "problems",
		.summary = "agents whose wake-ups cannot be read, and why"),
	{ 0 },
};

static void add(struct mr_call *call, struct listed *out, const struct told *one)
{
	if (out->len == out->room) {
		struct told *more;

		out->room = out->room ? 2 * out->room : 64;
		more = mr_arena_array(call->cx.arena, out->room, sizeof(*more));
		if (out->len)
			memcpy(more, out->items, out->len * sizeof(*more));
		out->items = more;
	}
	out->items[out->len++] = *one;
}

static enum mr_code add_agent(struct mr_call *call, const struct asked *asked,
	const struct mr_mailbox_record *record, struct listed *out)
{
	struct mr_mailbox_session manifest;
	struct mr_ledger_notices notices = { NULL, 0 };
	enum mr_code rc = mr_mailbox_registry_manifest(&call->cx, record, &manifest);

	/* What is left out by its state may be newer than what is not. */
	if (!rc)
		rc = mr_notifier_notices(&call->cx, manifest.dir,
			asked->has_state ? NOTICES : asked->limit, &notices);
	for (size_t i = 0; !rc && i < notices.len; i++) {
		const struct mr_ledger_notice *notice = &notices.items[i];

		if (!asked->has_state || strcmp(notice->state, mr_ledger_states[asked->state]) == 0)
			add(call, out,
				&(struct told){ record->agent_id, record->agent_name,
					manifest.binding.address, *notice });
	}
	return rc;
}

static int newest_first(const void *a, const void *b)
{
	const struct told *one = a, *other = b;

	if (one->notice.queued_us != other->notice.queued_us)
		return one->notice.queued_us < other->notice.queued_us ? 1 : -1;
	return one->notice.id < other->notice.id ? 1 : -1;
}

static enum mr_code list(struct mr_call *call, const struct asked *asked, struct listed *out)
{
	struct mr_mailbox_place place;
	struct mr_mailbox_records records = { NULL, 0 };
	enum mr_code rc = mr_mail_session_place(call, &place);

	if (!rc)
		rc = mr_mailbox_registry_list(&call->cx, place.registry, &records);
	if (rc)
		return rc;
	out->schema_version = 1;
	out->problems.items = mr_arena_array(call->cx.arena, records.len, sizeof(char *));
	for (size_t i = 0; i < records.len; i++) {
		const struct mr_mailbox_record *record = &records.items[i];
		const char *why = record->problem;

		if (!why && add_agent(call, asked, record, out))
			why = mr_arena_strdup(call->cx.arena, call->cx.err.msg);
		if (why)
			out->problems.items[out->problems.len++] = mr_arena_printf(call->cx.arena,
				"%s: %s",
				record->agent_name ? record->agent_name : record->agent_id, why);
	}
	call->cx.err = (struct mr_err){ 0 };
	if (out->len)
		qsort(out->items, out->len, sizeof(*out->items), newest_first);
	if (out->len > (size_t)asked->limit)
		out->len = (size_t)asked->limit;
	return MR_OK;
}
MR_BIND_ALONE(listing, list, struct asked, struct listed);

const struct mr_op mr_op_agents_notices = {
	.name = "agents_notices",
	.command = "agents notices",
	.summary =
		"List when the agents of this machine were told of their mail, and how that went",
	.params = params,
	.result = fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &listing,
	.render = mr_render_agents_notices,
};
