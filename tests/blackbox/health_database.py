"""usage: health_database.py PROGRAM - what happens to the database while a server uses it, and what is said of it.

Senders write all the time. Whatever is done to the database, readiness must notice, no message may be
acknowledged that is not in the database, and all must go on when the trouble is over.
"""

import glob
import http.client
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402

PATIENCE_S = 60  # for what takes less than a second on an idle machine
SENDERS = 3
CLIENTS = 64
EACH = 12
WAL_BYTES = 2 << 20  # a transaction of all clients takes more than 1 MiB
BODY = "Some words of a message. " * 400


def until(what, question):
    """Wait for an event, which is named by a text or by a function that gives one; the time is only there so that a
    broken program does not hold the tests."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        answer = question()
        if answer:
            return answer
        time.sleep(0.02)
    raise AssertionError(f"{what() if callable(what) else what} did not happen")


class Caller:
    def __init__(self, server):
        self.connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_S)

    def call(self, tool, **arguments):
        """(status, answer) of a tool."""
        project = {} if tool == "health_check" else {"project_key": "/data/backend"}
        self.connection.request("POST", f"/api/tools/{tool}", json.dumps(project | arguments),
            {"Content-Type": "application/json"})
        response = self.connection.getresponse()
        return response.status, json.loads(response.read())

    def send(self, subject, body="b"):
        return self.call("send_message", sender_name="GreenCastle", to=["BlueLake"], subject=subject, body_md=body)


class Load:
    """Some who send without pause, and remember what was acknowledged and when they had asked."""

    def __init__(self, server):
        self.server = server
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.acknowledged = []  # (when the call began, subject)
        self.refused = []  # (when the call began, answer)
        self.broken = []
        self.threads = [threading.Thread(target=self.work, args=(n,)) for n in range(SENDERS)]

    def work(self, number):
        caller = Caller(self.server)
        count = 0
        while not self.over.is_set():
            begun = time.monotonic()
            subject = f"{number}-{count}"
            try:
                status, answer = caller.send(subject)
            except OSError as error:
                self.broken.append(repr(error))
                return
            count += 1
            with self.lock:
                if status == 200:
                    self.acknowledged.append((begun, subject))
                else:
                    self.refused.append((begun, answer))
            if status != 200:
                time.sleep(0.01)

    def goes_on(self):
        """Wait until some more were acknowledged that began after now."""
        now = time.monotonic()
        until(lambda: f"acknowledging (broken: {self.broken}, refused: {self.refused[-3:]})",
            lambda: sum(begun > now for begun, _ in list(self.acknowledged)) > 3)

    def since(self, moment):
        return [subject for begun, subject in list(self.acknowledged) if begun > moment]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *ignored):
        self.over.set()
        for thread in self.threads:
            thread.join()
        assert not self.broken, self.broken


class Place:
    """A server with two agents, and its database."""

    def __init__(self, m, env=None):
        self.m = m
        self.database = os.path.join(m.root, "storage.sqlite3")
        self.server = m.serve(env=env)
        caller = Caller(self.server)
        for name in ("GreenCastle", "BlueLake"):
            status, answer = caller.call("register_agent", program="x", model="y", name=name)
            assert status == 200, answer
        assert caller.send("first")[0] == 200
        self.ready()

    def ask(self, **headers):
        status, _, text = self.server.get("/health/readiness", **headers)
        return status, json.loads(text)

    def ready(self):
        until("being ready", lambda: self.ask() == (200, {"status": "ready"}))
        assert json.loads(self.server.get("/health")[2])["status"] == "ok"

    def not_ready(self):
        """The detail of the first answer that is not 200."""
        status, answer = until("noticing", lambda: next((a for a in [self.ask()] if a[0] != 200), None))
        assert status == 503 and answer["retryable"] is True, (status, answer)
        assert self.server.get("/health/liveness")[0] == 200
        return answer["detail"]

    def agrees(self, words):
        """health_check says so, too."""
        health = Caller(self.server).call("health_check")[1]
        assert health["status"] == "error", health
        assert any(words in problem for problem in health["problems"]), (health, words)

    def archived(self):
        def is_done():
            health = Caller(self.server).call("health_check")[1]
            return health["status"] == "ok" and health["archive_pending"] == 0
        until("archiving", is_done)

    def subjects(self):
        with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True) as database:
            return {row[0] for row in database.execute("SELECT subject FROM messages")}

    def has_all(self, subjects):
        missing = set(subjects) - self.subjects()
        assert not missing, f"acknowledged, but not in the database: {sorted(missing)}"

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *what):
        self.server.__exit__(*what)


def refusals_name(load, *words):
    """The last refusal that a sender got says what is wrong with what."""
    last = until("a refusal", lambda: load.refused and load.refused[-1])[1]
    text = json.dumps(last)
    for word in words:
        assert word in text, (word, text)


def a_database_that_is_moved_away(m):
    with Place(m) as place:
        with Load(place.server) as load:
            load.goes_on()
            os.rename(place.database, place.database + ".away")
            moment = time.monotonic()
            detail = place.not_ready()
            assert f"database {place.database} was deleted or moved away" in detail, detail
            assert "put it back, or run `mailroom team rebuild`" in detail, detail
            place.agrees("was deleted or moved away")
            refusals_name(load, place.database, "put it back")
            assert load.since(moment) == [], "acknowledged into a file that was away"
            assert not os.path.exists(place.database), "an empty one was put in its place"
            os.rename(place.database + ".away", place.database)
            place.ready()
            load.goes_on()
        place.has_all(subject for _, subject in load.acknowledged)
        assert "team.database.lost" in place.server.logged() and "team.database.regained" in place.server.logged()


def a_database_that_is_deleted(m):
    """With all that belongs to it; the name that was kept is given back later."""
    with Place(m) as place:
        with Load(place.server) as load:
            load.goes_on()
            for path in glob.glob(place.database + "*"):
                os.link(path, path.replace("storage", "kept"))
            for path in glob.glob(place.database + "*"):
                os.unlink(path)
            moment = time.monotonic()
            detail = place.not_ready()
            assert "deleted or moved away" in detail, detail
            assert load.since(moment) == [], "acknowledged into a deleted file"
            # The -shm is made anew by whoever opens the database first.
            for path in glob.glob(place.database.replace("storage", "kept") + "*"):
                if path.endswith("-shm"):
                    os.unlink(path)
            for suffix in ("-wal", ""):
                os.rename(place.database.replace("storage", "kept") + suffix, place.database + suffix)
            place.ready()
            load.goes_on()
        place.has_all(subject for _, subject in load.acknowledged)


def a_database_that_is_overwritten(m):
    """It is made anew by the command that is named, while the server runs."""
    with Place(m) as place:
        with Load(place.server) as load:
            load.goes_on()
        place.archived()
        with open(place.database, "r+b") as file:
            file.write(b"this is not a database any more, whatever it may be" * 400)
        detail = place.not_ready()
        assert place.database in detail and "run `mailroom team rebuild`" in detail, detail
        place.agrees("run `mailroom team rebuild`")
        status, answer = Caller(place.server).send("refused")
        assert status == 503 and "mailroom team rebuild" in json.dumps(answer), (status, answer)
        m.json("--yes", "team", "rebuild")
        place.ready()
        with Load(place.server) as more:
            more.goes_on()
        place.has_all(subject for _, subject in load.acknowledged + more.acknowledged)
        assert "refused" not in place.subjects()


def a_log_that_is_deleted(m):
    """What was in it is saved, since the server still has it open."""
    with Place(m) as place:
        with Load(place.server) as load:
            load.goes_on()
            os.unlink(place.database + "-wal")
            os.unlink(place.database + "-shm")
            until("a new log", lambda: os.path.exists(place.database + "-wal"))
            place.ready()
            load.goes_on()
        place.has_all(subject for _, subject in load.acknowledged)


def a_database_that_is_replaced(m):
    """By a copy that was made before, as who restores a backup does: from then on that one counts."""
    with Place(m) as place:
        with sqlite3.connect(place.database) as database:
            database.execute("VACUUM INTO ?", (place.database + ".copy",))
        with Load(place.server) as load:
            load.goes_on()
            os.rename(place.database, place.database + ".old")
            place.not_ready()
            for suffix in ("-wal", "-shm"):
                os.rename(place.database + suffix, place.database + ".old" + suffix)
            moment = time.monotonic()
            os.rename(place.database + ".copy", place.database)
            place.ready()
            load.goes_on()
        place.has_all(load.since(moment) + ["first"])
        assert not {subject for begun, subject in load.acknowledged if begun < moment} & place.subjects()


def files_that_may_not_grow(m):
    """Like a full disk, for users who cannot have a small one."""
    with Place(m) as place:
        pid = place.server.process.pid
        with Load(place.server) as load:
            load.goes_on()
            before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (512, before[1]))
            moment = time.monotonic()
            detail = place.not_ready()
            assert place.database in detail, detail
            place.agrees(place.database)
            assert load.since(moment) == [], "acknowledged, but it could not be written"
            resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
            place.ready()
            load.goes_on()
        place.has_all(subject for _, subject in load.acknowledged)


def a_disk_that_is_full(m):
    """On a file system of its own, which only root can have."""
    where = tempfile.mkdtemp(prefix="mailroom-disk-")
    mount = shutil.which("mount")
    if not mount or subprocess.run([mount, "-t", "tmpfs", "-o", "size=24m", "mailroom-test", where],
            capture_output=True, check=False).returncode:
        os.rmdir(where)
        print("# no file system can be mounted here: a full disk was not tried", flush=True)
        return
    try:
        m.root = os.path.join(where, "data")
        with Place(m) as place:
            filler = os.path.join(where, "filler")
            with Load(place.server) as load:
                load.goes_on()
                # Unbuffered: closing has nothing left to write, and so nothing to fail with.
                with open(filler, "wb", buffering=0) as file:
                    try:
                        while True:
                            file.write(bytes(65536))
                    except OSError:
                        pass
                detail = place.not_ready()
                assert "disk full: free some space" in detail, detail
                place.agrees("disk full: free some space")
                os.unlink(filler)
                place.ready()
                load.goes_on()
            place.has_all(subject for _, subject in load.acknowledged)
    finally:
        subprocess.run(["umount", "-l", where], check=True)
        os.rmdir(where)


def strangers_are_not_told_where(m):
    with Place(m) as place:
        os.rename(place.database, place.database + ".away")
        place.not_ready()
        for path in ("/health/readiness", "/health"):
            status, _, text = place.server.get(path, X_Forwarded_For="203.0.113.9")
            assert status == 503 and m.dir not in text, (status, text)
            assert json.loads(text)["detail"] == ("not ready: mail cannot be stored at the moment; "
                "the server's log says why"), text
        os.rename(place.database + ".away", place.database)
        place.ready()


def commands_say_the_same(m):
    with Place(m) as place:
        assert m.json("health", "readiness") == {"status": "ready"}
        assert m.json("team", "health")["status"] == "ok"
        with open(place.database, "r+b") as file:
            file.write(b"rubbish")
        detail = place.not_ready()
        done = m.run("health", "readiness")
        assert done.returncode == 1 and "run `mailroom team rebuild`" in done.stderr, done
        report = json.loads(m.run("--json", "team", "health").stdout)
        assert report["status"] == "error" and "mailroom team rebuild" in report["problems"][0], (report, detail)


def the_log_stays_small(m):
    """64 who write, and read between; the log is looked at all the time."""
    with Place(m, env={"DATABASE_MAX_WAL_BYTES": str(WAL_BYTES), "HTTP_RATE_LIMIT_ENABLED": "false"}) as place:
        sizes = []
        failures = []

        def work(number):
            try:
                caller = Caller(place.server)
                for count in range(EACH):
                    status, answer = caller.send(f"{number}-{count}", BODY)
                    assert status == 200, answer
                    status, answer = caller.call("fetch_inbox", agent_name="BlueLake", limit=50, include_bodies=True)
                    assert status == 200 and answer["result"], answer
            except Exception as error:  # told by the test, not by the thread
                failures.append(repr(error))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(CLIENTS)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            sizes.append(os.stat(place.database + "-wal").st_size)
            time.sleep(0.005)
        assert not failures, failures[:3]
        written = os.stat(place.database).st_size
        assert written > 3 * WAL_BYTES, f"too little was written to tell: {written}"
        assert max(sizes) < 2 * WAL_BYTES, f"the log reached {max(sizes)} bytes"
        place.has_all(f"{n}-{c}" for n in range(CLIENTS) for c in range(EACH))


TESTS = [a_database_that_is_moved_away, a_database_that_is_deleted, a_database_that_is_overwritten,
    a_log_that_is_deleted, a_database_that_is_replaced, files_that_may_not_grow, a_disk_that_is_full,
    strangers_are_not_told_where, commands_say_the_same, the_log_stays_small]


def run(test):
    with Mailroom(sys.argv[1]) as m:
        test(m)


with Tap() as tap:
    for test in TESTS:
        tap.run(test.__name__.replace("_", " "), run, test)
