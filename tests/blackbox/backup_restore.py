"""usage: backup_restore.py PROGRAM SOURCE - everything in one file while it is in use, and back again, or not at all."""

import json
import os
import random
import shutil
import subprocess
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from crash import same, tree  # noqa: E402
from mailbox_root import Root  # noqa: E402
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402
from team_load import Ledger, TeamLoad  # noqa: E402
from workspace import mail  # noqa: E402

SETTINGS = "# mine\nhttp:\n  port: 9011\n  bearer_token: sesame\nteam:\n  name_enforcement: strict\n"


def path(m, *names):
    return os.path.join(m.dir, *names)


def refused(m, text, *args, status=1, **options):
    done = m.run(*args, **options)
    assert done.returncode == status and text in done.stderr and not done.stdout, (text, describe(done))


def furnish(m):
    """One of everything, each with something in it."""
    m.json("team", "ensure-project", "/path/to/backend")
    for name in ("GreenCastle", "BlueLake"):
        m.json("team", "register", "/path/to/backend", name, "--program", "test", "--model", "none")
    m.json("team", "send", "/path/to/backend", "GreenCastle", "--to", "BlueLake", "--subject", "kept", "--body", "as it is")
    root = Root(m)
    root.deliver()
    os.mkdir(path(m, "desk"))
    m.json("work", "init", cwd=path(m, "desk"))
    m.write("one.eml", mail(1))
    m.json("work", "import", path(m, "one.eml"), cwd=path(m, "desk"))
    os.symlink("nowhere/at all", path(m, "desk", "a link"))
    m.write("desk/odd\nname\\.txt", "odd\n")
    os.makedirs(path(m, ".config/mailroom"))
    m.write(".config/mailroom/mailroom.yaml", SETTINGS)
    return root


def passing(name):
    """What a backup leaves out."""
    return name.startswith((".afmail/index.sqlite", ".afmail/workspace.lock", "locks/", "storage.sqlite3-", "storage.sqlite3.bell")) \
        or os.path.basename(name) in (".archive.lock", ".archive.lock.owner.json") or name == "storage.sqlite3"


def everything(m):
    return {name: tree(path(m, name), skip=passing) for name in ("data", "shared", "desk")}


def back_up(m, name="all.tar", *more):
    return m.json("backup", path(m, name), "--mailbox", path(m, "shared"), "--workspace", path(m, "desk"), *more)


def what_was_acknowledged_is_in_it(m):
    """Taken under load: nothing that was acknowledged before is missing, and archives agree with the database."""
    load = TeamLoad(m, random.Random(7))
    server = load.start()
    load.enrol()
    load.begin()
    load.work(80, 80)
    with load.ledger.lock:
        before = Ledger()
        before.messages, before.read = dict(load.ledger.messages), set(load.ledger.read)
        before.leases = dict(load.ledger.leases)
    told = m.json("backup", path(m, "live.tar"))
    with load.ledger.lock:
        during = len(load.ledger.messages)
    load.work(20, 20)
    load.finish()
    load.stop(server)
    assert told["parts"][0]["name"] == "team" and during >= len(before.messages)
    m.json("restore", path(m, "live.tar"), "--into", path(m, "again"))
    live, m.root = m.root, path(m, "again/team")
    try:
        again = TeamLoad(m, random.Random(7))
        again.ledger = before
        again.check()
        again.check_archive()
    finally:
        m.root = live


def all_comes_back_as_it_was(m):
    root = furnish(m)
    told = back_up(m)
    assert [part["name"] for part in told["parts"]] == ["team", "mailbox-1", "workspace-1", "settings"], told
    assert os.stat(path(m, "all.tar")).st_mode & 0o777 == 0o600
    assert told["files"] == sum(part["files"] for part in told["parts"]), told
    rows = "SELECT id, subject, body_md FROM messages ORDER BY id"
    before, mail_before = everything(m), database.rows(database.team_database(m.root), rows)
    checked = m.json("restore", path(m, "all.tar"), "--check")
    assert checked["parts"] == told["parts"] and checked["files"] == told["files"], checked
    for name in ("data", "shared", "desk"):
        os.rename(path(m, name), path(m, name + ".old"))
    os.unlink(path(m, ".config/mailroom/mailroom.yaml"))
    m.json("restore", path(m, "all.tar"))
    same(everything(m), before)
    assert database.rows(database.team_database(m.root), rows) == mail_before
    assert not [name for name in os.listdir(m.dir) if name.endswith(".restoring")]
    # And it works.
    assert m.json("team", "check")["ok"]
    assert root.command("check")["ok"]
    assert m.json("work", "doctor", cwd=path(m, "desk"))["code"]
    root.deliver()
    m.json("team", "send", "/path/to/backend", "BlueLake", "--to", "GreenCastle", "--subject", "on", "--body", "it goes")


def secrets_stay_out_unless_asked_for(m):
    config = path(m, ".config/mailroom/mailroom.yaml")
    with open(config, "w", encoding="ascii") as file:
        file.write(SETTINGS)
    for words, has in (((), False), (("--with-secrets",), True)):
        back_up(m, "secrets.tar", *words)
        with open(path(m, "secrets.tar"), "rb") as file:
            assert (b"sesame" in file.read()) is has
        m.json("restore", path(m, "secrets.tar"), "--only", "settings", "--into", path(m, "kept"))
        with open(path(m, "kept/settings.yaml"), encoding="ascii") as file:
            text = file.read()
        assert (text == SETTINGS) is has and "9011" in text and "strict" in text, text
        os.unlink(path(m, "secrets.tar"))
        shutil.rmtree(path(m, "kept"))


def tar_and_sha256sum_read_it(m):
    into = path(m, "unpacked")
    os.mkdir(into)
    subprocess.run(["tar", "-C", into, "-xf", path(m, "all.tar")], check=True, timeout=60)
    done = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=into, capture_output=True,
        text=True, timeout=60, check=False)
    assert done.returncode == 0 and not done.stdout, describe(done)
    with open(os.path.join(into, "manifest.json"), encoding="utf-8") as file:
        assert json.load(file)["format"] == "mailroom-backup"
    assert tree(os.path.join(into, "workspace-1"), skip=passing) == everything(m)["desk"]
    with tarfile.open(path(m, "all.tar")) as archive:
        assert archive.getnames()[-2:] == ["manifest.json", "SHA256SUMS"]


def nothing_is_overwritten(m):
    before = everything(m)
    refused(m, "all.tar is there already: a backup never overwrites one; choose another name", "backup", path(m, "all.tar"))
    refused(m, "/data is there, and a restore never overwrites: move it away, restore elsewhere with --into DIR, or leave "
        "this part out by naming the others with --only", "restore", path(m, "all.tar"))
    refused(m, "/shared is there, and a restore never overwrites", "restore", path(m, "all.tar"), "--only", "mailbox-1")
    same(everything(m), before)
    # An empty directory is no obstacle.
    os.makedirs(path(m, "elsewhere/team"))
    told = m.json("restore", path(m, "all.tar"), "--into", "elsewhere", "--only", "team")
    assert [part["path"] for part in told["parts"]] == [path(m, "elsewhere/team")], told
    assert os.path.exists(path(m, "elsewhere/team/storage.sqlite3"))
    refused(m, "the backup has no part cellar; mailroom restore --check lists them", "restore", path(m, "all.tar"), "--only",
        "cellar", status=2)


def a_damaged_backup_is_refused_before_anything_is_written(m):
    with open(path(m, "all.tar"), "rb") as file:
        whole = file.read()
    rng = random.Random(3)
    with tarfile.open(path(m, "all.tar")) as archive:
        inside = next(member for member in archive if member.name.endswith("storage.sqlite3"))
    cases = [("content", inside.offset_data + 5000)] + [("any", rng.randrange(len(whole) - 1024)) for _ in range(12)]
    bad = path(m, "bad.tar")
    for what, at in cases:
        with open(bad, "wb") as file:
            file.write(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1:])
        done = m.run("restore", bad, "--into", path(m, "never"))
        assert done.returncode == 1 and "damaged" in done.stderr or "manifest.json" in done.stderr, (at, describe(done))
        assert what != "content" or "the content of team/storage.sqlite3 is not what was backed up" in done.stderr, describe(done)
        assert not os.path.exists(path(m, "never"))
    for size in (0, 100, 512, len(whole) // 2, len(whole) - 2000):
        with open(bad, "wb") as file:
            file.write(whole[:size])
        refused(m, "it ends too early, so it was cut off, or is no backup", "restore", bad, "--check")
    with tarfile.open(bad, "w", format=tarfile.USTAR_FORMAT) as archive:
        archive.add(path(m, "one.eml"), "one.eml")
    refused(m, "is damaged: files are missing in it", "restore", bad, "--check")
    refused(m, "cannot read " + path(m, "missing"), "restore", path(m, "missing"), "--check")


def what_cannot_be_backed_up_is_named(m):
    empty = {"STORAGE_ROOT": path(m, "none"), "HOME": path(m, "nobody")}
    os.mkdir(path(m, "nobody"))
    refused(m, "there is nothing to back up", "backup", path(m, "new.tar"), env=empty)
    refused(m, "the mailbox root " + path(m, "none"), "backup", path(m, "new.tar"), "--mailbox", path(m, "none"))
    refused(m, "the workspace " + path(m, "none"), "backup", path(m, "new.tar"), "--workspace", path(m, "none"))
    refused(m, "cannot write " + path(m, "none/new.tar.partial"), "backup", path(m, "none/new.tar"))
    assert not [name for name in os.listdir(m.dir) if name.startswith("new.tar")]


def main():
    with Tap() as tap:
        with Mailroom(sys.argv[1]) as m:
            tap.run("what_was_acknowledged_is_in_it", what_was_acknowledged_is_in_it, m)
        with Mailroom(sys.argv[1]) as m:
            m.dir = os.path.realpath(m.dir)
            for case in (all_comes_back_as_it_was, secrets_stay_out_unless_asked_for, tar_and_sha256sum_read_it,
                    nothing_is_overwritten, a_damaged_backup_is_refused_before_anything_is_written,
                    what_cannot_be_backed_up_is_named):
                tap.run(case.__name__, case, m)


main()
