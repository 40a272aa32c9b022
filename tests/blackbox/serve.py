"""usage: serve.py PROGRAM - the server as clients, supervisors and attackers meet it."""

import http.server
import json
import os
import re
import shutil
import signal
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402


def it_says_where_it_is(m):
    with m.serve() as server:
        assert re.fullmatch(r"Mailroom \S+ listens on http://127\.0\.0\.1:\d+\n", server.greeting), server.greeting
        server.stop()
        assert f"data     {m.root}\n" in server.rest, server.rest
        assert f"curl {server.url}/health\n" in server.rest, server.rest
        assert os.path.isdir(m.root)


def health_is_answered(m):
    with m.serve() as server:
        for path, body in (("/health/liveness", {"status": "alive"}), ("/health/readiness", {"status": "ready"}),
                ("/health", {"protocol_version": "v1", "status": "ok"})):
            status, headers, text = server.get(path)
            assert status == 200 and json.loads(text) == body, (path, status, text)
            assert headers["Content-Type"] == "application/json", headers
            assert headers["X-Content-Type-Options"] == "nosniff" and headers["X-Request-Id"], headers


def paths_of_the_peers_are_answered(m):
    """Also without the token that the rest asks for."""
    with m.serve(env={"HTTP_BEARER_TOKEN": "s3cret", "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false"}) as server:
        for path, other in (("/healthz", "/health"), ("/mcp/health", "/health"), ("/ready", "/health/readiness")):
            status, _, text = server.get(path)
            assert (status, text) == (200, server.get(other)[2]), (path, status, text)
        assert json.loads(server.get("/ready")[2]) == {"status": "ready"}
        assert server.get("/api-docs/openapi.json")[0] == 401
        status, headers, text = server.get("/api-docs/openapi.json", Authorization="Bearer s3cret")
    assert status == 200 and headers["Content-Type"] == "application/json", (status, headers)
    document = json.loads(text)
    assert document["openapi"] == "3.1.0" and document["info"]["title"] == "Mailroom", document["info"]
    paths = document["paths"]
    assert paths["/health"]["get"]["operationId"] == "health", paths["/health"]
    post = paths["/api/tools/fetch_inbox"]["post"]
    schema = post["requestBody"]["content"]["application/json"]["schema"]
    assert schema["required"] == ["project_key", "agent_name"] and schema["properties"]["limit"]["default"] == 20, schema
    assert post["responses"]["200"]["content"]["application/json"]["schema"]["properties"]["result"]["type"] == "array", post


def scripts_can_call_tools(m):
    """POST /api/tools/NAME: what MCP gives, without MCP; every tool of the document, and no other."""
    with m.serve(env={"MCP_TOOLS_MODE": "extended"}) as server:
        def post(tool, **arguments):
            status, _, text = server.request("POST", f"/api/tools/{tool}", {"Content-Type": "application/json"},
                json.dumps(arguments))
            return status, json.loads(text)

        status, agent = post("register_agent", project_key="/p", program="x", model="y", name="RedCat")
        assert status == 200 and agent["name"] == "RedCat", agent
        assert post("fetch_inbox", project_key="/p", agent_name="RedCat") == (200, {"result": []})
        status, answer = post("fetch_inbox", project_key="/p", agent_name="RedCta")
        assert status == 404 and answer["error"]["data"]["suggestions"] == ["RedCat"], answer
        status, answer = post("fetch_inbox", project_key="/p")
        assert status == 400 and answer["error"]["data"]["argument"] == "agent_name", answer
        assert post("serve")[0] == 404 and post("nope") == (404, {"detail": "There is no tool nope"})
        paths = json.loads(server.get("/api-docs/openapi.json")[2])["paths"]
        tools = json.loads(server.request("POST", "/mcp", {"Content-Type": "application/json",
            "Accept": "application/json, text/event-stream"},
            '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}')[2])["result"]["tools"]
        assert {p for p in paths if p.startswith("/api/tools/")} == {f"/api/tools/{t['name']}" for t in tools}


def command_line_and_http_agree(m):
    """The same operation gives the same object on both surfaces."""
    with m.serve() as server:
        shared = [o for o in m.json("operations")["operations"] if o["route"] and o["command"]]
        assert len(shared) >= 3, shared
        for operation in shared:
            method, path = operation["route"].split()
            status, _, text = server.request(method, path)
            assert (status, json.loads(text)) == (200, m.json(*operation["command"].split())), operation
            status, _, text = server.request(method, path + "?zebra=1")
            assert status == 400, (operation, status)
            assert json.loads(text)["issues"] == [{"path": "$.zebra", "message": "is not an argument"}], text


def trouble_with_storage_is_503(m):
    with m.serve() as server:
        shutil.rmtree(m.root)
        m.write("data", "a file in the way")
        for path in ("/health/readiness", "/health"):
            status, _, text = server.get(path)
            assert status == 503 and "storage.root" in json.loads(text)["detail"], (status, text)
            assert json.loads(text)["retryable"] is True, text
        assert server.get("/health/liveness")[0] == 200


def metrics_count_requests(m):
    with m.serve() as server:
        server.get("/health/liveness")
        server.get("/health/liveness")
        server.get("/nowhere")
        status, headers, text = server.get("/metrics")
        assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4"), headers
        for line in ('mailroom_http_requests_total{route="/health/liveness",status="200"} 2',
                'mailroom_http_requests_total{route="none",status="404"} 1',
                'mailroom_tool_calls_total{tool="health_liveness",status="ok"} 2'):
            assert line in text.splitlines(), f"{line} not in {text}"
        for line in text.splitlines():
            assert re.fullmatch(r"# (HELP|TYPE) \w+ .*|\w+(\{.*\})? [0-9.e+-]+", line), line


def metrics_tell_of_the_team(m):
    """Also of what other processes did: messages by project, leases that hold, the archive."""
    with m.serve() as server:
        m.json("team", "ensure-project", "/srv/backend")
        for name in ("BlueLake", "GreenCastle"):
            m.json("team", "register", "/srv/backend", "--program", "codex", "--model", "gpt-5", "--name", name)
        m.json("team", "send", "/srv/backend", "BlueLake", "--to", "GreenCastle", "--subject", "s", "--body-md", "b")
        m.json("team", "reserve", "/srv/backend", "BlueLake", "src/*.c", "--ttl-seconds", "600")
        for _ in range(2):
            text = server.get("/metrics")[2].splitlines()
            assert 'mailroom_messages_total{project="srv-backend"} 1' in text, text
            assert "mailroom_reservations_active 1" in text and "mailroom_sqlite_busy_total 0" in text, text
            assert any(line.startswith("mailroom_git_queue_depth ") for line in text), text


class Collector:
    """What an OpenTelemetry collector is sent, and its headers."""

    def __init__(self, status=200):
        self.seen = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.seen.append((self.path, dict(self.headers), json.loads(body)))
                self.send_response(status)
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def spans(self):
        return [span for _, _, body in self.seen for resource in body["resourceSpans"]
            for scope in resource["scopeSpans"] for span in scope["spans"]]


def traces_go_to_a_collector(m):
    collector = Collector()
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=s3cret",
        "OTEL_SERVICE_NAME": "mail"}
    with m.serve(env=env) as server:
        server.get("/health", traceparent=f"00-{trace}-{parent}-01")
        server.get("/health/liveness")
        server.get("/health/readiness", traceparent=f"00-{trace}-{parent}-00")
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "whois", "arguments": {},
            "_meta": {"traceparent": f"00-{trace}-{parent}-01"}}}
        server.request("POST", "/mcp", {"Accept": "application/json, text/event-stream",
            "Content-Type": "application/json"}, json.dumps(message))
        assert server.stop() == 0
        assert "s3cret" not in server.logged()
    spans = {span["name"]: span for span in collector.spans()}
    assert set(spans) == {"health", "health_liveness", "whois"}, spans
    path, headers, body = collector.seen[0]
    assert path == "/v1/traces" and headers["Content-Type"] == "application/json" and headers["x-key"] == "s3cret"
    named = body["resourceSpans"][0]["resource"]["attributes"][0]
    assert named == {"key": "service.name", "value": {"stringValue": "mail"}}, named
    assert (spans["health"]["traceId"], spans["health"]["parentSpanId"]) == (trace, parent), spans
    assert spans["health"]["kind"] == 2 and spans["health"]["status"] == {}, spans
    assert int(spans["health"]["endTimeUnixNano"]) >= int(spans["health"]["startTimeUnixNano"]) > 10**18, spans
    assert spans["health_liveness"]["traceId"] != trace and "parentSpanId" not in spans["health_liveness"], spans
    assert spans["whois"]["traceId"] == trace and spans["whois"]["status"]["code"] == 2, spans


def a_bad_collector_harms_nobody(m):
    collector = Collector(status=500)
    with m.serve(env={"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}) as server:
        assert server.get("/health")[0] == 200
        assert server.stop() == 0
        assert '"event":"traces_dropped"' in server.logged() and "status 500" in server.logged(), server.logged()
    done = m.run("serve", env={"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"})
    assert done.returncode == 2 and "otel.endpoint must begin with http" in done.stderr, describe(done)


def strangers_are_refused(m):
    with m.serve() as server:
        for path in ("/health/liveness", "/metrics", "/nowhere"):
            assert server.get(path, Host="evil.example")[0] == 403
            assert server.get(path, Host="localhost.evil.example:80")[0] == 403
            assert server.get(path, Origin="http://evil.example")[0] == 403
            assert server.get(path, Origin="null")[0] == 403
        assert server.get("/health/liveness", Host="localhost")[0] == 200
        assert server.get("/health/liveness", Origin=server.url)[0] == 200
    with m.serve(env={"HTTP_ALLOWED_HOSTS": "box.example", "HTTP_ALLOWED_ORIGINS": "https://ui.example"}) as server:
        assert server.get("/health/liveness", Host="box.example:99")[0] == 200
        assert server.get("/health/liveness", Origin="https://ui.example")[0] == 200
        assert server.get("/health/liveness", Origin="http://ui.example")[0] == 403


def a_token_is_asked_for(m):
    with m.serve(env={"HTTP_BEARER_TOKEN": "hunter2", "HTTP_REQUEST_LOG_ENABLED": "1",
            "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false"}) as server:
        assert server.get("/health")[0] == 200
        status, headers, text = server.get("/metrics")
        assert (status, json.loads(text)) == (401, {"detail": "Unauthorized"}), text
        assert headers["WWW-Authenticate"].startswith("Bearer"), headers
        assert server.get("/metrics", Authorization="Bearer hunter3")[0] == 401
        assert server.get("/metrics", Authorization="bearer hunter2")[0] == 200
        server.stop()
        assert "hunter" not in server.logged() + server.greeting + server.rest


def unknown_paths_and_methods(m):
    with m.serve() as server:
        status, _, text = server.get("/nowhere")
        assert status == 404 and "detail" in json.loads(text), text
        status, headers, _ = server.request("DELETE", "/health")
        assert status == 405 and "GET" in headers["Allow"], (status, headers)
        status, headers, text = server.request("HEAD", "/health")
        assert (status, text) == (200, ""), (status, text)


def bodies_have_a_limit(m):
    with m.serve(env={"HTTP_MAX_BODY_BYTES": "2048"}) as server:
        assert server.request("GET", "/health", body="x" * 4096)[0] == 413
        assert server.get("/health", X_Long="x" * 60000)[0] == 431
        assert server.get("/health")[0] == 200


def requests_are_logged_with_their_id(m):
    with m.serve(env={"HTTP_REQUEST_LOG_ENABLED": "true"}) as server:
        _, headers, _ = server.get("/nowhere?secret=1", X_Request_Id="abc-1")
        assert headers["X-Request-Id"] == "abc-1", headers
        _, headers, _ = server.get("/health", X_Request_Id="not sane")
        server.stop()
        events = [json.loads(line) for line in server.logged().splitlines()]
        requests = [e for e in events if e["event"] == "http_request"]
        assert [e["request_id"] for e in requests] == ["abc-1", headers["X-Request-Id"]], requests
        assert (requests[0]["method"], requests[0]["path"], requests[0]["status"]) == ("GET", "/nowhere", 404)
        assert "secret" not in server.logged()
        assert {"duration_ms", "client_ip"} <= requests[0].keys(), requests
        # Of root's server that trusts loopback all the same, a warning comes first.
        events = [e for e in events if e["event"] != "local_trust"]
        assert [e["event"] for e in events][0] == "listening" and events[-1]["event"] == "stopped", events


def signals_end_it_well(m):
    for how in (signal.SIGTERM, signal.SIGINT):
        server = m.serve()
        idle = socket.create_connection(server.address.split(":"))
        half = socket.create_connection(server.address.split(":"))
        half.sendall(b"GET /health HT")
        assert server.get("/health")[0] == 200
        assert server.stop(how) == 0, server.logged()
        idle.close()
        half.close()


def a_taken_port_is_explained(m):
    with m.serve() as server:
        port = server.address.split(":")[1]
        done = m.run("serve", "--port", port)
        assert done.returncode == 1 and not done.stdout, describe(done)
        assert f"127.0.0.1:{port}" in done.stderr, describe(done)
        done = m.run("serve", "--host", "203.0.113.1")
        assert done.returncode != 0 and "203.0.113.1" in done.stderr, describe(done)


def a_root_that_cannot_be_made_is_explained(m):
    m.write("data", "a file in the way")
    done = m.run("serve", "--port", "0")
    assert done.returncode == 1 and "storage.root" in done.stderr and m.root in done.stderr, describe(done)


def bad_framing_is_refused(m):
    with m.serve() as server:
        for request in (b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
                b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
                b"0\r\n\r\n",
                b"GET /health HTTP/1.1\r\n\r\n",
                b"nonsense\r\n\r\n"):
            with socket.create_connection(server.address.split(":"), timeout=30) as raw:
                raw.sendall(request)
                answer = raw.recv(65536)
            assert answer == b"" or answer.startswith(b"HTTP/1.1 400 "), (request, answer[:80])
        assert server.get("/health")[0] == 200


with Tap() as tap:
    for case in (it_says_where_it_is, health_is_answered, paths_of_the_peers_are_answered, scripts_can_call_tools,
            command_line_and_http_agree, trouble_with_storage_is_503,
            metrics_count_requests, metrics_tell_of_the_team, traces_go_to_a_collector,
            a_bad_collector_harms_nobody, strangers_are_refused, a_token_is_asked_for,
            unknown_paths_and_methods,
            bodies_have_a_limit, requests_are_logged_with_their_id, signals_end_it_well, a_taken_port_is_explained,
            a_root_that_cannot_be_made_is_explained, bad_framing_is_refused):
        with Mailroom(sys.argv[1]) as room:
            tap.run(case.__name__, case, room)
