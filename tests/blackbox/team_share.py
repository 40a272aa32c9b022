"""usage: team_share.py PROGRAM SOURCE - a copy of the mail: nothing secret in it, and a browser shows it."""

import html
import json
import os
import re
import shutil
import subprocess
import stat
import sys
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
import pictures  # noqa: E402
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402

TOKEN = "ghp_Zq8xLmT4vNw2RkYp7BdSf1HjC6UeGa9oQ3Xi"
BROWSER_S = 120


class Team:
    """Two projects with some mail between their agents."""

    def __init__(self, m):
        self.m = m
        self.work = os.path.join(m.dir, "work")
        os.mkdir(self.work)
        with open(os.path.join(self.work, "chart.png"), "wb") as file:
            file.write(pictures.png(40, 30))
        with open(os.path.join(self.work, "notes.md"), "wb") as file:
            file.write(b"# notes\n" * 20000)
        with open(os.path.join(self.work, "page.html"), "wb") as file:
            file.write(b"<html><script>document.title = 'taken'</script>" + b" " * 70000)
        for project, names in ((self.work, ("BlueLake", "RedStone", "GreenFox")), ("/other", ("SilverPine",))):
            m.json("team", "ensure-project", project)
            for name in names:
                m.json("team", "register", project, name, "--program", "codex", "--model", "gpt")
        self.send("BlueLake", "RedStone", "Plan", "# First\n\nA **plan** <script>alert(1)</script>\n\n![c](chart.png)",
            "--thread-id", "PLAN-1", "--cc", "SilverPine@/other", "--attachment-paths", "notes.md",
            "--attachment-paths", "page.html")
        self.send("RedStone", "BlueLake", f"Key {TOKEN}", f"Use {TOKEN.lower()} or Bearer {TOKEN}.",
            "--thread-id", "PLAN-1", "--bcc", "GreenFox")
        m.json("team", "reserve", "work", "BlueLake", "src/**", "--reason", "hidden reason")
        m.json("team", "ack", "work", "RedStone", "1")

    def send(self, sender, to, subject, body, *more):
        return self.m.json("team", "send", "work", sender, "--to", to, "--subject", subject, "--body-md", body, *more)

    def export(self, *args, name="out", status=0, **options):
        return self.m.json("team", "share", "export", "-o", name, *args, status=status, **options)

    def path(self, *parts):
        return os.path.join(self.m.dir, "out", *parts)

    def rows(self, sql):
        return database.rows(self.path("mailbox.sqlite3"), sql)


def every_file(directory):
    for folder, _, names in os.walk(directory):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                yield os.path.relpath(os.path.join(folder, name), directory), file.read()


def no_secret_is_in_any_byte(m):
    team = Team(m)
    told = team.export()
    assert told["secrets_replaced"] >= 3 and told["messages"] == 2, told
    words = [TOKEN.encode(), TOKEN.encode("utf-16-le"), TOKEN[4:].encode(), b"hidden reason", b"GreenFox wrote"]
    for name, data in every_file(team.path()):
        for word in words:
            assert word.lower() not in data.lower(), (name, word)
        # Parts of a token, as an index would keep them.
        for start in range(4, len(TOKEN) - 8):
            assert TOKEN[start:start + 8].lower().encode() not in data.lower(), (name, TOKEN[start:start + 8])
    assert team.rows("SELECT subject, body_md FROM messages WHERE id = 2") == [
        ("Key [REDACTED]", "Use [REDACTED] or [REDACTED].")]


def what_is_private_is_left_out(m):
    team = Team(m)
    told = team.export("-p", "work")
    assert told["projects"] == 1 and told["file_reservations_removed"] == 1 and told["read_states_cleared"] == 1, told
    assert team.rows("SELECT slug FROM projects") == [(m.json("team", "projects")["result"][0]["slug"],)]
    assert team.rows("SELECT count(*) FROM agents WHERE name = 'SilverPine'") == [(0,)]
    assert team.rows("SELECT message_id, name, kind FROM message_recipients JOIN agents ON id = agent_id"
        " ORDER BY message_id, kind") == [(1, "RedStone", "to"), (2, "BlueLake", "to")]
    assert team.rows("SELECT count(*) FROM message_recipients WHERE read_ts IS NOT NULL OR ack_ts IS NOT NULL") == [(0,)]
    assert team.rows("SELECT count(*) FROM file_reservations") == [(0,)]
    assert team.rows("SELECT rowid FROM fts_messages WHERE fts_messages MATCH 'redacted'") == [(2,)]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", team.rows("SELECT created_ts FROM messages")[0][0])
    assert team.rows("PRAGMA integrity_check") == [("ok",)]


def strict_says_only_that_there_was_mail(m):
    team = Team(m)
    told = team.export("--scrub-preset", "strict")
    assert told["bodies_redacted"] == 2 and told["attachments"] == 0, told
    assert team.rows("SELECT DISTINCT body_md, attachments FROM messages") == [("[Message body redacted]", "[]")]
    assert not os.path.exists(team.path("attachments"))


def files_are_bundled(m):
    team = Team(m)
    team.export()
    [(text,)] = team.rows("SELECT attachments FROM messages WHERE id = 1")
    picture, notes, page = json.loads(text)
    assert picture["type"] == "inline" and picture["data_uri"].startswith("data:image/webp;base64,"), picture
    assert notes["type"] == "file" and re.fullmatch(r"attachments/../[0-9a-f]{64}\.md", notes["path"]), notes
    # A page of somebody else's is not opened as one.
    assert page["path"].endswith(".txt"), page
    with open(team.path(notes["path"]), "rb") as file:
        assert file.read() == b"# notes\n" * 20000


def a_dry_run_only_counts(m):
    team = Team(m)
    told = team.export("--dry-run")
    assert told["dry_run"] and told["messages"] == 2 and told["manifest_sha256"] is None, told
    assert not os.path.exists(team.path())


def a_directory_with_something_in_it_is_refused(m):
    team = Team(m)
    error = team.export(name="work", status=2)["error"]
    assert error["type"] == "INVALID_ARGUMENT" and error["data"]["argument"] == "output", error
    assert error["message"] == "work is there already and is no empty directory", error
    error = team.export("-p", "nowhere", status=1)["error"]
    assert error["type"] == "NOT_FOUND", error
    assert sorted(os.listdir(m.dir)) == ["data", "run", "work"], os.listdir(m.dir)


def changes_are_found(m):
    team = Team(m)
    digest = team.export("--chunk-threshold", "1", "--chunk-size", "8192")["manifest_sha256"]
    names = [name for name, _ in every_file(team.path())]
    told = m.json("team", "share", "verify", "out", "--manifest-sha256", digest)
    assert told == {"directory": "out", "ok": True, "files": len(names) - 1, "manifest_checked": True}, told
    assert any(name.startswith("chunks/") for name in names)
    for name in sorted(names):
        with open(team.path(name), "rb") as file:
            data = file.read()
        with open(team.path(name), "wb") as file:
            file.write(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
        args = ["--manifest-sha256", digest] if name == "manifest.json" else []
        answer = m.json("team", "share", "verify", "out", *args, status=1)
        assert name in answer["error"]["message"], (name, answer)
        with open(team.path(name), "wb") as file:
            file.write(data)
    pieces = b"".join(data for name, data in sorted(every_file(team.path("chunks"))))
    with open(team.path("mailbox.sqlite3"), "rb") as file:
        assert file.read() == pieces
    with open(team.path("extra"), "w", encoding="utf-8"):
        pass
    assert "extra is not in the manifest" in m.json("team", "share", "verify", "out", status=1)["error"]["message"]
    done = m.run("team", "share", "verify", "nowhere")
    assert done.returncode == 1 and "nowhere" in done.stderr, describe(done)


def tree(directory):
    return dict(every_file(directory))


def the_same_mail_is_the_same_bytes(m):
    team = Team(m)
    for args in ([], ["--zip"], ["-p", "work", "--chunk-threshold", "1", "--chunk-size", "8192"]):
        os.makedirs(os.path.join(m.dir, "else", "where"), exist_ok=True)
        first = team.export(*args, name="first")
        # Elsewhere, a day later, after mail was read and a file leased.
        m.write("skew", "86400")
        later = {"MAILROOM_CLOCK_SKEW": os.path.join(m.dir, "skew")}
        m.json("team", "read", "work", "BlueLake", "2", env=later)
        m.json("team", "reserve", "work", "GreenFox", f"docs/{len(args)}/**", env=later)
        second = team.export(*args, name="else/where/second", env=later)
        assert first["manifest_sha256"] == second["manifest_sha256"], (first, second)
        one, two = os.path.join(m.dir, "first"), os.path.join(m.dir, "else", "where", "second")
        if "--zip" in args:
            with open(one, "rb") as file, open(two, "rb") as other:
                assert file.read() == other.read()
            os.unlink(one)
            os.unlink(two)
        else:
            assert tree(one) == tree(two), [name for name, data in every_file(one) if tree(two).get(name) != data]
            assert m.dir.encode() not in tree(one)["README.txt"]
            shutil.rmtree(one)
            shutil.rmtree(two)
    # One more message, and it is another copy, as of that message.
    before = team.export(name="before")
    team.send("GreenFox", "BlueLake", "Lunch", "at noon")
    after = team.export(name="after")
    assert before["manifest_sha256"] != after["manifest_sha256"]
    with open(os.path.join(m.dir, "after", "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    newest, = database.rows(os.path.join(m.dir, "after", "mailbox.sqlite3"), "SELECT max(created_ts) FROM messages")
    assert manifest["generated_at"] == newest[0][:19] + "Z", (manifest["generated_at"], newest)
    active = database.rows(os.path.join(m.dir, "after", "mailbox.sqlite3"), "SELECT last_active_ts FROM agents"
        " WHERE name = 'GreenFox'")
    assert active == [newest], (active, newest)


def one_file_has_all_of_it(m):
    team = Team(m)
    told = team.export(name="out")
    packed = team.export("--zip", name="share.zip")
    assert packed["manifest_sha256"] == told["manifest_sha256"] and packed["output"] == "share.zip", packed
    with zipfile.ZipFile(os.path.join(m.dir, "share.zip")) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert names == sorted(names) and {n: archive.read(n) for n in names} == tree(team.path()), names
        for info in archive.infolist():
            assert info.date_time == (1980, 1, 1, 0, 0, 0) and stat.S_IMODE(info.external_attr >> 16) == 0o644, info
            assert info.compress_type == zipfile.ZIP_DEFLATED, info
        archive.extractall(os.path.join(m.dir, "unpacked"))
    checked = m.json("team", "share", "verify", "unpacked", "--manifest-sha256", packed["manifest_sha256"])
    assert checked["ok"] and checked["files"] == len(names) - 1, checked
    # Nothing besides it is left, and it is not overwritten.
    assert sorted(os.listdir(m.dir)) == ["data", "out", "run", "share.zip", "unpacked", "work"], os.listdir(m.dir)
    for name in ("share.zip", "work"):
        error = team.export("--zip", name=name, status=2)["error"]
        assert error["type"] == "INVALID_ARGUMENT" and error["message"] == (
            f"{name} is there already: no file is overwritten; choose another name"), error
    assert team.export("--zip", "--dry-run", name="none.zip")["messages"] == 2
    error = m.json("team", "share", "verify", "share.zip", status=2)["error"]
    assert error["message"] == "share.zip is a file: unpack it, and verify the directory", error


def shown(team, place, script=""):
    """The page as a browser has it, opened from disk, after a script of ours has touched it."""
    with open(team.path("index.html"), encoding="utf-8") as file:
        page = file.read()
    with open(team.path("poke.html"), "w", encoding="utf-8") as file:
        file.write(page.replace("</body>", '<script src="poke.js"></script></body>'))
    with open(team.path("poke.js"), "w", encoding="utf-8") as file:
        file.write(script)
    done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        f"--user-data-dir={os.path.join(team.m.dir, 'browser')}", "--virtual-time-budget=5000", "--dump-dom",
        f"file://{team.path('poke.html')}{place}"], capture_output=True, text=True, timeout=BROWSER_S, check=False)
    assert done.returncode == 0 and "Content Security Policy" not in done.stderr, describe(done)
    return done.stdout


def visible(dom):
    return html.unescape(re.sub(r"<[^>]+>", "\n", dom[dom.index("<body"):]))


def a_browser_shows_it_from_disk(m):
    assert shutil.which("chromium"), "no chromium: run script/setup"
    team = Team(m)
    team.export()
    dom = shown(team, "")
    text = visible(dom)
    assert dom.count("<li>") == 2 and "2 messages" in text and "Key [REDACTED]" in text, text
    assert "Choose a message." in text, text
    dom = shown(team, "#m1")
    text = visible(dom)
    assert "<strong>plan</strong> &lt;script&gt;alert(1)&lt;/script&gt;" in dom, dom
    assert "RedStone" in text and "PLAN-1" in text and "notes.md" in text and "page.html" in text, text
    assert re.search(r'<img alt="chart.png" src="data:image/webp;base64,', dom), dom
    assert re.search(r'<a href="data:image/webp;base64,[^"]*" download="chart.png">', dom), dom
    assert re.search(r'<a href="attachments/../[0-9a-f]{64}\.md">notes.md</a>', dom), dom
    # Nothing on the page comes from elsewhere, and no script stands in it.
    assert not re.search(r'(?:src|href)="(?:https?:)?//', dom), dom
    assert re.findall(r"<script[^>]*>[^<]", dom) == [], dom
    dom = shown(team, "#t1")
    assert dom.index("<h2>Plan</h2>") < dom.index("<h2>Key [REDACTED]</h2>"), dom


def its_buttons_work(m):
    assert shutil.which("chromium"), "no chromium: run script/setup"
    team = Team(m)
    team.send("GreenFox", "BlueLake", "Lunch", "at noon")
    team.export()
    text = visible(shown(team, "", """
        const filter = document.getElementById("filter");
        filter.value = "NOON greenfox";
        filter.dispatchEvent(new Event("input"));
    """))
    assert "1 message\n" in text and "Lunch" in text and "Key [" not in text, text
    text = visible(shown(team, "", 'document.getElementById("by-thread").click();'))
    assert "2 threads" in text and "2 messages, the last from RedStone" in text, text
    dom = shown(team, "#m1", """
        addEventListener("load", () => setTimeout(
            () => [...document.querySelectorAll("button")].find((b) => b.textContent === "Plain text").click(), 500));
    """)
    assert "A **plan** &lt;script&gt;" in dom, dom
    text = visible(shown(team, "", """
        const project = document.getElementById("project");
        project.value = "other";
        project.dispatchEvent(new Event("change"));
    """))
    assert "0 messages" in text, text


def hostile_mail_stays_text(m):
    assert shutil.which("chromium"), "no chromium: run script/setup"
    team = Team(m)
    evil = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">\u2028"
    sent = team.send("GreenFox", "BlueLake", evil.strip(), evil + " [x](javascript:alert(1)) ![y](data:text/html,z)")
    team.export()
    number = sent["deliveries"][0]["payload"]["id"]
    dom = shown(team, f"#m{number}")
    assert "<title>Mail of" in dom and "taken" in visible(dom), dom
    assert "javascript:" not in dom.replace("[x](javascript:alert(1))", "") and "<img src" not in dom, dom


TESTS = [
    no_secret_is_in_any_byte,
    what_is_private_is_left_out,
    strict_says_only_that_there_was_mail,
    files_are_bundled,
    a_dry_run_only_counts,
    a_directory_with_something_in_it_is_refused,
    changes_are_found,
    the_same_mail_is_the_same_bytes,
    one_file_has_all_of_it,
    a_browser_shows_it_from_disk,
    its_buttons_work,
    hostile_mail_stays_text,
]


def main():
    with Tap() as tap:
        for test in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__.replace("_", " "), test, m)


main()
