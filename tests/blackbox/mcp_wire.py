"""usage: mcp_wire.py PROGRAM - MCP over HTTP, byte by byte: every status and code of the contract."""

import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import TIMEOUT_S, Mailroom  # noqa: E402
from tap import Tap  # noqa: E402
from wire import (BOTH, META, Client, Events, call, expect, mail, modern, modern_headers, request,  # noqa: E402
    two_agents)


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
    # The server learns of it when it looks at the connection, for which nobody can wait from here.
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        connection, response, _ = c.listen()
        connection.close()
        if response.status == 200:
            return
        assert time.monotonic() < deadline, f"still {response.status}"
        time.sleep(0.02)


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


def without_the_setting_there_are_no_fixtures(m):
    with m.serve() as server:
        c = Client(server)
        names = [t["name"] for t in c.post(request("tools/list"))[2]["result"]["tools"]]
        assert names and not [n for n in names if n.startswith("test_") or n.startswith("json_schema")], names
        expect(c.post(call("test_simple_text")), 200, -32602, 1)
        assert not c.open()["capabilities"]["tools"].get("listChanged")


SHARED = [headers_are_checked_first, bodies_that_are_no_messages, notifications_are_accepted, sessions_begin_and_end,
    foreign_sessions_are_unknown, without_a_session_each_request_stands_alone, versions_are_checked,
    other_methods_are_not_allowed, batches_belong_to_one_version, one_stream_listens,
    a_stream_that_broke_can_be_opened_again, calls_that_speak_are_streams, clients_are_asked, calls_can_be_cancelled,
    lost_events_are_found_again, only_the_same_stream_is_replayed,
    what_came_while_away_is_told_later]
OWN = [sessions_belong_to_who_opened_them, the_path_is_a_setting,
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
