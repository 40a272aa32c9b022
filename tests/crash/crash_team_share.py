"""usage: crash_team_share.py PROGRAM - an export to one file that is killed leaves none of its name, or a whole one."""

import os
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from crash import Crash, must_succeed  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
if os.access("/dev/shm", os.W_OK):
    tempfile.tempdir = "/dev/shm"
# What happens from where the files are complete; how each is written is told by crash_fs.py.
POINTS = ("share.", "fs.rename.", "fs.remove")


def shell(directory, script):
    return ["env", f"HOME={directory}", f"STORAGE_ROOT={directory}/data", f"XDG_RUNTIME_DIR={directory}", "sh", "-c", script,
        "sh", directory, PROGRAM]


def prepare(directory):
    must_succeed(subprocess.run(shell(directory, 'cd "$1" && "$2" --json team ensure-project /path/to/backend'),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=180, check=False))


def no_half_file(directory):
    if os.path.exists(os.path.join(directory, "share.zip")):
        packed(directory)


def packed(directory):
    with zipfile.ZipFile(os.path.join(directory, "share.zip")) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


with Tap() as tap:
    crash = Crash(tap, lambda d: shell(d, 'cd "$1" && { [ -e share.zip ] || exec "$2" team share export --zip share.zip; }'),
        prepare=prepare, picture=packed)
    crash.stops("export to one file", check=no_half_file, expect=["share.pack.written"],
        only=lambda name: name.startswith(POINTS))
