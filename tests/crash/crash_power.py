"""The power fails under a loaded server, a rebuild and a mailbox root: what was acknowledged is there.

    crash_power.py PROGRAM [CUTS [SEED]]

CUTS times (2) each, on an ext4 whose data is ordered with its journal and on one whose data is not. A kill
proves the order of steps; this proves that they were on the disk. Skipped where no disk image can be mounted.
"""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import disk  # noqa: E402
from disasters import MailboxEpisode, TeamEpisode  # noqa: E402
from tap import Tap  # noqa: E402

CASES = [
    ("a loaded server", TeamEpisode, "power_fails"),
    ("a rebuild", TeamEpisode, "rebuild_power_fails"),
    ("an archive whose database is lost as well", TeamEpisode, "database_lost"),
    ("a mailbox root", MailboxEpisode, "power_fails"),
    ("a mailbox root that has just answered", MailboxEpisode, "power_fails_at_once"),
    ("each step of a delivery", MailboxEpisode, "power_fails_in_a_delivery"),
]


def strike(kind, name, mode, cuts, seed):
    with kind(sys.argv[1], seed, mode) as episode:
        for _ in range(cuts):
            episode.strike(name)


def main():
    cuts = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 32)
    disk.enter()
    with Tap() as tap:
        print(f"# seed {seed}")
        reason = disk.why_not()
        for title, kind, name in CASES:
            for mode in disk.MODES:
                what = f"{title}: {cuts} power failures, {mode}"
                if reason:
                    tap.skip(what, reason)
                else:
                    tap.run(what, strike, kind, name, mode, cuts, seed)


main()
