"""A small JMAP client, with which tests look at what a server holds."""

import base64
import json
import urllib.parse
import urllib.request

from mail_server import PASSWORD

USING = [f"urn:ietf:params:jmap:{name}" for name in ("core", "mail", "submission")]


class Jmap:
    """What one login sees; `url` is where its session is."""

    def __init__(self, url, login, password=PASSWORD):
        self.url = url
        self.authorization = "Basic " + base64.b64encode(f"{login}:{password}".encode()).decode()
        self.session = json.loads(self.http(url))
        self.account = self.session["primaryAccounts"][USING[1]]
        self.mailboxes = None

    def http(self, url, data=None, kind="application/json"):
        headers = {"Authorization": self.authorization, "Content-Type": kind}
        # Not through a proxy, which the machine may have.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(urllib.request.Request(urllib.parse.urljoin(self.url, url), data=data, headers=headers), timeout=60) as answer:
            return answer.read()

    def calls(self, *calls, using=USING):
        """[name, arguments] of each, with the account; the arguments of the answers."""
        sent = [[name, {"accountId": self.account, **arguments}, str(number)] for number, (name, arguments) in enumerate(calls)]
        body = json.dumps({"using": using, "methodCalls": sent}).encode()
        return [answer[1] for answer in json.loads(self.http(self.session["apiUrl"], body))["methodResponses"]]

    def call(self, name, **arguments):
        return self.calls((name, arguments))[0]

    def box(self, role):
        """The id of the mailbox with this role, or this name."""
        if not self.mailboxes or role not in self.mailboxes:
            found = self.call("Mailbox/get", properties=["name", "role"])["list"]
            self.mailboxes = {name: item["id"] for item in found for name in (item["name"], item["role"]) if name}
        return self.mailboxes[role]

    def mails(self, role=None, **more):
        """The mails of a mailbox, or all, newest first, with their texts."""
        query = {"sort": [{"property": "receivedAt", "isAscending": False}]}
        if role:
            query["filter"] = {"inMailbox": self.box(role)}
        got = self.calls(("Email/query", query), ("Email/get", {"#ids": {"resultOf": "0", "name": "Email/query", "path": "/ids"},
            "fetchTextBodyValues": True, "properties": ["id", "threadId", "subject", "keywords", "mailboxIds", "messageId", "inReplyTo",
                "references", "from", "to", "cc", "receivedAt", "textBody", "bodyValues", "attachments", "headers"], **more}))
        for mail in got[1]["list"]:
            mail["text"] = "".join(mail["bodyValues"][part["partId"]]["value"] for part in mail["textBody"]
                if part["partId"] in mail["bodyValues"]).replace("\r\n", "\n")
        return got[1]["list"]

    def put(self, mail, role="inbox", keywords=None):
        """Import a mail of these bytes; its id."""
        blob = json.loads(self.http(self.session["uploadUrl"].replace("{accountId}", self.account), mail, "message/rfc822"))["blobId"]
        answer = self.call("Email/import", emails={"1": {"blobId": blob, "mailboxIds": {self.box(role): True},
            "keywords": dict.fromkeys(keywords or [], True)}})
        assert answer.get("created"), answer
        return answer["created"]["1"]["id"]
