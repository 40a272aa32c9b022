"""Test results as TAP, for tests written in Python."""

import sys
import traceback

from surroundings import own

own()


class Tap:
    """TAP with the plan at the end. As a context: prints the plan, exits with 1 after a failure."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def ok(self, good, name, detail=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}", flush=True)
        for line in [] if good else detail.splitlines():
            print(f"# {line}", flush=True)

    def run(self, name, function, *args):
        """Call a function; an exception of any kind is a failed test."""
        try:
            function(*args)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            self.ok(False, name, f"{where.name}:{where.lineno}: {type(error).__name__}: {error}")
        else:
            self.ok(True, name)

    def skip(self, name, reason):
        """It cannot be tried here."""
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}", flush=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind:
            traceback.print_exception(kind, value, trace)
            print(f"Bail out! {kind.__name__}: {value}", flush=True)
            sys.exit(1)
        print(f"1..{self.count}", flush=True)
        sys.exit(1 if self.failed or not self.count else 0)
