"""usage: service.py PROGRAM SOURCE - the server is started by its sockets, and its units are installed and removed."""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import TIMEOUT_S, Mailroom, Port, describe  # noqa: E402
from tap import Tap  # noqa: E402

NO_BUS = 'echo "Failed to connect to bus: No medium found" >&2; exit 1'
# Remembers what it was asked, and answers as a user's systemd that has nothing to complain of.
MANAGER = """echo "$@" >>"$SYSTEMCTL_LOG"
case "$*" in
*is-system-running*) echo running ;;
*is-active*) echo active ;;
esac"""


class Local(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=TIMEOUT_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(TIMEOUT_S)
        self.sock.connect(self.path)


def begin(connection):
    """A request whose answer is not waited for: the kernel keeps it until somebody accepts."""
    connection.request("GET", "/health/liveness")
    return connection


def answered(connection):
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response.status == 200 and b"alive" in text


class Handed:
    """Sockets as a service manager keeps them open, and servers that it starts with them."""

    def __init__(self, m):
        self.m = m
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.path = os.path.join(m.runtime, f"handed-{self.port}.sock")
        self.local = socket.socket(socket.AF_UNIX)
        self.local.bind(self.path)
        os.chmod(self.path, 0o600)
        self.local.listen(16)

    def start(self, *sockets):
        def hand_over():
            # Past what dup2() is about to replace.
            kept = [os.dup2(one.fileno(), 100 + at) for at, one in enumerate(sockets)]
            for at, fd in enumerate(kept):
                os.dup2(fd, 3 + at)
                os.close(fd)
        line = f'LISTEN_PID=$$ LISTEN_FDS={len(sockets)} exec "$@"'
        process = subprocess.Popen(["sh", "-c", line, "sh", self.m.program, "serve"], env=self.m.env(), cwd=self.m.dir,
            preexec_fn=hand_over, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.greeting = process.stdout.readline()
        return process

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
        process.stdout.close()
        assert process.wait(TIMEOUT_S) == 0, rest
        return rest


def clients_wait_for_a_server_that_comes(m):
    handed = Handed(m)
    early, early_local = begin(http.client.HTTPConnection("127.0.0.1", handed.port, timeout=TIMEOUT_S)), begin(Local(handed.path))
    process = handed.start(handed.tcp, handed.local)
    assert handed.greeting.endswith(f" listens on http://127.0.0.1:{handed.port}\n"), handed.greeting
    assert answered(early) and answered(early_local)
    rest = handed.stop(process)
    assert f"socket   {handed.path}\n" in rest, rest
    # The sockets are the manager's: who connects now is answered by the next server.
    assert os.path.exists(handed.path)
    between = begin(http.client.HTTPConnection("127.0.0.1", handed.port, timeout=TIMEOUT_S))
    between_local = begin(Local(handed.path))
    process = handed.start(handed.local, handed.tcp)
    assert answered(between) and answered(between_local)
    handed.stop(process)
    # One of them alone: the other is opened as always.
    process = handed.start(handed.tcp)
    own = os.path.join(m.runtime, "mailroom", f"mailroom-{handed.port}.sock")
    assert answered(begin(Local(own)))
    handed.stop(process)
    assert not os.path.exists(own)


def what_is_handed_over_must_be_a_listening_socket(m):
    handed = Handed(m)
    with socket.socket() as silent:
        process = handed.start(silent)
        process.stdout.close()
        assert process.wait(TIMEOUT_S) == 2 and not handed.greeting


def an_address_for_others_needs_a_token_here_too(m):
    handed = Handed(m)
    with socket.create_server(("0.0.0.0", 0)) as everywhere:
        process = handed.start(everywhere)
        process.stdout.close()
        assert process.wait(TIMEOUT_S) == 2 and not handed.greeting


def systemd_starts_it(m):
    with Port() as port:
        path = os.path.join(m.runtime, "activated.sock")
        keep = [f"--setenv={name}={value}" for name, value in m.env().items()]
        process = subprocess.Popen(["systemd-socket-activate", "-l", f"127.0.0.1:{port}", "-l", path, *keep, m.program,
            "serve"], env=m.env(), cwd=m.dir, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)
        for line in process.stderr:
            if path in line:
                break
        assert answered(begin(Local(path)))
        assert answered(begin(http.client.HTTPConnection("127.0.0.1", int(port), timeout=TIMEOUT_S)))
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
        process.stderr.close()
        assert process.wait(TIMEOUT_S) == 0


class Desk:
    """A home whose systemctl is a script of ours."""

    def __init__(self, m, script):
        self.m = m
        self.bin = os.path.join(m.dir, "bin")
        self.log = os.path.join(m.dir, "systemctl.log")
        os.makedirs(self.bin, exist_ok=True)
        with open(os.path.join(self.bin, "systemctl"), "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        os.chmod(file.name, 0o755)
        self.units = os.path.join(m.dir, ".config/systemd/user")

    def env(self):
        return {"PATH": f"{self.bin}:{os.environ['PATH']}", "SYSTEMCTL_LOG": self.log, "STORAGE_ROOT": None,
            "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": None}

    def service(self, what, *more, **env):
        return self.m.json("service", what, *more, env={**self.env(), **env})

    def asked(self):
        with open(self.log, encoding="ascii") as file:
            lines = file.read().splitlines()
        os.unlink(self.log)
        return [line for line in lines if "is-" not in line]

    def unit(self, name):
        with open(os.path.join(self.units, name), encoding="utf-8") as file:
            return file.read()

    def states(self, told):
        return [unit["state"] for unit in told["units"]]


def units_are_installed_once(m):
    desk = Desk(m, MANAGER)
    assert desk.states(desk.service("status")) == ["missing", "missing"]
    desk.asked()
    told = desk.service("install")
    assert desk.states(told) == ["installed", "installed"] and told["active"] == "active" and told["advice"] == [], told
    assert desk.asked() == ["--user daemon-reload", "--user enable --now mailroom.socket"]
    assert "ListenStream=127.0.0.1:8765\nListenStream=%t/mailroom/mailroom-8765.sock\n" in desk.unit("mailroom.socket")
    assert f'ExecStart="{m.program}" serve\n' in desk.unit("mailroom.service"), desk.unit("mailroom.service")
    before = [os.stat(os.path.join(desk.units, name)).st_ino for name in sorted(os.listdir(desk.units))]
    assert desk.service("install") == told
    assert before == [os.stat(os.path.join(desk.units, name)).st_ino for name in sorted(os.listdir(desk.units))]
    if shutil.which("systemd-analyze"):
        # What the units say is known to systemd; whether it could run them here is another question.
        done = subprocess.run(["systemd-analyze", "verify", "--user", "--man=no", os.path.join(desk.units, "mailroom.service")],
            env=m.env(), capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        assert "mailroom." not in done.stderr, done.stderr
    # Other settings: what we wrote is written anew, and said so.
    told = desk.service("install", "--set", "http.port=9123")
    assert "mailroom-9123.sock" in desk.unit("mailroom.socket")
    assert "systemctl --user restart mailroom.socket mailroom.service" in told["advice"][0], told
    assert "put http.port into ~/.config/mailroom/mailroom.yaml" in told["advice"][1], told
    assert desk.states(desk.service("status")) == ["outdated", "installed"]
    desk.asked()
    assert desk.states(desk.service("remove")) == ["missing", "missing"]
    assert desk.asked() == ["--user disable --now mailroom.socket mailroom.service", "--user daemon-reload"]
    assert os.listdir(desk.units) == []
    assert desk.states(desk.service("remove")) == ["missing", "missing"]
    assert desk.asked() == []


def what_others_wrote_stays(m):
    desk = Desk(m, MANAGER)
    desk.service("install")
    edited = os.path.join(desk.units, "mailroom.service")
    with open(edited, "a", encoding="ascii") as file:
        file.write("Nice=5\n")
    text = desk.unit("mailroom.service")
    told = desk.service("install", "--set", "http.port=9123")
    assert desk.states(told) == ["installed", "edited"] and f"{edited} was edited and stays as it is" in told["advice"][0], told
    told = desk.service("remove")
    assert desk.states(told) == ["missing", "edited"] and told["advice"] == [f"{edited} was edited and was left: remove it yourself"]
    assert desk.unit("mailroom.service") == text
    with open(edited, "w", encoding="ascii") as file:
        file.write("[Service]\nExecStart=/bin/true\n")
    done = m.run("service", "install", env=desk.env())
    assert done.returncode == 1 and f"{edited} is there and was not written by Mailroom" in done.stderr, describe(done)
    assert os.listdir(desk.units) == ["mailroom.service"]
    assert desk.states(desk.service("remove"))[1] == "foreign"
    os.unlink(edited)


def without_a_systemd_it_says_what_to_do(m):
    desk = Desk(m, NO_BUS)
    shutil.rmtree(desk.units, ignore_errors=True)
    said = ("no systemd of this user runs here (Failed to connect to bus: No medium found): log in to a session of its own, or "
        "start the server yourself: mailroom serve")
    done = m.run("service", "install", env=desk.env())
    assert done.returncode == 1 and done.stderr == f"mailroom service install: nothing was installed: {said}\n", describe(done)
    assert not os.path.exists(desk.units)
    told = desk.service("status")
    assert told["advice"] == [said] and told["manager"] == "", told
    told = desk.service("status", PATH=os.path.join(m.dir, "empty"))
    assert "there is no systemctl" in told["advice"][0], told
    # What an earlier session installed can still be removed.
    Desk(m, MANAGER).service("install")
    desk = Desk(m, NO_BUS)
    assert desk.states(desk.service("remove")) == ["missing", "missing"] and os.listdir(desk.units) == []


def a_failing_systemctl_is_quoted(m):
    desk = Desk(m, MANAGER + '\ncase "$*" in *enable*) echo "Unit is masked." >&2; exit 1;; esac')
    done = m.run("service", "install", env=desk.env())
    assert done.returncode == 1 and "systemctl --user enable --now mailroom.socket failed: Unit is masked." in done.stderr, \
        describe(done)


def main():
    with Tap() as tap, Mailroom(sys.argv[1]) as m:
        for case in (clients_wait_for_a_server_that_comes, what_is_handed_over_must_be_a_listening_socket,
                an_address_for_others_needs_a_token_here_too):
            tap.run(case.__name__, case, m)
        if shutil.which("systemd-socket-activate"):
            tap.run("systemd_starts_it", systemd_starts_it, m)
        else:
            tap.skip("systemd_starts_it", "no systemd-socket-activate here")
        for case in (units_are_installed_once, what_others_wrote_stays, without_a_systemd_it_says_what_to_do,
                a_failing_systemctl_is_quoted):
            tap.run(case.__name__, case, m)


main()
