#!/usr/bin/env python3
"""bench_mcp_many.py PROGRAM - two hundred MCP clients on one server for a minute.

Each has a session, and sends, reads its inbox and takes leases, one call after the other. Nothing may
fail, be lost, or be there twice: every inbox is read to its end and compared with what was
acknowledged. The rate is reported, beside that of one client alone; the client is most of its cost.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "support"))
import crowd  # noqa: E402

SECONDS = float(os.environ.get("BENCH_SECONDS", "60"))
CLIENTS = 200
ARCHIVED_S = 120  # the archive follows, and may be behind when they are done


def rate(clients, names, seconds):
    """Calls a second."""
    before = sum(client.calls for client in clients)
    begun = time.monotonic()

    def turns(client):
        while time.monotonic() < begun + seconds:
            client.turn(names)

    crowd.together(clients, turns)
    return (sum(client.calls for client in clients) - before) / (time.monotonic() - begun)


def wait_for_archive(client):
    for _ in range(ARCHIVED_S):
        answer = client.post("tools/call", {"name": "health_check", "arguments": {}})[1]
        if answer["result"]["structuredContent"]["archive_pending"] == 0:
            return
        time.sleep(1)
    sys.exit(f"the archive was not done after {ARCHIVED_S} s")


def measure(address):
    clients = crowd.begin(address, CLIENTS)
    names = [client.name for client in clients]
    alone = rate(clients[:1], names, SECONDS / 10)
    many = rate(clients, names, SECONDS)
    crowd.check_mail(clients)
    if not crowd.check_leases(clients):
        sys.exit("no two leases met")
    wait_for_archive(clients[0])
    return alone, many


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="bench-mcp-many-", dir=os.environ.get("TMPDIR")) as path:
        env = dict(os.environ, STORAGE_ROOT=path, HTTP_PORT="0", HTTP_SOCKET="off", LOG_LEVEL="warning",
            HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED="true")
        server = subprocess.Popen([program, "serve"], env=env, cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            alone, many = measure(server.stdout.readline().split()[-1][len("http://"):])
        finally:
            server.send_signal(signal.SIGTERM)
            said = server.communicate(timeout=60)[1]
        if server.returncode or '"error"' in said:
            sys.exit(f"the server ended with {server.returncode}: {said}")
        done = subprocess.run([program, "team", "check", "--json"], env=env, cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True, check=True)
        if not json.loads(done.stdout)["ok"]:
            sys.exit(f"team check: {done.stdout}")
    print(json.dumps({"what": "calls by 200 MCP clients", "value": many, "unit": "/s", "yardstick": "by one, /s",
        "yardstick_value": alone, "ratio": many / alone, "goal": "", "target": 0}))


main()
