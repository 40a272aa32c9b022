"""usage: team_storm.py PROGRAM [CLIENTS SECONDS [SEED]] - three servers on one PostgreSQL, each with a storage root of its own, while
they are killed, stopped and cut off and the database is restarted. Clients are spread over all of them."""

import collections
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from postgres_server import HAS_POSTGRES, WHY_NOT, Postgres  # noqa: E402
from server_storm import Storm  # noqa: E402
from tap import Tap  # noqa: E402
from team_machines import Team, kept_at, until  # noqa: E402


def keeper(m):
    """The number of the machine that keeps the archive, when that has everything."""
    return next((number for number in (1, 2, 3) if kept_at(m, number)), None)


def nothing_is_lost_or_done_twice(m, clients, seconds, seed):
    storm = Storm(m, clients, seconds, seed)
    try:
        storm.run()
        assert not storm.wrong, storm.wrong[:5]
        until(lambda: all(machine.is_up() for machine in storm.machines))
        stored = m.sql("SELECT subject FROM messages WHERE subject LIKE '%-%'").split("\n")
        twice = [subject for subject, count in collections.Counter(stored).items() if count > 1]
        missing = set(storm.ledger) - set(stored)
        assert not twice and not missing, (twice[:5], sorted(missing)[:5])
        assert len(storm.ledger) == len(set(storm.ledger)) > clients and storm.slots
        held = m.sql("SELECT slot_name FROM build_slots WHERE released_ts IS NULL")
        assert len(held.split("\n")) == len(set(held.split("\n"))), held
        # Whoever keeps the archive dies once more, and the next one completes it.
        last = until(lambda: keeper(m))
        began = time.monotonic()
        storm.machines[last - 1].kill()
        last = until(lambda: next((number for number in (1, 2, 3) if number != last and kept_at(m, number)), None))
        took = time.monotonic() - began
        told = m.check(last)
        assert told["ok"] and told["messages"] == len(stored), told
        print(f"# {len(stored)} messages, {storm.slots} slots, {sum(storm.refusals.values())} refusals, {', '.join(storm.struck)}; "
            f"the archive was taken over and complete after {took:.1f} s")
        if seconds >= 30:
            for text, count in sorted(storm.refusals.items(), key=lambda item: -item[1])[:20]:
                print(f"# {count} x {text}")
    finally:
        storm.close()


with Tap() as tap:
    if not HAS_POSTGRES:
        tap.skip(nothing_is_lost_or_done_twice.__name__, WHY_NOT)
    else:
        clients, seconds = (int(sys.argv[2]), float(sys.argv[3])) if len(sys.argv) > 3 else (12, 10)
        seed = int(sys.argv[4]) if len(sys.argv) > 4 else None
        with Postgres() as postgres, Team(sys.argv[1], postgres, "storm") as team, tempfile.TemporaryDirectory(
                prefix="mr-relay-", dir="/tmp") as directory:
            team.relay_dir = directory
            tap.run(nothing_is_lost_or_done_twice.__name__, nothing_is_lost_or_done_twice, team, clients, seconds, seed)
