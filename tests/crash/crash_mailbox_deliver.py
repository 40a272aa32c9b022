"""A delivery or a state change that is stopped has happened or has not, as the next writer sees it.

    crash_mailbox_deliver.py PROGRAM [KILLS [SEED]]

The program is killed at each point of a delivery (to one, to three) and of a state change; then
KILLS times (40) at a random moment one of eight writers dies, or all of them. What was acknowledged
must be in every recipient's mailbox exactly once, and nothing may be there by half.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from crash import Crash, must_succeed, same, tree  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = sys.argv[1]
NAMES = ["alice", "bob", "carol", "dave"]
WRITERS = 8
ACK_BYTES = len("msg-20260311T041500Z-0123456789abcdef0123456789abcdef 0 1\n")
POINTS = ["deliver.intent_named", "deliver.filled", "deliver.intended", "deliver.moved",
    "deliver.linked", "deliver.placed", "deliver.committed", "deliver.unlocked", "deliver.local_committed", "deliver.dropped"]


def run(*args):
    must_succeed(subprocess.run([PROGRAM, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=180, check=False))


def root_of(directory):
    return os.path.join(directory, "root")


def rows(path, root):
    """Every table of a database; absolute paths become relative to the root."""
    return {table: sorted(tuple(v.replace(root, "$ROOT") if isinstance(v, str) else v for v in row) for row in found)
        for table, found in database.contents(path).items()}


def picture(directory):
    """Files, links and rows; not locks, temporaries of intents, and empty days."""
    root = root_of(directory)
    found = {}
    for path, what in tree(root).items():
        name = os.path.basename(path)
        if path.startswith(("locks", "rules")) or "-journal" in name:
            continue
        if path.startswith("messages/") and what is None or path.startswith("staging/.intents/."):
            continue
        if name.endswith(".sqlite"):
            found[path] = rows(os.path.join(root, path), root)
        else:
            found[path] = what.replace(root, "$ROOT") if isinstance(what, str) else what
    return found


def stops(tap, title, verb, count, prepare, expect):
    def command(directory):
        return [PROGRAM, verb, root_of(directory)] + ([str(count)] if verb == "deliver" else [])

    crash = Crash(tap, command, prepare, picture)
    with crash.fresh() as directory:
        before = picture(directory)
    _, _, after = crash.learn()

    def check(directory):
        run("open", root_of(directory))
        found = picture(directory)
        if found != before:
            same(found, after)

    crash.stops(title, check, expect)


def failures(tap, title, prepare, count, errno):
    """A call that fails: the delivery says so and nothing has happened, or it has happened."""
    crash = Crash(tap, lambda d: [PROGRAM, "deliver", root_of(d), str(count)], prepare, picture)
    with crash.fresh() as directory:
        before = picture(directory)
    _, _, after = crash.learn()

    def check(directory, result):
        found = picture(directory)
        if result.returncode == 0:
            same(found, after)
        elif found != before:
            # It could not be undone either: then it is the next writer's.
            run("open", root_of(directory))
            found = picture(directory)
            if found != before:
                same(found, after)

    crash.failures(title, errno, check)


def prepared(count, delivered=False):
    def prepare(directory):
        run("init", root_of(directory))
        # Some have mail, some have none.
        run("write", root_of(directory), "7", "1")
        run("stage", root_of(directory), str(count))
        if delivered:
            run("deliver", root_of(directory), str(count))
    return prepare


class Many:
    """Eight writers on one root, again and again."""

    def __init__(self, directory, seed):
        self.root = root_of(directory)
        self.rng = random.Random(seed)
        run("init", self.root)

    def start(self):
        args = [PROGRAM, "write", self.root, str(self.rng.randrange(1 << 31)), "1000"]
        return subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def work(self, most):
        """Let them send a few, up to `most`, and then a little more."""
        wanted = self.count() + self.rng.randrange(most + 1)
        deadline = time.monotonic() + 20
        while self.count() < wanted and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(self.rng.uniform(0, 0.05))

    def count(self):
        path = self.root + ".acks"
        return os.path.getsize(path) // ACK_BYTES if os.path.exists(path) else 0

    def kill(self, all_of_them):
        """Kill one or all of them while they work, and look."""
        writers = [self.start() for _ in range(WRITERS)]
        try:
            self.work(12)
            if not all_of_them:
                writers[0].send_signal(signal.SIGKILL)
                # The others must go on.
                self.work(12)
        finally:
            for writer in writers:
                writer.send_signal(signal.SIGKILL)
            said = [(writer.communicate()[0].decode(), writer.returncode) for writer in writers]
        for text, status in said:
            assert status == -signal.SIGKILL, text
        run("open", self.root)
        self.check()

    def acknowledged(self):
        """{id: (sender, recipients)}"""
        path = self.root + ".acks"
        found = {}
        if os.path.exists(path):
            with open(path, encoding="ascii") as file:
                for line in file:
                    ident, sender, count = line.split()
                    start = int(sender)
                    assert ident not in found, f"{ident} was acknowledged twice"
                    found[ident] = (NAMES[start], {NAMES[(start + 1 + i) % 4] for i in range(int(count))})
        return found

    def links(self):
        """{id: {(name, folder)}}; every link leads to its document."""
        found = {}
        for name in NAMES:
            for folder in ("inbox", "sent"):
                where = os.path.join(self.root, "mailboxes", f"{name}@houmao.localhost", folder)
                for file in os.listdir(where):
                    path = os.path.join(where, file)
                    assert os.path.islink(path) and os.path.isfile(path), f"{path} leads nowhere"
                    found.setdefault(file[:-3], set()).add((name, folder))
        return found

    def check(self):
        documents = {name[:-3] for folder, _, files in os.walk(os.path.join(self.root, "messages")) for name in files}
        index = rows(os.path.join(self.root, "index.sqlite"), self.root)
        owners = {row[0]: row[1].split("@")[0] for row in index["mailbox_registrations"]}
        messages = [row[0] for row in index["messages"]]
        projections = {}
        for registration, ident, folder, _ in index["mailbox_projections"]:
            projections.setdefault(ident, set()).add((owners[registration], folder))
        local = {}
        for name in NAMES:
            path = os.path.join(self.root, "mailboxes", f"{name}@houmao.localhost", "mailbox.sqlite")
            for row in rows(path, self.root)["message_state"]:
                local.setdefault(row[0], set()).add((name, row[-1]))
        assert len(messages) == len(set(messages)) and set(messages) == documents, "index and documents differ"
        same(self.links(), projections)
        same(local, projections)
        for ident, (sender, recipients) in self.acknowledged().items():
            wanted = {(sender, "sent")} | {(name, "inbox") for name in recipients}
            assert projections.get(ident) == wanted, f"{ident}: {projections.get(ident)}, not {wanted}"
        left = [n for n in os.listdir(os.path.join(self.root, "staging", ".intents")) if not n.startswith(".")]
        assert not left, f"intents left: {left}"


def at_random(tap, kills, seed):
    print(f"# seed {seed}")
    with tempfile.TemporaryDirectory(prefix="mailroom-crash-") as directory:
        many = Many(directory, seed)
        for done in range(1, kills + 1):
            all_of_them = done % 2 == 0
            tap.run(f"killed at random, {'all' if all_of_them else 'one'} of {WRITERS} ({done}/{kills})",
                many.kill, all_of_them)
        print(f"# {len(many.acknowledged())} deliveries were acknowledged")


def main():
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 32)
    with Tap() as tap:
        stops(tap, "deliver to one", "deliver", 1, prepared(1), POINTS)
        stops(tap, "deliver to three", "deliver", 3, prepared(3), POINTS)
        stops(tap, "mark", "mark", 0, prepared(1, delivered=True), ["state.updated", "state.committed"])
        failures(tap, "disk full", prepared(3), 3, "ENOSPC")
        at_random(tap, kills, seed)


main()
