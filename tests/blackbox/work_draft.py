"""usage: work_draft.py PROGRAM SOURCE - drafts of mail in cases, as afmail and as people see them."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import describe  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402

UID = "c20260504001"
CASE = f"cases/open/{UID}-A"
REASON = ("--reason", "because")
NEW = "new-plan-b.md"
DRAFT = ("case", "draft")
WHO = [{"identity": "me", "name": "Me Tester", "email": "me@mail.example", "default": True},
    {"identity": "desk", "name": "Desk", "email": "desk@mail.example"}]


def refused(w, word, text, *args, **options):
    error = w.fails(word, *args, **options)
    assert error["error"] == text, error
    return error


def bare(result):
    return {key: value for key, value in result.items() if key != "trace"}


def begin(w, identities=None):
    """A case with a mail; its id. `identities` are those of the configuration."""
    config = w.document(".afmail", "config.json")
    config["identities"] = identities or WHO
    w.put(json.dumps(config), ".afmail", "config.json")
    first = w.deliver(mail(1, "Plan", more=("Cc: Carol <carol@example.net>, desk@mail.example",)))[0]
    w.ok("case", "create", "--name", "A", "--message", first, *REASON)
    return first


def make(w, *more, **options):
    return w.ok(*DRAFT, "new", UID, "--to", "bob@example.net", "--subject", "Plan: B?", *more, **options)


def told(w, *args, status=0, stdin=""):
    done = w.run("work", *args, stdin=stdin)
    assert done.returncode == status, describe(done)
    return done.stderr if status else done.stdout


def file_of(w, name=NEW):
    return w.read(CASE, "drafts", name)


def a_mail_is_begun(w):
    begin(w)
    made = make(w, "--to", "Carol <carol@example.net>", "--cc", "d@example.net", "--identity", "desk", "--body", "Hi.")
    assert bare(made) == {"code": "draft_created", "case_uid": UID, "draft_name": NEW,
        "draft_path": f"{CASE}/drafts/{NEW}", "identity": "desk"}, made
    assert file_of(w) == (f'---\nkind: draft\ncase_uid: {UID}\nsend_intent: new\nidentity: desk\nsubject: "Plan: B?"\n'
        'to:\n- bob@example.net\n- "Carol <carol@example.net>"\ncc:\n- d@example.net\nattachments: []\n---\nHi.\n')
    assert make(w)["draft_name"] == "new-plan-b-2.md"
    refused(w, "draft_invalid", "there is no identity nobody in the configuration",
        *DRAFT, "new", UID, "--to", "b@example.net", "--subject", "x", "--identity", "nobody")
    bad = w.fails("draft_invalid", *DRAFT, "new", UID, "--to", "nonsense", "--subject", "x")
    assert "to: " in bad["error"] and "nonsense" in bad["error"], bad
    refused(w, "case_not_found", "there is no case c20200101001",
        *DRAFT, "new", "c20200101001", "--to", "b@example.net", "--subject", "x")
    for args in (("--subject", "x"), ("--to", "b@example.net")):
        assert w.fails(None, *DRAFT, "new", UID, *args)["hint"] == "try: afmail case draft --help"
    assert len(os.listdir(w.path(CASE, "drafts"))) == 2


def a_text_comes_from_one_place(w):
    begin(w)
    w.put("From a file.\n", "body.txt")
    w.put("\0", "bad.txt")
    args = (*DRAFT, "new", UID, "--to", "b@example.net", "--subject", "x")
    usage = w.fails(None, *args, "--body", "a", "--body-file", "body.txt")
    assert usage["error"] == "--body and --body-file cannot be given together", usage
    assert usage["hint"] == "try: afmail case draft --help" and "error_code" not in usage, usage
    missing = w.fails("store_error", *args, "--body-file", "absent.txt")
    assert "absent.txt" in missing["error"], missing
    refused(w, "draft_invalid", "bad.txt is not UTF-8 text", *args, "--body-file", "bad.txt")
    refused(w, "draft_invalid", "what is on standard input is not UTF-8 text", *args, "--body-file", "-", stdin="\0")
    assert not os.path.exists(w.path(CASE, "drafts", "new-x.md"))
    w.ok(*args, "--body-file", "body.txt", cwd=w.dir)
    assert file_of(w, "new-x.md").endswith("---\nFrom a file.\n")
    name = w.ok(*args, "--body-file", "-", stdin="Grüße\nvon hier\n")["draft_name"]
    assert file_of(w, name).endswith("---\nGrüße\nvon hier\n")
    name = w.ok(*args, "--body-file=-", stdin="")["draft_name"]
    assert w.ok(*DRAFT, "show", UID, name)["body"] == ""


def a_message_is_answered(w):
    first = begin(w)
    name = f"reply-{first}.md"
    made = w.ok(*DRAFT, "reply", UID, first)
    assert bare(made) == {"code": "draft_created", "case_uid": UID, "message_id": first, "draft_name": name,
        "draft_path": f"{CASE}/drafts/{name}", "identity": "me"}, made
    shown = w.ok(*DRAFT, "show", UID, name)
    assert shown["to"] == ["Ann <ann@example.com>"] and shown["cc"] == [] and "> Hello." in shown["body"], shown
    assert shown["subject"] == "Re: Plan" and shown["send_intent"] == "reply", shown
    assert shown["reply_to_message_id"] == first, shown
    there = refused(w, "draft_exists", f"there is a draft {CASE}/drafts/{name} already", *DRAFT, "reply", UID, first)
    assert "details" not in there and "afmail case draft change" in there["hint"], there
    w.ok(*DRAFT, "remove", UID, name, *REASON)
    # The older name of the command.
    assert w.ok("case", "reply", UID, first, "--all", "--body-file", "-", stdin="Yes.")["code"] == "draft_created"
    shown = w.ok(*DRAFT, "show", UID, name)
    assert shown["to"] == ["Ann <ann@example.com>", "me@example.com"], shown
    assert shown["cc"] == ["Carol <carol@example.net>"] and shown["body"] == "Yes.", shown
    other = w.deliver(mail(2))[0]
    refused(w, "invalid_request", f"message {other} is not in case {UID}", *DRAFT, "reply", UID, other)
    assert "reply" not in w.afmail("case", "--help").stdout.replace("draft", "")


def a_message_is_passed_on(w):
    first = begin(w)
    made = w.ok(*DRAFT, "forward", UID, first, "--to", "b@example.net", "--body", "See below.")
    assert made["draft_name"] == f"forward-{first}.md" and made["message_id"] == first, made
    shown = w.ok(*DRAFT, "show", UID, made["draft_name"])
    assert shown["subject"] == "Fwd: Plan" and shown["send_intent"] == "new", shown
    size = os.path.getsize(w.path(".afmail", "messages", first + ".eml"))
    assert shown["attachments"] == [{"path": f"files/{first}.eml", "exists": True, "size_bytes": size}], shown
    w.ok(*DRAFT, "validate", UID, made["draft_name"])


def a_draft_is_changed(w):
    begin(w)
    make(w, "--cc", "c@example.net", "--body", "Hi.")
    before = file_of(w)
    none = w.ok(*DRAFT, "change", UID, NEW)
    assert none["code"] == "draft_changed" and none["changed_fields"] == [] and file_of(w) == before, none
    usage = w.fails(None, *DRAFT, "change", UID, NEW, "--cc", "x@example.net", "--clear-cc")
    assert usage["error"] == "--cc and --clear-cc cannot be given together", usage
    bad = w.fails("draft_invalid", *DRAFT, "change", UID, NEW, "--subject", "Other", "--to", "nonsense")
    assert "nonsense" in bad["error"] and file_of(w) == before, bad
    changed = w.ok(*DRAFT, "change", UID, NEW, "--subject", "Other", "--to", "x@example.net", "--to", "y@example.net",
        "--clear-cc", "--identity", "desk", "--body-file", "-", stdin="New text.")
    assert changed["changed_fields"] == ["subject", "to", "cc", "body", "identity"], changed
    assert changed["draft_hash"].startswith("sha256:") and changed["last_validated_rfc3339"], changed
    shown = w.ok(*DRAFT, "show", UID, NEW)
    assert shown["to"] == ["x@example.net", "y@example.net"] and shown["cc"] == [], shown
    assert shown["body"] == "New text." and shown["validated_current"] is True, shown
    assert w.events("draft_changed")[-1]["draft_hash"] == changed["draft_hash"]


def files_are_attached(w):
    begin(w)
    make(w)
    w.put("data", "r?p.txt")
    os.mkdir(w.path("folder"))
    args = (*DRAFT, "attach", UID, NEW)
    added = w.ok(*args, "../r?p.txt", cwd=w.path("folder"))
    assert bare(added) == {"code": "draft_attachment_added", "case_uid": UID, "draft_name": NEW,
        "draft_path": f"{CASE}/drafts/{NEW}", "source_path": os.path.realpath(w.path("r?p.txt")),
        "attachment": "files/r_p.txt", "file_path": f"{CASE}/files/r_p.txt", "copied": True, "already_present": False,
        "size_bytes": 4, "requires_validate": True}, added
    event = w.events("draft_changed")[-1]
    assert event["changed_fields"] == ["attachments"] and event["draft_name"] == NEW, event
    again = w.ok(*args, "r?p.txt")
    assert again["already_present"] is True and again["copied"] is False, again
    w.put("other", "r?p.txt")
    other = w.ok(*args, "r?p.txt")
    assert other["attachment"] == "files/1-r_p.txt" and w.read(CASE, "files", "r_p.txt") == "data", other
    refused(w, "draft_invalid", "there is no file absent to attach", *args, "absent")
    refused(w, "draft_invalid", "folder is not a file that can be attached", *args, "folder")
    os.remove(w.path(CASE, "files", "r_p.txt"))
    refused(w, "draft_invalid", "there is no attachment files/r_p.txt", *DRAFT, "validate", UID, NEW)
    shown = w.ok(*DRAFT, "show", UID, NEW)["attachments"]
    assert shown == [{"path": "files/r_p.txt", "exists": False, "size_bytes": None},
        {"path": "files/1-r_p.txt", "exists": True, "size_bytes": 5}], shown


def broken_drafts_are_told(w):
    begin(w)
    make(w, "--body", "Hi.")
    good = file_of(w)
    for text, error in (("text", NEW + ': line 1: the document does not begin with a line "---"'),
            ("---\nkind: draft\n", NEW + ': line 3: the front matter is not closed by a line "---"'),
            ("---\nkind: [\n---\n", NEW + ": front matter: not valid YAML at line 2 column 1: did not find expected "
                "node content"),
            ("", NEW + ": the draft is empty"),
            (good.replace("kind: draft", "kind: note"), NEW + ": kind is not draft"),
            (good.replace(UID, "c20200101001"), f"{NEW}: case_uid is not {UID}"),
            (good.replace("to:\n- bob@example.net", "to: []"), NEW + ": it has no recipient in to"),
            (good.replace("bob@example.net", "nobody"), NEW + ': to: "nobody" is no mail address: it has no @'),
            (good.replace('subject: "Plan: B?"\n', ""), NEW + ": it has no subject"),
            (good.replace("identity: me", "identity: ghost"), "there is no identity ghost in the configuration"),
            (good.replace("attachments: []", "attachments: [../x]"), "attachment ../x is not a path below the case")):
        w.put(text, CASE, "drafts", NEW)
        for action in ("validate", "save", "send"):
            found = refused(w, "draft_invalid", error, *DRAFT, action, UID, NEW)
            assert "afmail case draft validate" in found["hint"], found
        listed = w.ok(*DRAFT, "list", UID)["items"]
        assert listed[0]["draft_valid"] is False and listed[0]["draft_error"] == error, listed
    assert w.ok("status")["push_count"] == 0
    w.ok(*DRAFT, "remove", UID, NEW, *REASON)


def drafts_that_are_not_there(w):
    begin(w)
    for args in (("show",), ("validate",), ("save",), ("send",), ("change",), ("remove", *REASON)):
        error = refused(w, "draft_not_found", f"there is no draft {CASE}/drafts/nope.md",
            *DRAFT, args[0], UID, "nope.md", *args[1:])
        assert error["hint"] == "List the drafts of the case with `afmail case draft list CASE_REF`.", error
        assert error["details"]["draft_name"] == "nope.md", error
    refused(w, "invalid_request", "the draft name '../x.md' is not a single file name that ends in .md",
        *DRAFT, "show", UID, "../x.md")
    assert w.fails(None, *DRAFT, "send")["hint"] == "try: afmail case draft --help"
    w.ok("case", "archive", UID, *REASON)
    refused(w, "case_archived", f"case {UID} is archived", *DRAFT, "list", UID)


def a_draft_is_queued(w):
    begin(w)
    make(w, "--body", "Hi.")
    valid = w.ok(*DRAFT, "validate", UID, NEW)
    assert set(bare(valid)) == {"code", "case_uid", "draft_name", "draft_hash", "last_validated_rfc3339"}, valid
    assert valid["code"] == "draft_valid"
    saved = w.ok(*DRAFT, "save", UID, NEW)
    assert saved["code"] == "push_queued" and saved["action"] == "save_draft" and saved["kind"] == "outbound", saved
    sent = w.ok(*DRAFT, "send", UID, NEW)
    assert bare(sent) == {"code": "push_queued", "push_id": saved["push_id"], "kind": "outbound", "action": "send",
        "case_uid": UID, "draft_name": NEW, "draft_path": f"{CASE}/drafts/{NEW}",
        "last_validated_rfc3339": sent["last_validated_rfc3339"]}, sent
    item = w.document(".afmail", "push", saved["push_id"] + ".json")
    assert item["action"] == "send" and item["draft_name"] == NEW and item["case_uid"] == UID, item
    shown = w.ok(*DRAFT, "show", UID, NEW)
    assert shown["queued_action"] == "send" and shown["push_id"] == saved["push_id"], shown
    row = w.ok(*DRAFT, "list", UID)
    assert bare(row) == {"code": "draft_list", "case_uid": UID, "count": 1, "items": [{"draft_name": NEW,
        "draft_path": f"{CASE}/drafts/{NEW}", "subject": "Plan: B?", "identity": "me", "to": ["bob@example.net"],
        "cc": [], "send_intent": "new", "reply_to_message_id": None, "queued_action": "send",
        "push_id": saved["push_id"], "draft_valid": True}]}, row
    removed = w.ok(*DRAFT, "remove", UID, NEW, *REASON)
    assert bare(removed) == {"code": "draft_removed", "case_uid": UID, "draft_name": NEW,
        "draft_path": f"{CASE}/drafts/{NEW}", "draft_deleted": True, "state_removed": True, "queued_removed": True,
        "removed_push_count": 1, "push_ids": [saved["push_id"]], "actions": ["send"], "mail_sent": False}, removed
    assert w.ok("status")["push_count"] == 0
    assert [event["kind"] for event in w.events()][1:] == ["draft_queued", "draft_queued", "draft_removed"]


def what_has_begun_stays(w):
    begin(w)
    make(w)
    push = w.ok(*DRAFT, "send", UID, NEW)["push_id"]
    item = w.document(".afmail", "push", push + ".json")
    item["step_states"] = [{"index": 0, "label": "smtp_send", "status": "succeeded",
        "started_rfc3339": "2026-05-04T00:00:00Z"}]
    w.put(json.dumps(item), ".afmail", "push", push + ".json")
    begun = refused(w, "push_already_started", f"{push} has begun with the draft {NEW}, which cannot be removed",
        *DRAFT, "remove", UID, NEW, *REASON)
    assert begun["details"] == {"push_id": push}, begun
    refused(w, "push_already_started", f"{push} has begun to send the draft {NEW}: it cannot become something else",
        *DRAFT, "save", UID, NEW)


def the_identity_of_a_new_workspace_sends_nothing(w):
    example = {"identity": "me", "name": "Me", "email": "me@example.com", "default": True}
    begin(w, [example])
    make(w)
    error = refused(w, "config_missing", "the identity 'me' is still the example of a new workspace, "
        "Me <me@example.com>", *DRAFT, "send", UID, NEW)
    assert "identities" in error["hint"], error
    assert w.ok(*DRAFT, "save", UID, NEW)["action"] == "save_draft"
    config = w.document(".afmail", "config.json")
    config["identities"][0]["name"] = "Me Tester"
    w.put(json.dumps(config), ".afmail", "config.json")
    assert w.ok(*DRAFT, "send", UID, NEW)["action"] == "send"


def compose_wants_a_draft_that_was_validated(w):
    begin(w)
    make(w, "--body", "Hi.")
    unchecked = refused(w, "draft_validation_required", f"the draft {CASE}/drafts/{NEW} has not been validated",
        "case", "compose", UID, NEW)
    assert unchecked["details"] == {"suggested_commands": [f"afmail case draft validate {UID} {NEW}"]}, unchecked
    w.ok(*DRAFT, "validate", UID, NEW)
    w.put(file_of(w).replace("Hi.", "Hello."), CASE, "drafts", NEW)
    refused(w, "draft_changed_since_validation", f"the draft {CASE}/drafts/{NEW} has changed since it was validated",
        "case", "compose", UID, NEW)
    w.ok(*DRAFT, "validate", UID, NEW)
    assert w.ok("case", "compose", UID, NEW)["action"] == "save_draft"


def a_saved_draft_goes_with_its_case(w):
    begin(w)
    make(w, "--body", "Hi.")
    valid = w.ok(*DRAFT, "validate", UID, NEW)
    states = w.document(CASE, "data", "drafts.json")
    states["drafts"][NEW]["last_saved_hash"] = valid["draft_hash"]
    w.put(json.dumps(states), CASE, "data", "drafts.json")
    w.ok("case", "archive", UID, *REASON)
    w.ok("case", "unarchive", UID, *REASON)
    w.put(file_of(w).replace("Hi.", "Hello."), CASE, "drafts", NEW)
    refused(w, "case_has_local_drafts", f"case {UID} has drafts: {NEW}", "case", "archive", UID, *REASON)
    w.put("{}", CASE, "data", "drafts.json")
    refused(w, "draft_state_invalid", f"{CASE}/data/drafts.json is not a draft_state of version 1",
        *DRAFT, "validate", UID, NEW)


def people_read_drafts(w):
    first = begin(w)
    assert told(w, *DRAFT, "list", UID) == f"Case {UID} has no drafts.\n"
    assert told(w, *DRAFT, "new", UID, "--to", "bob@example.net", "--subject", "Plan: B?", "--body", "Hi\x1b[2J.") == (
        f"The draft is {CASE}/drafts/{NEW}\nEdit it, then queue it: mailroom work case draft send {UID} {NEW}\n")
    told(w, *DRAFT, "reply", UID, first, "--all", "--body", "Yes.")
    w.put("broken", CASE, "drafts", "z.md")
    lines = told(w, *DRAFT, "list", UID).splitlines()
    assert lines[0].split() == ["draft", "to", "subject", "state"] and len(lines) == 4, lines
    assert lines[1].startswith(NEW) and lines[1].endswith("ready") and "(no subject)" in lines[3], lines
    assert told(w, *DRAFT, "change", UID, NEW, "--subject", "Plan") == f"Draft {NEW} changed: subject.\n"
    assert told(w, *DRAFT, "change", UID, NEW) == f"Draft {NEW} is as it was, and can be sent.\n"
    w.put("data", "a.txt")
    assert told(w, *DRAFT, "attach", UID, NEW, "a.txt") == f"Draft {NEW} has the file files/a.txt, 4 bytes.\n"
    assert told(w, *DRAFT, "attach", UID, NEW, "a.txt") == f"Draft {NEW} already has the file files/a.txt, 4 bytes.\n"
    assert told(w, *DRAFT, "validate", UID, NEW) == f"Draft {NEW} can be sent.\n"
    queued = "Nothing has left this machine; `mailroom work push` shows the queue.\n"
    assert told(w, *DRAFT, "save", UID, NEW) == f"Draft {NEW} is queued to be saved on the server. {queued}"
    assert told(w, *DRAFT, "send", UID, NEW) == f"Draft {NEW} is queued to be sent. {queued}"
    assert told(w, *DRAFT, "show", UID, NEW) == ("Plan\nTo        bob@example.net\nIdentity  me\nAttached  files/a.txt\n"
        f"State     queued to be sent, checked\nFile      {CASE}/drafts/{NEW}\n\nHi\ufffd[2J.\n")
    os.remove(w.path(CASE, "files", "a.txt"))
    shown = told(w, *DRAFT, "show", UID, f"reply-{first}.md")
    assert "Cc        Carol <carol@example.net>\n" in shown and f"Answers   {first}\n" in shown, shown
    assert "State     not checked yet\n" in shown and shown.endswith("\n\nYes.\n"), shown
    assert "Attached  files/a.txt (missing)\n" in told(w, *DRAFT, "show", UID, NEW)
    assert told(w, *DRAFT, "remove", UID, NEW, *REASON) == f"Draft {NEW} is removed, and no longer queued.\n"


with Tap() as tap:
    for case in (a_mail_is_begun, a_text_comes_from_one_place, a_message_is_answered, a_message_is_passed_on,
            a_draft_is_changed, files_are_attached, broken_drafts_are_told, drafts_that_are_not_there,
            a_draft_is_queued, what_has_begun_stays, the_identity_of_a_new_workspace_sends_nothing,
            compose_wants_a_draft_that_was_validated, a_saved_draft_goes_with_its_case, people_read_drafts):
        with Workspace(sys.argv[1]) as desk:
            tap.run(case.__name__, case, desk)
