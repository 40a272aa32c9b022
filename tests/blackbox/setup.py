"""usage: setup.py PROGRAM SOURCE - script/setup installs what a purpose needs, or says what is missing.

The scripts run in a checkout of their own, with a PATH in which dpkg-query, id, sudo and apt-get are ours.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Tap  # noqa: E402

SOURCE = sys.argv[2]
with open(os.path.join(SOURCE, "script/setup"), encoding="utf-8") as setup:
    CYRUS = re.search(r"^cyrus='(.*?)'", setup.read(), re.DOTALL | re.MULTILINE).group(1)
PURPOSES = ("build", "test", "lint", "fuzz", "bench", "conformance")


class Machine:
    """A machine with these packages, for this user; in its checkout Cyrus is there, or not."""

    def __init__(self, installed=(), root=False, sudo=False, cyrus=True):
        self.place = tempfile.TemporaryDirectory(prefix="mailroom-setup-")
        self.bin = os.path.join(self.place.name, "bin")
        self.log = os.path.join(self.place.name, "log")
        self.source = os.path.join(self.place.name, "checkout")
        os.mkdir(self.bin)
        shutil.copytree(os.path.join(SOURCE, "script"), os.path.join(self.source, "script"))
        if cyrus:
            os.makedirs(os.path.join(self.source, "build/cyrus"))
            with open(os.path.join(self.source, "build/cyrus/packages"), "w", encoding="utf-8") as file:
                file.write(CYRUS + "\n")
        for name in ("sh", "dirname", "cat", "mktemp", "mkdir", "rm", "tail"):
            os.symlink(shutil.which(name), os.path.join(self.bin, name))
        os.symlink(sys.executable, os.path.join(self.bin, "python3"))
        names = "|".join(installed) or "none"
        self.put("dpkg-query", f'for package; do :; done\ncase $package in {names}) printf "ii " ;; *) exit 1 ;; esac\n')
        self.put("id", f"echo {0 if root else 1000}\n")
        self.put("apt-get", f'echo "apt-get $*" >>"{self.log}"\n')
        if sudo:
            self.put("sudo", f'echo "as root" >>"{self.log}"\nexec "$@"\n')

    def put(self, name, text):
        path = os.path.join(self.bin, name)
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)

    def run(self, script, *args):
        return subprocess.run([os.path.join(self.source, "script", script), *args], env={"PATH": self.bin, "HOME": "/"},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)

    def did(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="ascii") as file:
            return file.read().splitlines()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.place.cleanup()


def installs(*purposes):
    """What it installs for them on a machine that has nothing."""
    with Machine(root=True) as machine:
        done = machine.run("setup", *purposes)
        assert done.returncode == 0, done.stderr
        update, *installing = machine.did()
        assert update == "apt-get update -q", update
        begin = "apt-get install -q -y --no-install-recommends "
        assert all(install.startswith(begin) for install in installing), installing
        packages = [package for install in installing for package in install[len(begin):].split()]
        assert len(installing) == 1 + ("dovecot-imapd" in packages), installing
        assert done.stdout == f"Installing: {' '.join(packages)}\n", done.stdout
        return packages


def each_purpose_has_its_packages():
    build = installs("build")
    assert "gcc" in build and "libsqlite3-dev" in build and "python3" not in build, build
    for purpose, own in (("test", "zsh"), ("lint", "clang-tidy"), ("fuzz", "libclang-rt-14-dev"),
            ("conformance", "npm"), ("bench", "python3")):
        packages = installs(purpose)
        assert packages[:len(build)] == build and own in packages, (purpose, packages)
    assert installs() == installs("test")
    assert not {"npm", "clang", "clang-format", "clang-tidy", "libclang-rt-14-dev"} & set(installs("test"))


def a_mail_server_that_cannot_be_had_is_no_failure():
    everything = set(installs("test")) - {"dovecot-imapd"}
    with Machine(everything, root=True) as machine:
        machine.put("apt-get", "[ $1 = update ]\n")
        done = machine.run("setup", "test")
        assert done.returncode == 0 and "tests that need an IMAP server are skipped" in done.stdout, done


def a_cyrus_that_cannot_be_had_is_no_failure():
    with Machine(installs("test"), cyrus=False) as machine:
        machine.put("apt-get", "echo there is no network >&2\nexit 1\n")
        done = machine.run("setup", "test")
        assert done.returncode == 0 and done.stderr == "there is no network\n", done
        assert done.stdout == ("Fetching Cyrus into build/cyrus\n"
            "Cyrus cannot be fetched: tests and figures that need it are skipped.\n"), done


def nothing_is_done_when_all_is_there():
    everything = {package for purpose in PURPOSES for package in installs(purpose)}
    with Machine(everything) as machine:
        for purpose in PURPOSES:
            done = machine.run("setup", purpose)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (purpose, done)
        assert machine.did() == []


def only_what_is_missing_is_installed():
    everything = set(installs("test")) - {"fish"}
    with Machine(everything, sudo=True) as machine:
        done = machine.run("setup", "test")
        assert done.returncode == 0 and done.stdout == "Installing: fish\n", done
        assert machine.did() == ["as root", "apt-get update -q", "as root",
            "apt-get install -q -y --no-install-recommends fish"], machine.did()


def an_npm_from_elsewhere_will_do():
    with Machine(set(installs("conformance")) - {"npm"}) as machine:
        machine.put("npm", "exit 0\n")
        assert machine.run("setup", "conformance").returncode == 0 and machine.did() == []


def without_sudo_a_sentence_says_what_to_do():
    with Machine(set(installs("test")) - {"fish", "zsh"}) as machine:
        done = machine.run("setup")
        assert (done.returncode, done.stdout) == (1, ""), done
        assert done.stderr == ("Packages are missing that only root can install, and there is no sudo: run "
            "`apt-get install --no-install-recommends zsh fish` as root, then start this again.\n"), done.stderr
        assert machine.did() == []


def every_script_asks_for_its_own():
    for script, own, others in (("test", "zsh", ("npm", "clang")), ("lint", "clang-tidy", ("npm", "zsh")),
            ("fuzz", "libclang-rt-14-dev", ("npm", "zsh")), ("bench", "python3", ("npm", "zsh", "clang")),
            ("conformance", "npm", ("zsh", "clang")), ("install", "gcc", ("npm", "zsh", "python3")),
            ("server", "gcc", ("npm", "zsh", "python3"))):
        with Machine() as machine:
            done = machine.run(script)
            assert done.returncode == 1 and done.stdout == "", (script, done)
            named = done.stderr.split("`")[1].split()
            assert done.stderr.count("\n") == 1 and own in named and not set(others) & set(named), (script, done.stderr)


def an_unknown_purpose_is_refused():
    with Machine() as machine:
        done = machine.run("setup", "everything")
        assert done.returncode == 2 and done.stderr.startswith("usage: script/setup"), done


with Tap() as tap:
    for case in (each_purpose_has_its_packages, a_mail_server_that_cannot_be_had_is_no_failure, a_cyrus_that_cannot_be_had_is_no_failure,
            nothing_is_done_when_all_is_there, only_what_is_missing_is_installed,
            an_npm_from_elsewhere_will_do, without_sudo_a_sentence_says_what_to_do, every_script_asks_for_its_own,
            an_unknown_purpose_is_refused):
        tap.run(case.__name__, case)
