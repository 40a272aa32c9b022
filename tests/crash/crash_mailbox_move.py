"""A move that is stopped leaves the message in the old box or in the new one, and readable.

    crash_mailbox_move.py PROGRAM

The program is killed at each point it passes, and each call that may fail fails; then it runs again
and must come to the same end as undisturbed. The same with a repair in between, which keeps each
message in the box that its owner's database has, and leaves nothing to find fault with.
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from crash import Crash, must_succeed, tree  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = sys.argv[1]
# What is killed loses nothing that the kernel has: where syncing costs nothing is as good.
if os.access("/dev/shm", os.W_OK):
    tempfile.tempdir = "/dev/shm"
TABLES = ["mailbox_registrations", "messages", "message_recipients", "mailbox_projections", "thread_summaries"]
POINTS = ["state.move.linked", "state.move.committed", "state.move.indexed", "state.move.unlinked"]


def root_of(directory):
    return os.path.join(directory, "root")


def run(verb, directory):
    must_succeed(subprocess.run([PROGRAM, verb, root_of(directory)], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=180, check=False))


def prepare(directory):
    run("init", directory)


def picture(directory):
    """Files, links and rows, without locks, and without what a repair sets aside."""
    found = {}
    for path, what in tree(directory).items():
        name = os.path.basename(path)
        if path.startswith(("root/locks", "root/rules", "root/staging")) or "-journal" in name:
            continue
        if name.endswith(".sqlite"):
            what = database.contents(os.path.join(directory, path),
                TABLES if name == "index.sqlite" else ["message_state", "thread_summaries"])
        found[path] = what
    return found


def boxes(directory):
    """Where each of bob's messages is, by his own database."""
    mailbox = os.path.join(root_of(directory), "mailboxes", "bob@houmao.localhost")
    states = database.contents(os.path.join(mailbox, "mailbox.sqlite"), ["message_state"])["message_state"]
    return mailbox, {row[0]: row[9] for row in states}


def every_message_is_in_its_box(directory, _result=None):
    mailbox, found = boxes(directory)
    assert len(found) == 2
    for message, box in found.items():
        assert box in ("inbox", "done"), box
        # A link to it stands there, and leads to the document.
        assert os.path.getsize(os.path.join(mailbox, box, message + ".md")) > 0


def repair_keeps_the_box(directory):
    before = boxes(directory)
    run("repair", directory)
    assert boxes(directory) == before
    every_message_is_in_its_box(directory)


def main():
    with Tap() as tap:
        crash = Crash(tap, lambda d: [PROGRAM, "move", root_of(d)], prepare, picture)
        crash.stops("move", every_message_is_in_its_box, POINTS)
        crash.stops("move, then repair", repair_keeps_the_box, POINTS,
            only=lambda name: name.startswith("state."))
        crash.failures("move, disk full", "ENOSPC", every_message_is_in_its_box)


main()
