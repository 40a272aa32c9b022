/* tests/unit/workspace/test_work_config.c */
#include "workspace/config.h"

#include "files.h"
#include "test.h"
#include "text/json.h"
#include "workspace/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mr_clock_fixed fixed;
static struct mr_ctx cx;

static void begin(void)
{
	mr_clock_fixed_init(&fixed, INT64_C(1767225600000000)); /* 2026-01-01T00:00:00Z */
	cx = (struct mr_ctx){ .arena = mr_arena_new(), .clock = &fixed.clock };
	setenv("TZ", "UTC", 1);
}

static void end(void)
{
	mr_arena_free(cx.arena);
}

static const struct mr_value *json(const char *text)
{
	const struct mr_value *value;
	struct mr_err err;

	CHECK_OK(mr_json_parse(cx.arena, mr_bytes_text(text), NULL, &value, &err), err);
	return value;
}

static const char *text_of(const struct mr_value *value)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer writer;

	mr_buf_init(&buf, 1 << 20);
	mr_json_init(&writer, &buf, MR_JSON_COMPACT | MR_JSON_SORTED);
	mr_json_value(&writer, value);
	return mr_arena_strdup(cx.arena, mr_buf_text(&buf));
}

/* The default document as text with its first `old` replaced by `new`. */
static const struct mr_value *with(const char *old, const char *new)
{
	const char *text = text_of(mr_work_config_default(&cx, 0));
	const char *at = strstr(text, old);

	if (!at)
		test_fail(__FILE__, __LINE__, "no %s in %s", old, text);
	return json(mr_arena_printf(cx.arena, "%.*s%s%s", (int)(at - text), text, new,
		at + strlen(old)));
}

static void refuses(const struct mr_value *document, const char *message)
{
	struct mr_work_config *config;

	CHECK_INT(mr_work_config_read(&cx, document, &config), MR_EINVAL);
	CHECK_STR(cx.err.word, "config_invalid");
	CHECK_STR(cx.err.msg, message);
	CHECK(mr_work_trouble(&cx.err)->hint);
}

static void a_new_configuration_is_as_recorded(void)
{
	struct mr_work_config *config;

	begin();
	CHECK_STR(text_of(mr_work_config_default(&cx, 0)),
		"{\"actions\":{\"case.add\":{\"steps\":[]},\"draft.save\":{\"steps\":[{\"append_to_"
		"mailbox_id\":\"drafts\"}]},\"draft.send\":{\"steps\":[{\"smtp_send\":{}},{"
		"\"append_to_mailbox_id\":\"sent\"},{\"add_flags\":[\"\\\\Seen\",\"\\\\Answered\"],"
		"\"on\":\"reply_to_message\"}]},\"message.archive\":{\"by_source_mailbox_id\":{"
		"\"archive\":{\"steps\":[]},\"drafts\":{\"steps\":[]},\"inbox\":{\"steps\":[{"
		"\"move_to_mailbox_id\":\"archive\"}]},\"junk\":{\"steps\":[]},\"sent\":{\"steps\":"
		"[]},\"trash\":{\"steps\":[]}}},\"message.spam\":{\"steps\":[{\"add_flags\":["
		"\"\\\\Seen\",\"$Junk\"]},{\"move_to_mailbox_id\":\"junk\"}]},\"message.trash\":{"
		"\"steps\":[{\"move_to_mailbox_id\":\"trash\"}]},\"pull\":{\"by_mailbox_id\":{"
		"\"archive\":{\"direction\":\"inbound\",\"import_as\":\"triage\"},\"drafts\":{"
		"\"direction\":\"outbound\",\"import_as\":\"triage\"},\"inbox\":{\"direction\":"
		"\"inbound\",\"import_as\":\"triage\"},\"junk\":{\"direction\":\"inbound\","
		"\"import_as\":\"spam\"},\"sent\":{\"direction\":\"outbound\",\"import_as\":"
		"\"triage\"},\"trash\":{\"direction\":\"inbound\",\"import_as\":\"trashed\"}},"
		"\"default_mailbox_ids\":[\"inbox\",\"sent\",\"archive\",\"junk\",\"trash\"]}},"
		"\"archive\":{\"message_index\":{\"item_fields\":[\"time\",\"from\",\"summary\"],"
		"\"sort\":\"date_desc\"}},\"audit\":{\"reason_mode\":\"required\"},\"case\":{"
		"\"default_group\":\"open\"},\"contact\":{\"default_group\":\"people\"},"
		"\"identities\":[{\"default\":true,\"email\":\"me@example.com\",\"identity\":"
		"\"me\","
		"\"name\":\"Me\"}],\"imap\":{\"host\":null,\"password_secret\":null,\"password_"
		"secret_env\":null,\"port\":993,\"tls\":true,\"username\":null},\"mailboxes\":{"
		"\"archive\":{\"mailbox_name\":null,\"special_use\":\"\\\\Archive\"},\"drafts\":{"
		"\"mailbox_name\":null,\"special_use\":\"\\\\Drafts\"},\"inbox\":{\"mailbox_name\":"
		"\"INBOX\",\"special_use\":null},\"junk\":{\"mailbox_name\":null,\"special_use\":"
		"\"\\\\Junk\"},\"sent\":{\"mailbox_name\":null,\"special_use\":\"\\\\Sent\"},"
		"\"trash\":{\"mailbox_name\":null,\"special_use\":\"\\\\Trash\"}},\"schema_name\":"
		"\"config\",\"schema_version\":1,\"smtp\":{\"host\":null,\"password_secret\":null,"
		"\"password_secret_env\":null,\"port\":587,\"starttls\":true,\"tls_wrapper\":false,"
		"\"username\":null},\"workspace\":{\"language_bcp47\":null,\"timezone_utc_offset\":"
		"\"UTC\"}}");
	CHECK_OK(mr_work_config_read(&cx, mr_work_config_default(&cx, 330), &config), cx.err);
	CHECK(mr_value_equal(config->document, mr_work_config_default(&cx, 330)));
	CHECK_STR(config->timezone_utc_offset, "+05:30");
	CHECK_INT(config->offset_minutes, 330);
	CHECK_INT(config->language, MR_WORK_EN_US);
	CHECK_INT(config->identity_count, 1);
	CHECK_INT(config->mailbox_count, 6);
	CHECK_INT(config->default_mailbox_ids.len, 5);
	CHECK_INT(mr_work_find_mailbox(config, "trash")->import_as, MR_WORK_AS_TRASHED);
	CHECK_INT(mr_work_find_mailbox(config, "sent")->direction, MR_WORK_OUTBOUND);
	CHECK_INT(mr_work_find_mailbox(config, "inbox")->archive.len, 1);
	CHECK(!mr_work_find_mailbox(config, "nope"));
	CHECK_INT(config->draft_send.len, 3);
	CHECK(config->draft_send.items[2].on_reply_to_message);
	CHECK(config->reason_required && config->imap.tls && config->smtp.starttls);
	CHECK_INT(config->imap.port, 993);
	CHECK_INT(config->smtp.port, 587);
	end();
}

static void members_left_out_have_defaults(void)
{
	static const char text[] =
		"{\"schema_name\":\"config\",\"schema_version\":1,\"workspace\":{},\"imap\":{},"
		"\"smtp\":{},\"audit\":{},\"mailboxes\":{},\"identities\":[{\"identity\":\"a\","
		"\"name\":\"A\",\"email\":\"a@x.org\",\"default\":true},{\"identity\":\"b\","
		"\"name\":\"B\",\"email\":\"A@X.org\"}],\"actions\":{\"case.add\":{\"steps\":[]},"
		"\"draft.save\":{\"steps\":[]},\"draft.send\":{\"steps\":[]},\"message.spam\":{"
		"\"steps\":[]},\"message.trash\":{\"steps\":[]},\"message.archive\":{\"by_source_"
		"mailbox_id\":{}},\"pull\":{\"by_mailbox_id\":{},\"default_mailbox_ids\":[]}}}";
	struct mr_work_config *config, *again;

	begin();
	CHECK_OK(mr_work_config_read(&cx, json(text), &config), cx.err);
	CHECK(!config->timezone_utc_offset && !config->language_bcp47);
	CHECK_INT(config->offset_minutes, 0);
	CHECK_STR(config->case_group, "open");
	CHECK_STR(config->contact_group, "people");
	CHECK_INT(config->item_fields.len, 3);
	CHECK(config->reason_required);
	CHECK(!config->identities[1].is_default);
	CHECK_INT(mr_value_get(mr_value_get(config->document, "smtp"), "port")->integer, 587);
	CHECK_OK(mr_work_config_read(&cx, config->document, &again), cx.err);
	CHECK(mr_value_equal(config->document, again->document));
	end();
}

static void the_whole_document_is_checked(void)
{
	static const struct {
		const char *old, *new, *message;
	} cases[] = {
		{ "\"schema_version\":1", "\"schema_version\":2",
			".afmail/config.json does not have schema_name \"config\" and "
			"schema_version 1" },
		{ "\"schema_version\":1,", "\"schema_version\":1,\"extra\":1,",
			".afmail/config.json: $.extra: is not known" },
		{ "\"schema_version\":1,", "\"schema_version\":1,\"imap_host\":\"h\",",
			".afmail/config.json has the member 'imap_host' of an older version" },
		{ "\"schema_version\":1,", "\"schema_version\":1,\"timezone\":null,",
			".afmail/config.json has the member 'timezone' of an older version" },
		{ "\"tls_wrapper\":false,", "\"from\":\"Me <me@example.com>\",",
			".afmail/config.json: $.smtp.from: is not known" },
		{ "\"language_bcp47\":null", "\"language_bcp47\":\"e\"",
			".afmail/config.json: $.workspace.language_bcp47: must be a language tag "
			"such as en-US, not 'e'" },
		{ "\"language_bcp47\":null", "\"language_bcp47\":\"en-\"",
			".afmail/config.json: $.workspace.language_bcp47: must be a language tag "
			"such as en-US, not 'en-'" },
		{ "\"language_bcp47\":null", "\"language_bcp47\":\" en\"",
			".afmail/config.json: $.workspace.language_bcp47: must be a language tag "
			"such as en-US, not ' en'" },
		{ "offset\":\"UTC\"", "offset\":\"+00:00\"",
			".afmail/config.json: $.workspace.timezone_utc_offset: must be UTC or an "
			"offset such as +05:30, not '+00:00'" },
		{ "offset\":\"UTC\"", "offset\":\"Asia/Shanghai\"",
			".afmail/config.json: $.workspace.timezone_utc_offset: must be UTC or an "
			"offset such as +05:30, not 'Asia/Shanghai'" },
		{ "\"default\":true", "\"default\":false",
			".afmail/config.json: $.identities: must have exactly one identity with "
			"default true, not 0" },
		{ "[{\"default\":true",
			"[{\"default\":true,\"email\":\"x@y\",\"identity\":\"x\",\"name\":\"X\"},{"
			"\"default\":true",
			".afmail/config.json: $.identities: must have exactly one identity with "
			"default true, not 2" },
		{ "[{\"default\":true",
			"[{\"email\":\"x@y\",\"identity\":\"me\",\"name\":\"X\"},{\"default\":true",
			".afmail/config.json: $.identities: must not have the identity 'me' "
			"twice" },
		{ "[{\"default\":true,\"email\":\"me@example.com\",\"identity\":\"me\",\"name\":"
		  "\"Me\"}]",
			"[]",
			".afmail/config.json: $.identities: must have between 1 and 1000 "
			"identities" },
		{ "\"identity\":\"me\"", "\"identity\":\"m e\"",
			".afmail/config.json: $.identities[0].identity: must be letters, digits, "
			"'_' and '-', not 'm e'" },
		{ "\"name\":\"Me\"", "\"name\":\" \"",
			".afmail/config.json: $.identities[0].name: must not be blank" },
		{ "me@example.com", "me@",
			".afmail/config.json: $.identities[0].email: must be an email address, not "
			"'me@'" },
		{ "me@example.com", "Me <me@example.com>",
			".afmail/config.json: $.identities[0].email: must be an email address, not "
			"'Me <me@example.com>'" },
		{ "\"name\":\"Me\"", "\"name\":\"Me\",\"footer\":\"x\"",
			".afmail/config.json: $.identities[0].footer: is not known" },
		{ "\"port\":993", "\"port\":65536",
			".afmail/config.json: $.imap.port: must be between 0 and 65535" },
		{ "\"tls\":true", "\"tls\":\"yes\"",
			".afmail/config.json: $.imap.tls: must be a boolean, not string" },
		{ "\"password_secret\":null,\"password_secret_env\":null",
			"\"password_secret\":\"a\",\"password_secret_env\":\"A_SECRET\"",
			".afmail/config.json: $.imap: must not have both password_secret and "
			"password_secret_env" },
		{ "\"password_secret\":null", "\"password_secret\":\"env:A_SECRET\"",
			".afmail/config.json: $.imap.password_secret: must be the password "
			"itself; name an environment variable in password_secret_env" },
		{ "\"password_secret\":null", "\"password_secret\":\"literal:x\"",
			".afmail/config.json: $.imap.password_secret: must be the password "
			"itself; name an environment variable in password_secret_env" },
		{ "\"password_secret_env\":null", "\"password_secret_env\":\"foo\"",
			".afmail/config.json: $.imap.password_secret_env: must be upper-case "
			"letters, digits and single underscores that end in _SECRET, not 'foo'" },
		{ "\"password_secret_env\":null", "\"password_secret_env\":\"A__SECRET\"",
			".afmail/config.json: $.imap.password_secret_env: must be upper-case "
			"letters, digits and single underscores that end in _SECRET, not "
			"'A__SECRET'" },
		{ "\"password_secret_env\":null", "\"password_secret_env\":\"_SECRET\"",
			".afmail/config.json: $.imap.password_secret_env: must be upper-case "
			"letters, digits and single underscores that end in _SECRET, not "
			"'_SECRET'" },
		{ "\"mailbox_name\":\"INBOX\",\"special_use\":null",
			"\"mailbox_name\":null,\"special_use\":null",
			".afmail/config.json: $.mailboxes.inbox: must have exactly one of "
			"mailbox_name and special_use, and that not blank" },
		{ "\"mailbox_name\":\"INBOX\",\"special_use\":null",
			"\"mailbox_name\":\"INBOX\",\"special_use\":\"\\\\Inbox\"",
			".afmail/config.json: $.mailboxes.inbox: must have exactly one of "
			"mailbox_name and special_use, and that not blank" },
		{ "\"mailbox_name\":\"INBOX\"", "\"mailbox_name\":\" \"",
			".afmail/config.json: $.mailboxes.inbox: must have exactly one of "
			"mailbox_name and special_use, and that not blank" },
		{ "\"mailboxes\":{", "\"mailboxes\":{\"a b\":{\"mailbox_name\":\"x\"},",
			".afmail/config.json: $.mailboxes.a b: must have an id of letters, digits, "
			"'_' and '-'" },
		{ "[\"inbox\",", "[\"nope\",",
			".afmail/config.json: $.actions.pull.default_mailbox_ids: names the "
			"mailbox 'nope', which is not in mailboxes" },
		{ "\"inbox\":{\"direction\":\"inbound\",\"import_as\":\"triage\"},", "",
			".afmail/config.json: $.actions.pull.default_mailbox_ids: names the "
			"mailbox 'inbox', which is not in by_mailbox_id" },
		{ "\"by_mailbox_id\":{",
			"\"by_mailbox_id\":{\"x\":{\"direction\":\"inbound\",\"import_as\":"
			"\"spam\"},",
			".afmail/config.json: $.actions.pull.by_mailbox_id.x: names the mailbox "
			"'x', which is not in mailboxes" },
		{ "\"import_as\":\"spam\"", "\"import_as\":\"bogus\"",
			".afmail/config.json: $.actions.pull.by_mailbox_id.junk.import_as: must be "
			"one of: triage, spam, trashed" },
		{ "\"direction\":\"outbound\"", "\"direction\":\"sideways\"",
			".afmail/config.json: $.actions.pull.by_mailbox_id.drafts.direction: must "
			"be one of: inbound, outbound" },
		{ "\"case.add\":{\"steps\":[]},", "",
			".afmail/config.json: $.actions.case.add: is required" },
		{ "{\"move_to_mailbox_id\":\"trash\"}", "{\"move_to_mailbox_id\":\"bin\"}",
			".afmail/config.json: $.actions.message.trash.steps[0]: names the mailbox "
			"'bin', which is not in mailboxes" },
		{ "{\"append_to_mailbox_id\":\"drafts\"}", "{\"append_to_mailbox_id\":\"x\"}",
			".afmail/config.json: $.actions.draft.save.steps[0]: names the mailbox "
			"'x', which is not in mailboxes" },
		{ "\\\\Trash\"", "\\\\All\"",
			".afmail/config.json: $.actions.message.trash.steps[0]: moves to the "
			"mailbox 'trash', but no message can be moved to \\All" },
		{ "\"by_source_mailbox_id\":{", "\"by_source_mailbox_id\":{\"x\":{\"steps\":[]},",
			".afmail/config.json: $.actions.message.archive.by_source_mailbox_id.x: "
			"names the mailbox 'x', which is not in mailboxes" },
		{ "{\"smtp_send\":{}}", "{\"smtp_send\":{\"a\":1}}",
			".afmail/config.json: $.actions.draft.send.steps[0].smtp_send: must be an "
			"empty object" },
		{ "{\"smtp_send\":{}}", "{}",
			".afmail/config.json: $.actions.draft.send.steps[0]: must have exactly one "
			"of: add_flags, append_to_mailbox_id, move_to_mailbox_id, smtp_send" },
		{ "{\"smtp_send\":{}}", "{\"smtp_send\":{},\"move_to_mailbox_id\":\"sent\"}",
			".afmail/config.json: $.actions.draft.send.steps[0]: must have exactly one "
			"of: add_flags, append_to_mailbox_id, move_to_mailbox_id, smtp_send" },
		{ "[\"\\\\Seen\",\"$Junk\"]", "[]",
			".afmail/config.json: $.actions.message.spam.steps[0].add_flags: must name "
			"at least one flag" },
		{ "[\"\\\\Seen\",\"$Junk\"]", "[\" \"]",
			".afmail/config.json: $.actions.message.spam.steps[0].add_flags: must not "
			"have a blank flag" },
		{ "\"on\":\"reply_to_message\"", "\"on\":\"it\"",
			".afmail/config.json: $.actions.draft.send.steps[2].on: must be one of: "
			"reply_to_message" },
		{ "{\"smtp_send\":{}}", "{\"smtp_send\":{},\"on\":\"reply_to_message\"}",
			".afmail/config.json: $.actions.draft.send.steps[0].on: goes with "
			"add_flags only" },
		{ "\"default_group\":\"open\"", "\"default_group\":\"a/b\"",
			".afmail/config.json: $.case.default_group: must be a single path "
			"segment, not 'a/b'" },
		{ "\"default_group\":\"people\"", "\"default_group\":\"..\"",
			".afmail/config.json: $.contact.default_group: must be a single path "
			"segment, not '..'" },
		{ "[\"time\",\"from\",\"summary\"]", "[]",
			".afmail/config.json: $.archive.message_index.item_fields: must have at "
			"least one field" },
		{ "[\"time\",\"from\",\"summary\"]", "[\"size\"]",
			".afmail/config.json: $.archive.message_index.item_fields[0]: must be one "
			"of: time, from, to, subject, summary, message_id, archive_time, link" },
		{ "date_desc", "date_asc",
			".afmail/config.json: $.archive.message_index.sort: must be one of: "
			"date_desc" },
		{ "\"reason_mode\":\"required\"", "\"reason_mode\":\"never\"",
			".afmail/config.json: $.audit.reason_mode: must be one of: required, "
			"optional" },
		{ "\"audit\":{\"reason_mode\":\"required\"},", "",
			".afmail/config.json: $.audit: is required" },
	};

	begin();
	for (size_t i = 0; i < MR_LEN(cases); i++)
		refuses(with(cases[i].old, cases[i].new), cases[i].message);
	refuses(json("[]"), ".afmail/config.json is not an object");
	refuses(json("{}"),
		".afmail/config.json does not have schema_name \"config\" and schema_version 1");
	end();
}

static void sizes_are_limited(void)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	begin();
	mr_buf_init(&buf, 1 << 20);
	for (int i = 0; i < 101; i++)
		mr_buf_printf(&buf, "%s{\"smtp_send\":{}}", i ? "," : "");
	refuses(with("\"case.add\":{\"steps\":[]",
			mr_arena_printf(cx.arena, "\"case.add\":{\"steps\":[%s]",
				mr_buf_text(&buf))),
		".afmail/config.json: $.actions.case.add.steps: must not have more than 100 steps");
	mr_buf_clear(&buf);
	for (int i = 0; i < 1001; i++)
		mr_buf_printf(&buf, "\"m%d\":{\"mailbox_name\":\"%d\"},", i, i);
	{
		struct mr_work_config *config;

		CHECK_INT(mr_work_config_read(&cx,
				  with("\"mailboxes\":{",
					  mr_arena_printf(cx.arena, "\"mailboxes\":{%s",
						  mr_buf_text(&buf))),
				  &config),
			MR_EINVAL);
		CHECK(strstr(cx.err.msg, "$.mailboxes: must not have more than 1000 mailboxes"));
	}
	end();
}

static void the_language_selects_the_templates(void)
{
	static const struct {
		const char *tag;
		enum mr_work_language language;
	} cases[] = {
		{ "zh", MR_WORK_ZH_CN },
		{ "ZH-hant-TW", MR_WORK_ZH_CN },
		{ "zha", MR_WORK_EN_US },
		{ "de-DE", MR_WORK_EN_US },
		{ "en", MR_WORK_EN_US },
	};

	begin();
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_work_config *config;

		CHECK_OK(mr_work_config_read(&cx,
				 with("\"language_bcp47\":null",
					 mr_arena_printf(cx.arena, "\"language_bcp47\":\"%s\"",
						 cases[i].tag)),
				 &config),
			cx.err);
		CHECK_INT(config->language, cases[i].language);
	}
	end();
}

static void steps_have_labels(void)
{
	static const char *const labels[] = { "smtp_send", "append_to_mailbox_id_sent",
		"move_to_mailbox_id_junk", "add_flags", "add_flags:ReplyToMessage" };
	struct mr_work_action_steps steps;

	begin();
	CHECK_OK(mr_work_steps_read(&cx,
			 json("[{\"smtp_send\":{}},{\"append_to_mailbox_id\":\"sent\"},{\"move_to_"
			      "mailbox_id\":\"junk\"},{\"add_flags\":[\"a\"]},{\"add_flags\":["
			      "\"a\"]"
			      ",\"on\":\"reply_to_message\"}]"),
			 &steps),
		cx.err);
	CHECK_INT(steps.len, MR_LEN(labels));
	for (size_t i = 0; i < steps.len; i++)
		CHECK_STR(mr_work_step_label(cx.arena, &steps.items[i]), labels[i]);
	CHECK_INT(mr_work_steps_read(&cx, json("{}"), &steps), MR_EINVAL);
	CHECK_STR(cx.err.word, "config_invalid");
	CHECK_STR(cx.err.msg, "the steps: $: must be a list, not object");
	end();
}

static void mailboxes_are_found_by_name_and_use(void)
{
	static const struct {
		const char *name, *id;
	} cases[] = {
		{ "INBOX", "inbox" },
		{ "inbox", "inbox" },
		{ "Spam", "junk" },
		{ "[Gmail]/Sent Mail", "sent" },
		{ "INBOX.Trash", "trash" },
		{ "Deleted Items", "trash" },
		{ "archives", "archive" },
		{ "Draft", "drafts" },
		{ "Projects", NULL },
		{ "All Mail", NULL },
	};
	const struct mr_work_mailbox *found;
	struct mr_work_config *config;

	begin();
	CHECK_OK(mr_work_config_read(&cx, mr_work_config_default(&cx, 0), &config), cx.err);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_OK(mr_work_mailbox_by_name(&cx, config, cases[i].name, &found), cx.err);
		CHECK_STR(found ? found->id : NULL, cases[i].id);
	}
	CHECK_STR(mr_work_mailbox_for_use(config, "junk")->id, "junk");
	CHECK(!mr_work_mailbox_for_use(config, "flagged"));
	CHECK_OK(mr_work_config_read(&cx,
			 with("\"mailboxes\":{",
				 "\"mailboxes\":{\"a2\":{\"special_use\":"
				 "\"\\\\archive\"},\"n\":{\"mailbox_name\":\"X\"},"),
			 &config),
		cx.err);
	CHECK_STR(mr_work_mailbox_for_use(config, "archive")->id, "a2");
	CHECK_INT(mr_work_mailbox_by_name(&cx, config, "Archive", &found), MR_ECONFLICT);
	CHECK_STR(cx.err.word, "imap_mailbox_ambiguous");
	CHECK_STR(cx.err.msg,
		"the mailbox 'Archive' may be 'a2' or 'archive' of the configuration");
	CHECK_OK(mr_work_mailbox_by_name(&cx, config, "x", &found), cx.err);
	CHECK(!found);
	end();
}

static void times_are_in_the_offset(void)
{
	struct mr_work_config config = { .offset_minutes = 330 };

	begin();
	CHECK_STR(mr_work_local_date(cx.arena, &config, fixed.now_us - 1), "20260101");
	CHECK_STR(mr_work_local_time(cx.arena, &config, fixed.now_us), "2026-01-01 05:30");
	config.offset_minutes = -60;
	CHECK_STR(mr_work_local_date(cx.arena, &config, fixed.now_us), "20251231");
	CHECK_STR(mr_work_local_time(cx.arena, &config, fixed.now_us), "2025-12-31 23:00");
	end();
}

/* --- in a workspace --- */

static struct mr_work *open_work(const struct mr_value *document)
{
	struct mr_work *work;

	if (mkdir(".afmail", 0755) == 0)
		CHECK_INT(mkdir("identities", 0755), 0);
	files_put(".afmail/config.json", text_of(document));
	CHECK_OK(mr_work_open(&cx, ".", MR_WORK_WRITE, &work), cx.err);
	return work;
}

static void the_file_is_read_once(void)
{
	const struct mr_work_config *config, *again;
	struct mr_work *work;

	begin();
	files_enter();
	work = open_work(mr_work_config_default(&cx, 0));
	CHECK_OK(mr_work_config_get(&cx, work, &config), cx.err);
	CHECK_INT(unlink(".afmail/config.json"), 0);
	CHECK_OK(mr_work_config_get(&cx, work, &again), cx.err);
	CHECK(config == again);
	mr_work_close(work);
	CHECK_OK(mr_work_open(&cx, ".", MR_WORK_READ, &work), cx.err);
	CHECK_INT(mr_work_config_get(&cx, work, &config), MR_EIO);
	CHECK_STR(cx.err.word, "store_error");
	CHECK_STR(cx.err.msg, ".afmail/config.json is missing");
	files_put(".afmail/config.json", "{");
	CHECK(mr_work_config_get(&cx, work, &config) != MR_OK);
	CHECK_STR(cx.err.word, "store_error");
	mr_work_close(work);
	end();
}

static void a_reason_is_trimmed_and_may_be_required(void)
{
	const char *reason;
	struct mr_work *work;

	begin();
	files_enter();
	work = open_work(mr_work_config_default(&cx, 0));
	CHECK_OK(mr_work_reason(&cx, work, "  done \n", &reason), cx.err);
	CHECK_STR(reason, "done");
	CHECK_INT(mr_work_reason(&cx, work, " ", &reason), MR_EINVAL);
	CHECK_STR(cx.err.word, "reason_required");
	CHECK_STR(cx.err.msg, "this command needs a reason");
	CHECK_STR(text_of(mr_work_trouble(&cx.err)->detail),
		"{\"config_key\":\"audit.reason_mode\",\"required_option\":\"--reason\"}");
	mr_work_close(work);
	work = open_work(with("\"reason_mode\":\"required\"", "\"reason_mode\":\"optional\""));
	CHECK_OK(mr_work_reason(&cx, work, NULL, &reason), cx.err);
	CHECK(!reason);
	mr_work_close(work);
	end();
}

static const char two[] =
	"[{\"identity\":\"support\",\"name\":\"Help\",\"email\":\"Hello@Example.com\"},{";

static void a_persona_adds_to_its_identity(void)
{
	const struct mr_work_config *config;
	const struct mr_work_identity *identity;
	struct mr_work *work;

	begin();
	files_enter();
	work = open_work(
		with("[{\"default\":true", mr_arena_printf(cx.arena, "%s\"default\":true", two)));
	files_put("identities/support.md",
		"---\nkind: identity\nidentity: support\nname: Example Support\nfooter: |\n\n  "
		"Best\n"
		"  Team  \n\n---\n\nUse it for customers.\n\n");
	files_put("identities/README", "no persona");
	files_put("identities/.x.md", "no persona");
	CHECK_OK(mr_work_config_get(&cx, work, &config), cx.err);
	CHECK_INT(config->persona_trouble_count, 0);
	CHECK_OK(mr_work_config_check_personas(&cx, config), cx.err);
	identity = mr_work_find_identity(config, "support");
	CHECK_STR(identity->name, "Example Support");
	CHECK_STR(identity->config_name, "Help");
	CHECK_STR(identity->footer, "Best\nTeam");
	CHECK_STR(identity->notes, "Use it for customers.");
	CHECK_STR(identity->email, "Hello@Example.com");
	CHECK(!identity->is_default);
	CHECK_STR(mr_work_default_identity(config)->identity, "me");
	CHECK(!mr_work_find_identity(config, "ghost"));
	CHECK(mr_work_is_own_address(config, "hello@example.com"));
	CHECK(!mr_work_is_own_address(config, "other@example.com"));
	CHECK_STR(mr_value_get(&mr_value_get(config->document, "identities")->list.items[0], "name")
			  ->text,
		"Help");
	CHECK_OK(mr_work_check_sender(&cx, identity), cx.err);
	CHECK_INT(mr_work_check_sender(&cx, mr_work_default_identity(config)), MR_EINVAL);
	CHECK_STR(cx.err.word, "config_missing");
	CHECK_STR(cx.err.msg,
		"the identity 'me' is still the example of a new workspace, Me <me@example.com>");
	CHECK_STR(mr_work_trouble(&cx.err)->hint,
		"Set its real address with `afmail config set identities.me.email ADDRESS`.");
	mr_work_close(work);
	end();
}

static void a_bad_persona_stops_only_what_needs_it(void)
{
	static const struct {
		const char *name, *file, *message;
	} cases[] = {
		{ "ghost", "---\nkind: identity\nidentity: ghost\n---\n",
			"there is no identity 'ghost' in .afmail/config.json" },
		{ "me", "---\nkind: identity\nidentity: you\n---\n",
			"it says that it is of the identity 'you', but its name says 'me'" },
		{ "me", "---\nkind: contact\nidentity: me\n---\n",
			"front matter: $.kind: must be one of: identity" },
		{ "me", "---\nidentity: me\n---\n", "front matter: $.kind: is required" },
		{ "me", "---\nkind: identity\n---\n", "front matter: $.identity: is required" },
		{ "me", "---\nkind: identity\nidentity: me\nemail: a@b\n---\n",
			"front matter: $.email: is not known" },
		{ "me", "---\nkind: identity\nidentity: me\nname: ' '\n---\n",
			"front matter: $.name: must not be blank" },
		{ "me", "---\nkind: identity\nidentity: me\nfooter: [a]\n---\n",
			"front matter: $.footer: must be a string, not list" },
		{ "me", "---\n- a\n---\n", "front matter: $: must be an object, not list" },
		{ "me", "---json\n{}\n---\n", "the front matter must be YAML" },
		{ "me", "hello\n", "line 1: the document does not begin with a line \"---\"" },
		{ "me", "---\na: [\n---\n", NULL },
		{ "me", "---\nkind: identity\nidentity: me\n---\n\xff\n",
			"the notes are not UTF-8 text" },
	};
	const struct mr_work_config *config;

	begin();
	files_enter();
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_work *work = open_work(mr_work_config_default(&cx, 0));
		const char *path = mr_arena_printf(cx.arena, "identities/%s.md", cases[i].name);

		files_put(path, cases[i].file);
		CHECK_OK(mr_work_config_get(&cx, work, &config), cx.err);
		CHECK_INT(config->persona_trouble_count, 1);
		CHECK_STR(config->persona_troubles[0].path, path);
		if (cases[i].message)
			CHECK_STR(config->persona_troubles[0].what, cases[i].message);
		CHECK_INT(mr_work_config_check_personas(&cx, config), MR_EINVAL);
		CHECK_STR(cx.err.word, "config_invalid");
		CHECK_STR(cx.err.msg,
			mr_arena_printf(cx.arena, "%s: %s", path,
				config->persona_troubles[0].what));
		CHECK_STR(mr_work_trouble(&cx.err)->hint,
			mr_arena_printf(cx.arena, "Correct or remove the file %s.", path));
		CHECK_STR(mr_work_default_identity(config)->name, "Me");
		if (mr_str_eq(cases[i].name, "me")) {
			CHECK_INT(mr_work_check_sender(&cx, &config->identities[0]), MR_EINVAL);
			CHECK_STR(cx.err.word, "config_invalid");
		}
		CHECK_INT(unlink(path), 0);
		mr_work_close(work);
	}
	end();
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_new_configuration_is_as_recorded),
		TEST(members_left_out_have_defaults),
		TEST(the_whole_document_is_checked),
		TEST(sizes_are_limited),
		TEST(the_language_selects_the_templates),
		TEST(steps_have_labels),
		TEST(mailboxes_are_found_by_name_and_use),
		TEST(times_are_in_the_offset),
		TEST(the_file_is_read_once),
		TEST(a_reason_is_trimmed_and_may_be_required),
		TEST(a_persona_adds_to_its_identity),
		TEST(a_bad_persona_stops_only_what_needs_it),
	};

	return test_main(tests, MR_LEN(tests));
}
