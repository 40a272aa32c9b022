/* tests/unit/workspace/post.c */
#include "post.h"

#include "test.h"
#include "workspace/audit.h"
#include "workspace/config.h"
#include "workspace/error.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/queue.h"
#include "workspace/refresh.h"

#include <stdarg.h>

static const struct {
	const char *id, *eml;
} mails[] = {
	{ PLAIN,
		"From: Alice Adams <alice@example.org>\r\nTo: Me Tester <me@example.com>\r\n"
		"Subject: Invoice 17 is ready\r\nDate: Mon, 04 May 2026 09:15:00 +0200\r\n"
		"Message-ID: <plain-1@example.org>\r\n\r\nHello.\r\n" },
	{ SPAM,
		"From: Prize <prize@win.example>\r\nTo: Me Tester <me@example.com>\r\n"
		"Subject: You won\r\nDate: Sun, 17 May 2026 03:00:00 +0000\r\n"
		"Message-ID: <spam-1@win.example>\r\n\r\nClick.\r\n" },
	{ NOTICE,
		"From: Billing <billing@service.example>\r\nTo: Me Tester <me@example.com>\r\n"
		"Subject: Receipt 2026-05\r\nDate: Mon, 18 May 2026 07:00:00 +0000\r\n"
		"Message-ID: <notice-1@service.example>\r\n\r\nPaid 5.00.\r\n" },
	{ FILES,
		"From: Bob Builder <bob@example.net>\r\nTo: Me Tester <me@example.com>\r\n"
		"Subject: Plans and photo\r\nDate: Sun, 10 May 2026 12:00:00 +0000\r\n"
		"Message-ID: <att-1@example.net>\r\nMIME-Version: 1.0\r\n"
		"Content-Type: multipart/mixed; boundary=\"m1\"\r\n\r\n--m1\r\n"
		"Content-Type: text/plain\r\n\r\nSee the files.\r\n--m1\r\n"
		"Content-Type: application/pdf\r\nContent-Disposition: attachment; "
		"filename=\"a.pdf\"\r\n\r\na\r\n--m1\r\nContent-Type: text/csv\r\n"
		"Content-Disposition: attachment; filename=\"b.csv\"\r\n\r\nb\r\n--m1--\r\n" },
	{ T1,
		"From: Erin <erin@thread.example.org>\r\nTo: Me Tester <me@example.com>\r\n"
		"Subject: Meeting on Friday\r\nDate: Tue, 12 May 2026 08:00:00 +0000\r\n"
		"Message-ID: <t1@thread.example.org>\r\n\r\nCan we meet?\r\n" },
	{ T2,
		"From: Frank <frank@thread.example.org>\r\nTo: Me Tester <me@example.com>\r\n"
		"Subject: Re: Meeting on Friday\r\nDate: Tue, 12 May 2026 09:00:00 +0000\r\n"
		"Message-ID: <t2@thread.example.org>\r\nIn-Reply-To: <t1@thread.example.org>\r\n"
		"References: <t1@thread.example.org>\r\n\r\nFine.\r\n" },
	{ T4,
		"From: Frank <frank@thread.example.org>\r\nTo: Me Tester <me@example.com>\r\n"
		"Subject: Re: Meeting on Friday\r\nDate: Tue, 12 May 2026 22:30:00 +0000\r\n"
		"Message-ID: <t4@thread.example.org>\r\nIn-Reply-To: <t1@thread.example.org>\r\n"
		"\r\nWhich room?\r\n" },
	{ T5,
		"From: Erin <erin@thread.example.org>\r\nTo: Me Tester <me@example.com>\r\n"
		"Subject: Re: Meeting on Friday\r\nDate: Wed, 13 May 2026 07:30:00 +0000\r\n"
		"Message-ID: <t5@thread.example.org>\r\nIn-Reply-To: <t4@thread.example.org>\r\n"
		"References: <t1@thread.example.org> <t4@thread.example.org>\r\n\r\nRoom 5.\r\n" },
};

void post_open(struct desk *desk)
{
	struct mr_bytes config;

	desk_open(desk);
	config = mr_work_pretty(&desk->cx, mr_work_config_default(&desk->cx, 0));
	desk_put(MR_WORK_CONFIG,
		mr_arena_strndup(desk->cx.arena, (const char *)config.data, config.len));
	desk_next(desk);
}

static void locate(const char *message_id, const char *mailbox_name, const char *mailbox_id,
	int uid)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	desk_put(mr_work_path_remote(arena, message_id),
		mr_arena_printf(arena,
			"{\"schema_name\": \"message_remote\", \"schema_version\": 1, "
			"\"message_id\": \"%s\", \"locations\": [{\"mailbox_name\": \"%s\", "
			"\"mailbox_id\": %s%s%s, \"uid_validity\": 7, \"uid\": %d, \"flags\": [], "
			"\"observed_rfc3339\": \"2026-05-20T00:00:00Z\", \"missing_rfc3339\": "
			"null}]}\n",
			message_id, mailbox_name, mailbox_id ? "\"" : "",
			mailbox_id ? mailbox_id : "null", mailbox_id ? "\"" : "", uid));
}

void post_locate(const char *message_id, const char *mailbox_name, const char *mailbox_id)
{
	locate(message_id, mailbox_name, mailbox_id, 1);
}

static const char *eml_of(const char *id)
{
	for (size_t i = 0; i < MR_LEN(mails); i++)
		if (mr_str_eq(mails[i].id, id))
			return mails[i].eml;
	test_fail(__FILE__, __LINE__, "no mail %s", id);
}

void post_mail(struct desk *desk, ...)
{
	struct mr_work_refreshed refreshed;
	const char *id;
	int uid = 0;
	va_list ap;

	va_start(ap, desk);
	while ((id = va_arg(ap, const char *))) {
		desk_put(mr_work_path_eml(desk->cx.arena, id), eml_of(id));
		locate(id, "INBOX", "inbox", ++uid);
	}
	va_end(ap);
	desk_next(desk);
	CHECK_OK(mr_work_refresh_all(&desk->cx, desk->work, &refreshed), desk->cx.err);
	desk_next(desk);
}

static void set(struct desk *desk, const char *key, const char *value, bool is_json)
{
	struct mr_texts one = { (const char *[]){ value, NULL }, 1 };
	const struct mr_value *stored = NULL;
	struct mr_work_change change;

	mr_work_change_begin(&desk->cx, desk->work, "config_set", &change);
	if (is_json)
		CHECK_OK(mr_work_config_set_json(&desk->cx, desk->work, key, value, &change,
				 &stored),
			desk->cx.err);
	else
		CHECK_OK(mr_work_config_set(&desk->cx, desk->work, key, &one, &change, &stored),
			desk->cx.err);
	POST_OK(desk, mr_work_carry_out(&desk->cx, &change));
}

void post_set(struct desk *desk, const char *key, const char *value)
{
	set(desk, key, value, false);
}

void post_set_json(struct desk *desk, const char *key, const char *json)
{
	set(desk, key, json, true);
}

const char *post_join(struct desk *desk, const struct mr_texts *texts)
{
	return mr_str_join(desk->cx.arena, texts, " ");
}

static const char *join_list(struct desk *desk, const struct mr_value *list)
{
	const char *line = "";

	CHECK(list && list->kind == MR_LIST);
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *item = &list->list.items[i];
		const char *text = item->kind == MR_TEXT
			? item->text
			: mr_arena_printf(desk->cx.arena, "%s:%s", mr_value_get(item, "kind")->text,
				  mr_value_get(item, "id")->text);

		line = mr_arena_printf(desk->cx.arena, "%s%s%s", line, i ? " " : "", text);
	}
	return line;
}

const char *post_detail(struct desk *desk, const char *key)
{
	const struct mr_work_trouble *trouble = mr_work_trouble(&desk->cx.err);

	return join_list(desk, mr_value_get(trouble ? trouble->detail : NULL, key));
}

const char *post_hint(struct desk *desk)
{
	const struct mr_work_trouble *trouble = mr_work_trouble(&desk->cx.err);

	return trouble && trouble->hint ? trouble->hint : "";
}

const char *post_event(struct desk *desk, const char *key)
{
	const struct mr_value *value = mr_value_get(desk_last_event(desk), key);

	CHECK(value);
	if (value->kind == MR_INT)
		return mr_arena_printf(desk->cx.arena, "%lld", (long long)value->integer);
	return value->kind == MR_TEXT ? value->text : "null";
}

const char *post_event_list(struct desk *desk, const char *key)
{
	return join_list(desk, mr_value_get(desk_last_event(desk), key));
}

const char *post_status(struct desk *desk, const char *message_id)
{
	struct mr_work_brief brief = { 0 };

	CHECK_OK(mr_work_index_message(&desk->cx, desk->work, message_id, &brief), desk->cx.err);
	return mr_work_status_names[brief.status];
}

struct mr_work_collection post_list(struct desk *desk, enum mr_work_collection_kind kind,
	const char *path)
{
	struct mr_work_collection list = { 0 };

	CHECK_OK(mr_work_collection_load(&desk->cx, desk->work, kind, path, &list), desk->cx.err);
	return list;
}

const char *post_members(struct desk *desk, enum mr_work_collection_kind kind, const char *path)
{
	struct mr_work_collection list = post_list(desk, kind, path);
	const char *line = "";

	for (size_t i = 0; i < list.len; i++)
		line = mr_arena_printf(desk->cx.arena, "%s%s%s", line, i ? " " : "",
			list.items[i].message_id);
	return line;
}

const char *post_queue(struct desk *desk)
{
	struct mr_work_push_items queue = { 0 };
	const char *line = "";

	CHECK_OK(mr_work_queue_load_strict(&desk->cx, desk->work, &queue), desk->cx.err);
	for (size_t i = 0; i < queue.len; i++)
		line = mr_arena_printf(desk->cx.arena, "%s%s%s:%s", line, i ? " " : "",
			mr_work_push_action_names[queue.items[i].action],
			mr_str_join(desk->cx.arena, &queue.items[i].message_ids, ","));
	return line;
}

void post_start(struct desk *desk, const char *push_id)
{
	struct mr_work_step_state state = { .label = "x",
		.status = MR_WORK_STEP_FAILED,
		.started = desk->work->now };
	struct mr_work_push_item item = { 0 };
	struct mr_work_change change;

	CHECK_OK(mr_work_queue_find(&desk->cx, desk->work, push_id, &item), desk->cx.err);
	item.states = &state;
	item.state_count = 1;
	mr_work_change_begin(&desk->cx, desk->work, "push", &change);
	mr_work_queue_save(&change, &item);
	POST_OK(desk, mr_work_carry_out(&desk->cx, &change));
}
