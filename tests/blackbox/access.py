"""usage: access.py PROGRAM - who may ask the server: tokens, roles, proxies, limits, other origins."""

import http.server
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402
from tokens import b64, hs256, openssl, unsigned  # noqa: E402

# A request that did not come from this machine: somebody passed it on.
REMOTE = {"X-Forwarded-For": "198.51.100.7"}
THREE = "reader-token:reader,writer-token:writer,admin-token:admin"
FORBIDDEN = '{"detail":"Forbidden"}'
UNAUTHORIZED = '{"detail":"Unauthorized"}'


def bearer(token, **more):
    return {"Authorization": f"Bearer {token}", **{k.replace("_", "-"): v for k, v in more.items()}}


def tool(server, name, headers=None, /, **arguments):
    return server.request("POST", f"/api/tools/{name}", {"Content-Type": "application/json", **(headers or {})},
        json.dumps(arguments))


def rpc(server, message, headers=None):
    return server.request("POST", "/mcp", {"Content-Type": "application/json",
        "Accept": "application/json, text/event-stream", **(headers or {})}, json.dumps(message))


def call(number, name, /, **arguments):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def expect(answer, status, text=None):
    assert answer[0] == status, answer[::2]
    assert text is None or answer[2] == text, answer[2]
    return answer


# ---- tokens and this machine ----

def this_machine_needs_no_token(m):
    with m.serve(env={"HTTP_BEARER_TOKEN": "hunter2"}) as server:
        expect(server.get("/metrics"), 200)
        expect(tool(server, "ensure_project", human_key="/p"), 200)
        # A token that is shown is not asked for: a wrong one does no harm here.
        expect(server.get("/metrics", Authorization="Bearer wrong"), 200)


def others_need_one(m):
    with m.serve(env={"HTTP_BEARER_TOKEN": "hunter2", "HTTP_REQUEST_LOG_ENABLED": "1"}) as server:
        for path in ("/metrics", "/mcp", "/nowhere", "/api/tools/whois"):
            for more in ({}, {"Authorization": "Bearer hunter3"}, {"Authorization": "hunter2"},
                    {"Authorization": "Basic hunter2"}, {"Authorization": "Bearer hunter2x"}):
                _, headers, _ = expect(server.request("GET", path, {**REMOTE, **more}), 401, UNAUTHORIZED)
                assert headers["WWW-Authenticate"] == "Bearer", headers
        expect(server.request("GET", "/metrics", {**REMOTE, **bearer("hunter2")}), 200)
        expect(server.request("GET", "/metrics", {**REMOTE, "Authorization": "bearer  hunter2"}), 200)
        expect(server.request("GET", "/nowhere", {**REMOTE, **bearer("hunter2")}), 404)
        # Health is everybody's.
        for path in ("/health", "/health/liveness", "/health/readiness"):
            expect(server.request("GET", path, REMOTE), 200)
        # Its holder is a writer, not an administrator.
        expect(tool(server, "ensure_project", {**REMOTE, **bearer("hunter2")}, human_key="/p"), 200)
        server.stop()
        assert "hunter" not in server.logged(), server.logged()


def nobody_looks_local_by_a_header(m):
    forged = ({"X-Forwarded-For": "127.0.0.1"}, {"X-Forwarded-For": "localhost"}, {"x-forwarded-for": ""},
        {"Forwarded": "for=127.0.0.1"}, {"Forwarded": 'for="[::1]"'}, {"X-Real-IP": "127.0.0.1"},
        {"X-Forwarded-Host": "localhost"}, {"X-Forwarded-Proto": "http"}, {"Via": "1.1 proxy"})
    for env in ({}, {"HTTP_TRUSTED_PROXIES": "127.0.0.0/8"}):
        with m.serve(env={"HTTP_BEARER_TOKEN": "t", **env}) as server:
            for headers in forged:
                expect(server.request("GET", "/metrics", headers), 401, UNAUTHORIZED)
            expect(server.get("/metrics"), 200)


def a_trusted_proxy_names_the_client(m):
    for proxies, want in (("", "127.0.0.1"), ("127.0.0.1", "198.51.100.7")):
        with m.serve(env={"HTTP_TRUSTED_PROXIES": proxies, "HTTP_REQUEST_LOG_ENABLED": "1"}) as server:
            server.request("GET", "/metrics", REMOTE)
            server.stop()
            logged = [json.loads(line) for line in server.logged().splitlines()]
            assert [e["client_ip"] for e in logged if e["event"] == "http_request"] == [want], logged


def without_a_token_strangers_read(m):
    with m.serve() as server:
        expect(server.request("GET", "/metrics", REMOTE), 200)
        expect(tool(server, "ensure_project", REMOTE, human_key="/p"), 403, FORBIDDEN)
        expect(tool(server, "ensure_project", human_key="/p"), 200)
    # Unless it is asked for although there is none: then nobody gets in.
    with m.serve(env={"HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false"}) as server:
        for headers in ({}, REMOTE):
            expect(tool(server, "ensure_project", headers, human_key="/p"), 401, UNAUTHORIZED)
            expect(server.request("GET", "/metrics", headers), 401, UNAUTHORIZED)
    with m.serve(env={"HTTP_RBAC_DEFAULT_ROLE": "writer"}) as server:
        expect(tool(server, "ensure_project", REMOTE, human_key="/p"), 200)
    with m.serve(env={"HTTP_RBAC_ENABLED": "false"}) as server:
        expect(tool(server, "ensure_project", REMOTE, human_key="/p"), 200)


# ---- roles ----

def roles_decide_what_may_be_called(m):
    with m.serve(env={"HTTP_BEARER_TOKENS": THREE}) as server:
        expect(tool(server, "register_agent", project_key="/p", program="x", model="y", name="BlueLake"), 200)
        expect(tool(server, "register_agent", project_key="/p", program="x", model="y", name="RedFox"), 200)
        reads = (("health_check", {}), ("whois", {"project_key": "/p", "agent_name": "BlueLake"}),
            ("fetch_inbox", {"project_key": "/p", "agent_name": "BlueLake"}),
            ("search_messages", {"project_key": "/p", "query": "x"}))
        writes = (("ensure_project", {"human_key": "/p"}),
            ("send_message", {"project_key": "/p", "sender_name": "BlueLake", "to": ["RedFox"], "subject": "s",
                "body_md": "b"}))
        for name, arguments in reads:
            for role in ("reader", "writer", "admin"):
                expect(tool(server, name, {**REMOTE, **bearer(f"{role}-token")}, **arguments), 200)
        for name, arguments in writes:
            expect(tool(server, name, {**REMOTE, **bearer("reader-token")}, **arguments), 403, FORBIDDEN)
            expect(tool(server, name, {**REMOTE, **bearer("writer-token")}, **arguments), 200)
        # From here too: a token that is shown counts.
        expect(tool(server, "ensure_project", bearer("reader-token"), human_key="/p"), 403, FORBIDDEN)
        # A tool nobody knows might change anything.
        expect(tool(server, "no_such_tool", bearer("reader-token")), 403, FORBIDDEN)
        expect(tool(server, "no_such_tool", bearer("writer-token")), 404, '{"detail":"There is no tool no_such_tool"}')


def some_things_are_for_administrators(m):
    with m.serve(env={"HTTP_BEARER_TOKENS": THREE}) as server:
        expect(tool(server, "register_agent", project_key="/p", program="x", model="y", name="BlueLake"), 200)
        gone = {"project_key": "/p", "name": "BlueLake", "purge": True}
        status, _, text = tool(server, "delete_agent", bearer("writer-token"), **gone)
        assert status == 403, (status, text)
        assert json.loads(text)["error"]["type"] == "PERMISSION_DENIED", text
        status, _, text = tool(server, "delete_agent", bearer("admin-token"), **gone)
        assert status != 403, (status, text)


def the_list_of_readonly_tools_extends(m):
    with m.serve(env={"HTTP_BEARER_TOKENS": THREE, "HTTP_RBAC_READONLY_TOOLS": "ensure_project"}) as server:
        expect(tool(server, "ensure_project", bearer("reader-token"), human_key="/p"), 200)
        expect(tool(server, "register_agent", bearer("reader-token"), project_key="/p", program="x", model="y"), 403,
            FORBIDDEN)


def roles_hold_inside_mcp(m):
    with m.serve(env={"HTTP_BEARER_TOKENS": THREE}) as server:
        reader, writer = bearer("reader-token"), bearer("writer-token")
        write = call(1, "ensure_project", human_key="/p")
        expect(rpc(server, call(1, "health_check"), reader), 200)
        expect(rpc(server, write, reader), 403, FORBIDDEN)
        expect(rpc(server, write, writer), 200)
        expect(rpc(server, call(1, "no_such_tool"), reader), 403, FORBIDDEN)
        expect(rpc(server, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}, reader), 403, FORBIDDEN)
        # One element of a batch is enough, and then nothing of it is done.
        batch = [call(1, "health_check"), call(2, "ensure_project", human_key="/batch")]
        version = {"MCP-Protocol-Version": "2025-03-26"}
        expect(rpc(server, batch, {**reader, **version}), 403, FORBIDDEN)
        expect(rpc(server, batch, {**writer, **version}), 200)
        # Behind another tool it is the same.
        hidden = call(1, "call_extended_tool", tool_name="ensure_project", arguments={"human_key": "/p"})
        expect(rpc(server, hidden, reader), 403, FORBIDDEN)
        expect(rpc(server, hidden, writer), 200)
        expect(rpc(server, write, {**REMOTE, **bearer("nobody")}), 401, UNAUTHORIZED)


def settings_that_cannot_work_are_explained(m):
    for env, words in (({"HTTP_BEARER_TOKENS": "s3cret"}, "http.bearer_tokens: number 1 is not token:role"),
            ({"HTTP_BEARER_TOKENS": "a:reader,s3cret:king"}, "http.bearer_tokens: number 2 is not token:role"),
            ({"HTTP_BEARER_ROLE": "king"}, "must be one of reader, writer, admin"),
            ({"HTTP_TRUSTED_PROXIES": "proxy"}, 'http.trusted_proxies: "proxy" is no address'),
            ({"HTTP_JWT_ENABLED": "1"}, "neither jwt.secret nor jwt.jwks_url"),
            ({"HTTP_JWT_ENABLED": "1", "HTTP_JWT_SECRET": "s3cret", "HTTP_JWT_ALGORITHMS": "none"},
                'jwt.algorithms: "none" is not one of'),
            ({"HTTP_JWT_ENABLED": "1", "HTTP_JWT_JWKS_URL": "http://127.0.0.1:1/"}, "RS256, ES256, EdDSA"),
            ({"HTTP_RATE_LIMIT_BACKEND": "redis"}, "must be one of memory")):
        done = m.run("serve", "--port", "0", env=env)
        assert done.returncode and words in done.stderr and "s3cret" not in done.stderr, describe(done)
    shown = m.run("config", env={"HTTP_BEARER_TOKENS": "s3cret:reader", "HTTP_JWT_SECRET": "s3cret2"})
    assert shown.returncode == 0 and "s3cret" not in shown.stdout, describe(shown)


# ---- JSON Web Tokens ----

def tokens_are_checked(m):
    now = int(time.time())
    good = {"sub": "alice", "role": "writer", "exp": now + 600, "aud": "mail", "iss": "us"}
    env = {"HTTP_JWT_ENABLED": "1", "HTTP_JWT_SECRET": "jwt-secret", "HTTP_JWT_AUDIENCE": "mail",
        "HTTP_JWT_ISSUER": "us", "HTTP_RATE_LIMIT_FAILURES_PER_MINUTE": "0"}
    with m.serve(env=env) as server:
        expect(server.request("GET", "/metrics", bearer(hs256(good))), 200)
        expect(tool(server, "ensure_project", bearer(hs256(good)), human_key="/p"), 200)
        expect(tool(server, "ensure_project", bearer(hs256({**good, "role": "reader"})), human_key="/p"), 403, FORBIDDEN)
        expect(tool(server, "ensure_project", bearer(hs256({**good, "role": ["x", "rw"]})), human_key="/p"), 200)
        expect(tool(server, "health_check", bearer(hs256({**good, "role": "guest"}))), 403, FORBIDDEN)
        for token in (hs256({**good, "exp": now - 120}), hs256({**good, "nbf": now + 120}),
                hs256({**good, "iat": now + 120}), hs256({**good, "aud": "other"}), hs256({**good, "iss": "them"}),
                hs256({k: v for k, v in good.items() if k != "aud"}), hs256(good, "other-secret"), hs256(good)[:-2],
                hs256(good, alg="HS512"), hs256(good, alg="RS256"), hs256(good, alg="none"), hs256(good, crit=["x"]),
                unsigned({"alg": "none"}, good) + ".", unsigned({"alg": "none"}, good), "a.b.c", "..", "x"):
            for headers in ({}, REMOTE):
                _, said, _ = expect(server.request("GET", "/metrics", {**headers, **bearer(token)}), 401, UNAUTHORIZED)
                assert said["WWW-Authenticate"] == "Bearer", said
        # Clocks may differ.
        expect(server.request("GET", "/metrics", bearer(hs256({**good, "exp": now - 30}))), 200)
        # This machine is asked too.
        expect(server.get("/metrics"), 401, UNAUTHORIZED)
        expect(server.get("/health"), 200)


class Keys(http.server.BaseHTTPRequestHandler):
    """An issuer: its answer is the server's `keys`, None for trouble."""

    def do_GET(self):
        self.server.asked += 1
        body = json.dumps({"keys": self.server.keys}).encode() if self.server.keys is not None else b""
        self.send_response(200 if body else 500)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *ignored):
        pass


def keys_are_fetched(m):
    key = os.path.join(m.dir, "key.pem")
    openssl("genpkey", "-algorithm", "ed25519", "-out", key)
    public = openssl("pkey", "-in", key, "-pubout", "-outform", "DER")[-32:]
    jwk = {"kty": "OKP", "crv": "Ed25519", "kid": "k1", "x": b64(public)}

    def eddsa(kid):
        text = unsigned({"alg": "EdDSA", "kid": kid}, {"sub": "alice", "role": "writer", "exp": int(time.time()) + 60})
        m.write("signed", text)
        signed = openssl("pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", os.path.join(m.dir, "signed"))
        return text + "." + b64(signed)

    issuer = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Keys)
    issuer.keys, issuer.asked = [jwk], 0
    threading.Thread(target=issuer.serve_forever, daemon=True).start()
    env = {"HTTP_JWT_ENABLED": "1", "HTTP_JWT_ALGORITHMS": "EdDSA,HS256", "HTTP_JWT_SECRET": "jwt-secret",
        "HTTP_JWT_JWKS_URL": f"http://127.0.0.1:{issuer.server_port}/keys"}
    try:
        with m.serve(env=env) as server:
            for _ in range(5):
                expect(tool(server, "ensure_project", bearer(eddsa("k1")), human_key="/p"), 200)
            assert issuer.asked == 1, issuer.asked
            # A key nobody has; asked for again, but not that soon.
            for _ in range(5):
                expect(server.request("GET", "/metrics", bearer(eddsa("k2"))), 401, UNAUTHORIZED)
            assert issuer.asked == 1, issuer.asked
            # Neither the secret nor the public key as one is good for anything.
            claims = {"role": "admin"}
            for secret in ("jwt-secret", public.decode("latin-1"), jwk["x"], json.dumps(jwk)):
                expect(server.request("GET", "/metrics", bearer(hs256(claims, secret, kid="k1"))), 401, UNAUTHORIZED)
            issuer.keys = None
            expect(server.request("GET", "/metrics", bearer(eddsa("k1"))), 200)
        with m.serve(env=env) as server:
            _, headers, _ = expect(server.request("GET", "/metrics", bearer(eddsa("k1"))), 503,
                '{"detail":"The keys to check tokens with are not there"}')
            assert headers["Retry-After"] == "30", headers
            expect(server.get("/health"), 200)
    finally:
        issuer.shutdown()


# ---- agents ----

def an_agent_is_its_token(m):
    with m.serve(env={"AGENT_AUTH": "require", "HTTP_BEARER_TOKENS": THREE}) as server:
        tokens = {}
        for name in ("BlueLake", "RedFox"):
            _, _, text = expect(tool(server, "register_agent", project_key="/p", program="x", model="y", name=name), 200)
            tokens[name] = json.loads(text)["agent_token"]
        message = {"project_key": "/p", "sender_name": "BlueLake", "to": ["RedFox"], "subject": "s", "body_md": "b"}
        for more in ({}, {"X-Agent-Token": "mra_no"}, {"X-Agent-Token": tokens["RedFox"]}):
            _, _, text = expect(tool(server, "send_message", more, **message), 403)
            error = json.loads(text)["error"]
            assert error["type"] == "PERMISSION_DENIED" and error["data"] == {"agent": "BlueLake"}, text
        expect(tool(server, "send_message", {"X-Agent-Token": tokens["BlueLake"]}, **message), 200)
        expect(tool(server, "send_message", agent_token=tokens["BlueLake"], **message), 200)
        # A proven administrator may act for all, but is not the agent.
        expect(tool(server, "send_message", bearer("admin-token"), **message), 200)
        inbox = {"project_key": "/p", "agent_name": "RedFox", "agent_token": tokens["RedFox"]}
        _, _, text = expect(tool(server, "fetch_inbox", **inbox), 200)
        assert [i.get("from_verified", False) for i in json.loads(text)["result"]] == [False, True, True], text
        # In MCP it is a tool's error, and the argument is advertised.
        _, _, text = expect(rpc(server, call(1, "fetch_inbox", project_key="/p", agent_name="RedFox")), 200)
        assert json.loads(text)["result"]["isError"] is True and "agent_token" in text, text
        _, _, text = expect(rpc(server, call(1, "fetch_inbox", **inbox)), 200)
        assert not json.loads(text)["result"].get("isError"), text
        # A mailbox is as private when it is a resource.
        read = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "resource://inbox/RedFox?project=/p"}}
        _, _, text = expect(rpc(server, read), 200)
        assert "error" in json.loads(text) and "X-Agent-Token" in text, text
        _, _, text = expect(rpc(server, read, {"X-Agent-Token": tokens["RedFox"]}), 200)
        assert len(json.loads(json.loads(text)["result"]["contents"][0]["text"])["messages"]) == 3, text
        _, _, text = expect(rpc(server, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}), 200)
        schemas = {t["name"]: t["inputSchema"]["properties"] for t in json.loads(text)["result"]["tools"]}
        assert "agent_token" in schemas["send_message"] and "agent_token" not in schemas["whois"], schemas
        server.stop()
        assert tokens["BlueLake"] not in server.logged(), server.logged()
    # A lost token: whoever has the machine retires the agent and registers it again.
    m.json("team", "retire", "/p", "BlueLake", env={"AGENT_AUTH": "require"})
    again = m.json("team", "register", "/p", "BlueLake", "--program", "x", "--model", "y", env={"AGENT_AUTH": "require"})
    assert again["agent_token"] not in tokens.values(), again


def without_agent_auth_nothing_changes(m):
    with m.serve() as server:
        _, _, text = expect(tool(server, "register_agent", project_key="/p", program="x", model="y", name="BlueLake"), 200)
        assert "agent_token" not in json.loads(text), text
        _, _, text = expect(rpc(server, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}), 200)
        assert '"agent_token":{"type"' not in text.replace(" ", "").split('"outputSchema"')[0], text
        # Clients that send one anyway are not refused.
        expect(tool(server, "fetch_inbox", project_key="/p", agent_name="BlueLake", agent_token="x"), 200)


# ---- limits ----

def limits_are_told(m):
    env = {"HTTP_RATE_LIMIT_ENABLED": "1", "HTTP_RATE_LIMIT_PER_MINUTE": "2", "HTTP_RATE_LIMIT_TOOLS_PER_MINUTE": "60",
        "HTTP_RATE_LIMIT_TOOLS_BURST": "1", "HTTP_RATE_LIMIT_RESOURCES_PER_MINUTE": "0"}
    with m.serve(env=env) as server:
        for left in ("1", "0"):
            _, headers, _ = expect(server.get("/metrics"), 200)
            assert (headers["RateLimit-Limit"], headers["RateLimit-Remaining"]) == ("2", left), headers
            assert headers["RateLimit-Reset"] in ("30", "60") and headers["Retry-After"] is None, headers
        _, headers, _ = expect(server.get("/metrics"), 429, '{"detail":"Rate limit exceeded"}')
        assert 28 <= int(headers["Retry-After"]) <= 30 and headers["RateLimit-Remaining"] == "0", headers
        # Tools have limits of their own, one each; health has none.
        expect(tool(server, "health_check"), 200)
        _, headers, _ = expect(tool(server, "health_check"), 429, '{"detail":"Rate limit exceeded"}')
        assert headers["Retry-After"] == "1" and headers["RateLimit-Limit"] == "1", headers
        expect(tool(server, "ensure_project", human_key="/p"), 200)
        for _ in range(5):
            expect(server.get("/health"), 200)
    with m.serve(env={**env, "HTTP_RATE_LIMIT_PER_MINUTE": "0", "HTTP_TRUSTED_PROXIES": "127.0.0.1"}) as server:
        for _ in range(5):
            _, headers, _ = expect(server.get("/metrics"), 200)
            assert headers["RateLimit-Limit"] is None, headers
        # By client, as far as its proxy is believed.
        for client, status in (("192.0.2.1", 200), ("192.0.2.1", 429), ("192.0.2.2", 200),
                ("192.0.2.3, 192.0.2.2", 429)):
            expect(tool(server, "health_check", {"X-Forwarded-For": client}), status)
    # In a session the answer is JSON-RPC.
    with m.serve(env=env) as server:
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
            "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
        _, headers, _ = expect(rpc(server, hello), 200)
        session = {"Mcp-Session-Id": headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"}
        expect(rpc(server, call(1, "health_check"), session), 200)
        _, headers, text = expect(rpc(server, call(2, "health_check"), session), 429)
        assert json.loads(text)["error"]["code"] == -32000 and headers["Retry-After"] == "1", text
    # A client cannot make itself another one.
    with m.serve(env=env) as server:
        for client, status in (("192.0.2.1", 200), ("192.0.2.2", 429)):
            expect(tool(server, "health_check", {"X-Forwarded-For": client}), status)


def guessing_has_a_limit(m):
    env = {"HTTP_BEARER_TOKEN": "hunter2", "HTTP_RATE_LIMIT_FAILURES_PER_MINUTE": "3"}
    with m.serve(env=env) as server:
        for number in range(3):
            expect(server.request("GET", "/metrics", {**REMOTE, **bearer(f"guess{number}")}), 401, UNAUTHORIZED)
        for token in ("guess4", "hunter2"):
            _, headers, _ = expect(server.request("GET", "/metrics", {**REMOTE, **bearer(token)}), 429,
                '{"detail":"Rate limit exceeded"}')
            assert 1 <= int(headers["Retry-After"]) <= 20, headers
        # Without a token there is nothing to guess, and this machine goes on.
        expect(server.request("GET", "/metrics", REMOTE), 401, UNAUTHORIZED)
        expect(server.get("/metrics"), 200)


# ---- other origins ----

PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization, mcp-session-id"}
FOREIGN = '{"detail":"Requests from this Origin are not allowed"}'


def without_cors_nothing_is_told(m):
    with m.serve(env={"HTTP_BEARER_TOKEN": "t"}) as server:
        expect(server.request("OPTIONS", "/mcp", {"Origin": "https://ui.example", **PREFLIGHT}), 403, FOREIGN)
        _, headers, _ = expect(server.request("OPTIONS", "/metrics", {"Origin": server.url, **PREFLIGHT}), 405)
        assert not [h for h in headers if h.startswith("Access-Control")], headers.items()
        expect(server.request("OPTIONS", "/metrics", {**REMOTE, **PREFLIGHT}), 401, UNAUTHORIZED)


def listed_origins_may_ask(m):
    env = {"HTTP_CORS_ENABLED": "1", "HTTP_CORS_ORIGINS": "https://ui.example", "HTTP_CORS_ALLOW_CREDENTIALS": "1",
        "HTTP_BEARER_TOKEN": "t"}
    with m.serve(env=env) as server:
        # Before anybody asks who that is.
        _, headers, text = expect(server.request("OPTIONS", "/mcp", {"Origin": "https://ui.example", **PREFLIGHT, **REMOTE}),
            204, "")
        assert headers["Access-Control-Allow-Origin"] == "https://ui.example", headers.items()
        assert headers["Access-Control-Allow-Credentials"] == "true", headers.items()
        assert "POST" in headers["Access-Control-Allow-Methods"] and "DELETE" in headers["Access-Control-Allow-Methods"]
        assert headers["Access-Control-Allow-Headers"] == "authorization, mcp-session-id", headers.items()
        for more, status in (({}, 200), (REMOTE, 401), ({**REMOTE, **bearer("t")}, 200)):
            _, headers, _ = expect(server.request("GET", "/metrics", {"Origin": "https://ui.example", **more}), status)
            assert headers["Access-Control-Allow-Origin"] == "https://ui.example", headers.items()
            assert headers["Access-Control-Expose-Headers"] == "Mcp-Session-Id, MCP-Protocol-Version", headers.items()
            assert headers["Vary"] == "Origin", headers.items()
        for origin in ("https://evil.example", "null", "http://ui.example", "https://ui.example.evil.example"):
            expect(server.request("OPTIONS", "/mcp", {"Origin": origin, **PREFLIGHT}), 403, FOREIGN)
            expect(server.request("GET", "/metrics", {"Origin": origin, **bearer("t")}), 403, FOREIGN)
        # Nor does it help with the Host.
        expect(server.request("GET", "/metrics", {"Origin": "https://ui.example", "Host": "evil.example"}), 403)


def any_origin_needs_a_token(m):
    with m.serve(env={"HTTP_CORS_ENABLED": "1", "HTTP_CORS_ORIGINS": "*", "HTTP_BEARER_TOKEN": "t"}) as server:
        page = {"Origin": "https://evil.example"}
        _, headers, _ = expect(server.request("OPTIONS", "/mcp", {**page, **PREFLIGHT}), 204)
        assert headers["Access-Control-Allow-Origin"] == "*", headers.items()
        assert headers["Access-Control-Allow-Credentials"] is None, headers.items()
        # The browser runs on this machine; the page does not come from it.
        expect(server.request("GET", "/metrics", page), 401, UNAUTHORIZED)
        expect(server.request("GET", "/metrics", {**page, **bearer("t")}), 200)
    with m.serve(env={"HTTP_CORS_ENABLED": "1", "HTTP_CORS_ORIGINS": "*"}) as server:
        expect(server.request("GET", "/metrics", page), 401, UNAUTHORIZED)
    # An empty list opens nothing to others.
    with m.serve(env={"HTTP_CORS_ENABLED": "1"}) as server:
        expect(server.request("GET", "/metrics", page), 403, FOREIGN)
        _, headers, _ = expect(server.request("GET", "/metrics", {"Origin": server.url}), 200)
        assert headers["Access-Control-Allow-Origin"] == "*", headers.items()


# ---- what clients look up ----

def there_is_no_oauth_here(m):
    with m.serve(env={"HTTP_BEARER_TOKEN": "t"}) as server:
        for path in ("/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/mcp"):
            assert json.loads(expect(server.request("GET", path, REMOTE), 200)[2]) == {"mcp_oauth": False}
        for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
            expect(server.request("GET", path, REMOTE), 404, '{"detail":"Not Found"}')


def unless_somebody_else_does_it(m):
    env = {"HTTP_JWT_ENABLED": "1", "HTTP_JWT_SECRET": "s", "HTTP_OAUTH_RESOURCE": "https://mail.example/mcp",
        "HTTP_OAUTH_AUTHORIZATION_SERVERS": "https://id.example", "HTTP_OAUTH_SCOPES": "mail"}
    with m.serve(env=env) as server:
        for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
            _, _, text = expect(server.get(path), 200)
            assert json.loads(text) == {"resource": "https://mail.example/mcp",
                "authorization_servers": ["https://id.example"], "scopes_supported": ["mail"],
                "bearer_methods_supported": ["header"]}, text
        _, headers, _ = expect(server.get("/metrics"), 401, UNAUTHORIZED)
        assert headers["WWW-Authenticate"] == \
            'Bearer resource_metadata="https://mail.example/.well-known/oauth-protected-resource/mcp"', headers


CASES = (this_machine_needs_no_token, others_need_one, nobody_looks_local_by_a_header,
    a_trusted_proxy_names_the_client, without_a_token_strangers_read, roles_decide_what_may_be_called,
    some_things_are_for_administrators, the_list_of_readonly_tools_extends, roles_hold_inside_mcp,
    settings_that_cannot_work_are_explained, tokens_are_checked, keys_are_fetched, an_agent_is_its_token,
    without_agent_auth_nothing_changes, limits_are_told,
    guessing_has_a_limit, without_cors_nothing_is_told, listed_origins_may_ask, any_origin_needs_a_token,
    there_is_no_oauth_here, unless_somebody_else_does_it)

with Tap() as tap:
    for case in CASES:
        with Mailroom(sys.argv[1]) as room:
            tap.run(case.__name__, case, room)
