"""usage: real_clients.py PROGRAM - Claude Code and Codex from npm, with a stand-in for the model.

What script/conformance installs is used; where that is missing the test is skipped."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import clients  # noqa: E402
from mailroom import Mailroom, describe  # noqa: E402
from model import call, text  # noqa: E402
from tap import Tap  # noqa: E402


class Team:
    """A repository with a second worktree; Claude Code is connected with it, and started in both."""

    def __init__(self, m):
        self.m, program = m, clients.find("claude")
        room = os.path.realpath(m.dir)
        self.folders = [os.path.join(room, name) for name in ("shop", "tree")]
        os.mkdir(self.folders[0])
        self.agents = [clients.Claude(m, program, folder) for folder in self.folders]
        self.git("init", "-q")
        done = subprocess.run([m.program, "connect", "claude-code", "--stdio"], cwd=self.folders[0],
            env=self.agents[0].env(), capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, describe(done)
        self.said = done.stdout
        self.git("add", "-A")
        self.git("-c", "user.name=n", "-c", "user.email=n@example.com", "commit", "-qm", "start")
        self.git("worktree", "add", "-q", self.folders[1])
        for agent in self.agents:
            agent.trust()

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self.folders[0], env=self.m.env(), check=True, timeout=60)

    def start(self, i):
        return call("mcp__mailroom__macro_start_session", human_key=self.folders[i], program="claude-code", model="opus")

    def write(self, i, name, text):
        return call("Write", file_path=os.path.join(self.folders[i], name), content=text)

    def read(self, i, name):
        path = os.path.join(self.folders[i], name)
        return open(path, encoding="utf-8").read() if os.path.exists(path) else None

    def tool(self, tool, i, **arguments):
        return call(f"mcp__mailroom__{tool}", project_key=self.folders[i], **arguments)

    def close(self):
        for agent in self.agents:
            agent.close()


def name_in(result):
    return json.loads(result)["agent"]["name"]


def two_agents_meet(m):
    team = Team(m)
    one, two = team.agents
    try:
        # The first one takes its file: it may write it itself.
        first = one.run(team.start(0), team.write(0, "a.c", "1"))
        name = name_in(one.model.results()[0])
        m.json("team", "reserve", team.folders[0], name, "a.c")
        one.run(team.write(0, "a.c", "2"), resume=first)
        assert team.read(0, "a.c") == "2", one.model.results()
        # A conversation that goes on knows its name.
        assert f"you are {name} in {team.folders[0]}" in one.model.said(), one.model.said()[-2000:]

        # The second one is kept off that file by its own edit hook, and off no other. It asks with the very call that
        # the refusal names.
        def ask(model):
            words = next(line for line in model.results()[1].splitlines() if "ask: send_message " in line)
            return call("mcp__mailroom__send_message", **json.loads(words.split("send_message ", 1)[1]))
        second = two.run(team.start(1), team.write(1, "a.c", "3"), ask, team.write(1, "c.c", "3"))
        other = name_in(two.model.results()[0])
        assert other != name and f"{name} holds a.c" in two.model.results()[1], two.model.results()
        assert team.read(1, "a.c") is None and team.read(1, "c.c") == "3", two.model.results()

        # The first one is who it was in its next session, too. Mail that comes meanwhile is noticed without being asked
        # for, once, and neither subject nor body is told.
        def arrives(model):
            m.json("team", "send", team.folders[1], other, "--to", name, "--subject", "Plover", "--body-md", "Sandpiper")
            return team.write(0, "b.c", "4")
        one.run(team.start(0), arrives, team.write(0, "d.c", "4"))
        assert name_in(one.model.results()[0]) == name, one.model.results()
        assert [i["from"] for i in json.loads(one.model.results()[0])["inbox"]] == [other], one.model.results()
        said = one.model.said()
        assert said.count(f"Mailroom: 1 new message from {other} for {name}, the last agent here:") == 1, said[-2000:]
        assert said.count(f"Mailroom: 1 new message from {other} for {name}: see fetch_inbox.") == 1, said[-2000:]
        assert "Plover" not in said and "Sandpiper" not in said, said[-2000:]

        # When the lease is released the edit goes through.
        m.json("team", "release", team.folders[0], name)
        two.run(team.write(1, "a.c", "5"), resume=second)
        assert team.read(1, "a.c") == "5", two.model.results()
    finally:
        team.close()


def codex_is_kept_off_too(m):
    """The hooks of Codex: its patches are refused, it is known by its own session, and it is told of mail."""
    folder = os.path.join(os.path.realpath(m.dir), "shop")
    os.mkdir(folder)
    subprocess.run(["git", "init", "-q"], cwd=folder, env=m.env(), check=True, timeout=60)
    codex = clients.Codex(m, clients.find("codex"), folder)

    def patch(name):
        return call("exec_command", cmd=f"apply_patch <<'END'\n*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch\nEND\n")

    def arrives(model):
        m.json("team", "send", folder, "GreenCastle", "--to", name_of(), "--subject", "Plover", "--body-md", "Sandpiper")
        return call("exec_command", cmd="true")

    def name_of():
        started = codex.model.results()[0]
        return name_in(started[started.index("{"):])

    try:
        done = subprocess.run([m.program, "connect", "codex", "--stdio"], cwd=folder, env=codex.env(), capture_output=True,
            text=True, timeout=60, check=False)
        assert done.returncode == 0 and "Codex knows Mailroom" in done.stdout, describe(done)
        m.json("team", "register", folder, "GreenCastle", "--program", "x", "--model", "y")
        m.json("team", "reserve", folder, "GreenCastle", "a.c")
        codex.run(call("mcp__mailroom/macro_start_session", human_key=folder, program="codex", model="gpt-5"),
            patch("a.c"), patch("b.c"), arrives)
        refused = codex.model.results()[1]
        assert "GreenCastle holds a.c" in refused and f'"sender_name": "{name_of()}"' in refused, codex.model.results()
        assert not os.path.exists(os.path.join(folder, "a.c")) and os.path.exists(os.path.join(folder, "b.c"))
        assert codex.model.said().count(f"Mailroom: 1 new message from GreenCastle for {name_of()}") == 1, codex.model.said()
        # All that Mailroom puts before the model, at four bytes a token: tools, instructions, what hooks say.
        tools = next(t["tools"] for t in codex.model.requests[-1]["tools"] if t.get("name") == "mcp__mailroom")
        said = [line for line in codex.model.said().splitlines() if "Mailroom:" in line]
        with open(os.path.join(folder, "AGENTS.md"), encoding="utf-8") as page:
            cost = (len(json.dumps(tools)) + len(page.read()) + len("".join(said))) // 4
        assert len(tools) >= 16 and cost < 5000, (len(tools), cost)
        m.json("team", "release", folder, "GreenCastle")
        codex.run(patch("a.c"))
        assert os.path.exists(os.path.join(folder, "a.c")), codex.model.results()
    finally:
        codex.close()


def mailboxes(m):
    """Alice and bob have mailboxes, and the client's hooks are bob's: the hooks, and a function by which alice sends."""
    for name in ("alice", "bob"):
        m.json("agents", "create", name)
    hooks = {event: [{"hooks": [{"type": "command", "command": f"mailroom mail hook {verb} --agent-name bob"}]}]
        for event, verb in (("SessionStart", "session-start"), ("PostToolUse", "post-tool-use"), ("Stop", "stop"))}

    def send(subject):
        m.json("mail", "send", "--agent-name", "alice", "--to", "bob@houmao.localhost", "--subject", subject, "--body-content",
            "Sandpiper", "--notify-block", f"Notice: {subject}")
    return hooks, send


def told(m, agent, send, true):
    """Mail before the session, during a tool call and before the end is told once each, by the hook whose turn it is."""
    def arrives(subject, turn):
        def act(_):
            send(subject)
            return turn
        return act
    send("Early")
    agent.run(true("1"), arrives("Meanwhile", true("2")), arrives("Late", text("I am done.")), text("Now I am done."))
    notices = m.json("mail", "notices", "--agent-name", "bob")["notices"]
    assert [(notice["subject"], notice["channel"], notice["message_count"]) for notice in reversed(notices)] == [
        (subject, "hook", 1) for subject in ("Early", "Meanwhile", "Late")], notices
    said = agent.model.said()
    for subject in ("Early", "Meanwhile", "Late"):
        assert f"Notice: {subject}" in said, (subject, said[-3000:])
    assert said.count("You have mail in inbox.") >= 3 and "Sandpiper" not in said, said[-3000:]


def claude_code_is_told_of_mail(m):
    """The mail hooks, as docs/agent-mail.md has them in settings.json."""
    folder = os.path.join(os.path.realpath(m.dir), "shop")
    os.mkdir(folder)
    claude = clients.Claude(m, clients.find("claude"), folder)
    try:
        claude.trust()
        hooks, send = mailboxes(m)
        os.mkdir(os.path.join(folder, ".claude"))
        m.write("shop/.claude/settings.json", json.dumps({"hooks": hooks}))
        told(m, claude, send, lambda number: call("Bash", command=f"echo {number}"))
    finally:
        claude.close()


def codex_is_told_of_mail(m):
    """The same hooks in .codex/hooks.json."""
    folder = os.path.join(os.path.realpath(m.dir), "shop")
    os.mkdir(folder)
    codex = clients.Codex(m, clients.find("codex"), folder)
    try:
        hooks, send = mailboxes(m)
        os.mkdir(os.path.join(folder, ".codex"))
        m.write("shop/.codex/hooks.json", json.dumps({"hooks": hooks}))
        told(m, codex, send, lambda number: call("exec_command", cmd=f"echo {number}"))
    finally:
        codex.close()


def main():
    with Tap() as tap:
        for program, test in (("claude", two_agents_meet), ("codex", codex_is_kept_off_too),
                ("claude", claude_code_is_told_of_mail), ("codex", codex_is_told_of_mail)):
            name = test.__name__.replace("_", " ")
            if not clients.find(program):
                tap.skip(name, f"{program} is not installed: script/conformance gets it from npm")
                continue
            with Mailroom(sys.argv[1]) as m:
                tap.run(name, test, m)


main()
