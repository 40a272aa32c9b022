"""usage: doctor.py PROGRAM - is everything in order here? What is said when it is, and when it is not."""

import http.server
import json
import os
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402


class Repo:
    """A repository in the room; commands run in it, with a port nobody has."""

    def __init__(self, m):
        self.m = m
        self.dir = os.path.join(os.path.realpath(m.dir), "repo")
        subprocess.run(["git", "init", "-q", self.dir], check=True)
        # Bound and not listened at: nobody answers there, and nobody else can take it.
        self.taken = socket.socket()
        self.taken.bind(("127.0.0.1", 0))
        self.port = str(self.taken.getsockname()[1])

    def run(self, *args, env=None):
        more = {"PATH": os.path.dirname(self.m.program) + ":" + os.environ["PATH"], "HTTP_PORT": self.port,
            **(env or {})}
        return subprocess.run([self.m.program, *args], cwd=self.dir, env=self.m.env(**more), text=True,
            capture_output=True, timeout=60, check=False)

    def doctor(self, status=0, **options):
        """The checks by name: of several of one name the worst."""
        done = self.run("--json", "doctor", **options)
        assert done.returncode == status, describe(done)
        result = json.loads(done.stdout)
        assert result["ok"] == (status == 0), result
        rank = ("ok", "warning", "problem")
        checks = {}
        for check in result["checks"]:
            known = checks.get(check["name"])
            if not known or rank.index(known["state"]) < rank.index(check["state"]):
                checks[check["name"]] = check
            assert check["state"] == "ok" or check["advice"], check
        return checks

    def allow(self, approved=True):
        """What a person says in Claude Code and Gemini CLI when they ask."""
        state = {"projects": {self.dir: {"hasTrustDialogAccepted": True,
            "enabledMcpjsonServers": ["mailroom"] if approved else []}}}
        self.m.write(".claude.json", json.dumps(state))
        os.makedirs(os.path.join(self.m.dir, ".gemini"), exist_ok=True)
        self.m.write(".gemini/trustedFolders.json", json.dumps({os.path.realpath(self.m.dir): "TRUST_FOLDER"}))

    def states(self, **options):
        return {name: check["state"] for name, check in self.doctor(**options).items()}


def a_new_place_is_fine(r):
    """Nothing is made by looking."""
    states = r.states()
    assert states == {"settings": "ok", "storage": "ok", "git": "ok", "clients": "warning", "guard": "warning",
        "server": "warning"}, states
    assert not os.path.exists(r.m.root)


def a_database_that_is_gone_is_found(r):
    assert r.run("team", "ensure-project", r.dir).returncode == 0
    path = database.team_database(r.m.root)
    for end, text in (("", "is gone, while 1 project has an archive"), (" ", "is empty, while 1 project has an archive")):
        os.unlink(path)
        if end:
            with open(path, "w", encoding="ascii"):
                pass
        found = r.doctor(status=1)["database"]
        assert found["state"] == "problem" and text in found["detail"], found
        assert found["advice"].startswith("mailroom team rebuild"), found
        assert os.path.exists(path) == bool(end), "looking made one"
        assert r.run("--yes", "team", "rebuild").returncode == 0
    with database.opened(path) as db:
        db.execute("DELETE FROM archive_queue")
        db.execute("DELETE FROM project_keys")
        db.execute("DELETE FROM projects")
    found = r.doctor(status=1)["database"]
    assert found["state"] == "problem" and "is empty, while 1 project has an archive" in found["detail"], found


def a_place_in_use_is_all_ok(r):
    r.allow()
    with r.m.serve(env={"HTTP_PORT": r.port}) as server:
        port = server.address.split(":")[1]
        for args in (("connect", "claude-code"), ("connect", "codex", "--stdio")):
            done = r.run(*args, env={"HTTP_PORT": port})
            assert done.returncode == 0, describe(done)
        # Its advice works as it is written.
        advice = r.doctor(env={"HTTP_PORT": port})["guard"]["advice"]
        for args in (advice.split()[1:],):
            done = r.run(*args, env={"HTTP_PORT": port})
            assert done.returncode == 0, describe(done)
        checks = r.doctor(env={"HTTP_PORT": port})
        assert {c["state"] for c in checks.values()} == {"ok"}, checks
        assert set(checks) == {"settings", "storage", "database", "archive", "git", "claude-code", "codex", "guard",
            "server", "mcp"}, checks
        assert checks["mcp"]["detail"].endswith(f"{server.url}/mcp speaks 2025-11-25"), checks
        assert checks["database"]["detail"].endswith(", 1 project"), checks
        done = r.run("doctor", env={"HTTP_PORT": port})
        lines = done.stdout.splitlines()
        assert len(lines) == 10 and all(line.startswith("ok       ") for line in lines), done.stdout


def a_server_that_is_needed_must_run(r):
    r.run("connect", "cursor")
    check = r.doctor(status=1)["server"]
    assert check["state"] == "problem" and check["advice"] == "mailroom serve", check
    done = r.run("doctor")
    assert done.returncode == 1 and "\nproblem  server" in done.stdout and "-> mailroom serve" in done.stdout
    # Who starts its own needs none; who goes elsewhere may.
    r.run("connect", "cursor", "--stdio")
    check = r.doctor()["server"]
    assert check["state"] == "ok" and check["detail"].endswith("none is needed: the clients here start their own"), check
    r.run("connect", "gemini", "--url", "http://10.9.8.7:1/mcp")
    assert r.states()["server"] == "warning"


def a_token_is_needed(r):
    """Each client is judged by what it sends itself, whatever token the one who asks has."""
    with r.m.serve(env={"HTTP_PORT": r.port, "HTTP_BEARER_TOKEN": "s3cret",
            "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false"}) as server:
        env = {"HTTP_PORT": server.address.split(":")[1]}
        r.run("connect", "cursor", env=env)
        known = {**env, "HTTP_BEARER_TOKEN": "s3cret", "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false"}
        for given in (env, known, {**env, "MAILROOM_TOKEN": "s3cret"}):
            check = r.doctor(status=1, env=given)["token"]
            assert check["detail"].endswith("cursor sends none"), check
        # Its advice works as it is written.
        done = r.run(*check["advice"].split(",")[0].split()[1:], env=env)
        assert done.returncode == 0 and "${env:MAILROOM_TOKEN}" in open(os.path.join(r.dir, ".cursor/mcp.json")).read()
        for given in (env, known):
            check = r.doctor(status=1, env=given)["token"]
            assert check["detail"].endswith("MAILROOM_TOKEN is not set here"), check
            check = r.doctor(status=1, env={**given, "MAILROOM_TOKEN": "wr0ng"})["token"]
            assert "does not accept the token in MAILROOM_TOKEN" in check["detail"], check
            done = r.run("--json", "doctor", env={**given, "MAILROOM_TOKEN": "s3cret"})
            assert done.returncode == 0 and "s3cret" not in done.stdout and '"token"' not in done.stdout, done.stdout
            assert '"speaks' not in done.stdout and "speaks 2025-11-25" in done.stdout, done.stdout


def what_a_person_must_allow_is_told(r):
    r.run("connect", "claude-code", "--stdio")
    r.run("connect", "gemini", "--stdio")
    for client, program in (("claude-code", "claude"), ("gemini", "gemini")):
        check = r.doctor()[client]
        assert check["state"] == "warning" and "does not trust this folder" in check["detail"], check
        assert check["advice"] == f"start {program} in {r.dir}, and trust the folder when it asks", check
    r.allow(approved=False)
    checks = r.doctor()
    assert "nobody has approved the server" in checks["claude-code"]["detail"] and checks["gemini"]["state"] == "ok", checks
    with open(os.path.join(r.dir, ".claude/settings.local.json"), "w", encoding="utf-8") as file:
        json.dump({"enabledMcpjsonServers": ["mailroom"]}, file)
    assert r.states()["claude-code"] == "ok"
    with open(os.path.join(r.m.dir, ".gemini/trustedFolders.json"), "w", encoding="utf-8") as file:
        json.dump({os.path.dirname(r.dir): "TRUST_FOLDER", r.dir: "DO_NOT_TRUST"}, file)
    assert r.states()["gemini"] == "warning"


def a_program_that_is_not_in_path_is_told(r):
    r.allow()
    r.run("connect", "claude-code", "--stdio")
    assert json.loads(open(os.path.join(r.dir, ".mcp.json")).read())["mcpServers"]["mailroom"]["command"] == "mailroom"
    assert r.states()["claude-code"] == "ok"
    env = {"PATH": "/usr/bin:/bin"}
    check = r.doctor(status=1, env=env)["claude-code"]
    assert check["state"] == "problem" and "not in PATH here" in check["detail"], check
    done = r.run("connect", "claude-code", "--stdio", env=env)
    assert "or mailroom connect claude-code" in check["advice"] and done.returncode == 0, describe(done)
    assert r.states(env=env)["claude-code"] == "ok"


def another_program_on_the_port_is_told(r):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *args):
            pass

    other = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    check = r.doctor(status=1, env={"HTTP_PORT": str(other.server_port)})["server"]
    assert "is not Mailroom" in check["detail"], check
    other.shutdown()


def another_storage_is_told(r):
    with r.m.serve(env={"HTTP_PORT": r.port}) as server:
        env = {"HTTP_PORT": server.address.split(":")[1], "STORAGE_ROOT": os.path.join(r.m.dir, "elsewhere")}
        check = r.doctor(status=1, env=env)["server"]
        assert r.m.root in check["detail"] and "STORAGE_ROOT" in check["advice"], check


def trouble_with_storage_is_told(r):
    r.m.write("data", "a file in the way")
    check = r.doctor(status=1, env={"STORAGE_ROOT": os.path.join(r.m.root, "below")})["storage"]
    assert "storage.root" in check["advice"], check
    os.unlink(r.m.root)
    os.makedirs(r.m.root)
    with open(os.path.join(r.m.root, "storage.sqlite3"), "w", encoding="utf-8") as file:
        file.write("this is no database, " * 400)
    check = r.doctor(status=1)["database"]
    assert "storage.sqlite3" in check["detail"], check
    check = r.doctor(status=1, env={"DATABASE_URL": "mysql://u:p4ss@h/d"})["database"]
    assert "database.url" in check["detail"] and "p4ss" not in check["detail"], check
    check = r.doctor(status=1, env={"DATABASE_URL": "postgres://u:p4ss@127.0.0.1:1/d"})["database"]
    assert "postgres://u@127.0.0.1:1/d cannot be reached" in check["detail"] and "p4ss" not in check["detail"], check


def an_archive_that_is_late_is_told(r):
    assert r.run("team", "ensure-project", r.dir).returncode == 0
    database.rows(database.team_database(r.m.root),
        "INSERT INTO archive_queue (project_id, kind, ref, name, agent, subject, tool, created_ts)"
        " VALUES (1, 'profile', 1, '', '', 's', '', 1000000)")
    check = r.doctor()["archive"]
    assert check["state"] == "warning" and " s behind" in check["detail"], check


def clients_that_lead_elsewhere_are_told(r):
    r.run("connect", "claude-code", "--url", "http://10.9.8.7:1/mcp")
    check = r.doctor()["claude-code"]
    assert check["state"] == "warning" and "http://10.9.8.7:1/mcp" in check["detail"], check
    assert check["advice"] == "mailroom connect claude-code", check
    with open(os.path.join(r.dir, ".mcp.json"), "w", encoding="utf-8") as file:
        json.dump({"mcpServers": {"mailroom": {"command": "/gone/mailroom", "args": ["mcp"]}}}, file)
    check = r.doctor(status=1)["claude-code"]
    assert "/gone/mailroom" in check["detail"], check
    os.makedirs(os.path.join(r.dir, ".vscode"))
    with open(os.path.join(r.dir, ".vscode/mcp.json"), "w", encoding="utf-8") as file:
        file.write("{ // comments\n}")
    assert r.doctor(status=1)["vscode"]["state"] == "warning"


def without_git_it_goes_on(r):
    checks = r.doctor(env={"PATH": "/nowhere"})
    assert checks["git"]["state"] == "warning" and "install git" in checks["git"]["advice"], checks
    assert checks["guard"]["state"] == "warning", checks


def wrong_settings_stop_it(r):
    done = r.run("doctor", env={"HTTP_PORT": "many"})
    assert done.returncode == 2 and "http.port must be a number" in done.stderr, describe(done)
    done = r.run("doctor", "--project", "/no/such/place")
    assert done.returncode == 1 and "/no/such/place" in done.stderr, describe(done)


with Tap() as tap:
    for case in (a_new_place_is_fine, a_database_that_is_gone_is_found, a_place_in_use_is_all_ok, a_server_that_is_needed_must_run, a_token_is_needed, what_a_person_must_allow_is_told, a_program_that_is_not_in_path_is_told,
            another_program_on_the_port_is_told, another_storage_is_told, trouble_with_storage_is_told,
            an_archive_that_is_late_is_told, clients_that_lead_elsewhere_are_told, without_git_it_goes_on,
            wrong_settings_stop_it):
        with Mailroom(sys.argv[1]) as room:
            tap.run(case.__name__, case, Repo(room))
