/* op/work/work_contact.c - operations: find contacts, show them, make them of senders. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/contact.h"
#include "workspace/extract_contact.h"

/* --- list --- */

#define LIST_PARAM(member, about)                                                                  \
	MR_PARAM(struct mr_work_contact_list, member, #member, .summary = (about))
static const struct mr_param list_params[] = {
	LIST_PARAM(group, "only contacts of this group"),
	LIST_PARAM(tag, "only contacts that have this tag"),
	LIST_PARAM(org, "only contacts of this organization"),
	LIST_PARAM(role, "only contacts that have this role"),
	{ 0 },
};

#define CONTACT_FIELD(member, about) MR_WORK_FIELD(struct mr_work_contact, member, about)
static const struct mr_field contact_fields[] = {
	CONTACT_FIELD(contact_uid, "the contact"),
	CONTACT_FIELD(display_name, "its name"),
	CONTACT_FIELD(group, "the directory below contacts/ that it is in"),
	CONTACT_FIELD(emails, "its addresses"),
	CONTACT_FIELD(phones, "its telephone numbers"),
	CONTACT_FIELD(organization, "where the person works"),
	CONTACT_FIELD(role, "what the person does there"),
	CONTACT_FIELD(tags, "words to find it by"),
	CONTACT_FIELD(contact_path, "its card"),
	{ 0 },
};
static const struct mr_field list_fields[] = {
	MR_WORK_FIELD(struct mr_work_contact_listed, count, "how many there are"),
	MR_FIELD_ROWS(struct mr_work_contact_listed, contacts, contacts_len, struct mr_work_contact,
		contact_fields, "contacts", .summary = "sorted by uid"),
	MR_WORK_FIELD_OPT(struct mr_work_contact_listed, invalid_paths,
		"cards that could not be read and are left out"),
	{ 0 },
};
MR_WORK_BIND(listing, mr_work_contact_list, struct mr_work_contact_list,
	struct mr_work_contact_listed);

const struct mr_op mr_op_work_contact_list = {
	.name = "work_contact_list",
	.command = "work contact list",
	.summary = "List active contacts",
	.help = "Filters must all match, exactly. A card that cannot be read is named and left "
		"out.",
	.code = "contact_list",
	.params = list_params,
	.result = list_fields,
	MR_WORK_TOOL,
	.bind = &listing,
	.render = mr_render_work_contacts,
};

/* --- show --- */

static const struct mr_param show_params[] = {
	MR_WORK_CONTACT_PARAM(struct mr_work_contact_show),
	{ 0 },
};

#define CARD_FIELD(member, about) MR_WORK_FIELD(struct mr_work_card, member, about)
static const struct mr_field card_fields[] = {
	CARD_FIELD(display_name, "its name"),
	CARD_FIELD(emails, "its addresses"),
	CARD_FIELD(phones, "its telephone numbers"),
	CARD_FIELD(organization, "where the person works"),
	CARD_FIELD(role, "what the person does there"),
	CARD_FIELD(tags, "words to find it by"),
	{ 0 },
};

#define SHOW_FIELD(member, about) MR_WORK_FIELD(struct mr_work_contact_shown, member, about)
static const struct mr_field show_fields[] = {
	SHOW_FIELD(contact_uid, "the contact"),
	SHOW_FIELD(is_archived, "it is archived"),
	MR_WORK_FIELD_NULL(struct mr_work_contact_shown, group, "its group, unless it is archived"),
	SHOW_FIELD(contact_path, "its card"),
	SHOW_FIELD(content, "the whole card"),
	MR_FIELD_STRUCT(struct mr_work_contact_shown, card, struct mr_work_card, card_fields,
		"card", .flags = MR_OPTIONAL, .summary = "what it says, unless it cannot be read",
		.when = MR_FLAG(struct mr_work_contact_shown, has_card)),
	{ 0 },
};

/* What the contract of afmail does not have is left out there. */
static enum mr_code show(struct mr_call *call, struct mr_work *work,
	const struct mr_work_contact_show *request, struct mr_work_contact_shown *result)
{
	enum mr_code rc = mr_work_contact_show(&call->cx, work, request, result);

	result->has_card &= mr_contract_work_is_ours(call);
	return rc;
}
MR_WORK_BIND_CALL(showing, show, struct mr_work_contact_show, struct mr_work_contact_shown);

const struct mr_op mr_op_work_contact_show = {
	.name = "work_contact_show",
	.command = "work contact show",
	.summary = "Show the card of a contact, also of an archived one",
	.code = "contact_show",
	.params = show_params,
	.result = show_fields,
	MR_WORK_TOOL,
	.bind = &showing,
	.render = mr_render_work_contact,
};

/* --- notes --- */

static const struct mr_field notes_fields[] = {
	MR_WORK_FIELD(struct mr_work_contact_notes, contact_uid, "the contact"),
	MR_WORK_FIELD(struct mr_work_contact_notes, notes, "the text below the card's head"),
	{ 0 },
};
MR_WORK_BIND(reading_notes, mr_work_contact_notes_show, struct mr_work_contact_show,
	struct mr_work_contact_notes);

const struct mr_op mr_op_work_contact_notes_show = {
	.name = "work_contact_notes_show",
	.command = "work contact notes show",
	.summary = "Show the notes on a contact, also on an archived one",
	.code = "contact_notes_show",
	.params = show_params,
	.result = notes_fields,
	MR_WORK_TOOL,
	.bind = &reading_notes,
	.render = mr_render_work_contact_notes,
};

/* --- extract --- */

static const struct mr_param extract_params[] = {
	MR_PARAM(struct mr_work_contact_sources, from_triage, "from_triage",
		.summary = "of the messages in triage; so it is without an option"),
	MR_PARAM(struct mr_work_contact_sources, from_case, "from_case",
		.summary = "of the messages in this case"),
	MR_PARAM(struct mr_work_contact_sources, all, "all",
		.summary = "of the messages in triage and in all cases"),
	MR_PARAM(struct mr_work_contact_sources, group, "group",
		.summary = "the group of the new contacts", .fallback = "contact.default_group"),
	{ 0 },
};

#define EXTRACT_FIELD(member, about) MR_WORK_FIELD(struct mr_work_contact_extracted, member, about)
static const struct mr_field extract_fields[] = {
	EXTRACT_FIELD(created_count, "contacts that were made"),
	EXTRACT_FIELD(skipped_count, "messages whose sender was a contact already"),
	EXTRACT_FIELD(created_uids, "the new contacts"),
	{ 0 },
};

static enum mr_code extract(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_contact_sources *request, struct mr_work_contact_extracted *result)
{
	if (request->from_triage + (request->from_case != NULL) + request->all > 1)
		return mr_err_set(&cx->err, MR_EINVAL,
			"--from-triage, --from-case and --all exclude each other");
	return mr_work_contact_extract_from(cx, work, request, result);
}
MR_WORK_BIND(extracting, extract, struct mr_work_contact_sources, struct mr_work_contact_extracted);

const struct mr_op mr_op_work_contact_extract = {
	.name = "work_contact_extract",
	.command = "work contact extract",
	.summary = "Make contacts of the people who wrote",
	.help = "Each sender who is no contact yet becomes one, in the order of the messages. Our "
		"own addresses are left out.",
	.code = "contact_extract",
	.params = extract_params,
	.result = extract_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &extracting,
	.render = mr_render_work_contact_extracted,
};
