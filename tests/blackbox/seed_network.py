"""usage: seed_network.py PROGRAM - what the seed says of the network: its workflow over MCP, its hook against a server, who may
do what, and what a server tells about itself."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402

OPERATIONS = """ensure_project register_agent whois send_message reply_message fetch_inbox mark_message_read acknowledge_message
    search_messages file_reservation_paths release_file_reservations force_release_file_reservation renew_file_reservations
    request_contact respond_contact set_contact_policy""".split()


class Client:
    """One that opens a session, as a coding agent does."""

    def __init__(self, server, **headers):
        self.server = server
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
        status, answered, text = self.post("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}})
        assert status == 200, text
        self.headers["Mcp-Session-Id"] = answered["Mcp-Session-Id"]

    def post(self, method, params):
        return self.server.request("POST", "/mcp", self.headers,
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))

    def ask(self, method, **params):
        status, _, text = self.post(method, params)
        assert status == 200, text
        return json.loads(text)["result"]

    def call(self, tool, **arguments):
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert not result["isError"], result
        return result["structuredContent"]


def every_operation_is_a_tool(m):
    """Directly, without a detour by another one."""
    with m.serve() as server:
        listed = {tool["name"] for tool in Client(server).ask("tools/list")["tools"]}
    assert set(OPERATIONS) <= listed, set(OPERATIONS) - listed


def the_workflow(m):
    """Its seven steps, in its words, by two clients with sessions of their own."""
    with m.serve() as server:
        a, b = Client(server), Client(server)
        a.call("ensure_project", human_key="/path/to/backend")
        a.call("register_agent", project_key="backend", name="GreenCastle", program="claude-code", model="m")
        b.call("ensure_project", human_key="/path/to/frontend")
        b.call("register_agent", project_key="frontend", name="BlueLake", program="codex", model="m")
        lease = a.call("file_reservation_paths", project_key="backend", agent_name="GreenCastle", paths=["src/auth.py"],
            exclusive=True)
        assert lease["granted"][0]["exclusive"] is True and lease["conflicts"] == [], lease
        a.call("send_message", project_key="backend", sender_name="GreenCastle", to=["BlueLake"],
            subject="Auth refactoring...", body_md="Hold your changes.")
        [message] = b.call("fetch_inbox", project_key="frontend", agent_name="BlueLake")["result"]
        assert (message["from"], message["subject"]) == ("GreenCastle", "Auth refactoring..."), message
        b.call("reply_message", project_key="frontend", message_id=message["id"], sender_name="BlueLake", body_md="ok")
        b.call("mark_message_read", project_key="frontend", agent_name="BlueLake", message_id=message["id"])
        b.call("acknowledge_message", project_key="frontend", agent_name="BlueLake", message_id=message["id"])
        link = b.call("request_contact", project_key="frontend", from_agent="BlueLake", to_project="backend",
            to_agent="GreenCastle")
        assert link["to"]["agent"] == "GreenCastle", link
        link = a.call("respond_contact", project_key="backend", to_agent="GreenCastle", from_project="frontend",
            from_agent="BlueLake", status="approved")
        assert link["status"] == "approved", link
        found = a.call("search_messages", project_key="backend", query="refactoring")["result"]
        assert found and found[0]["from"] in ("GreenCastle", "BlueLake"), found
        assert a.call("release_file_reservations", project_key="backend", agent_name="GreenCastle")["released"] == 1


def git(repo, *args, env=None, status=0):
    done = subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.com", *args], cwd=repo, env=env,
        capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode == 0) == (status == 0), (args, done.stdout, done.stderr)
    return done.stderr


def the_hook_asks_the_server(m):
    """A hard block is an exclusive lease and the pre-commit hook, also where the mail is kept by a server elsewhere."""
    repo = os.path.join(m.dir, "backend")
    os.makedirs(os.path.join(repo, "src"))
    git(m.dir, "init", "-q", repo)
    with m.serve(env={"HTTP_BEARER_TOKEN": "s3cret", "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false"}) as server:
        a = Client(server, Authorization="Bearer s3cret")
        a.call("ensure_project", human_key=repo)
        for name in ("GreenCastle", "BlueLake"):
            a.call("register_agent", project_key=repo, name=name, program="x", model="y")
        env = m.env(PATH=os.path.dirname(m.program) + ":" + os.environ["PATH"], STORAGE_ROOT=os.path.join(m.dir, "empty"),
            AGENT_NAME="BlueLake", AGENT_MAIL_URL=f"{server.url}/mcp", AGENT_MAIL_TOKEN="s3cret", AGENT_MAIL_PROJECT=repo)
        subprocess.run([m.program, "guard", "install", repo, repo], env=m.env(), check=True, capture_output=True, timeout=60)

        def commit(env, status=0):
            with open(os.path.join(repo, "src/auth.py"), "a", encoding="utf-8") as file:
                file.write("x\n")
            git(repo, "add", "-A", env=env)
            return git(repo, "commit", "-q", "-m", "c", env=env, status=status)

        commit(env)
        a.call("file_reservation_paths", project_key=repo, agent_name="GreenCastle", paths=["src/*.py"], exclusive=False)
        commit(env)
        a.call("file_reservation_paths", project_key=repo, agent_name="GreenCastle", paths=["src/auth.py"], exclusive=True,
            reason="auth")
        said = commit(env, status=1)
        assert "src/auth.py" in said and "GreenCastle" in said, said
        commit({**env, "AGENT_NAME": "GreenCastle"})
        assert "GreenCastle" in commit({**env, "AGENT_MAIL_GUARD_MODE": "warn"})
        # Who cannot ask does not guess.
        commit({**env, "AGENT_MAIL_TOKEN": "wrong"}, status=1)
        a.call("release_file_reservations", project_key=repo, agent_name="GreenCastle")
        commit(env)


def roles_and_limits_hold(m):
    env = {"HTTP_BEARER_TOKENS": "look:reader,work:writer", "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false",
        "HTTP_RATE_LIMIT_ENABLED": "true", "HTTP_RATE_LIMIT_TOOLS_PER_MINUTE": "2"}
    with m.serve(env=env) as server:
        assert server.request("POST", "/mcp", {}, "{}")[0] == 401
        reader, writer = Client(server, Authorization="Bearer look"), Client(server, Authorization="Bearer work")
        call = {"name": "ensure_project", "arguments": {"human_key": "/p"}}
        assert reader.post("tools/call", call)[0] == 403
        assert [writer.post("tools/call", call)[0] for _ in range(3)] == [200, 200, 429]
        assert reader.ask("tools/call", name="health_check", arguments={})["isError"] is False


def it_can_be_watched(m):
    """Structured logs and metrics; traces are another test's."""
    with m.serve(env={"HTTP_REQUEST_LOG_ENABLED": "true"}) as server:
        Client(server).call("ensure_project", human_key="/p")
        metrics = server.get("/metrics")[2]
        assert 'mailroom_tool_calls_total{tool="ensure_project",status="ok"} 1' in metrics, metrics
        server.stop()
        lines = [json.loads(line) for line in server.logged().splitlines()]
    assert all({"ts", "level", "event"} <= set(line) for line in lines), lines
    asked = [line for line in lines if line["event"] == "http_request"]
    assert [(line["method"], line["path"], line["status"]) for line in asked] == [("POST", "/mcp", 200), ("POST", "/mcp", 200),
        ("GET", "/metrics", 200)], asked
    assert all(line["duration_ms"] >= 0 and line["client_ip"] == "127.0.0.1" for line in asked), asked


def main():
    with Tap() as tap:
        for case in (every_operation_is_a_tool, the_workflow, the_hook_asks_the_server, roles_and_limits_hold, it_can_be_watched):
            with Mailroom(sys.argv[1]) as m:
                tap.run(case.__name__.replace("_", " "), case, m)


main()
