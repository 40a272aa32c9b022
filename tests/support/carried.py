"""A root whose mail goes to accounts on a JMAP server and comes back."""

import hashlib
import json
import os

import database
from mail_server import PASSWORD
from mailbox_root import Root, principal

ALICE, BOB, CAROL = (f"{name}@houmao.localhost" for name in ("alice", "bob", "carol"))


def fill(root):
    """Mail in all boxes, with all flags, answers and files; the ids."""
    ids = {}

    def deliver(subject, **more):
        ids[subject] = root.deliver(subject=subject, **more)["message_id"]
        return ids[subject]

    question = deliver("question", body="# A question\n\nWith *marks*, ümläuts and trailing lines\n\n\n", headers={"x-note": "a b", "deep": {"a": [1]}})
    deliver("Re: question", sender=principal("bob"), to=[principal("alice")], in_reply_to=question, references=[question], thread_id=question)
    deliver("done")
    deliver("kept", cc=[principal("alice")])
    deliver("to myself", to=[principal("alice")], reply_to=[principal("bob")])
    deliver("unread\twith: signs")
    managed = os.path.join(root.path, "attachments/managed/att-1234567890")
    os.makedirs(managed)
    with open(os.path.join(managed, "notes.txt"), "wb") as file:
        file.write(b"notes\n" * 100)
    deliver("files", attachments=[
        {"attachment_id": "att-path-0001", "kind": "path_ref", "path": "/tmp/somewhere/else.txt", "media_type": "text/plain", "sha256": None,
            "size_bytes": None, "label": None},
        {"attachment_id": "att-1234567890", "kind": "managed_copy", "path": os.path.join(managed, "notes.txt"), "media_type": "text/plain",
            "sha256": hashlib.sha256(b"notes\n" * 100).hexdigest(), "size_bytes": 600, "label": "notes.txt"}])
    mark(root, BOB, question, read=True, answered=True, starred=True)
    mark(root, BOB, ids["done"], deleted=True)
    move(root, BOB, ids["done"], "archive")
    move(root, BOB, ids["kept"], "projects")
    return ids


def mark(root, address, mid, **flags):
    root.script("update_mailbox_state", {"address": address, "message_id": mid, **flags})


def move(root, address, mid, box):
    """As the owner's verb does."""
    home = os.path.join(root.path, "mailboxes", address)
    os.makedirs(os.path.join(home, box), exist_ok=True)
    os.rename(os.path.join(home, "inbox", mid + ".md"), os.path.join(home, box, mid + ".md"))
    with database.opened(os.path.join(root.path, "index.sqlite")) as db:
        db.execute("UPDATE mailbox_projections SET folder_name = ?, projection_path = ? WHERE message_id = ? AND folder_name = 'inbox' AND "
            "registration_id = (SELECT registration_id FROM mailbox_registrations WHERE address = ?)",
            (box, os.path.join(home, box, mid + ".md"), mid, address))
        db.commit()
    with database.opened(os.path.join(home, "mailbox.sqlite")) as db:
        db.execute("UPDATE message_state SET box_name = ?, is_archived = ?, is_read = max(is_read, ?) WHERE message_id = ?",
            (box, box == "archive", box == "archive", mid))
        db.commit()


def picture(root):
    """All that a root has: whose, where, with which flags, and the messages."""
    found = {"accounts": {}, "mail": {}}
    for account in root.command("accounts", "list")["accounts"]:
        if account["status"] != "active" or "operator" in account["address"]:
            continue
        found["accounts"][account["address"]] = account["owner_principal_id"]
        home = os.path.join(root.path, "mailboxes", account["address"])
        with database.opened(os.path.join(home, "mailbox.sqlite")) as db:
            rows = db.execute("SELECT message_id, thread_id, is_read, is_answered, is_starred, is_archived, is_deleted, box_name FROM message_state")
            for mid, thread, *flags, box in rows.fetchall():
                assert os.path.exists(os.path.join(home, box, mid + ".md")), (box, mid)
                message = root.command("messages", "get", "--address", account["address"], "--message-id", mid)["message"]
                # Texts may be written in other ways, and the root's own names are its own.
                message["body_markdown"] = message["body_markdown"].split("\n---\n", 1)[1]
                message["sender"].pop("registration_id")
                for recipient in message["recipients"]:
                    recipient.pop("delivered_registration_id")
                message = json.loads(json.dumps(message).replace(root.path, "ROOT"))
                found["mail"][account["address"], mid] = {"thread": thread, "box": box, "message": message,
                    "flags": dict(zip(("read", "answered", "starred", "archived", "deleted"), map(bool, flags)))}
    return found


class Carried:
    """The accounts of a root's addresses on `server`, which has a `jmap_url`."""

    def __init__(self, m, root, server, login=None, password=PASSWORD):
        self.m, self.root, self.server, self.login = m, root, server, login
        self.credentials = os.path.join(m.dir, "credentials")
        os.makedirs(self.credentials, mode=0o700)
        for address in (ALICE, BOB):
            self.credential(address, password)

    def ref(self, address):
        digest = hashlib.sha256(f"{self.server.jmap_url}\n{address}".encode()).hexdigest()[:16]
        return f"stalwart-{address.replace('@', '-at-').replace('.', '-')}-{digest}"

    def file(self, address):
        return os.path.join(self.credentials, self.ref(address) + ".json")

    def credential(self, address, password):
        with open(os.open(self.file(address), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump({"credential_ref": self.ref(address), "login_identity": self.login or address, "password": password}, file)

    def out(self, *args, status=0, **options):
        return self.root.command("export", "--to-jmap", self.server.jmap_url, "--credentials", self.credentials, *args, status=status, **options)

    def back(self, root, *addresses, status=0, **options):
        named = [word for address in addresses for word in ("--address", address)]
        return root.command("export", "--from-jmap", self.server.jmap_url, "--credentials", self.credentials, *named, status=status, **options)

    def into(self, name):
        """An empty root."""
        other = object.__new__(Root)
        other.m, other.serial, other.path = self.m, 5000, os.path.join(os.path.dirname(self.root.path), name)
        self.m.json("mailbox", "init", "--mailbox-root", other.path)
        return other
