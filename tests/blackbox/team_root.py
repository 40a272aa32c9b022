"""usage: team_root.py PROGRAM SOURCE - the storage as a whole: checked, and made anew."""

import concurrent.futures
import fcntl
import glob
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402


class Team:
    def __init__(self, m):
        self.m = m
        self.database = os.path.join(m.root, "storage.sqlite3")
        self.archive = os.path.join(m.root, "projects", "data-backend")
        self.json("ensure-project", "/data/backend")
        for name in ("GreenCastle", "BlueLake", "RedCat"):
            self.json("register", "backend", name, "--program", "codex", "--model", "gpt")
        for number in range(5):
            self.json("send", "backend", "GreenCastle", "--to", "BlueLake", "--bcc", "RedCat",
                "--subject", f"number {number}", "--body-md", "the body", "--thread-id", "T-1")
        self.json("read", "backend", "BlueLake", "1")
        self.json("reserve", "backend", "BlueLake", "src/**", "--reason", "mine")

    def json(self, *args, **options):
        return self.m.json("team", *args, **options)

    def git(self, *args):
        done = subprocess.run(["git", "-C", self.archive, *args], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def inbox(self, name="BlueLake"):
        return self.json("inbox", "backend", name, "--include-bodies")["result"]

    def damage(self):
        for path in glob.glob(self.database + "-*"):
            os.unlink(path)
        with open(self.database, "r+b") as file:
            file.write(b"this is not a database any more, whatever it may be" * 40)


def all_is_well(m):
    team = Team(m)
    report = team.json("check")
    assert report["ok"] and report["problems"] == [], report
    assert (report["projects"], report["agents"], report["messages"]) == (1, 3, 5), report
    assert team.git("status", "--porcelain") == ""
    assert team.git("fsck", "--no-progress", "--strict") == ""
    log = team.git("log", "--format=%s").splitlines()
    assert log[-1] == "chore: initialize archive", log
    assert "mail: GreenCastle -> BlueLake | number 0" in log, log
    assert "RedCat" not in team.git("log", "--grep", "mail:", "--format=%B"), "a blind copy in git"


def check_says_what_is_wrong(m):
    team = Team(m)
    [canonical] = glob.glob(team.archive + "/messages/*/*/*__1.md")
    with open(canonical, "a", encoding="utf-8") as file:
        file.write("and more")
    report = team.json("check", status=1)
    assert not report["ok"], report
    kinds = {problem["kind"] for problem in report["problems"]}
    assert kinds == {"wrong_file", "archive"}, report
    done = m.run("team", "check")
    assert done.returncode == 1 and os.path.basename(canonical) in done.stdout, done


def a_damaged_database_is_refused_and_made_anew(m):
    team = Team(m)
    before = team.inbox()
    team.damage()
    error = team.json("inbox", "backend", "BlueLake", status=1)["error"]
    assert team.database in error["message"], error
    assert "mailroom team rebuild" in error["message"], error
    done = m.run("team", "rebuild")
    assert done.returncode != 0 and "not confirmed, nothing was done" in done.stderr, done
    result = team.json("rebuild", "--yes")
    assert (result["projects"], result["agents"], result["messages"], result["recipients"]) == (1, 3, 5, 10), result
    assert result["reservations"] == 1 and os.path.exists(result["moved_aside"]), result
    after = team.inbox()
    for message in before + after:
        message["read_ts"] = None  # was known to the database only
        message.pop("unread", None)
    assert after == before, (after, before)
    assert len(team.inbox("RedCat")) == 5
    assert team.json("check")["ok"]
    found = team.json("search", "backend", "number")["result"]
    assert len(found) == 5, found
    assert team.json("send", "backend", "GreenCastle", "--to", "BlueLake", "--subject", "s", "--body-md", "b")[
        "deliveries"][0]["payload"]["id"] == 6


def what_was_read_is_kept_when_it_can_be(m):
    team = Team(m)
    before = team.inbox()
    result = team.json("rebuild", "--yes")
    assert result["kept_state"] == 1 and result["problem_count"] == 0, result
    assert team.inbox() == before


def an_archive_comes_back(m):
    team = Team(m)
    subprocess.run(["rm", "-rf", team.archive], check=True)
    assert not team.json("check", status=1)["ok"]
    result = team.json("rebuild", "--from", "database", "--yes")
    assert result["from"] == "database" and result["archived"] >= 10, result
    assert team.json("check")["ok"]
    assert team.git("status", "--porcelain") == ""


def tear(team):
    """The files beside the commits, as a power loss leaves them: empty, cut off, or full of NUL."""
    torn = []
    for place, names, files in os.walk(team.archive):
        names[:] = [name for name in names if not name.startswith(".")]
        for name in files:
            if name.startswith("."):
                continue
            path = os.path.join(place, name)
            size = os.path.getsize(path)
            with open(path, "r+b") as file:
                file.truncate((0, size // 2)[len(torn) % 2])
            torn.append(path)
    assert len(torn) > 20, torn
    return torn


def torn_files_lose_nothing(m):
    """Rebuild reads the commits; a work tree that a power loss emptied does not matter, and is whole afterwards."""
    team = Team(m)
    before = team.inbox()
    tear(team)
    report = team.json("check", status=1)
    assert {problem["kind"] for problem in report["problems"]} == {"wrong_file", "archive"}, report
    assert any("a server that starts writes it again" in problem["msg"] for problem in report["problems"]), report
    result = team.json("rebuild", "--yes")
    assert (result["messages"], result["lost"], result["carried"], result["complete"]) == (5, 0, 0, True), result
    assert result["problem_count"] == 0, result
    assert team.inbox() == before
    assert team.json("check")["ok"]
    tear(team)
    os.unlink(team.database)
    result = team.json("rebuild", "--yes")
    assert (result["messages"], result["complete"], result["problem_count"]) == (5, True, 0), result
    assert len(team.inbox()) == 5 and team.json("check")["ok"]
    assert team.git("status", "--porcelain") == ""


def a_server_mends_torn_files(m):
    team = Team(m)
    torn = tear(team)
    os.unlink(torn[-1])
    with m.serve():
        deadline = time.monotonic() + 60
        while team.git("status", "--porcelain") != "":
            assert time.monotonic() < deadline, team.git("status", "--porcelain")
            time.sleep(0.05)
    assert team.json("check")["ok"]


def what_is_not_archived_is_taken_over(m):
    """The archive cannot follow: what only the old database has is in the new one."""
    team = Team(m)
    shutil.rmtree(os.path.join(team.archive, ".git"))
    with open(os.path.join(team.archive, ".git"), "w", encoding="ascii") as file:
        file.write("in the way")
    done = m.run("--json", "team", "send", "backend", "GreenCastle", "--to", "BlueLake", "--subject", "not archived",
        "--body-md", "b")
    assert done.returncode == 0, done
    tear(team)
    done = m.run("--json", "--yes", "team", "rebuild")
    result = json.loads(done.stdout)
    assert (done.returncode, result["messages"], result["carried"], result["complete"]) == (0, 6, 6, True), done
    assert [message["subject"] for message in team.json("inbox", "backend", "BlueLake")["result"]][0] == "not archived"


def damage_both(team):
    """Nothing is left of two messages: neither their objects nor their files nor their rows."""
    for number in range(30):
        team.json("send", "backend", "GreenCastle", "--to", "BlueLake", "--subject", f"long {number}", "--body-md",
            f"{number:03000}")
    db = sqlite3.connect(team.database)
    db.execute("VACUUM")  # so that no free space still has a text
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    shutil.rmtree(os.path.join(team.archive, ".git", "objects"))
    tear(team)
    with open(team.database, "r+b") as file:
        data = file.read()
        for number in (7, 21):
            page = data.index(f"{number:03000}".encode()) // 4096
            file.seek(page * 4096)
            file.write(b"garbage " * 512)
    with open(team.database, "rb") as file:
        return file.read()


def a_rebuild_that_would_lose_messages_is_refused(m):
    team = Team(m)
    before = damage_both(team)
    names = sorted(os.listdir(m.root))
    done = m.run("--yes", "team", "rebuild")
    assert done.returncode == 1, done
    assert "a new database would lose 2 messages: 13 (msg_" in done.stderr, done
    assert "Nothing was changed." in done.stderr and "`mailroom team rebuild --accept-loss 2`" in done.stderr, done
    error = team.json("rebuild", "--yes", "--accept-loss", "1", status=1)["error"]
    assert "would lose 2 messages" in error["message"], error
    with open(team.database, "rb") as file:
        assert file.read() == before, "the old database was changed"
    assert sorted(os.listdir(m.root)) == names, (names, os.listdir(m.root))
    result = team.json("rebuild", "--yes", "--accept-loss", "2")
    assert (result["messages"], result["lost"], result["complete"]) == (33, 2, False), result
    with open(result["moved_aside"], "rb") as file:
        assert file.read() == before
    subjects = {message["subject"] for message in team.json("inbox", "backend", "BlueLake", "--limit", "100")["result"]}
    assert subjects == {f"number {n}" for n in range(5)} | {f"long {n}" for n in range(30) if n not in (7, 21)}, subjects


def a_branch_that_is_lost_is_told(m):
    """Without a database to compare with nobody can say whether this is all."""
    team = Team(m)
    os.unlink(team.database)
    with open(os.path.join(team.archive, ".git", "refs", "heads", "main"), "w", encoding="ascii"):
        pass
    result = team.json("rebuild", "--yes", status=1)
    assert (result["messages"], result["complete"], result["problem_count"]) == (5, False, 1), result
    assert "newest readable commit" in result["problems"][0]["msg"], result
    assert "rebuild --from database" in result["problems"][0]["msg"], result
    team.json("rebuild", "--from", "database", "--yes")
    assert team.json("check")["ok"]


def a_database_that_is_gone_is_found(m):
    """Whoever looks says so, and nobody makes an empty one beside the archives."""
    team = Team(m)
    for empty in (False, True):
        os.unlink(team.database)
        if empty:
            with open(team.database, "w", encoding="ascii"):
                pass
        said = f"database {team.database} is {'empty' if empty else 'gone'}, while 1 project has an archive"
        for args in (("check",), ("inbox", "backend", "BlueLake"), ("send", "backend", "GreenCastle", "--to", "BlueLake",
                "--subject", "s", "--body-md", "b")):
            error = team.json(*args, status=1)["error"]
            assert f"{said}: run `mailroom team rebuild`" in error["message"], error
        done = m.run("team", "check")
        assert done.returncode == 1 and said in done.stderr, done
        done = m.run("serve", "--port", "0")
        assert done.returncode == 1 and "mailroom team rebuild" in done.stderr, done
        assert os.path.exists(team.database) == empty and (not empty or os.path.getsize(team.database) == 0)
        assert team.json("rebuild", "--yes")["messages"] == 5
        assert team.json("check")["ok"]


def whois_knows_the_agents_own_commits(m):
    team = Team(m)
    summaries = [commit["summary"] for commit in team.json("whois", "backend", "BlueLake")["recent_commits"]]
    assert summaries[0] == "file_reservation: BlueLake src/**", summaries
    assert summaries[1] == "mail: GreenCastle -> BlueLake | number 4", summaries


def a_server_archives_what_commands_leave(m):
    team = Team(m)
    lock = open(os.path.join(team.archive, ".archive.lock"), "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    team.json("send", "backend", "GreenCastle", "--to", "BlueLake", "--subject", "left", "--body-md", "b")
    assert "left" not in team.git("log", "--format=%s"), "archived in spite of the lock"
    with m.serve():
        lock.close()
        deadline = time.monotonic() + 30
        while "| left" not in team.git("log", "-1", "--format=%s"):
            assert time.monotonic() < deadline, "the server did not archive it"
            time.sleep(0.05)
        result = m.run("team", "rebuild", "--yes")
        assert result.returncode == 1 and "stop it first" in result.stderr, result
    assert team.json("check")["ok"]


def nothing_is_lost_by_who_sends_meanwhile(m):
    """Commands come and go while the database is made anew: each finds the old one or the new one, never one that is let go."""
    team = Team(m)
    stop, sent = threading.Event(), []

    def write(name):
        while not stop.is_set():
            answer = team.json("send", "backend", name, "--to", "RedCat", "--subject", "meanwhile", "--body-md", "b")
            sent.append(answer["deliveries"][0]["payload"]["id"])

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(write, name) for name in ("GreenCastle", "BlueLake")]
        made = 0
        try:
            for _ in range(100):
                done = m.run("--json", "--yes", "team", "rebuild")
                made += done.returncode == 0
                assert done.returncode == 0 or "stop" in done.stdout, done.stdout
                if made == 3:
                    break
        finally:
            stop.set()
        for writer in writers:
            writer.result()
    assert made == 3, made
    listed = team.json("inbox", "backend", "RedCat", "--limit", "1000")["result"]
    assert sorted(x["id"] for x in listed if x["subject"] == "meanwhile") == sorted(sent)
    assert team.json("check")["ok"], team.json("check")


def a_rebuild_waits_for_who_archives(m):
    """Sending does not; so ARCHIVE_LOCK_TIMEOUT is an error of the library's drain, and a unit test's."""
    team = Team(m)
    with open(os.path.join(team.archive, ".archive.lock"), "rb+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        team.json("send", "backend", "GreenCastle", "--to", "RedCat", "--subject", "held", "--body-md", "b")
        rebuilding = subprocess.Popen([m.program, "--json", "--yes", "team", "rebuild", "--from", "database"], cwd=m.dir,
            env=m.env(), stdout=subprocess.PIPE, text=True)
        try:
            rebuilding.wait(0.5)
            raise AssertionError("it did not wait")
        except subprocess.TimeoutExpired:
            pass
    assert json.loads(rebuilding.communicate(timeout=60)[0])["problem_count"] == 0
    assert team.json("check")["ok"]


TESTS = [all_is_well, nothing_is_lost_by_who_sends_meanwhile, a_rebuild_waits_for_who_archives,
    a_server_archives_what_commands_leave, check_says_what_is_wrong, a_damaged_database_is_refused_and_made_anew,
    torn_files_lose_nothing, a_server_mends_torn_files, what_is_not_archived_is_taken_over,
    a_rebuild_that_would_lose_messages_is_refused, a_branch_that_is_lost_is_told, a_database_that_is_gone_is_found,
    what_was_read_is_kept_when_it_can_be, an_archive_comes_back, whois_knows_the_agents_own_commits]


def run(test):
    with Mailroom(sys.argv[1]) as m:
        test(m)


with Tap() as tap:
    for test in TESTS:
        tap.run(test.__name__.replace("_", " "), run, test)
