"""usage: work_pull_sync.py PROGRAM SOURCE - pulls that ask only for what changed, within limits, beside other commands, and
that stay and watch."""

import json
import os
import signal
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from imap_script import Script  # noqa: E402
from mail_server import DOVECOT, PASSWORD, Dovecot  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402

READING = ("CAPABILITY", "ENABLE", "LIST", "EXAMINE", "UID FETCH", "UID SEARCH", "IDLE", "DONE", "NOOP", "LOGOUT")


def use(w, port, user="ann"):
    for key, value in (("imap.host", "127.0.0.1"), ("imap.port", str(port)), ("imap.tls", "false"), ("imap.username", user),
            ("imap.password_secret", PASSWORD)):
        w.ok("config", "set", key, value)


def subjects(w):
    return sorted(item["subject"] for item in w.ok("triage", "list", "--details")["items"])


def whole(w):
    found = w.ok("doctor")
    assert found["ok"], found["issues"]


def follow(w, without):
    """New mail, other flags, and mail that is gone, on a server without these capabilities."""
    with Dovecot(["ann"], without=without) as server:
        use(w, server.port)
        if "SPECIAL-USE" in without:
            for name in ("sent", "archive", "junk", "trash"):
                w.ok("config", "set", f"mailboxes.{name}.mailbox_name", name.capitalize())
        for number in range(1, 31):
            server.append("ann", "INBOX", mail(number).encode())
        assert w.ok("pull")["new_message_count"] == 30
        quiet = w.ok("pull")
        for name in ("new_message_count", "flags_updated_count", "missing_location_count", "updated_location_count"):
            assert quiet[name] == 0, (without, name, quiet)
        assert quiet["checked_location_count"] == 30, quiet
        server.change("ann", "INBOX", "STORE", "3,4", "+FLAGS", "(\\Flagged)")
        server.change("ann", "INBOX", "STORE", "7", "+FLAGS", "(\\Deleted)")
        server.append("ann", "INBOX", mail(31).encode())
        result = w.ok("pull")
        assert result["new_message_count"] == 1 and result["flags_updated_count"] == 2, (without, result)
        assert result["missing_location_count"] == result["deleted_remote_message_count"] == 1, (without, result)
        assert subjects(w) == sorted(f"Mail {number}" for number in range(1, 32) if number != 7), without
        # What was known of the server is forgotten: everything is compared, and nothing is new.
        os.unlink(w.path(".afmail", "index.sqlite.sync.json"))
        again = w.ok("pull")
        assert again["new_message_count"] == again["flags_updated_count"] == again["missing_location_count"] == 0, again
        whole(w)


def a_broken_sidecar_stops_no_other_mail(w, **server):
    """Its own news waits until the file is mended, also where the server tells only of changes."""
    with Dovecot(["ann"], **server) as dovecot:
        use(w, dovecot.port)
        for number in (1, 2, 3):
            dovecot.append("ann", "INBOX", mail(number).encode())
        w.ok("pull", "inbox")
        ids = {item["subject"]: item["message_id"] for item in w.ok("message", "list")["items"]}
        broken = ids["Mail 1"]
        place = (".afmail", "messages", f"{broken}.remote.json")
        good = w.read(*place)
        for forget in (False, True):  # the index knows the message, or cannot read it
            flag = "\\Answered" if forget else "\\Flagged"
            w.put(good[:20], *place)
            if forget:
                os.unlink(w.path(".afmail", "index.sqlite"))
            dovecot.change("ann", "INBOX", "STORE", "1,2", "+FLAGS", f"({flag})")
            new = mail(5 if forget else 4).encode()
            dovecot.append("ann", "INBOX", new)
            result = w.ok("pull", "inbox")
            assert result["new_message_count"] == result["failed_message_count"] == 1, result
            assert result["failed_messages"][0].startswith(f"{broken}: .afmail/messages/{broken}.remote.json"), result
            assert w.read(*place) == good[:20]
            again = w.ok("pull", "inbox")
            assert again["new_message_count"] == 0 and again["failed_message_count"] == 1, again
            told = w.tells("pull", "inbox")
            assert "1 mail could not be taken in or brought up to date:\n" in told and f"\n  {broken}: .afmail/" in told, told
            if forget:  # without the file, doctor writes it from what the record remembers
                os.unlink(w.path(*place))
                w.ok("doctor", "repair", "--confirm")
            else:
                w.put(good, *place)
            healed = w.ok("pull", "inbox")
            assert healed["new_message_count"] == healed["failed_message_count"] == 0, healed
            for subject in ("Mail 1", "Mail 2"):
                (at,) = w.document(".afmail", "messages", f"{ids[subject]}.remote.json")["locations"]
                assert flag in at["flags"] and not at.get("missing_rfc3339"), (subject, at)
            whole(w)
        assert subjects(w) == [f"Mail {number}" for number in range(1, 6)]


def limits_leave_mail_for_the_next_time(w):
    with Script({number: mail(number).encode() for number in range(1, 8)}) as server:
        use(w, server.port)
        looked = w.ok("pull", "inbox", "--dry-run")
        assert looked["dry_run"] and looked["new_message_count"] == 7, looked
        assert subjects(w) == [] and not os.path.exists(w.path(".afmail", "index.sqlite.sync.json"))
        first = w.ok("pull", "inbox", "--max-new-messages", "3")
        assert first["new_message_count"] == 3 and first["remaining_message_count"] == 4, first
        assert subjects(w) == ["Mail 1", "Mail 2", "Mail 3"]
        size = len(server.mails[4]) + len(server.mails[5])
        second = w.ok("pull", "inbox", "--max-total-bytes", str(size))
        assert second["new_message_count"] == 2 and second["remaining_message_count"] == 2, second
        server.young = {7}
        third = w.ok("pull", "inbox", "--since-days", "3")
        assert third["new_message_count"] == 1 and third["remaining_message_count"] == 1, third
        assert any(command.startswith("UID SEARCH SINCE ") for command in server.commands), server.commands
        # One that is larger than the budget stays, and stands in nobody's way.
        server.mails[6] += b"x" * 1000
        server.mails[8] = mail(8).encode()
        fourth = w.ok("pull", "inbox", "--max-total-bytes", "900")
        assert fourth["new_message_count"] == 1 and fourth["remaining_message_count"] == 1, fourth
        assert w.ok("pull", "inbox", "--all-history")["new_message_count"] == 1
        assert len(subjects(w)) == 8
        w.fails("invalid_request", "pull", "inbox", "--since-days", "3", "--all-history")
        assert all(command.startswith(READING) for command in server.commands), server.commands
        whole(w)


def others_work_while_the_server_is_waited_for(w):
    go = threading.Event()
    with Script({1: mail(1).encode(), 2: mail(2).encode()}, hold=go) as server:
        use(w, server.port)
        pull = w.start("pull", "inbox")
        assert server.held.wait(60)
        w.ok("case", "create", "--name", "Meanwhile")
        assert w.ok("status")["progress"]["status"] == "running"
        w.fails("workspace_locked", "pull", "inbox")
        go.set()
        out, _ = pull.communicate(timeout=120)
        assert pull.returncode == 0 and json.loads(out)["new_message_count"] == 2, out
        assert subjects(w) == ["Mail 1", "Mail 2"]
        whole(w)


def one_id_does_not_hide_another_mail(w):
    other = mail(1).replace("Subject: Mail 1", "Subject: Another").encode()
    with Script({1: mail(1).encode(), 2: other, 3: mail(1).encode(), 4: mail(2).encode()}) as server:
        use(w, server.port)
        result = w.ok("pull", "inbox")
        assert result["new_message_count"] == 3 and result["updated_location_count"] == 1, result
        assert subjects(w) == ["Another", "Mail 1", "Mail 2"]
        assert w.ok("pull", "inbox")["updated_location_count"] == 0
        whole(w)


def a_connection_that_breaks_is_resumed(w):
    with Script({number: mail(number).encode() for number in range(1, 12)}, drop_each=4) as server:
        use(w, server.port)
        result = w.ok("pull", "inbox")
        assert result["new_message_count"] == 11 and result["updated_location_count"] == 0, result
        assert server.sent == sorted(server.mails), server.sent  # each of them once
        whole(w)


def mail_is_pulled_as_it_arrives(w, **server):
    with Dovecot(["ann"], **server) as dovecot:
        use(w, dovecot.port)
        dovecot.append("ann", "INBOX", mail(1).encode())
        watcher = w.start("pull", "inbox", "--watch")
        try:
            seen = []
            while not seen or seen[-1]["event"] != "watching":
                seen.append(json.loads(watcher.stdout.readline()))
            assert seen[0]["event"] == "pulled" and seen[0]["new_message_count"] == 1, seen
            dovecot.append("ann", "INBOX", mail(2).encode())
            while sum(line.get("new_message_count", 0) for line in seen) < 2:
                seen.append(json.loads(watcher.stdout.readline()))
            assert subjects(w) == ["Mail 1", "Mail 2"]
        finally:
            watcher.send_signal(signal.SIGTERM)
            out, err = watcher.communicate(timeout=120)
        assert watcher.returncode == 0 and not err, (out, err)
        assert json.loads(out.splitlines()[-1])["new_message_count"] == 2, out
        whole(w)


def main():
    program = sys.argv[1]
    with Tap() as tap:
        for test in (limits_leave_mail_for_the_next_time, others_work_while_the_server_is_waited_for,
                one_id_does_not_hide_another_mail, a_connection_that_breaks_is_resumed):
            with Workspace(program) as w:
                tap.run(test.__name__, test, w)
        for without in ((), ("QRESYNC",), ("CONDSTORE", "QRESYNC"), ("MOVE",), ("UIDPLUS",), ("ESEARCH",), ("SPECIAL-USE",),
                ("LITERAL+", "LIST-STATUS", "ENABLE")):
            name = "follows a server without " + (" ".join(without) or "nothing")
            with Workspace(program) as w:
                if DOVECOT:
                    tap.run(name, follow, w, without)
                else:
                    tap.skip(name, "dovecot-imapd is not installed")
        with Workspace(program) as w:
            if DOVECOT:
                tap.run("a broken sidecar stops no other mail", a_broken_sidecar_stops_no_other_mail, w)
            else:
                tap.skip("a broken sidecar stops no other mail", "dovecot-imapd is not installed")
        with Workspace(program) as w:
            if DOVECOT:
                tap.run("mail is pulled as it arrives", mail_is_pulled_as_it_arrives, w)
            else:
                tap.skip("mail is pulled as it arrives", "dovecot-imapd is not installed")


if __name__ == "__main__":
    main()
