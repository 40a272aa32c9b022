"""Workspaces as earlier programs left them, written file by file: documents of lists, and generation 0.1."""

import json
import os

TIME = "2026-05-04T09:00:00Z"


def case(uid, name, items=(), status="active", **more):
    """The document of a case."""
    return {"schema_name": "case", "schema_version": 1, "collection_uid": uid, "collection_name": name, "status": status,
        "tags": [], "created_rfc3339": TIME, "updated_rfc3339": TIME, "items": [entry(i) for i in items], **more}


def category(uid, name, items=()):
    return {"schema_name": "notification", "schema_version": 1, "collection_uid": uid, "collection_name": name,
        "items": [entry(i) for i in items]}


def disposition(kind, items=()):
    uid, name, status = {"spam": ("spam", "Spam", "spam"), "trash": ("trash", "Trash", "trashed"),
        "deleted_remote": ("deleted", "Remote Deleted", "deleted_remote")}[kind]
    return {"schema_name": kind, "schema_version": 1, "collection_uid": uid, "collection_name": name, "status": status,
        "items": [entry(i) for i in items]}


def entry(message_id):
    return {"message_id": message_id, "added_rfc3339": TIME}


def sidecar(message_id, **more):
    location = {"mailbox_name": "INBOX", "mailbox_id": "inbox", "uid_validity": 44, "uid": 7, "flags": [],
        "observed_rfc3339": TIME, "missing_rfc3339": None, **more}
    return {"schema_name": "message_remote", "schema_version": 1, "message_id": message_id, "locations": [location]}


def push(push_id, action, **more):
    """A queued item."""
    kind = "outbound" if action in ("send", "save_draft") else "message_action"
    item = {"schema_name": "push_item", "schema_version": 1, "push_id": push_id, "kind": kind, "action": action,
        "created_rfc3339": TIME, "updated_rfc3339": TIME, "attempt_count": 0, "step_states": []}
    if kind == "message_action":
        item |= {"message_ids": [], "locations": [], "steps": [{"move_to_mailbox_id": "junk"}]}
    return item | more


def card(uid, name, *emails):
    lines = "".join(f"\n- {email}" for email in emails) or " []"
    return f"---\nkind: contact\ncontact_uid: {uid}\ndisplay_name: {name}\nemails:{lines}\n---\n\n## {name}\n"


def write(root, path, content):
    """Text as it is, anything else as JSON."""
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(content if isinstance(content, str) else json.dumps(content, indent=2) + "\n")


def make_0_1(root, messages):
    """Turn a present workspace with five messages, all in triage, into one of generation 0.1: a case with the first, an
    archived case with the second, a category with the third, the fourth in spam, the fifth in the trash."""
    config_path = os.path.join(root, ".afmail", "config.json")
    with open(config_path, encoding="utf-8") as file:
        config = json.load(file)
    del config["identities"]
    config.pop("contact", None)
    config["smtp"]["from"] = "Support Team <hello@example.com>"
    write(root, ".afmail/config.json", config)
    write(root, ".afmail/DO_NOT_EDIT.txt", "Do not edit.\n")
    for number, status in ((3, "spam"), (4, "trashed"), (0, "case")):
        write(root, f".afmail/messages/{messages[number]}.state.json", {"schema_name": "message_state", "schema_version": 1,
            "message_id": messages[number], "status": status, "updated_rfc3339": "2026-05-05T10:00:00Z"})
    write(root, f".afmail/messages/{messages[0]}.txt", "Hello.\n")
    for path, uid, name, status, message in (("cases/open/c20260504001-Renewal", "c20260504001", "Renewal", "active", messages[0]),
            ("archive/cases/c20260504002-Done", "c20260504002", "Done", "archived", messages[1])):
        write(root, path + "/data/case.json", {"kind": "case", "case_uid": uid, "case_name": name, "status": status,
            "tags": ["old"], "created_rfc3339": TIME, "updated_rfc3339": TIME})
        write(root, path + "/data/messages.json", {"message_ids": [message]})
        write(root, path + "/notes.md", "# Notes\n\nKept.\n")
    write(root, "archive/notifications/a20260504001-News/data/archive.json", {"schema_name": "archive_messages",
        "schema_version": 1, "archive_uid": "a20260504001", "archive_name": "News", "items": [
            {"message_id": messages[2], "summary": "A summary.", "archived_rfc3339": "2026-05-06T11:00:00Z"}]})
    write(root, "cases/open/c20260504001-Renewal/drafts/reply.md", "---\nkind: draft\ncase_uid: c20260504001\n"
        "send_intent: new\nsubject: Hello\nto:\n- ann@example.com\n---\nText.\n")
    write(root, ".afmail/push/push_20260504T120000Z.json", push("push_20260504T120000Z", "send", case_uid="c20260504001",
        draft_name="reply.md", staged_eml_path=".afmail/push/push_20260504T120000Z.eml", draft_hash="sha256:00",
        steps=[], message_id="message_sent_1"))
    write(root, ".afmail/push/push_20260504T120000Z.eml", "Subject: Hello\n\nText.\n")
    for name in ("index.sqlite",):
        path = os.path.join(root, ".afmail", name)
        if os.path.exists(path):
            os.unlink(path)
