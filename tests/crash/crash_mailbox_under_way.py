"""usage: crash_mailbox_under_way.py PROGRAM - mail that is being delivered is not damage.

A delivery lets go of its locks before it writes each mailbox's own row, so that the next one need not wait. Here it
is stopped at that place and at others, and everybody else must see mail that is on its way: `check`, `repair`, readers
and other writers. The same place with a dead process is damage, and the next writer puts it right.
"""

import json
import os
import signal
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailbox_root import Root  # noqa: E402
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402

# Its intent has its name, and nothing else was done; it waits for the locks; it has let them go; one row is written.
INTENT_NAMED = "fs.write.renamed"
INTENDED = "deliver.intended"
UNLOCKED = "deliver.unlocked"
ONE_ROW = "deliver.local_committed"


class Delivery:
    """A delivery from alice to bob in a process of its own, stopped or killed at a point."""

    def __init__(self, root, point, variable="MAILROOM_STOP_AT"):
        payload = root.payload()
        self.message_id = payload["message_id"]
        file = os.path.join(root.m.dir, self.message_id + ".json")
        with open(file, "w", encoding="utf-8") as out:
            json.dump(payload, out)
        self.process = subprocess.Popen([root.m.program, "mailbox", "script", "deliver_message", "--mailbox-root",
            root.path, "--payload-file", file], cwd=root.m.dir, env=root.m.env(**{variable: point}),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        _, status = os.waitpid(self.process.pid, os.WUNTRACED)
        wanted = os.WIFSTOPPED(status) if variable == "MAILROOM_STOP_AT" else os.WIFSIGNALED(status)
        assert wanted, f"it did not come to {point}: {self.process.stdout.read()}"

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)
        said = self.process.communicate(timeout=60)[0]
        assert self.process.returncode == 0 and json.loads(said)["ok"] is True, said

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        if self.process.returncode is None:
            try:
                self.process.kill()
            except ProcessLookupError:
                pass
        self.process.communicate()


def intents(root):
    return sorted(os.listdir(os.path.join(root.path, "staging", ".intents")))


def has_row(root, name, message_id):
    return message_id in [row[0] for row in root.states(name)]


def check_sees_no_damage(m, point):
    root = Root(m)
    root.deliver()
    with Delivery(root, point) as delivery:
        assert intents(root) == [delivery.message_id + ".json"], intents(root)
        root.check()
        human = m.run("mailbox", "check", "--mailbox-root", root.path)
        assert human.returncode == 0 and "missing_local_row" not in human.stdout, describe(human)
        delivery.go_on()
    found = root.check()
    assert found["message_count"] == 2 and intents(root) == [], (found, intents(root))
    assert has_row(root, "bob", delivery.message_id) and has_row(root, "alice", delivery.message_id)


def another_writer_leaves_it_alone(m):
    root = Root(m)
    root.deliver()
    with Delivery(root, UNLOCKED) as delivery:
        other = root.deliver()["message_id"]
        assert has_row(root, "bob", other) and not has_row(root, "bob", delivery.message_id), root.states("bob")
        assert intents(root) == [delivery.message_id + ".json"], intents(root)
        root.register("carol")
        assert not has_row(root, "bob", delivery.message_id), "opening for writing finished it"
        delivery.go_on()
    assert root.check()["message_count"] == 3
    assert has_row(root, "bob", delivery.message_id) and intents(root) == []


def repair_calls_it_no_damage(m):
    root = Root(m)
    root.deliver()
    with Delivery(root, UNLOCKED) as delivery:
        done = root.command("repair")
        assert done["problem_count"] == 0, done
        assert intents(root) == [delivery.message_id + ".json"], intents(root)
        delivery.go_on()
    assert root.check()["message_count"] == 2
    assert [row[1:] for row in root.states("bob")] == [(0, 0, "inbox")] * 2, root.states("bob")


def readers_see_the_message(m):
    root = Root(m)
    with Delivery(root, UNLOCKED) as delivery:
        listed = root.command("messages", "list", "--address", "bob@houmao.localhost")
        assert [row["message_id"] for row in listed["messages"]] == [delivery.message_id], listed
        shown = root.command("messages", "get", "--address", "bob@houmao.localhost", "--message-id",
            delivery.message_id)
        assert delivery.message_id in json.dumps(shown), shown
        status = root.command("status")
        assert status["supported"] and status["error"] is None, status
        out = os.path.join(m.dir, "exported")
        exported = root.command("export", "--all-accounts", "--output-dir", out)
        assert exported.get("ok", True) is True, exported
        names = [name for _, _, files in os.walk(out) for name in files]
        assert delivery.message_id + ".md" in names, names
        delivery.go_on()
    root.check()


def a_dead_process_leaves_damage_that_the_next_writer_mends(m):
    root = Root(m)
    root.deliver()
    with Delivery(root, UNLOCKED, "MAILROOM_CRASH_AT") as delivery:
        found = root.command("check", status=1)
        kinds = sorted({problem["what"] for problem in found["problems"]})
        assert kinds == ["leftover_intent", "missing_local_row"], found
        root.deliver()
        assert has_row(root, "bob", delivery.message_id), root.states("bob")
    assert root.check()["message_count"] == 3 and intents(root) == []


def many_deliver_while_it_is_checked(m):
    """Several writers, and `check` as often as it can until they are done."""
    root = Root(m)
    for name in ("carol", "dave"):
        root.register(name)
    writers, each = 4, 8
    payloads = [[root.payload() for _ in range(each)] for _ in range(writers)]
    failures, wrong, checks = [], [], 0

    def write(mine):
        try:
            for payload in mine:
                root.script("deliver_message", payload)
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(mine,)) for mine in payloads]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        done = m.run("--json", "mailbox", "check", "--mailbox-root", root.path)
        checks += 1
        if done.returncode != 0:
            wrong.append(done.stdout)
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
    assert not wrong, f"{len(wrong)} of {checks} checks: {wrong[0]}"
    assert root.check()["message_count"] == writers * each


def main():
    with Tap() as tap:
        def box(name, test, *args):
            with Mailroom(sys.argv[1]) as m:
                tap.run(name, test, m, *args)

        for point in (INTENT_NAMED, INTENDED, UNLOCKED, ONE_ROW):
            box(f"check_sees_no_damage: stopped at {point}", check_sees_no_damage, point)
        for test in (another_writer_leaves_it_alone, repair_calls_it_no_damage, readers_see_the_message,
                a_dead_process_leaves_damage_that_the_next_writer_mends, many_deliver_while_it_is_checked):
            box(test.__name__, test)


main()
