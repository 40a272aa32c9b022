"""usage: work_setup.py PROGRAM - `setup` and `remote test` against a real Dovecot and a real SMTP server: what is asked, tried,
kept and refused, and that nothing is written before both have let us in."""

import json
import os
import pty
import re
import select
import stat
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from certificates import Certificates  # noqa: E402
from mail_server import DOVECOT, PASSWORD, Dovecot, token  # noqa: E402
from smtp_server import HAS_SMTP, Smtp  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402

ADDRESS = "alice@desk.example"


class Desk(Workspace):
    """A workspace that is not connected yet."""

    def __init__(self, program, imap=None, smtp=None):
        super().__init__(program)
        self.imap, self.smtp = imap, smtp

    def at(self):
        """The options that name the two servers."""
        words = []
        for name, server in (("imap", self.imap), ("smtp", self.smtp)):
            if server:
                words += [f"--{name}-host", "127.0.0.1", f"--{name}-port", str(server.port), f"--{name}-security", "none"]
        return words

    def setup(self, *args, stdin=PASSWORD + "\n", **options):
        return self.ok("setup", ADDRESS, *self.at(), *args, stdin=stdin, **options)

    def refused(self, word, *args, stdin=PASSWORD + "\n", **options):
        """It fails, and the workspace is as it was."""
        before = self.read(".afmail", "config.json")
        error = self.fails(word, "setup", *args, stdin=stdin, **options)
        assert self.read(".afmail", "config.json") == before
        assert not os.path.exists(self.own_file()), "a password was kept"
        no_secret(json.dumps(error))
        return error

    def own_file(self):
        return os.path.join(self.dir, ".config/mailroom", f"{ADDRESS}.password")

    def config(self):
        return self.document(".afmail", "config.json")

    def works(self, **options):
        """The configuration that was written leads to both servers."""
        assert self.ok("remote", "test", **options)["ok"]


def no_secret(text):
    """The password is a word that we also use: in names of members, and in "the secret"."""
    assert not re.search(rf"(?<!the )\b{PASSWORD}\b(?!-tool)", text), text


def both(test):
    def run(program):
        with Dovecot(["alice", "bob"], lmtp=True) as imap, Smtp(lmtp_port=imap.lmtp_port) as smtp:
            with Desk(program, imap, smtp) as w:
                test(w)
            assert smtp.commands and not [said for said in smtp.commands if said.split()[0] in ("MAIL", "RCPT", "DATA")], smtp.commands
    run.__name__ = test.__name__
    return run


@both
def test_standard_input(w):
    told = w.setup("--password-stdin", "--name", "Alice")
    no_secret(json.dumps(told))
    assert told["imap"] == {"host": "127.0.0.1", "port": w.imap.port, "security": "none", "username": ADDRESS}, told
    assert told["smtp"] == {"host": "127.0.0.1", "port": w.smtp.port, "security": "none", "username": ADDRESS}, told
    assert (told["password_place"], told["password_where"], told["provider"]) == \
        ("file", f"~/.config/mailroom/{ADDRESS}.password", None), told
    assert stat.S_IMODE(os.stat(w.own_file()).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(w.own_file())).st_mode) == 0o700
    config = w.config()
    assert config["identities"] == [{"default": True, "email": ADDRESS, "identity": "me", "name": "Alice"}], config["identities"]
    assert config["imap"]["password_secret"] is None and config["imap"]["tls"] is False, config["imap"]
    w.works()
    assert w.ok("pull")["mailbox_count"] == 5
    # A second time, with another name: nothing else changes.
    told = w.setup("--password-stdin", "--name", "Alice Lee")
    config["identities"][0]["name"] = "Alice Lee"
    assert told["name"] == "Alice Lee" and w.config() == config


@both
def test_places(w):
    """Each place a password can be in; each takes that of the others away."""
    path = os.path.join(w.runtime, "password")
    w.refused("config_missing", ADDRESS, *w.at(), "--password-file", path)
    with open(path, "w", encoding="ascii") as file:
        file.write(PASSWORD + "\n")
    os.chmod(path, 0o640)
    error = w.refused("config_invalid", ADDRESS, *w.at(), "--password-file", path)
    assert "mode is 0640" in error["error"] and f"chmod 600 {path}" in error["hint"], error
    os.chmod(path, 0o600)
    assert w.setup("--password-file", path)["password_place"] == "file"
    assert w.config()["smtp"]["password_secret_file"] == path
    w.works()

    env = {"DESK_MAIL_SECRET": PASSWORD}
    w.refused("config_missing", ADDRESS, *w.at(), "--password-env", "DESK_MAIL_SECRET")
    w.refused("config_invalid", ADDRESS, *w.at(), "--password-env", "PASSWORD", env={"PASSWORD": PASSWORD})
    told = w.setup("--password-env", "DESK_MAIL_SECRET", env=env)
    assert (told["password_place"], told["password_where"]) == ("environment", "DESK_MAIL_SECRET"), told
    assert w.config()["imap"]["password_secret_env"] == "DESK_MAIL_SECRET" and "password_secret_file" not in w.config()["imap"]
    w.works(env=env)
    # The variable is for later when the password comes by standard input.
    assert "DESK_MAIL_SECRET" in w.setup("--password-env", "DESK_MAIL_SECRET", "--password-stdin")["hint"]

    told = w.setup("--password-command", f"cat {path}")
    assert (told["password_place"], told["password_where"]) == ("command", "cat"), told
    assert w.config()["imap"]["password_secret_command"] == ["cat", path]
    w.works()

    told = w.setup("--inline-password", "--password-stdin")
    no_secret(json.dumps(told))
    assert told["password_place"] == "configuration" and w.config()["imap"]["password_secret"] == PASSWORD
    w.works()
    error = w.refused("invalid_request", ADDRESS, *w.at(), "--inline-password", "--password-file", path, "--password-stdin")
    assert "one place" in error["error"], error


@both
def test_keyring(w):
    """The desktop's keyring, played by a program of the same name."""
    bin_dir, kept = os.path.join(w.runtime, "bin"), os.path.join(w.runtime, "kept")
    os.mkdir(bin_dir)
    with open(os.path.join(bin_dir, "secret-tool"), "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\ncase $1 in store) cat >"{kept}" ;; *) cat "{kept}" ;; esac\n')
    os.chmod(os.path.join(bin_dir, "secret-tool"), 0o755)
    env = {"PATH": f"{bin_dir}:{os.environ['PATH']}"}
    w.refused("config_missing", ADDRESS, *w.at(), "--keyring", env=env)
    told = w.setup("--keyring", "--password-stdin", env=env)
    assert (told["password_place"], told["password_where"]) == ("keyring", ADDRESS), told
    with open(kept, encoding="ascii") as file:
        assert file.read() == PASSWORD
    w.works(env=env)
    w.setup("--keyring", stdin="", env=env)


@both
def test_nothing_before_it_works(w):
    error = w.refused("imap_login_failed", ADDRESS, *w.at(), "--password-stdin", stdin="wrong\n")
    assert "IMAP" in error["error"] and "--username" in error["hint"] and not error["retryable"], error
    w.smtp.refuse("AUTH", "535 5.7.8 no", times=10)
    error = w.refused("smtp_send_failed", ADDRESS, *w.at(), "--password-stdin")
    assert "SMTP" in error["error"], error
    w.smtp.heal()
    w.refused("config_missing", ADDRESS, *w.at(), "--password-stdin", stdin="\n")
    w.refused("config_missing", ADDRESS, *w.at())
    w.smtp = None
    told = w.setup("--password-stdin", "--no-smtp", "--username", "alice")
    assert told["smtp"] is None and told["imap"]["username"] == "alice" and w.config()["smtp"]["host"] is None, told


def test_requests(program):
    with Desk(program) as w:
        for args, words in ((["alice"], "not an e-mail address"), (["a@b@c"], "not an e-mail address"),
                ([ADDRESS, "--imap-port", "99"], "--imap-host"), ([ADDRESS, "--provider", "mail"], "no provider 'mail'"),
                ([ADDRESS, "--no-smtp", "--smtp-host", "x"], "exclude"),
                ([ADDRESS, "--token-file", "/t", "--password-stdin"], "takes its place")):
            error = w.refused("invalid_request", *args)
            assert words in error["error"], error
        assert "setup" in w.refused("invalid_request")["hint"]
        # Known providers, before anybody is asked anything.
        error = w.refused("config_missing", "you@outlook.com", "--password-stdin")
        assert "OAuth" in error["error"] and "--token-command" in error["hint"], error
        error = w.refused("imap_connect_failed", "you@nowhere.invalid", "--password-stdin")
        assert "imap.nowhere.invalid:993, mail.nowhere.invalid:993" in error["error"] and "--imap-host" in error["hint"], error
        error = w.refused("config_invalid", ADDRESS, "--imap-host", "127.0.0.1", "--ca-file", "/nowhere/ca.pem", "--password-stdin")
        assert "/nowhere/ca.pem" in error["error"], error
    with Workspace(program, init=False) as w:
        w.fails("workspace_not_found", "setup", ADDRESS, "--password-stdin", stdin=PASSWORD)


def test_private_authority(program):
    with Certificates() as authority:
        certificate = authority.make()
        with Dovecot(["alice"], certificate=certificate) as imap, Smtp(tls="wrapper", certificate=certificate) as smtp, \
                Desk(program, smtp=smtp) as w:
            words = [ADDRESS, "--imap-host", "localhost", "--smtp-host", "localhost", "--smtp-port", str(smtp.port),
                "--smtp-security", "tls", "--password-stdin"]
            error = w.refused("imap_tls_failed", *words, "--imap-port", str(imap.tls_port))
            assert "--ca-file" in error["hint"], error
            told = w.ok("setup", *words, "--imap-port", str(imap.tls_port), "--ca-file", authority.ca, stdin=PASSWORD)
            assert (told["imap"]["security"], told["smtp"]["security"]) == ("tls", "tls"), told
            w.works()
            told = w.ok("setup", *words, "--imap-port", str(imap.port), "--imap-security", "starttls", "--ca-file", authority.ca,
                stdin=PASSWORD)
            assert told["imap"]["security"] == "starttls" and w.config()["imap"]["starttls"] is True, told
            w.works()


def test_token(program):
    with Dovecot(["alice"], oauth=True) as imap, Smtp() as smtp, Desk(program, imap, smtp) as w:
        path = os.path.join(w.runtime, "token")
        with open(path, "w", encoding="ascii") as file:
            file.write(token("alice"))
        os.chmod(path, 0o600)
        told = w.setup("--token-command", f"cat {path}", "--username", "alice")
        assert told["password_place"] == "command" and w.config()["imap"]["token_secret_command"] == ["cat", path], told
        w.works()
        # A password takes its place again.
        w.setup("--password-stdin")
        assert "token_secret_command" not in w.config()["imap"]
        w.works()


def test_scram(program):
    """It is there for the IMAP server alone."""
    with Dovecot(["alice"], scram=True) as imap, Smtp() as smtp, Desk(program, imap, smtp) as w:
        w.setup("--password-stdin", "--auth", "scram-sha-256")
        assert w.config()["imap"]["auth"] == "scram-sha-256" and "auth" not in w.config()["smtp"], w.config()
        w.works()


@both
def test_another_address(w):
    """An identity that somebody made is not overwritten."""
    w.ok("config", "set", "identities.me.email", "old@desk.example")
    told = w.setup("--password-stdin", "--name", "Alice")
    assert told["identity"] == "alice", told
    assert [(one["identity"], one["email"], one["default"]) for one in w.config()["identities"]] == \
        [("me", "old@desk.example", False), ("alice", ADDRESS, True)], w.config()["identities"]


@both
def test_pages(w):
    """What people read of a pull and of the server's mailboxes."""
    w.setup("--password-stdin")
    w.imap.append("alice", "INBOX", mail(1).encode())
    w.imap.append("alice", "INBOX", mail(2).encode())
    w.imap.append("alice", "Junk", mail(3).encode())
    assert w.tells("pull", "--dry-run") == "A pull would take in 3 mails from 5 mailboxes. Nothing was taken in.\n"
    assert w.tells("pull", "--max-new-messages", "1") == "Took in 1 mail from 5 mailboxes: 1 in triage.\n" \
        "2 more are on the server; the next pull goes on.\n1 mail waits for a decision: `mailroom work triage`.\n"
    assert w.tells("pull") == "Took in 2 mails from 5 mailboxes: 1 in triage, 1 spam.\n" \
        "2 mails wait for a decision: `mailroom work triage`.\n"
    w.imap.change("alice", "INBOX", "STORE", "1", "+FLAGS", "(\\Seen)")
    assert w.tells("pull").splitlines()[:2] == ["No new mail in 5 mailboxes.", "Known mail: 1 with other flags."]
    page = w.tells("remote", "folders")
    assert re.search(r"^Junk +junk +", page, re.MULTILINE) and re.search(r"^INBOX ", page, re.MULTILINE), page
    w.ok("config", "set", "mailboxes.archive.mailbox_name", "Old")
    assert 'There is no mailbox for archive: a push would look for "Old".' in w.tells("remote", "folders")


class Terminal:
    """A command on a terminal of 80 columns, with somebody who types."""

    def __init__(self, desk, *args):
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen([desk.program, *args], cwd=desk.dir, env=desk.env(TERM="dumb"), stdin=theirs, stdout=theirs,
            stderr=theirs, start_new_session=True)
        os.close(theirs)
        self.seen = ""

    def until(self, words):
        while words not in self.seen:
            assert select.select([self.ours], [], [], 60)[0], f"it does not say {words!r}: {self.seen!r}"
            self.seen += os.read(self.ours, 4096).decode()

    def type(self, question, answer):
        self.until(question)
        os.write(self.ours, answer.encode())

    def end(self):
        try:
            while more := os.read(self.ours, 4096):
                self.seen += more.decode()
        except OSError:
            pass  # the end of a terminal
        os.close(self.ours)
        return self.process.wait(60)


@both
def test_terminal(w):
    at = w.at()
    terminal = Terminal(w, "work", "setup", *at)
    terminal.type("E-mail address: ", ADDRESS + "\n")
    terminal.type("Your name", "Alice Lee\n")
    terminal.type("(not shown): ", PASSWORD + "\n")
    assert terminal.end() == 0, terminal.seen
    no_secret(terminal.seen)
    assert f"{ADDRESS} is connected" in terminal.seen and "Alice Lee" in terminal.seen, terminal.seen
    assert "`mailroom work pull`" in terminal.seen, terminal.seen
    w.works()
    # Ctrl-C instead of a password.
    terminal = Terminal(w, "work", "setup", ADDRESS, "--name", "X", *at)
    terminal.type("(not shown): ", "\x03")
    assert terminal.end() == 1 and "no password was given" in terminal.seen, terminal.seen
    assert w.config()["identities"][0]["name"] == "Alice Lee"


@both
def test_remote_test(w):
    w.setup("--password-stdin")
    assert "smtp" not in w.ok("remote", "test"), "afmail's contract has no word for it"
    told = json.loads(w.tells("remote", "test", "--json"))
    assert told["smtp"] == {"host": "127.0.0.1", "port": w.smtp.port, "ok": True, "tls": False, "login": True}, told
    assert (told["host"], told["port"], told["tls"], told["capabilities"]) == ("127.0.0.1", w.imap.port, False, {"move": True}), told
    page = w.tells("remote", "test")
    assert "accepts the login, NOT ENCRYPTED" in page and page.count("\n") == 2, page
    w.smtp.refuse("AUTH", "535 5.7.8 no", times=10)
    error = w.fails("smtp_send_failed", "remote", "test")
    assert error["error"].startswith("SMTP: ") and "smtp.username" in error["hint"] and not error["retryable"], error
    w.smtp.heal()
    w.smtp.refuse("CONNECT", "421 4.3.2 later", times=10)
    error = w.fails("smtp_connect_failed", "remote", "test")
    assert error["error"].startswith("SMTP: ") and error["retryable"], error
    w.smtp.heal()
    w.ok("config", "unset", "smtp.host")
    assert "smtp" not in w.ok("remote", "test")
    assert "smtp.host is not set" in w.tells("remote", "test")


TESTS = {
    "what setup is asked": test_requests,
    "a password by standard input is kept in a file": test_standard_input,
    "a password from anywhere": test_places,
    "a password in the keyring": test_keyring,
    "nothing is written before it works": test_nothing_before_it_works,
    "a private authority, TLS and STARTTLS": test_private_authority,
    "a token of OAuth": test_token,
    "a login by SCRAM": test_scram,
    "another address is another identity": test_another_address,
    "somebody at a terminal": test_terminal,
    "a pull and the mailboxes as people read them": test_pages,
    "remote test covers SMTP and sends nothing": test_remote_test,
}

if __name__ == "__main__":
    with Tap() as tap:
        for name, test in TESTS.items():
            if test is not test_requests and not (DOVECOT and HAS_SMTP):
                tap.skip(name, "there is no Dovecot, or no aiosmtpd")
            else:
                tap.run(name, test, sys.argv[1])
