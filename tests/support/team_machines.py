"""A team whose servers are on several machines: each has a storage root of its own, and all use one PostgreSQL."""

import json
import os
import subprocess
import time

from mailroom import Mailroom

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
