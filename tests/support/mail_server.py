"""A real IMAP server for tests: Dovecot as an ordinary user, on free ports of this machine, with accounts of its own."""

import base64
import contextlib
import grp
import hashlib
import hmac
import imaplib
import json
import os
import pwd
import shutil
import socket
import ssl
import subprocess
import tempfile
import time

PASSWORD = "secret"
DOVECOT = shutil.which("dovecot", path="/usr/sbin:/usr/local/sbin:/usr/bin")
HAS_LMTP = any(os.path.exists(f"{folder}/dovecot/lmtp") for folder in ("/usr/lib", "/usr/libexec", "/usr/local/libexec"))
START_S = 60
TOKEN_KEY = b"a-key-for-tokens-of-at-least-32-bytes"
# What this Dovecot says it can do by itself, for lists that lack something.
CAPABILITIES = """IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE SORT SORT=DISPLAY THREAD=REFERENCES THREAD=REFS
    THREAD=ORDEREDSUBJECT MULTIAPPEND URL-PARTIAL CATENATE UNSELECT CHILDREN NAMESPACE UIDPLUS LIST-EXTENDED I18NLEVEL=1 CONDSTORE
    QRESYNC ESEARCH ESORT SEARCHRES WITHIN CONTEXT=SEARCH LIST-STATUS BINARY MOVE SNIPPET=FUZZY PREVIEW=FUZZY PREVIEW STATUS=SIZE
    SAVEDATE LITERAL+ NOTIFY SPECIAL-USE""".split()

CONFIG = """\
base_dir = {dir}/run
state_dir = {dir}/run
log_path = {dir}/log
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
protocols = {protocols}
listen = 127.0.0.1
{tls}
disable_plaintext_auth = no
auth_mechanisms = {mechanisms}
auth_failure_delay = 0
mail_location = maildir:{dir}/mail/%n
mail_fsync = never
mail_max_userip_connections = 100
first_valid_uid = 0
postmaster_address = postmaster@localhost
mail_plugins = {plugins}
passdb {{
  driver = passwd-file
  mechanisms = plain login scram-sha-256 none
  args = scheme=PLAIN username_format=%n {dir}/users
}}
{passdb}
userdb {{
  driver = static
  args = uid={user} gid={group} home={dir}/mail/%n
}}
namespace inbox {{
  inbox = yes
  separator = /
{mailboxes}
}}
protocol imap {{
  mail_plugins = {plugins} {imap_plugins}
{capability}
}}
plugin {{
{rules}
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {tls_port}
  }}
}}
{services}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service stats {{
  chroot =
}}
"""

LMTP = """\
service lmtp {{
  inet_listener lmtp {{
    port = {port}
  }}
}}
"""

OAUTH = """\
passdb {{
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = {dir}/oauth2.conf
}}
"""


class Dovecot:
    """Runs while the context is open. `port` is its IMAP port; what else it has is asked for:

    uses          mailboxes of a special use, beside INBOX
    certificate   the files of a certificate and its key: then `port` knows STARTTLS, and `tls_port` is TLS from the start
    without       capabilities that it does not name; without SPECIAL-USE its mailboxes have the names and not the attributes
    compress      COMPRESS=DEFLATE, which it does not name else
    quota_kib     what an account may hold
    read_only     mailboxes that nobody can change
    oauth         XOAUTH2 and OAUTHBEARER, with tokens as token() makes them
    scram         SCRAM-SHA-256
    mechanisms    the ways to log in, in place of those that follow from the rest: "scram-sha-256" alone, for example
    lmtp          takes mail at `lmtp_port`, for the SMTP server of a test
    """

    def __init__(self, accounts, uses=("Drafts", "Sent", "Archive", "Junk", "Trash"), certificate=None, without=(), compress=False,
            quota_kib=None, read_only=(), oauth=False, scram=False, mechanisms=None, lmtp=False):
        self.accounts, self.uses, self.certificate, self.without = accounts, uses, certificate, without
        self.compress, self.quota_kib, self.read_only, self.oauth, self.lmtp = compress, quota_kib, read_only, oauth, lmtp
        self.mechanisms = mechanisms or " ".join(["plain login"] + ["xoauth2 oauthbearer"] * oauth + ["scram-sha-256"] * scram)
        self.process = None

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="mr-dovecot-")
        owner = pwd.getpwuid(os.getuid())
        if os.getuid() == 0:  # its processes do not like root
            owner = pwd.getpwnam("nobody")
        self.owner, self.group = owner, grp.getgrgid(owner.pw_gid).gr_name
        os.mkdir(self.path("mail"))
        self.write("users", "".join(f"{account}:{PASSWORD}::::::\n" for account in self.accounts))
        self.write("acl", "".join(f"{mailbox} owner lr\n" for mailbox in self.read_only))
        os.makedirs(self.path("keys/default/HS256"))
        self.write("keys/default/HS256/default", base64.b64encode(TOKEN_KEY).decode())
        self.write("oauth2.conf", f"introspection_mode = local\nlocal_validation_key_dict = fs:posix:prefix={self.dir}/keys/\n"
            "username_attribute = sub\n")
        for folder, folders, files in os.walk(self.dir):
            for path in [folder] + [os.path.join(folder, name) for name in folders + files]:
                os.chown(path, owner.pw_uid, owner.pw_gid)
        for _ in range(5):  # another program may take a free port first
            if self.start():
                return self
        raise AssertionError(f"Dovecot does not start: {self.log()}")

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)

    def take_ports(self):
        with contextlib.ExitStack() as held:
            free = [held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(3)]
        self.port, self.tls_port, self.lmtp_port = free

    def configure(self):
        special = "SPECIAL-USE" not in self.without
        mailboxes = "\n".join(f"  mailbox {name} {{\n" + (f"    special_use = \\{name}\n" if special else "") +
            "    auto = subscribe\n  }" for name in self.uses)
        tls = "ssl = no"
        if self.certificate:
            tls = f"ssl = yes\nssl_cert = <{self.certificate[0]}\nssl_key = <{self.certificate[1]}"
        named = [word for word in CAPABILITIES + ["COMPRESS=DEFLATE"] * self.compress if word not in self.without]
        plugins, rules = [], []
        if self.quota_kib:
            plugins.append("quota")
            rules += ["  quota = count:everything", f"  quota_rule = *:storage={self.quota_kib}K", "  quota_vsizes = yes"]
        if self.read_only:
            plugins.append("acl")
            rules.append(f"  acl = vfile:{self.path('acl')}")
        imap_plugins = ["imap_zlib"] * self.compress + ["imap_quota"] * bool(self.quota_kib) + ["imap_acl"] * bool(self.read_only)
        self.write("dovecot.conf", CONFIG.format(dir=self.dir, user=self.owner.pw_name, group=self.group, port=self.port,
            tls_port=self.tls_port if self.certificate else 0, tls=tls, mechanisms=self.mechanisms, mailboxes=mailboxes,
            protocols="imap lmtp" if self.lmtp else "imap", services=LMTP.format(port=self.lmtp_port) if self.lmtp else "",
            passdb=OAUTH.format(dir=self.dir) if self.oauth else "", plugins=" ".join(plugins), imap_plugins=" ".join(imap_plugins),
            rules="\n".join(rules), capability=f"  imap_capability = {' '.join(named)}" if self.without else ""))

    def start(self):
        self.take_ports()
        self.configure()
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

    def tls_client(self, account, ca):
        """Over TLS from the start, by somebody who trusts this authority."""
        client = imaplib.IMAP4_SSL("localhost", self.tls_port, ssl_context=ssl.create_default_context(cafile=ca), timeout=60)
        client.login(account, PASSWORD)
        return client

    def client(self, account):
        client = imaplib.IMAP4("127.0.0.1", self.port, timeout=60)
        client.login(account, PASSWORD)
        return client

    def mails(self, account, mailbox="INBOX"):
        """[(flags, bytes)] of a mailbox, without changing it."""
        client = self.client(account)
        must(client.select(f'"{mailbox}"', readonly=True))
        found = client.uid("FETCH", "1:*", "(FLAGS BODY.PEEK[])")[1]
        client.logout()
        return [(imaplib.ParseFlags(item[0]), item[1]) for item in found if isinstance(item, tuple)]

    def append(self, account, mailbox, mail, flags=""):
        client = self.client(account)
        must(client.append(f'"{mailbox}"', f"({flags})" if flags else None, None, mail))
        client.logout()

    def fill(self, account, mails):
        """Many mails into INBOX at once, as a delivery by another program leaves them."""
        directory = os.path.join(self.dir, "mail", account)
        for path in (directory, *(os.path.join(directory, sub) for sub in ("cur", "new", "tmp"))):
            os.makedirs(path, exist_ok=True)
            os.chown(path, self.owner.pw_uid, self.owner.pw_gid)
        for number, data in enumerate(mails):
            path = os.path.join(directory, "new", f"{number:08}.filled,S={len(data)}")
            with open(path, "wb") as file:
                file.write(data)
            os.chown(path, self.owner.pw_uid, self.owner.pw_gid)

    def copy(self, account, to):
        """Another account gets what this one has, with the same numbers."""
        subprocess.run(["cp", "-a", os.path.join(self.dir, "mail", account), os.path.join(self.dir, "mail", to)], check=True)

    def change(self, account, mailbox, *command):
        """One UID command on a mailbox; deleted mails go at once."""
        client = self.client(account)
        must(client.select(f'"{mailbox}"'))
        must(client.uid(*command))
        must(client.expunge())
        client.logout()


def token(account, lives_s=3600):
    """What an OAuth server would have given to the account; it is no longer good when `lives_s` is negative."""
    now = int(time.time())
    parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": account, "iat": now - 10, "nbf": now - 10, "exp": now + lives_s}]
    text = b".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    signature = hmac.new(TOKEN_KEY, text, hashlib.sha256).digest()
    return (text + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()


def must(answer):
    assert answer[0] == "OK", answer
