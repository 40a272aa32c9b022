"""Eight senders in three processes, killed at random: what was acknowledged is there, once.

    crash_team_kill.py PROGRAM [KILLS [SEED]]

KILLS times (20) all three processes, or one of them, are killed with SIGKILL while they send, lease
and archive. Then every message that was acknowledged must be in the database once, with all its
recipients; and, when the archive's queue is drained, in the archive once: canonical, outbox and each
inbox. No message without recipients, nothing in a file that is not in the database, a repository git
finds no fault with, no lock that keeps the next one out.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from crash import must_succeed, same  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = sys.argv[1]
NAMES = ["GreenCastle", "RedRiver", "BlueLake", "GoldFox"]
SLUGS = ["path-to-backend", "path-to-backend", "path-to-frontend", "path-to-frontend"]
THREADS = [3, 3, 2]
ACK_BYTES = len("00000001 0 1\n")
CHECK_ARCHIVE_EVERY = 5


def run(*args):
    must_succeed(subprocess.run([PROGRAM, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=300, check=False))


def git(directory, *args):
    done = subprocess.run(["git", "-C", directory, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        timeout=300, check=False, text=True)
    assert done.returncode == 0, f"git {' '.join(args)}: {done.stderr}"
    return done.stdout


class Writers:
    def __init__(self, directory, seed):
        self.root = os.path.join(directory, "root")
        self.acks = self.root + ".acks"
        self.rng = random.Random(seed)
        run("init", self.root)

    def count(self):
        return os.path.getsize(self.acks) // ACK_BYTES if os.path.exists(self.acks) else 0

    def work(self, most):
        """Let them send a few, up to `most`, and then a little more."""
        wanted = self.count() + 1 + self.rng.randrange(most)
        deadline = time.monotonic() + 60
        while self.count() < wanted and time.monotonic() < deadline:
            time.sleep(0.002)
        assert self.count() >= wanted, "nobody sends any more"
        time.sleep(self.rng.uniform(0, 0.05))

    def kill(self, all_of_them, archive):
        processes = [subprocess.Popen(
            [PROGRAM, "write", self.root, str(self.rng.randrange(1 << 31)), str(threads)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for threads in THREADS]
        try:
            self.work(60)
            if not all_of_them:
                processes[0].send_signal(signal.SIGKILL)
                self.work(60)  # the others must go on
        finally:
            for process in processes:
                process.send_signal(signal.SIGKILL)
            said = [(process.communicate()[0].decode(), process.returncode) for process in processes]
        for text, status in said:
            assert status == -signal.SIGKILL, text
        self.check()
        if archive:
            run("drain", self.root)
            self.check_archive()

    def acknowledged(self):
        """{id: (sender, recipients)}, as numbers of NAMES"""
        found = {}
        with open(self.acks, encoding="ascii") as file:
            for line in file:
                ident, sender, count = (int(part) for part in line.split())
                assert ident not in found, f"{ident} was acknowledged twice"
                found[ident] = (sender, {(sender + 1 + i) % len(NAMES) for i in range(count)})
        return found

    def database(self):
        return database.opened(database.team_database(self.root))

    def stored(self, db):
        agents = {row[0]: NAMES.index(row[1]) for row in db.execute("SELECT id, name FROM agents")}
        found = {row[0]: (agents[row[1]], set()) for row in db.execute("SELECT id, sender_id FROM messages")}
        for ident, agent in db.execute("SELECT message_id, agent_id FROM message_recipients"):
            found[ident][1].add(agents[agent])
        return found

    def check(self):
        # Every word of every message is in the index, too, and no other.
        database.check(database.team_database(self.root))
        with self.database() as db:
            stored = self.stored(db)
        same({i: stored.get(i) for i in self.acknowledged()}, self.acknowledged())
        lonely = [ident for ident, (_, recipients) in stored.items() if not recipients]
        assert not lonely, f"messages without recipients: {lonely}"

    def check_archive(self):
        with self.database() as db:
            assert db.execute("SELECT count(*) FROM archive_queue").fetchone() == (0,), "the queue is not empty"
            wanted = {}
            for ident, (sender, recipients) in self.stored(db).items():
                places = [(SLUGS[sender], "messages"), (SLUGS[sender], f"agents/{NAMES[sender]}/outbox")]
                places += [(SLUGS[r], f"agents/{NAMES[r]}/inbox") for r in recipients]
                wanted[ident] = sorted(places)
            found = {}
            for slug in sorted(set(SLUGS)):
                directory = os.path.join(self.root, "projects", slug)
                git(directory, "fsck", "--strict", "--no-dangling")
                for path in git(directory, "ls-tree", "-r", "--name-only", "HEAD").splitlines():
                    if "__" in path and path.endswith(".md"):
                        ident = int(path[:-3].rsplit("__", 1)[1])
                        found.setdefault(ident, []).append((slug, path.rsplit("/", 3)[0]))
                # The work tree is what the commit says; the index is made when there is time.
                git(directory, "read-tree", "HEAD")
                assert git(directory, "status", "--porcelain", "--untracked-files=no") == ""
                self.check_leases(db, slug, directory)
            same({i: sorted(places) for i, places in found.items()}, wanted)

    def check_leases(self, db, slug, directory):
        folder = os.path.join(directory, "file_reservations")
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                record = json.load(file)
            held = db.execute("SELECT a.name FROM file_reservations r JOIN agents a ON a.id = r.agent_id"
                " JOIN projects p ON p.id = r.project_id WHERE p.slug = ? AND r.path_pattern = ?"
                " AND r.released_ts IS NULL", (slug, record["path_pattern"])).fetchall()
            same(sorted(h["agent"] for h in record["holders"]), sorted(name for (name,) in held))


def main():
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 32)
    print(f"# seed {seed}")
    with Tap() as tap, tempfile.TemporaryDirectory(prefix="mailroom-crash-") as directory:
        writers = Writers(directory, seed)
        for done in range(1, kills + 1):
            all_of_them = done % 2 == 0
            archive = done % CHECK_ARCHIVE_EVERY == 0 or done == kills
            tap.run(f"killed at random, {'all' if all_of_them else 'one'} of 3 ({done}/{kills})"
                + (", and archived" if archive else ""), writers.kill, all_of_them, archive)
        print(f"# {len(writers.acknowledged())} sends were acknowledged")


main()
