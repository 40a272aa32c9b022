"""A workspace whose account is on the servers of a test, and what is on these servers."""

import os
import shutil
import subprocess

from mail_server import PASSWORD
from workspace import Workspace


class Desk(Workspace):
    """Its account is `user` of an IMAP and an SMTP server; of one of them, or of none, when the other is not given."""

    def __init__(self, program, imap=None, smtp=None, user="alice"):
        super().__init__(program)
        keys = [("audit.reason_mode", "optional"), ("identities.me.name", "Alice"), ("identities.me.email", "alice@desk.example")]
        if imap:
            keys += [("imap.host", "127.0.0.1"), ("imap.port", str(imap.port)), ("imap.tls", "false"), ("imap.username", user),
                ("imap.password_secret", PASSWORD)]
        if smtp:
            keys += [("smtp.host", "127.0.0.1"), ("smtp.port", str(smtp.port)), ("smtp.starttls", "false"),
                ("smtp.username", user), ("smtp.password_secret", PASSWORD)]
        for key, value in keys:
            self.ok("config", "set", key, value)

    def case(self):
        return self.ok("case", "create", "--name", "Out")["case_uid"]

    def send(self, case, subject="Hello", to=("bob@desk.example",), body="The text.\n.dot\n", how="send"):
        name = self.ok("case", "draft", "new", case, "--subject", subject, "--body", body,
            *[word for one in to for word in ("--to", one)])["draft_name"]
        return self.ok("case", "draft", how, case, name)["push_id"]

    def push(self, *args, **options):
        return self.ok("push", "--confirm", *args, **options)

    def done(self, count=1):
        result = self.push()
        assert (result["pushed_count"], result["failed_count"]) == (count, 0), result

    def failure(self, word, *args):
        result = self.push(*args)
        assert (result["pushed_count"], result["failed_count"]) == (0, 1), result
        assert result["failures"][0]["error_code"] == word, result
        return result["failures"][0]

    def item(self, push_id):
        return self.document(".afmail", "push", f"{push_id}.json")

    def queue(self):
        return self.ok("push", "list")["items"]

    def triage(self):
        """The ids of what waits, by subject."""
        rows = self.ok("triage", "list")["items"]
        return {self.ok("message", "show", row["message_id"])["subject"]: row["message_id"] for row in rows}


class Copy(Workspace):
    """A copy of another workspace, whose account may have another name. The servers are the same."""

    def __init__(self, of, user=None, becomes=None):
        super().__init__(of.program, init=False)
        os.rmdir(self.dir)
        shutil.copytree(of.dir, self.dir, symlinks=True)
        if not user:
            return
        config = self.read(".afmail", "config.json")
        assert f'"{user}"' in config, config
        self.put(config.replace(f'"{user}"', f'"{becomes}"'), ".afmail", "config.json")

    def kill_at(self, point, *args):
        """Run a command that is killed at this point."""
        return subprocess.run([self.afmail_path, *args], cwd=self.dir, env=self.env(MAILROOM_CRASH_AT=point),
            capture_output=True, text=True, timeout=120, check=False).returncode

    def kill_after(self, seconds, *args):
        """Run a command that is killed after so long, unless it has ended by then."""
        process = subprocess.Popen([self.afmail_path, *args], cwd=self.dir, env=self.env(), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def mails(server, account, mailbox):
    """Flags and bytes of all mails of a mailbox, in their order."""
    client = server.client(account)
    assert client.select(f'"{mailbox}"', readonly=True)[0] == "OK", mailbox
    found = client.uid("fetch", "1:*", "(FLAGS BODY.PEEK[])")[1]
    client.logout()
    return [(part[0].decode().partition("FLAGS (")[2].partition(")")[0].replace("\\Recent", "").split(), part[1])
        for part in found if isinstance(part, tuple)]
