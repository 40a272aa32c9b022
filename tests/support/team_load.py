"""A live load on `mailroom serve`, a ledger of everything it acknowledged, and what must be true of the storage.

Senders send messages, mark them as read and lease files as fast as they are answered; a listener asks for what is
new with since_ts, as a polling agent does. Only what was answered with 200 enters the ledger: whether a request
without an answer was done is not known, but no message may be there twice.
"""

import http.client
import json
import os
import random
import subprocess
import threading
import time

import database

PROJECT = "/path/to/backend"
SLUG = "path-to-backend"
NAMES = ["GreenCastle", "RedRiver", "BlueLake", "GoldFox"]
LISTENER = "GrayOwl"
SENDERS = 6
TIMEOUT_S = 120
PAUSE_S = 0.02
LIMIT = 1000
TORN = {"missing_file", "wrong_file"}  # what `team check` says of files that a server writes again


class Gone(Exception):
    """The server does not answer any more."""


class Connection:
    def __init__(self, server):
        self.http = http.client.HTTPConnection(server.address, timeout=TIMEOUT_S)

    def call(self, tool, **arguments):
        """(status, answer); Gone when there was none."""
        try:
            self.http.request("POST", f"/api/tools/{tool}", json.dumps({"project_key": PROJECT, **arguments}),
                {"Content-Type": "application/json"})
            response = self.http.getresponse()
            return response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Gone(str(error)) from error

    def close(self):
        self.http.close()


class Ledger:
    """What was acknowledged."""

    def __init__(self):
        self.lock = threading.Lock()
        self.messages = {}  # id: (subject, body, sender, recipients)
        self.read = set()  # (id, agent)
        self.leases = {}  # id: (agent, pattern)
        self.refused = 0  # answers other than 200
        self.last_refusal = None
        self.count = 0

    def note(self, function):
        with self.lock:
            function()
            self.count += 1


class TeamLoad:
    """`mailroom` is a support.mailroom.Mailroom whose root is the storage; `env` is for the servers."""

    def __init__(self, mailroom, rng, env=None):
        self.m = mailroom
        self.rng = rng
        self.env = env or {}
        self.ledger = Ledger()
        self.servers = []
        self.changed = threading.Condition()  # of self.servers and self.over
        self.over = False
        self.seen = set()  # ids the listener was told of
        self.problems = []
        self.serial = 0
        self.threads = [threading.Thread(target=self._guard, args=(self._send, i), daemon=True) for i in range(SENDERS)]
        self.threads.append(threading.Thread(target=self._guard, args=(self._listen, 0), daemon=True))

    # ---- servers ----

    def start(self):
        """One more server on the same storage, ready for requests."""
        server = self.m.serve(env=self.env)
        self.wait_until_ready(server)
        with self.changed:
            self.servers.append(server)
            self.changed.notify_all()
        return server

    def wait_until_ready(self, server):
        deadline = time.monotonic() + TIMEOUT_S
        while self.readiness(server) != 200:
            assert server.process.poll() is None, f"the server ended: {server.logged()}"
            assert time.monotonic() < deadline, f"not ready: {server.get('/health/readiness')} {server.logged()}"
            time.sleep(PAUSE_S)

    def readiness(self, server):
        try:
            return server.get("/health/readiness")[0]
        except OSError:
            return None

    def forget(self, server):
        """It is gone, or about to go: no new requests for it."""
        with self.changed:
            self.servers.remove(server)

    def kill(self, server):
        self.forget(server)
        server.process.kill()
        server.process.wait()
        server.close()

    def stop(self, server):
        self.forget(server)
        status = server.stop()
        assert status == 0, f"serve ended with {status}: {server.logged()}"
        server.close()

    def enrol(self):
        """The project and its agents; once, before the load begins."""
        with self.changed:
            connection = Connection(self.servers[0])
        for tool, arguments in [("ensure_project", {"human_key": PROJECT})] + [("register_agent",
                {"program": "load", "model": "none", "name": name}) for name in NAMES + [LISTENER]]:
            status, answer = connection.call(tool, **arguments)
            assert status == 200, (tool, answer)
        connection.close()

    # ---- load ----

    def begin(self):
        for thread in self.threads:
            thread.start()

    def finish(self, is_broken=False):
        """No more load. What the clients found is told, unless something is known to be broken."""
        with self.changed:
            self.over = True
            self.changed.notify_all()
        for thread in (t for t in self.threads if t.ident):
            thread.join(TIMEOUT_S)
            assert not thread.is_alive(), "a client hangs"
        assert is_broken or not self.problems, self.problems[0]

    def work(self, least, most):
        """Until so many more requests have been acknowledged."""
        wanted = self.ledger.count + self.rng.randint(least, most)
        deadline = time.monotonic() + TIMEOUT_S
        while self.ledger.count < wanted:
            assert not self.problems, self.problems[0]
            assert time.monotonic() < deadline, \
                f"nothing is acknowledged any more; the last refusal: {self.ledger.last_refusal}"
            time.sleep(PAUSE_S / 4)

    def _guard(self, function, number):
        try:
            function(number)
        except Exception as error:  # told by work() and finish()
            self.problems.append(f"{function.__name__}: {type(error).__name__}: {error}")

    def _servers(self):
        """A connection to one of the servers as soon as there is one; None when it is over."""
        with self.changed:
            self.changed.wait_for(lambda: self.servers or self.over)
            return None if self.over else Connection(random.choice(self.servers))

    def _send(self, number):
        rng = random.Random(number)
        while (connection := self._servers()) is not None:
            try:
                while not self.over:
                    self._act(connection, rng)
            except Gone:
                time.sleep(PAUSE_S)
            finally:
                connection.close()

    def _act(self, connection, rng):
        what = rng.random()
        with self.ledger.lock:
            self.serial += 1
            serial = self.serial
            known = rng.choice(list(self.ledger.messages)) if what < 0.15 and self.ledger.messages else None
        if known:
            self._mark(connection, rng, known)
        elif what < 0.2:
            self._lease(connection, rng, serial)
        else:
            self._post(connection, rng, serial)

    def _refuse(self, answer):
        with self.ledger.lock:
            self.ledger.refused += 1
            self.ledger.last_refusal = answer
        time.sleep(PAUSE_S)

    def _post(self, connection, rng, serial):
        sender = rng.choice(NAMES)
        to = sorted(rng.sample([n for n in NAMES + [LISTENER] if n != sender], rng.randint(1, 3)))
        subject = f"number {serial}"
        body = f"{subject} of {sender}. " * rng.randint(1, 60)
        status, answer = connection.call("send_message", sender_name=sender, to=to, subject=subject, body_md=body)
        if status != 200:
            return self._refuse(answer)
        ident = answer["deliveries"][0]["payload"]["id"]

        def note():
            assert ident not in self.ledger.messages, f"the id {ident} was given twice"
            self.ledger.messages[ident] = (subject, body, sender, to)
        return self.ledger.note(note)

    def _mark(self, connection, rng, ident):
        agent = rng.choice(self.ledger.messages[ident][3])
        status, answer = connection.call("mark_message_read", agent_name=agent, message_id=ident)
        if status != 200:
            return self._refuse(answer)
        return self.ledger.note(lambda: self.ledger.read.add((ident, agent)))

    def _lease(self, connection, rng, serial):
        agent, pattern = rng.choice(NAMES), f"src/{serial}/*.c"
        status, answer = connection.call("file_reservation_paths", agent_name=agent, paths=[pattern], ttl_seconds=86400)
        if status != 200:
            return self._refuse(answer)
        ident = answer["granted"][0]["id"]

        def note():
            self.ledger.leases[ident] = (agent, pattern)
        return self.ledger.note(note)

    def _listen(self, _):
        """What is new since the newest message seen so far, again and again."""
        since = None
        while (connection := self._servers()) is not None:
            try:
                while not self.over:
                    arguments = {"since_ts": since} if since else {}
                    status, answer = connection.call("fetch_inbox", agent_name=LISTENER, limit=LIMIT, **arguments)
                    if status == 200 and answer["result"]:
                        self.seen.update(item["id"] for item in answer["result"])
                        since = answer["result"][0]["created_ts"]
                    time.sleep(PAUSE_S)
            except Gone:
                time.sleep(PAUSE_S)
            finally:
                connection.close()

    # ---- truth ----

    def wait_for_listener(self):
        """While a server is up: the listener is told of everything for it that was acknowledged."""
        with self.ledger.lock:
            wanted = {ident for ident, what in self.ledger.messages.items() if LISTENER in what[3]}
        deadline = time.monotonic() + TIMEOUT_S
        while wanted - self.seen:
            assert not self.problems, self.problems[0]
            assert time.monotonic() < deadline, f"since_ts never showed {sorted(wanted - self.seen)[:5]}"
            time.sleep(PAUSE_S)

    def check(self):
        """Everything in the ledger is in the database, once and as it was sent; servers may run."""
        with self.ledger.lock:
            messages, read, leases = dict(self.ledger.messages), set(self.ledger.read), dict(self.ledger.leases)
        with database.opened(database.team_database(self.m.root)) as db:
            db.execute("BEGIN")
            agents = dict(db.execute("SELECT id, name FROM agents"))
            stored = {i: (subject, body, agents[sender], []) for i, subject, body, sender in
                db.execute("SELECT id, subject, body_md, sender_id FROM messages")}
            was_read = set()
            for ident, agent, read_ts in db.execute("SELECT message_id, agent_id, read_ts FROM message_recipients"):
                stored[ident][3].append(agents[agent])
                if read_ts is not None:
                    was_read.add((ident, agents[agent]))
            held = {i: (agents[agent], pattern) for i, agent, pattern in
                db.execute("SELECT id, agent_id, path_pattern FROM file_reservations")}
            broken = database.damage(db)
        assert not broken, broken
        stored = {i: (*what[:3], sorted(what[3])) for i, what in stored.items()}
        lost = sorted(i for i in messages if i not in stored)
        assert not lost, f"{len(lost)} of {len(messages)} acknowledged messages are lost: {lost[:5]} ..."
        other = [i for i in messages if stored[i] != messages[i]]
        assert not other, f"{other[0]} is {stored[other[0]]}, not {messages[other[0]]}"
        subjects = [what[0] for what in stored.values()]
        assert len(subjects) == len(set(subjects)), "a message is there twice"
        assert all(what[3] for what in stored.values()), "a message has no recipients"
        assert read <= was_read, f"marked as read, but not any more: {sorted(read - was_read)[:5]}"
        wrong = [i for i in leases if held.get(i) != leases[i]]
        assert not wrong, f"lease {wrong[0]} is {held.get(wrong[0])}, not {leases[wrong[0]]}"

    def _team_check(self):
        done = self.m.run("--json", "team", "check")
        assert done.returncode in (0, 1) and done.stdout, (done.stdout[:2000], done.stderr[:2000])
        return json.loads(done.stdout), done

    def check_archive(self):
        """No server runs: database and archive agree, and git finds no fault with it."""
        found, done = self._team_check()
        if not found["ok"] and {problem["kind"] for problem in found["problems"]} <= TORN:
            # The last server had no time to write again what the power failure tore.
            server = self.start()
            deadline = time.monotonic() + TIMEOUT_S
            while not found["ok"] and time.monotonic() < deadline:
                found, done = self._team_check()
            self.stop(server)
        assert done.returncode == 0 and found["ok"], (done.stdout[:2000], done.stderr[:2000])
        directory = os.path.join(self.m.root, "projects", SLUG)
        found = subprocess.run(["git", "-c", "safe.directory=*", "-C", directory, "fsck", "--strict", "--no-dangling"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S, check=False)
        assert found.returncode == 0, found.stdout
