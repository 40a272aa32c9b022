"""A real SMTP server for tests: aiosmtpd on a free port of this machine, which refuses, stops or goes away where it is told.

It keeps every mail that it accepted, and hands it on by LMTP to the mailboxes of a Dovecot when it has one.
"""

import asyncio
import base64
import logging
import smtplib
import socket
import ssl
import sys
import threading
import warnings

from mail_server import PASSWORD, token

try:
    import aiosmtpd.smtp as engine
except ImportError:  # a Python that is not Debian's does not look where Debian's packages are
    sys.path.append("/usr/lib/python3/dist-packages")
    try:
        import aiosmtpd.smtp as engine
    except ImportError:
        engine = None

HAS_SMTP = engine is not None
logging.getLogger("mail.log").setLevel(logging.CRITICAL)  # that somebody logs in without TLS is what some tests want
STAGES = ("CONNECT", "EHLO", "STARTTLS", "AUTH", "MAIL", "RCPT", "DATA", "BODY", "DOT", "ANSWER")


class Accepted:
    """A mail for which the server said 250, or would have."""

    def __init__(self, session, envelope, is_encrypted):
        self.sender, self.recipients = envelope.mail_from, list(envelope.rcpt_tos)
        self.content = bytes(envelope.original_content)
        self.options, self.login = list(envelope.mail_options), session.auth_data and session.auth_data.login
        self.is_encrypted = is_encrypted


class Trouble:
    """What happens at a stage. `reached` is set when somebody came there; a held one goes on when `go` is set."""

    def __init__(self, stage, reply=None, recipient=None, times=None, holds=False):
        assert stage in STAGES, stage
        self.stage, self.reply, self.recipient, self.left, self.holds = stage, reply, recipient, times, holds
        self.reached, self.go = threading.Event(), threading.Event()


class Smtp:
    """Runs while the context is open; `port` is its port.

    accounts      may log in with the password, or with token(account)
    tls           "starttls" (and nothing before it), "wrapper" (from the start), or None; `certificate` has the files of a
                  certificate and its key
    auth          a login is needed; None: there is no AUTH at all
    mechanisms    what AUTH offers
    lmtp_port     where mail to an account goes, or to an account's local part, whatever the domain
    without       extensions that it does not name: "8BITMIME", "SMTPUTF8", "SIZE"
    size          the largest mail it takes
    port          0: a free one

    `accepted` has the mails, `commands` what was said (without what AUTH said).
    """

    def __init__(self, accounts=("alice", "bob"), tls=None, certificate=None, auth=True,
            mechanisms=("PLAIN", "LOGIN", "XOAUTH2", "OAUTHBEARER"), lmtp_port=None, without=(), size=26214400, port=0):
        self.accounts, self.tls, self.auth, self.mechanisms = accounts, tls, auth, mechanisms
        self.lmtp_port, self.without, self.size, self.port = lmtp_port, without, size, port
        self.context = None
        if tls:
            self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            self.context.load_cert_chain(*certificate)
        self.accepted, self.commands, self.connections = [], [], 0
        self.lock, self.troubles = threading.Lock(), []

    # --- what tests ask for ---

    def refuse(self, stage, reply, recipient=None, times=None):
        """Answer the stage with this line: always, or so many times; RCPT of all recipients, or of one."""
        return self.add(Trouble(stage, reply, recipient, times))

    def cut(self, stage, recipient=None, times=None):
        """End the connection there without a word. BODY: after 354. DOT: after the final dot, and the mail is not taken.
        ANSWER: after the final dot, and the mail is taken, but the client does not hear of it."""
        return self.add(Trouble(stage, None, recipient, times))

    def hold(self, stage, times=1):
        """Say nothing there until `go` of the result is set."""
        return self.add(Trouble(stage, times=times, holds=True))

    def heal(self):
        with self.lock:
            for trouble in self.troubles:
                trouble.go.set()
            self.troubles = []

    def add(self, trouble):
        with self.lock:
            self.troubles.append(trouble)
        return trouble

    def meet(self, stage, recipient):
        """The trouble that somebody has who comes to this stage, or None."""
        with self.lock:
            for trouble in self.troubles:
                if trouble.stage != stage or trouble.left == 0 or (trouble.recipient and trouble.recipient != recipient):
                    continue
                if trouble.left:
                    trouble.left -= 1
                trouble.reached.set()
                return trouble
        return None

    # --- running ---

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", self.port))
        self.port = self.socket.getsockname()[1]
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        started = threading.Event()
        self.loop.call_soon(started.set)
        self.thread.start()
        started.wait()
        return self

    def serve(self):
        asyncio.set_event_loop(self.loop)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # for the same reason
            self.server = self.loop.run_until_complete(self.loop.create_server(lambda: Session(self), sock=self.socket,
                ssl=self.context if self.tls == "wrapper" else None))
            self.loop.run_forever()
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.loop.close()

    def __exit__(self, *ignored):
        self.heal()
        self.loop.call_soon_threadsafe(self.end)
        self.thread.join(20)

    def end(self):
        self.server.close()
        self.loop.stop()

    def knows(self, _address):
        """Does it take mail for this address?"""
        return True

    def deliver(self, mail):
        """To those of the recipients who have a mailbox."""
        local = [name for name in mail.recipients if {name.lower(), name.lower().split("@")[0]} & set(self.accounts)]
        for recipient in local if self.lmtp_port else ():  # Python's LMTP takes one answer for a mail
            with smtplib.LMTP("127.0.0.1", self.lmtp_port) as lmtp:
                lmtp.sendmail(mail.sender, [recipient], mail.content)


class Handler:
    def __init__(self, server):
        self.server = server

    async def handle_EHLO(self, engine_server, session, envelope, hostname, responses):
        session.host_name = hostname
        kept = [line for line in responses if line[4:].split(" ")[0] not in self.server.without]
        if self.server.auth is None:
            kept = [line for line in kept if not line[4:].startswith("AUTH")]
        return kept

    async def handle_RCPT(self, engine_server, session, envelope, address, options):
        if not self.server.knows(address):
            return "550 5.1.1 There is no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"

    async def handle_DATA(self, engine_server, session, envelope):
        if await engine_server.trouble("DOT"):
            return None
        mail = Accepted(session, envelope, self.server.tls == "wrapper" or session.ssl is not None)
        await asyncio.get_running_loop().run_in_executor(None, self.server.deliver, mail)
        self.server.accepted.append(mail)
        if await engine_server.trouble("ANSWER"):
            return None
        return f"250 2.0.0 OK {len(self.server.accepted)}"

    async def auth_XOAUTH2(self, engine_server, arguments):
        return await self.bearer(engine_server, arguments, "user=", "\x01")

    async def auth_OAUTHBEARER(self, engine_server, arguments):
        return await self.bearer(engine_server, arguments, "a=", ",")

    async def bearer(self, engine_server, arguments, before, after):
        data = base64.b64decode(arguments[1]) if len(arguments) > 1 else await engine_server.challenge_auth("")
        text = data.decode() if isinstance(data, bytes) else ""
        name = text.partition(before)[2].partition(after)[0]
        given = text.partition("auth=Bearer ")[2].partition("\x01")[0]
        # Tokens of one second may differ: what counts is whom they are for, and that they are signed.
        good = name in self.server.accounts and given.split(".")[0] == token(name).split(".")[0] and given.count(".") == 2
        return engine.AuthResult(success=good, handled=False, auth_data=engine.LoginPassword(name.encode(), b""))


class Session(engine.SMTP if engine else object):
    def __init__(self, server):
        self.of = server
        excluded = {"PLAIN", "LOGIN", "XOAUTH2", "OAUTHBEARER"} - set(server.mechanisms)
        super().__init__(Handler(server), hostname="mail.test.example", ident="ESMTP", enable_SMTPUTF8="SMTPUTF8" not in server.without,
            data_size_limit=server.size, tls_context=server.context if server.tls == "starttls" else None,
            require_starttls=server.tls == "starttls", auth_required=bool(server.auth), auth_require_tls=server.tls == "starttls",
            auth_exclude_mechanism=excluded, authenticator=self.check, loop=server.loop)

    def check(self, _server, _session, _envelope, _mechanism, data):
        name = data.login.decode(errors="replace")
        good = name.split("@")[0] in self.of.accounts and data.password == PASSWORD.encode()
        return engine.AuthResult(success=good, handled=False, auth_data=data)

    async def trouble(self, stage, recipient=None):
        """True: the stage was answered, or the connection has ended."""
        met = self.of.meet(stage, recipient)
        if not met:
            return False
        if met.holds:
            while not met.go.is_set() and self.transport is not None:
                await asyncio.sleep(0.01)
            return self.transport is None
        if met.reply:
            await self.push(met.reply)
            if met.reply.startswith("421") or stage == "CONNECT":
                self.transport.close()
            return True
        # Not even an end that is said: what a broken line looks like.
        (self._original_transport or self.transport).abort()
        return True

    async def push(self, status):
        """None: it was said already."""
        if status is not None and self.transport is not None:
            await super().push(status)

    async def _handle_client(self):
        self.of.connections += 1
        if not await self.trouble("CONNECT"):
            await super()._handle_client()

    def heard(self, verb, arg):
        self.of.commands.append(verb if verb == "AUTH" or not arg else f"{verb} {arg}")

    async def smtp_HELO(self, arg):
        self.heard("HELO", arg)
        if not await self.trouble("EHLO"):
            await super().smtp_HELO(arg)

    async def smtp_EHLO(self, arg):
        self.heard("EHLO", arg)
        if not await self.trouble("EHLO"):
            await super().smtp_EHLO(arg)

    async def smtp_STARTTLS(self, arg):
        self.heard("STARTTLS", arg)
        if not await self.trouble("STARTTLS"):
            await super().smtp_STARTTLS(arg)

    async def smtp_AUTH(self, arg):
        self.heard("AUTH", arg)
        if not await self.trouble("AUTH"):
            await super().smtp_AUTH(arg)

    async def smtp_MAIL(self, arg):
        self.heard("MAIL", arg)
        if not await self.trouble("MAIL"):
            await super().smtp_MAIL(arg)

    async def smtp_RCPT(self, arg):
        self.heard("RCPT", arg)
        if not await self.trouble("RCPT", arg.partition("<")[2].partition(">")[0]):
            await super().smtp_RCPT(arg)

    async def smtp_DATA(self, arg):
        self.heard("DATA", arg)
        if await self.trouble("DATA"):
            return
        if self.envelope.rcpt_tos and self.of.meet("BODY", None):
            await self.push("354 go ahead")
            await self._reader.readline()
            (self._original_transport or self.transport).abort()
            return
        await super().smtp_DATA(arg)
