"""usage: work_push.py PROGRAM - the push queue of a workspace: previewed, listed, dropped, and what a confirmed push says."""

import fcntl
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402

NOW = "2026-05-18T00:00:00Z"


def queue_draft(w, push_id, action="send", name="plan.md"):
    """An outbound item of a draft in case c20260518001."""
    w.put(json.dumps({"schema_name": "push_item", "schema_version": 1, "push_id": push_id, "kind": "outbound",
        "action": action, "case_uid": "c20260518001", "draft_name": name, "created_rfc3339": NOW, "updated_rfc3339": NOW,
        "attempt_count": 0, "step_states": []}), ".afmail", "push", f"{push_id}.json")


def make_case(w):
    w.put(json.dumps({"schema_name": "case", "schema_version": 1, "collection_uid": "c20260518001",
        "collection_name": "Out", "status": "active", "created_rfc3339": NOW, "updated_rfc3339": NOW, "items": []}),
        "cases", "open", "c20260518001-Out", "data", "case.json")


def test_empty(program):
    with Workspace(program) as w:
        shown = w.ok("push")
        assert shown["code"] == "push_dry_run" and shown["confirmed"] is False and shown["items"] == [], shown
        assert "No remote changes were made" in shown["hint"], shown
        assert re.fullmatch("No mail was sent. Carry out exactly this with `afmail push drafts-send --confirm plan_[0-9a-f]{32}`.",
            w.ok("push", "drafts-send")["hint"])
        assert re.search("`afmail push spam --confirm plan_[0-9a-f]{32}`.$", w.ok("push", "spam")["hint"])
        assert w.ok("push", "list")["items"] == []
        done = w.ok("push", "--confirm")
        assert {name: done[name] for name in done if name != "trace"} == {"code": "push_result", "confirmed": True,
            "pushed_count": 0, "failed_count": 0, "failures": []}, done
        progress = w.ok("status")["progress"]
        assert progress["status"] == "succeeded", progress
        assert progress["summary"] == "push succeeded: 0 pushed, 0 failed", progress
        assert w.tells("push") == "Nothing is queued.\n"
        assert w.tells("push", "list") == "Nothing is queued.\n"
        assert w.tells("push", "--confirm") == "Nothing was queued.\n"


def test_preview(program):
    with Workspace(program) as w:
        first, second = w.deliver(mail(1), mail(2))
        w.locate(first, second)
        spam = w.ok("message", "spam", first, "--reason", "x")["push_id"]
        trash = w.ok("message", "trash", second, "--reason", "x")["push_id"]
        before = w.files()
        for args in ((), ("--dry-run",)):
            shown = w.ok("push", *args)
            assert [item["push_id"] for item in shown["items"]] == [spam, trash], shown
            assert shown["items"][0] == {"push_id": spam, "kind": "message_action", "display_kind": "message.spam",
                "actions": ["add_flags", "move_to_mailbox_id_junk"], "action": None, "case_uid": None,
                "draft_name": None}, shown
        assert w.files() == before, "a preview changed something"
        assert [item["push_id"] for item in w.ok("push", "trash")["items"]] == [trash]
        assert w.ok("push", "archive")["items"] == []
        listed = w.ok("push", "list")
        assert listed["code"] == "push_list" and listed["items"][0] == w.document(".afmail", "push", f"{spam}.json"), listed
        text = w.tells("push")
        assert '1. Mark as spam\n   "Mail 1"\n' in text and '2. Move to the trash\n   "Mail 2"\n' in text, text
        assert f"   {spam}: flag, move to junk\n" in text and spam in w.tells("push", "list"), text
        plan = json.loads(w.tells("push", "--json"))
        assert plan["plan_id"].startswith("plan_") and plan["items"][0]["message_ids"] == [first], plan
        assert text.endswith("\nNo remote changes were made. Carry exactly this out with\n"
            f"  mailroom work push --confirm {plan['plan_id']}\n"), text


def test_drafts(program):
    with Workspace(program) as w:
        make_case(w)
        w.put("---\nkind: draft\n---\n", "cases", "open", "c20260518001-Out", "drafts", "broken.md")
        queue_draft(w, "push_20260518T000000Z", name="gone.md")
        queue_draft(w, "push_20260518T000000Z_2", name="broken.md", action="save_draft")
        shown = w.ok("push")
        assert shown["count"] == 2, shown
        for item in shown["items"]:
            assert item["kind"] == "outbound" and item["draft_valid"] is False and item["draft_error"], shown
        assert shown["items"][0]["actions"] == ["smtp_send", "append_to_mailbox_id_sent"], shown
        assert [item["action"] for item in w.ok("push", "drafts")["items"]] == ["save_draft"]
        text = w.tells("push")
        assert "   draft gone.md\n   of case c20260518001\n" in text and "It cannot be sent as it is: " in text, text


def test_confirm(program):
    with Workspace(program) as w:
        (first,) = w.deliver(mail(1))
        w.locate(first)
        push_id = w.ok("message", "spam", first, "--reason", "x")["push_id"]
        pushed = w.ok("push", "--confirm")
        (failure,) = pushed["failures"]
        assert pushed["pushed_count"] == 0 and "retryable" not in failure and "imap.host" in failure["hint"], pushed
        assert (failure["push_id"], failure["error_code"], failure["error"]) == (push_id, "config_missing", "imap.host is not set")
        (item,) = w.ok("push", "list")["items"]
        assert item["attempt_count"] == 1 and item["last_error"], item
        assert w.ok("status")["progress"]["summary"] == "push succeeded: 0 pushed, 1 failed"
        # Nothing of this kind is queued.
        assert w.ok("push", "trash", "--confirm")["pushed_count"] == 0
        assert "imap.host is not set" in w.tells("push", "--confirm")
        for args in (("push", "--dry-run", "--confirm"), ("push", "spam", "--confirm", "--dry-run")):
            error = w.fails("invalid_request", *args)
            assert error["error"] == "--dry-run and --confirm cannot be given together", error


def test_drop(program):
    with Workspace(program) as w:
        (first,) = w.deliver(mail(1))
        w.locate(first)
        push_id = w.ok("message", "spam", first, "--reason", "x")["push_id"]
        assert w.fails("reason_required", "push", "drop", push_id)["hint"]
        dropped = w.ok("push", "drop", push_id, "--reason", "no")
        assert {name: dropped[name] for name in dropped if name != "trace"} == {"code": "push_dropped", "push_id": push_id,
            "kind": "message_action", "action": "spam", "message_ids": [first]}, dropped
        assert w.ok("push")["count"] == 0 and w.ok("message", "list")["items"][0]["status"] == "spam"
        assert w.events("push_dropped")[0]["reason"] == "no"
        error = w.fails("push_not_found", "push", "drop", push_id, "--reason", "no")
        assert push_id in error["error"] and "afmail push list" in error["hint"], error
        assert w.fails("invalid_request", "push", "drop", "../config", "--reason", "no")["error"]
        make_case(w)
        queue_draft(w, "push_20260518T000000Z")
        assert w.tells("push", "drop", "push_20260518T000000Z", "--reason", "no") == \
            "push_20260518T000000Z (send) is not queued any more.\n"


def test_started(program):
    with Workspace(program) as w:
        make_case(w)
        for status, words in (("succeeded", "has succeeded: it cannot be dropped"), ("pending", "its mail may have gone")):
            queue_draft(w, "push_20260518T000000Z")
            item = w.document(".afmail", "push", "push_20260518T000000Z.json")
            item["step_states"] = [{"index": 0, "label": "smtp_send", "status": status, "started_rfc3339": NOW}]
            w.put(json.dumps(item), ".afmail", "push", "push_20260518T000000Z.json")
            error = w.fails("push_already_started", "push", "drop", "push_20260518T000000Z", "--reason", "x")
            assert words in error["error"], error


def test_broken(program):
    with Workspace(program) as w:
        w.put("{}", ".afmail", "push", "push_x.json")
        error = w.fails("push_item_invalid", "push", "list")
        assert "push_x.json" in error["error"] and "afmail doctor" in error["hint"], error
        shown = w.ok("push")
        assert shown["count"] == 0 and shown["invalid_paths"] == [".afmail/push/push_x.json"], shown
        done = w.ok("push", "--confirm")
        assert done["failed_count"] == 1 and done["pushed_count"] == 0, done
        assert [(f["push_id"], f["error_code"]) for f in done["failures"]] == [("push_x", "push_item_invalid")], done
        item = {"schema_name": "push_item", "schema_version": 1, "push_id": "push_x", "kind": "outbound", "action": "send",
            "case_uid": "c20260518001", "draft_name": "a.md", "created_rfc3339": NOW, "updated_rfc3339": NOW,
            "attempt_count": 0}
        w.put(json.dumps(item), ".afmail", "push", "push_x.json")
        assert "step_states" in w.fails("store_error", "push", "list")["error"]
        w.fails("reason_required", "push", "drop", "push_x")
        dropped = w.ok("push", "drop", "push_x", "--reason", "r")
        assert dropped["push_id"] == "push_x" and dropped["kind"] is None and dropped["message_ids"] == [], dropped
        assert w.ok("push", "list")["count"] == 0 and w.ok("doctor")["ok"]


def test_lock(program):
    with Workspace(program) as w:
        w.ok("push")
        with open(w.path(".afmail", "workspace.lock"), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            assert w.ok("push")["count"] == 0 and w.ok("push", "list")["count"] == 0
            assert w.fails("workspace_locked", "push", "--confirm")["retryable"]
            fcntl.flock(lock, fcntl.LOCK_EX)
            error = w.fails("workspace_locked", "push")
            assert error["retryable"] and "try again" in error["hint"], error


TESTS = {
    "an empty queue": test_empty,
    "a preview changes nothing": test_preview,
    "a broken draft does not hide the others": test_drafts,
    "an item that cannot be carried out stays in the queue": test_confirm,
    "an item is dropped": test_drop,
    "what has begun is not dropped": test_started,
    "an item that is none is told": test_broken,
    "a preview shares the workspace, a push does not": test_lock,
}

with Tap() as tap:
    for name, test in TESTS.items():
        tap.run(name, test, sys.argv[1])
