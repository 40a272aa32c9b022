"""A day with an e-mail workspace as calls of its tools, each with the shape of its result, in an order in which each finds
what it needs. Every tool is called at least once; work_mcp.py looks at the results, parity.py compares them with those of the
command line.
"""

from shapes import Maybe
from workspace import mail


class Mail:
    """The id of one of work_mails()."""

    def __init__(self, number):
        self.number = number


class From:
    """A member of what the nth call of a tool gave."""

    def __init__(self, tool, member, nth=0):
        self.tool, self.member, self.nth = tool, member, nth


def shape(texts="", ints="", bools="", lists="", maybe="", **more):
    """Members by their types; of lists, which hold texts; and of what may be null."""
    return {name: kind for names, kind in ((texts, str), (ints, int), (bools, bool), (lists, [str]), (maybe, Maybe(str)))
        for name in names.split()} | more


def result(code, *texts, **more):
    return {"code": (code,)} | shape(*texts, **more)


R = "because"
CASE, EMPTY, GONE = (From("work_case_create", "case_uid", nth) for nth in range(3))
NEW, REPLY, FORWARD = (From(f"work_case_draft_{verb}", "draft_name") for verb in ("new", "reply", "forward"))
SAVED = From("work_case_draft_save", "push_id")
NEWS, OTHER_NEWS = (From("work_archive_message_create", "archive_uid", nth) for nth in range(2))
CY = From("work_contact_create", "contact_uid")

# Members that are there for models alone (written_by, untrusted) are not in the shapes.
WORK_HIT = {"message_id": str, "status": ("triage",), "from": str, "subject": str, "time": Maybe(str), "snippet": str,
    "offsets": [{"start": int, "end": int}], "view_path": Maybe(str)}
WORK_CALLS = [
    ("work_status", {"storage": True}, result("status", ints="triage_count case_count archived_case_count message_count "
        "archive_message_category_count contact_count? archived_contact_count? storage_bytes remote_missing_count "
        "remote_effect_pending_message_count push_count", cases_by_group=dict, message_status=dict, push_status=dict,
        progress=dict), {"message_count": 7}),
    ("work_search", {"query": "invoice"}, {"code": ("search_result",), "count": int, "query": str, "items": [WORK_HIT]},
        {"count": 2}),
    ("work_search", {"query": "invoice", "limit": 1, "status": "triage", "since": "2026-05-01", "until": "2026-05-04"},
        {"code": ("search_result",), "count": int, "query": str, "items": [WORK_HIT]}, {"count": 1}),
    ("work_triage_list", {}, result("triage_list", ints="count", push_status=dict,
        path_templates=shape("view_path json_path"), items=[shape("message_id")]), {"count": 7}),
    ("work_triage_list", {"details": True, "limit": 1}, result("triage_list", ints="count total_count", push_status=dict,
        path_templates=shape("view_path json_path"), items=[shape("message_id status from subject time view_path",
        ints="attachment_count")]), {"count": 1, "total_count": 7}),
    ("work_message_list", {"limit": 1}, result("message_list", "next_after", ints="count",
        items=[shape("message_id status from subject time view_path", ints="attachment_count")]), {}),
    ("work_message_show", {"message_id": Mail(2)}, result("message_show",
        "message_id from sender subject direction received_rfc3339 sent_rfc3339 body_text identity_match view_path json_path",
        ints="attachment_count", bools="unread flagged remote_missing remote_effect_pending",
        lists="to cc bcc reply_to mailbox_ids flags identity_candidates observed_recipient_emails",
        maybe="remote_missing_since_rfc3339 push contact identity identity_email",
        attachments=[shape("part_id filename saved_filename content_type file_path storage", ints="size_bytes",
        bools="fetched")],
        message=shape("schema_name message_id rfc822_message_id direction subject from received_rfc3339 body_text "
            "eml_path identity_match",
        ints="schema_version", lists="to observed_recipient_emails",
        authentication=shape("spf dkim dmarc from_domain alignment"), attachments=[shape("part_id filename content_type",
        ints="size_bytes", bools="fetched")], workspace=shape("status"))), {}),
    ("work_message_attachment_fetch", {"message_id": Mail(2)}, result("attachments_saved", "message_id", ints="count",
        items=[shape("code message_id part_id filename saved_filename content_type storage file_path",
        ints="size_bytes")]), {}),
    ("work_message_attachment_fetch", {"message_id": Mail(2), "part_id": "2"}, result("attachment_saved",
        "message_id part_id filename saved_filename content_type storage file_path", ints="size_bytes"), {}),
    ("work_suggestion_set", {"message_id": Mail(3), "action": "trash", "reason": R}, result("suggestion_set",
        "message_id action reason created_rfc3339", bools="replaced", maybe="target summary"), {}),
    ("work_suggestion_list", {}, result("suggestion_list", ints="count",
        items=[shape("message_id action reason created_rfc3339 from subject view_path",
        maybe="target summary")]), {"count": 1}),
    ("work_suggestion_clear", {"message_id": Mail(3), "reason": R}, result("suggestion_cleared", "message_id",
        bools="changed"), {"changed": True}),
    ("work_suggestion_set", {"message_id": Mail(3), "action": "trash", "reason": R}, result("suggestion_set",
        "message_id action reason created_rfc3339", bools="replaced", maybe="target summary"), {}),
    ("work_suggestion_accept", {"message_id": Mail(3)}, result("suggestion_accepted",
        "message_id action reason created_rfc3339", bools="queued", lists="push_ids", maybe="target summary"), {}),
    ("work_message_restore", {"message_id": Mail(3), "reason": R}, result("message_restored",
        "message_id from_status status triage_path", ints="removed_push_count", lists="push_ids"),
        {"from_status": "trashed", "status": "triage"}),
    ("work_message_spam", {"message_id": [Mail(4)], "reason": R}, result("message_spam_marked",
        "message_id special_use push_id", ints="location_count queued_location_count", bools="queued",
        lists="message_ids"), {"special_use": "junk", "queued": True}),
    ("work_message_trash", {"message_id": [Mail(5)], "reason": R}, result("message_trashed",
        "message_id special_use push_id", ints="location_count queued_location_count", bools="queued",
        lists="message_ids"), {"special_use": "trash", "queued": True}),
    ("work_case_create", {"name": "Invoice", "message": Mail(0), "reason": R}, result("case_created",
        "case_uid case_name group case_path", ints="message_count location_count queued_location_count", bools="queued",
        lists="message_ids", maybe="push_id"), {}),
    ("work_case_create", {"name": "Empty"}, result("case_created", "case_uid case_name group case_path",
        ints="message_count", lists="message_ids"), {}),
    ("work_case_add", {"case_ref": CASE, "message_id": [Mail(1)], "summary": "paid", "reason": R},
        result("case_message_added", "case_uid message_id group case_path",
        ints="message_count location_count queued_location_count", bools="created_case already_present queued",
        lists="related_message_ids", maybe="push_id"), {}),
    ("work_case_add", {"case_ref": CASE, "message_id": [Mail(2), Mail(3)], "reason": R}, result("case_message_added",
        "case_uid message_id group case_path", ints="message_count location_count queued_location_count",
        bools="created_case already_present queued", lists="related_message_ids", maybe="push_id",
        items=[shape("message_id", bools="already_present")]), {}),
    ("work_case_list", {}, result("case_list", ints="count", path_templates=shape("case_path view_path data_path"),
        items=[shape("case_uid case_name group case_dir")]), {"count": 2}),
    ("work_case_show", {"case_ref": CASE}, result("case",
        "case_uid case_name group case_path view_path messages_path text", lists="tags",
        messages=[shape("message_id from subject summary? time?", bools="is_outbound")]), {}),
    ("work_case_set_summary", {"case_ref": CASE, "message_id": Mail(0), "summary": "an invoice", "reason": R},
        result("case_summary_set", "case_uid message_id summary case_path", bools="changed"), {}),
    ("work_case_tag", {"case_ref": CASE, "tag": "money", "reason": R}, result("case_tagged", "case_uid tag case_path",
        lists="tags"), {}),
    ("work_case_untag", {"case_ref": CASE, "tag": "money", "reason": R}, result("case_untagged", "case_uid tag case_path",
        lists="tags"), {}),
    ("work_case_move", {"case_ref": CASE, "group": "waiting"}, result("case_moved",
        "case_uid from_group to_group case_path"), {}),
    ("work_case_rename", {"case_ref": CASE, "name": "Invoices", "reason": R}, result("case_renamed",
        "case_uid old_case_name case_name group case_path", bools="changed"), {}),
    ("work_case_notes_append", {"case_ref": CASE, "text": "a note"}, result("case_notes_appended", "notes_path text_hash",
        ints="text_len_bytes", targets=[shape("kind id")]), {}),
    ("work_case_notes_replace", {"case_ref": CASE, "text": "another"}, result("case_notes_replaced",
        "notes_path text_hash", ints="text_len_bytes", targets=[shape("kind id")]), {}),
    ("work_case_notes_show", {"case_ref": CASE}, result("case_notes", "notes_path text", targets=[shape("kind id")]), {}),
    ("work_case_draft_new", {"case_ref": CASE, "to": ["cy@example.com"], "subject": "hello", "body": "text"},
        result("draft_created", "case_uid draft_name draft_path identity"), {}),
    ("work_case_draft_reply", {"case_ref": CASE, "message_id": Mail(0)}, result("draft_created",
        "case_uid message_id draft_name draft_path identity"), {}),
    ("work_case_draft_forward", {"case_ref": CASE, "message_id": Mail(1), "to": ["cy@example.com"]},
        result("draft_created", "case_uid message_id draft_name draft_path identity"), {}),
    ("work_case_draft_list", {"case_ref": CASE}, result("draft_list", "case_uid", ints="count",
        items=[shape("draft_name draft_path subject identity send_intent", bools="draft_valid", lists="to cc",
        maybe="reply_to_message_id queued_action push_id")]), {"count": 3}),
    ("work_case_draft_list", {}, result("draft_list", ints="count", items=[shape("case_uid case_name draft_name draft_path "
        "subject identity send_intent", bools="draft_valid", lists="to cc", maybe="reply_to_message_id queued_action push_id")]),
        {"count": 3}),
    ("work_case_draft_show", {"case_ref": CASE, "draft_name": REPLY}, result("draft_shown",
        "case_uid draft_name draft_path subject identity body send_intent reply_to_message_id",
        bools="remote_changed validated_current", lists="to cc", maybe="queued_action push_id last_validated_rfc3339",
        attachments=[dict]), {}),
    ("work_case_draft_validate", {"case_ref": CASE, "draft_name": REPLY}, result("draft_valid",
        "case_uid draft_name draft_hash last_validated_rfc3339"), {}),
    ("work_case_draft_change", {"case_ref": CASE, "draft_name": REPLY, "subject": "Re: money"}, result("draft_changed",
        "case_uid draft_name draft_path draft_hash last_validated_rfc3339", lists="changed_fields"), {}),
    ("work_case_draft_save", {"case_ref": CASE, "draft_name": FORWARD}, result("push_queued",
        "push_id kind action case_uid draft_name draft_path last_validated_rfc3339"), {"action": "save_draft"}),
    ("work_case_draft_send", {"case_ref": CASE, "draft_name": REPLY}, result("push_queued",
        "push_id kind action case_uid draft_name draft_path last_validated_rfc3339"), {"action": "send"}),
    ("work_push", {}, result("push_dry_run", "hint plan_id", ints="count waiting_count",
        bools="confirmed approval_required", items=[shape("push_id kind display_kind subject? identity? content_id? approval "
        "approval_reason? decided_rfc3339?", bools="draft_valid?",
        lists="actions message_ids message_subjects to? cc? attachments?", maybe="action case_uid draft_name")]),
        {"count": 4, "confirmed": False}),
    ("work_push_list", {}, result("push_list", ints="count", items=[dict]), {"count": 4}),
    ("work_push_drop", {"push_id": SAVED, "reason": R}, result("push_dropped",
        "push_id kind action", lists="message_ids"), {"action": "save_draft"}),
    ("work_case_draft_remove", {"case_ref": CASE, "draft_name": REPLY, "reason": R}, result("draft_removed",
        "case_uid draft_name draft_path", ints="removed_push_count",
        bools="draft_deleted state_removed queued_removed mail_sent", lists="push_ids actions"), {}),
    ("work_case_draft_remove", {"case_ref": CASE, "draft_name": FORWARD, "reason": R}, result("draft_removed",
        "case_uid draft_name draft_path", ints="removed_push_count",
        bools="draft_deleted state_removed queued_removed mail_sent", lists="push_ids actions"), {}),
    ("work_case_draft_remove", {"case_ref": CASE, "draft_name": NEW, "reason": R},
        result("draft_removed", "case_uid draft_name draft_path", ints="removed_push_count",
        bools="draft_deleted state_removed queued_removed mail_sent", lists="push_ids actions"), {}),
    ("work_case_remove", {"case_ref": CASE, "message_id": [Mail(1)], "reason": R}, result("case_message_removed",
        "case_uid message_id group case_path status", ints="message_count removed_push_count", lists="push_ids"), {}),
    ("work_case_remove", {"case_ref": CASE, "message_id": [Mail(2), Mail(3)], "reason": R}, result("case_message_removed",
        "case_uid message_id group case_path status", ints="message_count removed_push_count", lists="push_ids",
        items=[shape("message_id status")]), {}),
    ("work_case_merge", {"case_ref": CASE, "other_case_ref": EMPTY, "reason": R}, result("case_merged",
        "case_uid merged_case_uid", ints="message_count"), {}),
    ("work_case_archive", {"case_ref": CASE, "reason": R}, result("case_archived", "case_uid from_path case_path",
        ints="message_count location_count queued_location_count", bools="queued", lists="eligible_message_ids push_ids",
        maybe="push_id"), {}),
    ("work_archive_list", {}, result("archive_list", ints="case_count message_count",
        case_path_templates=shape("case_path view_path data_path"),
        message_path_templates=shape("archive_path view_path data_path"), cases=[shape("case_uid case_name case_dir")],
        messages=[dict]), {}),
    ("work_archive_list_cases", {}, result("archive_case_list", ints="count",
        path_templates=shape("case_path view_path data_path"), items=[shape("case_uid case_name case_dir")]), {"count": 1}),
    ("work_archive_case_show", {"case_ref": CASE}, result("archive_case", "case_uid case_name case_path view_path text"),
        {}),
    ("work_archive_case_rename", {"case_ref": CASE, "name": "Old invoices", "reason": R}, result("archive_case_renamed",
        "case_uid old_case_name case_name case_path", bools="changed"), {}),
    ("work_archive_case_notes_append", {"case_ref": CASE, "text": "a note"}, result("case_notes_appended",
        "notes_path text_hash", ints="text_len_bytes", targets=[shape("kind id")]), {}),
    ("work_archive_case_notes_replace", {"case_ref": CASE, "text": "another"}, result("case_notes_replaced",
        "notes_path text_hash", ints="text_len_bytes", targets=[shape("kind id")]), {}),
    ("work_archive_case_notes_show", {"case_ref": CASE}, result("case_notes", "notes_path text",
        targets=[shape("kind id")]), {}),
    ("work_archive_case_restore", {"case_ref": CASE, "group": "open", "reason": R}, result("case_restored",
        "case_uid group case_path"), {}),
    ("work_case_archive", {"case_ref": CASE, "reason": R}, result("case_archived", "case_uid from_path case_path",
        ints="message_count location_count queued_location_count", bools="queued", lists="eligible_message_ids push_ids",
        maybe="push_id"), {}),
    ("work_case_unarchive", {"case_ref": CASE, "reason": R}, result("case_restored", "case_uid group case_path"), {}),
    ("work_case_reopen", {"case_ref": CASE, "reason": R}, result("case_reopened", "case_uid status case_path",
        ints="message_count"), {}),
    ("work_case_create", {"name": "Gone"}, result("case_created", "case_uid case_name group case_path",
        ints="message_count", lists="message_ids"), {}),
    ("work_case_trash", {"case_ref": CASE, "reason": R}, result("case_trashed", "case_uid group case_path special_use",
        ints="message_count location_count queued_location_count", bools="queued", lists="message_ids push_ids",
        maybe="push_id"), {}),
    ("work_case_delete", {"case_ref": GONE, "reason": R}, result("case_deleted", "case_uid case_name case_path"), {}),
    ("work_archive_message_create", {"name": "News", "message": Mail(1), "summary": "paid"},
        result("archive_message_created", "archive_uid archive_name path message_id summary",
        ints="message_count location_count queued_location_count", bools="queued", lists="eligible_message_ids push_ids",
        maybe="push_id"), {}),
    ("work_archive_message_create", {"name": "Other"}, result("archive_message_created", "archive_uid archive_name path",
        ints="message_count"), {}),
    ("work_archive_message_add", {"archive_ref": NEWS, "message_id": Mail(6), "summary": "a file", "reason": R},
        result("message_archived", "message_id archive_uid path special_use push_id",
        ints="location_count queued_location_count", bools="queued", lists="eligible_message_ids push_ids"), {}),
    ("work_archive_message_show", {"archive_ref": NEWS}, result("archive_message",
        "archive_uid archive_name path view_path notes_path text", ints="message_count",
        items=[shape("message_id summary added_rfc3339")]), {}),
    ("work_archive_list_messages", {}, result("archive_message_list", ints="count",
        path_templates=shape("archive_path view_path data_path"), items=[shape("archive_uid archive_name archive_dir")]),
        {"count": 2}),
    ("work_archive_message_set_summary", {"archive_ref": NEWS, "message_id": Mail(6), "summary": "a PDF", "reason": R},
        result("message_archive_summary_set", "message_id archive_uid summary"), {}),
    ("work_archive_message_move", {"archive_ref": NEWS, "message_id": Mail(6), "new_archive_ref": OTHER_NEWS, "reason": R},
        result("message_archive_moved", "message_id from_archive_uid archive_uid", bools="changed"), {}),
    ("work_archive_message_restore", {"archive_ref": OTHER_NEWS, "message_id": Mail(6), "reason": R},
        result("message_restored", "message_id archive_uid triage_path", ints="removed_push_count", lists="push_ids"),
        {}),
    ("work_archive_message_rename", {"archive_ref": NEWS, "name": "Old news", "reason": R},
        result("message_archive_category_renamed", "archive_uid old_archive_name archive_name path", ints="message_count",
        bools="changed"), {}),
    ("work_archive_message_notes_append", {"archive_ref": NEWS, "text": "a note"},
        result("archive_message_notes_appended", "notes_path text_hash", ints="text_len_bytes",
        targets=[shape("kind id")]), {}),
    ("work_archive_message_notes_replace", {"archive_ref": NEWS, "text": "another"},
        result("archive_message_notes_replaced", "notes_path text_hash", ints="text_len_bytes",
        targets=[shape("kind id")]), {}),
    ("work_archive_message_notes_show", {"archive_ref": NEWS}, result("archive_message_notes", "notes_path text",
        targets=[shape("kind id")]), {}),
    ("work_contact_extract", {"all": True}, result("contact_extract", ints="created_count skipped_count",
        lists="created_uids"), {"created_count": 2}),
    ("work_contact_create", {"name": "Cy", "email": ["cy@example.com"]}, result("contact_created",
        "contact_uid display_name group contact_path", lists="emails"), {}),
    ("work_contact_list", {}, result("contact_list", ints="count",
        contacts=[shape("contact_uid display_name group organization role contact_path", lists="emails phones tags")]),
        {"count": 3}),
    ("work_contact_rename", {"contact_ref": CY, "name": "Cy Young"}, result("contact_renamed",
        "contact_uid display_name group contact_path"), {}),
    ("work_contact_move", {"contact_ref": CY, "group": "work"}, result("contact_moved", "contact_uid group contact_path",
        bools="changed"), {}),
    ("work_contact_email_add", {"contact_ref": CY, "email": "cy@example.net"}, result("contact_email_added",
        "contact_uid email", lists="emails"), {}),
    ("work_contact_email_remove", {"contact_ref": CY, "email": "cy@example.net"}, result("contact_email_removed",
        "contact_uid email", lists="emails"), {}),
    ("work_contact_phone_add", {"contact_ref": CY, "phone": "+1 555 0100"}, result("contact_phone_added",
        "contact_uid phone", lists="phones"), {}),
    ("work_contact_phone_remove", {"contact_ref": CY, "phone": "+1 555 0100"}, result("contact_phone_removed",
        "contact_uid phone", lists="phones"), {}),
    ("work_contact_tag", {"contact_ref": CY, "tag": "shop"}, result("contact_tagged", "contact_uid tag", lists="tags"),
        {}),
    ("work_contact_untag", {"contact_ref": CY, "tag": "shop"}, result("contact_untagged", "contact_uid tag",
        lists="tags"), {}),
    ("work_contact_notes_append", {"contact_ref": CY, "text": "a note"}, result("contact_notes_appended", "contact_uid"),
        {}),
    ("work_contact_notes_replace", {"contact_ref": CY, "text": "another"}, result("contact_notes_replaced",
        "contact_uid"), {}),
    ("work_contact_notes_show", {"contact_ref": CY}, result("contact_notes_show", "contact_uid notes"), {}),
    ("work_contact_show", {"contact_ref": CY}, result("contact_show", "contact_uid group contact_path content",
        bools="is_archived", card=shape("display_name organization role", lists="emails phones tags")), {}),
    ("work_contact_archive", {"contact_ref": CY, "reason": R}, result("contact_archived", "contact_uid contact_path"),
        {}),
    ("work_contact_reopen", {"contact_ref": CY, "reason": R}, result("contact_reopened",
        "contact_uid group contact_path"), {}),
    ("work_log_contact", {"contact_ref": CY}, result("log_filtered", ints="count", target=shape("kind id"),
        events=[dict]), {}),
    ("work_contact_delete", {"contact_ref": CY, "reason": R}, result("contact_deleted", "contact_uid contact_path"), {}),
    ("work_log_list", {"limit": 100}, result("log_list", ints="count", events=[dict]), {}),
    ("work_log_tail", {}, result("log_tail", ints="count", events=[dict]), {"count": 20}),
    ("work_log_message", {"message_id": Mail(0)}, result("log_filtered", ints="count", target=shape("kind id"),
        events=[dict]), {}),
    ("work_log_case", {"case_ref": CASE}, result("log_filtered", ints="count", target=shape("kind id"), events=[dict]),
        {}),
    ("work_log_archive", {"archive_ref": NEWS}, result("log_filtered", ints="count", target=shape("kind id"),
        events=[dict]), {}),
    ("work_render_refresh", {}, result("render_refreshed",
        ints="active_case_count archived_case_count archive_message_category_count "
            "message_cache_rebuilt_count text_cache_removed_count triage_count triage_written_count "
            "stale_triage_removed_count spam_count spam_written_count stale_spam_removed_count trash_count "
            "trash_written_count stale_trash_removed_count deleted_count deleted_written_count "
            "stale_deleted_removed_count",
        generated=dict, template_sources=dict), {}),
    ("work_doctor", {}, result("doctor", ints="issue_count error_count repairable_count", bools="ok",
        checks=shape(bools="git_checked messages cases archives push_queue templates transactions"), issues=[dict]),
        {"ok": True}),
]


def work_mails():
    return [
        mail(1, "Invoice 4711", body="Please pay the invoice.\r\nBy Friday.\r\n",
            more=["Authentication-Results: mx.example.org; spf=pass smtp.mailfrom=ann@example.com; dkim=fail; dmarc=pass"]),
        mail(2, "Re: payment", "Ben <ben@example.net>", body="The invoice is paid.\r\n"),
        mail(3, "files", "Eve <eve@example.com>", body="\r\n".join(["--b", "Content-Type: text/plain", "", "see", "--b",
            'Content-Type: application/pdf; name="plan.pdf"', 'Content-Disposition: attachment; filename="plan.pdf"', "",
            "PDF", "--b--", ""]), more=["MIME-Version: 1.0", 'Content-Type: multipart/mixed; boundary="b"']),
        *(mail(number) for number in (4, 5, 6, 7)),
    ]


def furnish(desk):
    """The mails of all calls, of which some are on a server too; their ids."""
    desk.ok("config", "set", "identities.me.email", "me@example.net")
    ids = desk.deliver(*work_mails())
    desk.locate(*ids[4:])
    return ids


def work_given(arguments, ids, seen):
    """The arguments with what the calls before have given: `seen` has all results of each tool."""
    def value(given):
        if isinstance(given, Mail):
            return ids[given.number]
        if isinstance(given, From):
            return seen[given.tool][given.nth][given.member]
        return [value(item) for item in given] if isinstance(given, list) else given
    return {name: value(given) for name, given in arguments.items()}
