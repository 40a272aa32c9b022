"""A team with something in each of its tables, whose database is moved."""

import json
import os
import signal

import database
from mailroom import Mailroom

# What each database has of its own: when it was made, and its moves.
OWN = ("schema_version", "database_move", "archive_places", "client_", "relayed", "shared_secrets")
# More rows than are copied at once, with keys that engines put in different orders.
KEYS = [f"{sign}{number}" for number in range(100) for sign in ("a", "B", "ä", "_", "Z ")]


def told(path):
    """{table: rows} of a file."""
    return {table: sorted(database.rows(path, f"SELECT * FROM {table}"), key=repr)
        for table in database.table_names(path) if not table.startswith(OWN)}


class Room(Mailroom):
    """A team in a file, with something in each of its tables."""

    def __init__(self, program, postgres=None, name=""):
        super().__init__(program)
        self.file = database.team_database(self.root)
        self.postgres = postgres
        self.name = name
        self.url = postgres.make(name) if postgres else None

    def fill(self, all_tables=True):
        for name in ("GreenCastle", "BlueLake"):
            self.json("team", "register", self.dir, name, "--program", "codex", "--model", "x")
        self.send(self.file, "Zürich plan", "--body-md", "Build *it*\n\n'quoted' \\ $1 \U0001f600", "--ack-required")
        self.send(self.file, "more", "--thread-id", "T-1")
        for path in ("src/**", "docs/**"):
            self.json("team", "reserve", self.dir, "BlueLake", path)
        with database.opened(self.file) as db:
            for sql in () if not all_tables else ("DELETE FROM file_reservations WHERE id = 2",  # an id is never used again
                    "INSERT INTO agent_links VALUES (7, 1, 1, 1, 2, 'approved', '', 1, 2, NULL, NULL, 0)",
                    "INSERT INTO ack_escalations VALUES (1, 2, 1, NULL, 5)",
                    "INSERT INTO products VALUES (3, 'uid', 'Shop', 'shop', 4)", "INSERT INTO product_project_links VALUES (3, 1, 'primary', 4)",
                    "INSERT INTO build_slots VALUES (9, 1, 1, 'build', 1, 2, 3)", "INSERT INTO agent_groups VALUES (1, 1, 'front', 8)",
                    "INSERT INTO agent_group_members VALUES (1, 1)", "INSERT INTO message_groups VALUES (1, 'front')",
                    "INSERT INTO project_keys VALUES ('/elsewhere', 1)", "INSERT INTO agent_sessions VALUES (1, 1, 's', '/p', 4, NULL)",
                    "INSERT INTO hook_sessions VALUES ('s', 1, 4)", "INSERT INTO hook_warnings VALUES ('s', 4)",
                    "INSERT INTO hook_told VALUES (1, 2)", "INSERT INTO attachment_files VALUES (1, 'a.bin', x'00ff0a41')",
                    "INSERT INTO attachment_files VALUES (1, 'empty', x'')",
                    "INSERT INTO archive_removals VALUES (1, 1, 'removed', 1, 'n', 'a', 's', 't', 'd', 5)",
                    "INSERT INTO archive_queue (project_id, kind, ref, name, agent, subject, tool, created_ts)"
                    " VALUES (1, 'message', 1, '', 'GreenCastle', 'again', 'test', 1)"):
                db.execute(sql)
            db.executemany("INSERT INTO sent_keys VALUES (1, ?, 1, 5, '')", [(key,) for key in KEYS])
        return told(self.file)

    def at(self, where):
        return {"DATABASE_URL": where}

    def send(self, where, subject, *more):
        done = self.run("team", "send", self.dir, "GreenCastle", "--to", "BlueLake", "--subject", subject,
            *(more if "--body-md" in more else ("--body-md", "b", *more)), env=self.at(where))
        return done.stderr if done.returncode else ""

    def migrate(self, where, *options, **env):
        return self.run("team", "migrate", "--yes", "--json", *options, env=self.at(where) | env)

    def moved(self, where, to):
        done = self.migrate(where, "--to", to)
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    def killed(self, where, to, point):
        done = self.migrate(where, "--to", to, MAILROOM_CRASH_AT=point)
        assert done.returncode == -signal.SIGKILL, (point, done)
