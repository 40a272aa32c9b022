"""A second real IMAP server for tests: Cyrus as an ordinary user, unpacked by `script/setup cyrus` (it cannot be installed beside
Dovecot)."""

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

HOME = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "cyrus")
CYRUS = os.path.join(HOME, "usr", "lib", "cyrus", "bin")
HAS_CYRUS = os.path.exists(os.path.join(CYRUS, "imapd"))

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

MASTER = """\
START {{
  recover cmd="{bin}/ctl_cyrusdb -C {dir}/imapd.conf -r"
}}
SERVICES {{
  imap cmd="{bin}/imapd -C {dir}/imapd.conf" listen="127.0.0.1:{port}" prefork=0
}}
EVENTS {{
}}
"""


class Cyrus(Dovecot):
    """Runs while the context is open; `port` is its IMAP port. What clients do with it is as with a Dovecot."""

    def __init__(self, accounts):
        super().__init__(accounts)

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="mr-cyrus-")
        self.owner = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
        for name in ("spool", "var/db", "var/socket", "var/proc", "var/lock", "var/log", "var/msg"):
            os.makedirs(self.path(name))
        # What it needs is put where the server's user can read it.
        for name in ("imapd", "master", "ctl_cyrusdb"):
            self.take(os.path.join(CYRUS, name), "bin")
        for library in glob.glob(os.path.join(HOME, "**", "lib*.so.*"), recursive=True):
            self.take(library, "lib")
        self.env = {"PATH": "/usr/bin:/bin", "HOME": self.dir, "CYRUS_USER": self.owner.pw_name, "LD_LIBRARY_PATH": self.path("lib")}
        for account in self.accounts:
            subprocess.run([os.path.join(HOME, "usr/sbin/saslpasswd2"), "-p", "-c", "-f", self.path("var/sasldb2"), "-u", "localhost",
                account], input=PASSWORD, text=True, env=self.env, check=True, capture_output=True)
        for _ in range(5):  # another program may take a free port first
            if self.start():
                for account in self.accounts:
                    self.client(account).logout()  # the first login makes the mailboxes
                return self
        raise AssertionError(f"Cyrus does not start: {self.log()}")

    def take(self, path, into):
        os.makedirs(self.path(into), exist_ok=True)
        shutil.copy(path, self.path(into))

    def configure(self):
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as free:
            self.port = free.getsockname()[1]
        self.write("imapd.conf", IMAPD.format(dir=self.dir))
        self.write("cyrus.conf", MASTER.format(dir=self.dir, bin=self.path("bin"), port=self.port))
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
