"""usage: crash_mailbox_register.py PROGRAM - a registration stopped anywhere happened or did not.

Each action is stopped at every point it passes. The next open for writing must leave a root that
equals the one before the action or the one after it; for two actions that open is itself stopped
everywhere, and the open after that must do it.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from crash import Crash, describe, must_succeed, passes, tree  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = sys.argv[1]
ADDRESS = "a@houmao.localhost"
ENTRY = os.path.join("root", "mailboxes", ADDRESS)
SWAP = ["register.intended", "register.built", "register.set_aside", "register.placed",
    "register.committed", "register.completed", "register.emptied", "register.dropped"]
PURGE = ["register.intended", "register.set_aside", "unregister.committed", "register.emptied",
    "register.dropped"]
MESSAGE = "msg-20260311T041500Z-0123456789abcdef0123456789abcdef"


def program(action, directory, **variables):
    env = {k: v for k, v in os.environ.items() if not k.startswith("MAILROOM_")}
    env.update({f"MAILROOM_{k.upper()}": v for k, v in variables.items()})
    return subprocess.run([PROGRAM, action, directory], env=env, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=180, check=False)


class Start:
    """A directory prepared by actions, one after the other, once. As a context, that directory again:
    a root knows where it stands, so copies of the first one are put in its place."""

    def __init__(self, place, *actions):
        self.path = os.path.join(tempfile.mkdtemp(dir=place), "d")
        self.first = self.path + ".first"
        os.mkdir(self.path)
        for action in ("init",) + actions:
            if callable(action):
                action(self.path)
            else:
                must_succeed(program(action, self.path))
        os.rename(self.path, self.first)

    def __enter__(self):
        shutil.copytree(self.first, self.path, symlinks=True)
        return self.path

    def __exit__(self, *ignored):
        shutil.rmtree(self.path)


class CrashFrom(Crash):
    def __init__(self, tap, action, start, env):
        super().__init__(tap, lambda d: [PROGRAM, action, d], picture=picture, env=env)
        self.fresh = lambda: start


def add_mail(directory):
    """A message in the mailbox, with its link and a flag, and a file that is not mail."""
    canonical = os.path.join(directory, "root", "messages", "2026-03-11", MESSAGE + ".md")
    link = os.path.join(directory, ENTRY, "inbox", MESSAGE + ".md")
    os.makedirs(os.path.dirname(canonical), exist_ok=True)
    with open(canonical, "w", encoding="ascii") as file:
        file.write("a document")
    os.symlink(canonical, link)
    with open(os.path.join(directory, ENTRY, "note"), "w", encoding="ascii") as file:
        file.write("a note")
    with database.opened(os.path.join(directory, "root", "index.sqlite")) as index:
        row = index.execute("SELECT registration_id FROM mailbox_registrations WHERE address = ?",
            (ADDRESS,)).fetchone()
        index.execute("INSERT INTO messages(message_id, thread_id, created_at_utc, canonical_path, "
            "subject, body_markdown, sender_principal_id, sender_address) "
            "VALUES(?1, ?1, 't', ?2, 's', 'b', 'p', 'a')", (MESSAGE, canonical))
        index.execute("INSERT INTO mailbox_projections VALUES(?, ?, 'inbox', ?)",
            (row[0], MESSAGE, link))
    database.rows(os.path.join(directory, ENTRY, "mailbox.sqlite"),
        "INSERT INTO message_state(message_id, thread_id, created_at_utc, subject, is_starred) "
        "VALUES(?1, ?1, 't', 's', 1)", MESSAGE)


def lose_entry(directory):
    os.rename(os.path.join(directory, ENTRY), os.path.join(directory, "lost"))


def picture(directory):
    """The root: files, and of databases the rows; nothing of where it stands. A temporary name that
    a dead writer left stays until something else is to be recovered."""
    root = os.path.join(directory, "root")
    here = lambda text: text.replace(os.path.realpath(directory), "DIR")  # noqa: E731
    found = {}
    for name, content in tree(root, skip=lambda path: path.split(os.sep)[0] == "locks").items():
        if ".json.tmp-" in name:
            continue
        if name.endswith(".sqlite"):
            for table, lines in database.contents(os.path.join(root, name)).items():
                found[f"{name}:{table}"] = [here(repr(line)) for line in lines]
        else:
            found[name] = here(content) if isinstance(content, str) else content
    return found


def learn(start, action):
    """The root before the action, and after it."""
    with start as directory:
        before = picture(directory)
        must_succeed(program(action, directory))
        after = picture(directory)
        assert before != after
        return before, after


def check_either(directory, before, after):
    must_succeed(program("open", directory))
    found = picture(directory)
    if found in (before, after):
        return
    report = []
    for title, wanted in (("before", before), ("after", after)):
        keys = sorted(k for k in found.keys() | wanted.keys()
            if found.get(k, ...) != wanted.get(k, ...))
        report += [f"{title}: {k}: {found.get(k, 'absent')!r}, not {wanted.get(k, 'absent')!r}"
            for k in keys[:4]]
    raise AssertionError("; ".join(report))


def check_failed(result, directory, before, after):
    assert result.returncode in (0, 1), describe(result)
    check_either(directory, before, after)


def stops(tap, title, start, action, expect, env=None):
    before, after = learn(start, action)
    crash = CrashFrom(tap, action, start, env)
    crash.stops(title, lambda d: check_either(d, before, after), expect)
    return crash, before, after


def twice(tap, title, start, action, points):
    """The recovery is stopped, too."""
    before, after = learn(start, action)

    def stopped(directory, point):
        result = program(action, directory, crash_at=point)
        assert result.returncode == -signal.SIGKILL, describe(result)

    def stop(point, name, number):
        with start as directory:
            stopped(directory, point)
            result = program("open", directory, crash_at=f"{name}:{number}")
            assert result.returncode == -signal.SIGKILL, describe(result)
            check_either(directory, before, after)

    for point in points:
        with start as directory:
            log = directory + ".log"
            stopped(directory, point)
            must_succeed(program("open", directory, crash_log=log))
            with open(log, encoding="utf-8") as file:
                names = [n for n in file.read().split() if n.startswith(("register.", "fs."))]
            os.unlink(log)
        for name, number in passes(names):
            tap.run(f"{title}: stopped at {point}, then at {name}:{number}", stop, point, name,
                number)


def main(tap, place):
    empty, joined, linked = Start(place), Start(place, "join", add_mail), Start(place, "link")
    lost = Start(place, "join", "deactivate", lose_entry)
    placing = [point for point in SWAP if point != "register.set_aside"]
    stops(tap, "join", empty, "join", placing)
    stops(tap, "link", empty, "link", placing)
    stops(tap, "revive", lost, "join", placing)
    stops(tap, "force over a link", linked, "force", SWAP)
    stops(tap, "force by a link", joined, "force-link", SWAP)
    stops(tap, "stash", joined, "stash", SWAP)
    stops(tap, "stash a link", linked, "stash", SWAP)
    stops(tap, "purge", joined, "purge", PURGE)
    stops(tap, "purge a link", linked, "purge", PURGE)
    stops(tap, "deactivate", joined, "deactivate", [])
    forced, *pictures = stops(tap, "force", joined, "force", SWAP)
    forced.failures("force", "ENOSPC", lambda d, r: check_failed(r, d, *pictures),
        only=lambda name: name != "fs.renameat2")
    without = {"MAILROOM_FAIL_AT": "fs.renameat2:ENOSYS"}
    stops(tap, "force without renameat2", joined, "force", ["fs.rename.claimed"], without)
    stops(tap, "purge without renameat2", joined, "purge", ["fs.rename.claimed"], without)
    twice(tap, "force", joined, "force", SWAP[:-1])
    twice(tap, "purge", joined, "purge", PURGE[:-1])


# Memory is enough, and hundreds of roots are quicker there: a stop is no power cut.
SHARED = "/dev/shm"
with tempfile.TemporaryDirectory(prefix="mailroom-crash-",
        dir=SHARED if os.access(SHARED, os.W_OK) else None) as where, Tap() as results:
    main(results, os.path.realpath(where))
