"""usage: guard_hooks.py PROGRAM SOURCE - the guard where git and coding agents meet it: hooks, pushes, edits."""

import glob
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom, describe  # noqa: E402
from repo import HOLDER, OTHER, Repo, read  # noqa: E402
from tap import Tap  # noqa: E402


# --- hooks ---


def installed_and_taken_away(m):
    r = Repo(m, install=False)
    answer = m.json("guard", "install", r.path)
    assert answer["hook"] == os.path.join(r.hooks(), "pre-commit") and answer["warnings"] == [], answer
    before = {name: read(os.path.join(r.hooks(), name)) for name in ("pre-commit", "pre-push")}
    stamp = os.stat(answer["hook"]).st_mtime_ns
    assert m.json("guard", "install", r.path) == answer
    assert before == {name: read(os.path.join(r.hooks(), name)) for name in before}
    assert os.stat(answer["hook"]).st_mtime_ns == stamp and not glob.glob(r.hooks() + "/*.mailroom-orig")
    status = m.json("guard", "status", r.path)
    assert [h["state"] for h in status["hooks"]] == ["installed"] * 2 and status["source"] == "database", status
    assert status["project"] == r.path and status["mode"] == "block" and status["agent"] is None, status
    gone = m.json("guard", "uninstall", r.path)
    assert gone["removed"] is True and not glob.glob(r.hooks() + "/pre-*[!e]"), gone
    assert m.json("guard", "uninstall", r.path)["removed"] is False
    # From inside, with no more words than needed.
    done = r.run(m.program, "guard", "install", ".")
    assert os.path.exists(answer["hook"]), describe(done)
    done = r.run(m.program, "guard", "uninstall", ".")
    assert not os.path.exists(answer["hook"]), describe(done)


def refused_places(m):
    r = Repo(m, install=False)
    error = m.json("guard", "install", r.path, m.dir, status=1)["error"]
    assert error["type"] == "NOT_FOUND" and m.dir in error["message"], error
    error = m.json("guard", "install", r.path, "/nonexistent", status=1)["error"]
    assert error["type"] == "NOT_FOUND", error
    error = m.json("guard", "install", "nobody", r.path, status=1)["error"]
    assert error["type"] == "NOT_FOUND", error
    assert m.json("guard", "uninstall", m.dir, status=1)["error"]["type"] == "NOT_FOUND"
    assert m.json("guard", "status", m.dir, status=1)["error"]["type"] == "NOT_FOUND"


def an_existing_hook_is_kept_and_goes_first(m):
    r = Repo(m, install=False)
    log = os.path.join(m.dir, "log")
    mine = "#!/bin/sh\n# mine\necho \"$(basename \"$0\")\" >>'%s'\n[ ! -e veto ] || exit 7\n" % log
    path = r.put_hook("pre-commit", mine)
    answer = m.json("guard", "install", r.path)
    assert answer["hooks"][0]["chained"] and not answer["hooks"][1]["chained"], answer
    assert read(path + ".mailroom-orig") == mine
    r.reserve("held")
    r.commit("free")
    assert read(log) == "pre-commit\n", "it is run, under its own name"
    r.commit("held", status=1)
    r.git("rm", "-q", "--cached", "held")
    r.write("veto")
    r.commit("more", status=1)
    assert read(log) == "pre-commit\n" * 3
    m.json("guard", "install", r.path)
    assert read(path + ".mailroom-orig") == mine, "once more changes nothing"
    assert m.json("guard", "uninstall", r.path)["removed"]
    assert read(path) == mine and os.access(path, os.X_OK) and not os.path.exists(path + ".mailroom-orig")


def hooks_that_are_no_scripts_of_ours(m):
    r = Repo(m, install=False)
    log = os.path.join(m.dir, "log")
    target = r.put_hook("real", f"#!{sys.executable}\nimport sys\nopen({log!r}, 'a').write(repr(sys.argv[1:]) + "
        "sys.stdin.read())\n", folder=os.path.join(r.path, "scripts"))
    os.symlink("../../scripts/real", os.path.join(r.hooks(), "pre-push"))
    off = r.put_hook("pre-commit", "#!/bin/sh\nexit 1\n")
    os.chmod(off, 0o644)
    m.json("guard", "install", r.path)
    r.commit("a")
    remote = os.path.join(m.dir, "remote.git")
    r.git("init", "-q", "--bare", remote)
    r.git("remote", "add", "origin", remote)
    r.git("push", "-q", "origin", "main", AGENT_NAME=OTHER)
    head = r.git("rev-parse", "HEAD").stdout.strip()
    assert read(log) == f"{['origin', remote]!r}refs/heads/main {head} refs/heads/main {'0' * 40}\n", read(log)
    m.json("guard", "uninstall", r.path)
    assert os.readlink(os.path.join(r.hooks(), "pre-push")) == "../../scripts/real" and os.path.exists(target)
    assert read(off) == "#!/bin/sh\nexit 1\n" and not os.access(off, os.X_OK) or os.geteuid() == 0


def others_hooks_are_never_lost(m):
    r = Repo(m)
    first = r.put_hook("pre-commit", "#!/bin/sh\n# theirs\n")
    gone = m.json("guard", "uninstall", r.path)
    assert gone["removed"] and gone["hooks"][0]["state"] == "foreign" and "theirs" in read(first), gone
    m.json("guard", "install", r.path)
    r.put_hook("pre-commit", "#!/bin/sh\n# theirs\n")
    m.json("guard", "install", r.path)
    assert "theirs" in read(first + ".mailroom-orig"), "a tool wrote the same hook again"
    r.put_hook("pre-commit", "#!/bin/sh\n# newer\n")
    error = m.json("guard", "install", r.path, status=2)["error"]
    assert error["type"] == "INVALID_ARGUMENT" and ".mailroom-orig" in error["message"], error
    assert "newer" in read(first) and "theirs" in read(first + ".mailroom-orig")
    assert m.json("guard", "uninstall", r.path)["hooks"][0]["state"] == "foreign"
    os.unlink(first)
    m.json("guard", "uninstall", r.path)
    assert "theirs" in read(first), "ours was taken away by hand: the old one comes back"


def worktrees(m):
    r = Repo(m)
    r.start()
    r.reserve("a")
    tree = os.path.join(m.dir, "tree")
    r.git("worktree", "add", "-q", tree)
    with open(os.path.join(tree, "a"), "w", encoding="utf-8") as file:
        file.write("x")
    r.git("add", "a", cwd=tree)
    r.git("commit", "-qm", "x", cwd=tree, status=1, AGENT_NAME=OTHER)
    assert m.json("guard", "status", tree)["hooks"][0] == m.json("guard", "status", r.path)["hooks"][0]
    assert m.json("guard", "uninstall", tree)["removed"]
    m.json("guard", "install", r.path, tree)
    r.git("commit", "-qm", "x", cwd=tree, status=1, AGENT_NAME=OTHER)
    # Without a project in the hook: the clone's first work tree is the project.
    assert r.held(cwd=tree) == {"a": [HOLDER]}
    r.edit(os.path.join(tree, "a"), status=2)
    r.edit(os.path.join(tree, "b"))


def a_hooks_path(m):
    r = Repo(m, install=False)
    r.start()
    r.git("config", "core.hooksPath", ".githooks")
    os.mkdir(os.path.join(r.path, "sub"))
    answer = m.json("guard", "install", r.path, os.path.join(r.path, "sub"))
    assert answer["hook"] == os.path.join(r.path, ".githooks", "pre-commit") and not answer["warnings"], answer
    r.reserve("a")
    r.commit("a", status=1)
    r.git("reset", "-q")
    assert not os.path.exists(os.path.join(r.hooks(), "pre-commit"))
    # One directory for several repositories: each asks for its own project.
    shared = os.path.join(m.dir, "shared hooks")
    other = Repo(m, "frontend", install=False)
    for repo in (r, other):
        repo.git("config", "core.hooksPath", shared)
    answer = m.json("guard", "install", r.path)
    assert "outside the repository" in answer["warnings"][0], answer
    other.reserve("b")
    other.commit("a")
    other.commit("b", status=1)
    r.commit("a", status=1)


def husky(m):
    """Its hooks find out by their own name which script to run."""
    r = Repo(m, install=False)
    r.git("config", "core.hooksPath", ".husky/_")
    r.put_hook("h", '#!/usr/bin/env sh\nn=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n'
        '[ ! -f "$s" ] && exit 0\nsh -e "$s" "$@"\nexit $?\n', folder=os.path.join(r.path, ".husky", "_"))
    r.put_hook("pre-commit", '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n', folder=os.path.join(r.path, ".husky", "_"))
    r.put_hook("pre-commit", f"echo ran >>'{m.dir}/log'\n", folder=os.path.join(r.path, ".husky"))
    answer = m.json("guard", "install", r.path)
    assert "husky" in answer["warnings"][0], answer
    r.reserve("a")
    r.commit("b")
    r.commit("a", status=1)
    assert read(os.path.join(m.dir, "log")) == "ran\n" * 2
    # What is recommended instead.
    m.json("guard", "uninstall", r.path)
    r.put_hook("pre-commit", f"'{m.program}' guard check --hook pre-commit\n", folder=os.path.join(r.path, ".husky"))
    said = r.commit(status=1).stderr
    assert HOLDER in said, said


def a_program_that_is_gone(m):
    r = Repo(m)
    r.reserve("a")
    hook = os.path.join(r.hooks(), "pre-commit")
    text = read(hook).replace(m.program, "/nonexistent/mailroom")
    with open(hook, "w", encoding="utf-8") as file:
        file.write(text)
    said = r.commit("a").stderr
    assert "/nonexistent/mailroom is not there" in said, said
    os.symlink(m.program, os.path.join(m.dir, "mailroom"))
    r.commit("a", status=1, PATH=m.dir + ":" + os.environ["PATH"])


def the_hook_knows_its_storage(m):
    """Also where nobody has set STORAGE_ROOT, and in a directory with a quote."""
    r = Repo(m, "it's", install=False)
    m.json("guard", "install", r.path, env={"DATABASE_URL": os.path.join(m.dir, "data", "storage.sqlite3")})
    r.reserve("a")
    r.commit("a", status=1, STORAGE_ROOT=None)
    r.git("reset", "-q")
    r.commit("b", STORAGE_ROOT=None)
    assert "--set" in read(os.path.join(r.hooks(), "pre-commit"))


# --- pushes ---


def pushing(r, *words, status=0, agent=OTHER, **env):
    return r.git("push", "-q", "origin", *words, status=status, AGENT_NAME=agent, **env)


def with_remote(m):
    r = Repo(m)
    r.start("base")
    remote = os.path.join(m.dir, "remote.git")
    r.git("init", "-q", "--bare", remote)
    r.git("remote", "add", "origin", remote)
    pushing(r, "main")
    return r


def a_push_is_refused(m):
    r = with_remote(m)
    r.commit("a")
    r.reserve("a")
    said = pushing(r, "main", status=1).stderr
    assert "this push" in said and HOLDER in said, said
    pushing(r, "main", status=1, agent=None)
    pushing(r, "main", AGENT_MAIL_GUARD_MODE="warn")
    r.commit("a", agent=HOLDER)
    pushing(r, "main", AGENT_MAIL_BYPASS="1")
    r.commit("b")
    pushing(r, "main")


def a_new_branch(m):
    """Only commits that no remote branch has are looked at."""
    r = with_remote(m)
    r.commit("a")
    pushing(r, "main")
    r.reserve("a", "b", "c")
    r.git("checkout", "-qb", "topic")
    r.commit("free")
    pushing(r, "topic")
    r.git("checkout", "-qb", "second")
    r.commit("b", AGENT_MAIL_BYPASS="1")
    assert "b" in pushing(r, "second", status=1).stderr
    # Changed and changed back: the difference is empty, the commits are not.
    r.git("rm", "-q", "b")
    r.commit(AGENT_MAIL_BYPASS="1")
    pushing(r, "second", status=1)
    # A merge brings what others have pushed: that is no edit of ours.
    r.git("checkout", "-q", "-b", "third", "origin/main")
    r.commit("more")
    r.git("merge", "-q", "--no-edit", "origin/topic", AGENT_NAME=OTHER)
    pushing(r, "third")


def odd_pushes(m):
    r = with_remote(m)
    r.commit("a")
    pushing(r, "main:other")
    r.reserve("base", "a")
    pushing(r, "--delete", "other")
    blob = r.git("hash-object", "-w", "base").stdout.strip()
    r.git("tag", "ablob", blob)
    r.git("tag", "old", "origin/main")
    pushing(r, "ablob", "old")
    r.git("tag", "-am", "x", "new", "main")
    pushing(r, "new", status=1)
    pushing(r, "main:other", "HEAD~1:refs/heads/third", status=1)
    # Somebody else pushed meanwhile: their commit is not here.
    clone = os.path.join(m.dir, "clone")
    r.git("clone", "-q", os.path.join(m.dir, "remote.git"), clone, cwd=m.dir)
    for words in (["config", "user.name", "n"], ["config", "user.email", "e"], ["commit", "-q", "--allow-empty", "-m", "x"],
            ["push", "-q"]):
        r.git(*words, cwd=clone)
    pushing(r, "--force", "main", status=1)
    r.reserve("nothing")
    m.json("team", "release", r.path, HOLDER)
    pushing(r, "--force", "main")


def lines_of_pre_push(m):
    r = with_remote(m)
    head = r.git("rev-parse", "HEAD").stdout.strip()
    zero = "0" * 40
    assert r.check("--hook", "pre-push")["checked"] == 0
    assert r.check("--hook", "pre-push", stdin=f"(delete) {zero} refs/heads/x {head}\n")["checked"] == 0
    for line in ("nonsense", f"a {head} b", f"a {head} b --output=x", f"a {head[:-1]} b {zero}", f"a {head} b {zero} c"):
        error = r.check("--hook", "pre-push", stdin=line + "\n", status=2)["error"]
        assert "pre-push" in error["message"], error
    r.check("--hook", "pre-push", stdin=f"a {'1' * 40} b {zero}\n", status=2)


# --- edits ---


def an_edit_is_refused(m):
    r = Repo(m)
    r.reserve("src/**", more=("--reason", "refactoring"))
    said = r.edit("src/app.py", status=2)
    assert HOLDER in said.stderr and "src/app.py" in said.stderr and "mailroom team send" in said.stderr, said.stderr
    assert said.stdout == "", said.stdout
    for path in ("docs/x", "/etc/passwd", "../elsewhere", ""):
        done = r.edit(path)
        assert not done.stdout and not done.stderr, describe(done)
    r.edit("src/app.py", agent=HOLDER)
    r.edit(os.path.join(r.path, "src", "new", "deep", "er.py"), status=2)
    r.edit("docs/../src/x", status=2)
    m.json("team", "release", r.path, HOLDER)
    r.edit("src/app.py")


def many_editors(m):
    r = Repo(m)
    r.reserve("held", "also")
    for tool, key, status in (("Write", "file_path", 2), ("MultiEdit", "file_path", 2), ("NotebookEdit", "notebook_path", 2),
            ("Read", "file_path", 0), ("Grep", "path", 0), ("Bash", "command", 0), ("write_file", "file_path", 2),
            ("replace", "file_path", 2), ("mcp__filesystem__write_file", "path", 2), ("edit_file", "target_file", 2)):
        r.edit("held", tool=tool, key=key, status=status)
    held = os.path.join(r.path, "held")
    for event, status in (
            ({"tool_name": "apply_patch", "tool_input": {"input": "*** Begin Patch\n*** Update File: held\n@@\n"}}, 2),
            ({"tool_name": "apply_patch", "tool_input": {"command": ["apply_patch", "*** Move to: also\r\n"]}}, 2),
            ({"tool_name": "apply_patch", "tool_input": {"input": "*** Add File: free\n"}}, 0),
            ({"tool_name": "move_file", "tool_input": {"source": "free", "destination": held}}, 2),
            ({"tool_name": "MultiEdit", "tool_input": {"edits": [{"file_path": "x"}, {"file_path": "also"}]}}, 2),
            ({"tool_input": {"file_path": held}}, 2), ({"tool_name": "Edit", "tool_input": {}}, 0),
            ({"tool_name": "Edit", "tool_input": {"file_path": 7}}, 0), ({"tool_name": "Edit", "tool_input": None}, 0),
            ({"tool_name": "Edit"}, 0), ({"tool_name": None, "tool_input": {"file_path": held}}, 2),
            ({"tool_name": "Edit", "tool_input": {"file_path": "file://" + held}}, 2), ({}, 0)):
        r.hook({"cwd": r.path, **event}, status=status)
    r.hook({"tool_name": "Edit", "tool_input": {"file_path": held}}, status=2)
    for text in ("", "no json", "[]", '"x"', '{"a":'):
        assert "mailroom" in r.hook(text, status=1).stderr


def links_and_trees(m):
    r = Repo(m)
    r.start("real/a")
    r.reserve("real/a")
    os.symlink("real", os.path.join(r.path, "alias"))
    os.symlink("real/a", os.path.join(r.path, "one"))
    r.edit("alias/a", status=2)
    r.edit("one", status=2)
    r.edit("two")
    r.reserve("two")
    os.symlink("free", os.path.join(r.path, "two"))
    r.edit("two", status=2)
    plain = os.path.join(os.path.realpath(m.dir), "plain")
    os.mkdir(plain)
    m.json("team", "register", plain, HOLDER, "--program", "codex", "--model", "gpt")
    m.json("team", "reserve", plain, HOLDER, "a")
    r.edit("a", cwd=plain, status=2)
    r.edit(os.path.join(plain, "a"), cwd=r.path)


def an_edit_is_never_stopped_by_trouble(m):
    r = Repo(m)
    r.reserve("a")
    told = json.loads(r.edit("a", AGENT_MAIL_GUARD_MODE="warn").stdout)["systemMessage"]
    assert HOLDER in told and "AGENT_NAME" not in told, told
    assert not r.edit("a", AGENT_MAIL_BYPASS="1").stdout
    r.edit("a", STORAGE_ROOT="/nonexistent")
    r.edit("a", AGENT_MAIL_PROJECT="nowhere")
    r.edit("a", DATABASE_URL="postgres://127.0.0.1:1/y", status=2)
    r.edit("a", AGENT_MAIL_GUARD_MODE="often", status=1)
    shutil.rmtree(m.root)
    r.edit("a", AGENT_MAIL_URL="http://127.0.0.1:1/mcp")
    assert not os.path.exists(m.root), "nothing is made"


def the_tools_have_their_contract(m):
    schema = m.json("schema", "install_precommit_guard")
    assert {"project_key", "code_repo_path"} == set(schema["inputSchema"]["properties"]), schema
    assert "hook" in schema["outputSchema"]["properties"], schema
    schema = m.json("schema", "uninstall_precommit_guard")
    assert schema["inputSchema"]["required"] == ["code_repo_path"], schema
    assert "removed" in schema["outputSchema"]["properties"], schema


TESTS = [installed_and_taken_away, refused_places, an_existing_hook_is_kept_and_goes_first,
    hooks_that_are_no_scripts_of_ours, others_hooks_are_never_lost, worktrees, a_hooks_path, husky,
    a_program_that_is_gone, the_hook_knows_its_storage, a_push_is_refused, a_new_branch, odd_pushes,
    lines_of_pre_push, an_edit_is_refused, many_editors, links_and_trees,
    an_edit_is_never_stopped_by_trouble, the_tools_have_their_contract]


def main():
    with Tap() as tap:
        for test in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__.replace("_", " "), test, m)


main()
