/* workspace/view_section.c - a message as a section of a conversation. */
#include "text/clean.h"
#include "text/markdown.h"
#include "text/quoted.h"
#include "workspace/view_private.h"

#include <string.h>

/* --- who and when --- */

static const char *counterparty(struct mr_ctx *cx, const struct mr_work_record *record,
	enum mr_work_language language)
{
	const char *who = mr_work_record_is_sent(record) ? mr_str_join(cx->arena, &record->to, ", ")
							 : record->from;

	if (!mr_str_is_empty(who))
		return mr_work_inline(cx->arena, who);
	return language == MR_WORK_ZH_CN ? "未知" : "unknown";
}

static const char *heading(struct mr_ctx *cx, const struct mr_work_record *record,
	enum mr_work_language language)
{
	static const char *const begins[2][2] = {
		[MR_WORK_EN_US] = { "Received from", "Sent to" },
		[MR_WORK_ZH_CN] = { "收到自", "发送给" },
	};
	const char *time = mr_work_record_time(record);

	return mr_arena_printf(cx->arena, "%s %s - %s",
		begins[language][mr_work_record_is_sent(record)],
		counterparty(cx, record, language), *time ? time : "unknown-time");
}

/* --- what may be wrong with it --- */

static const char *bare(const char *address, struct mr_arena *arena)
{
	const char *open = address ? strrchr(address, '<') : NULL;
	const char *close = open ? strchr(open, '>') : NULL;
	const char *text = close ? mr_arena_strndup(arena, open + 1, (size_t)(close - open - 1))
				 : (address ? address : "");

	return mr_str_lower(arena, mr_str_trim(arena, text));
}

static bool any_is_own(struct mr_ctx *cx, const struct mr_work_config *config,
	const struct mr_texts *addresses)
{
	for (size_t i = 0; i < addresses->len; i++)
		if (mr_work_is_own_address(config, bare(addresses->items[i], cx->arena)))
			return true;
	return false;
}

struct hints {
	bool possible_bcc, reply_to_differs, sender_differs;
	const char *reply_to, *sender, *list_id, *list_headers;
};

static void find_hints(struct mr_ctx *cx, const struct mr_work_config *config,
	const struct mr_work_record *record, struct hints *out)
{
	struct mr_arena *arena = cx->arena;
	const char *from = bare(record->from, arena);

	out->possible_bcc = (any_is_own(cx, config, &record->delivered_to) ||
				    any_is_own(cx, config, &record->x_original_to) ||
				    any_is_own(cx, config, &record->envelope_to)) &&
		!any_is_own(cx, config, &record->to) && !any_is_own(cx, config, &record->cc);
	out->reply_to_differs = record->reply_to.len &&
		(record->reply_to.len > 1 ||
			!mr_str_eq(bare(record->reply_to.items[0], arena), from));
	out->sender_differs = record->sender && !mr_str_eq(bare(record->sender, arena), from);
	out->reply_to = mr_work_inline(arena, mr_str_join(arena, &record->reply_to, ", "));
	out->sender = mr_work_inline(arena, record->sender);
	out->list_id = mr_work_inline(arena, record->list_id);
	out->list_headers =
		mr_work_inline(arena, mr_str_join(arena, &record->mailing_list_headers, " | "));
}

static void emit_hint(struct mr_out *out, bool is_so, const char *kind, const char *key,
	const char *value)
{
	if (!is_so)
		return;
	mr_out_map(out, NULL);
	mr_out_text(out, "kind", kind);
	if (key)
		mr_out_text(out, key, value);
	mr_out_end(out);
}

static void emit_hints(struct mr_out *out, const struct hints *hints)
{
	mr_out_list(out, "hints");
	emit_hint(out, hints->possible_bcc, "possible_bcc", NULL, NULL);
	emit_hint(out, hints->reply_to_differs, "reply_to_differs", "recipients", hints->reply_to);
	emit_hint(out, hints->sender_differs, "sender_differs", "sender", hints->sender);
	emit_hint(out, *hints->list_id, "mailing_list", "list_id", hints->list_id);
	emit_hint(out, *hints->list_headers, "mailing_list_headers", "headers",
		hints->list_headers);
	mr_out_end(out);
}

static void emit_security(struct mr_out *out, const struct mr_work_record *record,
	const struct hints *hints)
{
	const struct mr_mail_auth *auth = &record->authentication;
	bool has_results = record->authentication_raw.len > 0;

	mr_out_map(out, "security");
	mr_out_map(out, "authentication");
	mr_out_bool(out, "check", !mr_work_record_is_sent(record) || has_results);
	mr_out_bool(out, "has_results", has_results);
	mr_out_text(out, "spf", mr_mail_verdict_text(auth->spf));
	mr_out_text(out, "dkim", mr_mail_verdict_text(auth->dkim));
	mr_out_text(out, "dmarc", mr_mail_verdict_text(auth->dmarc));
	mr_out_text(out, "dmarc_policy", auth->dmarc_policy);
	mr_out_text(out, "authenticated_domain", auth->authenticated_domain);
	mr_out_text(out, "from_domain", auth->from_domain);
	mr_out_text(out, "alignment", auth->alignment);
	mr_out_end(out);
	mr_out_bool(out, "possible_bcc", hints->possible_bcc);
	mr_out_bool(out, "reply_to_differs", hints->reply_to_differs);
	mr_out_text(out, "reply_to_recipients", hints->reply_to);
	mr_out_bool(out, "sender_differs", hints->sender_differs);
	mr_out_text(out, "sender", hints->sender);
	mr_out_text(out, "mailing_list", hints->list_id);
	mr_out_text(out, "mailing_list_headers", hints->list_headers);
	mr_out_end(out);
}

/* --- attachments --- */

/* "../" for each directory of the view, so that a path of the workspace can follow. */
static const char *climb(struct mr_arena *arena, const char *view_dir)
{
	const char *up = "../";

	for (const char *at = view_dir; *at; at++)
		if (*at == '/')
			up = mr_arena_printf(arena, "../%s", up);
	return up;
}

static void emit_attachments(struct mr_ctx *cx, struct mr_out *out,
	const struct mr_work_record *record, const char *view_dir)
{
	mr_out_list(out, "attachments");
	for (size_t i = 0; i < record->attachment_count; i++) {
		const struct mr_work_attachment *attachment = &record->attachments[i];
		size_t dropped = 0;
		const char *name = mr_clean_unseen(cx->arena, attachment->filename, &dropped);
		bool is_image = mr_str_starts(attachment->content_type, "image/");

		mr_out_map(out, NULL);
		mr_out_text(out, "part_id", attachment->part_id);
		mr_out_text(out, "filename", attachment->filename);
		mr_out_text(out, "display_filename", mr_markdown_inline(cx->arena, name));
		mr_out_text(out, "image_alt", mr_markdown_alt(cx->arena, name));
		mr_out_text(out, "content_type", attachment->content_type);
		mr_out_int(out, "size_bytes", attachment->size_bytes);
		mr_out_text(out, "file_path", attachment->file_path ? attachment->file_path : "");
		mr_out_text(out, "saved_filename", attachment->saved_filename);
		mr_out_text(out, "source_path", "");
		mr_out_bool(out, "fetched", attachment->fetched);
		mr_out_bool(out, "is_image", is_image);
		mr_out_text(out, "preview_path",
			attachment->fetched && is_image
				? mr_arena_printf(cx->arena, "%s%s", climb(cx->arena, view_dir),
					  attachment->file_path)
				: "");
		mr_out_end(out);
	}
	mr_out_end(out);
}

/* --- headers --- */

/* One of them as a line of the view; counts the characters that are not seen. */
static void emit_header(struct mr_arena *arena, struct mr_out *out, const char *key,
	const char *value, size_t *dropped)
{
	size_t count = 0;

	mr_out_text(out, key,
		mr_markdown_inline(arena, mr_clean_unseen(arena, value ? value : "", &count)));
	*dropped += count;
}

static void emit_headers(struct mr_arena *arena, struct mr_out *out,
	const struct mr_work_record *record, size_t *dropped)
{
	emit_header(arena, out, "display_from", record->from, dropped);
	emit_header(arena, out, "display_contact", record->contact_name, dropped);
	emit_header(arena, out, "display_subject", record->subject, dropped);
	emit_header(arena, out, "display_to", mr_str_join(arena, &record->to, ", "), dropped);
	emit_header(arena, out, "display_cc", mr_str_join(arena, &record->cc, ", "), dropped);
	emit_header(arena, out, "display_bcc", mr_str_join(arena, &record->bcc, ", "), dropped);
	emit_header(arena, out, "display_observed",
		mr_str_join(arena, &record->identity.observed_recipient_emails, ", "), dropped);
}

/* --- the text --- */

/* Backticks that no run of backticks in the text can close. */
static const char *fence_for(struct mr_arena *arena, const char *text)
{
	const char *fenced = mr_markdown_fence_around(arena, text, "");

	return mr_arena_strndup(arena, fenced, strspn(fenced, "`"));
}

/* The text, with a line end at its end. */
static const char *block(struct mr_arena *arena, const char *text)
{
	return mr_str_ends(text, "\n") ? text : mr_arena_printf(arena, "%s\n", text);
}

static void emit_body(struct mr_ctx *cx, struct mr_out *out, const struct mr_work_record *record,
	const struct mr_texts *replied, size_t *dropped)
{
	size_t count = 0;
	const char *body = mr_clean_unseen(cx->arena, record->body_text, &count);
	struct mr_quoted quoted;

	mr_quoted_split(cx->arena, body, &quoted);
	mr_out_text(out, "body_text", body);
	mr_out_text(out, "body_text_block", block(cx->arena, body));
	mr_out_text(out, "body_text_visible", quoted.visible);
	mr_out_text(out, "body_text_visible_block", block(cx->arena, quoted.visible));
	mr_out_text(out, "body_text_fence", fence_for(cx->arena, body));
	mr_out_bool(out, "has_quoted_reply", quoted.has_quoted);
	mr_out_text(out, "quoted_message_id",
		quoted.has_quoted && replied->len ? replied->items[replied->len - 1] : "");
	mr_out_text(out, "quoted_from", mr_work_inline(cx->arena, quoted.from));
	mr_out_text(out, "quoted_at", mr_work_inline(cx->arena, quoted.at));
	*dropped += count;
	mr_out_texts(out, "parse_notes", &record->notes);
}

enum mr_code mr_work_view_section(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_record *record, const char *view_dir, const char **out_text)
{
	const struct mr_work_config *config = NULL;
	struct mr_texts replied = { 0 };
	struct hints hints;
	struct mr_out out;
	size_t dropped = 0;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (!rc)
		rc = mr_work_index_replied(cx, work, record->message_id, &replied);
	if (rc)
		return rc;
	find_hints(cx, config, record, &hints);
	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_value(&out, "message", mr_work_record_value(cx, record));
	mr_out_map(&out, "view");
	mr_out_text(&out, "language", mr_work_language_names[config->language]);
	mr_out_text(&out, "timestamp_rfc3339", mr_work_record_time(record));
	mr_out_text(&out, "display_heading", heading(cx, record, config->language));
	mr_out_text(&out, "message_action", mr_work_record_is_sent(record) ? "sent" : "received");
	mr_out_text(&out, "display_counterparty", counterparty(cx, record, config->language));
	emit_headers(cx->arena, &out, record, &dropped);
	emit_body(cx, &out, record, &replied, &dropped);
	mr_out_int(&out, "unseen_character_count", (int64_t)dropped);
	emit_security(&out, record, &hints);
	emit_hints(&out, &hints);
	emit_attachments(cx, &out, record, view_dir);
	mr_out_end(&out);
	mr_out_end(&out);
	return mr_work_template_render(cx, work, MR_WORK_T_SECTION, mr_out_tree(&out), out_text);
}
