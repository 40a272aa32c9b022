"""usage: work_servers.py PROGRAM - every way into a server, and the same work on servers that can do more or less: Dovecot with and
without its capabilities, and Cyrus. What is left there is looked at with other clients."""

import imaplib
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from certificates import Certificates  # noqa: E402
from cyrus_server import HAS_CYRUS, NO_CYRUS, Cyrus  # noqa: E402
from desk import Desk, mails  # noqa: E402
from mail_server import DOVECOT, PASSWORD, Dovecot, token  # noqa: E402
from smtp_server import HAS_SMTP, Smtp  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import mail  # noqa: E402

MBSYNC = shutil.which("mbsync")


def whole(w):
    found = w.ok("doctor")
    assert found["ok"], found["issues"]


# --- logins ---

def give_token(w, text):
    w.put(text + "\n", "token")
    os.chmod(w.path("token"), 0o600)
    w.ok("config", "set", "imap.token_secret_file", w.path("token"))


def log_in(w, auth):
    w.ok("config", "set", "imap.auth", auth)
    assert w.ok("remote", "test")["ok"] is True


def is_refused(w, *secrets):
    error = w.fails("imap_login_failed", "remote", "test")
    assert error["retryable"] is False and not any(secret in str(error) for secret in secrets), error
    return error


def test_logins(program):
    with Dovecot(["alice"], oauth=True, scram=True) as imap, Desk(program, imap) as w:
        for auth in ("auto", "plain", "login", "scram-sha-256"):
            log_in(w, auth)
        w.ok("config", "set", "imap.password_secret", "wrong-" + PASSWORD)
        for auth in ("auto", "plain", "login", "scram-sha-256"):
            w.ok("config", "set", "imap.auth", auth)
            is_refused(w, "wrong-")
        w.ok("config", "unset", "imap.password_secret")
        give_token(w, token("alice"))
        for auth in ("xoauth2", "oauthbearer", "auto"):
            log_in(w, auth)
        late = token("alice", -60)
        give_token(w, late)
        for auth in ("xoauth2", "oauthbearer"):
            w.ok("config", "set", "imap.auth", auth)
            is_refused(w, late)


def test_smtp_logins(program):
    """Only the mechanism that was set is used, whatever else the server offers."""
    for offered in ("PLAIN", "LOGIN"):
        with Smtp(mechanisms=(offered,)) as smtp, Dovecot(["alice"]) as imap, Desk(program, imap, smtp) as w:
            for auth in ("auto", "plain", "login"):
                w.ok("config", "set", "smtp.auth", auth)
                if auth in ("auto", offered.lower()):
                    assert json.loads(w.tells("remote", "test", "--json"))["smtp"]["login"] is True
                else:
                    assert w.fails("smtp_send_failed", "remote", "test")["retryable"] is False
            w.ok("config", "set", "smtp.auth", "scram-sha-256")
            assert "smtp.auth" in w.fails("config_invalid", "remote", "test")["hint"]


def test_scram_alone(program):
    """Nothing but SCRAM: found out by itself, and used for a whole pull."""
    with Dovecot(["alice"], mechanisms="scram-sha-256") as imap, Desk(program, imap) as w:
        log_in(w, "auto")
        log_in(w, "scram-sha-256")
        assert w.ok("pull")["mailbox_names"] == ["INBOX", "Sent", "Archive", "Junk", "Trash"]
        w.ok("config", "set", "imap.password_secret", "wrong-" + PASSWORD)
        is_refused(w, "wrong-")
    with Dovecot(["alice"]) as imap, Desk(program, imap) as w:
        w.ok("config", "set", "imap.auth", "scram-sha-256")
        assert "does not offer SCRAM-SHA-256" in is_refused(w)["error"]


def test_encrypted_logins(program):
    with Certificates() as certificates, Dovecot(["alice"], certificate=certificates.make(), oauth=True, scram=True) as imap, \
            Desk(program, imap) as w:
        w.ok("config", "set", "imap.ca_file", certificates.ca)
        for tls, port in (("tls", imap.tls_port), ("starttls", imap.port)):
            w.ok("config", "set", "imap.tls", "true" if tls == "tls" else "false")
            w.ok("config", "set", "imap.starttls", "true" if tls == "starttls" else "false")
            w.ok("config", "set", "imap.port", str(port))
            for auth in ("plain", "scram-sha-256"):
                log_in(w, auth)
        give_token(w, token("alice"))
        w.ok("config", "unset", "imap.password_secret")
        for auth in ("xoauth2", "oauthbearer"):
            log_in(w, auth)


# --- compression ---

class Wire:
    """Passes bytes on to a port, and counts those that come back."""

    def __init__(self, port):
        self.to, self.received = port, 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def __enter__(self):
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *ignored):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(20)

    def serve(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.to))
            for pair in ((client, server, False), (server, client, True)):
                threading.Thread(target=self.carry, args=pair, daemon=True).start()

    def carry(self, source, target, is_answer):
        try:
            while data := source.recv(65536):
                target.sendall(data)
                self.received += len(data) if is_answer else 0
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def test_compression(program):
    """Much over an encrypted connection is compressed; it arrives as it was, also when the watch goes on with it."""
    texts = [mail(number, body=f"line {number}\r\n" * 800).encode() for number in range(200)]
    size = sum(map(len, texts))
    with Certificates() as certificates, \
            Dovecot(["alice"], certificate=certificates.make(), compress=True) as imap, Wire(imap.tls_port) as wire:
        imap.fill("alice", texts)
        for tls, is_compressed in (("true", True), ("false", False)):
            with Desk(program, imap) as w:
                if tls == "true":
                    w.ok("config", "set", "imap.ca_file", certificates.ca)
                wire.to = imap.tls_port if tls == "true" else imap.port
                w.ok("config", "set", "imap.port", str(wire.port))
                w.ok("config", "set", "imap.tls", tls)
                wire.received = 0
                assert w.ok("pull")["new_message_count"] == len(texts)
                assert (wire.received < size / 4) is is_compressed, (wire.received, size)
                if is_compressed:
                    kept = [open(w.path(".afmail", "messages", name), "rb").read()
                        for name in os.listdir(w.path(".afmail", "messages")) if name.endswith(".eml")]
                    assert sorted(kept) == sorted(texts)
                    assert w.ok("pull")["new_message_count"] == 0
                    whole(w)


# --- the same work everywhere ---

def name_mailboxes(w):
    """A server that does not say what its mailboxes are for."""
    for name in ("sent", "archive", "junk", "trash", "drafts"):
        w.ok("config", "set", f"mailboxes.{name}.mailbox_name", name.capitalize())


def subjects(found):
    return sorted(line[len("Subject: "):] for _, data in found for line in data.decode().split("\r\n") if line.startswith("Subject: "))


def work(w, imap, smtp, can_move=True):
    """Pull, sort, write, push, and pull again; then what is on the server is what was said."""
    for number in range(1, 7):
        imap.append("alice", "INBOX", mail(number).encode(), "\\Flagged" if number == 2 else "")
    assert w.ok("pull")["new_message_count"] == 6
    ids = {row["subject"]: row["message_id"] for row in w.ok("triage", "list", "--details")["items"]}
    w.ok("message", "spam", ids["Mail 1"])
    w.ok("message", "trash", ids["Mail 2"])
    w.ok("archive", "message", "create", "--name", "Kept", "--message", ids["Mail 3"], "--summary", "s")
    case = w.ok("case", "create", "--name", "In", "--message", ids["Mail 4"])["case_uid"]
    name = w.ok("case", "draft", "reply", case, ids["Mail 4"], "--body", "Yes.")["draft_name"]
    w.ok("case", "draft", "send", case, name)
    saved = w.ok("case", "draft", "new", case, "--subject", "Later", "--body", "Grüße.\n", "--to", "bob@desk.example")["draft_name"]
    w.ok("case", "draft", "save", case, saved)
    result = w.push()
    assert (result["pushed_count"], result["failed_count"]) == ((5, 0) if can_move else (2, 3)), result
    moved = {"Mail 1", "Mail 2", "Mail 3"} if can_move else set()
    assert subjects(mails(imap, "alice", "INBOX")) == sorted({f"Mail {number}" for number in range(1, 7)} - moved)
    flags = {subjects([one])[0]: sorted(one[0]) for one in mails(imap, "alice", "INBOX")}
    assert flags["Mail 4"] == ["\\Answered", "\\Seen"] and flags["Mail 5"] == [], flags
    if can_move:
        ((flags, _),) = mails(imap, "alice", "Trash")
        assert "\\Flagged" in flags and "\\Deleted" not in flags, flags
        ((flags, junk),) = mails(imap, "alice", "Junk")
        assert "$Junk" in flags and junk == mail(1).encode(), flags
        assert subjects(mails(imap, "alice", "Archive")) == ["Mail 3"]
    ((flags, sent),) = mails(imap, "alice", "Sent")
    assert flags == ["\\Seen"] and [one.content for one in smtp.accepted] == [sent + b"\r\n"], flags
    ((flags, draft),) = mails(imap, "alice", "Drafts")
    assert flags == ["\\Draft"] and b"Subject: Later\r\n" in draft, flags
    again = w.ok("pull")
    assert again["new_message_count"] == again["missing_location_count"] == 0, again
    # Somebody else goes on with it there.
    imap.append("alice", "INBOX", mail(9).encode())
    imap.change("alice", "INBOX", "STORE", "5", "+FLAGS", "(\\Seen)")
    imap.change("alice", "INBOX", "STORE", "6", "+FLAGS", "(\\Deleted)")
    again = w.ok("pull")
    assert again["new_message_count"] == again["flags_updated_count"] == again["deleted_remote_message_count"] == 1, again
    assert w.ok("pull")["flags_updated_count"] == 0
    whole(w)


def test_work(program, without):
    with Dovecot(["alice"], without=without, compress="COMPRESS=DEFLATE" not in without) as imap, Smtp() as smtp, \
            Desk(program, imap, smtp) as w:
        if "SPECIAL-USE" in without:
            name_mailboxes(w)
        work(w, imap, smtp, can_move=not {"MOVE", "UIDPLUS"} <= set(without))


def test_young_mail(program):
    """Only what is young, with and without ESEARCH: the server's date of arrival counts."""
    for without in ((), ("ESEARCH",)):
        with Dovecot(["alice"], without=without) as imap, Desk(program, imap) as w:
            client = imap.client("alice")
            for number in range(1, 41):
                arrived = time.time() - (0 if number % 10 < 4 else 9 * 24 * 3600)
                assert client.append("INBOX", None, imaplib.Time2Internaldate(arrived), mail(number).encode())[0] == "OK"
            client.logout()
            result = w.ok("pull", "--since-days", "3")
            assert (result["new_message_count"], result["remaining_message_count"]) == (16, 24), (without, result)
            young = sorted(row["subject"] for row in w.ok("triage", "list", "--details")["items"])
            assert young == sorted(f"Mail {number}" for number in range(1, 41) if number % 10 < 4), young
            assert w.ok("pull", "--all-history")["new_message_count"] == 24
            whole(w)


def test_cyrus(program):
    with Cyrus(["alice"]) as imap, Smtp() as smtp, Desk(program, imap, smtp) as w:
        log_in(w, "auto")
        folders = w.ok("remote", "folders")
        targets = {target["kind"]: target for target in folders["special_use_targets"]}
        assert targets["junk"]["exists"] and targets["junk"]["mailbox_name"] == "Junk", targets
        work(w, imap, smtp)


def test_mbsync(program):
    """Another program that keeps a copy of the same mailboxes has the same mails with the same flags."""
    with Dovecot(["alice"]) as imap, Smtp() as smtp, Desk(program, imap, smtp) as w:
        work(w, imap, smtp)
        copy = os.path.join(w.runtime, "copy")
        os.mkdir(copy)
        with open(os.path.join(w.runtime, "mbsyncrc"), "w", encoding="ascii") as file:
            file.write(f"IMAPStore far\nHost 127.0.0.1\nPort {imap.port}\nUser alice\nPass {PASSWORD}\nSSLType None\nAuthMechs LOGIN\n\n"
                f"MaildirStore near\nPath {copy}/\nInbox {copy}/INBOX\nSubFolders Verbatim\n\nChannel all\nFar :far:\nNear :near:\n"
                "Patterns *\nCreate Near\nSync Pull\nSyncState *\n")
        done = subprocess.run([MBSYNC, "-q", "-c", file.name, "all"], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        for name in ("INBOX", "Sent", "Archive", "Junk", "Trash", "Drafts"):
            local = []
            for folder in ("cur", "new"):
                for entry in os.listdir(os.path.join(copy, name, folder)):
                    with open(os.path.join(copy, name, folder, entry), "rb") as mail_file:
                        kept = [line for line in mail_file.read().replace(b"\r\n", b"\n").split(b"\n") if not line.startswith(b"X-TUID")]
                    local.append(b"\n".join(kept))
            assert sorted(local) == sorted(data.replace(b"\r\n", b"\n") for _, data in mails(imap, "alice", name)), name


def main():
    program = sys.argv[1]
    with Tap() as tap:
        has = DOVECOT and HAS_SMTP
        for test in (test_logins, test_smtp_logins, test_scram_alone, test_encrypted_logins, test_compression, test_young_mail):
            if has or DOVECOT and test is not test_smtp_logins:
                tap.run(test.__name__, test, program)
            else:
                tap.skip(test.__name__, "dovecot-imapd or python3-aiosmtpd is not installed")
        for without in ((), ("CONDSTORE", "QRESYNC"), ("QRESYNC",), ("MOVE",), ("UIDPLUS",), ("MOVE", "UIDPLUS"), ("COMPRESS=DEFLATE",),
                ("SPECIAL-USE",), ("ESEARCH", "LIST-EXTENDED", "LIST-STATUS"), ("LITERAL+", "ENABLE", "IDLE", "SASL-IR")):
            name = "works without " + (" ".join(without) or "losing anything")
            if has:
                tap.run(name, test_work, program, without)
            else:
                tap.skip(name, "dovecot-imapd or python3-aiosmtpd is not installed")
        if HAS_CYRUS and HAS_SMTP:
            tap.run("works with Cyrus", test_cyrus, program)
        else:
            tap.skip("works with Cyrus", NO_CYRUS)
        if has and MBSYNC:
            tap.run("mbsync sees the same", test_mbsync, program)
        else:
            tap.skip("mbsync sees the same", "isync is not installed")


if __name__ == "__main__":
    main()
