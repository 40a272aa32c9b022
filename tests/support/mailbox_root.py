"""A mailbox root with accounts and mail, driven by commands and scripts as an agent would."""

import hashlib
import json
import os
import subprocess
import threading

from mailroom import describe

import database

STAMP = "20260311T041500Z"
CREATED = "2026-03-11T04:15:00Z"


def message_id(n):
    return f"msg-{STAMP}-{n:032x}"


def principal(name):
    return {"principal_id": f"HOUMAO-{name}", "address": f"{name}@houmao.localhost"}


class Root:
    """A root with alice and bob, driven by commands and scripts."""

    def __init__(self, m):
        self.m = m
        self.path = os.path.realpath(m.dir) + "/shared"
        self.serial = 0
        m.json("mailbox", "init", "--mailbox-root", self.path)
        for name in ("alice", "bob"):
            self.register(name)

    def command(self, *args, **options):
        return self.m.json("mailbox", *args, "--mailbox-root", self.path, **options)

    def register(self, name, *more, **options):
        return self.command("register", "--address", f"{name}@houmao.localhost", "--principal-id", f"HOUMAO-{name}",
            *more, **options)

    def script(self, name, payload, status=0):
        """Through rules/scripts, as an agent would; exactly one JSON object, nothing on standard error."""
        file = os.path.join(self.m.dir, f"payload-{threading.get_ident()}.json")
        with open(file, "wb") as out:
            out.write(payload if isinstance(payload, bytes) else json.dumps(payload).encode())
        done = subprocess.run([os.path.join(self.path, "rules/scripts", name + ".py"), "--mailbox-root", self.path,
            "--payload-file", file], cwd=self.m.dir, env=self.m.env(MAILROOM_BIN=self.m.program), text=True,
            capture_output=True, timeout=60, check=False)
        assert done.returncode == status, describe(done)
        assert not done.stderr and done.stdout.count("\n") == 1 and done.stdout.endswith("\n"), describe(done)
        answer = json.loads(done.stdout)
        assert answer["ok"] is (status == 0), answer
        return answer

    def bare_script(self, name):
        return subprocess.run([os.path.join(self.path, "rules/scripts", name + ".py"), "--mailbox-root", self.path],
            cwd=self.m.dir, env=self.m.env(MAILROOM_BIN=self.m.program), text=True, capture_output=True, timeout=60,
            check=False)

    def payload(self, **changes):
        """A delivery from alice to bob, staged; changes go into payload and document alike."""
        self.serial += 1
        mid = message_id(self.serial)
        body = changes.pop("body", "hello\n")
        fields = {"message_id": mid, "thread_id": mid, "in_reply_to": None, "references": [],
            "created_at_utc": CREATED, "sender": principal("alice"), "to": [principal("bob")], "cc": [],
            "reply_to": [], "subject": f"subject {self.serial}", "attachments": [], "headers": {}}
        fields.update(changes)
        head = {"protocol_version": 3, **fields, "notify_block": None, "notify_auth": None}
        head["from"] = head.pop("sender")
        staged = os.path.join(self.path, "staging", mid + ".md")
        with open(staged, "w", encoding="utf-8") as out:
            out.write("---\n" + "".join(f"{k}: {json.dumps(v)}\n" for k, v in head.items()) + "---\n\n" + body)
        return {"staged_message_path": staged, **fields}

    def deliver(self, status=0, **changes):
        return self.script("deliver_message", self.payload(**changes), status)

    def box(self, name, folder):
        return sorted(os.listdir(os.path.join(self.path, "mailboxes", f"{name}@houmao.localhost", folder)))

    def states(self, name):
        local = os.path.join(self.path, "mailboxes", f"{name}@houmao.localhost", "mailbox.sqlite")
        return database.rows(local, "SELECT message_id, is_read, is_starred, box_name FROM message_state ORDER BY 1")

    def tree(self):
        """Every file and link of the root with what is in it; lock files come and go."""
        found = {}
        for folder, folders, files in os.walk(self.path):
            folders[:] = [name for name in folders if os.path.join(folder, name) != os.path.join(self.path, "locks")]
            for name in files + folders:
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    found[path] = os.readlink(path)
                elif os.path.isfile(path):
                    found[path] = hashlib.sha256(open(path, "rb").read()).hexdigest()
                else:
                    found[path] = None
        return found

    def check(self):
        found = self.command("check")
        assert found["ok"], found["problems"]
        return found
