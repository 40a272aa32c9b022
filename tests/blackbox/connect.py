"""usage: connect.py PROGRAM - Mailroom entered into coding agents' programs, and taken out again."""

import json
import os
import pty
import stat
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402

URL = "http://127.0.0.1:8765/mcp"
CLIENTS = ("claude-code", "codex", "gemini", "cursor", "vscode", "opencode")
EDIT, SESSION = "mailroom guard hook pre-tool-use", "mailroom guard hook session"


def hooks_of(matcher, edit="PreToolUse", after="PostToolUse", stop="Stop", end=True, timeout=10):
    """What a client is told to run, and when."""
    def group(words, **more):
        return [{**more, "hooks": [{"type": "command", "command": words, "timeout": timeout}]}]
    hooks = {"SessionStart": group(SESSION), edit: group(EDIT, matcher=matcher), after: group(SESSION), stop: group(SESSION)}
    return {**hooks, "SessionEnd": group(SESSION)} if end else hooks


FILES = {"claude-code": ".mcp.json", "gemini": ".gemini/settings.json", "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json", "opencode": "opencode.json"}


class Repo:
    """A repository in the room, whose directory is also home; mailroom is in PATH unless told otherwise."""

    def __init__(self, m):
        self.m = m
        self.dir = os.path.join(m.dir, "repo")
        os.makedirs(os.path.join(self.dir, "src"))
        subprocess.run(["git", "init", "-q", self.dir], check=True)
        self.path = os.path.dirname(m.program) + ":" + os.environ["PATH"]

    def run(self, *args, cwd=None, env=None):
        more = {"PATH": self.path, "STORAGE_ROOT": None, **(env or {})}
        return subprocess.run([self.m.program, *args], cwd=cwd or self.dir, env=self.m.env(**more), text=True,
            capture_output=True, timeout=60, check=False)

    def connect(self, *args, status=0, **options):
        done = self.run("--json", "connect", *args, **options)
        assert done.returncode == status, describe(done)
        return json.loads(done.stdout)

    def actions(self, *args, **options):
        return [file["action"] for file in self.connect(*args, **options)["files"]]

    def read(self, name):
        with open(os.path.join(self.dir, name), "rb") as file:
            return file.read()

    def json(self, name):
        return json.loads(self.read(name))

    def write(self, name, data):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)

    def names(self):
        return sorted(os.path.relpath(os.path.join(folder, name), self.m.dir)
            for folder, _, names in os.walk(self.m.dir) if "/.git/" not in folder + "/" for name in names)


def each_client_gets_its_own_form(r):
    entries = {
        "claude-code": ("mcpServers", {"type": "http", "url": URL}),
        "gemini": ("mcpServers", {"httpUrl": URL}),
        "cursor": ("mcpServers", {"url": URL}),
        "vscode": ("servers", {"type": "http", "url": URL}),
        "opencode": ("mcp", {"type": "remote", "url": URL}),
    }
    for client, (key, entry) in entries.items():
        r.connect(client)
        said = r.json(FILES[client])
        hooks = said.pop("hooks", None)
        assert said == {key: {"mailroom": entry}}, (client, r.read(FILES[client]))
        assert hooks == (hooks_of("write_file|replace", "BeforeTool", "AfterTool", "AfterAgent", timeout=10000)
            if client == "gemini" else None), hooks
    r.connect("codex")
    assert r.read("../.codex/config.toml").decode() == (
        "# >>> mailroom (written by mailroom connect codex; --undo removes it)\n"
        f'[mcp_servers.mailroom]\nurl = "{URL}"\n# <<< mailroom\n'), r.read("../.codex/config.toml")
    assert stat.S_IMODE(os.stat(os.path.join(r.m.dir, ".codex/config.toml")).st_mode) == 0o600
    assert r.json(".claude/settings.json") == {"hooks": hooks_of("Edit|MultiEdit|Write|NotebookEdit")}
    assert r.json("../.codex/hooks.json") == {"hooks": hooks_of("apply_patch|Edit|Write|Bash", end=False)}
    page = r.read("AGENTS.md").decode()
    assert page.startswith("<!-- mailroom:begin claude-code gemini cursor vscode opencode codex -->\n"), page
    assert page.endswith("<!-- mailroom:end -->\n") and page.count("mailroom:begin") == 1, page
    for tool in ("macro_start_session", "file_reservation_paths", "fetch_inbox", "release_file_reservations"):
        assert tool in page, tool


def pages_of_their_own_include_the_block(r):
    """Claude Code and Gemini CLI do not read AGENTS.md unless they are told to."""
    include = b"<!-- mailroom:include -->\n@AGENTS.md\n<!-- mailroom:end -->\n"
    r.write("CLAUDE.md", "Be brief.\n")
    r.connect("claude-code")
    r.connect("gemini")
    assert r.read("CLAUDE.md") == b"Be brief.\n\n" + include and r.read("GEMINI.md") == include, r.read("CLAUDE.md")
    assert set(r.actions("claude-code")) == {"unchanged"}
    r.connect("gemini", "--undo")
    assert not os.path.exists(os.path.join(r.dir, "GEMINI.md"))
    # One that does so already is left alone.
    r.write("GEMINI.md", "See @AGENTS.md for the rules.\n")
    assert r.actions("gemini")[-1] == "unchanged" and r.actions("gemini", "--undo")[-1] == "unchanged"
    assert r.read("GEMINI.md") == b"See @AGENTS.md for the rules.\n"
    # So is one that is the other by another name.
    os.unlink(os.path.join(r.dir, "GEMINI.md"))
    r.connect("claude-code", "--undo")
    r.write("AGENTS.md", "# Rules\n")
    os.symlink("AGENTS.md", os.path.join(r.dir, "GEMINI.md"))
    for _ in range(2):
        assert len(r.connect("gemini")["files"]) == 2
        page = r.read("AGENTS.md")
        assert page.startswith(b"# Rules\n") and page.count(b"mailroom:begin gemini") == 1 and b"include" not in page, page
    r.connect("gemini", "--undo")
    assert r.read("AGENTS.md") == b"# Rules\n" and os.path.islink(os.path.join(r.dir, "GEMINI.md"))


def tools_it_names_are_there(r):
    """What agents are told to call can be called, with these arguments."""
    r.connect("cursor")
    page = r.read("AGENTS.md").decode()
    names = {o["name"] for o in json.loads(r.run("--json", "operations").stdout)["operations"]}
    told = {word for word in page.split("`")[1::2] if word.islower() and "_" in word} - {"human_key", "ack_required"}
    assert told <= names | {"wait_for_mail"}, told - names


def a_program_it_starts(r):
    program = {"command": "mailroom", "args": ["mcp"]}
    entries = {"claude-code": {"type": "stdio", **program}, "gemini": program, "cursor": program,
        "vscode": {"type": "stdio", **program}}
    for client, entry in entries.items():
        result = r.connect(client, "--stdio")
        assert (result["transport"], result["url"], result["command"]) == ("stdio", None, "mailroom"), result
        key = "servers" if client == "vscode" else "mcpServers"
        assert r.json(FILES[client])[key]["mailroom"] == entry, (client, r.read(FILES[client]))
    r.connect("codex", "--stdio")
    assert 'command = "mailroom"\nargs = ["mcp"]\n#' in r.read("../.codex/config.toml").decode()
    # Data that is elsewhere only here and now is named, so that the client's program finds it too.
    root = os.path.join(r.m.dir, "else where")
    r.connect("claude-code", "--stdio", env={"STORAGE_ROOT": root})
    assert r.json(".mcp.json")["mcpServers"]["mailroom"]["env"] == {"STORAGE_ROOT": root}
    r.connect("codex", "--stdio", env={"STORAGE_ROOT": root})
    assert f'env.STORAGE_ROOT = "{root}"\n' in r.read("../.codex/config.toml").decode()


def what_it_starts_answers(r):
    """The entry as it was written, run as the client would."""
    r.connect("claude-code", "--stdio", env={"PATH": "/usr/bin:/bin"})
    entry = r.json(".mcp.json")["mcpServers"]["mailroom"]
    assert entry["command"] == os.path.realpath(r.m.program), entry
    done = subprocess.run([entry["command"], *entry["args"]], cwd=r.dir, env=r.m.env(), text=True,
        input='{"jsonrpc":"2.0","id":1,"method":"ping"}\n', capture_output=True, timeout=60, check=False)
    assert done.returncode == 0 and json.loads(done.stdout)["result"] == {}, describe(done)


def tokens_stay_out_of_files(r):
    secret = "s3cret-t0ken-of-the-server"
    env = {"HTTP_BEARER_TOKEN": secret, "MAILROOM_TOKEN": secret}
    # Who sits on this machine needs none, unless it is said otherwise.
    r.connect("cursor", env=env)
    assert "headers" not in r.json(".cursor/mcp.json")["mcpServers"]["mailroom"]
    r.connect("cursor", "--url", "https://far.example/mcp", env=env)
    assert "headers" in r.json(".cursor/mcp.json")["mcpServers"]["mailroom"]
    env["HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED"] = "false"
    for client in CLIENTS:
        for more in ((), ("--stdio",)):
            done = r.run("connect", client, *more, env=env)
            assert done.returncode == 0 and secret not in done.stdout + done.stderr, describe(done)
            for name in r.names():
                assert secret.encode() not in r.read(os.path.join(r.m.dir, name)), (client, name)
        r.connect(client, env=env)
    assert r.json(".mcp.json")["mcpServers"]["mailroom"]["headers"] == {"Authorization": "Bearer ${MAILROOM_TOKEN}"}
    assert r.json(".gemini/settings.json")["mcpServers"]["mailroom"]["headers"] == {
        "Authorization": "Bearer ${MAILROOM_TOKEN}"}
    assert r.json(".cursor/mcp.json")["mcpServers"]["mailroom"]["headers"] == {
        "Authorization": "Bearer ${env:MAILROOM_TOKEN}"}
    assert 'bearer_token_env_var = "MAILROOM_TOKEN"\n' in r.read("../.codex/config.toml").decode()
    code = r.json(".vscode/mcp.json")
    assert code["servers"]["mailroom"]["headers"] == {"Authorization": "Bearer ${input:mailroom-token}"}, code
    assert code["inputs"] == [{"type": "promptString", "id": "mailroom-token", "password": True,
        "description": "Bearer token of the Mailroom server"}], code
    # And without one, nothing of it stays.
    r.connect("vscode")
    assert r.json(".vscode/mcp.json") == {"servers": {"mailroom": {"type": "http", "url": URL}}}


def what_was_there_stays(r):
    r.write(".mcp.json", '{"zeta":1.50,"mcpServers":{"other":{"command":"x","args":["ü","\\u0007"]}},"alpha":[]}')
    r.write(".claude/settings.json", json.dumps({"permissions": {"allow": ["Bash"]}, "hooks": {"PreToolUse": [
        {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}], "Stop": []}}))
    r.write("../.codex/config.toml", 'model = "o9"\r\n\r\n[mcp_servers.other]\r\nurl = "x"')
    r.write("AGENTS.md", "# Rules\n\nBe kind.\n")
    r.connect("claude-code")
    r.connect("codex")
    mcp = r.json(".mcp.json")
    assert list(mcp) == ["zeta", "mcpServers", "alpha"] and list(mcp["mcpServers"]) == ["other", "mailroom"], mcp
    assert mcp["mcpServers"]["other"] == {"command": "x", "args": ["ü", "\a"]} and mcp["zeta"] == 1.5, mcp
    assert r.read(".mcp.json").startswith(b'{\n  "zeta": 1.5,\n  "mcpServers": {\n    "other": {\n'), r.read(".mcp.json")
    settings = r.json(".claude/settings.json")
    assert settings["permissions"] == {"allow": ["Bash"]} and settings["hooks"]["Stop"] == hooks_of("")["Stop"], settings
    assert [g["matcher"] for g in settings["hooks"]["PreToolUse"]] == ["Bash", "Edit|MultiEdit|Write|NotebookEdit"]
    toml = r.read("../.codex/config.toml")
    assert toml.startswith(b'model = "o9"\r\n\r\n[mcp_servers.other]\r\nurl = "x"\n\n# >>> mailroom'), toml
    assert r.read("AGENTS.md").startswith(b"# Rules\n\nBe kind.\n\n<!-- mailroom:begin claude-code codex -->\n")


def again_changes_nothing(r):
    for client in CLIENTS:
        assert set(r.actions(client)) <= {"created", "updated"}, client
    files = {name: r.read(os.path.join(r.m.dir, name)) for name in r.names()}
    times = {name: os.stat(os.path.join(r.m.dir, name)).st_mtime_ns for name in files}
    for client in CLIENTS:
        assert set(r.actions(client)) == {"unchanged"}, client
    assert files == {name: r.read(os.path.join(r.m.dir, name)) for name in r.names()}
    assert times == {name: os.stat(os.path.join(r.m.dir, name)).st_mtime_ns for name in files}
    # Another port is a change, and leaves one entry.
    r.connect("claude-code", "--url", "http://10.0.0.7:9000/mcp")
    r.connect("codex", env={"HTTP_PORT": "9000"})
    assert r.json(".mcp.json")["mcpServers"] == {"mailroom": {"type": "http", "url": "http://10.0.0.7:9000/mcp"}}
    toml = r.read("../.codex/config.toml").decode()
    assert toml.count("[mcp_servers.mailroom]") == 1 and "127.0.0.1:9000" in toml, toml


def install(r, program, says="", status=0, sleeps=False):
    """A client of that name in a directory of its own in PATH, which says this about its servers."""
    folder = os.path.join(r.m.dir, "bin")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, program)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n[ \"$*\" = 'mcp list' ] || exit 9\npwd >>{path}.asked\ncat <<'END'\n{says}\nEND\nexit {status}\n")
    os.chmod(path, 0o755)
    r.path = folder + ":" + os.path.dirname(r.m.program) + ":/usr/bin:/bin"
    return path


def the_client_is_asked_whether_it_reaches_mailroom(r):
    for client, program, says, verdict, words in (
            ("claude", "claude", "Checking MCP server health…\n\nmailroom: mailroom mcp - ✔ Connected", "connected",
                "Claude Code reaches Mailroom."),
            ("claude-code", "claude", "mailroom: mailroom mcp - ⏸ Pending approval (run `claude` to approve)", "pending",
                "It says: mailroom: mailroom mcp - ⏸ Pending approval"),
            ("claude-code", "claude", "other: x - ✔ Connected\nmailroom: mailroom mcp - ✘ Failed to connect", "failed",
                "It says: mailroom: mailroom mcp - ✘ Failed to connect"),
            ("gemini", "gemini", "○ mailroom: mailroom mcp (stdio) - Disabled", "disabled", "It says: mailroom: "),
            ("gemini", "gemini", "\033[31m✗\033[0m mailroom: mailroom mcp (stdio) - Disconnected", "failed", "It says: "),
            ("codex", "codex", "Name      Command   Status\nmailroom  mailroom  enabled", "listed", "it tries its servers"),
            ("opencode", "opencode", "●  ✓ mailroom \033[90mconnected", "connected", "opencode reaches Mailroom."),
            ("codex", "codex", "something else", "silent", "and did not say")):
        path = install(r, program, says)
        result = r.connect(client, "--stdio")
        assert result["verdict"] == verdict and [n for n in result["notes"] if words in n], (client, says, result)
        assert result["client"] == ("claude-code" if client == "claude" else client), result
        # What the person still has to do is said unless all is done.
        left = [n for n in result["notes"] if "trust" in n]
        assert bool(left) == (verdict != "connected" and client != "opencode"), result["notes"]
        with open(path + ".asked", encoding="utf-8") as file:
            assert file.read().splitlines()[-1] == os.path.realpath(r.dir)
        os.unlink(path + ".asked")
    # It is not asked when nothing is entered, or when that is not wanted.
    for words in (["--print"], ["--undo"], ["--skip-check"]):
        assert r.connect("codex", "--stdio", *words)["verdict"] is None
    assert not os.path.exists(path + ".asked")
    # A client that fails or is not installed is none of our failure.
    install(r, "codex", status=3)
    assert r.connect("codex", "--stdio")["verdict"] == "silent"
    assert r.connect("cursor", "--stdio")["verdict"] is None


def without_a_client_those_that_are_installed_are_offered(r):
    r.path = os.path.dirname(r.m.program) + ":/usr/bin:/bin"
    result = r.connect()
    assert result["client"] is None and "found" not in result and "No coding agent's program" in result["notes"][0], result
    install(r, "claude", "mailroom: - ✔ Connected")
    install(r, "codex", "mailroom")
    before = r.names()
    result = r.connect()
    assert [(f["client"], f["connected"]) for f in result["found"]] == [("claude-code", False), ("codex", False)], result
    assert result["notes"] == ["Claude Code is installed: mailroom connect claude-code",
        "Codex is installed: mailroom connect codex"] and r.names() == before, result
    # A person is asked for each, and answers no to the first one.
    ours, theirs = pty.openpty()
    process = subprocess.Popen([r.m.program, "connect", "--stdio"], cwd=r.dir, env=r.m.env(PATH=r.path, STORAGE_ROOT=None),
        stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    for question, answer in ((b"Connect Claude Code (", b"n\n"), (b"Connect Codex (", b"\n")):
        while question not in text:
            text += os.read(ours, 65536)
        os.write(ours, answer)
    try:
        while chunk := os.read(ours, 65536):
            text += chunk
    except OSError:
        pass  # the end of a terminal
    os.close(ours)
    assert process.wait(60) == 0 and b"Codex knows Mailroom" in text, text
    assert not os.path.exists(os.path.join(r.dir, ".mcp.json")) and b"mcp_servers.mailroom" in r.read("../.codex/config.toml")
    # --yes takes all.
    done = r.run("--yes", "connect", "--stdio")
    assert done.returncode == 0 and "Claude Code reaches Mailroom." in done.stdout, describe(done)
    assert [f["connected"] for f in r.connect()["found"]] == [True, True]


def opencode_has_words_of_its_own(r):
    r.write("opencode.json", '{"$schema": "https://opencode.ai/config.json", "mcp": {"x": {"type": "local", "command": ["y"]}}}')
    r.connect("opencode", "--stdio", env={"STORAGE_ROOT": "/s"})
    assert r.json("opencode.json")["mcp"] == {"x": {"type": "local", "command": ["y"]}, "mailroom": {"type": "local",
        "command": ["mailroom", "mcp"], "environment": {"STORAGE_ROOT": "/s"}}}, r.read("opencode.json")
    r.connect("opencode", "--url", "https://far.example/mcp", "--with-token")
    assert r.json("opencode.json")["mcp"]["mailroom"] == {"type": "remote", "url": "https://far.example/mcp",
        "headers": {"Authorization": "Bearer {env:MAILROOM_TOKEN}"}}, r.read("opencode.json")
    assert r.actions("opencode", "--undo")[0] == "restored"


def undo_leaves_no_trace(r):
    before = r.names()
    for client in CLIENTS:
        r.connect(client)
    for client in CLIENTS:
        assert set(r.actions(client, "--undo")) <= {"removed", "updated"}, client
    assert r.names() == before, r.names()
    assert not os.path.exists(os.path.join(r.dir, ".claude")) and not os.path.exists(os.path.join(r.m.dir, ".codex"))
    assert set(r.actions("cursor", "--undo")) == {"unchanged"}


def undo_restores_byte_for_byte(r):
    files = {
        ".mcp.json": b'{ "mcpServers" : {\t"other":{}} }',
        ".claude/settings.json": b'{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[]}]}}\n\n',
        "../.codex/config.toml": b'model = "o9"',
        "AGENTS.md": b"# Rules",
        "CLAUDE.md": b"Be brief.",
        ".cursor/mcp.json": b"\n",
    }
    for name, data in files.items():
        r.write(name, data)
    os.chmod(os.path.join(r.dir, ".mcp.json"), 0o600)
    before = r.names()
    os.chmod(os.path.join(r.dir, "AGENTS.md"), 0o666)
    result = r.connect("claude-code")["files"]
    assert [file["action"] for file in result] == ["updated"] * 4, result
    # What was there is kept at the user's own place, and nothing beside the file.
    backup = result[0]["backup"]
    assert backup.startswith(os.path.join(r.m.dir, ".local/state/mailroom/connect/")), backup
    assert r.read(backup) == files[".mcp.json"]
    assert stat.S_IMODE(os.stat(os.path.dirname(backup)).st_mode) == 0o700
    assert not [name for name in r.names() if name not in before and not name.startswith(".local/state/")], r.names()
    assert stat.S_IMODE(os.stat(os.path.join(r.dir, ".mcp.json")).st_mode) == 0o600
    for client in ("codex", "cursor"):
        r.connect(client)
    r.connect("claude-code", "--stdio")
    assert r.read(backup) == files[".mcp.json"]
    assert r.actions("claude-code", "--undo") == ["restored", "restored", "updated", "restored"]
    assert r.actions("codex", "--undo") == ["restored", "removed", "updated"]
    assert r.actions("cursor", "--undo") == ["restored", "restored"]
    for name, data in files.items():
        assert r.read(name) == data, (name, r.read(name))
    assert stat.S_IMODE(os.stat(os.path.join(r.dir, ".mcp.json")).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.join(r.dir, "AGENTS.md")).st_mode) == 0o666
    assert r.names() == before, r.names()


def undo_keeps_what_came_later(r):
    r.write(".mcp.json", '{"mcpServers":{}}')
    r.write("AGENTS.md", "# Rules\n")
    r.connect("claude-code")
    mcp = r.json(".mcp.json")
    mcp["mcpServers"]["later"] = {"command": "y"}
    r.write(".mcp.json", json.dumps(mcp))
    r.write("AGENTS.md", r.read("AGENTS.md") + b"\nBe brief.\n")
    result = r.connect("claude-code", "--undo")
    assert [file["action"] for file in result["files"]] == ["updated", "removed", "updated", "removed"], result
    assert r.json(".mcp.json") == {"mcpServers": {"later": {"command": "y"}}}
    assert r.read("AGENTS.md") == b"# Rules\n\nBe brief.\n", r.read("AGENTS.md")
    for name in (".mcp.json", "AGENTS.md"):
        assert any(name in text and "only Mailroom's part was taken out" in text for text in result["notes"]), result


def printing_writes_nothing(r):
    before = r.names()
    for client in CLIENTS:
        result = r.connect(client, "--print")
        assert all(file["action"] == "print" and file["content"] for file in result["files"]), result
        done = r.run("connect", client, "--print")
        assert done.returncode == 0 and result["files"][0]["content"] in done.stdout, describe(done)
    assert r.names() == before


def files_it_cannot_read_are_left_alone(r):
    cases = (("cursor", ".cursor/mcp.json", '{"a": 1, // why\n}', "not valid JSON"),
        ("gemini", ".gemini/settings.json", "[1]", "no object"),
        ("vscode", ".vscode/mcp.json", '{"servers": []}', '"mailroom" is no object'),
        ("claude-code", ".claude/settings.json", '{"hooks": {"PreToolUse": {}}}', '"PreToolUse" is no list'),
        ("cursor", "AGENTS.md", "<!-- mailroom:begin cursor -->\nand no end\n", "is missing after"),
        ("cursor", ".cursor/mcp.json", '{"a": 1,\n "b": }', "not valid JSON at line 2"),
        ("codex", "../.codex/config.toml", 'model = "o9"\n[broken\n', "not valid TOML at line 2: the name of a table has no ]"),
        ("codex", "../.codex/config.toml", '{"json": true}\n', "not valid TOML at line 1"),
        ("codex", "../.codex/config.toml", "[a]\n[a]\n", "not valid TOML at line 2: this is defined twice"),
        ("codex", "../.codex/config.toml", "a = 1\nmcp_servers = {}\n", "line 2: no table can be added to mcp_servers"))
    for client, name, text, why in cases:
        r.write(name, text)
        before = r.names()
        error = r.connect(client, status=1)
        assert why in error["detail"] and os.path.basename(name) in error["detail"], error
        if error["code"] == "malformed":
            assert f"mailroom connect {client} --print" in error["detail"], error
        assert r.read(name).decode() == text and r.names() == before, (name, r.names())
        os.unlink(os.path.join(r.dir, name))


# A file of each client in which somebody has an entry of our name, the same after another change, and what must be
# in it when our own is gone again.
OWN = (
    ("claude-code", ".mcp.json", b'{ "mcpServers":{"mailroom" : {"url":"http://mine"}},"n":1.50 }', {"n": 2}),
    ("claude-code", ".claude/settings.json", b'{"hooks":{"PreToolUse":[{"matcher":"Edit","hooks":[{"type":"command",'
        b'"command":"my guard hook pre-tool-use"}]}]}}', {"n": 2}),
    ("gemini", ".gemini/settings.json", b'{"mcpServers":{"mailroom":{"command":"mine"}, "x":{}}}\n\n', {"n": 2}),
    ("cursor", ".cursor/mcp.json", b'{"mcpServers":{"mailroom":null}}', {"n": 2}),
    ("vscode", ".vscode/mcp.json", b'{"servers":{"mailroom":{"type":"stdio","command":"mine"}}}', {"n": 2}),
    ("vscode", ".vscode/mcp.json", b'{"inputs":[{"id":"mailroom-token","type":"mine"}]}', {"n": 2}),
    ("codex", "../.codex/config.toml", b'a = 1\r\n[mcp_servers.mailroom]\r\nurl = "mine"\r\n[mcp_servers."mailroom".env]\n'
        b'# why\nA = "b"\n\n[z]\ny = 1', b"[later]\n"),
)
WAYS = ((), ("--stdio",), ("--url", "https://far.example/mcp", "--with-token"))


def tree(r):
    """Every file of the room with its bytes and mode, but what connect keeps for itself."""
    paths = [os.path.join(r.m.dir, name) for name in r.names() if not name.startswith(".local/state/")]
    return {path: (r.read(path), stat.S_IMODE(os.stat(path).st_mode)) for path in paths}


def kept(r):
    return [name for name in r.names() if name.startswith(".local/state/")]


def change_by_hand(r, name, how):
    """Somebody adds something elsewhere in the file."""
    if isinstance(how, bytes):
        r.write(name, how + r.read(name))
    else:
        r.write(name, json.dumps({**r.json(name), **how}))


def an_entry_of_somebody_else_stays(r):
    for client, name, text, _ in OWN:
        r.write(name, text)
        before = tree(r)
        for way in WAYS:
            error = r.connect(client, *way, status=1)
            assert error["code"] == "conflict" and os.path.basename(name) in error["detail"], error
            assert "mailroom connect did not write; nothing was written. --force replaces it" in error["detail"], error
            assert tree(r) == before and kept(r) == [], (client, name, way)
        done = r.run("connect", client)
        assert done.returncode == 1 and "--force" in done.stderr, describe(done)
        # There is nothing of ours to undo.
        result = r.connect(client, "--undo")
        assert tree(r) == before, (client, name)
        assert any("is not as mailroom connect wrote it, and was left" in note for note in result["notes"]), result
        os.unlink(os.path.join(r.dir, name))


def force_replaces_it_and_undo_brings_it_back(r):
    for client, name, text, _ in OWN:
        r.write(name, text)
        os.chmod(os.path.join(r.dir, name), 0o640)
        before = tree(r)
        for way in WAYS:
            r.connect(client, *way, "--force")
            assert b"mine" not in r.read(name) and b"mailroom" in r.read(name), r.read(name)
            # What it wrote is its own: another way needs no force, and does not forget what was there.
            r.connect(client, "--url", "http://10.0.0.7:9000/mcp")
            assert tree(r) != before and kept(r), client
            r.connect(client, "--undo")
            assert tree(r) == before, (client, name, way, r.read(name))
            assert kept(r) == [], kept(r)
        os.unlink(os.path.join(r.dir, name))


def undo_after_force_keeps_what_came_later(r):
    for client, name, text, later in OWN:
        for way in WAYS:
            r.write(name, text)
            r.connect(client, *way, "--force")
            change_by_hand(r, name, later)
            result = r.connect(client, "--undo")
            assert any("only Mailroom's part was taken out" in note for note in result["notes"]), result
            got = r.read(name)
            if isinstance(later, bytes):
                assert got.startswith(later + b"a = 1\r\n") and b"\n[z]\ny = 1" in got and b">>> mailroom" not in got, got
                assert text[text.index(b"[mcp"):text.index(b"\n[z]")] in got, got
            else:
                assert json.loads(got) == {**json.loads(text), **later}, (client, name, got)
            assert kept(r) == [], kept(r)
            os.unlink(os.path.join(r.dir, name))


def an_entry_that_was_changed_is_somebodys(r):
    for client, name, _, _ in OWN[:1] + OWN[2:5]:
        for way in WAYS:
            r.connect(client, *way)
            mine = r.json(name)
            server = (mine.get("mcpServers") or mine["servers"])["mailroom"]
            server["timeout"] = 7
            r.write(name, json.dumps(mine))
            before = r.read(name)
            assert "--force" in r.connect(client, "--url", "http://10.0.0.7:9000/mcp", status=1)["detail"]
            result = r.connect(client, "--undo")
            assert any("--undo --force takes it out" in note for note in result["notes"]), result
            assert r.read(name) == before, client
            r.connect(client, "--undo", "--force")
            assert not os.path.exists(os.path.join(r.dir, name)) and kept(r) == [], (client, kept(r))


def what_others_change_between_two_times_stays(r):
    for client, name, text, later in OWN:
        r.write(name, text)
        r.connect(client, "--force")
        change_by_hand(r, name, later)
        r.connect(client, "--url", "http://10.0.0.7:9000/mcp")
        r.connect(client, "--undo")
        got = r.read(name)
        if isinstance(later, bytes):
            assert got.startswith(later) and b'url = "mine"' in got and b">>> mailroom" not in got, got
        else:
            assert json.loads(got) == {**json.loads(text), **later}, (client, name, got)
        assert kept(r) == [], kept(r)
        os.unlink(os.path.join(r.dir, name))


def files_that_were_not_there_are_gone_again(r):
    for client in CLIENTS:
        for way in WAYS:
            before = tree(r)
            folders = [folder for folder, _, _ in os.walk(r.dir) if "/.git" not in folder]
            r.connect(client, *way)
            r.connect(client, "--undo")
            assert tree(r) == before and kept(r) == [], (client, way)
            assert folders == [folder for folder, _, _ in os.walk(r.dir) if "/.git" not in folder], client
    # A directory that was there stays, though it is empty.
    os.makedirs(os.path.join(r.dir, ".cursor"))
    r.connect("cursor")
    r.connect("cursor", "--undo")
    assert os.listdir(os.path.join(r.dir, ".cursor")) == []


def what_was_taken_out_by_hand_is_out(r):
    r.write(".cursor/mcp.json", b'{"mcpServers":{}}')
    r.connect("cursor")
    r.write(".cursor/mcp.json", b'{"mcpServers":{ }}')
    r.write("AGENTS.md", b"")
    assert set(r.actions("cursor", "--undo")) == {"unchanged"}
    assert r.read(".cursor/mcp.json") == b'{"mcpServers":{ }}' and kept(r) == []
    # And what is entered then is the state to come back to.
    r.connect("cursor")
    r.connect("cursor", "--undo")
    assert r.read(".cursor/mcp.json") == b'{"mcpServers":{ }}' and kept(r) == []


def an_entry_in_another_table_comes_back_by_hand(r):
    name, text = "../.codex/config.toml", b'[mcp_servers]\nmailroom = { url = "mine" }\n'
    r.write(name, text)
    r.connect("codex", "--force")
    r.connect("codex", "--undo")
    assert r.read(name) == text
    result = r.connect("codex", "--force")
    backup = result["files"][0]["backup"]
    change_by_hand(r, name, b"a = 1\n")
    error = r.connect("codex", "--undo", status=1)
    assert "put it back by hand" in error["detail"] and f"is in {backup}" in error["detail"], error
    assert r.read(backup) == text
    r.write(name, text)
    r.connect("codex", "--undo")
    assert r.read(name) == text and kept(r) == [], kept(r)


def the_record_is_the_users_own(r):
    # Nothing in a repository is taken for what connect remembers.
    r.write(".mcp.json", b'{"mcpServers":{"mailroom":{"url":"http://mine"}}}')
    r.write(".mcp.json.mailroom-backup", b"evil")
    assert r.connect("claude-code", status=1)["code"] == "conflict"
    r.connect("claude-code", "--undo")
    assert b"http://mine" in r.read(".mcp.json") and r.read(".mcp.json.mailroom-backup") == b"evil"
    state = os.path.join(r.m.dir, "state")
    backup = r.connect("claude-code", "--force", env={"XDG_STATE_HOME": state})["files"][0]["backup"]
    assert backup.startswith(state + "/mailroom/connect/"), backup
    error = r.connect("cursor", status=1, env={"HOME": None})
    assert error["code"] == "not_found" and "Set HOME, or XDG_STATE_HOME" in error["detail"], error
    r.connect("cursor", env={"HOME": None, "XDG_STATE_HOME": state})
    assert r.connect("cursor", "--print", env={"HOME": None})["files"]


def links_do_not_lead_out(r):
    r.write("../victim", "precious\n")
    os.symlink("../victim", os.path.join(r.dir, "AGENTS.md"))
    error = r.connect("cursor", status=1)
    assert error["code"] == "forbidden" and "leads out of the project" in error["detail"], error
    assert r.read("../victim") == b"precious\n" and not os.path.exists(os.path.join(r.dir, ".cursor"))
    os.unlink(os.path.join(r.dir, "AGENTS.md"))
    os.makedirs(os.path.join(r.m.dir, "outside"))
    os.symlink("../outside", os.path.join(r.dir, ".cursor"))
    assert r.connect("cursor", status=1)["code"] == "forbidden"
    assert os.listdir(os.path.join(r.m.dir, "outside")) == []
    # Inside the project, and at home, links are followed: the file stays where it is kept.
    os.unlink(os.path.join(r.dir, ".cursor"))
    r.write("doc/agents.md", "# Rules\n")
    os.symlink("doc/agents.md", os.path.join(r.dir, "AGENTS.md"))
    r.write("../dotfiles/codex.toml", "a = 1\n")
    os.makedirs(os.path.join(r.m.dir, ".codex"))
    os.symlink("../dotfiles/codex.toml", os.path.join(r.m.dir, ".codex/config.toml"))
    r.connect("codex")
    assert os.path.islink(os.path.join(r.dir, "AGENTS.md")) and b"mailroom:begin" in r.read("doc/agents.md")
    assert os.path.islink(os.path.join(r.m.dir, ".codex/config.toml"))
    assert b"[mcp_servers.mailroom]" in r.read("../dotfiles/codex.toml")


def the_project_is_found(r):
    result = r.connect("cursor", cwd=os.path.join(r.dir, "src"))
    assert result["project"] == os.path.realpath(r.dir) and os.path.exists(os.path.join(r.dir, ".cursor/mcp.json"))
    elsewhere = os.path.join(r.m.dir, "plain")
    os.makedirs(elsewhere)
    assert r.connect("cursor", cwd=elsewhere)["project"] == os.path.realpath(elsewhere)
    result = r.connect("gemini", "--project", elsewhere)
    assert os.path.exists(os.path.join(elsewhere, ".gemini/settings.json")), result
    r.connect("codex", env={"CODEX_HOME": os.path.join(r.m.dir, "codex-home")})
    assert b"[mcp_servers.mailroom]" in r.read("../codex-home/config.toml")


def wrong_wishes_are_told(r):
    cases = ((("emacs",), "must be one of: claude-code, codex, gemini, cursor, vscode"),
        (("--print",), "--undo and --print need a client: mailroom connect CLIENT --print"),
        (("cursor", "--undo", "--print"), "exclude each other"),
        (("cursor", "--stdio", "--url", URL), "exclude each other"),
        (("cursor", "--url", "ftp://x"), "must begin with http://"),
        (("cursor", "--set", "http.port=0"), "a client needs to know which"))
    for args, why in cases:
        done = r.run("connect", *args)
        assert done.returncode == 2 and why in done.stderr, describe(done)
    assert r.connect("cursor", "--project", "/no/such/place", status=1)["code"] == "not_found"
    assert r.connect("codex", status=1, env={"HOME": None})["code"] == "not_found"


def people_are_told_what_is_left_to_do(r):
    done = r.run("connect", "claude-code")
    assert "  created    " in done.stdout and "mailroom serve" in done.stdout, done.stdout
    assert f"Next: start Claude Code in {os.path.realpath(r.dir)}. mailroom doctor says" in done.stdout, done.stdout
    done = r.run("connect", "claude-code", "--stdio")
    assert "mailroom serve" not in done.stdout and "Next: start Claude Code" in done.stdout, done.stdout
    assert "Next" not in r.run("connect", "claude-code", "--undo").stdout
    done = r.run("connect", "gemini", "--with-token")
    assert "MAILROOM_TOKEN where Gemini CLI is started" in done.stdout, done.stdout
    done = r.run("connect", "codex", env={"PATH": "/usr/bin:/bin"})
    assert "not in your PATH" in done.stdout, done.stdout
    for host, url in (("0.0.0.0", "http://127.0.0.1:8765/mcp"), ("::1", "http://[::1]:8765/mcp")):
        assert r.connect("cursor", env={"HTTP_HOST": host})["url"] == url


with Tap() as tap:
    for case in (each_client_gets_its_own_form, pages_of_their_own_include_the_block, tools_it_names_are_there, a_program_it_starts, what_it_starts_answers,
            tokens_stay_out_of_files, what_was_there_stays, again_changes_nothing, undo_leaves_no_trace,
            undo_restores_byte_for_byte, undo_keeps_what_came_later, printing_writes_nothing,
            files_it_cannot_read_are_left_alone, an_entry_of_somebody_else_stays, force_replaces_it_and_undo_brings_it_back,
            undo_after_force_keeps_what_came_later, an_entry_that_was_changed_is_somebodys,
            what_others_change_between_two_times_stays, files_that_were_not_there_are_gone_again,
            what_was_taken_out_by_hand_is_out, an_entry_in_another_table_comes_back_by_hand, the_record_is_the_users_own,
            links_do_not_lead_out, the_project_is_found, wrong_wishes_are_told,
            people_are_told_what_is_left_to_do, the_client_is_asked_whether_it_reaches_mailroom,
            without_a_client_those_that_are_installed_are_offered, opencode_has_words_of_its_own):
        with Mailroom(sys.argv[1]) as room:
            tap.run(case.__name__, case, Repo(room))
