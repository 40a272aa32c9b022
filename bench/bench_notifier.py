#!/usr/bin/env python3
"""bench_notifier.py PROGRAM - what it takes to be woken by mail.

A server serves 200 agents, each of which waits in a long poll: its memory. Then mail is sent to one of them after another:
how long after the sender began its request to the server does the recipient's long poll return, beside one bare fsync of the
same moment? And how long after a command in a process of its own ended, or was started?
"""

import concurrent.futures
import http.client
import json
import os
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

AGENTS = 200
SENDS = int(os.environ.get("BENCH_SENDS", "150"))
PROGRAM = sys.argv[1]


def figure(**fields):
    print(json.dumps(fields), flush=True)


class Room:
    def __init__(self, path):
        self.path = path
        self.env = dict(os.environ, HOME=path, STORAGE_ROOT=os.path.join(path, "data"), HTTP_SOCKET="off", LOG_LEVEL="warning",
            HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED="true")

    def run(self, *args):
        done = subprocess.run([PROGRAM, *args, "--json"], env=self.env, cwd=self.path, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            sys.exit(f"mailroom {' '.join(args)}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def send(self, name, subject):
        return self.run("mail", "send", "--address", "sender@houmao.localhost", "--to", f"{name}@houmao.localhost", "--subject",
            subject, "--body-content", "x")


class Poll:
    """A long poll on a socket of its own."""

    def __init__(self, port, name):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall(f"GET /houmao/agents/{name}/gateway/mail-notifier/next?wait=300 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            "Connection: close\r\n\r\n".encode())

    def answer(self):
        text = b""
        while chunk := self.socket.recv(65536):
            text += chunk
        self.socket.close()
        return json.loads(text.split(b"\r\n\r\n", 1)[1])


class Fsync:
    """The yardstick: one after each send, because the disk is not always as fast."""

    def __init__(self, path):
        self.file = open(os.path.join(path, "yardstick"), "wb")  # pylint: disable=consider-using-with
        self.times = []

    def measure(self):
        self.file.write(b"x" * 4096)
        self.file.flush()
        begin = time.perf_counter()
        os.fsync(self.file.fileno())
        self.times.append((time.perf_counter() - begin) * 1e3)

    def median(self):
        return statistics.median(self.times)


class Sender:
    """Sends by the server's gateway, on a connection that stays open."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port)

    def send(self, name, subject):
        self.connection.request("POST", "/houmao/agents/sender/mail/send", json.dumps({"to": [f"{name}@houmao.localhost"],
            "subject": subject, "body_content": "x"}), {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text


def awaited(poll, send):
    """When the send began and ended, and when the long poll returned."""
    woken = []
    watcher = threading.Thread(target=lambda: woken.append((select.select([poll.socket], [], []), time.perf_counter())))
    watcher.start()
    begin = time.perf_counter()
    send()
    sent = time.perf_counter()
    watcher.join()
    return begin, sent, woken[0][1]


def resident_mib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmRSS:")).split()[1]) / 1024


def threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))]


def main():
    with tempfile.TemporaryDirectory(prefix="notifier-") as path:
        room = Room(path)
        room.run("agents", "create", "sender")
        names = [f"agent{number}" for number in range(AGENTS)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda name: room.run("agents", "create", name), names))
        server = subprocess.Popen([PROGRAM, "serve", "--port", "0"], env=room.env, cwd=path, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True)
        port = int(server.stdout.readline().split()[-1].rsplit(":", 1)[1])
        try:
            before = threads(server.pid)
            polls = {name: Poll(port, name) for name in names}
            until = time.monotonic() + 60
            while threads(server.pid) < before + AGENTS - 20 and time.monotonic() < until:
                time.sleep(0.1)
            time.sleep(2)
            answered = select.select([poll.socket for poll in polls.values()], [], [], 0)[0]
            if answered:
                told = next(poll for poll in polls.values() if poll.socket in answered).answer()
                sys.exit(f"{len(answered)} of {AGENTS} long polls did not wait: {told}")
            figure(what="long_polls_of_200_agents", value=resident_mib(server.pid), unit="MiB", yardstick="limit",
                yardstick_value=40, ratio=resident_mib(server.pid) / 40, goal="at most", target=1)
            sender, fsync = Sender(port), Fsync(path)
            sender.send("sender", "The first one opens what the others find open")
            requests, waits, whole = [], [], []
            for number in range(2 * SENDS):
                name = names[number % AGENTS]
                subject = f"Number {number}"
                is_request = number % 2 == 0
                begin, sent, woken = awaited(polls[name],
                    lambda: sender.send(name, subject) if is_request else room.send(name, subject))
                if is_request:
                    requests.append((woken - begin) * 1e3)
                else:
                    waits.append(max(0.0, woken - sent) * 1e3)
                    whole.append((woken - begin) * 1e3)
                told = polls[name].answer()
                assert told["message_count"] == 1, told
                polls[name] = Poll(port, name)
                fsync.measure()
            for what, value, target in (("send_request_to_long_poll_p50", percentile(requests, 0.5), 10),
                    ("send_request_to_long_poll_p99", percentile(requests, 0.99), 40),
                    ("long_poll_after_send_command_p50", percentile(waits, 0.5), 10),
                    ("long_poll_after_send_command_p99", percentile(waits, 0.99), 40),
                    ("send_command_to_long_poll_p50", percentile(whole, 0.5), 0)):
                figure(what=what, value=value, unit="ms", yardstick="bare_fsync", yardstick_value=fsync.median(),
                    ratio=value / fsync.median(), goal="at most" if target else "", target=target)
        finally:
            server.terminate()
            server.wait(30)


main()
