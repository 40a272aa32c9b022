#!/usr/bin/env python3
"""usage: bench_work.py PROGRAM - the e-mail workspace: do commands cost what they change, and not what it holds?

Workspaces of 1,000, 10,000 and 100,000 mails are made by imports. Each command is a process of its own, as agents run
it; the fastest of several is taken, because the machine is noisy. Memory is the peak of the process.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

ROUNDS = 7
BODY = 3500  # bytes; a mail has about 4 KiB with its headers
SMALL_BODY = 300
MEMORY_MIB = 64


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


def write_mbox(path, count, body):
    with open(path, "wb") as file:
        for number in range(count):
            file.write(b"From x Mon May  4 00:00:00 2026\n" + mail(number, body).replace(b"\r\n", b"\n") + b"\n")


def write_files(directory, count, body):
    """The same mails, each with an fsync: seconds."""
    os.mkdir(directory)
    seconds = 0
    for number in range(count):
        data = mail(number, body)  # one at a time: what this process holds counts as the peak of those that it starts
        begun = time.monotonic()
        fd = os.open(os.path.join(directory, f"{number}.eml"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(fd, data)
        os.fsync(fd)
        os.close(fd)
        seconds += time.monotonic() - begun
    return seconds


class Desk:
    def __init__(self, program, directory):
        self.dir = directory
        os.mkdir(directory)
        self.afmail = os.path.join(directory + "-bin", "afmail")
        os.mkdir(os.path.dirname(self.afmail))
        os.symlink(os.path.abspath(program), self.afmail)
        self.run("init")

    def run(self, *args):
        """(result, seconds, MiB) of one command."""
        begun = time.monotonic()
        process = subprocess.Popen([self.afmail, *args], cwd=self.dir, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        if process.returncode:
            sys.exit(f"bench_work: {' '.join(args)} failed: {out.decode()[-500:]}")
        return json.loads(out), time.monotonic() - begun, usage.ru_maxrss / 1024

    def fastest(self, *args):
        runs = [self.run(*args) for _ in range(ROUNDS)]
        return min(seconds for _, seconds, _ in runs), max(memory for _, _, memory in runs)

    def take_in(self, count, body):
        path = self.dir + ".mbox"
        write_mbox(path, count, body)
        result, seconds, memory = self.run("import", path)
        assert result["new_message_count"] == count, result
        os.unlink(path)
        return seconds, memory


def stat_everything(directory):
    begun = time.monotonic()
    count = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            os.stat(os.path.join(folder, name))
            count += 1
    return time.monotonic() - begun


def measure_import(program, where):
    raw = min(write_files(os.path.join(where, f"raw{n}"), 10000, BODY) for n in range(2))
    desk = Desk(program, os.path.join(where, "desk10000"))
    seconds, memory = desk.take_in(10000, BODY)
    figure("work: import of 10,000 mails of 4 KiB", 10000 / seconds, "mails/s", "files with an fsync each", 10000 / raw,
        raw / seconds, "at least", 0.5)
    figure("work: memory of that import", memory, "MiB", "limit", MEMORY_MIB, memory / MEMORY_MIB, "at most", 1)
    again = desk.run("render", "refresh")
    refreshed, memory = desk.fastest("render", "refresh")
    bare = min(stat_everything(desk.dir) for _ in range(3))
    figure("work: render refresh of 10,000 unchanged", refreshed * 1000, "ms", "a stat of every file", bare * 1000,
        refreshed / bare, "at most", 3)
    figure("work: memory of that refresh", max(memory, again[2]), "MiB", "limit", MEMORY_MIB,
        max(memory, again[2]) / MEMORY_MIB, "at most", 1)
    return desk


def grows(what, small, large, names, limit):
    figure(f"work: {what}", large * 1000, "ms", names, small * 1000, large / small, "at most", limit)


def add_one(desk, number):
    """Seconds to put one message into a case, the fastest of several."""
    case = desk.run("case", "create", "--name", "Bench")[0]["case_uid"]
    ids = [item["message_id"] for item in desk.run("triage", "list")[0]["items"][number:number + ROUNDS]]
    return min(desk.run("case", "add", case, message, "--reason", "bench")[1] for message in ids)


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp"), prefix="work-") as where:
        measure_import(program, where)
        desks = {}
        for count in (1000, 10000, 100000):
            desks[count] = Desk(program, os.path.join(where, f"small{count}"))
            seconds, memory = desks[count].take_in(count, SMALL_BODY)
            print(f"# {count} mails of {SMALL_BODY} bytes in {seconds:.1f} s, {memory:.0f} MiB", file=sys.stderr, flush=True)
        least, most = desks[1000], desks[100000]
        for words in (["status"], ["triage", "list", "--limit", "50", "--details"]):
            small, large = least.fastest(*words), most.fastest(*words)
            grows(f"{' '.join(words)} with 100,000 messages", small[0], large[0], "the same with 1,000", 3)
            figure(f"work: memory of {words[0]} with 100,000", large[1], "MiB", "limit", MEMORY_MIB, large[1] / MEMORY_MIB,
                "at most", 1)
        grows("a message added to a case, of 100,000", add_one(least, 0), add_one(most, 0), "the same of 1,000", 1.5)
        grows("search, top 20 of 100,000", desks[10000].fastest("search", "word17 sentence", "--limit", "20")[0],
            most.fastest("search", "word17 sentence", "--limit", "20")[0], "the same of 10,000", 4)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
