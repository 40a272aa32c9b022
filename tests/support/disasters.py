"""What can happen to a loaded server, rebuild or mailbox root, each as one function: cause it, recover, compare.

Used by torture.py (at random, for minutes) and crash_power.py (power failures, a fixed number of times). An episode
is a fresh storage under load; disasters strike it one after another, and after each everything that was ever
acknowledged must be there.
"""

import os
import random
import subprocess
import time

from disk import Disk
from mailbox_load import MailboxLoad
from mailroom import Mailroom
from team_load import TeamLoad

MEGABYTES = 192
TIMEOUT_S = 120
SPARE_BYTES = [0, 1 << 14, 1 << 16, 1 << 18]
# The steps of a delivery to which a power failure makes a difference.
DELIVERY_POINTS = ["deliver.intent_named", "deliver.intended", "deliver.moved", "deliver.linked", "deliver.placed",
    "deliver.committed", "deliver.unlocked", "deliver.local_committed", "deliver.dropped"]
JUMPS_S = [-86400 * 40, -86400, -3600, -61, -1, 1, 61, 3600, 86400, 86400 * 400]


class Episode:
    """A fresh storage, on a disk of its own when `mode` names one. What strikes it is in `counts`."""

    def __init__(self, program, seed, mode=None):
        self.program = os.path.abspath(program)
        self.rng = random.Random(seed)
        self.mode = mode
        self.disk = None
        self.skew = 0

    def __enter__(self):
        self.m = Mailroom(self.program)
        self.clock = os.path.join(self.m.dir, "clock")
        self.jump(0)
        self.env = {"MAILROOM_CLOCK_SKEW": self.clock, "LOG_LEVEL": "warning",
            "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "true"}
        place = self.m.dir
        if self.mode:
            self.disk = Disk(self.m.dir, self.mode, MEGABYTES)
            self.disk.__enter__()
            place = self.disk.path
        self.m.root = os.path.join(place, "data")
        self.prepare(place)
        try:
            self.begin()
        except BaseException as error:
            self.__exit__(type(error))
            raise
        return self

    def __exit__(self, kind, *ignored):
        try:
            self.close(kind is not None)
        except BaseException:
            self.close(True)
            raise
        finally:
            if self.disk:
                self.disk.__exit__()
            self.m.__exit__()

    def jump(self, seconds):
        """The wall clock of everything that runs here is set; atomically, for it is read all the time."""
        self.skew = seconds
        with open(self.clock + ".new", "w", encoding="ascii") as file:
            file.write(str(seconds))
        os.rename(self.clock + ".new", self.clock)

    def clock_jumps(self):
        self.jump(self.skew + self.rng.choice(JUMPS_S))
        self.load.work(20, 100)


class TeamEpisode(Episode):
    acknowledged = property(lambda self: self.load.ledger.count)

    def prepare(self, _):
        self.load = TeamLoad(self.m, self.rng, self.env)

    def begin(self):
        self.load.start()
        self.load.enrol()
        self.load.begin()
        self.load.work(50, 200)

    def close(self, is_broken):
        if is_broken:
            for server in list(self.load.servers):
                self.load.kill(server)
            self.load.finish(is_broken)
            return
        self.load.wait_for_listener()
        for server in list(self.load.servers):
            self.load.stop(server)
        self.load.finish()
        self.load.check()
        self.load.check_archive()

    def strike(self, name):
        getattr(self, name)()
        self.load.check()

    def killed(self):
        self.load.work(50, 300)
        self.load.kill(self.load.servers[0])
        self.load.start()

    def one_of_two_killed(self):
        self.load.start()
        self.load.work(50, 300)
        self.load.kill(self.rng.choice(self.load.servers))
        self.load.work(20, 50)

    def power_fails(self):
        self.load.work(50, 300)
        servers = list(self.load.servers)
        for server in servers:
            self.load.forget(server)
        self.disk.cut([server.process for server in servers])
        for server in servers:
            server.close()
        self.load.start()

    def disk_fills(self):
        """Sends are refused, readiness says so, and when there is room again all goes on by itself."""
        self.load.work(20, 100)
        server = self.load.servers[0]
        self.disk.fill()
        refused = self.load.ledger.refused
        self._until("readiness does not fail", lambda: self.load.readiness(server) == 503)
        self._until("sends are not refused", lambda: self.load.ledger.refused > refused)
        if self.rng.random() < 0.5:
            self.load.kill(server)
            self.disk.free()
            self.load.start()
        else:
            self.disk.free()
            self.load.wait_until_ready(server)
        self.load.work(20, 100)

    def rebuild_killed(self):
        """A rebuild is killed at a random moment; the next one ends well."""
        process = self._begin_rebuild()
        process.kill()
        process.communicate()
        self._finish_rebuild(self._rebuild())
        self.load.start()

    def rebuild_power_fails(self):
        process = self._begin_rebuild()
        self.disk.cut([process])
        process.communicate()
        self._finish_rebuild(self._rebuild())
        self.load.start()

    def database_lost(self):
        """Everything is archived, the power fails, and the database is deleted: the commits have it all."""
        self.load.work(50, 200)
        self.load.stop(self.load.servers[0])
        self.load.check_archive()
        if self.disk:
            self.disk.cut()
        for name in os.listdir(self.m.root):
            if name.startswith("storage.sqlite3") and not name.endswith(".bell"):
                os.unlink(os.path.join(self.m.root, name))
        # Who had read what is not in the archive.
        self.load.ledger.read.clear()
        self._finish_rebuild(self._rebuild())
        self.load.start()

    def _begin_rebuild(self):
        self.load.work(50, 200)
        self.load.kill(self.load.servers[0])
        process = self._rebuild()
        time.sleep(self.rng.uniform(0, 0.6))
        return process

    def _rebuild(self):
        return subprocess.Popen([self.program, "team", "rebuild", "--yes"], cwd=self.m.dir, env=self.m.env(**self.env),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def _finish_rebuild(self, process):
        said = process.communicate(timeout=TIMEOUT_S)[0].decode("utf-8", "replace")
        assert process.returncode == 0, f"rebuild ended with {process.returncode}: {said}"

    def _until(self, what, holds):
        deadline = time.monotonic() + TIMEOUT_S
        while not holds():
            assert time.monotonic() < deadline, what
            time.sleep(0.02)


class MailboxEpisode(Episode):
    acknowledged = property(lambda self: self.load.count)

    def prepare(self, place):
        self.load = MailboxLoad(self.m, os.path.join(place, "mail"), self.rng, self.env)

    def begin(self):
        self.load.enrol()
        self.load.begin()
        self.load.work(4, 10)

    def close(self, is_broken):
        if is_broken:
            self.load.hold()
            self.load.kill(True)
            self.load.finish(is_broken)
            return
        self.load.hold()
        self.load.wait_until_idle()
        self.load.check()
        self.load.finish()

    def strike(self, name):
        getattr(self, name)()
        self.load.hold()
        self.load.wait_until_idle()
        self.load.check()
        self.load.go_on()

    def killed(self):
        self.load.work(3, 15)
        time.sleep(self.rng.uniform(0, 0.1))
        self.load.hold()
        self.load.kill(True)

    def one_killed(self):
        self.load.work(3, 15)
        time.sleep(self.rng.uniform(0, 0.1))
        self.load.kill(False)
        self.load.work(3, 10)

    def power_fails(self):
        self.load.work(3, 15)
        time.sleep(self.rng.uniform(0, 0.1))
        self.disk.cut(self.load.hold())

    def power_fails_at_once(self):
        """Nobody writes any more: nothing that comes later makes the last answer durable."""
        self.load.work(3, 10)
        self.load.hold()
        self.load.wait_until_idle()
        self.load.write_once()
        self.disk.cut()

    def power_fails_in_a_delivery(self):
        """At each of its steps, when nothing that came later made it durable."""
        self.load.work(1, 3)
        for point in DELIVERY_POINTS:
            self.load.hold()
            self.load.wait_until_idle()
            self.load.die_at(point)
            self.disk.cut()
            self.load.check()

    def disk_fills(self):
        self.load.work(3, 10)
        self.disk.fill(self.rng.choice(SPARE_BYTES))
        deadline = time.monotonic() + TIMEOUT_S
        refused = self.load.refused
        reason = self.load.last_refusal
        while self.load.refused == refused and self.load.last_refusal == reason:
            assert time.monotonic() < deadline, "deliveries are not refused"
            time.sleep(0.02)
        self.disk.free()
        self.load.work(3, 10)

