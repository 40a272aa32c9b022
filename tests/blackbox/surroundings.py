"""usage: surroundings.py PROGRAM SOURCE - no test depends on what happens to be around it.

A machine where Mailroom is installed, where git is configured and variables of every kind are set, is made for a
child; then it is looked at through the eyes of a test.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile

SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support")
sys.path.insert(0, SUPPORT)
from tap import Tap  # noqa: E402

LOOK = """
import json, os, resource, shutil, subprocess, sys
sys.path.insert(0, sys.argv[1])
import tap
git = subprocess.run(["git", "config", "--list"], cwd="/", capture_output=True, text=True, check=False)
mask = os.umask(0)
json.dump({"mailroom": shutil.which("mailroom"), "tool": os.path.realpath(shutil.which("a-tool") or ""), "path": os.environ["PATH"].split(":"),
    "files": resource.getrlimit(resource.RLIMIT_NOFILE)[0], "environ": dict(os.environ), "git": git.stdout, "umask": mask, "home": os.listdir(os.environ["HOME"])}, sys.stdout)
"""


class Hostile:
    """A folder of programs with a mailroom in it, a home with settings, and a child that looks."""

    def __init__(self):
        self.place = tempfile.TemporaryDirectory(prefix="mailroom-hostile-")
        self.bin = os.path.join(self.place.name, "bin")
        self.home = os.path.join(self.place.name, "home")
        for folder in (self.bin, self.home):
            os.mkdir(folder)
        for name in ("mailroom", "a-tool"):
            path = os.path.join(self.bin, name)
            with open(path, "w", encoding="ascii") as file:
                file.write("#!/bin/sh\nexit 99\n")
            os.chmod(path, 0o755)
        with open(os.path.join(self.home, ".gitconfig"), "w", encoding="ascii") as file:
            file.write("[core]\n\thooksPath = /nonexistent\n[init]\n\tdefaultBranch = odd\n")

    @staticmethod
    def few_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    def look(self):
        env = {**os.environ, "PATH": f".:{self.bin}:{os.environ['PATH']}", "HOME": self.home,
            "GIT_CONFIG_GLOBAL": os.path.join(self.home, ".gitconfig"), "GIT_DIR": "/nonexistent",
            "XDG_CONFIG_HOME": self.home, "LC_ALL": "tr_TR.UTF-8", "HTTP_PORT": "many", "STORAGE_ROOT": "/nonexistent",
            "http_proxy": "http://127.0.0.1:1", "MAILROOM_TOKEN": "s3cret", "NO_COLOR": "1"}
        done = subprocess.run([sys.executable, "-c", LOOK, SUPPORT], env=env, cwd=self.place.name, text=True,
            capture_output=True, timeout=60, check=False, umask=0o077,
            preexec_fn=self.few_files)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def an_installed_mailroom_is_not_found(seen, hostile):
    assert seen["mailroom"] is None, seen["mailroom"]
    assert seen["tool"] == os.path.join(os.path.realpath(hostile.bin), "a-tool"), seen["tool"]
    assert "." not in seen["path"], seen["path"]


def variables_are_gone(seen, hostile):
    for name in ("GIT_DIR", "XDG_CONFIG_HOME", "LC_ALL", "HTTP_PORT", "STORAGE_ROOT", "http_proxy", "MAILROOM_TOKEN",
            "NO_COLOR"):
        assert name not in seen["environ"], name
    assert seen["environ"]["LANG"] == "C.UTF-8" and seen["environ"]["TZ"] == "UTC", seen["environ"]


def git_home_and_umask_are_ours(seen, hostile):
    assert seen["git"] == "", seen["git"]
    assert seen["home"] == [] and seen["environ"]["HOME"] != hostile.home, seen["environ"]["HOME"]
    assert seen["umask"] == 0o022, oct(seen["umask"])


def many_files_may_be_open(seen, hostile):
    assert seen["files"] == min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]), seen["files"]


def every_test_has_it(seen, hostile):
    """tap.py does it, so whoever prints results without it would be left out."""
    source = sys.argv[2]
    for folder in ("blackbox", "crash", "gate"):
        for name in sorted(os.listdir(os.path.join(source, "tests", folder))):
            if name.endswith(".py"):
                with open(os.path.join(source, "tests", folder, name), encoding="utf-8") as file:
                    assert "from tap import Tap" in file.read(), f"tests/{folder}/{name} does not use tap.py"


with Tap() as tap:
    around = Hostile()
    found = around.look()
    for case in (an_installed_mailroom_is_not_found, variables_are_gone, git_home_and_umask_are_ours,
            many_files_may_be_open, every_test_has_it):
        tap.run(case.__name__, case, found, around)
    around.place.cleanup()
