"""usage: work_push_server.py PROGRAM - `push --confirm` against a real Dovecot and a real SMTP server: what arrives, what is
moved, what is refused, and that no mail goes twice whatever breaks."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from desk import Desk, mails  # noqa: E402
from mail_server import DOVECOT, Dovecot  # noqa: E402
from smtp_server import HAS_SMTP, Smtp  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import mail  # noqa: E402

POINTS = ("work.push.built", "work.push.step_begun", "smtp.send.content", "smtp.send.end", "smtp.send.answered",
    "work.push.step_done", "work.push.step_saved", "work.push.appended", "work.push.step_begun:2", "work.push.step_done:2",
    "work.push.step_saved:2", "work.push.finishing")


def both(test):
    """Run it with a Dovecot and an SMTP server that delivers into it."""
    def run(program):
        with Dovecot(["alice", "bob"], lmtp=True) as imap, Smtp(lmtp_port=imap.lmtp_port) as smtp:
            test(program, imap, smtp)
    run.__name__ = test.__name__
    return run


@both
def test_send(program, imap, smtp):
    with Desk(program, imap, smtp) as w:
        case = w.case()
        push_id = w.send(case, to=("bob@desk.example", "Bob <BOB@desk.example>", "carol@desk.example"))
        w.done()
        (one,) = smtp.accepted
        assert one.sender == "alice@desk.example" and one.recipients == ["bob@desk.example", "carol@desk.example"], one.recipients
        ((_, arrived),) = mails(imap, "bob", "INBOX")
        assert b"The text.\r\n.dot\r\n" in arrived and arrived.endswith(one.content), arrived
        ((flags, copy),) = mails(imap, "alice", "Sent")
        assert flags == ["\\Seen"] and copy + b"\r\n" == one.content, (flags, copy)
        message_id = "message_sent_" + push_id[len("push_"):]
        with open(w.path(".afmail", "messages", f"{message_id}.eml"), "rb") as file:
            assert file.read() == copy
        shown = w.ok("message", "show", message_id)
        assert shown["direction"] == "outbound" and shown["mailbox_ids"] == [], shown
        assert w.queue() == [] and os.listdir(w.path(".afmail", "push")) == []
        assert w.ok("case", "draft", "list", case)["count"] == 0
        kinds = [event["kind"] for event in w.ok("log", "list")["events"]]
        assert "draft_sent" in kinds and "push_succeeded" in kinds, kinds
        pulled = w.ok("pull")
        assert pulled["new_message_count"] == 0 and pulled["missing_location_count"] == 0, pulled
        assert w.ok("message", "show", message_id)["mailbox_ids"] == ["sent"]


@both
def test_reply(program, imap, smtp):
    imap.append("alice", "INBOX", mail(1).encode() if isinstance(mail(1), str) else mail(1))
    with Desk(program, imap, smtp) as w:
        w.ok("pull")
        (message,) = w.ok("triage", "list")["items"]
        message = message["message_id"] if isinstance(message, dict) else message
        case = w.ok("case", "create", "--name", "In", "--message", message)["case_uid"]
        name = w.ok("case", "draft", "reply", case, message, "--body", "Yes.")["draft_name"]
        w.ok("case", "draft", "save", case, name)
        w.done()
        ((flags, saved),) = mails(imap, "alice", "Drafts")
        assert flags == ["\\Draft"] and b"In-Reply-To: " in saved, (flags, saved)
        assert w.ok("case", "draft", "show", case, name)["body"].startswith("Yes."), "a saved draft stays"
        w.ok("case", "draft", "send", case, name)
        w.done()
        ((flags, _),) = mails(imap, "alice", "INBOX")
        assert sorted(flags) == ["\\Answered", "\\Seen"], flags
        assert w.ok("message", "show", message)["flags"] == ["\\Answered", "\\Seen"]
        assert len(mails(imap, "alice", "Sent")) == 1 and len(smtp.accepted) == 1


@both
def test_refusals(program, imap, smtp):
    """Nothing was accepted: the item fails, stays, and goes when the server has changed its mind."""
    with Desk(program, imap, smtp) as w:
        case = w.case()
        push_id = w.send(case, to=("bob@desk.example", "carol@desk.example"))
        for stage, reply, word, retryable in (("CONNECT", "554 5.3.2 no", "smtp_connect_failed", True),
                ("AUTH", "535 5.7.8 wrong", "smtp_send_failed", False), ("MAIL", "550 5.7.1 not you", "smtp_send_failed", False),
                ("MAIL", "451 4.3.0 later", "smtp_send_failed", True), ("DATA", "554 5.6.0 no", "smtp_send_failed", False),
                ("DOT", "554 5.6.0 spam", "smtp_send_failed", False), ("DOT", "452 4.3.1 full", "smtp_send_failed", True)):
            smtp.refuse(stage, reply)
            failure = w.failure(word)
            smtp.heal()
            state = w.item(push_id)["step_states"][0]
            assert state["status"] == "failed" and state["error_code"] == word, (stage, state)
            assert state["retryable"] is retryable, (stage, reply, state, failure)
        smtp.refuse("RCPT", "550 5.1.1 no such user", "carol@desk.example")
        failure = w.failure("smtp_send_failed")
        assert "refused 1 of 2 recipients, so nobody got the mail: carol@desk.example (550 5.1.1 no such user)" in \
            failure["error"], failure
        smtp.heal()
        for stage in ("CONNECT", "EHLO", "MAIL", "RCPT", "DATA", "BODY"):
            smtp.cut(stage)
            w.push()
            smtp.heal()
            status = w.item(push_id)["step_states"][0]["status"]
            if stage == "BODY" and status == "pending":
                # A short mail may have left whole before the connection is seen to be gone.
                w.ok("push", "recover", push_id, "--not-sent")
            else:
                assert status == "failed", (stage, w.item(push_id))
        assert smtp.accepted == [] and w.item(push_id)["attempt_count"] == 14, w.item(push_id)
        w.done()
        assert len(smtp.accepted) == 1


def test_other_letters(program):
    """An address that is not ASCII goes to a server that can deliver to it, and to no other."""
    for without in ((), ("SMTPUTF8",)):
        with Dovecot(["alice"]) as imap, Smtp(without=without) as smtp, Desk(program, imap, smtp) as w:
            push_id = w.send(w.case(), to=("jürg@desk.example", "bob@desk.example"))
            if without:
                failure = w.failure("smtp_send_failed")
                assert "SMTPUTF8" in failure["error"] and w.item(push_id)["step_states"][0]["retryable"] is False, failure
                assert smtp.accepted == []
            else:
                w.done()
                (one,) = smtp.accepted
                assert one.recipients == ["jürg@desk.example", "bob@desk.example"] and "SMTPUTF8" in one.options, one.recipients


@both
def test_uncertain(program, imap, smtp):
    with Desk(program, imap, smtp) as w:
        case = w.case()
        push_id = w.send(case)
        smtp.cut("ANSWER", times=1)
        w.failure("push_uncertain")
        state = w.item(push_id)["step_states"][0]
        assert state["status"] == "pending" and state["started_rfc3339"] and state["retryable"] is False, state
        failure = w.failure("push_uncertain")
        assert push_id in failure["error"], failure
        assert len(smtp.accepted) == 1, "it was sent again"
        # Another mail with the same Message-ID is not ours.
        sent = smtp.accepted[0].content
        imap.append("alice", "Sent", sent.replace(b"The text.", b"Other text."))
        w.failure("push_uncertain")
        assert w.fails("push_already_started", "push", "drop", push_id)["hint"]
        listed = w.ok("push", "recover")
        assert listed["count"] == 1 and listed["items"][0]["push_id"] == push_id, listed
        assert listed["items"][0]["to"] == ["bob@desk.example"], listed
        w.fails("invalid_request", "push", "recover", push_id)
        settled = w.ok("push", "recover", push_id, "--sent")
        assert settled["outcome"] == "sent" and w.ok("message", "show", settled["message_id"]), settled
        w.done()
        assert len(smtp.accepted) == 1 and [copy + b"\r\n" for _, copy in mails(imap, "alice", "Sent")][1:] == [sent]
        # Not taken, and nobody was told: a person finds out, and it is sent.
        second = w.send(case, subject="Two")
        smtp.cut("DOT", times=1)
        w.failure("push_uncertain")
        w.ok("push", "recover", second, "--not-sent")
        w.done()
        assert len(smtp.accepted) == 2
        # The server keeps what it sends: then it can be seen.
        third = w.send(case, subject="Three")
        smtp.cut("ANSWER", times=1)
        w.failure("push_uncertain")
        imap.append("alice", "Sent", smtp.accepted[-1].content)
        w.done()
        assert len(smtp.accepted) == 3 and len(mails(imap, "alice", "Sent")) == 4, third
        fourth = w.send(case, subject="Four")
        smtp.cut("DOT", times=1)
        w.failure("push_uncertain")
        assert w.push("--resend", fourth)["pushed_count"] == 1
        assert len(smtp.accepted) == 4 and w.ok("push", "recover")["items"] == []


@both
def test_same_bytes(program, imap, smtp):
    """What was sent is what is kept, whatever the draft says later."""
    with Desk(program, imap, smtp) as w:
        case = w.case()
        w.send(case)
        w.ok("config", "set", "imap.port", "1")
        w.failure("imap_connect_failed")
        (one,) = smtp.accepted
        (item,) = w.queue()
        assert [state["status"] for state in item["step_states"]] == ["succeeded", "failed"], item
        assert item["step_states"][1]["retryable"] is True, item
        w.ok("case", "draft", "change", case, item["draft_name"], "--body", "Another text.")
        w.ok("config", "set", "imap.port", str(imap.port))
        w.done()
        assert [copy + b"\r\n" for _, copy in mails(imap, "alice", "Sent")] == [one.content] and len(smtp.accepted) == 1
        assert w.ok("case", "draft", "list", case)["count"] == 1, "what was written since is kept"


def test_moves(program):
    for without in ((), ("MOVE",), ("UIDPLUS",), ("MOVE", "UIDPLUS")):
        with Dovecot(["alice"], without=without) as imap:
            for number in range(3):
                imap.append("alice", "INBOX", mail(number).encode(), "\\Flagged")
            with Desk(program, imap) as w:
                w.ok("pull")
                spam, trash, archive = [row["message_id"] if isinstance(row, dict) else row
                    for row in w.ok("triage", "list")["items"]]
                w.ok("message", "spam", spam)
                w.ok("message", "trash", trash)
                w.ok("archive", "message", "create", "--name", "Kept", "--message", archive, "--summary", "s")
                if len(without) == 2:
                    result = w.push()
                    assert result["failed_count"] == 3, result
                    assert {one["error_code"] for one in result["failures"]} == {"imap_move_unsupported"}, result
                    assert len(mails(imap, "alice", "INBOX")) == 3
                    continue
                w.done(3)
                assert mails(imap, "alice", "INBOX") == []
                ((flags, _),) = mails(imap, "alice", "Junk")
                assert sorted(flags) == ["$Junk", "\\Flagged", "\\Seen"], flags
                for message, box, uid in ((spam, "junk", "Junk"), (trash, "trash", "Trash"), (archive, "archive", "Archive")):
                    (at,) = w.document(".afmail", "messages", f"{message}.remote.json")["locations"]
                    assert at["mailbox_id"] == box and at["mailbox_name"] == uid and at["uid"] == 1, at
                    assert "\\Flagged" in at["flags"], at
                pulled = w.ok("pull")
                assert pulled["new_message_count"] == 0 and pulled["missing_location_count"] == 0, pulled
                # And back again.
                w.ok("message", "restore", trash)
                w.done()
                assert len(mails(imap, "alice", "INBOX")) == 1 and mails(imap, "alice", "Trash") == []


def test_same_message_id(program):
    """A server without MOVE: another mail of the same Message-ID in the target is no reason to delete this one."""
    for crash in (None, "work.push.copied", "work.push.moved"):
        with Dovecot(["alice"], without=("MOVE",)) as imap:
            imap.append("alice", "INBOX", mail(1).encode())
            other = mail(1).encode() + b"Another text.\r\n"
            imap.append("alice", "Trash", other)
            with Desk(program, imap) as w:
                w.ok("pull", "inbox")
                (row,) = w.ok("triage", "list")["items"]
                w.ok("message", "trash", row["message_id"])
                if crash:
                    assert w.afmail("push", "--confirm", env={"MAILROOM_CRASH_AT": crash}).returncode != 0, crash
                w.done()
                assert mails(imap, "alice", "INBOX") == []
                assert sorted(text for _, text in mails(imap, "alice", "Trash")) == sorted([mail(1).encode(), other]), crash
                (at,) = w.document(".afmail", "messages", f"{row['message_id']}.remote.json")["locations"]
                assert (at["mailbox_name"], at["uid"]) == ("Trash", 2), (crash, at)


def test_gone(program):
    with Dovecot(["alice"]) as imap:
        for number in range(3):
            imap.append("alice", "INBOX", mail(number).encode())
        with Desk(program, imap) as w:
            w.ok("pull")
            gone, moved, changed = [row["message_id"] if isinstance(row, dict) else row for row in w.ok("triage", "list")["items"]]
            w.ok("message", "trash", gone)
            uid = w.document(".afmail", "messages", f"{gone}.remote.json")["locations"][0]["uid"]
            imap.change("alice", "INBOX", "STORE", str(uid), "+FLAGS", "(\\Deleted)")
            w.done()
            w.ok("message", "trash", moved)
            uid = w.document(".afmail", "messages", f"{moved}.remote.json")["locations"][0]["uid"]
            imap.change("alice", "INBOX", "MOVE", str(uid), "Trash")
            w.done()
            (at,) = w.document(".afmail", "messages", f"{moved}.remote.json")["locations"]
            assert at["mailbox_name"] == "Trash", at
            # Another number of the mailbox: nothing may be touched.
            push_id = w.ok("message", "trash", changed)["push_id"]
            item = w.item(push_id)
            item["locations"][0]["uid_validity"] += 1
            w.put(json.dumps(item), ".afmail", "push", f"{push_id}.json")
            w.failure("imap_uidvalidity_changed")
            assert w.item(push_id)["step_states"][0]["retryable"] is False
            assert len(mails(imap, "alice", "INBOX")) == 1
            assert w.ok("push", "drop", push_id)["push_id"] == push_id


@both
def test_plan(program, imap, smtp):
    with Desk(program, imap, smtp) as w:
        case = w.case()
        first, second = w.send(case), w.send(case, subject="Two")
        plan = json.loads(w.tells("push", "--json"))["plan_id"]
        (draft,) = [item["draft_name"] for item in w.queue() if item["push_id"] == first]
        w.ok("case", "draft", "change", case, draft, "--body", "Changed.")
        error = w.fails("push_plan_changed", "push", "--confirm", plan)
        assert error["hint"] and not error["retryable"] and smtp.accepted == [], error
        w.fails("push_not_found", "push", "--confirm", "--only", "push_x")
        w.fails("invalid_request", "push", plan)
        w.fails("invalid_request", "push", "--confirm", "--resend", first)
        assert w.push("--only", second)["pushed_count"] == 1 and [item["push_id"] for item in w.queue()] == [first]
        plan = json.loads(w.tells("push", "--json"))["plan_id"]
        assert w.push(plan)["pushed_count"] == 1 and len(smtp.accepted) == 2
        w.send(case, subject="Three")
        assert w.ok("push", "drafts", "--confirm")["pushed_count"] == 0
        assert w.ok("push", "drafts-send", "--confirm")["pushed_count"] == 1


def test_trouble(program):
    """No settings, a full mailbox, one that can only be read: each error with what to do, and the queue as it was."""
    with Desk(program) as w:
        case = w.case()
        push_id = w.send(case)
        w.failure("config_missing")
        item = w.item(push_id)
        assert item["attempt_count"] == 1 and item["step_states"][0]["error_code"] == "config_missing", item
    with Dovecot(["alice"], quota_kib=1) as imap, Smtp() as smtp, Desk(program, imap, smtp) as w:
        w.send(w.case(), body="x" * 4000)
        failure = w.failure("imap_append_failed")
        (item,) = w.queue()
        assert item["step_states"][1]["retryable"] is False and "uota" in failure["error"], (item, failure)
        w.failure("imap_append_failed")
        assert len(smtp.accepted) == 1


@both
def test_crashes(program, imap, smtp):
    """Killed anywhere: nothing is sent twice, nothing is appended twice, and what was not done is still queued."""
    for point in POINTS:
        with Desk(program, imap, smtp) as w:
            before, copies = len(smtp.accepted), len(mails(imap, "alice", "Sent"))
            # Its own subject: a mail that another workspace sent in the same second has the same Message-ID.
            push_id = w.send(w.case(), subject=point)
            done = w.afmail("push", "--confirm", env={"MAILROOM_CRASH_AT": point})
            assert done.returncode != 0, f"{point} was not passed"
            if any(item["push_id"] == push_id for item in w.queue()):
                result = w.push()
                if result["failed_count"]:
                    assert result["failures"][0]["error_code"] == "push_uncertain", (point, result)
                    sent = len(smtp.accepted) > before
                    w.ok("push", "recover", push_id, "--sent" if sent else "--not-sent")
                    w.done()
            assert w.queue() == [], point
            assert len(smtp.accepted) == before + 1, f"{point}: sent {len(smtp.accepted) - before} times"
            assert len(mails(imap, "alice", "Sent")) == copies + 1, f"{point}: not one copy"
            assert w.ok("doctor")["error_count"] == 0, (point, w.ok("doctor"))


def main():
    program = sys.argv[1]
    with Tap() as tap:
        for test in (test_send, test_reply, test_refusals, test_other_letters, test_uncertain, test_same_bytes, test_moves, test_same_message_id,
                test_gone, test_plan, test_trouble, test_crashes):
            if DOVECOT and HAS_SMTP:
                tap.run(test.__name__, test, program)
            else:
                tap.skip(test.__name__, "dovecot-imapd or python3-aiosmtpd is not installed")


if __name__ == "__main__":
    main()
