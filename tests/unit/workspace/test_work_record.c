/* tests/unit/workspace/test_work_record.c */
#include "workspace/record.h"

#include "post.h"
#include "test.h"
#include "workspace/archive.h"
#include "workspace/case.h"
#include "workspace/disposition.h"
#include "workspace/edit_contact.h"
#include "workspace/layout.h"
#include "workspace/message.h"
#include "workspace/refresh.h"

#include <string.h>
#include <unistd.h>

#define NESTED "message_20260511_9f31e738f1cb7902"
#define REPLY  "message_20260514_236a002fb1ea424d"
#define SENT   "message_20260503_961b7f0938ffa648"

/* A mail of the corpus, as if it had been pulled from that mailbox. */
static void receive(struct desk *desk, const char *name, const char *id, const char *mailbox_name,
	const char *mailbox_id)
{
	struct mr_work_refreshed refreshed;
	struct mr_bytes bytes = { 0 };

	CHECK_OK(mr_fs_read(desk->cx.arena, AT_FDCWD,
			 mr_arena_printf(desk->cx.arena, TEST_CORPUS "/mime/%s.eml", name), 1 << 20,
			 &bytes, &desk->cx.err),
		desk->cx.err);
	desk_put(mr_work_path_eml(desk->cx.arena, id), (const char *)bytes.data);
	post_locate(id, mailbox_name, mailbox_id);
	desk_next(desk);
	POST_OK(desk, mr_work_refresh_all(&desk->cx, desk->work, &refreshed));
}

static const char *written(struct desk *desk, const char *id)
{
	return desk_text(desk, mr_work_path_record(desk->cx.arena, id));
}

static const struct mr_value *space_of(struct desk *desk, const char *id)
{
	struct mr_work_record record = { 0 };

	CHECK_OK(mr_work_record_make(&desk->cx, desk->work, id, &record), desk->cx.err);
	return mr_value_get(mr_work_record_value(&desk->cx, &record), "workspace");
}

/* --- whole records --- */

static const char NESTED_RECORD[] =
	"{\n"
	"  \"schema_name\": \"message\",\n"
	"  \"schema_version\": 1,\n"
	"  \"message_id\": \"message_20260511_9f31e738f1cb7902\",\n"
	"  \"rfc822_message_id\": \"nest-1@example.net\",\n"
	"  \"remote\": {\n"
	"    \"locations\": [\n"
	"      {\n"
	"        \"mailbox_name\": \"INBOX\",\n"
	"        \"mailbox_id\": \"inbox\",\n"
	"        \"uid_validity\": 7,\n"
	"        \"uid\": 1,\n"
	"        \"flags\": [],\n"
	"        \"observed_rfc3339\": \"2026-05-20T00:00:00Z\",\n"
	"        \"missing_rfc3339\": null\n"
	"      }\n"
	"    ]\n"
	"  },\n"
	"  \"direction\": \"inbound\",\n"
	"  \"subject\": \"Fwd: original question\",\n"
	"  \"from\": \"Carol <carol@example.net>\",\n"
	"  \"to\": [\n"
	"    \"Me Tester <me@example.com>\"\n"
	"  ],\n"
	"  \"authentication\": {\n"
	"    \"spf\": \"missing\",\n"
	"    \"dkim\": \"missing\",\n"
	"    \"dmarc\": \"missing\",\n"
	"    \"from_domain\": \"example.net\",\n"
	"    \"alignment\": \"unknown\"\n"
	"  },\n"
	"  \"received_rfc3339\": \"2026-05-11T13:00:00Z\",\n"
	"  \"body_text\": \"Forwarding this.\",\n"
	"  \"eml_path\": \".afmail/messages/message_20260511_9f31e738f1cb7902.eml\",\n"
	"  \"attachments\": [\n"
	"    {\n"
	"      \"part_id\": \"2\",\n"
	"      \"filename\": \"original.eml\",\n"
	"      \"content_type\": \"message/rfc822\",\n"
	"      \"size_bytes\": 385,\n"
	"      \"fetched\": true,\n"
	"      \"file_path\": "
	"\".afmail/messages/message_20260511_9f31e738f1cb7902.files/original.eml\"\n"
	"    }\n"
	"  ],\n"
	"  \"identity\": \"me\",\n"
	"  \"identity_email\": \"me@example.com\",\n"
	"  \"identity_match\": \"email\",\n"
	"  \"workspace\": {\n"
	"    \"status\": \"triage\"\n"
	"  }\n"
	"}\n";

static const char REPLY_RECORD[] =
	"{\n"
	"  \"schema_name\": \"message\",\n"
	"  \"schema_version\": 1,\n"
	"  \"message_id\": \"message_20260514_236a002fb1ea424d\",\n"
	"  \"rfc822_message_id\": \"reply-1@vendor.example\",\n"
	"  \"remote\": {\n"
	"    \"locations\": [\n"
	"      {\n"
	"        \"mailbox_name\": \"INBOX\",\n"
	"        \"mailbox_id\": \"inbox\",\n"
	"        \"uid_validity\": 7,\n"
	"        \"uid\": 1,\n"
	"        \"flags\": [],\n"
	"        \"observed_rfc3339\": \"2026-05-20T00:00:00Z\",\n"
	"        \"missing_rfc3339\": null\n"
	"      }\n"
	"    ]\n"
	"  },\n"
	"  \"direction\": \"inbound\",\n"
	"  \"subject\": \"Ticket 99\",\n"
	"  \"from\": \"Vendor <help@vendor.example>\",\n"
	"  \"to\": [\n"
	"    \"Me Tester <me@example.com>\",\n"
	"    \"Ivan <ivan@example.org>\"\n"
	"  ],\n"
	"  \"cc\": [\n"
	"    \"Heidi <heidi@example.org>\",\n"
	"    \"me@example.com\"\n"
	"  ],\n"
	"  \"reply_to\": [\n"
	"    \"Desk <desk@vendor.example>\"\n"
	"  ],\n"
	"  \"sender\": \"robot@mailer.example\",\n"
	"  \"delivered_to\": [\n"
	"    \"me@example.com\"\n"
	"  ],\n"
	"  \"authentication\": {\n"
	"    \"spf\": \"pass\",\n"
	"    \"dkim\": \"fail\",\n"
	"    \"dmarc\": \"pass\",\n"
	"    \"dmarc_policy\": \"reject\",\n"
	"    \"authenticated_domain\": \"vendor.example\",\n"
	"    \"from_domain\": \"vendor.example\",\n"
	"    \"alignment\": \"aligned\",\n"
	"    \"raw\": [\n"
	"      \"mx.example.com; spf=pass smtp.mailfrom=help@vendor.example; dkim=fail "
	"header.d=vendor.example; dmarc=pass (p=reject) header.from=vendor.example\"\n"
	"    ]\n"
	"  },\n"
	"  \"received_rfc3339\": \"2026-05-14T15:00:00Z\",\n"
	"  \"body_text\": \"Please answer.\\n```\\ncode\\n```\\n\",\n"
	"  \"eml_path\": \".afmail/messages/message_20260514_236a002fb1ea424d.eml\",\n"
	"  \"identity\": \"me\",\n"
	"  \"identity_email\": \"me@example.com\",\n"
	"  \"identity_match\": \"email\",\n"
	"  \"workspace\": {\n"
	"    \"status\": \"triage\"\n"
	"  }\n"
	"}\n";

static const char SENT_RECORD[] =
	"{\n"
	"  \"schema_name\": \"message\",\n"
	"  \"schema_version\": 1,\n"
	"  \"message_id\": \"message_20260503_961b7f0938ffa648\",\n"
	"  \"rfc822_message_id\": \"sent-1@example.com\",\n"
	"  \"remote\": {\n"
	"    \"locations\": [\n"
	"      {\n"
	"        \"mailbox_name\": \"Sent\",\n"
	"        \"mailbox_id\": \"sent\",\n"
	"        \"uid_validity\": 7,\n"
	"        \"uid\": 1,\n"
	"        \"flags\": [],\n"
	"        \"observed_rfc3339\": \"2026-05-20T00:00:00Z\",\n"
	"        \"missing_rfc3339\": null\n"
	"      }\n"
	"    ]\n"
	"  },\n"
	"  \"direction\": \"outbound\",\n"
	"  \"subject\": \"Earlier question\",\n"
	"  \"from\": \"Me Tester <me@example.com>\",\n"
	"  \"to\": [\n"
	"    \"Alice Adams <alice@example.org>\"\n"
	"  ],\n"
	"  \"authentication\": {\n"
	"    \"spf\": \"missing\",\n"
	"    \"dkim\": \"missing\",\n"
	"    \"dmarc\": \"missing\",\n"
	"    \"from_domain\": \"example.com\",\n"
	"    \"alignment\": \"unknown\"\n"
	"  },\n"
	"  \"sent_rfc3339\": \"2026-05-03T09:00:00Z\",\n"
	"  \"body_text\": \"How much?\\n\",\n"
	"  \"eml_path\": \".afmail/messages/message_20260503_961b7f0938ffa648.eml\",\n"
	"  \"workspace\": {\n"
	"    \"status\": \"triage\"\n"
	"  }\n"
	"}\n";

static const char ARCHIVED_RECORD[] =
	"{\n"
	"  \"schema_name\": \"message\",\n"
	"  \"schema_version\": 1,\n"
	"  \"message_id\": \"message_20260518_06d53266ad33fc88\",\n"
	"  \"rfc822_message_id\": \"notice-1@service.example\",\n"
	"  \"remote\": {\n"
	"    \"locations\": [\n"
	"      {\n"
	"        \"mailbox_name\": \"INBOX\",\n"
	"        \"mailbox_id\": \"inbox\",\n"
	"        \"uid_validity\": 7,\n"
	"        \"uid\": 1,\n"
	"        \"flags\": [],\n"
	"        \"observed_rfc3339\": \"2026-05-20T00:00:00Z\",\n"
	"        \"missing_rfc3339\": null\n"
	"      }\n"
	"    ]\n"
	"  },\n"
	"  \"direction\": \"inbound\",\n"
	"  \"subject\": \"Receipt 2026-05\",\n"
	"  \"from\": \"Billing <billing@service.example>\",\n"
	"  \"to\": [\n"
	"    \"Me Tester <me@example.com>\"\n"
	"  ],\n"
	"  \"authentication\": {\n"
	"    \"spf\": \"missing\",\n"
	"    \"dkim\": \"missing\",\n"
	"    \"dmarc\": \"missing\",\n"
	"    \"from_domain\": \"service.example\",\n"
	"    \"alignment\": \"unknown\"\n"
	"  },\n"
	"  \"received_rfc3339\": \"2026-05-18T07:00:00Z\",\n"
	"  \"body_text\": \"Paid 5.00.\\n\",\n"
	"  \"eml_path\": \".afmail/messages/message_20260518_06d53266ad33fc88.eml\",\n"
	"  \"identity\": \"me\",\n"
	"  \"identity_email\": \"me@example.com\",\n"
	"  \"identity_match\": \"email\",\n"
	"  \"workspace\": {\n"
	"    \"status\": \"archived\",\n"
	"    \"archive_uid\": \"a20260518001\",\n"
	"    \"archived_rfc3339\": \"2026-03-11T04:15:03Z\",\n"
	"    \"remote_sync\": {\n"
	"      \"archive_eligible\": true,\n"
	"      \"checked_rfc3339\": \"2026-03-11T04:15:03Z\"\n"
	"    },\n"
	"    \"push\": {\n"
	"      \"pending\": [\n"
	"        {\n"
	"          \"push_id\": \"push_20260311T041503Z\",\n"
	"          \"kind\": \"message.archive\",\n"
	"          \"queued_rfc3339\": \"2026-03-11T04:15:03Z\"\n"
	"        }\n"
	"      ]\n"
	"    }\n"
	"  }\n"
	"}\n";

static const char TRASHED_RECORD[] =
	"{\n"
	"  \"schema_name\": \"message\",\n"
	"  \"schema_version\": 1,\n"
	"  \"message_id\": \"message_20260517_5b7114f482b9825c\",\n"
	"  \"rfc822_message_id\": \"spam-1@win.example\",\n"
	"  \"remote\": {\n"
	"    \"locations\": [\n"
	"      {\n"
	"        \"mailbox_name\": \"INBOX\",\n"
	"        \"mailbox_id\": \"inbox\",\n"
	"        \"uid_validity\": 7,\n"
	"        \"uid\": 1,\n"
	"        \"flags\": [],\n"
	"        \"observed_rfc3339\": \"2026-05-20T00:00:00Z\",\n"
	"        \"missing_rfc3339\": null\n"
	"      }\n"
	"    ]\n"
	"  },\n"
	"  \"direction\": \"inbound\",\n"
	"  \"subject\": \"You won\",\n"
	"  \"from\": \"Prize <prize@win.example>\",\n"
	"  \"to\": [\n"
	"    \"Me Tester <me@example.com>\"\n"
	"  ],\n"
	"  \"authentication\": {\n"
	"    \"spf\": \"missing\",\n"
	"    \"dkim\": \"missing\",\n"
	"    \"dmarc\": \"missing\",\n"
	"    \"from_domain\": \"win.example\",\n"
	"    \"alignment\": \"unknown\"\n"
	"  },\n"
	"  \"received_rfc3339\": \"2026-05-17T03:00:00Z\",\n"
	"  \"body_text\": \"Click.\\n\",\n"
	"  \"eml_path\": \".afmail/messages/message_20260517_5b7114f482b9825c.eml\",\n"
	"  \"identity\": \"me\",\n"
	"  \"identity_email\": \"me@example.com\",\n"
	"  \"identity_match\": \"email\",\n"
	"  \"workspace\": {\n"
	"    \"status\": \"trashed\",\n"
	"    \"push\": {\n"
	"      \"pending\": [\n"
	"        {\n"
	"          \"push_id\": \"push_20260311T041503Z\",\n"
	"          \"kind\": \"message.trash\",\n"
	"          \"queued_rfc3339\": \"2026-03-11T04:15:03Z\"\n"
	"        }\n"
	"      ]\n"
	"    }\n"
	"  }\n"
	"}\n";

static void attachments(void)
{
	struct mr_work_fetch request = { NESTED, "2" };
	struct mr_work_fetched fetched = { 0 };
	struct mr_work_record record = { 0 };
	struct desk desk;

	post_open(&desk);
	receive(&desk, "nested", NESTED, "INBOX", "inbox");
	CHECK(strstr(written(&desk, NESTED), "\"fetched\": false\n"));
	POST_OK(&desk, mr_work_attachment_fetch(&desk.cx, desk.work, &request, &fetched));
	CHECK_STR(written(&desk, NESTED), NESTED_RECORD);
	CHECK_OK(mr_work_record_make(&desk.cx, desk.work, NESTED, &record), desk.cx.err);
	CHECK_STR(mr_work_record_attachment(&record, "2")->saved_filename, "original.eml");
	CHECK(!mr_work_record_attachment(&record, "1"));
	desk_close(&desk);
}

static void all_headers(void)
{
	struct desk desk;

	post_open(&desk);
	receive(&desk, "replyall", REPLY, "INBOX", "inbox");
	CHECK_STR(written(&desk, REPLY), REPLY_RECORD);
	desk_close(&desk);
}

static void sent_mail(void)
{
	struct desk desk;

	post_open(&desk);
	receive(&desk, "sent1", SENT, "Sent", "sent");
	CHECK_STR(written(&desk, SENT), SENT_RECORD);
	desk_close(&desk);
}

static void archived(void)
{
	struct mr_work_archive_create request = { "N", NOTICE, "s", "r" };
	struct mr_work_archive_created created = { 0 };
	struct mr_work_message_restore back = { NOTICE, "r" };
	struct mr_work_message_restored restored = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, NOTICE, NULL);
	POST_OK(&desk, mr_work_archive_create(&desk.cx, desk.work, &request, &created));
	CHECK_STR(written(&desk, NOTICE), ARCHIVED_RECORD);
	/* Refreshing it later changes nothing. */
	POST_OK(&desk, mr_work_refresh_all(&desk.cx, desk.work, &(struct mr_work_refreshed){ 0 }));
	CHECK_STR(written(&desk, NOTICE), ARCHIVED_RECORD);
	POST_OK(&desk, mr_work_message_restore(&desk.cx, desk.work, &back, &restored));
	CHECK(strstr(written(&desk, NOTICE), "\"workspace\": {\n    \"status\": \"triage\"\n  }"));
	desk_close(&desk);
}

static void trashed(void)
{
	struct mr_work_discard request = { { (const char *[]){ SPAM, NULL }, 1 }, "r" };
	struct mr_work_discarded discarded = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, NULL);
	POST_OK(&desk, mr_work_message_trash(&desk.cx, desk.work, &request, &discarded));
	CHECK_STR(written(&desk, SPAM), TRASHED_RECORD);
	desk_close(&desk);
}

/* --- what the workspace says --- */

static void create_case(struct desk *desk, const char *name)
{
	struct mr_work_case_create request = { .name = name, .message = PLAIN, .reason = "r" };

	POST_OK(desk,
		mr_work_case_create(&desk->cx, desk->work, &request,
			&(struct mr_work_case_created){ 0 }));
}

/* A message of two cases may be archived when both are. */
static void eligible(void)
{
	struct mr_work_case_ref first = { "c20260504001", "r" }, second = { "c20260504002", "r" };
	struct mr_work_case_archived done = { 0 };
	const struct mr_value *sync;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	create_case(&desk, "A");
	create_case(&desk, "B");
	CHECK(!mr_value_get(space_of(&desk, PLAIN), "remote_sync"));
	POST_OK(&desk, mr_work_case_archive(&desk.cx, desk.work, &first, &done));
	sync = mr_value_get(space_of(&desk, PLAIN), "remote_sync");
	CHECK(sync && !mr_value_get(sync, "archive_eligible")->boolean);
	CHECK_STR(mr_value_get(sync, "checked_rfc3339")->text, "2026-03-11T04:15:05Z");
	desk_next(&desk);
	POST_OK(&desk, mr_work_case_archive(&desk.cx, desk.work, &second, &done));
	sync = mr_value_get(space_of(&desk, PLAIN), "remote_sync");
	CHECK(mr_value_get(sync, "archive_eligible")->boolean);
	CHECK_STR(mr_value_get(sync, "checked_rfc3339")->text, "2026-03-11T04:15:07Z");
	CHECK_STR(mr_value_get(space_of(&desk, PLAIN), "status")->text, "case");
	desk_close(&desk);
}

static void contact(void)
{
	struct mr_work_contact_create request = { .name = "Alice",
		.email = { (const char *[]){ "ALICE@example.org", NULL }, 1 } };
	struct mr_work_contact_created created = { 0 };
	struct mr_work_record record = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, NULL);
	POST_OK(&desk, mr_work_contact_create(&desk.cx, desk.work, &request, &created));
	CHECK_OK(mr_work_record_make(&desk.cx, desk.work, PLAIN, &record), desk.cx.err);
	CHECK_STR(record.contact_name, "Alice");
	CHECK_STR(record.contact_uid, created.contact_uid);
	CHECK_OK(mr_work_record_make(&desk.cx, desk.work, SPAM, &record), desk.cx.err);
	CHECK(!record.contact_uid);
	desk_close(&desk);
}

/* Parts of one name, and names that lead elsewhere. */
static void saved_names(void)
{
	struct mr_work_record record = { 0 };
	struct desk desk;

	post_open(&desk);
	desk_put(mr_work_path_eml(desk.cx.arena, "message_a"),
		"Content-Type: multipart/mixed; boundary=b\n\n--b\n"
		"Content-Disposition: attachment; filename=\"a.txt\"\n\n1\n--b\n"
		"Content-Disposition: attachment; filename=\"a.txt\"\n\n2\n--b\n"
		"Content-Disposition: attachment; filename=\"../../.ssh/keys\"\n\n3\n--b\n"
		"Content-Disposition: attachment; filename=\"1-a.txt\"\n\n4\n--b--\n");
	CHECK_OK(mr_work_record_make(&desk.cx, desk.work, "message_a", &record), desk.cx.err);
	CHECK_INT(record.attachment_count, 4);
	for (size_t i = 0; i < record.attachment_count; i++) {
		CHECK(!strchr(record.attachments[i].saved_filename, '/'));
		for (size_t k = 0; k < i; k++)
			CHECK(!mr_str_eq(record.attachments[i].saved_filename,
				record.attachments[k].saved_filename));
	}
	CHECK_STR(record.attachments[0].saved_filename, "a.txt");
	CHECK_STR(record.attachments[1].saved_filename, "1-a.txt");
	CHECK_STR(record.attachments[2].saved_filename, ".._.._.ssh_keys");
	desk_close(&desk);
}

/* Without the raw message the record stays as it was. */
static void record_alone(void)
{
	struct mr_work_record record = { 0 };
	const char *before;
	bool changed = true;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	before = written(&desk, PLAIN);
	CHECK(unlink(mr_work_path_eml(desk.cx.arena, PLAIN)) == 0);
	CHECK_OK(mr_work_record_make(&desk.cx, desk.work, PLAIN, &record), desk.cx.err);
	CHECK_OK(mr_work_record_write(&desk.cx, desk.work, &record, &changed), desk.cx.err);
	CHECK(!changed);
	CHECK_STR(written(&desk, PLAIN), before);
	desk_close(&desk);
}

static void refused(void)
{
	struct mr_work_record record = { 0 };
	struct desk desk;

	post_open(&desk);
	desk_check_fail(&desk, mr_work_record_make(&desk.cx, desk.work, "../x", &record),
		"invalid_request", NULL, NULL);
	desk_check_fail(&desk, mr_work_record_make(&desk.cx, desk.work, PLAIN, &record),
		"message_not_found", NULL, NULL);
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(attachments), TEST(all_headers), TEST(sent_mail),
		TEST(archived), TEST(trashed), TEST(eligible), TEST(contact), TEST(saved_names),
		TEST(record_alone), TEST(refused) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
