"""A real PostgreSQL as an ordinary user, in a temporary directory, reached by its Unix socket alone.

Run as a program it starts one, runs a test with MAILROOM_TEST_POSTGRES (the URL of an empty database), and stops it:

    postgres_server.py TEST [ARGUMENT ...]
    postgres_server.py --each TEST ...

With --each the tests run one after the other, and each is a point of the result.
"""

import contextlib
import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile

from tap import Tap

BIN = max(glob.glob("/usr/lib/postgresql/*/bin"), default="", key=lambda path: int(path.split("/")[4]))
HAS_POSTGRES = os.path.exists(os.path.join(BIN, "initdb"))
WHY_NOT = "there is no PostgreSQL server here (Debian's package postgresql)"


class Postgres:
    """Runs while the context is open; `url()` names one of its databases."""

    def __init__(self, durable=False, where=None):
        """`where` its data are, when that is not to be beside the socket."""
        self.durable, self.where = durable, where
        self.hosts, self.port, self.tls = "", 5432, ""

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="mr-pg-", dir="/tmp")  # a socket's path ends at 107 bytes
        self.data = tempfile.mkdtemp(prefix="postgres-", dir=self.where or self.dir)
        self.owner = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
        if os.getuid() == 0:
            for path in (self.dir, self.data):
                os.chown(path, self.owner.pw_uid, self.owner.pw_gid)
        os.chmod(self.dir, 0o755)
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "mailroom", "-E", "UTF8", "-N",
            "--locale=C", "--locale-provider=icu", "--icu-locale=en-US")  # an order of texts that is not that of their bytes
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        for path in (self.data, self.dir):
            shutil.rmtree(path, ignore_errors=True)

    def become(self):
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(self.owner.pw_gid)
            os.setuid(self.owner.pw_uid)

    def run(self, program, *arguments):
        done = subprocess.run([os.path.join(BIN, program), *arguments], preexec_fn=self.become, cwd=self.dir,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def start(self):
        """pg_ctl returns when the server answers."""
        options = f"-k {self.dir} -h '{self.hosts}' -p {self.port} -c max_connections=100 -c shared_buffers=16MB {self.tls}"
        if not self.durable:
            options += " -c fsync=off"
        self.run("pg_ctl", "-D", self.data, "-l", os.path.join(self.dir, "log"), "-o", options, "-w", "-t", "60", "start")

    def listen(self, address, port, certificate=None):
        """From now on by TCP, too, where a password is asked for; with TLS when there is a certificate, a pair of files."""
        with open(os.path.join(self.data, "pg_hba.conf"), "w", encoding="ascii") as file:
            file.write("local all all trust\nhost all all 127.0.0.0/8 scram-sha-256\n")
        self.stop()
        self.hosts, self.port, self.tls = address, port, ""
        if certificate:
            self.tls = "-c ssl=on -c ssl_cert_file=tls.pem -c ssl_key_file=tls.key"
            for name, source in zip(("tls.pem", "tls.key"), certificate):
                path = os.path.join(self.data, name)
                shutil.copyfile(source, path)
                shutil.chown(path, self.owner.pw_uid, self.owner.pw_gid)
                os.chmod(path, 0o600)
        self.start()

    def stop(self, mode="fast"):
        with contextlib.suppress(AssertionError):
            self.run("pg_ctl", "-D", self.data, "-m", mode, "-w", "-t", "60", "stop")

    def url(self, database="postgres"):
        return f"postgresql://mailroom@/{database}?host={self.dir}" + (f"&port={self.port}" if self.port != 5432 else "")

    def sql(self, text, database="postgres"):
        return subprocess.run(["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-h", self.dir, "-p", str(self.port), "-U", "mailroom", "-d", database,
            "-c", text], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()

    def script(self, text, database):
        """Statements, each by itself; their results are looked at by nobody."""
        subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", self.dir, "-p", str(self.port), "-U", "mailroom", "-d", database],
            input=text, stdout=subprocess.DEVNULL, text=True, check=True)

    def make(self, database):
        self.sql(f'CREATE DATABASE "{database}"')
        return self.url(database)


def main():
    if not HAS_POSTGRES:
        print(f"1..0 # SKIP {WHY_NOT}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with Postgres() as server:
        env = {**os.environ, "MAILROOM_TEST_POSTGRES": server.make("mailroom")}
        if sys.argv[1] != "--each":
            return subprocess.run(sys.argv[1:], env=env, check=False).returncode
        with Tap() as tap:
            for test in sys.argv[2:]:
                done = subprocess.run([test], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                wrong = [line for line in done.stdout.splitlines() if not line.startswith(("ok ", "1.."))]
                tap.ok(done.returncode == 0, os.path.basename(test), "\n".join(wrong))
    return 0


if __name__ == "__main__":
    sys.exit(main())
