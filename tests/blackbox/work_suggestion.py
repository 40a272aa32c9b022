"""usage: work_suggestion.py PROGRAM - what an agent suggests for messages in triage, and what comes of it."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402

NOW = "2026-05-18T00:00:00Z"
CASE, CATEGORY = "c20260518001", "a20260518001"
FILE = (".afmail", "suggestions.json")
UNKNOWN = "message_20260101_0000000000000000"


def furnish(w):
    """A case and a category."""
    for folder, schema, uid in ((("cases", "open"), "case", CASE), (("archive", "notifications"), "notification", CATEGORY)):
        w.put(json.dumps({"schema_name": schema, "schema_version": 1, "collection_uid": uid, "collection_name": "Plan",
            "created_rfc3339": NOW, "updated_rfc3339": NOW, "items": []}), *folder, f"{uid}-Plan", "data", f"{schema}.json")


def suggest(w, message_id, action, *args, reason="because"):
    return w.ok("suggestion", "set", message_id, "--action", action, *args, "--reason", reason)


def status(w, message_id):
    return {item["message_id"]: item["status"] for item in w.ok("message", "list")["items"]}[message_id]


def test_set(program):
    with Workspace(program) as w:
        furnish(w)
        first, second = w.deliver(mail(1), mail(2))
        done = suggest(w, second, "case", "--target", f"{CASE}-Plan", "--summary", "the plan", reason='so "it" is: yes')
        assert {name: done[name] for name in done if name not in ("trace", "created_rfc3339")} == {
            "code": "suggestion_set", "message_id": second, "action": "case", "target": CASE, "summary": "the plan",
            "reason": 'so "it" is: yes', "replaced": False}, done
        suggest(w, first, "spam")
        document = w.document(*FILE)
        assert document["schema_name"] == "suggestions" and document["schema_version"] == 1, document
        assert [item["message_id"] for item in document["items"]] == sorted((first, second)), document
        view = w.read("triage", f"{second}.md")
        assert f'suggestion:\n  action: case\n  target: {CASE}\n  summary: "the plan"\n' \
            '  reason: "so \\"it\\" is: yes"\n---\n' in view, view
        assert suggest(w, second, "trash")["replaced"] and len(w.document(*FILE)["items"]) == 2
        listed = w.ok("suggestion", "list")
        assert listed["code"] == "suggestion_list" and listed["count"] == 2, listed
        assert {item["subject"]: item["action"] for item in listed["items"]} == {"Mail 1": "spam", "Mail 2": "trash"}, listed
        text = w.tells("suggestion", "list")
        assert "spam: Mail 1, from Ann <ann@example.com>\n   because\n" in text, text
        assert [event["kind"] for event in w.events()] == ["suggestion_set"] * 3
        assert status(w, first) == status(w, second) == "triage"


def test_clear(program):
    with Workspace(program) as w:
        (first,) = w.deliver(mail(1))
        before = w.read("triage", f"{first}.md")
        suggest(w, first, "trash")
        assert w.read("triage", f"{first}.md") != before
        assert w.ok("suggestion", "clear", first)["changed"]
        assert "suggestion" not in w.read("triage", f"{first}.md") and w.document(*FILE)["items"] == []
        again = w.ok("suggestion", "clear", first)
        assert again["code"] == "suggestion_cleared" and not again["changed"], again
        assert w.tells("suggestion", "clear", first) == f"Nothing was suggested for {first}.\n"
        assert w.tells("suggestion", "list") == "Nothing is suggested.\n"


def test_accept(program):
    with Workspace(program) as w:
        furnish(w)
        spam, trash, case, archive = w.deliver(mail(1), mail(2), mail(3), mail(4))
        w.locate(spam)
        suggest(w, spam, "spam")
        suggest(w, trash, "trash")
        suggest(w, case, "case", "--target", CASE)
        suggest(w, archive, "archive", "--target", CATEGORY, "--summary", "news")
        done = w.ok("suggestion", "accept", spam)
        assert done["code"] == "suggestion_accepted" and done["queued"] and len(done["push_ids"]) == 1, done
        assert w.tells("suggestion", "accept", trash, "--reason", "I agree") == f"Done with {trash}: trash.\n"
        w.ok("suggestion", "accept", case)
        w.ok("suggestion", "accept", archive)
        assert [status(w, one) for one in (spam, trash, case, archive)] == ["spam", "trashed", "case", "archived"]
        assert w.document(*FILE)["items"] == []
        assert w.events("message_spam_marked")[0]["reason"] == "because"
        assert w.events("message_trashed")[0]["reason"] == "I agree"
        assert len(w.events("suggestion_accepted")) == 4
        error = w.fails("invalid_request", "suggestion", "accept", spam)
        assert error["error"] == f"message {spam} has the status spam: suggestions are for messages in triage", error


def test_overtaken(program):
    with Workspace(program) as w:
        first, second = w.deliver(mail(1), mail(2))
        suggest(w, first, "trash")
        w.ok("message", "spam", first, "--reason", "x")
        assert w.ok("suggestion", "list")["items"] == []
        suggest(w, second, "trash")
        assert [item["message_id"] for item in w.document(*FILE)["items"]] == [second]


def test_refused(program):
    with Workspace(program) as w:
        first, answer = w.deliver(mail(1), mail(2, reply_to=1))
        suggest(w, first, "spam")
        error = w.fails("message_has_related_conversation_use_case", "suggestion", "accept", first)
        assert error["details"]["related_message_ids"] == [answer], error
        assert w.ok("suggestion", "list")["count"] == 1, "it is kept"


def test_errors(program):
    with Workspace(program) as w:
        furnish(w)
        (first,) = w.deliver(mail(1))

        def fails(word, *args):
            return w.fails(word, "suggestion", "set", first, *args)["error"]

        assert fails("reason_required", "--action", "spam") == "this command needs a reason"
        assert fails("invalid_request", "--action", "case", "--reason", "x") == "--action case needs --target REF"
        assert fails("invalid_request", "--action", "spam", "--target", CASE, "--reason", "x") == \
            "--action spam has no --target"
        assert fails("invalid_request", "--action", "archive", "--target", CATEGORY, "--reason", "x") == \
            "--action archive needs --summary TEXT"
        assert "c20260518009" in fails("case_not_found", "--action", "case", "--target", "c20260518009", "--reason", "x")
        assert "a20260518009" in \
            fails("archive_not_found", "--action", "archive", "--target", "a20260518009", "--summary", "s", "--reason", "x")
        assert "must be one of: case, archive, spam, trash" in fails(None, "--action", "burn", "--reason", "x")
        assert "--action" in fails(None, "--reason", "x").lower()
        assert w.fails("message_not_found", "suggestion", "set", UNKNOWN, "--action", "spam", "--reason", "x")["error"]
        assert w.fails("invalid_request", "suggestion", "accept", first)["error"] == f"message {first} has no suggestion"
        assert "not a single path segment" in w.fails("invalid_request", "suggestion", "clear", "../x")["error"]


def test_broken(program):
    with Workspace(program) as w:
        (first,) = w.deliver(mail(1))
        w.put('{"schema_name": "suggestions", "items": [{"message_id": "x", "action": "burn"}]}', *FILE)
        error = w.fails("store_error", "suggestion", "list")
        assert error["error"] == ".afmail/suggestions.json is no list of suggestions", error
        assert error["hint"] == "Correct the file, or delete it.", error
        w.put('{"schema_name": "sugg', *FILE)
        assert "suggestions.json" in w.fails("store_error", "suggestion", "set", first, "--action", "spam", "--reason", "x")["error"]
        # Views are written all the same.
        assert w.ok("render", "refresh")["triage_count"] == 1


TESTS = {
    "a suggestion is kept, shown and replaced": test_set,
    "a suggestion is dropped": test_clear,
    "what is accepted is done": test_accept,
    "a suggestion ends when its message leaves triage": test_overtaken,
    "a suggestion that cannot be carried out stays": test_refused,
    "a suggestion says what is wrong with it": test_errors,
    "a broken list of suggestions is told, and views go on": test_broken,
}

with Tap() as tap:
    for name, test in TESTS.items():
        tap.run(name, test, sys.argv[1])
