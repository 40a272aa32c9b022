"""usage: crash_work_pull.py PROGRAM - a pull killed at every step: the next one misses no message and takes none twice."""

import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from crash import passes  # noqa: E402
from imap_script import Script  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402

MAILS = 7


def prepare(w, server):
    for key, value in (("imap.host", "127.0.0.1"), ("imap.port", str(server.port)), ("imap.tls", "false"),
            ("imap.username", "ann"), ("imap.password_secret", "secret")):
        w.ok("config", "set", key, value)


def steps(program, mailbox):
    with Workspace(program) as w, Script({n: mail(n).encode() for n in range(1, MAILS + 1)}) as server:
        prepare(w, server)
        log = os.path.join(w.dir, "passed")
        w.ok("pull", mailbox, env={"MAILROOM_CRASH_LOG": log})
        with open(log, encoding="ascii") as file:
            return [step for step in passes(file.read().split()) if step[0].startswith("work.")]


def stop_at(program, mailbox, status, point, number):
    with Workspace(program) as w, Script({n: mail(n).encode() for n in range(1, MAILS + 1)}) as server:
        prepare(w, server)
        done = subprocess.run([w.afmail_path, "pull", mailbox], cwd=w.dir, env=w.env(MAILROOM_CRASH_AT=f"{point}:{number}"),
            capture_output=True, text=True, check=False)
        assert done.returncode == -signal.SIGKILL, done
        w.ok("pull", mailbox)
        assert w.ok("status")["message_status"] == {status: MAILS}
        found = w.ok("doctor")
        assert found["ok"] and not found["issue_count"], found["issues"]
        again = w.ok("pull", mailbox)
        assert not again["new_message_count"] and not again["updated_location_count"], again


def main():
    program = sys.argv[1]
    with Tap() as tap:
        for mailbox, status in (("inbox", "triage"), ("junk", "spam")):
            points = steps(program, mailbox)
            assert any(point == "work.pull.known" for point, _ in points), points
            for point, number in points:
                tap.run(f"{mailbox} killed at {point}:{number}", stop_at, program, mailbox, status, point, number)


if __name__ == "__main__":
    main()
