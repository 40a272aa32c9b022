"""A change of a workspace that is stopped anywhere is finished, or was never begun.

    crash_work_change.py PROGRAM

The program is killed at each point it passes, and each call that may fail fails. As long as no journal stands, the
files are as before; the next run finishes what a journal says, and comes to the same end as undisturbed, with each
event in the log exactly once and nothing left in .afmail/transactions.
"""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from crash import Crash, must_succeed, same, tree  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = sys.argv[1]
# What is killed loses nothing that the kernel has: where syncing costs nothing is as good.
if os.access("/dev/shm", os.W_OK):
    tempfile.tempdir = "/dev/shm"
TRANSACTIONS = os.path.join(".afmail", "transactions")
LOG = os.path.join(".afmail", "logs", "events.jsonl")
POINTS = ["work.change.staged", "work.change.journaled", "work.change.step", "work.change.unmarked",
    "work.change.dropped", "work.change.ended", "work.audit.written"]


def prepare(directory):
    must_succeed(subprocess.run([PROGRAM, "init", directory], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=180, check=False))


def picture(directory):
    """All files, and of the log what the events are."""
    found = {path: what for path, what in tree(directory).items() if path != os.path.join(".afmail", "workspace.lock")}
    if LOG in found:
        found[LOG] = [json.loads(line)["kind"] for line in found[LOG].decode().splitlines()]
    assert [p for p in found if p.startswith(TRANSACTIONS + os.sep)] == [], sorted(found)
    return found


def files(directory):
    return {path: what for path, what in tree(directory).items() if not path.startswith(".afmail")}


def main():
    with tempfile.TemporaryDirectory(prefix="mailroom-before-") as untouched:
        prepare(untouched)
        before = files(untouched)

    def has_a_journal_or_is_as_before(directory, _result=None):
        names = os.listdir(os.path.join(directory, TRANSACTIONS)) if os.path.isdir(
            os.path.join(directory, TRANSACTIONS)) else []
        if not any(name.endswith(".json") and not name.startswith(".") for name in names):
            now = files(directory)
            if not os.path.exists(os.path.join(directory, "contacts", "people")):
                return  # it is over: the picture at the end says whether it is whole
            same(now, before)

    def is_old_or_new(directory, _result=None):
        now = files(directory)
        card = os.path.join("contacts", "people", "ann.md")
        assert now.pop(card) in (b"Ann\n", b"Anna\n")
        same(now, {path: what for path, what in before.items() if path != card})

    with Tap() as tap:
        crash = Crash(tap, lambda d: [PROGRAM, "change", d], prepare, picture)
        crash.stops("change", has_a_journal_or_is_as_before, POINTS)
        crash.failures("change, disk full", "ENOSPC", has_a_journal_or_is_as_before)
        alone = Crash(tap, lambda d: [PROGRAM, "alone", d], prepare, picture)
        alone.stops("one file", is_old_or_new, ["work.change.staged", "work.change.step"])
        alone.failures("one file, disk full", "ENOSPC", is_old_or_new)


main()
