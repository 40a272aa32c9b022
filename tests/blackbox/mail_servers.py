"""usage: mail_servers.py PROGRAM SOURCE - the servers that the tests of the workspace start do what these tests rely on."""

import base64
import imaplib
import os
import smtplib
import ssl
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from certificates import Certificates  # noqa: E402
from mail_server import DOVECOT, HAS_LMTP, PASSWORD, Dovecot, token  # noqa: E402
from smtp_server import HAS_SMTP, Smtp  # noqa: E402
from tap import Tap  # noqa: E402

MAIL = b"From: alice@test.example\r\nTo: bob@test.example\r\nSubject: Hello\r\nMessage-ID: <1@test.example>\r\n\r\nHello Bob\r\n"


def capabilities(server):
    client = server.client("alice")
    answer = client.capability()[1][0].decode().split()
    client.logout()
    return answer


def dovecot_names_what_it_shall():
    with Dovecot(["alice"]) as server:
        usual = capabilities(server)
        for word in ("CONDSTORE", "QRESYNC", "MOVE", "UIDPLUS", "SPECIAL-USE", "ESEARCH", "LIST-STATUS", "LITERAL+", "IDLE"):
            assert word in usual, usual
        assert "COMPRESS=DEFLATE" not in usual
    missing = ("CONDSTORE", "QRESYNC", "MOVE", "SPECIAL-USE", "LITERAL+")
    with Dovecot(["alice"], without=missing, compress=True) as server:
        less = capabilities(server)
        assert set(usual) - set(less) == set(missing), (usual, less)
        assert "COMPRESS=DEFLATE" in less, less
        client = server.client("alice")
        listed = client.list()[1]
        assert any(b"Archive" in line for line in listed) and not any(b"\\Archive" in line for line in listed), listed
        client.logout()


def dovecot_encrypts():
    with Certificates() as certificates, Dovecot(["alice"], certificate=certificates.make()) as server:
        server.tls_client("alice", certificates.ca).logout()
        client = imaplib.IMAP4("localhost", server.port, timeout=60)
        client.starttls(ssl.create_default_context(cafile=certificates.ca))
        client.login("alice", PASSWORD)
        client.logout()
    for bad in ("expired", "of_another_host"):
        with Certificates() as certificates, Dovecot(["alice"], certificate=getattr(certificates, bad)()) as server:
            try:
                server.tls_client("alice", certificates.ca)
            except ssl.SSLCertVerificationError as error:
                assert ("expired" in str(error)) == (bad == "expired"), error
            else:
                raise AssertionError(f"a certificate is taken that is {bad}")


def refused(client, *arguments):
    try:
        answer = client.append(*arguments)
    except imaplib.IMAP4.error as error:
        return str(error)
    assert answer[0] == "NO", answer
    return answer[1][0].decode()


def dovecot_is_full_and_is_read_only():
    with Dovecot(["alice"], quota_kib=8, read_only=("Archive",)) as server:
        client = server.client("alice")
        assert client.append("INBOX", None, None, MAIL)[0] == "OK"
        assert "[OVERQUOTA]" in refused(client, "INBOX", None, None, MAIL + b"x" * 10000)
        refused(client, "Archive", None, None, MAIL)
        fails(imaplib.IMAP4.readonly, lambda: client.select("Archive"))
        client.shutdown()


def dovecot_takes_tokens_and_scram():
    with Dovecot(["alice"], oauth=True, scram=True) as server:
        assert "AUTH=SCRAM-SHA-256" in imaplib.IMAP4("127.0.0.1", server.port).capabilities
        for mechanism, form in (("XOAUTH2", "user=alice\1auth=Bearer {}\1\1"), ("OAUTHBEARER", "n,a=alice,\1auth=Bearer {}\1\1")):
            client = imaplib.IMAP4("127.0.0.1", server.port, timeout=60)
            client.authenticate(mechanism, lambda _: form.format(token("alice")).encode())
            client.logout()
            client = imaplib.IMAP4("127.0.0.1", server.port, timeout=60)
            answers = iter((form.format(token("alice", -100)).encode(), b""))
            try:
                client.authenticate(mechanism, lambda _: next(answers))
            except imaplib.IMAP4.error:
                continue
            raise AssertionError("a token is taken that has ended")


def send(server, *recipients, ca=None, wrapper=False, login=True):
    context = ssl.create_default_context(cafile=ca) if ca else None
    client = (smtplib.SMTP_SSL("localhost", server.port, context=context, timeout=60) if wrapper else
        smtplib.SMTP("localhost", server.port, timeout=60))
    with client:
        if ca and not wrapper:
            client.starttls(context=context)
        if login:
            client.login("alice", PASSWORD)
        return client.sendmail("alice@test.example", recipients or ["bob@test.example"], MAIL)


def mail_arrives_by_smtp():
    with Dovecot(["alice", "bob"], lmtp=True) as mailboxes, Smtp(lmtp_port=mailboxes.lmtp_port) as server:
        assert send(server, "bob@test.example", "someone@elsewhere.example") == {}
        assert len(server.accepted) == 1
        assert server.accepted[0].recipients == ["bob@test.example", "someone@elsewhere.example"], server.accepted[0].recipients
        assert server.accepted[0].content == MAIL and server.accepted[0].login == b"alice"
        assert [content.endswith(b"Hello Bob\r\n") for _, content in mailboxes.mails("bob")] == [True]
        assert mailboxes.mails("alice") == []


def smtp_encrypts():
    with Certificates() as certificates:
        for tls in ("starttls", "wrapper"):
            with Smtp(tls=tls, certificate=certificates.make()) as server:
                send(server, ca=certificates.ca, wrapper=tls == "wrapper")
                assert server.accepted[0].is_encrypted and len(server.accepted) == 1
        with Smtp(tls="starttls", certificate=certificates.make()) as server:
            fails(smtplib.SMTPException, lambda: send(server))


def smtp_wants_a_login():
    with Smtp() as server:
        fails(smtplib.SMTPException, lambda: send(server, login=False))
        client = smtplib.SMTP("localhost", server.port, timeout=60)
        error = fails(smtplib.SMTPAuthenticationError, lambda: client.login("alice", "wrong"))
        assert error.smtp_code == 535
        text = base64.b64encode(f"user=alice\1auth=Bearer {token('alice')}\1\1".encode()).decode()
        client.ehlo()
        assert client.docmd("AUTH", f"XOAUTH2 {text}")[0] == 235
        client.quit()
    with Smtp(auth=None, without=("SMTPUTF8", "8BITMIME")) as server:
        client = smtplib.SMTP("localhost", server.port, timeout=60)
        client.ehlo()
        assert not {"auth", "smtputf8", "8bitmime"} & set(client.esmtp_features), client.esmtp_features
        client.quit()
        send(server, login=False)


def fails(kind, function):
    try:
        function()
    except kind as error:
        return error
    raise AssertionError("it did not fail")


def smtp_refuses_at_each_stage():
    with Smtp() as server:
        for stage in ("CONNECT", "EHLO", "AUTH", "MAIL", "RCPT", "DATA", "DOT"):
            for code in (451, 550):
                server.refuse(stage, f"{code} 5.0.0 not now")
                error = fails(smtplib.SMTPException, lambda: send(server))
                assert str(code) in str(error), (stage, error)
                server.heal()
        assert server.accepted == []
        server.refuse("RCPT", "550 5.1.1 nobody", recipient="nobody@test.example", times=1)
        assert list(send(server, "nobody@test.example", "bob@test.example")) == ["nobody@test.example"]
        assert send(server, "nobody@test.example") == {}
        assert [mail.recipients for mail in server.accepted] == [["bob@test.example"], ["nobody@test.example"]]


def smtp_goes_away_at_each_stage():
    with Smtp() as server:
        for stage in ("CONNECT", "EHLO", "AUTH", "MAIL", "RCPT", "DATA", "BODY", "DOT"):
            server.cut(stage, times=1)
            fails((smtplib.SMTPException, OSError), lambda: send(server))
            assert server.accepted == [], stage
            server.heal()
        server.cut("ANSWER", times=1)
        fails((smtplib.SMTPException, OSError), lambda: send(server))
        assert len(server.accepted) == 1
        send(server)
        assert len(server.accepted) == 2


def smtp_is_slow():
    with Smtp() as server:
        held = server.hold("MAIL")
        client = smtplib.SMTP("localhost", server.port, timeout=1)
        client.login("alice", PASSWORD)
        fails(OSError, lambda: client.docmd("MAIL", "FROM:<alice@test.example>"))
        assert held.reached.is_set()
        held.go.set()
        send(server)


def main():
    with Tap() as tap:
        for test in (dovecot_names_what_it_shall, dovecot_encrypts, dovecot_is_full_and_is_read_only, dovecot_takes_tokens_and_scram):
            name = test.__name__.replace("_", " ")
            if DOVECOT:
                tap.run(name, test)
            else:
                tap.skip(name, "dovecot-imapd is not installed")
        for test in (mail_arrives_by_smtp, smtp_encrypts, smtp_wants_a_login, smtp_refuses_at_each_stage, smtp_goes_away_at_each_stage,
                smtp_is_slow):
            name = test.__name__.replace("_", " ")
            if HAS_SMTP and (test is not mail_arrives_by_smtp or (DOVECOT and HAS_LMTP)):
                tap.run(name, test)
            else:
                tap.skip(name, "python3-aiosmtpd or dovecot-lmtpd is not installed")


if __name__ == "__main__":
    main()
