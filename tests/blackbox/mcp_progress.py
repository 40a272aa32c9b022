"""usage: mcp_progress.py PROGRAM - a client that asks to is told how far a tool is, in both generations and on both ways."""

import http.client
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from mcp import Stdio  # noqa: E402
from tap import Tap  # noqa: E402

P = "/srv/p"
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
WAIT = ("wait_for_mail", {"project_key": P, "agent_name": "RedFox", "timeout_seconds": 7})
SLOT = ("acquire_build_slot", {"project_key": P, "agent_name": "RedFox", "slot_name": "build", "wait_seconds": 5})
SUMMARIES = ("summarize_threads", {"project_key": P, "thread_ids": ["a", "b", "c"]})


def scene(m):
    for name in ("BlueLake", "RedFox"):
        m.json("team", "register", P, name, "--program", "x", "--model", "y")
    m.json("team", "slot", "acquire", P, "BlueLake", "build")


def params_of(tool, meta):
    return {"name": tool[0], "arguments": tool[1], "_meta": meta}


class Http:
    """One request, and all the messages of its answer."""

    def __init__(self, server, headers):
        self.server, self.headers = server, {"Content-Type": "application/json",
            "Accept": "application/json, text/event-stream", **headers}

    def messages(self, tool, meta):
        headers = self.headers
        if "Mcp-Session-Id" not in headers:
            headers = {**headers, "Mcp-Method": "tools/call", "Mcp-Name": tool[0]}
        _, _, text = self.server.request("POST", "/mcp", headers,
            json.dumps({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params_of(tool, meta)}))
        if text.startswith("{"):
            return [json.loads(text)]
        return [json.loads(line[len("data: "):]) for line in text.splitlines() if line.startswith("data: {")]


class Pipe:
    def __init__(self, client):
        self.client = client

    def messages(self, tool, meta):
        id = self.client.begin("tools/call", params_of(tool, meta))
        found = []
        while not found or found[-1].get("id") != id:
            found.append(self.client.message())
        return found


def session(server):
    connection = http.client.HTTPConnection(server.address, timeout=60)
    connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"})
    response = connection.getresponse()
    response.read()
    connection.close()
    return {"Mcp-Session-Id": response.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"}


def told(way, tool, token, meta):
    """What the client hears before the answer, which ends it."""
    *before, answer = way.messages(tool, {**meta, "progressToken": token})
    assert "result" in answer, answer
    assert [x["method"] for x in before] == ["notifications/progress"] * len(before), before
    found = [x["params"] for x in before]
    assert all(x["progressToken"] == token and x["message"] for x in found), found
    numbers = [x["progress"] for x in found]
    assert numbers == sorted(set(numbers)), numbers
    return found


def tell(way, meta):
    # At once, and every three seconds: not more often, and not after the end.
    found = told(way, WAIT, "t-1", meta)
    assert 2 <= len(found) <= 3 and found[0]["progress"] == 0, found
    assert all(x["total"] == 7 and x["message"] == "waiting for mail" for x in found), found
    # A number is as good a token.
    found = told(way, SLOT, 17, meta)
    assert 1 <= len(found) <= 2 and all(x["total"] == 5 for x in found), found
    found = told(way, SUMMARIES, "s", meta)
    assert [(x["progress"], x["total"]) for x in found] == [(0, 3)], found
    # Who does not ask hears nothing; nor does who asks by what is no token.
    short = (WAIT[0], {**WAIT[1], "timeout_seconds": 1})
    for more in ({}, {"progressToken": None}, {"progressToken": {}}):
        assert len(way.messages(short, {**meta, **more})) == 1, more
    # What is quick has nothing to tell.
    assert told(way, ("health_check", {}), "q", meta) == []


def the_first_generation_on_http(m):
    with m.serve() as server:
        tell(Http(server, session(server)), {})


def the_second_generation_on_http(m):
    with m.serve() as server:
        tell(Http(server, {"MCP-Protocol-Version": "2026-07-28"}), MODERN)


def the_first_generation_on_stdio(m):
    with Stdio(m) as client:
        tell(Pipe(client), {})


def the_second_generation_on_stdio(m):
    with Stdio(m, hello=False) as client:
        tell(Pipe(client), MODERN)


def a_server_is_heard_through_stdio(m):
    with m.serve():
        with Stdio(m) as client:
            found = told(Pipe(client), WAIT, "t", {})
            assert found and found[0]["progress"] == 0, found


TESTS = [the_first_generation_on_http, the_second_generation_on_http, the_first_generation_on_stdio,
    the_second_generation_on_stdio, a_server_is_heard_through_stdio]


def run(test):
    with Mailroom(sys.argv[1]) as m:
        scene(m)
        test(m)


with Tap() as tap:
    for test in TESTS:
        tap.run(test.__name__.replace("_", " "), run, test)
