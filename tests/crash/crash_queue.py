"""What a queue has acknowledged is there after a kill, exactly once, and no job is there by half.

    crash_queue.py PROGRAM [KILLS [SEED]]

The program is killed at each of the queue's points, then KILLS times (100) at random moments, half of
them with a second process that writes to the same database at the same time.
"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from crash import Crash, must_succeed  # noqa: E402
from tap import Tap  # noqa: E402

THREADS = 8
SPAN = 1_000_000
COUNT = 25
BASES = (0, 100 * SPAN)

# With 8 threads a batch has at most 8 jobs, so each of these is passed often enough.
POINTS = [("queue.begun", 1), ("queue.begun", 9), ("queue.job_done", 1), ("queue.job_done", 2),
    ("queue.job_done", 70), ("queue.before_commit", 1), ("queue.before_commit", 9),
    ("queue.committed", 1), ("queue.committed", 9), ("queue.committed", 25)]


def database(directory):
    # autocommit; no patience: whatever blocks us is a failure
    return sqlite3.connect(os.path.join(directory, "db"), timeout=0, isolation_level=None)


def acknowledged(directory):
    numbers = []
    for base in BASES:
        path = os.path.join(directory, f"acks.{base}")
        if os.path.exists(path):
            with open(path, encoding="ascii") as file:
                numbers += [int(line) for line in file]
    return numbers


def numbers_of(connection, table):
    return sorted(row[0] for row in connection.execute(f"SELECT n FROM {table}"))


def holds_together(directory):
    """Nobody runs: look at what is left."""
    acks = acknowledged(directory)
    assert len(acks) == len(set(acks)), "acknowledged twice"
    connection = database(directory)
    try:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'one'").fetchone():
            assert not acks
            return
        one = numbers_of(connection, "one")
        assert one == numbers_of(connection, "two"), "half a job"
        assert len(one) == len(set(one)), "a job twice"
        lost = sorted(set(acks) - set(one))
        assert not lost, f"acknowledged and lost: {lost[:5]}"
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        # That a new writer is not blocked, and that the search index agrees with its table.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO one_search(one_search, rank) VALUES('integrity-check', 1)")
        connection.execute("COMMIT")
    finally:
        connection.close()


def complete(directory):
    """After an undisturbed run: every number of the first process, in both tables."""
    holds_together(directory)
    connection = database(directory)
    wanted = [thread * SPAN + i for thread in range(THREADS) for i in range(COUNT)]
    assert numbers_of(connection, "one") == wanted, "not every number is there"
    connection.close()


def at_points(tap, program):
    crash = Crash(tap, command=lambda d: [program, d, "0", str(COUNT)])

    def stop(point, number):
        with crash.fresh() as directory:
            result = crash.run(directory, crash_at=f"{point}:{number}")
            assert result.returncode == -signal.SIGKILL, result
            holds_together(directory)
            must_succeed(crash.run(directory))
            complete(directory)

    for point, number in POINTS:
        tap.run(f"killed at {point}:{number}", stop, point, number)

    def no_commit():
        with crash.fresh() as directory:
            result = crash.run(directory, fail_at="queue.commit:ENOSPC:9")
            assert result.returncode == 1 and b"COMMIT: No space left" in result.stdout, result
            holds_together(directory)
            must_succeed(crash.run(directory))
            complete(directory)

    tap.run("disk full at queue.commit", no_commit)


def two_at_once(program):
    """Two processes that write without pause get their turns; neither is told that it is busy."""
    with Crash(None, command=None).fresh() as directory:
        processes = [subprocess.Popen([program, directory, str(base), "100"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            for base in BASES]
        for process in processes:
            text = process.communicate(timeout=100)[0]
            assert process.returncode == 0, text.decode()
        holds_together(directory)
        assert len(acknowledged(directory)) == 2 * THREADS * 100


class Writers:
    """One or two endless processes; as a context, they are dead at its end."""

    def __init__(self, program, directory, count):
        self.directory = directory
        self.processes = [subprocess.Popen([program, directory, str(base), str(SPAN)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            for base in BASES[:count]]

    def __enter__(self):
        return self

    def wait_for_acks(self, count):
        """Until that many more were written; then we know that they are in the middle of it."""
        end = time.monotonic() + 60
        wanted = len(acknowledged(self.directory)) + count
        while len(acknowledged(self.directory)) < wanted:
            assert time.monotonic() < end, "no progress"
            for process in self.processes:
                assert process.poll() is None, process.communicate()[0].decode()
            time.sleep(0.002)

    def __exit__(self, *ignored):
        for process in self.processes:
            process.kill()
            process.communicate()


def at_random(tap, program, kills, seed):
    print(f"# seed {seed}", flush=True)
    chance = random.Random(seed)
    fresh = Crash(tap, command=None).fresh

    def kill(directory, count):
        with Writers(program, directory, count) as writers:
            # One in four dies while it starts, and so perhaps while it recovers.
            if chance.randrange(4):
                writers.wait_for_acks(chance.randrange(1, 100))
            time.sleep(chance.random() * 0.05)
        holds_together(directory)

    done = 0
    while done < kills:
        # A kill leaves its log to the next process; a fresh database now and then keeps it quick.
        with fresh() as directory:
            for _ in range(min(10, kills - done)):
                done += 1
                count = 1 + done % 2
                tap.run(f"killed at random, {count} at work ({done}/{kills})", kill, directory, count)


def main():
    program = sys.argv[1]
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 32)
    with Tap() as tap:
        at_points(tap, program)
        tap.run("two processes at once", two_at_once, program)
        at_random(tap, program, kills, seed)


main()
