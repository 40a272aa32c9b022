"""usage: guard_server.py PROGRAM SOURCE - the guard asks a server for leases it does not know itself."""

import http.server
import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from repo import HOLDER, OTHER, Repo, slug_of  # noqa: E402
from tap import Tap  # noqa: E402


class Peer(http.server.BaseHTTPRequestHandler):
    """A server that knows one lease."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((asked, self.headers))
        if self.headers["Authorization"] != "Bearer secret":
            self.send_response(401)
            self.end_headers()
            return
        if "nowhere" in asked["params"]["uri"]:
            self.send_response(404)
            self.end_headers()
            self.wfile.write(b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32002, "message": "no such resource"}}')
            return
        leases = [{"id": 1, "agent": HOLDER, "path_pattern": "a", "exclusive": True, "reason": "r", "released_ts": None,
            "expires_ts": "2999-01-01T00:00:00Z"}, {"id": 2, "agent": 7}]
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"contents": [
            {"uri": asked["params"]["uri"], "mimeType": "application/json", "text": json.dumps(leases)}]}})
        if self.server.stream:
            body = f"event: message\ndata: {body}\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if self.server.stream else "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *ignored):
        pass


def a_server_that_is_configured(m):
    r = Repo(m, register=False, install=False)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Peer)
    server.asked, server.stream = [], False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    env = {"AGENT_MAIL_URL": f"http://127.0.0.1:{server.server_port}/mcp", "AGENT_MAIL_TOKEN": "secret"}
    assert r.held("a", "b", **env) == {"a": [HOLDER]}
    asked, headers = server.asked[-1]
    slug = slug_of(r.path)
    assert asked["method"] == headers["Mcp-Method"] == "resources/read", asked
    assert asked["params"]["uri"].startswith(f"resource://file_reservations/{slug}?"), asked
    answer = r.check("b", **env)
    assert answer["source"] == "server" and "passed over" in answer["warnings"][0], answer
    server.stream = True
    assert r.held("a", **env) == {"a": [HOLDER]}
    r.edit("a", status=2, **env)
    wrong = r.check("a", status=2, **{**env, "AGENT_MAIL_TOKEN": "guess"})["error"]["message"]
    assert "401" in wrong and "AGENT_MAIL_TOKEN" in wrong and "guess" not in wrong, wrong
    unknown = r.check("a", status=2, **env, AGENT_MAIL_PROJECT="nowhere")["error"]["message"]
    assert "it said 404: no such resource" in unknown, unknown
    server.shutdown()
    server.server_close()
    r.check("a", status=2, **env)
    assert r.check("a", "--advisory", **env)["status"] == "passed"
    r.edit("a", **env)


# --- our own ---


class Far:
    """Another machine's Mailroom: it knows the repository's project, this one does not."""

    def __init__(self, m, **env):
        self.m = Mailroom(m.program)
        self.repo = Repo(m, register=False, install=False)
        for agent in (HOLDER, OTHER):
            self.m.json("team", "register", self.repo.path, agent, "--program", "codex", "--model", "gpt")
        self.m.json("team", "reserve", self.repo.path, HOLDER, "src/**", "--reason", "a refactoring")
        self.server = self.m.serve(env=env)
        self.env = {"AGENT_MAIL_URL": self.server.url + "/mcp"}

    def __enter__(self):
        return self

    def __exit__(self, *how):
        self.server.__exit__(*how)
        self.m.__exit__(*how)


def our_own_server_is_asked(m):
    with Far(m) as far:
        r = far.repo
        for path in ("/mcp", "/mcp/", "/api/"):
            env = {"AGENT_MAIL_URL": far.server.url + path}
            assert r.held("src/a.c", "docs/a.md", **env) == {"src/a.c": [HOLDER]}, path
        answer = r.check("docs/a.md", **far.env)
        assert answer["status"] == "passed" and answer["source"] == "server" and answer["warnings"] == [], answer
        assert r.check("src/a.c", agent=HOLDER, **far.env)["status"] == "passed"
        refused = r.edit("src/a.c", status=2, **far.env).stderr
        assert HOLDER in refused and "a refactoring" in refused, refused
        assert not r.edit("docs/a.md", **far.env).stdout
        # Nothing is kept here on the way.
        assert not os.path.exists(m.root)
        far.m.json("team", "release", r.path, HOLDER)
        assert r.check("src/a.c", **far.env)["status"] == "passed"


def commits_ask_it_too(m):
    with Far(m) as far:
        r = far.repo
        m.json("guard", "install", r.path, env=far.env)
        said = r.commit("src/a.c", status=1, **far.env).stderr
        assert "src/a.c" in said and HOLDER in said, said
        r.git("reset", "-q")
        r.commit("docs/a.md", **far.env)
        r.commit("src/a.c", agent=HOLDER, **far.env)


def it_wants_its_token(m):
    with Far(m, HTTP_BEARER_TOKENS="reader-token:reader,writer-token:writer",
            HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED="false", HTTP_RBAC_DEFAULT_ROLE="reader",
            HTTP_BEARER_TOKEN="hunter2", AGENT_AUTH="require") as far:
        r = far.repo
        for token in ("reader-token", "writer-token", "hunter2"):
            env = {**far.env, "AGENT_MAIL_TOKEN": token}
            assert r.held("src/a.c", **env) == {"src/a.c": [HOLDER]}, token
            assert r.check("docs/a.md", **env)["source"] == "server"
            r.edit("src/a.c", status=2, **env)
        for token in ("guess", None):
            error = r.check("src/a.c", status=2, **far.env, AGENT_MAIL_TOKEN=token)["error"]
            assert "it said 401; is AGENT_MAIL_TOKEN right?" in error["message"], error
            assert "guess" not in error["message"], error
            # An edit is not stopped by what cannot be found out.
            r.edit("src/a.c", **far.env, AGENT_MAIL_TOKEN=token)


def it_does_not_know_the_project(m):
    with Far(m) as far:
        error = far.repo.check("src/a.c", status=2, **far.env, AGENT_MAIL_PROJECT="/nowhere")["error"]
        assert 'the server was asked for leases: there is no project "nowhere"' in error["message"], error


def it_is_down(m):
    """A check says that it could not find out; with --advisory it passes, and so do edits."""
    with Far(m) as far:
        r = far.repo
        m.json("guard", "install", r.path, env=far.env)
        assert far.server.stop() == 0
        error = r.check("src/a.c", status=2, **far.env)["error"]
        assert error["message"].startswith("leases could not be checked (AGENT_MAIL_BYPASS=1 lets it through): "
            "the server was asked for leases: "), error
        answer = r.check("src/a.c", "--advisory", **far.env)
        assert answer["status"] == "passed" and "the server was asked for leases" in answer["warnings"][0], answer
        r.edit("src/a.c", **far.env)
        said = r.commit("src/a.c", status=1, **far.env).stderr
        assert "the server was asked for leases" in said and "AGENT_MAIL_BYPASS=1" in said, said
        r.commit(**far.env, AGENT_MAIL_BYPASS="1")


TESTS = [a_server_that_is_configured, our_own_server_is_asked, commits_ask_it_too, it_wants_its_token,
    it_does_not_know_the_project, it_is_down]


def main():
    with Tap() as tap:
        for test in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__.replace("_", " "), test, m)


main()
