"""usage: mcp_trouble.py PROGRAM - MCP over HTTP as attackers and broken programs speak it; each with its exact answer."""

import json
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import TIMEOUT_S, Mailroom  # noqa: E402
from tap import Tap  # noqa: E402
from tokens import Issuer, RsaKey, hs256, unsigned  # noqa: E402
from wire import BOTH, Client, call, expect, modern_call, request, two_agents  # noqa: E402

LIMIT = 4 << 20
HOST = {"detail": "This Host is not served here"}
ORIGIN = {"detail": "Requests from this Origin are not allowed"}
FORBIDDEN, UNAUTHORIZED = {"detail": "Forbidden"}, {"detail": "Unauthorized"}
LAST = "Connection: close"
WRITE = call("ensure_project", human_key="/srv/trouble")


def answers(s, data):
    """[(status, text)] of what the server says to these bytes until it hangs up."""
    data = data if isinstance(data, bytes) else data.encode("latin-1")
    with socket.create_connection(s.address.split(":"), timeout=TIMEOUT_S) as raw:
        got = b""
        try:
            raw.sendall(data)
            raw.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has hung up before it read all
        try:
            while piece := raw.recv(1 << 16):
                got += piece
        except ConnectionResetError:
            pass
    found = []
    while got.startswith(b"HTTP/1.1 "):
        head, _, rest = got.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        found.append((int(head[9:12]), rest[:length].decode("utf-8")))
        got = rest[length:]
    return found


def post(body=None, *lines, method="POST", path="/mcp", version="HTTP/1.1", host="Host: localhost"):
    """The bytes of a request."""
    body = json.dumps(request("ping")) if body is None else body
    head = [f"{method} {path} {version}", host, f"Accept: {BOTH}", "Content-Type: application/json", *lines]
    if not [line for line in lines if "content-length" in line.lower() or "transfer-encoding" in line.lower()]:
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join([line for line in head if line] + ["", body])


def is_ping(answer):
    return answer[0] == 200 and json.loads(answer[1]) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def said(answer, status, detail):
    assert answer[0] == status and json.loads(answer[1]) == {"detail": detail}, answer


# ---- bodies ----


def the_largest_body_is_taken(s):
    c = Client(s)
    empty = len(json.dumps(request("ping", {"x": ""})))
    fits = json.dumps(request("ping", {"x": "y" * (LIMIT - empty)}))
    assert len(fits) == LIMIT and c.post(fits)[2]["result"] == {}
    too_large = {"detail": f"The body is larger than {LIMIT} bytes"}
    for more in (1, 1 << 16):
        status, _, answer = c.post(fits + " " * more)
        assert (status, answer) == (413, too_large), answer
    # By what arrives, where no length was given.
    chunk = "100000\r\n" + "y" * (1 << 20) + "\r\n"
    first, = answers(s, post(chunk * 4 + "1\r\ny\r\n0\r\n\r\n", "Transfer-Encoding: chunked"))
    assert first[0] == 413 and json.loads(first[1]) == too_large, first


def answers_too_long_for_a_stream_say_so(s):
    plain, session = Client(s), Client(s)
    session.open()
    project, sender, reader = two_agents(plain)
    for _ in range(3):
        sent = plain.post(call("send_message", project_key=project, sender_name=sender, to=[reader], subject="s",
            body_md="x" * 900000))[2]["result"]
        assert not sent["isError"], sent
    wait = {"project_key": project, "agent_name": reader, "since": "0", "timeout_seconds": 5, "include_bodies": True}
    for c in (plain, session):
        status, _, messages = c.post(call("wait_for_mail", **wait))
        expect((status, None, messages[-1]), 200, -32603, 1)
        assert messages[-1]["error"]["message"] == \
            "the answer is longer than 3932160 bytes: ask for less (limit, max_chars)", messages[-1]
        less = c.post(call("wait_for_mail", **wait, limit=2))[2][-1]["result"]
        assert len(less["structuredContent"]["messages"]) == 2, less.keys()


def values_have_limits(s):
    c = Client(s)
    for params, message in (({"x": json.loads("[" * 70 + "]" * 70)}, "JSON is nested deeper than 64"),
            ({"x": [1] * 250000}, "JSON has more than 200000 values")):
        answer = c.post(request("ping", params))
        expect(answer, 400, -32700)
        assert answer[2]["error"]["message"].startswith(message), answer
    for body in ("[" * 1000000, '{"a":' * 500000, '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e999999}}',
            '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + "9" * 100000 + "}}",
            '{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}', '{"jsonrpc":"2.0","id":01,"method":"ping"}',
            '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}'):
        expect(c.post(body), 400, -32700)


def texts_are_utf8(s):
    c = Client(s)
    for bad in (b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\\ud800", b"a\\u0000b", b"a\0b", b"\x01"):
        expect(c.post(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + bad + b'"}}'), 400, -32700)
    ping = json.dumps(request("ping"))
    for bad in (b"\xef\xbb\xbf" + ping.encode(), ping.encode("utf-16"), ping.encode() + b"\0", (ping + ping).encode()):
        expect(c.post(bad), 400, -32700)
    assert c.post(request("ping", {"x": "\U0010ffff é \u2028"}))[2]["result"] == {}
    assert c.post("\n\t " + ping + " \r\n")[2]["result"] == {}


def ids_are_said_again_as_they_were(s):
    c = Client(s)
    for id in (0, -1, 2**63 - 1, -2**63, "", "é\n\"", "x" * 1024, "1", "null"):
        assert c.post(request("ping", id=id))[2] == {"jsonrpc": "2.0", "id": id, "result": {}}
    for id in ("x" * 1025, "x" * 100000, 1.0, 1e2, True, [1], {"a": 1}, None):
        expect(c.post(request("ping", id=id)), 400, -32700)


def notices_are_never_answered(s):
    """What has no id is not done, whatever it is called; what nobody waits for is let go."""
    c = Client(s)
    c.open()
    for body in ({"jsonrpc": "2.0", "method": "tools/call", "params": WRITE["params"]},
            {"jsonrpc": "2.0", "method": "initialize", "params": {"protocolVersion": "2025-11-25"}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled"},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {"a": [1]}}},
            {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": [], "progress": "x"}},
            {"jsonrpc": "2.0", "id": "unasked", "result": None},
            {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}}):
        for who in (c, Client(s)):
            status, headers, text = who.post(body)
            assert (status, text, headers["Mcp-Session-Id"]) == (202, "", None), (status, text, headers.items())
    listed = c.post(request("resources/read", {"uri": "resource://projects"}))[2]["result"]["contents"][0]["text"]
    assert "/srv/trouble" not in listed, listed
    expect(c.post(request("notifications/initialized")), 200, -32601, 1)
    expect(c.post({"jsonrpc": "2.0", "id": None, "result": {}}), 400, -32700)


def odd_progress_tokens_are_not_used(s):
    c = Client(s)
    for token, count in (("p", 4), (7, 4), ("", 4), (1.5, 1), (None, 1), (True, 1), ([], 1), ({}, 1), ("x" * 100000, 1)):
        answer = c.post(request("tools/call", {"name": "test_tool_with_progress", "arguments": {},
            "_meta": {"progressToken": token}}))
        assert answer[0] == 200 and len(answer[2]) == count and answer[2][-1]["id"] == 1, answer
        assert all(message["params"]["progressToken"] == token for message in answer[2][:-1]), answer


# ---- HTTP ----


def bodies_may_come_in_any_pieces(s):
    ping = json.dumps(request("ping"))
    size, te = len(ping), "Transfer-Encoding: chunked"
    for body in ("".join(f"1\r\n{byte}\r\n" for byte in ping) + "0\r\n\r\n", f"{size:x};a=b\r\n{ping}\r\n0\r\n\r\n",
            f"000{size:X}\r\n{ping}\r\n0\r\n\r\n", f"{size:x}\r\n{ping}\r\n0\r\nX-Trailer: 1\r\nHost: evil\r\n\r\n"):
        got = answers(s, post(body, te, LAST))
        assert len(got) == 1 and is_ping(got[0]), (body, got)
    for size in ("zz", "-1", "0x10", "+5", "", " "):
        (status, _), = answers(s, post(f"{size}\r\n{ping}\r\n0\r\n\r\n", te))
        assert status == 400, (size, status)
    assert answers(s, post(f"ffffffffffffffff\r\n{ping}\r\n0\r\n\r\n", te))[0][0] == 400
    # Never there: no answer, and no worker waits for it.
    for body in (f"{len(ping) + 5:x}\r\n{ping}", ""):
        assert answers(s, post(body, te)) == [], body


def lengths_are_clear(s):
    ping = json.dumps(request("ping"))
    for lines, detail in ((("Content-Length: 5", "Transfer-Encoding: chunked"),
                "Content-Length and Transfer-Encoding exclude each other"),
            ((f"Content-Length: {len(ping)}", "Content-Length: 3"), "more than one Content-Length"),
            ((f"Content-Length: {len(ping)}", f"content-length: {len(ping)}"), "more than one Content-Length"),
            (("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), "more than one Transfer-Encoding"),
            (("Transfer-Encoding: gzip, chunked",), "the only Transfer-Encoding understood is chunked"),
            (("Transfer-Encoding: identity",), "the only Transfer-Encoding understood is chunked"),
            (("Transfer-Encoding : chunked",), "white space before a header's colon"),
            (("Content-Length : 3",), "white space before a header's colon"),
            (("Content-Length: 18446744073709551615",), "Content-Length is not a length")):
        # Where the next request would begin nobody knows: there is none.
        got = answers(s, post(ping, *lines) + post())
        assert len(got) == 1, (lines, got)
        said(got[0], 400, detail)
    for length in ("+5", "-1", "0x10", "5 5", "5,5", "1e3", "5;"):
        assert answers(s, post(ping, f"Content-Length: {length}"))[0][0] == 400, length


def headers_that_decide_stand_once(s):
    for name, value, other in (("Origin", s.url, "http://evil.example"), ("Authorization", "Bearer a", "Bearer b"),
            ("Content-Type", "application/json", "text/plain"), ("Mcp-Session-Id", "a", "b"),
            ("MCP-Protocol-Version", "2025-11-25", "2025-03-26"), ("Mcp-Method", "ping", "tools/call"),
            ("Mcp-Name", "a", "b"), ("Last-Event-ID", "0-0", "1-0")):
        lines = (f"{name}: {value}", f"{name.lower()}: {other}")
        got = answers(s, post(None, *lines[name == "Content-Type":]))
        assert len(got) == 1, got
        said(got[0], 400, f"more than one {name}")
    said(answers(s, post(None, "Host: localhost"))[0], 400, "more than one Host")
    assert answers(s, post(None, host=""))[0][0] == 400
    for line, detail in (("X Y: 1", "white space before a header's colon"), ("X\t: 1", "white space before a header's colon"),
            ("\xe9: 1", "the name of a header is not a token"), ("(x): 1", "the name of a header is not a token")):
        said(answers(s, post(None, line))[0], 400, detail)
    # Lists may be written in two lines.
    got = answers(s, post(None, "X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 192.0.2.2", LAST))
    assert is_ping(got[0]), got


def headers_have_a_limit(s):
    for lines in (["a: b"] * 800, ["X: " + "x" * 8192]):
        got = answers(s, post(None, *lines))
        assert got[0][0] == 431, got
    # It does not read on: the answer may be lost with what was not read.
    for lines in (["a: b"] * 20000, ["X: " + "x" * 100000]):
        got = answers(s, post(None, *lines))
        assert not got or got[0][0] == 431, got


def targets_and_methods(s):
    for method in ("post", "Post", "PUT", "PATCH", "CONNECT", "A" * 100):
        said(answers(s, post(None, LAST, method=method))[0], 405, "Method Not Allowed")
    for path, status, detail in (("http://localhost/mcp", 400, "The path cannot be read"),
            ("http://evil.example/mcp", 400, "The path cannot be read"), ("*", 400, "The path cannot be read"),
            ("mcp", 400, "The path cannot be read"), ("//mcp", 404, "Not Found"), ("/mcp/../mcp", 404, "Not Found"),
            ("/mcp/%2e%2e/mcp", 404, "Not Found"), ("/mcp%00", 404, "Not Found"), ("/mcp;x", 404, "Not Found"),
            ("/mcp?%zz", 400, "The query cannot be read")):
        said(answers(s, post(None, LAST, path=path))[0], status, detail)
    for version, status in (("HTTP/0.9", 505), ("HTTP/2.0", 505), ("http/1.1", 400), ("FOO/1.1", 400), ("HTTP/11", 400)):
        assert answers(s, post(None, LAST, version=version))[0][0] == status, version
    for noise in (b"\0" * 1000, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500, b"\r\n" * 100):
        got = answers(s, noise)
        assert len(got) == 1 and got[0][0] == 400, (noise, got)
    assert answers(s, b"GET") == []
    assert answers(s, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")[0][0] == 505


def requests_may_follow_at_once(s):
    """Pipelined: answered in their order, also where one of them is wrong and where one is slow."""
    slow = json.dumps(request("tools/list", id="slow"))
    got = answers(s, post(slow) + post() + post("{") + post(None, method="PUT") + post(None, LAST))
    assert [status for status, _ in got] == [200, 200, 400, 405, 200], got
    assert json.loads(got[0][1])["id"] == "slow" and is_ping(got[1]) and is_ping(got[4])
    assert json.loads(got[2][1])["error"]["code"] == -32700
    got = answers(s, post() + "nonsense\r\n\r\n" + post())
    assert is_ping(got[0]) and len(got) <= 2, got


# ---- pages of other sites ----


def names_that_were_rebound_are_not_served(s):
    """DNS rebinding: a page's own name comes to point here, and the browser sends it along."""
    c = Client(s)
    port = s.address.split(":")[1]
    for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example",
            "evil@localhost", "localhost@evil.example", "localhost, evil.example", "0.0.0.0", "127.1", "2130706433",
            "localhost.", "localhost:", "localhost:x", "[::1", "http://localhost", ""):
        for method in ("POST", "GET", "DELETE", "OPTIONS"):
            status, headers, answer = c.ask(method, request("ping") if method == "POST" else None, Host=host)
            assert (status, answer) == (403, HOST), (host, method, status, answer)
            assert not [h for h in headers if h.startswith("Access-Control")], headers.items()
    for host in ("localhost", f"localhost:{port}", "LOCALHOST", "127.0.0.1", f"127.0.0.1:{port}", "[::1]", "[::1]:80"):
        assert c.post(request("ping"), Host=host)[0] == 200, host


def pages_of_other_sites_are_refused(s):
    """Cross-site POST: also what a form can send without asking before."""
    c = Client(s)
    port = s.address.split(":")[1]
    for origin in ("http://evil.example", "https://evil.example", "null", "http://localhost.evil.example",
            "http://evil.example:" + port, "file://", "chrome-extension://abc", "http://localhost@evil.example", ""):
        for type in ("application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            status, headers, answer = c.post(WRITE, Origin=origin, Content_Type=type)
            assert (status, answer) == (403, ORIGIN), (origin, type, status, answer)
            assert not [h for h in headers if h.startswith("Access-Control")], headers.items()
        status, _, answer = c.ask("OPTIONS", Origin=origin, Access_Control_Request_Method="POST",
            Access_Control_Request_Headers="content-type")
        assert (status, answer) == (403, ORIGIN), (origin, status, answer)
    # Without an Origin it is still no form's: they cannot say application/json.
    for type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        expect(c.post(WRITE, Content_Type=type), 415, -32000)
    assert c.post(request("ping"), Origin=s.url)[0] == 200
    assert c.post(request("ping"), Origin=f"http://localhost:{port}")[0] == 200


# ---- who asks ----


def forged_headers_make_nobody_local(m):
    forged = ({"X_Forwarded_For": "127.0.0.1"}, {"X_Forwarded_For": "127.0.0.1, 127.0.0.1"}, {"X_Forwarded_For": "::1"},
        {"X_Forwarded_For": ""}, {"Forwarded": "for=127.0.0.1"}, {"Forwarded": 'for="[::1]"'},
        {"X_Real_IP": "127.0.0.1"}, {"X_Forwarded_Host": "localhost"}, {"X_Forwarded_Proto": "https"},
        {"Via": "1.1 localhost"})
    for env in ({}, {"HTTP_TRUSTED_PROXIES": "127.0.0.1"}, {"HTTP_TRUSTED_PROXIES": "127.0.0.0/8,::1"}):
        with m.serve(env={"HTTP_BEARER_TOKEN": "hunter2", **env}) as server:
            c = Client(server)
            for headers in forged:
                status, told, answer = c.post(WRITE, **headers)
                assert (status, answer, told["WWW-Authenticate"]) == (401, UNAUTHORIZED, "Bearer"), (headers, status)
                assert c.post(WRITE, **headers, Authorization="Bearer hunter2")[0] == 200, headers
            assert c.post(WRITE)[0] == 200
    # Where there is no token, strangers read and nothing else.
    with m.serve() as server:
        c = Client(server)
        for headers in forged:
            status, _, answer = c.post(WRITE, **headers)
            assert (status, answer) == (403, FORBIDDEN), (headers, status, answer)
            assert c.post(request("ping"), **headers)[0] == 200


def tokens_that_were_not_signed_are_refused(m):
    """alg:none, a public key used as the secret, tokens past their time: the same answer to all."""
    now = int(time.time())
    good = {"sub": "alice", "role": "writer", "exp": now + 600}
    key, other = RsaKey(m.dir, "k1"), RsaKey(m.dir, "k2")
    none = [unsigned({"alg": alg, "typ": "JWT", "kid": "k1"}, good) + end for alg in ("none", "None", "NONE", "")
        for end in (".", "", ".x")]
    confused = [hs256(good, secret, kid="k1") for secret in (key.public("PEM"), key.public("PEM").strip(),
        key.public("DER"), key.jwk["n"], json.dumps(key.jwk), "", "k1")]
    late = {"exp": (now - 61, now - 3600, 0, -1, "x", None), "nbf": (now + 120,), "iat": (now + 120,)}
    with Issuer(key.jwk) as issuer:
        for algorithms in ("RS256", "RS256,HS256"):
            env = {"HTTP_JWT_ENABLED": "1", "HTTP_JWT_ALGORITHMS": algorithms, "HTTP_JWT_JWKS_URL": issuer.url,
                "HTTP_RATE_LIMIT_FAILURES_PER_MINUTE": "0"}
            if "HS256" in algorithms:
                env["HTTP_JWT_SECRET"] = "jwt-secret"
            with m.serve(env=env) as server:
                c = Client(server)
                assert c.post(WRITE, Authorization=f"Bearer {key.rs256(good)}")[0] == 200
                bad = none + confused + [hs256(good, kid="k1"), other.rs256(good, kid="k1"), key.rs256(good) + "A",
                    key.rs256(good)[:-4], key.rs256(good, alg="HS256"), key.rs256(good, alg="none"), "..", "x"]
                bad += [key.rs256({**good, claim: value}) for claim, values in late.items() for value in values]
                for token in bad:
                    for body in (WRITE, request("ping")):
                        status, told, answer = c.post(body, Authorization=f"Bearer {token}")
                        assert (status, answer) == (401, UNAUTHORIZED), (algorithms, token, status, answer)
                        assert told["WWW-Authenticate"] == "Bearer", told.items()
                assert c.post(request("ping"))[0] == 401


# ---- what was somebody else's ----


def sessions_of_another_server_are_unknown(m):
    with m.serve() as first:
        c = Client(first)
        c.open()
        ended = Client(first)
        ended.open()
        assert ended.ask("DELETE")[0] == 200
        for method in ("POST", "GET", "DELETE"):
            expect(ended.ask(method, request("ping") if method == "POST" else None), 404, -32001)
    with m.serve() as second:
        c.server = second
        for method in ("POST", "GET", "DELETE"):
            expect(c.ask(method, request("ping") if method == "POST" else None), 404, -32001)
        # It introduces itself again, as a client does that is told so.
        c.session = c.version = None
        c.open()
        assert c.post(request("ping"))[0] == 200


def events_of_others_are_not_replayed(m):
    env = {"MCP_CONFORMANCE_FIXTURES": "true", "HTTP_BEARER_TOKENS": "alice-token:writer,bob-token:writer"}
    with m.serve(env=env) as server:
        alice, bob = {"Authorization": "Bearer alice-token"}, {"Authorization": "Bearer bob-token"}
        sessions = {}
        for name, who in (("alice", alice), ("bob", bob)):
            c = Client(server)
            c.session = c.post(request("initialize", {"protocolVersion": "2025-11-25"}), **who)[1]["Mcp-Session-Id"]
            c.post(call("test_tool_with_logging", id=f"of {name}"), **who)
            sessions[name] = c
        a, b = sessions["alice"], sessions["bob"]
        # Both have a stream 1: each is shown its own, whatever the other's id was.
        for c, who, name in ((a, alice, "alice"), (b, bob, "bob")):
            found = c.ask("GET", Last_Event_ID="1-3", **who)[2]
            assert [message["id"] for message in found] == [f"of {name}"], found
        for who in (bob, {}):
            expect(a.ask("GET", Last_Event_ID="1-3", **who), 404, -32001)
        for id in ("2-0", "1-5", "1-3,1-4", "+1-3", "1-0x3", "0-18446744073709551616", "é-1"):
            expect(a.ask("GET", Last_Event_ID=id.encode("utf-8"), **alice), 400, -32000)


def states_are_for_who_got_them(m):
    """requestState: not another's, not another server's, not another request's."""
    env = {"MCP_CONFORMANCE_FIXTURES": "true", "HTTP_BEARER_TOKENS": "alice-token:writer,bob-token:writer"}
    tool, able = "test_input_required_result_request_state", {"elicitation": {}}
    said = {"confirm": {"action": "accept", "content": {"ok": True}}}
    alice, bob = {"Authorization": "Bearer alice-token"}, {"Authorization": "Bearer bob-token"}

    def again(c, state, headers, name=tool):
        return modern_call(c, name, 8, able, None, headers, inputResponses=said, requestState=state)

    with m.serve(env=env) as server:
        c = Client(server)
        state = modern_call(c, tool, 8, able, None, alice)[2]["result"]["requestState"]
        for who in (bob, {}):
            expect(again(c, state, who), 200, -32602, 8)
        expect(again(c, state, alice, "test_input_required_result_tampered_state"), 200, -32602, 8)
        for at in (0, len(state) // 2, len(state) - 1):
            bad = state[:at] + ("A" if state[at] != "A" else "B") + state[at + 1:]
            expect(again(c, bad, alice), 200, -32602, 8)
        assert again(c, state, alice)[2]["result"]["content"][0]["text"] == "state-ok"
    with m.serve(env=env) as server:
        expect(again(Client(server), state, alice), 200, -32602, 8)


SHARED = [the_largest_body_is_taken, answers_too_long_for_a_stream_say_so, values_have_limits, texts_are_utf8, ids_are_said_again_as_they_were,
    notices_are_never_answered, odd_progress_tokens_are_not_used, bodies_may_come_in_any_pieces, lengths_are_clear,
    headers_that_decide_stand_once, headers_have_a_limit, targets_and_methods, requests_may_follow_at_once,
    names_that_were_rebound_are_not_served, pages_of_other_sites_are_refused]
OWN = [forged_headers_make_nobody_local, tokens_that_were_not_signed_are_refused,
    sessions_of_another_server_are_unknown, events_of_others_are_not_replayed, states_are_for_who_got_them]


def main():
    with Tap() as tap, Mailroom(sys.argv[1]) as m:
        with m.serve(env={"MCP_CONFORMANCE_FIXTURES": "true"}) as server:
            for test in SHARED:
                tap.run(test.__name__, test, server)
            tap.run("the server ends well", lambda: None if server.stop() == 0 else 1 / 0)
        for test in OWN:
            tap.run(test.__name__, test, m)


main()
