"""usage: crash_work_repair.py PROGRAM - a repair that is killed anywhere is finished by the next one.

The workspace is one of generation 0.1 with a lost sidecar and a renamed case besides: the repair migrates it and mends
the rest in one change. Without a journal the canonical files are as before or as after; with one, the next repair comes
to the same end as undisturbed, every event is in the log once, and doctor finds nothing.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import old_workspace as old  # noqa: E402
from crash import Crash, must_succeed, same, tree  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import mail  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
if os.access("/dev/shm", os.W_OK):
    tempfile.tempdir = "/dev/shm"
HOME = tempfile.TemporaryDirectory(prefix="mailroom-home-")
AFMAIL = os.path.join(HOME.name, "afmail")
os.symlink(PROGRAM, AFMAIL)
ENV = {"HOME": HOME.name, "TZ": "UTC"}
LOG = ".afmail/logs/events.jsonl"
TIME = re.compile(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")
PROJECTIONS = re.compile(r"^(messages/|triage/|(spam|trash|deleted)/[^/]*\.md$|.*/views(/|$)|.*/(case|archive)\.md$)")


def command(directory, *args):
    """A command in that directory, as an argument list."""
    return ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", directory, AFMAIL, *args]


def run(directory, *args):
    done = subprocess.run(command(directory, *args), env=os.environ | ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=180, check=False)
    must_succeed(done)
    return json.loads(done.stdout)


def prepare(directory):
    run(directory, "init")
    ids = []
    for number in range(1, 7):
        path = os.path.join(HOME.name, "mail.eml")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(mail(number))
        ids += run(directory, "import", path)["message_ids"]
    old.write(directory, f".afmail/messages/{ids[5]}.remote.json", old.sidecar(ids[5]))
    old.write(directory, "cases/open/c20260504003-Renamed/data/case.json", old.case("c20260504003", "Right", [ids[5]]))
    assert run(directory, "doctor", "repair", "--confirm")["remaining_issues"] == []
    os.rename(os.path.join(directory, "cases/open/c20260504003-Right"), os.path.join(directory, "cases/open/c20260504003-Wrong"))
    os.unlink(os.path.join(directory, f".afmail/messages/{ids[5]}.remote.json"))
    old.make_0_1(directory, ids)


def canonical(directory):
    """Files and directories that are no projections; times do not count."""
    found = tree(directory, lambda path: path.startswith((".afmail/index.sqlite", ".afmail/workspace.lock",
        ".afmail/transactions")) or PROJECTIONS.match(path))
    return {path: what and TIME.sub(b"<time>", what) for path, what in found.items() if path != LOG and what is not None}


def picture(directory):
    assert run(directory, "doctor")["issues"] == []
    assert os.listdir(os.path.join(directory, ".afmail/transactions")) == []
    found = tree(directory, lambda path: path.startswith((".afmail/index.sqlite", ".afmail/workspace.lock")))
    found = {path: what and TIME.sub(b"<time>", what) for path, what in found.items()}
    found[LOG] = [json.loads(line)["kind"] for line in found[LOG].decode().splitlines()]
    return found


def main():
    with Tap() as tap:
        crash = Crash(tap, lambda d: command(d, "doctor", "repair", "--confirm"), prepare, picture, env=ENV)
        with crash.fresh() as directory:
            before = canonical(directory)
        with crash.fresh() as directory:
            run(directory, "doctor", "repair", "--confirm")
            after = canonical(directory)

        def holds_together(directory):
            names = os.listdir(os.path.join(directory, ".afmail/transactions"))
            if any(name.endswith(".json") and not name.startswith(".") for name in names):
                codes = {issue["code"] for issue in run(directory, "doctor")["issues"]}
                assert "transaction_incomplete" in codes, codes
                return
            now = canonical(directory)
            same(now, before if now.keys() == before.keys() else after)

        crash.stops("repair", holds_together, ["work.change.staged", "work.change.journaled", "work.change.step",
            "work.change.ended", "work.repair.mended", "work.repair.projected"], lambda name: name.startswith("work."))


main()
