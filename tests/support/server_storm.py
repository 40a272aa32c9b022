"""Several servers of one team on one PostgreSQL, whose machines fail at random while clients work, with a ledger of all that was
acknowledged."""

import contextlib
import http.client
import json
import os
import random
import select
import signal
import socket
import threading
import time

SLOTS = 3
PATIENCE_S = 120  # after the storm, for what is still to be acknowledged
TAKEN = (409, 423)


class Relay:
    """The way of one server to PostgreSQL, which can be cut, or go silent, as networks do: it says nothing and closes nothing."""

    def __init__(self, postgres, directory):
        self.target = os.path.join(postgres.dir, ".s.PGSQL.5432")
        self.dir = directory
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(directory, ".s.PGSQL.5432"))
        self.listener.listen(64)
        self.wake, self.waker = socket.socketpair()
        self.silent = self.closed = False
        self.pairs = {}
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.closed:
            with self.lock:
                watched = [self.wake] if self.silent else [self.wake, self.listener, *self.pairs]
            for ready in select.select(watched, [], [], 1)[0]:
                if ready is self.wake:
                    self.wake.recv(64)
                elif ready is self.listener:
                    self.accept()
                else:
                    self.forward(ready)

    def accept(self):
        client = self.listener.accept()[0]
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self.target)
        except OSError:
            client.close()
            return
        with self.lock:
            self.pairs[client], self.pairs[server] = server, client

    def forward(self, ready):
        other = self.pairs.get(ready)
        if other is None:
            return
        try:
            data = ready.recv(65536)
            if data:
                other.sendall(data)
                return
        except OSError:
            pass
        self.drop(ready)

    def drop(self, one):
        with self.lock:
            other = self.pairs.pop(one, None)
            self.pairs.pop(other, None)
        for each in (one, other):
            if each is not None:
                each.close()

    def cut(self):
        """All connections end at once."""
        for one in list(self.pairs):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def set_silent(self, silent):
        self.silent = silent
        self.waker.send(b"x")

    def close(self):
        self.closed = True
        self.waker.send(b"x")
        self.thread.join()
        for one in list(self.pairs):
            one.close()
        for one in (self.listener, self.wake, self.waker):
            one.close()
        os.unlink(os.path.join(self.dir, ".s.PGSQL.5432"))


class Machine:
    """One server with its storage root, which is started again whenever it was killed."""

    def __init__(self, team, number, **env):
        self.team, self.number, self.env = team, number, env
        self.server = None
        self.lock = threading.Lock()
        self.start()

    def start(self):
        with self.lock:
            self.server = self.team.serve_on(self.number, HTTP_RATE_LIMIT_ENABLED="false", LOG_LEVEL="warning", **self.env)

    def kill(self):
        with self.lock:
            self.server.process.kill()
            self.server.process.wait()
            self.server.close()
            self.server = None

    def address(self):
        server = self.server
        return server.address if server else None

    def is_up(self):
        address = self.address()
        return address is not None and ask(address, "/health/readiness", None, 5)[0] == 200


def ask(address, path, body, timeout_s):
    """(status, text); 0 when there is no answer."""
    connection = http.client.HTTPConnection(address, timeout=timeout_s)
    try:
        connection.request("GET" if body is None else "POST", path, body=None if body is None else json.dumps(body),
            headers={"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read().decode("utf-8")
    except (OSError, http.client.HTTPException) as error:
        return 0, repr(error)
    finally:
        connection.close()


class Storm:
    def __init__(self, team, clients, seconds, seed=None):
        self.team, self.clients, self.seconds = team, clients, seconds
        self.random = random.Random(seed)
        self.relay = Relay(team.postgres, team.relay_dir)
        through = team.url.replace(team.postgres.dir, team.relay_dir)
        self.machines = [Machine(team, 1), Machine(team, 2), Machine(team, 3, DATABASE_URL=through)]
        self.names = []
        self.ledger = []       # subjects that were acknowledged
        self.holders = {}      # of slots, as their clients believe
        self.wrong = []
        self.struck = []
        self.refusals = {}
        self.slots = 0
        self.lock = threading.Lock()
        self.calm = threading.Event()
        self.over = threading.Event()

    def wrongly(self, text):
        with self.lock:
            self.wrong.append(text)

    def call(self, tool, chance, until, **arguments):
        """(status, answer) of the first server that does it or refuses it for good."""
        while True:
            address = chance.choice(self.machines).address()
            status, text = ask(address, f"/api/tools/{tool}", {"project_key": self.team.dir} | arguments, 60) if address else (0, "")
            if status == 200 or status in TAKEN:
                return status, json.loads(text)
            with self.lock:
                what = text[:160] if status else "no answer"
                self.refusals[what] = self.refusals.get(what, 0) + 1
            if status and status < 500:
                self.wrongly(f"{tool}: {status} {text[:300]}")
                return status, None
            if time.monotonic() > until:
                return 0, None
            time.sleep(0.02 + chance.random() * 0.1)

    def register(self):
        chance = random.Random(1)
        for number in range(self.clients):
            status, made = self.call("register_agent", chance, time.monotonic() + PATIENCE_S, program="codex", model="x")
            assert status == 200, made
            self.names.append(made["name"])

    def client(self, number):
        chance = random.Random(self.random.random())
        name, count = self.names[number], 0
        end = self.begun + self.seconds
        patience = end + PATIENCE_S
        while time.monotonic() < end:
            if chance.random() < 0.85:
                count += 1
                subject = f"{number}-{count}"
                status, _ = self.call("send_message", chance, patience, sender_name=name, to=[chance.choice(self.names)],
                    subject=subject, body_md="b", idempotency_key=subject)
                if status == 200:
                    with self.lock:
                        self.ledger.append(subject)
                else:
                    self.wrongly(f"{subject} was never acknowledged")
            else:
                self.use_slot(name, chance, patience)

    def use_slot(self, name, chance, patience):
        slot = f"slot{chance.randrange(SLOTS)}"
        status, held = self.call("acquire_build_slot", chance, patience, agent_name=name, slot_name=slot, ttl_seconds=3600)
        if status != 200:
            return
        with self.lock:
            other = self.holders.setdefault(slot, name)
            self.slots += 1
        if other != name:
            self.wrongly(f"{slot} was held by {other} and given to {name}")
        time.sleep(0.02)
        with self.lock:
            if self.holders.get(slot) == name:
                del self.holders[slot]
        self.call("release_build_slot", chance, patience, agent_name=name, id=held["id"])

    # --- what goes wrong ---

    def strike(self, what):
        self.struck.append(what)
        if what == "kill":
            machine = self.random.choice(self.machines)
            machine.kill()
            time.sleep(self.random.random())
            machine.start()
        elif what == "stand still":
            process = self.random.choice(self.machines).server.process
            process.send_signal(signal.SIGSTOP)
            time.sleep(self.still_s)
            process.send_signal(signal.SIGCONT)
        elif what == "cut":
            self.relay.cut()
        elif what == "silence":
            self.relay.set_silent(True)
            time.sleep(self.still_s)
            self.relay.set_silent(False)
        elif what == "restart":
            self.team.postgres.stop("immediate")
            self.team.postgres.start()

    def blow(self):
        strikes = ["kill", "cut", "restart", "stand still", "silence"]
        self.still_s = min(6.0, self.seconds / 4)
        done = 0
        while time.monotonic() < self.begun + self.seconds - 1:
            self.strike(strikes[done] if done < len(strikes) else self.random.choice(strikes + ["kill", "kill", "cut"]))
            done += 1
            self.calm.wait(self.random.uniform(0.2, 1.0))

    def run(self):
        self.register()
        self.begun = time.monotonic()
        threads = [threading.Thread(target=self.client, args=(number,)) for number in range(self.clients)]
        for thread in threads:
            thread.start()
        self.blow()
        for thread in threads:
            thread.join()

    def close(self):
        for machine in self.machines:
            if machine.server and machine.server.process.poll() is None:
                machine.server.stop()
            if machine.server:
                machine.server.close()
        self.relay.close()
