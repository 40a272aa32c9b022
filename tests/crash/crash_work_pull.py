"""usage: crash_work_pull.py PROGRAM - pulls killed at every step and at random moments, from a real Dovecot: the next one misses
no message, takes none twice, and comes to the same end as one that was left alone."""

import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from crash import passes, run_all, same  # noqa: E402
from desk import Copy, Desk  # noqa: E402
from mail_server import DOVECOT, Dovecot  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import mail  # noqa: E402

MOMENTS, CHAIN = 100, 5  # kills, and how many of them one workspace has to bear; as many in crash_work_push.py
SEED = 20260518
MANY = 150
POINTS = {"work.pull.taken", "work.pull.synced", "work.pull.placed", "work.pull.named", "work.pull.discarded", "work.pull.known",
    "work.pull.settled", "work.take.indexed", "work.take.shown"}
ARRIVAL = POINTS - {"work.pull.settled", "work.pull.discarded"}


def fill(imap, user, count):
    """Mails for all mailboxes, one of them in two."""
    for number in range(1, count + 1):
        imap.append(user, "INBOX", mail(number, body=f"{number}\r\n" * 50).encode())
    for box, number in (("Junk", 1001), ("Junk", 1002), ("Trash", 1003), ("Sent", 1004), ("Archive", 2)):
        imap.append(user, box, mail(number, body=f"{number}\r\n" * 50).encode())


def stir(imap, user, desk):
    """Something of all that can happen on a server between two pulls."""
    desk.ok("case", "create", "--name", "In", "--message", desk.triage()["Mail 5"])
    imap.change(user, "INBOX", "STORE", "1,3", "+FLAGS", "(\\Flagged)")
    imap.change(user, "INBOX", "MOVE", "4", "Archive")
    imap.change(user, "INBOX", "STORE", "5,6", "+FLAGS", "(\\Deleted)")
    for box, number in (("INBOX", 2001), ("INBOX", 2002), ("Junk", 2003)):
        imap.append(user, box, mail(number).encode())


def picture(w):
    """Every message, what became of it, and where it is, without the times at which that was seen."""
    found = {}
    folder = w.path(".afmail", "messages")
    for name in os.listdir(folder):
        if name.endswith(".remote.json"):
            found[name] = sorted((at["mailbox_name"], at["uid"], at.get("flags", []), "missing_rfc3339" in at)
                for at in w.document(".afmail", "messages", name)["locations"])
        elif name.endswith(".eml"):
            found[name] = True
    found["status"] = w.ok("status")["message_status"]
    return found


def finish(w, wanted):
    w.ok("pull")
    same(picture(w), wanted)
    doctor = w.ok("doctor")
    assert doctor["ok"] and not doctor["issue_count"], doctor["issues"]
    again = w.ok("pull")
    assert not any(again[key] for key in ("new_message_count", "updated_location_count", "missing_location_count",
        "flags_updated_count")), again
    incoming = w.path(".afmail", "incoming")
    assert not os.path.exists(incoming) or os.listdir(incoming) == []


def learn(desk):
    """The points of a pull that nothing happens to, what it leads to, and how long it takes."""
    with Copy(desk) as w:
        log = os.path.join(w.runtime, "passed")
        begun = time.monotonic()
        w.ok("pull", env={"MAILROOM_CRASH_LOG": log})
        seconds = time.monotonic() - begun
        with open(log, encoding="ascii") as file:
            points = [point for point in passes(file.read().split()) if point[0].startswith(("work.", "fs.bare."))]
        return points, picture(w), seconds


def stop_at(desk, wanted, point):
    with Copy(desk) as w:
        assert w.kill_at(point, "pull") == -signal.SIGKILL, f"{point} was not passed"
        finish(w, wanted)


def stop_anytime(desk, wanted, moments):
    with Copy(desk) as w:
        for seconds in moments:
            w.kill_after(seconds, "pull")
        finish(w, wanted)


def try_points(tap, title, desk, expected):
    points, wanted, _ = learn(desk)
    missing = expected - {point for point, _ in points}
    tap.ok(not missing, f"{title}: passes its points", f"not passed: {missing}")
    run_all(tap, [(f"{title}: killed at {point}:{number}", stop_at, desk, wanted, f"{point}:{number}")
        for point, number in points])


def try_moments(tap, title, desk, chains, chance):
    _, wanted, seconds = learn(desk)
    moments = [[chance.uniform(0, seconds) for _ in range(CHAIN)] for _ in range(chains)]
    run_all(tap, [(f"{title}: killed after {' '.join(f'{one:.2f}' for one in chain)} s", stop_anytime, desk, wanted, chain)
        for chain in moments])


def stop_arrival(desk, imap, user, number, point):
    """A watch that is killed while it takes in what arrives."""
    desk.ok("pull")
    with Copy(desk) as w:
        watcher = subprocess.Popen([w.afmail_path, "pull", "inbox", "--watch"], cwd=w.dir, env=w.env(MAILROOM_CRASH_AT=point),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        with watcher:
            while "watching" not in watcher.stdout.readline():
                pass
            imap.append(user, "INBOX", mail(number).encode())
            assert watcher.wait(120) == -signal.SIGKILL, f"{point} was not passed"
        w.ok("pull")
        assert f"Mail {number}" in [item["subject"] for item in w.ok("triage", "list", "--details")["items"]]
        finish(w, picture(w))


def main():
    program = sys.argv[1]
    with Tap() as tap:
        if not DOVECOT:
            tap.skip("killed pulls", "dovecot-imapd is not installed")
            return
        with Dovecot(["few", "many"]) as imap, Desk(program, imap, user="few") as few, Desk(program, imap, user="many") as many:
            chance = random.Random(SEED)
            fill(imap, "few", 7)
            fill(imap, "many", MANY)
            try_points(tap, "first", few, POINTS)
            try_moments(tap, "first", many, MOMENTS // CHAIN // 2, chance)
            for desk, user in ((few, "few"), (many, "many")):
                desk.ok("pull")
                stir(imap, user, desk)
            try_points(tap, "again", few, POINTS)
            for number, point in enumerate(sorted(ARRIVAL), 3001):
                tap.run(f"arrival: killed at {point}", stop_arrival, few, imap, "few", number, f"{point}:1")
            try_moments(tap, "again", many, MOMENTS // CHAIN // 2, chance)


if __name__ == "__main__":
    main()
