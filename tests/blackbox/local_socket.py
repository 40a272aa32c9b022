"""usage: local_socket.py PROGRAM SOURCE - the server's Unix socket, and what TCP clients of the machine need beside it."""

import http.client
import json
import os
import shutil
import socket
import stat
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import TIMEOUT_S, Mailroom, describe  # noqa: E402
from repo import HOLDER, OTHER, Repo  # noqa: E402
from tap import Tap  # noqa: E402

NOBODY = 65534
IS_ROOT = os.geteuid() == 0
UNAUTHORIZED = '{"detail":"Unauthorized"}'
# As a user has it who sets nothing.
BARE = {"HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": None}
TOKEN = {**BARE, "HTTP_BEARER_TOKEN": "s3cret", "HTTP_RATE_LIMIT_FAILURES_PER_MINUTE": "0"}


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=TIMEOUT_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(TIMEOUT_S)
        self.sock.connect(self.path)


def ask(path, method, target, headers=None, body=None):
    """(status, text) of one request through a socket."""
    connection = Connection(path)
    try:
        connection.request(method, target, body=body, headers=headers or {})
        response = connection.getresponse()
        return response.status, response.read().decode("utf-8")
    finally:
        connection.close()


def port_of(server):
    return server.address.rsplit(":", 1)[1]


def path_of(m, server):
    return os.path.join(m.runtime, "mailroom", f"mailroom-{port_of(server)}.sock")


def mode_of(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def health(path):
    status, text = ask(path, "POST", "/api/tools/health_check", {"Content-Type": "application/json"}, "{}")
    assert status == 200, (status, text)
    return json.loads(text)


def events(server, name):
    return [e["msg"] if "msg" in e else e for e in map(json.loads, server.logged().splitlines()) if e["event"] == name]


# ---- the socket ----

def it_is_this_users_alone(m):
    with m.serve() as server:
        path = path_of(m, server)
        assert stat.S_ISSOCK(os.lstat(path).st_mode) and mode_of(path) == 0o600, oct(mode_of(path))
        assert mode_of(os.path.dirname(path)) == 0o700
        assert ask(path, "GET", "/health/liveness") == (200, '{"status":"alive"}')
        assert ask(path, "GET", "/metrics")[0] == 200
        assert ask(path, "GET", "/metrics", {"Host": "far.example"})[0] == 403
        assert ask(path, "GET", "/metrics", {"Host": "127.0.0.1:1"})[0] == 200
        assert server.stop() == 0
        assert f"  socket   {path}\n" in server.rest, server.rest
        assert os.listdir(os.path.dirname(path)) == []


def a_directory_that_is_too_open_is_closed(m):
    os.mkdir(os.path.join(m.runtime, "mailroom"))
    os.chmod(os.path.join(m.runtime, "mailroom"), 0o777)
    with m.serve() as server:
        assert mode_of(os.path.dirname(path_of(m, server))) == 0o700
        assert health(path_of(m, server))["status"] == "ok"


def mcp_is_spoken_through_it(m):
    with m.serve(env=TOKEN) as server:
        path = path_of(m, server)
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        connection = Connection(path)
        for number in range(3):
            connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                "params": {"name": "ensure_project", "arguments": {"human_key": f"/p{number}"}}}), headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
            assert response.status == 200 and not answer["result"].get("isError"), answer
        # An open connection does not hold up the end.
        assert server.stop() == 0
        connection.close()


def silent_clients_make_room(m):
    """More connections than there may be: the longest silent go, and the server answers on both ways."""
    with m.serve(env={"HTTP_MAX_CONNECTIONS": "32"}) as server:
        path = path_of(m, server)
        silent = [socket.socket(socket.AF_UNIX) for _ in range(100)]
        for one in silent:
            one.connect(path)
        assert ask(path, "GET", "/health/liveness")[0] == 200
        assert server.get("/health/liveness")[0] == 200
        for one in silent:
            one.close()


def it_logs_who_asked(m):
    with m.serve(env={"HTTP_REQUEST_LOG_ENABLED": "1"}) as server:
        ask(path_of(m, server), "GET", "/metrics")
        server.stop()
        logged = [json.loads(line) for line in server.logged().splitlines()]
        assert [e["client_ip"] for e in logged if e["event"] == "http_request"] == ["unix"], logged


def off_is_off(m):
    for value in ("off", ""):
        with m.serve(env={"HTTP_SOCKET": value}) as server:
            server.stop()
            assert "  socket   none\n" in server.rest, server.rest
            assert not os.path.exists(os.path.join(m.runtime, "mailroom"))
            assert not events(server, "no_socket"), server.logged()


def what_a_dead_server_left_is_replaced(m):
    path = os.path.join(m.runtime, "own", "s.sock")
    env = {"HTTP_SOCKET": path}
    with m.serve(env=env) as server:
        server.process.kill()
        server.process.wait(TIMEOUT_S)
    assert stat.S_ISSOCK(os.lstat(path).st_mode) and os.path.exists(path + ".lock")
    with m.serve(env=env) as server:
        assert health(path)["status"] == "ok"
    assert os.listdir(os.path.dirname(path)) == []


def what_a_live_server_has_is_not_stolen(m):
    path = os.path.join(m.dir, "own", "s.sock")
    with m.serve(env={"HTTP_SOCKET": path}), Mailroom(m.program) as other:
        done = other.run("serve", "--port", "0", env={"HTTP_SOCKET": path})
        assert done.returncode != 0 and f"http.socket: another Mailroom server listens on {path}" in done.stderr, describe(done)
        assert health(path)["storage_root"] == m.root


def two_servers_of_one_user(m):
    with Mailroom(m.program) as other, m.serve() as one, other.serve(env={"XDG_RUNTIME_DIR": m.runtime}) as two:
        for server, room in ((one, m), (two, other)):
            assert health(path_of(m, server))["storage_root"] == room.root
            assert not events(server, "no_socket"), server.logged()


def the_second_goes_on_without(m):
    """On the default path: another server has the same port of another address."""
    with m.serve() as one:
        path = path_of(m, one)
        two = subprocess.Popen([m.program, "serve", "--host", "127.0.0.2", "--port", port_of(one)], cwd=m.dir, env=m.env(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            lines = [two.stdout.readline() for _ in range(3)]
        finally:
            two.terminate()
            said = two.communicate(timeout=TIMEOUT_S)[1]
        assert two.returncode == 0 and lines[2] == "  socket   none\n", (lines, said)
        assert f"the server goes on without its socket: another Mailroom server listens on {path}" in said, said
        assert health(path)["status"] == "ok"


def paths_that_cannot_be_had(m):
    folder = os.path.join(m.dir, "own")
    os.mkdir(folder, 0o700)
    m.write("own/file", "precious")
    open_to_all = os.path.join(m.dir, "open")
    os.mkdir(open_to_all)
    os.chmod(open_to_all, 0o777)
    with socket.socket(socket.AF_UNIX) as foreign:
        foreign.bind(os.path.join(folder, "foreign"))
        foreign.listen()
        for path, why in ((f"{folder}/file", f"{folder}/file is there and is not a socket"),
                (f"{folder}/foreign", f"another program listens on {folder}/foreign"),
                (f"{open_to_all}/s", f"others may write to the directory {open_to_all} "),
                (f"{folder}/{'x' * 108}", "and 107 are allowed")):
            done = m.run("serve", "--port", "0", env={"HTTP_SOCKET": path})
            assert done.returncode != 0 and "http.socket: " in done.stderr and why in done.stderr, describe(done)
    with open(f"{folder}/file", encoding="utf-8") as file:
        assert file.read() == "precious"
    assert sorted(os.listdir(folder)) == ["file", "foreign"]


def no_place_for_it(m):
    env = {"XDG_RUNTIME_DIR": None, "XDG_STATE_HOME": None, "HOME": "nowhere"}
    with m.serve(env=env) as server:
        assert server.get("/health")[0] == 200
        assert "neither XDG_RUNTIME_DIR nor HOME says where the socket can be; set HTTP_SOCKET" in server.logged(), server.logged()


# ---- over TCP ----

def every_route_but_health_asks_for_the_token(m):
    with m.serve(env=TOKEN) as server:
        path = path_of(m, server)
        status, text = ask(path, "GET", "/api-docs/openapi.json")
        assert status == 200, text
        routes = [(method.upper(), target) for target, methods in json.loads(text)["paths"].items() for method in methods]
        routes += [(method, target) for method in ("GET", "POST", "DELETE") for target in ("/mcp", "/mcp/", "/api/")]
        routes += [("GET", "/metrics"), ("GET", "/api-docs/openapi.json"), ("GET", "/no/such/route"), ("POST", "/health")]
        assert len(routes) > 40, routes
        is_open = 0
        for method, target in routes:
            for headers in ({}, {"Authorization": "Bearer wrong"}):
                status, answered, text = server.request(method, target, headers, "{}" if method == "POST" else None)
                if target.startswith(("/health", "/ready", "/mcp/health")) and method == "GET":
                    is_open += 1
                    assert status == 200, (method, target, status, text)
                else:
                    assert (status, text) == (401, UNAUTHORIZED), (method, target, headers, status, text)
                    assert answered["WWW-Authenticate"] == "Bearer", (method, target)
        assert is_open >= 6, is_open
        for target in ("/metrics", "/api-docs/openapi.json"):
            assert server.get(target, Authorization="Bearer s3cret")[0] == 200, target
            assert ask(path, "GET", target)[0] == 200, target
        server.stop()
        assert "metrics  curl -H \"Authorization: Bearer $HTTP_BEARER_TOKEN\" http://" in server.rest, server.rest


def loopback_is_trusted_until_there_is_a_token(m):
    """Without a token, of an ordinary user's server; root's: root_trusts_nobody_over_tcp()."""
    with m.serve() as server:
        assert server.get("/metrics")[0] == 200
    for token in ({"HTTP_BEARER_TOKEN": "t"}, {"HTTP_BEARER_TOKENS": "t:reader"}):
        with m.serve(env={**BARE, **token}) as server:
            assert server.get("/metrics")[0] == 401
            assert server.get("/metrics", Authorization="Bearer t")[0] == 200
            assert not events(server, "local_trust"), server.logged()
        # Who says so explicitly keeps it, and is warned.
        with m.serve(env=token) as server:
            assert server.get("/metrics")[0] == 200
            assert "every user of this machine, and every container that shares its network, is an administrator" \
                in server.logged(), server.logged()
    with m.serve(env={"HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false"}) as server:
        assert server.get("/metrics")[0] == 401
        assert ask(path_of(m, server), "GET", "/metrics")[0] == 200
        server.stop()
        assert "Clients that come over TCP need a token, and none is set: set HTTP_BEARER_TOKEN and start the server again. " \
            "This user's own commands use the socket.\n" in server.rest, server.rest
        assert f"metrics  curl --unix-socket {path_of(m, server)} http://localhost/metrics\n" in server.rest, server.rest


def a_proxy_on_it_is_not_the_user(m):
    with m.serve(env=TOKEN) as server:
        for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP"):
            assert ask(path_of(m, server), "GET", "/metrics", {name: "for=192.0.2.1"})[0] == 401, name


# ---- our own clients ----

def the_guard_uses_it(m):
    with Mailroom(m.program) as far:
        r = Repo(m, register=False, install=False)
        for agent in (HOLDER, OTHER):
            far.json("team", "register", r.path, agent, "--program", "codex", "--model", "gpt")
        far.json("team", "reserve", r.path, HOLDER, "src/**")
        with far.serve(env={**TOKEN, "XDG_RUNTIME_DIR": m.runtime}) as server:
            url, path = server.url + "/mcp", path_of(m, server)
            for env in ({"AGENT_MAIL_URL": url}, {"AGENT_MAIL_URL": f"unix:{path}"},
                    {"AGENT_MAIL_URL": url, "AGENT_MAIL_TOKEN": "s3cret", "HTTP_SOCKET": "off"}):
                assert r.held("src/a.c", "docs/a.md", **env) == {"src/a.c": [HOLDER]}, env
                assert r.check("docs/a.md", **env)["source"] == "server", env
                r.edit("src/a.c", status=2, **env)
            refused = r.check("src/a.c", status=2, AGENT_MAIL_URL=url, HTTP_SOCKET="off")["error"]["message"]
            assert "it said 401" in refused, refused
        gone = r.check("src/a.c", status=2, AGENT_MAIL_URL=f"unix:{path}")["error"]["message"]
        assert f"nobody listens on {path}" in gone, gone
        wrong = r.check("src/a.c", status=2, AGENT_MAIL_URL="unix:s.sock")["error"]["message"]
        assert "AGENT_MAIL_URL: unix: must be followed by the absolute path of a socket" in wrong, wrong


def the_doctor_uses_it(m):
    with m.serve(env=TOKEN) as server:
        def state(**env):
            done = m.run("--json", "doctor", env={**BARE, "HTTP_PORT": port_of(server), **env})
            return {check["name"]: check["state"] for check in json.loads(done.stdout)["checks"]}["mcp"]

        assert state() == "ok"
        assert state(HTTP_SOCKET="off") == "warning"
        assert state(HTTP_SOCKET="off", HTTP_BEARER_TOKEN="s3cret") == "ok"


def a_client_is_connected_so_that_it_gets_in(m):
    project = os.path.join(m.dir, "project")
    os.mkdir(project)

    def entry(*more, **env):
        result = m.json("connect", "claude-code", "--project", project, *more, env={**BARE, **env})
        with open(os.path.join(project, ".mcp.json"), encoding="utf-8") as file:
            return result, json.load(file)["mcpServers"]["mailroom"]

    result, made = entry(HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED="true")
    assert result["transport"] == "http" and "headers" not in made, made
    result, made = entry(HTTP_BEARER_TOKEN="s3cret")
    assert result["transport"] == "http" and made["headers"] == {"Authorization": "Bearer ${MAILROOM_TOKEN}"}, made
    result, made = entry(HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED="false")
    note = "lets in over TCP only who has a token, and none is set: this entry starts mailroom itself"
    assert result["transport"] == "stdio" and made["args"] == ["mcp"], made
    assert any(note in text for text in result["notes"]), result
    result, made = entry("--stdio", HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED="false")
    assert result["transport"] == "stdio" and not any(note in text for text in result["notes"]), result
    result, made = entry("--url", "http://far.example/mcp", HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED="false")
    assert result["transport"] == "http", result
    # What nobody has set depends on who runs the server.
    result, made = entry()
    assert result["transport"] == ("stdio" if IS_ROOT else "http"), result


# ---- several users: only root can be another one ----

class User(Mailroom):
    """The room of somebody who is not root."""

    def __init__(self, program):
        super().__init__(program)
        # The build directory may be closed to others.
        self.program = shutil.copy(self.program, os.path.join(self.dir, "mailroom"))
        self.who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        for path in (self.dir, self.runtime):
            os.chown(path, NOBODY, NOBODY)

    def run(self, *args, **options):
        return super().run(*args, **self.who, **options)


def as_user(uid, function, *args):
    """What the function returns, or the name of its error, in a process of that user."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            result = function(*args)
        except Exception as error:  # noqa: BLE001 - it is told
            result = type(error).__name__
        os.write(write, json.dumps(result).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        result = json.load(pipe)
    os.waitpid(child, 0)
    return result


def knock(path):
    """What is said to a request; b"" is hanging up."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(TIMEOUT_S)
        s.connect(path)
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return s.recv(100).decode()


def status_of(address):
    connection = http.client.HTTPConnection(address, timeout=TIMEOUT_S)
    connection.request("GET", "/metrics")
    return connection.getresponse().status


def root_trusts_nobody_over_tcp(m):
    with m.serve(env=BARE) as server:
        for method, target in (("GET", "/metrics"), ("GET", "/no/such/route"), ("POST", "/mcp"), ("POST", "/api/tools/whois")):
            status, _, text = server.request(method, target, body="{}" if method == "POST" else None)
            assert (status, text) == (401, UNAUTHORIZED), (target, status, text)
        assert server.get("/health")[0] == 200
        assert ask(path_of(m, server), "GET", "/metrics")[0] == 200
        assert not events(server, "local_trust"), server.logged()
    with m.serve() as server:
        assert server.get("/metrics")[0] == 200
        assert "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED is true: every user of this machine" in server.logged(), server.logged()


def another_user_is_kept_out(m):
    os.chmod(m.dir, 0o755)
    with m.serve(env=TOKEN) as server:
        path = path_of(m, server)
        assert as_user(NOBODY, knock, path) == "PermissionError"
        assert as_user(NOBODY, status_of, server.address) == 401
        # Were the files open to all, the kernel still says who it is.
        for open_path in (m.runtime, os.path.dirname(path), path):
            os.chmod(open_path, 0o777)
        said = as_user(NOBODY, knock, path)
        assert said in ("", "ConnectionResetError", "BrokenPipeError"), said
        assert ask(path, "GET", "/metrics")[0] == 200
        assert "a process of another user was refused on the socket" in server.logged(), server.logged()


def an_ordinary_user_and_root(m):
    """An ordinary user's server trusts loopback; root gets in through its socket, as well."""
    with User(m.program) as user:
        process = subprocess.Popen([user.program, "serve", "--port", "0"], cwd=user.dir, env=user.env(**BARE),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **user.who)
        try:
            address = process.stdout.readline().split()[-1][len("http://"):]
            lines = [process.stdout.readline() for _ in range(2)]
            path = os.path.join(user.runtime, "mailroom", f"mailroom-{address.rsplit(':', 1)[1]}.sock")
            assert lines[1] == f"  socket   {path}\n", lines
            connection = http.client.HTTPConnection(address, timeout=TIMEOUT_S)
            connection.request("GET", "/metrics")
            assert connection.getresponse().status == 200
            connection.close()
            assert health(path)["storage_root"] == user.root
            assert os.lstat(path).st_uid == NOBODY and mode_of(path) == 0o600
        finally:
            process.terminate()
            said = process.communicate(timeout=TIMEOUT_S)[1]
        assert process.returncode == 0 and "local_trust" not in said, said


def a_socket_of_another_user_gets_no_token(m):
    """Who put a socket where the guard looks learns nothing."""
    with User(m.program) as user:
        r = Repo(user, register=False, install=False)
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", r.path], check=True)
        path = os.path.join(user.dir, "trap")
        with socket.socket(socket.AF_UNIX) as trap:
            trap.bind(path)
            trap.listen()
            os.chmod(path, 0o777)
            # Root is believed, so the trap is a third user's.
            assert as_user(NOBODY - 1, trap.listen) is None
            done = subprocess.run([user.program, "--json", "guard", "check", "a"], cwd=r.path,
                env=user.env(AGENT_NAME=OTHER, AGENT_MAIL_URL=f"unix:{path}", AGENT_MAIL_TOKEN="hunter2"),
                capture_output=True, text=True, timeout=TIMEOUT_S, check=False, **user.who)
            assert done.returncode == 2, describe(done)
            message = json.loads(done.stdout)["error"]["message"]
            assert f"the server on {path} belongs to another user; nothing was sent to it" in message, message
            trap.settimeout(TIMEOUT_S)
            got, _ = trap.accept()
            assert got.recv(1000) == b""
            got.close()


TESTS = [it_is_this_users_alone, a_directory_that_is_too_open_is_closed, mcp_is_spoken_through_it, silent_clients_make_room, it_logs_who_asked, off_is_off,
    what_a_dead_server_left_is_replaced, what_a_live_server_has_is_not_stolen, two_servers_of_one_user,
    the_second_goes_on_without, paths_that_cannot_be_had, every_route_but_health_asks_for_the_token,
    loopback_is_trusted_until_there_is_a_token, a_proxy_on_it_is_not_the_user, the_guard_uses_it, the_doctor_uses_it,
    a_client_is_connected_so_that_it_gets_in]
AS_ROOT = [root_trusts_nobody_over_tcp, another_user_is_kept_out, an_ordinary_user_and_root,
    a_socket_of_another_user_gets_no_token]

with Tap() as tap:
    tests = TESTS + (AS_ROOT if IS_ROOT else [])
    if not os.path.isdir(f"/run/user/{os.geteuid()}"):
        tests.append(no_place_for_it)
    for test in tests:
        with Mailroom(sys.argv[1]) as room:
            tap.run(test.__name__, test, room)
