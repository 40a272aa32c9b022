/* tests/unit/workspace/test_work_config_key.c */
#include "files.h"
#include "test.h"
#include "text/json.h"
#include "workspace/audit.h"
#include "workspace/config.h"
#include "workspace/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mr_clock_fixed fixed;
static struct mr_ctx cx;
static struct mr_work *work;
static struct mr_work_change change;

static const char *text_of(const struct mr_value *value)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer writer;

	if (!value)
		return "null";
	mr_buf_init(&buf, 1 << 20);
	mr_json_init(&writer, &buf, MR_JSON_COMPACT | MR_JSON_SORTED);
	mr_json_value(&writer, value);
	return mr_arena_strdup(cx.arena, mr_buf_text(&buf));
}

static void begin(void)
{
	files_enter();
	setenv("TZ", "UTC", 1);
	mr_clock_fixed_init(&fixed, INT64_C(1767225600000000));
	cx = (struct mr_ctx){ .arena = mr_arena_new(), .clock = &fixed.clock };
	CHECK_INT(mkdir(".afmail", 0755), 0);
	CHECK_INT(mkdir(".afmail/transactions", 0755), 0);
	CHECK_INT(mkdir("identities", 0755), 0);
	files_put(".afmail/config.json", text_of(mr_work_config_default(&cx, 0)));
	CHECK_OK(mr_work_open(&cx, ".", MR_WORK_WRITE, &work), cx.err);
}

static void end(void)
{
	mr_work_close(work);
	mr_arena_free(cx.arena);
}

/* Carry the change out and read the configuration anew. */
static void commit(void)
{
	CHECK_OK(mr_work_change_commit(&cx, &change), cx.err);
	mr_work_change_end(&cx, &change);
	work->config = NULL;
}

static struct mr_texts words(const char *text)
{
	return mr_str_split(cx.arena, text, '|');
}

static void gets(const char *key, const char *want)
{
	const struct mr_value *value;

	CHECK_OK(mr_work_config_value(&cx, work, key, &value), cx.err);
	CHECK_STR(text_of(value), want);
}

static enum mr_code try_set(const char *key, const char *values, const struct mr_value **out)
{
	struct mr_texts list = words(values);

	mr_work_change_begin(&cx, work, "config_set", &change);
	return mr_work_config_set(&cx, work, key, &list, &change, out);
}

/* Set the values, parted by '|'; what comes back and what stands in the file are `want`. */
static void sets(const char *key, const char *values, const char *want)
{
	const struct mr_value *value;

	CHECK_OK(try_set(key, values, &value), cx.err);
	CHECK_STR(text_of(value), want);
	commit();
	gets(key, want);
}

static void refused(enum mr_code rc, const char *word, const char *message)
{
	CHECK(rc != MR_OK);
	CHECK_STR(cx.err.word, word);
	CHECK_STR(cx.err.msg, message);
	CHECK_INT(change.count, 0);
}

static void every_key_can_be_asked_for(void)
{
	static const struct {
		const char *key, *want;
	} cases[] = {
		{ "schema_name", "\"config\"" },
		{ "schema_version", "1" },
		{ "workspace.language_bcp47", "null" },
		{ "workspace.timezone_utc_offset", "\"UTC\"" },
		{ "identities",
			"[{\"default\":true,\"email\":\"me@example.com\",\"identity\":\"me\""
			",\"name\":\"Me\"}]" },
		{ "identities.me.name", "\"Me\"" },
		{ "identities.me.email", "\"me@example.com\"" },
		{ "identities.me.default", "true" },
		{ "imap.host", "null" },
		{ "imap.port", "993" },
		{ "imap.tls", "true" },
		{ "imap.username", "null" },
		{ "imap.password_secret", "null" },
		{ "imap.password_secret_env", "null" },
		{ "smtp.host", "null" },
		{ "smtp.port", "587" },
		{ "smtp.starttls", "true" },
		{ "smtp.tls_wrapper", "false" },
		{ "smtp.username", "null" },
		{ "smtp.password_secret", "null" },
		{ "smtp.password_secret_env", "null" },
		{ "mailboxes.inbox.mailbox_name", "\"INBOX\"" },
		{ "mailboxes.inbox.special_use", "null" },
		{ "mailboxes.junk.special_use", "\"\\\\Junk\"" },
		{ "actions.pull.default_mailbox_ids",
			"[\"inbox\",\"sent\",\"archive\",\"junk\",\"trash\"]" },
		{ "actions.pull.by_mailbox_id.junk.import_as", "\"spam\"" },
		{ "actions.pull.by_mailbox_id.sent.direction", "\"outbound\"" },
		{ "actions.case.add.steps", "[]" },
		{ "actions.draft.save.steps", "[{\"append_to_mailbox_id\":\"drafts\"}]" },
		{ "actions.draft.send.steps",
			"[{\"smtp_send\":{}},{\"append_to_mailbox_id\":\"sent\"},{\"add_flags\":["
			"\"\\\\Seen\",\"\\\\Answered\"],\"on\":\"reply_to_message\"}]" },
		{ "actions.message.spam.steps",
			"[{\"add_flags\":[\"\\\\Seen\",\"$Junk\"]},{"
			"\"move_to_mailbox_id\":\"junk\"}]" },
		{ "actions.message.trash.steps", "[{\"move_to_mailbox_id\":\"trash\"}]" },
		{ "actions.message.archive.by_source_mailbox_id.inbox.steps",
			"[{\"move_to_mailbox_id\":\"archive\"}]" },
		{ "actions.message.archive.by_source_mailbox_id.inbox.move_to_mailbox_id",
			"\"archive\"" },
		{ "actions.message.archive.by_source_mailbox_id.inbox.steps.move_to_mailbox_id",
			"\"archive\"" },
		{ "actions.message.archive.by_source_mailbox_id.sent.move_to_mailbox_id", "null" },
		{ "case.default_group", "\"open\"" },
		{ "contact.default_group", "\"people\"" },
		{ "archive",
			"{\"message_index\":{\"item_fields\":[\"time\",\"from\",\"summary\"],"
			"\"sort\":\"date_desc\"}}" },
		{ "archive.message_index.item_fields", "[\"time\",\"from\",\"summary\"]" },
		{ "archive.message_index.sort", "\"date_desc\"" },
		{ "audit.reason_mode", "\"required\"" },
	};
	const struct mr_value *value;

	begin();
	for (size_t i = 0; i < MR_LEN(cases); i++)
		gets(cases[i].key, cases[i].want);
	CHECK_OK(mr_work_config_value(&cx, work, "mailboxes", &value), cx.err);
	CHECK_INT(value->map.len, 6);
	CHECK_OK(mr_work_config_value(&cx, work, "actions", &value), cx.err);
	CHECK_INT(value->map.len, 7);
	end();
}

static void unknown_keys_and_ids_are_refused(void)
{
	static const struct {
		const char *key, *word, *message, *hint;
	} cases[] = {
		{ "nope.nope", "invalid_request", "there is no configuration key 'nope.nope'",
			"See the keys with `afmail config list`." },
		{ "imap.hots", "invalid_request", "there is no configuration key 'imap.hots'",
			"Did you mean imap.host? `afmail config list` shows all keys." },
		{ "smtp.from", "invalid_request", "there is no configuration key 'smtp.from'",
			NULL },
		{ "imap", "invalid_request", "there is no configuration key 'imap'", NULL },
		{ "", "invalid_request", "there is no configuration key ''", NULL },
		{ "mailboxes.a b.mailbox_name", "invalid_request",
			"the id 'a b' in the key 'mailboxes.a b.mailbox_name' is not letters, "
			"digits, '_' and '-'",
			NULL },
		{ "mailboxes..mailbox_name", "invalid_request",
			"the id '' in the key 'mailboxes..mailbox_name' is not letters, digits, "
			"'_' and '-'",
			NULL },
		{ "mailboxes.x.mailbox_name", "unknown_mailbox_id",
			"there is no mailbox with the id 'x'; available ids: archive, drafts, "
			"inbox, junk, sent, trash",
			NULL },
		{ "actions.pull.by_mailbox_id.x.direction", "unknown_mailbox_id",
			"there is no mailbox with the id 'x'; available ids: archive, drafts, "
			"inbox, junk, sent, trash",
			NULL },
		{ "identities.you.name", "invalid_request", "there is no identity 'you'", NULL },
	};
	const struct mr_value *value;

	begin();
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK(mr_work_config_value(&cx, work, cases[i].key, &value) != MR_OK);
		CHECK_STR(cx.err.word, cases[i].word);
		CHECK_STR(cx.err.msg, cases[i].message);
		if (cases[i].hint)
			CHECK_STR(mr_work_trouble(&cx.err)->hint, cases[i].hint);
	}
	end();
}

static void keys_can_be_set(void)
{
	begin();
	sets("imap.host", "mail.example.org", "\"mail.example.org\"");
	sets("imap.port", "143", "143");
	sets("imap.tls", "false", "false");
	sets("smtp.tls_wrapper", "true", "true");
	sets("imap.username", "null", "\"null\"");
	sets("case.default_group", "客户", "\"客户\"");
	sets("contact.default_group", "friends", "\"friends\"");
	sets("audit.reason_mode", "optional", "\"optional\"");
	sets("workspace.language_bcp47", "zh-Hans", "\"zh-Hans\"");
	sets("workspace.language_bcp47", "NULL", "null");
	sets("workspace.timezone_utc_offset", "+0530", "\"+05:30\"");
	sets("workspace.timezone_utc_offset", "+00:00", "\"UTC\"");
	sets("workspace.timezone_utc_offset", "null", "null");
	sets("actions.pull.default_mailbox_ids", "sent|inbox|sent", "[\"sent\",\"inbox\"]");
	sets("archive.message_index.item_fields", "link|to", "[\"link\",\"to\"]");
	sets("actions.pull.by_mailbox_id.archive.import_as", "spam", "\"spam\"");
	end();
}

static void one_of_two_members_clears_the_other(void)
{
	begin();
	sets("imap.password_secret", "x", "\"x\"");
	sets("imap.password_secret_env", "IMAP_SECRET", "\"IMAP_SECRET\"");
	gets("imap.password_secret", "null");
	sets("imap.password_secret", "y", "\"y\"");
	gets("imap.password_secret_env", "null");
	sets("mailboxes.archive.mailbox_name", "Old", "\"Old\"");
	gets("mailboxes.archive.special_use", "null");
	sets("mailboxes.archive.special_use", "\\Archive", "\"\\\\Archive\"");
	gets("mailboxes.archive.mailbox_name", "null");
	end();
}

static void new_mailboxes_get_rules(void)
{
	const struct mr_value *value;

	begin();
	refused(try_set("actions.pull.by_mailbox_id.work.import_as", "triage", &value),
		"config_invalid",
		".afmail/config.json: $.actions.pull.by_mailbox_id.work: names the mailbox 'work', "
		"which is not in mailboxes");
	sets("mailboxes.work.mailbox_name", "Work", "\"Work\"");
	gets("actions.pull.by_mailbox_id.work.direction", "null");
	gets("actions.message.archive.by_source_mailbox_id.work.steps", "[]");
	sets("actions.pull.by_mailbox_id.work.direction", "outbound", "\"outbound\"");
	gets("actions.pull.by_mailbox_id.work.import_as", "\"triage\"");
	sets("actions.message.archive.by_source_mailbox_id.work.move_to_mailbox_id", "archive",
		"\"archive\"");
	gets("actions.message.archive.by_source_mailbox_id.work.steps",
		"[{\"move_to_mailbox_id\":\"archive\"}]");
	sets("actions.message.archive.by_source_mailbox_id.work.steps", "none", "[]");
	sets("actions.message.archive.by_source_mailbox_id.work.steps.move_to_mailbox_id", "work",
		"\"work\"");
	sets("actions.message.archive.by_source_mailbox_id.work.steps", "[]", "[]");
	end();
}

static void bad_values_are_refused(void)
{
	static const struct {
		const char *key, *values, *word, *message;
	} cases[] = {
		{ "imap.host", "", "invalid_request", "no value was given for imap.host" },
		{ "imap.host", "a|b", "invalid_request",
			"imap.host takes one value, but 2 were given" },
		{ "imap.port", "65536", "invalid_request",
			"imap.port must be a number from 0 to 65535, not '65536'" },
		{ "imap.port", "x", "invalid_request",
			"imap.port must be a number from 0 to 65535, not 'x'" },
		{ "imap.tls", "yes", "invalid_request",
			"imap.tls must be true or false, not 'yes'" },
		{ "workspace.timezone_utc_offset", "Asia/Shanghai", "invalid_request",
			"workspace.timezone_utc_offset must be UTC, null or an offset such as "
			"+05:30, not 'Asia/Shanghai'" },
		{ "schema_version", "2", "invalid_request",
			"the key 'schema_version' can be read but not set" },
		{ "mailboxes", "{}", "invalid_request",
			"the key 'mailboxes' can be read but not set" },
		{ "smtp.from", "Me <me@example.com>", "invalid_request",
			"there is no configuration key 'smtp.from'" },
		{ "imap.password_secret_env", "foo", "config_invalid",
			".afmail/config.json: $.imap.password_secret_env: must be upper-case "
			"letters, digits and single underscores that end in _SECRET, not 'foo'" },
		{ "case.default_group", "a/b", "config_invalid",
			".afmail/config.json: $.case.default_group: must be a single path "
			"segment, not 'a/b'" },
		{ "actions.message.archive.by_source_mailbox_id.inbox.move_to_mailbox_id", "x",
			"config_invalid",
			".afmail/config.json: "
			"$.actions.message.archive.by_source_mailbox_id.inbox.steps[0]: names the "
			"mailbox 'x', which is not in mailboxes" },
		{ "identities", "{}", "invalid_request",
			"the value of identities must be a list in JSON, not object" },
		{ "identities.you.name", "You", "invalid_request", "there is no identity 'you'" },
		{ "identities.me.default", "false", "config_invalid",
			".afmail/config.json: $.identities: must have exactly one identity with "
			"default true, not 0" },
		{ "identities.me.email", "nobody", "config_invalid",
			".afmail/config.json: $.identities[0].email: must be an email address, not "
			"'nobody'" },
	};
	const struct mr_value *value;

	begin();
	for (size_t i = 0; i < MR_LEN(cases); i++)
		refused(try_set(cases[i].key, cases[i].values, &value), cases[i].word,
			cases[i].message);
	gets("identities.me.email", "\"me@example.com\"");
	end();
}

static enum mr_code try_json(const char *key, const char *json, const struct mr_value **out)
{
	mr_work_change_begin(&cx, work, "config_set", &change);
	return mr_work_config_set_json(&cx, work, key, json, &change, out);
}

static const char max[] =
	"[{\"default\":true,\"email\":\"max@example.com\",\"identity\":\"me\",\"name\":\"Max\"}]";

static void lists_of_objects_are_set_from_json(void)
{
	const struct mr_value *value;

	begin();
	CHECK_OK(try_json("identities", max, &value), cx.err);
	CHECK_STR(text_of(value), max);
	CHECK(change.stale.identities);
	commit();
	gets("identities", max);
	CHECK_OK(try_json("actions.case.add.steps", "[{\"add_flags\":[\"\\\\Flagged\"]}]", &value),
		cx.err);
	CHECK(!change.stale.identities);
	commit();
	gets("actions.case.add.steps", "[{\"add_flags\":[\"\\\\Flagged\"]}]");
	refused(try_json("imap.host", "\"x\"", &value), "invalid_request",
		"imap.host cannot be set from JSON; only identities and steps can");
	CHECK(try_json("identities", "[", &value) != MR_OK);
	CHECK_STR(cx.err.word, "invalid_request");
	CHECK(mr_str_starts(cx.err.msg, "the value of identities must be a list in JSON: "));
	refused(try_json("identities", "[]", &value), "config_invalid",
		".afmail/config.json: $.identities: must have between 1 and 1000 identities");
	sets("identities", max, max); /* also as a plain value */
	end();
}

static void identities_are_added_and_removed(void)
{
	struct mr_work_config_add request = { .key = "identities",
		.values = { (const char *[]){ "work", NULL }, 1 },
		.name = "At Work",
		.email = "me@work.example" };
	struct mr_texts removed;
	const struct mr_value *value;

	begin();
	mr_work_change_begin(&cx, work, "config_add", &change);
	CHECK_OK(mr_work_config_add(&cx, work, &request, &change, &value), cx.err);
	CHECK_INT(value->list.len, 2);
	commit();
	gets("identities.work.email", "\"me@work.example\"");
	gets("identities.work.default", "false");
	sets("identities.work.default", "true", "true");
	gets("identities.me.default", "false");
	sets("identities.work.name", "Office", "\"Office\"");

	mr_work_change_begin(&cx, work, "config_add", &change);
	refused(mr_work_config_add(&cx, work, &request, &change, &value), "config_invalid",
		".afmail/config.json: $.identities: must not have the identity 'work' twice");

	request = (struct mr_work_config_add){ .key = "identities",
		.json = "{\"identity\":\"z\",\"name\":\"Z\",\"email\":\"z@z\",\"default\":true}" };
	mr_work_change_begin(&cx, work, "config_add", &change);
	CHECK_OK(mr_work_config_add(&cx, work, &request, &change, &value), cx.err);
	commit();
	gets("identities.work.default", "false");
	gets("identities.z.default", "true");

	removed = words("me|work");
	mr_work_change_begin(&cx, work, "config_remove", &change);
	CHECK_OK(mr_work_config_remove(&cx, work, "identities", &removed, &change, &value), cx.err);
	CHECK_INT(value->list.len, 1);
	commit();
	mr_work_change_begin(&cx, work, "config_remove", &change);
	refused(mr_work_config_remove(&cx, work, "identities", &removed, &change, &value),
		"invalid_request", "identities has no 'me'");
	removed = words("z");
	mr_work_change_begin(&cx, work, "config_remove", &change);
	refused(mr_work_config_remove(&cx, work, "identities", &removed, &change, &value),
		"config_invalid",
		".afmail/config.json: $.identities: must have between 1 and 1000 identities");
	end();
}

static void what_cannot_be_added_is_refused(void)
{
	const struct {
		struct mr_work_config_add request;
		const char *message;
	} cases[] = {
		{ { .key = "identities" },
			"an identity needs a slug, a name and an email address" },
		{ { .key = "identities", .json = "{" }, NULL },
		{ { .key = "identities", .json = "{}", .name = "A" },
			"an identity is given either as JSON or by its slug, name and email" },
		{ { .key = "imap.host" },
			"nothing can be added to or removed from imap.host; use `config set`" },
		{ { .key = "actions.pull.default_mailbox_ids" },
			"no value was given for actions.pull.default_mailbox_ids" },
		{ { .key = "actions.pull.default_mailbox_ids",
			  .values = { (const char *[]){ "drafts", NULL }, 1 },
			  .name = "A" },
			"actions.pull.default_mailbox_ids is a list of words: JSON, names and "
			"addresses are for identities" },
	};
	struct mr_texts none = { 0 };
	const struct mr_value *value;

	begin();
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		mr_work_change_begin(&cx, work, "config_add", &change);
		CHECK(mr_work_config_add(&cx, work, &cases[i].request, &change, &value) != MR_OK);
		CHECK_STR(cx.err.word, "invalid_request");
		if (cases[i].message)
			CHECK_STR(cx.err.msg, cases[i].message);
		else
			CHECK(mr_str_starts(cx.err.msg, "the identity is not JSON: "));
	}
	refused(mr_work_config_remove(&cx, work, "identities", &none, &change, &value),
		"invalid_request", "no value was given for identities");
	end();
}

static void words_are_added_and_removed(void)
{
	static const char key[] = "actions.pull.default_mailbox_ids";
	struct mr_work_config_add request = { .key = key };
	struct mr_texts removed;
	const struct mr_value *value;

	begin();
	request.values = words("drafts|inbox");
	mr_work_change_begin(&cx, work, "config_add", &change);
	CHECK_OK(mr_work_config_add(&cx, work, &request, &change, &value), cx.err);
	commit();
	gets(key, "[\"inbox\",\"sent\",\"archive\",\"junk\",\"trash\",\"drafts\"]");
	removed = words("sent|junk|trash");
	mr_work_change_begin(&cx, work, "config_remove", &change);
	CHECK_OK(mr_work_config_remove(&cx, work, key, &removed, &change, &value), cx.err);
	commit();
	gets(key, "[\"inbox\",\"archive\",\"drafts\"]");
	end();
}

static void unset(const char *key, const char *want)
{
	const struct mr_value *value;

	mr_work_change_begin(&cx, work, "config_unset", &change);
	CHECK_OK(mr_work_config_unset(&cx, work, key, &change, &value), cx.err);
	CHECK_STR(text_of(value), want);
	commit();
}

static void keys_go_back_to_their_defaults(void)
{
	const struct mr_value *value;

	begin();
	sets("imap.host", "h", "\"h\"");
	unset("imap.host", "null");
	sets("imap.port", "1", "1");
	unset("imap.port", "993");
	sets("workspace.timezone_utc_offset", "+1", "\"+01:00\"");
	unset("workspace.timezone_utc_offset", "\"UTC\"");
	sets("mailboxes.inbox.mailbox_name", "Mine", "\"Mine\"");
	unset("mailboxes.inbox.mailbox_name", "\"INBOX\"");
	sets("mailboxes.junk.mailbox_name", "Spam", "\"Spam\"");
	unset("mailboxes.junk.mailbox_name", "null");
	gets("mailboxes.junk.special_use", "\"\\\\Junk\"");
	sets("actions.pull.by_mailbox_id.junk.import_as", "triage", "\"triage\"");
	unset("actions.pull.by_mailbox_id.junk.import_as", "\"spam\"");
	sets("actions.message.archive.by_source_mailbox_id.inbox.steps", "none", "[]");
	unset("actions.message.archive.by_source_mailbox_id.inbox.move_to_mailbox_id",
		"\"archive\"");
	sets("identities.me.email", "a@b", "\"a@b\"");
	unset("identities",
		"[{\"default\":true,\"email\":\"me@example.com\",\"identity\":\"me\","
		"\"name\":\"Me\"}]");

	/* A mailbox of the user's own goes, with its rules. */
	sets("mailboxes.work.mailbox_name", "Work", "\"Work\"");
	sets("actions.pull.by_mailbox_id.work.import_as", "spam", "\"spam\"");
	unset("actions.pull.by_mailbox_id.work.import_as", "\"triage\"");
	unset("mailboxes.work.special_use", "null");
	gets("mailboxes.work.mailbox_name", "\"Work\"");
	unset("mailboxes.work.mailbox_name", "null");
	mr_work_change_begin(&cx, work, "config_unset", &change);
	refused(mr_work_config_unset(&cx, work, "mailboxes.work.mailbox_name", &change, &value),
		"unknown_mailbox_id", "there is no mailbox with the id 'work'");
	refused(mr_work_config_unset(&cx, work, "identities.me.name", &change, &value),
		"invalid_request", "identities.me.name has no default");
	refused(mr_work_config_unset(&cx, work, "schema_name", &change, &value), "invalid_request",
		"the key 'schema_name' can be read but not set");
	CHECK_OK(mr_work_config_value(&cx, work, "actions", &value), cx.err);
	CHECK(mr_value_equal(value, mr_value_get(mr_work_config_default(&cx, 0), "actions")));
	end();
}

static void all_keys_are_listed(void)
{
	struct mr_work_config_listed listed;
	bool saw_host = false, saw_mailbox = false;

	begin();
	sets("imap.host", "h", "\"h\"");
	sets("mailboxes.work.mailbox_name", "Work", "\"Work\"");
	CHECK_OK(mr_work_config_list(&cx, work, &listed), cx.err);
	CHECK_INT(listed.count, listed.len);
	for (size_t i = 0; i < listed.len; i++) {
		const struct mr_work_config_item *item = &listed.items[i];
		const struct mr_value *value;

		CHECK(!strchr(item->key, '*'));
		CHECK_OK(mr_work_config_value(&cx, work, item->key, &value), cx.err);
		CHECK_STR(text_of(value), text_of(item->value));
		if (mr_str_eq(item->key, "imap.host")) {
			saw_host = true;
			CHECK(!item->is_default);
		} else if (mr_str_starts(item->key, "mailboxes.work.")) {
			saw_mailbox = saw_mailbox || !item->is_default;
		} else if (!strstr(item->key, ".work.")) {
			CHECK(item->is_default);
		}
	}
	CHECK(saw_host && saw_mailbox);
	end();
}

static void a_change_is_no_audit_event(void)
{
	struct mr_work_events events;
	const struct mr_value *value;

	begin();
	sets("imap.password_secret", "hunter2", "\"hunter2\"");
	CHECK_OK(mr_work_audit_last(&cx, work, 10, &events), cx.err);
	CHECK_INT(events.len, 0);
	/* The same again changes nothing. */
	CHECK_OK(try_set("imap.password_secret", "hunter2", &value), cx.err);
	CHECK_INT(change.count, 0);
	end();
}

static void a_bad_persona_file_is_reported_first(void)
{
	struct mr_texts removed;
	const struct mr_value *value;

	begin();
	files_put("identities/ghost.md", "---\nkind: identity\nidentity: ghost\n---\n");
	CHECK(mr_work_config_value(&cx, work, "imap.host", &value) != MR_OK);
	CHECK_STR(cx.err.word, "config_invalid");
	CHECK_STR(cx.err.msg,
		"identities/ghost.md: there is no identity 'ghost' in .afmail/config.json");
	refused(try_set("imap.host", "x", &value), "config_invalid",
		"identities/ghost.md: there is no identity 'ghost' in .afmail/config.json");
	CHECK_INT(unlink("identities/ghost.md"), 0);

	/* An identity with a persona file stays until the file is gone. */
	work->config = NULL;
	sets("identities",
		"[{\"default\":true,\"email\":\"a@b\",\"identity\":\"a\",\"name\":\"A\"},{"
		"\"default\":false,\"email\":\"a@b\",\"identity\":\"b\",\"name\":\"B\"}]",
		"[{\"default\":true,\"email\":\"a@b\",\"identity\":\"a\",\"name\":\"A\"},{"
		"\"default\":false,\"email\":\"a@b\",\"identity\":\"b\",\"name\":\"B\"}]");
	files_put("identities/b.md", "---\nkind: identity\nidentity: b\n---\n");
	removed = words("b");
	mr_work_change_begin(&cx, work, "config_remove", &change);
	refused(mr_work_config_remove(&cx, work, "identities", &removed, &change, &value),
		"config_invalid",
		"identities/b.md: there is no identity 'b' in .afmail/config.json");
	end();
}

int main(void)
{
	static const struct test tests[] = {
		TEST(every_key_can_be_asked_for),
		TEST(unknown_keys_and_ids_are_refused),
		TEST(keys_can_be_set),
		TEST(one_of_two_members_clears_the_other),
		TEST(new_mailboxes_get_rules),
		TEST(bad_values_are_refused),
		TEST(lists_of_objects_are_set_from_json),
		TEST(identities_are_added_and_removed),
		TEST(what_cannot_be_added_is_refused),
		TEST(words_are_added_and_removed),
		TEST(keys_go_back_to_their_defaults),
		TEST(all_keys_are_listed),
		TEST(a_change_is_no_audit_event),
		TEST(a_bad_persona_file_is_reported_first),
	};

	return test_main(tests, MR_LEN(tests));
}
