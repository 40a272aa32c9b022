"""usage: work_trouble.py PROGRAM - whatever is wrong with the servers, the way there, or our disk: the error has its word, says what
to do and whether trying again helps, nothing is lost, and what was queued is still queued."""

import contextlib
import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from certificates import Certificates  # noqa: E402
from desk import Desk  # noqa: E402
from imap_script import Script  # noqa: E402
from mail_server import DOVECOT, Dovecot  # noqa: E402
from smtp_server import HAS_SMTP, Smtp  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import mail  # noqa: E402


class Silent:
    """Takes connections and never says a word."""

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.taken = []
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return self

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                self.taken.append(self.socket.accept()[0])

    def __exit__(self, *ignored):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(20)
        for one in self.taken:
            one.close()


def closed_port():
    """Nobody listens there."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        return str(one.getsockname()[1])


def told(title, error, retryable, *words, hint):
    """Show what a user reads, and check it."""
    print(f"# {title}: {error['error_code']}, {'try again' if error.get('retryable') else 'not by trying again'}\n"
        f"#   {error['error']}\n#   {error.get('hint')}")
    assert error.get("retryable", False) is retryable, (title, error)
    for word in words:
        assert word in error["error"], (title, word, error)
    assert hint in error.get("hint", ""), (title, hint, error)


def settings(w, **values):
    for key, value in values.items():
        w.ok("config", "set", key.replace("__", "."), value)


def encrypted(w, server, ca, host="localhost"):
    settings(w, imap__host=host, imap__port=str(server.tls_port), imap__tls="true", imap__ca_file=ca)


# --- pull ---

def pull_host_unreachable(program):
    with Desk(program, None) as w:
        settings(w, imap__host="127.0.0.1", imap__port=closed_port(), imap__tls="false", imap__username="alice",
            imap__password_secret="secret")
        told("nobody listens", w.fails("imap_connect_failed", "pull"), True, "127.0.0.1", hint="imap.host and imap.port")
        settings(w, imap__host="no-such-host.invalid")
        told("no such host", w.fails("imap_connect_failed", "pull"), True, "no-such-host.invalid", hint="imap.host and imap.port")


def pull_login_refused(program):
    with Dovecot(["alice"]) as imap, Desk(program, imap) as w:
        settings(w, imap__password_secret="wrong")
        told("wrong password", w.fails("imap_login_failed", "pull"), False, "refused the login", hint="imap.username")


def pull_certificate(program):
    with Certificates() as made, Desk(program, None) as w:
        settings(w, imap__username="alice", imap__password_secret="secret")
        for title, files, ca in (("expired certificate", made.expired(), made.ca),
                ("certificate of another host", made.of_another_host(), made.ca), ("unknown authority", made.make(), None)):
            with Dovecot(["alice"], certificate=files) as imap:
                settings(w, imap__host="localhost", imap__port=str(imap.tls_port), imap__tls="true")
                if ca:
                    settings(w, imap__ca_file=ca)
                else:
                    w.ok("config", "unset", "imap.ca_file")
                told(title, w.fails("imap_tls_failed", "pull"), False, "certificate", hint="imap.ca_file")


def pull_silent_server(program):
    with Desk(program, None) as w:
        settings(w, imap__host="127.0.0.1", imap__tls="false", imap__username="ann", imap__password_secret="secret",
            imap__timeout_s="1")
        with Silent() as server:
            settings(w, imap__port=str(server.port))
            told("no greeting", w.fails("imap_connect_failed", "pull"), True, "did not answer in time", hint="imap.timeout_s")
        hold = threading.Event()
        with Script({1: mail(1).encode()}, hold=hold) as server:
            settings(w, imap__port=str(server.port))
            told("no mail", w.fails("imap_fetch_failed", "pull", "inbox"), True, "did not answer in time", hint="imap.timeout_s")
            hold.set()
        assert w.ok("status")["message_status"] == {}


def pull_mailbox_gone(program):
    with Dovecot(["alice"]) as imap, Desk(program, imap) as w:
        client = imap.client("alice")
        client.create("Projects")
        client.append("Projects", None, None, mail(1).encode())
        settings(w, mailboxes__archive__mailbox_name="Projects")
        assert w.ok("pull", "archive")["new_message_count"] == 1
        client.rename("Projects", "Old")
        client.logout()
        told("mailbox renamed", w.fails("imap_select_failed", "pull", "archive"), False, hint="afmail remote folders")
        assert w.ok("pull", "inbox")["deleted_remote_message_count"] == 0
        settings(w, mailboxes__archive__mailbox_name="Old")
        assert w.ok("pull", "archive")["new_message_count"] == 0


def pull_disk_full(program):
    with Dovecot(["alice"]) as imap, Desk(program, imap) as w:
        for number in range(1, 4):
            imap.append("alice", "INBOX", mail(number).encode())
        for point in ("fs.write", "fs.sync"):
            error = w.fails("store_error", "pull", env={"MAILROOM_FAIL_AT": f"{point}:ENOSPC"})
            told(f"disk full ({point})", error, False, "No space left on device", hint="Make room")
        assert w.ok("pull")["new_message_count"] == 3 and w.ok("doctor")["issue_count"] == 0


# --- push ---

def failed(w, word, push_id, step=None):
    """The failure of the only item, which is still queued with what went wrong."""
    failure = w.failure(word)
    (item,) = w.queue()
    assert item["push_id"] == push_id and item["last_error"] == failure["error"], item
    if step is not None:
        state = item["step_states"][step]
        assert (state["status"], state["error_code"], state.get("retryable", False)) == ("failed", word, failure.get("retryable", False)), state
    return failure


def push_server_full(program):
    with Dovecot(["alice"], quota_kib=2) as imap, Smtp() as smtp, Desk(program, imap, smtp) as w:
        push_id = w.send(w.case(), body="x" * 4000)
        told("mailbox full", failed(w, "imap_append_failed", push_id, 1), False, "uota", hint="Make room")
        failed(w, "imap_append_failed", push_id, 1)
        assert len(smtp.accepted) == 1


def push_read_only(program):
    """The mailbox from which a mail is moved can only be read, or the one to which it is moved."""
    for read_only, word in (("INBOX", "imap_store_failed"), ("Junk", "imap_move_failed")):
        with Dovecot(["alice"], read_only=(read_only,)) as imap, Desk(program, imap) as w:
            imap.fill("alice", [mail(1).encode()])
            w.ok("pull")
            push_id = w.ok("message", "spam", w.triage()["Mail 1"])["push_id"]
            told(f"{read_only} can only be read", failed(w, word, push_id), False, hint="may not change this mailbox")
            assert len(imap.mails("alice")) == 1


def push_mailbox_gone(program):
    with Dovecot(["alice"], uses=("Drafts", "Sent", "Archive", "Trash")) as imap, Desk(program, imap) as w:
        client = imap.client("alice")
        client.create("Projects")
        client.append("Projects", None, None, mail(1).encode())
        settings(w, mailboxes__archive__mailbox_name="Projects")
        w.ok("pull", "archive", "inbox")
        (message,) = w.ok("message", "list")["items"]
        push_id = w.ok("message", "trash", message["message_id"])["push_id"]
        client.rename("Projects", "Old")
        told("its mailbox renamed", failed(w, "imap_select_failed", push_id), False, hint="afmail remote folders")
        client.rename("Old", "Projects")
        settings(w, mailboxes__trash__mailbox_name="Nowhere")
        told("the target gone", failed(w, "imap_move_failed", push_id), False, hint="afmail remote folders")
        settings(w, mailboxes__trash__mailbox_name="Trash")
        w.done()
        client.logout()
        assert len(imap.mails("alice", "Trash")) == 1


def push_imap_trouble(program):
    """The mail is sent once, whatever keeps its copy from Sent."""
    with Certificates() as made, Dovecot(["alice"]) as imap, Smtp() as smtp, Desk(program, imap, smtp) as w:
        push_id = w.send(w.case())
        settings(w, imap__port=closed_port(), imap__timeout_s="1")
        told("nobody listens", failed(w, "imap_connect_failed", push_id, 1), True, hint="imap.host and imap.port")
        settings(w, imap__port=str(imap.port), imap__password_secret="wrong")
        told("wrong password", failed(w, "imap_login_failed", push_id, 1), False, hint="imap.username")
        settings(w, imap__password_secret="secret")
        with Dovecot(["alice"], certificate=made.expired()) as other:
            settings(w, imap__host="localhost", imap__port=str(other.tls_port), imap__tls="true", imap__ca_file=made.ca)
            told("expired certificate", failed(w, "imap_tls_failed", push_id, 1), False, "certificate", hint="imap.ca_file")
        settings(w, imap__host="127.0.0.1", imap__tls="false")
        with Silent() as server:
            settings(w, imap__port=str(server.port))
            told("no greeting", failed(w, "imap_connect_failed", push_id, 1), True, "in time", hint="imap.timeout_s")
        settings(w, imap__port=str(imap.port))
        w.done()
        assert len(smtp.accepted) == 1 and len(imap.mails("alice", "Sent")) == 1


def push_smtp_trouble(program):
    with Certificates() as made, Dovecot(["alice"]) as imap, Smtp() as smtp, Desk(program, imap, smtp) as w:
        push_id = w.send(w.case())
        settings(w, smtp__port=closed_port(), smtp__timeout_s="1")
        told("nobody listens", failed(w, "smtp_connect_failed", push_id, 0), True, hint="smtp.host and smtp.port")
        settings(w, smtp__port=str(smtp.port), smtp__password_secret="wrong")
        told("wrong password", failed(w, "smtp_send_failed", push_id, 0), False, "refused the login", hint="smtp.username")
        settings(w, smtp__password_secret="secret", smtp__host="localhost")
        for title, files in (("expired certificate", made.expired()), ("certificate of another host", made.of_another_host())):
            for tls in ("starttls", "wrapper"):
                with Smtp(tls=tls, certificate=files) as other:
                    settings(w, smtp__port=str(other.port), smtp__starttls=str(tls == "starttls").lower(),
                        smtp__tls_wrapper=str(tls == "wrapper").lower(), smtp__ca_file=made.ca)
                    told(f"{title}, {tls}", failed(w, "smtp_connect_failed", push_id, 0), False, "certificate",
                        hint="smtp.ca_file")
                    assert other.accepted == []
        settings(w, smtp__host="127.0.0.1", smtp__starttls="false", smtp__tls_wrapper="false")
        with Silent() as server:
            settings(w, smtp__port=str(server.port))
            told("no greeting", failed(w, "smtp_connect_failed", push_id, 0), True, "in time", hint="smtp.timeout_s")
        settings(w, smtp__port=str(smtp.port))
        held = smtp.hold("MAIL")
        told("no answer", failed(w, "smtp_send_failed", push_id, 0), True, "in time", hint="smtp.timeout_s")
        held.go.set()
        smtp.heal()
        w.done()
        assert len(smtp.accepted) == 1


def push_disk_full(program):
    """Before anything, after the mail was sent, and after its copy was made: what cannot be written down is not done twice."""
    with Dovecot(["alice"]) as imap, Smtp() as smtp, Desk(program, imap, smtp) as w:
        case = w.case()
        log = os.path.join(w.runtime, "passed")
        w.send(case)
        w.ok("push", "--confirm", env={"MAILROOM_CRASH_LOG": log})
        with open(log, encoding="ascii") as file:
            count = file.read().split().count("fail:fs.write")
        assert count > 5, count
        for number in range(1, count + 1):
            sent, copies = len(smtp.accepted), len(imap.mails("alice", "Sent"))
            push_id = w.send(case, subject=f"Number {number}")
            done = w.afmail("push", "--confirm", env={"MAILROOM_FAIL_AT": f"fs.write:ENOSPC:{number}"})
            if done.returncode and number in (1, count // 2):
                told("disk full", w.error_of(done), False, "No space left", hint="Make room")
            for _ in range(2):
                for failure in w.push()["failures"]:
                    assert failure["error_code"] == "push_uncertain", failure
                    w.ok("push", "recover", push_id, "--sent" if len(smtp.accepted) > sent else "--not-sent")
            assert w.queue() == [] and len(smtp.accepted) == sent + 1, number
            assert len(imap.mails("alice", "Sent")) == copies + 1, number
        assert w.ok("doctor")["issue_count"] == 0, w.ok("doctor")


def main():
    program = sys.argv[1]
    with Tap() as tap:
        for test in (pull_host_unreachable, pull_login_refused, pull_certificate, pull_silent_server, pull_mailbox_gone,
                pull_disk_full, push_server_full, push_read_only, push_mailbox_gone, push_imap_trouble, push_smtp_trouble,
                push_disk_full):
            if DOVECOT and HAS_SMTP:
                tap.run(test.__name__.replace("_", " "), test, program)
            else:
                tap.skip(test.__name__, "dovecot-imapd or python3-aiosmtpd is not installed")


if __name__ == "__main__":
    main()
