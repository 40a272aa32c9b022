"""Cyrus as an ordinary user, unpacked by `script/setup cyrus` (it cannot be installed beside Dovecot): a second real IMAP server for
tests, and a real JMAP server."""

import contextlib
import glob
import imaplib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time

from mail_server import PASSWORD, START_S, Dovecot
from smtp_server import HAS_SMTP, Smtp

HOME = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "cyrus")
CYRUS = os.path.join(HOME, "usr", "lib", "cyrus", "bin")
HAS_CYRUS = os.path.exists(os.path.join(CYRUS, "imapd"))
HAS_CYRUS_JMAP = os.path.exists(os.path.join(CYRUS, "httpd")) and HAS_SMTP

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

    def __init__(self, accounts):
        super().__init__(accounts)

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="mr-cyrus-")
        self.owner = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
        for name in ("spool", "var/db", "var/socket", "var/proc", "var/lock", "var/log", "var/msg"):
            os.makedirs(self.path(name))
        # What it needs is put where the server's user can read it.
        for name in ("master", "ctl_cyrusdb", *self.programs):
            self.take(os.path.join(CYRUS, name), "bin")
        for library in glob.glob(os.path.join(HOME, "**", "lib*.so.*"), recursive=True):
            self.take(library, "lib")
        self.env = {"PATH": "/usr/bin:/bin", "HOME": self.dir, "CYRUS_USER": self.owner.pw_name, "LD_LIBRARY_PATH": self.path("lib")}
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
        with open(self.path("log"), "wb") as log:
            self.process = subprocess.Popen([self.path("bin/master"), "-C", self.path("imapd.conf"), "-M",
                self.path("cyrus.conf"), "-p", self.path("master.pid"), "-D"], cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, **options)
        deadline = time.monotonic() + START_S
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                imaplib.IMAP4("127.0.0.1", self.port, timeout=5).logout()
                return True
            except (OSError, imaplib.IMAP4.error):
                time.sleep(0.05)  # it has no event to wait for
        self.stop()
        return False


class CyrusJmap(Cyrus):
    """The same with JMAP at `jmap_url`. Accounts are addresses, and log in with them. What they submit goes to `smtp`, which keeps
    it, and delivers what is for one of the accounts. No push: its EventSource is empty."""

    programs = ("imapd", "httpd", "lmtpd")

    def __enter__(self):
        self.smtp = Smtp((), auth=None)
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
        self.http_port, self.lmtp_port = free_port(), free_port()
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
