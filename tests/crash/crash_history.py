"""usage: crash_history.py PROGRAM [KILLS] - a stop anywhere in data/history*.c loses nothing that was
acknowledged, leaves nothing half done, and no lock."""

import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from crash import Crash, describe, must_succeed, tree  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = sys.argv[1]
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 100
WORKERS = ("north", "south")
FILES = 8
POINTS = ["history.make.info", "history.make.done", "history.pack.written",
    "history.pack.named", "history.pack.done", "history.gitlock.taken", "history.ref.written",
    "history.ref.named", "history.ref.synced", "history.gitlock.released", "history.file.written",
    "history.file.named", "history.file.removed", "history.append.files", "history.state.written",
    "history.state.named", "history.merge.written", "history.merge.removed", "history.index.written"]
ENV = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
    "HOME": "/nonexistent"}
# What each batch of the fixed sequence must leave.
BATCHES = [{"messages/2026/01/one.md": b"one"}, {"messages/2026/01/two.md": b"two"},
    {"messages/2026/02/three.md": b"three", "agents/Fox/inbox": b"a file"}]


def git(directory, *args):
    result = subprocess.run(["git", "-C", os.path.join(directory, "archive"), *args], env=ENV,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert result.returncode == 0, f"{' '.join(args)}: {describe(result)}"
    return result.stdout.decode()


def acked(directory, name):
    try:
        with open(os.path.join(directory, name + ".acked"), encoding="ascii") as file:
            return [int(line) for line in file.read().splitlines()]
    except FileNotFoundError:
        return []


def leftovers(directory):
    """Locks and temporary files below .git."""
    found = tree(os.path.join(directory, "archive", ".git"))
    own = [path for path in found if path.startswith("mailroom/")]
    return sorted({path for path in found if path.endswith(".lock") or ".tmp" in path}
        | (set(own) - {"mailroom/lock", "mailroom/state"}))


def work_tree(directory):
    return tree(os.path.join(directory, "archive"),
        skip=lambda path: path == ".git" or path.startswith(".git/"))


def committed(directory):
    """{path: bytes} of the newest commit, in one call of git."""
    listing = git(directory, "ls-tree", "-r", "main").splitlines()
    ids = {line.split("\t")[1]: line.split()[2] for line in listing}
    result = subprocess.run(["git", "-C", os.path.join(directory, "archive"), "cat-file", "--batch"],
        env=ENV, input="\n".join(ids.values()).encode() + b"\n", stdout=subprocess.PIPE, check=True)
    files, rest = {}, result.stdout
    for path in ids:
        head, rest = rest.split(b"\n", 1)
        size = int(head.split()[2])
        files[path], rest = rest[:size], rest[size + 1:]
    return files


def whole(directory):
    """Every commit is whole for git, whatever was killed."""
    assert git(directory, "fsck", "--strict", "--no-progress", "--no-dangling") == "", "fsck"


def check(directory):
    """Straight after the stop: what was acknowledged is in the history."""
    if not os.path.exists(os.path.join(directory, "archive", ".git", "refs", "heads", "main")):
        assert not acked(directory, "all"), "acknowledged, but nothing is there"
        return
    whole(directory)
    files = committed(directory)
    for number in acked(directory, "all"):
        for path, data in BATCHES[number].items():
            assert files.get(path) == data, f"{path} of batch {number} is lost"


def picture(directory):
    whole(directory)
    return {
        "commits": git(directory, "log", "--format=%H %s", "main"),
        "files": {k: v for k, v in work_tree(directory).items()},
        "status": git(directory, "status", "--porcelain"),
        "unreachable": git(directory, "fsck", "--unreachable", "--no-progress"),
        "left": leftovers(directory),
    }


def check_failed(directory, result):
    assert result.returncode in (0, 1), describe(result)
    if result.returncode == 1:
        assert b"No space left" in result.stdout, describe(result)
    check(directory)


def start(directory, name):
    return subprocess.Popen([PROGRAM, "--load", directory, name], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def kill(worker):
    worker.send_signal(signal.SIGKILL)
    said = worker.communicate()[1].decode().strip()
    assert worker.returncode == -signal.SIGKILL, f"a worker gave up: {said}"


def check_load(directory):
    """Everything acknowledged is there, every batch is there wholly or not at all."""
    must_succeed(subprocess.run([PROGRAM, "--end", directory], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False))
    whole(directory)
    files = committed(directory)
    on_disk = {path: data for path, data in work_tree(directory).items() if data is not None}
    assert files == on_disk, "the work tree differs from the commit"
    for name in WORKERS:
        numbers = {int(path.split("/")[1]) for path in files if path.startswith(f"{name}/")
            and path.count("/") == 2}
        lost = set(acked(directory, name)) - numbers
        assert not lost, f"acknowledged but lost: {name} {sorted(lost)}"
        for number in numbers:
            for i in range(FILES):
                got = files.get(f"{name}/{number}/{i}.md")
                assert got == f"{name} {number} {i}".encode(), f"half a batch: {name}/{number}"
        if numbers:
            assert files[f"{name}/newest"] == str(max(numbers)).encode(), f"{name}/newest"
    assert leftovers(directory) == [], leftovers(directory)
    assert git(directory, "status", "--porcelain") == "", "status"
    commits = int(git(directory, "rev-list", "--count", "main"))
    assert commits >= sum(len(acked(directory, name)) for name in WORKERS), commits


def under_load(crash, kills, seed):
    chance = random.Random(seed)
    with crash.fresh() as directory:
        workers = {name: start(directory, name) for name in WORKERS}
        try:
            for _ in range(kills):
                time.sleep(chance.uniform(0.005, 0.15))
                name = chance.choice(WORKERS)
                kill(workers[name])
                workers[name] = start(directory, name)
            # On a slow machine all may have died young: let the last ones do something.
            deadline = time.monotonic() + 60
            while not all(acked(directory, name) for name in WORKERS):
                assert time.monotonic() < deadline, "no worker came to do anything"
                time.sleep(0.01)
        finally:
            for worker in workers.values():
                kill(worker)
        check_load(directory)


with Tap() as tap:
    crash = Crash(tap, lambda d: [PROGRAM, d], picture=picture)
    seed = random.randrange(1 << 32)
    tap.run(f"{KILLS} kills at random moments (seed {seed})", under_load, crash, KILLS, seed)
    crash.stops("history", check, expect=POINTS)
    crash.failures("history", "ENOSPC", check_failed, only=lambda name: name.startswith("history."))
