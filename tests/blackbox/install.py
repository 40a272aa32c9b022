"""usage: install.py PROGRAM SOURCE - the program is installed, upgraded while it serves, and removed without a trace."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402

SOURCE = sys.argv[2]
COMPLETIONS = ("share/bash-completion/completions/mailroom", "share/zsh/site-functions/_mailroom",
    "share/fish/vendor_completions.d/mailroom.fish")


def script(m, name, *args, **env):
    return subprocess.run([os.path.join(SOURCE, "script", name), *args], env=m.env(**env), cwd=m.dir, capture_output=True,
        text=True, timeout=300, check=False)


def files_below(path):
    return {os.path.relpath(os.path.join(where, name), path) for where, _, names in os.walk(path) for name in names}


def install(m, prefix, program=None):
    done = script(m, "install-files", program or m.program, prefix)
    assert done.returncode == 0 and not done.stderr, describe(done)


def it_comes_with_pages_and_completions(m):
    prefix = os.path.join(m.dir, "one")
    install(m, prefix)
    there = files_below(prefix)
    for name in ("bin/mailroom", "bin/afmail", "share/man/man1/mailroom.1", "share/man/man1/mailroom-team.1",
            "share/man/man1/afmail.1", *COMPLETIONS):
        assert name in there, (name, there)
    assert m.run("completion", "bash").stdout == open(os.path.join(prefix, COMPLETIONS[0]), encoding="utf-8").read()
    done = subprocess.run([os.path.join(prefix, "bin/afmail"), "--version"], env=m.env(), capture_output=True, text=True,
        timeout=60, check=False)
    assert done.returncode == 0 and "afmail" in done.stdout, describe(done)


def zsh_loads_the_installed_completion(m):
    directory = os.path.join(m.dir, "one/share/zsh/site-functions")
    line = f"""fpath=('{directory}' $fpath); autoload -Uz _mailroom
        words=(mailroom gu); CURRENT=2; _describe() {{ print -r -- ${{(P)2}} }}; _mailroom"""
    done = subprocess.run(["zsh", "-f", "-c", line], env=m.env(), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "guard:" in done.stdout and not done.stderr, describe(done)


def removal_takes_what_was_installed_and_nothing_else(m):
    prefix = os.path.join(m.dir, "two")
    os.makedirs(os.path.join(prefix, "bin"))
    os.makedirs(os.path.join(prefix, "share/man/man1"))
    for name in ("bin/afmail", "share/man/man1/other.1"):
        with open(os.path.join(prefix, name), "w", encoding="ascii") as file:
            file.write("not ours\n")
    before = files_below(prefix)
    install(m, prefix)
    assert open(os.path.join(prefix, "bin/afmail"), encoding="ascii").read() == "not ours\n"
    assert "share/man/man1/afmail.1" not in files_below(prefix)
    done = script(m, "install", "--remove", PREFIX=prefix)
    assert done.returncode == 0 and "Your mail and settings are where they were" in done.stdout, describe(done)
    assert files_below(prefix) == before, files_below(prefix)
    done = script(m, "install", "--remove", PREFIX=prefix)
    assert done.returncode == 1 and "Nothing to remove" in done.stderr, describe(done)
    done = script(m, "install", "--gone")
    assert done.returncode == 2 and "usage: script/install [--remove]" in done.stderr, describe(done)


def an_upgrade_removes_what_the_new_version_has_not(m):
    prefix = os.path.join(m.dir, "three")
    install(m, prefix)
    old = os.path.join(prefix, "share/man/man1/mailroom-old.1")
    open(old, "w", encoding="ascii").close()
    with open(os.path.join(prefix, "share/mailroom/installed"), "a", encoding="ascii") as file:
        file.write("share/man/man1/mailroom-old.1\n../../kept\n")
    kept = os.path.join(m.dir, "kept")
    open(kept, "w", encoding="ascii").close()
    install(m, prefix)
    assert not os.path.exists(old) and os.path.exists(kept)


def a_server_goes_on_while_it_is_upgraded(m):
    prefix = os.path.join(m.dir, "four")
    install(m, prefix)
    program, m.program = m.program, os.path.join(prefix, "bin/mailroom")
    try:
        with m.serve() as server:
            inode = os.stat(m.program).st_ino
            install(m, prefix, program)
            assert os.stat(m.program).st_ino != inode
            assert server.get("/health/liveness")[0] == 200
            assert m.run("--version").returncode == 0
    finally:
        m.program = program


def a_program_that_does_not_run_changes_nothing(m):
    prefix = os.path.join(m.dir, "five")
    install(m, prefix)
    before = os.stat(os.path.join(prefix, "bin/mailroom")).st_ino
    done = script(m, "install-files", "/bin/false", prefix)
    assert done.returncode != 0 and os.stat(os.path.join(prefix, "bin/mailroom")).st_ino == before, describe(done)


def meson_installs_them_too(m):
    build = os.path.dirname(os.path.dirname(m.program))
    into = os.path.join(m.dir, "dest")
    done = subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", into], env=m.env(), capture_output=True,
        text=True, timeout=300, check=False)
    assert done.returncode == 0, describe(done)
    there = files_below(into)
    for name in ("bin/mailroom", "bin/afmail", "share/man/man1/mailroom-serve.1", *COMPLETIONS):
        assert any(found.endswith("/" + name) for found in there), (name, there)


def main():
    with Tap() as tap, Mailroom(sys.argv[1]) as m:
        for case in (it_comes_with_pages_and_completions, zsh_loads_the_installed_completion,
                removal_takes_what_was_installed_and_nothing_else, an_upgrade_removes_what_the_new_version_has_not,
                a_server_goes_on_while_it_is_upgraded, a_program_that_does_not_run_changes_nothing,
                meson_installs_them_too):
            tap.run(case.__name__, case, m)


main()
