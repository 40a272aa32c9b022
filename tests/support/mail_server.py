"""A real IMAP server for tests: Dovecot as an ordinary user, on a free port of this machine, with accounts of its own."""

import grp
import imaplib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time

PASSWORD = "secret"
DOVECOT = shutil.which("dovecot", path="/usr/sbin:/usr/local/sbin:/usr/bin")
START_S = 60

CONFIG = """\
base_dir = {dir}/run
state_dir = {dir}/run
log_path = {dir}/log
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_mechanisms = plain login
mail_location = maildir:{dir}/mail/%n
mail_fsync = never
first_valid_uid = 0
passdb {{
  driver = passwd-file
  args = scheme=PLAIN username_format=%n {dir}/users
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={dir}/mail/%n
}}
namespace inbox {{
  inbox = yes
  separator = /
{mailboxes}
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
"""


class Dovecot:
    """Runs while the context is open; `port` is its IMAP port."""

    def __init__(self, accounts, uses=("Drafts", "Sent", "Archive", "Junk", "Trash")):
        self.accounts = accounts
        self.uses = uses
        self.process = None

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="mr-dovecot-")
        owner = pwd.getpwuid(os.getuid())
        if os.getuid() == 0:  # its processes do not like root
            owner = pwd.getpwnam("nobody")
        self.owner, self.group = owner, grp.getgrgid(owner.pw_gid).gr_name
        with open(os.path.join(self.dir, "users"), "w", encoding="ascii") as file:
            file.writelines(f"{account}:{PASSWORD}::::::\n" for account in self.accounts)
        os.mkdir(os.path.join(self.dir, "mail"))
        for path in (self.dir, os.path.join(self.dir, "users"), os.path.join(self.dir, "mail")):
            os.chown(path, owner.pw_uid, owner.pw_gid)
        for _ in range(5):  # another program may take the free port first
            if self.start():
                return self
        raise AssertionError(f"Dovecot does not start: {self.log()}")

    def start(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        mailboxes = "\n".join(f"  mailbox {name} {{\n    special_use = \\{name}\n    auto = subscribe\n  }}"
            for name in self.uses)
        with open(os.path.join(self.dir, "dovecot.conf"), "w", encoding="ascii") as file:
            file.write(CONFIG.format(dir=self.dir, user=self.owner.pw_name, group=self.group, port=self.port,
                mailboxes=mailboxes))
        options = {"user": self.owner.pw_uid, "group": self.owner.pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
        self.process = subprocess.Popen([DOVECOT, "-F", "-c", os.path.join(self.dir, "dovecot.conf")], cwd=self.dir,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": self.dir}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        deadline = time.monotonic() + START_S
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                imaplib.IMAP4("127.0.0.1", self.port, timeout=5).logout()
                return True
            except (OSError, imaplib.IMAP4.error):
                time.sleep(0.05)  # it has no event to wait for
        self.stop()
        return False

    def log(self):
        try:
            with open(os.path.join(self.dir, "log"), encoding="utf-8", errors="replace") as file:
                return file.read()[-500:]
        except OSError:
            return "it wrote no log"

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def __exit__(self, *ignored):
        self.stop()
        shutil.rmtree(self.dir, ignore_errors=True)

    def client(self, account):
        client = imaplib.IMAP4("127.0.0.1", self.port, timeout=60)
        client.login(account, PASSWORD)
        return client

    def append(self, account, mailbox, mail, flags=""):
        client = self.client(account)
        must(client.append(f'"{mailbox}"', f"({flags})" if flags else None, None, mail))
        client.logout()

    def change(self, account, mailbox, *command):
        """One UID command on a mailbox; deleted mails go at once."""
        client = self.client(account)
        must(client.select(f'"{mailbox}"'))
        must(client.uid(*command))
        must(client.expunge())
        client.logout()


def must(answer):
    assert answer[0] == "OK", answer
