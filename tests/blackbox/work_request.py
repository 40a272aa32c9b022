"""usage: work_request.py PROGRAM SOURCE - commands of the workspace that are carried out once: --request-id."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Tap  # noqa: E402
from workspace import Workspace  # noqa: E402


def notes(w):
    folder = w.path(".afmail", "requests")
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def bare(result):
    return {key: value for key, value in result.items() if key != "trace"}


def sent_twice_done_once(w):
    first = w.ok("contact", "create", "--name", "Ann", "--request-id", "r-1")
    again = w.ok("--request-id=r-1", "contact", "create", "--name", "Ann")
    assert bare(first) == bare(again) and w.ok("contact", "list")["count"] == 1, again
    assert len(w.events("contact_created")) == 1
    # The same through the other name, and in another form.
    done = w.run("work", "contact", "create", "--name", "Ann", "--request-id", "r-1")
    assert done.returncode == 0 and first["contact_uid"] in done.stdout, done
    assert first["contact_uid"] in w.afmail("--output", "yaml", "--request-id", "r-1", "contact", "create", "--name", "Ann").stdout
    assert w.ok("contact", "list")["count"] == 1
    # Without an id, or with another one, it is another request.
    w.ok("contact", "create", "--name", "Ann")
    w.ok("contact", "create", "--name", "Ann", "--request-id", "r-2")
    assert w.ok("contact", "list")["count"] == 3 and len(notes(w)) == 2
    with open(w.path(".gitignore"), encoding="utf-8") as file:
        assert "\n.afmail/requests/\n" in file.read()


def one_id_for_one_command(w):
    w.ok("contact", "create", "--name", "Ann", "--request-id", "r-1")
    for args in (["contact", "create", "--name", "Bo"], ["config", "set", "imap.host", "x"]):
        error = w.fails("invalid_request", *args, "--request-id", "r-1")
        assert error["error"] == "the request id 'r-1' was used for another command" and error["hint"], error
    assert w.ok("contact", "list")["count"] == 1 and w.ok("config", "get", "imap.host").get("value") is None


def what_was_refused_may_be_sent_again(w):
    uid = w.ok("contact", "create", "--name", "Ann")["contact_uid"]
    w.fails("not_found", "contact", "reopen", uid, "--reason", "r", "--request-id", "r-1")
    assert notes(w) == []
    w.ok("contact", "archive", uid, "--reason", "r")
    assert w.ok("contact", "reopen", uid, "--reason", "r", "--request-id", "r-1")["group"] == "people"


def a_crash_is_noticed(w):
    w.ok("contact", "create", "--name", "Ann", "--request-id", "r-1")
    path = (".afmail", "requests", notes(w)[0])
    w.put(json.dumps({**w.document(*path), "result": None}), *path)
    error = w.fails("invalid_request", "contact", "create", "--name", "Ann", "--request-id", "r-1")
    assert "did not come to its end: whether its change happened is not known" in error["error"], error
    assert "`afmail log list`" in error["hint"] and w.ok("contact", "list")["count"] == 1, error


def what_it_does_not_concern(w):
    # Reading commands are not kept.
    w.ok("contact", "list", "--request-id", "r-1")
    w.ok("contact", "create", "--name", "Ann")
    assert w.ok("contact", "list", "--request-id", "r-1")["count"] == 1 and notes(w) == []
    w.ok("init", "--request-id", "r-1")
    assert notes(w) == []


def ids_of_the_wrong_form(w):
    for value in ("", "a b", "../x", "x" * 129, "ä"):
        error = w.fails(None, "contact", "list", "--request-id", value)
        assert error["error"] == "--request-id must have 1 to 128 letters, digits or any of . _ : -", error
    error = w.fails(None, "contact", "list", "--request-id", "a", "--request-id", "b")
    assert error["error"] == "--request-id can be given only once", error
    assert "--request-id" in w.fails(None, "contact", "list", "--request-id")["error"]
    assert "--request-id" in w.run("work", "contact", "list", "--help").stdout


def a_secret_is_not_kept(w):
    w.ok("config", "set", "imap.password_secret", "hunter2", "--request-id", "r-1")
    assert w.ok("config", "set", "imap.password_secret", "hunter2", "--request-id", "r-1")["value"] == "***"
    assert "hunter2" not in w.read(".afmail", "requests", notes(w)[0])


def a_change_whose_view_failed_is_not_repeated(w):
    """The case is there, and only its page could not be written."""
    broken = ("templates", "en-US", "case", "case.md.j2")
    w.put("{% if %}", *broken)
    w.fails("template_render_failed", "case", "create", "--name", "Foo", "--request-id", "r-1")
    os.unlink(w.path(*broken))
    error = w.fails("invalid_request", "case", "create", "--name", "Foo", "--request-id", "r-1")
    assert "not known" in error["error"], error
    assert w.ok("case", "list")["count"] == 1


TESTS = [a_change_whose_view_failed_is_not_repeated, sent_twice_done_once, one_id_for_one_command, what_was_refused_may_be_sent_again, a_crash_is_noticed,
    what_it_does_not_concern, ids_of_the_wrong_form, a_secret_is_not_kept]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with Tap() as tap:
        for test in TESTS:
            with Workspace(sys.argv[1]) as w:
                tap.run(test.__name__.replace("_", " "), lambda: test(w))


main()
