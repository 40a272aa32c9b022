"""An IMAP server that does what no real one does: it knows one account, and misbehaves as it is told."""

import re
import socket
import threading


class Script:
    """`mails` is {uid: bytes} of INBOX. What may be wrong:

    chop         every byte is sent by itself
    noise        untagged responses that nobody asked for, before every other one
    bye_at       the connection ends with BYE at this command ("EXAMINE", "FETCH", "BODY")
    drop_at      it ends without a word
    extra        bodies are sent that were not asked for
    twice        every body is sent two times
    refuse_login
    garbage_at   something that is no IMAP is sent
    lies         the size of a literal is too large
    echo         the end of a fetch is told eight times
    drop_after   the connection ends after so many bodies
    drop_each    every connection ends after so many bodies
    hold         an event: no body is sent before it is set, and `held` is set meanwhile
    """

    def __init__(self, mails=None, validity=7, **wrong):
        self.mails = mails or {}
        self.validity = validity
        self.wrong = wrong
        self.commands = []
        self.young = set()  # uids that SEARCH finds
        self.sent = []  # uids whose bodies went out
        self.held = threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def __enter__(self):
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
            with connection:
                connection.settimeout(20)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                try:
                    self.talk(connection)
                except OSError:
                    pass

    def say(self, connection, data):
        data = data if isinstance(data, bytes) else data.encode()
        if self.wrong.get("noise") and data.startswith(b"*"):
            data = b"* OK [ALERT] {5}\r\n* 3 RECENT\r\n* FLAGS (\\Answered)\r\n* XODD (a (b \"c\" {2}\r\nxy) NIL)\r\n" + data
        pieces = [data[at:at + 1] for at in range(len(data))] if self.wrong.get("chop") else [data]
        for piece in pieces:
            connection.sendall(piece)

    def ends(self, connection, where):
        if self.wrong.get("bye_at") == where:
            self.say(connection, "* BYE going down\r\n")
            return True
        if self.wrong.get("garbage_at") == where:
            self.say(connection, b"* 1 FETCH (UID ((((\x00\r\n")
            return True
        return self.wrong.get("drop_at") == where

    def talk(self, connection):
        lines = connection.makefile("rb")
        self.say(connection, "* OK ready\r\n")
        while True:
            line = lines.readline()
            if not line:
                return
            tag, _, rest = line.decode().strip().partition(" ")
            if not self.answer(connection, lines, tag, rest):
                return

    def answer(self, connection, lines, tag, rest):
        word = rest.split(" ")[0].upper()
        if word not in ("AUTHENTICATE", "LOGIN"):
            self.commands.append(rest)
        if word == "CAPABILITY":
            self.say(connection, "* CAPABILITY IMAP4rev1\r\n")
        elif word == "LIST":
            self.say(connection, b'* LIST (\\Junk) "/" "J\xfcnk"\r\n')
        elif word == "LOGIN" and self.wrong.get("refuse_login"):
            self.say(connection, f"{tag} NO [AUTHENTICATIONFAILED] no\r\n")
            return True
        elif word == "EXAMINE":
            if self.ends(connection, "EXAMINE"):
                return False
            self.say(connection, f"* {len(self.mails)} EXISTS\r\n* OK [UIDVALIDITY {self.validity}] valid\r\n")
        elif rest.upper().startswith("UID FETCH"):
            if not self.fetch(connection, rest):
                return False
            if self.wrong.get("echo") and "BODY" in rest:
                self.say(connection, f"{tag} OK done\r\n" * 7)
        elif rest.upper().startswith("UID SEARCH"):
            self.say(connection, f"* SEARCH {' '.join(map(str, sorted(self.young)))}\r\n")
        elif word == "LOGOUT":
            self.say(connection, f"* BYE bye\r\n{tag} OK done\r\n")
            return False
        self.say(connection, f"{tag} OK done\r\n")
        return True

    def fetch(self, connection, rest):
        asked = re.match(r"UID FETCH (\S+) \((.*)\)", rest, re.I)
        bodies = "BODY" in asked[2]
        if bodies and self.wrong.get("hold"):
            self.held.set()
            self.wrong["hold"].wait(60)
        gone = 0
        if self.ends(connection, "BODY" if bodies else "FETCH"):
            return False
        for number, (uid, data) in enumerate(sorted(self.mails.items()), 1):
            if not bodies:
                size = f" RFC822.SIZE {len(data)}" if "RFC822.SIZE" in asked[2] else ""
                self.say(connection, f"* {number} FETCH (FLAGS (\\Seen) UID {uid}{size})\r\n")
                continue
            if not self.wrong.get("extra") and not includes(asked[1], uid):
                continue
            if self.wrong.get("drop_after") == number - 1:
                return False
            if self.wrong.get("drop_each") == gone:
                return False
            gone += 1
            self.sent.append(uid)
            size = len(data) + (1000 if self.wrong.get("lies") else 0)
            for _ in range(2 if self.wrong.get("twice") else 1):
                self.say(connection, f"* {number} FETCH (UID {uid} BODY[] {{{size}}}\r\n".encode() + data +
                    b" FLAGS (\\Seen))\r\n")
        return True


def includes(numbers, uid):
    for part in numbers.split(","):
        first, _, last = part.partition(":")
        if int(first) <= uid <= (int(last or first) if last != "*" else uid):
            return True
    return False
