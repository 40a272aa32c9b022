"""usage: access_mail.py PROGRAM - AGENT_AUTH: whoever has to prove who it is reads its own mail, by whatever way it asks."""

import http.client
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402
from tokens import hs256  # noqa: E402

P = "/srv/p"
MODERN = "2026-07-28"
# The word stands in everything BlueLake and RedFox write to each other, and nowhere else.
SECRET = "walrus"
ADMIN = {"Authorization": "Bearer admin-token"}
ENV = {"AGENT_AUTH": "require", "HTTP_BEARER_TOKENS": "admin-token:admin"}
NAMES = ("BlueLake", "RedFox", "QuietOwl", "GreenCastle")

# Every tool that shows mail which is not one agent's; {id} is the message's number.
SHARED = [
    ("get_message", {"project_key": P, "message_id": "{id}"}),
    ("get_thread", {"project_key": P, "thread_id": "T", "include_bodies": True}),
    ("list_threads", {"project_key": P}),
    ("search_messages", {"project_key": P, "query": SECRET}),
    ("search_messages", {"project_key": P, "query": "importance:high"}),
    ("search_messages", {"project_key": P, "query": "-nothing"}),
    ("summarize_thread", {"project_key": P, "thread_id": "T"}),
    ("summarize_threads", {"project_key": P, "thread_ids": ["T"]}),
    ("product_inbox", {"product_uid": "suite", "include_bodies": True}),
    ("search_messages_product", {"product_uid": "suite", "query": SECRET}),
    ("summarize_thread_product", {"product_uid": "suite", "thread_id": "T"}),
]
# And those that are: RedFox's.
OWN = [
    ("fetch_inbox", {"include_bodies": True}), ("acks_pending", {"include_bodies": True}),
    ("wait_for_mail", {"timeout_seconds": 0, "since": 0, "include_bodies": True}),
]
RESOURCES = ["resource://message/{id}?project=/srv/p", "resource://message/{id}",
    "resource://thread/T?project=/srv/p&include_bodies=true", "resource://thread/T?include_bodies=true"]
# Without a token the list of threads is refused, too; its URI has no agent.
LISTS = ["resource://threads/srv-p"]
MAILBOXES = [f"resource://{box}/RedFox?project=/srv/p&include_bodies=true" for box in ("inbox", "mailbox",
    "mailbox-with-commits", "views/urgent-unread", "views/ack-required")]


def post(server, method, params, headers=None, modern=True):
    """The whole JSON-RPC response."""
    more = {}
    if modern:
        params = {**params, "_meta": {"io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {}, **params.get("_meta", {})}}
        more = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if "name" in params or "uri" in params:
            more["Mcp-Name"] = params.get("name", params.get("uri"))
    _, _, text = server.request("POST", "/mcp", {"Content-Type": "application/json",
        "Accept": "application/json, text/event-stream", **more, **(headers or {})},
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    if text.startswith(("event:", "id:", "data:", ":")):
        [text] = [line[len("data: "):] for line in text.splitlines() if line.startswith("data: {")][-1:]
    return json.loads(text)


def tool(server, name, arguments, headers=None):
    return post(server, "tools/call", {"name": name, "arguments": arguments}, headers)["result"]


def call(server, name, headers=None, /, **arguments):
    result = tool(server, name, arguments, headers)
    assert not result["isError"], result
    return result["structuredContent"]


def denied(result):
    assert result["isError"], result
    error = result["structuredContent"]["error"]
    assert error["type"] == "PERMISSION_DENIED" and "X-Agent-Token" in error["message"], error


class Scene:
    def __init__(self, server):
        self.server = server
        self.tokens = {name: call(server, "register_agent", project_key=P, name=name, program="x", model="y")["agent_token"]
            for name in NAMES}
        sent = self.send("BlueLake", to=["RedFox"], bcc=["QuietOwl"], subject=f"the {SECRET}", thread_id="T",
            body_md=f"- [ ] feed the {SECRET}", importance="high", ack_required=True)
        self.id = sent["deliveries"][0]["payload"]["id"]
        self.send("GreenCastle", to=["BlueLake"], subject="another matter", body_md="- nothing else", thread_id="T",
            importance="high")
        call(server, "ensure_product", ADMIN, product_uid="suite")
        call(server, "link_project_to_product", ADMIN, product_uid="suite", project_key=P)

    def head(self, name):
        return {"X-Agent-Token": self.tokens[name]}

    def send(self, sender, **draft):
        return call(self.server, "send_message", self.head(sender), project_key=P, sender_name=sender, **draft)

    def fill(self, value):
        if isinstance(value, dict):
            return {k: self.id if v == "{id}" else v for k, v in value.items()}
        return value.replace("{id}", str(self.id))


def shows(result):
    return SECRET in json.dumps(result["structuredContent"]).replace(f'"query": "{SECRET}"', "")


def tools_show_what_is_ones_own(m):
    with m.serve(env=ENV) as server:
        scene = Scene(server)
        for name, arguments in SHARED:
            arguments = scene.fill(arguments)
            denied(tool(server, name, arguments))
            denied(tool(server, name, arguments, {"X-Agent-Token": "mra_no"}))
            denied(tool(server, name, {**arguments, "agent_token": "mra_no"}))
            for reader, sees in (("BlueLake", True), ("RedFox", True), ("QuietOwl", True), ("GreenCastle", False)):
                result = tool(server, name, arguments, scene.head(reader))
                assert (not result["isError"] and shows(result)) == sees, (name, arguments, reader, result)
                other = tool(server, name, {**arguments, "agent_token": scene.tokens[reader]})
                assert other["structuredContent"] == result["structuredContent"] or "summar" in name, (result, other)
                # Nobody learns of a blind copy by reading, but who sent it by asking as itself.
                assert "QuietOwl" not in json.dumps(result["structuredContent"]), (name, reader, result)
            result = tool(server, name, arguments, ADMIN)
            assert not result["isError"] and shows(result), (name, result)
            # By the meta-tool too.
            denied(tool(server, "call_extended_tool", {"tool_name": name, "arguments": arguments}))
        # What a thread is counted and called by is what one sees of it.
        seen = {reader: call(server, "list_threads", scene.head(reader), project_key=P)["result"] for reader in NAMES}
        assert [(t["subject"], t["messages"]) for t in seen["GreenCastle"]] == [("another matter", 1)], seen
        assert [(t["subject"], t["messages"], t["last_from"]) for t in seen["RedFox"]] == [(f"the {SECRET}", 1, "BlueLake")], seen
        assert [t["messages"] for t in seen["BlueLake"]] == [2], seen


def nobody_reads_as_somebody_else(m):
    with m.serve(env=ENV) as server:
        scene = Scene(server)
        # Commits are called after mail; after the newest change of those made at once.
        whois = {"project_key": P, "agent_name": "RedFox"}
        assert call(server, "whois", scene.head("GreenCastle"), **whois)["recent_commits"] == []
        assert call(server, "whois", **whois)["recent_commits"] == []
        commits = call(server, "whois", scene.head("RedFox"), **whois)["recent_commits"]
        assert SECRET in json.dumps(commits), commits
        for name, arguments in OWN:
            for head in ({}, scene.head("BlueLake"), {"X-Agent-Token": "mra_no"}):
                denied(tool(server, name, {"project_key": P, "agent_name": "RedFox", **arguments}, head))
            result = tool(server, name, {"project_key": P, "agent_name": "RedFox", **arguments}, scene.head("RedFox"))
            assert not result["isError"] and shows(result), result
        # The sender alone sees who got a blind copy, and nobody says to be the sender.
        mine = {"project_key": P, "message_id": scene.id, "agent_name": "BlueLake"}
        assert call(server, "get_message", scene.head("BlueLake"), **mine)["bcc"] == ["QuietOwl"]
        denied(tool(server, "get_message", mine, scene.head("RedFox")))
        unread = {"project_key": P, "query": "is:unread", "agent_name": "RedFox"}
        denied(tool(server, "search_messages", unread, scene.head("BlueLake")))
        assert len(call(server, "search_messages", scene.head("RedFox"), **unread)["result"]) == 1
        # An answer would show what it answers.
        reply = {"project_key": P, "sender_name": "GreenCastle", "message_id": scene.id, "body_md": "?"}
        result = tool(server, "reply_message", reply, scene.head("GreenCastle"))
        assert result["isError"] and result["structuredContent"]["error"]["type"] == "NOT_FOUND", result
        # So would a message that says it answers one.
        send = {"project_key": P, "sender_name": "GreenCastle", "to": ["GreenCastle"], "subject": "?", "body_md": "?",
            "reply_to": scene.id}
        result = tool(server, "send_message", send, scene.head("GreenCastle"))
        assert result["isError"] and result["structuredContent"]["error"]["type"] == "NOT_FOUND", result
        start = {"program": "x", "model": "y", "agent_name": "RedFox"}
        denied(tool(server, "macro_start_session", {"human_key": P, **start}, scene.head("BlueLake")))
        prepare = {"project_key": P, "thread_id": "T", **start}
        denied(tool(server, "macro_prepare_thread", prepare))
        assert shows(tool(server, "macro_prepare_thread", prepare, scene.head("RedFox")))
        # Somebody new has a token afterwards, and no mail before.
        result = tool(server, "macro_prepare_thread", {**prepare, "agent_name": "SwiftFox"})
        assert not result["isError"] and not shows(result), result


def resources_are_as_private(m):
    with m.serve(env=ENV) as server:
        scene = Scene(server)

        def read(uri, headers=None, **meta):
            return post(server, "resources/read", {"uri": uri, **({"_meta": meta} if meta else {})}, headers)

        for uri in RESOURCES + LISTS + MAILBOXES:
            uri = scene.fill(uri)
            for headers in ({}, {"X-Agent-Token": "mra_no"}):
                answer = read(uri, headers)
                assert "error" in answer and "X-Agent-Token" in answer["error"]["message"], (uri, answer)
            assert SECRET not in json.dumps(read(uri, scene.head("GreenCastle"))), uri
            assert SECRET in json.dumps(read(uri, scene.head("RedFox"))), uri
            assert SECRET in json.dumps(read(uri, **{"mailroom/agent_token": scene.tokens["RedFox"]})), uri
            assert SECRET in json.dumps(read(uri, ADMIN)), uri
        # Completion offers the threads one has.
        wanted = {"ref": {"type": "ref/resource", "uri": "resource://thread/{thread_id}"},
            "argument": {"name": "thread_id", "value": ""}, "context": {"arguments": {"project": P}}}
        scene.send("BlueLake", to=["RedFox"], subject="s", body_md="b", thread_id="between us")
        for head, expect in (({}, []), (scene.head("RedFox"), ["T", "between us"]), (scene.head("GreenCastle"), ["T"])):
            values = post(server, "completion/complete", wanted, head)["result"]["completion"]["values"]
            assert sorted(values) == expect, (head, values)


class Session:
    def __init__(self, server, headers=None):
        connection = http.client.HTTPConnection(server.address, timeout=60)
        self.server, self.headers = server, {"MCP-Protocol-Version": "2025-11-25", **(headers or {})}
        connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
            {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **(headers or {})})
        response = connection.getresponse()
        response.read()
        self.headers["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]
        connection.close()

    def ask(self, method, params, headers=None):
        return post(self.server, method, params, {**self.headers, **(headers or {})}, modern=False)


URIS = ["resource://inbox/RedFox?project=/srv/p", "resource://views/urgent-unread/RedFox?project=/srv/p",
    "resource://thread/T?project=/srv/p"]


def subscriptions_are_as_private(m):
    with m.serve(env=ENV) as server:
        scene = Scene(server)
        scene.send("BlueLake", to=["RedFox"], subject="s", body_md="b", thread_id="between us")
        uris = URIS + ["resource://thread/between%20us?project=/srv/p"]
        session = Session(server)
        for uri in uris:
            for head in ({}, {"X-Agent-Token": "mra_no"}):
                answer = session.ask("resources/subscribe", {"uri": uri}, head)
                assert "X-Agent-Token" in answer["error"]["message"], (uri, answer)
            answer = session.ask("resources/subscribe", {"uri": uri}, scene.head("GreenCastle"))
            # It takes part in T.
            assert ("error" in answer) == ("thread/T" not in uri), (uri, answer)
            assert "result" in session.ask("resources/subscribe", {"uri": uri}, scene.head("RedFox")), uri
        # The second generation says which of those asked for it may hear of.
        for token, expect in ((None, []), ("mra_no", []), (scene.tokens["GreenCastle"], [URIS[2]]),
                (scene.tokens["RedFox"], uris)):
            meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {},
                **({"mailroom/agent_token": token} if token else {})}
            connection = http.client.HTTPConnection(server.address, timeout=60)
            connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen",
                "params": {"_meta": meta, "notifications": {"resourceSubscriptions": uris}}}),
                {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                    "MCP-Protocol-Version": MODERN, "Mcp-Method": "subscriptions/listen"})
            stream = connection.getresponse()
            line = ""
            while not line.startswith("data: {"):
                line = stream.readline().decode()
                assert line, "the stream ended"
            connection.close()
            heard = json.loads(line[len("data: "):])["params"]["notifications"].get("resourceSubscriptions", [])
            assert heard == expect, (token, heard)


# ---- JWTs: the claim "agents" is for a project ----

Q = "/srv/q"
JWT_ENV = {"HTTP_JWT_ENABLED": "1", "HTTP_JWT_SECRET": "jwt-secret", "HTTP_BEARER_TOKENS": "admin-token:admin"}
# What names RedFox of P, and what names it of nowhere.
NAMING = ({"agents": {P: ["RedFox"]}}, {"agents": {"srv-p": "redfox"}}, {"agents": [f"RedFox@{P}"]}, {"agents": "RedFox@srv-p"},
    {"agents": ["RedFox"], "project": P}, {"agents": ["RedFox"], "projects": ["srv-p", "/nowhere"]})
NOT_NAMING = ({"agents": ["RedFox"]}, {"agents": "RedFox"}, {"agents": []}, {"agents": {"p": ["RedFox"]}},
    {"agents": {Q: ["QuietOwl"], "/nowhere": ["RedFox"]}}, {"agents": ["RedFox"], "project": 7})


def jwt(claims):
    return {"Authorization": "Bearer " + hs256({"sub": "s", "role": "writer", **claims})}


class TwoProjects:
    """BlueLake and RedFox in both, with a message between them in each; of Q it holds the secret."""

    def __init__(self, server):
        self.ids = {}
        call(server, "ensure_product", ADMIN, product_uid="suite")
        for key in (P, Q):
            for name in ("BlueLake", "RedFox"):
                call(server, "register_agent", ADMIN, project_key=key, name=name, program="x", model="y")
            sent = call(server, "send_message", ADMIN, project_key=key, sender_name="BlueLake", to=["RedFox"], thread_id="T",
                subject="harmless" if key == P else f"the {SECRET}", body_md=f"- [ ] feed the {SECRET if key == Q else 'cat'}",
                importance="high", ack_required=True)
            self.ids[key] = sent["deliveries"][0]["payload"]["id"]
            call(server, "link_project_to_product", ADMIN, product_uid="suite", project_key=key)


def refused(result):
    assert result["isError"], result
    error = result["structuredContent"]["error"]
    assert error["type"] == "PERMISSION_DENIED" and 'claim "agents" does not name, for this project,' in error["message"], error


def a_claim_ends_at_its_project(m):
    with m.serve(env=JWT_ENV) as server:
        scene = TwoProjects(server)
        draft = {"to": ["BlueLake"], "subject": "s", "body_md": "b"}
        for claims in NAMING:
            head = jwt(claims)
            for name, arguments in OWN:
                assert not tool(server, name, {"project_key": P, "agent_name": "RedFox", **arguments}, head)["isError"]
                refused(tool(server, name, {"project_key": Q, "agent_name": "RedFox", **arguments}, head))
            call(server, "send_message", head, project_key=P, sender_name="RedFox", **draft)
            refused(tool(server, "send_message", {"project_key": Q, "sender_name": "RedFox", **draft}, head))
            refused(tool(server, "register_agent", {"project_key": Q, "name": "RedFox", "program": "x", "model": "z"}, head))
            refused(tool(server, "send_message", {"project_key": P, "sender_name": "BlueLake", **draft}, head))
        for claims in NOT_NAMING:
            for key in (P, Q):
                refused(tool(server, "fetch_inbox", {"project_key": key, "agent_name": "RedFox"}, jwt(claims)))
                refused(tool(server, "send_message", {"project_key": key, "sender_name": "RedFox", **draft}, jwt(claims)))
        # A writer without the claim is everybody's, as before.
        assert not tool(server, "fetch_inbox", {"project_key": Q, "agent_name": "RedFox"}, jwt({}))["isError"]
        # What shows mail of several shows none of the other project; the administrator sees that there is some.
        for name, arguments in SHARED:
            arguments = {k: {"{id}": scene.ids[Q], P: Q}.get(v, v) if isinstance(v, (str, int)) else v
                for k, v in arguments.items()}
            result = tool(server, name, arguments, ADMIN)
            assert not result["isError"] and shows(result), (name, result)
            for claims in NAMING[:1] + NOT_NAMING[:1]:
                assert not shows(tool(server, name, arguments, jwt(claims))), (name, claims)


def a_claim_ends_there_for_resources_too(m):
    with m.serve(env=JWT_ENV) as server:
        scene = TwoProjects(server)
        head = jwt(NAMING[0])
        for uri in RESOURCES + LISTS + MAILBOXES:
            uri = uri.replace("{id}", str(scene.ids[Q])).replace("/srv/p", Q).replace("srv-p", "srv-q")
            there = [uri] if "srv" in uri else []
            for one in there:
                assert SECRET in json.dumps(post(server, "resources/read", {"uri": one}, ADMIN)), one
            assert SECRET not in json.dumps(post(server, "resources/read", {"uri": uri}, head)), uri
        for uri in MAILBOXES:
            assert "harmless" in json.dumps(post(server, "resources/read", {"uri": uri}, head)), uri
        for claims in NAMING + NOT_NAMING:
            session = Session(server, jwt(claims))
            for uri in URIS:
                mine = session.ask("resources/subscribe", {"uri": uri})
                assert ("result" in mine) == (claims in NAMING), (claims, uri, mine)
                other = session.ask("resources/subscribe", {"uri": uri.replace(P, Q)})
                assert "error" in other, (claims, uri, other)


def a_warning_is_no_wall(m):
    with m.serve(env={**ENV, "AGENT_AUTH": "warn"}) as server:
        scene = Scene(server)
        for name, arguments in SHARED:
            result = tool(server, name, scene.fill(arguments))
            assert not result["isError"] and shows(result), (name, result)
        assert shows(tool(server, "get_thread", {"project_key": P, "thread_id": "T"}, scene.head("GreenCastle")))
        server.stop()
        assert "reads mail of a project without an agent's token" in server.logged(), server.logged()


def who_has_the_machine_reads_all(m):
    with m.serve(env=ENV) as server:
        scene = Scene(server)
    thread = m.json("team", "thread", P, "T", "--include-bodies", env={"AGENT_AUTH": "require"})
    assert len(thread["messages"]) == 2 and SECRET in json.dumps(thread), thread
    assert m.json("team", "show", P, str(scene.id), env={"AGENT_AUTH": "require"})["id"] == scene.id


TESTS = [tools_show_what_is_ones_own, nobody_reads_as_somebody_else, resources_are_as_private, subscriptions_are_as_private,
    a_claim_ends_at_its_project, a_claim_ends_there_for_resources_too, a_warning_is_no_wall, who_has_the_machine_reads_all]


def run(test):
    with Mailroom(sys.argv[1]) as m:
        test(m)


with Tap() as tap:
    for test in TESTS:
        tap.run(test.__name__.replace("_", " "), run, test)
