"""usage: crash_mailbox_carry.py PROGRAM - mail on its way to a JMAP server and back, killed at every step: the same command goes on, nothing is
lost, and nothing is there twice."""

import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from carried import ALICE, BOB, Carried, fill, picture  # noqa: E402
from crash import passes, same  # noqa: E402
from cyrus_server import HAS_CYRUS_JMAP, NO_CYRUS, CyrusJmap  # noqa: E402
from jmap_client import Jmap  # noqa: E402
from mailbox_root import Root  # noqa: E402
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402

POINTS = {"carry.kept", "place.document", "place.linked", "place.indexed", "place.settled"}
MORE = 50  # with what fill() delivers, two requests


def learn(m, run, prefixes):
    """The points that a run passes, numbered: the first two and the last of each."""
    log = os.path.join(m.dir, "passed")
    run(env={"MAILROOM_CRASH_LOG": log})
    with open(log, encoding="ascii") as file:
        points = passes([name for name in file.read().split() if name.startswith(prefixes)])
    os.unlink(log)
    last = {name: number for name, number in points}
    return [(name, number) for name, number in points if number in (1, 2, last[name])]


def kill(m, root, point, *args):
    done = m.run("--json", "mailbox", "export", "--mailbox-root", root.path, *args, env={"MAILROOM_CRASH_AT": point})
    assert done.returncode == -signal.SIGKILL, (point, describe(done))


def held(server):
    """What each account has, by Message-ID: its mailboxes and flags."""
    found = {}
    for address in (ALICE, BOB):
        for mail in Jmap(server.jmap_url, address).mails():
            key = address, mail["messageId"][0]
            assert key not in found, f"{key} is there twice"
            found[key] = sorted(mail["mailboxIds"]), sorted(mail["keywords"]), mail["text"], len(mail["attachments"])
    return found


def empty(server):
    for address in (ALICE, BOB):
        account = Jmap(server.jmap_url, address)
        account.call("Email/set", destroy=[mail["id"] for mail in account.mails()])


def killed_on_the_way_there(server, carried, wanted, point):
    empty(server)
    kill(carried.m, carried.root, point, "--to-jmap", server.jmap_url, "--all-accounts", "--credentials", carried.credentials)
    carried.out("--all-accounts")
    same(held(server), wanted)


def killed_on_the_way_back(carried, wanted, point, number):
    other = carried.into(f"back-{number}")
    kill(carried.m, other, point, "--from-jmap", carried.server.jmap_url, "--address", ALICE, "--address", BOB, "--credentials",
        carried.credentials)
    carried.back(other, ALICE, BOB)
    same(picture(other), wanted)
    other.check()


def main():
    with Tap() as tap:
        if not HAS_CYRUS_JMAP:
            tap.skip("killed on the way", NO_CYRUS)
            return
        m = Mailroom(sys.argv[1])
        with CyrusJmap([ALICE, BOB]) as server:
            root = Root(m)
            fill(root)
            carried = Carried(m, root, server)
            carried.out("--all-accounts")
            wanted = picture(root)
            first = carried.into("first")
            points = learn(m, lambda **options: carried.back(first, ALICE, BOB, **options), ("carry.", "place."))
            missing = POINTS - {point for point, _ in points}
            tap.ok(not missing, "the way back passes its points", f"not passed: {missing}")
            for at, (point, number) in enumerate(points):
                tap.run(f"killed at {point}:{number} on the way back", killed_on_the_way_back, carried, wanted, f"{point}:{number}", at)
            for number in range(MORE):
                root.deliver(subject=f"more {number}")
            empty(server)
            points = learn(m, lambda **options: carried.out("--all-accounts", **options), ("carry.",))
            tap.ok(points.count(("carry.sent", 1)) and len(points) > 2, "the way there passes its points", f"only {points}")
            wanted = held(server)
            for point, number in points:
                tap.run(f"killed at {point}:{number} on the way there", killed_on_the_way_there, server, carried, wanted, f"{point}:{number}")


if __name__ == "__main__":
    main()
