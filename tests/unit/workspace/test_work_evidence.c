/* tests/unit/workspace/test_work_evidence.c */
#include "workspace/evidence.h"

#include "post.h"
#include "test.h"
#include "workspace/layout.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RECORD(id, more)                                                                           \
	"{\"schema_name\": \"message\", \"schema_version\": 1, \"message_id\": \"" id "\"" more "}"

static struct mr_work_evidence load(struct desk *desk, const char *id)
{
	struct mr_work_evidence found = { 0 };

	CHECK_OK(mr_work_evidence_load(&desk->cx, desk->work, id, &found), desk->cx.err);
	return found;
}

static void eml(struct desk *desk, const char *id, const char *text)
{
	desk_put(mr_work_path_eml(desk->cx.arena, id), text);
}

static void whole(void)
{
	struct mr_work_evidence found;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	found = load(&desk, PLAIN);
	CHECK_STR(found.message_id, PLAIN);
	CHECK(found.eml.data && found.eml.len > 100);
	CHECK_STR(found.mime.subject, "Invoice 17 is ready");
	CHECK_INT(found.locations.len, 1);
	CHECK_STR(found.locations.items[0].mailbox_id, "inbox");
	CHECK(found.record);
	CHECK_INT(found.direction, MR_WORK_INBOUND);
	CHECK_STR(found.received, "2026-05-04T09:15:00+02:00");
	CHECK(!found.sent);
	CHECK(found.has_time);
	CHECK_INT(found.time_us, INT64_C(1777878900) * 1000000);
	desk_close(&desk);
}

static void direction(void)
{
	struct mr_work_evidence found;
	struct desk desk;

	post_open(&desk);
	/* Nothing is known of it. */
	eml(&desk, "message_a",
		"From: me@example.com\nDate: Mon, 04 May 2026 09:15:00 +0200\n\nx\n");
	CHECK_INT(load(&desk, "message_a").direction, MR_WORK_INBOUND);
	/* The mailbox of sent mail, by its id. */
	post_locate("message_a", "Sent", "sent");
	found = load(&desk, "message_a");
	CHECK_INT(found.direction, MR_WORK_OUTBOUND);
	CHECK(!found.received);
	CHECK_STR(found.sent, "2026-05-04T09:15:00+02:00");
	CHECK(found.has_time);
	/* A mailbox that we do not know says nothing. */
	post_locate("message_a", "Elsewhere", "elsewhere");
	CHECK_INT(load(&desk, "message_a").direction, MR_WORK_INBOUND);
	/* What was found out once stays so, wherever the message goes. */
	desk_put("messages/message_a.json", RECORD("message_a", ", \"direction\": \"outbound\""));
	post_locate("message_a", "INBOX", "inbox");
	CHECK_INT(load(&desk, "message_a").direction, MR_WORK_OUTBOUND);
	/* Our own mail has our own domain. */
	eml(&desk, "message_b", "Message-ID: <push_1@afmail.local>\n\nx\n");
	CHECK_INT(load(&desk, "message_b").direction, MR_WORK_OUTBOUND);
	desk_close(&desk);
}

/* What was just taken in is not read again, unless it has a record from before. */
static void kept(void)
{
	static const char text[] = "From: a@example.com\nSubject: Kept\n\nx\n";
	struct mr_work_location place = { .mailbox_name = "Sent", .mailbox_id = "sent" };
	const struct mr_work_locations places = { &place, 1 };
	struct mr_work_evidence found;
	struct mr_mime mime;
	struct desk desk;

	post_open(&desk);
	CHECK_OK(mr_mime_parse(desk.cx.arena, mr_bytes_text(text), &mime, &desk.cx.err),
		desk.cx.err);
	desk_put("messages/message_b.json", RECORD("message_b", ""));
	for (int i = 0; i < 200; i++)
		mr_work_evidence_keep(desk.cx.arena, desk.work,
			mr_arena_printf(desk.cx.arena, "message_a%d", i), &mime, &places);
	mr_work_evidence_keep(desk.cx.arena, desk.work, "message_b", &mime, &places);
	for (int i = 0; i < 200; i++) {
		found = load(&desk, mr_arena_printf(desk.cx.arena, "message_a%d", i));
		CHECK_STR(found.mime.subject, "Kept");
		CHECK_INT(found.eml.len, strlen(text));
		CHECK_STR(found.locations.items[0].mailbox_name, "Sent");
		CHECK_INT(found.direction, MR_WORK_OUTBOUND);
		CHECK(!found.record);
	}
	CHECK(!load(&desk, "message_b").eml.data);
	mr_work_evidence_forget(desk.work);
	CHECK_INT(mr_work_evidence_load(&desk.cx, desk.work, "message_a0", &found), MR_ENOTFOUND);
	desk_close(&desk);
}

/* The times of an earlier record come first: the server told them, not the sender. */
static void times(void)
{
	struct mr_work_evidence found;
	struct desk desk;

	post_open(&desk);
	eml(&desk, "message_a", "Date: Mon, 04 May 2026 09:15:00 +0200\n\nx\n");
	desk_put("messages/message_a.json",
		RECORD("message_a", ", \"received_rfc3339\": \"2026-05-04T08:00:00Z\""));
	found = load(&desk, "message_a");
	CHECK_STR(found.received, "2026-05-04T08:00:00Z");
	CHECK_INT(found.time_us, INT64_C(1777881600) * 1000000);
	/* No date at all. */
	eml(&desk, "message_b", "Date: some day\n\nx\n");
	found = load(&desk, "message_b");
	CHECK(!found.received && !found.sent && !found.has_time);
	desk_close(&desk);
}

/* A record that cannot be used is made anew: it says nothing. */
static void record_is_no_use(void)
{
	static const char *const records[] = { "{", "[]", "",
		"{\"schema_name\": \"message\", \"schema_version\": 2, \"message_id\": "
		"\"message_a\", "
		"\"direction\": \"outbound\"}",
		RECORD("message_b", ", \"direction\": \"outbound\"") };
	struct desk desk;

	post_open(&desk);
	eml(&desk, "message_a", "Subject: x\n\nx\n");
	for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++) {
		struct mr_work_evidence found;

		desk_put("messages/message_a.json", records[i]);
		found = load(&desk, "message_a");
		CHECK(!found.record);
		CHECK_INT(found.direction, MR_WORK_INBOUND);
		CHECK_INT(desk.cx.err.code, MR_OK);
	}
	desk_close(&desk);
}

static void no_raw_message(void)
{
	struct mr_work_evidence found = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	CHECK(unlink(mr_work_path_eml(desk.cx.arena, PLAIN)) == 0);
	found = load(&desk, PLAIN);
	CHECK(!found.eml.data);
	CHECK(found.record);
	CHECK_STR(found.received, "2026-05-04T09:15:00+02:00");
	CHECK(unlink(mr_work_path_record(desk.cx.arena, PLAIN)) == 0);
	desk_check_fail(&desk, mr_work_evidence_load(&desk.cx, desk.work, PLAIN, &found),
		"message_not_found", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, "there is no message " PLAIN);
	desk_close(&desk);
}

static void broken_sidecar(void)
{
	struct mr_work_evidence found = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	desk_put(mr_work_path_remote(desk.cx.arena, PLAIN), "{}");
	desk_check_fail(&desk, mr_work_evidence_load(&desk.cx, desk.work, PLAIN, &found),
		"message_remote_invalid", NULL, NULL);
	desk_close(&desk);
}

static void instant(void)
{
	int64_t us = 0;

	CHECK(mr_work_instant("2026-05-04T09:15:00+02:00", &us));
	CHECK_INT(us, INT64_C(1777878900) * 1000000);
	CHECK(!mr_work_instant("yesterday", &us));
	CHECK(!mr_work_instant("", &us));
	CHECK(!mr_work_instant(NULL, &us));
}

int main(void)
{
	static const struct test all[] = { TEST(whole), TEST(direction), TEST(kept), TEST(times),
		TEST(record_is_no_use), TEST(no_raw_message), TEST(broken_sidecar), TEST(instant) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
