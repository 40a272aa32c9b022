"""usage: work_seed.py PROGRAM SOURCE - the file formats of the workspace, statement by statement."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from imap_script import Script  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
WITH_FILE = ("MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=b")
FILE_BODY = "--b\r\nContent-Type: text/plain\r\n\r\nSee the file.\r\n--b\r\nContent-Type: text/plain\r\n" \
    "Content-Disposition: attachment; filename=pricing.txt\r\n\r\npricing\r\n--b--\r\n"


def pulled(w, *mails):
    """The mails, taken in from a server, so that they have places there; their ids."""
    with Script({number: text.encode() for number, text in enumerate(mails, 1)}) as server:
        for key, value in (("imap.host", "127.0.0.1"), ("imap.port", str(server.port)), ("imap.tls", "false"),
                ("imap.username", "ann"), ("imap.password_secret", "x")):
            w.ok("config", "set", key, value)
        w.ok("pull", "inbox")
    found = w.ok("message", "list")["items"]
    return [item["message_id"] for item in sorted(found, key=lambda item: item["subject"])]


def record(w, message):
    return w.document("messages", f"{message}.json")


def front(text):
    return re.match(r"---\n(.*?\n)---\n", text, re.S)[1]


def messages(w):
    one, two = pulled(w, mail(1), mail(2, more=WITH_FILE, body=FILE_BODY))
    assert os.path.exists(w.path(".afmail", "messages", f"{one}.eml"))
    sidecar = w.document(".afmail", "messages", f"{one}.remote.json")
    assert sidecar["schema_name"] == "message_remote" and sidecar["schema_version"] == 1 and sidecar["message_id"] == one
    (place,) = sidecar["locations"]
    assert TIME.match(place.pop("observed_rfc3339")), place
    assert place == {"mailbox_name": "INBOX", "mailbox_id": "inbox", "uid_validity": 7, "uid": 1, "flags": ["\\Seen"],
        "missing_rfc3339": None}, place
    cached = record(w, one)
    assert cached["schema_name"] == "message" and cached["schema_version"] == 1 and cached["body_text"] == "Hello.\n"
    assert cached["workspace"] == {"status": "triage"} and "contact" not in cached, cached
    # A cache: it comes back.
    os.unlink(w.path("messages", f"{one}.json"))
    w.ok("render", "refresh")
    assert record(w, one) == cached
    (file,) = record(w, two)["attachments"]
    assert file == {"part_id": "2", "filename": "pricing.txt", "content_type": "text/plain", "size_bytes": 7,
        "fetched": False} or file["fetched"] is False and file["part_id"] == "2" and file["size_bytes"] == 7, file
    w.ok("message", "attachment", "fetch", two, "2")
    (file,) = record(w, two)["attachments"]
    assert file["fetched"] is True and file["file_path"] == f".afmail/messages/{two}.files/pricing.txt", file
    assert w.read(file["file_path"]) == "pricing"


def contacts_and_identities(w):
    w.put(json.dumps({**w.document(".afmail", "config.json"), "identities": [
        {"identity": "me", "name": "Me", "email": "me@example.com", "default": True},
        {"identity": "support", "name": "Support Team", "email": "hello@example.com"},
        {"identity": "sales", "name": "Sales", "email": "hello@example.com"}]}), ".afmail", "config.json")
    unique, named, several, none = w.deliver(mail(1), mail(2, to="Support Team <hello@example.com>"),
        mail(3, to="hello@example.com"), mail(4, to="other@example.com"))
    told = {name: {key: value for key, value in record(w, name).items() if key.startswith(("identity", "observed"))}
        for name in (unique, named, several, none)}
    assert told[unique] == {"identity": "me", "identity_email": "me@example.com", "identity_match": "email"}, told
    assert told[named] == {"identity": "support", "identity_email": "hello@example.com", "identity_match": "name"}, told
    assert told[several] == {"identity_email": "hello@example.com", "identity_match": "multiple",
        "identity_candidates": ["support", "sales"]}, told
    assert told[none] == {"identity_match": "unmatched", "observed_recipient_emails": ["other@example.com"]}, told
    person = w.ok("contact", "create", "--name", "Zhang San", "--email", "ann@example.com", "--phone", "13800138000", "--org",
        "Acme", "--role", "Buyer", "--tag", "vip")
    uid = person["contact_uid"]
    assert re.fullmatch(r"p\d{8}001", uid) and person["contact_path"] == f"contacts/people/{uid}-Zhang-San.md", person
    card = w.read(person["contact_path"])
    assert card.startswith(f"---\nkind: contact\ncontact_uid: {uid}\ndisplay_name: Zhang San\nemails:\n- ann@example.com\n"
        'phones:\n- "13800138000"\norganization: Acme\nrole: Buyer\ntags:\n- vip\ncreated_rfc3339: '), card
    assert record(w, unique)["contact"] == {"contact_uid": uid, "display_name": "Zhang San"}
    w.fails("email_conflict", "contact", "create", "--name", "Other", "--email", "ANN@example.com")
    w.ok("contact", "archive", uid, "--reason", "r")
    assert os.listdir(w.path("archive", "contacts")) == [f"{uid}-Zhang-San.md"]
    w.put('---\nkind: identity\nidentity: support\nname: "Desk"\nfooter: |\n  --\n  The desk\n---\nNotes.\n', "identities", "support.md")
    case = w.ok("case", "create", "--name", "C", "--message", named, "--reason", "r")["case_uid"]
    draft = w.ok("case", "draft", "reply", case, named, "--identity", "support", "--body", "Hi.")
    assert "--\nThe desk" in w.read(draft["draft_path"]), w.read(draft["draft_path"])
    w.put("---\nkind: identity\nidentity: support\nemail: x@example.com\n---\n", "identities", "support.md")
    w.fails("config_invalid", "config", "show")


def discarded(w):
    assert not [name for name in ("spam", "trash", "deleted") if os.path.exists(w.path(name))]
    one, two = pulled(w, mail(1), mail(2))
    w.ok("message", "spam", one, "--reason", "r")
    document = w.document("spam", "data", "spam.json")
    item = document.pop("items")
    assert [entry["message_id"] for entry in item] == [one] and TIME.match(item[0]["added_rfc3339"]), item
    assert {key: document[key] for key in ("schema_name", "schema_version", "collection_uid", "collection_name", "status")} == {
        "schema_name": "spam", "schema_version": 1, "collection_uid": "spam", "collection_name": "Spam", "status": "spam"}
    overlay = record(w, one)["workspace"]
    (pending,) = overlay["push"]["pending"]
    assert overlay["status"] == "spam" and pending["kind"] == "message.spam" and TIME.match(pending["queued_rfc3339"]), overlay
    queued = w.document(".afmail", "push", f"{pending['push_id']}.json")
    assert re.fullmatch(r"push_\d{8}T\d{6}Z", pending["push_id"]) and queued["schema_name"] == "push_item", queued
    assert queued["schema_version"] == 1 and queued["kind"] == "message_action" and queued["action"] == "spam", queued
    assert queued["message_ids"] == [one] and queued["locations"][0]["uid"] == 1 and queued["steps"], queued
    for name in ("index.md", f"{one}.md"):
        assert os.path.exists(w.path("spam", name)), name
    assert not os.path.exists(w.path("triage", f"{one}.md"))
    w.ok("message", "trash", two, "--reason", "r")
    assert w.document("trash", "data", "trash.json")["schema_name"] == "trash"
    assert record(w, two)["workspace"]["status"] == "trashed"
    for push in w.ok("push", "list")["items"]:
        w.ok("push", "drop", push["push_id"], "--reason", "r")
    assert w.ok("purge", "spam", "--older-than-days", "0")["purged_message_ids"] == [one]
    assert w.ok("purge", "--older-than-days", "0")["purged_message_ids"] == [two]
    assert not os.path.exists(w.path(".afmail", "messages", f"{one}.eml"))
    assert w.document("spam", "data", "spam.json")["items"] == []


def ignored_by_git(w):
    text = w.read(".gitignore")
    for name in ("messages/*.json", ".afmail/push/", ".afmail/logs/", ".afmail/transactions/", ".afmail/workspace.lock",
            ".afmail/workspace.progress.json", ".codex/skills/agent-first-mail/"):
        assert name in text, (name, text)
    assert not re.search(r"^\.afmail/messages/$", text, re.M)


def triage_views(w):
    (one,) = w.deliver(mail(1))
    told = front(w.read("triage", f"{one}.md"))
    for line in ("kind: triage_view", f"message_id: {one}", f"message_ids:\n  - {one}", "message_count: 1", "attachment_count: 0"):
        assert line in told, (line, told)
    assert re.search(r"^generated_rfc3339: ", told, re.M), told


def cases(w):
    (one,) = w.deliver(mail(1))
    made = w.ok("case", "create", "--name", "应用反馈-肥料登记", "--message", one, "--summary", "Renewal pricing.", "--reason", "r")
    uid, path = made["case_uid"], made["case_path"]
    assert uid == "c20260504001" and path == f"cases/open/{uid}-应用反馈-肥料登记", made
    document = w.document(path, "data", "case.json")
    times = [document.pop(key) for key in ("created_rfc3339", "updated_rfc3339")]
    assert all(TIME.match(time) for time in times), times
    added = document["items"][0].pop("added_rfc3339")
    assert TIME.match(added) and document.pop("last_message_rfc3339", None) is not None, document
    assert document == {"schema_name": "case", "schema_version": 1, "collection_uid": uid,
        "collection_name": "应用反馈-肥料登记", "status": "active", "tags": [], "message_count": 1, "thread_count": 1,
        "attachment_count": 0, "items": [{"message_id": one, "summary": "Renewal pricing."}]} or \
        document["thread_count"] in (0, 1), document
    for ref in (uid, f"{uid}-anything-else"):
        assert w.ok("case", "show", ref)["case_uid"] == uid
    w.fails("invalid_request", "case", "show", "应用反馈-肥料登记")
    for name in ("a/b", ".", ".."):
        w.fails("invalid_request", "case", "create", "--name", name)
    view = w.read(path, "case.md")
    assert view.startswith("# 应用反馈-肥料登记\n") and f"](views/messages/{one}.md)" in view, view
    assert os.path.exists(w.path(path, "views", "messages", f"{one}.md"))
    w.ok("case", "archive", uid, "--reason", "r")
    archived = w.document("archive", "cases", f"{uid}-应用反馈-肥料登记", "data", "case.json")
    assert archived["status"] == "archived" and TIME.match(archived["archived_rfc3339"]), archived


def drafts(w):
    w.ok("config", "set", "identities.me.email", "you@example.net")
    (one,) = w.deliver(mail(1))
    case = w.ok("case", "create", "--name", "C", "--message", one, "--reason", "r")
    uid, path = case["case_uid"], case["case_path"]
    draft = w.ok("case", "draft", "reply", uid, one, "--body", "Yes.")
    name = draft["draft_name"]
    told = front(w.read(draft["draft_path"]))
    for line in ("kind: draft", f"case_uid: {uid}", "send_intent: reply", f"reply_to_message_id: {one}", "identity: me", "to:",
            "cc: []", "attachments: []"):
        assert re.search(rf"^{re.escape(line)}", told, re.M), (line, told)
    outside = os.path.join(w.runtime, "pricing.txt")
    with open(outside, "w", encoding="ascii") as file:
        file.write("1")
    assert w.ok("case", "draft", "attach", uid, name, outside)["attachment"] == "files/pricing.txt"
    assert w.read(path, "files", "pricing.txt") == "1" and "- files/pricing.txt" in w.read(draft["draft_path"])
    w.ok("case", "draft", "validate", uid, name)
    state = w.document(path, "data", "drafts.json")["drafts"][name]
    assert state["last_validated_hash"].startswith("sha256:") and TIME.match(state["last_validated_rfc3339"]), state
    queued = w.ok("case", "draft", "send", uid, name)
    item = w.document(".afmail", "push", f"{queued['push_id']}.json")
    assert item["kind"] == "outbound" and item["action"] == "send" and item["case_uid"] == uid, item
    assert item["draft_name"] == name and not {"eml", "draft_hash", "message_id", "rfc822_message_id"} & set(item), item
    preview = w.ok("push")
    assert preview["confirmed"] is False and "No remote changes were made" in preview["hint"], preview


def categories(w):
    (one,) = w.deliver(mail(1))
    made = w.ok("archive", "message", "create", "--name", "服务通知", "--message", one, "--summary", "Policy update.")
    uid, path = made["archive_uid"], made["path"]
    assert re.fullmatch(r"a\d{8}001", uid) and path == f"archive/notifications/{uid}-服务通知", made
    document = w.document(path, "data", "notification.json")
    assert document["schema_name"] == "notification" and document["collection_uid"] == uid, document
    (item,) = document["items"]
    assert item["message_id"] == one and item["summary"] == "Policy update." and TIME.match(item["added_rfc3339"]), item
    overlay = record(w, one)["workspace"]
    assert overlay["status"] == "archived" and overlay["archive_uid"] == uid and TIME.match(overlay["archived_rfc3339"]), overlay
    view = w.read(path, "archive.md")
    assert re.search(r"^## 1\. .*: Policy update\.$", view, re.M), view
    assert f"- Message: [{one}](views/messages/{one}.md)" in view and "- Time: 2026-05-04 01:00" in view, view
    other = w.ok("archive", "message", "create", "--name", "Other")["archive_uid"]
    w.ok("archive", "message", "set-summary", uid, one, "--summary", "New.", "--reason", "r")
    w.ok("archive", "message", "rename", uid, "--name", "Neu", "--reason", "r")
    w.ok("archive", "message", "move", uid, one, other, "--reason", "r")
    w.ok("archive", "message", "restore", other, one, "--reason", "r")
    kinds = [event["kind"] for event in w.events()]
    for kind in ("message_archive_summary_set", "message_archive_category_renamed", "message_archive_moved", "message_restored"):
        assert kind in kinds, (kind, kinds)
    assert all(event["code"] == "afmail_event" for event in w.events())


def templates(w):
    done = w.ok("render", "templates")
    assert done["exported_count"] == 28 and os.path.exists(w.path("templates", "zh-CN", "case", "case.md.j2")), done
    w.put("MINE {{ message.subject }} {{ view.title }}\n", "templates", "en-US", "triage", "view.md.j2")
    w.put("OLD\n", ".afmail", "templates", "en-US", "triage", "view.md.j2")
    (one,) = w.deliver(mail(1))
    assert w.read("triage", f"{one}.md") == "MINE Mail 1 Mail 1"
    again = w.ok("render", "templates")
    assert again["kept_count"] == 28 and "MINE" in w.read("templates", "en-US", "triage", "view.md.j2"), again
    w.put("{% if %}", "templates", "en-US", "triage", "view.md.j2")
    w.fails("template_render_failed", "render", "refresh")
    assert w.ok("render", "templates", "--force")["overwritten_count"] == 28


def interrupted(w):
    w.put("{}", ".afmail", "transactions", "transaction_20260101T000000Z_case_archive.json")
    w.fails("transaction_incomplete", "case", "create", "--name", "A")
    assert [issue["code"] for issue in w.ok("doctor")["issues"]] == ["transaction_incomplete"]


def main():
    program = sys.argv[1]
    with Tap() as tap:
        for test in (messages, contacts_and_identities, discarded, ignored_by_git, triage_views, cases, drafts, categories,
                templates, interrupted):
            with Workspace(program) as w:
                tap.run(test.__name__, test, w)


if __name__ == "__main__":
    main()
