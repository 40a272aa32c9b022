"""usage: team_postgres.py PROGRAM - a team whose database is on a PostgreSQL server, used by several servers and by commands."""

import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from postgres_server import HAS_POSTGRES, WHY_NOT, Postgres  # noqa: E402
from tap import Tap  # noqa: E402

SENDERS = 6
EACH = 15


class Room(Mailroom):
    """Everything in it uses one database of the server."""

    def __init__(self, program, postgres, name):
        super().__init__(program)
        self.postgres = postgres
        self.name = name
        self.url = postgres.make(name)

    def env(self, **more):
        return super().env(**{"DATABASE_URL": self.url, **more})

    def call(self, server, tool, status=200, **arguments):
        got, _, text = server.request("POST", f"/api/tools/{tool}", {"Content-Type": "application/json"},
            json.dumps({"project_key": self.dir} | arguments))
        assert got == status, (tool, got, text)
        return json.loads(text)

    def agents(self, *names):
        for name in names:
            self.json("team", "register", self.dir, name, "--program", "codex", "--model", "x")


def commands_use_it(m):
    m.agents("GreenCastle", "BlueLake")
    m.json("team", "send", m.dir, "GreenCastle", "--to", "BlueLake", "--subject", "Zürich plan", "--body-md", "Build it with care.",
        "--ack-required")
    inbox = m.json("team", "inbox", m.dir, "BlueLake")["result"]
    assert [one["subject"] for one in inbox] == ["Zürich plan"], inbox
    m.json("team", "reserve", m.dir, "BlueLake", "src/**")
    again = m.json("team", "reserve", m.dir, "GreenCastle", "src/main.c")
    assert [one["holders"][0]["agent"] for one in again["conflicts"]] == ["BlueLake"], again
    found = m.json("team", "search", m.dir, "zurich AND care")["result"]
    assert [one["subject"] for one in found] == ["Zürich plan"], found
    assert m.json("team", "check")["ok"], m.json("team", "check")
    assert not os.path.exists(os.path.join(m.root, "storage.sqlite3"))


def a_message_wakes_who_waits_at_another_server(m):
    m.agents("GreenCastle", "BlueLake")
    with m.serve() as one, m.serve() as other:
        got = []
        waits = threading.Thread(target=lambda: got.append(m.call(other, "wait_for_mail", agent_name="BlueLake",
            timeout_seconds=50, since=0)))
        waits.start()
        m.call(one, "send_message", sender_name="GreenCastle", to=["BlueLake"], subject="over there", body_md="b")
        waits.join()
        assert "over there" in json.dumps(got), got


def all_that_was_acknowledged_is_there_once(m):
    """Two servers, and the database is restarted in the middle."""
    m.agents("GreenCastle", "BlueLake")
    acknowledged, lock, half = [], threading.Lock(), threading.Event()

    def send(server, number):
        for i in range(EACH):
            subject = f"{number}-{i}"
            key = f"key-{subject}"
            for _ in range(1200):
                status, _, text = server.request("POST", "/api/tools/send_message", {"Content-Type": "application/json"},
                    json.dumps({"project_key": m.dir, "sender_name": "GreenCastle", "to": ["BlueLake"], "subject": subject,
                        "body_md": "b", "idempotency_key": key}))
                if status == 200:
                    with lock:
                        acknowledged.append(subject)
                        if len(acknowledged) == SENDERS * EACH // 3:
                            half.set()
                    break
                # Also where it is not known whether it was stored: the key makes it safe to ask again.
                assert "try again" in text or "it is not known whether it was stored" in text, text
                time.sleep(0.05)
            else:
                raise AssertionError(text)

    with m.serve() as one, m.serve() as other:
        threads = [threading.Thread(target=send, args=((one, other)[n % 2], n)) for n in range(SENDERS)]
        for thread in threads:
            thread.start()
        half.wait(60)
        m.postgres.stop("immediate")
        m.postgres.start()
        for thread in threads:
            thread.join()
    assert sorted(acknowledged) == sorted(f"{n}-{i}" for n in range(SENDERS) for i in range(EACH))
    stored = m.postgres.sql("SELECT subject FROM messages ORDER BY subject", m.name).split("\n")
    assert sorted(stored) == sorted(acknowledged), (len(stored), len(acknowledged))


def another_programs_database_stays_as_it_is(m):
    m.postgres.sql("CREATE TABLE customers (id int)", m.name)
    done = m.run("team", "agents", m.dir)
    assert done.returncode == 1 and "has tables of another program: name a database for Mailroom alone" in done.stderr, done
    assert m.postgres.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", m.name) == "customers"


def an_older_one_changes_nothing_that_a_newer_one_made(m):
    m.agents("GreenCastle", "BlueLake")
    with m.serve() as server:
        m.call(server, "list_agents")
        m.postgres.sql("INSERT INTO schema_version SELECT max(version) + 1, 'of the future', 1 FROM schema_version", m.name)
        told = m.call(server, "send_message", status=409, sender_name="GreenCastle", to=["BlueLake"], subject="s", body_md="b")
        assert "a newer mailroom has changed database postgresql://" in told["error"]["message"], told
        assert "this one only reads it; stop it, and start the newer one" in told["error"]["message"], told
        assert m.call(server, "fetch_inbox", agent_name="BlueLake")["result"] == []
        assert server.get("/health/readiness")[0] == 503
    done = m.run("team", "agents", m.dir)
    assert done.returncode == 1 and "was made by a newer mailroom (its schema is version" in done.stderr, done
    assert m.postgres.sql("SELECT count(*) FROM messages", m.name) == "0"


def trouble_says_what_it_is(m):
    secret = "postgresql://ann:hunter2@127.0.0.1:1/mail"
    done = m.run("team", "agents", m.dir, env={"DATABASE_URL": secret})
    assert done.returncode == 1 and "postgresql://ann@127.0.0.1:1/mail cannot be reached" in done.stderr, done
    assert "hunter2" not in done.stderr + done.stdout
    shown = m.run("config", "show", env={"DATABASE_URL": secret})
    assert "hunter2" not in shown.stdout + shown.stderr, shown
    m.agents("GreenCastle")
    done = m.run("team", "rebuild", "--yes")
    assert done.returncode == 1 and "is on a server, which keeps it whole" in done.stderr, done
    done = m.run("backup", os.path.join(m.dir, "b.tar"))
    assert done.returncode == 1 and "copy it with pg_dump" in done.stderr, done
    with m.serve() as server:
        m.call(server, "list_agents")
        m.postgres.stop()
        try:
            told = m.call(server, "list_agents", status=503)
            assert "cannot be reached" in json.dumps(told) or "was lost" in json.dumps(told), told
            assert server.get("/health/readiness")[0] == 503
        finally:
            m.postgres.start()
        while server.get("/health/readiness")[0] != 200:
            time.sleep(0.05)
        m.call(server, "list_agents")


TESTS = [commands_use_it, a_message_wakes_who_waits_at_another_server, all_that_was_acknowledged_is_there_once,
    another_programs_database_stays_as_it_is, an_older_one_changes_nothing_that_a_newer_one_made,
    trouble_says_what_it_is]

with Tap() as tap:
    if not HAS_POSTGRES:
        for test in TESTS:
            tap.skip(test.__name__, WHY_NOT)
    else:
        with Postgres() as postgres:
            for test in TESTS:
                with Room(sys.argv[1], postgres, test.__name__[:60]) as room:
                    tap.run(test.__name__, test, room)
