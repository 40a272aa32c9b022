"""usage: mcp_wire.py PROGRAM - MCP over HTTP, byte by byte: every status and code of the contract, and trouble."""

import base64
import concurrent.futures
import http.client
import json
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import TIMEOUT_S, Mailroom  # noqa: E402
from tap import Tap  # noqa: E402

BOTH = "application/json, text/event-stream"
META = "io.modelcontextprotocol/"
MODERN = "2026-07-28"


def request(method, params=None, id=1):
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    if params is not None:
        message["params"] = params
    return message


def call(tool, id=1, **arguments):
    return request("tools/call", {"name": tool, "arguments": arguments}, id)


class Events:
    """A stream of events, read as they come; each is (id, message), the message None when there is no data."""

    def __init__(self, response):
        self.response = response

    def next(self):
        """The next event, or None at the end."""
        id, data, seen = None, None, False
        while True:
            line = self.response.readline()
            if not line:
                return None
            line = line.decode("utf-8").rstrip("\n")
            if not line:
                if seen:
                    return id, json.loads(data) if data else None
                continue
            if line.startswith("id: "):
                id, seen = line[4:], True
            elif line.startswith("data: "):
                data, seen = line[6:], True

    def rest(self):
        found = []
        while (event := self.next()) is not None:
            found.append(event)
        return found


class Client:
    """One client; `session` and `version` go into the headers when they are set."""

    def __init__(self, server, path="/mcp"):
        self.server, self.path = server, path
        self.session = self.version = None

    def headers(self, more):
        headers = {"Content-Type": "application/json", "Accept": BOTH}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        if self.version:
            headers["MCP-Protocol-Version"] = self.version
        headers.update(more)
        return {k: v for k, v in headers.items() if v is not None}

    def send(self, method, body=None, **headers):
        """(connection, response); the caller closes the connection."""
        connection = http.client.HTTPConnection(self.server.address, timeout=TIMEOUT_S)
        data = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        more = {k.replace("_", "-"): v for k, v in headers.items()}
        connection.request(method, self.path, body=data, headers=self.headers(more))
        return connection, connection.getresponse()

    def ask(self, method, body=None, **headers):
        """(status, headers, what the body says: JSON, a list of messages of a stream, or text)."""
        connection, response = self.send(method, body, **headers)
        try:
            type = response.headers.get("Content-Type", "")
            if type == "text/event-stream":
                return response.status, response.headers, [m for _, m in Events(response).rest() if m]
            text = response.read().decode("utf-8")
            return response.status, response.headers, json.loads(text) if text and "json" in type else text
        finally:
            connection.close()

    def post(self, body, **headers):
        return self.ask("POST", body, **headers)

    def open(self, version="2025-11-25", **capabilities):
        status, headers, answer = self.post(request("initialize", {"protocolVersion": version,
            "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}}))
        assert status == 200, (status, answer)
        self.session, self.version = headers["Mcp-Session-Id"], answer["result"]["protocolVersion"]
        status, _, text = self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert (status, text) == (202, ""), (status, text)
        return answer["result"]

    def listen(self, last_id=None):
        """(connection, response, events) of GET."""
        connection, response = self.send("GET", Last_Event_ID=last_id, Accept="text/event-stream")
        return connection, response, Events(response)


def expect(answer, status, code, id=None):
    got, _, body = answer
    assert got == status, (got, body)
    assert body["jsonrpc"] == "2.0" and body["id"] == id, body
    assert body["error"]["code"] == code and body["error"]["message"], body


def modern(method, params=None, id=1, capabilities=None, **meta):
    meta = {META + k: v for k, v in meta.items()}
    meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": capabilities or {}} | meta
    return request(method, (params or {}) | {"_meta": meta}, id)


def modern_headers(method, name=None):
    headers = {"MCP_Protocol_Version": MODERN, "Mcp_Method": method}
    if name is not None:
        headers["Mcp_Name"] = name
    return headers


def modern_call(client, name, id=1, capabilities=None, arguments=None, headers=None, **params):
    body = modern("tools/call", {"name": name, "arguments": arguments or {}} | params, id, capabilities)
    return client.post(body, **(modern_headers("tools/call", name) | (headers or {})))


# ---- the table of the contract ----


def headers_are_checked_first(s):
    c = Client(s)
    ping = request("ping")
    for accept in (None, "application/json", "text/event-stream", "text/html", "application/json;q=0, text/event-stream",
            "application/jsonx, text/event-stream"):
        # http.client adds none of its own
        expect(c.post(ping, Accept=accept), 406, -32000)
    for accept in (BOTH, "*/*", "text/*, application/*", "APPLICATION/JSON;q=0.5,text/event-stream ;q=0.1"):
        assert c.post(ping, Accept=accept)[0] == 200, accept
    for type in (None, "text/plain", "application/jsonx", "text/application/json", "application/json-patch+json"):
        expect(c.post(ping, Content_Type=type), 415, -32000)
    for type in ("application/json; charset=utf-8", "Application/JSON", " application/json ;x=y"):
        assert c.post(ping, Content_Type=type)[0] == 200, type


def bodies_that_are_no_messages(s):
    c = Client(s)
    for body in ("", "{", "nonsense", '{"jsonrpc":"2.0"} x', "null", "3", '"x"', "[" * 200, b"\xff\xfe",
            '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}'):
        expect(c.post(body), 400, -32700)
    for body in ({}, {"jsonrpc": "1.0", "id": 1, "method": "ping"}, {"id": 1, "method": "ping"},
            {"jsonrpc": "2.0", "id": 1}, {"jsonrpc": "2.0", "id": 1, "method": 3},
            {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []},
            {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": "x"}):
        expect(c.post(body), 400, -32700, body.get("id"))
    for id in (None, 1.5, True, [], {}):
        expect(c.post({"jsonrpc": "2.0", "id": id, "method": "ping"}), 400, -32700)
    expect(c.post({"jsonrpc": "2.0", "id": "x", "result": {}, "error": {"code": 1, "message": ""}}), 400, -32700, "x")


def bodies_that_are_too_large(m):
    with m.serve(env={"HTTP_MAX_BODY_BYTES": "4096"}) as server:
        c = Client(server)
        status, _, body = c.post(request("ping", {"x": "y" * 5000}))
        assert status == 413, (status, body)
        assert c.post(request("ping"))[0] == 200


def notifications_are_accepted(s):
    c = Client(s)
    c.open()
    for body in ({"jsonrpc": "2.0", "method": "notifications/anything"},
            {"jsonrpc": "2.0", "id": "q99", "result": {}},
            {"jsonrpc": "2.0", "id": 7, "error": {"code": -1, "message": "no"}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12}}):
        status, headers, text = c.post(body)
        assert (status, text) == (202, ""), (status, text)
        assert headers["Content-Length"] == "0"


def sessions_begin_and_end(s):
    c = Client(s)
    result = c.open("2025-06-18")
    assert result["protocolVersion"] == "2025-06-18" and result["serverInfo"]["name"] == "mailroom", result
    assert len(c.session) >= 32 and all(0x21 <= ord(x) <= 0x7e for x in c.session), c.session
    assert c.post(request("ping", id="a"))[2] == {"jsonrpc": "2.0", "id": "a", "result": {}}
    expect(c.post(request("initialize", {"protocolVersion": "2025-06-18"}, 5)), 400, -32600, 5)
    status, _, text = c.ask("DELETE")
    assert (status, text) == (200, ""), (status, text)
    for method in ("POST", "GET", "DELETE"):
        expect(c.ask(method, request("ping") if method == "POST" else None), 404, -32001)
    other = Client(s)
    assert other.open("1999-01-01")["protocolVersion"] == "2025-11-25"
    expect(Client(s).post(request("initialize", {})), 200, -32602, 1)


def foreign_sessions_are_unknown(s):
    c = Client(s)
    c.open()
    for id in ("x", c.session[:-1], c.session + "A", c.session.swapcase(), "A" * 4000):
        for method in ("POST", "GET", "DELETE"):
            expect(c.ask(method, request("ping") if method == "POST" else None, Mcp_Session_Id=id), 404, -32001)
        expect(c.post(request("initialize", {"protocolVersion": "2025-11-25"}), Mcp_Session_Id=id), 404, -32001)
    assert c.post(request("ping"))[0] == 200


def sessions_belong_to_who_opened_them(m):
    """Another principal does not get in, whatever id it learnt."""
    with m.serve(env={"HTTP_BEARER_TOKENS": "alice-token:writer,bob-token:writer"}) as server:
        alice, bob = {"Authorization": "Bearer alice-token"}, {"Authorization": "Bearer bob-token"}
        c = Client(server)
        _, headers, _ = c.post(request("initialize", {"protocolVersion": "2025-11-25"}), **alice)
        c.session = headers["Mcp-Session-Id"]
        assert c.post(request("ping"), **alice)[0] == 200
        for method in ("POST", "GET", "DELETE"):
            for who in (bob, {}):
                expect(c.ask(method, request("ping") if method == "POST" else None, **who), 404, -32001)
        assert c.ask("DELETE", **alice)[0] == 200


def without_a_session_each_request_stands_alone(s):
    for path in ("/mcp", "/mcp/", "/api", "/api/"):
        c = Client(s, path)
        status, headers, answer = c.post(request("tools/list"))
        assert status == 200 and len(answer["result"]["tools"]) > 10, answer
        assert "Mcp-Session-Id" not in headers
        answer = c.post(call("health_check"), MCP_Protocol_Version="2025-11-25")[2]
        assert answer["result"]["structuredContent"]["status"] == "ok", answer
    expect(Client(s).post(request("no/such")), 200, -32601, 1)
    expect(Client(s).post(call("no_such_tool")), 200, -32602, 1)
    for method in ("GET", "DELETE"):
        expect(Client(s).ask(method), 400, -32000)


def versions_are_checked(s):
    c = Client(s)
    c.open()
    for version in ("2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"):
        assert c.post(request("ping"), MCP_Protocol_Version=version)[0] == 200, version
    for version in ("", "2025-11-26", "1", "latest"):
        for method in ("POST", "GET", "DELETE"):
            expect(c.ask(method, request("ping") if method == "POST" else None, MCP_Protocol_Version=version), 400, -32000)
    assert c.post(request("ping"), MCP_Protocol_Version=None)[0] == 200


def other_methods_are_not_allowed(s):
    for path in ("/mcp", "/mcp/", "/api/"):
        c = Client(s, path)
        for method in ("PUT", "PATCH", "HEAD", "TRACE", "FOO"):
            status, headers, _ = c.ask(method)
            assert status == 405 and headers["Allow"] == "GET, POST, DELETE", (method, status, headers["Allow"])


def the_path_is_a_setting(m):
    with m.serve(env={"HTTP_PATH": "/agents/mail/"}) as server:
        for path in ("/agents/mail", "/agents/mail/", "/mcp", "/api/"):
            assert Client(server, path).post(request("ping"))[0] == 200, path
        assert Client(server, "/agents").post(request("ping"))[0] == 404


def strangers_are_refused(s):
    c = Client(s)
    assert c.post(request("ping"), Host="evil.example")[0] == 403
    assert c.post(request("ping"), Origin="http://evil.example")[0] == 403
    assert c.post(request("ping"), Origin="null")[0] == 403
    assert c.ask("GET", Host="evil.example")[0] == 403
    assert c.post(request("ping"), Origin=s.url)[0] == 200


def batches_belong_to_one_version(s):
    batch = [request("ping", id=1), {"jsonrpc": "2.0", "method": "notifications/x"}, request("no/such", id="b")]
    old = Client(s)
    old.open("2025-03-26")
    for c in (old, Client(s)):
        status, _, answer = c.post(batch)
        assert status == 200 and [a["id"] for a in answer] == [1, "b"], answer
        assert answer[0]["result"] == {} and answer[1]["error"]["code"] == -32601, answer
        status, _, text = c.post([batch[1]])
        assert (status, text) == (202, "")
        expect(c.post([]), 400, -32600)
        expect(c.post([request("ping", id=i) for i in range(101)]), 400, -32600)
        expect(c.post([1]), 400, -32700)
        expect(c.post([request("initialize", {"protocolVersion": "2025-03-26"})]), 400, -32600)
        expect(c.post([request("ping"), modern("ping")]), 400, -32600)
    assert len(old.post([request("ping", id=i) for i in range(100)])[2]) == 100
    # One that takes long makes all of them events of a stream.
    answer = old.post([request("ping", id=1), call("test_tool_with_logging", id=2)])[2]
    assert [a["id"] for a in answer if "id" in a] == [1, 2] and len(answer) == 5, answer
    new = Client(s)
    new.open("2025-06-18")
    expect(new.post(batch), 400, -32600)


# ---- streams ----


def one_stream_listens(s):
    c = Client(s)
    c.open()
    expect(c.ask("GET", Accept="application/json"), 406, -32000)
    connection, response, events = c.listen()
    assert response.status == 200 and response.headers["Content-Type"] == "text/event-stream", response.headers
    assert response.headers["Cache-Control"] == "no-cache, no-transform"
    assert response.headers["X-Accel-Buffering"] == "no"
    assert response.headers["Mcp-Session-Id"] == c.session
    assert events.next() == ("0-0", None)
    expect(c.ask("GET"), 409, -32000)
    c.ask("DELETE")
    assert events.next() is None
    connection.close()
    # Without events that prime, for those who do not know them.
    old = Client(s)
    old.open("2025-06-18")
    connection, _, events = old.listen()
    old.ask("DELETE")
    assert events.next() is None
    connection.close()


def a_stream_that_broke_can_be_opened_again(s):
    c = Client(s)
    c.open()
    connection, _, _ = c.listen()
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
    for _ in range(200):
        connection, response, _ = c.listen()
        connection.close()
        if response.status == 200:
            return
        time.sleep(0.02)
    raise AssertionError("still 409")


def calls_that_speak_are_streams(s):
    c = Client(s)
    c.open()
    connection, response = c.send("POST", call("test_tool_with_logging", id="log"))
    assert response.headers["Content-Type"] == "text/event-stream" and response.headers["Mcp-Session-Id"] == c.session
    events = Events(response).rest()
    connection.close()
    assert events[0] == ("1-0", None) and [id for id, _ in events] == [f"1-{n}" for n in range(5)], events
    assert [m.get("method") for _, m in events[1:4]] == ["notifications/message"] * 3, events
    assert events[4][1]["id"] == "log" and events[4][1]["result"]["content"], events
    # What the client does not want to hear is not said.
    c.post(request("logging/setLevel", {"level": "error"}))
    assert len(c.post(call("test_tool_with_logging"))[2]) == 1
    expect(c.post(request("logging/setLevel", {"level": "loud"})), 200, -32602, 1)
    progress = c.post(request("tools/call", {"name": "test_tool_with_progress", "arguments": {},
        "_meta": {"progressToken": "p1"}}))[2]
    assert [m["params"]["progress"] for m in progress[:3]] == [0, 50, 100], progress
    assert all(m["params"]["progressToken"] == "p1" for m in progress[:3])
    # And without a session, without ids.
    connection, response = Client(s).send("POST", call("test_tool_with_logging"))
    assert [id for id, _ in Events(response).rest()] == [None] * 4
    connection.close()


def clients_are_asked(s):
    c = Client(s)
    c.open(sampling={})
    connection, response = c.send("POST", call("test_sampling", prompt="Why?"))
    events = Events(response)
    assert events.next() == ("1-0", None)
    _, question = events.next()
    assert question["method"] == "sampling/createMessage", question
    assert question["params"]["messages"][0]["content"]["text"] == "Why?", question
    # Somebody else's session cannot answer, nor can an id nobody asked with.
    other = Client(s)
    other.open(sampling={})
    for who, id in ((other, question["id"]), (c, "q12345"), (c, 1)):
        assert who.post({"jsonrpc": "2.0", "id": id, "result": {"content": "forged"}})[0] == 202
    assert c.post({"jsonrpc": "2.0", "id": question["id"], "result": {"content": "Because."}})[0] == 202
    _, answer = events.next()
    assert "Because." in answer["result"]["content"][0]["text"], answer
    assert events.next() is None
    connection.close()
    # An error is an answer too; so is the lack of a capability.
    connection, response = c.send("POST", call("test_sampling", prompt="Why?"))
    events = Events(response)
    events.next()
    _, question = events.next()
    c.post({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -1, "message": "not now"}})
    _, answer = events.next()
    assert "not now" in answer["error"]["message"], answer
    connection.close()
    answer = c.post(call("test_elicitation", message="?"))[2]
    assert answer[0]["error"]["code"] == -32602, answer


def calls_can_be_cancelled(s):
    c = Client(s)
    c.open(sampling={})
    for end in (lambda: c.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}}),
            lambda: c.ask("DELETE")):
        connection, response = c.send("POST", call("test_sampling", id="slow", prompt="?"))
        events = Events(response)
        events.next()
        assert events.next()[1]["method"] == "sampling/createMessage"
        end()
        assert events.next() is None
        connection.close()


def lost_events_are_found_again(s):
    c = Client(s)
    c.open()
    connection, response = c.send("POST", call("test_reconnection", id=9))
    events = Events(response).rest()
    connection.close()
    assert events == [("1-0", None)], events
    for _ in range(2):  # as often as it likes
        connection, response, events = c.listen("1-0")
        assert response.status == 200 and response.headers["Content-Type"] == "text/event-stream"
        found = events.rest()
        connection.close()
        assert len(found) == 1 and found[0][0] == "1-1" and found[0][1]["id"] == 9, found
    connection, _, events = c.listen("1-1")
    assert events.rest() == []
    connection.close()


def only_the_same_stream_is_replayed(s):
    c = Client(s)
    c.open()
    first = c.post(call("test_tool_with_logging", id="first"))[2]
    second = c.post(call("test_tool_with_logging", id="second"))[2]
    assert len(first) == len(second) == 4
    for stream, id in (("1", "first"), ("2", "second")):
        connection, _, events = c.listen(f"{stream}-2")
        found = events.rest()
        connection.close()
        assert [i for i, _ in found] == [f"{stream}-3", f"{stream}-4"] and found[1][1]["id"] == id, found
    for id in ("3-0", "1-5", "9-9", "", "x", "1", "-", "1-", "-1", "1--1", "01-1", "1-01", "1-1 ", "1-1-1",
            "99999999999999999999-0", "1-99999999999999999999", "1" * 3000):
        expect(c.ask("GET", Last_Event_ID=id), 400, -32000)
    other = Client(s)
    other.open()
    expect(other.ask("GET", Last_Event_ID="1-2"), 400, -32000)
    # The stream of what nobody asked goes on where it was, and the older connection is let go.
    connection, _, events = c.listen()
    assert events.next() == ("0-0", None)
    again, response, _ = c.listen("0-0")
    assert response.status == 200
    assert events.next() is None
    connection.close()
    again.close()


def two_agents(c):
    """(project, sender, reader) of a project with two agents."""
    project = "/srv/wire"
    assert not c.post(call("ensure_project", human_key=project))[2]["result"]["isError"]
    for name in ("BlueLake", "GreenCastle"):
        made = c.post(call("register_agent", project_key=project, program="p", model="m", name=name))[2]["result"]
        assert not made["isError"], made
    return project, "BlueLake", "GreenCastle"


def mail(c, project, sender, reader, subject):
    sent = c.post(call("send_message", project_key=project, sender_name=sender, to=[reader], subject=subject,
        body_md="b"))[2]["result"]
    assert not sent["isError"], sent


def what_came_while_away_is_told_later(s):
    """A subscription outlives the connection that listens; nothing is told twice."""
    c = Client(s)
    c.open()
    project, sender, reader = two_agents(c)
    uri = f"resource://inbox/{reader}?project={project}"
    assert c.post(request("resources/subscribe", {"uri": uri}))[2]["result"] == {}
    connection, _, events = c.listen()
    assert events.next() == ("0-0", None)
    mail(c, project, sender, reader, "one")
    id, message = events.next()
    assert id == "0-1" and message["method"] == "notifications/resources/updated", message
    assert message["params"]["uri"] == uri, message
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
    mail(c, project, sender, reader, "two")
    connection, response, events = c.listen("0-1")
    assert response.status == 200
    id, message = events.next()
    assert id == "0-2" and message["params"]["uri"] == uri, (id, message)
    connection.close()
    connection, _, events = c.listen("0-0")
    assert [events.next()[0], events.next()[0]] == ["0-1", "0-2"]
    connection.close()
    assert c.post(request("resources/unsubscribe", {"uri": uri}))[2]["result"] == {}


def who_waits_holds_up_nobody(s):
    """More wait than there are threads that read requests; one message wakes them all."""
    c = Client(s)
    c.open()
    project, sender, reader = two_agents(c)
    waiting = []
    for n in range(24):
        connection, response = c.send("POST",
            call("wait_for_mail", id=n, project_key=project, agent_name=reader, timeout_seconds=60))
        events = Events(response)
        assert response.headers["Content-Type"] == "text/event-stream" and events.next()[1] is None
        waiting.append((connection, events))
    for n in range(20):
        assert c.post(request("ping", id=n))[0] == 200
    # Who is told that nobody waits stops; so does who is hung up on, without a session.
    c.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}})
    assert waiting[0][1].next() is None
    mail(c, project, sender, reader, "wake up")
    for connection, events in waiting[1:]:
        _, message = events.next()
        assert not message["result"]["isError"] and "wake up" in json.dumps(message), message
        assert events.next() is None
        connection.close()


def who_never_reads_is_cut_off(s):
    """It costs a bounded queue, and others nothing."""
    c = Client(s)
    c.open()
    lazy = socket.create_connection(s.address.split(":"), timeout=TIMEOUT_S)
    lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    body = json.dumps(call("test_tool_with_logging"))
    for _ in range(20):
        lazy.sendall((f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: {BOTH}\r\nContent-Type: application/json\r\n"
            f"Mcp-Session-Id: {c.session}\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
    begun = time.monotonic()
    for _ in range(20):
        assert c.post(request("ping"))[0] == 200
    assert time.monotonic() - begun < TIMEOUT_S / 2
    lazy.close()
    assert c.post(request("ping"))[0] == 200


def many_post_at_once(s):
    c = Client(s)
    c.open()
    gate = threading.Barrier(64)

    def one(n):
        gate.wait(TIMEOUT_S)
        answers = [c.post(request("ping", id=n * 100 + i)) for i in range(10)]
        stream = c.post(call("test_tool_with_progress", id=n)) if n % 8 == 0 else None
        return n, answers, stream

    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        for n, answers, stream in pool.map(one, range(64)):
            assert [(a[0], a[2]["id"]) for a in answers] == [(200, n * 100 + i) for i in range(10)], answers
            assert stream is None or stream[2][-1]["id"] == n, stream


def the_server_ends_with_streams_open(m):
    with m.serve(env={"MCP_CONFORMANCE_FIXTURES": "true"}) as server:
        c = Client(server)
        c.open(sampling={})
        project, _, reader = two_agents(c)
        for who in (c, Client(server)):
            who.send("POST", call("wait_for_mail", project_key=project, agent_name=reader, timeout_seconds=60))
        _, _, listening = c.listen()
        listening.next()
        _, response = c.send("POST", call("test_sampling", prompt="?"))
        asked = Events(response)
        asked.next()
        asked.next()
        connection, response = Client(server).send("POST", modern("subscriptions/listen", {"notifications": {}}, 5),
            **modern_headers("subscriptions/listen"))
        told = Events(response)
        told.next()
        begun = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - begun < 30, "it waited for who waits"
        assert listening.next() is None and asked.next() is None
        assert told.next()[1]["result"]["_meta"] == {META + "subscriptionId": 5}
        assert told.next() is None


# ---- the second generation ----


def requests_say_all_about_themselves(s):
    c = Client(s)
    status, headers, answer = c.post(modern("server/discover"), **modern_headers("server/discover"))
    result = answer["result"]
    assert status == 200 and "Mcp-Session-Id" not in headers, headers
    assert result["supportedVersions"] == [MODERN] and result["resultType"] == "complete", result
    assert result["ttlMs"] >= 0 and result["cacheScope"] in ("public", "private"), result
    assert result["_meta"][META + "serverInfo"]["name"] == "mailroom", result
    answer = modern_call(c, "health_check")[2]
    assert answer["result"]["structuredContent"]["status"] == "ok" and answer["result"]["resultType"] == "complete"
    for method in ("initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "no/such"):
        expect(c.post(modern(method, id="m"), **modern_headers(method)), 404, -32601, "m")
    status, _, text = c.post({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"_meta": {META + "protocolVersion": MODERN}, "requestId": 1}})
    assert (status, text) == (202, "")


def bodies_decide_the_generation(s):
    c = Client(s)
    headers = modern_headers("tools/list")
    expect(c.post(request("tools/list", id=3), **headers), 400, -32602, 3)
    expect(c.post(request("tools/list", {"_meta": {META + "clientCapabilities": {}}}, 3), **headers), 400, -32602, 3)
    for capabilities in (None, [], "x"):
        body = modern("tools/list", id=3, clientCapabilities=capabilities)
        expect(c.post(body, **headers), 400, -32602, 3)
    expect(c.post(modern("tools/list", id=3, protocolVersion=7), **headers), 400, -32602, 3)
    # A header of the second generation does not make initialize one of it.
    status, answered, _ = c.post(request("initialize", {"protocolVersion": "2025-11-25"}), **headers)
    assert status == 200 and answered["Mcp-Session-Id"]
    # Nor is a session asked for, or looked at.
    assert c.post(modern("tools/list"), Mcp_Session_Id="nonsense", **headers)[0] == 200


def versions_nobody_speaks(s):
    c = Client(s)
    for version in ("2027-01-01", "2025-11-25", "v999"):
        body = modern("tools/list", id=4, protocolVersion=version)
        answer = c.post(body, **(modern_headers("tools/list") | {"MCP_Protocol_Version": version}))
        expect(answer, 400, -32022, 4)
        assert answer[2]["error"]["data"] == {"supported": [MODERN], "requested": version}, answer
    expect(c.post(modern("tools/list", id=4, protocolVersion="v999"), **modern_headers("tools/list")), 400, -32020, 4)


def headers_repeat_the_body(s):
    c = Client(s)
    good = modern_headers("tools/call", "health_check")
    body = modern("tools/call", {"name": "health_check", "arguments": {}}, 6)
    assert c.post(body, **good)[0] == 200
    encoded = "=?base64?" + base64.b64encode(b"health_check").decode() + "?="
    for name in ("  health_check\t ", encoded):
        assert c.post(body, **(good | {"Mcp_Name": name}))[0] == 200, name
    for bad in ({"Mcp_Method": None}, {"Mcp_Method": "tools/list"}, {"Mcp_Method": "TOOLS/CALL"}, {"Mcp_Name": None},
            {"Mcp_Name": "whois"}, {"Mcp_Name": "Health_check"}, {"MCP_Protocol_Version": None},
            {"MCP_Protocol_Version": "2025-11-25"}, {"Mcp_Name": encoded[:-3] + "!?="},
            {"Mcp_Name": "=?base64?aGVhbHRoX2NoZWNr=?="}, {"Mcp_Name": "=?base64?"}):
        expect(c.post(body, **(good | bad)), 400, -32020, 6)
    expect(c.post(modern("tools/call", {"arguments": {}}, 6), **good), 400, -32020, 6)
    expect(c.post(modern("tools/call", {"arguments": {}}, 6), **modern_headers("tools/call")), 200, -32602, 6)
    # Arguments that stand in headers too.
    for value, header, status in (("eu", "eu", 200), ("eu", "us", 400), ("eu", None, 400), ("é", "=?base64?w6k=?=", 200)):
        answer = modern_call(c, "test_header_parameter", 6, None, {"region": value}, {"Mcp_Param_Region": header})
        assert answer[0] == status, (value, header, answer)
        assert status == 200 or answer[2]["error"]["code"] == -32020, answer


def clients_are_asked_by_results(s):
    c = Client(s)
    answer = modern_call(c, "test_input_required_result_elicitation", 7)
    expect(answer, 400, -32021, 7)
    assert answer[2]["error"]["data"] == {"requiredCapabilities": {"elicitation": {}}}, answer
    able = {"elicitation": {}}
    result = modern_call(c, "test_input_required_result_elicitation", 7, able)[2]["result"]
    assert result["resultType"] == "input_required" and list(result["inputRequests"]) == ["user_name"], result
    said = {"user_name": {"action": "accept", "content": {"name": "Alice"}}, "more": {}}
    result = modern_call(c, "test_input_required_result_elicitation", 7, able, inputResponses=said)[2]["result"]
    assert result["resultType"] == "complete" and "Alice" in result["content"][0]["text"], result
    for said in ({}, {"wrong": {}}, {"user_name": 3}):
        result = modern_call(c, "test_input_required_result_elicitation", 7, able, inputResponses=said)[2]["result"]
        assert result["resultType"] == "input_required", result
    for said in (None, [], "x"):
        expect(modern_call(c, "test_input_required_result_elicitation", 7, able, inputResponses=said), 200, -32602, 7)


def what_is_remembered_is_sealed(s):
    c = Client(s)
    tool, able = "test_input_required_result_request_state", {"elicitation": {}}
    said = {"confirm": {"action": "accept", "content": {"ok": True}}}
    state = modern_call(c, tool, 8, able)[2]["result"]["requestState"]
    result = modern_call(c, tool, 8, able, inputResponses=said, requestState=state)[2]["result"]
    assert result["content"][0]["text"] == "state-ok", result
    payload, seal = state.split(".")
    forged = base64.urlsafe_b64encode(b'{"until":9999999999,"state":"asked"}').decode().rstrip("=")
    for bad in (state + "A", state[:-1], payload, "." + seal, f"{forged}.{seal}", seal + "." + payload, "", 7, None,
            state.swapcase(), "." * 1000):
        expect(modern_call(c, tool, 8, able, inputResponses=said, requestState=bad), 200, -32602, 8)
    # It belongs to the request it was given out for.
    expect(modern_call(c, "test_input_required_result_tampered_state", 8, able, inputResponses=said,
        requestState=state), 200, -32602, 8)
    with_two = "test_input_required_result_multi_round"
    first = modern_call(c, with_two, 8, able)[2]["result"]
    second = modern_call(c, with_two, 8, able, requestState=first["requestState"])[2]["result"]
    assert list(second["inputRequests"]) == ["step2"] and second["requestState"] != first["requestState"], second


def changes_are_heard(s):
    c = Client(s)
    filter = {"toolsListChanged": True, "resourcesListChanged": False, "resourceSubscriptions": ["test://watched-resource"]}
    connection, response = c.send("POST", modern("subscriptions/listen", {"notifications": filter}, "sub"),
        **modern_headers("subscriptions/listen"))
    events = Events(response)
    assert response.headers["Content-Type"] == "text/event-stream"
    tag = {META + "subscriptionId": "sub"}
    id, message = events.next()
    assert id is None and message["method"] == "notifications/subscriptions/acknowledged", message
    assert message["params"]["_meta"] == tag and message["params"]["notifications"]["toolsListChanged"] is True, message
    assert "resourcesListChanged" not in message["params"]["notifications"], message
    modern_call(c, "test_trigger_prompt_change")
    modern_call(c, "test_trigger_tool_change")
    _, message = events.next()
    assert message["method"] == "notifications/tools/list_changed" and message["params"]["_meta"] == tag, message
    connection.close()
    for notifications in (None, [], "x"):
        expect(c.post(modern("subscriptions/listen", {"notifications": notifications}, 1),
            **modern_headers("subscriptions/listen")), 200, -32602, 1)
    expect(c.post(request("subscriptions/listen", {"notifications": {}})), 200, -32601, 1)


def logs_are_sent_to_who_wants_them(s):
    c = Client(s)
    assert len(modern_call(c, "test_logging_tool")[2]) == 1
    for level, count in (("debug", 4), ("info", 4), ("error", 1), ("loud", 1)):
        body = modern("tools/call", {"name": "test_logging_tool", "arguments": {}}, logLevel=level)
        answer = c.post(body, **modern_headers("tools/call", "test_logging_tool"))[2]
        assert len(answer) == count, (level, answer)
        assert answer[-1]["result"]["resultType"] == "complete"


def without_the_setting_there_are_no_fixtures(m):
    with m.serve() as server:
        c = Client(server)
        names = [t["name"] for t in c.post(request("tools/list"))[2]["result"]["tools"]]
        assert names and not [n for n in names if n.startswith("test_") or n.startswith("json_schema")], names
        expect(c.post(call("test_simple_text")), 200, -32602, 1)
        assert not c.open()["capabilities"]["tools"].get("listChanged")


SHARED = [headers_are_checked_first, bodies_that_are_no_messages, notifications_are_accepted, sessions_begin_and_end,
    foreign_sessions_are_unknown, without_a_session_each_request_stands_alone, versions_are_checked,
    other_methods_are_not_allowed, strangers_are_refused, batches_belong_to_one_version, one_stream_listens,
    a_stream_that_broke_can_be_opened_again, calls_that_speak_are_streams, clients_are_asked, calls_can_be_cancelled,
    lost_events_are_found_again, only_the_same_stream_is_replayed,
    what_came_while_away_is_told_later, who_waits_holds_up_nobody, who_never_reads_is_cut_off, many_post_at_once,
    requests_say_all_about_themselves, bodies_decide_the_generation, versions_nobody_speaks, headers_repeat_the_body,
    clients_are_asked_by_results, what_is_remembered_is_sealed, changes_are_heard, logs_are_sent_to_who_wants_them]
OWN = [bodies_that_are_too_large, sessions_belong_to_who_opened_them, the_path_is_a_setting,
    the_server_ends_with_streams_open, without_the_setting_there_are_no_fixtures]


def main():
    with Tap() as tap, Mailroom(sys.argv[1]) as m:
        with m.serve(env={"MCP_CONFORMANCE_FIXTURES": "true"}) as server:
            for test in SHARED:
                tap.run(test.__name__, test, server)
            tap.run("the server ends well", lambda: None if server.stop() == 0 else 1 / 0)
        for test in OWN:
            tap.run(test.__name__, test, m)


main()
