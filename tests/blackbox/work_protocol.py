"""usage: work_protocol.py PROGRAM SOURCE - what every command of the workspace has: formats, logs, help, usage errors."""

import fcntl
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402


def lines(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def the_version_is_a_text_or_an_object(w):
    done = w.afmail("--version")
    assert done.returncode == 0 and re.fullmatch(r"afmail \d+\.\d+\.\d+\n", done.stdout), done.stdout
    assert w.afmail("-V").stdout == done.stdout
    version = done.stdout.split()[1]
    assert w.ok("--version", "--output", "json") == {"code": "version", "version": version}
    assert w.afmail("--output", "plain", "--version").stdout == f"code=version version={version}\n"
    # It comes before anything that is wrong with the rest.
    assert w.afmail("nope", "--version").stdout == done.stdout
    error = w.fails(None, "--version", "--output", "markdown")
    assert "json, yaml, plain" in error["error"], error


def help_is_shown_for_the_deepest_command(w):
    root = w.afmail("--help")
    assert root.returncode == 0
    for words in ("Agent-First Mail", "afmail init", "afmail status", "afmail import"):
        assert words in root.stdout, words
    assert w.afmail("help").stdout == root.stdout
    one = w.afmail("import", "--help").stdout
    assert "Usage: afmail import <PATHS>..." in one, one
    assert w.afmail("import", "--bogus", "x", "--help").stdout == one
    assert w.afmail("-h", "import").stdout == one


def help_has_four_forms(w):
    assert w.afmail("--help", "--output", "markdown").stdout.startswith("# afmail - Agent-First Mail")
    deep = w.afmail("--help", "--recursive").stdout
    assert f"\n\n{'═' * 60}\nafmail import — Take mail in from files\n" in deep, deep
    assert deep.startswith(f"\n{'═' * 60}\nafmail — Agent-First Mail")
    flat = w.ok("--help", "--output", "json")
    assert flat["code"] == "help" and flat["scope"] == "one_level" and flat["path"] == ["afmail"], flat
    child = next(child for child in flat["subcommands"] if child["name"] == "import")
    assert child["usage"] is None and child["arguments"] == [] and child["subcommands"] == [], child
    whole = w.ok("--help", "--recursive", "--output", "json")
    child = next(child for child in whole["subcommands"] if child["name"] == "import")
    assert whole["scope"] == "recursive" and child["usage"] == "afmail import <PATHS>...", child
    assert [argument["id"] for argument in child["arguments"]] == ["paths", "help"], child
    assert w.afmail("status", "--help", "--output", "yaml").stdout.startswith('---\nabout: "Show what')
    assert w.fails(None, "--help", "--output", "xml")["error"] == \
        "there is no output format 'xml'; use one of: json, yaml, plain, markdown"


def a_usage_error_has_no_code_and_says_where_to_read(w):
    error = w.fails(None)
    assert error["error"] == "no command provided; try: afmail --help" and error["hint"] == "try: afmail --help", error
    assert "retryable" not in error and isinstance(error["trace"]["duration_ms"], int), error
    assert w.fails(None, "nope")["error"] == "there is no command 'nope'; see afmail --help"
    assert w.fails(None, "stattus")["error"] == "there is no command 'stattus'; did you mean 'status'?"
    assert w.fails(None, "status", "x")["hint"] == "try: afmail status --help"
    assert w.fails(None, "archive", "case", "restore", "c1")["hint"] == "try: afmail archive case restore --help"
    assert w.fails("invalid_request", "case", "show", "Invoice")["hint"] == "try: afmail case show --help"
    assert w.fails(None, "import")["error"] == "PATHS is required; see afmail import --help"
    assert w.fails(None, "status", "--bogus")["error"] == "there is no option --bogus"
    assert "markdown" in w.fails(None, "--output", "markdown", "status")["error"]
    done = w.afmail("--output", "yaml", "nope")
    assert done.returncode == 2 and "duration:" in done.stdout and "error_code" not in done.stdout, done.stdout
    done = w.afmail("nope", "--output=plain")
    assert done.returncode == 2 and done.stdout.startswith("code=error error="), done.stdout


def results_have_three_forms(w):
    assert w.ok("status")["code"] == "status"
    yaml = w.afmail("status", "--output", "yaml").stdout
    assert yaml.startswith("---\narchive_message_category_count: 0\n") and 'code: "status"\n' in yaml, yaml
    plain = w.afmail("--output", "plain", "status").stdout
    assert plain.count("\n") == 1 and " code=status " in plain and "trace.duration=" in plain, plain
    w.deliver(mail())
    assert w.ok("status", "--storage")["storage_bytes"] > 100
    assert "storage_bytes" not in w.ok("status")


def log_lines_come_before_the_result(w):
    told = lines(w.afmail("--log", "startup,request,progress", "status"))
    assert [line["code"] for line in told] == ["log", "log", "log", "status"], told
    assert [line["event"] for line in told[:3]] == ["startup", "request", "progress"], told
    assert told[0]["argv"][1:] == ["--log", "startup,request,progress", "status"], told
    assert told[0]["command"] == "status" and told[0]["output_format"] == "json", told
    assert told[1]["cwd_path"] == os.path.realpath(w.dir) and told[1]["phase"] == "start", told
    assert told[2]["phase"] == "finish" and told[2]["success"] and told[2]["exit_code"] == 0, told
    again = lines(w.afmail("--verbose", "--log", " Progress ,progress", "status"))
    assert again[0]["log_filters"] == ["startup", "request", "progress", "retry"], again
    error = w.fails(None, "--log", "bogus", "status")
    assert error["error"] == \
        "--log unsupported category 'bogus'; expected one of: startup, request, progress, retry", error


def secrets_are_not_logged(w):
    for words in (["config", "set", "imap.password_secret", "hunter2"], ["import", "--x-secret=hunter2"],
            ["import", "literal:hunter2"], ["import", "key=literal:hunter2"],
            ["config", "set", "imap.password_secret", "--request-id", "r1", "hunter2"],
            ["config", "set", "imap.password_secret", "--", "hunter2"]):
        done = w.afmail("--log", "startup", *words)
        told = lines(done)[0]
        if told["code"] == "log":
            assert "hunter2" not in json.dumps(told) and "***" in told["argv"], told
    told = lines(w.afmail("--log", "startup", "status", "--", ))
    assert told[0]["argv"][-1] == "--", told


def a_writer_locks_others_out(w):
    one = w.deliver(mail(1))
    with open(w.path(".afmail", "workspace.lock"), "a", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        error = w.fails("workspace_locked", "import", w.path())
        assert error["retryable"] is True, error
        told = lines(w.afmail("--log", "retry", "import", w.path()))
        assert told[0]["phase"] == "retryable_error" and told[0]["error_code"] == "workspace_locked", told
        assert told[0]["level"] == "warn" and told[1]["code"] == "error", told
        status = w.ok("status")
        assert status["workspace_locked"] is True and "counts are omitted" in status["hint"], status
        assert "message_count" not in status, status
        fcntl.flock(lock, fcntl.LOCK_UN)
        fcntl.flock(lock, fcntl.LOCK_SH)
        assert w.ok("status")["message_count"] == 1
    assert w.deliver(mail(2)) != one


def a_workspace_is_found_upwards(w):
    below = w.path("a", "b")
    os.makedirs(below)
    assert w.ok("status", cwd=below)["code"] == "status"
    error = w.fails("workspace_not_found", "status", cwd=os.path.dirname(w.dir))
    assert "afmail init" in error["error"] + error.get("hint", ""), error
    assert error["retryable"] is False, error


def people_read_text(w):
    done = w.run("work", "status")
    assert done.returncode == 0 and done.stdout.startswith("Triage    0 messages wait"), done.stdout
    done = w.run("work", "status", "--output", "json")
    assert json.loads(done.stdout)["code"] == "status" and done.stderr == "", done
    assert w.run("work", "--json", "status").stdout.startswith("{")
    done = w.run("work", "nope")
    assert done.returncode == 2 and "there is no command 'nope'" in done.stderr and not done.stdout, done
    done = w.run("--set", "workspace.root=/nowhere", "work", "status")
    assert done.returncode == 1 and done.stderr.startswith("mailroom work: /nowhere, which workspace.root or "
        "--workspace names, is not there\n  Make a workspace with `mailroom work init`"), done


def main():
    program = sys.argv[1]
    with Tap() as tap:
        for test in (the_version_is_a_text_or_an_object, help_is_shown_for_the_deepest_command, help_has_four_forms,
                a_usage_error_has_no_code_and_says_where_to_read, results_have_three_forms,
                log_lines_come_before_the_result, secrets_are_not_logged, a_writer_locks_others_out,
                a_workspace_is_found_upwards, people_read_text):
            with Workspace(program) as w:
                tap.run(test.__name__, test, w)


if __name__ == "__main__":
    main()
