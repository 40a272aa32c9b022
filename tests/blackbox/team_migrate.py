"""usage: team_migrate.py PROGRAM - a team's database is moved from a file to a PostgreSQL server, and back. With src/team/move.c and
its tables, move_sql.c."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from moved_team import Room, told  # noqa: E402
from postgres_server import HAS_POSTGRES, WHY_NOT, Postgres  # noqa: E402
from tap import Tap  # noqa: E402

def there_and_back(m):
    before = m.fill()
    assert all(before.values()), [table for table in before if not before[table]]
    moved = m.moved(m.file, m.url)
    counts = {table["name"]: table["rows"] for table in moved["tables"]}
    assert counts == {table: len(rows) for table, rows in before.items()}, counts
    assert moved["rows"] == sum(counts.values()) and not moved["resumed"], moved
    assert told(m.file) == before
    # The old one is as it was, and says where the team went; the new one is the team's.
    assert m.json("team", "inbox", m.dir, "BlueLake", env=m.at(m.file))["result"]
    said = m.send(m.file, "late")
    assert f"{m.file} was moved to {m.url}, and can only be read" in said, said
    back = os.path.join(m.dir, "back.sqlite3")
    again = m.moved(m.url, back)
    assert again["tables"] == moved["tables"], again
    after = told(back)
    assert after == before, [table for table in before if after[table] != before[table]]
    database.check(back)
    assert "was moved to" in m.send(m.url, "late")
    assert m.send(back, "on") == ""
    lease = m.json("team", "reserve", m.dir, "GreenCastle", "web/**", env=m.at(back))["granted"][0]
    assert lease["id"] == 3, lease


def the_team_goes_on_at_the_server(m):
    m.fill(all_tables=False)
    m.moved(m.file, m.url)
    found = m.json("team", "search", m.dir, "zurich AND build", env=m.at(m.url))["result"]
    assert [one["subject"] for one in found] == ["Zürich plan"], found
    lease = m.json("team", "reserve", m.dir, "GreenCastle", "web/**", env=m.at(m.url))["granted"][0]
    assert lease["id"] == 3, lease
    assert m.send(m.url, "third") == ""
    assert m.postgres.sql("SELECT max(id) FROM messages", m.name) == "3"
    assert m.json("team", "check", env=m.at(m.url))["ok"]


def an_interrupted_one_goes_on(m):
    m.fill()
    # Begun, and killed: in the middle of a table with more rows than one step, and at its very end.
    m.killed(m.file, m.url, "move.copied:8")
    said = m.send(m.file, "late")
    assert f"is being moved to {m.url}, and can only be read meanwhile" in said, said
    assert m.json("team", "inbox", m.dir, "BlueLake", env=m.at(m.file))["result"]
    said = m.send(m.url, "early")
    assert f"is being filled from {m.file}: wait until `mailroom team migrate` has ended" in said, said
    done = m.migrate(m.file, "--to", os.path.join(m.dir, "elsewhere"))
    assert done.returncode == 1 and f"is being moved to {m.url}: go on with that" in done.stdout, done
    m.killed(m.file, m.url, "move.new_ended")
    assert m.send(m.url, "first there") == ""
    assert "is being moved to" in m.send(m.file, "late")
    moved = m.moved(m.file, m.url)
    assert moved["resumed"] and moved["tables"] == [], moved
    assert "was moved to" in m.send(m.file, "late")


def a_server_of_the_old_one_only_reads(m):
    m.fill()
    with m.serve(env=m.at(m.file)) as server:
        m.moved(m.file, m.url)
        status, _, text = server.request("POST", "/api/tools/send_message", {"Content-Type": "application/json"},
            json.dumps({"project_key": m.dir, "sender_name": "GreenCastle", "to": ["BlueLake"], "subject": "late", "body_md": "b"}))
        assert status == 409 and "was moved to" in text, (status, text)
        status, _, text = server.request("POST", "/api/tools/fetch_inbox", {"Content-Type": "application/json"},
            json.dumps({"project_key": m.dir, "agent_name": "BlueLake"}))
        assert status == 200 and "Zürich plan" in json.dumps(json.loads(text), ensure_ascii=False), (status, text)
        assert server.get("/health/readiness")[0] == 503


def what_it_refuses(m):
    def refused(where, *options):
        done = m.migrate(where, *options)
        assert done.returncode in (1, 2), done
        return json.loads(done.stdout)["error"]["message"]

    assert "there is no team in database" in refused(m.file, "--to", m.url)
    m.fill()
    assert "give either --to or --cancel" in refused(m.file)
    assert "give either --to or --cancel" in refused(m.file, "--to", m.url, "--cancel")
    assert "is the team's database already" in refused(m.file, "--to", m.file)
    assert "--to must be a path, sqlite:///path or a postgresql:// address" in refused(m.file, "--to", "mysql://a:secret@b/c")
    assert "secret" not in refused(m.file, "--to", "mysql://a:secret@b/c")
    assert "is not being moved" in refused(m.file, "--cancel")
    done = m.run("team", "migrate", "--to", m.url, env=m.at(m.file))
    assert done.returncode == 1 and "not confirmed, nothing was done" in done.stderr, done
    m.postgres.sql("CREATE TABLE customers (id int)", m.name)
    assert "has tables of another program" in refused(m.file, "--to", m.url)
    m.postgres.sql("DROP TABLE customers", m.name)
    other = os.path.join(m.dir, "other.sqlite3")
    m.json("team", "register", m.dir, "RedStone", "--program", "codex", "--model", "x", env=m.at(other) | {"STORAGE_ROOT": m.dir + "/r"})
    assert f"{other} has another team" in refused(m.file, "--to", other)
    # None of them has stopped anybody.
    assert m.send(m.file, "on") == ""
    assert m.moved(m.file, m.url)["rows"] > 0
    assert "was moved to" in refused(m.file, "--to", m.url)
    assert json.loads(m.migrate(m.file, "--cancel").stdout)["cancelled"]
    assert m.send(m.file, "on") == ""
    assert f"{m.url} has another team" in refused(m.file, "--to", m.url)


def a_change_behind_its_back_is_found(m):
    m.fill()
    m.killed(m.file, m.url, "move.compared")
    m.postgres.sql("UPDATE messages SET subject = 'else' WHERE id = 2", m.name)
    done = m.migrate(m.file, "--to", m.url)
    assert done.returncode == 1 and "table messages differs: 2 rows" in done.stdout, done
    assert "is being moved to" in m.send(m.file, "late")


TESTS = [there_and_back, the_team_goes_on_at_the_server, an_interrupted_one_goes_on, a_server_of_the_old_one_only_reads, what_it_refuses,
    a_change_behind_its_back_is_found]

if __name__ == "__main__":
    with Tap() as tap:
        if not HAS_POSTGRES:
            for test in TESTS:
                tap.skip(test.__name__, WHY_NOT)
        else:
            with Postgres() as server:
                for test in TESTS:
                    with Room(sys.argv[1], server, test.__name__[:60]) as room:
                        tap.run(test.__name__, test, room)
