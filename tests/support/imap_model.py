"""An IMAP server of few words that keeps several mailboxes, writes down what it is told, and goes wrong at any line it says."""

import re
import socket
import threading

READING = ("CAPABILITY", "NOOP", "LOGOUT", "ENABLE", "LIST", "EXAMINE", "UID FETCH", "UID SEARCH", "IDLE", "DONE")
MAILBOXES = {"INBOX": "", "Drafts": "\\Drafts", "Sent": "\\Sent", "Archive": "\\Archive", "Junk": "\\Junk", "Trash": "\\Trash"}


class Gone(Exception):
    """The connection ends here."""


class Mailbox:
    def __init__(self, use):
        self.use, self.validity, self.next, self.mails = use, 7, 1, {}

    def add(self, data, flags=()):
        self.mails[self.next] = [set(flags), data]
        self.next += 1
        return self.next - 1


class Model:
    """Runs while the context is open; `port` is its port, `boxes` its mailboxes.

    can         capabilities, beside IMAP4rev1; with SPECIAL-USE it has to be asked what mailboxes are for, else it tells
    noise       lines that nobody asked for, before every line that it says
    chop        every byte is sent by itself
    at, how     at this line, counted from 0 over all connections, it goes wrong once: "bye", "drop", "garbage", "half" a line
    on_body     called with the session before the first body that is sent
    instead     {"move": answer}: called in place of that command, as the others; "OK ..." or "NO ..." is the command's end
    `commands` has what it was told, `lines` how many lines it said.
    """

    def __init__(self, can=("MOVE", "UIDPLUS", "IDLE"), noise=(), chop=False, at=None, how="bye", on_body=None, instead=None):
        self.instead = instead or {}
        self.can, self.noise, self.chop, self.at, self.how, self.on_body = can, noise, chop, at, how, on_body
        self.boxes = {name: Mailbox(use) for name, use in MAILBOXES.items()}
        self.commands, self.lines, self.idle = [], 0, threading.Event()

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

    def fill(self, *mails):
        for data in mails:
            self.boxes["INBOX"].add(data if isinstance(data, bytes) else data.encode())

    def heal(self):
        self.at, self.noise, self.chop, self.on_body = None, (), False, None

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(60)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                try:
                    Session(self, connection).run()
                except (OSError, Gone):
                    pass


class Session:
    def __init__(self, model, connection):
        self.of, self.connection, self.lines = model, connection, connection.makefile("rb")
        self.box = None

    # --- saying ---

    def send(self, data):
        for piece in ([data[at:at + 1] for at in range(len(data))] if self.of.chop else [data]):
            self.connection.sendall(piece)

    def say(self, line):
        data = (line if isinstance(line, bytes) else line.encode()) + b"\r\n"
        number, self.of.lines = self.of.lines, self.of.lines + 1
        if number == self.of.at:
            self.send({"bye": b"* BYE going down\r\n", "drop": b"", "garbage": b"* 1 FETCH (UID ((((\x00\r\n",
                "half": data[:len(data) // 2]}[self.of.how])
            raise Gone
        noise = b"" if number == 0 or not self.box and self.of.noise and number < 4 else b"".join(
            one.encode() + b"\r\n" for one in self.of.noise)
        self.send(noise + data)

    # --- hearing ---

    def hear(self):
        """A command as one line, with its literals put in place as strings of Python's (for eval) by number."""
        words, literals = "", []
        while True:
            line = self.lines.readline()
            if not line:
                raise Gone
            text = line.decode().rstrip("\r\n")
            found = re.search(r"\{(\d+)(\+?)\}$", text)
            if not found:
                return words + text, literals
            if not found[2]:
                self.say("+ go")
            literals.append(self.lines.read(int(found[1])))
            words += text[:found.start()] + f"{{{len(literals) - 1}}}"

    def run(self):
        self.say("* OK ready")
        while True:
            line, literals = self.hear()
            tag, _, rest = line.partition(" ")
            name = (rest.split(" ")[1] if rest.upper().startswith("UID ") else rest.split(" ")[0]).lower()
            if name not in ("authenticate", "login"):
                self.of.commands.append(rest)
            answer = self.of.instead.get(name) or getattr(type(self), "do_" + name, None)
            end = answer(self, tag, rest, literals) if answer else f"BAD {name}?"
            self.say(f"{tag} {end or 'OK done'}")
            if name == "logout":
                return

    # --- commands ---

    def do_capability(self, _tag, _rest, _literals):
        self.say("* CAPABILITY IMAP4rev1 " + " ".join(self.of.can))

    def do_login(self, _tag, _rest, _literals):
        pass

    def do_noop(self, _tag, _rest, _literals):
        pass

    def do_logout(self, _tag, _rest, _literals):
        self.say("* BYE bye")

    def do_list(self, _tag, rest, _literals):
        tells = "SPECIAL-USE" not in self.of.can or "RETURN (SPECIAL-USE)" in rest
        for name, box in self.of.boxes.items():
            self.say(f'* LIST ({box.use if tells else ""}) "/" "{name}"')

    def do_examine(self, _tag, rest, _literals):
        self.box = self.of.boxes.get(rest.split('"')[1])
        if not self.box:
            return "NO [NONEXISTENT] no such mailbox"
        self.say(f"* {len(self.box.mails)} EXISTS")
        self.say(f"* OK [UIDVALIDITY {self.box.validity}] valid")
        return "OK [READ-ONLY] done" if rest.startswith("EXAMINE") else "OK [READ-WRITE] done"

    do_select = do_examine

    def chosen(self, numbers):
        found = []
        for number, uid in enumerate(sorted(self.box.mails), 1):
            for part in numbers.split(","):
                first, _, last = part.partition(":")
                if int(first) <= uid <= (uid if last == "*" else int(last or first)):
                    found.append((number, uid))
        return found

    def do_fetch(self, _tag, rest, _literals):
        asked = re.match(r"UID FETCH (\S+) \((.*)\)", rest)
        for number, uid in self.chosen(asked[1]):
            flags, data = self.box.mails.get(uid, (set(), None))
            if data is None:  # it has gone meanwhile
                continue
            told = f"* {number} FETCH (UID {uid} FLAGS ({' '.join(sorted(flags))}) RFC822.SIZE {len(data)}".encode()
            if "BODY.PEEK[]" in asked[2]:
                if self.of.on_body:
                    self.of.on_body, call = None, self.of.on_body
                    call(self)
                told += f" BODY[] {{{len(data)}}}\r\n".encode() + data
            elif "BODY" in asked[2]:
                raise AssertionError(rest)
            self.say(told + b")")

    def do_search(self, _tag, rest, literals):
        sizes = re.search(r"LARGER (\d+) SMALLER (\d+)", rest)
        if sizes:
            found = [uid for uid, (_, data) in sorted(self.box.mails.items()) if int(sizes[1]) < len(data) < int(sizes[2])]
            self.say("* SEARCH " + " ".join(map(str, found)))
            return
        wanted = re.search(r'HEADER Message-ID (?:"(.*)"|\{0\})', rest, re.I)
        wanted = wanted[1] or literals[0].decode()
        found = [uid for uid, (_, data) in sorted(self.box.mails.items()) if f"Message-ID: {wanted}".encode().lower() in data.lower()]
        self.say("* SEARCH " + " ".join(map(str, found)))

    def do_store(self, _tag, rest, _literals):
        numbers, flags = re.match(r"UID STORE (\S+) \+FLAGS.SILENT \((.*)\)", rest).groups()
        for _, uid in self.chosen(numbers):
            self.box.mails[uid][0] |= set(flags.split())

    def do_copy(self, _tag, rest, _literals, moves=False):
        numbers, name = re.match(r'UID \w+ (\S+) "(.*)"', rest).groups()
        target, pairs = self.of.boxes.get(name), []
        if not target:
            return "NO [TRYCREATE] no such mailbox"
        for number, uid in reversed(self.chosen(numbers)):
            pairs.append((uid, target.add(self.box.mails[uid][1], self.box.mails[uid][0])))
            if moves:
                del self.box.mails[uid]
        code = f"[COPYUID {target.validity} {pairs[0][0]} {pairs[0][1]}] " if pairs and "UIDPLUS" in self.of.can else ""
        if moves:
            self.say(f"* OK {code}moved")
            for number, _ in pairs:
                self.say(f"* {number} EXPUNGE")
            return "OK done"
        return f"OK {code}done"

    def do_move(self, tag, rest, literals):
        return self.do_copy(tag, rest, literals, True)

    def do_expunge(self, _tag, rest, _literals):
        for number, uid in reversed(self.chosen(rest.split(" ")[2])):
            if "\\Deleted" in self.box.mails[uid][0]:
                del self.box.mails[uid]
                self.say(f"* {number} EXPUNGE")

    def do_create(self, _tag, rest, _literals):
        self.of.boxes[rest.split('"')[1]] = Mailbox("")

    def do_append(self, _tag, rest, literals):
        name, flags = re.match(r'APPEND "(.*?)"(?: \((.*?)\))?', rest).groups()
        if name not in self.of.boxes:
            return "NO [TRYCREATE] no such mailbox"
        uid = self.of.boxes[name].add(literals[0], (flags or "").split())
        return f"OK [APPENDUID {self.of.boxes[name].validity} {uid}] done" if "UIDPLUS" in self.of.can else "OK done"

    def do_idle(self, _tag, _rest, _literals):
        self.say("+ idling")
        self.of.idle.set()
        line, _ = self.hear()
        self.of.commands.append(line)
        assert line == "DONE", line
