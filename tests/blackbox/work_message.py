"""usage: work_message.py PROGRAM - messages of a workspace: listed, shown, discarded, brought back, purged; their attachments."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402

WITH_FILE = mail(3, subject="With a file", more=('MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary="b"'),
    body="--b\r\nContent-Type: text/plain\r\n\r\nSee the file.\r\n--b\r\nContent-Type: text/plain; name=\"../list.txt\"\r\n"
         "Content-Disposition: attachment; filename=\"../list.txt\"\r\n\r\none\r\n--b--\r\n")
UNKNOWN = "message_20260101_0000000000000000"


def test_list(program):
    with Workspace(program) as w:
        ids = w.deliver(mail(1, sender="Ann <ann@example.com>"), mail(2, sender="Bob <bob@example.com>"), WITH_FILE)
        listed = w.ok("message", "list")
        assert [item["message_id"] for item in listed["items"]] == ids[::-1], listed
        assert listed["code"] == "message_list" and listed["count"] == 3 and "next_after" not in listed, listed
        assert listed["items"][0] == {"message_id": ids[2], "status": "triage", "from": "Ann <ann@example.com>",
            "subject": "With a file", "time": "2026-05-04T03:00:00Z", "attachment_count": 1,
            "view_path": f"triage/{ids[2]}.md"}, listed

        def found(*args):
            return [item["message_id"] for item in w.ok("message", "list", *args)["items"]]

        assert found("--from", "BOB@") == [ids[1]]
        assert found("--subject", "file") == [ids[2]]
        assert found("--since", "2026-05-04T02:00:00Z") == [ids[2], ids[1]]
        assert found("--until", "2026-05-04T02:00:00Z") == [ids[0]]
        assert found("--until", "1970-01-01") == []
        assert found("--status", "spam") == []
        page = w.ok("message", "list", "--limit", "2")
        assert page["next_after"] == ids[1] and page["count"] == 2, page
        assert found("--limit", "2", "--after", page["next_after"]) == [ids[0]]


def test_list_errors(program):
    with Workspace(program) as w:
        error = w.fails("invalid_request", "message", "list", "--since", "yesterday")
        assert error["error"].startswith("--since yesterday is not a time: "), error
        assert error["hint"] == "Write a date (2026-05-04) or a time (2026-05-04T09:30:00Z).", error
        error = w.fails("message_not_found", "message", "list", "--after", UNKNOWN)
        assert UNKNOWN in error["error"], error
        error = w.fails(None, "message", "list", "--status", "lost")
        assert "must be one of: triage, case, archived, spam, trashed, deleted_remote" in error["error"], error
        assert "must be between 1 and 10000" in w.fails(None, "message", "list", "--limit", "0")["error"]


def test_triage(program):
    with Workspace(program) as w:
        assert w.tells("triage") == "Triage is empty: no message waits for a decision.\n"
        ids = w.deliver(mail(1), mail(2, subject="\x1b[31mRed\r\n alert"), WITH_FILE)
        listed = w.ok("triage", "list")
        assert listed["items"] == [{"message_id": message_id} for message_id in sorted(ids)], listed
        assert listed["path_templates"] == {"view_path": "triage/{message_id}.md",
            "json_path": "messages/{message_id}.json"}, listed
        assert listed["push_status"] == {"drafts": 0, "case": 0, "archive": 0, "spam": 0, "trash": 0}, listed
        few = w.ok("triage", "list", "--limit", "2", "--details")
        assert few["count"] == 2 and few["total_count"] == 3, few
        assert few["items"][0]["subject"] and few["items"][0]["from"] == "Ann <ann@example.com>", few
        # As afmail the word alone is no command.
        assert w.fails(None, "triage")["hint"] == "try: afmail triage --help"
        shown = w.tells("triage")
        assert shown.splitlines()[0].split() == ["date", "(UTC)", "from", "subject", "files", "id"], shown
        assert "2026-05-04 01:00  Ann <ann@example.com>" in shown and "\x1b" not in shown, shown
        assert w.tells("triage", "--limit", "1").endswith("1 of 3 messages are shown.\n")
        assert w.tells("triage", "list").splitlines() == sorted(ids)


HTML = "From: Shop <shop@example.com>\r\nTo: you@example.net\r\nSubject: Order\r\nMessage-ID: <html@example.com>\r\n" \
    "Date: Mon, 04 May 2026 09:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{}\r\n"


def test_show(program):
    with Workspace(program) as w:
        first, with_file = w.deliver(mail(1, body="Hello \x1b[2J there.\r\n", more=(
            "Authentication-Results: mx.example.com; spf=fail smtp.mailfrom=evil.example; dkim=pass header.d=evil.example",)),
            WITH_FILE)
        shown = w.ok("message", "show", first)
        assert shown["code"] == "message_show" and shown["subject"] == "Mail 1", shown
        assert shown["message"]["message_id"] == first and shown["view_path"] == f"triage/{first}.md", shown
        page = w.tells("message", "show", first)
        for line in ("Mail 1", "From      Ann <ann@example.com>", "Date      2026-05-04 01:00 UTC", f"Id        {first}",
                "Warning   SPF did not pass: fail", "Warning   DMARC is missing",
                "Warning   evil.example was authenticated, but the sender claims example.com"):
            assert line in page.splitlines(), page
        assert "DKIM" not in page and "\x1b" not in page, page
        html = HTML.format("<h1>Order 5</h1><p>See <a href='https://shop.example/t?x=1'>the <b>list</b></a>.</p>")
        (page,) = w.deliver(html)
        assert "body_markdown" not in w.ok("message", "show", page)
        assert w.ok("message", "show", page, "--markdown")["body_markdown"] == \
            "# Order 5\n\nSee [the list](https://shop.example/t?x=1)."
        assert "body_markdown" not in w.ok("message", "show", first, "--markdown")
        assert "[the list](https://shop.example/t?x=1)" in w.tells("message", "show", page, "--markdown")
        assert "File      .._list.txt (text/plain, " in w.tells("message", "show", with_file)
        assert "'../x' is not a single path segment" in w.fails("invalid_request", "message", "show", "../x")["error"]
        error = w.fails("message_not_found", "message", "show", UNKNOWN)
        assert UNKNOWN in error["error"] and "afmail message list" in error["hint"], error


def test_attachments(program):
    with Workspace(program) as w:
        first, with_file = w.deliver(mail(1), WITH_FILE)
        part = w.ok("message", "show", with_file)["attachments"][0]["part_id"]
        saved = w.ok("message", "attachment", "fetch", with_file, part)
        path = f".afmail/messages/{with_file}.files/.._list.txt"
        assert saved["code"] == "attachment_saved" and saved["file_path"] == path and "items" not in saved, saved
        assert w.read(path).strip() == "one"
        before = os.stat(w.path(path)).st_mtime_ns
        every = w.ok("message", "attachment", "fetch", with_file)
        assert every["code"] == "attachments_saved" and every["count"] == 1, every
        assert every["items"][0]["code"] == "attachment_saved" and every["items"][0]["file_path"] == path, every
        assert os.stat(w.path(path)).st_mtime_ns == before, "saved again"
        assert w.ok("message", "attachment", "fetch", first)["items"] == []
        assert w.tells("message", "attachment", "fetch", first) == f"Message {first} has no attachments.\n"
        assert w.tells("message", "attachment", "fetch", with_file) == f"Saved {path}\n"
        error = w.fails("attachment_not_found", "message", "attachment", "fetch", with_file, "99")
        assert error["error"] == f"message {with_file} has no attachment with the part id 99", error


def test_discard(program):
    with Workspace(program) as w:
        first, second, third = w.deliver(mail(1), mail(2), mail(3))
        w.locate(first, second, third)
        error = w.fails("reason_required", "message", "spam", first)
        assert error["error"] == "this command needs a reason" and "--reason TEXT" in error["hint"], error
        done = w.ok("message", "spam", first, second, "--reason", "ads")
        assert done["code"] == "message_spam_marked" and done["message_ids"] == [first, second], done
        assert done["queued"] and done["special_use"] == "junk" and done["location_count"] == 2, done
        assert not os.path.exists(w.path("triage", f"{first}.md")) and os.path.exists(w.path("spam", f"{first}.md"))
        assert w.events("message_spam_marked")[0]["reason"] == "ads"
        assert w.tells("message", "trash", third, "--reason", "x") == \
            "1 message put into the trash; the move on the server is queued.\n"
        # The queued move refers to the message.
        error = w.fails("message_referenced", "message", "trash", first, "--reason", "x")
        assert ".afmail/push/" in error["error"] and error["details"]["references"], error
        assert w.fails("message_not_found", "message", "trash", UNKNOWN, "--reason", "x")["error"]
        assert w.fails(None, "message", "spam")["error"].startswith("MESSAGE_ID is required")


def test_conversation(program):
    with Workspace(program) as w:
        first, answer = w.deliver(mail(1), mail(2, reply_to=1))
        error = w.fails("message_has_related_conversation_use_case", "message", "spam", first, "--reason", "x")
        assert "Create a case" in error["hint"] and error["details"]["related_message_ids"] == [answer], error
        assert w.ok("message", "trash", first, answer, "--reason", "both")["message_ids"] == [first, answer]


def test_restore(program):
    with Workspace(program) as w:
        first, second = w.deliver(mail(1), mail(2))
        w.locate(first)
        push_id = w.ok("message", "spam", first, "--reason", "x")["push_id"]
        error = w.fails("invalid_request", "message", "untrash", first, "--reason", "x")
        assert error["error"] == f"message {first} has the status spam, not trashed", error
        assert "has the status spam, not archived" in \
            w.fails("invalid_request", "message", "unarchive", first, "--reason", "x")["error"]
        back = w.ok("message", "restore", first, "--reason", "mistake")
        assert {name: back[name] for name in back if name != "trace"} == {"code": "message_restored", "message_id": first,
            "from_status": "spam", "status": "triage", "triage_path": f"triage/{first}.md", "removed_push_count": 1,
            "push_ids": [push_id]}, back
        error = w.fails("invalid_request", "message", "restore", first, "--reason", "x")
        assert "only spam, trashed and archived messages can be restored" in error["error"], error
        w.ok("message", "trash", second, "--reason", "x")
        assert w.ok("message", "untrash", second, "--reason", "x")["code"] == "message_untrashed"
        w.ok("message", "spam", second, "--reason", "x")
        assert w.ok("message", "unspam", second, "--reason", "x")["code"] == "message_unspammed"
        assert [event["kind"] for event in w.events()][-1] == "message_unspammed"
        w.ok("message", "spam", second, "--reason", "x")
        assert w.tells("message", "restore", second, "--reason", "x") == \
            f"Message {second} is in triage again: triage/{second}.md\n"


def test_restore_started(program):
    with Workspace(program) as w:
        (first,) = w.deliver(mail(1))
        w.locate(first)
        push_id = w.ok("message", "spam", first, "--reason", "x")["push_id"]
        item = w.document(".afmail", "push", f"{push_id}.json")
        item["step_states"] = [{"index": 0, "label": "add_flags", "status": "succeeded",
            "started_rfc3339": "2026-05-18T00:00:00Z", "completed_rfc3339": "2026-05-18T00:00:01Z"}]
        w.put(json.dumps(item), ".afmail", "push", f"{push_id}.json")
        error = w.fails("push_already_started", "message", "restore", first, "--reason", "x")
        assert push_id in error["error"], error


def test_purge(program):
    with Workspace(program) as w:
        first, second, kept = w.deliver(mail(1), mail(2), mail(3))
        w.locate(kept)
        for message_id in (first, kept):
            w.ok("message", "spam", message_id, "--reason", "x")
        w.ok("message", "trash", second, "--reason", "x")
        young = w.ok("purge")
        assert young["target"] == "discards" and young["purged_count"] == 0 and young["skipped_recent_count"] == 3, young
        assert "discarded less than 30 days ago" in w.tells("purge")
        plan = w.ok("purge", "spam", "--older-than-days", "0", "--dry-run")
        assert plan["dry_run"] and plan["purged_message_ids"] == [first], plan
        assert plan["skipped_referenced_message_ids"] == [kept], plan
        assert f"Delete exactly these with --plan-id {plan['plan_id']}\n" in \
            w.tells("purge", "spam", "--older-than-days", "0", "--dry-run")
        assert os.path.exists(w.path(".afmail", "messages", f"{first}.eml"))
        error = w.fails("confirm_required", "purge", "--older-than-days", "0", "--plan-id", plan["plan_id"])
        assert error["error"] == f"what would be purged is not plan {plan['plan_id']} any more", error
        assert error["details"]["plan_id"] != plan["plan_id"] and "--dry-run" in error["hint"], error
        done = w.ok("purge", "spam", "--older-than-days=0", "--plan-id", plan["plan_id"])
        assert done["code"] == "purged" and done["purged_spam_count"] == 1 and "plan_id" not in done, done
        assert not os.path.exists(w.path(".afmail", "messages", f"{first}.eml"))
        assert w.tells("purge", "--older-than-days", "0").startswith("1 message deleted for good.\n")
        assert w.events("messages_purged")[-1]["message_ids"] == [second]


def test_purge_errors(program):
    with Workspace(program) as w:
        error = w.fails("invalid_request", "purge", "--older-than-days", "1", "spam", "--older-than-days", "2")
        assert error["error"] == "--older-than-days was given twice, before the target and after it", error
        for days in ("4000000", "99999999999999999999"):
            assert "reaches back before the calendar" in \
                w.fails("invalid_request", "purge", "--older-than-days", days)["error"]
        assert "is negative" in w.fails("invalid_request", "purge", "--older-than-days=-1")["error"]
        assert w.fails(None, "purge", "--older-than-days", "old")["error"] == \
            "--older-than-days must be a number of days, not 'old'"
        assert "must be one of: spam, trash, deleted" in w.fails(None, "purge", "inbox")["error"]


TESTS = {
    "messages are listed by what is asked for, newest first, in pages": test_list,
    "a list says what is wrong with its filters": test_list_errors,
    "triage is ids for programs and a table for people": test_triage,
    "a message is shown with what its sender's checks came to": test_show,
    "attachments are saved once": test_attachments,
    "messages are discarded, several at once": test_discard,
    "a message of a conversation is not discarded alone": test_conversation,
    "messages come back, under every name": test_restore,
    "what has begun on the server does not come back": test_restore_started,
    "a purge takes what is old, by a plan": test_purge,
    "a purge says what is wrong with its age": test_purge_errors,
}

with Tap() as tap:
    for name, test in TESTS.items():
        tap.run(name, test, sys.argv[1])
