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


class Codex:
    """Codex in a work tree of a room, which is trusted; its hooks run without the review that a person gives them."""

    def __init__(self, m, program, folder):
        self.m, self.program, self.folder = m, program, folder
        self.model = Model()
        os.makedirs(os.path.join(m.dir, ".codex"), exist_ok=True)
        m.write(".codex/config.toml", f'''model = "gpt-5"
model_provider = "stand_in"
[model_providers.stand_in]
name = "stand-in"
base_url = "{self.model.url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
[projects."{folder}"]
trust_level = "trusted"
''')

    def env(self):
        path = ":".join([os.path.dirname(self.m.program), os.path.dirname(self.program), os.environ["PATH"]])
        return self.m.env(PATH=path, OPENAI_API_KEY="none")

    def run(self, *turns):
        """One session in which the model does these things."""
        self.model.play(*turns)
        done = subprocess.run([self.program, "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust",
            "--dangerously-bypass-approvals-and-sandbox", "go on"], cwd=self.folder, env=self.env(),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        assert done.returncode == 0, (done.stdout, done.stderr)

    def close(self):
        self.model.close()


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
