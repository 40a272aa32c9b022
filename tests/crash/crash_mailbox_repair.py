"""A repair that is stopped at any point has lost nothing, and the next one comes to the same end.

    crash_mailbox_repair.py PROGRAM

Each of several kinds of trouble is repaired, with a stop at every point. At each stop every document
is still there, somewhere, and so is every flag; after the next repair the root is as if the first
had come to its end, and check finds nothing wrong.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from crash import Crash, must_succeed, tree  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = sys.argv[1]
DAY = "messages/2026-03-11"


def run(*args):
    must_succeed(subprocess.run([PROGRAM, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=180, check=False))


def root_of(directory):
    return os.path.join(directory, "root")


def name_of(number):
    return f"msg-20260311T041500Z-{number:032x}.md"


def sql(path, *statements):
    for statement in statements:
        database.rows(path, statement)


def rows(path, root):
    """Every table of a database; absolute paths become relative to the root."""
    return {table: sorted(tuple(v.replace(root, "$ROOT") if isinstance(v, str) else v for v in row) for row in found)
        for table, found in database.contents(path).items()}


def picture(directory):
    """Files, links and rows; not locks and rules."""
    root = root_of(directory)
    found = {}
    for path, what in tree(directory).items():
        if path.startswith(("root/locks", "root/rules")):
            continue
        if path.endswith(".sqlite"):
            found[path] = rows(os.path.join(directory, path), root)
        elif path.endswith(".bak"):
            found[path] = "kept"  # it holds the name of this directory
        else:
            found[path] = what.replace(root, "$ROOT") if isinstance(what, str) else what
    return found


class Repair(Crash):
    """Stops that belong to repair; those of locks and files have tests of their own."""

    def learn(self):
        stops, fails, whole = super().learn()
        return [stop for stop in stops if stop[0].startswith("repair.")], fails, whole


def healthy(directory):
    root = root_of(directory)
    run("init", root)
    sql(os.path.join(root, "mailboxes/bob@x/mailbox.sqlite"), "UPDATE message_state SET is_starred = 1")


def no_index(directory):
    healthy(directory)
    os.unlink(os.path.join(root_of(directory), "index.sqlite"))


def bad_index(directory):
    healthy(directory)
    with open(os.path.join(root_of(directory), "index.sqlite"), "r+b") as file:
        file.write(b"not a database")
    with open(os.path.join(root_of(directory), "index.sqlite-journal"), "wb") as file:
        file.write(b"left over")


def trouble(directory):
    """Of every kind, while the index can be read."""
    healthy(directory)
    root = root_of(directory)
    bob = os.path.join(root, "mailboxes/bob@x")
    os.unlink(os.path.join(bob, "inbox", name_of(1)))
    os.rename(os.path.join(bob, "inbox", name_of(2)), os.path.join(bob, "archive", name_of(2)))
    os.unlink(os.path.join(root, "mailboxes/alice@x/inbox", name_of(5)))
    os.symlink("/nowhere", os.path.join(root, "mailboxes/alice@x/inbox", name_of(5)))
    os.unlink(os.path.join(root, "mailboxes/alice@x/sent", name_of(1)))
    for path, text in [("mailboxes/alice@x/sent/" + name_of(1), "in the way"),
            ("mailboxes/dave@x/mailbox.sqlite", "not a database, but long enough to be one"),
            (f"{DAY}/{name_of(99)}", "garbage"), ("staging/left.md", "staged")]:
        with open(os.path.join(root, path), "w", encoding="ascii") as file:
            file.write(text)
    os.mkdir(os.path.join(root, "messages/2025-01-01"))
    os.rename(os.path.join(root, DAY, name_of(3)), os.path.join(root, "messages/2025-01-01/wrong.md"))
    os.symlink("/nowhere", os.path.join(bob, "inbox", name_of(77)))
    sql(os.path.join(root, "index.sqlite"), f"DELETE FROM messages WHERE message_id = '{name_of(4)[:-3]}'")
    os.unlink(os.path.join(root, DAY, name_of(5)))


def nothing_is_lost(directory):
    """Every document is somewhere, every flag is where it was, and there is an index or its parts."""
    found = tree(root_of(directory))
    texts = [what for what in found.values() if isinstance(what, bytes)]
    for number in (1, 2, 3, 4):
        assert any(name_of(number)[:-3].encode() in text and text.startswith(b"---\n") for text in texts), \
            f"message {number} is lost"
    for text in (b"garbage", b"in the way", b"staged"):
        assert text in texts or not any(path.startswith("messages/2025") for path in found), f"{text} is lost"
    starred = rows(os.path.join(root_of(directory), "mailboxes/bob@x/mailbox.sqlite"), "")["message_state"]
    assert starred and all(row[6] == 1 for row in starred if row[0][-1] in "125"), "a flag is lost"


def main():
    with Tap() as tap:
        for prepare, points in [
                (healthy, ["repair.index.begun", "repair.index.committed", "repair.index.in_place"]),
                (no_index, ["repair.index.in_place"]),
                (bad_index, ["repair.index.set_aside"]),
                (trouble, ["repair.quarantine.moved", "repair.document.moved", "repair.link.made",
                    "repair.link.removed", "repair.local.set_aside", "repair.mailbox.done",
                    "repair.staging.cleaned"])]:
            crash = Repair(tap, lambda d: [PROGRAM, "repair", root_of(d)], prepare, picture)
            crash.stops(prepare.__name__, nothing_is_lost, points)
            if prepare is not trouble:
                with crash.fresh() as directory:
                    before = picture(directory) if prepare is healthy else None
                    must_succeed(crash.run(directory))
                    tap.run(f"{prepare.__name__}: check finds nothing", run, "check", root_of(directory))
                    if before:
                        tap.ok(picture(directory) == before, "healthy: repair changes nothing")
            crash.failures(prepare.__name__, "ENOSPC", check=lambda d, result: nothing_is_lost(d),
                only=lambda name: name in ("fs.rename", "fs.sync", "fs.mkdir"))


main()
