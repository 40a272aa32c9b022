"""Stop a program at every crash point it passes, and look at what it leaves behind.

A crash test names a program built with -Dcrash_points=true (see src/base/crash.h) and three things:
how a fresh directory is prepared, what must hold in it after a stop at any point, and how to take a
picture of it. `Crash.stops()` then

  1. runs the program undisturbed, learns every point it passes, and takes the picture;
  2. for each pass of each point, in a fresh directory: runs until it is killed there, checks, runs
     again undisturbed, and compares the picture with the first one.

`Crash.failures()` does the same with a system call that fails instead of a stop.

A stop is SIGKILL: what the kernel had taken survives it. So these tests prove the order of steps,
not that the disk keeps its promises.

    with Tap() as tap:  # tap.py
        crash = Crash(tap, command=lambda d: [exe, d], prepare=prepare, picture=picture)
        crash.stops("deliver", check=holds_together)

Each stop is one TAP line. A check fails by raising AssertionError.
"""

import concurrent.futures
import os
import shutil
import signal
import subprocess
import tempfile

TIMEOUT_S = 180


def passes(names):
    """Number the passes of each point: [a, b, a] is [(a, 1), (b, 1), (a, 2)]."""
    seen = {}
    numbered = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        numbered.append((name, seen[name]))
    return numbered


def tree(directory, skip=lambda path: False):
    """A picture of a directory: {relative path: bytes of a file, target of a link, or None}."""
    found = {}
    for folder, folders, files in os.walk(directory):
        for name in folders + files:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, directory)
            if skip(relative):
                continue
            if os.path.islink(path):
                found[relative] = os.readlink(path)
            elif os.path.isdir(path):
                found[relative] = None
            else:
                try:
                    with open(path, "rb") as file:
                        found[relative] = file.read()
                except FileNotFoundError:
                    # The keeper of a process that was killed removes its lock files (base/keeper.h).
                    if not relative.endswith(".lock"):
                        raise
    return found


class Crash:
    def __init__(self, tap, command, prepare=lambda d: None, picture=tree, env=None, copies=True):
        """
        command(directory)  the argument list of the program; it must be able to run again after a
                            stop and then exit with 0
        prepare(directory)  make the state the program starts from
        picture(directory)  anything comparable: the final state
        env                 variables to add, in every run
        copies              prepare once and copy that; not for a state with hard links or inode numbers in it
        """
        self.tap = tap
        self.command = command
        self.prepare = prepare
        self.picture = picture
        self.env = env or {}
        self.copies = copies
        self.prepared = None

    def run(self, directory, **variables):
        """Run the program with MAILROOM_<NAME>=value for each variable given."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("MAILROOM_")}
        env.update(self.env)
        env.update({f"MAILROOM_{k.upper()}": v for k, v in variables.items()})
        return subprocess.run(self.command(directory), env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False)

    def fresh(self):
        """A prepared directory, as a context that removes it. One at a time: it is the same path each time, so that
        what was prepared once can be copied back, absolute paths in it and all."""
        self.prepared = self.prepared or _Prepared(self.prepare, self.copies)
        return self.prepared

    def learn(self):
        """One undisturbed run: ([(stop, N)], [(failure, N)], picture)."""
        with self.fresh() as directory:
            log = directory + ".log"
            try:
                must_succeed(self.run(directory, crash_log=log))
                with open(log, encoding="utf-8") as file:
                    names = file.read().split()
            finally:
                if os.path.exists(log):
                    os.unlink(log)
            stops = [name for name in names if not name.startswith("fail:")]
            fails = [name[len("fail:"):] for name in names if name.startswith("fail:")]
            return passes(stops), passes(fails), self.picture(directory)

    def stops(self, title, check=lambda d: None, expect=(), only=lambda name: True):
        """
        Stop at each pass of each point that `only` wants. check(directory) looks at what is left before the second
        run. `expect` names points that must be among those passed, so that a test whose points have
        gone cannot succeed by doing nothing.
        """
        points, _, whole = self.learn()
        points = [point for point in points if only(point[0])]
        missing = sorted(set(expect) - {name for name, _ in points})
        self.tap.ok(points and not missing, f"{title}: passes its points",
            f"not passed: {missing or 'any'}")

        def stop(name, number):
            with self.fresh() as directory:
                result = self.run(directory, crash_at=f"{name}:{number}")
                assert result.returncode == -signal.SIGKILL, describe(result)
                check(directory)
                must_succeed(self.run(directory))
                same(self.picture(directory), whole)

        for name, number in points:
            self.tap.run(f"{title}: stopped at {name}:{number}", stop, name, number)

    def failures(self, title, errno, check=lambda d, result: None, only=lambda name: True):
        """
        Let each pass of each failure point, and all later ones, fail with `errno` ("ENOSPC").
        check(directory, result) looks at what is left and at the exit; then the program runs again
        undisturbed and must come to the same end.
        """
        _, points, whole = self.learn()
        points = [point for point in points if only(point[0])]
        self.tap.ok(bool(points), f"{title}: passes its points", "none passed")

        def fail(name, number):
            with self.fresh() as directory:
                result = self.run(directory, fail_at=f"{name}:{errno}:{number}")
                assert result.returncode >= 0, describe(result)
                check(directory, result)
                must_succeed(self.run(directory))
                same(self.picture(directory), whole)

        for name, number in points:
            self.tap.run(f"{title}: {errno} at {name}:{number}", fail, name, number)


class _Prepared:
    def __init__(self, prepare, copies):
        self.room = tempfile.TemporaryDirectory(prefix="mailroom-crash-")
        self.path = os.path.join(self.room.name, "d")
        self.saved = os.path.join(self.room.name, "saved")
        self.prepare = prepare
        self.copies = copies

    def __enter__(self):
        assert not os.path.exists(self.path), "one fresh directory at a time"
        if os.path.exists(self.saved):
            shutil.copytree(self.saved, self.path, symlinks=True)
            return self.path
        os.mkdir(self.path)
        self.prepare(self.path)
        if self.copies:
            shutil.copytree(self.path, self.saved, symlinks=True)
        return self.path

    def __exit__(self, *ignored):
        shutil.rmtree(self.path)


def run_all(tap, jobs):
    """[(name, function, arguments...)], one for each processor at a time, told in their order."""
    with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        begun = [(name, pool.submit(function, *args)) for name, function, *args in jobs]
        for name, one in begun:
            tap.run(name, one.result)


def describe(result):
    text = result.stdout.decode("utf-8", "replace").strip()
    return f"{result.args[0]} ended with {result.returncode}: {text}"


def must_succeed(result):
    assert result.returncode == 0, describe(result)


def same(got, wanted):
    """Equal, or say where not; dictionaries key by key."""
    if got == wanted:
        return
    if isinstance(got, dict) and isinstance(wanted, dict):
        keys = sorted(k for k in got.keys() | wanted.keys() if got.get(k, ...) != wanted.get(k, ...))
        raise AssertionError("; ".join(
            f"{k}: {got.get(k, 'absent')!r}, not {wanted.get(k, 'absent')!r}" for k in keys[:5]))
    raise AssertionError(f"{got!r}, not {wanted!r}")
