"""usage: team_root.py PROGRAM SOURCE - the storage as a whole: checked, and made anew."""

import concurrent.futures
import fcntl
import glob
import json
import os
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
    report = team.json("check")
    assert not report["ok"], report
    kinds = {problem["kind"] for problem in report["problems"]}
    assert kinds == {"wrong_file", "archive"}, report
    done = m.run("team", "check")
    assert done.returncode == 0 and os.path.basename(canonical) in done.stdout, done


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
    assert not team.json("check")["ok"]
    result = team.json("rebuild", "--from", "database", "--yes")
    assert result["from"] == "database" and result["archived"] >= 10, result
    assert team.json("check")["ok"]
    assert team.git("status", "--porcelain") == ""


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
    what_was_read_is_kept_when_it_can_be, an_archive_comes_back, whois_knows_the_agents_own_commits]


def run(test):
    with Mailroom(sys.argv[1]) as m:
        test(m)


with Tap() as tap:
    for test in TESTS:
        tap.run(test.__name__.replace("_", " "), run, test)
