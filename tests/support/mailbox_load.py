"""A live load on a mailbox root, a ledger of everything that was acknowledged, and what must be true of the root.

Writers are command lines, as agents' scripts are: each delivers one message, or marks one as read, and what ended
with status 0 enters the ledger. Whether a delivery that was killed has happened is not known, but it may not have
happened by half.
"""

import json
import os
import random
import subprocess
import threading
import time

import database

NAMES = ["alice", "bob", "carol"]
WRITERS = 4
TIMEOUT_S = 120
PAUSE_S = 0.01


def address(name):
    return f"{name}@houmao.localhost"


def principal(name):
    return {"principal_id": f"HOUMAO-{name}", "address": address(name)}


class MailboxLoad:
    """`mailroom` is a support.mailroom.Mailroom; `path` becomes a root; `env` is for the writers."""

    def __init__(self, mailroom, path, rng, env=None):
        self.m = mailroom
        self.path = path
        self.rng = rng
        self.env = env or {}
        self.lock = threading.Lock()
        self.running = set()  # processes
        self.is_open = threading.Event()  # writers may start processes
        self.over = False
        self.delivered = {}  # id: (sender, recipients, body)
        self.read = set()  # (id, name)
        self.count = 0
        self.refused = 0
        self.last_refusal = None
        self.problems = []
        self.serial = 0
        self.threads = [threading.Thread(target=self._guard, args=(i,), daemon=True) for i in range(WRITERS)]

    def enrol(self):
        self.m.json("mailbox", "init", "--mailbox-root", self.path)
        for name in NAMES:
            self.m.json("mailbox", "register", "--mailbox-root", self.path, "--address", address(name), "--principal-id",
                f"HOUMAO-{name}")

    # ---- load ----

    def begin(self):
        self.is_open.set()
        for thread in self.threads:
            thread.start()

    def finish(self, is_broken=False):
        """No more load. What the clients found is told, unless something is known to be broken."""
        self.over = True
        self.is_open.set()
        for thread in (t for t in self.threads if t.ident):
            thread.join(TIMEOUT_S)
            assert not thread.is_alive(), "a writer hangs"
        assert is_broken or not self.problems, self.problems[0]

    def work(self, least, most):
        """Until so many more have been acknowledged."""
        wanted = self.count + self.rng.randint(least, most)
        deadline = time.monotonic() + TIMEOUT_S
        while self.count < wanted:
            assert not self.problems, self.problems[0]
            assert time.monotonic() < deadline, f"nothing is acknowledged any more: {self.last_refusal}"
            time.sleep(PAUSE_S)

    def hold(self):
        """No new writers; those that run, for whoever kills them."""
        self.is_open.clear()
        with self.lock:
            return list(self.running)

    def write_once(self, is_delivery=False):
        """One delivery or change of state, by ourselves, which must be acknowledged."""
        before = self.count
        if is_delivery or self.rng.random() < 0.5:
            self._deliver(self.rng, WRITERS, self._next())
        else:
            self._mark(self.rng, WRITERS, self.rng.choice(sorted(set(self.delivered) - {i for i, _ in self.read})))
        assert self.count == before + 1, f"a writer failed: {self.last_refusal}"

    def die_at(self, point):
        """One delivery by ourselves that dies at this crash point: whether it happened is not known."""
        env = self.env
        self.env = {**env, "MAILROOM_CRASH_AT": point}
        before = self.count
        try:
            self._deliver(self.rng, WRITERS, self._next())
        finally:
            self.env = env
        assert self.count == before, f"the delivery did not come to {point}"

    def wait_until_idle(self):
        deadline = time.monotonic() + TIMEOUT_S
        while self.running:
            assert time.monotonic() < deadline, "a writer hangs"
            time.sleep(PAUSE_S)

    def go_on(self):
        self.wait_until_idle()
        self.is_open.set()

    def kill(self, all_of_them):
        """Writers die wherever they are."""
        with self.lock:
            victims = list(self.running)
        for process in victims if all_of_them else victims[:1]:
            process.kill()

    def _guard(self, number):
        rng = random.Random(number)
        try:
            while not self.over:
                self.is_open.wait()
                self._act(rng, number)
        except Exception as error:  # told by work() and finish()
            self.problems.append(f"{type(error).__name__}: {error}")

    def _act(self, rng, number):
        with self.lock:
            self.serial += 1
            serial = self.serial
            known = rng.choice(list(self.delivered)) if self.delivered and rng.random() < 0.2 else None
        try:
            if known:
                self._mark(rng, number, known)
            else:
                self._deliver(rng, number, serial)
        except OSError as error:  # the disk is full, or was cut: nothing was asked for
            self.last_refusal = str(error)
            time.sleep(PAUSE_S)

    def _script(self, number, name, payload):
        """Was it acknowledged? A writer that was killed was not. Writer number WRITERS is ourselves, and is never held."""
        file = os.path.join(self.m.dir, f"payload-{number}.json")
        with open(file, "w", encoding="utf-8") as out:
            json.dump(payload, out)
        with self.lock:
            if number < WRITERS and (not self.is_open.is_set() or self.over):
                return False
            process = subprocess.Popen([self.m.program, "mailbox", "script", name, "--mailbox-root", self.path,
                "--payload-file", file], cwd=self.m.dir, env=self.m.env(**self.env), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.running.add(process)
        try:
            said = process.communicate()[0].decode("utf-8", "replace")
        finally:
            with self.lock:
                self.running.discard(process)
        if process.returncode != 0:
            assert process.returncode in (1, -9), f"{name} ended with {process.returncode}: {said}"
            self.refused += process.returncode == 1
            self.last_refusal = said or self.last_refusal
            return False
        assert json.loads(said)["ok"] is True, said
        return True

    def _deliver(self, rng, number, serial):
        ident = f"msg-20260311T041500Z-{serial:032x}"
        sender = rng.choice(NAMES)
        to = rng.sample([name for name in NAMES if name != sender], rng.randint(1, 2))
        subject = f"number {serial}"
        body = f"{subject} of {sender}.\n" * rng.randint(1, 60)
        fields = {"message_id": ident, "thread_id": ident, "in_reply_to": None, "references": [],
            "created_at_utc": "2026-03-11T04:15:00Z", "to": [principal(name) for name in to], "cc": [], "reply_to": [],
            "subject": subject, "attachments": [], "headers": {}}
        head = {"protocol_version": 3, **fields, "from": principal(sender)}
        staged = os.path.join(self.path, "staging", ident + ".md")
        with open(staged, "w", encoding="utf-8") as out:
            out.write("---\n" + "".join(f"{k}: {json.dumps(v)}\n" for k, v in head.items()) + "---\n\n" + body)
        if self._script(number, "deliver_message", {"staged_message_path": staged, "sender": principal(sender), **fields}):
            with self.lock:
                self.delivered[ident] = (sender, to, body)
                self.count += 1

    def _mark(self, rng, number, ident):
        name = rng.choice(self.delivered[ident][1])
        if self._script(number, "update_mailbox_state", {"address": address(name), "message_id": ident, "read": True}):
            with self.lock:
                self.read.add((ident, name))
                self.count += 1

    # ---- truth ----

    def check(self):
        """No writer runs. The next one finishes or undoes what others began; then all is whole."""
        self.write_once(is_delivery=True)
        done = self.m.run("--json", "mailbox", "check", "--mailbox-root", self.path)
        assert done.returncode == 0 and json.loads(done.stdout)["ok"], (done.stdout[:2000], done.stderr[:2000])
        with self.lock:
            delivered, read = dict(self.delivered), set(self.read)
        states = {name: self._states(name) for name in NAMES}
        for ident, (sender, to, body) in delivered.items():
            for name, folder in [(sender, "sent")] + [(name, "inbox") for name in to]:
                path = os.path.join(self.path, "mailboxes", address(name), folder, ident + ".md")
                assert os.path.exists(path), f"{ident} was acknowledged, and is not in {name}'s {folder}"
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                assert text.endswith("---\n\n" + body), f"{path} is not what was sent: {text[:200]!r}"
                assert ident in states[name], f"{ident} has no row in {name}'s mailbox.sqlite"
        forgotten = sorted(ident for ident, name in read if not states[name][ident])
        assert not forgotten, f"marked as read, but not any more: {forgotten[:5]}"

    def _next(self):
        with self.lock:
            self.serial += 1
            return self.serial

    def _states(self, name):
        file = os.path.join(self.path, "mailboxes", address(name), "mailbox.sqlite")
        return dict(database.rows(file, "SELECT message_id, is_read FROM message_state"))
