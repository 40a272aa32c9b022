"""usage: team_servers.py PROGRAM - servers of one team on several machines: each with a storage root of its own, all on one PostgreSQL."""

import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from postgres_server import HAS_POSTGRES, WHY_NOT, Postgres  # noqa: E402
from tap import Tap  # noqa: E402

WAIT_S = 60


class Team(Mailroom):
    """Machines are storage roots: `on(n)` are the variables of the nth."""

    def __init__(self, program, postgres, name):
        super().__init__(program)
        self.postgres = postgres
        self.name = name
        self.url = postgres.make(name)

    def env(self, **more):
        return super().env(**{"DATABASE_URL": self.url, "LOG_LEVEL": "debug", "ATTACHMENT_ROOTS": self.dir, **more})

    def on(self, number):
        return {"STORAGE_ROOT": os.path.join(self.dir, f"machine{number}")}

    def serve_on(self, number, **env):
        return self.serve(env={**self.on(number), **env})

    def call(self, server, tool, status=200, **arguments):
        got, _, text = server.request("POST", f"/api/tools/{tool}", {"Content-Type": "application/json"},
            json.dumps({"project_key": self.dir} | arguments))
        assert got == status, (tool, got, text)
        return json.loads(text)

    def register(self, server, *names):
        for name in names:
            self.call(server, "register_agent", name=name, program="codex", model="x")

    def sql(self, text):
        return self.postgres.sql(text, self.name)

    def check(self, number):
        return self.json_of(self.run("--json", "team", "check", env=self.on(number)))

    @staticmethod
    def json_of(done):
        return json.loads(done.stdout)


def until(condition):
    """The condition's first true value."""
    end = time.monotonic() + WAIT_S
    while not (found := condition()):
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.05)
    return found


def kept_at(m, number):
    """The archive is kept on that machine, and shows all that the database has."""
    where = m.on(number)["STORAGE_ROOT"]
    kept = m.sql("SELECT name FROM archive_places WHERE is_kept = 1 AND is_whole = 1")
    return kept.endswith(":" + where) and m.sql("SELECT count(*) FROM archive_queue") == "0"


def project_dir(m, number):
    root = os.path.join(m.on(number)["STORAGE_ROOT"], "projects")
    return os.path.join(root, os.listdir(root)[0])


def archived(m, number):
    """The names of the files in the newest commit."""
    return subprocess.run(["git", "-c", "safe.directory=*", "ls-tree", "-r", "--name-only", "HEAD"], cwd=project_dir(m, number), stdout=subprocess.PIPE, text=True,
        check=True).stdout


def the_archive_goes_to_who_is_left(m):
    with m.serve_on(1) as one:
        m.register(one, "GreenCastle", "BlueLake")
        m.write("notes.txt", "what was attached")
        m.call(one, "send_message", sender_name="GreenCastle", to=["BlueLake"], subject="first", body_md="b",
            attachment_paths=["notes.txt"], thread_id="T-1")
        m.call(one, "file_reservation_paths", agent_name="BlueLake", paths=["src/**"])
        until(lambda: kept_at(m, 1))
        with m.serve_on(2) as two:
            m.call(two, "send_message", sender_name="BlueLake", to=["GreenCastle"], subject="second", body_md="b", thread_id="T-1")
            until(lambda: kept_at(m, 1))
            assert "__second__" in archived(m, 1)
            assert not os.path.exists(os.path.join(m.on(2)["STORAGE_ROOT"], "projects", os.path.basename(project_dir(m, 1)), ".git"))
            # Elsewhere a check looks at the database alone, and says where the archive is.
            told = m.check(2)
            assert told["ok"] and told["kept_by"].endswith(m.on(1)["STORAGE_ROOT"]), told
            one.process.send_signal(signal.SIGKILL)
            one.process.wait()
            killed = time.monotonic()
            m.call(two, "send_message", sender_name="GreenCastle", to=["BlueLake"], subject="third", body_md="b", thread_id="T-1")
            until(lambda: kept_at(m, 2))
            took = time.monotonic() - killed
            told = m.check(2)
            assert told["ok"] and "kept_by" not in told and told["messages"] == 3, told
            files = archived(m, 2)
            assert all(f"__{subject}__" in files for subject in ("first", "second", "third")), (files,)
            # What was attached on the machine that is gone is there, too.
            assert "attachments/" in files and ".txt" in files, (files,)
            print(f"# taken over and complete after {took:.1f} s")
            # The first machine comes back with an older archive, and waits for its turn.
            with m.serve_on(1) as again:
                m.call(again, "send_message", sender_name="BlueLake", to=["GreenCastle"], subject="fourth", body_md="b")
                until(lambda: kept_at(m, 2))
                m.json("team", "agents", m.dir, env=m.on(1))
                assert two.stop() == 0
                until(lambda: kept_at(m, 1))
                told = m.check(1)
                assert told["ok"] and told["messages"] == 4, told
                assert "__third__" in archived(m, 1)


TESTS = [the_archive_goes_to_who_is_left]

if __name__ == "__main__":
    with Tap() as tap:
        if not HAS_POSTGRES:
            for test in TESTS:
                tap.skip(test.__name__, WHY_NOT)
        else:
            with Postgres() as postgres:
                for test in TESTS:
                    with Team(sys.argv[1], postgres, test.__name__[:60]) as team:
                        tap.run(test.__name__, test, team)
