"""usage: cli.py PROGRAM - the command line as a person and as a script meets it."""

import json
import os
import pty
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402


def version(m):
    done = m.run("--version")
    assert done.returncode == 0 and done.stdout.startswith("mailroom 0."), describe(done)


def no_command_is_a_usage_error(m):
    done = m.run()
    assert done.returncode == 2 and not done.stdout and "Usage: mailroom COMMAND" in done.stderr, describe(done)


def every_command_has_help(m):
    operations = m.json("operations")["operations"]
    assert len(operations) >= 8
    for operation in (o for o in operations if o["command"]):
        words = operation["command"].split()
        for form in (words + ["--help"], ["help"] + words):
            done = m.run(*form)
            assert done.returncode == 0 and not done.stderr, describe(done)
            assert f"Usage: mailroom {operation['command']}" in done.stdout, describe(done)
            assert operation["summary"] in done.stdout, describe(done)
        done = m.run(*words[:1], "-h")
        assert done.returncode == 0, describe(done)


def help_can_be_read(m):
    """All of it, from the top: in 80 columns, each group with words of its own."""
    paths, seen = [([], None)], 0
    while paths:
        path, about = paths.pop()
        text = m.run(*path, "--help").stdout
        for line in text.splitlines():
            # What stands in one piece cannot be broken.
            assert len(line) <= 80 or line.startswith("Usage: ") or " " not in line.strip() or line.endswith("."), (path, line)
        commands = text.split("\nCommands\n")[1].split("\n\n")[0] if "\nCommands\n" in text else ""
        if about and text.startswith(f"Usage: mailroom {' '.join(path)} COMMAND"):
            first = commands.split()[0]
            assert not about.startswith(first + ",") and about != first, (path, about)
        for line in commands.splitlines():
            if line[2] != " ":
                word, told = line.split(None, 1)
                paths.append(([*path, word], told))
                seen += 1
    assert seen > 80, seen


def tables_fit_the_terminal(m):
    for args in (["config"], ["operations"]):
        lines = in_a_terminal(m, *args, env={"TERM": "dumb", "HTTP_PORT": "9"}).splitlines()
        assert len(lines) > 50 and max(len(line) for line in lines) <= 80, (args, max(lines, key=len))
        # Names are never cut: they are what one goes on with.
        assert not [line for line in lines if "\N{HORIZONTAL ELLIPSIS}" in line.split()[0]], args
    assert "environment HTTP_PORT" in m.run("config", env={"HTTP_PORT": "9"}).stdout


def mistakes_exit_with_2(m):
    for args, text in (
            (["heath"], "mailroom: there is no command 'heath'; did you mean 'health'?\n"),
            (["serve", "--prot", "1"], "mailroom serve: there is no option --prot; did you mean --port?\n"),
            (["serve", "--port", "x"], "mailroom serve: --port must be an integer\n"),
            (["serve", "--port", "99999"], "mailroom serve: --port must be between 0 and 65535\n"),
            (["schema"], "mailroom schema: OPERATION is required; see mailroom schema --help\n"),
            (["completion", "tcsh"], "mailroom completion: SHELL must be one of: bash, zsh, fish\n"),
            (["--set", "http.prot=1", "config"],
                "mailroom config: command line: there is no setting http.prot; did you mean http.port?\n"),
            (["connect"], "mailroom connect: CLIENT is required, one of: claude-code, codex, gemini, cursor, vscode; "
                "see mailroom connect --help\n"),
            (["team", "inbx"], "mailroom team: there is no command 'inbx'; did you mean 'inbox'?\n"),
            (["health", "liveness", "now"],
                "mailroom health liveness: 'now' is one argument too many; see mailroom health liveness --help\n"),
            (["help", "zebra"], "mailroom help: there is no command 'zebra'; see mailroom help\n")):
        done = m.run(*args)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", text), describe(done)


def failures_exit_with_1(m):
    done = m.run("schema", "helth")
    assert done.returncode == 1, describe(done)
    assert done.stderr == "mailroom schema: there is no operation helth; did you mean health?\n", describe(done)


def errors_are_json_when_asked(m):
    got = m.json("schema", "helth", status=1)
    assert got == {"detail": "there is no operation helth; did you mean health?", "code": "not_found",
        "retryable": False}, got
    got = m.json("serve", "--port", "x", status=2)
    assert got["code"] == "invalid" and got["issues"] == [
        {"path": "$.port", "message": "must be an integer, not string"}], got
    assert m.json("heath", status=2)["code"] == "invalid"


def a_result_is_one_json_object(m):
    done = m.run("config", "--json")
    assert done.stdout.count("\n") == 1 and isinstance(json.loads(done.stdout), dict), describe(done)


def people_get_aligned_text(m):
    lines = m.run("health").stdout.splitlines()
    assert lines == ["protocol version  v1", "status            ok"], lines


def in_a_terminal(m, *args, env):
    """What the command writes when its output is a terminal."""
    ours, theirs = pty.openpty()
    subprocess.run([m.program, *args], cwd=m.dir, env=m.env(**env), stdin=theirs, stdout=theirs, timeout=60,
        stderr=subprocess.PIPE, check=True)
    os.close(theirs)
    text = b""
    try:
        while chunk := os.read(ours, 65536):
            text += chunk
    except OSError:
        pass  # the end of a terminal
    os.close(ours)
    return text.decode("utf-8")


def colour_is_for_terminals(m):
    assert "\033[" in in_a_terminal(m, "health", env={"TERM": "xterm"})
    assert "\033[" not in in_a_terminal(m, "health", env={"TERM": "xterm", "NO_COLOR": "1"})
    assert "\033[" not in in_a_terminal(m, "health", env={"TERM": "dumb"})
    assert "\033[" not in m.run("health", env={"TERM": "xterm"}).stdout


def setting(m, key, *args, **options):
    rows = m.json("config", *args, **options)["settings"]
    return next((row["value"], row["source"]) for row in rows if row["key"] == key)


def settings_come_in_order(m):
    assert setting(m, "http.port") == ("8765", "default")
    m.write("mailroom.yaml", "http:\n  port: 1001\n")
    assert setting(m, "http.port") == ("1001", "mailroom.yaml")
    m.write(".env", "HTTP_PORT=1002\n")
    assert setting(m, "http.port") == ("1002", ".env line 1")
    assert setting(m, "http.port", env={"HTTP_PORT": "1003"}) == ("1003", "environment HTTP_PORT")
    assert setting(m, "http.port", "--set", "http.port=1004", env={"HTTP_PORT": "1003"}) == ("1004", "command line")
    m.remove(".env")
    m.write("mailroom.yaml", "http:\n  prot: 1001\n")
    done = m.run("config")
    assert done.returncode == 2, describe(done)
    assert "mailroom.yaml: there is no setting http.prot; did you mean http.port?" in done.stderr, describe(done)
    m.write("mailroom.yaml", "http: [\n")
    done = m.run("config")
    assert done.returncode == 1 and "mailroom.yaml: " in done.stderr and "line " in done.stderr, describe(done)
    m.remove("mailroom.yaml")
    m.write("other.yaml", "log.level: debug\n")
    assert setting(m, "log.level", "--config", "other.yaml") == ("debug", "other.yaml")
    done = m.run("config", "--config", "absent.yaml")
    assert done.returncode == 1 and "absent.yaml" in done.stderr, describe(done)


def secrets_are_never_shown(m):
    env = {"HTTP_BEARER_TOKEN": "hunter2"}
    for args in (["config"], ["--json", "config"]):
        done = m.run(*args, env=env)
        assert "********" in done.stdout and "hunter2" not in done.stdout, describe(done)


def storage_that_cannot_be_used_is_reported(m):
    m.write("file", "")
    done = m.run("health", "readiness", env={"STORAGE_ROOT": os.path.join(m.dir, "file", "data")})
    assert done.returncode == 1 and "not ready: storage.root" in done.stderr and "file" in done.stderr, describe(done)


def output_that_cannot_be_written_is_a_failure(m):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([m.program, "config"], cwd=m.dir, env=m.env(), stdout=full, stderr=subprocess.PIPE,
            timeout=60, check=False)
    assert done.returncode == 1, done


def bash_completes(m):
    script = m.run("completion", "bash").stdout + """
        try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _mailroom; echo "${COMPREPLY[*]}"; }
        try mailroom he
        try mailroom health l
        try mailroom completion z
        try mailroom serve --po
        try mailroom --json health readiness --js
    """
    done = subprocess.run(["bash", "-eu", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines() == ["health help", "liveness", "zsh", "--port", "--json"], describe(done)


def fish_completes(m):
    script = m.run("completion", "fish").stdout + """
        complete -C 'mailroom health l' | string replace -r '\\t.*' ''
        complete -C 'mailroom serve --po' | string replace -r '\\t.*' ''
    """
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, timeout=60,
        check=False, env=m.env())
    assert done.stdout.splitlines() == ["liveness", "--port"], describe(done)


def zsh_completes(m):
    """zsh only completes on a terminal: replace the function that would show the candidates."""
    script = "compdef() { : }\n" + m.run("completion", "zsh").stdout + """
        _describe() { print -r -- ${candidates%%:*} }
        words=(mailroom health l) CURRENT=3; _mailroom
    """
    done = subprocess.run(["zsh", "-f", "-e", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split()[:2] == ["liveness", "readiness"], describe(done)


with Tap() as tap:
    for case in (version, no_command_is_a_usage_error, every_command_has_help, help_can_be_read, mistakes_exit_with_2,
            failures_exit_with_1, errors_are_json_when_asked, a_result_is_one_json_object, people_get_aligned_text,
            colour_is_for_terminals, tables_fit_the_terminal, settings_come_in_order, secrets_are_never_shown,
            storage_that_cannot_be_used_is_reported, output_that_cannot_be_written_is_a_failure, bash_completes,
            fish_completes, zsh_completes):
        with Mailroom(sys.argv[1]) as room:
            tap.run(case.__name__, case, room)
