"""An e-mail workspace driven as afmail, as a program would: one object on standard output, nothing on standard error."""

import json
import os
import subprocess

from mailroom import Mailroom, describe

TIMEOUT_S = 120


class Workspace(Mailroom):
    """Commands run in the workspace's directory. `afmail` is a link to the program, as an installation makes it."""

    def __init__(self, program, init=True):
        super().__init__(program)
        self.afmail_path = os.path.join(self.runtime, "afmail")
        os.symlink(self.program, self.afmail_path)
        self.dir = os.path.join(self.dir, "desk")
        os.mkdir(self.dir)
        if init:
            self.ok("init")

    def afmail(self, *args, stdin="", env=None, cwd=None):
        done = subprocess.run([self.afmail_path, *args], cwd=cwd or self.dir, env=self.env(**(env or {})), input=stdin,
            capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        assert done.stderr == "", describe(done)
        return done

    def start(self, *args):
        """A command that runs meanwhile: its process, whose output can be read as it comes."""
        return subprocess.Popen([self.afmail_path, *args], cwd=self.dir, env=self.env(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ok(self, *args, **options):
        """The result of a command that succeeds."""
        done = self.afmail(*args, **options)
        assert done.returncode == 0, describe(done)
        return json.loads(done.stdout)

    def fails(self, word, *args, status=1, **options):
        """The error of a command that fails with this error_code (None: the usage is wrong)."""
        done = self.afmail(*args, **options)
        assert done.returncode == (2 if word is None else status), describe(done)
        error = self.error_of(done)
        assert error["code"] == "error" and error.get("error_code") == word, error
        return error

    @staticmethod
    def error_of(done):
        """What a command that failed said at last."""
        return json.loads(done.stdout.splitlines()[-1])

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def read(self, *names):
        with open(self.path(*names), encoding="utf-8", newline="") as file:
            return file.read()

    def document(self, *names):
        return json.loads(self.read(*names))

    def put(self, text, *names):
        os.makedirs(os.path.dirname(self.path(*names)), exist_ok=True)
        with open(self.path(*names), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def files(self):
        """All files, sorted, without directories; what belongs to the index is left out."""
        found = []
        for folder, _, names in os.walk(self.dir):
            found += [os.path.relpath(os.path.join(folder, name), self.dir) for name in names]
        return sorted(name for name in found if not name.startswith(".afmail/index.sqlite"))

    def deliver(self, *mails):
        """Take mails in; the ids they got, in their order."""
        paths = []
        for number, mail in enumerate(mails):
            paths.append(os.path.join(self.runtime, f"mail-{number}.eml"))
            with open(paths[-1], "wb") as file:
                file.write(mail if isinstance(mail, bytes) else mail.encode())
        return [self.ok("import", path)["message_ids"][0] for path in paths]

    def locate(self, *ids):
        """The messages are in the inbox of a server, as a pull would have noted."""
        for uid, message_id in enumerate(ids, 1):
            self.put(json.dumps({"schema_name": "message_remote", "schema_version": 1, "message_id": message_id,
                "locations": [{"mailbox_name": "INBOX", "mailbox_id": "inbox", "uid_validity": 7, "uid": uid,
                    "observed_rfc3339": "2026-05-18T00:00:00Z"}]}), ".afmail", "messages", f"{message_id}.remote.json")

    def tells(self, *args, status=0):
        """What a person reads who types `mailroom work ...`: standard output, or standard error when it fails."""
        done = self.run("work", *args)
        assert done.returncode == status, describe(done)
        return done.stderr if status else done.stdout

    def events(self, kind=None):
        lines = [json.loads(line) for line in self.read(".afmail", "logs", "events.jsonl").splitlines()]
        return [line for line in lines if kind in (None, line["kind"])]


def mail(number=1, subject=None, sender="Ann <ann@example.com>", to="me@example.com", body="Hello.\r\n", reply_to=None,
        more=()):
    """A small mail. `reply_to` is the number of the mail that it answers."""
    head = [f"From: {sender}", f"To: {to}", f"Subject: {subject or f'Mail {number}'}",
        f"Message-ID: <mail-{number}@example.com>", f"Date: Mon, 04 May 2026 {number % 24:02}:00:00 +0000"]
    if reply_to is not None:
        head.append(f"In-Reply-To: <mail-{reply_to}@example.com>")
    return "\r\n".join([*head, *more, "", body])
