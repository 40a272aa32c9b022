"""JSON Web Tokens as their issuers make them, and as attackers do; keys by openssl."""

import base64
import hashlib
import hmac
import http.server
import json
import os
import subprocess
import threading


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unsigned(header, claims):
    return b64(json.dumps(header).encode()) + "." + b64(json.dumps(claims).encode())


def hs256(claims, secret="jwt-secret", **header):
    secret = secret if isinstance(secret, bytes) else secret.encode()
    text = unsigned({"alg": "HS256", "typ": "JWT", **header}, claims)
    return text + "." + b64(hmac.new(secret, text.encode(), hashlib.sha256).digest())


def openssl(*args, stdin=b""):
    return subprocess.run(["openssl", *args], input=stdin, capture_output=True, check=True).stdout


class RsaKey:
    """A new key in that directory."""

    def __init__(self, folder, kid):
        self.path, self.kid = os.path.join(folder, f"{kid}.pem"), kid
        openssl("genpkey", "-algorithm", "rsa", "-pkeyopt", "rsa_keygen_bits:2048", "-out", self.path)
        modulus = openssl("rsa", "-in", self.path, "-noout", "-modulus").decode().strip().split("=")[1]
        self.jwk = {"kty": "RSA", "kid": kid, "n": b64(bytes.fromhex(modulus)), "e": "AQAB"}

    def public(self, form):
        return openssl("pkey", "-in", self.path, "-pubout", "-outform", form)

    def rs256(self, claims, **header):
        text = unsigned({"alg": "RS256", "kid": self.kid, **header}, claims)
        return text + "." + b64(openssl("dgst", "-sha256", "-sign", self.path, stdin=text.encode()))


class Issuer:
    """Serves a set of keys; as a context it ends."""

    def __init__(self, *keys):
        body = json.dumps({"keys": keys}).encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *ignored):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/keys"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.server.shutdown()
        self.server.server_close()
