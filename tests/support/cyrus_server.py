"""Cyrus as an ordinary user, unpacked by script/setup (it cannot be installed beside Dovecot): a second real IMAP server for tests, and a
real JMAP server."""

import contextlib
import glob
import imaplib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from mail_server import PASSWORD, START_S, Dovecot
from smtp_server import HAS_SMTP, Smtp

HOME = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "cyrus")
CYRUS = os.path.join(HOME, "usr", "lib", "cyrus", "bin")
HAS_CYRUS = os.path.exists(os.path.join(CYRUS, "imapd"))
HAS_CYRUS_JMAP = HAS_CYRUS and HAS_SMTP
NO_CYRUS = "needs Cyrus, which script/setup fetches, and aiosmtpd"

IMAPD = """\
configdirectory: {dir}/var
defaultpartition: default
partition-default: {dir}/spool
servername: localhost
admins: admin
allowplaintext: yes
virtdomains: off
unixhierarchysep: yes
altnamespace: yes
sasl_mech_list: PLAIN LOGIN
sasl_pwcheck_method: auxprop
sasl_auxprop_plugin: sasldb
sasl_sasldb_path: {dir}/var/sasldb2
autocreate_quota: 0
autocreate_users: anyone
autocreate_inbox_folders: Drafts | Sent | Trash | Archive | Junk
xlist-drafts: Drafts
xlist-sent: Sent
xlist-trash: Trash
xlist-archive: Archive
xlist-junk: Junk
skiplist_unsafe: yes
"""

JMAP = """\
conversations: yes
httpmodules: jmap
search_engine: none
smtp_backend: host
smtp_host: 127.0.0.1:{smtp}
"""

MASTER = """\
START {{
  recover cmd="{bin}/ctl_cyrusdb -C {dir}/imapd.conf -r"
}}
SERVICES {{
{services}
}}
EVENTS {{
}}
"""
SERVICE = '  {name} cmd="{bin}/{program} -C {dir}/imapd.conf{options}" listen="127.0.0.1:{port}" prefork=0'


class Cyrus(Dovecot):
    """Runs while the context is open; `port` is its IMAP port. What clients do with it is as with a Dovecot."""

    programs = ("imapd",)

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="mr-cyrus-")
        self.owner = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
        for name in ("spool", "var/db", "var/socket", "var/proc", "var/lock", "var/log", "var/msg"):
            os.makedirs(self.path(name))
        # What it needs is put where the server's user can read it.
        for name in ("master", "ctl_cyrusdb", *self.programs):
            self.take(os.path.join(CYRUS, name), "bin")
        for library in glob.glob(os.path.join(HOME, "**", "lib*.so*"), recursive=True):
            where, name = os.path.split(library)
            is_plugin = os.path.basename(where) == "sasl2"
            if name.partition(".so")[2].count(".") == (0 if is_plugin else 1):  # of its names the one by which it is loaded
                self.take(library, "sasl2" if is_plugin else "lib")
        self.env = {"PATH": "/usr/bin:/bin", "HOME": self.dir, "CYRUS_USER": self.owner.pw_name, "LD_LIBRARY_PATH": self.path("lib"),
            "SASL_PATH": self.path("sasl2")}
        for account in self.accounts:
            self.set_password(account, PASSWORD)
        for _ in range(5):  # another program may take a free port first
            if self.start():
                for account in self.accounts:
                    self.client(account).logout()  # the first login makes the mailboxes
                return self
        raise AssertionError(f"Cyrus does not start: {self.log()}")

    def set_password(self, account, password):
        name, _, realm = account.partition("@")
        subprocess.run([os.path.join(HOME, "usr/sbin/saslpasswd2"), "-p", "-c", "-f", self.path("var/sasldb2"), "-u", realm or "localhost",
            name], input=password, text=True, env=self.env, check=True, capture_output=True)
        os.chown(self.path("var/sasldb2"), self.owner.pw_uid, self.owner.pw_gid)

    def take(self, path, into):
        os.makedirs(self.path(into), exist_ok=True)
        shutil.copy(path, self.path(into))

    def settings(self):
        """The text of imapd.conf."""
        return IMAPD.format(dir=self.dir)

    def services(self):
        """(name, program, options, port) of each."""
        self.port = free_port()
        return [("imap", "imapd", "", self.port)]

    def configure(self):
        services = "\n".join(SERVICE.format(dir=self.dir, bin=self.path("bin"), name=name, program=program, options=options, port=port)
            for name, program, options, port in self.services())
        self.write("imapd.conf", self.settings())
        self.write("cyrus.conf", MASTER.format(dir=self.dir, bin=self.path("bin"), services=services))
        for folder, folders, files in os.walk(self.dir):
            for path in [folder] + [os.path.join(folder, name) for name in folders + files]:
                os.chown(path, self.owner.pw_uid, self.owner.pw_gid)

    def start(self):
        self.configure()
        options = {"user": self.owner.pw_uid, "group": self.owner.pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
        # It ends with the test, and sends its signals to all of its process group.
        with open(self.path("log"), "wb") as log:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", self.path("bin/master"), "-C", self.path("imapd.conf"), "-M",
                self.path("cyrus.conf"), "-p", self.path("master.pid"), "-D"], cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True, **options)
        deadline = time.monotonic() + START_S
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                imaplib.IMAP4("127.0.0.1", self.port, timeout=5).logout()
                return True
            except (OSError, imaplib.IMAP4.error):
                time.sleep(0.05)  # it has no event to wait for
        self.stop()
        return False

    def stop(self):
        """Its processes too, which would go on writing in a directory that is being removed."""
        super().stop()
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
                for _ in range(100):  # and no longer: in some containers nobody looks after the dead
                    os.killpg(self.process.pid, 0)
                    time.sleep(0.01)


class Relay(Smtp):
    """The SMTP server that Cyrus submits to: it delivers to accounts, refuses other addresses of their domains, and keeps the rest."""

    def __init__(self):
        super().__init__((), auth=None)
        self.late = []

    def knows(self, address):
        domains = {account.partition("@")[2] for account in self.accounts}
        return address.partition("@")[2] not in domains or address.lower() in self.accounts

    def deliver(self, mail):
        """Before it is taken. Cyrus keeps the sender's mailbox locked until then, so what is for the sender as well is delivered later."""
        if mail.sender not in mail.recipients:
            super().deliver(mail)
            return
        self.late.append(threading.Thread(target=super().deliver, args=(mail,)))
        self.late[-1].start()

    def settle(self):
        """Wait until all of it is delivered."""
        while self.late:
            self.late.pop().join()


class CyrusJmap(Cyrus):
    """The same with JMAP at `jmap_url`. Accounts are addresses, and log in with them. What they submit goes to `smtp`. No push: its
    EventSource is empty."""

    programs = ("imapd", "httpd", "lmtpd")

    def __init__(self, accounts, http_port=0):
        super().__init__(accounts)
        self.wanted = http_port

    def __enter__(self):
        self.smtp = Relay()
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.smtp)
            super().__enter__()
            self.exits = stack.pop_all()
        self.smtp.lmtp_port = self.lmtp_port
        self.smtp.accounts = list(self.accounts)
        return self

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self.exits.close()

    def settings(self):
        return super().settings().replace("virtdomains: off", "virtdomains: userid\ndefaultdomain: localhost") + JMAP.format(smtp=self.smtp.port)

    def services(self):
        self.http_port, self.lmtp_port = self.wanted or free_port(), free_port()
        self.jmap_url = f"http://127.0.0.1:{self.http_port}/jmap/"
        return [*super().services(), ("http", "httpd", "", self.http_port), ("lmtp", "lmtpd", " -a", self.lmtp_port)]

    def add(self, account, password=PASSWORD):
        """Another account."""
        self.accounts = [*self.accounts, account]
        self.smtp.accounts.append(account)
        self.set_password(account, password)
        self.client(account).logout()


def free_port():
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as free:
        return free.getsockname()[1]
