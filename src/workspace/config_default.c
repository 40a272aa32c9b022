/* workspace/config_default.c - the configuration of a new workspace, and how one is written. */
#include "text/json.h"
#include "workspace/config_private.h"
#include "workspace/offset.h"

#include <stdlib.h>

/* The keys are sorted, as in every document that init writes. */
static const char fresh[] =
	"{"
	"\"actions\":{"
	"\"case.add\":{\"steps\":[]},"
	"\"draft.save\":{\"steps\":[{\"append_to_mailbox_id\":\"drafts\"}]},"
	"\"draft.send\":{\"steps\":["
	"{\"smtp_send\":{}},"
	"{\"append_to_mailbox_id\":\"sent\"},"
	"{\"add_flags\":[\"\\\\Seen\",\"\\\\Answered\"],\"on\":\"reply_to_message\"}]},"
	"\"message.archive\":{\"by_source_mailbox_id\":{"
	"\"archive\":{\"steps\":[]},"
	"\"drafts\":{\"steps\":[]},"
	"\"inbox\":{\"steps\":[{\"move_to_mailbox_id\":\"archive\"}]},"
	"\"junk\":{\"steps\":[]},"
	"\"sent\":{\"steps\":[]},"
	"\"trash\":{\"steps\":[]}}},"
	"\"message.spam\":{\"steps\":["
	"{\"add_flags\":[\"\\\\Seen\",\"$Junk\"]},"
	"{\"move_to_mailbox_id\":\"junk\"}]},"
	"\"message.trash\":{\"steps\":[{\"move_to_mailbox_id\":\"trash\"}]},"
	"\"pull\":{\"by_mailbox_id\":{"
	"\"archive\":{\"direction\":\"inbound\",\"import_as\":\"triage\"},"
	"\"drafts\":{\"direction\":\"outbound\",\"import_as\":\"triage\"},"
	"\"inbox\":{\"direction\":\"inbound\",\"import_as\":\"triage\"},"
	"\"junk\":{\"direction\":\"inbound\",\"import_as\":\"spam\"},"
	"\"sent\":{\"direction\":\"outbound\",\"import_as\":\"triage\"},"
	"\"trash\":{\"direction\":\"inbound\",\"import_as\":\"trashed\"}},"
	"\"default_mailbox_ids\":[\"inbox\",\"sent\",\"archive\",\"junk\",\"trash\"]}},"
	"\"archive\":{\"message_index\":{\"item_fields\":[\"time\",\"from\",\"summary\"],"
	"\"sort\":\"date_desc\"}},"
	"\"audit\":{\"reason_mode\":\"required\"},"
	"\"case\":{\"default_group\":\"open\"},"
	"\"contact\":{\"default_group\":\"people\"},"
	"\"identities\":[{\"default\":true,\"email\":\"" MR_WORK_EXAMPLE_EMAIL "\","
	"\"identity\":\"me\",\"name\":\"" MR_WORK_EXAMPLE_NAME "\"}],"
	"\"imap\":{\"host\":null,\"password_secret\":null,\"password_secret_env\":null,"
	"\"port\":993,\"tls\":true,\"username\":null},"
	"\"mailboxes\":{"
	"\"archive\":{\"mailbox_name\":null,\"special_use\":\"\\\\Archive\"},"
	"\"drafts\":{\"mailbox_name\":null,\"special_use\":\"\\\\Drafts\"},"
	"\"inbox\":{\"mailbox_name\":\"INBOX\",\"special_use\":null},"
	"\"junk\":{\"mailbox_name\":null,\"special_use\":\"\\\\Junk\"},"
	"\"sent\":{\"mailbox_name\":null,\"special_use\":\"\\\\Sent\"},"
	"\"trash\":{\"mailbox_name\":null,\"special_use\":\"\\\\Trash\"}},"
	"\"schema_name\":\"config\",\"schema_version\":1,"
	"\"smtp\":{\"host\":null,\"password_secret\":null,\"password_secret_env\":null,"
	"\"port\":587,\"starttls\":true,\"tls_wrapper\":false,\"username\":null},"
	"\"workspace\":{\"language_bcp47\":null,\"timezone_utc_offset\":\"%s\"}}";

const struct mr_value *mr_work_config_default(struct mr_ctx *cx, int offset_minutes)
{
	const char *text =
		mr_arena_printf(cx->arena, fresh, mr_work_offset_text(cx->arena, offset_minutes));
	const struct mr_value *value;
	struct mr_err err = { 0 };

	if (mr_json_parse(cx->arena, mr_bytes_text(text), NULL, &value, &err))
		abort(); /* it is a constant */
	return value;
}

/* --- the document of a configuration that was read --- */

static void write_steps(struct mr_out *out, const char *key,
	const struct mr_work_action_steps *steps)
{
	mr_out_map(out, key);
	mr_out_value(out, "steps", steps->document);
	mr_out_end(out);
}

static void write_archive_rules(struct mr_out *out, const struct mr_work_config *config)
{
	mr_out_map(out, "message.archive");
	mr_out_map(out, "by_source_mailbox_id");
	for (size_t i = 0; i < config->mailbox_count; i++)
		if (config->mailboxes[i].archive.document)
			write_steps(out, config->mailboxes[i].id, &config->mailboxes[i].archive);
	mr_out_end(out);
	mr_out_end(out);
}

static void write_pull(struct mr_out *out, const struct mr_work_config *config)
{
	mr_out_map(out, "pull");
	mr_out_map(out, "by_mailbox_id");
	for (size_t i = 0; i < config->mailbox_count; i++) {
		const struct mr_work_mailbox *mailbox = &config->mailboxes[i];

		if (!mailbox->is_pulled)
			continue;
		mr_out_map(out, mailbox->id);
		mr_out_text(out, "direction", mr_work_direction_names[mailbox->direction]);
		mr_out_text(out, "import_as", mr_work_import_as_names[mailbox->import_as]);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_texts(out, "default_mailbox_ids", &config->default_mailbox_ids);
	mr_out_end(out);
}

static void write_actions(struct mr_out *out, const struct mr_work_config *config)
{
	mr_out_map(out, "actions");
	write_steps(out, "case.add", &config->case_add);
	write_steps(out, "draft.save", &config->draft_save);
	write_steps(out, "draft.send", &config->draft_send);
	write_archive_rules(out, config);
	write_steps(out, "message.spam", &config->message_spam);
	write_steps(out, "message.trash", &config->message_trash);
	write_pull(out, config);
	mr_out_end(out);
}

static void write_group(struct mr_out *out, const char *section, const char *group)
{
	mr_out_map(out, section);
	mr_out_text(out, "default_group", group);
	mr_out_end(out);
}

static void write_archive_and_audit(struct mr_out *out, const struct mr_work_config *config)
{
	mr_out_map(out, "archive");
	mr_out_map(out, "message_index");
	mr_out_texts(out, "item_fields", &config->item_fields);
	mr_out_text(out, "sort", "date_desc");
	mr_out_end(out);
	mr_out_end(out);
	mr_out_map(out, "audit");
	/* Other programs know nothing of it: it is there when it is asked for. */
	if (config->approval_required)
		mr_out_text(out, "approval_mode", mr_work_reason_mode_names[0]);
	mr_out_text(out, "reason_mode", mr_work_reason_mode_names[!config->reason_required]);
	mr_out_end(out);
}

static void write_identities(struct mr_out *out, const struct mr_work_config *config)
{
	mr_out_list(out, "identities");
	for (size_t i = 0; i < config->identity_count; i++) {
		const struct mr_work_identity *identity = &config->identities[i];

		mr_out_map(out, NULL);
		mr_out_bool(out, "default", identity->is_default);
		mr_out_text(out, "email", identity->email);
		mr_out_text(out, "identity", identity->identity);
		mr_out_text(out, "name", identity->config_name);
		mr_out_end(out);
	}
	mr_out_end(out);
}

static void write_mailboxes(struct mr_out *out, const struct mr_work_config *config)
{
	mr_out_map(out, "mailboxes");
	for (size_t i = 0; i < config->mailbox_count; i++) {
		mr_out_map(out, config->mailboxes[i].id);
		mr_out_text(out, "mailbox_name", config->mailboxes[i].mailbox_name);
		mr_out_text(out, "special_use", config->mailboxes[i].special_use);
		mr_out_end(out);
	}
	mr_out_end(out);
}

const struct mr_value *mr_work_config_document(struct mr_ctx *cx,
	const struct mr_work_config *config)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	write_actions(&out, config);
	write_archive_and_audit(&out, config);
	write_group(&out, "case", config->case_group);
	write_group(&out, "contact", config->contact_group);
	write_identities(&out, config);
	mr_work_imap_write(&out, &config->imap);
	write_mailboxes(&out, config);
	mr_out_text(&out, "schema_name", "config");
	mr_out_int(&out, "schema_version", 1);
	mr_work_smtp_write(&out, &config->smtp);
	mr_out_map(&out, "workspace");
	mr_out_text(&out, "language_bcp47", config->language_bcp47);
	mr_out_text(&out, "timezone_utc_offset", config->timezone_utc_offset);
	mr_out_end(&out);
	mr_out_end(&out);
	return mr_out_tree(&out);
}
