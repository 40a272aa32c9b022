"""A git repository that is a project, with the guard in it."""

import glob
import json
import os
import re
import subprocess

import database
from mailroom import describe

HOLDER, OTHER = "GreenCastle", "BlueLake"


class Repo:
    """A repository that is a project with two agents, and the guard in it."""

    def __init__(self, m, name="backend", install=True, register=True):
        self.m = m
        self.path = os.path.join(os.path.realpath(m.dir), name)
        os.makedirs(self.path)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "n")
        self.git("config", "user.email", "n@example.com")
        if register:
            for agent in (HOLDER, OTHER):
                m.json("team", "register", self.path, agent, "--program", "codex", "--model", "gpt")
        if install:
            m.json("guard", "install", self.path)

    def run(self, *words, cwd=None, status=0, **env):
        done = subprocess.run(words, cwd=cwd or self.path, env=self.m.env(**env), capture_output=True, text=True,
            timeout=60, check=False)
        assert status is None or done.returncode == status, describe(done)
        return done

    def git(self, *words, **options):
        return self.run("git", *words, **options)

    def write(self, *paths, text="x\n"):
        for path in paths:
            whole = os.path.join(self.path, path)
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            with open(whole, "w", encoding="utf-8") as file:
                file.write(text)

    def commit(self, *paths, agent=OTHER, status=0, text=None, **options):
        """Commit these files, or what is staged."""
        self.write(*paths, text=text or f"{os.urandom(8).hex()}\n")
        if paths:
            self.git("add", "-A", "--", *paths)
        return self.git("commit", "-qm", "change", status=status, AGENT_NAME=agent, **options)

    def start(self, *paths):
        """A first commit that the guard does not see."""
        self.write(*(paths or ["README"]))
        self.git("add", "-A")
        self.git("commit", "-qnm", "start")

    def reserve(self, *paths, agent=HOLDER, more=()):
        return self.m.json("team", "reserve", self.path, agent, *paths, *more)["granted"]

    def check(self, *args, agent=OTHER, status=0, stdin="", cwd=None, **env):
        done = subprocess.run([self.m.program, "--json", "guard", "check", *args], cwd=cwd or self.path,
            env=self.m.env(AGENT_NAME=agent, **env), input=stdin, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == status and not done.stderr, describe(done)
        return json.loads(done.stdout)

    def held(self, *args, **options):
        """The paths others hold, and who they are."""
        answer = self.check(*args, status=1, **options)
        assert answer["error"]["type"] == "FILE_RESERVATION_CONFLICT", answer
        return {c["path"]: [h["agent"] for h in c["holders"]] for c in answer["error"]["data"]["conflicts"]}

    def edit(self, path, agent=OTHER, tool="Edit", key="file_path", cwd=None, status=0, **env):
        return self.hook({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": tool,
            "tool_input": {key: path}, "cwd": cwd or self.path}, agent, status, **env)

    def hook(self, event, agent=OTHER, status=0, **env):
        text = event if isinstance(event, str) else json.dumps(event)
        done = subprocess.run([self.m.program, "guard", "hook", "pre-tool-use"], cwd=self.m.dir,
            env=self.m.env(AGENT_NAME=agent, **env), input=text, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == status, describe(done)
        return done

    def hooks(self):
        return os.path.join(self.path, ".git", "hooks")

    def put_hook(self, name, text, folder=None):
        path = os.path.join(folder or self.hooks(), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def database(self, sql, *values):
        database.rows(database.team_database(self.m.root), sql, *values)

    def forget_database(self):
        for path in glob.glob(os.path.join(self.m.root, "storage.sqlite3*")):
            os.unlink(path)

    def lease_files(self):
        return sorted(glob.glob(os.path.join(self.m.root, "projects", "*", "file_reservations", "*.json")))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def slug_of(path):
    return re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-")
