"""Drive the built program as a user would: commands, and a server on a free port."""

import http.client
import json
import os
import pty
import random
import signal
import socket
import subprocess
import tempfile
import termios

TIMEOUT_S = 60


class Mailroom:
    """Commands run in a directory of their own, which is also home and holds the data."""

    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.room = tempfile.TemporaryDirectory(prefix="mailroom-box-")
        self.dir = self.room.name
        self.root = os.path.join(self.dir, "data")
        self.runtime = os.path.join(self.dir, "run")
        os.mkdir(self.runtime, 0o700)

    def env(self, **more):
        """The runtime directory is ours, so that no socket of the user's own server is met. Tests run as root, too,
        and most of them speak TCP without a token; what happens without the last variable: local_socket.py."""
        env = {k: v for k, v in os.environ.items()
            if k.startswith(("ASAN_", "UBSAN_", "LSAN_", "GIT_CONFIG_")) or k in ("PATH", "LANG", "TERM", "TZ")}
        env.update(HOME=self.dir, STORAGE_ROOT=self.root, XDG_RUNTIME_DIR=self.runtime,
            HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED="true")
        env.update(more)
        return {k: v for k, v in env.items() if v is not None}

    def run(self, *args, stdin="", env=None, cwd=None, **options):
        return subprocess.run([self.program, *args], cwd=cwd or self.dir, env=self.env(**(env or {})), input=stdin,
            capture_output=True, text=True, timeout=TIMEOUT_S, check=False, **options)

    def json(self, *args, status=0, **options):
        done = self.run("--json", *args, **options)
        assert done.returncode == status, describe(done)
        assert not done.stderr, describe(done)
        return json.loads(done.stdout)

    def in_a_terminal(self, *args, env=None, columns=80):
        """What the command writes when its output is a terminal. It is read while the command runs: a terminal takes
        only a few pages ahead of its reader."""
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, columns))
        process = subprocess.Popen([self.program, *args], cwd=self.dir, env=self.env(**(env or {})), stdin=theirs,
            stdout=theirs, stderr=subprocess.DEVNULL)
        os.close(theirs)
        text = b""
        try:
            while chunk := os.read(ours, 65536):
                text += chunk
        except OSError:
            pass  # the end of a terminal
        os.close(ours)
        assert process.wait(TIMEOUT_S) == 0, (args, text)
        return text.decode("utf-8")

    def write(self, name, text):
        with open(os.path.join(self.dir, name), "w", encoding="utf-8") as file:
            file.write(text)

    def remove(self, name):
        os.unlink(os.path.join(self.dir, name))

    def serve(self, *args, env=None):
        return Server(self, args, env or {})

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.room.cleanup()


class Server:
    """A running `mailroom serve`, or another server; as a context it ends with SIGTERM and must end well."""

    def __init__(self, mailroom, args, env, command=("serve", "--port", "0")):
        self.log = tempfile.TemporaryFile(mode="w+", encoding="utf-8")
        self.process = subprocess.Popen([mailroom.program, *command, *args], cwd=mailroom.dir,
            env=mailroom.env(**env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.greeting = self.process.stdout.readline()
        if " listens on http://" not in self.greeting:
            self.process.wait(TIMEOUT_S)
            raise AssertionError(f"no greeting: {self.greeting!r} {self.logged()}")
        self.url = self.greeting.split()[-1]
        self.address = self.url[len("http://"):]

    def request(self, method, path, headers=None, body=None):
        """(status, headers, text) of one request on a connection of its own."""
        connection = http.client.HTTPConnection(self.address, timeout=TIMEOUT_S)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            return response.status, response.headers, response.read().decode("utf-8")
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.request("GET", path, {k.replace("_", "-"): v for k, v in headers.items()})

    def logged(self):
        self.log.flush()
        self.log.seek(0)
        return self.log.read()

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.rest = self.process.stdout.read()
        return self.process.wait(TIMEOUT_S)

    def __enter__(self):
        return self

    def __exit__(self, kind, *ignored):
        if self.process.poll() is None:
            status = self.stop()
            assert kind or status == 0, f"the server ended with {status}: {self.logged()}"
        self.close()

    def close(self):
        """After it has ended."""
        self.log.close()
        self.process.stdout.close()


class Port:
    """A free port for a server that has to be told one; as a context it is kept from other tests.

    It is outside of the range that the kernel takes the ports of port 0 and of clients from, so no process gets it by
    chance. Other tests see that it is taken by the UDP port of the same number.
    """

    def __init__(self):
        with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
            lowest = int(file.read().split()[0])
        while True:
            self.number = random.randrange(10000, max(lowest, 20000))
            self.mark = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                self.mark.bind(("127.0.0.1", self.number))
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", self.number))
                return
            except OSError:
                self.mark.close()

    def __enter__(self):
        return str(self.number)

    def __exit__(self, *ignored):
        self.mark.close()


def describe(done):
    return f"{done.args[1:]} ended with {done.returncode}: {done.stdout!r} {done.stderr!r}"
