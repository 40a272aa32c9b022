"""usage: work_pull.py PROGRAM SOURCE - mail pulled from servers that behave, and from one that does not."""

import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from imap_script import Script  # noqa: E402
from mail_server import DOVECOT, PASSWORD, Dovecot  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402


def use(w, port, user="ann"):
    for key, value in (("imap.host", "127.0.0.1"), ("imap.port", str(port)), ("imap.tls", "false"), ("imap.username", user),
            ("imap.password_secret", PASSWORD)):
        w.ok("config", "set", key, value)


def mails(*numbers):
    return {number: mail(number).encode() for number in numbers}


def subjects(w):
    return sorted(item["subject"] for item in w.ok("triage", "list", "--details")["items"])


def whole(w):
    found = w.ok("doctor")
    assert found["ok"], found["issues"]


def odd_servers_are_understood(w):
    """Bytes one by one, responses that nobody asked for, more than was asked for, everything twice."""
    for wrong in ({"chop": True}, {"noise": True}, {"extra": True}, {"twice": True}, {"noise": True, "twice": True}):
        with Workspace(w.program) as own, Script(mails(1, 5, 9), **wrong) as server:
            use(own, server.port)
            result = own.ok("pull", "inbox")
            assert result["new_message_count"] == 3, (wrong, result)
            assert subjects(own) == ["Mail 1", "Mail 5", "Mail 9"], wrong
            again = own.ok("pull", "inbox")
            assert again["new_message_count"] == 0 and again["checked_location_count"] == 3, (wrong, again)
            assert not [command for command in server.commands if command.split()[0] not in
                ("CAPABILITY", "EXAMINE", "UID", "LOGOUT")], server.commands
            assert sum("BODY.PEEK" in command for command in server.commands) == 1, server.commands
            whole(own)


def a_connection_that_ends_loses_nothing(w):
    use(w, 1)
    for wrong, word in (({"bye_at": "EXAMINE"}, "imap_select_failed"), ({"drop_at": "FETCH"}, "imap_fetch_failed"),
            ({"garbage_at": "FETCH"}, "imap_fetch_failed"), ({"bye_at": "BODY"}, "imap_fetch_failed"),
            ({"drop_at": "BODY"}, "imap_fetch_failed"), ({"lies": True, "drop_at": "LOGOUT"}, "imap_fetch_failed")):
        with Script(mails(1, 2), **wrong) as server:
            w.ok("config", "set", "imap.port", str(server.port))
            error = w.fails(word, "pull", "inbox")
            assert error["error"] and error["hint"], error
            status = w.ok("status")["progress"]
            assert status["status"] == "failed" and word in status["summary"], status
            whole(w)
    with Workspace(w.program) as own, Script(mails(*range(1, 70)), echo=True) as server:
        # The end of the first request is told eight times: the next connection goes on behind it.
        use(own, server.port)
        assert own.ok("pull", "inbox")["new_message_count"] == 69
        asked = [command for command in server.commands if "BODY.PEEK" in command]
        assert len(asked) > 3 and len(subjects(own)) == 69, asked
        whole(own)
    with Script(mails(1, 2)) as server:
        w.ok("config", "set", "imap.port", str(server.port))
        w.ok("pull", "inbox")
    assert subjects(w) == ["Mail 1", "Mail 2"]
    whole(w)


def spam_stays_spam_when_a_pull_is_cut_off(w):
    with Script(mails(1, 2, 3), drop_after=1) as server:
        use(w, server.port)
        w.fails("imap_fetch_failed", "pull", "junk")
    assert w.ok("status")["message_status"] == {"spam": 1}, w.ok("status")
    with Script(mails(1, 2, 3)) as server:
        w.ok("config", "set", "imap.port", str(server.port))
        result = w.ok("pull", "junk")
        assert result["new_message_count"] == 2 and result["spam_message_count"] == 2, result
        # Its name is no UTF-8, and still it is the same mailbox the next time.
        again = w.ok("pull", "junk")
        assert again["new_message_count"] == again["updated_location_count"] == again["missing_location_count"] == 0, again
    assert w.ok("status")["message_status"] == {"spam": 3}
    whole(w)


def a_mail_whose_file_is_gone_is_fetched_again(w):
    with Script(mails(1, 2)) as server:
        use(w, server.port)
        w.ok("pull", "inbox")
        (gone,) = [item["message_id"] for item in w.ok("message", "list")["items"] if item["subject"] == "Mail 1"]
        os.unlink(w.path(".afmail", "messages", f"{gone}.eml"))
        assert w.ok("pull", "inbox")["new_message_count"] == 1
        assert subjects(w) == ["Mail 1", "Mail 2"]
        whole(w)
        # All of it is gone, also from the server: other mail goes on.
        for name in (f"{gone}.eml", f"{gone}.remote.json"):
            os.unlink(w.path(".afmail", "messages", name))
        os.unlink(w.path("messages", f"{gone}.json"))
        del server.mails[1]
        server.mails[3] = mail(3).encode()
        assert w.ok("pull", "inbox")["new_message_count"] == 1


def an_answer_refreshes_what_it_answers(w):
    with Script(mails(1)) as server:
        use(w, server.port)
        w.ok("pull", "inbox")
        server.mails[2] = mail(2, reply_to=1).encode()
        w.ok("pull", "inbox")
        whole(w)


def a_newer_layout_is_left_alone(w):
    use(w, 1)
    text = w.read(".afmail", "DO_NOT_EDIT.txt")
    w.put(text.replace("Layout version: 1", "Layout version: 99"), ".afmail", "DO_NOT_EDIT.txt")
    assert "99" in w.fails("store_error", "pull", "inbox")["error"]


def a_login_that_is_refused_is_told(w):
    with Script(refuse_login=True) as server:
        use(w, server.port)
        error = w.fails("imap_login_failed", "pull", "inbox")
        assert error["error"] == "127.0.0.1 refused the login" and error["retryable"] is False, error
        assert w.fails("imap_login_failed", "remote", "test")["error"] == error["error"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    w.ok("config", "set", "imap.port", str(port))
    assert w.fails("imap_connect_failed", "pull", "inbox")["error"].startswith("127.0.0.1: ")


def a_mailbox_that_was_made_anew_is_compared(w):
    with Script(mails(1, 2), validity=7) as server:
        use(w, server.port)
        w.ok("pull", "inbox")
    with Script({11: mail(1).encode(), 12: mail(3).encode()}, validity=8) as server:
        w.ok("config", "set", "imap.port", str(server.port))
        result = w.ok("pull", "inbox")
    assert result["new_message_count"] == 1 and result["updated_location_count"] == 1, result
    assert result["missing_location_count"] == 2 and result["deleted_remote_message_count"] == 1, result
    assert subjects(w) == ["Mail 1", "Mail 3"]
    whole(w)


def what_is_back_comes_back(w):
    with Script(mails(1, 2)) as server:
        use(w, server.port)
        w.ok("pull", "inbox")
        gone = server.mails.pop(1)
        assert w.ok("pull", "inbox")["deleted_remote_message_count"] == 1
        assert subjects(w) == ["Mail 2"] and os.listdir(w.path("deleted"))
        server.mails[3] = gone
        result = w.ok("pull", "inbox")
        assert result["new_message_count"] == 0 and result["updated_location_count"] == 1, result
    assert subjects(w) == ["Mail 1", "Mail 2"]
    whole(w)


def a_real_server_is_only_read(w):
    with Dovecot(["ann"]) as server:
        use(w, server.port)
        for number in range(1, 31):
            server.append("ann", "INBOX", mail(number).encode())
        server.append("ann", "Junk", mail(50).encode(), "\\Seen")
        result = w.ok("pull")
        assert result["new_message_count"] == 31 and result["spam_message_count"] == 1, result
        assert result["mailbox_names"] == ["INBOX", "Sent", "Archive", "Junk", "Trash"], result
        assert w.ok("remote", "test")["capabilities"] == {"move": True}
        folders = w.ok("remote", "folders")
        junk = next(box for box in folders["mailboxes"] if box["mailbox_name"] == "Junk")
        assert junk["special_use"] == "junk" and junk["special_use_source"] == "rfc6154_attribute", junk
        assert [target["kind"] for target in junk["selected_for"]] == ["junk"], junk
        assert [match["source"] for match in junk["special_use_matches"]] == ["rfc6154_attribute", "fallback_name"], junk
        targets = {target["kind"]: target for target in folders["special_use_targets"]}
        assert list(targets) == ["all", "archive", "drafts", "flagged", "junk", "sent", "trash"], targets
        assert targets["sent"]["exists"] and targets["sent"]["source"] == "mailboxes", targets
        assert not targets["all"]["exists"] and targets["all"]["mailbox_name"] == "All Mail", targets
        client = server.client("ann")
        client.select("INBOX", readonly=True)
        _, found = client.search(None, "UNSEEN")
        assert len(found[0].split()) == 30, found
        client.logout()
        assert w.ok("pull")["new_message_count"] == 0
        server.change("ann", "INBOX", "STORE", "3", "+FLAGS", "(\\Flagged)")
        assert w.ok("pull", "inbox")["flags_updated_count"] == 1
        whole(w)


def main():
    program = sys.argv[1]
    with Tap() as tap:
        for test in (odd_servers_are_understood, a_connection_that_ends_loses_nothing,
                spam_stays_spam_when_a_pull_is_cut_off, a_mail_whose_file_is_gone_is_fetched_again,
                an_answer_refreshes_what_it_answers, a_newer_layout_is_left_alone, a_login_that_is_refused_is_told,
                a_mailbox_that_was_made_anew_is_compared, what_is_back_comes_back):
            with Workspace(program) as w:
                tap.run(test.__name__, test, w)
        with Workspace(program) as w:
            if DOVECOT:
                tap.run("a_real_server_is_only_read", a_real_server_is_only_read, w)
            else:
                tap.skip("a_real_server_is_only_read", "dovecot-imapd is not installed")


if __name__ == "__main__":
    main()
