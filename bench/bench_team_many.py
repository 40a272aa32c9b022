#!/usr/bin/env python3
"""bench_team_many.py PROGRAM - eight command lines and one server on one storage.

For SECONDS, eight loops of `mailroom team send`, each a process of its own, write into a root that
`mailroom serve` has open and archives. Nothing may fail, nothing may be lost; the rate is reported
beside what one loop alone reaches.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

SECONDS = float(os.environ.get("BENCH_SECONDS", "60"))
ALONE_SECONDS = SECONDS / 6
LOOPS = 8
NAMES = ["RedRiver", "BlueLake", "GreenCastle", "GoldFox", "SilverOwl", "BronzeBear", "AmberHawk", "CoralWolf"]
PROGRAM = sys.argv[1]


class Root:
    def __init__(self, path):
        self.path = path
        self.env = dict(os.environ, STORAGE_ROOT=path, HTTP_PORT="0", HTTP_SOCKET="off", LOG_LEVEL="warning",
            HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED="true")
        for name in NAMES:
            self.run("team", "register", "/path/to/bench", "--program", "bench", "--model", "none", "--name", name)

    def run(self, *args):
        done = subprocess.run([PROGRAM, *args, "--json"], env=self.env, cwd="/", text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            sys.exit(f"mailroom {' '.join(args)}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def loop(self, number, until, ids):
        while time.monotonic() < until:
            sent = self.run("team", "send", "path-to-bench", NAMES[number], "--to", NAMES[(number + 1) % LOOPS],
                "--subject", "bench", "--body-md", "one of many")
            ids.append(sent["deliveries"][0]["payload"]["id"])

    def loops(self, count, seconds):
        """Ids of what was sent."""
        until = time.monotonic() + seconds
        ids = [[] for _ in range(count)]
        threads = [threading.Thread(target=self.loop, args=(i, until, ids[i])) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [ident for part in ids for ident in part]


def figure(**fields):
    print(json.dumps(fields), flush=True)


def main():
    with tempfile.TemporaryDirectory(prefix="bench-team-many-", dir=os.environ.get("TMPDIR")) as path:
        root = Root(path)
        server = subprocess.Popen([PROGRAM, "serve"], env=root.env, cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            alone = root.loops(1, ALONE_SECONDS)
            many = root.loops(LOOPS, SECONDS)
        finally:
            server.send_signal(signal.SIGTERM)
            said = server.communicate(timeout=60)[1]
        if server.returncode or '"error"' in said:
            sys.exit(f"the server ended with {server.returncode}: {said}")
        checked = root.run("team", "check")
        if not checked.get("ok"):
            sys.exit(f"team check: {checked}")
        stored = {row[0] for row in sqlite3.connect(os.path.join(path, "storage.sqlite3")).execute("SELECT id FROM messages")}
        lost = (set(alone) | set(many)) - stored
        if lost or len(stored) != len(alone) + len(many):
            sys.exit(f"lost: {sorted(lost)}; stored {len(stored)}, sent {len(alone) + len(many)}")
        figure(what="sends by 8 command lines beside a server", value=len(many) / SECONDS, unit="/s",
            yardstick="by one, /s", yardstick_value=len(alone) / ALONE_SECONDS,
            ratio=(len(many) / SECONDS) / (len(alone) / ALONE_SECONDS), goal="", target=0)


main()
