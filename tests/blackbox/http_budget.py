"""usage: http_budget.py PROGRAM - many large requests at once: the server refuses some, and stays small."""

import concurrent.futures
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from raw import Raw  # noqa: E402
from tap import Tap  # noqa: E402
from tokens import hs256  # noqa: E402

TIMEOUT_S = 120
MIB = 1 << 20
BUSY = b'{"detail":"The server has too much in flight to take this request"}'
POST = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
JWT = {"HTTP_JWT_ENABLED": "1", "HTTP_JWT_SECRET": "jwt-secret"}


def peak_bytes(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))


def head(path="/mcp", length=None, **headers):
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json",
        "Accept: application/json, text/event-stream"]
    lines += [f"{k.replace('_', '-')}: {v}" for k, v in headers.items()]
    lines += [] if length is None else [f"Content-Length: {length}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def call(text):
    """A tool call of about the size of `text`, which the server parses, and refuses in the tool."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "send_message",
        "arguments": {"project_key": "/nowhere", "sender_name": "x", "to": ["y"], "subject": "s",
            "body_md": text}}}).encode()


def eventually(ask):
    """The answer, once it is not 503: a request's share is given back after its answer was sent."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        answer = ask()
        if answer[0] != 503:
            return answer
        assert time.monotonic() < deadline, answer


def fill(server, length, **headers):
    """A connection whose request has announced that length, and is let in: it is told to continue."""
    def ask():
        raw = Raw(server)
        raw.say(head(length=length, Expect="100-continue", **headers))
        return raw.hear()[0], raw

    status, raw = eventually(ask)
    assert status == 100, status
    return raw


def what_does_not_fit_is_refused(m):
    """8 MiB of budget, six times what a body counts: one of 1 MiB fits, and no second one."""
    with m.serve(env={"HTTP_MAX_INFLIGHT_BYTES": str(8 * MIB)}) as server:
        with fill(server, MIB) as first:
            for headers, body in (({"Expect": "100-continue"}, b""), ({}, b"x" * MIB)):
                with Raw(server) as second:
                    second.say(head(length=MIB, **headers) + body)
                    status, answered, text = second.hear()
                    assert (status, text, answered["Retry-After"]) == (503, BUSY, "1"), (status, text, answered)
            # Small ones find room, and so does what has no body.
            assert server.request("POST", "/mcp", POST, "{}")[0] == 400
            assert server.get("/api-docs/openapi.json")[0] == 200
            # Chunks are counted as they come.
            with Raw(server) as third:
                third.say(head(Transfer_Encoding="chunked"))
                for _ in range(16):
                    third.say(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
                third.say(b"0\r\n\r\n")
                status, answered, text = third.hear()
                assert (status, text, answered["Retry-After"]) == (503, BUSY, "1"), (status, text, answered)
            first.say(b" " * MIB)
            assert first.hear()[0] == 400
            # The share of a request is free again when the next one on its connection begins.
            first.say(head(length=MIB, Expect="100-continue"))
            assert first.hear()[0] == 100


def who_leaves_gives_it_back(m):
    with m.serve(env={"HTTP_MAX_INFLIGHT_BYTES": str(8 * MIB)}) as server:
        for _ in range(20):
            fill(server, MIB).close()
            eventually(lambda: server.request("POST", "/mcp", POST, b" " * MIB))


def a_body_larger_than_the_budget_is_taken_alone(m):
    with m.serve(env={"HTTP_MAX_INFLIGHT_BYTES": str(2 * MIB)}) as server:
        for _ in range(3):
            status, _, text = eventually(lambda: server.request("POST", "/mcp", POST, b" " * 4 * MIB))
            assert status == 400, (status, text)
        with fill(server, 4 * MIB):
            # Small ones still begin; another large one does not.
            assert server.request("POST", "/mcp", POST, "{}")[0] == 400
            status, headers, text = server.request("POST", "/mcp", POST, b" " * MIB)
            assert (status, text.encode(), headers["Retry-After"]) == (503, BUSY, "1"), (status, text)
            assert server.get("/health/liveness")[0] == 200
        eventually(lambda: server.request("POST", "/mcp", POST, b" " * MIB))


def strangers_bodies_are_not_kept(m):
    """With JWT the token is checked before the body is asked for."""
    with m.serve(env={**JWT, "HTTP_MAX_INFLIGHT_BYTES": str(8 * MIB)}) as server:
        good = f"Bearer {hs256({'sub': 'x', 'role': 'admin', 'exp': int(time.time()) + 600})}"
        bad = f"Bearer {hs256({'sub': 'x', 'exp': int(time.time()) + 600}, 'another-secret')}"
        # Said before anything is sent: 401 to one, 100 to the other.
        with Raw(server) as raw:
            raw.say(head(length=4 * MIB, Authorization=bad, Expect="100-continue"))
            assert raw.hear()[::2] == (401, b'{"detail":"Unauthorized"}')
            assert raw.hear()[0] is None
        with fill(server, 10, Authorization=good) as raw:
            raw.say(b" " * 10)
            assert raw.hear()[0] == 400
        # Whoever sends without asking is answered after the last byte, and takes nothing of the budget.
        strangers = []
        for _ in range(5):
            raw = Raw(server)
            raw.say(head(length=MIB, Authorization=bad) + b"x" * 1000)
            strangers.append(raw)
        status, _, text = server.request("POST", "/mcp", {**POST, "Authorization": good},
            b" " * MIB)
        assert status == 400, (status, text)
        for raw in strangers:
            raw.say(b"x" * (MIB - 1000))
            assert raw.hear()[0] == 401
            # And may go on.
            raw.say(head(length=1, Authorization=good) + b" ")
            assert raw.hear()[0] == 400
            raw.close()
        # Pipelined and byte by byte.
        with Raw(server) as raw:
            raw.say((head(length=3, Authorization=good) + b"   ") * 3)
            assert [raw.hear()[0] for _ in range(3)] == [400] * 3
            raw.say(head(length=2, Authorization=good) + b"  ", in_bytes=True)
            assert raw.hear()[0] == 400


def send_all(server, body):
    """The answer to one request, on a connection of its own."""
    return server.request("POST", "/mcp", POST, body)


def many_large_bodies_leave_it_small(m):
    """Three hundred connections with 4 MiB each, in a server that may use 24 MiB for them."""
    bodies = (call("word " * (4 * MIB // 5 - 200)), b"[" + b"0," * 199000 + b"0]",
        call("\\u00e9\n" * (MIB // 4)))
    env = {"HTTP_MAX_INFLIGHT_BYTES": str(24 * MIB),
        # What was freed is not to be kept, or it is not the server that is measured.
        "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64"}
    with m.serve(env=env) as server:
        for body in bodies:
            eventually(lambda: send_all(server, body))
        # What one request costs is known now, also to a sanitizer: many may cost a little more.
        alone = peak_bytes(server)
        done = []

        def burst():
            """The server may still be busy with the body before, which leaves no room for these: then once more."""
            with concurrent.futures.ThreadPoolExecutor(100) as pool:
                done.extend(answer[0] for answer in pool.map(lambda n: send_all(server, bodies[n % 3]), range(300)))
            return [min(done)]

        eventually(burst)
        peak = peak_bytes(server)
        print(f"# {alone >> 20} MiB after one of each, {peak >> 20} MiB after 300 at once;"
            f" {done.count(503)} were refused", flush=True)
        assert 0 < done.count(503) < len(done), set(done)
        assert peak < alone + 32 * MIB, (alone, peak)
        assert server.get("/health")[0] == 200


def it_can_be_too_small(m):
    done = m.run("serve", "--port", "0", env={"HTTP_MAX_INFLIGHT_BYTES": "1000"})
    assert done.returncode != 0 and "max_inflight_bytes must be 1048576 to" in done.stderr, done


with Tap() as tap:
    for case in (what_does_not_fit_is_refused, who_leaves_gives_it_back,
            a_body_larger_than_the_budget_is_taken_alone, strangers_bodies_are_not_kept,
            many_large_bodies_leave_it_small, it_can_be_too_small):
        with Mailroom(sys.argv[1]) as room:
            tap.run(case.__name__, case, room)
