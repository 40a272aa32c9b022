"""usage: work_archive.py PROGRAM SOURCE - the archive: categories of messages, and archived cases."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import describe  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402

UID = "a20260504001"
NEWS = f"archive/notifications/{UID}-News"
CASE = "c20260504001"
REASON = ("--reason", "because")
CATEGORY = ("archive", "message")
QUEUE = {"location_count": 0, "queued_location_count": 0, "queued": False, "push_id": None, "push_ids": []}


def refused(w, word, text, *args, **options):
    error = w.fails(word, *args, **options)
    assert error["error"] == text, error
    return error


def bare(result):
    return {key: value for key, value in result.items() if key != "trace"}


def begin(w, *more):
    """A category with the first of the mails; the ids of all."""
    ids = w.deliver(mail(1, "Newsletter"), *more)
    w.ok(*CATEGORY, "create", "--name", "News", "--message", ids[0], "--summary", "news of May", *REASON)
    return ids


def told(w, *args, status=0):
    done = w.run("work", *args)
    assert done.returncode == status, describe(done)
    return done.stderr if status else done.stdout


def categories_are_made(w):
    one = w.deliver(mail(1, "Newsletter"))[0]
    refused(w, "invalid_request", "--message needs a --summary that is not blank",
        *CATEGORY, "create", "--name", "News", "--message", one, "--summary", " ", *REASON)
    refused(w, "invalid_request", "--summary needs --message", *CATEGORY, "create", "--name", "News", "--summary", "s")
    refused(w, "message_not_found", "there is no message message_x",
        *CATEGORY, "create", "--name", "x", "--message", "message_x", "--summary", "s")
    slash = w.fails("invalid_request", *CATEGORY, "create", "--name", "a/b")
    assert "'a/b' may not contain / or \\" in slash["error"], slash
    w.fails(None, *CATEGORY, "create")
    assert w.ok("archive", "list")["message_count"] == 0
    made = w.ok(*CATEGORY, "create", "--name", "News", "--message", one, "--summary", "news of May")
    assert bare(made) == {"code": "archive_message_created", "archive_uid": UID, "archive_name": "News",
        "message_count": 1, "path": NEWS, "message_id": one, "summary": "news of May", "eligible_message_ids": [one],
        **QUEUE}, made
    empty = w.ok(*CATEGORY, "create", "--name", "服务通知")
    assert set(bare(empty)) == {"code", "archive_uid", "archive_name", "message_count", "path"}, empty
    assert w.ok("status")["message_status"] == {"archived": 1}


def the_archive_is_listed(w):
    ids = begin(w, mail(2))
    w.ok("case", "create", "--name", "A", "--message", ids[1], *REASON)
    w.ok("case", "archive", CASE, *REASON)
    cases = {"case_path": "archive/cases/{case_dir}", "view_path": "archive/cases/{case_dir}/case.md",
        "data_path": "archive/cases/{case_dir}/data/case.json"}
    categories = {"archive_path": "archive/notifications/{archive_dir}",
        "view_path": "archive/notifications/{archive_dir}/archive.md",
        "data_path": "archive/notifications/{archive_dir}/data/notification.json"}
    case = {"case_uid": CASE, "case_name": "A", "case_dir": CASE + "-A"}
    category = {"archive_uid": UID, "archive_name": "News", "archive_dir": UID + "-News"}
    assert bare(w.ok("archive", "list")) == {"code": "archive_list", "case_count": 1, "message_count": 1,
        "case_path_templates": cases, "message_path_templates": categories, "cases": [case], "messages": [category]}
    assert bare(w.ok("archive", "list", "cases")) == {"code": "archive_case_list", "count": 1,
        "path_templates": cases, "items": [case]}
    assert bare(w.ok("archive", "list", "messages")) == {"code": "archive_message_list", "count": 1,
        "path_templates": categories, "items": [category]}
    assert w.fails(None, "archive", "list", "contacts")["hint"].startswith("try: afmail archive")
    w.put("{", NEWS, "data", "notification.json")
    assert w.ok("archive", "list", "messages")["invalid_paths"] == [NEWS + "/data/notification.json"]
    assert "notification.json" in w.fails("archive_messages_invalid", *CATEGORY, "show", UID)["error"]


def a_category_is_shown_and_renamed(w):
    one = begin(w)[0]
    shown = w.ok(*CATEGORY, "show", UID)
    added = shown["items"][0].pop("added_rfc3339")
    assert added.endswith("Z") and shown.pop("text").startswith(f"# Archive Messages: News (`{UID}`)\n"), shown
    assert bare(shown) == {"code": "archive_message", "archive_uid": UID, "archive_name": "News", "path": NEWS,
        "view_path": NEWS + "/archive.md", "notes_path": NEWS + "/notes.md", "message_count": 1,
        "items": [{"message_id": one, "summary": "news of May"}]}, shown
    renamed = w.ok(*CATEGORY, "rename", UID, "--name", "New name", *REASON)
    assert bare(renamed) == {"code": "message_archive_category_renamed", "archive_uid": UID,
        "old_archive_name": "News", "archive_name": "New name",
        "path": f"archive/notifications/{UID}-New-name", "message_count": 1, "changed": True}, renamed
    assert w.ok(*CATEGORY, "rename", UID, "--name", "New name", *REASON)["changed"] is False
    unknown = refused(w, "archive_not_found", "there is no archive category a20200101001",
        *CATEGORY, "show", "a20200101001")
    assert "afmail archive list messages" in unknown["hint"], unknown
    name = w.fails("invalid_request", *CATEGORY, "show", "News")
    assert "'News' is not a" in name["error"], name
    refused(w, "reason_required", "this command needs a reason", *CATEGORY, "rename", UID, "--name", "x")


def messages_are_archived(w):
    one, two, three, four = begin(w, mail(2), mail(3), mail(4, reply_to=3))
    other = w.ok(*CATEGORY, "create", "--name", "Other")["archive_uid"]
    added = w.ok(*CATEGORY, "add", UID, two, "--summary", "x", *REASON)
    assert bare(added) == {"code": "message_archived", "message_id": two, "archive_uid": UID, "path": NEWS,
        "special_use": "archive", "eligible_message_ids": [two], **QUEUE}, added
    there = refused(w, "message_already_archived", f"message {one} is in the category {UID} already",
        *CATEGORY, "add", other, one, "--summary", "s", *REASON)
    assert "details" not in there and "afmail archive message move" in there["hint"], there
    related = refused(w, "message_has_related_conversation_use_case",
        f"message {three} belongs to a conversation with {four}", *CATEGORY, "add", UID, three, "--summary", "s", *REASON)
    assert "Create a case" in related["hint"] and related["details"]["related_message_ids"] == [four], related
    assert related["details"]["suggested_commands"][0].startswith("afmail case create --name NAME"), related
    w.fails(None, *CATEGORY, "add", UID, one)
    refused(w, "message_not_found", "there is no message message_x",
        *CATEGORY, "add", UID, "message_x", "--summary", "s", *REASON)
    refused(w, "reason_required", "this command needs a reason", *CATEGORY, "add", UID, one, "--summary", "s")


def the_older_command_names_the_message_first(w):
    _, two = begin(w, mail(2))
    added = w.ok("message", "archive", two, UID, "--summary", "", *REASON)
    assert added["code"] == "message_archived" and added["archive_uid"] == UID, added
    items = w.document(NEWS, "data", "notification.json")["items"]
    assert [item.get("summary") for item in items if item["message_id"] == two] == [None], items
    assert "Mail 2" in w.read(NEWS, "archive.md")


def a_message_is_moved_and_comes_back(w):
    one = begin(w)[0]
    other = w.ok(*CATEGORY, "create", "--name", "Other")["archive_uid"]
    moved = w.ok(*CATEGORY, "move", UID, one, other, *REASON)
    assert bare(moved) == {"code": "message_archive_moved", "message_id": one, "from_archive_uid": UID,
        "archive_uid": other, "changed": True}, moved
    same = w.ok(*CATEGORY, "move", other, one, other, *REASON)
    assert bare(same) == {"code": "message_archive_moved", "message_id": one, "archive_uid": other,
        "new_archive_uid": other, "changed": False}, same
    for args in (("restore", UID, one), ("move", UID, one, other), ("set-summary", UID, one, "--summary", "x")):
        refused(w, "archive_entry_not_found", f"message {one} is not in the category {UID}", *CATEGORY, *args, *REASON)
    summary = w.ok(*CATEGORY, "set-summary", other, one, "--summary", " new ", *REASON)
    assert bare(summary) == {"code": "message_archive_summary_set", "message_id": one, "archive_uid": other,
        "summary": "new"}, summary
    assert w.ok(*CATEGORY, "set-summary", other, one, "--summary", "", *REASON)["summary"] in (None, "")
    restored = w.ok(*CATEGORY, "restore", other, one, *REASON)
    assert bare(restored) == {"code": "message_restored", "message_id": one, "archive_uid": other,
        "triage_path": f"triage/{one}.md", "removed_push_count": 0, "push_ids": []}, restored
    assert w.ok("status")["message_status"] == {"triage": 1}


def notes_of_a_category(w):
    begin(w)
    path, targets = NEWS + "/notes.md", [{"kind": "archive", "id": UID}]
    notes = (*CATEGORY, "notes")
    assert bare(w.ok(*notes, "show", UID)) == {"code": "archive_message_notes", "targets": targets,
        "notes_path": path, "text": "# Notes\n\n"}
    added = w.ok(*notes, "append", UID, "--text", "x")
    assert bare(added) == {"code": "archive_message_notes_appended", "targets": targets, "notes_path": path,
        "text_len_bytes": 1, "text_hash": "fnv1a64:af63f54c86021707"}, added
    assert w.ok(*notes, "replace", UID, "--text", "---\na: b\n---\n")["code"] == "archive_message_notes_replaced"
    assert w.ok(*notes, "show", UID)["text"] == "---\na: b\n---\n"
    os.remove(w.path(path))
    missing = refused(w, "notes_missing", f"{path} is missing", *notes, "append", UID, "--text", "x")
    assert missing["details"]["suggested_command"] == f"afmail archive message notes replace {UID} --text TEXT", missing


def archived_cases(w):
    one = w.deliver(mail(1))[0]
    w.ok("case", "create", "--name", "A", "--message", one, *REASON)
    args = ("archive", "case")
    refused(w, "case_not_found", f"case {CASE} is active: there is no archived case of that uid", *args, "show", CASE)
    w.ok("case", "archive", CASE, *REASON)
    shown = w.ok(*args, "show", CASE)
    assert shown.pop("text").startswith("# A\n") and bare(shown) == {"code": "archive_case", "case_uid": CASE,
        "case_name": "A", "case_path": f"archive/cases/{CASE}-A", "view_path": f"archive/cases/{CASE}-A/case.md"}, shown
    renamed = w.ok(*args, "rename", CASE, "--name", "Z", *REASON)
    assert bare(renamed) == {"code": "archive_case_renamed", "case_uid": CASE, "old_case_name": "A", "case_name": "Z",
        "case_path": f"archive/cases/{CASE}-Z", "changed": True}, renamed
    w.ok(*args, "notes", "append", CASE, "--text", "later")
    assert w.ok(*args, "notes", "show", CASE)["text"] == "# Notes\n\nlater\n"
    replaced = w.ok(*args, "notes", "replace", CASE, "--text", "all new")
    assert replaced["code"] == "case_notes_replaced" and replaced["targets"] == [{"kind": "case", "id": CASE}], replaced
    os.remove(w.path("archive", "cases", CASE + "-Z", "notes.md"))
    missing = w.fails("notes_missing", *args, "notes", "show", CASE)
    assert missing["details"]["suggested_command"].startswith("afmail archive case notes replace"), missing
    w.fails(None, *args, "restore", CASE, *REASON)
    refused(w, "reason_required", "this command needs a reason", *args, "restore", CASE, "--group", "open")
    w.put("", "cases", "open", CASE + "-Z", "x")
    error = w.fails("duplicate_case_uid", *args, "restore", CASE, "--group", "open", *REASON)
    assert CASE in error["error"], error
    os.remove(w.path("cases", "open", CASE + "-Z", "x"))
    os.removedirs(w.path("cases", "open", CASE + "-Z"))
    back = w.ok(*args, "restore", CASE, "--group", "again", *REASON)
    assert bare(back) == {"code": "case_restored", "case_uid": CASE, "group": "again",
        "case_path": f"cases/again/{CASE}-Z"}, back


def people_read_the_archive(w):
    assert told(w, "archive", "list") == "The archive is empty.\n"
    assert told(w, "archive", "list", "messages") == "There are no categories of archived messages.\n"
    one, two = w.deliver(mail(1, "Newsletter"), mail(2))
    assert told(w, *CATEGORY, "create", "--name", "News", "--message", one, "--summary", "s") == (
        f"The category {UID} is {NEWS}, with its first message.\n")
    other = w.ok(*CATEGORY, "create", "--name", "Other")["archive_uid"]
    w.ok("case", "create", "--name", "A", "--message", two, *REASON)
    w.ok("case", "archive", CASE, *REASON)
    categories = f"category      name\n{UID}  News\n{other}  Other\n"
    assert told(w, "archive", "list", "messages") == categories
    assert told(w, "archive", "list", "cases") == f"case          name\n{CASE}  A\n"
    assert told(w, "archive", "list") == f"case          name\n{CASE}  A\n\n{categories}"
    page = told(w, *CATEGORY, "show", UID)
    assert page.startswith(f"# Archive Messages: News (`{UID}`)\n") and f"- Message: {one}\n" in page, page
    assert page.endswith(f"\nFiles     {NEWS}\n"), page
    assert told(w, "archive", "case", "show", CASE).startswith("# A\n")
    assert told(w, *CATEGORY, "rename", other, "--name", "B", *REASON) == (
        f'Category {other} is named "B" now: archive/notifications/{other}-B\n')
    assert told(w, *CATEGORY, "rename", other, "--name", "B", *REASON).startswith(
        f'Category {other} is named "B" already')
    assert told(w, *CATEGORY, "move", UID, one, other, *REASON) == f"Message {one} is now in the category {other}.\n"
    assert told(w, *CATEGORY, "move", other, one, other, *REASON) == (
        f"Message {one} was already in the category {other}.\n")
    assert told(w, *CATEGORY, "restore", other, one, *REASON) == (
        f"Message {one} is back in triage: triage/{one}.md\n")
    assert told(w, *CATEGORY, "add", UID, one, "--summary", "s", *REASON) == (
        f"Message {one} is archived in {NEWS}.\n")
    assert told(w, *CATEGORY, "show", "a20200101001", status=1).startswith(
        "mailroom work: there is no archive category a20200101001\n  ")


with Tap() as tap:
    for case in (categories_are_made, the_archive_is_listed, a_category_is_shown_and_renamed, messages_are_archived,
            the_older_command_names_the_message_first, a_message_is_moved_and_comes_back, notes_of_a_category,
            archived_cases, people_read_the_archive):
        with Workspace(sys.argv[1]) as desk:
            tap.run(case.__name__, case, desk)
