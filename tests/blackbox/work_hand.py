"""usage: work_hand.py PROGRAM SOURCE - files of a workspace that somebody changed by hand: a clear code, and the rest goes on."""

import os
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402


def two_cases(w):
    w.ok("config", "set", "identities.me.email", "you@example.net")
    one, two = w.deliver(mail(1), mail(2))
    return one, w.ok("case", "create", "--name", "One", "--message", one, "--reason", "r"), \
        w.ok("case", "create", "--name", "Two", "--message", two, "--reason", "r")


def codes(w):
    return [issue["code"] for issue in w.ok("doctor")["issues"]]


def a_case_directory_that_was_renamed(w):
    _, one, two = two_cases(w)
    os.rename(w.path(one["case_path"]), w.path("cases", "open", one["case_uid"] + "-Elsewhere"))
    assert w.ok("case", "show", one["case_uid"])["case_path"] == f"cases/open/{one['case_uid']}-Elsewhere"
    assert codes(w) == ["case_dir_name_drift"], codes(w)
    w.ok("case", "tag", one["case_uid"], "urgent", "--reason", "r")
    w.ok("case", "tag", two["case_uid"], "urgent", "--reason", "r")
    w.ok("doctor", "repair", "--confirm")
    assert codes(w) == [] and os.path.isdir(w.path(one["case_path"]))


def a_case_directory_that_was_moved_to_another_group(w):
    _, one, _ = two_cases(w)
    os.makedirs(w.path("cases", "later"))
    os.rename(w.path(one["case_path"]), w.path("cases", "later", os.path.basename(one["case_path"])))
    assert w.ok("case", "show", one["case_uid"])["group"] == "later"
    assert w.ok("status")["cases_by_group"] == {"later": 1, "open": 1}


def a_draft_that_was_edited_while_queued(w):
    message, one, _ = two_cases(w)
    draft = w.ok("case", "draft", "reply", one["case_uid"], message, "--body", "First.")
    w.ok("case", "draft", "send", one["case_uid"], draft["draft_name"])
    text = w.read(draft["draft_path"])
    w.put(text.replace("Re: Mail 1", "Another subject").replace("First.", "Second."), draft["draft_path"])
    (item,) = w.ok("push")["items"]
    assert item["subject"] == "Another subject" and item["draft_valid"] is True, item
    assert "Second." in w.ok("case", "draft", "show", one["case_uid"], draft["draft_name"])["body"]
    w.put(text.replace("to:\n", "to: nobody\nold:\n"), draft["draft_path"])
    (item,) = w.ok("push")["items"]
    assert item["draft_valid"] is False and item["draft_error"], item
    w.ok("push", "drop", item["push_id"], "--reason", "r")
    assert w.ok("push")["count"] == 0


def a_card_that_is_broken(w):
    (message,) = w.deliver(mail(1))
    good = w.ok("contact", "create", "--name", "Good", "--email", "ann@example.com")
    bad = w.ok("contact", "create", "--name", "Bad", "--email", "bad@example.com")
    w.put("---\nkind: contact\nemails: [\n", bad["contact_path"])
    listed = w.ok("contact", "list")
    assert [item["contact_uid"] for item in listed["contacts"]] == [good["contact_uid"]], listed
    assert bad["contact_path"] in w.fails("invalid_contact", "contact", "tag", bad["contact_uid"], "x")["error"]
    assert codes(w) == ["contact_invalid"], codes(w)
    assert w.ok("message", "show", message)["contact"]["contact_uid"] == good["contact_uid"]
    w.ok("contact", "tag", good["contact_uid"], "vip")


def json_that_was_cut_in_half(w):
    message, one, two = two_cases(w)
    path = os.path.join(one["case_path"], "data", "case.json")
    text = w.read(path)
    w.put(text[:len(text) // 2], path)
    listed = w.ok("case", "list")
    assert listed["count"] == 2 and listed["invalid_paths"] == [path], listed
    assert path in w.fails("case_metadata_invalid", "case", "tag", one["case_uid"], "x", "--reason", "r")["error"]
    assert w.ok("case", "show", two["case_uid"])["case_uid"] == two["case_uid"]
    w.ok("case", "tag", two["case_uid"], "urgent", "--reason", "r")
    w.deliver(mail(3))
    assert "case_metadata_invalid" in codes(w), codes(w)
    # The case still holds its message: it is not offered again, and cannot be thrown away.
    assert message not in [item["message_id"] for item in w.ok("triage", "list")["items"]]
    assert w.fails("message_referenced", "message", "trash", message, "--reason", "r")["details"]["references"] == [path]
    w.put(text, path)
    w.ok("case", "tag", two["case_uid"], "later", "--reason", "r")  # whatever writes next refreshes
    assert codes(w) == [] and w.ok("message", "show", message)["message"]["workspace"]["status"] == "case"


def nothing_is_purged_while_a_list_cannot_be_read(w):
    message, one, two = two_cases(w)
    (discarded,) = w.deliver(mail(3))
    w.ok("message", "trash", discarded, "--reason", "r")
    path = os.path.join(one["case_path"], "data", "case.json")
    text = w.read(path)
    w.put(text[:len(text) // 2], path)
    os.unlink(w.path(".afmail", "index.sqlite"))  # what it knew of the case is gone too
    error = w.fails("case_metadata_invalid", "purge", "--older-than-days", "0")
    assert path in error["error"] and os.path.exists(w.path(".afmail", "messages", f"{discarded}.eml")), error
    w.put(text, path)
    assert w.ok("purge", "--older-than-days", "0")["purged_message_ids"] == [discarded]
    assert w.ok("message", "show", message)["message"]["workspace"]["status"] == "case" and two


def spam_that_was_cut_in_half(w):
    (message,) = w.deliver(mail(1))
    w.ok("message", "spam", message, "--reason", "r")
    text = w.read("spam", "data", "spam.json")
    w.put(text[:40], "spam", "data", "spam.json")
    assert w.ok("triage", "list")["count"] == 0
    w.fails("disposition_messages_invalid", "message", "restore", message, "--reason", "r")
    assert "disposition_messages_invalid" in codes(w), codes(w)
    w.put(text, "spam", "data", "spam.json")
    w.ok("message", "restore", message, "--reason", "r")
    assert codes(w) == [], codes(w)


def notes_with_other_line_ends(w):
    _, one, _ = two_cases(w)
    notes = os.path.join(one["case_path"], "notes.md")
    w.put("# Notes\r\n\r\n---\r\nkind: draft\r\n---\r\nA line\r\n", notes)
    assert w.ok("case", "notes", "show", one["case_uid"])["text"] == "# Notes\r\n\r\n---\r\nkind: draft\r\n---\r\nA line\r\n"
    w.ok("case", "notes", "append", one["case_uid"], "--text", "More.")
    assert w.read(notes).startswith("# Notes\r\n\r\n---\r\nkind: draft\r\n---\r\nA line\r\n"), w.read(notes)
    w.ok("case", "archive", one["case_uid"], "--reason", "r")
    assert "A line\r\n" in w.read("archive", "cases", os.path.basename(one["case_path"]), "notes.md")
    assert codes(w) == []


def names_in_decomposed_unicode(w):
    name = unicodedata.normalize("NFD", "Prüfung für Ärzte")
    made = w.ok("case", "create", "--name", name)
    assert w.ok("case", "show", made["case_uid"])["case_name"] == made["case_name"], made
    assert unicodedata.normalize("NFC", made["case_name"]) == unicodedata.normalize("NFC", name), made
    w.ok("case", "move", made["case_uid"], unicodedata.normalize("NFD", "später"))
    w.ok("contact", "create", "--name", name, "--email", "x@example.com")
    w.ok("render", "refresh")
    assert codes(w) == [], codes(w)


def evidence_that_is_gone(w):
    message, _, _ = two_cases(w)
    os.unlink(w.path(".afmail", "messages", f"{message}.eml"))
    assert "message_eml_missing" in codes(w), codes(w)
    w.deliver(mail(5))
    assert w.ok("status")["message_count"] >= 2


def main():
    program = sys.argv[1]
    with Tap() as tap:
        for test in (a_case_directory_that_was_renamed, a_case_directory_that_was_moved_to_another_group,
                a_draft_that_was_edited_while_queued, a_card_that_is_broken, json_that_was_cut_in_half,
                nothing_is_purged_while_a_list_cannot_be_read, spam_that_was_cut_in_half,
                notes_with_other_line_ends, names_in_decomposed_unicode, evidence_that_is_gone):
            with Workspace(program) as w:
                tap.run(test.__name__, test, w)


if __name__ == "__main__":
    main()
