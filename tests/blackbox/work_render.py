"""usage: work_render.py PROGRAM - generated files of a workspace: written again, and templates to make them from."""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402

OWN = ("templates", "en-US", "triage", "view.md.j2")


def test_refresh(program):
    with Workspace(program) as w:
        first, second, third = w.deliver(mail(1), mail(2), mail(3))
        w.locate(third)
        w.ok("message", "spam", third, "--reason", "x")
        queue = [name for name in w.files() if name.startswith(".afmail/push/")]
        before = {name: w.read(name) for name in w.files() if name.endswith(".md") or name.startswith("messages/")}
        shutil.rmtree(w.path("messages"))
        shutil.rmtree(w.path("triage"))
        os.unlink(w.path("spam", f"{third}.md"))
        w.put("old\n", "spam", f"{first}.md")
        w.put("old\n", "triage", "message_20200101_0000000000000000.md")
        done = w.ok("render", "refresh")
        assert done["code"] == "render_refreshed" and done["message_cache_rebuilt_count"] == 3, done
        assert done["triage_count"] == 2 and done["triage_written_count"] == 2, done
        assert done["stale_triage_removed_count"] == 1 and done["stale_spam_removed_count"] == 1, done
        assert done["generated"]["triage/view.md.j2"] == 2 and done["generated"]["status/message.md.j2"] == 1, done
        assert len(done["template_sources"]) == 14, done
        assert sorted(name for name in w.files() if name in before or "old" in name) == sorted(before), w.files()
        assert [name for name in w.files() if name.startswith(".afmail/push/")] == queue
        assert "Views are up to date: triage 2, active cases 0, archived cases 0, categories 0.\n" in \
            w.tells("render", "refresh")
        assert os.path.exists(w.path("triage", f"{second}.md"))


def test_unchanged(program):
    with Workspace(program) as w:
        w.deliver(mail(1), mail(2))
        stamps = {name: os.stat(w.path(name)).st_mtime_ns for name in w.files() if name.startswith(("triage", "messages"))}
        w.ok("render", "refresh")
        assert all(os.stat(w.path(name)).st_mtime_ns == stamp for name, stamp in stamps.items()), "written again"


def test_own_template(program):
    with Workspace(program) as w:
        (first,) = w.deliver(mail(1))
        w.put("ignored\n", "templates", "triage", "view.md.j2")
        w.put("USER {{ message.subject }}\n", *OWN)
        done = w.ok("render", "refresh")
        assert w.read("triage", f"{first}.md") == "USER Mail 1", w.read("triage", f"{first}.md")
        assert done["generated"]["triage/view.md.j2"] == 1, done
        for source in ("{% if %}", "{{ nope.deeper }}"):
            w.put(source, *OWN)
            error = w.fails("template_render_failed", "render", "refresh")
            assert error["error"].startswith("template en-US/triage/view.md.j2 (workspace): "), error
            assert error["hint"] == "Correct the template, or delete it to use the built-in one.", error
        assert w.read("triage", f"{first}.md") == "USER Mail 1"


def test_templates(program):
    with Workspace(program) as w:
        done = w.ok("render", "templates")
        assert done["code"] == "render_templates" and done["exported_count"] == done["workspace_count"] == 28, done
        assert done["items"][0] == {"language": "en-US", "template_key": "workspace/AGENTS.md.j2",
            "path": "templates/en-US/workspace/AGENTS.md.j2", "source": "workspace", "action": "exported"}, done
        assert [item["language"] for item in done["items"]] == ["en-US"] * 14 + ["zh-CN"] * 14, done
        builtin = w.read(*OWN)
        w.put("mine\n", *OWN)
        again = w.ok("render", "templates")
        assert again["kept_count"] == 28 and again["exported_count"] == 0 and w.read(*OWN) == "mine\n", again
        forced = w.ok("render", "templates", "--force")
        assert forced["overwritten_count"] == 28 and forced["force"] and w.read(*OWN) == builtin, forced
        assert not os.listdir(w.path(".afmail", "transactions")), "a journal is left"
        assert w.tells("render", "templates") == "Templates in templates/: 0 copied, 0 overwritten, 28 left as they were.\n"
        shutil.rmtree(w.path("templates"))
        assert w.ok("render", "templates")["template_dir_created"]


def test_templates_errors(program):
    with Workspace(program) as w:
        shutil.rmtree(w.path("templates"))
        w.put("x", "templates")
        error = w.fails("template_dir_invalid", "render", "templates")
        assert error["error"] == "templates is a file, not a directory", error
        assert error["hint"] == "Move the file templates out of the way.", error
        os.unlink(w.path("templates"))
        w.put("x", "templates", "zh-CN")
        assert w.fails("template_dir_invalid", "render", "templates")["error"] == \
            "templates/zh-CN is a file, not a directory"
        assert not os.path.exists(w.path("templates", "en-US")), "half of it happened"


TESTS = {
    "what is missing or stale is written again, and the queue is left alone": test_refresh,
    "what is up to date is left alone": test_unchanged,
    "a template of the user's is used, or told to be wrong": test_own_template,
    "templates are copied once": test_templates,
    "a file in the place of a directory": test_templates_errors,
}

with Tap() as tap:
    for name, test in TESTS.items():
        tap.run(name, test, sys.argv[1])
