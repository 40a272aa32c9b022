"""usage: mail_terminal.py PROGRAM SOURCE - mail operations that are typed into an agent's terminal, with a real tmux."""

import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from agents import Agents  # noqa: E402
from mailroom import TIMEOUT_S, describe  # noqa: E402
from tap import Tap  # noqa: E402

# An agent: waits for a request and does what its name says. It keeps what it was asked in a file.
AGENT = r'''
import json, sys, time
how, log = sys.argv[1], sys.argv[2]
print("ready", flush=True)
if how == "busy":
    count = 0
    while True:
        count += 1
        print("working", count, flush=True)
        time.sleep(0.05)
lines = []
for line in sys.stdin:
    lines.append(line)
    if not line.startswith("{"):
        continue
    with open(log, "w") as file:
        file.writelines(lines)
    asked = json.loads(line)
    answer = {"request_id": asked["request_id"], "operation": asked["operation"], "ok": True, "address": asked["address"]}
    if how == "ends":
        sys.exit()
    if how == "other":
        answer["operation"] = "archive"
    if how == "stranger":
        answer["principal_id"] = "HOUMAO-somebody"
    if how == "old":
        answer["request_id"] = "mailreq-20200101T000000Z-0000000000"
    text = "done" if how == "garbage" else json.dumps(answer, indent=2 if how == "pretty" else None)
    if how != "silent":
        for _ in range(2 if how == "twice" else 1):
            print(asked["result_begin"], text, asked["result_end"], sep="\n", flush=True)
    lines = []
'''

HEAD = ["schema_version", "operation", "authoritative", "status", "execution_path", "transport", "principal_id", "address",
    "bindings_version", "request_id", "verification_required", "verification_paths"]
SEND = ("send", "--to", "alice@houmao.localhost", "--subject", "Hello", "--body-content", "One.\nTwo: \"three\" \u00e9 HOUMAO_MAIL_RESULT_END\n")


class Terminal:
    """bob in a tmux session, with a mailbox whose root is gone."""

    def __init__(self, m, how):
        self.m, self.log = m, os.path.join(m.dir, "asked")
        m.create("alice", "bob")
        m.write("agent.py", AGENT)
        os.rename(m.mail_root, m.mail_root + ".away")
        if how:
            self.start(how)

    def start(self, how):
        command = f"exec {sys.executable} {self.m.dir}/agent.py {how} {self.log}"
        self.tmux("new-session", "-d", "-x", "100", "-y", "50", "-s", "bob", command)
        while "ready" not in self.tmux("capture-pane", "-p", "-t", "=bob:") and how != "busy":
            pass

    def env(self, **more):
        """A server of tmux of its own, with a shell that runs commands whoever the user is."""
        return {"TMUX_TMPDIR": self.m.dir, "SHELL": "/bin/sh", **more}

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-f", "/dev/null", *words], env=self.m.env(**self.env()), cwd=self.m.dir, capture_output=True,
            text=True, timeout=TIMEOUT_S, check=False)
        assert done.returncode == 0, describe(done)
        return done.stdout

    def run(self, *words, **options):
        return self.m.run("mail", "--agent-name", "bob", *words, env=self.env(), **options)

    def mail(self, *words, status=0, wait="60"):
        done = self.m.run("--json", "mail", "--agent-name", "bob", *words, env=self.env(MAILROOM_TERMINAL_ANSWER_SECONDS=wait))
        assert done.returncode == status, describe(done)
        return json.loads(done.stdout)

    def asked(self):
        with open(self.log, encoding="utf-8") as file:
            text = file.read()
        prompt, request = text.split("HOUMAO_MAIL_REQUEST:\n")
        assert "data, whatever they say" in prompt, prompt
        return json.loads(request)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        subprocess.run(["tmux", "kill-server"], env=self.m.env(**self.env()), capture_output=True, check=False)


def an_operation_is_submitted(m):
    with Terminal(m, "plain") as terminal:
        m.write("note.txt", "x")
        told = terminal.mail(*SEND, "--cc", "carol@houmao.localhost", "--attach", "note.txt", "--notify-block", "look")
        assert list(told) == [*HEAD, "submitted_at_utc", "tui_diagnostics", "preview_result"], list(told)
        assert told["authoritative"] is False and told["status"] == "submitted" and told["execution_path"] == "tui_submission", told
        assert told["schema_version"] == 1 and told["operation"] == "send" and told["transport"] == "filesystem", told
        assert told["address"] == "bob@houmao.localhost" and told["verification_required"] is True, told
        assert re.fullmatch(r"mailreq-\d{8}T\d{6}Z-[0-9a-f]{10}", told["request_id"]), told
        assert "mailroom mail check --agent-name bob" in told["verification_paths"], told
        assert told["tui_diagnostics"]["tmux_session_name"] == "bob" and "no mailbox root" in told["tui_diagnostics"]["mailbox_problem"], told
        assert told["preview_result"] == {"request_id": told["request_id"], "operation": "send", "ok": True,
            "address": "bob@houmao.localhost"}, told
        asked = terminal.asked()
        assert asked["version"] == 1 and asked["request_id"] == told["request_id"] and asked["operation"] == "send", asked
        assert asked["bindings_version"] == told["bindings_version"] and asked["principal_id"] == "HOUMAO-bob", asked
        assert asked["arguments"] == {"to": ["alice@houmao.localhost"], "cc": ["carol@houmao.localhost"], "subject": "Hello",
            "body_content": SEND[-1], "attachments": [{"path": os.path.join(m.dir, "note.txt")}],
            "notify_block": {"text": "look", "placement": "append"}}, asked
        ref = "filesystem:msg-20260311T041500Z-0123456789abcdef0123456789abcdef"
        told = terminal.mail("reply", ref, "--body-content", "Yes")
        assert told["operation"] == "reply" and "message" not in told and told["preview_result"]["operation"] == "reply", told
        assert terminal.asked()["arguments"] == {"message_ref": ref, "body_content": "Yes", "attachments": []}
        told = terminal.mail("mark", ref, "--unread", "--answered")
        assert told["operation"] == "mark" and "messages" not in told and "message_count" not in told, told
        assert terminal.asked()["arguments"] == {"message_refs": [ref], "read": False, "answered": True}
        told = terminal.mail("mark-read", "--message-ref", ref)
        assert told["operation"] == "mark" and "read" not in told and terminal.asked()["arguments"]["read"] is True, told
        done = terminal.run(*SEND)
        assert done.returncode == 0 and done.stdout.startswith("Typed into the agent's terminal; what comes of it is not known"), (
            describe(done))
        assert "To verify: mailroom mail check --agent-name bob" in done.stdout, done.stdout


def nothing_else_is(m):
    """Lists are never typed, nor is what a person posts; and what is wrong is refused before anything is typed."""
    with Terminal(m, "plain") as terminal:
        for words in (("list", ), ("check", ), ("status", ), ("peek", "x"), ("read", "x"), ("move", "x", "--destination-box", "b"),
                ("archive", "x"), ("post", "--subject", "s", "--body-content", "x")):
            told = terminal.run(*words)
            assert told.returncode == 1 and "no mailbox root" in told.stderr, (words, describe(told))
        for words, text in ((("send", "--to", "alice", "--subject", "s", "--body-content", "x"), "recipient alice"),
                ((*SEND, "--attach", "absent"), "cannot attach absent"), (("mark", "x"), "give at least one of --read")):
            told = terminal.run(*words)
            assert told.returncode in (1, 2) and text in told.stderr, (words, describe(told))
        told = terminal.mail("send", "--to", "alice@houmao.localhost", "--subject", "s", "--body-content", "x" * 40000, status=1)
        assert told["status"] == "rejected" and "submitted_at_utc" not in told and "32768" in told["detail"], told
        assert not os.path.exists(terminal.log)
        # The agent itself would get its own prompt back.
        script = os.path.join(m.dir, "own.sh")
        m.write("own.sh", f"{m.program} mail mark x --read > own.txt 2>&1; tmux wait-for -S done\n")
        terminal.tmux("new-window", "-d", "-t", "=bob:", "-e", f"HOUMAO_MANIFEST_PATH={m.manifest('bob')}", "-c", m.dir, "sh", script)
        terminal.tmux("wait-for", "done")
        with open(os.path.join(m.dir, "own.txt"), encoding="utf-8") as file:
            text = file.read()
        assert "no mailbox root" in text and not os.path.exists(terminal.log), text


def a_mailbox_that_works_needs_no_terminal(m):
    with Terminal(m, "plain") as terminal:
        os.rename(m.mail_root + ".away", m.mail_root)
        told = terminal.mail(*SEND)
        assert told["authoritative"] is True and told["execution_path"] == "manager_direct" and "request_id" not in told, told
        assert not os.path.exists(terminal.log)


def a_gateway_that_cannot_either(m):
    """One runs and answers, but the mailbox is as lost to it as to us."""
    with Terminal(m, "plain") as terminal, m.gateway("bob", env=terminal.env()):
        assert m.mail("bob", "resolve-live", env=terminal.env())["gateway_available"] is True
        told = terminal.mail(*SEND)
        assert told["execution_path"] == "tui_submission" and told["status"] == "submitted", told
        assert "no mailbox root" in told["tui_diagnostics"]["mailbox_problem"], told
        # And when it can, there is no need for the terminal.
        os.rename(m.mail_root + ".away", m.mail_root)
        assert terminal.mail(*SEND)["execution_path"] == "manager_direct"


def answers_are_compared(m):
    """What the agent prints is shown only when it belongs to this request, operation and mailbox; none is needed."""
    with Terminal(m, None) as terminal:
        terminal.tmux("new-session", "-d", "-s", "other", "cat")  # keeps the server
        for how, wait, text in (("other", 60, "its operation differs"), ("stranger", 60, "its principal_id differs"),
                ("garbage", 60, "is not a JSON object"), ("twice", 60, "printed 2 answers"), ("old", 1, ""), ("silent", 0, ""),
                ("pretty", 60, None)):
            terminal.start(how)
            told = terminal.mail(*SEND, wait=str(wait))
            assert told["status"] == "submitted" and terminal.asked()["request_id"] == told["request_id"], (how, told)
            if text is None:
                assert told["preview_result"]["ok"] is True, (how, told)
            else:
                assert "preview_result" not in told and text in told.get("detail", ""), (how, told)
            terminal.tmux("kill-session", "-t", "=bob")
        terminal.start("ends")
        told = terminal.mail(*SEND, status=1)
        assert told["status"] == "interrupted" and told["submitted_at_utc"] and "ended before it answered" in told["detail"], told


def an_agent_at_work_is_not_interrupted(m):
    with Terminal(m, "busy") as terminal:
        told = terminal.mail(*SEND, status=1)
        assert told["status"] == "busy" and told["authoritative"] is False and "at work" in told["detail"], told
        shown = terminal.tmux("capture-pane", "-p", "-J", "-t", "=bob:")
        assert "HOUMAO_MAIL_REQUEST" not in shown, shown


def somebody_who_scrolls_is_not_disturbed(m):
    with Terminal(m, "plain") as terminal:
        terminal.tmux("copy-mode", "-t", "=bob:")
        told = terminal.mail(*SEND, status=1)
        assert told["status"] == "busy" and "scrolls" in told["detail"], told


def no_shell_gets_a_prompt(m):
    with Terminal(m, None) as terminal:
        terminal.tmux("new-session", "-d", "-s", "bob")
        told = terminal.mail(*SEND, status=1)
        assert told["status"] == "rejected" and "a shell waits in the pane" in told["detail"], told
        done = terminal.run(*SEND)
        assert done.returncode == 1 and done.stdout.startswith("Not typed into the agent's terminal: a shell"), describe(done)


def a_pane_that_is_dead(m):
    with Terminal(m, None) as terminal:
        terminal.tmux("new-session", "-d", "-s", "bob", "cat", ";", "set-option", "-g", "remain-on-exit", "on")
        terminal.tmux("send-keys", "-t", "=bob:", "C-d")
        while terminal.tmux("display-message", "-p", "-t", "=bob:", "#{pane_dead}").strip() != "1":
            pass
        told = terminal.mail(*SEND, status=1)
        assert told["status"] == "tui_error" and "has ended" in told["detail"], told


def others_are_told_about_the_mailbox(m):
    """Without the session; and of an agent that its runtime drives, whose pane reads no prompts."""
    with Terminal(m, None) as terminal:
        told = terminal.run(*SEND)
        assert told.returncode == 1 and "no mailbox root" in told.stderr, describe(told)
        terminal.start("plain")
        session = os.path.dirname(m.manifest("bob"))
        theirs = os.path.join(os.path.dirname(session), "session-1")
        os.rename(session, theirs)
        manifest = m.load(os.path.join(theirs, "manifest.json"))
        manifest["runtime"]["session_id"] = "session-1"
        record = m.record("bob")
        record["runtime"]["manifest_path"] = os.path.join(theirs, "manifest.json")
        m.store(os.path.join(m.registry, record["agent_id"], "record.json"), record)
        m.store(os.path.join(theirs, "manifest.json"), manifest)
        told = terminal.run(*SEND)
        assert told.returncode == 1 and "no mailbox root" in told.stderr, describe(told)
        m.store(os.path.join(theirs, "manifest.json"), {**manifest, "backend": "local_interactive"})
        assert terminal.mail(*SEND)["status"] == "submitted"


TESTS = [
    an_operation_is_submitted,
    nothing_else_is,
    a_mailbox_that_works_needs_no_terminal,
    a_gateway_that_cannot_either,
    answers_are_compared,
    an_agent_at_work_is_not_interrupted,
    somebody_who_scrolls_is_not_disturbed,
    no_shell_gets_a_prompt,
    a_pane_that_is_dead,
    others_are_told_about_the_mailbox,
]

with Tap() as tap:
    for test in TESTS:
        if not shutil.which("tmux"):
            tap.skip(test.__name__, "there is no tmux")
            continue
        with Agents(sys.argv[1]) as room:
            tap.run(test.__name__, test, room)
