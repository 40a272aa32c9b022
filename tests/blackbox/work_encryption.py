"""usage: work_encryption.py PROGRAM - somebody stands between us and the mail servers: whoever takes the encryption out of a
connection, or puts words into it before it is encrypted, gets no password and no mail, and the error says what is wrong."""

import os
import socket
import ssl
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from certificates import Certificates  # noqa: E402
from desk import Desk  # noqa: E402
from mail_server import PASSWORD  # noqa: E402
from tap import Tap  # noqa: E402

# It offers no STARTTLS, refuses it, says that we are in already, says more than was asked before it is encrypted; or it does not
# encrypt at all where TLS is spoken from the first byte.
HOWS = ("strip", "refuse", "preauth", "inject", "plain")
LOGIN = ("LOGIN", "AUTHENTICATE", "AUTH", "MAIL", "RCPT", "DATA")


class Between:
    """A server that goes wrong before a connection is encrypted. `clear` has what it was told by then, `sealed` what after."""

    def __init__(self, how, certificate):
        self.how, self.clear, self.sealed = how, [], []
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*certificate)

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
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
                connection, _ = self.socket.accept()
            except OSError:
                return
            connection.settimeout(60)
            try:
                self.talk(connection)
            except (OSError, EOFError, ValueError):
                pass
            finally:
                connection.close()

    def hear(self, connection, said):
        """One line, byte by byte, so that nothing of what is encrypted is read with it."""
        line = b""
        while not line.endswith(b"\n"):
            byte = connection.recv(1)
            if not byte:
                raise EOFError
            line += byte
        said.append(line.decode("latin-1").strip())
        return said[-1]

    def seal(self, connection):
        connection = self.context.wrap_socket(connection, server_side=True)
        while True:
            self.answer(connection, self.hear(connection, self.sealed), True)


class Imap(Between):
    def talk(self, connection):
        connection.sendall(b"* PREAUTH welcome\r\n" if self.how == "preauth" else b"* OK ready\r\n")
        while True:
            self.answer(connection, self.hear(connection, self.clear), False)

    def answer(self, connection, line, is_sealed):
        tag, _, rest = line.partition(" ")
        word = rest.split(" ")[0].upper()
        if word == "CAPABILITY":
            can = "" if self.how == "strip" or is_sealed else " STARTTLS"
            connection.sendall(f"* CAPABILITY IMAP4rev1{can} AUTH=PLAIN\r\n{tag} OK done\r\n".encode())
        elif word == "STARTTLS" and self.how in ("refuse", "strip"):
            connection.sendall(f"{tag} NO not today\r\n".encode())
        elif word == "STARTTLS":
            wrong = "* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\nA003 OK fine\r\nA004 OK fine\r\n" if self.how == "inject" else ""
            connection.sendall(f"{tag} OK begin\r\n{wrong}".encode())
            self.seal(connection)
        else:
            connection.sendall(f"{tag} OK done\r\n".encode())


class Smtp(Between):
    def talk(self, connection):
        connection.sendall(b"220 mail.desk.example ESMTP\r\n")
        while True:
            self.answer(connection, self.hear(connection, self.clear), False)

    def answer(self, connection, line, is_sealed):
        word = line.split(" ")[0].upper()
        if word in ("EHLO", "HELO"):
            can = "" if self.how == "strip" or is_sealed else "250-STARTTLS\r\n"
            connection.sendall(f"250-mail.desk.example\r\n{can}250 AUTH PLAIN LOGIN\r\n".encode())
        elif word == "STARTTLS" and self.how in ("refuse", "strip"):
            connection.sendall(b"454 4.7.0 not today\r\n")
        elif word == "STARTTLS":
            connection.sendall(b"220 begin\r\n" + (b"250-x\r\n250 AUTH PLAIN\r\n235 welcome\r\n250 ok\r\n" if self.how == "inject" else b""))
            self.seal(connection)
        elif word == "DATA":
            connection.sendall(b"354 go on\r\n")
        else:
            connection.sendall(b"250 ok\r\n")


def nothing_leaked(server):
    for line in server.clear:
        assert PASSWORD not in line and not any(word in LOGIN for word in line.upper().split()), server.clear
    if server.how == "inject":
        assert not server.sealed, server.sealed


def check_imap(program, certificates, how):
    with Imap(how, certificates.make()) as server, Desk(program, server) as w:
        w.ok("config", "set", "imap.host", "localhost")
        w.ok("config", "set", "imap.ca_file", certificates.ca)
        w.ok("config", "set", "imap.tls" if how == "plain" else "imap.starttls", "true")
        for words in (("remote", "test"), ("pull",)):
            done = w.afmail(*words)
            assert done.returncode == 1, (how, done.stdout, server.clear, server.sealed)
            error = w.error_of(done)
            if how == "inject":
                assert error["error_code"] == "imap_greeting_failed" and "does not answer as an IMAP server does" in error["error"], error
                continue
            assert error["error_code"] == "imap_tls_failed" and error["retryable"] is False, (how, error)
            assert "imap.ca_file" in error["hint"], error
        nothing_leaked(server)


def check_smtp(program, certificates, how):
    with Smtp(how, certificates.make()) as server, Desk(program, smtp=server) as w:
        w.ok("config", "set", "smtp.host", "localhost")
        w.ok("config", "set", "smtp.ca_file", certificates.ca)
        w.ok("config", "set", "smtp.tls_wrapper" if how == "plain" else "smtp.starttls", "true")
        push_id = w.send(w.case())
        failure = w.failure("smtp_connect_failed")
        assert how != "inject" or "does not answer as an SMTP server does" in failure["error"], failure
        state = w.item(push_id)["step_states"][0]
        assert state["status"] == "failed" and state["retryable"] is (how == "inject"), (how, state)
        nothing_leaked(server)


def main():
    program = sys.argv[1]
    with Tap() as tap, Certificates() as certificates:
        for how in HOWS:
            tap.run(f"IMAP: {how}", check_imap, program, certificates, how)
            if how != "preauth":
                tap.run(f"SMTP: {how}", check_smtp, program, certificates, how)


if __name__ == "__main__":
    main()
