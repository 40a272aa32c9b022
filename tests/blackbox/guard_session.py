"""usage: guard_session.py PROGRAM - hooks that know for which agent a client's session acts, and tell it of new mail."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from mailroom import Mailroom, describe  # noqa: E402
from repo import HOLDER, OTHER, Repo  # noqa: E402
from tap import Tap  # noqa: E402


class Session:
    """A client's session in a work tree, which calls the hooks as Claude Code does."""

    def __init__(self, repo, name, folder=None, program="claude-code"):
        self.repo, self.name, self.folder, self.program = repo, name, folder or repo.path, program

    def hook(self, words, event, status=0, **more):
        text = json.dumps({"session_id": self.name, "cwd": self.folder, "hook_event_name": event, **more})
        done = subprocess.run([self.repo.m.program, "guard", "hook", words], cwd=self.folder, env=self.repo.m.env(),
            input=text, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == status, describe(done)
        return done

    def event(self, event, **more):
        """What the agent is told: one line, or None."""
        said = self.hook("session", event, **more).stdout
        if not said:
            return None
        told = json.loads(said)
        line = told["reason"] if "decision" in told else told["hookSpecificOutput"]["additionalContext"]
        assert "\n" not in line and told == ({"decision": "block", "reason": line} if event in ("Stop", "AfterAgent")
            else {"hookSpecificOutput": {"hookEventName": event, "additionalContext": line}}), told
        return line

    def call(self, op, answer, tool="mcp__mailroom__", event="PostToolUse", **arguments):
        return self.event(event, tool_name=tool + op, tool_input=arguments, tool_response=answer)

    def start(self, name=None, wrap=json.dumps, **options):
        """The starting call, as the client sees it; the agent's name."""
        words = ["team", "macro", "start-session", self.folder, "--program", self.program, "--model", "m"]
        result = self.repo.m.json(*words, *(["--agent-name", name] if name else []))
        arguments = {"human_key": self.folder, "program": self.program, "model": "m", **({"agent_name": name} if name else {})}
        assert self.call("macro_start_session", wrap(result), **arguments, **options) is None
        return result["agent"]["name"]

    def edit(self, path, status=0):
        done = self.hook("pre-tool-use", "PreToolUse", status=status, tool_name="Write",
            tool_input={"file_path": os.path.join(self.folder, path)})
        return done.stderr if status else done.stdout


def send(r, to, subject="Hello", sender=HOLDER, *more):
    r.m.json("team", "send", r.path, sender, "--to", to, "--subject", subject, "--body-md", "the whole body", *more)


def tree_of(r, name="tree"):
    r.start()
    tree = os.path.join(os.path.dirname(r.path), name)
    r.git("worktree", "add", "-q", tree)
    return tree


def the_edit_hook_knows_whose_files_they_are(m):
    """Nobody exports AGENT_NAME. Two sessions in two worktrees: each is kept off the other's file, not off its own."""
    r = Repo(m, install=False, register=False)
    one, two = Session(r, "one"), Session(r, "two", tree_of(r), "codex")
    first, second = one.start(), two.start()
    assert first != second
    r.reserve("a.c", agent=first)
    r.reserve("b.c", agent=second)
    assert one.edit("a.c") == "" and two.edit("b.c") == ""
    said = two.edit("a.c", status=2)
    assert f"{first} holds a.c for 60 more minutes" in said and "YOUR_NAME" not in said, said
    assert second in one.edit("b.c", status=2)
    m.json("team", "release", r.path, first)
    assert two.edit("a.c") == ""


def the_refusal_says_how_to_ask(m):
    """The tool call and the command that it names reach the holder."""
    r = Repo(m, install=False, register=False)
    one, two = Session(r, "one"), Session(r, "two", program="codex")
    first, second = one.start(), two.start()
    r.reserve("it's $x.c", agent=first)
    said = two.edit("it's $x.c", status=2)
    call = next(line for line in said.splitlines() if "ask: " in line).split("ask: ", 1)[1]
    tool, arguments = call.split(" ", 1)
    assert tool == "send_message" and json.loads(arguments)["sender_name"] == second, call
    with m.serve() as server:
        status, _, text = server.request("POST", f"/api/tools/{tool}", {"Content-Type": "application/json"}, arguments)
        assert status == 200, text
    command = next(line for line in said.splitlines() if "in a shell: " in line).split("in a shell: ", 1)[1]
    done = r.run("sh", "-c", command, PATH=os.path.dirname(m.program) + ":" + os.environ["PATH"])
    inbox = m.json("team", "inbox", r.path, first)
    assert [i["from"] for i in inbox["result"]] == [second] * 2 and done.returncode == 0, inbox


def however_the_client_shows_the_answer(m):
    r = Repo(m, install=False, register=False)
    wraps = {
        "text": json.dumps,
        "object": lambda x: x,
        "content": lambda x: {"content": [{"type": "text", "text": json.dumps(x)}], "isError": False},
        "structured": lambda x: {"content": [], "structuredContent": x},
        "blocks": lambda x: [{"type": "text", "text": json.dumps(x)}],
        "gemini": lambda x: {"llmContent": [{"functionResponse": {"response": {"output": json.dumps(x)}}}]},
        "nothing": lambda x: None,
        "words": lambda x: "You have joined.",
    }
    for name, wrap in wraps.items():
        s = Session(r, name, program=name)
        options = {"tool": "mcp_mailroom_", "event": "AfterTool"} if name == "gemini" else {}
        agent = s.start(wrap=wrap, **options)
        r.reserve(name, agent=agent)
        assert s.edit(name) == "", name
    # A call under a name tells it, too.
    s = Session(r, "late")
    m.json("team", "register", r.path, HOLDER, "--program", "x", "--model", "y")
    r.reserve("late", agent=HOLDER)
    s.edit("late", status=2)
    assert s.call("file_reservation_paths", None, project_key=r.path, agent_name=HOLDER, paths=["x"]) is None
    assert s.edit("late") == ""
    # A question about another agent does not.
    assert s.call("whois", None, project_key=r.path, agent_name=OTHER) is None
    assert s.edit("late") == ""


def a_session_that_nobody_knows_is_told_once(m):
    """Every lease counts but those of the last agent of the work tree."""
    r = Repo(m, install=False, register=False)
    tree = tree_of(r)
    mine, far = Session(r, "mine").start(), Session(r, "far", tree).start("RedCat")
    r.reserve("mine.c", agent=mine)
    r.reserve("far.c", agent=far)
    s = Session(r, "stranger")
    told = json.loads(s.edit("free.c"))
    assert f"but those of {mine}, the last agent here" in told["systemMessage"], told
    assert told["hookSpecificOutput"]["additionalContext"] == told["systemMessage"], told
    assert s.edit("free.c") == "" and s.edit("mine.c") == ""
    said = s.edit("far.c", status=2)
    assert "begin with macro_start_session" in said and f"{far} holds far.c" in said, said
    # Of another session it is said again; in the other tree the other agent is the last.
    t = Session(r, "another", tree)
    assert f"but those of {far}" in json.loads(t.edit("far.c"))["systemMessage"]
    t.edit("mine.c", status=2)


def what_the_server_knows_survives_the_client(m):
    """The same session after a restart; a rebuilt database; an agent that is retired or deleted."""
    r = Repo(m, install=False, register=False)
    s, other = Session(r, "s"), Session(r, "other", program="codex")
    mine, theirs = s.start(), other.start()
    r.reserve("a.c", agent=mine)
    assert s.event("SessionStart", source="resume") == f"Mailroom: you are {mine} in {r.path}."
    assert s.event("SessionEnd", reason="other") is None
    assert m.json("--yes", "team", "rebuild")["complete"] is True
    assert s.event("SessionStart", source="resume") == f"Mailroom: you are {mine} in {r.path}."
    assert s.edit("a.c") == ""
    other.edit("a.c", status=2)
    # Whoever comes next is offered the agent, since its session has ended.
    assert s.event("SessionEnd", reason="other") is None
    assert Session(r, "next").start() == mine
    # A late end of the older session does not end the newer one.
    s.event("SessionEnd", reason="other")
    assert Session(r, "third").start() != mine
    m.json("--yes", "team", "retire", r.path, theirs, "--purge")
    assert other.event("SessionStart", source="resume") is None


def new_mail_is_told_once(m):
    """After a tool, before the agent stops, and when a session begins; one line, and no body."""
    r = Repo(m, install=False)
    s = Session(r, "s")
    mine = s.start()
    read = {"tool_name": "Read", "tool_input": {"file_path": "x"}, "tool_response": {}}
    assert s.event("PostToolUse", **read) is None
    send(r, mine, "Secret subject")
    send(r, mine, "x", OTHER, "--importance", "urgent")
    line = s.event("PostToolUse", **read)
    assert line == f"Mailroom: 2 new messages (1 urgent) from {OTHER}, {HOLDER} for {mine}: see fetch_inbox.", line
    assert s.event("PostToolUse", **read) is None and s.event("Stop") is None
    send(r, mine)
    assert s.event("Stop") == f"Mailroom: 1 new message from {HOLDER} for {mine}: see fetch_inbox."
    assert s.event("Stop") is None and s.event("Stop", stop_hook_active=True) is None
    # An agent that goes on because of a hook is not kept from its end by the next message.
    send(r, mine)
    assert s.event("Stop", stop_hook_active=True) is None
    assert s.event("SessionStart", source="compact") == \
        f"Mailroom: you are {mine} in {r.path}. You have 1 new message from {HOLDER}: see fetch_inbox."
    # What it saw in its inbox, or has read, is not told.
    send(r, mine)
    assert s.call("fetch_inbox", None, project_key=r.path, agent_name=mine) is None and s.event("Stop") is None
    send(r, mine)
    newest = m.json("team", "inbox", r.path, mine)["result"][0]["id"]
    m.json("team", "read", r.path, mine, str(newest))
    assert s.event("Stop") is None
    # To a new session, for the agent that was here last.
    s.event("SessionEnd", reason="other")
    send(r, mine)
    line = Session(r, "new").event("SessionStart", source="startup")
    assert line == f"Mailroom: 1 new message from {HOLDER} for {mine}, the last agent here: macro_start_session without " \
        "a name takes it up again.", line
    assert Session(r, "new").event("SessionStart", source="startup") is None


def two_hooks_at_once_tell_it_once(m):
    r = Repo(m, install=False)
    s = Session(r, "s")
    mine = s.start()
    send(r, mine)
    text = json.dumps({"session_id": "s", "cwd": r.path, "hook_event_name": "PostToolUse", "tool_name": "Read"})
    procs = [subprocess.Popen([m.program, "guard", "hook", "session"], cwd=r.path, env=m.env(), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True) for _ in range(6)]
    said = [p.communicate(text, timeout=60)[0] for p in procs]
    assert sum(1 for words in said if words) == 1, said


def hooks_are_never_in_the_way(m):
    """No storage, no session, events of which nothing is known: no word, and nothing is made."""
    r = Repo(m, install=False, register=False)
    s = Session(r, "s")
    for event in ("SessionStart", "PostToolUse", "Stop", "SessionEnd", "Unknown"):
        assert s.event(event) is None
    assert s.call("macro_start_session", "{}", human_key=r.path, program="x", model="y") is None
    assert s.edit("a") == ""
    assert not os.path.exists(m.root)
    for text in ("[]", "", "{"):
        done = subprocess.run([m.program, "guard", "hook", "session"], cwd=r.path, env=m.env(), input=text,
            capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and done.stderr, describe(done)
    mine = s.start()
    send(r, mine, sender=mine)
    done = subprocess.run([m.program, "guard", "hook", "session"], cwd=r.path, env=m.env(), input="{}",
        capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), describe(done)
    # A database of the version before knows no sessions yet: it is brought up to date by the first hook.
    with database.opened(database.team_database(m.root)) as db:
        for table in ("hook_sessions", "hook_warnings", "hook_told", "database_moves", "database_move_tables", "archive_places",
                "archive_removals", "attachment_files", "client_sessions", "client_subscriptions", "relayed", "shared_secrets"):
            db.execute(f"DROP TABLE {table}")
        db.execute("DELETE FROM schema_version WHERE version >= 10")
    assert s.call("macro_start_session", json.dumps({"agent": {"name": mine}}), human_key=r.path, program="x", model="y") is None
    r.reserve("own.c", agent=mine)
    assert s.edit("own.c") == ""


def commits_of_a_session_need_no_name(m):
    """Clients name their session to the programs that they run, git and its hooks among them."""
    r = Repo(m)
    for variable in ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID"):
        s = Session(r, variable, program=variable)
        mine = s.start()
        m.json("team", "release", r.path, HOLDER)
        r.reserve("held.c")
        r.reserve(variable, agent=mine)
        r.commit(variable, agent=None, **{variable: s.name})
        said = r.commit("held.c", agent=None, status=1, **{variable: s.name}).stderr
        assert f"{HOLDER} holds held.c" in said, said
        r.git("reset", "-q")
        said = r.commit("free.c", agent=None, status=1, **{variable: "unknown"}).stderr
        assert "AGENT_NAME is not set" in said, said
        r.git("reset", "-q")


def people_are_not_held_up(m):
    """Whoever commits at a terminal is a person, unless a client says otherwise."""
    r = Repo(m)
    r.start()

    def commit(path, **env):
        r.write(path)
        r.git("add", "-A")
        words = ["script", "-qec", f"git commit -qm x", "/dev/null"]
        return subprocess.run(words, cwd=r.path, env=m.env(**env), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60, check=False)

    done = commit("free.c")
    assert done.returncode == 0 and "AGENT_NAME" not in done.stdout, describe(done)
    r.reserve("held.c")
    done = commit("held.c")
    assert done.returncode == 0, describe(done)
    assert f"{HOLDER} holds held.c" in done.stdout and "AGENT_MAIL_GUARD_STRICT=true" in done.stdout, done.stdout
    for env in ({"AGENT_MAIL_GUARD_STRICT": "true"}, {"AI_AGENT": "x"}, {"GEMINI_CLI": "1"}, {"AGENT_NAME": OTHER}):
        m.json("team", "reserve", r.path, HOLDER, "held.d")
        done = commit("held.d", **env)
        assert done.returncode == 1, (env, describe(done))
        r.git("reset", "-q")


TESTS = [the_edit_hook_knows_whose_files_they_are, the_refusal_says_how_to_ask, however_the_client_shows_the_answer,
    a_session_that_nobody_knows_is_told_once, what_the_server_knows_survives_the_client, new_mail_is_told_once,
    two_hooks_at_once_tell_it_once, hooks_are_never_in_the_way, commits_of_a_session_need_no_name, people_are_not_held_up]


def main():
    with Tap() as tap:
        for test in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__.replace("_", " "), test, m)


main()
