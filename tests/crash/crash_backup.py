"""usage: crash_backup.py PROGRAM - a backup that is killed leaves none of its name, a restore nothing that looks whole."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from crash import Crash, must_succeed, same, tree  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
if os.access("/dev/shm", os.W_OK):
    tempfile.tempdir = "/dev/shm"
BACKUP = 'cd "$1" && { [ -e b.tar ] || exec "$2" backup b.tar --workspace desk; }'
RESTORE = """cd "$1" && rm -rf data desk && if [ -e new/workspace-1 ]; then exit 0
    elif [ -e new/team ]; then exec "$2" restore b.tar --into new --only workspace-1
    else exec "$2" restore b.tar --into new; fi"""


def shell(directory, script, *more):
    return ["env", f"HOME={directory}", f"STORAGE_ROOT={directory}/data", f"XDG_RUNTIME_DIR={directory}", "sh", "-c", script,
        "sh", directory, PROGRAM, *more]


def run(directory, script):
    done = subprocess.run(shell(directory, script), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=180, check=False)
    must_succeed(done)
    return done.stdout


def prepare(directory):
    run(directory, 'cd "$1" && "$2" --json team ensure-project /path/to/backend')
    run(directory, 'mkdir "$1/desk" && cd "$1/desk" && exec "$2" work init')


def prepare_restore(directory):
    prepare(directory)
    run(directory, BACKUP)


def no_half_backup(directory):
    """Under the name there is a whole one, or none."""
    if os.path.exists(os.path.join(directory, "b.tar")):
        run(directory, 'exec "$2" restore "$1/b.tar" --check')


def backed_up(directory):
    """The parts, and no other files than it and what a kill may leave."""
    told = json.loads(run(directory, 'exec "$2" --json restore "$1/b.tar" --check'))
    left = [name for name in os.listdir(directory) if name.startswith("b.tar")]
    assert set(left) <= {"b.tar", "b.tar.partial", "b.tar.partial-database"}, left
    return {part["name"]: part["files"] for part in told["parts"]}


def restored(directory):
    return tree(os.path.join(directory, "new"))


def main():
    with Tap() as tap:
        crash = Crash(tap, lambda d: shell(d, BACKUP), prepare, backed_up)
        crash.stops("backup", check=no_half_backup, expect=["backup.begun", "backup.frozen", "backup.written", "backup.synced",
            "backup.named"])
        crash = Crash(tap, lambda d: shell(d, RESTORE), prepare_restore, restored)
        whole = crash.learn()[2]

        def each_part_is_whole(directory):
            place = os.path.join(directory, "new")
            for name in os.listdir(place) if os.path.isdir(place) else []:
                if not name.endswith(".restoring"):
                    found = {k: v for k, v in restored(directory).items() if k == name or k.startswith(name + "/")}
                    same(found, {k: v for k, v in whole.items() if k == name or k.startswith(name + "/")})

        crash.stops("restore", check=each_part_is_whole, expect=["restore.unpacked", "restore.compared", "restore.placed"])


main()
