#!/usr/bin/env python3
"""bench_postgres.py PROGRAM - a team on a PostgreSQL server, which is started for it and syncs to the disk.

Sending, reading and waking are bench_postgres.c's. Here: how many connections a server of Mailroom has while ever more clients wait at it. With
BENCH_SMALL in the environment the large inbox has 100,000 messages and not 1,000,000.
"""

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "support"))
from postgres_server import HAS_POSTGRES, Postgres  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
BENCH = os.path.join(os.path.dirname(PROGRAM), "..", "bench", "bench_postgres")
PARTS = [part for part in ("send", "wake", "inbox", "connections") if part in (sys.argv[2:] or [part])]
FEW, MANY = 10, 200
POOL = 18  # one that writes, one that listens, sixteen that read


class Server:
    def __init__(self, url, root):
        env = dict(os.environ, DATABASE_URL=url, STORAGE_ROOT=root, HTTP_PORT="0", HTTP_SOCKET="off", LOG_LEVEL="warning",
            HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED="true")
        self.process = subprocess.Popen([PROGRAM, "serve"], env=env, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().split()[-1].removeprefix("http://")

    def ask(self, tool, **arguments):
        connection = http.client.HTTPConnection(self.address, timeout=120)
        connection.request("POST", f"/api/tools/{tool}", json.dumps({"project_key": "/path/to/bench"} | arguments),
            {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text
        connection.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait() == 0


def connections(postgres, url, root):
    """How many the server has while `clients` wait and each has asked once."""
    server = Server(url, root)
    server.ask("ensure_project", human_key="/path/to/bench")
    for name in ("RedRiver", "BlueLake"):
        server.ask("register_agent", name=name, program="bench", model="none")
    counts = []
    for clients in (FEW, MANY):
        threads = [threading.Thread(target=server.ask, args=("wait_for_mail",), kwargs={"agent_name": "BlueLake", "timeout_seconds": 20})
            for _ in range(clients)]
        for thread in threads:
            thread.start()
        most = 0
        for _ in range(20):
            most = max(most, int(postgres.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'mailroom'", "connections")))
            time.sleep(0.05)
        server.ask("send_message", sender_name="RedRiver", to=["BlueLake"], subject="s", body_md="b")
        for thread in threads:
            thread.join()
        server.ask("mark_message_read", agent_name="BlueLake", message_id=len(counts) + 1)
        counts.append(most)
    server.stop()
    print(json.dumps({"what": f"PostgreSQL: connections of a server at which {MANY} clients wait", "value": counts[1], "unit": "",
        "yardstick": f"the pool's limit (with {FEW} clients: {counts[0]})", "yardstick_value": POOL, "ratio": counts[1] / POOL,
        "goal": "at most", "target": 1}), flush=True)


def main():
    if not HAS_POSTGRES:
        print("bench_postgres: there is no PostgreSQL server here (Debian's package postgresql)", file=sys.stderr)
        return 0
    with Postgres(durable=True, where=os.environ.get("TMPDIR", "/var/tmp")) as postgres, tempfile.TemporaryDirectory() as root:
        for part in PARTS:
            url = postgres.make(part)
            if part == "connections":
                connections(postgres, url, root)
            else:
                subprocess.run([BENCH, part, url, PROGRAM], check=True)
    return 0


sys.exit(main())
