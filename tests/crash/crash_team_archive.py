"""usage: crash_team_archive.py PROGRAM - a stop anywhere between sending a message and its row in the
queue being done: what was acknowledged is in the archive once, no commit is half, no lock is left."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from crash import Crash, describe, must_succeed, tree  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = sys.argv[1]
PROJECTS = ("data-backend", "data-front")
POINTS = ["team.written", "archive.locked", "archive.committed", "archive.done", "history.ref.named",
    "history.pack.named", "history.append.files"]
# How a file is put in place, and what a history does with it, have tests of their own.
ELSEWHERE = ("fs.", "queue.begun", "history.file.", "history.state.", "history.gitlock.", "history.make.")
ENV = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
    "HOME": "/nonexistent"}
# What differs from run to run.
VARIES = [(re.compile(rb'msg_\d{8}_[0-9a-f]+'), b"msg"), (re.compile(rb'\d{4}-\d\d-\d\dT[\d:.]+Z'), b"time"),
    (re.compile(rb'\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ'), b"time"),
    (re.compile(rb'("\w+_deleted"): \d+'), rb"\1"), (re.compile(rb'messages/\d{4}/\d\d/'), b"messages/")]


def git(directory, project, *args, **env):
    result = subprocess.run(["git", "-C", os.path.join(directory, "root", "projects", project), *args], env=ENV | env,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert result.returncode == 0, f"{' '.join(args)}: {describe(result)}"
    return result.stdout.decode()


def steady(data):
    for pattern, word in VARIES:
        data = pattern.sub(word, data)
    return data


def acked(directory):
    try:
        with open(os.path.join(directory, "acked"), encoding="ascii") as file:
            return set(file.read().splitlines())
    except FileNotFoundError:
        return set()


def archived(directory):
    """{path without what varies: bytes without it} of the work trees; a path twice is a mistake."""
    found = {}
    for project in PROJECTS:
        place = os.path.join(directory, "root", "projects", project)
        for path, data in tree(place, skip=lambda p: p == ".git" or p.startswith((".git/", ".archive.lock"))).items():
            if data is None:
                continue
            name = re.sub(r"\d{4}/\d\d/[^/]*__", "", f"{project}/{path}")
            assert name not in found, f"{name} is there twice"
            found[name] = steady(data)
    return found


def end(directory):
    must_succeed(subprocess.run([PROGRAM, "--end", directory], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False))


def check(directory):
    """After a stop and a drain the archive has every acknowledged message once, and is whole."""
    end(directory)
    place = os.path.join(directory, "root", "projects")
    for project in os.listdir(place):
        git(directory, project, "fsck", "--strict", "--no-progress")
        # The index follows when there is time; without it:
        index = {"GIT_INDEX_FILE": os.path.join(directory, "index")}
        git(directory, project, "read-tree", "main", **index)
        assert git(directory, project, "diff", "--stat", **index) == "", "the work tree differs"
        os.unlink(index["GIT_INDEX_FILE"])
    if not acked(directory):
        return
    # A commit's own subject, or a line of one for many.
    subjects = re.findall(r"\| (number \d)$", git(directory, "data-backend", "log", "--format=%B"), re.M)
    for subject in acked(directory):
        assert subjects.count(subject) == 1, f"{subject} is in {subjects.count(subject)} commits"
    left = [name for name in tree(place) if name.endswith((".owner.json", "ref.tmp", "pack.tmp", "idx.tmp"))
        or (name.endswith(".lock") and not name.endswith((".archive.lock", "mailroom/lock")))]
    assert left == [], left


def picture(directory):
    end(directory)
    return archived(directory)


def check_failed(directory, result):
    assert result.returncode in (0, 1), describe(result)
    end(directory)


with Tap() as tap:
    crash = Crash(tap, lambda d: [PROGRAM, d], picture=picture)
    crash.stops("team archive", check, expect=POINTS, only=lambda name: not name.startswith(ELSEWHERE))
    crash.failures("team archive", "ENOSPC", check_failed, only=lambda name: name == "history.pack.write")
