"""Certificates for the servers of a test, signed by an authority that nobody else knows."""

import os
import shutil
import subprocess
import tempfile

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


class Certificates:
    """Has its files while the context is open: `ca` is the authority's certificate, for a client that trusts it."""

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="mr-certificates-")
        os.chmod(self.dir, 0o755)  # servers run as somebody else when the test is root
        self.ca = self.path("ca.pem")
        openssl("req", "-x509", *KEY, "-keyout", self.path("ca.key"), "-out", self.ca, "-days", "30", "-subj", "/CN=Test authority",
            "-addext", "basicConstraints=critical,CA:TRUE")
        return self

    def __exit__(self, *ignored):
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def make(self, name="good", names="DNS:localhost,IP:127.0.0.1", days=30):
        """The files of a certificate and its key, made when first asked for. It ended yesterday with `days` -1."""
        certificate, key = self.path(f"{name}.pem"), self.path(f"{name}.key")
        if not os.path.exists(certificate):
            with open(self.path(f"{name}.names"), "w", encoding="ascii") as file:
                file.write(f"subjectAltName={names}\n")
            openssl("req", *KEY, "-keyout", key, "-out", self.path(f"{name}.request"), "-subj", f"/CN={name}")
            openssl("x509", "-req", "-in", self.path(f"{name}.request"), "-CA", self.ca, "-CAkey", self.path("ca.key"),
                "-CAcreateserial", "-days", str(days), "-extfile", self.path(f"{name}.names"), "-out", certificate)
            os.chmod(key, 0o644)  # its only use is here
        return certificate, key

    def expired(self):
        return self.make("expired", days=-1)

    def of_another_host(self):
        return self.make("elsewhere", names="DNS:elsewhere.example")


def openssl(*arguments):
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, (arguments, done.stderr)
