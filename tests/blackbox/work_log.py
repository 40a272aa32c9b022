"""usage: work_log.py PROGRAM - the audit log of a workspace: its last events, and those of one thing."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402

LOG = (".afmail", "logs", "events.jsonl")


def test_last(program):
    with Workspace(program) as w:
        assert w.ok("log", "list")["events"] == [] and w.tells("log", "tail") == "No events.\n"
        w.put("".join(json.dumps({"kind": f"old_{number}", "targets": []}) + "\n" for number in range(60)), *LOG)
        (first,) = w.deliver(mail(1))
        w.ok("message", "trash", first, "--reason", "away")
        w.ok("message", "restore", first, "--reason", "and back")
        listed = w.ok("log", "list")
        assert listed["code"] == "log_list" and listed["count"] == 50, listed
        assert listed["events"] == w.events()[-50:], listed
        assert w.ok("log", "list", "--limit", "2")["events"] == w.events()[-2:]
        assert w.ok("log", "list", "--limit", "0")["events"] == []
        tail = w.ok("log", "tail")
        assert tail["code"] == "log_tail" and tail["events"] == w.events()[-20:], tail
        line = w.tells("log", "list", "--limit", "1")
        assert line.endswith(f" UTC  message_restored  {first}: and back\n"), line
        assert "must be between 0 and" in w.fails(None, "log", "list", "--limit=-1")["error"]


def test_filtered(program):
    with Workspace(program) as w:
        first, second = w.deliver(mail(1), mail(2))
        w.ok("message", "trash", first, "--reason", "a")
        w.ok("message", "trash", second, "--reason", "b")
        w.ok("purge", "--older-than-days", "0")
        found = w.ok("log", "message", first)
        assert found["code"] == "log_filtered" and found["target"] == {"kind": "message", "id": first}, found
        assert [event["kind"] for event in found["events"]] == ["message_trashed", "messages_purged"], found
        for kind, uid in (("case", "c20260518001"), ("archive", "a20260518001"), ("contact", "p20260518001")):
            found = w.ok("log", kind, f"{uid}-Name")
            assert found["target"] == {"kind": kind, "id": uid} and found["count"] == 0, found
            error = w.fails("invalid_request", "log", kind, "Name")
            assert "Name" in error["error"], error
        assert "'../x' is not a single path segment" in w.fails("invalid_request", "log", "message", "../x")["error"]


def test_broken(program):
    with Workspace(program) as w:
        w.put('{"kind": "a", "targets": []}\nnonsense\n', *LOG)
        for args in (("list",), ("tail",), ("message", "message_20260101_0000000000000000")):
            assert "events.jsonl" in w.fails("store_error", "log", *args)["error"]
        # What a crash left at the end is passed over.
        w.put('{"kind": "a", "targets": []}\n{"kind": "b", "targe', *LOG)
        assert [event["kind"] for event in w.ok("log", "list")["events"]] == ["a"]


TESTS = {
    "the last events, in their order": test_last,
    "the events of one thing, also when it is gone": test_filtered,
    "a line that is no event is told": test_broken,
}

with Tap() as tap:
    for name, test in TESTS.items():
        tap.run(name, test, sys.argv[1])
