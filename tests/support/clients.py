"""Real programs of coding agents, from npm, with a stand-in for the model: where they are, and how they are run."""

import json
import os
import shutil
import subprocess

from model import Model

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Where script/conformance installs them.
INSTALLED = os.path.join(ROOT, "build", "conformance", "node_modules", ".bin")
TIMEOUT_S = 120


def find(name):
    """The path of a client's program, or None."""
    return shutil.which(name, path=INSTALLED)


class Claude:
    """Claude Code in one work tree of a room: a home that is the room's, no network but loopback."""

    def __init__(self, m, program, folder):
        self.m, self.program, self.folder = m, program, folder
        self.model = Model()

    def trust(self):
        """What the person does in its dialogs: the folder is trusted, its servers are allowed."""
        path = os.path.join(self.m.dir, ".claude.json")
        state = {"hasCompletedOnboarding": True, "projects": {}}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                state = json.load(file)
        state.setdefault("projects", {})[self.folder] = {"hasTrustDialogAccepted": True,
            "enabledMcpjsonServers": ["mailroom"]}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(state, file)

    def env(self, **more):
        path = ":".join([os.path.dirname(self.m.program), os.path.dirname(self.program), os.environ["PATH"]])
        return self.m.env(PATH=path, ANTHROPIC_BASE_URL=self.model.url, ANTHROPIC_API_KEY="none",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", DISABLE_AUTOUPDATER="1", **more)

    def run(self, *turns, resume=None, **env):
        """One session in which the model does these things; the id of the session."""
        self.model.play(*turns)
        words = [self.program, "-p", "go on", "--output-format", "json", "--allowedTools", "Write,Edit,Bash,mcp__mailroom"]
        done = subprocess.run(words + (["--resume", resume] if resume else []), cwd=self.folder, env=self.env(**env),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        assert done.returncode == 0, (done.stdout, done.stderr)
        return json.loads(done.stdout)["session_id"]

    def close(self):
        self.model.close()
