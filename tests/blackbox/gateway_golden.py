"""usage: gateway_golden.py PROGRAM SOURCE - agents' gateways answer what the reference's gateways answered, in the same order."""

import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from agents import Agents, Comparison, manifest_of  # noqa: E402
from cyrus_server import HAS_CYRUS_JMAP, NO_CYRUS, CyrusJmap  # noqa: E402
from jmap_client import Jmap  # noqa: E402
from jmap_model import JmapModel, PASSWORD  # noqa: E402
from mail_server import PASSWORD as CYRUS_PASSWORD  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM, SOURCE = sys.argv[1:3]

# Of the gateway's process, and so of no recording; and what the notifier did last, which looks at once.
OWN = ("last_poll_at_utc", "last_error", "gateway_port", "gateway_tmux_window_id", "gateway_tmux_window_index", "gateway_tmux_pane_id", "execution_mode")


def exchanges():
    found = []
    for name in glob.glob(os.path.join(SOURCE, "tests/golden/mail/[0-9]*.json")) + glob.glob(
            os.path.join(SOURCE, "tests/golden/gateway/[0-9]*.json")):
        with open(name, encoding="utf-8") as file:
            found.append({**json.load(file), "file": os.path.basename(name)})
    return sorted(found, key=lambda one: one["order"])


def settle(m):
    """Two agents as the runtime leaves them on disk."""
    with open(os.path.join(SOURCE, "tests/golden/mail/files.json"), encoding="utf-8") as file:
        record = json.loads(file.read().replace("/project", m.dir))["registry/live_agents/<agent-id>/record.json"]
    m.create("root")  # makes the mailbox root
    for name in ("alice", "bob"):
        text = json.dumps(record).replace("session-1", f"session-{name}").replace("alice", name)
        own = json.loads(text.replace(record["agent_id"], name[0] * 32))
        own["gateway"] = None
        m.store(own["runtime"]["manifest_path"], manifest_of(own, m.dir))
        m.store(os.path.join(m.registry, own["agent_id"], "record.json"), own)
        m.json("mailbox", "register", "--address", f"{name}@houmao.localhost", "--principal-id", f"HOUMAO-{name}")


def replaced(value, compare):
    """Their refs and paths in a request are ours in it."""
    if isinstance(value, dict):
        return {key: replaced(item, compare) for key, item in value.items()}
    if isinstance(value, list):
        return [replaced(item, compare) for item in value]
    return compare.ref(value).replace("/project", compare.directory) if isinstance(value, str) else value


def replay(exchange, gateway, compare):
    request, expected = exchange["request"], exchange["response"]
    body = json.dumps(replaced(request["body"], compare)) if "body" in request else None
    headers = {"Content-Type": "application/json"} if body else {}
    status, received, text = gateway.request(request["method"], request["path"], headers, body)
    # Where the reference fails with 500, we say what is wrong.
    if expected["status"] == 500:
        assert status == 422 and json.loads(text)["detail"], (status, text)
        return
    assert status == expected["status"], (status, text)
    assert received["Content-Type"] == expected["content_type"], received
    theirs, ours = replaced_refs(expected["body"]), json.loads(text)
    sort_messages(theirs, ours)
    same_order(theirs, ours)
    for body in (theirs, ours):
        for key in OWN:
            body.pop(key, None)
    compare.same(theirs, ours)


def replaced_refs(body):
    """What we do otherwise: tokens are for verifiers, and are not shown; those of a notifier as digests."""
    for message in [body["message"]] if "message" in body else body.get("messages", []):
        if message["notify_auth"]:
            message["notify_auth"]["token"] = None
    if body.get("notify_block_shared_tokens"):
        body["notify_block_shared_tokens"] = ["sha256:65dcf16ea3dfa490"]  # of tok-1
    return body


def sort_messages(*bodies):
    """Messages of one second stand in the order of their ids, which are random."""
    for body in bodies:
        if "messages" in body:
            body["messages"].sort(key=lambda one: (one["subject"], one["message_ref"]))


def same_order(theirs, ours, where="$"):
    """Keys stand in the order of the contract."""
    if isinstance(theirs, dict):
        assert list(theirs) == list(ours), (where, list(theirs), list(ours))
        for key in theirs:
            same_order(theirs[key], ours[key], f"{where}.{key}")
    elif isinstance(theirs, list):
        for i, pair in enumerate(zip(theirs, ours)):
            same_order(*pair, f"{where}[{i}]")


def the_exchanges(m):
    settle(m)
    m.write("note.txt", "attachment\n")
    compare = Comparison(m.dir)
    with m.gateway("alice") as alice, m.gateway("bob") as bob:
        for exchange in exchanges():
            compare.names = {"session-1": f"session-{exchange['agent']}"}
            try:
                replay(exchange, {"alice": alice, "bob": bob}[exchange["agent"]], compare)
            except AssertionError as error:
                raise AssertionError(f"{exchange['file']}: {error}") from error
    m.check()


class Translation:
    """Their refs among the mails of a server, where each mailbox has a mail of its own."""

    def __init__(self, m):
        self.directory, self.mails = m.dir, {}

    def learn(self, theirs, account, ours):
        [mail] = account.call("Email/get", ids=[ours.split(":")[1]], properties=["messageId"])["list"]
        self.mails.setdefault(theirs, mail["messageId"])

    def ref(self, theirs, account):
        wanted = self.mails.get(theirs)
        query, got = account.calls(("Email/query", {"sort": [{"property": "receivedAt", "isAscending": False}]}), ("Email/get", {
            "#ids": {"resultOf": "0", "name": "Email/query", "path": "/ids"}, "properties": ["messageId"]})) if wanted else (None, {"list": []})
        return "stalwart:" + next((mail["id"] for mail in got["list"] if mail["messageId"] == wanted), "Mabsent")

    def request(self, value, account):
        if isinstance(value, dict):
            return {key: self.request(item, account) for key, item in value.items()}
        if isinstance(value, list):
            return [self.request(item, account) for item in value]
        if isinstance(value, str) and value.startswith("filesystem:"):
            return self.ref(value, account)
        return value.replace("/project", self.directory) if isinstance(value, str) else value


def without_what_differs(body):
    """What section 22 has otherwise: ids and times are the server's, files are on it, and who else has a principal is not known."""
    body = {**body, "transport": None}
    for message in [body["message"]] if "message" in body else body.get("messages", []):
        for key in ("message_ref", "thread_ref", "created_at_utc"):
            assert message[key], message
            message[key] = None
        for who in (message["sender"], *message["to"], *message["cc"], *message["reply_to"]):
            who["principal_id"] = None
        for file in message["attachments"]:
            assert (file["kind"], file["locator"][:5]) == ("transport_owned", "blob:") or file["kind"] == "path_ref", file
            file.update(kind=None, locator=None, attachment_id=None)
        if body.get("operation") == "send" and body["address"] in [who["address"] for who in message["to"] + message["cc"]]:  # what arrives in the inbox is another mail
            message.update(box=None, read=None, unread=None)
        # Names that mail shows, of accounts that have none here.
        message["sender"]["display_name"] = None
    return body


ADDRESSES = {name: f"{name}@houmao.localhost" for name in ("alice", "bob", "houmao-operator")}


def exchange_over_jmap(m, url, password, settle):
    """Where the specification says that a JMAP server is no different, and everywhere else where Mailroom makes it so."""
    m.write("note.txt", "attachment\n")
    m.write("password", password)
    accounts = {name: Jmap(url, address, password) for name, address in ADDRESSES.items()}
    translation = Translation(m)
    for name in ("alice", "bob"):
        m.json("agents", "create", name, "--transport", "stalwart", "--jmap-url", url, "--management-url", url, "--password-file", "password")
    with m.gateway("alice") as alice, m.gateway("bob") as bob:
        for exchange in exchanges():
            if not exchange["request"]["path"].startswith("/v1/mail/"):
                continue
            account, expected, request = accounts[exchange["agent"]], exchange["response"], exchange["request"]
            settle()
            body = json.dumps(translation.request(request["body"], account)) if "body" in request else None
            status, _, text = {"alice": alice, "bob": bob}[exchange["agent"]].request(request["method"], request["path"],
                {"Content-Type": "application/json"} if body else {}, body)
            told = (exchange["file"], status, text)
            assert status == {500: 422}.get(expected["status"], expected["status"]), told
            ours = json.loads(text)
            if status != 200:
                assert list(ours) == ["detail"], told
                continue
            theirs = replaced_refs(expected["body"])
            sort_messages(theirs, ours)
            same_order(theirs, ours)
            if "message" in ours:
                translation.learn(theirs["message"]["message_ref"], account, ours["message"]["message_ref"])
            for version in (theirs, ours):
                version.pop("bindings_version", None)
            theirs, ours = without_what_differs(theirs), without_what_differs(ours)
            assert theirs == ours, (exchange["file"], theirs, ours)
    assert [mail["subject"] for mail in accounts["houmao-operator"].mails("inbox")] == ["Re: From the operator"]


def the_exchanges_over_jmap(m):
    with JmapModel() as model:
        for address in ADDRESSES.values():
            model.add(address)
        exchange_over_jmap(m, model.url, PASSWORD, lambda: None)


def the_exchanges_over_cyrus(m):
    with CyrusJmap(list(ADDRESSES.values())) as cyrus:
        exchange_over_jmap(m, cyrus.jmap_url, CYRUS_PASSWORD, cyrus.smtp.settle)


with Tap() as tap:
    with Agents(PROGRAM) as room:
        tap.run(the_exchanges.__name__, the_exchanges, room)
    with Agents(PROGRAM) as room:
        tap.run(the_exchanges_over_jmap.__name__, the_exchanges_over_jmap, room)
    if HAS_CYRUS_JMAP:
        with Agents(PROGRAM) as room:
            tap.run(the_exchanges_over_cyrus.__name__, the_exchanges_over_cyrus, room)
    else:
        tap.skip(the_exchanges_over_cyrus.__name__, NO_CYRUS)
