#!/usr/bin/env python3
"""usage: bench_work_pull.py PROGRAM [small] - mail pulled from a Dovecot on this machine, beside mbsync from the same mailbox.
With "small", nothing is pulled from a mailbox of 100,000 mails, which takes minutes.

Each command is a process of its own, as agents run it. The runs of both programs take turns; of repeated ones the fastest
is taken, because the machine is noisy. Memory is the peak of the process.
"""

import contextlib
import json
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "support"))
from mail_server import DOVECOT, PASSWORD, Dovecot  # noqa: E402

ROUNDS = 7
FIRST_ROUNDS = 3
ARRIVALS = 31
BODY, SMALL_BODY = 3500, 300  # bytes; the first with its headers about 4 KiB
MEMORY_MIB = 64
MBSYNC = shutil.which("mbsync")

MBSYNC_CONFIG = """\
IMAPAccount bench
Host 127.0.0.1
Port {port}
User {user}
Pass {password}
SSLType None
AuthMechs LOGIN

IMAPStore far
Account bench

MaildirStore near
Path {dir}/
Inbox {dir}/INBOX

Channel bench
Far :far:
Near :near:
Patterns INBOX
Create Near
Sync Pull
SyncState *
"""


def figure(what, value, unit, yardstick, yardstick_value, ratio, goal="", target=0):
    print(json.dumps({"what": what, "value": value, "unit": unit, "yardstick": yardstick,
        "yardstick_value": yardstick_value, "ratio": ratio, "goal": goal, "target": target}), flush=True)


def mail(number, body):
    """Threads of five mails from one of 97 people."""
    lines = [f"From: Person {number % 97} <p{number % 97}@example.com>", "To: me@example.net",
        f"Subject: Matter {number // 5} of thing{number % 1009}", f"Message-ID: <m{number}@example.com>",
        f"Date: {1 + number // 1440 % 28:02} May 2026 {number // 60 % 24:02}:{number % 60:02}:00 +0000"]
    if number % 5:
        lines.append(f"In-Reply-To: <m{number - 1}@example.com>")
    words = f"word{number % 5003} and word{number * 7 % 5003} make a sentence.\r\n"
    return ("\r\n".join(lines) + "\r\n\r\n" + words * (body // len(words) + 1)).encode()


def run(args, where):
    """(output, seconds, MiB, processor seconds) of one command."""
    begun = time.monotonic()
    process = subprocess.Popen(args, cwd=where, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode:
        sys.exit(f"bench_work_pull: {' '.join(args)} failed: {out.decode()[-500:]}")
    return out, time.monotonic() - begun, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def tell(what, ours, theirs):
    """Processor time, which a busy machine changes less than the clock."""
    print(f"# {what}: {min(ours):.3f} s of processor time, mbsync {min(theirs):.3f} s", file=sys.stderr, flush=True)


def fill(server, account, mails):
    """A mailbox that a client has seen: else Dovecot, which may move nothing for those that only look, lists it at every pull."""
    server.fill(account, mails)
    client = server.client(account)
    client.select("INBOX")
    client.logout()


class Desk:
    def __init__(self, program, where, name, server, user):
        self.dir = os.path.join(where, name)
        os.mkdir(self.dir)
        self.afmail = os.path.join(where, name + "-bin", "afmail")
        os.mkdir(os.path.dirname(self.afmail))
        os.symlink(os.path.abspath(program), self.afmail)
        self.run("init")
        for key, value in (("imap.host", "127.0.0.1"), ("imap.port", str(server.port)), ("imap.tls", "false"),
                ("imap.username", user), ("imap.password_secret", PASSWORD)):
            self.run("config", "set", key, value)

    def run(self, *args):
        out, *used = run([self.afmail, *args], self.dir)
        return json.loads(out), *used


class Mbsync:
    def __init__(self, where, name, server, user):
        self.dir = os.path.join(where, name)
        os.mkdir(self.dir)
        self.config = self.dir + ".rc"
        with open(self.config, "w", encoding="ascii") as file:
            file.write(MBSYNC_CONFIG.format(port=server.port, user=user, password=PASSWORD, dir=self.dir))

    def run(self):
        return run([MBSYNC, "-q", "-c", self.config, "bench"], self.dir)

    def count(self):
        return sum(len(os.listdir(os.path.join(self.dir, "INBOX", sub))) for sub in ("cur", "new"))


def first(program, where, server, count):
    """A mailbox taken in for the first time, by both in turns."""
    ours, theirs, memory, our_cpu, their_cpu = [], [], 0, [], []
    for number in range(FIRST_ROUNDS):
        yardstick = Mbsync(where, f"mbsync{number}", server, "first")
        _, seconds, _, cpu = yardstick.run()
        theirs.append(seconds)
        their_cpu.append(cpu)
        assert yardstick.count() == count
        desk = Desk(program, where, f"desk{number}", server, "first")
        result, seconds, used, cpu = desk.run("pull", "inbox")
        assert result["new_message_count"] == count, result
        ours.append(seconds)
        our_cpu.append(cpu)
        memory = max(memory, used)
    figure(f"work: first pull of {count:,} mails of 4 KiB", min(ours), "s", "mbsync", min(theirs), min(ours) / min(theirs),
        "at most", 1)
    tell("first pull", our_cpu, their_cpu)
    figure("work: memory of that pull", memory, "MiB", "limit", MEMORY_MIB, memory / MEMORY_MIB, "at most", 1)
    return desk, yardstick


def again(desk, yardstick):
    """Nothing is new: (our seconds, mbsync's, our MiB)."""
    ours, theirs, memory, our_cpu, their_cpu = [], [], 0, [], []
    for _ in range(ROUNDS):
        _, seconds, _, cpu = yardstick.run()
        theirs.append(seconds)
        their_cpu.append(cpu)
        result, seconds, used, cpu = desk.run("pull", "inbox")
        assert result["new_message_count"] == 0, result
        ours.append(seconds)
        our_cpu.append(cpu)
        memory = max(memory, used)
    tell("nothing new", our_cpu, their_cpu)
    return min(ours), min(theirs), memory


def bare_fsync(where):
    """Median seconds of an fsync of 4 KiB."""
    times = []
    fd = os.open(os.path.join(where, "fsync"), os.O_WRONLY | os.O_CREAT, 0o600)
    for _ in range(101):
        os.write(fd, b"x" * 4096)
        begun = time.monotonic()
        os.fsync(fd)
        times.append(time.monotonic() - begun)
    os.close(fd)
    return statistics.median(times)


class Relay:
    """Stands between a client and the server, and notes when the server told of new mail: Dovecot keeps that to itself for half
    a second, which is nobody's doing but its own."""

    def __init__(self, port):
        self.to, self.told = port, 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client = self.socket.accept()[0]
            server = socket.create_connection(("127.0.0.1", self.to))
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.carry, args=(client, server), daemon=True).start()
            threading.Thread(target=self.carry, args=(server, client), daemon=True).start()

    def carry(self, source, sink):
        with contextlib.suppress(OSError):  # one of them went away
            while data := source.recv(65536):
                if b" EXISTS" in data and not self.told:
                    self.told = time.monotonic()
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)


def view_of(number):
    """The file of a mail in triage: its name comes from its date and its Message-ID."""
    value = 0xcbf29ce484222325
    for byte in f"m{number}@example.com".encode():
        value = (value ^ byte) * 0x100000001b3 % (1 << 64)
    return f"message_202605{1 + number // 1440 % 28:02}_{value:016x}.md"


def arrive(desk, server, where):
    """Mail that arrives while a pull watches, until it is in triage: from when the server told of it."""
    relay = Relay(server.port)
    desk.run("config", "set", "imap.port", str(relay.port))
    desk.run("pull", "inbox")
    watcher = subprocess.Popen([desk.afmail, "pull", "inbox", "--watch"], cwd=desk.dir, stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL, text=True)
    try:
        while "watching" not in watcher.stdout.readline():
            pass
        client = server.client("first")
        times = []
        for number in range(ARRIVALS):
            view = os.path.join(desk.dir, "triage", view_of(1000000 + number * 5))
            relay.told = 0
            client.append("INBOX", None, None, mail(1000000 + number * 5, BODY))
            begun = time.monotonic()
            while not os.path.exists(view):
                if time.monotonic() - begun > 60:
                    sys.exit("bench_work_pull: a mail did not arrive")
                time.sleep(0.0002)
            times.append(time.monotonic() - relay.told)
            while "watching" not in watcher.stdout.readline():
                pass
        client.logout()
    finally:
        watcher.terminate()
        watcher.wait()
        watcher.stdout.close()
    median, fsync = statistics.median(times), bare_fsync(where)
    figure("work: a mail that arrives is in triage", median * 1000, "ms", "a bare fsync", fsync * 1000, median / fsync,
        "at most", 20)


def main():
    program = sys.argv[1]
    if not DOVECOT or not MBSYNC:
        sys.exit("bench_work_pull: dovecot-imapd and isync are needed")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp"), prefix="pull-") as where, \
            Dovecot(["first", "small", "large"]) as server:
        fill(server, "first", (mail(number, BODY) for number in range(10000)))
        desk, yardstick = first(program, where, server, 10000)
        ours, theirs, memory = again(desk, yardstick)
        figure("work: pull with nothing new of 10,000", ours * 1000, "ms", "mbsync", theirs * 1000, ours / theirs, "at most", 1)
        arrive(desk, server, where)
        if sys.argv[2:] == ["small"]:
            return
        fill(server, "large", (mail(number, SMALL_BODY) for number in range(100000)))
        large = Desk(program, where, "desk-large", server, "large")
        _, seconds, used, cpu = large.run("pull", "inbox")
        print(f"# 100,000 mails of {SMALL_BODY} bytes in {seconds:.1f} s, {cpu:.1f} s of processor time, {used:.0f} MiB", file=sys.stderr, flush=True)
        figure("work: memory of the first pull of 100,000", used, "MiB", "limit", MEMORY_MIB, used / MEMORY_MIB, "at most", 1)
        more = [large.run("pull", "inbox") for _ in range(ROUNDS)]
        slowest = min(seconds for _, seconds, _, _ in more)
        print(f"# nothing new of 100,000: {min(cpu for _, _, _, cpu in more):.3f} s of processor time", file=sys.stderr, flush=True)
        figure("work: pull with nothing new of 100,000", slowest * 1000, "ms", "the same of 10,000", ours * 1000,
            slowest / ours, "at most", 2)
        memory = max(memory, *(used for _, _, used, _ in more))
        figure("work: memory of such pulls", memory, "MiB", "limit", MEMORY_MIB, memory / MEMORY_MIB, "at most", 1)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
