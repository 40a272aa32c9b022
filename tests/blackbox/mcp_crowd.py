"""usage: mcp_crowd.py PROGRAM - many clients at once, slow ones and silent ones: nobody holds up anybody else."""

import concurrent.futures
import http.client
import json
import os
import socket
import sqlite3
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import TIMEOUT_S, Mailroom  # noqa: E402
from tap import Tap  # noqa: E402
from wire import (BOTH, Client, Events, call, cursor, expect, mail, modern, modern_headers, request,  # noqa: E402
    two_agents)

QUEUE_BYTES = 4 << 20  # of a stream whose client does not read
WAITS, REST_WAITS, STREAMS = 256, 256, 1024
JSON = {"Content-Type": "application/json"}


def raw(s, **options):
    """A socket; with rcvbuf=N the kernel keeps no more than that for us."""
    connection = socket.socket()
    if "rcvbuf" in options:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, options["rcvbuf"])
    connection.settimeout(TIMEOUT_S)
    host, port = s.address.split(":")
    connection.connect((host, int(port)))
    return connection


def has_ended(connection):
    """Has the server hung up without a word?"""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def drain(connection):
    """What can still be read, until the end."""
    got = b""
    try:
        while piece := connection.recv(1 << 20):
            got += piece
    except ConnectionResetError:
        pass
    return got


def is_well(s, c=None, can_write=True):
    """All kinds of answers still come: from the reading thread, from workers, with a session and without."""
    assert s.get("/health/liveness")[0] == 200 and s.get("/health")[0] == (200 if can_write else 503)
    assert (c or Client(s)).post(request("ping"))[0] == 200
    assert Client(s).post(request("tools/list"))[2]["result"]["tools"]


def tool(s, name, /, **arguments):
    return s.request("POST", f"/api/tools/{name}", JSON, json.dumps(arguments))


def wait(c, project, reader, since, n=1, seconds=60):
    """(connection, response) of a call that waits."""
    return c.send("POST", call("wait_for_mail", id=n, project_key=project, agent_name=reader, timeout_seconds=seconds,
        since=since))


# ---- who waits ----


def who_waits_holds_up_nobody(s):
    """One message wakes them all; who is cancelled is not told."""
    c = Client(s)
    c.open()
    project, sender, reader = two_agents(c)
    since = cursor(c, project, reader)
    waiting = []
    for n in range(24):
        connection, response = wait(c, project, reader, since, n)
        events = Events(response)
        assert response.headers["Content-Type"] == "text/event-stream" and events.next()[1] is None
        waiting.append((connection, events))
    is_well(s, c)
    c.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}})
    assert waiting[0][1].next() is None
    waiting[0][0].close()
    mail(c, project, sender, reader, "wake up")
    for connection, events in waiting[1:]:
        _, message = events.next()
        assert not message["result"]["isError"] and "wake up" in json.dumps(message), message
        assert events.next() is None
        connection.close()


def so_many_may_wait_over_mcp(m):
    with m.serve() as server:
        c = Client(server)
        c.open()
        project, sender, reader = two_agents(c)
        since = cursor(c, project, reader)
        # In both generations, with a session and without.
        waiting = [wait(c if n % 2 else Client(server), project, reader, since, n, 300) for n in range(WAITS)]
        assert [response.status for _, response in waiting] == [200] * WAITS
        for who in (c, Client(server)):
            answer = who.post(call("wait_for_mail", id="more", project_key=project, agent_name=reader))
            expect(answer, 503, -32000, "more")
            assert answer[1]["Retry-After"] == "1" and "256 long calls" in answer[2]["error"]["message"], answer
        body = modern("tools/call", {"name": "wait_for_mail", "arguments": {"project_key": project,
            "agent_name": reader}}, "more")
        expect(c.post(body, **modern_headers("tools/call", "wait_for_mail")), 503, -32000, "more")
        is_well(server, c)
        mail(c, project, sender, reader, "at last")
        for connection, response in waiting:
            told = [message for _, message in Events(response).rest() if message]
            assert len(told) == 1 and "at last" in json.dumps(told), told
            connection.close()
        assert wait(c, project, reader, since)[1].status == 200


def so_many_may_wait_without_mcp(m):
    """They take threads that serve others too, so fewer may; and none outlives the server's end."""
    with m.serve() as server:
        c = Client(server)
        project, sender, reader = two_agents(c)
        since = cursor(c, project, reader)
        arguments = json.dumps({"project_key": project, "agent_name": reader, "timeout_seconds": 300, "since": since})
        waiting = []
        for _ in range(REST_WAITS):
            connection = http.client.HTTPConnection(server.address, timeout=TIMEOUT_S)
            connection.request("POST", "/api/tools/wait_for_mail", arguments, JSON)
            waiting.append(connection)
        # The last of them may not have begun yet: who comes too early waits, and is told of the message.
        late = None
        while late is None:
            connection = http.client.HTTPConnection(server.address, timeout=TIMEOUT_S)
            connection.request("POST", "/api/tools/wait_for_mail", json.dumps({"project_key": project,
                "agent_name": reader, "timeout_seconds": 0, "since": since}), JSON)
            response = connection.getresponse()
            text = response.read().decode()
            connection.close()
            late = (response, text) if response.status != 200 else None
        response, text = late
        assert (response.status, text) == (503, '{"detail":"Too many requests wait already"}'), (response.status, text)
        assert response.headers["Retry-After"] == "1"
        is_well(server)
        mail(c, project, sender, reader, "at last")
        for connection in waiting:
            response = connection.getresponse()
            text = response.read().decode()
            assert response.status == 200 and "at last" in text, (response.status, text)
        # Who hangs up makes room, and whoever still waits does not keep the server.
        for connection in waiting[:4]:
            connection.request("POST", "/api/tools/wait_for_mail", json.dumps({"project_key": project,
                "agent_name": reader, "timeout_seconds": 300}), JSON)
        waiting[0].close()
        is_well(server)
        assert server.stop() == 0
        for connection in waiting[1:4]:
            response = connection.getresponse()
            assert json.loads(response.read())["timed_out"] is True
        for connection in waiting:
            connection.close()


def so_many_streams_are_open(m):
    with m.serve() as server:
        c = Client(server)
        c.open()
        body = modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, 1)
        streams = [Client(server).send("POST", body, **modern_headers("subscriptions/listen")) for _ in range(STREAMS)]
        assert {response.status for _, response in streams} == {200}
        answer = c.post(body, **modern_headers("subscriptions/listen"))
        expect(answer, 503, -32000, 1)
        assert answer[1]["Retry-After"] == "1" and "1024 streams" in answer[2]["error"]["message"], answer
        expect(c.ask("GET"), 503, -32000)
        expect(c.post(call("wait_for_mail", id=2, project_key="/p", agent_name="BlueLake")), 503, -32000, 2)
        is_well(server, c)
        for connection, _ in streams:
            connection.close()
        # As soon as it has noticed.
        while c.listen()[1].status != 200:
            pass


# ---- who is slow ----


def writers_that_are_stuck_hold_up_no_reader(m):
    """Another program has the database locked; more writers wait than there are threads at first."""
    with m.serve() as server:
        c = Client(server)
        project, sender, reader = two_agents(c)
        mail(c, project, sender, reader, "before")
        lock = sqlite3.connect(os.path.join(m.root, "storage.sqlite3"), isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        try:
            with concurrent.futures.ThreadPoolExecutor(60) as pool:
                writers = [pool.submit(mail, c, project, sender, reader, f"stuck {n}") for n in range(60)]
                for _ in range(3):
                    is_well(server, can_write=False)
                    status, _, text = tool(server, "fetch_inbox", project_key=project, agent_name=reader)
                    assert status == 200 and "before" in text and "stuck" not in text, text
                assert not [w for w in writers if w.done()]
                lock.execute("ROLLBACK")
                for writer in writers:
                    writer.result(TIMEOUT_S)
        finally:
            lock.close()
        text = tool(server, "fetch_inbox", project_key=project, agent_name=reader, limit=100)[2]
        assert len([n for n in range(60) if f'"stuck {n}"' in text]) == 60, text


def slow_readers_get_all_in_the_end(s):
    """Answers larger than the kernel keeps, read a little at a time: whole, and nobody waits for them."""
    body = json.dumps([request("tools/list", id=n) for n in range(90)])
    slow = []
    for _ in range(4):
        connection = raw(s, rcvbuf=1 << 16)
        connection.sendall((f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: {BOTH}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
        slow.append(connection)
    heads = [connection.recv(512) for connection in slow]
    assert all(head.startswith(b"HTTP/1.1 200 ") for head in heads), heads
    is_well(s)
    for connection, head in zip(slow, heads):
        head, body = head.split(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        assert length > QUEUE_BYTES, length
        while len(body) < length:
            body += connection.recv(1 << 20)
        assert [answer["id"] for answer in json.loads(body)] == list(range(90))
        connection.close()


def who_never_reads_its_stream_is_cut_off(s):
    """What waits for it is bounded; it is told by being hung up on, and others hear everything meanwhile."""
    lazy, witness = Client(s), Client(s)
    lazy.open()
    witness.open()
    project, sender, reader = two_agents(witness)
    uri = f"resource://inbox/{reader}?project={project}"
    long = [f"{uri}&n={n}&x=" + "x" * 3900 for n in range(64)]
    for one in long:
        assert lazy.post(request("resources/subscribe", {"uri": one}))[2]["result"] == {}
    expect(lazy.post(request("resources/subscribe", {"uri": uri})), 200, -32602, 1)
    witness.post(request("resources/subscribe", {"uri": uri}))
    connection = raw(s, rcvbuf=4096)
    connection.sendall((f"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
        f"Mcp-Session-Id: {lazy.session}\r\n\r\n").encode())
    head = b""
    while b"id: 0-0" not in head:
        head += connection.recv(1024)
    _, _, heard = witness.listen()
    heard.next()
    rounds = 0
    with open("/proc/sys/net/ipv4/tcp_wmem", encoding="ascii") as file:
        kernel = int(file.read().split()[2]) + (1 << 20)
    again, response, events = lazy.listen()
    while response.status == 409:
        again.close()
        mail(witness, project, sender, reader, f"round {rounds}")
        assert heard.next()[1]["params"]["uri"] == uri
        rounds += 1
        assert rounds < 1000, "never cut off"
        again, response, events = lazy.listen()
    assert response.status == 200, response.status
    # Its next event says how many there were; each is a little longer than its URI.
    events.next()
    mail(witness, project, sender, reader, "after")
    number = int(events.next()[0].split("-")[1]) - 1
    said = number * 4096
    assert QUEUE_BYTES < said < QUEUE_BYTES + kernel + 64 * 4200, said
    rest = drain(connection)
    assert not rest.endswith(b"0\r\n\r\n") and len(rest) < said - QUEUE_BYTES // 2, (len(rest), said)
    connection.close()
    again.close()
    # What it missed and is kept can still be had; what is older is gone for good.
    expect(lazy.ask("GET", Last_Event_ID="0-1"), 400, -32000)
    is_well(s, lazy)


def who_listens_and_never_reads_is_cut_off(s):
    """The same in the second generation, where nothing is kept for later."""
    c = Client(s)
    project, sender, reader = two_agents(c)
    uri = f"resource://inbox/{reader}?project={project}"
    wanted = {"notifications": {"resourceSubscriptions": [f"{uri}&n={n}&x=" + "x" * 3900 for n in range(64)]}}
    body = json.dumps(modern("subscriptions/listen", wanted, "i" * 1000))
    lazy = raw(s, rcvbuf=4096)
    lazy.sendall((f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: {BOTH}\r\nContent-Type: application/json\r\n"
        f"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
    assert lazy.recv(12) == b"HTTP/1.1 200"
    witness = Client(s)
    witness.open()
    witness.post(request("resources/subscribe", {"uri": uri}))
    _, _, heard = witness.listen()
    heard.next()
    for n in range(60):
        mail(c, project, sender, reader, f"round {n}")
        assert heard.next()[1]["params"]["uri"] == uri
    rest = drain(lazy)
    assert not rest.endswith(b"0\r\n\r\n") and len(rest) < 60 * 64 * 4900 - QUEUE_BYTES, len(rest)
    lazy.close()
    is_well(s)


# ---- who is silent ----


HALVES = (b"", b"P", b"POST /mcp HTTP/1.1\r\n", b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Long: ",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n"
    b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n"
    b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{")


def half_a_request_takes_no_worker(m):
    """More of them than there are workers, ever; and silence ends them, without a word."""
    with m.serve(env={"HTTP_IDLE_TIMEOUT_SECONDS": "2"}) as server:
        halves = [raw(server) for _ in range(600)]
        for n, connection in enumerate(halves):
            connection.sendall(HALVES[n % len(HALVES)])
        for _ in range(5):
            is_well(server)
        assert all(has_ended(connection) for connection in halves)
        for connection in halves:
            connection.close()


def silence_makes_room(m):
    """At the limit of connections those go that have kept the server waiting longest: half requests, idle ones."""
    with m.serve(env={"HTTP_MAX_CONNECTIONS": "64", "HTTP_IDLE_TIMEOUT_SECONDS": "3600"}) as server:
        c = Client(server)
        c.open()
        _, _, listening = c.listen()
        assert listening.next() == ("0-0", None)
        silent = []
        for n in range(300):
            silent.append(raw(server))
            silent[-1].sendall(HALVES[n % len(HALVES)])
        is_well(server, c)
        idle = [http.client.HTTPConnection(server.address, timeout=TIMEOUT_S) for _ in range(300)]
        for connection in idle:
            connection.request("GET", "/health")
            assert connection.getresponse().read()
        is_well(server, c)
        assert all(has_ended(connection) for connection in silent)
        # A stream is not silent: somebody listens.
        c.ask("DELETE")
        assert listening.next() is None
        for connection in silent + idle:
            connection.close()


def who_left_is_not_waited_for(s):
    """Gone before the answer, in the midst of it, and in the midst of a question to them."""
    c = Client(s)
    c.open(sampling={})
    project, _, reader = two_agents(c)
    for body in (request("tools/list"), call("wait_for_mail", project_key=project, agent_name=reader, timeout_seconds=300),
            call("test_tool_with_logging"), call("test_sampling", prompt="?")):
        data = json.dumps(body)
        for _ in range(8):
            connection = raw(s)
            connection.sendall((f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: {BOTH}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n{data}").encode())
            connection.close()
    is_well(s, c)


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


SHARED = [who_waits_holds_up_nobody, slow_readers_get_all_in_the_end, who_never_reads_its_stream_is_cut_off,
    who_listens_and_never_reads_is_cut_off, who_left_is_not_waited_for, many_post_at_once]
OWN = [so_many_may_wait_over_mcp, so_many_may_wait_without_mcp, so_many_streams_are_open,
    writers_that_are_stuck_hold_up_no_reader, half_a_request_takes_no_worker, silence_makes_room]


def main():
    with Tap() as tap, Mailroom(sys.argv[1]) as m:
        with m.serve(env={"MCP_CONFORMANCE_FIXTURES": "true", "MCP_TOOLS_MODE": "extended",
            "MCP_TOOLS_DETAIL": "full"}) as server:
            for test in SHARED:
                tap.run(test.__name__, test, server)
            tap.run("the server ends well", lambda: None if server.stop() == 0 else 1 / 0)
        for test in OWN:
            tap.run(test.__name__, test, m)


main()
