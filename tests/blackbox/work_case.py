"""usage: work_case.py PROGRAM SOURCE - cases, as afmail and as people see them."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import describe  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402

UID = "c20260504001"
OPEN = "cases/open/" + UID
REASON = ("--reason", "because")


def refused(w, word, text, *args, **options):
    error = w.fails(word, *args, **options)
    assert error["error"] == text, error
    return error


def bare(result):
    """Without what every result has, and what differs from run to run."""
    return {key: value for key, value in result.items() if key != "trace"}


def queue(count=0, ids=False):
    """The queue's fields when nothing is queued."""
    fields = {"location_count": count, "queued_location_count": count, "queued": False, "push_id": None}
    return {**fields, "push_ids": []} if ids else fields


def begin(w, *more):
    """A case with the first of the mails; the ids of all."""
    ids = w.deliver(mail(1, "Invoice"), *more)
    w.ok("case", "create", "--name", "Invoice May", "--message", ids[0], *REASON)
    return ids


def told(w, *args, status=0, stdin=""):
    """What a person reads."""
    done = w.run("work", *args, stdin=stdin)
    assert done.returncode == status, describe(done)
    return done.stderr if status else done.stdout


def cases_are_made(w):
    one = w.deliver(mail(1, "Invoice"))[0]
    made = w.ok("case", "create", "--name", "Invoice May", "--message", one, "--summary", "to pay", *REASON)
    assert bare(made) == {"code": "case_created", "case_uid": UID, "case_name": "Invoice May", "group": "open",
        "case_path": OPEN + "-Invoice-May", "message_ids": [one], "message_count": 1, **queue()}, made
    assert w.document(OPEN + "-Invoice-May", "data", "case.json")["items"][0]["summary"] == "to pay"
    empty = w.ok("case", "create", "--name", "应用反馈", "--group", "待办")
    assert "queued" not in empty and empty["message_ids"] == [] and empty["group"] == "待办", empty
    assert os.path.isfile(w.path(empty["case_path"], "notes.md"))
    refused(w, "invalid_request", "the case name 'a/b' may not contain / or \\ and may not be . or ..",
        "case", "create", "--name", "a/b")
    refused(w, "invalid_request", "the case name is empty", "case", "create", "--name", " ")
    refused(w, "invalid_request", "the group '..' is not a single path segment",
        "case", "create", "--name", "x", "--group", "..")
    refused(w, "message_not_found", "there is no message message_x",
        "case", "create", "--name", "x", "--message", "message_x", *REASON)
    reason = refused(w, "reason_required", "this command needs a reason",
        "case", "create", "--name", "x", "--message", one)
    assert reason["details"] == {"required_option": "--reason", "config_key": "audit.reason_mode"}, reason
    w.fails(None, "case", "create")
    assert len(w.ok("case", "list")["items"]) == 2


def cases_are_listed_and_shown(w):
    begin(w)
    w.ok("case", "create", "--name", "B", "--group", "waiting")
    listed = w.ok("case", "list")
    second = listed["items"][1]["case_uid"]
    assert bare(listed) == {"code": "case_list", "count": 2,
        "path_templates": {"case_path": "cases/{group}/{case_dir}", "view_path": "cases/{group}/{case_dir}/case.md",
            "data_path": "cases/{group}/{case_dir}/data/case.json"},
        "items": [{"case_uid": UID, "case_name": "Invoice May", "group": "open", "case_dir": UID + "-Invoice-May"},
            {"case_uid": second, "case_name": "B", "group": "waiting", "case_dir": second + "-B"}]}, listed
    assert w.ok("case", "list", "--archived")["items"] == []
    for ref in (UID, UID + "-any-name"):
        shown = w.ok("case", "show", ref)
        assert shown["text"].startswith("# Invoice May\n"), shown
        assert {key: shown[key] for key in ("code", "case_uid", "case_name", "group", "case_path", "view_path",
            "messages_path")} == {"code": "case", "case_uid": UID, "case_name": "Invoice May", "group": "open",
            "case_path": OPEN + "-Invoice-May", "view_path": OPEN + "-Invoice-May/case.md",
            "messages_path": OPEN + "-Invoice-May/views/messages"}, shown
    refused(w, "invalid_request", "'Invoice' is not a case ref: it begins with a uid such as c20260521001, alone or "
        "followed by a dash and a name", "case", "show", "Invoice")
    missing = refused(w, "case_not_found", "there is no case c20200101001", "case", "show", "c20200101001")
    assert "afmail case list" in missing["hint"], missing
    w.put("{", OPEN + "-Invoice-May", "data", "case.json")
    assert w.ok("case", "list")["invalid_paths"] == [OPEN + "-Invoice-May/data/case.json"]
    broken = w.fails("case_metadata_invalid", "case", "show", UID)
    assert "data/case.json" in broken["error"], broken


def two_directories_of_one_uid_are_told(w):
    begin(w)
    os.makedirs(w.path("cases", "other", UID + "-copy"))
    refused(w, "duplicate_case_uid",
        f"two directories have the uid {UID}: {OPEN}-Invoice-May and cases/other/{UID}-copy", "case", "show", UID)


def messages_are_added(w):
    first, second, third = begin(w, mail(2, reply_to=1), mail(3))
    added = w.ok("case", "add", UID, second, "--summary", "agrees", *REASON)
    assert bare(added) == {"code": "case_message_added", "case_uid": UID, "message_id": second, "group": "open",
        "case_path": OPEN + "-Invoice-May", "created_case": False, "message_count": 1, "already_present": False,
        "related_message_ids": [first], **queue()}, added
    assert w.ok("case", "add", UID, second, *REASON)["already_present"] is True
    items = w.document(OPEN + "-Invoice-May", "data", "case.json")["items"]
    assert [item["summary"] for item in items] == ["because", "agrees"], items
    several = w.ok("case", "add", UID, second, third, *REASON)
    assert several["already_present"] is False and several["message_count"] == 2, several
    assert several["items"] == [{"message_id": second, "already_present": True},
        {"message_id": third, "already_present": False}], several
    assert not os.path.exists(w.path("triage", third + ".md"))
    refused(w, "message_not_found", "there is no message message_x", "case", "add", UID, third, "message_x", *REASON)
    refused(w, "invalid_request", "message id '../x' is not a single path segment",
        "case", "add", UID, "../x", *REASON)
    refused(w, "reason_required", "this command needs a reason", "case", "add", UID, third)
    w.fails(None, "case", "add", UID)
    w.fails(None, "case", "add", UID, third, "--group", "x")


def messages_are_removed(w):
    first, second, third = begin(w, mail(2), mail(3))
    w.ok("case", "add", UID, second, third, *REASON)
    removed = w.ok("case", "remove", UID, second, *REASON)
    assert bare(removed) == {"code": "case_message_removed", "case_uid": UID, "message_id": second, "group": "open",
        "case_path": OPEN + "-Invoice-May", "message_count": 2, "status": "triage", "removed_push_count": 0,
        "push_ids": []}, removed
    assert os.path.exists(w.path("triage", second + ".md"))
    refused(w, "invalid_request", f"message {second} is not in case {UID}",
        "case", "remove", UID, third, second, *REASON)
    w.ok("case", "draft", "reply", UID, first)
    held = w.fails("message_referenced", "case", "remove", UID, third, first, *REASON)
    assert held["details"]["references"] == [f"{OPEN}-Invoice-May/drafts/reply-{first}.md"], held
    w.ok("case", "draft", "remove", UID, f"reply-{first}.md", *REASON)
    several = w.ok("case", "remove", UID, third, first, *REASON)
    assert several["message_count"] == 0 and several["items"] == [{"message_id": third, "status": "triage"},
        {"message_id": first, "status": "triage"}], several
    kinds = [event["targets"] for event in w.events("case_message_removed")]
    assert [targets[1]["id"] for targets in kinds] == [second, third, first], kinds


def a_summary_is_set(w):
    first, second = begin(w, mail(2))
    args = ("case", "set-summary", UID, first, *REASON)
    expected = {"code": "case_summary_set", "case_uid": UID, "message_id": first, "case_path": OPEN + "-Invoice-May"}
    assert bare(w.ok(*args, "--summary", " to pay ")) == {**expected, "summary": "to pay", "changed": True}
    assert bare(w.ok(*args, "--summary", "to pay")) == {**expected, "summary": "to pay", "changed": False}
    assert bare(w.ok(*args, "--summary", "")) == {**expected, "summary": None, "changed": True}
    refused(w, "invalid_request", f"message {second} is not in case {UID}",
        "case", "set-summary", UID, second, "--summary", "x", *REASON)
    w.fails(None, *args)


def a_case_is_moved_and_renamed(w):
    begin(w)
    moved = w.ok("case", "move", UID, "waiting")
    assert bare(moved) == {"code": "case_moved", "case_uid": UID, "from_group": "open", "to_group": "waiting",
        "case_path": f"cases/waiting/{UID}-Invoice-May"}, moved
    assert w.ok("case", "move", UID, "waiting")["from_group"] == "waiting"
    assert not os.path.exists(w.path("cases", "open"))
    refused(w, "invalid_request", "the group 'a/b' is not a single path segment", "case", "move", UID, "a/b")
    renamed = w.ok("case", "rename", UID, "--name", "B c", *REASON)
    assert bare(renamed) == {"code": "case_renamed", "case_uid": UID, "old_case_name": "Invoice May",
        "case_name": "B c", "group": "waiting", "case_path": f"cases/waiting/{UID}-B-c", "changed": True}, renamed
    assert w.ok("case", "rename", UID, "--name", "B c", *REASON)["changed"] is False
    refused(w, "reason_required", "this command needs a reason", "case", "rename", UID, "--name", "C")
    w.put("", "cases", "waiting", UID + "-D", "x")
    error = w.fails("duplicate_case_uid", "case", "rename", UID, "--name", "D", *REASON)
    assert UID in error["error"], error


def tags_are_put_on_and_taken_off(w):
    begin(w)
    w.ok("case", "tag", UID, "urgent", *REASON)
    tagged = w.ok("case", "tag", UID, "legal", *REASON)
    assert bare(tagged) == {"code": "case_tagged", "case_uid": UID, "tag": "legal", "tags": ["legal", "urgent"],
        "case_path": OPEN + "-Invoice-May"}, tagged
    assert w.ok("case", "tag", UID, "legal", *REASON)["tags"] == ["legal", "urgent"]
    untagged = w.ok("case", "untag", UID, "urgent", *REASON)
    assert untagged["code"] == "case_untagged" and untagged["tags"] == ["legal"], untagged
    assert w.ok("case", "untag", UID, "urgent", *REASON)["tags"] == ["legal"]
    refused(w, "invalid_request", "the tag 'a/b' is not a single path segment", "case", "tag", UID, "a/b", *REASON)


def cases_are_merged(w):
    ids = begin(w, mail(2))
    other = w.ok("case", "create", "--name", "Other", "--group", "x", "--message", ids[1], *REASON)["case_uid"]
    w.ok("case", "tag", other, "legal", *REASON)
    w.ok("case", "notes", "replace", other, "--text", "What we know.")
    w.ok("case", "notes", "replace", UID, "--text", "Ours.")
    for case in (OPEN + "-Invoice-May", f"cases/x/{other}-Other"):
        w.put(case, case, "files", "same.txt")
    refused(w, "merge_conflict", "both cases have files/same.txt", "case", "merge", UID, other, *REASON)
    os.remove(w.path("cases", "x", other + "-Other", "files", "same.txt"))
    refused(w, "invalid_request", f"case {UID} cannot be merged into itself", "case", "merge", UID, UID, *REASON)
    w.ok("case", "draft", "new", other, "--to", "b@example.net", "--subject", "Hi")
    refused(w, "case_has_local_drafts", f"case {other} has drafts: new-hi.md", "case", "merge", UID, other, *REASON)
    w.ok("case", "draft", "remove", other, "new-hi.md", *REASON)
    merged = w.ok("case", "merge", UID, other, *REASON)
    assert bare(merged) == {"code": "case_merged", "case_uid": UID, "merged_case_uid": other,
        "message_count": 1}, merged
    assert w.read(OPEN + "-Invoice-May", "notes.md") == f"Ours.\n\n## Merged from {other}\n\nWhat we know.\n"
    assert w.document(OPEN + "-Invoice-May", "data", "case.json")["tags"] == ["legal"]
    gone = refused(w, "case_not_found", f"case {other} was merged into {UID}", "case", "show", other)
    assert gone["details"] == {"case_merged_into": UID} and f"afmail case show {UID}" in gone["hint"], gone


def notes_are_kept(w):
    begin(w)
    path = OPEN + "-Invoice-May/notes.md"
    targets = [{"kind": "case", "id": UID}]
    assert bare(w.ok("case", "notes", "show", UID)) == {"code": "case_notes", "targets": targets, "notes_path": path,
        "text": "# Notes\n\n"}
    added = w.ok("case", "notes", "append", UID, "--text", "x")
    assert bare(added) == {"code": "case_notes_appended", "targets": targets, "notes_path": path, "text_len_bytes": 1,
        "text_hash": "fnv1a64:af63f54c86021707"}, added
    w.ok("case", "notes", "append", UID, "--text", "-", stdin="from standard input\n")
    assert w.read(path) == "# Notes\n\nx\nfrom standard input\n"
    os.remove(w.path(path))
    for args in (("show", UID), ("append", UID, "--text", "x")):
        missing = refused(w, "notes_missing", f"{path} is missing", "case", "notes", *args)
        assert "notes replace" in missing["hint"], missing
        assert missing["details"] == {"notes_path": path,
            "suggested_command": f"afmail case notes replace {UID} --text TEXT"}, missing
    assert w.ok("case", "notes", "replace", UID, "--text", "new")["code"] == "case_notes_replaced"
    assert w.read(path) == "new\n"
    w.fails(None, "case", "notes", "append", UID)
    assert not any("from standard input" in str(event) for event in w.events())


def a_case_is_archived_and_comes_back(w):
    begin(w)
    w.ok("case", "draft", "new", UID, "--to", "a@example.org", "--subject", "Hi")
    held = refused(w, "case_has_local_drafts", f"case {UID} has drafts: new-hi.md", "case", "archive", UID, *REASON)
    assert held["details"]["draft_names"] == ["new-hi.md"] and len(held["details"]["suggested_commands"]) == 4, held
    push = w.ok("case", "draft", "save", UID, "new-hi.md")["push_id"]
    os.remove(w.path(OPEN + "-Invoice-May", "drafts", "new-hi.md"))
    queued = refused(w, "case_has_outbound_push", f"case {UID} has queued mail: {push}",
        "case", "archive", UID, *REASON)
    assert queued["details"]["push_ids"] == [push], queued
    w.ok("case", "draft", "remove", UID, "new-hi.md", *REASON)
    refused(w, "reason_required", "this command needs a reason", "case", "archive", UID)
    archived = w.ok("case", "archive", UID, *REASON)
    path = f"archive/cases/{UID}-Invoice-May"
    assert archived.pop("eligible_message_ids") and bare(archived) == {"code": "case_archived", "case_uid": UID,
        "message_count": 1, "from_path": OPEN + "-Invoice-May", "case_path": path, **queue(ids=True)}, archived
    shown = w.ok("case", "show", UID)
    assert shown["code"] == "archive_case" and "group" not in shown and "messages_path" not in shown, shown
    error = refused(w, "case_archived", f"case {UID} is archived", "case", "tag", UID, "x", *REASON)
    assert "afmail archive case show" in error["hint"] and error["details"]["case_uid"] == UID, error
    assert w.ok("case", "list", "--archived")["items"] == [
        {"case_uid": UID, "case_name": "Invoice May", "case_dir": UID + "-Invoice-May"}]
    back = w.ok("case", "unarchive", UID, *REASON)
    assert bare(back) == {"code": "case_restored", "case_uid": UID, "group": "open",
        "case_path": OPEN + "-Invoice-May"}, back
    refused(w, "case_not_found", f"case {UID} is active: there is no archived case of that uid",
        "case", "unarchive", UID, *REASON)
    reopened = w.ok("case", "reopen", UID, *REASON)
    assert bare(reopened) == {"code": "case_reopened", "case_uid": UID, "status": "active", "message_count": 1,
        "case_path": OPEN + "-Invoice-May"}, reopened


def a_case_is_emptied_and_deleted(w):
    first = begin(w)[0]
    full = refused(w, "invalid_request", f"case {UID} has messages: 1", "case", "delete", UID, *REASON)
    assert f"afmail case trash {UID}" in full["hint"], full
    trashed = w.ok("case", "trash", UID, *REASON)
    assert bare(trashed) == {"code": "case_trashed", "case_uid": UID, "group": "open",
        "case_path": OPEN + "-Invoice-May", "special_use": "trash", "message_ids": [first], "message_count": 1,
        **queue(ids=True)}, trashed
    assert w.ok("status")["message_status"] == {"trashed": 1}
    w.put("mine", OPEN + "-Invoice-May", "files", "a.txt")
    files = refused(w, "invalid_request", f"case {UID} has files: files/a.txt", "case", "delete", UID, *REASON)
    assert OPEN + "-Invoice-May" in files["hint"], files
    os.remove(w.path(OPEN + "-Invoice-May", "files", "a.txt"))
    deleted = w.ok("case", "delete", UID, *REASON)
    assert bare(deleted) == {"code": "case_deleted", "case_uid": UID, "case_name": "Invoice May",
        "case_path": OPEN + "-Invoice-May"}, deleted
    assert not os.path.exists(w.path("cases", "open"))


def what_others_need_is_not_trashed(w):
    first = begin(w)[0]
    other = w.ok("case", "create", "--name", "Other")["case_uid"]
    w.ok("case", "add", other, first, *REASON)
    held = w.fails("message_referenced", "case", "trash", UID, *REASON)
    assert held["error"] == f"message {first} is referred to by cases/open/{other}-Other/data/case.json", held


def a_discarded_message_is_brought_back(w):
    first, second = begin(w, mail(2))
    w.ok("case", "add", UID, second, *REASON)
    w.ok("case", "trash", UID, *REASON)
    w.ok("case", "add", UID, first, *REASON)
    assert w.ok("status")["message_status"] == {"case": 1, "trashed": 1}
    assert w.document("trash", "data", "trash.json")["items"][0]["message_id"] == second


def people_read_tables_pages_and_sentences(w):
    first, second, third = begin(w, mail(2, reply_to=1), mail(3))
    path = OPEN + "-Invoice-May"
    assert told(w, "case", "list") == f"case          group  name\n{UID}  open   Invoice May\n"
    assert told(w, "case", "list", "--archived") == "There are no cases here.\n"
    page = told(w, "case", "show", UID)
    assert page.startswith(f"# Invoice May\n\nCase: {UID} · Status: active · Messages: 1\n"), page
    assert f"- Message: {first}\n" in page and "<!--" not in page and page.endswith(f"\nFiles     {path}\n"), page
    assert told(w, "case", "add", UID, second, *REASON) == (
        f"Case {UID} has the message {second} now.\nRelated messages: {first}\n")
    assert told(w, "case", "add", UID, second, *REASON).startswith(f"Case {UID} has the message {second} already.\n")
    assert told(w, "case", "add", UID, second, third, *REASON).startswith(f"1 of 2 messages are new in case {UID}.\n")
    assert told(w, "case", "set-summary", UID, third, "--summary", "x", *REASON) == f"Message {third} is listed as: x\n"
    assert told(w, "case", "set-summary", UID, third, "--summary", "", *REASON) == (
        f"Message {third} is listed by its subject.\n")
    assert told(w, "case", "remove", UID, third, *REASON) == (
        f"Message {third} is out of the case {UID}, and in triage now; 2 messages are left.\n")
    assert told(w, "case", "tag", UID, "legal", *REASON) == f"Tags of case {UID}: legal\n"
    assert told(w, "case", "untag", UID, "legal", *REASON) == f"Case {UID} has no tags.\n"
    assert told(w, "case", "rename", UID, "--name", "B", *REASON) == f'Case {UID} is named "B" now: {OPEN}-B\n'
    assert told(w, "case", "rename", UID, "--name", "B", *REASON) == f'Case {UID} is named "B" already: {OPEN}-B\n'
    assert told(w, "case", "move", UID, "x") == f"Case {UID} moved from open to x: cases/x/{UID}-B\n"
    assert told(w, "case", "move", UID, "x") == f"Case {UID} is in the group x already.\n"
    assert told(w, "case", "notes", "append", UID, "--text", "ab") == (
        f"2 bytes were written to cases/x/{UID}-B/notes.md.\n")
    assert told(w, "case", "notes", "show", UID) == f"# Notes\n\nab\nFile      cases/x/{UID}-B/notes.md\n"
    made = told(w, "case", "create", "--name", "Other")
    other = made.split()[1]
    assert made == f"Case {other} is open in cases/open/{other}-Other.\n", made
    assert told(w, "case", "merge", UID, other, *REASON) == f"Case {other} went into {UID}, with 0 messages.\n"
    assert told(w, "case", "archive", UID, *REASON) == (
        f"Case {UID} is archived with 2 messages: archive/cases/{UID}-B\n")
    assert told(w, "case", "unarchive", UID, *REASON) == f"Case {UID} is back in the group open: {OPEN}-B\n"
    assert told(w, "case", "reopen", UID, *REASON) == f"Case {UID} is active, with 2 messages.\n"
    assert told(w, "case", "delete", UID, *REASON, status=1) == (f"mailroom work: case {UID} has messages: 2\n  Take "
        f"them out with `mailroom work case remove`, or discard them with `mailroom work case trash {UID}`.\n")
    assert told(w, "case", "trash", UID, *REASON) == (
        f"2 messages of case {UID} are in the trash, and the case is empty.\n")
    assert told(w, "case", "trash", UID, *REASON) == f"Case {UID} has no messages.\n"
    assert told(w, "case", "delete", UID, *REASON) == f'Case {UID}, "B", is deleted.\n'


with Tap() as tap:
    for case in (cases_are_made, cases_are_listed_and_shown, two_directories_of_one_uid_are_told, messages_are_added,
            messages_are_removed, a_summary_is_set, a_case_is_moved_and_renamed, tags_are_put_on_and_taken_off,
            cases_are_merged, notes_are_kept, a_case_is_archived_and_comes_back, a_case_is_emptied_and_deleted,
            what_others_need_is_not_trashed, a_discarded_message_is_brought_back,
            people_read_tables_pages_and_sentences):
        with Workspace(sys.argv[1]) as desk:
            tap.run(case.__name__, case, desk)
