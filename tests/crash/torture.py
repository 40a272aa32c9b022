"""Disasters at random against a live load, for some minutes, with a ledger of everything acknowledged.

    torture.py PROGRAM MINUTES [SEED]

Each kind of disaster strikes each part at least once, then they come at random until the time is up. PROGRAM is
a build with crash points, which lets the test set its clock. Power failures and full disks need root and a loop
device; without them they are skipped, and the first lines say so.
"""

import collections
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import disk  # noqa: E402
from disasters import MailboxEpisode, TeamEpisode  # noqa: E402
from tap import Tap  # noqa: E402

PARTS = {
    "team": (TeamEpisode, ["killed", "one_of_two_killed", "clock_jumps", "rebuild_killed", "database_lost"],
        ["power_fails", "disk_fills", "rebuild_power_fails"]),
    "mailbox": (MailboxEpisode, ["killed", "one_killed", "clock_jumps"],
        ["power_fails", "power_fails_at_once", "disk_fills"]),
}
SHOWN = 1500  # characters of a failure
STRIKES = 4  # of one episode, before it begins anew


class Torture:
    def __init__(self, program, seed, has_disk):
        self.program = program
        self.rng = random.Random(seed)
        self.modes = list(disk.MODES) if has_disk else []
        self.struck = collections.Counter()  # (part, disaster)
        self.acknowledged = collections.Counter()  # part
        self.failures = {}  # (part, disaster): what happened first
        self.episodes = 0

    def disasters(self, part):
        _, anywhere, on_a_disk = PARTS[part]
        return anywhere + (on_a_disk if self.modes else [])

    def episode(self, part, until):
        """One storage, struck until it is worn or the time is up. Those that have not struck yet come first."""
        mode = self.modes[self.episodes % len(self.modes)] if self.modes else None
        self.episodes += 1
        name = "start"
        try:
            with PARTS[part][0](self.program, self.rng.randrange(1 << 32), mode) as episode:
                for _ in range(STRIKES):
                    names = self.disasters(part)
                    new = [n for n in names if not self.struck[part, n]]
                    if not new and time.monotonic() > until:
                        break
                    name = self.rng.choice(new or names)
                    episode.strike(name)
                    self.struck[part, name] += 1
                name = "end"
            self.acknowledged[part] += episode.acknowledged
        except Exception as error:  # an AssertionError with what was found, or anything else
            self.struck[part, name] += 1
            self.failures.setdefault((part, name), f"{mode or 'no disk of its own'}: {type(error).__name__}: {error}"[:SHOWN])
            print(f"# {part} {name}: {self.failures[part, name]}", flush=True)

    def is_complete(self):
        return all(self.struck[part, name] for part in PARTS for name in self.disasters(part))

    def run(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until or not self.is_complete():
            for part in PARTS:
                self.episode(part, until)
            assert time.monotonic() < until + 600 + seconds, "the time is long over"


def main():
    minutes = float(sys.argv[2]) if len(sys.argv) > 2 else 2
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 32)
    disk.enter()
    with Tap() as tap:
        reason = disk.why_not()
        print(f"# seed {seed}, {minutes:g} minutes", flush=True)
        torture = Torture(sys.argv[1], seed, reason is None)
        torture.run(minutes * 60)
        for part in PARTS:
            for name in torture.disasters(part) + ["start", "end"]:
                failure = torture.failures.get((part, name))
                if failure or name not in ("start", "end"):
                    tap.ok(not failure, f"{part}: {name.replace('_', ' ')}, {torture.struck[part, name]} times", failure or "")
            if reason:
                tap.skip(f"{part}: power failures, full disks", reason)
            print(f"# {part}: {torture.acknowledged[part]} requests were acknowledged, and all of them were kept")


main()
