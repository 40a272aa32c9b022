"""usage: crash_work_request.py PROGRAM - a command with a request id, stopped at every point that it passes and sent again: it is carried out
once, or the second one says that nobody knows."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from crash import passes  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import TIMEOUT_S, Workspace  # noqa: E402

COMMAND = ["contact", "create", "--name", "Ann", "--email", "ann@example.com", "--request-id", "r-1"]


def run(w, **env):
    return subprocess.run([w.afmail_path, *COMMAND], cwd=w.dir, env=w.env(**env), capture_output=True, text=True, timeout=TIMEOUT_S,
        check=False)


def points(program):
    with Workspace(program) as w:
        log = os.path.join(w.runtime, "points")
        assert run(w, MAILROOM_CRASH_LOG=log).returncode == 0
        with open(log, encoding="utf-8") as file:
            return passes([line for line in file.read().split() if not line.startswith("fail:")])


def stopped_and_sent_again(program, name, number, seen):
    with Workspace(program) as w:
        done = run(w, MAILROOM_CRASH_AT=f"{name}:{number}")
        assert done.returncode == -9, done
        again = run(w)
        count = w.ok("contact", "list")["count"]
        assert len(w.events("contact_created")) == count, w.events()
        if again.returncode == 0:
            seen.add("carried out")
            assert count == 1, again
        else:
            seen.add("noticed")
            assert "whether its change happened is not known" in again.stdout and count <= 1, again
        # Another id is another request, which finds what is there.
        other = w.afmail(*COMMAND[:-1], "r-2")
        assert (other.returncode == 0) == (count == 0), other
        assert count == 0 or "email_conflict" in other.stdout, other


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with Tap() as tap:
        all_points = points(sys.argv[1])
        names = [name for name, _ in all_points]
        tap.ok("work.request.begun" in names and "work.request.carried_out" in names, "the points of a request are passed", str(names))
        seen = set()
        for name, number in all_points:
            tap.run(f"{name}:{number}", stopped_and_sent_again, sys.argv[1], name, number, seen)
        tap.ok(seen == {"carried out", "noticed"}, "both ends are seen", str(seen))


main()
