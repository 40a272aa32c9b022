"""usage: crash_work.py PROGRAM - commands of the workspace killed at every step, and at random.

Each scenario prepares a workspace, runs one command undisturbed and takes pictures from before and after it. Then, for each
step that the command passes, in a copy of the prepared workspace: the command is killed there, readers must still work, the
next command that writes recovers, and the workspace must be as before or as after, where `doctor` has nothing to say.

What a single atomic write does inside is looked at by crash_fs.py; here a stop stands between any two of them.
"""

import concurrent.futures
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from crash import passes, tree  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import mail  # noqa: E402

TIMEOUT_S = 120
THREADS = 3
KILLS = 200
STEPS = re.compile(r"^(work\.|fs\.write\.renamed|fs\.rename\.renamed|fs\.remove_all\.removed)")


class Desk:
    """A workspace in a directory, driven by a link named afmail beside it."""

    def __init__(self, program, directory):
        self.dir = directory
        self.program = program

    def env(self, **more):
        kept = {name: value for name, value in os.environ.items() if name.startswith(("ASAN_", "UBSAN_", "LSAN_"))}
        kept["ASAN_OPTIONS"] = kept.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        return {**kept, "PATH": "/usr/bin:/bin", "HOME": self.dir + "-home", "TZ": "UTC", "LANG": "C.UTF-8", **more}

    def start(self, args, **env):
        return subprocess.Popen([self.program, *args], cwd=self.dir, env=self.env(**env), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *args, **env):
        """(exit status, the result or None)."""
        process = self.start(args, **env)
        out, err = process.communicate(timeout=TIMEOUT_S)
        assert not err, err
        return process.returncode, json.loads(out.splitlines()[-1]) if out else None

    def ok(self, *args):
        status, result = self.run(*args)
        assert status == 0, (args, result)
        return result

    def recover(self):
        """What the next command that writes does first."""
        self.ok("render", "refresh")

    def check(self):
        self.recover()
        found = self.ok("doctor")
        assert found["ok"] and found["issue_count"] == 0, found["issues"]

    def picture(self):
        """All files but the index and the lock, without what belongs to the time of a run."""
        skipped = re.compile(r"^\.afmail/(index\.sqlite|workspace\.lock|messages-cache)")
        day = time.strftime("%Y-%m-%d", time.gmtime())
        files = {}
        for name, data in tree(self.dir, lambda path: bool(skipped.match(path))).items():
            text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
            if text is None and not name.startswith((".afmail/transactions", ".afmail/push")):
                continue  # an empty directory that is left says nothing
            text = re.sub(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text or "")
            text = re.sub(day.replace("-", "") + r"T\d{6}Z(_\d+)?(_[0-9a-f]+)?", "STAMP", text)
            files[re.sub(day.replace("-", "") + r"T\d{6}Z", "STAMP", name)] = text
        return files


def prepare(desk):
    """Mails in every place, a contact, a case with a draft, a queued draft, a category, spam."""
    os.makedirs(desk.dir)
    os.makedirs(desk.dir + "-home")
    desk.ok("init", "--agent", "none")
    desk.ok("config", "set", "identities.me.email", "you@example.net")
    box = desk.dir + "-mails"
    os.makedirs(box)
    for number in range(1, 10):
        with open(os.path.join(box, f"{number}.eml"), "w", encoding="ascii", newline="") as file:
            file.write(mail(number, reply_to=1 if number == 2 else None, sender=f"P{number} <p{number}@example.com>",
                more=("Content-Type: text/plain; name=note.txt", "Content-Disposition: attachment; filename=note.txt")
                if number == 5 else ()))
    ids = desk.ok("import", box)["message_ids"]
    by_subject = {json.load(open(os.path.join(desk.dir, "messages", f"{name}.json"), encoding="utf-8"))["subject"]: name
        for name in ids}
    m = [by_subject[f"Mail {number}"] for number in range(1, 10)]
    one = desk.ok("case", "create", "--name", "One", "--message", m[0], "--reason", "r")["case_uid"]
    two = desk.ok("case", "create", "--name", "Two", "--message", m[2], "--reason", "r")["case_uid"]
    three = desk.ok("case", "create", "--name", "Three", "--message", m[8], "--reason", "r")["case_uid"]
    category = desk.ok("archive", "message", "create", "--name", "News", "--message", m[3], "--summary", "s")["archive_uid"]
    other = desk.ok("archive", "message", "create", "--name", "Other")["archive_uid"]
    desk.ok("message", "spam", m[5], "--reason", "r")
    person = desk.ok("contact", "create", "--name", "Ann", "--email", "p1@example.com")["contact_uid"]
    draft = desk.ok("case", "draft", "reply", one, m[0], "--body", "Yes.")["draft_name"]
    empty = desk.ok("case", "create", "--name", "Empty")["case_uid"]
    desk.ok("suggestion", "set", m[7], "--action", "archive", "--target", category, "--summary", "s", "--reason", "r")
    gone = desk.ok("case", "create", "--name", "Gone", "--message", m[6], "--reason", "r")["case_uid"]
    desk.ok("case", "archive", gone, "--reason", "r")
    queued = desk.ok("case", "create", "--name", "Queued")["case_uid"]
    for subject in ("Said", "Open"):
        name = desk.ok("case", "draft", "new", queued, "--to", "bob@example.com", "--subject", subject, "--body", "b")["draft_name"]
        desk.ok("case", "draft", "send", queued, name)
    said, waiting = (item["content_id"] for item in desk.ok("push", "show")["items"])
    desk.ok("push", "refuse", said, "--reason", "no")
    return {"m": m, "one": one, "two": two, "three": three, "said": said, "waiting": waiting,
        "said_id": desk.ok("push", "list")["items"][0]["push_id"], "category": category, "other": other, "person": person, "draft": draft,
        "gone": gone, "empty": empty, "mails": box}


def scenarios(s):
    """Every command that changes more than one file."""
    m, one, two, draft = s["m"], s["one"], s["two"], s["draft"]
    return {
        "case create": ("case", "create", "--name", "New", "--message", m[4], "--reason", "r"),
        "case add": ("case", "add", two, m[4], "--reason", "r"),
        "case add from spam": ("case", "add", two, m[5], "--reason", "r"),
        "case move": ("case", "move", two, "later"),
        "case rename": ("case", "rename", two, "--name", "Renamed", "--reason", "r"),
        "case tag": ("case", "tag", two, "urgent", "--reason", "r"),
        "case merge": ("case", "merge", two, s["three"], "--reason", "r"),
        "case archive": ("case", "archive", two, "--reason", "r"),
        "case remove": ("case", "remove", two, m[2], "--reason", "r"),
        "case trash": ("case", "trash", two, "--reason", "r"),
        "case delete": ("case", "delete", s["empty"], "--reason", "r"),
        "case notes": ("case", "notes", "append", two, "--text", "Remember."),
        "archived case restored": ("archive", "case", "restore", s["gone"], "--group", "open", "--reason", "r"),
        "archived case renamed": ("archive", "case", "rename", s["gone"], "--name", "Long gone", "--reason", "r"),
        "case summary": ("case", "set-summary", two, m[2], "--summary", "news", "--reason", "r"),
        "archive create": ("archive", "message", "create", "--name", "More", "--message", m[7], "--summary", "s"),
        "archive summary": ("archive", "message", "set-summary", s["category"], m[3], "--summary", "t", "--reason", "r"),
        "archive add": ("archive", "message", "add", s["category"], m[7], "--summary", "s", "--reason", "r"),
        "archive move": ("archive", "message", "move", s["category"], m[3], s["other"], "--reason", "r"),
        "archive rename": ("archive", "message", "rename", s["category"], "--name", "Newer", "--reason", "r"),
        "archive restore": ("archive", "message", "restore", s["category"], m[3], "--reason", "r"),
        "message spam": ("message", "spam", m[7], "--reason", "r"),
        "message trash": ("message", "trash", m[4], m[7], "--reason", "r"),
        "message restore": ("message", "restore", m[5], "--reason", "r"),
        "suggestion accept": ("suggestion", "accept", m[7]),
        "attachment fetch": ("message", "attachment", "fetch", m[4]),
        "purge": ("purge", "spam", "--older-than-days", "0"),
        "contact create": ("contact", "create", "--name", "Bob", "--email", "p2@example.com"),
        "contact email": ("contact", "email", "add", s["person"], "p3@example.com"),
        "contact rename": ("contact", "rename", s["person"], "--name", "Anna"),
        "contact move": ("contact", "move", s["person"], "--group", "friends"),
        "contact archive": ("contact", "archive", s["person"], "--reason", "r"),
        "contact delete": ("contact", "delete", s["person"], "--reason", "r"),
        "contact extract": ("contact", "extract", "--all"),
        "draft new": ("case", "draft", "new", one, "--to", "bob@example.com", "--subject", "Hi", "--body", "Hello."),
        "draft change": ("case", "draft", "change", one, draft, "--body", "No."),
        "draft attach": ("case", "draft", "attach", one, draft, os.path.join(s["mails"], "1.eml")),
        "draft forward": ("case", "draft", "forward", one, m[0], "--to", "bob@example.com"),
        "draft save": ("case", "draft", "save", one, draft),
        "draft send": ("case", "draft", "send", one, draft),
        "draft remove": ("case", "draft", "remove", one, draft, "--reason", "r"),
        "push approve": ("push", "approve", s["said"], s["waiting"]),
        "push refuse": ("push", "refuse", s["waiting"], "--reason", "r"),
        "push drop": ("push", "drop", s["said_id"], "--reason", "r"),
        "import": ("import", "again.eml"),  # of one mail: each is taken in by itself
    }


def copy_of(desk, base, number):
    directory = os.path.join(os.path.dirname(base.dir), f"copy-{number}", "desk")
    shutil.copytree(base.dir, directory, symlinks=True)
    os.makedirs(directory + "-home")
    return Desk(desk.program, directory)


def put_mail(desk):
    with open(os.path.join(desk.dir, "again.eml"), "w", encoding="ascii", newline="") as file:
        file.write(mail(21))


def stop_at_each_step(base, name, args):
    """Failures of one scenario, as texts."""
    plain = copy_of(base, base, name.replace(" ", "-"))
    before = plain.picture()
    log = plain.dir + "-log"
    status, result = plain.run(*args, MAILROOM_CRASH_LOG=log)
    if status:
        return 0, [f"{name} fails undisturbed: {result}"]
    plain.check()
    after = plain.picture()
    with open(log, encoding="ascii") as file:
        points = [(point, n) for point, n in passes(file.read().split()) if STEPS.match(point)]
    # All steps of the change, and every second write of a projection behind it.
    points = [point for number, point in enumerate(points) if point[0].startswith("work.") or number % 2]
    shutil.rmtree(os.path.dirname(plain.dir))
    failures = []
    for number, (point, n) in enumerate(points):
        try:
            desk = copy_of(base, base, f"{name.replace(' ', '-')}-{point}-{n}")
            status, result = desk.run(*args, MAILROOM_CRASH_AT=f"{point}:{n}")
            assert status == -signal.SIGKILL, (status, result)
            if number % 3 == 0:
                desk.ok("status")
            desk.recover()
            now = desk.picture()  # where doctor is quiet, before and after
            assert now in (before, after), differences(now, before, after)
            shutil.rmtree(os.path.dirname(desk.dir))
        except AssertionError as error:
            failures.append(f"{name} killed at {point}:{n}: {error}")
    return len(points), failures


def differences(now, before, after):
    """In which files a picture is neither."""
    told = []
    for other, word in ((before, "before"), (after, "after")):
        names = sorted(name for name in {*now, *other} if now.get(name) != other.get(name))
        told.append(f"not as {word} in " + ", ".join(names[:6]))
        if names and names[0] in now and names[0] in other:
            told.append(f"{names[0]}: {now[names[0]][-300:]!r} and not {other[names[0]][-300:]!r}")
    return "; ".join(told)


def places(desk):
    """Where each message is: {id: [lists]}."""
    found = {}
    for folder, _, names in os.walk(desk.dir):
        for name in names:
            if not re.search(r"/data$", folder) or not name.endswith(".json") or name == "drafts.json":
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                document = json.load(file)
            kind = document["schema_name"]
            for item in document.get("items", []):
                found.setdefault(item["message_id"], []).append(kind)
    return found


def random_kills(base, s, seed):
    """Commands killed at random moments: what was acknowledged stays, nothing is in two places."""
    chance = random.Random(seed)
    desk = copy_of(base, base, "random")
    kept = {}  # what was acknowledged: message -> where
    killed = 0
    numbers = iter(range(100, 100000))
    deadline = time.monotonic() + 600
    while killed < KILLS:
        assert time.monotonic() < deadline, killed
        args, done = choose(desk, s, chance, numbers, kept)
        process = desk.start(args)
        try:
            process.wait(chance.random() * 0.12)
        except subprocess.TimeoutExpired:
            process.kill()
        out, err = process.communicate(timeout=TIMEOUT_S)
        assert not err, err
        killed += process.returncode == -signal.SIGKILL
        if process.returncode == 0:
            done(json.loads(out.splitlines()[-1]))
        else:
            assert process.returncode == -signal.SIGKILL or "error_code" in out, out
    desk.check()
    found = places(desk)
    for message, where in found.items():
        singles = [kind for kind in where if kind != "case"]
        assert len(singles) <= 1 and not (singles and "case" in where and singles != ["notification"]), (message, where)
    for message, kind in kept.items():
        assert kind is None or kind in found.get(message, []), (message, kind, found.get(message))
    return killed


def choose(desk, s, chance, numbers, kept):
    """A command, and what is known once it was acknowledged."""
    waiting = sorted(name[:-3] for name in os.listdir(os.path.join(desk.dir, "triage")) if name.endswith(".md"))
    what = chance.choice(["import", "import", "case", "spam", "trash", "archive", "restore", "rename", "note"])
    if what == "import" or not waiting:
        number = next(numbers)
        path = desk.dir + "-mail.eml"
        with open(path, "w", encoding="ascii", newline="") as file:
            file.write(mail(number))
        return ("import", path), lambda result: [kept.setdefault(name, None) for name in result["message_ids"]]
    message = chance.choice(waiting)
    discarded = [name for name, where in kept.items() if where in ("spam", "trash")]
    if what == "restore" and discarded:
        message = chance.choice(discarded)
        kept[message] = None  # one or the other, if it is killed
        return ("message", "restore", message, "--reason", "r"), lambda result: None
    if what == "rename":
        return ("case", "rename", s["one"], "--name", f"One {next(numbers)}", "--reason", "r"), lambda result: None
    if what == "note":
        return ("case", "notes", "append", s["one"], "--text", f"note {next(numbers)}"), lambda result: None
    if what == "case":
        return ("case", "add", s["two"], message, "--reason", "r"), lambda result: kept.__setitem__(message, "case")
    if what == "archive":
        return ("archive", "message", "add", s["category"], message, "--summary", "s", "--reason", "r"), \
            lambda result: kept.__setitem__(message, "notification")
    what = "spam" if what == "spam" else "trash"
    return ("message", what, message, "--reason", "r"), lambda result: kept.__setitem__(message, what)


def main():
    program = os.path.abspath(sys.argv[1])
    only = sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix="mailroom-crash-work-") as room, Tap() as tap:
        afmail = os.path.join(room, "afmail")
        os.symlink(program, afmail)
        base = Desk(afmail, os.path.join(room, "base", "desk"))
        s = prepare(base)
        put_mail(base)
        base.check()
        todo = [(name, args) for name, args in scenarios(s).items() if not only or name in only]
        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            for (name, _), (count, failures) in zip(todo, pool.map(lambda pair: stop_at_each_step(base, *pair), todo)):
                tap.ok(count > 0 and not failures, f"{name}: as before or after, {count} stops", "\n".join(failures[:5]))
        if not only or "random" in only:
            seed = int.from_bytes(os.urandom(4), "big")
            tap.run(f"{KILLS} random kills, seed {seed}", random_kills, base, s, seed)


if __name__ == "__main__":
    main()
