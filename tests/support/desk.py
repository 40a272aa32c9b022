"""A workspace that has accounts on the servers of a test, and writes and pushes mail."""

from mail_server import PASSWORD
from workspace import Workspace


class Desk(Workspace):
    """A workspace whose account is alice of the two servers."""

    def __init__(self, program, imap=None, smtp=None):
        super().__init__(program)
        keys = [("audit.reason_mode", "optional"), ("identities.me.name", "Alice"), ("identities.me.email", "alice@desk.example")]
        if imap:
            keys += [("imap.host", "127.0.0.1"), ("imap.port", str(imap.port)), ("imap.tls", "false"), ("imap.username", "alice"),
                ("imap.password_secret", PASSWORD)]
        if smtp:
            keys += [("smtp.host", "127.0.0.1"), ("smtp.port", str(smtp.port)), ("smtp.starttls", "false"),
                ("smtp.username", "alice"), ("smtp.password_secret", PASSWORD)]
        for key, value in keys:
            self.ok("config", "set", key, value)

    def case(self):
        return self.ok("case", "create", "--name", "Out")["case_uid"]

    def send(self, case, subject="Hello", to=("bob@desk.example",), body="The text.\n.dot\n"):
        name = self.ok("case", "draft", "new", case, "--subject", subject, "--body", body,
            *[word for one in to for word in ("--to", one)])["draft_name"]
        return self.ok("case", "draft", "send", case, name)["push_id"]

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


def mails(server, account, mailbox):
    """Flags and bytes of all mails of a mailbox, in their order."""
    client = server.client(account)
    assert client.select(f'"{mailbox}"', readonly=True)[0] == "OK", mailbox
    found = client.uid("fetch", "1:*", "(FLAGS BODY.PEEK[])")[1]
    client.logout()
    return [(part[0].decode().partition("FLAGS (")[2].partition(")")[0].replace("\\Recent", "").split(), part[1])
        for part in found if isinstance(part, tuple)]
