"""usage: work_init.py PROGRAM SOURCE - making an e-mail workspace, and what it writes for agents."""

import fcntl
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402

BEGIN, END = "<!-- BEGIN afmail managed -->\n", "<!-- END afmail managed -->\n"


def a_new_workspace(w):
    done = w.ok("init")
    assert done["code"] == "workspace_initialized" and done["workspace_ref"] == "." and done["workspace_paths"] == ["."], done
    assert done["workspace_path"] == w.dir == done["agent_root_path"], done
    for name in ("gitignore", "workspace_gitignore", "agent_gitignore", "agent_skill"):
        assert done[f"{name}_created"] and not done.get(f"{name}_updated"), (name, done)
    assert w.files() == [".afmail/DO_NOT_EDIT.txt", ".afmail/config.json", ".afmail/logs/events.jsonl",
        ".codex/skills/agent-first-mail/SKILL.md", ".gitignore", "AGENTS.md"], w.files()
    assert any("`afmail import FILE.eml|MAILDIR|MBOX`" in step for step in done["next_steps"]), done
    assert "This directory is a mail workspace.\n" in w.read("AGENTS.md")
    assert "Do not edit" in w.read(".afmail", "DO_NOT_EDIT.txt")
    assert w.ok("status")["progress"] == {"status": "idle"}
    again = w.ok("init")
    for name in ("gitignore", "agent_skill", "do_not_edit"):
        assert not again.get(f"{name}_created") and not again.get(f"{name}_updated"), again


def what_was_there_stays(w):
    w.put("our rules\n", "AGENTS.md")
    w.put("build/\n", ".gitignore")
    done = w.ok("init", "--agent", "none")
    assert done["agent_skill_updated"] and done["agent_gitignore_updated"] and not done.get("workspace_skill_installed"), done
    assert w.read("AGENTS.md").startswith("our rules\n\n" + BEGIN) and w.read("AGENTS.md").endswith(END)
    assert w.read(".gitignore").startswith("build/\n\n# BEGIN afmail managed\n")
    w.put("mine\n", ".afmail", "DO_NOT_EDIT.txt")
    w.ok("init", "--agent", "none")
    assert w.read(".afmail", "DO_NOT_EDIT.txt") == "mine\n"
    assert not os.path.exists(w.path(".codex"))


def several_workspaces(w):
    assert w.ok("init", "work/mail")["workspace_ref"] == "work/mail/"
    assert "The mail workspace is in `work/mail/`.\n" in w.read("AGENTS.md")
    done = w.ok("init", "home")
    assert done["workspace_paths"] == ["home/", "work/mail/"] and done["next_steps"][0] == "Change into the workspace: `cd home`", done
    assert "\n- `home/`\n- `work/mail/`\n" in w.read("AGENTS.md")
    assert w.ok("init")["workspace_paths"] == [".", "home/", "work/mail/"]
    assert w.ok("status", cwd=w.path("home", "messages"))["message_count"] == 0


def own_templates(w):
    w.ok("init")
    agents = ("templates", "en-US", "workspace", "AGENTS.md.j2")
    w.put("# Ours\n" + BEGIN + "{{ language }}:{% for path in workspaces %} `{{ path }}`{% endfor %}\n" + END + "\n", *agents)
    w.put("Hands off ({{ language }}).\n\n", "templates", "en-US", "workspace", "DO_NOT_EDIT.txt.j2")
    os.remove(w.path("AGENTS.md"))
    os.remove(w.path(".afmail", "DO_NOT_EDIT.txt"))
    w.ok("init")
    assert w.read("AGENTS.md") == f"# Ours\n{BEGIN}en-US: `.`\n{END}", w.read("AGENTS.md")
    assert w.read(".afmail", "DO_NOT_EDIT.txt") == "Hands off (en-US).\nLayout version: 1\n"
    w.put("no block\n", *agents)
    error = w.fails("managed_block_missing", "init")
    assert error["error"] == 'the template of AGENTS.md has no line "<!-- BEGIN afmail managed -->"' and error["hint"], error
    w.put("{% if %}", *agents)
    error = w.fails("template_render_failed", "init")
    assert error["error"].startswith("template en-US/workspace/AGENTS.md.j2 (workspace): ") and error["hint"], error
    assert w.read("AGENTS.md") == f"# Ours\n{BEGIN}en-US: `.`\n{END}", w.read("AGENTS.md")
    # Another language has its own.
    w.ok("config", "set", "workspace.language_bcp47", "zh-Hans")
    done = w.ok("init")
    assert done["language_bcp47"] == "zh-Hans" == done["resolved_language_bcp47"], done
    assert "此目录是一个邮件工作区。\n" in w.read("AGENTS.md")


def what_is_refused(w):
    for path, text in (("../x", "the path '../x' leaves the present directory"), ("/x", "the path '/x' is absolute"),
            ("", "the path '' is empty or not UTF-8"), ("a\nb", "the path 'a\nb' has control characters")):
        assert w.fails("invalid_request", "init", path)["error"] == text
    w.put("", "file")
    assert w.fails("invalid_request", "init", "file/x")["error"] == "the path 'file/x' cannot be used: file is not a directory"
    error = w.fails("invalid_request", "init", "--agent", "emacs")
    assert error["error"] == "the agent must be none, all, codex, claude-code, opencode or hermes, not 'emacs'", error
    os.mkdir(w.path("cases"))
    error = w.fails("invalid_request", "init")
    assert error["details"] == {"reserved_paths": ["cases/"]} and "cases/" in error["error"], error
    assert w.files() == ["file"], w.files()
    os.rmdir(w.path("cases"))
    w.put(BEGIN, "AGENTS.md")
    error = w.fails("managed_block_invalid", "init")
    assert "AGENTS.md" in error["error"] and error["hint"], error
    os.remove(w.path("AGENTS.md"))
    w.ok("init")
    w.put(json.dumps({}), ".afmail", "config.json")
    assert ".afmail/config.json" in w.fails("config_invalid", "init")["error"]
    error = w.fails("workspace_not_found", "contact", "list", cwd=w.runtime)
    assert "`afmail init`" in error["hint"], error


def one_writer_at_a_time(w):
    w.ok("init")
    w.ok("status")
    w.ok("contact", "list")
    with open(w.path(".afmail", "workspace.lock"), "r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        assert w.fails("workspace_locked", "init")["retryable"] is True
    w.ok("init")


def people_read_text(w):
    done = w.run("work", "init", "--agent", "codex")
    assert done.returncode == 0 and done.stdout.startswith(f"An e-mail workspace was made in {w.dir}.\n"
        "Agents find it in AGENTS.md, and learn it from\n.codex/skills/agent-first-mail/SKILL.md.\n\nNext\n"
        "  Connect it with your mail account: `mailroom work setup ADDRESS`\n"), done
    w.put("mine\n", ".codex", "skills", "agent-first-mail", "SKILL.md")
    done = w.run("work", "init")
    assert done.stdout.startswith(f"The e-mail workspace is complete in {w.dir}.\n"
        ".codex/skills/agent-first-mail/SKILL.md is not ours and was left as it is.\n"), done
    # What the first steps say works.
    w.ok("config", "set", "identities.me.email", "ann@example.com")
    assert len(w.deliver(mail(1))) == 1


TESTS = [a_new_workspace, what_was_there_stays, several_workspaces, own_templates, what_is_refused, one_writer_at_a_time,
    people_read_text]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with Tap() as tap:
        for test in TESTS:
            with Workspace(sys.argv[1], init=False) as w:
                tap.run(test.__name__.replace("_", " "), lambda: test(w))


main()
