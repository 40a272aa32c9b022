/* op/work/work_contact_change.c - operations: make, change, archive and delete contacts. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/edit_contact.h"

/* --- create --- */

#define CREATE_PARAM(member, about)                                                                \
	MR_PARAM(struct mr_work_contact_create, member, #member, .summary = (about))
static const struct mr_param create_params[] = {
	MR_PARAM(struct mr_work_contact_create, name, "name", .flags = MR_REQUIRED,
		.summary = "the name of the person or organization"),
	MR_PARAM(struct mr_work_contact_create, group, "group",
		.summary = "the directory below contacts/ that it is in",
		.fallback = "contact.default_group"),
	CREATE_PARAM(email, "an address; may be repeated"),
	CREATE_PARAM(phone, "a telephone number; may be repeated"),
	CREATE_PARAM(org, "where the person works"),
	CREATE_PARAM(role, "what the person does there"),
	CREATE_PARAM(tag, "a word to find it by; may be repeated"),
	{ 0 },
};

#define CREATE_FIELD(member, about) MR_WORK_FIELD(struct mr_work_contact_created, member, about)
static const struct mr_field create_fields[] = {
	CREATE_FIELD(contact_uid, "the new contact"),
	CREATE_FIELD(display_name, "its name"),
	CREATE_FIELD(group, "its group"),
	CREATE_FIELD(emails, "its addresses, in lower case"),
	CREATE_FIELD(contact_path, "its card"),
	{ 0 },
};
MR_WORK_BIND(creating, mr_work_contact_create, struct mr_work_contact_create,
	struct mr_work_contact_created);

const struct mr_op mr_op_work_contact_create = {
	.name = "work_contact_create",
	.command = "work contact create",
	.summary = "Make a contact",
	.help = "An address belongs to one contact only, active or archived.",
	.code = "contact_created",
	.params = create_params,
	.result = create_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &creating,
	.render = mr_render_work_contact_created,
};

/* --- move, rename --- */

static const struct mr_param move_params[] = {
	MR_WORK_CONTACT_PARAM(struct mr_work_contact_move),
	MR_PARAM(struct mr_work_contact_move, group, "group", .flags = MR_REQUIRED,
		.summary = "its new group"),
	{ 0 },
};
static const struct mr_field move_fields[] = {
	MR_WORK_FIELD(struct mr_work_contact_moved, contact_uid, "the contact"),
	MR_WORK_FIELD(struct mr_work_contact_moved, group, "its group"),
	MR_WORK_FIELD(struct mr_work_contact_moved, contact_path, "its card"),
	MR_WORK_FIELD(struct mr_work_contact_moved, changed, "it was in another group before"),
	{ 0 },
};
MR_WORK_BIND(moving, mr_work_contact_move, struct mr_work_contact_move,
	struct mr_work_contact_moved);

const struct mr_op mr_op_work_contact_move = {
	.name = "work_contact_move",
	.command = "work contact move",
	.summary = "Move a contact into another group",
	.code = "contact_moved",
	.params = move_params,
	.result = move_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &moving,
	.render = mr_render_work_contact_moved,
};

static const struct mr_param rename_params[] = {
	MR_WORK_CONTACT_PARAM(struct mr_work_contact_rename),
	MR_PARAM(struct mr_work_contact_rename, name, "name", .flags = MR_REQUIRED,
		.summary = "its new name"),
	{ 0 },
};
static const struct mr_field rename_fields[] = {
	MR_WORK_FIELD(struct mr_work_contact_renamed, contact_uid, "the contact"),
	MR_WORK_FIELD(struct mr_work_contact_renamed, display_name, "its name"),
	MR_WORK_FIELD(struct mr_work_contact_renamed, group, "its group"),
	MR_WORK_FIELD(struct mr_work_contact_renamed, contact_path, "its card"),
	{ 0 },
};
MR_WORK_BIND(renaming, mr_work_contact_rename, struct mr_work_contact_rename,
	struct mr_work_contact_renamed);

const struct mr_op mr_op_work_contact_rename = {
	.name = "work_contact_rename",
	.command = "work contact rename",
	.summary = "Give a contact another name",
	.code = "contact_renamed",
	.params = rename_params,
	.result = rename_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &renaming,
	.render = mr_render_work_contact_renamed,
};

/* --- addresses, telephone numbers, tags --- */

static const struct mr_param email_params[] = {
	MR_WORK_CONTACT_PARAM(struct mr_work_contact_email),
	MR_PARAM(struct mr_work_contact_email, email, "email", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the address"),
	{ 0 },
};
static const struct mr_field email_fields[] = {
	MR_WORK_FIELD(struct mr_work_contact_emailed, contact_uid, "the contact"),
	MR_WORK_FIELD(struct mr_work_contact_emailed, email, "the address, in lower case"),
	MR_WORK_FIELD(struct mr_work_contact_emailed, emails, "all addresses that it has now"),
	{ 0 },
};
MR_WORK_BIND(adding_email, mr_work_contact_email_add, struct mr_work_contact_email,
	struct mr_work_contact_emailed);
MR_WORK_BIND(removing_email, mr_work_contact_email_remove, struct mr_work_contact_email,
	struct mr_work_contact_emailed);

const struct mr_op mr_op_work_contact_email_add = {
	.name = "work_contact_email_add",
	.command = "work contact email add",
	.summary = "Add an address to a contact",
	.code = "contact_email_added",
	.params = email_params,
	.result = email_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &adding_email,
	.render = mr_render_work_contact_emails,
};

const struct mr_op mr_op_work_contact_email_remove = {
	.name = "work_contact_email_remove",
	.command = "work contact email remove",
	.summary = "Remove an address from a contact",
	.code = "contact_email_removed",
	.params = email_params,
	.result = email_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &removing_email,
	.render = mr_render_work_contact_emails,
};

static const struct mr_param phone_params[] = {
	MR_WORK_CONTACT_PARAM(struct mr_work_contact_phone),
	MR_PARAM(struct mr_work_contact_phone, phone, "phone", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the telephone number"),
	{ 0 },
};
static const struct mr_field phone_fields[] = {
	MR_WORK_FIELD(struct mr_work_contact_phoned, contact_uid, "the contact"),
	MR_WORK_FIELD(struct mr_work_contact_phoned, phone, "the telephone number"),
	MR_WORK_FIELD(struct mr_work_contact_phoned, phones, "all numbers that it has now"),
	{ 0 },
};
MR_WORK_BIND(adding_phone, mr_work_contact_phone_add, struct mr_work_contact_phone,
	struct mr_work_contact_phoned);
MR_WORK_BIND(removing_phone, mr_work_contact_phone_remove, struct mr_work_contact_phone,
	struct mr_work_contact_phoned);

const struct mr_op mr_op_work_contact_phone_add = {
	.name = "work_contact_phone_add",
	.command = "work contact phone add",
	.summary = "Add a telephone number to a contact",
	.code = "contact_phone_added",
	.params = phone_params,
	.result = phone_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &adding_phone,
	.render = mr_render_work_contact_phones,
};

const struct mr_op mr_op_work_contact_phone_remove = {
	.name = "work_contact_phone_remove",
	.command = "work contact phone remove",
	.summary = "Remove a telephone number from a contact",
	.code = "contact_phone_removed",
	.params = phone_params,
	.result = phone_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &removing_phone,
	.render = mr_render_work_contact_phones,
};

static const struct mr_param tag_params[] = {
	MR_WORK_CONTACT_PARAM(struct mr_work_contact_tag),
	MR_PARAM(struct mr_work_contact_tag, tag, "tag", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the tag"),
	{ 0 },
};
static const struct mr_field tag_fields[] = {
	MR_WORK_FIELD(struct mr_work_contact_tagged, contact_uid, "the contact"),
	MR_WORK_FIELD(struct mr_work_contact_tagged, tag, "the tag"),
	MR_WORK_FIELD(struct mr_work_contact_tagged, tags, "all tags that it has now"),
	{ 0 },
};
MR_WORK_BIND(tagging, mr_work_contact_tag, struct mr_work_contact_tag,
	struct mr_work_contact_tagged);
MR_WORK_BIND(untagging, mr_work_contact_untag, struct mr_work_contact_tag,
	struct mr_work_contact_tagged);

const struct mr_op mr_op_work_contact_tag = {
	.name = "work_contact_tag",
	.command = "work contact tag",
	.summary = "Add a tag to a contact",
	.code = "contact_tagged",
	.params = tag_params,
	.result = tag_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &tagging,
	.render = mr_render_work_contact_tags,
};

const struct mr_op mr_op_work_contact_untag = {
	.name = "work_contact_untag",
	.command = "work contact untag",
	.summary = "Remove a tag from a contact",
	.code = "contact_untagged",
	.params = tag_params,
	.result = tag_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &untagging,
	.render = mr_render_work_contact_tags,
};

/* --- notes --- */

static const struct mr_param notes_params[] = {
	MR_WORK_CONTACT_PARAM(struct mr_work_contact_write),
	MR_PARAM(struct mr_work_contact_write, text, "text", .flags = MR_REQUIRED | MR_BODY,
		.summary = "the text, in Markdown"),
	{ 0 },
};
static const struct mr_field notes_fields[] = {
	MR_WORK_FIELD(struct mr_work_contact_written, contact_uid, "the contact"),
	{ 0 },
};
MR_WORK_BIND(appending_notes, mr_work_contact_notes_append, struct mr_work_contact_write,
	struct mr_work_contact_written);
MR_WORK_BIND(replacing_notes, mr_work_contact_notes_replace, struct mr_work_contact_write,
	struct mr_work_contact_written);

const struct mr_op mr_op_work_contact_notes_append = {
	.name = "work_contact_notes_append",
	.command = "work contact notes append",
	.summary = "Add to the notes on a contact",
	.code = "contact_notes_appended",
	.params = notes_params,
	.result = notes_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &appending_notes,
	.render = mr_render_work_contact_noted,
};

const struct mr_op mr_op_work_contact_notes_replace = {
	.name = "work_contact_notes_replace",
	.command = "work contact notes replace",
	.summary = "Write the notes on a contact anew",
	.code = "contact_notes_replaced",
	.params = notes_params,
	.result = notes_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT | MR_DESTRUCTIVE),
	.bind = &replacing_notes,
	.render = mr_render_work_contact_noted,
};

/* --- archive, reopen, delete --- */

static const struct mr_param end_params[] = {
	MR_WORK_CONTACT_PARAM(struct mr_work_contact_end),
	MR_WORK_REASON_PARAM(struct mr_work_contact_end),
	{ 0 },
};
static const struct mr_field end_fields[] = {
	MR_WORK_FIELD(struct mr_work_contact_ended, contact_uid, "the contact"),
	MR_WORK_FIELD(struct mr_work_contact_ended, contact_path, "its card"),
	{ 0 },
};
MR_WORK_BIND(archiving, mr_work_contact_archive, struct mr_work_contact_end,
	struct mr_work_contact_ended);
MR_WORK_BIND(deleting, mr_work_contact_delete, struct mr_work_contact_end,
	struct mr_work_contact_ended);

const struct mr_op mr_op_work_contact_archive = {
	.name = "work_contact_archive",
	.command = "work contact archive",
	.summary = "Put a contact into the archive",
	.help = "It keeps its addresses: messages from them still show its name.",
	.code = "contact_archived",
	.params = end_params,
	.result = end_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &archiving,
	.render = mr_render_work_contact_archived,
};

const struct mr_op mr_op_work_contact_delete = {
	.name = "work_contact_delete",
	.command = "work contact delete",
	.summary = "Delete a contact, active or archived, with its notes",
	.code = "contact_deleted",
	.params = end_params,
	.result = end_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_DESTRUCTIVE),
	.bind = &deleting,
	.render = mr_render_work_contact_deleted,
};

static const struct mr_param reopen_params[] = {
	MR_WORK_CONTACT_PARAM(struct mr_work_contact_reopen),
	MR_PARAM(struct mr_work_contact_reopen, group, "group", .summary = "the group that it gets",
		.fallback = "contact.default_group"),
	MR_WORK_REASON_PARAM(struct mr_work_contact_reopen),
	{ 0 },
};
static const struct mr_field reopen_fields[] = {
	MR_WORK_FIELD(struct mr_work_contact_reopened, contact_uid, "the contact"),
	MR_WORK_FIELD(struct mr_work_contact_reopened, group, "its group"),
	MR_WORK_FIELD(struct mr_work_contact_reopened, contact_path, "its card"),
	{ 0 },
};
MR_WORK_BIND(reopening, mr_work_contact_reopen, struct mr_work_contact_reopen,
	struct mr_work_contact_reopened);

const struct mr_op mr_op_work_contact_reopen = {
	.name = "work_contact_reopen",
	.command = "work contact reopen",
	.summary = "Bring a contact back from the archive",
	.code = "contact_reopened",
	.params = reopen_params,
	.result = reopen_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &reopening,
	.render = mr_render_work_contact_reopened,
};
