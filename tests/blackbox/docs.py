"""usage: docs.py PROGRAM SOURCE - the documents say what the program does, no more and no less."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from cyrus_server import HAS_CYRUS_JMAP, NO_CYRUS  # noqa: E402
from mail_server import DOVECOT, HAS_LMTP  # noqa: E402
from mailroom import Mailroom, Port  # noqa: E402
from mcp import Stdio  # noqa: E402
from postgres_server import HAS_POSTGRES, WHY_NOT  # noqa: E402
from smtp_server import HAS_SMTP  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM, SOURCE = sys.argv[1:3]


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def rows(heading):
    """The cells of the first table below a heading of docs/reference.md, without their code marks."""
    section = read("docs/reference.md").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = re.findall(r"^\|(.*)\|$", section, re.MULTILINE)
    return [[cell.strip().strip("`") for cell in line.split("|")] for line in lines[2:]]


def operations(m):
    told = [[o["name"], "mailroom " + o["command"] if o["command"] else "", o["route"] or "", o["summary"]]
        for o in m.json("operations")["operations"]]
    assert rows("Operations") == told, [pair for pair in zip(rows("Operations"), told) if pair[0] != pair[1]]


def global_options(m):
    line = re.search(r"^Global options, for every command: (.*)\.$", read("docs/reference.md"), re.MULTILINE).group(1)
    named = re.findall(r"--[a-z-]+(?: [A-Z=]+)?", line)
    listed = re.findall(r"^  (--[a-z-]+(?: [A-Z=]+)?)  ", m.run("--help").stdout, re.MULTILINE)
    assert named and named == listed, (named, listed)


def settings(m):
    told = [[s["key"], s["environment"], s["value"].replace(m.dir, "~"), s["summary"]]
        for s in m.json("config", env={"STORAGE_ROOT": None})["settings"]]
    assert rows("Settings") == told, [pair for pair in zip(rows("Settings"), told) if pair[0] != pair[1]]


def errors(m):
    """The table in err.c, row by row."""
    pattern = r"\[MR_\w+\] = \{ \"(\w+)\", (\d), (\d+), (true|false) \}"
    told = [[name, exit, http, "yes" if retryable == "true" else "no"]
        for name, exit, http, retryable in re.findall(pattern, read("src/base/err.c")) if name != "ok"]
    assert len(told) > 10 and [row[:4] for row in rows("Errors")] == told


def workspace_settings(m):
    """Each key of a workspace has its row."""
    m.run("work", "init")
    listed = [item["key"] for item in m.json("work", "config", "list")["items"]]
    told = {re.sub(r"^(mailboxes|.*\.by_(?:source_)?mailbox_id)\.\w+\.", r"\1.ID.", key) for key in listed}
    named = [key for row in rows("Settings of a workspace") for key in row[0].replace("`", "").split(", ")]
    assert sorted(named) == sorted(told), set(named) ^ told


def workspace_errors(m):
    """So has each error of its servers, settings and queue."""
    words = set(re.findall(r'\{ "((?:imap|smtp|push|config)_\w+)", MR_', read("src/workspace/error.c")))
    section = read("docs/reference.md").split("\n## Errors of a workspace's servers\n")[1]
    named = {word for line in re.findall(r"^\|([^|]*)\|", section, re.MULTILINE)[2:] for word in re.findall(r"\w+", line)}
    assert len(words) > 20 and words <= named, words - named
    assert named - words == {"unknown_mailbox_id", "remote_operation_unsupported"}, named - words


def metrics(m):
    with m.serve() as server:
        served = set(re.findall(r"^# TYPE (\w+)", server.get("/metrics")[2], re.MULTILINE))
    assert served == set(re.findall(r"mailroom_\w+", read("docs/reference.md"))), served


def readme_commands_work(m):
    """Every line of the README's example that does not stay in the foreground."""
    block = re.search(r"```console\n(.*?)```", read("README.md"), re.DOTALL).group(1)
    commands = [line.split("#")[0][2:].split() for line in block.splitlines()]
    assert len(commands) > 5
    for words in commands:
        if words[:2] == ["mailroom", "serve"] or words[0] == "source":
            continue
        done = m.run(*words[1:])
        assert done.returncode == 0 and done.stdout, words


def mailbox_page_can_be_pasted(m):
    """All its shell blocks as one session; each must succeed."""
    script = "\n".join(re.findall(r"```sh\n(.*?)```", read("docs/mailbox.md"), re.DOTALL))
    assert script.count("mailroom mailbox") > 10
    env = m.env(PATH=os.path.dirname(m.program) + ":" + os.environ["PATH"])
    done = subprocess.run(["sh", "-eux", "-c", script], cwd=m.dir, env=env, capture_output=True, text=True,
        timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-1500:]
    assert "Investigate parser drift" in done.stdout and "register payload: $.address: " in done.stdout, done.stdout
    assert done.stdout.count(" is in order: ") == 3 and " is repaired: " in done.stdout, done.stdout
    assert "It is a root of its own now" in done.stdout, done.stdout


SERVER_LINE = "server=http://127.0.0.1:8080\n"


def mail_on_a_server_can_be_pasted(m):
    """The block of the same page that needs one, with the address of ours."""
    block, = [block for block in re.findall(r"```sh\n(.*?)```", read("docs/agent-mail.md"), re.DOTALL) if SERVER_LINE in block]
    assert "$ script/mailserver --jmap-port 8080\n" in read("docs/agent-mail.md")
    with MailServer("--jmap-port", "0") as server:
        server.until("password: secret")
        port, = re.findall(r"JMAP +http://127\.0\.0\.1:(\d+)/jmap\n", server.said)
        script = block.replace(SERVER_LINE, f"server=http://127.0.0.1:{port}\n")
        env = m.env(PATH=os.path.dirname(m.program) + ":" + os.environ["PATH"])
        done = subprocess.run(["sh", "-eux", "-c", script], cwd=m.dir, env=env, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-1500:]
    for text in ("Sent to bob@houmao.localhost: Parser drift", "Please have a look.", "Re: Parser drift", "is in archive: read, answered, archived.",
            '"credential_ref":"stalwart-bob-at-houmao-localhost-', '"message_count":1'):
        assert text in done.stdout, (text, done.stdout)


def agent_mail_page_can_be_pasted(m):
    """All of it; what needs tmux where there is one."""
    blocks = [block for block in re.findall(r"```sh\n(.*?)```", read("docs/agent-mail.md"), re.DOTALL) if SERVER_LINE not in block]
    has_tmux = shutil.which("tmux") is not None
    script = "\n".join(block for block in blocks if has_tmux or "tmux" not in block)
    assert script.count("mailroom mail") > 20
    env = m.env(PATH=os.path.dirname(m.program) + ":" + os.environ["PATH"], TMUX_TMPDIR=m.dir, SHELL="/bin/sh")
    done = subprocess.run(["sh", "-eux", "-c", script], cwd=m.dir, env=env, capture_output=True, text=True,
        timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-1500:]
    for text in ("Sent to bob@houmao.localhost: Parser drift", "Re: Parser drift", "is in archive: read, answered, archived.",
            '"execution_path":"manager_direct"', "Understood.", "Agent bob has no mailbox any more.",
            '"execution_path": "manager_direct"'):
        assert text in done.stdout, (text, done.stdout)
    assert "is not mailbox-enabled" in done.stderr, done.stderr
    assert not has_tmux or ("You have mail in inbox." in done.stdout and "> Main is red" in done.stdout), done.stdout
    # Alice saw the answer in her own session, without being named.
    assert not has_tmux or done.stdout.count("I am on it.") == 1, done.stdout


def team_page_can_be_pasted(m):
    """The seed's seven steps among them."""
    script = "\n".join(re.findall(r"```sh\n(.*?)```", read("docs/team.md"), re.DOTALL))
    assert script.count("mailroom team") > 25
    env = m.env(PATH=os.path.dirname(m.program) + ":" + os.environ["PATH"])
    done = subprocess.run(["sh", "-eux", "-c", script], cwd=m.dir, env=env, capture_output=True, text=True,
        timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-1500:]
    for text in ("Sent message 1 to BlueLake", "1 message, 1 new, 1 to acknowledge", "# Thread TKT-123",
            "src/api/user.py is held by others"):
        assert text in done.stdout, (text, done.stdout)


def workspace_page_can_be_pasted(m):
    """From an mbox file to a queued reply, and all that does not need a server."""
    page = re.sub(rf"\n## {ARRIVED}\n.*?(?=\n## )", "", read("docs/workspace.md"), flags=re.DOTALL)
    script = "\n".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL))
    assert script.count("mailroom work") > 20
    env = m.env(PATH=os.path.dirname(m.program) + ":" + os.environ["PATH"])
    done = subprocess.run(["sh", "-eux", "-c", script], cwd=m.dir, env=env, capture_output=True, text=True,
        timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-1500:]
    for text in ("An e-mail workspace was made", "Took in 3 mails", "Offer for the garden fence",
            "is open in cases/open/c20260504001-Garden-fence", "is queued to be sent. Nothing has left this machine",
            '1. Send "Re: Offer for the garden fence" to Ann Lee <ann@example.com>', "No remote changes were made",
            "1 new contact", "The workspace is in order."):
        assert text in done.stdout, (text, done.stdout)


ARRIVED = "From an empty directory to a reply that arrived"


class MailServer:
    """script/mailserver; `said` is what it has printed."""

    def __init__(self, *options):
        self.options, self.said = options, ""

    def __enter__(self):
        self.process = subprocess.Popen([os.path.join(SOURCE, "script/mailserver"), *self.options], stdout=subprocess.PIPE, text=True)
        return self

    def until(self, words):
        while words not in self.said:
            line = self.process.stdout.readline()
            assert line, f"script/mailserver has ended: {self.said}"
            self.said += line

    def __exit__(self, *ignored):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)


def reply_arrives(m):
    """Ten commands against script/mailserver, which then says that the mail is there; and it leaves nothing behind."""
    section = read("docs/workspace.md").split(f"\n## {ARRIVED}\n")[1].split("\n## ")[0]
    script = "\n".join(re.findall(r"```sh\n(.*?)```", section, re.DOTALL))
    assert section.count("$ script/mailserver") == 1 and len(re.findall(r"\bmailroom work ", script)) == 9, script
    folder = os.path.join(m.dir, "servers")
    work = os.path.join(m.dir, "empty")
    os.mkdir(work)
    env = m.env(PATH=os.path.dirname(m.program) + ":" + os.environ["PATH"])
    with MailServer("--dir", folder, "--imap-port", "0", "--smtp-port", "0") as server:
        server.until("--ca-file")
        imap, smtp = (re.search(rf"{name} +localhost:(\d+)", server.said).group(1) for name in ("IMAP", "SMTP"))
        for told, ours in (("10993", imap), ("10587", smtp), ("/tmp/mailroom-mailserver", folder)):
            assert told in script, told
            script = script.replace(told, ours)
        done = subprocess.run(["sh", "-eux", "-c", script], cwd=work, env=env, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stderr[-1500:]
        server.until("A mail arrived at ann@example.test: 'Re: Offer for the garden fence' from you@example.test")
    for text in ("you@example.test is connected", "Took in 1 mail", "Offer for the garden fence", "1 item carried out"):
        assert text in done.stdout, (text, done.stdout)
    assert server.process.returncode == 0 and not os.path.exists(folder), server.said


def mcp_page_can_be_pasted(m):
    """The same, with a server on a port of its own."""
    with Port() as port:
        paste_mcp_page(m, port)


def paste_mcp_page(m, port):
    script = "\n".join(re.findall(r"```sh\n(.*?)```", read("docs/mcp.md"), re.DOTALL))
    # A person waits a second; a machine under load waits until it is there.
    assert "sleep 1\n" in script and script.count("mailroom connect") > 5
    script = script.replace("sleep 1\n", "until grep Ctrl-C serve.log; do sleep 0.1; done\n")
    script = "trap 'kill $! 2>/dev/null && wait $! || :' EXIT\n" + script
    env = m.env(PATH=os.path.dirname(m.program) + ":" + os.environ["PATH"], HTTP_PORT=port,
        HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED=None)
    done = subprocess.run(["sh", "-eux", "-c", script], cwd=m.dir, env=env, capture_output=True, text=True,
        timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-1500:] + done.stdout[-500:]
    assert "problem  " not in done.stdout, done.stdout
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"jsonrpc"')]
    answers += [json.loads(line[6:]) for line in done.stdout.splitlines() if line.startswith("data: {")]
    assert len(answers) == 7 and not [a for a in answers if a["result"].get("isError")], done.stdout
    assert "I rewrite src/auth.c." in json.dumps(answers), done.stdout
    [waited] = [a["result"]["structuredContent"] for a in answers if "timed_out" in json.dumps(a)]
    assert waited["timed_out"] is False and waited["messages"][0]["subject"] == "Auth", waited
    assert re.search(r'mailroom_messages_total\{project="[^"]*shop"\} 1', done.stdout), done.stdout
    assert os.listdir(os.path.join(m.dir, "shop")) != [] and not os.path.exists(os.path.join(m.dir, "shop/.mcp.json"))


def three_commands_make_two_agents_talk(m):
    """The README's: what they write into the clients' files is started as the clients would, and one hears the other."""
    block = re.search(r"## Two agents in three commands\n.*?```sh\n(.*?)```", read("README.md"), re.DOTALL).group(1)
    commands = [line.split("#")[0].split() for line in block.splitlines()]
    assert len(commands) == 3 and commands[0] == ["script/install"], commands
    assert os.access(os.path.join(SOURCE, "script/install"), os.X_OK)
    assert block.split("#")[0].strip() in read("docs/mcp.md")
    repo = os.path.join(m.dir, "shop")
    subprocess.run(["git", "init", "-q", repo], check=True, timeout=60)
    env = m.env(PATH=os.path.dirname(m.program) + ":" + os.environ["PATH"], STORAGE_ROOT=None)
    for words in commands[1:]:
        subprocess.run(words, cwd=repo, env=env, check=True, capture_output=True, timeout=60)
    with open(os.path.join(repo, ".mcp.json"), encoding="utf-8") as file:
        claude = json.load(file)["mcpServers"]["mailroom"]
    with open(os.path.join(m.dir, ".codex/config.toml"), encoding="utf-8") as file:
        codex = file.read()
    assert [claude["command"], *claude["args"]] == ["mailroom", "mcp"], claude
    assert 'command = "mailroom"\nargs = ["mcp"]\n' in codex, codex
    with Stdio(m, env={"STORAGE_ROOT": None}) as one, Stdio(m, env={"STORAGE_ROOT": None}) as other:
        names = [client.call("macro_start_session", human_key=repo, program=program, model="m")["agent"]["name"]
            for client, program in ((one, "claude-code"), (other, "codex"))]
        waiting = other.begin_call("wait_for_mail", project_key=repo, agent_name=names[1], since=0,
            timeout_seconds=60)
        one.call("send_message", project_key=repo, sender_name=names[0], to=[names[1]], subject="Hello", body_md="I am here.")
        [message] = other.answer(waiting)["result"]["structuredContent"]["messages"]
        assert (message["from"], message["subject"]) == (names[0], "Hello"), message


class Cluster:
    """script/cluster with servers of the program under test, on free ports."""

    def __init__(self, m, count):
        self.folder = os.path.join(m.dir, "cluster")
        self.process = subprocess.Popen([os.path.join(SOURCE, "script/cluster"), str(count), "--dir", self.folder, "--port", "0"],
            env=m.env(MAILROOM=m.program), stdout=subprocess.PIPE, text=True)
        self.said = ""

    def __enter__(self):
        while f". {self.folder}/env" not in self.said:
            line = self.process.stdout.readline()
            assert line, f"script/cluster has ended: {self.said}"
            self.said += line
        return self

    def __exit__(self, *ignored):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)


def scale_page_can_be_pasted(m):
    """With servers of our own, of which nothing is left afterwards."""
    page = read("docs/scale.md")
    script = "\n".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL))
    assert "$ script/cluster 3" in page and script.count("mailroom team") >= 8 and script.count("\nask ") >= 3
    env = m.env(PATH=os.path.dirname(m.program) + ":" + os.environ["PATH"])
    with Cluster(m, 3) as cluster:
        script = script.replace("/tmp/mailroom-cluster", cluster.folder)
        done = subprocess.run(["sh", "-eux", "-c", script], cwd=m.dir, env=env, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stderr[-1500:] + done.stdout[-500:]
    assert cluster.process.returncode == 0 and not os.path.exists(cluster.folder), cluster.said
    for text in ('"subject":"Schema"', "db/**", "Schema", "message_recipients", "RedStone"):
        assert text in done.stdout, (text, done.stdout)


def links_lead_somewhere(m):
    for name in ("README.md", "CONTRIBUTING.md", "AGENTS.md", "docs/ARCHITECTURE.md", "docs/reference.md",
            "docs/INTEROP.md", "docs/agent-mail.md", "docs/mailbox.md", "docs/mcp.md", "docs/pages.md", "docs/scale.md", "docs/team.md", "docs/workspace.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", re.sub("`[^`\n]*`", "", read(name))):
            path = os.path.join(SOURCE, os.path.dirname(name), target)
            assert os.path.exists(path), f"{name}: {target}"


with Tap() as tap:
    for case in (operations, global_options, settings, errors, workspace_settings, workspace_errors, metrics, readme_commands_work,
            mailbox_page_can_be_pasted, agent_mail_page_can_be_pasted, mail_on_a_server_can_be_pasted, team_page_can_be_pasted, workspace_page_can_be_pasted,
            reply_arrives, mcp_page_can_be_pasted, scale_page_can_be_pasted,
            three_commands_make_two_agents_talk, links_lead_somewhere):
        if case is reply_arrives and not (DOVECOT and HAS_LMTP and HAS_SMTP):
            tap.skip(case.__name__, "there is no Dovecot with LMTP, or no aiosmtpd")
            continue
        if case is scale_page_can_be_pasted and not HAS_POSTGRES:
            tap.skip(case.__name__, WHY_NOT)
            continue
        if case is mail_on_a_server_can_be_pasted and not HAS_CYRUS_JMAP:
            tap.skip(case.__name__, NO_CYRUS)
            continue
        with Mailroom(PROGRAM) as room:
            tap.run(case.__name__, case, room)
