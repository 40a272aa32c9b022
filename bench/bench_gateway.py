#!/usr/bin/env python3
"""bench_gateway.py PROGRAM - what an agent's gateway and its commands cost beside what they do.

Messages that 16 clients send through one gateway stand beside deliveries by 16 threads of one process (bench_mailbox), measured
before and after; a look into an inbox of 10,000 beside a start of the program and the bare query. Of these messages the newest 50
are real, the others are rows alone: only what is shown is read.
"""

import http.client
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

PROGRAM = os.path.abspath(sys.argv[1])
CLIENTS, SECONDS, SHOWN, INBOX, ROUNDS = 16, 4, 50, 10000, 40
QUERY = "SELECT * FROM message_state WHERE box_name = 'inbox' AND is_archived = 0 ORDER BY created_at_utc DESC, message_id DESC LIMIT ?"


def tell(what, value, unit, yardstick, yardstick_value, ratio, goal, target):
    print(json.dumps({"what": what, "value": value, "unit": unit, "yardstick": yardstick, "yardstick_value": yardstick_value,
        "ratio": ratio, "goal": goal, "target": target}), flush=True)


def in_process():
    """Deliveries a second to one recipient, by as many threads as there are clients."""
    bench = os.path.join(os.path.dirname(PROGRAM), "../bench/bench_mailbox")
    done = subprocess.run([bench, os.getcwd(), str(CLIENTS)], stdout=subprocess.PIPE, text=True, check=True)
    told = json.loads(done.stdout)
    assert told["what"] == "mailbox_deliver_by_threads", told
    return told["value"]


class Place:
    def __init__(self, directory):
        self.directory = directory
        self.env = dict(os.environ, HOME=directory, XDG_CONFIG_HOME=os.path.join(directory, ".config"), XDG_RUNTIME_DIR=directory)
        for name in ("alice", "bob"):
            self.run("agents", "create", name)

    def run(self, *args):
        begun = time.perf_counter()
        subprocess.run([PROGRAM, *args], cwd=self.directory, env=self.env, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - begun

    def gateway(self):
        return subprocess.Popen([PROGRAM, "gateway", "--agent-name", "alice"], cwd=self.directory, env=self.env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def send(address, body, until, counts):
    connection, count = http.client.HTTPConnection(address), 0
    while time.monotonic() < until or count == 0:
        connection.request("POST", "/v1/mail/send", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert response.read() and response.status == 200, response.status
        count += 1
    counts.append(count)


def sends(place):
    body = json.dumps({"to": ["bob@houmao.localhost"], "subject": "s", "body_content": "x" * 1000})
    with place.gateway() as process:
        address = process.stdout.readline().split("//")[1].strip()
        counts, begun = [], time.monotonic()
        threads = [threading.Thread(target=send, args=(address, body, begun + SECONDS, counts)) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rate = sum(counts) / (time.monotonic() - begun)
        process.terminate()
    assert len(counts) == CLIENTS, "a client failed"
    return rate


def fill(place):
    for i in range(SHOWN):
        place.run("mail", "send", "--agent-name", "alice", "--to", "alice@houmao.localhost", "--subject",
            f"s{i}", "--body-content", "x" * 500)
    path = os.path.join(place.directory, ".houmao/mailbox/mailboxes/alice@houmao.localhost/mailbox.sqlite")
    with sqlite3.connect(path) as db:
        db.row_factory = sqlite3.Row
        row = dict(db.execute(QUERY, (1,)).fetchone())
        for i in range(INBOX - SHOWN):
            name = f"msg-20200101T000000Z-{i:032x}"
            row.update(message_id=name, thread_id=name, created_at_utc="2020-01-01T00:00:00Z")
            db.execute(f"INSERT INTO message_state({', '.join(row)}) VALUES({', '.join('?' * len(row))})", list(row.values()))
    return path


def query(path):
    begun = time.perf_counter()
    db = sqlite3.connect(path)
    assert len(db.execute(QUERY, (SHOWN,)).fetchall()) == SHOWN
    db.close()
    return time.perf_counter() - begun


def main():
    before = in_process()
    with tempfile.TemporaryDirectory(dir=".") as directory:
        place = Place(os.path.abspath(directory))
        rate = sends(place)
        bare = (before + in_process()) / 2
        tell("gateway_send_16_clients", rate, "messages/s", "deliveries_by_16_threads", bare, rate / bare, "at least", 0.7)
        path = fill(place)
        looks, starts, queries = [], [], []
        for _ in range(ROUNDS):
            looks.append(place.run("mail", "check", "--agent-name", "alice", "--limit", str(SHOWN)))
            starts.append(place.run("--version"))
            queries.append(query(path))
    look, need = statistics.median(looks) * 1000, (statistics.median(starts) + statistics.median(queries)) * 1000
    tell("mail_check_50_of_10000", look, "ms", "version_and_bare_query", need, look / need, "at most", 2)


main()
