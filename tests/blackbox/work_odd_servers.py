"""usage: work_odd_servers.py PROGRAM - pulls and pushes with a server that does what no real one does, at every line that it says:
each ends with the right error or goes on, nothing is lost, and nothing comes or goes twice. And what only looks changes nothing."""

import copy
import json
import os
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from desk import Desk  # noqa: E402
from imap_model import READING, Gone, Model  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import mail  # noqa: E402

NOISE = ("* OK [ALERT] {5}", "* NO disk is getting full", "* 4 RECENT", "* FLAGS (\\Answered \\Seen)", "* 1 FETCH (FLAGS (\\Seen))",
    "* 2 FETCH (UID 4000000000 MODSEQ (5))", '* STATUS "Other" (MESSAGES 3)', '* XODD (a (b "c" {2}\r\nxy) NIL)',
    "* OK [PERMANENTFLAGS (\\Deleted \\*)] more")
BREAKS = {"imap_connect_failed", "imap_greeting_failed", "imap_list_failed", "imap_select_failed", "imap_fetch_failed",
    "imap_login_failed"}


def subjects(w):
    return sorted(item["subject"] for item in w.ok("triage", "list", "--details")["items"])


def whole(w):
    found = w.ok("doctor")
    assert found["ok"], found["issues"]


def said(mailbox):
    """[(subject, flags)] of the mails in a mailbox of the model."""
    return sorted((data.decode().partition("Subject: ")[2].partition("\r\n")[0], sorted(flags)) for flags, data in mailbox.mails.values())


def pull_is_whole(w):
    w.ok("pull")
    assert subjects(w) == ["Mail 1", "Mail 2", "Mail 3"], subjects(w)
    again = w.ok("pull")
    assert again["new_message_count"] == again["updated_location_count"] == again["missing_location_count"] == 0, again
    whole(w)


class Moment:
    """A workspace and its server as they are now, to come back to."""

    def __init__(self, w, server):
        self.w, self.server, self.copy = w, server, w.dir + ".copy"
        self.boxes = copy.deepcopy(server.boxes)
        shutil.copytree(w.dir, self.copy, symlinks=True)

    def come_back(self):
        shutil.rmtree(self.w.dir)
        shutil.copytree(self.copy, self.w.dir, symlinks=True)
        self.server.boxes = copy.deepcopy(self.boxes)
        self.server.lines = 0
        del self.server.commands[:]

    def each_line(self, run, how):
        """The number of every line that the server says in this run; of every other one where it breaks as it did before."""
        self.come_back()
        run()
        count = self.server.lines
        for at in range(*{"half": (0, count, 2), "garbage": (1, count, 2), "drop": (1, count, 2)}.get(how, (count,))):
            self.come_back()
            self.server.at = at
            yield at


def test_pull_breaks(program, how):
    """The connection ends at every line of a pull, once."""
    failed = 0
    with Model(how=how) as server, Desk(program, server) as w:
        server.fill(mail(1), mail(2), mail(3))
        for at in Moment(w, server).each_line(lambda: w.ok("pull"), how):
            done = w.afmail("pull")
            if done.returncode:
                error = json.loads(done.stdout.splitlines()[-1])
                assert error["error_code"] in BREAKS, (at, error)
                assert error["retryable"] is True or how == "garbage", (at, error)
                failed += 1
            server.heal()
            pull_is_whole(w)
            assert all(command.startswith(READING) for command in server.commands), server.commands
    assert failed > 10, failed


def queue_work(w, server):
    server.fill(mail(1), mail(2), mail(3))
    w.ok("pull")
    ids = {row["subject"]: row["message_id"] for row in w.ok("triage", "list", "--details")["items"]}
    w.ok("message", "spam", ids["Mail 1"])
    w.ok("message", "trash", ids["Mail 2"])
    case = w.case()
    name = w.ok("case", "draft", "new", case, "--subject", "Later", "--body", "Text.\n", "--to", "bob@desk.example")["draft_name"]
    w.ok("case", "draft", "save", case, name)


def is_done(w, server):
    boxes = server.boxes
    assert w.queue() == [], w.queue()
    assert said(boxes["INBOX"]) == [("Mail 3", [])], said(boxes["INBOX"])
    assert said(boxes["Junk"]) == [("Mail 1", ["$Junk", "\\Seen"])], said(boxes["Junk"])
    assert said(boxes["Trash"]) == [("Mail 2", [])], said(boxes["Trash"])
    assert said(boxes["Drafts"]) == [("Later", ["\\Draft"])], said(boxes["Drafts"])
    pulled = w.ok("pull")
    assert pulled["new_message_count"] == pulled["missing_location_count"] == 0, pulled
    whole(w)


def test_push_breaks(program, how, can):
    """The connection ends at every line of a push, once: what was not done is queued, and done once by the next."""
    failed = 0
    with Model(can=can, how=how) as server, Desk(program, server) as w:
        queue_work(w, server)
        for at in Moment(w, server).each_line(w.push, how):
            failed += w.push()["failed_count"] > 0
            server.heal()
            if w.queue():
                result = w.push()
                assert result["failed_count"] == 0, (at, result)
            is_done(w, server)
    assert failed > 10, failed


def test_noise(program, can):
    """What nobody asked for, in every place, and byte by byte."""
    for chop in (False, True):
        with Model(can=can, noise=NOISE, chop=chop) as server, Desk(program, server) as w:
            queue_work(w, server)
            assert w.push()["failed_count"] == 0
            is_done(w, server)


def test_only_push_changes(program):
    with Model() as server, Desk(program, server) as w:
        queue_work(w, server)
        before = {name: said(box) for name, box in server.boxes.items()}
        for words in (("pull", "--dry-run"), ("pull",), ("pull", "inbox"), ("remote", "test"), ("remote", "folders"), ("push",),
                ("push", "--dry-run"), ("push", "list"), ("status",), ("doctor",)):
            w.ok(*words)
        watcher = w.start("pull", "inbox", "--watch")
        try:
            assert server.idle.wait(60)
        finally:
            watcher.send_signal(signal.SIGTERM)
            watcher.communicate(timeout=120)
        assert "IDLE" in server.commands and not any(command.startswith("SELECT") for command in server.commands)
        for command in server.commands:
            assert command.startswith(READING) and ("BODY" not in command or "BODY.PEEK[" in command), command
        assert before == {name: said(box) for name, box in server.boxes.items()}
        del server.commands[:]
        w.push()
        assert any(not command.startswith(READING) for command in server.commands)
        is_done(w, server)


def test_made_anew(program):
    """The mailbox gets another UIDVALIDITY in the middle of a pull, and before a push."""
    with Model() as server, Desk(program, server) as w:
        server.fill(*(mail(number) for number in range(1, 4)))

        def break_off(session):
            server.boxes["INBOX"].validity += 1
            session.say(b"* 1 FETCH (UID 1 FLAGS () BODY[] {%d}\r\n" % len(mail(1)) + mail(1).encode() + b")")
            session.connection.close()
            raise ConnectionError

        server.on_body = break_off
        error = w.fails("imap_fetch_failed", "pull")
        assert error["retryable"] is True, error
        pull_is_whole(w)
        ids = [row["message_id"] for row in w.ok("triage", "list", "--details")["items"]]
        push_id = w.ok("message", "spam", ids[0])["push_id"]
        server.boxes["INBOX"].validity += 1
        w.failure("imap_uidvalidity_changed")
        assert w.item(push_id)["step_states"][0]["retryable"] is False and len(server.boxes["INBOX"].mails) == 3
        assert not server.boxes["Junk"].mails


def test_wrong_uids(program):
    """Mails that are listed and do not come, others that were not asked for, and one that comes twice."""
    with Model() as server, Desk(program, server) as w:
        server.fill(mail(1), mail(2), mail(3))
        server.boxes["INBOX"].mails[2][1] = mail(2).encode()

        def answer_wrong(session):
            other = mail(8).encode()
            for uid in (4, 77, 4294967295, 4294967296, 0):
                session.say(b"* 9 FETCH (UID %d FLAGS () BODY[] {%d}\r\n" % (uid, len(other)) + other + b")")
            session.say(b"* 1 FETCH (UID 1 FLAGS () BODY[] {%d}\r\n" % len(mail(1)) + mail(1).encode() + b")")
            session.say(b"* 1 FETCH (UID 1 FLAGS () BODY[] NIL)")
            del server.boxes["INBOX"].mails[3]  # it goes while it is asked for

        server.on_body = answer_wrong
        assert w.ok("pull")["new_message_count"] == 2
        assert subjects(w) == ["Mail 1", "Mail 2"]
        again = w.ok("pull")
        assert again["new_message_count"] == again["missing_location_count"] == 0, again
        whole(w)


def test_uses_are_asked_for(program):
    with Model(can=("SPECIAL-USE", "LIST-EXTENDED")) as server, Desk(program, server) as w:
        assert w.ok("pull")["mailbox_names"] == ["INBOX", "Sent", "Archive", "Junk", "Trash"]
        assert 'LIST "" "*" RETURN (SPECIAL-USE)' in server.commands, server.commands


def test_news_in_between(program):
    """Mail that arrives while a pull fetches another is not slept over by the watch."""
    with Model() as server, Desk(program, server) as w:
        server.fill(mail(1))

        def arrive(session):
            server.fill(mail(2))
            session.say("* 2 EXISTS")

        server.on_body = arrive
        watcher = w.start("pull", "inbox", "--watch")
        try:
            seen = []
            while sum(line.get("new_message_count", 0) for line in seen) < 2:
                seen.append(json.loads(watcher.stdout.readline()))
        finally:
            watcher.send_signal(signal.SIGTERM)
            watcher.communicate(timeout=120)
        # While it settles what it took in, the workspace is locked.
        assert subjects(w) == ["Mail 1", "Mail 2"]
        whole(w)


def watched(w, server, events):
    """The lines of a watch, up to these events in this order."""
    watcher, seen = w.start("pull", "inbox", "--watch"), []
    try:
        for event in events:
            while not seen or seen[-1]["event"] != event:
                line = watcher.stdout.readline()
                assert line, (seen, watcher.communicate(timeout=120))
                seen.append(json.loads(line))
            seen.append({"event": None})
    finally:
        watcher.send_signal(signal.SIGTERM)
        out, err = watcher.communicate(timeout=120)
    assert watcher.returncode == 0 and not err, (out, err)
    assert all(command.startswith(READING) for command in server.commands), server.commands
    return json.loads(out.splitlines()[-1])


def test_watch_goes_on(program):
    """The server ends the connection of a watch: with a word, without one, and in the middle of a line; mail came meanwhile."""
    with Model() as server, Desk(program, server) as w:
        ends = iter((b"* BYE autologout\r\n", b"", b"* 2 EXIS"))

        def idle(session, tag, rest, literals):
            end = next(ends, None)
            if end is None:
                return session.do_idle(tag, rest, literals)
            session.say("+ idling")
            server.fill(mail(len(server.boxes["INBOX"].mails) + 1))
            session.send(end)
            raise Gone

        server.instead["idle"] = idle
        total = watched(w, server, ("watching", "waiting", "watching", "waiting", "watching", "waiting", "watching"))
        assert total["new_message_count"] == 3 and subjects(w) == ["Mail 1", "Mail 2", "Mail 3"], total
        whole(w)


def test_watch_takes_what_arrives(program):
    """Mail that arrives is asked for in the mailbox that is open, once; a pull follows. Whatever the server answers, it is there in
    the end, once: also when it tells of others, of some twice, refuses, or goes away."""
    asked = "UID FETCH 2:26 (UID FLAGS BODY.PEEK[])"

    def told(session, uid):
        session.say(f"* 1 FETCH (UID {uid} FLAGS () BODY[] {{{len(mail(2))}}}\r\n{mail(2)})")

    def over_answers(session):
        for uid in (1, 4000000000, 2, 2, 27):
            told(session, uid)

    def breaks(_session):
        raise Gone

    for how, answer in (("well", None), ("over", over_answers), ("no", lambda _: "NO not now"), ("gone", breaks)):
        with Model() as server, Desk(program, server) as w:
            server.fill(mail(1))
            news = [lambda session: (server.fill(mail(2)), session.say("* 2 EXISTS"))]

            def idle(session, *words, news=news):
                session.say("+ idling")
                if news:
                    news.pop()(session)
                line, _ = session.hear()
                server.commands.append(line)

            def fetch(session, tag, rest, literals, answer=answer):
                if rest == asked and answer:
                    return answer(session)
                return session.do_fetch(tag, rest, literals)

            server.instead = {"idle": idle, "fetch": fetch}
            total = watched(w, server, ("watching", "watching"))
            assert total["new_message_count"] == 2 and subjects(w) == ["Mail 1", "Mail 2"], (how, total)
            done = server.commands.index("DONE")
            assert server.commands[done + 1] == asked, (how, server.commands)
            again = [command for command in server.commands[done + 2:] if "BODY.PEEK[]" in command]
            assert len(again) == (how in ("no", "gone")), (how, again)
            whole(w)


def test_watch_does_not_insist(program):
    """A server that does not let us wait, though it said so, is not asked again and again."""
    with Model() as server, Desk(program, server) as w:
        asked = []

        def idle(*_):
            asked.append(len(asked))
            return "NO not now"

        server.instead["idle"] = idle
        watched(w, server, ("watching", "watching"))
        for _ in range(3):
            w.ok("status")
        assert len(asked) == 1, len(asked)


def test_numbers_that_are_none(program):
    """What the server says of where a mail went is not believed when it cannot be."""
    for moved, appended in (("[COPYUID 99999999999 1 4294967296]", "[APPENDUID 7 0]"), ("[COPYUID 7 1 x]", "[APPENDUID x (1)]"),
            ("[COPYUID]", "[APPENDUID 18446744073709551616 1]")):
        with Model() as server, Desk(program, server) as w:
            queue_work(w, server)
            server.instead["move"] = lambda session, *words: session.do_move(*words).replace("OK", f"OK {moved}")
            server.instead["append"] = lambda session, *words: "OK " + appended + session.do_append(*words).partition("]")[2]
            assert w.push()["failed_count"] == 0
            is_done(w, server)
            for name in os.listdir(w.path(".afmail", "messages")):
                if name.endswith(".remote.json"):
                    for at in w.document(".afmail", "messages", name)["locations"]:
                        assert 0 < at["uid"] < 4 and at["uid_validity"] == 7, (moved, at)


def test_odd_flags(program):
    with Model() as server, Desk(program, server) as w:
        server.boxes["INBOX"].add(mail(1).encode(), ("\\Seen", "[x", "$a]b", "body[1]", "NIL"))
        w.ok("pull", "inbox")
        (row,) = w.ok("triage", "list", "--details")["items"]
        flags = w.ok("message", "show", row["message_id"])["flags"]
        assert {"\\Seen", "[x", "$a]b"} <= set(flags), flags
        assert w.ok("pull", "inbox")["flags_updated_count"] == 0
        whole(w)


def test_appends_once(program):
    """Of several messages that are appended, the second is refused, or its answer is lost: the first is not appended again."""
    texts = [mail(1).encode(), mail(2).replace("Message-ID", "X-Other").encode(), mail(3).encode()]
    for refusal in ("refused", "lost", "lost when it was there"):
        with Model() as server, Desk(program, server) as w:
            server.fill(*texts)
            w.ok("config", "set", "actions.message.archive.by_source_mailbox_id.inbox.steps", "--json",
                '[{"append_to_mailbox_id": "archive"}]')
            w.ok("pull", "inbox")
            case = w.case()
            for row in w.ok("triage", "list")["items"]:
                w.ok("case", "add", case, row["message_id"])
            w.ok("case", "archive", case)
            count = []

            def append(session, *words):
                count.append(1)
                if len(count) != 2:
                    return session.do_append(*words)
                if refusal == "refused":
                    return "NO not now"
                if refusal == "lost when it was there":
                    session.do_append(*words)
                raise Gone

            server.instead["append"] = append
            w.failure("imap_append_failed")
            w.done()
            assert sorted(data for _, data in server.boxes["Archive"].mails.values()) == sorted(texts), (refusal, server.boxes["Archive"].mails)
            whole(w)


def test_without_message_id(program, can):
    """Such a mail is moved, and known in its new place; also when the answer to the move was lost."""
    for lost in (False, True):
        with Model(can=can) as server, Desk(program, server) as w:
            text = mail(1).replace("Message-ID", "X-Other").encode()
            server.fill(text, mail(2))
            server.boxes["Trash"].add(text.replace(b"X-Other", b"X-Othes"))
            w.ok("pull", "inbox")
            ids = {row["subject"]: row["message_id"] for row in w.ok("triage", "list", "--details")["items"]}
            w.ok("message", "trash", ids["Mail 1"])

            def lose(session, *words, name="move" if "MOVE" in can else "expunge"):
                server.instead.clear()
                getattr(session, "do_" + name)(*words)
                raise Gone

            if lost:
                server.instead["move" if "MOVE" in can else "expunge"] = lose
                w.failure("imap_move_failed")
            w.done()
            (at,) = w.document(".afmail", "messages", f"{ids['Mail 1']}.remote.json")["locations"]
            assert (at["mailbox_name"], at["uid"]) == ("Trash", 2), (can, lost, at)
            assert [data for _, data in server.boxes["INBOX"].mails.values()] == [mail(2).encode()]
            assert len(server.boxes["Trash"].mails) == 2
            assert w.ok("pull", "inbox", "trash")["new_message_count"] == 1
            whole(w)


def main():
    program = sys.argv[1]
    with Tap() as tap:
        for test in (test_only_push_changes, test_made_anew, test_wrong_uids, test_uses_are_asked_for, test_news_in_between,
                test_watch_goes_on, test_watch_takes_what_arrives,
                test_watch_does_not_insist, test_numbers_that_are_none, test_odd_flags, test_appends_once):
            tap.run(test.__name__, test, program)
        for can in (("MOVE", "UIDPLUS", "IDLE"), ("UIDPLUS", "LITERAL+"), ("MOVE",)):
            tap.run(f"noise everywhere with {' '.join(can)}", test_noise, program, can)
            tap.run(f"a mail without Message-ID with {' '.join(can)}", test_without_message_id, program, can)
        for how in ("bye", "half", "garbage"):
            tap.run(f"a pull breaks at every line: {how}", test_pull_breaks, program, how)
        for how, can in (("bye", ("MOVE", "UIDPLUS")), ("half", ("UIDPLUS", "LITERAL+")), ("drop", ("MOVE",))):
            tap.run(f"a push breaks at every line: {how}, with {' '.join(can)}", test_push_breaks, program, how, can)


if __name__ == "__main__":
    main()
