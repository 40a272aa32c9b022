"""usage: guard.py PROGRAM SOURCE - the guard in real repositories: commits, pushes and edits of files others hold."""

import glob
import http.server
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402

HOLDER, OTHER = "GreenCastle", "BlueLake"
DAY_US = 86400 * 1000000


class Repo:
    """A repository that is a project with two agents, and the guard in it."""

    def __init__(self, m, name="backend", install=True, register=True):
        self.m = m
        self.path = os.path.join(os.path.realpath(m.dir), name)
        os.makedirs(self.path)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "n")
        self.git("config", "user.email", "n@example.com")
        if register:
            for agent in (HOLDER, OTHER):
                m.json("team", "register", self.path, agent, "--program", "codex", "--model", "gpt")
        if install:
            m.json("guard", "install", self.path)

    def run(self, *words, cwd=None, status=0, **env):
        done = subprocess.run(words, cwd=cwd or self.path, env=self.m.env(**env), capture_output=True, text=True,
            timeout=60, check=False)
        assert status is None or done.returncode == status, describe(done)
        return done

    def git(self, *words, **options):
        return self.run("git", *words, **options)

    def write(self, *paths, text="x\n"):
        for path in paths:
            whole = os.path.join(self.path, path)
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            with open(whole, "w", encoding="utf-8") as file:
                file.write(text)

    def commit(self, *paths, agent=OTHER, status=0, text=None, **options):
        """Commit these files, or what is staged."""
        self.write(*paths, text=text or f"{os.urandom(8).hex()}\n")
        if paths:
            self.git("add", "-A", "--", *paths)
        return self.git("commit", "-qm", "change", status=status, AGENT_NAME=agent, **options)

    def start(self, *paths):
        """A first commit that the guard does not see."""
        self.write(*(paths or ["README"]))
        self.git("add", "-A")
        self.git("commit", "-qnm", "start")

    def reserve(self, *paths, agent=HOLDER, more=()):
        return self.m.json("team", "reserve", self.path, agent, *paths, *more)["granted"]

    def check(self, *args, agent=OTHER, status=0, stdin="", cwd=None, **env):
        done = subprocess.run([self.m.program, "--json", "guard", "check", *args], cwd=cwd or self.path,
            env=self.m.env(AGENT_NAME=agent, **env), input=stdin, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == status and not done.stderr, describe(done)
        return json.loads(done.stdout)

    def held(self, *args, **options):
        """The paths others hold, and who they are."""
        answer = self.check(*args, status=1, **options)
        assert answer["error"]["type"] == "FILE_RESERVATION_CONFLICT", answer
        return {c["path"]: [h["agent"] for h in c["holders"]] for c in answer["error"]["data"]["conflicts"]}

    def edit(self, path, agent=OTHER, tool="Edit", key="file_path", cwd=None, status=0, **env):
        return self.hook({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": tool,
            "tool_input": {key: path}, "cwd": cwd or self.path}, agent, status, **env)

    def hook(self, event, agent=OTHER, status=0, **env):
        text = event if isinstance(event, str) else json.dumps(event)
        done = subprocess.run([self.m.program, "guard", "hook", "pre-tool-use"], cwd=self.m.dir,
            env=self.m.env(AGENT_NAME=agent, **env), input=text, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == status, describe(done)
        return done

    def hooks(self):
        return os.path.join(self.path, ".git", "hooks")

    def put_hook(self, name, text, folder=None):
        path = os.path.join(folder or self.hooks(), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def database(self, sql, *values):
        database = sqlite3.connect(os.path.join(self.m.root, "storage.sqlite3"), timeout=30)
        with database:
            database.execute(sql, values)
        database.close()

    def forget_database(self):
        for path in glob.glob(os.path.join(self.m.root, "storage.sqlite3*")):
            os.unlink(path)

    def lease_files(self):
        return sorted(glob.glob(os.path.join(self.m.root, "projects", "*", "file_reservations", "*.json")))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def slug_of(path):
    return re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-")


def change_json(path, **members):
    record = json.loads(read(path))
    record.update(members)
    for holder in record.get("holders", []):
        holder.update(members)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(record, file)


# --- what is refused, and what is said ---


def a_commit_is_refused_and_told(m):
    r = Repo(m)
    r.reserve("src/**", more=("--reason", "it's a refactoring"))
    said = r.commit("src/app.py", status=1).stderr
    for part in ("src/app.py", HOLDER, "src/**", "for 60 more minutes", "it's a refactoring", "AGENT_MAIL_BYPASS=1"):
        assert part in said, (part, said)
    ask = next(line.split("ask: ")[1] for line in said.splitlines() if "ask: " in line)
    assert ask.startswith(f"mailroom team send {r.path} {OTHER} --to {HOLDER} "), ask
    done = r.run("sh", "-c", ask, PATH=os.path.dirname(m.program) + ":" + os.environ["PATH"])
    assert done.returncode == 0, describe(done)
    inbox = m.json("team", "inbox", r.path, HOLDER)["result"]
    assert inbox[0]["subject"] == "May I change src/app.py?" and inbox[0]["from"] == OTHER, inbox
    r.git("rm", "-q", "--cached", "src/app.py")
    r.commit("other/x")
    r.commit("src/app.py", agent=HOLDER)
    assert r.git("log", "--format=%s").stdout.split() == ["change", "change"]


def names_in_any_case(m):
    r = Repo(m)
    r.reserve("a")
    r.commit("a", agent="greencastle")
    r.commit("a", agent="Green Castle")
    r.commit("a", agent="GreenCastl", status=1)


def only_active_exclusive_leases_of_others(m):
    r = Repo(m)
    r.reserve("shared", more=("--no-exclusive",))
    r.reserve("released")
    m.json("team", "release", r.path, HOLDER, "released")
    r.reserve("expired")
    r.reserve("mine", agent=OTHER)
    r.database("UPDATE file_reservations SET expires_ts = expires_ts - ? WHERE path_pattern = 'expired'", DAY_US)
    r.commit("shared", "released", "expired", "mine")
    r.commit("mine", agent=HOLDER, status=1)


def two_holders_are_both_named(m):
    r = Repo(m)
    m.json("team", "register", r.path, "RedStone", "--program", "codex", "--model", "gpt")
    r.reserve("a")
    r.reserve("**", agent="RedStone")
    assert r.held("a") == {"a": [HOLDER, "RedStone"]}
    r.forget_database()
    assert {k: sorted(v) for k, v in r.held("a").items()} == {"a": [HOLDER, "RedStone"]}
    assert r.held("a", agent=HOLDER) == {"a": ["RedStone"]}


def patterns(m):
    """As they are written: a star is not widened for the guard."""
    r = Repo(m)
    r.reserve("src/*", "docs", "lib/**/*.py", "app/[id]/page.tsx", r.path + "/abs/x", "{one,two}/f")
    held = ["src/a", "docs/deep/x.md", "docs", "lib/a/b/c.py", "app/[id]/page.tsx", "app/i/page.tsx", "abs/x", "two/f"]
    free = ["src/deep/a", "documents", "lib/a.c", "three/f", "abs/y"]
    assert sorted(r.held(*held, *free)) == sorted(held)
    assert r.check(*free)["status"] == "passed"
    assert sorted(r.held("src/deep/a", RESERVATION_GLOB_STYLE="fnmatch")) == ["src/deep/a"]
    # The same, one by one: few paths ask the database otherwise than many.
    for path in held:
        assert list(r.held(path)) == [path]
    many = held + free + [f"more/{i}" for i in range(50)]
    assert sorted(r.held(*many)) == sorted(held)


def all_kinds_of_names(m):
    r = Repo(m)
    r.reserve("with space/**", "ümläut/日本.c", "quote*", "new?line", more=("--", "-dash", "tab*", "a?b"))
    for name in ("with space/a b.c", "ümläut/日本.c", "quote'\"$x.c", "new\nline", "-dash", "tab\there", "a\\b"):
        said = r.commit(name, status=1).stderr
        assert HOLDER in said, (name, said)
        r.git("rm", "-q", "--cached", "--", name)
    raw = os.fsencode(r.path) + b"/bad\xff.c"
    r.reserve("bad*")
    with open(raw, "w", encoding="utf-8") as file:
        file.write("x")
    r.git("add", "-A")
    assert "bad\ufffd.c" in r.held()


def renames_deletions_and_modes(m):
    r = Repo(m)
    r.start("old/a", "gone", "mode", "free")
    r.reserve("old/a", "gone", "new/b", "mode")
    r.git("mv", "old/a", "elsewhere")
    assert r.held() == {"old/a": [HOLDER]}
    r.git("reset", "-q", "--hard")
    os.mkdir(os.path.join(r.path, "new"))
    r.git("mv", "free", "new/b")
    assert r.held() == {"new/b": [HOLDER]}
    r.git("reset", "-q", "--hard")
    r.git("rm", "-q", "gone")
    assert r.held() == {"gone": [HOLDER]}
    r.git("reset", "-q", "--hard")
    os.chmod(os.path.join(r.path, "mode"), 0o755)
    r.git("add", "-A")
    assert r.held() == {"mode": [HOLDER]}


def odd_settings_of_git(m):
    r = Repo(m)
    r.start("src/a")
    r.reserve("src/a")
    for key, value in (("diff.relative", "true"), ("core.quotePath", "true"), ("color.ui", "always"),
            ("diff.noprefix", "true"), ("log.showSignature", "true"), ("diff.renames", "copies"),
            ("diff.external", "false"), ("status.relativePaths", "false")):
        r.git("config", key, value)
    r.write("src/a", text="y\n")
    r.git("add", "-A")
    assert r.held() == {"src/a": [HOLDER]}
    assert r.held(cwd=os.path.join(r.path, "src")) == {"src/a": [HOLDER]}


def what_is_committed_counts(m):
    """Not what is staged besides: git commit FILE has an index of its own; and git commit -a."""
    r = Repo(m)
    r.start("mine", "theirs")
    r.reserve("theirs")
    r.write("mine", "theirs", text="y\n")
    r.git("add", "-A")
    r.git("commit", "-qm", "x", "mine", AGENT_NAME=OTHER)
    r.git("commit", "-qm", "x", status=1, AGENT_NAME=OTHER)
    r.git("reset", "-q")
    r.git("commit", "-qam", "x", status=1, AGENT_NAME=OTHER)
    r.git("commit", "-q", "--allow-empty", "-m", "x", AGENT_NAME=OTHER)


def a_merge_brings_others_work(m):
    """What the holder has committed elsewhere may be merged; what is changed on the way may not."""
    r = Repo(m)
    r.start("both", "theirs", "held")
    r.git("checkout", "-qb", "topic")
    r.commit("both", "theirs", "held", agent=HOLDER)
    r.git("checkout", "-q", "main")
    r.commit("both")
    r.reserve("theirs", "held")
    r.git("merge", "-q", "topic", status=1, AGENT_NAME=OTHER)
    r.commit("both")
    r.git("reset", "-q", "--hard", "HEAD~1")
    r.git("merge", "-q", "topic", status=1, AGENT_NAME=OTHER)
    said = r.commit("both", "held", status=1).stderr
    assert "held" in said and "theirs" not in said, said


def case_folds_where_the_file_system_does(m):
    r = Repo(m)
    r.reserve("Src/App.py")
    r.check("src/app.py")
    r.edit("src/app.py")
    r.git("config", "core.ignorecase", "true")
    assert r.held("src/app.py") == {"src/app.py": [HOLDER]}
    r.edit("src/app.py", status=2)
    r.git("config", "core.ignorecase", "false")
    r.edit("src/app.py")


# --- who asks, and how strictly ---


def without_a_name(m):
    r = Repo(m)
    said = r.commit("a", agent=None, status=1).stderr
    assert "AGENT_NAME is not set" in said, said
    said = r.commit(agent="", status=1).stderr
    assert "AGENT_NAME is not set" in said, said
    said = r.commit(agent=None, AGENT_MAIL_GUARD_MODE="warn").stderr
    assert "AGENT_NAME is not set" in said, said
    answer = r.check("a", agent=None, status=1)["error"]
    assert answer["type"] == "PERMISSION_DENIED", answer


def warnings_and_bypass(m):
    r = Repo(m)
    r.reserve("a")
    for word in ("warn", "advisory", "ADV"):
        said = r.commit("a", AGENT_MAIL_GUARD_MODE=word).stderr
        assert HOLDER in said and "only a warning" in said, said
    said = r.commit("a", AGENT_MAIL_BYPASS="1").stderr
    assert "bypassed" in said, said
    for word in ("0", "", "false"):
        r.commit("a", status=1, AGENT_MAIL_BYPASS=word)
    for word in ("block", "", "enforce"):
        r.commit("a", status=1, AGENT_MAIL_GUARD_MODE=word)
    answer = r.check("a", AGENT_MAIL_GUARD_MODE="warn")
    assert answer["status"] == "warned" and answer["conflicts"][0]["holders"][0]["minutes_left"] == 60, answer
    assert r.check("a", "--advisory")["status"] == "warned"
    assert r.check("a", AGENT_MAIL_BYPASS="yes")["status"] == "bypassed"
    refused = r.check("a", status=2, AGENT_MAIL_GUARD_MODE="sometimes")["error"]
    assert refused["type"] == "INVALID_ARGUMENT" and "AGENT_MAIL_GUARD_MODE" in refused["message"], refused


def what_cannot_be_found_out(m):
    """2, and only in mode warn a pass."""
    r = Repo(m)
    shutil.rmtree(m.root)
    os.makedirs(os.path.join(m.root, "storage.sqlite3"))
    r.commit("a", status=1)
    assert "could not be checked" in r.check("a", status=2)["error"]["message"]
    passed = r.check("a", "--advisory")
    assert passed["status"] == "passed" and "could not be checked" in passed["warnings"][0], passed
    r.check("a", cwd=m.dir, status=2)
    r.edit("a")


def no_project_no_guard(m):
    r = Repo(m, register=False, install=False)
    answer = r.check("a", agent=None)
    assert answer["status"] == "passed" and "no project" in answer["warnings"][0], answer
    m.json("team", "register", "/elsewhere", OTHER, "--program", "codex", "--model", "gpt")
    assert r.check("a", agent=None)["source"] is None
    answer = r.check("a", "--project", "nowhere", agent=None)
    assert 'no project "nowhere"' in answer["warnings"][0], answer


def paths_on_standard_input(m):
    r = Repo(m)
    r.reserve("b c")
    assert r.held("--stdin-nul", stdin="a\0b c\0") == {"b c": [HOLDER]}
    assert r.check("--stdin-nul", stdin="")["checked"] == 0
    assert r.held(os.path.join(r.path, "b c")) == {"b c": [HOLDER]}
    os.mkdir(os.path.join(r.path, "sub"))
    assert r.held("../b c", cwd=os.path.join(r.path, "sub")) == {"b c": [HOLDER]}


# --- where leases are found ---


def without_the_database(m):
    """The archive's files say the same."""
    r = Repo(m)
    r.reserve("held", "released", "shared/x", "expired")
    m.json("team", "release", r.path, HOLDER, "released")
    r.reserve("soft", more=("--no-exclusive",))
    assert r.check("held2")["source"] == "database"
    r.forget_database()
    for path in r.lease_files():
        if json.loads(read(path))["path_pattern"] == "expired":
            change_json(path, expires_ts="2020-01-01T00:00:00+00:00")
    assert r.held("held", "released", "expired", "soft") == {"held": [HOLDER]}
    assert r.check("free")["source"] == "archive"
    r.commit("held", status=1)
    r.commit("released", status=1)  # `held` is still staged
    r.git("rm", "-q", "--cached", "held")
    r.commit("released")
    r.edit("held", status=2)


def a_peers_archive(m):
    """Records without holders and project.json; no end is no end."""
    r = Repo(m, register=False, install=False)
    slug = slug_of(r.path)
    folder = os.path.join(m.root, "projects", slug, "file_reservations")
    os.makedirs(folder)
    base = {"id": 1, "project": r.path, "agent": HOLDER, "exclusive": True, "reason": "", "created_ts": "2020-01-01"}
    for i, more in enumerate(({"path_pattern": "a", "expires_ts": None}, {"path_pattern": "b",
            "expires_ts": "2020-01-01T00:00:00Z"}, {"path_pattern": "c"}, {"path_pattern": "d", "exclusive": False})):
        with open(os.path.join(folder, f"{i}.json"), "w", encoding="utf-8") as file:
            json.dump({**base, **more}, file)
    assert r.held("a", "b", "c", "d") == {"a": [HOLDER], "c": [HOLDER]}
    refused = r.check("a", status=1)["error"]["data"]["conflicts"][0]["holders"][0]
    assert refused["minutes_left"] is None and refused["expires_ts"] is None, refused


def bad_files_are_passed_over_and_told(m):
    r = Repo(m)
    r.reserve("good", "bad1", "bad2", "bad3", "bad4")
    r.forget_database()
    by_pattern = {json.loads(read(path))["path_pattern"]: path for path in r.lease_files()}
    with open(by_pattern["bad1"], "w", encoding="utf-8") as file:
        file.write("{")
    change_json(by_pattern["bad2"], expires_ts="soon")
    change_json(by_pattern["bad3"], exclusive="yes")
    change_json(by_pattern["bad4"], path_pattern=7)
    r.write("notes.txt")
    with open(os.path.join(os.path.dirname(by_pattern["good"]), "README"), "w", encoding="utf-8") as file:
        file.write("not a lease")
    answer = r.check("bad1", "bad2", "bad3", "bad4")
    assert answer["status"] == "passed" and len(answer["warnings"]) == 4, answer
    assert all("passed over" in w for w in answer["warnings"]), answer
    assert r.held("good", "bad1") == {"good": [HOLDER]}
    said = r.commit("bad1").stderr
    assert said.count("passed over") == 4, said


def a_damaged_database_is_no_way_around(m):
    r = Repo(m)
    r.reserve("a")
    r.forget_database()
    with open(os.path.join(m.root, "storage.sqlite3"), "w", encoding="utf-8") as file:
        file.write("this is no database" * 1000)
    assert r.held("a") == {"a": [HOLDER]}
    answer = r.check("b")
    assert answer["source"] == "archive" and "instead" in answer["warnings"][0], answer


def another_programs_env(m):
    r = Repo(m)
    r.reserve("a")
    r.write(".env", text="DATABASE_URL=postgres://user:pw@host/app\nHTTP_PORT=many\nAPP_NAME=x\nLOG_LEVEL=verbose\n")
    assert r.held("a") == {"a": [HOLDER]}
    r.commit("a", status=1)
    r.write(".env", text='BROKEN="\n')
    r.commit("a", status=1)
    r.git("reset", "-q")
    r.commit("b")


def which_project(m):
    r = Repo(m, install=False)
    r.reserve("a")
    other = Repo(m, "frontend", install=False)
    other.reserve("b")
    assert r.held("a", "b") == {"a": [HOLDER]}
    assert r.held("a", "b", AGENT_MAIL_PROJECT="frontend") == {"b": [HOLDER]}
    assert r.held("a", "b", AGENT_MAIL_PROJECT=other.path) == {"b": [HOLDER]}
    assert r.held("a", "b", "--project", other.path) == {"b": [HOLDER]}
    # A directory of the repository as a project.
    sub = os.path.join(r.path, "services", "api")
    os.makedirs(sub)
    m.json("team", "register", sub, HOLDER, "--program", "codex", "--model", "gpt")
    m.json("team", "reserve", sub, HOLDER, "main.py")
    assert r.held("services/api/main.py", "main.py", AGENT_MAIL_PROJECT=sub) == {"main.py": [HOLDER]}
    r.edit("main.py", cwd=sub, status=2)
    # Over a link.
    link = os.path.join(m.dir, "link")
    real = Repo(m, "real", install=False, register=False)
    os.symlink(real.path, link)
    m.json("team", "register", link, HOLDER, "--program", "codex", "--model", "gpt")
    m.json("team", "reserve", link, HOLDER, "c")
    assert real.held("c") == {"c": [HOLDER]}
    real.edit(os.path.join(link, "c"), cwd=link, status=2)


def identities(m):
    """Two clones of one remote are one project."""
    r = Repo(m, "one", install=False, register=False)
    r.git("remote", "add", "origin", "git@example.com:team/app.git")
    env = {"PROJECT_IDENTITY_MODE": "git-remote"}
    m.json("team", "register", r.path, HOLDER, "--program", "codex", "--model", "gpt", env=env)
    m.json("team", "reserve", r.path, HOLDER, "a", env=env)
    other = Repo(m, "two", install=False, register=False)
    other.git("remote", "add", "origin", "https://example.com/team/app")
    assert other.held("a", **env) == {"a": [HOLDER]}
    assert other.held("a") == {"a": [HOLDER]}, "whatever is configured now"
    other.edit("a", status=2, **env)
    other.forget_database()
    assert other.held("a", **env) == {"a": [HOLDER]}


class Peer(http.server.BaseHTTPRequestHandler):
    """A server that knows one lease."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((asked, self.headers))
        if self.headers["Authorization"] != "Bearer secret":
            self.send_response(401)
            self.end_headers()
            return
        if "nowhere" in asked["params"]["uri"]:
            self.send_response(404)
            self.end_headers()
            self.wfile.write(b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32002, "message": "no such resource"}}')
            return
        leases = [{"id": 1, "agent": HOLDER, "path_pattern": "a", "exclusive": True, "reason": "r", "released_ts": None,
            "expires_ts": "2999-01-01T00:00:00Z"}, {"id": 2, "agent": 7}]
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"contents": [
            {"uri": asked["params"]["uri"], "mimeType": "application/json", "text": json.dumps(leases)}]}})
        if self.server.stream:
            body = f"event: message\ndata: {body}\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if self.server.stream else "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *ignored):
        pass


def a_server_that_is_configured(m):
    r = Repo(m, register=False, install=False)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Peer)
    server.asked, server.stream = [], False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    env = {"AGENT_MAIL_URL": f"http://127.0.0.1:{server.server_port}/mcp", "AGENT_MAIL_TOKEN": "secret"}
    assert r.held("a", "b", **env) == {"a": [HOLDER]}
    asked, headers = server.asked[-1]
    slug = slug_of(r.path)
    assert asked["method"] == headers["Mcp-Method"] == "resources/read", asked
    assert asked["params"]["uri"].startswith(f"resource://file_reservations/{slug}?"), asked
    answer = r.check("b", **env)
    assert answer["source"] == "server" and "passed over" in answer["warnings"][0], answer
    server.stream = True
    assert r.held("a", **env) == {"a": [HOLDER]}
    r.edit("a", status=2, **env)
    wrong = r.check("a", status=2, **{**env, "AGENT_MAIL_TOKEN": "guess"})["error"]["message"]
    assert "401" in wrong and "AGENT_MAIL_TOKEN" in wrong and "guess" not in wrong, wrong
    unknown = r.check("a", status=2, **env, AGENT_MAIL_PROJECT="nowhere")["error"]["message"]
    assert "it said 404: no such resource" in unknown, unknown
    server.shutdown()
    server.server_close()
    r.check("a", status=2, **env)
    assert r.check("a", "--advisory", **env)["status"] == "passed"
    r.edit("a", **env)


# --- hooks ---


def installed_and_taken_away(m):
    r = Repo(m, install=False)
    answer = m.json("guard", "install", r.path)
    assert answer["hook"] == os.path.join(r.hooks(), "pre-commit") and answer["warnings"] == [], answer
    before = {name: read(os.path.join(r.hooks(), name)) for name in ("pre-commit", "pre-push")}
    stamp = os.stat(answer["hook"]).st_mtime_ns
    assert m.json("guard", "install", r.path) == answer
    assert before == {name: read(os.path.join(r.hooks(), name)) for name in before}
    assert os.stat(answer["hook"]).st_mtime_ns == stamp and not glob.glob(r.hooks() + "/*.mailroom-orig")
    status = m.json("guard", "status", r.path)
    assert [h["state"] for h in status["hooks"]] == ["installed"] * 2 and status["source"] == "database", status
    assert status["project"] == r.path and status["mode"] == "block" and status["agent"] is None, status
    gone = m.json("guard", "uninstall", r.path)
    assert gone["removed"] is True and not glob.glob(r.hooks() + "/pre-*[!e]"), gone
    assert m.json("guard", "uninstall", r.path)["removed"] is False
    # From inside, with no more words than needed.
    done = r.run(m.program, "guard", "install", ".")
    assert os.path.exists(answer["hook"]), describe(done)
    done = r.run(m.program, "guard", "uninstall", ".")
    assert not os.path.exists(answer["hook"]), describe(done)


def refused_places(m):
    r = Repo(m, install=False)
    error = m.json("guard", "install", r.path, m.dir, status=1)["error"]
    assert error["type"] == "NOT_FOUND" and m.dir in error["message"], error
    error = m.json("guard", "install", r.path, "/nonexistent", status=1)["error"]
    assert error["type"] == "NOT_FOUND", error
    error = m.json("guard", "install", "nobody", r.path, status=1)["error"]
    assert error["type"] == "NOT_FOUND", error
    assert m.json("guard", "uninstall", m.dir, status=1)["error"]["type"] == "NOT_FOUND"
    assert m.json("guard", "status", m.dir, status=1)["error"]["type"] == "NOT_FOUND"


def an_existing_hook_is_kept_and_goes_first(m):
    r = Repo(m, install=False)
    log = os.path.join(m.dir, "log")
    mine = "#!/bin/sh\n# mine\necho \"$(basename \"$0\")\" >>'%s'\n[ ! -e veto ] || exit 7\n" % log
    path = r.put_hook("pre-commit", mine)
    answer = m.json("guard", "install", r.path)
    assert answer["hooks"][0]["chained"] and not answer["hooks"][1]["chained"], answer
    assert read(path + ".mailroom-orig") == mine
    r.reserve("held")
    r.commit("free")
    assert read(log) == "pre-commit\n", "it is run, under its own name"
    r.commit("held", status=1)
    r.git("rm", "-q", "--cached", "held")
    r.write("veto")
    r.commit("more", status=1)
    assert read(log) == "pre-commit\n" * 3
    m.json("guard", "install", r.path)
    assert read(path + ".mailroom-orig") == mine, "once more changes nothing"
    assert m.json("guard", "uninstall", r.path)["removed"]
    assert read(path) == mine and os.access(path, os.X_OK) and not os.path.exists(path + ".mailroom-orig")


def hooks_that_are_no_scripts_of_ours(m):
    r = Repo(m, install=False)
    log = os.path.join(m.dir, "log")
    target = r.put_hook("real", f"#!{sys.executable}\nimport sys\nopen({log!r}, 'a').write(repr(sys.argv[1:]) + "
        "sys.stdin.read())\n", folder=os.path.join(r.path, "scripts"))
    os.symlink("../../scripts/real", os.path.join(r.hooks(), "pre-push"))
    off = r.put_hook("pre-commit", "#!/bin/sh\nexit 1\n")
    os.chmod(off, 0o644)
    m.json("guard", "install", r.path)
    r.commit("a")
    remote = os.path.join(m.dir, "remote.git")
    r.git("init", "-q", "--bare", remote)
    r.git("remote", "add", "origin", remote)
    r.git("push", "-q", "origin", "main", AGENT_NAME=OTHER)
    head = r.git("rev-parse", "HEAD").stdout.strip()
    assert read(log) == f"{['origin', remote]!r}refs/heads/main {head} refs/heads/main {'0' * 40}\n", read(log)
    m.json("guard", "uninstall", r.path)
    assert os.readlink(os.path.join(r.hooks(), "pre-push")) == "../../scripts/real" and os.path.exists(target)
    assert read(off) == "#!/bin/sh\nexit 1\n" and not os.access(off, os.X_OK) or os.geteuid() == 0


def others_hooks_are_never_lost(m):
    r = Repo(m)
    first = r.put_hook("pre-commit", "#!/bin/sh\n# theirs\n")
    gone = m.json("guard", "uninstall", r.path)
    assert gone["removed"] and gone["hooks"][0]["state"] == "foreign" and "theirs" in read(first), gone
    m.json("guard", "install", r.path)
    r.put_hook("pre-commit", "#!/bin/sh\n# theirs\n")
    m.json("guard", "install", r.path)
    assert "theirs" in read(first + ".mailroom-orig"), "a tool wrote the same hook again"
    r.put_hook("pre-commit", "#!/bin/sh\n# newer\n")
    error = m.json("guard", "install", r.path, status=2)["error"]
    assert error["type"] == "INVALID_ARGUMENT" and ".mailroom-orig" in error["message"], error
    assert "newer" in read(first) and "theirs" in read(first + ".mailroom-orig")
    assert m.json("guard", "uninstall", r.path)["hooks"][0]["state"] == "foreign"
    os.unlink(first)
    m.json("guard", "uninstall", r.path)
    assert "theirs" in read(first), "ours was taken away by hand: the old one comes back"


def worktrees(m):
    r = Repo(m)
    r.start()
    r.reserve("a")
    tree = os.path.join(m.dir, "tree")
    r.git("worktree", "add", "-q", tree)
    with open(os.path.join(tree, "a"), "w", encoding="utf-8") as file:
        file.write("x")
    r.git("add", "a", cwd=tree)
    r.git("commit", "-qm", "x", cwd=tree, status=1, AGENT_NAME=OTHER)
    assert m.json("guard", "status", tree)["hooks"][0] == m.json("guard", "status", r.path)["hooks"][0]
    assert m.json("guard", "uninstall", tree)["removed"]
    m.json("guard", "install", r.path, tree)
    r.git("commit", "-qm", "x", cwd=tree, status=1, AGENT_NAME=OTHER)
    # Without a project in the hook: the clone's first work tree is the project.
    assert r.held(cwd=tree) == {"a": [HOLDER]}
    r.edit(os.path.join(tree, "a"), status=2)
    r.edit(os.path.join(tree, "b"))


def a_hooks_path(m):
    r = Repo(m, install=False)
    r.start()
    r.git("config", "core.hooksPath", ".githooks")
    os.mkdir(os.path.join(r.path, "sub"))
    answer = m.json("guard", "install", r.path, os.path.join(r.path, "sub"))
    assert answer["hook"] == os.path.join(r.path, ".githooks", "pre-commit") and not answer["warnings"], answer
    r.reserve("a")
    r.commit("a", status=1)
    r.git("reset", "-q")
    assert not os.path.exists(os.path.join(r.hooks(), "pre-commit"))
    # One directory for several repositories: each asks for its own project.
    shared = os.path.join(m.dir, "shared hooks")
    other = Repo(m, "frontend", install=False)
    for repo in (r, other):
        repo.git("config", "core.hooksPath", shared)
    answer = m.json("guard", "install", r.path)
    assert "outside the repository" in answer["warnings"][0], answer
    other.reserve("b")
    other.commit("a")
    other.commit("b", status=1)
    r.commit("a", status=1)


def husky(m):
    """Its hooks find out by their own name which script to run."""
    r = Repo(m, install=False)
    r.git("config", "core.hooksPath", ".husky/_")
    r.put_hook("h", '#!/usr/bin/env sh\nn=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n'
        '[ ! -f "$s" ] && exit 0\nsh -e "$s" "$@"\nexit $?\n', folder=os.path.join(r.path, ".husky", "_"))
    r.put_hook("pre-commit", '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n', folder=os.path.join(r.path, ".husky", "_"))
    r.put_hook("pre-commit", f"echo ran >>'{m.dir}/log'\n", folder=os.path.join(r.path, ".husky"))
    answer = m.json("guard", "install", r.path)
    assert "husky" in answer["warnings"][0], answer
    r.reserve("a")
    r.commit("b")
    r.commit("a", status=1)
    assert read(os.path.join(m.dir, "log")) == "ran\n" * 2
    # What is recommended instead.
    m.json("guard", "uninstall", r.path)
    r.put_hook("pre-commit", f"'{m.program}' guard check --hook pre-commit\n", folder=os.path.join(r.path, ".husky"))
    said = r.commit(status=1).stderr
    assert HOLDER in said, said


def a_program_that_is_gone(m):
    r = Repo(m)
    r.reserve("a")
    hook = os.path.join(r.hooks(), "pre-commit")
    text = read(hook).replace(m.program, "/nonexistent/mailroom")
    with open(hook, "w", encoding="utf-8") as file:
        file.write(text)
    said = r.commit("a").stderr
    assert "/nonexistent/mailroom is not there" in said, said
    os.symlink(m.program, os.path.join(m.dir, "mailroom"))
    r.commit("a", status=1, PATH=m.dir + ":" + os.environ["PATH"])


def the_hook_knows_its_storage(m):
    """Also where nobody has set STORAGE_ROOT, and in a directory with a quote."""
    r = Repo(m, "it's", install=False)
    m.json("guard", "install", r.path, env={"DATABASE_URL": os.path.join(m.dir, "data", "storage.sqlite3")})
    r.reserve("a")
    r.commit("a", status=1, STORAGE_ROOT=None)
    r.git("reset", "-q")
    r.commit("b", STORAGE_ROOT=None)
    assert "--set" in read(os.path.join(r.hooks(), "pre-commit"))


# --- pushes ---


def pushing(r, *words, status=0, agent=OTHER, **env):
    return r.git("push", "-q", "origin", *words, status=status, AGENT_NAME=agent, **env)


def with_remote(m):
    r = Repo(m)
    r.start("base")
    remote = os.path.join(m.dir, "remote.git")
    r.git("init", "-q", "--bare", remote)
    r.git("remote", "add", "origin", remote)
    pushing(r, "main")
    return r


def a_push_is_refused(m):
    r = with_remote(m)
    r.commit("a")
    r.reserve("a")
    said = pushing(r, "main", status=1).stderr
    assert "this push" in said and HOLDER in said, said
    pushing(r, "main", status=1, agent=None)
    pushing(r, "main", AGENT_MAIL_GUARD_MODE="warn")
    r.commit("a", agent=HOLDER)
    pushing(r, "main", AGENT_MAIL_BYPASS="1")
    r.commit("b")
    pushing(r, "main")


def a_new_branch(m):
    """Only commits that no remote branch has are looked at."""
    r = with_remote(m)
    r.commit("a")
    pushing(r, "main")
    r.reserve("a", "b", "c")
    r.git("checkout", "-qb", "topic")
    r.commit("free")
    pushing(r, "topic")
    r.git("checkout", "-qb", "second")
    r.commit("b", AGENT_MAIL_BYPASS="1")
    assert "b" in pushing(r, "second", status=1).stderr
    # Changed and changed back: the difference is empty, the commits are not.
    r.git("rm", "-q", "b")
    r.commit(AGENT_MAIL_BYPASS="1")
    pushing(r, "second", status=1)
    # A merge brings what others have pushed: that is no edit of ours.
    r.git("checkout", "-q", "-b", "third", "origin/main")
    r.commit("more")
    r.git("merge", "-q", "--no-edit", "origin/topic", AGENT_NAME=OTHER)
    pushing(r, "third")


def odd_pushes(m):
    r = with_remote(m)
    r.commit("a")
    pushing(r, "main:other")
    r.reserve("base", "a")
    pushing(r, "--delete", "other")
    blob = r.git("hash-object", "-w", "base").stdout.strip()
    r.git("tag", "ablob", blob)
    r.git("tag", "old", "origin/main")
    pushing(r, "ablob", "old")
    r.git("tag", "-am", "x", "new", "main")
    pushing(r, "new", status=1)
    pushing(r, "main:other", "HEAD~1:refs/heads/third", status=1)
    # Somebody else pushed meanwhile: their commit is not here.
    clone = os.path.join(m.dir, "clone")
    r.git("clone", "-q", os.path.join(m.dir, "remote.git"), clone, cwd=m.dir)
    for words in (["config", "user.name", "n"], ["config", "user.email", "e"], ["commit", "-q", "--allow-empty", "-m", "x"],
            ["push", "-q"]):
        r.git(*words, cwd=clone)
    pushing(r, "--force", "main", status=1)
    r.reserve("nothing")
    m.json("team", "release", r.path, HOLDER)
    pushing(r, "--force", "main")


def lines_of_pre_push(m):
    r = with_remote(m)
    head = r.git("rev-parse", "HEAD").stdout.strip()
    zero = "0" * 40
    assert r.check("--hook", "pre-push")["checked"] == 0
    assert r.check("--hook", "pre-push", stdin=f"(delete) {zero} refs/heads/x {head}\n")["checked"] == 0
    for line in ("nonsense", f"a {head} b", f"a {head} b --output=x", f"a {head[:-1]} b {zero}", f"a {head} b {zero} c"):
        error = r.check("--hook", "pre-push", stdin=line + "\n", status=2)["error"]
        assert "pre-push" in error["message"], error
    r.check("--hook", "pre-push", stdin=f"a {'1' * 40} b {zero}\n", status=2)


# --- edits ---


def an_edit_is_refused(m):
    r = Repo(m)
    r.reserve("src/**", more=("--reason", "refactoring"))
    said = r.edit("src/app.py", status=2)
    assert HOLDER in said.stderr and "src/app.py" in said.stderr and "mailroom team send" in said.stderr, said.stderr
    assert said.stdout == "", said.stdout
    for path in ("docs/x", "/etc/passwd", "../elsewhere", ""):
        done = r.edit(path)
        assert not done.stdout and not done.stderr, describe(done)
    r.edit("src/app.py", agent=HOLDER)
    r.edit(os.path.join(r.path, "src", "new", "deep", "er.py"), status=2)
    r.edit("docs/../src/x", status=2)
    m.json("team", "release", r.path, HOLDER)
    r.edit("src/app.py")


def many_editors(m):
    r = Repo(m)
    r.reserve("held", "also")
    for tool, key, status in (("Write", "file_path", 2), ("MultiEdit", "file_path", 2), ("NotebookEdit", "notebook_path", 2),
            ("Read", "file_path", 0), ("Grep", "path", 0), ("Bash", "command", 0), ("write_file", "file_path", 2),
            ("replace", "file_path", 2), ("mcp__filesystem__write_file", "path", 2), ("edit_file", "target_file", 2)):
        r.edit("held", tool=tool, key=key, status=status)
    held = os.path.join(r.path, "held")
    for event, status in (
            ({"tool_name": "apply_patch", "tool_input": {"input": "*** Begin Patch\n*** Update File: held\n@@\n"}}, 2),
            ({"tool_name": "apply_patch", "tool_input": {"command": ["apply_patch", "*** Move to: also\r\n"]}}, 2),
            ({"tool_name": "apply_patch", "tool_input": {"input": "*** Add File: free\n"}}, 0),
            ({"tool_name": "move_file", "tool_input": {"source": "free", "destination": held}}, 2),
            ({"tool_name": "MultiEdit", "tool_input": {"edits": [{"file_path": "x"}, {"file_path": "also"}]}}, 2),
            ({"tool_input": {"file_path": held}}, 2), ({"tool_name": "Edit", "tool_input": {}}, 0),
            ({"tool_name": "Edit", "tool_input": {"file_path": 7}}, 0), ({"tool_name": "Edit", "tool_input": None}, 0),
            ({"tool_name": "Edit"}, 0), ({"tool_name": None, "tool_input": {"file_path": held}}, 2),
            ({"tool_name": "Edit", "tool_input": {"file_path": "file://" + held}}, 2), ({}, 0)):
        r.hook({"cwd": r.path, **event}, status=status)
    r.hook({"tool_name": "Edit", "tool_input": {"file_path": held}}, status=2)
    for text in ("", "no json", "[]", '"x"', '{"a":'):
        assert "mailroom" in r.hook(text, status=1).stderr


def links_and_trees(m):
    r = Repo(m)
    r.start("real/a")
    r.reserve("real/a")
    os.symlink("real", os.path.join(r.path, "alias"))
    os.symlink("real/a", os.path.join(r.path, "one"))
    r.edit("alias/a", status=2)
    r.edit("one", status=2)
    r.edit("two")
    r.reserve("two")
    os.symlink("free", os.path.join(r.path, "two"))
    r.edit("two", status=2)
    plain = os.path.join(os.path.realpath(m.dir), "plain")
    os.mkdir(plain)
    m.json("team", "register", plain, HOLDER, "--program", "codex", "--model", "gpt")
    m.json("team", "reserve", plain, HOLDER, "a")
    r.edit("a", cwd=plain, status=2)
    r.edit(os.path.join(plain, "a"), cwd=r.path)


def an_edit_is_never_stopped_by_trouble(m):
    r = Repo(m)
    r.reserve("a")
    assert json.loads(r.edit("a", agent=None).stdout)["systemMessage"].count("AGENT_NAME") == 1
    assert not r.edit("b", agent=None).stdout
    told = json.loads(r.edit("a", AGENT_MAIL_GUARD_MODE="warn").stdout)["systemMessage"]
    assert HOLDER in told and "AGENT_NAME" not in told, told
    assert not r.edit("a", AGENT_MAIL_BYPASS="1").stdout
    r.edit("a", STORAGE_ROOT="/nonexistent")
    r.edit("a", AGENT_MAIL_PROJECT="nowhere")
    r.edit("a", DATABASE_URL="postgres://x/y", status=2)
    r.edit("a", AGENT_MAIL_GUARD_MODE="often", status=1)
    shutil.rmtree(m.root)
    r.edit("a", AGENT_MAIL_URL="http://127.0.0.1:1/mcp")
    assert not os.path.exists(m.root), "nothing is made"


def the_tools_have_their_contract(m):
    schema = m.json("schema", "install_precommit_guard")
    assert {"project_key", "code_repo_path"} == set(schema["inputSchema"]["properties"]), schema
    assert "hook" in schema["outputSchema"]["properties"], schema
    schema = m.json("schema", "uninstall_precommit_guard")
    assert schema["inputSchema"]["required"] == ["code_repo_path"], schema
    assert "removed" in schema["outputSchema"]["properties"], schema


TESTS = [a_commit_is_refused_and_told, names_in_any_case, only_active_exclusive_leases_of_others,
    two_holders_are_both_named, patterns, all_kinds_of_names, renames_deletions_and_modes, odd_settings_of_git,
    what_is_committed_counts, a_merge_brings_others_work, case_folds_where_the_file_system_does, without_a_name,
    warnings_and_bypass, what_cannot_be_found_out, no_project_no_guard, paths_on_standard_input, without_the_database, a_peers_archive,
    bad_files_are_passed_over_and_told, a_damaged_database_is_no_way_around, another_programs_env, which_project,
    identities, a_server_that_is_configured, installed_and_taken_away, refused_places,
    an_existing_hook_is_kept_and_goes_first, hooks_that_are_no_scripts_of_ours, others_hooks_are_never_lost,
    worktrees, a_hooks_path, husky, a_program_that_is_gone, the_hook_knows_its_storage, a_push_is_refused,
    a_new_branch, odd_pushes, lines_of_pre_push, an_edit_is_refused, many_editors, links_and_trees,
    an_edit_is_never_stopped_by_trouble, the_tools_have_their_contract]


def main():
    with Tap() as tap:
        for test in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__.replace("_", " "), test, m)


main()
