"""usage: crash_work_push.py PROGRAM - pushes killed at every step and at random moments, against a real Dovecot and an SMTP server
that counts: no mail goes twice, none is lost, no copy is made twice, and what was not done is still queued."""

import collections
import email
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from crash import passes, run_all  # noqa: E402
from desk import Copy, Desk  # noqa: E402
from mail_server import DOVECOT, Dovecot  # noqa: E402
from smtp_server import HAS_SMTP, Smtp  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import mail  # noqa: E402

MOMENTS, CHAIN = 100, 5  # kills, and how many of them one workspace has to bear; as many in crash_work_pull.py
WHOLE = {0, 3}  # the items, an answer and a spam, of which all points are tried; of the others those of the push itself
SEED = 20260518
POINTS = {"work.push.built", "work.push.step_begun", "smtp.send.content", "smtp.send.end", "smtp.send.answered",
    "work.push.step_done", "work.push.step_saved", "work.push.appended", "work.push.flagged", "work.push.moved",
    "work.push.finishing"}


class Scene:
    """A workspace with a queue, to be copied, and what it leads to once everything is done."""

    def __init__(self, desk, user, expected):
        self.desk, self.user, self.expected = desk, user, expected


def queue_all(desk, imap, user, rounds):
    """Of every kind of item, `rounds`: a mail, an answer, a saved draft, archive, spam and trash."""
    for number in range(1, 4 * rounds + 1):
        imap.append(user, "INBOX", mail(number).encode())
    desk.ok("pull")
    ids = desk.triage()
    case = desk.ok("case", "create", "--name", "Answers")["case_uid"]
    where = collections.Counter()
    for one in range(rounds):
        reply, spam, trash, kept = [ids[f"Mail {4 * one + k}"] for k in range(1, 5)]
        desk.ok("case", "add", case, reply)
        name = desk.ok("case", "draft", "reply", case, reply, "--body", "Yes.")["draft_name"]
        desk.ok("case", "draft", "send", case, name)
        desk.send(case, f"New {one}")
        desk.send(case, f"Saved {one}", how="save")
        desk.ok("message", "spam", spam)
        desk.ok("message", "trash", trash)
        desk.ok("archive", "message", "create", "--name", f"Kept {one}", "--message", kept, "--summary", "s")
        where.update([("INBOX", f"Mail {4 * one + 1}", "\\Answered \\Seen"), ("Junk", f"Mail {4 * one + 2}", "$Junk \\Seen"),
            ("Trash", f"Mail {4 * one + 3}", ""), ("Archive", f"Mail {4 * one + 4}", ""),
            ("Sent", f"Re: Mail {4 * one + 1}", "\\Seen"), ("Sent", f"New {one}", "\\Seen"),
            ("Drafts", f"Saved {one}", "\\Draft")])
    return Scene(desk, user, where)


def on_server(imap, user):
    """What is where, and how often."""
    found = collections.Counter()
    client = imap.client(user)
    for box in ("INBOX", "Sent", "Drafts", "Junk", "Trash", "Archive"):
        assert client.select(box, readonly=True)[0] == "OK", box
        for part in client.uid("fetch", "1:*", "(FLAGS BODY.PEEK[HEADER])")[1]:
            if isinstance(part, tuple):
                flags = part[0].decode().partition("FLAGS (")[2].partition(")")[0].replace("\\Recent", "").split()
                found[box, email.message_from_bytes(part[1])["Subject"], " ".join(sorted(flags))] += 1
    client.logout()
    return found


def sent_by(smtp, user):
    return collections.Counter(email.message_from_bytes(one.content)["Message-ID"] for one in list(smtp.accepted)
        if one.login == user.encode())


def finish(w, smtp, user):
    """Push what is left; a person settles what nobody knows, and knows it from the SMTP server."""
    result = w.ok("push", "--confirm")
    for failure in result["failures"]:
        assert failure["error_code"] == "push_uncertain", result
        went = sent_by(smtp, user)[f"<message_sent_{failure['push_id'].partition('_')[2]}@afmail.local>"]
        w.ok("push", "recover", failure["push_id"], "--sent" if went else "--not-sent")
    if result["failed_count"]:
        result = w.ok("push", "--confirm")
    assert not result["failed_count"], result
    return result


def check(w, imap, smtp, scene, user):
    found = on_server(imap, user)
    assert found == scene.expected, (found - scene.expected, scene.expected - found)
    went = sent_by(smtp, user)
    wanted = sum(count for (box, _, _), count in scene.expected.items() if box == "Sent")
    assert len(went) == wanted and set(went.values()) == {1}, went
    assert w.ok("push", "list")["count"] == 0
    doctor = w.ok("doctor")
    assert doctor["ok"] and not doctor["issue_count"], doctor["issues"]
    pulled = w.ok("pull")
    assert not pulled["new_message_count"] and not pulled["missing_location_count"], pulled


def learn(imap, smtp, scene):
    imap.copy(scene.user, "learn")
    with Copy(scene.desk, scene.user, "learn") as w:
        log = os.path.join(w.runtime, "passed")
        begun = time.monotonic()
        w.ok("push", "--confirm", env={"MAILROOM_CRASH_LOG": log})
        seconds = time.monotonic() - begun
        check(w, imap, smtp, scene, "learn")
        with open(log, encoding="ascii") as file:
            points = [point for point in passes(file.read().split()) if point[0].startswith(("work.", "smtp."))]
    item, kept = 0, []
    for point, number in points:
        if item in WHOLE or point.startswith(("work.push.", "smtp.")):
            kept.append((point, number))
        item += point == "work.push.finishing"
    return kept, seconds


def stop_at(imap, smtp, scene, user, point):
    imap.copy(scene.user, user)
    with Copy(scene.desk, scene.user, user) as w:
        assert w.kill_at(point, "push", "--confirm") == -signal.SIGKILL, f"{point} was not passed"
        finish(w, smtp, user)
        check(w, imap, smtp, scene, user)


def stop_anytime(imap, smtp, scene, user, moments):
    """Killed again and again, at these moments of a whole push."""
    imap.copy(scene.user, user)
    with Copy(scene.desk, scene.user, user) as w:
        for seconds in moments:
            w.kill_after(seconds, "push", "--confirm")
        finish(w, smtp, user)
        check(w, imap, smtp, scene, user)


def without_move(tap, program):
    """A copy, and then the mail is taken away: killed between the two."""
    users = ["few", "learn", *(f"user{number}" for number in range(20))]
    with Dovecot(users, without=("MOVE",)) as imap, Smtp(accounts=users) as smtp, Desk(program, imap, smtp, "few") as few:
        scene = queue_all(few, imap, "few", 1)
        points = [(point, number) for point, number in learn(imap, smtp, scene)[0] if point in ("work.push.copied", "work.push.moved")]
        tap.ok(("work.push.copied", 3) in points, "without MOVE: passes its points", str(points))
        run_all(tap, [(f"without MOVE: killed at {point}:{number}", stop_at, imap, smtp, scene, user, f"{point}:{number}")
            for (point, number), user in zip(points, users[2:])])


def main():
    program = sys.argv[1]
    users = ["few", "many", "learn", *(f"user{number}" for number in range(1000))]
    with Tap() as tap:
        if not DOVECOT or not HAS_SMTP:
            tap.skip("killed pushes", "dovecot-imapd or python3-aiosmtpd is not installed")
            return
        with Dovecot(users) as imap, Smtp(accounts=users) as smtp, Desk(program, imap, smtp, "few") as few, \
                Desk(program, imap, smtp, "many") as many:
            free = iter(users[3:])
            scene = queue_all(few, imap, "few", 1)
            points, seconds = learn(imap, smtp, scene)
            missing = POINTS - {point for point, _ in points}
            tap.ok(not missing, "passes its points", f"not passed: {missing}")
            run_all(tap, [(f"killed at {point}:{number}", stop_at, imap, smtp, scene, next(free), f"{point}:{number}")
                for point, number in points])
            scene, chance = queue_all(many, imap, "many", 2), random.Random(SEED)
            moments = [[chance.uniform(0, 1.2 * seconds) for _ in range(CHAIN)] for _ in range(MOMENTS // CHAIN)]
            run_all(tap, [(f"killed after {' '.join(f'{one:.2f}' for one in chain)} s", stop_anytime, imap, smtp, scene, next(free),
                chain) for chain in moments])
            smtp.refuse("MAIL", "451 4.3.0 later", times=1)
            tap.run("killed when a failure was written down", stop_at, imap, smtp, scene, next(free), "work.push.kept")
        without_move(tap, program)


if __name__ == "__main__":
    main()
