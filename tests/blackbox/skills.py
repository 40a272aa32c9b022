"""usage: skills.py PROGRAM SOURCE - the skills of agents' mail: where they go, what is kept, and whether what they say works."""

import hashlib
import json
import os
import re
import shlex
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from agents import Agents  # noqa: E402
from mailroom import describe  # noqa: E402
from tap import Tap  # noqa: E402

PROCESS, COMMS = SKILLS = ("houmao-process-emails-via-gateway", "houmao-agent-email-comms")
RECORD = ".mailroom-skill.json"


def skill_file(*parts):
    return os.path.join(*parts, "SKILL.md")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def done(told):
    return {(one["tool"], one["skill"]): one["action"] for one in told["skills"]}


def state(m, *args, **options):
    return {(one["tool"], one["skill"]): one["state"] for one in m.json("skills", "status", *args, **options)["skills"]}


def places(m):
    """Each program has them where the contract says, in the home that its own variable names."""
    usual = {"claude": ".claude/skills", "codex": ".codex/skills", "gemini": ".gemini/skills"}
    for tool, folder in usual.items():
        told = m.json("skills", "install", "--tool", tool)
        assert [one["path"] for one in told["skills"]] == [skill_file(m.dir, folder, name) for name in SKILLS], told
        assert set(done(told).values()) == {"installed"}, told
    named = {"CLAUDE_CONFIG_DIR": os.path.join(m.dir, "a b"), "CODEX_HOME": os.path.join(m.dir, "cx"),
        "GEMINI_CLI_HOME": os.path.join(m.dir, "gm")}
    for tool, folder in zip(usual, ("a b/skills", "cx/skills", "gm/.gemini/skills")):
        m.json("skills", "install", "--tool", tool, env=named)
        for name in SKILLS:
            assert read(skill_file(m.dir, folder, name)).startswith(f"---\nname: {name}\ndescription: "), folder
    # A home that is named, relative ones too; and that of an agent's session.
    m.json("skills", "install", "--tool", "gemini", "--home", "other", env=named)
    assert os.path.exists(skill_file(m.dir, "other/.gemini/skills", COMMS))
    m.json("agents", "create", "alice", "--tool", "codex")
    manifest = m.load(m.manifest("alice"))
    manifest["launch_plan"]["home_selector"]["home_path"] = os.path.join(m.dir, "brain")
    m.store(m.manifest("alice"), manifest)
    told = m.json("skills", "install", "--agent", "alice")
    assert [one["path"] for one in told["skills"]] == [skill_file(m.dir, "brain/skills", name) for name in SKILLS], told
    # Without a word: each program that has a home here.
    assert set(state(m).values()) == {"current"} and len(state(m)) == 6, state(m)
    assert all(one["problem"] is None for one in m.json("skills", "status")["skills"])


def what_cannot_be(m):
    for words, status, text in (
            (("status", ), 1, "no home of claude, codex or gemini is here; name one with --tool"),
            (("install", "--home", "x"), 2, "--home is the home of one program, so it needs --tool"),
            (("install", "--tool", "vi"), 2, "--tool must be one of: claude, codex, gemini"),
            (("install", "--agent", "nobody"), 1, "no agent named `nobody` is known"),
            (("install", "--agent", "nobody", "--tool", "codex"), 2, "give it without --tool and --home")):
        told = m.run("skills", *words)
        assert told.returncode == status and text in told.stderr, (words, describe(told))
    told = m.run("skills", "install", "--tool", "claude", env={"HOME": ""})
    assert told.returncode == 1 and "without HOME the home of claude is not known" in told.stderr, describe(told)
    assert not os.path.exists(os.path.join(m.dir, ".claude"))


def again_changes_nothing(m):
    m.json("skills", "install", "--tool", "claude")
    files = [os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(m.dir, ".claude")) for name in names]
    assert len(files) == 4, files
    before = {path: os.stat(path) for path in files}
    told = m.json("skills", "install", "--tool", "claude")
    assert set(done(told).values()) == {"unchanged"} and "hint" not in told, told
    for path, was in before.items():
        now = os.stat(path)
        assert (was.st_ino, was.st_mtime_ns) == (now.st_ino, now.st_mtime_ns), path


def what_was_changed_is_kept(m):
    m.json("skills", "install", "--tool", "claude")
    mine = skill_file(m.dir, ".claude/skills", COMMS)
    write(mine, read(mine) + "\nI prefer short answers.\n")
    assert state(m)["claude", COMMS] == "edited" and state(m)["claude", PROCESS] == "current"
    told = m.json("skills", "install")
    assert done(told) == {("claude", PROCESS): "unchanged", ("claude", COMMS): "kept"}, told
    assert "--force" in told["hint"] and read(mine).endswith("short answers.\n"), told
    shown = m.run("skills", "install").stdout
    assert f"  {COMMS}           kept (edited)" in shown, shown
    told = m.json("skills", "uninstall")
    assert done(told) == {("claude", PROCESS): "removed", ("claude", COMMS): "kept"}, told
    assert read(mine).endswith("short answers.\n")
    told = m.json("skills", "install", "--force")
    assert done(told) == {("claude", PROCESS): "installed", ("claude", COMMS): "replaced"}, told
    assert not read(mine).endswith("short answers.\n")
    # One that an agent cannot load any more is named.
    write(mine, "no front matter\n")
    told = m.json("skills", "status")["skills"][1]
    assert told["state"] == "edited" and "front matter" in told["problem"], told
    told = m.json("skills", "uninstall", "--force")
    assert done(told) == {("claude", PROCESS): "removed", ("claude", COMMS): "removed"}, told
    assert os.listdir(os.path.join(m.dir, ".claude/skills")) == []
    assert set(done(m.json("skills", "uninstall")).values()) == {"absent"}


def another_versions_are_refreshed(m):
    m.json("skills", "install", "--tool", "codex")
    path = skill_file(m.dir, ".codex/skills", PROCESS)
    ours, old = read(path), f"---\nname: {PROCESS}\ndescription: older\n---\n"
    write(path, old)
    record = os.path.join(os.path.dirname(path), RECORD)
    m.store(record, {**m.load(record), "sha256": hashlib.sha256(old.encode()).hexdigest()})
    assert state(m)["codex", PROCESS] == "outdated"
    assert done(m.json("skills", "install"))["codex", PROCESS] == "updated"
    assert read(path) == ours and state(m)["codex", PROCESS] == "current"
    # Without its record a file that says the same is ours all the same.
    os.unlink(record)
    assert done(m.json("skills", "install"))["codex", PROCESS] == "unchanged" and os.path.exists(record)


def what_is_not_ours_is_left_alone(m):
    theirs = skill_file(m.dir, ".claude/skills", COMMS)
    write(theirs, f"---\nname: {COMMS}\ndescription: of another runtime\n---\n")
    told = m.run("skills", "install", "--tool", "claude")
    assert told.returncode == 1 and f"{theirs} was not written by Mailroom; replace it with --force" in told.stderr, describe(told)
    assert not os.path.exists(os.path.join(m.dir, ".claude/skills", PROCESS)), "nothing is written then"
    assert state(m)["claude", COMMS] == "foreign"
    told = m.json("skills", "uninstall", "--force")
    assert done(told)["claude", COMMS] == "kept" and "of another runtime" in read(theirs), told
    assert done(m.json("skills", "install", "--force"))["claude", COMMS] == "replaced"
    # Other files of a skill's directory stay, and the directory with them.
    extra = os.path.join(os.path.dirname(theirs), "notes.md")
    write(extra, "mine")
    m.json("skills", "uninstall")
    assert os.listdir(os.path.dirname(theirs)) == ["notes.md"]
    # Nothing is written through a link, and a link is not removed.
    elsewhere = os.path.join(m.dir, "elsewhere")
    os.mkdir(elsewhere)
    os.symlink(elsewhere, os.path.join(m.dir, ".claude/skills", PROCESS))
    told = m.run("skills", "install", "--force")
    assert told.returncode == 1 and "is a link, so somebody else keeps this skill" in told.stderr, describe(told)
    assert done(m.json("skills", "uninstall", "--force"))["claude", PROCESS] == "kept"
    assert os.listdir(elsewhere) == [] and os.path.islink(os.path.join(m.dir, ".claude/skills", PROCESS))


def a_crash_leaves_what_can_be_repeated(m):
    """Killed at every step of the four writes: the next install completes it, and an uninstall removes all."""
    for point in ("fs.write.created", "fs.write.synced", "fs.write.renamed"):
        for nth in range(1, 5):
            told = m.run("skills", "install", "--tool", "claude", env={"MAILROOM_CRASH_AT": f"{point}:{nth}"})
            if told.returncode != -signal.SIGKILL:
                assert told.returncode == 0, describe(told)
                print(f"# SKIP this build has no crash points, or not {point}:{nth}")
                return
            assert set(state(m).values()) <= {"absent", "current"}, (point, nth, state(m))
            assert set(done(m.json("skills", "install", "--tool", "claude")).values()) <= {"installed", "unchanged"}
            assert set(state(m).values()) == {"current"}
            m.json("skills", "uninstall")
            left = [name for _, _, names in os.walk(os.path.join(m.dir, ".claude")) for name in names if not name.startswith(".")]
            assert left == [], left


# --- what they say ---

def rows_of(text):
    """The rows of a skill's tables: what is done, with a gateway, without."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[1].startswith("`") and cells[2].startswith("`mailroom "):
            yield cells[0], re.findall("`([^`]*)`", cells[1]), cells[2].strip("`")


def fill(m, text, ref):
    for name, value in (("REF", ref), ("ADDRESS", "bob@houmao.localhost"), ("FILE", "answer.md")):
        text = re.sub(rf"\b{name}\b", value, text)
    return text


def every_command_works(m):
    """What stands in the tables, word for word, in the place of an agent."""
    m.create("alice", "bob")
    m.write("answer.md", "Done.\nSee above.\n")
    m.json("skills", "install", "--tool", "claude")
    seen = set()
    for name in SKILLS:
        for what, gateway, command in rows_of(read(skill_file(m.dir, ".claude/skills", name))):
            ref = m.send("alice", "bob", "Task")["message_ref"]
            words = shlex.split(fill(m, command, ref))
            assert words[:2] == ["mailroom", "mail"] and words[-1] == "--json", command
            told = json.loads(m.run(*words[1:], "--agent-name", "bob").stdout)
            assert told["authoritative"] is True and told["status"] == "verified", (what, told)
            # The gateway's column asks for the same: its bodies are JSON objects of known keys.
            method, path = gateway[0].split()
            same = {"check": "list", "mark-read": "mark"}.get(told["operation"], told["operation"])
            assert path == "/v1/mail/" + same, (what, gateway)
            assert method == ("GET" if what == "is it usable" else "POST") and len(gateway) == (1 if method == "GET" else 2), gateway
            if method == "POST":
                assert isinstance(json.loads(fill(m, gateway[1], ref)), dict), gateway
            seen.add(told["operation"])
    assert seen == {"status", "check", "list", "peek", "read", "mark-read", "send", "reply", "mark", "move", "archive"}, seen


def every_request_works(m):
    """The other column, asked of the agent's gateway."""
    m.create("alice", "bob")
    m.json("skills", "install", "--tool", "claude")
    with m.gateway("bob") as gateway:
        live = m.mail("bob", "resolve-live")
        assert live["gateway"]["base_url"] == gateway.url, live
        for name in SKILLS:
            for what, (request, *body), _ in rows_of(read(skill_file(m.dir, ".claude/skills", name))):
                ref = m.send("alice", "bob", "Task")["message_ref"]
                verb = request.split("/")[-1]
                status, answer = gateway.ask(verb, fill(m, body[0], ref) if body else None)
                assert status == 200, (what, request, body, answer)
                assert answer["address"] == "bob@houmao.localhost", (what, answer)


def the_rules_of_the_contract_are_told(m):
    m.json("skills", "install", "--tool", "claude")
    process, comms = (read(skill_file(m.dir, ".claude/skills", name)) for name in SKILLS)
    for text in (process, comms):
        for rule in ("mailroom mail resolve-live --json", "gateway.base_url", "`gateway` is null", "/v1/mail/", "message_ref",
                '"authoritative": false'):
            assert rule in text, rule
    for rule in ("bindings_version", "rules/README.md", "rules/protocols/filesystem-mailbox-v1.md", "rules/scripts/",
            "mailbox.filesystem.local_sqlite_path", "mailbox.filesystem.root", "mailbox.stalwart", "not variables of the environment"):
        assert rule in comms, rule


def options_that_are_named_exist(m):
    """Each option that a skill mentions is one of a command that it names."""
    m.json("skills", "install", "--tool", "claude")
    helps = "".join(m.run("mail", verb, "--help").stdout for verb in ("list", "send", "reply", "check", "mark", "move"))
    helps += m.run("mailbox", "check", "--help").stdout
    for name in SKILLS:
        for option in set(re.findall(r"--[a-z][a-z-]+", read(skill_file(m.dir, ".claude/skills", name)))) - {"--fail-with-body"}:
            assert option + " " in helps or option + "\n" in helps, (name, option)


with Tap() as tap:
    for test in (places, what_cannot_be, again_changes_nothing, what_was_changed_is_kept, another_versions_are_refreshed,
            what_is_not_ours_is_left_alone, a_crash_leaves_what_can_be_repeated, every_command_works, every_request_works, the_rules_of_the_contract_are_told,
            options_that_are_named_exist):
        with Agents(sys.argv[1]) as room:
            tap.run(test.__name__, test, room)
