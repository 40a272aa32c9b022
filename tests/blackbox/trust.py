"""usage: trust.py PROGRAM - what a repository's own files may set, where secrets go, and what is refused at the start."""

import http.server
import json
import os
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402

SECRET = "s3cret-of-the-user"


class Listener:
    """A server on loopback that keeps whatever it is sent."""

    def __init__(self):
        listener = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
                listener.heard.append(f"{self.path} {self.headers} {body}")
                self.send_response(500)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *ignored):
                pass

        self.heard = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.server.shutdown()
        self.server.server_close()


class Clone:
    """A repository of somebody else's, in which the user works; both are in the room."""

    def __init__(self, m):
        self.m = m
        self.dir = os.path.join(os.path.realpath(m.dir), "clone")
        os.makedirs(self.dir)
        subprocess.run(["git", "init", "-q", self.dir], check=True)

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, *args, stdin="", status=0, **env):
        done = subprocess.run([self.m.program, *args], cwd=self.dir, env=self.m.env(**env), input=stdin, text=True,
            capture_output=True, timeout=60, check=False)
        assert status is None or done.returncode == status, describe(done)
        return done

    def settings(self, *args, **env):
        return {row["key"]: row for row in json.loads(self.run("--json", "config", *args, **env).stdout)["settings"]}


def ways(env_name, key, url):
    """The two files a repository can have, and the options that accept them."""
    return ((".env", f"{env_name}={url}\n", env_name, "--env-file"),
        ("mailroom.yaml", f"{key}: {url}\n", key, "--config"))


def redirects_nothing(m, env_name, key, path, act, **secret):
    """`act` runs the program so that it would send; it must not reach an endpoint of the repository."""
    c = Clone(m)
    for file, _, _, _ in ways(env_name, key, ""):
        with Listener() as evil:
            (text, name, option), = [(t, n, o) for f, t, n, o in ways(env_name, key, evil.url + path) if f == file]
            c.write(file, text)
            said = act(c, **secret)
            assert evil.heard == [], evil.heard
            assert f"mailroom: warning: {file} in the working directory sets {name}" in said, said
            assert f"give {option} {file}" in said, said
            # The user's word: it is asked now, and gets the secret, so the silence above meant something.
            said = act(c, option, file, **secret)
            assert any(SECRET in words for words in evil.heard), (evil.heard, said)
            assert "warning" not in said, said
            evil.heard.clear()
            act(c, **secret, **{env_name: evil.url + path})
            assert any(SECRET in words for words in evil.heard), evil.heard
            os.unlink(os.path.join(c.dir, file))
            # In the user's own file it is the user's word too.
            own = os.path.join(m.dir, "xdg", "mailroom")
            os.makedirs(own, exist_ok=True)
            evil.heard.clear()
            with open(os.path.join(own, "mailroom.yaml"), "w", encoding="utf-8") as config:
                config.write(f"{key}: {evil.url + path}\n")
            assert "warning" not in act(c, **secret, XDG_CONFIG_HOME=os.path.dirname(own))
            assert any(SECRET in words for words in evil.heard), evil.heard


def mail_and_its_key_stay_with_the_users_model(m):
    def act(c, *args, **env):
        return c.run("team", "summarize", "backend", "PLAN", *args, **env).stderr

    m.json("team", "register", "backend", "BlueLake", "--program", "codex", "--model", "gpt")
    m.json("team", "send", "backend", "BlueLake", "--to", "BlueLake", "--subject", "s", "--body-md", "- a point",
        "--thread-id", "PLAN")
    redirects_nothing(m, "LLM_ENDPOINT", "llm.endpoint", "/v1", act, LLM_API_KEY=SECRET)


def the_guards_token_stays_with_its_server(m):
    def act(c, *args, **env):
        said = c.run("guard", "check", "a.c", *args, status=None, AGENT_NAME="BlueLake", **env).stderr
        said += c.run("guard", "status", *args, status=None, **env).stderr
        return said

    redirects_nothing(m, "AGENT_MAIL_URL", "guard.url", "/mcp", act, AGENT_MAIL_TOKEN=SECRET)


def traces_and_their_headers_stay_with_the_collector(m):
    def act(c, *args, **env):
        c.write("../serve.log", "")
        with open(os.path.join(m.dir, "serve.log"), "r+", encoding="utf-8") as log:
            server = subprocess.Popen([m.program, "serve", "--port", "0", *args], cwd=c.dir, env=m.env(**env),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
            try:
                url = server.stdout.readline().split()[-1]
                connection = http.client.HTTPConnection(url[len("http://"):], timeout=60)
                connection.request("GET", "/health")
                connection.getresponse().read()
                connection.close()
            finally:
                # Spans are sent at the latest when the server ends.
                server.terminate()
                assert server.wait(60) == 0
                server.stdout.close()
            log.seek(0)
            return "".join(line for line in log if not line.startswith("{"))

    redirects_nothing(m, "OTEL_EXPORTER_OTLP_ENDPOINT", "otel.endpoint", "", act,
        OTEL_EXPORTER_OTLP_HEADERS=f"x-key={SECRET}")


def the_servers_token_stays_with_the_server(m):
    c = Clone(m)
    with Listener() as evil:
        host, port = evil.url[len("http://"):].split(":")
        c.write(".env", f"HTTP_HOST={host}\nHTTP_PORT={port}\n")
        # A port where nobody listens, so that no server of this machine is asked.
        done = c.run("doctor", status=None, HTTP_BEARER_TOKEN=SECRET, HTTP_HOST="127.0.0.9", HTTP_PORT="9")
        assert evil.heard == [] and SECRET not in done.stdout + done.stderr, describe(done)
        result = json.loads(c.run("--json", "connect", "cursor", HTTP_BEARER_TOKEN=SECRET).stdout)
        assert result["url"] == "http://127.0.0.1:8765/mcp", result
        c.run("doctor", "--env-file", ".env", status=None, HTTP_BEARER_TOKEN=SECRET)
        assert any(SECRET in words for words in evil.heard), evil.heard


def data_stays_where_the_user_keeps_it(m):
    c = Clone(m)
    c.write(".env", "STORAGE_ROOT=loot\nHOUMAO_GLOBAL_MAILBOX_DIR=loot\nDATABASE_URL=loot.db\n")
    done = c.run("team", "register", "backend", "BlueLake", "--program", "p", "--model", "m", STORAGE_ROOT=None)
    assert "sets STORAGE_ROOT, HOUMAO_GLOBAL_MAILBOX_DIR, DATABASE_URL, which only you may set" in done.stderr, done.stderr
    c.run("mailbox", "init", status=None)
    names = os.listdir(c.dir)
    assert "loot" not in names and "loot.db" not in names, names
    assert os.path.exists(os.path.join(m.dir, ".mcp_agent_mail_git_mailbox_repo", "storage.sqlite3"))
    assert os.path.isdir(os.path.join(c.dir, ".houmao", "mailbox")), names


def protections_stay_on(m):
    c = Clone(m)
    c.write("mailroom.yaml", "http: {allow_localhost: true, trusted_proxies: [127.0.0.1], allowed_origins: [http://evil]}\n"
        "rbac: {enabled: false}\nagent.auth: off\nguard.bypass: 1\nguard.mode: warn\ncors: {enabled: true, origins: ['*']}\n"
        "attachment.roots: [/etc]\nteam.name_validation: any\n")
    own = os.path.join(m.dir, ".config", "mailroom")
    os.makedirs(own)
    with open(os.path.join(own, "mailroom.yaml"), "w", encoding="utf-8") as file:
        file.write("http: {allow_localhost: false, bearer_token: hunter2}\nagent.auth: require\n")
    rows = c.settings(HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED=None)
    for key, value in (("http.allow_localhost", "false"), ("http.bearer_token", "********"), ("rbac.enabled", "true"),
            ("agent.auth", "require"), ("guard.bypass", ""), ("guard.mode", "block"), ("cors.enabled", "false"),
            ("attachment.roots", ""), ("http.trusted_proxies", "")):
        assert rows[key]["value"] == value, rows[key]
    # What is harmless is the repository's to say.
    assert (rows["team.name_validation"]["value"], rows["team.name_validation"]["source"]) == ("any", "mailroom.yaml")


def config_says_what_was_ignored(m):
    c = Clone(m)
    c.write(".env", "APP=x\nLLM_ENDPOINT=http://evil\nACK_TTL_SECONDS=7\n")
    rows = c.settings()
    assert rows["llm.endpoint"]["value"] == "" and rows["llm.endpoint"]["source"] == "default", rows["llm.endpoint"]
    why = ".env line 2: a file in the working directory may not set it"
    assert rows["llm.endpoint"]["ignored"] == why, rows["llm.endpoint"]
    assert rows["ack.ttl_seconds"]["source"] == ".env line 3" and rows["ack.ttl_seconds"]["ignored"] is None
    assert why in c.run("config").stdout
    rows = c.settings("--env-file", ".env")
    assert (rows["llm.endpoint"]["value"], rows["llm.endpoint"]["source"]) == ("http://evil", ".env line 2")
    assert rows["llm.endpoint"]["ignored"] is None
    done = c.run("config", "--env-file", "absent", status=1)
    assert "absent: cannot open absent" in done.stderr, done.stderr
    done = c.run("config", "--env-file", status=2)
    assert "--env-file needs a value" in done.stderr, done.stderr


# ---- what is refused at the start ----


def serving_strangers_takes_a_token(m):
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        for args, env in ((("--host", host), {}), ((), {"HTTP_HOST": host})):
            done = m.run("serve", "--port", "0", *args, env=env)
            assert done.returncode == 2 and not done.stdout, describe(done)
            for word in (f"{host} can be reached from other machines", "HTTP_BEARER_TOKEN", "HTTP_JWT_ENABLED=true",
                    "HTTP_JWT_SECRET", "listen on 127.0.0.1"):
                assert word in done.stderr, describe(done)
    assert not os.path.exists(m.root)
    # Whoever asks for a token may listen everywhere; whoever listens here needs none.
    for env in ({"HTTP_BEARER_TOKEN": "t"}, {"HTTP_BEARER_TOKENS": "t:reader"},
            {"HTTP_JWT_ENABLED": "true", "HTTP_JWT_SECRET": "x" * 32}):
        with m.serve("--host", "0.0.0.0", env=env) as server:
            assert " listens on http://0.0.0.0:" in server.greeting, server.greeting
    for host in ("127.0.0.1", "127.0.0.9", "localhost"):
        with m.serve("--host", host) as server:
            assert server.get("/health/liveness")[0] == 200


def without_home_nothing_is_named_tilde(m):
    commands = (("serve", "--port", "0"), ("health",), ("health", "readiness"), ("team", "projects"),
        ("team", "health"), ("guard", "check", "a"), ("doctor",))
    here = os.path.join(m.dir, "here")
    os.makedirs(here)
    keep = {k: v for k, v in m.env().items() if k.startswith(("ASAN_", "UBSAN_", "LSAN_"))}
    for home in ({}, {"HOME": ""}):
        for args in commands:
            done = subprocess.run([m.program, *args], cwd=here, env={**keep, "PATH": os.environ["PATH"], **home},
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode in (1, 2), describe(done)
            assert "storage.root is ~/.mcp_agent_mail_git_mailbox_repo, and HOME is not set: set HOME, or STORAGE_ROOT" \
                in done.stdout + done.stderr, describe(done)
            assert os.listdir(here) == [], (args, os.listdir(here))
    done = subprocess.run([m.program, "mailbox", "init"], cwd=here, env={**keep, "HOUMAO_GLOBAL_MAILBOX_DIR": "~/box"},
        capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode and "mailbox.root is ~/box, and HOME is not set" in done.stdout + done.stderr, describe(done)
    assert os.listdir(here) == [], os.listdir(here)
    # Nothing is wrong where the path is not below it.
    done = subprocess.run([m.program, "health"], cwd=here, env={**keep, "STORAGE_ROOT": os.path.join(m.dir, "data")},
        capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, describe(done)


with Tap() as tap:
    for case in (mail_and_its_key_stay_with_the_users_model, the_guards_token_stays_with_its_server,
            traces_and_their_headers_stay_with_the_collector, the_servers_token_stays_with_the_server,
            data_stays_where_the_user_keeps_it, protections_stay_on, config_says_what_was_ignored,
            serving_strangers_takes_a_token, without_home_nothing_is_named_tilde):
        with Mailroom(sys.argv[1]) as room:
            tap.run(case.__name__, case, room)
