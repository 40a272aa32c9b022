"""usage: crash_team_move.py PROGRAM - a stop anywhere while a team's database is moved: the next try goes on, and in the end the new
one tells what the old one does. Until then the old one can be read, and takes no change."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from crash import Crash, same  # noqa: E402
from moved_team import Room, told  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = sys.argv[1]
POINTS = ["move.old_marked", "move.new_marked", "move.copied", "move.compared", "move.new_ended", "move.old_ended"]


def places(directory):
    return [os.path.join(directory, name) for name in ("storage.sqlite3", "new.sqlite3")]


def prepare(directory):
    with Room(PROGRAM) as room:
        room.fill()
        database.copy(room.file, places(directory)[0])


def marks(path):
    return [(role, ended is not None) for role, ended in database.rows(path, "SELECT role, ended_ts FROM database_moves")]


def picture(directory):
    old, new = places(directory)
    assert (marks(old), marks(new)) == ([("from", True)], [("to", True)]), (marks(old), marks(new))
    same(told(new), told(old))
    database.check(new)
    return told(new)


def holds(directory):
    """Nobody writes to both: the new one is the team's only when the old one is marked."""
    old, new = places(directory)
    assert marks(old) in ([("from", False)], [("from", True)]), marks(old)
    assert marks(old) == [("from", False)] or marks(new) == [("to", True)], (marks(old), marks(new))


def command(directory):
    # A second run of one that is over is refused; so it says first whether there is anything to do.
    old, new = places(directory)
    move = f'"$0" team migrate --yes --to "{new}"'
    over = f'"$0" team migrate --yes --to "{new}" 2>&1 | grep -q "was moved to {new} already"'
    return ["sh", "-c", f'export DATABASE_URL="{old}" STORAGE_ROOT="{directory}"; '
        f'if [ -e "{directory}/again" ]; then {move} || {over}; else touch "{directory}/again"; exec {move}; fi', PROGRAM]


with Tap() as tap:
    crash = Crash(tap, command, prepare=prepare, picture=picture)
    crash.stops("a move", holds, expect=POINTS, only=lambda name: name.startswith("move."))
