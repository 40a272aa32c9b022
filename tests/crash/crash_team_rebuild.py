"""usage: crash_team_rebuild.py PROGRAM - a stop anywhere while the database is made from the archives, or
they from it: the old database is there until the new one is and stays beside it, the next try completes, and
what it makes is what one that nobody stopped makes."""

import glob
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from crash import Crash, describe, must_succeed, same  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = sys.argv[1]
PROJECTS = ("data-backend", "data-front")
PAGE = 4096
SWAP = ["rebuild.read", "rebuild.built", "rebuild.aside", "rebuild.log_aside", "fs.rename.renamed", "rebuild.swapped"]
# How a change is committed, a file put in place and a commit made have tests of their own.
ELSEWHERE = ("queue.", "fs.write.", "fs.make_dirs.", "history.file.", "history.state.", "history.gitlock.",
    "history.pack.", "history.ref.", "history.make.", "history.index.")
ENV = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
    "HOME": "/nonexistent"}
# When the tables were made, numbers given out so far, and how the search keeps its words.
NOT_COMPARED = ("schema_version", "sqlite_sequence", "fts_messages")

# A stop is no power cut, so nothing needs a disk, and without one this takes half the time.
MEMORY = "/dev/shm"
if os.access(MEMORY, os.W_OK):
    tempfile.tempdir = MEMORY


def run(act, directory, **env):
    return subprocess.run([PROGRAM, act, directory], env=os.environ | env, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False)


def database(directory):
    return os.path.join(directory, "root", "storage.sqlite3")


def rows(path, patch=None):
    """{table: rows} of a database with its log, with a page put back into it: (number, bytes). Of a copy, since
    even reading leaves traces."""
    with tempfile.TemporaryDirectory(prefix="mailroom-crash-") as place:
        copy = os.path.join(place, "copy")
        for end in ("", "-wal"):
            if os.path.exists(path + end):
                shutil.copyfile(path + end, copy + end)
        if patch:
            put_page(copy, *patch)
        db = sqlite3.connect(copy)
        try:
            names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                if not name.startswith(NOT_COMPARED)]
            return {name: sorted(map(repr, db.execute(f"SELECT * FROM {name}"))) for name in names}
        finally:
            db.close()


def put_page(path, number, data):
    with open(path, "r+b") as file:
        file.seek((number - 1) * PAGE)
        file.write(data)


def git(directory, project, *args):
    result = subprocess.run(["git", "-C", os.path.join(directory, "root", "projects", project), *args], env=ENV,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert result.returncode == 0, f"{' '.join(args)}: {describe(result)}"
    return result.stdout.decode()


def committed(directory):
    """{path: object} of the archives as they are committed, each whole and as its work tree."""
    found = {}
    for project in PROJECTS:
        git(directory, project, "fsck", "--strict", "--no-progress")
        git(directory, project, "read-tree", "HEAD")
        assert git(directory, project, "status", "--porcelain", "-uno") == "", f"{project}: the work tree differs"
        for line in git(directory, project, "ls-tree", "-r", "HEAD").splitlines():
            found[f"{project}/{line.split(chr(9))[1]}"] = line.split()[2]
    return found


def picture(directory):
    """All that is told; checking it first also archives what waits."""
    must_succeed(run("check", directory))
    return rows(database(directory)) | committed(directory)


class Storage:
    """Prepared once, copied for each stop: so ids and times are the same in all of them."""

    def __init__(self, place):
        self.place = place
        must_succeed(run("prepare", place))
        db = sqlite3.connect(database(place))
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages = dict(db.execute("SELECT name, rootpage FROM sqlite_master"))
        db.close()
        with open(database(place), "rb") as file:
            data = file.read()
        # Neither is in the log.
        self.head, self.leases = ((page, data[(page - 1) * PAGE:page * PAGE])
            for page in (1, pages["file_reservations"]))
        # Stopped behind its last change: what it did is in the log, and not archived.
        result = run("late", place, MAILROOM_CRASH_AT="team.written:3")
        assert result.returncode == -signal.SIGKILL, describe(result)
        assert os.path.getsize(database(place) + "-wal") > 0, "nothing is in the log"
        self.rows = rows(database(place))
        assert len(self.rows["messages"]) == 4 and self.rows.pop("archive_queue"), self.rows

    def copy(self, directory):
        shutil.copytree(self.place, directory, symlinks=True, dirs_exist_ok=True)

    def tells_all(self, path, patch=None):
        told = rows(path, patch)
        told.pop("archive_queue")
        same(told, self.rows)


class Replaced:
    """A new database, from an old one that lacks a page, or whose last swap was stopped."""

    def __init__(self, storage, lost=None, parted=False):
        self.storage, self.lost, self.parted = storage, lost, parted
        self.whole = None

    def prepare(self, directory):
        self.storage.copy(directory)
        path = database(directory)
        if self.lost:
            put_page(path, self.lost[0], b"garbage " * (PAGE // 8))
        if self.parted:
            # What a stop at rebuild.log_aside leaves when the log could not be put into its database.
            aside = path + ".20260101T000000Z.old"
            os.link(path, aside)
            for end in ("-wal", "-shm"):
                os.rename(path + end, aside + end)
        with open(os.path.join(directory, "number"), "w", encoding="ascii") as file:
            file.write(str(os.stat(path).st_ino))

    def names(self, directory):
        """Of the old one."""
        with open(os.path.join(directory, "number"), encoding="ascii") as file:
            number = int(file.read())
        return [path for path in [database(directory), *glob.glob(database(directory) + ".*.old")]
            if os.stat(path).st_ino == number]

    def check(self, directory):
        """There is a database in its place: the old one, or the new one, and then the old one is aside. Whatever
        it is called, the old one tells what it did, its log included."""
        names = self.names(directory)
        assert names, "the old one is gone"
        if database(directory) not in names:
            told = rows(database(directory))
            same(told, {name: self.whole[name] for name in told})
        logged = [path for path in names if os.path.exists(path + "-wal")]
        self.storage.tells_all((logged or names)[0], self.lost)

    def picture(self, directory):
        left = [name for name in os.listdir(os.path.join(directory, "root")) if ".rebuild" in name]
        assert left == [], left
        names = self.names(directory)
        assert len(names) == 1 and names[0] != database(directory), f"the old one is {names}"
        self.storage.tells_all(names[0], self.lost)
        told = picture(directory)
        self.whole = self.whole or told
        return told


class Archived:
    """New archives: one is gone, the repository of the other one cannot be read."""

    def __init__(self, storage):
        self.storage = storage

    def prepare(self, directory):
        self.storage.copy(directory)
        back, front = (os.path.join(directory, "root", "projects", project) for project in PROJECTS)
        shutil.rmtree(back)
        for path in glob.glob(os.path.join(front, ".git", "objects", "pack", "*")):
            os.chmod(path, 0o600)
            with open(path, "r+b") as file:
                file.write(b"garbage " * 4)

    def check(self, directory):
        """The database is what it was, but for what waits."""
        self.storage.tells_all(database(directory))

    def picture(self, directory):
        self.check(directory)
        return picture(directory)


def stops(tap, title, act, case, expect, only):
    crash = Crash(tap, lambda d: [PROGRAM, act, d], prepare=case.prepare, picture=case.picture,
        copies=False)
    crash.stops(title, case.check, expect=expect, only=only)


def is_ours(name):
    return not name.startswith(ELSEWHERE)


def is_swap(name):
    return name.startswith(("rebuild.", "fs.rename."))


with Tap() as tap, tempfile.TemporaryDirectory(prefix="mailroom-crash-") as home:
    made = Storage(home)
    good = Replaced(made)
    stops(tap, "a good database", "database", good, [*SWAP, "archive.committed", "team.written"], is_ours)
    tap.run("it comes back as it was", same, {name: good.whole[name] for name in made.rows}, made.rows)
    # Up to the swap they are all the same.
    stops(tap, "one without its head", "database", Replaced(made, lost=made.head), SWAP, is_swap)
    stops(tap, "one without its leases", "database", Replaced(made, lost=made.leases), SWAP, is_swap)
    parted = Replaced(made, parted=True)
    stops(tap, "one without its log", "database", parted, [*SWAP, "rebuild.log_back"], is_swap)
    tap.run("its log is found again", same, parted.whole, good.whole)
    stops(tap, "the archives", "archive", Archived(made), ["archive.committed", "fs.rename.renamed"], is_ours)
