#!/usr/bin/env python3
"""bench_jmap.py PROGRAM - the JMAP client.

A first listing of 10,000 messages on Cyrus, read and put together, in batches that the server allows, beside curl that asks the same and
throws the answers away. And how long after an event was pushed the client tells of it, beside a bare reader of the same stream.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.argv[1] = os.path.join(os.path.dirname(sys.argv[1]), "..", "tests", "jmap_driver")
sys.path.insert(0, os.path.join(HERE, "..", "tests", "support"))
from cyrus_server import HAS_CYRUS_JMAP, NO_CYRUS, CyrusJmap  # noqa: E402
from jmap_client import USING, Jmap  # noqa: E402
from jmap_driver import Client  # noqa: E402
from jmap_server import Events, JmapServer, results  # noqa: E402
from mail_server import PASSWORD  # noqa: E402

MESSAGES, MADE_AT_ONCE, ROUNDS = int(os.environ.get("BENCH_MESSAGES", "10000")), 250, 5
EVENTS = int(os.environ.get("BENCH_EVENTS", "200"))
USER = "ann@example.test"
PROPERTIES = ["id", "threadId", "mailboxIds", "keywords", "messageId", "receivedAt", "sentAt", "from", "to", "subject", "preview"]


def figure(**fields):
    print(json.dumps(fields), flush=True)


def mail(box, number):
    return {"mailboxIds": {box: True}, "from": [{"email": "bob@example.test"}], "to": [{"email": USER}],
        "messageId": [f"m{number}@example.test"], "subject": f"A subject of usual length, number {number}",
        "bodyStructure": {"type": "text/plain", "partId": "1"},
        "bodyValues": {"1": {"value": f"What stands in message {number}.\n" * 20}}}


def curl(ann, path, batch):
    """The requests of a listing, with curl on one connection."""
    api = ann.session["apiUrl"] if "://" in ann.session["apiUrl"] else ann.url.split("/jmap/")[0] + ann.session["apiUrl"]
    ids = ann.call("Email/query", limit=MESSAGES)["ids"]
    calls = [["Email/query", {"accountId": ann.account, "limit": MESSAGES}, "0"]]
    bodies = [{"using": USING[:2], "methodCalls": calls}] + [{"using": USING[:2], "methodCalls": [["Email/get",
        {"accountId": ann.account, "ids": ids[at:at + batch], "properties": PROPERTIES}, "1"]]} for at in range(0, len(ids), batch)]
    lines = []
    for number, body in enumerate(bodies):
        with open(os.path.join(path, str(number)), "w", encoding="utf-8") as file:
            json.dump(body, file)
        lines.append(f'url = "{api}"\nuser = "{USER}:{PASSWORD}"\nheader = "Content-Type: application/json"\ncompressed\n'
            f'data-binary = "@{path}/{number}"\noutput = "/dev/null"\n')
    begin = time.perf_counter()
    subprocess.run(["curl", "--silent", "--fail", "--noproxy", "*", "--config", "-"], input="next\n".join(lines), text=True, check=True)
    return MESSAGES / (time.perf_counter() - begin)


def listing():
    if not HAS_CYRUS_JMAP:
        print(f"jmap_first_listing {NO_CYRUS}", file=sys.stderr)
        return
    with CyrusJmap([USER]) as server, tempfile.TemporaryDirectory() as path:
        ann = Jmap(server.jmap_url, USER)
        box = ann.box("inbox")
        for at in range(0, MESSAGES, MADE_AT_ONCE):
            made = ann.call("Email/set", create={str(number): mail(box, number) for number in range(at, at + MADE_AT_ONCE)})
            assert len(made["created"]) == MADE_AT_ONCE, made
        ours, theirs = [], []
        for _ in range(ROUNDS):
            with Client(server.jmap_url, user=USER, password=PASSWORD) as client:
                client.say(session=1)
                batch = min(client.say(session=1)["gets"], MESSAGES)
                begin = time.perf_counter()
                ids = client.ask(["Email/query", {"limit": MESSAGES}])[0][1]["ids"]
                count = client.say(count="1", calls=[["Email/get", {"ids": ids, "properties": PROPERTIES}, "1"]])
                ours.append(MESSAGES / (time.perf_counter() - begin))
                assert count == MESSAGES, count
            theirs.append(curl(ann, path, batch))
        value, yardstick = statistics.median(ours), statistics.median(theirs)
        figure(what="jmap_first_listing", value=value, unit="messages/s", yardstick="curl, same requests", yardstick_value=yardstick,
            ratio=value / yardstick, goal="at least", target=0.5)


def pushed():
    """Milliseconds from the event on the wire to the client's word, and to a reader that does nothing else."""
    state = results(["Email/get", {"state": "e0", "list": [], "notFound": []}, "0"])
    events = Events()
    with JmapServer([state], pages={"/events": events}) as server, Client(server.url) as client:
        client.say(watch={})
        client.say(**{"await": 1})
        events.opened.get(timeout=60)
        ours = []
        for number in range(EVENTS):
            time.sleep(0.002)
            sent = time.monotonic()
            events.change(f"e{number + 1}")
            ours.append((client.say(**{"await": number + 2})["at"] - sent) * 1e3)
        events.sent.put(None)
    with JmapServer([state], pages={"/events": events}) as server:
        reader = socket.create_connection(("127.0.0.1", server.http.server_address[1]))
        reader.sendall(b"GET /events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token-of-sam\r\n\r\n")
        events.opened.get(timeout=60)
        reader.recv(65536)
        arrived, theirs = [], []

        def read():
            while reader.recv(65536):
                arrived.append(time.monotonic())

        thread = threading.Thread(target=read)
        thread.start()
        for number in range(EVENTS):
            time.sleep(0.002)
            seen, sent = len(arrived), time.monotonic()
            events.change(f"e{number}")
            while len(arrived) == seen:
                time.sleep(0.0002)
            theirs.append((arrived[-1] - sent) * 1e3)
        events.sent.put(None)
        thread.join()
        reader.close()
    value = sorted(ours)[int(len(ours) * 0.95)]
    figure(what="jmap_push_told_p95", value=value, unit="ms", yardstick="bare reader p95, ms", yardstick_value=sorted(theirs)[int(len(theirs) * 0.95)],
        ratio=value / 20, goal="at most", target=1)


listing()
pushed()
