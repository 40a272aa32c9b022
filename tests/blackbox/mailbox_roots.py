"""usage: mailbox_roots.py PROGRAM SOURCE - roots that were moved or copied, shared directories, and what a repair leaves alone."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from mailbox_root import Root, principal  # noqa: E402
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402

BOB = "bob@houmao.localhost"
CAROL = "carol@houmao.localhost"


def copy_of(root, name):
    """The root of the same mail in another place, as `cp -a` makes it."""
    other = object.__new__(Root)
    other.m, other.serial, other.path = root.m, root.serial + 1000, os.path.join(os.path.dirname(root.path), name)
    subprocess.run(["cp", "-a", root.path, other.path], check=True)
    return other


def private_root(m):
    """Carol's mailbox is in a private directory; she has one message, which she has starred."""
    root = Root(m)
    private = os.path.join(os.path.realpath(m.dir), "private")
    root.register("carol", "--mailbox-path", private)
    mid = root.deliver(to=[principal("bob"), principal("carol")])["message_id"]
    root.script("update_mailbox_state", {"address": CAROL, "message_id": mid, "starred": True})
    return root, private, mid


def tree_of(path):
    found = {}
    for folder, _, files in os.walk(path):
        for name in files:
            file = os.path.join(folder, name)
            found[file] = os.readlink(file) if os.path.islink(file) else open(file, "rb").read()
    return found


def a_copy_is_not_written(m):
    """Every command that writes refuses it, names both roots and says what to do; the original stays as it is."""
    root, private, mid = private_root(m)
    other = copy_of(root, "copy")
    before = root.tree(), tree_of(private), other.tree()
    for args in (("clear-messages", "--yes"), ("messages", "clear", "--address", BOB, "--yes"), ("cleanup", ), ("init", ),
            ("unregister", "--address", BOB, "--mode", "purge", "--yes"),
            ("register", "--address", "dora@houmao.localhost", "--principal-id", "HOUMAO-dora"),
            ("export", "--output-dir", "out", "--all-accounts")):
        text = other.command(*args, status=1)["detail"]
        assert f"{other.path} was copied from {root.path}," in text, (args, text)
        assert "`mailroom mailbox adopt`" in text and "`mailroom mailbox repair`" in text, (args, text)
    payload = other.payload()
    for script, value in (("deliver_message", payload),
            ("update_mailbox_state", {"address": BOB, "message_id": mid, "read": True}),
            ("deregister_mailbox", {"mode": "purge", "address": BOB})):
        text = other.script(script, value, 1)["error"]
        assert f"{other.path} was copied from {root.path}," in text, (script, text)
    os.unlink(payload["staged_message_path"])
    assert (root.tree(), tree_of(private), other.tree()) == before
    status = other.command("status")
    assert status["supported"] is True and "was copied from" in status["error"], status
    assert other.command("check", status=1)["problems"], "check says so, too"
    root.check()


def a_copy_becomes_a_root_of_its_own(m):
    """By adopt, which says what it will do first, or by repair."""
    for how in ("adopt", "repair"):
        root, private, mid = private_root(m)
        other = copy_of(root, "copy")
        before = root.tree(), tree_of(private)
        plan = other.command("adopt", "--dry-run")
        assert (plan["situation"], plan["recorded_root"], plan["adopted"]) == ("copied", root.path, False), plan
        assert plan["private_directories"] == [
            {"address": CAROL, "path": private, "held_by": root.path, "action": "copy"}], plan
        done = m.run("mailbox", "adopt", "--mailbox-root", other.path)
        assert done.returncode == 1 and "not confirmed" in done.stderr and private not in done.stdout, describe(done)
        assert root.path in done.stderr and other.path in done.stderr, describe(done)
        result = other.command(how, *(["--yes"] if how == "adopt" else []))
        assert result["message_count"] == 1, result
        other.check()
        root.check()
        assert (root.tree(), tree_of(private)) == before
        # Carol has the same mail and the same star, in a mailbox inside the copy.
        assert not os.path.islink(os.path.join(other.path, "mailboxes", CAROL))
        assert other.states("carol") == [(mid, 0, 1, "inbox")], other.states("carol")
        assert other.command("adopt")["situation"] == "own"
        other.deliver(to=[principal("carol")])
        other.command("clear-messages", "--yes")
        assert other.command("check")["message_count"] == 0
        assert (root.tree(), tree_of(private)) == before
        assert root.check()["message_count"] == 1
        for path in (root.path, private, other.path):
            shutil.rmtree(path)


def a_moved_root_takes_its_directories_along(m):
    root, private, mid = private_root(m)
    old = root.path
    root.path += "-moved"
    os.rename(old, root.path)
    text = root.deliver(status=1)["error"]
    assert f"{root.path} was moved here from {old}," in text, text
    plan = root.command("adopt", "--dry-run")
    assert plan["situation"] == "moved" and plan["private_directories"] == [
        {"address": CAROL, "path": private, "held_by": None, "action": "keep"}], plan
    root.command("adopt", "--yes")
    root.check()
    assert os.readlink(os.path.join(root.path, "mailboxes", CAROL)) == private
    assert os.readlink(os.path.join(private, ".mailroom-root")) == root.path
    assert root.states("carol") == [(mid, 0, 1, "inbox")]
    root.deliver(to=[principal("carol")])
    assert len(os.listdir(os.path.join(private, "inbox"))) == 2


def what_was_interrupted_in_a_copy_is_not_finished_in_the_original(m):
    """A copy made during a delivery has its intent: finishing it by the old index would link into the original."""
    root = Root(m)
    payload = root.payload()
    m.write("payload.json", json.dumps(payload))
    done = m.run("mailbox", "script", "deliver_message", "--mailbox-root", root.path, "--payload-file", "payload.json",
        env={"MAILROOM_CRASH_AT": "deliver.moved"})
    if done.returncode >= 0 and done.returncode != 137:
        print("# SKIP this build has no crash points")
        return
    other = copy_of(root, "copy")
    before = root.tree()
    other.command("repair")
    assert root.tree() == before
    other.check()
    assert len(other.box("bob", "inbox")) == 1
    root.deliver()
    root.check()


def one_private_directory_has_one_root(m):
    root, private, _ = private_root(m)
    other = object.__new__(Root)
    other.m, other.serial, other.path = m, 0, os.path.join(os.path.realpath(m.dir), "other")
    other.command("init")
    empty = os.path.join(os.path.realpath(m.dir), "empty")
    root.register("dora", "--mailbox-path", empty)
    before = tree_of(private), tree_of(empty)
    for path in (private, empty, os.path.join(m.dir, "empty/../private")):
        for mode in ("safe", "stash", "force"):
            text = other.register("carol", "--mailbox-path", path, "--mode", mode, "--yes", status=1)["detail"]
            assert f"is registered in the mailbox root {root.path}" in text, text
    assert (tree_of(private), tree_of(empty)) == before
    # Without our mark, as the reference implementation registers it, its links tell.
    os.unlink(os.path.join(private, ".mailroom-root"))
    text = other.register("carol", "--mailbox-path", private, status=1)["detail"]
    assert root.path in text, text
    root.command("init")
    assert os.readlink(os.path.join(private, ".mailroom-root")) == root.path
    # An index that was lost says nothing, but would be made anew.
    os.rename(os.path.join(root.path, "index.sqlite"), os.path.join(root.path, "lost"))
    other.register("carol", "--mailbox-path", private, status=1)
    os.rename(os.path.join(root.path, "lost"), os.path.join(root.path, "index.sqlite"))
    # Once it is given back, another root may have it; then the first one may not.
    root.command("unregister", "--address", "dora@houmao.localhost", "--mode", "purge", "--yes")
    other.register("dora", "--mailbox-path", empty)
    text = root.register("dora", "--mailbox-path", empty, status=1)["detail"]
    assert f"is registered in the mailbox root {other.path}" in text, text
    root.check()
    other.check()


def a_repair_spares_what_is_being_delivered(m):
    """25 deliveries wait for a repair: their staged files were there when it began, and it must not clear them."""
    root = Root(m)
    payloads = [root.payload() for _ in range(25)]
    left = os.path.join(root.path, "staging/left.md")
    with open(left, "w", encoding="ascii"):
        pass
    errors = []

    def send(payload):
        try:
            root.script("deliver_message", payload)
        except AssertionError as error:
            errors.append(str(error))

    repair = subprocess.Popen([m.program, "--json", "mailbox", "repair", "--mailbox-root", root.path], cwd=m.dir,
        env=m.env(MAILROOM_STOP_AT="repair.index.begun"), stdout=subprocess.PIPE, text=True)
    _, status = os.waitpid(repair.pid, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        print("# SKIP this build has no crash points")
        return
    senders = [threading.Thread(target=send, args=(payload, )) for payload in payloads]
    for sender in senders:
        sender.start()
    intents = os.path.join(root.path, "staging/.intents")
    while sum(not name.startswith(".") for name in os.listdir(intents)) < len(payloads):
        assert not errors, errors
    # Somebody stages another one while the repair is at work.
    late = root.payload()
    os.kill(repair.pid, signal.SIGCONT)
    out, _ = repair.communicate(timeout=60)
    for sender in senders:
        sender.join()
    assert repair.returncode == 0 and not errors, (out, errors)
    assert not os.path.exists(left), "what nobody delivers is cleared"
    root.script("deliver_message", late)
    assert root.check()["message_count"] == 26
    assert len(root.box("bob", "inbox")) == 26


def gone(path):
    """Wait until a file is removed."""
    for _ in range(3000):
        if not os.path.exists(path):
            return
        time.sleep(0.01)
    raise AssertionError(f"{path} is still there")


def a_dead_writer_blocks_no_other_program(m):
    """The reference looks for no process: it waits for a lock file until it is removed. We die, and nobody of us comes."""
    root = Root(m)
    for point in ("locks.take.created", "locks.take.filled:2", "locks.take.filled:3", "deliver.moved", "deliver.committed"):
        payload = root.payload()
        m.write("payload.json", json.dumps(payload))
        done = m.run("mailbox", "script", "deliver_message", "--mailbox-root", root.path, "--payload-file", "payload.json",
            env={"MAILROOM_CRASH_AT": point})
        if done.returncode != -signal.SIGKILL:
            print("# SKIP this build has no crash points")
            return
        for name in ("alice@houmao.localhost", BOB):
            gone(os.path.join(root.path, "locks/addresses", name + ".lock"))
        gone(os.path.join(root.path, "locks/index.lock"))
    # Where even the keeper was killed, the next of us removes them all, whatever it needs itself.
    lock = os.path.join(root.path, "locks/addresses/dora@houmao.localhost.lock")
    with open(lock, "x", encoding="ascii") as file:
        file.write(f"pid={os.getpid()} acquired_at_utc=2026-01-01T00:00:00.000000+00:00 by=mailroom\n")
    root.deliver()
    assert not os.path.exists(lock)
    with open(lock, "x", encoding="ascii") as file:
        file.write(f"pid={os.getpid()} acquired_at_utc=2026-01-01T00:00:00.000000+00:00\n")
    root.deliver()
    assert os.path.exists(lock), "another program's lock is its own"
    os.unlink(lock)
    root.check()


def hidden_boxes(m):
    """The reference moves mail into boxes of any name, also hidden ones: nothing of that stands in a repair's way."""
    for name in (".later", "...", ".x.md", "a.b"):
        root = Root(m)
        mid = root.deliver()["message_id"]
        box = os.path.join(root.path, "mailboxes", BOB)
        os.mkdir(os.path.join(box, name))
        link = os.path.join(box, name, mid + ".md")
        os.rename(os.path.join(box, "inbox", mid + ".md"), link)
        database.rows(os.path.join(root.path, "index.sqlite"), "UPDATE mailbox_projections SET folder_name = ?, "
            "projection_path = ? WHERE folder_name = 'inbox'", name, link)
        database.rows(os.path.join(box, "mailbox.sqlite"), "UPDATE message_state SET box_name = ?", name)
        root.check()
        os.unlink(os.path.join(root.path, "index.sqlite"))
        os.unlink(link)
        root.command("repair")
        root.check()
        assert os.path.islink(link) and root.box("bob", "inbox") == [], name
        assert root.states("bob") == [(mid, 0, 0, name)]
        root.command("export", "--output-dir", "out", "--all-accounts")
        shutil.rmtree(os.path.join(m.dir, "out"))
        shutil.rmtree(root.path)


def a_failed_repair_leaves_no_half_index(m):
    root = Root(m)
    root.deliver()
    # A mailbox whose box cannot be made, for a file has its name.
    box = os.path.join(root.path, "mailboxes", BOB, "archive")
    os.rmdir(box)
    with open(box, "w", encoding="ascii"):
        pass
    database.rows(os.path.join(root.path, "mailboxes", BOB, "mailbox.sqlite"), "UPDATE message_state SET box_name = 'archive'")
    before = open(os.path.join(root.path, "index.sqlite"), "rb").read()
    done = m.run("mailbox", "repair", "--mailbox-root", root.path)
    assert done.returncode == 1 and "archive" in done.stderr, describe(done)
    assert open(os.path.join(root.path, "index.sqlite"), "rb").read() == before
    assert [name for name in os.listdir(root.path) if name.startswith("index.sqlite")] == ["index.sqlite"]
    os.unlink(box)
    root.command("repair")
    root.check()


with Tap() as tap:
    for case in (a_copy_is_not_written, a_copy_becomes_a_root_of_its_own, a_moved_root_takes_its_directories_along,
            what_was_interrupted_in_a_copy_is_not_finished_in_the_original, one_private_directory_has_one_root,
            a_repair_spares_what_is_being_delivered, a_dead_writer_blocks_no_other_program, hidden_boxes, a_failed_repair_leaves_no_half_index):
        with Mailroom(sys.argv[1]) as room:
            tap.run(case.__name__, case, room)
