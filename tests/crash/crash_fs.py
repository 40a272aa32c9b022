"""usage: crash_fs.py PROGRAM - a stop anywhere in base/fs.c leaves the old file or the new one."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from crash import Crash, describe, must_succeed, tree  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = sys.argv[1]
POINTS = ["fs.make_dirs.made", "fs.make_dirs.synced", "fs.write.created", "fs.write.written",
    "fs.write.synced", "fs.write.renamed", "fs.write.done", "fs.rename.renamed",
    "fs.rename.target_synced", "fs.rename.done", "fs.remove_all.removed"]


def put(directory, name, text):
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def prepare(directory):
    put(directory, "old", "old text")
    put(directory, "from", "moved text")
    put(directory, "beside/stays", "beside")
    put(directory, "tree/leaf", "leaf")
    put(directory, "tree/branch/leaf", "leaf")
    os.symlink("../beside", os.path.join(directory, "tree", "link"))


def check(directory):
    """Each file is whole: all of the old one or all of the new one."""
    must_succeed(subprocess.run([PROGRAM, "--sweep", directory], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False))
    found = tree(directory)
    assert found["old"] in (b"old text", b"new text"), found["old"]
    assert found.get("made/a/b/new", b"first text") == b"first text", found["made/a/b/new"]
    places = [found[name] for name in ("from", "made/to") if name in found]
    assert places and set(places) == {b"moved text"}, places
    assert found["beside/stays"] == b"beside", "a link was followed"
    left = [name for name in found if ".tmp-" in name]
    assert not left, f"temporaries left: {left}"


def check_failed(directory, result):
    assert result.returncode == 1, describe(result)
    assert b"crash_fs: cannot " in result.stdout, describe(result)
    left = [name for name in tree(directory) if ".tmp-" in name]
    assert not left, f"temporaries left: {left}"
    check(directory)


def check_ended(directory, result):
    """The call has a substitute: nobody notices."""
    must_succeed(result)
    check(directory)


with Tap() as tap:
    crash = Crash(tap, lambda d: [PROGRAM, d], prepare)
    crash.stops("fs", check, expect=POINTS)
    crash.failures("fs", "ENOSPC", check_failed, only=lambda name: name != "fs.renameat2")
    crash.failures("without renameat2", "ENOSYS", check_ended, only=lambda n: n == "fs.renameat2")
    crash.env = {"MAILROOM_FAIL_AT": "fs.renameat2:ENOSYS"}
    crash.stops("without renameat2", check, expect=["fs.rename.linked"])
