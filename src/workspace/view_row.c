/* workspace/view_row.c - the row of a message in an index view. */
#include "text/clean.h"
#include "text/markdown.h"
#include "text/time.h"
#include "workspace/evidence.h"
#include "workspace/view_private.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool mr_work_record_is_sent(const struct mr_work_record *record)
{
	const struct mr_work_evidence *evidence = &record->evidence;

	return evidence->direction == MR_WORK_OUTBOUND || (!evidence->received && evidence->sent);
}

const char *mr_work_record_time(const struct mr_work_record *record)
{
	const struct mr_work_evidence *evidence = &record->evidence;
	const char *time = evidence->received ? evidence->received : evidence->sent;

	return time ? time : "";
}

const char *mr_work_inline(struct mr_arena *arena, const char *text)
{
	size_t dropped = 0;

	return mr_markdown_inline(arena, mr_clean_unseen(arena, text ? text : "", &dropped));
}

const char *mr_work_cell(struct mr_arena *arena, const char *text)
{
	return mr_markdown_cell(arena, mr_work_inline(arena, text));
}

/* --- which way, and what it does --- */

enum action { MESSAGE, REPLY, FORWARD };
static const char *const action_names[] = { "message", "reply", "forward" };

static bool has_prefix(const char *subject, const char *const *prefixes)
{
	while (*subject == ' ' || *subject == '\t')
		subject++;
	for (; *prefixes; prefixes++)
		if (strncasecmp(subject, *prefixes, strlen(*prefixes)) == 0)
			return true;
	return false;
}

static enum action action_of(const struct mr_work_record *record)
{
	static const char *const forward[] = { "fwd:", "fw:", "转发:", "轉發:", "fwd：", "fw：",
		NULL };
	static const char *const reply[] = { "re:", "回复:", "回覆:", "答复:", "答覆:", "re：",
		NULL };
	const char *subject = record->subject ? record->subject : "";

	if (has_prefix(subject, forward))
		return FORWARD;
	if (record->in_reply_to || record->references.len || has_prefix(subject, reply))
		return REPLY;
	return MESSAGE;
}

static const char *const labels[2][2][3] = {
	[MR_WORK_EN_US] = { { "← Received", "← Received reply", "← Received forward" },
		{ "→ Sent", "→ Sent reply", "→ Sent forward" } },
	[MR_WORK_ZH_CN] = { { "← 收到", "← 收到回复", "← 收到转发" },
		{ "→ 发送", "→ 发送回复", "→ 发送转发" } },
};
static const char *const kinds[2][3] = { { "received", "received_reply", "received_forward" },
	{ "sent", "sent_reply", "sent_forward" } };
static const char *const contact_labels
	[2][2] = { [MR_WORK_EN_US] = { "From", "To" }, [MR_WORK_ZH_CN] = { "发件人", "收件人" } };

/* --- time --- */

static void emit_part(struct mr_out *out, const char *key, const char *text, size_t from,
	size_t len)
{
	int64_t value = 0;

	for (size_t i = from; i < from + len; i++)
		value = value * 10 + (text[i] - '0');
	mr_out_int(out, key, value);
}

static void emit_time(struct mr_ctx *cx, const struct mr_work_config *config, struct mr_out *out,
	const char *key, const char *rfc3339)
{
	static const char *const names[] = { "local_rfc3339", "date", "time", "datetime" };
	static const char *const parts[] = { "year", "month", "day", "hour", "minute" };
	int64_t us = 0;

	mr_out_map(out, key);
	mr_out_text(out, "original_rfc3339", rfc3339 ? rfc3339 : "");
	if (!mr_work_instant(rfc3339, &us)) {
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			mr_out_text(out, names[i], "");
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
			mr_out_null(out, parts[i]);
	} else {
		const char *local = mr_work_local_time(cx->arena, config, us);
		int offset = config->offset_minutes;
		const char *seconds =
			mr_time_format(cx->arena, us + offset * MR_TIME_MIN, MR_TIME_SECONDS);
		const char *zone = offset
			? mr_arena_printf(cx->arena, "%c%02d:%02d", offset < 0 ? '-' : '+',
				  abs(offset) / 60, abs(offset) % 60)
			: "Z";

		mr_out_text(out, "local_rfc3339",
			mr_arena_printf(cx->arena, "%.19s%s", seconds, zone));
		mr_out_text(out, "date", mr_arena_strndup(cx->arena, local, 10));
		mr_out_text(out, "time", mr_arena_strdup(cx->arena, local + 11));
		mr_out_text(out, "datetime", local);
		emit_part(out, "year", local, 0, 4);
		emit_part(out, "month", local, 5, 2);
		emit_part(out, "day", local, 8, 2);
		emit_part(out, "hour", local, 11, 2);
		emit_part(out, "minute", local, 14, 2);
	}
	mr_out_end(out);
}

static const char *display_time(struct mr_ctx *cx, const struct mr_work_config *config,
	const char *rfc3339)
{
	int64_t us = 0;

	return mr_work_instant(rfc3339, &us) ? mr_work_local_time(cx->arena, config, us) : "";
}

/* --- fields --- */

struct row {
	struct mr_ctx *cx;
	const struct mr_work_config *config;
	const struct mr_work_record *record;
	const struct mr_work_item *item;
	const char *link, *time, *contact, *title, *summary;
};

static void emit_field(struct mr_out *out, const char *kind, const char *value, const char *href)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "kind", kind);
	if (value)
		mr_out_text(out, "value", value);
	if (href)
		mr_out_text(out, "href", href);
	mr_out_end(out);
}

static const char *field_value(const struct row *row, const char *kind)
{
	struct mr_arena *arena = row->cx->arena;
	const struct mr_work_record *record = row->record;

	if (mr_str_eq(kind, "time"))
		return row->time;
	if (mr_str_eq(kind, "from"))
		return mr_work_inline(arena, record->from);
	if (mr_str_eq(kind, "to"))
		return mr_work_inline(arena, mr_str_join(arena, &record->to, ", "));
	if (mr_str_eq(kind, "subject"))
		return mr_work_inline(arena, record->subject);
	if (mr_str_eq(kind, "summary"))
		return mr_work_inline(arena, row->summary);
	if (mr_str_eq(kind, "message_id"))
		return record->message_id;
	if (mr_str_eq(kind, "archive_time"))
		return row->item ? display_time(row->cx, row->config, row->item->added) : "";
	if (mr_str_eq(kind, "status"))
		return mr_work_status_names[record->status];
	return "";
}

static void emit_case_fields(struct mr_out *out, const struct row *row)
{
	static const char *const names[] = { "time", "from", "to", "subject", "status" };

	mr_out_list(out, "fields");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = field_value(row, names[i]);

		if (*value)
			emit_field(out, names[i], value, NULL);
	}
	mr_out_end(out);
}

static void emit_archive_fields(struct mr_out *out, const struct row *row)
{
	const struct mr_texts *fields = &row->config->item_fields;

	mr_out_text(out, "summary", row->summary);
	mr_out_text(out, "display_summary", mr_work_inline(row->cx->arena, row->summary));
	mr_out_text(out, "added_rfc3339", row->item->added);
	emit_time(row->cx, row->config, out, "added_time", row->item->added);
	mr_out_list(out, "fields");
	for (size_t i = 0; i < fields->len; i++) {
		bool is_link = mr_str_eq(fields->items[i], "link");

		emit_field(out, fields->items[i],
			is_link ? row->record->message_id : field_value(row, fields->items[i]),
			is_link ? row->link : NULL);
	}
	mr_out_end(out);
	mr_out_list(out, "secondary");
	if (!mr_texts_has(fields, "message_id"))
		emit_field(out, "message_id", row->record->message_id, NULL);
	if (!mr_texts_has(fields, "link"))
		emit_field(out, "link", NULL, row->link);
	mr_out_end(out);
}

static void emit_view(struct mr_out *out, const struct row *row, bool with_case_fields)
{
	const struct mr_work_record *record = row->record;
	bool sent = mr_work_record_is_sent(record);
	enum mr_work_language language = row->config->language;
	enum action action = action_of(record);
	struct mr_arena *arena = row->cx->arena;

	mr_out_map(out, "view");
	emit_time(row->cx, row->config, out, "time", mr_work_record_time(record));
	mr_out_text(out, "time_rfc3339", mr_work_record_time(record));
	mr_out_text(out, "display_time", row->time);
	mr_out_text(out, "direction", sent ? "outbound" : "inbound");
	mr_out_text(out, "direction_kind", sent ? "sent" : "received");
	mr_out_text(out, "direction_symbol", sent ? "→" : "←");
	mr_out_text(out, "action", action_names[action]);
	mr_out_text(out, "action_kind", kinds[sent][action]);
	mr_out_text(out, "action_label", labels[language][sent][action]);
	mr_out_bool(out, "is_reply", action == REPLY);
	mr_out_bool(out, "is_forward", action == FORWARD);
	mr_out_text(out, "contact_kind", sent ? "to" : "from");
	mr_out_text(out, "contact_label", contact_labels[language][sent]);
	mr_out_text(out, "contact", row->contact);
	mr_out_text(out, "display_contact", mr_work_inline(arena, row->contact));
	mr_out_text(out, "display_subject", mr_work_inline(arena, record->subject));
	mr_out_text(out, "title", row->title);
	mr_out_text(out, "display_title", mr_work_inline(arena, row->title));
	mr_out_text(out, "display_status", mr_work_status_names[record->status]);
	mr_out_text(out, "link", row->link);
	if (with_case_fields)
		emit_case_fields(out, row);
	else if (row->item)
		emit_archive_fields(out, row);
	mr_out_end(out);
}

void mr_work_row_emit(struct mr_ctx *cx, const struct mr_work_config *config, struct mr_out *out,
	const struct mr_work_record *record, const struct mr_work_item *item, const char *link,
	bool with_case_fields)
{
	bool sent = mr_work_record_is_sent(record);
	struct row row = { .cx = cx,
		.config = config,
		.record = record,
		.item = item,
		.link = link };

	row.time = display_time(cx, config, mr_work_record_time(record));
	row.contact = sent ? mr_str_join(cx->arena, &record->to, ", ")
			   : (record->from ? record->from : "");
	row.summary = item && item->summary ? item->summary : "";
	row.title = item && !with_case_fields && *row.summary ? row.summary
		: record->subject                             ? record->subject
							      : record->message_id;
	mr_out_map(out, NULL);
	mr_out_value(out, "message", mr_work_record_value(cx, record));
	if (item && !with_case_fields) {
		mr_out_map(out, "item");
		mr_out_text(out, "message_id", item->message_id);
		if (item->summary)
			mr_out_text(out, "summary", item->summary);
		mr_out_text(out, "added_rfc3339", item->added);
		mr_out_end(out);
	}
	emit_view(out, &row, with_case_fields);
	mr_out_end(out);
}
